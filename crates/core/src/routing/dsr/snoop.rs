//! Learning from packets of others, and shortening their routes (RFC 4728 §3.3.1, §3.4.3).

use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::wire::dsr::{Header, Route};
use crate::wire::{NodeId, Packet};

use super::node::Dsr;

impl Dsr {
    /// A packet to another node was received here too.
    pub(super) fn overhear(
        &mut self,
        now: Time,
        packet: &Packet,
        from: NodeId,
        to: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let Some(header) = packet.dsr() else { return };
        if header.route.is_empty() {
            // Of a flow: there is nothing to learn from it.
            return;
        }
        let number = header.copy_of.unwrap_or(packet.uid);
        if packet.src == self.node || !self.overheard.is_new(number, self.params.overheard_packets) {
            return;
        }
        if !header.errors.is_empty() {
            self.learn_errors(header, actions);
            if self.params.handle_overheard_errors {
                self.take_overheard_error(now, packet, header, actions);
            }
        }
        if let Some(reply) = &header.reply {
            self.learn_path(now, reply);
        }
        let (here, receiver) = (header.place_of(self.node), header.place_of(to));
        match (here, receiver.and_then(|receiver| receiver.checked_sub(1))) {
            (Some(here), _) => self.learn_from(now, &header.route, here),
            (None, Some(sender)) => self.learn_overheard(now, &header.route, sender),
            (None, None) => {}
        }
        if packet.is_data()
            && let (Some(here), Some(receiver)) = (here, receiver)
        {
            self.shorten(now, &header.route, here, receiver, from, actions);
        }
        self.release_if_exact(now, actions);
    }

    /// An error to this node, heard before it has come here, is handled as if it had.
    fn take_overheard_error(
        &mut self,
        now: Time,
        packet: &Packet,
        header: &Header,
        actions: &mut Vec<Action>,
    ) {
        self.remember_error(now, header);
        if header.errors.last().is_some_and(|error| error.tell == self.node) {
            let copy = Packet { uid: Packet::UNNUMBERED, ..packet.clone() };
            let of =
                self.params.unwrapped_copies_count_as_heard.then(|| header.copy_of.unwrap_or(packet.uid));
            if let Ok(inner) = self.inner_error(now, copy, &Header { copy_of: of, ..header.clone() }) {
                self.send_or_seek(now, inner, actions);
            }
        }
    }

    /// The rest of a source route from its `sender` on, who is a neighbour.
    fn learn_overheard(&mut self, now: Time, route: &Route, sender: usize) {
        let room = self.params.max_route_nodes as usize - 1;
        let ahead = &route[sender..];
        let path = self.through(&ahead[..ahead.len().min(room)]);
        self.cache.notice(now, &path);
        if self.params.learn_reverse_routes {
            let behind = route[..=sender].iter().rev().take(room);
            let path: Route = std::iter::once(&self.node).chain(behind).copied().collect();
            self.cache.notice(now, &path);
        }
    }

    /// The path from here through these nodes.
    fn through(&self, nodes: &[NodeId]) -> Route {
        let mut path = Route::from_slice(&[self.node]);
        path.extend_from_slice(nodes);
        path
    }

    /// A path that leads through this node, if it does.
    fn learn_path(&mut self, now: Time, path: &Route) {
        if let Some(here) = path.iter().position(|node| *node == self.node) {
            self.learn_from(now, path, here);
        }
    }

    /// A path on which this node stands `here`: what lies ahead, and what lies behind if links work both
    /// ways.
    fn learn_from(&mut self, now: Time, path: &Route, here: usize) {
        if here + 1 < path.len() {
            self.cache.notice(now, &path[here..]);
        }
        if self.params.learn_reverse_routes && here > 0 {
            let back: Route = path[..=here].iter().rev().copied().collect();
            self.cache.notice(now, &back);
        }
    }

    /// A packet that this node forwards.
    pub(super) fn learn_forwarded(&mut self, now: Time, header: &Header, actions: &mut Vec<Action>) {
        if self.params.learn_forwarded_routes {
            self.learn_path(now, &header.route);
        }
        if let Some(reply) = &header.reply
            && self.params.learn_forwarded_replies
        {
            self.learn_path(now, reply);
        }
        self.release_if_exact(now, actions);
    }

    /// A packet that ends here came along `route`.
    pub(super) fn learn_way_back(&mut self, now: Time, route: &Route, actions: &mut Vec<Action>) {
        if self.params.learn_reverse_routes && route.last() == Some(&self.node) {
            self.learn_path(now, route);
            self.release_if_exact(now, actions);
        }
    }

    /// A request came along `route`, which does not contain this node yet.
    pub(super) fn learn_way_of_request(&mut self, now: Time, route: &Route, actions: &mut Vec<Action>) {
        if self.params.learn_reverse_routes {
            let back: Route = std::iter::once(&self.node).chain(route.iter().rev()).copied().collect();
            self.cache.notice(now, &back);
            self.release_if_exact(now, actions);
        }
    }

    /// §3.4.3: a packet that shall come `here` later on its route was heard already now, when it is on its
    /// way to the `receiver`: the nodes between can be left out.
    fn shorten(
        &mut self,
        now: Time,
        route: &Route,
        here: usize,
        receiver: usize,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.gratuitous_replies || receiver == 0 || here <= receiver {
            return;
        }
        let holdoff = Span::from_secs(self.params.grat_reply_holdoff_s);
        let size = self.params.grat_reply_table;
        let is_due = if self.params.grat_replies_by_route {
            self.overheard.may_reply_about(now, route, holdoff, size)
        } else {
            self.overheard.may_reply(now, route[0], from, holdoff, size)
        };
        if !is_due {
            return;
        }
        let mut route = route.clone();
        route.drain(receiver..here);
        let passed = Route::from_slice(&route[..=receiver]);
        let reply = Header { reply: Some(route), shortens: true, ..self.header() };
        self.send_reply(now, reply, &passed, Span::ZERO, actions);
    }
}
