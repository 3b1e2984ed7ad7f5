//! How paths are found and found again: requests, replies, and the times of both.

use std::collections::btree_map::Entry;

use super::node::Lunar;
use super::selectors::Leads;
use super::state::{Path, Search, Waiting};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::wire::lunar::{Message, Rrep, Rreq, Selector, Series};
use crate::wire::{NodeId, Packet, Payload};

impl Lunar {
    /// Begins a search, if there is none.
    pub(super) fn search(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        if let Entry::Vacant(none) = self.searches.entry(dst) {
            none.insert(Search { tried: 0, deadline: Time::NEVER });
            self.send_rreq(now, dst, actions);
        }
    }

    fn send_rreq(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        let Some(search) = self.searches.get_mut(&dst) else { return };
        search.tried += 1;
        search.deadline = now + self.params.wait(search.tried);
        self.number += 1;
        let series = Series { origin: self.node, number: self.number };
        let reply_to = self.new_selector(now, Leads::Asked { dst });
        let hops_left = self.params.hop_limit as u8;
        self.broadcast(now, Rreq { series, target: dst, reply_to, hops_left }, actions);
    }

    /// Has the node had this request, or made it? Counts the copy for dampening.
    pub(super) fn has_seen(&mut self, now: Time, series: Series) -> bool {
        if series.origin == self.node {
            return true;
        }
        if !self.seen.holds(now, (series.origin, series.number)) {
            return false;
        }
        let enough = self.params.dampening_copies;
        if enough > 0
            && let Some(at) = self.waiting.iter().position(|waiting| waiting.rreq.series == series)
        {
            self.waiting[at].copies += 1;
            if self.waiting[at].copies >= enough {
                self.waiting.remove(at);
            }
        }
        true
    }

    /// The target answers the first copy, others pass the first copy on, as far as it may go.
    pub(super) fn receive_rreq(&mut self, now: Time, rreq: Rreq, from: NodeId, actions: &mut Vec<Action>) {
        if self.has_seen(now, rreq.series) {
            return;
        }
        let Series { origin, number } = rreq.series;
        self.seen.add(now, (origin, number), now + Span::from_secs(self.params.memory_s));
        if rreq.target == self.node {
            let forward = self.new_selector(now, Leads::Here);
            self.reply(now, from, Rrep { series: rreq.series, reply_to: rreq.reply_to, forward }, actions);
        } else if rreq.hops_left > 1 {
            let reply_to = self.new_selector(now, Leads::Back { to: from, selector: rreq.reply_to });
            let due = now + self.stream.span_below(Span::from_secs(self.params.jitter_s));
            let rreq = Rreq { reply_to, hops_left: rreq.hops_left - 1, ..rreq };
            self.waiting.push(Waiting { due, rreq, copies: 0 });
        }
    }

    /// Passes on what has waited for its jitter, in the order in which it came.
    pub(super) fn pass_on_due(&mut self, now: Time, actions: &mut Vec<Action>) {
        let mut at = 0;
        while at < self.waiting.len() {
            if self.waiting[at].due <= now {
                let Waiting { rreq, .. } = self.waiting.remove(at);
                self.broadcast(now, rreq, actions);
            } else {
                at += 1;
            }
        }
    }

    /// Each node on the way back makes a selector for data that leads to where the reply came from.
    pub(super) fn receive_rrep(
        &mut self,
        now: Time,
        packet: Packet,
        rrep: Rrep,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        match self.selectors.get(now, rrep.reply_to) {
            Some(Leads::Back { to, selector }) => {
                actions.push(Action::Consume(packet));
                let forward = self.new_selector(now, Leads::On { to: from, selector: rrep.forward });
                self.reply(now, to, Rrep { reply_to: selector, forward, ..rrep }, actions);
            }
            Some(Leads::Asked { dst }) => {
                actions.push(Action::Consume(packet));
                self.set_up(now, dst, rrep, from, actions);
            }
            _ => actions.push(Action::Drop(packet, DropReason::DeadSelector)),
        }
    }

    /// A reply has come back to the source: there is a path, and what waits for it leaves. A late answer to
    /// an older request than the path's is of no use.
    fn set_up(&mut self, now: Time, dst: NodeId, rrep: Rrep, from: NodeId, actions: &mut Vec<Action>) {
        let number = rrep.series.number;
        if self.paths.get(&dst).is_some_and(|path| path.until > now && path.number > number) {
            return;
        }
        self.searches.remove(&dst);
        let path = Path {
            next: from,
            selector: rrep.forward,
            number,
            until: now + self.params.lifetime(),
            refresh_at: self.next_refresh(now),
            is_used: false,
        };
        self.paths.insert(dst, path);
        let mut delay = Span::ZERO;
        for packet in self.buffer.pop_all(now, dst, actions) {
            let unsent = self.send(now, packet, delay, actions);
            debug_assert!(unsent.is_none(), "the path has just been set up");
            delay = delay + self.params.release_spacing();
        }
    }

    /// Asks again where no answer has come in time, or gives up.
    pub(super) fn continue_searches(&mut self, now: Time, actions: &mut Vec<Action>) {
        let due = |search: &Search| search.deadline <= now;
        while let Some((&dst, search)) = self.searches.iter().find(|(_, search)| due(search)) {
            if search.tried < self.params.tries {
                self.send_rreq(now, dst, actions);
                continue;
            }
            self.searches.remove(&dst);
            self.buffer.drop_all(now, dst, DropReason::NoRoute, actions);
            let refresh_at = self.next_refresh(now);
            if let Some(path) = self.paths.get_mut(&dst) {
                path.refresh_at = refresh_at;
            }
        }
    }

    /// Searches again for destinations whose paths have been used for long enough. The old path carries data
    /// until the reply comes.
    pub(super) fn refresh_paths(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.paths.retain(|_, path| path.refresh_at > now || path.until > now);
        let next_refresh = self.next_refresh(now);
        let mut to_search = Vec::new();
        for (&dst, path) in self.paths.iter_mut().filter(|(_, path)| path.refresh_at <= now) {
            if path.is_used || self.params.refresh_unused {
                path.refresh_at = Time::NEVER;
                to_search.push(dst);
            } else {
                path.refresh_at = next_refresh;
            }
            path.is_used = false;
        }
        for dst in to_search {
            self.search(now, dst, actions);
        }
    }

    /// When a path that is set up now, or that was not refreshed now, is due for a refresh.
    fn next_refresh(&self, now: Time) -> Time {
        self.params.refresh().map_or(Time::NEVER, |refresh| now + refresh)
    }

    fn new_selector(&mut self, now: Time, leads: Leads) -> Selector {
        self.selectors.add(now, self.params.lifetime(), leads, &mut self.stream)
    }

    fn broadcast(&self, now: Time, rreq: Rreq, actions: &mut Vec<Action>) {
        let message = Message::Rreq(rreq);
        let packet = self.message(now, NodeId::BROADCAST, self.params.rreq_bytes, message);
        actions.push(Action::Broadcast { packet, delay: Span::ZERO });
    }

    fn reply(&self, now: Time, to: NodeId, rrep: Rrep, actions: &mut Vec<Action>) {
        let packet = self.message(now, to, self.params.rrep_bytes, Message::Rrep(rrep));
        actions.push(Action::Send { packet, next_hop: to, delay: Span::ZERO });
    }

    /// A message goes over one link.
    fn message(&self, now: Time, to: NodeId, bytes: u32, message: Message) -> Packet {
        Packet::control(now, self.node, to, 1, bytes, Payload::Lunar(message))
    }
}
