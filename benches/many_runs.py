"""A campaign of up to a million runs, looked at: time and memory of the commands that show it."""

import hashlib
import sqlite3
from pathlib import Path

from benches.measuring import MANETLAB, OUT, measured, must, progress
from manetlab import Campaign
from manetlab.campaign.database import digest_of
from manetlab.campaign.store import RUN, Store, key_of
from manetlab.tables import Table

SIZES = [10_000, 100_000, 1_000_000]
MADE = 20
"""Replications that are run; all others repeat one of them under another seed."""
BLOCK = 20_000
"""Rows of a transaction."""
BASE = {
    "movement": {"waypoint": {"nodes": 12, "width_m": 700.0, "height_m": 400.0, "speed_max": 10.0}},
    "traffic": {"random": {"tcp": 1, "cbr": 1, "cbr_start_within_s": 1.0}},
    "duration_s": 10.0,
    "warmup_s": 1.0,
}
FACTORS = {"routing": ["aodv", "dsr"], "traffic.random.cbr": [1, 2, 3, 4, 5]}
METRICS = ["cbr_delivery_fraction", "cbr_latency_mean_s", "tcp_throughput_bps"]
POINTS = 10


def table(sizes: list[int]) -> Table:
    """CPU time, time by the clock and most memory of each command, the store's and the page's bytes."""
    columns = ("runs", "store (MB)", "command", "CPU (s)", "clock (s)", "memory (MB)", "page (MB)")
    shown = Table("Looking at many runs, one round", columns, text_columns=3)
    for runs in sizes:
        store = filled(runs)
        size = f"{store.stat().st_size / 1e6:.0f}"
        for name, command in _commands(store).items():
            progress(f"{runs} runs: {name}")
            cost = must(measured([*MANETLAB, *command]))
            page = f"{(_report(store) / 'index.html').stat().st_size / 1e6:.2f}" if name == "report" else ""
            costs = (f"{cost.cpu_s:.1f}", f"{cost.wall_s:.1f}", f"{cost.peak_mb:.0f}")
            shown.add(f"{runs:,}", size, name, *costs, page)
    return shown


def _report(store: Path) -> Path:
    return store.with_name(f"{store.stem}-report")


def _commands(store: Path) -> dict[str, list[object]]:
    tables = store.with_name(f"{store.stem}-tables")
    exported = ["campaign", "export", store, "-o"]
    return {
        "status": ["campaign", "status", store],
        "results": ["campaign", "results", store],
        "report": ["report", store, "-o", _report(store)],
        "export --format parquet": [*exported, f"{tables}-parquet", "--format", "parquet"],
        "export": [*exported, tables],
    }


def filled(runs: int) -> Path:
    """A store with that many runs, of which `MADE` of each point were run."""
    OUT.mkdir(parents=True, exist_ok=True)
    store, part = OUT / f"runs-{runs}.db", OUT / f"runs-{runs}.new.db"
    if store.exists():
        return store
    part.unlink(missing_ok=True)
    asked = {"base": BASE, "factors": FACTORS, "metrics": METRICS, "name": "many", "question": "Which one?"}
    Campaign(**asked, replications=MADE).run(part)
    campaign = Campaign(**asked, replications=runs // POINTS)
    with Store.open(part) as opened:
        number = opened.begin(campaign, campaign.identity([]))
        opened.reach(number, campaign.replications)
    _repeat(part, number, campaign)
    part.rename(store)
    return store


def _repeat(store: Path, number: int, campaign: Campaign) -> None:
    """Fills a store with copies of its runs, each with the key that another seed would give it."""
    with sqlite3.connect(store) as db:
        [(identity,)] = db.execute("SELECT id FROM campaign WHERE number = ?", (number,))
        found = f"SELECT point, replication, {', '.join(RUN)} FROM task JOIN run USING (key)"
        made = {tuple(row[:2]): dict(zip(RUN, row[2:], strict=True)) for row in db.execute(found)}
        places = []
        for replication in range(MADE, campaign.replications):
            for point in range(POINTS):
                run = made[point, replication % MADE]
                scenario = hashlib.sha256(f"{run['scenario_hash']} {replication}".encode()).hexdigest()
                places.append((key_of(scenario, run["code"]), scenario, point, replication))
        # In the order of the table, which then grows at its end.
        places.sort()
        for first in range(0, len(places), BLOCK):
            runs, tasks = [], []
            for key, scenario, point, replication in places[first : first + BLOCK]:
                seed = str(campaign.first_seed + replication)
                run = {**made[point, replication % MADE], "key": key, "scenario_hash": scenario, "seed": seed}
                values = tuple(run[name] for name in RUN)
                runs.append((*values, digest_of(values)))
                of_task = digest_of((identity, point, replication, key))
                tasks.append((number, point, replication, key, of_task))
            places_of_run = ", ".join("?" * (len(RUN) + 1))
            db.executemany(f"INSERT INTO run ({', '.join(RUN)}, digest) VALUES ({places_of_run})", runs)
            db.executemany("INSERT INTO task VALUES (?, ?, ?, ?, ?)", tasks)
            db.commit()
    db.close()
