//! UDP headers (RFC 768).

use manetlab_core::wire::NodeId;

use crate::checksum;
use crate::ipv4::protocol;
use crate::reader::{Malformed, Reader, put_short};

/// Port of AODV (RFC 3561 §11).
pub const AODV_PORT: u16 = 654;
/// Port of Babel (RFC 8966 §5).
pub const BABEL_PORT: u16 = 6696;
/// Port of batmand.
pub const BATMAN_PORT: u16 = 4305;
/// Port of DYMO-FAU.
pub const DYMO_PORT: u16 = 653;
/// Port of OLSR (RFC 3626 §3.1).
pub const OLSR_PORT: u16 = 698;
/// Port of RIP (RFC 2453 §3.6).
pub const RIP_PORT: u16 = 520;
/// Port of RTP, and of RTCP after it (RFC 3551 §8).
pub const RTP_PORT: u16 = 5004;
/// Port of RTCP.
pub const RTCP_PORT: u16 = RTP_PORT + 1;

/// Source and destination port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// The source port.
    pub src: u16,
    /// The destination port.
    pub dst: u16,
}

/// Appends a header to `out` with what `content` appends after it. Length and checksum are those of both.
pub fn encode(src: NodeId, dst: NodeId, ports: Ports, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    put_short(out, ports.src);
    put_short(out, ports.dst);
    put_short(out, 0);
    put_short(out, 0);
    content(out);
    let length = (out.len() - start) as u16;
    out[start + 4..start + 6].copy_from_slice(&length.to_be_bytes());
    // RFC 768: a checksum that is zero is sent as all ones; zero stands for none.
    let sum = match checksum::with_pseudo_header(src, dst, protocol::UDP, &out[start..]) {
        0 => 0xffff,
        sum => sum,
    };
    out[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
}

/// The ports and the content of a datagram between these nodes.
///
/// # Errors
/// When the length or the checksum is wrong.
pub fn decode(src: NodeId, dst: NodeId, bytes: &[u8]) -> Result<(Ports, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "UDP header");
    let ports = Ports { src: reader.short()?, dst: reader.short()? };
    let length = usize::from(reader.short()?);
    reader.short()?;
    let datagram = bytes.get(..length).filter(|datagram| datagram.len() >= 8);
    let datagram = datagram.ok_or(Malformed::Short("UDP datagram"))?;
    if checksum::with_pseudo_header(src, dst, protocol::UDP, datagram) != 0 {
        return Err(Malformed::Wrong("a UDP datagram with a wrong checksum"));
    }
    Ok((ports, &datagram[8..]))
}
