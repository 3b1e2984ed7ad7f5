//! CUBIC beside the formulas of RFC 9438, Vegas beside the rules of Brakmo and Peterson 1995. Nothing here is
//! taken from the code under test but the contract of a congestion control.

use super::super::congestion::{self, Ack, CongestionControl, Load, Window};
use super::*;

/// A congestion control under ACKs that come evenly, a window of them in each round trip.
struct Clocked {
    control: Box<dyn CongestionControl>,
    window: Window,
    now: Time,
}

impl Clocked {
    fn new(params: &TcpParams, cwnd: f64, ssthresh: f64) -> Clocked {
        Clocked {
            control: congestion::new(params).0,
            window: opened(params, cwnd, ssthresh),
            now: Time::ZERO,
        }
    }

    fn ack(&mut self, rtt_s: f64) {
        self.now += Span::from_secs(rtt_s / self.window.cwnd);
        let rtt = Some(Span::from_secs(rtt_s));
        let ack = Ack {
            now: self.now,
            acked: 1,
            una: 1,
            next: 2,
            sent_end: 2,
            dupacks: 0,
            limit: 1e9,
            rtt,
            srtt: rtt,
            may_open: true,
        };
        self.control.on_ack(&mut self.window, &ack);
    }

    fn lose(&mut self) {
        let load = Load { window: self.window.cwnd, flight: self.window.cwnd as u32 };
        self.control.on_loss(&mut self.window, load);
    }
}

fn opened(params: &TcpParams, cwnd: f64, ssthresh: f64) -> Window {
    let mut window = Window::new(params);
    (window.cwnd, window.ssthresh) = (cwnd, ssthresh);
    window
}

fn cubic() -> TcpParams {
    let mut params = TcpParams { window_reduction: WindowReduction::Window, ..TcpParams::rfc() };
    params.apply_sender("cubic");
    params
}

const C: f64 = 0.4;
const BETA: f64 = 0.7;

/// RFC 9438 §4.3: the slope that lets a window with β = 0.7 be as large as Reno's on average.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// Equations 1 and 2: the cubic function of the time since the reduction that left `cwnd`.
fn w_cubic(t: f64, w_max: f64, cwnd: f64) -> f64 {
    let k = libm::cbrt((w_max - cwnd) / C);
    C * libm::pow(t - k, 3.0) + w_max
}

/// RFC 9438 §4.2 to §4.7 over fourteen losses and four round-trip times: the window after every single ACK.
#[test]
fn cubic_follows_its_standard_through_losses_and_changes_of_the_round_trip() {
    let mut flow = Clocked::new(&cubic(), 80.0, 40.0);
    // What the standard remembers: W_max, the window at the last reduction and what it left, W_est.
    let (mut w_max, mut prior, mut w_est) = (80.0f64, 0.0, 80.0);
    let (mut cwnd, mut left, mut begin) = (80.0f64, 80.0, None);
    let (mut faster, mut in_reno, mut in_cubic) = (0, 0, 0);
    for loss in 0..14 {
        let rtt = [0.02, 0.1, 0.25, 0.05][loss % 4];
        let length_s = [3.0, 9.0, 14.0, 2.0, 30.0][loss % 5];
        let end = flow.now + Span::from_secs(length_s);
        while flow.now < end {
            flow.ack(rtt);
            let t = flow.now.since(*begin.get_or_insert(flow.now)).as_secs();
            w_est += if w_est >= prior { 1.0 } else { ALPHA } / cwnd;
            if w_cubic(t, w_max, left) < w_est {
                in_reno += 1;
                cwnd = cwnd.max(w_est);
            } else {
                in_cubic += 1;
                cwnd += (w_cubic(t + rtt, w_max, left).clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd;
            }
            let found = flow.window.cwnd;
            assert!((found - cwnd).abs() < 1e-6 * cwnd, "loss {loss}, {t} s: {found}, not {cwnd}");
        }
        flow.lose();
        prior = cwnd;
        faster += u32::from(cwnd < w_max);
        w_max = if cwnd < w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        cwnd *= BETA;
        (left, w_est, begin) = (cwnd, cwnd, None);
    }
    assert!(faster > 3 && in_reno > 1000 && in_cubic > 1000, "{faster} {in_reno} {in_cubic}");
}

/// §4.4 and §4.5: an ACK lets the window come nearer to what the function will be a round trip later by
/// 1/cwnd of the way, which makes it a moving average of the function over past round trips. With x round
/// trips since the plateau it is near W_max + C rtt³ (x³ + 3x − 2): below the target, at (x + 1)³, and above
/// (x − 2)³, for any x.
#[test]
fn the_window_stays_between_two_points_of_the_cubic_function() {
    for rtt in [0.05, 0.2] {
        let mut flow = Clocked::new(&cubic(), 1000.0, 500.0);
        flow.lose();
        flow.ack(rtt);
        let begin = flow.now;
        let (mut last, mut w_est) = (0.0, 700.0);
        while last < 20.0 {
            w_est += ALPHA / flow.window.cwnd;
            flow.ack(rtt);
            last = flow.now.since(begin).as_secs();
            let (low, high) = (w_cubic(last - 2.0 * rtt, 1000.0, 700.0), w_cubic(last + rtt, 1000.0, 700.0));
            let found = flow.window.cwnd;
            assert!(found <= high + 1e-6, "{last} s: {found} above {high}");
            assert!(w_est < w_cubic(last, 1000.0, 700.0), "the Reno-friendly region");
            // Five round trips take it from where it began to the average.
            assert!(last < 5.0 * rtt || found >= low, "{last} s: {found} below {low}");
        }
        // K = (300/0.4)^(1/3) = 9.09 s: convex by now.
        assert!(flow.window.cwnd > 1300.0);
    }
}

/// §4.3 in closed form: over a short round trip the window is a straight line with slope α per round trip
/// from the reduction on, and with slope 1 from the old window on.
#[test]
fn in_the_reno_friendly_region_the_window_is_a_straight_line() {
    let rtt = 0.004;
    let mut flow = Clocked::new(&cubic(), 20.0, 10.0);
    flow.lose();
    // Its first ACK begins the stage.
    flow.ack(rtt);
    let (begin, first) = (flow.now, 14.0 + ALPHA / 14.0);
    let knee_s = (20.0 - first) / ALPHA * rtt;
    while flow.window.cwnd < 26.0 {
        flow.ack(rtt);
        let t = flow.now.since(begin).as_secs();
        let line = if t < knee_s { first + ALPHA * t / rtt } else { 20.0 + (t - knee_s) / rtt };
        // One ACK around the knee has the one or the other slope.
        assert!((flow.window.cwnd - line).abs() < 1.0 / 20.0, "{t} s: {} {line}", flow.window.cwnd);
    }
}

/// §3.2 and §3.3 of Brakmo and Peterson, in their words: Expected = window/base, Actual = window/rtt, Diff
/// the difference, in segments by way of the base. One round trip is one measurement here.
#[test]
fn vegas_follows_its_rules_over_scripted_round_trips() {
    let mut params = TcpParams { window: 1000, ..TcpParams::rfc() };
    params.apply_sender("vegas");
    let mut stream = Streams::new(1, 0).stream(0, Purpose::Transport);
    let mut vegas = congestion::new(&params).0;
    let mut window = opened(&params, 2.0, 1000.0);
    let (mut base, mut cwnd, mut slow_start, mut grows) = (f64::INFINITY, 2.0f64, true, true);
    let (mut una, mut changes) = (0, [0; 3]);
    for round in 0..400 {
        // The queue of this round: the path has room for 30 segments in 100 ms, others come and go.
        let others = if round < 8 { 0.0 } else { stream.uniform(0.0, 6.0) };
        let rtt_ms = (100.0 * (1.0f64.max(cwnd / 30.0) + others / 30.0)).round();
        una += cwnd as u32 + 1;
        let rtt = Some(Span::from_millis(rtt_ms as u64));
        let sent_end = una + cwnd as u32;
        let ack = Ack {
            now: Time::ZERO,
            acked: 1,
            una: una + 1,
            next: sent_end,
            sent_end,
            dupacks: 0,
            limit: 1000.0,
            rtt,
            srtt: rtt,
            may_open: true,
        };
        vegas.on_ack(&mut window, &ack);
        una += 1;

        base = base.min(rtt_ms);
        let diff = (cwnd / base - cwnd / rtt_ms) * base;
        if slow_start {
            grows = !grows;
            if diff > 1.0 {
                slow_start = false;
                cwnd = (cwnd * 7.0 / 8.0).max(2.0);
            } else if grows {
                // One ACK a round trip here, so one segment.
                cwnd += 1.0;
            }
        } else if diff < 1.0 {
            cwnd += 1.0;
            changes[0] += 1;
        } else if diff > 3.0 {
            cwnd = (cwnd - 1.0).max(2.0);
            changes[2] += 1;
        } else {
            changes[1] += 1;
        }
        assert!(same(window.cwnd, cwnd), "round {round}, {rtt_ms} ms: {} {cwnd}", window.cwnd);
    }
    assert!(!slow_start && changes.iter().all(|&count| count > 20), "{changes:?}");
}
