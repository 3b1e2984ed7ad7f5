"""The examples in docstrings run, and print what they show."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import manetlab
from tests.conftest import ROOT

PACKAGE = ROOT / "python" / "manetlab"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST


def with_examples() -> list[str]:
    """The names of all modules with an example."""
    found = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    names = [path.relative_to(PACKAGE.parent).with_suffix("") for path in found]
    return [".".join(name.parts).removesuffix(".__init__") for name in names]


@pytest.mark.parametrize("name", with_examples())
def test_examples_print_what_they_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0, capsys.readouterr().out
    assert tried > 0


def test_no_example_is_skipped() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert [path for path, text in sources.items() if re.search(r"doctest: *\+SKIP", text)] == []


def test_everything_public_has_an_example() -> None:
    public = [getattr(manetlab, name) for name in manetlab.__all__ if not name.startswith("__")]
    # Of the errors only the one that users meet; packets are made by the simulator, for protocols in Python.
    without = {manetlab.ManetlabError, manetlab.RunFailed, manetlab.ProtocolFailed, manetlab.Packet}
    api = [each for each in public if each not in without]
    api += [manetlab.Campaign.run, manetlab.Results.load, manetlab.Scenario.changed]
    assert not any(isinstance(each, ModuleType) for each in api)
    assert [each.__qualname__ for each in api if ">>> " not in (inspect.getdoc(each) or "")] == []
