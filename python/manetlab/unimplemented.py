"""Names that users try and that manetlab does not have: what there is instead, for the hint of the error."""

from __future__ import annotations

_OWN = "`manetlab docs add-a-routing-protocol` shows how to add one"
_PROACTIVE = f"olsr, babel, batman, dsdv and rip are proactive too; {_OWN}"
_ON_DEMAND = f"aodv, dsr, dymo, tora and zrp find routes on demand; {_OWN}"
_GEOGRAPHIC = f"python:manetlab.examples.greedy.Greedy forwards by position; {_OWN}"
_SENDER = "`manetlab list senders` lists the TCP senders"
_PROPAGATION = "`manetlab docs radio` lists path losses, shadowing and fading"
_MOVEMENT = "give movement that another program has made: `manetlab docs bring-your-own`"
_VOICE = 'a flow of kind = "voice" is one direction of a call, and traffic.random.calls draws calls'
_WIFI = "mac.standard has 802.11a, 802.11b and 802.11g"

_INSTEAD = {
    **dict.fromkeys(("olsrv2", "fsr", "hsr"), _PROACTIVE),
    **dict.fromkeys(("aomdv", "loadng", "cbrp", "hwmp", "rpl"), _ON_DEMAND),
    **dict.fromkeys(("gpsr", "gpcr", "lar", "dream", "geographic"), _GEOGRAPHIC),
    **dict.fromkeys(("epidemic", "prophet", "spray-and-wait", "maxprop"), f"flooding is the nearest; {_OWN}"),
    **dict.fromkeys(("westwood", "westwood+", "bic", "bbr", "compound", "hybla", "illinois"), _SENDER),
    **dict.fromkeys(("htcp", "highspeed", "veno", "fack", "dctcp", "quic", "sctp"), _SENDER),
    **dict.fromkeys(("ray-tracing", "cost231", "okumura-hata", "free-space"), _PROPAGATION),
    **dict.fromkeys(("gpx", "levy", "slaw"), _MOVEMENT),
    "voip": _VOICE,
    **dict.fromkeys(("802.11n", "802.11ac", "802.11ax"), _WIFI),
}


def instead_of(name: str) -> str | None:
    """What there is instead of something that is known and not implemented, or None for any other name.

    Args:
        name: The name that a user gave: a protocol, a sender, a parameter or a key, in any case.
    """
    plain = name.lower().removeprefix("tcp-").partition(":")[0]
    return _INSTEAD.get(plain) or _INSTEAD.get(plain.replace("_", "-"))
