//! LLC and SNAP header (IEEE 802.2, RFC 1042): it says what a data frame carries.

use crate::reader::{Malformed, Reader, put_short};

/// Length in bytes.
pub const BYTES: usize = 8;
/// Destination and source SAP of SNAP, unnumbered information, and the organisation code zero.
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of ARP.
pub const ARP: u16 = 0x0806;
/// EtherType of batman-adv.
pub const BATMAN: u16 = 0x4305;
/// EtherType for experiments (IEEE 802, Local Experimental EtherType 1): this project's own formats.
pub const EXPERIMENTAL: u16 = 0x88b5;

/// Appends the header of a frame that carries `ether_type`.
pub fn encode(ether_type: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&SNAP);
    put_short(out, ether_type);
}

/// The EtherType, and what follows.
///
/// # Errors
/// When it is not such a header.
pub fn decode(bytes: &[u8]) -> Result<(u16, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "LLC header");
    if reader.take(6)? != SNAP {
        return Err(Malformed::Wrong("an LLC header without SNAP"));
    }
    Ok((reader.short()?, reader.rest()))
}
