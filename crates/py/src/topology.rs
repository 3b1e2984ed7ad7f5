//! The topology that a movement makes, looked at without the interpreter's lock.

use manetlab_core::kernel::{Span, Time};
use manetlab_core::mobility::Path;
use manetlab_core::radio::{Propagation, RadioParams};
use manetlab_core::routing::{RouteTable, shortest_hops as routes_of_fewest_hops};
use manetlab_core::scenario::Scenario;
use manetlab_core::topology::{PathMeasures, Query, analyse, hop_times, hops_over_time};
use manetlab_core::wire::NodeId;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::json;
use crate::movement::Movement;
use crate::running::{interrupted, parse};

/// A topology with the range that it was found for.
#[derive(Serialize)]
struct Found {
    range_m: f64,
    #[serde(flatten)]
    topology: manetlab_core::topology::Topology,
}

fn range_m(scenario: &Scenario) -> f64 {
    Propagation::new(&scenario.params.radio).receive_range_m()
}

/// The topology from the end of the warm-up to the end of the run, looked at every `step_s`: a JSON object.
/// The pairs of nodes looked at by themselves are those of the flows.
#[pyfunction]
pub(crate) fn topology(
    py: Python<'_>,
    scenario_json: &str,
    movement: &Movement,
    step_s: f64,
) -> PyResult<String> {
    let scenario = parse(scenario_json, movement, "scenario")?;
    let pairs: Vec<(u32, u32)> = scenario.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
    let range_m = range_m(&scenario);
    let query = Query {
        movement: &scenario.movement,
        range_m,
        window: (Time::from_secs(scenario.warmup_s), Time::from_secs(scenario.duration_s)),
        step: Span::from_secs(step_s),
        pairs: &pairs,
    };
    let found = py.detach(|| analyse(&query, &mut || !interrupted()));
    let topology = found.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
    json(&Found { range_m, topology })
}

/// The hops of each pair's shortest path at every `step_s` from the start of the run on; None where there is
/// no path.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
pub(crate) fn shortest_hops(
    py: Python<'_>,
    scenario_json: &str,
    movement: &Movement,
    pairs: Vec<(u32, u32)>,
    step_s: f64,
) -> PyResult<Vec<Vec<Option<u32>>>> {
    let scenario = parse(scenario_json, movement, "scenario")?;
    let query = Query {
        movement: &scenario.movement,
        range_m: range_m(&scenario),
        window: (Time::ZERO, Time::from_secs(scenario.duration_s)),
        step: Span::from_secs(step_s),
        pairs: &pairs,
    };
    py.detach(|| hops_over_time(&query, &mut || !interrupted()))
        .ok_or_else(|| PyKeyboardInterrupt::new_err(()))
}

/// For each pair of nodes those of a shortest path between them at a time, both ends included: the path that
/// static routes take. None where there is no path. A link is a distance that the radio, `radio_json`, can
/// receive over.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
pub(crate) fn shortest_paths(
    py: Python<'_>,
    radio_json: &str,
    movement: &Movement,
    pairs: Vec<(u32, u32)>,
    time_s: f64,
) -> PyResult<Vec<Option<Vec<u32>>>> {
    let radio: RadioParams =
        serde_json::from_str(radio_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(py.detach(|| {
        let now = Time::from_secs(time_s);
        let place = |trajectory| Path::new(trajectory).position(now);
        let places: Vec<_> = movement.trajectories().iter().map(place).collect();
        let ends: Vec<NodeId> = pairs.iter().map(|&(_, dst)| NodeId(dst)).collect();
        let routes = routes_of_fewest_hops(&places, Propagation::new(&radio).receive_range_m(), &ends);
        pairs.iter().map(|&(src, dst)| path(&routes, NodeId(src), NodeId(dst))).collect()
    }))
}

/// The nodes of the way from `src` to `dst`, both included.
fn path(routes: &RouteTable, src: NodeId, dst: NodeId) -> Option<Vec<u32>> {
    let mut nodes = vec![src.0];
    let mut at = src;
    while at != dst {
        at = routes.next_hop(at, dst)?;
        nodes.push(at.0);
    }
    Some(nodes)
}

/// The shortest path of a pair over the window.
#[derive(Serialize)]
struct PathFound {
    /// The numbers of hops, each with the share of the time that it had so many.
    shares: Vec<(u32, f64)>,
    #[serde(flatten)]
    measures: PathMeasures,
}

/// Over how many hops the shortest path of each pair went from the end of the warm-up to the end of the run,
/// and for how long: a JSON list of objects.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
pub(crate) fn path_hops(
    py: Python<'_>,
    scenario_json: &str,
    movement: &Movement,
    pairs: Vec<(u32, u32)>,
) -> PyResult<String> {
    let scenario = parse(scenario_json, movement, "scenario")?;
    let query = Query {
        movement: &scenario.movement,
        range_m: range_m(&scenario),
        window: (Time::from_secs(scenario.warmup_s), Time::from_secs(scenario.duration_s)),
        step: Span::from_secs(1.0),
        pairs: &pairs,
    };
    let found = py
        .detach(|| hop_times(&query, &mut || !interrupted()))
        .ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
    let found: Vec<PathFound> = found
        .iter()
        .map(|times| PathFound { shares: times.shares().collect(), measures: times.measures() })
        .collect();
    json(&found)
}
