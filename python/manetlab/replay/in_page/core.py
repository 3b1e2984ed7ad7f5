"""`manetlab._core` in a page: the functions that resolving needs, asked of the WebAssembly module.

`crates/wasm/src/calls.rs` is the other half. The page gives the module ``manetlab_host``, whose ``call``
takes a call as JSON and bytes that go with it, and returns 1 or 0 and the answer as JSON. What makes runs,
and protocols in Python, are not here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from manetlab.errors import InputError
from manetlab.files import read_bytes

_host = import_module("manetlab_host")

Pair = tuple[float, float]


def _ask(call: str, *arguments: Any, data: bytes = b"") -> Any:
    """The answer to a call.

    Raises:
        InputError: The core says what is wrong with the scenario.
        KeyError: There is nothing by that name.
        ValueError: The two halves do not fit each other.
    """
    text = _host.call(json.dumps({"call": call, "arguments": arguments}), data)
    answer = json.loads(text[1:])
    if text[0] == "1":
        return answer
    if "told" in answer:
        raise InputError(*answer["told"])
    if "unknown" in answer:
        raise KeyError(answer["unknown"])
    raise ValueError(answer["wrong"])


_constants = _ask("constants")
MAX_NODES: int = _constants["MAX_NODES"]
MAX_TIME_S: float = _constants["MAX_TIME_S"]
# An engine from before this check has none.
VERSION: str = _constants.get("VERSION", "an earlier version")


class _Held:
    """Something in the module's memory, by its number."""

    _facts_of = ""

    def __init__(self, number: int) -> None:
        self._number = number

    def __del__(self) -> None:
        _ask("forget", self._number)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = _ask(self._facts_of, self._number)
        return facts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._facts:
            raise AttributeError(name)
        value = self._facts[name]
        return tuple(value) if name in ("bounds", "samples", "odd", "centre_deg") and value else value


class Movement(_Held):
    """Where the nodes start and go."""

    _facts_of = "facts"

    @property
    def plane(self) -> tuple[Pair, Pair] | None:
        """The plane on which the nodes are, if their source is in degrees."""
        plane = self._facts["plane"]
        return None if plane is None else (tuple(plane[0]), tuple(plane[1]))

    @staticmethod
    def read(data: bytes, name: str) -> Movement:
        """The movement that a file of ns-2 says."""
        return Movement(_ask("read", name, data=data))

    @staticmethod
    def tracks(
        labels: list[str],
        rows: Sequence[Iterable[float] | None],
        present: list[list[Pair]] | None = None,
        name: str = "tracks",
    ) -> Movement:
        """The movement of nodes with these samples: node, time, x, y and, if they are known, heights."""
        columns = [None if column is None else list(column) for column in rows]
        return Movement(_ask("tracks", labels, columns, present or [[] for _ in labels], name))

    @staticmethod
    def fixed(positions: list[Pair]) -> Movement:
        """Nodes that stand still."""
        return Movement(_ask("fixed", positions))

    @staticmethod
    def grid(columns: int, rows: int, spacing_m: float) -> Movement:
        """Nodes in a grid."""
        return Movement(_ask("grid", columns, rows, spacing_m))

    @staticmethod
    def areas(*arguments: Any) -> Movement:
        """Nodes in areas one hop apart."""
        return Movement(_ask("areas", *arguments))

    @staticmethod
    def drawn(model: str, params_json: str, duration_s: float, seed: int, replication: int) -> Movement:
        """Movement of a model."""
        return Movement(_ask("drawn", model, params_json, duration_s, seed, replication))

    def with_failures(
        self, failures_json: str, seed: int, replication: int, duration_s: float, place: str
    ) -> Movement:
        """The same with nodes that fail."""
        arguments = (self._number, failures_json, seed, replication, duration_s, place)
        return Movement(_ask("with_failures", *arguments))

    def flattened(self) -> Movement:
        """The same without heights."""
        return Movement(_ask("flattened", self._number))

    def positions(self, time_s: float) -> list[Pair]:
        """Where the nodes are at a time."""
        return [(x, y) for x, y in _ask("positions", self._number, time_s)]

    def pairs_within_hops(self, params_json: str, hops: int, draws: list[Pair]) -> list[tuple[int, int]]:
        """Pairs of nodes that have so many hops at most between them when the movement begins."""
        return _pairs(_ask("pairs_within_hops", self._number, params_json, hops, draws))

    def in_request(self) -> dict[str, Any]:
        """The movement as the engine's requests have it."""
        made: dict[str, Any] = _ask("in_request", self._number)
        return made


class Tracks(_Held):
    """Tracks before they become a movement."""

    _facts_of = "facts_of_tracks"

    @staticmethod
    def load(
        path: Path,
        name: str,
        sampled: bool = False,
        thin_m: float | None = None,
        bonnmotion: str | None = None,
    ) -> Tracks:
        """The tracks of a file."""
        content = read_bytes(path, "movement file")
        return Tracks(_ask("read_tracks", name, sampled, thin_m, bonnmotion, data=content))

    def movement(self, remarks: list[str]) -> Movement:
        """Where the nodes start and go."""
        return Movement(_ask("movement_of_tracks", self._number, remarks))


def _pairs(found: Iterable[Sequence[int]]) -> list[tuple[int, int]]:
    return [(first, second) for first, second in found]


def schema() -> Any:
    """All parameters."""
    return _ask("schema")


def sections() -> Any:
    """The names of all sections of parameters."""
    return _ask("sections")


def sha256(data: bytes) -> str:
    """SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def flow_schema() -> Any:
    """The fields of flows."""
    return _ask("flow_schema")


def movement_schema() -> Any:
    """The parameters of all movement models."""
    return _ask("movement_schema")


def movement_defaults() -> Any:
    """Their defaults, by model."""
    return _ask("movement_defaults")


def web_schema() -> Any:
    """The parameters of Web sessions."""
    return _ask("web_schema")


def web_defaults() -> Any:
    """Their defaults."""
    return _ask("web_defaults")


def profiles() -> Any:
    """The names of the profiles."""
    return _ask("profiles")


def profile(name: str) -> Any:
    """A profile's parameters."""
    return _ask("profile", name)


def routings() -> Any:
    """The names of the routing protocols."""
    return _ask("routings")


def routing_sets(protocol: str) -> Any:
    """The names of a protocol's parameter sets."""
    return _ask("routing_sets", protocol)


def routing_set(protocol: str, name: str) -> Any:
    """A parameter set."""
    return _ask("routing_set", protocol, name)


def tcp_senders() -> Any:
    """The names of the TCP senders."""
    return _ask("tcp_senders")


def tcp_sender_sets(name: str) -> Any:
    """The names of the parameters that a sender sets."""
    return _ask("tcp_sender_sets", name)


def apply_tcp_sender(name: str, tcp_json: str) -> Any:
    """The section `tcp` changed to a sender."""
    return _ask("apply_tcp_sender", name, tcp_json)


def radio_ranges(params_json: str) -> Any:
    """How far data frames, all frames and carrier sense reach, in m."""
    return _ask("radio_ranges", params_json)


def farthest_link_m(radio_json: str) -> Any:
    """How far any frame can reach, in m."""
    return _ask("farthest_link_m", radio_json)


def read_traffic(data: bytes, name: str) -> Any:
    """The flows of a traffic file of ns-2."""
    return _ask("read_traffic", name, data=data)


def traffic_draws(seed: int, replication: int, count: int) -> Any:
    """Draws for random traffic."""
    return _ask("traffic_draws", seed, replication, count)


def codecs() -> Any:
    """The codecs of speech."""
    return _ask("codecs")


def video_frames(params_json: str, streams: tuple[int, int], flow: int, count: int) -> Any:
    """The first frames of a video flow."""
    return tuple(_ask("video_frames", params_json, streams, flow, count))


def draw_web_sessions(params_json: str, nodes: int, warmup_s: float, seed: int, replication: int) -> Any:
    """Web sessions as flows."""
    return _ask("draw_web_sessions", params_json, nodes, warmup_s, seed, replication)


def plane_of(low: Pair, high: Pair, name: str) -> tuple[Pair, Pair]:
    """The plane for a box of longitudes and latitudes."""
    corner, scale = _ask("plane_of", low, high, name)
    return tuple(corner), tuple(scale)


def track_columns(names: list[str]) -> Any:
    """Which columns of a table of samples hold what."""
    return tuple(_ask("track_columns", names))


def read_script(data: bytes, name: str, files: Mapping[str, bytes], arguments: list[str]) -> Any:
    """What a script of ns-2 says, its movement, and a file that it lacks, with the error for that."""
    texts = {sourced: content.decode("utf-8", "replace") for sourced, content in files.items()}
    said, held, missing = _ask("read_script", name, texts, arguments, data=data)
    lacks = None if missing is None else (missing[0], InputError(*missing[1]))
    return said, None if held is None else Movement(held), lacks


def normalize(scenario_json: str, movement: Movement, place: str) -> Any:
    """The scenario with every value written out, checked."""
    return _ask("normalize", scenario_json, movement._number, place)


def shortest_paths(
    params_json: str,
    rates_json: str,
    wired_json: str,
    around_json: str,
    movement: Movement,
    pairs: list[tuple[int, int]],
    time_s: float,
) -> Any:
    """The nodes of a shortest path for each pair."""
    network = (params_json, rates_json, wired_json, around_json)
    return _ask("shortest_paths", *network, movement._number, pairs, time_s)


def search_drawn(*arguments: Any) -> tuple[int, Movement, list[tuple[int, int]]] | None:
    """The first draw of a movement model in which pairs keep their hops."""
    return _found(_ask("search_drawn", *arguments))


def search_movement(
    movement: Movement, *arguments: Any
) -> tuple[int, Movement, list[tuple[int, int]]] | None:
    """The same among the pairs of one movement."""
    return _found(_ask("search_movement", movement._number, *arguments))


def _found(found: Any) -> tuple[int, Movement, list[tuple[int, int]]] | None:
    return None if found is None else (found[0], Movement(found[1]), _pairs(found[2]))
