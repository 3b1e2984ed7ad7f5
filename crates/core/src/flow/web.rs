//! A Web session: a fresh TCP connection for each request and one, the other way, for the replies to it.
//!
//! A connection is there, with both its ends, until all its data is acknowledged. What arrives for it later
//! finds nobody ([`Flow::expects`]) and is dropped. *Deviations*: 2, 3 and 5 in docs/models/web.md.

use smallvec::SmallVec;

use super::connection::Connection;
use super::{End, Flow, FlowAction, FlowReport, Snapshot, Timer};
use crate::kernel::{Span, Time};
use crate::observe::{FlowMeasures, Meter, RunningCounts, WebCounters, WebLog, WebMeasures, overlap};
use crate::routing::Notice;
use crate::traffic::{WebSession, WebStep};
use crate::transport::tcp::{Receiver, Sender, TcpParams};
use crate::wire::tcp;
use crate::wire::{ConnectionId, FlowId, Packet, Payload};

/// See the module's head.
pub(super) struct WebFlow {
    id: FlowId,
    session: WebSession,
    start: Time,
    log: WebLog,
    params: TcpParams,
    /// How far the tick counters of the client and of the server are ahead.
    tick_phases: [Span; 2],
    /// The connections that are there, in order of their numbers.
    open: Vec<OpenConnection>,
    /// What those did that are closed, and how long they were open in the window.
    closed: (WebCounters, Span),
    at_warmup: WebCounters,
    /// From the end of the warm-up to the end of the run.
    window: (Time, Time),
}

struct OpenConnection {
    opened: Time,
    tcp: Connection,
}

/// The number of the connection of a cycle's request; that of its replies follows.
fn request_number(cycle: usize) -> u32 {
    2 * cycle as u32
}

/// The end that sends the data of a connection: the client requests, the server replies.
fn sending_end(number: u32) -> End {
    if number.is_multiple_of(2) { End::Source } else { End::Destination }
}

impl WebFlow {
    /// A session that begins at `start` and has sent nothing.
    pub(super) fn new(
        id: FlowId,
        session: WebSession,
        start: Time,
        (params, tick_phases): (TcpParams, [Span; 2]),
        window: (Time, Time),
    ) -> WebFlow {
        WebFlow {
            id,
            session,
            start,
            log: WebLog::default(),
            params,
            tick_phases,
            open: Vec::new(),
            closed: (WebCounters::default(), Span::ZERO),
            at_warmup: WebCounters::default(),
            window,
        }
    }

    /// Sends what the session wants to be sent, if anything.
    fn take_step(&mut self, now: Time, step: Option<WebStep>, actions: &mut Vec<FlowAction>) {
        let request = request_number(self.session.cycles_done());
        match step {
            Some(WebStep::Request) => {
                self.log.begin(now);
                let bytes = self.session.cycle().request_bytes;
                self.open_connection(now, request, &[Some(bytes)], actions);
            }
            Some(WebStep::Replies) => {
                let lengths: SmallVec<[Option<u64>; 8]> =
                    self.session.cycle().replies_bytes.iter().copied().map(Some).collect();
                self.open_connection(now, request + 1, &lengths, actions);
            }
            None => {}
        }
    }

    /// Opens a connection and writes these numbers of bytes to it, one after the other.
    fn open_connection(
        &mut self,
        now: Time,
        number: u32,
        writes: &[Option<u64>],
        actions: &mut Vec<FlowAction>,
    ) {
        let from = sending_end(number);
        let sender = Sender::new(&self.params, self.tick_phases[usize::from(from == End::Destination)]);
        let id = ConnectionId { flow: self.id, number };
        let mut tcp = Connection::new(id, from, sender, Receiver::new(&self.params));
        tcp.open(actions);
        tcp.write(now, writes, true, actions);
        self.open.push(OpenConnection { opened: now, tcp });
    }

    /// Calls the connection of this number if it is there. If all its data is acknowledged then, both its
    /// ends go.
    fn with_connection<T>(
        &mut self,
        now: Time,
        number: u32,
        call: impl FnOnce(&mut Connection) -> T,
    ) -> Option<T> {
        let place = self.open.iter().position(|open| open.tcp.number() == number)?;
        let result = call(&mut self.open[place].tcp);
        if self.open[place].tcp.ended().is_some() {
            let gone = self.open.remove(place);
            self.closed.0 = self.closed.0.plus(gone.counters());
            self.closed.1 = self.closed.1 + overlap(self.window, gone.opened, Some(now));
        }
        Some(result)
    }

    fn connection(&self, number: u32) -> Option<&Connection> {
        self.open.iter().map(|open| &open.tcp).find(|tcp| tcp.number() == number)
    }

    fn numbers(&self) -> SmallVec<[u32; 4]> {
        self.open.iter().map(|open| open.tcp.number()).collect()
    }

    /// Data arrived on a connection: of a request, or of replies.
    fn handle_progress(&mut self, now: Time, number: u32, actions: &mut Vec<FlowAction>) {
        let Some(counters) = self.connection(number).map(|tcp| tcp.receiver.counters().clone()) else {
            return actions.push(FlowAction::Broken("data arrives on a connection that is closed"));
        };
        let request = request_number(self.session.cycles_done());
        let cycle = self.session.cycle();
        if number == request && counters.bytes_in_order >= cycle.request_bytes {
            let step = self.session.handle_request(now);
            self.take_step(now, step, actions);
        } else if number == request + 1 {
            let has_all = counters.bytes_in_order >= cycle.replies_bytes.iter().sum();
            if counters.first_data.is_some() {
                self.log.answer(now);
            }
            if has_all {
                self.log.end(now);
                self.session.handle_replies(now);
            }
        }
    }

    fn counters(&self) -> WebCounters {
        self.open.iter().map(OpenConnection::counters).fold(self.closed.0, WebCounters::plus)
    }
}

impl OpenConnection {
    fn counters(&self) -> WebCounters {
        let sender = self.tcp.sender.counters();
        WebCounters {
            connections: 1,
            delivered_bytes: self.tcp.receiver.counters().bytes_in_order,
            segments_sent: sender.segments_sent,
            retransmissions: sender.retransmissions,
            timeouts: sender.timeouts,
        }
    }
}

impl Flow for WebFlow {
    fn timers(&self) -> &'static [Timer] {
        &[Timer::Source, Timer::Sender, Timer::Receiver]
    }

    fn next_timeout(&self, timer: Timer) -> Time {
        let earliest = |of: fn(&Connection) -> Time| {
            self.open.iter().map(|open| of(&open.tcp)).fold(Time::NEVER, Time::min)
        };
        match timer {
            Timer::Source => self.session.next_timeout(),
            Timer::Sender => earliest(|tcp| tcp.sender.next_timeout()),
            Timer::Receiver => earliest(|tcp| tcp.receiver.next_timeout()),
            Timer::Reports => Time::NEVER,
        }
    }

    fn handle_timeout(&mut self, now: Time, timer: Timer, actions: &mut Vec<FlowAction>) {
        match timer {
            Timer::Source => {
                let step = self.session.handle_timeout(now);
                self.take_step(now, step, actions);
            }
            // All connections share the timers; those that are not due do nothing.
            Timer::Sender => {
                for number in self.numbers() {
                    self.with_connection(now, number, |tcp| tcp.wake_sender(now, actions));
                }
            }
            Timer::Receiver => {
                for number in self.numbers() {
                    self.with_connection(now, number, |tcp| tcp.wake_receiver(now, actions));
                }
            }
            Timer::Reports => actions.push(FlowAction::Broken("a Web session has reports")),
        }
    }

    fn handle_packet(&mut self, now: Time, packet: &Packet, _is_first: bool, actions: &mut Vec<FlowAction>) {
        let Payload::Tcp(at, segment) = &packet.payload else {
            return actions.push(FlowAction::Broken("a Web session gets a packet that is no segment"));
        };
        let met =
            self.with_connection(now, at.number, |tcp| tcp.handle_segment(now, packet, segment, actions));
        if met.is_none() {
            actions.push(FlowAction::Broken("a Web session gets a segment of a closed connection"));
        } else if matches!(segment, tcp::Segment::Data { .. }) {
            self.handle_progress(now, at.number, actions);
        }
    }

    fn handle_notice(&mut self, now: Time, at: End, notice: Notice, actions: &mut Vec<FlowAction>) {
        for number in self.numbers() {
            self.with_connection(now, number, |tcp| tcp.handle_notice(now, at, notice, actions));
        }
    }

    fn handle_notification(
        &mut self,
        now: Time,
        connection: u32,
        segment: &tcp::Segment,
        actions: &mut Vec<FlowAction>,
    ) {
        // The node may have kept its packets for longer than the connection lasted.
        self.with_connection(now, connection, |tcp| tcp.handle_notification(now, segment, actions));
    }

    fn handle_warmup_end(&mut self) {
        self.at_warmup = self.counters();
    }

    fn expects(&self, payload: &Payload) -> bool {
        !matches!(payload, Payload::Tcp(at, _) if self.connection(at.number).is_none())
    }

    fn report(&self, meter: &Meter, _end: Time) -> FlowReport {
        let open = self.open.iter().map(|open| overlap(self.window, open.opened, None));
        let open = open.fold(self.closed.1, |sum, span| sum + span);
        let measures = self.log.measures(self.window, self.start, self.session.cycles() as u64);
        let measures = FlowMeasures::Web(WebMeasures {
            hops_mean: meter.hops_mean(self.id),
            ..measures.with_connections(self.counters(), self.at_warmup, open)
        });
        let stream_bytes = self.counters().delivered_bytes - self.at_warmup.delivered_bytes;
        FlowReport { stream_bytes: Some(stream_bytes), ..FlowReport::of(measures) }
    }

    fn snapshot(&self, counts: &mut RunningCounts) -> Snapshot {
        let own = self.counters();
        counts.tcp_delivered_bytes += own.delivered_bytes;
        counts.tcp_retransmissions += own.retransmissions;
        counts.tcp_timeouts += own.timeouts;
        Snapshot::default()
    }
}
