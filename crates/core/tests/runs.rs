//! Whole runs: determinism, the audit, independence of what is far apart, and one-hop capacity.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::drops::DropReason;
use manetlab_core::ifq::QueueDiscipline;
use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::mac::{Access, DataWait, MacParams, Timing};
use manetlab_core::mobility::waypoint::{self, WaypointParams};
use manetlab_core::mobility::{Command, Point, Trajectory};
use manetlab_core::observe::{FlowMeasures, RouteMeasures};
use manetlab_core::profile::{PROFILES, profile};
use manetlab_core::routing::{Action, Routing};
use manetlab_core::scenario::{Flow, FlowKind, RoutingKind, Scenario};
use manetlab_core::simulation::{
    Options, Outcome, RunError, WORK_BETWEEN_QUESTIONS, run, run_while, run_with,
};
use manetlab_core::wire::{NodeId, Packet};
use proptest::prelude::*;

use common::{chain, flow};

fn cbr(src: u32, dst: u32, start_s: f64, interval_s: f64) -> Flow {
    let kind = FlowKind::Cbr { bytes: 512, interval_s, random: false, max_packets: None };
    flow(src, dst, start_s, kind)
}

fn tcp(src: u32, dst: u32, start_s: f64) -> Flow {
    let kind = FlowKind::Tcp { bytes: None, window: Some(8), segment_bytes: Some(1460) };
    flow(src, dst, start_s, kind)
}

/// Twenty nodes that move, with TCP and CBR.
fn mobile(profile_name: &str, seed: u64, duration_s: f64) -> Scenario {
    let params = WaypointParams { nodes: 20, width_m: 600.0, height_m: 600.0, ..WaypointParams::default() };
    let streams = Streams::new(seed, 0);
    let movement =
        waypoint::generate(&params, Span::from_secs(duration_s), &streams).expect("a usable field");
    Scenario {
        duration_s,
        warmup_s: 0.0,
        seed,
        replication: 0,
        routing: RoutingKind::Aodv,
        params: profile(profile_name).expect("the profile exists"),
        flows: vec![tcp(0, 1, 0.5), cbr(2, 3, 0.1, 0.05), cbr(4, 5, 0.2, 0.05), cbr(1, 6, 0.3, 0.05)],
        rates: Vec::new(),
        radios: Vec::new(),
        walls: Vec::new(),
        energy: None,
        wired: Vec::new(),
        movement,
    }
}

fn outcome(scenario: &Scenario) -> Outcome {
    run(scenario, false).expect("the scenario runs and its books balance")
}

#[test]
fn the_same_scenario_gives_the_same_result_with_and_without_recording() {
    for name in PROFILES {
        let scenario = mobile(name, 3, 20.0);
        let plain = outcome(&scenario);
        let again = outcome(&scenario);
        let recorded = run(&scenario, true).expect("the scenario runs");
        assert_eq!(plain, again, "{name}");
        assert_eq!(plain.result, recorded.result, "{name}");
        assert!(recorded.recording.is_some_and(|recording| recording.records().len() > 1000), "{name}");
    }
}

#[test]
fn seed_and_replication_change_the_result() {
    let base = mobile("ns-2.35", 3, 20.0);
    let other_seed = Scenario { seed: 4, ..base.clone() };
    let other_replication = Scenario { replication: 1, ..base.clone() };
    let hash = |scenario: &Scenario| outcome(scenario).result.result_hash;
    assert_ne!(hash(&base), hash(&other_seed));
    assert_ne!(hash(&base), hash(&other_replication));
}

/// What is out of carrier-sense range does not exist: a second network far away changes no flow of the first.
#[test]
fn networks_far_apart_do_not_touch_each_other() {
    let alone = mobile("ns-2.35", 5, 20.0);
    let mut both = alone.clone();
    let first = alone.movement.len() as u32;
    both.movement.extend((0..5).map(|i| Trajectory::fixed(50_000.0 + 150.0 * f64::from(i), 0.0)));
    both.flows.push(tcp(first, first + 4, 0.25));
    let (alone, both) = (outcome(&alone).result, outcome(&both).result);
    assert_eq!(alone.flows[..], both.flows[..4]);
    assert!(matches!(&both.flows[4].measures, FlowMeasures::Tcp(tcp) if tcp.delivered_bytes > 0));
}

/// Goodput of one saturated UDP hop, in bit/s: payload over the mean length of one exchange
/// (IEEE 802.11-1999 §9.2). The mean backoff is half of the greatest draw.
fn closed_form_bps(params: &MacParams, payload: u32) -> f64 {
    let timing = Timing::new(params);
    let frame_bytes = timing.frame_bytes(payload + 28);
    let handshake = if timing.uses_rts(frame_bytes) {
        timing.rts + timing.sifs + timing.cts + timing.before_data
    } else {
        Span::ZERO
    };
    let (data, ack) = (timing.airtime(frame_bytes, timing.data_rate), timing.ack(timing.data_rate).1);
    let exchange = timing.difs + handshake + data + timing.sifs + ack;
    let greatest = if params.backoff_includes_cw { params.cw_min } else { params.cw_min - 1 };
    let backoff_s = f64::from(greatest) / 2.0 * timing.slot.as_secs();
    f64::from(payload) * 8.0 / (exchange.as_secs() + backoff_s)
}

#[test]
fn every_wait_after_a_cts_lets_the_exchange_through() {
    for data_wait in [DataWait::Carrier, DataWait::Data, DataWait::Exchange] {
        for (difs_before_data, ack_needs_cts) in [(false, false), (false, true), (true, false), (true, true)]
        {
            let mut scenario = Scenario { warmup_s: 1.0, ..chain(1, vec![cbr(0, 1, 0.0, 0.001)], 21.0) };
            scenario.movement[1] = Trajectory::fixed(1.0, 0.0);
            let waits = MacParams { data_wait, difs_before_data, ack_needs_cts, ..scenario.params.mac };
            scenario.params.mac =
                MacParams { access: Access::AlwaysBackoff, rts_threshold_bytes: 0, ..waits };
            let expected = closed_form_bps(&scenario.params.mac, 512);
            let found = outcome(&scenario).result.totals.cbr_throughput_bps.expect("CBR");
            assert!((found / expected - 1.0).abs() < 0.01, "{data_wait:?}: {found} for {expected}");
        }
    }
}

#[test]
fn one_hop_udp_goodput_is_the_closed_form() {
    for access in [Access::Standard, Access::AlwaysBackoff] {
        for (rts_threshold_bytes, payload) in [(0, 512), (0, 1000), (0, 1460), (2347, 1000)] {
            let mut flow = cbr(0, 1, 0.0, 0.001);
            flow.kind = FlowKind::Cbr { bytes: payload, interval_s: 0.001, random: false, max_packets: None };
            let mut scenario = Scenario { warmup_s: 1.0, ..chain(1, vec![flow], 61.0) };
            // One metre: what propagation takes is not in the closed form.
            scenario.movement[1] = Trajectory::fixed(1.0, 0.0);
            scenario.params.mac = MacParams { access, rts_threshold_bytes, ..scenario.params.mac };
            let expected = closed_form_bps(&scenario.params.mac, payload);
            let found = outcome(&scenario).result.totals.cbr_throughput_bps.expect("CBR");
            assert!((found / expected - 1.0).abs() < 0.005, "{access:?} {payload} B: {found} for {expected}");
        }
    }
}

#[test]
fn a_transfer_of_given_length_delivers_exactly_that() {
    let flow = Flow {
        kind: FlowKind::Tcp { bytes: Some(100_001), window: None, segment_bytes: None },
        ..tcp(0, 3, 1.0)
    };
    let result = outcome(&chain(3, vec![flow], 60.0)).result;
    let FlowMeasures::Tcp(measures) = &result.flows[0].measures else { panic!("flow 0 is TCP") };
    assert_eq!(measures.delivered_bytes, 100_001);
    assert!(measures.completed_s.is_some_and(|time| time > 1.0 && time < 60.0));
    assert_eq!(measures.hops_mean, Some(3.0));
}

#[test]
fn a_flow_without_a_path_delivers_nothing_and_every_packet_has_an_end() {
    let mut scenario = chain(2, vec![cbr(0, 2, 0.0, 0.1)], 50.0);
    scenario.routing = RoutingKind::Aodv;
    scenario.movement[1] = Trajectory::fixed(10_000.0, 0.0);
    let result = outcome(&scenario).result;
    assert_eq!(result.totals.cbr_delivery_fraction, Some(0.0));
    let books = &result.audit.flows[0];
    assert_eq!((books.made, books.delivered), (500, 0));
    assert!(books.lost > 0 && books.in_flight > 0, "{books:?}");
}

/// What happens in the instant in which the warm-up ends belongs to the window.
#[test]
fn a_flow_that_begins_with_the_window_is_counted_from_its_first_segment() {
    for start in [0.0, 5.0] {
        let kind = FlowKind::Tcp { bytes: Some(5000), window: Some(8), segment_bytes: Some(1000) };
        let mut scenario =
            Scenario { warmup_s: start, ..chain(1, vec![Flow { kind, ..tcp(0, 1, start) }], 20.0) };
        scenario.params = profile("cmu-1998").expect("the profile exists");
        let result = outcome(&scenario).result;
        let FlowMeasures::Tcp(measures) = &result.flows[0].measures else { panic!("flow 0 is TCP") };
        assert_eq!((measures.segments_sent, measures.goodput), (5, Some(1.0)), "start at {start} s");
    }
}

/// Applications of neighbours may begin in the same instant; their requests must not collide for ever.
#[test]
fn sources_that_begin_at_the_same_instant_find_their_routes() {
    let mut scenario = chain(2, vec![cbr(0, 2, 1.0, 0.1), cbr(1, 0, 1.0, 0.1)], 20.0);
    scenario.routing = RoutingKind::Aodv;
    let totals = outcome(&scenario).result.totals;
    assert!(totals.cbr_delivery_fraction.is_some_and(|fraction| fraction > 0.95), "{totals:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 240, ..ProptestConfig::default() })]

    /// The books balance whenever the run is cut off, whatever the rules.
    #[test]
    fn the_audit_balances_wherever_the_run_is_cut(
        name in prop::sample::select(PROFILES.to_vec()),
        routing in prop::sample::select(RoutingKind::ALL.to_vec()),
        seed in 0u64..1000,
        duration_us in 300_000u64..6_000_000,
        arp in any::<bool>(),
        buffer in 1u32..5,
        sender in prop::sample::select(vec!["reno", "tcp-bus"]),
    ) {
        let mut scenario = Scenario { routing, ..mobile(name, seed, duration_us as f64 * 1e-6) };
        prop_assert!(scenario.params.tcp.apply_sender(sender));
        scenario.params.tcp.bus_buffer_packets = 2 * buffer;
        scenario.params.arp.enabled = arp;
        scenario.params.queue.packets = buffer;
        scenario.flows.retain(|flow| flow.start_s < scenario.duration_s);
        let result = run(&scenario, false).expect("balanced").result;
        for books in &result.audit.flows {
            prop_assert_eq!(books.made, books.delivered + books.lost + books.in_flight);
        }
        for books in [&result.audit.data, &result.audit.routing] {
            let ends = books.delivered + books.consumed + books.handed_over + books.dropped + books.in_flight;
            prop_assert_eq!(books.made + books.received, ends);
        }
    }
}

/// Without ARP and delays, a salvaged packet reaches the MAC in the instant in which it gave the packet up,
/// before it asks for the next one.
#[test]
fn a_packet_salvaged_at_once_is_not_overwritten_by_the_next_in_the_queue() {
    let mut scenario = Scenario { routing: RoutingKind::Dsr, ..mobile("rfc", 519, 0.8) };
    scenario.params.arp.enabled = false;
    scenario.params.queue.packets = 1;
    scenario.flows.retain(|flow| flow.start_s < scenario.duration_s);
    let audit = run(&scenario, false).expect("balanced").result.audit;
    assert!(audit.data.handed_over > 0, "the scenario carries nothing: {audit:?}");
}

#[test]
fn a_run_stops_when_it_is_told_to_and_asking_changes_nothing() {
    let scenario = mobile("ns-2.35", 3, 60.0);
    let mut asked = 0;
    let mut never = || {
        asked += 1;
        true
    };
    assert_eq!(run_while(&scenario, Options::default(), &mut never), Ok(outcome(&scenario)));
    assert!(asked > 0, "the run is too short to be asked");
    assert!(matches!(run_while(&scenario, Options::default(), &mut || false), Err(RunError::Stopped(_))));
}

/// Twenty nodes that nearly all hear each other: an event is up to twenty arrivals, and takes as long.
#[test]
fn a_dense_network_is_asked_as_often_as_its_work_takes() {
    let scenario = mobile("ns-2.35", 3, 60.0);
    let mut asked = 0;
    let mut count = || {
        asked += 1;
        true
    };
    let result = run_while(&scenario, Options::default(), &mut count).expect("it runs").result;
    let work = result.events + result.arrivals;
    assert!(work > 4 * WORK_BETWEEN_QUESTIONS, "too little work: {work}");
    assert!(asked + 1 >= work / (WORK_BETWEEN_QUESTIONS + 1000), "asked {asked} times in {work}");
}

/// Each event of a protocol that computes routes from all it hears takes as long as a hundred others'.
#[test]
fn a_run_of_few_events_is_asked_many_times() {
    let scenario = mobile("ns-2.35", 3, 3.0);
    let mut asked = 0;
    let mut count = || {
        asked += 1;
        true
    };
    let result = run_while(&scenario, Options::default(), &mut count).expect("it runs").result;
    let work = result.events + result.arrivals;
    assert!(work < 100_000 && asked > 20, "asked {asked} times in {work}");
}

/// A protocol that wants to be woken at an instant that has passed, once it has a packet to send.
struct Late(bool);

impl Routing for Late {
    fn handle_start(&mut self, _: Time, _: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, _: Time, packet: Packet, actions: &mut Vec<Action>) {
        self.0 = true;
        actions.push(Action::Drop(packet, DropReason::NoRoute));
    }

    fn handle_incoming(&mut self, _: Time, packet: Packet, _: NodeId, actions: &mut Vec<Action>) {
        actions.push(Action::Deliver(packet));
    }

    fn handle_link_failure(&mut self, _: Time, packet: Packet, _: NodeId, actions: &mut Vec<Action>) {
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Action>) {
        self.0 = false;
    }

    fn next_timeout(&self) -> Time {
        if self.0 { Time::from_secs(0.25) } else { Time::NEVER }
    }

    fn buffered(&self, _: &mut dyn FnMut(&Packet)) {}

    fn next_hop(&self, _: Time, _: NodeId) -> Option<NodeId> {
        None
    }
}

#[test]
fn a_deadline_in_the_past_ends_the_run() {
    let scenario = Scenario { routing: RoutingKind::Custom, ..chain(1, vec![cbr(0, 1, 0.5, 0.1)], 2.0) };
    let mut make = |_, _| Box::new(Late(false)) as Box<dyn Routing>;
    let ended = run_with(&scenario, Options::default(), Some(&mut make), &mut || true);
    let Err(RunError::Backwards { owner, deadline_s, now_s }) = ended else { panic!("{ended:?}") };
    assert_eq!((owner.as_str(), deadline_s, now_s), ("routing at node 0", 0.25, 0.5));
}

/// DSR held packets of others without a search, and asked to be woken at time zero.
#[test]
fn packets_that_dsr_cannot_salvage_do_not_turn_time_back() {
    let flows = [(15, 14), (6, 10), (13, 3)].map(|(src, dst)| {
        let kind = FlowKind::Tcp { bytes: None, window: None, segment_bytes: None };
        flow(src, dst, 0.0, kind)
    });
    let mut scenario = chain(15, flows.to_vec(), 3.0);
    scenario.routing = RoutingKind::Dsr;
    scenario.params.dsr.salvage_requests = 1;
    for (at, node) in scenario.movement.iter_mut().enumerate() {
        node.start.x = 240.0 * at as f64;
    }
    outcome(&scenario);
}

#[test]
fn series_change_nothing_and_sum_to_the_result() {
    for profile in ["ns-2.35", "rfc"] {
        let scenario = mobile(profile, 3, 20.0);
        let options = Options { series_step: Some(Span::from_millis(7)), ..Options::default() };
        let mut with_series = run_while(&scenario, options, &mut || true).expect("the scenario runs");
        let series = with_series.series.take().expect("series were asked for");
        assert_eq!(with_series, outcome(&scenario));
        assert_eq!(series.steps(), 20_000 / 7);
    }
}

/// The middle of a chain goes out of reach for a while: 600 m to the side at 100 m/s, and back.
#[test]
fn an_outage_shows_in_repairs_gap_and_timeouts() {
    use manetlab_core::mobility::{Command, Point};

    let mut scenario = chain(2, vec![tcp(0, 2, 1.0)], 60.0);
    scenario.routing = RoutingKind::Aodv;
    let go = |at_s: f64, y: f64| Command::GoTo {
        at: Time::from_secs(at_s),
        to: Point { x: 200.0, y },
        speed: 100.0,
    };
    scenario.movement[1].commands = vec![go(20.0, 600.0), go(30.0, 0.0)];
    let tcp_measures = |scenario: &Scenario| match outcome(scenario).result.flows[0].measures.clone() {
        FlowMeasures::Tcp(measures) => measures,
        _ => unreachable!("the flow is TCP"),
    };
    let broken = tcp_measures(&scenario);
    // Out of reach from 21.5 s (150 m, 250 m away) to 34.5 s.
    assert!(broken.longest_gap_s > 12.9 && broken.longest_gap_s < 25.0, "{broken:?}");
    assert!(broken.route_repairs >= 1, "{broken:?}");
    let longest = broken.route_repair_max_s.expect("the route was repaired");
    assert!(longest > 12.0 && longest <= broken.longest_gap_s, "{broken:?}");
    assert!(broken.timeouts_in_row >= 3, "{broken:?}");
    scenario.movement[1].commands.clear();
    let whole = tcp_measures(&scenario);
    assert!(whole.longest_gap_s < 2.0, "{whole:?}");
    assert_eq!((whole.route_repairs, whole.route_repair_mean_s), (0, None));
}

/// A chain whose queues mark: the same windows that cost segments without ECN cost none with it.
#[test]
fn queues_mark_segments_that_understand_marks_and_drop_others() {
    let with = |ecn: bool| {
        let wide = FlowKind::Tcp { bytes: None, window: Some(40), segment_bytes: Some(1460) };
        let flow = Flow { kind: wide, ..tcp(0, 2, 0.5) };
        let mut scenario = chain(2, vec![flow], 30.0);
        scenario.params.queue.discipline = QueueDiscipline::Red;
        scenario.params.queue.red_weight = 0.02;
        scenario.params.tcp.ecn = ecn;
        let outcome = run(&scenario, true).expect("the scenario runs and its books balance");
        let marks = outcome.recording.expect("asked for").to_json_lines().matches("\"marked\"").count();
        let early = |packets: &str| {
            let drops = outcome.result.drops.iter();
            drops.filter(|drop| drop.reason == DropReason::EarlyDrop && drop.packets == packets).count()
        };
        let FlowMeasures::Tcp(measures) = &outcome.result.flows[0].measures else { panic!("a TCP flow") };
        (marks, early("tcp"), measures.retransmissions)
    };
    let (marks, drops, retransmissions) = with(true);
    assert!(marks > 10 && drops == 0 && retransmissions == 0, "{marks} {drops} {retransmissions}");
    let (marks, drops, retransmissions) = with(false);
    assert!(marks == 0 && drops == 1 && retransmissions > 10, "{marks} {drops} {retransmissions}");
}

/// The first instants at which `node` sent a packet of this name, in s.
fn sent(lines: &str, node: u32, what: &str) -> Vec<f64> {
    let of_node = format!("\"node\":{node},\"event\":\"sent\"");
    let named = format!("\"what\":\"{what}\",\"src\":{node},");
    let wanted = lines.lines().filter(|line| line.contains(&of_node) && line.contains(&named));
    let time = |line: &str| line["{\"t\":".len()..].split(',').next().and_then(|t| t.parse().ok());
    wanted.map(|line| time(line).expect("a time")).collect()
}

/// ADV floods what it is told: at the source of each flow, before its first packet and after its last.
#[test]
fn flows_tell_routing_when_they_begin_and_are_over() {
    let mut one_way = cbr(0, 2, 1.0, 0.5);
    one_way.stop_s = Some(3.2);
    let mut two_way = tcp(2, 0, 8.0);
    two_way.kind = FlowKind::Tcp { bytes: Some(20_000), window: Some(8), segment_bytes: Some(1460) };
    let endless = tcp(1, 0, 12.0);
    let mut scenario = chain(2, vec![one_way, two_way, endless], 20.0);
    scenario.routing = RoutingKind::Adv;
    scenario.params.adv.linger_s = 0.0;
    let outcome = run(&scenario, true).expect("the scenario runs and its books balance");
    let lines = outcome.recording.expect("asked for").to_json_lines();
    let within = |times: &[f64], low: f64, high: f64| {
        assert!(times.iter().any(|time| (low..high).contains(time)), "{times:?} from {low} to {high}");
    };
    within(&sent(&lines, 0, "init-connection"), 1.0, 1.01);
    within(&sent(&lines, 0, "end-connection"), 3.0, 3.01);
    within(&sent(&lines, 2, "init-connection"), 8.0, 8.01);
    within(&sent(&lines, 2, "end-connection"), 8.01, 11.0);
    within(&sent(&lines, 1, "init-connection"), 12.0, 12.01);
    let ends: usize = (0..3).map(|node| sent(&lines, node, "end-connection").len()).sum();
    assert_eq!(ends, 2 * 3, "two floods that three nodes send, and none of the endless flow");
    let FlowMeasures::Tcp(done) = &outcome.result.flows[1].measures else { panic!("a TCP flow") };
    assert_eq!(done.delivered_bytes, 20_000);
}

/// Every source over every transport, from one end of a quiet chain to the other.
#[test]
fn every_source_goes_over_every_transport() {
    use manetlab_core::scenario::Carrier;
    use manetlab_core::traffic::Durations;

    for transport in [Carrier::Udp, Carrier::Adp, Carrier::Tcp] {
        let on_off = FlowKind::OnOff {
            transport,
            bytes: 200,
            interval_s: 0.05,
            on_s: 0.5,
            off_s: 0.5,
            durations: Durations::Exponential,
            shape: 1.5,
        };
        let poisson = FlowKind::Poisson { transport, bytes: 300, interval_s: 0.2, max_packets: None };
        let trace = FlowKind::Trace { transport, packets: vec![(0.0, 3000), (0.5, 1), (0.5, 700)] };
        for kind in [on_off, poisson, trace, FlowKind::Video { transport }] {
            let flow = Flow { stop_s: Some(8.0), ..flow(0, 2, 1.0, kind) };
            let result = outcome(&chain(2, vec![flow], 12.0)).result;
            let totals = result.totals.messages.as_ref().expect("there are messages");
            assert!(totals.messages_made >= 3, "{transport:?}: {totals:?}");
            assert_eq!(totals.messages_delivered, totals.messages_made, "{transport:?}: {result:?}");
            assert_eq!((totals.messages_dropped, totals.messages_lost), (0, 0));
            assert!(totals.message_throughput_bps > 0.0);
        }
    }
}

/// Frames that are cut arrive whole, by as many packets as the cut makes.
#[test]
fn cut_frames_arrive_whole() {
    use manetlab_core::scenario::Carrier;

    for transport in [Carrier::Udp, Carrier::Adp] {
        let kind = FlowKind::Video { transport };
        let flow = Flow { stop_s: Some(11.0), ..flow(0, 1, 1.0, kind) };
        // A packet before them finds the neighbour's address: ARP holds one packet only while it asks.
        let mut early = cbr(0, 1, 0.0, 1.0);
        early.stop_s = Some(0.5);
        let mut scenario = chain(1, vec![flow, early], 12.0);
        scenario.params.video.packet_bytes = 500;
        let FlowMeasures::Video(video) = &outcome(&scenario).result.flows[0].measures else {
            panic!("video")
        };
        let messages = &video.messages;
        assert_eq!((messages.messages_made, messages.messages_delivered), (150, 150));
        assert_eq!((video.i_frames, video.p_frames, video.b_frames), (10, 40, 100));
        assert!(messages.packets_sent >= Some(150 + 10 * 6), "{messages:?}");
        assert_eq!(video.decodable_fraction.map(|fraction| fraction > 0.85), Some(true));
    }
}

/// Endless data over ADP: one packet under way, as an ACK clock has it, and more with a window.
#[test]
fn an_endless_adp_flow_is_clocked_by_its_acks() {
    use manetlab_core::transport::adp::AdpVariant;

    let flow = Flow { stop_s: Some(9.0), ..flow(0, 2, 1.0, FlowKind::Adp {}) };
    let mut scenario = chain(2, vec![flow], 10.0);
    let measures = |scenario: &Scenario| match outcome(scenario).result.flows[0].measures.clone() {
        FlowMeasures::Adp(measures) => measures,
        _ => unreachable!("the flow is endless ADP"),
    };
    let clocked = measures(&scenario);
    let packets = clocked.packets_sent.expect("ADP counts packets");
    // One is under way at a time; the first of all waits for its route.
    assert!(packets > 200 && clocked.messages_lost == 0, "{clocked:?}");
    assert_eq!((clocked.messages_made, clocked.acks_sent), (packets, Some(packets)));
    scenario.params.adp.variant = AdpVariant::Windowed;
    let several = measures(&scenario);
    // More under way wait longer for each other.
    assert!(several.network_latency_mean_s > clocked.network_latency_mean_s, "{several:?}");
}

/// A frame buffer drops the oldest while the network is away, and what it holds is on time when it is back.
#[test]
fn an_outage_fills_the_frame_buffer_and_costs_udp_its_frames() {
    use manetlab_core::mobility::{Command, Point};
    use manetlab_core::scenario::Carrier;

    let broken = |transport, buffer_frames| {
        let kind = FlowKind::Video { transport };
        let flow = Flow { stop_s: Some(50.0), ..flow(0, 2, 1.0, kind) };
        let mut scenario = chain(2, vec![flow], 60.0);
        scenario.routing = RoutingKind::Aodv;
        scenario.params.adp.buffer_frames = buffer_frames;
        let go = |at_s: f64, y: f64| Command::GoTo {
            at: Time::from_secs(at_s),
            to: Point { x: 200.0, y },
            speed: 100.0,
        };
        scenario.movement[1].commands = vec![go(20.0, 600.0), go(30.0, 0.0)];
        outcome(&scenario).result.totals.messages.expect("there are messages")
    };
    let (udp, short) = (broken(Carrier::Udp, 75), broken(Carrier::Adp, 75));
    let unlimited = broken(Carrier::Adp, 0);
    assert_eq!((udp.messages_made, short.messages_made), (735, 735));
    assert_eq!((udp.messages_dropped, unlimited.messages_dropped), (0, 0));
    // Some 13 s are out of reach, 195 frames, of which 75 wait.
    assert!(short.messages_dropped > 80, "{short:?}");
    assert!(udp.messages_lost > 4 * short.messages_lost, "{udp:?} {short:?}");
    assert!(unlimited.messages_delivered > short.messages_delivered, "{unlimited:?}");
}

/// What the source of the first flow held.
fn route_of(scenario: &Scenario) -> Option<RouteMeasures> {
    let mut scenario = scenario.clone();
    scenario.params.network.measure_route_hops = true;
    outcome(&scenario).result.flows[0].route.clone()
}

#[test]
fn the_route_of_a_chain_is_as_long_as_the_chain() {
    for routing in
        [RoutingKind::Aodv, RoutingKind::Dsr, RoutingKind::Dsdv, RoutingKind::Adv, RoutingKind::Static]
    {
        for name in PROFILES {
            let mut scenario =
                Scenario { routing, warmup_s: 80.0, ..chain(3, vec![cbr(0, 3, 60.0, 0.1)], 100.0) };
            scenario.params = profile(name).expect("the profile exists");
            let found = route_of(&scenario).expect("the protocol knows its routes");
            assert_eq!(
                found,
                RouteMeasures { route_hops_mean: Some(3.0), route_missing_share: Some(0.0) },
                "{routing:?}, {name}"
            );
        }
    }
    let flooding = Scenario { routing: RoutingKind::Flooding, ..chain(3, vec![cbr(0, 3, 1.0, 0.1)], 5.0) };
    assert_eq!(route_of(&flooding), None);
}

#[test]
fn a_route_weighs_as_long_as_its_source_holds_it() {
    for routing in [RoutingKind::Aodv, RoutingKind::Dsr] {
        // Node 4 takes the place of nodes 1 and 2 after 20 s: two links instead of three. After 30 s nobody
        // is left between the ends.
        let away = |at_s: f64| Command::Jump { at: Time::from_secs(at_s), to: Point { x: 9000.0, y: at_s } };
        let mut scenario = Scenario { routing, ..chain(3, vec![cbr(0, 3, 0.0, 0.05)], 50.0) };
        scenario.movement = vec![
            Trajectory::fixed(0.0, 0.0),
            Trajectory { commands: vec![away(20.0)], ..Trajectory::fixed(150.0, 100.0) },
            Trajectory { commands: vec![away(20.5)], ..Trajectory::fixed(300.0, 100.0) },
            Trajectory::fixed(440.0, 0.0),
            Trajectory {
                commands: vec![
                    Command::Jump { at: Time::from_secs(19.0), to: Point { x: 220.0, y: 0.0 } },
                    away(30.0),
                ],
                ..Trajectory::fixed(9500.0, 0.0)
            },
        ];
        let found = route_of(&scenario).expect("the protocol knows its routes");
        // Three links for 20 s, two for 10 s, none for 20 s; the searches take some tenths of a second.
        let mean = found.route_hops_mean.expect("there was a route");
        assert!((mean - (3.0 * 20.0 + 2.0 * 10.0) / 30.0).abs() < 0.05, "{routing:?}: {found:?}");
        let missing = found.route_missing_share.expect("the flow was open");
        assert!((missing - 0.4).abs() < 0.02, "{routing:?}: {found:?}");
    }
}

#[test]
fn measuring_routes_changes_nothing_else() {
    for routing in RoutingKind::ALL {
        let scenario = Scenario { routing: *routing, ..mobile("rfc", 4, 20.0) };
        let mut measured = scenario.clone();
        measured.params.network.measure_route_hops = true;
        let (plain, mut found) = (outcome(&scenario).result, outcome(&measured).result);
        found.flows.iter_mut().for_each(|flow| flow.route = None);
        assert_eq!((&plain.flows, &plain.totals, plain.events), (&found.flows, &found.totals, found.events));
    }
}
