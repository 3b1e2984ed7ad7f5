//! Whole runs with Web sessions: what is carried, what routing is told, what an outage costs, and the audit.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::mobility::waypoint::{self, WaypointParams};
use manetlab_core::mobility::{Command, Point, Trajectory};
use manetlab_core::observe::{FlowMeasures, WebMeasures};
use manetlab_core::profile::{PROFILES, profile};
use manetlab_core::scenario::{Flow, FlowKind, RoutingKind, Scenario};
use manetlab_core::simulation::{Outcome, run};
use manetlab_core::traffic::{WebCycle, WebParams, draw_sessions};
use proptest::prelude::*;

use common::{chain, flow};

fn cycle(think_s: f64, request_bytes: u64, replies_bytes: &[u64]) -> WebCycle {
    WebCycle { think_s, request_bytes, server_delay_s: 0.0, replies_bytes: replies_bytes.to_vec() }
}

fn session(src: u32, dst: u32, cycles: Vec<WebCycle>) -> Flow {
    flow(src, dst, 1.0, FlowKind::Web { cycles })
}

fn outcome(scenario: &Scenario) -> Outcome {
    run(scenario, true).expect("the scenario runs and its books balance")
}

fn web(outcome: &Outcome) -> &WebMeasures {
    match &outcome.result.flows[0].measures {
        FlowMeasures::Web(web) => web,
        other => panic!("no Web session: {other:?}"),
    }
}

fn lines(outcome: &Outcome) -> String {
    outcome.recording.as_ref().expect("a recording was asked for").to_json_lines()
}

/// Time in s, node and bytes of the packets of this name that were made.
fn made(lines: &str, what: &str) -> Vec<(f64, u32, u32)> {
    let field = |line: &str, name: &str| -> Option<f64> {
        let from = line.find(&format!("\"{name}\":"))? + name.len() + 3;
        let text: String = line[from..].chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        text.parse().ok()
    };
    lines
        .lines()
        .filter(|line| line.contains("\"event\":\"made\"") && line.contains(&format!("\"what\":\"{what}\"")))
        .filter_map(|line| {
            Some((field(line, "t")?, field(line, "node")? as u32, field(line, "bytes")? as u32))
        })
        .collect()
}

/// Request from the client, replies from the server by their lengths, then thinking, then the next.
#[test]
fn a_session_sends_what_it_says_in_its_order() {
    let cycles = vec![cycle(2.0, 300, &[1000, 10]), cycle(3.0, 1500, &[20])];
    let scenario = chain(2, vec![session(0, 2, cycles)], 30.0);
    let outcome = outcome(&scenario);
    let payload_of = |bytes: u32| bytes - scenario.params.tcp.header_bytes;
    let sent: Vec<(u32, u32)> = made(&lines(&outcome), "tcp")
        .into_iter()
        .filter(|&(_, _, bytes)| bytes > scenario.params.tcp.header_bytes)
        .map(|(_, node, bytes)| (node, payload_of(bytes)))
        .collect();
    let segment = scenario.params.tcp.segment_bytes;
    assert_eq!(sent, [(0, 300), (2, 1000), (2, 10), (0, segment), (0, 1500 - segment), (2, 20)]);
    let measures = web(&outcome);
    assert_eq!((measures.cycles_begun, measures.cycles_completed, measures.connections), (2, 2, 4));
    assert_eq!(measures.delivered_bytes, 300 + 1010 + 1500 + 20);
    assert_eq!((measures.retransmissions, measures.timeouts), (0, 0));
    // It starts at 1 s and thinks for 5 s; all else is service.
    let completed_s = measures.completed_s.expect("a quiet chain finishes the session");
    assert!((completed_s - 6.0 - measures.service_time_s).abs() < 1e-6, "{measures:?}");
    assert!((measures.session_time_s - measures.service_time_s - 5.0).abs() < 1e-6, "{measures:?}");
    let response_s = measures.response_time_mean_s.expect("both requests were answered");
    assert!(response_s * 2.0 < measures.service_time_s && response_s > 0.0);
    let totals = outcome.result.totals.web.as_ref().expect("there is a session");
    assert_eq!((totals.web_sessions, totals.web_sessions_finished), (1, 1));
    assert_eq!(totals.web_throughput_bps, measures.throughput_bps);
}

/// The server takes its time, and the client counts it.
#[test]
fn a_slow_server_delays_the_replies() {
    let quick = chain(1, vec![session(0, 1, vec![cycle(0.0, 100, &[100])])], 30.0);
    let mut slow = quick.clone();
    slow.flows[0].kind =
        FlowKind::Web { cycles: vec![WebCycle { server_delay_s: 2.0, ..cycle(0.0, 100, &[100]) }] };
    let waited = |scenario| web(&outcome(scenario)).service_time_s;
    let difference = waited(&slow) - waited(&quick);
    assert!((difference - 2.0).abs() < 0.01, "{difference}");
}

/// Each connection is opened and closed where it begins: the request's at the client, the replies' at the
/// server.
#[test]
fn connections_are_told_to_routing_at_both_ends() {
    let cycles = vec![cycle(1.0, 100, &[2000]), cycle(5.0, 100, &[2000])];
    let mut scenario = chain(1, vec![session(0, 1, cycles)], 20.0);
    scenario.routing = RoutingKind::Adv;
    scenario.params.adv.linger_s = 0.0;
    let outcome = outcome(&scenario);
    assert_eq!(web(&outcome).cycles_completed, 2);
    let lines = lines(&outcome);
    let sent_by = |what: &str, node: u32| {
        let name = format!("\"what\":\"{what}\"");
        let by = format!("\"node\":{node},\"event\":\"sent\"");
        let own = format!("\"src\":{node},");
        lines.lines().filter(|line| line.contains(&name) && line.contains(&by) && line.contains(&own)).count()
    };
    // Without a linger each connection, two of either node, ends with a flood, which the neighbour repeats;
    // late ACKs may open further ones.
    for node in [0, 1] {
        assert_eq!(sent_by("end-connection", node), 4, "node {node}");
        assert!(sent_by("init-connection", node) >= 4, "node {node}");
    }
    // With 30 s the next connection finds the last one still open.
    scenario.params.adv.linger_s = 30.0;
    let lines = self::lines(&self::outcome(&scenario));
    for node in [0, 1] {
        let own_and_relayed = lines
            .lines()
            .filter(|line| line.contains(&format!("\"node\":{node},\"event\":\"sent\"")))
            .filter(|line| line.contains("-connection\""))
            .count();
        assert_eq!(own_and_relayed, 2, "node {node}");
    }
}

/// The middle of a chain goes away for a while: the session waits, its connections last, and it goes on.
#[test]
fn a_session_outlasts_an_outage() {
    let cycles: Vec<WebCycle> = (0..8).map(|_| cycle(1.0, 300, &[5000, 3000])).collect();
    let mut scenario = chain(2, vec![session(0, 2, cycles)], 120.0);
    scenario.routing = RoutingKind::Aodv;
    let calm = web(&outcome(&scenario)).clone();
    assert_eq!(calm.cycles_completed, 8);
    let go = |at_s: f64, y: f64| Command::GoTo {
        at: Time::from_secs(at_s),
        to: Point { x: 200.0, y },
        speed: 900.0,
    };
    scenario.movement[1].commands = vec![go(4.0, 900.0), go(24.0, 0.0)];
    let broken = outcome(&scenario);
    let measures = web(&broken);
    assert_eq!((measures.cycles_completed, measures.delivered_bytes), (8, calm.delivered_bytes));
    assert!(measures.timeouts > 0);
    assert!(measures.service_time_s > calm.service_time_s + 15.0, "{measures:?}");
}

/// An unreachable server: one request, never answered, for the whole rest of the run.
#[test]
fn an_unanswered_request_counts_to_the_end() {
    let mut scenario = chain(2, vec![session(0, 2, vec![cycle(1.0, 100, &[100])])], 22.0);
    scenario.movement[2] = Trajectory::fixed(5000.0, 0.0);
    let outcome = outcome(&scenario);
    let measures = web(&outcome);
    assert_eq!((measures.cycles_begun, measures.cycles_completed, measures.responses), (1, 0, 0));
    assert!(
        (measures.service_time_s - 20.0).abs() < 1e-6 && (measures.connection_time_s - 20.0).abs() < 1e-6
    );
    assert_eq!(measures.throughput_bps, Some(0.0));
}

/// Thirty nodes that move, with drawn sessions and every profile's TCP.
fn mobile(profile_name: &str, routing: RoutingKind, seed: u64, duration_s: f64) -> Scenario {
    let params = WaypointParams { nodes: 30, width_m: 700.0, height_m: 700.0, ..WaypointParams::default() };
    let streams = Streams::new(seed, 0);
    let movement =
        waypoint::generate(&params, Span::from_secs(duration_s), &streams).expect("a usable field");
    let plans = draw_sessions(&WebParams::default(), 30, &streams).expect("30 nodes are enough");
    let flows = plans.into_iter().map(|plan| session(plan.client, plan.server, plan.cycles)).collect();
    let params = profile(profile_name).expect("the profile exists");
    Scenario { routing, params, flows, movement, ..chain(1, Vec::new(), duration_s) }
}

#[test]
fn sessions_run_over_every_protocol_and_profile() {
    for name in PROFILES {
        for routing in [RoutingKind::Aodv, RoutingKind::Dsdv, RoutingKind::Dsr, RoutingKind::Adv] {
            let scenario = mobile(name, routing, 2, 60.0);
            let result = run(&scenario, false).expect("the books balance").result;
            let totals = result.totals.web.clone().expect("there are sessions");
            assert_eq!(totals.web_sessions, 10);
            assert!(totals.web_cycles_completed > 10, "{name} {routing:?}: {totals:?}");
            assert_eq!(result, run(&scenario, true).expect("it runs again").result, "{name} {routing:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    /// The books balance and no session gets more than it asked for, whenever the run is cut off.
    #[test]
    fn sessions_can_be_cut_off_anywhere(seed in 0u64..1000, duration_s in 1.5f64..40.0, elfn in any::<bool>()) {
        let mut scenario = mobile("ns-2.35", RoutingKind::Aodv, seed, duration_s);
        if elfn {
            scenario.params.tcp.apply_sender("elfn");
        }
        let result = run(&scenario, false).expect("the books balance").result;
        for (flow, spec) in result.flows.iter().zip(&scenario.flows) {
            let (FlowMeasures::Web(web), FlowKind::Web { cycles }) = (&flow.measures, &spec.kind) else {
                panic!("only sessions were asked for");
            };
            let done = web.cycles_completed as usize;
            let size = |cycle: &WebCycle| cycle.request_bytes + cycle.replies_bytes.iter().sum::<u64>();
            let least: u64 = cycles[..done].iter().map(size).sum();
            let most: u64 = cycles[..(done + 1).min(cycles.len())].iter().map(size).sum();
            prop_assert!((least..=most).contains(&web.delivered_bytes), "{least} {most} {web:?}");
        }
    }
}
