"""The core has layers: no module uses a higher one. In no crate do modules use each other in a circle.

The layers are the rows of a table in ARCHITECTURE.md, the lowest first.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from tests import architecture
from tests.conftest import ROOT
from tests.rust_modules import Module, Use, sources, uses

CORE = ROOT / "crates" / "core" / "src"
HEADING = "The parts of the core, from the bottom up."
SIDE_EFFECTS = ("env", "fs", "io", "net", "os", "process", "thread", "time")
"""Modules of `std` that would make a run depend on more than version, scenario and seed."""


def layers(page: str) -> list[list[str]]:
    """The modules of each row of the table, the lowest first."""
    table = page.partition(HEADING)[2].split("\n\n")[1]
    return [re.findall(r"`(\w+)(?:\.rs)?`", row.split("|")[1]) for row in table.splitlines()[2:]]


def core_layers() -> list[list[str]]:
    return layers((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))


def upward(found: list[Use], layers: list[list[str]]) -> list[str]:
    """A message for each use of a higher layer."""
    height = {module: number for number, row in enumerate(layers) for module in row}
    return [
        f"{use.file}:{use.line}: `{use.by[0]}` uses `{use.written}`, which is in a higher layer; "
        f"it may use {', '.join(name for row in layers[: height[use.by[0]] + 1] for name in row)}"
        for use in found
        if use.of and use.by and height[use.of[0]] > height[use.by[0]]
    ]


def circles(found: list[Use]) -> list[str]:
    """The uses that close a circle among the modules of a folder.

    To the other modules of its folder, a module and its submodules are one. A module and its own submodules
    may use each other.
    """
    said: dict[tuple[Module, str, str], Use] = {}
    for use in found:
        common = next(
            (at for at, (one, other) in enumerate(zip(use.by, use.of, strict=False)) if one != other), None
        )
        if common is not None:
            said.setdefault((use.by[:common], use.by[common], use.of[common]), use)
    after: dict[tuple[Module, str], set[str]] = defaultdict(set)
    for folder, by, of in said:
        after[folder, by].add(of)
    return [
        f"{use.file}:{use.line}: `{by}` uses `{use.written}`, and `{of}` uses `{by}`, perhaps through others"
        for (folder, by, of), use in said.items()
        if by in reachable(folder, of, after)
    ]


def reachable(folder: Module, start: str, after: dict[tuple[Module, str], set[str]]) -> set[str]:
    """The modules of a folder that `start` uses, directly or through others."""
    reached: set[str] = set()
    ahead = [start]
    while ahead:
        new = after.get((folder, ahead.pop()), set()) - reached
        reached |= new
        ahead += new
    return reached


def test_the_table_names_every_module_of_the_core_once() -> None:
    named = [module for row in core_layers() for module in row]
    assert sorted(named) == sorted({module[0] for module in sources(CORE) if module})


def test_no_module_of_the_core_uses_a_higher_layer() -> None:
    assert "\n".join(upward(uses(CORE), core_layers())) == ""


CRATES = sorted(
    manifest.parent for manifest in [*ROOT.glob("crates/*/Cargo.toml"), ROOT / "fuzz" / "Cargo.toml"]
)


def test_every_member_of_the_workspace_is_looked_at() -> None:
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    wanted = {path for member in members for path in ROOT.glob(member)}
    assert wanted and wanted <= set(CRATES)


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_no_modules_use_each_other_in_a_circle(crate: Path) -> None:
    assert len(sources(crate / "src")) > 1, "there is something to look at"
    assert "\n".join(circles(uses(crate / "src"))) == ""


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_no_crate_depends_on_one_above_it(crate: Path) -> None:
    """The core stands on nothing, the formats on the core, and hosts of runs on both."""
    floors = [
        {"core"},
        {"formats", "recording", "wire-formats"},
        {"emulate", "resolver"},
        {"promises", "py", "wasm", "fuzz"},
    ]
    height = {name: number for number, floor in enumerate(floors) for name in floor}
    manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
    used = {
        name.removeprefix("manetlab-") for name in manifest["dependencies"] if name.startswith("manetlab-")
    }
    assert [name for name in used if height[name] >= height[crate.name]] == []


def test_the_picture_of_the_architecture_is_made_from_the_tables() -> None:
    page = architecture.PAGE.read_text(encoding="utf-8")
    drawn = architecture.PICTURE.read_text(encoding="utf-8")
    assert drawn == architecture.picture(page), "run `make docs`"
    modules = [name for row in core_layers() for name in row]
    assert [
        name for name in modules if f">{name}</text>" not in drawn and f">{name}.rs</text>" not in drawn
    ] == []


def test_every_folder_with_code_is_drawn_above_the_crates_that_it_uses() -> None:
    page = architecture.PAGE.read_text(encoding="utf-8")
    depth = {folder: number for number, line in enumerate(architecture.STACK) for folder in line}
    assert depth.keys() == set(architecture.folders(page)) - {"golden", "docs"}
    found = architecture.dependencies()
    assert found["crates/py"] > {"crates/core", "crates/formats"}
    assert [(by, of) for by, uses in found.items() for of in uses if depth[of] <= depth[by]] == []


def test_a_module_that_changes_its_layer_changes_the_picture() -> None:
    page = architecture.PAGE.read_text(encoding="utf-8")
    assert page.count("| `flow` |") == page.count("| `stage` |") == 1
    other = (
        page.replace("| `flow` |", "| `X` |")
        .replace("| `stage` |", "| `flow` |")
        .replace("| `X` |", "| `stage` |")
    )
    assert architecture.picture(other) != architecture.picture(page)


def test_the_core_knows_no_files_threads_and_clocks() -> None:
    wanted = re.compile(rf"\b(?:std|core)::(?:{'|'.join(SIDE_EFFECTS)})\b|\bprintln!|\beprintln!")
    for source in sources(CORE).values():
        assert (found := wanted.search(source.code)) is None, f"{source.file}: {found}"


# The reader of sources.


def write_crate(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_an_upward_use_is_named_with_file_line_and_what_is_allowed(tmp_path: Path) -> None:
    write_crate(tmp_path, {
        "lib.rs": "pub mod queue;\npub mod radio;\npub mod mac;\n",
        "queue.rs": "//! Not `crate::mac`.\nfn wait() {\n    crate::mac::slot();\n}\n",
        "radio.rs": "use std::fmt;\nuse crate::{queue, mac::{self as medium, Frame}};\n",
        "mac.rs": "use crate::radio;\npub fn slot() {}\n",
    })  # fmt: skip
    page = f"{HEADING}\n\n| folder | what |\n|---|---|\n| `queue`, `radio.rs` | |\n| `mac` | |\n\n| `other` |"
    told = [said.removeprefix(f"{tmp_path}/") for said in upward(uses(tmp_path), layers(page))]
    assert told == [
        "queue.rs:3: `queue` uses `mac::slot`, which is in a higher layer; it may use queue, radio",
        "radio.rs:2: `radio` uses `mac`, which is in a higher layer; it may use queue, radio",
        "radio.rs:2: `radio` uses `mac::Frame`, which is in a higher layer; it may use queue, radio",
    ]


def test_a_circle_is_seen_through_exported_names_but_not_in_tests(tmp_path: Path) -> None:
    write_crate(tmp_path, {
        "lib.rs": "pub mod tcp;\n",
        "tcp/mod.rs": "mod rto;\nmod ecn;\npub use rto::Rto;\n#[cfg(test)]\nmod tests;\n",
        "tcp/rto.rs": "pub struct Rto;\n#[cfg(test)]\nmod tests {\n    use super::super::ecn;\n}\n",
        "tcp/ecn.rs": "use super::Rto;\n",
        "tcp/tests.rs": "use super::{ecn, rto};\n",
    })  # fmt: skip
    assert circles(uses(tmp_path)) == []
    write_crate(tmp_path, {"tcp/rto.rs": "pub struct Rto(Vec<super::ecn::Mark>);\n"})
    assert [told.removeprefix(f"{tmp_path}/") for told in circles(uses(tmp_path))] == [
        "tcp/ecn.rs:1: `ecn` uses `tcp::Rto`, and `rto` uses `ecn`, perhaps through others",
        "tcp/rto.rs:1: `rto` uses `tcp::ecn::Mark`, and `ecn` uses `rto`, perhaps through others",
    ]
