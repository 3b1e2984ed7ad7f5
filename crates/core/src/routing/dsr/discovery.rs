//! Route discovery: requests and replies (RFC 4728 §3.1, §3.3, §8.2).
//!
//! *Deviations* (docs/models/dsr.md): 1 (first requests), 2 (errors on requests).

use smallvec::SmallVec;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::wire::dsr::{Header, LinkError, Request, Route};
use crate::wire::{NodeId, Packet, RoutingHeader};

use super::node::Dsr;
use super::requests::Step;

impl Dsr {
    /// A packet waits for a route to `target`; asks for one if it is time to.
    pub(in crate::routing) fn seek(
        &mut self,
        now: Time,
        target: NodeId,
        own: bool,
        actions: &mut Vec<Action>,
    ) {
        match self.requests.step(now, target, own, &self.params) {
            Step::AskNeighbours => self.request(now, target, 0, actions),
            Step::AskAll => self.request(now, target, self.params.max_route_nodes, actions),
            Step::Wait => {}
            Step::GiveUp => {
                // The others wait for what the node may still learn.
                if let Some(packet) = self.buffer.pop(now, target, actions) {
                    actions.push(Action::Drop(packet, DropReason::NoRoute));
                }
            }
        }
    }

    /// A packet waits for a route to `target`, and nobody looks at the buffer at intervals: its search begins
    /// now, because its deadline is that of the search.
    pub(super) fn seek_if_exact(&mut self, now: Time, target: NodeId, actions: &mut Vec<Action>) {
        if !self.checks_at_intervals() {
            let own = self.awaits_own(target);
            self.seek(now, target, own, actions);
        }
    }

    /// §8.2.1: originates a request that `forwarders` nodes in a row may send on.
    fn request(&mut self, now: Time, target: NodeId, forwarders: u32, actions: &mut Vec<Action>) {
        let id = self.next_request;
        self.next_request = self.next_request.wrapping_add(1);
        let header = Header {
            request: Some(Request { id, target, forwarders }),
            route: Route::from_slice(&[self.node]),
            errors: self.gratuitous_error(now, forwarders > 0),
            ..self.header()
        };
        let packet = self.control(now, NodeId::BROADCAST, (forwarders + 1).min(255) as u8, header);
        let delay = self.stream.span_below(self.params.request_jitter());
        actions.push(Action::Broadcast { packet, delay });
    }

    /// §3.4.4: the last error, to be spread by a request. It stays at hand until a request goes to all.
    fn gratuitous_error(&mut self, now: Time, to_all: bool) -> SmallVec<[LinkError; 1]> {
        let mut errors = SmallVec::new();
        let hold = Span::from_secs(self.params.grat_error_hold_s);
        if let Some(held) = self.held_error
            && self.params.gratuitous_errors
            && now < held.since + hold
        {
            errors.push(LinkError { tell: NodeId::BROADCAST, from: held.from, to: held.to });
            if to_all {
                self.held_error = None;
            }
        }
        errors
    }

    /// §8.2.2: a request arrives. `answers`: the node may answer it from its cache if it can.
    pub(in crate::routing) fn receive_request(
        &mut self,
        now: Time,
        packet: Packet,
        (header, request): (&Header, Request),
        answers: bool,
        actions: &mut Vec<Action>,
    ) {
        self.learn_errors(header, actions);
        let initiator = packet.src;
        let known = header.route.contains(&self.node)
            || header.route.len() >= self.params.max_route_nodes as usize
            || (request.target != self.node && self.requests.has_seen(initiator, request.id, &self.params));
        if known || header.route.is_empty() {
            actions.push(Action::Consume(packet));
            return;
        }
        self.requests.remember(initiator, request.id, &self.params);
        self.learn_way_of_request(now, &header.route, actions);
        if request.target == self.node {
            // §8.2.4: a target answers every copy, so that the initiator learns several routes.
            let mut route = header.route.clone();
            route.push(self.node);
            let delay = self.stream.span_below(self.params.reply_jitter());
            let passed = route.clone();
            let reply = Header { reply: Some(route), ..self.header() };
            self.send_reply(now, reply, &passed, delay, actions);
            if self.params.learn_own_replies {
                let back: Route = passed.iter().rev().copied().collect();
                self.cache.notice(now, &back);
            }
            actions.push(Action::Consume(packet));
        } else if answers && self.reply_from_cache(now, header, request.target, actions) {
            actions.push(Action::Consume(packet));
        } else {
            self.pass_request_on(packet, header, request, actions);
        }
    }

    fn pass_request_on(
        &mut self,
        mut packet: Packet,
        header: &Header,
        request: Request,
        actions: &mut Vec<Action>,
    ) {
        if header.route.len() > request.forwarders as usize || packet.ttl <= 1 {
            actions.push(Action::Consume(packet));
            return;
        }
        packet.ttl -= 1;
        let mut longer = header.clone();
        longer.route.push(self.node);
        self.charge_stale(header, &mut longer);
        packet.put_header(RoutingHeader::Dsr(longer));
        let delay = self.stream.span_below(self.params.request_jitter());
        actions.push(Action::Broadcast { packet, delay });
    }

    /// §8.2.3: answers for the target if the cache completes the route; true if it did.
    fn reply_from_cache(
        &mut self,
        now: Time,
        header: &Header,
        target: NodeId,
        actions: &mut Vec<Action>,
    ) -> bool {
        let Some(rest) = self.route_to(now, target, false) else { return false };
        if header.route.len() + rest.len() > self.params.max_route_nodes as usize {
            return false;
        }
        let mut route = header.route.clone();
        route.extend_from_slice(&rest);
        if self.params.cut_loops_in_replies {
            cut_loops(&mut route);
        }
        if !route.contains(&self.node) || !has_no_repetition(&route) {
            return false;
        }
        let mut passed = header.route.clone();
        passed.push(self.node);
        let delay = self.stream.span_below(self.params.cached_reply_jitter());
        let reply = Header { reply: Some(route), ..self.header() };
        self.send_reply(now, reply, &passed, delay, actions);
        true
    }

    /// §8.2.4: sends a reply back along `passed`, which ends here; that way is worth knowing.
    pub(in crate::routing) fn send_reply(
        &mut self,
        now: Time,
        reply: Header,
        passed: &[NodeId],
        delay: Span,
        actions: &mut Vec<Action>,
    ) {
        let back: Route = passed.iter().rev().copied().collect();
        let (Some(&initiator), Some(&next_hop)) = (passed.first(), back.get(1)) else { return };
        self.cache.add(now, &back);
        let header = Header { route: back, ..reply };
        let packet = self.control(now, initiator, u8::MAX, header);
        actions.push(Action::Send { packet, next_hop, delay });
    }

    /// A packet for this node arrives.
    pub(super) fn receive(
        &mut self,
        now: Time,
        mut packet: Packet,
        header: &Header,
        actions: &mut Vec<Action>,
    ) {
        self.learn_way_back(now, &header.route, actions);
        if let Some(route) = &header.reply {
            self.accept_reply(now, route, actions);
        }
        if !header.errors.is_empty() {
            self.learn_errors(header, actions);
            self.remember_error(now, header);
        }
        if packet.is_data() {
            packet.take_header();
            actions.push(Action::Deliver(packet));
        } else if header.errors.len() > 1 {
            self.unwrap_error(now, packet, header, actions);
        } else if !header.unknown_flows.is_empty() {
            self.receive_unknown_flows(now, packet, header, actions);
        } else {
            actions.push(Action::Consume(packet));
        }
    }

    /// §8.2.6: a reply to this node.
    fn accept_reply(&mut self, now: Time, route: &Route, actions: &mut Vec<Action>) {
        if route.first() != Some(&self.node) || route.len() < 2 {
            return;
        }
        self.cache.add(now, route);
        if let Some(&target) = route.last() {
            self.requests.succeed(target);
        }
        self.release(now, self.params.release_spacing(), actions);
    }
}

/// Cuts out what lies between two visits to the same node, the longest such piece first from the beginning
/// on.
fn cut_loops(route: &mut Route) {
    let mut at = 0;
    while at < route.len() {
        let last = route.iter().rposition(|node| *node == route[at]).unwrap_or(at);
        route.drain(at..last);
        at += 1;
    }
}

fn has_no_repetition(route: &[NodeId]) -> bool {
    route.iter().enumerate().all(|(at, node)| !route[..at].contains(node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(nodes: &[u32]) -> Vec<u32> {
        let mut route: Route = nodes.iter().map(|node| NodeId(*node)).collect();
        cut_loops(&mut route);
        route.iter().map(|node| node.0).collect()
    }

    #[test]
    fn loops_are_cut_at_the_last_visit() {
        assert_eq!(cut(&[1, 2, 3, 2, 4]), [1, 2, 4]);
        assert_eq!(cut(&[1, 2, 3, 1, 5, 3, 6]), [1, 5, 3, 6]);
        assert_eq!(cut(&[1, 2, 3]), [1, 2, 3]);
    }

    proptest! {
        #[test]
        fn what_is_left_has_no_node_twice_and_the_same_ends(nodes in prop::collection::vec(0u32..6, 1..12)) {
            let left: Route = cut(&nodes).into_iter().map(NodeId).collect();
            prop_assert!(has_no_repetition(&left));
            prop_assert_eq!(left[0].0, nodes[0]);
            prop_assert_eq!(left.last().map(|node| node.0), nodes.last().copied());
            // Each step was a step before.
            for step in left.windows(2) {
                prop_assert!(nodes.windows(2).any(|pair| pair == [step[0].0, step[1].0]));
            }
        }
    }
}
