"""Tables in Markdown."""

from manetlab.metrics import Metric
from manetlab.stats import Interval
from manetlab.tables import Table


def test_markdown_keeps_bars_out_of_cells() -> None:
    table = Table("Title", ("a", "b"), text_columns=1, notes=["A note."])
    table.add("x|y", "1")
    assert table.to_markdown() == "### Title\n\n| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n\nA note.\n"


def test_metrics_are_shown_in_their_unit() -> None:
    metric = Metric("x_s", "x", "ms", 1e3, 1)
    assert metric.heading == "x (ms)"
    assert metric.show({"x_s": 0.01234}) == "12.3"
    assert metric.show({"x_s": None}) == "–"
    assert metric.show_interval(Interval(0.01, float("inf"), 1)) == "10.0 ± ∞"
