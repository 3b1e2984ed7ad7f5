//! Messages of ADV (Dyer 2002, chapter 3).

use std::sync::Arc;

use super::ids::NodeId;

/// Length of a connection control packet in bytes (assumed).
pub const FLOOD_BYTES: u32 = 20;
/// Type, kind and number of entries of an update (assumed).
const UPDATE_HEADER_BYTES: u32 = 4;
/// Table 3.3.
const ENTRY_BYTES: u32 = 8;

/// The metric of a destination that cannot be reached.
pub const INFINITE: u8 = u8::MAX;

/// An ADV message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// A routing update, broadcast to the neighbours.
    Update(Update),
    /// News of a connection, flooded through the network.
    Flood(Flood),
}

/// A routing update (3.2.4).
#[derive(Clone, PartialEq, Debug)]
pub struct Update {
    /// A full update, or a partial one.
    pub full: bool,
    /// What it says.
    pub entries: Arc<[Entry]>,
}

/// One destination in an update (Table 3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The destination.
    pub dst: NodeId,
    /// Its sequence number: even if the destination gave it out, odd if the route broke.
    pub seqno: u32,
    /// Hops from the sender of the update to it; [`INFINITE`] if there is no route.
    pub metric: u8,
    /// Is it an active receiver?
    pub is_receiver: bool,
    /// How much the sender of the update wants to hear of it.
    pub expected_response: Response,
}

/// The priority with which a node that receives an update entry should respond (3.2.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Response {
    /// Not at all.
    Zero,
    /// The sender forwards to the destination, in a network of low speed.
    Low,
    /// The sender forwards to the destination, in a network of high speed.
    Medium,
    /// Packets wait for a route.
    High,
}

/// What a flood announces (3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloodKind {
    /// A source opens a connection.
    InitConnection,
    /// A destination has become an active receiver.
    ReceiverAlert,
    /// A source has closed its connection.
    EndConnection,
    /// A destination is no active receiver any more.
    NonReceiverAlert,
}

/// A connection control packet (3.1). Its format is not given; this is one that suffices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood {
    /// What it announces.
    pub kind: FloodKind,
    /// Who announces it.
    pub origin: NodeId,
    /// The originator's sequence number.
    pub seqno: u32,
    /// With `origin` the name of the flood.
    pub id: u32,
    /// The destination of the connection.
    pub receiver: NodeId,
    /// The connection is two-way: what is said of the receiver holds for the source too (3.5).
    pub two_way: bool,
    /// Hops from the originator to the sender of this copy.
    pub hops: u8,
}

impl Message {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Message::Update(_) => "update",
            Message::Flood(flood) => flood.kind.name(),
        }
    }
}

impl Update {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        UPDATE_HEADER_BYTES + ENTRY_BYTES * self.entries.len() as u32
    }
}

impl FloodKind {
    /// What recordings call a flood of this kind.
    pub fn name(self) -> &'static str {
        match self {
            FloodKind::InitConnection => "init-connection",
            FloodKind::ReceiverAlert => "receiver-alert",
            FloodKind::EndConnection => "end-connection",
            FloodKind::NonReceiverAlert => "non-receiver-alert",
        }
    }
}
