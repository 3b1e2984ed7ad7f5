"""What runs a task, in a thread of this process or on a cluster's worker: it gets data and returns data."""

from __future__ import annotations

import hashlib
import json
import platform
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from manetlab import provenance
from manetlab.campaign.plan import Campaign, Task
from manetlab.campaign.store import TaskResult, key_of
from manetlab.errors import InputError, ManetlabError
from manetlab.origin import Origin
from manetlab.resolving import Resolved
from manetlab.running import run
from manetlab.scenario import Scenario
from manetlab.scenario_data import long_form

WALLS = "walls"
MOST_BUILT = 512
"""Scenarios of points that are kept."""
FILED = ("movement", "traffic", WALLS)
"""Fields of a scenario that may name a file."""


@dataclass(frozen=True)
class Work:
    """A task with all that is needed to run it.

    Attributes:
        task: The task.
        fields: The scenario's fields.
        where: What errors name as their place.
        origin: Where the scenario comes from.
        series_s: The step of the time series, in s; None for none.
        code: The code that must run it.
        files: The contents of the scenario's files by the field that names them, compressed by zlib, for a
            worker that may not have them; empty where they are read from the folder.
    """

    task: Task
    fields: Mapping[str, Any]
    where: str
    origin: Origin
    series_s: float | None
    code: str
    files: Mapping[str, bytes] = field(default_factory=dict)


class OtherCode(ManetlabError):
    """A worker has another version of manetlab than the process that asks."""

    exit_status = 2


def work_of(campaign: Campaign, task: Task, code: str) -> Work:
    """A task of a campaign as data."""
    return Work(
        task,
        _with_own_file(campaign, task),
        campaign.place_of(task.point),
        campaign.known_origin,
        campaign.series_s,
        code,
    )


def _with_own_file(campaign: Campaign, task: Task) -> dict[str, Any]:
    """The fields of a task's scenario; of several movement files only its own, which workers then get."""
    fields = campaign.fields_of(task.point, task.replication)
    movement = fields.get("movement")
    if not isinstance(movement, Mapping) or movement.get("files") is None:
        return fields
    try:
        name = campaign.scenario(task.point, task.replication).movement_name
    except InputError:
        # The run will fail for the same reason, and its failure is kept with the others.
        return fields
    return {**fields, "movement": {"file": name}}


def resolve(work: Work) -> Resolved:
    """The resolved scenario of a task.

    Raises:
        InputError: The scenario cannot be used.
    """
    fields = {**work.fields, **{key: _from_here(work, key, packed) for key, packed in work.files.items()}}
    # What was sent along was read with the right to do so.
    origin = Origin() if work.files else work.origin
    return _built(fields, work.where, origin).resolve()


_BUILT: dict[tuple[str, Origin, str], Scenario] = {}
"""Scenarios of points, by place, origin, and the fields that replications share."""


def _built(fields: Mapping[str, Any], where: str, origin: Origin) -> Scenario:
    """The scenario of these fields; that of a point is checked once, and its replications have other seeds.

    Raises:
        InputError: The fields make no scenario.
    """
    try:
        key = (where, origin, json.dumps({name: each for name, each in fields.items() if name != "seed"}))
    except (TypeError, ValueError):
        return Scenario.build(fields, where, origin)
    if (known := _BUILT.get(key)) is None or "seed" not in fields:
        known = Scenario.build(fields, where, origin)
        # What files hold may change between two runs.
        if not known.files and known.origin == origin:
            if len(_BUILT) >= MOST_BUILT:
                _BUILT.clear()
            _BUILT[key] = known
        return known
    return known.with_seed(fields["seed"])


def _from_here(work: Work, key: str, packed: bytes) -> dict[str, Any]:
    """The field with a file on this machine; walls keep what else is said of them."""
    said = work.fields[key] if key == WALLS else {}
    return {**said, "file": _local(packed)}


def perform(work: Work) -> TaskResult:
    """Runs a task; whatever goes wrong in it is part of the outcome.

    Raises:
        OtherCode: This process has other code than was asked for.
        KeyboardInterrupt: The run was stopped.
    """
    if (here := provenance.code_identity()) != work.code:
        hint = "install the same version of manetlab on all workers"
        raise OtherCode("a worker has another version of the code", platform.node(), here, work.code, hint)
    try:
        resolved = resolve(work)
        result = run(resolved, series_s=work.series_s)
    except Exception as error:
        kind = "" if isinstance(error, ManetlabError) else f"{type(error).__name__}: "
        return TaskResult(work.task, host=platform.node(), error=f"{kind}{error}")
    return TaskResult(
        work.task,
        key_of(resolved.hash, work.code),
        resolved.hash,
        result.to_dict(),
        platform.node(),
        series=result.series or {},
    )


def perform_all(
    works: Sequence[Work], files: Sequence[tuple[Origin, str, str]], contents: Sequence[bytes]
) -> list[TaskResult]:
    """Runs tasks one after the other, on a machine that may not have the files that their scenarios name.

    Args:
        works: The tasks.
        files: The files as `named_files` has them.
        contents: What each holds, as `packed_file` packs it.

    Raises:
        OtherCode: This process has other code than was asked for.
    """
    held = dict(zip(files, contents, strict=True))
    return [
        perform(replace(work, files={file[2]: held[file] for file in named_files(work)})) for work in works
    ]


def named_files(work: Work) -> list[tuple[Origin, str, str]]:
    """The files that a task's scenario names: where it comes from, the name, and the field that has it."""
    named = []
    for key in FILED:
        source = long_form(key, work.fields.get(key))
        if isinstance(source, Mapping) and source.get("file") is not None:
            named.append((work.origin, source["file"], key))
    return named


@cache
def packed_file(origin: Origin, name: str, field: str) -> bytes:
    """The content of a file that a field names, compressed by zlib.

    Raises:
        InputError: It cannot be read.
    """
    return zlib.compress(origin.read(name, f"{field} file"), level=6)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    # Kept, and with it its files, until the process ends.
    return tempfile.TemporaryDirectory(prefix="manetlab-")


def _local(packed: bytes) -> str:
    """A file on this machine with these contents."""
    path = Path(_folder().name) / hashlib.sha256(packed).hexdigest()
    if not path.exists():
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(zlib.decompress(packed))
        Path(file.name).replace(path)
    return str(path)
