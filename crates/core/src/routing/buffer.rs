//! The packet buffer: packets that wait for a route.
//!
//! First in, first out for each destination; when it is full the oldest packet of all goes. Each packet has
//! its own time to wait: ADV lets TCP's wait longer than others. RFC 3561 §6.3 asks for buffering and gives
//! no size, RFC 4728 §4.2 leaves the strategy open; 64 packets and 30 s are ns-2's.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::wire::{NodeId, Packet};

/// See the module's head.
pub(super) struct PacketBuffer {
    /// In order of arrival; the time is when the packet becomes too old.
    packets: VecDeque<(Time, Packet)>,
    limit: usize,
    /// How many packets have each of these times, so that a large buffer finds the earliest without a search.
    deadlines: BTreeMap<Time, u32>,
    /// Grows whenever a packet comes or goes.
    version: u64,
}

impl PacketBuffer {
    pub(super) fn new(limit: u32) -> PacketBuffer {
        PacketBuffer {
            packets: VecDeque::new(),
            limit: limit as usize,
            deadlines: BTreeMap::new(),
            version: 0,
        }
    }

    /// Puts a packet at the end, to wait no longer than `timeout`. Packets that have become too old go first,
    /// then the oldest if there is no room.
    pub(super) fn push(&mut self, now: Time, packet: Packet, timeout: Span, actions: &mut Vec<Action>) {
        self.expire(now, actions);
        if self.packets.len() >= self.limit
            && let Some(oldest) = self.take(0)
        {
            actions.push(Action::Drop(oldest, DropReason::BufferFull));
        }
        let deadline = now + timeout;
        self.packets.push_back((deadline, packet));
        *self.deadlines.entry(deadline).or_default() += 1;
        self.version += 1;
    }

    /// Takes the oldest packet for `dst`. Packets that have become too old go first.
    pub(super) fn pop(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) -> Option<Packet> {
        self.expire(now, actions);
        let place = self.packets.iter().position(|(_, packet)| packet.dst == dst)?;
        self.take(place)
    }

    /// Takes all packets for `dst`, oldest first. Packets that have become too old go first.
    pub(super) fn pop_all(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) -> Vec<Packet> {
        self.expire(now, actions);
        self.take_all(|_, packet| packet.dst == dst)
    }

    /// Drops all packets for `dst`.
    pub(super) fn drop_all(&mut self, now: Time, dst: NodeId, reason: DropReason, actions: &mut Vec<Action>) {
        let dropped = self.pop_all(now, dst, actions);
        actions.extend(dropped.into_iter().map(|packet| Action::Drop(packet, reason)));
    }

    /// Drops packets that have waited longer than they may, oldest first.
    pub(super) fn expire(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.first_deadline() < now {
            let dropped = self.take_all(|deadline, _| deadline < now);
            let reason = DropReason::BufferTimeout;
            actions.extend(dropped.into_iter().map(|packet| Action::Drop(packet, reason)));
        }
    }

    fn take(&mut self, place: usize) -> Option<Packet> {
        let (deadline, packet) = self.packets.remove(place)?;
        self.forget(deadline);
        Some(packet)
    }

    /// Takes those packets that `is_wanted` names, oldest first, in one pass.
    fn take_all(&mut self, is_wanted: impl Fn(Time, &Packet) -> bool) -> Vec<Packet> {
        let Some(first) = self.packets.iter().position(|(deadline, packet)| is_wanted(*deadline, packet))
        else {
            return Vec::new();
        };
        let mut taken = Vec::new();
        for (deadline, packet) in self.packets.split_off(first) {
            if is_wanted(deadline, &packet) {
                self.forget(deadline);
                taken.push(packet);
            } else {
                self.packets.push_back((deadline, packet));
            }
        }
        taken
    }

    /// One packet less has this deadline.
    fn forget(&mut self, deadline: Time) {
        self.version += 1;
        if let Entry::Occupied(mut count) = self.deadlines.entry(deadline) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    fn first_deadline(&self) -> Time {
        self.deadlines.first_key_value().map_or(Time::NEVER, |(&deadline, _)| deadline)
    }

    /// Is there a packet for `dst`, however old?
    pub(super) fn contains(&self, dst: NodeId) -> bool {
        self.packets.iter().any(|(_, packet)| packet.dst == dst)
    }

    /// As long as this is the same, the same packets wait.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// How many packets wait.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Does no packet wait?
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The first instant at which [`PacketBuffer::expire`] drops a packet.
    pub(super) fn next_expiry(&self) -> Time {
        self.first_deadline() + Span(1)
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

    const WAIT: Span = Span::from_millis(30_000);

    fn drops(actions: &[Action]) -> Vec<(u64, DropReason)> {
        let dropped = actions.iter().map(|action| match action {
            Action::Drop(packet, reason) => (packet.uid, *reason),
            other => panic!("a buffer only drops, not {other:?}"),
        });
        dropped.collect()
    }

    #[test]
    fn a_full_buffer_drops_the_oldest_packet() {
        let (mut buffer, mut actions) = (PacketBuffer::new(2), Vec::new());
        for uid in 1..=3 {
            buffer.push(at(1.0), data(uid, 0, 9, 0), WAIT, &mut actions);
        }
        assert_eq!(drops(&actions), [(1, DropReason::BufferFull)]);
    }

    #[test]
    fn packets_leave_in_order_for_each_destination() {
        let (mut buffer, mut actions) = (PacketBuffer::new(8), Vec::new());
        for (uid, dst) in [(1, 8), (2, 9), (3, 8)] {
            buffer.push(at(1.0), data(uid, 0, dst, 0), WAIT, &mut actions);
        }
        let mut pop = |dst| buffer.pop(at(2.0), NodeId(dst), &mut actions).map(|packet| packet.uid);
        assert_eq!([pop(8), pop(8), pop(8), pop(9)], [Some(1), Some(3), None, Some(2)]);
    }

    #[test]
    fn a_packet_may_wait_exactly_the_timeout() {
        let (mut buffer, mut actions) = (PacketBuffer::new(8), Vec::new());
        buffer.push(at(1.0), data(1, 0, 9, 0), WAIT, &mut actions);
        buffer.expire(at(31.0), &mut actions);
        assert!(actions.is_empty());
        assert_eq!(buffer.next_expiry(), Time(31_000_000_001));
        buffer.expire(buffer.next_expiry(), &mut actions);
        assert_eq!(drops(&actions), [(1, DropReason::BufferTimeout)]);
    }

    #[test]
    fn a_packet_that_may_wait_less_is_dropped_before_older_ones() {
        let (mut buffer, mut actions) = (PacketBuffer::new(8), Vec::new());
        buffer.push(at(1.0), data(1, 0, 9, 0), WAIT, &mut actions);
        buffer.push(at(1.0), data(2, 0, 9, 0), Span::from_millis(1000), &mut actions);
        assert_eq!(buffer.next_expiry(), at(2.0) + Span(1));
        buffer.expire(buffer.next_expiry(), &mut actions);
        assert_eq!(drops(&actions), [(2, DropReason::BufferTimeout)]);
        assert_eq!(buffer.next_expiry(), at(31.0) + Span(1));
        assert!(buffer.pop(at(3.0), NodeId(9), &mut actions).is_some());
        assert_eq!(buffer.next_expiry(), Time::NEVER);
    }

    proptest! {
        #[test]
        fn it_holds_what_a_plain_list_would(
            limit in 1usize..6,
            steps in prop::collection::vec((0u8..5, 0u32..3, 0u64..9_000, 0u64..30_000), 1..100),
        ) {
            let (mut buffer, mut actions) = (PacketBuffer::new(limit as u32), Vec::new());
            let mut plain: Vec<(Time, u64, u32)> = Vec::new();
            let mut gone: Vec<(u64, DropReason)> = Vec::new();
            let (mut now, mut uid) = (Time::ZERO, 0);
            for (what, dst, pause_ms, wait_ms) in steps {
                now += Span::from_millis(pause_ms);
                let late = plain.iter().filter(|(deadline, ..)| *deadline < now);
                gone.extend(late.map(|(_, uid, _)| (*uid, DropReason::BufferTimeout)));
                plain.retain(|(deadline, ..)| *deadline >= now);
                if what < 2 {
                    uid += 1;
                    if plain.len() == limit {
                        gone.push((plain.remove(0).1, DropReason::BufferFull));
                    }
                    let wait = Span::from_millis(wait_ms);
                    plain.push((now + wait, uid, dst));
                    buffer.push(now, data(uid, 0, dst, 0), wait, &mut actions);
                } else if what == 2 {
                    let wanted: Vec<u64> =
                        plain.iter().filter(|(_, _, of)| *of == dst).map(|(_, uid, _)| *uid).collect();
                    plain.retain(|(_, _, of)| *of != dst);
                    let popped = buffer.pop_all(now, NodeId(dst), &mut actions);
                    prop_assert_eq!(popped.iter().map(|packet| packet.uid).collect::<Vec<_>>(), wanted);
                } else {
                    let place = plain.iter().position(|(_, _, of)| *of == dst);
                    let wanted = place.map(|place| plain.remove(place).1);
                    let popped = buffer.pop(now, NodeId(dst), &mut actions).map(|packet| packet.uid);
                    prop_assert_eq!(popped, wanted);
                }
                let first = plain.iter().map(|(deadline, ..)| *deadline + Span(1)).min();
                prop_assert_eq!(buffer.next_expiry(), first.unwrap_or(Time::NEVER));
                let held: Vec<u64> = buffer.iter().map(|packet| packet.uid).collect();
                prop_assert_eq!(held, plain.iter().map(|(_, uid, _)| *uid).collect::<Vec<_>>());
                prop_assert_eq!(drops(&actions), gone.clone());
            }
        }
    }
}
