"""A file that was given for another, and a name that papers use, lead to the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from manetlab import InputError, Scenario, extension
from manetlab.errors import ManetlabError
from tests.conftest import NS2, Cli

SCENARIO = """
duration_s = 2.0
movement = { chain = { nodes = 2 } }
traffic = { flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 0 }] }
"""
CAMPAIGN = f"""
replications = 2
factors.tcp = ["reno", "tahoe"]
[base]
{SCENARIO.replace("traffic = ", "traffic = ")}
"""
FIELD = """
question = "Which one?"
duration_s = 2.0
movement.chain = { nodes = 3 }
traffic.random = { cbr = 1 }

[advise]
limits = ["pdr >= 0.5"]
"""
CAPACITY = f"""
[capacity]
level = "traffic.random.cbr"
levels = "1..2"
limit = "pdr >= 0.5"

[base]
{FIELD[FIELD.index("duration_s") : FIELD.index("[advise]")]}
"""
MAIN = "set val(nn) 50\nset ns_ [new Simulator]\nsource p01.mov\n$ns_ run\n"
GPX = '<?xml version="1.0"?>\n<gpx version="1.1"><trk></trk></gpx>\n'
SUMO = '<?xml version="1.0"?>\n<fcd-export>\n</fcd-export>\n'
BONNMOTION = "0.0 10.0 20.0 5.0 11.0 22.0\n0.0 1.0 2.0 5.0 1.0 2.0\n"
MOVEMENT = (NS2 / "chain1.tcl").read_text()
TRAFFIC = (NS2 / "chain1.traffic.tcl").read_text()


@pytest.mark.parametrize(
    ("field", "content", "found", "hint"),
    [
        ("movement", TRAFFIC, "a traffic file", "--traffic"),
        ("traffic", MOVEMENT, "a movement file", "--movement"),
        ("traffic", GPX, "tracks of nodes", "--movement"),
        ("traffic", SUMO, "tracks of nodes", "--movement"),
        ("traffic", BONNMOTION, "BonnMotion", "--movement"),
        ("traffic", MAIN, "a main script", "manetlab run SCRIPT.tcl"),
        ("movement", SCENARIO, "a scenario in TOML", "manetlab run"),
        ("movement", CAMPAIGN, "a campaign", "campaign run"),
        ("movement", FIELD, "a field to advise on", "manetlab advise"),
        ("movement", CAPACITY, "a question of capacity", "manetlab capacity"),
    ],
)
def test_a_file_given_for_another_is_recognised(
    field: str, content: str, found: str, hint: str, tmp_path: Path
) -> None:
    (tmp_path / "other").write_text(content)
    files = {"movement": str(NS2 / "chain1.tcl"), "traffic": str(NS2 / "chain1.traffic.tcl")}
    with pytest.raises(InputError) as caught:
        Scenario.build({**files, field: str(tmp_path / "other"), "duration_s": 5.0}).resolve()
    assert found in caught.value.found and hint in caught.value.hint
    assert caught.value.where.startswith(str(tmp_path / "other"))


def test_a_damaged_line_of_the_right_file_is_still_named(tmp_path: Path) -> None:
    (tmp_path / "other").write_text(MOVEMENT + "$node_(0) set W_ 3\n")
    with pytest.raises(InputError, match="line not understood"):
        Scenario.build(
            {
                "movement": str(tmp_path / "other"),
                "traffic": str(NS2 / "chain1.traffic.tcl"),
                "duration_s": 5.0,
            }
        ).resolve()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "c.toml"), ("this is a campaign", "manetlab campaign run c.toml")),
        (("campaign", "run", "s.toml"), ("this is a scenario", "manetlab run s.toml")),
        (("report", "s.toml"), ("this is a scenario", "manetlab run s.toml")),
        (("campaign", "results", "s.toml"), ("this is a scenario", "manetlab run s.toml")),
        (("run", "s.toml", "--routing", "AODV"), ('did you mean "aodv"?',)),
        (("run", "s.toml", "--routing", "xxyyzz"), ("`manetlab list protocols`",)),
        (("run", "s.toml", "--tcp", "xxyyz"), ("`manetlab list senders`",)),
        (("campaign", "results", "c.toml", "--metric", "hold"), ('did you mean "holds"?',)),
        (("campaign", "results", "c.toml", "--metric", "xyz"), ("`manetlab list measures` lists them",)),
    ],
)
def test_errors_lead_to_the_right_command_or_name(
    words: tuple[str, ...], told: tuple[str, ...], cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    if "results" in words:
        assert cli("campaign", "run", "c.toml").returncode == 0
    done = cli(*words)
    assert done.returncode == 2
    assert all(each in done.stderr for each in told), done.stderr


@pytest.mark.parametrize(
    ("words", "what", "hint"),
    [
        *(
            (words, "this is a field to advise on", "manetlab advise field.toml")
            for words in (
                ("run", "field.toml"),
                ("view", "field.toml"),
                ("scenario", "check", "field.toml"),
                ("range", "field.toml"),
                ("campaign", "run", "field.toml"),
                ("campaign", "status", "field.toml"),
                ("report", "field.toml"),
                ("capacity", "field.toml"),
                ("run", "asks.toml"),
            )
        ),
        *(
            (words, "this is a question of capacity", "manetlab capacity load.toml")
            for words in (
                ("run", "load.toml"),
                ("scenario", "check", "load.toml"),
                ("campaign", "run", "load.toml"),
                ("campaign", "results", "load.toml"),
                ("report", "load.toml"),
                ("advise", "load.toml"),
            )
        ),
        (("advise", "c.toml"), "this is a campaign", "manetlab campaign run c.toml"),
        (("capacity", "c.toml"), "this campaign asks for no capacity", "manetlab campaign run c.toml"),
    ],
)
def test_a_question_to_another_command_leads_to_it(
    words: tuple[str, ...], what: str, hint: str, cli: Cli, tmp_path: Path
) -> None:
    files = {"field": FIELD, "asks": FIELD.split("[advise]")[0], "load": CAPACITY, "c": CAMPAIGN}
    for name, content in files.items():
        (tmp_path / f"{name}.toml").write_text(content)
    done = cli(*words)
    assert done.returncode == 2
    assert what in done.stderr, done.stderr
    assert hint.replace("field.toml", words[-1]) in done.stderr, done.stderr
    assert {path.stem for path in tmp_path.iterdir()} == {*files}, "something was written"


def test_several_protocols_in_a_scenario_lead_to_a_campaign() -> None:
    with pytest.raises(InputError) as caught:
        Scenario.build({"routing": ["aodv", "dsr"]})
    assert "[factors]" in caught.value.hint


def test_a_factor_that_is_no_list_is_shown_as_one(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(CAMPAIGN.replace('["reno", "tahoe"]', '"reno"'))
    assert 'tcp = ["reno", …]' in cli("campaign", "run", "c.toml").stderr


def test_a_run_in_which_nothing_can_happen_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    assert "lasts only 0.0001 s" in cli("run", "s.toml", "--duration", "0.0001").stderr


def test_an_extension_of_another_build_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    extension.check()
    monkeypatch.setattr("manetlab._core.INTERFACE", "0" * 16)
    with pytest.raises(ManetlabError, match="does not fit") as caught:
        extension.check()
    assert "make build" in caught.value.hint
    monkeypatch.undo()
    monkeypatch.delattr("manetlab._core.sha256")
    with pytest.raises(ManetlabError, match="does not fit"):
        extension.check()
    monkeypatch.setattr("manetlab._core.VERSION", "0.0.1")
    with pytest.raises(ManetlabError, match=r"the extension of 0\.0\.1"):
        extension.check()
    with pytest.raises(ManetlabError, match="an extension without olsr9"):
        extension.check_sections(["mac", "olsr9"], ["mac"])
