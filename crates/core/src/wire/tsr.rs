//! What TSR (Choi and Yoo, *TCP-aware Source Routing in Mobile Ad Hoc Networks*, 2004) adds to the DSR
//! options header. The paper gives neither formats nor lengths of its two messages (docs/models/tsr.md).
//!
//! Both are packets with a DSR options header and a source route. ROUTE PROBE has an option of the length of
//! a Route Request besides; REPLY PROBE is a Route Reply, whose option is DSR's, and the number of the probe
//! stands in its reserved bits. A request that only its target may answer has a bit for that, too.

/// Bytes of the option that makes a packet a probe: those of a Route Request (RFC 4728 §6.2).
const PROBE_BYTES: u32 = 8;

/// What a packet is to TSR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A ROUTE PROBE.
    Probe {
        /// Its number at the node that sent it.
        id: u32,
    },
    /// A REPLY PROBE; the path that was probed is the Route Reply of the header.
    Reply {
        /// The number of the probe.
        id: u32,
    },
    /// A request that only its target may answer.
    TargetOnly,
}

impl Mark {
    /// The bytes that it adds to a header.
    pub fn bytes(self) -> u32 {
        match self {
            Mark::Probe { .. } => PROBE_BYTES,
            Mark::Reply { .. } | Mark::TargetOnly => 0,
        }
    }

    /// What recordings call a packet with this mark; none: what it would be without.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Mark::Probe { .. } => Some("probe"),
            Mark::Reply { .. } => Some("probe-reply"),
            Mark::TargetOnly => None,
        }
    }
}
