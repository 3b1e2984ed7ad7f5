"""Web sessions one by one, identical runs, and how often a sender retransmits where nothing arrives."""

from __future__ import annotations

import json
import math
from typing import Any

from manetlab.running import run
from manetlab.scenario import Scenario
from manetlab_papers.ledger import Data
from manetlab_papers.outcomes import Finding, Outcome, joined, stated
from manetlab_papers.quantities import Evaluator, TooFew, average, difference, levels_of, quantity
from manetlab_papers.rules import Rule, kind
from manetlab_papers.samples import Values


def by_session(evaluator: Evaluator, data: Data) -> list[Values]:
    """A measure of each session in every scenario, session by session."""
    flows = evaluator.runs.of_flows(data["runs"], data["measure"], levels_of(data), "web")
    return [list(each) for each in zip(*flows, strict=True)]


@kind("sessions")
def of_sessions(rule: Rule) -> Finding:
    """In `at_least` so many sessions the mean of `of` is below that of `against`.

    Cases of one name are a group, as several rivals are. A session may yet be among them unless it is not,
    with significance. With `gap` ours is followed by how far apart the means are on average, which must
    fall from the first group to the last.
    """
    counts: dict[str, list[tuple[bool, bool]]] = {}
    gaps: dict[str, float] = {}
    for case in rule.cases():
        sides = [by_session(rule.evaluator, side) for side in case.sides.values()]
        found = [_shorter(of, against) for of, against in zip(*sides, strict=True)]
        before = counts.get(case.name, [(True, True)] * len(found))
        counts[case.name] = [
            (is_so and was, may and might) for (is_so, may), (was, might) in zip(found, before, strict=True)
        ]
        apart = [_means(of, against) for of, against in zip(*sides, strict=True)]
        gaps[case.name] = sum(b - a for a, b in apart) / len(apart)
    held = min(sum(is_so for is_so, _ in each) for each in counts.values())
    possible = min(sum(may for _, may in each) for each in counts.values())
    text = joined(
        (name, f"{sum(is_so for is_so, _ in each)} of {len(each)}") for name, each in counts.items()
    )
    smaller = True
    if rule.data.get("gap"):
        *_, last = gaps.values()
        smaller = last < next(iter(gaps.values()))
        text += "; mean gap " + ", ".join(f"{gap:.3g} s with {name}" for name, gap in gaps.items())
    outcome = Outcome.CONTRADICTED if possible < rule.data["at_least"] else Outcome.INCONCLUSIVE
    if held >= rule.data["at_least"] and smaller:
        outcome = Outcome.REPRODUCED
    return stated(Finding(outcome, "", text))


def _both(of: Values, against: Values) -> list[tuple[float, float]]:
    """The values of the scenarios in which a session has both."""
    rows = zip(of, against, strict=True)
    return [row for row in rows if not any(map(math.isnan, row))]


def _means(of: Values, against: Values) -> tuple[float, float]:
    first, second = (list(each) for each in zip(*_both(of, against), strict=True))
    return average(first), average(second)


def _shorter(of: Values, against: Values) -> tuple[bool, bool]:
    """Whether the mean is below the other, and whether it may be."""
    first, second = _means(of, against)
    try:
        return first < second, difference(of, against).low <= 0
    except TooFew:
        return first < second, True


@quantity("faster sessions")
def faster(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """In how many sessions of each scenario the system `than` is slower."""
    both = (by_session(evaluator, each) for each in (data, {**data, **arguments["than"]}))
    of, than = (list(zip(*each, strict=True)) for each in both)
    return [float(sum(a < b for a, b in zip(*row, strict=True))) for row in zip(of, than, strict=True)]


@quantity("session")
def session(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """A measure of one Web session (`session`, counted from 1) in every scenario."""
    return by_session(evaluator, data)[arguments["session"] - 1]


@quantity("less in scenarios")
def less(evaluator: Evaluator, data: Data, arguments: Data) -> Values:
    """Of every scenario 1 if it has less than another quantity (`than`), 0 if not."""
    both = (evaluator.values(each) for each in (data, {**data, **arguments["than"]}))
    return [float(of < than) for of, than in zip(*both, strict=True)]


@kind("identical")
def identical(rule: Rule) -> Finding:
    """All values of `of` and `against` are the same, bit by bit."""
    same, count = 0, 0
    for case in rule.cases():
        for first, second in zip(*rule.values(case).values(), strict=True):
            same, count = same + (first == second), count + 1
    outcome = Outcome.REPRODUCED if same == count else Outcome.CONTRADICTED
    return stated(Finding(outcome, "", f"{same} of {count} {rule.data['what']} are identical"))


FAR_M, LONG_S = 1e5, 1000.0
"""A distance that no radio spans, and a time in which every policy times out often enough, in m and s."""


def send_times_s(policy: Data) -> list[float]:
    """When a sender sends its first segment, again and again, to a node that nothing reaches."""
    flow = {"kind": "tcp", "src": 0, "dst": 1, "start_s": 0.0}
    fields: dict[str, Any] = {
        "movement": {"positions": [[0.0, 0.0], [FAR_M, 0.0]]},
        "traffic": {"flows": [flow]},
    }
    fields |= {"routing": "static", "duration_s": LONG_S, "tcp": dict(policy)}
    result = run(Scenario.build(fields), record=True)
    assert result.recording is not None
    events = (json.loads(line) for line in result.recording.splitlines()[1:])
    return [event["t"] for event in events if event["event"] == "made"]


@quantity("saved retransmissions")
def saved_percent(_evaluator: Evaluator, _data: Data, arguments: Data) -> float:
    """By how much an RTO with `growth` lowers the rate of retransmissions over some `timeouts`."""
    fixed = send_times_s({"rto_policy": "fixed"})
    grown = send_times_s({"rto_policy": "growth", "rto_growth": arguments["growth"]})
    last = int(arguments["timeouts"]) + 1
    # The first timeout comes after the initial RTO, which both have.
    return 100 * (1 - (fixed[last] - fixed[1]) / (grown[last] - grown[1]))
