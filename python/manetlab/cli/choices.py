"""What options and arguments may be: names with a line each, for ``manetlab list`` and for shells.

All of it comes from where it is defined: the core, the metrics, the fields of a scenario. Nothing but click
is imported before a shell or a user asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.errors import ManetlabError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from manetlab.tables import Table

Named = Iterable[tuple[str, str]]
"""Names, each with what it is in a line."""


def _protocols() -> Named:
    from manetlab import _core

    return [(name, _core.routing_meaning(name)) for name in _core.routings()]


def _sets() -> Named:
    from manetlab import _core, parameters

    for protocol in _core.routings():
        usual = parameters.profile("rfc").get(protocol, {})
        for name in _core.routing_sets(protocol):
            values = parameters.apply_routing_set({}, protocol, name, "")[protocol]
            yield f"{protocol}:{name}", _differences(usual, values)


def _senders() -> Named:
    from manetlab import _core, parameters

    usual = parameters.profile("rfc")
    plain = parameters.apply_sender(usual, "reno", "")["tcp"]
    for name in _core.tcp_senders():
        changed = _differences(plain, parameters.apply_sender(usual, name, "")["tcp"])
        yield name, "Reno, which the others start from." if name == "reno" else changed


def _differences(usual: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """What differs from the usual values, as TOML writes it; the first few of many."""
    from manetlab.tables import shown_value

    changed = [f"{name} = {shown_value(value)}" for name, value in values.items() if value != usual.get(name)]
    more = f" and {len(changed) - MOST_SHOWN} more" if len(changed) > MOST_SHOWN else ""
    return ", ".join(changed[:MOST_SHOWN]) + more + "." if changed else "The defaults."


MOST_SHOWN = 4
"""How many parameters that differ are named in a line."""


def _profiles() -> Named:
    from manetlab import _core

    return [(name, _core.profile_meaning(name)) for name in _core.profiles()]


def _radios() -> Named:
    from manetlab.radio_units import DEVICES

    return [(name, f"{device.meaning}.") for name, device in DEVICES.items()]


def _presets() -> Named:
    from manetlab.presets import presets

    for name, fields in presets().items():
        yield name, ", ".join(f"{key} {shown}" for key, shown in _outline(fields)) + "."


def _outline(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a preset is, in a few words each."""
    yield "movement", ", ".join(fields["movement"])
    yield "range", f"{fields['radio']['range_m']:g} m"
    yield "walls", str(len(fields.get("walls", [])))
    yield "duration", f"{fields['duration_s']:g} s"


def _models() -> Named:
    from manetlab import parameters
    from manetlab.sources import MovementSource

    for name in parameters.movement_schema():
        yield name, MovementSource.fields[name].meaning.partition(" made from")[0] + "."


def _sources() -> Named:
    from manetlab import flows
    from manetlab.sources import MovementSource, TrafficSource

    for section, record in (("movement", MovementSource), ("traffic", TrafficSource)):
        for name, field in record.fields.items():
            yield f"{section}.{name}", field.meaning
    for kind, fields in flows.kinds().items():
        yield f"flow {kind}", fields["kind"].meaning.removeprefix(f"{kind}: ")


def _measures() -> Named:
    from manetlab.metrics import MEASURES

    for key, metric in MEASURES.items():
        name = metric.in_words + (metric.unit and f" ({metric.unit})")
        way = metric.better and f"; {metric.better} is better"
        yield key, f"{name[:1].upper()}{name[1:]}{way}"


def _tables_of_measures() -> Iterator[Table]:
    """All measures of a run, a table for those that need the same to be there."""
    from manetlab.metrics import MEASURES
    from manetlab.tables import Table

    for (group, needs), of_group in groupby(MEASURES.values(), key=lambda each: (each.group, each.needs)):
        title = f"{group} (with {needs})" if needs else group
        table = Table(title, ("name", "measure", "unit", "better"), text_columns=4)
        for metric in of_group:
            unit = metric.unit or ("number" if metric.values == "count" else "ratio")
            table.add(metric.key, metric.in_words, unit, metric.better or "–")
        yield table
    aliases = (f"{', '.join(metric.also)} for {key}" for key, metric in MEASURES.items() if metric.also)
    yield Table("Other names that can be given", ("", ""), [(each, "") for each in aliases], text_columns=2)


LISTS: Mapping[str, tuple[str, Callable[[], Named]]] = {
    "protocols": ("Routing protocols, for --routing and `routing`", _protocols),
    "sets": ("Parameter sets of routing protocols, for --routing and `routing`", _sets),
    "senders": ("TCP senders and the parameters that each sets, for --tcp and `tcp`", _senders),
    "radios": ("Radios whose power, thresholds and ranges `radio.device` sets", _radios),
    "models": ("Movement models, for scenario generate and `movement`", _models),
    "presets": ("Scenarios that have a name, for --preset and `preset`", _presets),
    "sources": ("Where movement and traffic come from, and the kinds of flows", _sources),
    "measures": ("Measures of a run, for --metric and a campaign's `metrics`", _measures),
    "profiles": ("Named sets of defaults, for --profile and `profile`", _profiles),
}
"""What can be listed: a heading, and what gives the names."""

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
"""What click calls to complete a value that has begun."""


def complete(*kinds: str) -> Complete:
    """Completes names of these lists."""

    def items(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
        return _items((pair for kind in kinds for pair in LISTS[kind][1]()), begun)

    return items


def complete_changes(_ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Completes ``FIELD=VALUE``: the names of fields, and after that the values of a choice or a switch."""
    from manetlab import parameters, radio_units, scenario_fields

    schema = parameters.schema()
    path, equals, _ = begun.partition("=")
    section, _, name = path.partition(".")
    parameter = schema.get(section, {}).get(name)
    if path == f"radio.{radio_units.DEVICE}" and equals:
        return _items(((f"{path}={device}", told) for device, told in _radios()), begun)
    if not equals:
        meanings = {each.key: each.meaning for known in schema.values() for each in known.values()}
        meanings |= {f"radio.{name}": stated.meaning for name, stated in radio_units.FIELDS.items()}
        return _items(((f"{each}=", meanings.get(each, "")) for each in scenario_fields.known()), begun)
    if parameter is None:
        return []
    values = ("true", "false") if parameter.kind == "boolean" else parameter.choices
    return _items(((f"{path}={value}", parameter.meaning) for value in values), begun)


def complete_levels(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Completes the labels of a campaign's levels, also behind a comma."""
    before, comma, last = begun.rpartition(",")
    labels = (str(level.label) for levels in _levels(ctx).values() for level in levels)
    return _items(((f"{before}{comma}{label}", "") for label in labels), before + comma + last)


def complete_factors(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Completes the names of a campaign's factors."""
    return _items(((name, "") for name in _levels(ctx)), begun)


def _levels(ctx: click.Context) -> Mapping[str, list[Any]]:
    """The levels of the campaign that the command line names, none if it cannot be read."""
    # Where an option still waits for its value, the arguments before it are not yet assigned.
    named = [ctx.params.get("source"), *ctx.args]
    source = next((each for each in named if each is not None and not str(each).startswith("-")), None)
    if source is None:
        return {}
    from manetlab.campaign.plan import Campaign
    from manetlab.campaign.results import Results

    path = Path(source)
    try:
        campaign = Campaign.load(path) if path.suffix == ".toml" else Results.load(path).campaign
    except ManetlabError:
        return {}
    return campaign.levels


def _items(named: Named, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name, help=told or None) for name, told in named if name.startswith(begun)]


@click.command("list")
@click.argument(
    "kind", type=click.Choice(list(LISTS)), required=False, help="What to list. [the lists themselves]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_names(kind: str | None, as_json: bool) -> None:
    """List the names that options and files can use.

    These are protocols, parameter sets, senders, radios, sources, measures and profiles.
    """
    import json

    from manetlab.tables import Table, stdout_console

    if kind is None:
        heading, names = "What `manetlab list` can list", {name: told for name, (told, _) in LISTS.items()}
    else:
        heading, names = LISTS[kind][0], dict(LISTS[kind][1]())
    if as_json:
        print(json.dumps(names))
        return
    if kind == "measures":
        for measures in _tables_of_measures():
            measures.print(stdout_console())
        return
    table = Table(heading, ("name", "what"), text_columns=2)
    for pair in names.items():
        table.add(*pair)
    table.print(stdout_console())
