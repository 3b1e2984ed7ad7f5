"""Every routing protocol is in all the places that it must be in; docs/add-a-routing-protocol.md is true."""

import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from manetlab import _core, labels, parameters
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
    "crates/promises/src/terms.rs": (r"^        \((?:RoutingKind::\w+ \| )*RoutingKind::(?i:{0})\b",),
    "python/manetlab/scenario.py": (r'^    {0}: Section = section\("Changed parameters of',),
    "python/manetlab/docs_tables.py": (r'^    "{0}": \("',),
    "docs/scenarios.md": (
        r"^\| `routing` \|.*`{0}`",
        r"^\| `radio`.*`{0}`",
        r"^\| (?!`radio`)(?:`\w+`, )*`{0}`[^|]*\| [^|]+ \| [^|]+ \|$",
    ),
}
"""What must be found in the existing files, where {0} is the protocol's module."""

LISTS: dict[str, str] = {
    "README.md": r"^\| (?=AODV ).*(?<!\w){1}(?!\w)",
    "ARCHITECTURE.md": r"^\| `routing`, `transport`, `traffic` \|.*(?<!\w){1}(?!\w)",
    "docs/reliability.md": r"^\| `routing` \|.*(?<!\w){1}(?!\w)",
    "packaging/site/zensical.toml": r'^ +"docs/models/{0}\.md",$',
}
"""What names all protocols: {0} is the module, {1} what the protocol is called."""


def missing_edits(protocol: str, text_of: Callable[[str], str]) -> list[str]:
    """The existing files in which a protocol is missing."""
    return [
        path
        for path, patterns in EDITS.items()
        if not all(re.search(each.format(protocol), text_of(path), re.MULTILINE) for each in patterns)
    ]


def lists_without(protocol: str, text_of: Callable[[str], str]) -> list[str]:
    """The lists in which a protocol is missing."""
    label = re.escape(labels.of_protocol(protocol))
    return [
        path
        for path, pattern in LISTS.items()
        if not re.search(pattern.format(protocol, label), text_of(path), re.MULTILINE)
    ]


def has_label(protocol: str) -> bool:
    """Does the heading of a protocol's page begin with what the protocol is called?"""
    page = ROOT / f"docs/models/{protocol}.md"
    label = labels.of_protocol(protocol)
    heading = page.read_text(encoding="utf-8").partition("\n")[0] if page.exists() else ""
    return heading.startswith(f"# {label[0].upper()}{label[1:]}")


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
            f"in python/manetlab/labels.py a label with which docs/models/{protocol}.md begins": has_label(
                protocol
            ),
            "a test that calls the shared suite": bool(re.search(r"\bsuite(_at_pace|_on_chains)?\(", text)),
        }.items()
        if not is_there
    ]


@pytest.mark.parametrize("protocol", sorted(set(protocols()) - WITHOUT_PARAMETERS))
def test_every_protocol_is_in_every_place(protocol: str) -> None:
    assert missing_edits(protocol, written) == [], "docs/add-a-routing-protocol.md says what to write there"
    assert lists_without(protocol, written) == [], f"the protocol is called {labels.of_protocol(protocol)}"
    assert own_files_missing(protocol, protocols()[protocol]) == []
    assert protocol in _core.routings(), "run `make build`"
    assert protocol in parameters.schema()


def test_every_protocol_of_the_simulator_is_found() -> None:
    assert len(WITHOUT_PARAMETERS | set(protocols())) == len(_core.routings())


def test_each_edit_that_is_not_made_is_named_and_no_protocol_needs_more_than_six() -> None:
    # What a protocol may need beyond these the compiler asks for (a variant of `Payload`, for messages with a
    # format) or the shared suite (what it does not promise).
    assert len(EDITS) <= 6
    for places, missing in ((EDITS, missing_edits), (LISTS, lists_without)):
        assert missing("no_protocol", written) == list(places)
        for path in places:

            def undone(other: str, path: str = path) -> str:
                lines = written(other).splitlines()
                return "\n".join(line for line in lines if other != path or "flooding" not in line.lower())

            assert missing("flooding", undone) == [path]


def test_alternatives_are_called_as_people_write_them() -> None:
    names = ("rip:quick", "batman", "static", "f-rto", "predict-ndg", "python:lab.Gossip", "64 kb/s")
    called = ["RIP (quick)", "B.A.T.M.A.N.", "static routes", "F-RTO", "predict-ndg", names[5], names[6]]
    assert [labels.of_alternative(name) for name in names] == called
    assert labels.of_protocol("python:lab.Gossip") == "lab.Gossip"


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
    odds, *edits, line, maker, terms, promised = blocks(PAGE, "text")
    python = written("python/manetlab/scenario.py") + written("python/manetlab/docs_tables.py")
    assert len(edits) == 2
    # The words of the grammar, and the types, that the line and the terms of a geographic protocol use.
    assert "$(knowing $positions:ident)?" in written("crates/core/src/sections.rs")
    assert line.strip().endswith("knowing positions,")
    suite = written(str(FOLDER / "testbench" / "suite.rs"))
    assert all(f"    {name}: [Arrive; 2]," in suite for name in re.findall(r"(\w+): \[Nothing; 2\]", terms))
    assert "Placed<impl Fn(Place) -> Box<dyn Routing> + Clone> {" in maker
    promises = written("crates/promises/src/promise.rs")
    assert all(f"    {name},\n" in promises for name in re.findall(r"[\[ ]([A-Z][a-z]+)[,\]]", promised))
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
