//! This build measures what the golden results say, which a release build made: debug and release agree.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

use std::path::Path;

use manetlab_core::profile::profile;
use manetlab_core::scenario::Scenario;
use manetlab_core::simulation;
use manetlab_formats::{Limits, read_movement};
use serde_json::Value;

fn text(path: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A golden scenario with all of its profile's parameters, of which it holds those that differ.
fn with_all_parameters(golden: &Value) -> Value {
    let profile = profile(golden["profile"].as_str().expect("a name")).expect("a profile");
    let mut params = serde_json::to_value(profile).expect("parameters have a form in JSON");
    for (section, changes) in golden["params"].as_object().expect("sections") {
        for (name, value) in changes.as_object().expect("values") {
            params[section][name] = value.clone();
        }
    }
    let mut resolved = golden.clone();
    let fields = resolved.as_object_mut().expect("a scenario is an object");
    fields.remove("movement");
    fields.remove("profile");
    fields.insert("params".to_owned(), params);
    resolved
}

fn result_hash_is_golden(name: &str, movement: &str, record: bool) {
    let golden: Value =
        serde_json::from_slice(&text(&format!("golden/{name}.json"))).expect("golden results are JSON");
    let mut scenario: Scenario =
        serde_json::from_value(with_all_parameters(&golden["scenario"])).expect("a resolved scenario");
    scenario.movement =
        read_movement(&text(movement), movement, &Limits::default()).expect("a movement file").trajectories;
    let outcome = simulation::run(&scenario, record).expect("the scenario runs");
    assert_eq!(golden["result_hash"], outcome.result.result_hash.as_str(), "{name}");
}

#[test]
fn a_chain_gives_the_release_builds_result() {
    result_hash_is_golden("chain3-tcp", "validation/ns2/chain3.tcl", false);
}

#[test]
fn moving_nodes_give_the_release_builds_result() {
    result_hash_is_golden("mobile-10tcp", "validation/ns2/p01.mov", false);
}

#[test]
fn the_recording_changes_nothing() {
    result_hash_is_golden("chain3-tcp", "validation/ns2/chain3.tcl", true);
}
