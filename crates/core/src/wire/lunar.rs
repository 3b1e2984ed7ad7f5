//! Labels and messages of LUNAR (Tschudin, Gold, Rensfelt, Wibling, *LUNAR: a Lightweight Underlay Network
//! Ad-hoc Routing Protocol and Implementation*, NEW2AN 2004).
//!
//! LUNAR stands between IP and the link layer: its messages have no IP header, and data packets carry a label
//! in front of theirs. The draft's formats could not be read (docs/models/lunar.md), so that all lengths are
//! parameters of the protocol.

use super::ids::NodeId;

/// What a packet's first bytes say: where the node that receives it looks up what to do with it. It has a
/// meaning at one node only, the one that drew it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Selector(pub u64);

/// The header of a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label {
    /// The selector, one of the node that the packet is sent to.
    pub selector: Selector,
    /// The header's length in bytes.
    pub bytes: u32,
}

/// The name of a request: the same in all copies of one flood.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Series {
    /// Who asks.
    pub origin: NodeId,
    /// How many times it has asked.
    pub number: u32,
}

/// A LUNAR message, an XRP command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// Who has this address? A broadcast.
    Rreq(Rreq),
    /// The answer, to one neighbour.
    Rrep(Rrep),
}

/// A resolution request. The sender's MAC address, to which the answer goes, is that of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rreq {
    /// The request's name.
    pub series: Series,
    /// The address that is asked for.
    pub target: NodeId,
    /// The selector for answers, at the node that sends this copy.
    pub reply_to: Selector,
    /// Links that this copy may cross, the one to its receiver included.
    pub hops_left: u8,
}

/// A resolution reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rrep {
    /// The name of the request that it answers.
    pub series: Series,
    /// A selector for answers, of the node that it is sent to.
    pub reply_to: Selector,
    /// The selector for data, at the node that sends it.
    pub forward: Selector,
}

impl Message {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Message::Rreq(_) => "rreq",
            Message::Rrep(_) => "rrep",
        }
    }
}
