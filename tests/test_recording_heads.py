"""Recordings are sent around: whatever a head says, it is read or refused."""

from __future__ import annotations

import copy
import json
import random
import struct
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import InputError, recorded_head, recording
from manetlab.replay import recorded
from tests.conftest import Cli

HOSTILE: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        1,
        2**31,
        10**12,
        10**400,
        -5.0,
        1e300,
        float("nan"),
        float("inf"),
        "x",
        "",
        "é" * 2000,
    ),
    *([], [1], [None], ["x", 1], [[1]], {}, {"x": 1}, [{}], {"nodes": 5}, {"params": [1]}),
)
NAMED: dict[str, dict[str, Any]] = {
    "duration as text": {"duration_s": "x"},
    "no duration": {"duration_s": None},
    "duration as a list": {"duration_s": [1]},
    "a long duration": {"duration_s": 1e300},
    "many nodes": {"nodes": 10**9},
    "flows as text": {"flows": "abc"},
    "flows as numbers": {"flows": [1, 2]},
    "filter as text": {"filter": "x"},
    "nodes of the filter": {"filter": {"nodes": 5}},
    "time of the filter": {"filter": {"from_s": "a"}},
    "provenance as text": {"provenance": "x"},
    "parameters as a list": {"provenance": {"scenario": {"params": [1]}}},
    "TCP as text": {"provenance": {"scenario": {"params": {"tcp": "x"}}}},
    "no tables": {"tables": []},
    "tables of nothing": {"tables": [1, "x"]},
    "tables without columns": {"tables": [{"name": "event", "id": 1}]},
    "a large map": {"bounds_m": [0, 0, 1e308, 1e308]},
    "bounds as text": {"bounds_m": ["a", None, 1, 2]},
    "bounds turned over": {"bounds_m": [5, 5, 1, 1]},
    "range as text": {"receive_range_m": "x"},
    "destinations": {"destinations": [10**9, -5, "x"]},
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("recordings") / "good.mlrec"
    manetlab.run(
        duration_s=3.0,
        movement={"chain": {"nodes": 4}},
        traffic={"random": {"cbr": 1, "tcp": 1}},
        record=path,
    )
    return path.read_bytes()


def head_of(content: bytes) -> dict[str, Any]:
    stored = struct.unpack_from("<I", content, 20)[0]
    head: dict[str, Any] = json.loads(zlib.decompress(content[32 : 32 + stored]))
    return head


def with_head(content: bytes, head: Any) -> bytes:
    """The same recording with another head, cut before its index, whose places are others then."""
    text = json.dumps(head).encode()
    stored = zlib.compress(text)
    made = content[:16] + struct.pack("<4sIII", b"HEAD", len(stored), len(text), zlib.crc32(stored)) + stored
    at = 32 + struct.unpack_from("<I", content, 20)[0]
    while content[at : at + 4] != b"INDX":
        size = 16 + struct.unpack_from("<I", content, at + 4)[0]
        made, at = made + content[at : at + size], at + size
    return made


def use(path: Path) -> None:
    """All that reads a recording."""
    opened = recording.open(path)
    for kind in recording.KINDS:
        opened.events(kind)
    for of in (
        lambda: opened.state(2.0),
        lambda: opened.movement,
        lambda: opened.index,
        lambda: opened.flows,
    ):
        of()


def read_or_refused(what: Callable[[], Any]) -> bool:
    try:
        what()
    except InputError:
        return False
    return True


def test_a_good_recording_is_read(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.mlrec"
    path.write_bytes(with_head(good, head_of(good)))
    use(path)
    recorded.note(recorded.read(path), "r")


@pytest.mark.parametrize("name", NAMED)
def test_a_hostile_head_is_refused(good: bytes, tmp_path: Path, name: str) -> None:
    path = tmp_path / "r.mlrec"
    path.write_bytes(with_head(good, {**head_of(good), **NAMED[name]}))
    assert not read_or_refused(lambda: use(path))
    if name != "no tables":
        assert not read_or_refused(lambda: recorded.read(path))


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all values of a head."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, each in inner for place in places(each, (*at, key)))]


def test_any_change_of_a_head_is_read_or_refused(good: bytes, tmp_path: Path) -> None:
    head, draw = head_of(good), random.Random(1)
    everywhere = [place for place in places(head) if place]
    path = tmp_path / "r.mlrec"
    refused = 0
    for number in range(3000):
        changed = copy.deepcopy(head)
        for _ in range(draw.randint(1, 3)):
            *to, last = draw.choice(everywhere)
            inner = changed
            try:
                for key in to:
                    inner = inner[key]
                if draw.random() < 0.2:
                    del inner[last]
                else:
                    inner[last] = draw.choice(HOSTILE)
            except (KeyError, IndexError, TypeError):
                continue
        is_right = read_or_refused(partial(recorded_head.checked, json.loads(json.dumps(changed)), "r"))
        refused += not is_right
        if is_right:
            recorded.note(recorded.Recorded(b"", changed, True, "r"), "r")
            recorded.names([recorded.Recorded(b"", changed, True, "r")] * 2)
        if number % 20 == 0:
            path.write_bytes(with_head(good, changed))
            read_or_refused(lambda: use(path))
    assert 300 < refused < 3000


def test_commands_refuse_a_hostile_recording(good: bytes, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "r.mlrec").write_bytes(with_head(good, {**head_of(good), "duration_s": "x"}))
    for words in (["view", "r.mlrec"], ["recording", "show", "r.mlrec"]):
        made = cli(*words)
        assert made.returncode == 2
        assert "Traceback" not in made.stderr
        assert "duration_s" in made.stderr
