//! Messages of AODV (RFC 3561 §5).

use std::sync::Arc;

use smallvec::SmallVec;

use super::ids::NodeId;
use crate::kernel::{Span, Time};

/// Length of a route request in bytes (RFC 3561 §5.1). ns-2's is four bytes longer.
pub const RREQ_BYTES: u32 = 24;
/// Length of a route reply in bytes (RFC 3561 §5.2). ns-2's is four bytes longer.
pub const RREP_BYTES: u32 = 20;
/// Length of an acknowledgement of a route reply in bytes (RFC 3561 §5.4).
pub const RREP_ACK_BYTES: u32 = 2;
/// Bytes of the extension that names the nodes that are heard, without their addresses (RFC 3561 §9).
const EXTENSION_BYTES: u32 = 2;

/// An AODV message (RFC 3561 §5).
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// Route request, flooded.
    Rreq(Rreq),
    /// Route reply, sent hop by hop to the originator of the request.
    Rrep(Rrep),
    /// Acknowledgement of a route reply (RFC 3561 §5.4); it does not say of which.
    RrepAck,
    /// Route error.
    Rerr(Rerr),
    /// Hello: on the wire a RREP with TTL 1 (RFC 3561 §6.9).
    Hello(Hello),
}

/// Route request (RFC 3561 §5.1).
#[derive(Clone, PartialEq, Debug)]
pub struct Rreq {
    /// RREQ ID; with `origin` it names the request.
    pub id: u32,
    /// Who asks.
    pub origin: NodeId,
    /// The asker's own sequence number.
    pub origin_seqno: u32,
    /// Who is sought.
    pub dst: NodeId,
    /// The least sequence number that an answer must have; `None` is the `U` flag. ns-2 has no such flag and
    /// sends zero.
    pub dst_seqno: Option<u32>,
    /// Hops from the originator: RFC 3561 counts from zero, ns-2 from one.
    pub hop_count: u8,
    /// The `G` flag: whoever answers for the destination tells the destination too (§6.6.3).
    pub gratuitous: bool,
    /// The `D` flag: only the destination may answer.
    pub destination_only: bool,
    /// When the request was made. No field of the standard; ns-2 carries it to measure discovery latency.
    pub made: Time,
}

/// Route reply (RFC 3561 §5.2).
#[derive(Clone, PartialEq, Debug)]
pub struct Rrep {
    /// The destination to which this message gives a route.
    pub dst: NodeId,
    /// The destination's sequence number.
    pub dst_seqno: u32,
    /// Who asked, and where the message goes.
    pub origin: NodeId,
    /// Hops to the destination: RFC 3561 counts from zero, ns-2 from one.
    pub hop_count: u8,
    /// How long the route may be used.
    pub lifetime: Span,
    /// The `A` flag: whoever receives it acknowledges it.
    pub acknowledge: bool,
    /// [`Rreq::made`] of the request.
    pub made: Time,
}

/// A destination that cannot be reached any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unreachable {
    /// The destination.
    pub dst: NodeId,
    /// Its sequence number, already incremented for the break.
    pub seqno: u32,
}

/// Route error (RFC 3561 §5.3).
#[derive(Clone, PartialEq, Debug)]
pub struct Rerr {
    /// The `N` flag: the route was repaired locally and shall not be deleted (§6.12).
    pub no_delete: bool,
    /// The destinations.
    pub unreachable: SmallVec<[Unreachable; 2]>,
}

/// Hello message (RFC 3561 §6.9).
#[derive(Clone, PartialEq, Debug)]
pub struct Hello {
    /// The node that says hello.
    pub node: NodeId,
    /// Its sequence number.
    pub seqno: u32,
    /// How long its neighbours may count on it.
    pub lifetime: Span,
    /// The nodes whose hellos it hears, if its hellos say so. No field of the standard; AODV-UU has it as an
    /// extension.
    pub heard: Option<Arc<[NodeId]>>,
}

impl Rerr {
    /// Its length in bytes (RFC 3561 §5.3).
    pub fn bytes(&self) -> u32 {
        4 + 8 * self.unreachable.len() as u32
    }
}

impl Hello {
    /// Its length in bytes: that of a route reply and, if it has one, of the extension.
    pub fn bytes(&self) -> u32 {
        RREP_BYTES + self.heard.as_ref().map_or(0, |nodes| EXTENSION_BYTES + 4 * nodes.len() as u32)
    }
}

impl Message {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Message::Rreq(_) => "rreq",
            Message::Rrep(_) => "rrep",
            Message::RrepAck => "rrep-ack",
            Message::Rerr(_) => "rerr",
            Message::Hello(_) => "hello",
        }
    }
}
