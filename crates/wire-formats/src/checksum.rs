//! The Internet checksum (RFC 1071).

use manetlab_core::wire::NodeId;

use crate::address;

/// The checksum of `bytes`; of a header that includes its checksum it is zero.
pub(crate) fn of(bytes: &[u8]) -> u16 {
    finish(add(0, bytes))
}

/// The checksum of a UDP datagram or a TCP segment with its pseudo-header (RFC 768, RFC 9293 §3.1).
pub(crate) fn with_pseudo_header(src: NodeId, dst: NodeId, protocol: u8, bytes: &[u8]) -> u16 {
    let sum = add(add(0, &address::ipv4(src)), &address::ipv4(dst));
    finish(add(sum + u64::from(protocol) + bytes.len() as u64, bytes))
}

fn add(sum: u64, bytes: &[u8]) -> u64 {
    let pairs = bytes.chunks(2);
    sum + pairs
        .map(|pair| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u64::from(low)))
        .sum::<u64>()
}

fn finish(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
