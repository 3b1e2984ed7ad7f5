"""The picture of the architecture, made from the tables of ARCHITECTURE.md: python -m tests.architecture.

What is drawn rests on what is below it: folders on the folders that they use, and within a folder rows of
modules on the rows that they may use. A module that changes its row in a table changes the picture.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from manetlab.files import write_text
from tests.conftest import ROOT

PAGE = ROOT / "ARCHITECTURE.md"
PICTURE = ROOT / "docs" / "figures" / "architecture.svg"
FOLDERS = "| folder | what it knows |"
PYTHON = "The modules of `python/manetlab`, from the top down"
CORE = "The parts of the core, from the bottom up."

WIDTH, MARGIN, GAP = 960, 12, 10
ROW, HEAD, PAD = 20, 24, 8
"""Heights of a row of modules and of a folder's name, and the room around them, in pixels."""
LETTER = 6.9
"""The width of a letter of modules' names."""
NOTE_LETTER = 6.7
"""The width of a letter of the notes, on average."""
STACK: tuple[tuple[str, ...], ...] = (
    ("papers", "torture", "validation", "benches", "fuzz", "tests"),
    ("viewer", "python/manetlab"),
    ("crates/wasm", "crates/py", "crates/promises"),
    ("crates/emulate", "crates/resolver"),
    ("crates/formats", "crates/wire-formats", "crates/recording"),
    ("crates/core",),
)
"""Folders side by side, those at the top first; `docs` and `golden` have no code."""
STYLE = """
text { font: 11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1a2027 }
.name { font-weight: 700 }
.note { font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #52606d }
.folder { fill: #f4f6f8; stroke: #9aa5b1 }
.module { fill: #ffffff; stroke: #d5dbe1 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaee } .note { fill: #a3aeb9 }
  .folder { fill: #1d232a; stroke: #52606d } .module { fill: #14181d; stroke: #323b44 }
}
"""
NOTES = {
    "papers": "published studies",
    "torture": "random scenarios",
    "validation": "ns-2, theory",
    "benches": "speed",
    "fuzz": "random bytes",
    "tests": "Python tests",
    "viewer": "the page, TypeScript",
    "crates/wasm": "the core in a browser",
    "crates/py": "the core in Python",
    "crates/resolver": "what resolving asks of the core",
    "crates/promises": "routing, tried",
    "crates/emulate": "the core in real time, between programs in namespaces",
    "crates/formats": "ns-2's files, read and written",
    "crates/wire-formats": "packets as bytes",
    "crates/recording": "recordings as files",
    "crates/core": "the simulator; rows are layers",
    "python/manetlab": "a module imports from rows below its own",
}


def table(page: str, start: str) -> list[list[str]]:
    """The cells of the table that begins with a line, or follows a sentence."""
    rest = page[page.index(start) :]
    block = rest.split("\n\n")[0 if start.startswith("|") else 1]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in block.splitlines()[2:]]


def names(cell: str) -> list[str]:
    """The names in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def folders(page: str) -> list[str]:
    """The folders of the first table."""
    return [name for row in table(page, FOLDERS) for name in names(row[0])]


def rows(page: str) -> dict[str, list[tuple[list[str], str]]]:
    """The rows of modules of the folders that have layers, the highest first, with what they are."""
    return {
        "python/manetlab": [(names(row[0]), row[1]) for row in table(page, PYTHON)],
        "crates/core": [(names(row[0]), row[1]) for row in reversed(table(page, CORE))],
    }


def dependencies() -> dict[str, set[str]]:
    """Of each crate the crates of the workspace that it is built from."""
    found = {}
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        listed = tomllib.loads(manifest.read_text(encoding="utf-8"))["dependencies"]
        uses = {f"crates/{name.removeprefix('manetlab-')}" for name in listed if name.startswith("manetlab-")}
        found[str(manifest.parent.relative_to(ROOT))] = uses
    return found


def picture(page: str) -> str:
    """The SVG file."""
    layered, parts, top = rows(page), [], MARGIN
    for line in STACK:
        height = max(HEAD + 18, *(HEAD + ROW * len(layered.get(folder, ())) + PAD for folder in line))
        for folder, left, width in places(line):
            parts += list(box(folder, layered.get(folder, []), (left, top, width, height)))
        top += height + GAP
    size = f'width="{WIDTH}" height="{top - GAP + MARGIN}" viewBox="0 0 {WIDTH} {top - GAP + MARGIN}"'
    title = "The parts of manetlab; what is drawn rests on what is below it"
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', f"<title>{title}</title>"]
    return "\n".join([*head, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def places(line: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Folders of a line with left edge and width: what has modules takes the room that the others leave."""
    listed = list(line)
    room = WIDTH - 2 * MARGIN - GAP * (len(listed) - 1)
    narrow = 180
    wide = room - narrow if listed[-1] == "python/manetlab" else room // len(listed)
    left = MARGIN
    for folder in listed:
        width = narrow if "python/manetlab" in listed and folder != "python/manetlab" else wide
        yield folder, left, width
        left += width + GAP


def box(folder: str, modules: list[tuple[list[str], str]], place: tuple[int, int, int, int]) -> Iterator[str]:
    """A folder: its name, what it is, and its rows of modules."""
    left, top, width, height = place
    yield f'<rect class="folder" x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>'
    yield f'<text class="name" x="{left + PAD}" y="{top + 16}">{escape(folder)}</text>'
    beside = left + 2 * PAD + round(len(folder) * LETTER * 1.15)
    at = (beside, top + 16) if modules else (left + PAD, top + 32)
    yield f'<text class="note" x="{at[0]}" y="{at[1]}">{escape(NOTES[folder])}</text>'
    notes = left + PAD + max((row_width(row) for row, _ in modules), default=0) + PAD
    for number, (row, what) in enumerate(modules):
        at_y = top + HEAD + ROW * number
        yield from chips(row, left + PAD, at_y)
        said = shortened(what, round((left + width - PAD - notes) / NOTE_LETTER))
        yield f'<text class="note" x="{notes}" y="{at_y + 13}">{escape(said)}</text>'


def shortened(what: str, letters: int) -> str:
    """A row's note without marks of Markdown, cut at a word."""
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", what).replace("`", "")
    return plain if len(plain) <= letters else plain[:letters].rpartition(" ")[0].rstrip(",;:") + " …"


def row_width(row: list[str]) -> int:
    """How wide a row of modules is."""
    return sum(chip_width(name) + 6 for name in row)


def chip_width(name: str) -> int:
    """How wide a module's box is."""
    return round(len(name) * LETTER) + 12


def chips(row: list[str], left: int, top: int) -> Iterator[str]:
    """A row of modules."""
    for name in row:
        width = chip_width(name)
        yield f'<rect class="module" x="{left}" y="{top + 1}" width="{width}" height="{ROW - 3}" rx="3"/>'
        yield f'<text x="{left + 6}" y="{top + 13}">{escape(name)}</text>'
        left += width + 6


def main() -> None:
    """Writes the picture."""
    write_text(PICTURE, picture(Path(PAGE).read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
