//! What the links of a scenario are like in an instant, before any protocol has run.

use super::{LinkRate, Params, Scenario, WiredLink};
use crate::kernel::{Streams, Time};
use crate::mobility::{Path, heights_differ};
use crate::radio::{Environment, FadingKind, LinkQuality, Propagation, RadioParams, Surroundings};
use crate::routing::{RouteTable, shortest_hops_over};
use crate::topology::{End, LinkRule};
use crate::transport::tcp::BaseStationMode;
use crate::wire::NodeId;

/// The frame whose delivery is told, MAC header and FCS included, in bytes.
pub const LINK_FRAME_BYTES: u32 = 1058;

/// Shares of delivered frames between which, both included, a link is grey: neither good nor bad.
pub const GREY: (f64, f64) = (0.1, 0.9);

/// One node's link to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RadioLink {
    /// The node that sends.
    pub from: u32,
    /// The node that receives.
    pub to: u32,
    /// Their distance in m.
    pub distance_m: f64,
    /// The received power in W, without fading.
    pub power_w: f64,
    /// The share of data frames of [`LINK_FRAME_BYTES`] that are decoded, if no other frame is on the air.
    pub delivery: f64,
}

/// The share of grey links among grey and good ones; none without any.
pub fn grey_share(links: &[RadioLink]) -> Option<f64> {
    let (low, high) = GREY;
    let grey = links.iter().filter(|link| low <= link.delivery && link.delivery <= high).count();
    let good = links.iter().filter(|link| link.delivery > high).count();
    (grey + good > 0).then(|| grey as f64 / (grey + good) as f64)
}

/// What links are like where more than the distance decides: the environment without fading, which differs
/// from frame to frame, and the power that data frames need in its median.
#[derive(Debug)]
pub struct Links {
    environment: Option<Environment>,
    propagation: Propagation,
    radio: RadioParams,
    /// At the rate of all data frames.
    quality: LinkQuality,
}

impl Links {
    /// Those of data frames under these parameters, in these surroundings, in the run of these streams.
    pub fn new(params: &Params, surroundings: &Surroundings<'_>, streams: &Streams) -> Links {
        let radio = params.radio.clone();
        let without_fading = RadioParams { fading: FadingKind::None, ..radio.clone() };
        Links {
            environment: Environment::new(&without_fading, surroundings, streams),
            propagation: Propagation::new(&radio),
            quality: LinkQuality::new(&radio, params.link_rate_bps()),
            radio,
        }
    }

    /// The received power in W, without fading.
    pub fn power_w(&self, now: Time, from: End, to: End) -> f64 {
        let distance_m2 = from.distance2(to);
        let seems_m2 = match &self.environment {
            None => distance_m2,
            Some(around) => around.seems_m2(now, (from.node, from.place), (to.node, to.place), distance_m2),
        };
        // Infinitely far is no power.
        if seems_m2.is_finite() { self.propagation.power_w(seems_m2) } else { 0.0 }
    }

    fn link(&self, now: Time, from: End, to: End) -> RadioLink {
        let power_w = self.power_w(now, from, to);
        let delivery = self.quality.delivery(power_w, LINK_FRAME_BYTES);
        RadioLink { from: from.node, to: to.node, distance_m: from.distance2(to).sqrt(), power_w, delivery }
    }

    /// The distance beyond which the power that is needed is never received, in m.
    fn farthest_m(&self, needed_w: f64) -> f64 {
        let within_m2 = self.propagation.reach_m2(needed_w);
        self.environment.as_ref().map_or(within_m2, |around| around.search_m2(within_m2)).sqrt()
    }

    /// Routes of fewest hops between these ends, in order of their numbers, to some destinations: over links
    /// whose power suffices both ways at the rates that single nodes and links have and at those of all
    /// others, and over wired links.
    pub fn shortest_hops(
        &self,
        rates: &[LinkRate],
        wired: &[WiredLink],
        ends: &[End],
        now: Time,
        destinations: &[NodeId],
    ) -> RouteTable {
        let wires: Vec<[u32; 2]> = wired.iter().map(|link| link.nodes).collect();
        let needed_w = |rate_bps| LinkQuality::new(&self.radio, rate_bps).needed_w();
        let own_w: Vec<f64> = rates.iter().map(|rate| needed_w(rate.rate_bps)).collect();
        let usual_w = self.quality.needed_w();
        let places: Vec<_> = ends.iter().map(|end| end.place).collect();
        let least_w = own_w.iter().copied().fold(usual_w, f64::min);
        let holds = |from: u32, to: u32| {
            let needed_w = LinkRate::of(rates, from, to).map_or(usual_w, |own| own_w[own]);
            self.power_w(now, ends[from as usize], ends[to as usize]) >= needed_w
        };
        shortest_hops_over(&places, self.farthest_m(least_w), &wires, destinations, |from, to| {
            holds(from, to) && holds(to, from)
        })
    }
}

impl LinkRule for Links {
    fn reach_m(&self) -> f64 {
        self.farthest_m(self.quality.needed_w())
    }

    fn drift_m_s(&self) -> f64 {
        self.radio.field_drift_m_s
    }

    fn holds(&self, now: Time, [one, other]: [End; 2]) -> bool {
        let needed_w = self.quality.needed_w();
        self.power_w(now, one, other) >= needed_w && self.power_w(now, other, one) >= needed_w
    }
}

impl Surroundings<'_> {
    /// What decides about links in these surroundings; none where the distance alone does.
    pub fn links(&self, params: &Params, streams: &Streams) -> Option<Links> {
        let is_even = self.radios.is_empty() && self.walls.is_empty() && params.radio.shadowing_db == 0.0;
        (!is_even).then(|| Links::new(params, self, streams))
    }
}

impl Scenario {
    /// What decides about its links; none where the distance alone does.
    pub fn links(&self) -> Option<Links> {
        self.surroundings().links(&self.params, &Streams::new(self.seed, self.replication))
    }

    /// The distance beyond which no frame can be received, in m: at any rate, and with the greatest gain that
    /// shadowing, fading and single radios have.
    pub fn farthest_possible_m(&self) -> f64 {
        self.params.radio.farthest_link_m(&Surroundings { walls: &[], ..self.surroundings() })
    }

    /// Static routes: of fewest hops at the start of the run.
    pub(super) fn static_routes(&self) -> RouteTable {
        let ends = self.flows.iter().flat_map(|flow| [flow.src, flow.dst]);
        // Mobile nodes of AIRMAIL answer their base station.
        let answers = self.params.tcp.base_station == BaseStationMode::Airmail;
        let stations = self.wired.iter().filter(|_| answers).flat_map(|link| link.nodes);
        let destinations: Vec<NodeId> = ends.chain(stations).map(NodeId).collect();
        let paths: Vec<Path> = self.movement.iter().map(Path::new).collect();
        let streams = Streams::new(self.seed, self.replication);
        let has_heights = heights_differ(paths.iter().map(Path::heights));
        let of_heights = || Links::new(&self.params, &self.surroundings(), &streams);
        match self.links().or_else(|| has_heights.then(of_heights)) {
            None => {
                let places: Vec<_> = self.movement.iter().map(|trajectory| trajectory.start).collect();
                self.params.shortest_hops(&self.rates, &self.wired, &places, &destinations)
            }
            Some(links) => {
                let end = |(node, path)| End::of(node, path, Time::ZERO);
                let ends: Vec<End> = (0..).zip(&paths).map(end).collect();
                links.shortest_hops(&self.rates, &self.wired, &ends, Time::ZERO, &destinations)
            }
        }
    }

    /// All links between nodes that are there over which any frame may be decoded at an instant, in both
    /// directions, in order of their nodes: at the rate of data frames, or with rate control at that which
    /// reaches farthest.
    pub fn radio_links(&self, now: Time) -> Vec<RadioLink> {
        let streams = Streams::new(self.seed, self.replication);
        let links = Links::new(&self.params, &self.surroundings(), &streams);
        let paths = (0..).zip(&self.movement).map(|(node, trajectory)| (node, Path::new(trajectory)));
        let there = paths.filter(|(_, path)| path.is_present(now));
        let ends: Vec<End> = there.map(|(node, path)| End::of(node, &path, now)).collect();
        let mut found = Vec::new();
        for &from in &ends {
            let others = ends.iter().filter(|to| to.node != from.node);
            let of_node = others.map(|&to| links.link(now, from, to));
            found.extend(of_node.filter(|link| link.delivery > 0.0));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenario;
    use super::*;
    use crate::kernel::Span;
    use crate::mobility::{Command, Height, Point, Presence, Trajectory};
    use crate::radio::{NodeRadio, WallSpec};
    use crate::topology::{Query, hop_times};

    fn two(metres: f64) -> Scenario {
        let mut scenario = scenario();
        scenario.movement = vec![Trajectory::fixed(0.0, 0.0), Trajectory::fixed(metres, 0.0)];
        scenario
    }

    #[test]
    fn links_of_the_disc_hold_within_the_range_and_are_nothing_beyond() {
        let deliveries: Vec<f64> =
            two(249.9).radio_links(Time::ZERO).iter().map(|link| link.delivery).collect();
        assert!(deliveries == [1.0, 1.0]);
        assert!(two(250.1).radio_links(Time::ZERO).is_empty());
    }

    #[test]
    fn fading_makes_them_grey() {
        let mut scenario = two(250.0 * 0.999);
        scenario.params.radio.fading = FadingKind::Rayleigh;
        let link = scenario.radio_links(Time::ZERO)[0];
        // At the threshold e⁻¹ of the frames arrive.
        assert!((link.delivery - 0.368).abs() < 0.02, "{link:?}");
    }

    #[test]
    fn a_strong_radio_and_a_wall_make_links_that_go_one_way_or_none() {
        let mut scenario = two(300.0);
        let (transmit_power_w, antenna_gain, antenna_height_m) = (Some(1.0), None, None);
        scenario.radios = vec![NodeRadio { node: 0, transmit_power_w, antenna_gain, antenna_height_m }];
        let links = scenario.radio_links(Time::ZERO);
        assert_eq!(links.iter().map(|link| (link.from, link.to)).collect::<Vec<_>>(), [(0, 1)]);
        let points = vec![[10.0, -5.0], [10.0, 5.0]];
        scenario.walls = vec![WallSpec { points, db: 0.0, db_per_m: 0.0, is_building: false, opaque: true }];
        assert!(scenario.radio_links(Time::ZERO).is_empty());
    }

    #[test]
    fn heights_count_and_who_is_absent_has_no_link() {
        let mut scenario = two(200.0);
        scenario.movement[1].heights = vec![Height { at: Time::ZERO, z_m: 160.0 }];
        assert!(scenario.radio_links(Time::ZERO).is_empty());
        scenario.movement[1].heights[0].z_m = 140.0;
        assert_eq!(scenario.radio_links(Time::ZERO).len(), 2);
        scenario.movement[1].present = vec![Presence { from: Time::from_secs(1.0), until: Time::NEVER }];
        assert!(scenario.radio_links(Time::ZERO).is_empty());
        assert_eq!(scenario.radio_links(Time::from_secs(1.0)).len(), 2);
    }

    /// A node walks past a wall that hides it for 20 of 40 s.
    #[test]
    fn the_topology_knows_walls_and_that_a_link_needs_both_ways() {
        let mut scenario = two(100.0);
        let to = Point { x: 100.0, y: 200.0 };
        let walk = vec![Command::GoTo { at: Time::ZERO, to, speed: 5.0 }];
        scenario.movement[1] = Trajectory::new(Point { x: 100.0, y: 0.0 }, walk);
        let points = vec![[50.0, 50.0], [50.0, 100.0]];
        scenario.walls = vec![WallSpec { points, db: 0.0, db_per_m: 0.0, is_building: false, opaque: true }];
        let hops = |scenario: &Scenario| {
            let links = scenario.links();
            let query = Query {
                movement: &scenario.movement,
                range_m: scenario.params.link_range_m(),
                rule: links.as_ref().map(|links| links as &dyn LinkRule),
                window: (Time::ZERO, Time::from_secs(40.0)),
                step: Span::from_secs(1.0),
                pairs: &[(0, 1)],
            };
            hop_times(&query, &mut || true).expect("nobody stops it")[0].measures().path_partitioned
        };
        // Hidden from y = 100 m on.
        assert!((hops(&scenario) - 0.5).abs() < 0.025, "{}", hops(&scenario));
        scenario.walls.clear();
        assert!(hops(&scenario) == 0.0);
        // One end is not heard.
        let (antenna_gain, antenna_height_m) = (None, None);
        let transmit_power_w = Some(1e-6);
        scenario.radios = vec![NodeRadio { node: 1, transmit_power_w, antenna_gain, antenna_height_m }];
        assert!((hops(&scenario) - 1.0).abs() < 1e-9);
    }
}
