"""The page of a replay: the viewer's template with recordings in it."""

from __future__ import annotations

import base64
import html
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab.errors import InputError
from manetlab.files import write_text
from manetlab.replay import recorded
from manetlab.replay.recorded import Recorded

if TYPE_CHECKING:
    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario

    AnyRun = Scenario | Resolved | str | Path

FRAME_HEIGHT_PX = 720
"""Height of a replay within a notebook."""


@dataclass(frozen=True)
class Replay:
    """A page that plays one run, or two in step.

    Attributes:
        html: The page. It holds everything and asks no network for anything.
    """

    html: str

    def save(self, path: str | Path) -> Path:
        """Writes the page to a file.

        Raises:
            InputError: The file cannot be written.
        """
        write_text(Path(path), self.html)
        return Path(path)

    def _repr_html_(self) -> str:
        """The page within a notebook."""
        source = html.escape(self.html, quote=True)
        return (
            f'<iframe title="Replay" srcdoc="{source}" sandbox="allow-scripts allow-same-origin" '
            f'style="width: 100%; height: {FRAME_HEIGHT_PX}px; border: 0"></iframe>'
        )


def view(
    run: AnyRun,
    compare: AnyRun | None = None,
    *,
    title: str | None = None,
) -> Replay:
    """A replay of a run, or of two runs in step.

    Args:
        run: A recording, by the name of its file; or a scenario, also as the name of a TOML file,
            which is run with recording.
        compare: Another one, which is played beside it.
        title: The page's title. [the names of the files]

    Raises:
        InputError: A recording or a scenario cannot be used, or two runs differ in their duration.
        RunFailed: The simulator found itself in the wrong.
    """
    recordings = [_recorded(each) for each in (run, compare) if each is not None]
    stems = dict.fromkeys(Path(each.where).stem for each in recordings)
    return Replay(page(recordings, title or " and ".join(stems)))


def _recorded(run: AnyRun) -> Recorded:
    """The recording of a run, which is made if it is none yet."""
    if isinstance(run, str | Path) and recorded.is_recording(Path(run)):
        return recorded.read(Path(run))
    from manetlab.running import run as make

    with tempfile.TemporaryDirectory(prefix="manetlab-") as folder:
        path = Path(folder) / "run.mlrec"
        make(run, record=path)
        made = recorded.read(path)
    return replace(made, where=str(run) if isinstance(run, str | Path) else "replay")


def page(recordings: Sequence[Recorded], title: str) -> str:
    """The page that plays these recordings, one or two.

    Raises:
        InputError: They cannot be played in step.
    """
    lengths = {each.head.get("duration_s") for each in recordings}
    if len(lengths) > 1:
        found = " and ".join(f"{each.head.get('duration_s'):g} s" for each in recordings)
        hint = "record both runs with the same duration"
        raise InputError("the runs cannot be played in step", "view", found, "one duration", hint)
    called = recorded.names(list(recordings)) if len(recordings) > 1 else [title]
    config = {"runs": [recorded.note(each, name) for each, name in zip(recordings, called, strict=True)]}
    data = "".join(
        f'<script type="application/octet-stream" id="run-{number}">'
        f"{base64.b64encode(each.content).decode('ascii')}</script>\n"
        for number, each in enumerate(recordings)
    )
    template = (resources.files("manetlab.replay") / "assets" / "page.html").read_text(encoding="utf-8")
    # Each place once, in the order of the page: what is put in is not looked at again.
    parts = {"{{title}}": html.escape(title), "{{config}}": _json(config), "{{data}}": data}
    return _filled(template, parts)


def _filled(template: str, parts: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, parts)), lambda found: parts[found[0]], template)


def _json(value: object) -> str:
    """JSON within a page: nothing in it can end the element that holds it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
