"""What the pages of studies have in common: their words, and charts whose bytes depend on the values only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def words(path: Path) -> dict[str, str]:
    """What a page says in words, by the name that a comment gives each part."""
    parts = re.split(r"^<!-- (.+) -->\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


@contextmanager
def chart(path: Path, width_in: float, height_in: float) -> Iterator[Figure]:
    """A figure in the style of reports, written as SVG at the end."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from manetlab.plots import STYLE

    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = mpl.rcParams
        settings.update(STYLE)
        settings["svg.hashsalt"] = "manetlab"
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        yield figure
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
