"""A mean made more precise by what is known without a run: regression estimation with double sampling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manetlab.errors import InputError
from manetlab.stats import checks
from manetlab.stats.bounded import bounded_interval, within_bounds
from manetlab.stats.intervals import Interval, deviation, heavy_tail, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LEAST, EACH = 10, 10
"""Values that the first covariate needs, and how many more each further one does."""
SAME = 1e-9
"""Share of its variance below which a covariate says nothing that those before it do not say."""


@dataclass(frozen=True)
class AdjustedMean:
    """A mean that is adjusted for covariates, or the reason why it is not.

    Attributes:
        interval: The adjusted mean with its interval; the unadjusted one if it is not adjusted.
        gain: The variance of the unadjusted mean over that of the adjusted one, both as estimated: the
            factor by which fewer replications give the same interval. NaN if it is not adjusted.
        draws: The draws of which the covariates are known; 0 if it is not adjusted.
        covariates: The names of those that are used.
        reason: Why it is not adjusted; empty if it is.
        skewness: That of what the covariates leave, if it is so skewed that the interval may cover the mean
            less often than it says; else None.
    """

    interval: Interval
    gain: float = math.nan
    draws: int = 0
    covariates: tuple[str, ...] = ()
    reason: str = ""
    skewness: float | None = None

    @property
    def is_adjusted(self) -> bool:
        """Is the mean adjusted?"""
        return not self.reason


def adjusted_interval(
    values: Sequence[float],
    covariates: Mapping[str, Sequence[float]],
    drawn: Mapping[str, Sequence[float]],
    least: float = -math.inf,
    most: float = math.inf,
    confidence: float = 0.95,
) -> AdjustedMean:
    """The mean of values that depend on covariates whose mean is known better than theirs.

    Regression estimation with double sampling (Cochran 1977, chapter 12): the values of ``n`` draws, and the
    covariates of many more. Each value is moved from its own covariates to those of all draws, along the
    regression of the other values; the estimate is the mean of what comes of it. As no value has a part in
    its own slopes, the mean is unbiased whatever the relation is, a straight line or not (Mickey 1959;
    Avramidis and Wilson 1993); with common slopes its bias falls only as 1/n where the relation is curved
    (Cochran 1977, section 7.7). Its variance is the sum of two: that of the residuals, each taken from a
    regression without its own draw (the jackknife, which needs no equal variances), and that of the
    covariates' mean over the draws. The interval is Student's with n − p − 1 degrees of freedom for ``p``
    covariates (Lavenberg and Welch 1981), and between ``least`` and ``most`` the score interval of
    `bounded_interval` with that variance. If these residuals are skewed, as `heavy_tail_warning` tests it,
    the result says so.

    The covariates that are used are the first ones: one from 10 values on, two from 20, three from 30 and so
    on. The values have no say in it: covariates that are chosen because they fit are those whose fit is
    partly luck, and intervals around them cover too rarely. A covariate that says nothing therefore costs
    its degree of freedom, and the gain is then below 1. A covariate that is constant, or a combination of
    those before it, is left out.

    Args:
        values: The values.
        covariates: By name, in order of importance, each covariate of the draws that have a value.
        drawn: By the same names, each covariate of all draws, those with a value included.
        least: The minimum possible value.
        most: The greatest possible value.
        confidence: The interval's confidence.

    Returns:
        The adjusted mean, or the unadjusted one with the reason.

    Raises:
        InputError: There are no values, lists have different lengths, a value is not finite or not from
            ``least`` to ``most``, or the confidence is not a share.
    """
    listed = checks.numbers(values, "adjusted_interval")
    confidence = checks.confidence(confidence, "adjusted_interval: confidence")
    known, all_known = _checked(covariates, drawn, len(listed))
    plain = _unadjusted(listed, least, most, confidence)
    n = len(listed)
    if n < LEAST:
        return AdjustedMean(plain, reason=f"{n} replications; an adjusted mean needs {LEAST}")
    if deviation(listed) == 0.0:
        return AdjustedMean(plain, reason="all values are equal")
    names, columns, everywhere = _useful(known, all_known, 1 + (n - LEAST) // EACH)
    if not names:
        return AdjustedMean(plain, reason="the covariates are the same in all replications")
    mean, variance, residuals = _estimate(listed, columns, everywhere)
    if not least < mean < most:
        return AdjustedMean(plain, reason="the adjusted mean would be beyond what the metric can be")
    t = t_quantile(0.5 + confidence / 2, n - len(names) - 1)
    half_width = t * math.sqrt(variance)
    interval = (
        Interval(mean, half_width, n)
        if math.isinf(least)
        else within_bounds(mean, half_width, least, most, n)
    )
    gain = deviation(listed) ** 2 / n / variance
    return AdjustedMean(interval, gain, len(everywhere[0]), tuple(names), skewness=heavy_tail(residuals))


def explained(values: Sequence[float], covariates: Mapping[str, Sequence[float]]) -> float:
    """The share of the variance of values that covariates explain of values that they were not fitted to.

    Of the covariates that `adjusted_interval` uses as many of the first count as predict best each value from
    the others (leave-one-out); the share is 0 if none does better than the mean of the others.
    """
    n = len(values)
    if n < LEAST or deviation(values) == 0.0:
        return 0.0
    names, columns, _ = _useful(covariates, covariates, 1 + (n - LEAST) // EACH)
    return _share_explained(values, columns) if names else 0.0


def _share_explained(values: Sequence[float], columns: Sequence[Array]) -> float:
    """The share that the first columns explain, as many as predict best each value from the others."""
    import numpy as np

    y = np.asarray(values, dtype=float)
    n = len(y)
    alone = float(np.sum(((y - y.mean()) * n / (n - 1)) ** 2))
    missed = [alone]
    for count, _ in enumerate(columns, 1):
        first = np.column_stack(columns[:count])
        _, residuals, inverse = _fitted(y, first)
        missed.append(float(np.sum(_without(residuals, first, inverse) ** 2)))
    return 1.0 - min(missed) / alone


def _without(residuals: Array, columns: Array, inverse: Array) -> Array:
    """The residual of each value from the regression of the others: its leverage says how much it drew it."""
    import numpy as np

    leverages = 1.0 / len(residuals) + np.einsum("ij,jk,ik->i", columns, inverse, columns)
    return residuals / np.maximum(1.0 - leverages, SAME)  # type: ignore[no-any-return]


def _checked(
    covariates: Mapping[str, Sequence[float]], drawn: Mapping[str, Sequence[float]], n: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    known = {name: checks.numbers(of, f"adjusted_interval: {name}") for name, of in covariates.items()}
    all_known = {name: checks.numbers(of, f"adjusted_interval: {name}") for name, of in drawn.items()}
    lengths = {len(of) for of in all_known.values()}
    if known.keys() != all_known.keys() or any(len(of) != n for of in known.values()) or len(lengths) > 1:
        found = ", ".join(
            f"{name}: {len(of)} and {len(all_known.get(name, ()))}" for name, of in known.items()
        )
        wanted = f"each covariate of the {n} values, and of all draws"
        raise InputError("the covariates do not fit", "adjusted_interval", found or "none", wanted)
    return known, all_known


def _unadjusted(values: Sequence[float], least: float, most: float, confidence: float) -> Interval:
    from manetlab.stats.intervals import mean_interval

    if math.isinf(least):
        return mean_interval(values, confidence)
    return bounded_interval(values, least, most, confidence)


def _useful(
    known: Mapping[str, Sequence[float]], all_known: Mapping[str, Sequence[float]], count: int
) -> tuple[list[str], list[Array], list[Array]]:
    """The first ``count`` covariates that vary by themselves: names, and one column each, scaled alike."""
    import numpy as np

    names: list[str] = []
    columns: list[Array] = []
    basis: list[Array] = []
    everywhere: list[Array] = []
    for name in known:
        if len(names) == count:
            break
        here, all_here = np.asarray(known[name], dtype=float), np.asarray(all_known[name], dtype=float)
        centre, scale = float(here.mean()), float(here.std())
        if scale <= SAME * abs(centre):
            continue
        column = (here - centre) / scale
        rest = column.copy()
        for each in basis:
            rest -= (rest @ each) * each
        if rest @ rest <= SAME * len(rest):
            continue
        names.append(name)
        columns.append(column)
        basis.append(rest / math.sqrt(float(rest @ rest)))
        everywhere.append((all_here - centre) / scale)
    return names, columns, everywhere


def _fitted(y: Array, columns: Array) -> tuple[Array, Array, Array]:
    """Slopes and residuals of a regression with an intercept, and the inverse of the columns' products."""
    import numpy as np

    inverse = np.linalg.inv(columns.T @ columns)
    slopes = inverse @ (columns.T @ (y - y.mean()))
    return slopes, y - y.mean() - columns @ slopes, np.asarray(inverse, dtype=np.float64)


def _estimate(
    values: Sequence[float], here: Sequence[Array], all_here: Sequence[Array]
) -> tuple[float, float, list[float]]:
    """The adjusted mean, its variance, and the residuals of left-out values. Columns have a mean of zero."""
    import numpy as np

    y, columns, everywhere = np.asarray(values, dtype=float), np.column_stack(here), np.column_stack(all_here)
    n, m = len(y), len(everywhere)
    slopes, residuals, inverse = _fitted(y, columns)
    left_out = _without(residuals, columns, inverse)
    away = everywhere.mean(axis=0)
    # The slopes without each value. It is moved to the mean of the draws that were not run, the share of
    # which makes it the mean of all draws: neither has a part in these slopes.
    others = slopes - (columns @ inverse) * left_out[:, None]
    moved = np.einsum("ij,ij->i", others, away - (1.0 - n / m) * columns)
    # To first order the estimate is a weighted sum of the values.
    weights = 1.0 / n + columns @ (inverse @ away)
    of_values = float(np.sum((weights * left_out) ** 2)) * (n - 1) / n
    spread = np.atleast_2d(np.cov(everywhere, rowvar=False))
    of_draws = float(slopes @ spread @ slopes) / m
    return math.fsum(y + moved) / n, of_values + of_draws, left_out.tolist()
