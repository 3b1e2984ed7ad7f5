//! What a run is asked to keep, and how it ends: with an outcome, or for a reason without one.

use super::{Recording, RunResult, Series, Unbalanced};
use crate::kernel::Span;
use crate::scenario::ScenarioError;

/// What a run returns.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The measures.
    pub result: RunResult,
    /// The recording, if it was asked for.
    pub recording: Option<Recording>,
    /// The time series, if they were asked for.
    pub series: Option<Series>,
}

/// Events and arrivals of frames after which a run asks whether to go on: a tenth of a millisecond, or some
/// hundredths of a second where a routing protocol computes much at each. Where hundreds of nodes hear each
/// other an event is hundreds of arrivals, and events alone would say little.
pub const WORK_BETWEEN_QUESTIONS: u64 = 1 << 10;

/// What a run keeps besides its result, none of which changes the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Keep the recording.
    pub record: bool,
    /// Keep time series with steps of this length, which is not zero.
    pub series_step: Option<Span>,
}

/// Why a run ended without a result.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The packet audit failed: a defect of the simulator.
    #[error("the packet audit does not balance: {0}")]
    Unbalanced(#[from] Unbalanced),
    /// An invariant does not hold: a defect of the simulator.
    #[error("at {at_s} s, node {node}: {what}")]
    Broken {
        /// What is the case and must not be.
        what: &'static str,
        /// The node; of a flow, its source.
        node: u32,
        /// The time of the run, s.
        at_s: f64,
    },
    /// A layer asked to be woken at an instant that has passed: a defect of the simulator, or of a protocol
    /// that the caller brought along.
    #[error("time would run backwards: at {now_s} s, {owner} has a deadline at {deadline_s} s")]
    Backwards {
        /// Whose deadline it is.
        owner: String,
        /// The deadline, s.
        deadline_s: f64,
        /// The time of the run, s.
        now_s: f64,
    },
    /// The caller of `run_while` wanted no more.
    #[error("stopped after {0} s of simulated time")]
    Stopped(f64),
}
