//! The round-trip estimate and the retransmission timeout: RFC 6298, or BSD's integer arithmetic in ticks.
//! *Deviation*: 7 in docs/models/tcp.md.

use super::{BackoffEnd, RtoPolicy, TcpParams};
use crate::kernel::{Span, Time};

/// Smoothed round-trip time and its mean deviation.
#[derive(Clone, Copy)]
pub(super) enum Estimate {
    /// In nanoseconds, with an exact clock.
    Exact { srtt: u64, rttvar: u64 },
    /// In ticks: `srtt` in eighths, `rttvar` in quarters, as in 4.4BSD.
    Ticks { srtt: i64, rttvar: i64 },
}

/// The clock granularity G that an exact clock keeps the timeout above the round-trip time by, when there is
/// no variance left (RFC 6298 §2.2). Also the least timeout.
const EXACT_GRANULARITY: Span = Span::from_millis(1);

/// See the module's head.
pub(super) struct Rto {
    estimate: Option<Estimate>,
    /// The timeout from the estimate, before limits and back-off.
    base: Span,
    /// What back-off multiplies it by: a power of two unless the timeout grows by a fraction.
    multiplier: f64,
    /// Timeouts since the back-off began.
    timeouts: u32,

    /// Zero for an exact clock.
    tick: Span,
    /// How far the tick counter is ahead at time zero.
    tick_phase: Span,
    initial: Span,
    min: Span,
    max: Span,
    floor: Span,
    min_before_backoff: bool,
    policy: RtoPolicy,
    fixed_timeouts: u32,
    growth_factor: f64,
    cap: f64,
    forget_above: f64,
    end: BackoffEnd,
}

impl Rto {
    pub(super) fn new(params: &TcpParams, tick_phase: Span) -> Rto {
        let tick = Span::from_secs(params.tick_ms * 1e-3);
        let initial = Span::from_secs(params.rto_initial_s);
        Rto {
            estimate: None,
            base: initial,
            initial,
            multiplier: 1.0,
            timeouts: 0,
            tick,
            tick_phase,
            min: Span::from_secs(params.rto_min_s),
            max: Span::from_secs(params.rto_max_s),
            // BSD's slow timer may fire up to one tick early, so that one tick would be no timeout at all.
            floor: if tick == Span::ZERO { EXACT_GRANULARITY } else { tick * 2 },
            min_before_backoff: params.rto_min_before_backoff,
            policy: params.rto_policy,
            fixed_timeouts: params.rto_fixed_timeouts,
            growth_factor: 1.0 + params.rto_growth,
            cap: f64::from(params.rto_backoff_cap),
            forget_above: match params.forget_rtt_above_backoff {
                0 => f64::INFINITY,
                above => f64::from(above),
            },
            end: params.backoff_end,
        }
    }

    /// The timeout now, with limits and back-off.
    pub(super) fn value(&self) -> Span {
        let backed_off = if self.min_before_backoff {
            self.base.max(self.min).scaled(self.multiplier)
        } else {
            self.base.scaled(self.multiplier).max(self.min)
        };
        backed_off.min(self.max).max(self.floor)
    }

    /// The smoothed round-trip time, if there is an estimate.
    pub(super) fn srtt(&self) -> Option<Span> {
        self.estimate.as_ref().map(|estimate| match *estimate {
            Estimate::Exact { srtt, .. } => Span(srtt),
            Estimate::Ticks { srtt, .. } => Span(self.tick.0 * (srtt as u64) / 8),
        })
    }

    /// The estimate, if there is one.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    /// The first sample of new data after a spurious timeout, before which the estimate was `before`: the
    /// estimate starts from the sample, or from what it was if that is longer.
    // RFC 4015 §3.1, steps 0 and 11.
    pub(super) fn start_anew(&mut self, before: Option<Estimate>, sent: Time, now: Time) {
        self.estimate = None;
        self.sample(sent, now);
        let Some(fresh) = self.estimate.zip(before) else { return };
        match fresh {
            (
                Estimate::Exact { srtt, rttvar },
                Estimate::Exact { srtt: srtt_before, rttvar: rttvar_before },
            ) => {
                self.set_exact(srtt.max(srtt_before + 2 * EXACT_GRANULARITY.0), rttvar.max(rttvar_before));
            }
            (
                Estimate::Ticks { srtt, rttvar },
                Estimate::Ticks { srtt: srtt_before, rttvar: rttvar_before },
            ) => {
                self.set_ticks(srtt.max(srtt_before + (2 << 3)), rttvar.max(rttvar_before));
            }
            _ => {}
        }
    }

    /// A segment sent once, at `sent`, is acknowledged `now`. Ends the back-off (RFC 6298 §5, note after
    /// 5.7) under both rules.
    pub(super) fn sample(&mut self, sent: Time, now: Time) {
        self.end_back_off();
        if self.tick == Span::ZERO {
            self.sample_exact(now.since(sent));
        } else {
            // The difference of two readings of a counter that steps once a tick.
            let since_step = (sent.0 + self.tick_phase.0) % self.tick.0;
            let ticks = (now.since(sent).0 + since_step) / self.tick.0;
            self.sample_ticks(ticks.max(1) as i64);
        }
    }

    /// RFC 6298 §2.2 and §2.3.
    fn sample_exact(&mut self, rtt: Span) {
        let (srtt, rttvar) = match self.estimate {
            Some(Estimate::Exact { srtt, rttvar }) => {
                ((7 * srtt + rtt.0) / 8, (3 * rttvar + srtt.abs_diff(rtt.0)) / 4)
            }
            _ => (rtt.0, rtt.0 / 2),
        };
        self.set_exact(srtt, rttvar);
    }

    fn set_exact(&mut self, srtt: u64, rttvar: u64) {
        self.estimate = Some(Estimate::Exact { srtt, rttvar });
        self.base = Span(srtt + (4 * rttvar).max(EXACT_GRANULARITY.0));
    }

    /// Jacobson 1988, appendix A, as 4.4BSD and ns-2 compute it. Shifts round towards minus infinity.
    fn sample_ticks(&mut self, rtt: i64) {
        let (srtt, rttvar) = match self.estimate {
            Some(Estimate::Ticks { srtt, rttvar }) => {
                let error = rtt - (srtt >> 3);
                ((srtt + error).max(1), (rttvar + error.abs() - (rttvar >> 2)).max(1))
            }
            _ => (rtt << 3, rtt << 1),
        };
        self.set_ticks(srtt, rttvar);
    }

    fn set_ticks(&mut self, srtt: i64, rttvar: i64) {
        self.estimate = Some(Estimate::Ticks { srtt, rttvar });
        // srtt + 4 rttvar in eighths of a tick, the fraction cut off.
        self.base = self.tick * (((rttvar << 3) + srtt) >> 3) as u64;
    }

    /// A timeout (RFC 6298 §5.5).
    pub(super) fn back_off(&mut self) {
        let factor = self.next_factor();
        self.timeouts = self.timeouts.saturating_add(1);
        if self.min_before_backoff {
            // ns-2 with rfc2988_: the multiplier may pass its cap while the timeout is below its maximum.
            if self.multiplier < self.cap || self.value() < self.max {
                self.multiplier *= factor;
            }
        } else if self.multiplier < self.cap {
            self.multiplier = (self.multiplier * factor).min(self.cap);
        }
        if self.multiplier > self.forget_above {
            self.estimate = None;
        }
    }

    /// What this timeout multiplies the next by, before limits. The first doubles it under every policy.
    fn next_factor(&self) -> f64 {
        let holds = self.timeouts > 0 && self.timeouts <= self.fixed_timeouts;
        match self.policy {
            _ if self.timeouts == 0 => 2.0,
            RtoPolicy::Exponential => 2.0,
            RtoPolicy::Fixed => 1.0,
            RtoPolicy::FixedFirst => {
                if holds {
                    1.0
                } else {
                    2.0
                }
            }
            RtoPolicy::Growth => self.growth_factor,
        }
    }

    /// An ACK for new data, which need not give a sample (Karn).
    pub(super) fn handle_progress(&mut self) {
        if self.end == BackoffEnd::NewAck {
            self.end_back_off();
        }
    }

    /// The initial timeout, without estimate or back-off.
    pub(super) fn restart(&mut self) {
        self.estimate = None;
        self.begin_data(self.initial);
    }

    /// Data transmission begins with this timeout, without back-off (RFC 6298 §5.7).
    pub(super) fn begin_data(&mut self, base: Span) {
        self.base = base;
        self.end_back_off();
    }

    pub(super) fn end_back_off(&mut self) {
        (self.multiplier, self.timeouts) = (1.0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn exact(min_s: f64) -> Rto {
        Rto::new(&TcpParams { rto_min_s: min_s, ..TcpParams::rfc() }, Span::ZERO)
    }

    /// A sample of `rtt_ms` from a segment sent at `sent_ms`.
    fn sample(rto: &mut Rto, sent_ms: u64, rtt_ms: u64) {
        rto.sample(Time(sent_ms * MS), Time((sent_ms + rtt_ms) * MS));
    }

    #[test]
    fn exact_estimate_follows_rfc_6298() {
        let mut rto = exact(0.0);
        assert_eq!(rto.value(), Span::from_millis(1000));
        // SRTT = 100, RTTVAR = 50, RTO = 100 + 4 · 50.
        sample(&mut rto, 0, 100);
        assert_eq!(rto.value(), Span(300 * MS));
        // RTTVAR = 3/4 · 50 + 1/4 · |100 - 180| = 57.5, SRTT = 7/8 · 100 + 180/8 = 110, RTO = 110 + 230.
        sample(&mut rto, 0, 180);
        assert_eq!(rto.srtt(), Some(Span(110 * MS)));
        assert_eq!(rto.value(), Span(340 * MS));
    }

    #[test]
    fn without_variance_the_exact_timeout_stays_a_granule_above_the_round_trip() {
        let mut rto = exact(0.0);
        for _ in 0..200 {
            sample(&mut rto, 0, 100);
        }
        assert_eq!(rto.value(), Span(101 * MS));
    }

    #[test]
    fn the_minimum_of_the_standard_is_one_second() {
        let mut rto = exact(1.0);
        sample(&mut rto, 0, 100);
        assert_eq!(rto.value(), Span(1000 * MS));
    }

    #[test]
    fn ticks_follow_the_integer_arithmetic_of_ns_2() {
        let mut rto = Rto::new(&TcpParams { rto_min_s: 0.0, ..TcpParams::ns_2_35() }, Span(3 * MS));
        // Sent at 14 ms, phase 3 ms: 7 ms into a tick. (55 + 7) / 10 = 6 ticks. srtt = 48, rttvar = 12,
        // RTO = (12 · 8 + 48) / 8 = 18 ticks.
        sample(&mut rto, 14, 55);
        assert_eq!(rto.value(), Span(180 * MS));
        assert_eq!(rto.srtt(), Some(Span(60 * MS)));
        // 1 ms into a tick, 99 ms: 10 ticks. Error 10 - 6 = 4: srtt = 52, rttvar = 12 + 4 - 3 = 13,
        // RTO = (104 + 52) / 8 = 19.5, cut to 19 ticks.
        sample(&mut rto, 18, 99);
        assert_eq!(rto.value(), Span(190 * MS));
        // No time at all counts as one tick. Error 1 - 6 = -5: srtt = 47, rttvar = 13 + 5 - 3 = 15,
        // RTO = (120 + 47) / 8 = 20.875, cut to 20.
        sample(&mut rto, 27, 0);
        assert_eq!(rto.value(), Span(200 * MS));
    }

    #[test]
    fn with_ticks_the_timeout_is_at_least_two() {
        let params = TcpParams { rto_initial_s: 0.1, ..TcpParams::cmu_1998() };
        assert_eq!(Rto::new(&params, Span::ZERO).value(), Span(200 * MS));
    }

    /// The timeout in milliseconds after a sample of 10 ms and 0, 1, … `times` timeouts.
    fn backed_off(params: &TcpParams, times: usize) -> Vec<u64> {
        let mut rto = Rto::new(params, Span::ZERO);
        sample(&mut rto, 0, 10);
        let mut values = vec![rto.value().0 / MS];
        for _ in 0..times {
            rto.back_off();
            values.push(rto.value().0 / MS);
        }
        values
    }

    #[test]
    fn back_off_doubles_to_the_maximum() {
        let rfc = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
        assert_eq!(backed_off(&TcpParams::rfc(), 7), rfc);
        // Clamped to 0.2 s first: the multiplier passes its cap of 64 because the maximum is not reached.
        let ns = [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000];
        assert_eq!(backed_off(&TcpParams::ns_2_35(), 10), ns);
    }

    #[test]
    fn back_off_before_the_clamp_stops_at_the_cap() {
        // One tick of 0.1 s: RTO 0.3 s, 64 times that is 19.2 s.
        let old = [300, 600, 1200, 2400, 4800, 9600, 19_200, 19_200];
        assert_eq!(backed_off(&TcpParams::cmu_1998(), 7), old);
        // The minimum after the multiplication: 30 ms stays below 200 ms until the multiplier is 8.
        let clamp_last = TcpParams { rto_min_before_backoff: false, ..TcpParams::ns_2_35() };
        assert_eq!(backed_off(&clamp_last, 4), [200, 200, 200, 240, 480]);
    }

    #[test]
    fn the_fixed_timeout_doubles_once() {
        let fixed = TcpParams { rto_policy: RtoPolicy::Fixed, ..TcpParams::rfc() };
        assert_eq!(backed_off(&fixed, 4), [1000, 2000, 2000, 2000, 2000]);
    }

    /// Dyer 2002 §7.5: the first timeout doubles in any case; none held is exponential back-off, all held is
    /// fixed.
    #[test]
    fn the_timeout_may_stay_for_a_while_and_then_double() {
        let held = |count| TcpParams {
            rto_policy: RtoPolicy::FixedFirst,
            rto_fixed_timeouts: count,
            ..TcpParams::rfc()
        };
        assert_eq!(backed_off(&held(2), 6), [1000, 2000, 2000, 2000, 4000, 8000, 16_000]);
        assert_eq!(backed_off(&held(0), 7), backed_off(&TcpParams::rfc(), 7));
    }

    /// Dyer and Boppana 2003 §VI; g = 0 is the fixed timeout, g = 1 doubles.
    #[test]
    fn the_timeout_may_grow_by_a_fraction() {
        let growing =
            |rto_growth| TcpParams { rto_policy: RtoPolicy::Growth, rto_growth, ..TcpParams::rfc() };
        assert_eq!(backed_off(&growing(0.5), 4), [1000, 2000, 3000, 4500, 6750]);
        assert_eq!(backed_off(&growing(0.0), 4), [1000, 2000, 2000, 2000, 2000]);
        assert_eq!(backed_off(&growing(1.0), 7), backed_off(&TcpParams::rfc(), 7));
    }

    /// Whatever the profile caps and forgets, `g = 1` and `k = 0` are Reno's exponential back-off.
    #[test]
    fn the_policies_meet_the_exponential_one_in_every_profile() {
        let profiles = [TcpParams::rfc(), TcpParams::ns_2_35(), TcpParams::ns_2_1b9(), TcpParams::cmu_1998()];
        let odd = [
            TcpParams { rto_backoff_cap: 1, rto_min_before_backoff: false, ..TcpParams::cmu_1998() },
            TcpParams { rto_backoff_cap: 24, forget_rtt_above_backoff: 12, ..TcpParams::cmu_1998() },
        ];
        for params in profiles.into_iter().chain(odd) {
            let doubling = TcpParams { rto_policy: RtoPolicy::Growth, rto_growth: 1.0, ..params.clone() };
            let held =
                TcpParams { rto_policy: RtoPolicy::FixedFirst, rto_fixed_timeouts: 0, ..params.clone() };
            for other in [doubling, held] {
                assert_eq!(backed_off(&other, 14), backed_off(&params, 14), "{other:?}");
                assert_eq!(forgets_after(&other), forgets_after(&params), "{other:?}");
            }
        }
    }

    /// After how many timeouts the estimate is gone, at most 20.
    fn forgets_after(params: &TcpParams) -> usize {
        let mut rto = Rto::new(params, Span::ZERO);
        sample(&mut rto, 0, 10);
        (0..20)
            .take_while(|_| {
                rto.back_off();
                rto.srtt().is_some()
            })
            .count()
    }

    /// As in ns-2.35, the multiplier goes on to its cap where the timeout is at its maximum, so that the
    /// estimate is forgotten.
    #[test]
    fn the_multiplier_grows_at_the_maximum() {
        let params = TcpParams { forget_rtt_above_backoff: 8, ..TcpParams::ns_2_35() };
        let mut rto = Rto::new(&params, Span::ZERO);
        sample(&mut rto, 0, 30_000);
        for multiplier in [2, 4, 8, 16] {
            rto.back_off();
            assert_eq!(rto.value(), Span::from_secs(60.0));
            assert_eq!(rto.srtt().is_some(), multiplier <= 8, "{multiplier}");
        }
    }

    /// Growth by a fraction stops at the cap, too: 64 × 0.3 s.
    #[test]
    fn growth_by_a_fraction_stops_at_the_cap_of_the_multiplier() {
        let params = TcpParams { rto_policy: RtoPolicy::Growth, rto_growth: 0.9, ..TcpParams::cmu_1998() };
        assert_eq!(backed_off(&params, 10).last(), Some(&19_200));
    }

    /// RFC 6298 §5, note after 5.7; Dyer 2002 §4.1.3. What ends the back-off is no matter of the policy.
    #[test]
    fn progress_ends_the_back_off_only_if_any_new_ack_does() {
        for rto_policy in [RtoPolicy::Exponential, RtoPolicy::Fixed, RtoPolicy::FixedFirst, RtoPolicy::Growth]
        {
            for (backoff_end, after) in [(BackoffEnd::Sample, 2000), (BackoffEnd::NewAck, 1000)] {
                let params = TcpParams { rto_policy, backoff_end, ..TcpParams::rfc() };
                let mut rto = Rto::new(&params, Span::ZERO);
                rto.back_off();
                rto.handle_progress();
                assert_eq!(rto.value(), Span::from_millis(after), "{rto_policy:?}");
            }
        }
    }

    /// RFC 4015 §3.1, steps 0 and 11: the longer of what was and what the sample says, each by itself.
    #[test]
    fn after_a_spurious_timeout_the_estimate_starts_anew_but_not_below_what_it_was() {
        // 100 ms without variance before, 2 · 1 ms above it, and half of 60 ms: 102 + 4 · 30.
        // 100 ± 50 ms before, 300 ms: 300 + 4 · 150.
        for (samples, rtt_ms, rto_ms, srtt_ms) in [(200, 60, 222, 102), (1, 300, 900, 300)] {
            let mut rto = exact(0.0);
            for _ in 0..samples {
                sample(&mut rto, 0, 100);
            }
            let before = rto.estimate();
            rto.back_off();
            sample(&mut rto, 0, 3000);
            rto.start_anew(before, Time(0), Time(rtt_ms * MS));
            assert_eq!((rto.value(), rto.srtt()), (Span(rto_ms * MS), Some(Span(srtt_ms * MS))));
        }
        // In ticks of 10 ms: 6 before, so 8 and 4 · 3, where a sample of 5 says 5 and 4 · 2.5.
        let mut rto = Rto::new(&TcpParams { rto_min_s: 0.0, ..TcpParams::ns_2_35() }, Span::ZERO);
        sample(&mut rto, 0, 60);
        let before = rto.estimate();
        rto.start_anew(before, Time(0), Time(50 * MS));
        assert_eq!((rto.value(), rto.srtt()), (Span(200 * MS), Some(Span(80 * MS))));
    }

    #[test]
    fn far_back_off_forgets_the_estimate_but_not_the_timeout() {
        let mut rto = Rto::new(&TcpParams::ns_2_35(), Span::ZERO);
        sample(&mut rto, 0, 400);
        assert_eq!(rto.value(), Span(1200 * MS));
        for _ in 0..3 {
            rto.back_off();
        }
        assert!(rto.srtt().is_some());
        rto.back_off();
        assert_eq!(rto.srtt(), None);
        assert_eq!(rto.value(), Span(16 * 1200 * MS));
        // As if it were the first sample: 10 + 4 · 5 ticks.
        sample(&mut rto, 0, 100);
        assert_eq!(rto.value(), Span(300 * MS));
    }
}
