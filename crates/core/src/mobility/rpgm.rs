//! Reference point group mobility: nodes go where their group goes, each near its reference point.
//!
//! Read first: Hong, Gerla, Pei & Chiang, "A Group Mobility Model for Ad Hoc Wireless Networks", MSWiM 1999;
//! BonnMotion's `RPGM`, whose form of the model this is. A group's reference walks random waypoint in the
//! field less `max_distance_m` at each side. Where the reference begins a leg, each member draws where it
//! will be when that leg ends: at the reference's destination and an offset, whose length is uniform on
//! [0, `max_distance_m`) and whose direction is uniform. It is drawn again while the member would be slower
//! than `speed_min` or faster than `speed_max`; after [`TRIES`] the last one is taken. While the reference
//! pauses, its members stand.
//!
//! Group sizes are N(`group_size_mean`, `group_size_sd`²), rounded, at least 1; the last group has who is
//! left. A node whose own leg ends within `max_distance_m` of another group's reference joins that group with
//! `change_probability`.
//!
//! *Deviations*: 9 in docs/models/mobility.md.

use super::course::{Boundary, Course};
use super::drawn::{Drawn, Unfit, check_speeds, direction, polar};
use super::waypoint::{self, Start, WaypointParams};
use super::{Path, Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams, Time};
use crate::params::params;

/// How often an offset is drawn for a speed that is allowed.
const TRIES: u32 = 1000;

params! {
    /// Reference point group mobility.
    pub struct RpgmParams in "rpgm" {
        /// Number of nodes.
        nodes: u32 = 50, "", "decision", [1.0, 1e5];
        /// Width of the field.
        width_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Mean size of a group.
        group_size_mean: f64 = 3.0, "", "BonnMotion RPGM", [1.0, 1e5];
        /// Standard deviation of the sizes.
        group_size_sd: f64 = 2.0, "", "BonnMotion RPGM", [0.0, 1e5];
        /// Maximum distance of a node from its group's reference.
        max_distance_m: f64 = 2.5, "m", "BonnMotion RPGM", [0.0, 1e6];
        /// Probability that a node joins another group whose reference is that near.
        change_probability: f64 = 0.01, "", "BonnMotion RPGM", [0.0, 1.0];
        /// Minimum speed.
        speed_min: f64 = 0.5, "m/s", "BonnMotion RPGM", [0.001, 1000.0];
        /// Maximum speed.
        speed_max: f64 = 1.5, "m/s", "BonnMotion RPGM", [0.001, 1000.0];
        /// Pause of a group at each waypoint.
        pause_s: f64 = 0.0, "s", "decision", [0.0, 1e6];
    }
}

impl Drawn for RpgmParams {
    fn fit(&self) -> Result<(), Unfit> {
        let side = self.width_m.min(self.height_m);
        if 2.0 * self.max_distance_m + 1.0 > side {
            return Err(Unfit {
                field: "rpgm.max_distance_m",
                found: format!("{} m", self.max_distance_m),
                wanted: format!("at most {} m in a field of that size", (side - 1.0) / 2.0),
                hint: "a group needs room to walk in: a larger field, or nodes that are nearer to it",
            });
        }
        check_speeds("rpgm.speed_min", self.speed_min, self.speed_max)
    }

    fn commands(&self, duration: Span) -> f64 {
        f64::from(self.nodes) * (1.0 + self.reference().commands(duration))
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let mut groups: Vec<Path> = Vec::new();
        let mut group_of: Vec<usize> = Vec::new();
        while group_of.len() < self.nodes as usize {
            let mut stream = streams.stream(groups.len() as u32, Purpose::Groups);
            let size = (self.group_size_mean + self.group_size_sd * stream.normal()).round().max(1.0);
            let left = self.nodes as usize - group_of.len();
            group_of.extend(std::iter::repeat_n(groups.len(), left.min(size as usize)));
            groups.push(self.walk_of_reference(duration, &mut stream));
        }
        let member = |(node, &group): (usize, &usize)| {
            let mut stream = streams.stream(node as u32, Purpose::Mobility);
            self.trajectory(&groups, group, duration, &mut stream)
        };
        group_of.iter().enumerate().map(member).collect()
    }
}

impl RpgmParams {
    /// Where references walk: the field less the distance of members at each side.
    fn reference(&self) -> WaypointParams {
        WaypointParams {
            nodes: 1,
            width_m: self.width_m - 2.0 * self.max_distance_m,
            height_m: self.height_m - 2.0 * self.max_distance_m,
            speed_min: self.speed_min,
            speed_max: self.speed_max,
            pause_s: self.pause_s,
            boundary: Boundary::Classic,
            start: Start::Stationary,
        }
    }

    fn walk_of_reference(&self, duration: Span, stream: &mut Stream) -> Path {
        let corner = Point { x: self.max_distance_m, y: self.max_distance_m };
        let walked = waypoint::walk(&self.reference(), duration, stream);
        let start = Point { x: walked.start.x + corner.x, y: walked.start.y + corner.y };
        let commands = walked.commands.into_iter().map(|command| command.shifted(corner)).collect();
        Path::new(&Trajectory::new(start, commands))
    }

    fn trajectory(
        &self,
        groups: &[Path],
        mut group: usize,
        duration: Span,
        stream: &mut Stream,
    ) -> Trajectory {
        let start = self.near(groups[group].position(Time::ZERO), stream);
        let mut course = Course::new(start, duration);
        while course.is_underway() {
            let legs = groups[group].legs();
            let next = legs.partition_point(|leg| leg.start <= course.now);
            let Some(arrival) = legs.get(next) else { break };
            if legs[next - 1].vx == 0.0 && legs[next - 1].vy == 0.0 {
                course.be_at(course.here, arrival.start);
            } else {
                let to = self.destination(&course, arrival.start, arrival.from, stream);
                course.be_at(to, arrival.start);
            }
            group = self.group_after(groups, group, &course, stream);
        }
        Trajectory::new(start, course.commands)
    }

    /// A place near the reference at the end of its leg that is reached at an allowed speed, if there is one.
    fn destination(&self, course: &Course, then: Time, reference: Point, stream: &mut Stream) -> Point {
        let seconds = then.since(course.now).as_secs();
        let mut to = self.near(reference, stream);
        for _ in 1..TRIES {
            let speed = course.here.distance(to) / seconds;
            if (self.speed_min..=self.speed_max).contains(&speed) {
                break;
            }
            to = self.near(reference, stream);
        }
        to
    }

    /// The group of a node when its leg has ended: its own, or one whose reference is near.
    fn group_after(&self, groups: &[Path], group: usize, course: &Course, stream: &mut Stream) -> usize {
        if self.change_probability == 0.0 {
            return group;
        }
        let is_near = |other: &usize| {
            *other != group
                && groups[*other].position(course.now).distance(course.here) <= self.max_distance_m
        };
        let joined = (0..groups.len()).filter(is_near).find(|_| stream.unit() < self.change_probability);
        joined.unwrap_or(group)
    }

    /// A place within the greatest distance of another; the nearer, the denser.
    fn near(&self, reference: Point, stream: &mut Stream) -> Point {
        let offset = polar(self.max_distance_m * stream.unit(), direction(stream));
        Point { x: reference.x + offset.x, y: reference.y + offset.y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::drawn::tests::paths;

    /// So many nodes in one group, which nobody leaves.
    fn one_group(nodes: u32, max_distance_m: f64) -> RpgmParams {
        RpgmParams {
            nodes,
            group_size_mean: f64::from(nodes),
            group_size_sd: 0.0,
            max_distance_m,
            pause_s: 7.0,
            ..Default::default()
        }
    }

    #[test]
    fn members_are_within_the_distance_of_their_reference_at_all_times() {
        let params = RpgmParams { change_probability: 0.0, ..one_group(12, 60.0) };
        let duration = Span::from_secs(3000.0);
        let streams = Streams::new(20_040_401, 0);
        let mut stream = streams.stream(0, Purpose::Groups);
        // The size is drawn first.
        stream.normal();
        let reference = params.walk_of_reference(duration, &mut stream);
        for path in paths(&params, 3000.0) {
            let changes = reference.legs().iter().map(|leg| leg.start);
            for now in changes.chain((0..300).map(|tens| Time::from_secs(10.0 * f64::from(tens)))) {
                let apart_m = path.position(now).distance(reference.position(now));
                // And what is walked in a nanosecond.
                assert!(apart_m <= 60.0 + 1e-6, "{apart_m} m at {now:?}");
            }
        }
    }

    #[test]
    fn without_a_distance_all_members_go_the_same_way() {
        let members = one_group(5, 0.0).trajectories(Span::from_secs(2000.0), &Streams::new(4, 1));
        assert!(members[0].commands.len() > 3);
        assert!(members.iter().all(|member| *member == members[0]));
    }

    #[test]
    fn members_keep_the_speeds_and_stand_while_the_group_pauses() {
        for path in paths(&one_group(30, 20.0), 2000.0) {
            let moving = path.legs().iter().filter(|leg| leg.vx != 0.0 || leg.vy != 0.0);
            let speeds: Vec<f64> =
                moving.map(|leg| Point::default().distance(Point { x: leg.vx, y: leg.vy })).collect();
            // The first leg may be too short for any allowed speed.
            assert!(speeds[1..].iter().all(|speed| (0.5 - 1e-9..=1.5 + 1e-9).contains(speed)), "{speeds:?}");
            assert!(path.legs().iter().any(|leg| leg.vx == 0.0));
        }
    }

    #[test]
    fn group_sizes_are_drawn_and_a_group_walks_the_same_in_any_company() {
        let streams = Streams::new(8, 0);
        let made = |nodes| {
            RpgmParams { nodes, change_probability: 0.0, ..Default::default() }
                .trajectories(Span::from_secs(600.0), &streams)
        };
        let (few, many) = (made(20), made(40));
        assert_eq!(few[..], many[..20]);
        let with_company =
            many.windows(2).filter(|pair| pair[0].start.distance(pair[1].start) <= 5.0).count();
        assert!((10..35).contains(&with_company), "{with_company}");
    }

    #[test]
    fn a_node_that_meets_another_group_may_join_it() {
        let crowded = |change_probability| RpgmParams {
            nodes: 8,
            width_m: 60.0,
            height_m: 60.0,
            group_size_mean: 4.0,
            group_size_sd: 0.0,
            max_distance_m: 10.0,
            change_probability,
            ..Default::default()
        };
        // How often two of the first group's nodes are farther apart than two of a group can be.
        let apart = |params: &RpgmParams| {
            let paths = paths(params, 3000.0);
            let is_far = |&tens: &u32| {
                let now = Time::from_secs(f64::from(10 * tens));
                paths[0].position(now).distance(paths[1].position(now)) > 20.0 + 1e-6
            };
            (0..300).filter(is_far).count()
        };
        assert_eq!(apart(&crowded(0.0)), 0);
        assert!(apart(&crowded(0.5)) > 0);
    }
}
