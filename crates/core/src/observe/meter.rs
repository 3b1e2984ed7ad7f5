//! The counters of a run, and the measures that follow from them. Definitions stand in docs/metrics.md.

use crate::drops::DropReason;
use crate::kernel::Time;
use crate::routing::Notice;
use crate::scenario::Scenario;
use crate::transport::tcp::{ReceiverCounters, SenderCounters};
use crate::wire::mac::{Class, Frame};
use crate::wire::tcp::Segment;
use crate::wire::{FlowId, NodeId, Packet, Payload, adp, psp};

use super::statistics::{mean, percentile, ratio, total};
use super::{
    CachedRoutes, CbrMeasures, ConnectionMeasures, Delays, Delivery, DropCount, FlowEvent, FlowMeasures,
    MacCount, Outage, Outages, ReservationLog, RunningCounts, ShareLog, TcpMeasures, Totals,
};

/// Kinds of packets in the table of drops, in its order.
pub(super) const PACKET_KINDS: [&str; 12] =
    ["tcp", "ack", "cbr", "routing", "arp", "udp", "adp", "adp-ack", "rtcp", "psp", "psp-ack", "qos-report"];
const ARP_KIND: usize = 4;

/// The kind of a packet in the table of drops, by its place in `PACKET_KINDS`.
pub(super) fn packet_kind(packet: &Packet) -> usize {
    match packet.payload {
        Payload::Tcp(_, Segment::Data { .. }) => 0,
        // TCP-BuS's notifications are few, and TCP's own as ACKs are.
        Payload::Tcp(..) => 1,
        Payload::Udp(..) => 2,
        Payload::Datagram(..) => 5,
        Payload::Adp(_, adp::Segment::Data { .. }, _) => 6,
        Payload::Adp(_, adp::Segment::Ack { .. }, _) => 7,
        Payload::Rtcp(..) => 8,
        Payload::Psp(_, psp::Segment::Data { .. }) => 9,
        Payload::Psp(_, psp::Segment::Ack { .. }) => 10,
        Payload::Insignia(..) => 11,
        _ => 3,
    }
}

/// Counts of what was delivered for one flow.
#[derive(Clone, Default)]
struct FlowCounts {
    sent: u64,
    received: u64,
    duplicates: u64,
    hops: u64,
    latencies_s: Vec<f64>,
    latency_sum_s: f64,
    delivered_in_window: u64,
    mac: MacCount,
}

/// Frames and bytes on the air.
#[derive(Clone, Copy, Default)]
struct AirCounts {
    frames: u64,
    bytes: u64,
}

/// Frames at nodes that they were meant for and at which they were strong enough to be decoded, over the
/// whole run.
#[derive(Clone, Copy, Debug)]
pub struct Receptions {
    /// All of them.
    pub meant: u64,
    /// Those that collisions destroyed.
    pub collided: u64,
    /// Those in which bits were wrong; none where that cannot be.
    pub damaged: Option<u64>,
}

/// See the module's head.
pub struct Meter {
    warmup: Time,
    window_s: f64,
    flows: Vec<FlowCounts>,
    routing_packets: u64,
    routing_bytes: u64,
    air_all: AirCounts,
    air_routing: AirCounts,
    drops: Vec<[u64; PACKET_KINDS.len()]>,
    /// What the time series need: counts since the start of the run, if they are wanted. The counts of TCP
    /// are kept by its endpoints.
    running: Option<Box<RunningCounts>>,
    /// The outages of the TCP flows.
    pub outages: Outages,
    /// What became of routes from caches.
    pub cached_routes: CachedRoutes,
    /// CBR packets that were made in the window while both ends were there, and those of them that arrived;
    /// none where nobody joins or leaves.
    with_ends: Option<(u64, u64)>,
    /// Rates that sources learned from announcements.
    pub shares: ShareLog,
    /// What flows had of the reservations that they asked for.
    pub reservations: ReservationLog,
    end: Time,
}

impl Meter {
    /// A meter of a run of this scenario. `running` asks for the counts that the time series need.
    pub fn new(scenario: &Scenario, running: bool) -> Meter {
        let [warmup, end] = [scenario.warmup_s, scenario.duration_s].map(Time::from_secs);
        Meter {
            warmup,
            window_s: end.since(warmup).as_secs(),
            flows: vec![FlowCounts::default(); scenario.flows.len()],
            routing_packets: 0,
            routing_bytes: 0,
            air_all: AirCounts::default(),
            air_routing: AirCounts::default(),
            drops: vec![[0; PACKET_KINDS.len()]; DropReason::ALL.len()],
            running: running.then(Box::default),
            outages: Outages::new(running),
            cached_routes: CachedRoutes::of_scenario(scenario),
            with_ends: None,
            shares: ShareLog::of_scenario(scenario),
            reservations: ReservationLog::of_scenario(scenario),
            end,
        }
    }

    /// Counts since the start of the run, but for those of TCP; zeros if they were not asked for.
    pub fn running(&self) -> RunningCounts {
        self.running.as_deref().copied().unwrap_or_default()
    }

    /// When the window begins.
    pub fn warmup(&self) -> Time {
        self.warmup
    }

    /// Mean number of links that a flow's delivered data packets crossed.
    pub fn hops_mean(&self, flow: FlowId) -> Option<f64> {
        let counts = &self.flows[flow.index()];
        ratio(counts.hops, counts.received)
    }

    fn in_window(&self, time: Time) -> bool {
        time >= self.warmup
    }

    /// Counts what happened in a flow.
    pub fn count(&mut self, now: Time, flow: FlowId, event: FlowEvent) {
        match event {
            FlowEvent::CbrSent => self.cbr_sent(now, flow),
            FlowEvent::CbrDelivered(delivery) => self.cbr_delivered(now, flow, delivery),
            FlowEvent::PacketSent => self.packet_sent(now, flow),
            FlowEvent::PacketDelivered(delivery) => self.packet_delivered(now, flow, delivery),
            FlowEvent::SegmentDelivered(delivery) => self.segment_delivered(now, flow, delivery),
            FlowEvent::Progressed => self.outages.progressed(now, flow),
            FlowEvent::TimedOut => {
                let in_window = self.in_window(now);
                self.outages.timed_out(flow, in_window);
            }
            FlowEvent::Acknowledged => self.outages.acknowledged(flow),
        }
    }

    /// Counts CBR packets that are made while both ends of their flow are up; `are_up` says whether they
    /// were.
    pub fn count_with_ends(&mut self, now: Time, event: FlowEvent, are_up: bool) {
        let Some(made) = event.made(now) else { return };
        if are_up && self.in_window(made) {
            let (sent, received) = self.with_ends.get_or_insert_default();
            *(if event == FlowEvent::CbrSent { sent } else { received }) += 1;
        }
    }

    /// Routing at `node` told the other layers.
    pub fn noticed(&mut self, now: Time, node: NodeId, notice: Notice) {
        self.outages.noticed(now, node, notice);
        self.cached_routes.noticed(now, node, notice);
    }

    /// A CBR source made a packet.
    fn cbr_sent(&mut self, now: Time, flow: FlowId) {
        if let Some(running) = &mut self.running {
            running.cbr_sent += 1;
        }
        self.packet_sent(now, flow);
    }

    /// A source or its transport made a data packet.
    fn packet_sent(&mut self, now: Time, flow: FlowId) {
        if self.in_window(now) {
            self.flows[flow.index()].sent += 1;
        }
    }

    /// A CBR packet reached its destination, for the first time or again.
    fn cbr_delivered(&mut self, now: Time, flow: FlowId, delivery: Delivery) {
        if let Some(running) = &mut self.running
            && delivery.is_first
        {
            running.cbr_received += 1;
            running.cbr_delivered_bytes += u64::from(delivery.payload_bytes);
        }
        self.packet_delivered(now, flow, delivery);
    }

    /// A data packet reached its destination, for the first time or again.
    fn packet_delivered(&mut self, now: Time, flow: FlowId, delivery: Delivery) {
        let made_in_window = self.in_window(delivery.created);
        let arrived_in_window = self.in_window(now);
        let counts = &mut self.flows[flow.index()];
        if delivery.is_first && arrived_in_window {
            counts.delivered_in_window += u64::from(delivery.payload_bytes);
        }
        if !made_in_window {
            return;
        }
        if delivery.is_first {
            counts.received += 1;
            counts.hops += u64::from(delivery.hops);
            counts.latencies_s.push(now.since(delivery.created).as_secs());
        } else {
            counts.duplicates += 1;
        }
    }

    /// A TCP data segment reached its destination.
    fn segment_delivered(&mut self, now: Time, flow: FlowId, delivery: Delivery) {
        if self.in_window(now) {
            let counts = &mut self.flows[flow.index()];
            counts.received += 1;
            counts.hops += u64::from(delivery.hops);
            counts.latency_sum_s += now.since(delivery.created).as_secs();
        }
    }

    /// IP at `node` handed a packet down.
    pub fn sent(&mut self, now: Time, node: NodeId, packet: &Packet) {
        if !packet.is_data() {
            self.routing_sent(now, packet.bytes);
        } else if let Some(header) = &packet.routing_header {
            self.routing_header_sent(now, header.bytes());
            self.cached_routes.sent(now, node, packet);
        }
    }

    /// A packet could not be brought to its next hop.
    pub fn link_failed(&mut self, now: Time, packet: &Packet) {
        self.cached_routes.broke(now, packet);
    }

    /// A packet reached its endpoint.
    pub fn arrived(&mut self, packet: &Packet) {
        self.cached_routes.arrived(packet);
    }

    /// IP handed a routing packet down.
    fn routing_sent(&mut self, now: Time, bytes: u32) {
        if let Some(running) = &mut self.running {
            running.routing_packets += 1;
            running.routing_bytes += u64::from(bytes);
        }
        if self.in_window(now) {
            self.routing_packets += 1;
            self.routing_bytes += u64::from(bytes);
        }
    }

    /// A node announces its flows, in a packet of its own or not.
    pub fn announced(&mut self, now: Time, bytes: u32, is_alone: bool) {
        if self.in_window(now) {
            self.shares.announced(bytes, is_alone);
        }
    }

    /// IP handed a data packet down that carries a routing header of `bytes`.
    fn routing_header_sent(&mut self, now: Time, bytes: u32) {
        if self.in_window(now) {
            self.routing_bytes += u64::from(bytes);
        }
    }

    /// A frame went on the air.
    pub fn frame_sent(&mut self, now: Time, frame: &Frame) {
        if let Some(running) = &mut self.running {
            running.mac_frames += 1;
            running.mac_bytes += u64::from(frame.bytes);
            running.routing_mac_frames += u64::from(frame.class == Class::Routing);
        }
        if self.in_window(now) {
            self.air_all.count(frame.bytes);
            if frame.class == Class::Routing {
                self.air_routing.count(frame.bytes);
            }
        }
    }

    /// A MAC took a packet to send as a frame of `frame_bytes`; `again`: as a broadcast, and not at its
    /// source.
    pub fn packet_taken(&mut self, now: Time, packet: &Packet, frame_bytes: u32, again: bool) {
        if let Some(flow) = packet.flow()
            && self.in_window(now)
        {
            self.flows[flow.index()].mac.count(packet, frame_bytes, again);
        }
    }

    /// What a flow cost at the MACs, the data packets of it that arrived, and their payload, unless a byte
    /// stream has it.
    pub fn mac_count(&self, flow: FlowId) -> (MacCount, u64, u64) {
        let counts = &self.flows[flow.index()];
        (counts.mac, counts.received, counts.delivered_in_window)
    }

    /// A packet was dropped.
    pub fn dropped(&mut self, now: Time, packet: &Packet, reason: DropReason) {
        self.count_drop(now, packet_kind(packet), reason);
    }

    /// An ARP packet was dropped.
    pub fn arp_dropped(&mut self, now: Time, reason: DropReason) {
        self.count_drop(now, ARP_KIND, reason);
    }

    fn count_drop(&mut self, now: Time, kind: usize, reason: DropReason) {
        if let Some(running) = &mut self.running {
            running.drops += 1;
        }
        if self.in_window(now) {
            self.drops[reason as usize][kind] += 1;
        }
    }

    /// Where packets died, most frequent first.
    pub fn drop_counts(&self) -> Vec<DropCount> {
        let mut list: Vec<DropCount> =
            DropReason::ALL
                .iter()
                .flat_map(|&reason| {
                    PACKET_KINDS.iter().zip(self.drops[reason as usize]).map(move |(&packets, count)| {
                        DropCount { layer: reason.layer(), reason, packets, count }
                    })
                })
                .filter(|drop| drop.count > 0)
                .collect();
        list.sort_by_key(|drop| std::cmp::Reverse(drop.count));
        list
    }

    /// The measures of a TCP flow from its endpoints' counters at the end and at the end of the warm-up.
    pub fn tcp_measures(
        &self,
        flow: FlowId,
        start: Time,
        sender: (&SenderCounters, &SenderCounters),
        receiver: (&ReceiverCounters, &ReceiverCounters),
        ended: Option<Time>,
        has_sent_all: bool,
    ) -> TcpMeasures {
        let counts = &self.flows[flow.index()];
        let outage = self.outages.of(flow);
        let delivered_bytes = receiver.0.bytes_in_order - receiver.1.bytes_in_order;
        TcpMeasures {
            throughput_bps: delivered_bytes as f64 * 8.0 / self.window_s,
            delivered_bytes,
            goodput: ratio(delivered_bytes, sender.0.bytes_sent - sender.1.bytes_sent),
            connect_time_s: receiver.0.first_data.map(|(_, arrived)| arrived.since(start).as_secs()),
            segments_sent: sender.0.segments_sent - sender.1.segments_sent,
            retransmissions: sender.0.retransmissions - sender.1.retransmissions,
            timeouts: sender.0.timeouts - sender.1.timeouts,
            fast_retransmits: sender.0.fast_retransmits - sender.1.fast_retransmits,
            completed_s: ended.filter(|_| has_sent_all).map(Time::as_secs),
            hops_mean: ratio(counts.hops, counts.received),
            latency_mean_s: (counts.received > 0).then(|| counts.latency_sum_s / counts.received as f64),
            route_repairs: outage.map_or(0, Outage::repairs),
            route_repair_mean_s: outage.and_then(Outage::repair_mean_s),
            route_repair_max_s: outage.and_then(Outage::repair_max_s),
            longest_gap_s: outage
                .map_or(0.0, |outage| outage.longest_gap(self.end, ended.is_some()).as_secs()),
            timeouts_in_row: outage.map_or(0, Outage::timeouts_in_row),
        }
    }

    /// What is measured of a flow that is one TCP connection, whose receiver has seen the segment of this
    /// number, counted from 1, each of `segment_bytes`.
    pub fn connection_measures(&self, flow: FlowId, last: u32, segment_bytes: u32) -> ConnectionMeasures {
        ConnectionMeasures {
            eq2_goodput_bps: f64::from(last) * f64::from(segment_bytes) * 8.0 / self.end.as_secs(),
            backoffs: self.outages.of(flow).map_or(0, Outage::backoffs),
        }
    }

    /// How many packets of a CBR flow were made in the window, and how long those took that arrived.
    pub fn delays(&self, flow: FlowId) -> Delays {
        let counts = &self.flows[flow.index()];
        Delays { made: counts.sent, arrived_s: counts.latencies_s.clone() }
    }

    /// The measures of a CBR flow.
    pub fn cbr_measures(&self, flow: FlowId) -> CbrMeasures {
        let counts = &self.flows[flow.index()];
        let mut latencies_s = counts.latencies_s.clone();
        latencies_s.sort_unstable_by(f64::total_cmp);
        CbrMeasures {
            sent: counts.sent,
            received: counts.received,
            duplicates: counts.duplicates,
            delivery_fraction: ratio(counts.received, counts.sent),
            latency_mean_s: mean(&latencies_s),
            latency_p50_s: percentile(&latencies_s, 0.50),
            latency_p95_s: percentile(&latencies_s, 0.95),
            latency_p99_s: percentile(&latencies_s, 0.99),
            throughput_bps: counts.delivered_in_window as f64 * 8.0 / self.window_s,
            hops_mean: ratio(counts.hops, counts.received),
        }
    }

    /// All frames transmitted in the window, and their bytes.
    pub fn air(&self) -> (u64, u64) {
        (self.air_all.frames, self.air_all.bytes)
    }

    /// The measures over all flows. `transmitted_bytes`: TCP payload sent in the window.
    pub fn totals(&self, flows: &[FlowMeasures], transmitted_bytes: u64, receptions: Receptions) -> Totals {
        let tcp: Vec<&TcpMeasures> = flows
            .iter()
            .filter_map(|flow| if let FlowMeasures::Tcp(tcp) = flow { Some(tcp) } else { None })
            .collect();
        let cbr: Vec<(&CbrMeasures, &FlowCounts)> = flows
            .iter()
            .zip(&self.flows)
            .filter_map(
                |(flow, counts)| if let FlowMeasures::Cbr(cbr) = flow { Some((cbr, counts)) } else { None },
            )
            .collect();
        let mut latencies_s: Vec<f64> =
            cbr.iter().flat_map(|(_, counts)| counts.latencies_s.iter().copied()).collect();
        latencies_s.sort_unstable_by(f64::total_cmp);
        let connects: Vec<f64> = tcp.iter().filter_map(|flow| flow.connect_time_s).collect();
        let (sent, received) = (cbr.iter().map(|c| c.0.sent).sum(), cbr.iter().map(|c| c.0.received).sum());
        // What is said of a kind of flow says nothing where there is none.
        let (has_tcp, has_cbr) = (!tcp.is_empty(), !cbr.is_empty());
        let per_s = |count: u64| count as f64 / self.window_s;
        Totals {
            tcp_throughput_bps: has_tcp.then(|| total(tcp.iter().map(|flow| flow.throughput_bps))),
            tcp_goodput: ratio(tcp.iter().map(|flow| flow.delivered_bytes).sum(), transmitted_bytes),
            tcp_connect_time_mean_s: mean(&connects),
            tcp_retransmissions: has_tcp.then(|| tcp.iter().map(|flow| flow.retransmissions).sum()),
            tcp_timeouts: has_tcp.then(|| tcp.iter().map(|flow| flow.timeouts).sum()),
            cbr_sent: has_cbr.then_some(sent),
            cbr_received: has_cbr.then_some(received),
            cbr_delivery_fraction: ratio(received, sent),
            cbr_both_up_delivery_fraction: self.with_ends.and_then(|(sent, received)| ratio(received, sent)),
            cbr_latency_mean_s: mean(&latencies_s),
            cbr_latency_p50_s: percentile(&latencies_s, 0.50),
            cbr_latency_p95_s: percentile(&latencies_s, 0.95),
            cbr_latency_p99_s: percentile(&latencies_s, 0.99),
            cbr_throughput_bps: has_cbr.then(|| total(cbr.iter().map(|(flow, _)| flow.throughput_bps))),
            routing_packets_per_s: per_s(self.routing_packets),
            routing_bytes_per_s: per_s(self.routing_bytes),
            routing_mac_frames_per_s: per_s(self.air_routing.frames),
            routing_mac_bytes_per_s: per_s(self.air_routing.bytes),
            mac_frames_per_s: per_s(self.air_all.frames),
            mac_bytes_per_s: per_s(self.air_all.bytes),
            hops_mean: ratio(
                self.flows.iter().map(|counts| counts.hops).sum(),
                self.flows.iter().map(|counts| counts.received).sum(),
            ),
            collision_fraction: ratio(receptions.collided, receptions.meant),
            bit_error_fraction: receptions.damaged.and_then(|damaged| ratio(damaged, receptions.meant)),
        }
    }
}

impl AirCounts {
    fn count(&mut self, bytes: u32) {
        self.frames += 1;
        self.bytes += u64::from(bytes);
    }
}
