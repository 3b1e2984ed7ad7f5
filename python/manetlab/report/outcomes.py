"""Tables and figures of the metrics: every mean with its interval, and the paired comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from manetlab.campaign.adjusting import about_adjusted
from manetlab.campaign.comparison import NOT_COMPARABLE
from manetlab.campaign.survivors import FEWER
from manetlab.factors import Factor
from manetlab.metrics import Metric
from manetlab.report.figures import AnyFigure, Bars, Forest, Lines, Number, Series
from manetlab.report.quantities import listed, number, p_value, percent
from manetlab.report.study import Comparison, Estimate, Levels, Point, Standing, Study
from manetlab.report.tables import Cell, Column, DataTable, slug

ADJUSTED = (
    ("adjusted mean", "adjusted_mean"),
    ("from", "adjusted_low"),
    ("to", "adjusted_high"),
    ("gain", "gain"),
    ("draws", "draws"),
)
"""Columns of means that are adjusted for the movement: headings, and names in CSV files."""

ALL_HAVE_PATHS = 0.995
"""Share of packets with a path when they are sent above which lines for it would only hide others."""
CEILING = (
    " “path when sent”: packets whose ends have a path when they are sent, by the movement alone; "
    "protocols that keep packets can pass it. “ceiling”: packets that can arrive before the run ends, if "
    "every node keeps what it cannot pass on; no protocol can pass it."
)
"""What the lines of `_bounds` are."""


def metric_table(study: Study, metric: Metric) -> DataTable:
    """One metric at every point: mean and interval, median, percentiles, n."""
    columns = [*factor_columns(study.factors), *_estimate_columns(study)]
    caption = f"{metric.heading} over the replications of each point"
    table = DataTable(f"metric-{slug(metric.key)}", caption, columns, heads=len(study.factors))
    for point in study.points:
        table.add(*levels_cells(point.levels), *_estimate_cells(study, point, metric))
    if study.campaign.adjusted:
        estimates = [study.estimates[key] for key in study.estimates if key[1] == metric.key]
        table.notes += about_adjusted([asdict(each) for each in estimates])
    return table


def _estimate_columns(study: Study) -> list[Column]:
    sure = confidence(study)
    return [
        Column("mean", "mean"),
        Column(f"{sure} from", "low"),
        Column("to", "high"),
        *(_adjusted_columns() if study.campaign.adjusted else []),
        Column("median", "median"),
        Column("5th pct", "p5"),
        Column("95th pct", "p95"),
        Column("n", "n"),
    ]


def _adjusted_columns() -> list[Column]:
    shown = [Column(heading, key) for heading, key in ADJUSTED]
    return [*shown, Column("adjustment", "adjustment", is_text=True, is_shown=False)]


def _estimate_cells(study: Study, point: Point, metric: Metric) -> list[Cell]:
    estimate = study.estimates.get((point.number, metric.key))
    if estimate is None:
        empty = 6 + (len(ADJUSTED) + 1) * study.campaign.adjusted
        return [*(Cell("–") for _ in range(empty)), Cell("0", 0)]
    mean, spread = (estimate.mean, estimate.low, estimate.high), (estimate.median, estimate.p5, estimate.p95)
    return [
        *_numbers(mean, metric),
        *(_adjusted_cells(estimate, metric) if study.campaign.adjusted else []),
        *_numbers(spread, metric),
        Cell(str(estimate.n), estimate.n),
    ]


def _numbers(values: Iterable[float], metric: Metric) -> list[Cell]:
    return [Cell(number(value, metric), finite(value)) for value in values]


def _adjusted_cells(found: Estimate, metric: Metric) -> list[Cell]:
    """The mean that is adjusted for the movement, beside the one that is not."""
    gain = f"{found.gain:.1f}" if found.draws else "–"
    return [
        *_numbers((found.adjusted_mean, found.adjusted_low, found.adjusted_high), metric),
        Cell(gain, finite(found.gain)),
        Cell(str(found.draws), found.draws),
        Cell(found.adjustment, found.adjustment),
    ]


def all_metrics_table(study: Study) -> DataTable:
    """Every metric at every point, one a line, for programs and for looking up."""
    columns = [
        Column("metric", "metric", is_text=True),
        *factor_columns(study.factors),
        *_estimate_columns(study),
    ]
    table = DataTable("all-metrics", "All metrics at all points", columns, heads=1 + len(study.factors))
    table.notes.append("Values in CSV files are in base units, which the metrics’ names end with.")
    for metric in study.measured:
        for point in study.points:
            name = Cell(metric.heading, metric.key)
            table.add(name, *levels_cells(point.levels), *_estimate_cells(study, point, metric))
    return table


def metric_figures(study: Study, metric: Metric) -> list[AnyFigure]:
    """One metric over a factor, lines if it is numeric and bars if not; one figure a setting of the rest."""
    across = _across(study)
    rest = [factor for factor in study.others if factor is not across]
    settings = list(dict.fromkeys(_levels_of(study, point, rest) for point in study.points))
    figures: list[AnyFigure] = []
    for setting in settings:
        points = [point for point in study.points if _levels_of(study, point, rest) == setting]
        where = ", ".join(factor.setting(name) for factor, name in zip(rest, setting, strict=True))
        figures.append(_metric_figure(study, metric, across, points, where))
    return figures


def _across(study: Study) -> Factor | None:
    """The factor of the horizontal axis: the first numeric one, or else the first, that is not compared."""
    varied = [factor for factor in study.others if len(factor.levels) > 1]
    numeric = [factor for factor in varied if factor.numbers is not None]
    return next(iter(numeric + varied), None)


def _levels_of(study: Study, point: Point, factors: list[Factor]) -> Levels:
    return tuple(point.levels[study.factors.index(factor)] for factor in factors)


def _metric_figure(
    study: Study, metric: Metric, across: Factor | None, points: list[Point], where: str
) -> AnyFigure:
    compared = study.compared
    # Nothing but the compared factor: its levels are the axis, or the figure would have a single place.
    axis = across or compared
    series = []
    for name in compared.levels if compared is not None else ("",):
        chosen = [point for point in points if study.compared_level(point) == name]
        places = [
            _place(axis, _levels_of(study, point, [axis])[0]) if axis else metric.label for point in chosen
        ]
        series.append(_series(study, metric, name or metric.label, places, chosen))
    is_numeric = axis is not None and axis.numbers is not None
    if is_numeric and across is None:
        series = [_joined(metric.label, series)]
    counts = [n for each in series for n in each.n]
    bounds = _bounds(study, metric, axis, points) if is_numeric and across is not None else []
    caption = f"Means over {_counts(counts)} replications; bars are {confidence(study)} intervals."
    if bounds:
        caption += CEILING
    common: dict[str, Any] = {
        "name": slug(f"{metric.key} {where}"),
        "title": capital(metric.label) + (f", {where}" if where else ""),
        "x_title": axis.heading if axis is not None else "",
        "y_title": metric.heading,
        "caption": caption,
        "table": f"metric-{slug(metric.key)}",
        "series": tuple(series + bounds),
    }
    return Lines(**common) if is_numeric else Bars(**common)


def _bounds(study: Study, metric: Metric, axis: Factor | None, points: list[Point]) -> list[Series]:
    """What the movement lets arrive, as lines beside what is delivered; none where all can arrive at once."""
    if metric.key != "cbr_delivery_fraction" or axis is None:
        return []
    by_place: dict[float | str, list[tuple[float, float, int]]] = {}
    for point in points:
        if (known := study.ceilings.get(point.number)) is not None:
            place = _place(axis, _levels_of(study, point, [axis])[0])
            by_place.setdefault(place, []).append(known)
    if not by_place or all(each[0] > ALL_HAVE_PATHS for many in by_place.values() for each in many):
        return []
    places = sorted(by_place, key=lambda place: place if isinstance(place, float) else 0.0)
    none = (None,) * len(places)
    counts = tuple(by_place[place][0][2] for place in places)

    def means(which: int) -> tuple[Number, ...]:
        return tuple(
            scaled(sum(each[which] for each in by_place[place]) / len(by_place[place]), metric)
            for place in places
        )

    names = ("path when sent", "ceiling")
    return [Series(name, tuple(places), means(at), none, none, counts) for at, name in enumerate(names)]


def _joined(name: str, many: list[Series]) -> Series:
    """Series of single points as one line."""
    parts = {
        key: tuple(value for each in many for value in getattr(each, key))
        for key in ("x", "y", "low", "high", "n")
    }
    return Series(name, **parts)


def _place(factor: Factor, name: str) -> float | str:
    return name if factor.numbers is None else factor.numbers[factor.levels.index(name)]


def _series(
    study: Study, metric: Metric, name: str, places: list[float | str], points: list[Point]
) -> Series:
    estimates = [
        (place, estimate)
        for place, point in zip(places, points, strict=True)
        if (estimate := study.estimates.get((point.number, metric.key))) is not None
    ]
    if all(isinstance(place, float) for place, _ in estimates):
        estimates.sort(key=lambda each: each[0])
    return Series(
        name,
        tuple(place for place, _ in estimates),
        tuple(scaled(each.mean, metric) for _, each in estimates),
        # An interval with one end is no bar.
        tuple(scaled(each.low, metric) if math.isfinite(each.high) else None for _, each in estimates),
        tuple(scaled(each.high, metric) for _, each in estimates),
        tuple(each.n for _, each in estimates),
    )


def comparison_table(study: Study) -> DataTable | None:
    """The comparisons of the family, or None if nothing is compared."""
    if study.compared is None or not study.comparisons:
        return None
    has_margins = any(math.isfinite(each.p_equivalent) for each in study.comparisons)
    columns = [
        Column("metric", "metric", is_text=True),
        *factor_columns(study.others),
        Column(study.compared.label, "level", is_text=True),
        Column("against", "against", is_text=True, is_shown=not study.baseline),
        Column(f"difference ({confidence(study)} interval)", "difference"),
        Column(f"{confidence(study)} from", "low", is_shown=False),
        Column("to", "high", is_shown=False),
        Column("relative", "ratio"),
        Column("ratio from", "ratio_low", is_shown=False),
        Column("to", "ratio_high", is_shown=False),
        Column("p (t)", "p_t", is_shown=False),
        Column("p (Wilcoxon)", "p_wilcoxon", is_shown=False),
        Column("p (adjusted)", "p_adjusted"),
        Column("p (equivalent)", "p_equivalent", is_shown=has_margins),
        Column("pairs", "n"),
        Column("verdict", "verdict", is_text=True),
    ]
    what = f"from {study.compared.setting(study.baseline)}" if study.baseline else "between alternatives"
    table = DataTable(
        "comparisons",
        f"Paired differences {what} over the replications",
        columns,
        heads=2 + len(study.others),
        is_by_row=True,
    )
    for each in study.comparisons:
        table.add(*_comparison_cells(each))
    table.notes.append(about_family(study))
    table.notes.append("The CSV file also has the p-values of the t test and of Wilcoxon’s test, unadjusted.")
    if has_margins:
        table.notes.append(_about_margins(study))
    return table


def about_family(study: Study) -> str:
    """How the comparisons are adjusted, in one or two sentences."""
    assert study.family is not None
    if study.family.size == 1 and study.results.looks is None:
        return "There is one comparison: p (adjusted) is the p-value of the t test."
    return (
        f"p (adjusted) and the intervals are adjusted for the campaign’s {study.family.size} comparisons"
        f"{for_looks(study)} (Bonferroni): the chance of even one false finding is at most "
        f"{study.alpha:g}, and a difference is significant if p (adjusted) is at most {study.alpha:g}, "
        "exactly when its interval excludes zero."
    )


def for_looks(study: Study) -> str:
    """When comparisons were looked at, for which they are adjusted, too; empty without elimination."""
    looks = study.results.looks
    if looks is None:
        return ""
    return f", looked at after {listed([str(n) for n in (*looks.before, looks.last)])} replications"


def _about_margins(study: Study) -> str:
    assert study.family is not None
    margins = [
        f"{number(study.family.margins[metric.key], metric)} {metric.unit}".rstrip() + f" of {metric.label}"
        for metric in study.primary
        if metric.key in study.family.margins
    ]
    margins += [
        f"{100 * study.family.shares[metric.key]:g} % of each other’s {metric.label}"
        for metric in study.primary
        if metric.key in study.family.shares
    ]
    return (
        "p (equivalent) is that of two one-sided tests, adjusted in the same way: alternatives are "
        f"practically the same if they differ by less than {listed(margins)}, as the campaign states."
    )


def _comparison_cells(each: Comparison) -> list[Cell]:
    metric = each.metric
    return [
        Cell(metric.of_differences.heading, metric.key),
        *levels_cells(each.others),
        Cell(each.level, each.level),
        Cell(each.against, each.against),
        *_difference_cells(each),
        *(Cell(percent(value), finite(value)) for value in each.ratio),
        *(
            Cell(p_value(p), finite(p))
            for p in (each.p_t, each.p_wilcoxon, each.p_adjusted, each.p_equivalent)
        ),
        Cell(str(each.n), each.n),
        Cell(each.verdict, each.verdict),
    ]


def _difference_cells(each: Comparison | Standing) -> list[Cell]:
    """A mean difference, shown with its interval, and the ends for programs."""
    mean, low, high = (number(value, each.metric, signed=True) for value in each.difference)
    shown = f"{mean} ({low} to {high})" if math.isfinite(each.difference[0]) else "–"
    ends = zip((low, high), each.difference[1:], strict=True)
    return [Cell(shown, finite(each.difference[0])), *(Cell(text, finite(end)) for text, end in ends)]


def standing_table(study: Study) -> DataTable | None:
    """Every alternative against the best of the others, or None if the question is another."""
    if study.compared is None or not study.standings:
        return None
    has_margins = any(math.isfinite(each.p_equivalent) for each in study.standings)
    columns = [
        Column("metric", "metric", is_text=True),
        *factor_columns(study.others),
        Column(study.compared.label, "level", is_text=True),
        Column("best of the others", "against", is_text=True),
        Column(f"difference ({confidence(study)} interval)", "difference"),
        Column(f"{confidence(study)} from", "low", is_shown=False),
        Column("to", "high", is_shown=False),
        Column("p (adjusted)", "p_adjusted"),
        Column("p (equivalent)", "p_equivalent", is_shown=has_margins),
        Column("pairs", "n"),
        Column("verdict", "verdict", is_text=True),
    ]
    caption = "Paired differences from the best of the others over the replications"
    table = DataTable("standings", caption, columns, heads=2 + len(study.others), is_by_row=True)
    for each in study.standings:
        table.add(*_standing_cells(each))
    table.notes.append(
        "An alternative is worse if some other is significantly better, and the best if all others are "
        "worse. Each line compares an alternative with the best of the others, the leader itself with the "
        "next. Intervals and p-values are those of the pair, adjusted for the campaign’s "
        f"{study.family.size if study.family else 1} comparisons{for_looks(study)} (Bonferroni): a "
        "difference is significant exactly if its interval excludes zero."
    )
    if has_margins:
        table.notes.append(_about_margins(study))
    return table


def _standing_cells(each: Standing) -> list[Cell]:
    return [
        Cell(each.metric.of_differences.heading, each.metric.key),
        *levels_cells(each.others),
        Cell(each.level, each.level),
        Cell(each.against, each.against),
        *_difference_cells(each),
        *(Cell(p_value(p), finite(p)) for p in (each.p_adjusted, each.p_equivalent)),
        Cell(str(each.n), each.n),
        Cell(each.verdict, each.verdict),
    ]


def given_up_table(study: Study) -> DataTable | None:
    """The alternatives that elimination gave up, and what is claimed of each; None if there are none."""
    if study.compared is None or not study.given_up:
        return None
    columns = [
        Column("metric", "metric", is_text=True),
        *factor_columns(study.others),
        Column(study.compared.label, "level", is_text=True),
        Column("replications", "after"),
        Column("worse than the best by at least", "at_least"),
        Column("as compared with", "than", is_text=True),
        Column("verdict", "verdict", is_text=True),
    ]
    caption = "Alternatives that got no more replications, and what is claimed of them"
    table = DataTable("given-up", caption, columns, heads=2 + len(study.others), is_by_row=True)
    for each in study.given_up:
        least = number(each.at_least, each.metric) if each.than else "–"
        table.add(
            Cell(each.metric.of_differences.heading, each.metric.key),
            *levels_cells(each.others),
            Cell(each.level, each.level),
            Cell(str(each.after), each.after),
            Cell(least, finite(each.at_least)),
            Cell(each.than or "–", each.than),
            Cell(each.verdict, each.verdict),
        )
    table.notes.append(
        "An alternative is given up at a setting once it is worse in some primary measure and can be the "
        f"best in none. The bounds hold together with all intervals of the comparisons, at "
        f"{confidence(study)}. Means of what was given up are of the replications until then: as it was "
        "given up because it looked bad, they are slightly biased towards that."
    )
    return table


def comparison_figures(study: Study) -> list[AnyFigure]:
    """The differences of each metric with their intervals, one line a setting."""
    compared = study.compared
    if compared is None:
        return []
    order = listed([factor.heading for factor in study.others])
    lines = f" Each line is a setting of {order}." if len(study.others) > 1 else ""
    what = f"difference from {compared.setting(study.baseline)}" if study.baseline else "differences"
    what = "difference from the best of the others" if study.standings else what
    figures: list[AnyFigure] = []
    for metric in study.primary:
        series = _differences(study, metric)
        if not series:
            continue
        counts = _counts([n for each in series for n in each.n])
        figures.append(
            Forest(
                name=f"difference-{slug(metric.key)}",
                title=capital(f"{metric.label}: {what}"),
                x_title=f"difference in {metric.of_differences.heading}",
                y_title=study.others[0].heading if len(study.others) == 1 else "",
                caption=f"Mean differences over {counts} pairs; bars are simultaneous {confidence(study)} "
                f"intervals, those of the table; a difference is significant exactly if its "
                f"interval excludes zero.{_about_those_left_out(study, metric)}{lines}",
                table="standings" if study.standings else "comparisons",
                series=series,
            )
        )
    return figures


def _about_those_left_out(study: Study, metric: Metric) -> str:
    """Which alternatives a figure of differences does not have, because less arrives with them."""
    rows: list[Comparison] | list[Standing] = study.standings or study.comparisons
    fewer = dict.fromkeys(each.level for each in rows if each.metric == metric and each.verdict == FEWER)
    return f" Left out where significantly less arrives: {listed(list(fewer))}." if fewer else ""


def _differences(study: Study, metric: Metric) -> tuple[Series, ...]:
    """One series a pair of alternatives, or one an alternative where the question is which is best."""
    rows: list[Comparison] | list[Standing] = study.standings or study.comparisons
    grouped: dict[str, list[Comparison | Standing]] = {}
    for each in rows:
        if each.metric == metric and each.verdict not in (NOT_COMPARABLE, FEWER):
            name = (
                f"{each.level} − best of the others" if study.standings else f"{each.level} − {each.against}"
            )
            grouped.setdefault(name, []).append(each)
    found = []
    for name, those in grouped.items():
        mean, low, high = (
            tuple(scaled(each.difference[part], metric) for each in those) for part in range(3)
        )
        places = tuple(", ".join(each.others) or name for each in those)
        found.append(Series(name, places, mean, low, high, tuple(each.n for each in those)))
    return tuple(found)


def factor_columns(factors: list[Factor]) -> list[Column]:
    """The columns that name a point."""
    return [Column(factor.heading, factor.key, is_text=factor.numbers is None) for factor in factors]


def levels_cells(levels: Levels) -> list[Cell]:
    """The cells that name a point."""
    return [Cell(name, name) for name in levels]


def capital(text: str) -> str:
    """The text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def finite(value: float) -> float | None:
    """The value, or None where programs should find none."""
    return value if math.isfinite(value) else None


def scaled(value: float, metric: Metric) -> Number:
    """The value in the unit in which the metric is shown, or None where there is none or no end."""
    return value * metric.factor if math.isfinite(value) else None


def confidence(study: Study) -> str:
    """The confidence of the study's intervals in per cent."""
    return f"{study.confidence * 100:.4g} %"


def _counts(counts: list[int]) -> str:
    if not counts:
        return "0"
    return str(counts[0]) if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
