"""Keeps verdicts: one JSON file beside the store of runs, and the page of documentation made from it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from manetlab.errors import InputError
from manetlab.files import read_bytes, write_text
from manetlab.tables import Table
from manetlab_papers.ledger import Claim, Experiment, Ledger
from manetlab_papers.outcomes import Outcome
from manetlab_papers.rules import Verdict

_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_FIGURE = re.compile(rf": (?:last minus first )?({_NUMBER})")
_ALONG = re.compile(rf"({_NUMBER})(?:, {_NUMBER}){{3,}}, ({_NUMBER})")
"""Five or more values along an axis."""
FILE = "verdicts.json"
SCALES = ("full", "quick")
"""From the one that counts more."""


@dataclass(frozen=True)
class Entry:
    """A verdict as it is kept.

    Attributes:
        claim: The claim's number.
        outcome: What was said of it.
        ours: What was found.
        reason: Why.
        part: Which part of the claim was tested; empty for all of it.
        experiment: The experiment.
        scale: ``full`` or ``quick``.
        code: Version and commit of the code that ran.
        date: The day, as ``2026-11-21``.
        stale: What has changed since kept runs were made; empty if they are current.
    """

    claim: str
    outcome: str
    ours: str
    reason: str
    part: str
    experiment: str
    scale: str
    code: str
    date: str
    stale: str = ""


def entries(verdicts: Iterable[Verdict], scale: str, code: str, date: str, stale: str = "") -> list[Entry]:
    """Verdicts as they are kept."""
    return [
        Entry(
            each.claim.id,
            str(each.outcome),
            each.ours,
            each.reason,
            each.part,
            each.claim.experiment,
            scale,
            code,
            date,
            stale,
        )
        for each in verdicts
    ]


def load(folder: Path) -> list[Entry]:
    """What was kept in a folder; nothing if nothing was.

    Raises:
        InputError: The file is there and cannot be read.
    """
    path = folder / FILE
    if not path.exists():
        return []
    content = read_bytes(path, "record of verdicts")
    try:
        return [Entry(**each) for each in json.loads(content)]
    except (ValueError, TypeError) as error:
        hint = "remove it; `manetlab papers reproduce` writes it anew from the stored runs"
        raise InputError(
            "the record of verdicts cannot be read", str(path), str(error), "verdicts in JSON", hint
        ) from None


def keep(folder: Path, new: Sequence[Entry]) -> list[Entry]:
    """Adds verdicts to those that were kept, in place of older ones of the same claim and scale.

    Raises:
        InputError: The record cannot be read or written.
    """
    merged = {(each.claim, each.scale): each for each in [*load(folder), *new]}
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / FILE, json.dumps([asdict(each) for each in merged.values()], indent=1) + "\n")
    return list(merged.values())


def best(kept: Iterable[Entry]) -> dict[str, Entry]:
    """The verdict of each claim that counts most: the full one where there is one."""
    ordered = sorted(kept, key=lambda each: SCALES.index(each.scale), reverse=True)
    return {each.claim: each for each in ordered}


def status(ledger: Ledger, kept: Iterable[Entry]) -> Table:
    """All claims at a glance: how many of each paper have which outcome."""
    of = best(kept)
    columns = ("paper", "claims", *(str(each) for each in Outcome), "of these in part")
    table = Table("The papers' claims", columns)
    for paper in [*ledger.papers, ""]:
        claims = [each for each in ledger.claims.values() if paper in ("", each.paper)]
        counts = Counter(of[each.id].outcome if each.id in of else str(Outcome.NOT_TESTED) for each in claims)
        part = sum(bool(of[each.id].part) for each in claims if each.id in of)
        cells = (str(counts[str(outcome)]) for outcome in Outcome)
        table.add(paper or "all", str(len(claims)), *cells, str(part))
    table.notes.append(
        "“In part”: the claim speaks of several systems, and the verdict is on those that are run here."
    )
    for scale in SCALES:
        codes = sorted({(each.date, each.code) for each in of.values() if each.scale == scale and each.code})
        if codes:
            text = "; ".join(f"{date} by {code}" for date, code in codes)
            table.notes.append(f"{scale.capitalize()} runs: {text}.")
    stale = sum(bool(each.stale) for each in of.values())
    if stale:
        what = "verdict is stale" if stale == 1 else "verdicts are stale"
        table.notes.append(f"{stale} {what}: set-up or code has changed since the runs were made.")
    return table


def verdict_table(ledger: Ledger, title: str, shown: Sequence[Entry], *, short: bool = False) -> Table:
    """Verdicts with what the paper says, what would be accepted, and what was found.

    Args:
        ledger: The ledger.
        title: The table's.
        shown: The verdicts.
        short: Of claims on many cases a few are shown, and shared rules by their names.
    """
    columns = ("claim", "statement", "printed", "accepted", "ours", "verdict", "why")
    table = Table(title, columns, text_columns=len(columns))
    for each in shown:
        claim = ledger.claims[each.claim]
        outcome = f"{each.outcome} (part: {each.part})" if each.part else each.outcome
        outcome += ", stale" if each.stale else ""
        rule, ours, reason = accepted(claim), each.ours, each.reason
        if short:
            rule = rule if claim.lo or claim.hi else _shortened(ledger, claim)
            ours, reason = brief(ours), brief(reason)
        table.add(claim.id, claim.statement, claim.expected, rule, ours, outcome, reason)
    table.notes += [f"Stale: {text}." for text in dict.fromkeys(each.stale for each in shown) if text]
    return table


def _shortened(ledger: Ledger, claim: Claim) -> str:
    """A tolerance with the short name of the rule that it quotes, if it is one of those that have one."""
    text = claim.tolerance
    for words, name in ledger.short.items():
        text = text.replace(words, name + "." if len(words) < len(text) else name)
    return text


MOST_CASES = 3
"""Of a claim on more cases pages show two."""
MANY_CASES = (
    f"Of claims on more than {MOST_CASES} cases two are shown; `manetlab papers reproduce` prints them all."
)


def brief(text: str) -> str:
    """A list of cases as one can read it: of many, the least and the greatest; of an axis, its ends.

    Args:
        text: Cases such as ``10 kb/s: 3.1 ± 0.2``, with semicolons in between. If one has no figure after its
            colon, the first and the last are shown.
    """
    cases = _ALONG.sub(r"\1, …, \2", text).split("; ")
    if len(cases) <= MOST_CASES:
        return "; ".join(cases)
    figures = [_FIGURE.search(case) for case in cases]
    ends, what = (0, len(cases) - 1), "the first and the last"
    if all(figures):
        order = sorted(range(len(cases)), key=lambda index: float(figures[index][1]))  # type: ignore[index]
        ends, what = (order[0], order[-1]), "the least and the greatest"
    return f"{cases[ends[0]]}; {cases[ends[1]]} ({what} of {len(cases)})"


def assumed(ledger: Ledger, experiment: Experiment) -> str:
    """What the paper does not say and what was taken, in a sentence."""
    listed = [ledger.assumptions[name] for name in experiment.unstated]
    if not listed:
        return "The paper leaves nothing open."
    return (
        "Not said by the paper, and taken: "
        + "; ".join(f"{each.parameter}: {each.text}" for each in listed)
        + "."
    )


def accepted(claim: Claim) -> str:
    """The band, and in words the rule of a claim that has none."""
    return claim.band_text if claim.lo or claim.hi else claim.tolerance


def page(ledger: Ledger, kept: Sequence[Entry]) -> str:
    """The page of documentation: status, then the verdicts of each experiment.

    Args:
        ledger: The ledger.
        kept: The verdicts.
    """
    of = best(kept)
    lines = [
        "# The papers' claims",
        "",
        "This page is made by `manetlab papers reproduce … --markdown`; do not edit it.",
        "[Reproducing the papers](papers-how-to.md) says how to read and repeat it.",
        MANY_CASES,
        "",
        "#" + status(ledger, kept).to_markdown().replace("### ", "# ", 1),
    ]
    for experiment in ledger.experiments.values():
        shown = [
            of[claim] for claim in experiment.claims if claim in of and of[claim].experiment == experiment.id
        ]
        if not shown:
            continue
        scale = ", ".join(sorted({each.scale for each in shown}))
        table = verdict_table(ledger, f"{experiment.id}: {experiment.title}", shown, short=True)
        how = f" ({experiment.quick})" if scale == "quick" and experiment.quick else ""
        table.notes += [f"Runs: {scale}{how}.", assumed(ledger, experiment)]
        lines.append(table.to_markdown())
    return "\n".join(lines)
