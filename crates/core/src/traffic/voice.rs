//! Codecs of speech: how often a packet is made, how long it is, and how much loss it bears.
//!
//! *Sources*: payloads RFC 3551 §4.5.14, §4.5.6 and RFC 7587 §3.1.1; impairments ITU-T G.113. *Deviations*: 7
//! and 8 in docs/models/voice.md.

use crate::kernel::Span;
use crate::params::choices;

choices! {
    /// A codec of speech, with packets of 20 ms.
    pub enum Codec {
        /// G.711 whose receiver conceals lost packets (Appendix I): the default.
        G711Plc = "g711-plc",
        /// G.711 whose receiver plays nothing in place of a lost packet.
        G711 = "g711",
        /// G.729 A with silence suppression.
        G729 = "g729",
        /// Opus at 24 kb/s.
        Opus = "opus",
    }
}

/// What the E-model needs to know of a codec (ITU-T G.113).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Impairment {
    /// The equipment impairment without loss, `I_e`.
    pub without_loss: f64,
    /// The robustness against loss, `B_pl`.
    pub robustness: f64,
}

impl Codec {
    /// The speech in a packet.
    pub const PACKET: Span = Span::from_millis(20);

    /// The payload of a packet, in bytes.
    pub fn payload_bytes(self) -> u32 {
        match self {
            Codec::G711 | Codec::G711Plc => 160,
            Codec::G729 => 20,
            Codec::Opus => 60,
        }
    }

    /// Speech after a packet's that must have been heard before it is coded.
    pub fn look_ahead(self) -> Span {
        Span::from_micros(match self {
            Codec::G711 | Codec::G711Plc => 0.0,
            Codec::G729 => 5_000.0,
            Codec::Opus => 6_500.0,
        })
    }

    /// What the E-model needs to know of it.
    pub fn impairment(self) -> Impairment {
        let (without_loss, robustness) = match self {
            Codec::G711 => (0.0, 4.3),
            Codec::G711Plc => (0.0, 25.1),
            Codec::G729 => (11.0, 19.0),
            Codec::Opus => (5.0, 15.0),
        };
        Impairment { without_loss, robustness }
    }
}
