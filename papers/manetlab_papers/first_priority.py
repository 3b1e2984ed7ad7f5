"""The page of claims of first priority: of each its verdict at full size, or what is missing for it."""

from __future__ import annotations

from collections.abc import Mapping

from manetlab.tables import Table
from manetlab_papers import record
from manetlab_papers.ledger import Claim, Ledger
from manetlab_papers.order import Remaining
from manetlab_papers.places import command, link_to, short_name
from manetlab_papers.record import Entry


def page(ledger: Ledger, best: Mapping[str, Entry], left: Remaining) -> str:
    """The page, in Markdown.

    Args:
        ledger: The ledger.
        best: The verdict of each claim that counts most.
        left: What is left to run at full size.
    """
    lines = [
        "# Claims of first priority at full size",
        "",
        "Each claim of first priority of the [five papers](../papers.md): its verdict at the paper's own "
        "size, or what is missing for it. Runs and minutes of processor time are those that a claim alone "
        "still needs; claims share runs.",
        "",
    ]
    for paper in ledger.papers:
        claims = [each for each in ledger.claims.values() if each.paper == paper and each.priority == 1]
        open_ones = sum(_is_open(best.get(each.id)) for each in claims)
        table = Table(
            "", ("claim", "says", "verdict at full size", "ours, or the quick verdict"), text_columns=4
        )
        for each in claims:
            table.add(link_to(ledger, each.id), each.statement, *_row(ledger, each, best.get(each.id), left))
        lines += [
            f"## {short_name(ledger, paper)}",
            "",
            f"{len(claims) - open_ones} of {len(claims)} have a verdict at full size.",
            "",
            '<div class="claims" markdown>',
            "",
            *table.to_markdown().splitlines()[2:],
            "",
            "</div>",
            "",
        ]
    return "\n".join([*lines, "*This page is made by `make papers-pages`; do not edit it.*", ""])


def _is_open(entry: Entry | None) -> bool:
    return entry is None or record.full_category(entry) in (record.ONLY_QUICK, "not tested")


def _row(ledger: Ledger, claim: Claim, entry: Entry | None, left: Remaining) -> tuple[str, str]:
    """A claim's verdict at full size with our value, or what is missing."""
    if entry is not None and not _is_open(entry):
        return f"**{record.verdict_text(entry)}**", record.brief(entry.ours)
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
