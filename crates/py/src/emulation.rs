//! Emulations: a scenario's channel in real time between programs in network namespaces. Linux only.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use manetlab_core::kernel::Time;
use manetlab_core::observe::{Recorder, Recorders};
use manetlab_core::scenario::Scenario;
use manetlab_core::wire::NodeId;
use manetlab_emulate::driver::{self, EmulateError, Report};
use manetlab_emulate::namespace::{self, Home, NamespaceError, NodeSpace};
use manetlab_emulate::programs::{Program, Programs, StartError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{RunFailed, input_error};
use crate::interrupts::interrupted;
use crate::json;
use crate::movement::Movement;
use crate::out_file::Control;
use crate::outputs::{Outputs, Pcap};
use crate::running::parse;

/// Enters the namespaces of an emulation: the next child of this process is the first there. This process
/// must have one thread, and ends with its parent.
#[pyfunction]
pub(crate) fn enter_emulation() -> PyResult<()> {
    namespace::enter().map_err(|error| forbidden(&error))
}

/// An emulation that is over.
#[derive(Serialize)]
struct Emulation {
    #[serde(flatten)]
    report: Report,
    /// When it began, in s of the time of day.
    began_at_s: f64,
    /// Did Ctrl-C end it?
    interrupted: bool,
    programs: Vec<Program>,
}

/// Emulates a scenario whose routing is `custom`, with a command for each node, whose output goes to files
/// in `logs`: the report as a JSON object. This process is the child that [`enter_emulation`] speaks of.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it has made")]
pub(crate) fn emulate(
    py: Python<'_>,
    scenario_json: &str,
    movement: &Movement,
    commands: Vec<Vec<String>>,
    logs: Option<PathBuf>,
    pcap: Option<Pcap>,
) -> PyResult<String> {
    let scenario = parse(scenario_json, movement, "scenario")?;
    py.detach(|| emulate_in_namespaces(&scenario, commands, logs.as_deref(), pcap))
        .and_then(|emulation| json(&emulation))
}

#[expect(clippy::disallowed_methods, reason = "what programs write down has the time of day")]
fn emulate_in_namespaces(
    scenario: &Scenario,
    commands: Vec<Vec<String>>,
    logs: Option<&Path>,
    pcap: Option<Pcap>,
) -> PyResult<Emulation> {
    namespace::end_with_parent().map_err(|error| forbidden(&error))?;
    namespace::wake_precisely().map_err(|error| forbidden(&error))?;
    let control = Arc::new(Control::default());
    let mut outputs = Outputs::open(pcap, None, &control)?;
    let home = Home::here().map_err(|error| forbidden(&error))?;
    let nodes = (0..scenario.movement.len() as u32).map(|node| NodeSpace::new(NodeId(node), &home));
    let nodes = nodes.collect::<Result<Vec<_>, _>>().map_err(|error| forbidden(&error))?;
    let mut programs = Programs::start(&nodes, commands, &home, logs).map_err(|error| not_started(&error))?;
    let began_at_s =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let mut recorders = Recorders(outputs.recorders());
    let recorder = Some(&mut recorders as &mut dyn Recorder);
    let mut is_interrupted = false;
    let mut go_on = |now: Time| {
        // Asked first: Ctrl-C ends the programs as well.
        is_interrupted |= interrupted();
        !is_interrupted && programs.look(now) && !control.has_failed()
    };
    let report = driver::emulate(scenario, &nodes, recorder, &mut go_on);
    let programs = programs.end();
    // All programs may have ended of it before it was asked for.
    is_interrupted |= interrupted();
    outputs.finish()?;
    let report = report.map_err(|error| failed(scenario, &error))?;
    Ok(Emulation { report, began_at_s, interrupted: is_interrupted, programs })
}

fn forbidden(error: &NamespaceError) -> PyErr {
    let wanted = "a kernel that lets users make user namespaces and TAP devices (/dev/net/tun), or root";
    let hint = "in a container: --cap-add NET_ADMIN --cap-add SYS_ADMIN --device /dev/net/tun";
    let what = "network namespaces are forbidden here, and an emulation needs one for each node";
    input_error(what, "emulate", &error.to_string(), wanted, hint)
}

fn not_started(error: &StartError) -> PyErr {
    let (what, place) = match error {
        StartError::Namespace(error) => return forbidden(error),
        StartError::Program(name, _) => ("the program cannot be started", format!("command {name:?}")),
        StartError::Log(path, _) => ("the output cannot be written", path.display().to_string()),
    };
    let (wanted, hint) = match error {
        StartError::Log(..) => ("a file that can be written", "choose another folder for --logs"),
        _ => ("a program that is installed", "give its path, or install its package"),
    };
    input_error(what, &place, &error.to_string(), wanted, hint)
}

fn failed(scenario: &Scenario, error: &EmulateError) -> PyErr {
    let place = format!("seed {}, replication {}", scenario.seed, scenario.replication);
    let wanted = "a run whose books balance and whose invariants hold".to_owned();
    RunFailed::new_err(("the emulation failed".to_owned(), place, error.to_string(), wanted))
}
