//! Originator messages and unicast headers of B.A.T.M.A.N. IV, as batman-adv (2024) and batmand (0.3) send
//! them.
//!
//! batman-adv stands between IP and the link layer: its messages have no IP header, and data packets carry a
//! header and an Ethernet header in front of theirs. batmand's messages are UDP datagrams, its data plain IP.

use std::sync::Arc;

use super::ids::NodeId;

/// Bytes of an originator message of batman-adv without its TVLVs, and of one of batmand.
const ADV_OGM_BYTES: u32 = 24;
const DAEMON_OGM_BYTES: u32 = 18;
/// Bytes of the header of a data packet of batman-adv, and of the Ethernet header behind it.
const UNICAST_BYTES: u32 = 10 + 14;

/// Whose messages they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// batman-adv's, each with so many bytes of TVLVs.
    Adv {
        /// Bytes of TVLVs: what the node tells of other services.
        tvlv_bytes: u16,
    },
    /// batmand's.
    Daemon,
}

/// An originator message (OGM): its originator is there, over this neighbour, this well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ogm {
    /// Who made it.
    pub origin: NodeId,
    /// From whom its sender had it; the originator itself if the sender made it.
    pub previous: NodeId,
    /// Its number among the messages of its originator; batmand's have 16 bits.
    pub seqno: u32,
    /// Hops that it may still go.
    pub ttl: u8,
    /// How well packets get from its sender to the originator, in 255ths.
    pub tq: u8,
    /// Has its sender heard it from the originator itself?
    pub is_direct: bool,
    /// Is it not from the sender's best neighbour towards the originator: an echo, not to be followed?
    pub is_not_best: bool,
}

/// Originator messages that are sent together.
#[derive(Clone, PartialEq, Debug)]
pub struct Packet {
    /// Of whose form they are.
    pub form: Form,
    /// At least one.
    pub ogms: Arc<[Ogm]>,
}

impl Form {
    /// The length of an originator message in bytes.
    pub fn ogm_bytes(self) -> u32 {
        match self {
            Form::Adv { tvlv_bytes } => ADV_OGM_BYTES + u32::from(tvlv_bytes),
            Form::Daemon => DAEMON_OGM_BYTES,
        }
    }
}

impl Packet {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        self.form.ogm_bytes() * self.ogms.len() as u32
    }
}

/// The headers of a data packet of batman-adv.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unicast {
    /// Hops that it may still go in the mesh.
    pub ttl: u8,
    /// The node to which it goes.
    pub dst: NodeId,
}

impl Unicast {
    /// Their length in bytes.
    pub const BYTES: u32 = UNICAST_BYTES;
}
