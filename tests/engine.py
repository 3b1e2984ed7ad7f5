"""The engine of live pages in Node and in Chromium, for tests and benches."""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome

from manetlab.resolving import Resolved
from tests.browsers import chromium

HOST = Path(__file__).with_name("engine_host.mjs")
ENGINE = Path(str(resources.files("manetlab.replay"))) / "assets" / "engine.wasm"
"""Where ``packaging/engine.sh`` puts it."""
FAR_S = 300
"""How long one request may take at most in a browser, in s."""

needs_engine = pytest.mark.skipif(
    not ENGINE.exists(), reason="skipped: target wasm32-unknown-unknown not installed (packaging/engine.sh)"
)


def request(resolved: Resolved, record: bool = False) -> str:
    """What the engine is asked: the scenario as the native core gets it, and its movement."""
    movement, recorded = json.dumps(resolved.movement.to_ns2()), json.dumps(record)
    return f'{{"scenario":{resolved.core_json()},"movement":{movement},"record":{recorded}}}'


def in_node(requests: Iterable[str]) -> list[dict[str, Any]]:
    """The answers: ``hash`` or ``refused``, and the time by the clock and of the processor, in ms."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, text in enumerate(requests):
            files.append(Path(folder, f"{number}.json"))
            files[-1].write_text(text, encoding="utf-8")
        return answers(["node", str(HOST), str(ENGINE), *map(str, files)])


def answers(command: list[str]) -> list[dict[str, Any]]:
    """The answers that a program prints."""
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in printed.splitlines()]


def in_chromium(requests: Iterable[str]) -> list[dict[str, Any]]:
    """The same in a page."""
    with engine_page() as browser:
        return [answered_in(browser, each) for each in requests]


@contextmanager
def engine_page() -> Iterator[Chrome]:
    """A browser that shows a page with the engine."""
    answered = HOST.read_text(encoding="utf-8").partition("// The program.")[0]
    module = base64.b64encode(ENGINE.read_bytes()).decode("ascii")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder, "engine.html")
        page.write_text(
            f"<!doctype html><script>{answered}\nconst bytes = Uint8Array.from(atob('{module}'), "
            "(each) => each.charCodeAt(0));</script>",
            encoding="utf-8",
        )
        browser.get(page.as_uri())
        browser.set_script_timeout(FAR_S)
        yield browser


def answered_in(browser: Chrome, text: str) -> dict[str, Any]:
    """One answer; what went wrong is an answer too."""
    answer: dict[str, Any] = browser.execute_async_script(
        "const [text, done] = arguments;"
        "WebAssembly.compile(bytes).then((compiled) => answered(compiled, text))"
        ".then(done, (error) => done({refused: String(error)}));",
        text,
    )
    return answer
