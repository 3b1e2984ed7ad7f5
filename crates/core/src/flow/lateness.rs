//! Datagrams that come too late: the dissertation takes data "older than five seconds" for lost (Dyer 2002,
//! 3.4.1).

use crate::kernel::{Span, Time};
use crate::wire::Packet;

/// From which age on a datagram counts as lost. What happens in the network does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lateness {
    /// Zero: from none.
    after: Span,
}

impl Lateness {
    /// Datagrams older than this, in s, are late; zero: none is.
    pub(super) fn after(age_s: f64) -> Lateness {
        Lateness { after: Span::from_secs(age_s) }
    }

    /// Does this packet come too late? Its age counts from when IP at its source got it.
    pub(super) fn applies(self, now: Time, packet: &Packet) -> bool {
        self.after != Span::ZERO && now.since(packet.created) > self.after
    }
}
