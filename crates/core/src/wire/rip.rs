//! Messages of RIP version 2 (RFC 2453 §4), in UDP datagrams.

use std::sync::Arc;

use super::ids::NodeId;

/// Bytes of the header and of one entry (RFC 2453 §4).
const HEADER_BYTES: u32 = 4;
const ENTRY_BYTES: u32 = 20;
/// The most entries of a message (RFC 2453 §3.6).
pub const MAX_ENTRIES: usize = 25;
/// The metric of what cannot be reached (RFC 2453 §3.4.2).
pub const INFINITY: u8 = 16;

/// A route in a response: each node is a network of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The destination.
    pub dst: NodeId,
    /// The field *next hop*; none stands for the sender.
    pub next_hop: Option<NodeId>,
    /// From 1 to [`INFINITY`].
    pub metric: u8,
}

/// A message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// Asks for the whole table (RFC 2453 §3.9.1).
    Request,
    /// Routes of the sender, at most [`MAX_ENTRIES`].
    Response(Arc<[Entry]>),
}

impl Message {
    /// Its length in bytes. A request has one entry, of no destination.
    pub fn bytes(&self) -> u32 {
        let entries = match self {
            Message::Request => 1,
            Message::Response(entries) => entries.len() as u32,
        };
        HEADER_BYTES + ENTRY_BYTES * entries
    }

    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Message::Request => "request",
            Message::Response(_) => "response",
        }
    }
}
