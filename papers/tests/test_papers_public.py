"""The package uses manetlab's public interface and nothing else; manetlab does not know it."""

from __future__ import annotations

import ast
from pathlib import Path

import manetlab
import manetlab_papers

PUBLIC = {
    *("manetlab", "manetlab.campaign", "manetlab.capacity", "manetlab.errors"),
    *(
        "manetlab.files",
        "manetlab.metrics",
        "manetlab.operation_range",
        "manetlab.parameters",
        "manetlab.provenance",
        "manetlab.report",
        "manetlab.running",
        "manetlab.scenario",
        "manetlab.shares",
        "manetlab.stats",
    ),
    *("manetlab.tables", "manetlab.topology", "manetlab.traffic"),
    # What a command is made with.
    *("manetlab.cli", "manetlab.cli.groups", "manetlab.campaign.execution"),
}
"""The modules of manetlab that are written for others; names with an underscore are nobody's but its own."""


def imports(folder: Path) -> set[tuple[str, str]]:
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {(alias.name, "") for alias in node.names}
    return found


def test_the_papers_use_the_public_interface_of_manetlab_only() -> None:
    folder = Path(manetlab_papers.__file__).parent
    used = {(module, name) for module, name in imports(folder) if module.partition(".")[0] == "manetlab"}
    assert used
    assert {module for module, _ in used} <= PUBLIC
    assert not [name for _, name in used if name.startswith("_")]


def test_manetlab_does_not_know_the_papers() -> None:
    folder = Path(manetlab.__file__).parent
    assert not [module for module, _ in imports(folder) if module.startswith("manetlab_papers")]
