"""Measures of what arrives: a protocol that loses most of it must not look better for that.

The delay of packets, the time of Web replies and the costs of a delivery are known of what arrives only.
Where significantly less arrives, such a measure may be low because the hard cases are missing: its value is
shown, and never wins a comparison.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manetlab.campaign.levels import Label

ARRIVED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("cbr_latency_mean_s", "cbr_latency_p50_s", "cbr_latency_p95_s", "cbr_latency_p99_s"),
        ("cbr_delivery_fraction",),
    ),
    "message_latency_mean_s": ("message_delivery_fraction",),
    **dict.fromkeys(
        ("datagram_jitter_mean_s", "datagram_delay_spread_mean_s"), ("datagram_in_time_fraction",)
    ),
    **dict.fromkeys(("web_response_time_mean_s", "web_service_time_mean_s"), ("web_sessions_finished",)),
    **dict.fromkeys(
        (
            *("normalised_routing_load", "normalised_routing_bytes", "mac_packets_per_delivered"),
            *("mac_bytes_per_delivered_byte", "frames_per_delivered_packet"),
            *("frame_bytes_per_delivered_byte", "rebroadcasts_per_delivered_packet"),
        ),
        ("cbr_delivery_fraction", "message_delivery_fraction", "tcp_throughput_bps", "web_delivered_bytes"),
    ),
}
"""Measures of what arrives, and which say how much that is, of which the first with values counts."""
FEWER = "less arrives"
"""The verdict where an alternative looks better in such a measure while significantly less arrives."""
ALPHA = 0.05
"""Less arrives if a paired t test says so at this level; unadjusted, it errs towards telling."""

MARGIN = 0.02
"""Less by a smaller share than this is told by the measure of what arrives alone: it hardly moves a mean."""

Values = Mapping["Label", Sequence[float | None]]


def means_if_less(a: Sequence[float | None], b: Sequence[float | None]) -> tuple[float, float] | None:
    """The means of what arrives with both, if significantly less arrives with the first; else None.

    Less means significantly less, and by more than `MARGIN`.
    """
    from manetlab.stats import paired_difference

    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if len(both) < 2:
        return None
    first, second = [x for x, _ in both], [y for _, y in both]
    means = math.fsum(first) / len(both), math.fsum(second) / len(both)
    if means[0] >= (1.0 - MARGIN) * means[1]:
        return None
    if len({x - y for x, y in both}) > 1 and not paired_difference(first, second).p_t <= ALPHA:
        return None
    return means


def outlived(arrived: Values) -> set[Label]:
    """The alternatives with which significantly less arrives than with that with which most does."""
    known = {name: [each for each in of if each is not None] for name, of in arrived.items()}
    means = {name: math.fsum(of) / len(of) for name, of in known.items() if of}
    if not means:
        return set()
    most = max(means, key=lambda name: means[name])
    return {name for name in means if name != most and means_if_less(arrived[name], arrived[most])}
