"""Which module of a Rust crate uses which, read from its sources; tests are left out.

It reads `use` declarations and paths in the code (`crate::radio::Index`, `super::table`, or from an imported
name). A name that a module only re-exports (`pub use time::Time`) also leads to the module that defines it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Module = tuple[str, ...]
"""The names on the way from the crate to a module; the crate itself is the empty one."""

NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r\#+".*?"\#+|b?"(?:\\.|[^"\\])*"|b?'(?:\\[^\n']*|[^\\\n'])'""", re.DOTALL
)
"""Comments, strings and characters."""


@dataclass(frozen=True)
class Use:
    """A module names something of another one."""

    of: Module
    by: Module
    file: Path
    line: int
    written: str
    """The whole path that is named, without `crate`."""


@dataclass
class Source:
    """A file without comments, strings and tests."""

    file: Path
    code: str
    paths: list[tuple[int, Module]] = field(default_factory=list)
    """Each path into the crate, with the position where it is named."""
    names: dict[str, Module] = field(default_factory=dict)
    """What each imported name means."""


def blank(text: str) -> str:
    """Spaces, with the same line ends."""
    return re.sub(r"[^\n]", " ", text)


def end_of_item(code: str, start: int) -> int:
    """The end of what begins at `start`: its last brace, or its semicolon."""
    depth = 0
    for found in re.finditer(r"[{}()\[\];]", code[start:]):
        depth += {"{": 1, "(": 1, "[": 1, ";": 0}.get(found[0], -1)
        if depth == 0 and found[0] in "};":
            return start + found.end()
    return len(code)


def without_tests(code: str) -> tuple[str, set[str]]:
    """The code without the items that only tests have, and the names of the test modules in other files."""
    modules = set()
    for found in reversed(list(re.finditer(r"#\[cfg\(test\)\]", code))):
        end = end_of_item(code, found.end())
        item = code[found.start() : end]
        if module := re.search(r"\bmod (\w+);$", item):
            modules.add(module[1])
        code = code[: found.start()] + blank(item) + code[end:]
    return code, modules


def branches(group: str) -> Iterator[str]:
    """The parts of `{a, b::{c, d}}`."""
    depth, start = 0, 1
    for at, sign in enumerate(group):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if (sign == "," and depth == 1) or (sign == "}" and depth == 0):
            yield group[start:at].strip()
            start = at + 1


def imports(tree: str, before: Module = ()) -> Iterator[tuple[Module, str]]:
    """What a `use` declaration brings in: whole paths, with the names that they have afterwards."""
    prefix, rest = re.fullmatch(r"((?:\w+\s*::\s*)*)(.*)", tree.strip(), re.DOTALL).groups()  # type: ignore[union-attr]
    before += tuple(re.findall(r"\w+", prefix))
    if rest.startswith("{"):
        for branch in branches(rest):
            if branch:
                yield from imports(branch, before)
        return
    name, _, alias = rest.partition(" as ")
    path = before if name == "self" and before else (*before, name)
    yield path, alias.strip() or path[-1]


def module_of(file: Path, root: Path) -> Module:
    parts = file.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


def sources(root: Path) -> dict[Module, Source]:
    """All modules below the folder `root` but tests."""
    found, tests = {}, set()
    for file in sorted(root.rglob("*.rs")):
        module = module_of(file, root)
        text = NOT_CODE.sub(lambda match: blank(match[0]), file.read_text(encoding="utf-8"))
        code, only_tests = without_tests(text)
        found[module] = Source(file, code)
        tests |= {(*module, name) for name in only_tests}
    return {
        module: source
        for module, source in found.items()
        if not any(module[: len(test)] == test for test in tests)
    }


def absolute(path: Module, module: Module, modules: dict[Module, Source]) -> Module | None:
    """A path as seen from the crate; none if it leads out of the crate."""
    if path[0] == "crate":
        return path[1:]
    if path[0] in ("self", "super"):
        above = 0
        while path and path[0] in ("self", "super"):
            above += path[0] == "super"
            path = path[1:]
        return module[: len(module) - above] + path
    return module + path if (*module, path[0]) in modules else None


def read_paths(module: Module, source: Source, modules: dict[Module, Source]) -> None:
    """Fills in what a source names."""
    for found in re.finditer(r"\buse\s([^;]+);", source.code):
        for path, name in imports(found[1]):
            if (whole := absolute(path, module, modules)) is not None:
                source.paths.append((found.start(), whole))
                source.names[name] = whole
        source.code = source.code[: found.start()] + blank(found[0]) + source.code[found.end() :]
    for found in re.finditer(r"(?<![\w:])\w+(?:::\w+)+", source.code):
        path = tuple(found[0].split("::"))
        known = source.names.get(path[0])
        whole = known + path[1:] if known is not None else absolute(path, module, modules)
        if whole is not None:
            source.paths.append((found.start(), whole))


def targets(
    path: Module, modules: dict[Module, Source], seen: frozenset[Module] = frozenset()
) -> Iterator[Module]:
    """The module that a path leads to, and the one that defines the name if that is another."""
    length = next(length for length in range(len(path), -1, -1) if path[:length] in modules)
    module, rest = path[:length], path[length:]
    yield module
    if rest and path not in seen and (exported := modules[module].names.get(rest[0])) is not None:
        yield from targets(exported + rest[1:], modules, seen | {path})


def uses(root: Path) -> list[Use]:
    """All uses of one module by another, below the folder of the crate's sources."""
    modules = sources(root)
    for module, source in modules.items():
        read_paths(module, source, modules)
    return [
        Use(of, module, source.file, source.code.count("\n", 0, at) + 1, "::".join(path))
        for module, source in modules.items()
        for at, path in source.paths
        for of in targets(path, modules)
        if of != module
    ]
