"""Schema, profiles and named sets agree with each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab import InputError, _core, parameters

EVERY = [p for known in parameters.schema().values() for p in known.values()]


@pytest.mark.parametrize("name", _core.profiles())
def test_profiles_keep_to_the_schema(name: str) -> None:
    values = parameters.profile(name)
    assert {s: list(v) for s, v in values.items()} == {s: list(v) for s, v in parameters.schema().items()}
    for parameter in EVERY:
        value = values[parameter.section][parameter.name]
        assert parameter.check(value, name) == value


@pytest.mark.parametrize("parameter", EVERY, ids=lambda parameter: parameter.key)
def test_every_parameter_is_explained(parameter: parameters.Parameter) -> None:
    assert parameter.meaning
    assert parameter.source
    assert parameter.kind in ("number", "integer", "boolean", "choice")
    assert (parameter.range is not None) == (parameter.kind in ("number", "integer"))
    assert bool(parameter.choices) == (parameter.kind == "choice")


@given(
    st.sampled_from(EVERY),
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.none())),
)
def test_a_checked_value_is_one_that_the_core_takes(parameter: parameters.Parameter, value: object) -> None:
    try:
        taken = parameter.check(value, "test")
    except InputError as error:
        assert error.wanted == parameter.wanted
        return
    if parameter.range:
        assert parameter.range[0] <= float(taken) <= parameter.range[1]
    assert type(taken) is {"number": float, "integer": int, "boolean": bool, "choice": str}[parameter.kind]


def test_a_difference_is_seen_from_both_sides() -> None:
    rfc, ns2 = parameters.profile("rfc"), parameters.profile("ns-2.35")
    there, back = parameters.diff(rfc, ns2), parameters.diff(ns2, rfc)
    assert [(p, a, b) for p, b, a in back] == there
    assert len(there) > 10


@pytest.mark.parametrize(
    ("protocol", "name"), [(p, name) for p in _core.routings() for name in _core.routing_sets(p)]
)
def test_routing_sets_replace_the_section_of_their_protocol(protocol: str, name: str) -> None:
    before = parameters.profile("rfc")
    after = parameters.apply_routing_set(before, protocol, name, "test")
    assert set(after[protocol]) == set(parameters.schema()[protocol])
    assert {**after, protocol: before[protocol]} == before


@pytest.mark.parametrize("name", _core.tcp_senders())
def test_senders_change_tcp_only(name: str) -> None:
    before = parameters.profile("ns-2.35")
    after = parameters.apply_sender(before, name, "test")
    assert {**after, "tcp": before["tcp"]} == before
    # What it sets is the same from any start, and nothing else is changed.
    sets = parameters.set_by_sender(name)
    changed = {each for each in after["tcp"] if after["tcp"][each] != before["tcp"][each]}
    assert changed <= set(sets)
    other = {**before, "tcp": {each: _another(each, value) for each, value in after["tcp"].items()}}
    again = parameters.apply_sender(other, name, "test")["tcp"]
    assert {each for each in again if again[each] == after["tcp"][each]} == set(sets)


def _another(name: str, value: object) -> object:
    """An allowed value of a TCP parameter that is not this one."""
    parameter = parameters.schema()["tcp"][name]
    match parameter.kind:
        case "boolean":
            return not value
        case "choice":
            return next(choice for choice in parameter.choices if choice != value)
    assert parameter.range is not None
    low, high = parameter.range
    other = high if value == low else low
    return int(other) if parameter.kind == "integer" else other
