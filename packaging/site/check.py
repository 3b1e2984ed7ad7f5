"""Checks what strict building does not, that everything is in the site: check.py FOLDER MADE."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from pathlib import Path

from assemble import offered, pages


def main(html: Path, made: Path) -> int:
    """Says what is missing; `made` has the pages that are not stored."""
    found = [*missing_pages(html, made), *missing_names(html), *missing_in_search(html, made)]
    for each in found:
        print(f"the site lacks {each}", file=sys.stderr)
    return 1 if found else 0


def place(name: Path) -> str:
    """The file of a page within the site."""
    return str((name.with_name("index.md") if name.name == "README.md" else name).with_suffix(".html"))


def missing_pages(html: Path, made: Path) -> list[str]:
    """Pages that were not built, or that no menu leads to."""
    menu = (html / "index.html").read_text(encoding="utf-8")
    wanted = [*map(place, pages(made)), "docs/notebook.html", "docs/models/index.html", "docs/api/index.html"]
    alone = ["live.html", "lab.html", "course/index.html", "course/rts.html"]
    found = [name for name in alone if not (html / name).is_file()]
    return found + [
        name
        for name in wanted
        if not (html / name).is_file() or f'href="{name}"' not in menu.replace("./", "")
    ]


def missing_names(html: Path) -> list[str]:
    """Names that the package offers and the reference does not describe, by the anchors of its pages."""
    names, modules = offered()
    wanted = {f"manetlab.{name}": "index" for name in names}
    for module in modules:
        members = importlib.import_module(f"manetlab.{module}")
        for name in getattr(members, "__all__", vars(members)):
            member = getattr(members, name)
            is_named = (inspect.isfunction(member) or inspect.isclass(member)) and not name.startswith("_")
            if is_named and f"{member.__module__}.".startswith(f"{members.__name__}."):
                wanted[f"manetlab.{module}.{name}"] = module
    return [
        name
        for name, page in wanted.items()
        if f'id="{name}"' not in (html / f"docs/api/{page}.html").read_text(encoding="utf-8")
    ]


def missing_in_search(html: Path, made: Path) -> list[str]:
    """Pages that the search does not know."""
    known = json.loads((html / "search.json").read_text(encoding="utf-8"))
    places = {item["location"].partition("#")[0] for item in known["items"]}
    return [f"{name} in its search" for name in map(place, pages(made)) if name not in places]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
