"""The journeys of ARCHITECTURE.md name functions, actions and outputs that are there."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.conftest import ROOT

CORE, PAPERS = "crates/core/src/**/*.rs", "papers/manetlab_papers/**/*.py"
JOURNEYS = {
    "One packet's journey": CORE,
    "One TCP segment's journey": CORE,
    "One claim's journey": PAPERS,
}
"""The sections, each with the files whose names it uses."""
OTHERS = {"rfc"}
"""Names that are no code's."""


@cache
def sources(pattern: str) -> str:
    """The text of all files of a pattern."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern)))


def named(section: str) -> set[str]:
    """The last parts of the names in a section: ``handle_send`` of ``Dcf::handle_send``."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = re.split(r"^#+ ", text[text.index(f"### {section}") + 4 :], maxsplit=1, flags=re.MULTILINE)[0]
    names = (re.split(r"::|[.]", name)[-1] for name in re.findall(r"`([\w:.]+)`", part))
    return set(names) - OTHERS


def is_defined(name: str, text: str) -> bool:
    """Whether a file defines a name, or it is a variant, a field or a module."""
    defined = (
        rf"\b(fn|struct|enum|trait|mod|def|class|import) {name}\b|^\s*(pub(\(\w+\))? )?{name}\b\s*[:,({{]"
    )
    is_module = any(path.stem == name for path in ROOT.glob(PAPERS))
    return is_module or re.search(defined, text, re.MULTILINE) is not None


@pytest.mark.parametrize("section", JOURNEYS)
def test_what_a_journey_names_is_there(section: str) -> None:
    names = named(section)
    assert len(names) > 10
    assert sorted(name for name in names if not is_defined(name, sources(JOURNEYS[section]))) == []


def test_a_name_that_is_gone_is_found() -> None:
    assert not is_defined("handle_sent_away", sources(CORE))
    assert is_defined("handle_send", sources(CORE))
