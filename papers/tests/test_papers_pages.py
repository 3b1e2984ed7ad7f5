"""The papers' pages: their numbers are those of the kept results, their charts draw what was measured."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from manetlab import provenance
from manetlab.stats import Interval
from manetlab_papers import causes, figures, ledger, pages, record
from manetlab_papers.charts import (
    SPAN,
    STRIP,
    Chart,
    Point,
    Printed,
    Series,
    Strip,
    svg_of_chart,
    svg_of_strips,
)
from manetlab_papers.outcomes import Measured
from manetlab_papers.record import Entry
from manetlab_papers.reproduce import kept_folder, study_from
from manetlab_papers.tables import Grid, Row

ROOT = provenance.repository()
LEDGER = ledger.load()
SVG = "{http://www.w3.org/2000/svg}"


def entry(claim: str, *measured: Measured, outcome: str = "reproduced", fit: str = "within") -> Entry:
    experiment = LEDGER.claims[claim].experiment
    return Entry(
        *(claim, outcome, "", "", "", experiment, "quick", "", ""), fit=fit, size="quick", compared=measured
    )


@pytest.fixture(scope="module")
def of_one_paper() -> dict[str, str]:
    """The pages of the paper whose results are read fastest."""
    folder = kept_folder()
    assert folder is not None
    assert ROOT is not None
    wanted = [each for each in LEDGER.runnable.values() if each.paper == "bansal2003"]
    site = pages.Site(LEDGER, study_from(LEDGER, folder, wanted), causes.load())
    pages.write_paper(site, "bansal2003")
    return site.files


def test_a_papers_pages_are_those_of_the_kept_results(of_one_paper: dict[str, str]) -> None:
    assert ROOT is not None
    for name, text in of_one_paper.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, f"{name}: run `make papers-pages`"


def test_every_figure_says_how_it_is_made_and_every_claim_is_on_the_page(
    of_one_paper: dict[str, str],
) -> None:
    text = of_one_paper["papers/bansal2003.md"]
    for experiment in LEDGER.runnable.values():
        if experiment.paper == "bansal2003":
            assert f"## {pages.heading(experiment)}\n" in text
            name = pages.command(LEDGER, experiment).removesuffix(" --full")
            assert re.search(rf"^`{name} --(full`|quick` \(at)", text, re.MULTILINE)
            for claim in LEDGER.claims_of(experiment):
                assert f"\n| {claim.id} |" in text
    pictures = set(re.findall(r"\]\(\.\./(figures/papers/[^)]+)\)", text))
    assert pictures == {name for name in of_one_paper if name.endswith(".svg")}


def test_commands_of_pages_name_experiments_that_can_be_run() -> None:
    for experiment in LEDGER.runnable.values():
        name = pages.command(LEDGER, experiment).split()[3]
        assert LEDGER.experiment(name) is experiment


def test_what_is_no_more_is_removed_and_what_is_the_same_is_not_written(tmp_path: Path) -> None:
    old = tmp_path / "figures/papers/old.svg"
    old.parent.mkdir(parents=True)
    old.write_text("", encoding="utf-8")
    made = {"papers/new.md": "text\n"}
    assert pages.write(tmp_path, made) == [tmp_path / "papers/new.md", old]
    assert not old.exists()
    assert pages.write(tmp_path, made) == []


def test_counts_add_up_to_all_claims() -> None:
    best = {"B-01": entry("B-01"), "B-02": entry("B-02", fit="touches"), "B-12": entry("B-12", fit="")}
    for row in record.count_table(LEDGER, best, [*LEDGER.papers, ""]).rows:
        assert sum(map(int, row[3:-1])) == int(row[2])
    [bansal] = [
        row
        for row in record.count_table(LEDGER, best, ["bansal2003"]).rows
        if row[:2] == ("bansal2003", "all")
    ]
    assert bansal[3:6] == ("1", "1", "1")


# Charts.


def numbers(svg: str, kind: str, attribute: str) -> list[float]:
    root = ElementTree.fromstring(svg)
    return [float(each.attrib[attribute]) for each in root.iter(f"{SVG}{kind}") if attribute in each.attrib]


def test_a_strip_puts_a_value_where_it_lies_in_its_band() -> None:
    def dot(value: float, low: float, high: float) -> float:
        point = Point(0, value, value, value, Printed(None, low, high))
        [x] = numbers(svg_of_strips([Strip("A", "within", "good", (point,))], "t"), "circle", "cx")
        return (x - STRIP[0]) / (STRIP[1] - STRIP[0]) * (SPAN[1] - SPAN[0]) + SPAN[0]

    assert dot(3.0, 2.0, 4.0) == pytest.approx(0.5, abs=0.01)
    assert dot(1.0, 2.0, 4.0) == pytest.approx(-0.5, abs=0.01)
    assert dot(7.0, 5.0, float("inf")) > 0
    assert dot(4.0, 5.0, float("inf")) < 0
    assert dot(7.0, float("-inf"), 5.0) > 1
    assert dot(4.0, float("-inf"), 5.0) < 1


def test_what_lies_beyond_a_strip_is_drawn_at_its_end() -> None:
    point = Point(0, 1e9, -1e9, float("inf"), Printed(3.0, 2.0, 4.0))
    svg = svg_of_strips([Strip("A", "contradicted", "bad", (point,))], "t")
    assert numbers(svg, "circle", "cx") == []
    places = [float(x) for x in re.findall(r"[ML](\d+\.\d) ", svg)]
    assert places
    assert max(places) <= STRIP[1] + 5
    assert "nan" not in svg
    assert "inf" not in svg


@pytest.mark.parametrize("rows", [(), ("a", "a name that is longer than its column")])
def test_charts_are_the_same_bytes_again_and_hold_their_points(rows: tuple[str, ...]) -> None:
    points = (Point(0, 1.0, 0.5, 1.5), Point(1, 3.0, 2.0, float("inf"), Printed(2.5, 2.0, 4.0)))
    chart = Chart("throughput <kb/s>", "load", (Series("A & B", points), Series("C", points)), rows)
    svg = svg_of_chart(chart)
    assert svg == svg_of_chart(chart)
    root = ElementTree.fromstring(svg)
    assert root.findtext(f"{SVG}title", "").startswith("throughput <kb/s> by load: A & B 1 to 3, C 1 to 3")
    marks = [each for each in root.iter() if each.attrib.get("class") == "printed"]
    assert len(marks) == 2
    places = numbers(svg, "circle", "cx" if not rows else "cy")
    assert places == sorted(places)


def test_a_printed_value_is_drawn_at_the_value_that_its_rule_compares() -> None:
    # D5-02 prints throughput in Mb/s for two protocols; the grid is in kb/s.
    values = [Interval(1.1, 0.1, 20), Interval(1.0, 0.2, 20)]
    claim = LEDGER.claims["D5-02"]
    measured = [
        Measured(value, *claim.band(index), name)
        for index, (name, value) in enumerate(zip(claim.at, values, strict=True))
    ]
    rows = tuple(
        Row({"p": name}, name, (value.scaled(1000),)) for name, value in zip("AB", values, strict=True)
    )
    grid = Grid("t", "", "p", ("throughput, kb/s",), rows, (), ("k",))
    [(chart, claims)] = figures.charts_of(grid, figures.overlays(LEDGER, [entry("D5-02", *measured)]))
    assert claims == ["D5-02", "D5-02"]
    drawn = [point.printed for point in chart.series[0].points]
    assert [each.value for each in drawn if each] == [1000 * value for value in claim.value]
    assert [each.low for each in drawn if each] == [1000 * low for low in claim.lo]


def test_what_hardly_varies_is_drawn_from_zero() -> None:
    def height(values: list[float]) -> float:
        points = tuple(Point(x, y, y, y) for x, y in enumerate(values))
        places = numbers(svg_of_chart(Chart("t", "x", (Series("A", points),))), "circle", "cy")
        return max(places) - min(places)

    assert height([100.0, 100.01, 99.99]) < 1
    assert height([100.0, 150.0, 90.0]) > 50


def test_columns_of_one_quantity_share_a_chart() -> None:
    row = Row({"x": 1}, "1", (Interval(1, 0.1, 5), Interval(2, 0.1, 5), Interval(50, 1, 5)))
    grid = Grid("t", "", "x", ("A", "B", "A/B, %"), (row,), (), ("s", "s", "r"))
    made = [chart for chart, _ in figures.charts_of(grid, {})]
    assert [[each.name for each in chart.series] for chart in made] == [["A", "B"], ["A/B, %"]]


def test_a_drawn_figure_is_for_experiments_whose_runs_are_read() -> None:
    for data in LEDGER.figures:
        for name in data["for"]:
            assert LEDGER.experiments[name].runs is not None
            assert "function" not in data
