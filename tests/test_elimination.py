"""Sequential elimination: what is given up, when, what is still claimed, and that only results decide it."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
import sys
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from manetlab import Campaign, InputError, Results
from manetlab.campaign.merging import merge
from manetlab.report import answer
from manetlab.report.methods import table as methods_table
from manetlab.report.study import Study
from manetlab.report.writing import write
from manetlab.stats import Looks, compare_with_best, eliminate
from manetlab.stats.elimination import Eliminated, eliminated
from manetlab.stats.looks import doubling
from tests.campaigns import exported
from tests.conftest import Cli
from tests.reports import results


def looks(most: int) -> Looks:
    return Looks.among(doubling(most))


def rows(seed: int, n: int, gains: Mapping[str, float], spread: float = 1.0) -> dict[str, list[float]]:
    """Alternatives in common scenarios that vary much more than they differ."""
    draw = np.random.default_rng(seed)
    shared = draw.normal(100.0, 20.0, n)
    return {name: (shared + draw.normal(gain, spread, n)).tolist() for name, gain in gains.items()}


# The procedure


@pytest.mark.parametrize("seed", range(8))
def test_an_alternative_is_given_up_at_the_first_look_at_which_scipys_test_says_so(seed: int) -> None:
    values = rows(seed, 40, {"a": 0.0, "b": 1.5, "c": 2.0, "d": 3.0}, 1.5)
    parts, left, expected = {10: 1 / 4, 20: 1 / 12}, set(values), {}
    for n in (10, 20):
        worse = set()
        for one, other in combinations(values, 2):
            made = min(n, expected.get(one, n), expected.get(other, n))
            a, b = values[one][:made], values[other][:made]
            p = scipy.stats.ttest_rel(a, b).pvalue * 6 / parts[made]
            if p <= 0.05:
                worse.add(one if np.mean(a) < np.mean(b) else other)
        expected |= dict.fromkeys(worse & left, n)
        left -= worse
    found, standing = eliminate({"m": values}, looks(40))
    alone = {left.pop(): max(expected.values())} if len(left) == 1 else {}
    assert (found.given_up, found.alone) == (expected, alone)
    verdicts = {each.name: each.verdict for each in standing["m"]}
    assert all(verdicts[name] == "worse" for name in expected)
    assert all(verdicts[name] == "best" for name in alone)


def test_what_is_clear_at_the_first_look_ends_there_and_what_is_equal_goes_on() -> None:
    values = rows(1, 40, {"bad": 0.0, "good": 50.0, "twin": 50.0})
    values["twin"] = [value + (0.1 if place % 2 else -0.1) for place, value in enumerate(values["good"])]
    found, standing = eliminate({"m": values}, looks(40))
    assert (found.given_up, found.alone) == ({"bad": 10}, {})
    at = {each.name: (each.verdict, each.n) for each in standing["m"]}
    assert at == {
        "bad": ("worse", 10),
        "good": ("not distinguishable", 40),
        "twin": ("not distinguishable", 40),
    }
    # The leader is compared with what went on, not with what was given up.
    assert {each.name: each.against for each in standing["m"]}["good"] == "twin"


def test_an_alternative_that_can_be_best_in_one_measure_goes_on() -> None:
    quick = rows(2, 40, {"a": 0.0, "b": 50.0, "c": 45.0})
    cheap = rows(3, 40, {"a": 50.0, "b": 0.0, "c": -5.0})
    found, _ = eliminate({"quick": quick, "cheap": cheap}, looks(40))
    assert (dict(found.given_up), dict(found.alone)) == ({"c": 10}, {})
    alone, _ = eliminate({"quick": quick}, looks(40))
    assert alone.given_up["a"] == 10


@pytest.mark.parametrize(("margin", "after"), [(None, 10), (2.0, 10), (60.0, 10), (50.0, None)])
def test_with_a_margin_that_is_still_open_an_alternative_goes_on(
    margin: float | None, after: int | None
) -> None:
    values = rows(4, 40, {"a": 0.0, "b": 50.0})
    found, standing = eliminate({"m": values}, looks(40), margin=margin)
    assert found.given_up.get("a") == after
    assert standing["m"][0].verdict == "worse"
    # The same of a share of the best's mean, which is some 150.
    share = None if margin is None else margin / float(np.mean(values["b"]))
    assert eliminate({"m": values}, looks(40), share=share)[0].given_up.get("a") == after


def test_a_sole_alternative_goes_on_and_what_is_left_alone_ends_unless_told_otherwise() -> None:
    names, out = ["a", "b", "c"], {10: ["b"], 20: ["b", "c"]}
    assert eliminated(names, [10, 20, 40], lambda n, _: out[n]) == Eliminated({"b": 10, "c": 20}, {"a": 20})
    goes_on = eliminated(names, [10, 20], lambda n, _: out[n], stop_alone=False)
    assert goes_on == Eliminated({"b": 10, "c": 20}, {})
    assert eliminated(["a", "b"], [10, 20], lambda n, _: out[n]) == Eliminated({"b": 10}, {"a": 10})
    assert eliminated(["a"], [10, 20], lambda _, given_up: [*given_up]) == Eliminated({}, {})
    # A look whose results are not all there is the end.
    assert eliminated(names, [10, 20], lambda n, _: out[n] if n < 20 else None) == Eliminated({"b": 10}, {})
    with pytest.raises(dataclasses.FrozenInstanceError):
        goes_on.alone = {"a": 20}  # type: ignore[misc]


def test_questions_that_are_answered_together_share_the_error() -> None:
    # Without a look before the last: Bonferroni's three pairs of three measures.
    values = rows(5, 10, {"a": 0.0, "b": 1.0, "c": 2.0})
    for measures, families in (({"m": values}, 3), ({"m": values, "n": values, "o": values}, None)):
        _, standing = eliminate(measures, looks(10), families=families)
        assert standing["m"] == compare_with_best(values, families=3)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(2, 5), st.booleans())
def test_verdict_p_value_and_interval_agree_and_more_replications_change_nothing_before(
    seed: int, count: int, higher: bool
) -> None:
    draw = np.random.default_rng(seed)
    gains = {str(number): float(draw.choice([0.0, 0.5, 1.0, 3.0])) for number in range(count)}
    values = rows(seed, 80, gains)
    found, standing = eliminate({"m": values}, looks(80), higher_is_better=higher)
    for each in standing["m"]:
        better = each.difference.scaled(1.0 if higher else -1.0)
        assert (each.verdict == "worse") == (each.p_adjusted <= 0.05)
        assert better.low <= better.mean <= better.high
        if each.name in found.given_up:
            assert each.verdict == "worse" and better.high <= 1e-9
            assert each.n <= found.given_up[each.name]
    earlier, _ = eliminate(
        {"m": {name: of[:40] for name, of in values.items()}}, looks(40), higher_is_better=higher
    )
    assert {name: n for name, n in found.given_up.items() if n < 40} == dict(earlier.given_up)


@pytest.mark.parametrize("gains", [(0.0, 0.0, 0.0, 0.0), (0.0, 0.5, 1.0, 1.0), (0.0, 0.0, 0.0, 2.0)])
def test_all_statements_hold_together_as_often_as_stated(gains: tuple[float, ...]) -> None:
    # Variances of the pairs differ widely; `python -m validation.elimination` has other distributions.
    experiments, right, best = 400, 0, max(gains)
    for number in range(experiments):
        draw = np.random.default_rng((5, number))
        shared = draw.normal(0.0, 5.0, 40)
        values = {
            str(place): (shared + draw.normal(gain, spread, 40)).tolist()
            for place, (gain, spread) in enumerate(zip(gains, (0.2, 1.0, 3.0, 0.3), strict=True))
        }
        found, standing = eliminate({"m": values}, looks(40))
        truth = [gain - max(gains[:i] + gains[i + 1 :]) for i, gain in enumerate(gains)]
        held = all(
            each.difference.low <= true <= each.difference.high
            for each, true in zip(standing["m"], truth, strict=True)
        )
        right += held and all(gains[int(name)] < best for name in found.given_up)
    assert right / experiments >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / experiments)


# Campaigns whose results are made up

PROTOCOLS = ["aodv", "dsr", "olsr", "babel"]
ELIMINATES = {"kind": "best", "elimination": True, "metrics": ["cbr_delivery_fraction"]}


def delivery(levels: Mapping[str, Any], replication: int) -> dict[str, float | None]:
    """AODV and DSR are alike, OLSR is far behind, and Babel is so at the higher load only."""
    noise = np.random.default_rng((replication, PROTOCOLS.index(levels["routing"]))).normal(0.0, 0.01)
    network = 0.1 * math.sin(replication)
    behind = {"aodv": 0.0, "dsr": 0.0, "olsr": 0.3, "babel": 0.0}[levels["routing"]]
    if levels["routing"] == "babel" and levels.get("traffic.random.cbr") == 8:
        behind = 0.1
    return {
        "cbr_delivery_fraction": 0.8 + network - behind + noise,
        "cbr_latency_mean_s": 0.1 * (1 + behind),
        "tcp_throughput_bps": 0.0,
    }


def made(comparison: Mapping[str, Any] = ELIMINATES, replications: int = 40, **fields: Any) -> Results:
    factors = {"traffic.random.cbr": [4, 8], "routing": PROTOCOLS}
    return results(
        delivery,
        **{"factors": factors, "replications": replications, "comparison": comparison, **fields},
    )


def test_each_setting_gives_up_its_own_and_the_others_have_all_replications() -> None:
    found = made()
    assert found.given_up_after == {2: 10, 6: 10, 7: 10}
    counts = found.runs.groupby("point").size().to_dict()
    assert counts == {0: 40, 1: 40, 2: 10, 3: 40, 4: 40, 5: 40, 6: 10, 7: 10}
    assert (found.planned, found.missing, len(found.runs)) == (230, 0, 230)
    table = found.given_up
    places = table[["traffic.random.cbr", "level", "after", "verdict"]].to_numpy().tolist()
    assert places == [[4, "olsr", 10, "worse"], [8, "olsr", 10, "worse"], [8, "babel", 10, "worse"]]
    assert all(0.2 < least < 0.3 for least in table["at_least"][:2])
    assert 0.05 < table["at_least"][2] < 0.1


def test_intervals_and_p_values_are_those_of_the_looks() -> None:
    found = made()
    of_each = {
        (row["level"], row["against"]): row
        for row in found.comparisons.to_dict("records")
        if row["traffic.random.cbr"] == 8
    }
    # 12 comparisons; the first look has a quarter of the error, the last two thirds.
    for pair, n, part in ((("olsr", "aodv"), 10, 1 / 4), (("dsr", "aodv"), 40, 2 / 3)):
        a, b = (
            [
                delivery({"routing": name, "traffic.random.cbr": 8}, r)["cbr_delivery_fraction"]
                for r in range(n)
            ]
            for name in pair
        )
        theirs = scipy.stats.ttest_rel(a, b)
        ends = theirs.confidence_interval(1 - 0.05 / 12 * part)
        row = of_each[pair]
        assert row["n"] == n
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high), rel=1e-9)
        assert row["p_adjusted"] == pytest.approx(min(1.0, theirs.pvalue * 12 / part), rel=1e-9)
    assert (of_each["dsr", "aodv"]["p_adjusted"] <= 0.05) == (
        of_each["dsr", "aodv"]["verdict"] != "not significant"
    )


def test_without_the_field_and_without_an_earlier_look_everything_is_as_before() -> None:
    plain = {key: value for key, value in ELIMINATES.items() if key != "elimination"}
    for replications, asked in ((40, {**plain, "elimination": False}), (10, ELIMINATES)):
        with_field, without = made(asked, replications), made(plain, replications)
        assert with_field.comparisons.equals(without.comparisons)
        assert with_field.standings.equals(without.standings)
        assert with_field.given_up.empty and len(with_field.runs) == 8 * replications


def test_runs_that_failed_and_runs_that_are_missing_decide_nothing_wrongly() -> None:
    # A failed run is known, and its pair is left out; a missing one is waited for.
    failed = [(2, 3, "power cut")]
    assert made(failed=failed).given_up_after == {2: 10, 6: 10, 7: 10}
    without = dataclasses.replace(made(failed=[(1, 4, "")]).snapshot, failures=[])
    partial = Results(made().campaign, 40, None, without)
    assert partial.given_up_after == {6: 10, 7: 10}
    assert partial.missing == 31


def test_a_sole_survivor_gets_no_more_replications_either() -> None:
    factors = {"routing": ["aodv", "olsr"]}
    found = made(factors=factors)
    assert (found.given_up_after, found.ended) == ({1: 10}, {0: 10, 1: 10})
    assert found.standings["verdict"].tolist() == ["best", "worse"]
    assert "The best routing protocol by the primary measure is aodv." in answer(found).verdict


def test_asking_otherwise_keeps_the_looks_in_the_intervals() -> None:
    found = made().asking(kind="pairs")
    assert found.family is not None and found.family.kind == "pairs"
    assert found.comparisons["low"].equals(made().comparisons["low"])
    explored = made().compare("routing", "olsr", "aodv", "cbr_latency_mean_s")
    assert explored["n"].tolist() == [10, 10]


def test_the_answer_says_what_was_given_up_when_and_what_is_claimed(tmp_path: Path) -> None:
    told = answer(made()).details
    assert "12 comparisons, looked at after 10, 20 and 40 replications (paired t" in " ".join(told)
    start = "Given up at CBR flows = 8 after 10 replications: babel (PDR worse than with "
    [of_babel] = [each for each in told if each.startswith(start)]
    assert of_babel.endswith("percentage points or more).")
    assert told[-1] == "90 of 320 runs were not needed."
    methods = {cells[0].shown: cells[1].shown for cells in methods_table(Study(made())).shown_rows}
    assert "sequential elimination" in methods["statistics"]
    assert "0.013 after 10, 0.0042 after 20 and 0.033 after 40 replications" in methods["statistics"]
    none_left = answer(made(factors={"routing": ["aodv", "dsr"]})).details
    assert none_left[-1] == "No alternative was given up before the end: 0 of 80 runs were not needed."
    write(made(), tmp_path / "page")
    page = "".join(path.read_text("utf-8") for path in (tmp_path / "page").rglob("*.html"))
    assert "Alternatives that got no more replications" in page


@pytest.mark.parametrize(
    ("comparison", "what"),
    [
        ({**ELIMINATES, "elimination": 1}, "true or false"),
        ({**ELIMINATES, "kind": "pairs"}, 'kind = "best"'),
        ({"elimination": True}, "no kind"),
    ],
)
def test_what_cannot_be_eliminated_is_refused(comparison: Mapping[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        made(comparison)


def test_elimination_by_measures_that_are_not_named_is_refused() -> None:
    with pytest.raises(InputError, match="no metrics"):
        made({"kind": "best", "elimination": True}, metrics=[])


# Campaigns that are run


def windows(**changes: Any) -> Campaign:
    """TCP with a window of one segment carries far less than with a larger one over short chains."""
    asked: dict[str, Any] = {
        "name": "windows",
        "base": {
            "movement": {"chain": {"nodes": 3}},
            "traffic": {"random": {"tcp": 1, "cbr": 2, "cbr_start_within_s": 0.5}},
            "duration_s": 2.0,
        },
        "factors": {"tcp.window": [1, 8, 16], "routing": ["aodv", "dsr"]},
        "replications": 24,
        "metrics": ["tcp_throughput_bps"],
        "comparison": {"factor": "tcp.window", "kind": "best", "elimination": True},
    }
    return Campaign(**{**asked, **changes})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return windows().run(tmp_path_factory.mktemp("whole") / "w.db", jobs=2)


def test_no_run_is_made_of_what_was_given_up(whole: Results) -> None:
    assert {0, 1} <= set(whole.given_up_after)
    ran: list[int] = []
    again = windows().run(progress=lambda report: ran.append(report.ran), jobs=1)
    assert max(ran) == whole.planned < 6 * 24
    assert again.runs["result_hash"].tolist() == whole.runs["result_hash"].tolist()
    assert (whole.missing, again.missing) == (0, 0)


def test_runs_that_were_there_before_change_nothing(whole: Results, tmp_path: Path) -> None:
    plain = windows().comparison | {"elimination": False}
    windows(comparison=plain).run(tmp_path / "all.db")
    found = windows().run(tmp_path / "all.db")
    assert exported(found, tmp_path / "a") == exported(whole, tmp_path / "b")
    for name in ("comparisons", "standings", "given_up", "summary"):
        assert (tmp_path / "a" / f"{name}.csv").read_bytes() == (tmp_path / "b" / f"{name}.csv").read_bytes()
    assert (
        (tmp_path / "a" / "given_up.csv").read_text().startswith("routing,level,after,metric,verdict,than,")
    )
    # And back: the runs are still there.
    ran: list[int] = []
    every = windows(comparison=plain).run(tmp_path / "all.db", progress=lambda report: ran.append(report.ran))
    assert (max(ran), len(every.runs)) == (0, 6 * 24)


def test_killed_anywhere_it_makes_the_same_runs_and_gives_the_same_answer(
    whole: Results, tmp_path: Path
) -> None:
    code = (
        "import os, sys\n"
        "from tests.test_elimination import windows\n"
        "last = int(sys.argv[2])\n"
        "windows().run(sys.argv[1], jobs=2, progress=lambda of: os._exit(9) if of.ran >= last else None)\n"
    )
    store = tmp_path / "k.db"
    # Within the first round, at its end, and within the second.
    for runs in (7, 45, 15, 10):
        done = subprocess.run([sys.executable, "-c", code, str(store), str(runs)], check=False)
        assert done.returncode in (0, 9)
        # Half a campaign is not mistaken for a whole one.
        partial = Results.load(store)
        assert partial.missing == partial.planned - len(partial.runs)
    found = windows().run(store)
    assert exported(found, tmp_path / "a") == exported(whole, tmp_path / "b")
    with_all = Results.load(store).asking()
    assert len(found.runs) == len(with_all.runs) == whole.planned


def test_replications_that_are_added_give_up_what_was_given_up(whole: Results, tmp_path: Path) -> None:
    windows().run(tmp_path / "more.db")
    more = windows(replications=44).run(tmp_path / "more.db")
    early = {point: n for point, n in more.given_up_after.items() if n <= 20}
    assert early == whole.given_up_after
    assert more.missing == 0


def test_until_looks_at_what_goes_on(tmp_path: Path) -> None:
    campaign = windows(replications=10, until=0.1, max_replications=60)
    found = campaign.run(tmp_path / "u.db")
    assert set(found.given_up_after) & {0, 1}
    plain = windows(
        replications=10, until=0.1, max_replications=60, comparison={"factor": "tcp.window", "kind": "best"}
    ).run()
    assert len(found.runs) < len(plain.runs)
    left = [point for point in range(6) if point not in found.ended]
    summary = found.summary()
    narrow = (summary["high"] - summary["low"]) / 2 <= 0.1 * summary["mean"]
    assert all(narrow[summary["point"].isin(left)]) or found.replications == 60
    assert Results.load(tmp_path / "u.db").given_up_after == found.given_up_after


def test_adjusted_means_are_of_as_many_replications_as_there_are() -> None:
    waypoint = {"nodes": 8, "width_m": 500.0, "height_m": 300.0, "speed_max": 20.0}
    base = {**windows().base, "movement": {"waypoint": waypoint}}
    found = windows(base=base, factors={"tcp.window": [1, 8, 16]}, adjusted=True, replications=20).run()
    assert found.given_up_after == {0: 10}
    summary = found.summary()
    assert summary["n"].tolist() == [10, 20, 20]
    assert all(summary["draws"] >= 40) and all(np.isfinite(summary["adjusted_mean"]))


def test_parts_of_a_campaign_cannot_eliminate(tmp_path: Path) -> None:
    for asked in ({"shard": (1, 2)}, {"points": [0, 1]}):
        with pytest.raises(InputError, match="by the results of all") as refused:
            windows().run(tmp_path / "s.db", **asked)  # type: ignore[arg-type]
        assert "comparison.elimination = false" in str(refused.value)


def test_merged_stores_count_what_elimination_leaves(whole: Results, tmp_path: Path) -> None:
    assert whole.store is not None
    merged = merge(tmp_path / "m.db", [whole.store])
    assert (merged.done, merged.total) == (whole.planned, whole.planned)


def test_the_command_line_says_what_was_given_up(cli: Cli, whole: Results) -> None:
    store = str(whole.store)
    status = json.loads(cli("campaign", "status", store, "--json").stdout)
    assert status["spared"] == 6 * 24 - whole.planned
    assert "tcp.window = 1, routing = aodv after 10 replications" in status["given_up"]
    shown = json.loads(cli("campaign", "results", store, "--json").stdout)
    assert {row["level"] for row in shown["given_up"]} >= {1}
    assert all(row["after"] in (10, 20) for row in shown["given_up"])
    text = cli("campaign", "results", store).stdout
    assert "were not needed" in text


def test_a_first_look_that_is_the_last_says_what_is_said_without_looks() -> None:
    values = rows(9, 12, {"a": 0.0, "b": 1.0, "c": 2.0})
    assert compare_with_best(values, looks=Looks((), 12)) == compare_with_best(values)
