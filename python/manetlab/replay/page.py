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
from manetlab.files import check_outputs, write_text
from manetlab.replay import lesson, recorded
from manetlab.replay.recorded import Recorded

if TYPE_CHECKING:
    from manetlab.replay.live import Live
    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario

    AnyRun = Scenario | Resolved | str | Path

FRAME_HEIGHT_PX = 720
"""Height of a replay within a notebook."""

MOST_BESIDE = 3
"""The most runs that are played beside the first."""

LIVE_SCRIPTS = " 'wasm-unsafe-eval'; worker-src blob:"
"""What the policy of a page that makes runs allows beyond others: WebAssembly, in a worker of the page."""


@dataclass(frozen=True)
class Replay:
    """A page that plays one run, or up to four in step.

    Attributes:
        html: The page. It holds everything and asks no network for anything.
        is_live: It can make runs.
        inputs: The files that it was made from.
    """

    html: str
    is_live: bool = False
    inputs: tuple[Path, ...] = ()

    def save(self, path: str | Path) -> Path:
        """Writes the page to a file.

        Raises:
            InputError: The file cannot be written, or is one that the page was made from.
        """
        check_outputs({"path": Path(path)}, self.inputs)
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
    compare: AnyRun | list[AnyRun] | None = None,
    *,
    title: str | None = None,
    live: bool = False,
    text: str | None = None,
    lab: bool = False,
    python: bool = False,
) -> Replay:
    """A replay of a run, or of up to four runs in step; or a page that makes further runs of a scenario.

    Args:
        run: A recording, by the name of its file; or a scenario, also as the name of a TOML file,
            which is run with recording.
        compare: Another one, or up to three, which are played beside it.
        title: The page's title. [the names of the files]
        live: The page can also make runs: with another protocol, another TCP sender, another seed, and with
            nodes elsewhere. It needs a scenario.
        text: What stands beside the network, in Markdown: headings, paragraphs, lists, emphasis and code.
            What follows the heading *Solutions* is folded.
        lab: A live page shows the scenario's text at once.
        python: A live page holds Python (8 MB, downloaded once), so that its text may say whatever a
            scenario's file may.

    Raises:
        InputError: A recording or a scenario cannot be used, two runs differ in their duration, or Python for
            the page cannot be downloaded.
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
    others = [] if compare is None else compare if isinstance(compare, list) else [compare]
    if len(others) > MOST_BESIDE:
        found, wanted = f"{len(others) + 1} runs", f"up to {MOST_BESIDE + 1}"
        raise InputError("a page plays four runs at most", "view", found, wanted)
    if live:
        _check_live(run, bool(others))
    if python and not live:
        wanted = "a page that makes runs"
        raise InputError("Python is for live pages", "view", "python without live", wanted, "add --live")
    runs = [_recorded(each, live, lab, python) for each in (run, *others)]
    stems = dict.fromkeys(Path(each.where).stem for each, _, _ in runs)
    live_parts = runs[0][1]
    is_live = live_parts is not None and live_parts.engine is not None
    made = page([each for each, _, _ in runs], title or " and ".join(stems), live_parts, text)
    return Replay(made, is_live, tuple(path for _, _, read in runs for path in read))


def _check_live(run: AnyRun, is_compared: bool) -> None:
    if is_compared:
        hint = "the page itself shows each run that it makes beside the first"
        raise InputError("a live page has one run at first", "view --live", "--compare", "one scenario", hint)
    if isinstance(run, str | Path) and recorded.is_recording(Path(run)):
        hint = "give the scenario that was recorded"
        raise InputError("a recording cannot be run", "view --live", str(run), "a scenario", hint)


def _recorded(
    run: AnyRun, is_live: bool = False, is_lab: bool = False, with_python: bool = False
) -> tuple[Recorded, Live | None, list[Path]]:
    """The recording of a run, made if it is none yet; what a page needs to make others; what was read."""
    if isinstance(run, str | Path) and recorded.is_recording(Path(run)):
        return recorded.read(Path(run)), None, [Path(run)]
    _check_run(run)
    from manetlab.resolving import Resolved
    from manetlab.running import run as make
    from manetlab.scenario import Scenario

    if isinstance(run, str | Path):
        resolved = Scenario.load(run).resolve()
    else:
        resolved = run if isinstance(run, Resolved) else run.resolve()
    with temporary_folder() as folder:
        path = Path(folder) / "run.mlrec"
        result = make(resolved, record=path)
        made = recorded.read(path)
    read = resolved.scenario.inputs
    named = replace(made, where=str(run) if isinstance(run, str | Path) else "replay")
    if not is_live:
        return named, None, read
    from manetlab.replay import live, scenario_text

    written = scenario_text.read(Path(run)) if isinstance(run, str | Path) else None
    return named, live.live(resolved, result, written, is_lab, with_python), read


def _check_run(run: object) -> None:
    """Checks that a run is something that can be replayed.

    Raises:
        InputError: It is not; of the result of a run, what happened within it is gone.
    """
    from manetlab.resolving import Resolved
    from manetlab.running import Result
    from manetlab.scenario import Scenario

    if isinstance(run, Scenario | Resolved | str | Path):
        return
    hint = "for example manetlab.view(scenario).save('replay.html')"
    if isinstance(run, Result):
        hint = (
            "give the scenario, which is run once more, or run it with record='run.mlrec' and give that file"
        )
    wanted = "a scenario, or the name of a scenario's or a recording's file"
    raise InputError("this cannot be replayed", "view", f"a {type(run).__name__}", wanted, hint)


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for the recording that the page is made of.

    Raises:
        InputError: There is no place for it.
    """
    try:
        return tempfile.TemporaryDirectory(prefix="manetlab-")
    except OSError as error:
        hint = "set TMPDIR to a folder that can be written to, for example TMPDIR=."
        reason = error.strerror or str(error)
        raise InputError(
            "no temporary folder can be made", "view", reason, "a place for the run's recording", hint
        ) from None


def page(
    recordings: Sequence[Recorded], title: str, live: Live | None = None, text: str | None = None
) -> str:
    """The page that plays these recordings, one to four, and can make others if it is live.

    Args:
        recordings: The recordings.
        title: The page's title.
        live: What the page needs to make runs.
        text: What stands beside the network, in Markdown.

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
        "{{lesson}}": "" if text is None else lesson.to_html(text),
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
