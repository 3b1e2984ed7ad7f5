"""Says of a claim in one of six words how what comes out compares with what is printed.

An outcome says whether a claim's rule is satisfied. A word says what a reader asks: the same, less, more,
nothing, the opposite, or a matter of what the paper leaves open. It is decided after the correction for the
number of claims: a test that does not survive that says nothing.
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
    """How a result compares with what is printed; the last four are of claims that none of the six suits."""

    AS_PRINTED = "as printed"
    SMALLER = "same direction, smaller"
    LARGER = "same direction, larger"
    NONE = "no effect seen"
    OPPOSITE = "opposite"
    OPEN = "depends on what the paper leaves open"
    UNDECIDED = "not decided"
    BY_CONSTRUCTION = "by construction"
    NOT_TESTED = "not tested"
    QUICK = ONLY_QUICK


MEANING: Mapping[Word, str] = {
    Word.AS_PRINTED: "the rule is satisfied, and means lie in their bands where there are any",
    Word.SMALLER: "the sign or order is as printed, the size is less",
    Word.LARGER: "the sign or order is as printed, the size is more",
    Word.NONE: "an effect is printed, and none is significant here after the correction",
    Word.OPPOSITE: "the sign or order is the other one, with significance after the correction",
    Word.OPEN: "the paper does not fix a set-up on which it depends; its cause names the choice and the "
    "values that give what is printed",
    Word.UNDECIDED: "the runs do not tell: too wide an interval, too few values, or conditions that differ",
}
"""What the words mean."""

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
    is_open = any(each.because == "set-up" for each in causes.of_claim(why, claim.id))
    if "the readings do not agree" in entry.reason:
        # What no reading gives does not depend on the choice among them.
        is_open = "reproduced with" in entry.reason
        outcome = str(Outcome.INCONCLUSIVE if is_open else Outcome.CONTRADICTED)
    if is_open:
        return Word.OPEN
    found = _joint(claim, entry.compared)
    if outcome == str(Outcome.CONTRADICTED):
        # A rule that compares no intervals contradicts by an order that is reversed.
        return Word.OPPOSITE if found in (None, Word.AS_PRINTED) else found
    if found is None or found is Word.AS_PRINTED:
        return Word.UNDECIDED
    # What is not significant has no direction.
    return Word.NONE if found is Word.OPPOSITE else found


def _reproduced(claim: Claim, entry: Entry) -> Word:
    """As printed, unless a mean lies outside the band that only its interval meets."""
    conditions = claim.rule.get("all", [claim.rule])
    if entry.fit == "touches" and all(each["kind"] in OF_BANDS for each in conditions):
        found = _joint(claim, entry.compared)
        if found not in (None, Word.AS_PRINTED):
            assert found is not None
            return Word.SMALLER if found in (Word.NONE, Word.OPPOSITE) else found
    return Word.AS_PRINTED


def _joint(claim: Claim, compared: Sequence[Measured]) -> Word | None:
    """The word for all that was compared: the worst that any case deserves; None if nothing was compared."""
    neutral = 1.0 if _compares_ratios(claim) else 0.0
    found = [_case(each, neutral) for each in compared if math.isfinite(each.interval.mean)]
    if not found:
        return None
    for worst in (Word.OPPOSITE, Word.NONE):
        if worst in found:
            return worst
    differing = Counter(each for each in found if each is not Word.AS_PRINTED)
    return differing.most_common(1)[0][0] if differing else Word.AS_PRINTED


def _compares_ratios(claim: Claim) -> bool:
    conditions = claim.rule.get("all", [claim.rule])
    return all(each.get("as") == "ratio" for each in conditions)


def _case(measured: Measured, neutral: float) -> Word:
    """The word for one comparison, of which ``neutral`` would be no effect."""
    of = measured.interval
    mean, low, high = (each - neutral for each in (of.mean, measured.low, measured.high))
    if low <= mean <= high:
        return Word.AS_PRINTED
    if low < 0 < high:
        # Hardly any effect is printed, and there is more of one.
        return Word.LARGER
    if high <= 0:
        # As if it were said to be above zero.
        mean, low, high = -mean, -high, -low
        ends = (neutral - of.high, neutral - of.low)
    else:
        ends = (of.low - neutral, of.high - neutral)
    if mean > high:
        return Word.LARGER
    if ends[0] > 0:
        return Word.SMALLER
    return Word.OPPOSITE if ends[1] < 0 else Word.NONE


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
