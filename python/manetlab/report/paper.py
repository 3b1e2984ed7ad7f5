"""Pages as PDF, printed by a browser that is installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from manetlab.errors import InputError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
"""Browsers that print without a window, by the names of their programs."""
FAR_S = 120.0
"""How long printing may take at most; it takes a second or two."""
OPTIONS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--no-pdf-header-footer"),
    # The page has all that it needs: no name leads anywhere.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


def pdf(html: str) -> bytes:
    """The page as PDF, in the size of paper that its style sheet states.

    Raises:
        InputError: No such browser is installed, or it does not print.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name)) is not None), None)
    if browser is None:
        hint = "install Chromium or Chrome, or write .html and print that from any browser"
        raise InputError("PDF needs a browser", "--output", "none", f"one of {', '.join(BROWSERS)}", hint)
    with tempfile.TemporaryDirectory(prefix="manetlab-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "page.html").write_text(html, encoding="utf-8")
        told = _printed(browser, folder)
        try:
            return (folder / "page.pdf").read_bytes()
        except OSError:
            hint = "write .html and print that from any browser"
            last = (told.strip().splitlines() or ["nothing was printed"])[-1]
            raise InputError("the browser does not print", browser, last, "a PDF", hint) from None


def _printed(browser: str, folder: Path) -> str:
    """Lets the browser print page.html to page.pdf, and returns what it says of it."""
    command = [
        *(browser, *OPTIONS, f"--user-data-dir={folder / 'profile'}"),
        # Chromium's sandbox does not work for root.
        *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
        *(f"--print-to-pdf={folder / 'page.pdf'}", (folder / "page.html").as_uri()),
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=FAR_S)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        return f"not done after {FAR_S:g} s"
    finally:
        # It leaves processes of its own if it is cut short.
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
