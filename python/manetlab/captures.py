"""What a run writes for other tools while it goes on: captures for Wireshark, traces in the form of ns-2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from manetlab import __version__
from manetlab.errors import InputError, numbers_below, shown

DISSECTOR = Path(__file__).with_name("manetlab.lua")
"""Shows the formats of this project's own in Wireshark."""

NS2_FORMATS = ("old", "new")
"""The forms of lines that ns-2's traces of wireless nodes have."""


@dataclass(frozen=True)
class Capture:
    """A pcapng capture of a run, which Wireshark and tshark read; docs/captures.md describes it.

    Attributes:
        path: The file, which is written while the run goes on.
        nodes: The nodes that capture; all of them if not given.
        receptions: Also capture what these nodes receive, not only what they transmit.
    """

    path: str | Path
    nodes: Sequence[int] | None = None
    receptions: bool = False

    def for_core(self, nodes: int) -> tuple[str, list[int] | None, bool, str]:
        """The capture as the core takes it, in a network of so many nodes.

        Raises:
            InputError: A node is not there.
        """
        chosen = None if self.nodes is None else sorted(set(_checked_nodes(self.nodes, nodes)))
        return str(self.path), chosen, self.receptions, f"manetlab {__version__}"


@dataclass(frozen=True)
class Ns2Trace:
    """A trace of a run in the form of ns-2's wireless nodes; docs/captures.md describes it.

    Attributes:
        path: The file, which is written while the run goes on.
        format: ``old`` or ``new``: the form of its lines.
    """

    path: str | Path
    format: str = "old"

    def for_core(self) -> tuple[str, bool]:
        """The trace as the core takes it.

        Raises:
            InputError: Unknown format.
        """
        if self.format not in NS2_FORMATS:
            hint = "ns-2 writes the old one unless its script says use-newtrace"
            wanted = " or ".join(NS2_FORMATS)
            raise InputError("no such format of ns-2's traces", "format", shown(self.format), wanted, hint)
        return str(self.path), self.format == "new"


def as_capture(wanted: str | Path | Capture | None) -> Capture | None:
    """A capture, of which the path may stand for the whole."""
    return Capture(wanted) if isinstance(wanted, str | Path) else wanted


def as_trace(wanted: str | Path | Ns2Trace | None) -> Ns2Trace | None:
    """A trace, of which the path may stand for the whole."""
    return Ns2Trace(wanted) if isinstance(wanted, str | Path) else wanted


def _checked_nodes(wanted: Iterable[int], count: int) -> list[int]:
    nodes = list(wanted)
    if not nodes:
        hint = "leave the nodes out to capture at all of them"
        raise InputError("the capture has no node", "nodes of the capture", "none", "at least one", hint)
    for node in nodes:
        if isinstance(node, bool) or not isinstance(node, int) or not 0 <= node < count:
            found, wanted_nodes = shown(node), numbers_below(count)
            hint = "nodes are numbered from 0"
            raise InputError("the node does not exist", "nodes of the capture", found, wanted_nodes, hint)
    return nodes
