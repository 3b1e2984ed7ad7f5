"""Draws of movement in which the flows' shortest paths keep their number of hops.

A search over draws, in the core: `[traffic.random] hops = 3` asks for it. What is found is not a random
sample, and results and reports say so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manetlab import _core, traffic
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.sources import RandomTraffic


@dataclass(frozen=True)
class Selection:
    """What a scenario was selected for, and which draw it is.

    Attributes:
        hops: The number of hops that the flows' shortest paths keep.
        share: For which share of the measurement window at least.
        draw: The number of the draw: 0 is the movement that the seed has without a search.
        pairs: Source and destination of each flow whose path keeps its hops.
    """

    hops: int
    share: float
    draw: int
    pairs: tuple[tuple[int, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """As the resolved scenario records it."""
        return {"hops": self.hops, "hops_share": self.share, "draw": self.draw}

    @property
    def note(self) -> str:
        """What whoever reads results must know."""
        share = "all" if self.share == 1 else f"at least {100 * self.share:g} %"
        return (
            f"selected movement: the first draw in which the flows' shortest paths keep {self.hops} hops for "
            f"{share} of the measurement window (draw {self.draw}); selected scenarios are not a random "
            "sample: above all, the flows' ends are slower than in unselected ones"
        )


Pairs = list[tuple[int, int]]


def find(
    pattern: RandomTraffic,
    source: tuple[str, Mapping[str, Any]] | _core.Movement,
    params: Mapping[str, Any],
    window_s: tuple[float, float],
    streams: tuple[int, int],
    where: str,
) -> tuple[_core.Movement, Selection, Pairs]:
    """The first draw in which pairs of nodes keep the pattern's hops, and the ends of its flows.

    Args:
        pattern: How many flows, and what their paths keep.
        source: A movement model and its parameters, of which draws are made, or a movement that is not drawn,
            of which only the pairs are searched.
        params: The parameters, which say how far a link reaches.
        window_s: The beginning and the end of the measurement window, in s.
        streams: The seed of the run and the number of its replication.
        where: What an error names as its place.

    Raises:
        InputError: No draw fits.
    """
    assert pattern.hops is not None
    share, draws = pattern.hops_share, pattern.hops_draws
    wanted = (pattern.hops, share, traffic.units_of_ends(pattern, streams))
    if isinstance(source, _core.Movement):
        draws = 1
        found = _core.search_movement(source, json.dumps(params), window_s, wanted)
    else:
        model = (source[0], json.dumps(source[1]))
        found = _core.search_drawn(model, json.dumps(params), window_s, streams, wanted, draws)
    if found is None:
        raise _none_found(pattern, window_s, draws, where)
    draw, movement, pairs = found
    return movement, Selection(pattern.hops, share, draw, tuple(pairs)), pairs


def _none_found(pattern: RandomTraffic, window_s: tuple[float, float], draws: int, where: str) -> InputError:
    pairs = len(traffic.units_of_ends(pattern, (0, 0)))
    looked = "the movement" if draws == 1 else f"{draws} draws"
    what = "a pair of nodes" if pairs == 1 else f"{pairs} pairs of nodes without a node in common"
    length_s = window_s[1] - window_s[0]
    wanted = f"{what} with {pattern.hops} hops for {100 * pattern.hops_share:g} % of {length_s:g} s"
    hint = "lower hops_share, raise hops_draws, shorten the run, or slow the nodes"
    place = f"{where}: traffic.random.hops"
    return InputError("no draw keeps its hops", place, f"none in {looked}", wanted, hint)
