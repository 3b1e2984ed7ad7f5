//! Flooding: every node broadcasts every data packet once.
//!
//! The plainest protocol that delivers over several hops: no routes, no messages of its own, no state but the
//! memory of what went by. It is the yardstick for what routes save, and the protocol that
//! docs/add-a-routing-protocol.md builds.
//!
//! **Implemented.** A source broadcasts its packet. Whoever receives a packet for the first time delivers it
//! or, if it is for somebody else and its time to live allows, broadcasts it after a random delay, without
//! which all receivers of one broadcast would answer it at the same time. Further copies are dropped.
//!
//! **Not implemented.** Anything that saves broadcasts: probabilities, counters, distances, relays that are
//! chosen.
//!
//! **Deviations.** There is no standard. A packet is told by its number in the simulator, which stands for
//! source address and identification (RFC 791 §3.2).

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::params::params;
use crate::routing::{Action, Changes, Routing, relay};
use crate::wire::{NodeId, Packet};

params! {
    /// Parameters of flooding.
    pub struct FloodingParams in "flooding" {
        /// Time to live of a source's packets.
        ttl: u32 = 64, "hop", "RFC 1700", [1.0, 255.0];
        /// A node holds a packet for a time drawn uniformly from 0 to this before it rebroadcasts it.
        jitter_s: f64 = 0.01, "s", "RFC 5148 §5.3", [0.0, 10.0];
        /// How long a node remembers a packet.
        memory_s: f64 = 60.0, "s", "RFC 6621 §6", [0.001, 1e6];
    }
}

/// The flooding of `node`.
pub fn new(node: NodeId, params: &Arc<FloodingParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Flooding { node, params: Arc::clone(params), stream, seen: Memory::default() })
}

struct Flooding {
    node: NodeId,
    params: Arc<FloodingParams>,
    stream: Stream,
    seen: Memory,
}

impl Flooding {
    /// Takes note of the packet; is it the first copy?
    fn is_new(&mut self, now: Time, packet: &Packet) -> bool {
        self.seen.add(now + Span::from_secs(self.params.memory_s), now, packet.uid)
    }
}

impl Routing for Flooding {
    fn handle_start(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        self.is_new(now, &packet);
        packet.ttl = packet.ttl.min(self.params.ttl as u8);
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, _from: NodeId, actions: &mut Vec<Action>) {
        if !self.is_new(now, &packet) {
            actions.push(Action::Drop(packet, DropReason::AlreadySeen));
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            let delay = Span::from_secs(self.stream.uniform(0.0, self.params.jitter_s));
            actions.push(Action::Broadcast { packet, delay });
        }
    }

    /// Never called: nothing is sent to a single neighbour.
    fn handle_link_failure(&mut self, _now: Time, packet: Packet, _to: NodeId, actions: &mut Vec<Action>) {
        actions.push(Action::Drop(packet, DropReason::LinkFailure));
    }

    /// Never called: the protocol takes nothing out of the interface queue.
    fn handle_flushed(&mut self, now: Time, packet: Packet, to: NodeId, actions: &mut Vec<Action>) {
        self.handle_link_failure(now, packet, to, actions);
    }

    fn handle_timeout(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn next_hop(&self, _now: Time, _dst: NodeId) -> Option<NodeId> {
        None
    }

    fn take_route_changes(&mut self) -> Changes {
        Changes::NONE
    }
}

/// Numbers of packets, each until its time has come.
#[derive(Default)]
struct Memory {
    numbers: FxHashSet<u64>,
    /// Until when each is remembered; in order, as all are remembered for equally long.
    until: VecDeque<(Time, u64)>,
}

impl Memory {
    /// Remembers `number` until `until` and forgets what is older than `now`. True if it was not known.
    fn add(&mut self, until: Time, now: Time, number: u64) -> bool {
        while let Some(&(due, old)) = self.until.front()
            && due <= now
        {
            self.until.pop_front();
            self.numbers.remove(&old);
        }
        let is_new = self.numbers.insert(number);
        if is_new {
            self.until.push_back((until, number));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};
    use crate::routing::testbench::{Bench, Pace, at, data, random_network, suite_at_pace};

    fn maker(params: FloodingParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
        let params = Arc::new(params);
        move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
    }

    fn actions_of(call: impl FnOnce(&mut dyn Routing, &mut Vec<Action>)) -> Vec<Action> {
        let mut actions = Vec::new();
        call(maker(FloodingParams::default())(NodeId(1)).as_mut(), &mut actions);
        actions
    }

    #[test]
    fn flooding_passes_the_suite() {
        suite_at_pace(&maker(FloodingParams::default()), Pace { settled_s: 0.0, recovered_s: 1.0 });
    }

    #[test]
    fn a_flood_ends_in_any_network() {
        for run in 0..10 {
            random_network(maker(FloodingParams::default()), run, true);
        }
    }

    #[test]
    fn every_node_but_the_destination_sends_a_packet_once() {
        let mut bench = Bench::new(6, maker(FloodingParams::default()));
        bench.ring(6);
        bench.link_at(at(0.0), 0, 3);
        bench.send_at(at(1.0), 0, 2);
        bench.run_until(at(2.0));
        assert_eq!(bench.delivered(0, 2), 1);
        let links = |node: u32| if node == 0 || node == 3 { 3 } else { 2 };
        for node in 0..6 {
            let crossed = bench.crossings().iter().filter(|(from, _, _)| from.0 == node).count();
            assert_eq!(crossed, if node == 2 { 0 } else { links(node) }, "from node {node}");
        }
        bench.assert_balanced();
    }

    #[test]
    fn a_copy_seen_before_is_dropped_until_it_is_forgotten() {
        let packet = data(7, 0, 5, 1);
        let memory = FloodingParams::default().memory_s;
        let actions = actions_of(|node, actions| {
            for seconds in [1.0, 1.0 + memory - 0.001, 1.0 + memory] {
                node.handle_incoming(at(seconds), packet.clone(), NodeId(0), actions);
            }
        });
        assert!(matches!(&actions[0], Action::Broadcast { packet, .. } if packet.ttl == 63));
        assert_eq!(actions[1], Action::Drop(packet, DropReason::AlreadySeen));
        assert!(matches!(actions[2], Action::Broadcast { .. }));
    }

    #[test]
    fn the_last_hop_delivers_and_does_not_send_on() {
        let (mut mine, mut others) = (data(7, 0, 1, 1), data(8, 0, 5, 1));
        (mine.ttl, others.ttl) = (1, 1);
        let actions = actions_of(|node, actions| {
            node.handle_incoming(at(1.0), mine.clone(), NodeId(0), actions);
            node.handle_incoming(at(1.0), others.clone(), NodeId(0), actions);
        });
        assert_eq!(actions, [Action::Deliver(mine), Action::Drop(others, DropReason::TtlExpired)]);
    }

    #[test]
    fn a_source_sends_at_once_and_the_others_after_their_jitter() {
        let params = FloodingParams { ttl: 3, jitter_s: 0.5, ..FloodingParams::default() };
        let mut node = maker(params)(NodeId(1));
        let mut actions = Vec::new();
        node.handle_outgoing(at(1.0), data(0, 1, 5, 0), &mut actions);
        for uid in 1..200 {
            node.handle_incoming(at(1.0), data(uid, 0, 5, 1), NodeId(0), &mut actions);
        }
        let delays: Vec<Span> = actions
            .iter()
            .map(|action| if let Action::Broadcast { delay, .. } = action { *delay } else { unreachable!() })
            .collect();
        assert_eq!(delays[0], Span::ZERO);
        assert!(matches!(&actions[0], Action::Broadcast { packet, .. } if packet.ttl == 3));
        assert!(delays.iter().all(|delay| *delay < Span::from_secs(0.5)));
        // 199 draws all below a tenth less than the whole: 0.9 to the power of 199, under 1e-9.
        assert!(delays.iter().any(|delay| *delay > Span::from_secs(0.45)));
    }
}
