"""What theory says of the 802.11 DCF: one saturated sender, and many in one cell.

Times follow from the same parameters that the simulator takes, in s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manetlab.chain_throughput import IP_HEADER_BYTES, frame_bytes
from manetlab.parameters import Params

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
        eifs: Extended interframe space: SIFS, DIFS and an ACK at the lowest rate, that of the PLCP.
        data: A data frame with the payload.
        before_data: Between a CTS and the data frame.
        with_rts: Is the data frame announced by RTS and CTS?
        windows: Number of backoff values at each attempt, from the first to the last.
    """

    slot: float
    sifs: float
    rts: float
    cts: float
    ack: float
    eifs: float
    data: float
    before_data: float
    with_rts: bool
    windows: tuple[int, ...]

    @classmethod
    def of(cls, params: Params, payload_bytes: int, rate_bps: float | None = None) -> Frames:
        """The times for a payload under these parameters, or at another data rate."""
        mac, udp = params["mac"], params["network"]["udp_header_bytes"]
        length = frame_bytes(params, payload_bytes + udp + IP_HEADER_BYTES)
        with_rts = length > mac["rts_threshold_bytes"]
        data_bps = mac["data_rate_bps"] if rate_bps is None else rate_bps
        slot, sifs = mac["slot_us"] * 1e-6, mac["sifs_us"] * 1e-6
        return cls(
            slot=slot,
            sifs=sifs,
            rts=_air_time(mac, RTS_BYTES, mac["control_rate_bps"]),
            cts=_air_time(mac, CTS_BYTES, mac["control_rate_bps"]),
            ack=_air_time(mac, ACK_BYTES, _answer_bps(mac, data_bps)),
            eifs=2 * sifs + 2 * slot + _long_plcp(mac) + 8 * ACK_BYTES / mac["plcp_rate_bps"],
            data=_air_time(mac, length, data_bps),
            before_data=sifs + 2 * slot if mac["difs_before_data"] else sifs,
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
        announced = self.rts + self.sifs + self.cts + self.before_data if self.with_rts else 0.0
        return announced + self.data + self.sifs + self.ack + self.difs

    @property
    def collision(self) -> float:
        """From the first bit of a collision until the backoff of the bystanders goes on, after EIFS."""
        return (self.rts if self.with_rts else self.data) + self.eifs


def one_sender_bps(frames: Frames, payload_bytes: int) -> float:
    """Payload per second of one sender that always has a frame, alone: its backoff is never frozen."""
    backoff = (frames.windows[0] - 1) / 2 * frames.slot
    return payload_bytes * 8 / (frames.success + backoff)


def saturation_bps(frames: Frames, payload_bytes: int, stations: int) -> float:
    """Payload per second of saturated stations that all hear each other.

    Bianchi (IEEE JSAC 18(3), 2000), with the limit on attempts of Wu et al. (INFOCOM 2002).
    """
    attempt = attempt_probability(frames.windows, stations)
    return _throughput(frames, payload_bytes, stations, attempt)


def saturation_with_freezing_bps(frames: Frames, payload_bytes: int, stations: int) -> float:
    """The same, with the backoff that the standard has rather than the one that Bianchi assumed.

    There a busy period counts as a slot of everybody's backoff. In the standard a frozen counter stays, so
    the slot after a busy period is nobody's but the last sender's, who uses it if it draws 0 (Tinnirello,
    Bianchi and Xiao, IEEE Trans. Vehicular Technology 59(3), 2010). That slot is joined to the busy period
    here: windows are one value smaller, and a success is a run of 1 / (1 - 1 / window) successes.
    """
    attempt = attempt_probability(tuple(window - 1 for window in frames.windows), stations)
    run_length = 1 / (1 - 1 / frames.windows[0])
    return _throughput(frames, payload_bytes, stations, attempt, run_length, frames.slot)


def several_rates_bps(frames: Sequence[Frames], payload_bytes: int) -> float:
    """Payload per second of each of several saturated stations whose exchanges last differently long.

    The model with freezing: the attempts do not depend on the rates, so all stations succeed equally often,
    and a collision lasts as long as its longest frame. ``frames`` has the times of each station.
    """
    stations = len(frames)
    windows = frames[0].windows
    attempt = attempt_probability(tuple(window - 1 for window in windows), stations)
    run_length = 1 / (1 - 1 / windows[0])
    silent = 1 - attempt
    alone = attempt * silent ** (stations - 1)
    slot = frames[0].slot
    mean_slot = silent**stations * slot
    # A station's frame is the longest of a collision if those with longer ones are silent and others are not.
    for longer, each in enumerate(sorted(frames, key=lambda of_station: -of_station.collision)):
        collides = attempt * silent**longer - alone
        mean_slot += alone * (each.success * run_length + slot) + collides * (each.collision + slot)
    return alone * run_length * payload_bytes * 8 / mean_slot


def _throughput(
    frames: Frames,
    payload_bytes: int,
    stations: int,
    attempt: float,
    run_length: float = 1.0,
    after_busy: float = 0.0,
) -> float:
    """Payload per second when each station sends with probability ``attempt`` in each slot."""
    idle = (1 - attempt) ** stations
    success = stations * attempt * (1 - attempt) ** (stations - 1)
    collision = 1 - idle - success
    of_success = success * (frames.success * run_length + after_busy)
    mean_slot = idle * frames.slot + of_success + collision * (frames.collision + after_busy)
    return success * run_length * payload_bytes * 8 / mean_slot


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


def _answer_bps(mac: dict[str, Any], data_bps: float) -> float:
    """The rate of the ACK to a frame at this rate, bit/s (802.11-1999 9.6)."""
    match mac["response_rate"]:
        case "frame":
            return data_bps
        case "control":
            return float(mac["control_rate_bps"])
    # The choice is named by the lowest and the highest basic rate in Mb/s.
    return min(data_bps, float(mac["basic_rates"].split("-")[-1]) * 1e6)


def _air_time(mac: dict[str, Any], length_bytes: int, rate_bps: float) -> float:
    """A frame on the air in s: 802.11b's short preamble is 72 bits at 1 Mb/s and 48 bits at 2 Mb/s."""
    short = mac["preamble"] == "short" and rate_bps >= 2e6
    return (72e-6 + 24e-6 if short else _long_plcp(mac)) + 8 * length_bytes / rate_bps


def _long_plcp(mac: dict[str, Any]) -> float:
    return float(mac["plcp_bits"] / mac["plcp_rate_bps"])
