//! What Python in a page asks of the core while it resolves a scenario: the functions of `manetlab._core`
//! that need no run. `python/manetlab/replay/in_page/core.py` is the other half.
//!
//! Arguments and answers are JSON; movement and tracks go by numbers, see [`crate::held`].

use std::collections::BTreeMap;

use manetlab_core::kernel::{MAX_TIME_S, Span, Streams, Time};
use manetlab_core::mobility::waypoint;
use manetlab_core::mobility::{Areas, Failure, Model, Path, Trajectory};
use manetlab_core::profile;
use manetlab_core::radio::{Propagation, RadioParams, Surroundings};
use manetlab_core::scenario::{Flow, FlowKind, MAX_NODES, Params, RoutingKind};
use manetlab_core::topology::{Hold, Searched, search};
use manetlab_core::traffic::{VideoParams, WebParams};
use manetlab_core::transport::tcp::{SENDER_NAMES, SENDERS, TcpParams};
use manetlab_formats::tracks::{Column, Plane, columns_of, is_in_ms, read_tracks};
use manetlab_formats::{Limits, read_movement_of_any_form};
use manetlab_resolver::files::{self, ReadScript};
use manetlab_resolver::movement::Samples;
use manetlab_resolver::{Told, movement, paths, traffic};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failed::{Failed, told_parts};
use crate::held::{
    facts, facts_of_tracks, forget, hold_movement, hold_tracks, hold_trajectories, in_request, movement_of,
    tracks_of,
};

type Answered = Result<Value, Failed>;

/// What is asked.
#[derive(Deserialize)]
struct Asked {
    call: String,
    arguments: Value,
}

/// Answers a call, which is JSON; `data` are bytes that go with it.
pub(crate) fn call(asked: &str, data: &[u8]) -> Answered {
    let Asked { call, arguments } = serde_json::from_str(asked)?;
    of_names(&call, &arguments)
        .or_else(|| of_movement(&call, &arguments, data))
        .or_else(|| of_tracks(&call, &arguments, data))
        .or_else(|| of_traffic(&call, &arguments, data))
        .or_else(|| of_network(&call, &arguments))
        .unwrap_or_else(|| Err(Failed::Wrong(format!("there is no call {call}"))))
}

fn given<T: DeserializeOwned>(arguments: &Value) -> Result<T, Failed> {
    Ok(T::deserialize(arguments)?)
}

fn value(of: impl Serialize) -> Answered {
    Ok(serde_json::to_value(of)?)
}

/// What JSON that Python wrote says. By way of a `Value`, as in runs: two readers of scenarios would be half
/// a megabyte.
fn read<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_value(serde_json::from_str(json)?)
}

/// JSON as text: so Python gets it from the extension too.
fn text(of: &impl Serialize) -> Answered {
    Ok(Value::String(serde_json::to_string(of)?))
}

fn no_such(name: &str) -> Failed {
    Failed::Unknown(name.to_owned())
}

fn routing(name: &str) -> Result<RoutingKind, Failed> {
    serde_json::from_value(json!(name)).map_err(|_| no_such(name))
}

/// Names, parameters and what is preset.
fn of_names(call: &str, arguments: &Value) -> Option<Answered> {
    let with_name =
        |then: fn(&str) -> Answered| given::<(String,)>(arguments).and_then(|(name,)| then(&name));
    Some(match call {
        "constants" => {
            let version = env!("CARGO_PKG_VERSION");
            value(json!({"MAX_NODES": MAX_NODES, "MAX_TIME_S": MAX_TIME_S, "VERSION": version}))
        }
        "schema" => text(&Params::schema()),
        "sections" => value(Params::sections()),
        "flow_schema" => text(&Flow::SCHEMA).and_then(|every| value((every, text(&FlowKind::SCHEMA)?))),
        "movement_schema" => text(&Model::schema().collect::<Vec<_>>()),
        "movement_defaults" => Model::defaults().map_err(Failed::from).and_then(|all| text(&all)),
        "web_schema" => text(&WebParams::SCHEMA),
        "web_defaults" => text(&WebParams::default()),
        "profiles" => value(profile::PROFILES),
        "profile" => with_name(|name| text(&profile::profile(name).ok_or_else(|| no_such(name))?)),
        "routings" => value(RoutingKind::NAMES),
        "routing_sets" => with_name(|name| value(Params::routing_sets(routing(name)?))),
        "routing_set" => given::<(String, String)>(arguments).and_then(|(protocol, name)| {
            let set = Params::default().with_routing_set(routing(&protocol)?, &name);
            let sections = serde_json::to_string(&set.ok_or_else(|| no_such(&name))?)?;
            text(&serde_json::from_str::<Value>(&sections)?[&protocol])
        }),
        "tcp_senders" => value(SENDER_NAMES),
        "tcp_sender_sets" => with_name(|name| {
            let sender = SENDERS.iter().find(|sender| sender.name == name).ok_or_else(|| no_such(name))?;
            value(sender.sets().collect::<Vec<_>>())
        }),
        "apply_tcp_sender" => given::<(String, String)>(arguments).and_then(|(name, json)| {
            let mut tcp: TcpParams = read(&json)?;
            if tcp.apply_sender(&name) { text(&tcp) } else { Err(no_such(&name)) }
        }),
        _ => return None,
    })
}

/// Movement: made, and asked.
fn of_movement(call: &str, arguments: &Value, data: &[u8]) -> Option<Answered> {
    Some(match call {
        "forget" => given(arguments).map(|(number,)| {
            forget(number);
            Value::Null
        }),
        "facts" => given(arguments).and_then(|(number,)| facts(number)),
        "in_request" => given(arguments).and_then(|(number,)| in_request(number)),
        "read" => given::<(String,)>(arguments).and_then(|(name,)| {
            let read = read_movement_of_any_form(data, &name, &Limits::default());
            Ok(hold_movement(read.map_err(|error| Told::of_reading(&error))?, Vec::new()))
        }),
        "fixed" => given::<(Vec<(f64, f64)>,)>(arguments).map(|(places,)| {
            hold_trajectories(places.into_iter().map(|(x, y)| Trajectory::fixed(x, y)).collect())
        }),
        "grid" => given(arguments)
            .map(|(columns, rows, spacing_m)| hold_trajectories(waypoint::grid(columns, rows, spacing_m))),
        "areas" => areas(arguments),
        "drawn" => drawn(arguments),
        "tracks" => tracks_as_data(arguments),
        "flattened" => given(arguments).and_then(|(number,)| {
            let (of_file, remarks) = movement_of(number)?;
            let mut flat = (*of_file).clone();
            flat.trajectories.iter_mut().for_each(|node| node.heights.clear());
            Ok(hold_movement(flat, (*remarks).clone()))
        }),
        "with_failures" => failing(arguments),
        "positions" => given::<(u32, f64)>(arguments).and_then(|(number, time_s)| {
            let (of_file, _) = movement_of(number)?;
            let place = |node| Path::new(node).position(Time::from_secs(time_s));
            value(of_file.trajectories.iter().map(|node| (place(node).x, place(node).y)).collect::<Vec<_>>())
        }),
        "pairs_within_hops" => given::<(u32, String, u32, Vec<(f64, f64)>)>(arguments).and_then(
            |(number, params, hops, draws)| {
                let (of_file, _) = movement_of(number)?;
                let params: Params = read(&params)?;
                let range_m = params.link_range_m();
                value(movement::pairs_within_hops(&of_file.trajectories, range_m, hops, &draws))
            },
        ),
        _ => return None,
    })
}

fn drawn(arguments: &Value) -> Answered {
    let (name, json, duration_s, seed, number): (String, String, f64, u64, u64) = given(arguments)?;
    let (model, streams) = (movement::model(&name, &json)?, Streams::new(seed, number));
    Ok(hold_trajectories(movement::drawn(&model, Span::from_secs(duration_s), &streams)?))
}

fn areas(arguments: &Value) -> Answered {
    type Arguments = ((u32, u32, u32), u32, (f64, f64, f64, f64), f64, f64, (u64, u64));
    let (counts, hops, lengths_m, speed_mps, duration_s, streams): Arguments = given(arguments)?;
    let (sources, sinks, forwarders) = counts;
    let (spacing_m, height_m, end_width_m, band_width_m) = lengths_m;
    let areas =
        Areas { sources, sinks, forwarders, hops, spacing_m, height_m, end_width_m, band_width_m, speed_mps };
    let streams = Streams::new(streams.0, streams.1);
    Ok(hold_trajectories(movement::areas(&areas, Span::from_secs(duration_s), &streams)?))
}

fn tracks_as_data(arguments: &Value) -> Answered {
    type Rows = (Vec<u32>, Vec<f64>, Vec<f64>, Vec<f64>, Option<Vec<f64>>);
    type Arguments = (Vec<String>, Rows, Vec<Vec<(f64, f64)>>, String);
    let (labels, (node, t_s, x_m, y_m, z_m), present, place): Arguments = given(arguments)?;
    let samples = Samples { node, t_s, x_m, y_m, z_m };
    samples.check(labels.len()).map_err(Failed::Wrong)?;
    Ok(hold_trajectories(samples.trajectories(labels, present, &place)?))
}

fn failing(arguments: &Value) -> Answered {
    let (number, failures, seed, replication, duration_s, place): (u32, String, u64, u64, f64, String) =
        given(arguments)?;
    let failures: Vec<Failure> = read(&failures)?;
    let (of_file, remarks) = movement_of(number)?;
    let (streams, end) = (Streams::new(seed, replication), Time::from_secs(duration_s));
    let trajectories = movement::failing(&of_file.trajectories, &failures, &streams, end, &place)?;
    let failing = manetlab_formats::Movement { trajectories, ..(*of_file).clone() };
    Ok(hold_movement(failing, (*remarks).clone()))
}

/// Tracks and scripts of ns-2.
fn of_tracks(call: &str, arguments: &Value, data: &[u8]) -> Option<Answered> {
    Some(match call {
        "read_tracks" => given::<(String, bool, Option<f64>, Option<String>)>(arguments).and_then(
            |(name, sampled, thin_m, bonnmotion)| {
                let options =
                    files::options(sampled, thin_m, bonnmotion.as_deref()).map_err(Failed::Wrong)?;
                let read = read_tracks(data, &name, &Limits::default(), &options);
                Ok(hold_tracks(read.map_err(|error| Told::of_reading(&error))?))
            },
        ),
        "facts_of_tracks" => given(arguments).and_then(|(number,)| facts_of_tracks(number)),
        "movement_of_tracks" => given::<(u32, Vec<String>)>(arguments).and_then(|(number, remarks)| {
            let tracks = (*tracks_of(number)?).clone();
            let plane = tracks.plane;
            let trajectories = tracks.into_trajectories();
            let of_file = manetlab_formats::Movement { trajectories, plane, ..Default::default() };
            Ok(hold_movement(of_file, remarks))
        }),
        "track_columns" => given::<(Vec<String>,)>(arguments).and_then(|(names,)| {
            let found = columns_of(&names);
            let of_time = found.iter().find(|(column, _)| *column == Column::Time);
            let in_ms = of_time.is_some_and(|&(_, at)| is_in_ms(&names[at]));
            let places: BTreeMap<_, _> = found.iter().map(|&(column, at)| (column.name(), at)).collect();
            value((places, in_ms))
        }),
        "read_script" => given::<(String, BTreeMap<String, String>, Vec<String>)>(arguments).and_then(
            |(name, sourced, words)| {
                let sourced = sourced.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
                match files::read_script(data, &name, &sourced, &words)? {
                    ReadScript::Missing { name, error } => {
                        value(json!([null, null, [name, told_parts(&error)]]))
                    }
                    ReadScript::Read { text, movement } => {
                        let held = movement.map(|movement| hold_movement(movement, Vec::new()));
                        value(json!([text, held, null]))
                    }
                }
            },
        ),
        "plane_of" => given::<((f64, f64), (f64, f64), String)>(arguments).and_then(|(low, high, name)| {
            let plane = Plane::of(low, high, &name).map_err(|error| Told::of_reading(&error))?;
            value((plane.corner_deg, plane.scale_m))
        }),
        _ => return None,
    })
}

/// Traffic.
fn of_traffic(call: &str, arguments: &Value, data: &[u8]) -> Option<Answered> {
    Some(match call {
        "read_traffic" => {
            given::<(String,)>(arguments).and_then(|(name,)| text(&traffic::read(data, &name)?))
        }
        "traffic_draws" => given::<(u64, u64, usize)>(arguments)
            .and_then(|(seed, number, count)| value(traffic::draws(&Streams::new(seed, number), count))),
        "codecs" => value(traffic::codecs()),
        "video_frames" => {
            given::<(String, (u64, u64), u32, usize)>(arguments).and_then(|(params, streams, flow, count)| {
                let params: VideoParams = read(&params)?;
                let streams = Streams::new(streams.0, streams.1);
                value(traffic::video_frames(&params, &streams, flow, count))
            })
        }
        "draw_web_sessions" => given::<(String, u32, f64, u64, u64)>(arguments).and_then(
            |(params, nodes, warmup_s, seed, number)| {
                let params: WebParams = read(&params)?;
                text(&traffic::web_flows(&params, nodes, warmup_s, &Streams::new(seed, number))?)
            },
        ),
        _ => return None,
    })
}

/// The radio, links and paths, and the check of the whole.
fn of_network(call: &str, arguments: &Value) -> Option<Answered> {
    Some(match call {
        "radio_ranges" => given::<(String,)>(arguments).and_then(|(params,)| {
            let params: Params = read(&params)?;
            let model = Propagation::new(&params.radio);
            value((params.link_range_m(), model.farthest_range_m(), model.sense_range_m()))
        }),
        "farthest_link_m" => given::<(String,)>(arguments).and_then(|(radio,)| {
            let radio: RadioParams = read(&radio)?;
            value(radio.farthest_link_m(&Surroundings::default()))
        }),
        "normalize" => given::<(String, u32, String)>(arguments).and_then(|(scenario, number, place)| {
            let (of_file, _) = movement_of(number)?;
            text(&manetlab_resolver::checked(read(&scenario), &of_file.trajectories, &place)?)
        }),
        "shortest_paths" => shortest_paths(arguments),
        "search_drawn" => search_drawn(arguments),
        "search_movement" => search_movement(arguments),
        _ => return None,
    })
}

fn shortest_paths(arguments: &Value) -> Answered {
    type Arguments = (String, String, String, String, u32, Vec<(u32, u32)>, f64);
    let (params, rates, wired, around, number, pairs, time_s): Arguments = given(arguments)?;
    let links = paths::Links {
        params: read(&params)?,
        rates: read(&rates)?,
        wired: read(&wired)?,
        around: read(&around)?,
    };
    let (of_file, _) = movement_of(number)?;
    value(links.shortest_paths(&of_file.trajectories, &pairs, Time::from_secs(time_s)))
}

/// A number of hops to hold, the least share of the window, and two draws for each pair that is wanted.
type Wanted = (u32, f64, Vec<(f64, f64)>);

fn search_drawn(arguments: &Value) -> Answered {
    type Arguments = ((String, String), String, (f64, f64), (u64, u64), Wanted, u64);
    let (model, params, window_s, streams, (hops, share, units), draws): Arguments = given(arguments)?;
    let (model, params) = (movement::model(&model.0, &model.1)?, read(&params)?);
    let (of_run, duration) = (Streams::new(streams.0, streams.1), Span::from_secs(window_s.1));
    let draw = |number| movement::drawn(&model, duration, &of_run.of_draw(number));
    let field = paths::field(&params, window_s);
    found(search(draws, draw, field, Hold { hops, share }, &units, &mut || true)?)
}

fn search_movement(arguments: &Value) -> Answered {
    let (number, params, window_s, (hops, share, units)): (u32, String, (f64, f64), Wanted) =
        given(arguments)?;
    let (of_file, _) = movement_of(number)?;
    let field = paths::field(&read(&params)?, window_s);
    let draw = |_| Ok::<_, Failed>(of_file.trajectories.clone());
    found(search(1, draw, field, Hold { hops, share }, &units, &mut || true)?)
}

fn found(searched: Searched) -> Answered {
    match searched {
        Searched::Found(held) => value((held.draw, hold_trajectories(held.movement), held.pairs)),
        Searched::NotFound | Searched::Stopped => Ok(Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(call_name: &str, arguments: &Value) -> Answered {
        call(&json!({"call": call_name, "arguments": *arguments}).to_string(), &[])
    }

    #[test]
    fn what_a_node_does_beside_moving_comes_back_from_a_request() {
        let chain = asked("grid", &json!([3, 1, 200.0])).expect("a chain");
        let crash = json!([{"node": 1, "area": null, "at_s": 2.0, "for_s": 1.0, "up_mean_s": null,
            "down_mean_s": 0.0, "nodes": null, "fixed": false, "crash": true}]);
        let arguments = json!([chain, crash.to_string(), 1, 0, 5.0, "here"]);
        let failing = asked("with_failures", &arguments).expect("a node that fails");
        let number = failing.as_u64().expect("a number") as u32;
        let request = in_request(number).expect("a movement");
        let beside: Vec<crate::beside::Beside> =
            serde_json::from_value(request["beside"].clone()).expect("what it says");
        let of_file = movement_of(number).expect("it is held").0;
        let mut bare = of_file.trajectories.clone();
        for (node, beside) in bare.iter_mut().zip(beside) {
            (node.present, node.crashes) = (Vec::new(), Vec::new());
            beside.add_to(node);
        }
        assert!(!of_file.trajectories[1].crashes.is_empty());
        assert_eq!(bare, of_file.trajectories);
        assert_eq!(
            in_request(chain.as_u64().expect("a number") as u32).expect("a chain")["beside"],
            Value::Null
        );
    }

    #[test]
    fn failures_say_whose_they_are() {
        let told = asked("drawn", &json!(["waypoint", r#"{"speed_min": 9.0, "speed_max": 1.0}"#, 5.0, 1, 0]));
        let told = told.expect_err("speeds that cross").to_json();
        assert_eq!(told["told"][0], "the minimum speed is above the maximum");
        assert_eq!(
            asked("profile", &json!(["x"])).expect_err("no profile").to_json(),
            json!({"unknown": "x"})
        );
        for (name, arguments) in [("facts", json!([4711])), ("nothing", json!([])), ("grid", json!(["x"]))] {
            assert!(matches!(asked(name, &arguments), Err(Failed::Wrong(_))), "{name}");
        }
    }

    #[test]
    fn what_is_let_go_is_gone() {
        let chain = asked("grid", &json!([2, 1, 200.0])).expect("a chain");
        assert_eq!(asked("facts", &json!([chain])).expect("it is held")["nodes"], 2);
        assert_eq!(asked("forget", &json!([chain])).expect("it is there"), Value::Null);
        assert!(asked("facts", &json!([chain])).is_err());
    }
}
