"""Input that cannot be used: a clear error, exit status 2, nothing on stdout, nothing written."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli

PLACED = "".join(
    f"$node_({node}) set {axis} {value}\n"
    for node in range(2)
    for axis, value in (("X_", 100.0 * node), ("Y_", 0.0), ("Z_", 0.0))
)
TCP = (
    "set tcp_(0) [$ns_ create-connection TCP $node_({src}) TCPSink $node_({dst}) 0]\n"
    "set ftp_(0) [$tcp_(0) attach-source FTP]\n"
    '$ns_ at {start} "$ftp_(0) start"\n'
)
GOOD_TRAFFIC = TCP.format(src=0, dst=1, start=1.0)


def go(at: str = "1.0", x: str = "50.0", speed: str = "1.0", node: int = 1) -> str:
    return f'$ns_ at {at} "$node_({node}) setdest {x} 0.0 {speed}"\n'


def refused(cli: Cli, folder: Path, *arguments: object) -> str:
    """The error of a command that must be refused."""
    before = sorted(folder.rglob("*"))
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert sorted(folder.rglob("*")) == before
    assert "Traceback" not in done.stderr
    return done.stderr


def run_files(cli: Cli, folder: Path, movement: bytes, traffic: bytes, *more: object) -> str:
    (folder / "movement").write_bytes(movement)
    (folder / "traffic").write_bytes(traffic)
    options = ("--movement", "movement", "--traffic", "traffic", "--duration", 30, *more, "--record", "out")
    return refused(cli, folder, "run", *options)


BAD_MOVEMENT = {
    "empty": (b"", "movement"),
    "binary": (b"\x89\x00\xff" * 2000, "movement"),
    "cut off": ((PLACED + go())[:-20].encode(), "movement:7"),
    "negative time": ((PLACED + go(at="-1.0")).encode(), "movement:7"),
    "time NaN": ((PLACED + go(at="nan")).encode(), "movement:7"),
    "infinite time": ((PLACED + go(at="1e400")).encode(), "movement:7"),
    "place NaN": ((PLACED + go(x="NaN")).encode(), "movement:7"),
    "negative speed": ((PLACED + go(speed="-3")).encode(), "movement:7"),
    "a million nodes": ((PLACED + "$node_(999999) set X_ 1.0\n").encode(), "movement:7"),
    "no nodes": (b"# nothing\n", "movement"),
}
LENIENT_MOVEMENT = {
    "named and never placed": PLACED + go(node=2),
    "speed that places": PLACED + go(speed="1e9"),
    "a script": PLACED + "puts hello\n",
}
"""What ns-2 reads too: a node without a start is at (0, 0), and an order at such a speed places it."""


@pytest.mark.parametrize("case", LENIENT_MOVEMENT)
def test_what_ns2_reads_is_read(case: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "movement").write_text(LENIENT_MOVEMENT[case])
    (tmp_path / "traffic").write_text(GOOD_TRAFFIC)
    done = cli("run", "--movement", "movement", "--traffic", "traffic", "--duration", "30")
    assert (done.returncode, "could not" in done.stderr) == (0, False), done.stderr
    assert ("given no start" in done.stderr) == (case == "named and never placed")


@pytest.mark.parametrize("case", BAD_MOVEMENT)
def test_bad_movement_is_refused(case: str, cli: Cli, tmp_path: Path) -> None:
    content, place = BAD_MOVEMENT[case]
    error = run_files(cli, tmp_path, content, GOOD_TRAFFIC.encode())
    assert error.startswith(f"error: {place}")
    assert all(f"  {name}" in error for name in ("found:", "wanted:", "hint:"))


BAD_TRAFFIC = {
    "empty": b"",
    "binary": bytes(range(256)) * 20,
    "cut off": GOOD_TRAFFIC[:-10].encode(),
    "to itself": TCP.format(src=1, dst=1, start=1.0).encode(),
    "to no node": TCP.format(src=0, dst=2, start=1.0).encode(),
    "negative time": TCP.format(src=0, dst=1, start=-1.0).encode(),
    "time NaN": TCP.format(src=0, dst=1, start="nan").encode(),
    "not traffic": (GOOD_TRAFFIC + "exec rm\n").encode(),
}


@pytest.mark.parametrize("case", BAD_TRAFFIC)
def test_bad_traffic_is_refused(case: str, cli: Cli, tmp_path: Path) -> None:
    error = run_files(cli, tmp_path, PLACED.encode(), BAD_TRAFFIC[case])
    assert error.startswith("error: traffic")
    assert all(f"  {name}" in error for name in ("found:", "wanted:", "hint:"))


def test_a_file_of_a_gigabyte_is_refused_unread(cli: Cli, tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(2**30)
    (tmp_path / "traffic").write_text(GOOD_TRAFFIC)
    error = refused(cli, tmp_path, "run", "--movement", "big", "--traffic", "traffic", "--duration", 30)
    assert "not a file of movement" in error


@pytest.mark.parametrize("name", [".", "nowhere", "traffic/x", "/dev/null", "a\0b".replace("\0", "\x01")])
def test_what_is_no_file_is_refused(name: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "traffic").write_text(GOOD_TRAFFIC)
    error = refused(cli, tmp_path, "run", "--movement", name, "--traffic", "traffic", "--duration", 30)
    assert error.startswith(f"error: {name}")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--duration", "nan"),
        ("--duration", "0"),
        ("--duration", "1e30"),
        ("--warmup", "30"),
        ("--warmup", "-1"),
        ("--seed", "-1"),
        ("--seed", str(2**64)),
        ("--profile", "ns-3"),
        ("--routing", "olsrv2"),
        ("--routing", "aodv:dyer"),
        ("--tcp", "westwood"),
        ("--set", "mac.slot_use=9"),
        ("--set", "mac.slot_us=-1"),
        ("--set", "mac.slot_us=nan"),
        ("--set", "mac.cw_min=15.5"),
        ("--set", "mca.slot_us=9"),
        ("--set", "slot_us"),
        ("--set", "mac.slot_us=" + "1" * 400),
        ("--set", "mac.slot_us=" + "1" * 5000),
        ("--set", "mac.slot_us=9\nx = 3"),
        ("--set", "movement.file=x"),
        ("--routing", "aodv:"),
        ("--routing", "static:"),
        ("--record", "nowhere/recording"),
        ("--record", "movement"),
        ("--record", "./traffic"),
    ],
)
def test_bad_options_are_refused(option: str, value: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "movement").write_text(PLACED)
    (tmp_path / "traffic").write_text(GOOD_TRAFFIC)
    files = ("--movement", "movement", "--traffic", "traffic", "--duration", "30")
    error = refused(cli, tmp_path, "run", *files, f"{option}={value}")
    assert all(f"  {name}" in error for name in ("found:", "wanted:", "hint:")), error


def test_a_misspelt_parameter_is_told_its_name(cli: Cli, tmp_path: Path) -> None:
    files = ("--movement", "m", "--traffic", "t", "--duration", "30")
    (tmp_path / "m").write_text(PLACED)
    (tmp_path / "t").write_text(GOOD_TRAFFIC)
    assert 'did you mean "slot_us"?' in refused(cli, tmp_path, "run", *files, "--set", "mac.slot_use=9")


GOOD_TOML = """
duration_s = 10
[movement]
chain = { nodes = 2 }
[traffic]
flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 0 }]
"""
BAD_TOML = {
    "unknown key": ("durations = 10" + GOOD_TOML, "duration_s"),
    "unknown section": (GOOD_TOML + "[mca]\nslot_us = 9\n", "mac"),
    "unknown parameter": (GOOD_TOML + "[mac]\nslot_use = 9\n", "slot_us"),
    "unknown key of a flow": (GOOD_TOML.replace("start_s", "begin_s"), "start_s"),
    "value out of range": (GOOD_TOML + "[mac]\nslot_us = -9\n", "from 0.1 to 10000 µs"),
    "value of the wrong type": (GOOD_TOML + '[mac]\nslot_us = "nine"\n', "a number"),
    "text for a number": (GOOD_TOML.replace("= 10", '= "10"'), "a number"),
    "no nodes": (GOOD_TOML.replace("nodes = 2", "nodes = 0"), "from 1 to 100000"),
    "a million nodes": (GOOD_TOML.replace("nodes = 2", "nodes = 1000000"), "100000"),
    "no movement": (GOOD_TOML.replace("chain = { nodes = 2 }", ""), "exactly one of"),
    "two movements": (GOOD_TOML.replace("[traffic]", 'file = "x"\n[traffic]'), "exactly one of"),
    "number of 400 digits": (GOOD_TOML.replace("= 10", "= " + "1" * 400), "duration_s"),
    "number of 5000 digits": (GOOD_TOML.replace("= 10", "= " + "1" * 5000), "5000 digits"),
    "unknown kind": (GOOD_TOML.replace('"tcp"', '"ftp"'), 'kind = "tcp" or "cbr" or'),
    "to itself": (GOOD_TOML.replace("dst = 1", "dst = 0"), "a destination other than the source"),
    "place of three": (
        GOOD_TOML.replace("chain = { nodes = 2 }", "positions = [[1, 2, 3]]"),
        "a position [x, y]",
    ),
    "table missing": (GOOD_TOML.replace("{ nodes = 2 }", "2"), "a table with nodes, spacing_m"),
    "not TOML": ("$node_(0) set X_ 1", "TOML"),
    "nested beyond measure": ("x = " + "[" * 5000, "TOML"),
    "key of 100,000 parts": (".".join("a" * 100_000) + " = 1", "a key of more than 100 parts (at line 1)"),
    "header of 100,000 parts": (f"\n[{' . '.join('a' * 100_000)}]", "more than 100 parts (at line 2)"),
}


@pytest.mark.parametrize("case", BAD_TOML)
@pytest.mark.parametrize("command", ["run", "scenario check"])
def test_bad_toml_is_refused(case: str, command: str, cli: Cli, tmp_path: Path) -> None:
    content, told = BAD_TOML[case]
    (tmp_path / "scenario.toml").write_text(content)
    error = refused(cli, tmp_path, *command.split(), "scenario.toml")
    assert error.startswith("error: scenario.toml")
    assert told in error
    assert all(f"  {name}" in error for name in ("found:", "wanted:", "hint:")), error


TOO_LARGE = {
    "movement.waypoint": (
        "duration_s = 1e6\n[movement]\nwaypoint = { nodes = 100000 }\n[traffic]\nrandom = { cbr = 1 }\n",
        "about 2014 million changes of direction",
    ),
    "traffic.web": (
        "duration_s = 10\n[movement]\nchain = { nodes = 60000 }\n[traffic]\n"
        "web = { clients = 50000, cycles = 100000 }\n",
        "about 14200 million replies",
    ),
}


@pytest.mark.parametrize("where", TOO_LARGE)
def test_what_would_fill_the_memory_is_refused_with_an_estimate(where: str, cli: Cli, tmp_path: Path) -> None:
    content, told = TOO_LARGE[where]
    (tmp_path / "scenario.toml").write_text(content)
    error = refused(cli, tmp_path, "scenario", "check", "scenario.toml")
    assert error.startswith(f"error: {where}: ")
    assert told in error


def test_good_toml_is_usable(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(GOOD_TOML)
    assert cli("scenario", "check", "scenario.toml").returncode == 0


@pytest.mark.parametrize(
    "option",
    [
        "--nodes=0",
        "--nodes=-5",
        "--nodes=100001",
        "--speed-max=0",
        "--speed-min=0",
        "--speed-max=1e30",
        "--width=0",
    ],
)
def test_impossible_waypoints_are_refused(option: str, cli: Cli, tmp_path: Path) -> None:
    options = {"--nodes": "5", "--duration": "10"} | {option.split("=")[0]: option.split("=")[1]}
    arguments = [part for pair in options.items() for part in pair]
    error = refused(cli, tmp_path, "scenario", "generate", *arguments, "--movement", "out")
    assert "1000000" not in error or "--nodes" not in option


def test_outputs_do_not_overwrite_inputs_or_each_other(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "m").write_text(PLACED)
    (tmp_path / "t").write_text(GOOD_TRAFFIC)
    (tmp_path / "link").symlink_to("m")
    toml = GOOD_TOML.replace("chain = { nodes = 2 }", 'file = "m"')
    (tmp_path / "s.toml").write_text(toml)
    files = ("--movement", "m", "--traffic", "t", "--duration", "10")
    made = ("--nodes", "5", "--duration", "10")
    for command in (
        ("run", "s.toml", "--record", "s.toml"),
        ("run", "s.toml", "--record", "m"),
        ("scenario", "import", *files, "-o", "m"),
        ("scenario", "import", *files, "-o", "link"),
        ("scenario", "generate", *made, "--movement", "new", "--traffic", "./new"),
    ):
        assert "would overwrite another file" in refused(cli, tmp_path, *command)
    assert [(tmp_path / name).read_text() for name in ("m", "t", "s.toml")] == [PLACED, GOOD_TRAFFIC, toml]


@pytest.mark.parametrize(
    "line", ["$tcp_(0) set window_ 100000", "$cbr_(0) set maxpkts_ 18446744073709551615"]
)
def test_import_writes_only_what_can_be_run(line: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "m").write_text(PLACED)
    cbr = (
        "set udp_(0) [$ns_ create-connection UDP $node_(0) Null $node_(1) 0]\n"
        "set cbr_(0) [new Application/Traffic/CBR]\n$cbr_(0) set packetSize_ 512\n"
        "$cbr_(0) set interval_ 0.25\n$cbr_(0) set random_ 1\n$cbr_(0) attach-agent $udp_(0)\n"
        '$ns_ at 1.0 "$cbr_(0) start"\n'
    )
    (tmp_path / "t").write_text(GOOD_TRAFFIC + cbr + line + "\n")
    files = ("--movement", "m", "--traffic", "t", "--duration", "10")
    assert refused(cli, tmp_path, "scenario", "import", *files, "-o", "out.toml").startswith("error: t")


@pytest.mark.parametrize("target", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("form", ["", "--json"])
def test_output_that_cannot_be_written_is_told(target: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(GOOD_TOML)
    command = f"{sys.executable} -m manetlab run s.toml {form} {target}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 2
    # Warnings about the scenario come first: the run is not in vain, only its output is lost.
    told = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    assert told[0].startswith("error: standard output: the output cannot be written")
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m manetlab profile show rfc | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("Profile rfc", "")
