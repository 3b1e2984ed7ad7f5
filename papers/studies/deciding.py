"""Runs that decide why claims of the papers come out otherwise than printed.

    python -m studies.deciding hold-down

prints the table of one question of `deciding.toml`. A question takes a campaign of the papers' ledger, runs
it as it is and with each suspected cause switched, on the same scenarios, and shows the means and the paired
changes. What is compared are levels of the campaign (`compare`) or arms with fields of their own (`arms`). A
field with a dotted name in quotes is set alone, any other as `Scenario.changed` does. data/causes.toml
quotes the tables.
"""

from __future__ import annotations

import argparse
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from manetlab import run
from manetlab.scenario import Scenario
from manetlab.scenario_data import assign
from manetlab.stats import Interval
from manetlab.tables import Table, stdout_console
from manetlab_papers import ledger
from manetlab_papers.campaigns import Scale, parts
from manetlab_papers.quantities import mean, percent
from studies import overlap

Data = Mapping[str, Any]
QUESTIONS = Path(__file__).parent / "deciding.toml"


@dataclass(frozen=True)
class Row:
    """What a variant gives at one level of a campaign.

    Attributes:
        labels: The levels, in words.
        variant: What was switched.
        means: The mean of each level that is compared, or one mean.
        change: By how many per cent the first is above the second, if there are two.
        against_run: By how many per cent the mean differs from the runs as they are; none for those.
    """

    labels: str
    variant: str
    means: tuple[Interval, ...]
    change: Interval | None
    against_run: Interval | None


def questions() -> dict[str, Data]:
    """All questions by id, in the file's order."""
    return {each["id"]: each for each in tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))["question"]}


def rows(question: Data) -> Iterator[Row]:
    """Makes the runs of a question and compares them."""
    as_run: list[list[float]] = []
    for words, campaign, levels in places(question):
        for variant, fields in question["variants"].items():
            values = [
                _values(question, campaign, each, [arm, fields])
                for each, arm in product(levels, _arms(question).values())
            ]
            is_first = variant == next(iter(question["variants"]))
            as_run = values if is_first else as_run
            yield Row(
                words,
                variant,
                tuple(mean(each) for each in values),
                percent(*values) if len(values) == 2 else None,
                None if is_first else percent(values[0], as_run[0]),
            )


def places(question: Data) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Where a question looks: words, the campaign, and the levels of what is compared, or of one point."""
    campaigns = question["campaign"] if isinstance(question["campaign"], list) else [question["campaign"]]
    compared = question.get("compare", {})
    for campaign, chosen in product(campaigns, _every(question.get("rows", {}))):
        words = [str(label) for label in chosen.values()] + ([campaign] if len(campaigns) > 1 else [])
        common = {**question.get("at", {}), **chosen}
        yield ", ".join(words), campaign, [{**common, **arm} for arm in _every(compared)]


def _arms(question: Data) -> Data:
    """The arms that have fields of their own, by their names; without any one that changes nothing."""
    arms: Data = question.get("arms", {"": {}})
    return arms


def _every(levels: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for labels in product(*levels.values()):
        yield dict(zip(levels, labels, strict=True))


def _values(question: Data, campaign: str, levels: Data, fields: Sequence[Data]) -> list[float]:
    """The measure in every scenario at a campaign's levels, with fields of the scenario changed."""
    times = question.get("times", 1.0)
    return [
        times * _value(question["measure"], scenario)
        for scenario in scenarios(question, campaign, levels, *fields)
    ]


def _value(measure: str | Data | Sequence[str | Data], scenario: Scenario) -> float:
    if isinstance(measure, Mapping) and "node_overlap" in measure:
        return overlap.OF[measure["node_overlap"]](scenario)
    result = run(scenario)
    if isinstance(measure, Mapping) and "flow" in measure:
        return of_totals(measure, result.flows[measure["flow"]])
    if isinstance(measure, Mapping) and "drops" in measure:
        return of_drops(measure, result.drops)
    return of_totals(measure, result.totals)


def of_drops(measure: Data, drops: Sequence[Data]) -> float:
    """How many packets of a kind died for a reason, at any layer."""
    wanted = (measure["packets"], measure["drops"])
    return float(sum(each["count"] for each in drops if (each["packets"], each["reason"]) == wanted))


def of_totals(measure: str | Data | Sequence[str | Data], totals: Data) -> float:
    """A measure's value: a total, or one `per` another, or 1 if it is `below` another and 0 if not.

    Of several measures it is the first that the scenario has: UDP's throughput or TCP's.
    """
    if isinstance(measure, Sequence) and not isinstance(measure, str):
        measure = next((each for each in measure if totals.get(_name(each))), "")
    value = totals.get(_name(measure))
    if value is None:
        return math.nan
    if isinstance(measure, str):
        return float(value)
    if "below" in measure:
        return float(value < totals[measure["below"]])
    divisor = totals[measure["per"]] if "per" in measure else measure["divided_by"]
    return float(value) / float(divisor)


def _name(measure: str | Data) -> str:
    return measure if isinstance(measure, str) else str(measure["of"])


def scenarios(question: Data, campaign: str, levels: Data, *fields: Data) -> Iterator[Scenario]:
    """The scenarios of a question at a campaign's levels, with fields changed, one table after the other."""
    [part] = parts(ledger.load(), campaign, Scale(full=True), question.get("cell"))
    [point] = [
        point
        for point in part.campaign.points
        if all(point.levels[name] == label for name, label in levels.items())
    ]
    for replication in range(question["replications"]):
        scenario = point.scenario(replication)
        measured_s = scenario.duration_s - scenario.warmup_s
        scenario = scenario.changed(duration_s=scenario.warmup_s + question.get("share", 1.0) * measured_s)
        for each in fields:
            scenario = _changed(scenario, each)
        yield scenario


def _changed(scenario: Scenario, fields: Data) -> Scenario:
    changes = {name: value for name, value in fields.items() if "." not in name}
    if "spacing_m" in changes:
        assert scenario.movement.chain is not None
        nodes, spacing_m = scenario.movement.chain.nodes, changes.pop("spacing_m")
        changes["movement"] = {"chain": {"nodes": nodes, "spacing_m": spacing_m}}
    data = scenario.changed(**changes).to_dict()
    for name in fields.keys() - changes.keys() - {"spacing_m"}:
        data = assign(data, name, fields[name], "a deciding run")
    return Scenario.build(data)


def table(name: str) -> Table:
    """The table of a question."""
    question = questions()[name]
    arms = [*question.get("arms", {})] or next(iter(question.get("compare", {}).values()), [question["unit"]])
    heads = [f"{each}, {question['unit']}" if len(arms) == 2 else str(each) for each in arms]
    change = ["change, %"] if len(arms) == 2 else []
    made = Table(question["ask"], ("at", "variant", *heads, *change, "against as run, %"), text_columns=2)
    for row in rows(question):
        changes = [row.change] if change else []
        cells = [*row.means, *changes, row.against_run]
        made.add(row.labels, row.variant, *("–" if each is None else _shown(each) for each in cells))
    made.notes.append(f"{question['replications']} scenarios; mean and 95 % interval.")
    return made


def _shown(interval: Interval) -> str:
    return f"{interval.mean:.4g} ({interval.low:.4g} to {interval.high:.4g})"


def main() -> None:
    """Prints the tables of the questions that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="+", choices=questions())
    for name in parser.parse_args().ids:
        table(name).print(stdout_console())


if __name__ == "__main__":
    main()
