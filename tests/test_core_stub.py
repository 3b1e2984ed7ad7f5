"""The stub of the compiled module says what is in it."""

import ast
import inspect
from pathlib import Path
from types import ModuleType

import pytest

from manetlab import _core

STUB = ast.parse((Path(_core.__file__).parent / "_core.pyi").read_text())


def parameters(node: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in node.args.args if argument.arg != "self"]


def compiled_parameters(function: object) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]  # type: ignore[arg-type]


def public(thing: ModuleType | type) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


def test_module_and_stub_have_the_same_names_and_parameters() -> None:
    functions = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
    constants = {
        node.target.id
        for node in STUB.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and not node.target.id.startswith("_")
        # A name for a type is the stub's alone.
        and not (isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias")
    }
    assert public(_core) == set(functions) | set(classes) | constants
    for name, node in functions.items():
        assert compiled_parameters(getattr(_core, name)) == parameters(node), name


@pytest.mark.parametrize("compiled", [_core.Movement, _core.Node, _core.Packet, _core.Random])
def test_class_and_stub_have_the_same_members(compiled: type) -> None:
    (stub,) = (
        node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == compiled.__name__
    )
    members = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    changeable = {
        node.target.id
        for node in stub.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and not node.target.id.startswith("_")
    }
    assert public(compiled) == set(members) | changeable
    for name, node in members.items():
        if not any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list):
            assert compiled_parameters(getattr(compiled, name)) == parameters(node), name
