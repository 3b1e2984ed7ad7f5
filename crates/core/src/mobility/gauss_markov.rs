//! Gauss-Markov: the components of a node's velocity remember what they were.
//!
//! Read first: Liang & Haas, "Predictive Distance-Based Mobility Management for PCS Networks", INFOCOM
//! 1999. Every `step_s` each component becomes v := αv + (1 - α)v̄ + √(1 - α²)·σ·N, N standard normal. A
//! node's mean velocity v̄ has a given length and a direction of its own. With α = 1 it goes straight
//! on; with α = 0 velocities are independent, Brownian motion about a drift.
//!
//! At an edge of the field v and v̄ are mirrored. Unfolded over its mirror images the process has no
//! edge, so a uniform place and a velocity of N(v̄, σ²) at time 0 are stationary.
//!
//! *Deviations*: 7 in docs/models/mobility.md.

use super::course::{Boundary, Course};
use super::drawn::{Drawn, Unfit, direction, place_in, polar};
use super::{Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::params;

params! {
    /// Gauss-Markov movement of velocities.
    pub struct GaussMarkovParams in "gauss_markov" {
        /// Number of nodes.
        nodes: u32 = 50, "", "decision", [1.0, 1e5];
        /// Width of the field.
        width_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Memory of the velocity from step to step, α: 0 none, 1 all.
        alpha: f64 = 0.75, "", "decision", [0.0, 1.0];
        /// Length of each node's mean velocity, whose direction is its own.
        speed_mean: f64 = 5.0, "m/s", "decision", [0.0, 1000.0];
        /// Standard deviation of each component of the velocity, σ.
        speed_sd: f64 = 1.0, "m/s", "decision", [0.0, 1000.0];
        /// Time between two changes of the velocity.
        step_s: f64 = 1.0, "s", "decision", [0.01, 1e5];
    }
}

impl Drawn for GaussMarkovParams {
    fn fit(&self) -> Result<(), Unfit> {
        Ok(())
    }

    fn commands(&self, duration: Span) -> f64 {
        let side = self.width_m.min(self.height_m);
        let edges = (self.speed_mean + 2.0 * self.speed_sd) / side;
        f64::from(self.nodes) * duration.as_secs() * (1.0 / self.step_s + edges)
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let node = |node| self.trajectory(duration, &mut streams.stream(node, Purpose::Mobility));
        (0..self.nodes).map(node).collect()
    }
}

impl GaussMarkovParams {
    fn trajectory(&self, duration: Span, stream: &mut Stream) -> Trajectory {
        let field = Point { x: self.width_m, y: self.height_m };
        let start = place_in(field, stream);
        let mut mean = polar(self.speed_mean, direction(stream));
        let mut course = Course::new(start, duration);
        let mut velocity = Point {
            x: mean.x + self.speed_sd * stream.normal(),
            y: mean.y + self.speed_sd * stream.normal(),
        };
        while course.is_underway() {
            let speed = Point::default().distance(velocity);
            if speed > 0.0 {
                let by = Point { x: velocity.x * self.step_s, y: velocity.y * self.step_s };
                let signs = course.go(by, speed, field, Boundary::Bounce);
                mean = Point { x: mean.x * signs.x, y: mean.y * signs.y };
                velocity = Point { x: velocity.x * signs.x, y: velocity.y * signs.y };
            } else {
                course.rest(Span::from_secs(self.step_s));
            }
            velocity =
                Point { x: self.next(velocity.x, mean.x, stream), y: self.next(velocity.y, mean.y, stream) };
        }
        Trajectory::new(start, course.commands)
    }

    /// The recursion, of one component.
    fn next(&self, velocity: f64, mean: f64, stream: &mut Stream) -> f64 {
        let fresh = (1.0 - self.alpha * self.alpha).sqrt() * self.speed_sd * stream.normal();
        self.alpha * velocity + (1.0 - self.alpha) * mean + fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::mobility::Path;
    use crate::mobility::drawn::tests::{chi2, paths, velocity_at};

    /// In a field whose edges nobody meets.
    fn wide(alpha: f64) -> GaussMarkovParams {
        GaussMarkovParams { nodes: 2000, width_m: 1e6, height_m: 1e6, alpha, ..Default::default() }
    }

    /// The covariance of the eastern velocity's deviation from its mean over nodes, so many steps apart.
    fn covariance(paths: &[Path], steps: u32) -> f64 {
        let of = |path: &Path, at_s: f64| velocity_at(path, at_s).x;
        // The mean direction is uniform: each component's mean is that of the node over a long time.
        let pairs = paths.iter().map(|path| (of(path, 10.5), of(path, 10.5 + f64::from(steps))));
        pairs.map(|(before, after)| before * after).sum::<f64>() / paths.len() as f64
    }

    #[test]
    fn the_velocity_forgets_by_alpha_in_each_step_and_its_variance_stays() {
        let alpha = 0.8;
        let params = GaussMarkovParams { speed_mean: 0.0, speed_sd: 2.0, ..wide(alpha) };
        let paths = paths(&params, 30.0);
        for steps in [0, 1, 2, 4, 8] {
            let (found, wanted) = (covariance(&paths, steps) / 4.0, libm::pow(alpha, f64::from(steps)));
            // The product of two normal values with correlation r has variance 1 + r²: four errors.
            let bound = 4.0 * ((1.0 + wanted * wanted) / 2000.0).sqrt();
            assert!((found - wanted).abs() < bound, "{steps} steps: {found} not {wanted} ± {bound}");
        }
    }

    #[test]
    fn with_all_memory_a_node_goes_straight_and_with_none_steps_are_independent() {
        for path in paths(&GaussMarkovParams { nodes: 20, ..wide(1.0) }, 60.0) {
            let (first, last) = (velocity_at(&path, 0.5), velocity_at(&path, 59.5));
            assert!(first.distance(last) < 1e-6, "{first:?} {last:?}");
        }
        let none = paths(&GaussMarkovParams { speed_mean: 0.0, ..wide(0.0) }, 30.0);
        assert!(covariance(&none, 1).abs() < 4.0 / 2000f64.sqrt());
    }

    #[test]
    fn the_mean_velocity_has_its_length_and_is_mirrored_at_the_edges() {
        let params = GaussMarkovParams { speed_sd: 0.0, speed_mean: 7.0, alpha: 0.5, ..Default::default() };
        for path in paths(&params, 400.0) {
            for leg in path.legs().iter().filter(|leg| leg.start < Time::from_secs(400.0)) {
                let speed = Point::default().distance(Point { x: leg.vx, y: leg.vy });
                // Two commands may be a nanosecond apart.
                assert!((speed - 7.0).abs() < 1e-6 || speed == 0.0, "{leg:?}");
            }
        }
    }

    #[test]
    fn mirrors_keep_the_density_uniform() {
        let params = GaussMarkovParams {
            nodes: 6000,
            width_m: 300.0,
            height_m: 200.0,
            speed_mean: 8.0,
            speed_sd: 3.0,
            ..Default::default()
        };
        let paths = paths(&params, 120.0);
        for at_s in [0.0, 15.0, 60.0, 119.0] {
            let found = chi2(&paths, Point { x: 300.0, y: 200.0 }, at_s);
            assert!(found < 161.3, "{at_s} s: {found}");
        }
    }
}
