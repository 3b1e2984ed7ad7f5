//! Flows: the contract, and the kinds of flows.
//!
//! **Contract.** A flow is one state machine for both its ends: the source that makes data, the transport's
//! two endpoints, and the accounts of what became of the data. It has no clock, no queue and no network: time
//! comes in by argument, and what it wants done comes out as [`FlowAction`]s. It knows its two ends as
//! [`End`]s, not by their nodes. The network calls one `handle_*` at a time, carries out the actions in their
//! order, and afterwards asks [`Flow::next_timeout`] for each of [`Flow::timers`]. Time never runs backwards;
//! an early call of `handle_timeout` changes no data.
//!
//! Carrying out an action can make routing notify the same flow, so [`Flow::handle_notice`] may be called
//! while later actions of an earlier call are still to be carried out. A flow is therefore in its final state
//! before it returns.
//!
//! What cannot happen unless the simulator has a defect is a [`FlowAction::Broken`], which ends the run with
//! an error.
//!
//! **Order.** When timers of several flows, or several timers of a flow, are due at the same time, flows fire
//! in the order of the scenario and timers in the order of [`Flow::timers`]. Changing it changes results.

pub mod build;
mod cbr;
mod connection;
mod lateness;
mod messages;
mod over_adp;
mod over_psp;
mod over_tcp;
mod over_udp;
mod placed;
mod results;
mod rtp;
#[cfg(test)]
mod testbench;
#[cfg(test)]
mod tests;
mod transfer;
mod web;

pub(crate) use placed::Flows;
pub(crate) use results::Books;

use crate::kernel::{Span, Time};
use crate::observe::{
    ConnectionMeasures, Delays, FlowEvent, FlowMeasures, FlowSample, MessageSample, Meter, ProgressMeasures,
    RtpMeasures, RunningCounts, SplitMeasures, SpuriousMeasures,
};
use crate::routing::Notice;
use crate::transport::tcp::Judgement;
use crate::wire::tcp;
use crate::wire::{Ecn, NodeId, Packet, Payload};

/// One of the two ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// The flow's `src` in the scenario.
    Source,
    /// Its `dst`.
    Destination,
}

impl End {
    /// The end that packets from this one go to.
    pub fn other(self) -> End {
        match self {
            End::Source => End::Destination,
            End::Destination => End::Source,
        }
    }
}

/// A deadline of a flow. Timers that are due at the same time fire in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Timer {
    /// The application makes data, or stops.
    Source,
    /// Timers of the sending endpoints.
    Sender,
    /// Timers of the receiving endpoints.
    Receiver,
    /// Reports of either end of RTP.
    Reports,
}

impl Timer {
    /// Whose timer it is, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Timer::Source => "source",
            Timer::Sender => "sender",
            Timer::Receiver => "receiver",
            Timer::Reports => "reports",
        }
    }
}

/// What a flow asks of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowAction {
    /// Originate a packet at one end, for the other.
    Send {
        /// Where it is made.
        from: End,
        /// Its length at the IP layer, in bytes.
        bytes: u32,
        /// What it carries.
        payload: Payload,
        /// The ECN field of its IP header.
        ecn: Ecn,
    },
    /// Tell routing at one end that packets to the other end will follow.
    Opened {
        /// Where the packets come from.
        at: End,
        /// Do packets come back?
        two_way: bool,
    },
    /// Tell routing at one end that no more packets to the other end will follow.
    Closed {
        /// Where the packets came from.
        at: End,
        /// Did packets come back?
        two_way: bool,
    },
    /// Tell routing at one end the retransmission time-out of a TCP sender there, because routing holds
    /// packets to the other end.
    RetransmissionTimeout {
        /// Where the sender is.
        at: End,
        /// Its time-out, back-off included.
        rto: Span,
    },
    /// Record the state of a TCP sender.
    Window {
        /// Where the sender is.
        at: End,
        /// Its congestion window, in segments.
        cwnd: f64,
        /// Its slow-start threshold, in segments.
        ssthresh: f64,
        /// Its retransmission time-out.
        rto: Span,
    },
    /// Compare a guess why a segment of a connection was lost with the true reason.
    Judged {
        /// The connection within the flow.
        connection: u32,
        /// The segment, and what an end guesses.
        judgement: Judgement,
    },
    /// Count this.
    Count(FlowEvent),
    /// An invariant does not hold: the run must end.
    Broken(&'static str),
}

/// The state machine of one flow. See the module's head.
pub trait Flow {
    /// The timers that the flow has, in the order of [`Timer`]; the same all the time.
    fn timers(&self) -> &'static [Timer];

    /// When a timer is due; [`Time::NEVER`] if it is not running. Only asked for timers that the flow has.
    fn next_timeout(&self, timer: Timer) -> Time;

    /// A timer is due.
    fn handle_timeout(&mut self, now: Time, timer: Timer, actions: &mut Vec<FlowAction>);

    /// A packet of the flow reached the end that it is addressed to; `is_first` if no copy of it did before.
    /// Not called for packets that [`Flow::expects`] refuses.
    fn handle_packet(&mut self, now: Time, packet: &Packet, is_first: bool, actions: &mut Vec<FlowAction>);

    /// Routing at one end has something to tell about the other end. Most flows do not care.
    fn handle_notice(&mut self, _now: Time, _at: End, _notice: Notice, _actions: &mut Vec<FlowAction>) {}

    /// A notification for the sender of the connection of this number was made at the sender's own node
    /// (TCP-BuS). One that comes from another node arrives by [`Flow::handle_packet`].
    fn handle_notification(
        &mut self,
        _now: Time,
        _connection: u32,
        _segment: &tcp::Segment,
        actions: &mut Vec<FlowAction>,
    ) {
        actions.push(FlowAction::Broken("a flow without TCP is notified"));
    }

    /// Does the flow want to know how strong the frames are that its destination receives? Asked at any time.
    fn wants_rx_power(&self) -> bool {
        false
    }

    /// The flow's destination has received a frame from a neighbour, at a power in W; has it brought a packet
    /// of the flow, which follows? Called only if [`Flow::wants_rx_power`].
    fn handle_rx_power(
        &mut self,
        _now: Time,
        _heard: (NodeId, f64),
        _has_packet: bool,
        _actions: &mut Vec<FlowAction>,
    ) {
    }

    /// The warm-up ends: counts so far are set aside.
    fn handle_warmup_end(&mut self) {}

    /// Is there somebody to receive a packet that carries this? False if its connection is closed.
    fn expects(&self, _payload: &Payload) -> bool {
        true
    }

    /// Is the flow one TCP connection from the source, whose outages are measured?
    fn has_outages(&self) -> bool {
        false
    }

    /// What there is to report at `end`, when the run is over; `meter` has counted the flow's events.
    fn report(&self, meter: &Meter, end: Time) -> FlowReport;

    /// The flow at this instant, for the time series. Adds the counts that its TCP connections keep, since
    /// the start of the run, to `counts`.
    fn snapshot(&self, _counts: &mut RunningCounts) -> Snapshot {
        Snapshot::default()
    }
}

/// What a flow reports when the run is over.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowReport {
    /// The measures that every flow of its kind has.
    pub measures: FlowMeasures,
    /// What is measured of the flow's only TCP connection; none if it is not one connection.
    pub connection: Option<ConnectionMeasures>,
    /// What RTP measures; none if the flow has none.
    pub rtp: Option<RtpMeasures>,
    /// What is measured of the flow's progress; none if that was not asked for.
    pub progress: Option<ProgressMeasures>,
    /// What its sender found to be sent again in vain; none if it does not look for it.
    pub spurious: Option<SpuriousMeasures>,
    /// What was acknowledged and has not arrived; none if nobody splits it.
    pub split: Option<SplitMeasures>,
    /// How long what it sends took; none if it sends no datagrams.
    pub delays: Option<Delays>,
    /// Payload bytes that byte streams delivered in the window; none if the flow sends datagrams, which
    /// `Meter` counts.
    pub stream_bytes: Option<u64>,
    /// Payload bytes that a TCP transfer sent in the window, retransmissions included.
    pub transfer_sent_bytes: u64,
}

impl FlowReport {
    /// Of a flow that has these measures and nothing else to report.
    fn of(measures: FlowMeasures) -> FlowReport {
        FlowReport {
            measures,
            connection: None,
            rtp: None,
            progress: None,
            spurious: None,
            split: None,
            delays: None,
            stream_bytes: None,
            transfer_sent_bytes: 0,
        }
    }
}

/// What the time series show of a flow at an instant.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Snapshot {
    /// Its TCP connection; none without one.
    pub tcp: Option<FlowSample>,
    /// Its messages; none without messages.
    pub messages: Option<MessageSample>,
}
