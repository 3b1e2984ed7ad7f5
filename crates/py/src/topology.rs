//! The topology that a movement makes, looked at without the interpreter's lock.

use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::scenario::{Links, Params, Scenario};
use manetlab_core::topology::{
    Field, Hold, LinkRule, PathMeasures, Query, Searched, analyse, hop_times, hops_over_time,
    links_over_time, reach as reach_of, search,
};
use manetlab_resolver::{movement, paths};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::of_told;
use crate::interrupts::interrupted;
use crate::json;
use crate::movement::Movement;
use crate::running::parse;

/// A topology with the range that it was found for.
#[derive(Serialize)]
struct Found {
    range_m: f64,
    #[serde(flatten)]
    topology: manetlab_core::topology::Topology,
}

fn range_m(scenario: &Scenario) -> f64 {
    scenario.params.link_range_m()
}

/// What decides about links where more than the distance does, as a query takes it.
fn rule(links: Option<&Links>) -> Option<&dyn LinkRule> {
    links.map(|links| links as &dyn LinkRule)
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
    let (range_m, links) = (range_m(&scenario), scenario.links());
    let query = Query {
        movement: &scenario.movement,
        range_m,
        rule: rule(links.as_ref()),
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
    let links = scenario.links();
    let query = Query {
        movement: &scenario.movement,
        range_m: range_m(&scenario),
        rule: rule(links.as_ref()),
        window: (Time::ZERO, Time::from_secs(scenario.duration_s)),
        step: Span::from_secs(step_s),
        pairs: &pairs,
    };
    py.detach(|| hops_over_time(&query, &mut || !interrupted()))
        .ok_or_else(|| PyKeyboardInterrupt::new_err(()))
}

/// Of a flow, by step: whether its ends have a path, and in which step what is sent then can arrive.
type Reached = (Vec<bool>, Vec<Option<u32>>);

/// What the movement allows each flow, by step from the start of the run to its end: whether its ends have a
/// path when the step begins, over links that carry unicast data frames; and in which step what is sent in
/// this one can arrive if all links of a step can be used in any order, None if it cannot. A list of pairs.
#[pyfunction]
pub(crate) fn reach(
    py: Python<'_>,
    scenario_json: &str,
    movement: &Movement,
    step_s: f64,
) -> PyResult<Vec<Reached>> {
    let scenario = parse(scenario_json, movement, "scenario")?;
    let pairs: Vec<(u32, u32)> = scenario.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
    let wires: Vec<[u32; 2]> = scenario.wired.iter().map(|link| link.nodes).collect();
    let links = scenario.links();
    let near = Query {
        movement: &scenario.movement,
        range_m: range_m(&scenario),
        rule: rule(links.as_ref()),
        window: (Time::ZERO, Time::from_secs(scenario.duration_s)),
        step: Span::from_secs(step_s),
        pairs: &pairs,
    };
    let far = Query { range_m: scenario.farthest_possible_m(), rule: None, ..near.clone() };
    let found = py.detach(|| {
        let near = reach_of(&near, &wires, &mut || !interrupted())?;
        let far = reach_of(&far, &wires, &mut || !interrupted())?;
        Some(near.into_iter().zip(far).map(|(near, far)| (near.now, far.arrival)).collect())
    });
    found.ok_or_else(|| PyKeyboardInterrupt::new_err(()))
}

/// For each pair of nodes those of a shortest path between them at a time, both ends included: the path that
/// static routes take. None where there is no path. A link is one over which unicast data frames are received
/// under the parameters `params_json`, where nodes and links have the rates `rates_json`, or one of the wired
/// links `wired_json`; `around_json` has seed, replication, radios of single nodes and walls.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
#[expect(clippy::too_many_arguments, reason = "what says where links are is not one scenario")]
pub(crate) fn shortest_paths(
    py: Python<'_>,
    params_json: &str,
    rates_json: &str,
    wired_json: &str,
    around_json: &str,
    movement: &Movement,
    pairs: Vec<(u32, u32)>,
    time_s: f64,
) -> PyResult<Vec<Option<Vec<u32>>>> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let links = paths::Links {
        params: serde_json::from_str(params_json).map_err(wrong)?,
        rates: serde_json::from_str(rates_json).map_err(wrong)?,
        wired: serde_json::from_str(wired_json).map_err(wrong)?,
        around: serde_json::from_str(around_json).map_err(wrong)?,
    };
    Ok(py.detach(|| links.shortest_paths(movement.trajectories(), &pairs, Time::from_secs(time_s))))
}

/// The pairs of nodes that have a link at a time, in order.
#[pyfunction]
pub(crate) fn linked_pairs(
    py: Python<'_>,
    scenario_json: &str,
    movement: &Movement,
    times_s: Vec<f64>,
) -> PyResult<Vec<Vec<(u32, u32)>>> {
    let scenario = parse(scenario_json, movement, "scenario")?;
    let links = scenario.links();
    let range_m = range_m(&scenario);
    let times: Vec<Time> = times_s.into_iter().map(Time::from_secs).collect();
    Ok(py.detach(|| links_over_time(&scenario.movement, range_m, rule(links.as_ref()), &times)))
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
    let links = scenario.links();
    let query = Query {
        movement: &scenario.movement,
        range_m: range_m(&scenario),
        rule: rule(links.as_ref()),
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

/// A number of hops to hold, as Python says it: the number, the least share of the window, and two draws for
/// each pair that is wanted.
type Wanted = (u32, f64, Vec<(f64, f64)>);
/// The number of the draw that was found, its movement, and the pairs.
type DrawFound = (u64, Movement, Vec<(u32, u32)>);

fn field(params_json: &str, window_s: (f64, f64)) -> PyResult<Field> {
    let params: Params =
        serde_json::from_str(params_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(paths::field(&params, window_s))
}

fn found(searched: Searched) -> PyResult<Option<DrawFound>> {
    match searched {
        Searched::Found(held) => Ok(Some((held.draw, Movement::new(held.movement), held.pairs))),
        Searched::NotFound => Ok(None),
        Searched::Stopped => Err(PyKeyboardInterrupt::new_err(())),
    }
}

/// The first of `draws` draws of a movement model, given by its name and its parameters as JSON, in which
/// pairs of nodes keep their hops in the window; draw 0 is the movement that these streams have without a
/// search.
#[pyfunction]
pub(crate) fn search_drawn(
    py: Python<'_>,
    model: (String, String),
    params_json: &str,
    window_s: (f64, f64),
    streams: (u64, u64),
    wanted: Wanted,
    draws: u64,
) -> PyResult<Option<DrawFound>> {
    let (name, json) = model;
    let model = movement::model(&name, &json).map_err(of_told)?;
    let (field, (hops, share, units)) = (field(params_json, window_s)?, wanted);
    let of_run = Streams::new(streams.0, streams.1);
    let duration = Span::from_secs(window_s.1);
    let draw = |number| movement::drawn(&model, duration, &of_run.of_draw(number));
    let searched =
        py.detach(|| search(draws, draw, field, Hold { hops, share }, &units, &mut || !interrupted()));
    found(searched.map_err(of_told)?)
}

/// The same among the pairs of one movement.
#[pyfunction]
pub(crate) fn search_movement(
    py: Python<'_>,
    movement: &Movement,
    params_json: &str,
    window_s: (f64, f64),
    wanted: Wanted,
) -> PyResult<Option<DrawFound>> {
    let (field, (hops, share, units)) = (field(params_json, window_s)?, wanted);
    let draw = |_| Ok::<_, std::convert::Infallible>(movement.trajectories().to_vec());
    let searched = py.detach(|| search(1, draw, field, Hold { hops, share }, &units, &mut || !interrupted()));
    let Ok(searched) = searched;
    found(searched)
}
