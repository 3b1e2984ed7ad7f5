//! ADP, the Adaptive Datagram Protocol: datagrams that are paced by acknowledgements and never sent again.
//!
//! Source: T. D. Dyer, dissertation (2002), chapter 5 and §7.3. A [`Sender`] stands at a flow's source, a
//! [`Receiver`] at its destination; both are state machines without I/O and clock.
//!
//! **Implemented.** The header of Table 5.2: source port 16, destination port 16, length 16, checksum 16,
//! sequence number 32, time stamp 32 bits, together 16 bytes. The ACK-clocked sender (§5.1.1, Fig. 5.3): any
//! ACK cancels the transmit timer and sends the next packet. The windowed sender (§5.1.1, Fig. 5.4) with its
//! two edges and the remembered previous left edge. The transmit timer of RTT + 4 × variation, doubled on
//! consecutive timeouts or fixed (§5.1.2). The frame buffer of settable length, or unlimited, that drops the
//! oldest. As options what §7.3 leaves to the future: delayed ACKs and the vector of previous ACKs.
//!
//! **Not implemented.** Ports and checksum but for their bytes.
//!
//! **Deviations.** What was decided where the text is silent: 1 to 7 in docs/models/adp.md.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use receiver::{Receiver, ReceiverCounters};
pub use sender::{Sender, SenderCounters};

use crate::params::{choices, params};
use crate::wire::IP_HEADER_BYTES;
use crate::wire::adp::{HEADER_BYTES, Segment};

choices! {
    /// What an acknowledgement releases.
    pub enum AdpVariant {
        /// The next packet (Dyer 2002 §5.1.1, the final version).
        AckClocked = "ack-clocked",
        /// What a window allows that grows by one packet a round trip (Dyer 2002 §5.1.1, the first version).
        Windowed = "windowed",
    }
}

choices! {
    /// How the transmit timeout grows over consecutive timeouts.
    pub enum TtoPolicy {
        /// It doubles at each.
        Doubling = "doubling",
        /// It doubles at the first and then stays.
        Fixed = "fixed",
        /// It never doubles.
        Constant = "constant",
    }
}

params! {
    /// The parameters of an ADP flow, at both ends.
    pub struct AdpParams in "adp" {
        /// What an acknowledgement releases.
        variant: AdpVariant = AdpVariant::AckClocked, "", "Dyer 2002 §5.1.1";
        /// How the transmit timeout grows over consecutive timeouts.
        tto_policy: TtoPolicy = TtoPolicy::Fixed, "", "Dyer 2002 §5.1.2";
        /// The transmit timeout before the first round-trip sample.
        tto_initial_s: f64 = 1.0, "s", "RFC 6298 §2.1; not in the text", [0.001, 1e5];
        /// The minimum transmit timeout.
        tto_min_s: f64 = 0.2, "s", "as TCP's; not in the text", [0.001, 1e5];
        /// The maximum transmit timeout, after doubling.
        tto_max_s: f64 = 60.0, "s", "RFC 6298 §2.5; not in the text", [0.001, 1e5];
        /// Maximum number of messages that wait at the sender; a new one replaces the oldest. Zero: no limit.
        buffer_frames: u32 = 75, "frame", "Dyer 2002 §5.2: 5 s of video", [0.0, 1e9];
        /// Payload of the packets of a source with endless data.
        packet_bytes: u32 = 1460, "byte", "an Ethernet-sized MTU; not in the text", [1.0, 65_499.0];
        /// Number of packets that one acknowledgement answers.
        ack_every: u32 = 1, "packet", "Dyer 2002 §5.1; more: §7.3", [1.0, 64.0];
        /// The maximum time that the receiver waits for this number; zero: no limit.
        ack_delay_s: f64 = 0.0, "s", "Dyer 2002 §7.3: the sender has a timer", [0.0, 10.0];
        /// Number of preceding packets whose status an acknowledgement contains.
        ack_vector_bits: u32 = 0, "bit", "Dyer 2002 §5.3, §7.5: 8", [0.0, 32.0];
    }
}

/// What a sender or a receiver asks the network to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send this packet, which has so many bytes at the IP layer, to the other end.
    Send(Segment, u32),
    /// A waiting message was dropped for a newer one.
    Dropped(u32),
}

/// A data packet's length at the IP layer.
fn data_bytes(payload: u32) -> u32 {
    IP_HEADER_BYTES + HEADER_BYTES + payload
}
