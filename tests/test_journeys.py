"""The journeys of ARCHITECTURE.md name what is there, at the types and in the modules that they say."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

CORE, PAPERS = "crates/core/src/**/*.rs", "papers/manetlab_papers/**/*.py"
JOURNEYS = {
    "One packet's journey": (CORE, {"Network": "network", "Channel": "channel"}),
    "One TCP segment's journey": (CORE, {"Sender": "transport/tcp/sender"}),
    "One claim's journey": (PAPERS, {}),
}
"""The sections, each with the files whose names it uses, and of which types functions without a path are."""
OTHERS = {"rfc"}
"""Names that are no code's."""
Name = tuple[str, ...]
"""The parts of a name: ``Dcf::handle_send``."""


@cache
def texts(pattern: str) -> dict[Path, str]:
    """The texts of all files of a pattern but those of tests."""
    return {
        path: path.read_text(encoding="utf-8").partition("\n#[cfg(test)]\nmod tests {")[0]
        for path in sorted(ROOT.glob(pattern))
        if not {path.stem, path.parent.name} & {"tests", "testbench"}
    }


@cache
def members(folder: str = "") -> dict[str, str]:
    """By the name of a type of Rust: what is in the braces of its definition and of what implements it."""
    found: dict[str, str] = {}
    block = re.compile(r"^(?:pub(?:\(\w+\))? )?(?:impl|struct|enum|trait)\b([^{;]*)\{(.*?)^\}", re.M | re.S)
    for path, text in texts(CORE).items():
        if str(path).startswith(f"{ROOT / 'crates/core/src' / folder}"):
            for head, body in block.findall(text):
                for name in set(re.findall(r"\w+", head)):
                    found[name] = found.get(name, "") + body
    return found


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
    """Whether a name is defined: as a member of its type, or in its module, and not only in tests."""
    pattern, types = JOURNEYS[section]
    *owner, last = name
    files = texts(pattern)
    if pattern == CORE and last.islower() and not owner:
        return any(defines(members(folder).get(of, ""), last) for of, folder in types.items())
    if owner:
        of = rf"\bclass\b[^\n]*\b{owner[-1]}\b"
        return defines(members().get(owner[-1], ""), last) or any(
            defines(text, last)
            for path, text in files.items()
            if owner[-1] in (path.stem, path.parent.name) or (pattern == PAPERS and re.search(of, text))
        )
    return any(path.stem == last for path in files) or any(defines(text, last) for text in files.values())


@pytest.mark.parametrize("section", JOURNEYS)
def test_what_a_journey_names_is_there(section: str) -> None:
    names = named(section)
    assert len(names) > 10
    assert sorted(name for name in names if not is_there(name, section)) == []


def test_a_name_that_is_gone_or_elsewhere_is_found() -> None:
    packet, segment, claim = JOURNEYS
    assert not is_there(("handle_sent_away",), packet)
    assert not is_there(("handle_send",), packet), "it is the MAC's, and is named with it"
    assert not is_there(("pair",), packet), "it is of tests only"
    assert not is_there(("back_off",), segment), "it is the estimator's, and is named with it"
    assert not is_there(("Sender", "may_delay"), segment) and is_there(("Receiver", "may_delay"), segment)
    assert is_there(("Dcf", "handle_send"), packet)
    assert not is_there(("keeping", "load"), claim) and is_there(("kept_runs", "load"), claim)


def test_the_architecture_names_every_purpose_of_random_numbers() -> None:
    source = (ROOT / "crates/core/src/kernel/random.rs").read_text(encoding="utf-8")
    purposes = re.findall(r"^    (\w+) = \d+,$", source, re.MULTILINE)
    assert len(purposes) > 10
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.search(r"Purposes are ([^.]+)\.", page)
    assert named and re.findall(r"`(\w+)`", named[1]) == purposes


def test_files_that_the_architecture_names_are_there() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+\.(?:rs|py|md|ts))`", page))
    assert len(named) > 20
    folders = [ROOT / folder for folder in ("crates", "python")]
    found = {name for name in named for folder in folders if any(folder.rglob(name))}
    assert sorted(name for name in named - found if not (ROOT / name).is_file()) == []
