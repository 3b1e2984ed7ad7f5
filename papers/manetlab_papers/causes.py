"""Why verdicts differ from what is printed: causes with their numbers, as data, and the page made from them.

`data/causes.toml` has one entry a cause. A claim may have several, and a cause may explain claims that are
contradicted, open, or reproduced only just.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from manetlab_papers.addresses import anchor, link_to
from manetlab_papers.ledger import CAUSES, FOLDER, Ledger, load_table, require
from manetlab_papers.outcomes import Outcome
from manetlab_papers.record import ONLY_QUICK, Entry, best, brief, full_category, verdict_text

BECAUSE: Mapping[str, str] = {
    "set-up": "The paper leaves it open or says otherwise, and another choice decides it",
    "simulator": "What the paper's simulator did",
    "paper": "The paper's statements cannot all be true",
    "size": "Too few or too short runs for a verdict, also where they are as many and as long as the paper's",
    "stale": "The set-up was corrected after the kept runs were made; they must be repeated",
    "open": "Not known; the text says what was ruled out",
}
"""What kinds of causes there are, by the word that data use."""


@dataclass(frozen=True)
class Cause:
    """A reason why claims differ from what is printed.

    Attributes:
        id: Its name.
        title: What is different.
        because: Which kind of cause it is, a word of `BECAUSE`.
        summary: What was found, in a sentence or two with the numbers that decide it.
        claims: The claims that it explains.
        text: All of it, in Markdown, with the deciding runs and their tables.
        gives: Of what the paper leaves open: by claim, the choice with the values that give it, or with which
            it is no longer contradicted.
    """

    id: str
    title: str
    because: str
    summary: str
    claims: tuple[str, ...]
    text: str
    gives: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def anchor(self) -> str:
        """The anchor of its heading on the page."""
        return anchor(self.title)


@cache
def load() -> tuple[Cause, ...]:
    """The causes that come with the package, in the order of the page."""
    return read(FOLDER / CAUSES)


def read(path: Path) -> tuple[Cause, ...]:
    """Reads causes.

    Raises:
        InputError: The file cannot be read, or an entry lacks a key or has one too many.
    """
    return tuple(_cause(entry) for entry in load_table(path).get("cause", []))


def _cause(entry: Mapping[str, Any]) -> Cause:
    known = ("id", "title", "because", "summary", "claims", "text")
    given = sorted(entry.keys() - {"gives"})
    require(given == sorted(known), entry.get("id", "cause"), sorted(entry), f"the keys {known}, gives")
    require(
        entry["because"] in BECAUSE, f"{entry['id']}: because", entry["because"], f"one of {list(BECAUSE)}"
    )
    return Cause(**{**entry, "claims": tuple(entry["claims"]), "text": entry["text"].strip()})


def check(ledger: Ledger, causes: Sequence[Cause]) -> None:
    """Checks that causes name claims of the ledger, each once, and have names of their own.

    Raises:
        InputError: One does not.
    """
    names = [each.id for each in causes]
    for cause in causes:
        require(names.count(cause.id) == 1, "cause", cause.id, "an id of its own")
        require(bool(cause.claims), f"{cause.id}: claims", "nothing", "the claims that it explains")
        for claim in cause.claims:
            known = claim in ledger.claims and cause.claims.count(claim) == 1
            require(known, f"{cause.id}: claims", claim, "a claim's number, once")
        for claim in cause.gives:
            require(claim in cause.claims, f"{cause.id}: gives", claim, "one of its claims")
        left_open = cause.because == "set-up" or not cause.gives
        require(left_open, f"{cause.id}: because", cause.because, "set-up, where a choice gives a claim")


def of_claim(causes: Iterable[Cause], claim: str) -> list[Cause]:
    """The causes that explain a claim."""
    return [each for each in causes if claim in each.claims]


def without_cause(causes: Sequence[Cause], kept: Iterable[Entry]) -> list[str]:
    """The contradicted claims that no cause explains."""
    contradicted = [each for each in best(kept).values() if each.outcome == str(Outcome.CONTRADICTED)]
    return sorted(each.claim for each in contradicted if not of_claim(causes, each.claim))


def page(ledger: Ledger, causes: Sequence[Cause], of: Mapping[str, Entry]) -> str:
    """The page of documentation: all causes, with the claims that each explains.

    Args:
        ledger: The ledger.
        causes: The causes.
        of: The verdict of each claim that counts most.
    """
    lines = [
        "# Why verdicts differ",
        "",
        "[The papers' pages](../../docs/papers.md) have the verdicts; [the guide](../how-to.md) says how to "
        "read them. A cause may also explain claims that are open, or that only quick runs contradict. "
        "Values beside a claim are those of its verdict. Values in the texts are of the runs that are named "
        "there, often fewer or shorter ones, on which variants were compared.",
        "",
        *(f"- *{word}*: {text}." for word, text in BECAUSE.items()),
        "",
        "| cause | kind | claims |",
        "|---|---|---|",
        *(
            f"| [{each.title}](#{each.anchor}) | {each.because} | {', '.join(each.claims)} |"
            for each in causes
        ),
    ]
    for each in causes:
        lines += ["", f"## {each.title}", "", each.summary, ""]
        lines += [_claim(ledger, claim, of.get(claim), each.gives.get(claim, "")) for claim in each.claims]
        lines += ["", each.text]
    return "\n".join([*lines, "", "*This page is made by `make papers-pages`; do not edit it.*", ""])


def _claim(ledger: Ledger, claim: str, entry: Entry | None, given_by: str) -> str:
    """A claim with its verdict and values, and the choice that gives it."""
    verdict = "not tested" if entry is None else verdict_text(entry)
    quick = ", quick" if full_category(entry) == ONLY_QUICK else ""
    said = ledger.claims[claim]
    values = "" if entry is None else f" Printed: {said.expected}; ours: {brief(entry.ours, entry.compared)}."
    given = f" Given by {given_by}." if given_by else ""
    return f"- {link_to(ledger, claim)} ({verdict}{quick}): {said.statement}{values}{given}"
