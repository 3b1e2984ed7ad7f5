"""What a report says: answer, cautions, tables and figures, against values that are known beforehand."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import plotly.graph_objects
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import get_data_path
from matplotlib.cbook import boxplot_stats
from matplotlib.ft2font import FT2Font

from manetlab import palette, plots
from manetlab.campaign import Results
from manetlab.errors import InputError
from manetlab.report import (
    conclusions,
    interactive,
    losses,
    methods,
    outcomes,
    printed,
    shares,
    write,
    writing,
)
from manetlab.report.figures import (
    AnyFigure,
    Bars,
    Box,
    Boxes,
    Cumulative,
    Forest,
    Lines,
    Sample,
    Series,
    Stacks,
)
from manetlab.report.study import Study
from manetlab.report.tables import COLUMN_PT, LATEX_SPECIAL, MOST_LINES, SIZES, Cell, Column, DataTable, latex
from manetlab.stats import bounded_interval
from tests.reports import BASE, results, throughput

Levels = dict[str, Any]


def figures_of(study: Study) -> list[AnyFigure]:
    """All figures of a report."""
    found = [figure for metric in study.wanted for figure in outcomes.metric_figures(study, metric)]
    found += outcomes.comparison_figures(study)
    found += [each for each in [losses.ends_figure(study)] if each is not None]
    return found + [figure for kind in shares.kinds(study) for figure in shares.flow_figures(study, kind)]


def row(table: DataTable, *heads: str) -> dict[str, Any]:
    """What programs read in the row that these cells begin."""
    (found,) = (cells for cells in table.rows if [cell.shown for cell in cells[: len(heads)]] == list(heads))
    return {column.key: cell.raw for column, cell in zip(table.columns, found, strict=True)}


# The answer


def test_the_answer_says_where_a_difference_is_significant_and_where_not() -> None:
    first, last = conclusions.answer(Study(results()))
    assert first == (
        "TCP throughput is higher with reno-f than with reno in 1 of 2 settings: +50.1 kb/s (+50.0 to "
        "+50.2) at maximum speed = 5 m/s. No significant difference in TCP throughput between reno-f and "
        "reno in 1 of 2 settings: +0.0 kb/s (−3.6 to +3.6) at maximum speed = 20 m/s."
    )
    assert last.startswith("Family-wise confidence 95 % over 2 comparisons")


def test_the_other_way_round_higher_becomes_lower() -> None:
    (first, _) = conclusions.answer(Study(results(), baseline="reno-f"))
    assert first.startswith(
        "TCP throughput is lower with reno than with reno-f in 1 of 2 settings: −50.1 kb/s"
    )


def test_one_comparison_is_told_with_its_evidence() -> None:
    def measure(levels: Levels, replication: int) -> dict[str, float]:
        return {"tcp_throughput_bps": (2e5 if levels["tcp"] == "tahoe" else 1e5) + replication * 10.0}

    (only,) = conclusions.answer(Study(results(measure, factors={"tcp": ["reno", "tahoe"]})))
    assert only.startswith("TCP throughput is higher with tahoe than with reno (difference +100.0 kb/s, +10")
    assert only.endswith("95 % interval +100.0 to +100.0 kb/s; p < 0.001; 10 pairs).")


def test_what_is_equal_in_every_pair_is_called_so() -> None:
    def measure(_: Levels, replication: int) -> dict[str, float]:
        return {"tcp_throughput_bps": 1e5 + replication}

    (first, _) = conclusions.answer(Study(results(measure)))
    assert first.startswith("TCP throughput is the same with reno-f and reno in every pair in both settings:")


def test_one_replication_has_no_significant_difference() -> None:
    study = Study(results(replications=1))
    assert {each.verdict for each in study.comparisons} == {"not significant"}
    assert "in either of the two settings" in conclusions.answer(study)[0]


def test_without_factors_the_answer_is_the_mean() -> None:
    def measure(_: Levels, replication: int) -> dict[str, float]:
        return {"tcp_throughput_bps": 1e5 + 2000.0 * (replication % 2)}

    assert conclusions.answer(Study(results(measure, factors={}))) == [
        "TCP throughput is 101.0 kb/s on average (95 % interval 100.3 to 101.8 kb/s, n = 10)."
    ]


def test_many_settings_are_told_by_their_range() -> None:
    speeds = {
        "tcp": ["reno", "reno-f"],
        "movement.waypoint.speed_max": [float(speed) for speed in range(6, 12)],
    }
    (first, _) = conclusions.answer(Study(results(factors=speeds)))
    assert first.count("m/s") == 0
    assert "mean differences from" in first


def test_comparisons_are_scipys_and_adjusted_all_together() -> None:
    made = results(metrics=["tcp_throughput_bps", "cbr_latency_mean_s"], measure=with_latency)
    study = Study(made, confidence=0.9)
    runs = made.runs
    expected = []
    for metric in ("tcp_throughput_bps", "cbr_latency_mean_s"):
        for speed in (5.0, 20.0):
            at = runs[runs["movement.waypoint.speed_max"] == speed].pivot(
                index="replication", columns="tcp", values=metric
            )
            test = scipy.stats.ttest_rel(at["reno-f"], at["reno"])
            expected.append((test.pvalue, *test.confidence_interval(1 - 0.1 / 4)))
    found = [(each.p_t, each.difference[1], each.difference[2]) for each in study.comparisons]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9)
    adjusted = [each.p_adjusted for each in study.comparisons]
    assert adjusted == pytest.approx([min(1.0, 4 * p) for p, _, _ in expected], rel=1e-9)


def with_latency(levels: Levels, replication: int) -> dict[str, float | None]:
    latency = (
        0.1 + 0.01 * (replication * 3 % 7) + (0.02 * (replication % 4) if levels["tcp"] == "reno" else 0.0)
    )
    return {**throughput(levels, replication), "cbr_latency_mean_s": latency}


def test_protocols_are_compared_before_anything_else() -> None:
    factors = {
        "movement.waypoint.speed_max": [5.0, 20.0],
        "profile": ["rfc", "ns-2.35"],
        "tcp": ["reno", "tahoe"],
    }
    assert Study(results(lambda *_: {"tcp_throughput_bps": 1.0}, factors=factors)).compared.key == "tcp"  # type: ignore[union-attr]
    chosen = Study(results(), compare="movement.waypoint.speed_max", baseline="20")
    assert (chosen.compared.heading, chosen.baseline) == ("maximum speed (m/s)", "20")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("asked", "words_of_it"),
    [
        ({"compare": "routing"}, ["--compare", "routing", "tcp, movement.waypoint.speed_max"]),
        ({"baseline": "vegas"}, ["--baseline", "vegas", "reno, reno-f"]),
        ({"confidence": 95.0}, ["confidence", "95", "0.95"]),
        ({"confidence": float("nan")}, ["confidence", "nan"]),
    ],
)
def test_what_cannot_be_reported_is_an_error(asked: dict[str, Any], words_of_it: list[str]) -> None:
    with pytest.raises(InputError) as error:
        Study(results(), **asked)
    assert all(word in str(error.value) for word in words_of_it)


def test_a_campaign_of_which_nothing_has_finished_has_no_report() -> None:
    failed = [(0, replication, "broke") for replication in range(10)]
    with pytest.raises(InputError, match=r"only failed runs \(10\)"):
        Study(results(factors={}, failed=failed))


# Cautions


def cautions(**fields: Any) -> str:
    study = Study(results(**fields))
    return " ".join([*conclusions.tested(study), *conclusions.cautions(study)])


def with_movement(**waypoint: Any) -> dict[str, Any]:
    return {**BASE, "movement": {"waypoint": {"nodes": 10, **waypoint}}}


SOUND = {
    **BASE,
    "movement": {"waypoint": {"nodes": 300, "width_m": 6400.0, "height_m": 400.0}},
    "duration_s": 10.0,
}
"""Long enough for paths of four hops, dense enough that few nodes are cut off."""


def test_a_sound_campaign_needs_no_caution() -> None:
    assert cautions(base=SOUND, factors={"mac.rts_threshold_bytes": [0, 2347]}) == ""


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "below 4 a scenario hardly tests routing"),
        ({"base": with_movement(width_m=5000.0, height_m=5000.0)}, "of the flows' node pairs have no path"),
        ({"replications": 9}, "4 of 4 points have fewer than 10 replications (minimum: 9)"),
        ({"failed": [(1, 3, "broke")]}, "1 of 40 runs failed"),
        ({"code": ["0.1.0 abc", "0.1.0 def"]}, "made with 2 versions of the code: 0.1.0 abc and 0.1.0 def"),
        ({"code": ["0.1.0 abc-dirty"]}, "uncommitted changes to the code"),
        (
            {"base": with_movement(start="uniform", speed_min=0.0) | {"warmup_s": 5.0}},
            "random waypoint starts uniformly".capitalize(),
        ),
        ({"base": {**BASE, "warmup_s": 0.0}}, "no warm-up"),
        (
            {
                "base": {**BASE, "movement": {"chain": {"nodes": 5}}, "traffic": {"flows": []}},
                "factors": {"tcp": ["reno", "reno-f"]},
                "measure": lambda *_: {"tcp_throughput_bps": 1.0},
            },
            "the same in all replications",
        ),
        (
            {
                "measure": lambda _, replication: {
                    "tcp_throughput_bps": 1e7 if replication == 3 else 1000.0 + replication
                }
            },
            "skewed at 4 of 4 points",
        ),
    ],
)
def test_what_makes_results_unsure_is_told(fields: dict[str, Any], told: str) -> None:
    assert told in cautions(**fields)


def test_a_warm_up_that_series_show_to_be_too_short_is_told() -> None:
    rows = [
        {
            "point": 0,
            "replication": replication,
            "time_s": second,
            "tcp_delivered_bytes": value,
            "cbr_received": 0,
        }
        for replication in range(2)
        for second in range(1, 101)
        for value in [(0.0 if second <= 20 else 1000.0) + (second * 7 + replication) % 5]
    ]
    fields = {"factors": {}, "base": {**BASE, "duration_s": 100.0}, "series": pd.DataFrame(rows)}
    assert "TCP progress: the warm-up of 5 s is too short: the series settles after about 20 s" in cautions(
        **fields
    )
    late = {**fields, "base": {**BASE, "duration_s": 100.0, "warmup_s": 20.0}}
    assert "MSER-5" not in cautions(**late)


# Tables


def test_the_table_of_a_metric_has_the_means_with_their_intervals() -> None:
    made = results()
    table = outcomes.metric_table(Study(made), Study(made).wanted[0])
    found = row(table, "reno-f", "20")
    values = [
        throughput({"tcp": "reno-f", "movement.waypoint.speed_max": 20.0}, r)["tcp_throughput_bps"]
        for r in range(10)
    ]
    expected = bounded_interval([float(value or 0) for value in values])
    assert (found["mean"], found["low"], found["high"]) == pytest.approx(
        (expected.mean, expected.low, expected.high), rel=1e-12
    )
    assert found["n"] == 10


def test_a_single_replication_has_an_interval_without_an_end_and_no_number_for_it() -> None:
    study = Study(results(replications=1))
    table = outcomes.metric_table(study, study.wanted[0])
    assert [cell.shown for cell in table.rows[0][3:5]] == ["0.0", "∞"]
    assert [cell.raw for cell in table.rows[0][3:5]] == [0.0, None]


def test_flows_are_shared_as_jains_index_says() -> None:
    study = Study(results())
    (kind,) = shares.kinds(study)
    found = row(shares.flow_table(study, kind), "reno", "5")
    # Shares of 3 : 1 in every run.
    assert found["jain"] == pytest.approx(16 / (2 * 10))
    assert (found["flows"], found["n"]) == (20, 10)
    assert found["jain_high"] == pytest.approx(found["jain_low"])


def test_losses_are_means_over_the_runs_of_a_point_and_their_sum_is_all_that_was_lost() -> None:
    table = losses.loss_table(Study(results(failed=[(0, 9, "broke")])))
    assert table is not None
    # Of the first alternative nine runs are there, of the second ten.
    assert [row(table, "5", "routing", "no-route", "tcp")[key] for key in ("level_0", "level_1")] == [
        6.0,
        6.5,
    ]
    assert row(table, "5", "not heard", "not heard", "not heard")["level_0"] == 1.0
    assert [row(table, "5", "all")[key] for key in ("level_0", "level_1")] == [7.0, 7.5]


def test_drops_that_lose_nothing_are_in_a_table_of_their_own() -> None:
    table = losses.drop_table(Study(results()))
    assert row(table, "20", "mac", "duplicate", "ack")["level_1"] == 7.0
    assert not any("no-route" in [cell.shown for cell in cells] for cells in table.rows)


def test_a_bar_shows_where_all_packets_ended() -> None:
    figure = losses.ends_figure(Study(results()))
    assert figure is not None
    assert [each.name for each in figure.series] == [
        "delivered",
        "lost: no route",
        "lost: not heard",
        "still under way",
    ]
    for at in range(4):
        assert sum(each.y[at] or 0.0 for each in figure.series) == pytest.approx(100.0)
    spec = interactive.plotly(figure)
    assert (spec["layout"]["barmode"], len(spec["data"])) == ("stack", 4)


def test_bars_that_are_alone_in_their_category_stand_in_its_middle() -> None:
    def bars(*series: tuple[str, tuple[str, ...]]) -> tuple[Series, ...]:
        return tuple(Series(name, x, *[(1.0,) * len(x)] * 3, (1,) * len(x)) for name, x in series)

    assert interactive.are_alone(bars(("aodv", ("aodv",)), ("dsr", ("dsr",))))
    assert not interactive.are_alone(bars(("aodv", ("5", "10")), ("dsr", ("5", "10"))))


def test_a_campaign_in_which_nothing_is_dropped_has_empty_tables() -> None:
    study = Study(results(drops=lambda many: [each for each in many if each.get("end") == "delivered"]))
    assert losses.drop_table(study).rows == []
    figure = losses.ends_figure(study)
    assert figure is not None
    assert [each.name for each in figure.series] == ["delivered"]


def test_stores_that_do_not_know_losses_show_their_drops() -> None:
    study = Study(results(drops=lambda many: [each for each in many if "end" not in each]))
    assert losses.loss_table(study) is None
    assert losses.ends_figure(study) is None
    assert row(losses.drop_table(study), "5", "routing", "no-route", "tcp")["level_0"] == 7.5


def test_failed_runs_are_listed_with_the_command_that_repeats_them() -> None:
    table = losses.failure_table(Study(results(failed=[(3, 2, "the books do not balance")])))
    found = row(table, "reno-f", "20", "2")
    assert found["error"] == "the books do not balance"
    assert "points[3].scenario(2)" in found["command"]


def test_csv_gives_back_every_digit() -> None:
    made = results()
    read = list(csv.DictReader(io.StringIO(losses.run_table(Study(made)).to_csv())))
    assert [float(each["tcp_throughput_bps"]) for each in read] == made.runs["tcp_throughput_bps"].tolist()
    assert [each["result_hash"] for each in read] == made.runs["result_hash"].tolist()


def unescaped(text: str, sign: str) -> int:
    return len(re.findall(rf"(?<!\\)(?:\\\\)*{re.escape(sign)}", text))


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc"))), min_size=3, max_size=3))
def test_any_text_is_a_cell_in_latex(texts: list[str]) -> None:
    table = DataTable("any", texts[0], [Column(text, "k", is_text=True) for text in texts])
    table.add(*(Cell(text) for text in texts))
    source = table.to_latex()
    body = source[source.index(r"\toprule") : source.index(r"\bottomrule")].splitlines()[1:]
    rows = [line for line in body if line.strip() and "rule" not in line.split("&")[0]]
    # Three headings and three cells, above each other or, if they are long, beside each other.
    assert [unescaped(line, "&") for line in rows] in ([2, 2], [1, 1, 1])
    assert unescaped(source, "{") == unescaped(source, "}")
    assert unescaped(source, "$") % 2 == 0
    cells = "".join(map(latex, texts))
    assert not re.search(r"(?<!\\)[#%_~^]", re.sub(r"\\text\w+\{\}", "", cells.replace("~", "")))
    assert cells.count("~") == sum(text.count("\u00a0") for text in texts)


def test_every_special_character_of_latex_is_written_out() -> None:
    assert latex("50 % of a_b & #1 {x} \\ ~ ^ $5 <a> “q” 1–2 −3 ± 4 × 5") == (
        r"50 \% of a\_b \& \#1 \{x\} \textbackslash{} \textasciitilde{} \textasciicircum{} \$5 "
        r"\textless{}a\textgreater{} ``q'' 1--2 $-$3 $\pm$ 4 $\times$ 5"
    )
    assert all(latex(sign) != sign for sign in LATEX_SPECIAL)


@lru_cache
def letters() -> FT2Font:
    """Computer Modern, as LaTeX sets tables if nothing else is said."""
    font = FT2Font(str(Path(get_data_path()) / "fonts" / "ttf" / "cmr10.ttf"))
    font.set_size(100.0, 72)
    return font


def width_pt(cell: str, points: float) -> float:
    """The width of a cell as it is read, in points."""
    for sign, command in LATEX_SPECIAL.items():
        cell = cell.replace(command, {"µ": "u", "α": "a", "\u00a0": " "}.get(sign, sign))
    letters().set_text("".join(each if ord(each) < 128 else "0" for each in cell))
    # Letters of 8 and 9 points are up to 6.25 % wider than those of 10 that are made smaller.
    return letters().get_width_height()[0] / 64 * points / 100 * 1.0625


def floats(source: str) -> Iterator[tuple[list[list[str]], list[float]]]:
    """Of each float its cells, and the widths of its columns in points."""
    for text in source.split(r"\begin{table}")[1:]:
        [points] = [points for size, points in SIZES if size in text]
        [columns] = re.findall(r"\\begin\{tabular\}\{(.*)\}", text)
        body = text[text.index(r"\toprule") : text.index(r"\bottomrule")].splitlines()
        cells = [
            [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))]
            for line in body
            if "&" in line
        ]
        kinds = re.findall(r"p\{(\d+)pt\}|[lr]", columns)
        # Paragraphs break their lines.
        yield (
            cells,
            [
                float(kind) if kind else max(width_pt(cell, points) for cell in column)
                for kind, column in zip(kinds, zip(*cells, strict=True), strict=True)
            ],
        )


def test_tables_for_print_fit_one_column_of_a_paper(tmp_path: Path) -> None:
    made = results(
        factors={"routing": ["aodv", "dsr", "dsdv", "adv"], "movement.waypoint.speed_max": [1.0, 20.0]},
        metrics=["tcp_throughput_bps", "cbr_delivery_fraction", "cbr_latency_mean_s"],
        failed=[(1, 3, "an error that goes on and on " * 8)],
    )
    write(made, tmp_path / "report")
    files = sorted((tmp_path / "report" / "tables").glob("*.tex"))
    shapes = set()
    for file in files:
        source = file.read_text(encoding="utf-8")
        assert "table*" not in source
        assert source.count(r"\label") == 1
        for cells, widths in floats(source):
            shapes.add((r"p{" in source, len(widths)))
            assert sum(widths) + 6.0 * len(widths) <= COLUMN_PT, (file.name, widths)
            assert len(cells) <= MOST_LINES
    assert len(files) >= 6
    # Four rows beside each other, and rows one below the other with text of several lines.
    assert shapes >= {(False, 5), (True, 2)}


def test_no_cell_is_lost_where_rows_stand_beside_each_other() -> None:
    columns = [Column(f"quite a long heading {number}", f"k{number}") for number in range(9)]
    table = DataTable("wide", "Wide", columns)
    for row in range(30):
        table.add(*(Cell(f"{row}.{number}") for number in range(9)))
    found = list(floats(table.to_latex()))
    assert len(found) > 1
    cells = [cell for lines, _ in found for line in lines for cell in line[1:] if cell]
    assert sorted(cells) == sorted(f"{row}.{number}" for row in range(30) for number in range(9))
    assert all(line[0].startswith("quite a long") for lines, _ in found for line in lines)


def test_a_warning_in_short_says_what_and_not_what_it_means() -> None:
    assert conclusions.in_short(
        "Paths have 2.71 hops on average; below 4 is few (A and B 2006) (2 of 5)."
    ) == ("Paths have 2.71 hops on average.")
    assert conclusions.in_short("They differ in 2 parameters, really: a (3 with x); b (1 with y).") == (
        "They differ in 2 parameters, really."
    )
    assert conclusions.in_short("Flooding (34.2) sends no routing packets; in brackets.") == (
        "Flooding sends no routing packets."
    )


def test_hidden_columns_are_for_programs_only() -> None:
    table = outcomes.comparison_table(Study(results()))
    assert table is not None
    assert {"against", "ratio_low", "p_equivalent"} <= set(table.to_csv().splitlines()[0].split(","))
    assert len(table.shown_rows[0]) == len(table.shown_columns) == len(table.columns) - 8


# Methods

KURKOWSKI = (
    "simulator",
    "platform",
    "kind of simulation",
    "replications",
    "random numbers",
    "seeds",
    "statistics",
    "simulated time and warm-up",
    "number of nodes",
    "field",
    "transmission range",
    "mobility model",
    "speed and pause",
    "topology (first replication)",
    "traffic",
    "MAC",
    "routing",
    "transport",
    "parameters that differ from the profile",
)


def methods_of(made: Results) -> dict[str, str]:
    table = methods.table(Study(made))
    return {cells[0].shown: cells[1].shown for cells in table.rows}


def test_the_methods_table_has_all_that_the_survey_asks_for() -> None:
    found = methods_of(results())
    assert set(KURKOWSKI) <= set(found)
    assert all(found.values())
    assert found["number of nodes"] == "10"
    assert found["field"] == "500 m × 400 m"
    assert found["seeds"] == "1 to 10"
    assert found["simulated time and warm-up"] == "30 s, measured from 5 s (25 s)"
    assert found["transmission range"].startswith("250 m (sensed up to 550 m)")
    assert found["simulator"].startswith("manetlab 0.1.0 abc")


def test_what_a_factor_decides_is_told_by_its_levels() -> None:
    found = methods_of(results())
    assert found["speed and pause"].splitlines() == [
        "maximum speed 5: 1 to 5 m/s, uniform; pause 0 s",
        "maximum speed 20: 1 to 20 m/s, uniform; pause 0 s",
    ]
    assert found["parameters that differ from the profile"].splitlines() == [
        "TCP sender reno: none",
        "TCP sender reno-f: tcp.rto_policy = fixed (profile: exponential), tcp.sack = true (profile: false), "
        "tcp.delayed_ack = true (profile: false)",
    ]


def test_files_that_are_elsewhere_leave_a_methods_table_that_says_so() -> None:
    made = results(
        base={**BASE, "movement": "elsewhere.mov"}, factors={"tcp": ["reno", "reno-f"]}, measure=fixed
    )
    assert "elsewhere.mov" in methods_of(made)["set-up"]


def fixed(_: Levels, replication: int) -> dict[str, float]:
    return {"tcp_throughput_bps": 1000.0 + replication}


# Figures


def test_a_numeric_factor_makes_lines_and_a_named_one_bars() -> None:
    study = Study(results())
    (lines,) = outcomes.metric_figures(study, study.wanted[0])
    assert isinstance(lines, Lines)
    assert [series.name for series in lines.series] == ["reno", "reno-f"]
    assert lines.series[0].x == (5.0, 20.0)
    assert lines.series[1].y[0] == pytest.approx(154.59)
    assert (lines.x_title, lines.y_title) == ("maximum speed (m/s)", "TCP throughput (kb/s)")
    named = Study(results(fixed, factors={"tcp": ["reno", "tahoe"], "profile": ["rfc", "ns-2.35"]}))
    (bars,) = outcomes.metric_figures(named, named.wanted[0])
    assert isinstance(bars, Bars)
    assert bars.series[0].x == ("rfc", "ns-2.35")


def test_more_factors_make_a_figure_each_setting() -> None:
    factors = {
        "tcp": ["reno", "tahoe"],
        "profile": ["rfc", "ns-2.35"],
        "movement.waypoint.speed_max": [5.0, 20.0],
        "mac.rts_threshold_bytes": [0, 2347],
    }
    study = Study(results(fixed, factors=factors))
    drawn = outcomes.metric_figures(study, study.wanted[0])
    assert len({figure.name for figure in drawn}) == 4
    assert "profile = rfc, mac.rts_threshold_bytes = 0 byte" in drawn[0].title


def test_a_boundless_interval_is_drawn_without_a_bar() -> None:
    study = Study(results(replications=1))
    (figure,) = outcomes.metric_figures(study, study.wanted[0])
    assert isinstance(figure, Lines)
    assert figure.series[0].low == (None, None)
    assert interactive.plotly(figure)["data"][0]["error_y"]["array"] == [0.0, 0.0]


@given(st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), min_size=1, max_size=40))
def test_boxes_are_those_of_matplotlib(values: list[float]) -> None:
    ours = Box.of("x", values)
    (theirs,) = boxplot_stats(values)
    assert (ours.q1, ours.median, ours.q3) == pytest.approx(
        (theirs["q1"], theirs["med"], theirs["q3"]), abs=1e-6
    )
    assert (ours.low, ours.high) == pytest.approx((theirs["whislo"], theirs["whishi"]), abs=1e-6)
    assert sorted(ours.outliers) == pytest.approx(sorted(theirs["fliers"]))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_a_cumulative_distribution_counts_values_up_to_each(values: list[float]) -> None:
    sample = Sample("s", (), tuple(values))
    x, y = Cumulative("name", "title", "x", "y", "caption", "table", (sample,)).steps(sample)
    assert (y[0], y[-1]) == (0.0, 1.0)
    assert all(a <= b for a, b in pairwise(x))
    reached = dict(zip(x, y, strict=True))
    for value in values:
        assert reached[value] == pytest.approx(sum(other <= value for other in values) / len(values))


def test_every_kind_of_figure_is_one_that_plotly_and_matplotlib_draw() -> None:
    drawn = figures_of(Study(results())) + figures_of(
        Study(results(fixed, factors={"profile": ["rfc", "ns-2.35"]}))
    )
    assert {type(figure) for figure in drawn} == {Lines, Bars, Stacks, Forest, Boxes, Cumulative}
    for figure in drawn:
        spec = interactive.plotly(figure)
        # Raises if a property is unknown or has a value that is not allowed.
        plotly.graph_objects.Figure(data=spec["data"], layout=spec["layout"])
        svg, pdf = printed.draw(figure)
        assert (svg, pdf) == printed.draw(figure), "not the same bytes twice"
        width = ElementTree.fromstring(svg).attrib["width"]
        assert float(width.removesuffix("pt")) == pytest.approx(72 * printed.WIDTH_IN)
        assert b"/FontFile2" in pdf
        assert b"/Type3" not in pdf
        assert b"CreationDate" not in pdf


def test_names_are_no_markup() -> None:
    levels = [
        {"label": name, "fields": {"traffic.random.cbr": number}}
        for number, name in enumerate(["<b>&", "$x$"])
    ]
    study = Study(results(fixed, factors={"load": levels}))
    (figure,) = outcomes.metric_figures(study, study.wanted[0])
    spec = interactive.plotly(figure)
    assert [trace["x"] for trace in spec["data"]] == [["&lt;b&gt;&amp;"], ["$x$"]]
    printed.draw(figure)


def test_series_differ_without_colours_too() -> None:
    kinds = (interactive.SYMBOLS, interactive.DASHES, interactive.PATTERNS, plots.MARKERS, plots.HATCHES)
    for kind in kinds:
        assert len(set(kind)) == len(palette.ON_LIGHT) == len(palette.ON_DARK)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    bright, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("theme", "marks"), [(palette.LIGHT, palette.ON_LIGHT), (palette.DARK, palette.ON_DARK)]
)
def test_text_and_marks_stand_out(theme: dict[str, str], marks: tuple[str, ...]) -> None:
    for ground in ("ground", "raised"):
        for text in ("text", "muted", "link"):
            assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
    assert contrast(theme["warn"], theme["warn-ground"]) >= 4.5
    assert contrast(theme["text"], theme["warn-ground"]) >= 4.5
    for mark in marks:
        assert contrast(mark, theme["ground"]) >= 3.0, mark


# The page


class Page(HTMLParser):
    """What of a page can be checked without a browser."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.seen.append((tag, found))
        if identity := found.get("id"):
            self.ids.append(identity)
        if tag == "a":
            self.links.append(found["href"] or "")
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def count(self, tag: str) -> int:
        return sum(each == tag for each, _ in self.seen)


def test_the_page_is_whole_and_leads_somewhere() -> None:
    files = writing.render(
        Study(results(failed=[(1, 3, "broke <here> & there")], question="<script>alert(1)</script>?"))
    )
    text = files["index.html"].decode()
    page = Page(text)
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    for link in page.links:
        assert link.removeprefix("#") in page.ids if link.startswith("#") else link in files, link
    assert page.headings[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(page.headings))
    assert page.count("h1") == page.count("main") == page.count("nav") == 1
    assert page.count("table") == page.count("caption")
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in page.seen if tag == "th")
    assert all(attrs.get("alt") for tag, attrs in page.seen if tag == "img")
    assert "<script>alert" not in text
    assert "broke &lt;here&gt; &amp; there" in text


def test_the_page_asks_for_nothing_outside_itself() -> None:
    page = Page(writing.render(Study(results()))["index.html"].decode())
    for _, attrs in page.seen:
        for name in ("src", "href"):
            target = attrs.get(name) or ""
            assert not re.match(r"[a-z]+:", target) or target.startswith("data:"), target
