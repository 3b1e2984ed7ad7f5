//! When a run's time series are taken, and from what.
//!
//! The network looks for the end of a step between two events of the queue and only reads, so that a run with series is
//! the run without, event for event. What one event carries out ahead of its time (see `Network::unload`) counts in the
//! step in which that event began, which is some microseconds off at most.

use crate::kernel::{Span, Time};
use crate::observe::{FlowSample, MessageSample, Outages, RunningCounts, Series};

use super::Network;
use super::flows::{Flow, Transport};

/// The series so far, if they are wanted, and when the running step ends.
pub(super) struct Sampling {
    due: Time,
    step: Span,
    series: Option<Series>,
}

impl Sampling {
    /// Steps of `step`, which is not zero, the first of which begins with the run; or none.
    pub(super) fn new(step: Option<Span>) -> Sampling {
        assert!(step != Some(Span::ZERO), "time series need a step");
        Sampling {
            due: step.map_or(Time::NEVER, |step| Time::ZERO + step),
            step: step.unwrap_or_default(),
            series: step.map(|_| Series::default()),
        }
    }

    /// When the running step ends; never without series.
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// The series, with the repairs of the whole run.
    pub(super) fn into_series(self, outages: &Outages) -> Option<Series> {
        let mut series = self.series?;
        series.add_repairs(outages.all_repairs());
        Some(series)
    }
}

impl Network {
    /// Closes all steps that end at `time` or before; nothing happens between now and then.
    pub(super) fn sample_until(&mut self, time: Time) {
        let Some(series) = &mut self.sampling.series else { return };
        while self.sampling.due <= time {
            let counts = running_counts(self.meter.running(), &self.flows);
            series.close_step(self.sampling.due, counts, tcp_samples(&self.flows));
            series.close_messages(self.sampling.due, message_samples(&self.flows));
            self.sampling.due += self.sampling.step;
        }
    }
}

/// The meter's counts with those of TCP, which its endpoints keep.
fn running_counts(mut counts: RunningCounts, flows: &[Flow]) -> RunningCounts {
    for flow in flows {
        if let Transport::Tcp(tcp) = &flow.transport {
            counts.tcp_delivered_bytes += tcp.receiver.counters().bytes_in_order;
            counts.tcp_retransmissions += tcp.sender.counters().retransmissions;
            counts.tcp_timeouts += tcp.sender.counters().timeouts;
        }
    }
    counts
}

fn tcp_samples(flows: &[Flow]) -> impl Iterator<Item = FlowSample> {
    flows.iter().zip(0..).filter_map(|(flow, id)| {
        flow.transport.tcp().map(|tcp| FlowSample {
            flow: id,
            cwnd_segments: tcp.sender.cwnd(),
            ssthresh_segments: tcp.sender.ssthresh(),
            rto_s: tcp.sender.rto().as_secs(),
            delivered_bytes: tcp.receiver.counters().bytes_in_order,
        })
    })
}

fn message_samples(flows: &[Flow]) -> impl Iterator<Item = MessageSample> {
    flows.iter().zip(0..).filter_map(|(flow, id)| match &flow.transport {
        Transport::Messages(messages) => Some(messages.sample(id)),
        Transport::Tcp(_) | Transport::Cbr(_) | Transport::Web(_) => None,
    })
}
