"""Ctrl-C that falls into a callback whose exceptions Python drops."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from manetlab import interrupts
from manetlab.campaign import execution
from manetlab.cli import app
from manetlab.operation_range import find
from manetlab.report import write

FAR_S = 20.0


class Referent:
    """Something that can end."""


def interrupted_in_a_callback() -> None:
    """Ctrl-C in the callback of a weak reference, and work that goes on after it."""
    referent = Referent()
    reference = weakref.ref(referent, lambda _: signal.raise_signal(signal.SIGINT))
    del referent
    assert reference() is None
    end_s = time.monotonic() + FAR_S
    while time.monotonic() < end_s:
        time.sleep(0.01)


@pytest.fixture
def _own_handler() -> Any:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_own_handler")
def test_what_python_drops_is_brought_back() -> None:
    told = sys.unraisablehook
    began_s = time.monotonic()
    with pytest.raises(KeyboardInterrupt), interrupts.brought_back():
        interrupted_in_a_callback()
    assert time.monotonic() - began_s < FAR_S / 2
    assert sys.unraisablehook is told, "somebody else's program is left as it was"


def test_other_exceptions_that_cannot_be_passed_on_are_told_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_type))
    with interrupts.brought_back():
        referent = Referent()
        reference = weakref.ref(referent, lambda _: 1 / 0)
        del referent
        assert reference() is None
    assert told == [ZeroDivisionError]


def test_other_threads_leave_everything_as_it_is() -> None:
    seen = []

    def work() -> None:
        before = sys.unraisablehook
        with interrupts.brought_back():
            seen.append(sys.unraisablehook is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]


@pytest.mark.parametrize("function", [execution.run, find, write])
def test_long_work_brings_ctrl_c_back(function: Any) -> None:
    """Each of them replaces the hook before it looks at what it is given."""
    before, seen = sys.unraisablehook, []

    class Given:
        def __getattr__(self, name: str) -> Any:
            seen.append(sys.unraisablehook is not before)
            raise LookupError(name)

        def __fspath__(self) -> str:
            seen.append(sys.unraisablehook is not before)
            raise LookupError("a path")

    given = Given()
    with pytest.raises((LookupError, TypeError)):
        function(given, given) if function is write else function(given)
    assert seen[0]


def test_the_command_line_brings_it_back() -> None:
    program = (
        "import sys, manetlab.cli, tests.test_interrupts as here\n"
        "manetlab.cli._run_app = here.interrupted_in_a_callback\n"
        "manetlab.cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=4 * FAR_S
    )
    assert "KeyboardInterrupt" in done.stderr


@pytest.mark.parametrize("module", ["manetlab.cli", "click", "manetlab.cli.groups", "manetlab.cli.demos"])
def test_ctrl_c_during_an_import_ends_without_a_traceback(module: str) -> None:
    program = (
        "import signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "sys.argv[1:] = ['demo', '--help']\n"
        "from manetlab.command import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=4 * FAR_S
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped; nothing was written\n")


NETWORK = "duration_s = 2.0\nmovement.chain = { nodes = 3 }\ntraffic.random = { cbr = 1 }\n"
LOAD = ("--level", "traffic.random.cbr", "--levels", "1..2", "--limit", "pdr >= 0.5")


@pytest.mark.parametrize(
    ("function", "words", "store"),
    [
        ("manetlab.load_capacity.find", ("capacity", "s.toml", *LOAD), "s.capacity.db"),
        ("manetlab.operation_range.find", ("range", "s.toml", "--flows", "2"), "s.range.db"),
        ("manetlab.advice.advise", ("advise", "s.toml"), "s.advice.db"),
        ("manetlab.campaign.Campaign.run", ("campaign", "run", "c.toml"), "c.db"),
    ],
)
def test_long_searches_say_where_runs_are_kept(
    function: str, words: tuple[str, ...], store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    (tmp_path / "s.toml").write_text(NETWORK)
    (tmp_path / "c.toml").write_text("base = 's.toml'\nfactors.routing = ['aodv', 'dsr']\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(function, interrupted)
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == 130
    assert done.stderr == f"stopped; finished runs are kept in {store}; the same command continues\n"
