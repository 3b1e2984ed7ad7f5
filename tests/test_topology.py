"""The scenario report against networks known by heart and a plain search of every pair."""

import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from manetlab import InputError, Scenario, run, topology
from manetlab.topology import path_hops, report, shortest_hops_over_time
from tests.conftest import Cli
from tests.examples import CBR_FLOW, chain, mobile


def hops_of_all(positions: list[tuple[float, float]], range_m: float) -> list[list[float]]:
    """The hops between all nodes, by Floyd and Warshall's algorithm."""
    nodes = range(len(positions))
    hops = [[1.0 if math.dist(a, b) <= range_m else math.inf for b in positions] for a in positions]
    for via in nodes:
        for a in nodes:
            for b in nodes:
                hops[a][b] = min(hops[a][b], hops[a][via] + hops[via][b])
    for node in nodes:
        hops[node][node] = 0.0
    return hops


def test_a_chain_has_the_mean_hops_of_its_distances() -> None:
    found = report(chain(movement={"chain": {"nodes": 20}}))
    # (n + 1) / 3 for n nodes in a line.
    assert found.hops_mean == pytest.approx(7.0)
    assert (found.partitioned_pairs, found.partitioned_time, found.flow_hops_mean) == (0.0, 0.0, 2.0)
    assert found.degree_mean == pytest.approx(38 / 20)
    assert (found.link_changes_per_s, found.link_lifetime_s, found.path_lifetime_s) == (0.0, None, None)
    assert (found.width_m, found.height_m, found.area_in_discs) == (3800.0, 0.0, 0.0)
    assert found.diagonal_in_ranges == pytest.approx(3800 / found.range_m)
    assert found.warnings == []


def test_a_grid_has_the_hops_of_its_streets() -> None:
    # The diagonal of 283 m is out of range, so hops are those of a walk along the streets.
    found = report(chain(movement={"grid": {"columns": 4, "rows": 3}}))
    places = [(x, y) for x in range(4) for y in range(3)]
    walks = [abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in combinations(places, 2)]
    assert found.hops_mean == pytest.approx(sum(walks) / len(walks))
    assert found.degree_mean == pytest.approx(2 * (3 * 3 + 4 * 2) / 12)


def test_two_islands_are_partitioned() -> None:
    places = [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [9000.0, 0.0], [9200.0, 0.0]]
    flows = [{**CBR_FLOW, "src": 0, "dst": 2}, {**CBR_FLOW, "src": 0, "dst": 4}]
    found = report(chain(movement={"positions": places}, traffic={"flows": flows}))
    assert found.partitioned_pairs == pytest.approx(6 / 10)
    assert found.partitioned_time == 1.0
    assert found.hops_mean == pytest.approx((1 + 1 + 2 + 1) / 4)
    assert (found.flow_hops_mean, found.flow_partitioned) == (2.0, 0.5)
    # Only the flows' pairs count; placed nodes have the hops that somebody meant.
    assert [text for text in found.warnings if "50.0 % of the flows' node pairs" in text]
    assert not [text for text in found.warnings if "hops" in text]
    idle = report(chain(movement={"positions": places}, traffic={"flows": []}))
    assert [text for text in idle.warnings if "60.0 % of the node pairs" in text]


@pytest.mark.parametrize(("seed", "boundary"), [(1, "classic"), (2, "wrap"), (3, "bounce")])
def test_hops_and_partitions_are_those_of_a_plain_search(seed: int, boundary: str) -> None:
    waypoint = {"nodes": 15, "width_m": 900.0, "height_m": 900.0, "speed_max": 40.0, "boundary": boundary}
    resolved = mobile(movement={"waypoint": waypoint}, seed=seed, warmup_s=4.0).resolve()
    found = report(resolved, step_s=0.5)
    over_time = shortest_hops_over_time(resolved, step_s=0.5)
    hops, apart, links, times = [], 0, 0, [4.0 + 0.5 * step for step in range(32)]
    whole = {
        time: hops_of_all(resolved.movement.positions(time), found.range_m) for time in over_time.times_s
    }
    for time in times:
        distances = [whole[time][a][b] for a, b in combinations(range(15), 2)]
        hops += [distance for distance in distances if distance < math.inf]
        apart += distances.count(math.inf)
        links += distances.count(1.0)
    assert found.instants == len(times)
    assert found.hops_mean == pytest.approx(sum(hops) / len(hops))
    assert found.partitioned_pairs == pytest.approx(apart / (len(hops) + apart))
    assert found.degree_mean == pytest.approx(2 * links / 15 / len(times))
    partitioned = sum(max(map(max, whole[time])) == math.inf for time in times)
    assert found.partitioned_time == pytest.approx(partitioned / len(times))
    for (src, dst), series in zip(over_time.pairs, over_time.hops, strict=True):
        expected = [whole[time][src][dst] for time in over_time.times_s]
        assert [math.inf if each is None else each for each in series] == expected


def test_the_lifetime_of_a_link_follows_from_littles_law() -> None:
    scenario = mobile(duration_s=400.0, movement={"waypoint": {"nodes": 20, "speed_min": 5.0}})
    found = report(scenario)
    assert found.link_lifetime_s is not None
    # Links up in the mean = how often one comes up × how long it lasts; half of the changes are ups.
    links_up = 20 * found.degree_mean / 2
    assert links_up == pytest.approx(found.link_changes_per_s / 2 * found.link_lifetime_s, rel=0.05)
    faster = report(
        scenario.changed(movement={"waypoint": {"nodes": 20, "speed_min": 20.0, "speed_max": 40.0}})
    )
    assert faster.link_lifetime_s is not None
    assert faster.link_lifetime_s < found.link_lifetime_s
    assert found.path_lifetime_s is not None
    assert found.path_lifetime_s < found.link_lifetime_s


def test_a_larger_range_makes_a_better_network() -> None:
    short, long = (report(mobile(radio={"transmit_power_w": power})) for power in (0.1, 1.0))
    assert short.range_m < 250.0 < long.range_m
    assert short.degree_mean < long.degree_mean
    assert short.hops_mean is not None
    assert long.hops_mean is not None
    assert long.hops_mean < short.hops_mean


def test_a_movement_without_a_stationary_start_is_warned_of() -> None:
    def texts(**waypoint: Any) -> str:
        return " ".join(report(mobile(movement={"waypoint": {"nodes": 10, **waypoint}})).warnings)

    assert "uniformly" not in texts()
    assert "uniformly" in texts(start="uniform")
    assert "minimum speed is 0" not in texts(start="uniform")
    assert "minimum speed is 0" in texts(start="uniform", speed_min=0.0)


def test_a_single_pair_and_pairs_of_ones_own_choice() -> None:
    found = shortest_hops_over_time(chain(duration_s=2.0), [(0, 2), (2, 1), (1, 1)], step_s=0.5)
    assert found.times_s == [0.0, 0.5, 1.0, 1.5]
    assert found.hops == [[2] * 4, [1] * 4, [0] * 4]
    assert shortest_hops_over_time(chain(), []).hops == []


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: report(chain(), step_s=0.0), "step is not allowed"),
        (lambda: report(chain(), step_s=math.nan), "step is not allowed"),
        (lambda: report(chain(duration_s=1e5), step_s=0.001), "1000000 instants"),
        (lambda: report({"nodes": 3}), "not a scenario"),  # type: ignore[arg-type]
        (lambda: report("missing.toml"), "does not exist"),
        (lambda: shortest_hops_over_time(chain(), [(0, 3)]), "nodes from 0 to 2"),
        (lambda: shortest_hops_over_time(chain(), [(0, -1)]), "no such pair"),
        (lambda: shortest_hops_over_time(chain(), [7]), "no such pair"),  # type: ignore[list-item]
        (lambda: shortest_hops_over_time(chain(), step_s=-1.0), "step is not allowed"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(call: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        call()


def test_the_command_line_says_the_same(cli: Cli, tmp_path: Path) -> None:
    waypoint = '[movement.waypoint]\nnodes = 12\nstart = "uniform"\n'
    (tmp_path / "scenario.toml").write_text(f"duration_s = 30.0\ntraffic.random.cbr = 3\n{waypoint}")
    done = cli("scenario", "report", "scenario.toml", "--seed", 4, "--warmup", 5, "--step", 0.5, "--json")
    assert done.returncode == 0, done.stderr
    scenario = Scenario.load(tmp_path / "scenario.toml", {"seed": 4, "warmup_s": 5.0})
    assert json.loads(done.stdout) == topology.report(scenario, 0.5).to_dict()
    shown = cli("scenario", "report", "scenario.toml")
    assert "node pairs without a path" in shown.stdout
    assert "warning: random waypoint starts uniformly" in shown.stdout


def test_the_command_line_reads_files_of_ns2(cli: Cli, ns2: Path) -> None:
    files = ("--movement", ns2 / "p01.mov", "--traffic", ns2 / "p01-1tcp.traffic.tcl")
    done = cli("scenario", "report", *files, "--duration", 100)
    assert done.returncode == 0, done.stderr
    assert "mean shortest path" in done.stdout


def test_path_hops_are_the_shares_of_a_fine_search() -> None:
    waypoint = {"nodes": 20, "width_m": 1000.0, "height_m": 1000.0, "speed_max": 30.0}
    scenario = mobile(movement={"waypoint": waypoint}, duration_s=60.0, warmup_s=20.0, seed=5)
    pairs = [(0, 1), (2, 3), (4, 5)]
    found = path_hops(scenario, pairs)
    fine = shortest_hops_over_time(scenario, pairs, step_s=0.01)
    first = fine.times_s.index(20.0)
    for pair, each, hops in zip(pairs, found, fine.hops, strict=True):
        window = hops[first:]
        assert (each.src, each.dst) == pair
        shares = {hops: window.count(hops) / len(window) for hops in {*window} - {None}}
        assert each.shares == pytest.approx(shares, abs=3e-3)
        assert each.partitioned == pytest.approx(window.count(None) / len(window), abs=3e-3)
        assert (each.hops_min, each.hops_max) == (min(shares), max(shares))
        assert each.mode_share == max(each.shares.values()) == each.shares[each.hops_mode or 0]
        assert each.hops_mean is not None
        with_path = sum(each.shares.values())
        mean = sum(hops * share for hops, share in each.shares.items()) / with_path
        assert each.hops_mean == pytest.approx(mean)


def test_a_pair_holds_its_hops_or_does_not() -> None:
    still = chain(movement={"positions": [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [9000.0, 0.0]]})
    near, apart = path_hops(still, [(2, 0), (0, 3)])
    assert near.holds(2)
    assert not near.holds(1, share=0.01)
    assert (apart.shares, apart.hops_mode, apart.partitioned) == ({}, None, 1.0)
    with pytest.raises(InputError, match="path_hops: pair 0"):
        path_hops(still, [(0, 4)])


def test_runs_measure_the_hops_of_paths_if_they_are_asked_to() -> None:
    scenario = mobile(movement={"waypoint": {"nodes": 12, "speed_max": 30.0}}, warmup_s=4.0)
    plain, measured = run(scenario), run(scenario, network={"measure_path_hops": True})
    for before, flow, found in zip(plain.flows, measured.flows, path_hops(scenario), strict=True):
        added = {name: flow[name] for name in flow.keys() - before.keys()}
        assert before == {name: flow[name] for name in before}
        assert added == {
            "path_hops_min": found.hops_min,
            "path_hops_max": found.hops_max,
            "path_hops_mean": found.hops_mean,
            "path_hops_mode": found.hops_mode,
            "path_hops_mode_share": found.mode_share,
            "path_partitioned": found.partitioned,
        }
    assert measured.totals == plain.totals
