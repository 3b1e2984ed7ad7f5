"""The papers' pages: their numbers are those of the kept results, their charts draw what was measured."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from manetlab import provenance
from manetlab.stats import Interval
from manetlab_papers import (
    addresses,
    causes,
    excerpts,
    figures,
    ledger,
    pages,
    record,
    schedule,
    summary,
    words,
)
from manetlab_papers.campaigns import Scale
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
from manetlab_papers.reproduce import Study, kept_folder, study_from
from manetlab_papers.tables import Grid, Row, with_panels_on
from manetlab_papers.tables import Printed as PrintedCell

ROOT = provenance.repository()
LEDGER = ledger.load()
SVG = "{http://www.w3.org/2000/svg}"


def entry(claim: str, *measured: Measured, outcome: str = "reproduced", fit: str = "within") -> Entry:
    experiment = LEDGER.claims[claim].experiment
    return Entry(
        *(claim, outcome, "", "", "", experiment, "quick", "", ""), fit=fit, size="quick", compared=measured
    )


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, str], dict[str, str]]:
    """The pages of the paper whose results are read fastest: all, and those that are stored."""
    folder = kept_folder()
    assert folder is not None
    assert ROOT is not None
    wanted = [each for each in LEDGER.runnable.values() if each.paper == "bansal2003"]
    left = schedule.remaining(LEDGER, list(LEDGER.runnable.values()), Scale(full=True), folder)
    site = pages.Site(LEDGER, study_from(LEDGER, folder, wanted), causes.load(), left)
    pages.write_paper(site, "bansal2003")
    in_short = replace(site, is_whole=False, files={})
    pages.write_paper(in_short, "bansal2003")
    return site.files, in_short.files


@pytest.fixture(scope="module")
def of_one_paper(both: tuple[dict[str, str], dict[str, str]]) -> dict[str, str]:
    return both[0]


def test_what_is_stored_of_a_paper_follows_from_the_kept_results(
    both: tuple[dict[str, str], dict[str, str]],
) -> None:
    assert ROOT is not None
    for name, text in both[1].items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `make papers-pages`"


def test_a_page_in_short_leads_nowhere_that_is_not_stored(
    both: tuple[dict[str, str], dict[str, str]],
) -> None:
    page = both[1]["papers/pages/bansal2003.md"]
    assert set(re.findall(r"\]\(([^)#]+)", page)) <= {
        "../how-to.md",
        *(f"charts/bansal2003-first-{n}.svg" for n in (1, 2)),
    }
    for claim in LEDGER.claims.values():
        if claim.paper == "bansal2003" and claim.priority == 1:
            assert f"\n| {claim.id} | {claim.statement} |" in page


def test_the_index_names_every_paper_with_its_page() -> None:
    assert ROOT is not None
    text = (ROOT / pages.INDEX).read_text(encoding="utf-8")
    assert len(text.splitlines()) < 40
    for paper in LEDGER.papers:
        assert f"](../papers/pages/{paper}.md)" in text


def test_every_figure_says_how_it_is_made_and_every_claim_is_on_the_page(
    of_one_paper: dict[str, str],
) -> None:
    text = of_one_paper["papers/pages/bansal2003.md"]
    for experiment in LEDGER.runnable.values():
        if experiment.paper == "bansal2003":
            assert f"## {addresses.heading(experiment)}\n" in text
            name = addresses.command(LEDGER, experiment).removesuffix(" --full")
            assert re.search(rf"^`{name} --(full`|quick` \(at)", text, re.MULTILINE)
            for claim in LEDGER.claims_of(experiment):
                assert f"\n| {claim.id} |" in text
    pictures = {f"papers/pages/{name}" for name in re.findall(r"\]\((charts/[^)]+)\)", text)}
    assert pictures == {name for name in of_one_paper if name.endswith(".svg")}


DRAWN = {
    "": ["delivered, %", "latency, ms"],
    "fig-3.3": ["throughput, kb/s"],
    "fig-3.5": ["routing packets/s", "routing bytes/s"],
}
"""What the dissertation draws of 25 connections by load: under Fig. 3.1, where the runs are, or elsewhere."""


def test_a_panel_is_drawn_once_where_its_figure_is() -> None:
    for data in LEDGER.tables:
        named = {panel["on"] for panel in data.get("panels", ()) if "on" in panel}
        assert named <= set(data["for"][1:]), data["title"]
    [load] = [data for data in LEDGER.tables if data.get("at") == {"runs": "cbr-25"}]
    elsewhere = {
        each.partition("/")[2]: [panel["title"] for panel in with_panels_on(load, each)["panels"]]
        for each in load["for"][1:]
    }
    at_home = [panel["title"] for panel in load["panels"] if "on" not in panel]
    assert {"": at_home} | {name: titles for name, titles in elsewhere.items() if titles} == DRAWN


def test_commands_of_pages_name_experiments_that_can_be_run() -> None:
    for experiment in LEDGER.runnable.values():
        name = addresses.command(LEDGER, experiment).split()[3]
        assert LEDGER.experiment(name) is experiment


def test_what_is_no_more_is_removed_and_what_is_the_same_is_not_written(tmp_path: Path) -> None:
    old = tmp_path / "papers/pages/charts/old.svg"
    old.parent.mkdir(parents=True)
    old.write_text("", encoding="utf-8")
    made = {"papers/pages/new.md": "text\n"}
    assert pages.write(tmp_path, made) == [tmp_path / "papers/pages/new.md", old]
    assert not old.exists()
    assert pages.write(tmp_path, made) == []


def test_counts_add_up_to_all_claims() -> None:
    best = {"B-01": entry("B-01"), "B-02": entry("B-02", fit="touches"), "B-12": entry("B-12", fit="")}
    for quick in (True, False):
        for row in record.count_table(LEDGER, best, [*LEDGER.papers, ""], quick=quick).rows:
            assert sum(map(int, row[3:])) == int(row[2])
    [bansal] = [
        row for row in record.count_table(LEDGER, best, ["bansal2003"], quick=True).rows if row[1] == "all"
    ]
    assert bansal[3:6] == ("1", "1", "1")


def test_only_verdicts_at_full_size_are_counted_as_such() -> None:
    best = {"B-01": entry("B-01"), "B-02": replace(entry("B-02"), size="full")}
    table = record.count_table(LEDGER, best, ["bansal2003"])
    [bansal] = [dict(zip(table.columns, row, strict=True)) for row in table.rows if row[1] == "all"]
    assert (bansal["within"], bansal[record.ONLY_QUICK], bansal["not tested"]) == ("1", "1", "42")


def test_the_headline_splits_what_quick_runs_tell_from_full_size() -> None:
    full = {name: replace(entry(name), size="full") for name in ("C-01", "C-02")}
    of_two = pages.headline(record.headline(LEDGER, full, "choi2004"))
    assert of_two == "At full size, of 22 claims 2 are reproduced, 20 not tested."
    with_quick = {**full, "C-03": entry("C-03"), "C-04": entry("C-04", outcome="inconclusive")}
    assert pages.headline(record.headline(LEDGER, with_quick, "choi2004")) == (
        "Of 22 claims 3 are reproduced (2 at full size, 1 in quick runs), "
        "1 inconclusive (0 at full size, 1 in quick runs), 18 not tested."
    )


def test_a_column_of_quick_verdicts_stands_only_where_there_are_any() -> None:
    full = {"C-01": replace(entry("C-01"), size="full")}
    assert record.ONLY_QUICK not in record.count_table(LEDGER, full, ["choi2004"]).columns
    with_quick = {**full, "C-02": entry("C-02")}
    assert record.ONLY_QUICK in record.count_table(LEDGER, with_quick, ["choi2004"]).columns


def test_what_is_missing_for_a_claim_is_said_until_it_has_a_verdict_at_full_size() -> None:
    full, quick = LEDGER.claims["C-03"], LEDGER.claims["D4-08"]
    experiment = LEDGER.experiments[quick.experiment]
    left = schedule.Remaining(
        {"some": schedule.WorkLeft(30, 90.0), "more": schedule.WorkLeft(5, 30.0)},
        {experiment.id: {"some", "more"}},
    )
    told = excerpts.missing_for(LEDGER, quick, entry(quick.id), left)
    assert told == "not run: needs 35 runs, 2 min, `manetlab papers reproduce table-4.2 --full`"
    nothing_left = schedule.Remaining({}, {})
    done = replace(entry(full.id), size="full")
    assert excerpts.missing_for(LEDGER, full, done, nothing_left) == ""
    assert "table-4.2 --full" in excerpts.missing_for(LEDGER, quick, entry(quick.id), nothing_left)


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
    # Two, and one in the legend.
    assert len(marks) == 3
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


def test_a_chart_says_its_unit_and_what_its_columns_have_in_common() -> None:
    def titles(title: str, *heads: str) -> list[str]:
        row = Row({"x": 1}, "1", tuple(Interval(1, 0.1, 5) for _ in heads))
        grid = Grid(title, "", "x", heads, (row,), (), ("k",) * len(heads))
        return [chart.title for chart, _ in figures.charts_of(grid, {})]

    assert titles("Fig. 1: throughput by hops, kb/s", "TCP") == ["TCP: throughput by hops, kb/s"]
    assert titles("Table 2", "delay, s") == ["delay, s"]
    assert titles("Three hops", "total, kb/s, plain", "total, kb/s, throttled") == ["total, kb/s"]
    assert titles("Goodput, Mb/s", "DSR", "TSR") == ["Goodput, Mb/s"]


def test_a_legend_says_what_a_number_is_a_number_of() -> None:
    row = Row({"x": 1}, "1", (Interval(1, 0.1, 5), Interval(2, 0.1, 5)))

    def legend(across: str) -> list[str]:
        grid = Grid("Throughput, kb/s", "", "x", ("1", "10"), (row,), (), ("k", "k"), across=across)
        return [each.name for chart, _ in figures.charts_of(grid, {}) for each in chart.series]

    assert legend("traffic.random.video") == ["1 flow", "10 flows"]
    assert legend("hops") == ["1 hops", "10 hops"]


def test_a_band_without_a_number_and_a_bound_are_drawn() -> None:
    claim = LEDGER.claims["O-26"]
    row = [Row({"x": x}, str(x), (Interval(0.0, 0.0, 1), PrintedCell(claim))) for x in (2, 4, 6)]
    grid = Grid(
        "nodes", "", "flows", ("LUNAR", "printed"), tuple(row), (), ("k", "p"), bound=(30.0, "ends here")
    )
    [(chart, claims)] = figures.charts_of(grid, {})
    assert set(claims) == {"O-26"}
    root = ElementTree.fromstring(svg_of_chart(chart))
    classes = [each.attrib.get("class") for each in root.iter()]
    # Three, and one in the legend; no number is printed.
    assert (classes.count("band"), classes.count("printed"), classes.count("bound")) == (4, 0, 2)
    assert {"accepted", "ends here"} <= {each.text for each in root.iter(f"{SVG}text")}


def test_a_strip_says_its_statement_and_is_hollow_if_its_runs_are_quick() -> None:
    [claim] = [each for each in LEDGER.claims.values() if each.id == "D4-08"]
    measured = Measured(Interval(1.0, 0.1, 5), *claim.band())
    strips = [
        figures.strip(LEDGER, replace(entry(claim.id, measured), size=size), words=True)
        for size in ("quick", "full")
    ]
    for strip, dots in zip(strips, ("good quick", "good"), strict=True):
        root = ElementTree.fromstring(svg_of_strips([strip], ""))
        assert [each.attrib["class"] for each in root.iter(f"{SVG}circle")] == [dots]
        words = " ".join("".join(each.itertext()) for each in root.iter(f"{SVG}text"))
        assert words.startswith(f"{claim.id} {claim.statement}")


def test_a_number_that_all_cases_are_held_against_is_drawn_once() -> None:
    def marks(*printed: float) -> int:
        points = tuple(Point(0, 1.0, 0.9, 1.1, Printed(value, 0.0, 2.0)) for value in printed)
        root = ElementTree.fromstring(svg_of_strips([Strip("X", "within", "good", points)], ""))
        return sum(each.attrib.get("class") == "printed" for each in root.iter())

    assert (marks(1.2, 1.2, 1.2), marks(1.2, 1.3)) == (1, 2)


def test_a_band_has_the_unit_of_the_claims_quantity() -> None:
    assert record.rule_text(LEDGER, LEDGER.claims["D4-08"]) == "2 to 18 %"
    # A factor has no unit: how many times as long it takes is no number of seconds.
    assert record.rule_text(LEDGER, LEDGER.claims["D4-28"]) == "2 to 15"
    # Two quantities, with a unit each.
    assert record.rule_text(LEDGER, LEDGER.claims["D4-58"]) == LEDGER.claims["D4-58"].band_text


def test_a_drawn_figure_is_for_experiments_whose_runs_are_read() -> None:
    for data in LEDGER.figures:
        for name in data["for"]:
            assert LEDGER.experiments[name].runs is not None
            assert "function" not in data


def test_the_points_of_a_paper_hold_all_its_claims_of_first_priority_once() -> None:
    for paper in LEDGER.papers:
        named = [claim for point in summary.of_paper(LEDGER, paper) for claim in point.claims]
        first = [each.id for each in LEDGER.claims.values() if each.paper == paper and each.priority == 1]
        assert sorted(named) == sorted(first)


def test_a_point_counts_what_holds_and_names_what_does_not_with_its_cause() -> None:
    [cause] = causes.of_claim(causes.load(), "B-11")
    failed = cause.claims[:2]
    cause = replace(cause, gives=dict.fromkeys(failed, "a window of 4"))
    outcomes = {"B-01": "reproduced", "B-02": "by construction"}
    outcomes |= dict(zip(failed, ("contradicted", "inconclusive"), strict=True))
    best = {
        claim: replace(entry(claim, outcome=outcome), scale="full", size="full")
        for claim, outcome in outcomes.items()
    }
    best["B-04"] = entry("B-04")
    point = summary.Point("it says so", (*outcomes, "B-04", "B-06"))
    site = pages.Site(LEDGER, Study([], {}, [], {}), [cause], schedule.Remaining({}, {}))
    said = words.of_all(LEDGER, best, [cause])
    [row] = summary.table([point], said, [cause], site.claim, site.cause).rows
    assert row[:2] == ("it says so", "1 of 6")
    open_to, linked = f"{words.Word.OPEN}: ", {each: addresses.link_to(LEDGER, each) for each in point.claims}
    assert row[2] == "; ".join(
        [
            open_to + ", ".join(linked[each] for each in failed),
            f"by construction: {linked['B-02']}",
            f"not tested: {linked['B-06']}",
            f"{record.ONLY_QUICK}: {linked['B-04']}",
        ]
    )
    assert row[3] == f"[{cause.title}](causes.md#{cause.anchor})"


def test_claims_of_first_priority_are_drawn_where_a_number_was_compared() -> None:
    runs = kept_folder()
    assert runs is not None
    names = ["dyer2002/fig-3.1", "dyer2002/table-1.1"]
    best = record.best(study_from(LEDGER, runs, [LEDGER.experiments[each] for each in names]).entries)
    [crossing] = best["D3-04"].compared
    assert crossing.low <= crossing.interval.mean <= crossing.high
    assert [each.name for each in best["D3-11"].compared] == ["AODV", "DSR"]
    assert len(best["D1-01"].compared) == 10


def test_a_verdict_rests_on_the_runs_that_its_rule_reads() -> None:
    runs = kept_folder()
    assert runs is not None
    # The experiment is run with two campaigns, of 50 scenarios and of 5.
    experiment = LEDGER.experiments["dyer2002/sec-2.2.3-feedback"]
    best = record.best(study_from(LEDGER, runs, [experiment]).entries)
    assert [best[each].scenarios for each in ("D2-02", "D2-04")] == ["5", "50"]
    assert [best[each].measured for each in ("D2-02", "D2-04")] == ["600 s", "120 s"]
