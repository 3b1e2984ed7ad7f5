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


@pytest.mark.parametrize("width", [60, 80, 119, 120, 200])
def test_no_name_and_no_number_is_cut(width: int) -> None:
    table = Table("T", ("parameter", "throughput", "goodput", "a long source of it all"), text_columns=1)
    table.spare = 1
    table.add("mac.data_header_bytes", "12345.6", "0.123", "IEEE Std 802.11-1999, a clause of many words")
    console = Console(width=width, file=StringIO())
    table.print(console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(cell in text for cell in ("mac.data_header_bytes", "12345.6", "0.123"))
    assert "…" not in text
    assert ("IEEE" in text) == (width >= 120)


def test_metrics_are_shown_in_their_unit() -> None:
    metric = Metric("x_s", "x", "ms", 1e3, 1)
    assert metric.heading == "x (ms)"
    assert metric.show({"x_s": 0.01234}) == "12.3"
    assert metric.show({"x_s": None}) == "–"
    assert metric.show_interval(Interval(0.01, float("inf"), 1)) == "10.0 ± ∞"


def test_the_throughput_of_no_flows_is_shown_without_a_sign() -> None:
    totals = run(chain(traffic={"flows": []}, duration_s=2.0, warmup_s=0.0)).totals
    shown = {metric.key: metric.show(totals) for metric in TOTALS}
    assert shown["tcp_throughput_bps"] == shown["cbr_throughput_bps"] == "0.0"
