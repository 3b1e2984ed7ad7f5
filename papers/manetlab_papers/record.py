"""Keeps verdicts: one JSON file beside the store of runs, and the page of documentation made from it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manetlab.errors import InputError
from manetlab.files import read_bytes, write_text
from manetlab.stats import Interval, holm
from manetlab.tables import Table
from manetlab_papers.addresses import short_name
from manetlab_papers.campaigns import Scale, needed
from manetlab_papers.ledger import Claim, Experiment, Ledger
from manetlab_papers.outcomes import Measured, Outcome
from manetlab_papers.rules import ALONG, Verdict

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
        fit: How intervals lie to bands: ``within``, ``touches`` or ``outside``; empty where there is no band.
        equivalent: Of a claim of no effect, whether the effect is shown to lie within the band; else None.
        p: The p-value of the test that the outcome rests on; None where it rests on none.
        adjusted_p: The same after Holm's correction among the claims that are drawn from the experiment.
        scenarios: How many scenarios were run of how many of the paper's, as ``20 of 50``.
        measured: How long was measured of how long in the paper, as ``135 of 900 s``.
        size: ``full`` if as much was run as in the paper, else ``quick``; empty where nothing was run.
        compared: What was compared, as figures draw it.
        further: What further conditions compared, which figures do not draw.
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
    fit: str = ""
    equivalent: bool | None = None
    p: float | None = None
    adjusted_p: float | None = None
    scenarios: str = ""
    measured: str = ""
    size: str = ""
    compared: tuple[Measured, ...] = ()
    further: tuple[Measured, ...] = ()

    @property
    def survives(self) -> bool | None:
        """Whether the outcome survives the correction for many claims; None if it rests on no test."""
        return None if self.adjusted_p is None else self.adjusted_p < ALPHA


ALPHA = 0.05


@dataclass(frozen=True)
class Extent:
    """How much of an experiment is run: what `Entry` says of it under the same names."""

    scenarios: str = ""
    measured: str = ""
    size: str = ""


def extent(ledger: Ledger, experiment: Experiment, scale: Scale, of: Collection[str] = ()) -> Extent:
    """How much of an experiment is run at a scale, beside the paper's size.

    Args:
        ledger: The ledger.
        experiment: The experiment.
        scale: How much is run.
        of: The campaigns that count; all of the experiment's if none is named.
    """
    run, whole = (_sizes(ledger, experiment, each, of) for each in (scale, Scale(full=True)))
    if of and not run:
        # A rule may read runs of other experiments only.
        return extent(ledger, experiment, scale)
    if not run:
        return Extent()
    scenarios, seconds = (
        [sorted({each[place] for each in sizes}) for sizes in (run, whole)] for place in (0, 1)
    )
    size = "full" if run == whole else "quick"
    return Extent(_part_of(*scenarios), f"{_part_of(*seconds)} s", size)


def _sizes(
    ledger: Ledger, experiment: Experiment, scale: Scale, of: Collection[str]
) -> list[tuple[float, float, int]]:
    """Of every campaign and every time that it measures: scenarios, seconds, points."""
    found: list[tuple[float, float, int]] = []
    for part in needed(ledger, experiment, scale):
        if of and part.family not in of:
            continue
        campaign = part.campaign
        levels = campaign.factors.get("measured_s", [])
        ends = {level["fields"]["duration_s"] for level in levels} or {campaign.base["duration_s"]}
        for end in sorted(ends):
            measured_s = round(end - campaign.base.get("warmup_s", 0.0), 6)
            found.append((campaign.replications, measured_s, campaign.point_count))
    return found


def _part_of(run: Sequence[float], whole: Sequence[float]) -> str:
    listed, all_of = (", ".join(f"{each:g}" for each in values) for values in (run, whole))
    return listed if listed == all_of else f"{listed} of {all_of}"


def entries(
    verdicts: Iterable[Verdict],
    scale: str,
    code: str,
    date: str,
    stale: str = "",
    ran: Callable[[Collection[str]], Extent] | None = None,
) -> list[Entry]:
    """Verdicts on the claims of one experiment as they are kept.

    `ran` says how much was run of the campaigns that a rule reads. These claims are the family for which
    Holm's correction is made: of them, those whose outcome rests on a test.
    """
    listed = list(verdicts)
    tested = [each.p for each in listed if each.p is not None]
    adjusted = iter(holm(tested))
    untested = str(Outcome.NOT_TESTED)
    made = []
    for each in listed:
        how = Extent() if ran is None or str(each.outcome) == untested else ran(each.runs)
        made.append(
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
                each.fit,
                each.equivalent,
                each.p,
                None if each.p is None else next(adjusted),
                **asdict(how),
                compared=each.measured,
                further=each.further,
            )
        )
    return made


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
        return [_entry(each) for each in json.loads(content)]
    except (ValueError, TypeError, LookupError) as error:
        hint = "remove it; `manetlab papers reproduce` writes it anew from the stored runs"
        raise InputError(
            "the record of verdicts cannot be read", str(path), str(error), "verdicts in JSON", hint
        ) from None


def _entry(kept: dict[str, Any]) -> Entry:
    return Entry(**{**kept, **{name: _measured(kept.get(name, ())) for name in ("compared", "further")}})


def _measured(kept: Iterable[dict[str, Any]]) -> tuple[Measured, ...]:
    return tuple(
        Measured(Interval(**{**each["interval"], "ends": _ends(each["interval"])}), **_rest(each))
        for each in kept
    )


def _ends(interval: dict[str, Any]) -> tuple[float, float] | None:
    return None if interval["ends"] is None else tuple(interval["ends"])


def _rest(measured: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in measured.items() if name != "interval"}


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


CATEGORIES = (
    "within",
    "touches",
    "no band",
    "contradicted",
    "inconclusive",
    "by construction",
    "not tested",
)
"""What may be said of a claim; the first three of one that is reproduced, by how intervals lie to bands."""


def category(entry: Entry | None) -> str:
    """What is said of a claim, one of `CATEGORIES`."""
    if entry is None:
        return str(Outcome.NOT_TESTED)
    if entry.outcome != str(Outcome.REPRODUCED):
        return entry.outcome
    return entry.fit if entry.fit in ("within", "touches") else "no band"


def size(entry: Entry) -> str:
    """Whether a verdict rests on as much as the paper's."""
    return "full size" if "full" in (entry.scale, entry.size) else "quick"


def headline(ledger: Ledger, of: Mapping[str, Entry], paper: str = "") -> Counter[str]:
    """How many claims of a paper, or of all, have which outcome, and of how many only quick runs say so."""
    counts: Counter[str] = Counter()
    for claim in ledger.claims.values():
        if paper in ("", claim.paper):
            entry = of.get(claim.id)
            outcome = str(Outcome.NOT_TESTED) if entry is None else entry.outcome
            counts.update(["claims", outcome])
            if full_category(entry) == ONLY_QUICK:
                counts.update([ONLY_QUICK, f"{outcome}, quick"])
    return counts


ONLY_QUICK = "only quick so far"
"""What is said at full size of a claim that only quick runs have tested."""


def full_category(entry: Entry | None) -> str:
    """What is said of a claim at full size: one of `CATEGORIES`, or that there are only quick runs."""
    if entry is not None and entry.size and size(entry) == "quick":
        return ONLY_QUICK
    return category(entry)


def count_table(
    ledger: Ledger, of: Mapping[str, Entry], papers: Sequence[str], *, quick: bool = False
) -> Table:
    """How many claims have which verdict, by paper (empty for all of them) and priority.

    Args:
        ledger: The ledger.
        of: The verdicts that count most.
        papers: The papers' keys.
        quick: Verdicts of quick runs count where there are no others; else only those at full size do.
    """
    said = category if quick else full_category
    is_full = quick or not headline(ledger, of)[ONLY_QUICK]
    columns = CATEGORIES if is_full else (*CATEGORIES, ONLY_QUICK)
    table = Table("", ("paper", "priority", "claims", *columns), text_columns=2)
    for paper in papers:
        for priority in (1, 2, 3, 0):
            claims = [
                each.id
                for each in ledger.claims.values()
                if paper in ("", each.paper) and priority in (0, each.priority)
            ]
            if claims:
                counts = Counter(said(of.get(each)) for each in claims)
                name = ("first", "second", "third")[priority - 1] if priority else "all"
                title = short_name(ledger, paper) if paper else "all"
                table.add(title, name, str(len(claims)), *(str(counts[each]) for each in columns))
    return table


def remarks(of: Mapping[str, Entry]) -> list[str]:
    """What counts do not show: what survives the correction for many claims, and what no effect means."""
    tested = [each for each in of.values() if each.p is not None]
    kept = sum(each.survives is True for each in tested)
    lost = [each for each in tested if each.survives is False]
    contradicted = sorted(each.claim for each in lost if each.outcome == str(Outcome.CONTRADICTED))
    named = f" Of the {len(lost)} others {len(contradicted)} are contradicted: {', '.join(contradicted)}."
    no_effect = [each for each in of.values() if each.equivalent is not None]
    shown = sum(bool(each.equivalent) for each in no_effect)
    return [
        f"{len(tested)} outcomes rest on a test; {kept} of them survive Holm's correction among the claims "
        f"drawn from their figure or table.{named if lost else ''}",
        "That an interval overlaps a band does not show that nothing happens. "
        f"Of {len(no_effect)} claims of no effect, {shown} are shown to lie within their band (equivalence "
        "test at 5 %).",
    ]


def rule_text(ledger: Ledger, claim: Claim) -> str:
    """What is accepted: the band, or the rule, by its short name where it has one."""
    return band_text(claim) or _shortened(ledger, claim)


def band_text(claim: Claim) -> str:
    """The bands with their unit, where the claim's quantity has one; empty if there is no band."""
    return claim.band_text_in_unit if claim.lo or claim.hi else ""


def verdict_text(entry: Entry) -> str:
    """The verdict with what is to be said beside it."""
    outcome = f"{entry.outcome} (part: {entry.part})" if entry.part else entry.outcome
    # A contradicted claim may have intervals within their bands: another condition of its rule decides.
    fit = "" if entry.outcome == str(Outcome.CONTRADICTED) else _fit(entry).replace("–", "")
    said = ", ".join(each for each in (outcome, fit) if each)
    if entry.adjusted_p is not None:
        said += f"; p {_p(entry.adjusted_p)}{'' if entry.survives else ', lost after correction'}"
    return said


def verdict_and_reason(entry: Entry) -> str:
    """The verdict, and why where the claim is not reproduced."""
    said, reason = verdict_text(entry), brief(entry.reason)
    return said if entry.outcome == str(Outcome.REPRODUCED) or not reason else f"{said}: {reason}"


def sentence(text: str) -> str:
    """Words with a capital and a full stop; a name that begins them stays as it is."""
    start = text[:1].upper() if text[:1].islower() else text[:1]
    return f"{start}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def short_code(code: str) -> str:
    """Versions and commits, with as much of a commit as names it."""
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{28}\b", r"\1", code)


def size_text(entry: Entry) -> str:
    """How much the verdict rests on."""
    if not entry.size:
        return "–"
    return f"{size(entry)}: {entry.scenarios} scenarios, {entry.measured}"


def status(ledger: Ledger, kept: Iterable[Entry]) -> Table:
    """All claims at a glance: how many of each paper have which outcome."""
    of = best(kept)
    split = (Outcome.REPRODUCED, Outcome.CONTRADICTED, Outcome.INCONCLUSIVE)
    columns = (
        "paper",
        "claims",
        *(f"{each}, {size}" for each in split for size in ("full size", "quick")),
        str(Outcome.BY_CONSTRUCTION),
        str(Outcome.NOT_TESTED),
        "of these in part",
    )
    table = Table("The papers' claims", columns)
    for paper in [*ledger.papers, ""]:
        claims = [each for each in ledger.claims.values() if paper in ("", each.paper)]
        found = [of.get(each.id) for each in claims]
        counts = Counter(
            str(Outcome.NOT_TESTED)
            if each is None
            else each.outcome
            if each.outcome not in split
            else f"{each.outcome}, {'full size' if 'full' in (each.scale, each.size) else 'quick'}"
            for each in found
        )
        part = sum(bool(each.part) for each in found if each is not None)
        table.add(paper or "all", str(len(claims)), *(str(counts[name]) for name in columns[2:-1]), str(part))
    table.notes.append(
        "“Full size”: as many scenarios, measured as long, at as many points as in the paper. “By "
        "construction”: what is said holds because the model was made from it; not counted as reproduced."
    )
    lost = [each for each in of.values() if each.survives is False]
    if any(each.p is not None for each in of.values()):
        count = sum(each.p is not None for each in of.values())
        table.notes.append(
            f"{count} outcomes rest on a test; {count - len(lost)} of them survive Holm's correction among "
            "the claims drawn from their experiment."
        )
    no_effect = [each for each in of.values() if each.equivalent is not None]
    if no_effect:
        shown = sum(bool(each.equivalent) for each in no_effect)
        table.notes.append(
            f"Of {len(no_effect)} claims of no effect, {shown} are shown to lie within their band "
            "(equivalence test at 5 %)."
        )
    table.notes.append(
        "“In part”: the claim speaks of several systems, and the verdict is on those that are run here."
    )
    for scale in SCALES:
        made = [each for each in of.values() if each.scale == scale and each.code]
        if made:
            # Runs of an experiment may be of several versions.
            codes = sorted({code for each in made for code in short_code(each.code).split("; ")})
            days = sorted({each.date for each in made if each.date})
            when = " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""
            table.notes.append(f"{scale.capitalize()} runs: {when} by {'; '.join(codes)}.".replace("  ", " "))
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
    columns = (
        *("claim", "statement", "printed", "accepted", "ours", "band", "verdict", "corrected", "why"),
        *("scenarios", "measured"),
    )
    table = Table(title, columns, text_columns=len(columns))
    for each in shown:
        claim = ledger.claims[each.claim]
        outcome = f"{each.outcome} (part: {each.part})" if each.part else each.outcome
        outcome += ", stale" if each.stale else ""
        rule, ours, reason = accepted(claim), each.ours, each.reason
        if short:
            rule = rule if claim.lo or claim.hi else _shortened(ledger, claim)
            ours, reason = brief(ours, each.compared), brief(reason)
        table.add(
            *(claim.id, claim.statement, claim.expected, rule, ours, _fit(each), outcome, _corrected(each)),
            *(reason, each.scenarios or "–", each.measured or "–"),
        )
    table.notes += [f"Stale: {text}." for text in dict.fromkeys(each.stale for each in shown) if text]
    return table


def _fit(entry: Entry) -> str:
    """How intervals lie to bands, and what the equivalence test says where there is one."""
    shown = {None: "", True: "equivalent", False: "not shown equivalent"}[entry.equivalent]
    return "; ".join(each for each in (entry.fit, shown) if each) or "–"


def _corrected(entry: Entry) -> str:
    """Whether the outcome survives the correction for the number of claims, with the adjusted p-value."""
    if entry.adjusted_p is None:
        return "–"
    return f"{'survives' if entry.survives else 'does not survive'} (p {_p(entry.adjusted_p)})"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"


def _shortened(ledger: Ledger, claim: Claim) -> str:
    """A tolerance with the short name of the rule that it quotes, if it is one of those that have one."""
    text = claim.tolerance
    for words, name in ledger.short.items():
        text = text.replace(words, name + "." if len(words) < len(text) else name)
    return text


MOST_CASES = 3
"""Of a claim on more cases pages show two."""
MOST_ALONG = 4
"""Of more values along an axis pages show the ends."""
MANY_CASES = (
    f"Of claims on more than {MOST_CASES} cases two are shown; `manetlab papers reproduce` prints them all."
)


def brief(text: str, compared: Sequence[Measured] = ()) -> str:
    """A list of cases as one can read it: of many, the lowest and the highest; of an axis, its ends.

    Args:
        text: Cases such as ``10 kb/s: 3.1 ± 0.2``, with semicolons in between.
        compared: What was compared, by which cases are lower and higher. If that is not one value a case, the
            first and the last are shown.
    """
    cases = [_ends_of_axis(case) for case in text.split("; ")]
    if len(cases) <= MOST_CASES:
        return "; ".join(cases)
    ends, what = (0, len(cases) - 1), "first and last"
    if len(compared) == len(cases) and all(map(str.startswith, cases, (each.name for each in compared))):
        order = sorted(range(len(cases)), key=lambda index: compared[index].interval.mean)
        ends, what = (order[0], order[-1]), "lowest and highest"
    return f"{cases[ends[0]]}; {cases[ends[1]]} ({what} of {len(cases)})"


def _ends_of_axis(case: str) -> str:
    """A case with the ends of the values along an axis, if they are many."""
    along = case.split(ALONG)
    return case if len(along) <= MOST_ALONG else ALONG.join((along[0], "…", along[-1]))


def assumed(ledger: Ledger, experiment: Experiment) -> str:
    """What the paper does not say and what was taken, in a sentence."""
    listed = [ledger.assumptions[name] for name in experiment.unstated]
    if not listed:
        return "The paper leaves nothing open."
    return (
        "The paper leaves open; assumed here: "
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
        "This page is made by `manetlab papers verdicts --markdown …`; do not edit it.",
        "`papers/how-to.md` says how to read and repeat it.",
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
