"""Every routing protocol is in all the places that it must be in; docs/add-a-routing-protocol.md is true."""

import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from manetlab import _core, parameters
from tests.conftest import ROOT
from tests.test_docs import blocks

PAGE = ROOT / "docs" / "add-a-routing-protocol.md"
FOLDER = Path("crates/core/src/routing")
WITHOUT_PARAMETERS = {"static_routes"}
"""Made from positions, not from parameters: `RoutingKind` has it beside the table."""

BESIDE = {"testbench"}
"""What stands for protocols where the bench itself is tested."""

EDITS: dict[str, tuple[str, ...]] = {
    "crates/core/src/routing/mod.rs": (r"^pub mod {0};$",),
    "crates/core/src/sections.rs": (r'^        \w+ = "{0}" in {0}: \w+',),
    "python/manetlab/scenario.py": (r'^    {0}: Section = section\("Changed parameters of',),
    "python/manetlab/docs_tables.py": (r'^    "{0}": \("',),
    "docs/scenarios.md": (r"^\| `routing` \|.*`{0}`", r"^\| `radio`.*`{0}`"),
}
"""What must be found in the existing files, where {0} is the protocol's module."""


def missing_edits(protocol: str, text_of: Callable[[str], str]) -> list[str]:
    """The existing files in which a protocol is missing."""
    return [
        path
        for path, patterns in EDITS.items()
        if not all(re.search(each.format(protocol), text_of(path), re.MULTILINE) for each in patterns)
    ]


def written(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def sources_of(module: Path) -> str:
    """All that is written in a module, its tests included."""
    files = sorted(module.rglob("*.rs")) if module.is_dir() else [module]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def protocols() -> dict[str, str]:
    """The modules in which something is a routing protocol, with what is written there."""
    modules = {path.stem: sources_of(path) for path in sorted((ROOT / FOLDER).iterdir())}
    return {
        name: text
        for name, text in modules.items()
        if name not in BESIDE and re.search(r"^impl Routing for", text, re.MULTILINE)
    }


def own_files_missing(protocol: str, text: str) -> list[str]:
    routed = [
        tomllib.loads(path.read_text()).get("routing", "aodv") for path in (ROOT / "golden").glob("*.toml")
    ]
    return [
        what
        for what, is_there in {
            f"docs/models/{protocol}.md": (ROOT / f"docs/models/{protocol}.md").exists(),
            f"golden/….toml with routing = {protocol}": any(
                name.partition(":")[0] == protocol for name in routed
            ),
            "a test that calls the shared suite": bool(re.search(r"\bsuite(_at_pace|_on_chains)?\(", text)),
        }.items()
        if not is_there
    ]


@pytest.mark.parametrize("protocol", sorted(set(protocols()) - WITHOUT_PARAMETERS))
def test_every_protocol_is_in_every_place(protocol: str) -> None:
    assert missing_edits(protocol, written) == [], "docs/add-a-routing-protocol.md says what to write there"
    assert own_files_missing(protocol, protocols()[protocol]) == []
    assert protocol in _core.routings(), "run `make build`"
    assert protocol in parameters.schema()


def test_every_protocol_of_the_simulator_is_found() -> None:
    assert len(WITHOUT_PARAMETERS | set(protocols())) == len(_core.routings())


def test_each_edit_that_is_not_made_is_named_and_no_protocol_needs_more_than_six() -> None:
    assert missing_edits("no_protocol", written) == list(EDITS)
    # The sixth is a variant of `Payload`, for protocols with messages, whose name the compiler asks for, or
    # what a protocol does not promise, which the shared suite asks for.
    assert len(EDITS) <= 5
    for path in EDITS:

        def undone(other: str, path: str = path) -> str:
            lines = written(other).splitlines()
            return "\n".join(line for line in lines if other != path or "flooding" not in line)

        assert missing_edits("flooding", undone) == [path]


# The page.


def parts_of_files(language: str, comment: str) -> dict[str, list[str]]:
    """The page's blocks whose first line names a file, without that line."""
    parts: dict[str, list[str]] = {}
    for block in blocks(PAGE, language):
        if named := re.match(rf"{comment} (\S+\.(?:py|rs))\n", block):
            parts.setdefault(named[1], []).append(block[named.end() :])
    return parts


def without_blank_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_the_page_shows_flooding_in_rust_whole() -> None:
    parts = parts_of_files("rust", "//")
    whole = parts.pop(str(FOLDER / "flooding.rs"))
    assert without_blank_lines("\n".join(whole)) == without_blank_lines(written(str(FOLDER / "flooding.rs")))
    assert set(parts) < set(EDITS)
    for path, quoted in parts.items():
        assert all(block in written(path) for block in quoted), path


def test_the_edits_that_the_page_shows_are_those_that_are_made() -> None:
    assert set(re.findall(r"`([\w/]+\.(?:rs|py|md))`", PAGE.read_text(encoding="utf-8"))) >= set(EDITS)
    odds, *edits, line, terms = blocks(PAGE, "text")
    python = written("python/manetlab/scenario.py") + written("python/manetlab/docs_tables.py")
    assert len(edits) == 2
    # The words of the grammar, and the types, that the line and the terms of a geographic protocol use.
    assert "$(knowing $positions:ident)?" in written("crates/core/src/sections.rs")
    assert line.strip().endswith("knowing positions,")
    suite = written(str(FOLDER / "testbench" / "suite.rs"))
    assert all(f"    {name}: [Arrive; 2]," in suite for name in re.findall(r"(\w+): \[Nothing; 2\]", terms))
    assert all(part in python for block in edits for part in block.split("    …\n"))
    by_chance = written(str(FOLDER / "testbench" / "by_chance.rs")).replace(
        "self.declares", "self.params.probability"
    )
    assert odds.removeprefix("    #[cfg(test)]\n") in by_chance


def test_the_examples_on_the_page_are_those_of_the_package() -> None:
    parts: Mapping[str, list[str]] = parts_of_files("python", "#")
    assert set(parts) == {"flooding.py", "greedy.py", "sourced.py"}
    for name, [text] in parts.items():
        assert text == written(f"python/manetlab/examples/{name}")


def test_what_the_page_does_in_python_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    files = parts_of_files("python", "#")
    for name, [text] in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    namespace: dict[str, Any] = {}
    try:
        for block in blocks(PAGE, "python"):
            if not re.match(r"# \S+\.py\n", block):
                exec(compile(block, PAGE.name, "exec"), namespace)
    finally:
        for name in files:
            sys.modules.pop(Path(name).stem, None)
    said = capsys.readouterr().out
    assert re.search(r"^0\.\d\d of the packets arrive\nalready-seen \d+$", said, re.MULTILINE)
    assert re.search(r"^8 hops, \d+ beacons/s$", said, re.MULTILINE)
    assert "python.jitter_s" in said
