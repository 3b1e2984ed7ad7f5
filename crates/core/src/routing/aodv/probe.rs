//! A test's view of one AODV node: it hands messages in and reads those that come out.

use std::sync::Arc;

use super::{AodvParams, control, new};
use crate::kernel::{Span, Time};
use crate::routing::Action;
pub(super) use crate::routing::probe::{ME, Probe};
use crate::wire::aodv::{Message, Rerr, Rrep, Rreq, Unreachable};
use crate::wire::{NodeId, Packet, Payload};

/// A node that starts at time zero.
pub(super) fn start(params: &AodvParams) -> Probe {
    Probe::new(|node, stream| new(node, &Arc::new(params.clone()), stream))
}

impl Probe {
    /// A control message arrives with this TTL.
    pub(super) fn hear(&mut self, now: Time, from: u32, ttl: u32, message: Message) -> Vec<Action> {
        let mut packet = control(now, NodeId(from), NodeId::BROADCAST, ttl, 48, message);
        packet.uid = self.uid();
        self.incoming(now, packet, from)
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
        acknowledge: false,
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
