//! The packet buffer of the protocols that seek routes on demand: packets that wait for a route.
//!
//! First in, first out for each destination; when it is full the oldest packet of all goes. RFC 3561 §6.3 asks for
//! buffering and gives no size, RFC 4728 §4.2 leaves the strategy open; 64 packets and 30 s are ns-2's.

use std::collections::VecDeque;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::packet::{NodeId, Packet};
use crate::routing::Action;

/// See the module's head.
pub(super) struct PacketBuffer {
    /// In order of arrival; the time is when the packet becomes too old. Waiting times are equal, so the
    /// times never decrease.
    packets: VecDeque<(Time, Packet)>,
    limit: usize,
    timeout: Span,
}

impl PacketBuffer {
    pub(super) fn new(limit: u32, timeout_s: f64) -> PacketBuffer {
        PacketBuffer { packets: VecDeque::new(), limit: limit as usize, timeout: Span::from_secs(timeout_s) }
    }

    /// Puts a packet at the end. Packets that have become too old go first, then the oldest if there is no room.
    pub(super) fn push(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        self.expire(now, actions);
        if self.packets.len() >= self.limit
            && let Some((_, oldest)) = self.packets.pop_front()
        {
            actions.push(Action::Drop(oldest, DropReason::BufferFull));
        }
        self.packets.push_back((now + self.timeout, packet));
    }

    /// Takes the oldest packet for `dst`. Packets that have become too old go first.
    pub(super) fn pop(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) -> Option<Packet> {
        self.expire(now, actions);
        let at = self.packets.iter().position(|(_, packet)| packet.dst == dst)?;
        self.packets.remove(at).map(|(_, packet)| packet)
    }

    /// Drops all packets for `dst`.
    pub(super) fn drop_all(&mut self, now: Time, dst: NodeId, reason: DropReason, actions: &mut Vec<Action>) {
        while let Some(packet) = self.pop(now, dst, actions) {
            actions.push(Action::Drop(packet, reason));
        }
    }

    /// Drops packets that have waited longer than they may.
    pub(super) fn expire(&mut self, now: Time, actions: &mut Vec<Action>) {
        while self.packets.front().is_some_and(|(deadline, _)| *deadline < now) {
            if let Some((_, packet)) = self.packets.pop_front() {
                actions.push(Action::Drop(packet, DropReason::BufferTimeout));
            }
        }
    }

    /// Is there a packet for `dst`, however old?
    pub(super) fn contains(&self, dst: NodeId) -> bool {
        self.packets.iter().any(|(_, packet)| packet.dst == dst)
    }

    /// Does no packet wait?
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// When the oldest packet becomes too old: the first instant at which [`PacketBuffer::expire`] drops it.
    pub(super) fn next_expiry(&self) -> Time {
        self.packets.front().map_or(Time::NEVER, |(deadline, _)| *deadline + Span(1))
    }

    /// All packets, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::{at, data};
    use proptest::prelude::*;

    fn drops(actions: &[Action]) -> Vec<(u64, DropReason)> {
        let dropped = actions.iter().map(|action| match action {
            Action::Drop(packet, reason) => (packet.uid, *reason),
            other => panic!("a buffer only drops, not {other:?}"),
        });
        dropped.collect()
    }

    #[test]
    fn a_full_buffer_drops_the_oldest_packet() {
        let (mut buffer, mut actions) = (PacketBuffer::new(2, 30.0), Vec::new());
        for uid in 1..=3 {
            buffer.push(at(1.0), data(uid, 0, 9, 0), &mut actions);
        }
        assert_eq!(drops(&actions), [(1, DropReason::BufferFull)]);
    }

    #[test]
    fn packets_leave_in_order_for_each_destination() {
        let (mut buffer, mut actions) = (PacketBuffer::new(8, 30.0), Vec::new());
        for (uid, dst) in [(1, 8), (2, 9), (3, 8)] {
            buffer.push(at(1.0), data(uid, 0, dst, 0), &mut actions);
        }
        let mut pop = |dst| buffer.pop(at(2.0), NodeId(dst), &mut actions).map(|packet| packet.uid);
        assert_eq!([pop(8), pop(8), pop(8), pop(9)], [Some(1), Some(3), None, Some(2)]);
    }

    #[test]
    fn a_packet_may_wait_exactly_the_timeout() {
        let (mut buffer, mut actions) = (PacketBuffer::new(8, 30.0), Vec::new());
        buffer.push(at(1.0), data(1, 0, 9, 0), &mut actions);
        buffer.expire(at(31.0), &mut actions);
        assert!(actions.is_empty());
        assert_eq!(buffer.next_expiry(), Time(31_000_000_001));
        buffer.expire(buffer.next_expiry(), &mut actions);
        assert_eq!(drops(&actions), [(1, DropReason::BufferTimeout)]);
    }

    proptest! {
        #[test]
        fn it_never_holds_more_than_its_limit_and_loses_nothing(
            limit in 1u32..6,
            steps in prop::collection::vec((any::<bool>(), 0u32..3, 0u64..20_000), 1..100),
        ) {
            let (mut buffer, mut actions) = (PacketBuffer::new(limit, 30.0), Vec::new());
            let (mut now, mut pushed, mut popped) = (Time::ZERO, 0, 0);
            for (push, dst, wait_ms) in steps {
                now += Span::from_millis(wait_ms);
                if push {
                    pushed += 1;
                    buffer.push(now, data(pushed, 0, dst, 0), &mut actions);
                } else {
                    popped += u64::from(buffer.pop(now, NodeId(dst), &mut actions).is_some());
                }
                let held = buffer.iter().count();
                prop_assert!(held <= limit as usize);
                prop_assert_eq!(pushed, popped + held as u64 + actions.len() as u64);
            }
        }
    }
}
