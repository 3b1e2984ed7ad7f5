"""What each paper says: its headlines with what comes out, and a few points with how many claims hold.

`data/pages.toml` has both. The points together hold all of a paper's claims of first priority, each once, so
that none is left out because it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from manetlab.tables import Table
from manetlab_papers import causes
from manetlab_papers.ledger import Claim, Ledger
from manetlab_papers.record import Entry, brief
from manetlab_papers.words import Word


@dataclass(frozen=True)
class Headline:
    """Something that the abstract or the conclusions of a paper say.

    Attributes:
        says: It, in a sentence without its full stop.
        claims: The claims that it is read off.
        plain: What explains it, in a sentence.
    """

    says: str
    claims: tuple[str, ...]
    plain: str


@dataclass(frozen=True)
class Point:
    """Something that a paper says.

    Attributes:
        says: The point, in a sentence without its full stop.
        claims: The claims of first priority that it stands for.
    """

    says: str
    claims: tuple[str, ...]


def headlines_of(ledger: Ledger, paper: str) -> list[Headline]:
    """The headlines of a paper, in its order."""
    listed = ledger.pages[paper]["headlines"]
    return [Headline(each["says"], tuple(each["claims"]), each["plain"]) for each in listed]


def of_paper(ledger: Ledger, paper: str) -> list[Point]:
    """The points of a paper, in its order."""
    return [Point(each["says"], tuple(each["claims"])) for each in ledger.pages[paper]["points"]]


def headline_table(
    ledger: Ledger,
    listed: Iterable[Headline],
    best: Mapping[str, Entry],
    word_of_claim: Callable[[str], str],
    name_of_claim: Callable[[str], str],
) -> Table:
    """Each headline with what is printed, what comes out, and how the two compare."""
    columns = ("the paper says", "printed → ours", "verdict", "in plain words", "claims")
    made = Table("", columns, text_columns=len(columns))
    for each in listed:
        values = "; ".join(
            f"{_printed(ledger.claims[claim])} → {_ours(ledger.claims[claim], best.get(claim))}"
            for claim in each.claims
        )
        found = dict.fromkeys(map(word_of_claim, each.claims))
        made.add(each.says, values, "; ".join(found), each.plain, ", ".join(map(name_of_claim, each.claims)))
    return made


def _printed(claim: Claim) -> str:
    """What is printed; of a decrease that words print as a bare number, its sign."""
    bare = claim.kind == "change" and len(claim.value) == 1 and claim.value[0] < 0
    if not bare or claim.expected.startswith(("-", "−")):
        return claim.expected
    return f"{claim.expected} ({claim.value[0]:g}{claim.unit})"


def _ours(claim: Claim, entry: Entry | None) -> str:
    """What comes out; an increase where a decrease is printed has its sign."""
    if entry is None:
        return "–"
    ours = brief(entry.ours, entry.compared)
    falls = bool(claim.hi) and max(claim.hi) <= 0
    rises = len(entry.compared) == 1 and entry.compared[0].interval.mean > 0
    return f"+{ours}" if falls and rises and ours[:1].isdigit() else ours


def table(
    listed: Iterable[Point],
    words: Mapping[str, Word],
    why: Sequence[causes.Cause],
    name_of_claim: Callable[[str], str],
    name_of_cause: Callable[[causes.Cause], str],
) -> Table:
    """How many claims of each point are as printed, what is said of the others, and why.

    Args:
        listed: The points.
        words: The word for each claim.
        why: Why verdicts differ.
        name_of_claim: What a claim is called, with a link if there is a page to lead to.
        name_of_cause: The same of a cause.
    """
    made = Table("", ("the paper says", "as printed", "the others", "why"), text_columns=4)
    for point in listed:
        of = {each: words[each] for each in point.claims}
        others = [word for word in Word if word is not Word.AS_PRINTED and word in of.values()]
        listed_by_word = "; ".join(
            f"{word}: {', '.join(name_of_claim(claim) for claim in of if of[claim] is word)}"
            for word in others
        )
        count = list(of.values()).count(Word.AS_PRINTED)
        made.add(point.says, f"{count} of {len(of)}", listed_by_word, _why(why, of, name_of_cause))
    return made


def _why(why: Sequence[causes.Cause], words: Mapping[str, Word], name: Callable[[causes.Cause], str]) -> str:
    """The first cause of each claim that is not as printed, each once."""
    held = (Word.AS_PRINTED, Word.BY_CONSTRUCTION, Word.NOT_TESTED)
    failed = [each for each, word in words.items() if word not in held]
    found = [cause for each in failed for cause in causes.of_claim(why, each)[:1]]
    return "; ".join(name(cause) for cause in dict.fromkeys(found))
