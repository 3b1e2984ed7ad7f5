"""Charts of the papers' pages, as SVG: strips of claims, lines over an axis, dots by row.

Each is as wide as a telephone's screen, so that a page sets two beside each other where there is room. Files
are small, their bytes depend on what is drawn only, text is text, and a style sheet within has colours for
light and dark ground. Matplotlib's files are several times as large, and have neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from manetlab import palette

WIDTH = 336
LETTER = 5.6
"""How wide a letter of the 10-pixel text is on average."""
LEFT, RIGHT = 40, 10
"""Margins of a chart with axes, in pixels."""
ROW = 14
"""The height of a claim's strip."""
LINE, GAP = 12, 6
"""The height of a line of a claim's statement, and the room between claims that have one."""
STRIP = (62.0, 250.0)
"""Where claims' strips begin and end."""
SPAN = (-1.2, 2.2)
"""What a strip shows, in widths of the band from the band's lower end."""
Scale = Callable[[float], float]
"""From a value to its place in pixels."""
DASHES = ("", "5 2", "1 2", "5 2 1 2", "8 2", "3 1 1 1 1 1", "")


@dataclass(frozen=True)
class Printed:
    """What a paper prints at a place: a number, or only what is accepted.

    Attributes:
        value: The number; None if there is a band only.
        low: The lower end of what is accepted; infinite where it is open.
        high: The upper end.
    """

    value: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """A measured value with its interval, at a place of an axis, and what the paper prints there."""

    x: float
    y: float
    low: float
    high: float
    printed: Printed | None = None


@dataclass(frozen=True)
class Series:
    """Points that belong together."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Bound:
    """A value of an axis at which something changes.

    Attributes:
        value: The value.
        text: What it is.
    """

    value: float
    text: str


@dataclass(frozen=True)
class Chart:
    """Series over an axis.

    Attributes:
        title: What is measured, with its unit.
        x: What the axis is.
        series: What is drawn.
        rows: The names of the places, from the top, of dots by row; of lines none, or the axis' labels.
        bound: A value at which something changes, drawn as a line.
    """

    title: str
    x: str
    series: tuple[Series, ...]
    rows: tuple[str, ...] = ()
    bound: Bound | None = None

    @property
    def text(self) -> str:
        """What it shows, in words."""
        parts = []
        for each in self.series:
            ends = [_number(point.y) for point in (each.points[0], each.points[-1])]
            name = f"{each.name} " if each.name else ""
            parts.append(name + (ends[0] if len(each.points) == 1 else " to ".join(ends)))
        return f"{self.title} by {self.x}: {', '.join(parts)}"


@dataclass(frozen=True)
class Strip:
    """A claim: what was compared, each with the band in which it is said to lie.

    Attributes:
        label: The claim's number.
        verdict: What is said of it, in a word.
        kind: The verdict's class: ``good``, ``near``, ``bad``, ``open``.
        points: What was compared; places are not used.
        is_quick: Whether it rests on quick runs: its dots are hollow.
        statement: What the paper says, above the strip; nothing if it stands elsewhere.
    """

    label: str
    verdict: str
    kind: str
    points: tuple[Point, ...]
    is_quick: bool = False
    statement: str = ""

    @property
    def lines(self) -> list[str]:
        """Its number and statement, in lines."""
        return _wrapped(f"{self.label} {self.statement}", 61) if self.statement else []

    @property
    def height(self) -> int:
        """How much room it takes."""
        return ROW + (LINE * len(self.lines) + GAP if self.statement else 0)


@dataclass(frozen=True)
class Title:
    """A line between claims."""

    text: str
    height: int = ROW + 2


def height_of(rows: Iterable[Strip | Title]) -> int:
    """The height of claims below each other."""
    return 14 + sum(each.height for each in rows)


def svg_of_strips(rows: Sequence[Strip | Title], title: str, height: int = 0) -> str:
    """Claims below each other, each on its own scale; the grey column is the band.

    Args:
        rows: The claims, and titles between them.
        title: What is shown, in words.
        height: How high the picture is at least.
    """
    lines: list[str] = []
    y = 8.0
    for each in rows:
        if isinstance(each, Title):
            lines.append(f'<text x="4" y="{y + 11:.1f}" class="title">{escape(each.text)}</text>')
        else:
            lines += _strip(each, y)
        y += each.height
    return _document(WIDTH, max(height, height_of(rows)), title, lines)


def _strip(strip: Strip, top: float) -> Iterator[str]:
    for number, line in enumerate(strip.lines):
        rest = escape(line) if number else _labelled(line, strip.label)
        yield f'<text x="4" y="{top + 9 + LINE * number:.1f}">{rest}</text>'
    y = top + LINE * len(strip.lines) + ROW / 2
    text_y, quick = f"{y + 3.5:.1f}", " quick" if strip.is_quick else ""
    if not strip.statement:
        yield f'<text x="4" y="{text_y}">{escape(strip.label)}</text>'
    verdict = f'class="{strip.kind}{quick}">{escape(strip.verdict)}'
    yield f'<text x="{STRIP[1] + 8:.0f}" y="{text_y}" {verdict}</text>'
    yield f'<path class="rule" d="M{STRIP[0]:.0f} {y:.1f}H{STRIP[1]:.0f}"/>'
    there = [each for each in strip.points if math.isfinite(each.y)]
    if not there:
        return
    drawn = [placed(each, there) for each in there]
    low, high = min(each.low for each in _bands(drawn)), max(each.high for each in _bands(drawn))
    left, right = _across(low), _across(high)
    yield f'<rect class="band" x="{left:.1f}" y="{y - 6:.1f}" width="{right - left:.1f}" height="12"/>'
    step = min(3.0, 9 / len(drawn))
    heights = [y + (index - (len(drawn) - 1) / 2) * step for index in range(len(drawn))]
    for point, at in zip(drawn, heights, strict=True):
        yield _interval(point, at, f"{strip.kind}{quick}")
    printed = [each.value for each in _bands(drawn)]
    # A number that all cases are held against is drawn once.
    marks = [(printed[0], y)] if len(set(printed)) == 1 else zip(printed, heights, strict=True)
    for value, at in marks:
        if value is not None:
            yield _diamond(_across(value), at)


def _labelled(line: str, label: str) -> str:
    """A line whose first word is a claim's number."""
    return f'<tspan class="title">{escape(label)}</tspan>{escape(line.removeprefix(label))}'


def _bands(points: Sequence[Point]) -> Iterator[Printed]:
    return (each.printed for each in points if each.printed is not None)


def _interval(point: Point, y: float, kind: str) -> str:
    """A dot with its interval; an arrow head where one goes beyond the strip."""
    low, high = _across(point.low), _across(point.high)
    path = f"M{low:.1f} {y:.1f}H{high:.1f}"
    inside = SPAN[0] <= point.y <= SPAN[1]
    x = _across(point.y)
    mark = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>'
    if not inside:
        side = 4 if point.y > SPAN[1] else -4
        head = f"M{x - side:.1f} {y - 3:.1f}l{side} 3l{-side} 3Z"
        mark = f'<path class="{kind}" d="{head}"/>'
    return f'<path class="line {kind}" d="{path}"/>{mark}'


def _diamond(x: float, y: float, size: float = 4.2) -> str:
    return f'<path class="printed" d="M{x - size:.1f} {y:.1f}l{size} -{size}l{size} {size}l-{size} {size}Z"/>'


def _across(share: float) -> float:
    """A place of a strip, in pixels."""
    share = min(max(share, SPAN[0]), SPAN[1])
    return STRIP[0] + (share - SPAN[0]) / (SPAN[1] - SPAN[0]) * (STRIP[1] - STRIP[0])


def placed(point: Point, beside: Sequence[Point]) -> Point:
    """A point in widths of its band from its lower end.

    Where the band is open, the farthest value of the row that has the same end lies a width from it.
    """
    assert point.printed is not None
    low, high = point.printed.low, point.printed.high
    if math.isinf(low) and math.isinf(high):
        low, high = 0.0, 1.0
    end, sign = (low, 1.0) if math.isfinite(low) else (high, -1.0)
    if math.isfinite(low) and math.isfinite(high) and high > low:
        width = high - low
    else:
        same = [
            each
            for each in beside
            if each.printed is not None and end in (each.printed.low, each.printed.high)
        ]
        width = max((abs(each.y - end) for each in same if math.isfinite(each.y)), default=0.0) or 1.0

    def at(value: float) -> float:
        return (value - end) / width + (0.0 if sign > 0 else 1.0)

    value = point.printed.value
    band = Printed(
        None if value is None else at(value),
        at(low) if math.isfinite(low) else SPAN[0],
        at(high) if math.isfinite(high) else SPAN[1],
    )
    return Point(point.x, at(point.y), at(point.low), at(point.high), band)


# Lines and dots.


def svg_of_chart(chart: Chart) -> str:
    """Lines over an axis of numbers; dots where the places have names."""
    drawn = replace(
        chart,
        series=tuple(
            replace(each, points=tuple(point for point in each.points if math.isfinite(point.y)))
            for each in chart.series
        ),
    )
    return _dots(drawn) if chart.rows else _lines(drawn)


def _head(chart: Chart) -> tuple[list[str], float]:
    """Title and legend, and where they end."""
    lines: list[str] = []
    y = 16.0
    for part in _wrapped(chart.title, 52):
        lines.append(f'<text x="6" y="{y:.0f}" class="title">{escape(part)}</text>')
        y += 13
    entries = _legend(chart)
    x = 6.0
    for name, mark in entries:
        width = 30 + _length(name)
        if x + width > WIDTH and x > 6:
            x, y = 6.0, y + 13
        lines += mark(x, y - 3)
        lines.append(f'<text x="{x + 20:.0f}" y="{y:.0f}">{escape(name)}</text>')
        x += width
    return lines, y + (10 if entries else 0)


def _legend(chart: Chart) -> list[tuple[str, Callable[[float, float], list[str]]]]:
    """What the marks are, each with what draws it in 16 pixels."""
    entries: list[tuple[str, Callable[[float, float], list[str]]]] = []

    def of_series(index: int) -> Callable[[float, float], list[str]]:
        dash = f' stroke-dasharray="{DASHES[index % 7]}"' if DASHES[index % 7] else ""
        return lambda x, y: [
            f'<path class="s{index % 7} line" d="M{x:.0f} {y:.0f}h16"{dash}/>',
            _marker(index, x + 8, y),
        ]

    if len(chart.series) > 1:
        entries += [(each.name, of_series(index)) for index, each in enumerate(chart.series)]
    printed = [point.printed for each in chart.series for point in each.points if point.printed]
    if any(each.value is not None for each in printed):
        entries.append(("printed", lambda x, y: [_diamond(x + 8, y)]))
    if printed:
        entries.append(
            (
                "accepted",
                lambda x, y: [f'<rect class="band" x="{x:.0f}" y="{y - 4:.0f}" width="16" height="8"/>'],
            )
        )
    if chart.bound is not None:
        entries.append((chart.bound.text, lambda x, y: [f'<path class="bound" d="M{x:.0f} {y:.0f}h16"/>']))
    return entries


def _length(text: str) -> float:
    """About how wide a text is, in pixels: capitals are wider."""
    return sum(7.2 if each.isupper() else LETTER for each in text)


def _wrapped(text: str, letters: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, letters) or [""]


def _lines(chart: Chart) -> str:
    lines, top = _head(chart)
    bottom = top + 150
    points = [point for each in chart.series for point in each.points]
    low, high, ticks = _axis(_extent(points, chart.bound), 5)
    xs = sorted({point.x for point in points})
    first, last = (xs[0], xs[-1]) if len(xs) > 1 else (xs[0] - 1, xs[0] + 1)
    pad = 0.04 * (last - first)

    def x_of(value: float) -> float:
        return LEFT + (value - first + pad) / (last - first + 2 * pad) * (WIDTH - LEFT - RIGHT)

    def y_of(value: float) -> float:
        value = min(max(value, low), high)
        return bottom - (value - low) / (high - low) * (bottom - top)

    for tick in ticks:
        lines.append(f'<path class="grid" d="M{LEFT} {y_of(tick):.1f}H{WIDTH - RIGHT}"/>')
        lines.append(
            f'<text x="{LEFT - 4}" y="{y_of(tick) + 3.5:.1f}" class="end">{_tick(tick, ticks)}</text>'
        )
    for tick in _spread(xs, x_of):
        lines.append(f'<text x="{x_of(tick):.1f}" y="{bottom + 13:.0f}" class="mid">{_number(tick)}</text>')
        lines.append(f'<path class="axis" d="M{x_of(tick):.1f} {bottom:.1f}v3"/>')
    lines.append(f'<path class="axis" d="M{LEFT} {top:.1f}V{bottom:.1f}H{WIDTH - RIGHT}"/>')
    if chart.bound is not None:
        lines.append(f'<path class="bound" d="M{LEFT} {y_of(chart.bound.value):.1f}H{WIDTH - RIGHT}"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    lines.append(f'<text x="{middle:.0f}" y="{bottom + 27:.0f}" class="mid">{escape(chart.x)}</text>')
    for index, each in enumerate(chart.series):
        shift = 2.0 * (index - (len(chart.series) - 1) / 2)
        places = [(x_of(point.x) + shift, y_of(point.y)) for point in each.points]
        lines += _line(index, each, places, y_of)
    return _document(WIDTH, int(bottom + 34), chart.text, lines)


def _line(index: int, series: Series, where: Sequence[tuple[float, float]], y_of: Scale) -> Iterator[str]:
    if len(where) > 1:
        dash = f' stroke-dasharray="{DASHES[index % 7]}"' if DASHES[index % 7] else ""
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in where)
        yield f'<path class="s{index % 7} line" d="{path}"{dash}/>'
    bars = "".join(
        f"M{x:.1f} {y_of(point.low):.1f}V{y_of(point.high):.1f}"
        for (x, _), point in zip(where, series.points, strict=True)
        if point.high > point.low
    )
    if bars:
        yield f'<path class="s{index % 7} bar" d="{bars}"/>'
    for (x, y), point in zip(where, series.points, strict=True):
        yield _marker(index, x, y)
        if point.printed is not None:
            top, end = y_of(point.printed.high), y_of(point.printed.low)
            yield f'<rect class="band" x="{x - 3:.1f}" y="{top:.1f}" width="6" height="{end - top:.1f}"/>'
            if point.printed.value is not None:
                yield _diamond(x, y_of(point.printed.value))


def _dots(chart: Chart) -> str:
    lines, top = _head(chart)
    stacked = max(map(len, chart.rows)) > 22
    left = 10.0 if stacked else 12 + max(map(_length, chart.rows))
    step = 7.0
    height = max(13.0, step * len(chart.series) + 4) + (13 if stacked else 0)
    bottom = top + 4 + height * len(chart.rows)
    points = [point for each in chart.series for point in each.points]
    low, high, ticks = _axis(_extent(points), 5)

    def x_of(value: float) -> float:
        value = min(max(value, low), high)
        return left + (value - low) / (high - low) * (WIDTH - left - 14)

    for tick in ticks:
        lines.append(f'<path class="grid" d="M{x_of(tick):.1f} {top:.1f}V{bottom:.1f}"/>')
        lines.append(
            f'<text x="{x_of(tick):.1f}" y="{bottom + 12:.0f}" class="mid">{_tick(tick, ticks)}</text>'
        )
    for place, name in enumerate(chart.rows):
        y = top + 4 + height * place
        if stacked:
            lines.append(f'<text x="4" y="{y + 9:.1f}">{escape(name)}</text>')
        else:
            lines.append(
                f'<text x="{left - 6:.0f}" y="{y + height / 2 + 3.5:.1f}" class="end">{escape(name)}</text>'
            )
    for index, each in enumerate(chart.series):
        for point in each.points:
            y = top + 4 + height * point.x + (13 if stacked else 0)
            y += (height - (13 if stacked else 0)) / 2 + (index - (len(chart.series) - 1) / 2) * step
            lines += _dot(index, point, y, x_of)
    return _document(WIDTH, int(bottom + 18), chart.text, lines)


def _dot(index: int, point: Point, y: float, x_of: Scale) -> Iterator[str]:
    if point.printed is not None:
        start, end = x_of(point.printed.low), x_of(point.printed.high)
        yield f'<rect class="band" x="{start:.1f}" y="{y - 3.5:.1f}" width="{end - start:.1f}" height="7"/>'
    if point.high > point.low:
        yield f'<path class="s{index % 7} bar" d="M{x_of(point.low):.1f} {y:.1f}H{x_of(point.high):.1f}"/>'
    yield _marker(index, x_of(point.y), y)
    if point.printed is not None and point.printed.value is not None:
        yield _diamond(x_of(point.printed.value), y)


def _marker(index: int, x: float, y: float) -> str:
    """A mark of its own for each series."""
    hue, r = index % 7, 2.8
    if hue == 0:
        return f'<circle class="s{hue}" cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
    start, shape = {
        1: ((-2.8, -2.8), "h5.6v5.6h-5.6Z"),
        2: ((-3.6, 0.0), "l3.6 -3.6l3.6 3.6l-3.6 3.6Z"),
        3: ((-3.2, 2.8), "h6.4l-3.2 -6.2Z"),
        4: ((-3.2, -2.8), "h6.4l-3.2 6.2Z"),
        5: ((-3.4, -1.0), "h2.4v-2.4h2v2.4h2.4v2h-2.4v2.4h-2v-2.4h-2.4Z"),
        6: ((-3.8, -1.3), "h7.6v2.6h-7.6Z"),
    }[hue]
    return f'<path class="s{hue}" d="M{x + start[0]:.1f} {y + start[1]:.1f}{shape}"/>'


def _extent(points: Iterable[Point], bound: Bound | None = None) -> tuple[float, float]:
    """The ends of an axis that holds all values, and intervals and bands that do not dwarf these."""
    listed = list(points)
    values = [each.y for each in listed]
    values += [each.printed.value for each in listed if each.printed and each.printed.value is not None]
    values += [] if bound is None else [bound.value]
    low, high = min(values), max(values)
    reach = (high - low) or abs(high) or 1.0
    ends = [end for each in listed for end in (each.low, each.high)]
    ends += [end for each in listed if each.printed for end in (each.printed.low, each.printed.high)]
    near = [end for end in ends if math.isfinite(end) and low - 1.5 * reach <= end <= high + 1.5 * reach]
    low, high = min([low, *near]), max([high, *near])
    if min(values) >= 0:
        low = max(low, 0.0)
    # What hardly varies is not to look as if it did.
    is_flat = low >= 0 and high - low < 0.05 * high
    return (0.0 if is_flat or 0 <= low < 0.6 * high else low), high


def _axis(extent: tuple[float, float], count: int) -> tuple[float, float, list[float]]:
    """The ends of an axis and its ticks, at multiples of 1, 2 or 5 times a power of ten."""
    low, high = extent
    if high <= low:
        spare = abs(high) * 0.1 or 1.0
        low, high = (0.0 if low == 0 else low - spare), high + spare
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= raw * 0.8)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return first * step, last * step, [number * step for number in range(first, last + 1)]


def _spread(xs: Sequence[float], x_of: Scale) -> list[float]:
    """The places of an axis that have room for their number."""
    kept: list[float] = []
    for x in xs:
        room = LETTER * len(_number(x)) + 6
        if not kept or x_of(x) - x_of(kept[-1]) >= room:
            kept.append(x)
    return kept


def _tick(value: float, ticks: Sequence[float]) -> str:
    """A tick's number, with as many digits as the step between ticks needs."""
    step = ticks[1] - ticks[0]
    if max(map(abs, ticks)) >= 1e4 or step >= 1:
        return _number(value)
    digits = -math.floor(math.log10(step) + 1e-9)
    return f"{value + 0.0:.{digits}f}".replace("-", "−")


def _number(value: float) -> str:
    if math.isinf(value) or math.isnan(value):
        return "–"
    text = f"{value:.4g}" if abs(value) < 1e4 else f"{value / 1000:.4g}k"
    return text.replace("-", "−")


def _document(width: int, height: int, title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
        f'<rect class="ground" width="{width}" height="{height}" rx="4"/>\n{body}\n</svg>\n'
    )


def _style() -> str:
    """The style sheet: light, and dark where the reader's screen is."""
    kinds = {"good": "good", "near": "link", "bad": "bad", "open": "muted"}

    def colours(page: dict[str, str], series: Sequence[str]) -> str:
        rules = [
            f".ground{{fill:{page['ground']}}}",
            f"text{{fill:{page['text']}}}",
            f".grid,.rule{{stroke:{page['line']}}}",
            f".axis{{stroke:{page['muted']}}}",
            f".bound{{stroke:{page['text']}}}",
            f".band{{fill:{page['muted']}}}",
            f".printed{{fill:none;stroke:{page['text']}}}",
        ]
        rules += [f".s{index}{{fill:{hue};stroke:{hue}}}" for index, hue in enumerate(series)]
        rules += [
            f".{name}{{fill:{page[hue]}}}:is(.line,.quick).{name}{{stroke:{page[hue]}}}"
            for name, hue in kinds.items()
        ]
        rules.append(f":is(circle,path).quick{{fill:{page['ground']}}}")
        return "".join(rules)

    common = (
        "text{font:10px sans-serif}.title{font-weight:bold}.end{text-anchor:end}.mid{text-anchor:middle}"
        ".line,.bar,.axis,.grid,.rule,.bound{fill:none!important}.line{stroke-width:1.3}.bar{stroke-width:1}"
        ".bound{stroke-dasharray:3 3}"
        ".grid,.rule{stroke-width:.6}.band{opacity:.22}.printed{stroke-width:1.2}"
        "text.quick{font-style:italic;stroke:none!important}"
    )
    dark = colours(palette.DARK, palette.ON_DARK)
    return f"{common}{colours(palette.LIGHT, palette.ON_LIGHT)}@media(prefers-color-scheme:dark){{{dark}}}"


STYLE = _style()
