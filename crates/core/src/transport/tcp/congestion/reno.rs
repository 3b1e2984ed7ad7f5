//! Reno (RFC 5681 §3.1): a segment per ACK in slow start, about one per round trip in congestion avoidance
//! (equation 3), half of the window after a loss. *Deviation*: 3 in docs/models/tcp.md.

use super::{Ack, CongestionControl, Window};

pub(super) struct Reno;

impl CongestionControl for Reno {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.may_open {
            window.cwnd += if window.cwnd < window.ssthresh { 1.0 } else { 1.0 / window.cwnd };
        }
    }
}
