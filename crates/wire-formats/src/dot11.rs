//! Frame headers of IEEE 802.11 (1999, clause 7) in an independent BSS: data, RTS, CTS and ACK. The FCS is
//! not among the bytes.

use manetlab_core::wire::NodeId;

use crate::address;
use crate::reader::{Malformed, Reader};

/// First byte of the Frame Control field (§7.1.3.1): subtype and type.
const DATA: u8 = 0x08;
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;
/// The Retry bit in its second byte.
const RETRY: u8 = 0x08;

/// Bytes of the FCS, which the lengths of frames in a run include.
pub const FCS_BYTES: usize = 4;
/// The largest value of a Duration field in µs (§7.1.3.2).
pub const MAX_DURATION_US: u16 = 32_767;

/// A frame's header; Durations are in µs, at most [`MAX_DURATION_US`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Header {
    /// A data frame (§7.2.2), To DS and From DS 0.
    Data {
        /// The Duration field.
        duration_us: u16,
        /// The receiver.
        to: NodeId,
        /// The transmitter.
        from: NodeId,
        /// The sequence number, below 4096; the fragment number is 0.
        sequence: u16,
        /// Is it a retransmission?
        retry: bool,
    },
    /// Request to send (§7.2.1.1).
    Rts {
        /// The Duration field.
        duration_us: u16,
        /// The receiver.
        to: NodeId,
        /// The transmitter.
        from: NodeId,
    },
    /// Clear to send (§7.2.1.2): it names its receiver only.
    Cts {
        /// The Duration field.
        duration_us: u16,
        /// The receiver.
        to: NodeId,
    },
    /// Acknowledgement (§7.2.1.3).
    Ack {
        /// The Duration field.
        duration_us: u16,
        /// The receiver.
        to: NodeId,
    },
}

/// Appends the header: 24 bytes for data, 16 for RTS, 10 for CTS and ACK.
pub fn encode(header: Header, out: &mut Vec<u8>) {
    let mut begin = |kind: u8, flags: u8, duration_us: u16, to: NodeId| {
        out.extend_from_slice(&[kind, flags]);
        // The fields of 802.11 are little-endian.
        out.extend_from_slice(&duration_us.to_le_bytes());
        out.extend_from_slice(&address::mac(to));
    };
    match header {
        Header::Data { duration_us, to, from, sequence, retry } => {
            begin(DATA, if retry { RETRY } else { 0 }, duration_us, to);
            out.extend_from_slice(&address::mac(from));
            out.extend_from_slice(&address::BSSID);
            out.extend_from_slice(&(sequence << 4).to_le_bytes());
        }
        Header::Rts { duration_us, to, from } => {
            begin(RTS, 0, duration_us, to);
            out.extend_from_slice(&address::mac(from));
        }
        Header::Cts { duration_us, to } => begin(CTS, 0, duration_us, to),
        Header::Ack { duration_us, to } => begin(ACK, 0, duration_us, to),
    }
}

/// The header, and what follows it.
///
/// # Errors
/// When it is none of these.
pub fn decode(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "802.11 header");
    let (kind, flags) = (reader.byte()?, reader.byte()?);
    let duration_us = u16::swap_bytes(reader.short()?);
    if duration_us > MAX_DURATION_US || flags & !RETRY != 0 {
        return Err(Malformed::Wrong("an 802.11 header of another network"));
    }
    let to = reader.mac_node()?;
    let header = match kind {
        DATA => {
            let from = reader.mac_node()?;
            if reader.take(6)? != address::BSSID {
                return Err(Malformed::Wrong("an 802.11 frame of another BSS"));
            }
            let control = u16::swap_bytes(reader.short()?);
            if control & 0xf != 0 {
                return Err(Malformed::Wrong("a fragment"));
            }
            Header::Data { duration_us, to, from, sequence: control >> 4, retry: flags == RETRY }
        }
        RTS => Header::Rts { duration_us, to, from: reader.mac_node()? },
        CTS => Header::Cts { duration_us, to },
        ACK => Header::Ack { duration_us, to },
        _ => return Err(Malformed::Wrong("a kind of 802.11 frame that is not used")),
    };
    Ok((header, reader.rest()))
}
