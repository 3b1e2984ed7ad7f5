//! The random draws of the model and the constants of its stationary distribution.

use super::{Boundary, WaypointParams};
use crate::kernel::Stream;
use crate::mobility::Point;
use crate::mobility::course::inside;

/// A leg at time 0: where the node is on it, what is left to walk, and how fast.
pub(super) struct Underway {
    pub(super) here: Point,
    /// What is left of the displacement, in m; it may lead out of the field unless the rule is *classic*.
    pub(super) left: Point,
    pub(super) speed: f64,
}

/// A point uniform in the field.
pub(super) fn place(params: &WaypointParams, stream: &mut Stream) -> Point {
    let x = stream.uniform(0.0, params.width_m);
    Point { x, y: stream.uniform(0.0, params.height_m) }
}

/// A speed uniform on (min, max]: zero, at which no node ever arrives, is never drawn.
pub(super) fn speed(params: &WaypointParams, stream: &mut Stream) -> f64 {
    params.speed_max - (params.speed_max - params.speed_min) * stream.unit()
}

/// A displacement uniform on [-W, W) × [-H, H), in m.
pub(super) fn displacement(params: &WaypointParams, stream: &mut Stream) -> Point {
    let x = stream.uniform(-params.width_m, params.width_m);
    Point { x, y: stream.uniform(-params.height_m, params.height_m) }
}

/// Is a node paused at a random instant of the stationary model? (Navidi & Camp 2004.)
pub(super) fn is_paused(params: &WaypointParams, stream: &mut Stream) -> bool {
    let walking_s = mean_leg_m(params) * mean_slowness(params);
    stream.unit() * (params.pause_s + walking_s) < params.pause_s
}

/// A leg as a random instant of the stationary model finds it.
pub(super) fn underway(params: &WaypointParams, stream: &mut Stream) -> Underway {
    let diagonal = Point::default().distance(params.corner());
    // Rejection: of legs drawn as the model draws them, those are kept with probability length / diagonal.
    let (from, leg) = loop {
        let (from, leg) = match params.boundary {
            Boundary::Classic => {
                let (from, to) = (place(params, stream), place(params, stream));
                (from, Point { x: to.x - from.x, y: to.y - from.y })
            }
            Boundary::Wrap | Boundary::Bounce => (Point::default(), displacement(params, stream)),
        };
        if stream.unit() * diagonal < Point::default().distance(leg) {
            break (from, leg);
        }
    };
    let done = stream.unit();
    let here = match params.boundary {
        Boundary::Classic => {
            inside(Point { x: from.x + done * leg.x, y: from.y + done * leg.y }, params.corner())
        }
        Boundary::Wrap | Boundary::Bounce => place(params, stream),
    };
    let left = Point { x: (1.0 - done) * leg.x, y: (1.0 - done) * leg.y };
    // Density in proportion to 1/v on [min, max], by inversion of its distribution function.
    let speed = params.speed_min * libm::pow(params.speed_max / params.speed_min, stream.unit());
    Underway { here, left, speed: speed.clamp(params.speed_min, params.speed_max) }
}

/// E[1/v] of a speed uniform on [min, max], in s/m: ln(max/min) / (max - min).
fn mean_slowness(params: &WaypointParams) -> f64 {
    let (min, width) = (params.speed_min, params.speed_max - params.speed_min);
    if width > 0.0 { libm::log1p(width / min) / width } else { 1.0 / min }
}

/// The mean length of a leg, in m.
pub(super) fn mean_leg_m(params: &WaypointParams) -> f64 {
    let (w, h) = (params.width_m, params.height_m);
    let d = Point::default().distance(params.corner());
    let logarithms = (h * h / w * libm::asinh(w / h) + w * w / h * libm::asinh(h / w)) / 6.0;
    match params.boundary {
        // The mean distance of two uniform points in a rectangle (Ghosh 1951), in a form without
        // differences of great numbers in a narrow field.
        Boundary::Classic => (3.0 * d - w * w / (w + d) - h * h / (h + d)) / 15.0 + logarithms,
        // The mean distance from a corner of a rectangle to a uniform point in it, by symmetry.
        Boundary::Wrap | Boundary::Bounce => d / 3.0 + logarithms,
    }
}
