//! Route discovery: when requests go out, how far, and when a search ends (RFC 3561 §6.3, §6.4).
//!
//! **Deviations** (docs/models/aodv.md): 5 (RREQ_RETRIES), 8 (jitter).

use std::collections::VecDeque;

use super::Rfc3561;
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::aodv::control;
use crate::routing::{Action, Notice};
use crate::wire::aodv::{Message, RREQ_BYTES, Rreq};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet};

/// A search for a destination.
pub(super) struct Discovery {
    pub(super) ttl: u32,
    pub(super) state: Waiting,
    /// Requests sent over the whole network.
    pub(super) network_wide: u32,
    /// How many of them were repetitions.
    pub(super) retries: u32,
    /// A local repair (§6.12); the hop count of the route that broke.
    pub(super) repair: Option<u8>,
    /// Its requests have the `G` flag, whatever the parameters say.
    pub(super) gratuitous: bool,
}

/// What a search waits for.
#[derive(Clone, Copy)]
pub(super) enum Waiting {
    /// The next request may be sent then (rate limit, or the wait after a reboot).
    ToSend(Time),
    /// An answer may come until then.
    ForAnswer(Time),
}

impl Discovery {
    pub(super) fn new(now: Time, ttl: u32, gratuitous: bool, repair: Option<u8>) -> Discovery {
        let state = Waiting::ToSend(now);
        Discovery { ttl, state, network_wide: 0, retries: 0, repair, gratuitous }
    }

    pub(super) fn deadline(&self) -> Time {
        match self.state {
            Waiting::ToSend(time) | Waiting::ForAnswer(time) => time,
        }
    }
}

/// At most so many messages in any second.
#[derive(Default)]
pub(super) struct RateLimit {
    /// When messages were sent, for the last second.
    sent: VecDeque<Time>,
}

impl RateLimit {
    const WINDOW: Span = Span::from_millis(1000);

    /// When the next message may be sent: `now` or later.
    pub(super) fn free_at(&mut self, now: Time, limit: u32) -> Time {
        while self.sent.front().is_some_and(|sent| *sent + RateLimit::WINDOW <= now) {
            self.sent.pop_front();
        }
        if limit == 0 || self.sent.len() < limit as usize {
            return now;
        }
        self.sent[self.sent.len() - limit as usize] + RateLimit::WINDOW
    }

    pub(super) fn count(&mut self, now: Time) {
        self.sent.push_back(now);
    }
}

impl Rfc3561 {
    pub(super) fn discover(&mut self, now: Time, dst: NodeId, gratuitous: bool, actions: &mut Vec<Action>) {
        if self.discoveries.contains_key(&dst) {
            return;
        }
        // §6.4: the first ring reaches a little beyond the last known distance.
        let last_hops = self.table.get(now, dst).and_then(|route| route.last_hops(now));
        let first = match last_hops {
            Some(hops) => u32::from(hops) + self.params.ttl_increment,
            None => self.params.ttl_start,
        };
        let ttl = self.params.ring(first);
        self.begin_discovery(now, dst, Discovery::new(now, ttl, gratuitous, None), actions);
    }

    pub(super) fn begin_discovery(
        &mut self,
        now: Time,
        dst: NodeId,
        discovery: Discovery,
        actions: &mut Vec<Action>,
    ) {
        self.discoveries.insert(dst, discovery);
        self.send_rreq(now, dst, actions);
    }

    /// §6.3: sends the next request of a search, unless that must wait.
    fn send_rreq(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let within_limit = self.rreq_rate.free_at(now, self.params.rreq_ratelimit);
        let free_at = if self.params.rreq_limit_drops { now } else { within_limit }.max(self.silent_until);
        let Some(discovery) = self.discoveries.get_mut(&dst) else { return };
        if free_at > now {
            discovery.state = Waiting::ToSend(free_at);
            return;
        }
        let (ttl, gratuitous) = (discovery.ttl, discovery.gratuitous);
        let wait = if ttl < self.params.net_diameter || !self.params.rreq_backoff {
            self.params.ring_traversal(ttl)
        } else {
            // Binary exponential backoff.
            discovery.network_wide += 1;
            self.params.net_traversal() * (1 << (discovery.network_wide - 1).min(30))
        };
        discovery.state = Waiting::ForAnswer(now + wait);
        // §6.1: a node increments its own number immediately before it originates a route discovery.
        self.seqno = self.seqno.wrapping_add(1);
        self.rreq_id = self.rreq_id.wrapping_add(1);
        self.remember(now, (self.node, self.rreq_id));
        let rreq = Rreq {
            id: self.rreq_id,
            origin: self.node,
            origin_seqno: self.seqno,
            dst,
            dst_seqno: self.table.get(now, dst).and_then(|route| route.seqno),
            hop_count: 0,
            gratuitous: self.params.gratuitous_rrep || gratuitous,
            destination_only: self.params.destination_only,
            made: now,
        };
        let packet = control(
            now,
            self.node,
            NodeId::BROADCAST,
            ttl,
            IP_HEADER_BYTES + RREQ_BYTES,
            Message::Rreq(rreq),
        );
        if within_limit <= now {
            self.rreq_rate.count(now);
            self.broadcast(now, packet, actions);
        }
    }

    /// The wait of a search is over.
    pub(super) fn continue_discovery(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let Some(discovery) = self.discoveries.get_mut(&dst) else { return };
        if let Waiting::ForAnswer(_) = discovery.state {
            if discovery.repair.is_some() {
                self.fail_repair(now, dst, actions);
                return;
            }
            let whole = self.params.net_diameter;
            if discovery.ttl < whole {
                discovery.ttl = self.params.ring(discovery.ttl + self.params.ttl_increment);
            }
            if discovery.ttl >= whole {
                if discovery.retries == self.params.rreq_retries {
                    self.discoveries.remove(&dst);
                    self.buffer.drop_all(now, dst, DropReason::NoRoute, actions);
                    return;
                }
                discovery.retries += 1;
            }
        }
        self.send_rreq(now, dst, actions);
    }

    /// There is a route to `dst`: searches for it end, and what waited leaves (§6.2).
    pub(super) fn route_found(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let Some(route) = self.table.valid(now, dst) else { return };
        if route.reported {
            route.reported = false;
            actions.push(Action::Notify(Notice::RouteFound { dst }));
        }
        let hops = route.hops;
        let repaired = self.discoveries.remove(&dst).and_then(|discovery| discovery.repair);
        if repaired.is_some_and(|old_hops| hops > old_hops) {
            // §6.12: the repaired route is longer; the nodes before this one may want a better one.
            self.report(now, &[dst], true, actions);
        }
        self.release(now, dst, actions);
    }

    /// §6.3: the request named so is not processed again within PATH_DISCOVERY_TIME.
    pub(super) fn remember(&mut self, now: Time, name: (NodeId, u32)) {
        self.seen.add(now, name, now + self.params.path_discovery());
    }

    /// How long a message to one neighbour waits.
    pub(super) fn unicast_jitter(&mut self) -> Span {
        if self.params.unicast_jitter_ms > 0.0 {
            self.stream.span_below(Span::from_secs(self.params.unicast_jitter_ms * 1e-3))
        } else {
            Span::ZERO
        }
    }

    /// RFC 5148 §5: every broadcast waits a random time, also one that answers nothing: applications of
    /// several nodes may ask at the same instant.
    pub(super) fn broadcast(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        self.last_broadcast = now;
        let delay = self.stream.span_below(self.params.broadcast_jitter());
        actions.push(Action::Broadcast { packet, delay });
    }
}
