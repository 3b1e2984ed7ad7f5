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
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError
from manetlab.files import write_text
from manetlab.replay import recorded
from manetlab.replay.recorded import Recorded

if TYPE_CHECKING:
    from manetlab.replay.live import Live
    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario

    AnyRun = Scenario | Resolved | str | Path

FRAME_HEIGHT_PX = 720
"""Height of a replay within a notebook."""

LIVE_SCRIPTS = " 'wasm-unsafe-eval'; worker-src blob:"
"""What the policy of a page that makes runs allows beyond others: WebAssembly, in a worker of the page."""


@dataclass(frozen=True)
class Replay:
    """A page that plays one run, or two in step.

    Attributes:
        html: The page. It holds everything and asks no network for anything.
        is_live: It can make runs.
    """

    html: str
    is_live: bool = False

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
            f'<iframe title="Replay" srcdoc="{source}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {FRAME_HEIGHT_PX}px; border: 0"></iframe>'
        )


def view(
    run: AnyRun,
    compare: AnyRun | None = None,
    *,
    title: str | None = None,
    live: bool = False,
) -> Replay:
    """A replay of a run, or of two runs in step; or a page that makes further runs of a scenario.

    Args:
        run: A recording, by the name of its file; or a scenario, also as the name of a TOML file,
            which is run with recording.
        compare: Another one, which is played beside it.
        title: The page's title. [the names of the files]
        live: The page can also make runs: with another protocol, another TCP sender, another seed, and with
            nodes elsewhere. It needs a scenario.

    Raises:
        InputError: A recording or a scenario cannot be used, or two runs differ in their duration.
        RunFailed: The simulator found itself in the wrong.

    Examples:
        >>> import manetlab
        >>> flow = {"kind": "cbr", "src": 0, "dst": 2, "start_s": 0.5, "bytes": 512, "interval_s": 0.5}
        >>> chain = manetlab.Scenario(
        ...     movement={"chain": {"nodes": 3}}, traffic={"flows": [flow]}, duration_s=2.0
        ... )
        >>> manetlab.view(chain, title="Three nodes").save("replay.html").name
        'replay.html'
    """
    if live:
        _check_live(run, compare)
    runs = [_recorded(each, live) for each in (run, compare) if each is not None]
    stems = dict.fromkeys(Path(each.where).stem for each, _ in runs)
    live_parts = runs[0][1]
    is_live = live_parts is not None and live_parts.engine is not None
    return Replay(page([each for each, _ in runs], title or " and ".join(stems), live_parts), is_live)


def _check_live(run: AnyRun, compare: AnyRun | None) -> None:
    if compare is not None:
        hint = "the page itself shows each run that it makes beside the first"
        raise InputError("a live page has one run at first", "view --live", "--compare", "one scenario", hint)
    if isinstance(run, str | Path) and recorded.is_recording(Path(run)):
        hint = "give the scenario that was recorded"
        raise InputError("a recording cannot be run", "view --live", str(run), "a scenario", hint)


def _recorded(run: AnyRun, is_live: bool = False) -> tuple[Recorded, Live | None]:
    """The recording of a run, which is made if it is none yet; and what a page needs to make others."""
    if isinstance(run, str | Path) and recorded.is_recording(Path(run)):
        return recorded.read(Path(run)), None
    from manetlab.resolving import Resolved
    from manetlab.running import run as make
    from manetlab.scenario import Scenario

    if isinstance(run, str | Path):
        resolved = Scenario.load(run).resolve()
    else:
        resolved = run if isinstance(run, Resolved) else run.resolve()
    with tempfile.TemporaryDirectory(prefix="manetlab-") as folder:
        path = Path(folder) / "run.mlrec"
        result = make(resolved, record=path)
        made = recorded.read(path)
    named = replace(made, where=str(run) if isinstance(run, str | Path) else "replay")
    if not is_live:
        return named, None
    from manetlab.replay import live

    return named, live.live(resolved, result)


def page(recordings: Sequence[Recorded], title: str, live: Live | None = None) -> str:
    """The page that plays these recordings, one or two, and can make others if it is live.

    Raises:
        InputError: They cannot be played in step.
    """
    lengths = {each.head.get("duration_s") for each in recordings}
    if len(lengths) > 1:
        found = " and ".join(f"{each.head.get('duration_s'):g} s" for each in recordings)
        hint = "record both runs with the same duration"
        raise InputError("the runs cannot be played in step", "view", found, "one duration", hint)
    called = recorded.names(list(recordings)) if len(recordings) > 1 else [title]
    config: dict[str, Any] = {
        "runs": [recorded.note(each, name) for each, name in zip(recordings, called, strict=True)]
    }
    data = "".join(
        f'<script type="application/octet-stream" id="run-{number}">'
        f"{base64.b64encode(each.content).decode('ascii')}</script>\n"
        for number, each in enumerate(recordings)
    )
    if live is not None:
        config["live"] = live.config
        data += "".join(
            f'<script type="application/octet-stream" id="{name}">{text}</script>\n'
            for name, text in live.elements()
        )
    template = (resources.files("manetlab.replay") / "assets" / "page.html").read_text(encoding="utf-8")
    # Each place once, in the order of the page: what is put in is not looked at again.
    parts = {
        "{{scripts}}": LIVE_SCRIPTS if live is not None and live.engine is not None else "",
        "{{title}}": html.escape(title),
        "{{config}}": _json(config),
        "{{data}}": data,
    }
    return _filled(template, parts)


def _filled(template: str, parts: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, parts)), lambda found: parts[found[0]], template)


def _json(value: object) -> str:
    """JSON within a page: nothing in it can end the element that holds it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
