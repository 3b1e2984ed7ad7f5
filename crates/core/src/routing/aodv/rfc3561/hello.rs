//! Hello messages: who is a neighbour, and for how long (RFC 3561 §6.9).
//!
//! **Deviations** (docs/models/aodv.md): 2 (numbers are never lowered).

use super::Rfc3561;
use super::table::Nodes;
use crate::kernel::Time;
use crate::routing::Action;
use crate::routing::aodv::control;
use crate::wire::aodv::{Hello, Message};
use crate::wire::{IP_HEADER_BYTES, NodeId};

/// A node that said hello.
pub(super) struct Neighbour {
    heard_at: Time,
    /// Hellos that came in a row.
    in_a_row: u32,
    /// When it counts as lost; never, as long as it is no neighbour yet.
    pub(super) lost_at: Time,
}

impl Rfc3561 {
    /// The node says hello if it is on an active route and has broadcast nothing for an interval.
    pub(super) fn tick_hello(&mut self, now: Time, actions: &mut Vec<Action>) {
        let interval = self.params.hello_interval();
        self.hello_at = now + interval;
        let next = self.last_broadcast + interval;
        if self.params.hello_follows_broadcast && next > now {
            self.hello_at = next;
            return;
        }
        let idle = now >= self.active_until && !self.params.hello_when_idle && !self.params.hello_two_way;
        let quiet = now.since(self.last_broadcast) >= interval;
        if idle || !quiet || now < self.silent_until {
            return;
        }
        let lifetime = interval * u64::from(self.params.allowed_hello_loss);
        let heard: Option<Nodes> = self.params.hello_two_way.then(|| self.heard(now));
        let heard = heard.map(|nodes| nodes.as_slice().into());
        let hello = Hello { node: self.node, seqno: self.seqno, lifetime, heard };
        let bytes = IP_HEADER_BYTES + hello.bytes();
        let packet = control(now, self.node, NodeId::BROADCAST, 1, bytes, Message::Hello(hello));
        self.broadcast(now, packet, actions);
    }

    /// The nodes whose hellos are heard, neighbours or not.
    fn heard(&self, now: Time) -> Nodes {
        let patience = self.params.hello_patience();
        let heard = self.neighbours.iter().filter(|(_, known)| now.since(known.heard_at) < patience);
        heard.map(|(node, _)| *node).collect()
    }

    pub(super) fn receive_hello(
        &mut self,
        now: Time,
        hello: &Hello,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if self.params.hello && !self.is_neighbour(now, hello, from) {
            return;
        }
        let slack = self.params.hello_patience().saturating_sub(hello.lifetime);
        let new = self.table.hear(now, from, hello.lifetime + slack);
        if let Some(route) = self.table.valid(now, from) {
            route.learn_seqno(hello.seqno);
        }
        if new {
            self.route_found(now, from, actions);
        }
        if let Some(neighbour) = self.neighbours.get_mut(&from) {
            neighbour.lost_at = now + self.params.hello_patience();
        }
    }

    /// Is the sender a neighbour, with this hello?
    fn is_neighbour(&mut self, now: Time, hello: &Hello, from: NodeId) -> bool {
        let longest = self.params.hello_interval().scaled(1.5);
        let unknown = Neighbour { heard_at: now, in_a_row: 0, lost_at: Time::NEVER };
        let known = self.neighbours.entry(from).or_insert(unknown);
        known.in_a_row = if now.since(known.heard_at) <= longest { known.in_a_row + 1 } else { 1 };
        known.heard_at = now;
        let hears = !self.params.hello_two_way
            || hello.heard.as_ref().is_some_and(|heard| heard.contains(&self.node));
        hears && (known.lost_at < Time::NEVER || known.in_a_row >= self.params.hellos_before_neighbour)
    }

    /// May the link to `from` be one-way only, as far as hellos tell?
    pub(super) fn may_be_one_way(&self, from: NodeId) -> bool {
        let is_neighbour = |known: &Neighbour| known.lost_at < Time::NEVER;
        self.params.hello
            && self.params.hello_two_way
            && !self.neighbours.get(&from).is_some_and(is_neighbour)
    }

    /// Any packet from a neighbour shows that it is still there, but not that it hears this node.
    pub(super) fn note_neighbour(&mut self, now: Time, from: NodeId) {
        if let Some(neighbour) = self.neighbours.get_mut(&from)
            && neighbour.lost_at < Time::NEVER
            && !self.params.hello_two_way
        {
            neighbour.lost_at = now + self.params.hello_patience();
        }
    }

    pub(super) fn lose_silent_neighbours(&mut self, now: Time, actions: &mut Vec<Action>) {
        let silent = self.neighbours.iter().filter(|(_, known)| known.lost_at <= now);
        let lost: Nodes = silent.map(|(neighbour, _)| *neighbour).collect();
        for neighbour in lost {
            self.break_link(now, neighbour, self.params.local_repair, actions);
        }
    }
}
