"""What theory says of the 802.11 DCF: one saturated sender, and many in one cell.

Times follow from the same parameters that the simulator takes, in s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from manetlab.parameters import Params

IP_HEADER_BYTES = 20
RTS_BYTES = 20
CTS_BYTES = 14
ACK_BYTES = 14


@dataclass(frozen=True)
class Frames:
    """The times of one exchange that carries a UDP payload, in s.

    Attributes:
        slot: Slot time.
        sifs: Short interframe space.
        rts: An RTS.
        cts: A CTS.
        ack: An ACK.
        data: A data frame with the payload.
        with_rts: Is the data frame announced by RTS and CTS?
        windows: Number of backoff values at each attempt, from the first to the last.
    """

    slot: float
    sifs: float
    rts: float
    cts: float
    ack: float
    data: float
    with_rts: bool
    windows: tuple[int, ...]

    @classmethod
    def of(cls, params: Params, payload_bytes: int) -> Frames:
        """The times for a payload under these parameters."""
        mac, udp = params["mac"], params["network"]["udp_header_bytes"]
        length = payload_bytes + udp + IP_HEADER_BYTES + mac["data_header_bytes"]
        with_rts = length > mac["rts_threshold_bytes"]
        return cls(
            slot=mac["slot_us"] * 1e-6,
            sifs=mac["sifs_us"] * 1e-6,
            rts=_air_time(mac, RTS_BYTES, "control_rate_bps"),
            cts=_air_time(mac, CTS_BYTES, "control_rate_bps"),
            ack=_air_time(mac, ACK_BYTES, "control_rate_bps"),
            data=_air_time(mac, length, "data_rate_bps"),
            with_rts=with_rts,
            # What collides is the RTS or a frame without one: both have the short retry limit.
            windows=_windows(mac, mac["short_retry_limit"]),
        )

    @property
    def difs(self) -> float:
        """Distributed interframe space."""
        return self.sifs + 2 * self.slot

    @property
    def success(self) -> float:
        """From the first bit of an exchange that succeeds until the backoff goes on."""
        announced = self.rts + self.sifs + self.cts + self.sifs if self.with_rts else 0.0
        return announced + self.data + self.sifs + self.ack + self.difs

    @property
    def collision(self) -> float:
        """From the first bit of a collision until the backoff of the bystanders goes on, after EIFS."""
        eifs = self.sifs + self.ack + self.difs
        return (self.rts if self.with_rts else self.data) + eifs


def one_sender_bps(frames: Frames, payload_bytes: int) -> float:
    """Payload per second of one sender that always has a frame, alone: its backoff is never frozen."""
    backoff = (frames.windows[0] - 1) / 2 * frames.slot
    return payload_bytes * 8 / (frames.success + backoff)


def saturation_bps(frames: Frames, payload_bytes: int, stations: int) -> float:
    """Payload per second of saturated stations that all hear each other.

    Bianchi (IEEE JSAC 18(3), 2000), with the limit on attempts of Wu et al. (INFOCOM 2002).
    """
    attempt = attempt_probability(frames.windows, stations)
    idle = (1 - attempt) ** stations
    success = stations * attempt * (1 - attempt) ** (stations - 1)
    collision = 1 - idle - success
    mean_slot = idle * frames.slot + success * frames.success + collision * frames.collision
    return success * payload_bytes * 8 / mean_slot


def attempt_probability(windows: tuple[int, ...], stations: int) -> float:
    """The probability that a saturated station sends in a slot: the fixed point of Bianchi's model."""
    from scipy.optimize import brentq

    def excess(attempt: float) -> float:
        collides = 1 - (1 - attempt) ** (stations - 1)
        reached = [collides**stage for stage in range(len(windows))]
        waited = sum(p * (window - 1) / 2 for p, window in zip(reached, windows, strict=True))
        return sum(reached) / (sum(reached) + waited) - attempt

    return float(brentq(excess, 1e-9, 1 - 1e-9))


def _windows(mac: dict[str, Any], attempts: int) -> tuple[int, ...]:
    """Number of backoff values at each attempt: the window doubles up to its greatest."""
    drawn = 1 if mac["backoff_includes_cw"] else 0
    windows, cw = [], mac["cw_min"]
    for _ in range(attempts):
        windows.append(cw + drawn)
        cw = min(2 * cw + 1, mac["cw_max"])
    return tuple(windows)


def _air_time(mac: dict[str, Any], length_bytes: int, rate: str) -> float:
    return float(mac["plcp_bits"] / mac["plcp_rate_bps"] + 8 * length_bytes / mac[rate])
