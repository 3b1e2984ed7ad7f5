//! The packet audit: every packet has an end.
//!
//! A packet exists as one or more copies, each in one place: a buffer, a queue, a MAC, the delay of a layer.
//! The audit counts copies of every packet as they come and go, and at the end of the run compares its count,
//! packet by packet, with the copies found by looking into all those places. A copy comes into being when a
//! node makes the packet or its MAC receives it; it ends when it is delivered to a transport endpoint,
//! consumed by the routing protocol, handed over to the next hop (acknowledged, or sent where nothing
//! acknowledges it: as a broadcast, over CSMA or FAMA) or dropped.

use std::collections::BTreeMap;

use serde::Serialize;

use super::LossCount;
use super::meter::{PACKET_KINDS, packet_kind};
use crate::drops::DropReason;
use crate::wire::{FlowId, Packet};

/// Books of one class of packets. Copies: `made + received = delivered + consumed + handed_over + dropped +
/// in_flight`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CopyBooks {
    /// Copies that nodes made as new packets.
    pub made: u64,
    /// Copies that MACs received from neighbours.
    pub received: u64,
    /// Copies delivered to transport endpoints.
    pub delivered: u64,
    /// Copies used up by the routing protocol.
    pub consumed: u64,
    /// Copies whose next hop acknowledged them, and those sent that nothing acknowledges.
    pub handed_over: u64,
    /// Copies dropped.
    pub dropped: u64,
    /// Copies found in buffers and queues when the run ended.
    pub in_flight: u64,
}

/// What became of the packets of one flow: `made = delivered + lost + in_flight`, over the whole run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct FlowBooks {
    /// Packets that the flow's endpoints made (data and ACKs).
    pub made: u64,
    /// Packets of which a copy was delivered.
    pub delivered: u64,
    /// Packets of which every copy was dropped.
    pub lost: u64,
    /// Packets not delivered of which a copy was still under way when the run ended.
    pub in_flight: u64,
}

/// The audit of a run that balances.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct AuditReport {
    /// Always true in a result: a run whose books do not balance is an error.
    pub balanced: bool,
    /// Copies of traffic.
    pub data: CopyBooks,
    /// Copies of routing packets.
    pub routing: CopyBooks,
    /// What became of each flow's packets.
    pub flows: Vec<FlowBooks>,
}

/// The books do not balance: a defect of the simulator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("packet {uid}: {counted} copies in the accounts, {found} found in buffers and queues")]
pub struct Unbalanced {
    /// The packet's number.
    pub uid: u64,
    /// Copies by the books.
    pub counted: i64,
    /// Copies found.
    pub found: i64,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The flow, or [`NO_FLOW`].
    flow: u32,
    copies: i32,
    delivered: bool,
    /// The last drop of one of its copies, which is what lost it if none arrives.
    last_drop: Option<DropReason>,
    /// The kind of packet that was dropped, in the order of `PACKET_KINDS`.
    kind: u8,
}

const NO_FLOW: u32 = u32::MAX;

/// What has become of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// A copy was delivered.
    Delivered,
    /// No copy is left; the drop that ended the last of them, if there was one.
    Lost(Option<DropReason>),
    /// A copy is somewhere.
    UnderWay,
}

/// See the module's head.
#[derive(Default)]
pub struct Audit {
    packets: Vec<Entry>,
    data: CopyBooks,
    routing: CopyBooks,
}

impl Audit {
    /// Empty books.
    pub fn new() -> Audit {
        Audit::default()
    }

    /// A node makes a new packet: gives it its number.
    pub fn make(&mut self, flow: Option<FlowId>) -> u64 {
        self.packets.push(Entry {
            flow: flow.map_or(NO_FLOW, |id| id.0),
            copies: 1,
            delivered: false,
            last_drop: None,
            kind: 0,
        });
        let books = if flow.is_some() { &mut self.data } else { &mut self.routing };
        books.made += 1;
        self.packets.len() as u64 - 1
    }

    /// A MAC received a copy.
    pub fn receive(&mut self, packet: &Packet) {
        self.packets[packet.uid as usize].copies += 1;
        self.books(packet).received += 1;
    }

    /// A copy was delivered to a transport endpoint. True if it is the packet's first.
    pub fn deliver(&mut self, packet: &Packet) -> bool {
        self.books(packet).delivered += 1;
        let entry = self.end(packet);
        !std::mem::replace(&mut entry.delivered, true)
    }

    /// The routing protocol used a copy up.
    pub fn consume(&mut self, packet: &Packet) {
        self.books(packet).consumed += 1;
        self.end(packet);
    }

    /// A copy was acknowledged by the next hop, or sent and nothing acknowledges it.
    pub fn hand_over(&mut self, packet: &Packet) {
        self.books(packet).handed_over += 1;
        self.end(packet);
    }

    /// A copy was dropped.
    pub fn drop(&mut self, packet: &Packet, reason: DropReason) {
        self.books(packet).dropped += 1;
        let entry = self.end(packet);
        entry.kind = packet_kind(packet) as u8;
        if entry.last_drop.is_none() || !reason.is_of_a_copy() {
            entry.last_drop = Some(reason);
        }
    }

    /// What has become of the packet with this number.
    pub fn fate(&self, uid: u64) -> Fate {
        match self.packets[uid as usize] {
            Entry { delivered: true, .. } => Fate::Delivered,
            Entry { copies: 0, last_drop, .. } => Fate::Lost(last_drop),
            Entry { .. } => Fate::UnderWay,
        }
    }

    /// The flows' packets of which no copy arrived and none is left, by what ended the last of them, most
    /// frequent first: as many as `lost` in the flows' books. What was lost without a drop, as a broadcast
    /// that nobody heard or a frame of CSMA that collided, has no reason.
    pub fn losses(&self) -> Vec<LossCount> {
        let mut counts: BTreeMap<(Option<DropReason>, u8), u64> = BTreeMap::new();
        let lost = |entry: &&Entry| entry.flow != NO_FLOW && !entry.delivered && entry.copies == 0;
        for entry in self.packets.iter().filter(lost) {
            *counts.entry((entry.last_drop, entry.kind)).or_default() += 1;
        }
        let mut found: Vec<LossCount> = counts
            .into_iter()
            .map(|((reason, kind), count)| LossCount {
                layer: reason.map(DropReason::layer),
                reason,
                packets: reason.map(|_| PACKET_KINDS[kind as usize]),
                count,
            })
            .collect();
        found.sort_by_key(|loss| std::cmp::Reverse(loss.count));
        found
    }

    fn books(&mut self, packet: &Packet) -> &mut CopyBooks {
        if packet.is_data() { &mut self.data } else { &mut self.routing }
    }

    fn end(&mut self, packet: &Packet) -> &mut Entry {
        let entry = &mut self.packets[packet.uid as usize];
        entry.copies -= 1;
        entry
    }

    /// Closes the books against the copies found in all buffers and queues.
    ///
    /// # Errors
    /// The first packet whose copies are not those found.
    pub fn close<'a>(
        mut self,
        found: impl Iterator<Item = &'a Packet>,
        flows: usize,
    ) -> Result<AuditReport, Unbalanced> {
        let mut copies: BTreeMap<u64, i64> = BTreeMap::new();
        for packet in found {
            *copies.entry(packet.uid).or_default() += 1;
            self.books(packet).in_flight += 1;
        }
        let mut report = AuditReport {
            balanced: true,
            data: self.data,
            routing: self.routing,
            flows: vec![FlowBooks::default(); flows],
        };
        for (uid, entry) in self.packets.iter().enumerate() {
            let found = copies.remove(&(uid as u64)).unwrap_or(0);
            if found != i64::from(entry.copies) {
                return Err(Unbalanced { uid: uid as u64, counted: entry.copies.into(), found });
            }
            if entry.flow != NO_FLOW {
                report.flows[entry.flow as usize].count(entry);
            }
        }
        match copies.first_key_value() {
            Some((&uid, &found)) => Err(Unbalanced { uid, counted: 0, found }),
            None => Ok(report),
        }
    }
}

impl FlowBooks {
    fn count(&mut self, entry: &Entry) {
        self.made += 1;
        match (entry.delivered, entry.copies) {
            (true, _) => self.delivered += 1,
            (false, 0) => self.lost += 1,
            (false, _) => self.in_flight += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::wire::{Ecn, NodeId, Payload};

    fn packet(audit: &mut Audit) -> Packet {
        Packet {
            uid: audit.make(Some(FlowId(0))),
            src: NodeId(0),
            dst: NodeId(1),
            ttl: 1,
            hops: 0,
            bytes: 100,
            created: Time::ZERO,
            payload: Payload::Udp(FlowId(0), 0),
            ecn: Ecn::NotEct,
            routing_header: None,
            announcement: None,
            service: None,
        }
    }

    #[test]
    fn a_packet_delivered_once_and_dropped_once_counts_as_delivered() {
        let mut audit = Audit::new();
        let sent = packet(&mut audit);
        audit.receive(&sent);
        audit.drop(&sent, DropReason::LinkFailure);
        assert!(audit.losses().is_empty(), "a copy is left");
        assert!(audit.deliver(&sent));
        let report = audit.close([].iter(), 1).expect("balanced");
        assert_eq!(report.flows[0], FlowBooks { made: 1, delivered: 1, lost: 0, in_flight: 0 });
    }

    #[test]
    fn a_packet_is_lost_once_by_the_last_drop_that_is_not_of_a_further_copy() {
        let mut audit = Audit::new();
        let sent = packet(&mut audit);
        audit.receive(&sent);
        audit.drop(&sent, DropReason::NoRoute);
        // Its ACK was lost: the receiver gets it again, and only then does the sender let go of its copy.
        audit.receive(&sent);
        audit.drop(&sent, DropReason::Duplicate);
        audit.hand_over(&sent);
        let unheard = packet(&mut audit);
        audit.hand_over(&unheard);
        let delivered = packet(&mut audit);
        audit.deliver(&delivered);
        let losses = audit.losses();
        assert_eq!(losses.iter().map(|loss| loss.count).sum::<u64>(), 2, "{losses:?}");
        assert_eq!(audit.close([].iter(), 1).expect("balanced").flows[0].lost, 2);
        assert!(losses.iter().any(|loss| {
            loss.reason == Some(DropReason::NoRoute) && loss.packets == Some("cbr") && loss.count == 1
        }));
        assert!(losses.iter().any(|loss| loss.reason.is_none() && loss.count == 1));
    }

    #[test]
    fn a_copy_that_nobody_holds_is_found_out() {
        let mut audit = Audit::new();
        let sent = packet(&mut audit);
        let error = audit.close([].iter(), 1).expect_err("one copy is missing");
        assert_eq!(error, Unbalanced { uid: sent.uid, counted: 1, found: 0 });
    }

    #[test]
    fn a_copy_too_many_is_found_out() {
        let mut audit = Audit::new();
        let sent = packet(&mut audit);
        audit.drop(&sent, DropReason::LinkFailure);
        assert!(audit.close([&sent].into_iter(), 1).is_err());
    }
}
