//! The flows of a network: each between two nodes, with a slot in the event queue for each of its timers.

use smallvec::SmallVec;

use super::{End, Flow, Snapshot, Timer};
use crate::kernel::{Clock, Slot};
use crate::observe::RunningCounts;
use crate::wire::{FlowId, NodeId};

/// The slots of a flow's timers, in the order in which they fire.
type Slots = SmallVec<[(Timer, Slot); 4]>;

/// See the module's head. In the scenario's order.
#[derive(Default)]
pub(crate) struct Flows(Vec<Placed>);

struct Placed {
    src: NodeId,
    dst: NodeId,
    flow: Box<dyn Flow>,
    slots: Slots,
}

impl Flows {
    /// Adds the next flow, between these nodes, with a slot for each of its timers.
    pub(crate) fn add(&mut self, src: NodeId, dst: NodeId, flow: Box<dyn Flow>, slots: Slots) {
        self.0.push(Placed { src, dst, flow, slots });
    }

    /// How many they are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The flow of this number.
    pub(crate) fn get_mut(&mut self, id: FlowId) -> &mut dyn Flow {
        self.0[id.index()].flow.as_mut()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Flow> {
        self.0.iter().map(|placed| placed.flow.as_ref())
    }

    /// The source and the destination of each.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.0.iter().map(|placed| (placed.src, placed.dst))
    }

    /// The node at an end of a flow, and that at the other.
    pub(crate) fn nodes_from(&self, id: FlowId, end: End) -> (NodeId, NodeId) {
        let placed = &self.0[id.index()];
        match end {
            End::Source => (placed.src, placed.dst),
            End::Destination => (placed.dst, placed.src),
        }
    }

    /// Sets the deadlines of a flow, which has been called.
    pub(crate) fn set_deadlines(&self, clock: &mut Clock, id: FlowId) {
        let placed = &self.0[id.index()];
        for &(timer, slot) in &placed.slots {
            clock.agenda.set(slot, placed.flow.next_timeout(timer));
        }
    }

    /// The ends of flows from which packets go from `node` to `dst`.
    pub(crate) fn ends_between(&self, node: NodeId, dst: NodeId) -> SmallVec<[(FlowId, End); 4]> {
        let ids = (0..self.0.len() as u32).map(FlowId);
        let ends = ids.flat_map(|id| [(id, End::Source), (id, End::Destination)]);
        ends.filter(|&(id, end)| self.nodes_from(id, end) == (node, dst)).collect()
    }

    /// The flows to `dst` that want to know how strong frames are there.
    pub(crate) fn hearing_power(&self, dst: u32) -> SmallVec<[FlowId; 4]> {
        let wants = |(_, placed): &(u32, &Placed)| placed.dst.0 == dst && placed.flow.wants_rx_power();
        (0..).zip(&self.0).filter(wants).map(|(id, _)| FlowId(id)).collect()
    }

    /// The warm-up ends: counts so far are set aside.
    pub(crate) fn handle_warmup_end(&mut self) {
        self.0.iter_mut().for_each(|placed| placed.flow.handle_warmup_end());
    }

    /// The flows as they are now; adds what they have counted.
    pub(crate) fn snapshots(&self, counts: &mut RunningCounts) -> Vec<Snapshot> {
        self.0.iter().map(|placed| placed.flow.snapshot(counts)).collect()
    }
}
