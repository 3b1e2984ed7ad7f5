"""Which modules a scenario uses: none that it needs is left out."""

from __future__ import annotations

from itertools import product

from manetlab import _core, code_modules
from manetlab.code_modules import OPTIONAL, Use, unit_of
from tests.conftest import ROOT
from tests.rust_modules import sources, uses

CORE = ROOT / "crates" / "core" / "src"
CHOOSING = {
    # It calls the one scheme that the parameters name.
    ("transport/tcp", "transport/tcp/congestion"),
    ("transport/tcp", "transport/tcp/route_failure"),
    # Its values show in the resolved scenario, and it counts for none.
    ("profile", ""),
}
"""Optional units that name others without using them in every run."""


def every_use() -> list[Use]:
    """Uses that differ in all that conditions look at."""
    routings = [*_core.routings(), "custom"]
    flows = [
        *(([kind], []) for kind in ("tcp", "cbr", "web", "adp")),
        *(([kind], [carrier]) for kind in ("video", "poisson") for carrier in ("udp", "adp", "tcp")),
        *((["on-off"], [carrier]) for carrier in ("rtp-udp", "rtp-adp")),
    ]
    schemes = ("none", "elfn", "tcp-f", "tcp-bus", "atcp", "tcp-door", "bansal-barua", "eln")
    tcp = [*product(("reno", "tahoe", "vegas", "cubic"), schemes)]
    found = []
    for routing, (kinds, carriers), (congestion, scheme) in product(routings, flows, tcp):
        has_tcp = "tcp" in (*kinds, *carriers) or "web" in kinds
        settings = (congestion, scheme) if has_tcp else ("", "")
        found.append(Use(routing, frozenset(kinds), frozenset(carriers), *settings, frozenset({"random"})))
    return found


def test_what_a_used_module_uses_is_used() -> None:
    pairs = set()
    for each in uses(CORE):
        by, of = unit_of("/".join(each.by)), unit_of("/".join(each.of))
        if by in OPTIONAL and of in OPTIONAL and by != of:
            pairs.add((by, of))
    pairs = {
        (by, of)
        for by, of in pairs
        if not any(by == first and f"{of}/".startswith(second) for first, second in CHOOSING)
    }
    assert ("flow/transfer", "flow/connection") in pairs
    every = every_use()
    assert [
        f"{by} uses {of}, which does not count for {use}"
        for by, of in sorted(pairs)
        for use in every
        if OPTIONAL[by](use) and not OPTIONAL[of](use)
    ][:3] == []


def test_every_module_has_a_digest_and_tests_have_none() -> None:
    digests = dict(_core.modules())
    of_core = {"/".join(module) or "lib" for module in sources(CORE)}
    known = {name for name in digests if not name.startswith(("py/", "dependencies"))}
    assert known == of_core
    assert not [name for name in digests if "tests" in name or "testbench" in name]
    assert all(len(digest) == code_modules.DIGITS for digest in digests.values())


def test_every_optional_unit_is_of_this_code() -> None:
    assert set(OPTIONAL) <= set(code_modules.units())
