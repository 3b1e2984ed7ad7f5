"""Quantities: one value of every scenario, or an interval, from the runs, as data describes them.

A quantity is a table. Its words are those of `WORDS`; every other key is a factor with the label that is
chosen. What a quantity is made of (`ratio`, `difference`, `sum`, `relative`, or the arguments of a
`function`) takes from it the campaign, the measure and the levels that it does not give itself.

| word | what |
|---|---|
| `quantity` | a quantity of this name, over which the other keys are laid |
| `runs` | the campaign |
| `measure` | a total of the runs |
| `flow`, `kind` | with `measure`: that of the flow of this number; its sum over all flows of this kind |
| `drops`, `reasons` | dropped packets of this kind, for these reasons or any |
| `over` | the mean over these levels in every scenario |
| `join` | the values at these levels one after the other |
| `ratio`, `difference`, `sum` | of quantities, scenario by scenario |
| `relative`, `in_parts_of` | the difference of two, or the first of two, in parts of the mean of the second |
| `function` | a quantity of `functions`, by name; `with` has its arguments |
| `times`, `plus`, `per` | the result times a factor, plus a term, or divided by the label of this factor |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from manetlab.stats import Interval, mean_interval, paired_interval, paired_ratio
from manetlab_papers.campaigns import every
from manetlab_papers.ledger import Data, Ledger
from manetlab_papers.samples import NotRun, Runs, SeveralPoints, Values

OWN = (
    *("times", "plus", "per", "over", "join", "function", "with"),
    *("ratio", "difference", "sum", "relative", "in_parts_of"),
)
"""Words that belong to a quantity and not to what it is made of."""
INHERITED = ("runs", "measure", "flow", "kind", "drops", "reasons")
WORDS = (*OWN, *INHERITED, "quantity")

Computed = Values | Interval | float
Function = TypeVar("Function", bound=Callable[..., Any])
FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""What computes quantities, by name: of the evaluator, what is inherited, and arguments."""


def quantity(name: str) -> Callable[[Function], Function]:
    """Makes a function known to data by a name."""

    def known(function: Function) -> Function:
        if name in FUNCTIONS:
            raise ValueError(f"two quantities are called {name!r}")
        FUNCTIONS[name] = function
        return function

    return known


class TooFew(ValueError):
    """Fewer than two scenarios have all the values that a comparison needs."""


class Evaluator:
    """Evaluates quantities.

    Args:
        ledger: The ledger.
        runs: The finished runs.
        full: Whether all that the ledger's loops name must have been run.
    """

    def __init__(self, ledger: Ledger, runs: Runs, *, full: bool) -> None:
        self.ledger, self.runs, self.full = ledger, runs, full

    def table(self, data: Data) -> dict[str, Any]:
        """A quantity with those that it names laid under it."""
        if "quantity" not in data:
            return dict(data)
        named = self.table(self.ledger.quantities[data["quantity"]])
        return named | {key: value for key, value in data.items() if key != "quantity"}

    def lists(self, data: Data) -> list[Values]:
        """A function's values of every scenario at each place of an axis."""
        made = self.table(data)
        found: Any = FUNCTIONS[made["function"]](
            self, {key: value for key, value in made.items() if key not in OWN}, made.get("with", {})
        )
        return list(found)

    def values(self, data: Data) -> Values:
        """A quantity of every scenario.

        Raises:
            NotRun: It needs a point that was not run.
        """
        found = self.computed(data)
        if not isinstance(found, list):
            raise ValueError(f"{dict(data)} is not a value of every scenario")
        return found

    def computed(self, data: Data) -> Computed:
        """A quantity, be it a value of every scenario, an interval or one number."""
        made = self.table(data)
        inherited = {key: value for key, value in made.items() if key not in OWN}
        found = self._of(made, inherited)
        factor, term = float(made.get("times", 1)), float(made.get("plus", 0))
        if "per" in made:
            factor /= made[made["per"]]
        if factor == 1 and term == 0:
            return found
        if isinstance(found, Interval):
            return found.scaled(factor)
        if isinstance(found, float):
            return factor * found + term
        return [factor * each + term for each in found]

    def _of(self, made: Data, inherited: Data) -> Computed:
        for word in ("over", "join"):
            if word in made:
                rest = {
                    key: value for key, value in made.items() if key not in (word, "times", "plus", "per")
                }
                lists = [self.values({**rest, **chosen}) for chosen in self.loop(made[word], rest)]
                return pool(lists) if word == "over" else [value for each in lists for value in each]
        for word, operation in _OPERATIONS.items():
            if word in made:
                return operation([self.values({**inherited, **self.table(each)}) for each in made[word]])
        if "function" in made:
            found: Computed = FUNCTIONS[made["function"]](self, inherited, made.get("with", {}))
            return found
        return self._measured(inherited)

    def _measured(self, data: Data) -> Values:
        family = data["runs"]
        levels = levels_of(data)
        if "drops" in data:
            return self.runs.dropped(family, data["drops"], data.get("reasons"), levels)
        if "flow" in data:
            return self.runs.flow(family, data["measure"], data["flow"], levels)
        if "kind" in data:
            return self.runs.summed(family, data["measure"], data["kind"], levels)
        return self.runs.values(family, data["measure"], levels)

    def is_run(self, data: Data) -> bool:
        """Whether all points that a quantity needs were run, as far as its levels say which they are."""
        try:
            self.computed(data)
        except NotRun:
            return False
        except (SeveralPoints, TooFew):
            return True
        return True

    def loop(self, levels: Data, *quantities: Data) -> list[dict[str, Any]]:
        """Combinations of levels, of which a quick reproduction leaves out those that were not run.

        Args:
            levels: By factor, a list of labels, or a table, which stands for all labels that were run: with
                ``from`` and ``to`` those of that span, with ``common`` those of several campaigns.
            quantities: What must have been run at a combination.

        Raises:
            NotRun: A combination was not run, and all are needed, or none was run.
        """
        listed = {name: self.labels(name, wanted, quantities) for name, wanted in levels.items()}
        found = list(every(listed))
        if not self.full:
            found = [each for each in found if all(self.is_run({**given, **each}) for given in quantities)]
        if not found:
            raise NotRun(str(dict(levels)))
        return found

    def labels(self, name: str, wanted: Any, quantities: Sequence[Data]) -> Sequence[Any]:
        """The labels that a loop goes over: those that it lists, or of a span those that were run."""
        if isinstance(wanted, list):
            return wanted
        if "common" in wanted:
            quantities = [{"runs": campaign} for campaign in wanted["common"]]
        spans = [
            {
                label
                for label in self.runs.labels(made["runs"], name, levels_of(made))
                if not wanted or wanted.get("from", -math.inf) <= label <= wanted.get("to", math.inf)
            }
            for made in map(self.table, quantities)
        ]
        return sorted(set.intersection(*spans))


def levels_of(data: Data) -> dict[str, Any]:
    """The levels among a quantity's keys."""
    return {key: value for key, value in data.items() if key not in WORDS}


def pool(lists: Sequence[Values]) -> Values:
    """The mean of several values of every scenario."""
    return [sum(each) / len(lists) for each in zip(*lists, strict=True)]


def relative(first: Values, second: Values) -> Values:
    """The difference in every scenario in parts of the second's mean."""
    mean = average(second)
    return [(a - b) / mean for a, b in zip(first, second, strict=True)]


def average(values: Values) -> float:
    """The mean of the scenarios that have a value."""
    present = [each for each in values if not math.isnan(each)]
    return sum(present) / len(present) if present else math.nan


def _ratio(lists: list[Values]) -> Values:
    return [a / b if b else math.nan for a, b in zip(*lists, strict=True)]


_OPERATIONS: Mapping[str, Callable[[list[Values]], Values]] = {
    "ratio": _ratio,
    "difference": lambda lists: [a - b for a, b in zip(*lists, strict=True)],
    "sum": lambda lists: [sum(each) for each in zip(*lists, strict=True)],
    "relative": lambda lists: relative(*lists),
    "in_parts_of": lambda lists: [each / average(lists[1]) for each in lists[0]],
}


def present(*lists: Values) -> list[Values]:
    """The values of the scenarios that have all of them.

    Raises:
        TooFew: There are fewer than two.
    """
    rows = [row for row in zip(*lists, strict=True) if not any(map(math.isnan, row))]
    if len(rows) < 2:
        raise TooFew("fewer than two scenarios have the values")
    return [list(column) for column in zip(*rows, strict=True)]


def counted(*lists: Values) -> str:
    """How many scenarios have all the values, in brackets; nothing where all do."""
    rows = list(zip(*lists, strict=True))
    there = sum(not any(map(math.isnan, row)) for row in rows)
    return f" (n = {there} of {len(rows)})" if there < len(rows) else ""


def middle(values: Values) -> str:
    """The mean; where values lie beyond an axis the median and how many of them do."""
    from statistics import median

    there = [each for each in values if not math.isnan(each)]
    beyond = sum(map(math.isinf, there))
    if not beyond:
        return number(average(values))
    centre = median(there)
    text = "median beyond the axis" if math.isinf(centre) else f"median {number(centre)}"
    return f"{text} ({beyond} of {len(there)} beyond it)"


def mean(values: Values) -> Interval:
    """The mean with its interval."""
    [there] = present(values)
    return mean_interval(there)


def ratio(a: Values, b: Values) -> Interval:
    """The quotient of the means of paired values."""
    first, second = present(a, b)
    return paired_ratio(first, second)


def difference(a: Values, b: Values) -> Interval:
    """The mean paired difference."""
    first, second = present(a, b)
    return paired_interval(first, second)


def percent(a: Values, b: Values) -> Interval:
    """The change of the mean from b to a in percent of b, for paired values."""
    quotient = ratio(a, b)
    low, high = (100 * (end - 1) for end in (quotient.low, quotient.high))
    return Interval.between(100 * (quotient.mean - 1), low, high, quotient.n)


def points(a: Values, b: Values, base: Values) -> Interval:
    """The difference a − b in percent of the mean of ``base``, for paired values."""
    return ratio([first - second for first, second in zip(a, b, strict=True)], base).scaled(100)


COMPARISONS: Mapping[str, Callable[..., Interval]] = {
    "mean": mean,
    "ratio": ratio,
    "difference": difference,
    "percent": percent,
    "points": points,
}
"""What makes an interval of a quantity, of two, or of three."""


def exact(value: float) -> Interval:
    """One number that no chance is in."""
    return Interval(value, 0.0, 1)


def number(value: float, digits: int = 4) -> str:
    """A number of so many digits, without a power of ten where it is large."""
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text else text


def shown(interval: Interval, unit: str = "", digits: int = 4) -> str:
    """An interval as tables show it: no digits that it does not support; a number without chance by itself.

    Args:
        interval: The interval.
        unit: What follows.
        digits: The significant digits of the estimate, unless the interval supports fewer: two of its
            half-width, and as many decimals of the estimate.
    """
    if interval.n == 1:
        return f"{number(interval.mean, digits)}{unit}"
    width = (interval.high - interval.low) / 2
    if width == 0 or not math.isfinite(width):
        half = "0" if width == 0 else "∞"
        return f"{number(interval.mean, digits)} ± {half}{unit}"
    decimals = min(_decimals(width, 2), _decimals(interval.mean, digits))
    middle = rounded(interval.mean, decimals)
    if interval.ends is not None and not _is_middle(interval):
        return f"{middle} ({rounded(interval.low, decimals)} to {rounded(interval.high, decimals)}){unit}"
    return f"{middle} ± {rounded(width, _decimals(width, 2))}{unit}"


def rounded(value: float, decimals: int) -> str:
    """A number of so many decimals; of -2 it is rounded to hundreds."""
    if decimals > 6:
        return number(value, 2)
    # Adding zero turns -0 into 0.
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"


def _decimals(value: float, digits: int) -> int:
    """How many decimals a number of so many significant digits has."""
    return digits - 1 - math.floor(math.log10(abs(value))) if value else digits - 1


def _is_middle(interval: Interval) -> bool:
    """Whether the estimate is the interval's middle, as far as a table could show."""
    if math.isinf(interval.half_width):
        return True
    middle = (interval.low + interval.high) / 2
    return abs(interval.mean - middle) <= 0.05 * interval.half_width
