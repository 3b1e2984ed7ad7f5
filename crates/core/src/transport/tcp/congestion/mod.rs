//! The congestion window and the slow-start threshold, and the contract of what opens and closes them.
//!
//! A congestion control is told of events: segments are sent, new data is acknowledged, duplicate ACKs or an
//! ECN-Echo tell of congestion, the timer expires. Which segments are then sent again is loss recovery's
//! matter, of which it says only whether there is a fast one; how long the timer runs is the RTO policy's.
//! docs/add-a-tcp-congestion-control.md adds one.
//!
//! *Deviations*: 3 and 12 in docs/models/tcp.md.

mod cubic;
mod own_recovery;
mod reno;
mod tahoe;
mod vegas;
mod vegas_ns2;

pub(super) use own_recovery::{Duplicate, OwnRecovery, Repair};

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

/// An acknowledgement of new data.
#[derive(Clone, Copy)]
pub(super) struct Ack {
    pub(super) now: Time,
    /// Segments newly acknowledged, at least one.
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
    /// The round trip of the last segment acknowledged; none if it was sent more than once.
    pub(super) rtt: Option<Span>,
    /// The smoothed round-trip time; none before its first sample.
    pub(super) srtt: Option<Span>,
    /// May the window open? Not in recovery from a loss, which sets it itself, and not if the ACK tells of
    /// congestion (RFC 3168 §6.1.2).
    pub(super) may_open: bool,
}

/// The retransmission timer has expired.
#[derive(Clone, Copy)]
pub(super) struct Timeout {
    pub(super) now: Time,
    pub(super) load: Load,
    /// Has the same segment timed out before?
    pub(super) again: bool,
}

/// How a window opens and closes. Sequence numbers count segments, and the SYN if there is one. The defaults
/// are Reno's.
pub(super) trait CongestionControl: Send {
    /// The SYN is acknowledged; data begins with this window, in segments.
    fn on_established(&mut self, window: &mut Window, initial: f64) {
        window.cwnd = initial;
    }

    /// A segment is sent, for the first time or again.
    fn on_sent(&mut self, _now: Time, _number: u32) {}

    /// New data is acknowledged, in recovery or not.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// Duplicate ACKs, or SACK, tell of a loss.
    fn on_loss(&mut self, window: &mut Window, load: Load) {
        window.halve(load);
    }

    /// A mark of congestion: as one loss (RFC 3168 §5), and nothing needs to be sent again.
    fn on_mark(&mut self, window: &mut Window, load: Load) {
        self.on_loss(window, load);
    }

    /// The retransmission timer has expired.
    fn on_timeout(&mut self, window: &mut Window, timeout: Timeout) {
        window.collapse(timeout.load, timeout.again);
    }

    /// Does fast recovery follow a loss (RFC 5681 §3.2), or slow start from the lost segment?
    fn has_fast_recovery(&self) -> bool {
        true
    }

    /// Is a segment sent so long ago lost, although too few duplicate ACKs say so?
    fn is_overdue(&self, _age: Span) -> bool {
        false
    }

    /// How it repairs losses itself where there is no SACK; none if the sender does.
    fn own_recovery(&mut self) -> Option<&mut dyn OwnRecovery> {
        None
    }
}

/// The congestion control that `params` ask for, and the window with which the connection begins.
pub(super) fn new(params: &TcpParams) -> (Box<dyn CongestionControl>, Window) {
    let mut window = Window::new(params);
    let control = control(params, &mut window);
    (control, window)
}

fn control(params: &TcpParams, window: &mut Window) -> Box<dyn CongestionControl> {
    match params.variant {
        TcpVariant::Reno => Box::new(reno::Reno),
        TcpVariant::Tahoe => Box::new(tahoe::Tahoe),
        TcpVariant::Vegas => match params.vegas_rules {
            VegasRules::Brakmo1995 => Box::new(vegas::Vegas::new(params)),
            VegasRules::Ns235 => Box::new(vegas_ns2::VegasNs2::new(params, window)),
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
