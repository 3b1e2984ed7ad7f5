"""The mutation tester itself: what it changes, and that its survivors are changes of what is there."""

from __future__ import annotations

import ast
import tomllib
from typing import Any

from tests import mutants, rust_mutants
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


RUST = """impl Route {
    fn age(&self, now: Time) -> u32 { // {
        self.hops + now - self.born - 1
    }
}

fn none() {}
"""


def _listed(what: str, start: tuple[int, int], end: tuple[int, int], by: str) -> dict[str, Any]:
    """A change of `age`, as cargo-mutants lists it; places from 1."""

    def span(start: tuple[int, int], end: tuple[int, int]) -> dict[str, dict[str, int]]:
        return {name: {"line": at[0], "column": at[1]} for name, at in (("start", start), ("end", end))}

    name = f"route.rs:{start[0]}:{start[1]}: {what} in Route::age"
    function = {"function_name": "Route::age", "span": span((2, 5), (4, 6))}
    return {
        "file": "route.rs",
        "function": function,
        "name": name,
        "span": span(start, end),
        "replacement": by,
    }


def test_mutants_of_a_function_stand_beside_it() -> None:
    listed = [
        _listed("replace - with +", (3, 25), (3, 26), "+"),
        _listed("replace - with +", (3, 37), (3, 38), "+"),
        {**_listed("replace", (1, 1), (1, 2), ""), "function": None},
    ]
    found = rust_mutants.mutants(listed, {"route.rs": RUST})
    line = "self.hops + now - self.born - 1"
    assert [mutant.name for mutant in found] == [
        f"{line} | replace - with + in Route::age",
        f"{line} | replace - with + in Route::age, number 2 in the line",
    ]
    text, owners = rust_mutants.changed(RUST, dict(enumerate(found, 5)), {found[0].function: 7})
    assert (
        text
        == """impl Route {
    fn age(&self, now: Time) -> u32 { match crate::switch::chosen(7) {
5 => { // {
        self.hops + now + self.born - 1
    }
6 => { // {
        self.hops + now - self.born + 1
    }
_ => { // {
        self.hops + now - self.born - 1
    }
} }
}

fn none() {}
"""
    )
    assert owners == {3: 5, 4: 5, 5: 5, 6: 6, 7: 6, 8: 6}


def test_a_sample_stays_when_other_mutants_come_and_go() -> None:
    place = rust_mutants.Place((0, 0), (0, 1))
    every = [rust_mutants.RustMutant("route.rs", str(name), place, place, "") for name in range(100)]
    sample = rust_mutants.drawn(every, 20, seed=1)
    assert len(set(sample)) == 20
    others = [each for each in every if each not in sample]
    assert rust_mutants.drawn([*sample, *others[::2]], 20, seed=1) == sample
    without_first = [each for each in every if each != sample[0]]
    assert rust_mutants.drawn(without_first, 20, seed=1)[:19] == sample[1:]
    assert rust_mutants.drawn(every, 20, seed=2) != sample
    assert len(rust_mutants.drawn(every, 0, seed=1)) == 100


def test_functions_within_functions_are_changed_with_the_outer_one() -> None:
    outer, inner, other = (
        rust_mutants.Place((first, 0), (last, 1)) for first, last in ((1, 9), (2, 4), (10, 12))
    )
    assert rust_mutants.outermost([other, inner, outer]) == {inner: outer, outer: outer, other: other}


def test_survivors_are_changes_of_lines_that_are_there() -> None:
    listed = tomllib.loads(mutants.EXPLAINED.read_text(encoding="utf-8")).get("survivor", [])
    assert all(each["reason"].endswith(".") for each in listed)
    for file in {each["file"] for each in listed if each["file"].endswith(".py")}:
        text = (ROOT / file).read_text(encoding="utf-8")
        names = {each["name"] for each in listed if each["file"] == file}
        assert names <= {mutant.name for mutant in mutants.mutants(file, text)}
    for each in listed:
        if each["file"].endswith(".rs"):
            lines = (ROOT / each["file"]).read_text(encoding="utf-8").split("\n")
            assert each["name"].split(" | ")[0] in map(str.strip, lines), each["name"]
