//! Both behaviours in the shared suite, and what their parameter sets say.

use proptest::prelude::*;

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::Action;
use crate::routing::aodv::probe::{ME, rerr, rrep, rreq, start};
use crate::routing::testbench::{
    Bench, a_restarted_node_forwards_again, at, loops_in_random_networks, suite,
};
use crate::wire::{Packet, Payload};

fn maker(params: AodvParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

#[test]
fn the_standard_passes_the_suite_with_local_repair_and_gratuitous_replies() {
    suite(&maker(AodvParams { local_repair: true, gratuitous_rrep: true, ..AodvParams::rfc() }));
}

#[test]
fn the_standard_passes_the_suite_with_hello_messages_instead_of_feedback() {
    suite(&maker(AodvParams { hello: true, link_layer_feedback: false, ..AodvParams::rfc() }));
}

#[test]
fn the_standard_passes_the_suite_with_acknowledged_replies() {
    suite(&maker(AodvParams { rrep_ack: true, ..AodvParams::rfc() }));
}

#[test]
fn the_ns_2_model_passes_the_suite_with_hello_messages_instead_of_feedback() {
    suite(&maker(AodvParams { hello: true, link_layer_feedback: false, ..AodvParams::ns_2_35() }));
}

#[test]
fn the_standard_never_loops() {
    loops_in_random_networks(&maker(AodvParams::rfc()), 0..30, true);
    let repairing = AodvParams { local_repair: true, gratuitous_rrep: true, ..AodvParams::rfc() };
    loops_in_random_networks(&maker(repairing), 0..30, true);
    let hello = AodvParams { hello: true, link_layer_feedback: false, ..AodvParams::rfc() };
    loops_in_random_networks(&maker(hello), 0..15, true);
    let acknowledged = AodvParams { rrep_ack: true, ..AodvParams::rfc() };
    loops_in_random_networks(&maker(acknowledged), 0..15, true);
}

/// The two that do not promise it: shows that the search for loops finds any.
#[test]
fn without_sequence_numbers_routes_loop() {
    let params = AodvParams { sequence_numbers: false, ..AodvParams::rfc() };
    assert!(!loops_in_random_networks(&maker(params), 0..10, false).is_empty());
}

#[test]
fn the_ns_2_model_loops_now_and_then() {
    // About one in a hundred of these networks.
    let looped = loops_in_random_networks(&maker(AodvParams::ns_2_35()), 190..200, false);
    assert_eq!(looped, [194]);
}

#[test]
fn the_standard_recovers_from_a_restarted_node() {
    a_restarted_node_forwards_again(maker(AodvParams::rfc()));
}

/// The restarted node's route error carries sequence number zero, so its neighbours do not believe it.
#[test]
fn in_the_ns_2_model_a_restarted_node_swallows_a_flow_until_the_flow_pauses() {
    let mut bench = Bench::new(4, maker(AodvParams::ns_2_35()));
    bench.chain(4);
    bench.flow(0, 3, 5.0, 60.0);
    bench.flow(0, 3, 75.0, 100.0);
    bench.restart_at(at(20.1), 1);
    bench.run_until(at(120.0));
    assert_eq!(bench.delivered(0, 3) - bench.delivered_of(0, 3, at(20.1)), 61);
    assert_eq!(bench.drops(crate::drops::DropReason::NoRoute), 159);
    assert_eq!(bench.delivered_of(0, 3, at(75.0)), 100);
}

/// What a node may be told, and of which a good part it has heard before.
fn message() -> impl Strategy<Value = Message> {
    let request = (0u32..4, 1u32..4, 0u32..6, 4u32..9, 0u8..4)
        .prop_map(|(id, origin, seqno, dst, hops)| Message::Rreq(rreq(id, origin, seqno, dst, hops)));
    let own = (0u32..4, 4u32..9).prop_map(|(id, dst)| Message::Rreq(rreq(id, ME.0, 1, dst, 1)));
    let reply =
        (4u32..9, 0u32..6, 0u8..4).prop_map(|(dst, seqno, hops)| Message::Rrep(rrep(dst, seqno, ME.0, hops)));
    let error = (4u32..9, 0u32..6).prop_map(|lost| Message::Rerr(rerr(&[lost])));
    prop_oneof![6 => request, 1 => own, 2 => reply, 1 => error]
}

/// All actions but those that only say that a packet ends.
fn but_consumed(mut actions: Vec<Action>) -> Vec<Action> {
    actions.retain(|action| !matches!(action, Action::Consume(_)));
    actions
}

proptest! {
    /// A node that is shown broadcasts first does what one does that gets all of them by value.
    #[test]
    fn what_is_suppressed_makes_no_difference(
        set in prop::sample::select(AodvParams::SETS.to_vec()),
        steps in prop::collection::vec((1u32..4, message(), 0u64..1500, any::<bool>()), 1..80),
    ) {
        let params = AodvParams { blacklist: true, ..AodvParams::set(set).expect("a set") };
        let (mut suppressing, mut plain) = (start(&params), start(&params));
        let mut now = Time::ZERO;
        for (from, message, pause_ms, sends) in steps {
            now += Span::from_millis(pause_ms);
            prop_assert_eq!(suppressing.run_until(now), plain.run_until(now));
            if sends {
                prop_assert_eq!(suppressing.send(now, 3 + from), plain.send(now, 3 + from));
            }
            let (one, other) = (suppressing.uid(), plain.uid());
            prop_assert_eq!(one, other);
            let packet = Packet { uid: one, ..control(now, NodeId(from), NodeId::BROADCAST, 9, 48, message) };
            let outcome = suppressing.suppressing(now, packet.clone(), from);
            prop_assert_eq!(but_consumed(outcome), but_consumed(plain.incoming(now, packet, from)));
        }
    }
}

/// The requests that `node` originated: when, in ms, and with what TTL.
fn requests_of(bench: &Bench, node: u32) -> Vec<(u64, u8)> {
    let own = bench.control_by(node).filter(|(_, packet)| match &packet.payload {
        Payload::Aodv(Message::Rreq(rreq)) => rreq.origin == NodeId(node),
        _ => false,
    });
    own.map(|(time, packet)| (time.0 / 1_000_000, packet.ttl)).collect()
}

/// A run of ns-2.35: six nodes in a chain, 200 m apart, four packets per second from 0 to 5 from 1 s on; at
/// 10 s nodes 4 and 5 leave. Its trace has node 0 ask at 1.0 s (TTL 30), node 3 at 10.057, 12.0, 16.0 and
/// 21.5 s (TTL 30), the repair end unheard at 21.91 s, and node 0 ask again at 22.25 s (TTL 7), at 22.5 s
/// (TTL 30), and four times in all network-wide until the pause. The bench has no MAC, so the break is seen
/// some milliseconds earlier.
#[test]
fn a_chain_that_loses_its_end_asks_when_ns_2_asks() {
    let mut bench = Bench::new(6, maker(AodvParams::ns_2_35()));
    bench.chain(6);
    bench.flow(0, 5, 1.0, 60.0);
    bench.unlink_at(at(10.0), 3, 4);
    bench.run_until(at(30.0));
    assert_eq!(requests_of(&bench, 3), [(10_008, 30), (12_000, 30), (16_000, 30), (21_500, 30)]);
    let source = requests_of(&bench, 0);
    assert_eq!(source[..3], [(1000, 30), (22_250, 7), (22_500, 30)]);
    assert_eq!(source[3..].iter().map(|(_, ttl)| *ttl).collect::<Vec<_>>(), [30, 30, 30]);
}

#[test]
fn the_sets_have_their_sources_values_and_are_in_range() {
    for name in AodvParams::SETS {
        let set = AodvParams::set(name).expect("every listed set exists");
        assert_eq!(set.check(), Ok(()), "{name}");
    }
    assert_eq!(AodvParams::set("ns-3"), None);
    let rfc = AodvParams::set("rfc-3561").expect("the standard's set");
    assert_eq!(rfc, AodvParams::default());
    let dyer = AodvParams::set("dyer-2002").expect("Dyer's set");
    assert_eq!((dyer.active_route_timeout_s, dyer.ttl_start, dyer.rreq_retries), (50.0, 1, 3));
    // The three other times that the same comments of aodv.h give beside the 50 s.
    let commented = (dyer.my_route_timeout_s, dyer.reverse_route_life_s, dyer.broadcast_id_save_s);
    assert_eq!(commented, (100.0, 5.0, 3.0));
    let delete_period = |set: AodvParams| set.delete_period_factor * set.active_route_timeout_s;
    let modes = [AodvParams::aodv_uu_ll(), AodvParams::aodv_uu_hello()];
    assert_eq!(modes.map(|mode| delete_period(mode).to_string()), ["10", "15"], "AODV-UU, params.h");
}
