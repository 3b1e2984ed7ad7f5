//! Addresses: those of nodes follow from their numbers.
//!
//! Node *n* has the IP address 10.0.0.0 + *n* + 1, so node 0 is 10.0.0.1 and node 299 is 10.0.1.44. Its MAC
//! address is 02:00 and the four bytes of its IP address; 02 marks it as locally administered.

use manetlab_core::wire::NodeId;

use crate::reader::{Malformed, Reader};

/// The network's name for all stations of this IBSS: locally administered, and then "manet" in ASCII.
pub const BSSID: [u8; 6] = *b"\x02manet";

/// 10.0.0.0, of which all nodes' addresses are.
const NETWORK: u32 = 10 << 24;
/// The largest number of a node that has an address: 10.255.255.254.
pub const LAST_NODE: u32 = 0x00ff_fffd;

/// The node's IP address; 255.255.255.255 for broadcast.
pub fn ipv4(node: NodeId) -> [u8; 4] {
    if node.is_broadcast() { [255; 4] } else { (NETWORK + 1 + node.0).to_be_bytes() }
}

/// The node's MAC address; all ones for broadcast.
pub fn mac(node: NodeId) -> [u8; 6] {
    let [a, b, c, d] = ipv4(node);
    if node.is_broadcast() { [255; 6] } else { [2, 0, a, b, c, d] }
}

/// The node with this IP address, or broadcast.
///
/// # Errors
/// When no node has it.
pub fn node_of_ipv4(address: [u8; 4]) -> Result<NodeId, Malformed> {
    if address == [255; 4] {
        return Ok(NodeId::BROADCAST);
    }
    let number = u32::from_be_bytes(address).checked_sub(NETWORK + 1).filter(|&number| number <= LAST_NODE);
    number.map(NodeId).ok_or(Malformed::Wrong("an IP address that is no node's"))
}

/// The node with this MAC address, or broadcast.
///
/// # Errors
/// When no node has it.
pub fn node_of_mac(address: [u8; 6]) -> Result<NodeId, Malformed> {
    match address {
        [255, 255, 255, 255, 255, 255] => Ok(NodeId::BROADCAST),
        [2, 0, 255, 255, 255, 255] => Err(Malformed::Wrong("a MAC address that is no node's")),
        [2, 0, a, b, c, d] => node_of_ipv4([a, b, c, d]),
        _ => Err(Malformed::Wrong("a MAC address that is no node's")),
    }
}

impl Reader<'_> {
    /// The node whose IP address comes next.
    pub(crate) fn ipv4_node(&mut self) -> Result<NodeId, Malformed> {
        node_of_ipv4(self.word()?.to_be_bytes())
    }

    /// The node whose MAC address comes next.
    pub(crate) fn mac_node(&mut self) -> Result<NodeId, Malformed> {
        let bytes = self.take(6)?;
        node_of_mac([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]])
    }
}
