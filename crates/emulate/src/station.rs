//! A node's end of a run: the routing protocol that is outside.
//!
//! To the core it is a routing protocol like any other. Frames of the node's programs wait in its inbox until
//! [`Live::wake`](manetlab_core::simulation::Live::wake) lets it send them; what comes up goes to its outbox,
//! with the instant in which it came.
//!
//! **Deviations.** A frame reaches the interface queue [`INTAKE`] after it has been read: a process that has
//! slept needs that to become fast. A frame for a MAC address that is no node's is lost, as on a real
//! channel, but takes no air time. A failure of the MAC to deliver a frame is told to nobody: Linux tells
//! its programs nothing either.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use manetlab_core::drops::DropReason;
use manetlab_core::kernel::{Span, Time};
use manetlab_core::routing::{Action, Routing};
use manetlab_core::wire::{CustomMessage, EthernetFrame, NodeId, Packet, Payload};
use manetlab_wire_formats::address;

/// From the reading of a frame to the interface queue: as long as the link layer's delay in ns-2
/// (`LL delay_`), and no longer than a computer takes to hand a frame to its radio.
pub const INTAKE: Span = Span(25_000);

/// What is on its way between the programs and the run.
#[derive(Default)]
struct Mail {
    /// By node: what its programs have sent.
    inboxes: Vec<VecDeque<EthernetFrame>>,
    /// What has come for programs: when, for which node's, and in which packet.
    outbox: VecDeque<(Time, NodeId, Packet)>,
    /// By node: frames that its programs sent to nobody.
    unknown: Vec<u64>,
}

/// A handle to the mail of all nodes. Clones are of the same mail.
#[derive(Clone)]
pub struct Exchange(Arc<Mutex<Mail>>);

impl Exchange {
    /// Of so many nodes, without mail.
    pub fn new(nodes: usize) -> Exchange {
        let inboxes = (0..nodes).map(|_| VecDeque::new()).collect();
        Exchange(Arc::new(Mutex::new(Mail { inboxes, outbox: VecDeque::new(), unknown: vec![0; nodes] })))
    }

    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A program of `node` has sent a frame.
    pub fn post(&self, node: NodeId, frame: EthernetFrame) {
        self.mail().inboxes[node.index()].push_back(frame);
    }

    /// When the first frame came that has not been taken.
    pub fn waits_since(&self) -> Option<Time> {
        self.mail().outbox.front().map(|&(time, ..)| time)
    }

    /// Gives `deliver` the first frame that has come for programs: when, for which node's, and the frame.
    pub fn take<T>(&self, deliver: impl FnOnce(Time, NodeId, &EthernetFrame) -> T) -> Option<T> {
        let (time, node, packet) = self.mail().outbox.pop_front()?;
        frame_of(&packet).map(|frame| deliver(time, node, frame))
    }

    /// How many frames the programs of `node` have sent so far to MAC addresses that are no other node's.
    pub fn unknown(&self, node: NodeId) -> u64 {
        self.mail().unknown[node.index()]
    }
}

/// The frame that a packet is.
fn frame_of(packet: &Packet) -> Option<&EthernetFrame> {
    match &packet.payload {
        Payload::Custom(message) => message.content(),
        _ => None,
    }
}

/// The routing protocol that is outside. See the module's head.
pub struct Outside {
    node: NodeId,
    /// How many nodes there are.
    nodes: usize,
    exchange: Exchange,
}

impl Outside {
    /// The end of `node`, one of `nodes`.
    pub fn new(node: NodeId, nodes: usize, exchange: Exchange) -> Outside {
        Outside { node, nodes, exchange }
    }

    /// Whom a frame is for: a node, or all. Every multicast is for all, as 802.11 sends it.
    fn receiver(&self, frame: &EthernetFrame) -> Option<NodeId> {
        if frame.is_for_group() {
            return Some(NodeId::BROADCAST);
        }
        let node = address::node_of_mac(frame.destination()).ok()?;
        (node.index() < self.nodes && node != self.node).then_some(node)
    }

    fn send(&self, now: Time, frame: EthernetFrame) -> Option<Action> {
        let next_hop = self.receiver(&frame)?;
        let bytes = frame.payload().len() as u32;
        let payload = Payload::Custom(CustomMessage::new("frame", frame));
        let packet = Packet::control(now, self.node, next_hop, 1, bytes, payload);
        let delay = INTAKE;
        Some(if next_hop.is_broadcast() {
            Action::Broadcast { packet, delay }
        } else {
            Action::Send { packet, next_hop, delay }
        })
    }
}

impl Routing for Outside {
    fn handle_start(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn handle_outgoing(&mut self, _now: Time, packet: Packet, actions: &mut Vec<Action>) {
        actions.push(Action::Drop(packet, DropReason::NoRoute));
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, _from: NodeId, actions: &mut Vec<Action>) {
        self.exchange.mail().outbox.push_back((now, self.node, packet.clone()));
        actions.push(Action::Consume(packet));
    }

    fn handle_link_failure(
        &mut self,
        _now: Time,
        packet: Packet,
        _next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        actions.push(Action::Drop(packet, DropReason::RetryLimit));
    }

    /// Programs resolve addresses themselves; their ARP is in the frames.
    fn knows_mac_addresses(&self) -> bool {
        true
    }

    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        let mut mail = self.exchange.mail();
        let Mail { inboxes, unknown, .. } = &mut *mail;
        for frame in inboxes[self.node.index()].drain(..) {
            match self.send(now, frame) {
                Some(action) => actions.push(action),
                None => unknown[self.node.index()] += 1,
            }
        }
    }

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn next_hop(&self, _now: Time, _dst: NodeId) -> Option<NodeId> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: [u8; 6]) -> EthernetFrame {
        let bytes = [to.as_slice(), &address::mac(NodeId(0)), &[8, 0], &[7; 100]].concat();
        EthernetFrame::new(bytes).expect("long enough")
    }

    fn woken(frames: impl IntoIterator<Item = EthernetFrame>) -> (Vec<Action>, Exchange) {
        let exchange = Exchange::new(3);
        let mut outside = Outside::new(NodeId(0), 3, exchange.clone());
        frames.into_iter().for_each(|frame| exchange.post(NodeId(0), frame));
        let mut actions = Vec::new();
        outside.handle_timeout(Time(5), &mut actions);
        (actions, exchange)
    }

    #[test]
    fn a_frame_goes_to_its_node_and_a_multicast_to_all_with_the_length_of_their_payload() {
        let all = [0x33, 0x33, 0, 1, 0, 6];
        let (actions, _) = woken([frame(address::mac(NodeId(2))), frame(all)]);
        let [Action::Send { packet, next_hop, .. }, Action::Broadcast { packet: to_all, .. }] = &actions[..]
        else {
            panic!("{actions:?}");
        };
        assert_eq!((*next_hop, packet.bytes, to_all.bytes), (NodeId(2), 100, 100));
        assert!(to_all.dst.is_broadcast());
    }

    #[test]
    fn a_frame_for_nobody_or_for_its_sender_is_counted_and_not_sent() {
        let (actions, exchange) =
            woken([frame(address::mac(NodeId(3))), frame([4; 6]), frame(address::mac(NodeId(0)))]);
        assert_eq!((actions, exchange.unknown(NodeId(0))), (vec![], 3));
    }

    #[test]
    fn what_comes_up_leaves_with_its_bytes_and_its_instant() {
        let (actions, _) = woken([frame(address::mac(NodeId(1)))]);
        let Some(packet) = actions[0].packet().cloned() else { panic!("{actions:?}") };
        let exchange = Exchange::new(3);
        let mut actions = Vec::new();
        let mut outside = Outside::new(NodeId(1), 3, exchange.clone());
        outside.handle_incoming(Time(9), packet.clone(), NodeId(0), &mut actions);
        assert_eq!(actions, [Action::Consume(packet)]);
        assert_eq!(exchange.waits_since(), Some(Time(9)));
        let taken = exchange.take(|time, node, frame| (time, node, frame.clone()));
        assert_eq!(taken, Some((Time(9), NodeId(1), frame(address::mac(NodeId(1))))));
        assert!(exchange.waits_since().is_none() && exchange.take(|_, _, _| ()).is_none());
    }
}
