"""The answer in two sentences for those who decide: what to take and by how much, then what that gives.

The first follows from the comparisons, measure by measure in the stated order (`priority`); differences are
told only where they are significant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from manetlab import labels
from manetlab.campaign.survivors import FEWER
from manetlab.metrics import Metric
from manetlab.report.outcomes import capital, confidence
from manetlab.report.priority import Choice, choices, order
from manetlab.report.quantities import MINUS, listed, with_unit
from manetlab.report.study import Comparison, Estimate, Levels, Study

MOST_GROUPS = 3
"""Most outcomes that are told apart in the first sentence; the rarest are summed up."""
MOST_NAMED = 3
"""Most settings that a sentence names."""


@dataclass(frozen=True)
class Words:
    """How a measure is spoken of.

    Attributes:
        verb: What an alternative does, with more or less of it.
        noun: What there is more or less of.
        value: What comes out: ``{}`` stands for the value with its unit.
    """

    verb: str
    noun: str
    value: str


_OF_PACKETS = Words("delivers", "of the packets", "{} of the packets arrive")
SPOKEN = {
    "cbr_delivery_fraction": _OF_PACKETS,
    "datagram_in_time_fraction": Words(
        "delivers in time", "of the packets", "{} of the packets come in time"
    ),
    "message_delivery_fraction": Words("delivers", "of the messages", "{} of the messages arrive"),
    "tcp_throughput_bps": Words("carries", "", "TCP carries {}"),
    "voice_satisfied_fraction": Words("satisfies", "of the calls", "{} of the calls are satisfied"),
    "cbr_latency_mean_s": Words("", "", "packets take {} on average"),
    "cbr_latency_p95_s": Words("", "", "95 % of what arrives takes up to {}"),
    "normalised_routing_load": Words("", "", "each costs {} routing packets"),
}
"""Measures of which planners speak with a verb; all others have a value that is higher or lower."""


def sentences(study: Study) -> list[str]:
    """The answer in one or two sentences."""
    if study.compared is None:
        return _values(study, list(study.wanted), "", list(study.settings))
    if not study.primary or not study.comparisons:
        return []
    is_numeric = study.compared.numbers is not None
    measure = next((metric for metric in order(study.primary) if metric.better), None)
    if measure is None or is_numeric or (study.family and study.family.kind == "control" and _many(study)):
        return [_against_all(study)]
    found = choices(study)
    best = _most_often_left(found)
    return [_choice(study, found), *_values(study, order(study.primary), best, list(study.settings))]


def _many(study: Study) -> bool:
    return study.compared is not None and len(study.compared.levels) > 2


def _most_often_left(found: Sequence[Choice]) -> str:
    """The alternative that is left at most settings, and first where several are."""
    counts: dict[str, tuple[int, int]] = {}
    for choice in found:
        for name in choice.left:
            left, first = counts.get(name, (0, 0))
            counts[name] = (left + 1, first + (name == choice.left[0]))
    return max(counts, key=lambda name: counts[name])


def name_of(study: Study, name: str) -> str:
    """What an alternative is called in a sentence: a protocol as people write it."""
    assert study.compared is not None
    if study.compared.numbers is not None:
        return study.compared.setting(name)
    return labels.of_alternative(name)


def _choice(study: Study, found: Sequence[Choice]) -> str:
    """What to take, setting by setting, as few words as will do."""
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[Choice]] = {}
    for choice in found:
        decided = choice.steps[-1][0].key if choice.steps else ""
        outcome = (decided, tuple(sorted(choice.left)), tuple(sorted(choice.fewer)))
        groups.setdefault(outcome, []).append(choice)
    if len(groups) == 1:
        of_all = next(iter(groups.values()))
        is_none = not of_all[0].steps and not of_all[0].fewer
        many = f" {_all_settings(study, is_none=is_none)}" if len(of_all) > 1 else ""
        return f"{capital(_outcome(study, of_all))}{many}."
    told, rest = list(groups.values()), 0
    if len(told) > MOST_GROUPS:
        told = sorted(told, key=len, reverse=True)[: MOST_GROUPS - 1]
        rest = len(found) - sum(map(len, told))
    parts = [f"{_where(study, [each.others for each in of])}, {_outcome(study, of)}" for of in told]
    parts += [f"in the other {rest} it differs from setting to setting"] if rest else []
    return f"{capital('; '.join(parts))}."


def _outcome(study: Study, of: Sequence[Choice]) -> str:
    """What is left at settings with the same outcome, and which alternatives took no part."""
    first = of[0]
    if not first.fewer:
        return _difference(study, of)
    names = [name_of(study, name) for name in first.fewer]
    less = f"{listed(names)} {'delivers' if len(names) == 1 else 'deliver'} significantly less"
    if not first.steps and len(first.left) == 1:
        return f"only {name_of(study, first.left[0])} can be judged, as {less}"
    return f"{_difference(study, of)}, and {less}"


def _difference(study: Study, of: Sequence[Choice]) -> str:
    """What is left at settings with the same outcome, and by how much it is better than the next."""
    first = of[0]
    settings = [each.others for each in of]
    left = [name_of(study, name) for name in first.left]
    if not first.steps:
        return f"{listed(left)} do not differ significantly"
    decided, kept = first.steps[-1]
    before = _before_last(study, first)
    beaten = [name for name in before if name not in kept]
    if len(kept) > 1:
        return f"{listed(left)} {_plural(decided)} {_superlative(decided)} and do not differ significantly"
    own = name_of(study, kept[0])
    gains = {name: _gains(study, decided, settings, kept[0], name) for name in beaten}
    nearest = min(gains, key=lambda name: sum(gains[name], 0.0) / max(1, len(gains[name])))
    told = _amount(decided, gains[nearest])
    than = name_of(study, nearest)
    if len(before) > 2:
        than += ", the next best"
    return f"{_before(study, first)}{_more(decided, own, told)} than {than}"


def _before_last(study: Study, choice: Choice) -> tuple[str, ...]:
    """The alternatives among which the measure that decides found a difference."""
    if len(choice.steps) > 1:
        return choice.steps[-2][1]
    levels = study.compared.levels if study.compared else ()
    return tuple(name for name in levels if name not in choice.fewer)


def _before(study: Study, choice: Choice) -> str:
    """What measures before the one that decides say of what it decides among; nothing if it is the first."""
    measures = [metric for metric in order(study.primary) if metric.better]
    decided = choice.steps[-1][0]
    earlier = [metric.label for metric in measures[: measures.index(decided)]]
    among = _before_last(study, choice)
    if not earlier or len(among) < 2:
        return ""
    names = listed([name_of(study, name) for name in among])
    return f"{names} do not differ significantly in {listed(earlier, 'or')}, and "


def _more(metric: Metric, name: str, amount: str) -> str:
    words = SPOKEN.get(metric.key)
    if words and words.verb:
        verb, _, adverb = words.verb.partition(" ")
        more = "more" if metric.better == "higher" else "less"
        return f"{name} {verb} {amount} {more}{f' {adverb}' if adverb else ''}"
    way = "higher" if metric.better == "higher" else "lower"
    return f"{name} has a {metric.label} that is {amount} {way}"


def _superlative(metric: Metric) -> str:
    words = SPOKEN.get(metric.key)
    if words and words.verb:
        return "most" if metric.better == "higher" else "least"
    return f"the {'highest' if metric.better == 'higher' else 'lowest'} {metric.label}"


def _plural(metric: Metric) -> str:
    words = SPOKEN.get(metric.key)
    return plural(words.verb) if words and words.verb else "have"


def plural(verb: str) -> str:
    """What several do, of what one does."""
    verb, _, adverb = verb.partition(" ")
    base = f"{verb[:-3]}y" if verb.endswith("ies") else verb.removesuffix("s")
    return f"{base} {adverb}".rstrip()


def _gains(study: Study, metric: Metric, settings: Iterable[Levels], name: str, other: str) -> list[float]:
    """By how much an alternative is better than another at settings, each at or above 0."""
    rows = [
        each
        for each in study.comparisons
        if each.metric == metric and {each.level, each.against} == {name, other}
    ]
    return [abs(each.difference[0]) for others in settings for each in rows if each.others == others]


def _number(value: float, metric: Metric) -> str:
    """A value in the measure's unit with as many digits as one speaks of: 84, 5.2 or 0.35."""
    scaled = value * metric.factor
    places = next((at for at, least in enumerate((10.0, 1.0)) if abs(scaled) >= least), 2)
    # What is not quite all is not spoken of as all.
    if metric.unit == "%" and 99.0 < scaled < 100.0:
        places = 2
    return f"{round(scaled, min(places, metric.digits)) + 0.0:.{min(places, metric.digits)}f}".replace(
        "-", MINUS
    )


def _amount(metric: Metric, amounts: Sequence[float]) -> str:
    """An amount in the measure's unit, or a range of amounts; percentages differ by points."""
    unit = "points" if metric.unit == "%" else metric.unit
    ends = [_number(value, metric) for value in (min(amounts), max(amounts))]
    told = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    return f"{told} {unit}".rstrip()


def _where(study: Study, settings: Sequence[Levels]) -> str:
    """Settings in words: a range where they are neighbours along one factor with numbers, or their names."""
    if len(study.others) == 1 and study.others[0].numbers is not None:
        factor = study.others[0]
        ordered = sorted(factor.levels, key=lambda name: _place(factor.numbers, factor.levels, name))
        places = sorted(ordered.index(others[0]) for others in settings)
        if places == list(range(places[0], places[-1] + 1)):
            low, high = (f"{ordered[place]} {factor.unit}".rstrip() for place in (places[0], places[-1]))
            if places[0] == places[-1]:
                return f"at {factor.label} {low}" if not factor.unit else f"at {low}"
            if places[0] == 0:
                return f"up to {high}" if factor.unit else f"up to {factor.label} {high}"
            if places[-1] == len(ordered) - 1:
                return f"from {low} on" if factor.unit else f"from {factor.label} {low} on"
            return f"from {ordered[places[0]]} to {high}"
    if len(settings) <= MOST_NAMED:
        return f"at {listed([study.in_words(each) for each in settings])}"
    return f"in {len(settings)} of {len(study.settings)} settings"


def _place(numbers: tuple[float, ...] | None, levels: Sequence[str], name: str) -> float:
    assert numbers is not None
    return numbers[levels.index(name)]


def _all_settings(study: Study, *, is_none: bool = False) -> str:
    """All settings, as one says it of what is so, or of what is so in none of them."""
    count = len(study.settings)
    of = f" of {study.others[0].label}" if len(study.others) == 1 else ""
    if is_none:
        return f"in {'either setting' if count == 2 else f'any of the {count} settings'}{of}"
    return f"in {'both' if count == 2 else f'all {count}'} settings{of}"


def _values(study: Study, metrics: Sequence[Metric], name: str, settings: Sequence[Levels]) -> list[str]:
    """What an alternative gives: the values of the first measures, or their ranges over the settings."""
    parts = []
    for metric in metrics[:2]:
        points = [study.point_at(others, name) for others in settings]
        known = [
            found
            for point in points
            if point is not None and (found := study.estimates.get((point.number, metric.key))) is not None
        ]
        if known and all(math.isfinite(each.mean) for each in known):
            parts.append(_value(study, metric, known))
    if not parts:
        return []
    with_it = f"with {name_of(study, name)}, " if name else ""
    return [f"{capital(with_it + ' and '.join(parts))}."]


def _value(study: Study, metric: Metric, known: Sequence[Estimate]) -> str:
    """The value in words, with its interval if it is one, or the range of several."""
    means = [each.mean for each in known]
    low, high = (_number(value, metric) for value in (min(means), max(means)))
    told, interval = with_unit(low if low == high else f"{low} to {high}", metric), ""
    if len(known) == 1 and math.isfinite(known[0].low) and math.isfinite(known[0].high):
        low, high = (_number(value, metric) for value in (known[0].low, known[0].high))
        span = with_unit(f"{low} to {high}", metric)
        interval = "" if low == high else f" ({confidence(study)} interval {span})"
    words = SPOKEN.get(metric.key)
    said = words.value.format(told) if words else f"{metric.label} is {told}"
    return f"{said}{interval}"


def _against_all(study: Study) -> str:
    """Each level against what it is compared with, in the first measure that they differ in, or in none."""
    for metric in order(study.primary):
        rows = [each for each in study.comparisons if each.metric == metric]
        if any(each.verdict in ("higher", "lower") for each in rows):
            pairs = dict.fromkeys((each.level, each.against) for each in rows)
            parts = [_pair(study, metric, *pair) for pair in pairs]
            return f"{capital('; '.join(part for part in parts if part))}."
    assert study.compared is not None
    levels, verdicts = f"The levels of {study.compared.label}", {each.verdict for each in study.comparisons}
    measures = listed([metric.label for metric in study.primary], "or")
    if verdicts == {FEWER}:
        return f"{levels} cannot be compared in {measures}: where it is better, significantly less arrives."
    return f"{levels} do not differ significantly in {measures}."


def _pair(study: Study, metric: Metric, name: str, against: str) -> str:
    """Where a level is higher or lower than another, and by how much; empty where it is neither."""
    pair = (metric, name, against)
    rows = [each for each in study.comparisons if (each.metric, each.level, each.against) == pair]
    ways = {verdict: [each for each in rows if each.verdict == verdict] for verdict in ("higher", "lower")}
    parts = (_one_way(study, metric, verdict, here, len(rows)) for verdict, here in ways.items() if here)
    return "; ".join(parts)


def _one_way(study: Study, metric: Metric, verdict: str, here: Sequence[Comparison], of_all: int) -> str:
    amount = _amount(metric, [abs(each.difference[0]) for each in here])
    where = ""
    if len(here) < of_all:
        where = f" {_where(study, [each.others for each in here])}"
    elif of_all > 1:
        where = f" {_all_settings(study)}"
    name, against = (name_of(study, each) for each in (here[0].level, here[0].against))
    return f"{metric.label} is {amount} {verdict} with {name} than with {against}{where}"
