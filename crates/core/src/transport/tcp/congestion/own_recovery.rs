//! What a congestion control does that repairs losses itself, as ns-2's Vegas does: it judges each duplicate
//! ACK, and looks again after ACKs of new data.

use super::Window;
use crate::kernel::Time;

/// A duplicate ACK.
#[derive(Clone, Copy)]
pub(in crate::transport::tcp) struct Duplicate {
    pub(in crate::transport::tcp) now: Time,
    /// The first number that is not acknowledged.
    pub(in crate::transport::tcp) una: u32,
    /// How many in a row, this one included.
    pub(in crate::transport::tcp) dupacks: u32,
    /// Segments under way, and one.
    pub(in crate::transport::tcp) under_way: u32,
    /// The receiver's window in segments.
    pub(in crate::transport::tcp) limit: f64,
    /// Is all that was outstanding at the last loss acknowledged, and one segment more?
    pub(in crate::transport::tcp) is_beyond_recover: bool,
}

/// What is sent again at a duplicate ACK.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::transport::tcp) enum Repair {
    Nothing,
    /// The first segment; the duplicates then count as the threshold's.
    First {
        counts_as_third: bool,
    },
}

/// See the module's head.
pub(in crate::transport::tcp) trait OwnRecovery {
    /// A duplicate ACK.
    fn judge_duplicate(&mut self, window: &mut Window, seen: Duplicate) -> Repair;

    /// After an ACK for new data: must the first segment, `una`, be sent again?
    fn repairs_after_ack(&mut self, una: u32, now: Time) -> bool;
}
