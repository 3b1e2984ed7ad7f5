"""A campaign of many short runs: on this machine, in shards, and over Dask with more and more workers."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from benches.measuring import MANETLAB, OUT, available, in_turn, measured, must, progress, ratios, spread
from manetlab.tables import Table

CAMPAIGN = """
name = "short"
replications = {replications}
metrics = ["cbr_delivery_fraction"]

[factors]
routing = ["static", "aodv"]
"traffic.random.cbr" = [1, 2, 3, 4, 5]

[base]
duration_s = 2.0
warmup_s = 0.5
movement.chain = {{ nodes = 4 }}
traffic.random = {{ cbr_interval_s = 0.4 }}
"""
POINTS = 10
WORKERS = (2, 6, 12)
Made = tuple[float, float]
"""Seconds by the clock, and CPU time in s of the commands that were given."""


class Folder:
    """Where stores are, of which no two have the same name."""

    def __init__(self, runs: int) -> None:
        self._path = OUT / "campaigns"
        self._path.mkdir(parents=True, exist_ok=True)
        self._numbers = itertools.count()
        self.campaign = self._path / f"short-{runs}.toml"
        self.campaign.write_text(CAMPAIGN.format(replications=runs // POINTS), encoding="utf-8")

    def store(self) -> Path:
        """A store that is not there."""
        path = self._path / f"store-{next(self._numbers)}.db"
        path.unlink(missing_ok=True)
        return path


def table(runs: int, rounds: int, beside: Path | None) -> Table:
    """Seconds by the clock, and CPU time of the client for each run.

    Args:
        runs: In each campaign.
        rounds: All in turn.
        beside: Another build's ``manetlab``, which makes the runs on this machine as well.
    """
    folder, cores = Folder(runs), available()
    run = ["campaign", "run", folder.campaign, "--store"]
    ways: dict[str, Callable[[], Made]] = {
        f"{len(cores)} cores": lambda: _made([*MANETLAB, *run, folder.store()]),
        "two shards, one after the other, and merged": lambda: _sharded(folder, run),
    }
    if beside is not None:
        ways["the other build"] = lambda: _made([beside, *run, folder.store()])
    for workers in WORKERS:
        ways[f"Dask, {workers} workers"] = lambda workers=workers: _over_dask(workers, folder, run)
    progress(f"campaigns of {runs:,} runs, {rounds} rounds")
    found = in_turn(rounds, *ways.values())
    shown = Table(
        f"Campaigns of {runs:,} short runs, {rounds} rounds", ("", "clock", "runs/s", "CPU a run", "÷ first")
    )
    first = [cpu_s for _, cpu_s in found[0]]
    for name, costs in zip(ways, found, strict=True):
        clock, cpu = [clock_s for clock_s, _ in costs], [cpu_s for _, cpu_s in costs]
        rate = spread([runs / each for each in clock], 0)
        each_ms = spread([1e3 * each / runs for each in cpu], 2, " ms")
        shown.add(name, spread(clock, 1, " s"), rate, each_ms, spread(ratios(cpu, first)))
    return shown


def _made(*commands: list[object]) -> Made:
    costs = [must(measured(command, available())) for command in commands]
    return sum(cost.wall_s for cost in costs), sum(cost.cpu_s for cost in costs)


def _sharded(folder: Folder, run: list[object]) -> Made:
    shards = [folder.store(), folder.store()]
    parts = [
        [*MANETLAB, *run, shard, "--shard", f"{number}/2"] for number, shard in enumerate(shards, start=1)
    ]
    return _made(*parts, [*MANETLAB, "campaign", "merge", *shards, "--output", folder.store()])


def _over_dask(workers: int, folder: Folder, run: list[object]) -> Made:
    with _cluster(workers) as address:
        return _made([*MANETLAB, *run, folder.store(), "--scheduler", address])


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """A cluster whose workers have a process and a thread each, and have imported what they need."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, protocol="tcp", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers, timeout=120)
        assert len(client.run(_import_all)) == workers
        yield cluster.scheduler_address


def _import_all() -> None:
    """What a worker would otherwise do with its first runs."""
    import_module("manetlab.campaign.worker")
