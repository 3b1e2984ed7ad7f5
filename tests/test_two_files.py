"""The short way to a run does what the long one does, or leaves it to that."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from manetlab import InputError, Scenario
from manetlab.parameters import own_sections
from manetlab.two_files import FIELDS, two_files

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


def outcome(written: dict[str, Any], short: bool) -> str:
    """The hash of the scenario, or what is wrong with it."""
    try:
        made = two_files(written, WHERE) if short else Scenario.build(written, WHERE)
        assert made is not None
        return made.resolve().hash
    except InputError as error:
        return str(error)


@given(WRITTEN)
@example({"duration_s": 1e6})
@example({"duration_s": 5e-324, "warmup_s": 0.0})
@example({"warmup_s": 11.0})
@example({"seed": 2**64 - 1, "tcp": "reno"})
def test_what_is_taken_is_what_a_scenario_would_be(written: dict[str, Any]) -> None:
    for given_fields in (written, {**NEEDED, **written}):
        if (made := two_files(given_fields, WHERE)) is not None:
            scenario = Scenario.build(given_fields, WHERE)
            named = {"movement": scenario.movement.file, "traffic": scenario.traffic.file}
            for name in FIELDS:
                assert getattr(made, name) == named.get(name, getattr(scenario, name))
            assert all(made.section(name) == scenario.section(name) for name in own_sections())
            assert (made.where, made.files) == (scenario.where, scenario.files)
            assert made.place_of_flows == scenario.place_of_flows or not made.traffic
            assert made.as_scenario() == scenario
            assert not scenario.is_in_python


CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "everything": {
        "warmup_s": 1.0, "seed": 2**64 - 1, "replication": 3, "routing": "aodv:dyer-2002",
        "profile": "ns-2.35", "tcp": "sack", "mac": {"slot_us": 9},
    },
    "a sender and its parameters": {"tcp": {"sender": "reno-f", "window": 4}},
    "an unknown profile": {"profile": "rfx"},
    "an unknown protocol": {"routing": "olsr"},
    "an unknown set": {"routing": "aodv:dyer"},
    "a set of a protocol without": {"routing": "dsdv:mine"},
    "an unknown sender": {"tcp": "renno"},
    "an unknown parameter": {"mac": {"slot_use": 9}},
    "a value out of range": {"mac": {"slot_us": -9}},
    "a text for a number": {"queue": {"packets": "many"}},
    "no movement file": {"movement": "nothing.tcl"},
    "no traffic file": {"traffic": "nothing.tcl"},
    "files exchanged": {"movement": "chain1.traffic.tcl", "traffic": "chain1.tcl"},
    "a flow of a node that is not there": {"traffic": "chain3.traffic.tcl"},
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
def test_results_and_errors_are_the_same(case: str, ns2: Path) -> None:
    files = {"movement": "chain1.tcl", "traffic": "chain1.traffic.tcl"}
    written = {**files, "duration_s": 11.0, **CHANGES[case]}
    written |= {name: str(ns2 / written[name]) for name in files}
    assert outcome(written, short=True) == outcome(written, short=False)


def test_changes_tell_what_they_say(ns2: Path) -> None:
    files = {"movement": str(ns2 / "chain1.tcl"), "traffic": str(ns2 / "chain1.traffic.tcl")}
    outcomes = {
        case: outcome({**files, "duration_s": 11.0, **change}, short=True) for case, change in CHANGES.items()
    }
    assert len(set(outcomes.values())) == len(CHANGES)


@pytest.mark.parametrize(
    "change",
    [
        {"duration_s": float("nan")},
        {"duration_s": 0.0},
        {"duration_s": 11},
        {"warmup_s": 11.0},
        {"seed": -1},
        {"seed": True},
        {"seed": 2**64},
        {"routing": "python:a.B"},
        {"movement": {"file": "m"}},
        {"movement": "a\udcff"},
        {"mac": "dcf"},
        {"python": {}},
        {"nothing": 1},
    ],
)
def test_all_else_is_left_to_the_scenario(change: dict[str, Any]) -> None:
    assert two_files(NEEDED, WHERE) is not None
    assert two_files({**NEEDED, **change}, WHERE) is None
    assert all(two_files({k: v for k, v in NEEDED.items() if k != key}, WHERE) is None for key in NEEDED)
