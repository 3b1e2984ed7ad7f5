"""Each kind of rule, on both sides of its band, on values made for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from manetlab.stats import Interval, mean_interval, paired_ratio
from manetlab_papers import ledger, outcomes, quantities, record
from manetlab_papers.functions import load_all
from manetlab_papers.ledger import Claim, Ledger
from manetlab_papers.outcomes import Measured, Outcome
from manetlab_papers.quantities import Evaluator
from manetlab_papers.rules import Verdict, judge
from manetlab_papers.samples import Runs, Tables

REPRODUCED, CONTRADICTED, INCONCLUSIVE = Outcome.REPRODUCED, Outcome.CONTRADICTED, Outcome.INCONCLUSIVE
LEDGER = ledger.load()
load_all()


def about(mean: float, half_width: float = 0.5) -> Interval:
    return Interval(mean, half_width, 20)


def claim_of(rule: Mapping[str, Any], **fields: Any) -> Claim:
    """A claim with a rule and a band of its own."""
    return replace(LEDGER.claim("D1-04"), **{"lo": (3.0,), "hi": (9.0,), "at": (), **fields}, rule=rule)


def runs_of(values: Mapping[str, Sequence[float | None]]) -> Runs:
    """Runs of a campaign ``made`` with a factor ``system``, with a value of ``x`` of every scenario."""
    rows = [
        {"system": name, "replication": number, "x": value}
        for name, listed in values.items()
        for number, value in enumerate(listed)
    ]
    runs = Runs()
    runs.add("made", Tables({}, rows))
    return runs


def verdict(
    rule: Mapping[str, Any], values: Mapping[str, Sequence[float | None]], full: bool = True, **fields: Any
) -> Verdict:
    data = {"at": {"runs": "made", "measure": "x"}, **rule}
    known: Ledger = LEDGER
    return judge(claim_of(data, **fields), Evaluator(known, runs_of(values), full=full))


def outcome(rule: Mapping[str, Any], values: Mapping[str, Sequence[float | None]], **fields: Any) -> Outcome:
    return verdict(rule, values, **fields).outcome


# One interval.


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (about(5), REPRODUCED),
        (about(2.8), REPRODUCED),
        (about(2.4), CONTRADICTED),
        (about(9.6), CONTRADICTED),
        (about(6, 10), INCONCLUSIVE),
        (Interval(5, math.inf, 1), INCONCLUSIVE),
    ],
)
def test_an_interval_must_meet_the_band(interval: Interval, expected: Outcome) -> None:
    assert outcomes.level(interval, 3, 9).outcome is expected


def test_a_mean_that_must_lie_in_the_band_may_not_only_touch_it() -> None:
    assert outcomes.level(about(2.8), 3, 9, must_lie=True).outcome is INCONCLUSIVE
    assert outcomes.level(about(3.1), 3, 9, must_lie=True).outcome is REPRODUCED


def test_an_open_band_has_one_side() -> None:
    assert outcomes.level(about(1000), 3, math.inf).outcome is REPRODUCED
    assert outcomes.level(about(2), 3, math.inf).outcome is CONTRADICTED


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (about(8, 3), REPRODUCED),
        # The sign agrees, the size does not.
        (about(30, 3), CONTRADICTED),
        # The other sign, with significance.
        (about(-4, 3), CONTRADICTED),
        # The other sign, without: the interval meets the band, the mean speaks against it.
        (about(-1, 4), INCONCLUSIVE),
        # No change to be seen, and none as large as the least accepted.
        (about(0.5, 1), CONTRADICTED),
        (about(1, 1.5), REPRODUCED),
    ],
)
def test_a_change_needs_sign_and_size(interval: Interval, expected: Outcome) -> None:
    assert outcomes.change(interval, 2, 18, +1).outcome is expected
    turned = interval.scaled(-1)
    assert outcomes.change(turned, -18, -2, -1).outcome is expected


def test_a_free_sign_leaves_the_band() -> None:
    assert outcomes.change(about(-5, 1), -8, 8, 0).outcome is REPRODUCED
    assert outcomes.change(about(12, 1), -8, 8, 0).outcome is CONTRADICTED


@pytest.mark.parametrize(
    ("interval", "expected"),
    [(about(1), REPRODUCED), (about(6.3, 6.8), INCONCLUSIVE), (about(-1), CONTRADICTED)],
)
def test_a_sign_must_be_significant(interval: Interval, expected: Outcome) -> None:
    assert outcomes.significant(interval, +1).outcome is expected
    assert outcomes.significant(interval.scaled(-1), -1).outcome is expected


def test_a_single_scenario_is_held_against_its_ensemble() -> None:
    def single(value: float, ensemble: list[float], complete: bool | None = None) -> Outcome:
        return outcomes.single(value, ensemble, 0.3, 1.6, complete).outcome

    assert single(0.6, [0.2, 0.6, 5.0]) is REPRODUCED
    assert single(5.0, [0.2, 0.6, 5.0]) is INCONCLUSIVE
    assert single(5.0, [4.9, 5.0, 5.1]) is CONTRADICTED
    # Two scenarios alone exclude nothing.
    assert single(5.0, [1.7, 5.0]) is INCONCLUSIVE
    assert single(math.nan, []) is INCONCLUSIVE
    # An extreme one needs as many as the paper's.
    assert single(5.0, [4.9, 5.0, 5.1], complete=True) is CONTRADICTED
    assert single(5.0, [4.9, 5.0, 5.1], complete=False) is INCONCLUSIVE
    assert single(5.0, [0.6, 5.0], complete=True) is INCONCLUSIVE


def test_the_change_in_a_single_scenario_is_held_against_that_of_the_ensemble() -> None:
    def single(value: float, overall: Interval) -> Outcome:
        return outcomes.single_change(value, overall, 5, 40).outcome

    assert single(17, about(10, 3)) is REPRODUCED
    assert single(17, about(0, 1)) is INCONCLUSIVE
    assert single(60, about(10, 3)) is INCONCLUSIVE
    assert single(60, about(70, 3)) is CONTRADICTED


LOW, HIGH = [1.0, 1.1, 0.9, 1.0], [2.0, 2.2, 1.9, 2.1]
NEAR = [1.02 * value + 0.0001 * index for index, value in enumerate(LOW)]
"""2 % above the low one, with significance."""


@pytest.mark.parametrize(
    ("first", "second", "may_tie", "expected"),
    [
        (HIGH, LOW, False, REPRODUCED),
        (LOW, HIGH, False, CONTRADICTED),
        (LOW, [1.3, 0.9, 0.8, 1.1], False, INCONCLUSIVE),
        # A tie is a tie in either direction.
        (NEAR, LOW, False, INCONCLUSIVE),
        (LOW, NEAR, False, INCONCLUSIVE),
        (LOW, NEAR, True, REPRODUCED),
        (LOW, HIGH, True, CONTRADICTED),
    ],
)
def test_pairs_are_judged_with_ties(
    first: list[float], second: list[float], may_tie: bool, expected: Outcome
) -> None:
    assert outcomes.pair(first, second, 5.0, may_tie=may_tie).outcome is expected


def test_a_trend_needs_a_significant_rise_or_fall() -> None:
    falling = [[5.0, 5.1, 4.9], [3.0, 3.1, 2.9], [1.0, 1.1, 0.9]]
    assert outcomes.trend(falling, -1).outcome is REPRODUCED
    assert outcomes.trend(falling[::-1], -1).outcome is CONTRADICTED
    assert outcomes.trend([[1.0, 2.0], [2.0, 1.0]], -1).outcome is INCONCLUSIVE
    # First and last do not differ with significance, but every mean follows its predecessor.
    noisy = [[0.0 + step, 10.0 + step] for step in range(6)]
    assert outcomes.trend(noisy[::-1], -1).outcome is REPRODUCED


# Rules over cases.


def test_every_case_counts_and_has_the_band_of_its_name() -> None:
    def judged(a: float, b: float) -> Outcome:
        values = {"a": [a, a + 0.01], "b": [b, b + 0.01]}
        rule = {"kind": "level", "each": {"system": ["a", "b"]}}
        return outcome(rule, values, at=("a", "b"), lo=(1.0, 5.0), hi=(2.0, 6.0))

    assert judged(1.5, 5.5) is REPRODUCED
    assert judged(1.5, 9.0) is CONTRADICTED
    assert judged(5.5, 1.5) is CONTRADICTED


def test_a_case_without_a_band_of_its_name_is_an_error() -> None:
    rule = {"kind": "level", "each": {"system": ["c"]}}
    with pytest.raises(ValueError, match="is none of"):
        outcome(rule, {"c": [1.0, 2.0]}, at=("a", "b"), lo=(1.0, 5.0), hi=(2.0, 6.0))


def test_quick_leaves_out_what_was_not_run_and_full_does_not() -> None:
    rule = {"kind": "level", "each": {"system": ["a", "b"]}}
    assert outcome(rule, {"a": [5.0, 5.1]}, full=False) is REPRODUCED
    with pytest.raises(ValueError, match="NotRun"):
        outcome(rule, {"a": [5.0, 5.1]})
    with pytest.raises(ValueError, match="no case"):
        outcome(rule, {"c": [5.0, 5.1]}, full=False)


def test_a_misspelt_factor_is_an_error() -> None:
    with pytest.raises(ValueError, match="sistem"):
        outcome({"kind": "level", "of": {"sistem": "a"}}, {"a": [5.0, 5.1]})


def test_an_order_is_judged_pair_by_pair() -> None:
    rule = {"kind": "order", "each": {"system": ["a", "b", "c"]}}
    assert outcome(rule, {"a": [9.0, 9.1], "b": [5.0, 5.1], "c": [1.0, 1.1]}) is REPRODUCED
    assert outcome(rule, {"a": [9.0, 9.1], "b": [1.0, 1.1], "c": [5.0, 5.1]}) is CONTRADICTED


@pytest.mark.parametrize(
    ("measure", "shown"),
    [
        ("tcp_throughput_bps", "0.009, 0.001 kb/s"),
        ("routing_bytes_per_s", "0.009, 0.001 kB/s"),
        ("routing_packets_per_s", "9, 1/s"),
        ("cbr_latency_mean_s", "9, 1 s"),
        ("tcp_timeouts", "9, 1"),
    ],
)
def test_values_have_the_unit_of_what_was_measured(measure: str, shown: str) -> None:
    rows = [
        {"system": name, "replication": n, measure: x} for name, x in (("a", 9), ("b", 1)) for n in (0, 1)
    ]
    runs = Runs()
    runs.add("made", Tables({}, rows))
    pairs = {"kind": "pairs", "by": "system", "greater": [["a", "b"]]}
    claim = claim_of({**pairs, "at": {"runs": "made", "measure": measure}})
    assert judge(claim, Evaluator(LEDGER, runs, full=True)).ours == f"a > b: {shown}"


def test_rates_are_read_in_kb_per_s() -> None:
    rows = [
        {"system": name, "replication": number, "tcp_throughput_bps": value}
        for name, listed in {"a": [51e4, 49e4], "b": [19e4, 21e4]}.items()
        for number, value in enumerate(listed)
    ]
    runs = Runs()
    runs.add("made", Tables({}, rows))

    def ours(rule: Mapping[str, Any]) -> str:
        at = {"runs": "made", "measure": "tcp_throughput_bps"} | rule.get("at", {})
        return judge(claim_of({**rule, "at": at}), Evaluator(LEDGER, runs, full=True)).ours

    pairs = {"kind": "pairs", "by": "system", "greater": [["a", "b"]]}
    assert ours(pairs) == "a > b: 500, 200 kb/s"
    # What a rule has scaled is no longer in bit/s.
    assert ours({**pairs, "at": {"times": 1e-6}}) == "a > b: 0.5, 0.2"
    # A rule may say what its values are in.
    in_mbps = {"at": {"times": 1e-6}, "unit": " Mb/s"}
    assert ours({**pairs, **in_mbps}) == "a > b: 0.5, 0.2 Mb/s"
    along = {"kind": "trend", "sign": -1, "along": {"system": ["a", "b"]}}
    assert ours({**along, **in_mbps}) == "0.5 → 0.2 Mb/s"
    order = {"kind": "order", "each": {"system": ["a", "b"]}}
    assert ours({**order, **in_mbps}) == "a: 0.50 ± 0.13 Mb/s; b: 0.20 ± 0.13 Mb/s"
    assert ours(along) == "500 → 200 kb/s"
    assert ours(order) == "a: 500 ± 130 kb/s; b: 200 ± 130 kb/s"


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(4.4163, 0.4904, 20), "4.42 ± 0.49"),
        (Interval(3493.2, 19.43, 5), "3493 ± 19"),
        (Interval(519_200.0, 18_400.0, 5), "519000 ± 18000"),
        # Four digits are enough, however narrow the interval is.
        (Interval(142.6431, 0.0466, 5), "142.6 ± 0.047"),
        (Interval(-0.0004, 0.31, 5), "0.00 ± 0.31"),
        (Interval(1.0, 6.76e-9, 5), "1.000 ± 6.8e-09"),
        (Interval(0.02048, 0.0, 5), "0.02048 ± 0"),
        (Interval(12.0, math.inf, 2), "12 ± ∞"),
        (Interval(13.288, 9.04, 20, (5.92, 24.04)), "13.3 (5.9 to 24.0)"),
        (Interval(0.36, 0.0, 1), "0.36"),
    ],
)
def test_a_value_has_the_digits_that_its_interval_supports(interval: Interval, text: str) -> None:
    assert quantities.shown(interval) == text


def test_an_operator_makes_the_cases_of_pairs() -> None:
    rule = {"kind": "pairs", "by": "system", "greater": [["a", "b"], ["b", "c"]]}
    found = verdict(rule, {"a": [9.0, 9.1], "b": [5.0, 5.1], "c": [1.0, 1.1]})
    assert found.outcome is REPRODUCED
    assert found.ours == "a > b: 9.05, 5.05; b > c: 5.05, 1.05"


FURTHER = {"kind": "sign", "as": "difference", "sign": +1, "of": {"system": "a"}, "against": {"system": "b"}}


@pytest.mark.parametrize(
    ("b", "expected", "mark"),
    [
        ([4.0, 4.1, 4.2], REPRODUCED, "holds"),
        ([4.9, 5.6, 4.8], INCONCLUSIVE, "cannot be told"),
        # Further conditions that are contradicted contradict.
        ([7.0, 7.1, 7.2], CONTRADICTED, "does not hold"),
    ],
)
def test_further_conditions_decide_too(b: list[float], expected: Outcome, mark: str) -> None:
    rule = {"kind": "level", "of": {"system": "a"}, "also": [{**FURTHER, "text": "a is above b by {}"}]}
    found = verdict(rule, {"a": [5.0, 5.1, 5.2], "b": b})
    assert found.outcome is expected
    assert found.reason.endswith(f": {mark}")


def test_conditions_must_all_hold() -> None:
    rule = {"kind": "all", "all": [{"kind": "level", "of": {"system": "a"}}, FURTHER]}
    assert outcome(rule, {"a": [5.0, 5.1, 5.2], "b": [4.0, 4.1, 4.2]}) is REPRODUCED
    assert outcome(rule, {"a": [5.0, 5.1, 5.2], "b": [7.0, 7.1, 7.2]}) is CONTRADICTED
    assert outcome(rule, {"a": [1.0, 1.1, 1.2], "b": [0.0, 0.1, 0.2]}) is CONTRADICTED


def test_so_many_cases_must_lie_in_their_bands() -> None:
    names = ["a", "b", "c"]
    rule = {"kind": "count", "at_least": 2, "of_all": 4, "each": {"system": names}}

    def judged(*means: float) -> Outcome:
        return outcome(rule, {name: [mean, mean] for name, mean in zip(names, means, strict=True)})

    assert judged(5, 5, 1) is REPRODUCED
    # One more may lie in its band among those that were not run.
    assert judged(5, 1, 1) is INCONCLUSIVE
    assert judged(1, 1, 1) is CONTRADICTED


def test_a_share_of_the_cases_must_hold() -> None:
    one = {"kind": "sign", "as": "mean", "sign": +1}
    rule = {
        "kind": "share",
        "at_least": {"of": 3, "cases": 2},
        "each": {"system": ["a", "b", "c"]},
        "one": one,
    }
    up, down = [1.0, 1.1], [-1.0, -1.1]
    assert outcome(rule, {"a": up, "b": up, "c": down}) is REPRODUCED
    assert outcome(rule, {"a": up, "b": down, "c": down}) is CONTRADICTED
    undecided = verdict(rule, {"a": up, "b": [-1.0, 1.0], "c": down})
    assert undecided.outcome is INCONCLUSIVE
    assert undecided.reason == "it must hold in 2 of 3 cases: it does in 1, 1 are not decided"


def test_of_several_conditions_that_one_is_named_which_decides() -> None:
    conditions = [
        {"kind": "level", "at": {"system": "a"}, "band": {"lo": 3}, "unit": " kb/s"},
        {"kind": "level", "at": {"system": "b"}, "band": {"hi": 9}, "unit": " ms"},
    ]
    rule = {"kind": "all", "all": conditions}
    inside, outside = [5.0, 5.0], [20.0, 20.0]
    assert verdict(rule, {"a": inside, "b": inside}).reason == "the claim's rule holds"
    broken = verdict(rule, {"a": inside, "b": outside})
    assert (broken.outcome, broken.reason) == (
        CONTRADICTED,
        "20 ± 0 ms: the interval lies above the band",
    )
    of_pairs = {"kind": "pairs", "by": "system", "greater": [["a", "b"], ["b", "c"]]}
    values = {"a": [9.0, 9.1], "b": [1.0, 1.1], "c": [5.0, 5.1]}
    assert verdict({"kind": "all", "all": [of_pairs]}, values).reason == (
        "b > c: reversed, with significance (-79.2 %)"
    )


def test_of_printed_ranks_the_pairs_are_named_that_break_them() -> None:
    rule = {"kind": "ranked", "within": 8, "each": {"system": ["a", "b", "c"]}}
    ranks = {"at": ("a", "b", "c"), "value": (2.0, 1.0, 1.0)}
    low, high = [90.0, 90.1], [100.0, 100.1]
    assert outcome(rule, {"a": low, "b": high, "c": high}, **ranks) is REPRODUCED
    reversed_one = verdict(rule, {"a": high, "b": high, "c": [120.0, 120.1]}, **ranks)
    assert reversed_one.reason == "b = c: no tie (-16.7 %)"
    undecided = verdict(rule, {"a": [90.0, 110.0], "b": [95.0, 100.0], "c": [98.0, 102.0]}, **ranks)
    assert undecided.outcome is INCONCLUSIVE
    assert undecided.reason.startswith("b > a: a tie, the paired interval holds zero")
    # A difference is in percent of the greater, whatever the claim is in.
    assert {each.unit for each in undecided.measured} == {" %"}


def test_what_depends_on_an_unknown_set_up_is_said_only_if_all_agree() -> None:
    rule = {"kind": "agreed", "each": {"system": ["a", "b"]}, "one": {"kind": "level"}}
    inside, outside = [5.0, 5.1], [1.0, 1.1]
    assert outcome(rule, {"a": inside, "b": inside}) is REPRODUCED
    assert outcome(rule, {"a": outside, "b": outside}) is CONTRADICTED
    found = verdict(rule, {"a": inside, "b": outside})
    assert found.outcome is INCONCLUSIVE
    assert found.reason.endswith("reproduced with a; contradicted with b")


def test_one_case_must_be_the_extreme() -> None:
    rule = {"kind": "extreme", "sign": -1, "which": "a", "each": {"system": ["a", "b"]}}
    assert outcome(rule, {"a": [1.0, 1.1], "b": [5.0, 5.1]}) is REPRODUCED
    broken = verdict(rule, {"a": [5.0, 5.1], "b": [1.0, 1.1]})
    assert (broken.outcome, broken.reason) == (CONTRADICTED, "a: not the least of all")
    assert outcome({**rule, "means": True}, {"a": [5.0, 5.1], "b": [1.0, 1.1]}) is INCONCLUSIVE


def test_no_scenario_may_be_above_a_limit() -> None:
    rule = {"kind": "limit", "each": {"system": ["a"]}}
    assert outcome(rule, {"a": [1.0, 8.9]}) is REPRODUCED
    assert outcome(rule, {"a": [1.0, 9.1]}) is CONTRADICTED
    assert outcome({**rule, "floods": True}, {"a": [1.0, 9.1]}) is INCONCLUSIVE


def test_where_too_few_scenarios_have_a_value_nothing_is_told() -> None:
    rule = {"kind": "change", "of": {"system": "a"}, "against": {"system": "b"}}
    found = verdict(rule, {"a": [1.0, None, 3.0], "b": [None, 2.0, 2.0]})
    assert (found.outcome, found.ours) == (INCONCLUSIVE, "fewer than two scenarios have the values")


# What stands beside an outcome.


@pytest.mark.parametrize(
    ("interval", "fit"), [(about(5), "within"), (about(2.8), "touches"), (about(2.4), "outside")]
)
def test_an_interval_that_only_touches_its_band_is_not_within(interval: Interval, fit: str) -> None:
    assert outcomes.level(interval, 3, 9).fit == fit
    assert outcomes.change(interval, 3, 9, +1).fit == fit


@given(st.floats(-50, 50), st.floats(0.1, 20), st.integers(2, 60), st.floats(-50, 50))
def test_a_p_value_is_below_5_percent_exactly_where_the_interval_excludes(
    mean: float, half_width: float, n: int, value: float
) -> None:
    interval = Interval(mean, half_width, n)
    # At an end of the interval rounding decides.
    assume(abs(abs(mean - value) - half_width) > 1e-6)
    assert (outcomes.p_value(interval, value) < 0.05) is not interval.holds(value)


def test_the_p_value_is_that_of_the_t_test() -> None:
    from scipy.stats import ttest_1samp

    values = [1.0, 2.5, 0.3, 1.9, 2.2]
    ours = outcomes.p_value(mean_interval(values), 0.7)
    assert ours == pytest.approx(ttest_1samp(values, 0.7).pvalue, rel=1e-9)
    assert (outcomes.p_value(Interval(1, 0, 5), 1), outcomes.p_value(Interval(1, 0, 5), 2)) == (1.0, 0.0)


def test_no_effect_is_shown_by_two_one_sided_tests() -> None:
    from scipy.stats import ttest_1samp

    rule = {"kind": "change", "no_effect": True, "as": "difference", "of": {"system": "a"}}
    rule["against"] = {"system": "b"}
    for spread in (0.1, 0.9, 2.0, 3.0, 8.0):
        apart = [spread * step for step in (-2, 1, 2, -1, 0.5, -0.4)]
        found = verdict(rule, {"a": [10 + each for each in apart], "b": [10.0] * 6}, lo=(-3.0,), hi=(3.0,))
        tost = max(
            ttest_1samp(apart, -3, alternative="greater").pvalue,
            ttest_1samp(apart, 3, alternative="less").pvalue,
        )
        assert found.equivalent is bool(tost < 0.05)
    # The ledger's rule is not changed: overlap is enough for its verdict.
    assert (found.equivalent, found.fit) == (False, "touches")


def test_a_chosen_case_has_an_interval_that_allows_for_the_choice() -> None:
    rule = {"kind": "change", "largest": +1, "as": "difference", "against": {"system": "base"}}
    rule["each"] = {"of.system": ["a", "b", "c"]}
    values = {"base": [0.0] * 4, "a": [9.9, 10.1, 10.4, 9.6], "b": [1.0] * 4, "c": [2.0] * 4}
    found = verdict(rule, values, lo=(10.6,), hi=(12.0,))
    alone = mean_interval(values["a"])
    adjusted = mean_interval(values["a"], 1 - 0.05 / 3)
    # Alone it would be contradicted.
    assert alone.high < 10.6 < adjusted.high
    assert found.outcome is REPRODUCED
    assert found.ours == f"a: {quantities.shown(adjusted)}"


def test_claims_of_an_experiment_are_corrected_for_their_number() -> None:
    experiment = LEDGER.experiments["dyer2002/table-4.2"]
    claims = LEDGER.claims_of(experiment)[:4]
    listed = [
        Verdict(claim, REPRODUCED, "", "", p=p)
        for claim, p in zip(claims, (0.01, 0.04, None, 0.03), strict=True)
    ]
    made = record.entries(listed, "quick", "code", "2026-11-22")
    assert [each.adjusted_p for each in made] == [
        pytest.approx(0.03),
        pytest.approx(0.06),
        None,
        pytest.approx(0.06),
    ]
    assert [each.survives for each in made] == [True, False, None, False]


def test_of_several_comparisons_all_or_any_count() -> None:
    def findings(outcome: Outcome) -> list[tuple[str, outcomes.Finding]]:
        return [(name, outcomes.Finding(outcome, "", p=p)) for name, p in (("a", 0.01), ("b", 0.04))]

    assert outcomes.together(findings(REPRODUCED)).p == 0.04
    assert outcomes.together(findings(CONTRADICTED)).p == pytest.approx(0.02)
    assert outcomes.together(findings(INCONCLUSIVE)).p is None


def test_what_holds_by_construction_is_not_counted_as_reproduced() -> None:
    rule = {"kind": "level", "of": {"system": "a"}, "by_construction": "it was made so"}
    assert outcome(rule, {"a": [5.0, 5.1]}) is Outcome.BY_CONSTRUCTION
    assert outcome(rule, {"a": [1.0, 1.1]}) is CONTRADICTED
    marked = {claim.id for claim in LEDGER.claims.values() if "by_construction" in claim.rule}
    of_dyer = {"D1-05", "D4-112", "D4-113", "D5-28", "D5-29", "D5-30", "H-20"}
    assert marked == of_dyer | {"O-03", "O-17", "O-18", "O-19", "O-20"}


def test_the_ends_of_a_ratio_are_those_of_fieller() -> None:
    a, b = [3.0, 9.0, 4.0, 2.0], [1.0, 2.0, 3.0, 1.5]
    exact, found = paired_ratio(a, b), quantities.percent(a, b)
    assert (found.low, found.high) == (
        pytest.approx(100 * (exact.low - 1)),
        pytest.approx(100 * (exact.high - 1)),
    )


def test_what_was_not_run_is_not_tested() -> None:
    found = verdict({"kind": "untested", "why": "needs DSR"}, {})
    assert (found.outcome, found.reason) == (Outcome.NOT_TESTED, "needs DSR")


# What pages show.


def test_of_many_cases_pages_show_the_least_and_the_greatest() -> None:
    values = (3.0, -12.5, 40.0, 1.0, 9.0)
    cases = [f"load {load}: {value:+.1f} %" for load, value in enumerate(values)]
    compared = [Measured(quantities.exact(value), -math.inf, math.inf) for value in values]
    shown = record.brief("; ".join(cases), compared)
    assert shown == "load 1: -12.5 %; load 2: +40.0 % (lowest and highest of 5)"
    # What is compared decides, not what the text says of it.
    shown = record.brief("; ".join(cases), [*compared[1:], compared[0]])
    assert shown == "load 0: +3.0 %; load 1: -12.5 % (lowest and highest of 5)"
    few = "; ".join(cases[: record.MOST_CASES])
    assert record.brief(few, compared[:3]) == few
    # One case has no value, so that no case is the least.
    assert record.brief("; ".join([*cases, "both: holds"]), compared) == (
        "load 0: +3.0 %; both: holds (first and last of 6)"
    )


def test_of_an_axis_pages_show_the_ends() -> None:
    assert record.brief("AODV: 0 → 681.7 → 1.2e+04 → 3 → -5450 s") == "AODV: 0 → … → -5450 s"
    assert record.brief("AODV: 0 → 3") == "AODV: 0 → 3"
    assert record.brief("AODV > DSR: 0.5, 0.4") == "AODV > DSR: 0.5, 0.4"


def test_shared_rules_have_names_and_keep_their_conditions() -> None:
    def shown(name: str) -> str:
        return record._shortened(LEDGER, LEDGER.claim(name))

    assert shown("D3-01") == "the order"
    assert shown("D3-19") == "the order. At offered loads 100-300 Kbps."
    assert shown("DA-12") == "the trend"
    assert shown("DA-06") == LEDGER.claim("DA-06").tolerance


# Claims of the ledger on runs made for them.

RENO, RENO_F = "Reno", "SACK + fixed RTO + delayed ACKs"
WOBBLE = (0.0, 0.004, -0.004, 0.002)
"""By how much scenarios differ, in parts of the mean."""


def campaign(
    runs: Runs,
    name: str,
    points: Mapping[tuple[Any, ...], Mapping[str, float]],
    *factors: str,
    kind: str = "",
) -> None:
    """Adds a campaign with these factors; every point has its measures, and so has its one flow."""
    rows, flows = [], []
    for labels, measures in points.items():
        for number, share in enumerate(WOBBLE):
            place = {**dict(zip(factors, labels, strict=True)), "replication": number}
            made = {measure: value * (1 + share) for measure, value in measures.items()}
            rows.append({**place, **made})
            flows.append({**place, "flow": 0, "kind": kind or "tcp", **made})
    runs.add(name, Tables({}, rows, flows))


def of_ledger(name: str, runs: Runs, without: Sequence[str] = ()) -> Outcome:
    """The verdict on a claim of the ledger, with parts of its rule left out."""
    claim = LEDGER.claim(name)
    rule = {key: value for key, value in claim.rule.items() if key not in without}
    return judge(replace(claim, rule=rule), Evaluator(LEDGER, runs, full=True)).outcome


def repairs(reno_f_s: float) -> Runs:
    """Repair times beside CBR, with Reno's in its band."""
    runs = Runs()
    for name in ("outage", "outage-beside-cbr"):
        points = {
            (RENO,): {"route_repair_mean_s": 0.30, "tcp_throughput_bps": 5e5},
            (RENO_F,): {"route_repair_mean_s": reno_f_s if "cbr" in name else 0.1, "tcp_throughput_bps": 5e5},
        }
        campaign(runs, name, points, "technique")
    return runs


def deliveries(adp: float) -> Runs:
    """Video over UDP that carries what is printed, and over ADP so many times as much."""

    def measures(share: float) -> dict[str, float]:
        return {"throughput_bps": 5e5 * share, "packets_received": 45e3 * share, "messages_made": 13500.0}

    runs = Runs()
    campaign(runs, "video-seconds", {("UDP",): measures(1), ("ADP",): measures(adp)}, "sender", kind="video")
    return runs


@pytest.mark.parametrize("name", ["D4-56", "D5-46", "D5-47", "D5-52"])
def test_the_paired_change_decides_over_a_single_scenario(name: str) -> None:
    as_said, reversed_ = (
        (repairs(0.25), repairs(0.45)) if name == "D4-56" else (deliveries(1.4), deliveries(0.95))
    )
    # In level the chosen scenario is in its bands either way.
    assert of_ledger(name, as_said, without=["also"]) is REPRODUCED
    assert of_ledger(name, reversed_, without=["also"]) is REPRODUCED
    assert of_ledger(name, as_said) is REPRODUCED
    assert of_ledger(name, reversed_) is CONTRADICTED


@pytest.mark.parametrize(
    ("name", "measure", "gain"),
    [("D6-36", "web_combined_throughput_bps", 1.2), ("D6-39", "web_service_time_mean_s", 0.8)],
)
def test_no_effect_of_reno_f_on_the_web_over_adv_has_a_band_of_some_width(
    name: str, measure: str, gain: float
) -> None:
    def judged(adv: float, aodv: float) -> Outcome:
        runs = Runs()
        points = {
            (protocol, tcp, mix): {measure: share if tcp == "Reno-F" else 1.0}
            for protocol, share in (("ADV", adv), ("AODV", aodv))
            for tcp in ("Reno", "Reno-F")
            for mix in ("5 HTTP + 5 UDP", "5 HTTP + 5 ADP (5 s)", "5 HTTP + 5 ADP (unlimited)")
        }
        campaign(runs, "mix-cbr", points, "protocol", "tcp", "mix")
        return of_ledger(name, runs)

    assert judged(1.01, gain) is REPRODUCED
    assert judged(0.99, gain) is REPRODUCED
    assert judged(2 - gain, gain) is CONTRADICTED
    assert judged(1.01, 2 - gain) is CONTRADICTED


def test_the_factor_of_table_1_1_is_that_of_one_hop() -> None:
    printed = LEDGER.claim("D1-01").value

    def judged(first: float, others: float) -> tuple[Outcome, str]:
        shares = [first, *[others] * 9]
        points = {
            (hops,): {"tcp_throughput_bps": 1e6 * share * value}
            for hops, (share, value) in enumerate(zip(shares, printed, strict=True), 1)
        }
        runs = Runs()
        campaign(runs, "table-1.1-dsr", points, "hops")
        found = judge(LEDGER.claim("D1-01"), Evaluator(LEDGER, runs, full=True))
        return found.outcome, found.ours

    assert judged(1.0, 1.0)[0] is REPRODUCED
    # A factor of 0.9 would bring all ten into their bands, but at one hop there is nothing to scale.
    assert judged(1.0, 1.3) == (CONTRADICTED, "1 of 10 within their bands after scaling all by 1")
    # Scaled by 1 / 1.2 all are as printed.
    assert judged(1.2, 1.2) == (REPRODUCED, "10 of 10 within their bands after scaling all by 0.833")
    # The factor ends where the ledger lets it end.
    assert judged(2.0, 2.0) == (CONTRADICTED, "0 of 10 within their bands after scaling all by 0.8")


def test_what_a_value_was_chosen_from_is_not_tested_by_it() -> None:
    assert LEDGER.claim("D6-16").rule["kind"] == "untested"


@pytest.mark.parametrize(("mix", "expected"), [(0.9, REPRODUCED), (0.84, INCONCLUSIVE), (0.6, CONTRADICTED)])
def test_a_mix_must_lie_in_the_band_that_the_ledger_words(mix: float, expected: Outcome) -> None:
    def judged(share: float, wide: float) -> Outcome:
        runs, rows = Runs(), []
        for protocol, web in (("AODV", 0.10), ("ADV", 0.2)):
            for name in ("10 UDP", "5 HTTP + 5 UDP"):
                for number, apart in enumerate((wide, -wide, wide, -wide)):
                    both = (share if protocol == "AODV" else 0.9) + apart
                    of_mix = {
                        "message_throughput_bps": both * (1 - web),
                        "web_combined_throughput_bps": both * web,
                    }
                    alone = {"message_throughput_bps": 1.0, "web_combined_throughput_bps": 0.0}
                    place = {"protocol": protocol, "tcp": "Reno", "mix": name, "replication": number}
                    rows.append({**place, **(alone if name == "10 UDP" else of_mix)})
        runs.add("mix", Tables({}, rows))
        return of_ledger("D6-30", runs)

    assert judged(mix, 0.02) is expected


# Missing values.


def test_a_sum_over_flows_of_which_one_has_no_value_has_none() -> None:
    flows = [
        {"replication": number, "flow": flow, "kind": "web", "x": value}
        for number, values in enumerate([(1.0, 2.0), (3.0, None), (5.0, 6.0)])
        for flow, value in enumerate(values)
    ]
    runs = Runs()
    runs.add("made", Tables({}, [{"replication": number} for number in range(3)], flows))
    found = runs.summed("made", "x", "web", {})
    assert (found[0], math.isnan(found[1]), found[2]) == (3.0, True, 11.0)


def test_one_web_session_is_measured_in_every_scenario() -> None:
    flows = [
        {"replication": number, "flow": flow, "kind": kind, "service_time_s": value}
        for number, shift in enumerate((0.0, 0.5))
        for flow, (kind, value) in enumerate([("cbr", None), ("web", 3.0 + shift), ("web", 7.0 + shift)])
    ]
    runs = Runs()
    runs.add("made", Tables({}, [{"replication": number} for number in range(2)], flows))
    evaluator = Evaluator(LEDGER, runs, full=True)
    data = {"runs": "made", "function": "session", "measure": "service_time_s"}
    assert evaluator.values({**data, "with": {"session": 1}}) == [3.0, 3.5]
    assert evaluator.values({**data, "with": {"session": 2}}) == [7.0, 7.5]


def test_throughput_of_an_interval_is_what_arrives_in_it() -> None:
    series = [
        {"replication": number, "time_s": end_s, "cbr_delivered_bytes": size}
        for number in range(2)
        for end_s, size in ((60.0, 6000 + 60 * number), (120.0, 12_000), (150.0, 3000))
    ]
    runs = Runs()
    runs.add(
        "made", Tables({}, [{"replication": number} for number in range(2)], series=lambda _name: series)
    )
    evaluator = Evaluator(LEDGER, runs, full=True)
    found = [
        evaluator.values(
            {"runs": "made", "function": "interval", "with": {"of": "throughput", "first": n, "last": n}}
        )
        for n in (1, 2, 3)
    ]
    assert found == [[800.0, 808.0], [1600.0, 1600.0], [800.0, 800.0]]


def test_what_rests_on_fewer_scenarios_says_on_how_many() -> None:
    rule = {"kind": "level", "of": {"system": "a"}}
    assert verdict(rule, {"a": [5.0, 5.0, 5.0]}).ours == "5 ± 0"
    assert verdict(rule, {"a": [5.0, None, 5.0]}).ours == "5 ± 0 (n = 2 of 3)"
    pairs = {"kind": "pairs", "by": "system", "greater": [["a", "b"]]}
    found = verdict(pairs, {"a": [5.0, None, 5.1, 5.2], "b": [1.0, 1.1, None, 1.2]})
    assert found.ours.endswith("(n = 2 of 4)")


def saturations(*last: float) -> list[float]:
    """Of scenarios that deliver this share at the largest load, where each saturates."""
    rows = [
        {"load": load, "replication": number, "cbr_delivery_fraction": share}
        for load, shares in ((100, [0.99] * len(last)), (200, [0.98] * len(last)), (300, last))
        for number, share in enumerate(shares)
    ]
    runs = Runs()
    runs.add("made", Tables({}, rows))
    data = {"runs": "made", "function": "saturation of scenarios"}
    arguments = {"points_below_peak": 5, "common": ["made", "made"]}
    return Evaluator(LEDGER, runs, full=True).values({**data, "with": arguments})


def test_a_scenario_that_does_not_saturate_has_no_load_beyond_the_axis() -> None:
    found = saturations(0.5, 0.97, math.nan)
    assert found[:2] == [300, math.inf]
    assert math.isnan(found[2])


@pytest.mark.parametrize(
    ("rising", "level", "falling", "expected"),
    [(8, 2, 0, REPRODUCED), (0, 2, 8, CONTRADICTED), (5, 10, 0, INCONCLUSIVE), (6, 0, 5, INCONCLUSIVE)],
)
def test_values_beyond_an_axis_are_compared_by_signs(
    rising: int, level: int, falling: int, expected: Outcome
) -> None:
    from scipy.stats import binomtest

    infinite = math.inf
    pairs = [(300.0, infinite)] * rising + [(infinite, infinite)] * level + [(infinite, 300.0)] * falling
    first, last = ([pair[side] for pair in pairs] for side in (0, 1))
    found = outcomes.trend([first, last], +1)
    assert found.outcome is expected
    if expected is not INCONCLUSIVE:
        assert found.p == pytest.approx(binomtest(rising, rising + falling).pvalue)
    assert outcomes.trend([last, first], -1).outcome is expected


# Tests of rules over several cases.


def test_that_two_intervals_differ_is_welchs_test() -> None:
    from scipy.stats import ttest_ind

    a, b = [1.0, 2.5, 0.3, 1.9, 2.2], [3.0, 3.9, 2.1, 4.4]
    expected = ttest_ind(a, b, equal_var=False).pvalue
    assert outcomes.apart_p(mean_interval(a), mean_interval(b)) == pytest.approx(expected, rel=1e-9)
    assert outcomes.apart_p(about(1, 0), about(1, 0)) == 1.0
    assert outcomes.apart_p(about(1, 0), about(2, 0)) == 0.0


def test_so_many_of_several_hypotheses_are_a_partial_conjunction() -> None:
    ps = [0.04, 0.001, None, 0.01]
    # Any: Bonferroni. All: the greatest.
    assert outcomes.at_least_p(ps, 1, 4) == pytest.approx(0.004)
    assert outcomes.at_least_p(ps, 2, 4) == pytest.approx(0.03)
    assert outcomes.at_least_p(ps[:2], 2, 2) == pytest.approx(0.04)
    assert outcomes.at_least_p(ps, 4, 4) == 1.0
    # Cases that were not run speak for nothing.
    assert outcomes.at_least_p(ps, 2, 6) == pytest.approx(0.05)


UP, DOWN, FAR = [1.0, 1.1, 1.2], [-1.0, -1.1, -1.2], [20.0, 20.1, 20.4]
ONE = {"kind": "sign", "as": "mean", "sign": +1}
EACH = {"system": ["a", "b", "c"]}
MOST = {"kind": "extreme", "sign": +1, "which": "a", "each": EACH}


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ({"kind": "count", "at_least": 2, "each": EACH}, {"a": FAR, "b": FAR, "c": UP}, CONTRADICTED),
        (
            {"kind": "share", "at_least": {"of": 3, "cases": 2}, "each": EACH, "one": ONE},
            {"a": UP, "b": UP, "c": DOWN},
            REPRODUCED,
        ),
        (
            {"kind": "share", "at_least": {"of": 3, "cases": 2}, "each": EACH, "one": ONE},
            {"a": UP, "b": DOWN, "c": DOWN},
            CONTRADICTED,
        ),
        (MOST, {"a": FAR, "b": UP, "c": DOWN}, REPRODUCED),
        (MOST, {"a": UP, "b": FAR, "c": DOWN}, CONTRADICTED),
        ({"kind": "tie", "within": 0.5, "each": EACH}, {"a": UP, "b": DOWN, "c": FAR}, CONTRADICTED),
    ],
)  # fmt: skip
def test_outcomes_of_several_cases_that_rest_on_tests_have_a_p_value(
    rule: Mapping[str, Any], values: Mapping[str, Sequence[float]], expected: Outcome
) -> None:
    found = verdict(rule, values)
    assert found.outcome is expected
    assert found.p is not None
    assert 0 < found.p < 0.05
    # What scatters so much that nothing is significant is not called significant.
    wild = {
        name: [each + shift for each, shift in zip(listed, (-90, 90, 0), strict=True)]
        for name, listed in values.items()
    }
    scattered = verdict(rule, wild)
    assert scattered.p is None or scattered.p > 0.05
