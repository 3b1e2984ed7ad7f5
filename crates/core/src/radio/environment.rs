//! What is between two nodes besides the way: shadows, fading, and what their own antennas make of a signal.
//!
//! All of it is a gain, other at each pair and in each instant. Whoever receives a signal that is stronger or
//! weaker by a gain receives it as from another distance ([`PathLoss::as_if_from_m2`]); so everything behind
//! this module, from thresholds to capture, goes by distances, and does not know that there is an
//! environment.

use super::fading::{End, Fading};
use super::path_loss::{LogDistance, PathLoss};
use super::shadowing::{Remembered, Sender, Shadowing};
use super::walls::{self, Barrier, Walls};
use super::{NodeRadio, PathLossKind, RadioParams, WallSpec};
use crate::kernel::{Streams, Time};
use crate::mobility::Point;

/// What a scenario says of single nodes and places.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'s> {
    /// How many nodes there are.
    pub nodes: usize,
    /// Nodes with a radio of their own.
    pub radios: &'s [NodeRadio],
    /// Walls and buildings.
    pub walls: &'s [WallSpec],
}

/// What a node's own radio makes of signals, over that of all: linear.
#[derive(Clone, Copy, Debug)]
struct Own {
    sends: f64,
    receives: f64,
    height_m: f64,
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct Environment {
    path_loss: PathLoss,
    shadowing: Option<Shadowing>,
    fading: Option<Fading>,
    drift_m_s: f64,
    /// By node; empty where all are alike.
    own: Vec<Own>,
    walls: Option<Walls>,
}

/// Memory that is used again. Nothing depends on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    walls: walls::Work,
    shadows: Remembered,
    /// Of one field, by candidate: values of shadows, of fades linear gains.
    gains: Vec<f64>,
}

/// The transmitting end, as the environment sees it.
pub(super) struct Origin {
    node: u32,
    now: Time,
    /// By how much the fields have drifted, in m.
    drifted_m: f64,
    /// None without shadowing.
    shadowed: Option<Sender>,
    /// None without fading.
    fades: Option<End>,
    /// On the ground.
    here: Point,
    pub(super) limits: Limits,
    pub(super) work: Work,
}

/// From where nobody minds signals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The squared distance (m²) beyond which nobody minds from where a signal seems to come.
    within_m2: f64,
    /// The power that arrives from there, in W.
    least_w: f64,
    /// The squared distance (m²) beyond which nobody minds from where a signal seems to come before it fades.
    unfaded_m2: f64,
}

impl Limits {
    /// All signals matter.
    pub(super) const NONE: Limits =
        Limits { within_m2: f64::INFINITY, least_w: 0.0, unfaded_m2: f64::INFINITY };
}

impl Environment {
    /// The environment of a run; none where the distance alone decides.
    pub fn new(
        params: &RadioParams,
        surroundings: &Surroundings<'_>,
        streams: &Streams,
    ) -> Option<Environment> {
        let (shadowing, fading) = (Shadowing::new(params, streams), Fading::new(params, streams));
        let has_steps = matches!(params.path_loss, PathLossKind::LogDistance | PathLossKind::ThreeSlopes);
        let (own, walls) = (own_radios(params, surroundings), Walls::new(surroundings.walls));
        let is_asked_for = has_steps || shadowing.is_some() || fading.is_some();
        (is_asked_for || !own.is_empty() || walls.is_some()).then(|| Environment {
            path_loss: PathLoss::new(params),
            shadowing,
            fading,
            drift_m_s: params.field_drift_m_s,
            own,
            walls,
        })
    }

    /// The greatest gain that there is, linear.
    fn highest_gain(&self) -> f64 {
        let shadowing_db = self.shadowing.as_ref().map_or(0.0, Shadowing::highest_db);
        let highest = |value: fn(&Own) -> f64| self.own.iter().map(value).fold(1.0, f64::max);
        let of_radios = highest(|own| own.sends) * highest(|own| own.receives);
        let fields = libm::pow(10.0, shadowing_db / 10.0) * self.fading.as_ref().map_or(1.0, Fading::highest);
        let tallest_m = self.own.iter().map(|own| own.height_m).fold(0.0, f64::max);
        of_radios * fields * self.path_loss.highest_of_heights(tallest_m)
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

    /// Memory for the ways of signals among so many nodes.
    pub(super) fn work(&self, nodes: usize) -> Work {
        Work {
            walls: self.walls.as_ref().map(|_| walls::Work::among(nodes)).unwrap_or_default(),
            shadows: self.shadowing.as_ref().map(|_| Remembered::among(nodes)).unwrap_or_default(),
            gains: Vec::new(),
        }
    }

    /// The end that transmits now.
    pub(super) fn origin(&self, node: u32, place: Point, now: Time) -> Origin {
        self.origin_with(Work::default(), node, place, now)
    }

    /// The same with memory of before.
    pub(super) fn origin_with(&self, mut work: Work, node: u32, place: Point, now: Time) -> Origin {
        let drifted_m = self.drift_m_s * now.as_secs();
        let (here, place) = (place, drifted(place, drifted_m));
        let shadowed = self.shadowing.as_ref().map(|field| work.shadows.sender(field, node, place));
        let fades = self.fading.as_ref().map(|fading| fading.end(node, place));
        Origin { node, now, drifted_m, shadowed, fades, here, limits: Limits::NONE, work }
    }

    /// Limits where nobody minds signals that seem to come from beyond this squared distance (m²).
    pub(super) fn limits(&self, within_m2: f64) -> Limits {
        let (least_w, mut unfaded_m2) = (self.path_loss.power_w(within_m2), f64::INFINITY);
        if let Some(fading) = &self.fading {
            unfaded_m2 = self.path_loss.reach_m2(least_w / fading.highest()).max(within_m2);
        }
        // A little more, against rounding.
        Limits { within_m2, least_w, unfaded_m2: unfaded_m2 * (1.0 + 1e-9) }
    }

    /// The squared distance (m²) from which a transmission from `distance_m2` seems to come to a node;
    /// infinite where nothing comes through.
    pub(super) fn as_if_from_m2(
        &self,
        origin: &mut Origin,
        node: u32,
        place: Point,
        distance_m2: f64,
    ) -> f64 {
        let mut seems_m2 = [distance_m2];
        self.seem_m2(origin, &[node], &[place], &mut seems_m2);
        self.behind_walls_m2(origin, (node, place), seems_m2[0])
    }

    /// Of a transmission to nodes at these places: turns the squared distances (m²) into those from which it
    /// seems to come but for walls. Infinite ones stay so, and others become so where nothing comes through.
    pub(super) fn seem_m2(
        &self,
        origin: &mut Origin,
        nodes: &[u32],
        places: &[Point],
        distances_m2: &mut [f64],
    ) {
        if let PathLoss::LogDistance(model) = &self.path_loss {
            return self.seem_by_one_exponent_m2(model, origin, nodes, places, distances_m2);
        }
        for ((&node, &place), distance_m2) in nodes.iter().zip(places).zip(distances_m2) {
            if *distance_m2 < f64::INFINITY {
                *distance_m2 = self.seems_by_powers_m2(origin, node, place, *distance_m2);
            }
        }
    }

    /// Where there is one exponent, gains are factors of the squared distance: one loop for each of them,
    /// which goes for several nodes at a time.
    fn seem_by_one_exponent_m2(
        &self,
        model: &LogDistance,
        origin: &mut Origin,
        nodes: &[u32],
        places: &[Point],
        distances_m2: &mut [f64],
    ) {
        for distance_m2 in distances_m2.iter_mut() {
            *distance_m2 = distance_m2.max(model.reference_m2);
        }
        if !self.own.is_empty() {
            for (&node, distance_m2) in nodes.iter().zip(distances_m2.iter_mut()) {
                let gain = self.gain_of_radios(origin.node, node, *distance_m2);
                *distance_m2 = self.path_loss.as_if_from_m2(*distance_m2, gain);
            }
        }
        let drifted_m = origin.drifted_m;
        let ends = nodes.iter().zip(places).map(|(&node, &place)| (node, drifted(place, drifted_m)));
        if let (Some(field), Some(sender)) = (&self.shadowing, &origin.shadowed) {
            let Work { shadows, gains: values, .. } = &mut origin.work;
            let asked_for = ends.clone().zip(distances_m2.iter());
            let asked_for = asked_for.map(|(end, &distance_m2)| (distance_m2 < f64::INFINITY).then_some(end));
            shadows.values(field, sender, asked_for, values);
            for (distance_m2, &value) in distances_m2.iter_mut().zip(values.iter()) {
                *distance_m2 *= model.stretch(field.in_db(value));
            }
        }
        if let (Some(fading), Some(end)) = (&self.fading, &origin.fades) {
            let gains = &mut origin.work.gains;
            let unfaded_m2 = origin.limits.unfaded_m2;
            let may_hear = ends.zip(distances_m2.iter());
            let may_hear = may_hear.map(|(end, &distance_m2)| (distance_m2 <= unfaded_m2).then_some(end));
            fading.gains(origin.now, end, may_hear, gains);
            for (distance_m2, &gain) in distances_m2.iter_mut().zip(gains.iter()) {
                let gain = fading.limited(gain);
                let seems_m2 = *distance_m2 * model.stretch_by(gain);
                *distance_m2 = if gain > 0.0 { seems_m2 } else { f64::INFINITY };
            }
        }
    }

    /// The same for one node, by the power that is left.
    fn seems_by_powers_m2(&self, origin: &mut Origin, node: u32, place: Point, distance_m2: f64) -> f64 {
        let (mut gain, mut gain_db) = (self.gain_of_radios(origin.node, node, distance_m2), 0.0);
        let place = drifted(place, origin.drifted_m);
        if let (Some(field), Some(sender)) = (&self.shadowing, &origin.shadowed) {
            gain_db = field.in_db(origin.work.shadows.value(field, sender, (node, place)));
        }
        if let (Some(fading), Some(end)) = (&self.fading, &origin.fades) {
            if origin.limits.unfaded_m2 < f64::INFINITY
                && self.path_loss.as_if_shadowed_m2(distance_m2, gain, gain_db) > origin.limits.unfaded_m2
            {
                return f64::INFINITY;
            }
            gain *= fading.limited(fading.gain(origin.now, end, (node, place)));
        }
        self.path_loss.as_if_shadowed_m2(distance_m2, gain, gain_db)
    }

    /// Are there walls?
    pub(super) fn has_walls(&self) -> bool {
        self.walls.is_some()
    }

    /// The squared distance (m²) from which a transmission seems to come, behind walls, that seems to come
    /// from `seems_m2` without them; infinite where nothing comes through.
    pub(super) fn behind_walls_m2(&self, origin: &mut Origin, there: (u32, Point), seems_m2: f64) -> f64 {
        match &self.walls {
            Some(walls) if seems_m2 <= origin.limits.within_m2 => {
                self.behind_m2(walls, origin, there, seems_m2)
            }
            _ => seems_m2,
        }
    }

    /// How far both ends may still move before a signal that walls kept from the node that was asked for last
    /// can come through, in m; 0 if that is not known.
    pub(super) fn silent_m(&self, origin: &mut Origin, distance_m2: f64) -> f64 {
        let only_walls = self.shadowing.is_none() && self.fading.is_none() && self.own.is_empty();
        let Some(Barrier { spare, moves_m }) = origin.work.walls.barrier.take().filter(|_| only_walls) else {
            return 0.0;
        };
        let nearest_m = (distance_m2.sqrt() - 2.0 * moves_m).max(0.0);
        let is_silent = self.path_loss.power_w(nearest_m * nearest_m) < spare * origin.limits.least_w;
        if is_silent { moves_m } else { 0.0 }
    }

    /// The squared distance (m²) from which a signal seems to come that seems to come from `seems_m2` without
    /// walls; infinite where nothing comes through.
    fn behind_m2(&self, walls: &Walls, origin: &mut Origin, there: (u32, Point), seems_m2: f64) -> f64 {
        let spare = match origin.limits.within_m2 {
            f64::INFINITY => f64::INFINITY,
            _ => self.path_loss.power_w(seems_m2) / origin.limits.least_w,
        };
        match walls.gain((origin.node, origin.here), there, spare, &mut origin.work.walls) {
            0.0 => f64::INFINITY,
            1.0 => seems_m2,
            gain => self.path_loss.as_if_from_m2(seems_m2, gain),
        }
    }

    /// The squared distance (m²) from which a transmission of one node over this squared distance (m²),
    /// heights included, seems to come to another; each with its place.
    pub fn seems_m2(&self, now: Time, from: (u32, Point), to: (u32, Point), distance_m2: f64) -> f64 {
        let mut origin = self.origin(from.0, from.1, now);
        self.as_if_from_m2(&mut origin, to.0, to.1, distance_m2)
    }

    /// What the radios of both ends make of the signal, over two that are like all others.
    fn gain_of_radios(&self, from: u32, to: u32, distance_m2: f64) -> f64 {
        if self.own.is_empty() {
            return 1.0;
        }
        let (sender, receiver) = (&self.own[from as usize], &self.own[to as usize]);
        let heights_m = [sender.height_m, receiver.height_m];
        sender.sends * receiver.receives * self.path_loss.gain_of_heights(heights_m, distance_m2)
    }
}

/// By node what its own radio makes of signals; empty where all are alike.
fn own_radios(params: &RadioParams, surroundings: &Surroundings<'_>) -> Vec<Own> {
    if surroundings.radios.is_empty() {
        return Vec::new();
    }
    let usual = Own { sends: 1.0, receives: 1.0, height_m: params.antenna_height_m };
    let mut own = vec![usual; surroundings.nodes];
    for radio in surroundings.radios {
        let gain = radio.antenna_gain.map_or(1.0, |gain| gain / params.antenna_gain);
        let power = radio.transmit_power_w.map_or(1.0, |power_w| power_w / params.transmit_power_w);
        let height_m = radio.antenna_height_m.unwrap_or(params.antenna_height_m);
        if let Some(own) = own.get_mut(radio.node as usize) {
            *own = Own { sends: power * gain, receives: gain, height_m };
        }
    }
    own
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
        assert!(Environment::new(&RadioParams::default(), &Surroundings::default(), &streams).is_none());
        assert!(Environment::new(&params(|_| {}), &Surroundings::default(), &streams).is_some());
    }

    /// By how much the area grows in which a node has neighbours: links of 20 runs at random distances.
    fn growth(params: &RadioParams) -> f64 {
        let range_m = Propagation::new(params).receive_range_m(2e6);
        let (mut weight, mut heard) = (0.0, 0.0);
        for replication in 0..20 {
            let environment =
                Environment::new(params, &Surroundings::default(), &Streams::new(1, replication))
                    .expect("it is asked for");
            let mut draws = Sequence::from(replication);
            for at in 0..4000u64 {
                let here = Point { x: 9000.0 * draws.unit(), y: 9000.0 * draws.unit() };
                let angle = 2.0 * std::f64::consts::PI * draws.unit();
                // Uniform in a disc ten times as wide as the range.
                let metres = 10.0 * range_m * draws.unit().sqrt();
                let there =
                    Point { x: here.x + metres * libm::cos(angle), y: here.y + metres * libm::sin(angle) };
                let mut origin = environment.origin(0, here, Time(at * 1000));
                let seems_m2 = environment.as_if_from_m2(&mut origin, 1 + at as u32, there, metres * metres);
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
                    Environment::new(&params, &Surroundings::default(), &Streams::new(2, replication))
                        .expect("shadowing");
                let mut draws = Sequence::from(replication);
                for _ in 0..1000 {
                    let here = Point { x: 9000.0 * draws.unit(), y: 9000.0 * draws.unit() };
                    let there = Point { x: here.x + far * range_m, y: here.y };
                    let mut origin = environment.origin(0, here, Time::ZERO);
                    let d2 = here.distance2(there);
                    held +=
                        u32::from(environment.as_if_from_m2(&mut origin, 1, there, d2) <= range_m * range_m);
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
        let environment =
            Environment::new(&params, &Surroundings::default(), &Streams::new(1, 0)).expect("both");
        let within_m2 = 250.0 * 250.0;
        let search_m = environment.search_m2(within_m2).sqrt();
        // 9 dB at an exponent of 3: twice as far.
        assert!((search_m / 250.0 - libm::pow(10.0, 0.3)).abs() < 1e-6);
        let mut draws = Sequence::from(1);
        for at in 0..20_000 {
            let here = Point { x: 9000.0 * draws.unit(), y: 0.0 };
            let there = Point { x: here.x + search_m * (1.0 + 1e-6), y: 0.0 };
            let mut origin = environment.origin(0, here, Time(at));
            assert!(environment.as_if_from_m2(&mut origin, 1, there, here.distance2(there)) > within_m2);
        }
    }

    fn radio(node: u32) -> NodeRadio {
        NodeRadio { node, transmit_power_w: None, antenna_gain: None, antenna_height_m: None }
    }

    /// The distance in m from which a frame of `from` seems to come at `to`, over `metres` of two-ray ground.
    fn seems_m(surroundings: &Surroundings<'_>, from: u32, to: u32, metres: f64) -> f64 {
        let environment = Environment::new(&RadioParams::default(), surroundings, &Streams::new(1, 0));
        let environment = environment.expect("it is asked for");
        let mut origin = environment.origin(from, Point::default(), Time::ZERO);
        let there = Point { x: metres, y: 0.0 };
        environment.as_if_from_m2(&mut origin, to, there, metres * metres).sqrt()
    }

    #[test]
    fn a_stronger_radio_makes_a_link_that_goes_one_way() {
        let radios = [NodeRadio { transmit_power_w: Some(16.0 * 0.281_838_15), ..radio(0) }];
        let surroundings = Surroundings { nodes: 2, radios: &radios, walls: &[] };
        // Sixteen times the power: half as far over two-ray ground.
        assert!((seems_m(&surroundings, 0, 1, 400.0) - 200.0).abs() < 1e-9);
        assert!((seems_m(&surroundings, 1, 0, 400.0) - 400.0).abs() < 1e-9);
    }

    #[test]
    fn antennas_work_both_ways_and_so_do_heights() {
        let radios = [
            NodeRadio { antenna_gain: Some(16.0), ..radio(0) },
            NodeRadio { antenna_height_m: Some(6.0), ..radio(2) },
        ];
        let surroundings = Surroundings { nodes: 3, radios: &radios, walls: &[] };
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
            // 16 times the power: by the gain, or by the square of four times the height.
            assert!((seems_m(&surroundings, from, to, 400.0) - 200.0).abs() < 1e-9, "{from} {to}");
        }
        // In free space heights change nothing.
        assert!((seems_m(&surroundings, 1, 2, 50.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_wall_of_0_db_changes_no_bit_and_an_opaque_one_lets_nothing_through() {
        let wall = |db: f64, opaque: bool| WallSpec {
            points: vec![[10.0, -5.0], [10.0, 5.0]],
            db,
            db_per_m: 0.0,
            is_building: false,
            opaque,
        };
        let seems =
            |wall: WallSpec| seems_m(&Surroundings { nodes: 2, radios: &[], walls: &[wall] }, 0, 1, 237.3);
        // A wall that takes nothing is none: nothing decides but the distance.
        let (walls, params) = ([wall(0.0, false)], RadioParams::default());
        let nothing = Surroundings { nodes: 2, radios: &[], walls: &walls };
        assert!(Environment::new(&params, &nothing, &Streams::new(1, 0)).is_none());
        assert!(seems(wall(0.0, true)).is_infinite());
        // 40 dB at the fourth power: ten times as far.
        assert!((seems(wall(40.0, false)) - 2373.0).abs() < 1e-6);
    }
}
