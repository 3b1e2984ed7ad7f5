//! Links and paths that a movement makes.

use manetlab_core::kernel::{Streams, Time};
use manetlab_core::mobility::{Path, Trajectory};
use manetlab_core::radio::{NodeRadio, Surroundings, WallSpec};
use manetlab_core::routing::RouteTable;
use manetlab_core::scenario::{LinkRate, Params, WiredLink};
use manetlab_core::topology::{End, Field};
use manetlab_core::wire::NodeId;
use serde::Deserialize;

/// What a scenario's surroundings are, and what draws its fields.
#[derive(Clone, Deserialize)]
pub struct Around {
    /// The seed of the streams.
    pub seed: u64,
    /// The replication.
    pub replication: u64,
    /// Radios of single nodes.
    pub radios: Vec<NodeRadio>,
    /// Walls.
    pub walls: Vec<WallSpec>,
}

/// All that says where links are, but for the movement.
#[derive(Clone)]
pub struct Links {
    /// The parameters.
    pub params: Params,
    /// Nodes and links with rates of their own.
    pub rates: Vec<LinkRate>,
    /// Wired links.
    pub wired: Vec<WiredLink>,
    /// Seed, replication, radios and walls.
    pub around: Around,
}

impl Links {
    /// For each pair of nodes those of a shortest path between them at a time, both ends included: the path
    /// that static routes take. None where there is no path.
    pub fn shortest_paths(
        &self,
        movement: &[Trajectory],
        pairs: &[(u32, u32)],
        now: Time,
    ) -> Vec<Option<Vec<u32>>> {
        let Links { params, rates, wired, around } = self;
        let paths: Vec<Path> = movement.iter().map(Path::new).collect();
        let destinations: Vec<NodeId> = pairs.iter().map(|&(_, dst)| NodeId(dst)).collect();
        let surroundings = Surroundings { nodes: paths.len(), radios: &around.radios, walls: &around.walls };
        let routes = match surroundings.links(params, &Streams::new(around.seed, around.replication)) {
            None => {
                let places: Vec<_> = paths.iter().map(|path| path.position(now)).collect();
                params.shortest_hops(rates, wired, &places, &destinations)
            }
            Some(links) => {
                let ends: Vec<End> = (0..).zip(&paths).map(|(node, path)| End::of(node, path, now)).collect();
                links.shortest_hops(rates, wired, &ends, now, &destinations)
            }
        };
        pairs.iter().map(|&(src, dst)| path(&routes, NodeId(src), NodeId(dst))).collect()
    }
}

/// The nodes of the way from `src` to `dst`, both included.
fn path(routes: &RouteTable, src: NodeId, dst: NodeId) -> Option<Vec<u32>> {
    let mut nodes = vec![src.0];
    let mut at = src;
    while at != dst {
        at = routes.next_hop(at, dst)?;
        nodes.push(at.0);
    }
    Some(nodes)
}

/// Where pairs are searched for: links by the parameters' range, from when until when, in s.
pub fn field(params: &Params, window_s: (f64, f64)) -> Field {
    let window = (Time::from_secs(window_s.0), Time::from_secs(window_s.1));
    Field { range_m: params.link_range_m(), window }
}
