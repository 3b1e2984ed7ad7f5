//! Movement files of `setdest` (CMU's `setdest` 1 and 2 of ns-2; BonnMotion and SUMO write the same form).
//!
//! Understood lines, in any order, `$ns` for `$ns_` and `$node(i)` for `$node_(i)` too:
//!
//! | line | meaning |
//! |---|---|
//! | `$node_(i) set X_ x`, `… Y_ y` | the node's start, once; without both it is at (0, 0), as in ns-2 |
//! | `$node_(i) set Z_ z` | the node's height |
//! | `$ns_ at T "$node_(i) setdest x y speed"` | go straight to (x, y); from 10^6 m/s on, be there at once |
//! | `$ns_ at T "$node_(i) setdest x y z speed"` | and to the height z; the speed is that along the slope |
//! | `$ns_ at T "$node_(i) set X_ x"`, `… Y_ y`, `… Z_ z` | be there at once, and stay |
//! | `$ns_ at T "$node_(i) switch ON"`, `… OFF` | the node is there from then on, or is not |
//! | `$node_(i) setdest …`, `$node_(i) switch …` | the same at time 0 |
//! | `$god_ set-dist a b hops`, also timed; `set god_ [God instance]` | nothing: the optimum is computed here |
//! | `# …` and blank lines | nothing |
//!
//! Nodes with other numbers than 0, 1, 2 … are numbered so, in order, and keep their numbers as labels.
//!
//! Commands of one node at the same time are obeyed in the order of the file. `set X_` and `set Y_` of one
//! node at the same time are one jump; one alone keeps the other coordinate as it is at that time.
//!
//! A `setdest` with speed 0 stops the node where it is until its next order, as in ns-2: so `setdest`
//! writes pauses, and SUMO cars that stand. Those that name a place more than 0.5 m away are counted
//! ([`Movement::rests_elsewhere`]): SUMO's positions and speeds are of whole seconds, and a car brakes in
//! between.
//!
//! *Deviations*: number 1 in docs/models/mobility.md. A file that jumps should say at the same time where
//! to go next; then ns-2 and manetlab agree.

mod nodes;
mod read;
#[cfg(test)]
mod tests;
mod write;

use manetlab_core::mobility::{Command, Point, Trajectory};

use crate::tracks::Plane;

pub(crate) use nodes::{Nodes, Order, Statement};
pub(crate) use read::order;
pub use read::read_movement;
pub use write::write_movement;

/// What a movement file says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Movement {
    /// One trajectory for each node, in order of index.
    pub trajectories: Vec<Trajectory>,
    /// Orders at speed 0 to a place where the node is not: it stays where it is.
    pub rests_elsewhere: usize,
    /// Nodes without a start, which are at (0, 0).
    pub unplaced: usize,
    /// The plane on which the nodes are, if the source is in degrees.
    pub plane: Option<Plane>,
}

impl Movement {
    /// The greatest x and the greatest y over all starts and destinations, in metres, at least 0: the far
    /// corner of the smallest field from the origin that holds the movement.
    pub fn bounds(&self) -> Point {
        let places = self.trajectories.iter().flat_map(|trajectory| {
            let goals = trajectory.commands.iter().map(|command| match *command {
                Command::GoTo { to, .. } | Command::Jump { to, .. } => to,
            });
            std::iter::once(trajectory.start).chain(goals)
        });
        places.fold(Point::default(), |far, at| Point { x: far.x.max(at.x), y: far.y.max(at.y) })
    }
}
