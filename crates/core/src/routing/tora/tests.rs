//! TORA on the bench: the shared suite, and what whole nodes do.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{Bench, at, data, random_network, suite};

const ME: NodeId = NodeId(1);

fn maker(params: ToraParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

/// The messages of TORA that have been sent from a time on, by name.
fn sent_from(bench: &Bench, nodes: u32, from: f64) -> Vec<&'static str> {
    let names =
        |node| bench.control_by(node).filter(|(time, _)| *time >= at(from)).map(|(_, packet)| packet.name());
    (0..nodes).flat_map(names).filter(|name| *name != "imep").collect()
}

#[test]
fn tora_passes_the_suite() {
    suite(&maker(ToraParams::default()));
}

#[test]
fn packets_are_accounted_for_among_links_that_come_and_go() {
    for run in 0..12 {
        random_network(maker(ToraParams::default()), run, false);
    }
}

/// Each node but the destination asks once; each but the source, which has nobody above it, need answer once.
#[test]
fn a_search_on_a_chain_takes_a_query_and_an_update_by_each_node() {
    let mut bench = Bench::new(5, maker(ToraParams::default()));
    bench.chain(5);
    bench.send_at(at(5.0), 0, 4);
    bench.run_until(at(6.0));
    assert_eq!(bench.delivered(0, 4), 1);
    let mut sent = sent_from(&bench, 5, 5.0);
    sent.sort_unstable();
    // The neighbour of the destination knows its height.
    assert_eq!(sent, [["qry"; 3].as_slice(), &["upd"; 4]].concat());
}

#[test]
fn nothing_is_said_of_routes_when_the_network_rests() {
    let mut bench = Bench::new(6, maker(ToraParams::default()));
    bench.ring(6);
    bench.flow(0, 3, 5.0, 80.0);
    bench.flow(1, 5, 5.0, 80.0);
    bench.unlink_at(at(20.0), 2, 3);
    bench.run_until(at(80.0));
    assert!(!sent_from(&bench, 6, 20.0).is_empty());
    assert_eq!(sent_from(&bench, 6, 40.0), Vec::<&str>::new());
    assert_eq!((bench.delivered_of(0, 3, at(21.0)), bench.delivered_of(1, 5, at(0.0))), (236, 300));
}

/// The half without the destination finds out, forgets all heights, and asks until it is joined again.
#[test]
fn a_partition_is_erased_and_found_again() {
    let mut bench = Bench::new(6, maker(ToraParams::default()));
    bench.chain(6);
    bench.flow(0, 5, 5.0, 60.0);
    bench.unlink_at(at(20.0), 3, 4);
    bench.link_at(at(40.0), 3, 4);
    bench.run_until(at(39.0));
    assert!(sent_from(&bench, 6, 20.0).contains(&"clr"));
    assert_eq!(
        bench.control_by(0).filter(|(time, packet)| *time > at(30.0) && packet.name() != "imep").count(),
        0
    );
    bench.run_until(at(90.0));
    assert_eq!(bench.delivered_of(0, 5, at(41.0)), 76);
    let routes: Vec<Notice> = bench.notices().filter(|notice| notice.dst() == NodeId(5)).collect();
    assert!(routes.contains(&Notice::RouteFailed { dst: NodeId(5), told: true }));
    assert_eq!(routes.last(), Some(&Notice::RouteFound { dst: NodeId(5) }));
    bench.assert_balanced();
}

#[test]
fn packets_for_a_lost_neighbour_seek_another_way() {
    let mut node =
        Tora::new(ME, &Arc::new(ToraParams::default()), Streams::new(1, 0).stream(1, Purpose::Routing));
    node.handle_start(at(0.0), &mut Vec::new());
    let mut actions = Vec::new();
    for neighbour in [2, 3] {
        let hello = crate::wire::tora::Packet { hellos: [ME].into(), ..Default::default() };
        let from = NodeId(neighbour);
        let packet = Packet::control(at(0.1), from, NodeId::BROADCAST, 1, 32, Payload::Tora(Arc::new(hello)));
        node.handle_incoming(at(0.1), Packet { uid: 77, ..packet }, from, &mut actions);
    }
    actions.clear();
    node.handle_outgoing(at(0.2), data(1, 1, 2, 0), &mut actions);
    assert!(matches!(actions[..], [Action::Send { next_hop: NodeId(2), .. }]), "a neighbour needs no search");
    actions.clear();
    node.handle_link_failure(at(0.3), data(1, 1, 2, 0), NodeId(2), &mut actions);
    let failed = Notice::RouteFailed { dst: NodeId(2), told: false };
    assert_eq!(actions, [Action::Notify(failed), Action::FlushQueue(NodeId(2))], "the packet waits");
    node.handle_flushed(at(0.3), data(2, 1, 2, 0), NodeId(2), &mut actions);
    let mut held = Vec::new();
    node.buffered(&mut |packet| held.push(packet.uid));
    assert_eq!(held, [1, 2]);
}
