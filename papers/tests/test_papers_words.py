"""One of six words for each claim: what is said of a result beside what is printed."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace

import pytest

from manetlab.stats import Interval
from manetlab_papers import ledger, summary, words
from manetlab_papers.causes import Cause
from manetlab_papers.ledger import Claim
from manetlab_papers.outcomes import Measured
from manetlab_papers.record import Entry
from manetlab_papers.words import Word

LEDGER = ledger.load()


def claim(**rule: object) -> Claim:
    return replace(LEDGER.claims["D4-09"], rule={"kind": "change", "as": "percent", **rule})


def entry(outcome: str, *compared: Measured, **more: object) -> Entry:
    kept = Entry("D4-09", outcome, "", "", "", "dyer2002/table-4.2", "full", "", "", size="full")
    return replace(kept, compared=compared, **more)  # type: ignore[arg-type]


def found(low: float, high: float, *, of: tuple[float, float]) -> Measured:
    """An interval from low to high beside a band."""
    return Measured(Interval.between((low + high) / 2, low, high, 20), *of)


GAIN = (40.0, 60.0)
LOSS = (-30.0, -10.0)
ABOVE = (0.0, math.inf)


@pytest.mark.parametrize(
    ("outcome", "measured", "word"),
    [
        ("reproduced", found(45, 55, of=GAIN), Word.AS_PRINTED),
        ("contradicted", found(5, 15, of=GAIN), Word.SMALLER),
        ("contradicted", found(100, 120, of=GAIN), Word.LARGER),
        ("contradicted", found(-10, 8, of=GAIN), Word.NONE),
        ("contradicted", found(-20, -10, of=GAIN), Word.OPPOSITE),
        ("contradicted", found(-60, -40, of=LOSS), Word.LARGER),
        ("contradicted", found(-8, -2, of=LOSS), Word.SMALLER),
        ("contradicted", found(5, 8, of=LOSS), Word.OPPOSITE),
        ("contradicted", found(-9, -3, of=ABOVE), Word.OPPOSITE),
        ("inconclusive", found(-9, 3, of=ABOVE), Word.NONE),
        ("inconclusive", found(-10, 20, of=GAIN), Word.NONE),
        ("inconclusive", found(-40, 80, of=(-5.0, 5.0)), Word.UNDECIDED),
        ("contradicted", found(10, 20, of=(-5.0, 5.0)), Word.EFFECT),
        ("contradicted", found(-30, -15, of=(-5.0, math.inf)), Word.OPPOSITE),
        ("contradicted", found(8.1, 9.0, of=(-math.inf, 8.0)), Word.LARGER),
    ],
)
def test_a_result_is_beside_what_is_printed(outcome: str, measured: Measured, word: Word) -> None:
    assert words.of_claim(claim(), entry(outcome, measured), ()) is word


def test_a_mean_outside_its_band_is_not_as_printed_although_its_interval_meets_it() -> None:
    touching = entry("reproduced", found(30, 46, of=GAIN), fit="touches")
    assert words.of_claim(claim(), touching, ()) is Word.SMALLER
    # Of a rule on shares of cases single means may lie outside.
    assert words.of_claim(claim(kind="share"), touching, ()) is Word.AS_PRINTED


def test_what_does_not_survive_the_correction_is_no_opposite() -> None:
    reversed_ = entry("contradicted", found(-9, -1, of=ABOVE), p=0.03, adjusted_p=0.01)
    assert words.of_claim(claim(), reversed_, ()) is Word.OPPOSITE
    assert words.of_claim(claim(), replace(reversed_, adjusted_p=0.2), ()) is Word.NONE


def test_no_effect_of_a_ratio_is_one() -> None:
    ratio = claim(kind="level", **{"as": "ratio"})
    assert words.of_claim(ratio, entry("contradicted", found(0.5, 0.8, of=(1.2, 2.0))), ()) is Word.OPPOSITE
    assert words.of_claim(ratio, entry("contradicted", found(1.05, 1.1, of=(1.2, 2.0))), ()) is Word.SMALLER


def test_what_the_paper_leaves_open_is_said_where_a_choice_gives_it() -> None:
    gives = {"D4-09": "a pause of 30 s: 50 %"}
    chosen = Cause("c", "A choice", "set-up", "It decides.", ("D4-09",), "", gives)
    small = entry("contradicted", found(5, 15, of=GAIN))
    assert words.of_claim(claim(), small, (chosen,)) is Word.OPEN
    assert words.opened_by("D4-09", small, (chosen,)) == "a pause of 30 s: 50 %"
    # That the paper leaves something open is not enough: no choice is known that gives the claim.
    assert words.of_claim(claim(), small, (replace(chosen, gives={}),)) is Word.SMALLER
    assert words.of_claim(claim(), entry("reproduced", found(45, 55, of=GAIN)), (chosen,)) is Word.AS_PRINTED


@pytest.mark.parametrize(
    ("measured", "printed", "word"),
    [
        (found(31, 57, of=(40.0, 170.0)), 100, Word.SMALLER),
        (found(45, 110, of=(40.0, 170.0)), 100, Word.AS_PRINTED),
        (found(55, 65, of=(40.0, 170.0)), 100, Word.AS_PRINTED),
        (found(80, 130, of=(12.0, 110.0)), 50, Word.LARGER),
        (found(80, 130, of=(12.0, 110.0)), [50, math.inf], Word.AS_PRINTED),
        (found(22, 30, of=(20.0, 100.0)), [40, 60], Word.AS_PRINTED),
        (found(-2, 4, of=(0.0, 18.0)), 6.7, Word.NONE),
        (found(-6, -2, of=(-30.0, -1.0)), -16.7, Word.SMALLER),
    ],
)
def test_a_wide_band_does_not_make_half_or_twice_an_effect_as_printed(
    measured: Measured, printed: object, word: Word
) -> None:
    sign = -1 if measured.high < 0 else 1
    assert words.of_claim(claim(sign=sign, printed=printed), entry("reproduced", measured), ()) is word


def test_where_print_is_not_significant_either_a_factor_says_nothing() -> None:
    tiny = entry("reproduced", found(4.5, 5.5, of=(-8.0, 8.0)))
    assert words.of_claim(claim(printed=0.7), tiny, ()) is Word.AS_PRINTED


def test_no_effect_is_as_printed_only_where_it_is_shown() -> None:
    none = entry("reproduced", found(-19, 24, of=(-25.0, 25.0)), fit="within", equivalent=True)
    assert words.of_claim(claim(), none, ()) is Word.AS_PRINTED
    wide = entry("reproduced", found(-19, 57, of=(-25.0, 25.0)), fit="touches", equivalent=False)
    assert words.of_claim(claim(), wide, ()) is Word.UNDECIDED


def test_a_single_scenario_that_is_not_the_papers_need_not_have_its_value() -> None:
    double = entry("reproduced", found(34, 36, of=(6.0, 43.0)))
    assert words.of_claim(claim(kind="single", printed=17), double, ()) is Word.AS_PRINTED


def test_a_further_condition_that_decides_has_the_word() -> None:
    level = entry("contradicted", found(5, 15, of=ABOVE), further=(found(-90, -80, of=(0.0, 0.0)),))
    assert words.of_claim(claim(), level, ()) is Word.EFFECT


@pytest.mark.parametrize(
    ("name", "wide"), [("D4-97", True), ("D4-95", True), ("D1-04", False), ("D4-98", False)]
)
def test_bands_that_ask_for_hardly_more_than_the_sign_are_wide(name: str, wide: bool) -> None:
    assert words.is_wide(LEDGER.claims[name]) is wide


def test_each_change_that_is_printed_as_a_number_has_it_as_one() -> None:
    """What the ledger has in words only has its number beside the rule, so that a word can be said of it."""
    lacking = [
        each.id
        for each in LEDGER.claims.values()
        if each.rule["kind"] == "change" and "no_effect" not in each.rule and not each.value
        if re.search(r"\d+ ?%", str(each.expected)) and "printed" not in each.rule and each.lo and each.hi
    ]
    assert lacking == []


def test_readings_none_of_which_gives_it_are_no_open_question() -> None:
    readings = "the readings do not agree: {} with a, b; inconclusive with c"
    small = found(5, 15, of=GAIN)
    some, none = (
        entry("inconclusive", small, reason=readings.format(each)) for each in ("reproduced", "contradicted")
    )
    assert words.of_claim(claim(), some, ()) is Word.OPEN
    assert words.of_claim(claim(), none, ()) is Word.SMALLER


def test_of_several_cases_the_worst_counts() -> None:
    cases = found(45, 55, of=GAIN), found(5, 15, of=GAIN), found(-20, -10, of=GAIN)
    assert words.of_claim(claim(), entry("contradicted", *cases), ()) is Word.OPPOSITE
    assert words.of_claim(claim(), entry("contradicted", *cases[:2]), ()) is Word.SMALLER


def test_where_some_cases_are_as_printed_and_others_show_nothing_it_is_not_decided() -> None:
    cases = found(45, 55, of=GAIN), found(-9, 3, of=ABOVE)
    assert words.of_claim(claim(), entry("inconclusive", *cases), ()) is Word.UNDECIDED
    assert words.of_claim(claim(), entry("inconclusive", cases[1]), ()) is Word.NONE


def test_a_claim_without_runs_has_a_word_too() -> None:
    assert words.of_claim(claim(), None, ()) is Word.NOT_TESTED
    assert words.of_claim(claim(), entry("by construction"), ()) is Word.BY_CONSTRUCTION
    assert words.of_claim(claim(), entry("inconclusive"), ()) is Word.UNDECIDED


@pytest.mark.parametrize("paper", sorted(LEDGER.papers))
def test_each_paper_has_five_to_eight_headlines_of_known_claims(paper: str) -> None:
    listed = summary.headlines_of(LEDGER, paper)
    assert 5 <= len(listed) <= 8
    for each in listed:
        assert not each.says.endswith(".") and each.plain.endswith(".")
        assert each.claims and all(LEDGER.claims[name].paper == paper for name in each.claims)
    assert max(Counter(name for each in listed for name in each.claims).values()) == 1


def test_an_increase_where_a_decrease_is_printed_as_a_bare_number_has_its_sign() -> None:
    lowers = LEDGER.claims["D6-04"]
    raised = replace(
        entry("contradicted", found(6, 22, of=(-45.0, -8.0))), claim="D6-04", ours="14 (6 to 22) %"
    )
    table = summary.headline_table(
        LEDGER,
        [summary.Headline("CBR lowers it", ("D6-04",), "It does not.")],
        {"D6-04": raised},
        {"D6-04": str(words.of_claim(lowers, raised, ()))}.__getitem__,
        str,
    )
    assert table.rows == [
        ("CBR lowers it", "23% (-23 %) → +14 (6 to 22) %", "opposite", "It does not.", "D6-04")
    ]
