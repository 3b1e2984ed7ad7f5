//! Movement: piecewise linear, as `setdest` of ns-2 describes it.
//!
//! A [`Trajectory`] is what a movement file says: a start and timed commands, and of tracks ([`Track`])
//! names, heights and the times in which nodes are there. A [`Path`] is what follows from
//! it: straight legs. There is one way from the first to the second, so a scenario that was generated,
//! written to a file and read again moves its nodes bit by bit as before.
//!
//! *Deviations*: 1 to 9 in docs/models/mobility.md.

mod angular_gauss_markov;
mod areas;
mod conference;
mod course;
mod disaster;
mod disaster_area;
mod drawn;
mod event;
mod failures;
mod gauss_markov;
mod geometric;
mod manhattan;
mod model;
mod path;
mod random_direction;
mod random_walk;
mod rpgm;
mod track;
pub mod waypoint;

pub use areas::{Areas, areas};
pub use drawn::{MAX_COMMANDS, Unfit};
pub use failures::{Failure, FailureError, is_inside, with_failures};
pub use geometric::geometric_mobility;
pub use model::{Model, ModelError};
pub use path::{Leg, Path};
pub use track::{Height, Presence, Sample, Track, TrackError, TrackFault, heights_differ};

use crate::kernel::Time;

/// The greatest speed of a node, in m/s.
pub const FASTEST_MPS: f64 = 1e5;

/// A point of the field, in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Point {
    /// Metres to the east.
    pub x: f64,
    /// Metres to the north.
    pub y: f64,
}

impl Point {
    /// The squared distance to `other`, in m².
    pub fn distance2(self, other: Point) -> f64 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        dx * dx + dy * dy
    }

    /// The distance to `other`, in metres.
    pub fn distance(self, other: Point) -> f64 {
        self.distance2(other).sqrt()
    }
}

/// One timed command to a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Command {
    /// `$ns_ at T "$node_(i) setdest x y speed"`: from where it is, go straight to `to` and stop there.
    /// A speed of zero stops the node where it is.
    GoTo {
        /// When.
        at: Time,
        /// The destination.
        to: Point,
        /// Metres per second, finite, not negative.
        speed: f64,
    },
    /// `$ns_ at T "$node_(i) set X_ x"` (and `Y_`): be at `to` at once, and stay. This is how a wrap-around
    /// at the edge of the field is written.
    Jump {
        /// When.
        at: Time,
        /// Where it is from then on.
        to: Point,
    },
}

impl Command {
    /// When the command is given.
    pub fn at(&self) -> Time {
        match *self {
            Command::GoTo { at, .. } | Command::Jump { at, .. } => at,
        }
    }

    /// The same in a field whose near corner is at `by`.
    fn shifted(self, by: Point) -> Command {
        let moved = |to: Point| Point { x: to.x + by.x, y: to.y + by.y };
        match self {
            Command::GoTo { at, to, speed } => Command::GoTo { at, to: moved(to), speed },
            Command::Jump { at, to } => Command::Jump { at, to: moved(to) },
        }
    }
}

/// What a movement file says of one node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trajectory {
    /// Where the node is at the start.
    pub start: Point,
    /// Its commands in order of time; commands at the same time are obeyed in the order of the list.
    pub commands: Vec<Command>,
    /// The name that its user has for the node; none: it is called by its number.
    pub label: Option<String>,
    /// Its heights in order of time, once at a time; the first holds before, the last after. Empty: it is on
    /// the ground.
    pub heights: Vec<Height>,
    /// When it is there, in order, apart from each other. Empty: always.
    pub present: Vec<Presence>,
    /// When it forgets everything, in order. It starts anew when it is there next.
    pub crashes: Vec<Time>,
}

impl Trajectory {
    /// A node that is always there, on the ground, and called by its number.
    pub fn new(start: Point, commands: Vec<Command>) -> Trajectory {
        Trajectory { start, commands, ..Trajectory::default() }
    }

    /// What its user calls the node, which has this number.
    pub fn name(&self, number: u32) -> String {
        self.label.clone().unwrap_or_else(|| number.to_string())
    }

    /// A node that never moves.
    pub fn fixed(x: f64, y: f64) -> Trajectory {
        Trajectory::new(Point { x, y }, Vec::new())
    }
}
