//! The bare engine, for the benches: runs a scenario again and again in one thread, without Python.
//!
//! `engine MOVEMENT SCENARIO.json RUNS [FIRST_SEED]`: the movement as an ns-2 file, the rest of the scenario
//! as the binding takes it (`Resolved.core_json()` in Python), and how many runs, each with the next seed.
//! Reading the files is not part of what is timed. Prints a JSON object: the wall time of all runs in s, and
//! the last run's work and hash.

use std::time::Instant;

use manetlab_core::network;
use manetlab_core::scenario::Scenario;
use manetlab_formats::{Limits, read_movement};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [movement, scenario, runs, rest @ ..] = words.as_slice() else {
        return Err("usage: engine MOVEMENT SCENARIO.json RUNS [FIRST_SEED]".into());
    };
    let mut scenario: Scenario = serde_json::from_str(&std::fs::read_to_string(scenario)?)?;
    scenario.movement = read_movement(&std::fs::read(movement)?, movement, &Limits::default())?.trajectories;
    if let [seed] = rest {
        scenario.seed = seed.parse()?;
    }
    let mut last = None;
    #[expect(clippy::disallowed_methods, reason = "a bench reads the clock; the runs do not")]
    let started = Instant::now();
    for _ in 0..runs.parse::<u32>()? {
        last = Some(network::run(&scenario, false)?.result);
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
