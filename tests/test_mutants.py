"""The mutation tester itself: what it changes, and that its survivors are changes of what is there."""

from __future__ import annotations

import ast
import tomllib

from tests import mutants
from tests.conftest import ROOT

SOURCE = '''"""Head 1."""

LIMIT = 3


def pick(values, least=-1.0):
    """Text with 2."""
    if not values or min(values) < LIMIT:
        return least + 1
    return values is None
'''


def test_each_mutant_is_one_change_that_is_named() -> None:
    found = list(mutants.mutants("pick.py", SOURCE))
    assert {mutant.name for mutant in found} == {
        "LIMIT = 3 | 3 -> 4",
        "if not values or min(values) < LIMIT: | not values or min(values) < LIMIT -> "
        "not values and min(values) < LIMIT",
        "def pick(values, least=-1.0): | -1.0 -> +1.0",
        "return least + 1 | least + 1 -> least - 1",
        "return values is None | values is None -> values is not None",
        "def pick(values, least=-1.0): | 1.0 -> 2.0",
        "if not values or min(values) < LIMIT: | not values -> not not values",
        "if not values or min(values) < LIMIT: | min(values) < LIMIT -> min(values) <= LIMIT",
        "return least + 1 | 1 -> 2",
        "if not values or min(values) < LIMIT: | min(values) -> max(values)",
    }
    original = ast.unparse(ast.parse(SOURCE))
    assert original not in {mutant.text for mutant in found}
    assert len({mutant.text for mutant in found}) == len(found)


def test_every_file_of_the_statistics_has_tests_to_answer_to() -> None:
    files = {f"{mutants.STATS}/{path.name}" for path in (ROOT / mutants.STATS).glob("*.py")}
    assert mutants.TESTS.keys() == files - {f"{mutants.STATS}/__init__.py"}
    names = {name for listed in mutants.TESTS.values() for name in listed}
    assert [name for name in names if not (ROOT / "tests" / f"{name}.py").exists()] == []


def test_survivors_are_changes_of_lines_that_are_there() -> None:
    listed = tomllib.loads(mutants.EXPLAINED.read_text(encoding="utf-8")).get("survivor", [])
    assert all(each["reason"].endswith(".") for each in listed)
    for file in {each["file"] for each in listed if each["file"].endswith(".py")}:
        text = (ROOT / file).read_text(encoding="utf-8")
        names = {each["name"] for each in listed if each["file"] == file}
        assert names <= {mutant.name for mutant in mutants.mutants(file, text)}
