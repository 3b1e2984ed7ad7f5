//! The packet buffer: data packets that wait for a route.
//!
//! First in, first out for each destination; when it is full the oldest packet of all goes. Neither RFC 3561
//! (§6.3 asks for buffering and gives no size) nor the drafts say more; 64 packets and 30 s are ns-2's.

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

    /// When the oldest packet becomes too old: the first instant at which [`PacketBuffer::expire`] drops it.
    pub(super) fn next_expiry(&self) -> Time {
        self.packets.front().map_or(Time::NEVER, |(deadline, _)| *deadline + Span(1))
    }

    /// All packets, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().map(|(_, packet)| packet)
    }
}
