"""Messages and help lead somewhere: in a wheel too, on 80 columns, and for names that are not there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import click
import pytest

from manetlab import InputError, Scenario, _core, documentation, flows, parameters, unimplemented
from manetlab.cli import app, groups
from manetlab.sources import MovementSource, TrafficSource
from tests.conftest import ROOT, Cli
from tests.test_words import literals, modules


def contexts(command: click.Command, name: str = "manetlab") -> Iterator[click.Context]:
    """The context of a command and those of all below it, 80 columns wide."""
    context = click.Context(command, info_name=name, terminal_width=80)
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from contexts(found, f"{name} {below}")


@pytest.mark.parametrize("context", [*contexts(app)], ids=lambda context: context.info_name)
def test_help_ends_within_80_columns_and_says_all(context: click.Context) -> None:
    text = context.command.get_help(context)
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"^  .*(\.\.\.|…)$", text, re.MULTILINE), "a line that is cut off"


def test_the_commands_are_grouped_and_each_is_in_one_group() -> None:
    assert isinstance(app.commands, groups.Commands)
    headings = app.commands.headings()
    named = [name for names in headings.values() for name in names]
    assert sorted(named) == sorted(app.commands) and len(headings) > 3


def test_a_command_of_a_distribution_that_is_missing_says_which(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [])
    commands = groups.Commands({"Simulate": {"run": "manetlab.cli.runs:run"}})
    group = groups.Group("manetlab", commands=commands)
    with pytest.raises(InputError, match="manetlab-papers") as error:
        group.main(["papers", "list"], standalone_mode=False)
    assert "five papers" in error.value.hint


def test_no_message_names_a_file_that_a_wheel_does_not_have() -> None:
    in_python = {
        str(module.relative_to(ROOT)): found
        for module in modules()
        if module.name not in ("docs_tables.py", "documentation.py")
        and (found := [text for text in literals(module) if "docs/" in text and is_message(module, text)])
    }
    assert in_python == {}
    in_rust = {
        str(source.relative_to(ROOT)): found
        for source in ROOT.glob("crates/*/src/**/*.rs")
        if (
            found := re.findall(r'^(?!\s*//).*"[^"\n]*docs/[^"\n]*"', source.read_text("utf-8"), re.MULTILINE)
        )
    }
    assert in_rust == {}


def is_message(module: object, text: str) -> bool:
    """Whether a literal is no documentation of a module, a class or a method."""
    assert hasattr(module, "read_text")
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return text not in {
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def test_every_page_that_a_message_names_is_there() -> None:
    named = {
        name
        for module in modules()
        for text in literals(module)
        for name in re.findall(r"`manetlab docs ([\w/-]+)`", text)
    }
    assert len(named) > 3
    for name in named:
        assert documentation.read(name).startswith("# ")


def test_docs_prints_pages_by_name_and_lists_them(cli: Cli) -> None:
    listed = cli("docs").stdout
    assert re.search(r"^metrics +Metrics$", listed, re.MULTILINE)
    assert re.search(r"^models/aodv +AODV$", listed, re.MULTILINE)
    page = (ROOT / "docs" / "models" / "aodv.md").read_text(encoding="utf-8")
    assert cli("docs", "aodv").stdout == cli("docs", "models/aodv").stdout == page
    refused = cli("docs", "metric")
    assert refused.returncode == 2 and 'did you mean "metrics"?' in refused.stderr


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"routing": "olsrv2"}, "olsrv2 is not implemented in manetlab"),
        ({"routing": "AOMDV"}, "AOMDV is not implemented in manetlab"),
        ({"tcp": "westwood"}, "westwood is not implemented in manetlab"),
        ({"traffic": {"random": {"voip": 4}}}, "voip is not implemented in manetlab"),
        ({"routing": "aovd"}, "no such routing protocol"),
    ],
)
def test_a_known_name_that_is_not_there_is_told_from_a_misspelt_one(
    fields: dict[str, object], what: str
) -> None:
    needed = {"duration_s": 1.0, "movement": {"chain": {"nodes": 2}}, "traffic": {"random": {"cbr": 1}}}
    with pytest.raises(InputError) as error:
        Scenario.build({**needed, **fields}).resolve()
    assert error.value.what == what
    assert error.value.hint and "check the spelling" not in error.value.hint


@pytest.mark.parametrize(
    ("name", "meant"), [("aodvv2", "dymo:aodvv2"), ("batmand", "batman:batmand"), ("rfc3626", "olsr:rfc3626")]
)
def test_the_name_of_a_parameter_set_leads_to_its_protocol(name: str, meant: str) -> None:
    with pytest.raises(InputError) as error:
        Scenario(
            duration_s=1.0, movement={"chain": {"nodes": 2}}, traffic={"random": {"cbr": 1}}, routing=name
        ).resolve()
    assert error.value.what == "no such routing protocol"
    assert error.value.hint == f'it is a parameter set: did you mean "{meant}"?'


def test_what_is_said_to_be_missing_is() -> None:
    there = {
        *_core.routings(),
        *_core.tcp_senders(),
        *flows.kinds(),
        *MovementSource.fields,
        *TrafficSource.fields,
    }
    there |= {name for known in parameters.schema().values() for name in known}
    said = sorted(name for name in there if unimplemented.instead_of(name))
    assert said == [], "take these names out of python/manetlab/unimplemented.py"


def test_an_error_about_one_of_many_parameters_does_not_list_them_all() -> None:
    with pytest.raises(InputError) as error:
        raise parameters.unknown("parameter in [mac]", "xyz", parameters.schema()["mac"], "here")
    assert len(str(error.value).splitlines()) == 4
    assert max(map(len, str(error.value).splitlines())) < 100
    assert "`manetlab docs parameters`" in error.value.wanted


def test_the_nearest_of_all_names_is_proposed() -> None:
    protocols = ["adv", "aodv", "dsdv", "dsr", "flooding", "lunar", "static", "tsr"]
    meant = {
        "oadv": "aodv",
        "aovd": "aodv",
        "adb": "adv",
        "dsvd": "dsdv",
        "ddr": "dsr",
        "AODW": "aodv",
        "luanr": "lunar",
    }
    assert {name: parameters.nearest(name, protocols) for name in meant} == {
        name: [it] for name, it in meant.items()
    }
    assert parameters.nearest("xyz", protocols) == []
