//! The congestion window and the slow-start threshold, and the contract of what opens and closes them.
//!
//! A congestion control is asked at three occasions: data is acknowledged outside recovery, duplicate ACKs or
//! an ECN-Echo tell of congestion, the timer expires. Which segments are then sent again is loss recovery's
//! matter, how long the timer runs is the RTO policy's.
//!
//! *Deviations*: 3 and 12 in docs/models/tcp.md.

mod cubic;
mod reno;
mod tahoe;
mod vegas;
mod vegas_ns2;

use super::{TcpParams, TcpVariant, VegasRules, WindowReduction};
use crate::kernel::{Span, Time};

/// What was under way when a loss was detected.
#[derive(Clone, Copy)]
pub(super) struct Load {
    /// The window in use, min(cwnd, advertised window), in segments.
    pub(super) window: f64,
    /// Segments sent and not acknowledged, without those of limited transmit (RFC 5681 §3.2, step 2).
    pub(super) flight: u32,
}

/// An acknowledgement of new data, outside recovery.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    pub(super) now: Time,
    /// Segments newly acknowledged.
    pub(super) acked: u32,
    /// The least number not acknowledged.
    pub(super) una: u32,
    /// The number to send next, which a timeout sets back.
    pub(super) next: u32,
    /// One past the greatest number sent.
    pub(super) sent_end: u32,
    /// Duplicate ACKs that came before it.
    pub(super) dupacks: u32,
    /// The receiver's window in segments.
    pub(super) limit: f64,
    /// The round trip of the last segment acknowledged, if the congestion control asks for it.
    pub(super) rtt: Option<Span>,
    /// The smoothed round-trip time.
    pub(super) srtt: Option<Span>,
}

/// A duplicate ACK, for a congestion control that repairs losses itself.
#[derive(Clone, Copy)]
pub(super) struct Duplicate {
    pub(super) now: Time,
    /// The first number that is not acknowledged.
    pub(super) una: u32,
    /// How many in a row, this one included.
    pub(super) dupacks: u32,
    /// Segments under way, and one.
    pub(super) under_way: u32,
    /// The receiver's window in segments.
    pub(super) limit: f64,
    /// Is all that was outstanding at the last loss acknowledged, and one segment more?
    pub(super) is_beyond_recover: bool,
}

/// What a congestion control that repairs losses itself does at a duplicate ACK.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repair {
    /// It sends nothing again.
    Nothing,
    /// It sends the first segment again; the duplicates then count as the threshold's.
    First { counts_as_third: bool },
}

/// How a window opens and closes. The defaults are Reno's.
pub(super) trait CongestionControl: Send {
    /// The connection begins.
    fn begin(&mut self, _window: &mut Window) {}

    /// New data is acknowledged, outside recovery.
    fn handle_progress(&mut self, window: &mut Window, progress: &Progress);

    /// Congestion without a timeout.
    fn handle_loss(&mut self, window: &mut Window, load: Load) {
        window.halve(load);
    }

    /// A mark of congestion: as one loss (RFC 3168 §5), and nothing needs to be sent again.
    fn handle_mark(&mut self, window: &mut Window, load: Load) {
        self.handle_loss(window, load);
    }

    /// A timeout. `again`: the same segment has timed out before.
    fn handle_timeout(&mut self, window: &mut Window, load: Load, again: bool) {
        window.collapse(load, again);
    }

    /// Does it open the initial window itself, after the connection is set up?
    fn delays_growth(&self) -> bool {
        false
    }

    /// A segment is sent, if it wants the round trip of each.
    fn note_sent(&mut self, _number: u32, _now: Time) {}

    /// When the timeout was.
    fn note_timeout(&mut self, _now: Time) {}

    /// Does it repair losses itself when there is no SACK? Then it judges each duplicate ACK.
    fn has_own_recovery(&self) -> bool {
        false
    }

    /// A duplicate ACK, if it repairs losses itself.
    fn judge_duplicate(&mut self, _window: &mut Window, _seen: Duplicate) -> Repair {
        Repair::Nothing
    }

    /// After an ACK for new data: must the first segment, `una`, be sent again? If it repairs losses itself.
    fn repairs_after_ack(&mut self, _una: u32, _now: Time) -> bool {
        false
    }

    /// Does it want the round trip of each segment?
    fn times_each_segment(&self) -> bool {
        false
    }

    /// Is a segment sent so long ago lost, although too few duplicate ACKs say so?
    fn is_overdue(&self, _age: Span) -> bool {
        false
    }
}

/// The congestion control that `params` ask for.
pub(super) fn new(params: &TcpParams) -> Box<dyn CongestionControl> {
    match params.variant {
        TcpVariant::Reno => Box::new(reno::Reno),
        TcpVariant::Tahoe => Box::new(tahoe::Tahoe),
        TcpVariant::Vegas => match params.vegas_rules {
            VegasRules::Brakmo1995 => Box::new(vegas::Vegas::new(params)),
            VegasRules::Ns235 => Box::new(vegas_ns2::VegasNs2::new(params)),
        },
        TcpVariant::Cubic => Box::new(cubic::Cubic::new(params)),
    }
}

/// The congestion window and the slow-start threshold, in segments.
pub(super) struct Window {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    reduction: WindowReduction,
}

/// The least slow-start threshold (RFC 5681 §3.1, equation 4).
const SSTHRESH_MIN: f64 = 2.0;

impl Window {
    pub(super) fn new(params: &TcpParams) -> Window {
        let cwnd = if params.connection_setup { 1 } else { params.initial_window };
        Window {
            cwnd: f64::from(cwnd),
            // Arbitrarily high; no window goes beyond the receiver's.
            ssthresh: f64::from(params.window),
            reduction: params.window_reduction,
        }
    }

    /// A loss told by duplicate ACKs, with recovery to follow (RFC 5681 §3.1, equation 4).
    fn halve(&mut self, load: Load) {
        let half = self.half(load);
        self.lower_ssthresh(half);
        self.cwnd = match self.reduction {
            WindowReduction::FlightSize => self.ssthresh,
            // As in ns-2, half of a window of one is less than a segment; inflation makes up for it until
            // recovery ends.
            WindowReduction::Window | WindowReduction::WindowWhole => half,
        };
    }

    /// A loss with slow start to follow. `again`: the same segment has timed out before.
    fn collapse(&mut self, load: Load, again: bool) {
        if !(again && self.reduction == WindowReduction::FlightSize) {
            let half = self.half(load);
            self.lower_ssthresh(half);
        }
        self.cwnd = 1.0;
    }

    /// What a reduction starts from.
    fn base(&self, load: Load) -> f64 {
        match self.reduction {
            WindowReduction::FlightSize => f64::from(load.flight),
            WindowReduction::Window => load.window,
            WindowReduction::WindowWhole => load.window.floor(),
        }
    }

    fn half(&self, load: Load) -> f64 {
        let half = self.base(load) / 2.0;
        if self.reduction == WindowReduction::WindowWhole { half.floor() } else { half }
    }

    fn lower_ssthresh(&mut self, half: f64) {
        self.ssthresh = match self.reduction {
            WindowReduction::FlightSize => half,
            WindowReduction::Window | WindowReduction::WindowWhole => half.floor(),
        }
        .max(SSTHRESH_MIN);
    }
}
