//! What stands around routing at all nodes of a network: every node's interceptor and throttle, and what
//! nodes tell their neighbours beside routing.

use std::sync::Arc;

use super::{Interceptor, Throttle, ThrottleAction};
use crate::kernel::{Clock, Slot, Time};
use crate::wire::congestion::Notification;
use crate::wire::density::{Announcement, FlowKey};
use crate::wire::{CustomMessage, NodeId, Packet, Payload};

/// What of a node is woken on account of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// What stands between its routing and its link layer.
    Interceptor,
    /// What throttles its flows.
    Throttle,
    /// Its interface queue, which looks at the channel.
    Queue,
}

impl Stage {
    /// What it is, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Interceptor => "interceptor",
            Stage::Throttle => "throttle",
            Stage::Queue => "interface queue",
        }
    }
}

/// Interceptors and throttles. A network in which none is needed has no such value.
pub(crate) struct Stages {
    /// By node; empty where nothing is intercepted.
    pub(crate) interceptors: Vec<(Box<dyn Interceptor>, Slot)>,
    /// By node; empty where nothing is throttled.
    pub(crate) throttles: Vec<(Throttle, Slot)>,
    /// The slots of interface queues that look at the channel, by node; empty where none does.
    pub(crate) queues: Vec<Slot>,
    /// The source and the destination of each flow; none where nodes announce no flows.
    pub(crate) announced: Option<Vec<(NodeId, NodeId)>>,
    /// Bytes of headers of packets in which nodes tell their neighbours something.
    pub(crate) header_bytes: u32,
}

impl Stages {
    /// Does nothing stand around routing?
    pub(crate) fn is_empty(&self) -> bool {
        self.interceptors.is_empty() && self.throttles.is_empty() && self.queues.is_empty()
    }

    /// The node's interceptor.
    pub(crate) fn interceptor(&mut self, node: u32) -> Option<&mut dyn Interceptor> {
        let (interceptor, _) = self.interceptors.get_mut(node as usize)?;
        Some(interceptor.as_mut())
    }

    /// Sets the deadline of the node's interceptor, which has been called.
    pub(crate) fn set_interceptor_deadline(&self, clock: &mut Clock, node: u32) {
        if let Some((interceptor, slot)) = self.interceptors.get(node as usize) {
            clock.agenda.set(*slot, interceptor.next_timeout());
        }
    }

    /// Sets the deadline of the node's throttle, which has been called.
    pub(crate) fn set_throttle_deadline(&self, clock: &mut Clock, node: u32) {
        if let Some((throttle, slot)) = self.throttles.get(node as usize) {
            clock.agenda.set(*slot, throttle.next_timeout());
        }
    }

    /// The deadline of the node's throttle has come.
    pub(crate) fn wake_throttle(&mut self, now: Time, node: u32, out: &mut Vec<ThrottleAction>) {
        if let Some((throttle, _)) = self.throttles.get_mut(node as usize) {
            throttle.handle_timeout(now, out);
        }
    }

    /// An endpoint at the node has made a packet: it comes back unless its throttle keeps it.
    pub(crate) fn handle_made(
        &mut self,
        now: Time,
        node: u32,
        packet: Packet,
        out: &mut Vec<ThrottleAction>,
    ) -> Option<Packet> {
        match self.throttles.get_mut(node as usize) {
            Some((throttle, _)) => throttle.handle_made(now, packet, out),
            None => Some(packet),
        }
    }

    /// A packet goes to a neighbour, or to all: the node carries its flow; messages of the routing protocol
    /// to all neighbours carry what the node announces, whose bytes are returned.
    pub(crate) fn handle_sent(
        &mut self,
        now: Time,
        node: u32,
        packet: &mut Packet,
        next_hop: NodeId,
        out: &mut Vec<ThrottleAction>,
    ) -> Option<u32> {
        let flow = self.flow_from_source(packet);
        let throttle = self.announcing(node)?;
        if let Some(flow) = flow {
            throttle.handle_sent(now, flow, next_hop, out);
            return None;
        }
        if !next_hop.is_broadcast() || packet.announcement.is_some() || packet.is_data() {
            return None;
        }
        let announcement = throttle.handle_broadcast(now, out)?;
        let bytes = announcement.bytes();
        packet.put_announcement(announcement);
        Some(bytes)
    }

    /// A packet came from a neighbour: the node may carry its flow, or learns what the neighbour announces.
    pub(crate) fn handle_received(
        &mut self,
        now: Time,
        node: u32,
        packet: &Packet,
        from: NodeId,
        out: &mut Vec<ThrottleAction>,
    ) {
        let flow = self.flow_from_source(packet);
        let Some(throttle) = self.announcing(node) else { return };
        if let Some(announcement) = &packet.announcement {
            throttle.handle_announcement(now, from, announcement, out);
        } else if let Some(flow) = flow {
            throttle.handle_received(now, flow, from, out);
        }
    }

    /// The node's throttle, if nodes announce the flows that they carry.
    fn announcing(&mut self, node: u32) -> Option<&mut Throttle> {
        self.announced.as_ref()?;
        let (throttle, _) = self.throttles.get_mut(node as usize)?;
        Some(throttle)
    }

    /// The flow of a packet that goes from the flow's source to its destination, where flows are announced.
    fn flow_from_source(&self, packet: &Packet) -> Option<FlowKey> {
        let (src, dst, flow) = (packet.src, packet.dst, packet.flow()?);
        let is_forward = self.announced.as_ref()?[flow.index()] == (src, dst);
        is_forward.then_some(FlowKey { src, dst, flow })
    }

    /// An announcement to all neighbours in a datagram of its own.
    pub(crate) fn announcement(&self, now: Time, node: u32, announcement: Arc<Announcement>) -> Packet {
        let mut packet = self.to_neighbours(now, node, 0, Payload::Nothing);
        packet.put_announcement(announcement);
        packet
    }

    /// A node tells its neighbours of congestion.
    pub(crate) fn notification(&self, now: Time, node: u32, told: Notification) -> Packet {
        let payload = Payload::Custom(CustomMessage::new(Notification::NAME, told));
        self.to_neighbours(now, node, Notification::BYTES, payload)
    }

    /// A packet to all neighbours that is not routing's, with `bytes` after the headers.
    fn to_neighbours(&self, now: Time, node: u32, bytes: u32, payload: Payload) -> Packet {
        Packet::control(now, NodeId(node), NodeId::BROADCAST, 1, self.header_bytes + bytes, payload)
    }

    /// Calls `visit` for the packets kept at all nodes.
    pub(crate) fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.interceptors.iter().for_each(|(interceptor, _)| interceptor.kept(visit));
        self.throttles.iter().for_each(|(throttle, _)| throttle.kept(visit));
    }
}
