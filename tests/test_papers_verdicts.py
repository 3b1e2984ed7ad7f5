"""Each rule of the ledger, on both sides of its band, on figures made for it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from manetlab.papers import ledger, record, verdicts
from manetlab.papers.evidence import Also, Change, Evidence, Level, Order, Ruled, Single, Trend, Untested
from manetlab.papers.ledger import Claim
from manetlab.papers.verdicts import Outcome
from manetlab.stats import Interval

REPRODUCED, CONTRADICTED, INCONCLUSIVE = Outcome.REPRODUCED, Outcome.CONTRADICTED, Outcome.INCONCLUSIVE


def about(mean: float, half_width: float = 0.5) -> Interval:
    return Interval(mean, half_width, 20)


def outcome(claim: Claim | str, evidence: Evidence | Untested) -> Outcome:
    loaded = ledger.load()
    of = loaded.claim(claim) if isinstance(claim, str) else claim
    return verdicts.judge(of, evidence, loaded.policy["tie"]).outcome


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
    assert verdicts.level(interval, 3, 9)[0] is expected


def test_a_mean_that_must_lie_in_the_band_may_not_only_touch_it() -> None:
    assert verdicts.level(about(2.8), 3, 9, must_lie=True)[0] is INCONCLUSIVE
    assert verdicts.level(about(3.1), 3, 9, must_lie=True)[0] is REPRODUCED


def test_an_open_band_has_one_side() -> None:
    assert verdicts.level(about(1000), 3, math.inf)[0] is REPRODUCED
    assert verdicts.level(about(2), 3, math.inf)[0] is CONTRADICTED


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
    claim = ledger.load().claim("D4-08")
    assert (claim.lo, claim.hi) == ((2,), (18,))
    assert outcome(claim, Change({"": interval})) is expected


def test_a_negative_change_is_judged_from_the_other_side() -> None:
    claim = ledger.load().claim("D4-51")
    assert claim.hi[0] < 0
    assert outcome(claim, Change({"": about(-30, 5)})) is REPRODUCED
    assert outcome(claim, Change({"": about(10, 5)})) is CONTRADICTED
    assert outcome(claim, Change({"": about(-99, 5)})) is CONTRADICTED


def test_a_change_printed_as_not_significant_has_a_free_sign() -> None:
    assert outcome("D4-02", Change({"": about(-5, 1)})) is REPRODUCED
    assert outcome("D4-02", Change({"": about(12, 1)})) is CONTRADICTED


def test_no_material_effect() -> None:
    assert outcome("B-09", Change({"": about(0, 1)})) is REPRODUCED
    assert outcome("B-09", Change({"": about(-9, 1)})) is CONTRADICTED


def test_every_element_of_a_vector_counts() -> None:
    inside, outside = about(0.5, 0.01), about(2.0, 0.01)
    assert outcome("D1-03", Level({"2 hops": inside, "3 hops": about(0.33, 0.01)})) is REPRODUCED
    assert outcome("D1-03", Level({"2 hops": inside, "3 hops": outside})) is CONTRADICTED
    # Each has a band of its own.
    assert outcome("D1-03", Level({"2 hops": about(0.33, 0.01), "3 hops": inside})) is CONTRADICTED
    with pytest.raises(ValueError, match="is none of"):
        outcome("D1-03", Level({"4 hops": inside}))


def test_a_part_of_a_claim_is_marked() -> None:
    loaded = ledger.load()
    evidence = Level({"AODV": about(1.0, 0.1)}, part="AODV")
    assert verdicts.judge(loaded.claim("D5-01"), evidence, loaded.policy["tie"]).part == "AODV"


def test_a_single_scenario_is_held_against_its_ensemble() -> None:
    claim = "D4-49"
    assert outcome(claim, Single({"": 0.6}, {"": [0.2, 0.6, 5.0]})) is REPRODUCED
    assert outcome(claim, Single({"": 5.0}, {"": [0.2, 0.6, 5.0]})) is INCONCLUSIVE
    assert outcome(claim, Single({"": 5.0}, {"": [4.9, 5.0, 5.1]})) is CONTRADICTED
    # Two scenarios alone exclude nothing.
    assert outcome(claim, Single({"": 5.0}, {"": [1.6, 5.0]})) is INCONCLUSIVE
    assert outcome(claim, Single({"": math.nan}, {"": []})) is INCONCLUSIVE


def test_an_extreme_scenario_needs_as_many_as_the_papers() -> None:
    def single(complete: bool, ensemble: list[float]) -> Outcome:
        return outcome("D4-49", Single({"": 5.0}, {"": ensemble}, complete=complete))

    assert single(True, [4.9, 5.0, 5.1]) is CONTRADICTED
    assert single(False, [4.9, 5.0, 5.1]) is INCONCLUSIVE
    assert single(True, [0.6, 5.0]) is INCONCLUSIVE


def test_the_change_in_a_single_scenario_is_held_against_that_of_the_ensemble() -> None:
    def single(value: float, overall: Interval) -> Outcome:
        return outcome("D4-48", Single({"": value}, {"": [value]}, overall=overall))

    assert single(17, about(10, 3)) is REPRODUCED
    assert single(17, about(0, 1)) is INCONCLUSIVE
    assert single(60, about(10, 3)) is INCONCLUSIVE
    assert single(60, about(70, 3)) is CONTRADICTED


def test_an_order_is_judged_pair_by_pair() -> None:
    low, high = [1.0, 1.1, 0.9, 1.0], [2.0, 2.2, 1.9, 2.1]
    middle = [1.02 * value + 0.0001 * index for index, value in enumerate(low)]

    def order(*values: list[float]) -> Outcome:
        claim = ledger.load().claim("D5-05")
        return outcome(claim, Order(dict(zip(claim.order, values, strict=False))))

    assert order(high, low) is REPRODUCED
    assert order(low, high) is CONTRADICTED
    # 2 % apart, with significance: a tie all the same.
    assert order(middle, low) is INCONCLUSIVE
    assert order(low, [1.3, 0.9, 0.8, 1.1]) is INCONCLUSIVE
    assert order(high, low, high) is CONTRADICTED


def test_a_trend_needs_a_significant_rise_or_fall() -> None:
    falling = [[5.0, 5.1, 4.9], [3.0, 3.1, 2.9], [1.0, 1.1, 0.9]]
    assert outcome("B-07", Trend(falling, -1)) is REPRODUCED
    assert outcome("B-07", Trend(falling[::-1], -1)) is CONTRADICTED
    assert outcome("B-07", Trend([[1.0, 2.0], [2.0, 1.0]], -1)) is INCONCLUSIVE
    # First and last do not differ with significance, but every mean follows its predecessor.
    noisy = [[0.0 + step, 10.0 + step] for step in range(6)]
    assert outcome("B-07", Trend(noisy[::-1], -1)) is REPRODUCED


def test_further_conditions_of_a_tolerance_must_be_answered() -> None:
    change = {"": about(40, 5)}
    with pytest.raises(ValueError, match="does not answer"):
        outcome("D4-33", Change(change))
    assert outcome("D4-33", Change(change, also=[Also("it grows", True)])) is REPRODUCED
    assert outcome("D4-33", Change(change, also=[Also("it grows", False)])) is INCONCLUSIVE
    assert outcome("D4-33", Change(change, also=[Also("it grows", None)])) is INCONCLUSIVE
    assert outcome("D4-33", Change({"": about(-40, 5)}, also=[Also("it grows", True)])) is CONTRADICTED


def test_evidence_of_a_kind_that_the_tolerance_does_not_ask_for_is_refused() -> None:
    with pytest.raises(ValueError, match="no rule of Level"):
        outcome("D1-02", Level({"": about(1)}))


@pytest.mark.parametrize(
    ("satisfied", "broken", "expected"),
    [
        (True, None, REPRODUCED),
        (False, None, CONTRADICTED),
        (False, False, INCONCLUSIVE),
        (None, None, INCONCLUSIVE),
    ],
)
def test_a_rule_in_prose(satisfied: bool | None, broken: bool | None, expected: Outcome) -> None:
    assert outcome("D1-02", Ruled("found", satisfied, broken)) is expected


def test_what_was_not_run_is_not_tested() -> None:
    assert outcome("D4-09", Untested("needs DSR")) is Outcome.NOT_TESTED


def test_the_said_sign_is_the_printed_one_or_that_of_the_band() -> None:
    loaded = ledger.load()
    assert verdicts.said_sign(loaded.claim("D4-51")) == -1
    assert verdicts.said_sign(loaded.claim("D4-48")) == 1
    assert verdicts.said_sign(replace(loaded.claim("D4-48"), lo=(-5.0,), hi=(5.0,))) == 0


def test_of_many_cases_pages_show_the_least_and_the_greatest() -> None:
    cases = [f"load {load}: {value:+.1f} %" for load, value in enumerate((3.0, -12.5, 40.0, 1.0, 9.0))]
    assert record.brief("; ".join(cases)) == (
        "load 1: -12.5 %; load 2: +40.0 % (the least and the greatest of 5)"
    )
    few = "; ".join(cases[: record.MOST_CASES])
    assert record.brief(few) == few
    # One case is a sentence, so that no case is the least.
    assert record.brief("; ".join([*cases, "both: holds"])) == (
        "load 0: +3.0 %; both: holds (the first and the last of 6)"
    )


def test_of_an_axis_pages_show_the_ends() -> None:
    assert record.brief("AODV: 0, 681.7, 1.2e+04, 3, -5450") == "AODV: 0, …, -5450"
    assert record.brief("AODV > DSR: 0.5, 0.4") == "AODV > DSR: 0.5, 0.4"


def test_shared_rules_have_names_and_keep_their_conditions() -> None:
    loaded = ledger.load()
    assert verdicts.shared_rule(loaded.claim("D3-01")) == "the order"
    assert verdicts.shared_rule(loaded.claim("D3-19")) == "the order. At offered loads 100-300 Kbps."
    assert verdicts.shared_rule(loaded.claim("DA-12")) == "a rise or fall as said"
    own = loaded.claim("DA-06")
    assert verdicts.shared_rule(own) == own.tolerance
