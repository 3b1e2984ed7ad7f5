"""Shells complete commands, options and values, and man pages and lists follow from the commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from manetlab import _core
from manetlab.cli import app, manual
from manetlab.cli.choices import LISTS
from manetlab.scenario_fields import known
from tests.conftest import Cli

BASH = """
PATH=$1:$PATH
source /dev/stdin <<< "$(manetlab completion bash)"
compopt() { :; }
COMP_LINE=$2 COMP_POINT=${#2}
_manetlab_completion manetlab
printf '%s\\n' "${COMPREPLY[@]}"
"""
CAMPAIGN = """
[base]
movement = { chain = { nodes = 2 } }
traffic = { flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 0 }] }
duration_s = 2.0
[factors]
tcp = ["reno", "tahoe"]
"""


def completed(line: str, folder: Path) -> list[str]:
    """What bash offers behind a line."""
    binaries = str(Path(sys.executable).parent)
    command = ["bash", "-c", BASH, "bash", binaries, line]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("manetlab camp", ["campaign"]),
        ("manetlab list se", ["sets", "senders"]),
        ("manetlab scenario s", ["show", "search", "sessions"]),
        ("manetlab run --tcp re", ["reno", "reno-f"]),
        # Bash takes a colon and an equals sign for the ends of words.
        ("manetlab run --routing aodv:dy", ["dyer-2002"]),
        ("manetlab run --set mac.access=al", ["always-backoff"]),
        ("manetlab run --set mac.eifs_as", ["mac.eifs_as_nav="]),
        ("manetlab run --set mac.eifs_as_nav=", ["true", "false"]),
        ("manetlab run --profile ns-2.3", ["ns-2.35"]),
        ("manetlab campaign results c.toml --metric tcp_through", ["tcp_throughput_bps"]),
        ("manetlab campaign results c.toml --compare reno,t", ["reno,tahoe"]),
        ("manetlab campaign results missing.toml --compare r", []),
        ("manetlab report c.toml --compare ", ["tcp"]),
    ],
)
def test_bash_completes(line: str, offered: list[str], tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    assert completed(line, tmp_path) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_those_of_the_shell(shell: str, cli: Cli, tmp_path: Path) -> None:
    done = cli("completion", shell)
    assert done.returncode == 0 and f"{shell}_complete" in done.stdout
    if shell == "zsh":
        # A change of click's script would leave ours without its suffix.
        assert done.stdout.count("suffix") == 3
    if (program := shutil.which(shell)) is not None:
        script = tmp_path / "script"
        script.write_text(done.stdout)
        subprocess.run([program, "-n", str(script)], check=True)


def test_every_name_is_listed_with_a_line_about_it(cli: Cli) -> None:
    for kind, (heading, names) in LISTS.items():
        shown = dict(names())
        assert all(shown.values()), kind
        done = cli("list", kind)
        # Measures are in tables of their groups, each with a heading of its own.
        assert heading in done.stdout or kind == "measures"
        assert all(name in done.stdout for name in shown)
    assert [name for name, _ in LISTS["protocols"][1]()] == _core.routings()
    assert [name for name, _ in LISTS["senders"][1]()] == _core.tcp_senders()
    assert cli("list").stdout.count("--") >= 4


def commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            found += commands(below, (*path, name))
    return found


def test_every_command_has_a_man_page_with_all_its_options(tmp_path: Path) -> None:
    files = {path.name: path.read_text() for path in manual.write(tmp_path)}
    everything = commands(app)
    assert set(files) == {"-".join(("manetlab", *path)) + ".1" for path, _ in everything}
    for path, command in everything:
        text = files["-".join(("manetlab", *path)) + ".1"].replace("\\-", "-")
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert all(option in text for option in parameter.opts), (path, parameter.name)


def test_every_command_knows_h_and_has_one_name_for_what_it_writes() -> None:
    for path, command in commands(app):
        names = {option for parameter in command.params for option in parameter.opts}
        hidden = {option for each in command.params if getattr(each, "hidden", False) for option in each.opts}
        assert not (names - hidden) & {"--out", "--series-out"}, path
    assert app.context_settings["help_option_names"] == ["-h", "--help"]


def test_a_former_name_leads_to_the_new_one(cli: Cli) -> None:
    for words in (("report", "s.db", "--out", "x"), ("run", "s.toml", "--series-out", "x.csv")):
        done = cli(*words)
        assert done.returncode == 2 and "output" in done.stderr.splitlines()[-1]


def test_any_field_can_be_set_as_factors_set_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        "duration_s = 2.0\nmovement.waypoint = { nodes = 5 }\ntraffic.random = { tcp = 1, cbr = 0 }\n"
    )
    changes = ("movement.waypoint.nodes=7", "duration_s=3", "routing=dsr", "tcp.window=4", "seed=9")
    done = cli(
        "scenario", "show", "s.toml", "--json", *(word for each in changes for word in ("--set", each))
    )
    assert done.returncode == 0, done.stderr
    for told in ('"nodes": 7', '"duration_s": 3.0', '"routing": "dsr"', '"window": 4', '"seed": 9'):
        assert told in done.stdout
    assert "movement.waypoint.nodes" in known()
    refused = cli("scenario", "show", "s.toml", "--set", "movement.waypoint.node=7")
    assert refused.returncode == 2 and "movement.waypoint.nodes" in refused.stderr
