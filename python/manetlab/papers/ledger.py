"""The ledger: what five papers did, what they say came out, and when we call it reproduced.

It is two files of data, ``data/experiments.toml`` and ``data/claims.toml``. Nothing that stands there is
repeated in code: set-ups, axis values, printed figures and acceptance bands are read from here.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from manetlab.errors import InputError, shown

SCHEMA = "claims-ledger/1"
KINDS = ("value", "change", "ordering", "trend", "bound")
FOLDER = Path(__file__).parent / "data"

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Assumption:
    """What a paper does not say, and what is taken instead.

    Attributes:
        name: Its name in the ledger.
        parameter: What is not said.
        assume: What is taken.
        why: The reason.
    """

    name: str
    parameter: str
    assume: Any
    why: str

    @property
    def text(self) -> str:
        """What is taken, in one line."""
        return ", ".join(map(str, self.assume)) if isinstance(self.assume, list) else str(self.assume)


@dataclass(frozen=True)
class Experiment:
    """One table, figure or family of experiments of a paper.

    Attributes:
        id: ``paper/where``.
        paper: The paper's key.
        title: What it shows.
        where: Section and figure or table.
        priority: 1 headline, 2 core, 3 minor or cited.
        axis: The values along its x axis, as the ledger has them.
        systems: What it compares.
        metrics: What it measures, with definitions.
        claims: The claims that need it, those drawn from it first of all.
        unstated: Names of the assumptions that its set-up needs.
        setup: The set-up in words and numbers.
        notes: Remarks of the ledger.
    """

    id: str
    paper: str
    title: str
    where: str
    priority: int
    axis: Any
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    claims: tuple[str, ...]
    unstated: tuple[str, ...]
    setup: Mapping[str, Any]
    notes: str


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
        significant: Whether the paper prints a change as significant; None if it does not say so.
        note: Remarks of the ledger.
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
    at: tuple[str, ...] = ()
    value: Numbers = ()
    lo: Numbers = ()
    hi: Numbers = ()
    order: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    significant: bool | None = None
    note: str = ""

    def band(self, index: int = 0) -> tuple[float, float]:
        """The acceptance band of an element; infinite where it is open."""
        return (
            self.lo[index] if self.lo else float("-inf"),
            self.hi[index] if self.hi else float("inf"),
        )

    @property
    def band_text(self) -> str:
        """The acceptance bands in one line."""
        count = max(len(self.lo), len(self.hi))
        return "; ".join(_band_text(*self.band(index)) for index in range(count))


@dataclass(frozen=True)
class Ledger:
    """All that the ledger says.

    Attributes:
        policy: The rules that hold for all claims, by name.
        assumptions: By name.
        experiments: By id, in the ledger's order.
        claims: By id, in the ledger's order.
    """

    policy: Mapping[str, str]
    assumptions: Mapping[str, Assumption]
    experiments: Mapping[str, Experiment]
    claims: Mapping[str, Claim]

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


@cache
def load() -> Ledger:
    """The ledger that comes with the package."""
    return read(FOLDER / "experiments.toml", FOLDER / "claims.toml")


def read(experiments: Path, claims: Path) -> Ledger:
    """Reads a ledger and checks that it holds together.

    Raises:
        InputError: A file cannot be read, a key is missing, or two entries do not agree.
    """
    of_experiments, of_claims = _table(experiments), _table(claims)
    ledger = Ledger(
        policy=of_claims.get("policy", {}),
        assumptions={
            name: Assumption(name=name, **entry) for name, entry in of_experiments["assumption"].items()
        },
        experiments=_by_id((_experiment(entry) for entry in of_experiments["experiment"]), experiments),
        claims=_by_id((_claim(entry) for entry in of_claims["claim"]), claims),
    )
    for path, data, count in (
        (experiments, of_experiments, len(ledger.experiments)),
        (claims, of_claims, len(ledger.claims)),
    ):
        _require(data.get("count") == count, path, "count", data.get("count"), f"{count}, the entries")
    _check_claims(ledger, claims)
    _check_experiments(ledger, experiments)
    return ledger


def _check_experiments(ledger: Ledger, path: Path) -> None:
    drawn: dict[str, list[str]] = {}
    for claim in ledger.claims.values():
        for experiment in {claim.experiment, *claim.also}:
            drawn.setdefault(experiment, []).append(claim.id)
    for each in ledger.experiments.values():
        for name in each.unstated:
            _require(name in ledger.assumptions, path, f"{each.id}: unstated", name, "an [assumption.…]")
        same = sorted(each.claims) == sorted(drawn.get(each.id, []))
        wanted = f"the claims that name it, {sorted(drawn.get(each.id, []))}"
        _require(same, path, f"{each.id}: claims", list(each.claims), wanted)


def _check_claims(ledger: Ledger, path: Path) -> None:
    for claim in ledger.claims.values():
        for experiment in (claim.experiment, *claim.also):
            _require(experiment in ledger.experiments, path, claim.id, experiment, "an experiment's id")
        _require(claim.kind in KINDS, path, f"{claim.id}: kind", claim.kind, f"one of {KINDS}")
        if claim.at:
            for name, numbers in (("value", claim.value), ("lo", claim.lo), ("hi", claim.hi)):
                fits = len(numbers) in (0, 1, len(claim.at))
                _require(fits, path, f"{claim.id}: {name}", len(numbers), f"{len(claim.at)} numbers, as `at`")
        if claim.lo and claim.hi:
            lengths = (len(claim.lo), len(claim.hi))
            _require(lengths[0] == lengths[1], path, f"{claim.id}: lo and hi", lengths, "equally many")
            ordered = all(low <= high for low, high in zip(claim.lo, claim.hi, strict=True))
            _require(ordered, path, f"{claim.id}: lo", claim.lo, f"at most hi, {claim.hi}")
        if claim.kind == "ordering":
            _require(bool(claim.order or claim.lo), path, f"{claim.id}: order", "nothing", "the order")


def _require(holds: bool, path: Path, field: str, found: object, wanted: str) -> None:
    if not holds:
        where = f"{path}: {field}"
        raise InputError("the ledger does not hold together", where, shown(found), wanted, "mend the ledger")


def _table(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        hint = "it comes with the package; install manetlab again"
        raise InputError("the ledger cannot be read", str(path), str(error), "TOML", hint) from None
    _require(data.get("schema") == SCHEMA, path, "schema", data.get("schema"), SCHEMA)
    return data


def _by_id(entries: Iterable[Any], path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in entries:
        _require(entry.id not in found, path, "id", entry.id, "an id of its own")
        found[entry.id] = entry
    return found


def _experiment(entry: Mapping[str, Any]) -> Experiment:
    return Experiment(
        id=entry["id"],
        paper=entry["paper"],
        title=entry["title"],
        where=entry["where"],
        priority=entry["priority"],
        axis=entry["x"].get("values"),
        systems=tuple(entry["systems"]),
        metrics=tuple(entry["metrics"]),
        claims=tuple(entry["claims"]),
        unstated=tuple(entry["unstated"]),
        setup=entry["setup"],
        notes=_text(entry.get("notes", "")),
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
        significant=entry.get("significant"),
        note=entry.get("note", ""),
    )


def _numbers(value: object) -> Numbers:
    match value:
        case None:
            return ()
        case list():
            return tuple(map(float, value))
        case int() | float():
            return (float(value),)
    raise InputError(
        "the ledger does not hold together", "ledger", shown(value), "numbers", "mend the ledger"
    )


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _band_text(low: float, high: float) -> str:
    if high == float("inf"):
        return f"≥ {low:g}"
    return f"≤ {high:g}" if low == float("-inf") else f"{low:g} to {high:g}"


def _unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    listed: Sequence[str] = list(known)
    close = difflib.get_close_matches(name, listed, n=1, cutoff=0.5)
    hint = "`manetlab papers list` names them all"
    wanted = f"do you mean {close[0]}?" if close else f"one of {len(listed)} names"
    return InputError(f"there is no such {what}", "command line", shown(name), wanted, hint)
