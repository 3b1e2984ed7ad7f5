"""Real programs over the simulated channel: who gets what, and that nothing is left of an emulation."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab.emulation import address
from validation import daemons

FORBIDDEN = "network namespaces are forbidden here, and an emulation needs one for each node"
CHAIN = "duration_s = 60.0\nmovement.chain = { nodes = 3, spacing_m = 200.0 }\ntraffic.flows = []\n"
"""Three nodes in a row, each in range of its neighbours only."""
TALKER = """
import os, socket, sys, time
from pathlib import Path
node, to, done = int(os.environ["MANETLAB_NODE"]), sys.argv[1], Path("done")
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
line.bind(("", 5000))
line.settimeout(0.05)
Path(f"listens-{node}").touch()
end, left, answers = time.monotonic() + 20, 10, 0
while time.monotonic() < end and not done.exists():
    if node == 0 and left and len(list(Path().glob("listens-*"))) == 3:
        line.sendto(f"{10 - left} {time.monotonic_ns()}".encode().ljust(200), (to, 5000))
        left -= 1
        end = time.monotonic() + 3
    try:
        data, sender = line.recvfrom(2000)
    except TimeoutError:
        continue
    told, began_ns = data.decode().split()[:2]
    if node != 0:
        line.sendto(f"answer {began_ns}".encode().ljust(200), sender)
    if node != 0 or told == "answer":
        print(sender[0], told, time.monotonic_ns() - int(began_ns), flush=True)
    answers += told == "answer"
    if node == 0 and answers == 10:
        break
if node == 0:
    time.sleep(0.2)
    done.touch()
"""
"""A program: node 0 sends ten datagrams when all listen, who gets one answers, and both write down what they
got from whom."""


def emulate(folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command in a folder with a scenario."""
    (folder / "s.toml").write_text(options.pop("scenario", CHAIN))
    command = [sys.executable, "-m", "manetlab", "emulate", "s.toml", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60, **options)


@pytest.fixture(scope="module", autouse=True)
def allowed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips what cannot be tried, by name."""
    if sys.platform != "linux":
        pytest.skip("emulations need Linux")
    done = emulate(tmp_path_factory.mktemp("probe"), "--duration", "0.1", "--", "true")
    if FORBIDDEN in done.stderr:
        pytest.skip(f"emulate: {FORBIDDEN}")


def talk(folder: Path, to: str, *arguments: str, before: str = "") -> tuple[dict[str, Any], list[list[str]]]:
    """What an emulation of the talker says, and the lines of each node's program, word by word."""
    (folder / "talker.py").write_text(TALKER)
    command = f"{before} exec {sys.executable} talker.py {to}"
    done = emulate(
        folder, "--duration", "30", "--json", "--logs", "logs", *arguments, "--", "sh", "-c", command
    )
    assert done.returncode == 0, done.stderr
    logs = [(folder / "logs" / f"node-{node}.log").read_text() for node in range(3)]
    return json.loads(done.stdout), [log.splitlines() for log in logs]


def test_datagrams_cross_a_chain_over_static_routes_and_no_faster_than_the_air(tmp_path: Path) -> None:
    if shutil.which("ip") is None:
        pytest.skip("ip is missing (Debian: iproute2)")
    routes = (
        "case {node} in 0) ip route add 10.0.0.3 via 10.0.0.2;; 2) ip route add 10.0.0.1 via 10.0.0.2;; esac;"
    )
    told, logs = talk(tmp_path, address(2), before=routes)
    assert [line.split()[:2] for line in logs[2]] == [[address(0), str(number)] for number in range(10)]
    assert [line.split()[:2] for line in logs[0]] == [[address(2), "answer"]] * 10 and logs[1] == []
    assert told["programs"][0]["ended"]["status"] == 0 and told["lateness"]["on_air"]["frames"] >= 80
    flow = {"kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 200, "interval_s": 0.1}
    run = manetlab.run(
        duration_s=6.0, routing="static", movement={"chain": {"nodes": 3}}, traffic={"flows": [flow]}
    )
    # Half of the run's packets are as fast as this or faster: most meet an idle channel.
    one_way_s, fastest_s = run.flows[0]["latency_p50_s"], min(int(line.split()[2]) for line in logs[0]) / 1e9
    assert fastest_s > 1.5 * one_way_s, "there and back is twice the way"


def test_a_broadcast_reaches_who_is_in_range_and_nobody_else(tmp_path: Path) -> None:
    told, logs = talk(tmp_path, "10.255.255.255")
    heard = [line.split()[:2] for line in logs[1]]
    # A broadcast is not repeated: one that meets a report of the kernel of node 2 (MLD) is lost.
    assert (
        5 <= len(heard) <= 10
        and heard == sorted(heard)
        and len({number for _, number in heard}) == len(heard)
    )
    assert {sender for sender, _ in heard} == {address(0)}
    assert [line.split()[:2] for line in logs[0]] == [[address(1), "answer"]] * len(heard) and logs[2] == []
    assert {drop["reason"] for drop in told["drops"]} <= {"duplicate"}


def test_who_is_out_of_range_gets_nothing(tmp_path: Path) -> None:
    _, logs = talk(tmp_path, address(2))
    assert logs == [[], [], []]


def test_a_capture_has_the_programs_bytes(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is missing")
    talk(tmp_path, "10.255.255.255", "--capture", "air.pcapng")
    fields = ("wlan.ta", "ip.src", "ip.dst", "data.data")
    columns = [part for field in fields for part in ("-e", field)]
    command = ["tshark", "-n", "-r", "air.pcapng", "-Y", "udp.port == 5000", "-T", "fields", *columns]
    read = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in read.splitlines()]
    sent = [row for row in rows if row[1] == address(0)]
    assert len(sent) == 10 and {tuple(row[:3]) for row in sent} == {
        ("02:00:0a:00:00:01", address(0), "10.255.255.255")
    }
    assert [bytes.fromhex(row[3]).split()[0].decode() for row in sent] == [
        str(number) for number in range(10)
    ]
    answers = [row for row in rows if row[1] == address(1) and row[2] == address(0)]
    assert {len(row[3]) for row in rows} == {400} and len(rows) == 10 + len(answers) >= 15


def test_a_program_that_dies_is_named(tmp_path: Path) -> None:
    command = "case {node} in 1) exit 3;; 2) kill -SEGV $$;; esac; sleep 0.3"
    done = emulate(tmp_path, "--duration", "5", "--", "sh", "-c", command)
    assert done.returncode == 0, done.stderr
    assert "node 1: sh ended with exit status 3 after" in done.stderr
    assert "node 2: sh ended by SIGSEGV after" in done.stderr and "node 0:" not in done.stderr
    assert "stopped before its time" in done.stdout, "nothing was left to wait for"


def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = emulate(tmp_path, "--", "no-such-program")
    assert done.returncode == 2 and "the program cannot be started" in done.stderr
    assert "no-such-program" in done.stderr and "No such file" in done.stderr


def test_where_namespaces_are_forbidden_a_line_says_so(tmp_path: Path) -> None:
    """In a user namespace that may have none below it, which is how the kernel forbids them."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is missing (Debian: util-linux)")
    (tmp_path / "s.toml").write_text(CHAIN)
    for kinds in (["net"], ["user", "net"]):
        limits = " ".join(f"echo 0 > /proc/sys/user/max_{kind}_namespaces;" for kind in kinds)
        command = f"{limits} exec {sys.executable} -m manetlab emulate s.toml -- true"
        within = ["unshare", "-Ur", "sh", "-c", command]
        done = subprocess.run(within, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and done.stderr.startswith(f"error: emulate: {FORBIDDEN}\n"), done.stderr
        assert "unshare(2)" in done.stderr and done.stdout == ""


def test_babeld_finds_the_routes_that_the_simulator_finds() -> None:
    daemon = daemons.DAEMONS["babeld"]
    for program in (daemon.program, "ip"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is missing")
    scenario = daemons.chain(3, duration_s=12.0)
    real, ours = daemons.emulated(daemon, scenario), daemons.simulated(daemon, scenario, seed=1)
    assert real.routes() == ours.routes() and daemons.is_complete(range(3), real.routes())
    assert real.complete_after_s(range(3)) < 12.0 and ours.complete_after_s(range(3)) < 12.0
    assert len(real.sent) > 3 * 8, "a Hello each second, nearly"


def test_changes_of_routes_are_read_in_the_order_in_which_daemons_make_them() -> None:
    at = "2026-11-26T10:00:0"
    via = "via 10.0.0.{} dev manet0 table 66"
    log = [
        f"[{at}1.500000] 10.0.0.3 {via.format(2)}",
        f"[{at}2.500000] 10.0.0.3 {via.format(5)}",
        f"[{at}2.600000] Deleted 10.0.0.3 {via.format(2)}",
        f"[{at}3.500000] Deleted 10.0.0.3 {via.format(5)}",
        f"[{at}4.000000] unreachable 10.0.0.3 proto babel",
        f"[{at}5.000000] local 10.0.0.1 dev manet0 table local",
    ]
    began_at_s = daemons.datetime.fromisoformat(f"{at}0").timestamp()
    changes = list(daemons.monitored("\n".join(log), 0, began_at_s))
    assert [(each.time_s, each.dst, each.next_hop) for each in changes] == [
        (1.5, 2, 1),
        (2.5, 2, 4),
        (3.5, 2, None),
    ]
    seen = daemons.Seen([*changes[:2], daemons.Change(6.0, 2, 0, 4), daemons.Change(7.0, 4, 2, 2)], [])
    assert seen.complete_after_s([0, 2]) == float("inf"), "their routes lead over a node that does not count"
    pair = daemons.Seen([daemons.Change(6.0, 0, 1, 1), daemons.Change(7.0, 1, 0, 0)], [])
    assert pair.complete_after_s([0, 1]) == 7.0 and pair.complete_after_s([0, 1], since_s=6.5) == 0.5
    assert pair.complete_after_s([0, 1], since_s=8.0) == 0.0


def alive(mark: str) -> list[str]:
    """The processes that have this word in their command line, this one apart."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words and int(each.parent.name) != os.getpid():
            found.append(each.parent.name)
    return found


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_an_emulation(tmp_path: Path, how: signal.Signals) -> None:
    mark = f"mark-{uuid.uuid4()}"
    (tmp_path / "s.toml").write_text(CHAIN)
    script = (
        "trap '' INT TERM; (setsid sh -c 'sleep 300; :' \"$0\" &) ; echo ready > ready-{node}; sleep 300; :"
    )
    command = [sys.executable, "-m", "manetlab", "emulate", "s.toml", "--duration", "300", "--json"]
    running = subprocess.Popen(
        [*command, "--", "sh", "-c", script, mark],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for(lambda: len(list(tmp_path.glob("ready-*"))) == 3)
        assert len(alive(mark)) >= 6, "three programs and three daemons"
        if how is signal.SIGINT:
            os.killpg(running.pid, how)
        else:
            running.send_signal(how)
        out, _ = running.communicate(timeout=30)
    finally:
        running.kill()
    wait_for(lambda: alive(mark) == [])
    if how is signal.SIGINT:
        assert running.returncode == 130 and json.loads(out)["interrupted"] is True


def wait_for(condition: Any) -> None:
    """Waits until a condition holds, and fails if it does not within twenty seconds."""
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("it has not happened")
