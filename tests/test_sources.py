"""Sources keep to what CONTRIBUTING.md asks of them and no other tool checks."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.conftest import ROOT

WIDTH = 110
LONGEST_FUNCTION = 70
CRATES = sorted(path for folder in ("crates", "fuzz/fuzz_targets") for path in (ROOT / folder).rglob("*.rs"))
MODULES = sorted(
    path
    for folder in ("python", "papers", "tests", "benches", "torture")
    for path in (ROOT / folder).rglob("*.py")
)


def wide_comments(text: str) -> list[int]:
    """The lines of comments that are too wide; a row of a table cannot be broken."""
    return [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > WIDTH and re.match(r"\s*//(?![/!]? \|)", line)
    ]


def long_functions(text: str) -> list[str]:
    """The names of the functions that are too long."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]


def test_wide_comments_and_long_functions_are_found() -> None:
    wide = "//" + " x" * 60
    assert wide_comments(f"{wide}\nlet x = 1;\n    //! | {wide}\n    /// {wide}") == [1, 4]
    body = "    pass\n" * (LONGEST_FUNCTION - 1)
    assert long_functions(f"def short():\n{body}") == []
    assert long_functions(f"def long():\n{body}    pass\n") == ["long"]


def test_comments_in_rust_are_not_wider_than_code() -> None:
    # rustfmt wraps code, and ruff holds Python's lines, but neither holds these.
    texts = {path: path.read_text(encoding="utf-8") for path in CRATES}
    assert [f"{path}:{line}" for path, text in texts.items() for line in wide_comments(text)] == []


def test_every_rust_file_says_at_its_head_what_belongs_into_it() -> None:
    assert [path for path in CRATES if not path.read_text(encoding="utf-8").startswith("//! ")] == []


def beside_their_folders(paths: list[Path]) -> list[Path]:
    """The files `foo.rs` beside a folder `foo`."""
    folders = {path.parent for path in paths}
    return [path for path in paths if path.with_suffix("") in folders]


def test_a_rust_module_with_submodules_is_in_their_folder() -> None:
    mixed = [Path("src/arp.rs"), Path("src/arp/tests.rs"), Path("src/ip.rs")]
    assert beside_their_folders(mixed) == [Path("src/arp.rs")]
    assert beside_their_folders(CRATES) == []


def test_no_function_in_python_is_longer_than_a_screen() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    assert [f"{path}: {name}" for path, text in texts.items() for name in long_functions(text)] == []
