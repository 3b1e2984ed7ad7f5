//! What a run tells its recorder, held against what must be true of it: geometry, overlaps, exchanges.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use std::collections::BTreeMap;

use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::mobility::Path;
use manetlab_core::mobility::waypoint::{self, WaypointParams};
use manetlab_core::observe::{FlowStep, Reach, Record, RecordKind};
use manetlab_core::profile::profile;
use manetlab_core::radio::Propagation;
use manetlab_core::routing::dsr::CacheKind;
use manetlab_core::scenario::{Flow, FlowKind, Params, RoutingKind, Scenario};
use manetlab_core::simulation::run;
use manetlab_core::wire::NodeId;
use manetlab_core::wire::mac::FrameKind;

use common::{chain, flow};

fn tcp(src: u32, dst: u32) -> Flow {
    flow(src, dst, 0.5, FlowKind::Tcp { bytes: None, window: Some(8), segment_bytes: Some(1460) })
}

/// Thirty fast nodes in a field in which links break, with more traffic than it can carry.
fn busy(routing: RoutingKind, profile_name: &str) -> Scenario {
    let duration_s = 20.0;
    let field = WaypointParams {
        nodes: 30,
        width_m: 1500.0,
        height_m: 300.0,
        speed_min: 20.0,
        speed_max: 40.0,
        ..WaypointParams::default()
    };
    let movement = waypoint::generate(&field, Span::from_secs(duration_s), &Streams::new(5, 0));
    let cbr = FlowKind::Cbr { bytes: 512, interval_s: 0.02, random: false, max_packets: None };
    Scenario {
        duration_s,
        warmup_s: 0.0,
        seed: 5,
        replication: 0,
        routing,
        params: profile(profile_name).expect("the profile exists"),
        flows: vec![tcp(0, 1), tcp(2, 3), flow(4, 5, 0.5, cbr.clone()), flow(6, 7, 0.5, cbr)],
        rates: Vec::new(),
        radios: Vec::new(),
        walls: Vec::new(),
        energy: None,
        wired: Vec::new(),
        movement: movement.expect("a usable field"),
    }
}

fn records(scenario: &Scenario) -> Vec<Record> {
    run(scenario, true).expect("it runs").recording.expect("it was asked for").records().to_vec()
}

/// What a protocol does only for those who look on, or leaves until somebody asks, shows in no result.
#[test]
fn nobody_behaves_otherwise_because_it_is_recorded() {
    let mut all: Vec<Scenario> = RoutingKind::ALL.iter().map(|routing| busy(*routing, "rfc")).collect();
    let mut eager = busy(RoutingKind::Olsr, "rfc");
    (eager.params.olsr.link_feedback, eager.params.olsr.hysteresis) = (true, true);
    all.push(eager);
    for mut scenario in all {
        scenario.movement[12].crashes = vec![Time::from_secs(8.0)];
        let alone = run(&scenario, false).expect("it runs").result;
        let watched = run(&scenario, true).expect("it runs").result;
        assert_eq!(alone.flows, watched.flows, "{:?}", scenario.routing);
        assert_eq!((alone.totals, alone.events), (watched.totals, watched.events), "{:?}", scenario.routing);
    }
}

struct Sent {
    number: u64,
    from: u32,
    to: NodeId,
    kind: FrameKind,
    start: Time,
    end: Time,
    uid: Option<u64>,
    receivers: Vec<(NodeId, Reach)>,
}

fn frames(records: &[Record]) -> Vec<Sent> {
    let frame = |record: &Record| match &record.kind {
        RecordKind::Frame { number, kind, to, airtime, uid, receivers, .. } => Some(Sent {
            number: *number,
            from: record.node.0,
            to: *to,
            kind: *kind,
            start: record.time,
            end: record.time + *airtime,
            uid: *uid,
            receivers: receivers.clone().unwrap_or_default(),
        }),
        _ => None,
    };
    records.iter().filter_map(frame).collect()
}

/// Frames of `of` that overlap this one where it arrives; travel takes up to 2 µs.
fn overlaps<'a>(frame: &'a Sent, of: impl Iterator<Item = &'a Sent>) -> bool {
    let travel = Span::from_micros(2.0);
    let mut others = of.filter(|other| other.number != frame.number);
    others.any(|other| other.start < frame.end + travel && frame.start < other.end + travel)
}

#[test]
fn outcomes_agree_with_where_nodes_are_and_what_is_on_the_air() {
    for name in ["ns-2.35", "rfc"] {
        let scenario = busy(RoutingKind::Aodv, name);
        let paths: Vec<Path> = scenario.movement.iter().map(Path::new).collect();
        let receive_m = scenario.params.link_range_m();
        let sense_m = Propagation::new(&scenario.params.radio).sense_range_m();
        let sent = frames(&records(&scenario));
        let by_node = |node: u32| sent.iter().filter(move |frame| frame.from == node);
        let mut seen = BTreeMap::new();
        // The run's end cuts off what is still on the air.
        let until = Time::from_secs(scenario.duration_s - 0.05);
        for (at, frame) in sent.iter().enumerate() {
            assert_eq!(frame.number, at as u64, "frames are numbered in order");
            if frame.start >= until {
                continue;
            }
            let distance_m = |node: u32| {
                let at = |node: u32| paths[node as usize].position(frame.start);
                at(frame.from).distance(at(node))
            };
            if frame.to.is_broadcast() {
                let near = (0..30).filter(|&node| node != frame.from && distance_m(node) <= receive_m);
                let near: Vec<u32> = near.collect();
                let told: Vec<u32> = frame.receivers.iter().map(|receiver| receiver.0.0).collect();
                assert_eq!(near, told, "{name}: frame {at}");
            } else {
                assert!(matches!(frame.receivers[..], [(node, _)] if node == frame.to), "{name}: frame {at}");
            }
            for &(node, outcome) in &frame.receivers {
                let distance_m = distance_m(node.0);
                let is_right = match outcome {
                    Reach::Received => distance_m <= receive_m && !overlaps(frame, by_node(node.0)),
                    Reach::Collided => {
                        distance_m <= receive_m
                            && overlaps(frame, sent.iter().filter(|other| other.from != node.0))
                    }
                    Reach::Deaf => distance_m <= receive_m && overlaps(frame, by_node(node.0)),
                    Reach::TooWeak => distance_m > receive_m && distance_m <= sense_m,
                    Reach::OutOfReach => distance_m > sense_m,
                };
                assert!(is_right, "{name}: frame {at} at node {}: {outcome:?}, {distance_m} m", node.0);
                *seen.entry(outcome.name()).or_insert(0) += 1;
            }
        }
        for outcome in [Reach::Received, Reach::Collided, Reach::Deaf, Reach::TooWeak] {
            assert!(seen[outcome.name()] > 10, "{name}: {seen:?}");
        }
    }
}

#[test]
fn the_frames_of_an_exchange_name_the_packet_that_it_is_for() {
    let sent = frames(&records(&busy(RoutingKind::Dsr, "ns-2.35")));
    let mut answers = 0;
    for (at, frame) in sent.iter().enumerate() {
        let asked = match frame.kind {
            FrameKind::Cts => FrameKind::Rts,
            FrameKind::Ack => FrameKind::Data,
            _ => continue,
        };
        let before = sent[..at].iter().rev().find(|other| other.kind == asked && other.from == frame.to.0);
        let before = before.expect("an answer follows a question");
        assert_eq!(before.uid, frame.uid, "frame {at}");
        assert!(before.receivers.contains(&(NodeId(frame.from), Reach::Received)), "frame {at}");
        answers += usize::from(frame.uid.is_some());
    }
    assert!(answers > 1000, "{answers}");
}

/// What the last `route` event of each node and destination says.
fn last_routes(records: &[Record]) -> BTreeMap<(u32, u32), (NodeId, Option<u32>)> {
    let mut routes = BTreeMap::new();
    for record in records {
        if let RecordKind::Route { dst, next_hop, hops } = record.kind {
            let key = (record.node.0, dst.0);
            match next_hop {
                Some(next_hop) => routes.insert(key, (next_hop, hops)),
                None => routes.remove(&key),
            };
        }
    }
    routes
}

#[test]
fn routes_along_a_chain_are_told_with_their_lengths() {
    for routing in [RoutingKind::Aodv, RoutingKind::Dsdv, RoutingKind::Dsr, RoutingKind::Static] {
        let mut scenario = chain(4, vec![tcp(0, 4)], 60.0);
        scenario.routing = routing;
        let routes = last_routes(&records(&scenario));
        for node in 0..4 {
            assert_eq!(routes[&(node, 4)], (NodeId(node + 1), Some(4 - node)), "{routing:?}");
            assert_eq!(routes[&(node + 1, 0)], (NodeId(node), Some(node + 1)), "{routing:?}");
        }
    }
}

#[test]
fn queues_count_up_and_down_and_flows_open_and_close() {
    let mut scenario = chain(2, vec![tcp(0, 2)], 20.0);
    scenario.flows[0].kind =
        FlowKind::Tcp { bytes: Some(300_000), window: Some(20), segment_bytes: Some(1460) };
    let all = records(&scenario);
    let mut lengths = [0_u32; 3];
    for record in &all {
        if let RecordKind::Queue(length) = record.kind {
            let before = std::mem::replace(&mut lengths[record.node.index()], length);
            assert_eq!(before.abs_diff(length), 1, "one packet at a time");
        }
    }
    assert_eq!(lengths, [0; 3], "all are empty when the transfer is over");
    let steps: Vec<FlowStep> = all
        .iter()
        .filter_map(|record| match record.kind {
            RecordKind::Flow { flow: 0, step } => Some(step),
            _ => None,
        })
        .collect();
    assert_eq!((steps.first(), steps.last()), (Some(&FlowStep::Opened), Some(&FlowStep::Closed)));
}

/// A run's routes are looked up where its protocol says that they may have changed. Debug builds look all of
/// them up beside that, and the run panics if a protocol has kept a change to itself.
#[test]
fn no_protocol_keeps_a_change_of_its_routes_to_itself() {
    const { assert!(cfg!(debug_assertions), "without them nothing would be compared") };
    for &routing in RoutingKind::ALL {
        let mut told = 0;
        let sets = Params::routing_sets(routing);
        // A protocol without sets of parameters runs with its defaults.
        let sets = if sets.is_empty() { vec![None] } else { sets.iter().map(Some).collect() };
        for (set, seed) in sets.into_iter().flat_map(|set| [(set, 1), (set, 2)]) {
            let mut scenario = busy(routing, "rfc");
            (scenario.duration_s, scenario.seed) = (20.0, seed);
            if let Some(set) = set {
                scenario.params = scenario.params.with_routing_set(routing, set).expect("a listed set");
            }
            told += last_routes(&records(&scenario)).len();
        }
        // Flooding has no routes, and those of a table that is given do not change while nodes move.
        let has_routes = !matches!(routing, RoutingKind::Flooding | RoutingKind::Static);
        assert!(told > 0 || !has_routes, "{routing:?} has routes");
    }
}

#[test]
fn no_cache_keeps_the_end_of_a_route_to_itself() {
    const { assert!(cfg!(debug_assertions), "without them nothing would be compared") };
    for cache in [CacheKind::Path, CacheKind::Link] {
        for routing in [RoutingKind::Dsr, RoutingKind::Tsr] {
            for cache_timeout_s in [0.0, 0.3, 1.7] {
                let mut scenario = busy(routing, "ns-2.35");
                scenario.duration_s = 8.0;
                scenario.params.dsr.cache = cache;
                scenario.params.dsr.cache_timeout_s = cache_timeout_s;
                assert!(!last_routes(&records(&scenario)).is_empty(), "{cache:?} {routing:?}");
            }
        }
    }
}
