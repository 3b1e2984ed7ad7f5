"""From an experiment's data to campaigns that can be run.

A campaign's scenario is made of parts that are laid over each other: what is assumed of the experiment that
it names (`of`), shared fragments (`use`), its own `fields`, and its times. Its factors are lists of labels,
whose fields are shared arms (`[arms.…]`), a table of their own, values of one field, or made by a function
of `functions.layouts`. `cells` make several campaigns of one, which differ in the labels that they give.
`quick` says what is run with ``--quick`` in place of the paper's size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from manetlab_papers.functions.layouts import layout
from manetlab_papers.ledger import FOLDER, Data, Experiment, Ledger, require

if TYPE_CHECKING:
    from manetlab.campaign import Campaign
    from manetlab.scenario import Scenario

Fields = dict[str, Any]
LOAD = "traffic.random.cbr_kbps"
"""The load of all CBR flows together in kb/s, which becomes the time between packets of one."""


@dataclass(frozen=True)
class Scale:
    """How much is run.

    Attributes:
        full: As much as the paper; otherwise what keeps the point.
        replications: A number of replications instead of the one that follows; for tests.
        duration_share: What share of the measured time is run; for tests.
    """

    full: bool = False
    replications: int | None = None
    duration_share: float = 1.0

    @property
    def name(self) -> str:
        """``full`` or ``quick``."""
        return "full" if self.full else "quick"


@dataclass(frozen=True)
class Part:
    """A campaign that is run: one cell of a campaign of the ledger.

    Attributes:
        family: The name of the campaign in the ledger.
        labels: What the cell gives, by factor; nothing if there is one cell.
        campaign: What is run.
    """

    family: str
    labels: Mapping[str, Any]
    campaign: Campaign


def needed(ledger: Ledger, experiment: Experiment, scale: Scale) -> Iterator[Part]:
    """The campaigns that an experiment needs, in the order in which it names them."""
    for run in experiment.runs or ():
        chosen: Data = {"campaign": run} if isinstance(run, str) else run
        yield from parts(
            ledger, chosen["campaign"], scale, {k: v for k, v in chosen.items() if k != "campaign"}
        )


def parts(ledger: Ledger, name: str, scale: Scale, chosen: Data | None = None) -> Iterator[Part]:
    """The cells of a campaign that are run.

    Args:
        ledger: The ledger.
        name: The campaign's name in the ledger.
        scale: How much is run.
        chosen: The labels of the cells, or lists of them; all if not given.
    """
    data = ledger.campaigns[name]
    for cell in data.get("cells", [{}]):
        labels = {key: value for key, value in cell.items() if key not in ("quick", "fields", "name")}
        quick = {**data.get("quick", {}), **(cell.get("quick") or {})}
        if all(labels[key] in _listed(wanted) for key, wanted in (chosen or {}).items()) and (
            scale.full or quick.get("run", True)
        ):
            yield Part(name, labels, _campaign(ledger, data, cell, labels, quick, scale))


def papers_of(ledger: Ledger) -> dict[tuple[str, str], str]:
    """The paper that asks first for a campaign, by the names of scale and campaign."""
    found: dict[tuple[str, str], str] = {}
    for scale in (Scale(), Scale(full=True)):
        for experiment in ledger.runnable.values():
            for part in needed(ledger, experiment, scale):
                found.setdefault((scale.name, part.campaign.name), experiment.paper)
    return found


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _campaign(ledger: Ledger, data: Data, cell: Data, labels: Data, quick: Data, scale: Scale) -> Campaign:
    from manetlab.campaign import Campaign

    shorter: Data = {} if scale.full else quick
    base = _base(ledger, data)
    for label, value in labels.items():
        for path in _listed(data.get("cell_fields", {}).get(label, [])):
            _assign(base, path, value)
    _lay(base, cell.get("fields", {}))
    if "fields_from" in data:
        _lay(base, layout("", data["fields_from"]))
    flat = dict(_derived(_flat(base), {}))
    scenario = nested({**flat, **_times({**data, **cell}, shorter, scale)})
    factors = {
        name: _levels(ledger, data, name, shorter.get(name, levels), levels, flat, scale)
        for name, levels in data.get("factors", {}).items()
    }
    replications = data["replications"]
    if not scale.full:
        replications = min(replications, int(ledger.rules["least_scenarios"]))
    return Campaign(
        name=", ".join([data["name"], *(f"{label} {value}" for label, value in labels.items())]),
        question=data["question"],
        base=scenario,
        factors=factors,
        replications=scale.replications or replications,
        metrics=data.get("metrics", []),
        series_s=float(data["series_s"]) if "series_s" in data else None,
        folder=FOLDER,
    )


def _base(ledger: Ledger, data: Data) -> Fields:
    """What is assumed, shared and stated, laid over each other in this order."""
    fields: Fields = {}
    for experiment in _listed(data.get("of", [])):
        for name in ledger.experiments[experiment].unstated:
            _lay(fields, ledger.assumptions[name].fields)
    for name in data.get("use", []):
        _lay(fields, ledger.fragments[name])
    _lay(fields, data.get("fields", {}))
    for path in data.get("without", []):
        *parents, last = path.split(".")
        table = fields
        for parent in parents:
            table = table.get(parent, {})
        table.pop(last, None)
    return fields


def _times(data: Data, quick: Data, scale: Scale) -> Fields:
    """Warm-up and duration; a campaign that gives no measured time keeps the times of its fields."""
    if "measured_s" not in data:
        return {}
    share = scale.duration_share * quick.get("share", 1.0)
    return {"warmup_s": data["warmup_s"], "duration_s": data["warmup_s"] + data["measured_s"] * share}


def _levels(
    ledger: Ledger, data: Data, name: str, wanted: Any, levels: Any, base: Fields, scale: Scale
) -> list[Any]:
    """The levels of a factor: plain values of a field, or labels with their fields.

    Args:
        ledger: The ledger.
        data: The campaign.
        name: The factor's.
        wanted: The labels that are run, or the same as ``levels``.
        levels: The factor as the campaign gives it.
        base: The scenario's fields by dotted name, from which a level's load takes what it does not say.
        scale: How much is run.
    """
    table: Data = levels if isinstance(levels, dict) else {"labels": levels}
    labels = table["labels"] if wanted is levels else wanted
    fields: dict[Any, Data]
    if "field" in table:
        fields = {label: nested({table["field"]: label}) for label in labels}
    elif "layout" in table:
        fields = {label: layout(label, table) for label in labels}
    elif "fields" in table:
        fields = {label: table["fields"][str(label)] for label in labels}
    elif "." in name:
        return list(labels)
    else:
        arms = ledger.arms[table.get("arms", name)]
        fields = {label: arms[label] for label in labels}
    share = scale.duration_share
    made = []
    for label in labels:
        flat = _derived(_flat(fields[label]), base)
        if "measured_s" in flat:
            flat = {**flat, "duration_s": data["warmup_s"] + flat["measured_s"] * share}
            del flat["measured_s"]
        made.append({"label": label, "fields": flat})
    return made


def labels_of(table: Any) -> list[Any]:
    """The labels of a factor as a campaign gives it."""
    return list(table["labels"] if isinstance(table, dict) else table)


def interval_s(packet_bytes: int, kbps: float) -> float:
    """The time between packets of a CBR flow, in s."""
    return 8 * packet_bytes / (1000 * kbps)


def _derived(flat: Fields, base: Fields) -> Fields:
    """Fields by dotted name with the load of CBR flows as the time between packets of one."""
    if LOAD not in flat:
        return flat
    made = {key: value for key, value in flat.items() if key != LOAD}
    known = base | flat
    require("traffic.random.cbr" in known, LOAD, flat[LOAD], "the number of flows, `cbr`, beside it")
    if known["traffic.random.cbr"]:
        each_kbps = flat[LOAD] / known["traffic.random.cbr"]
        made["traffic.random.cbr_interval_s"] = interval_s(known["traffic.random.cbr_bytes"], each_kbps)
    return made


def nested(fields: Mapping[str, Any]) -> Fields:
    """Fields by dotted name as nested tables."""
    tables: Fields = {}
    for path, value in fields.items():
        _assign(tables, path, value)
    return tables


def _assign(tables: Fields, path: str, value: Any) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        tables = tables.setdefault(parent, {})
    tables[name] = value


def _flat(tables: Data, place: str = "") -> Fields:
    """Nested tables as fields by dotted name."""
    found: Fields = {}
    for name, value in tables.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{place}{name}.")
        else:
            found[f"{place}{name}"] = value
    return found


def _lay(over: Fields, fields: Data) -> None:
    """Lays tables over others: values replace values, tables are merged."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            _lay(over.setdefault(name, {}), value)
        else:
            over[name] = value


def every(levels: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of levels, the last varying fastest."""
    for chosen in product(*levels.values()):
        yield dict(zip(levels, chosen, strict=True))


def scenario_of(ledger: Ledger, name: str, replication: int = 0) -> Scenario:
    """The scenario of a campaign's first point, at the paper's size."""
    [part, *_] = parts(ledger, name, Scale(full=True))
    return part.campaign.points[0].scenario(replication)
