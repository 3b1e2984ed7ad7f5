"""The answer in two sentences, and the page that has them: one side of A4, in a real browser."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome

from manetlab import InputError
from manetlab.report import brief, paper, plain, priority, write_brief
from manetlab.report.study import Study
from tests.browsers import WITHOUT_WEBGL, chromium, set_window
from tests.conftest import Cli
from tests.reports import results

SPEEDS = [2.0, 5.0, 10.0, 20.0]


def study(measure: Any, **fields: Any) -> Study:
    usual = {"factors": {"routing": ["aodv", "dsr", "dsdv"]}, "metrics": ["cbr_delivery_fraction"]}
    return Study(results(measure, **{**usual, **fields}))


def measured(pdr: Mapping[str, float], delay_s: Mapping[str, float] | None = None) -> Any:
    """What runs measure whose values hardly differ from these by protocol."""

    def measure(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        noise = 0.002 * (replication * (3 + 2 * len(levels["routing"])) % 7 - 3)
        shares = {"cbr_sent": 1000.0, "cbr_delivery_fraction": pdr[levels["routing"]] + noise}
        delays = {} if delay_s is None else {"cbr_latency_mean_s": delay_s[levels["routing"]] * (1 + noise)}
        return {"tcp_throughput_bps": 0.0, **shares, **delays}

    return measure


def test_the_best_of_several_is_named_with_what_it_gains_over_the_next_and_what_that_gives() -> None:
    said = plain.sentences(study(measured({"aodv": 0.82, "dsr": 0.70, "dsdv": 0.30})))
    assert len(said) == 2
    assert said[0] == "AODV delivers 12 points more than DSR, the next best."
    assert said[1] == "With AODV, 82 % of the packets arrive."


def test_an_interval_is_told_where_it_is_seen_in_the_digits_of_the_value() -> None:
    def measure(_levels: Mapping[str, Any], replication: int) -> dict[str, float | None]:
        share = 0.9 + 0.02 * (replication % 3 - 1)
        return {"tcp_throughput_bps": None, "cbr_sent": 1000.0, "cbr_delivery_fraction": share}

    [said] = plain.sentences(study(measure, factors={}))
    assert re.fullmatch(r"90 % of the packets arrive \(95 % interval 8[89] to 9[12] %\)\.", said), said


def test_the_next_measure_decides_only_among_what_the_first_leaves() -> None:
    asked = ["cbr_latency_mean_s", "cbr_delivery_fraction"]
    by_delay = {"aodv": 0.050, "dsr": 0.080, "dsdv": 0.005}
    found = study(measured({"aodv": 0.8, "dsr": 0.8, "dsdv": 0.3}, by_delay), metrics=asked)
    # The delay was stated first, and DSDV's is the least: of the few packets that arrive.
    assert [metric.key for metric in priority.order(found.primary)] == asked[::-1]
    [choice] = priority.choices(found)
    assert choice.left == ("aodv",)
    assert [(metric.key, left) for metric, left in choice.steps] == [
        ("cbr_delivery_fraction", ("aodv", "dsr")),
        ("cbr_latency_mean_s", ("aodv",)),
    ]
    first, second = plain.sentences(found)
    assert first == (
        "AODV and DSR do not differ significantly in PDR, and AODV has a mean end-to-end delay that is 30 ms "
        "lower than DSR."
    )
    assert "80 % of the packets arrive" in second
    assert "packets take 50 ms" in second


def test_who_delivers_less_is_not_the_answer_to_a_question_about_delay_alone() -> None:
    asked, pdr = {"metrics": ["cbr_latency_mean_s"]}, {"aodv": 0.8, "dsr": 0.8, "dsdv": 0.3}
    by_delay = {"aodv": 0.050, "dsr": 0.080, "dsdv": 0.005}
    found = study(measured(pdr, by_delay), **asked)
    [choice] = priority.choices(found)
    assert choice.left == ("aodv",)
    assert choice.fewer == ("dsdv",)
    assert plain.sentences(found) == [
        "AODV has a mean end-to-end delay that is 30 ms lower than DSR, and DSDV delivers significantly "
        "less.",
        "With AODV, packets take 50 ms on average.",
    ]
    alone = study(measured({"aodv": 0.8, "dsr": 0.5, "dsdv": 0.3}, by_delay), **asked)
    assert plain.sentences(alone)[0] == "Only AODV can be judged, as DSR and DSDV deliver significantly less."
    same = {"aodv": 0.050, "dsr": 0.050, "dsdv": 0.005}
    assert plain.sentences(study(measured(pdr, same), **asked))[0] == (
        "AODV and DSR do not differ significantly, and DSDV delivers significantly less."
    )


def test_of_two_the_one_that_delivers_less_and_is_slower_is_worse_and_the_faster_one_is_not_better() -> None:
    asked = {"metrics": ["cbr_latency_mean_s"], "factors": {"routing": ["aodv", "dsdv"]}}
    pdr = {"aodv": 0.8, "dsdv": 0.3}
    faster = study(measured(pdr, {"aodv": 0.050, "dsdv": 0.005}), **asked)
    assert plain.sentences(faster)[0] == "Only AODV can be judged, as DSDV delivers significantly less."
    slower = study(measured(pdr, {"aodv": 0.050, "dsdv": 0.080}), **asked)
    assert plain.sentences(slower)[0] == "AODV has a mean end-to-end delay that is 30 ms lower than DSDV."


def test_levels_whose_delay_is_lower_only_where_less_arrives_are_not_said_to_be_alike() -> None:
    def measure(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        speed, noise = levels["movement.waypoint.speed_max"], 0.001 * (replication % 3)
        values = {
            "cbr_delivery_fraction": 0.9 - 0.04 * speed + noise,
            "cbr_latency_mean_s": 1.0 / speed + noise,
        }
        return {"tcp_throughput_bps": 0.0, "cbr_sent": 1000.0, **values}

    asked = {"factors": {"movement.waypoint.speed_max": [5.0, 10.0]}, "metrics": ["cbr_latency_mean_s"]}
    [said] = plain.sentences(study(measure, **asked))
    assert said == (
        "The levels of maximum speed cannot be compared in mean end-to-end delay: where it is better, "
        "significantly less arrives."
    )


def test_what_is_practically_the_same_rules_nothing_out() -> None:
    pdr = {"aodv": 0.82, "dsr": 0.80, "dsdv": 0.30}
    margins = {"margins": {"cbr_delivery_fraction": 0.05}}
    [choice] = priority.choices(study(measured(pdr), comparison=margins))
    assert choice.left == ("aodv", "dsr")


def test_speeds_with_the_same_outcome_are_a_range() -> None:
    def measure(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        ahead = levels["routing"] == "aodv" and levels["movement.waypoint.speed_max"] > 5.0
        noise = 0.001 * (replication * (2 + len(levels["routing"])) % 7 - 3)
        share = (0.82 if ahead else 0.7) + noise
        return {"tcp_throughput_bps": 0.0, "cbr_sent": 1000.0, "cbr_delivery_fraction": share}

    factors = {"routing": ["aodv", "olsr"], "movement.waypoint.speed_max": SPEEDS}
    first = plain.sentences(study(measure, factors=factors))[0]
    assert re.fullmatch(
        r"Up to 5 m/s, (AODV and OLSR|OLSR and AODV) do not differ significantly; from 10 m/s on, AODV "
        r"delivers 12 points more than OLSR\.",
        first,
    ), first


def test_a_numeric_factor_has_no_best_level_but_differences() -> None:
    def measure(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        share = 0.9 - 0.02 * levels["movement.waypoint.speed_max"] + 0.001 * (replication % 3)
        return {"tcp_throughput_bps": 0.0, "cbr_sent": 1000.0, "cbr_delivery_fraction": share}

    [said] = plain.sentences(study(measure, factors={"movement.waypoint.speed_max": [5.0, 10.0]}))
    assert said == "PDR is 10 points lower with maximum speed = 10 m/s than with maximum speed = 5 m/s."


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITHOUT_WEBGL) as made:
        yield made


LONG = "Which of these should a team of forty that walks through a valley without any coverage use? " * 4


def crowded() -> Any:
    """Results with as much to say as there can be: long question and names, many alternatives and levels."""

    def measure(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        place = len(str(levels["routing"])) % 5
        return {
            "tcp_throughput_bps": 0.0,
            "cbr_sent": 1000.0,
            "cbr_delivery_fraction": 0.9 - 0.1 * place + 0.01 * (replication % 3),
            "cbr_latency_mean_s": 0.04 - 0.005 * place + 0.001 * (replication % 3),
        }

    return results(
        measure,
        question=LONG,
        name="a campaign with a name that is longer than all others",
        factors={
            "routing": ["aodv", "dsr", "dsdv", "adv", "olsr", "babel", "batman", "flooding"],
            "load": [
                {
                    "label": f"load number {at} of all those that there are",
                    "fields": {"traffic.random.cbr": at},
                }
                for at in (2, 4, 6)
            ],
        },
        replications=3,
        code=("0.1.0 abc dirty", "0.1.0 def"),
        metrics=["cbr_delivery_fraction", "cbr_latency_mean_s"],
    )


@pytest.mark.parametrize("made", [results, crowded])
def test_the_brief_page_is_one_side_of_a4_and_nothing_is_cut(
    browser: Chrome, made: Any, tmp_path: Path
) -> None:
    file = tmp_path / "brief.html"
    write_brief(made(), file)
    set_window(browser, 1280, 1400, "light", is_mobile=False)
    browser.get(file.as_uri())
    found = browser.execute_script(
        """const sheet = document.querySelector(".sheet"), at = sheet.getBoundingClientRect();
        const parts = [...sheet.querySelectorAll("h1, h2, p, li, pre, img, figcaption")];
        return {
            size: [at.width, at.height],
            outside: parts.map((part) => [part, part.getBoundingClientRect()]).filter(([, its]) =>
                its.bottom > at.bottom - 30 || its.right > at.right - 30)
                .map(([part]) => part.outerHTML.slice(0, 80)),
            pictures: [...sheet.querySelectorAll("img")].map((img) => [img.complete && img.naturalWidth > 0,
                img.getBoundingClientRect().height]),
            overlaps: parts.slice(1).filter((part, place) => {
                const before = parts[place].getBoundingClientRect(), its = part.getBoundingClientRect();
                return parts[place].parentElement === part.parentElement && its.top < before.bottom - 0.5;
            }).map((part) => part.outerHTML.slice(0, 80)),
            told: document.querySelectorAll(".first").length,
            caveats: document.querySelectorAll("li").length,
        }"""
    )
    assert [round(each) for each in found["size"]] == [794, 1123]
    assert (found["outside"], found["overlaps"]) == ([], [])
    assert len(found["pictures"]) == 2
    assert all(is_drawn and height > 120 for is_drawn, height in found["pictures"])
    assert 1 <= found["told"] <= 2
    assert found["caveats"] <= 3
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert pages(base64.b64decode(printed["data"])) == [(595, 842)]


@pytest.mark.parametrize("width", [390, 820])
def test_on_a_narrow_screen_pictures_have_the_width_of_the_page(
    browser: Chrome, width: int, tmp_path: Path
) -> None:
    file = tmp_path / "brief.html"
    write_brief(results(), file)
    set_window(browser, width, 1400, "light", is_mobile=width < 500)
    browser.get(file.as_uri())
    found = browser.execute_script(
        """return [document.documentElement.scrollWidth, ...[...document.querySelectorAll("img")]
            .map((img) => img.getBoundingClientRect().width)]"""
    )
    assert found[0] <= width
    assert all(each > min(0.8 * width, 500) for each in found[1:]), found


def test_what_several_do_is_in_the_plural() -> None:
    verbs = {words.verb for words in plain.SPOKEN.values() if words.verb}
    told = {verb: plain.plural(verb) for verb in verbs}
    assert told == {
        "carries": "carry",
        "delivers": "deliver",
        "delivers in time": "deliver in time",
        "satisfies": "satisfy",
    }


def pages(pdf: bytes) -> list[tuple[int, int]]:
    """Width and height of the pages of a PDF that Chromium made, in points."""
    boxes = re.findall(rb"/MediaBox\s*\[\s*0\s+0\s+([\d.]+)\s+([\d.]+)\s*\]", pdf)
    assert len(boxes) == len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) >= 1
    return [(round(float(width)), round(float(height))) for width, height in boxes]


def test_a_name_that_ends_in_pdf_makes_a_pdf_of_one_page(tmp_path: Path) -> None:
    write_brief(results(), tmp_path / "brief.pdf")
    assert pages((tmp_path / "brief.pdf").read_bytes()) == [(595, 842)]


def test_without_a_browser_there_is_no_pdf_and_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="PDF needs a browser") as told:
        paper.pdf("<p>one</p>")
    assert "write .html" in str(told.value)


def test_the_same_results_give_the_same_page(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_brief(results(), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_caveats_on_what_the_question_depends_on_come_first_and_long_ones_are_cut_at_sentences() -> None:
    found = brief.of_study(Study(crowded()))
    assert len(found.caveats) == 3
    assert found.more > 0
    assert all(len(each) <= brief.MOST_LETTERS for each in found.caveats)


def test_the_command_writes_the_page_and_refuses_other_names(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(
        'question = "AODV or DSR?"\nreplications = 2\n[factors]\nrouting = ["aodv", "dsr"]\n[base]\n'
        "movement.chain = { nodes = 3 }\ntraffic.random = { cbr = 1, cbr_start_within_s = 1.0 }\n"
        "duration_s = 3.0\n"
    )
    cli("campaign", "run", tmp_path / "small.toml")
    told = cli("report", tmp_path / "small.db", "--brief").stdout
    page = (tmp_path / "small-brief.html").read_text()
    assert "small-brief.html: one A4 page" in " ".join(told.split())
    assert "<h1>AODV or DSR?</h1>" in page
    assert "manetlab campaign run small.toml --store small.db" in page
    for options, said in (
        (("-o", tmp_path / "page.txt"), "no such format"),
        (("--replays",), "one page has no replays"),
        (("-o", tmp_path / "small.db"), "no such format"),
    ):
        failed = cli("report", tmp_path / "small.db", "--brief", *options)
        assert failed.returncode == 2
        assert said in failed.stderr
