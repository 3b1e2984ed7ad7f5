"""The goldens in the engine of WebAssembly: are their result hashes the native ones (``make engine``)?

``python -m tests.engine ENGINE.wasm`` needs Node. It ends with 1 if a hash differs.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from manetlab import Scenario
from tests.golden import SCENARIOS, expected_file

HOST = Path(__file__).with_name("engine.mjs")


def request(scenario: Path) -> str:
    """What the engine is asked: the scenario as the native core gets it, and its movement."""
    resolved = Scenario.load(scenario).resolve()
    return f'{{"scenario":{resolved.core_json()},"movement":{json.dumps(resolved.movement.to_ns2())}}}'


def differences(engine: Path) -> list[str]:
    """A line for each golden whose hash is another one in the engine."""
    with tempfile.TemporaryDirectory() as folder:
        requests = [Path(folder, scenario.stem) for scenario in SCENARIOS]
        for scenario, file in zip(SCENARIOS, requests, strict=True):
            file.write_text(request(scenario), encoding="utf-8")
        command = ["node", str(HOST), str(engine), *map(str, requests)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    answers = [json.loads(line) for line in printed.splitlines()]
    kept = [json.loads(expected_file(scenario).read_text())["result_hash"] for scenario in SCENARIOS]
    return [
        f"{answer['name']}: {answer.get('hash', answer.get('refused'))}, natively {wanted}"
        for answer, wanted in zip(answers, kept, strict=True)
        if answer.get("hash") != wanted
    ]


if __name__ == "__main__":
    found = differences(Path(sys.argv[1]))
    print("\n".join(found) or f"{len(SCENARIOS)} goldens have their native hashes")
    sys.exit(bool(found))
