"""Compares what another installation of manetlab measures with what this one does, over random scenarios.

    python -m torture.same_measures /path/to/another/checkout --count 200

Everything that a run returns must be equal to the last bit: flows, totals, drops, audit, events, recording.
Left out are what names the code (the result hash, the version), what the clock says, and totals of flows that
are not there, which have no value here and were 0 once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manetlab.metrics import MEASURES
from torture import drawing

WORKER = """
import hashlib, json, sys
import manetlab
LEFT_OUT = {"provenance"}
for line in sys.stdin:
    try:
        result = manetlab.run(record=True, series_s=1.0, **json.loads(line))
    except manetlab.ManetlabError as error:
        print(json.dumps({"error": type(error).__name__}), flush=True)
        continue
    measured = {key: value for key, value in result.to_dict().items() if key not in LEFT_OUT}
    measured["events"] = result.provenance["events"]
    measured["arrivals"] = result.provenance["arrivals"]
    measured["recording"] = hashlib.sha256(result.recording.encode()).hexdigest()
    print(json.dumps(measured), flush=True)
"""


class Installation:
    """One installation that runs scenarios, one at a time."""

    def __init__(self, python: str) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([python, "-c", WORKER], stdin=pipe, stdout=pipe, text=True)

    def ask(self, fields: drawing.Fields) -> None:
        """Hands a scenario over."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(fields) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """What came out."""
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def applying(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without the totals of flows that are not there."""
    if "totals" not in answer:
        return answer
    there = {flow["kind"] for flow in answer["flows"]}
    absent = {key for key, said in MEASURES.items() if said.flows and not there & {*said.flows}}
    return {**answer, "totals": {key: each for key, each in answer["totals"].items() if key not in absent}}


def differences(ours: Any, theirs: Any, place: str = "") -> Iterator[str]:
    """Where two results differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            yield from differences(ours.get(key), theirs.get(key), f"{place}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(one, other, f"{place}[{at}]")
    elif ours != theirs:
        yield f"{place}: {ours!r} here, {theirs!r} there"


def main() -> int:
    """Compares, prints every scenario that differs, and returns how many do."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, help="the other checkout, or its interpreter")
    parser.add_argument("--count", type=int, default=200, help="number of scenarios (200)")
    parser.add_argument("--first", type=int, default=0, help="number of the first scenario (0)")
    arguments = parser.parse_args()
    other = arguments.other / ".venv" / "bin" / "python" if arguments.other.is_dir() else arguments.other
    here, there = Installation(sys.executable), Installation(str(other))
    seen: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    for number in range(arguments.first, arguments.first + arguments.count):
        fields = drawing.scenario(number)
        here.ask(fields)
        there.ask(fields)
        ours, theirs = applying(here.answer()), applying(there.answer())
        found = list(differences(ours, theirs))
        kind = "refused" if "error" in ours else "equal"
        seen["different" if found else kind] += 1
        if found:
            differing[fields["profile"]] += 1
            print(f"scenario {number} ({fields['routing']}, {fields['profile']}):")
            print("".join(f"  {each}\n" for each in found[:8]), end="")
    print(", ".join(f"{count} {what}" for what, count in sorted(seen.items())))
    if differing:
        print("different by profile: " + ", ".join(f"{name} {n}" for name, n in sorted(differing.items())))
    return seen["different"]


if __name__ == "__main__":
    sys.exit(main() > 0)
