"""The head of a recording, and the one check of it: recordings are sent around, and may say anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeGuard

from manetlab import _core
from manetlab.errors import InputError, shown

FARTHEST_M = 1e9
"""No place of a network is farther from its origin, in m; pages draw maps of what a head says."""
LARGEST = 1e18
"""No number in a head is larger."""
LONGEST_TEXT = 1000
"""No name in a head has more letters."""

Check = Callable[[object], bool]


def checked(head: object, where: str) -> dict[str, Any]:
    """The head, if it is one as runs write it; docs/recording.md describes it.

    Args:
        head: The head as it was read.
        where: The file, for errors.

    Raises:
        InputError: Something in it is missing, or is not what it must be.
    """
    if not isinstance(head, dict):
        _refuse(where, "the head", head, "a table")
    for name, (is_right, wanted) in FIELDS.items():
        if not is_right(head.get(name)):
            _refuse(where, name, head.get(name), wanted)
    nodes = head["nodes"]
    labels = head.get("labels")
    if labels is not None and not (_is_list_of(_text)(labels) and len(labels) == nodes):
        _refuse(where, "labels", labels, "a name for each node")
    for flow in head["flows"]:
        for name, (is_right, wanted) in OF_A_FLOW.items():
            if not is_right(flow.get(name)):
                _refuse(where, f"flows, {name}", flow.get(name), wanted)
        for name in ("src", "dst"):
            if not _whole(flow.get(name), nodes - 1):
                _refuse(where, f"flows, {name}", flow.get(name), f"a node from 0 to {nodes - 1}")
    for node in head["destinations"]:
        if not _whole(node, nodes - 1):
            _refuse(where, "destinations", node, f"nodes from 0 to {nodes - 1}")
    for name in ("nodes", "flows", "kinds"):
        if not _optional(_is_list_of(_short))(head["filter"].get(name)):
            _refuse(where, f"filter, {name}", head["filter"].get(name), "a list, or nothing")
    for name in ("from_s", "until_s"):
        if not _optional(_time)(head["filter"].get(name)):
            _refuse(where, f"filter, {name}", head["filter"].get(name), "a time in s, or nothing")
    _check_provenance(head.get("provenance"), where)
    return head


def _refuse(where: str, field: str, found: object, wanted: str) -> NoReturn:
    hint = "the file is damaged, or another program wrote it"
    raise InputError("the recording's head cannot be used", f"{where}: {field}", shown(found), wanted, hint)


def _check_provenance(origin: Any, where: str) -> None:
    if origin is None:
        return
    if not isinstance(origin, Mapping):
        _refuse(where, "provenance", origin, "a table")
    scenario = origin.get("scenario")
    if scenario is None:
        return
    if not isinstance(scenario, Mapping) or not _optional(_text)(scenario.get("routing")):
        _refuse(where, "provenance, scenario", scenario, "a table with the scenario")
    params = scenario.get("params", {})
    if not isinstance(params, Mapping) or not all(isinstance(each, Mapping) for each in params.values()):
        _refuse(where, "provenance, scenario, params", params, "tables of parameters")
    if not _number(params.get("queue", {}).get("packets", 0)):
        _refuse(where, "provenance, scenario, params, queue", params["queue"], "a number of packets")


def _number(value: object) -> TypeGuard[float]:
    # Compared, since a whole number of hundreds of digits cannot be converted.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -LARGEST < value < LARGEST


def _time(value: object) -> bool:
    return _number(value) and 0.0 <= value <= _core.MAX_TIME_S


def _whole(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def _short(value: object) -> bool:
    return _text(value) or _whole(value, 2**32)


def _length(value: object) -> bool:
    return value is None or (_number(value) and abs(value) <= FARTHEST_M)


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _bounds(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 4 or None in value or not all(map(_length, value)):
        return False
    return bool(value[0] <= value[2] and value[1] <= value[3])


def _range(value: object) -> bool:
    return isinstance(value, Mapping) and _number(value.get("rate_bps")) and _length(value.get("range_m"))


def _wall(value: object) -> bool:
    points = value.get("points") if isinstance(value, Mapping) else None
    return isinstance(points, list) and all(
        isinstance(point, list) and len(point) == 2 and None not in point and all(map(_length, point))
        for point in points
    )


def _table(value: object) -> bool:
    columns = value.get("columns") if isinstance(value, Mapping) else None
    return (
        isinstance(value, Mapping)
        and _text(value.get("name"))
        and _whole(value.get("id"), 2**16)
        and isinstance(columns, list)
        and all(
            isinstance(each, Mapping) and _text(each.get("name")) and _text(each.get("type"))
            for each in columns
        )
    )


FIELDS: dict[str, tuple[Check, str]] = {
    "nodes": (lambda value: _whole(value, _core.MAX_NODES), f"a number of nodes up to {_core.MAX_NODES}"),
    "duration_s": (lambda value: _time(value) and value != 0, "a time above 0, in s"),
    "seed": (lambda value: _whole(value, 2**64 - 1), "a seed"),
    "replication": (lambda value: _whole(value, 2**64 - 1), "a number"),
    "routing": (_text, "the name of a protocol"),
    "made_by": (_text, "the program that wrote it"),
    "receive_range_m": (_is_list_of(_range), "a list of ranges, in m"),
    "sense_range_m": (_length, f"a length of at most {FARTHEST_M:g} m"),
    "walls": (_optional(_is_list_of(_wall)), f"a list of walls with corners within {FARTHEST_M:g} m"),
    "bounds_m": (_bounds, f"least and greatest x and y within {FARTHEST_M:g} m, in m"),
    "flows": (_is_list_of(lambda value: isinstance(value, dict)), "a list of flows"),
    "destinations": (lambda value: isinstance(value, list), "a list of nodes"),
    "filter": (lambda value: isinstance(value, dict), "a table"),
    "tables": (_is_list_of(_table), "a list of tables with their columns"),
}
"""What a head must have: whether a value is right, and what it should be."""
OF_A_FLOW: dict[str, tuple[Check, str]] = {
    "id": (lambda value: _whole(value, 2**32), "a number"),
    "kind": (_text, "a kind of flows"),
    "start_s": (_time, "a time in s"),
}
"""The same for a flow."""
