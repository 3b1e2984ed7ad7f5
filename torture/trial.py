"""One scenario, run and looked at from all sides, in this process."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import resource
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import manetlab
from manetlab import ManetlabError, Result, Scenario, _core
from manetlab.errors import InputError
from manetlab.resolving import Resolved
from torture import measures, relations
from torture.shrinking import shortened

RAN, REFUSED, STOPPED, FAILED = "ran", "refused", "stopped", "failed"
"""What becomes of a scenario: a stopped one took more than its CPU time, and obeyed when told to stop."""

CPU_S = 1.5
"""CPU time after which a run is told to stop, in s. What it would take longer for is work, not a fault."""
OTHERS_CPU_S = 20.0
"""The same for another run that stands in a relation to one that ended: outputs take longer."""
LATENCY_S = 0.5
"""CPU time within which a run has to obey, in s."""
LONG_S = 0.06
"""Runs that take so much CPU time are made again and told to stop half-way, in s."""
CUT, CUT_PATIENCE = 16, 4
"""A run that was stopped is made again with its time divided by the one and its CPU time multiplied by the
other: if it does not come to its end, it probably never does."""
EVENT_S, START_S = 15e-6, 0.3
"""CPU time that an event or an arrival of a frame may take on average, and a run beside them, in s."""
RUN_BYTES, EVENT_BYTES = 300e6, 2000
"""Memory that a run may take, and what each line of its recording adds, in bytes."""
LOOKED_AT_LINES = 200_000
"""Lines of a recording whose order is checked."""


class Watch:
    """Tells a run to stop that takes too long; a run that does not obey ends the process."""

    def __init__(self) -> None:
        self._limit_s: float | None = None
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self.asked_s: float | None = None
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def cpu_s(self) -> float:
        """CPU time of the thread that makes the runs, in s."""
        return time.clock_gettime(self._clock)

    def begin(self, limit_s: float) -> None:
        """A run begins that may take so much CPU time."""
        with self._lock:
            self.asked_s = None
            self._limit_s = self.cpu_s() + limit_s

    def end(self) -> None:
        """It has ended."""
        with self._lock:
            self._limit_s = None
            _core.stop(False)

    def _watch(self) -> None:
        while True:
            time.sleep(0.02)
            with self._lock:
                if self._limit_s is not None and self.asked_s is None and self.cpu_s() > self._limit_s:
                    self.asked_s = self.cpu_s()
                    _core.stop(True)


class Stopped(Exception):
    """A run was told to stop and did."""


def try_out(
    fields: Mapping[str, Any],
    watch: Watch,
    again: str = "",
    series_s: float = 1.0,
    cpu_s: float = CPU_S,
    relation: str = "",
) -> dict[str, Any]:
    """Runs a scenario and says what became of it.

    Args:
        fields: The scenario.
        watch: Tells runs to stop.
        again: What else is checked: nothing (""), that another run has the same hash ("repeated"), or that
            one with recording and time series has, and what these say ("recorded").
        series_s: Step of the time series, in s.
        cpu_s: CPU time after which a run is told to stop, in s.
        relation: The relation to other runs that is checked, see `relations`; none if empty.

    Returns:
        ``status``; why, for one that did not run; CPU time, events and memory of the run.
    """
    began_s = watch.cpu_s()
    said: dict[str, Any] = {"status": RAN}
    try:
        resolved = _resolve(fields)
        result = _run(resolved, watch, cpu_s, said)
        faults = [*measures.faults(result), *_costly(said)]
        if said["cpu_s"] >= LONG_S:
            faults += _disobeyed(resolved, watch, said)
        if again:
            faults += _repeated(resolved, result, watch, cpu_s, series_s if again == "recorded" else None)
        if relation:
            faults += _related(fields, resolved, result, watch, relation)
        if faults:
            said |= {"status": FAILED, "why": faults[0], "faults": faults[:20]}
        said["hash"] = result.hash
    except InputError as error:
        said |= {"status": REFUSED, "why": error.what, "error": str(error)}
        if not all((error.what, error.where, error.found, error.wanted, error.hint)):
            said |= {"status": FAILED, "why": f"an error that leaves something out: {error.what}"}
    except Stopped:
        said |= _stopped(fields, watch, cpu_s, said["latency_s"])
    except ManetlabError as error:
        said |= {"status": FAILED, "why": f"{error.what}: {error.found}", "error": str(error)}
    except (Exception, SystemExit) as error:
        said |= {"status": FAILED, "why": f"{type(error).__name__}: {error}"}
    said["total_cpu_s"] = round(watch.cpu_s() - began_s, 6)
    return said


def _stopped(fields: Mapping[str, Any], watch: Watch, cpu_s: float, latency_s: float) -> dict[str, Any]:
    """What becomes of a scenario that took too long: the beginning of it must come to its end."""
    if latency_s > LATENCY_S:
        return {"status": FAILED, "why": f"stopped only {latency_s:.3f} s after it was told to"}
    cut = shortened(dict(fields), fields["duration_s"] / CUT)
    said: dict[str, Any] = {}
    try:
        result = _run(_resolve(cut), watch, CUT_PATIENCE * cpu_s, said)
    except InputError:
        return {"status": STOPPED}
    except Stopped:
        return {
            "status": FAILED,
            "why": f"time: {said['cpu_s']:.1f} s of CPU for {cut['duration_s']:g} simulated s",
        }
    faults = [*measures.faults(result), *_costly(said)]
    return {"status": FAILED, "why": faults[0], "faults": faults} if faults else {"status": STOPPED}


def signature(why: str) -> str:
    """What failures of the same kind have in common: all but the numbers."""
    return re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", why)[:160]


def _resolve(fields: Mapping[str, Any]) -> Resolved:
    return Scenario.build(fields).resolve()


def _run(
    resolved: Resolved, watch: Watch, cpu_s: float, said: dict[str, Any], series_s: float | None = None
) -> Result:
    """One run; with the recording if there are time series."""
    watch.begin(cpu_s)
    began_s, held = watch.cpu_s(), held_bytes()
    try:
        result = manetlab.run(resolved, record=series_s is not None, series_s=series_s)
    except KeyboardInterrupt:
        if watch.asked_s is None:
            raise
        raise Stopped from None
    finally:
        ended_s = watch.cpu_s()
        if watch.asked_s is not None:
            said["latency_s"] = round(ended_s - watch.asked_s, 6)
        watch.end()
        said["cpu_s"] = round(ended_s - began_s, 6)
        said["grown_bytes"] = max(0, held_bytes() - held)
    said["events"] = result.provenance["events"] + result.provenance["arrivals"]
    return result


def _disobeyed(resolved: Resolved, watch: Watch, said: dict[str, Any]) -> Iterator[str]:
    """How late a run ends that is told to stop half-way, if that is too late."""
    told: dict[str, Any] = {}
    with contextlib.suppress(Stopped):
        _run(resolved, watch, said["cpu_s"] / 2, told)
    if "latency_s" in told:
        said["latency_s"] = told["latency_s"]
        if told["latency_s"] > LATENCY_S:
            yield f"stopped only {told['latency_s']:.3f} s after it was told to"


def held_bytes() -> int:
    """The most memory that this process ever had.

    `getrusage` is asked only where the kernel says nothing better: there a process begins with its parent's.
    """
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
        if found:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _costly(said: Mapping[str, Any], lines: int = 0) -> Iterator[str]:
    """What a run took more of than its events explain."""
    allowed_s = START_S + EVENT_S * (said["events"] + lines)
    if said["cpu_s"] > allowed_s:
        yield f"time: {said['cpu_s']:.3f} s of CPU for {said['events']} events and arrivals"
    if said["grown_bytes"] > RUN_BYTES + EVENT_BYTES * lines:
        yield f"memory: {said['grown_bytes'] / 1e6:.0f} MB for {said['events']} events and arrivals"


def _related(
    fields: Mapping[str, Any], resolved: Resolved, first: Result, watch: Watch, relation: str
) -> list[str]:
    """What is wrong between this run and others that ask the same in another way."""

    def run(other: Resolved, **outputs: Any) -> Result:
        watch.begin(OTHERS_CPU_S)
        try:
            return manetlab.run(other, **outputs)
        except KeyboardInterrupt:
            if watch.asked_s is None:
                raise
            raise Stopped from None
        finally:
            watch.end()

    case = relations.Case(dict(fields), resolved, first, run)
    try:
        return list(relations.RELATIONS[relation](case))
    except Stopped:
        return [f"{relation}: another run took more than {OTHERS_CPU_S:.0f} s of CPU"]


def _repeated(
    resolved: Resolved, first: Result, watch: Watch, cpu_s: float, series_s: float | None
) -> Iterator[str]:
    """In what another run differs; with recording and time series if these have a step."""
    said: dict[str, Any] = {}
    result = _run(resolved, watch, 4 * cpu_s, said, series_s)
    what = "repeated" if series_s is None else "with recording and series"
    if result.hash != first.hash:
        yield f"hash: another one when {what}"
    if result.provenance["events"] != first.provenance["events"]:
        yield f"events: other ones when {what}"
    if series_s is None:
        return
    assert result.recording is not None
    assert result.series is not None
    yield from _costly(said, result.recording.count("\n"))
    yield from _recording_faults(result.recording)
    yield from _series_faults(result, series_s)


TIME_OF_LINE = re.compile(r'^\{"t":([0-9.]+)', re.MULTILINE)


def _recording_faults(recording: str) -> Iterator[str]:
    """What is wrong with a recording: times that run backwards, lines that are none."""
    head, _, rest = recording.partition("\n")
    lines = rest.count("\n")
    if json.loads(head)["events"] != lines:
        yield f"recording: {lines} lines under the head {head}"
    times = [float(found) for found in TIME_OF_LINE.findall(rest)]
    if len(times) != lines:
        yield f"recording: {len(times)} times in {lines} lines"
    if any(later < earlier for earlier, later in itertools.pairwise(times)):
        yield "recording: time runs backwards"


def _series_faults(result: Result, step_s: float) -> Iterator[str]:
    """What is wrong with time series."""
    assert result.series is not None
    totals = result.series["totals"]
    times = totals["time_s"]
    steps = int(result.provenance["scenario"]["duration_s"] / step_s + 1e-6)
    if abs(len(times) - steps) > 1 or times != sorted(set(times)):
        yield f"series: {len(times)} rows of totals for {steps} steps, or not in order"
    for table, columns in result.series.items():
        if len({len(column) for column in columns.values()}) > 1:
            yield f"series: columns of {table} of different lengths"
        for name, column in columns.items():
            if any(value is not None and not 0 <= value < float("inf") for value in column):
                yield f"series: {table}.{name} has a value that is not allowed"
