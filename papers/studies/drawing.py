"""What happens to one transfer in an outage, drawn as SVG: small files whose bytes depend on the run only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from manetlab.palette import DARK, LIGHT, ON_DARK, ON_LIGHT

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 34, 44
"""Margins, in pixels."""
HUES = {"curve": 0, "timeout": 1, "routing": 2, "sent": 3}
"""What is drawn, by its class in the style sheet, and the number of its colour."""


def _style() -> str:
    """The style sheet: light, and dark where the reader's screen is."""

    def colours(page: Mapping[str, str], series: Sequence[str]) -> str:
        rules = [
            f".ground{{fill:{page['ground']}}}text{{fill:{page['text']}}}.axis{{stroke:{page['muted']}}}"
        ]
        rules += [f".shade{{fill:{page['line']}}}"]
        rules += [f".{name}{{fill:{series[hue]};stroke:{series[hue]}}}" for name, hue in HUES.items()]
        return "".join(rules)

    common = (
        "text{font:12px sans-serif}.title{font-weight:bold}.key{font-size:11px}.end{text-anchor:end}"
        ".mid{text-anchor:middle}.axis,.line{fill:none!important}.curve{stroke-width:1.6}.tick{stroke-width:1.4}"
    )
    return f"{common}{colours(LIGHT, ON_LIGHT)}@media(prefers-color-scheme:dark){{{colours(DARK, ON_DARK)}}}"


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
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
        f"<style>{_style()}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}" rx="4"/>',
        f'<text class="title" x="{LEFT}" y="18">{escape(made.title)}</text>',
        *_shades(made),
        *_axes(made),
        _curve(made),
        *_marks(made),
        *_legend(made),
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
            f'<rect class="shade" x="{left}" y="{TOP}" width="{right - left:.1f}" '
            f'height="{HEIGHT - TOP - BOTTOM}"/>'
        )
    return lines


def _axes(made: Timeline) -> list[str]:
    low = HEIGHT - BOTTOM
    path = f'<path class="axis" d="M{LEFT} {TOP}V{low}H{WIDTH - RIGHT}"/>'
    lines = [path]
    for second in range(int(made.from_s), int(made.to_s) + 1, 5):
        at = _x(made, second)
        lines.append(f'<text class="mid" x="{at}" y="{low + 16}">{second}</text>')
    for number in range(0, int(made.top) + 1, 500):
        at = _y(made, number)
        lines.append(f'<text class="end" x="{LEFT - 6}" y="{at}">{number}</text>')
        lines.append(f'<path class="axis" d="M{LEFT} {at}h5"/>')
    lines.append(f'<text class="end" x="{WIDTH - RIGHT}" y="{low + 34}">time, s</text>')
    middle = (TOP + low) // 2
    lines.append(
        f'<text class="mid" transform="translate(14 {middle}) rotate(-90)">segments received in order</text>'
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
    return f'<polyline class="line curve" points="{points}"/>'


def _marks(made: Timeline) -> list[str]:
    low = HEIGHT - BOTTOM

    def ticks(times: Sequence[float], y: float, height: float, what: str) -> str:
        places = dict.fromkeys(_x(made, each) for each in times)
        path = "".join(f"M{x} {y}v{height}" for x in places)
        return f'<path class="tick {what}" d="{path}"/>' if path else ""

    lines = [
        ticks(made.sent, low - 14, 10, "sent"),
        ticks(made.routing, low - 28, 10, "routing"),
        *(
            f'<path class="timeout" d="M{x} {TOP + 12}l-4 -8h8z"/>'
            for x in dict.fromkeys(_x(made, each) for each in made.timeouts)
        ),
    ]
    return [line for line in lines if line]


def _legend(made: Timeline) -> list[str]:
    """What the marks mean that there are, each beside one of them."""
    x, y, lines = LEFT, HEIGHT - 14, list[str]()
    entries = [
        (made.timeouts, "timeout", "m5 8l-4 -8h8z", "timeout"),
        (made.routing, "tick routing", "m4 0v9", "search for a route"),
        (made.sent, "tick sent", "m4 0v9", "segment sent while none arrives"),
        (made.apart, "shade", "h9v9h-9z", "no path"),
    ]
    for marks, what, path, text in entries:
        if marks:
            lines.append(f'<path class="{what}" d="M{x} {y}{path}"/>')
            lines.append(f'<text class="key" x="{x + 13}" y="{y + 9}">{text}</text>')
            x += 28 + 6 * len(text)
    return lines
