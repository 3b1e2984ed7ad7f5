//! How the receiver of Freeze-TCP foresees by the power of what it hears that it will be cut off (Goff,
//! Moronski, Phatak and Gupta, *Freeze-TCP*, INFOCOM 2000: the mobile watches the strength of its signal; how
//! it predicts is not in what we could read).
//!
//! ```text
//! power, dBW
//!   ·  ·
//!        · ·  ·                     a line through what was heard, by least squares; a
//!              · ──\                frame of age a weighs e^(−a ÷ freeze_smoothing_s)
//! ─────────────────── \ ─ ─ ─ ─ ─   what can be received, and freeze_margin_db
//!              │    now + warning
//!             now: the window closes
//! ```
//!
//! | state | window | left by |
//! |---|---|---|
//! | hearing | open | the line is below the threshold a warning ahead → warned |
//! | warned | closed | it no longer is, or another neighbour brings a segment → hearing; the link should be gone since `freeze_greeting_s` → greeting |
//! | greeting | open; its last ACK at every `freeze_greeting_s` | a segment → hearing; `persist_max_s` → hearing |
//!
//! *Implemented:* for the neighbour that brought the last segment, base station or node of an ad hoc network.
//!
//! *Not implemented*, *deviations:* 43, 44 and 50 in docs/models/tcp.md.

use super::TcpParams;
use crate::kernel::{Span, Time};
use crate::wire::NodeId;

/// What the receiver does with its window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Nothing,
    Close,
    Open,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Hearing,
    /// The link should be gone at this time.
    Warned {
        gone: Time,
    },
    /// It says at `next`, and then again and again up to `until`, that it is there.
    Greeting {
        next: Time,
        until: Time,
    },
}

/// See the module's head. Calls come in order of time.
pub(super) struct Foresight {
    threshold_dbw: f64,
    warning_s: f64,
    greeting: Span,
    greets_for: Span,
    /// The neighbour that brought the last segment.
    last_hop: Option<NodeId>,
    line: Line,
    state: State,
}

impl Foresight {
    /// Frames can be received at `threshold_dbw` and above.
    pub(super) fn new(params: &TcpParams, threshold_dbw: f64) -> Foresight {
        Foresight {
            threshold_dbw: threshold_dbw + params.freeze_margin_db,
            warning_s: params.freeze_warning_s,
            greeting: Span::from_secs(params.freeze_greeting_s),
            greets_for: Span::from_secs(params.persist_max_s),
            last_hop: None,
            line: Line::new(params.freeze_smoothing_s),
            state: State::Hearing,
        }
    }

    /// A frame from a neighbour was received at this power; has it brought a segment of the connection?
    pub(super) fn hear(&mut self, now: Time, (from, power_w): (NodeId, f64), has_segment: bool) -> Step {
        if has_segment && self.last_hop != Some(from) {
            self.last_hop = Some(from);
            self.line.clear();
        } else if self.last_hop != Some(from) {
            return Step::Nothing;
        }
        self.line.add(now, 10.0 * libm::log10(power_w));
        if has_segment && matches!(self.state, State::Greeting { .. }) {
            self.state = State::Hearing;
        }
        match (self.gone(), self.state) {
            (Some(gone), State::Hearing) => {
                self.state = State::Warned { gone };
                Step::Close
            }
            (Some(gone), State::Warned { .. }) => {
                self.state = State::Warned { gone };
                Step::Nothing
            }
            (None, State::Warned { .. }) => {
                self.state = State::Hearing;
                Step::Open
            }
            (None, State::Hearing) | (_, State::Greeting { .. }) => Step::Nothing,
        }
    }

    /// When it greets; [`Time::NEVER`] if it does not.
    pub(super) fn next_timeout(&self) -> Time {
        match self.state {
            State::Hearing => Time::NEVER,
            State::Warned { gone } => gone + self.greeting,
            State::Greeting { next, .. } => next,
        }
    }

    /// The link may be there again: who hears nothing cannot know.
    pub(super) fn handle_timeout(&mut self, now: Time) -> Step {
        if now < self.next_timeout() {
            return Step::Nothing;
        }
        let until = match self.state {
            State::Greeting { until, .. } => until,
            State::Hearing | State::Warned { .. } => now + self.greets_for,
        };
        let next = now + self.greeting;
        self.state = if next <= until { State::Greeting { next, until } } else { State::Hearing };
        Step::Open
    }

    /// When the link will be gone, if that is within the warning.
    fn gone(&self) -> Option<Time> {
        let (now, power_dbw, slope) = self.line.now()?;
        if power_dbw + slope * self.warning_s >= self.threshold_dbw {
            return None;
        }
        let left_s = ((power_dbw - self.threshold_dbw) / -slope).clamp(0.0, self.warning_s);
        Some(now + Span::from_secs(if slope < 0.0 { left_s } else { 0.0 }))
    }
}

/// The line through samples by weighted least squares, in sums with times counted back from the last sample.
struct Line {
    smoothing_s: f64,
    first: Time,
    last: Time,
    weight: f64,
    times: f64,
    squares: f64,
    values: f64,
    products: f64,
}

impl Line {
    fn new(smoothing_s: f64) -> Line {
        Line {
            smoothing_s,
            first: Time::NEVER,
            last: Time::ZERO,
            weight: 0.0,
            times: 0.0,
            squares: 0.0,
            values: 0.0,
            products: 0.0,
        }
    }

    fn clear(&mut self) {
        *self = Line::new(self.smoothing_s);
    }

    /// Adds a sample. After a silence in which the weights fell below 5 % a new line begins.
    fn add(&mut self, now: Time, value: f64) {
        if now.since(self.last).as_secs() > 3.0 * self.smoothing_s {
            self.clear();
        }
        let passed_s = if self.first == Time::NEVER { 0.0 } else { now.since(self.last).as_secs() };
        let fades = libm::exp(-passed_s / self.smoothing_s);
        self.squares =
            fades * (self.squares - 2.0 * passed_s * self.times + passed_s * passed_s * self.weight);
        self.products = fades * (self.products - passed_s * self.values);
        self.times = fades * (self.times - passed_s * self.weight);
        self.weight = fades * self.weight + 1.0;
        self.values = fades * self.values + value;
        (self.first, self.last) = (self.first.min(now), now);
    }

    /// The last sample's time, and there the line's value and its slope a second. None before samples reach
    /// over the smoothing time: two that come at once say nothing of a slope.
    fn now(&self) -> Option<(Time, f64, f64)> {
        if self.first == Time::NEVER || self.last.since(self.first).as_secs() < self.smoothing_s {
            return None;
        }
        let spread = self.weight * self.squares - self.times * self.times;
        let slope = (self.weight * self.products - self.times * self.values) / spread;
        Some((self.last, (self.values - slope * self.times) / self.weight, slope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: NodeId = NodeId(1);
    const OTHER: NodeId = NodeId(2);

    fn at(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    /// What is heard at this power, in dBW.
    fn heard(from: NodeId, power_dbw: f64) -> (NodeId, f64) {
        (from, libm::pow(10.0, power_dbw / 10.0))
    }

    /// A warning of half a second, a smoothing of one, greetings every second for three; −100 dBW is enough.
    fn foresight() -> Foresight {
        let params = TcpParams {
            freeze_warning_s: 0.5,
            freeze_smoothing_s: 1.0,
            freeze_greeting_s: 1.0,
            freeze_margin_db: 0.0,
            persist_max_s: 3.0,
            ..TcpParams::rfc()
        };
        Foresight::new(&params, -100.0)
    }

    /// Hears a segment every tenth of a second from `from_s` on, up to `to_s`, at a power that begins at
    /// `power_dbw` and changes by so much a second. Says what it did, and when in tenths of seconds.
    fn hear(of: &mut Foresight, (from_s, to_s): (u32, u32), power_dbw: f64, slope: f64) -> Vec<(u32, Step)> {
        let mut steps = Vec::new();
        for tenth in 10 * from_s..=10 * to_s {
            let seconds = f64::from(tenth) / 10.0;
            let power = power_dbw + slope * (seconds - f64::from(from_s));
            let step = of.hear(at(seconds), heard(NEAR, power), true);
            steps.extend((step != Step::Nothing).then_some((tenth, step)));
        }
        steps
    }

    /// From −95 dBW, 2 dB a second less: the threshold is reached at 2.5 s, and half a second before 2 s are
    /// over: the line is exact. Slightly beyond, as a line that meets the threshold is not below it.
    #[test]
    fn the_window_closes_a_warning_before_the_line_meets_the_threshold() {
        let mut falling = foresight();
        assert_eq!(hear(&mut falling, (0, 2), -94.99, -2.0), []);
        assert_eq!(falling.hear(at(2.1), heard(NEAR, -99.19), false), Step::Close);
        let greeting_s = falling.next_timeout().as_secs();
        assert!((greeting_s - 3.505).abs() < 1e-6, "a second after the link is gone: {greeting_s}");
        let mut rising = foresight();
        assert_eq!(hear(&mut rising, (0, 9), -99.9, 0.1), [], "weak, but nothing is lost");
    }

    /// From 0.7 s on the line is below the threshold a warning ahead.
    #[test]
    fn before_the_smoothing_time_is_over_nothing_is_foreseen() {
        let mut steep = foresight();
        assert_eq!(hear(&mut steep, (0, 2), -60.0, -35.0), [(10, Step::Close)]);
    }

    /// The mobile turns round 0.4 s before the link is gone.
    #[test]
    fn who_turns_round_opens_the_window_again() {
        let mut turning = foresight();
        assert_eq!(hear(&mut turning, (0, 2), -95.1, -2.0), [(20, Step::Close)]);
        let back: Vec<Step> = (21..30)
            .map(|tenth| {
                turning.hear(at(f64::from(tenth) / 10.0), heard(NEAR, -99.1 + f64::from(tenth - 20)), false)
            })
            .filter(|&step| step != Step::Nothing)
            .collect();
        assert_eq!(back, [Step::Open]);
        assert_eq!(turning.next_timeout(), Time::NEVER);
    }

    #[test]
    fn another_last_hop_begins_a_new_line() {
        let mut moved = foresight();
        hear(&mut moved, (0, 2), -95.1, -2.0);
        assert_eq!(moved.hear(at(2.1), heard(OTHER, -70.0), false), Step::Nothing, "it may carry nothing");
        assert_eq!(moved.hear(at(2.2), heard(OTHER, -70.0), true), Step::Open);
        assert_eq!(
            moved.hear(at(2.3), heard(NEAR, -200.0), false),
            Step::Nothing,
            "it is of no interest now"
        );
    }

    /// The link is gone at 2.45 s. Greetings at 3.45, 4.45, 5.45 and 6.45 s, unless a segment comes.
    #[test]
    fn who_hears_nothing_greets_until_a_segment_comes_or_time_is_up() {
        let mut cut = foresight();
        hear(&mut cut, (0, 2), -95.1, -2.0);
        let mut greetings = Vec::new();
        while cut.next_timeout() != Time::NEVER {
            let now = cut.next_timeout();
            assert_eq!(cut.handle_timeout(Time(now.0 - 1)), Step::Nothing, "too early");
            assert_eq!(cut.handle_timeout(now), Step::Open);
            greetings.push(now.as_secs());
        }
        assert_eq!(
            greetings.iter().map(|at_s| (at_s * 100.0).round()).collect::<Vec<_>>(),
            [345.0, 445.0, 545.0, 645.0]
        );
        let mut back = foresight();
        hear(&mut back, (0, 2), -95.1, -2.0);
        back.handle_timeout(back.next_timeout());
        assert_eq!(back.hear(at(5.2), heard(NEAR, -99.9), false), Step::Nothing, "a frame, but no segment");
        assert_ne!(back.next_timeout(), Time::NEVER);
        assert_eq!(back.hear(at(5.3), heard(NEAR, -99.9), true), Step::Nothing);
        assert_eq!(back.next_timeout(), Time::NEVER);
    }

    /// A greeting that comes while the link is still there: the next segment closes the window again. After a
    /// silence of more than three smoothing times the old line says nothing.
    #[test]
    fn a_greeting_forgets_nothing_and_a_long_silence_all() {
        for (back_s, step) in [(3.5, Step::Close), (5.1, Step::Nothing)] {
            let mut early = foresight();
            hear(&mut early, (0, 2), -95.1, -2.0);
            assert_eq!(early.handle_timeout(early.next_timeout()), Step::Open);
            assert_eq!(early.hear(at(back_s), heard(NEAR, -99.9), true), step, "{back_s}");
        }
    }

    /// The recent half second decides: a line through all would still fall.
    #[test]
    fn what_was_heard_long_ago_hardly_counts() {
        let mut line = Line::new(0.1);
        for tenth in 0..20 {
            line.add(at(f64::from(tenth) / 10.0), -f64::from(tenth));
        }
        for tenth in 20..30 {
            line.add(at(f64::from(tenth) / 10.0), f64::from(tenth) - 40.0);
        }
        let (_, value, slope) = line.now().expect("long enough");
        assert!((value + 11.0).abs() < 0.01 && (slope - 10.0).abs() < 0.05, "{value} {slope}");
    }
}
