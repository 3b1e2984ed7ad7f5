"""MSER-5 on series whose transient is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab.errors import InputError
from manetlab.running import Result
from manetlab.stats import mser5, warmup_check, warmup_warning


def direct(series: list[float]) -> int:
    """MSER-5 as its definition reads, without sums that are used again; more than 5 batches are left."""
    means = [sum(series[i : i + 5]) / 5 for i in range(0, len(series) - 4, 5)]
    best = min(
        range(min(len(means) // 2, len(means) - 6) + 1),
        key=lambda d: (
            sum((z - sum(means[d:]) / len(means[d:])) ** 2 for z in means[d:]) / len(means[d:]) ** 2
        ),
    )
    return best * 5


def test_a_step_is_cut_where_it_is() -> None:
    found = mser5([0.0] * 20 + [1.0] * 180)
    assert (found.values, found.kept, found.mean, found.settled) == (20, 180, 1.0, True)


def test_a_steady_series_is_kept_whole() -> None:
    found = mser5([4.2] * 100)
    assert (found.values, found.settled) == (0, True)


def test_a_step_is_found_on_any_level_and_in_any_unit() -> None:
    for level, step in ((1e9, 1.0), (-1e9, 1.0), (0.0, 1e-9), (0.0, 1e9)):
        found = mser5([level] * 20 + [level + step] * 180)
        assert (found.values, found.mean, found.settled) == (20, level + step, True)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9 / 7])
def test_batches_that_differ_by_rounding_only_are_all_kept(unit: float) -> None:
    draw = np.random.default_rng(8)
    batches = [draw.permutation([0.1, 0.2, 0.3, 0.4, 0.5]) * unit for _ in range(200)]
    # Their means do differ: sums are rounded in the order of their terms.
    assert len({float(batch.mean()) for batch in batches}) > 1
    found = mser5(np.concatenate(batches))
    assert (found.values, found.settled) == (0, True)


def test_half_of_a_series_may_be_its_transient_and_no_more() -> None:
    half, more = mser5([0.0] * 50 + [1.0] * 50), mser5([0.0] * 55 + [1.0] * 45)
    assert (half.values, half.settled) == (50, True)
    assert more.values <= 50
    assert not more.settled


def test_four_batches_that_agree_at_the_end_say_nothing_and_five_do() -> None:
    # Batches of ±1: any truncation of them is worse than none, by (m − 4) / m² of those that are left.
    steady = [float(sign) for sign in [1, -1] * 18 for _ in range(5)]
    found = mser5([*steady, *[0.0] * 20])
    assert (found.values, found.settled) == (0, True)
    assert not mser5([*steady, *[0.0] * 25]).settled


def test_values_that_fill_no_batch_count_in_the_mean_only() -> None:
    found = mser5([0.0] * 20 + [1.0] * 180 + [5.0] * 4)
    assert (found.values, found.kept) == (20, 184)
    assert found.mean == pytest.approx(200 / 184)


def test_a_truncation_is_a_value() -> None:
    assert len({mser5([0.0] * 20 + [1.0] * 180), mser5([0.0] * 20 + [1.0] * 180), mser5([1.0] * 50)}) == 2


def test_an_exponential_transient_is_cut_when_it_is_below_the_noise() -> None:
    draw = np.random.default_rng(5)
    cuts = []
    for _ in range(100):
        noise = draw.normal(0, 0.1, 500)
        cuts.append(mser5(10 + 5 * np.exp(-np.arange(500) / 20) + noise).values)
    # The bias is 0.1, the noise's deviation, after 20 ln 50 = 78 values; and e⁻¹ of that 20 later.
    assert 55 <= np.median(cuts) <= 110
    assert all(mser5(draw.normal(0, 1, 500)).values <= 250 for _ in range(20))


def test_a_series_that_still_climbs_has_not_settled() -> None:
    assert not mser5([float(i) for i in range(100)]).settled
    assert not mser5([0.0] * 70 + [1.0] * 30).settled


def test_noise_without_transient_is_rarely_cut() -> None:
    draw = np.random.default_rng(6)
    found = [mser5(draw.normal(3, 1, 400)) for _ in range(300)]
    assert sum(f.settled for f in found) >= 0.8 * len(found)
    assert np.median([f.values for f in found]) <= 40


@given(st.lists(st.integers(-1000, 1000).map(float), min_size=50, max_size=90))
def test_it_is_what_its_definition_says(series: list[float]) -> None:
    found = mser5(series)
    assert found.values % 5 == 0
    assert found.values <= len(series) / 2
    assert found.values + found.kept == len(series)
    expected = direct(series)

    def error(d: int) -> float:
        means = np.array(series[: len(series) // 5 * 5]).reshape(-1, 5).mean(axis=1)[d // 5 :]
        return float(((means - means.mean()) ** 2).sum() / len(means) ** 2)

    assert error(found.values) == pytest.approx(error(expected), rel=1e-9, abs=1e-9)


@given(st.lists(st.integers(0, 50).map(float), min_size=50, max_size=70), st.sampled_from([0.5, 4.0]))
def test_the_truncation_knows_no_unit(series: list[float], scale: float) -> None:
    assert mser5([scale * value for value in series]).values == mser5(series).values


def test_a_warm_up_too_short_is_told() -> None:
    series = [0.0] * 30 + [1.0] * 170
    assert "15 s" in str(warmup_warning(series, 0.5, 10.0))
    assert warmup_warning(series, 0.5, 15.0) is None
    assert "15 s" in str(warmup_warning(series, 0.5, 0.0))
    told = str(warmup_warning([float(i) for i in range(60)], 0.5, 10.0))
    assert "run is too short" in told
    assert "its 30 s" in told
    with pytest.raises(InputError, match="warmup_s"):
        warmup_warning(series, 0.5, -0.1)
    with pytest.raises(InputError) as refused:
        warmup_warning(series[:49], 0.5, 10.0)
    assert refused.value.where == "warmup_warning"


def test_the_last_five_batches_are_never_the_only_ones_left() -> None:
    # Of ten batches the last five agree by chance.
    found = mser5([float(i % 7) * (i + 1) for i in range(25)] + [3.0] * 25)
    assert found.kept > 25
    assert not found.settled


def result(delivered: list[float], warmup_s: float = 0.0) -> Result:
    columns = {
        "time_s": [float(i + 1) for i in range(len(delivered))],
        "tcp_delivered_bytes": delivered,
        "cbr_received": [0] * len(delivered),
    }
    provenance = {"scenario": {"warmup_s": warmup_s}}
    return Result([], {}, [], {}, provenance, series={"totals": columns, "tcp_flows": {}})


def test_replications_are_averaged_before_they_are_looked_at() -> None:
    draw = np.random.default_rng(7)
    # In one run the climb from 8 to 10 hides in noise of ±4; the mean of 100 runs shows it.
    shape = [8.0] * 30 + [10.0] * 170
    runs = [result(list(shape + draw.normal(0, 4, 200)), warmup_s=20.0) for _ in range(100)]
    assert "30 s" in warmup_check(runs)["tcp_delivered_bytes"]
    later = [result(run.series["totals"]["tcp_delivered_bytes"], 30.0) for run in runs if run.series]
    assert warmup_check(later) == {}


def test_a_column_that_begins_with_zeros_is_looked_at() -> None:
    assert "30 s" in warmup_check([result([0.0] * 30 + [1.0] * 170)])["tcp_delivered_bytes"]


def test_results_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InputError, match="no series"):
        warmup_check([Result([], {}, [], {}, {})])
    for apart, found in (([result([1.0] * 50), result([1.0] * 60)], "2 kinds"), ([], "nothing")):
        with pytest.raises(InputError, match="do not belong together") as refused:
            warmup_check(apart)
        assert refused.value.found == found
    with pytest.raises(InputError, match="nothing to look at"):
        warmup_check([result([0.0] * 50)])
    with pytest.raises(InputError, match="no such column"):
        warmup_check([result([1.0] * 50)], ["jitter"])
    with pytest.raises(InputError, match="50 or more"):
        mser5([1.0] * 49)
