//! Where a node is: what a geographic protocol may ask.

use std::sync::Arc;

use crate::kernel::Time;
use crate::mobility::{Path, Point};
use crate::wire::NodeId;

/// A node among all nodes. It knows its own position, as a receiver of satellite signals would tell it, and
/// serves as the oracle for those of others, which stands for a location service without cost or error.
#[derive(Clone, Debug)]
pub struct Place {
    node: NodeId,
    paths: Arc<[Path]>,
}

impl Place {
    /// The place of `node`, where nodes move along these paths, by their numbers.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn new(node: NodeId, paths: Arc<[Path]>) -> Place {
        assert!(node.index() < paths.len(), "node {} of {}", node.0, paths.len());
        Place { node, paths }
    }

    /// Which node this is.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.paths.len()
    }

    /// Where this node is at `now`.
    pub fn position(&self, now: Time) -> Point {
        self.paths[self.node.index()].position(now)
    }

    /// Where `node` is at `now`; none if there is no such node.
    pub fn position_of(&self, node: NodeId, now: Time) -> Option<Point> {
        Some(self.paths.get(node.index())?.position(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{Command, Trajectory};

    #[test]
    fn a_node_knows_where_it_and_others_are_now() {
        let goes = Command::GoTo { at: Time::ZERO, to: Point { x: 100.0, y: 0.0 }, speed: 10.0 };
        let moves = Trajectory { commands: vec![goes], ..Trajectory::fixed(0.0, 0.0) };
        let paths: Arc<[Path]> = [moves, Trajectory::fixed(7.0, 8.0)].iter().map(Path::new).collect();
        let place = Place::new(NodeId(0), paths);
        let now = Time::from_secs(3.0);
        assert_eq!((place.node(), place.nodes()), (NodeId(0), 2));
        assert_eq!(place.position(now), Point { x: 30.0, y: 0.0 });
        assert_eq!(place.position_of(NodeId(1), now), Some(Point { x: 7.0, y: 8.0 }));
        assert_eq!(place.position_of(NodeId::BROADCAST, now), None);
    }
}
