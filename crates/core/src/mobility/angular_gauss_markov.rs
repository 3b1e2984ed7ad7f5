//! Gauss-Markov of BonnMotion: speed and direction wander, without a mean to which they return.
//!
//! Every `step_s` the speed becomes N(speed, `speed_sd`), kept within its bounds, and the direction
//! N(direction, `direction_sd`). Places, speeds and directions at time 0 are uniform.
//!
//! A node that meets an edge turns straight back into the field and walks on; in a corner it turns along the
//! diagonal. With `edge = "bounce"` it is mirrored.
//!
//! *Deviations*: 8 in docs/models/mobility.md.

use std::f64::consts::PI;

use super::course::{Boundary, Course, Edge};
use super::drawn::{Drawn, Unfit, check_speeds, direction, place_in, polar};
use super::{Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::{choices, params};

choices! {
    /// What a node does at the edge of the field.
    pub enum AtEdge {
        /// It turns straight back into the field.
        Turn = "turn",
        /// It is mirrored.
        Bounce = "bounce",
    }
}

params! {
    /// Gauss-Markov movement of speed and direction.
    pub struct AngularGaussMarkovParams in "angular_gauss_markov" {
        /// Number of nodes.
        nodes: u32 = 50, "", "decision", [1.0, 1e5];
        /// Width of the field.
        width_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Minimum speed.
        speed_min: f64 = 0.0, "m/s", "BonnMotion GaussMarkov", [0.0, 1000.0];
        /// Maximum speed.
        speed_max: f64 = 1.5, "m/s", "BonnMotion GaussMarkov", [0.001, 1000.0];
        /// Standard deviation of the change of speed in a step.
        speed_sd: f64 = 0.5, "m/s", "BonnMotion GaussMarkov", [0.0, 1000.0];
        /// Standard deviation of the change of direction in a step.
        direction_sd: f64 = 0.125 * PI, "rad", "BonnMotion GaussMarkov", [0.0, 100.0];
        /// Time between two changes.
        step_s: f64 = 2.5, "s", "BonnMotion GaussMarkov", [0.01, 1e5];
        /// What a node does at the edge of the field.
        edge: AtEdge = AtEdge::Turn, "", "BonnMotion GaussMarkov";
    }
}

impl Drawn for AngularGaussMarkovParams {
    fn fit(&self) -> Result<(), Unfit> {
        check_speeds("angular_gauss_markov.speed_min", self.speed_min, self.speed_max)
    }

    fn commands(&self, duration: Span) -> f64 {
        let edges = self.speed_max / self.width_m.min(self.height_m);
        f64::from(self.nodes) * duration.as_secs() * (1.0 / self.step_s + edges)
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let node = |node| self.trajectory(duration, &mut streams.stream(node, Purpose::Mobility));
        (0..self.nodes).map(node).collect()
    }
}

impl AngularGaussMarkovParams {
    fn trajectory(&self, duration: Span, stream: &mut Stream) -> Trajectory {
        let field = Point { x: self.width_m, y: self.height_m };
        let start = place_in(field, stream);
        let mut course = Course::new(start, duration);
        let mut speed = stream.uniform(self.speed_min, self.speed_max);
        let mut heading = direction(stream);
        while course.is_underway() {
            if speed > 0.0 {
                heading = self.step(&mut course, speed, heading, field);
            } else {
                course.rest(Span::from_secs(self.step_s));
            }
            speed = (speed + self.speed_sd * stream.normal()).clamp(self.speed_min, self.speed_max);
            heading += self.direction_sd * stream.normal();
        }
        Trajectory::new(start, course.commands)
    }

    /// Walks for a step; the direction afterwards.
    fn step(&self, course: &mut Course, speed: f64, heading: f64, field: Point) -> f64 {
        let by = polar(speed * self.step_s, heading);
        if self.edge == AtEdge::Bounce {
            let signs = course.go(by, speed, field, Boundary::Bounce);
            return libm::atan2(by.y * signs.y, by.x * signs.x);
        }
        let Some(Edge { left, at_x, at_y }) = course.walk_to_edge(by, speed, field) else { return heading };
        let inwards =
            Point { x: if at_x { -by.x.signum() } else { 0.0 }, y: if at_y { -by.y.signum() } else { 0.0 } };
        let back = libm::atan2(inwards.y, inwards.x);
        let left_m = Point::default().distance(left);
        // Farther than across the field, it stands at the other side until its next step.
        course.walk_to_edge(polar(left_m, back), speed, field);
        back
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::drawn::tests::{paths, velocity_at};

    #[test]
    fn changes_of_direction_have_their_deviation_and_speeds_their_bounds() {
        let params = AngularGaussMarkovParams {
            nodes: 2000,
            width_m: 1e5,
            height_m: 1e5,
            speed_min: 0.5,
            ..Default::default()
        };
        let paths = paths(&params, 60.0);
        let heading = |at: Point| libm::atan2(at.y, at.x);
        let mut squared = 0.0;
        for path in &paths {
            let (before, after) = (velocity_at(path, 11.0), velocity_at(path, 13.5));
            let turned = libm::remainder(heading(after) - heading(before), 2.0 * PI);
            squared += turned * turned / 2000.0;
            let speed = Point::default().distance(before);
            assert!((0.5 - 1e-9..=1.5 + 1e-9).contains(&speed), "{speed}");
        }
        let wanted = (0.125 * PI) * (0.125 * PI);
        // A mean of 2000 squares: its deviation is √(2/2000) of it.
        assert!((squared / wanted - 1.0).abs() < 4.0 * (2.0 / 2000f64).sqrt(), "{squared} not {wanted}");
    }

    #[test]
    fn a_node_turns_straight_back_at_an_edge_or_is_mirrored() {
        let params = AngularGaussMarkovParams {
            speed_min: 1.0,
            speed_max: 1.0,
            speed_sd: 0.0,
            direction_sd: 0.0,
            ..Default::default()
        };
        let field = Point { x: 100.0, y: 100.0 };
        let at = Point { x: 99.0, y: 50.0 };
        for (edge, back) in [(AtEdge::Turn, PI), (AtEdge::Bounce, 0.75 * PI)] {
            let params = AngularGaussMarkovParams { edge, ..params.clone() };
            let mut course = Course::new(at, Span::from_secs(100.0));
            let heading = params.step(&mut course, 1.0, 0.25 * PI, field);
            assert!((heading - back).abs() < 1e-12, "{edge:?}: {heading}");
            // √2 s to the edge, and the rest of 2.5 s back.
            assert!((course.now.as_secs() - 2.5).abs() < 1e-8);
            let left_m = 2.5 - std::f64::consts::SQRT_2;
            let away_m = if edge == AtEdge::Turn { left_m } else { left_m / std::f64::consts::SQRT_2 };
            assert!((course.here.x - (100.0 - away_m)).abs() < 1e-9, "{edge:?}: {:?}", course.here);
        }
    }
}
