//! Flows that are Web sessions: a fresh TCP connection for each request and one, the other way, for the replies to it.
//!
//! A connection is there, with both its ends, until all its data is acknowledged. What arrives for it later finds
//! nobody and is dropped.

use crate::kernel::{Slot, Span, Time};
use crate::observe::{FlowMeasures, WebCounters, WebLog, WebMeasures, overlap};
use crate::routing::ConnectionEvent;
use crate::scenario::Scenario;
use crate::traffic::{WebSession, WebStep};
use crate::transport::tcp::{Receiver, Sender, TcpParams};
use crate::wire::{ConnectionId, FlowId, NodeId};

use super::Network;
use super::flows::{TcpFlow, Transport};

/// A Web session at work.
pub(super) struct WebFlow {
    session: WebSession,
    log: WebLog,
    params: TcpParams,
    /// How far the tick counters of the client and of the server are ahead.
    tick_phases: [Span; 2],
    sender_slot: Slot,
    receiver_slot: Slot,
    /// The connections that are there, in order of their numbers.
    open: Vec<OpenConnection>,
    /// What those did that are closed, and how long they were open in the window.
    closed: (WebCounters, Span),
    at_warmup: WebCounters,
}

struct OpenConnection {
    number: u32,
    opened: Time,
    tcp: TcpFlow,
}

/// The number of the connection of a cycle's request; that of its replies follows.
fn request_number(cycle: usize) -> u32 {
    2 * cycle as u32
}

/// Is this a connection from the server to the client?
pub(super) fn is_reply(number: u32) -> bool {
    !number.is_multiple_of(2)
}

impl WebFlow {
    /// A session that has sent nothing; all its senders share a slot of the event queue, and all its receivers.
    pub(super) fn new(
        session: WebSession,
        params: TcpParams,
        tick_phases: [Span; 2],
        (sender_slot, receiver_slot): (Slot, Slot),
    ) -> WebFlow {
        WebFlow {
            session,
            log: WebLog::default(),
            params,
            tick_phases,
            sender_slot,
            receiver_slot,
            open: Vec::new(),
            closed: (WebCounters::default(), Span::ZERO),
            at_warmup: WebCounters::default(),
        }
    }

    /// When the client has thought enough, or the server has served.
    pub(super) fn next_timeout(&self) -> Time {
        self.session.next_timeout()
    }

    pub(super) fn tcp(&self, number: u32) -> Option<&TcpFlow> {
        self.open.iter().find(|open| open.number == number).map(|open| &open.tcp)
    }

    pub(super) fn tcp_mut(&mut self, number: u32) -> Option<&mut TcpFlow> {
        self.open.iter_mut().find(|open| open.number == number).map(|open| &mut open.tcp)
    }

    /// The connections that are there.
    pub(super) fn connections(&self) -> impl Iterator<Item = (u32, &TcpFlow)> {
        self.open.iter().map(|open| (open.number, &open.tcp))
    }

    /// The warm-up ends: counters so far are set aside.
    pub(super) fn mark_warmup(&mut self) {
        self.at_warmup = self.counters();
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

impl Network {
    /// The client of a session has thought enough, or its server has served.
    pub(super) fn wake_web(&mut self, id: u32) {
        let now = self.now;
        let Transport::Web(web) = &mut self.flows[id as usize].transport else { return };
        let step = web.session.handle_timeout(now);
        self.take_web_step(id, step);
    }

    /// Sends what the session wants to be sent, if anything, and sets its deadline.
    fn take_web_step(&mut self, id: u32, step: Option<WebStep>) {
        let now = self.now;
        let flow = &mut self.flows[id as usize];
        let Transport::Web(web) = &mut flow.transport else { return };
        self.agenda.set(flow.source_slot, web.session.next_timeout());
        let request = request_number(web.session.cycles_done());
        match step {
            Some(WebStep::Request) => {
                web.log.begin(now);
                let bytes = web.session.cycle().request_bytes;
                self.open_connection(id, request, &[bytes]);
            }
            Some(WebStep::Replies) => {
                let lengths = web.session.cycle().replies_bytes.clone();
                self.open_connection(id, request + 1, &lengths);
            }
            None => {}
        }
    }

    /// Opens a connection of a session and writes so many bytes at a time to it.
    fn open_connection(&mut self, id: u32, number: u32, writes: &[u64]) {
        let now = self.now;
        let flow = &mut self.flows[id as usize];
        let (src, dst) = flow.ends(number);
        let Transport::Web(web) = &mut flow.transport else { return };
        let sender = Sender::new(&web.params, web.tick_phases[usize::from(is_reply(number))]);
        let slots = (web.sender_slot, web.receiver_slot);
        let tcp = TcpFlow { started: true, ..TcpFlow::new(sender, Receiver::new(&web.params), slots, None) };
        web.open.push(OpenConnection { number, opened: now, tcp });
        self.tell_routing(src, ConnectionEvent::Opened { dst, two_way: true });
        self.with_sender(ConnectionId { flow: FlowId(id), number }, |sender, out| {
            for &bytes in writes {
                sender.handle_write(now, Some(bytes), out);
            }
        });
    }

    /// All data of a connection is acknowledged: both its ends go.
    pub(super) fn close_connection(&mut self, at: ConnectionId) {
        let (now, window) = (self.now, self.window());
        let Transport::Web(web) = &mut self.flows[at.flow.index()].transport else { return };
        let Some(place) = web.open.iter().position(|open| open.number == at.number) else { return };
        let gone = web.open.remove(place);
        web.closed.0 = web.closed.0.plus(gone.counters());
        web.closed.1 = web.closed.1 + overlap(window, gone.opened, Some(now));
        let (slot, next) = (web.receiver_slot, next_receiver(web.connections()));
        self.agenda.set(slot, next);
    }

    /// Data of a session arrived: of a request, or of replies.
    pub(super) fn web_progress(&mut self, at: ConnectionId) {
        let now = self.now;
        let Transport::Web(web) = &mut self.flows[at.flow.index()].transport else { return };
        let request = request_number(web.session.cycles_done());
        let Some(counters) = web.tcp(at.number).map(|tcp| tcp.receiver.counters().clone()) else { return };
        let cycle = web.session.cycle();
        if at.number == request && counters.bytes_in_order >= cycle.request_bytes {
            let step = web.session.handle_request(now);
            self.take_web_step(at.flow.0, step);
        } else if at.number == request + 1 {
            let is_all = counters.bytes_in_order >= cycle.replies_bytes.iter().sum();
            if counters.first_data.is_some() {
                web.log.answer(now);
            }
            if is_all {
                web.log.end(now);
                web.session.handle_replies(now);
                self.take_web_step(at.flow.0, None);
            }
        }
    }

    /// Did this segment come for a connection that is there no more?
    pub(super) fn is_closed(&self, at: ConnectionId) -> bool {
        matches!(&self.flows[at.flow.index()].transport, Transport::Web(web) if web.tcp(at.number).is_none())
    }

    /// The measures of a session.
    pub(super) fn web_measures(&self, id: u32, web: &WebFlow, scenario: &Scenario) -> FlowMeasures {
        let window = self.window();
        let start = Time::from_secs(scenario.flows[id as usize].start_s);
        let open = web.open.iter().map(|open| overlap(window, open.opened, None));
        let open = open.fold(web.closed.1, |sum, span| sum + span);
        let measures = web.log.measures(window, start, web.session.cycles() as u64);
        FlowMeasures::Web(WebMeasures {
            hops_mean: self.meter.hops_mean(FlowId(id)),
            ..measures.with_connections(web.counters(), web.at_warmup, open)
        })
    }

    fn window(&self) -> (Time, Time) {
        (self.meter.warmup(), self.end)
    }
}

/// When the first of these connections' senders wakes.
pub(super) fn next_sender<'a>(connections: impl Iterator<Item = (u32, &'a TcpFlow)>) -> Time {
    connections.map(|(_, tcp)| tcp.sender.next_timeout()).fold(Time::NEVER, Time::min)
}

/// When the first of these connections' receivers wakes.
pub(super) fn next_receiver<'a>(connections: impl Iterator<Item = (u32, &'a TcpFlow)>) -> Time {
    connections.map(|(_, tcp)| tcp.receiver.next_timeout()).fold(Time::NEVER, Time::min)
}

/// The ends of a connection of a flow between these nodes.
pub(super) fn directed(src: NodeId, dst: NodeId, is_reply: bool) -> (NodeId, NodeId) {
    if is_reply { (dst, src) } else { (src, dst) }
}
