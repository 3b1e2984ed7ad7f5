"""The goldens on another processor: aarch64, emulated (``make aarch64``).

It needs rustup, and Debian's packages qemu-user-static, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross.
It ends with 1 if a result hash differs from the native one.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from manetlab import Scenario
from tests.engine import answers, request
from tests.golden import SCENARIOS, expected_file

ROOT = Path(__file__).resolve().parents[1]
TARGET = "aarch64-unknown-linux-gnu"
EMULATOR = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]


def built() -> Path:
    """The program that carries out requests, for the other processor."""
    subprocess.run(["rustup", "target", "add", TARGET], check=True)
    environment = {**os.environ, "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": "aarch64-linux-gnu-gcc"}
    what = ["-p", "manetlab-wasm", "--example", "requests"]
    command = ["cargo", "build", "--locked", "--profile", "engine", "--target", TARGET, *what]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    return ROOT / "target" / TARGET / "engine" / "examples" / "requests"


def main() -> int:
    """Says how many goldens have their native hash, and which do not."""
    program = built()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for scenario in SCENARIOS:
            file = Path(folder, scenario.stem)
            file.write_text(request(Scenario.load(scenario).resolve()), encoding="utf-8")
            [found] = answers([*EMULATOR, str(program), str(file)])
            wanted = json.loads(expected_file(scenario).read_text())["result_hash"]
            if found.get("hash") != wanted:
                wrong += 1
                print(f"{scenario.stem}: {found.get('hash', found.get('refused'))}, natively {wanted}")
    print(f"{len(SCENARIOS) - wrong} of {len(SCENARIOS)} goldens have their native hashes on {TARGET}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
