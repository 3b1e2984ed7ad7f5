"""How values of metrics are written in a report."""

from __future__ import annotations

import math

from manetlab.metrics import Metric
from manetlab.stats import Interval

MINUS = "−"


def number(value: float, metric: Metric, *, signed: bool = False) -> str:
    """A value of a metric in its unit, without naming it; a dash for no value, ∞ for a boundless one."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    scaled = round(value * metric.factor, metric.digits) + 0.0
    return f"{scaled:{'+' if signed else ''}.{metric.digits}f}".replace("-", MINUS)


def plus_minus(interval: Interval, metric: Metric) -> str:
    """A mean and its half width in the metric's unit."""
    return f"{number(interval.mean, metric)} ± {number(interval.half_width, metric)}"


def with_unit(text: str, metric: Metric) -> str:
    """The text with the metric's unit after it."""
    return f"{text} {metric.unit}".rstrip()


def span(low: float, high: float, metric: Metric, *, signed: bool = False) -> str:
    """An interval by its ends."""
    return f"{number(low, metric, signed=signed)} to {number(high, metric, signed=signed)}"


def percent(ratio: float) -> str:
    """A ratio as the change that it is: 1.08 as +8.0 %."""
    return "–" if not math.isfinite(ratio) else f"{(ratio - 1) * 100:+.1f} %".replace("-", MINUS)


def p_value(p: float) -> str:
    """A p-value with two significant digits."""
    if math.isnan(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def listed(parts: list[str], last: str = "and") -> str:
    """Parts joined as in a sentence: ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""
