//! Ethernet frames (IEEE 802.3 §3.2) of programs outside the simulation: bytes that a run carries from one to
//! the other without looking into them.
//!
//! They are the only bytes in a run. A frame is the content of a [`CustomMessage`](super::CustomMessage),
//! whose packet has the length of the frame's payload: on the air the headers of 802.11 replace Ethernet's.

/// Two addresses and the EtherType.
pub const ETHERNET_HEADER_BYTES: usize = 14;

/// A frame without its FCS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EthernetFrame(Vec<u8>);

impl EthernetFrame {
    /// A frame of these bytes; none if they are too few for its header.
    pub fn new(bytes: Vec<u8>) -> Option<EthernetFrame> {
        (bytes.len() >= ETHERNET_HEADER_BYTES).then_some(EthernetFrame(bytes))
    }

    /// The whole frame.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The MAC address that it is for.
    pub fn destination(&self) -> [u8; 6] {
        std::array::from_fn(|at| self.0[at])
    }

    /// Is it for a group of nodes, or all (§3.2.3)?
    pub fn is_for_group(&self) -> bool {
        self.0[0] & 1 == 1
    }

    /// What its payload is.
    pub fn ether_type(&self) -> u16 {
        u16::from_be_bytes([self.0[12], self.0[13]])
    }

    /// What it carries.
    pub fn payload(&self) -> &[u8] {
        &self.0[ETHERNET_HEADER_BYTES..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_taken_apart_into_header_and_payload() {
        let bytes = [[1, 0, 0x5e, 0, 0, 0x6f].as_slice(), &[2; 6], &[0x86, 0xdd], b"hello"].concat();
        let frame = EthernetFrame::new(bytes.clone()).expect("long enough");
        assert_eq!((frame.destination(), frame.is_for_group()), ([1, 0, 0x5e, 0, 0, 0x6f], true));
        assert_eq!((frame.ether_type(), frame.payload()), (0x86dd, b"hello".as_slice()));
        assert_eq!(EthernetFrame::new(bytes[..13].to_vec()), None);
    }
}
