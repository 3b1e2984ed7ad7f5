//! Messages of CEDAR, and the header of its data. No source gives their formats.

use std::sync::Arc;

use super::ids::NodeId;

/// Nodes in the order in which they are crossed, or in that of their numbers.
pub type Nodes = Arc<[NodeId]>;

/// A core node that the sender of a beacon knows, over at most one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Near {
    /// The core node.
    pub core: NodeId,
    /// The neighbour of the sender over which it is; itself if it is a neighbour.
    pub over: NodeId,
}

/// What a node tells its neighbours.
#[derive(Clone, PartialEq, Debug)]
pub struct Beacon {
    /// How many nodes it dominates, itself included: its effective degree.
    pub effective_degree: u16,
    /// Whom it has chosen to dominate it.
    pub dominator: Option<NodeId>,
    /// Neighbours that hear it: their number is its degree.
    pub neighbours: Nodes,
    /// Nodes that it hears and that do not hear it, as far as it knows.
    pub heard: Nodes,
    /// Core nodes up to two hops away.
    pub near: Arc<[Near]>,
}

/// Who seeks whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// The source of data.
    pub source: NodeId,
    /// The destination.
    pub target: NodeId,
    /// The number of the source's request.
    pub id: u32,
}

/// What a message says.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// To all neighbours.
    Beacon(Beacon),
    /// The sender has chosen the receiver to dominate it.
    Join,
    /// A source asks its dominator for a route.
    Ask(Question),
    /// The core broadcast that seeks the target's dominator.
    Find {
        /// What is sought.
        question: Question,
        /// The core nodes that it has crossed, the source's dominator first.
        core_path: Nodes,
        /// Core nodes near the last of them to which it, or another before it, has sent the message.
        served: Nodes,
    },
    /// The target's dominator tells the source's the core path between them.
    Found {
        /// What was sought.
        question: Question,
        /// All of it, the source's dominator first.
        core_path: Nodes,
    },
    /// The receiver shall continue the route.
    Build {
        /// What was sought.
        question: Question,
        /// The core path.
        core_path: Nodes,
        /// The route so far, from the source to the receiver.
        route: Nodes,
    },
    /// The route, told to its source.
    Reply {
        /// What was sought.
        question: Question,
        /// From the source to the target.
        route: Nodes,
    },
    /// A link that has broken, told to the source of a packet that was to cross it.
    Error {
        /// Its ends, the one that tells it first.
        link: [NodeId; 2],
    },
}

/// A CEDAR message.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// The nodes that it is still to cross, once for each of those to which it goes; an empty list is the
    /// receiver itself. A beacon has none.
    pub to: Arc<[Nodes]>,
    /// What it says.
    pub content: Content,
}

/// The header of a data packet.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceRoute {
    /// All nodes of the route, from the one that chose it to the destination.
    pub route: Nodes,
    /// The index of the node that sends the packet.
    pub at: u8,
}

impl SourceRoute {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        4 + 4 * self.route.len() as u32
    }
}

impl Message {
    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        match self.content {
            Content::Beacon(_) => "beacon",
            Content::Join => "join",
            Content::Ask(_) => "ask",
            Content::Find { .. } => "find",
            Content::Found { .. } => "found",
            Content::Build { .. } => "build",
            Content::Reply { .. } => "rrep",
            Content::Error { .. } => "rerr",
        }
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        const QUESTION: u32 = 12;
        let list = |length: usize| 2 + 4 * length as u32;
        let to: u32 = self.to.iter().map(|path| list(path.len())).sum();
        let content = match &self.content {
            Content::Beacon(Beacon { neighbours, heard, near, .. }) => {
                8 + list(neighbours.len()) + list(heard.len()) + list(2 * near.len())
            }
            Content::Join => 0,
            Content::Ask(_) => QUESTION,
            Content::Find { core_path, served, .. } => QUESTION + list(core_path.len()) + list(served.len()),
            Content::Found { core_path, .. } => QUESTION + list(core_path.len()),
            Content::Build { core_path, route, .. } => QUESTION + list(core_path.len()) + list(route.len()),
            Content::Reply { route, .. } => QUESTION + list(route.len()),
            Content::Error { .. } => 8,
        };
        4 + to + content
    }
}
