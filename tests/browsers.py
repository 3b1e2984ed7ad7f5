"""Chromium without a window and without a network, for tests of pages."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

FAR_S = 60.0
"""How long a page may take at most, in s; it takes one or two."""
ALONE = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    # No name leads anywhere, and what tries an address meets a closed door.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:1",
)
WITHOUT_WEBGL = ("--disable-gpu",)
WITH_WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
"""WebGL2 without a graphics card."""


@contextmanager
def chromium(*arguments: str) -> Iterator[Chrome]:
    """A browser that keeps the messages of its console."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in (*ALONE, *arguments):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = Chrome(options=options, service=ChromeService(shutil.which("chromedriver") or "chromedriver"))
    try:
        yield made
    finally:
        made.quit()


def set_window(browser: Chrome, width: int, height: int, scheme: str, is_mobile: bool) -> None:
    """The size of the window and the colours that the system prefers."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_mobile}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def wait_for(browser: Chrome, condition: str) -> None:
    """Waits until an expression of JavaScript is true."""
    end = time.monotonic() + FAR_S
    while not browser.execute_script(f"return {condition}"):
        # What a replay could not do.
        failed = browser.execute_script("return document.documentElement.dataset.failed")
        assert failed is None, failed
        assert time.monotonic() < end, f"never came: {condition}; {browser.get_log('browser')}"
        time.sleep(0.05)
