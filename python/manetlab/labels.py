"""What routing protocols and TCP senders are called where people read: on pages, in plots and reports."""

from __future__ import annotations

from manetlab import _core

PROTOCOLS = {"babel": "Babel", "batman": "B.A.T.M.A.N.", "flooding": "flooding", "static": "static routes"}
"""Routing protocols whose names are not written in capitals alone, as AODV is."""
SENDERS = {
    "reno": "Reno",
    "tahoe": "Tahoe",
    "newreno": "NewReno",
    "sack": "SACK",
    "smart": "SMART",
    "vegas": "Vegas",
    "cubic": "CUBIC",
    "reno-f": "Reno-F",
    "eifel": "Eifel",
    "f-rto": "F-RTO",
}
"""TCP senders as papers write them; the others are shown by their names in manetlab."""


def of_protocol(name: str) -> str:
    """What the routing protocol of a scenario is called, with its parameter set: `AODV (ns-2.35)`."""
    protocol, _, of = name.partition(":")
    if protocol == "python":
        return of
    label = PROTOCOLS.get(protocol, protocol.upper())
    return f"{label} ({of})" if of else label


def of_alternative(name: str) -> str:
    """What an alternative of a campaign is called: protocols and senders by labels, others as they are."""
    if name.partition(":")[0] in _core.routings():
        return of_protocol(name)
    return SENDERS.get(name, name)
