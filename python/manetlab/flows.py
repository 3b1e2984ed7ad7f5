"""Flows as a user writes them: who sends what to whom, from when on.

The simulator's own form of a flow, in which nothing is left out, is `scenario::Flow` of the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from manetlab import _core
from manetlab.errors import InputError
from manetlab.files import read_bytes
from manetlab.resolving import MOST_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

MAX_NODES = _core.MAX_NODES
"""Most nodes of a scenario."""

Seconds = Annotated[float, Field(ge=0, le=MOST_SECONDS)]
Interval = Annotated[float, Field(ge=1e-6, le=1e6)]
Datagram = Annotated[int, Field(ge=1, le=65_507)]
Count = Annotated[int, Field(ge=1, lt=2**63)]
Length = Annotated[int, Field(ge=1, le=10**12)]
Listed = Annotated[tuple[Seconds, Datagram], Field(strict=False)]


# Deferred: of a nested model only the schema within the scenario's is ever used.
STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)
"""What all parts of a scenario have in common: unknown keys and converted values are errors."""


class _Flow(BaseModel):
    model_config = STRICT

    src: Annotated[int, Field(ge=0, lt=MAX_NODES)]
    dst: Annotated[int, Field(ge=0, lt=MAX_NODES)]
    start_s: Seconds
    stop_s: Seconds | None = None

    @model_validator(mode="after")
    def _goes_elsewhere(self) -> Self:
        if self.src == self.dst:
            raise ValueError(f"a destination that is not the source, node {self.src}")
        return self


class TcpFlow(_Flow):
    """A file transfer over TCP.

    Attributes:
        kind: ``tcp``.
        src: The source node.
        dst: The destination node.
        start_s: When it begins, in s.
        stop_s: When the source stops making new data, in s; with the run if not given.
        bytes: Bytes to transfer; endless if not given.
        window: The receiver's window in segments; ``tcp.window`` if not given.
        segment_bytes: Payload of a segment; ``tcp.segment_bytes`` if not given.
    """

    kind: Literal["tcp"]
    bytes: Count | None = None
    window: Annotated[int, Field(ge=1, le=65_536)] | None = None
    segment_bytes: Annotated[int, Field(ge=1, le=65_495)] | None = None


class CbrFlow(_Flow):
    """Constant bit rate over UDP.

    Attributes:
        kind: ``cbr``.
        src: The source node.
        dst: The destination node.
        start_s: When it begins, in s.
        stop_s: When it ends, in s; with the run if not given.
        bytes: Payload of a packet.
        interval_s: Time between packets, in s.
        random: Vary each interval uniformly by up to half of it either way (ns-2's ``random_``).
        max_packets: Packets until the source stops; endless if not given.
    """

    kind: Literal["cbr"]
    bytes: Datagram
    interval_s: Interval
    random: bool = False
    max_packets: Count | None = None


class _MessageFlow(_Flow):
    transport: Literal["udp", "adp", "tcp", "rtp-udp", "rtp-adp"] = "udp"


class OnOffFlow(_MessageFlow):
    """Packets at an even pace in bursts of random length, with silences between them.

    Attributes:
        kind: ``on-off``.
        src: The source node.
        dst: The destination node.
        start_s: When the first burst begins, in s.
        stop_s: When it ends, in s; with the run if not given.
        transport: What carries the packets: ``udp``, ``adp``, ``tcp``, ``rtp-udp`` or ``rtp-adp``.
        bytes: Payload of a packet.
        interval_s: Time between packets of a burst, in s.
        on_s: Mean length of a burst, in s.
        off_s: Mean length of a silence, in s.
        durations: The distribution of both lengths: ``exponential`` or ``pareto``.
        shape: The shape of a Pareto distribution; below 2 its variance is infinite.
    """

    kind: Literal["on-off"]
    bytes: Datagram
    interval_s: Interval
    on_s: Interval
    off_s: Seconds
    durations: Literal["exponential", "pareto"] = "exponential"
    shape: Annotated[float, Field(ge=1.01, le=100)] = 1.5


class PoissonFlow(_MessageFlow):
    """Packets at the events of a Poisson process.

    Attributes:
        kind: ``poisson``.
        src: The source node.
        dst: The destination node.
        start_s: When the process begins, in s.
        stop_s: When it ends, in s; with the run if not given.
        transport: What carries the packets: ``udp``, ``adp``, ``tcp``, ``rtp-udp`` or ``rtp-adp``.
        bytes: Payload of a packet.
        interval_s: Mean time between packets, in s.
        max_packets: Packets until the source stops; endless if not given.
    """

    kind: Literal["poisson"]
    bytes: Datagram
    interval_s: Interval
    max_packets: Count | None = None


class TraceFlow(_MessageFlow):
    """Packets as a list says, which is given itself or as a file.

    Attributes:
        kind: ``trace``.
        src: The source node.
        dst: The destination node.
        start_s: What the times of the list count from, in s.
        stop_s: No packet is made from here on, in s; with the run if not given.
        transport: What carries the packets: ``udp``, ``adp``, ``tcp``, ``rtp-udp`` or ``rtp-adp``.
        file: A CSV file with the columns ``time_s`` and ``bytes``.
        packets: The packets: a list of ``[time_s, bytes]``, the times never falling.
    """

    kind: Literal["trace"]
    file: str | None = None
    packets: list[Listed] | None = None

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if (self.file is None) == (self.packets is None):
            raise ValueError("exactly one of file, packets must be given")
        return self

    def read(self, folder: Path) -> TraceFlow:
        """The same with the packets of its file, if it names one.

        Raises:
            InputError: The file cannot be used.
        """
        if self.file is None:
            return self
        return self.model_copy(update={"file": None, "packets": read_trace(folder / self.file)})


class VideoFlow(_MessageFlow):
    """Video of variable bit rate; its parameters are those of the section ``video``.

    Attributes:
        kind: ``video``.
        src: The source node.
        dst: The destination node.
        start_s: When the first frame is made, in s.
        stop_s: When it ends, in s; with the run if not given.
        transport: What carries the frames: ``udp``, ``adp``, ``tcp``, ``rtp-udp`` or ``rtp-adp``.
    """

    kind: Literal["video"]


class AdpFlow(_Flow):
    """Endless data over ADP; its parameters are those of the section ``adp``.

    Attributes:
        kind: ``adp``.
        src: The source node.
        dst: The destination node.
        start_s: When it begins, in s.
        stop_s: When it ends, in s; with the run if not given.
    """

    kind: Literal["adp"]


class WebCycle(BaseModel):
    """One turn of a Web session.

    Attributes:
        think_s: How long the client thinks before it asks, in s.
        request_bytes: Length of the request.
        server_delay_s: How long the server takes to answer, in s.
        replies_bytes: Lengths of the replies.
    """

    model_config = STRICT

    think_s: Seconds
    request_bytes: Length
    server_delay_s: Seconds = 0.0
    replies_bytes: Annotated[list[Length], Field(min_length=1)]


class WebFlow(_Flow):
    """A Web session: a client asks a server, again and again, each time over new TCP connections.

    Attributes:
        kind: ``web``.
        src: The client's node.
        dst: The server's node.
        start_s: When the client begins to think, in s.
        stop_s: No request is sent from here on, in s; with the run if not given.
        cycles: What the session consists of, turn by turn.
    """

    kind: Literal["web"]
    cycles: Annotated[list[WebCycle], Field(min_length=1)]


FLOWS: dict[str, type[_Flow]] = {
    "tcp": TcpFlow,
    "cbr": CbrFlow,
    "on-off": OnOffFlow,
    "poisson": PoissonFlow,
    "trace": TraceFlow,
    "video": VideoFlow,
    "adp": AdpFlow,
    "web": WebFlow,
}
"""The model of each kind of flow."""

AnyFlow = TcpFlow | CbrFlow | OnOffFlow | PoissonFlow | TraceFlow | VideoFlow | AdpFlow | WebFlow


def read_trace(path: Path) -> list[tuple[float, int]]:
    """The packets of a CSV file with the columns ``time_s`` and ``bytes``.

    Args:
        path: The file. Its first line names the columns; other columns are left alone.

    Returns:
        Time in s and length in bytes of each packet, in the file's order.

    Raises:
        InputError: The file cannot be read, has no such columns, or a line is no packet.
    """
    import csv

    try:
        text = read_bytes(path, "trace file").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = "is this a table at all?"
        raise InputError("the trace file is not text", str(path), str(error), "CSV in UTF-8", hint) from None
    try:
        rows = list(csv.DictReader(text.splitlines(), strict=True))
    except csv.Error as error:
        hint = "the first line should be time_s,bytes"
        raise InputError("the trace file is not CSV", str(path), str(error), "CSV", hint) from None
    packets: list[tuple[float, int]] = []
    for number, row in enumerate(rows, 2):
        packets.append(_packet(row, f"{path}: line {number}", packets[-1][0] if packets else 0.0))
    if not packets:
        hint = "the first line names the columns, each further line is a packet"
        raise InputError("the trace file has no packets", str(path), "no lines", "a packet a line", hint)
    return packets


def _packet(row: dict[str, str | None], place: str, latest_s: float) -> tuple[float, int]:
    """One line of a trace."""

    def refused(found: str, wanted: str) -> InputError:
        hint = "a trace has the columns time_s and bytes"
        return InputError("the line is no packet", place, found, wanted, hint)

    time_text, bytes_text = row.get("time_s"), row.get("bytes")
    if time_text is None or bytes_text is None:
        raise refused(", ".join(str(key) for key in row), "the columns time_s and bytes")
    try:
        time_s = float(time_text)
    except ValueError:
        raise refused(f'"{time_text}"', "a time in s") from None
    if not latest_s <= time_s <= 1e6:
        raise refused(f"{time_text} s", "a time not before the packet before it, up to 1000000 s")
    try:
        size = int(bytes_text)
    except ValueError:
        raise refused(f'"{bytes_text}"', "a whole number of bytes") from None
    if not 1 <= size <= 65_507:
        raise refused(f"{size} bytes", "from 1 to 65507 bytes")
    return time_s, size
