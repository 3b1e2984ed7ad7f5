//! Manhattan: nodes go along the streets of a grid and turn at its crossings.
//!
//! Read first: BonnMotion's `ManhattanGrid`; ETSI, TR 101 112 V3.2.0 (UMTS 30.03), B.1.4.2. Streets
//! separate `blocks_x` × `blocks_y` blocks and go around the field. A node goes on in steps of `step_m`,
//! shorter before a crossing. Before each step it draws a new speed with `speed_change_probability`,
//! N(`speed_mean`, `speed_sd`²) and at least `speed_min`, and pauses with `pause_probability` for a time
//! uniform on (0, `pause_max_s`]. At a crossing it turns with `turn_probability`, to the left or to the
//! right alike, into streets that there are; where its own street ends it must turn. At time 0 nodes are
//! on the streets, uniformly by length.

use super::course::Course;
use super::drawn::{Drawn, Unfit};
use super::{Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::params;

params! {
    /// Movement along the streets of a grid.
    pub struct ManhattanParams in "manhattan" {
        /// Number of nodes.
        nodes: u32 = 50, "", "decision", [1.0, 1e5];
        /// Width of the field.
        width_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 1000.0, "m", "decision", [1.0, 1e6];
        /// Blocks from west to east.
        blocks_x: u32 = 10, "", "BonnMotion ManhattanGrid", [1.0, 1000.0];
        /// Blocks from south to north.
        blocks_y: u32 = 10, "", "BonnMotion ManhattanGrid", [1.0, 1000.0];
        /// Length of a step, before which a node may change its speed or pause.
        step_m: f64 = 5.0, "m", "BonnMotion ManhattanGrid", [0.1, 1e6];
        /// Probability of a turn at a crossing.
        turn_probability: f64 = 0.5, "", "BonnMotion ManhattanGrid", [0.0, 1.0];
        /// Probability of a new speed before a step.
        speed_change_probability: f64 = 0.2, "", "BonnMotion ManhattanGrid", [0.0, 1.0];
        /// Mean of the speeds, before those below the minimum are raised to it.
        speed_mean: f64 = 1.0, "m/s", "BonnMotion ManhattanGrid", [0.001, 1000.0];
        /// Standard deviation of the speeds.
        speed_sd: f64 = 0.2, "m/s", "BonnMotion ManhattanGrid", [0.0, 1000.0];
        /// Minimum speed.
        speed_min: f64 = 0.5, "m/s", "BonnMotion ManhattanGrid", [0.001, 1000.0];
        /// Probability of a pause before a step.
        pause_probability: f64 = 0.0, "", "BonnMotion ManhattanGrid", [0.0, 1.0];
        /// Maximum pause.
        pause_max_s: f64 = 120.0, "s", "BonnMotion ManhattanGrid", [0.0, 1e6];
    }
}

/// East, north, west, south: a turn to the left is the next.
const WAYS: [(i64, i64); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

impl Drawn for ManhattanParams {
    fn fit(&self) -> Result<(), Unfit> {
        Ok(())
    }

    fn commands(&self, duration: Span) -> f64 {
        let block_m = (self.width_m / f64::from(self.blocks_x)).min(self.height_m / f64::from(self.blocks_y));
        let speed = self.speed_mean.max(self.speed_min) + self.speed_sd;
        f64::from(self.nodes) * (1.0 + duration.as_secs() * speed * (1.0 / self.step_m + 1.0 / block_m))
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let node = |node| self.trajectory(duration, &mut streams.stream(node, Purpose::Mobility));
        (0..self.nodes).map(node).collect()
    }
}

/// The crossing where a node is or is going to, counted from the south-west, and its way, one of [`WAYS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Heading {
    column: i64,
    row: i64,
    way: usize,
}

impl ManhattanParams {
    fn trajectory(&self, duration: Span, stream: &mut Stream) -> Trajectory {
        let (start, mut heading) = self.start(stream);
        let mut course = Course::new(start, duration);
        let mut speed = self.speed(stream);
        while course.is_underway() {
            if stream.unit() < self.speed_change_probability {
                speed = self.speed(stream);
            }
            if stream.unit() < self.pause_probability {
                course.rest(Span::from_secs(self.pause_max_s * stream.positive_unit()));
            }
            let crossing = self.crossing(heading);
            if course.here.distance(crossing) > self.step_m {
                let (x, y) = WAYS[heading.way];
                let here = course.here;
                let to = Point { x: here.x + x as f64 * self.step_m, y: here.y + y as f64 * self.step_m };
                course.walk_to(to, speed);
            } else {
                course.walk_to(crossing, speed);
                heading = self.beyond(heading, stream);
            }
        }
        Trajectory::new(start, course.commands)
    }

    /// A place on the streets, uniform by length, and the crossing to which a node goes from there.
    fn start(&self, stream: &mut Stream) -> (Point, Heading) {
        let (columns, rows) = (self.blocks_x, self.blocks_y);
        let (along_x, along_y) = (f64::from(rows + 1) * self.width_m, f64::from(columns + 1) * self.height_m);
        let is_along_x = stream.unit() * (along_x + along_y) < along_x;
        let (streets, blocks) = if is_along_x { (rows + 1, columns) } else { (columns + 1, rows) };
        let (street, block) = (i64::from(stream.below(streets)), i64::from(stream.below(blocks)));
        let (done, is_forwards) = (stream.unit(), stream.below(2) == 0);
        let ahead = block + i64::from(is_forwards);
        let heading = match (is_along_x, is_forwards) {
            (true, _) => Heading { column: ahead, row: street, way: if is_forwards { 0 } else { 2 } },
            (false, _) => Heading { column: street, row: ahead, way: if is_forwards { 1 } else { 3 } },
        };
        let (crossing, (x, y)) = (self.crossing(heading), WAYS[heading.way]);
        let left_x = (1.0 - done) * self.width_m / f64::from(columns);
        let left_y = (1.0 - done) * self.height_m / f64::from(rows);
        (Point { x: crossing.x - x as f64 * left_x, y: crossing.y - y as f64 * left_y }, heading)
    }

    /// Where a crossing is.
    fn crossing(&self, Heading { column, row, .. }: Heading) -> Point {
        Point {
            x: self.width_m * column as f64 / f64::from(self.blocks_x),
            y: self.height_m * row as f64 / f64::from(self.blocks_y),
        }
    }

    /// The next crossing of a node at this one.
    fn beyond(&self, at: Heading, stream: &mut Stream) -> Heading {
        let next = |way: usize| {
            let (x, y) = WAYS[way];
            Heading { column: at.column + x, row: at.row + y, way }
        };
        let is_there = |heading: &Heading| {
            (0..=i64::from(self.blocks_x)).contains(&heading.column)
                && (0..=i64::from(self.blocks_y)).contains(&heading.row)
        };
        let straight = next(at.way);
        if is_there(&straight) && stream.unit() >= self.turn_probability {
            return straight;
        }
        let sides = [next((at.way + 1) % 4), next((at.way + 3) % 4)];
        match (is_there(&sides[0]), is_there(&sides[1])) {
            (true, true) => sides[stream.below(2) as usize],
            (true, false) => sides[0],
            (false, _) => sides[1],
        }
    }

    fn speed(&self, stream: &mut Stream) -> f64 {
        (self.speed_mean + self.speed_sd * stream.normal()).max(self.speed_min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::drawn::tests::paths;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nodes_are_always_on_streets(
            blocks_x in 1u32..6, blocks_y in 1u32..6, step_m in 0.5f64..200.0,
            pause_probability in 0.0f64..0.5, seed_nodes in 1u32..20
        ) {
            let params = ManhattanParams {
                nodes: seed_nodes, width_m: 300.0, height_m: 200.0, blocks_x, blocks_y, step_m,
                pause_probability, speed_mean: 9.0, ..Default::default()
            };
            let off = |at: f64, side: f64, blocks: u32| {
                let block_m = side / f64::from(blocks);
                libm::remainder(at, block_m).abs()
            };
            for path in paths(&params, 60.0) {
                for half_s in 0..120 {
                    let here = path.position(crate::kernel::Time::from_secs(f64::from(half_s) / 2.0));
                    let off_m = off(here.x, 300.0, blocks_x).min(off(here.y, 200.0, blocks_y));
                    prop_assert!(off_m < 1e-6, "{here:?}");
                    prop_assert!((-1e-6..300.0 + 1e-6).contains(&here.x), "{here:?}");
                    prop_assert!((-1e-6..200.0 + 1e-6).contains(&here.y), "{here:?}");
                }
            }
        }
    }

    #[test]
    fn a_half_goes_straight_on_and_a_quarter_turns_to_each_side() {
        let params = ManhattanParams::default();
        let mut stream = Streams::new(3, 0).stream(0, Purpose::Mobility);
        let at = Heading { column: 5, row: 5, way: 1 };
        let mut turned = [0u32; 4];
        for _ in 0..40_000 {
            turned[params.beyond(at, &mut stream).way] += 1;
        }
        // North, west to the left, east to the right, never back south; four standard errors.
        for (way, wanted) in [(1, 0.5f64), (2, 0.25), (0, 0.25), (3, 0.0)] {
            let share = f64::from(turned[way]) / 40_000.0;
            let bound = 4.0 * (wanted * (1.0 - wanted) / 40_000.0).sqrt();
            assert!((share - wanted).abs() <= bound, "{way}: {share}");
        }
    }

    #[test]
    fn where_a_street_ends_a_node_must_turn_and_in_a_corner_there_is_one_way() {
        let params = ManhattanParams { turn_probability: 0.0, ..Default::default() };
        let mut stream = Streams::new(3, 0).stream(0, Purpose::Mobility);
        let north = Heading { column: 4, row: 10, way: 1 };
        assert!((0..50).all(|_| [0, 2].contains(&params.beyond(north, &mut stream).way)));
        let corner = Heading { column: 10, row: 10, way: 1 };
        assert_eq!(params.beyond(corner, &mut stream), Heading { column: 9, row: 10, way: 2 });
    }

    #[test]
    fn nodes_start_on_all_streets_by_their_length() {
        let params = ManhattanParams { nodes: 8000, width_m: 900.0, height_m: 300.0, ..Default::default() };
        let starts = params.trajectories(Span::ZERO, &Streams::new(9, 0));
        let along_x = starts.iter().filter(|node| libm::remainder(node.start.y, 30.0).abs() < 1e-9).count();
        let share = along_x as f64 / 8000.0;
        assert!((share - 0.75).abs() < 4.0 * (0.1875f64 / 8000.0).sqrt(), "{share}");
    }
}
