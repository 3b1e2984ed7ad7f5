"""A course: exercises as live pages, each a scenario with a text beside it.

An exercise is two files of this folder: ``NAME.toml``, the scenario with its controls, and ``NAME.md``, the
text, whose last part, *Solutions*, the page shows folded.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from manetlab.errors import InputError
from manetlab.files import check_outputs, write_text
from manetlab.parameters import unknown
from manetlab.replay import Replay, view

FOLDER = Path(__file__).parent
ORDER = ("window", "hidden", "rts", "anomaly", "capture", "search", "stale", "dsdv", "outage")
"""The exercises in the order in which they build on each other."""
INDEX = "index"
"""The page that lists the others."""
MARKS = (b'<section id="lesson"', b"<h1>Mobile ad hoc networks in exercises</h1>")
"""What pages of the course have, and no other file."""


@dataclass(frozen=True)
class Exercise:
    """An exercise.

    Attributes:
        name: Its name, also that of its page.
        title: Its title.
        text: The rest of its text, in Markdown.
        scenario: The file of its scenario.
    """

    name: str
    title: str
    text: str
    scenario: Path

    def page(self) -> Replay:
        """The live page with the text."""
        return view(self.scenario, title=self.title, live=True, text=self.text)


@cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises, in order."""
    made = []
    for name in ORDER:
        title, _, text = (FOLDER / f"{name}.md").read_text(encoding="utf-8").partition("\n")
        made.append(Exercise(name, title.lstrip("# "), text.strip() + "\n", FOLDER / f"{name}.toml"))
    return tuple(made)


def exercise(name: str) -> Exercise:
    """The exercise of that name.

    Raises:
        InputError: There is none.
    """
    known = {each.name: each for each in exercises()}
    if name not in known:
        raise unknown("exercise", name, known, "course")
    return known[name]


def outputs(names: tuple[str, ...], folder: Path) -> list[Path]:
    """The files that `write` writes."""
    return [folder / f"{name}.html" for name in (*names, *((INDEX,) if len(names) > 1 else ()))]


def check_replaced(paths: list[Path]) -> None:
    """Checks that each file that would be replaced is a page of the course.

    Raises:
        InputError: Another file has the name of a page.
    """
    for path in paths:
        check_outputs({"--output": path}, [])
        if path.is_file() and not any(mark in path.read_bytes() for mark in MARKS):
            hint = "give another folder with --output, or move the file away"
            raise InputError("this file is no page of the course", str(path), "another file", "", hint)


def write(name: str, path: Path) -> Replay:
    """Writes the page of an exercise.

    Raises:
        InputError: There is no such exercise, or the file cannot be written.
    """
    made = exercise(name).page()
    made.save(path)
    return made


def write_index(path: Path) -> None:
    """Writes the page that lists all exercises, which are beside it.

    Raises:
        InputError: The file cannot be written.
    """
    rows = "\n".join(
        f'<li><a href="{each.name}.html">{html.escape(each.title)}</a></li>' for each in exercises()
    )
    write_text(path, INDEX_PAGE.replace("{{rows}}", rows))


INDEX_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Mobile ad hoc networks in exercises</title>
<style>
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; }
body { color: #1a2027; background: #ffffff; }
li { margin: .3rem 0; }
a { color: #005a9c; }
@media (prefers-color-scheme: dark) {
  body { color: #e6eaee; background: #14181d; }
  a { color: #7cc0f5; }
}
</style>
</head>
<body>
<main>
<h1>Mobile ad hoc networks in exercises</h1>
<p>Each page holds a simulator and a network. Change its parameters, run it, and look at what happens;
it needs neither an installation nor a connection. The solutions are folded at the end of each text.</p>
<ol>
{{rows}}
</ol>
</main>
</body>
</html>
"""
