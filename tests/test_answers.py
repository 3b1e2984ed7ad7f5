"""One question, one answer: terminal, page, CSV, LaTeX, JSON and Python show the same numbers."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from manetlab import Campaign, InputError, Results
from manetlab.campaign.family import Family
from manetlab.metrics import by_key
from manetlab.report import answer, conclusions, outcomes, write
from manetlab.report.quantities import number, p_value
from manetlab.report.study import Study
from tests.campaigns import small
from tests.conftest import Cli
from tests.reports import BASE, results

PROTOCOLS = ["aodv", "dsdv", "dsr", "adv"]
MEASURES = ["cbr_delivery_fraction", "cbr_latency_mean_s"]


def protocols(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
    """DSR delivers most, AODV nearly as much; DSDV is the fastest, beyond doubt."""
    delivery = {"aodv": 0.93, "dsdv": 0.6, "dsr": 0.935, "adv": 0.7}[levels["routing"]]
    latency = {"aodv": 0.03, "dsdv": 0.005, "dsr": 0.04, "adv": 0.02}[levels["routing"]]
    # A noise of its own for each protocol, from numbers that share no divisor.
    noise = (replication * (3 + 2 * PROTOCOLS.index(levels["routing"])) % 11 - 5) / 5
    return {
        "tcp_throughput_bps": 0.0,
        "cbr_sent": 1000.0,
        "cbr_delivery_fraction": delivery + 0.01 * noise,
        "cbr_latency_mean_s": latency * (1 + 0.1 * noise),
    }


def asked(**comparison: Any) -> Results:
    """Four protocols that are asked which is best."""
    return results(protocols, factors={"routing": PROTOCOLS}, metrics=MEASURES, comparison=comparison)


def family(made: Results) -> Family:
    assert made.family is not None
    return made.family


# What is asked


def test_three_protocols_are_asked_which_is_best_and_two_are_compared() -> None:
    best = family(asked())
    assert (best.kind, best.factor, best.control) == ("best", "routing", None)
    assert (best.metrics, best.size) == (tuple(MEASURES), 6 * 2)
    two = family(results())
    assert (two.kind, two.factor, two.control, two.size) == ("control", "tcp", "reno", 2)


def test_a_measure_without_a_better_side_has_no_best() -> None:
    made = results(protocols, factors={"routing": PROTOCOLS}, metrics=["cbr_delivery_fraction", "cbr_sent"])
    assert family(made).kind == "pairs"
    with pytest.raises(InputError, match="cbr_sent"):
        asked(kind="best", metrics=["cbr_sent"])


def test_a_control_is_compared_with_all_others() -> None:
    made = asked(kind="control", control="dsr", metrics=["cbr_delivery_fraction"])
    assert family(made).size == 3
    assert set(made.comparisons["against"]) == {"dsr"}
    assert made.standings.empty


def test_primary_measures_that_no_run_has_are_left_out() -> None:
    made = asked(metrics=["cbr_delivery_fraction", "web_timeouts"])
    assert family(made).metrics == ("cbr_delivery_fraction",)


@pytest.mark.parametrize(
    ("comparison", "word"),
    [
        ({"factors": "routing"}, "factors"),
        ({"factor": "tcp"}, "tcp"),
        ({"kind": "bset"}, "bset"),
        ({"control": "olsr"}, "olsr"),
        ({"kind": "best", "control": "dsr"}, "no control"),
        ({"metrics": "cbr_delivery_fraction"}, "list"),
        ({"metrics": ["pdrr"]}, "pdrr"),
        ({"margins": {"cbr_delivery_fraction": 0.0}}, "above 0"),
        ({"margins": 0.02}, "table"),
        ({"confidence": 95}, "0.95"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_refused(comparison: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match="comparison") as error:
        asked(**comparison)
    assert word in str(error.value)


def test_nothing_is_compared_where_nothing_varies() -> None:
    made = results(factors={})
    assert made.family is None
    assert made.comparisons.empty
    with pytest.raises(InputError, match="nothing to compare"):
        results(factors={}, comparison={"kind": "best"})


def test_a_campaign_keeps_its_comparison() -> None:
    campaign = small(comparison={"kind": "pairs", "confidence": 0.9})
    assert Campaign.build(campaign.to_dict()).comparison == {"kind": "pairs", "confidence": 0.9}
    assert "comparison" not in small().to_dict()


# The verdict


def test_the_verdict_names_the_best_and_what_cannot_be_told_from_it() -> None:
    found = answer(asked())
    # DSDV delivers 60 % of the packets: its delay, the shortest, is of what arrives, and wins nothing.
    assert found.verdict == (
        "aodv may be the best routing protocol in both primary measures; these runs cannot confirm it."
    )
    assert found.details == [
        "PDR: dsr leads, not distinguishable from aodv.",
        "Mean end-to-end delay: aodv is the best; dsdv and adv deliver significantly less and are not "
        "compared.",
        "Family-wise confidence 95 % over 12 comparisons (paired t tests, Bonferroni).",
    ]
    only = answer(asked(metrics=["cbr_latency_mean_s"]))
    assert only.verdict == "The best routing protocol by the primary measure is aodv."
    undecided = answer(asked(metrics=["cbr_delivery_fraction"]))
    assert undecided.verdict == (
        "No single best routing protocol by the primary measure: aodv and dsr are not distinguishable."
    )


def test_a_margin_says_who_is_practically_as_good() -> None:
    found = answer(asked(metrics=["cbr_delivery_fraction"], margins={"cbr_delivery_fraction": 0.05}))
    assert "dsr leads, not distinguishable from aodv (practically as good)" in found.details[0]
    pair = asked(kind="control", metrics=["cbr_delivery_fraction"], margins={"cbr_delivery_fraction": 0.05})
    verdicts = dict(zip(pair.comparisons["level"], pair.comparisons["verdict"], strict=True))
    assert verdicts == {"dsdv": "lower", "dsr": "practically the same", "adv": "lower"}
    assert any("practically the same with dsr and aodv" in each for each in answer(pair).details)


def test_the_table_marks_every_alternative_in_every_measure() -> None:
    table = answer(asked()).table
    shown = {cells[0]: cells[1:] for cells in ([cell.shown for cell in row] for row in table.shown_rows)}
    assert [cell[-1] if cell[-1] in "*~" else "" for cell in shown["dsr"]] == ["~", ""]
    assert [cell[-1] if cell[-1] in "*~†" else "" for cell in shown["dsdv"]] == ["", "†"]
    assert shown["aodv"][1].endswith("*")
    [row] = [row for row in csv.DictReader(io.StringIO(table.to_csv())) if row["routing"] == "dsdv"]
    assert row["cbr_latency_mean_s_verdict"] == "less arrives"
    assert float(row["cbr_latency_mean_s_low"]) < 0.005 < float(row["cbr_latency_mean_s_high"])


def test_standings_follow_from_the_comparisons() -> None:
    made = asked()
    left_out = made.standings[made.standings["verdict"] == "less arrives"]
    assert set(left_out["level"]) == {"dsdv", "adv"} and set(left_out["metric"]) == {"cbr_latency_mean_s"}
    for row in made.standings.to_dict("records"):
        if row["verdict"] == "less arrives":
            assert math.isnan(row["p_adjusted"])
            continue
        those = made.comparisons[made.comparisons["metric"] == row["metric"]]
        gone = list(left_out[left_out["metric"] == row["metric"]]["level"])
        those = those[~those["level"].isin(gone) & ~those["against"].isin(gone)]
        sign = 1 if row["metric"] == "cbr_delivery_fraction" else -1
        as_level = those[those["level"] == row["level"]]
        as_other = those[those["against"] == row["level"]]
        worse = [
            *as_level[sign * as_level["difference"] < 0]["p_adjusted"],
            *as_other[sign * as_other["difference"] > 0]["p_adjusted"],
        ]
        assert (row["verdict"] == "worse") == (min(worse, default=1.0) <= 0.05)
        # Difference, interval and p-value are those of the pair, whose interval ends nowhere at zero.
        sides = [(1, as_level[as_level["against"] == row["against"]])]
        sides.append((-1, as_other[as_other["level"] == row["against"]]))
        [(turned, pair)] = [(sign, rows.iloc[0]) for sign, rows in sides if len(rows)]
        ends = sorted((turned * pair["low"], turned * pair["high"]))
        assert (row["p_adjusted"], row["n"]) == (pair["p_adjusted"], pair["n"])
        assert [row["low"], row["high"]] == pytest.approx(ends)
        assert (row["p_adjusted"] <= 0.05) == (row["low"] > 0.0 or row["high"] < 0.0)


# What decides whether it was tested


def test_protocols_that_differ_in_more_than_their_name_are_told() -> None:
    plain = {key: value for key, value in BASE.items() if key != "profile"}
    made = results(protocols, factors={"routing": PROTOCOLS}, metrics=MEASURES, base=plain)
    told = " ".join(answer(made).warnings)
    assert "link_layer_feedback (true with aodv, false with dsdv); buffer_packets (64 with aodv, dsr" in told
    assert "hardly tests routing" in told
    senders = " ".join(answer(results()).warnings)
    assert "tcp.sack (false with reno, true with reno-f)" in senders


def test_a_saturated_network_is_told_with_its_share() -> None:
    lost = {"layer": "interface-queue", "reason": "queue-full", "packets": "cbr", "count": 100}
    made = results(protocols, factors={"routing": PROTOCOLS}, metrics=MEASURES, drops=lambda _: [lost])
    told = conclusions.tested(Study(made))
    assert any(
        "drop 10.0 % of the CBR packets" in each and "(4 of 4 points: 10 % at" in each for each in told
    )


# The same everywhere


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with three senders at two loads."""
    path = tmp_path_factory.mktemp("same") / "senders.db"
    load = [{"label": name, "fields": {"traffic.random.cbr": n}} for name, n in (("low", 1), ("high", 4))]
    factors = {"tcp": ["reno", "reno-f", "tahoe"], "load": load}
    asked = {"kind": "pairs", "margins": {"tcp_throughput_bps": 5000.0}}
    metrics = ["tcp_throughput_bps", "tcp_goodput"]
    small(factors=factors, replications=4, metrics=metrics, comparison=asked).run(path)
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_way_to_ask_gives_the_same_p_value_and_interval(cli: Cli, store: Path, tmp_path: Path) -> None:
    made = Results.load(store)
    python = made.comparisons.to_dict("records")
    assert len(python) == family(made).size == 3 * 2 * 2
    write(made, tmp_path / "page")
    made.export(tmp_path / "files", ["csv"])
    page, exported = (
        rows_of(tmp_path / place) for place in ("page/tables/comparisons.csv", "files/comparisons.csv")
    )
    latex = (tmp_path / "page" / "tables" / "comparisons.tex").read_text()
    html = (tmp_path / "page" / "index.html").read_text()

    @cache
    def printed(pair: str, *options: str) -> str:
        return cli("campaign", "results", store, "--compare", pair, *options).stdout

    for row in python:
        pair = f"{row['level']},{row['against']}"
        place = (row["metric"], row["load"], row["level"], row["against"])
        told = json.loads(printed(pair, "--json"))
        text = printed(pair, "--metric", row["metric"])
        terminal = [each for each in told if (each["metric"], each["load"]) == place[:2]]
        others = [
            [
                each
                for each in rows
                if tuple(each[key] for key in ("metric", "load", "level", "against")) == place
            ]
            for rows in (page, exported)
        ]
        for [other] in (terminal, *others):
            for key in ("difference", "low", "high", "p_t", "p_adjusted", "p_equivalent", "n"):
                value = float(other[key]) if other[key] not in ("", None) else math.nan
                assert value == pytest.approx(row[key], rel=1e-12, abs=1e-14, nan_ok=True), (place, key)
            assert other["verdict"] == row["verdict"]
        metric = by_key(row["metric"])
        assert f" {p_value(row['p_adjusted'])} " in text
        assert metric.show({metric.key: row["low"]}) in text
        for shown in (html, latex):
            assert p_value(row["p_adjusted"]).replace("<", "") in shown.replace("&lt;", "")
        assert number(row["low"], metric, signed=True) in html


def test_a_metric_that_was_not_asked_about_is_exploratory_everywhere(cli: Cli, store: Path) -> None:
    asked = ("--compare", "reno-f,reno", "--metric", "routing_packets_per_s")
    (first, _) = json.loads(cli("campaign", "results", store, *asked, "--json").stdout)
    assert (first["p_adjusted"], first["verdict"]) == (None, "exploratory")
    assert "This comparison is exploratory" in cli("campaign", "results", store, *asked).stdout


def test_terminal_and_page_give_the_same_answer_warnings_first(cli: Cli, store: Path, tmp_path: Path) -> None:
    found = answer(Results.load(store))
    shown = " ".join(cli("campaign", "results", store).stdout.split())
    page = (write(Results.load(store), tmp_path / "page")[0]).read_text()
    page = page.replace('<span class="ends">', "").replace("</span>", "")
    parts = [*found.warnings, *found.plain, found.verdict, *found.details]
    places = [shown.index(" ".join(part.split())) for part in parts]
    assert places == sorted(places)
    for part in parts:
        assert part.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;") in page
    for row in found.table.shown_rows:
        for cell in row:
            assert cell.shown in shown
            assert cell.shown in page
    assert str(found).splitlines()[len(found.warnings) :][:2] == [*found.plain, found.verdict][:2]


def test_json_has_the_answer_and_the_tables_behind_it(cli: Cli, store: Path) -> None:
    results = Results.load(store)
    found = answer(results)
    told = json.loads(cli("campaign", "results", store, "--json").stdout)
    assert (told["warnings"], told["verdict"], told["details"]) == (
        found.warnings,
        found.verdict,
        found.details,
    )
    p_values = [row["p_adjusted"] for row in told["comparisons"]]
    assert p_values == pytest.approx(list(results.comparisons["p_adjusted"]), nan_ok=True)
    assert [row["mean"] for row in told["summary"]] == pytest.approx(list(results.summary()["mean"]))


def test_another_question_to_the_same_results_is_said_to_be_one() -> None:
    made = results()
    other = made.asking(kind="control", control="reno-f")
    assert list(other.comparisons["difference"]) == list(-made.comparisons["difference"])
    assert made.campaign.comparison == {}
    assert conclusions.answer(Study(made, baseline="reno-f")) == conclusions.answer(Study(other))
    declared = results(comparison={"control": "reno"})
    assert conclusions.cautions(Study(declared)) == conclusions.cautions(Study(declared, baseline="reno"))
    told = conclusions.cautions(Study(declared, baseline="reno-f"))
    assert told[0].startswith("This comparison was requested for the report")


def test_intervals_of_shares_and_times_can_be_true() -> None:
    def nearly_all(_: Mapping[str, Any], replication: int) -> dict[str, float]:
        return {
            "tcp_throughput_bps": 0.0,
            "cbr_delivery_fraction": 1.0 if replication else 0.97,
            "cbr_latency_mean_s": 0.5 if replication == 3 else 0.01,
        }

    made = results(nearly_all, factors={"routing": PROTOCOLS}, metrics=MEASURES, base=BASE)
    summary = made.summary()
    assert (summary["low"] > 0).all()
    assert (summary[summary["metric"] == "cbr_delivery_fraction"]["high"] <= 1.0).all()
    assert outcomes.standing_table(Study(made)) is not None
    pairs = made.comparisons[made.comparisons["metric"] == "cbr_delivery_fraction"]
    assert (pairs["verdict"] == "equal").all()


def test_flooding_is_not_said_to_have_less_routing() -> None:
    def costs(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        load = {"aodv": 900.0, "dsdv": 700.0, "flooding": 0.0}[levels["routing"]]
        return {"tcp_throughput_bps": 0.0, "routing_bytes_per_s": load * (1 + 0.01 * (replication % 3))}

    for comparison in ({"kind": "pairs"}, {"kind": "control", "control": "flooding"}, {"control": "aodv"}):
        asked_metrics = {
            "factors": {"routing": ["aodv", "dsdv", "flooding"]},
            "metrics": ["routing_bytes_per_s"],
        }
        made = results(costs, comparison=comparison, **asked_metrics)
        for row in made.comparisons.to_dict("records"):
            with_flooding = "flooding" in (row["level"], row["against"])
            assert (row["verdict"] == "not comparable") == with_flooding
            assert math.isnan(row["p_adjusted"]) == math.isnan(row["ratio"]) == with_flooding
        told = " ".join(conclusions.answer(Study(made)))
        assert "flooding has none" in told
        assert "100" not in told
        table = outcomes.comparison_table(Study(made))
        assert table is not None


def test_the_best_routing_load_is_that_of_those_who_route() -> None:
    """Flooding has no routing load, which is no merit: the others are compared, adjusted for all pairs."""

    def costs(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        load = {"aodv": 1.5, "dsdv": 0.5, "flooding": 0.0}[levels["routing"]]
        value = load * (1 + 0.01 * (replication % 3))
        sent = {
            "mac_packets_per_delivered": 21.5 if not load else 2.5,
            "rebroadcasts_per_delivered_packet": 20.0 if not load else 0.0,
        }
        return {"tcp_throughput_bps": 0.0, "normalised_routing_load": value, **sent}

    fields = {"factors": {"routing": ["aodv", "dsdv", "flooding"]}, "metrics": ["normalised_routing_load"]}
    made = results(costs, **fields)
    assert (family(made).kind, family(made).size) == ("best", 3)
    rows = {row["level"]: row for row in made.standings.to_dict("records")}
    verdicts = {name: row["verdict"] for name, row in rows.items()}
    assert verdicts == {"aodv": "worse", "dsdv": "best", "flooding": "not comparable"}
    assert math.isnan(rows["flooding"]["p_adjusted"])
    [pair] = [
        row for row in made.comparisons.to_dict("records") if "flooding" not in (row["level"], row["against"])
    ]
    assert rows["aodv"]["p_adjusted"] == pytest.approx(pair["p_adjusted"])
    found = answer(made)
    assert any("Flooding (20.00) sends no routing packets" in each for each in found.warnings)
    assert "dsdv is the best and flooding has none to compare" in " ".join(found.details)
    # With flooding and one other there is nobody to compare with.
    fields["factors"] = {"routing": ["aodv", "flooding"]}
    two = results(costs, comparison={"kind": "best"}, **fields)
    assert set(two.standings["verdict"]) == {"not comparable"}
    assert "is not comparable" not in answer(two).verdict


def test_methods_list_all_parameters_of_every_protocol() -> None:
    from manetlab.report import methods

    table = methods.table(Study(asked()))
    [row] = [row for row in table.rows if row[0].shown == "parameters of routing"]
    for text in ("routing protocol aodv: ", "routing protocol dsdv: ", "link_layer_feedback = ", "buffer"):
        assert text in row[1].shown


def test_differences_of_percentages_are_percentage_points() -> None:
    made = results(protocols, factors={"routing": ["aodv", "dsdv"]}, metrics=["cbr_delivery_fraction"])
    [told] = conclusions.answer(Study(made))
    assert "difference −32.96 percentage points, −35.5 % relative; 95 % interval" in told
    table = outcomes.comparison_table(Study(made))
    assert table is not None
    assert table.rows[0][0].shown == "PDR (percentage points)"
    [figure] = outcomes.comparison_figures(Study(made))
    assert figure.x_title == "difference in PDR (percentage points)"


def test_points_are_named_by_factor_and_level() -> None:
    def skewed(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        rare = 1e6 if replication == 3 and levels["tcp"] == "reno" else 0.0
        return {"tcp_throughput_bps": 1e5 + replication + rare}

    [told] = [each for each in conclusions.cautions(Study(results(skewed))) if "skewed" in each]
    assert "TCP sender = reno, maximum speed = 5 m/s; TCP sender = reno, maximum speed = 20 m/s" in told


def test_a_margin_may_be_a_share_of_the_others_mean() -> None:
    made = asked(kind="pairs", margins={"cbr_delivery_fraction": "10 %"})
    assert family(made).shares == {"cbr_delivery_fraction": 0.1}
    [pair] = made.comparisons.query(
        "metric == 'cbr_delivery_fraction' and level == 'dsr' and against == 'aodv'"
    ).to_dict("records")
    assert pair["verdict"] == "practically the same"
    table = outcomes.comparison_table(Study(made))
    assert table is not None
    assert any("10 % of each other’s PDR" in note for note in table.notes)
    for wrong in ("ten", "0 %", "200 %", "5 % of it"):
        with pytest.raises(InputError, match="or a share such as"):
            asked(margins={"cbr_delivery_fraction": wrong})
