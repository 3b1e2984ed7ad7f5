//! Who sends to whom, and for which flow: the numbers that headers carry.

/// A node: its IP address, its MAC address and its index, which are the same number here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The broadcast address.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);

    /// Is this the broadcast address?
    pub fn is_broadcast(self) -> bool {
        self == NodeId::BROADCAST
    }

    /// The index into tables of nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a flow of the scenario, from zero, in the order of the scenario's list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The index into tables of flows.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One TCP connection of a flow. A transfer has one, number 0; a Web session has one for each request and one
/// for the replies to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId {
    /// The flow.
    pub flow: FlowId,
    /// Its number within the flow.
    pub number: u32,
}

impl From<FlowId> for ConnectionId {
    /// The only connection of a transfer.
    fn from(flow: FlowId) -> ConnectionId {
        ConnectionId { flow, number: 0 }
    }
}
