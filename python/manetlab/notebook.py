"""What notebooks show: tables for objects that are the value of a cell, and a bar while runs are made."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

PAUSE_S = 0.2
"""Minimum real time between two pictures of a bar, in s."""


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def table(title: str, rows: Iterable[Sequence[object]], heads: Sequence[str] = (), note: str = "") -> str:
    """A table in HTML, with a line above and one below it."""
    parts = [f"<p><b>{_escaped(title)}</b></p>", "<table>"]
    if heads:
        parts.append(f"<thead><tr>{_cells('th', heads)}</tr></thead>")
    parts += [f"<tr>{_cells('td', row)}</tr>" for row in rows]
    parts.append("</table>")
    if note:
        parts.append(f"<p><small>{_escaped(note)}</small></p>")
    return "".join(parts)


def _cells(tag: str, row: Sequence[object]) -> str:
    return "".join(f"<{tag}>{_escaped(str(cell))}</{tag}>" for cell in row)


def _escaped(text: str) -> str:
    # Runs from a terminal show no HTML.
    import html

    return html.escape(text)


class Bar:
    """A bar in a notebook, which goes on as runs end."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown: Any = None
        self._shown_at = 0.0

    def show(self, done: int, total: int, rest: str = "") -> None:
        """Shows that so many runs of so many are done, but not more often than one can look."""
        if self._shown is not None and done < total and time.monotonic() - self._shown_at < PAUSE_S:
            return
        from IPython import display

        self._shown_at = time.monotonic()
        # IPython has no types.
        shell: Any = display
        picture = shell.HTML(bar(self._what, done, total, rest))
        if self._shown is None:
            self._shown = shell.display(picture, display_id=True)
        else:
            self._shown.update(picture)


def bar(what: str, done: int, total: int, rest: str = "") -> str:
    """A bar in HTML."""
    told = f"{done} of {total} runs" + (f", {rest}" if rest else "")
    return f'{_escaped(what)} <progress max="{max(total, 1)}" value="{done}"></progress> {_escaped(told)}'
