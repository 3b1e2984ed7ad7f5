"""The course: its pages, and that each effect that a text claims is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import Scenario, course, run
from manetlab.course import ORDER, exercise
from manetlab.replay import lesson, live
from manetlab.stats import paired_interval
from tests.browsers import WITH_WEBGL, chromium
from tests.conftest import Cli
from tests.engine import needs_engine
from tests.test_live import hash_of, make_run, show

SEEDS = range(1, 9)
TOLERANCE = 0.15
"""How far a mean over our seeds may be from the number that the text rounds to, as a part of it."""

Measure = Callable[[manetlab.Result], float]


def total(key: str) -> Measure:
    return lambda result: float(result.totals[key] or 0.0)


def of_flow(number: int) -> Measure:
    return lambda result: float(result.flows[number]["delivery_fraction"])


def lost(result: manetlab.Result) -> float:
    return 1.0 - float(result.totals["cbr_delivery_fraction"] or 0.0)


DELIVERY, THROUGHPUT = total("cbr_delivery_fraction"), total("tcp_throughput_bps")
ROUTING = total("routing_packets_per_s")
EXPOSED = {
    "traffic.flows.0.src": 4,
    "traffic.flows.0.dst": 3,
    "traffic.flows.1.src": 5,
    "traffic.flows.1.dst": 6,
}
WIDE = {"radio.carrier_sense_range_m": 550.0}

# The exercise, what its text claims, what is measured with and without what changes.
CLAIMS: list[tuple[str, str, Measure, dict[str, Any], Measure, dict[str, Any]]] = [
    ("window", "1.08 times", THROUGHPUT, {"tcp.window": 2}, THROUGHPUT, {"tcp.window": 32}),
    ("window", "0.19 times", THROUGHPUT, {"tcp.window": 1}, THROUGHPUT, {"tcp.window": 2}),
    (
        "window",
        "1.3 times",
        THROUGHPUT,
        {"movement.chain.nodes": 9, "traffic.flows.0.dst": 8, "tcp.window": 4},
        THROUGHPUT,
        {"movement.chain.nodes": 9, "traffic.flows.0.dst": 8, "tcp.window": 2},
    ),
    ("hidden", "4.8 times", DELIVERY, WIDE, DELIVERY, {}),
    ("hidden", "0.81 times", DELIVERY, {**EXPOSED, **WIDE}, DELIVERY, EXPOSED),
    ("rts", "3.9 times", DELIVERY, {"mac.rts_threshold_bytes": 0}, DELIVERY, {}),
    ("rts", "1.12 times", DELIVERY, WIDE, DELIVERY, {**WIDE, "mac.rts_threshold_bytes": 0}),
    ("anomaly", "0.24 times", of_flow(0), {"rates": [{"src": 2, "rate_bps": 1e6}]}, of_flow(0), {}),
    ("capture", "0.08 times", of_flow(1), {}, of_flow(0), {}),
    ("capture", "0.39 times", DELIVERY, {"radio.capture_ratio": 1e6}, DELIVERY, {}),
    ("search", "3.5 times", ROUTING, {"aodv.expanding_ring": False}, ROUTING, {}),
    (
        "search",
        "1.28 times",
        ROUTING,
        {"traffic.flows.0.dst": 8},
        ROUTING,
        {"traffic.flows.0.dst": 8, "aodv.expanding_ring": False},
    ),
    ("stale", "0.20 times", lost, {"dsr.reply_from_cache": False}, lost, {}),
    ("stale", "2.3 times", ROUTING, {"dsr.reply_from_cache": False}, ROUTING, {}),
    ("dsdv", "7.4 times", ROUTING, {"dsdv.update_interval_s": 2.0}, ROUTING, {}),
    ("outage", "Reno-F carries 1.6 times", THROUGHPUT, {"tcp.sender": "reno-f"}, THROUGHPUT, {}),
    ("outage", "It carries 1.6 times", THROUGHPUT, {"tcp.sender": "elfn"}, THROUGHPUT, {}),
]


def result(name: str, fields: dict[str, Any], seed: int) -> manetlab.Result:
    return run(Scenario.load(exercise(name).scenario, assigned={**fields, "seed": seed}))


@pytest.mark.parametrize(
    ("name", "claim", "above", "with_it", "below", "without"),
    CLAIMS,
    ids=[f"{name}: {claim}" for name, claim, *_ in CLAIMS],
)
def test_an_effect_is_as_large_as_its_text_says(
    name: str,
    claim: str,
    above: Measure,
    with_it: dict[str, Any],
    below: Measure,
    without: dict[str, Any],
) -> None:
    assert claim in exercise(name).text
    [stated] = re.findall(r"[\d.]+", claim)
    pairs = [(above(result(name, with_it, seed)), below(result(name, without, seed))) for seed in SEEDS]
    found = sum(high for high, _ in pairs) / sum(low for _, low in pairs)
    assert found == pytest.approx(float(stated), rel=TOLERANCE), (claim, found)
    # The paired difference is not chance.
    interval = paired_interval(*zip(*pairs, strict=True))
    assert interval.low > 0 or interval.high < 0, interval
    assert (interval.low > 0) == (float(stated) > 1)


def test_losses_to_a_failed_link_are_fewer_with_frequent_updates_and_none_is_in_circles() -> None:
    def drops(fields: dict[str, Any], reason: str) -> int:
        found = [each for seed in SEEDS for each in result("dsdv", fields, seed).drops]
        return sum(each["count"] for each in found if each["reason"] == reason and each["packets"] == "cbr")

    often, feedback = {"dsdv.update_interval_s": 2.0}, {"dsdv.link_layer_feedback": True}
    assert drops({}, "link-failure") > 2 * drops(often, "link-failure") > 0
    assert drops(feedback, "link-failure") < drops(often, "link-failure")
    for fields in ({}, often, feedback):
        assert drops(fields, "ttl-expired") == drops(fields, "routing-loop") == 0


def test_each_exercise_has_questions_solutions_and_controls() -> None:
    files = {path.stem for path in course.FOLDER.glob("*.toml")}
    assert files == set(ORDER) == {path.stem for path in course.FOLDER.glob("*.md")}
    for name in ORDER:
        text = exercise(name).text
        questions, solutions = text.split("## Solutions")
        count = len(re.findall(r"^\d\. ", questions, re.MULTILINE))
        assert 3 <= count == len(re.findall(r"^\d\. ", solutions, re.MULTILINE))
        offered = live.choices(Scenario.load(exercise(name).scenario).resolve())
        assert offered["isNamed"] and len(offered["controls"]) + len(offered["listed"]) >= 2
        # What a text calls by its name is on the page.
        known = {each["name"] for each in offered["controls"]}
        assert set(re.findall(r"\*(\w+\.\w+)\*", text)) <= known


def test_text_becomes_no_element_but_its_marks() -> None:
    made = lesson.to_html(
        "# A <b>\n\nOne `x < y` & **two** *three*\n\n- <script>\n- b\n\n## Solutions\n\n1. last"
    )
    assert made == (
        '<section id="lesson" aria-label="Exercise">\n<h2>A &lt;b&gt;</h2>\n'
        "<p>One <code>x &lt; y</code> &amp; <strong>two</strong> <em>three</em></p>\n"
        "<ul><li>&lt;script&gt;</li><li>b</li></ul>\n"
        "<details><summary>Solutions</summary>\n<ol><li>last</li></ol>\n</details>\n</section>"
    )


def test_the_command_writes_one_page_or_all_with_an_index(cli: Cli, tmp_path: Path) -> None:
    one = cli("course", "rts", "-o", "one")
    assert one.returncode == 0, one.stderr
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["rts.html"]
    every = cli("course", "-o", "all/of/it")
    assert every.returncode == 0, every.stderr
    names = {path.stem for path in (tmp_path / "all" / "of" / "it").iterdir()}
    assert names == {"index", *ORDER}
    index = (tmp_path / "all" / "of" / "it" / "index.html").read_text()
    assert re.findall(r'href="(\w+)\.html"', index) == list(ORDER)
    again = cli("course", "rts", "-o", "one")
    assert again.returncode == 0, again.stderr
    (tmp_path / "one" / "rts.html").write_text("mine")
    refused = cli("course", "rts", "-o", "one")
    assert refused.returncode == 2 and "no page of the course" in refused.stderr
    assert (tmp_path / "one" / "rts.html").read_text() == "mine"
    wrong = cli("course", "rtss")
    assert wrong.returncode == 2 and 'did you mean "rts"' in wrong.stderr


@needs_engine
def test_a_student_opens_an_exercise_moves_a_control_and_sees_the_effect(tmp_path: Path) -> None:
    course.write("rts", tmp_path / "rts.html")
    with chromium(*WITH_WEBGL) as browser:
        show(browser, tmp_path / "rts.html")
        folded = browser.find_element("css selector", "#lesson details")
        assert folded.get_attribute("open") is None
        folded.find_element("css selector", "summary").click()
        assert "3.9 times" in folded.text
        field = browser.find_element("id", "control-mac-rts_threshold_bytes")
        field.clear()
        field.send_keys("0")
        make_run(browser)
        wanted = result("rts", {"mac.rts_threshold_bytes": 0}, 1)
        assert hash_of(browser) == wanted.hash
        cells = browser.find_elements("css selector", "[data-key=cbr_delivery_fraction] td")
        before, after = (float(each.text) for each in cells)
        assert after > 3 * before > 0
        assert browser.get_log("browser") == []
        # A plot opens with axes and units, and closes with Escape.
        browser.find_elements("css selector", ".plot .larger")[0].click()
        texts = browser.execute_script(
            "return [...document.querySelectorAll('dialog.large svg text')].map(each => each.textContent)"
        )
        assert {"time (s)", "packet number"} <= set(texts)
        values = browser.find_element("css selector", "dialog.large .values").text
        assert "as made: RTS threshold 2347 byte: sent" in values
