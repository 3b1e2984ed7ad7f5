//! One node's AODV under test: messages in by hand, actions out, time by hand.

use std::sync::Arc;

use super::{AodvParams, Message, Rerr, Rrep, Rreq, Unreachable, control, new};
use crate::kernel::{Purpose, Span, Streams, Time};
use crate::packet::{NodeId, Packet, Payload};
use crate::routing::testbench::data;
use crate::routing::{Action, Routing};

/// The node under test; the others are whoever the tests say.
pub(super) const ME: NodeId = NodeId(0);

pub(super) struct Probe {
    machine: Box<dyn Routing>,
    next_uid: u64,
}

impl Probe {
    /// A node that starts at time zero.
    pub(super) fn new(params: &AodvParams) -> Probe {
        let stream = Streams::new(1, 0).stream(ME.0, Purpose::Routing);
        let mut probe = Probe { machine: new(ME, &Arc::new(params.clone()), stream), next_uid: 1 };
        probe.actions(|machine, actions| machine.handle_start(Time::ZERO, actions));
        probe
    }

    fn actions(&mut self, input: impl FnOnce(&mut dyn Routing, &mut Vec<Action>)) -> Vec<Action> {
        let mut actions = Vec::new();
        input(self.machine.as_mut(), &mut actions);
        actions
    }

    fn uid(&mut self) -> u64 {
        self.next_uid += 1;
        self.next_uid
    }

    /// This node's transport sends a packet to `dst`.
    pub(super) fn send(&mut self, now: Time, dst: u32) -> Vec<Action> {
        let packet = data(self.uid(), ME.0, dst, 0);
        self.actions(|machine, actions| machine.handle_outgoing(now, packet, actions))
    }

    /// A data packet from `src` to `dst` arrives over `from` after `hops` hops.
    pub(super) fn relay(&mut self, now: Time, src: u32, dst: u32, from: u32, hops: u8) -> Vec<Action> {
        let packet = data(self.uid(), src, dst, hops);
        self.actions(|machine, actions| machine.handle_incoming(now, packet, NodeId(from), actions))
    }

    /// Any data packet arrives over `from`.
    pub(super) fn incoming(&mut self, now: Time, packet: Packet, from: u32) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_incoming(now, packet, NodeId(from), actions))
    }

    /// The node starts again, later.
    pub(super) fn restart(&mut self, now: Time) {
        self.actions(|machine, actions| machine.handle_start(now, actions));
    }

    /// A control message arrives with this TTL.
    pub(super) fn hear(&mut self, now: Time, from: u32, ttl: u32, message: Message) -> Vec<Action> {
        let mut packet = control(now, NodeId(from), NodeId::BROADCAST, ttl, 48, message);
        packet.uid = self.uid();
        self.actions(|machine, actions| machine.handle_incoming(now, packet, NodeId(from), actions))
    }

    /// The link to `next_hop` fails for a packet from `src` to `dst` that has crossed `hops` links.
    pub(super) fn fail(&mut self, now: Time, src: u32, dst: u32, next_hop: u32, hops: u8) -> Vec<Action> {
        let packet = data(self.uid(), src, dst, hops);
        self.fail_packet(now, packet, next_hop)
    }

    pub(super) fn fail_packet(&mut self, now: Time, packet: Packet, next_hop: u32) -> Vec<Action> {
        self.actions(|machine, actions| machine.handle_link_failure(now, packet, NodeId(next_hop), actions))
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
            all.extend(actions.into_iter().map(|action| (now, action)));
        }
        all
    }

    pub(super) fn next_hop(&self, now: Time, dst: u32) -> Option<u32> {
        self.machine.next_hop(now, NodeId(dst)).map(|next_hop| next_hop.0)
    }

    pub(super) fn buffered(&self) -> usize {
        let mut count = 0;
        self.machine.buffered(&mut |_| count += 1);
        count
    }
}

/// A request that arrives from the originator's side with this hop count.
pub(super) fn rreq(id: u32, origin: u32, origin_seqno: u32, dst: u32, hop_count: u8) -> Rreq {
    Rreq {
        id,
        origin: NodeId(origin),
        origin_seqno,
        dst: NodeId(dst),
        dst_seqno: None,
        hop_count,
        gratuitous: false,
        destination_only: false,
        made: Time::ZERO,
    }
}

/// A reply that arrives with this hop count and 6 s to live.
pub(super) fn rrep(dst: u32, dst_seqno: u32, origin: u32, hop_count: u8) -> Rrep {
    Rrep {
        dst: NodeId(dst),
        dst_seqno,
        origin: NodeId(origin),
        hop_count,
        lifetime: Span::from_millis(6000),
        made: Time::ZERO,
    }
}

/// A route error.
pub(super) fn rerr(unreachable: &[(u32, u32)]) -> Rerr {
    let list = unreachable.iter().map(|&(dst, seqno)| Unreachable { dst: NodeId(dst), seqno });
    Rerr { no_delete: false, unreachable: list.collect() }
}

/// A control message as it goes out: to whom (`None`: broadcast), with what TTL, after what delay.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Out {
    pub(super) to: Option<u32>,
    pub(super) ttl: u8,
    pub(super) bytes: u32,
    pub(super) delay: Span,
    pub(super) message: Message,
}

/// The control messages among the actions.
pub(super) fn messages(actions: &[Action]) -> Vec<Out> {
    let out = |packet: &Packet, to: Option<u32>, delay: Span| match &packet.payload {
        Payload::Aodv(message) => {
            Some(Out { to, ttl: packet.ttl, bytes: packet.bytes, delay, message: message.clone() })
        }
        _ => None,
    };
    let outs = actions.iter().filter_map(|action| match action {
        Action::Send { packet, next_hop, delay } => out(packet, Some(next_hop.0), *delay),
        Action::Broadcast { packet, delay } => out(packet, None, *delay),
        _ => None,
    });
    outs.collect()
}

/// The requests among the actions, with their TTL.
pub(super) fn requests(actions: &[Action]) -> Vec<(u8, Rreq)> {
    let outs = messages(actions).into_iter();
    let requests = outs.filter_map(|out| match out.message {
        Message::Rreq(rreq) => Some((out.ttl, rreq)),
        _ => None,
    });
    requests.collect()
}

/// The replies among the actions, with the neighbour they go to.
pub(super) fn replies(actions: &[Action]) -> Vec<(u32, Rrep)> {
    let outs = messages(actions).into_iter();
    let replies = outs.filter_map(|out| match (out.message, out.to) {
        (Message::Rrep(rrep), Some(to)) => Some((to, rrep)),
        _ => None,
    });
    replies.collect()
}

/// To whom a route error goes, and which destinations it names with which sequence numbers.
pub(super) type Told = (Option<u32>, Vec<(u32, u32)>);

/// The route errors among the actions.
pub(super) fn errors(actions: &[Action]) -> Vec<Told> {
    let outs = messages(actions).into_iter();
    let errors = outs.filter_map(|out| match out.message {
        Message::Rerr(rerr) => {
            Some((out.to, rerr.unreachable.iter().map(|gone| (gone.dst.0, gone.seqno)).collect()))
        }
        _ => None,
    });
    errors.collect()
}

/// The data packets sent: next hop and delay.
pub(super) fn sent(actions: &[Action]) -> Vec<(u32, Span)> {
    let sends = actions.iter().filter_map(|action| match action {
        Action::Send { packet, next_hop, delay } if packet.is_data() => Some((next_hop.0, *delay)),
        _ => None,
    });
    sends.collect()
}
