//! Packets of ARP (RFC 826).

use super::ids::NodeId;

/// Length of an ARP packet for IPv4 over 802.11, in bytes (RFC 826).
pub const ARP_BYTES: u32 = 28;

/// An ARP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArpMessage {
    /// "Who has `wanted`? Tell `from`."
    Request {
        /// Who asks.
        from: NodeId,
        /// Whose address is wanted.
        wanted: NodeId,
    },
    /// "I am `from`."
    Reply {
        /// Who answers.
        from: NodeId,
        /// Who asked.
        to: NodeId,
    },
}
