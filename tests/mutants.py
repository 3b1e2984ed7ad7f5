"""Mutation testing: python -m tests.mutants [--rust] [--sample N] [--seed S] [--seconds T] [FILE…].

A mutant is a source with one small change, as ``<`` to ``<=``; it survives if all tests of its file pass.
Each mutant of Python runs in a process of its own, which imports the changed text in place of the file; with
``--rust`` changes of MAC, routing and transport are tried (tests/rust_mutants.py). Survivors that change
nothing that anybody could observe, or whose behaviour is left open, are listed with the reason in
tests/data/mutants.toml.
The exit status is 1 if more than one in twenty of those tried survives without one.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests import rust_mutants
from tests.rust_mutants import RustMutant

ROOT = Path(__file__).resolve().parents[1]
EXPLAINED = ROOT / "tests" / "data" / "mutants.toml"
MOST_UNEXPLAINED = 0.05
SLOWEST = 10
"""A mutant is stopped, and counts as killed, after this many times what its tests take, at least a minute."""
STATS = "python/manetlab/stats"
TESTS = {
    f"{STATS}/borders.py": ["test_stats_borders"],
    f"{STATS}/bounded.py": ["test_stats_bounded"],
    f"{STATS}/checks.py": ["test_stats_bounded", "test_stats_families", "test_stats"],
    f"{STATS}/comparisons.py": ["test_stats_families", "test_stats"],
    f"{STATS}/elimination.py": ["test_elimination"],
    f"{STATS}/fairness.py": ["test_stats"],
    f"{STATS}/families.py": ["test_stats_families"],
    f"{STATS}/intervals.py": ["test_stats_intervals", "test_stats_bounded", "test_stats"],
    f"{STATS}/looks.py": ["test_stats_looks"],
    f"{STATS}/progress.py": ["test_progress"],
    f"{STATS}/regression.py": ["test_stats_regression"],
    f"{STATS}/stopping.py": ["test_stopping"],
    f"{STATS}/warmup.py": ["test_warmup"],
}
"""The tests that a file of the statistics answers to."""
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A change of a file.

    Attributes:
        file: The file, from the root.
        name: What is changed: the line's text, and what becomes of a part of it.
        text: The changed file.
    """

    file: str
    name: str
    text: str


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a file of Python."""
    tree = ast.parse(source)
    lines = source.splitlines()
    for node in list(ast.walk(tree)):
        for place in _places(node):
            kept = {field: [*of] if isinstance(of, list) else of for field, of in vars(node).items()}
            before = ast.unparse(node)
            _change(node, place)
            name = f"{lines[getattr(node, 'lineno', 1) - 1].strip()} | {before} -> {ast.unparse(node)}"
            text = ast.unparse(tree)
            vars(node).update(kept)
            yield Mutant(file, name, text)


def _places(node: ast.AST) -> range:
    """The places of a node that can be changed; texts, types and documentation cannot."""
    match node:
        case ast.Compare():
            return range(len(node.ops))
        case ast.BinOp() if type(node.op) in OTHER and not _is_type(node):
            return range(1)
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not() | ast.USub()):
            return range(1)
        case ast.Constant(value=bool() | int() | float()):
            return range(1)
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            return range(1)
    return range(0)


def _is_type(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.BitOr)


def _change(node: ast.AST, place: int) -> None:
    """Makes the change at a place."""
    match node:
        case ast.Compare():
            node.ops[place] = OTHER[type(node.ops[place])]()  # type: ignore[call-overload]
        case ast.BinOp() | ast.BoolOp():
            node.op = OTHER[type(node.op)]()  # type: ignore[assignment]
        case ast.UnaryOp():
            node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
            if isinstance(node.op, ast.Not):
                node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value) | float(value)):
            node.value = value + 1 if value + 1 != value else value * 2
        case ast.Call(func=ast.Name() as function):
            node.func = ast.Name(NAMES[function.id])


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a text in place of a module's file."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.module = mutant.file.removeprefix("python/").removesuffix(".py").replace("/", ".")

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """The module's specification, if it is the changed one."""
        del path, target
        return importlib.util.spec_from_loader(name, self) if name == self.module else None

    def exec_module(self, module: ModuleType) -> None:
        """Runs the changed text."""
        exec(compile(self.mutant.text, self.mutant.file, "exec"), module.__dict__)


class _FastestFirst:
    """Runs the tests in the order of what they took, and notes what they take."""

    def __init__(self, took: dict[str, float]) -> None:
        self.took = took

    def pytest_collection_modifyitems(self, items: list[object]) -> None:
        """Sorts the tests; those that are not known come first."""
        items.sort(key=lambda item: self.took.get(item.nodeid, 0.0))  # type: ignore[attr-defined]

    def pytest_runtest_logreport(self, report: object) -> None:
        """Notes a test's time."""
        if report.when == "call":  # type: ignore[attr-defined]
            self.took[report.nodeid] = report.duration  # type: ignore[attr-defined]


def _status(mutant: Mutant | None, tests: Sequence[str], took: dict[str, float], seconds: float) -> int:
    """The exit status of the tests with a mutant, or without, in a process of their own; 1 if stopped."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            os.close(told)
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            if mutant is not None:
                sys.meta_path.insert(0, _Changed(mutant))
            import pytest

            order = _FastestFirst(took)
            options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
            status = int(pytest.main([*options, *tests], plugins=[order]))
            os.write(tell, json.dumps(order.took if mutant is None else {}).encode())
        os._exit(status)
    os.close(tell)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with os.fdopen(told, "rb") as pipe:
                took.update(json.loads(pipe.read() or b"{}"))
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(told)
    return 1


def explained() -> set[tuple[str, str]]:
    """File and name of the survivors with a reason."""
    listed = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("survivor", [])
    return {(each["file"], each["name"]) for each in listed if each["reason"]}


def python_survivors(files: Sequence[str], sample: int, seed: int, ends: float) -> tuple[int, list[Mutant]]:
    """How many mutants were tried until a time, and those that survived."""
    every = [mutant for file in files for mutant in mutants(file, (ROOT / file).read_text(encoding="utf-8"))]
    chosen = sorted(random.Random(seed).sample(every, min(sample or len(every), len(every))))
    print(f"{len(chosen)} of {len(every)} mutants of {len(files)} files", flush=True)
    tried, survivors = 0, []
    took: dict[str, float] = {}
    known: set[str] = set()
    for mutant in chosen:
        tests = [f"tests/{name}.py" for name in TESTS[mutant.file]]
        if time.monotonic() > ends:
            break
        if mutant.file not in known:
            known.add(mutant.file)
            if _status(None, tests, took, 3600.0) != 0:
                raise SystemExit(f"the tests of {mutant.file} fail without a mutant")
        usual = sum(seconds for test, seconds in took.items() if test.partition("::")[0] in tests)
        tried += 1
        if _status(mutant, tests, took, max(60.0, SLOWEST * usual)) == 0:
            survivors.append(mutant)
            print(f"survives: {mutant.file}: {mutant.name}", flush=True)
    return tried, survivors


def main() -> int:
    """Tries mutants and says which survive."""
    options = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    options.add_argument("files", nargs="*", default=[], help="files of the statistics; all if none is named")
    options.add_argument("--rust", action="store_true", help="of the core, as cargo-mutants lists them")
    options.add_argument("--sample", type=int, default=0, help="how many mutants, drawn by the seed; 0: all")
    options.add_argument("--seed", type=int, default=20261125)
    options.add_argument("--seconds", type=float, default=3600.0, help="no mutant begins after this time")
    asked = options.parse_args()
    ends = time.monotonic() + asked.seconds
    tried: int
    survivors: Sequence[Mutant | RustMutant]
    if asked.rust:
        tried, survivors = rust_mutants.survivors(asked.sample, asked.seed, ends)
    else:
        # What all mutants need and none changes is imported once.
        for name in ("numpy", "scipy.stats", "pytest"):
            importlib.import_module(name)
        tried, survivors = python_survivors(asked.files or sorted(TESTS), asked.sample, asked.seed, ends)
    reasons = explained()
    left = [mutant for mutant in survivors if (mutant.file, mutant.name) not in reasons]
    for mutant in left:
        print(f"without a reason: {mutant.file}: {mutant.name}")
    print(f"{tried} tried, {len(survivors)} survive, {len(left)} without a reason")
    return 1 if len(left) > MOST_UNEXPLAINED * tried else 0


if __name__ == "__main__":
    sys.exit(main())
