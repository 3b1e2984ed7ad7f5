"""What each paper says in a few points, and how many claims of each point hold.

`data/pages.toml` has the points. Together they hold all of a paper's claims of first priority, each once, so
that none is left out because it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from manetlab.tables import Table
from manetlab_papers import causes
from manetlab_papers.ledger import Ledger
from manetlab_papers.outcomes import Outcome
from manetlab_papers.record import ONLY_QUICK, Entry, full_category


@dataclass(frozen=True)
class Point:
    """Something that a paper says.

    Attributes:
        says: The point, in a sentence without its full stop.
        claims: The claims of first priority that it stands for.
    """

    says: str
    claims: tuple[str, ...]


def of_paper(ledger: Ledger, paper: str) -> list[Point]:
    """The points of a paper, in its order."""
    return [Point(each["says"], tuple(each["claims"])) for each in ledger.pages[paper]["points"]]


def table(
    listed: Iterable[Point],
    best: Mapping[str, Entry],
    why: Sequence[causes.Cause],
    name_of_claim: Callable[[str], str],
    name_of_cause: Callable[[causes.Cause], str],
) -> Table:
    """How many claims of each point hold, which do not, and why.

    Args:
        listed: The points.
        best: The verdict of each claim that counts most.
        why: Why verdicts differ.
        name_of_claim: What a claim is called, with a link if there is a page to lead to.
        name_of_cause: The same of a cause.
    """
    made = Table("", ("the paper says", "holds", "contradicted", "inconclusive", "why not"), text_columns=5)
    for point in listed:
        outcomes = {each: _outcome(best.get(each)) for each in point.claims}
        links = [
            ", ".join(name_of_claim(each) for each, found in outcomes.items() if found == outcome)
            for outcome in (str(Outcome.CONTRADICTED), str(Outcome.INCONCLUSIVE))
        ]
        made.add(point.says, _holds(list(outcomes.values())), *links, _why(why, outcomes, name_of_cause))
    return made


def _outcome(entry: Entry | None) -> str:
    if entry is None:
        return str(Outcome.NOT_TESTED)
    return ONLY_QUICK if full_category(entry) == ONLY_QUICK else entry.outcome


def _holds(outcomes: Sequence[str]) -> str:
    """How many claims are reproduced of those that can fail, and what else cannot be counted."""
    built, missing = outcomes.count(str(Outcome.BY_CONSTRUCTION)), outcomes.count(str(Outcome.NOT_TESTED))
    quick = outcomes.count(ONLY_QUICK)
    count = len(outcomes) - built
    listed = [f"{outcomes.count(str(Outcome.REPRODUCED))} of {count}"] if count else []
    counted = ((built, str(Outcome.BY_CONSTRUCTION)), (missing, str(Outcome.NOT_TESTED)), (quick, ONLY_QUICK))
    return ", ".join([*listed, *(f"{number} {what}" for number, what in counted if number)])


def _why(
    why: Sequence[causes.Cause], outcomes: Mapping[str, str], name: Callable[[causes.Cause], str]
) -> str:
    """The first cause of each claim that does not hold, each once."""
    failed = [
        each
        for each, outcome in outcomes.items()
        if outcome in (str(Outcome.CONTRADICTED), str(Outcome.INCONCLUSIVE))
    ]
    found = [cause for each in failed for cause in causes.of_claim(why, each)[:1]]
    return "; ".join(name(cause) for cause in dict.fromkeys(found))
