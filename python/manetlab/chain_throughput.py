"""What one flow carries when it has a chain of nodes for itself: the reference of ingress throttling.

Osipov and Tschudin's Thr_max(h, MSS, TX), a function of hops, segment size and data rate, is measured by
simulation (2006, section II.B). Theirs is that of TCP; CBR and video have rows of their own. A table of such
measurements comes with the package; each row says with what it was made. `manetlab.chain_runs` makes such
rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from manetlab.errors import InputError, shown
from manetlab.files import parse_toml, read_bytes

PACKAGED = Path(__file__).with_suffix(".toml")
"""The table that comes with the package."""


TRAFFIC = {
    "tcp": "segments of {} bytes",
    "cbr": "CBR packets of {} bytes",
    "video": "video packets of {} bytes on average",
}
"""The kinds of traffic that rows are for, and their packets in words."""
SENDER = "newreno"
"""The sender of TCP of rows that name none: the paper's."""
IP_HEADER_BYTES = 20
"""Bytes of an IP header (RFC 791 §3.1)."""


@dataclass(frozen=True)
class Key:
    """What a row of the table is for. Hops are the places in the row.

    Attributes:
        profile: The profile of the parameters.
        rts: Whether data frames are announced by RTS and CTS.
        data_rate_bps: The rate of data frames, in bit/s.
        segment_bytes: Payload of a packet, in bytes: of a segment of TCP, a CBR packet, or a packet of video
            on average.
        traffic: The kind of traffic, one of `TRAFFIC`.
        sender: The sender of TCP.
    """

    profile: str
    rts: bool
    data_rate_bps: float
    segment_bytes: int
    traffic: str = "tcp"
    sender: str = SENDER

    @classmethod
    def of(
        cls,
        profile: str,
        params: Mapping[str, Mapping[str, Any]],
        segment_bytes: int,
        traffic: str = "tcp",
    ) -> Key:
        """The key of flows with packets of this size in a scenario with these parameters."""
        datagram = IP_HEADER_BYTES + params["network"]["udp_header_bytes"]
        headers = params["tcp"]["header_bytes"] if traffic == "tcp" else datagram
        rts = is_announced(params, segment_bytes + headers)
        return cls(profile, rts, float(params["mac"]["data_rate_bps"]), segment_bytes, traffic)

    def is_like(self, other: Key) -> bool:
        """Whether both are the same but for the size of packets and the sender of TCP."""
        return replace(self, segment_bytes=0, sender="") == replace(other, segment_bytes=0, sender="")

    def __str__(self) -> str:
        """The key in words."""
        access = "with" if self.rts else "without"
        rate = f"{self.data_rate_bps / 1e6:g} Mb/s"
        packets = TRAFFIC[self.traffic].format(self.segment_bytes)
        sender = f" from {self.sender}" if self.traffic == "tcp" else ""
        return f"profile {self.profile}, {rate}, {access} RTS, {packets}{sender}"


def is_announced(params: Mapping[str, Mapping[str, Any]], packet_bytes: int) -> bool:
    """Whether a packet of this length at the IP layer is announced by RTS and CTS."""
    return frame_bytes(params, packet_bytes) > int(params["mac"]["rts_threshold_bytes"])


def frame_bytes(params: Mapping[str, Mapping[str, Any]], packet_bytes: int) -> int:
    """The length of a packet's data frame: with LLC, MAC header, FCS and parity, as in a run.

    Args:
        params: The parameters of all sections.
        packet_bytes: The packet's length at the IP layer.
    """
    mac = params["mac"]
    length = packet_bytes + int(mac["llc_bytes"]) + int(mac["data_header_bytes"])
    parity_bytes = int(mac["fec_parity_bytes"])
    blocks = math.ceil(length / (int(mac["fec_block_bytes"]) - parity_bytes))
    return length + blocks * parity_bytes


@dataclass(frozen=True)
class ThroughputRow:
    """What one flow carries alone over 1, 2, … hops.

    Attributes:
        throughput_bps: The means over the runs, in bit/s.
        half_width_95_bps: Half the widths of their 95 % intervals, in bit/s.
        made_with: Version, commit and settings that the row was made with.
    """

    throughput_bps: tuple[float, ...]
    half_width_95_bps: tuple[float, ...]
    made_with: Mapping[str, Any]

    def over(self, hops: int) -> float:
        """The throughput over so many hops, in bit/s; the last value for a path longer than the row."""
        return self.throughput_bps[min(hops, len(self.throughput_bps)) - 1]


@dataclass(frozen=True)
class ThroughputTable:
    """Throughputs of one flow alone.

    Attributes:
        rows: The rows.
        where: The file that they were read from, for errors.
    """

    rows: Mapping[Key, ThroughputRow]
    where: str

    def find(self, key: Key, hops: int) -> float | None:
        """What a flow carries alone over so many hops, in bit/s; None if there is no such row."""
        row = self.rows.get(key)
        return None if row is None else row.over(hops)

    def bps(self, key: Key, hops: int) -> float:
        """The same where there must be such a row.

        Raises:
            InputError: The table has no such row.
        """
        return self.row(key).over(hops)

    def row(self, key: Key) -> ThroughputRow:
        """The row of a key.

        Raises:
            InputError: The table has no such row.
        """
        if (found := self.rows.get(key)) is None:
            wanted = "; ".join(map(str, self.rows))
            hint = "measure it with `manetlab chain-throughput`, and name the table that it writes"
            raise InputError("the table of throughputs has no such row", self.where, str(key), wanted, hint)
        return found

    def alike(self, key: Key) -> list[tuple[Key, ThroughputRow]]:
        """The rows for a key, whatever the sender of TCP."""
        return [
            (each, row)
            for each, row in self.rows.items()
            if replace(each, sender="") == replace(key, sender="")
        ]

    def of_mixed(self, key: Key, mean_bytes: float) -> tuple[float, ...] | None:
        """What a flow carries alone whose packets differ in size, over 1, 2, … hops, in bit/s.

        The time between two packets of a flow alone has a part that does not depend on their length and one
        that is proportional to it. Both follow from rows of two sizes; the throughput follows from the mean.

        Args:
            key: The key of the rows, but for the size.
            mean_bytes: Mean payload of a packet, in bytes.

        Returns:
            The throughputs; None if there are not two rows that differ from the key in nothing but the size.
        """
        of_size = {
            each.segment_bytes: row.throughput_bps for each, row in self.rows.items() if each.is_like(key)
        }
        if len(of_size) < 2:
            return None
        low, high = min(of_size), max(of_size)
        rows = (of_size[low], of_size[high])
        found = []
        for low_bps, high_bps in zip(*rows, strict=False):
            low_s, high_s = 8 * low / low_bps, 8 * high / high_bps
            mean_s = low_s + (high_s - low_s) * (mean_bytes - low) / (high - low)
            found.append(8 * mean_bytes / mean_s)
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The table as data for TOML."""
        return {
            "row": [
                {
                    **{name: each for name, each in asdict(key).items() if name != "sender"},
                    "throughput_bps": [round(each) for each in row.throughput_bps],
                    "half_width_95_bps": [round(each) for each in row.half_width_95_bps],
                    **row.made_with,
                }
                for key, row in self.rows.items()
            ]
        }


@cache
def packaged() -> ThroughputTable:
    """The table that comes with the package."""
    return read(PACKAGED)


def read(path: Path) -> ThroughputTable:
    """The table of a TOML file, as `manetlab chain-throughput` writes it.

    Raises:
        InputError: The file cannot be read or is no such table.
    """
    try:
        written = parse_toml(read_bytes(path, "table of throughputs"))
    except (ValueError, RecursionError) as error:
        wanted = "TOML as `manetlab chain-throughput` writes it"
        raise InputError("the table of throughputs is not TOML", str(path), str(error), wanted) from None
    listed = written.get("row")
    if not isinstance(listed, list) or not listed:
        wanted = "one [[row]] or more, as `manetlab chain-throughput` writes them"
        raise InputError("the table of throughputs is empty", str(path), "no rows", wanted)
    return ThroughputTable(
        dict(_row(row, f"{path}: row {number}") for number, row in enumerate(listed)), str(path)
    )


def _row(written: object, where: str) -> tuple[Key, ThroughputRow]:
    """One row, checked."""
    wanted = "profile, rts, data_rate_bps, segment_bytes, throughput_bps and half_width_95_bps"
    wanted += f"; traffic, if any, is one of {', '.join(TRAFFIC)}"
    if not isinstance(written, dict):
        raise InputError("not a row of throughputs", where, shown(written), wanted)
    rest = dict(written)
    try:
        key = Key(
            str(rest.pop("profile")),
            bool(rest.pop("rts")),
            float(rest.pop("data_rate_bps")),
            int(rest.pop("segment_bytes")),
            _traffic(rest.pop("traffic", "tcp")),
            str(rest.get("sender", SENDER)),
        )
        numbers = _numbers(rest.pop("throughput_bps")), _numbers(rest.pop("half_width_95_bps"))
    except KeyError as error:
        raise InputError("not a row of throughputs", where, f"no {error.args[0]}", wanted) from None
    except (TypeError, ValueError):
        raise InputError("not a row of throughputs", where, shown(written), wanted) from None
    return key, ThroughputRow(*numbers, rest)


def _traffic(written: object) -> str:
    if written not in TRAFFIC:
        raise ValueError
    return str(written)


def _numbers(written: Sequence[object]) -> tuple[float, ...]:
    numbers = tuple(float(each) for each in written if isinstance(each, int | float))
    if not numbers or len(numbers) < len(written) or not all(0 <= each < math.inf for each in numbers):
        raise ValueError
    return numbers
