"""What runs a task, in a thread of this process or on a cluster's worker: it gets data and returns data."""

from __future__ import annotations

import hashlib
import json
import platform
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from manetlab import provenance
from manetlab.campaign.store import Outcome, Task, key_of
from manetlab.errors import InputError, ManetlabError
from manetlab.running import run
from manetlab.scenario import Scenario


@dataclass(frozen=True)
class Work:
    """A task with all that is needed to run it.

    Attributes:
        task: The task.
        fields: The scenario's fields.
        where: What errors name as their place.
        folder: Where the names of files start from.
        series: Events of the recording to keep.
        code: The code that must run it.
    """

    task: Task
    fields: Mapping[str, Any]
    where: str
    folder: str
    series: Sequence[str]
    code: str


class OtherCode(ManetlabError):
    """A worker has another version of manetlab than the process that asks."""


def check_code(code: str) -> None:
    """Checks that this process has the wanted code.

    Raises:
        OtherCode: It has another.
    """
    if (here := provenance.code_identity()) != code:
        hint = "install the same version on all workers, or run without --scheduler"
        raise OtherCode("a worker has other code", platform.node(), here, code, hint)


def perform(work: Work, files: Mapping[str, bytes] | None = None) -> Outcome:
    """Runs a task; whatever goes wrong in it is part of the outcome.

    Args:
        work: The task and its scenario.
        files: The content of the scenario's files by their names, where they are not on this machine.

    Raises:
        OtherCode: This process must not run it.
        KeyboardInterrupt: The run was stopped.
    """
    check_code(work.code)
    try:
        folder = Path(work.folder) if files is None else _folder_with(files)
        scenario = Scenario.build(work.fields, work.where, folder)
        resolved = scenario.resolve()
        result = run(resolved, record=bool(work.series))
        return Outcome(
            task=work.task,
            key=key_of(resolved.hash, work.code),
            scenario_hash=resolved.hash,
            measured=result.to_dict(),
            host=platform.node(),
            series=_events(result.recording, work.series),
        )
    except Exception as error:
        kind = "" if isinstance(error, ManetlabError) else f"{type(error).__name__}: "
        return Outcome(work.task, error=f"{kind}{error}")


def packed(names: Mapping[str, Path]) -> dict[str, bytes]:
    """The contents of files by the names that scenarios have for them."""
    return {name: path.read_bytes() for name, path in names.items()}


def _events(recording: str | None, wanted: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in wanted}
    for line in (recording or "").splitlines()[1:]:
        event = json.loads(line)
        if (name := event.pop("event")) in rows:
            rows[name].append(event)
    return rows


def _folder_with(files: Mapping[str, bytes]) -> Path:
    """A folder in which the files have these names."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return _unpacked(digest.hexdigest(), _Files(files))


class _Files:
    """Files that are all the same to a cache, which knows them by their digest."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self.contents = contents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Files)

    def __hash__(self) -> int:
        return 0


@cache
def _unpacked(digest: str, files: _Files) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"manetlab-{digest[:12]}-"))
    for name, content in files.contents.items():
        (folder / name).write_bytes(content)
    return folder


def check_input(work: Work) -> str:
    """The hash of the resolved scenario of a task.

    Raises:
        InputError: The scenario cannot be used.
    """
    if not isinstance(work.fields, Mapping):
        raise InputError("this is no scenario", work.where)
    return Scenario.build(work.fields, work.where, Path(work.folder)).resolve().hash
