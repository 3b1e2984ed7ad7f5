//! The bare engine, for the benches: runs a scenario again and again in one thread, without Python.
//!
//! `engine MOVEMENT SCENARIO.json RUNS [FIRST_SEED [RECORDING]]`: the movement as an ns-2 file, the rest of
//! the scenario as the binding takes it (`Resolved.core_json()` in Python), how many runs, each with the
//! next seed, and the file that each is recorded to, if any. Reading the files is not part of what is timed.
//! Prints a JSON object: the wall time of all runs in s, and the last run's work and hash.

use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use manetlab_core::observe::{Options, Outcome};
use manetlab_core::scenario::Scenario;
use manetlab_core::simulation;
use manetlab_formats::{Limits, read_movement};
use manetlab_recording::{Filter, Writer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [movement, scenario, runs, rest @ ..] = words.as_slice() else {
        return Err("usage: engine MOVEMENT SCENARIO.json RUNS [FIRST_SEED]".into());
    };
    let mut scenario: Scenario = serde_json::from_str(&std::fs::read_to_string(scenario)?)?;
    scenario.movement = read_movement(&std::fs::read(movement)?, movement, &Limits::default())?.trajectories;
    if let [seed, ..] = rest {
        scenario.seed = seed.parse()?;
    }
    let mut last = None;
    #[expect(clippy::disallowed_methods, reason = "a bench reads the clock; the runs do not")]
    let started = Instant::now();
    for _ in 0..runs.parse::<u32>()? {
        let outcome = match rest.get(1) {
            None => simulation::run(&scenario, false)?,
            Some(path) => recorded(&scenario, path)?,
        };
        last = Some(outcome.result);
        scenario.seed += 1;
    }
    let wall_time_s = started.elapsed().as_secs_f64();
    let Some(last) = last else { return Err("no run was asked for".into()) };
    let (events, arrivals, hash) = (last.events, last.arrivals, &last.result_hash);
    let frames_per_s = last.totals.mac_frames_per_s;
    println!(
        r#"{{"wall_time_s": {wall_time_s}, "events": {events}, "arrivals": {arrivals}, "frames_per_s": {frames_per_s}, "hash": "{hash}"}}"#
    );
    Ok(())
}

/// Runs the scenario and records it.
fn recorded(scenario: &Scenario, path: &str) -> Result<Outcome, Box<dyn std::error::Error>> {
    let file = BufWriter::new(File::create(path)?);
    let mut writer = Writer::new(file, Filter::default(), serde_json::Value::Null);
    let options = Options::default();
    let outcome = simulation::run_recorded(scenario, options, None, Some(&mut writer), &mut || true)?;
    writer.finish()?;
    Ok(outcome)
}
