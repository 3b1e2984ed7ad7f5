//! Messages of TORA (Park and Corson, 1997), and the packets of IMEP that carry them.

use std::sync::Arc;

use super::ids::NodeId;
use crate::kernel::Time;

/// A reference level: what nodes whose heights come from the same event have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Level {
    /// When it was made (τ).
    pub tau: Time,
    /// The node that made it (oid); the destination for the level that it has itself.
    pub oid: NodeId,
    /// Has it been reflected (r)?
    pub reflected: bool,
}

/// The height of a node for a destination. Heights are totally ordered, and links lead from the higher node
/// to the lower one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Height {
    /// The reference level.
    pub level: Level,
    /// Its order among the nodes of this level (δ).
    pub delta: i32,
    /// The node, so that no two heights are equal.
    pub id: NodeId,
}

impl Height {
    /// The destination's own height, ZERO. Its oid is the destination, where the paper has 0, which is a
    /// node's number here.
    pub fn zero(dst: NodeId) -> Height {
        Height { level: Level { tau: Time::ZERO, oid: dst, reflected: false }, delta: 0, id: dst }
    }
}

/// A message of TORA, an object to IMEP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// Query: who has a route to the destination?
    Qry {
        /// The destination.
        dst: NodeId,
    },
    /// Update: the sender's height.
    Upd {
        /// The destination.
        dst: NodeId,
        /// The height; none for NULL.
        height: Option<Height>,
    },
    /// Clear: the destination is in another partition.
    Clr {
        /// The destination.
        dst: NodeId,
        /// The time of the reference level that came back to its maker.
        tau: Time,
        /// Its maker.
        oid: NodeId,
    },
}

impl Message {
    /// The destination that it is about.
    pub fn dst(&self) -> NodeId {
        match *self {
            Message::Qry { dst } | Message::Upd { dst, .. } | Message::Clr { dst, .. } => dst,
        }
    }

    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self {
            Message::Qry { .. } => "qry",
            Message::Upd { .. } => "upd",
            Message::Clr { .. } => "clr",
        }
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        match self {
            Message::Qry { .. } => 8,
            Message::Upd { .. } => 32,
            Message::Clr { .. } => 20,
        }
    }
}

/// That an object block has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// Who sent the block.
    pub to: NodeId,
    /// The block's number.
    pub seqno: u8,
}

/// A block of objects with its number.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// The number, which goes around.
    pub seqno: u8,
    /// The neighbours that are to acknowledge it.
    pub responders: Arc<[NodeId]>,
    /// The objects.
    pub objects: Arc<[Message]>,
}

/// A packet of IMEP; without any part it is a beacon.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Packet {
    /// Has the sender just started, so that it knows nothing from before?
    pub is_new: bool,
    /// HELLOs: neighbours that the sender hears.
    pub hellos: Arc<[NodeId]>,
    /// Acknowledgements.
    pub acks: Arc<[Ack]>,
    /// Objects.
    pub block: Option<Block>,
}

impl Packet {
    /// What recordings call it: by its first object.
    pub fn name(&self) -> &'static str {
        let object = self.block.as_ref().and_then(|block| block.objects.first());
        object.map_or("imep", Message::name)
    }

    /// Its length in bytes, without the IP header.
    pub fn bytes(&self) -> u32 {
        let list = |bytes: u32, count: usize| if count > 0 { 4 + bytes * count as u32 } else { 0 };
        let block = self.block.as_ref().map_or(0, |block| {
            let objects: u32 = block.objects.iter().map(|object| 2 + object.bytes()).sum();
            4 + objects + 4 * block.responders.len() as u32
        });
        4 + list(4, self.hellos.len()) + list(8, self.acks.len()) + block
    }
}
