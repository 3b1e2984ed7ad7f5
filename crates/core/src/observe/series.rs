//! Time series: what happened in each step of simulated time, when it is asked for.
//!
//! They cover the whole run, warm-up included, in whole steps; a step that the end of the run cuts short is left out.
//! Columns are defined in docs/metrics.md. Taking them changes no result.

use serde::Serialize;

use crate::kernel::Time;

/// Counts since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunningCounts {
    /// Payload bytes that TCP receivers delivered in order.
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

/// The series of a run, column by column.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Series {
    totals: TotalColumns,
    tcp_flows: FlowColumns,
    #[serde(skip)]
    before: RunningCounts,
    /// Bytes delivered before the running step, by place among the TCP flows.
    #[serde(skip)]
    delivered_before: Vec<u64>,
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

impl Series {
    /// How many steps have been closed.
    pub fn steps(&self) -> usize {
        self.totals.time_s.len()
    }

    /// Closes the step that ends at `now`. The counts are those since the start of the run, the flows the same, in the
    /// same order, at every call.
    pub fn close_step(&mut self, now: Time, counts: RunningCounts, flows: impl Iterator<Item = FlowSample>) {
        self.totals.push(now, &counts, &self.before);
        self.before = counts;
        for (place, sample) in flows.enumerate() {
            if place == self.delivered_before.len() {
                self.delivered_before.push(0);
            }
            let before = std::mem::replace(&mut self.delivered_before[place], sample.delivered_bytes);
            self.tcp_flows.push(now, &sample, before);
        }
    }
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
    fn push(&mut self, now: Time, sample: &FlowSample, delivered_before: u64) {
        self.time_s.push(seconds(now));
        self.flow.push(sample.flow);
        self.cwnd_segments.push(sample.cwnd_segments);
        self.ssthresh_segments.push(sample.ssthresh_segments);
        self.rto_s.push(sample.rto_s);
        self.delivered_bytes.push(sample.delivered_bytes - delivered_before);
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
}
