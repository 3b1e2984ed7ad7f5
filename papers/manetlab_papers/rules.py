"""Judges claims: each by its rule, which is data.

A rule has a `kind`. Most kinds compare `of`, and `against` where there are two, for one case or several;
what both have in common is `at`. README.md lists kinds and words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

from manetlab.metrics import base_unit
from manetlab.stats import Interval
from manetlab_papers import outcomes
from manetlab_papers.campaigns import every
from manetlab_papers.ledger import Claim, Data, Experiment
from manetlab_papers.outcomes import Finding, Measured, Outcome
from manetlab_papers.quantities import (
    COMPARISONS,
    OWN,
    Evaluator,
    TooFew,
    average,
    counted,
    exact,
    levels_of,
    mean,
    middle,
    number,
    pool,
    shown,
)
from manetlab_papers.samples import NotRun, Values

SIDES = ("of", "against", "base")
STILL_IN_UNIT = ("over", "join", "per")
"""Words of a quantity under which what was measured keeps its unit."""
ALONG = " → "
"""Between values along an axis."""
READ_IN: Mapping[str, tuple[float, str]] = {
    "bit/s": (1e-3, " kb/s"),
    "B/s": (1e-3, " kB/s"),
    "1/s": (1.0, "/s"),
    "s": (1.0, " s"),
}
"""Factor and unit with which values are read, by the unit of their measure."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one claim.

    Attributes:
        claim: The claim.
        outcome: What is said of it.
        ours: What was found, in the claim's unit.
        reason: Why.
        part: Which part of the claim was tested; empty for all of it.
        fit: How intervals lie to bands: "within", "touches", "outside", or empty; see `Finding`.
        p: The p-value of the test that the outcome rests on, if it rests on one.
        equivalent: Of a claim of no effect, whether the effect is shown to lie within the band.
        measured: What was compared; nothing where no interval was.
        further: What further conditions compared that do not hold.
        runs: The campaigns that the rule reads.
    """

    claim: Claim
    outcome: Outcome
    ours: str
    reason: str
    part: str = ""
    fit: str = ""
    p: float | None = None
    equivalent: bool | None = None
    measured: tuple[Measured, ...] = ()
    further: tuple[Measured, ...] = ()
    runs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Case:
    """One comparison of a rule.

    Attributes:
        name: Its name.
        sides: The quantities that are compared, by `SIDES`.
        band: The case's own band, or which of the claim's.
        along: The case's own axis.
        comparison: The case's own comparison.
    """

    name: str
    sides: Mapping[str, Data]
    band: Data | str | int | None = None
    along: Any = None
    comparison: str | None = None


def judge_all(experiment: Experiment, evaluator: Evaluator) -> list[Verdict]:
    """The verdicts on all claims that are drawn from an experiment."""
    return [judge(claim, evaluator) for claim in evaluator.ledger.claims_of(experiment)]


def judge(claim: Claim, evaluator: Evaluator) -> Verdict:
    """The verdict on a claim.

    Raises:
        ValueError: The rule's data make no rule.
    """
    evaluator.runs.used.clear()
    try:
        if claim.rule["kind"] == "untested":
            return _untested(claim, evaluator)
        verdict = Rule(claim, claim.rule, evaluator).verdict()
        verdict = replace(verdict, runs=frozenset(evaluator.runs.used))
        if verdict.outcome is Outcome.REPRODUCED and "by_construction" in claim.rule:
            reason = f"{verdict.reason}; {claim.rule['by_construction']}"
            return replace(verdict, outcome=Outcome.BY_CONSTRUCTION, reason=reason)
        return verdict
    except (KeyError, NotRun) as error:
        raise ValueError(f"{claim.id}: {type(error).__name__}: {error}") from error


def _untested(claim: Claim, evaluator: Evaluator) -> Verdict:
    """What is said of a claim that is not tested: why, and what is recorded of it without being scored."""
    ours = "–"
    if "recorded" in claim.rule:
        found = Rule(claim, claim.rule["recorded"], evaluator).found()
        ours = f"{found.ours} ({found.reason})"
    return Verdict(claim, Outcome.NOT_TESTED, ours, claim.rule["why"])


class Rule:
    """A rule of a claim, or a condition that is part of one.

    Args:
        claim: The claim.
        data: The rule.
        evaluator: Evaluates quantities.
    """

    def __init__(self, claim: Claim, data: Data, evaluator: Evaluator) -> None:
        self.claim, self.data, self.evaluator = claim, data, evaluator
        self._counts: dict[Interval, str] = {}

    def verdict(self) -> Verdict:
        """The outcome with what the rule's further conditions say."""
        found = self.found()
        reason, outcome, listed = found.reason, found.outcome, [found]
        for also in self.data.get("also", ()):
            text, condition = self._further(also)
            listed.append(condition)
            further = condition.outcome
            if further is Outcome.CONTRADICTED or outcome is Outcome.REPRODUCED:
                outcome = further
            mark = "holds" if further is Outcome.REPRODUCED else "does not hold"
            if further is Outcome.INCONCLUSIVE and not (also["kind"] == "means" or also.get("means")):
                mark = "cannot be told"
            reason += f"; {text}: {mark}"
        if "remark" in self.data:
            reason += f". {self.remark()}"
        p, fit = outcomes.joint_p(outcome, listed), outcomes.joint_fit(each.fit for each in listed)
        broken = [each for each in listed[1:] if each.outcome is Outcome.CONTRADICTED]
        undone = tuple(each for condition in broken for each in condition.measured)
        said = (found.ours, reason, self.part(), fit, p, found.equivalent, found.measured, undone)
        return Verdict(self.claim, outcome, *said)

    def _further(self, also: Data) -> tuple[str, Finding]:
        """A further condition: its text with what was found, and what is said of it."""
        if also.get("given"):
            return also["text"], Finding(Outcome.REPRODUCED, "")
        found = self.part_of({word: value for word, value in also.items() if word != "text"}).found()
        return also["text"].replace("{}", found.ours), found

    def remark(self) -> str:
        """What a reader should know beside the values; ``{chosen}`` is the chosen scenario's replication."""
        text: str = self.data["remark"]
        if "{chosen}" not in text:
            return text
        choose = self.evaluator.table(self.data["choose"])
        levels = {key: label for key, label in levels_of(choose).items() if key != "pick"}
        replications = self.evaluator.runs.replications(choose["runs"], levels)
        return text.replace("{chosen}", str(replications[self.chosen()]))

    def part(self) -> str:
        """Which part of the claim is tested here."""
        text: str = self.data.get("part", "")
        return "" if self.evaluator.full and self.data.get("all_in_full") else text

    def found(self) -> Finding:
        """The rule's outcome."""
        try:
            found = KINDS[self.data["kind"]](self)
        except TooFew as error:
            return outcomes.too_few(error)
        if found.outcome is Outcome.CONTRADICTED and self.data.get("never_contradicts"):
            found = replace(found, outcome=Outcome.INCONCLUSIVE)
        if "text" in self.data and "given" not in self.data:
            text = self.data["text"].replace("{}", found.ours)
            return replace(found, ours=text)
        return found

    def part_of(self, data: Data) -> Rule:
        """A condition of this rule, which takes from it what is `at` and what it lets go without saying."""
        at = {**self.data.get("at", {}), **data.get("at", {})}
        return Rule(self.claim, {**data, "at": at}, self.evaluator)

    def band(self, case: Case) -> tuple[float, float]:
        """The band of a case: its own, the rule's, that of another element, or the claim's."""
        band = self.data.get("band", case.name) if case.band is None else case.band
        if isinstance(band, str):
            return self.claim.band_of(band)
        if isinstance(band, int):
            return self.claim.band(band)
        return band.get("lo", -math.inf), band.get("hi", math.inf)

    def ends(self, case: Case) -> tuple[float, float]:
        """The ends of the band that count: both, or `only` one."""
        low, high = self.band(case)
        only = self.data.get("only")
        return -math.inf if only == "hi" else low, math.inf if only == "lo" else high

    def cases(self) -> Iterator[Case]:
        """The rule's cases, of which a quick reproduction leaves out those that were not run.

        Raises:
            NotRun: None was run, or one was not and all are needed.
        """
        made = 0
        for given in self._given():
            looped_over = {name.partition(".")[0] for name in self.data.get("each", {})}
            named = ("of", *(side for side in SIDES[1:] if side in {*self.data, *given, *looped_over}))
            sides = {side: self.side(side, given) for side in named}
            for place, looped in product(self.data.get("places", [{}]), every(self._loops(sides))):
                chosen = {**place, **looped}
                case = Case(
                    self._name(given, chosen),
                    _laid(sides, chosen),
                    given.get("band"),
                    given.get("along"),
                    given.get("as"),
                )
                if self.evaluator.full or self._is_run(case):
                    made += 1
                    yield case
        if not made:
            raise NotRun(f"no case of {self.claim.id}")

    def _is_run(self, case: Case) -> bool:
        """Whether what a case needs was run."""
        try:
            if "along" in self.data or case.along is not None:
                return len(self.along(case)) > 1
            if "over" in self.data:
                return bool(self.evaluator.loop(self.data["over"], *case.sides.values()))
        except NotRun:
            return False
        return all(map(self.evaluator.is_run, case.sides.values()))

    def _given(self) -> list[Data]:
        if "greater" in self.data:
            by = self.data["by"]
            return [
                {"label": f"{a} > {b}", "of": {by: a}, "against": {by: b}} for a, b in self.data["greater"]
            ]
        found: list[Data] = self.data.get("cases", [{}])
        return found

    def side(self, side: str, given: Data) -> dict[str, Any]:
        """A quantity that is compared, with what is common to all laid under it."""
        table = self.evaluator.table
        return {
            **table(self.data.get("at", {})),
            **table(self.data.get(side, {})),
            **table(given.get(side, {})),
        }

    def _loops(self, sides: Mapping[str, Data]) -> dict[str, list[Any]]:
        loops = {}
        for name, wanted in self.data.get("each", {}).items():
            factor, side = name.rpartition(".")[2] if name.startswith(SIDES) else name, name.partition(".")[0]
            given = [sides[side]] if side in sides and name.startswith(SIDES) else list(sides.values())
            loops[name] = list(self.evaluator.labels(factor, wanted, given))
        return loops

    def _name(self, given: Data, chosen: Data) -> str:
        words = {"label": given.get("label", "")} if "label" in given else {}
        for name, label in chosen.items():
            words[name.removeprefix("of.").removeprefix("against.").rpartition(".")[2]] = (
                f"{label:g}" if isinstance(label, float) else str(label)
            )
        if "case" in self.data:
            text: str = self.data["case"].format(**words)
            return text
        return ", ".join(words.values())

    def values(self, case: Case) -> dict[str, Values]:
        """The values of every scenario, by side."""
        over = self.data.get("over")
        if not over:
            return {side: self.evaluator.values(data) for side, data in case.sides.items()}
        listed = self.evaluator.loop(over, *case.sides.values())
        return {
            side: pool([self.evaluator.values({**data, **chosen}) for chosen in listed])
            for side, data in case.sides.items()
        }

    def interval(self, case: Case) -> Interval:
        """What the rule compares, in the unit of the claim."""
        comparison = case.comparison or self.data.get("as", "percent" if "against" in case.sides else "mean")
        if comparison == "mean" and "over" not in self.data:
            found = self.evaluator.computed(case.sides["of"])
            if not isinstance(found, list):
                return exact(found) if isinstance(found, int | float) else found
            return self._counted(mean(found), found)
        values = self.values(case)
        if comparison == "exact":
            return exact(average(values["of"]))
        interval = COMPARISONS[comparison](*values.values()).scaled(self.data.get("scale", 1))
        return self._counted(interval, *values.values())

    def _counted(self, interval: Interval, *lists: Values) -> Interval:
        """The same interval, of which it is kept how many scenarios had no value."""
        self._counts[interval] = counted(*lists)
        return interval

    def shown(self, interval: Interval, comparison: str | None = None) -> str:
        """An interval as the rule's outcome shows it, with the scenarios that it rests on if not on all.

        A case may have a `comparison` of its own; a ratio has no unit.
        """
        rule = self.data if comparison is None else {**self.data, "as": comparison}
        unit = "" if comparison == "ratio" else self.data.get("unit", self.claim.unit_of(rule))
        text = shown(interval, unit, self.data.get("digits", 4))
        return text + self._counts.get(interval, "")

    def read_in(self, *sides: Data) -> tuple[float, str]:
        """The factor and the unit with which values are read: what was measured in bit/s is read in kb/s.

        A unit that the rule states is that of its quantities.
        """
        if "unit" in self.data:
            return 1.0, self.data["unit"]
        made = [self.evaluator.table(each) for each in sides]
        are_changed = any(word in each for each in made for word in OWN if word not in STILL_IN_UNIT)
        found = {_read_in(str(each.get("measure", ""))) for each in made}
        return found.pop() if len(found) == 1 and not are_changed else (1.0, "")

    def along(self, case: Case) -> list[Values]:
        """A quantity at every place of an axis."""
        axis = case.along or self.data["along"]
        of = case.sides["of"]
        if isinstance(axis, list):
            return [self.evaluator.values({**of, **self.evaluator.table(place)}) for place in axis]
        if "function" in axis:
            return self.evaluator.lists({**of, **axis})
        return [self.evaluator.values({**of, **place}) for place in self.evaluator.loop(axis, of)]

    def chosen(self) -> int:
        """The place of the scenario that the rule chooses among all."""
        choose = self.data["choose"]
        values = self.evaluator.values({k: v for k, v in choose.items() if k != "pick"})
        return PICKS[choose["pick"]](values)

    @property
    def tie_percent(self) -> float:
        """Up to which difference two are level."""
        return self.evaluator.ledger.rules["tie_percent"]


def _read_in(measure: str) -> tuple[float, str]:
    """The factor and the unit with which a measure's values are read."""
    return READ_IN.get(base_unit(measure), (1.0, ""))


def _laid(sides: Mapping[str, Data], chosen: Data) -> dict[str, dict[str, Any]]:
    """Sides with the levels that a loop has chosen; ``against.routing`` is for one of them only."""
    made: dict[str, dict[str, Any]] = {side: dict(data) for side, data in sides.items()}
    for name, label in chosen.items():
        side, _, factor = name.partition(".")
        if side in made:
            made[side][factor] = label
        else:
            for data in made.values():
                data[name] = label
    return made


PICKS: Mapping[str, Callable[[Values], int]] = {
    "average": lambda values: min(
        range(len(values)), key=lambda place: abs(values[place] - sum(values) / len(values))
    ),
    "worst": lambda values: min(range(len(values)), key=values.__getitem__),
    "first": lambda _values: 0,
}
"""How a scenario is chosen, by the name that rules give it."""

Kind = Callable[[Rule], Finding]
KINDS: dict[str, Kind] = {}
"""What carries out a rule, by the rule's kind."""


def kind(name: str) -> Callable[[Kind], Kind]:
    """Makes a kind of rule known to data by a name."""

    def known(function: Kind) -> Kind:
        if name in KINDS:
            raise ValueError(f"two kinds of rule are called {name!r}")
        KINDS[name] = function
        return function

    return known


@kind("level")
def _level(rule: Rule) -> Finding:
    """Means, ratios or changes, each in its band; `show` only the "greatest" or the "least"."""
    must_lie = rule.data.get("must_lie", False)
    found, means = [], []
    for case in rule.cases():
        interval = rule.interval(case)
        outcome = outcomes.level(interval, *rule.ends(case), must_lie=must_lie)
        found.append((case.name, replace(outcome, ours=rule.shown(interval, case.comparison))))
        means.append(interval.mean)
    together = outcomes.together(found)
    if "show" not in rule.data:
        return together
    name, one = found[means.index({"greatest": max, "least": min}[rule.data["show"]](means))]
    return replace(together, ours=f"{one.ours} ({name})" if name else one.ours)


@kind("change")
def _change(rule: Rule) -> Finding:
    """Changes, each in its band, and with the sign that is said (`sign`, 0 if it is free).

    With `largest` it is the case alone that changes most in this direction, with an interval that allows for
    its having been chosen among all. With `no_effect` the change is tested for equivalence, too, with the
    band as margin.
    """
    intervals = [(case, rule.interval(case)) for case in rule.cases()]
    if "largest" in rule.data:
        case, most = max(intervals, key=lambda each: rule.data["largest"] * each[1].mean)
        intervals = [(case, outcomes.at_confidence(most, 1 - 0.05 / len(intervals)))]
    found = []
    for case, interval in intervals:
        outcome = outcomes.change(interval, *rule.band(case), rule.data.get("sign", 0))
        if rule.data.get("no_effect"):
            outcome = replace(outcome, equivalent=outcomes.equivalence(interval, *rule.band(case)))
        found.append((case.name, replace(outcome, ours=rule.shown(interval, case.comparison))))
    return outcomes.together(found)


@kind("sign")
def _sign(rule: Rule) -> Finding:
    """Quantities that must be above zero or below it, with significance."""
    found = []
    for case in rule.cases():
        interval = rule.interval(case)
        outcome = outcomes.significant(interval, rule.data["sign"])
        found.append((case.name, replace(outcome, ours=rule.shown(interval, case.comparison))))
    return outcomes.together(found)


@kind("means")
def _means(rule: Rule) -> Finding:
    """Means alone compared: that of `of` is the greater (`sign` +1) or the smaller (-1)."""
    found = []
    for case in rule.cases():
        interval = rule.interval(case)
        holds = interval.mean * rule.data["sign"] > 0
        outcome = Outcome.REPRODUCED if holds else Outcome.INCONCLUSIVE
        reason = "the means are so" if holds else "the means are not so"
        measured = (outcomes.beyond_zero(interval, rule.data["sign"]),)
        found.append((case.name, Finding(outcome, reason, rule.shown(interval), measured=measured)))
    return outcomes.together(found)


@kind("tie")
def _tie(rule: Rule) -> Finding:
    """Differences whose interval holds zero, or whose mean is no wider than a tie (`within`, in percent).

    Only an interval that lies beyond the tie contradicts.
    """
    within = rule.data.get("within", 0.0)
    found = []
    for case in rule.cases():
        interval = rule.interval(case)
        outcome = Outcome.INCONCLUSIVE
        if interval.holds_zero or abs(interval.mean) <= within:
            outcome = Outcome.REPRODUCED
        elif interval.low > within or interval.high < -within:
            outcome = Outcome.CONTRADICTED
        reason = "a tie" if outcome is Outcome.REPRODUCED else "no tie"
        p = outcomes.outside_p(interval, -within, within) if outcome is Outcome.CONTRADICTED else None
        measured = (Measured(interval, -within, within),)
        found.append((case.name, Finding(outcome, reason, rule.shown(interval), p=p, measured=measured)))
    return outcomes.together(found)


@kind("order")
def _order(rule: Rule) -> Finding:
    """Systems from the one that is said to have the greatest value to the one with the least."""
    cases = list(rule.cases())
    listed = [(case.name, rule.values(case)["of"]) for case in cases]
    found = [
        (f"{first} > {second}", outcomes.pair(of_first, of_second, rule.tie_percent))
        for (first, of_first), (second, of_second) in pairwise(listed)
    ]
    factor, unit = rule.read_in(*(case.sides["of"] for case in cases))
    ours = outcomes.joined(
        (name, shown(mean(values).scaled(factor), unit) + counted(values)) for name, values in listed
    )
    return replace(outcomes.together(found), ours=ours)


@kind("pairs")
def _pairs(rule: Rule) -> Finding:
    """Pairs of which the first is said to be greater, or, with `may_tie`, as great.

    With `unpaired` the two have scenarios of their own, and cases that lack them are open.
    """
    found = []
    for case in rule.cases():
        if rule.data.get("unpaired"):
            found.append((case.name, _apart(rule, case)))
            continue
        first, second = (rule.values(case)[side] for side in ("of", "against"))
        outcome = outcomes.pair(first, second, rule.tie_percent, may_tie=rule.data.get("may_tie", False))
        factor, unit = rule.read_in(*case.sides.values())
        # The means are those of what is compared: of scenarios in which both have a value.
        pairs = [pair for pair in zip(first, second, strict=True) if not any(map(math.isnan, pair))]
        means = ", ".join(number(factor * average(list(each))) for each in zip(*pairs, strict=True)) or "none"
        ours = f"{means}{unit}{counted(first, second)}"
        found.append((case.name, replace(outcome, ours=ours)))
    return outcomes.together(found)


def _apart(rule: Rule, case: Case) -> Finding:
    """A pair that does not share its scenarios."""
    listed = [rule.values(case)[side] for side in ("of", "against")]
    there = [[each for each in values if not math.isnan(each)] for values in listed]
    ours = ", ".join(f"{number(average(each))} (n = {len(each)})" if each else "none" for each in there)
    try:
        return replace(outcomes.pair_apart(listed[0], listed[1], rule.tie_percent), ours=ours)
    except TooFew as error:
        return replace(outcomes.too_few(error), ours=ours)


@kind("trend")
def _trend(rule: Rule) -> Finding:
    """Quantities that rise (`sign` +1) or fall (-1) along an axis."""
    found = []
    for case in rule.cases():
        factor, unit = rule.read_in(case.sides["of"])
        along = [[factor * value for value in values] for values in rule.along(case)]
        ours = ALONG.join(map(middle, along)) + unit + counted(*along)
        found.append((case.name, replace(outcomes.trend(along, rule.data["sign"]), ours=ours)))
    return outcomes.together(found)


@kind("single")
def _single(rule: Rule) -> Finding:
    """One scenario that is chosen by the paper's rule, with the ensemble that it was chosen from behind it.

    With `enough`, an extreme scenario was chosen from as many as the paper's if there are so many. With
    `overall`, what is compared is the change from `against` to `of` in that scenario, in percent.
    """
    chosen, found = rule.chosen(), []
    for case in rule.cases():
        values = rule.values(case)
        of = values["of"]
        if "against" in values:
            overall = rule.interval(case)
            changes = [
                100 * (a / b - 1) if b else math.inf for a, b in zip(of, values["against"], strict=True)
            ]
            outcome = outcomes.single_change(changes[chosen], overall, *rule.band(case))
            ours = f"{number(changes[chosen])} (all: {rule.shown(overall)})"
        else:
            complete = len(of) >= rule.data["enough"] if "enough" in rule.data else None
            outcome = outcomes.single(of[chosen], of, *rule.band(case), complete)
            there = [each for each in of if not math.isnan(each)]
            all_of = f"all: {rule.shown(mean(of))}" if len(there) > 1 else "none has a value"
            ours = f"{number(of[chosen])} ({all_of})"
        found.append((case.name, replace(outcome, ours=ours)))
    return outcomes.together(found)


@kind("all")
def _all(rule: Rule) -> Finding:
    """Conditions that must all hold, as the ledger words them for this claim."""
    found = []
    for data in rule.data["all"]:
        condition = rule.part_of(data).found()
        found.append(replace(condition, ours="" if data.get("silent") else condition.ours))
    return outcomes.all_hold(found)


@kind("count")
def _count(rule: Rule) -> Finding:
    """At least so many of the cases (`at_least`) have their mean in their band.

    Cases that a quick reproduction did not run (`of_all` less those that were run) may yet be among them.
    """
    shown_of, measured, inside, ps = [], [], 0, []
    for case in rule.cases():
        interval = rule.interval(case)
        low, high = rule.band(case)
        inside += low <= interval.mean <= high
        ps.append(outcomes.outside_p(interval, low, high))
        measured.append(Measured(interval, low, high, case.name))
        shown_of.append((case.name, rule.shown(interval)))
    wanted, every_case = rule.data["at_least"], rule.data.get("of_all", len(shown_of))
    possible = inside + every_case - len(shown_of)
    outcome = Outcome.INCONCLUSIVE
    if inside >= wanted:
        outcome = Outcome.REPRODUCED
    p = None
    if outcome is Outcome.INCONCLUSIVE and possible < wanted:
        # More lie outside than may.
        outcome, p = Outcome.CONTRADICTED, outcomes.at_least_p(ps, every_case - wanted + 1, every_case)
    ours = outcomes.joined(shown_of)
    reason = f"at least {wanted} of {every_case} must lie in their bands, {inside} of {len(shown_of)} do"
    return outcomes.stated(Finding(outcome, reason, ours, p=p, measured=tuple(measured)))


@kind("share")
def _share(rule: Rule) -> Finding:
    """The condition `one` holds in a share of the cases (`at_least`: so many `cases` `of` so many)."""
    loops = {
        name: rule.evaluator.labels(name, wanted, [rule.side("of", {})])
        for name, wanted in rule.data["each"].items()
    }
    found = []
    for chosen in every(loops):
        one = rule.data["one"]
        found.append(rule.part_of({**one, "at": {**one.get("at", {}), **chosen}}).found())
    wanted = math.ceil(len(found) * rule.data["at_least"]["cases"] / rule.data["at_least"]["of"])
    ps = {
        each: [one.p for one in found if one.outcome is each]
        for each in (Outcome.REPRODUCED, Outcome.CONTRADICTED)
    }
    held, broken = map(len, ps.values())
    outcome, least = Outcome.INCONCLUSIVE, wanted
    if held >= wanted:
        outcome = Outcome.REPRODUCED
    elif broken > len(found) - wanted:
        outcome, least = Outcome.CONTRADICTED, len(found) - wanted + 1
    p = None if outcome is Outcome.INCONCLUSIVE else outcomes.at_least_p(ps[outcome], least, len(found))
    measured = outcomes.joint_measured(("", each) for each in found)
    undecided = len(found) - held - broken
    reason = f"it must hold in {wanted} of {len(found)} cases: it does in {held}, {undecided} are not decided"
    return outcomes.stated(Finding(outcome, reason, f"{held} of {len(found)}", p=p, measured=measured))


@kind("agreed")
def _agreed(rule: Rule) -> Finding:
    """The condition `one` in set-ups any of which may be the paper's: only what all agree on is said."""
    found = []
    for chosen in every(dict(rule.data["each"])):
        data = rule.data["one"]
        one = rule.part_of({**data, "at": {**data.get("at", {}), **chosen}}).found()
        found.append((rule._name({}, chosen), one))
    agreed = {each.outcome for _, each in found}
    outcome = agreed.pop() if len(agreed) == 1 else Outcome.INCONCLUSIVE
    readings = [each for _, each in found]
    said = outcomes.stated(
        Finding(
            outcome,
            "",
            outcomes.joined((name, each.ours.replace("; ", ", ")) for name, each in found),
            outcomes.joint_fit(each.fit for each in readings),
            # All readings must say the same, so that the weakest counts.
            max((each.p for each in readings if each.p is not None), default=None),
            outcomes.joint_equivalence(each.equivalent for each in readings),
            outcomes.joint_measured(found),
        )
    )
    if outcome is not Outcome.INCONCLUSIVE or not agreed:
        return said
    by = {
        each: [name for name, one in found if one.outcome is each]
        for _, one in found
        for each in [one.outcome]
    }
    differing = "; ".join(f"{each} with {', '.join(names)}" for each, names in by.items())
    return replace(said, reason=f"the readings do not agree: {differing}")


@kind("extreme")
def _extreme(rule: Rule) -> Finding:
    """One case is the greatest (`sign` +1) or the least (-1) of all: `which`, or one of these.

    With `means` the means alone are compared, and no test is made.
    """
    intervals = {case.name: rule.interval(case) for case in rule.cases()}
    sign, named = rule.data["sign"], rule.data["which"]
    which = [named] if isinstance(named, str) else list(named)
    end = "the greatest" if sign > 0 else "the least"
    ours = outcomes.joined((name, rule.shown(each)) for name, each in intervals.items())
    others = [each.scaled(sign) for name, each in intervals.items() if name not in which]
    own = [intervals[name].scaled(sign) for name in which]
    tested = not rule.data.get("means")
    if min(each.mean for each in own) > max(each.mean for each in others):
        p = max(outcomes.apart_p(a, b) for a in own for b in others) if tested else None
        return Finding(Outcome.REPRODUCED, f"{', '.join(which)}: {end} of all", ours, p=p)
    reason = f"{', '.join(which)}: not {end} of all"
    if tested and max(each.high for each in own) < max(each.low for each in others):
        # Any of the others may be the one that is beyond.
        beyond = max(others, key=lambda each: each.low)
        p = min(1.0, max(outcomes.apart_p(beyond, each) for each in own) * len(others))
        return Finding(Outcome.CONTRADICTED, reason, ours, p=p)
    return Finding(Outcome.INCONCLUSIVE, reason, ours)


@kind("below")
def _below(rule: Rule) -> Finding:
    """The first case is not above the second's mean."""
    (first, of), (second, against) = ((case.name, rule.interval(case)) for case in rule.cases())
    found = outcomes.level(of, -math.inf, against.mean, must_lie=True)
    return replace(found, ours=f"{first} {rule.shown(of)}, {second} {rule.shown(against)}")


@kind("smaller")
def _smaller(rule: Rule) -> Finding:
    """The mean of the first case is below that of the second, which is shown."""
    (_, of), (_, against) = ((case.name, rule.interval(case)) for case in rule.cases())
    outcome = Outcome.REPRODUCED if of.mean < against.mean else Outcome.INCONCLUSIVE
    return Finding(outcome, "smaller" if of.mean < against.mean else "not smaller", rule.shown(against))


@kind("limit")
def _limit(rule: Rule) -> Finding:
    """No scenario is above the claim's band; with `floods` one that is does not break the rule."""
    most = max(max(rule.values(case)["of"]) for case in rule.cases())
    outcome = Outcome.REPRODUCED
    if most > rule.claim.band()[1]:
        outcome = Outcome.INCONCLUSIVE if rule.data.get("floods") else Outcome.CONTRADICTED
    measured = (Measured(exact(most), *rule.claim.band()),)
    return outcomes.stated(Finding(outcome, "", f"{most:.1f}", measured=measured))


@kind("same as")
def _same(rule: Rule) -> Finding:
    """What another claim's rule says, of the same runs."""
    other = rule.evaluator.ledger.claims[rule.data["claim"]]
    return Rule(replace(rule.claim, at=other.at), other.rule, rule.evaluator).found()


@kind("core test")
def _core_test(rule: Rule) -> Finding:
    """What a test of the core carries out at every build (`test`, its name), where no run can show it."""
    return Finding(Outcome.REPRODUCED, "the claim's rule holds", f"test `{rule.data['test']}`")


@kind("claim")
def _claim(rule: Rule) -> Finding:
    """The verdict on another claim that the tolerance hangs on."""
    other = rule.evaluator.ledger.claims[rule.data["claim"]]
    verdict = Rule(other, other.rule, rule.evaluator).verdict()
    said = (verdict.ours, verdict.fit, verdict.p, verdict.equivalent, verdict.measured)
    return Finding(verdict.outcome, verdict.reason, *said)
