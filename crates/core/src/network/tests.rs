//! What ends a run, and what layers tell each other in one.

use super::{Network, Target};
use crate::drops::DropReason;
use crate::ifq::{Outgoing, QueueDiscipline};
use crate::kernel::{Slot, Span, Streams, Time};
use crate::mobility::Trajectory;
use crate::mobility::waypoint::{self, WaypointParams};
use crate::observe::{Options, RunError, RunResult};
use crate::profile::profile;
use crate::radio::Propagation;
use crate::scenario::{Carrier, Flow, FlowKind, RoutingKind, Scenario};
use crate::simulation::run;
use crate::stage::Stage;
use crate::traffic::WebCycle;
use crate::wire::adp::Segment;
use crate::wire::mac::Body;
use crate::wire::{FlowId, NodeId, Packet, Payload};

/// An ADP packet reaches a CBR flow: the run ends at that instant, and says where and why.
#[test]
fn a_broken_invariant_ends_the_run() {
    let scenario = pair();
    let mut network = Network::new(&scenario, Options::default(), None, None);
    let ack = Segment::Ack { number: 0, count: 1, echo: network.clock.now, vector: 0 };
    let payload = Payload::Adp(FlowId(0), ack, None);
    let mut packet = Packet::control(network.clock.now, NodeId(0), NodeId(1), 64, 36, payload);
    packet.uid = network.accounts.audit.make(Some(FlowId(0)));
    network.deliver(1, &packet);
    let what = "a CBR flow gets a packet that is not its own";
    let wanted = RunError::Broken { what, node: 0, at_s: 0.0 };
    assert_eq!(network.run_to_end(&mut || true), Err(wanted.clone()));
    assert_eq!(wanted.to_string(), format!("at 0 s, node 0: {what}"));
}

/// A flow between two nodes, 100 m apart.
fn pair() -> Scenario {
    let kind = FlowKind::Cbr { bytes: 512, interval_s: 0.25, random: false, max_packets: None };
    Scenario {
        duration_s: 10.0,
        warmup_s: 0.0,
        seed: 1,
        replication: 0,
        routing: RoutingKind::Static,
        params: profile("rfc").expect("the profile exists"),
        flows: vec![Flow {
            src: 0,
            dst: 1,
            start_s: 1.0,
            stop_s: None,
            late_after_s: None,
            deadline_ms: None,
            throttle_bps: None,
            alone_bps: None,
            oracle_bps: None,
            reserve_bps: None,
            reserve_min_bps: None,
            kind,
        }],
        rates: Vec::new(),
        radios: Vec::new(),
        walls: Vec::new(),
        energy: None,
        wired: Vec::new(),
        movement: vec![Trajectory::fixed(0.0, 0.0), Trajectory::fixed(100.0, 0.0)],
    }
}

fn broadcast(uid: u64) -> Outgoing {
    let packet = Packet::control(Time::ZERO, NodeId(0), NodeId::BROADCAST, 1, 100, Payload::Nothing);
    Outgoing { to: NodeId::BROADCAST, body: Body::Ip(Packet { uid, ..packet }) }
}

/// What routing makes of a frame that failed reaches the interface queue before the MAC asks for the next
/// packet: it waits behind those that are there, although the MAC is ready.
#[test]
fn no_packet_overtakes_those_in_the_interface_queue() {
    let scenario = pair();
    let mut network = Network::new(&scenario, Options::default(), None, None);
    assert!(network.stations[0].queue.push(broadcast(1)).is_none() && network.channel.macs[0].is_ready());
    network.enqueue(0, broadcast(2));
    let uids = network.stations[0].queue.iter().map(|waiting| match &waiting.body {
        Body::Ip(packet) => packet.uid,
        Body::Arp(_) => panic!("not of this test"),
    });
    assert_eq!(uids.collect::<Vec<u64>>(), [1, 2]);
    assert!(network.channel.macs[0].in_hand().is_none());
}

/// Lets node 0 broadcast, up to the moment at which the frame's first bit leaves; returns its transmission.
fn put_on_air(network: &mut Network<'_>) -> u32 {
    network.enqueue(0, broadcast(1));
    loop {
        let (time, slot) = network.clock.agenda.pop().expect("the MAC contends");
        network.clock.now = time;
        match network.targets[slot.0 as usize] {
            Target::Air(id) => return id,
            target => network.fire(target),
        }
    }
}

/// A first bit that is due at the same time as something else leaves the order to the event queue, where the
/// order of slots decides: here the warm-up ends first.
#[test]
fn what_is_due_with_a_first_bit_keeps_its_place_before_it() {
    let scenario = pair();
    let mut network = Network::new(&scenario, Options::default(), None, None);
    let id = put_on_air(&mut network);
    let start = network.clock.now;
    let due = start + Span(Propagation::delay_ns(100.0 * 100.0).into());
    network.clock.agenda.set(Slot(0), due);
    network.continue_transmission(id);
    assert_eq!(
        (network.clock.now, network.channel.arrivals),
        (start, 0),
        "nothing is served before its time"
    );
    let mut order = Vec::new();
    while network.clock.agenda.peek_time() == due {
        let (time, slot) = network.clock.agenda.pop().expect("it was seen");
        network.clock.now = time;
        order.push((format!("{:?}", network.targets[slot.0 as usize]), network.channel.arrivals));
        network.fire(network.targets[slot.0 as usize]);
    }
    assert_eq!(order[..2], [("Warmup".to_owned(), 0), ("FrameStarts".to_owned(), 0)]);
    assert_eq!(network.channel.arrivals, 1);
}

/// Whoever wants to look at the network sees it as it is then: a first bit that is due later waits.
#[test]
fn a_first_bit_waits_for_who_wants_to_look_before_it() {
    let scenario = pair();
    let mut network = Network::new(&scenario, Options::default(), None, None);
    let id = put_on_air(&mut network);
    let due = network.clock.now + Span(Propagation::delay_ns(100.0 * 100.0).into());
    network.clock.set_pause(Time(due.0 - 1));
    network.continue_transmission(id);
    assert!(network.clock.now < due && network.channel.arrivals == 0);
    assert_eq!((network.clock.agenda.peek_time(), network.clock.halts()), (due, 1));
}

/// TSR under a whole network: transfers, messages over TCP and a Web session, with senders that react to
/// notices and others. The books balance, and destinations answer.
#[test]
fn tsr_holds_the_packets_of_every_kind_of_tcp() {
    let cycle = WebCycle { think_s: 0.5, request_bytes: 300, server_delay_s: 0.1, replies_bytes: vec![9000] };
    let poisson =
        FlowKind::Poisson { transport: Carrier::Tcp, bytes: 900, interval_s: 0.05, max_packets: None };
    let kinds = [
        FlowKind::Tcp { bytes: None, window: Some(8), segment_bytes: Some(512) },
        poisson,
        FlowKind::Web { cycles: vec![cycle; 1000] },
    ];
    for (kind, sender) in kinds.into_iter().zip(["reno", "elfn", "tcp-f"]) {
        for name in [sender, "reno"] {
            let result = among_breaking_links(kind.clone(), name);
            let holds = result.totals.holds.expect("TSR has holds");
            assert!(
                holds.holds > 3 && holds.probes_sent > 3 && holds.probes_answered > 0,
                "{name}: {holds:?}"
            );
            assert!(holds.holds_answered > 0 && holds.holds >= holds.holds_answered + holds.holds_timed_out);
            assert!(result.audit.balanced);
        }
    }
}

/// A flow between two of 25 nodes that move fast.
fn among_breaking_links(kind: FlowKind, sender: &str) -> RunResult {
    let field = WaypointParams {
        nodes: 25,
        width_m: 1000.0,
        height_m: 500.0,
        speed_min: 20.0,
        speed_max: 30.0,
        ..WaypointParams::default()
    };
    let movement =
        waypoint::generate(&field, Span::from_secs(60.0), &Streams::new(7, 0)).expect("a usable field");
    let mut params = profile("cmu-1998").expect("the profile exists");
    assert!(params.tcp.apply_sender(sender), "{sender}");
    let scenario = Scenario {
        duration_s: 60.0,
        warmup_s: 0.0,
        seed: 7,
        replication: 0,
        routing: RoutingKind::Tsr,
        params,
        flows: vec![Flow {
            src: 0,
            dst: 1,
            start_s: 1.0,
            stop_s: None,
            late_after_s: None,
            deadline_ms: None,
            throttle_bps: None,
            alone_bps: None,
            oracle_bps: None,
            reserve_bps: None,
            reserve_min_bps: None,
            kind,
        }],
        rates: Vec::new(),
        radios: Vec::new(),
        walls: Vec::new(),
        energy: None,
        wired: Vec::new(),
        movement,
    };
    run(&scenario, false).expect("it runs, and its books balance").result
}

/// Four nodes: 0 sends to 1, 100 m away; 2 decodes both, 3 only senses them. One packet, and its ACK.
#[test]
fn a_frame_keeps_the_channel_busy_for_all_who_sense_it_and_its_ack_for_those_who_decode_it() {
    let mut scenario = with_neighbourhood_red(pair(), 0.0);
    scenario.movement.extend([Trajectory::fixed(150.0, 0.0), Trajectory::fixed(400.0, 0.0)]);
    scenario.params.mac.rts_threshold_bytes = 3000;
    scenario.params.arp.enabled = false;
    let mut network = Network::new(&scenario, Options::default(), None, None);
    network.start();
    let mut sent = Vec::new();
    while let Some((time, slot)) = network.clock.agenda.pop()
        && time < Time::from_secs(1.2)
    {
        network.clock.now = time;
        let target = network.targets[slot.0 as usize];
        if let (Target::Air(id), true) = (target, sent.len() < 2)
            && let Some(frame) = network.channel.frame(id)
            && sent.last() != Some(&frame.airtime)
        {
            sent.push(frame.airtime);
        }
        // The channel is looked at only below.
        if !matches!(target, Target::Stage(Stage::Queue, _)) {
            network.fire(target);
        }
    }
    let [data, ack] = sent[..] else { panic!("a data frame and its ACK: {sent:?}") };
    let now = network.clock.now;
    let used: Vec<_> = (0..4).map(|node| network.channel.take_use(now, node)).collect();
    let nanos = |span: Span| span.0 as i64;
    let near = |found: Span, wanted: Span| (nanos(found) - nanos(wanted)).abs() < 2000;
    for node in [0, 1] {
        assert!(near(used[node].busy, data + ack) && near(used[node].own, data + ack), "{node}: {used:?}");
    }
    let sifs = Span::from_micros(10.0);
    assert!(near(used[2].busy, data + sifs + ack), "the NAV: {used:?}");
    assert!(near(used[3].busy, data + ack), "{used:?}");
    assert_eq!((used[2].own, used[3].own), (Span::ZERO, Span::ZERO));
    assert_eq!(network.channel.take_use(now, 0).busy, Span::ZERO, "it has been told");
}

/// With a flow that asks for more than the channel carries.
fn with_neighbourhood_red(mut scenario: Scenario, max_p: f64) -> Scenario {
    scenario.params.queue.discipline = QueueDiscipline::NeighbourhoodRed;
    scenario.params.queue.nred_max_p = max_p;
    scenario
}

#[test]
fn a_neighbourhood_without_a_probability_is_a_plain_queue_and_with_one_it_tells_and_drops() {
    let mut plain = pair();
    let second = Flow { src: 1, dst: 0, ..plain.flows[0].clone() };
    plain.flows.push(second);
    for flow in &mut plain.flows {
        flow.kind = FlowKind::Cbr { bytes: 512, interval_s: 0.003, random: false, max_packets: None };
    }
    let result = |scenario: &Scenario| run(scenario, false).expect("it runs, and its books balance").result;
    let drop_tail = result(&plain);
    let unwilling = result(&with_neighbourhood_red(plain.clone(), 0.0));
    assert_eq!(unwilling.result_hash, drop_tail.result_hash);
    let early = |result: &RunResult| {
        result.drops.iter().find(|drop| drop.reason == DropReason::EarlyDrop).map_or(0, |drop| drop.count)
    };
    assert_eq!((early(&drop_tail), early(&unwilling)), (0, 0));
    // Both are told 0.2 over a utilisation near 1, and each uses all of the channel: it sends or it receives.
    let willing = result(&with_neighbourhood_red(plain, 0.2));
    let made: u64 = 2 * 3000;
    let share = early(&willing) as f64 / made as f64;
    // Evenly spaced over 1 to 1/p packets, drops are 2 / (1 + 1/p) of all: a third.
    assert!((0.25..0.36).contains(&share), "{share}");
    // Each lets the other tell for as long as it believes it.
    let told = willing.totals.routing_packets_per_s;
    assert!(told > 3.0, "{told}");
}
