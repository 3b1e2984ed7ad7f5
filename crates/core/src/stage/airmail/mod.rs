//! AIRMAIL: a link layer between a base station and its mobile nodes that keeps the mobile nodes' part small.
//!
//! *Source:* Ayanoglu, Paul, LaPorta, Sabnani and Gitlin, *AIRMAIL: a link-layer protocol for wireless
//! networks*, Wireless Networks 1, 1995. Its abstract was read, and slides of a course about the first half.
//!
//! ```text
//!  base station   0 1 2 3 4 5 6 7?              1 5 8 9?
//!                   x       x     |             |      |
//!  mobile node    up              status: 0, 2–4, 6, 7 1 to 9 go up
//! ```
//!
//! **Implemented** ([`station`], [`mobile`]). Data packets to mobile nodes that are one hop of the radio away
//! get numbers. Of one node's at most a window is under way; others wait. Only the base station has timers. A
//! mobile node says what it has when it is asked for it: one status with a bitmap answers for many packets.
//! The base station asks with the packet that fills the window, with repeats, and whenever no other question
//! is open. It repeats what was sent before the question and is missing, a number of times at most, and asks
//! again if it hears nothing. Mobile nodes pass packets on in order. Parity of packets: a block of packets
//! has as many packets of parity as losses are to be expected by the share that was lost before.
//!
//! **Not implemented.** Data from mobile nodes, for which the base station sends its status from time to
//! time; adaptive codes of bits and bytes, in place of which stands the fixed `mac.fec_parity_bytes`;
//! hand-offs, as routes are static.
//!
//! *Deviations*: in docs/models/wired-links.md.

mod mobile;
mod station;
#[cfg(test)]
mod tests;

use super::{Interceptor, InterceptorAction};
use crate::kernel::Time;
use crate::transport::tcp::TcpParams;
use crate::wire::airmail::{Header, Parity, Status};
use crate::wire::{NodeId, Packet, Payload};

use mobile::Mobile;
use station::{Rules, Station};

/// One node, which may be a base station, a mobile node, or both. Calls come in order of time.
pub(super) struct Airmail {
    node: NodeId,
    station: Station,
    mobile: Mobile,
}

impl Airmail {
    /// A node whose neighbours in `cell` it serves as their base station.
    pub(super) fn new(node: NodeId, params: &TcpParams, cell: Vec<NodeId>) -> Airmail {
        Airmail {
            node,
            station: Station::new(node, Rules::new(params), cell),
            mobile: Mobile::new(params.airmail_in_order),
        }
    }
}

impl Interceptor for Airmail {
    fn handle_outgoing(
        &mut self,
        now: Time,
        packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        self.station.take(now, packet, out)
    }

    fn handle_arrival(
        &mut self,
        now: Time,
        mut packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        if packet.dst != self.node {
            return Some(packet);
        }
        if let Some(header) = header_of(&packet) {
            packet.take_header();
            return self.mobile.take(header, packet, out);
        }
        if let Payload::Custom(message) = &packet.payload {
            if let Some(parity) = message.content::<Parity>() {
                self.mobile.take_parity(parity, out);
            } else if let Some(status) = message.content::<Status>() {
                self.station.take_status(now, packet.src, *status, out);
            }
        }
        Some(packet)
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        self.station.handle_timeout(now, out);
    }

    fn next_timeout(&self) -> Time {
        self.station.next_timeout()
    }

    fn handle_crash(&mut self, out: &mut Vec<InterceptorAction>) {
        self.station.crash(out);
        self.mobile.crash(out);
    }

    // Copies are no packets of the network before they are sent.
    fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.station.kept(visit);
        self.mobile.kept(visit);
    }
}

/// The header of a packet between a base station and a mobile node, if it is one.
fn header_of(packet: &Packet) -> Option<Header> {
    packet.routing_header.as_deref()?.as_custom()?.content().copied()
}
