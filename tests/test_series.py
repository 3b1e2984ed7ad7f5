"""Time series: they sum to what the run measured, and change nothing of it."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from manetlab import InputError, Result, Scenario, run, run_many
from manetlab.stats import warmup_check
from tests.conftest import Cli
from tests.examples import chain, mobile


@pytest.mark.parametrize("scenario", [chain(), mobile(), mobile(seed=5, warmup_s=5.0, routing="static")])
@pytest.mark.parametrize("step_s", [0.001, 0.7, 1.0])
def test_series_change_nothing(scenario: Scenario, step_s: float) -> None:
    without, with_series = run(scenario), run(scenario, series_s=step_s)
    assert without.series is None
    assert with_series.hash == without.hash
    assert with_series.provenance["events"] == without.provenance["events"]
    assert with_series.provenance["scenario_hash"] == without.provenance["scenario_hash"]


def totals_of(result: Result) -> dict[str, list[Any]]:
    assert result.series is not None
    return result.series["totals"]


def test_without_a_warm_up_steps_sum_to_the_totals() -> None:
    result = run(mobile(), series_s=0.5)
    totals, summed = result.totals, {key: sum(values) for key, values in totals_of(result).items()}
    duration_s = 20.0
    assert summed["tcp_delivered_bytes"] * 8 / duration_s == pytest.approx(totals["tcp_throughput_bps"])
    assert summed["cbr_delivered_bytes"] * 8 / duration_s == pytest.approx(totals["cbr_throughput_bps"])
    for column in ("tcp_retransmissions", "tcp_timeouts", "cbr_sent", "cbr_received"):
        assert summed[column] == totals[column], column
    for column in ("routing_packets", "routing_bytes", "routing_mac_frames", "mac_frames", "mac_bytes"):
        assert summed[column] / duration_s == pytest.approx(totals[f"{column}_per_s"]), column
    assert summed["drops"] == sum(drop["count"] for drop in result.drops)


CYCLE = {"think_s": 0.5, "request_bytes": 300, "replies_bytes": [4000, 3000]}
WEB = {"kind": "web", "src": 0, "dst": 2, "start_s": 1.0, "cycles": [CYCLE] * 3}


def test_whatever_tcp_carries_counts_in_the_totals() -> None:
    video = {**VIDEO, "transport": "tcp"}
    result = run(chain(traffic={"flows": [video, WEB]}), series_s=0.5)
    summed = {key: sum(values) for key, values in totals_of(result).items()}
    of_video, of_web = result.flows
    assert of_web["delivered_bytes"] == 3 * 7300
    assert summed["tcp_delivered_bytes"] * 8 / 10.0 == pytest.approx(
        of_video["throughput_bps"] + of_web["delivered_bytes"] * 8 / 10.0
    )
    assert summed["tcp_retransmissions"] >= of_web["retransmissions"]
    assert summed["tcp_timeouts"] == of_video["timeouts"] + of_web["timeouts"]


def test_the_warm_up_of_a_web_scenario_is_looked_at() -> None:
    results = run_many([chain(traffic={"flows": [WEB]}, duration_s=20.0)], series_s=0.2)
    assert sum(totals_of(results[0])["tcp_delivered_bytes"]) == 3 * 7300
    warmup_check(results)


def test_steps_cover_the_warm_up_too() -> None:
    whole, part = run(mobile(), series_s=1.0), run(mobile(warmup_s=5.0), series_s=1.0)
    # The TCP flow of this scenario starts at 2 s in both, so they are the same run.
    assert totals_of(whole) == totals_of(part)


def test_a_step_that_the_end_cuts_short_is_left_out() -> None:
    assert totals_of(run(chain(), series_s=3.0))["time_s"] == [3.0, 6.0, 9.0]
    assert totals_of(run(chain(duration_s=1.5), series_s=0.3))["time_s"] == [0.3, 0.6, 0.9, 1.2, 1.5]
    assert totals_of(run(chain(), series_s=11))["time_s"] == []


def test_a_flow_is_sampled_from_its_sender() -> None:
    result = run(chain(), series_s=0.25, record=True)
    assert result.series is not None
    assert result.recording is not None
    flows = result.series["tcp_flows"]
    assert set(flows["flow"]) == {0}
    changes = [json.loads(line) for line in result.recording.splitlines()[1:]]
    windows = [change for change in changes if change["event"] == "window"]
    # Each sample is what the recording's last change before it said.
    for time_s, cwnd, ssthresh, rto_s in zip(
        *(flows[key] for key in ("time_s", "cwnd_segments", "ssthresh_segments", "rto_s")), strict=True
    ):
        before = [change for change in windows if change["t"] < time_s]
        if before:
            last = before[-1]
            assert (last["cwnd"], last["ssthresh"], last["rto_s"]) == (cwnd, ssthresh, rto_s)
    assert sum(flows["delivered_bytes"]) == result.flows[0]["delivered_bytes"]


VIDEO = {"kind": "video", "src": 0, "dst": 2, "start_s": 1.0}


@pytest.mark.parametrize("transport", ["udp", "adp", "tcp"])
def test_a_flow_of_messages_is_sampled_too(transport: str) -> None:
    result = run(chain(traffic={"flows": [{**VIDEO, "transport": transport}]}), series_s=0.25)
    assert result.series is not None
    samples, [flow] = result.series["message_flows"], result.flows
    assert samples["time_s"] == totals_of(result)["time_s"]
    assert sum(samples["delivered_messages"]) == flow["messages_delivered"]
    window, tto_s = samples["adp_window_packets"], samples["adp_tto_s"]
    if transport == "adp":
        assert set(window) == {1.0}
        # Before the first sample the timeout is the initial one, afterwards never below the least.
        assert (tto_s[0], min(tto_s)) == (1.0, 0.2)
        assert samples["waiting_messages"][-1] == flow["messages_waiting"]
    else:
        assert set(window) == set(tto_s) == {None}
    # What TCP carries has a congestion window besides.
    assert bool(result.series["tcp_flows"]["time_s"]) == (transport == "tcp")


def test_repairs_of_a_route_are_those_that_the_flow_counts() -> None:
    result = run(mobile(duration_s=120.0, seed=3), series_s=1.0)
    assert result.series is not None
    repairs, [flow] = result.series["route_repairs"], [each for each in result.flows if each["kind"] == "tcp"]
    lasted_s = repairs["lasted_s"]
    assert len(lasted_s) == flow["route_repairs"] > 0
    assert sum(lasted_s) / len(lasted_s) == pytest.approx(flow["route_repair_mean_s"])
    assert max(lasted_s) == flow["route_repair_max_s"]
    assert repairs["time_s"] == sorted(repairs["time_s"])
    assert set(repairs["flow"]) == {flow["id"]}


def cbr(src: int, dst: int, start_s: float, interval_s: float = 1.0) -> dict[str, Any]:
    ends = {"kind": "cbr", "src": src, "dst": dst, "start_s": start_s}
    return {**ends, "bytes": 512, "interval_s": interval_s}


@pytest.mark.parametrize("routing", ["static", "aodv", "dsr", "tsr"])
def test_flows_share_the_nodes_where_their_paths_meet(routing: str) -> None:
    flows = [cbr(0, 2, 1.0), cbr(3, 1, 1.2), cbr(2, 3, 1.4)]
    scenario = chain(
        movement={"chain": {"nodes": 4, "spacing_m": 200}}, routing=routing, traffic={"flows": flows}
    )
    paths = run(scenario, series_s=1.0).series["paths"]
    # Flows 0-1-2 and 3-2-1 share nodes 1 and 2, and flow 2-3 is with both at node 2.
    last = {name: column[-1] for name, column in paths.items()}
    assert last == {"time_s": 10.0, "flows": 3, "hops_mean": 5 / 3, "shared_mean": 3.0}


def test_packets_find_others_waiting_where_more_come_than_go() -> None:
    calm, busy = (
        run(chain(routing="static", traffic={"flows": [cbr(0, 2, 1.0, interval_s)]}), series_s=1.0)
        for interval_s in (0.5, 0.002)
    )
    for result in (calm, busy):
        queues = result.series["queues"]
        assert queues["time_s"] == totals_of(result)["time_s"]
        assert queues["waiting_mean"][0] is None
    assert set(calm.series["queues"]["waiting_mean"][2:]) == {0.0}
    # At the source nearly all find a full queue, at the node on the way none does.
    assert busy.series["queues"]["waiting_mean"][-1] > 30
    assert busy.series["queues"]["relayed_waiting_mean"][-1] < 2
    # One packet a hop, and those of the neighbour's address.
    assert calm.series["queues"]["packets"][-1] == 4
    assert calm.series["queues"]["relayed_packets"][-1] == 2


def test_many_runs_keep_their_series_too() -> None:
    # Nothing moves, and TCP begins after 1 s.
    results = run_many([chain(replication=r, duration_s=20.0) for r in range(2)], series_s=0.2)
    assert [len(totals_of(result)["time_s"]) for result in results] == [100, 100]
    assert "too short" in warmup_check(results)["tcp_delivered_bytes"]
    later = run_many([chain(replication=r, duration_s=20.0, warmup_s=2.0) for r in range(2)], series_s=0.2)
    assert warmup_check(later, ["tcp_delivered_bytes"]) == {}


@pytest.mark.parametrize("step_s", [0.0, -1.0, math.nan, math.inf, True, "1"])
def test_steps_that_are_none_are_refused(step_s: Any) -> None:
    with pytest.raises(InputError, match="step of the series"):
        run(chain(), series_s=step_s)
    with pytest.raises(InputError, match="step of the series"):
        run_many([chain()], series_s=step_s)


def test_series_that_fill_the_memory_are_refused() -> None:
    with pytest.raises(InputError, match="longer"):
        run(chain(duration_s=1e5), series_s=0.001)


def scenario_file(folder: Path) -> Path:
    path = folder / "scenario.toml"
    path.write_text(
        "duration_s = 10.0\n[movement.chain]\nnodes = 3\n[traffic]\n"
        'flows = [{kind = "tcp", src = 0, dst = 2, start_s = 1.0}]\n'
    )
    return path


def test_the_command_line_writes_csv(cli: Cli, tmp_path: Path) -> None:
    path = scenario_file(tmp_path)
    done = cli("run", path, "--series", 1, "--series-output", "out.csv", "--json")
    assert done.returncode == 0, done.stderr
    series = json.loads(done.stdout)["series"]
    for name, file in (("totals", "out.csv"), ("tcp_flows", "out-tcp-flows.csv")):
        with (tmp_path / file).open() as text:
            rows = list(csv.DictReader(text))
        assert list(rows[0]) == list(series[name])
        for key, values in series[name].items():
            assert [float(row[key]) for row in rows] == values


def test_the_command_line_writes_parquet(cli: Cli, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = scenario_file(tmp_path)
    done = cli("run", path, "--series", 2, "--series-output", "out.parquet")
    assert done.returncode == 0, done.stderr
    series = run(path, series_s=2).series
    assert series is not None
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == series["totals"]
    assert pq.read_table(tmp_path / "out-tcp-flows.parquet").to_pydict() == series["tcp_flows"]


def test_series_overwrite_nothing_that_is_read_or_written(cli: Cli, tmp_path: Path) -> None:
    path = scenario_file(tmp_path)
    path.rename(tmp_path / "out-tcp-flows.csv")
    before = (tmp_path / "out-tcp-flows.csv").read_text()
    done = cli("run", "out-tcp-flows.csv", "--series", 1, "--series-output", "out.csv")
    assert (done.returncode, "overwrite" in done.stderr) == (2, True)
    assert (tmp_path / "out-tcp-flows.csv").read_text() == before
    both = cli("run", "out-tcp-flows.csv", "--series", 1, "--series-output", "o.csv", "--record", "o.csv")
    assert (both.returncode, "overwrite" in both.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--series", 1), "--series-output FILE.csv"),
        (("--series-output", "out.csv"), "no step"),
        (("--series", 1, "--series-output", "out.txt"), ".csv or .parquet"),
        (("--series", 0, "--series-output", "out.csv"), "--series"),
        (("--series", 1, "--series-output", "missing/out.csv"), "missing"),
        (("--series", 1, "--series-output", "out.csv", "--seeds", 2), "single run"),
    ],
)
def test_series_that_cannot_be_kept_are_refused(
    cli: Cli, tmp_path: Path, options: tuple[object, ...], what: str
) -> None:
    done = cli("run", scenario_file(tmp_path), *options)
    assert done.returncode == 2
    assert what in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]
