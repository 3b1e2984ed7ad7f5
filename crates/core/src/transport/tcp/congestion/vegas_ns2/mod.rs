//! Vegas as ns-2 has it, from its early versions to 2.35, which goes beyond the paper and departs from it.
//!
//! What waits in queues is counted in whole segments from what is under way rather than from the window; an
//! increase is spread over the round trip and waits until the window is used; the base may rise again; a
//! repair takes a quarter or a half and backs the timeout off; a timeout leaves two segments. Its bookkeeping
//! of sending times, by number modulo the receiver's window, is part of what it does: entries that a
//! cumulative ACK skips at the end of the table stay counted. *Deviations*: 36 and 37 in docs/models/tcp.md.

mod recovery;

use super::{Ack, CongestionControl, Load, OwnRecovery, Timeout, Window};
use crate::kernel::Time;
use crate::transport::tcp::TcpParams;

/// A segment's place in the table of sending times.
#[derive(Clone, Copy)]
struct Slot {
    /// When it was sent last; none after its acknowledgement.
    sent: Option<Time>,
    /// How often it was sent.
    times: u32,
}

const EMPTY: Slot = Slot { sent: None, times: 0 };

/// Times are in seconds since the first segment was sent.
pub(super) struct VegasNs2 {
    alpha: f64,
    beta: f64,
    gamma: f64,
    initial_window: f64,
    table: Vec<Slot>,
    started: Option<Time>,
    has_heard: bool,
    base_s: f64,
    sum_s: f64,
    samples: u32,
    /// When this segment is acknowledged, a round trip is over.
    round_end: u32,
    round_began_s: f64,
    /// What each ACK of this round trip adds to the window.
    increment: f64,
    /// In slow start: does the window grow in this round trip?
    grows: bool,
    /// Eight times the smoothed round trip, four times its deviation.
    srtt8: f64,
    var4: f64,
    timeout_s: f64,
    /// The window without inflation, since a repair; zero after a timeout.
    deflated: f64,
    changed_s: f64,
    /// How many of the next ACKs look for an overdue segment.
    worried: u32,
    has_timed_out: bool,
}

/// The window after a timeout (`v_slowstart_`), and the least one.
const CWND_MIN: f64 = 2.0;

/// Duplicate ACKs that tell of a loss (`numdupacks_`).
const DUPACKS: u32 = 3;

/// An increment waits while more than this many segments of the window are not used.
const UNUSED_MAX: f64 = 2.0;

impl VegasNs2 {
    /// The connection begins with a window of one, whatever the initial window of data is.
    pub(super) fn new(params: &TcpParams, window: &mut Window) -> VegasNs2 {
        window.cwnd = 1.0;
        VegasNs2 {
            alpha: params.vegas_alpha,
            beta: params.vegas_beta,
            gamma: params.vegas_gamma,
            initial_window: f64::from(params.initial_window),
            table: vec![EMPTY; params.window.max(1) as usize],
            started: None,
            has_heard: false,
            base_s: f64::INFINITY,
            sum_s: 0.0,
            samples: 0,
            round_end: 0,
            round_began_s: 0.0,
            increment: 0.0,
            grows: true,
            srtt8: 0.0,
            var4: 0.0,
            timeout_s: 1000.0,
            deflated: 0.0,
            changed_s: 0.0,
            worried: 0,
            has_timed_out: false,
        }
    }

    fn seconds(&self, now: Time) -> f64 {
        now.since(self.started.unwrap_or(now)).as_secs()
    }

    fn slot(&self, number: u32) -> usize {
        number as usize % self.table.len()
    }

    /// A segment that was not sent yet counts as sent a second before the first.
    fn is_expired(&self, number: u32, now: Time) -> bool {
        let sent = self.table[self.slot(number)].sent;
        sent.map_or(self.seconds(now) + 1.0, |sent| now.since(sent).as_secs()) >= self.timeout_s
    }

    // The time since the first segment stands for a first sample.
    fn hear_first(&mut self, now_s: f64) {
        if !self.has_heard {
            self.has_heard = true;
            self.base_s = now_s;
            (self.srtt8, self.var4) = (8.0 * now_s, now_s);
            self.timeout_s = (self.srtt8 / 4.0 + self.var4) / 2.0;
        }
    }

    fn end_round(&mut self, window: &mut Window, ack: &Ack, now_s: f64) {
        let rtt = match self.samples {
            0 => now_s - self.round_began_s,
            samples => self.sum_s / f64::from(samples),
        };
        (self.sum_s, self.samples) = (0.0, 0);
        if rtt > 0.0 {
            let sent = f64::from(ack.next) - f64::from(self.round_end);
            if rtt < self.base_s || sent <= 1.0 {
                self.base_s = rtt;
            }
            let under_way = f64::from(ack.next - ack.una + 1);
            // In whole segments, cut towards zero after half of one is added.
            let waiting = (under_way - sent * self.base_s / rtt + 0.5).trunc();
            self.decide(window, waiting);
        }
        self.round_end = ack.next;
        self.round_began_s = now_s;
    }

    fn decide(&mut self, window: &mut Window, waiting: f64) {
        if window.cwnd < window.ssthresh {
            self.grows = !self.grows;
            self.increment = f64::from(u8::from(self.grows));
            if self.grows && waiting > self.gamma {
                window.ssthresh = CWND_MIN;
                window.cwnd = (window.cwnd - window.cwnd / 8.0).max(CWND_MIN);
                self.increment = 0.0;
            }
        } else if waiting > self.beta {
            window.cwnd = (window.cwnd - 1.0).max(CWND_MIN);
            self.increment = 0.0;
        } else {
            self.increment = if waiting < self.alpha { 1.0 / window.cwnd } else { 0.0 };
        }
    }

    /// Takes the last acknowledged segment's round trip if it was sent once, and empties the places of all.
    fn sample(&mut self, ack: &Ack) {
        let (first, last) = (self.slot(ack.una - ack.acked), self.slot(ack.una - 1));
        let Slot { sent, times } = self.table[last];
        for slot in self.table.iter_mut().take(last + 1).skip(first).take(ack.acked as usize) {
            *slot = EMPTY;
        }
        // What was sent at time zero counts as not sent.
        let is_sample = |sent: &Time| times == 1 && self.started != Some(*sent);
        let Some(sent) = sent.filter(is_sample) else { return };
        let rtt = ack.now.since(sent).as_secs();
        self.sum_s += rtt;
        self.samples += 1;
        if rtt > 0.0 {
            self.base_s = self.base_s.min(rtt);
            let error = rtt - self.srtt8 / 8.0;
            self.srtt8 += error;
            self.var4 += error.abs() - self.var4 / 4.0;
            self.timeout_s = (self.srtt8 / 4.0 + self.var4) / 2.0;
            self.timeout_s += self.timeout_s / 16.0;
        }
    }
}

impl CongestionControl for VegasNs2 {
    // It opens the initial window itself, when the first segment of data is acknowledged.
    fn on_established(&mut self, _window: &mut Window, _initial: f64) {}

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.may_open {
            return;
        }
        let now_s = self.seconds(ack.now);
        self.hear_first(now_s);
        if ack.una - ack.acked == 1 {
            window.cwnd = self.initial_window;
        }
        if ack.dupacks > DUPACKS && window.cwnd > self.deflated {
            window.cwnd = self.deflated.max(1.0);
            window.ssthresh = CWND_MIN;
        }
        if ack.una > self.round_end {
            self.end_round(window, ack, now_s);
        }
        // Whole segments are those of slow start.
        if self.increment >= 1.0 && window.cwnd >= window.ssthresh {
            self.increment = 0.0;
        }
        if window.cwnd - f64::from(ack.next - ack.una + 1) <= UNUSED_MAX {
            window.cwnd += self.increment;
        }
        self.sample(ack);
    }

    fn on_loss(&mut self, window: &mut Window, load: Load) {
        window.halve(load);
        window.cwnd = window.cwnd.max(CWND_MIN);
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: Timeout) {
        window.collapse(timeout.load, timeout.again);
        window.cwnd = CWND_MIN;
        self.deflated = 0.0;
        self.has_timed_out = true;
        self.changed_s = self.seconds(timeout.now);
    }

    fn on_sent(&mut self, now: Time, number: u32) {
        self.started = self.started.or(Some(now));
        if number == 0 {
            self.table.fill(EMPTY);
        }
        let at = self.slot(number);
        self.table[at].sent = Some(now);
        self.table[at].times += 1;
    }

    fn own_recovery(&mut self) -> Option<&mut dyn OwnRecovery> {
        Some(self)
    }
}
