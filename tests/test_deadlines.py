"""What comes in time: shares within a deadline, jitter and spread of the delay, and what they leave alone."""

from __future__ import annotations

import math
from typing import Any

import pytest
from matplotlib.figure import Figure

from manetlab import InputError, Scenario, run
from manetlab.campaign import Campaign, Results
from manetlab.metrics import applying, by_key, delay_classes, delay_names
from manetlab.report import delays, interactive
from manetlab.report.study import Study
from manetlab.report.writing import render
from tests.examples import CBR_FLOW, TCP_FLOW, chain

KINDS: dict[str, dict[str, Any]] = {
    "cbr": {"bytes": 200, "interval_s": 0.05},
    "on-off": {"bytes": 200, "interval_s": 0.05, "on_s": 1.0, "off_s": 0.5},
    "poisson": {"bytes": 200, "interval_s": 0.05},
    "trace": {"packets": [[0.1 * at, 300] for at in range(1, 30)]},
    "video": {},
    "voice": {"codec": "g729"},
    "adp": {},
}
OWN = {"in_time_fraction", "jitter_s", "delay_spread_s"}
TOTALS = {"datagram_in_time_fraction", "datagram_jitter_mean_s", "datagram_delay_spread_mean_s"}


def of_kind(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "src": 0, "dst": 3, "start_s": 0.5, **KINDS[kind], **fields}


def network_of(flows: list[dict[str, Any]], **changes: Any) -> Scenario:
    return chain(movement={"chain": {"nodes": 4}}, traffic={"flows": flows}, duration_s=5.0, **changes)


@pytest.mark.parametrize("kind", KINDS)
def test_every_flow_of_datagrams_has_a_share_in_time(kind: str) -> None:
    flows = [of_kind(kind), of_kind(kind, src=1, deadline_ms=0.001)]
    result = run(network_of(flows, network={"deadline_ms": 1e6}))
    first, second = result.flows
    assert first.keys() >= OWN
    # With a deadline of 1000 s all that is delivered is in time, with one of a microsecond nothing is.
    delivered = first["delivery_fraction" if kind == "cbr" else "message_delivery_fraction"]
    assert first["in_time_fraction"] == pytest.approx(delivered)
    assert first["in_time_fraction"] > 0.0
    assert second["in_time_fraction"] == 0.0
    assert 0.0 <= first["jitter_s"] < 5.0
    assert 0.0 <= first["delay_spread_s"] < 5.0
    assert result.totals.keys() >= TOTALS
    assert 0.0 < result.totals["datagram_in_time_fraction"] < 1.0
    [histogram, _] = result.delays
    made = first["sent" if kind == "cbr" else "messages_made"]
    assert sum(histogram["counts"]) + histogram["lost"] == made
    table = result.to_frame("delays")
    of_first = table[table["flow"] == 0]
    assert of_first["count"].tolist() == [*histogram["counts"], histogram["lost"]]
    assert of_first["up_to_s"].tolist()[:-2] == histogram["up_to_s"]
    assert (of_first["up_to_s"].iloc[-2], of_first["up_to_s"].isna().sum()) == (math.inf, 1)


def test_a_deadline_changes_nothing_that_happens() -> None:
    flows = [CBR_FLOW, TCP_FLOW]
    plain = run(network_of(flows))
    asked = run(network_of(flows, network={"deadline_ms": 50.0}))
    assert not TOTALS & plain.totals.keys()
    assert (plain.delays, len(asked.delays)) == ([], 1)
    assert {key: value for key, value in asked.totals.items() if key not in TOTALS} == plain.totals
    assert asked.audit == plain.audit
    assert asked.provenance["events"] == plain.provenance["events"]
    assert [flow.keys() & OWN for flow in asked.flows] == [OWN, set()]


def test_flows_over_tcp_have_no_deadline() -> None:
    with pytest.raises(InputError, match="deadline_ms"):
        run(network_of([{**TCP_FLOW, "deadline_ms": 100.0}]))


def test_random_traffic_has_a_deadline_for_its_datagrams() -> None:
    scenario = chain(duration_s=5.0).changed(
        traffic={"random": {"tcp": 1, "cbr": 1, "cbr_start_within_s": 0.5, "deadline_ms": 80.0}}
    )
    kinds = {flow["kind"]: flow.get("deadline_ms") for flow in scenario.resolve().flows}
    assert kinds == {"tcp": None, "cbr": 80.0}


def test_the_share_in_time_can_be_what_a_campaign_ranks_by() -> None:
    campaign = Campaign(
        base={
            "movement": {"chain": {"nodes": 4}},
            "traffic": {"flows": [of_kind("cbr", deadline_ms=30.0)]},
            "duration_s": 3.0,
        },
        factors={"routing": ["aodv", "dsr", "static"]},
        metrics=["in_time"],
        replications=2,
    )
    results = campaign.run()
    assert list(campaign.metrics) == ["datagram_in_time_fraction"]
    assert set(results.standings["metric"]) == {"datagram_in_time_fraction"}
    shown = applying({str(key): value for key, value in results.runs.iloc[0].items()}, [{"kind": "cbr"}])
    assert by_key("datagram_in_time_fraction") in shown


# Histograms of delays


@pytest.fixture(scope="module")
def results() -> Results:
    """Two flows with a deadline and one without, over three hops and with too much to send."""
    flows = [
        of_kind("cbr", deadline_ms=30.0, interval_s=0.004),
        of_kind("voice", src=1, deadline_ms=100.0),
        of_kind("cbr", src=3, dst=0),
    ]
    network = {"movement": {"chain": {"nodes": 4}}, "traffic": {"flows": flows}, "duration_s": 3.0}
    factors = {"routing": ["aodv", "static"], "queue.packets": [5, 50]}
    return Campaign(base=network, factors=factors, replications=3).run()


def test_a_campaign_keeps_the_histogram_of_each_flow_with_a_deadline(results: Results) -> None:
    made = results.delays.groupby(["point", "replication", "flow"])["count"].sum()
    assert {flow for _, _, flow in made.index} == {0, 1}
    for row in results.flows.to_dict("records"):
        if row["flow"] < 2:
            sent = row["sent"] if row["kind"] == "cbr" else row["messages_made"]
            assert made[row["point"], row["replication"], row["flow"]] == sent
    assert "delays" not in results.flows
    again = run(results.campaign.scenario(1, 2))
    here = results.delays[(results.delays["point"] == 1) & (results.delays["replication"] == 2)]
    wanted = [count for each in again.delays for _, count in delay_classes(each)]
    assert here["count"].tolist() == wanted


def test_reports_draw_how_long_datagrams_took(results: Results) -> None:
    study = Study(results)
    figures, table = delays.figures(study), delays.table(study)
    assert table is not None and len(figures) == len(study.settings) == 2
    for setting, figure in zip(study.settings, figures, strict=True):
        assert [series.name for series in figure.series] == ["aodv", "static"]
        for series in figure.series:
            assert sum(y or 0.0 for y in series.y) == pytest.approx(100.0)
            assert series.x[-1] == "lost" and series.n[0] == 3
            number = next(
                each.number
                for each in study.points
                if each.levels in ((series.name, *setting), (*setting, series.name))
            )
            runs = results.delays[results.delays["point"] == number]
            shares = [
                100.0 * each[each["up_to_s"].isna()]["count"].sum() / each["count"].sum()
                for _, each in runs.groupby("replication")
            ]
            assert series.y[-1] == pytest.approx(sum(shares) / 3)
            drawn = interactive.plotly(figure)["data"][0]
            assert not drawn["error_y"]["visible"], "a histogram has no intervals"
    # A short queue loses what a long one delays.
    short, long = (figure.series[1].y[-1] for figure in figures)
    assert (short or 0.0) > (long or 0.0)
    files = render(study)
    assert {f"figures/{figure.name}.svg" for figure in figures} | {"tables/delays.csv"} <= files.keys()


def test_many_settings_share_a_histogram_and_none_is_drawn_without_deadlines() -> None:
    network = {"movement": {"chain": {"nodes": 2}}, "duration_s": 1.0}
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.1, "bytes": 100, "interval_s": 0.2}
    factors = {"routing": ["static", "aodv"], "mac.cw_min": [7, 15, 31, 63, 127, 255, 511]}

    def study(**changes: Any) -> Study:
        base = {**network, "traffic": {"flows": [{**flow, **changes}]}}
        return Study(Campaign(base=base, factors=factors, replications=2).run())

    [figure] = delays.figures(study(deadline_ms=20.0))
    assert "all 7 settings together" in figure.title
    without = study()
    assert (delays.figures(without), delays.table(without)) == ([], None)


def test_a_result_draws_how_long_datagrams_took() -> None:
    result = run(network_of([of_kind("cbr"), of_kind("cbr", src=1)], network={"deadline_ms": 20.0}))
    axes = result.plot("delays", axes=Figure().add_subplot())
    assert len(axes.containers) == 2
    called = [label.get_text() for label in axes.get_xticklabels()]
    assert called[-1] == "lost"
    for bars, histogram in zip(axes.containers, result.delays, strict=True):
        classes = delay_classes(histogram)
        made = sum(count for _, count in classes)
        shares = dict(zip(delay_names([end_s for end_s, _ in classes]), classes, strict=True))
        for name, bar in zip(called, bars, strict=True):
            assert bar.get_height() == pytest.approx(100.0 * shares[name][1] / made)
        assert sum(bar.get_height() for bar in bars) == pytest.approx(100.0)
    many = run(network_of([of_kind("cbr") for _ in range(9)], network={"deadline_ms": 20.0}))
    together = many.plot("delays", axes=Figure().add_subplot())
    assert [text.get_text() for text in together.get_legend().get_texts()] == ["9 flows"]
    with pytest.raises(InputError, match="no flow has a histogram") as caught:
        run(network_of([CBR_FLOW])).plot("delays", axes=Figure().add_subplot())
    assert "deadline_ms" in caught.value.hint


def test_classes_are_called_by_their_ends_in_milliseconds() -> None:
    assert delay_names([0.001, 0.002, 0.1, 1.0, math.inf, math.nan]) == [
        *("0–1", "1–2", "2–100", "100–1000", "> 1000", "lost")
    ]
