//! Sources, forwarders and sinks in areas of their own, one hop apart (Osipov and Tschudin 2006, Fig. 3).
//!
//! The areas stand in a row from west to east: sources, `hops` - 1 bands of forwarders, sinks. The figure
//! gives no coordinates; those of docs/models/mobility.md keep every two nodes of neighbouring areas within
//! ns-2's 250 m, and no area can be skipped.

use super::Trajectory;
use crate::kernel::{Purpose, Stream, Streams};

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
}

/// The nodes: sources, sinks, and then forwarders, which are put into the bands in turns. Their places are
/// uniform in their areas. A node draws its place from a stream of its own, so that further forwarders move
/// none of the others.
pub fn areas(areas: &Areas, streams: &Streams) -> Vec<Trajectory> {
    let ends = areas.sources + areas.sinks;
    let node = |node: u32| {
        let mut stream = streams.stream(node, Purpose::Mobility);
        if node < areas.sources {
            areas.place(0, areas.end_width_m, &mut stream)
        } else if node < ends {
            areas.place(areas.hops, areas.end_width_m, &mut stream)
        } else {
            areas.place(1 + (node - ends) % (areas.hops - 1), areas.band_width_m, &mut stream)
        }
    };
    (0..ends + areas.forwarders).map(node).collect()
}

impl Areas {
    /// A place in the area that is so many hops from the sources.
    fn place(&self, hop: u32, width_m: f64, stream: &mut Stream) -> Trajectory {
        let middle = self.end_width_m / 2.0 + f64::from(hop) * self.spacing_m;
        let x = stream.uniform(middle - width_m / 2.0, middle + width_m / 2.0);
        Trajectory::fixed(x, stream.uniform(0.0, self.height_m))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            let nodes = areas(&given, &Streams::new(seed, 0));
            prop_assert_eq!(nodes.len() as u32, 7 + forwarders);
            for (a, b) in (0..nodes.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let apart = hop(&given, a as u32).abs_diff(hop(&given, b as u32));
                let distance_m = nodes[a].start.distance(nodes[b].start);
                prop_assert_eq!(distance_m < 250.0, apart < 2, "{} and {}: {} m", a, b, distance_m);
            }
        }
    }

    #[test]
    fn more_forwarders_move_none_of_the_others() {
        let streams = Streams::new(5, 2);
        let (few, many) = (areas(&of(3, 2), &streams), areas(&of(3, 20), &streams));
        assert_eq!(few[..], many[..few.len()]);
        assert_ne!(few, areas(&of(3, 2), &Streams::new(5, 3)));
    }
}
