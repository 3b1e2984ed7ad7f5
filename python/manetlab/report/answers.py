"""The answer as data: what was tested, the verdict, and one table of alternatives and measures.

Terminal, page and notebook show this, each in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manetlab.campaign.survivors import FEWER
from manetlab.metrics import Metric, by_key
from manetlab.report import conclusions, plain
from manetlab.report.outcomes import confidence, factor_columns, finite, levels_cells
from manetlab.report.quantities import number
from manetlab.report.study import Point, Study
from manetlab.report.tables import Cell, Column, DataTable
from manetlab.topology import with_kind

if TYPE_CHECKING:
    from manetlab.campaign import Results

BEST = {"best": "*", "not distinguishable": "~", FEWER: "†"}
AS_GOOD = "≈"
AGAINST = {"higher": "+", "lower": "−", "practically the same": "≈", FEWER: "†"}
"""The marks of verdicts; what has none has no mark."""


@dataclass(frozen=True)
class Answer:
    """The answer to a campaign's question.

    Attributes:
        warnings: Why the comparison may not be a fair test; read these first.
        plain: The answer in two sentences for those who decide.
        verdict: The answer in a sentence.
        details: What it rests on, measure by measure, and how sure it is.
        table: Every alternative in every measure, with intervals and marks.
    """

    warnings: list[str]
    plain: list[str]
    verdict: str
    details: list[str]
    table: DataTable

    def __str__(self) -> str:
        return "\n".join([*map(with_kind, self.warnings), *self.plain, self.verdict, *self.details])


def answer(results: Results) -> Answer:
    """The answer to a campaign's question, as terminal and page show it.

    Raises:
        InputError: Nothing has been run.
    """
    return answer_of(Study(results))


def answer_of(study: Study) -> Answer:
    """The answer of a study."""
    verdict, *details = conclusions.answer(study)
    said = plain.sentences(study) if study.compared is not None else []
    return Answer(conclusions.tested(study), said, verdict, details, table_of(study, study.wanted))


COSTS = (
    *("normalised_routing_load", "normalised_routing_bytes", "mac_packets_per_delivered"),
    *("rebroadcasts_per_delivered_packet", "frames_per_delivered_packet", "frame_bytes_per_delivered_byte"),
)
"""The columns of the table of costs: routing packets, data packets, those of them that nodes send again as a
flood, and what is on the air for whatever reason."""


def costs_table(study: Study) -> DataTable | None:
    """What a delivery costs with every alternative, or None if no routing protocols are compared."""
    # A cost that nobody has is none.
    metrics = [by_key(key) for key in COSTS if key in study.runs and study.runs[key].fillna(0.0).any()]
    if study.compared is None or study.compared.key != "routing" or not metrics:
        return None
    table = table_of(study, metrics, "costs")
    table.caption = f"What a delivery costs: {table.caption[:1].lower()}{table.caption[1:]}"
    table.notes.append(
        "NRL is the normalised routing load (Das, Perkins and Royer 2000): routing packets per delivered "
        "packet, of which each transmission over a hop counts. Data packets sent count each hop too, "
        "acknowledgements of the transport and data that is flooded included, retries of the MAC not. Data "
        "packets flooded again are those among them that a node other than their source broadcasts. Frames "
        "and frame bytes count everything on the air."
    )
    return table


def table_of(study: Study, metrics: Sequence[Metric], name: str = "alternatives") -> DataTable:
    """Every alternative at every setting, one a line, with one column a measure."""
    factors = [*study.others, *([study.compared] if study.compared is not None else [])]
    columns = factor_columns(factors)
    for metric in metrics:
        columns += [
            Column(metric.heading, metric.key),
            Column(f"{metric.heading} from", f"{metric.key}_low", is_shown=False),
            Column("to", f"{metric.key}_high", is_shown=False),
            Column("verdict", f"{metric.key}_verdict", is_text=True, is_shown=False),
        ]
    table = DataTable(
        name, f"Means with {confidence(study)} intervals", columns, heads=max(1, len(factors)), is_by_row=True
    )
    for point in sorted(study.points, key=lambda each: study.settings.index(study.other_levels(each))):
        level = (study.compared_level(point),) if study.compared is not None else ()
        cells = [cell for metric in metrics for cell in _cells(study, point, metric)]
        table.add(*levels_cells((*study.other_levels(point), *level)), *cells)
    table.notes += _about_marks(study)
    verdicts = {standing.verdict for standing in study.standings}
    if FEWER in verdicts | {comparison.verdict for comparison in study.comparisons}:
        table.notes.append(
            "† of what arrives, which is significantly less than with another: no better for that."
        )
    return table


def _cells(study: Study, point: Point, metric: Metric) -> list[Cell]:
    estimate = study.estimates.get((point.number, metric.key))
    verdict, mark = _mark(study, point, metric)
    if estimate is None:
        return [Cell("–"), Cell("–"), Cell("–"), Cell(verdict, verdict)]
    ends = f"({number(estimate.low, metric)} to {number(estimate.high, metric)})"
    shown = f"{number(estimate.mean, metric)} {ends} {mark}".rstrip()
    return [
        Cell(shown, finite(estimate.mean)),
        Cell(number(estimate.low, metric), finite(estimate.low)),
        Cell(number(estimate.high, metric), finite(estimate.high)),
        Cell(verdict, verdict),
    ]


def _mark(study: Study, point: Point, metric: Metric) -> tuple[str, str]:
    """The verdict on an alternative in a measure, and its mark."""
    place = (metric, study.other_levels(point), study.compared_level(point))
    for standing in study.standings:
        if (standing.metric, standing.others, standing.level) == place:
            verdict, _, as_good = standing.verdict.partition(",")
            return standing.verdict, BEST.get(verdict, AS_GOOD if as_good else "")
    if study.baseline:
        for each in study.comparisons:
            if (each.metric, each.others, each.level) == place:
                return each.verdict, AGAINST.get(each.verdict.partition(",")[0], "")
    return "", ""


def _about_marks(study: Study) -> list[str]:
    if study.standings:
        has_margins = study.family is not None and (study.family.margins or study.family.shares)
        marks = ["* the best", "~ not distinguishable from the best"]
        marks += [f"{AS_GOOD} worse, but practically as good"] if has_margins else []
        return ["; ".join([*marks, "without a mark: worse, or not compared."])]
    if study.baseline and study.comparisons:
        has_margins = study.family is not None and (study.family.margins or study.family.shares)
        margins = "; ≈ practically the same" if has_margins else ""
        return [
            f"+ higher and − lower than with {study.named(study.baseline)}{margins}; without a mark: no "
            "significant difference, or not compared."
        ]
    return []
