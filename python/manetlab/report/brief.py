"""One page for whoever decides: question, answer, the figure that carries it, the field, caveats, commands.

The long report begins with the same parts.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manetlab.report import conclusions, plain, reproduction
from manetlab.report.figures import AnyFigure
from manetlab.report.outcomes import capital, confidence, metric_figures
from manetlab.report.priority import order
from manetlab.report.study import Study
from manetlab.topology import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from manetlab.metrics import Metric
    from manetlab.resolving import Resolved

MOST_CAVEATS = 3
MOST_LETTERS = 230
"""Letters of a caveat, at most."""
MAP_IN = (3.5, 3.1)
MOST_DRAWN = 3000
"""Links, tracks and nodes above which the picture of the field is one of pixels within the vector graphic."""


@dataclass(frozen=True)
class Brief:
    """The parts of the page.

    Attributes:
        question: What was asked.
        answer: The answer in one or two sentences.
        basis: How much was run, and how sure the answer is.
        figure: The figure that carries the answer.
        measure: What it shows, in words.
        field: A picture of the field with its links, as SVG; empty if the scenario cannot be resolved here.
        field_caption: What it shows.
        caveats: What makes the answer less sure, the gravest first.
        more: How many caveats are left out.
        commands: What repeats it.
        report: The command that writes the whole report.
        what_if: What would change the answer.
    """

    question: str
    answer: Sequence[str]
    basis: str
    figure: AnyFigure | None
    measure: str
    field: bytes
    field_caption: str
    caveats: Sequence[str]
    more: int
    commands: Sequence[str]
    report: str = "manetlab report"
    what_if: Sequence[str] = ()


def of_study(study: Study) -> Brief:
    """The brief answer to a campaign's question."""
    known = caveats(study)
    measure = _measure(study)
    figures = metric_figures(study, measure) if measure is not None else []
    picture, caption = _field(study)
    return Brief(
        question=study.campaign.question or study.campaign.name,
        answer=plain.sentences(study) or conclusions.answer(study)[:1],
        basis=_basis(study),
        figure=next(iter(figures), None),
        measure="" if measure is None else capital(measure.in_words),
        field=picture,
        field_caption=caption,
        caveats=shortened(known),
        more=max(0, len(known) - MOST_CAVEATS),
        commands=reproduction.commands(study),
    )


def caveats(study: Study) -> list[str]:
    """All that makes the answer less sure, the gravest first.

    That is what the question depends on, how sure the values are, then remarks. What is known of survivors
    only comes after all of these: what arrives decides before it.
    """
    return gravest_first(study, dict.fromkeys([*conclusions.tested(study), *conclusions.cautions(study)]))


def gravest_first(study: Study, told: Iterable[str]) -> list[str]:
    """What is told, in that order but for remarks, and then what is known of survivors only."""
    of_survivors = conclusions.about_survivors(study)
    return sorted(told, key=lambda each: (each in of_survivors, isinstance(each, Note)))


def shortened(caveats: Sequence[str]) -> list[str]:
    """The first few, each no longer than a page of this size bears."""
    return [_shortened(each) for each in caveats[:MOST_CAVEATS]]


def _shortened(caveat: str) -> str:
    """As many of its sentences as there is room for, or what the first says without what that means."""
    kept = ""
    for sentence in re.split(r"(?<=[.]) (?=[A-Z])", caveat):
        if len(kept) + len(sentence) >= MOST_LETTERS:
            break
        kept = f"{kept} {sentence}".lstrip()
    short = kept or conclusions.in_short(caveat)
    return short if len(short) <= MOST_LETTERS else f"{short[:MOST_LETTERS].rsplit(' ', 1)[0]} …"


def _basis(study: Study) -> str:
    runs = f"{len(study.runs)} simulated runs of {len(study.points)} settings"
    if study.family is None:
        return f"{runs}; intervals of {confidence(study)}."
    together = "" if study.family.size == 1 else f" over all {study.family.size} comparisons together"
    tests = "paired t test" if study.family.size == 1 else "paired t tests, Bonferroni"
    return f"{runs}. What is said to differ does so with {confidence(study)} confidence{together} ({tests})."


def _measure(study: Study) -> Metric | None:
    """The first measure that decides."""
    measures = order(study.primary if study.compared is not None else study.wanted)
    return next(iter(measures), None)


def _field(study: Study) -> tuple[bytes, str]:
    """The first point's network in the middle of its first replication."""
    if not study.resolved:
        return b"", ""
    number = next(iter(study.resolved))
    resolved = study.resolved[number]
    at_s = resolved.scenario.duration_s / 2
    point = next(each for each in study.points if each.number == number)
    where = study.point_in_words(point)
    caption = (
        f"The field at {at_s:g} s of the first replication{f' ({where})' if where else ''}: nodes, links in "
        "grey, and the flows’ shortest paths, dotted where there is none (● source, ○ destination)."
    )
    return draw_field(resolved, at_s), caption


def draw_field(resolved: Resolved, at_s: float) -> bytes:
    """Nodes, links and shortest paths at an instant, as SVG; the same scenario gives the same bytes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from manetlab import pictures
    from manetlab.plots import STYLE

    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = mpl.rcParams
        settings.update(STYLE | {"axes.grid": False})
        drawing = Figure(figsize=MAP_IN)
        axes = pictures.plot(resolved, "topology", at_s=at_s, axes=drawing.add_subplot())
        axes.set_title("")
        if (legend := axes.get_legend()) is not None:
            legend.remove()
        for each in axes.collections:
            each.set_rasterized(len(each.get_paths()) > MOST_DRAWN or resolved.movement.nodes > MOST_DRAWN)
        target = io.BytesIO()
        # A chain is low and broad: what is empty above and below it goes.
        drawing.savefig(target, format="svg", metadata={"Date": None}, dpi=200, bbox_inches="tight")
        return target.getvalue()
