//! What stands around routing at all nodes of a network: every node's interceptor and throttle, with their
//! slots in the event queue, and those of interface queues that look at the channel.

use super::{Interceptor, Throttle};
use crate::kernel::Slot;
use crate::wire::Packet;

/// Interceptors and throttles. A network in which none is needed has no such value.
#[derive(Default)]
pub(crate) struct Stages {
    /// By node; empty where nothing is intercepted.
    pub(crate) interceptors: Vec<(Box<dyn Interceptor>, Slot)>,
    /// By node; empty where nothing is throttled.
    pub(crate) throttles: Vec<(Throttle, Slot)>,
    /// Bytes of headers of packets in which nodes announce the flows that they carry; none if they do not.
    pub(crate) announcement_headers: Option<u32>,
    /// The slots of interface queues that look at the channel, by node; empty where none does.
    pub(crate) detectors: Vec<Slot>,
    /// Bytes of a packet in which a node tells of congestion.
    pub(crate) notification_bytes: u32,
}

impl Stages {
    /// Does nothing stand around routing?
    pub(crate) fn is_empty(&self) -> bool {
        self.interceptors.is_empty() && self.throttles.is_empty() && self.detectors.is_empty()
    }

    /// The node's interceptor, and its slot.
    pub(crate) fn interceptor(&mut self, node: u32) -> Option<(&mut dyn Interceptor, Slot)> {
        let (interceptor, slot) = self.interceptors.get_mut(node as usize)?;
        Some((interceptor.as_mut(), *slot))
    }

    /// The node's throttle, and its slot.
    pub(crate) fn throttle(&mut self, node: u32) -> Option<(&mut Throttle, Slot)> {
        let (throttle, slot) = self.throttles.get_mut(node as usize)?;
        Some((throttle, *slot))
    }

    /// Calls `visit` for the packets kept at all nodes.
    pub(crate) fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.interceptors.iter().for_each(|(interceptor, _)| interceptor.kept(visit));
        self.throttles.iter().for_each(|(throttle, _)| throttle.kept(visit));
    }
}
