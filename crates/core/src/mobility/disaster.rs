//! A disaster: groups of rescuers who are out of each other's reach, and vehicles that go between them.
//!
//! After the third of the three scenarios of Johansson et al., "Scenario-Based Performance Analysis of
//! Routing Protocols for Mobile Ad-hoc Networks", MobiCom 1999, whose text could not be read:
//! *Decisions* in docs/models/mobility.md.
//!
//! The groups are in circles whose centres alternate between south and north from west to east. On foot
//! a node walks for `leg_s` in a uniform direction, at a speed uniform on (0, `speed_max`], and draws
//! both again where that would lead out of its circle. A vehicle drives from its centre to any other,
//! and pauses there for a time uniform on (0, `vehicle_pause_max_s`]. Nodes on foot come first, in turns
//! from group to group.

use super::course::Course;
use super::drawn::{Drawn, Unfit, direction, polar};
use super::{Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::params;

params! {
    /// A disaster.
    pub struct DisasterParams in "disaster" {
        /// Number of nodes, vehicles among them.
        nodes: u32 = 50, "", "Johansson et al. 1999", [2.0, 1e5];
        /// Width of the field.
        width_m: f64 = 1500.0, "m", "decision (from memory)", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 900.0, "m", "decision (from memory)", [1.0, 1e6];
        /// Number of groups.
        groups: u32 = 3, "", "Johansson et al. 1999", [2.0, 1000.0];
        /// Radius of a group's circle.
        radius_m: f64 = 200.0, "m", "decision", [1.0, 1e6];
        /// Maximum speed on foot.
        speed_max: f64 = 1.0, "m/s", "decision", [0.001, 1000.0];
        /// Time for which a node on foot keeps its speed and direction.
        leg_s: f64 = 60.0, "s", "decision", [0.01, 1e5];
        /// Number of vehicles.
        vehicles: u32 = 5, "", "decision", [0.0, 1e5];
        /// Speed of the vehicles.
        vehicle_speed: f64 = 20.0, "m/s", "decision", [0.001, 1000.0];
        /// Maximum pause of a vehicle at a group.
        vehicle_pause_max_s: f64 = 30.0, "s", "decision", [0.0, 1e6];
    }
}

/// The greatest length of a leg on foot, in radii: of longer ones hardly any would end in the circle.
const LONGEST_LEG: f64 = 50.0;

impl Drawn for DisasterParams {
    fn fit(&self) -> Result<(), Unfit> {
        let side = self.width_m.min(self.height_m);
        if 2.0 * self.radius_m > side {
            return Err(Unfit {
                field: "disaster.radius_m",
                found: format!("{} m", self.radius_m),
                wanted: format!("at most {} m in a field of that size", side / 2.0),
                hint: "the circles are within the field",
            });
        }
        if self.speed_max * self.leg_s > LONGEST_LEG * self.radius_m {
            return Err(Unfit {
                field: "disaster.leg_s",
                found: format!("{} s at up to {} m/s", self.leg_s, self.speed_max),
                wanted: format!("legs of at most {} m", LONGEST_LEG * self.radius_m),
                hint: "legs end within the circle: take shorter ones, or a larger circle",
            });
        }
        if self.vehicles > self.nodes {
            return Err(Unfit {
                field: "disaster.vehicles",
                found: self.vehicles.to_string(),
                wanted: format!("at most nodes, {}", self.nodes),
                hint: "nodes counts the vehicles too",
            });
        }
        Ok(())
    }

    fn commands(&self, duration: Span) -> f64 {
        let gap_m = (self.width_m - 2.0 * self.radius_m) / f64::from(self.groups - 1);
        let drive_s = self.vehicle_pause_max_s / 2.0 + gap_m.max(1.0) / self.vehicle_speed;
        let (vehicles, on_foot) = (f64::from(self.vehicles), f64::from(self.nodes - self.vehicles));
        f64::from(self.nodes) + duration.as_secs() * (on_foot / self.leg_s + vehicles / drive_s)
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let on_foot = self.nodes - self.vehicles;
        let node = |node| {
            let mut stream = streams.stream(node, Purpose::Mobility);
            if node < on_foot {
                self.on_foot(self.centre(node % self.groups), duration, &mut stream)
            } else {
                self.vehicle(duration, &mut stream)
            }
        };
        (0..self.nodes).map(node).collect()
    }
}

impl DisasterParams {
    fn centre(&self, group: u32) -> Point {
        let share = f64::from(group) / f64::from(self.groups - 1);
        let from_west = self.radius_m + share * (self.width_m - 2.0 * self.radius_m);
        let y = if group.is_multiple_of(2) { self.radius_m } else { self.height_m - self.radius_m };
        Point { x: from_west, y }
    }

    fn on_foot(&self, centre: Point, duration: Span, stream: &mut Stream) -> Trajectory {
        let offset = polar(self.radius_m * stream.unit().sqrt(), direction(stream));
        let start = Point { x: centre.x + offset.x, y: centre.y + offset.y };
        let mut course = Course::new(start, duration);
        // A node is anywhere in its first leg.
        let mut left_s = self.leg_s * stream.positive_unit();
        while course.is_underway() {
            let (to, speed) = loop {
                let speed = self.speed_max * stream.positive_unit();
                let by = polar(speed * left_s, direction(stream));
                let to = Point { x: course.here.x + by.x, y: course.here.y + by.y };
                if to.distance(centre) <= self.radius_m {
                    break (to, speed);
                }
            };
            course.walk_to(to, speed);
            left_s = self.leg_s;
        }
        Trajectory::new(start, course.commands)
    }

    fn vehicle(&self, duration: Span, stream: &mut Stream) -> Trajectory {
        let mut group = stream.below(self.groups);
        let start = self.centre(group);
        let mut course = Course::new(start, duration);
        loop {
            course.rest(Span::from_secs(self.vehicle_pause_max_s * stream.positive_unit()));
            if !course.is_underway() {
                return Trajectory::new(start, course.commands);
            }
            group = (group + 1 + stream.below(self.groups - 1)) % self.groups;
            course.walk_to(self.centre(group), self.vehicle_speed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::mobility::drawn::tests::paths;

    #[test]
    fn groups_stay_in_their_circles_out_of_each_others_reach() {
        let params = DisasterParams::default();
        let centres: Vec<Point> = (0..3).map(|group| params.centre(group)).collect();
        for (number, centre) in centres.iter().enumerate() {
            assert!(centres[..number].iter().all(|other| other.distance(*centre) - 400.0 > 250.0));
        }
        let paths = paths(&params, 900.0);
        for (node, path) in paths[..45].iter().enumerate() {
            for second in 0..900 {
                let apart_m = path.position(Time::from_secs(f64::from(second))).distance(centres[node % 3]);
                assert!(apart_m <= 200.0 + 1e-6, "{node}: {apart_m} m at {second} s");
            }
        }
        assert!(paths[..45].iter().all(|path| path.top_speed(Time::from_secs(900.0)) <= 1.0));
    }

    #[test]
    fn vehicles_go_from_centre_to_centre_at_their_speed() {
        let params = DisasterParams::default();
        for path in &paths(&params, 900.0)[45..] {
            let before_end = path.legs().iter().filter(|leg| leg.start < Time::from_secs(900.0));
            let mut visited = Vec::new();
            for leg in before_end {
                let group = (0..3).find(|&group| params.centre(group).distance(leg.from) < 1e-6);
                visited.push(group.expect("a leg begins at a centre"));
            }
            visited.dedup();
            assert!((0..3).all(|group| visited.contains(&group)), "{visited:?}");
        }
    }
}
