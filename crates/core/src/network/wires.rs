//! What goes over wired links instead of the radio.

use std::rc::Rc;

use crate::drops::DropReason;
use crate::station::Delayed;
use crate::wire::mac::Body;
use crate::wire::{NodeId, Packet};

use super::Network;

impl Network<'_> {
    /// Sends a packet over the wire to its next hop; gives it back if there is none.
    pub(super) fn send_over_wire(&mut self, node: u32, packet: Packet, next_hop: NodeId) -> Option<Packet> {
        let mut lines = self.lines.iter_mut();
        let Some(line) = lines.find(|line| line.from.0 == node && line.to == next_hop) else {
            return Some(packet);
        };
        match line.take(self.clock.now, packet.bytes) {
            Some(arrives) => {
                let from = line.from;
                self.hold(
                    arrives.since(self.clock.now),
                    Delayed::OverWire { node: next_hop.0, packet, from },
                );
            }
            None => self.drop_packet(node, &packet, DropReason::QueueFull),
        }
        None
    }

    /// A packet has crossed a wire.
    pub(super) fn leave_wire(&mut self, node: u32, packet: Packet, from: NodeId) {
        self.accounts.audit.hand_over(&packet);
        self.accounts.audit.receive(&packet);
        self.hand_to_routing(node, Rc::new(Body::Ip(packet)), from, None);
    }
}
