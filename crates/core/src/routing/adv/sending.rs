//! Sending routing updates (3.2.4).
//!
//! **Deviations** (docs/models/adv.md): 4 (full updates), 14 (the meter).

use super::Adv;
use super::trigger::Speed;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::wire::adv::{Entry, Message, Response, Update};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet};

/// An update that will be sent.
#[derive(Debug)]
pub(super) struct Scheduled {
    full: bool,
    pub(super) due: Time,
    /// The trigger meter that has led to it.
    meter: u32,
    /// Has the interface queue been searched for an update that still waits there?
    queue_searched: bool,
}

impl Adv {
    /// The test of 3.2.5, made after every event that raises the meter: is an update due?
    ///
    /// A full one is due at TRGMETER_FULL, not above it: the text has an active receiver add just that amount
    /// to make sure of a full update.
    pub(super) fn check_meter(&mut self, now: Time) {
        let meter = self.trigger.meter;
        if meter >= self.params.trgmeter_full {
            self.schedule(now, true);
        } else if meter > 0 && self.is_partial_due() {
            self.schedule(now, false);
        }
    }

    fn is_partial_due(&self) -> bool {
        let is_above = |is_active| {
            f64::from(self.trigger.meter)
                > self.trigger.threshold(is_active, self.mobility.speed, &self.params)
        };
        // Mostly both thresholds say the same, and the table need not be searched for forwarded routes.
        match (is_above(true), is_above(false)) {
            (true, true) => true,
            (false, false) => false,
            _ => is_above(self.is_active()),
        }
    }

    /// *Active node*: an active receiver or a forwarding node (3.2.7).
    fn is_active(&self) -> bool {
        self.is_receiver || self.table.iter().any(|route| route.is_forwarded())
    }

    /// Schedules an update at once, or for the end of the gap after the last one; the trigger meter starts
    /// anew. One that is scheduled already is the same update, full if either is.
    pub(super) fn schedule(&mut self, now: Time, full: bool) {
        let meter = std::mem::take(&mut self.trigger.meter);
        if let Some(scheduled) = &mut self.scheduled {
            scheduled.full |= full;
            scheduled.meter = scheduled.meter.saturating_add(meter);
        } else {
            let due = self.next_update_at.max(now);
            self.scheduled = Some(Scheduled { full, due, meter, queue_searched: false });
        }
    }

    /// Takes back an update that still waits in the interface queue; the scheduled one is made a nanosecond
    /// later, when that one has come back.
    pub(super) fn update_is_due(&mut self, now: Time, actions: &mut Vec<Action>) {
        let Some(scheduled) = &mut self.scheduled else { return };
        if !scheduled.queue_searched {
            scheduled.queue_searched = true;
            scheduled.due = now + Span(1);
            actions.push(Action::FlushQueue(NodeId::BROADCAST));
        } else if let Some(Scheduled { full, meter, .. }) = self.scheduled.take() {
            self.send_update(now, full, meter, actions);
        }
    }

    /// A broadcast comes back from the interface queue. An update goes into the one that is scheduled: what
    /// it named is still to be advertised. A flood goes back.
    pub(super) fn take_back(&mut self, packet: Packet, message: &Message, actions: &mut Vec<Action>) {
        let Message::Update(update) = message else {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
            return;
        };
        for entry in &*update.entries {
            if let Some(route) = self.table.get_mut(entry.dst) {
                route.count_up();
            }
        }
        if let Some(scheduled) = &mut self.scheduled {
            scheduled.full |= update.full;
        }
        actions.push(Action::Consume(packet));
    }

    /// Makes and sends an update: a full one has the entries of all active receivers, a partial one those
    /// whose advertisement count is not zero, and both this node's own.
    fn send_update(&mut self, now: Time, full: bool, meter: u32, actions: &mut Vec<Action>) {
        self.mobility.look_at_clock(now, &self.params);
        self.expire_receivers(now);
        let is_active = self.is_active();
        // Every update has a new, higher number.
        self.seqno += 2;
        let own = Entry {
            dst: self.node,
            seqno: self.seqno,
            metric: 0,
            is_receiver: self.is_receiver,
            expected_response: Response::Zero,
        };
        let mut entries = Vec::with_capacity(self.table.len() + 1);
        entries.push(own);
        let (buffer, speed) = (&self.buffer, self.mobility.speed);
        for route in self.table.iter_mut().filter(|route| route.is_receiver && (full || route.advertise > 0))
        {
            entries.push(Entry {
                dst: route.dst,
                seqno: route.seqno,
                metric: route.metric,
                is_receiver: true,
                expected_response: expected_response(
                    route.is_asked_for || buffer.contains(route.dst),
                    route.is_forwarded(),
                    speed,
                ),
            });
            route.is_asked_for = false;
            route.count_down();
            // Halved down to zero: after an update without traffic this is no forwarding node any more.
            route.handled /= 2;
        }
        let update = Update { full, entries: entries.into() };
        let packet = self.control(now, IP_HEADER_BYTES + update.bytes(), Message::Update(update));
        let delay = self.jitter();
        actions.push(Action::Broadcast { packet, delay });
        self.next_update_at = now + delay + self.params.min_update_gap();
        if full {
            self.trigger.note_full(now, meter, is_active, &self.params);
            self.mobility.note_full(now, &self.params);
        } else {
            self.trigger.note_partial(meter);
        }
    }

    /// The active route timeout, the other way to make routes inactive (3.1).
    fn expire_receivers(&mut self, now: Time) {
        let timeout = Span::from_secs(self.params.active_route_timeout_s);
        if timeout == Span::ZERO {
            return;
        }
        self.is_receiver &= now.since(self.received_at) < timeout;
        for route in self.table.iter_mut().filter(|route| now.since(route.active_at) >= timeout) {
            route.is_receiver &= self.outgoing.contains_key(&route.dst);
        }
    }
}

/// The expected response of an entry (3.2.4). `is_needed`: packets wait for a route, here or where this node
/// was asked.
fn expected_response(is_needed: bool, is_forwarded: bool, speed: Speed) -> Response {
    match speed {
        _ if is_needed => Response::High,
        Speed::High if is_forwarded => Response::Medium,
        Speed::Low if is_forwarded => Response::Low,
        _ => Response::Zero,
    }
}
