"""Scenarios: everything that a run depends on, as a user writes it.

A [`Scenario`][manetlab.Scenario] is what a TOML file, the command line or a Python script says; most of it is
optional. However it is written, it is checked here, by the one list of its fields. `manetlab.resolving` makes
of it what is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import file_kinds, flows, live_page, movement_files, presets, web
from manetlab.errors import InputError, shown
from manetlab.files import parse_toml, printable, read_bytes
from manetlab.input_tables import InputTable, Place, integer, list_of, number, section, table, text
from manetlab.live_page import LivePage
from manetlab.origin import Origin
from manetlab.parameters import PYTHON
from manetlab.resolving import Resolved, resolve, set_by
from manetlab.scenario_data import as_plain, assign, long_form, merged
from manetlab.sources import (
    FAILURE,
    LATEST_S,
    LINK_RATE,
    MOST_FAILURES,
    NODE_RADIO,
    WALLS,
    WIRED_LINK,
    EnergySource,
    MovementSource,
    TrafficSource,
)

if TYPE_CHECKING:
    import pandas as pd

LARGEST_SEED = 2**64 - 1
"""Largest seed and largest number of a replication."""

Section = dict[str, Any]


class Scenario(InputTable):
    """A scenario: movement, traffic, the protocols that every node runs, and the duration.

    Examples:
        >>> import manetlab
        >>> scenario = manetlab.Scenario(
        ...     movement={"waypoint": {"nodes": 20, "width_m": 900.0, "height_m": 300.0, "speed_max": 20.0}},
        ...     traffic={"random": {"cbr": 5, "tcp": 1}},
        ...     duration_s=100.0,
        ...     routing="dsr",
        ... )
        >>> scenario.routing, scenario.seed, scenario.warmup_s
        ('dsr', 1, 0.0)
        >>> result = manetlab.run(scenario)
        >>> result.totals["cbr_sent"] > 1000
        True
    """

    movement: MovementSource = table(
        "Positions and movement of the nodes. A string is the name of an ns-2 file.", MovementSource
    )
    traffic: TrafficSource = table(
        "The flows between nodes. A string is the name of an ns-2 file.", TrafficSource
    )
    rates: list[dict[str, Any]] | None = list_of(
        "Nodes and links whose unicast data frames have a rate of their own, in place of mac.data_rate_bps "
        "and of rate control.",
        LINK_RATE,
        default=None,
    )
    radios: list[dict[str, Any]] | None = list_of(
        "Nodes with another power, antenna gain or height than `radio` has, so that links may go one way.",
        NODE_RADIO,
        default=None,
    )
    walls: list[dict[str, Any]] | dict[str, Any] | None = WALLS
    failures: list[dict[str, Any]] | None = list_of(
        "Nodes whose radios are off for a time, or that crash: by list, by area or by chance.",
        FAILURE,
        default=None,
        most=MOST_FAILURES,
    )
    energy: EnergySource | None = table(
        "What radios take from their batteries; counted only if this is given.", EnergySource, None
    )
    wired: list[dict[str, Any]] | None = list_of(
        "Links between two nodes that are not the radio's; with static routes alone.",
        WIRED_LINK,
        default=None,
    )
    duration_s: float = number("The length of the run, in s.", 0, LATEST_S, "s", above=True)
    warmup_s: float = number("The start of the measurement, in s.", 0, LATEST_S, "s", 0.0)
    seed: int = integer("The seed of all random streams.", 0, LARGEST_SEED, 1)
    replication: int = integer(
        "The number of the replication, part of every stream's name.", 0, LARGEST_SEED, 0
    )
    routing: str = text(
        "aodv, dsdv, dsr, tsr, adv, lunar, olsr, babel, batman, dymo, tora, ssa, abr, zrp, cedar, rip, "
        "flooding or static; PROTOCOL:SET names a parameter set. A protocol in Python is given as its class, "
        "a subclass of manetlab.Routing, or as python:module.Class.",
        "aodv",
    )
    # What the standards say. Nobody is given ns-2's departures from them without asking for them by name.
    profile: str = text("The named set of defaults that all parameters start from.", "rfc")
    radio: Section = section(
        "Changed parameters of the radio channel; also distances in m, powers in dBm, and device, which "
        "names a radio.",
        {},
    )
    mac: Section = section("Changed parameters of the MAC.", {})
    queue: Section = section("Changed parameters of the interface queue.", {})
    arp: Section = section("Changed parameters of address resolution.", {})
    network: Section = section("Changed parameters of IP and link layer.", {})
    tcp: Section = section(
        "Changed parameters of TCP; sender names the sender (reno, tahoe, reno-f, …), and a string alone is "
        "that name.",
        {},
    )
    aodv: Section = section("Changed parameters of AODV.", {})
    dsdv: Section = section("Changed parameters of DSDV.", {})
    dsr: Section = section("Changed parameters of DSR.", {})
    tsr: Section = section("Changed parameters of TSR.", {})
    adv: Section = section("Changed parameters of ADV.", {})
    adp: Section = section("Changed parameters of ADP.", {})
    psp: Section = section("Changed parameters of PSP.", {})
    video: Section = section("Changed parameters of video traffic.", {})
    rtp: Section = section("Changed parameters of RTP.", {})
    throttle: Section = section("Changed parameters of ingress throttling.", {})
    insignia: Section = section("Changed parameters of INSIGNIA.", {})
    lunar: Section = section("Changed parameters of LUNAR.", {})
    olsr: Section = section("Changed parameters of OLSR.", {})
    babel: Section = section("Changed parameters of Babel.", {})
    dymo: Section = section("Changed parameters of DYMO.", {})
    tora: Section = section("Changed parameters of TORA over IMEP.", {})
    ssa: Section = section("Changed parameters of SSA.", {})
    abr: Section = section("Changed parameters of ABR.", {})
    zrp: Section = section("Changed parameters of ZRP.", {})
    batman: Section = section("Changed parameters of B.A.T.M.A.N. IV.", {})
    cedar: Section = section("Changed parameters of CEDAR.", {})
    rip: Section = section("Changed parameters of RIP.", {})
    flooding: Section = section("Changed parameters of flooding.", {})
    python: Section = section("Parameters of a protocol in Python: keyword arguments of its class.", {})

    _where: str
    _origin: Origin
    _live: LivePage | None

    def __init__(self, **written: Any) -> None:
        """The same as `build` with these keys."""
        self.__dict__.update(type(self).build(written).__dict__)

    @classmethod
    def build(
        cls, data: Mapping[str, Any], where: str = "scenario", folder: Path | Origin = Path()
    ) -> Scenario:
        """A scenario from a mapping with the same keys.

        Args:
            data: The keys and values.
            where: What errors name as their place.
            folder: Where the names of files start from; or all that is known of where it comes from.

        Raises:
            InputError: A key is unknown or missing, or a value is not allowed.
        """
        if not isinstance(data, Mapping):
            wanted = "a mapping from fields to values"
            raise InputError("not a scenario", where, shown(data), wanted, "see the fields of Scenario")
        file_kinds.refuse_campaign(data, where)
        file_kinds.refuse_field(data, where, "a scenario")
        given = presets.expanded(as_plain(data), where)
        written = {key: long_form(key, value) for key, value in given.items()}
        for key in ("routing", "profile", "tcp"):
            if isinstance(several := written.get(key), list):
                hint = (
                    f"to compare several, give {key} under [factors] of a campaign: `manetlab docs campaigns`"
                )
                raise InputError(
                    f"a scenario has one {key}", f"{where}: {key}", shown(several), "one name", hint
                )
        # Not a field: it changes no run, so that neither stores nor hashes may have it.
        page = written.pop(live_page.KEY, None)
        live = None if page is None else LivePage.checked(page, Place(where, live_page.KEY))
        made = cls.checked(written, Place(where), "see `manetlab run --help`")
        traffic, origin = _read(made.traffic, where, Origin.of(folder))
        return made._with(traffic=traffic, _where=where, _origin=origin, _live=live)

    def _check(self, place: Place) -> None:
        if self.warmup_s >= self.duration_s:
            found, wanted = f"{self.warmup_s:g} s", f"less than the duration, {self.duration_s:g} s"
            hint = "nothing would be measured"
            raise InputError("the warm-up is not allowed", str(place.at("warmup_s")), found, wanted, hint)

    @classmethod
    def load(
        cls,
        path: str | Path,
        changes: Mapping[str, Any] | None = None,
        assigned: Mapping[str, Any] | None = None,
    ) -> Scenario:
        """A scenario from a TOML file.

        Args:
            path: The file. Names of files within it start from its folder.
            changes: Keys that replace the file's; of a section of parameters, only the parameters named.
            assigned: Single fields by dotted name, ``movement.waypoint.nodes``, set after the changes.

        Raises:
            InputError: The file cannot be read or does not hold a scenario.
        """
        path = Path(path)
        content = read_bytes(path, "scenario file")
        try:
            data = parse_toml(content)
        except UnicodeDecodeError as error:
            hint = "is it a TOML file?"
            raise InputError(
                "the scenario file is not text", str(path), str(error), "TOML in UTF-8", hint
            ) from None
        except (ValueError, RecursionError) as error:
            # A plain ValueError is Python's, of a number with thousands of digits.
            hint = "ns-2 files are given with --movement and --traffic"
            raise InputError("the scenario file is not TOML", str(path), str(error), "TOML", hint) from None
        data = presets.expanded(merged(data, changes or {}), str(path))
        for name, value in (assigned or {}).items():
            data = assign(data, name, value, str(path))
        return cls.build(data, printable(path), Origin(path.parent, (path,)))

    def changed(self, **changes: Any) -> Scenario:
        """The same scenario with other values for some of its fields.

        A section of parameters changes only the parameters that it names.

        Raises:
            InputError: A field is unknown, or a value is not allowed.

        Examples:
            >>> import manetlab
            >>> chain = manetlab.Scenario(
            ...     movement={"chain": {"nodes": 3}}, traffic={"flows": []}, duration_s=9.0, tcp={"window": 4}
            ... )
            >>> changed = chain.changed(seed=7, tcp={"sender": "cubic"})
            >>> changed.seed, dict(changed.tcp)
            (7, {'window': 4, 'sender': 'cubic'})
        """
        changed = Scenario.build(merged(self.to_dict(), changes), self._where, self._origin)
        return changed._with(_live=self._live)

    @property
    def live(self) -> LivePage | None:
        """What the scenario says of its live page, in the table ``[live]``; no run depends on it."""
        return self._live

    @property
    def can_be_drawn_badly(self) -> bool:
        """Whether a replication can be unusable, by its draw or its file, although another is not."""
        if self.movement.files is not None:
            return True
        pattern = self.traffic.random
        if pattern is None:
            return False
        near_ends = self.movement.drawn is not None and pattern.cbr_within_hops is not None
        return near_ends or pattern.hops is not None

    @property
    def is_drawn(self) -> bool:
        """Whether movement or traffic depend on the replication, so that each has its own."""
        sessions_drawn = self.traffic.web is not None and web.SESSIONS not in self.traffic.web
        return self.has_movements or self.traffic.random is not None or sessions_drawn

    @property
    def has_movements(self) -> bool:
        """Whether each replication has a movement of its own: drawn from the seed, or from a file each."""
        source = self.movement
        return source.drawn is not None or source.areas is not None or source.files is not None

    @property
    def alike(self) -> Scenario:
        """The same for all scenarios that differ in nothing but seed and replication."""
        return self._with(seed=0, replication=0)

    def with_seed(self, seed: int) -> Scenario:
        """The same with another seed, from 0 to 2⁶⁴ − 1, which is not checked."""
        return self._with(seed=seed)

    @property
    def files(self) -> list[Path]:
        """The files that movement, traffic and walls are read from, those of all replications."""
        several = self.movement.files
        named = [] if several is None else movement_files.expanded(several, self._where, self._origin)
        one = None if several is not None else self.movement_file
        paths = (*map(self._origin.path, named), one, self.traffic_file, self.walls_file)
        return [path for path in paths if path is not None]

    @property
    def movement_name(self) -> str | None:
        """The name of the file that the movement of this replication is read from, if it is.

        Raises:
            InputError: There are fewer files than replications.
        """
        return movement_files.name_of(self.movement, self.replication, self._where, self._origin)

    @property
    def movement_file(self) -> Path | None:
        """The file that the movement of this replication is read from, if it is.

        Raises:
            InputError: There are fewer files than replications.
        """
        return None if (name := self.movement_name) is None else self._origin.path(name)

    @property
    def traffic_file(self) -> Path | None:
        """The file that the traffic is read from, if it is."""
        return None if self.traffic.file is None else self._origin.path(self.traffic.file)

    @property
    def walls_file(self) -> Path | None:
        """The file that the walls are read from, if they are."""
        return self._origin.path(self.walls["file"]) if isinstance(self.walls, dict) else None

    @property
    def inputs(self) -> list[Path]:
        """All files that the scenario comes from or reads, whose place no output may take."""
        return [*self._origin.sources, *self.files]

    @property
    def origin(self) -> Origin:
        """Where the scenario comes from."""
        return self._origin

    @property
    def where(self) -> str:
        """What errors name as their place."""
        return self._where

    @property
    def is_in_python(self) -> bool:
        """Whether the routing protocol is written in Python."""
        return self.routing.partition(":")[0] == PYTHON

    @classmethod
    def section_names(cls) -> list[str]:
        """The names of all fields that are sections of parameters."""
        return [name for name, field in cls.fields.items() if field.default == {}]

    def _repr_html_(self) -> str:
        """The fields that are given, for notebooks."""
        from manetlab import notebook

        rows = [(name, shown(value)) for name, value in self.to_dict().items()]
        return notebook.table("Scenario", rows, ("field", "value"))

    def positions(self, step_s: float = 1.0) -> pd.DataFrame:
        """Where the nodes are at equally spaced instants.

        Args:
            step_s: Time between two instants, in s.

        Returns:
            Columns: ``time_s``, ``node``, ``x_m``, ``y_m``; one row an instant and node.

        Raises:
            InputError: The scenario cannot be used, or the step is not above 0.
        """
        return self.resolve().positions(step_s)

    def section(self, name: str) -> Section:
        """The changed parameters of a section."""
        section: Section = getattr(self, name)
        return section

    def resolve(self) -> Resolved:
        """The complete scenario: every parameter's value, every flow, the movement.

        Raises:
            InputError: A file cannot be used, or a name or a value is not allowed.
        """
        return resolve(self)

    def set_by(self, section: str, name: str) -> str:
        """What gives a parameter its value: the profile, a named set, or the scenario itself."""
        return set_by(self, section, name)


def _read(source: TrafficSource, where: str, origin: Origin) -> tuple[TrafficSource, Origin]:
    """The same traffic with traces and Web sessions read, so that it no longer depends on their files."""
    changed: dict[str, Any] = {}
    if traces := [flow["file"] for flow in source.flows or [] if "file" in flow]:
        changed["flows"] = [flows.with_packets(flow, origin) for flow in source.flows or []]
        origin = origin.with_sources(*map(origin.path, dict.fromkeys(traces)))
    if source.web is not None:
        changed["web"] = web.given(source.web, where, origin)
        if isinstance(name := source.web.get(web.SESSIONS), str):
            origin = origin.with_sources(origin.path(name))
    return (source._with(**changed) if changed else source), origin
