//! A node's way while it is drawn: where it is, when, and which commands brought it there.

use super::{Command, Point};
use crate::kernel::{Span, Time};
use crate::params::choices;

choices! {
    /// How destinations are drawn, and what happens at the edge of the field.
    pub enum Boundary {
        /// Destinations uniform in the field; no edge is ever met.
        Classic = "classic",
        /// Displacements uniform on [-L, L]²; leaves on one side, enters on the other. Square fields only.
        Wrap = "wrap",
        /// Displacements uniform on [-W, W] × [-H, H], mirrored at the edges.
        Bounce = "bounce",
    }
}

/// A node underway, with every command before the end.
pub(super) struct Course {
    pub(super) now: Time,
    end: Time,
    pub(super) here: Point,
    pub(super) commands: Vec<Command>,
}

/// A node at the edge of its field.
pub(super) struct Edge {
    /// What is left of the displacement, in m.
    pub(super) left: Point,
    /// Is it the western or the eastern edge?
    pub(super) at_x: bool,
    /// Is it the southern or the northern edge?
    pub(super) at_y: bool,
}

impl Course {
    pub(super) fn new(here: Point, duration: Span) -> Course {
        Course { now: Time::ZERO, end: Time::ZERO + duration, here, commands: Vec::new() }
    }

    /// Is it before the end?
    pub(super) fn is_underway(&self) -> bool {
        self.now < self.end
    }

    /// Stands still.
    pub(super) fn rest(&mut self, span: Span) {
        self.now += span;
    }

    /// Walks straight to a place, at a speed in m/s.
    pub(super) fn walk_to(&mut self, to: Point, speed: f64) {
        let distance = self.here.distance(to);
        if distance > 0.0 && self.is_underway() {
            self.commands.push(Command::GoTo { at: self.now, to, speed });
            // As `Path` computes the arrival, to the nanosecond.
            self.now += Span::from_secs(distance / speed);
            self.here = to;
        }
    }

    /// Walks straight to a place so that it is there at that time, or stands still if it is there.
    pub(super) fn be_at(&mut self, to: Point, then: Time) {
        let distance = self.here.distance(to);
        if distance > 0.0 && self.is_underway() {
            let speed = distance / then.since(self.now).as_secs();
            self.commands.push(Command::GoTo { at: self.now, to, speed });
            self.here = to;
        }
        self.now = then;
    }

    /// Is at once elsewhere.
    pub(super) fn jump(&mut self, to: Point) {
        if self.is_underway() {
            self.commands.push(Command::Jump { at: self.now, to });
        }
        self.here = to;
    }

    /// Walks along `by`, in m, and obeys the rule at each edge on the way; `field` is the far corner. Returns
    /// by what a velocity is to be multiplied in each direction: it is -1 where it was mirrored.
    pub(super) fn go(&mut self, by: Point, speed: f64, field: Point, boundary: Boundary) -> Point {
        let (mut left, mut signs) = (by, Point { x: 1.0, y: 1.0 });
        if boundary == Boundary::Classic {
            // A destination on the edge is no crossing, however the sums are rounded.
            let (share_x, share_y) = self.shares(by, field);
            self.walk_to(self.along(by, share_x.min(share_y), field), speed);
            return signs;
        }
        while let Some(Edge { left: rest, at_x, at_y }) = self.walk_to_edge(left, speed, field) {
            left = rest;
            if boundary == Boundary::Wrap {
                self.jump(Point {
                    x: if at_x { field.x - self.here.x } else { self.here.x },
                    y: if at_y { field.y - self.here.y } else { self.here.y },
                });
                continue;
            }
            let turn = Point { x: if at_x { -1.0 } else { 1.0 }, y: if at_y { -1.0 } else { 1.0 } };
            left = Point { x: left.x * turn.x, y: left.y * turn.y };
            signs = Point { x: signs.x * turn.x, y: signs.y * turn.y };
        }
        signs
    }

    /// Walks along `by` to its end, or to the edge of the field, if that is met before and before the end.
    pub(super) fn walk_to_edge(&mut self, by: Point, speed: f64, field: Point) -> Option<Edge> {
        if !self.is_underway() {
            return None;
        }
        let (share_x, share_y) = self.shares(by, field);
        let share = share_x.min(share_y);
        let mut goal = self.along(by, share, field);
        if share >= 1.0 {
            self.walk_to(goal, speed);
            return None;
        }
        let (at_x, at_y) = (share_x <= share, share_y <= share);
        // On the edge exactly, so that the next piece does not find it again.
        if at_x {
            goal.x = if by.x > 0.0 { field.x } else { 0.0 };
        }
        if at_y {
            goal.y = if by.y > 0.0 { field.y } else { 0.0 };
        }
        self.walk_to(goal, speed);
        let left = Point { x: by.x * (1.0 - share), y: by.y * (1.0 - share) };
        Some(Edge { left, at_x, at_y })
    }

    /// The place after a share of a displacement, at most all of it, and within the field.
    fn along(&self, by: Point, share: f64, field: Point) -> Point {
        let to = Point { x: self.here.x + by.x * share.min(1.0), y: self.here.y + by.y * share.min(1.0) };
        inside(to, field)
    }

    /// The shares of a displacement after which an edge is met, by direction.
    fn shares(&self, by: Point, field: Point) -> (f64, f64) {
        (until_edge(self.here.x, by.x, field.x), until_edge(self.here.y, by.y, field.y))
    }
}

/// `point` moved into the field, against the rounding of sums.
pub(super) fn inside(point: Point, field: Point) -> Point {
    Point { x: point.x.clamp(0.0, field.x), y: point.y.clamp(0.0, field.y) }
}

/// The share of a displacement `by` after which `at` reaches 0 or `side`; infinite if it does not move.
fn until_edge(at: f64, by: f64, side: f64) -> f64 {
    if by > 0.0 {
        (side - at) / by
    } else if by < 0.0 {
        at / -by
    } else {
        f64::INFINITY
    }
}
