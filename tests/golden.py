"""Golden results: small scenarios with all that they measure, as text that a person can read in a diff.

``make golden`` renews them; a change of a golden result belongs into the changelog, with its reason.
"""

import json
from pathlib import Path
from typing import Any

from manetlab import Scenario, run

FOLDER = Path(__file__).resolve().parents[1] / "golden"
SCENARIOS = sorted(FOLDER.glob("*.toml"))


def outcome(scenario: Path) -> dict[str, Any]:
    """What is kept of a run: nothing that depends on the machine, the version or the clock."""
    result = run(Scenario.load(scenario))
    origin = result.provenance
    kept = {key: origin[key] for key in ("scenario_hash", "result_hash", "scenario")}
    return {
        "totals": result.totals,
        "flows": result.flows,
        "drops": result.drops,
        "audit": result.audit,
        **kept,
    }


def expected_file(scenario: Path) -> Path:
    """Where the golden result of a scenario is kept."""
    return scenario.with_suffix(".json")


def text(outcome: dict[str, Any]) -> str:
    """The form in which a golden result is kept."""
    return json.dumps(outcome, indent=1) + "\n"


if __name__ == "__main__":
    for each in SCENARIOS:
        expected_file(each).write_text(text(outcome(each)))
        print(expected_file(each))
