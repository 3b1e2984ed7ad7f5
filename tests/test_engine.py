"""The simulator as a WebAssembly module gives the results of the native one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from manetlab import Scenario
from tests.engine import in_chromium, in_node, needs_engine, request
from tests.golden import SCENARIOS, expected_file


def check(run: Callable[[list[str]], list[dict[str, Any]]]) -> None:
    """All goldens, at once, against the results that are kept."""
    answers = run([request(Scenario.load(scenario).resolve()) for scenario in SCENARIOS])
    found = {
        scenario.stem: answer.get("hash", answer.get("refused"))
        for scenario, answer in zip(SCENARIOS, answers, strict=True)
    }
    kept = {each.stem: json.loads(expected_file(each).read_text())["result_hash"] for each in SCENARIOS}
    assert found == kept


@needs_engine
@pytest.mark.skipif(shutil.which("node") is None, reason="skipped: Node is not installed")
def test_goldens_have_their_native_hashes_in_node() -> None:
    check(in_node)


@needs_engine
def test_goldens_have_their_native_hashes_in_chromium() -> None:
    check(in_chromium)
