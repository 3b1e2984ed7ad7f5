"""Pages that play runs, in a browser: opened, asked, looked at."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

from PIL import Image
from selenium.webdriver import Chrome

from manetlab.replay.page import page
from manetlab.replay.recorded import parsed
from tests.browsers import set_window, wait_for
from tests.recordings import Recorded

LIGHT = {
    "data": (0, 114, 178),
    "routing": (201, 133, 0),
    "drop": (198, 40, 40),
    "route": (0, 133, 95),
    "select": (26, 32, 39),
    "muted": (82, 96, 109),
}
"""Colours of the light scheme."""


def written(path: Path, *runs: Recorded) -> str:
    recordings = [parsed(run.to_bytes(), f"run-{number}.mlrec") for number, run in enumerate(runs)]
    path.write_text(page(recordings, "a <b>title</b> & more"), encoding="utf-8")
    return path.as_uri()


def show(browser: Chrome, address: str, width: int = 1280, scheme: str = "light", height: int = 800) -> None:
    """Opens a page in a window of that size and waits until all has been read."""
    set_window(browser, width, height, scheme, is_mobile=width < 500)
    browser.get("about:blank")
    browser.get(address)
    wait_for(browser, "document.documentElement.dataset.ready !== undefined")


def ask(browser: Chrome, what: str, *arguments: Any) -> Any:
    """Calls a function of the page's inspection interface."""
    return browser.execute_script(f"return window.manetlabReplay.{what}(...arguments)", *arguments)


def picture(browser: Chrome) -> Image.Image:
    return Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")


def has_colour(image: Image.Image, x: float, y: float, colour: tuple[int, int, int], reach: int = 2) -> bool:
    """Is there a pixel of a colour within reach of a point?"""
    return any(
        math.dist(image.getpixel((round(x) + dx, round(y) + dy)), colour) < 50  # type: ignore[arg-type]
        for dx in range(-reach, reach + 1)
        for dy in range(-reach, reach + 1)
    )


def on_page(browser: Chrome, node: int, t: float, run: int = 0) -> tuple[float, float]:
    x, y = ask(browser, "state", t)[run]["nodes"][node]
    px, py = ask(browser, "toPage", x, y, run)
    return px, py
