"""Names that users try and that manetlab does not have: what there is instead, for the hint of the error."""

from __future__ import annotations

_OWN = "`manetlab docs add-a-routing-protocol` shows how to add one"
_PROACTIVE = f"olsr, babel, batman and dsdv are proactive too; {_OWN}"
_ON_DEMAND = f"aodv and dsr find routes on demand; {_OWN}"
_GEOGRAPHIC = f"python:manetlab.examples.greedy.Greedy forwards by position; {_OWN}"
_SENDER = "`manetlab list senders` lists the TCP senders"
_PROPAGATION = "propagation is two-ray ground; radio.bit_error_rate adds random losses"
_MOVEMENT = "give movement that another program has made: `manetlab docs bring-your-own`"
_VOICE = 'a flow of kind = "voice" is one direction of a call, and traffic.random.calls draws calls'
_WIFI = "the MAC is that of 802.11b, with 1, 2, 5.5 and 11 Mb/s"

_INSTEAD = {
    **dict.fromkeys(("olsrv2", "fsr", "hsr"), _PROACTIVE),
    **dict.fromkeys(
        ("tora", "aomdv", "dymo", "aodvv2", "loadng", "abr", "zrp", "cbrp", "hwmp", "rpl"), _ON_DEMAND
    ),
    **dict.fromkeys(("gpsr", "gpcr", "lar", "dream", "geographic"), _GEOGRAPHIC),
    **dict.fromkeys(("epidemic", "prophet", "spray-and-wait", "maxprop"), f"flooding is the nearest; {_OWN}"),
    **dict.fromkeys(("westwood", "westwood+", "bic", "bbr", "compound", "hybla", "illinois"), _SENDER),
    **dict.fromkeys(("htcp", "highspeed", "veno", "fack", "dctcp", "quic", "sctp"), _SENDER),
    **dict.fromkeys(("fading", "rayleigh", "rician", "nakagami", "shadowing"), _PROPAGATION),
    **dict.fromkeys(("path_loss_exponent", "log-distance", "log_distance", "free-space"), _PROPAGATION),
    **dict.fromkeys(("gauss-markov", "gauss_markov", "rpgm", "manhattan", "random_walk"), _MOVEMENT),
    **dict.fromkeys(("gpx", "levy", "random_direction"), _MOVEMENT),
    **dict.fromkeys(("voice", "voip", "calls"), _VOICE),
    **dict.fromkeys(("802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "standard"), _WIFI),
}


def instead_of(name: str) -> str | None:
    """What there is instead of something that is known and not implemented, or None for any other name.

    Args:
        name: The name that a user gave: a protocol, a sender, a parameter or a key, in any case.
    """
    plain = name.lower().removeprefix("tcp-").partition(":")[0]
    return _INSTEAD.get(plain) or _INSTEAD.get(plain.replace("_", "-"))
