"""The page docs/parameters.md, made from the schema: ``python -m manetlab.docs_tables`` prints it.

`make docs` writes the page; a test fails when the page is not what this module makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from manetlab import _core, parameters
from manetlab.parameters import Parameter
from manetlab.tables import Table
from manetlab.tables import shown_value as shown

SECTIONS = {
    "radio": ("The radio channel", "models/radio.md"),
    "mac": ("The 802.11 MAC", "models/mac.md"),
    "queue": ("The interface queue", "models/interface-queue-and-arp.md"),
    "arp": ("Address resolution", "models/interface-queue-and-arp.md"),
    "network": ("IP, link layer and UDP", "models/interface-queue-and-arp.md"),
    "tcp": ("TCP, at both ends", "models/tcp.md"),
    "aodv": ("AODV", "models/aodv.md"),
    "dsdv": ("DSDV", "models/dsdv.md"),
    "dsr": ("DSR", "models/dsr.md"),
    "tsr": ("TSR", "models/tsr.md"),
    "adv": ("ADV", "models/adv.md"),
    "lunar": ("LUNAR", "models/lunar.md"),
    "olsr": ("OLSR", "models/olsr.md"),
    "babel": ("Babel", "models/babel.md"),
    "dymo": ("DYMO", "models/dymo.md"),
    "tora": ("TORA over IMEP", "models/tora.md"),
    "ssa": ("SSA", "models/ssa.md"),
    "abr": ("ABR", "models/abr.md"),
    "zrp": ("ZRP", "models/zrp.md"),
    "batman": ("B.A.T.M.A.N. IV", "models/batman.md"),
    "cedar": ("CEDAR", "models/cedar.md"),
    "rip": ("RIP", "models/rip.md"),
    "flooding": ("Flooding", "models/flooding.md"),
    "adp": ("ADP, at both ends", "models/adp.md"),
    "psp": ("PSP, at both ends", "models/psp.md"),
    "video": ("Video traffic", "models/traffic.md"),
    "rtp": ("RTP, at both ends", "models/rtp.md"),
    "throttle": ("Ingress throttling", "models/throttling.md"),
    "insignia": ("INSIGNIA", "models/insignia.md"),
    "web": ("Web sessions", "models/web.md"),
    "waypoint": ("Random waypoint movement", "models/mobility.md#random-waypoint"),
    "gauss_markov": ("Gauss-Markov movement", "models/mobility.md#gauss-markov"),
    "angular_gauss_markov": ("BonnMotion's Gauss-Markov movement", "models/mobility.md#gauss-markov"),
    "rpgm": ("Movement in groups", "models/mobility.md#reference-point-group-mobility"),
    "manhattan": ("Movement along streets", "models/mobility.md#manhattan"),
    "random_direction": ("Movement from edge to edge", "models/mobility.md#random-direction-and-random-walk"),
    "random_walk": ("Random walk", "models/mobility.md#random-direction-and-random-walk"),
    "conference": ("A conference", "models/mobility.md#conference-event-and-disaster"),
    "event": ("An event", "models/mobility.md#conference-event-and-disaster"),
    "disaster": ("A disaster", "models/mobility.md#conference-event-and-disaster"),
    "disaster_area": ("A disaster area with tactical areas", "models/mobility.md#disaster-area"),
}
"""What each section is, and the page of its model."""

HEAD = """\
# Parameters

`make docs` generates this page from the simulator's own schema; do not edit it.

A parameter is named by section and name. `--set mac.rts_threshold_bytes=0` changes one on the command line,
in TOML it is in its section (`[mac]`), and in Python it is `mac={"rts_threshold_bytes": 0}`. The columns
after the name are the values of the [profiles](models/profiles.md); `manetlab scenario show` prints the
values of a scenario and what set each of them. The parameters of movement models, such as `waypoint`, are
written under `[movement.waypoint]`, those of `web` under `[traffic.web]`; they have one default in all
profiles. The source `decision` is a decision of manetlab's; `from memory`: of a paper that could not be read.
"""


def parameters_page() -> str:
    """The page, in Markdown."""
    profiles = {name: parameters.profile(name) for name in _core.profiles()}
    parts = [HEAD]
    for section, known in parameters.schema().items():
        values = {name: profile[section] for name, profile in profiles.items()}
        parts.append(_section(section, known.values(), values))
    for model, of_model in parameters.movement_schema().items():
        default = {"default": parameters.movement_defaults()[model]}
        parts.append(_section(model, of_model.values(), default))
    web = {"default": json.loads(_core.web_defaults())}
    parts.append(_section("web", parameters.web_schema().values(), web))
    parts += [_senders(), *_routing_sets()]
    return "\n".join(parts)


def _section(name: str, known: Iterable[Parameter], values: Mapping[str, Mapping[str, Any]]) -> str:
    title, model = SECTIONS[name]
    rows = [
        (
            f"`{parameter.name}`",
            *(shown(of_set[parameter.name]) for of_set in values.values()),
            parameter.unit,
            _allowed(parameter),
            parameter.meaning,
            parameter.source,
        )
        for parameter in known
    ]
    head = ("name", *(f"`{label}`" for label in values), "unit", "allowed", "meaning", "source")
    return f"## {name}\n\n{title}; see [the model]({model}).\n\n{_table(head, rows)}"


def _senders() -> str:
    """What each named TCP sender sets."""
    base = parameters.profile("rfc")
    rows = []
    for sender in _core.tcp_senders():
        tcp = parameters.apply_sender(base, sender, "docs")["tcp"]
        sets = [f"`{name}` = {shown(tcp[name])}" for name in parameters.set_by_sender(sender)]
        rows.append((f"`{sender}`", ", ".join(sets)))
    text = "The parameters of section `tcp` that `--tcp NAME` sets; all others keep the profile's values."
    return f"## TCP senders\n\n{text}\n\n{_table(('sender', 'sets'), rows)}"


def _routing_sets() -> list[str]:
    """In what each routing protocol's named sets differ."""
    return [_sets_of(protocol) for protocol in _core.routings() if _core.routing_sets(protocol)]


def _sets_of(protocol: str) -> str:
    sets = {name: json.loads(_core.routing_set(protocol, name)) for name in _core.routing_sets(protocol)}
    rows = []
    for name in next(iter(sets.values())):
        values = [shown(of_set[name]) for of_set in sets.values()]
        if len(set(values)) > 1:
            rows.append((f"`{name}`", *values))
    text = f"The parameters that differ between the sets of `--routing {protocol}:SET`."
    head = ("name", *(f"`{label}`" for label in sets))
    return f"## {protocol.upper()}'s parameter sets\n\n{text}\n\n{_table(head, rows)}"


def _allowed(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(f"`{choice}`" for choice in parameter.choices)
    if parameter.kind == "boolean":
        return "true, false"
    if parameter.range is None:
        return ""
    low, high = parameter.range
    return f"{low:.10g} to {high:.10g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return Table("", head, list(rows), text_columns=len(head)).to_markdown().partition("\n\n")[2]


if __name__ == "__main__":
    print(parameters_page(), end="")
