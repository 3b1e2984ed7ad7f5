//! Random walk: a node goes in a random direction for a fixed time, and draws the next.
//!
//! Read first: Camp, Boleng & Davies, "A Survey of Mobility Models for Ad Hoc Network Research", WCMC 2(5),
//! 2002, 2.1. Directions are uniform, speeds uniform on (`speed_min`, `speed_max`], and a node is mirrored at
//! the edges of the field. Legs take `leg_s` and are followed by a fixed pause.
//!
//! Places are uniform at all times, and at time 0 a node is at a uniform instant of leg and pause: nothing
//! drifts, and nothing need be discarded.

use super::course::{Boundary, Course};
use super::drawn::{Drawn, Unfit, check_speeds, direction, place_in, polar};
use super::{Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::params;

params! {
    /// Random walk.
    pub struct RandomWalkParams in "random_walk" {
        /// Number of nodes.
        nodes: u32 = 50, "", "decision", [1.0, 1e5];
        /// Width of the field.
        width_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Minimum speed.
        speed_min: f64 = 1.0, "m/s", "decision", [0.0, 1000.0];
        /// Maximum speed.
        speed_max: f64 = 20.0, "m/s", "decision", [0.001, 1000.0];
        /// Time for which a node keeps its speed and, but for edges, its direction.
        leg_s: f64 = 10.0, "s", "decision", [0.01, 1e5];
        /// Pause after each leg.
        pause_s: f64 = 0.0, "s", "decision", [0.0, 1e6];
    }
}

impl Drawn for RandomWalkParams {
    fn fit(&self) -> Result<(), Unfit> {
        check_speeds("random_walk.speed_min", self.speed_min, self.speed_max)
    }

    fn commands(&self, duration: Span) -> f64 {
        let edges = self.leg_s * self.speed_max / self.width_m.min(self.height_m);
        f64::from(self.nodes) * (1.0 + duration.as_secs() / (self.leg_s + self.pause_s) * (1.0 + edges))
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let field = Point { x: self.width_m, y: self.height_m };
        let node = |node| {
            let mut stream = streams.stream(node, Purpose::Mobility);
            let start = place_in(field, &mut stream);
            self.from(start, field, duration, &mut stream)
        };
        (0..self.nodes).map(node).collect()
    }
}

impl RandomWalkParams {
    /// A walk in a field, given by its far corner, from a place that was drawn uniformly.
    pub(super) fn from(&self, start: Point, field: Point, duration: Span, stream: &mut Stream) -> Trajectory {
        let mut course = Course::new(start, duration);
        // What is left of the first leg and its pause.
        let mut left_s = (self.leg_s + self.pause_s) * stream.positive_unit();
        while course.is_underway() {
            let (speed, heading) = (self.speed(stream), direction(stream));
            let walk_s = (left_s - self.pause_s).max(0.0);
            course.go(polar(speed * walk_s, heading), speed, field, Boundary::Bounce);
            course.rest(Span::from_secs(left_s - walk_s));
            left_s = self.leg_s + self.pause_s;
        }
        Trajectory::new(start, course.commands)
    }

    /// A speed uniform on (min, max]: zero, at which no node ever arrives, is never drawn.
    fn speed(&self, stream: &mut Stream) -> f64 {
        self.speed_max - (self.speed_max - self.speed_min) * stream.unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::mobility::drawn::tests::{chi2, paths, velocity_at};
    use crate::mobility::geometric_mobility;

    #[test]
    fn density_is_uniform_and_the_share_of_walking_nodes_constant_at_all_times() {
        let params = RandomWalkParams {
            nodes: 6000,
            width_m: 400.0,
            height_m: 300.0,
            leg_s: 10.0,
            pause_s: 5.0,
            ..Default::default()
        };
        let paths = paths(&params, 100.0);
        for at_s in [0.0, 3.0, 40.0, 99.0] {
            let found = chi2(&paths, Point { x: 400.0, y: 300.0 }, at_s);
            assert!(found < 161.3, "{at_s} s: {found}");
            let walking = paths.iter().filter(|path| velocity_at(path, at_s) != Point::default()).count();
            let share = walking as f64 / 6000.0;
            // Four standard errors.
            assert!((share - 2.0 / 3.0).abs() < 4.0 * (2.0 / 9.0 / 6000f64).sqrt(), "{at_s} s: {share}");
        }
    }

    #[test]
    fn independent_directions_at_one_speed_have_a_geometric_mobility_of_four_over_pi_of_it() {
        let params =
            RandomWalkParams { nodes: 400, speed_min: 3.0, speed_max: 3.0, leg_s: 5.0, ..Default::default() };
        let (start, end) = (Time::ZERO, Time::from_secs(500.0));
        let found = geometric_mobility(&paths(&params, 500.0), start, end).expect("pairs");
        let wanted = 3.0 * 4.0 / std::f64::consts::PI;
        // A pair has some 100 independent stretches of relative speeds that deviate by 0.31 of s√2; pairs
        // have nodes in common: four errors are below 0.5 %.
        assert!((found - wanted).abs() < 0.005 * wanted, "{found} not {wanted}");
    }
}
