"""Which routing protocol to take in a field: candidates race until the best is known, or a budget ends.

`advise` answers what the table ``[advise]`` of a scenario's file asks, and then looks at what would change
the answer. docs/advise.md describes it.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import file_kinds, metrics
from manetlab.campaign.plan import Campaign
from manetlab.errors import InputError, RunFailed, shown
from manetlab.factors import Factor
from manetlab.load_capacity import limit_of
from manetlab.parameters import unknown
from manetlab.report.priority import Choice, choices, order
from manetlab.report.study import Study
from manetlab.stats.borders import Limit

if TYPE_CHECKING:
    from manetlab.campaign.execution import Report
    from manetlab.campaign.results import Results

CANDIDATES = (
    *("aodv", "dsr", "dsdv", "olsr", "olsr:olsrd-mobile", "babel:babeld", "batman", "lunar", "flooding"),
)
"""Protocols that find routes by themselves and are not made for one transport."""
QUESTION = "Which routing protocol should this network use?"
LOOKS = (10, 20, 40, 80, 160, 320)
"""Replications of the candidates that are left, look by look."""
MOST_UNSURE = 3
UNSURE_RUNS = 10
"""Replications of an input's value with each of the alternatives that it could favour."""
MOST_RIVALS = 3
MARGIN, MARGIN_OF_OTHERS = 0.02, "5 %"
"""Shares that differ by less, and other measures that differ by less than this share of the other's, are
practically the same."""
MEASURES = (
    ("voice", ("voice_satisfied_fraction", "voice_lost_fraction")),
    ("cbr", ("cbr_delivery_fraction", "cbr_latency_mean_s")),
    ("message", ("message_delivery_fraction", "message_latency_mean_s")),
    ("tcp", ("tcp_throughput_bps",)),
    ("web", ("web_sessions_finished",)),
)
"""What is asked of a field by the first kind of its traffic that is here, where its file does not say it."""
KEYS = ("measures", "limits", "candidates", "confidence", "margin", "most", "runs", "minutes", "unsure")


@dataclass(frozen=True)
class Asked:
    """What a field's file asks.

    Attributes:
        measures: The measures that decide, the first first.
        limits: What must hold, by measure.
        candidates: The routing protocols, with or without a parameter set.
        confidence: Of the answer.
        margin: Below which difference in the first measure alternatives are practically the same: a number,
            or a share of the other's such as ``5 %``.
        most: Most replications of a candidate.
        runs: After how many runs the race ends.
        minutes: After how many minutes; none: that does not matter.
        unsure: The inputs that are least certain, each with other values that it may have.
    """

    measures: tuple[str, ...]
    limits: Mapping[str, Limit]
    candidates: tuple[str, ...]
    unsure: Mapping[str, Sequence[Any]]
    confidence: float = 0.95
    margin: float | str = MARGIN
    most: int = 80
    runs: int = 1000
    minutes: float | None = None

    @property
    def looks(self) -> list[int]:
        """After how many replications the candidates are looked at."""
        return [*(each for each in LOOKS if each < self.most), self.most]

    @property
    def confidence_of_look(self) -> float:
        """With what confidence each look's comparisons are made, so that all hold together (Bonferroni)."""
        return 1.0 - (1.0 - self.confidence) / len(self.looks)


@dataclass(frozen=True)
class Influence:
    """What an input's other value makes of the answer.

    Attributes:
        key: The field of the scenario, dotted.
        setting: The value in words.
        choice: What is left with it.
        stays: Whether that is what is left with the field as it is, or a part of it.
    """

    key: str
    setting: str
    choice: Choice
    stays: bool


@dataclass(frozen=True)
class Advice:
    """The answer.

    Attributes:
        asked: What was asked.
        study: The race as a campaign's results.
        choice: What is left.
        runs: How many runs it took.
        ended: Why no more were made: ``known``, ``practically the same``, ``most`` or ``budget``.
        limits: By measure with a limit and by candidate whether it ``holds``, ``fails``, is ``open`` or
            has ``no value``, such as a delay where nothing arrives.
        influences: What the least certain inputs would change.
        is_cut: Whether the budget left no runs for other values of these inputs.
    """

    asked: Asked
    study: Study
    choice: Choice
    runs: int
    ended: str
    limits: Mapping[str, Mapping[str, str]]
    influences: Sequence[Influence] = field(default_factory=tuple)
    is_cut: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The answer for JSON."""
        from manetlab.report import plain

        return {
            "question": self.study.campaign.question,
            "answer": [*plain.sentences(self.study), *self.limit_sentences()],
            "best": list(self.choice.left),
            "decided_by": [metric.key for metric, _ in self.choice.steps],
            "ended": self.ended,
            "runs": self.runs,
            "confidence": self.asked.confidence,
            "limits": {key: of[self.choice.left[0]] for key, of in self.limits.items()},
            "limits_by_candidate": {key: dict(of) for key, of in self.limits.items()},
            "caveats": self.caveats(),
            "influences": [
                {
                    "key": each.key,
                    "setting": each.setting,
                    "best": list(each.choice.left),
                    "stays": each.stays,
                }
                for each in self.influences
            ],
            "what_would_change_it": self.what_if(),
        }

    def limit_sentences(self) -> list[str]:
        """Whether what must hold does, in sentences."""
        return [self._of_limit(key, _in_words(key, limit)) for key, limit in self.asked.limits.items()]

    def _of_limit(self, key: str, limit: str) -> str:
        from manetlab.report.plain import name_of
        from manetlab.report.quantities import listed

        of, best = self.limits[key], self.choice.left[0]
        if {*of.values()} == {"holds"}:
            return f"All {len(of)} candidates keep to the limit: {limit}."
        if of[best] == "fails" and {*of.values()} <= {"fails", "no value"}:
            return f"None of the {len(of)} candidates keeps to the limit: {limit}."
        told = {
            "holds": "keeps to",
            "fails": "does not keep to",
            "open": "may or may not keep to",
            "no value": "has no value to compare with",
        }
        said = f"{name_of(self.study, best)} {told[of[best]]} the limit: {limit}"
        others = [name_of(self.study, name) for name in of if of[name] == "holds"]
        if of[best] == "holds" or not others:
            return f"{said}."
        return f"{said}; {listed(others)} {'does' if len(others) == 1 else 'do'}."

    def caveats(self) -> list[str]:
        """What makes the answer less sure, the gravest first."""
        from manetlab.report import brief, conclusions

        # That those which were beaten early have fewer runs is what a race is.
        left_out = conclusions.unfinished(self.study)
        return [each for each in brief.caveats(self.study) if each not in left_out]

    def why_ended(self) -> str:
        """Why no more runs were made, in a sentence."""
        left = len(self.choice.left)
        is_least = self.runs == len(self.asked.candidates) * LOOKS[0]
        # The next measures may have decided among several that the first had left.
        several = f", with {left} left" if left > 1 else ""
        fewest = ", the fewest that can be compared" if is_least else ""
        return {
            "known": f"{self.runs} runs were enough to know it.",
            "practically the same": f"After {self.runs} runs, those left are practically the same.",
            "most": f"{left} were left after {self.asked.most} replications each ({self.runs} runs).",
            "budget": f"The budget ended after {self.runs} runs{fewest}{several}.",
        }[self.ended]

    def what_if(self) -> list[str]:
        """What the least certain inputs would change, a sentence each."""
        from manetlab.report.plain import name_of
        from manetlab.report.quantities import listed

        if self.is_cut:
            return ["The budget left no runs for other values of the least certain inputs."]
        by_key: dict[str, list[Influence]] = {}
        for each in self.influences:
            by_key.setdefault(each.key, []).append(each)
        told = []
        for of in by_key.values():
            if all(each.stays for each in of):
                settings = listed([each.setting for each in of], "or")
                told.append(f"With {settings} the answer stays the same.")
                continue
            for each in of:
                names = listed([name_of(self.study, name) for name in each.choice.left])
                are = "is" if len(each.choice.left) == 1 else "are"
                what = "the answer stays the same" if each.stays else f"{names} {are} best"
                told.append(f"With {each.setting} {what}.")
        return told


def _in_words(key: str, limit: Limit) -> str:
    metric = metrics.by_key(key)
    sign = "at least" if limit.at_least else "at most"
    return f"{metric.label} {sign} {limit.threshold * metric.factor:g} {metric.unit}".rstrip()


def load(path: Path) -> tuple[Campaign, Asked]:
    """The race that a field's file asks for, and how it is to be run.

    Raises:
        InputError: The file cannot be read, or a key or value is not allowed.
    """
    from manetlab.files import parse_toml, read_bytes

    try:
        data = parse_toml(read_bytes(path, "field"))
    except ValueError as error:
        hint = "the line and column say where it stops being TOML"
        raise InputError("the file is not TOML", str(path), str(error), "a field in TOML", hint) from None
    return build(data, str(path), path.parent, path.stem)


def build(
    data: Mapping[str, Any], where: str = "field", folder: Path = Path(), name: str = "field"
) -> tuple[Campaign, Asked]:
    """As `load`, from a mapping with the keys of the file.

    Raises:
        InputError: A key or value is not allowed.
    """
    file_kinds.refuse_campaign(data, where, "a field: a scenario without routing")
    base = {key: value for key, value in data.items() if key not in ("question", "advise")}
    given = data.get("advise", {})
    if not isinstance(given, Mapping):
        raise InputError("not a table", f"{where}: advise", shown(given), "a table [advise]")
    for key in given:
        if key not in KEYS:
            raise unknown("key of [advise]", str(key), KEYS, f"{where}: advise")
    if "routing" in base:
        hint = 'candidates = ["aodv", "olsr"] in [advise] says among which to choose; leave it out for all'
        found, wanted = shown(base["routing"]), "a field without routing"
        raise InputError(
            "the routing protocol is what is asked for", f"{where}: routing", found, wanted, hint
        )
    candidates = _candidates(given.get("candidates", CANDIDATES), where)
    question = data.get("question", QUESTION)
    made = {"base": base, "factors": {"routing": list(candidates)}, "question": question, "name": name}
    campaign = Campaign.build(made, where, folder, name)
    asked = _asked(given, campaign, candidates, where)
    return _race(campaign, asked), asked


def _race(campaign: Campaign, asked: Asked) -> Campaign:
    comparison = {
        "factor": "routing",
        "kind": "best",
        "metrics": list(asked.measures),
        "confidence": asked.confidence_of_look,
        "margins": {asked.measures[0]: asked.margin},
    }
    return campaign.changed(comparison=comparison, metrics=list(asked.measures), replications=asked.looks[0])


def _candidates(given: object, where: str) -> tuple[str, ...]:
    wanted = "a list of two or more routing protocols"
    if not isinstance(given, Sequence) or isinstance(given, str) or len({*map(str, given)}) < 2:
        hint = "`manetlab list protocols` names them all"
        raise InputError(
            "there is nothing to choose", f"{where}: advise.candidates", shown(given), wanted, hint
        )
    return tuple(dict.fromkeys(map(str, given)))


def _asked(given: Mapping[str, Any], campaign: Campaign, candidates: tuple[str, ...], where: str) -> Asked:
    place = f"{where}: advise"
    limits = dict(limit_of(each, f"{place}.limits") for each in _listed(given, "limits", place))
    named = [metrics.named(str(each)) for each in _listed(given, "measures", place)]
    for key in named:
        if key not in metrics.MEASURES:
            raise unknown("measure", key, metrics.MEASURES, f"{place}.measures", "measures")
    stated = tuple(dict.fromkeys([*named, *limits])) or _usual_measures(campaign, place)
    measures = tuple(metric.key for metric in order([metrics.by_key(key) for key in stated]))
    if undirected := [key for key in measures if not metrics.better(key)]:
        wanted = "measures of which it is known which way is better"
        raise InputError("this measure has no best value", f"{place}.measures", undirected[0], wanted)
    is_share = metrics.by_key(measures[0]).values == "share"
    numbers: dict[str, Any] = {
        key: _number(given, key, place, low, high)
        for key, low, high in (
            ("confidence", 0.5, 0.999),
            ("most", LOOKS[0], 100_000),
            ("runs", 1, 10_000_000),
            ("minutes", 1e-3, 1e6),
        )
        if key in given
    }
    for key in ("most", "runs"):
        numbers |= {key: int(numbers[key])} if key in numbers else {}
    if (least := LOOKS[0] * len(candidates)) > numbers.get("runs", least):
        wanted = f"at least {least}: {LOOKS[0]} of each of the {len(candidates)} candidates"
        raise InputError("too few runs to compare anything", f"{place}.runs", str(numbers["runs"]), wanted)
    margin = given.get("margin", MARGIN if is_share else MARGIN_OF_OTHERS)
    unsure = _unsure(given["unsure"], place) if "unsure" in given else _usual_unsure(campaign.base)
    return Asked(measures, limits, candidates, unsure, margin=margin, **numbers)


def _listed(given: Mapping[str, Any], key: str, place: str) -> Sequence[Any]:
    value = given.get(key, ())
    if isinstance(value, str) or not isinstance(value, Sequence):
        example = {"limits": '["pdr >= 0.9"]', "measures": '["pdr", "delay"]'}[key]
        raise InputError(
            "the value is not allowed", f"{place}.{key}", shown(value), "a list of texts", example
        )
    return value


def _number(given: Mapping[str, Any], key: str, place: str, low: float, high: float) -> float:
    value = given[key]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high or (key in ("most", "runs") and value != int(value)):
        kind = "a whole number" if key in ("most", "runs") else "a number"
        wanted = f"{kind} from {low:g} to {high:g}"
        raise InputError("the value is not allowed", f"{place}.{key}", shown(value), wanted)
    return float(value)


def _usual_measures(campaign: Campaign, place: str) -> tuple[str, ...]:
    """What decides where the field does not say it: by the kinds of its flows, what arrives first."""
    resolved = campaign.scenario(0, 0).resolve()
    flows = [flow["kind"] for flow in resolved.flows]
    has_deadline = resolved.params["network"]["deadline_ms"] > 0.0 or any(
        flow.get("deadline_ms") for flow in resolved.flows
    )
    there = {*flows, *(["message"] if {*flows} & {"on-off", "poisson", "trace", "video", "adp"} else [])}
    if has_deadline and there - {"tcp", "web"}:
        return ("datagram_in_time_fraction",)
    for kind, measures in MEASURES:
        if kind in there:
            return measures
    hint = "traffic.random = { calls = 4 } are four calls; `manetlab docs scenarios` has all that there is"
    raise InputError("the field has no traffic", place, "no flow", "traffic", hint)


def _unsure(given: object, place: str) -> dict[str, Sequence[Any]]:
    example = 'unsure = { "movement.waypoint.speed_max" = [0.5, 3.0] }'
    if not isinstance(given, Mapping):
        raise InputError("not a table", f"{place}.unsure", shown(given), "fields with other values", example)
    if len(given) > MOST_UNSURE:
        wanted = f"at most {MOST_UNSURE}, the least certain"
        raise InputError("there are too many inputs", f"{place}.unsure", f"{len(given)}", wanted)
    for key, values in given.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            where = f"{place}.unsure.{key}"
            raise InputError(
                "not a list of values", where, shown(values), "other values it may have", example
            )
    return {str(key): list(values) for key, values in given.items()}


def _usual_unsure(base: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The load, the reach of the radio and the speed at half and twice, as far as the field states them."""
    found: dict[str, Sequence[Any]] = {}
    random = _at(base, "traffic.random")
    if isinstance(random, Mapping):
        for kind in ("calls", "cbr", "tcp", "video", "adp"):
            if isinstance(count := random.get(kind), int) and count > 0:
                found[f"traffic.random.{kind}"] = [each for each in (count // 2, 2 * count) if each > 0]
                break
    radio = _at(base, "radio") or {}
    if isinstance(radio, Mapping):
        if "range_m" in radio:
            found["radio.range_m"] = [round(0.8 * radio["range_m"], 1), round(1.25 * radio["range_m"], 1)]
        elif "path_loss_exponent" in radio:
            exponent = radio["path_loss_exponent"]
            found["radio.path_loss_exponent"] = [round(exponent - 0.2, 2), round(exponent + 0.2, 2)]
        else:
            margin_db = radio.get("link_margin_db", 0.0)
            found["radio.link_margin_db"] = [margin_db + 3.0, margin_db + 6.0]
    speed = _at(base, "movement.waypoint.speed_max")
    if isinstance(speed, int | float) and speed > 0.0:
        least = _at(base, "movement.waypoint.speed_min")
        slower = max(speed / 2, least) if isinstance(least, int | float) else speed / 2
        found["movement.waypoint.speed_max"] = [*([slower] if slower < speed else []), 2 * speed]
    return found


def _at(base: Mapping[str, Any], path: str) -> Any:
    """What is at a dotted path of nested tables; None if nothing is."""
    value: Any = base
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


Progress = Callable[["Report"], None]


def advise(
    campaign: Campaign,
    asked: Asked,
    *,
    store: Path,
    jobs: int | None = None,
    progress: Progress | None = None,
    allow_other_version: bool = False,
) -> Advice:
    """Runs the race, and what is asked of the least certain inputs.

    Args:
        campaign: The race, as `load` gives it.
        asked: How it is to be run.
        store: The file that keeps the runs, so that a race that was stopped continues; that of the inputs is
            beside it, with ``-unsure`` in its name.
        jobs: Runs at a time; by default the number of cores.
        progress: Called with a report now and then.
        allow_other_version: Use runs that another version or commit left in the store.

    Raises:
        InputError: A scenario is not allowed, or the first measure has no value in any run.
        RunFailed: A run failed.
    """
    options: dict[str, Any] = {"jobs": jobs, "progress": progress, "allow_other_version": allow_other_version}
    began = time.monotonic()
    results, study, runs, ended = _raced(campaign, asked, store, options)
    [choice] = choices(study)
    other = store.with_name(f"{store.stem}-unsure{store.suffix}")
    rivals = _rivals(study, choice, asked)
    more = len(rivals) * UNSURE_RUNS * sum(map(len, asked.unsure.values()))
    is_cut = more > 0 and _is_over(asked, runs, more, time.monotonic() - began)
    influences = () if is_cut else _influences(campaign, asked, rivals, choice, other, options)
    limits = {
        key: {name: _kept(results, study, name, key, limit) for name in asked.candidates}
        for key, limit in asked.limits.items()
    }
    return Advice(asked, study, choice, runs, ended, limits, tuple(influences), is_cut)


def _raced(
    campaign: Campaign, asked: Asked, store: Path, options: Mapping[str, Any]
) -> tuple[Results, Study, int, str]:
    """The results of the race, how many runs it took, and why it ended."""
    places = {str(point.levels["routing"]): point.number for point in campaign.points}
    left, runs, made, began = list(places), 0, 0, time.monotonic()
    found: tuple[Results, Study] | None = None
    for replications in asked.looks:
        more = len(left) * (replications - made)
        if found is not None and _is_over(asked, runs, more, time.monotonic() - began):
            return *found, runs, "budget"
        results = campaign.changed(replications=replications).run(
            store, points=[places[name] for name in left], **options
        )
        _check(results, asked)
        runs, made, found = runs + more, replications, (results, Study(results))
        left = _left_by_first(found[1], left)
        if len(left) == 1:
            return *found, runs, "known"
        if _are_same(found[1], asked, left):
            return *found, runs, "practically the same"
    assert found is not None
    return *found, runs, "most"


def _is_over(asked: Asked, runs: int, more: int, spent_s: float) -> bool:
    """Would so many more runs go beyond the budget?"""
    expected_s = spent_s * (1.0 + more / runs)
    return runs + more > asked.runs or (asked.minutes is not None and expected_s > 60.0 * asked.minutes)


def _check(results: Results, asked: Asked) -> None:
    for row in results.failed.to_dict("records"):
        where = f"{row['routing']}, replication {row['replication']}"
        raise RunFailed("a run failed", where, row["error"], hint=f"to repeat it: {row['command']}")
    if asked.measures[0] not in results.measured:
        hint = "is there traffic of its kind, and does any of it arrive? `manetlab scenario check` says more"
        found, wanted = "no value in any run", "a measure that the field's traffic has"
        raise InputError("nothing can be compared", asked.measures[0], found, wanted, hint)


def _left_by_first(study: Study, left: Sequence[str]) -> list[str]:
    """Those that no other is significantly better than in the first measure: it alone rules out for good.

    The next measures decide among what is left at the end, when the first has seen all that it will see.
    """
    first = next(metric for metric in order(study.primary) if metric.better)
    beaten = set()
    for each in study.comparisons:
        if each.metric == first and each.verdict in ("higher", "lower"):
            beaten.add(each.against if each.verdict == first.better else each.level)
    return [name for name in left if name not in beaten] or list(left)


def _are_same(study: Study, asked: Asked, left: Sequence[str]) -> bool:
    """Are those left practically the same in the first measure, each as every other?"""
    rows = [
        each
        for each in study.comparisons
        if each.metric.key == asked.measures[0] and {each.level, each.against} <= {*left}
    ]
    return bool(rows) and all(each.verdict.endswith(("practically the same", "equal")) for each in rows)


def _kept(results: Results, study: Study, name: str, key: str, limit: Limit) -> str:
    """Whether a limit holds with an alternative, by the interval of its mean."""
    runs = results.runs[results.runs["routing"].astype(str) == name]
    values = [float(value) for value in runs[key].dropna()] if key in runs else []
    if not values:
        return "no value"
    interval = limit.interval(values, study.campaign.comparison["confidence"])
    if interval.low >= limit.threshold:
        return "holds" if limit.at_least else "fails"
    if interval.high < limit.threshold or (interval.high <= limit.threshold and not limit.at_least):
        return "fails" if limit.at_least else "holds"
    return "open"


def _influences(
    campaign: Campaign,
    asked: Asked,
    rivals: Sequence[str],
    choice: Choice,
    store: Path,
    options: Mapping[str, Any],
) -> Iterator[Influence]:
    """The race of the best few once more, with each other value of the least certain inputs."""
    inputs = [
        (key, Factor.of(key, [value]).setting(_level(value)), value)
        for key, values in asked.unsure.items()
        for value in values
    ]
    if not inputs:
        return
    levels = [{"label": setting, "fields": {key: value}} for key, setting, value in inputs]
    again = campaign.changed(
        factors={"routing": list(rivals), "input": levels},
        replications=UNSURE_RUNS,
        comparison={**campaign.comparison, "confidence": asked.confidence},
    )
    results = again.run(store, **options)
    _check(results, asked)
    by_setting = {each.others: each for each in choices(Study(results))}
    for key, setting, _ in inputs:
        found = by_setting[(setting,)]
        yield Influence(key, setting, found, bool({*found.left} & {*choice.left}))


def _level(value: object) -> str:
    from manetlab.factors import level

    return level(value) if isinstance(value, str | int | float | bool) else json.dumps(value)


def _rivals(study: Study, choice: Choice, asked: Asked) -> list[str]:
    """What is left, and of the others those with the best means: what another input could favour."""
    metric = metrics.by_key(asked.measures[0])
    sign = -1.0 if metric.better == "higher" else 1.0
    means = {}
    for point in study.points:
        found = study.estimates.get((point.number, metric.key))
        means[study.compared_level(point)] = math.inf if found is None else sign * found.mean
    others = sorted((name for name in means if name not in choice.left), key=lambda name: means[name])
    return [*choice.left, *others][: max(MOST_RIVALS, 2)]
