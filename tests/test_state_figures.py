"""The state figures on the pages of routing protocols name what is in the code.

A figure is a state diagram of Mermaid. Behind each state, in parentheses, is what the code has for it: a
function, a type, a field, or a variant of an enum, in which case all variants are states; behind each
transition is the function that makes it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

SOURCES = ROOT / "crates" / "core" / "src" / "routing"
PAGES = ROOT / "docs" / "models"
CODE = {"static-routes": "static_routes"}
"""Where the folder or file of a protocol is called otherwise than its page."""


class Figure(NamedTuple):
    """A state diagram.

    Attributes:
        states: What the code has for each state, by its short name.
        steps: From, to, and the function, of each transition.
        other: Lines that are none of these.
    """

    states: dict[str, str]
    steps: list[tuple[str, str, str]]
    other: list[str]


def protocols() -> list[str]:
    """The pages of routing protocols: those whose source is in the folder of routing."""
    assert code("flooding") and code("static-routes") and not code("mac")
    return [page.stem for page in sorted(PAGES.glob("*.md")) if code(page.stem)]


def code(page: str) -> str:
    """The source of a protocol without its tests and comments."""
    name = CODE.get(page, page)
    files = [*sorted((SOURCES / name).rglob("*.rs")), *SOURCES.glob(f"{name}.rs")]
    texts = [file.read_text(encoding="utf-8") for file in files if "test" not in file.name]
    kept = "\n".join(text.partition("#[cfg(test)]\nmod tests {")[0] for text in texts)
    return re.sub(r"//.*", "", kept)


def figure(text: str) -> Figure:
    """The figure of a page."""
    [block] = re.findall(r"^```mermaid\nstateDiagram-v2\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found = Figure({}, [], [])
    for line in map(str.strip, block.splitlines()):
        if state := re.fullmatch(r'state ".+ \(([\w:]+)\)" as (\w+)', line):
            found.states[state[2]] = state[1]
        elif step := re.fullmatch(r"(\w+) --> (\w+): [^:]+ \((\w+)\)", line):
            found.steps.append((step[1], step[2], step[3]))
        elif not re.fullmatch(r"\[\*\] --> \w+", line):
            found.other.append(line)
    return found


def variants(source: str, name: str) -> set[str]:
    """The variants of an enum; none if there is no such enum."""
    found = re.search(rf"\benum {name} \{{(.*?)^\}}", source, re.DOTALL | re.MULTILINE)
    return set(re.findall(r"^ +([A-Z]\w*)", found[1], re.MULTILINE)) if found else set()


def wrong(shown: Figure, source: str) -> list[str]:
    """What a figure says that is not in the source, and what it leaves out."""
    said = [f"not read: {line}" for line in shown.other]
    said += [f"no function: {name}" for _, _, name in shown.steps if not re.search(rf"\bfn {name}\b", source)]
    drawn = {end for step in shown.steps for end in step[:2]}
    said += [f"not joined by transitions: {name}" for name in drawn ^ shown.states.keys()]
    enums: dict[str, set[str]] = {}
    for name in shown.states.values():
        enum, _, variant = name.partition("::")
        if variant:
            enums.setdefault(enum, set()).add(variant)
        elif not re.search(rf"\b{name}\b", source):
            said.append(f"not in the source: {name}")
    said += [f"other variants: {name}" for name in enums if enums[name] != variants(source, name)]
    return said


@pytest.mark.parametrize("page", protocols())
def test_a_protocols_figure_is_that_of_its_code(page: str) -> None:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    assert "```mermaid" in text, (
        f"docs/models/{page}.md has no state figure; docs/models/flooding.md shows one"
    )
    shown = figure(text)
    assert shown.steps
    assert wrong(shown, code(page)) == []


def test_what_the_code_does_not_have_is_noticed(tmp_path: Path) -> None:
    source = "enum Waiting {\n    ToSend(Time),\n    ForAnswer,\n}\nfn seek() {}\nfn found() {}\n"
    text = (
        '```mermaid\nstateDiagram-v2\n    state "a (Waiting::ToSend)" as a\n'
        '    state "b (Waiting::ForAnswer)" as b\n'
        "    [*] --> a\n    a --> b: sought (seek)\n    b --> a: found (found)\n```\n"
    )
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    assert wrong(figure(page.read_text(encoding="utf-8")), source) == []
    assert wrong(figure(text), source.replace("fn seek", "fn search")) == ["no function: seek"]
    assert wrong(figure(text), source.replace("ForAnswer,", "ForAnswer,\n    GivenUp,")) == [
        "other variants: Waiting"
    ]
    without = text.replace('    state "b (Waiting::ForAnswer)" as b\n', "")
    assert wrong(figure(without), source) == ["not joined by transitions: b", "other variants: Waiting"]
    assert wrong(figure(text.replace("sought (seek)", "sought")), source)[0] == "not read: a --> b: sought"
