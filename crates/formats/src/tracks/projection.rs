//! Degrees into metres: the plane that touches the WGS 84 ellipsoid in the middle of the box.
//!
//! x = N cos φ₀ Δλ and y = M Δφ, with the radii of curvature M and N at the middle's latitude φ₀. At the
//! edge of a field of 5 km the error is about 1 m at a latitude of 50°; fields of more than 50 km are
//! refused.

use crate::error::{Fault, Parsed, ReadError};

/// The ellipsoid's semi-major axis, in m, and the square of its eccentricity (WGS 84).
const A_M: f64 = 6_378_137.0;
const E2: f64 = 0.006_694_379_990_141;
/// Largest extent of a field, in m.
const WIDEST_M: f64 = 50_000.0;
/// Greatest latitude, in degrees: beyond, metres to the east mean little.
const HIGHEST_DEG: f64 = 85.0;

/// A plane with its origin at the south-west corner of the box.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plane {
    /// Longitude and latitude of the middle, in degrees.
    pub centre_deg: (f64, f64),
    /// Those of the origin.
    pub corner_deg: (f64, f64),
    /// Metres in a degree of longitude and of latitude.
    pub scale_m: (f64, f64),
}

impl Plane {
    /// The plane for a box of longitudes and latitudes, of something that is called `name`.
    ///
    /// # Errors
    /// The box is too large, or too near to a pole.
    pub fn of(low: (f64, f64), high: (f64, f64), name: &str) -> Result<Plane, ReadError> {
        Plane::of_box(low, high).map_err(|fault| fault.in_file(name, None))
    }

    /// The plane for a box of longitudes and latitudes, from `low` to `high`, in degrees.
    pub(super) fn of_box(low: (f64, f64), high: (f64, f64)) -> Parsed<Plane> {
        let hint = "longitude comes before latitude; have they been exchanged?";
        if low.1 < -HIGHEST_DEG || high.1 > HIGHEST_DEG {
            let found = format!("latitudes from {} to {}", low.1, high.1);
            return Err(Fault::new(
                "latitude",
                found,
                format!("at most {HIGHEST_DEG}° from the equator"),
                hint,
            ));
        }
        let centre_deg = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        let (sin, cos) = libm::sincos(centre_deg.1.to_radians());
        let w2 = 1.0 - E2 * sin * sin;
        let w = w2.sqrt();
        let degree = std::f64::consts::PI / 180.0;
        let scale_m = (A_M / w * cos * degree, A_M * (1.0 - E2) / (w2 * w) * degree);
        let plane = Plane { centre_deg, corner_deg: low, scale_m };
        let (width_m, height_m) = plane.metres(high);
        if width_m > WIDEST_M || height_m > WIDEST_M {
            let found = format!("{:.0} km × {:.0} km", width_m / 1e3, height_m / 1e3);
            let hint =
                "a point far off is mostly an error of the receiver: remove it, or take one place's tracks";
            return Err(Fault::new(
                "the field is too large for a plane",
                found,
                "at most 50 km × 50 km",
                hint,
            ));
        }
        Ok(plane)
    }

    /// A place in m from the corner.
    pub(super) fn metres(&self, (longitude, latitude): (f64, f64)) -> (f64, f64) {
        ((longitude - self.corner_deg.0) * self.scale_m.0, (latitude - self.corner_deg.1) * self.scale_m.1)
    }
}

/// Whether places that are not called so are longitudes and latitudes: the whole field would be smaller
/// than a room, and nearly all coordinates have four decimals or more.
pub(crate) fn looks_like_degrees(xs: &[&[f64]], ys: &[&[f64]]) -> bool {
    let all = || xs.iter().chain(ys).flat_map(|values| values.iter().copied());
    let extent = |columns: &[&[f64]]| {
        let values = || columns.iter().flat_map(|values| values.iter().copied());
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    let within = |columns: &[&[f64]], most: f64| columns.iter().all(|v| v.iter().all(|x| x.abs() <= most));
    if !within(xs, 180.0) || !within(ys, 90.0) || extent(xs) > 2.0 || extent(ys) > 2.0 {
        return false;
    }
    let (mut fine, mut count) = (0usize, 0usize);
    for value in all() {
        let thousandths = value * 1e3;
        fine += usize::from((thousandths - thousandths.round()).abs() > 1e-6);
        count += 1;
    }
    // One place alone says nothing; a field of a few centimetres is no network either.
    xs.len() > 1 && fine * 10 >= count * 8
}
