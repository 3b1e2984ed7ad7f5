"""Golden results: small scenarios with all that they measure, as text that a person can read in a diff.

Of the parameters a golden result holds those that differ from the profile's, so that a new parameter changes
none. ``make golden`` renews them; a change of a golden result belongs into the changelog, with its reason.
"""

import json
from pathlib import Path
from typing import Any

from manetlab import Scenario, parameters, run
from manetlab.parameters import Params

FOLDER = Path(__file__).resolve().parents[1] / "golden"
SCENARIOS = sorted(FOLDER.glob("*.toml"))


def outcome(scenario: Path) -> dict[str, Any]:
    """What is kept of a run: nothing that depends on the machine, the version or the clock."""
    result = run(Scenario.load(scenario))
    origin = result.provenance
    resolved = origin["scenario"]
    params = differing(resolved["params"], parameters.profile(origin["profile"]))
    return {
        "totals": result.totals,
        "flows": result.flows,
        "drops": result.drops,
        "audit": result.audit,
        "result_hash": origin["result_hash"],
        "scenario": {"profile": origin["profile"], **resolved, "params": params},
    }


def differing(params: Params, profile: Params) -> Params:
    """The parameters that have other values than in a profile."""
    changed = {
        section: {name: value for name, value in values.items() if value != profile[section][name]}
        for section, values in params.items()
    }
    return {section: values for section, values in changed.items() if values}


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
