//! What flows cost at the MAC: packets and bytes that MACs took to send for them, at every hop.
//!
//! Definitions stand in docs/metrics.md.

use serde::Serialize;

use crate::wire::{Packet, Payload, adp, psp, tcp};

use super::Totals;
use super::statistics::ratio;

/// Packets that MACs took to send, each hop counted, retries not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MacCount {
    /// Packets that carry data.
    pub packets: u64,
    /// Their bytes as frames, MAC header and FCS included.
    pub bytes: u64,
    /// Acknowledgements of the transport.
    pub ack_packets: u64,
    /// Their bytes.
    pub ack_bytes: u64,
    /// Those of both kinds that a node other than their source broadcast.
    pub rebroadcasts: u64,
}

/// What one flow cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct FlowCost {
    /// Data packets that MACs took to send in the window, each hop counted, retries not.
    pub mac_packets: u64,
    /// Their bytes as frames.
    pub mac_bytes: u64,
    /// Acknowledgements of the transport, likewise.
    pub mac_ack_packets: u64,
    /// Their bytes as frames.
    pub mac_ack_bytes: u64,
    /// Both kinds over the data packets that arrived; none if none did.
    pub mac_packets_per_delivered: Option<f64>,
    /// The bytes of both over the payload bytes that arrived; none if none did.
    pub mac_bytes_per_delivered_byte: Option<f64>,
}

/// The costs of all flows together.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CostTotals {
    /// Packets of flows at MACs, acknowledgements included, over the data packets that arrived.
    pub mac_packets_per_delivered: Option<f64>,
    /// Their bytes as frames over the payload bytes that arrived.
    pub mac_bytes_per_delivered_byte: Option<f64>,
    /// All frames on the air, whatever they are for, over the data packets that arrived.
    pub frames_per_delivered_packet: Option<f64>,
    /// Their bytes over the payload bytes that arrived.
    pub frame_bytes_per_delivered_byte: Option<f64>,
    /// Packets of flows that nodes other than their source broadcast, over the data packets that arrived.
    pub rebroadcasts_per_delivered_packet: Option<f64>,
}

/// What routing sends for a delivery: the normalised routing load of Das, Perkins and Royer (INFOCOM 2000),
/// with the transmissions of Broch et al. (MobiCom 1998).
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct LoadTotals {
    /// Routing packets at IP, each hop counted, over the data packets that arrived.
    pub normalised_routing_load: Option<f64>,
    /// Their bytes, those of routing headers included, over the payload bytes that arrived.
    pub normalised_routing_bytes: Option<f64>,
}

impl LoadTotals {
    /// The loads that follow from these totals.
    pub fn of(totals: &Totals, costs: &CostTotals) -> LoadTotals {
        // What was delivered in a second is what was on the air over its cost.
        let load = |routing: f64, cost: Option<f64>, on_air: f64| {
            cost.filter(|_| on_air > 0.0).map(|per_delivered| routing * per_delivered / on_air)
        };
        LoadTotals {
            normalised_routing_load: load(
                totals.routing_packets_per_s,
                costs.frames_per_delivered_packet,
                totals.mac_frames_per_s,
            ),
            normalised_routing_bytes: load(
                totals.routing_bytes_per_s,
                costs.frame_bytes_per_delivered_byte,
                totals.mac_bytes_per_s,
            ),
        }
    }
}

impl MacCount {
    /// A MAC took a packet that is a frame of `frame_bytes`; `again`: as a broadcast, and not at its source.
    pub fn count(&mut self, packet: &Packet, frame_bytes: u32, again: bool) {
        let is_ack = match &packet.payload {
            Payload::Tcp(_, segment) => !matches!(segment, tcp::Segment::Data { .. }),
            Payload::Adp(_, adp::Segment::Ack { .. }, _)
            | Payload::Psp(_, psp::Segment::Ack { .. })
            | Payload::Rtcp(..)
            | Payload::Insignia(..) => true,
            _ => false,
        };
        let (packets, bytes) = if is_ack {
            (&mut self.ack_packets, &mut self.ack_bytes)
        } else {
            (&mut self.packets, &mut self.bytes)
        };
        *packets += 1;
        *bytes += u64::from(frame_bytes);
        self.rebroadcasts += u64::from(again);
    }

    /// The cost of what `delivered` packets with `delivered_bytes` of payload were left of.
    pub fn cost(&self, delivered: u64, delivered_bytes: u64) -> FlowCost {
        FlowCost {
            mac_packets: self.packets,
            mac_bytes: self.bytes,
            mac_ack_packets: self.ack_packets,
            mac_ack_bytes: self.ack_bytes,
            mac_packets_per_delivered: ratio(self.packets + self.ack_packets, delivered),
            mac_bytes_per_delivered_byte: ratio(self.bytes + self.ack_bytes, delivered_bytes),
        }
    }
}

impl CostTotals {
    /// The costs of all flows: their counts, and the packets and payload bytes delivered. `air`: all frames
    /// transmitted in the window, and their bytes.
    pub fn of(flows: impl Iterator<Item = (MacCount, u64, u64)>, air: (u64, u64)) -> CostTotals {
        let (mut packets, mut bytes, mut delivered, mut delivered_bytes) = (0, 0, 0, 0);
        let mut rebroadcasts = 0;
        for (count, of_packets, of_bytes) in flows {
            packets += count.packets + count.ack_packets;
            bytes += count.bytes + count.ack_bytes;
            rebroadcasts += count.rebroadcasts;
            delivered += of_packets;
            delivered_bytes += of_bytes;
        }
        CostTotals {
            mac_packets_per_delivered: ratio(packets, delivered),
            mac_bytes_per_delivered_byte: ratio(bytes, delivered_bytes),
            frames_per_delivered_packet: ratio(air.0, delivered),
            frame_bytes_per_delivered_byte: ratio(air.1, delivered_bytes),
            rebroadcasts_per_delivered_packet: ratio(rebroadcasts, delivered),
        }
    }
}
