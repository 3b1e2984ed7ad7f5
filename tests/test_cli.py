"""The command line: what goes where, and that it is the Python interface."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import manetlab
from manetlab import demo
from manetlab.cli import COMMANDS
from manetlab.demo import in_words
from manetlab.running import run
from manetlab.stats import adjusted_pair
from tests.conftest import Cli
from tests.examples import chain

CHAIN = ("--profile", "ns-2.35", "--duration", "20", "--warmup", "10")


def files(ns2: Path, name: str = "chain2") -> tuple[str, ...]:
    return ("--movement", str(ns2 / f"{name}.tcl"), "--traffic", str(ns2 / f"{name}.traffic.tcl"))


def test_run_prints_one_json_object_with_all_that_is_promised(cli: Cli, ns2: Path) -> None:
    done = cli("run", *files(ns2), *CHAIN, "--routing", "aodv", "--tcp", "reno", "--seed", "7", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result) == {"flows", "totals", "drops", "losses", "audit", "provenance"}
    assert [(flow["id"], flow["kind"], flow["src"], flow["dst"]) for flow in result["flows"]] == [
        (0, "tcp", 0, 2)
    ]
    assert {
        "tcp_throughput_bps",
        "cbr_sent",
        "cbr_received",
        "cbr_delivery_fraction",
        "cbr_latency_mean_s",
        "routing_packets_per_s",
        "routing_bytes_per_s",
    } <= set(result["totals"])
    origin = result["provenance"]
    assert origin["version"] == manetlab.__version__
    assert (origin["seed"], origin["profile"]) == (7, "ns-2.35")
    assert origin["scenario"]["params"]["tcp"]["window"] == 20
    assert origin["scenario"]["flows"][0]["window"] == 8
    assert len(origin["scenario_hash"]) == 64
    assert origin["events"] > 0
    assert result["audit"]["balanced"] is True


def test_the_command_line_and_python_run_the_same(cli: Cli, ns2: Path) -> None:
    shown = json.loads(cli("run", *files(ns2), *CHAIN, "--set", "mac.slot_us=9", "--json").stdout)
    result = manetlab.run(
        movement=str(ns2 / "chain2.tcl"),
        traffic=str(ns2 / "chain2.traffic.tcl"),
        profile="ns-2.35",
        duration_s=20,
        warmup_s=10,
        mac={"slot_us": 9},
    )
    assert shown["provenance"]["scenario_hash"] == result.provenance["scenario_hash"]
    assert shown["provenance"]["result_hash"] == result.hash


def test_tables_show_flows_totals_audit_and_provenance(cli: Cli, ns2: Path) -> None:
    done = cli("run", *files(ns2), *CHAIN)
    assert done.returncode == 0
    for told in ("TCP flows", "TCP throughput (kb/s)", "Totals", "audit balances", "profile ns-2.35, seed 1"):
        assert told in done.stdout
    assert "CBR" not in done.stdout


def test_movement_after_the_end_is_noted(cli: Cli, ns2: Path) -> None:
    options = ("--movement", ns2 / "p01.mov", "--traffic", ns2 / "p01-1tcp.traffic.tcl")
    done = cli("run", *options, "--duration", "60", "--json")
    assert done.returncode == 0
    assert "note: the movement goes on" in done.stderr
    json.loads(done.stdout)


def test_replications_give_means_with_intervals(cli: Cli, ns2: Path) -> None:
    done = cli("run", *files(ns2), *CHAIN, "--seeds", "3", "--json")
    many = json.loads(done.stdout)
    assert [result["provenance"]["replication"] for result in many["replications"]] == [0, 1, 2]
    throughput = many["summary"]["tcp_throughput_bps"]
    assert throughput["n"] == 3
    assert 0 < throughput["low"] < throughput["mean"] < throughput["high"]


def test_a_recording_is_written_as_json_lines(cli: Cli, ns2: Path, tmp_path: Path) -> None:
    done = cli("run", *files(ns2), *CHAIN, "--record", "recording.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "recording.jsonl").read_text().splitlines()
    assert len(lines) > 1000
    json.loads(lines[0])
    json.loads(lines[-1])


def test_toml_holds_what_options_say(cli: Cli, ns2: Path) -> None:
    done = cli("scenario", "import", *files(ns2), *CHAIN, "--tcp", "reno-f", "-o", "scenario.toml")
    assert done.returncode == 0, done.stderr
    of_files = json.loads(cli("run", *files(ns2), *CHAIN, "--tcp", "reno-f", "--json").stdout)
    of_toml = json.loads(cli("run", "scenario.toml", "--json").stdout)
    assert of_toml["provenance"]["scenario_hash"] == of_files["provenance"]["scenario_hash"]
    assert of_toml["provenance"]["result_hash"] == of_files["provenance"]["result_hash"]


def test_options_replace_what_toml_says(cli: Cli, ns2: Path) -> None:
    cli("scenario", "import", *files(ns2), *CHAIN, "-o", "scenario.toml")
    shown = json.loads(
        cli("scenario", "show", "scenario.toml", "--seed", "9", "--set", "mac.slot_us=9", "--json").stdout
    )
    assert shown["seed"] == 9
    assert shown["params"]["mac"]["slot_us"] == 9


def test_a_generated_scenario_runs_the_same_from_ns2_files(cli: Cli) -> None:
    recipe = (
        "--nodes",
        "10",
        "--width",
        "400",
        "--height",
        "400",
        "--duration",
        "20",
        "--cbr-flows",
        "2",
        "--seed",
        "3",
    )
    for boundary in ("classic", "wrap", "bounce"):
        shape = (*recipe, "--boundary", boundary, "--pause", "1", "--tcp-start", "1")
        assert cli("scenario", "generate", *shape, "-o", "scenario.toml").returncode == 0
        assert (
            cli("scenario", "generate", *shape, "--movement", "m.tcl", "--traffic", "t.tcl").returncode == 0
        )
        made = json.loads(cli("run", "scenario.toml", "--json").stdout)["provenance"]
        read = ("--movement", "m.tcl", "--traffic", "t.tcl", "--duration", "20", "--seed", "3")
        again = json.loads(cli("run", *read, "--json").stdout)["provenance"]
        assert (made["scenario_hash"], made["result_hash"]) == (again["scenario_hash"], again["result_hash"])


def test_show_names_what_sets_each_parameter(cli: Cli, ns2: Path) -> None:
    options = ("--routing", "aodv:dyer-2002", "--tcp", "reno-f", "--set", "mac.slot_us=9")
    lines = cli("scenario", "show", *files(ns2), *CHAIN, *options).stdout.splitlines()
    shown = {line.split()[0]: line for line in lines if line.strip() and "." in line.split()[0]}
    assert "scenario" in shown["mac.slot_us"]
    assert "profile ns-2.35" in shown["mac.cw_min"]
    assert "sender reno-f" in shown["tcp.sack"]
    assert "aodv:dyer-2002" in shown["aodv.active_route_timeout_s"]


def test_profiles_are_listed_shown_and_compared(cli: Cli) -> None:
    names = cli("profile", "list").stdout.split()
    assert {"rfc", "ns-2.35", "ns-2.1b9", "cmu-1998"} <= set(names)
    differences = json.loads(cli("profile", "diff", "ns-2.35", "rfc", "--json").stdout)
    assert differences["mac.data_header_bytes"] == {"ns-2.35": 34, "rfc": 28}
    assert "mac.slot_us" not in differences
    assert "0 parameters differ" in cli("profile", "diff", "rfc", "rfc").stdout
    assert "mac.slot_us" in cli("profile", "show", "rfc").stdout


@pytest.mark.parametrize("arguments", [("--nonsense",), ("run", "--duration", "soon"), ("dance",)])
def test_usage_errors_have_status_2(arguments: tuple[str, ...], cli: Cli) -> None:
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")


def test_help_and_version_go_to_stdout(cli: Cli) -> None:
    assert cli("--version").stdout.strip() == f"manetlab {manetlab.__version__}"
    for command in ((), ("run",), ("scenario",), ("scenario", "generate"), ("profile",)):
        done = cli(*command, "--help")
        assert (done.returncode, done.stderr) == (0, "")


def test_a_fault_of_the_simulator_says_how_to_repeat_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from manetlab import _core

    def broken(*_: object) -> None:
        raise manetlab.RunFailed("the simulator failed", "seed 1, replication 0", "a broken invariant")

    monkeypatch.setattr(_core, "run", broken)
    with pytest.raises(manetlab.RunFailed) as caught:
        run(chain())
    assert caught.value.exit_status == 1
    assert "seed 1, replication 0" in str(caught.value)


@pytest.mark.parametrize("seeds", [(), ("--seeds", "4")])
def test_ctrl_c_stops_a_long_run(tmp_path: Path, seeds: tuple[str, ...]) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(
        "duration_s = 500000.0\nmovement.chain = { nodes = 2, spacing_m = 100.0 }\n"
        '[[traffic.flows]]\nkind = "tcp"\nsrc = 0\ndst = 1\nstart_s = 0.0\n'
    )
    command = [sys.executable, "-m", "manetlab", "run", str(scenario), *seeds]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        time.sleep(3)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_help_shows_all_commands_in_their_order_and_a_misspelt_one_is_told(cli: Cli) -> None:
    shown = cli("--help").stdout.partition(f"{next(iter(COMMANDS.headings()))}:\n")[2].splitlines()
    assert [line.split()[0] for line in shown if line[:2] == "  " and line[2:3].strip()] == list(COMMANDS)
    for name in COMMANDS:
        assert f"manetlab {name} [OPTIONS]" in cli(name, "--help").stdout
    refused = cli("runn")
    assert refused.returncode == 2
    assert "Did you mean 'run'?" in refused.stderr


def test_plain_words_on_a_difference() -> None:
    base = [100e3, 120e3, 110e3, 90e3]
    higher, mixed = [value + 40e3 for value in base[:3]] + [135e3], [101e3, 118e3, 113e3, 89e3]
    assert "+37.5%; significant" in in_words("Fixed", adjusted_pair(higher, base, 2), 110e3)
    told = in_words("Fixed", adjusted_pair(mixed, base, 2), 110e3)
    assert told.startswith("Fixed − Reno: 0.2 ± ") and "not significant (p = 1)" in told


def test_the_demo_changes_nothing_but_the_timeout() -> None:
    reno, fixed, _ = (each.resolve() for each in demo.scenarios()[:3])
    assert {name for name in reno.params["tcp"] if reno.params["tcp"][name] != fixed.params["tcp"][name]} == {
        "rto_policy"
    }
    assert reno.flows == fixed.flows and reno.movement.digest == fixed.movement.digest


def test_a_check_counts_flows_and_says_if_nobody_moves(cli: Cli, tmp_path: Path) -> None:
    flow = '{ kind = "cbr", src = 0, dst = 2, start_s = 1.0, bytes = 100, interval_s = 0.5 }'
    failure = "failures = [{ node = 1, at_s = 10.0, for_s = 5.0 }]"
    for flows, counted in (([flow], "3 nodes, 1 flow, "), ([flow, flow], "3 nodes, 2 flows, ")):
        chain = f"movement.chain = {{ nodes = 3 }}\ntraffic.flows = [{', '.join(flows)}]\n"
        (tmp_path / "chain.toml").write_text(f"duration_s = 30.0\n{chain}{failure}\n")
        said = cli("scenario", "check", "chain.toml").stdout
        assert counted in said
        # What ends at 15 s is the failure.
        assert "movement: nobody moves\n" in said


def test_run_and_check_warn_of_a_network_without_paths(cli: Cli, tmp_path: Path) -> None:
    # Three nodes a kilometre apart: nothing arrives, and that is no fault of the protocol.
    apart = (
        "duration_s = 5.0\nmovement.chain = { nodes = 3, spacing_m = 1000.0 }\ntraffic.random = { cbr = 1 }\n"
    )
    (tmp_path / "apart.toml").write_text(apart)
    checked, ran = cli("scenario", "check", "apart.toml"), cli("run", "apart.toml", "--json")
    assert "usable" in checked.stdout
    assert "warning: 100.0 % of the flows' node pairs have no path" in checked.stderr
    assert ran.stderr == checked.stderr
    assert json.loads(ran.stdout)["totals"]["cbr_received"] == 0


def test_run_warns_of_a_saturated_network(cli: Cli, tmp_path: Path) -> None:
    flood = (
        "duration_s = 3.0\nmovement.chain.nodes = 6\ntraffic.random = { cbr = 8, cbr_interval_s = 0.002 }\n"
    )
    (tmp_path / "flood.toml").write_text(flood)
    for seeds in ("1", "2"):
        assert "the network is saturated" in cli("run", "flood.toml", "--seeds", seeds).stderr
    assert "saturated" not in cli("scenario", "check", "flood.toml").stderr


def test_a_command_that_is_stopped_says_what_was_kept(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(
        "duration_s = 100000.0\nmovement.waypoint = { nodes = 30, width_m = 500.0, height_m = 500.0 }\n"
        "traffic.random = { tcp = 3 }\n"
    )
    command = [sys.executable, "-m", "manetlab", "run", "long.toml", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(3)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=30)
    assert running.returncode == 130
    assert told.splitlines()[-1] == "stopped; nothing was written"


def test_a_run_shows_the_totals_that_apply_and_says_how_many_do_not(cli: Cli, ns2: Path) -> None:
    from manetlab.metrics import TOTALS

    told = cli("run", *files(ns2), *CHAIN, "--routing", "static").stdout
    totals = told[told.index("Totals") :]
    shown = [metric.heading for metric in TOTALS if f"\n {metric.heading} " in totals]
    assert {"TCP throughput (kb/s)", "frames of all kinds per delivered packet"} <= set(shown)
    assert not {"holds", "probes sent", "PDR (%)", "Web sessions", "messages made"} & set(shown)
    hidden = f"{len(TOTALS) - len(shown)} measures of other protocols, flows and options do not apply"
    assert hidden in " ".join(totals.split())
