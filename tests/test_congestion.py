"""Every TCP congestion control is where it must be; docs/add-a-tcp-congestion-control.md is true."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from manetlab import _core
from manetlab.labels import SENDERS
from tests.conftest import ROOT
from tests.test_docs import blocks

PAGE = ROOT / "docs" / "add-a-tcp-congestion-control.md"
FOLDER = Path("crates/core/src/transport/tcp/congestion")
UNNAMED = {"vegas_ns2"}
"""Not a control of its own for users: `tcp.vegas_rules` chooses it."""

EDITS: dict[str, tuple[str, ...]] = {
    f"{FOLDER}/mod.rs": (r"^mod {0};$", r"\b{0}::\w+"),
    "crates/core/src/transport/tcp/params.rs": (r'^        \w+ = "{0}",$', r'^    "{0}" \{{'),
    "python/manetlab/labels.py": (r'^    "{0}": "',),
    "docs/models/tcp.md": (r"^\| congestion control \|.*\b{1}(?!\w)", r"^\| `{0}` \| {1} \|"),
    "README.md": (r"^\| TCP .*\b{1}(?!\w)",),
}
"""What must be found in the existing files, where {0} is the control's module and {1} its label."""


def written(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def missing_edits(control: str, label: str, text_of: Callable[[str], str]) -> list[str]:
    """The existing files in which a congestion control is missing."""
    return [
        path
        for path, patterns in EDITS.items()
        if not all(
            re.search(each.format(control, re.escape(label)), text_of(path), re.MULTILINE)
            for each in patterns
        )
    ]


def controls() -> set[str]:
    """The modules in which something is a congestion control that users can name."""
    modules = {
        path.stem: path / "mod.rs" if path.is_dir() else path for path in sorted((ROOT / FOLDER).iterdir())
    }
    named = {
        name
        for name, path in modules.items()
        if re.search(r"^impl CongestionControl for", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    return named - UNNAMED


@pytest.mark.parametrize("control", sorted(controls()))
def test_every_congestion_control_is_in_every_place(control: str) -> None:
    label = SENDERS.get(control, control.capitalize())
    assert missing_edits(control, label, written) == [], f"{PAGE.name} says what to write there"
    assert control in _core.tcp_senders(), "run `make build`"


def test_each_edit_that_is_not_made_is_named() -> None:
    assert missing_edits("no_control", "No label", written) == list(EDITS)
    for path in EDITS:

        def undone(other: str, path: str = path) -> str:
            lines = written(other).splitlines()
            return "\n".join(line for line in lines if other != path or "cubic" not in line.lower())

        assert missing_edits("cubic", "CUBIC", undone) == [path]


def test_the_page_shows_tahoe_whole_and_its_edits() -> None:
    tahoe = f"{FOLDER}/tahoe.rs"
    [shown] = blocks(PAGE, "rust")
    assert shown == f"// {tahoe}\n{written(tahoe)}"
    assert set(re.findall(r"`([\w/.-]+\.(?:rs|py|md))`", PAGE.read_text(encoding="utf-8"))) >= set(EDITS)
    edits = "".join(blocks(PAGE, "text")).splitlines()
    sources = [written(path) for path in list(EDITS)[:3]]
    assert len(edits) == 5
    assert [line for line in edits if not any(f"{line}\n" in source for source in sources)] == []


def test_the_page_names_every_event_and_question_of_the_contract() -> None:
    contract = written(f"{FOLDER}/mod.rs").partition("pub(super) trait CongestionControl")[2]
    methods = re.findall(r"^    fn (\w+)\(", contract.partition("\n}\n")[0], re.MULTILINE)
    assert len(methods) == 9
    page = PAGE.read_text(encoding="utf-8")
    assert [method for method in methods if f"`{method}`" not in page] == []
