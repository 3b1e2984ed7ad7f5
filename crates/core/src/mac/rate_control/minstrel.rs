//! Minstrel: the rate control of Linux, for one link.
//!
//! Read first: the documentation of Minstrel in Linux's mac80211 (D. Smithies and F. Fietkau); D. Xia, J.
//! Hart and Q. Fu, "Evaluation of the Minstrel rate adaptation algorithm in IEEE 802.11g WLANs", ICC 2013.
//! *Implemented*: probabilities of success of all rates, updated at intervals as moving averages; the
//! expected throughput of a frame of 1200 bytes; the chain of rates over the attempts of a frame: best,
//! second best, most probable, lowest; some frames look around at other rates, first at faster ones and in
//! second place at slower ones.
//! *Not implemented*: several radio chains; attempts limited by their time on the air.
//! *Deviations*: rates to look at are taken in turn, not at random. Each place of the chain has two attempts.
//! A frame that is given up is recognised by the number of its attempts, `mac.short_retry_limit`.

use crate::kernel::{Span, Time};
use crate::mac::Timing;

/// What throughput is estimated for.
const FRAME_BYTES: u32 = 1200;
/// Rates that succeed less often carry nothing; more than this gains nothing.
const PROBABILITIES: (f64, f64) = (0.1, 0.9);
/// Attempts at each place of the chain.
const ATTEMPTS: u32 = 2;

/// What is known of one rate.
#[derive(Clone, Debug)]
struct OfRate {
    airtime_ns: f64,
    attempts: u32,
    successes: u32,
    /// The moving average; none before the first statistics.
    probability: Option<f64>,
}

impl OfRate {
    /// Frames per nanosecond; zero for a rate that hardly ever succeeds.
    fn throughput(&self) -> f64 {
        let probability = self.probability.unwrap_or(0.0);
        if probability < PROBABILITIES.0 { 0.0 } else { probability.min(PROBABILITIES.1) / self.airtime_ns }
    }
}

/// See the module's head. Rates are steps of the standard's ladder.
#[derive(Debug)]
pub(super) struct Minstrel {
    rates: Vec<OfRate>,
    /// Best, second best and most probable.
    chain: [usize; 3],
    /// Attempts of the frame in hand that have failed.
    failed: u32,
    most_attempts: u32,
    /// A rate that the frame in hand tries, if it looks around.
    looks_at: Option<usize>,
    /// Has it been decided whether the frame in hand looks around?
    is_decided: bool,
    frames: u32,
    looks: u32,
    look_every: u32,
    next_looked_at: usize,
    weight: f64,
    interval: Span,
    update_at: Time,
    last: usize,
}

impl Minstrel {
    pub(super) fn new(step: usize, timing: &Timing) -> Minstrel {
        let params = timing.params();
        let of_rate = |&rate| OfRate {
            airtime_ns: (timing.airtime(FRAME_BYTES, rate) + timing.sifs + timing.ack(rate).1 + timing.difs).0
                as f64,
            attempts: 0,
            successes: 0,
            probability: None,
        };
        Minstrel {
            rates: timing.ladder().iter().map(of_rate).collect(),
            chain: [step; 3],
            failed: 0,
            most_attempts: params.short_retry_limit,
            looks_at: None,
            is_decided: false,
            frames: 0,
            looks: 0,
            look_every: (1.0 / params.minstrel_looking_around) as u32,
            next_looked_at: 0,
            weight: params.minstrel_weight,
            interval: Span::from_micros(params.minstrel_interval_ms * 1e3),
            update_at: Time::ZERO,
            last: step,
        }
    }

    /// The step of the frame that is about to be sent.
    pub(super) fn step(&mut self, now: Time) -> usize {
        if self.update_at <= now {
            self.update();
            self.update_at = now + self.interval;
        }
        if !self.is_decided {
            self.is_decided = true;
            self.frames += 1;
            self.looks_at = self.look_around();
        }
        let chain = self.chain_in_hand();
        self.last = chain[((self.failed / ATTEMPTS) as usize).min(chain.len() - 1)];
        self.last
    }

    pub(super) fn handle_ack(&mut self) {
        self.rates[self.last].attempts += 1;
        self.rates[self.last].successes += 1;
        self.begin_frame();
    }

    pub(super) fn handle_missing_ack(&mut self) {
        self.rates[self.last].attempts += 1;
        self.failed += 1;
        if self.failed >= self.most_attempts {
            self.begin_frame();
        }
    }

    fn begin_frame(&mut self) {
        (self.failed, self.is_decided) = (0, false);
    }

    /// The rates of the frame in hand, place by place.
    fn chain_in_hand(&self) -> [usize; 4] {
        let [best, second, probable] = self.chain;
        match self.looks_at {
            None => [best, second, probable, 0],
            Some(faster) if self.rates[faster].airtime_ns < self.rates[best].airtime_ns => {
                [faster, best, probable, 0]
            }
            Some(slower) => [best, slower, probable, 0],
        }
    }

    /// The rate that this frame looks at, if it is its turn.
    fn look_around(&mut self) -> Option<usize> {
        if self.frames < self.look_every * (self.looks + 1) {
            return None;
        }
        self.looks += 1;
        self.next_looked_at = (self.next_looked_at + 1) % self.rates.len();
        Some(self.next_looked_at).filter(|&rate| rate != self.chain[0])
    }

    /// New statistics of all rates, and the chain that follows from them.
    fn update(&mut self) {
        for rate in &mut self.rates {
            if rate.attempts > 0 {
                let share = f64::from(rate.successes) / f64::from(rate.attempts);
                let before = rate.probability.unwrap_or(share);
                rate.probability = Some(self.weight * before + (1.0 - self.weight) * share);
                (rate.attempts, rate.successes) = (0, 0);
            }
        }
        if self.rates.iter().all(|rate| rate.probability.is_none()) {
            return;
        }
        let highest = |value: &dyn Fn(&OfRate) -> f64, but: Option<usize>| {
            let steps = (0..self.rates.len()).filter(|&step| Some(step) != but);
            steps.fold(0, |best, step| {
                let is_better = value(&self.rates[step]) > value(&self.rates[best]) || Some(best) == but;
                if is_better { step } else { best }
            })
        };
        let best = highest(&OfRate::throughput, None);
        let second = highest(&OfRate::throughput, Some(best));
        // Of those that nearly always succeed the fastest.
        let probable = highest(
            &|rate| match rate.probability.unwrap_or(0.0) {
                high if high >= 0.95 => 1.0 + rate.throughput(),
                probability => probability,
            },
            None,
        );
        self.chain = [best, second, probable];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::{MacParams, RateControl, Standard};

    fn minstrel(standard: Standard, data_rate_bps: f64) -> (Minstrel, usize) {
        let params = MacParams {
            standard,
            data_rate_bps,
            broadcast_rate_bps: 6e6,
            control_rate_bps: 6e6,
            rate_control: RateControl::Minstrel,
            ..MacParams::default()
        };
        let timing = Timing::new(&params);
        let step = timing.ladder().iter().position(|&rate| rate == timing.data_rate).expect("a rate of it");
        (Minstrel::new(step, &timing), timing.ladder().len())
    }

    /// Sends frames, a millisecond apart, over a link whose rates up to `top` succeed; returns how often each
    /// was used in the second half.
    fn send(minstrel: &mut Minstrel, steps: usize, frames: u64, top: usize) -> Vec<u32> {
        let mut used = vec![0; steps];
        for at in 0..frames {
            for _ in 0..7 {
                let step = minstrel.step(Time(at * 1_000_000));
                used[step] += u32::from(at >= frames / 2);
                if step <= top {
                    minstrel.handle_ack();
                    break;
                }
                minstrel.handle_missing_ack();
            }
        }
        used
    }

    #[test]
    fn it_finds_the_fastest_rate_that_succeeds_from_below_and_from_above() {
        for start_bps in [6e6, 54e6] {
            let (mut minstrel, steps) = minstrel(Standard::A, start_bps);
            let used = send(&mut minstrel, steps, 4000, 4);
            let all: u32 = used.iter().sum();
            assert!(used[4] > all * 8 / 10, "{used:?}");
        }
    }

    #[test]
    fn a_tenth_of_the_frames_looks_around() {
        let (mut minstrel, steps) = minstrel(Standard::A, 54e6);
        // All succeed: slower rates stand in second place, which is never reached.
        let used = send(&mut minstrel, steps, 2000, 7);
        assert_eq!(used[7], 1000, "{used:?}");
        // Faster ones stand in first place: 3 of 8 turns, and each fails twice.
        let (mut minstrel, steps) = self::minstrel(Standard::A, 54e6);
        let used = send(&mut minstrel, steps, 4000, 4);
        let looked: u32 = used[5..].iter().sum();
        assert!(looked.abs_diff(2 * 2000 / 10 * 3 / 8) < 30, "{used:?}");
    }

    #[test]
    fn an_rts_that_is_not_answered_says_nothing_about_the_rate() {
        let (mut minstrel, _) = minstrel(Standard::A, 24e6);
        let first = minstrel.step(Time::ZERO);
        for at in 1..50 {
            assert_eq!(minstrel.step(Time(at)), first);
        }
    }

    #[test]
    fn among_rates_of_which_nothing_is_known_the_slowest_comes_second() {
        let (mut minstrel, _) = minstrel(Standard::A, 24e6);
        let first = minstrel.step(Time::ZERO);
        minstrel.handle_ack();
        minstrel.update();
        assert_eq!(minstrel.chain, [first, 0, first]);
    }
}
