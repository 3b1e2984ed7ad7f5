"""The ledger: what five papers did, what they say came out, and by which rule we judge it.

It is data. `data/ledger.toml` has what holds for all papers, `data/fragments.toml` the parts that set-ups
share, and every other file one part of a paper: its experiments and claims as the paper and the ledger word
them, the campaigns that are run for them, and the rule of each claim. Words are quoted and shown, never
read for numbers.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from manetlab.errors import InputError, shown

KINDS = ("value", "change", "ordering", "trend", "bound")
FOLDER = Path(__file__).parent / "data"
SHARED, FRAGMENTS, CAUSES, PAGES = "ledger.toml", "fragments.toml", "causes.toml", "pages.toml"
UNITS = {
    **{each: each for each in ("%", "s", "ms", "kb/s", "points", "nodes", "bytes", "hops", "connections")},
    **{each: each for each in ("packets", "frames")},
    "Mbps": "Mb/s",
    "Kbps": "kb/s",
}
"""The units that claims' quantities have in brackets, as pages write them."""
NO_PARTS = (SHARED, FRAGMENTS, CAUSES, PAGES)
"""Files that are not a part of a paper."""

Numbers = tuple[float, ...]
Data = Mapping[str, Any]


@dataclass(frozen=True)
class Assumption:
    """What a paper does not say, and what is taken instead.

    Attributes:
        name: Its name in the ledger.
        parameter: What is not said.
        assume: What is taken.
        why: The reason.
        how: How it enters a run; empty where no experiment that is run needs it.
        fields: The fields of a scenario that it sets, nested.
    """

    name: str
    parameter: str
    assume: Any
    why: str
    how: str = ""
    fields: Data = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What is taken, in one line."""
        return _text(self.assume)


@dataclass(frozen=True)
class Experiment:
    """One table, figure or family of experiments of a paper.

    Attributes:
        id: ``paper/where``.
        paper: The paper's key.
        title: What it shows.
        where: Section and figure or table.
        priority: 1 headline, 2 core, 3 minor or cited.
        systems: What it compares.
        metrics: What it measures, with definitions.
        claims: The claims that need it, those drawn from it first of all.
        unstated: Names of the assumptions that its set-up needs.
        setup: The set-up as quoted.
        quoted: All that the ledger quotes, by its keys.
        runs: The campaigns that it needs, by name or with the cells that are chosen; none if it cannot be
            run.
        quick: What ``--quick`` leaves out, in words.
    """

    id: str
    paper: str
    title: str
    where: str
    priority: int
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    claims: tuple[str, ...]
    unstated: tuple[str, ...]
    setup: Data
    quoted: Data
    runs: tuple[str | Data, ...] | None
    quick: str


@dataclass(frozen=True)
class Claim:
    """One checkable statement of a paper.

    Attributes:
        id: Its number.
        experiment: The experiment that it is drawn from.
        paper: The paper's key.
        where: The section.
        statement: The statement.
        kind: ``value``, ``change``, ``ordering``, ``trend`` or ``bound``.
        quantity: What it speaks of, with the unit of `value`, `lo` and `hi`.
        systems: What it compares.
        expected: As the paper prints it.
        tolerance: The rule of acceptance in words.
        strength: ``table``, ``text`` or ``qualitative``.
        priority: 1 headline, 2 core, 3 cited, minor or of a level only.
        at: Labels of the elements, for a claim of several.
        value: The printed numbers.
        lo: Lower ends of the acceptance bands; none where a band is open.
        hi: Upper ends.
        order: The systems from best to worst.
        also: Further experiments that it needs.
        note: Remarks of the ledger.
        rule: The rule of acceptance as data; see `rules`.
        quoted: All that the ledger quotes, by its keys.
    """

    id: str
    experiment: str
    paper: str
    where: str
    statement: str
    kind: str
    quantity: str
    systems: tuple[str, ...]
    expected: str
    tolerance: str
    strength: str
    priority: int
    at: tuple[str, ...]
    value: Numbers
    lo: Numbers
    hi: Numbers
    order: tuple[str, ...]
    also: tuple[str, ...]
    note: str
    rule: Data
    quoted: Data

    def band(self, index: int = 0) -> tuple[float, float]:
        """The acceptance band of an element; infinite where it is open."""
        return (
            self.lo[index] if self.lo else float("-inf"),
            self.hi[index] if self.hi else float("inf"),
        )

    def band_of(self, name: str) -> tuple[float, float]:
        """The acceptance band of a case: the only one, or that of the element of this name.

        Raises:
            ValueError: The claim has several, and none of that name.
        """
        if max(len(self.lo), len(self.hi)) <= 1:
            return self.band()
        if name not in self.at:
            raise ValueError(f"{self.id}: {name} is none of {self.at}")
        return self.band(self.at.index(name))

    def printed_at(self, name: str, low: float, high: float) -> tuple[float, float] | None:
        """The number that the paper prints of a case, or the range: lowest and highest; None if it has none.

        Args:
            name: The case.
            low: The lower end of the band that the case is held against.
            high: The upper end.
        """
        if "printed" in self.rule:
            # What the words print where the ledger has no number.
            printed = self.rule["printed"]
            return (printed[0], printed[1]) if isinstance(printed, list) else (printed, printed)
        value = self._value_at(name, low, high)
        return None if value is None else (value, value)

    def _value_at(self, name: str, low: float, high: float) -> float | None:
        bands = [self.band(index) for index in range(max(len(self.lo), len(self.hi)))]
        same = [index for index, band in enumerate(bands) if _is_end(band, (low, high))]
        if not self.value or not same:
            return None
        if len(self.value) == 1:
            return self.value[0]
        parts = name.split(", ")
        named = [index for index, label in enumerate(self.at) if label in (name, parts[0], parts[-1])]
        found = [index for index in named if index in same or len(bands) == 1] or same
        return self.value[found[0]] if len(found) == 1 and found[0] < len(self.value) else None

    @property
    def unit(self) -> str:
        """The unit of its quantity, as one appends it; empty if it has none, or several."""
        found = [UNITS[each] for each in re.findall(r"\(([^()]*)\)", self.quantity) if each in UNITS]
        return f" {found[0]}" if len(found) == 1 else ""

    def unit_of(self, rule: Data) -> str:
        """The unit of what a rule compares: that of the quantity, where the rule has no band of its own.

        A ratio has none, and a change is in per cent.
        """
        has_it = (self.lo or self.hi) and "band" not in rule
        return self._unit_of(_comparison(rule)) if has_it else ""

    def _unit_of(self, comparison: str) -> str:
        return {"ratio": "", "percent": " %"}.get(comparison, self.unit)

    @property
    def band_text(self) -> str:
        """The acceptance bands in one line."""
        return "; ".join(map(self._band_text_at, range(self._bands)))

    @property
    def band_text_in_unit(self) -> str:
        """The same with the unit of each, where the quantity has one or what is compared has its own."""
        units = [self._unit_at(index) for index in range(self._bands)]
        if len(set(units)) <= 1:
            return self.band_text + (units[0] if units else "")
        return "; ".join(f"{self._band_text_at(index)}{unit}" for index, unit in enumerate(units))

    @property
    def _bands(self) -> int:
        return max(len(self.lo), len(self.hi))

    def _band_text_at(self, index: int) -> str:
        return _band_text(*self.band(index))

    def _unit_at(self, index: int) -> str:
        """The unit of a band: of what its case compares, or of what all conditions of the rule compare."""
        conditions = self.rule.get("all", [self.rule])
        cases = [{**each, "cases": (), **case} for each in conditions for case in each.get("cases", ())]
        named = [each for each in cases if index < len(self.at) and each.get("label") == self.at[index]]
        found = {_comparison(each) for each in named or conditions}
        if len(found) == 1:
            return self._unit_of(found.pop())
        return "" if "ratio" in found else self.unit


@dataclass(frozen=True)
class Ledger:
    """All that the ledger says.

    Attributes:
        policy: The rules that hold for all claims, as quoted.
        rules: The numbers of these rules, by name.
        short: What pages call rules that many claims have word for word, by their words.
        assumptions: By name.
        experiments: By id, in the ledger's order.
        claims: By id, in the ledger's order.
        campaigns: What is run, by name, as data; see `campaigns`.
        quantities: Quantities that several rules and tables share, by name.
        fragments: Parts of scenarios that campaigns share, by name, nested.
        tables: What is shown beside papers' tables and figures; see `tables`.
        arms: Levels that campaigns share: by factor, then label, the fields of a scenario, nested.
        pages: What each paper's pages are called, by the paper's key.
        figures: What is drawn of an experiment in place of its tables, in the words of `tables`.
    """

    policy: Mapping[str, str]
    rules: Mapping[str, float]
    short: Mapping[str, str]
    assumptions: Mapping[str, Assumption]
    experiments: Mapping[str, Experiment]
    claims: Mapping[str, Claim]
    campaigns: Mapping[str, Data]
    quantities: Mapping[str, Data]
    tables: tuple[Data, ...]
    fragments: Mapping[str, Data]
    arms: Mapping[str, Mapping[str, Data]]
    pages: Mapping[str, Data]
    figures: tuple[Data, ...]

    def experiment(self, name: str) -> Experiment:
        """The experiment of that id, or of the part after the paper's key if only one has it.

        Raises:
            InputError: There is none, or there are several.
        """
        if name in self.experiments:
            return self.experiments[name]
        found = [each for each in self.experiments.values() if each.id.partition("/")[2] == name]
        if len(found) == 1:
            return found[0]
        if found:
            wanted = " or ".join(each.id for each in found)
            hint = "put the paper's key before it"
            raise InputError("several papers have this experiment", "experiment", name, wanted, hint)
        known = [*self.experiments, *(name.partition("/")[2] for name in self.experiments)]
        raise _unknown("experiment", name, known)

    def claim(self, name: str) -> Claim:
        """The claim of that number.

        Raises:
            InputError: There is none.
        """
        if name not in self.claims:
            raise _unknown("claim", name, self.claims)
        return self.claims[name]

    def claims_of(self, experiment: Experiment) -> list[Claim]:
        """The claims drawn from an experiment; those that only need it too are not among them."""
        return [
            self.claims[each] for each in experiment.claims if self.claims[each].experiment == experiment.id
        ]

    @property
    def papers(self) -> list[str]:
        """The papers' keys, in the ledger's order."""
        return list(dict.fromkeys(each.paper for each in self.experiments.values()))

    @property
    def runnable(self) -> dict[str, Experiment]:
        """The experiments that can be run, by id, in the ledger's order."""
        return {each.id: each for each in self.experiments.values() if each.runs is not None}


@cache
def load() -> Ledger:
    """The ledger that comes with the package."""
    return read(FOLDER)


def read(folder: Path) -> Ledger:
    """Reads a ledger and checks that it holds together.

    Raises:
        InputError: A file cannot be read, a key is missing, or two entries do not agree.
    """
    shared, fragments = load_table(folder / SHARED), load_table(folder / FRAGMENTS)
    parts = [load_table(path) for path in sorted(folder.glob("*.toml")) if path.name not in NO_PARTS]

    def all_of(key: str) -> Iterator[Any]:
        return (entry for part in parts for entry in part.get(key, []))

    quantities: dict[str, Data] = {}
    for part in (fragments, *parts):
        require(
            not quantities.keys() & part.get("quantity", {}).keys(), "quantity", "twice", "names of their own"
        )
        quantities |= part.get("quantity", {})
    ledger = Ledger(
        policy=shared["policy"],
        rules=shared["rules"],
        short=shared["short"],
        assumptions={name: Assumption(name=name, **entry) for name, entry in shared["assumption"].items()},
        experiments=_by("id", (_experiment(entry) for entry in all_of("experiment"))),
        claims=_by("id", (_claim(entry) for entry in all_of("claim"))),
        campaigns={entry["name"]: entry for entry in all_of("campaign")},
        quantities=quantities,
        tables=tuple(all_of("table")),
        fragments=fragments["fragment"],
        arms=fragments["arms"],
        pages=load_table(folder / PAGES)["paper"],
        figures=tuple(all_of("figure")),
    )
    _check_claims(ledger)
    _check_experiments(ledger)
    return ledger


def _check_experiments(ledger: Ledger) -> None:
    drawn: dict[str, list[str]] = {}
    for claim in ledger.claims.values():
        for experiment in {claim.experiment, *claim.also}:
            drawn.setdefault(experiment, []).append(claim.id)
    for each in ledger.experiments.values():
        for name in each.unstated:
            require(name in ledger.assumptions, f"{each.id}: unstated", name, "an [assumption.…]")
        same = sorted(each.claims) == sorted(drawn.get(each.id, []))
        wanted = f"the claims that name it, {sorted(drawn.get(each.id, []))}"
        require(same, f"{each.id}: claims", list(each.claims), wanted)
        for run in each.runs or ():
            name = run if isinstance(run, str) else run["campaign"]
            require(name in ledger.campaigns, f"{each.id}: runs", name, "the name of a [[campaign]]")


def _check_claims(ledger: Ledger) -> None:
    for claim in ledger.claims.values():
        for experiment in (claim.experiment, *claim.also):
            require(experiment in ledger.experiments, claim.id, experiment, "an experiment's id")
        require(claim.kind in KINDS, f"{claim.id}: kind", claim.kind, f"one of {KINDS}")
        if claim.at:
            for name, numbers in (("value", claim.value), ("lo", claim.lo), ("hi", claim.hi)):
                fits = len(numbers) in (0, 1, len(claim.at))
                require(fits, f"{claim.id}: {name}", len(numbers), f"{len(claim.at)} numbers, as `at`")
        if claim.lo and claim.hi:
            lengths = (len(claim.lo), len(claim.hi))
            require(lengths[0] == lengths[1], f"{claim.id}: lo and hi", lengths, "equally many")
            ordered = all(low <= high for low, high in zip(claim.lo, claim.hi, strict=True))
            require(ordered, f"{claim.id}: lo", claim.lo, f"at most hi, {claim.hi}")
        if claim.kind == "ordering":
            require(bool(claim.order or claim.lo), f"{claim.id}: order", "nothing", "the order")


def require(holds: bool, place: str, found: object, wanted: str) -> None:
    """Refuses data that do not hold together.

    Raises:
        InputError: It does not hold.
    """
    if not holds:
        raise InputError(
            "the ledger does not hold together",
            f"ledger: {place}",
            shown(found),
            wanted,
            "correct the ledger",
        )


def load_table(path: Path) -> dict[str, Any]:
    """A file of data as it stands.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        hint = "it comes with the package; install manetlab-papers again"
        raise InputError("the ledger cannot be read", str(path), str(error), "TOML", hint) from None


def _by(key: str, entries: Iterable[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in entries:
        name = getattr(entry, key)
        require(name not in found, key, name, "an id of its own")
        found[name] = entry
    return found


_OURS = ("runs", "quick")
"""What an experiment's entry has beside its quotation."""


def _experiment(entry: Mapping[str, Any]) -> Experiment:
    runs = entry.get("runs")
    given: dict[str, Any] = {
        name: entry[name] for name in ("id", "paper", "title", "where", "priority", "setup")
    }
    given |= {name: tuple(entry[name]) for name in ("systems", "metrics", "claims", "unstated")}
    return Experiment(
        **given,
        quoted={key: value for key, value in entry.items() if key not in _OURS},
        runs=None if runs is None else tuple(runs),
        quick=entry.get("quick", ""),
    )


def _claim(entry: Mapping[str, Any]) -> Claim:
    plain = ("id", "experiment", "paper", "where", "statement", "kind", "quantity", "tolerance", "strength")
    given: dict[str, Any] = {name: entry[name] for name in plain}
    given |= {name: tuple(entry.get(name, ())) for name in ("systems", "at", "order", "also")}
    given |= {name: _numbers(entry.get(name)) for name in ("value", "lo", "hi")}
    return Claim(
        **given,
        expected=_text(entry["expected"]),
        priority=entry["priority"],
        note=entry.get("note", ""),
        rule=entry.get("rule", {}),
        quoted={key: value for key, value in entry.items() if key != "rule"},
    )


def _numbers(value: object) -> Numbers:
    match value:
        case None:
            return ()
        case list():
            return tuple(map(float, value))
        case int() | float():
            return (float(value),)
    require(False, "claim", value, "numbers")
    return ()


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _comparison(rule: Data) -> str:
    """How a rule compares: as it says, else in per cent where there are two sides."""
    inner = rule.get("one", rule)
    sides = (inner, *inner.get("cases", ()), inner.get("each", {}))
    two = any(name.partition(".")[0] == "against" for side in sides for name in side)
    default = "percent" if two and inner["kind"] in ("level", "change", "tie", "count") else "mean"
    return str(inner.get("as", default))


def _is_end(band: tuple[float, float], held: tuple[float, float]) -> bool:
    """Whether what was compared is held against this band, or one end of it."""
    ends = [(a, b) for a, b in zip(band, held, strict=True) if math.isfinite(b)]
    return bool(ends) and all(a == b for a, b in ends)


def _band_text(low: float, high: float) -> str:
    if high == float("inf"):
        return f"≥ {low:g}"
    if low == high:
        return f"{low:g}"
    return f"≤ {high:g}" if low == float("-inf") else f"{low:g} to {high:g}"


def _unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    listed = list(known)
    close = difflib.get_close_matches(name, listed, n=1, cutoff=0.5)
    hint = "`manetlab papers list` names them all"
    wanted = f"do you mean {close[0]}?" if close else f"one of {len(listed)} names"
    return InputError(f"there is no such {what}", "command line", shown(name), wanted, hint)
