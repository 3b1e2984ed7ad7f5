//! The packet buffer (3.2.6): packets that wait at any node for a route, some longer than others.

use std::collections::VecDeque;

use super::AdvParams;
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::packet::{NodeId, Packet, Payload};
use crate::routing::Action;

pub(super) struct PacketBuffer {
    /// In order of arrival; the time is when the packet becomes too old.
    packets: VecDeque<(Time, Packet)>,
    limit: usize,
    tcp_timeout: Span,
    other_timeout: Span,
    /// No packet becomes too old before this.
    next_expiry: Time,
}

impl PacketBuffer {
    pub(super) fn new(params: &AdvParams) -> PacketBuffer {
        PacketBuffer {
            packets: VecDeque::new(),
            limit: params.buffer_packets as usize,
            tcp_timeout: Span::from_secs(params.tcp_buffer_timeout_s),
            other_timeout: Span::from_secs(params.other_buffer_timeout_s),
            next_expiry: Time::NEVER,
        }
    }

    /// Puts a packet at the end. If there is no room, the oldest of all goes.
    pub(super) fn push(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        self.expire(now, actions);
        if self.packets.len() >= self.limit
            && let Some((_, oldest)) = self.packets.pop_front()
        {
            actions.push(Action::Drop(oldest, DropReason::BufferFull));
        }
        let is_tcp = matches!(packet.payload, Payload::Tcp(..));
        let deadline = now + if is_tcp { self.tcp_timeout } else { self.other_timeout };
        self.packets.push_back((deadline, packet));
        self.next_expiry = self.next_expiry.min(deadline + Span(1));
    }

    /// Takes the oldest packet for `dst`.
    pub(super) fn pop(&mut self, dst: NodeId) -> Option<Packet> {
        let at = self.packets.iter().position(|(_, packet)| packet.dst == dst)?;
        self.packets.remove(at).map(|(_, packet)| packet)
    }

    /// Drops packets that have waited longer than they may.
    pub(super) fn expire(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.next_expiry > now {
            return;
        }
        let mut at = 0;
        while let Some((deadline, _)) = self.packets.get(at) {
            if *deadline >= now {
                at += 1;
            } else if let Some((_, packet)) = self.packets.remove(at) {
                actions.push(Action::Drop(packet, DropReason::BufferTimeout));
            }
        }
        let first = self.packets.iter().map(|(deadline, _)| *deadline).min();
        self.next_expiry = first.map_or(Time::NEVER, |deadline| deadline + Span(1));
    }

    /// *Packets queued*: are there packets for `dst`?
    pub(super) fn contains(&self, dst: NodeId) -> bool {
        self.packets.iter().any(|(_, packet)| packet.dst == dst)
    }

    /// *Packets buffered*: how many there are.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// When to look for packets that have become too old.
    pub(super) fn next_expiry(&self) -> Time {
        self.next_expiry
    }

    /// All packets, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().map(|(_, packet)| packet)
    }
}
