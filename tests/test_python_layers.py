"""Modules import only from the rows below their own in ARCHITECTURE.md, and never in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "python" / "manetlab"
NOT_LAYERED = {"__init__", "__main__", "docs_tables", "examples", "_core"}
"""What is the package itself, is made for the documentation, stands beside it, or is compiled."""

EXCEPTIONS = {
    # `Campaign.run` is how users start a campaign: the method calls what runs it, which it imports then.
    ("campaign", "plan", "execution")
}


def imports(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports when it runs, at its top or within a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("manetlab."))
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("manetlab."):
            inner = [f"{node.module}.{each.name}" for each in node.names]
            yield from (name if is_module(name) else str(node.module) for name in inner)


def is_module(name: str) -> bool:
    path = ROOT / "python" / Path(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists() or name == "manetlab._core"


def graph(folder: Path, prefix: str, depth: int) -> dict[str, set[str]]:
    """Which entry of a folder imports which, each entry a module or a package."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).with_suffix("").parts[0]
        targets = {each.split(".")[depth] for each in imports(path) if each.startswith(prefix + ".")}
        found.setdefault(name, set()).update(targets - {name})
    return found


def rows(heading: str) -> list[set[str]]:
    """The modules of each row of the table under a sentence of ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text[text.index(heading) :].split("\n\n")[1]
    return [set(re.findall(r"`(\w+)`", line.split("|")[1])) for line in table.splitlines()[2:]]


def test_modules_import_only_from_below() -> None:
    layers = rows("The modules of `python/manetlab`, from the top down")
    of = {name: number for number, names in enumerate(layers) for name in names}
    found = {
        name: targets for name, targets in graph(PACKAGE, "manetlab", 1).items() if name not in NOT_LAYERED
    }
    assert set(found) == set(of)
    upwards = [
        f"{name} imports {target}"
        for name, targets in found.items()
        for target in targets - NOT_LAYERED
        if of[target] <= of[name]
    ]
    assert upwards == []


@pytest.mark.parametrize("package", ["campaign", "report", "stats", "cli"])
def test_no_modules_of_a_package_import_each_other_in_a_circle(package: str) -> None:
    found = graph(PACKAGE / package, f"manetlab.{package}", 2)
    found.pop("__init__", None)
    rest = {
        name: {target for target in targets & set(found) if (package, name, target) not in EXCEPTIONS}
        for name, targets in found.items()
    }
    while free := {name for name, targets in rest.items() if not targets}:
        rest = {name: targets - free for name, targets in rest.items() if name not in free}
    assert rest == {}


def test_an_import_upwards_is_found(tmp_path: Path) -> None:
    file = tmp_path / "low.py"
    file.write_text("def f():\n    from manetlab import scenario\n    from manetlab.errors import shown\n")
    assert set(imports(file)) == {"manetlab.scenario", "manetlab.errors"}
    file.write_text("if TYPE_CHECKING:\n    from manetlab import scenario\n")
    assert set(imports(file)) == set()
