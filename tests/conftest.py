"""What the tests share."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NS2 = ROOT / "validation" / "ns2"

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Shells start background jobs with SIGINT ignored, for their children too; Ctrl-C must work in tests."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Runs the command line in an empty folder."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "manetlab", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)

    return call


@pytest.fixture
def ns2() -> Path:
    """The folder of ns-2's files and measurements."""
    return NS2
