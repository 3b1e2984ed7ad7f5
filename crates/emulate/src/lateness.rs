//! How late frames are: the clock's time minus the run's when a frame goes on the air, or to a program.
//!
//! The run itself is exact at any lateness: what happens on the air happens in its own time. What is wrong in
//! an emulation that lags is the programs' view of it. They get frames later than they should, and what they
//! answer goes on the air later.
//!
//! The verdict is about frames on the air, in the order of which the loop works. Handing a frame to a program
//! costs the kernel some 20 µs, so that the last of many neighbours gets a broadcast that much later, as the
//! computers of a real network do not all take it in the same instant; this is reported beside it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use manetlab_core::kernel::{Span, Time};
use manetlab_core::observe::{Event, Recorder};
use manetlab_core::scenario::Scenario;
use manetlab_core::wire::NodeId;
use serde::Serialize;

/// The largest share of frames that may be late by more than a slot.
pub const TRUSTED_SHARE: f64 = 0.001;

/// The clock: time since the emulation began.
#[derive(Clone, Copy)]
pub struct Wall(Instant);

#[expect(
    clippy::disallowed_methods,
    reason = "an emulation happens in real time, and the core gets it by argument"
)]
impl Wall {
    /// It begins now.
    pub fn start() -> Wall {
        Wall(Instant::now())
    }

    /// The time since.
    pub fn now(self) -> Time {
        Time(self.0.elapsed().as_nanos() as u64)
    }
}

/// How late some frames were.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Delays {
    /// How many frames.
    pub frames: usize,
    /// The lateness that half of them did not exceed, in s; none without frames.
    pub median_s: Option<f64>,
    /// That which 99.9 % of them did not exceed, in s.
    pub p999_s: Option<f64>,
    /// That of the latest, in s.
    pub max_s: Option<f64>,
}

impl Delays {
    fn of(sorted: &[Span]) -> Delays {
        let secs = |span: Span| span.0 as f64 / 1e9;
        // The smallest value that at least so many thousandths do not exceed.
        let within =
            |share: usize| (sorted.len() * share).div_ceil(1000).checked_sub(1).map(|at| secs(sorted[at]));
        let (median_s, p999_s, max_s) = (within(500), within(999), within(1000));
        Delays { frames: sorted.len(), median_s, p999_s, max_s }
    }
}

/// How late the frames of an emulation were.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LatenessReport {
    /// Frames when they went on the air, RTS, CTS and ACK among them.
    pub on_air: Delays,
    /// Frames when they were handed to programs.
    pub handed_over: Delays,
    /// A slot of the MAC, in s.
    pub slot_s: f64,
    /// The share of the frames on the air that was late by more than a slot; 0 if there were no frames.
    pub beyond_slot: f64,
    /// Is that share at most [`TRUSTED_SHARE`]?
    pub trusted: bool,
}

#[derive(Default)]
struct Collected {
    on_air: Vec<Span>,
    handed_over: Vec<Span>,
}

/// Collects the lateness of frames. Clones share what they collect.
#[derive(Clone)]
pub struct Lateness {
    wall: Wall,
    collected: Rc<RefCell<Collected>>,
}

impl Lateness {
    /// Of an emulation with this clock.
    pub fn new(wall: Wall) -> Lateness {
        Lateness { wall, collected: Rc::default() }
    }

    /// A frame that was due for a program at `due` is handed over now.
    pub fn hand_over(&self, due: Time) {
        self.collected.borrow_mut().handed_over.push(self.wall.now().since(due));
    }

    /// What has been collected, where a slot of the MAC is as long as this.
    pub fn report(&self, slot: Span) -> LatenessReport {
        let mut collected = self.collected.borrow_mut();
        collected.on_air.sort_unstable();
        collected.handed_over.sort_unstable();
        let all = &collected.on_air;
        let late = all.len() - all.partition_point(|&span| span <= slot);
        let beyond_slot = if all.is_empty() { 0.0 } else { late as f64 / all.len() as f64 };
        LatenessReport {
            on_air: Delays::of(all),
            handed_over: Delays::of(&collected.handed_over),
            slot_s: slot.0 as f64 / 1e9,
            beyond_slot,
            trusted: beyond_slot <= TRUSTED_SHARE,
        }
    }
}

impl Recorder for Lateness {
    fn record(&mut self, time: Time, _node: NodeId, event: &Event<'_>) {
        if matches!(event, Event::Frame(_)) {
            self.collected.borrow_mut().on_air.push(self.wall.now().since(time));
        }
    }

    fn destinations(&self, _: &Scenario) -> Vec<NodeId> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(micros: impl IntoIterator<Item = u64>) -> LatenessReport {
        let lateness = Lateness::new(Wall::start());
        let mut late = lateness.collected.borrow_mut();
        late.on_air.extend(micros.into_iter().map(|each| Span(each * 1000)));
        late.handed_over.push(Span(7_000_000));
        drop(late);
        lateness.report(Span::from_micros(20.0))
    }

    #[test]
    fn one_late_frame_of_a_thousand_is_trusted_and_two_are_not() {
        let one = collected((0..999).map(|_| 20).chain([21]));
        assert_eq!((one.on_air.frames, one.beyond_slot, one.trusted), (1000, 0.001, true));
        let Delays { median_s, p999_s, max_s, .. } = one.on_air;
        assert_eq!((median_s, p999_s, max_s), (Some(20e-6), Some(20e-6), Some(21e-6)));
        let two = collected((0..998).map(|_| 1).chain([30, 40]));
        let Delays { median_s, p999_s, max_s, .. } = two.on_air;
        assert_eq!((median_s, p999_s, max_s, two.trusted), (Some(1e-6), Some(30e-6), Some(40e-6), false));
        assert_eq!((two.handed_over.frames, two.handed_over.max_s), (1, Some(7e-3)));
    }

    #[test]
    fn without_frames_nothing_is_late() {
        let none = collected([]);
        assert_eq!((none.on_air.max_s, none.on_air.p999_s, none.trusted), (None, None, true));
    }
}
