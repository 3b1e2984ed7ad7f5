"""A campaign on a Dask cluster: the same results, whatever happens to the workers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pytest
from dask import config

from manetlab import Campaign, InputError, provenance
from manetlab.campaign.dask_cluster import Cluster, _Batch
from manetlab.campaign.execution import Report
from manetlab.campaign.store import TaskResult
from manetlab.campaign.worker import Work, work_of
from tests.campaigns import BASE, exported, small
from tests.conftest import NS2, ROOT


def dask(*arguments: str, config: Mapping[str, str] = MappingProxyType({})) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", *arguments]
    environment = os.environ | config
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


class DaskCluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, protocol: str = "tcp", config: Mapping[str, str] = MappingProxyType({})) -> None:
        self.config = config
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"{protocol}://127.0.0.1:{port}"
        options = ("--protocol", protocol, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.processes = [dask("scheduler", *options, config=config)]

    def add_worker(self) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        self.processes.append(dask("worker", self.address, *options, config=self.config))
        return self.processes[-1]

    def wait(self) -> None:
        port = int(self.address.rpartition(":")[2])
        for _ in range(300):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)
        raise TimeoutError

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster() -> Iterator[DaskCluster]:
    made = DaskCluster()
    made.wait()
    yield made
    made.close()


def campaign() -> Campaign:
    """Runs of some ten milliseconds, with files that the workers are not given by the file system."""
    movement = {"label": "files", "fields": {"movement": "chain2.tcl", "traffic": "chain2.traffic.tcl"}}
    chain = {"label": "chain", "fields": {"movement.chain.nodes": 4}}
    return small(
        base={"duration_s": 20.0, "traffic": BASE["traffic"], "profile": "ns-2.35"},
        factors={"tcp": ["reno", "reno-f"], "where": [movement, chain]},
        replications=15,
        folder=NS2,
    )


def certificate(folder: Path) -> dict[str, str]:
    """Dask's settings for TLS with a certificate that signs itself and is everybody's."""
    pair, key = folder / "certificate.pem", folder / "key.pem"
    name = ["-subj", "/CN=127.0.0.1", "-days", "1", "-nodes"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-keyout", key, "-out", pair, *name],
        check=True,
        capture_output=True,
    )
    settings = {"require-encryption": "true", "tls.ca-file": str(pair)}
    for role in ("scheduler", "worker", "client"):
        settings |= {f"tls.{role}.cert": str(pair), f"tls.{role}.key": str(key)}
    return {f"distributed.comm.{name}": value for name, value in settings.items()}


def in_environment(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"DASK_{name.replace('.', '__').replace('-', '_').upper()}": v for name, v in settings.items()}


def test_a_campaign_runs_over_tls_and_strangers_are_refused(tmp_path: Path) -> None:
    settings = certificate(tmp_path)
    made = DaskCluster("tls", in_environment(settings))
    try:
        made.wait()
        made.add_worker()
        few = small(base={**BASE, "duration_s": 3.0}, replications=2)
        # Imported before the settings change, or its defaults would go with them.
        import_module("distributed")
        with config.set(settings):
            results = few.run(tmp_path / "s.db", scheduler=made.address)
        assert (len(results.failed), results.missing) == (0, 0)
        assert exported(results, tmp_path / "a") == exported(few.run(), tmp_path / "b")
        with pytest.raises(InputError, match="TLS is not configured"):
            few.run(tmp_path / "stranger.db", scheduler=made.address)
    finally:
        made.close()


def test_with_a_worker_killed_the_results_are_the_same(cluster: DaskCluster, tmp_path: Path) -> None:
    workers = [cluster.add_worker(), cluster.add_worker()]
    killed_at: list[int] = []

    def watch(report: Report) -> None:
        if not killed_at and report.ran >= 10:
            killed_at.append(report.ran)
            workers[0].kill()

    results = campaign().run(tmp_path / "s.db", scheduler=cluster.address, progress=watch)
    assert 10 <= killed_at[0] < 60
    assert (len(results.runs), len(results.failed), results.missing) == (60, 0, 0)
    assert results.provenance["sessions"][0]["workers"] == f"Dask scheduler {cluster.address}"
    assert exported(results, tmp_path / "a") == exported(campaign().run(), tmp_path / "b")


def test_all_workers_of_a_cluster_are_used_and_short_runs_travel_together() -> None:
    distributed = import_module("distributed")
    size = {"n_workers": 6, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(**size, protocol="tcp://", dashboard_address=None) as six:
        backend = Cluster(six.scheduler_address)
        try:
            # Nothing is known of the runs yet: one at a time, and one waiting.
            assert backend.capacity() == 12
            works = [work_of(small(), task, provenance.code_identity()) for task in small().tasks(3)]
            for _ in range(10):
                backend.submit(works)
                done: list[TaskResult] = []
                while len(done) < len(works):
                    done += backend.finished(60.0)
                assert not any(each.error for each in done)
                assert {each.task for each in done} == {work.task for work in works}
            assert backend.capacity() > 12
            # No batch is so large that a worker has none.
            backend.submit(works)
            assert len(backend._sent) == 6
        finally:
            backend.close(stop=True)


def test_of_a_batch_that_kills_its_workers_only_the_run_that_does_it_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    works = [work_of(small(), task, provenance.code_identity()) for task in small().tasks(1)]
    deadly = works[2].task
    backend, sent = Cluster.__new__(Cluster), []
    backend._begin()

    class Killed:
        """A future of a batch; a worker that meets the deadly run dies of it."""

        def __init__(self, batch: Sequence[Work]) -> None:
            self.key, self.batch = str(len(sent)), batch
            sent.append(len(batch))

        def result(self, **_: object) -> list[TaskResult]:
            if any(work.task == deadly for work in self.batch):
                last = SimpleNamespace(address="tcp://127.0.0.1:1")
                raise import_module("distributed").KilledWorker(self.key, last, 4)
            return [TaskResult(work.task, "key") for work in self.batch]

        def add_done_callback(self, call: Callable[[Killed], None]) -> None:
            call(self)

    class Client:
        """Dask's client, which answers at once."""

        status = "running"

        def submit(self, _: object, batch: Sequence[Work], *__: object, **___: object) -> Killed:
            return Killed(batch)

    monkeypatch.setattr(backend, "_client", Client(), raising=False)
    backend._send(_Batch(works, 1))
    done: list[TaskResult] = []
    while len(done) < len(works):
        done += backend.finished(1.0)
    assert sent == [4, 1, 1, 1, 1]
    assert {each.task for each in done if each.error} == {deadly}
    assert {each.task for each in done} == {work.task for work in works}


def test_a_scheduler_that_goes_away_is_told_and_nothing_is_lost(cluster: DaskCluster, tmp_path: Path) -> None:
    cluster.add_worker()

    def watch(report: Report) -> None:
        if report.ran >= 10:
            cluster.processes[0].kill()

    with pytest.raises(InputError, match="scheduler"):
        campaign().run(tmp_path / "s.db", scheduler=cluster.address, progress=watch)
    ran: list[Report] = []
    assert len(campaign().run(tmp_path / "s.db", progress=ran.append).runs) == 60
    assert ran[0].done >= 10


def test_a_scheduler_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        # A port that nobody listens at.
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        for wrong in (address, "nonsense", "tcp://no-such-host.invalid:1"):
            with pytest.raises(InputError, match="scheduler cannot be reached"):
                small().run(tmp_path / "s.db", scheduler=wrong)


def test_a_scheduler_without_workers_is_told_after_a_while(
    cluster: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manetlab.campaign.dask_cluster.WORKERS_S", 0.5)
    with pytest.raises(InputError, match="no workers") as refused:
        small().run(tmp_path / "s.db", scheduler=cluster.address)
    assert refused.value.hint == f"start some: dask worker {cluster.address}"


def test_workers_with_other_code_are_refused(
    cluster: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.add_worker()
    monkeypatch.setattr("manetlab.provenance.code_identity", lambda: "9.9.9 otherwise")
    with pytest.raises(Exception, match="a worker has another version of the code") as refused:
        small().run(tmp_path / "s.db", scheduler=cluster.address)
    assert "9.9.9 otherwise" in str(refused.value)


def test_what_does_not_go_together_is_refused() -> None:
    for options in ({"jobs": 2}, {"slurm": {}}):
        with pytest.raises(InputError, match="exclude each other"):
            small().run(scheduler="tcp://127.0.0.1:1", **options)
    with pytest.raises(InputError, match="number of jobs"):
        small().run(jobs=0)
