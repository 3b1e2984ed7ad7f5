//! The state of the network as far as events tell it: what a block's head says.

use std::collections::BTreeMap;

use manetlab_core::kernel::{Span, Time};
use manetlab_core::observe::{FlowStep, RecordKind};
use manetlab_core::wire::NodeId;

/// How long after a frame's end its last bit may still be on the way.
const TRAVEL: Span = Span(100_000);

/// So many frames are not on the air at once, except in large networks: those that have ended are looked for.
const MANY: usize = 64;

/// A frame on the air.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct OnAir {
    /// Its number in the recording.
    pub(crate) number: u64,
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) node: NodeId,
    pub(crate) frame: RecordKind,
}

/// A TCP sender's state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Window {
    pub(crate) node: NodeId,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) rto: Span,
}

/// See the module's head.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct State {
    /// By node and destination.
    pub(crate) routes: BTreeMap<(NodeId, NodeId), (NodeId, Option<u32>)>,
    /// By node; those that are not empty.
    pub(crate) queues: BTreeMap<NodeId, u32>,
    /// By flow.
    pub(crate) windows: BTreeMap<u32, Window>,
    /// By flow.
    pub(crate) flows: BTreeMap<u32, (NodeId, FlowStep)>,
    pub(crate) on_air: Vec<OnAir>,
}

impl State {
    /// An event that is no frame happens.
    pub(crate) fn apply(&mut self, node: NodeId, kind: &RecordKind) {
        match *kind {
            RecordKind::Route { dst, next_hop: Some(next_hop), hops } => {
                self.routes.insert((node, dst), (next_hop, hops));
            }
            RecordKind::Route { dst, next_hop: None, .. } => {
                self.routes.remove(&(node, dst));
            }
            RecordKind::Queue(0) => {
                self.queues.remove(&node);
            }
            RecordKind::Queue(length) => {
                self.queues.insert(node, length);
            }
            RecordKind::Window { flow, cwnd, ssthresh, rto } => {
                self.windows.insert(flow, Window { node, cwnd, ssthresh, rto });
            }
            RecordKind::Flow { flow, step } => {
                self.flows.insert(flow, (node, step));
            }
            _ => {}
        }
    }

    /// A frame starts that the recording counts under this number.
    pub(crate) fn send(&mut self, start: Time, node: NodeId, number: u64, frame: &RecordKind) {
        let RecordKind::Frame { airtime, .. } = frame else { return };
        if self.on_air.len() >= MANY {
            self.forget(start);
        }
        self.on_air.push(OnAir { number, start, end: start + *airtime, node, frame: frame.clone() });
    }

    /// Frames that have ended by `now` are no longer on the air.
    pub(crate) fn forget(&mut self, now: Time) {
        self.on_air.retain(|frame| frame.end + TRAVEL > now);
    }
}
