//! What a movement model has to say, and why its parameters may not fit each other.

use super::{Point, Trajectory};
use crate::kernel::{Span, Stream, Streams};

/// The most movement commands that are generated: each takes some 40 bytes while the run lasts.
pub const MAX_COMMANDS: f64 = 5e7;

/// A movement model: how nodes move is drawn from the run's streams.
pub(super) trait Drawn {
    /// Do the parameters, each in its range, fit each other?
    ///
    /// # Errors
    /// They do not.
    fn fit(&self) -> Result<(), Unfit>;

    /// About how many commands [`Drawn::trajectories`] makes.
    fn commands(&self, duration: Span) -> f64;

    /// Trajectories of all nodes, with every command that is given before `duration`.
    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory>;
}

/// Parameters of a movement model that do not fit each other.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{field}: found {found}, wanted {wanted}\nhint: {hint}")]
pub struct Unfit {
    /// The parameter, with its section.
    pub field: &'static str,
    /// Its value.
    pub found: String,
    /// What would be right.
    pub wanted: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// Is the least speed at most the greatest?
pub(super) fn check_speeds(field: &'static str, min: f64, max: f64) -> Result<(), Unfit> {
    if min <= max {
        return Ok(());
    }
    let (found, wanted) = (format!("{min} m/s"), format!("at most speed_max, {max} m/s"));
    Err(Unfit { field, found, wanted, hint: "swap the two values" })
}

/// A point uniform in a field.
pub(super) fn place_in(field: Point, stream: &mut Stream) -> Point {
    let x = stream.uniform(0.0, field.x);
    Point { x, y: stream.uniform(0.0, field.y) }
}

/// The vector of this length in this direction, in radians from the east.
pub(super) fn polar(length: f64, direction: f64) -> Point {
    Point { x: length * libm::cos(direction), y: length * libm::sin(direction) }
}

/// A direction, uniform in radians.
pub(super) fn direction(stream: &mut Stream) -> f64 {
    stream.uniform(0.0, 2.0 * std::f64::consts::PI)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::mobility::Path;

    pub(in super::super) fn paths(model: &impl Drawn, duration_s: f64) -> Vec<Path> {
        let streams = Streams::new(20_040_401, 0);
        model.trajectories(Span::from_secs(duration_s), &streams).iter().map(Path::new).collect()
    }

    pub(in super::super) fn velocity_at(path: &Path, at_s: f64) -> Point {
        let now = Time::from_secs(at_s);
        let leg = path.legs()[path.legs().partition_point(|leg| leg.start <= now) - 1];
        Point { x: leg.vx, y: leg.vy }
    }

    /// Chi-square of the nodes over 10 × 10 cells; 99 degrees of freedom, 0.9999 quantile 161.3.
    pub(in super::super) fn chi2(paths: &[Path], field: Point, at_s: f64) -> f64 {
        let mut cells = [0u32; 100];
        for path in paths {
            let here = path.position(Time::from_secs(at_s));
            let column = (here.x / field.x * 10.0).clamp(0.0, 9.0) as usize;
            cells[(here.y / field.y * 10.0).clamp(0.0, 9.0) as usize * 10 + column] += 1;
        }
        let expected = paths.len() as f64 / 100.0;
        cells.iter().map(|&n| (f64::from(n) - expected) * (f64::from(n) - expected) / expected).sum()
    }
}
