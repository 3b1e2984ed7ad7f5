//! A node's path: its movement commands as straight legs, and its position at any time.
//! *Deviations*: 1 to 3 in docs/models/mobility.md.

use super::{Command, Height, Point, Presence, Trajectory};
use crate::kernel::{Span, Time};

/// A straight piece of a path at constant velocity; it lasts until the next leg's start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Leg {
    /// When the leg begins.
    pub start: Time,
    /// Where it begins.
    pub from: Point,
    /// Metres per second to the east.
    pub vx: f64,
    /// Metres per second to the north.
    pub vy: f64,
}

impl Leg {
    /// The position at `now`, which is not before the leg's start.
    pub fn position(&self, now: Time) -> Point {
        // Signed, because that conversion is one instruction; no run lasts 2^63 ns.
        let seconds = (now.0 - self.start.0) as i64 as f64 * 1e-9;
        Point { x: self.from.x + self.vx * seconds, y: self.from.y + self.vy * seconds }
    }

    fn resting(start: Time, at: Point) -> Leg {
        Leg { start, from: at, vx: 0.0, vy: 0.0 }
    }
}

/// The legs of one node, in order of time, the first from [`Time::ZERO`].
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    legs: Vec<Leg>,
    /// Starts of legs that do not begin where the leg before ended.
    jumps: Vec<Time>,
    heights: Vec<Height>,
    present: Vec<Presence>,
}

impl Path {
    /// The path that follows from a trajectory's commands.
    pub fn new(trajectory: &Trajectory) -> Path {
        let mut path = Path {
            legs: vec![Leg::resting(Time::ZERO, trajectory.start)],
            jumps: Vec::new(),
            heights: trajectory.heights.clone(),
            present: trajectory.present.clone(),
        };
        // The end of the running leg, if it has one: when and where the node arrives.
        let mut arrival: Option<(Time, Point)> = None;
        for command in &trajectory.commands {
            if let Some((time, place)) = arrival
                && time <= command.at()
            {
                path.push(Leg::resting(time, place));
            }
            arrival = path.obey(command);
        }
        if let Some((time, place)) = arrival {
            path.push(Leg::resting(time, place));
        }
        path
    }

    /// Obeys a command; returns when and where it brings the node, if it moves.
    fn obey(&mut self, command: &Command) -> Option<(Time, Point)> {
        let here = self.position(command.at());
        match *command {
            Command::GoTo { at, to, speed } => {
                let distance = here.distance(to);
                if distance == 0.0 || speed == 0.0 {
                    self.push(Leg::resting(at, here));
                    return None;
                }
                let (vx, vy) = ((to.x - here.x) / distance * speed, (to.y - here.y) / distance * speed);
                self.push(Leg { start: at, from: here, vx, vy });
                Some((at + Span::from_secs(distance / speed), to))
            }
            Command::Jump { at, to } => {
                self.push(Leg::resting(at, to));
                self.jumps.push(at);
                None
            }
        }
    }

    /// Appends a leg; one that begins with the last leg takes its place.
    fn push(&mut self, leg: Leg) {
        if self.legs.last().is_some_and(|last| last.start == leg.start) {
            self.legs.pop();
        }
        self.legs.push(leg);
    }

    /// The legs.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// When the node is suddenly elsewhere.
    pub fn jumps(&self) -> &[Time] {
        &self.jumps
    }

    /// The greatest speed of any leg that begins before `end`, in m/s.
    pub fn top_speed(&self, end: Time) -> f64 {
        self.legs
            .iter()
            .take_while(|leg| leg.start < end)
            .map(|leg| (leg.vx * leg.vx + leg.vy * leg.vy).sqrt())
            .fold(0.0, f64::max)
    }

    /// The heights between which it rises and falls evenly; none: it is on the ground.
    pub fn heights(&self) -> &[Height] {
        &self.heights
    }

    /// The height at `now`, in m.
    pub fn height(&self, now: Time) -> f64 {
        let next = self.heights.partition_point(|height| height.at <= now);
        match (next.checked_sub(1).map(|last| self.heights[last]), self.heights.get(next)) {
            (Some(last), Some(next)) => {
                let share = now.since(last.at).as_secs() / next.at.since(last.at).as_secs();
                last.z_m + (next.z_m - last.z_m) * share
            }
            (Some(only), None) => only.z_m,
            (None, first) => first.map_or(0.0, |first| first.z_m),
        }
    }

    /// When the node is there; empty: always.
    pub fn present(&self) -> &[Presence] {
        &self.present
    }

    /// Is the node there at `now`?
    pub fn is_present(&self, now: Time) -> bool {
        if self.present.is_empty() {
            return true;
        }
        let next = self.present.partition_point(|presence| presence.until <= now);
        self.present.get(next).is_some_and(|presence| presence.covers(now))
    }

    /// Is the node there from `from` to `to`, and at both?
    pub fn is_present_throughout(&self, from: Time, to: Time) -> bool {
        if self.present.is_empty() {
            return true;
        }
        let next = self.present.partition_point(|presence| presence.until <= from);
        self.present.get(next).is_some_and(|presence| presence.covers(from) && presence.covers(to))
    }

    /// Is the node away at any time before `end`?
    pub fn is_ever_absent(&self, end: Time) -> bool {
        let is_whole = |presence: &Presence| presence.from == Time::ZERO && presence.until >= end;
        !self.present.is_empty() && !self.present.iter().any(is_whole)
    }

    /// When it joins or leaves next after `now`; never, if it does not.
    pub fn next_presence_change(&self, now: Time) -> Time {
        let next = self.present.partition_point(|presence| presence.until <= now);
        self.present
            .get(next)
            .map_or(Time::NEVER, |presence| if now < presence.from { presence.from } else { presence.until })
    }

    /// When it joins and leaves.
    pub fn presence_changes(&self) -> impl Iterator<Item = Time> + '_ {
        self.present.iter().flat_map(|presence| [presence.from, presence.until])
    }

    /// The position at `now`.
    pub fn position(&self, now: Time) -> Point {
        let next = self.legs.partition_point(|leg| leg.start <= now);
        self.legs[next - 1].position(now)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "speeds that were put in come out as they are")]

    use super::*;

    fn secs(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    fn close(a: Point, x: f64, y: f64) -> bool {
        a.distance(Point { x, y }) < 1e-6
    }

    #[test]
    fn a_node_goes_straight_and_stops_where_it_was_sent() {
        let path = Path::new(&Trajectory::new(
            Point { x: 0.0, y: 0.0 },
            vec![Command::GoTo { at: secs(10.0), to: Point { x: 30.0, y: 40.0 }, speed: 5.0 }],
        ));
        assert!(close(path.position(secs(9.0)), 0.0, 0.0));
        assert!(close(path.position(secs(15.0)), 15.0, 20.0));
        assert_eq!(path.position(secs(20.0)), Point { x: 30.0, y: 40.0 });
        assert_eq!(path.position(secs(500.0)), Point { x: 30.0, y: 40.0 });
    }

    #[test]
    fn a_command_on_the_way_starts_from_where_the_node_is() {
        let path = Path::new(&Trajectory::new(
            Point { x: 0.0, y: 0.0 },
            vec![
                Command::GoTo { at: secs(0.0), to: Point { x: 100.0, y: 0.0 }, speed: 10.0 },
                Command::GoTo { at: secs(5.0), to: Point { x: 50.0, y: 100.0 }, speed: 20.0 },
            ],
        ));
        assert!(close(path.position(secs(5.0)), 50.0, 0.0));
        assert!(close(path.position(secs(7.0)), 50.0, 40.0));
        assert_eq!(path.top_speed(secs(100.0)), 20.0);
        assert_eq!(path.top_speed(secs(4.0)), 10.0);
    }

    #[test]
    fn a_jump_is_at_once_and_remembered() {
        let path = Path::new(&Trajectory::new(
            Point { x: 0.0, y: 0.0 },
            vec![
                Command::GoTo { at: secs(0.0), to: Point { x: 100.0, y: 0.0 }, speed: 10.0 },
                Command::Jump { at: secs(10.0), to: Point { x: 0.0, y: 0.0 } },
                Command::GoTo { at: secs(10.0), to: Point { x: 100.0, y: 0.0 }, speed: 10.0 },
            ],
        ));
        assert!(path.position(secs(9.999)).x > 99.0);
        assert!(close(path.position(secs(11.0)), 10.0, 0.0));
        assert_eq!(path.jumps(), [secs(10.0)]);
    }
}
