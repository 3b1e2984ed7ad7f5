//! Random waypoint, and placements of nodes that stand still.
//!
//! A node pauses, draws a destination and a speed, walks there in a straight line, and begins again. Speeds
//! are uniform on (`speed_min`, `speed_max`], the pause is fixed. Read first: Navidi & Camp, "Stationary
//! Distributions for the Random Waypoint Mobility Model", IEEE Trans. Mobile Computing 3(1), 2004; Yoon, Liu
//! & Noble, "Random Waypoint Considered Harmful", INFOCOM 2003.
//!
//! [`Boundary`] chooses how destinations are drawn and what the edge of the field does:
//!
//! * *classic*: the destination is uniform in the field, so no edge is ever met. Nodes gather in the middle.
//! * *wrap*: the destination is a displacement uniform on [-L, L]² away; a node that meets an edge goes on
//!   from the opposite edge in the same direction. Density is uniform.
//! * *bounce*: the destination is a displacement uniform on [-W, W] × [-H, H] away, mirrored at the edges.
//!   Unfolded over its mirror images this is *wrap* on a torus of 2W × 2H: density is uniform here too.
//!
//! [`Start`] chooses the state at time 0:
//!
//! * *stationary* draws it from the distribution to which the model converges, so that nothing drifts and
//!   nothing need be discarded. A node is paused with probability P / (P + E\[T\]), with a uniform rest of
//!   its pause and a waypoint's distribution of place (Navidi & Camp); otherwise it is on a leg that is drawn
//!   with density in proportion to its length, at a uniform place on it, with speed density in proportion to
//!   1/v. E\[T\] = E\[length\] · E\[1/v\], which needs a positive least speed. Under *wrap* and *bounce* a
//!   waypoint is uniform in the field, and so is every point of a leg, because the (unfolded) torus has no
//!   middle: there the place is drawn uniformly, and the rest of the displacement along the leg.
//! * *uniform* places the nodes uniformly and lets all of them pause first. The mean speed then falls from
//!   (min + max)/2 towards (max - min)/ln(max/min) (Yoon et al.), and with a least speed of zero it falls
//!   for ever.
//!
//! Each node draws from a stream of its own, so node 7 walks the same whatever the number of nodes.
//!
//! *Deviations*: 4 to 6 in docs/models/mobility.md. By 6, what [`Path`](super::Path) makes of the result is
//! what it makes of it after it was written and read.

mod draw;
mod placement;
#[cfg(test)]
mod tests;
mod walk;

use thiserror::Error;

use super::{Command, MAX_COMMANDS, Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::{OutOfRange, choices, params};

pub use super::course::Boundary;
pub use placement::{chain, grid, uniform_static};

choices! {
    /// The state at time 0.
    pub enum Start {
        /// Drawn from the stationary distribution.
        Stationary = "stationary",
        /// Uniform places, and every node pauses first.
        Uniform = "uniform",
    }
}

params! {
    /// Random waypoint.
    pub struct WaypointParams in "waypoint" {
        /// Number of nodes.
        nodes: u32 = 50, "", "Broch et al. 1998 §3", [1.0, 1e5];
        /// Width of the field.
        width_m: f64 = 1000.0, "m", "Dyer 2002 §3.4.1", [1.0, 1e6];
        /// Height of the field.
        height_m: f64 = 1000.0, "m", "Dyer 2002 §3.4.1", [1.0, 1e6];
        /// Minimum speed. A stationary start requires a positive value.
        speed_min: f64 = 1.0, "m/s", "Yoon et al. 2003", [0.0, 1000.0];
        /// Maximum speed.
        speed_max: f64 = 20.0, "m/s", "Broch et al. 1998 §3", [0.001, 1000.0];
        /// Pause at each waypoint.
        pause_s: f64 = 0.0, "s", "Broch et al. 1998 §3", [0.0, 1e6];
        /// How destinations are drawn, and what happens at the edge of the field.
        boundary: Boundary = Boundary::Classic, "", "Dyer 2002 §3.4.1";
        /// The state at time 0.
        start: Start = Start::Stationary, "", "Navidi & Camp 2004";
    }
}

/// Parameters that no scenario can have.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum WaypointError {
    /// A parameter outside its range; a field without area is one.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The least speed is above the greatest.
    #[error(
        "waypoint.speed_min: found {min} m/s, wanted at most speed_max, {max} m/s\nhint: swap the two values"
    )]
    Speeds {
        /// `speed_min`.
        min: f64,
        /// `speed_max`.
        max: f64,
    },
    /// There is no stationary distribution: legs of speed near zero last for ever.
    #[error(
        "waypoint.speed_min: found 0 m/s, wanted more for a stationary start\n\
         hint: set speed_min to 0.1, or start to \"uniform\""
    )]
    StationaryAtRest,
    /// A field that wraps around and is no square.
    #[error(
        "waypoint.boundary: found a field of {width_m} m x {height_m} m, wanted a square to wrap around\n\
         hint: set height_m to width_m, or boundary to \"classic\" or \"bounce\""
    )]
    WrapNeedsSquare {
        /// `width_m`.
        width_m: f64,
        /// `height_m`.
        height_m: f64,
    },
    /// The movement would fill the memory.
    #[error(
        "waypoint.nodes: found movement of about {commands:.0} commands, wanted at most {MAX_COMMANDS:.0}\n\
         hint: ask for fewer nodes, a shorter run, or a longer pause"
    )]
    TooLong {
        /// How many commands the nodes would be given.
        commands: f64,
    },
}

impl WaypointParams {
    /// Checks ranges and combinations.
    ///
    /// # Errors
    /// What cannot be generated.
    pub fn validate(&self) -> Result<(), WaypointError> {
        self.check()?;
        if self.speed_min > self.speed_max {
            return Err(WaypointError::Speeds { min: self.speed_min, max: self.speed_max });
        }
        if self.start == Start::Stationary && self.speed_min <= 0.0 {
            return Err(WaypointError::StationaryAtRest);
        }
        if self.boundary == Boundary::Wrap && self.width_m.to_bits() != self.height_m.to_bits() {
            let (width_m, height_m) = (self.width_m, self.height_m);
            return Err(WaypointError::WrapNeedsSquare { width_m, height_m });
        }
        Ok(())
    }

    /// About how many commands `generate` makes: legs, and under *wrap* and *bounce* the edges that they
    /// meet.
    #[must_use]
    pub fn commands(&self, duration: Span) -> f64 {
        let mean_speed = f64::midpoint(self.speed_min, self.speed_max);
        let leg_s = draw::mean_leg_m(self) / mean_speed + self.pause_s;
        let pieces = match self.boundary {
            Boundary::Classic => 1.0,
            // A displacement of up to a side meets an edge of each direction with probability a half.
            Boundary::Bounce => 2.0,
            Boundary::Wrap => 3.0,
        };
        f64::from(self.nodes) * (1.0 + duration.as_secs() / leg_s * pieces)
    }

    /// The far corner of the field; the near one is the origin.
    fn corner(&self) -> Point {
        Point { x: self.width_m, y: self.height_m }
    }
}

/// Trajectories of all nodes, with every command that is given before `duration`.
///
/// # Errors
/// Parameters that [`WaypointParams::validate`] refuses, and more commands than [`MAX_COMMANDS`].
pub fn generate(
    params: &WaypointParams,
    duration: Span,
    streams: &Streams,
) -> Result<Vec<Trajectory>, WaypointError> {
    params.validate()?;
    let commands = params.commands(duration);
    if commands > MAX_COMMANDS {
        return Err(WaypointError::TooLong { commands });
    }
    let walker = |node| walk(params, duration, &mut streams.stream(node, Purpose::Mobility));
    Ok((0..params.nodes).map(walker).collect())
}

/// The trajectory of one node, which draws from `stream`; the parameters are valid.
pub(super) fn walk(params: &WaypointParams, duration: Span, stream: &mut Stream) -> Trajectory {
    walk::trajectory(params, duration, stream)
}

/// The mean distance of two points uniform in a field, which is given by its far corner, in m.
pub(super) fn mean_distance_m(field: Point) -> f64 {
    draw::mean_leg_m(&WaypointParams { width_m: field.x, height_m: field.y, ..WaypointParams::default() })
}

/// The commands of a node that walks to and fro in a field of its own, without pauses and at one speed. It
/// is at `here` at time 0, a place that was drawn uniformly; under the rule *bounce* its places are uniform
/// ever after.
pub(super) fn bouncing_from(
    here: Point,
    field: Point,
    speed_mps: f64,
    duration: Span,
    stream: &mut Stream,
) -> Vec<Command> {
    walk::commands_from(here, &bouncing(field, speed_mps), duration, stream)
}

/// About how many commands [`bouncing_from`] makes.
pub(super) fn bouncing_commands(field: Point, speed_mps: f64, duration: Span) -> f64 {
    bouncing(field, speed_mps).commands(duration)
}

fn bouncing(field: Point, speed_mps: f64) -> WaypointParams {
    WaypointParams {
        nodes: 1,
        width_m: field.x,
        height_m: field.y,
        speed_min: speed_mps,
        speed_max: speed_mps,
        pause_s: 0.0,
        boundary: Boundary::Bounce,
        start: Start::Stationary,
    }
}
