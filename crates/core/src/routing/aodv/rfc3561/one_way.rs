//! Links that may work in one direction only: acknowledged replies and the blacklist (RFC 3561 §5.4, §6.7,
//! §6.8).

use std::collections::BTreeMap;

use super::Rfc3561;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::routing::aodv::{AodvParams, control};
use crate::wire::aodv::{Message, RREP_ACK_BYTES};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload};

/// What a node knows of such links.
#[derive(Default)]
pub(super) struct OneWay {
    /// Neighbours whose requests are ignored, and until when.
    blacklist: BTreeMap<NodeId, Time>,
    /// Neighbours that owe an acknowledgement, and when it is overdue.
    owed: BTreeMap<NodeId, Time>,
}

impl OneWay {
    pub(super) fn next_timeout(&self) -> Time {
        self.owed.values().copied().min().unwrap_or(Time::NEVER)
    }

    pub(super) fn is_blacklisted(&self, now: Time, neighbour: NodeId) -> bool {
        self.blacklist.get(&neighbour).is_some_and(|until| *until > now)
    }
}

/// Times that follow from the parameters (§10).
impl AodvParams {
    /// NEXT_HOP_WAIT.
    fn next_hop_wait(&self) -> Span {
        self.node_traversal() + Span::from_millis(10)
    }

    fn blacklist_timeout(&self) -> Span {
        let rings = if self.expanding_ring {
            self.ttl_threshold.saturating_sub(self.ttl_start) / self.ttl_increment + 1
        } else {
            0
        };
        self.net_traversal() * u64::from(rings + self.rreq_retries)
    }
}

impl Rfc3561 {
    /// §6.7, last paragraph: a reply with the `A` flag leaves for `next_hop` at `leaves`. RREP-ACKs do not
    /// say which reply they are for (§6.8), so the first one pays for all that are owed.
    pub(super) fn await_ack(&mut self, next_hop: NodeId, leaves: Time) {
        if self.params.rrep_ack {
            let overdue = leaves + self.params.next_hop_wait();
            self.one_way.owed.entry(next_hop).or_insert(overdue);
        }
    }

    pub(super) fn receive_ack(&mut self, from: NodeId) {
        self.one_way.owed.remove(&from);
    }

    /// §5.4: a reply with the `A` flag is acknowledged to whoever sent it.
    pub(super) fn acknowledge(&mut self, now: Time, to: NodeId, actions: &mut Vec<Action>) {
        let packet = control(now, self.node, to, 1, IP_HEADER_BYTES + RREP_ACK_BYTES, Message::RrepAck);
        actions.push(Action::Send { packet, next_hop: to, delay: Span::ZERO });
    }

    pub(super) fn miss_acks(&mut self, now: Time) {
        while let Some((&neighbour, _)) = self.one_way.owed.iter().find(|(_, overdue)| **overdue <= now) {
            self.one_way.owed.remove(&neighbour);
            self.blacklist(now, neighbour);
        }
    }

    /// §6.8: the link to a neighbour that a reply cannot reach may be unidirectional.
    pub(super) fn note_lost_reply(&mut self, now: Time, packet: &Packet, next_hop: NodeId) {
        let lost_reply = matches!(packet.payload, Payload::Aodv(Message::Rrep(_)));
        if self.params.link_layer_feedback && lost_reply {
            self.blacklist(now, next_hop);
        }
    }

    fn blacklist(&mut self, now: Time, neighbour: NodeId) {
        if self.params.blacklist {
            self.one_way.blacklist.insert(neighbour, now + self.params.blacklist_timeout());
        }
    }
}
