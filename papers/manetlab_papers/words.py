"""Says of a claim in one of six words how what comes out compares with what is printed.

An outcome says whether a claim's rule is satisfied. A word says what a reader asks: the same, less, more,
nothing, the opposite, or a matter of what the paper leaves open. It is decided after the correction for the
number of claims: a test that does not survive that says nothing.

A rule's band may be so wide that it accepts hardly less than the right sign. A word asks for more: an effect
is as printed if it is not shown to differ from print by more than a factor of two.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from manetlab.tables import Table
from manetlab_papers import causes
from manetlab_papers.ledger import Claim, Ledger
from manetlab_papers.outcomes import Measured, Outcome
from manetlab_papers.record import ONLY_QUICK, Entry, full_category


class Word(StrEnum):
    """How a result compares with what is printed; the last five are of claims that none of the six suits."""

    AS_PRINTED = "as printed"
    SMALLER = "same direction, smaller"
    LARGER = "same direction, larger"
    NONE = "no effect seen"
    OPPOSITE = "opposite"
    OPEN = "depends on what the paper leaves open"
    EFFECT = "an effect where none is printed"
    UNDECIDED = "not decided"
    BY_CONSTRUCTION = "by construction"
    NOT_TESTED = "not tested"
    QUICK = ONLY_QUICK


MEANING: Mapping[Word, str] = {
    Word.AS_PRINTED: "the rule is satisfied, means lie in their bands where there are any, no effect is "
    "shown to be none, and one that is printed as a number is not shown to differ from it by more than a "
    "factor of two",
    Word.SMALLER: "the sign or order is as printed, the size is less",
    Word.LARGER: "the sign or order is as printed, the size is more",
    Word.NONE: "an effect is printed, and none is significant here after the correction",
    Word.OPPOSITE: "the sign or order is the other one, with significance after the correction",
    Word.OPEN: "the paper does not fix a set-up on which it depends; its cause names the choice and the "
    "values with which it comes out, or is no longer contradicted",
    Word.EFFECT: "no effect is printed, and there is a significant one here",
    Word.UNDECIDED: "the runs do not tell: too wide an interval, too few values, conditions that differ, or "
    "no effect is printed and none is shown to lie within its band",
}
"""What the words mean."""

FACTOR = 2.0
"""By how much an effect may differ from the printed number and still be as printed."""
WIDE = 4.0
"""Bands whose ends are so many times apart accept an effect of half and of twice the printed size: wide."""
ALTERNATIVES = frozenset({"single", "count", "share", "agreed", "same as", "claim"})
"""Kinds of rules of which single cases may lie elsewhere, or whose scenario is not the paper's."""
OF_BANDS = frozenset({"level", "change", "tie", "single"})
"""Kinds of rules in which each mean has a band of its own, in which it must lie to be as printed."""


def of_claim(claim: Claim, entry: Entry | None, why: Iterable[causes.Cause]) -> Word:
    """The word for a claim.

    Args:
        claim: The claim.
        entry: Its verdict that counts most; None if there is none.
        why: All causes.
    """
    if entry is None or entry.outcome == str(Outcome.NOT_TESTED):
        return Word.NOT_TESTED
    if entry.outcome == str(Outcome.BY_CONSTRUCTION):
        return Word.BY_CONSTRUCTION
    if full_category(entry) == ONLY_QUICK:
        return Word.QUICK
    outcome = entry.outcome if entry.survives is not False else str(Outcome.INCONCLUSIVE)
    if outcome == str(Outcome.REPRODUCED):
        return _reproduced(claim, entry)
    if opened_by(claim.id, entry, why):
        return Word.OPEN
    if READINGS in entry.reason:
        # What no reading gives does not depend on the choice among them.
        outcome = str(Outcome.CONTRADICTED)
    cases = _cases(claim, entry.compared)
    found = _worst(cases)
    if found in (None, Word.AS_PRINTED) and entry.further:
        # A further condition decides.
        found = _worst(_cases(claim, entry.further))
    if outcome == str(Outcome.CONTRADICTED):
        # A rule that compares no intervals contradicts by an order that is reversed.
        return Word.OPPOSITE if found in (None, Word.AS_PRINTED, Word.UNDECIDED) else found
    if found in (None, Word.AS_PRINTED, Word.EFFECT):
        return Word.UNDECIDED
    # Where some cases are as printed and others show nothing, the conditions differ.
    if found in (Word.NONE, Word.OPPOSITE) and Word.AS_PRINTED in cases:
        return Word.UNDECIDED
    # What is not significant has no direction.
    return Word.NONE if found is Word.OPPOSITE else found


READINGS, GIVEN = "the readings do not agree", "reproduced with "


def opened_by(claim: str, entry: Entry | None, why: Iterable[causes.Cause]) -> str:
    """The choice that the paper leaves open, with the values that give the claim; empty if none is known."""
    if entry is not None and READINGS in entry.reason:
        said = next((each for each in entry.reason.split(": ", 1)[1].split("; ") if GIVEN in each), "")
        return said.removeprefix(GIVEN)
    return "; ".join(each.gives[claim] for each in why if claim in each.gives)


def said(word: Word, claim: str, entry: Entry | None, why: Iterable[causes.Cause]) -> str:
    """A word; where the claim depends on a choice, with the values that give it."""
    return f"{word} ({opened_by(claim, entry, why)})" if word is Word.OPEN else str(word)


def _reproduced(claim: Claim, entry: Entry) -> Word:
    """As printed, unless a mean lies outside its band, or an effect is much less or more than its number."""
    kinds = {each["kind"] for each in claim.rule.get("all", [claim.rule])}
    if entry.fit == "touches" and kinds <= OF_BANDS:
        found = _worst(_cases(claim, entry.compared))
        if found not in (None, Word.AS_PRINTED):
            assert found is not None
            return Word.SMALLER if found in (Word.NONE, Word.OPPOSITE) else found
    if entry.equivalent is False:
        # That an interval meets a band around zero does not show that nothing happens.
        return Word.UNDECIDED
    if kinds & ALTERNATIVES:
        return Word.AS_PRINTED
    return _worst([_beside_number(claim, each) for each in entry.compared]) or Word.AS_PRINTED


def _beside_number(claim: Claim, measured: Measured) -> Word:
    """The word for an effect beside the number that the paper prints, whatever else its band accepts."""
    number = claim.printed_at(measured.name, measured.low, measured.high)
    neutral = _neutral(claim)
    sign = _sign(claim, measured, neutral)
    if number is None or not sign or not (math.isfinite(measured.low) and math.isfinite(measured.high)):
        return Word.AS_PRINTED
    least, most = sorted(sign * (each - neutral) for each in number)
    of = measured.interval
    ends = sorted(sign * (each - neutral) for each in (of.low, of.high))
    is_met = ends[0] <= most and ends[1] >= least
    if least <= 0 or is_met:
        return Word.AS_PRINTED
    low, high = sorted(neutral + sign * each for each in (least / FACTOR, most * FACTOR))
    return _case(Measured(of, low, high), neutral, number)


def _sign(claim: Claim, measured: Measured, neutral: float) -> int:
    """The sign of the effect that is printed; 0 where what is accepted holds no effect."""
    if measured.low > neutral:
        return +1
    if measured.high < neutral:
        return -1
    signs = {int(each.get("sign", 0)) for each in claim.rule.get("all", [claim.rule])}
    return signs.pop() if len(signs) == 1 else 0


def is_wide(claim: Claim) -> bool:
    """Whether a band accepts half and twice of an effect: hardly more than its sign, or its magnitude."""
    neutral = _neutral(claim)
    for index in range(max(len(claim.lo), len(claim.hi))):
        low, high = sorted(abs(each - neutral) for each in claim.band(index))
        if (claim.band(index)[0] - neutral) * (claim.band(index)[1] - neutral) >= 0 and high >= WIDE * low:
            return True
    return False


def _cases(claim: Claim, compared: Sequence[Measured]) -> list[Word]:
    """The word for each comparison."""
    neutral = _neutral(claim)
    return [
        _case(each, neutral, claim.printed_at(each.name, each.low, each.high))
        for each in compared
        if math.isfinite(each.interval.mean)
    ]


def _worst(found: Sequence[Word]) -> Word | None:
    """The word for all that was compared: the worst that any case deserves; None if nothing was."""
    if not found:
        return None
    for worst in (Word.OPPOSITE, Word.NONE, Word.EFFECT):
        if worst in found:
            return worst
    differing = Counter(each for each in found if each in (Word.SMALLER, Word.LARGER))
    if differing:
        return differing.most_common(1)[0][0]
    return Word.UNDECIDED if Word.UNDECIDED in found else Word.AS_PRINTED


def _neutral(claim: Claim) -> float:
    """What no effect is: 1 of a ratio, else 0."""
    conditions = claim.rule.get("all", [claim.rule])
    return 1.0 if all(each.get("as") == "ratio" for each in conditions) else 0.0


def _case(measured: Measured, neutral: float, number: tuple[float, float] | None = None) -> Word:
    """The word for one comparison, of which ``neutral`` would be no effect, beside what is printed."""
    of = measured.interval
    mean, low, high = (each - neutral for each in (of.mean, measured.low, measured.high))
    ends = (of.low - neutral, of.high - neutral)
    if low <= mean <= high:
        return Word.AS_PRINTED
    if low < 0 < high or low == high == 0:
        printed = 0.0 if number is None else sum(number) / 2 - neutral
        return _beyond_none(mean, ends, (low, high), printed)
    if high <= 0:
        # As if it were said to be above zero.
        mean, low, high = -mean, -high, -low
        ends = (-ends[1], -ends[0])
    if mean > high:
        return Word.LARGER
    if ends[0] > 0:
        return Word.SMALLER
    return Word.OPPOSITE if ends[1] < 0 else Word.NONE


def _beyond_none(mean: float, ends: tuple[float, float], band: tuple[float, float], printed: float) -> Word:
    """The word for a mean outside a band that holds no effect.

    Args:
        mean: The mean, from what would be no effect.
        ends: Its interval.
        band: The band.
        printed: The effect that is printed; 0 if none is.
    """
    if math.isinf(band[0]):
        # A limit that is exceeded.
        return Word.LARGER
    # What is said to be above, or level.
    sign = 1.0 if math.isinf(band[1]) else printed
    shown = ends[0] > 0 or ends[1] < 0
    if not sign:
        return Word.EFFECT if shown else Word.UNDECIDED
    if mean * sign > 0:
        return Word.LARGER
    return Word.OPPOSITE if shown else Word.NONE


def of_all(ledger: Ledger, best: Mapping[str, Entry], why: Sequence[causes.Cause]) -> dict[str, Word]:
    """The word for each claim of the ledger."""
    return {name: of_claim(claim, best.get(name), why) for name, claim in ledger.claims.items()}


def counted(words: Iterable[Word]) -> str:
    """How many claims have which word, in a sentence without its full stop."""
    counts = Counter(words)
    listed = [f"{counts[each]} {each}" for each in Word if counts[each]]
    return f"{counts.total()} claims: {'; '.join(listed)}"


def table(ledger: Ledger, words: Mapping[str, Word], papers: Sequence[str]) -> Table:
    """How many claims of first priority, and of all, have which word, by paper (empty for all papers)."""
    of = [each for each in Word if each in words.values()]
    made = Table("", ("paper", "claims", "count", *map(str, of)), text_columns=2)
    for paper in papers:
        for priority, name in ((1, "first priority"), (0, "all")):
            found = Counter(
                words[each.id]
                for each in ledger.claims.values()
                if paper in ("", each.paper) and priority in (0, each.priority)
            )
            made.add(paper or "all", name, str(found.total()), *(str(found[each]) for each in of))
    return made
