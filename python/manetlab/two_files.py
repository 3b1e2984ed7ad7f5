"""The shortest way to a run: ns-2's two files, and values that are right at first sight.

A scenario is checked by pydantic's models, whose import takes longer than a short run. Two names, a few
numbers within bounds, and parameters, which are checked elsewhere, need no model. Most of the time, this is
all that `manetlab run` is given; whatever else, right or wrong, [`Scenario`][manetlab.Scenario] judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import parameters
from manetlab.resolving import (
    DEFAULT_PROFILE,
    DEFAULT_ROUTING,
    DEFAULT_SEED,
    MOST_SECONDS,
    SEEDS,
    Resolved,
    Section,
    is_in_python,
    read_flows,
    read_movement,
    resolve,
)
from manetlab.scenario_data import long_form

if TYPE_CHECKING:
    from manetlab import _core
    from manetlab.scenario import Scenario


FIELDS: Mapping[str, type] = {
    "movement": str,
    "traffic": str,
    "duration_s": float,
    "warmup_s": float,
    "seed": int,
    "replication": int,
    "routing": str,
    "profile": str,
}
"""What may be given beside sections of parameters, and as what."""
NEEDED = {"movement", "traffic", "duration_s"}


@dataclass(frozen=True)
class TwoFiles:
    """A scenario whose movement and traffic are files of ns-2; see [`Scenario`][manetlab.Scenario].

    Attributes:
        written: What it was made of.
        where: What errors name as their place.
        sections: Changed parameters by section and name.
        movement: The name of the movement file.
        traffic: The name of the traffic file.
        duration_s: The length of the run, in s.
        warmup_s: When measurement begins, in s.
        seed: The seed of all random streams.
        replication: The number of the replication.
        routing: The routing protocol, one of the simulator's own; ``PROTOCOL:SET`` names a parameter set.
        profile: The named set of defaults.
    """

    written: Mapping[str, Any]
    where: str
    sections: Mapping[str, Section]
    movement: str
    traffic: str
    duration_s: float
    warmup_s: float = 0.0
    seed: int = DEFAULT_SEED
    replication: int = 0
    routing: str = DEFAULT_ROUTING
    profile: str = DEFAULT_PROFILE

    @property
    def place_of_flows(self) -> str:
        """What errors about flows name as their place."""
        return str(Path(self.traffic))

    @property
    def files(self) -> list[Path]:
        """The files that the movement and the traffic are read from."""
        return [Path(self.movement), Path(self.traffic)]

    def section(self, name: str) -> Section:
        """The changed parameters of a section."""
        return self.sections.get(name, {})

    def make_movement(self) -> _core.Movement:
        """Where the nodes start and go.

        Raises:
            InputError: The file cannot be used.
        """
        return read_movement(Path(self.movement))

    def make_flows(self, movement: _core.Movement, radio: Section) -> list[dict[str, Any]]:  # noqa: ARG002
        """The flows of the traffic file.

        Raises:
            InputError: The file cannot be used.
        """
        return read_flows(Path(self.traffic))

    def resolve(self) -> Resolved:
        """The complete scenario: every parameter's value, every flow, the movement.

        Raises:
            InputError: A file cannot be used, or a name or a value is not allowed.
        """
        return resolve(self)

    def as_scenario(self) -> Scenario:
        """The same with all of a scenario's fields."""
        from manetlab.scenario import Scenario

        return Scenario.build(self.written, self.where)


def two_files(written: Mapping[str, Any], where: str) -> TwoFiles | None:
    """What `Scenario.build` would make of the same, if that can be seen at a glance; None if it cannot.

    Args:
        written: The fields of the scenario.
        where: What errors name as their place.
    """
    known = parameters.own_sections()
    sections = {key: long_form(key, value) for key, value in written.items() if key in known}
    fields = {key: value for key, value in written.items() if key not in known}
    if not (fields.keys() >= NEEDED and all(_is_plain(*field) for field in fields.items())):
        return None
    tables = {key: section for key, section in sections.items() if isinstance(section, dict)}
    made = TwoFiles(written, where, tables, **fields)
    times_fit = 0 <= made.warmup_s < made.duration_s <= MOST_SECONDS
    seeds_fit = 0 <= made.seed < SEEDS and 0 <= made.replication < SEEDS
    is_here = len(tables) == len(sections) and not is_in_python(made)
    return made if times_fit and seeds_fit and is_here else None


def _is_plain(name: str, value: object) -> bool:
    """Whether a field has its own type exactly; texts hold nothing that only looks like text."""
    return type(value) is FIELDS.get(name) and (not isinstance(value, str) or value.isprintable())
