"""Replays in a real browser: what is drawn is what was recorded, and nothing is asked of any network."""

from __future__ import annotations

import base64
import math
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys

from manetlab.replay.page import page
from manetlab.replay.recorded import parsed
from tests.browsers import FAR_S, WITH_WEBGL, chromium, wait_for
from tests.recordings import BROADCAST, Recorded
from tests.replay_pages import LIGHT, ask, has_colour, on_page, picture, show, written

MS = 1_000_000
DATA, ROUTING = ("data", "data", 600, 3 * MS), ("data", "routing", 64, 1 * MS)
RTS = ("rts", "data", 20, 352_000)
SEGMENT = {"what": "tcp", "src": 0, "dst": 3, "bytes": 552, "cause": "", "flow": 0}
CBR = {"what": "cbr", "src": 1, "dst": 2, "bytes": 128, "cause": "", "flow": 1}
REQUEST = {"what": "rreq", "src": 0, "dst": BROADCAST, "bytes": 44, "cause": "", "flow": None}


def recorded(sender_again: bool = False) -> Recorded:
    """Four nodes in a row, of which node 1 moves: a request is flooded, a segment goes 0 → 1 → 3 and dies."""
    made = Recorded(4, 20.0)
    made.flows = [
        {"id": 0, "kind": "tcp", "src": 0, "dst": 3, "start_s": 1.0},
        {"id": 1, "kind": "cbr", "src": 1, "dst": 2, "start_s": 2.0},
    ]
    for node, x in ((0, 0.0), (2, 600.0), (3, 400.0)):
        made.point(node, 0, x, 100.0 if node else 0.0)
    made.point(1, 0, 200.0, 0.0)
    made.point(1, 10_000 * MS, 200.0, 100.0)
    s = 1_000 * MS
    made.event(s, 0, "made", packet=SEGMENT, uid=7, ttl=64, number=0)
    made.event(s, 0, "sent", packet=REQUEST, uid=8, ttl=5, next_hop=BROADCAST)
    made.frame(s + 1000, 0, BROADCAST, ROUTING, 8, [(1, "received"), (3, "collided")])
    made.event(s + 5 * MS, 0, "route", dst=3, next_hop=1, hops=2)
    made.event(s + 5 * MS, 1, "route", dst=3, next_hop=3, hops=1)
    made.event(s + 5 * MS, 0, "sent", packet=SEGMENT, uid=7, ttl=64, next_hop=1)
    made.event(s + 5 * MS, 0, "queue", length=3)
    made.frame(s + 6 * MS, 0, 1, RTS, 7, [(1, "received")])
    made.frame(s + 7 * MS, 0, 1, DATA, 7, [(1, "received")])
    made.event(s + 10 * MS, 0, "queue", length=0)
    made.event(s + 10 * MS, 1, "sent", packet=SEGMENT, uid=7, ttl=63, next_hop=3)
    made.frame(s + 11 * MS, 1, 3, DATA, 7, [(3, "collided")])
    made.event(s + 15 * MS, 1, "dropped", packet=SEGMENT, uid=7, ttl=63, reason="link-failure")
    made.event(s + 15 * MS, 1, "route", dst=3, next_hop=None, hops=None)
    made.event(s + 15 * MS, 1, "notice", notice="route-failed", dst=3, detail="seen")
    made.event(2 * s, 1, "made", packet=CBR, uid=9, ttl=64, number=0)
    made.event(2 * s, 1, "sent", packet=CBR, uid=9, ttl=64, next_hop=2)
    made.frame(2 * s + 1 * MS, 1, 2, DATA, 9, [(2, "received")])
    made.event(2 * s + 4 * MS, 2, "delivered", packet=CBR, uid=9, ttl=63, number=0)
    for number, cwnd in enumerate((1.0, 2.0, 1.0)):
        made.event((3 + number) * s, 0, "window", flow=0, cwnd=cwnd, ssthresh=8.0, rto=3_000 * MS)
    if sender_again:
        made.event(7 * s, 0, "made", packet=SEGMENT, uid=10, ttl=64, number=0)
        made.frame(7 * s + 1 * MS, 0, 1, DATA, 10, [(1, "received")])
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITH_WEBGL) as made:
        yield made


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("replay") / "one.html", recorded())


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("replay") / "two.html", recorded(), recorded(sender_again=True))


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_complains_of_nothing_and_asks_for_nothing(
    browser: Chrome, one: str, two: str, width: int, scheme: str
) -> None:
    for address in (one, two):
        show(browser, address, width, scheme)
        assert browser.get_log("browser") == []
        assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert ask(browser, "drawn")["renderer"] == "WebGL2"
        # The markup in the title is text.
        assert browser.find_element("id", "title").text == "a <b>title</b> & more"
        ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}[scheme]


def test_everything_that_was_recorded_is_read(browser: Chrome, one: str) -> None:
    show(browser, one)
    counts = ask(browser, "counts")[0]
    steps = {"made": 2, "sent": 4, "delivered": 1, "marked": 0, "kept": 0, "dropped": 1}
    wanted = {
        "events": 22,
        "frames": 5,
        "routes": 3,
        "queues": 2,
        "windows": 3,
        "receptions": 6,
        "steps": steps,
    }
    assert {key: counts[key] for key in wanted} == wanted


def test_blocks_follow_each_other_without_a_seam(browser: Chrome, tmp_path: Path) -> None:
    whole, pieces = recorded(), recorded()
    pieces.block_events = 3
    found = []
    for made in (whole, pieces):
        show(browser, written(tmp_path / "page.html", made))
        moments = [ask(browser, "state", t) for t in (1.0, 1.0005, 1.0065, 1.012, 2.002, 6.0)]
        found.append((ask(browser, "counts"), moments, ask(browser, "journey", 7)))
    assert found[0] == found[1]


HELD = """
const read = Response.prototype.arrayBuffer;
window.held = [];
let free = 3;
Response.prototype.arrayBuffer = async function () {
  if (free-- <= 0) await new Promise((go) => held.push(go));
  return read.call(this);
};
"""
"""Lets the page inflate the head, the movement and one block, and each further one when it is told to."""


def test_a_moment_that_was_not_read_is_read_first(browser: Chrome, tmp_path: Path) -> None:
    made = recorded()
    made.block_events = 2
    page = written(tmp_path / "page.html", made)
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HELD})
    try:
        browser.get("about:blank")
        browser.get(page)
        wait_for(browser, "document.documentElement.dataset.drawn !== undefined")
        ask(browser, "seek", 2_002 * MS)
        assert ask(browser, "drawn")["frames"] == 0
        said = browser.find_element("id", "announce")
        assert said.get_attribute("textContent") == "2.002 000 s: not read yet"
        # The block that is being read, and then those around the moment: three of eleven.
        for _ in range(3):
            wait_for(browser, "window.held.length > 0")
            browser.execute_script("held.shift()()")
        wait_for(browser, "window.manetlabReplay.drawn().frames === 1")
        assert said.get_attribute("textContent") == "2.002 000 s: 1 frame on the air"
        assert ask(browser, "counts")[0]["events"] == 4
        assert browser.execute_script("return document.documentElement.dataset.ready") is None
        browser.execute_script("setInterval(() => held.shift()?.())")
        wait_for(browser, "document.documentElement.dataset.ready !== undefined")
        assert ask(browser, "counts")[0]["events"] == 22
        assert ask(browser, "drawn")["frames"] == 1
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_positions_frames_and_outcomes_are_those_of_the_recording(browser: Chrome, one: str) -> None:
    show(browser, one)
    quiet, request, data = (ask(browser, "state", t)[0] for t in (5.0, 1.0005, 1.008))
    assert quiet["nodes"] == [[0, 0], [200, 50], [600, 100], [400, 100]]
    assert quiet["frames"] == []
    (frame,) = request["frames"]
    assert (frame["node"], frame["to"], frame["carries"], frame["kind"]) == (0, BROADCAST, "routing", "data")
    assert frame["receivers"] == [{"node": 1, "outcome": "received"}, {"node": 3, "outcome": "collided"}]
    (frame,) = data["frames"]
    assert (frame["start_ns"], frame["end_ns"]) == (1_007 * MS, 1_010 * MS)
    assert (data["queues"], quiet["queues"]) == ([3, 0, 0, 0], [0, 0, 0, 0])


def test_next_hops_are_those_of_the_time(browser: Chrome, one: str) -> None:
    show(browser, one)
    none = -2
    assert ask(browser, "nextHops", 3, 0.5) == [none] * 4
    assert ask(browser, "nextHops", 3, 1.006) == [1, 3, none, none]
    assert ask(browser, "nextHops", 3, 1.5) == [1, none, none, none]
    assert ask(browser, "nextHops", 0, 1.5) == [none] * 4


def test_pixels_show_nodes_frames_arrows_and_drops(browser: Chrome, one: str) -> None:
    show(browser, one)
    ask(browser, "seek", 1_008 * MS)
    image = picture(browser)
    sender, receiver = on_page(browser, 0, 1.008), on_page(browser, 1, 1.008)
    middle = ((sender[0] + receiver[0]) / 2, (sender[1] + receiver[1]) / 2)
    assert has_colour(image, *sender, LIGHT["data"])
    assert has_colour(image, *middle, LIGHT["data"])
    # The ring of the frame, as far as it is understood: 250 m north of the sender.
    assert not has_colour(image, *on_page(browser, 2, 1.008), LIGHT["data"], reach=3)
    ask(browser, "seek", 1_000 * MS + 500_000)
    image = picture(browser)
    assert has_colour(image, *on_page(browser, 0, 1.0005), LIGHT["routing"])
    assert not has_colour(image, *middle, LIGHT["data"])
    ask(browser, "seek", 1_015 * MS)
    assert has_colour(picture(browser), *on_page(browser, 1, 1.015), LIGHT["drop"])
    assert ask(browser, "drawn")["drops"] == [1]
    ask(browser, "seek", 5_000 * MS)
    assert not has_colour(picture(browser), *on_page(browser, 1, 5.0), LIGHT["drop"], reach=8)


def test_a_ring_has_the_range_of_the_radio(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1.008")
    x, y = ask(browser, "toPage", 0, 0)
    east, _ = ask(browser, "toPage", 250, 0)
    # Below the row of nodes, so that no arrow is in the way.
    angle = math.radians(-15)
    radius = east - x
    image = picture(browser)
    assert has_colour(
        image, x + radius * math.cos(angle), y - radius * math.sin(angle), LIGHT["data"], reach=2
    )
    assert not has_colour(
        image, x + 0.8 * radius * math.cos(angle), y - 0.8 * radius * math.sin(angle), LIGHT["data"]
    )


def test_a_wave_runs_out_as_fast_as_light(browser: Chrome, one: str) -> None:
    show(browser, one)
    x, y = ask(browser, "toPage", 0, 0)
    metre = ask(browser, "toPage", 1, 0)[0] - x
    # 500 ns after the start of the frame, at a microsecond a second.
    ask(browser, "play", 1_007 * MS + 500, 1e-6)
    image = picture(browser)
    front = 0.299792458 * 500 * metre
    angle = math.radians(-15)
    for part, is_there in ((1.0, True), (1.3, False), (0.7, False)):
        at = (x + part * front * math.cos(angle), y - part * front * math.sin(angle))
        assert has_colour(image, *at, LIGHT["data"], reach=1) == is_there, part


def test_next_hops_are_arrows(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1.0055&to=3")
    first, second = on_page(browser, 1, 1.0055), on_page(browser, 3, 1.0055)
    middle = ((first[0] + second[0]) / 2, (first[1] + second[1]) / 2)
    assert has_colour(picture(browser), *middle, LIGHT["route"], reach=1)
    ask(browser, "seek", 3_000 * MS)
    first = on_page(browser, 1, 3.0)
    middle = ((first[0] + second[0]) / 2, (first[1] + second[1]) / 2)
    assert not has_colour(picture(browser), *middle, LIGHT["route"], reach=1)


def test_a_packets_journey_ends_with_its_reason(browser: Chrome, one: str) -> None:
    show(browser, one)
    journey = ask(browser, "journey", 7)
    assert [(each["t_ns"] // MS, each["node"]) for each in journey] == [
        (1000, 0),
        (1005, 0),
        (1006, 0),
        (1007, 0),
        (1010, 1),
        (1011, 1),
        (1015, 1),
    ]
    assert journey[0]["text"] == "makes TCP segment 0 #7 for node 3, 552 B"
    assert journey[5]["text"] == "data frame to node 3, 600 B (TCP segment #7): lost to a collision"
    assert journey[-1]["text"] == "drops TCP segment #7: the link to the next hop failed"
    # It is reached by a click on any of its events.
    browser.find_element("css selector", ".events tbody button.row").click()
    wait_for(browser, "document.querySelector('.journey caption') !== null")
    caption = browser.find_element("css selector", ".journey caption").text
    assert caption == "Journey of packet 7: TCP segment, 0 → 3"
    assert len(browser.find_elements("css selector", ".journey tbody tr")) == 7


def test_the_hops_of_a_chosen_packet_are_drawn_as_it_makes_them(browser: Chrome, one: str) -> None:
    for time_s, made in ((1.004, (False, False)), (1.0055, (True, False)), (1.5, (True, True))):
        show(browser, f"{one}#t={time_s}&packet=7")
        image, places = picture(browser), [on_page(browser, node, time_s) for node in (0, 1, 3)]
        for (start, end), is_made in zip(pairwise(places), made, strict=True):
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
            assert has_colour(image, *middle, LIGHT["select"], reach=1) == is_made, time_s


def test_without_a_pointer_nodes_destinations_and_packets_are_chosen(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1.0055")
    before = ask(browser, "drawn")["lines"]
    body = browser.find_element("tag name", "body")
    body.send_keys("/")
    browser.switch_to.active_element.send_keys("3")
    wait_for(browser, "document.querySelector('#side dl')?.ariaLabel === 'Node 3'")
    browser.switch_to.active_element.send_keys(Keys.BACKSPACE)
    browser.find_element("xpath", "//button[.='Show next hops to 3']").send_keys(Keys.ENTER)
    wait_for(browser, f"window.manetlabReplay.drawn().lines === {before + 2}")
    assert ask(browser, "link").endswith("node=3&to=3")
    # The panel has been drawn anew, and the keyboard's focus is still in it.
    assert browser.switch_to.active_element.text == "Hide next hops to 3"
    body.send_keys(Keys.ESCAPE)
    wait_for(browser, f"window.manetlabReplay.drawn().lines === {before}")
    browser.find_element("css selector", ".events tbody button.row").send_keys(Keys.ENTER)
    wait_for(browser, "document.querySelector('.journey caption') !== null")
    assert browser.execute_script("return document.activeElement.matches('.events [aria-current] button')")


def test_keys_step_through_events_and_say_them(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=0")
    said, times = [], []
    body = browser.find_element("tag name", "body")
    for _ in range(3):
        body.send_keys(Keys.ARROW_RIGHT)
        said.append(browser.find_element("id", "announce").get_attribute("textContent"))
        times.append(ask(browser, "time"))
    assert times == [1_000 * MS, 1_000 * MS, 1_000 * MS + 1000]
    assert said[0] == "1.000 000 000 s: node 0: makes TCP segment 0 #7 for node 3, 552 B"
    assert said[2] == (
        "1.000 001 000 s: node 0: routing frame to all neighbours, 64 B (route request #8): "
        "received 1×, lost to a collision 1×"
    )
    body.send_keys(Keys.ARROW_LEFT)
    assert ask(browser, "time") == 1_000 * MS
    body.send_keys("d")
    assert ask(browser, "time") == 1_015 * MS
    assert "drops a packet" in (browser.find_element("id", "announce").get_attribute("textContent") or "")
    body.send_keys(Keys.END)
    assert ask(browser, "time") == 20_000 * MS
    body.send_keys(Keys.HOME)
    body.send_keys("<")
    assert (ask(browser, "time"), ask(browser, "speed")) == (0, 0.5)
    body.send_keys("?")
    assert browser.find_element("id", "help").is_displayed()
    body.send_keys(Keys.ESCAPE)
    assert not browser.find_element("id", "help").is_displayed()


def test_it_plays_and_stops_at_the_end(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1&speed=100")
    browser.find_element("id", "play").click()
    wait_for(browser, "window.manetlabReplay.time() === 20e9")
    assert not ask(browser, "isPlaying")


def test_a_link_can_ask_for_a_page_that_plays_by_itself(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1&speed=100&play")
    wait_for(browser, "window.manetlabReplay.time() === 20e9")
    show(browser, f"{one}#t=1&speed=100")
    assert not ask(browser, "isPlaying") and ask(browser, "time") == 1e9
    still = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    browser.get("about:blank")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": still})
    browser.get(f"{one}#t=1&speed=100&play")
    wait_for(browser, "document.documentElement.dataset.ready !== undefined")
    assert not ask(browser, "isPlaying") and ask(browser, "time") == 1e9


def test_at_its_slowest_nanoseconds_pass(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1.007&speed=0.000001")
    begin = ask(browser, "time")
    browser.find_element("id", "play").click()
    wait_for(browser, f"window.manetlabReplay.time() > {begin}")
    browser.find_element("id", "play").click()
    # A microsecond a second.
    assert begin < ask(browser, "time") < begin + FAR_S * 1000


def test_a_link_leads_to_the_moment(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1.012&node=1&to=3&packet=7")
    assert ask(browser, "time") == 1_012 * MS
    assert ask(browser, "link") == f"{one}#t=1.012&node=1&to=3&packet=7"
    wait_for(browser, "document.querySelector('#side dl')?.ariaLabel === 'Node 1'")
    browser.execute_script("location.hash = 't=2.002'")
    wait_for(browser, "window.manetlabReplay.time() === 2002e6")
    show(browser, f"{one}#t=rubbish&node=99&packet=-1&speed=1e9")
    assert (ask(browser, "time"), ask(browser, "speed")) == (0, 1)


def test_filters_come_before_the_picture(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1.0005")
    assert ask(browser, "drawn")["frames"] == 1
    browser.find_element("css selector", "[data-kind=routing]").click()
    wait_for(browser, "window.manetlabReplay.drawn().frames === 0")
    assert ask(browser, "counts")[0]["framesShown"] == 4
    browser.find_element("css selector", "[data-kind=routing]").click()
    field = browser.find_element("id", "nodes")
    field.send_keys("2")
    wait_for(browser, "window.manetlabReplay.counts()[0].framesShown === 1")
    field.send_keys("x")
    assert "is not a node" in browser.find_element("css selector", ".error").text
    field.send_keys(Keys.BACKSPACE, Keys.BACKSPACE)
    wait_for(browser, "window.manetlabReplay.counts()[0].framesShown === 5")
    browser.find_element("css selector", ".flow input").click()
    # Of the other flow: one frame.
    wait_for(browser, "window.manetlabReplay.counts()[0].framesShown === 1")


def test_the_pointer_seeks_chooses_and_shows_ranges(browser: Chrome, one: str) -> None:
    show(browser, one)
    strip = browser.find_element("id", "timeline")
    ActionChains(browser).move_to_element(strip).click().perform()
    assert abs(ask(browser, "time") - 10_000 * MS) < 100 * MS
    # The page opened at the first data frame; nothing is sent at this moment.
    wait_for(browser, "window.manetlabReplay.drawn().rings === 0")
    x, y = on_page(browser, 2, 10.0)
    pointer = ActionChains(browser)
    pointer.w3c_actions.pointer_action.move_to_location(round(x), round(y))
    pointer.perform()
    wait_for(browser, "window.manetlabReplay.drawn().rings === 2")
    assert browser.find_element("css selector", ".tip").text.startswith("Node 2 at 600, 100 m")
    image, metre = picture(browser), ask(browser, "toPage", 1, 0)[0] - ask(browser, "toPage", 0, 0)[0]
    # Where nothing else is drawn: the range within which frames are understood, and that of carrier sense.
    for radius, angle in ((250, 200), (550, 170)):
        dx, dy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        for part, is_there in ((1.0, True), (0.95, False), (1.05, False)):
            at = (x + part * radius * metre * dx, y - part * radius * metre * dy)
            assert is_dark(image, *at) == is_there, (radius, part)
    pointer.w3c_actions.pointer_action.click()
    pointer.perform()
    wait_for(browser, "document.querySelector('#side dl')?.ariaLabel === 'Node 2'")


def is_dark(image: Image.Image, x: float, y: float) -> bool:
    """Is there anything darker than the field within a pixel of a point? Faint lines may lie on two."""
    reach = (-1, 0, 1)
    found = [image.getpixel((round(x) + dx, round(y) + dy)) for dx in reach for dy in reach]
    return any(max(each) < 212 for each in found)  # type: ignore[type-var, arg-type]


def curve_y(image: Image.Image, plot: dict[str, float], at: float, colour: tuple[int, int, int]) -> list[int]:
    """How high above a plot's lower edge, in pixels, a colour is at a part of its axis."""
    x = round(plot["left"] + 6 + at * (plot["width"] - 12))
    heights = range(round(plot["height"]) - 18)
    bottom = round(plot["bottom"]) - 1
    return [up for up in heights if math.dist(image.getpixel((x, bottom - up)), colour) < 110]  # type: ignore[arg-type]


def test_the_plots_show_what_was_recorded_and_are_linked(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=15")
    boxes = (
        "return [...document.querySelectorAll('.plot')].map((each) => each.getBoundingClientRect().toJSON())"
    )
    sequence, window, queue, _ = browser.execute_script(boxes)
    image = picture(browser)
    # The window is 1 segment from 3 s on, 2 from 4 s on, 1 from 5 s on.
    assert curve_y(image, window, 2.5 / 20, LIGHT["data"]) == []
    first, second, third = (curve_y(image, window, at / 20, LIGHT["data"])[0] for at in (3.5, 4.5, 5.5))
    assert first == third
    assert second - first > 8
    assert curve_y(image, sequence, 1 / 20, LIGHT["data"]) != []
    assert curve_y(image, sequence, 2 / 20, LIGHT["data"]) == []
    labels = "return [...document.querySelectorAll('.plot .label')].map((each) => each.innerText)"
    for time_ms, cwnd, packets in ((1_006, "–", "3 packets"), (4_500, "2.00 segments", "0 packets")):
        ask(browser, "seek", time_ms * MS)
        _, window_text, queue_text, _ = browser.execute_script(labels)
        assert cwnd in window_text
        assert queue_text == f"Interface queue of node 0{packets}"
    # The other flow is plotted when it is asked for: its packet arrives.
    browser.find_element("css selector", "[data-flow='1']").click()
    wait_for(browser, "document.querySelector('.plot .label').innerText.startsWith('Packets of flow 1')")
    assert curve_y(picture(browser), sequence, 2.004 / 20, LIGHT["route"]) != []
    # They have one axis of time: where one is zoomed and clicked, all are.
    ask(browser, "seek", 10_000 * MS)
    browser.find_element("tag name", "body").send_keys("+")
    place = round(queue["left"] + 6 + 0.25 * (queue["width"] - 12)), round(queue["top"] + 20)
    pointer = ActionChains(browser)
    pointer.w3c_actions.pointer_action.move_to_location(*place).click()
    pointer.perform()
    assert abs(ask(browser, "time") - 7_500 * MS) < 20 * MS
    heads = "return [...document.querySelectorAll('.playhead')].map((each) => each.style.transform)"
    wait_for(browser, f"new Set((() => {{ {heads} }})()).size === 1")


def test_its_own_button_chooses_the_scheme(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=5")
    button = browser.find_element("id", "theme")
    node = on_page(browser, 2, 5.0)
    for label, ground, colour in (
        ("Theme: light", "rgb(255, 255, 255)", LIGHT["select"]),
        ("Theme: dark", "rgb(20, 24, 29)", (230, 234, 238)),
        ("Theme: system", "rgb(255, 255, 255)", LIGHT["select"]),
    ):
        button.click()
        assert button.text == label
        assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == ground
        assert has_colour(picture(browser), *node, colour, reach=1)


def test_two_runs_go_in_step(browser: Chrome, two: str) -> None:
    show(browser, f"{two}#t=7.002")
    first, second = ask(browser, "state", 7.002)
    assert (len(first["frames"]), len(second["frames"])) == (0, 1)
    assert [ask(browser, "drawn", run)["frames"] for run in (0, 1)] == [0, 1]
    image = picture(browser)
    assert has_colour(image, *on_page(browser, 0, 7.002, 1), LIGHT["data"])
    assert not has_colour(image, *on_page(browser, 0, 7.002, 0), LIGHT["data"])
    names = [each.text for each in browser.find_elements("css selector", ".stage .name")]
    assert names == ["run-0", "run-1"]
    # A step goes to the next event of either run: the second's segment, which the first does not have.
    ask(browser, "seek", 6_000 * MS)
    browser.find_element("tag name", "body").send_keys(Keys.ARROW_RIGHT)
    assert ask(browser, "time") == 7_000 * MS
    assert "run-1, node 0: makes" in (
        browser.find_element("id", "announce").get_attribute("textContent") or ""
    )


def test_without_webgl_it_draws_all_the_same(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=1.008&plain=1")
    assert ask(browser, "drawn")["renderer"] == "Canvas 2D"
    image = picture(browser)
    assert has_colour(image, *on_page(browser, 0, 1.008), LIGHT["data"])
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("moment", ["t=1.0005", "t=1.008&to=3&packet=7", "t=1.012&node=1", "t=1.015&to=3"])
def test_both_renderers_draw_the_same(browser: Chrome, one: str, moment: str) -> None:
    drawn = []
    for how in ("", "&plain=1"):
        show(browser, f"{one}#{moment}{how}")
        left, top = ask(browser, "toPage", -60, 260)
        right, bottom = ask(browser, "toPage", 660, -160)
        drawn.append(np.asarray(picture(browser).crop((left, top, right, bottom)), dtype=int))
    for first, second in (drawn, drawn[::-1]):
        # What is not ground in one of them has, at most two pixels away, its like in the other.
        is_mark = np.abs(first - first[5, 5]).max(axis=2) > 60
        reach = range(-2, 3)
        shifted = [np.roll(second, (dy, dx), axis=(0, 1)) for dy in reach for dx in reach]
        unlike = np.min([np.abs(first - each).max(axis=2) for each in shifted], axis=0) > 60
        assert is_mark.sum() > 500
        assert (is_mark & unlike).sum() < 0.01 * is_mark.sum()


def test_damage_is_told_and_not_drawn(browser: Chrome, tmp_path: Path) -> None:
    whole = parsed(recorded().to_bytes(), "run.mlrec")
    at = whole.content.index(b"MOVE") + 16
    # The head is whole, the movement is no zlib stream.
    broken = whole.content[:at] + b"\0" * 8 + whole.content[at + 8 :]
    made = page([whole], "damaged")
    sound = base64.b64encode(whole.content).decode()
    assert sound in made
    path = tmp_path / "damaged.html"
    path.write_text(made.replace(sound, base64.b64encode(broken).decode()), encoding="utf-8")
    browser.get(path.as_uri())
    end = time.monotonic() + FAR_S
    while browser.execute_script("return document.documentElement.dataset.failed") is None:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert browser.find_element("css selector", "[role=alert]").text.startswith("The replay cannot be shown")
    browser.get_log("browser")


def test_the_page_begins_where_data_is_on_the_air(browser: Chrome, one: str) -> None:
    show(browser, one)
    time = ask(browser, "time")
    assert time > 0
    frames = ask(browser, "state", time / 1e9)[0]["frames"]
    assert any(each["carries"] == "data" for each in frames)
    show(browser, f"{one}#t=0")
    assert ask(browser, "time") == 0


def test_space_plays_and_pauses_after_a_click_on_something_else(browser: Chrome, one: str) -> None:
    show(browser, one)
    body = browser.find_element("tag name", "body")
    for clicked in ("#zoom-in", "input[data-kind=arp]", "#speed"):
        browser.find_element("css selector", clicked).click()
        for is_playing in (True, False):
            browser.switch_to.active_element.send_keys(Keys.SPACE)
            assert ask(browser, "isPlaying") is is_playing, clicked
    # Who goes there by keys presses it.
    browser.find_element("id", "theme").click()
    before = browser.find_element("id", "theme").text
    body.send_keys(Keys.TAB)
    body.send_keys(Keys.SHIFT, Keys.TAB)
    browser.switch_to.active_element.send_keys(Keys.SPACE)
    assert browser.find_element("id", "theme").text != before
    assert ask(browser, "isPlaying") is False


def test_nodes_within_range_are_joined_until_links_are_switched_off(browser: Chrome, one: str) -> None:
    show(browser, one)
    links = ask(browser, "drawn")["links"]
    assert links > 0
    browser.find_element("id", "links").click()
    wait_for(browser, "window.manetlabReplay.drawn().links === 0")


def test_every_control_has_a_name(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=0")
    nameless = browser.execute_script(
        """const all = document.querySelectorAll("button, input, canvas[role], [role=slider]");
        return [...all].filter((each) => {
            const label = each.ariaLabel ?? each.labels?.[0]?.textContent ?? each.textContent;
            return label.trim() === "";
        }).map((each) => each.outerHTML)"""
    )
    assert nameless == []
    slider = browser.find_element("id", "timeline")
    assert slider.get_attribute("aria-valuetext") == "0.000 000 s"


def test_a_film_of_what_is_played_is_saved(browser: Chrome, one: str) -> None:
    show(browser, f"{one}#t=0.5")
    browser.execute_script(
        "window.saved = []; const made = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { window.saved.push(blob); return made.call(URL, blob); };"
        "HTMLAnchorElement.prototype.click = function () { window.file = this.download; };"
    )
    browser.find_element("id", "film").click()
    assert ask(browser, "isPlaying")
    wait_for(browser, "window.manetlabReplay.cost().pictures > 15")
    browser.find_element("id", "film").click()
    wait_for(browser, "window.saved.length === 1")
    size, kind, file = browser.execute_script(
        "return [window.saved[0].size, window.saved[0].type, window.file]"
    )
    assert size > 1000 and kind.startswith("video/webm") and file == "network-from-0.5s.webm"
