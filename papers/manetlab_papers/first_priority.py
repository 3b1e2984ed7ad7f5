"""The page of claims of first priority: of each its verdict at full size, or what is missing for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from manetlab.tables import Table
from manetlab_papers import record
from manetlab_papers.ledger import Claim, Ledger
from manetlab_papers.order import Remaining
from manetlab_papers.places import command, link_to, short_name
from manetlab_papers.record import Entry

COMPLETE = ", with the reason where it is not reproduced."
INCOMPLETE = (
    ", or what is missing for it. Runs and minutes of processor time are those that a claim alone still "
    "needs; claims share runs."
)
HOW = {"within": "within the band", "touches": "touching it", "no band": "without a band"}
"""How claims are reproduced."""


def page(ledger: Ledger, best: Mapping[str, Entry], left: Remaining) -> str:
    """The page, in Markdown.

    Args:
        ledger: The ledger.
        best: The verdict of each claim that counts most.
        left: What is left to run at full size.
    """
    first = [each for each in ledger.claims.values() if each.priority == 1]
    is_complete = not any(_is_open(best.get(each.id)) for each in first)
    lines = [
        "# Claims of first priority at full size",
        "",
        "Each claim of first priority of the [five papers](../papers.md): its verdict at the paper's own "
        f"size{COMPLETE if is_complete else INCOMPLETE}",
        "",
    ]
    for paper in ledger.papers:
        claims = [each for each in first if each.paper == paper]
        ours = "ours" if is_complete else "ours, or the quick verdict"
        table = Table("", ("claim", "says", "verdict at full size", ours), text_columns=4)
        for each in claims:
            table.add(link_to(ledger, each.id), each.statement, *_row(ledger, each, best.get(each.id), left))
        lines += [
            f"## {short_name(ledger, paper)}",
            "",
            _counts([best.get(each.id) for each in claims]),
            "",
            '<div class="claims" markdown>',
            "",
            *table.to_markdown().splitlines()[2:],
            "",
            "</div>",
            "",
        ]
    return "\n".join([*lines, "*This page is made by `make papers-pages`; do not edit it.*", ""])


def _counts(entries: Sequence[Entry | None]) -> str:
    """How many claims have a verdict, and which, in a sentence."""
    said = Counter(record.category(each) for each in entries if not _is_open(each))
    how = [f"{said[name]} {words}" for name, words in HOW.items() if said[name]]
    listed = [f"{sum(said[name] for name in HOW)} are reproduced ({', '.join(how)})"] if how else []
    listed += [f"{said[name]} {name}" for name in record.CATEGORIES if said[name] and name not in HOW]
    decided = said.total()
    of_all = f"All {decided}" if decided == len(entries) else f"{decided} of {len(entries)}"
    return f"{of_all} have a verdict at full size{': ' if listed else ''}{', '.join(listed)}."


def _is_open(entry: Entry | None) -> bool:
    return entry is None or record.full_category(entry) in (record.ONLY_QUICK, "not tested")


def _row(ledger: Ledger, claim: Claim, entry: Entry | None, left: Remaining) -> tuple[str, str]:
    """A claim's verdict at full size with our value, or what is missing."""
    if entry is not None and not _is_open(entry):
        verdict = record.verdict_text(entry)
        return f"**{verdict}**{record.verdict_and_reason(entry).removeprefix(verdict)}", record.brief(
            entry.ours
        )
    missing = missing_for(ledger, claim, entry, left)
    if entry is None:
        return missing, "–"
    return missing, f"quick: {record.verdict_text(entry)}; {record.brief(entry.ours)}"


def missing_for(ledger: Ledger, claim: Claim, entry: Entry | None, left: Remaining) -> str:
    """What is missing for a claim's verdict at full size; nothing if it has one.

    Args:
        ledger: The ledger.
        claim: The claim.
        entry: Its verdict, if it has one.
        left: What is left to run at full size.
    """
    if not _is_open(entry):
        return ""
    if entry is not None and not entry.size:
        return f"not tested: {entry.reason}"
    experiments = [ledger.experiments[each] for each in (claim.experiment, *claim.also)]
    listed = [each for each in experiments if left.of([each]).runs]
    if not listed and entry is None:
        return "not tested: nothing to measure"
    if not listed:
        again = f"`{command(ledger, experiments[0])}`"
        return f"not judged: runs are kept without values that the claim needs; {again} makes these again"
    cost = left.of(listed)
    commands = ", ".join(f"`{command(ledger, each)}`" for each in listed)
    return f"not run: needs {cost.runs} runs, {cost.cpu_time_s / 60:.0f} min, {commands}"
