"""Tables in Markdown."""

from io import StringIO

import pytest
from rich.console import Console

from manetlab import run
from manetlab.metrics import TOTALS, Metric
from manetlab.stats import Interval
from manetlab.tables import Table
from tests.examples import chain


def test_markdown_keeps_bars_out_of_cells() -> None:
    table = Table("Title", ("a", "b"), text_columns=1, notes=["A note."])
    table.add("x|y", "1")
    assert table.to_markdown() == "### Title\n\n| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n\nA note.\n"


def test_numbers_have_the_minus_sign_of_prose_and_names_keep_their_hyphens() -> None:
    table = Table("T", ("name", "difference", "when"))
    table.add("aodv-uu-2.27 -1", "-374.2 (-∞ to -1e-05)", "2026-11-25 to -3")
    text = printed(table, 120)
    assert "−374.2 (−∞ to −1e-05)" in text and "2026-11-25 to −3" in text and "aodv-uu-2.27 -1" in text


def printed(table: Table, width: int) -> str:
    console = Console(width=width, file=StringIO())
    table.print(console)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


@pytest.mark.parametrize("width", [40, 60, 80, 119, 120, 200])
def test_nothing_is_cut_however_narrow_the_terminal(width: int) -> None:
    heads = ("parameter", "throughput (kb/s)", "retransmissions", "p (adjusted)", "a source of it all")
    table = Table("T", heads, text_columns=1)
    clause = "IEEE Std 802.11-1999, a clause of many words"
    table.add("mac.header_bytes", "12345.6", "0.123", "0.001", clause)
    text = printed(table, width)
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    words = {*" ".join(heads).split(), *table.rows[0][:-1], *clause.split()}
    assert words <= set(text.split())
    assert "…" not in text


def test_a_table_too_wide_for_the_terminal_is_shown_in_parts() -> None:
    table = Table("T", ("flow", "from", *(f"measure-{each}" for each in "abcdef")), keys=2, notes=["N."])
    table.add("7", "19", *(f"{each}.5" for each in range(6)))
    text = printed(table, 50)
    assert text.count("(continued)") == 1 and text.count("N.") == 1
    assert [line.split()[:2] for line in text.splitlines() if ".5" in line] == [["7", "19"]] * 2


def test_a_drawing_stays_in_one_line_and_goes_into_a_part_of_its_own_if_it_must() -> None:
    drawing = "──●── ░░░░░ ──●── ░░░░░ ──●──"
    table = Table("T", ("case", "text", "strip"), text_columns=3, whole=frozenset({2}))
    table.add("a case", "words that may go on in the next line", drawing)
    assert drawing in printed(table, 80) and "(continued)" not in printed(table, 80)
    assert drawing in printed(table, 45) and "(continued)" in printed(table, 45)


def test_a_table_without_headings_has_no_line_for_them() -> None:
    table = Table("T", ("", ""), text_columns=2)
    table.add("ours", "first case\nsecond case")
    lines = [line.strip() for line in printed(table, 60).splitlines() if line.strip()]
    assert lines == ["T", "ours  first case", "second case"]


def test_metrics_are_shown_in_their_unit() -> None:
    metric = Metric("x_s", "x", "ms", 1e3, 1)
    assert metric.heading == "x (ms)"
    assert metric.show({"x_s": 0.01234}) == "12.3"
    assert metric.show({"x_s": None}) == "–"
    assert metric.show_interval(Interval(0.01, float("inf"), 1)) == "10.0 ± ∞"


def test_the_throughput_of_no_flows_is_a_dash() -> None:
    totals = run(chain(traffic={"flows": []}, duration_s=2.0, warmup_s=0.0)).totals
    shown = {metric.key: metric.show(totals) for metric in TOTALS}
    assert shown["tcp_throughput_bps"] == shown["cbr_throughput_bps"] == "–"
