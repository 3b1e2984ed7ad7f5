//! How the channel is used at each node, for queues that want to know.

use crate::ifq::{ChannelUse, QueueDiscipline};
use crate::kernel::{Span, Time};
use crate::scenario::Scenario;
use crate::wire::mac::Frame;

use super::Channel;

/// The time that is covered by intervals, which come in order of their beginnings.
#[derive(Clone, Copy, Default)]
struct Covered {
    /// Up to the end of the last interval.
    total: Span,
    until: Time,
    /// What has been told.
    told: Span,
}

impl Covered {
    fn add(&mut self, from: Time, until: Time) {
        let from = from.max(self.until);
        if until > from {
            self.total = self.total + until.since(from);
            self.until = until;
        }
    }

    /// What is covered up to now and has not been told.
    fn take(&mut self, now: Time) -> Span {
        let to_come = if self.until > now { self.until.since(now) } else { Span::ZERO };
        let new = self.total.saturating_sub(to_come).saturating_sub(self.told);
        self.told = self.told + new;
        new
    }
}

/// One node's channel.
#[derive(Clone, Copy, Default)]
struct Node {
    busy: Covered,
    own: Covered,
}

/// The channels of all nodes.
pub(super) struct Utilisation(Vec<Node>);

impl Utilisation {
    /// Those of a scenario, if any queue wants to know.
    pub(super) fn new(scenario: &Scenario) -> Option<Box<Utilisation>> {
        let is_wanted = scenario.params.queue.discipline == QueueDiscipline::NeighbourhoodRed;
        is_wanted.then(|| Box::new(Utilisation(vec![Node::default(); scenario.movement.len()])))
    }
}

impl Channel {
    /// How the channel was used at a node since this was asked last.
    pub(crate) fn take_use(&mut self, now: Time, node: u32) -> ChannelUse {
        let Some(utilisation) = &mut self.utilisation else { return ChannelUse::default() };
        let Node { busy, own } = &mut utilisation.0[node as usize];
        ChannelUse { busy: busy.take(now), own: own.take(now) }
    }

    /// A node that is there puts a frame on the air.
    pub(crate) fn use_to_send(&mut self, now: Time, node: u32, frame: &Frame) {
        let Some(utilisation) = &mut self.utilisation else { return };
        let Node { busy, own } = &mut utilisation.0[node as usize];
        busy.add(now, now + frame.airtime);
        own.add(now, now + frame.airtime);
    }

    /// The frame of a transmission keeps the channel busy for all whom it reaches, and what it reserves for
    /// those who can decode it and whom it is not for.
    #[inline(never)]
    pub(super) fn use_to_hear(&mut self, id: u32) {
        let transmission = &self.transmissions[id as usize];
        let (Some(utilisation), Some(frame)) = (&mut self.utilisation, &transmission.frame) else { return };
        for arrival in self.index.arrivals(frame.from.0, transmission.receive_m2) {
            let Node { busy, own } = &mut utilisation.0[arrival.node as usize];
            let begin = transmission.start + Span(arrival.delay_ns.into());
            let end = begin + frame.airtime;
            let is_for_it = frame.to.0 == arrival.node;
            let is_reserved = arrival.receivable && !is_for_it;
            busy.add(begin, if is_reserved { end + frame.reserves } else { end });
            if is_for_it && arrival.receivable {
                own.add(begin, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_counted_once_and_what_is_to_come_later() {
        let mut covered = Covered::default();
        let mut take = |added: &[(u64, u64)], now: u64| {
            added.iter().for_each(|&(from, until)| covered.add(Time(from), Time(until)));
            covered.take(Time(now)).0
        };
        assert_eq!(take(&[(10, 30), (20, 50), (25, 40), (60, 70)], 100), 50);
        assert_eq!(take(&[], 200), 0);
        assert_eq!(take(&[(210, 260), (220, 320)], 300), 90);
        // 20 of the last one were to come. What begins a little later than now is told in the end.
        assert_eq!(take(&[(401, 411)], 400) + take(&[], 500), 20 + 10);
    }
}
