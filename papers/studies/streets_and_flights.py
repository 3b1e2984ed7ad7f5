"""Vehicles on a grid of streets, and drones that fly on: movement files as BonnMotion writes them.

Both are models that surveys describe: Manhattan (Bai, Sadagopan and Helmy 2003), and Gauss-Markov (Camp,
Boleng and Davies 2002), here in three dimensions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from manetlab.files import write_text

Point = tuple[float, ...]
"""A time in s and a place in m: (t, x, y) or (t, x, y, z)."""


@dataclass(frozen=True)
class Streets:
    """A town of square blocks, whose streets are driven at a speed that is drawn anew for each block."""

    vehicles: int
    blocks: tuple[int, int]
    block_m: float
    speed_mps: tuple[float, float]
    wait_share: float
    """How many of the crossings make a vehicle wait."""
    wait_s: float
    """The longest wait."""

    def tracks(self, seed: int, duration_s: float) -> list[list[Point]]:
        """One list of points a vehicle."""
        draw = random.Random(f"streets {seed}")
        return [list(self._drive(draw, duration_s)) for _ in range(self.vehicles)]

    def _drive(self, draw: random.Random, duration_s: float) -> Iterator[Point]:
        at = (draw.randint(0, self.blocks[0]), draw.randint(0, self.blocks[1]))
        ahead = draw.choice(self._ways(at, None))
        now_s = -draw.random() * self.block_m / self.speed_mps[1]
        yield from self._from_start(self._blocks(draw, at, ahead, now_s), duration_s)

    def _blocks(
        self, draw: random.Random, at: tuple[int, int], ahead: tuple[int, int], now_s: float
    ) -> Iterator[Point]:
        """Without an end: the times at which crossings are reached and left."""
        yield (now_s, at[0] * self.block_m, at[1] * self.block_m)
        while True:
            now_s += self.block_m / draw.uniform(*self.speed_mps)
            at = (at[0] + ahead[0], at[1] + ahead[1])
            yield (now_s, at[0] * self.block_m, at[1] * self.block_m)
            if draw.random() < self.wait_share:
                now_s += draw.uniform(0.1, self.wait_s)
                yield (now_s, at[0] * self.block_m, at[1] * self.block_m)
            ahead = self._turn(draw, at, ahead)

    def _turn(self, draw: random.Random, at: tuple[int, int], ahead: tuple[int, int]) -> tuple[int, int]:
        """Straight on at every second crossing, otherwise left or right."""
        ways = self._ways(at, ahead)
        if ahead in ways and (len(ways) == 1 or draw.random() < 0.5):
            return ahead
        return draw.choice([way for way in ways if way != ahead])

    def _ways(self, at: tuple[int, int], ahead: tuple[int, int] | None) -> list[tuple[int, int]]:
        back = None if ahead is None else (-ahead[0], -ahead[1])
        return [
            (x, y)
            for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
            if 0 <= at[0] + x <= self.blocks[0] and 0 <= at[1] + y <= self.blocks[1] and (x, y) != back
        ]

    @staticmethod
    def _from_start(points: Iterator[Point], duration_s: float) -> Iterator[Point]:
        """The part of a drive from time 0 to the end; the vehicle is between two crossings at time 0."""
        for before, after in pairwise(points):
            if after[0] <= 0.0:
                continue
            if before[0] <= 0.0:
                share = -before[0] / (after[0] - before[0])
                yield (0.0, *(b + share * (a - b) for b, a in zip(before[1:], after[1:], strict=True)))
            yield after
            if after[0] >= duration_s:
                return


@dataclass(frozen=True)
class Flights:
    """A box of air, in which drones keep much of their speed, heading and climb."""

    drones: int
    box_m: tuple[float, float]
    height_m: tuple[float, float]
    speed_mps: float
    speed_spread_mps: float
    memory: float
    """How much of speed and angles is kept from second to second, 0 to 1."""

    def tracks(self, seed: int, duration_s: float) -> list[list[Point]]:
        """One list of points a drone, one a second."""
        draw = random.Random(f"flights {seed}")
        return [list(self._fly(draw, duration_s)) for _ in range(self.drones)]

    def _fly(self, draw: random.Random, duration_s: float) -> Iterator[Point]:
        low, high = (0.0, 0.0, self.height_m[0]), (*self.box_m, self.height_m[1])
        place = [draw.uniform(*ends) for ends in zip(low, high, strict=True)]
        heading, climb, speed = draw.uniform(-math.pi, math.pi), 0.0, self.speed_mps
        mean_heading = heading
        for second in range(math.ceil(duration_s) + 1):
            yield (float(second), *place)
            # Near an edge the mean heading points inwards (Camp, Boleng and Davies 2002, 2.4).
            inwards = [_inwards(place[axis], low[axis], high[axis]) for axis in range(3)]
            if inwards[0] or inwards[1]:
                mean_heading = math.atan2(inwards[1], inwards[0])
                heading = mean_heading + math.remainder(heading - mean_heading, math.tau)
            speed = max(0.0, self._next(draw, speed, self.speed_mps, self.speed_spread_mps))
            heading = self._next(draw, heading, mean_heading, 0.8)
            climb = self._next(draw, climb, 0.2 * inwards[2], 0.1)
            step = (math.cos(heading) * math.cos(climb), math.sin(heading) * math.cos(climb), math.sin(climb))
            place = [
                min(max(at + speed * along, least), most)
                for at, along, least, most in zip(place, step, low, high, strict=True)
            ]

    def _next(self, draw: random.Random, value: float, mean: float, spread: float) -> float:
        """The recursion of Gauss and Markov (Liang and Haas 1999)."""
        kept = self.memory
        return kept * value + (1.0 - kept) * mean + math.sqrt(1.0 - kept * kept) * draw.gauss(0.0, spread)


def _inwards(at: float, low: float, high: float) -> float:
    """Where a tenth of the way to an edge is left: 1 from the lower one, −1 from the upper one, else 0."""
    margin = 0.1 * (high - low)
    return 1.0 if at < low + margin else -1.0 if at > high - margin else 0.0


def write(
    tracks: Callable[[int, float], list[list[Point]]], duration_s: float, stem: Path, count: int
) -> None:
    """Writes `count` movement files of BonnMotion's form: `stem`-1.movements and so on."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    for number in range(1, count + 1):
        made = tracks(number, duration_s)
        lines = [" ".join(f"{value:.2f}" for point in track for value in point) for track in made]
        with_heights = len(made[0][0]) == 4
        head = ["#3D"] if with_heights else []
        write_text(stem.with_name(f"{stem.name}-{number}.movements"), "\n".join([*head, *lines]) + "\n")
