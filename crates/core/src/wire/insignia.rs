//! The IP option and the reports of INSIGNIA (Lee, Ahn, Zhang and Campbell 2000;
//! draft-ietf-manet-insignia-01).
//!
//! *Deviations*: 1 and 2 in docs/models/insignia.md.

/// The option in an IP header: type, length, one byte of flags, one that is unused, and two rates.
pub const OPTION_BYTES: u32 = 8;
/// A report after the headers of IP and UDP: the flow, its service, and bytes that are unused (assumed: no
/// format is published).
pub const REPORT_BYTES: u32 = 8;
/// The rates that an option can ask for, in kb/s.
pub const RATES_KBPS: (u16, u16) = (1, u16::MAX);

/// How the packet is to be served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// RES: with the flow's reservation, which each node makes or refreshes.
    Reserved,
    /// BE: as any other packet.
    BestEffort,
}

/// What the packet is for its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// BQ: a part of what the flow needs at least.
    Base,
    /// EQ: a part of what makes it better.
    Enhanced,
}

/// How much the nodes so far could reserve, and those that follow are asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Indicator {
    /// What the flow needs at least.
    Min,
    /// All that it wants.
    Max,
}

/// The option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Service {
    /// How the packet is to be served.
    pub mode: Mode,
    /// What the packet is for its flow.
    pub part: Part,
    /// How much is asked for.
    pub indicator: Indicator,
    /// All that the flow wants, in kb/s at the IP layer.
    pub max_kbps: u16,
    /// What it needs at least, in kb/s at the IP layer; at most `max_kbps`.
    pub min_kbps: u16,
}

impl Service {
    /// Does the packet go with a reservation?
    pub fn is_reserved(self) -> bool {
        self.mode == Mode::Reserved
    }
}

/// What a flow has at its destination, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// No reservation along the whole path.
    BestEffort,
    /// What it needs at least.
    Min,
    /// All that it wants.
    Max,
}

/// What a destination tells the source of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// What the flow has.
    pub level: Level,
}
