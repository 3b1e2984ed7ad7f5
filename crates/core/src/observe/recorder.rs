//! What a run tells a recorder, event by event, while it goes on.
//!
//! The network lends each event to a [`Recorder`], with the frame or packet that it is about; what the
//! recorder does with them (writing a recording, a capture, a trace) is its own business. Recording changes
//! no result.

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Notice;
use crate::scenario::Scenario;
use crate::wire::arp::ArpMessage;
use crate::wire::mac::Frame;
use crate::wire::{FlowId, NodeId, Packet};

/// Takes the events of a run.
pub trait Recorder {
    /// Before the first event.
    fn begin(&mut self, _scenario: &Scenario) {}

    /// Something happened at `node`. Events come in the order in which the simulator carries them out, which
    /// is that of time, except that what several nodes do with the first bit of one frame may be some
    /// nanoseconds out of order.
    fn record(&mut self, time: Time, node: NodeId, event: &Event<'_>);

    /// The run has reached its end, at `time`. Not called if it breaks off.
    fn end(&mut self, _time: Time) {}

    /// The destinations whose next hops the recorder wants to know, in ascending order: each costs a look at
    /// each node's table whenever that may have changed.
    fn destinations(&self, scenario: &Scenario) -> Vec<NodeId> {
        flow_ends(scenario)
    }
}

/// The ends of all flows, in ascending order.
pub fn flow_ends(scenario: &Scenario) -> Vec<NodeId> {
    let mut ends: Vec<NodeId> =
        scenario.flows.iter().flat_map(|flow| [NodeId(flow.src), NodeId(flow.dst)]).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Something that happened, as a run lends it.
#[derive(Clone, PartialEq, Debug)]
pub enum Event<'a> {
    /// The transmission of a frame starts.
    Frame(Sending<'a>),
    /// It is known what became of a frame at all its receivers; the node is the transmitter. A frame that
    /// nobody can receive comes here at once, others with their last bit.
    Received {
        /// The frame's number.
        number: u64,
        /// The frame.
        frame: &'a Frame,
        /// Its receivers: of a unicast frame the one that it is addressed to, whatever happened there; of a
        /// broadcast all at which it was strong enough to be decoded.
        receptions: &'a [Reception],
    },
    /// A transport endpoint made a packet.
    Made(&'a Packet),
    /// IP handed a packet down to ARP and the interface queue, for this next hop or all.
    Sent(&'a Packet, NodeId),
    /// A packet came up to routing, from this neighbour.
    Arrived(&'a Packet, NodeId),
    /// A packet reached its transport endpoint.
    Delivered(&'a Packet),
    /// The interface queue marked a packet for congestion.
    Marked(&'a Packet),
    /// A node keeps a packet: for TCP-BuS, or because its flow is throttled.
    Kept(&'a Packet),
    /// A packet was dropped.
    Dropped(&'a Packet, DropReason),
    /// A packet of ARP was dropped.
    ArpDropped(ArpMessage, DropReason),
    /// So many packets wait in the interface queue from now on.
    Queue(u32),
    /// Routing has another next hop to a destination than before, or a route of another length.
    Route {
        /// The destination.
        dst: NodeId,
        /// The next hop; none if there is no route any more.
        next_hop: Option<NodeId>,
        /// The links to the destination; none if the protocol does not know.
        hops: Option<u32>,
    },
    /// A TCP sender's state after an input.
    Window {
        /// The flow.
        flow: FlowId,
        /// Congestion window in segments.
        cwnd: f64,
        /// Slow-start threshold in segments.
        ssthresh: f64,
        /// Retransmission time-out.
        rto: Span,
    },
    /// The source of a flow has learned another rate.
    Share {
        /// The flow.
        flow: FlowId,
        /// Length of its path.
        hops: u8,
        /// Its share.
        share: f64,
        /// The rate, bit/s of payload.
        rate_bps: f64,
    },
    /// Routing told the other layers something.
    Notice(Notice),
    /// A flow begins, ends or meets a retransmission time-out; the node is its source.
    Flow(FlowId, FlowStep),
}

/// A frame that goes on the air.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sending<'a> {
    /// Its number: all frames of a run count from 0, in the order in which they start.
    pub number: u64,
    /// The frame.
    pub frame: &'a Frame,
    /// Its rate in bit/s.
    pub rate_bps: f64,
    /// What it is on the air for: what it carries itself, or what the data frame of its exchange carries.
    /// None for ARP.
    pub packet: Option<PacketRef>,
}

/// Which packet is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketRef {
    /// The packet's number.
    pub uid: u64,
    /// The flow that it belongs to, if it is traffic.
    pub flow: Option<FlowId>,
}

impl From<&Packet> for PacketRef {
    fn from(packet: &Packet) -> PacketRef {
        PacketRef { uid: packet.uid, flow: packet.flow() }
    }
}

/// What became of a frame at one of its receivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reception {
    /// The receiver.
    pub node: NodeId,
    /// What became of it.
    pub outcome: Reach,
    /// When its last bit arrived, or when it was lost.
    pub at: Time,
}

/// How a frame fared at a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// It arrived intact.
    Received,
    /// Another frame destroyed it, or a stronger one occupied the receiver.
    Collided,
    /// The receiver was transmitting.
    Deaf,
    /// The receiver sensed it and could not decode it: it was too weak, or bits were wrong.
    TooWeak,
    /// The receiver did not even sense it.
    OutOfReach,
}

impl Reach {
    /// All of them.
    pub const ALL: [Reach; 5] =
        [Reach::Received, Reach::Collided, Reach::Deaf, Reach::TooWeak, Reach::OutOfReach];

    /// What recordings call it.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Received => "received",
            Reach::Collided => "collided",
            Reach::Deaf => "deaf",
            Reach::TooWeak => "too-weak",
            Reach::OutOfReach => "out-of-reach",
        }
    }
}

/// What happens to a flow as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowStep {
    /// It begins.
    Opened,
    /// It is over.
    Closed,
    /// Its retransmission timer expired.
    TimedOut,
}

impl FlowStep {
    /// All of them.
    pub const ALL: [FlowStep; 3] = [FlowStep::Opened, FlowStep::Closed, FlowStep::TimedOut];

    /// What recordings call it.
    pub fn name(self) -> &'static str {
        match self {
            FlowStep::Opened => "opened",
            FlowStep::Closed => "closed",
            FlowStep::TimedOut => "timed-out",
        }
    }
}

/// Several recorders as one.
pub struct Recorders<'a>(pub Vec<&'a mut dyn Recorder>);

impl Recorder for Recorders<'_> {
    fn begin(&mut self, scenario: &Scenario) {
        self.0.iter_mut().for_each(|each| each.begin(scenario));
    }

    fn record(&mut self, time: Time, node: NodeId, event: &Event<'_>) {
        self.0.iter_mut().for_each(|each| each.record(time, node, event));
    }

    fn end(&mut self, time: Time) {
        self.0.iter_mut().for_each(|each| each.end(time));
    }

    fn destinations(&self, scenario: &Scenario) -> Vec<NodeId> {
        let mut all: Vec<NodeId> = self.0.iter().flat_map(|each| each.destinations(scenario)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
