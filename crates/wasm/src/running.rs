//! One run: from a request to its answer.

use manetlab_core::kernel::Time;
use manetlab_core::observe::{Event, Recorder, Recorders};
use manetlab_core::scenario::Scenario;
use manetlab_core::simulation::{Options, run_recorded};
use manetlab_core::wire::NodeId;
use manetlab_formats::{Limits, read_movement};
use manetlab_recording::{Filter, Writer};
use serde::Deserialize;
use serde_json::Value;

use crate::beside::Beside;
use crate::changes::{Moved, displace, merge};
use crate::refused::Refused;

/// How often progress is told: after this part of the run.
const STEP: f64 = 0.01;

/// What is to be run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// The scenario as the Python binding takes it, without its movement.
    scenario: Value,
    /// The movement as a file of ns-2.
    movement: String,
    /// For each node what that cannot say.
    #[serde(default)]
    beside: Option<Vec<Beside>>,
    /// Changes of the scenario, made in this order.
    #[serde(default)]
    changes: Vec<Value>,
    /// Nodes that are put somewhere else.
    #[serde(default)]
    moved: Vec<Moved>,
    /// Is the run to be recorded?
    #[serde(default)]
    record: bool,
}

/// What a run gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The result as a JSON object: what Python's `run` gets from the core.
    pub result: String,
    /// The recording as the bytes of a file; empty if none was asked for.
    pub recording: Vec<u8>,
}

/// Carries out a request; `progress` is told from time to time which part of a recorded run is over.
///
/// # Errors
/// The request is unusable, or the simulator found itself in the wrong.
pub fn run(request: &str, progress: &mut dyn FnMut(f64)) -> Result<Answer, Refused> {
    let refused = |error: &dyn std::error::Error| Refused(error.to_string());
    let request: Request = serde_json::from_str(request).map_err(|error| refused(&error))?;
    let record = request.record;
    let scenario = scenario(request)?;
    let mut writer = record.then(|| Writer::new(Vec::new(), Filter::default(), Value::Null));
    let mut teller = Teller { progress, duration_s: scenario.duration_s, told: 0.0 };
    let mut recorders = Recorders(Vec::new());
    if let Some(writer) = &mut writer {
        recorders.0 = vec![writer, &mut teller];
    }
    let recorder = record.then_some(&mut recorders as &mut dyn Recorder);
    let outcome = run_recorded(&scenario, Options::default(), None, recorder, &mut || true);
    let result = serde_json::to_string(&outcome.map_err(|error| refused(&error))?.result);
    let recording = writer.map(Writer::finish).transpose().map_err(|error| refused(&error))?;
    Ok(Answer { result: result.map_err(|error| refused(&error))?, recording: recording.unwrap_or_default() })
}

fn scenario(request: Request) -> Result<Scenario, Refused> {
    let Request { scenario: mut changed, movement, beside, changes, moved, .. } = request;
    for change in changes {
        merge(&mut changed, change)?;
    }
    let mut scenario: Scenario =
        serde_json::from_value(changed).map_err(|error| Refused(format!("scenario: {error}")))?;
    let read = read_movement(movement.as_bytes(), "movement", &Limits::of_own_text());
    scenario.movement = read.map_err(|error| Refused(error.to_string()))?.trajectories;
    for (node, beside) in scenario.movement.iter_mut().zip(beside.into_iter().flatten()) {
        beside.add_to(node);
    }
    for each in moved {
        displace(&mut scenario.movement, each)?;
    }
    Ok(scenario)
}

/// Tells how far the run is.
struct Teller<'a> {
    progress: &'a mut dyn FnMut(f64),
    duration_s: f64,
    told: f64,
}

impl Recorder for Teller<'_> {
    fn record(&mut self, time: Time, _: NodeId, _: &Event<'_>) {
        let part = time.as_secs() / self.duration_s;
        if part >= self.told + STEP {
            self.told = part;
            (self.progress)(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use manetlab_core::mobility::Trajectory;
    use manetlab_core::simulation;
    use manetlab_recording::Reader;
    use serde_json::json;

    use super::*;

    const MOVEMENT: &str = "$node_(0) set X_ 0.0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 0.0\n\
                            $node_(1) set X_ 200.0\n$node_(1) set Y_ 0.0\n$node_(1) set Z_ 0.0\n\
                            $node_(2) set X_ 400.0\n$node_(2) set Y_ 0.0\n$node_(2) set Z_ 0.0\n";

    fn core() -> Value {
        let flow =
            json!({"kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 512, "interval_s": 0.1});
        let params = serde_json::to_value(manetlab_core::profile::profile("ns-2.35")).expect("a profile");
        json!({"duration_s": 5.0, "warmup_s": 0.0, "seed": u64::MAX, "routing": "aodv", "params": params,
            "flows": [flow]})
    }

    fn hash(answer: &Answer) -> String {
        let result: Value = serde_json::from_str(&answer.result).expect("JSON");
        result["result_hash"].as_str().expect("a hash").to_owned()
    }

    fn answer(request: &Value) -> Answer {
        run(&request.to_string(), &mut |_| {}).expect("a usable request")
    }

    /// What the core itself makes of the scenario, after `change`.
    fn expected(change: impl FnOnce(&mut Scenario)) -> String {
        let mut scenario: Scenario = serde_json::from_value(core()).expect("a scenario");
        scenario.movement = [0.0, 200.0, 400.0].map(|x| Trajectory::fixed(x, 0.0)).to_vec();
        change(&mut scenario);
        simulation::run(&scenario, false).expect("a usable scenario").result.result_hash
    }

    #[test]
    fn a_request_is_run_as_the_core_runs_its_scenario() {
        let request = json!({"scenario": core(), "movement": MOVEMENT});
        let found = answer(&request);
        assert_eq!(hash(&found), expected(|_| {}));
        assert!(found.recording.is_empty());
    }

    /// A page's movement was checked where the page was made: a desk with three radios is none in degrees.
    #[test]
    fn a_network_of_some_metres_is_run() {
        let movement = MOVEMENT.replace("200.0", "1.0").replace("400.0", "1.5");
        let found = answer(&json!({"scenario": core(), "movement": movement}));
        let wanted = expected(|scenario| {
            scenario.movement = [0.0, 1.0, 1.5].map(|x| Trajectory::fixed(x, 0.0)).to_vec();
        });
        assert_eq!(hash(&found), wanted);
    }

    #[test]
    fn changes_and_moved_nodes_are_those_of_another_scenario() {
        let request = json!({"scenario": core(), "movement": MOVEMENT, "moved": [[1, 10.0, 20.0]],
            "changes": [{"routing": "dsr", "seed": 3}, {"params": {"queue": {"packets": 5}}}]});
        let wanted = expected(|scenario| {
            scenario.routing = manetlab_core::scenario::RoutingKind::Dsr;
            scenario.seed = 3;
            scenario.params.queue.packets = 5;
            scenario.movement[1] = Trajectory::fixed(210.0, 20.0);
        });
        assert_eq!(hash(&answer(&request)), wanted);
        assert_ne!(wanted, expected(|_| {}));
    }

    #[test]
    fn a_recording_is_whole_and_changes_no_result_and_progress_only_grows() {
        let request = json!({"scenario": core(), "movement": MOVEMENT, "record": true});
        let mut told = Vec::new();
        let found = run(&request.to_string(), &mut |part| told.push(part)).expect("a usable request");
        assert_eq!(hash(&found), expected(|_| {}));
        let reader = Reader::open(Cursor::new(found.recording)).expect("a recording");
        assert!(reader.is_complete() && !reader.blocks().is_empty());
        assert!(told.len() > 10 && told.is_sorted() && told.iter().all(|part| (0.0..=1.0).contains(part)));
    }

    #[test]
    fn what_cannot_be_run_is_refused_in_words() {
        let refused = |request: Value| run(&request.to_string(), &mut |_| {}).expect_err("unusable").0;
        let with = |change: Value| json!({"scenario": core(), "movement": MOVEMENT, "changes": [change]});
        assert!(refused(json!({"scenario": core()})).contains("missing field `movement`"));
        assert!(refused(with(json!({"routing": "ospf"}))).starts_with("scenario: unknown variant `ospf`"));
        assert!(refused(with(json!({"warmup_s": 5.0}))).contains("warmup_s: found 5"));
        assert!(refused(with(json!({"params": {"mac": {"cw": 1}}}))).contains("unknown field `cw`"));
        assert!(refused(with(json!({"routing": "custom"}))).contains("routing: found custom"));
        let nowhere = json!({"scenario": core(), "movement": "$node_(0) jump", "changes": []});
        assert!(refused(nowhere).contains("movement:1"));
    }
}
