//! Time series: what happened in each step of simulated time, when it is asked for.
//!
//! They cover the whole run, warm-up included, in whole steps; a step that the end of the run cuts short is
//! left out. Columns are defined in docs/metrics.md. Taking them changes no result.

use serde::Serialize;

use super::statistics::ratio;
use crate::kernel::{Span, Time};
use crate::wire::NodeId;

/// Counts since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunningCounts {
    /// Payload bytes that TCP receivers delivered in order, whatever the connections carry.
    pub tcp_delivered_bytes: u64,
    /// TCP segments sent again.
    pub tcp_retransmissions: u64,
    /// Retransmission time-outs.
    pub tcp_timeouts: u64,
    /// CBR packets made.
    pub cbr_sent: u64,
    /// CBR packets that arrived, each once.
    pub cbr_received: u64,
    /// Their payload bytes.
    pub cbr_delivered_bytes: u64,
    /// Routing packets handed down by IP.
    pub routing_packets: u64,
    /// Their bytes.
    pub routing_bytes: u64,
    /// Frames on the air on behalf of routing packets.
    pub routing_mac_frames: u64,
    /// All frames on the air.
    pub mac_frames: u64,
    /// Their bytes.
    pub mac_bytes: u64,
    /// Copies of packets dropped, ARP's among them.
    pub drops: u64,
}

/// A TCP flow at the end of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowSample {
    /// The flow's number.
    pub flow: u32,
    /// Congestion window in segments.
    pub cwnd_segments: f64,
    /// Slow-start threshold in segments.
    pub ssthresh_segments: f64,
    /// Retransmission time-out, s.
    pub rto_s: f64,
    /// Payload bytes that its receiver has delivered in order since the start of the run.
    pub delivered_bytes: u64,
}

/// A flow of messages at the end of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MessageSample {
    /// The flow's number.
    pub flow: u32,
    /// Messages that it has delivered since the start of the run.
    pub delivered_messages: u64,
    /// Messages that wait at its sender; none over TCP, which does not know them.
    pub waiting_messages: Option<u64>,
    /// ADP's window in packets, which is one in the ACK-clocked variant; none without ADP.
    pub adp_window_packets: Option<f64>,
    /// ADP's transmit timeout, s; none without ADP.
    pub adp_tto_s: Option<f64>,
}

/// The paths that packets of all flows would take at an instant.
///
/// How many of these flows meet at the node of a path where most do is the *node overlap* of Bansal and
/// Barua, "Performance Analysis of TCP over IEEE 802.11 Based Ad Hoc Networks" (2003).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PathSample {
    /// Flows that have a whole path from source to destination.
    pub flows: u32,
    /// Links of all these paths.
    pub hops: u64,
    /// The sum over these flows of the greatest number of them that one node of the path is on, the flow
    /// itself included.
    pub shared: u64,
}

impl PathSample {
    /// That of these paths, each from its source to its destination, among so many nodes.
    pub fn of(nodes: usize, paths: &[Vec<NodeId>]) -> PathSample {
        let mut flows_at = vec![0_u32; nodes];
        paths.iter().flatten().for_each(|node| flows_at[node.index()] += 1);
        let most = |path: &Vec<NodeId>| path.iter().map(|node| flows_at[node.index()]).max().unwrap_or(0);
        PathSample {
            flows: paths.len() as u32,
            hops: paths.iter().map(|path| path.len().saturating_sub(1) as u64).sum(),
            shared: paths.iter().map(|path| u64::from(most(path))).sum(),
        }
    }
}

/// Packets that came to interface queues, and how many each found waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Found {
    packets: u64,
    waiting: u64,
}

impl Found {
    fn add(&mut self, waiting: usize) {
        self.packets += 1;
        self.waiting += waiting as u64;
    }

    fn mean(self) -> Option<f64> {
        ratio(self.waiting, self.packets)
    }
}

/// A route that was there again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RepairSample {
    /// When.
    pub at: Time,
    /// The flow's number.
    pub flow: u32,
    /// How long there was none, s.
    pub lasted_s: f64,
}

/// The series of a run while it goes on, if they are wanted, and when the running step ends.
///
/// The network looks for the end of a step between two events of the queue and only reads, so that a run with
/// series is the run without, event for event. What one event carries out ahead of its time counts in the
/// step in which that event began, which is some microseconds off at most.
pub struct Sampler {
    due: Time,
    step: Span,
    series: Option<Series>,
}

impl Sampler {
    /// Steps of `step`, which is not zero, the first of which begins with the run; or none.
    pub fn new(step: Option<Span>) -> Sampler {
        assert!(step != Some(Span::ZERO), "time series need a step");
        Sampler {
            due: step.map_or(Time::NEVER, |step| Time::ZERO + step),
            step: step.unwrap_or_default(),
            series: step.map(|_| Series::default()),
        }
    }

    /// When the running step ends; never without series.
    pub fn due(&self) -> Time {
        self.due
    }

    /// A packet comes to an interface queue in which so many wait; it is `relayed` if another node made it.
    pub fn packet_queued(&mut self, waiting: usize, relayed: bool) {
        if let Some(series) = &mut self.series {
            series.queued.add(waiting);
            if relayed {
                series.relayed.add(waiting);
            }
        }
    }

    /// The running step ends, with these counts, the flows' states and their paths.
    pub fn close_step(
        &mut self,
        counts: RunningCounts,
        flows: impl Iterator<Item = FlowSample>,
        messages: impl Iterator<Item = MessageSample>,
        paths: PathSample,
    ) {
        if let Some(series) = &mut self.series {
            series.close_step(self.due, counts, flows);
            series.close_messages(self.due, messages);
            series.close_queues(self.due);
            series.paths.push(self.due, &paths);
        }
        self.due += self.step;
    }

    /// The series, with the repairs of the whole run.
    pub fn into_series(self, repairs: impl Iterator<Item = RepairSample>) -> Option<Series> {
        let mut series = self.series?;
        series.add_repairs(repairs);
        Some(series)
    }
}

/// The series of a run, column by column.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Series {
    totals: TotalColumns,
    tcp_flows: FlowColumns,
    message_flows: MessageColumns,
    route_repairs: RepairColumns,
    queues: QueueColumns,
    paths: PathColumns,
    /// In the running step.
    #[serde(skip)]
    queued: Found,
    /// Of these, packets that other nodes made.
    #[serde(skip)]
    relayed: Found,
    #[serde(skip)]
    before: RunningCounts,
    /// Bytes delivered before the running step, by place among the TCP flows.
    #[serde(skip)]
    delivered_before: Vec<u64>,
    /// Messages delivered before it, by place among the flows of messages.
    #[serde(skip)]
    messages_before: Vec<u64>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct TotalColumns {
    time_s: Vec<f64>,
    tcp_delivered_bytes: Vec<u64>,
    tcp_retransmissions: Vec<u64>,
    tcp_timeouts: Vec<u64>,
    cbr_sent: Vec<u64>,
    cbr_received: Vec<u64>,
    cbr_delivered_bytes: Vec<u64>,
    routing_packets: Vec<u64>,
    routing_bytes: Vec<u64>,
    routing_mac_frames: Vec<u64>,
    mac_frames: Vec<u64>,
    mac_bytes: Vec<u64>,
    drops: Vec<u64>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct FlowColumns {
    time_s: Vec<f64>,
    flow: Vec<u32>,
    cwnd_segments: Vec<f64>,
    ssthresh_segments: Vec<f64>,
    rto_s: Vec<f64>,
    delivered_bytes: Vec<u64>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct MessageColumns {
    time_s: Vec<f64>,
    flow: Vec<u32>,
    delivered_messages: Vec<u64>,
    waiting_messages: Vec<Option<u64>>,
    adp_window_packets: Vec<Option<f64>>,
    adp_tto_s: Vec<Option<f64>>,
}

/// Not one row a step but one a repair.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct RepairColumns {
    time_s: Vec<f64>,
    flow: Vec<u32>,
    lasted_s: Vec<f64>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct QueueColumns {
    time_s: Vec<f64>,
    packets: Vec<u64>,
    waiting_mean: Vec<Option<f64>>,
    relayed_packets: Vec<u64>,
    relayed_waiting_mean: Vec<Option<f64>>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct PathColumns {
    time_s: Vec<f64>,
    flows: Vec<u32>,
    hops_mean: Vec<Option<f64>>,
    shared_mean: Vec<Option<f64>>,
}

impl Series {
    /// How many steps have been closed.
    pub fn steps(&self) -> usize {
        self.totals.time_s.len()
    }

    /// Closes the step that ends at `now`. The counts are those since the start of the run, the flows the
    /// same, in the same order, at every call.
    pub fn close_step(&mut self, now: Time, counts: RunningCounts, flows: impl Iterator<Item = FlowSample>) {
        self.totals.push(now, &counts, &self.before);
        self.before = counts;
        for (place, sample) in flows.enumerate() {
            let delivered = since(&mut self.delivered_before, place, sample.delivered_bytes);
            self.tcp_flows.push(now, &sample, delivered);
        }
    }

    /// The flows of messages at the end of that step, the same in the same order at every call.
    pub fn close_messages(&mut self, now: Time, flows: impl Iterator<Item = MessageSample>) {
        for (place, sample) in flows.enumerate() {
            let delivered = since(&mut self.messages_before, place, sample.delivered_messages);
            self.message_flows.push(now, &sample, delivered);
        }
    }

    /// What came to the interface queues in the step that ends at `now`.
    fn close_queues(&mut self, now: Time) {
        let (queued, relayed) = (std::mem::take(&mut self.queued), std::mem::take(&mut self.relayed));
        self.queues.time_s.push(seconds(now));
        self.queues.packets.push(queued.packets);
        self.queues.waiting_mean.push(queued.mean());
        self.queues.relayed_packets.push(relayed.packets);
        self.queues.relayed_waiting_mean.push(relayed.mean());
    }

    /// The repairs of the whole run.
    pub fn add_repairs(&mut self, repairs: impl Iterator<Item = RepairSample>) {
        for repair in repairs {
            self.route_repairs.time_s.push(seconds(repair.at));
            self.route_repairs.flow.push(repair.flow);
            self.route_repairs.lasted_s.push(repair.lasted_s);
        }
    }
}

/// How far the count at a place has gone since the last call for it.
fn since(before: &mut Vec<u64>, place: usize, count: u64) -> u64 {
    if place == before.len() {
        before.push(0);
    }
    count - std::mem::replace(&mut before[place], count)
}

impl TotalColumns {
    fn push(&mut self, now: Time, counts: &RunningCounts, before: &RunningCounts) {
        self.time_s.push(seconds(now));
        self.tcp_delivered_bytes.push(counts.tcp_delivered_bytes - before.tcp_delivered_bytes);
        self.tcp_retransmissions.push(counts.tcp_retransmissions - before.tcp_retransmissions);
        self.tcp_timeouts.push(counts.tcp_timeouts - before.tcp_timeouts);
        self.cbr_sent.push(counts.cbr_sent - before.cbr_sent);
        self.cbr_received.push(counts.cbr_received - before.cbr_received);
        self.cbr_delivered_bytes.push(counts.cbr_delivered_bytes - before.cbr_delivered_bytes);
        self.routing_packets.push(counts.routing_packets - before.routing_packets);
        self.routing_bytes.push(counts.routing_bytes - before.routing_bytes);
        self.routing_mac_frames.push(counts.routing_mac_frames - before.routing_mac_frames);
        self.mac_frames.push(counts.mac_frames - before.mac_frames);
        self.mac_bytes.push(counts.mac_bytes - before.mac_bytes);
        self.drops.push(counts.drops - before.drops);
    }
}

impl FlowColumns {
    fn push(&mut self, now: Time, sample: &FlowSample, delivered_bytes: u64) {
        self.time_s.push(seconds(now));
        self.flow.push(sample.flow);
        self.cwnd_segments.push(sample.cwnd_segments);
        self.ssthresh_segments.push(sample.ssthresh_segments);
        self.rto_s.push(sample.rto_s);
        self.delivered_bytes.push(delivered_bytes);
    }
}

impl MessageColumns {
    fn push(&mut self, now: Time, sample: &MessageSample, delivered_messages: u64) {
        self.time_s.push(seconds(now));
        self.flow.push(sample.flow);
        self.delivered_messages.push(delivered_messages);
        self.waiting_messages.push(sample.waiting_messages);
        self.adp_window_packets.push(sample.adp_window_packets);
        self.adp_tto_s.push(sample.adp_tto_s);
    }
}

impl PathColumns {
    fn push(&mut self, now: Time, sample: &PathSample) {
        self.time_s.push(seconds(now));
        self.flows.push(sample.flows);
        self.hops_mean.push(ratio(sample.hops, u64::from(sample.flows)));
        self.shared_mean.push(ratio(sample.shared, u64::from(sample.flows)));
    }
}

/// Divided, not multiplied by 1e-9 as elsewhere, so that three steps of 0.1 s print as 0.3 s.
fn seconds(time: Time) -> f64 {
    time.0 as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_what_came_since_the_step_before() {
        let mut series = Series::default();
        let sample = |delivered_bytes| FlowSample {
            flow: 3,
            cwnd_segments: 2.0,
            ssthresh_segments: 4.0,
            rto_s: 1.0,
            delivered_bytes,
        };
        for (second, delivered) in [(1.0, 10), (2.0, 10), (3.0, 35)] {
            let counts = RunningCounts { tcp_delivered_bytes: delivered, ..RunningCounts::default() };
            series.close_step(Time::from_secs(second), counts, [sample(delivered)].into_iter());
        }
        assert_eq!(series.totals.tcp_delivered_bytes, [10, 0, 25]);
        assert_eq!(series.tcp_flows.delivered_bytes, [10, 0, 25]);
        assert_eq!(series.tcp_flows.flow, [3, 3, 3]);
        assert_eq!(series.totals.time_s, [1.0, 2.0, 3.0]);
    }

    fn path(nodes: &[u32]) -> Vec<NodeId> {
        nodes.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn a_path_is_shared_at_the_node_where_most_flows_meet() {
        // Two flows through node 4, of which one goes on through node 5, which a third begins at.
        let sample = PathSample::of(9, &[path(&[0, 4, 1]), path(&[2, 4, 5, 3]), path(&[5, 6])]);
        assert_eq!(sample, PathSample { flows: 3, hops: 6, shared: 2 + 2 + 2 });
        // Where nothing is shared each flow is alone.
        let apart = PathSample::of(4, &[path(&[0, 1]), path(&[2, 3])]);
        assert_eq!((apart.flows, apart.shared), (2, 2));
        assert_eq!(PathSample::of(4, &[]), PathSample::default());
    }

    #[test]
    fn queues_are_what_packets_of_the_step_found_waiting() {
        let mut sampler = Sampler::new(Some(Span::from_millis(1000)));
        let close = |sampler: &mut Sampler| {
            sampler.close_step(
                RunningCounts::default(),
                std::iter::empty(),
                std::iter::empty(),
                PathSample::default(),
            );
        };
        sampler.packet_queued(0, false);
        sampler.packet_queued(3, true);
        close(&mut sampler);
        close(&mut sampler);
        sampler.packet_queued(7, true);
        close(&mut sampler);
        let series = sampler.into_series(std::iter::empty()).expect("series are wanted");
        assert_eq!(series.queues.packets, [2, 0, 1]);
        assert_eq!(series.queues.waiting_mean, [Some(1.5), None, Some(7.0)]);
        assert_eq!(series.queues.relayed_packets, [1, 0, 1]);
        assert_eq!(series.queues.relayed_waiting_mean, [Some(3.0), None, Some(7.0)]);
        assert_eq!(series.paths.shared_mean, [None, None, None]);
    }

    #[test]
    fn messages_are_counted_by_flow_and_step_and_waiting_ones_as_they_stand() {
        let mut series = Series::default();
        let sample = |flow, delivered_messages, waiting| MessageSample {
            flow,
            delivered_messages,
            waiting_messages: waiting,
            adp_window_packets: None,
            adp_tto_s: None,
        };
        for (second, counts) in [(1.0, [3, 0]), (2.0, [3, 5]), (3.0, [4, 9])] {
            let flows = [sample(1, counts[0], Some(counts[0] * 2)), sample(4, counts[1], None)];
            series.close_messages(Time::from_secs(second), flows.into_iter());
        }
        assert_eq!(series.message_flows.flow, [1, 4, 1, 4, 1, 4]);
        assert_eq!(series.message_flows.delivered_messages, [3, 0, 0, 5, 1, 4]);
        assert_eq!(series.message_flows.waiting_messages, [Some(6), None, Some(6), None, Some(8), None]);
    }
}
