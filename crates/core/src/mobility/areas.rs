//! Sources, forwarders and sinks in areas of their own, one hop apart (Osipov and Tschudin 2006, Fig. 3).
//! They stand still, as in the paper, or walk to and fro, each within its area.
//!
//! The areas stand in a row from west to east: sources, `hops` - 1 bands of forwarders, sinks. The figure
//! gives no coordinates; those of docs/models/mobility.md keep every two nodes of neighbouring areas within
//! ns-2's 250 m, and no area can be skipped.

use super::{Point, Trajectory, waypoint};
use crate::kernel::{Purpose, Span, Stream, Streams};

/// How many nodes stand where.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Areas {
    /// Nodes in the area of the sources.
    pub sources: u32,
    /// Nodes in the area of the sinks.
    pub sinks: u32,
    /// Nodes in the bands between them.
    pub forwarders: u32,
    /// Hops from a source to a sink, at least 2.
    pub hops: u32,
    /// Distance between the middles of neighbouring areas, in m.
    pub spacing_m: f64,
    /// Extent of all areas from south to north, in m.
    pub height_m: f64,
    /// Extent of the areas of sources and sinks from west to east, in m.
    pub end_width_m: f64,
    /// Extent of a band of forwarders from west to east, in m.
    pub band_width_m: f64,
    /// Speed of all nodes, in m/s. At 0 they stand still; above, all extents must be, too.
    pub speed_mps: f64,
}

/// The nodes: sources, sinks, and then forwarders, which are put into the bands in turns. Their places are
/// uniform in their areas, at all times, and those at time 0 are the same at all speeds. A node draws from a
/// stream of its own, so that further forwarders move none of the others.
pub fn areas(areas: &Areas, duration: Span, streams: &Streams) -> Vec<Trajectory> {
    let ends = areas.sources + areas.sinks;
    let node = |node: u32| {
        let mut stream = streams.stream(node, Purpose::Mobility);
        let (hop, width_m) = if node < areas.sources {
            (0, areas.end_width_m)
        } else if node < ends {
            (areas.hops, areas.end_width_m)
        } else {
            (1 + (node - ends) % (areas.hops - 1), areas.band_width_m)
        };
        areas.trajectory(hop, width_m, duration, &mut stream)
    };
    (0..ends + areas.forwarders).map(node).collect()
}

impl Areas {
    /// About how many changes of direction the nodes make together; 0 if they stand still.
    #[must_use]
    pub fn commands(&self, duration: Span) -> f64 {
        if self.speed_mps <= 0.0 {
            return 0.0;
        }
        let of = |nodes: u32, width_m| {
            let field = Point { x: width_m, y: self.height_m };
            f64::from(nodes) * waypoint::bouncing_commands(field, self.speed_mps, duration)
        };
        of(self.sources + self.sinks, self.end_width_m) + of(self.forwarders, self.band_width_m)
    }

    /// A node in the area that is so many hops from the sources.
    fn trajectory(&self, hop: u32, width_m: f64, duration: Span, stream: &mut Stream) -> Trajectory {
        let middle = self.end_width_m / 2.0 + f64::from(hop) * self.spacing_m;
        let west = middle - width_m / 2.0;
        let x = stream.uniform(west, middle + width_m / 2.0);
        let start = Point { x, y: stream.uniform(0.0, self.height_m) };
        if self.speed_mps <= 0.0 {
            return Trajectory::fixed(start.x, start.y);
        }
        let (here, field) = (Point { x: x - west, y: start.y }, Point { x: width_m, y: self.height_m });
        let walked = waypoint::bouncing_from(here, field, self.speed_mps, duration, stream);
        let commands = walked.into_iter().map(|command| command.shifted(Point { x: west, y: 0.0 })).collect();
        Trajectory::new(start, commands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::mobility::Path;
    use proptest::prelude::*;

    const DURATION: Span = Span(120_000_000_000);

    /// The defaults of scenarios.
    fn of(hops: u32, forwarders: u32) -> Areas {
        Areas {
            sources: 4,
            sinks: 3,
            forwarders,
            hops,
            spacing_m: 200.0,
            height_m: 100.0,
            end_width_m: 10.0,
            band_width_m: 20.0,
            speed_mps: 0.0,
        }
    }

    /// How many hops from the sources a node's area is.
    fn hop(areas: &Areas, node: u32) -> u32 {
        match node {
            0..4 => 0,
            4..7 => areas.hops,
            _ => 1 + (node - 7) % (areas.hops - 1),
        }
    }

    proptest! {
        #[test]
        fn neighbouring_areas_are_in_range_and_none_can_be_skipped(
            hops in 2u32..8, forwarders in 1u32..40, seed in any::<u64>()
        ) {
            let given = of(hops, forwarders);
            let nodes = areas(&given, DURATION, &Streams::new(seed, 0));
            prop_assert_eq!(nodes.len() as u32, 7 + forwarders);
            for (a, b) in (0..nodes.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let apart = hop(&given, a as u32).abs_diff(hop(&given, b as u32));
                let distance_m = nodes[a].start.distance(nodes[b].start);
                prop_assert_eq!(distance_m < 250.0, apart < 2, "{} and {}: {} m", a, b, distance_m);
            }
        }

        #[test]
        fn nodes_that_move_never_leave_their_areas_nor_change_their_speed(
            hops in 2u32..5, speed_mps in 0.01f64..50.0, band_width_m in 1.0f64..300.0, seed in any::<u64>()
        ) {
            let given = Areas { speed_mps, band_width_m, ..of(hops, 9) };
            for (node, trajectory) in areas(&given, DURATION, &Streams::new(seed, 0)).iter().enumerate() {
                let width_m = if node < 7 { given.end_width_m } else { band_width_m };
                let middle = 5.0 + 200.0 * f64::from(hop(&given, node as u32));
                let path = Path::new(trajectory);
                // Legs are straight: the node is inside if both ends of each are.
                let ends = path.legs().iter().skip(1).map(|leg| Time(leg.start.0 - 1));
                let last = [Time::ZERO + DURATION];
                for now in path.legs().iter().map(|leg| leg.start).chain(ends).chain(last) {
                    let here = path.position(now);
                    // What is walked in a nanosecond, and rounding.
                    prop_assert!((here.x - middle).abs() <= width_m / 2.0 + 1e-6, "{}: {:?}", node, here);
                    prop_assert!((-1e-6..=100.0 + 1e-6).contains(&here.y), "{}: {:?}", node, here);
                }
                for leg in path.legs().iter().filter(|leg| leg.start.0 < DURATION.0) {
                    let speed = libm::sqrt(leg.vx * leg.vx + leg.vy * leg.vy);
                    // Two commands may be a nanosecond apart.
                    prop_assert!(speed == 0.0 || (speed - speed_mps).abs() < 1e-9 * speed_mps);
                }
            }
        }
    }

    #[test]
    fn nodes_begin_at_the_same_places_at_all_speeds_and_walk_all_the_time() {
        let streams = Streams::new(3, 1);
        let standing = areas(&of(3, 8), DURATION, &streams);
        assert!(standing.iter().all(|node| node.commands.is_empty()));
        for speed_mps in [0.001, 1.0, 5.0] {
            let given = Areas { speed_mps, ..of(3, 8) };
            let moving = areas(&given, DURATION, &streams);
            for (before, after) in standing.iter().zip(&moving) {
                assert_eq!(before.start, after.start);
                let path = Path::new(after);
                let walked_m: f64 = path
                    .legs()
                    .windows(2)
                    .filter(|pair| pair[1].start.0 < DURATION.0)
                    .map(|pair| pair[0].position(pair[0].start).distance(pair[0].position(pair[1].start)))
                    .sum();
                let last = path.legs().iter().rfind(|leg| leg.start.0 < DURATION.0).expect("a leg");
                let rest_m = last.position(last.start).distance(last.position(Time::ZERO + DURATION));
                let whole_m = speed_mps * DURATION.as_secs();
                assert!((walked_m + rest_m - whole_m).abs() < 1e-3 * whole_m, "{walked_m} + {rest_m}");
            }
            let made = moving.iter().map(|node| node.commands.len()).sum::<usize>() as f64;
            assert!((0.5..2.0).contains(&(given.commands(DURATION) / made)), "{made}");
        }
    }

    #[test]
    fn nodes_that_move_are_everywhere_in_their_areas_equally_often() {
        // Means of 1000 uniform values: four standard errors are 4 · side / √12 / √1000; the mean squared
        // distance from the middle is side² / 12, with a standard deviation of side² / √180.
        let given = Areas { forwarders: 1000, hops: 2, speed_mps: 5.0, ..of(2, 1) };
        let nodes = areas(&given, DURATION, &Streams::new(1, 0));
        for at_s in [0.0, 20.0, 119.0] {
            let places = nodes[7..].iter().map(|node| Path::new(node).position(Time::from_secs(at_s)));
            let ys: Vec<f64> = places.map(|place| place.y / 100.0 - 0.5).collect();
            let mean = ys.iter().sum::<f64>() / 1000.0;
            let squared = ys.iter().map(|y| y * y).sum::<f64>() / 1000.0;
            assert!(mean.abs() < 4.0 / 12_000.0f64.sqrt(), "{at_s} s: {mean}");
            assert!((squared - 1.0 / 12.0).abs() < 4.0 / 180_000.0f64.sqrt(), "{at_s} s: {squared}");
        }
    }

    #[test]
    fn more_forwarders_move_none_of_the_others() {
        let streams = Streams::new(5, 2);
        for speed_mps in [0.0, 2.0] {
            let made = |forwarders| areas(&Areas { speed_mps, ..of(3, forwarders) }, DURATION, &streams);
            let (few, many) = (made(2), made(20));
            assert_eq!(few[..], many[..few.len()]);
        }
        let other = areas(&of(3, 2), DURATION, &Streams::new(5, 3));
        assert_ne!(areas(&of(3, 2), DURATION, &streams), other);
    }
}
