"""Emulations: a scenario's channel in real time between programs that people run.

A chain of processes makes sure that nothing outlives an emulation: the one that called, one that enters
namespaces, and the first process of these, which drives the run. Each is killed when the one before it ends,
and with the first process of its namespace the kernel ends all others there: the programs and what they have
started.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import _core, errors
from manetlab.captures import Capture
from manetlab.errors import InputError, ManetlabError, RunFailed
from manetlab.files import check_outputs, completed
from manetlab.resolving import canonical

if TYPE_CHECKING:
    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario

MOST_NODES = 1000
"""The maximum number of nodes of an emulation: each is a namespace, a device and a program."""
FILES_A_NODE = 4
"""Open files that a node costs."""
SPARE_FILES = 100
"""Open files beside those of the nodes."""


@dataclass(frozen=True)
class Emulation:
    """What an emulation was like.

    Attributes:
        began_at_s: When it began, in seconds of the time of day.
        lasted_s: How long it lasted, in s.
        stopped: Whether it ended before its time: because all programs had ended, or by Ctrl-C.
        interrupted: Whether Ctrl-C ended it.
        nodes: What passed between each node and its programs: ``sent``, ``sent_bytes`` (payload),
            ``received``, ``refused`` (by the node's kernel) and ``unknown`` (sent to MAC addresses that are
            no other node's), in frames.
        drops: Frames that were lost on the way: ``layer``, ``reason``, ``packets``, ``count``.
        lateness: How late frames were when they went ``on_air`` (RTS, CTS and ACK among them) and when they
            were ``handed_over`` to programs, each with ``frames``, ``median_s``, ``p999_s`` and ``max_s``;
            ``slot_s``; ``beyond_slot``, the share on the air that was late by more than a slot; ``trusted``.
        programs: Each node's ``command``, and how it ``ended`` if it did by itself: ``at_s`` with ``status``
            or ``signal``.
        cpu_share: The share of a processor that the simulator took, its programs apart.
        realtime: Whether it ran with real-time priority.
    """

    began_at_s: float
    lasted_s: float
    stopped: bool
    interrupted: bool
    nodes: list[dict[str, int]]
    drops: list[dict[str, Any]]
    lateness: dict[str, Any]
    programs: list[dict[str, Any]]
    cpu_share: float
    realtime: bool

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The programs that ended by a signal, or with another exit status than 0."""
        return [each for each in self.programs if each["ended"] is not None and each["ended"]["status"] != 0]

    def to_dict(self) -> dict[str, Any]:
        """All of it as one mapping."""
        return dict(vars(self))


def emulate(
    scenario: Scenario | Resolved,
    command: Sequence[str],
    *,
    capture: str | Path | None = None,
    logs: str | Path | None = None,
) -> Emulation:
    """Runs a command at every node of a scenario, whose channel carries what the programs send, in real time.

    Args:
        scenario: Movement, radio, MAC, walls, energy and failures. Its routing and its flows take no part.
        command: The command and its arguments, in which ``{node}`` stands for the node's number and
            ``{address}`` for its IPv4 address.
        capture: A pcapng file for all that goes on the air.
        logs: A folder for the programs' output, ``node-0.log`` and so on; otherwise it goes where this
            process's does.

    Returns:
        What the emulation was like.

    Raises:
        InputError: The scenario or the command cannot be used, or network namespaces are forbidden here.
        RunFailed: An invariant of the simulator broke.
    """
    if not hasattr(_core, "emulate"):
        raise InputError("emulations need Linux", "emulate", "another system", "Linux with /dev/net/tun")
    from manetlab.scenario import Scenario

    resolved = scenario.resolve() if isinstance(scenario, Scenario) else scenario
    nodes = resolved.movement.nodes
    if not command:
        hint = "for example -- babeld -C 'redistribute local' manet0"
        raise InputError("the command is missing", "emulate", "nothing", "a program for the nodes", hint)
    if nodes > MOST_NODES:
        wanted = f"at most {MOST_NODES}"
        raise InputError("too many nodes for an emulation", "emulate", str(nodes), wanted)
    folder = None if logs is None else Path(logs).absolute()
    if folder is not None:
        _make(folder)
    core = resolved.core | {"routing": "custom", "flows": [], "warmup_s": 0.0}
    commands = [[_filled(word, node) for word in command] for node in range(nodes)]
    file = None if capture is None else Path(capture).absolute()
    beside = {} if folder is None else {f"logs, node {node}": _log(folder, node) for node in range(nodes)}
    check_outputs({"capture": file, **beside}, resolved.scenario.inputs)
    with completed([] if file is None else [file]) as places:
        pcap = None if file is None else Capture(places[file]).for_core(nodes)
        job = (canonical(core), resolved.movement, commands, None if folder is None else str(folder), pcap)
        return Emulation(**_outcome(_in_namespaces(job)))


def address(node: int) -> str:
    """The IPv4 address of a node: 10.0.0.1 of node 0, 10.0.0.2 of node 1 and so on."""
    number = node + 1
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _log(folder: Path, node: int) -> Path:
    """The file of a node's output."""
    return folder / f"node-{node}.log"


def _filled(word: str, node: int) -> str:
    return word.replace("{node}", str(node)).replace("{address}", address(node))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found, hint = error.strerror or str(error), "choose another folder for --logs"
        raise InputError(
            "the output cannot be written", str(folder), found, "a folder that can be written", hint
        ) from None


def _outcome(told: dict[str, Any]) -> dict[str, Any]:
    """What the process within has told, unless that is an error."""
    if (error := told.get("error")) is not None:
        kind, parts = error
        raise getattr(errors, kind)(*parts)
    told.pop("audit")
    return told


Job = tuple[str, _core.Movement, list[list[str]], str | None, tuple[str, list[int] | None, bool, str] | None]
"""What `_core.emulate` takes."""


def _in_namespaces(job: Job) -> dict[str, Any]:
    """Lets a child of a child do the job, the first process of its namespaces; what it tells."""
    reading, writing = os.pipe()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if (child := os.fork()) == 0:
            os.close(reading)
            _child(writing, job)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
    finally:
        signal.signal(signal.SIGINT, before)
    if not text:
        raise RunFailed(
            "the emulation failed", "emulate", "its process was killed", "an emulation to its end"
        )
    told: dict[str, Any] = json.loads(text)
    return told


def _child(writing: int, job: Job) -> None:
    """Enters the namespaces, and waits for the first process in them. Does not return."""
    status = 1
    try:
        _take_realtime()
        _core.enter_emulation()
        if (first := os.fork()) == 0:
            _tell(writing, _driven(job))
        else:
            os.waitpid(first, 0)
        status = 0
    except BaseException as error:
        _tell(writing, _as_error(error))
    finally:
        os._exit(status)


def _interrupt_once(*_: object) -> None:
    """The first Ctrl-C ends the emulation; what follows it has been asked for already."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _driven(job: Job) -> dict[str, Any]:
    """Drives the run; this is the first process of its namespaces. Ctrl-C ends the emulation."""
    signal.signal(signal.SIGINT, _interrupt_once)
    try:
        _allow_files(len(job[2]))
        # The programs do not inherit it.
        realtime = _take_realtime(os.SCHED_RESET_ON_FORK)
        began_s, used_s = time.monotonic(), time.process_time()
        told: dict[str, Any] = json.loads(_core.emulate(*job))
        share = (time.process_time() - used_s) / (time.monotonic() - began_s)
        return told | {"cpu_share": share, "realtime": realtime}
    except BaseException as error:
        return _as_error(error)


def _as_error(error: BaseException) -> dict[str, Any]:
    if isinstance(error, ManetlabError):
        parts = [error.what, error.where, error.found, error.wanted, error.hint]
        return {"error": [type(error).__name__, parts]}
    return {"error": ["RunFailed", ["the emulation failed", "emulate", f"{type(error).__name__}: {error}"]]}


def _tell(writing: int, told: dict[str, Any]) -> None:
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        json.dump(told, pipe)


def _take_realtime(flags: int = 0) -> bool:
    """Asks for real-time priority; whether this process has it. In a user namespace it is too late to ask."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | flags, os.sched_param(1))
    except OSError:
        return False
    return True


def _allow_files(nodes: int) -> None:
    """Raises the limit of open files as far as it goes and is needed."""
    # Not everywhere where this module can be imported.
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = nodes * FILES_A_NODE + SPARE_FILES
    if soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
