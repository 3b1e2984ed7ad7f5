"""A scenario is the same, and refused in the same words, whether files, TOML or Python say it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import example, given
from hypothesis import strategies as st

from manetlab import InputError, Scenario
from manetlab.cli.options import scenario_from
from manetlab.parameters import own_sections, sections
from tests.conftest import NS2

WHERE = "command line"
TIMES = st.floats() | st.integers(-1, 2_000_000) | st.booleans() | st.just("5") | st.none()
SEEDS = st.integers(-1, 2**64) | st.floats(0, 10) | st.booleans() | st.none()
NAMES = st.text(max_size=5) | st.sampled_from(["aodv", "python:a.B", "\udcff"]) | st.integers() | st.none()
SECTIONS = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2)
WRITTEN = st.fixed_dictionaries(
    {},
    optional={
        "movement": NAMES | st.just({"file": "m"}),
        "traffic": NAMES,
        "duration_s": TIMES,
        "warmup_s": TIMES,
        "seed": SEEDS,
        "replication": SEEDS,
        "routing": NAMES,
        "profile": NAMES,
        "mac": SECTIONS | NAMES,
        "tcp": SECTIONS | NAMES,
        "python": SECTIONS,
        "nothing": NAMES,
    },
)
NEEDED = {"movement": "m", "traffic": "t", "duration_s": 11.0}


def outcome(make: Any) -> Any:
    """The scenario, or what is wrong with it."""
    try:
        return make()
    except InputError as error:
        assert all((error.what, error.where, error.found, error.wanted, error.hint)), error
        return str(error)


@given(WRITTEN)
@example({"duration_s": 1e6})
@example({"duration_s": 5e-324, "warmup_s": 0.0})
@example({"warmup_s": 11.0})
@example({"seed": 2**64 - 1, "tcp": "reno"})
@example({"routing": "\udcff"})
def test_a_scenario_keeps_what_was_written_or_says_what_is_wrong(written: dict[str, Any]) -> None:
    made = outcome(lambda: Scenario.build({**NEEDED, **written}, WHERE))
    if isinstance(made, str):
        assert made.startswith(WHERE)
        return
    for name, value in {**NEEDED, **written}.items():
        short = {"movement": made.movement.file, "traffic": made.traffic.file, "tcp": made.tcp.get("sender")}
        kept = short[name] if name in short and isinstance(value, str) else getattr(made, name)
        assert kept == (made.movement if isinstance(value, dict) and name == "movement" else value)
    assert Scenario.build(made.to_dict(), WHERE) == made
    assert made.changed() == made == pickle.loads(pickle.dumps(made))


CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "everything": {
        "warmup_s": 1.0, "seed": 2**63 - 1, "replication": 3, "routing": "aodv:dyer-2002",
        "profile": "ns-2.35", "tcp": "sack", "mac": {"slot_us": 9},
    },
    "a sender and its parameters": {"tcp": {"sender": "reno-f", "window": 4}},
    "an unknown field": {"durations": 3},
    "an unknown profile": {"profile": "rfx"},
    "an unknown protocol": {"routing": "hwmp"},
    "an unknown set": {"routing": "aodv:dyer"},
    "a set of a protocol without": {"routing": "dsdv:mine"},
    "an unknown sender": {"tcp": "renno"},
    "an unknown parameter": {"mac": {"slot_use": 9}},
    "a section that is none": {"mac": 3},
    "a value out of range": {"mac": {"slot_us": -9}},
    "a text for a number": {"queue": {"packets": "many"}},
    "a time that is none": {"duration_s": float("nan")},
    "no time": {"duration_s": 0.0},
    "a warm-up without an end": {"warmup_s": 11.0},
    "a seed below all": {"seed": -1},
    "a switch for a seed": {"seed": True},
    "no movement file": {"movement": "nothing.tcl"},
    "no traffic file": {"traffic": "nothing.tcl"},
    "files exchanged": {"movement": "chain1.traffic.tcl", "traffic": "chain1.tcl"},
    "a flow of a node that is not there": {"traffic": "chain3.traffic.tcl"},
}  # fmt: skip


def written(case: str) -> dict[str, Any]:
    files = {"movement": "chain1.tcl", "traffic": "chain1.traffic.tcl"}
    fields = {**files, "duration_s": 11.0, **CHANGES[case]}
    return fields | {name: str(NS2 / fields[name]) for name in files}


def from_command_line(fields: dict[str, Any]) -> Scenario:
    options = {name: value for name, value in fields.items() if name not in ("movement", "traffic", "tcp")}
    changes = []
    for name in sections():
        if isinstance(section := options.pop(name, None) or fields.get(name), dict):
            sender = {"tcp": section["sender"]} if "sender" in section else {}
            options |= sender
            changes += [f"{name}.{key}={value}" for key, value in section.items() if key != "sender"]
        elif section is not None:
            options[name] = section
    paths = {name: Path(fields[name]) for name in ("movement", "traffic")}
    return scenario_from(**paths, changes=changes, **options)


@pytest.mark.parametrize("case", CHANGES)
def test_every_way_makes_the_same(case: str, tmp_path: Path) -> None:
    fields, toml = written(case), tmp_path / "s.toml"
    toml.write_text(tomli_w.dumps(fields))
    ways = (
        lambda: Scenario.build(fields, WHERE),
        lambda: Scenario(**fields),
        lambda: Scenario.load(toml),
        lambda: from_command_line(fields),
        lambda: Scenario.build(NEEDED).changed(**fields),
    )
    found = set()
    for way in ways:
        try:
            found.add(way().resolve().hash)
        except InputError as error:
            found.add((error.what, error.found, error.wanted, error.hint))
    assert len(found) == 1


def test_changes_tell_what_they_say() -> None:
    outcomes = {
        case: outcome(lambda case=case: Scenario.build(written(case), WHERE).resolve().hash)
        for case in CHANGES
    }
    assert len(set(outcomes.values())) == len(CHANGES)


def test_the_fields_of_a_scenario_are_those_of_the_core() -> None:
    assert set(own_sections()) < set(Scenario.fields)


def test_a_scenario_does_not_change() -> None:
    scenario = Scenario.build(NEEDED)
    with pytest.raises(AttributeError, match="does not change"):
        scenario.seed = 2
    scenario.tcp["sender"] = "sack"
    assert Scenario.build(NEEDED).tcp == {}


def test_a_scenario_describes_its_fields() -> None:
    for name, field in Scenario.fields.items():
        assert f"    {name}: {field.meaning}" in (Scenario.__doc__ or "").splitlines()
