//! What is between two nodes besides the way: shadows, fading, and what their own antennas make of a signal.
//!
//! All of it is a gain, other at each pair and in each instant. Whoever receives a signal that is stronger or
//! weaker by a gain receives it as from another distance ([`PathLoss::as_if_from_m2`]); so everything behind
//! this module, from thresholds to capture, goes by distances, and does not know that there is an
//! environment.

use super::fading::Fading;
use super::path_loss::PathLoss;
use super::shadowing::{Seen, Shadowing};
use super::{PathLossKind, RadioParams};
use crate::kernel::{Streams, Time};
use crate::mobility::Point;

/// See the module's head.
#[derive(Clone, Debug)]
pub struct Environment {
    path_loss: PathLoss,
    shadowing: Option<Shadowing>,
    fading: Option<Fading>,
    drift_m_s: f64,
}

/// The transmitting end, as the environment sees it.
pub(super) struct Origin {
    node: u32,
    now: Time,
    /// By how much the fields have drifted, in m.
    drifted_m: f64,
    place: Point,
    seen: Seen,
}

impl Environment {
    /// The environment of a run; none where the distance alone decides.
    pub fn new(params: &RadioParams, streams: &Streams) -> Option<Environment> {
        let (shadowing, fading) = (Shadowing::new(params, streams), Fading::new(params, streams));
        let has_steps = matches!(params.path_loss, PathLossKind::LogDistance | PathLossKind::ThreeSlopes);
        (has_steps || shadowing.is_some() || fading.is_some()).then(|| Environment {
            path_loss: PathLoss::new(params),
            shadowing,
            fading,
            drift_m_s: params.field_drift_m_s,
        })
    }

    /// The greatest gain that there is, linear.
    fn highest_gain(&self) -> f64 {
        let shadowing_db = self.shadowing.as_ref().map_or(0.0, Shadowing::highest_db);
        libm::pow(10.0, shadowing_db / 10.0) * self.fading.as_ref().map_or(1.0, Fading::highest)
    }

    /// The squared distance beyond which no signal seems to come from within `within_m2`, both in m².
    pub fn search_m2(&self, within_m2: f64) -> f64 {
        let weakest_w = self.path_loss.power_w(within_m2) / self.highest_gain();
        // A little more, against rounding.
        self.path_loss.reach_m2(weakest_w).max(within_m2) * (1.0 + 1e-9)
    }

    /// Is it the same for all frames as long as nobody moves?
    pub(super) fn stands_still(&self) -> bool {
        let is_of_frames = self.fading.as_ref().is_some_and(Fading::is_of_frames);
        let drifts = self.drift_m_s > 0.0 && (self.shadowing.is_some() || self.fading.is_some());
        !(is_of_frames || drifts)
    }

    /// The end that transmits now.
    pub(super) fn origin(&self, node: u32, place: Point, now: Time) -> Origin {
        let drifted_m = self.drift_m_s * now.as_secs();
        let place = drifted(place, drifted_m);
        let seen = self.shadowing.as_ref().map(|field| field.see(place)).unwrap_or_default();
        Origin { node, now, drifted_m, place, seen }
    }

    /// The squared distance (m²) from which a transmission from `distance_m2` seems to come to a node.
    pub(super) fn as_if_from_m2(&self, origin: &Origin, node: u32, place: Point, distance_m2: f64) -> f64 {
        let place = drifted(place, origin.drifted_m);
        let mut gain = 1.0;
        if let Some(field) = &self.shadowing {
            gain *= libm::pow(10.0, field.gain_db(&origin.seen, &field.see(place)) / 10.0);
        }
        if let Some(fading) = &self.fading {
            gain *= fading.gain(origin.now, [(origin.node, origin.place), (node, place)]);
        }
        self.path_loss.as_if_from_m2(distance_m2, gain)
    }
}

/// A place in fields that have drifted so far.
fn drifted(place: Point, drifted_m: f64) -> Point {
    Point { x: place.x + drifted_m, y: place.y }
}

#[cfg(test)]
mod tests {
    use super::super::keyed::Sequence;
    use super::super::{FadingKind, Propagation};
    use super::*;

    fn params(change: impl FnOnce(&mut RadioParams)) -> RadioParams {
        let mut params = RadioParams {
            path_loss: PathLossKind::LogDistance,
            path_loss_exponent: 3.0,
            shadowing_limit: 10.0,
            fading_limit_db: 60.0,
            ..RadioParams::default()
        };
        change(&mut params);
        params
    }

    #[test]
    fn there_is_none_where_distance_alone_decides() {
        let streams = Streams::new(1, 0);
        assert!(Environment::new(&RadioParams::default(), &streams).is_none());
        assert!(Environment::new(&params(|_| {}), &streams).is_some());
    }

    /// By how much the area grows in which a node has neighbours: links of 20 runs at random distances.
    fn growth(params: &RadioParams) -> f64 {
        let range_m = Propagation::new(params).receive_range_m(2e6);
        let (mut weight, mut heard) = (0.0, 0.0);
        for replication in 0..20 {
            let environment =
                Environment::new(params, &Streams::new(1, replication)).expect("it is asked for");
            let mut draws = Sequence::from(replication);
            for at in 0..4000u64 {
                let here = Point { x: 9000.0 * draws.unit(), y: 9000.0 * draws.unit() };
                let angle = 2.0 * std::f64::consts::PI * draws.unit();
                // Uniform in a disc ten times as wide as the range.
                let metres = 10.0 * range_m * draws.unit().sqrt();
                let there =
                    Point { x: here.x + metres * libm::cos(angle), y: here.y + metres * libm::sin(angle) };
                let origin = environment.origin(0, here, Time(at * 1000));
                let seems_m2 = environment.as_if_from_m2(&origin, 1 + at as u32, there, metres * metres);
                weight += 1.0;
                heard += f64::from(u8::from(seems_m2 <= range_m * range_m));
            }
        }
        100.0 * heard / weight
    }

    /// e^(2b²) with b = σ·ln10/(10γ).
    #[test]
    fn shadowing_makes_more_neighbours() {
        for (sigma_db, gamma, wanted) in [(4.0, 3.0, 1.207), (6.0, 3.0, 1.528), (4.0, 2.7, 1.262)] {
            let found = growth(&params(|radio| {
                (radio.shadowing_db, radio.path_loss_exponent) = (sigma_db, gamma);
            }));
            assert!((found / wanted - 1.0).abs() < 0.12, "{sigma_db} dB, {gamma}: {found}");
        }
    }

    /// Γ(1 + 2/γ).
    #[test]
    fn fading_makes_fewer_neighbours() {
        for (gamma, wanted) in [(2.7, 0.917), (3.0, 0.903), (4.0, 0.886)] {
            let found = growth(&params(|radio| {
                (radio.fading, radio.path_loss_exponent) = (FadingKind::Rayleigh, gamma);
            }));
            assert!((found / wanted - 1.0).abs() < 0.12, "{gamma}: {found}");
        }
    }

    /// P(link at d) = Q(10γ·log₁₀(d/R)/σ): a half at the range.
    #[test]
    fn half_of_the_links_hold_at_the_range() {
        let params = params(|radio| radio.shadowing_db = 6.0);
        let range_m = Propagation::new(&params).receive_range_m(2e6);
        let share = |far: f64| {
            let mut held = 0;
            for replication in 0..20 {
                let environment =
                    Environment::new(&params, &Streams::new(2, replication)).expect("shadowing");
                let mut draws = Sequence::from(replication);
                for _ in 0..1000 {
                    let here = Point { x: 9000.0 * draws.unit(), y: 9000.0 * draws.unit() };
                    let there = Point { x: here.x + far * range_m, y: here.y };
                    let origin = environment.origin(0, here, Time::ZERO);
                    let d2 = here.distance2(there);
                    held += u32::from(environment.as_if_from_m2(&origin, 1, there, d2) <= range_m * range_m);
                }
            }
            f64::from(held) / 20_000.0
        };
        assert!((share(1.0) - 0.5).abs() < 0.02);
        // 30·log₁₀(1.5)/6 = 0.880 standard deviations: 18.9 %.
        assert!((share(1.5) - 0.189).abs() < 0.02);
        assert!((share(1.0 / 1.5) - 0.811).abs() < 0.02);
    }

    #[test]
    fn nothing_is_heard_from_beyond_the_search_distance() {
        let params = params(|radio| {
            (radio.shadowing_db, radio.shadowing_limit) = (6.0, 1.0);
            (radio.fading, radio.fading_limit_db) = (FadingKind::Nakagami, 3.0);
        });
        let environment = Environment::new(&params, &Streams::new(1, 0)).expect("both");
        let within_m2 = 250.0 * 250.0;
        let search_m = environment.search_m2(within_m2).sqrt();
        // 9 dB at an exponent of 3: twice as far.
        assert!((search_m / 250.0 - libm::pow(10.0, 0.3)).abs() < 1e-6);
        let mut draws = Sequence::from(1);
        for at in 0..20_000 {
            let here = Point { x: 9000.0 * draws.unit(), y: 0.0 };
            let there = Point { x: here.x + search_m * (1.0 + 1e-6), y: 0.0 };
            let origin = environment.origin(0, here, Time(at));
            assert!(environment.as_if_from_m2(&origin, 1, there, here.distance2(there)) > within_m2);
        }
    }
}
