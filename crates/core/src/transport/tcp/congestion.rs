//! The congestion window and the slow-start threshold: how they open and close (RFC 5681 §3.1).

use super::{TcpParams, WindowReduction};

/// What was under way when a loss was detected.
#[derive(Clone, Copy)]
pub(super) struct Load {
    /// The window in use, min(cwnd, advertised window), in segments.
    pub(super) window: f64,
    /// Segments sent and not acknowledged, without those of limited transmit (RFC 5681 §3.2, step 2).
    pub(super) flight: u32,
}

/// See the module's head. Both in segments.
pub(super) struct Congestion {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    reduction: WindowReduction,
}

/// The least slow-start threshold (RFC 5681 §3.1, equation 4).
const SSTHRESH_MIN: f64 = 2.0;

impl Congestion {
    pub(super) fn new(params: &TcpParams) -> Congestion {
        let cwnd = if params.connection_setup { 1 } else { params.initial_window };
        Congestion {
            cwnd: f64::from(cwnd),
            // Arbitrarily high; no window goes beyond the receiver's.
            ssthresh: f64::from(params.window),
            reduction: params.window_reduction,
        }
    }

    /// An ACK for new data: slow start below `ssthresh`, else about one segment per round trip (equation 3).
    pub(super) fn open(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
    }

    /// A loss told by duplicate ACKs, with recovery to follow.
    pub(super) fn halve(&mut self, load: Load) {
        let half = self.half(load);
        self.lower_ssthresh(half);
        self.cwnd = match self.reduction {
            WindowReduction::FlightSize => self.ssthresh,
            WindowReduction::Window | WindowReduction::WindowWhole => half,
        };
    }

    /// A loss with slow start to follow. `again`: the same segment has timed out before.
    pub(super) fn collapse(&mut self, load: Load, again: bool) {
        if !(again && self.reduction == WindowReduction::FlightSize) {
            let half = self.half(load);
            self.lower_ssthresh(half);
        }
        self.cwnd = 1.0;
    }

    fn half(&self, load: Load) -> f64 {
        match self.reduction {
            WindowReduction::FlightSize => f64::from(load.flight) / 2.0,
            WindowReduction::Window => load.window / 2.0,
            WindowReduction::WindowWhole => (load.window.floor() / 2.0).floor(),
        }
    }

    fn lower_ssthresh(&mut self, half: f64) {
        self.ssthresh = match self.reduction {
            WindowReduction::FlightSize => half,
            WindowReduction::Window | WindowReduction::WindowWhole => half.floor(),
        }
        .max(SSTHRESH_MIN);
    }
}
