//! CUBIC (RFC 9438): the window is a cubic function of the time since the last reduction, and never less than
//! what Reno would have. *Deviations*: 8 and 9 in docs/models/tcp.md.

use super::{Ack, CongestionControl, Load, SSTHRESH_MIN, Timeout, Window};
use crate::kernel::Time;
use crate::transport::tcp::TcpParams;

/// A congestion avoidance stage (RFC 9438 §4.2).
struct Epoch {
    start: Time,
    /// Seconds until the cubic function is at `w_max`.
    k: f64,
    /// What Reno would have (§4.3).
    w_est: f64,
}

pub(super) struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    w_max: f64,
    /// The window at the last reduction.
    cwnd_prior: f64,
    /// Did the last reduction follow a timeout (§4.8)?
    after_timeout: bool,
    epoch: Option<Epoch>,
}

impl Cubic {
    pub(super) fn new(params: &TcpParams) -> Cubic {
        Cubic {
            c: params.cubic_c,
            beta: params.cubic_beta,
            fast_convergence: params.cubic_fast_convergence,
            w_max: 0.0,
            cwnd_prior: 0.0,
            after_timeout: false,
            epoch: None,
        }
    }

    // RFC 9438 §4.2 and §4.8: after a timeout, or without a loss so far, the plateau is the present window.
    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        if self.after_timeout || cwnd >= self.w_max {
            self.w_max = cwnd;
        }
        Epoch { start: now, k: libm::cbrt((self.w_max - cwnd) / self.c), w_est: cwnd }
    }

    // RFC 9438 §4.6 and §4.7.
    fn reduce(&mut self, window: &mut Window, load: Load) {
        let cwnd = window.cwnd.min(load.window);
        self.cwnd_prior = cwnd;
        self.w_max =
            if self.fast_convergence && cwnd < self.w_max { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        window.ssthresh = (window.base(load) * self.beta).max(SSTHRESH_MIN);
        self.epoch = None;
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.may_open {
            return;
        }
        if window.cwnd >= ack.limit {
            return; // §5.8: a window that is not used tells nothing about the path.
        }
        if window.cwnd < window.ssthresh {
            window.cwnd += 1.0;
            return;
        }
        let mut epoch = self.epoch.take().unwrap_or_else(|| self.begin(ack.now, window.cwnd));
        self.after_timeout = false;
        let at = |seconds: f64| {
            let past = seconds - epoch.k;
            self.c * past * past * past + self.w_max
        };
        let elapsed_s = ack.now.since(epoch.start).as_secs();
        let srtt_s = ack.srtt.map_or(0.0, |srtt| srtt.as_secs());
        // §4.3: as steep as Reno only once the window of the last reduction is reached.
        let steady = 3.0 * (1.0 - self.beta) / (1.0 + self.beta);
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { steady };
        epoch.w_est += alpha * f64::from(ack.acked) / window.cwnd;
        if at(elapsed_s) < epoch.w_est {
            window.cwnd = window.cwnd.max(epoch.w_est);
        } else {
            let target = at(elapsed_s + srtt_s).clamp(window.cwnd, 1.5 * window.cwnd);
            window.cwnd += (target - window.cwnd) / window.cwnd;
        }
        self.epoch = Some(epoch);
    }

    fn on_loss(&mut self, window: &mut Window, load: Load) {
        self.reduce(window, load);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: Timeout) {
        if !timeout.again {
            self.reduce(window, timeout.load);
        }
        self.epoch = None;
        self.after_timeout = true;
        window.cwnd = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Span;

    const LOAD: Load = Load { window: 100.0, flight: 100 };

    /// After a loss at a window of 100.
    fn after_a_loss() -> (Cubic, Window) {
        let params = TcpParams { window: 1000, ..TcpParams::default() };
        let mut window = Window { cwnd: 100.0, ..Window::new(&params) };
        let mut cubic = Cubic::new(&params);
        cubic.on_loss(&mut window, LOAD);
        (cubic, window)
    }

    fn ack(cubic: &mut Cubic, window: &mut Window, millis: u64) {
        ack_of(1, cubic, window, millis);
    }

    fn ack_of(acked: u32, cubic: &mut Cubic, window: &mut Window, millis: u64) {
        let ack = Ack {
            now: Time::ZERO + Span::from_millis(millis),
            acked,
            una: 0,
            next: 100,
            sent_end: 100,
            dupacks: 0,
            limit: 1000.0,
            rtt: None,
            srtt: Some(Span::from_millis(100)),
            may_open: true,
        };
        cubic.on_ack(window, &ack);
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn a_loss_leaves_seven_tenths() {
        let (cubic, window) = after_a_loss();
        assert!(close(window.cwnd, 70.0) && close(window.ssthresh, 70.0) && close(cubic.w_max, 100.0));
    }

    /// RFC 9438 §4.7: a second loss below the last maximum lowers the maximum to 0.85 of the window.
    #[test]
    fn fast_convergence_gives_way() {
        let (mut cubic, mut window) = after_a_loss();
        cubic.on_loss(&mut window, Load { window: 70.0, flight: 70 });
        assert!(close(cubic.w_max, 0.85 * 70.0) && close(window.cwnd, 49.0));
    }

    /// RFC 9438 §4.2 to §4.5, equations 1, 2 and 4.
    #[test]
    fn the_window_follows_reno_at_first_and_the_cubic_function_then() {
        let (mut cubic, mut window) = after_a_loss();
        let alpha = 3.0 * 0.3 / 1.7;
        ack(&mut cubic, &mut window, 0);
        let first = 70.0 + alpha / 70.0;
        assert!(close(window.cwnd, first));
        ack(&mut cubic, &mut window, 1000);
        let k = libm::cbrt(30.0 / 0.4);
        let target = 0.4 * libm::pow(1.1 - k, 3.0) + 100.0;
        assert!(close(window.cwnd, first + (target - first) / first), "{}", window.cwnd);
    }

    /// RFC 9438 §4.3, equation 4: a delayed ACK counts for each segment.
    #[test]
    fn reno_is_followed_by_segments_and_not_by_acks() {
        let (mut cubic, mut window) = after_a_loss();
        ack_of(2, &mut cubic, &mut window, 0);
        assert!(close(window.cwnd, 70.0 + 2.0 * (3.0 * 0.3 / 1.7) / 70.0), "{}", window.cwnd);
    }

    /// §4.2: the function has its plateau at the window of the last loss, K after it, and rises beyond.
    #[test]
    fn the_window_waits_at_the_old_maximum_and_then_probes() {
        let (mut cubic, mut window) = after_a_loss();
        let mut at = Vec::new();
        for millis in 0..9000 {
            ack(&mut cubic, &mut window, millis);
            at.push(window.cwnd);
        }
        let k_ms = (1000.0 * libm::cbrt(30.0 / 0.4)) as usize;
        assert!((at[k_ms] - 100.0).abs() < 0.5, "{}", at[k_ms]);
        assert!(at[k_ms + 500] - at[k_ms - 500] < 1.0, "flat");
        assert!(at[8999] > 130.0, "convex");
        assert!(at.is_sorted());
    }

    /// §4.8: the stage after a timeout begins at its plateau.
    #[test]
    fn after_a_timeout_the_plateau_is_where_slow_start_ended() {
        let (mut cubic, mut window) = after_a_loss();
        cubic.on_timeout(&mut window, Timeout { now: Time::ZERO, load: LOAD, again: false });
        assert!(close(window.cwnd, 1.0) && close(window.ssthresh, 70.0));
        window.cwnd = 70.0;
        ack(&mut cubic, &mut window, 0);
        assert!(close(cubic.w_max, 70.0));
    }
}
