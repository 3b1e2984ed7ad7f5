//! Random direction: a node goes on to the edge of the field, pauses, and turns.
//!
//! Read first: Royer, Melliar-Smith & Moser, "An Analysis of the Optimal Node Density for Ad Hoc Mobile
//! Networks", ICC 2001. Directions are uniform; at an edge, among those that lead into the field. Speeds are
//! uniform on (`speed_min`, `speed_max`] and the pause is fixed. At time 0 nodes are at uniform places and
//! underway in uniform directions, which is not the stationary state.

use super::course::Course;
use super::drawn::{Drawn, Unfit, check_speeds, direction, place_in, polar};
use super::{Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::params;

params! {
    /// Random direction.
    pub struct RandomDirectionParams in "random_direction" {
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
        /// Pause at the edge.
        pause_s: f64 = 0.0, "s", "decision", [0.0, 1e6];
    }
}

impl Drawn for RandomDirectionParams {
    fn fit(&self) -> Result<(), Unfit> {
        check_speeds("random_direction.speed_min", self.speed_min, self.speed_max)
    }

    fn commands(&self, duration: Span) -> f64 {
        let mean_speed = f64::midpoint(self.speed_min, self.speed_max);
        let leg_s = self.width_m.min(self.height_m) / 2.0 / mean_speed + self.pause_s;
        f64::from(self.nodes) * (1.0 + duration.as_secs() / leg_s)
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let node = |node| self.trajectory(duration, &mut streams.stream(node, Purpose::Mobility));
        (0..self.nodes).map(node).collect()
    }
}

impl RandomDirectionParams {
    fn trajectory(&self, duration: Span, stream: &mut Stream) -> Trajectory {
        let field = Point { x: self.width_m, y: self.height_m };
        let start = place_in(field, stream);
        let mut course = Course::new(start, duration);
        while course.is_underway() {
            let by = loop {
                let by = polar(2.0 * (field.x + field.y), direction(stream));
                if leads_inwards(by.x, course.here.x, field.x) && leads_inwards(by.y, course.here.y, field.y)
                {
                    break by;
                }
            };
            // Zero, at which no node ever arrives, is never drawn.
            let speed = self.speed_max - (self.speed_max - self.speed_min) * stream.unit();
            course.walk_to_edge(by, speed, field);
            course.rest(Span::from_secs(self.pause_s));
        }
        Trajectory::new(start, course.commands)
    }
}

/// Does this displacement not leave the field from here, in one direction?
fn leads_inwards(by: f64, here: f64, side: f64) -> bool {
    (here > 0.0 || by > 0.0) && (here < side || by < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::mobility::drawn::tests::paths;

    #[test]
    fn every_leg_ends_at_an_edge_and_a_pause_follows() {
        let params = RandomDirectionParams { pause_s: 3.0, height_m: 400.0, ..Default::default() };
        let at_edge = |place: Point| {
            let off = |at: f64, side: f64| at.min(side - at).abs() < 1e-6;
            off(place.x, 1000.0) || off(place.y, 400.0)
        };
        for path in paths(&params, 900.0) {
            let done = |leg: &&crate::mobility::Leg| leg.start < Time::from_secs(800.0);
            let legs: Vec<_> = path.legs().iter().filter(done).collect();
            let begun: Vec<_> = legs.iter().skip(1).collect();
            assert!(!begun.is_empty() && begun.iter().all(|leg| at_edge(leg.from)));
            for pair in legs.windows(2).filter(|pair| pair[0].vx == 0.0 && pair[0].vy == 0.0) {
                assert_eq!(pair[1].start.since(pair[0].start), Span::from_secs(3.0));
            }
        }
    }
}
