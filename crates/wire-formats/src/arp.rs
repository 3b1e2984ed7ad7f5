//! ARP packets (RFC 826) for IPv4 over Ethernet addresses.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::arp::ArpMessage;

use crate::address;
use crate::llc;
use crate::reader::{Malformed, Reader, put_short};

const ETHERNET: u16 = 1;
const LENGTHS: [u8; 2] = [6, 4];
const REQUEST: u16 = 1;
const REPLY: u16 = 2;

/// Appends the packet's 28 bytes.
pub fn encode(message: ArpMessage, out: &mut Vec<u8>) {
    let (operation, from, target, target_mac) = match message {
        ArpMessage::Request { from, wanted } => (REQUEST, from, wanted, [0; 6]),
        ArpMessage::Reply { from, to } => (REPLY, from, to, address::mac(to)),
    };
    put_short(out, ETHERNET);
    put_short(out, llc::IPV4);
    out.extend_from_slice(&LENGTHS);
    put_short(out, operation);
    out.extend_from_slice(&address::mac(from));
    out.extend_from_slice(&address::ipv4(from));
    out.extend_from_slice(&target_mac);
    out.extend_from_slice(&address::ipv4(target));
}

/// The packet.
///
/// # Errors
/// When it is none, or its addresses are no nodes'.
pub fn decode(bytes: &[u8]) -> Result<ArpMessage, Malformed> {
    let mut reader = Reader::new(bytes, "ARP packet");
    if (reader.short()?, reader.short()?) != (ETHERNET, llc::IPV4) || reader.take(2)? != LENGTHS {
        return Err(Malformed::Wrong("an ARP packet of other addresses than Ethernet's and IPv4's"));
    }
    let operation = reader.short()?;
    let (from_mac, from) = (reader.mac_node()?, reader.ipv4_node()?);
    let target_mac = reader.take(6)?;
    let target = reader.ipv4_node()?;
    if from_mac != from || from.is_broadcast() || target == NodeId::BROADCAST {
        return Err(Malformed::Wrong("an ARP packet whose addresses do not match"));
    }
    match operation {
        REQUEST => Ok(ArpMessage::Request { from, wanted: target }),
        REPLY if target_mac == address::mac(target) => Ok(ArpMessage::Reply { from, to: target }),
        _ => Err(Malformed::Wrong("an ARP packet that is neither request nor reply")),
    }
}
