//! The bench tells protocols their places, as networks do.
//!
//! What stands for such a protocol sends each packet to the node that is nearest to the destination, of those
//! that are near enough and nearer than itself.

use super::{Bench, Pace, Placed, SPACING_M, at, suite_on_chains};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::{Action, Place, Routing, relay};
use crate::wire::{NodeId, Packet};

struct Nearest(Place);

impl Nearest {
    fn forward(&self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        match self.next_hop(now, packet.dst) {
            Some(next_hop) => actions.push(Action::Send { packet, next_hop, delay: Span::ZERO }),
            None => actions.push(Action::Drop(packet, DropReason::LocalMaximum)),
        }
    }
}

impl Routing for Nearest {
    fn handle_start(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        self.forward(now, packet, actions);
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, _from: NodeId, actions: &mut Vec<Action>) {
        if let Some(packet) = relay::accept(self.0.node(), packet, actions) {
            self.forward(now, packet, actions);
        }
    }

    fn handle_link_failure(&mut self, _now: Time, packet: Packet, _to: NodeId, actions: &mut Vec<Action>) {
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    fn handle_timeout(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        let (here, goal) = (self.0.position(now), self.0.position_of(dst, now)?);
        let all = (0..self.0.nodes() as u32).map(NodeId);
        let near = all.filter_map(|node| Some((node, self.0.position_of(node, now)?)));
        near.filter(|(_, point)| here.distance(*point) < 1.1 * SPACING_M)
            .map(|(node, point)| (node, point.distance(goal)))
            .filter(|(_, distance)| *distance < here.distance(goal))
            .min_by(|(_, one), (_, other)| one.total_cmp(other))
            .map(|(node, _)| node)
    }
}

fn maker() -> Placed<impl Fn(Place) -> Box<dyn Routing> + Clone> {
    Placed(|place| Box::new(Nearest(place)) as Box<dyn Routing>)
}

#[test]
fn a_protocol_that_knows_positions_passes_the_suite_on_chains() {
    suite_on_chains(maker(), Pace { settled_s: 0.0, recovered_s: 1.0 });
}

#[test]
fn on_a_ring_it_finds_the_shorter_side_and_after_a_restart_its_place() {
    let mut bench = Bench::on_a_ring(6, maker());
    bench.flow(0, 2, 1.0, 2.0);
    bench.restart_at(at(2.5), 5);
    bench.flow(0, 4, 3.0, 4.0);
    bench.run_until(at(5.0));
    let way: Vec<(u32, u32)> = bench.crossings().iter().map(|(from, to, _)| (from.0, to.0)).collect();
    assert_eq!(way, [[(0, 1), (1, 2)].repeat(4), [(0, 5), (5, 4)].repeat(4)].concat());
}

#[test]
fn where_the_ring_is_broken_it_knows_no_way_around() {
    let mut bench = Bench::on_a_ring(6, maker());
    bench.unlink_at(at(0.5), 1, 2);
    bench.flow(0, 2, 1.0, 2.0);
    bench.run_until(at(3.0));
    assert_eq!((bench.delivered(0, 2), bench.drops(DropReason::LinkFailure)), (0, 4));
}
