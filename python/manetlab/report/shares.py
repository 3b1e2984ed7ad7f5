"""Tables and figures of single flows: how what there is was shared among them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from manetlab.metrics import DERIVED, Metric, of_flow
from manetlab.report.figures import MOST_DOTS, AnyFigure, Boxes, Cumulative, Sample
from manetlab.report.outcomes import capital, confidence, factor_columns, finite, levels_cells
from manetlab.report.quantities import number
from manetlab.report.study import Levels, Point, Study
from manetlab.report.tables import Cell, Column, DataTable, slug

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", Boxes, Cumulative)

MOST_SETTINGS = 6
"""With more settings, cumulative distributions are left to the boxes: nobody reads that number of figures."""
JAIN = DERIVED["jain"]


@dataclass(frozen=True)
class Kind:
    """A kind of flow and the metric by which its flows are shared among.

    Attributes:
        key: Its name in the results.
        label: Its name in words.
        metric: The metric.
        what: The metric in words.
    """

    key: str
    label: str
    metric: Metric
    what: str

    @property
    def heading(self) -> str:
        """Kind, metric and unit."""
        unit = f" ({self.metric.unit})" if self.metric.unit else ""
        return f"{self.what}{unit} of a {self.label} flow"

    @property
    def title(self) -> str:
        """Kind and metric."""
        return f"{self.what} of a {self.label} flow"


def kinds(study: Study) -> list[Kind]:
    """The kinds of flows that the campaign has."""
    known = (
        ("tcp", "TCP", "throughput_bps", "throughput"),
        ("cbr", "CBR", "delivery_fraction", "PDR"),
    )
    present = set(study.flows["kind"])
    return [
        Kind(key, label, of_flow(name, key), what)
        for key, label, name, what in known
        if key in present and study.flows.loc[study.flows["kind"] == key, name].notna().any()
    ]


def flow_table(study: Study, kind: Kind) -> DataTable:
    """Per-flow percentiles and Jain's index at every point."""
    sure = confidence(study)
    columns = [
        *factor_columns(study.factors),
        Column("flows", "flows"),
        Column("minimum", "min"),
        Column("5th pct", "p5"),
        Column("median", "median"),
        Column("95th pct", "p95"),
        Column("maximum", "max"),
        Column("Jain index", "jain"),
        Column(f"{sure} from", "jain_low"),
        Column("to", "jain_high"),
        Column("n", "n"),
    ]
    caption = f"{capital(kind.heading)} over all flows, and fairness among the flows of a run"
    made = DataTable(f"flows-{kind.key}", caption, columns, heads=len(study.factors))
    made.notes.append(
        "Percentiles are over all flows of all replications of a point. Jain’s index is computed over the "
        "flows of each run (1: all are equal; 1/flows: one flow has everything); its mean and interval are "
        "over the n runs."
    )
    for point in study.points:
        made.add(*levels_cells(point.levels), *_flow_cells(study, kind, point))
    return made


def _flow_cells(study: Study, kind: Kind, point: Point) -> list[Cell]:
    from manetlab.metrics import interval_of
    from manetlab.stats import percentiles

    flows = flows_at(study, kind, point)
    if flows.empty:
        return [Cell("0", 0), *(Cell("–") for _ in range(8)), Cell("0", 0)]
    spread = percentiles([float(value) for value in flows[kind.metric.key]], (0.0, 5.0, 50.0, 95.0, 100.0))
    cells = [
        Cell(str(len(flows)), len(flows)),
        *(Cell(number(value, kind.metric), value) for value in spread),
    ]
    indices = _jain_indices(flows, kind.metric.key)
    if not indices:
        return [*cells, *(Cell("–") for _ in range(3)), Cell("0", 0)]
    found = interval_of(JAIN.key, indices, study.confidence)
    ends = (found.mean, found.low, found.high)
    return [
        *cells,
        *(Cell(number(value, JAIN), finite(value)) for value in ends),
        Cell(str(found.n), found.n),
    ]


def _jain_indices(flows: pd.DataFrame, key: str) -> list[float]:
    """Jain's index of each run; runs in which no flow has anything have none."""
    from manetlab.stats.fairness import jain_of_each

    # Flows of a run stand one after the other.
    sizes = [len([*run]) for _, run in groupby(flows["replication"].tolist())]
    return [index for index in jain_of_each(flows[key].tolist(), sizes) if not math.isnan(index)]


def flows_at(study: Study, kind: Kind, point: Point) -> pd.DataFrame:
    """The flows of a kind at a point that have a value."""
    flows = study.flows
    chosen = flows[(flows["point"] == point.number) & (flows["kind"] == kind.key)]
    return chosen[chosen[kind.metric.key].notna()]


def flow_figures(study: Study, kind: Kind) -> list[AnyFigure]:
    """Boxes by setting, and cumulative distributions of few settings."""
    figures: list[AnyFigure] = [_boxes(study, kind)]
    if len(study.settings) <= MOST_SETTINGS:
        figures += [_cumulative(study, kind, setting) for setting in study.settings]
    return [figure for figure in figures if figure.samples]  # type: ignore[union-attr]


def _boxes(study: Study, kind: Kind) -> Boxes:
    samples = []
    for name in study.compared.levels if study.compared else ("",):
        places: list[str] = []
        values: list[float] = []
        for setting in study.settings:
            found = _values(study, kind, setting, name)
            places += [", ".join(setting) or name or kind.label] * len(found)
            values += found
        if values:
            samples.append(Sample(name or kind.label, tuple(places), tuple(values)))
    heading = ", ".join(factor.heading for factor in study.others)
    figure = Boxes(
        name=f"flows-{kind.key}-boxes",
        title=capital(kind.title),
        x_title=heading or (study.compared.heading if study.compared else ""),
        y_title=kind.metric.heading,
        caption="Boxes hold the middle half of the flows of all replications, with their median; whiskers "
        "reach "
        "to the last flow within 1.5 times the box’s length; flows beyond that are marked individually.",
        table=f"flows-{kind.key}",
        samples=tuple(samples),
    )
    return _told(figure, "Of the flows beyond the whiskers") if figure.is_thinned else figure


def _told(figure: F, of_what: str) -> F:
    """A figure whose caption tells that not all is drawn, and how that was chosen."""
    caption = (
        f"{figure.caption} {of_what}, only {MOST_DOTS} are drawn: evenly spaced in rank, from the lowest to "
        "the highest. All else is of all flows."
    )
    made = replace(figure, caption=caption)
    # What is known of its values is the same, and takes long.
    made.__dict__.update({key: each for key, each in vars(figure).items() if key.startswith("_")})
    return made


def _cumulative(study: Study, kind: Kind, setting: Levels) -> Cumulative:
    where = study.in_words(setting)
    samples = [
        Sample(f"{name or kind.label} (n = {len(values)})", (), tuple(values))
        for name in (study.compared.levels if study.compared else ("",))
        if (values := _values(study, kind, setting, name))
    ]
    figure = Cumulative(
        name=slug(f"flows-{kind.key}-ecdf {where}"),
        title=f"Distribution of the {kind.title}" + (f", {where}" if where else ""),
        x_title=kind.heading,
        y_title="fraction of flows at or below",
        caption="Empirical distribution over the n flows of all replications.",
        table=f"flows-{kind.key}",
        samples=tuple(samples),
    )
    return _told(figure, "Of the values of all lines together") if figure.is_thinned else figure


def _values(study: Study, kind: Kind, setting: Levels, name: str) -> list[float]:
    """The flows' values at a setting and level, in the unit in which they are shown."""
    point = study.point_at(setting, name)
    if point is None:
        return []
    return [float(value) * kind.metric.factor for value in flows_at(study, kind, point)[kind.metric.key]]
