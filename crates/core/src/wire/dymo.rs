//! Messages of DYMO (draft-ietf-manet-dymo, later AODVv2).

use std::sync::Arc;

use super::ids::NodeId;

/// A node of a path with its sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// The node.
    pub node: NodeId,
    /// Its own number, from 1; an unreachable node's last known one, or 0 if none is known.
    pub seqno: u16,
}

/// A routing message: a request or a reply. Both make routes to all nodes of their path.
#[derive(Clone, PartialEq, Debug)]
pub struct RouteMessage {
    /// Links that it may still cross.
    pub hop_limit: u8,
    /// Links that it has crossed, that to the receiver not among them.
    pub hop_count: u8,
    /// Whom a request seeks, and to whom a reply goes.
    pub target: NodeId,
    /// The number of the target that the originator knows; 0 if it knows none, or does not say.
    pub target_seqno: u16,
    /// Its originator, and then, with path accumulation, every node that passed it on.
    pub path: Arc<[Known]>,
}

impl RouteMessage {
    /// Who made it; a message without a path has none.
    pub fn origin(&self) -> Option<Known> {
        self.path.first().copied()
    }
}

/// How long the parts of a message are, in bytes: all but its nodes, and each node. The drafts differ in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// All but the nodes.
    pub header: u8,
    /// Each node.
    pub node: u8,
}

/// What a message says.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// Route request, flooded.
    Rreq(RouteMessage),
    /// Route reply, sent hop by hop to the originator of the request.
    Rrep(RouteMessage),
    /// Route error: nodes that cannot be reached any more.
    Rerr {
        /// Links that it may still cross.
        hop_limit: u8,
        /// The nodes.
        unreachable: Arc<[Known]>,
    },
    /// The sender is here, as in AODV (RFC 3561 §6.9).
    Hello(Known),
}

/// A DYMO message.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// How long its parts are.
    pub lengths: Lengths,
    /// What it says.
    pub content: Content,
}

impl Message {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self.content {
            Content::Rreq(_) => "rreq",
            Content::Rrep(_) => "rrep",
            Content::Rerr { .. } => "rerr",
            Content::Hello(_) => "hello",
        }
    }

    /// Its length in bytes, without UDP's header.
    pub fn bytes(&self) -> u32 {
        let nodes = match &self.content {
            Content::Rreq(route) | Content::Rrep(route) => route.path.len(),
            Content::Rerr { unreachable, .. } => unreachable.len(),
            Content::Hello(_) => 1,
        };
        u32::from(self.lengths.header) + u32::from(self.lengths.node) * nodes as u32
    }
}
