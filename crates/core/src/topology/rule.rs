//! When two nodes have a link.

use std::fmt::Debug;

use crate::kernel::{Span, Time};
use crate::mobility::{Leg, Path, Point};

/// Links are looked at anew when both ends together have gone so far, in m.
const LOOKED_AT_M: f64 = 4.0;
/// The greatest number of looks at a pair in a step.
const MOST_LOOKS: f64 = 10_000.0;

/// A node in an instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct End {
    /// Its number.
    pub node: u32,
    /// Where it is.
    pub place: Point,
    /// How high it is, in m.
    pub height_m: f64,
}

impl End {
    /// The node on this path.
    pub fn of(node: u32, path: &Path, now: Time) -> End {
        End { node, place: path.position(now), height_m: path.height(now) }
    }

    /// The squared distance to another, in m².
    pub fn distance2(self, other: End) -> f64 {
        let above_m = self.height_m - other.height_m;
        self.place.distance2(other.place) + above_m * above_m
    }
}

/// What says whether two nodes have a link, where more than their distance does.
pub trait LinkRule: Sync + Debug {
    /// The distance beyond which no two nodes have a link, in m.
    fn reach_m(&self) -> f64;

    /// How fast what decides moves where nobody does, in m/s.
    fn drift_m_s(&self) -> f64;

    /// Can both receive data of the other?
    fn holds(&self, now: Time, ends: [End; 2]) -> bool;
}

/// Who has a link with whom: all within a range, or those of whom a rule says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near<'a> {
    pub(super) range_m: f64,
    pub(super) rule: Option<&'a dyn LinkRule>,
}

impl Near<'static> {
    /// All within a range.
    pub(super) fn within(range_m: f64) -> Near<'static> {
        Near { range_m, rule: None }
    }
}

impl Near<'_> {
    /// The distance beyond which no two nodes have a link, in m.
    pub(super) fn reach_m(&self) -> f64 {
        self.rule.map_or(self.range_m, LinkRule::reach_m)
    }

    /// Have these two a link?
    pub(super) fn join(&self, now: Time, ends: [End; 2]) -> bool {
        match self.rule {
            None => ends[0].distance2(ends[1]) <= self.range_m * self.range_m,
            Some(rule) => rule.holds(now, ends),
        }
    }
}

/// The instants from `from` on, before `until`, in which a rule is asked about two nodes on these legs.
pub(super) fn looks(
    rule: &dyn LinkRule,
    on: [&Leg; 2],
    from: Time,
    until: Time,
) -> impl Iterator<Item = Time> {
    let speed = |leg: &Leg| (leg.vx * leg.vx + leg.vy * leg.vy).sqrt();
    let moves_m_s = speed(on[0]) + speed(on[1]) + 2.0 * rule.drift_m_s();
    let span = until.since(from);
    let looks = (moves_m_s * span.as_secs() / LOOKED_AT_M).ceil().clamp(1.0, MOST_LOOKS) as u64;
    (0..looks).map(move |look| from + Span(span.0 / looks * look))
}
