"""The answer as sentences, computed from the paired comparisons, and the caveats."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from manetlab.campaign.comparison import NOT_COMPARABLE
from manetlab.campaign.survivors import ARRIVED, FEWER, means_if_less
from manetlab.cautions import of_points
from manetlab.metrics import Metric, by_key
from manetlab.report import networks
from manetlab.report.outcomes import capital, confidence, for_looks
from manetlab.report.quantities import listed, number, p_value, percent, span, with_unit
from manetlab.report.study import Comparison, Levels, Standing, Study
from manetlab.scenario_warnings import about_rates, different_settings, saturation
from manetlab.topology import Note

LEAST_REPLICATIONS = 10
"""Fewer are mentioned: the intervals are wide and rely on the values being normally distributed."""
OBSERVED = {"tcp_delivered_bytes": "TCP progress", "cbr_received": "CBR arrivals"}
"""Columns of the time series from which the end of the transient is estimated."""
LEAST_INSTANTS = 50
"""Fewest values of a time series that MSER-5 takes."""
MOST_FIGURES = 12
"""Most settings of which a warning names the figure."""
MOST_TOLD = 4
"""With more settings a sentence gives only the range."""


def answer(study: Study) -> list[str]:
    """The answer to the campaign's question: the verdict in one sentence, then what it rests on."""
    if study.compared is None:
        return [_state(study, metric) for metric in study.wanted]
    if not study.primary:
        return ["No measure that the campaign asks for has a value in any run: there is nothing to compare."]
    if study.standings:
        sure = [_how_sure(study), *_about_given_up(study)]
        return [_verdict_on_best(study), *_about_best(study), *sure]
    pairs = dict.fromkeys((each.metric, each.level, each.against) for each in study.comparisons)
    sentences = [_compare(study, *pair) for pair in pairs] or [_nothing_in_common(study)]
    if len(pairs) > 1:
        sentences.insert(0, _verdict_on_pairs(study))
    if len(study.comparisons) > 1:
        sentences.append(_how_sure(study))
    return sentences


def _how_sure(study: Study) -> str:
    assert study.family is not None
    return (
        f"Family-wise confidence {confidence(study)} over {study.family.size} comparisons{for_looks(study)} "
        "(paired t tests, Bonferroni)."
    )


def _about_given_up(study: Study) -> list[str]:
    """Which alternatives elimination gave up, after how many replications, and what is claimed of them."""
    results = study.results
    if results.looks is None:
        return []
    full = study.campaign.point_count * results.replications
    spared = f"{full - results.planned} of {full} runs were not needed"
    named = dict.fromkeys((each.others, each.level, each.after) for each in study.given_up)
    if not named:
        return [f"No alternative was given up before the end: {spared}."]
    if len(named) > MOST_TOLD:
        after = sorted({each.after for each in study.given_up})
        told = f"{len(named)} alternatives" if len(study.settings) == 1 else f"{len(named)} of the points"
        settings = f" at {len({each.others for each in study.given_up})} settings" if study.others else ""
        return [
            f"{told} were given up{settings}, after {listed([str(n) for n in after], 'or')} replications; "
            f"the table of those given up has how much worse they are at least. {capital(spared)}."
        ]
    return [f"{_given_up_in_words(study, *place)}." for place in named] + [f"{capital(spared)}."]


def _given_up_in_words(study: Study, others: Levels, name: str, after: int) -> str:
    """One alternative that was given up at a setting, with what is claimed of it in each measure."""
    rows = [each for each in study.given_up if (each.others, each.level) == (others, name)]
    claims = [
        f"{each.metric.label} worse than with {study.named(each.than)} by "
        f"{with_unit(number(each.at_least, each.metric), each.metric.of_differences)} or more"
        for each in rows
        if each.than
    ]
    where = f" at {study.in_words(others)}" if others else ""
    claimed = f" ({listed(claims)})" if claims else ""
    return f"Given up{where} after {after} replications: {study.named(name)}{claimed}"


def _nothing_in_common(study: Study) -> str:
    assert study.compared is not None
    return f"The levels of {study.compared.label} have no replication in common and cannot be compared."


def _verdict_on_best(study: Study) -> str:
    """Which alternatives can be the best, over all primary measures and settings."""
    assert study.compared is not None
    # Where fewer than two alternatives can be compared, the place decides nothing.
    compared = [each for each in study.standings if each.is_compared]
    cells = list(dict.fromkeys((each.metric, each.others) for each in compared))
    left = [
        study.named(name)
        for name in study.compared.levels
        if (
            of := [
                each for each in study.standings if (each.metric, each.others) in cells and each.level == name
            ]
        )
        and len(of) == len(cells)
        and all(each.can_be_best for each in of)
    ]
    if not cells:
        return f"No {study.compared.label} can be compared with another by these measures."
    where = _by_what(study, cells)
    if not left:
        return f"No {study.compared.label} is the best {where}."
    sole = all(
        each.verdict.startswith("best") == (study.named(each.level) == left[0])
        for each in study.standings
        if (each.metric, each.others) in cells
    )
    if len(left) == 1:
        if sole:
            return f"The best {study.compared.label} {where} is {left[0]}."
        return f"{left[0]} may be the best {study.compared.label} {where}; these runs cannot confirm it."
    return f"No single best {study.compared.label} {where}: {listed(left)} are not distinguishable."


def _by_what(study: Study, cells: Sequence[tuple[Metric, Levels]]) -> str:
    """Of which measures and settings a verdict speaks that rests on these."""
    measures = list(dict.fromkeys(metric for metric, _ in cells))
    settings = len(study.settings)
    if len(cells) == len(study.primary) * settings:
        return _everywhere(len(measures), settings)
    if len(cells) == len(measures) * settings:
        told = listed([metric.label for metric in measures])
        of_settings = f" and {_all(settings)} settings" if settings > 1 else ""
        are = "measure" if len(measures) == 1 else "measures"
        return f"in {told}{of_settings} (the only primary {are} by which alternatives can be compared)"
    total = len(study.primary) * settings
    return f"in the {len(cells)} of {total} combinations of measure and setting that can be compared"


def _everywhere(measures: int, settings: int) -> str:
    parts = [f"{_all(measures)} primary measures"] if measures > 1 else []
    parts += [f"{_all(settings)} settings"] if settings > 1 else []
    return f"in {listed(parts)}" if parts else "by the primary measure"


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {count}"


def _about_best(study: Study) -> list[str]:
    """For each primary measure, the best alternative and those that cannot be told from it."""
    by_metric = {
        metric: [each for each in study.standings if each.metric == metric] for metric in study.primary
    }
    return [
        f"{capital(metric.label)}: {_best_in_words(study, of)}." for metric, of in by_metric.items() if of
    ]


def _best_in_words(study: Study, standings: list[Standing]) -> str:
    settings = list(dict.fromkeys(each.others for each in standings))
    outcomes: dict[str, list[Levels]] = {}
    for others in settings:
        here = [each for each in standings if each.others == others]
        outcomes.setdefault(_best_at(study, here), []).append(others)
    if len(outcomes) == 1:
        return next(iter(outcomes))
    return "; ".join(
        f"{text} in {len(at)} of {len(settings)} settings"
        + (f" ({'; '.join(study.in_words(each) for each in at)})" if len(at) <= MOST_TOLD // 2 else "")
        for text, at in sorted(outcomes.items(), key=lambda item: -len(item[1]))
    )


def _best_at(study: Study, standings: list[Standing]) -> str:
    """The best at one setting, and what cannot be told from it."""
    fewer = [study.named(each.level) for each in standings if each.verdict == FEWER]
    incomparable = [study.named(each.level) for each in standings if each.verdict == NOT_COMPARABLE]
    compared = [each for each in standings if each.is_compared]
    sentence = _best_of(study, compared) if compared else ""
    if fewer and len(incomparable) == 1:
        sentence, incomparable = f"only {incomparable[0]} can be judged", []
    none = (
        f"{listed(incomparable)} {'has' if len(incomparable) == 1 else 'have'} none to compare"
        if incomparable
        else ""
    )
    less = (
        f"{listed(fewer)} {'delivers' if len(fewer) == 1 else 'deliver'} significantly less and "
        f"{'is' if len(fewer) == 1 else 'are'} not compared"
        if fewer
        else ""
    )
    best = " and ".join(part for part in (sentence, none) if part)
    return "; ".join(part for part in (best, less) if part)


def _best_of(study: Study, here: list[Standing]) -> str:
    """The best of those that can be compared, and what cannot be told from it."""
    possible = [each for each in here if each.can_be_best]
    # The leader is the one whose mean differs to the good from the best of the others.
    leader = max(
        possible, key=lambda each: each.difference[0] * (1 if each.metric.better == "higher" else -1)
    )
    if leader.verdict == "best":
        return f"{study.named(leader.level)} is the best"
    as_good = "practically as good"
    rest = [
        f"{study.named(each.level)}{f' ({as_good})' if each.verdict.endswith(as_good) else ''}"
        for each in possible
        if each is not leader
    ]
    if len(possible) == len(here):
        return f"{study.named(leader.level)} has the best mean; no difference from it is significant"
    return f"{study.named(leader.level)} leads, not distinguishable from {listed(rest)}"


def _verdict_on_pairs(study: Study) -> str:
    """How many comparisons are significant, and which."""
    significant = [each for each in study.comparisons if each.verdict.startswith(("higher", "lower"))]
    if not significant:
        apart = sum(each.verdict in (NOT_COMPARABLE, FEWER) for each in study.comparisons)
        compared = len(study.comparisons) - apart
        if not compared:
            return f"None of the {apart} comparisons can be made."
        rest = f"; {apart} cannot be made" if apart else ""
        return f"No significant difference in any of the {compared} comparisons{rest}."
    findings = dict.fromkeys(
        f"{each.level} {each.verdict.partition(',')[0]} than {each.against} in {each.metric.label}"
        for each in significant
    )
    told = "; ".join(findings) if len(findings) <= MOST_TOLD else "see below"
    return f"{len(significant)} of {len(study.comparisons)} comparisons are significant: {told}."


def _state(study: Study, metric: Metric) -> str:
    """The mean of a metric, where nothing is compared."""
    estimate = study.estimates[next(key for key in study.estimates if key[1] == metric.key)]
    ends = with_unit(span(estimate.low, estimate.high, metric), metric)
    mean = with_unit(number(estimate.mean, metric), metric)
    adjusted = ""
    if estimate.draws:
        value = with_unit(number(estimate.adjusted_mean, metric), metric)
        around = with_unit(span(estimate.adjusted_low, estimate.adjusted_high, metric), metric)
        adjusted = f"; adjusted for the movement {value} ({around}), gain {estimate.gain:.1f}"
    return (
        f"{capital(metric.label)} {_is(metric)} {mean} on average ({confidence(study)} interval {ends}, "
        f"n = {estimate.n}{adjusted})."
    )


def _compare(study: Study, metric: Metric, name: str, against: str) -> str:
    """One pair of levels: where the metric is higher, lower, or not significantly different."""
    comparisons = [
        each
        for each in study.comparisons
        if (each.metric, each.level, each.against) == (metric, name, against)
    ]
    if len(comparisons) == 1 and comparisons[0].verdict in (NOT_COMPARABLE, FEWER):
        return f"{_claim(study, comparisons[0])}."
    if len(comparisons) == 1:
        return f"{_claim(study, comparisons[0])} ({_evidence(study, comparisons[0])})."
    sentences = []
    for verdict in dict.fromkeys(each.verdict for each in sorted(comparisons, key=_rank)):
        same_verdict = [each for each in comparisons if each.verdict == verdict]
        if same_verdict:
            where = _extent(verdict, len(same_verdict), len(comparisons))
            sentences.append(f"{_claim(study, same_verdict[0])} in {where}: {_where(study, same_verdict)}.")
    return " ".join(sentences)


def _rank(each: Comparison) -> int:
    order = ("higher", "lower", "practically the same", "not significant", "equal", FEWER, NOT_COMPARABLE)
    return order.index(each.verdict.partition(",")[0])


def _extent(verdict: str, those: int, of_all: int) -> str:
    """In how many settings a verdict holds, in words that suit it."""
    if those < of_all:
        return f"{those} of {of_all} settings"
    if verdict == "not significant":
        return "either of the two settings" if of_all == 2 else f"any of the {of_all} settings"
    return f"{_all(of_all)} settings"


def _claim(study: Study, each: Comparison) -> str:
    """The verdict as a sentence, without the settings where it holds."""
    subject, this, that = each.metric.label, study.named(each.level), study.named(each.against)
    verdict, _, same = each.verdict.partition(", ")
    match verdict:
        case "higher" | "lower":
            but = " but practically the same" if same else ""
            return f"{capital(subject)} {_is(each.metric)} {verdict} with {this} than with {that}{but}"
        case "equal":
            return f"{capital(subject)} {_is(each.metric)} the same with {this} and {that} in every pair"
        case "not comparable":
            none = that if each.difference[0] > 0 else this
            return (
                f"{capital(subject)} {_is(each.metric)} not comparable between {this} and {that}: {none} has "
                "none, and what it costs is in frames and bytes per delivered packet and byte"
            )
        case "less arrives":
            good = this if (each.difference[0] > 0) == (each.metric.better == "higher") else that
            return (
                f"{capital(subject)} {_is(each.metric)} not comparable between {this} and {that}: it is "
                f"known of what arrives only, and significantly less arrives with {good}"
            )
        case "practically the same":
            return f"{capital(subject)} {_is(each.metric)} practically the same with {this} and {that}"
    return f"No significant difference in {subject} between {this} and {that}"


def _is(metric: Metric) -> str:
    """The verb after a metric's name: one of its first two words may be a plural."""
    plural = any(word.endswith("s") and not word.endswith("ss") for word in metric.label.split()[:2])
    return "are" if plural else "is"


def _where(study: Study, comparisons: list[Comparison]) -> str:
    """The settings, each with its difference; for many settings, the range of the differences."""
    metric = comparisons[0].metric
    if comparisons[0].verdict in ("equal", FEWER, NOT_COMPARABLE):
        settings = [study.in_words(each.others) for each in comparisons]
        return "; ".join(settings) if len(settings) <= MOST_TOLD else "see the table of comparisons"
    if len(comparisons) > MOST_TOLD:
        means = sorted(each.difference[0] for each in comparisons)
        ends = with_unit(span(means[0], means[-1], metric, signed=True), metric.of_differences)
        return f"mean differences from {ends}; the table of comparisons lists them"
    return "; ".join(
        f"{with_unit(number(each.difference[0], metric, signed=True), metric.of_differences)} "
        f"({span(each.difference[1], each.difference[2], metric, signed=True)}) at "
        f"{study.in_words(each.others)}"
        for each in comparisons
    )


def _evidence(study: Study, each: Comparison) -> str:
    metric = each.metric.of_differences
    ends = with_unit(span(each.difference[1], each.difference[2], metric, signed=True), metric)
    relative = percent(each.ratio[0])
    # Of a percentage, a change in per cent could be taken for the difference.
    share = f", {relative}{' relative' if metric != each.metric else ''}" if relative != "–" else ""
    p = p_value(each.p_adjusted)
    p = p if p.startswith("<") else f"= {p}"
    step = with_unit(number(each.difference[0], metric, signed=True), metric)
    pairs = f"{each.n} pair{'s' if each.n != 1 else ''}"
    interval = f"{confidence(study)} interval {ends}"
    adjusted = "" if study.family is not None and study.family.size == 1 else " (adjusted)"
    return f"difference {step}{share}; {interval}; p {p}{adjusted}; {pairs}"


def tested(study: Study) -> list[str]:
    """What decides whether the question was tested at all: topology, saturation, settings that differ."""
    return [
        *_about_resolving(study),
        *about_survivors(study),
        *_about_missing_values(study),
        *_about_ranges(study),
        *(told for told in networks.about(study) if networks.deciding(study)),
        *of_points(list(study.resolved.values())),
        *_about_topologies(study),
        *networks.partitioned(study),
        # After what a network without paths explains.
        *_about_missing_measures(study),
        *_about_saturation(study),
        *_about_settings(study),
        *_about_flooded_data(study),
    ]


def in_short(warning: str) -> str:
    """What a warning says, without what that means and without brackets."""
    head = re.split(r"[;:] ", warning, maxsplit=1)[0]
    return f"{re.sub(r' [(][^)]*[)]', '', head).rstrip('.')}."


def _about_missing_measures(study: Study) -> list[str]:
    """Measures that were asked for and have no value in any run."""
    named = dict.fromkeys((*study.campaign.comparison.get("metrics", ()), *study.campaign.metrics))
    return [
        f"No run has a value of {by_key(key).label} ({key}): it takes no part in the comparison, and "
        "nothing is said of it."
        for key in named
        if key not in study.results.measured
    ]


def about_survivors(study: Study) -> list[str]:
    """Measures of what arrives, where significantly less arrives with an alternative that looks better.

    Measures of which the same is said share a sentence, so that what decides stays on the first screen.
    """
    of_same: dict[tuple[str, tuple[str, ...], int, str], list[str]] = {}
    for metric in study.primary if study.compared is not None else ():
        measured = (name for name in ARRIVED.get(metric.key, ()) if name in study.results.measured)
        if (arrived := next(measured, None)) is None:
            continue
        doubted: dict[str, int] = {}
        shares: dict[str, list[float]] = {}
        for others in study.settings:
            less = set()
            for name, against in _pairs_that_look_better(study, metric, others):
                ours, theirs = (study.values_at(others, each, arrived) for each in (name, against))
                if (means := means_if_less(ours, theirs)) is not None:
                    less.add(name)
                    for level, mean in zip((name, against), means, strict=True):
                        shares.setdefault(level, []).append(mean)
            for name in less:
                doubted[name] = doubted.get(name, 0) + 1
        if doubted:
            said = _what_arrived(study, by_key(arrived), shares)
            names = tuple(level for level in shares if level in doubted)
            of_same.setdefault((arrived, names, max(doubted.values()), said), []).append(metric.label)
    told = []
    for (_, names, count, said), labels in of_same.items():
        verb, pronoun = ("is", "it is") if len(labels) == 1 else ("are", "they are")
        where = f" (at {count} of {len(study.settings)} settings)" if len(study.settings) > 1 else ""
        told.append(
            f"{capital(listed(labels))} {verb} known of what arrives only: {said}{where}. That {pronoun} "
            f"better with {listed([study.named(name) for name in names], 'or')} is no finding."
        )
    return told


def _what_arrived(study: Study, arrived: Metric, shares: Mapping[str, Sequence[float]]) -> str:
    """How much arrives with each alternative on average over the settings, most first."""
    means = {name: math.fsum(of) / len(of) for name, of in shares.items()}
    ordered = sorted(means, key=lambda name: -means[name])
    listing = [
        f"{with_unit(number(means[name], arrived), arrived)} with {study.named(name)}" for name in ordered
    ]
    return f"{arrived.label} is {listed(listing)}"


def _pairs_that_look_better(study: Study, metric: Metric, others: Levels) -> list[tuple[str, str]]:
    """The pairs of alternatives of which the mean of the first is better."""
    assert study.compared is not None
    means = {}
    for name in study.compared.levels:
        point = study.point_at(others, name)
        found = None if point is None else study.estimates.get((point.number, metric.key))
        if found is not None:
            means[name] = found.mean if metric.better == "higher" else -found.mean
    return [(a, b) for a in means for b in means if means[a] > means[b]]


def _about_missing_values(study: Study) -> list[str]:
    """Runs without a value of a measure that is compared: their pairs are missing."""
    if study.compared is None:
        return []
    told = []
    for metric in study.primary:
        without = study.runs[study.runs[metric.key].isna()]
        if without.empty:
            continue
        counts = without.groupby(study.compared.key).size()
        named = [
            f"{counts[name]} with {study.named(name)}" for name in study.compared.levels if name in counts
        ]
        pairs = f"{len(without)} of {len(study.runs)} runs"
        told.append(
            f"{capital(metric.label)} has no value in {pairs} ({listed(named)}): their pairs are left out "
            "of the comparison."
        )
    return told


def _about_resolving(study: Study) -> list[str]:
    error = study.unresolved
    if error is None:
        return []
    return [
        "Networks and parameters of these runs are neither checked nor described: "
        f"{error.what} ({error.found}; wanted: {error.wanted})."
    ]


def _about_ranges(study: Study) -> list[str]:
    """Warnings about ranges and rates: each once, with the points that have it."""
    found: dict[str, int] = {}
    for resolved in study.resolved.values():
        for warning in about_rates(resolved):
            found[warning] = found.get(warning, 0) + 1
    return [f"{capital(each)} ({count} of {len(study.points)} points)." for each, count in found.items()]


def _about_saturation(study: Study) -> list[str]:
    """Points at which full queues drop much of the CBR traffic; the worst is reported."""
    full = study.drops[
        (study.drops["layer"] == "interface-queue")
        & (study.drops["reason"] == "queue-full")
        & (study.drops["packets"] == "cbr")
    ]
    if "cbr_sent" not in study.runs:
        return []
    lost = full.groupby("point")["count"].sum()
    sent = study.runs.groupby("point")["cbr_sent"].sum()
    shares = {
        point: (float(lost.get(point, 0.0)), float(total)) for point, total in sent.items() if total > 0
    }
    saturated = {point: of for point, of in shares.items() if saturation(*of) is not None}
    if not saturated:
        return []
    worst = max(saturated.values(), key=lambda of: of[0] / of[1])
    named = [
        f"{100 * of[0] / of[1]:.0f} % at {study.point_in_words(point)}"
        for point in study.points
        if (of := saturated.get(point.number)) is not None
    ]
    more = f"; and at {len(named) - MOST_FIGURES} more" if len(named) > MOST_FIGURES else ""
    listed_points = f"{len(named)} of {len(study.points)} points: {'; '.join(named[:MOST_FIGURES])}{more}"
    what = "the only point" if len(study.points) == 1 else listed_points
    return [f"{capital(saturation(*worst) or '')} ({what})."]


def _about_settings(study: Study) -> list[str]:
    """Settings that differ between the alternatives besides what is compared, at the first setting."""
    if study.compared is None or not study.resolved:
        return []
    first = [point for point in study.points if study.other_levels(point) == study.settings[0]]
    alternatives = {study.compared_level(point): study.resolved[point.number] for point in first}
    own = {path for of in study.campaign.levels.values() for each in of for path in each.fields}
    differences = different_settings(alternatives, study.compared.key, own)
    return [] if differences is None else [f"{capital(differences)}."]


def _about_flooded_data(study: Study) -> list[str]:
    """Alternatives without routing packets, where others send some: what they cost is in no routing load."""
    load, again = by_key("normalised_routing_load"), by_key("rebroadcasts_per_delivered_packet")
    if (
        study.compared is None
        or study.compared.key != "routing"
        or not {load.key, again.key} <= set(study.runs)
    ):
        return []
    means = study.runs.groupby(study.compared.key)[[load.key, again.key]].mean()
    silent = [name for name in study.compared.levels if name in means.index and means[load.key][name] == 0.0]
    if not silent or not (means[load.key] > 0.0).any():
        return []
    named = [f"{study.named(name)} ({number(means[again.key][name], again)})" for name in silent]
    return [
        f"{capital(listed(named))} {'sends' if len(silent) == 1 else 'send'} no routing packets; in brackets "
        "is how often other nodes broadcast data again for each packet that arrives. Routing load does not "
        "count that; frames and bytes per delivered packet and byte do."
    ]


def cautions(study: Study) -> list[str]:
    """Caveats: what makes the results less certain than they look."""
    return [
        *_about_question(study),
        *_about_runs(study),
        *_about_code(study),
        *_about_scenarios(study),
        *_about_warmup(study),
        *_about_values(study),
    ]


def _about_question(study: Study) -> list[str]:
    if study.is_as_declared:
        return []
    return [
        "This comparison was requested for the report; the campaign states another one. Treat it as "
        "exploratory."
    ]


def _about_runs(study: Study) -> list[str]:
    cautions = []
    counts = (
        study.runs.groupby("point").size().reindex([point.number for point in study.points], fill_value=0)
    )
    if (least := int(counts.min())) < LEAST_REPLICATIONS:
        few = int((counts < LEAST_REPLICATIONS).sum())
        cautions.append(
            f"{few} of {len(counts)} points have fewer than {LEAST_REPLICATIONS} replications (minimum: "
            f"{least}). Their intervals are wide and rely on the values being normally distributed."
        )
    if failed := len(study.failed):
        cautions.append(
            f"{failed} of {failed + len(study.runs)} runs failed and are missing from all values. If "
            "failure depends on what is measured, the means are biased. Each is listed below with the "
            "command that repeats it."
        )
    return [*cautions, *unfinished(study)]


def unfinished(study: Study) -> list[str]:
    """That runs are missing, if some are."""
    if missing := study.results.missing:
        return [f"{missing} planned runs have not been made yet: the campaign is not finished."]
    return []


def _about_code(study: Study) -> list[str]:
    codes = list(study.results.provenance_in_short["code"])
    cautions = []
    if len(codes) > 1:
        cautions.append(f"The runs were made with {len(codes)} versions of the code: {listed(codes)}.")
    if any("dirty" in code for code in codes):
        cautions.append(
            "Some runs were made with uncommitted changes to the code: others cannot reproduce them."
        )
    return cautions


def _about_scenarios(study: Study) -> list[str]:
    scenarios = list(study.scenarios.values())
    cautions = networks.about(study)
    if any(scenario.warmup_s == 0.0 for scenario in scenarios):
        cautions.append("There is no warm-up: the values include the first route discoveries.")
    return cautions


def _about_topologies(study: Study) -> list[str]:
    """Warnings about the movement: each kind once, as it is at the first point that has it."""
    kinds: dict[str, dict[int, str]] = {}
    for place, report in study.topologies.items():
        for warning in report.warnings:
            kinds.setdefault(re.sub(r"[\d.]+", "#", warning), {})[place] = warning
    return [_of_points(study, warnings) for warnings in kinds.values()]


def _of_points(study: Study, warnings: Mapping[int, str]) -> str:
    """A warning with the points that have it, each with its own figure if they differ."""
    told = next(iter(warnings.values()))
    kind = Note if isinstance(told, Note) else str
    by_setting: dict[Levels, str] = {}
    for point in study.points:
        if point.number in warnings:
            by_setting.setdefault(
                study.other_levels(point), re.findall(r"[\d.]+ ?%?", warnings[point.number])[0]
            )
    of_all = len(study.settings)
    text = capital(told)
    if len(set(by_setting.values())) == 1 and len(by_setting) == of_all:
        return kind(f"{text} (first replication).")
    figures = [f"{figure.strip()} at {study.in_words(others)}" for others, figure in by_setting.items()]
    more = f"; and at {len(figures) - MOST_FIGURES} more" if len(figures) > MOST_FIGURES else ""
    return kind(
        f"{text} ({len(by_setting)} of {of_all} settings, first replication: "
        f"{'; '.join(figures[:MOST_FIGURES])}{more})."
    )


def _about_warmup(study: Study) -> list[str]:
    """What MSER-5 says about the warm-up, if the runs kept time series."""
    from manetlab.stats import warmup_warning

    if "totals" not in study.results.series_names:
        return []
    series = study.results.series("totals")
    cautions = []
    for point in study.points:
        at = series[series["point"] == point.number]
        for column, what in OBSERVED.items():
            # Averaged over the replications, instant by instant, as noise hides a transient.
            averaged = at.groupby("time_s")[column].mean()
            if len(averaged) < LEAST_INSTANTS or not averaged.any():
                continue
            step_s = float(averaged.index[1] - averaged.index[0])
            warning = warmup_warning(averaged.tolist(), step_s, study.scenarios[point.number].warmup_s)
            if warning is not None:
                where = f" at {study.point_in_words(point)}" if point.levels else ""
                cautions.append(f"{what}{where}: {warning}.")
    return cautions


def _about_values(study: Study) -> list[str]:
    from manetlab.stats import heavy_tail_warning

    cautions = []
    for metric in study.wanted:
        skewed = [
            point
            for point in study.points
            if (values := study.results.values_at(point.number, metric.key)[1]) and heavy_tail_warning(values)
        ]
        if skewed:
            where = "; ".join(study.point_in_words(point) or "the only point" for point in skewed)
            cautions.append(
                f"{capital(metric.label)} is skewed at {len(skewed)} of {len(study.points)} points "
                f"({where}): the interval of the mean needs more replications there. Also look at the "
                "median and the percentiles."
            )
    return cautions
