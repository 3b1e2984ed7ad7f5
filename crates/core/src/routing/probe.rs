//! One node's protocol under test: packets in by hand, actions out, time by hand.

use crate::kernel::{Purpose, Stream, Streams, Time};
use crate::routing::testbench::data;
use crate::routing::{Action, Routing};
use crate::wire::{NodeId, Packet};

/// The node under test; the others are whoever the tests say.
pub(super) const ME: NodeId = NodeId(0);

/// A protocol's own probe adds its messages.
pub(super) struct Probe {
    machine: Box<dyn Routing>,
    next_uid: u64,
}

impl Probe {
    /// A node that starts at time zero.
    pub(super) fn new(make: impl FnOnce(NodeId, Stream) -> Box<dyn Routing>) -> Probe {
        let stream = Streams::new(1, 0).stream(ME.0, Purpose::Routing);
        let mut probe = Probe { machine: make(ME, stream), next_uid: 1 };
        probe.restart(Time::ZERO);
        probe
    }

    fn actions(&mut self, input: impl FnOnce(&mut dyn Routing, &mut Vec<Action>)) -> Vec<Action> {
        let mut actions = Vec::new();
        input(self.machine.as_mut(), &mut actions);
        actions
    }

    pub(super) fn uid(&mut self) -> u64 {
        self.next_uid += 1;
        self.next_uid
    }

    /// The node starts, or starts again.
    pub(super) fn restart(&mut self, now: Time) {
        self.actions(|machine, actions| machine.handle_start(now, actions));
    }

    /// This node's transport sends a packet to `dst`.
    pub(super) fn send(&mut self, now: Time, dst: u32) -> Vec<Action> {
        let packet = data(self.uid(), ME.0, dst, 0);
        self.actions(|machine, actions| machine.handle_outgoing(now, packet, actions))
    }

    /// A packet that was kept here is to go on.
    pub(super) fn go_on(&mut self, now: Time, packet: Packet) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_outgoing(now, packet, actions))
    }

    /// A packet arrives over `from`.
    pub(super) fn incoming(&mut self, now: Time, packet: Packet, from: u32) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_incoming(now, packet, NodeId(from), actions))
    }

    /// A broadcast arrives over `from`, and may be suppressed as a duplicate.
    pub(super) fn suppressing(&mut self, now: Time, packet: Packet, from: u32) -> Vec<Action> {
        self.actions(|machine, actions| {
            if machine.suppress_duplicate(now, &packet, NodeId(from), actions) {
                actions.push(Action::Consume(packet));
            } else {
                machine.handle_incoming(now, packet, NodeId(from), actions);
            }
        })
    }

    /// A data packet from `src` to `dst` arrives over `from` after `hops` hops.
    pub(super) fn relay(&mut self, now: Time, src: u32, dst: u32, from: u32, hops: u8) -> Vec<Action> {
        let packet = data(self.uid(), src, dst, hops);
        self.incoming(now, packet, from)
    }

    pub(super) fn overhear(&mut self, now: Time, packet: &Packet, from: u32, to: u32) -> Vec<Action> {
        self.actions(|machine, actions| {
            machine.handle_overheard(now, packet, NodeId(from), NodeId(to), actions);
        })
    }

    /// The link to `next_hop` fails for this packet.
    pub(super) fn fail(&mut self, now: Time, packet: Packet, next_hop: u32) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_link_failure(now, packet, NodeId(next_hop), actions))
    }

    /// The link to `next_hop` fails for a packet from `src` to `dst` that has crossed `hops` links.
    pub(super) fn fail_data(
        &mut self,
        now: Time,
        src: u32,
        dst: u32,
        next_hop: u32,
        hops: u8,
    ) -> Vec<Action> {
        let packet = data(self.uid(), src, dst, hops);
        self.fail(now, packet, next_hop)
    }

    pub(super) fn flushed(&mut self, now: Time, packet: Packet, next_hop: u32) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_flushed(now, packet, NodeId(next_hop), actions))
    }

    /// Wakes the machine whenever it wants, up to and including `end`.
    pub(super) fn run_until(&mut self, end: Time) -> Vec<(Time, Action)> {
        let mut all = Vec::new();
        while self.machine.next_timeout() <= end {
            let now = self.machine.next_timeout();
            let actions = self.actions(|machine, actions| machine.handle_timeout(now, actions));
            assert!(self.machine.next_timeout() > now, "wants to be woken again at {now:?}");
            all.extend(actions.into_iter().map(|action| (now, action)));
        }
        all
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.machine.next_timeout()
    }

    pub(super) fn next_hop(&self, now: Time, dst: u32) -> Option<u32> {
        self.machine.next_hop(now, NodeId(dst)).map(|next_hop| next_hop.0)
    }

    pub(super) fn route_hops(&self, now: Time, dst: u32) -> Option<u32> {
        self.machine.route_hops(now, NodeId(dst))
    }

    pub(super) fn buffered(&self) -> usize {
        let mut count = 0;
        self.machine.buffered(&mut |_| count += 1);
        count
    }
}
