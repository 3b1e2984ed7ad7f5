"""Runs: from a scenario to its result, one at a time or many at once."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import _core, notebook, provenance
from manetlab.errors import InputError, shown
from manetlab.files import check_outputs, completed
from manetlab.resolving import Resolved

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from manetlab.captures import Capture, Ns2Trace
    from manetlab.recording import RecordTo
    from manetlab.scenario import Scenario

LEAST_SERIES_STEP_S, MOST_SERIES_STEP_S = 1e-3, 1e6
"""Steps of time series, in s."""
MAIN = ("tcp_throughput_bps", "cbr_delivery_fraction")
"""Measures that a result names where it has a line."""
MOST_SERIES_ROWS = 10_000_000
"""Most rows of a run's time series, which are kept in memory."""


@dataclass(frozen=True, repr=False)
class Result:
    """What a run measured. The metrics are defined in docs/metrics.md.

    Attributes:
        flows: One mapping a flow: ``id``, ``kind``, ``src``, ``dst`` and its metrics; `to_frame` makes a
            table of them.
        totals: The metrics over all flows and nodes.
        drops: Where copies of packets died: ``layer``, ``reason``, ``packets`` (their kind), ``count``.
        losses: Which packets of flows were lost, over the whole run: each once, with the keys of ``drops``.
        delays: Histograms of the delays of flows that have a deadline: ``flow``, the upper ends ``up_to_s``
            of the classes, ``counts`` with one more for what took longer, and ``lost``.
        audit: The books: every packet made, and how each ended.
        provenance: What is needed to get this result again: version, commit, the resolved scenario and its
            hash, seed, profile; and the run's wall time, events and result hash.
        recording: The recording as JSON lines, if it was kept in memory.
        series: The time series, if they were asked for: the columns, each a list, of ``totals``,
            ``tcp_flows``, ``message_flows``, ``route_repairs``, ``queues`` and ``paths``, see
                docs/metrics.md.

    Examples:
        >>> import manetlab
        >>> flow = {"kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 512, "interval_s": 0.5}
        >>> result = manetlab.run(movement={"chain": {"nodes": 3}}, traffic={"flows": [flow]}, duration_s=6.0)
        >>> result.totals["cbr_delivery_fraction"]
        1.0
        >>> print(result.to_frame()[["kind", "src", "dst", "sent", "received"]].to_string(index=False))
        kind  src  dst  sent  received
         cbr    0    2    10        10
        >>> result.hash == manetlab.run(
        ...     movement={"chain": {"nodes": 3}}, traffic={"flows": [flow]}, duration_s=6.0
        ... ).hash
        True
    """

    flows: list[dict[str, Any]]
    totals: dict[str, Any]
    drops: list[dict[str, Any]]
    audit: dict[str, Any]
    provenance: dict[str, Any]
    recording: str | None = None
    series: dict[str, dict[str, list[Any]]] | None = None
    losses: list[dict[str, Any]] = field(default_factory=list)
    delays: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The result as one mapping, without the recording; with the series if they were asked for."""
        kept: dict[str, Any] = {
            "flows": self.flows,
            "totals": self.totals,
            "drops": self.drops,
            "losses": self.losses,
            "audit": self.audit,
            "provenance": self.provenance,
        }
        kept |= {"delays": self.delays} if self.delays else {}
        return kept if self.series is None else {**kept, "series": self.series}

    def to_json(self, indent: int | None = None) -> str:
        """The result as one JSON object, without the recording."""
        return json.dumps(self.to_dict(), indent=indent)

    def to_frame(self, what: str = "flows") -> pd.DataFrame:
        """A part of the result as a table, with the columns that tables of a campaign have.

        Args:
            what: ``flows`` (one row a flow; its number is the column ``flow``), ``totals`` (one row a
                metric, with its unit), ``drops``, ``losses``, ``delays`` (one row a class of delays of a flow
                with a deadline; ``up_to_s`` is ∞ for what took longest and NaN for what did not arrive), or a
                time series: ``series:totals``, ``series:tcp_flows``, ``series:message_flows``,
                ``series:route_repairs``, ``series:queues``, ``series:paths``.

        Raises:
            InputError: Unknown part, or the run kept no series.
        """
        import pandas as pd

        name, _, series = what.partition(":")
        if name == "flows":
            table = pd.DataFrame(self.flows).rename(columns={"id": "flow"})
            first = [name for name in ("flow", "kind", "src", "dst") if name in table]
            return table[[*first, *(name for name in table if name not in first)]]
        if name in ("drops", "losses"):
            return pd.DataFrame(getattr(self, name), columns=["layer", "reason", "packets", "count"])
        if name == "delays":
            from manetlab.metrics import delay_classes

            classes = [
                (each["flow"], end_s, count) for each in self.delays for end_s, count in delay_classes(each)
            ]
            return pd.DataFrame.from_records(classes, columns=["flow", "up_to_s", "count"])
        if name == "totals":
            from manetlab.metrics import base_unit

            rows = [(key, value, base_unit(key)) for key, value in self.totals.items()]
            return pd.DataFrame.from_records(rows, columns=["metric", "value", "unit"])
        kept = self.series or {}
        if name != "series" or series not in kept:
            wanted = ", ".join(
                ["flows", "totals", "drops", "losses", "delays", *(f"series:{each}" for each in kept)]
            )
            hint = "run with series_s=1.0 to keep time series"
            raise InputError("no such part of a result", "to_frame", shown(what), wanted, hint)
        return pd.DataFrame(kept[series])

    def plot(self, metric: str | None = None, axes: Axes | None = None) -> Axes:
        """Draws a column of the totals' time series over time, or without one a metric of each flow.

        Args:
            metric: The column or metric; ``tcp_delivered_bytes`` or ``throughput_bps`` if not given.
                ``delays`` draws how long the datagrams of flows with a deadline took.
            axes: Where to draw; a new figure if not given.

        Returns:
            The axes, whose ``figure`` can be saved.

        Raises:
            InputError: Unknown column or metric, no flow has a deadline, or matplotlib is not installed.
        """
        from manetlab.plots import by_delay, by_flow, drawing_on, over_time

        with drawing_on(axes, "plot") as drawn_on:
            if metric == "delays":
                return by_delay(self.delays, self.flows, drawn_on, self.provenance.get("labels"))
            if self.series is not None and (metric is None or metric in self.series["totals"]):
                columns = self.series["totals"]
                first = next(name for name in columns if name != "time_s")
                return over_time(columns, metric or first, drawn_on)
            names = self.provenance.get("labels")
            return by_flow(self.flows, metric or "throughput_bps", drawn_on, names)

    def __repr__(self) -> str:
        """What was run and its main results, in a line."""
        from manetlab.metrics import applying

        origin = self.provenance
        found = [
            f"{metric.label} {metric.show(self.totals)} {metric.unit}".rstrip()
            for metric in applying(self.totals, self.flows)
            if metric.key in MAIN and self.totals[metric.key] is not None
        ]
        told = "".join(f", {each}" for each in found)
        flows = "1 flow" if len(self.flows) == 1 else f"{len(self.flows)} flows"
        return f"<Result of {flows}, seed {origin['seed']}{told}, hash {self.hash[:12]}>"

    def _repr_html_(self) -> str:
        """The totals that the run has, for notebooks."""
        from manetlab.metrics import applying

        rows = [
            (metric.heading, metric.show(self.totals))
            for metric in applying(self.totals, self.flows)
            if self.totals[metric.key] is not None
        ]
        return notebook.table("Totals", rows, ("metric", "value"), repr(self)[1:-1])

    @property
    def hash(self) -> str:
        """A hash over all that was measured: the same for the same version, scenario and seed."""
        return str(self.provenance["result_hash"])


def run(
    scenario: Scenario | Resolved | str | Path | None = None,
    *,
    record: bool | str | Path | RecordTo = False,
    series_s: float | None = None,
    pcap: str | Path | Capture | None = None,
    ns2_trace: str | Path | Ns2Trace | None = None,
    **fields: Any,
) -> Result:
    """Makes one run.

    Args:
        scenario: A scenario, or the name of a TOML file that holds one.
        record: A file to which events are written while the run goes on, see `manetlab.recording`; or True to
            keep them in memory, as JSON lines.
        series_s: Keep time series with steps of so many simulated seconds; none if not given. Like the
            recording, they do not change what is measured.
        pcap: Write a capture for Wireshark to this file, or as a `manetlab.captures.Capture` says.
        ns2_trace: Write a trace in the form of ns-2 to this file, or as a `manetlab.captures.Ns2Trace` says.
        **fields: Fields of [`Scenario`][manetlab.Scenario]: all of them without ``scenario``, or those that
            replace its own; a section of parameters changes only the parameters that it names. A resolved
            scenario takes none.

    Raises:
        InputError: The scenario cannot be used.
        ProtocolFailed: A routing protocol in Python raised an exception or broke the contract.
        RunFailed: The simulator found itself in the wrong.

    Examples:
        >>> import manetlab
        >>> transfer = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.0, "bytes": 20_000}
        >>> result = manetlab.run(
        ...     movement={"chain": {"nodes": 3}}, traffic={"flows": [transfer]}, duration_s=5.0, routing="dsr"
        ... )
        >>> result.flows[0]["delivered_bytes"]
        20000
    """
    check_series_step(series_s, "run: series_s")
    outputs = _outputs(pcap, ns2_trace)
    if isinstance(scenario, Resolved):
        if fields:
            hint = "change the scenario and resolve it again: run(scenario.changed(…))"
            wanted = "no further fields"
            raise InputError("a resolved scenario cannot be changed", "run", ", ".join(fields), wanted, hint)
        return _run(scenario, record, series_s, *outputs)
    read = [Path(scenario)] if isinstance(scenario, str | Path) else []
    # Only here: a resolved scenario runs sooner without.
    from manetlab.scenario import Scenario

    match scenario:
        case None:
            made = Scenario.build(fields)
        case Scenario():
            made = scenario.changed(**fields) if fields else scenario
        case str() | Path():
            made = Scenario.load(scenario, fields)
        case _:
            raise _no_scenario("run", scenario)
    check_files(record, *outputs, [*read, *made.inputs])
    return _run(made.resolve(), record, series_s, *outputs)


def run_many(
    scenarios: Iterable[Scenario | Resolved],
    *,
    jobs: int | None = None,
    progress: Callable[[int, Result], None] | None = None,
    series_s: float | None = None,
) -> list[Result]:
    """Makes several runs at a time and returns their results in the order of the scenarios.

    Args:
        scenarios: What to run.
        jobs: How many at a time; by default the number of cores.
        progress: Called in this thread with the scenario's index and its result, as each run ends. In a
            notebook a bar is shown if it is not given.
        series_s: Keep time series with steps of so many simulated seconds; none if not given.

    Raises:
        InputError: A scenario cannot be used, in which case nothing is run; or ``jobs`` is not above 0.
        ProtocolFailed: A routing protocol in Python raised an exception or broke the contract.
        RunFailed: The simulator found itself in the wrong.

    Examples:
        Three protocols on the same network; nodes of DSDV need longer than 10 s to hear of each other:

        >>> import manetlab
        >>> flow = {"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 512, "interval_s": 0.25}
        >>> chain = manetlab.Scenario(
        ...     duration_s=10.0, movement={"chain": {"nodes": 4}}, traffic={"flows": [flow]}
        ... )
        >>> results = manetlab.run_many([chain.changed(routing=name) for name in ("aodv", "dsr", "dsdv")])
        >>> [result.totals["cbr_received"] for result in results]
        [36, 36, 0]
    """
    # Only here: a single run starts sooner without.
    from concurrent.futures import ThreadPoolExecutor, as_completed

    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        hint = "omit it to use all cores"
        what, where = "the number of jobs is not allowed", "run_many: jobs"
        raise InputError(what, where, shown(jobs), "1 or more", hint)
    check_series_step(series_s, "run_many: series_s")
    listed: Sequence[Scenario | Resolved] = list(scenarios)
    if progress is None and notebook.is_notebook():
        bar, ended = notebook.Bar("runs"), itertools.count(1)

        def progress(_: int, __: Result) -> None:
            bar.show(next(ended), len(listed))

    _check(listed)
    # Threads suffice: a run holds no lock of the interpreter, unless its protocol is in Python.
    with ThreadPoolExecutor(jobs or available_cores()) as pool:
        resolve = _Resolver()
        futures = {
            pool.submit(lambda each: _run(resolve(each), record=False, series_s=series_s), scenario): index
            for index, scenario in enumerate(listed)
        }
        try:
            for future in as_completed(futures):
                result = future.result()
                if progress is not None:
                    progress(futures[future], result)
        except BaseException:
            _core.stop(True)
            pool.shutdown(wait=True, cancel_futures=True)
            _core.stop(False)
            raise
    return [future.result() for future in futures]


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check(scenarios: Sequence[Scenario | Resolved]) -> None:
    """Finds what cannot be used before the first run, not after hours of others.

    Resolves each scenario and forgets it again: all of them at once may not fit in memory. Of neighbours
    that differ only in their seeds, the first stands for all.
    """
    from manetlab.scenario import Scenario

    before: Scenario | None = None
    for number, scenario in enumerate(scenarios):
        if isinstance(scenario, Resolved):
            continue
        if not isinstance(scenario, Scenario):
            raise _no_scenario(f"run_many: number {number}", scenario)
        alike = scenario.alike
        if alike != before or scenario.can_be_drawn_badly:
            scenario.resolve()
        before = alike


class _Resolver:
    """Resolves scenarios, and reads no file again for one that differs from the last only in its seeds."""

    def __init__(self) -> None:
        self._last: tuple[Scenario, Resolved] | None = None

    def __call__(self, scenario: Scenario | Resolved) -> Resolved:
        if isinstance(scenario, Resolved):
            return scenario
        if scenario.is_drawn:
            return scenario.resolve()
        # Threads may exchange it meanwhile: looked at once, and replaced as a whole.
        last, alike = self._last, scenario.alike
        if last is None or last[0] != alike:
            last = self._last = (alike, scenario.resolve())
        return last[1].of(scenario)


def _no_scenario(where: str, found: object) -> InputError:
    hint = "Scenario.build makes a scenario from a mapping"
    return InputError("not a scenario", where, shown(found), "a Scenario or a Resolved", hint)


def check_series_step(step_s: float | None, where: str) -> None:
    """Checks the step of time series; None stands for none.

    Raises:
        InputError: It is not a number of seconds that is allowed.
    """
    if step_s is None:
        return
    number = isinstance(step_s, int | float) and not isinstance(step_s, bool)
    if not number or not LEAST_SERIES_STEP_S <= step_s <= MOST_SERIES_STEP_S:
        wanted = f"{LEAST_SERIES_STEP_S:g} to {MOST_SERIES_STEP_S:g} simulated seconds"
        hint = "for shorter times use the recording"
        raise InputError("the step of the series is not allowed", where, shown(step_s), wanted, hint)


def _check_series_rows(resolved: Resolved, step_s: float) -> None:
    flows = sum(flow["kind"] != "cbr" for flow in resolved.flows)
    rows = resolved.scenario.duration_s / step_s * (1 + flows)
    if rows > MOST_SERIES_ROWS:
        found, wanted = f"about {rows:.3g} rows", f"at most {MOST_SERIES_ROWS} rows"
        hint = "every step has one row, and one for every flow except CBR: use longer steps"
        raise InputError("the series would be too long", f"series_s = {step_s:g} s", found, wanted, hint)


def _recorded_to(record: str | Path | RecordTo, resolved: Resolved) -> str:
    """What the core is told of a recording that goes to a file."""
    from manetlab.recording import RecordTo

    to = record if isinstance(record, RecordTo) else RecordTo(Path(record))
    return to.to_core(
        resolved.movement.nodes,
        len(resolved.flows),
        lambda: {**provenance.of_code(), "scenario": resolved.to_dict(), "scenario_hash": resolved.hash},
    )


def _outputs(
    pcap: str | Path | Capture | None, ns2_trace: str | Path | Ns2Trace | None
) -> tuple[Capture | None, Ns2Trace | None]:
    """What is written of packets, of which the path may stand for the whole."""
    if pcap is None and ns2_trace is None:
        return None, None
    from manetlab.captures import as_capture, as_trace

    return as_capture(pcap), as_trace(ns2_trace)


def check_files(
    record: bool | str | Path | RecordTo,
    pcap: Capture | None,
    ns2_trace: Ns2Trace | None,
    inputs: Iterable[Path],
) -> list[Path]:
    """Checks the files that a run is to write, and returns them.

    Raises:
        InputError: One cannot be written, or takes the place of an input or of another one.
    """
    outputs = {
        "record": _recorded_at(record),
        "pcap": None if pcap is None else Path(pcap.path),
        "ns2_trace": None if ns2_trace is None else Path(ns2_trace.path),
    }
    check_outputs(outputs, inputs)
    return [path for path in outputs.values() if path is not None]


def _recorded_at(record: bool | str | Path | RecordTo) -> Path | None:
    """The file of a recording, if it goes to one."""
    if isinstance(record, bool):
        return None
    from manetlab.recording import RecordTo

    return Path(record.path if isinstance(record, RecordTo) else record)


def _written_to(
    places: Mapping[Path, Path],
    record: bool | str | Path | RecordTo,
    recording: str | None,
    capture: tuple[str, list[int] | None, bool, str] | None,
    trace: tuple[str, bool] | None,
) -> tuple[tuple[str, str] | None, tuple[str, list[int] | None, bool, str] | None, tuple[str, bool] | None]:
    """What the core is told of the files, with the places where they are until they are complete."""
    recorded = _recorded_at(record)
    return (
        None if recorded is None or recording is None else (str(places[recorded]), recording),
        None if capture is None else (str(places[Path(capture[0])]), *capture[1:]),
        None if trace is None else (str(places[Path(trace[0])]), trace[1]),
    )


def _with_names(flows: list[dict[str, Any]], labels: list[str] | None) -> list[dict[str, Any]]:
    """The flows with what the movement calls their ends."""
    if labels is None:
        return flows
    return [{**flow, "src_name": labels[flow["src"]], "dst_name": labels[flow["dst"]]} for flow in flows]


def _run(
    resolved: Resolved,
    record: bool | str | Path | RecordTo,
    series_s: float | None,
    pcap: Capture | None = None,
    ns2_trace: Ns2Trace | None = None,
) -> Result:
    if series_s is not None:
        _check_series_rows(resolved, series_s)
    files = check_files(record, pcap, ns2_trace, resolved.scenario.inputs)
    capture = None if pcap is None else pcap.for_core(resolved.movement.nodes)
    outputs = capture, None if ns2_trace is None else ns2_trace.for_core()
    started, started_cpu = time.perf_counter(), time.thread_time()
    make = None if resolved.protocol is None else resolved.protocol.make
    to_file = None if isinstance(record, bool) else _recorded_to(record, resolved)
    with completed(files) as places:
        to = _written_to(places, record, to_file, *outputs)
        text, recording, series = _core.run(
            resolved.core_json(), resolved.movement, record is True, series_s, make, to
        )
    wall_time_s, cpu_time_s = time.perf_counter() - started, time.thread_time() - started_cpu
    measured = json.loads(text)
    return Result(
        flows=_with_names(measured["flows"], resolved.movement.labels),
        totals=measured["totals"],
        drops=measured["drops"],
        losses=measured["losses"],
        delays=measured.get("delays", []),
        audit=measured["audit"],
        provenance={
            **provenance.of_code(),
            "scenario": resolved.to_dict(),
            "scenario_hash": resolved.hash,
            "seed": resolved.scenario.seed,
            "replication": resolved.scenario.replication,
            "profile": resolved.scenario.profile,
            **({} if resolved.selection is None else {"note": resolved.selection.note}),
            **({} if resolved.movement.labels is None else {"labels": resolved.movement.labels}),
            "result_hash": measured["result_hash"],
            "events": measured["events"],
            "arrivals": measured["arrivals"],
            "wall_time_s": round(wall_time_s, 6),
            "cpu_time_s": round(cpu_time_s, 6),
        },
        recording=recording,
        series=None if series is None else json.loads(series),
    )
