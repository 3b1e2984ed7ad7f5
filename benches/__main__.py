"""``python -m benches``: measures and writes out/performance.md."""

import argparse
import compileall
import datetime
import os
import platform
from collections.abc import Callable
from pathlib import Path

from benches import (
    campaigns,
    engine,
    growth,
    many_runs,
    ns3,
    page,
    precision,
    python_routing,
    radios,
    recording,
    routings,
    standard,
    startup,
    throughput,
)
from benches.measuring import OUT, ROOT, available
from manetlab import provenance
from manetlab.files import write_text
from manetlab.tables import Table, stdout_console

SIZES = [100, 200, 400, 800, 1000, 3000, 10_000]
NS2_SIZES = [100, 200, 400, 800]


def main() -> None:
    """Measures the parts that are named, or all."""
    options = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    options.add_argument(
        "parts",
        nargs="*",
        help="startup, throughput, standard, protocols, ns3, standing, moving, python, recording, page, "
        "engine, precision, radios, radio-growth, walls, routings, thousand, campaigns, many-runs; "
        "all if none is named",
    )
    options.add_argument("--rounds", type=int, default=5, help="measurements of each command [5]")
    options.add_argument("--most", type=int, default=SIZES[-1], help="nodes of the largest network [10000]")
    options.add_argument("--without-ns2", action="store_true", help="measure growth without ns-2 beside it")
    options.add_argument("--beside", type=Path, help="another build's manetlab, for startup and campaigns")
    options.add_argument("--profile", default="rfc", help="profile of the growing networks [rfc]")
    options.add_argument("--routing", action="append", help="a protocol, for thousand [all]")
    options.add_argument("--runs", type=int, default=1_000_000, help="runs at most, for many-runs [1000000]")
    options.add_argument("--short", type=int, default=10_000, help="runs of each of the campaigns [10000]")
    asked = options.parse_args()
    sizes = [size for size in SIZES if size <= asked.most]
    beside = [] if asked.without_ns2 else NS2_SIZES
    parts: dict[str, Callable[[], Table]] = {
        "startup": lambda: startup.table(asked.rounds, asked.beside),
        "throughput": lambda: throughput.table(asked.rounds),
        "standard": lambda: standard.table(asked.rounds),
        "protocols": lambda: standard.protocols_table(asked.rounds),
        "ns3": lambda: ns3.table(asked.rounds),
        "standing": lambda: growth.standing(sizes, beside, asked.profile),
        "moving": lambda: growth.moving(sizes, beside, asked.profile),
        "python": lambda: python_routing.table(asked.rounds),
        "recording": lambda: recording.table(asked.rounds),
        "page": lambda: page.table(asked.rounds),
        "engine": lambda: engine.table(asked.rounds),
        "precision": precision.table,
        "radios": lambda: radios.table(asked.rounds),
        "radio-growth": lambda: radios.growth(asked.rounds),
        "walls": lambda: radios.walls(asked.rounds),
        "routings": lambda: routings.table(asked.rounds),
        "thousand": lambda: routings.thousand(asked.routing),
        "campaigns": lambda: campaigns.table(asked.short, asked.rounds, asked.beside),
        "many-runs": lambda: many_runs.table([runs for runs in many_runs.SIZES if runs <= asked.runs]),
    }
    if unknown := set(asked.parts) - set(parts):
        options.error(f"no such part: {', '.join(sorted(unknown))}")
    # As pip does when it installs: a checkout has none where PYTHONDONTWRITEBYTECODE is set.
    compileall.compile_dir(ROOT / "python", quiet=1)
    console, texts = stdout_console(), [_head()]
    for name in asked.parts or parts:
        table = parts[name]()
        table.print(console)
        texts.append(table.to_markdown())
        # After each table: whoever stops a long measurement keeps what was measured.
        write_text(OUT.parent / "performance.md", "\n".join(texts))


def _head() -> str:
    """When, where and what."""
    OUT.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[1]
    commit = provenance.commit() or "no commit"
    today = datetime.datetime.now(datetime.UTC).date()
    return f"{today}, {_processor()}, {len(available())} cores, load {load:.1f}, commit `{commit}`.\n"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


if __name__ == "__main__":
    main()
