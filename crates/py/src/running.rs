//! Runs, without the interpreter's lock, and without panics that reach Python.

use std::any::Any;
use std::cell::Cell;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Arc;

use manetlab_core::kernel::{Span, Time};
use manetlab_core::observe::{Recorder, Recorders};
use manetlab_core::scenario::{self, RadioLink, RoutingMaker, Scenario};
use manetlab_core::simulation::{self, Options, RunError};
use manetlab_recording::lines::JsonLines;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::{RunFailed, of_told};
use crate::interrupts::Rest;
use crate::json;
use crate::movement::Movement;
use crate::out_file::Control;
use crate::outputs::{NotWritten, Ns2Trace, Outputs, Pcap};
use crate::recording::{Output, RecordTo};
use crate::routing::{Fault, Maker};
use crate::scenario_text;

thread_local! {
    /// Is this thread within a run?
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the message of a panic within a run from being printed: it goes into the Python error.
pub(crate) fn hold_back_panic_messages() {
    let print = take_hook();
    set_hook(Box::new(move |info| {
        if !RUNNING.get() {
            print(info);
        }
    }));
}

pub(crate) fn parse(scenario_json: &str, movement: &Movement, place: &str) -> PyResult<Scenario> {
    manetlab_resolver::checked(scenario_text::read(scenario_json), movement.trajectories(), place)
        .map_err(of_told)
}

/// Checks a scenario, which came from `place`, and returns it with every value written out.
#[pyfunction]
pub(crate) fn normalize(scenario_json: &str, movement: &Movement, place: &str) -> PyResult<String> {
    json(&parse(scenario_json, movement, place)?)
}

/// A row of [`radio_links`].
type LinkRow = (u32, u32, f64, f64, f64);

/// The links of a scenario at an instant: sender, receiver, distance in m, power in W without fading, and the
/// share of data frames that are decoded.
#[pyfunction]
pub(crate) fn radio_links(scenario_json: &str, movement: &Movement, at_s: f64) -> PyResult<Vec<LinkRow>> {
    let links = parse(scenario_json, movement, "scenario")?.radio_links(Time::from_secs(at_s));
    let row = |link: RadioLink| (link.from, link.to, link.distance_m, link.power_w, link.delivery);
    Ok(links.into_iter().map(row).collect())
}

/// The share of grey links among grey and good ones at an instant, see [`radio_links`]; None without any.
#[pyfunction]
pub(crate) fn grey_share(scenario_json: &str, movement: &Movement, at_s: f64) -> PyResult<Option<f64>> {
    let links = parse(scenario_json, movement, "scenario")?.radio_links(Time::from_secs(at_s));
    Ok(scenario::grey_share(&links))
}

/// Runs a scenario: the result as a JSON object; the recording as JSON lines if it is wanted; the time
/// series, with steps of `series_s`, as a JSON object of columns if they are wanted. The step is a nanosecond
/// or more. If the scenario's routing is `custom`, `protocol` makes each node's protocol, see [`Maker`].
/// `files` are what is written to files while the run goes on: a recording, see [`Output`], a capture, and a
/// trace of ns-2.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    scenario_json: &str,
    movement: &Movement,
    record: bool,
    series_s: Option<f64>,
    protocol: Option<Py<PyAny>>,
    files: (Option<RecordTo>, Option<Pcap>, Option<Ns2Trace>),
) -> PyResult<(String, Option<String>, Option<String>)> {
    let scenario = parse(scenario_json, movement, "scenario")?;
    let maker = protocol.map(Maker::new);
    let options = Options { record: false, series_step: series_s.map(Span::from_secs) };
    let (recording, pcap, ns2_trace) = files;
    let control = Arc::new(Control::default());
    let mut output =
        recording.map(|(path, spec)| py.detach(|| Output::open(path, &spec, &control))).transpose()?;
    let mut in_memory = record.then(|| JsonLines::new(Cursor::new(Vec::new())));
    let outcome = py.detach(|| {
        RUNNING.set(true);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut make = maker.as_ref().map(|maker| |place, stream| maker.make(place, stream));
            let make = make.as_mut().map(|make| make as &mut RoutingMaker<'_>);
            let mut outputs = Outputs::open(pcap, ns2_trace, &control)?;
            let mut all: Vec<&mut dyn Recorder> = outputs.recorders();
            all.extend(output.as_mut().map(Output::recorder));
            all.extend(in_memory.as_mut().map(|lines| lines as &mut dyn Recorder));
            let mut recorders = Recorders(all);
            let recorder = (!recorders.0.is_empty()).then_some(&mut recorders as &mut dyn Recorder);
            let mut rest = Rest::new();
            let mut go_on = || !(control.has_failed() || rest.is_over() && control.is_stopped());
            let outcome = simulation::run_recorded(&scenario, options, make, recorder, &mut go_on);
            if control.has_failed() || outcome.is_ok() {
                outputs.finish()?;
            }
            let outcome = outcome?;
            Ok((outcome.result, outcome.series))
        }));
        RUNNING.set(false);
        outcome.unwrap_or_else(|panic| {
            Err(match panic.downcast::<Fault>() {
                Ok(fault) => Ended::ByProtocol(fault),
                Err(panic) => Ended::Panicked(message(panic.as_ref())),
            })
        })
    });
    // First of all, since a disk that is full is why a run was stopped.
    let written = py.detach(|| output.map_or(Ok(()), Output::finish));
    if control.was_stopped() {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    written?;
    let (result, series) = outcome.map_err(|ended| {
        let found = match ended {
            Ended::Failed(RunError::Stopped(_)) => return PyKeyboardInterrupt::new_err(()),
            Ended::Failed(error) => error.to_string(),
            Ended::Panicked(message) => message,
            Ended::ByProtocol(fault) => return fault.into_error(py),
            Ended::NotWritten(not_written) => return not_written.into(),
        };
        let place = format!("seed {}, replication {}", scenario.seed, scenario.replication);
        let wanted = "a run whose books balance and whose invariants hold";
        RunFailed::new_err(("the simulator failed".to_owned(), place, found, wanted.to_owned()))
    })?;
    let lines = in_memory.map(|lines| lines.finish().map(|text| text.into_inner())).transpose()?;
    let recording = lines.map(|text| String::from_utf8_lossy(&text).into_owned());
    Ok((json(&result)?, recording, series.as_ref().map(json).transpose()?))
}

/// How a run ended without a result.
enum Ended {
    Failed(RunError),
    Panicked(String),
    ByProtocol(Box<Fault>),
    NotWritten(NotWritten),
}

impl From<NotWritten> for Ended {
    fn from(not_written: NotWritten) -> Ended {
        Ended::NotWritten(not_written)
    }
}

impl From<RunError> for Ended {
    fn from(error: RunError) -> Ended {
        Ended::Failed(error)
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
