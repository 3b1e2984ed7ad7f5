"""The golden results; see tests/golden.py."""

import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from manetlab import _core
from tests.golden import SCENARIOS, differing, expected_file, outcome, text


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_results_are_golden(scenario: Path) -> None:
    assert text(outcome(scenario)) == expected_file(scenario).read_text()


def lines(value: object, path: str = "") -> Iterator[str]:
    """The lines of the canonical form of measures, as docs/metrics.md defines it."""
    match value:
        case dict() | list():
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in items:
                yield from lines(item, f"{path}/{key}" if path else str(key))
        case bool():
            yield f"{path} {str(value).lower()}\n"
        case str():
            yield f'{path} "{value}"\n'
        case int():
            yield f"{path} {value}\n"
        case float():
            yield f"{path} 0x{struct.pack('>d', value).hex()}\n"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_the_result_hash_can_be_computed_from_the_public_measures(scenario: Path) -> None:
    golden = json.loads(expected_file(scenario).read_text())
    measures = {key: golden[key] for key in ("flows", "totals", "drops", "audit")}
    form = f"{_core.HASH_FORM}\n" + "".join(sorted(lines(measures), key=str.encode))
    assert _core.HASH_FORM == "manetlab-measures 2"
    assert golden["result_hash"] == hashlib.sha256(form.encode()).hexdigest()[:32]


def test_a_golden_result_holds_the_parameters_that_differ_from_the_profile() -> None:
    profile = json.loads(_core.profile("rfc"))
    changed = {**profile, "mac": {**profile["mac"], "cw_min": 15}}
    assert differing(profile, profile) == {}
    assert differing(changed, profile) == {"mac": {"cw_min": 15}}


def test_there_are_golden_results() -> None:
    assert len(SCENARIOS) >= 5
