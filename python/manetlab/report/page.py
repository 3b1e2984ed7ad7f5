"""The page: one HTML file that needs nothing but itself."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import manetlab
from manetlab import palette
from manetlab.report.figures import AnyFigure
from manetlab.report.interactive import plotly
from manetlab.report.tables import DataTable

if TYPE_CHECKING:
    from manetlab.report.brief import Brief

MOST_WARNINGS = 3
"""Warnings that stand before the answer; the others are behind a link."""


@dataclass(frozen=True)
class Drawn:
    """A figure with its printed forms.

    Attributes:
        figure: The figure.
        svg: The figure as SVG.
        pdf: The figure as PDF.
    """

    figure: AnyFigure
    svg: bytes
    pdf: bytes

    @property
    def svg_base64(self) -> str:
        """The SVG for the page, which shows it where scripts do not run, and on paper."""
        return _base64(self.svg)


@dataclass(frozen=True)
class Part:
    """A part of a section: figures, then tables, then commands.

    Attributes:
        title: Its heading; none if empty.
        figures: The figures.
        tables: The tables.
        commands: Commands, each in a block.
        folded: Whether the tables are folded away until they are asked for: data rather than print, so CSV
            only.
        is_aside: Whether the tables are folded away because figures show what they have.
    """

    title: str = ""
    figures: Sequence[Drawn] = ()
    tables: Sequence[DataTable] = ()
    commands: Sequence[str] = ()
    folded: bool = False
    is_aside: bool = False


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes:
        anchor: Its anchor.
        title: Its heading.
        parts: What is in it.
        texts: Paragraphs before the parts.
        folded: Whether only its title is shown until it is asked for.
    """

    anchor: str
    title: str
    parts: Sequence[Part] = field(default_factory=list)
    texts: Sequence[str] = ()
    folded: bool = False


@dataclass(frozen=True)
class Head:
    """What the page begins with.

    Attributes:
        brief: The brief page's parts.
        lead: The figure that carries the answer; None if there is none.
        name: The campaign's name.
        size: How many runs of how many points, in words.
        tested: Why the comparison may not be a fair test.
        tested_in_short: The same in a few words each.
        answer: What the answer rests on, sentence by sentence.
        table: Every alternative in every measure.
        cautions: What makes it less sure.
    """

    brief: Brief
    lead: Drawn | None
    name: str
    size: str
    tested: Sequence[str]
    tested_in_short: Sequence[str]
    answer: Sequence[str]
    table: DataTable
    cautions: Sequence[str]


def html(head: Head, sections: Sequence[Section]) -> str:
    """The page."""
    from markupsafe import Markup

    figures = [head.lead] if head.lead is not None else []
    figures += [drawn for section in sections for part in section.parts for drawn in part.figures]
    return _rendered(
        "page.html.j2",
        **vars(head),
        most_warnings=MOST_WARNINGS,
        field_base64=_base64(head.brief.field),
        sections=[Section("answer", "Answer"), *sections],
        style=Markup(_variables() + _asset("page.css")),
        script=Markup(_asset("page.js")),
        data=Markup(_json(figures)),
        plotly_base64=Markup(_plotly() if figures else ""),
    )


def sheet(brief: Brief, name: str) -> str:
    """The brief page alone, which fits one side of A4."""
    from markupsafe import Markup

    from manetlab.report.printed import draw

    svg = draw(brief.figure)[0] if brief.figure is not None else b""
    return _rendered(
        "sheet.html.j2",
        brief=brief,
        name=name,
        figure_base64=_base64(svg),
        field_base64=_base64(brief.field),
        style=Markup(_variables() + _asset("sheet.css")),
    )


def _rendered(template: str, **values: object) -> str:
    from jinja2 import DictLoader, Environment, StrictUndefined

    templates = {each: _asset(each) for each in ("brief.html.j2", template)}
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True, loader=DictLoader(templates)
    )
    return environment.get_template(template).render(generator=f"manetlab {manetlab.__version__}", **values)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _asset(name: str) -> str:
    return (resources.files("manetlab.report") / "assets" / name).read_text(encoding="utf-8")


def _json(figures: Sequence[Drawn]) -> str:
    """The figures for the script. Markup within strings cannot end the element that holds them."""
    data = {
        "colours": {"light": palette.ON_LIGHT, "dark": palette.ON_DARK},
        "figures": {drawn.figure.name: plotly(drawn.figure) for drawn in figures},
    }
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _plotly() -> str:
    """Plotly's library, compressed: 5 MB become 2 MB."""
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode("ascii")


def _variables() -> str:
    """The themes as variables of the style sheet; paper is always light."""
    light = f"{{ color-scheme: light; {_declared(palette.LIGHT)} }}"
    dark = f"{{ color-scheme: dark; {_declared(palette.DARK)} }}"
    return (
        f":root {light}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme]) {dark} }}\n"
        f":root[data-theme=dark] {dark}\n"
        f"@media print {{ :root, :root:not([data-theme]), :root[data-theme] {light} }}\n"
    )


def _declared(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
