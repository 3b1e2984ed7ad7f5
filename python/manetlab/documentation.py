"""The pages of the documentation as Markdown: the folder docs of the sources, which a wheel has too."""

from __future__ import annotations

import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from manetlab.errors import InputError
from manetlab.parameters import unknown

SHIPPED = Path(sysconfig.get_path("data"), "share", "doc", "manetlab")
"""Where pip puts the pages of a wheel."""
SOURCES = Path(__file__).parents[2] / "docs"
"""Where they are in a checkout."""


@cache
def pages() -> Mapping[str, Path]:
    """The files of the pages by name: ``metrics``, and ``models/aodv`` for a page of a folder.

    Raises:
        InputError: The pages are not there.
    """
    folder = SOURCES if SOURCES.is_dir() else SHIPPED
    found = [*sorted(folder.glob("*.md")), *sorted(folder.glob("models/*.md"))]
    if not found:
        hint = "install the wheel again, or read them in the folder docs of the sources"
        raise InputError("the documentation is missing", str(folder), "no pages", "Markdown files", hint)
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in found}


def headings() -> dict[str, str]:
    """The heading of each page by its name."""
    return {
        name: path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        for name, path in pages().items()
    }


def read(name: str) -> str:
    """The text of a page.

    Args:
        name: Its name, with or without the folder: ``models/aodv`` or ``aodv``.

    Raises:
        InputError: Unknown page.
    """
    known = pages()
    by_last_part = {each.rpartition("/")[2]: each for each in reversed(list(known))}
    page = known.get(name) or known.get(by_last_part.get(name, ""))
    if page is None:
        error = unknown("page of the documentation", name, known, "docs")
        error.hint = error.hint.replace("check the spelling", "`manetlab docs` lists the pages")
        raise error
    return page.read_text(encoding="utf-8")
