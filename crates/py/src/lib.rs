//! The Python binding of manetlab's core: Python types stop here.
//!
//! Values cross as JSON text, movement as an opaque [`Movement`](movement::Movement). Errors are those of
//! `manetlab.errors`, so that a Python user meets one shape of error wherever it was found. The stub is
//! `python/manetlab/_core.pyi`.

#[cfg(target_os = "linux")]
mod emulation;
mod errors;
mod interrupts;
mod movement;
mod out_file;
mod outputs;
mod recording;
mod routing;
mod running;
mod scenario_text;
mod stored_runs;
mod topology;
mod tracks;
mod traffic;

use manetlab_core::kernel::MAX_TIME_S;
use manetlab_core::mobility::Model;
use manetlab_core::observe;
use manetlab_core::profile as of_core;
use manetlab_core::radio::{Propagation, RadioParams, Surroundings};
use manetlab_core::scenario::{self, Flow, FlowKind, Params, RoutingKind};
use manetlab_core::transport::tcp::{SENDER_NAMES, SENDERS, TcpParams};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn no_such(name: &str) -> PyErr {
    PyKeyError::new_err(name.to_owned())
}

/// All parameters of the simulator: a JSON list of objects.
#[pyfunction]
fn schema() -> PyResult<String> {
    json(&Params::schema())
}

/// The names of all sections of parameters, in order.
#[pyfunction]
fn sections() -> Vec<&'static str> {
    Params::sections()
}

/// SHA-256 as 64 hexadecimal digits.
#[pyfunction]
fn sha256(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The fields of flows: a JSON list of those of every flow, and a JSON list of kinds with their own.
#[pyfunction]
fn flow_schema() -> PyResult<(String, String)> {
    Ok((json(&Flow::SCHEMA)?, json(&FlowKind::SCHEMA)?))
}

/// What is said of each measure: a JSON object with a list of those of runs, `totals`, and of `flows`.
#[pyfunction]
fn measures() -> PyResult<String> {
    json(&observe::measures::MeasureTable::new())
}

/// The parameters of all movement models, whose names are the sections: a JSON list of objects.
#[pyfunction]
fn movement_schema() -> PyResult<String> {
    json(&Model::schema().collect::<Vec<_>>())
}

/// The defaults of all movement models by name: a JSON object.
#[pyfunction]
fn movement_defaults() -> PyResult<String> {
    let defaults = Model::defaults().map_err(|error| PyValueError::new_err(error.to_string()))?;
    json(&defaults)
}

/// The names of the profiles.
#[pyfunction]
fn profiles() -> Vec<&'static str> {
    of_core::PROFILES.to_vec()
}

/// A profile's parameters: a JSON object of sections.
#[pyfunction]
fn profile(name: &str) -> PyResult<String> {
    json(&of_core::profile(name).ok_or_else(|| no_such(name))?)
}

/// The names of the routing protocols.
#[pyfunction]
fn routings() -> Vec<&'static str> {
    RoutingKind::NAMES.to_vec()
}

/// What a routing protocol is, in a line.
#[pyfunction]
fn routing_meaning(name: &str) -> PyResult<&'static str> {
    Ok(routing_kind(name)?.meaning())
}

/// What a profile is, in a line.
#[pyfunction]
fn profile_meaning(name: &str) -> PyResult<&'static str> {
    of_core::meaning(name).ok_or_else(|| no_such(name))
}

/// The names of a routing protocol's parameter sets.
#[pyfunction]
fn routing_sets(protocol: &str) -> PyResult<Vec<&'static str>> {
    Ok(Params::routing_sets(routing_kind(protocol)?).to_vec())
}

/// A parameter set of a routing protocol: a JSON object, the section of the protocol's name.
#[pyfunction]
fn routing_set(protocol: &str, name: &str) -> PyResult<String> {
    let set = Params::default().with_routing_set(routing_kind(protocol)?, name);
    let sections = serde_json::to_value(set.ok_or_else(|| no_such(name))?);
    json(&sections.map_err(|error| PyValueError::new_err(error.to_string()))?[protocol])
}

fn routing_kind(name: &str) -> PyResult<RoutingKind> {
    RoutingKind::deserialize(StrDeserializer::<ValueError>::new(name)).map_err(|_| no_such(name))
}

/// The names of the TCP senders.
#[pyfunction]
fn tcp_senders() -> Vec<&'static str> {
    SENDER_NAMES.to_vec()
}

/// The names of the parameters of section `tcp` that a sender sets.
#[pyfunction]
fn tcp_sender_sets(name: &str) -> PyResult<Vec<&'static str>> {
    let sender = SENDERS.iter().find(|sender| sender.name == name).ok_or_else(|| no_such(name))?;
    Ok(sender.sets().collect())
}

/// The section `tcp`, a JSON object, changed to the named sender.
#[pyfunction]
fn apply_tcp_sender(name: &str, tcp_json: &str) -> PyResult<String> {
    let mut tcp: TcpParams =
        serde_json::from_str(tcp_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    if !tcp.apply_sender(name) {
        return Err(no_such(name));
    }
    json(&tcp)
}

/// How far unicast data frames, the frames that reach farthest, and carrier sense reach, in m, under the
/// parameters `params_json`.
#[pyfunction]
fn radio_ranges(params_json: &str) -> PyResult<(f64, f64, f64)> {
    let params: Params =
        serde_json::from_str(params_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let model = Propagation::new(&params.radio);
    Ok((params.link_range_m(), model.farthest_range_m(), model.sense_range_m()))
}

/// The distance in m up to which any frame can be received with the greatest gain by shadowing and fading,
/// under the section `radio` as `radio_json`.
#[pyfunction]
fn farthest_link_m(radio_json: &str) -> PyResult<f64> {
    let radio: RadioParams =
        serde_json::from_str(radio_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(radio.farthest_link_m(&Surroundings::default()))
}

/// The simulator's modules, each with the digest of its source: see `build.rs`.
#[pyfunction]
fn modules() -> Vec<(&'static str, &'static str)> {
    MODULES.to_vec()
}

/// Name and digest of each module, in order of names.
const MODULES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// The compiled part of manetlab; see the package's Python modules for what users call.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    running::hold_back_panic_messages();
    module.add("INTERFACE", include_str!(concat!(env!("OUT_DIR"), "/interface.txt")))?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("MAX_NODES", movement::MAX_NODES)?;
    module.add("MAX_TIME_S", MAX_TIME_S)?;
    module.add("GREY", scenario::GREY)?;
    module.add("HASH_FORM", observe::FORM)?;
    module.add("RECORDED_KINDS", recording::kinds())?;
    module.add_class::<movement::Movement>()?;
    module.add_class::<tracks::Tracks>()?;
    module.add_class::<routing::Node>()?;
    module.add_class::<routing::Packet>()?;
    module.add_class::<routing::Random>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<stored_runs::StoredRuns>()?;
    #[cfg(target_os = "linux")]
    {
        module.add_function(wrap_pyfunction!(emulation::enter_emulation, module)?)?;
        module.add_function(wrap_pyfunction!(emulation::emulate, module)?)?;
    }
    module.add_function(wrap_pyfunction!(modules, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(sections, module)?)?;
    module.add_function(wrap_pyfunction!(sha256, module)?)?;
    module.add_function(wrap_pyfunction!(flow_schema, module)?)?;
    module.add_function(wrap_pyfunction!(measures, module)?)?;
    module.add_function(wrap_pyfunction!(movement_schema, module)?)?;
    module.add_function(wrap_pyfunction!(movement_defaults, module)?)?;
    module.add_function(wrap_pyfunction!(profiles, module)?)?;
    module.add_function(wrap_pyfunction!(profile, module)?)?;
    module.add_function(wrap_pyfunction!(routings, module)?)?;
    module.add_function(wrap_pyfunction!(routing_meaning, module)?)?;
    module.add_function(wrap_pyfunction!(profile_meaning, module)?)?;
    module.add_function(wrap_pyfunction!(routing_sets, module)?)?;
    module.add_function(wrap_pyfunction!(routing_set, module)?)?;
    module.add_function(wrap_pyfunction!(tcp_senders, module)?)?;
    module.add_function(wrap_pyfunction!(tcp_sender_sets, module)?)?;
    module.add_function(wrap_pyfunction!(apply_tcp_sender, module)?)?;
    module.add_function(wrap_pyfunction!(radio_ranges, module)?)?;
    module.add_function(wrap_pyfunction!(farthest_link_m, module)?)?;
    module.add_function(wrap_pyfunction!(tracks::read_script, module)?)?;
    module.add_function(wrap_pyfunction!(tracks::track_columns, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::read_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::write_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::traffic_draws, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::codecs, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::video_frames, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::web_schema, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::web_defaults, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::draw_web_sessions, module)?)?;
    module.add_function(wrap_pyfunction!(movement::plane_of, module)?)?;
    module.add_function(wrap_pyfunction!(running::normalize, module)?)?;
    module.add_function(wrap_pyfunction!(running::radio_links, module)?)?;
    module.add_function(wrap_pyfunction!(running::grey_share, module)?)?;
    module.add_function(wrap_pyfunction!(running::run, module)?)?;
    module.add_function(wrap_pyfunction!(interrupts::stop, module)?)?;
    module.add_function(wrap_pyfunction!(stored_runs::first_unsound, module)?)?;
    module.add_function(wrap_pyfunction!(stored_runs::csv_rows, module)?)?;
    module.add_function(wrap_pyfunction!(stored_runs::digest_of, module)?)?;
    module.add_function(wrap_pyfunction!(topology::topology, module)?)?;
    module.add_function(wrap_pyfunction!(topology::linked_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(topology::shortest_hops, module)?)?;
    module.add_function(wrap_pyfunction!(topology::shortest_paths, module)?)?;
    module.add_function(wrap_pyfunction!(topology::path_hops, module)?)?;
    module.add_function(wrap_pyfunction!(topology::reach, module)?)?;
    module.add_function(wrap_pyfunction!(topology::search_drawn, module)?)?;
    module.add_function(wrap_pyfunction!(topology::search_movement, module)?)?;
    Ok(())
}
