"""Means adjusted for covariates: against regressions made by hand, limits, and what they are for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from manetlab.errors import InputError
from manetlab.stats import adjusted_interval, bounded_interval, mean_interval
from manetlab.stats.regression import explained

Array = NDArray[np.float64]


def drawn(seed: int, n: int, m: int) -> tuple[Array, Array, Array]:
    """Values that a first covariate explains well and a second a little, and both of all draws."""
    random = np.random.default_rng(seed)
    first, second = random.gamma(3.0, 1.0, m), random.normal(0.0, 1.0, m)
    values = 5.0 + 2.0 * first[:n] + 0.5 * second[:n] + random.normal(0.0, 0.5, n)
    return values, first, second


def adjusted(values: Array, *covariates: Array, **changes: float):  # type: ignore[no-untyped-def]
    names = [f"x{number}" for number in range(len(covariates))]
    here = {name: list(of[: len(values)]) for name, of in zip(names, covariates, strict=True)}
    everywhere = {name: list(of) for name, of in zip(names, covariates, strict=True)}
    return adjusted_interval(list(values), here, everywhere, **changes)


def test_each_value_is_moved_along_the_regression_of_the_others() -> None:
    values, first, second = drawn(1, 25, 900)
    found = adjusted(values, first, second)
    assert found.covariates == ("x0", "x1")
    known = np.column_stack([first, second])
    not_run = known[25:].mean(axis=0)
    moved = []
    for index in range(25):
        rest = np.arange(25) != index
        design = np.column_stack([np.ones(24), known[:25][rest]])
        (_, *slopes), *_ = np.linalg.lstsq(design, values[rest], rcond=None)
        moved.append(values[index] + (1 - 25 / 900) * np.array(slopes) @ (not_run - known[index]))
    assert found.interval.mean == pytest.approx(np.mean(moved))
    assert (found.draws, found.interval.n, found.reason) == (900, 25, "")


@pytest.mark.parametrize(
    ("draw", "curve", "truth"),
    [
        (lambda random, m: random.uniform(0.0, 2.0, m), lambda x: 1.0 + x**2, 1.0 + 4.0 / 3.0),
        (lambda random, m: random.normal(0.0, 1.0, m), lambda x: np.exp(0.5 * x), math.exp(0.125)),
    ],
)
def test_a_curved_relation_does_not_bias_the_mean(draw, curve, truth) -> None:  # type: ignore[no-untyped-def]
    random = np.random.default_rng(12)
    ours, common, covered, count = [], [], 0, 1_000
    for _ in range(count):
        covariate = draw(random, 200)
        values = curve(covariate[:10]) + random.normal(0.0, 0.1, 10)
        found = adjusted(values, covariate)
        ours.append(found.interval.mean - truth)
        covered += found.interval.holds(truth)
        common.append(np.polyval(np.polyfit(covariate[:10], values, 1), covariate.mean()) - truth)
    error = np.std(ours) / math.sqrt(count)
    assert abs(np.mean(ours)) < 3 * error
    # The regression with common slopes is biased: the test could see it.
    assert np.mean(common) < -4 * np.std(common) / math.sqrt(count)
    assert 0.93 <= covered / count <= 0.97


def test_a_skewed_rest_is_told() -> None:
    random = np.random.default_rng(13)
    covariate = random.normal(0.0, 1.0, 400)
    noise = random.normal(0.0, 0.1, 20)
    even, skewed = (
        3.0 * covariate[:20] + noise,
        3.0 * covariate[:20] + np.where(np.arange(20) == 7, 3.0, noise),
    )
    assert adjusted(even, covariate).skewness is None
    told = adjusted(skewed, covariate)
    assert told.is_adjusted
    assert told.skewness is not None
    assert told.skewness > 1.0


def test_its_variance_is_that_of_left_out_residuals_and_of_the_draws() -> None:
    values, first, _ = drawn(2, 15, 400)
    found = adjusted(values, first)
    n, x, y = 15, first[:15], values
    slope, _ = np.polyfit(x, y, 1)
    left_out = []
    for index in range(n):
        rest = np.arange(n) != index
        left_out.append(y[index] - np.polyval(np.polyfit(x[rest], y[rest], 1), x[index]))
    weights = 1 / n + (x - x.mean()) * (first.mean() - x.mean()) / np.sum((x - x.mean()) ** 2)
    of_values = np.sum((weights * np.array(left_out)) ** 2) * (n - 1) / n
    of_draws = slope**2 * np.var(first, ddof=1) / 400
    t = 2.160368656
    assert found.interval.half_width == pytest.approx(t * math.sqrt(of_values + of_draws), rel=1e-6)
    plain = np.var(y, ddof=1) / n
    assert found.gain == pytest.approx(plain / (of_values + of_draws))


def test_with_no_more_draws_than_values_the_mean_stays_and_little_is_gained() -> None:
    values, first, second = drawn(3, 40, 40)
    found = adjusted(values, first, second)
    assert found.interval.mean == pytest.approx(values.mean())
    assert found.gain == pytest.approx(1.0, abs=0.1)


def test_the_unit_of_a_covariate_and_of_the_values_does_not_matter() -> None:
    values, first, second = drawn(4, 30, 500)
    one, other = adjusted(values, first, second), adjusted(1e6 * values, 1e9 * first + 1e10, 1e-6 * second)
    assert other.interval.mean == pytest.approx(1e6 * one.interval.mean, rel=1e-6)
    assert other.gain == pytest.approx(one.gain, rel=1e-4)


def test_intervals_cover_the_mean_and_are_narrower() -> None:
    covered, widths = 0, []
    for seed in range(400):
        values, first, second = drawn(seed, 15, 600)
        found = adjusted(values, first, second)
        covered += found.interval.holds(11.0)
        widths.append(found.interval.half_width / mean_interval(list(values)).half_width)
    # The residuals' variance is 0.5, that of the values 12.5; Student's t has one degree of freedom less.
    assert 0.92 <= covered / 400 <= 0.98
    assert np.mean(widths) < 0.3


def test_few_values_have_few_covariates() -> None:
    values, first, second = drawn(5, 40, 400)
    third = np.random.default_rng(6).normal(0.0, 1.0, 400)
    strong = values + 3.0 * third[:40]
    used = [len(adjusted(strong[:n], first, second, third).covariates) for n in (10, 19, 20, 30)]
    assert used[0] <= 1
    assert used[1] <= 1
    assert used[2] <= 2
    assert used[3] == 3


@pytest.mark.parametrize(
    ("values", "covariate", "reason"),
    [
        (np.arange(9.0), np.arange(99.0), "an adjusted mean needs 10"),
        (np.zeros(12), np.arange(99.0), "all values are equal"),
        (np.arange(12.0), np.ones(99), "the covariates are the same"),
    ],
)
def test_where_nothing_can_be_adjusted_the_reason_is_told(
    values: Array, covariate: Array, reason: str
) -> None:
    found = adjusted(values, covariate)
    assert reason in found.reason
    assert not found.is_adjusted
    assert math.isnan(found.gain)
    assert (found.draws, found.covariates) == (0, ())
    assert found.interval == mean_interval(list(values))


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("n", [10, 20, 30])
def test_adjusted_intervals_cover_also_where_the_covariates_are_useless(correlation: float, n: int) -> None:
    random = np.random.default_rng(n)
    samples, covered, is_adjusted = 1000, 0, 0
    for _ in range(samples):
        covariates = random.normal(size=(1 + (n - 10) // 10, 400))
        rest = math.sqrt(1.0 - correlation**2) * random.normal(size=n)
        found = adjusted(correlation * covariates[0][:n] + rest, *covariates)
        is_adjusted += found.is_adjusted
        covered += found.interval.low <= 0.0 <= found.interval.high
    # No value has a say in whether its mean is adjusted: what holds of all holds of the adjusted ones.
    assert is_adjusted == samples
    assert covered / samples >= 0.94


def test_a_covariate_that_repeats_another_is_left_out() -> None:
    values, first, second = drawn(7, 30, 300)
    found = adjusted(values, first, 3.0 * first - 1.0, second)
    assert found.covariates == ("x0", "x2")
    assert found.interval.mean == pytest.approx(adjusted(values, first, second).interval.mean)


def test_means_between_bounds_have_intervals_between_them() -> None:
    random = np.random.default_rng(8)
    covariate = random.random(500)
    values = 0.9 + 0.1 * covariate[:20] ** 2 - 0.01 * random.random(20)
    found = adjusted(values, covariate, least=0.0, most=1.0)
    assert found.is_adjusted
    assert 0.0 < found.interval.low < found.interval.mean < found.interval.high < 1.0
    assert found.interval.half_width < bounded_interval(list(values), 0.0, 1.0).half_width


def test_a_mean_beyond_its_bounds_is_not_adjusted() -> None:
    covariate = np.concatenate([np.linspace(0.0, 1.0, 12), np.full(500, 3.0)])
    values = 0.5 + 0.49 * covariate[:12] + 0.005 * (-1.0) ** np.arange(12)
    found = adjusted(values, covariate, least=0.0, most=1.0)
    assert "beyond what the metric can be" in found.reason
    assert found.interval == bounded_interval(list(values), 0.0, 1.0)


@pytest.mark.parametrize("turned", [False, True])
def test_a_mean_on_a_bound_is_not_adjusted(turned: bool) -> None:
    # On a straight line without residuals the adjusted mean is that of the line: (5 + 10 · 1.5) / 20 = 1.
    covariate = np.array([0.0, 1.0] * 5 + [1.5] * 10)
    line = 1.0 - covariate if turned else covariate
    found = adjusted(line[:10], covariate, least=0.0, most=1.0)
    assert "beyond what the metric can be" in found.reason
    assert adjusted(line[:10], covariate, least=-0.1, most=1.1).interval.mean == (0.0 if turned else 1.0)


def test_far_from_its_bounds_an_interval_is_that_without_bounds() -> None:
    values, first, _ = drawn(14, 15, 400)
    plain, bounded = (adjusted(values, first), adjusted(values, first, least=-1e7, most=1e7))
    assert (bounded.interval.low, bounded.interval.high) == pytest.approx(
        (plain.interval.low, plain.interval.high), rel=1e-4
    )


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_covariate_that_varies_by_rounding_only_is_constant(unit: float) -> None:
    values, first, _ = drawn(15, 12, 300)
    rounded = np.where(np.arange(300) % 2, 0.1 + 0.2, 0.3) * unit
    assert len(set(rounded)) == 2
    assert adjusted(values, rounded, unit * first).covariates == ("x1",)
    assert "the covariates are the same" in adjusted(values, rounded, np.zeros(300)).reason


def test_a_covariate_adds_something_from_a_thousand_millionth_of_its_variance_on() -> None:
    random = np.random.default_rng(16)
    values, first, _ = drawn(16, 30, 300)
    # Without anything that the first 30 of the other could say of it.
    own = random.normal(0.0, 1.0, 300)
    design = np.column_stack([np.ones(30), first[:30]])
    own[:30] -= design @ np.linalg.lstsq(design, own[:30], rcond=None)[0]
    own *= first[:30].std() / own[:30].std()
    for share, used in ((0.5e-9, ("x0",)), (2e-9, ("x0", "x1"))):
        assert adjusted(values, first, first + math.sqrt(share) * own).covariates == used


def missed_by_the_others(values: Array, *covariates: Array) -> float:
    """The sum of squares by which regressions without a value miss it."""
    total = 0.0
    for index in range(len(values)):
        rest = np.arange(len(values)) != index
        design = np.column_stack([np.ones(len(values)), *covariates])
        slopes, *_ = np.linalg.lstsq(design[rest], values[rest], rcond=None)
        total += float(values[index] - design[index] @ slopes) ** 2
    return total


def test_what_is_explained_is_what_predictions_of_left_out_values_do_not_miss() -> None:
    values, first, second = drawn(17, 30, 30)
    noise = np.random.default_rng(17).normal(0.0, 1.0, 30)
    for n, covariates, used in (
        # One covariate of 10 values and of 19, two of 20 and of 29, and three of 30.
        (10, (first, second), 1),
        (19, (first, second), 1),
        (20, (noise, first, second), 2),
        (29, (noise, first, second), 2),
        (30, (noise, second, first), 3),
    ):
        listed = [of[:n] for of in covariates]
        alone = missed_by_the_others(values[:n])
        missed = missed_by_the_others(values[:n], *listed[:used])
        share = explained(list(values[:n]), {str(place): list(of) for place, of in enumerate(listed)})
        assert share == pytest.approx(1.0 - missed / alone, rel=1e-9)
        assert share > 0.5


def test_covariates_after_the_one_that_predicts_best_take_nothing_from_what_is_explained() -> None:
    values, first, _ = drawn(18, 40, 40)
    with_one = 1.0 - missed_by_the_others(values, first) / missed_by_the_others(values)
    noise = next(
        noise
        for noise in np.random.default_rng(18).normal(0.0, 1.0, (99, 40))
        if missed_by_the_others(values, first, noise) > missed_by_the_others(values, first)
    )
    assert explained(list(values), {"a": list(first), "b": list(noise)}) == pytest.approx(with_one)
    assert explained(list(values), {"a": [1.0] * 40}) == 0.0


def test_an_adjusted_mean_is_a_value() -> None:
    values, first, _ = drawn(19, 12, 100)
    assert len({adjusted(values, first), adjusted(values, first), adjusted(values + 1.0, first)}) == 2


def test_what_is_explained_is_that_of_values_not_fitted() -> None:
    values, first, second = drawn(9, 60, 60)
    share = explained(list(values), {"a": list(first), "b": list(second)})
    assert 0.9 < share < 1.0
    noise = np.random.default_rng(10).normal(0.0, 1.0, 60)
    assert explained(list(noise), {"a": list(first)}) < 0.1
    assert explained([1.0] * 20, {"a": list(first[:20])}) == 0.0
    assert explained(list(values[:9]), {"a": list(first[:9])}) == 0.0


def test_covariates_that_do_not_fit_are_refused() -> None:
    twelve, thirty, more = [1.0] * 12, [1.0] * 30, [1.0] * 31
    for known, of_all, found in (
        ({"x": [1.0] * 11}, {"x": thirty}, "x: 11 and 30"),
        ({"x": twelve}, {"y": thirty}, "x: 12 and 0"),
        ({"x": twelve, "y": twelve}, {"x": thirty, "y": more}, "x: 12 and 30, y: 12 and 31"),
        ({"x": twelve, "y": [1.0] * 13}, {"x": thirty, "y": thirty}, "x: 12 and 30, y: 13 and 30"),
        ({}, {"x": thirty}, "none"),
    ):
        with pytest.raises(InputError, match="covariates do not fit") as refused:
            adjusted_interval(twelve, known, of_all)
        assert refused.value.found == found
