"""The journeys of ARCHITECTURE.md name what is there, at the types and in the modules that they say."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

CORE, PAPERS = "crates/core/src/**/*.rs", "papers/manetlab_papers/**/*.py"
JOURNEYS = {
    "One packet's journey": (CORE, ("crates/core/src/network", "crates/core/src/channel")),
    "One TCP segment's journey": (CORE, ("crates/core/src/transport/tcp/sender",)),
    "One claim's journey": (PAPERS, ("papers/manetlab_papers",)),
}
"""The sections, each with the files whose names it uses, and where functions without a path are."""
OTHERS = {"rfc"}
"""Names that are no code's."""
Name = tuple[str, ...]
"""The parts of a name: ``Dcf::handle_send``."""


@cache
def texts(pattern: str) -> dict[Path, str]:
    """The texts of all files of a pattern."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern))}


def named(section: str) -> set[Name]:
    """The names in a section."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = re.split(r"^#+ ", text[text.index(f"### {section}") + 4 :], maxsplit=1, flags=re.MULTILINE)[0]
    names = (tuple(re.split(r"::|[.]", name)) for name in re.findall(r"`([\w:.]+)`", part))
    return {name for name in names if name[-1] not in OTHERS}


def defines(text: str, name: str) -> bool:
    """Whether a file defines a name, or it is a variant, a field or a module of it."""
    defined = (
        rf"\b(fn|struct|enum|trait|mod|def|class|import) {name}\b|^\s*(pub(\(\w+\))? )?{name}\b\s*[:,({{]"
    )
    return re.search(defined, text, re.MULTILINE) is not None


def is_there(name: Name, section: str) -> bool:
    """Whether a name is defined: at its type or in its module; a function alone in the section's folders."""
    pattern, folders = JOURNEYS[section]
    *owner, last = name
    files = texts(pattern)
    if owner:
        of = rf"\b(impl|struct|enum|trait|class|mod)\b[^\n]*\b{owner[-1]}\b"
        return any(
            defines(text, last)
            for path, text in files.items()
            if owner[-1] in (path.stem, path.parent.name) or re.search(of, text)
        )
    is_function = last.islower() and pattern == CORE
    near = [text for path, text in files.items() if not is_function or str(path).startswith(within(folders))]
    return any(path.stem == last for path in files) or any(defines(text, last) for text in near)


def within(folders: tuple[str, ...]) -> tuple[str, ...]:
    """The folders' whole paths, as the files in them begin."""
    return tuple(f"{ROOT / folder}/" for folder in folders)


@pytest.mark.parametrize("section", JOURNEYS)
def test_what_a_journey_names_is_there(section: str) -> None:
    names = named(section)
    assert len(names) > 10
    assert sorted(name for name in names if not is_there(name, section)) == []


def test_a_name_that_is_gone_or_elsewhere_is_found() -> None:
    packet, claim = "One packet's journey", "One claim's journey"
    assert not is_there(("handle_sent_away",), packet)
    assert not is_there(("handle_send",), packet), "it is the MAC's, and is named with it"
    assert is_there(("Dcf", "handle_send"), packet)
    assert not is_there(("keeping", "load"), claim) and is_there(("kept_runs", "load"), claim)
