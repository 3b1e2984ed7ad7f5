"""The page of what the papers name says how to run it."""

import re
from pathlib import Path

import pytest

import manetlab

PAGE = Path(__file__).parents[1] / "systems.md"
OPTIONS = {"routing", "tcp", "preset"}


def names() -> list[tuple[str, str]]:
    """Options of the command line, with each value that the page gives for them."""
    found = []
    for row in re.findall(r"^\|.*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        for option, values in re.findall(r"`--(routing|tcp|preset) ([^|;]*)", row.split("|")[-2]):
            found += [(option, value) for value in re.findall(r"`([a-z0-9.:-]+)`", f"`{values}")]
    return found


def test_the_page_names_more_than_protocols() -> None:
    assert {option for option, _ in names()} == OPTIONS
    assert len(names()) > 40


@pytest.mark.parametrize(("option", "value"), names())
def test_what_the_page_names_can_be_run(option: str, value: str) -> None:
    fields = {option: value, "duration_s": 1.0}
    if option != "preset":
        fields |= {"movement": {"chain": {"nodes": 3}}, "traffic": {"flows": []}}
    assert manetlab.Scenario.build(fields).resolve().params
