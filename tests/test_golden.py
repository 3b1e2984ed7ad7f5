"""The golden results; see tests/golden.py."""

from pathlib import Path

import pytest

from tests.golden import SCENARIOS, expected_file, outcome, text


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_results_are_golden(scenario: Path) -> None:
    assert text(outcome(scenario)) == expected_file(scenario).read_text()


def test_there_are_golden_results() -> None:
    assert len(SCENARIOS) >= 5
