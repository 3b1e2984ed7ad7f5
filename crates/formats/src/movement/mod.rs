//! Movement files of `setdest` (CMU's `setdest` 1 and 2 of ns-2; BonnMotion and SUMO write the same form).
//!
//! Understood lines, in any order, `$ns` for `$ns_` and `$node(i)` for `$node_(i)` too:
//!
//! | line | meaning |
//! |---|---|
//! | `$node_(i) set X_ x`, `… Y_ y` | the node's start; every node needs both, once |
//! | `$node_(i) set Z_ 0` | nothing: the field is flat, another height is an error |
//! | `$ns_ at T "$node_(i) setdest x y speed"` | go straight to (x, y) |
//! | `$ns_ at T "$node_(i) set X_ x"`, `… Y_ y` | be there at once, and stay |
//! | `$god_ set-dist a b hops`, also timed; `set god_ [God instance]` | nothing: the optimum is computed here |
//! | `# …` and blank lines | nothing |
//!
//! Commands of one node at the same time are obeyed in the order of the file. `set X_` and `set Y_` of one
//! node at the same time are one jump; one alone keeps the other coordinate as it is at that time.
//!
//! A `setdest` with speed 0 stops the node where it is until its next order, as in ns-2: so `setdest` writes
//! pauses, and SUMO cars that stand. Those that name a place more than 0.5 m away are counted
//! ([`Movement::rests_elsewhere`]): SUMO's positions and speeds are of whole seconds, and a car brakes in
//! between.
//!
//! *Deviations*: number 1 in docs/models/mobility.md. A file that jumps should say at the same time where
//! to go next; then ns-2 and manetlab agree.

mod read;
#[cfg(test)]
mod tests;
mod write;

use manetlab_core::mobility::{Command, Point, Trajectory};

pub use read::read_movement;
pub use write::write_movement;

/// What a movement file says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Movement {
    /// One trajectory for each node, in order of index.
    pub trajectories: Vec<Trajectory>,
    /// Orders at speed 0 to a place where the node is not: it stays where it is.
    pub rests_elsewhere: usize,
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
