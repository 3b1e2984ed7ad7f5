//! What frames on the air take from batteries: who sends them, and all whom they reach.

use std::sync::Arc;

use crate::kernel::{Clock, Slot, Span, Time};
use crate::mobility::Path;
use crate::radio::{Energy, EnergyTotals};
use crate::scenario::Scenario;
use crate::wire::mac::Frame;

use super::Channel;

/// The batteries of all nodes.
pub(super) struct Batteries {
    energy: Energy,
    paths: Arc<[Path]>,
    /// When each may be empty, by node; none at all where they never are.
    slots: Vec<Slot>,
}

impl Batteries {
    /// Those of a scenario, if energy is counted.
    pub(super) fn new(scenario: &Scenario, paths: &Arc<[Path]>) -> Option<Box<Batteries>> {
        let energy = Energy::new(scenario.energy.as_ref()?, paths.len());
        Some(Box::new(Batteries { energy, paths: Arc::clone(paths), slots: Vec::new() }))
    }

    fn set_slot(&self, clock: &mut Clock, node: u32) {
        if let Some(&slot) = self.slots.get(node as usize) {
            let look_at = self.energy.look_at(node, &self.paths[node as usize]);
            clock.agenda.set(slot, look_at.max(clock.now));
        }
    }
}

impl Channel {
    /// Can batteries be empty?
    pub(crate) fn has_batteries(&self) -> bool {
        self.batteries.as_ref().is_some_and(|batteries| batteries.energy.has_end())
    }

    /// The slots that are due when batteries are empty, by node.
    pub(crate) fn watch_batteries(&mut self, clock: &mut Clock, slots: Vec<Slot>) {
        let Some(batteries) = &mut self.batteries else { return };
        batteries.slots = slots;
        for node in 0..batteries.paths.len() as u32 {
            batteries.set_slot(clock, node);
        }
    }

    /// Is, or was, the node's battery empty at this time?
    pub(crate) fn is_dead(&self, node: u32, at: Time) -> bool {
        self.batteries.as_ref().is_some_and(|batteries| batteries.energy.is_dead(node, at))
    }

    /// The node's battery may be empty: then nobody hears the node any more, nor does it hear.
    pub(crate) fn look_at_battery(&mut self, clock: &mut Clock, node: u32) {
        let Some(batteries) = &mut self.batteries else { return };
        batteries.energy.count(clock.now, node, &batteries.paths[node as usize]);
        if batteries.energy.is_dead(node, clock.now) {
            clock.agenda.set(batteries.slots[node as usize], Time::NEVER);
            self.index.remove(node);
        } else {
            batteries.set_slot(clock, node);
        }
    }

    /// A node that is there puts a frame on the air.
    pub(crate) fn spend_on_sending(&mut self, clock: &mut Clock, node: u32, frame: &Frame) {
        let Some(batteries) = &mut self.batteries else { return };
        batteries.energy.transmit(clock.now, node, frame, &batteries.paths[node as usize]);
        batteries.set_slot(clock, node);
    }

    /// The frame of a transmission reaches all whom it reaches.
    #[inline(never)]
    pub(super) fn spend_on_hearing(&mut self, clock: &mut Clock, id: u32) {
        let transmission = &self.transmissions[id as usize];
        let (Some(batteries), Some(frame)) = (&mut self.batteries, &transmission.frame) else { return };
        for arrival in self.index.arrivals(frame.from.0, transmission.receive_m2) {
            let (node, now) = (arrival.node, transmission.start + Span(arrival.delay_ns.into()));
            batteries.energy.hear(now, node, frame, arrival.receivable, &batteries.paths[node as usize]);
            batteries.set_slot(clock, node);
        }
    }

    /// What has been spent, when the run ends and so much payload has been delivered.
    pub(crate) fn energy_totals(&mut self, end: Time, delivered_bytes: f64) -> Option<EnergyTotals> {
        let Batteries { energy, paths, .. } = *self.batteries.take()?;
        Some(energy.totals(end, &paths, delivered_bytes))
    }
}
