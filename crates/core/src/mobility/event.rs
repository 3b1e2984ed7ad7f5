//! An event: people go from one attraction to the next and form small groups that dissolve again.
//!
//! After the second of the three scenarios of Johansson et al., "Scenario-Based Performance Analysis of
//! Routing Protocols for Mobile Ad-hoc Networks", MobiCom 1999, whose text could not be read:
//! *Decisions* in docs/models/mobility.md.
//!
//! Attractions are at places uniform in the field, drawn anew every `redraw_s`. A node chooses one with
//! probability in proportion to 1 / (1 + distance / `attraction_m`), walks to a place uniform within
//! `spread_m` of it, and stays for a time uniform on (0, `stay_max_s`]. At time 0 everyone is at an
//! attraction.

use super::course::{Course, inside};
use super::drawn::{Drawn, Unfit, direction, place_in, polar};
use super::{Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::params;

params! {
    /// An event.
    pub struct EventParams in "event" {
        /// Number of people.
        nodes: u32 = 50, "", "Johansson et al. 1999", [1.0, 1e5];
        /// Width of the field.
        width_m: f64 = 300.0, "m", "decision (from memory)", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 200.0, "m", "decision (from memory)", [1.0, 1e6];
        /// Number of attractions at a time.
        attractions: u32 = 10, "", "decision", [1.0, 1000.0];
        /// Time after which attractions are elsewhere.
        redraw_s: f64 = 60.0, "s", "decision", [0.1, 1e6];
        /// Distance at which an attraction attracts half as much as one that is near.
        attraction_m: f64 = 50.0, "m", "decision", [0.1, 1e6];
        /// How near its attraction a node stays.
        spread_m: f64 = 5.0, "m", "decision", [0.0, 1e6];
        /// Maximum stay.
        stay_max_s: f64 = 30.0, "s", "decision", [0.01, 1e6];
        /// Speed of those who walk.
        speed: f64 = 1.0, "m/s", "decision", [0.001, 1000.0];
    }
}

impl Drawn for EventParams {
    fn fit(&self) -> Result<(), Unfit> {
        Ok(())
    }

    fn commands(&self, duration: Span) -> f64 {
        let walk_m = self.attraction_m.min(self.width_m.min(self.height_m) / 2.0);
        let leg_s = self.stay_max_s / 2.0 + walk_m / self.speed;
        f64::from(self.nodes) * (1.0 + duration.as_secs() / leg_s)
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let node = |node| self.trajectory(duration, streams, &mut streams.stream(node, Purpose::Mobility));
        (0..self.nodes).map(node).collect()
    }
}

impl EventParams {
    fn trajectory(&self, duration: Span, streams: &Streams, stream: &mut Stream) -> Trajectory {
        let attractions = self.attractions_at(0.0, streams);
        let start = self.near(attractions[stream.below(self.attractions) as usize], stream);
        let mut course = Course::new(start, duration);
        loop {
            course.rest(Span::from_secs(self.stay_max_s * stream.positive_unit()));
            if !course.is_underway() {
                return Trajectory::new(start, course.commands);
            }
            let attractions = self.attractions_at(course.now.as_secs(), streams);
            let chosen = self.choice(course.here, &attractions, stream);
            course.walk_to(self.near(chosen, stream), self.speed);
        }
    }

    /// Where the attractions are at a time.
    fn attractions_at(&self, now_s: f64, streams: &Streams) -> Vec<Point> {
        let mut stream = streams.stream((now_s / self.redraw_s) as u32, Purpose::Groups);
        (0..self.attractions).map(|_| place_in(self.field(), &mut stream)).collect()
    }

    /// One of the attractions; near ones are chosen more often.
    fn choice(&self, here: Point, attractions: &[Point], stream: &mut Stream) -> Point {
        let weight = |at: &Point| 1.0 / (1.0 + here.distance(*at) / self.attraction_m);
        let mut left = stream.unit() * attractions.iter().map(weight).sum::<f64>();
        let chosen = attractions.iter().find(|at| {
            left -= weight(at);
            left < 0.0
        });
        // Against the rounding of sums.
        *chosen.unwrap_or(&attractions[attractions.len() - 1])
    }

    /// A place uniform within the spread of an attraction, in the field.
    fn near(&self, attraction: Point, stream: &mut Stream) -> Point {
        let offset = polar(self.spread_m * stream.unit().sqrt(), direction(stream));
        inside(Point { x: attraction.x + offset.x, y: attraction.y + offset.y }, self.field())
    }

    fn field(&self) -> Point {
        Point { x: self.width_m, y: self.height_m }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::drawn::tests::{paths, velocity_at};

    #[test]
    fn whoever_stands_is_at_an_attraction_of_now_or_of_before() {
        let params = EventParams { stay_max_s: 20.0, ..Default::default() };
        let streams = Streams::new(20_040_401, 0);
        // A walk across the field takes 361 s at most.
        let known: Vec<Point> =
            (0..9).flat_map(|e| params.attractions_at(60.0 * f64::from(e), &streams)).collect();
        let mut standing = 0;
        for path in paths(&params, 500.0) {
            for at_s in [0.0, 100.0, 499.0] {
                let here = path.position(crate::kernel::Time::from_secs(at_s));
                if velocity_at(&path, at_s) == Point::default() {
                    standing += 1;
                    assert!(known.iter().any(|at| at.distance(here) <= 5.0 + 1e-6), "{here:?} at {at_s} s");
                }
            }
        }
        assert!(standing > 50);
    }

    #[test]
    fn an_attraction_is_chosen_by_its_distance() {
        let params = EventParams::default();
        let mut stream = Streams::new(1, 0).stream(0, Purpose::Mobility);
        let here = Point { x: 0.0, y: 100.0 };
        // Weights 1, 1/2 and 1/4.
        let attractions = [here, Point { x: 50.0, y: 100.0 }, Point { x: 150.0, y: 100.0 }];
        let mut chosen = [0u32; 3];
        for _ in 0..20_000 {
            let at = params.choice(here, &attractions, &mut stream);
            chosen[attractions.iter().position(|each| *each == at).expect("one of them")] += 1;
        }
        for (count, wanted) in chosen.iter().zip([4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]) {
            let share = f64::from(*count) / 20_000.0;
            assert!((share - wanted).abs() < 4.0 * (wanted * (1.0 - wanted) / 20_000.0).sqrt(), "{share}");
        }
    }
}
