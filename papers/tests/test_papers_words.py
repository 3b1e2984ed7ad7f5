"""One of six words for each claim: what is said of a result beside what is printed."""

from __future__ import annotations

import math
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
        ("inconclusive", found(-40, 80, of=(-5.0, 5.0)), Word.LARGER),
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


def test_what_the_paper_leaves_open_is_said_where_a_cause_names_it() -> None:
    chosen = Cause("c", "A choice", "set-up", "It decides.", ("D4-09",), "")
    small = entry("contradicted", found(5, 15, of=GAIN))
    assert words.of_claim(claim(), small, (chosen,)) is Word.OPEN
    assert words.of_claim(claim(), small, (replace(chosen, because="open"),)) is Word.SMALLER
    assert words.of_claim(claim(), entry("reproduced", found(45, 55, of=GAIN)), (chosen,)) is Word.AS_PRINTED


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
