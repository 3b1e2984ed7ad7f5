"""What happens to one transfer in an outage, drawn as SVG: small files whose bytes depend on the run only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 34, 44
"""Margins, in pixels."""
CURVE, SENT, TIMEOUT, ROUTING, SHADE, INK = "#1f4e79", "#c0392b", "#d35400", "#2e7d32", "#e4e4e4", "#333333"


@dataclass(frozen=True)
class Timeline:
    """One transfer over time.

    Attributes:
        title: What is shown.
        from_s: Where the axis begins, in s.
        to_s: Where it ends, in s.
        received: Times in s, and the number of segments that had arrived in order by then.
        sent: When the source made a segment while nothing new arrived, in s.
        timeouts: When the retransmission timer expired, in s.
        routing: When the source sent messages of routing that look for a route, in s.
        apart: When there was no path between the two ends: beginnings and ends, in s.
        top: The greatest number of the axis.
    """

    title: str
    from_s: float
    to_s: float
    received: Sequence[tuple[float, float]]
    sent: Sequence[float]
    timeouts: Sequence[float]
    routing: Sequence[float]
    apart: Sequence[tuple[float, float]]
    top: float


def svg(made: Timeline) -> str:
    """The drawing."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-size="14">{escape(made.title)}</text>',
        *_shades(made),
        *_axes(made),
        _curve(made),
        *_marks(made),
        *_legend(),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _x(made: Timeline, time_s: float) -> str:
    share = (time_s - made.from_s) / (made.to_s - made.from_s)
    return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.1f}"


def _y(made: Timeline, number: float) -> str:
    return f"{HEIGHT - BOTTOM - number / made.top * (HEIGHT - TOP - BOTTOM):.1f}"


def _shades(made: Timeline) -> list[str]:
    lines = []
    for begin, end in made.apart:
        left, right = float(_x(made, begin)), float(_x(made, end))
        lines.append(
            f'<rect x="{left}" y="{TOP}" width="{right - left:.1f}" '
            f'height="{HEIGHT - TOP - BOTTOM}" fill="{SHADE}"/>'
        )
    return lines


def _axes(made: Timeline) -> list[str]:
    low = HEIGHT - BOTTOM
    path = f'<path d="M{LEFT} {TOP}V{low}H{WIDTH - RIGHT}" fill="none" stroke="{INK}"/>'
    lines = [path]
    for second in range(int(made.from_s), int(made.to_s) + 1, 5):
        at = _x(made, second)
        lines.append(f'<text x="{at}" y="{low + 16}" text-anchor="middle">{second}</text>')
    for number in range(0, int(made.top) + 1, 500):
        at = _y(made, number)
        lines.append(f'<text x="{LEFT - 6}" y="{at}" text-anchor="end">{number}</text>')
        lines.append(f'<path d="M{LEFT} {at}h5" stroke="{INK}"/>')
    lines.append(f'<text x="{WIDTH - RIGHT}" y="{low + 34}" text-anchor="end">time, s</text>')
    middle = (TOP + low) // 2
    lines.append(
        f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">'
        "segments received in order</text>"
    )
    return lines


def _curve(made: Timeline) -> str:
    """Only the points at which the slope changes: the others lie on the line between them."""
    kept: list[tuple[str, str]] = []
    for time_s, number in made.received:
        point = (_x(made, time_s), _y(made, number))
        if len(kept) > 1 and kept[-1][1] == kept[-2][1] == point[1]:
            kept.pop()
        kept.append(point)
    points = " ".join(f"{x},{y}" for x, y in kept)
    return f'<polyline points="{points}" fill="none" stroke="{CURVE}" stroke-width="1.6"/>'


def _marks(made: Timeline) -> list[str]:
    low = HEIGHT - BOTTOM

    def ticks(times: Sequence[float], y: float, height: float, colour: str) -> str:
        places = dict.fromkeys(_x(made, each) for each in times)
        path = "".join(f"M{x} {y}v{height}" for x in places)
        return f'<path d="{path}" stroke="{colour}" stroke-width="1.4"/>' if path else ""

    lines = [
        ticks(made.sent, low - 14, 10, SENT),
        ticks(made.routing, low - 28, 10, ROUTING),
        *(
            f'<path d="M{x} {TOP + 12}l-4 -8h8z" fill="{TIMEOUT}"/>'
            for x in dict.fromkeys(_x(made, each) for each in made.timeouts)
        ),
    ]
    return [line for line in lines if line]


def _legend() -> list[str]:
    entries = [
        (TIMEOUT, "timeout"),
        (ROUTING, "search for a route"),
        (SENT, "segment sent while none arrives"),
        (SHADE, "no path"),
    ]
    lines, x = [], LEFT
    for colour, text in entries:
        y = HEIGHT - 14
        lines.append(f'<rect x="{x}" y="{y}" width="9" height="9" fill="{colour}"/>')
        lines.append(f'<text x="{x + 13}" y="{y + 9}" font-size="11">{text}</text>')
        x += 28 + 6 * len(text)
    return lines
