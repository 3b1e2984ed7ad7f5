//! Processing received updates (3.2.5).
//!
//! **Deviations** (docs/models/adv.md): 9 (lost floods), 10 (requests), 19 (urgency), 20 (neighbours
//! that go).

use super::Adv;
use super::decision::{Decision, View, decide};
use super::route::Route;
use super::trigger::Speed;
use crate::kernel::Time;
use crate::routing::{Action, Notice};
use crate::wire::NodeId;
use crate::wire::adv::{Entry, INFINITE, Response, Update};

impl Adv {
    pub(super) fn receive_update(
        &mut self,
        now: Time,
        update: &Update,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        self.mobility.look_at_clock(now, &self.params);
        self.count_changes(now, from);
        let amounts = self.params.trgmeter_by_response();
        for entry in &*update.entries {
            self.trigger.raise(amounts[entry.expected_response as usize]);
            if entry.dst == self.node {
                self.hear_of_itself(now, *entry, actions);
            } else {
                self.process(now, *entry, from, actions);
            }
        }
    }

    /// An active receiver that learns that it is called unreachable makes a full update at once (Table 3.4),
    /// with a number above the one that it heard. A node of which others know that it is a receiver, and that
    /// does not know it itself, has missed init-connection.
    fn hear_of_itself(&mut self, now: Time, entry: Entry, actions: &mut Vec<Action>) {
        let is_news = entry.seqno >= self.seqno;
        self.seqno = self.seqno.max(entry.seqno.next_multiple_of(2));
        if entry.is_receiver && is_news {
            self.become_receiver(now, actions);
        }
        if entry.expected_response == Response::High {
            // Packets for it wait somewhere: that is use enough for the active route timeout.
            self.received_at = now;
        }
        if entry.metric == INFINITE && self.is_receiver {
            self.trigger.raise(self.params.trgmeter_full);
        }
    }

    /// Table 3.4, after what does not depend on which of its rows applies.
    fn process(&mut self, now: Time, entry: Entry, from: NodeId, actions: &mut Vec<Action>) {
        let route = self.table.get_or_insert_with(entry.dst, || Route::unknown(entry.dst));
        copy_flag(now, route, entry, || self.outgoing.contains_key(&entry.dst));
        if self.params.pass_on_requests {
            pass_on(route, entry);
        }
        let view = |seqno, metric: u8| View { seqno, metric: (metric != INFINITE).then_some(metric) };
        let (mine, received) = (view(route.seqno, route.metric), view(entry.seqno, entry.metric));
        let decision = decide(mine, received, route.next_hop == from, &self.params);
        route.advertise = route.advertise.saturating_add_signed(decision.count());
        match decision {
            Decision::KnowsLess | Decision::Nothing => {}
            Decision::KnowsAsMuch => {
                if self.params.switch_next_hop_on_tie {
                    route.next_hop = from;
                }
            }
            Decision::AdoptFresher | Decision::AdoptShorter => {
                if decision == Decision::AdoptFresher && route.is_forwarded() {
                    self.raise_for_entry();
                }
                self.adopt(now, entry.dst, from, entry.metric.saturating_add(1), entry.seqno, actions);
            }
            Decision::Invalidate => {
                route.adopt(from, INFINITE, entry.seqno);
                if route.is_forwarded() {
                    self.raise_for_entry();
                }
                actions.push(Action::Notify(Notice::RouteFailed { dst: entry.dst, told: true }));
            }
            Decision::CopyNumber => route.seqno = entry.seqno,
        }
    }

    /// An update brings news of a route across this forwarding node: urgent in a fast network.
    fn raise_for_entry(&mut self) {
        if self.params.urgent_entries_at_low_speed || self.mobility.speed == Speed::High {
            self.trigger.raise(self.params.trgmeter_med);
        }
    }

    /// Takes a new way to `dst` and sends what has waited for one. True if there was none before.
    pub(super) fn adopt(
        &mut self,
        now: Time,
        dst: NodeId,
        next_hop: NodeId,
        metric: u8,
        seqno: u32,
        actions: &mut Vec<Action>,
    ) -> bool {
        let route = self.table.get_or_insert_with(dst, || Route::unknown(dst));
        let (was_valid, rises) = (route.is_valid(), route.metric == 1 && metric > 1);
        route.has_risen |= rises;
        route.adopt(next_hop, metric, seqno);
        if rises && !self.params.departures_when_heard {
            self.mobility.count(now, &self.params);
        }
        if !was_valid {
            actions.push(Action::Notify(Notice::RouteFound { dst }));
            self.release(now, dst, actions);
        }
        !was_valid
    }
}

/// The receiver flag is copied unless the entry is older. A source whose connection is open knows better.
fn copy_flag(now: Time, route: &mut Route, entry: Entry, is_source: impl FnOnce() -> bool) {
    if entry.expected_response == Response::High {
        route.active_at = now;
    }
    if entry.seqno < route.seqno || (entry.is_receiver & route.is_receiver) {
    } else if entry.is_receiver {
        route.become_receiver(now);
    } else {
        route.is_receiver = is_source();
    }
}

/// A neighbour asks for a route and this node has nothing fresher to answer: with `pass_on_requests` it asks
/// in turn. By the text a request ends with the neighbours; what reaches farther is that they make updates
/// too.
fn pass_on(route: &mut Route, entry: Entry) {
    let can_answer = route.is_valid() && route.seqno > entry.seqno;
    if entry.expected_response == Response::High && !can_answer {
        route.is_asked_for = true;
        route.advertise = route.advertise.max(1);
    }
}
