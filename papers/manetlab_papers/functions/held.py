"""Scenarios by the shortest path between the two ends, and what a share of all scenarios shows."""

from __future__ import annotations

import math

from manetlab.tables import Table
from manetlab_papers.campaigns import every
from manetlab_papers.ledger import Data
from manetlab_papers.outcomes import Finding, Outcome, stated
from manetlab_papers.quantities import Evaluator, average, exact, levels_of, mean, present, quantity, shown
from manetlab_papers.rules import Rule, kind
from manetlab_papers.samples import Values
from manetlab_papers.tables import GRIDS, TABLES, Grid, Row


@quantity("where hops hold")
def where_hops_hold(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """A quantity of the scenarios whose shortest path has `hops` hops for `percent` of the window, or more.

    It is NaN in the others. More than half of the window can have one number of hops only.
    """
    inner = {key: value for key, value in data.items() if key != "hops"}
    hops, shares = (_of_path(evaluator, inner, name) for name in ("mode", "mode_share"))
    return [
        value if each == data["hops"] and 100 * share >= arguments["percent"] else math.nan
        for value, each, share in zip(evaluator.values(inner), hops, shares, strict=True)
    ]


def _of_path(evaluator: Evaluator, data: Data, name: str) -> Values:
    """What the movement makes of the first flow's shortest path: the same under all systems."""
    return evaluator.runs.flow(data["runs"], f"path_hops_{name}", 0, levels_of(data))


@quantity("seconds without a path")
def seconds_without_path(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """For how long of `window_s` the two ends have no path, in every scenario."""
    shares = evaluator.runs.flow(data["runs"], "path_partitioned", 0, levels_of(data))
    return [arguments["window_s"] * share for share in shares]


@quantity("gap with a path")
def gap_with_path(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """How much of the longest gap there is a path for, at least: all time without one is taken away."""
    gaps = evaluator.runs.flow(data["runs"], "longest_gap_s", 0, levels_of(data))
    without = seconds_without_path(evaluator, data, arguments)
    return [max(0.0, gap - apart) for gap, apart in zip(gaps, without, strict=True)]


@quantity("scenarios above")
def scenarios_above(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """100 for a scenario in which a quantity is at least `least`, else 0: the mean is a share in percent."""
    return [100.0 * (each >= arguments["least"]) for each in evaluator.values(data)]


@kind("share of scenarios")
def share_of_scenarios(rule: Rule) -> Finding:
    """A value of `at_least` so much in `percent` of the scenarios, or more.

    Fewer contradict only if Clopper and Pearson's 95 % interval of the share excludes what is said.
    """
    from scipy.stats import binomtest

    [case] = rule.cases()
    [values] = [[each for each in rule.values(case)["of"] if not math.isnan(each)]]
    count, wanted = sum(each >= rule.data["at_least"] for each in values), rule.data["percent"] / 100
    found = binomtest(count, len(values), wanted)
    outcome, p = Outcome.REPRODUCED, None
    if count < wanted * len(values):
        high = found.proportion_ci(0.95).high
        outcome = Outcome.CONTRADICTED if high < wanted else Outcome.INCONCLUSIVE
        p = float(found.pvalue) if outcome is Outcome.CONTRADICTED else None
    unit = rule.data.get("unit", "")
    text = f"{count} of {len(values)} scenarios, the greatest {max(values):.4g}{unit}"
    return stated(Finding(outcome, "", text, p=p))


def distribution(evaluator: Evaluator, data: Data) -> list[Grid]:
    """How many scenarios have a value in each step of an axis, at each level of a factor (`across`)."""
    [(factor, labels)] = data["across"].items()
    step, common = data["step"], evaluator.table(data["at"])
    counts = {
        label: [int(each / step) for each in present(evaluator.values({**common, factor: label}))[0]]
        for label in labels
    }
    rows = []
    for place in range(max(max(each) for each in counts.values()) + 1):
        cells = tuple(exact(float(counts[label].count(place))) for label in labels)
        name = f"{step * place:.1f} to {step * (place + 1):.1f}"
        rows.append(Row({"middle": round(step * (place + 0.5), 9)}, name, cells))
    kinds = ("scenarios",) * len(labels)
    return [Grid(data["title"], "", data["head"], tuple(labels), tuple(rows), (), kinds)]


def ends_by_level(evaluator: Evaluator, data: Data) -> list[Table]:
    """Least, mean and greatest value over scenarios, with the share of time for which there is no path."""
    [(factor, labels)] = data["across"].items()
    common = evaluator.table(data["at"])
    table = Table(data["title"], (data["head"], *labels, "time without a path, %", "never a path"))
    for chosen in every(_levels(evaluator, data["rows"], common)):
        cells = []
        for label in labels:
            values = evaluator.values({**common, **chosen, factor: label})
            cells.append(f"{min(values):.3f} to {max(values):.3f}, mean {average(values):.3f}")
        apart = evaluator.runs.flow(
            common["runs"], "path_partitioned", 0, levels_of({**common, **chosen, factor: labels[0]})
        )
        never = sum(share == 1 for share in apart)
        table.add(_text(chosen), *cells, f"{100 * average(apart):.1f}", f"{never} of {len(apart)}")
    return [table]


def held(evaluator: Evaluator, data: Data) -> list[Table]:
    """Values of the scenarios whose hop count holds, with their number; empty cells are shown as such."""
    [(factor, labels)] = data["across"].items()
    common = evaluator.table(data["at"])
    table = Table(data["title"], ("speed, hops", "scenarios", *labels))
    for chosen in every(_levels(evaluator, data["rows"], common)):
        lists = [evaluator.values({**common, **chosen, factor: label}) for label in labels]
        there = [[each for each in values if not math.isnan(each)] for values in lists]
        cells = [
            shown(mean(each)) if len(each) > 1 else f"{each[0]:.4g}" if each else "none" for each in there
        ]
        table.add(_text(chosen), f"{len(there[0])} of {len(lists[0])}", *cells)
    return [table]


def _levels(evaluator: Evaluator, rows: Data, common: Data) -> dict[str, list[object]]:
    campaign = {"runs": common["runs"]}
    return {name: list(evaluator.labels(name, wanted, [campaign])) for name, wanted in rows.items()}


def _text(chosen: Data) -> str:
    return ", ".join(str(each) for each in chosen.values())


GRIDS["distribution"] = distribution
TABLES["ends by level"] = ends_by_level
TABLES["held hops"] = held
