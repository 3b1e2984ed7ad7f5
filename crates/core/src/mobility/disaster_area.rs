//! A disaster area: patients are carried from the incident to where they are treated, and driven away.
//!
//! Read first: Aschenbruck, Gerhards-Padilla, Gerharz, Frank & Martini, "Modelling Mobility in Disaster Area
//! Scenarios", MSWiM 2007, and BonnMotion's model `DisasterArea`, after which this is made.
//!
//! **Implemented.** The tactical areas of BonnMotion's example, stretched to the field: incident location,
//! patients waiting for treatment, four casualties clearing stations, technical operational command, and
//! ambulance parking point. Nodes that stay in their area walk random waypoint there; transports go from
//! area to area through entries and exits, on shortest paths round the obstacle and all areas (visibility
//! graph, Dijkstra); ambulances leave the net where they drive away and join it when they come back.
//!
//! **Not implemented.** Areas of one's own, areas that are no rectangles, groups of several nodes.
//!
//! **Deviations**: 10 in docs/models/mobility.md.

use super::course::Course;
use super::drawn::{Drawn, Unfit, check_speeds};
use super::{Command, Path, Point, Presence, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams, Time};
use crate::params::params;

params! {
    /// A disaster area.
    pub struct DisasterAreaParams in "disaster_area" {
        /// Number of nodes, ambulances among them.
        nodes: u32 = 150, "", "BonnMotion da_example", [1.0, 1e5];
        /// Width of the field.
        width_m: f64 = 350.0, "m", "BonnMotion da_example", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 200.0, "m", "BonnMotion da_example", [1.0, 1e6];
        /// Minimum speed on foot.
        speed_min: f64 = 1.0, "m/s", "BonnMotion DisasterArea", [0.001, 1000.0];
        /// Maximum speed on foot.
        speed_max: f64 = 2.0, "m/s", "BonnMotion DisasterArea", [0.001, 1000.0];
        /// Minimum speed of ambulances.
        vehicle_speed_min: f64 = 5.0, "m/s", "BonnMotion DisasterArea", [0.001, 1000.0];
        /// Maximum speed of ambulances.
        vehicle_speed_max: f64 = 12.0, "m/s", "BonnMotion DisasterArea", [0.001, 1000.0];
        /// Maximum pause at a place within an area.
        pause_max_s: f64 = 20.0, "s", "BonnMotion da_example", [0.0, 1e6];
        /// How far from obstacle and areas the corners of paths are.
        clearance_m: f64 = 3.0, "m", "BonnMotion da_example", [0.0, 1e6];
        /// How long nodes have moved when the run begins.
        skip_s: f64 = 5000.0, "s", "BonnMotion da_example", [0.0, 1e4];
    }
}

/// A rectangle: west, south, east, north.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Rect([f64; 4]);

/// A tactical area.
struct Area {
    rect: Rect,
    entry: Point,
    exit: Point,
}

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Stays in the area of this number.
    Stays(usize),
    /// Carries patients from the incident to where they wait.
    Rescuer,
    /// Carries patients to a clearing station.
    Carrier,
    /// Drives patients from a clearing station out of the field.
    Ambulance,
}

/// The field of the example, in m.
const FIELD: Point = Point { x: 350.0, y: 200.0 };
/// The areas of the example: their rectangles, entries and exits, in m of its field.
const AREAS: [([f64; 4], [f64; 2], [f64; 2]); 8] = [
    ([25.0, 5.0, 125.0, 100.0], [25.0, 50.0], [125.0, 50.0]),
    ([133.0, 25.0, 180.0, 75.0], [133.0, 50.0], [180.0, 50.0]),
    ([220.0, 5.0, 300.0, 40.0], [220.0, 22.5], [310.0, 22.5]),
    ([220.0, 46.0, 300.0, 80.0], [220.0, 63.0], [310.0, 63.0]),
    ([220.0, 86.0, 300.0, 120.0], [220.0, 103.0], [310.0, 103.0]),
    ([220.0, 126.0, 300.0, 160.0], [220.0, 143.0], [310.0, 143.0]),
    ([320.0, 75.0, 345.0, 100.0], [330.0, 75.0], [330.0, 76.0]),
    ([320.0, 5.0, 345.0, 50.0], [325.0, 5.0], [325.0, 50.0]),
];
const INCIDENT: usize = 0;
const WAITING: usize = 1;
/// The number of the first clearing station, and how many there are.
const CLEARING: (usize, u32) = (2, 4);
const COMMAND: usize = 6;
const PARKING: usize = 7;
/// The obstacle of the example.
const OBSTACLE: [f64; 4] = [25.0, 150.0, 100.0, 200.0];
/// Where ambulances drive away, and where they come back.
const BORDER: ([f64; 2], [f64; 2]) = ([5.0, 0.0], [345.0, 0.0]);
/// The roles of the example's 150 nodes in order, with how many nodes have each.
const ROLES: [(Role, u32); 10] = [
    (Role::Rescuer, 15),
    (Role::Carrier, 37),
    (Role::Stays(WAITING), 2),
    (Role::Stays(CLEARING.0), 15),
    (Role::Stays(CLEARING.0 + 1), 15),
    (Role::Stays(CLEARING.0 + 2), 15),
    (Role::Stays(CLEARING.0 + 3), 15),
    (Role::Stays(COMMAND), 6),
    (Role::Ambulance, 28),
    (Role::Stays(PARKING), 2),
];
const ALL_ROLES: u32 = 150;
/// The narrowest lanes between areas of the example, halved, from west to east and from south to north.
const LANES: Point = Point { x: 4.0, y: 3.0 };

impl Drawn for DisasterAreaParams {
    fn fit(&self) -> Result<(), Unfit> {
        check_speeds("disaster_area.speed_min", self.speed_min, self.speed_max)?;
        if self.vehicle_speed_min > self.vehicle_speed_max {
            return Err(Unfit {
                field: "disaster_area.vehicle_speed_min",
                found: format!("{} m/s", self.vehicle_speed_min),
                wanted: format!("at most vehicle_speed_max, {} m/s", self.vehicle_speed_max),
                hint: "swap the two values",
            });
        }
        let lanes = self.stretched(LANES);
        let most_m = lanes.x.min(lanes.y);
        if self.clearance_m > most_m {
            return Err(Unfit {
                field: "disaster_area.clearance_m",
                found: format!("{} m", self.clearance_m),
                wanted: format!("at most {most_m} m in a field of that size"),
                hint: "lanes between the areas are twice as wide",
            });
        }
        Ok(())
    }

    fn commands(&self, duration: Span) -> f64 {
        let (on_foot, driving) = (
            (self.speed_min + self.speed_max) / 2.0,
            (self.vehicle_speed_min + self.vehicle_speed_max) / 2.0,
        );
        let rate = |length: f64, speed: f64, commands: f64| {
            let cycle_s = self.pause_max_s / 2.0 + length * self.width_m.min(self.height_m) / speed;
            commands * duration.as_secs() / cycle_s
        };
        // Ways in shares of the field, and commands on them.
        let mean = 0.40 * rate(0.15, on_foot, 1.0)
            + 0.35 * rate(2.0, on_foot, 8.0)
            + 0.19 * rate(8.0, driving, 12.0);
        f64::from(self.nodes) * (1.0 + mean)
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let plan = Plan::new(self);
        let node = |node| {
            let mut stream = streams.stream(node, Purpose::Mobility);
            self.trajectory(self.role(node), &plan, duration, &mut stream)
        };
        (0..self.nodes).map(node).collect()
    }
}

impl DisasterAreaParams {
    /// A place of the example in this field.
    fn stretched(&self, place: Point) -> Point {
        Point { x: place.x * self.width_m / FIELD.x, y: place.y * self.height_m / FIELD.y }
    }

    /// Roles are shared out as in the example, in its order.
    fn role(&self, node: u32) -> Role {
        let place = (u64::from(node) * u64::from(ALL_ROLES) / u64::from(self.nodes)) as u32;
        let mut before = 0;
        let found = ROLES.iter().find(|(_, count)| {
            before += count;
            place < before
        });
        found.map_or(Role::Stays(PARKING), |&(role, _)| role)
    }

    fn trajectory(&self, role: Role, plan: &Plan, duration: Span, stream: &mut Stream) -> Trajectory {
        let skipped = Span::from_secs(self.skip_s);
        let home = match role {
            Role::Stays(area) => area,
            Role::Rescuer => INCIDENT,
            Role::Carrier => WAITING,
            Role::Ambulance => PARKING,
        };
        let start = plan.place_in(home, stream);
        let mut node = Node::new(start, skipped + duration);
        let slowest = if role == Role::Ambulance { self.vehicle_speed_min } else { self.speed_min };
        let round_m = 2.0 * (self.width_m + self.height_m);
        node.course.rest(Span::from_secs(round_m / slowest * stream.unit()));
        while node.course.is_underway() {
            let clearing = CLEARING.0 + stream.below(CLEARING.1) as usize;
            let speed = match role {
                Role::Ambulance => stream.uniform(self.vehicle_speed_min, self.vehicle_speed_max),
                _ => stream.uniform(self.speed_min, self.speed_max),
            };
            match role {
                Role::Stays(_) => {}
                Role::Rescuer => node.carry(plan, INCIDENT, WAITING, speed),
                Role::Carrier => node.carry(plan, WAITING, clearing, speed),
                Role::Ambulance => node.drive(plan, clearing, speed),
            }
            node.course.walk_to(plan.place_in(home, stream), speed);
            node.course.rest(Span::from_secs(self.pause_max_s * stream.unit()));
        }
        node.from(start, Time::ZERO + skipped)
    }
}

/// A node on its way, with the times in which it is there.
struct Node {
    course: Course,
    /// Since when it is there.
    since: Time,
    before: Vec<Presence>,
}

impl Node {
    fn new(start: Point, span: Span) -> Node {
        Node { course: Course::new(start, span), since: Time::ZERO, before: Vec::new() }
    }

    /// From a place within an area to the entry of another, and back to the entry of its own.
    fn carry(&mut self, plan: &Plan, home: usize, to: usize, speed: f64) {
        let (own, other) = (&plan.areas[home], &plan.areas[to]);
        self.course.walk_to(own.exit, speed);
        self.follow(&plan.way(own.exit, other.entry), speed);
        self.follow(&plan.way(other.entry, own.entry), speed);
    }

    /// From the parking point through a clearing station out of the field, and back to the parking point.
    fn drive(&mut self, plan: &Plan, clearing: usize, speed: f64) {
        let (own, station) = (&plan.areas[PARKING], &plan.areas[clearing]);
        self.course.walk_to(own.exit, speed);
        self.follow(&plan.way(own.exit, station.entry), speed);
        self.course.walk_to(station.exit, speed);
        self.follow(&plan.way(station.exit, plan.leaves), speed);
        if self.course.is_underway() {
            self.before.push(Presence { from: self.since, until: self.course.now });
            self.course.walk_to(plan.joins, speed);
            self.since = self.course.now;
        }
        self.follow(&plan.way(plan.joins, own.entry), speed);
    }

    fn follow(&mut self, way: &[Point], speed: f64) {
        for &corner in way {
            self.course.walk_to(corner, speed);
        }
    }

    /// What it does from an instant on, as if this were the beginning.
    fn from(self, start: Point, first: Time) -> Trajectory {
        let whole = Trajectory::new(start, self.course.commands);
        let here = Path::new(&whole).position(first);
        let (earlier, later): (Vec<Command>, Vec<Command>) =
            whole.commands.into_iter().partition(|command| command.at() < first);
        let shifted = |at: Time| Time::ZERO + at.since(first);
        let underway = earlier.last().and_then(|&command| match command {
            Command::GoTo { to, speed, .. } if to != here => {
                Some(Command::GoTo { at: Time::ZERO, to, speed })
            }
            _ => None,
        });
        let later = later.into_iter().map(|command| match command {
            Command::GoTo { at, to, speed } => Command::GoTo { at: shifted(at), to, speed },
            Command::Jump { at, to } => Command::Jump { at: shifted(at), to },
        });
        let commands = underway.into_iter().chain(later).collect();
        let stays = self
            .before
            .iter()
            .filter(|stay| stay.until > first)
            .map(|stay| Presence { from: shifted(stay.from.max(first)), until: shifted(stay.until) });
        let last = Presence { from: shifted(self.since.max(first)), until: Time::NEVER };
        let present: Vec<Presence> = stays.chain([last]).collect();
        // A node that never leaves is one that is always there.
        let is_always = present[0].from == Time::ZERO && present[0].until == Time::NEVER;
        Trajectory {
            present: if is_always { Vec::new() } else { present },
            ..Trajectory::new(here, commands)
        }
    }
}

/// The areas in their field, and the ways between them.
struct Plan {
    areas: Vec<Area>,
    leaves: Point,
    joins: Point,
    /// What no way crosses: the areas, and the obstacle with its clearance.
    blocked: Vec<Rect>,
    ways: Vec<((Point, Point), Vec<Point>)>,
}

impl Plan {
    fn new(params: &DisasterAreaParams) -> Plan {
        let at = |[x, y]: [f64; 2]| params.stretched(Point { x, y });
        let rect = |[west, south, east, north]: [f64; 4]| {
            let (low, high) = (at([west, south]), at([east, north]));
            Rect([low.x, low.y, high.x, high.y])
        };
        let area = |&(corners, entry, exit): &([f64; 4], [f64; 2], [f64; 2])| Area {
            rect: rect(corners),
            entry: at(entry),
            exit: at(exit),
        };
        let areas: Vec<Area> = AREAS.iter().map(area).collect();
        let field = Point { x: params.width_m, y: params.height_m };
        let grown = |rect: Rect| rect.grown(params.clearance_m, field);
        let obstacle = grown(rect(OBSTACLE));
        let blocked: Vec<Rect> = areas.iter().map(|area| area.rect).chain([obstacle]).collect();
        let corners: Vec<Point> = areas
            .iter()
            .map(|area| grown(area.rect))
            .chain([obstacle])
            .flat_map(Rect::corners)
            .filter(|corner| !blocked.iter().any(|rect| rect.contains(*corner)))
            .collect();
        let mut plan = Plan { areas, leaves: at(BORDER.0), joins: at(BORDER.1), blocked, ways: Vec::new() };
        plan.ways = plan.ends().into_iter().map(|ends| (ends, plan.shortest(ends, &corners))).collect();
        plan
    }

    /// From where to where nodes go between areas.
    fn ends(&self) -> Vec<(Point, Point)> {
        let [incident, waiting, parking] = [INCIDENT, WAITING, PARKING].map(|area| &self.areas[area]);
        let mut ends = vec![
            (incident.exit, waiting.entry),
            (waiting.entry, incident.entry),
            (self.joins, parking.entry),
        ];
        for station in &self.areas[CLEARING.0..][..CLEARING.1 as usize] {
            ends.push((waiting.exit, station.entry));
            ends.push((station.entry, waiting.entry));
            ends.push((parking.exit, station.entry));
            ends.push((station.exit, self.leaves));
        }
        ends
    }

    /// The corners at which a way turns, and its end.
    fn way(&self, from: Point, to: Point) -> Vec<Point> {
        let known = self.ways.iter().find(|(ends, _)| *ends == (from, to));
        known.map_or_else(|| vec![to], |(_, way)| way.clone())
    }

    /// The shortest way that crosses nothing: Dijkstra over the corners that see each other.
    fn shortest(&self, (from, to): (Point, Point), corners: &[Point]) -> Vec<Point> {
        let places: Vec<Point> = [from, to].into_iter().chain(corners.iter().copied()).collect();
        let mut length_m = vec![f64::INFINITY; places.len()];
        let mut before = vec![0; places.len()];
        let mut open: Vec<usize> = (0..places.len()).collect();
        length_m[0] = 0.0;
        while let Some(nearest) =
            (0..open.len()).min_by(|&a, &b| length_m[open[a]].total_cmp(&length_m[open[b]]))
        {
            let here = open.swap_remove(nearest);
            if here == 1 {
                break;
            }
            for &next in &open {
                let reached_m = length_m[here] + places[here].distance(places[next]);
                if reached_m < length_m[next] && self.is_free(places[here], places[next]) {
                    (length_m[next], before[next]) = (reached_m, here);
                }
            }
        }
        let mut way = vec![to];
        let mut here = before[1];
        while here != 0 {
            way.push(places[here]);
            here = before[here];
        }
        way.reverse();
        way
    }

    /// Does a straight way cross neither area nor obstacle?
    fn is_free(&self, from: Point, to: Point) -> bool {
        !self.blocked.iter().any(|rect| rect.is_crossed(from, to))
    }

    /// A place uniform in an area.
    fn place_in(&self, area: usize, stream: &mut Stream) -> Point {
        let Rect([west, south, east, north]) = self.areas[area].rect;
        let x = stream.uniform(west, east);
        Point { x, y: stream.uniform(south, north) }
    }
}

impl Rect {
    /// The same, larger on all sides, and within the field.
    fn grown(self, by_m: f64, field: Point) -> Rect {
        let Rect([west, south, east, north]) = self;
        Rect([
            (west - by_m).max(0.0),
            (south - by_m).max(0.0),
            (east + by_m).min(field.x),
            (north + by_m).min(field.y),
        ])
    }

    fn corners(self) -> [Point; 4] {
        let Rect([west, south, east, north]) = self;
        [(west, south), (east, south), (east, north), (west, north)].map(|(x, y)| Point { x, y })
    }

    /// Is the point inside, and not at its edge?
    fn contains(self, point: Point) -> bool {
        let Rect([west, south, east, north]) = self;
        west < point.x && point.x < east && south < point.y && point.y < north
    }

    /// Is more of a straight way inside than rounding explains? (Liang & Barsky)
    fn is_crossed(self, from: Point, to: Point) -> bool {
        let Rect([west, south, east, north]) = self;
        let (mut enters, mut leaves) = (0.0f64, 1.0f64);
        for (at, by, low, high) in
            [(from.x, to.x - from.x, west, east), (from.y, to.y - from.y, south, north)]
        {
            if by == 0.0 {
                if at <= low || at >= high {
                    return false;
                }
                continue;
            }
            let (one, other) = ((low - at) / by, (high - at) / by);
            enters = enters.max(one.min(other));
            leaves = leaves.min(one.max(other));
        }
        leaves - enters > 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::drawn::tests::paths;

    const LENGTH_S: f64 = 3000.0;

    fn nodes(role: Role) -> impl Iterator<Item = Path> {
        let params = DisasterAreaParams::default();
        let is_of = move |&(node, _): &(usize, Path)| params.role(node as u32) == role;
        let made = paths(&DisasterAreaParams::default(), LENGTH_S).into_iter().enumerate();
        made.filter(is_of).map(|(_, path)| path)
    }

    /// Where legs begin before the end.
    fn corners(path: &Path) -> impl Iterator<Item = Point> {
        let end = Time::from_secs(LENGTH_S);
        path.legs().iter().filter(move |leg| leg.start < end).map(|leg| leg.from)
    }

    fn is_at(here: Point, place: Point) -> bool {
        here.distance(place) < 1e-6
    }

    #[test]
    fn roles_are_shared_out_as_in_the_example_at_any_number_of_nodes() {
        for nodes in [150u32, 300, 40_000] {
            let params = DisasterAreaParams { nodes, ..Default::default() };
            for (role, of_example) in ROLES {
                let found = (0..nodes).filter(|&node| params.role(node) == role).count() as f64;
                let wanted = f64::from(nodes) * f64::from(of_example) / 150.0;
                assert!((found - wanted).abs() <= 1.0, "{role:?} of {nodes}: {found}");
            }
        }
    }

    #[test]
    fn nodes_that_stay_are_in_their_area_at_all_times() {
        let plan = Plan::new(&DisasterAreaParams::default());
        for area in [1, 2, 3, 4, 5, 6, 7] {
            let Rect([west, south, east, north]) = plan.areas[area].rect;
            let mut seen = 0;
            for here in nodes(Role::Stays(area)).flat_map(|path| corners(&path).collect::<Vec<_>>()) {
                seen += 1;
                assert!((west..=east).contains(&here.x) && (south..=north).contains(&here.y), "{here:?}");
            }
            assert!(seen > 100, "area {area}: {seen} legs");
        }
    }

    #[test]
    fn transports_go_out_by_the_exit_to_the_next_area_and_back_in_by_the_entry() {
        let plan = Plan::new(&DisasterAreaParams::default());
        let stations: Vec<Point> = plan.areas[2..6].iter().map(|area| area.entry).collect();
        let waiting = &plan.areas[WAITING];
        let mut visited = [0; 4];
        for (role, home, goals) in [
            (Role::Rescuer, &plan.areas[INCIDENT], vec![waiting.entry]),
            (Role::Carrier, waiting, stations.clone()),
        ] {
            for path in nodes(role) {
                let gate = |here: Point| match here {
                    _ if is_at(here, home.exit) => Some('x'),
                    _ if is_at(here, home.entry) => Some('e'),
                    _ if goals.iter().any(|&goal| is_at(here, goal)) => Some('g'),
                    _ => None,
                };
                let gates: String = corners(&path).filter_map(gate).collect();
                let whole = gates.trim_start_matches(['g', 'e']);
                assert!(whole.len() > 9 && "xge".repeat(1000).starts_with(whole), "{role:?}: {gates}");
                for here in corners(&path) {
                    for (station, &entry) in stations.iter().enumerate() {
                        visited[station] += u32::from(is_at(here, entry));
                    }
                }
            }
        }
        // Uniform: four standard deviations.
        let all = f64::from(visited.iter().sum::<u32>());
        let off = |&count: &u32| (f64::from(count) - all / 4.0).abs() / (all * 3.0 / 16.0).sqrt();
        assert!(all > 400.0 && visited.iter().map(off).all(|off| off < 4.0), "{visited:?}");
    }

    #[test]
    fn only_who_works_in_an_area_crosses_it_and_nobody_crosses_the_obstacle() {
        let plan = Plan::new(&DisasterAreaParams::default());
        let obstacle = Rect(OBSTACLE);
        for path in paths(&DisasterAreaParams::default(), LENGTH_S) {
            let corners: Vec<Point> = corners(&path).collect();
            // The first leg begins wherever the node is at time 0.
            for pair in corners.windows(2).skip(1) {
                assert!(!obstacle.is_crossed(pair[0], pair[1]), "{pair:?}");
                for area in &plan.areas {
                    let ends_here = pair.iter().any(|&end| {
                        area.rect.contains(end) || is_at(end, area.entry) || is_at(end, area.exit)
                    });
                    assert!(ends_here || !area.rect.is_crossed(pair[0], pair[1]), "{pair:?}");
                }
            }
        }
    }

    #[test]
    fn ways_are_the_shortest_round_areas() {
        let plan = Plan::new(&DisasterAreaParams::default());
        let [incident, waiting] = [INCIDENT, WAITING].map(|area| &plan.areas[area]);
        assert_eq!(plan.way(incident.exit, waiting.entry), [waiting.entry]);
        // South of the incident it is 202.3 m, north of it 212.3 m.
        let south = [Point { x: 128.0, y: 2.0 }, Point { x: 22.0, y: 2.0 }, incident.entry];
        assert_eq!(plan.way(waiting.entry, incident.entry), south);
        // Round the parking point's own corner, and through the lane between the first two stations, which is
        // as wide as twice the clearance.
        let lane = [(317.0, 53.0), (303.0, 43.0), (217.0, 43.0), (220.0, 22.5)].map(|(x, y)| Point { x, y });
        assert_eq!(plan.way(plan.areas[PARKING].exit, plan.areas[2].entry), lane);
        for ((from, to), way) in &plan.ways {
            let legs = std::iter::once(*from).chain(way.iter().copied()).collect::<Vec<_>>();
            assert!(legs.windows(2).all(|leg| plan.is_free(leg[0], leg[1])) && way.last() == Some(to));
        }
    }

    #[test]
    fn ambulances_are_away_between_the_two_places_at_the_border() {
        let plan = Plan::new(&DisasterAreaParams::default());
        let end = Time::from_secs(LENGTH_S);
        let mut away = 0;
        for path in nodes(Role::Ambulance) {
            let stays = path.present();
            for (number, stay) in stays.iter().enumerate() {
                if stay.from > Time::ZERO && stay.from < end {
                    assert!(is_at(path.position(stay.from), plan.joins));
                }
                if stay.until < end {
                    away += 1;
                    assert!(is_at(path.position(stay.until), plan.leaves));
                    // 340 m at 5 to 12 m/s.
                    let for_s = stays[number + 1].from.since(stay.until).as_secs();
                    assert!((340.0 / 12.0 - 1e-6..=340.0 / 5.0 + 1e-6).contains(&for_s), "{for_s}");
                }
            }
        }
        assert!(away > 28 * 5, "{away}");
        assert!(nodes(Role::Carrier).chain(nodes(Role::Rescuer)).all(|path| path.present().is_empty()));
    }

    #[test]
    fn what_is_skipped_is_the_beginning_of_the_same_movement() {
        let streams = Streams::new(5, 1);
        let made = |skip_s: f64| {
            let params = DisasterAreaParams { skip_s, ..Default::default() };
            params.trajectories(Span::from_secs(2000.0 - skip_s), &streams)
        };
        for (whole, later) in made(0.0).iter().zip(&made(1234.5)) {
            let (whole, later) = (Path::new(whole), Path::new(later));
            for second in 0..765 {
                let now = Time::from_secs(f64::from(second) + 0.25);
                let then = now + Span::from_secs(1234.5);
                assert!(later.position(now).distance(whole.position(then)) < 1e-4);
                assert_eq!(later.is_present(now), whole.is_present(then), "{second} s");
            }
        }
    }
}
