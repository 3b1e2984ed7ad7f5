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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FlowId;
    use crate::routing::testbench::{at, data};
    use crate::transport::tcp::Segment;
    use proptest::prelude::*;

    fn segment(uid: u64, dst: u32) -> Packet {
        let segment = Segment::Data { number: 1, payload: 512, sent: Time::ZERO, retransmission: false };
        Packet { payload: Payload::Tcp(FlowId(0).into(), segment), ..data(uid, 0, dst, 0) }
    }

    fn drops(actions: &[Action]) -> Vec<(u64, DropReason)> {
        let dropped = actions.iter().map(|action| match action {
            Action::Drop(packet, reason) => (packet.uid, *reason),
            other => panic!("a buffer only drops, not {other:?}"),
        });
        dropped.collect()
    }

    #[test]
    fn rule_3_2_3_tcp_and_other_packets_have_their_own_buffer_timeouts() {
        let (mut buffer, mut actions) = (PacketBuffer::new(&AdvParams::default()), Vec::new());
        buffer.push(at(1.0), segment(1, 9), &mut actions);
        buffer.push(at(1.0), data(2, 0, 9, 0), &mut actions);
        buffer.expire(at(2.0), &mut actions);
        assert_eq!((drops(&actions), buffer.next_expiry()), (vec![], at(2.0) + Span(1)));
        buffer.expire(buffer.next_expiry(), &mut actions);
        assert_eq!(drops(&actions), [(2, DropReason::BufferTimeout)]);
        assert_eq!(buffer.next_expiry(), at(31.0) + Span(1));
        buffer.expire(buffer.next_expiry(), &mut actions);
        assert_eq!(drops(&actions)[1..], [(1, DropReason::BufferTimeout)]);
        assert_eq!(buffer.next_expiry(), Time::NEVER);
    }

    proptest! {
        #[test]
        fn it_never_holds_more_than_its_limit_and_loses_nothing(
            limit in 1u32..6,
            steps in prop::collection::vec((0u8..3, 0u32..3, 0u64..9_000), 1..100),
        ) {
            let params = AdvParams { buffer_packets: limit, ..AdvParams::default() };
            let (mut buffer, mut actions) = (PacketBuffer::new(&params), Vec::new());
            let (mut now, mut pushed, mut popped) = (Time::ZERO, 0, 0);
            for (what, dst, wait_ms) in steps {
                now += Span::from_millis(wait_ms);
                if what == 0 {
                    popped += u64::from(buffer.pop(NodeId(dst)).is_some());
                } else {
                    pushed += 1;
                    let packet = if what == 1 { data(pushed, 0, dst, 0) } else { segment(pushed, dst) };
                    buffer.push(now, packet, &mut actions);
                }
                prop_assert!(buffer.len() <= limit as usize);
                prop_assert_eq!(pushed, popped + buffer.len() as u64 + actions.len() as u64);
                prop_assert!(buffer.packets.iter().all(|(deadline, _)| *deadline + Span(1) >= buffer.next_expiry));
            }
        }
    }
}
