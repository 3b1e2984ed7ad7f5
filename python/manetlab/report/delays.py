"""How long the datagrams of flows with a deadline took: histograms, beside the share that did not arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manetlab.metrics import delay_names
from manetlab.plots import shown_classes
from manetlab.report.figures import Bars, Series
from manetlab.report.outcomes import factor_columns, levels_cells
from manetlab.report.shares import MOST_SETTINGS
from manetlab.report.study import Levels, Study
from manetlab.report.tables import Cell, Column, DataTable, slug

TABLE = "delays"


@dataclass(frozen=True)
class Shares:
    """A histogram: the mean share of each class over n replications, in %."""

    means: Sequence[float]
    n: int


def figures(study: Study) -> list[Bars]:
    """A histogram for each setting, or one of all settings if they are many; none without deadlines."""
    if study.delays.empty:
        return []
    groups = [[each] for each in study.settings]
    if len(groups) > MOST_SETTINGS:
        groups = [study.settings]
    made = (_figure(study, settings) for settings in groups)
    return [figure for figure in made if figure is not None]


def table(study: Study) -> DataTable | None:
    """The same for all settings and classes; None without deadlines."""
    if study.delays.empty:
        return None
    columns = [
        *factor_columns(study.others),
        Column("delay (ms)", "delay_ms", is_text=True),
        *(Column(name or "datagrams (%)", f"level_{at}") for at, name in enumerate(_levels(study))),
    ]
    what = "Datagrams of flows with a deadline by their delay, % of those made, mean over the replications"
    made = DataTable(TABLE, what, columns, heads=1 + len(study.others))
    for setting in study.settings:
        found = [_shares(study, [setting], name) for name in _levels(study)]
        for at, called in enumerate(_classes(study)):
            means = [None if each is None else each.means[at] for each in found]
            cells = (Cell("–" if mean is None else f"{mean:.1f}", mean) for mean in means)
            made.add(*levels_cells(setting), called, *cells)
    return made


def _figure(study: Study, settings: Sequence[Levels]) -> Bars | None:
    found = {name: _shares(study, settings, name) for name in _levels(study)}
    known = {name: each for name, each in found.items() if each is not None}
    if not known:
        return None
    called = _classes(study)
    shown = shown_classes([each.means for each in known.values()])
    nothing = (None,) * len(shown)
    series = [
        Series(
            name=name or "datagrams",
            x=tuple(called[at] for at in shown),
            y=tuple(each.means[at] for at in shown),
            low=nothing,
            high=nothing,
            n=(each.n,) * len(shown),
        )
        for name, each in known.items()
    ]
    where = study.in_words(settings[0]) if len(settings) == 1 else f"all {len(settings)} settings together"
    counts = {each.n for each in known.values()}
    runs = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{max(counts)}"
    return Bars(
        name=slug(f"delays {where}"),
        title="How long datagrams took" + (f", {where}" if where else ""),
        x_title="delay (ms)",
        y_title="datagrams (%)",
        caption="Shares of all datagrams of flows with a deadline; “lost” are those that did not arrive. "
        f"Means over {runs} replications.",
        table=TABLE,
        series=tuple(series),
    )


def _levels(study: Study) -> Sequence[str]:
    return study.compared.levels if study.compared is not None else ("",)


def _classes(study: Study) -> list[str]:
    """The classes of all histograms, which are the same."""
    # With what did not arrive, whose end is no number, last.
    ends_s = sorted(study.delays["up_to_s"].unique(), key=lambda end_s: (end_s != end_s, end_s))
    return delay_names([float(end_s) for end_s in ends_s])


def _shares(study: Study, settings: Sequence[Levels], name: str) -> Shares | None:
    """The share of each class over the replications; None if nothing was made."""
    points = [point.number for each in settings if (point := study.point_at(each, name)) is not None]
    here = study.delays[study.delays["point"].isin(points)]
    shares: list[list[float]] = []
    for _, run in here.groupby("replication"):
        counts = run.groupby("up_to_s", dropna=False, sort=True)["count"].sum()
        if (made := float(counts.sum())) > 0.0:
            shares.append([100.0 * float(count) / made for count in counts])
    if not shares:
        return None
    return Shares([sum(each) / len(shares) for each in zip(*shares, strict=True)], len(shares))
