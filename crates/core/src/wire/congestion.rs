//! What neighbourhood RED tells neighbours ([`ifq`](crate::ifq)).

use crate::kernel::Span;

/// The neighbourhood is congested: a UDP datagram to all neighbours.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Notification {
    /// The drop probability over the average utilisation of the channel.
    pub normalised_p: f64,
    /// For how long it is believed.
    pub lifetime: Span,
}

impl Notification {
    /// What recordings call it.
    pub const NAME: &'static str = "congestion";
    /// Its length in bytes: type, length and flags, probability, lifetime (assumed).
    pub const BYTES: u32 = 12;
}
