"""Where a scenario's movement and traffic come from: the tables that a user writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from manetlab import _core, flows, parameters
from manetlab.input_tables import (
    REQUIRED,
    Field,
    InputTable,
    Place,
    checked_table,
    choice,
    flag,
    integer,
    joined,
    list_of,
    number,
    refuse,
    row,
    section,
    table,
    text,
)

MAX_NODES = flows.MAX_NODES
LATEST_S = _core.MAX_TIME_S
"""Latest time of a scenario, in s."""
FARTHEST_M = 1e7
"""Largest distance and coordinate, in m."""
MOST_FILES = 1_000_000
"""The largest number of a movement file."""
ABOUT_FILES = ("number", "cycle")
WITH_HEIGHTS = ("file", "files", "tracks")
"""The sources of movement that may have heights."""
"""Fields of the movement that say which of its files is taken."""
SLOWEST_MPS, NARROWEST_M = 1e-3, 1.0
"""Lowest speed, in m/s, and smallest extent of an area, in m, of nodes that move within areas."""


class Chain(InputTable):
    """Nodes in a line."""

    nodes: int = integer("Number of nodes.", 1, MAX_NODES)
    spacing_m: float = number("Distance between neighbours, in m.", 0, FARTHEST_M, "m", 200.0, above=True)


class Grid(InputTable):
    """Nodes in a grid, numbered along the rows."""

    columns: int = integer("Nodes to the east.", 1, MAX_NODES)
    rows: int = integer("Nodes to the north.", 1, MAX_NODES)
    spacing_m: float = number("Distance between neighbours, in m.", 0, FARTHEST_M, "m", 200.0, above=True)

    def _check(self, place: Place) -> None:
        if (nodes := self.columns * self.rows) > MAX_NODES:
            hint = "the number of nodes is columns × rows"
            refuse(place, nodes, f"at most {MAX_NODES} nodes", hint)


class Areas(InputTable):
    """Sources, sinks and forwarders, numbered in this order, in areas one hop apart, drawn from the seed."""

    sources: int = integer("Number of sources.", 1, MAX_NODES)
    sinks: int = integer("Number of sinks.", 1, MAX_NODES)
    forwarders: int = integer(
        "Number of forwarders; they take turns in the bands between the ends.", 1, MAX_NODES
    )
    hops: int = integer("Hops from a source to a sink: one more than there are bands.", 2, MAX_NODES, 3)
    spacing_m: float = number(
        "Distance between the middles of neighbouring areas, in m.", 0, FARTHEST_M, "m", 200.0, above=True
    )
    height_m: float = number("Extent of the areas from south to north, in m.", 0, FARTHEST_M, "m", 100.0)
    end_width_m: float = number(
        "Extent of the areas of sources and sinks from west to east, in m.", 0, FARTHEST_M, "m", 10.0
    )
    band_width_m: float = number(
        "Extent of a band of forwarders from west to east, in m.", 0, FARTHEST_M, "m", 20.0
    )
    speed_mps: float = number(
        "Speed at which each node walks to and fro within its area, in m/s; at 0 all stand still.",
        0, 1000.0, "m/s", 0.0,
    )  # fmt: skip

    def _check(self, place: Place) -> None:
        if (nodes := self.sources + self.sinks + self.forwarders) > MAX_NODES:
            hint = "the number of nodes is sources + sinks + forwarders"
            refuse(place, nodes, f"at most {MAX_NODES} nodes", hint)
        if self.forwarders < self.hops - 1:
            wanted, hint = f"{self.hops - 1} or more", "each of the bands between the ends needs a node"
            refuse(place.at("forwarders"), self.forwarders, wanted, hint)
        if self.speed_mps:
            self._check_movement(place)

    def _check_movement(self, place: Place) -> None:
        """Checks that nodes can walk at their speed in their areas."""
        if self.speed_mps < SLOWEST_MPS:
            hint = "at 0 all nodes stand still"
            refuse(place.at("speed_mps"), self.speed_mps, f"0, or {SLOWEST_MPS:g} m/s or more", hint)
        for name in ("height_m", "end_width_m", "band_width_m"):
            if (extent_m := getattr(self, name)) < NARROWEST_M:
                wanted = f"{NARROWEST_M:g} m or more where nodes move"
                refuse(place.at(name), extent_m, wanted, "nodes need room to walk in, or speed_mps = 0")


def _coordinate(meaning: str) -> Field:
    coordinate: Field = number(meaning, -FARTHEST_M, FARTHEST_M, "m")
    return coordinate


PLACE = row(
    "Where a node is, in m.",
    (_coordinate("Metres to the east."), _coordinate("Metres to the north.")),
    "a position [x, y] in m",
)


def _column(meaning: str, low: float, high: float, unit: str, default: Any = REQUIRED) -> Any:
    """A field with a long list of numbers: looked at as a whole, as there may be millions."""

    def take(written: object, place: Place, hint: str) -> list[float]:
        if not isinstance(written, list) or not written:
            refuse(place, written, "a list of numbers", hint)
        for index, each in enumerate(written):
            is_number = isinstance(each, int | float) and not isinstance(each, bool)
            if not is_number or not low <= each <= high:
                refuse(place.at(index), each, f"a number from {low:g} to {high:g} {unit}", hint)
        return [float(each) for each in written]

    return Field(meaning, take, default, unit)


PRESENCE = row(
    "From when until when a node is there, in s.",
    (number("When it joins.", 0, LATEST_S, "s"), number("When it leaves.", 0, LATEST_S, "s")),
    "a pair of times [from, until] in s",
)


class Track(InputTable):
    """Where one node was seen and when: it goes straight on between samples."""

    label: str = text("The name of the node in tables, replays and captures.")
    t_s: list[float] = _column("The times of the samples, increasing, in s.", 0, LATEST_S, "s")
    x_m: list[float] = _column("Metres to the east at these times.", -FARTHEST_M, FARTHEST_M, "m")
    y_m: list[float] = _column("Metres to the north at these times.", -FARTHEST_M, FARTHEST_M, "m")
    z_m: list[float] | None = _column("Heights at these times, in m.", -FARTHEST_M, FARTHEST_M, "m", None)
    present_s: list[tuple[float, float]] | None = list_of(
        "When the node is there, as pairs [from, until] in s; always if not given.", PRESENCE, default=None
    )

    def _check(self, place: Place) -> None:
        for name in ("x_m", "y_m", "z_m"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.t_s):
                wanted = f"as many as times, {len(self.t_s)}"
                refuse(place.at(name), f"{len(column)} values", wanted, "one value a sample")


def _model(kind: str, name: str) -> Any:
    """The field with the parameters of a movement model."""
    return section(
        f"{kind} movement made from the seed; its parameters are those of the section {name} "
        "(`manetlab docs parameters` lists them).",
        None,
    )


class MovementSource(InputTable):
    """Where the nodes are and where they go: exactly one of these."""

    file: str | None = text("A movement file, such as ns-2's (setdest).", None)
    files: list[str] | None = list_of(
        "Movement files, one a replication: names, or patterns such as tracks-*.movements, whose files are "
        "taken in natural order.",
        text("The name of a movement file, or a pattern."),
        least=1,
        default=None,
    )
    tracks: list[Track] | None = list_of(
        "Where each node was seen and when; what is in a file has its name in `file`.",
        table("The track of a node.", Track),
        least=1,
        default=None,
    )
    waypoint: dict[str, Any] | None = section(
        "Random waypoint movement made from the seed; its parameters are those of the section waypoint "
        "(`manetlab scenario generate --help` lists them).",
        None,
    )
    gauss_markov: dict[str, Any] | None = _model("Gauss-Markov", "gauss_markov")
    angular_gauss_markov: dict[str, Any] | None = _model("BonnMotion's Gauss-Markov", "angular_gauss_markov")
    rpgm: dict[str, Any] | None = _model("Reference point group", "rpgm")
    manhattan: dict[str, Any] | None = _model("Manhattan", "manhattan")
    random_direction: dict[str, Any] | None = _model("Random direction", "random_direction")
    random_walk: dict[str, Any] | None = _model("Random walk", "random_walk")
    conference: dict[str, Any] | None = _model("Conference", "conference")
    event: dict[str, Any] | None = _model("Event", "event")
    disaster: dict[str, Any] | None = _model("Disaster", "disaster")
    disaster_area: dict[str, Any] | None = _model("Disaster area", "disaster_area")
    positions: list[tuple[float, float]] | None = list_of(
        "Nodes that do not move: a list of [x, y] in m.", PLACE, least=1, default=None
    )
    chain: Chain | None = table("Nodes in a line.", Chain, None)
    grid: Grid | None = table("Nodes in a grid.", Grid, None)
    areas: Areas | None = table("Sources, forwarders and sinks in areas one hop apart.", Areas, None)
    number: int | None = integer(
        "Which of the files is taken, from 0; if not given, that of the replication.", 0, MOST_FILES, None
    )
    cycle: bool = flag(
        "Whether files are taken again from the first on where there are fewer than replications; these are "
        "then no new networks.",
        False,
    )

    flat: bool = flag(
        "Leaves out the heights of a file or of tracks: all antennas are then at radio.antenna_height_m over "
        "a flat field.",
        False,
    )

    @property
    def drawn(self) -> tuple[str, dict[str, Any]] | None:
        """The movement model that movement is drawn from, with the parameters that are given."""
        for model in parameters.movement_schema():
            given: dict[str, Any] | None = getattr(self, model)
            if given is not None:
                return model, given
        return None

    def _check(self, place: Place) -> None:
        ways = [name for name in self.fields if name not in (*ABOUT_FILES, "flat")]
        given = [name for name in ways if getattr(self, name) is not None]
        if len(given) != 1:
            wanted = f"exactly one of {', '.join(ways)}"
            refuse(place, ", ".join(given) or "none of them", wanted, "the movement of the nodes")
        for name in ABOUT_FILES:
            if name in self._given and getattr(self, name) is not None and self.files is None:
                refuse(
                    place.at(name), getattr(self, name), f"{name} only beside files", "give movement.files"
                )
        if self.flat and all(getattr(self, name) is None for name in WITH_HEIGHTS):
            wanted = f"flat only beside {', '.join(WITH_HEIGHTS)}"
            refuse(place.at("flat"), self.flat, wanted, "other movement has no heights")
        if self.tracks is not None:
            counts = Counter(track.label for track in self.tracks)
            if (twice := next((each for each, count in counts.items() if count > 1), None)) is not None:
                refuse(place.at("tracks"), twice, "labels that differ", "one track a node")


_LINK_RATE_FIELDS = {
    "src": integer("The node that sends.", 0, MAX_NODES - 1),
    "dst": integer(
        "Its neighbour; if not given, all for which it has no other rate.", 0, MAX_NODES - 1, None
    ),
    "rate_bps": number("The rate, one of those of `mac.standard`.", 1e6, 54e6, "bit/s"),
}
LINK_RATE = Field(
    "The rate of a node's unicast data frames.",
    lambda written, place, hint: checked_table(written, _LINK_RATE_FIELDS, place, hint),
)


_NODE_RADIO_FIELDS = {
    "node": integer("The node.", 0, MAX_NODES - 1),
    "transmit_power_w": number("Its transmitted power.", 1e-9, 1e3, "W", None),
    "antenna_gain": number("The gain of its antenna, linear.", 0.001, 1e4, "", None),
    "antenna_height_m": number(
        "The height of its antenna; decides with two-ray ground only.", 0.01, 1000, "m", None
    ),
}
NODE_RADIO = Field(
    "The radio of one node, where it differs from that of all.",
    lambda written, place, hint: checked_table(written, _NODE_RADIO_FIELDS, place, hint),
)
MOST_WALL_DB, MOST_WALLS = 300, 200_000
_CORNER = row(
    "A corner.",
    (
        number("Metres to the east.", -FARTHEST_M, FARTHEST_M, "m"),
        number("Metres to the north.", -FARTHEST_M, FARTHEST_M, "m"),
    ),
    "a pair [x, y] in m",
)
WALL_LOSSES = {
    "db": number("What each crossing costs.", 0, MOST_WALL_DB, "dB", 0.0),
    "db_per_m": number("What each metre inside a building costs.", 0, MOST_WALL_DB, "dB", 0.0),
    "opaque": flag("Does nothing come through?", False),
}
_WALL_FIELDS = {
    "points": list_of("Its corners, as pairs [x, y] in m.", _CORNER, 2),
    "building": flag("Does a wall lead from the last corner to the first?", False),
    **WALL_LOSSES,
}
_WALL_FILE_FIELDS = {
    "file": text("A file of GeoJSON: lines are walls, polygons buildings."),
    "corner": row(
        "Which place is at (0, 0); if not given, that of the movement's file if that is in degrees, or else "
        "the south-west corner of the walls.",
        (number("Longitude.", -180, 360, "°"), number("Latitude.", -90, 90, "°")),
        "a pair [longitude, latitude] in degrees",
    ),
    **WALL_LOSSES,
}
WALL = Field(
    "A wall, or with `building` a building.",
    lambda written, place, hint: checked_table(written, _WALL_FIELDS, place, hint),
)
_LISTED_WALLS = list_of("Walls and buildings one by one.", WALL, most=MOST_WALLS)


def _walls(written: object, place: Place, hint: str) -> list[dict[str, Any]] | dict[str, Any]:
    """Walls one by one, or the file that has them."""
    if isinstance(written, Mapping):
        optional = {**_WALL_FILE_FIELDS, "corner": replace(_WALL_FILE_FIELDS["corner"], default=None)}
        return checked_table(written, optional, place, hint)
    taken: list[dict[str, Any]] = _LISTED_WALLS.take(written, place, hint)
    return taken


WALLS: Any = Field(
    "Walls and buildings, which take from signals that cross them: one by one, or with `file` from GeoJSON.",
    _walls,
    default=None,
)


MOST_FAILURES = 100_000
_FAILURE_FIELDS = {
    "node": integer("The node that fails.", 0, MAX_NODES - 1, None),
    "area": list_of(
        "The corners of an area, as pairs [x, y] in m: all nodes inside fail.", _CORNER, 3, None, most=1000
    ),
    "kind": choice(
        "radio-off: the node neither sends nor hears. crash: and when it is back it has forgotten all.",
        "radio-off",
        "crash",
        default="radio-off",
    ),
    "at_s": number("When.", 0, LATEST_S, "s", None),
    "for_s": number("For how long; if not given, for good.", 0, LATEST_S, "s", None, above=True),
    "up_mean_s": number("By chance: the mean time up.", 1e-3, LATEST_S, "s", None),
    "down_mean_s": number("By chance: the mean time down.", 1e-3, LATEST_S, "s", None),
    "nodes": list_of(
        "By chance: the nodes that fail; if not given, all.", integer("A node.", 0, MAX_NODES - 1), 1, None
    ),
    "distribution": choice(
        "By chance: how times are distributed.", "exponential", "fixed", default="exponential"
    ),
}
_BY_CHANCE = ("down_mean_s", "nodes", "distribution")


def _failure(written: object, place: Place, hint: str) -> dict[str, Any]:
    """A failure that is of one kind: of a node, of an area, or by chance."""
    taken = checked_table(written, _FAILURE_FIELDS, place, hint)
    given = {name for name, value in taken.items() if value is not None}
    ways = sorted(given & {"node", "area", "up_mean_s"})
    if len(ways) != 1:
        refuse(place, ", ".join(ways) or "none of them", "exactly one of node, area and up_mean_s", hint)
    is_by_chance = ways == ["up_mean_s"]
    needed = "down_mean_s" if is_by_chance else "at_s"
    if needed not in given:
        refuse(place.at(needed), "nothing", f"{needed} beside {ways[0]}", hint)
    for name in ("at_s", "for_s") if is_by_chance else _BY_CHANCE:
        if isinstance(written, Mapping) and name in written:
            refuse(place.at(name), written[name], f"no {name} beside {ways[0]}", hint)
    return {name: value for name, value in taken.items() if name in given}


FAILURE = Field("A node, or nodes, whose radio is off for a time.", _failure)


CURRENTS_A: Mapping[str, Mapping[str, float]] = {
    "wavelan": {"voltage_v": 4.74, "tx_a": 0.28, "rx_a": 0.204, "busy_a": 0.178, "idle_a": 0.178},
    "ns-3": {"voltage_v": 3.0, "tx_a": 0.38, "rx_a": 0.313, "busy_a": 0.273, "idle_a": 0.273},
}
"""Voltages and currents of radios: a WaveLAN card at 2 Mb/s (Feeney and Nilsson, INFOCOM 2001), ns-3's."""


def _current(meaning: str) -> Any:
    return number(f"{meaning}; if not given, as `radio` says.", 0, 1000, "A", None)


class EnergySource(InputTable):
    """What radios take from their batteries."""

    radio: str = choice(
        "Whose voltage and currents these are, unless others are given.", *CURRENTS_A, default="wavelan"
    )
    voltage_v: float | None = number("The voltage; if not given, as `radio` says.", 0.1, 1000, "V", None)
    tx_a: float | None = _current("The current while a radio transmits")
    rx_a: float | None = _current("While it receives")
    busy_a: float | None = _current("While it senses a frame that it does not receive")
    idle_a: float | None = _current("While it does nothing else")
    battery_j: float | None = number(
        "What the battery of each node holds; if not given, it has no end.", 1e-6, 1e12, "J", None
    )

    def in_core(self) -> dict[str, float]:
        """The same as the core has it, every value given."""
        given = {name: getattr(self, name) for name in (*CURRENTS_A[self.radio], "battery_j")}
        return {**CURRENTS_A[self.radio], **{name: each for name, each in given.items() if each is not None}}


_WIRED_LINK_FIELDS = {
    "nodes": list_of("Its two ends.", integer("A node.", 0, MAX_NODES - 1)),
    "rate_bps": number("Its rate in each direction.", 1e3, 1e12, "bit/s"),
    "delay_s": number("The time that a bit takes to the other end.", 0, 10, "s"),
    "queue_packets": integer("How many packets may wait at each end.", 0, 1_000_000, 50),
}


def _wired_link(written: object, place: Place, hint: str) -> dict[str, Any]:
    link = checked_table(written, _WIRED_LINK_FIELDS, place, hint)
    if len(link["nodes"]) != 2:
        refuse(place.at("nodes"), link["nodes"], "two nodes", hint)
    return link


WIRED_LINK = Field(
    "A link between two nodes that is not the radio's: full duplex, without loss.", _wired_link
)


class RandomTraffic(InputTable):
    """Flows between random nodes, drawn from the seed's traffic stream.

    TCP, ADP and video flows and calls have all different end points; as many flows of one of these kinds
    alone have those that the others would have. Those of the CBR flows are as ``cbr_ends`` says.
    """

    tcp: int = integer("Number of endless TCP flows.", 0, MAX_NODES // 2, 0)
    adp: int = integer("Number of endless ADP flows.", 0, MAX_NODES // 2, 0)
    video: int = integer("Number of video flows.", 0, MAX_NODES // 2, 0)
    video_transport: str = choice(
        "The transport of the video: udp, adp or tcp.", "udp", "adp", "tcp", default="udp"
    )
    calls: int = integer(
        "Number of calls between two nodes, each of two voice flows, one in each direction.",
        0, MAX_NODES // 2, 0,
    )  # fmt: skip
    call_codec: str = flows.like("What codes the speech of the calls.", "voice", "codec", "g711-plc")
    cbr: int = integer("Number of CBR flows.", 0, MAX_NODES, 0)
    tcp_start_s: float | None = number(
        "When the TCP, ADP and video flows and the calls begin, in s; with the measurement if not given.",
        0, LATEST_S, "s", None,
    )  # fmt: skip
    tcp_start_within_s: float | None = number(
        "These flows begin at uniformly drawn times within this from then, in s, so not in "
        "step; if not given, 1 s, or 0 if tcp_start_s is given or network.start_jitter_ms is 0.",
        0, LATEST_S, "s", None,
    )  # fmt: skip
    cbr_bytes: int = flows.like("Payload of a CBR packet.", "cbr", "bytes", 512)
    cbr_interval_s: float = flows.like(
        "Time between the packets of a CBR flow, in s.", "cbr", "interval_s", 0.25
    )
    cbr_start_within_s: float | None = number(
        "CBR flows begin at uniformly drawn times from 0 to this, in s; if not given, 20 s, or the run's "
        "duration where that is shorter.",
        0, LATEST_S, "s", None,
    )  # fmt: skip
    cbr_within_hops: int | None = integer(
        "CBR flows go to a node that is at most this many hops away when the run begins, by a shortest path "
        "over links that the radio can receive over; if not given, to any node.",
        1, 255, None,
    )  # fmt: skip
    cbr_ends: str = choice(
        "any: a CBR flow goes from any node to any other. distinct-pairs: and no two of them have the same "
        "source and destination. apart: all flows, of whatever kind, have all different end points; if all "
        "are CBR, they have those that as many TCP flows would have.",
        "any", "distinct-pairs", "apart", default="any",
    )  # fmt: skip

    late_after_s: float | None = flows.like(
        "The age at which a datagram of CBR, ADP, video and voice flows counts as lost on arrival, in s.",
        "cbr", "late_after_s", None,
    )  # fmt: skip
    deadline_ms: float | None = flows.like(
        "The deadline of the datagrams of CBR, ADP, video and voice flows, in ms.", "cbr", "deadline_ms", None
    )
    hops: int | None = integer(
        "The shortest path of each TCP, ADP and video flow and call, and of each CBR flow if cbr_ends is "
        "apart, keeps this many hops in the measurement window: the first draw of the movement in which "
        "enough pairs of nodes do, or pairs of a movement that is not drawn. Selected scenarios are not a "
        "random sample.",
        1, 255, None,
    )  # fmt: skip
    hops_share: float = number(
        "The least share of the measurement window for which paths have hops hops.", 0, 1, "", 1.0, above=True
    )
    hops_draws: int = integer(
        "After how many draws the search for paths that keep their hops ends.", 1, 100_000_000, 10_000
    )

    def _check(self, place: Place) -> None:
        if self.hops is not None and not self._flows_with_hops:
            wanted = 'flows of kind tcp, adp or video, calls, or cbr with cbr_ends = "apart"'
            refuse(place.at("hops"), self.hops, wanted, "CBR flows may share nodes otherwise")
        if self.cbr_within_hops is not None and self.cbr_ends != "any":
            wanted, hint = 'cbr_within_hops only with cbr_ends = "any"', "omit one of the two"
            refuse(place.at("cbr_ends"), self.cbr_ends, wanted, hint)

    @property
    def _flows_with_hops(self) -> int:
        return self.tcp + self.adp + self.video + self.calls + (self.cbr if self.cbr_ends == "apart" else 0)


class TrafficSource(InputTable):
    """Who talks to whom: exactly one of file, flows and random, or Web sessions, or both."""

    file: str | None = text("A traffic file of ns-2 (cbrgen.tcl).", None)
    flows: list[flows.Flow] | None = joined(
        list_of(
            "The flows one by one.",
            Field("A flow.", lambda written, place, _: flows.copies(written, place)),
            default=None,
        )
    )
    random: RandomTraffic | None = table("Flows between random nodes.", RandomTraffic, None)
    web: dict[str, Any] | None = section(
        "Web sessions: sessions names the file that holds them, or they are drawn from the seed; their "
        "parameters are those of the section web (`manetlab docs parameters`).",
        None,
    )

    def _check(self, place: Place) -> None:
        given = [name for name in ("file", "flows", "random") if getattr(self, name) is not None]
        if len(given) > 1 or (not given and self.web is None):
            wanted = "exactly one of file, flows, random; web can be combined with it or used alone"
            refuse(place, ", ".join(given) or "none of them", wanted, "the flows between nodes")
