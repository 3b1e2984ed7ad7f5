"""Routing protocols of one's own, in Python: the class to subclass, and how a scenario names one.

docs/add-a-routing-protocol.md builds three of them. `manetlab.examples` has them complete.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from manetlab import _core
from manetlab._core import Packet, Random
from manetlab.errors import InputError, ManetlabError, ProtocolFailed, shown
from manetlab.parameters import PYTHON


class Routing:
    """A routing protocol: one object is one node's state machine.

    Subclass it, define `handle_outgoing` and `handle_incoming`, and give the class to a scenario:
    ``manetlab.run(…, routing=MyProtocol)``. The simulator makes an object for every node, with the scenario's
    table ``python`` as keyword arguments, and calls one of the inputs (``handle_…``) at a time. Within a call
    the object says by actions (`send`, `broadcast`, `deliver`, …) what shall happen; they are carried out in
    their order when the call is over.

    Every packet that comes in must have left by exactly one action, or be kept (`keep`), when the call ends.
    What is wrong with an action is raised in its own line. An exception that leaves an input ends the run: it
    becomes a `manetlab.ProtocolFailed`.

    Data packets can carry a header of the protocol: ``packet.put_header(value, header_bytes)`` puts it on, in
    place of the one there may be, ``packet.remove_header()`` takes it off, and ``packet.header`` is this
    node's copy of its value; None without a header. ``packet.bytes`` counts its length.

    What a node does may depend on nothing but its inputs, its own state, `random`, and the attributes and
    methods here: no clock, no `random` module, no iteration over sets of strings, no state shared by objects.
    Times are seconds since the start of the run.

    Examples:
        A file ``along.py``, whose class sends every packet to the next node of a chain:

        >>> source = '''
        ... import manetlab
        ...
        ... class Along(manetlab.Routing):
        ...     def handle_outgoing(self, packet):
        ...         self.send(packet, self.node + (1 if packet.destination > self.node else -1))
        ...
        ...     def handle_incoming(self, packet, previous_hop):
        ...         if packet.destination == self.node:
        ...             self.deliver(packet)
        ...         else:
        ...             self.handle_outgoing(packet)
        ... '''
        >>> from pathlib import Path
        >>> _ = Path("along.py").write_text(source)
        >>> import manetlab
        >>> flow = {"kind": "cbr", "src": 0, "dst": 3, "start_s": 0.5, "bytes": 512, "interval_s": 0.5}
        >>> result = manetlab.run(
        ...     movement={"chain": {"nodes": 4}},
        ...     traffic={"flows": [flow]},
        ...     duration_s=5.0,
        ...     routing="python:along.Along",
        ... )
        >>> result.totals["cbr_received"]
        9
    """

    takes_back_control: ClassVar[bool] = False
    """Do the protocol's own messages, too, come back by `handle_link_failure`? Otherwise they are dropped."""

    random: Random
    """The node's own random numbers: ``unit()`` on [0, 1), ``uniform(low, high)``, ``below(n)`` below n."""

    _node: _core.Node

    # What is known of the node.

    @property
    def node(self) -> int:
        """The number of this node, from 0."""
        return self._node.id

    @property
    def nodes(self) -> int:
        """How many nodes the network has. A real node would not know."""
        return self._node.nodes

    @property
    def now(self) -> float:
        """The time, in s."""
        return self._node.now

    @property
    def rx_power_w(self) -> float | None:
        """How strong the frame was that brought the packet of this call, in W; None in calls without one.

        It is the power of the frame's first bit, with shadows and fading; `handle_incoming` and
        `handle_overheard` have one, unless the packet came over a wire.
        """
        return self._node.rx_power_w

    @property
    def kept(self) -> list[Packet]:
        """The packets that are kept, in the order in which `keep` was called."""
        return self._node.kept()

    def position(self, node: int | None = None) -> tuple[float, float]:
        """Where a node is now: x and y in m.

        For this node it is what a receiver of satellite navigation would say. For another one it is an
        oracle: a location service without delay, error and cost, which no real network has.

        Args:
            node: The node; this one if not given.

        Raises:
            InputError: Unknown node.
        """
        return self._node.position(node)

    # Inputs.

    def handle_start(self) -> None:
        """The run begins, or the node starts anew after a crash: first deadlines are set here."""

    def handle_connection(self, destination: int, opened: bool, two_way: bool) -> None:
        """A flow of this node begins or is over.

        Args:
            destination: Where its packets go.
            opened: Whether it begins; otherwise it is over.
            two_way: Whether packets come back (TCP).
        """

    def handle_outgoing(self, packet: Packet) -> None:
        """A packet of this node's own transport is to be sent.

        Args:
            packet: The packet; its ``ttl`` is the scenario's ``network.data_ttl``.
        """
        raise NotImplementedError(f"{type(self).__name__} must define handle_outgoing")

    def handle_incoming(self, packet: Packet, previous_hop: int) -> None:
        """A packet has arrived from a neighbour: data to deliver or to send on, or a message of the protocol.

        Args:
            packet: The packet; ``hops`` counts the link just crossed, ``ttl`` does not.
            previous_hop: The neighbour.
        """
        raise NotImplementedError(f"{type(self).__name__} must define handle_incoming")

    def handle_link_failure(self, packet: Packet, next_hop: int) -> None:  # noqa: ARG002 (for subclasses)
        """The MAC, or address resolution, could not bring a packet to a neighbour. Drops it if not defined.

        Args:
            packet: The packet.
            next_hop: The neighbour.
        """
        self.drop(packet, "link-failure")

    def handle_flushed(self, packet: Packet, next_hop: int | None) -> None:  # noqa: ARG002 (for subclasses)
        """A packet that `flush_queue` took out of the interface queue. Drops it if not defined.

        Args:
            packet: The packet.
            next_hop: The neighbour that it waited for; None for all.
        """
        self.drop(packet, "link-failure")

    def handle_overheard(self, packet: Packet, sender: int, receiver: int) -> None:
        """A packet for another node was received here too. Called only if a subclass defines it.

        Args:
            packet: The packet, which can only be read.
            sender: The node whose MAC sent it.
            receiver: The node whose MAC it was for.
        """

    def next_timeout(self) -> float | None:
        """When `handle_timeout` shall be called, in s; None for never. Asked after every input."""
        return None

    def handle_timeout(self) -> None:
        """The time that `next_timeout` said has come."""

    # Actions.

    def send(self, packet: Packet, next_hop: int, delay: float = 0.0) -> None:
        """Sends a packet to a neighbour.

        Args:
            packet: The packet.
            next_hop: The neighbour.
            delay: How long to hold it first, in s.

        Raises:
            InputError: The packet is no longer this node's, the neighbour is unknown, or the delay is
                negative.
        """
        self._node.send(packet, next_hop, delay)

    def broadcast(self, packet: Packet, delay: float = 0.0) -> None:
        """Sends a packet to all neighbours. The MAC does so once, and is not told who received it.

        Args:
            packet: The packet.
            delay: How long to hold it first, in s; neighbours that answer one packet need different ones.

        Raises:
            InputError: The packet is no longer this node's, or the delay is negative.
        """
        self._node.broadcast(packet, delay)

    def deliver(self, packet: Packet) -> None:
        """Hands data that has arrived to this node's transport.

        Raises:
            InputError: The packet is no longer this node's, is not data, or is for another node.
        """
        self._node.deliver(packet)

    def drop(self, packet: Packet, reason: str) -> None:
        """Ends a packet.

        Args:
            packet: The packet.
            reason: One of those of layer ``routing`` in docs/metrics.md: ``no-route``, ``ttl-expired``, ….

        Raises:
            InputError: The packet is no longer this node's, or the reason is unknown.
        """
        self._node.drop(packet, reason)

    def consume(self, packet: Packet) -> None:
        """Ends a message of the protocol that has been used, or that is a duplicate.

        Raises:
            InputError: The packet is no longer this node's, is data, or was not sent yet.
        """
        self._node.consume(packet)

    def keep(self, packet: Packet) -> None:
        """Keeps a packet for later: it is among `kept` until another action takes it.

        Raises:
            InputError: The packet is no longer this node's.
        """
        self._node.keep(packet)

    def make_packet(
        self, payload: object, payload_bytes: int, destination: int | None = None, ttl: int = 1
    ) -> Packet:
        """A new message of the protocol, which still has to be sent.

        Args:
            payload: What it says: any value that `copy.deepcopy` copies. Every node that receives it gets a
                copy of its own.
            payload_bytes: How long that would be on the air, in bytes; 20 for the IP header are added.
            destination: The node that it is for; all that receive it if not given.
            ttl: Hops that it may go. Nothing but the protocol looks at it.

        Raises:
            InputError: A value is out of its range.
        """
        return self._node.make_packet(payload, payload_bytes, destination, ttl)

    def flush_queue(self, next_hop: int | None = None) -> None:
        """Takes all packets for a neighbour out of the interface queue; each comes back by `handle_flushed`.

        Args:
            next_hop: The neighbour; if not given, the packets that are for all.

        Raises:
            InputError: Unknown node.
        """
        self._node.flush_queue(next_hop)

    def notify_route_failed(self, destination: int, told: bool = False) -> None:
        """Tells the other layers that there is no longer a route. TCP senders may react to it.

        Args:
            destination: Where the route led.
            told: Whether another node said so; otherwise this node's own link failed.

        Raises:
            InputError: Unknown node.
        """
        self._node.notify_route_failed(destination, told)

    def notify_route_found(self, destination: int) -> None:
        """Tells the other layers that there is a route again.

        Args:
            destination: Where the route leads.

        Raises:
            InputError: Unknown node.
        """
        self._node.notify_route_found(destination)


@dataclass(frozen=True)
class PythonProtocol:
    """A subclass of `Routing` with its parameters, as a scenario names it.

    Attributes:
        name: ``python:module.Class``.
        kind: The class.
        parameters: Keyword arguments of the class.
        source_sha256: A hash of the source, see `source_hash`.
    """

    name: str
    kind: type[Routing]
    parameters: Mapping[str, Any]
    source_sha256: str

    def make(self, node: _core.Node, random: Random) -> tuple[Routing, bool, bool, bool]:
        """The protocol of a node; whether it wakes, overhears, and takes back its own messages."""
        made = self.kind.__new__(self.kind)
        made._node, made.random = node, random
        made.__init__(**self.parameters)  # type: ignore[misc]  # Only now it knows its node.
        return made, self._defines("next_timeout"), self._defines("handle_overheard"), made.takes_back_control

    def _defines(self, method: str) -> bool:
        return getattr(self.kind, method) is not getattr(Routing, method)


def name_of(kind: type) -> str:
    """How scenarios name a protocol: ``python:module.Class``.

    Raises:
        InputError: The class is not a routing protocol, or cannot be found by its name.
    """
    if not issubclass(kind, Routing):
        hint = "class MyProtocol(manetlab.Routing): …"
        wanted = "a subclass of manetlab.Routing"
        raise InputError("not a routing protocol", "routing", shown(kind), wanted, hint)
    module = sys.modules.get(kind.__module__)
    if getattr(module, kind.__name__, None) is not kind or "." in kind.__qualname__:
        hint = "define it at the top level of a module, not within a function or another class"
        found = f"{kind.__module__}.{kind.__qualname__}"
        wanted = "a class that can be imported by its name"
        raise InputError("the protocol cannot be imported by its name", "routing", found, wanted, hint)
    return f"{PYTHON}:{kind.__module__}.{kind.__name__}"


def protocol_of(name: str, parameters: Mapping[str, Any], where: str) -> PythonProtocol:
    """The protocol that a scenario names.

    Args:
        name: ``python:module.Class``.
        parameters: Keyword arguments of the class.
        where: What errors name as their place.

    Raises:
        InputError: Unknown class, it is not a routing protocol, or it does not take these parameters.
    """
    module_name, _, class_name = name.partition(":")[2].rpartition(".")
    try:
        if not module_name or module_name.startswith("."):
            raise ImportError(f"{name} does not name a module")
        kind = getattr(import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        hint = "the module must be where Python finds it: in a folder of PYTHONPATH, or installed"
        wanted = "python:MODULE.CLASS"
        raise InputError(
            "the protocol's class cannot be imported", where, f'"{name}": {error}', wanted, hint
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Routing)):
        hint = "class MyProtocol(manetlab.Routing): …"
        wanted = "a subclass of manetlab.Routing"
        raise InputError("not a routing protocol", where, f'"{name}"', wanted, hint)
    try:
        inspect.signature(kind).bind(**parameters)
    except TypeError as error:
        wanted = f"parameters of {class_name}{inspect.signature(kind)}"
        hint = "the scenario's table python has the keyword arguments of the class"
        raise InputError(
            "the protocol does not take these parameters", f"{where}: python", str(error), wanted, hint
        ) from None
    # mypy takes the hash of a class for that of its objects.
    digest = source_hash(kind)  # type: ignore[arg-type]
    return PythonProtocol(name, kind, dict(parameters), digest)


@cache
def source_hash(kind: type) -> str:
    """SHA-256 over the source files of a protocol and of the classes that it inherits from, 64 hex digits.

    Of a class without a file (in a notebook) its own source counts alone. Modules that these import are not
    looked at. The files are read when the class is first used.

    Raises:
        InputError: The source is not to be had.
    """
    digest = hashlib.sha256()
    for each in kind.__mro__[: kind.__mro__.index(Routing)]:
        file = getattr(sys.modules.get(each.__module__), "__file__", None)
        try:
            source = Path(file).read_text(encoding="utf-8") if file else inspect.getsource(each)
        except (OSError, TypeError) as error:
            hint = "put the class into a file: results are identified by the source of their protocol"
            found = f"{each.__module__}.{each.__name__}: {error}"
            wanted = "a class with readable source"
            raise InputError("the protocol's source cannot be read", "routing", found, wanted, hint) from None
        digest.update(f"{each.__qualname__}\n{source}\0".encode())
    return digest.hexdigest()


def failure(error: BaseException, method: str, node: int, now: float) -> BaseException:
    """What a user sees of an exception that left an input of a protocol.

    Args:
        error: The exception, which becomes the cause.
        method: The input.
        node: The node.
        now: The time, in s.
    """
    import traceback

    if not isinstance(error, Exception):
        # Ctrl-C, or the end of the process: no fault of the protocol.
        return error
    where = f"{method} of node {node} at {now:.9g} s"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    line = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    if isinstance(error, ManetlabError):
        what, found = f"the routing protocol broke the contract: {error.what}", error.found
        failed = ProtocolFailed(what, where, f"{found}{line}", error.wanted, error.hint)
    else:
        found = f"{type(error).__name__}: {error}{line}"
        hint = "the exception, with its traceback, is the __cause__ of this one"
        failed = ProtocolFailed("the routing protocol failed", where, found, "no exception", hint)
    failed.__cause__ = error
    return failed
