//! A file transfer over TCP: one connection, and one write of all its data.

use super::connection::Connection;
use super::{End, Flow, FlowAction, FlowReport, Snapshot, Timer};
use crate::kernel::{Span, Time};
use crate::observe::{FlowMeasures, Meter, Progress, RunningCounts};
use crate::routing::Notice;
use crate::wire::tcp;
use crate::wire::{NodeId, Packet, Payload};

/// See the module's head.
pub(super) struct Transfer {
    state: State,
    start: Time,
    stop: Time,
    /// None: data without end.
    bytes: Option<u64>,
    connection: Connection,
    /// How its data arrive; none if that was not asked for.
    progress: Option<Progress>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    NotStarted,
    Running,
    /// Nothing new is sent.
    Stopped,
}

impl Transfer {
    /// A transfer of `bytes`, or without end, that begins at `start` and sends nothing new from `stop` on.
    pub(super) fn new(start: Time, stop: Time, bytes: Option<u64>, connection: Connection) -> Transfer {
        Transfer { state: State::NotStarted, start, stop, bytes, connection, progress: None }
    }

    /// The same transfer, whose progress is measured against a pause of `allowed`; not if that is zero.
    pub(super) fn with_progress(mut self, allowed: Span) -> Transfer {
        self.progress = (allowed > Span::ZERO).then(|| Progress::new(self.start, allowed));
        self
    }

    fn source_deadline(&self) -> Time {
        match self.state {
            State::NotStarted => self.start,
            State::Running => self.stop,
            State::Stopped => Time::NEVER,
        }
    }

    fn wake_source(&mut self, now: Time, actions: &mut Vec<FlowAction>) {
        if now < self.source_deadline() {
            return;
        }
        if self.state == State::NotStarted {
            self.state = State::Running;
            self.connection.open(actions);
            self.connection.write(now, &[self.bytes], true, actions);
        } else {
            self.state = State::Stopped;
            self.connection.close(now, actions);
        }
    }
}

impl Flow for Transfer {
    fn timers(&self) -> &'static [Timer] {
        &[Timer::Source, Timer::Sender, Timer::Receiver]
    }

    fn next_timeout(&self, timer: Timer) -> Time {
        match timer {
            Timer::Source => self.source_deadline(),
            Timer::Sender => self.connection.sender.next_timeout(),
            Timer::Receiver => self.connection.receiver.next_timeout(),
            Timer::Reports => Time::NEVER,
        }
    }

    fn handle_timeout(&mut self, now: Time, timer: Timer, actions: &mut Vec<FlowAction>) {
        match timer {
            Timer::Source => self.wake_source(now, actions),
            Timer::Sender => self.connection.wake_sender(now, actions),
            Timer::Receiver => self.connection.wake_receiver(now, actions),
            Timer::Reports => actions.push(FlowAction::Broken("a TCP transfer has reports")),
        }
    }

    fn handle_packet(&mut self, now: Time, packet: &Packet, _is_first: bool, actions: &mut Vec<FlowAction>) {
        match &packet.payload {
            Payload::Tcp(_, segment) => {
                let in_order = self.connection.handle_segment(now, packet, segment, actions);
                if let (Some(progress), Some(bytes)) = (&mut self.progress, in_order) {
                    progress.arrived(now, bytes);
                }
            }
            _ => actions.push(FlowAction::Broken("a TCP transfer gets a packet that is no segment")),
        }
    }

    fn handle_notice(&mut self, now: Time, at: End, notice: Notice, actions: &mut Vec<FlowAction>) {
        self.connection.handle_notice(now, at, notice, actions);
    }

    fn handle_notification(
        &mut self,
        now: Time,
        _connection: u32,
        segment: &tcp::Segment,
        actions: &mut Vec<FlowAction>,
    ) {
        self.connection.handle_notification(now, segment, actions);
    }

    fn wants_rx_power(&self) -> bool {
        self.connection.receiver.wants_rx_power()
    }

    fn handle_rx_power(
        &mut self,
        now: Time,
        heard: (NodeId, f64),
        has_packet: bool,
        actions: &mut Vec<FlowAction>,
    ) {
        self.connection.handle_rx_power(now, heard, has_packet, actions);
    }

    fn handle_warmup_end(&mut self) {
        self.connection.mark_warmup();
    }

    fn has_outages(&self) -> bool {
        true
    }

    fn report(&self, meter: &Meter, end: Time) -> FlowReport {
        let last = self.connection.ended().unwrap_or(self.stop).min(end);
        FlowReport {
            measures: FlowMeasures::Tcp(self.connection.measures(meter, self.start)),
            connection: Some(self.connection.connection_measures(meter)),
            rtp: None,
            delays: None,
            progress: self.progress.as_ref().map(|progress| progress.measures(last)),
            spurious: self.connection.spurious_measures(),
            split: self.connection.split_measures(),
            stream_bytes: Some(self.connection.delivered_bytes()),
            transfer_sent_bytes: self.connection.sent_bytes(),
        }
    }

    fn snapshot(&self, counts: &mut RunningCounts) -> Snapshot {
        self.connection.add_running(counts);
        Snapshot { tcp: Some(self.connection.sample()), messages: None }
    }
}
