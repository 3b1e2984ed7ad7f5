"""A disk that fails costs nothing that was stored, and no result."""

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_a_campaign_goes_on_after_any_fault_of_the_file_system(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.faulty", str(tmp_path), "80"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    # Calls that wrote less, or were interrupted, are made again; the disk being full cannot be mended.
    assert {"short write: done", "EINTR: done", "ENOSPC from then on: refused"} <= found["ended"].keys()
    assert not {"short write: refused", "EINTR: refused"} & found["ended"].keys()
