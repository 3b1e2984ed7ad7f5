//! Runs of a scenario: to their end, while somebody wants them to go on, or driven from outside.
//!
//! A run is a function of the version, the scenario and its seed. What else can be asked of it ([`Options`],
//! a recorder, whether to go on) changes no result.

mod live;

use crate::network::Network;
use crate::observe::{Recorder, Recording};
use crate::scenario::{RoutingMaker, Scenario};

pub use crate::observe::{Options, Outcome, RunError, WORK_BETWEEN_QUESTIONS};
pub use live::Live;

/// Runs a scenario; `record` asks for the recording, which changes no result.
///
/// # Errors
/// When the scenario cannot be run, or the packet audit fails.
pub fn run(scenario: &Scenario, record: bool) -> Result<Outcome, RunError> {
    run_while(scenario, Options { record, ..Options::default() }, &mut || true)
}

/// Like [`run`] with more [`Options`], for as long as `go_on`, which is asked every
/// [`WORK_BETWEEN_QUESTIONS`] events and arrivals, says so. Asking changes no result.
///
/// # Errors
/// Those of [`run`], and [`RunError::Stopped`].
pub fn run_while(
    scenario: &Scenario,
    options: Options,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, RunError> {
    run_with(scenario, options, None, go_on)
}

/// Like [`run_while`], with the protocol that the caller brings along if the scenario's is
/// `custom`: `make` is asked for every node's, in order of their numbers.
///
/// # Errors
/// Those of [`run_while`].
pub fn run_with(
    scenario: &Scenario,
    options: Options,
    make: Option<&mut RoutingMaker<'_>>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, RunError> {
    if !options.record {
        return run_recorded(scenario, options, make, None, go_on);
    }
    let mut recording = Recording::default();
    let outcome = run_recorded(scenario, options, make, Some(&mut recording), go_on)?;
    Ok(Outcome { recording: Some(recording), ..outcome })
}

/// Like [`run_with`], with a recorder of the caller's that gets the events of the run while it goes on, in
/// place of the recording in memory. Recording changes no result.
///
/// # Errors
/// Those of [`run_with`].
pub fn run_recorded(
    scenario: &Scenario,
    options: Options,
    make: Option<&mut RoutingMaker<'_>>,
    recorder: Option<&mut dyn Recorder>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Outcome, RunError> {
    scenario.check()?;
    scenario.check_own_protocol(make.is_some())?;
    let make = make.map(|make| make as &mut RoutingMaker<'_>);
    let recorder = recorder.map(|recorder| recorder as &mut dyn Recorder);
    let mut network = Network::new(scenario, options, make, recorder);
    network.run_to_end(go_on)?;
    let paths = scenario.paths_of_flows(go_on).ok_or(RunError::Stopped(scenario.duration_s))?;
    network.into_outcome(scenario, &paths)
}
