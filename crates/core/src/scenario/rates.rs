//! The rates of a scenario: nodes and links that have their own, and what 802.11b allows.

use serde::{Deserialize, Serialize};

use super::{About, Params, Scenario, ScenarioError, WiredLink};
use crate::mac::{MacParams, Preamble, RateControl, ResponseRate, Standard};
use crate::mobility::Point;
use crate::radio::{ByRate, Errors, Propagation};
use crate::routing::{RouteTable, shortest_hops_over};
use crate::wire::NodeId;
use crate::wire::mac::ofdm_place;

/// The rate of a node's unicast data frames, to all its neighbours or to one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRate {
    /// The node that sends.
    pub src: u32,
    /// Its neighbour; none: all for which it has no other rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst: Option<u32>,
    /// The rate, in bit/s.
    pub rate_bps: f64,
}

/// The rates of a standard, in words.
fn wanted(standard: Standard) -> &'static str {
    match standard {
        Standard::B => "1e6, 2e6, 5.5e6 or 11e6 bit/s, the rates of 802.11b",
        Standard::A => "6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6 or 54e6 bit/s, the rates of 802.11a",
        Standard::G => "a rate of 802.11g: 1e6, 2e6, 5.5e6, 11e6, or one of OFDM from 6e6 to 54e6 bit/s",
    }
}

/// Does the standard have this rate?
fn has_rate(standard: Standard, bps: f64) -> bool {
    standard.rates_bps().iter().any(|known| known.total_cmp(&bps).is_eq())
}

impl Params {
    /// The rate that decides whether there is a link, in bit/s: `mac.data_rate_bps`, or with rate control the
    /// one that reaches farthest.
    pub fn link_rate_bps(&self) -> f64 {
        match self.mac.rate_control {
            RateControl::Fixed => self.mac.data_rate_bps,
            RateControl::Arf | RateControl::Aarf | RateControl::Minstrel => {
                let rates = self.mac.standard.rates_bps().into_iter();
                let ranges_m = rates.map(|bps| (self.radio.median_range_m(bps), bps));
                ranges_m
                    .fold((0.0, self.mac.data_rate_bps), |far, each| if each.0 > far.0 { each } else { far })
                    .1
            }
        }
    }

    /// The distance up to which unicast data frames are received at that rate, in m.
    pub fn link_range_m(&self) -> f64 {
        self.radio.median_range_m(self.link_rate_bps())
    }
}

impl LinkRate {
    /// Which of these rates are those of the frames of one node to another; none for those of all others.
    pub(super) fn of(rates: &[LinkRate], src: u32, dst: u32) -> Option<usize> {
        let of_link = rates.iter().position(|rate| rate.src == src && rate.dst == Some(dst));
        of_link.or_else(|| rates.iter().position(|rate| rate.src == src && rate.dst.is_none()))
    }
}

impl Params {
    /// The distance up to which `dst` receives unicast data frames of `src`, in m, if nodes and links have
    /// these rates.
    fn link_range_with_m(&self, rates: &[LinkRate], src: u32, dst: u32) -> f64 {
        match LinkRate::of(rates, src, dst) {
            Some(own) => self.radio.median_range_m(rates[own].rate_bps),
            None => self.link_range_m(),
        }
    }

    /// Routes of fewest hops between nodes at these positions to some destinations, over links that carry
    /// unicast data frames, at the rates that single nodes and links have and at those of all others, and
    /// over wired links.
    pub fn shortest_hops(
        &self,
        rates: &[LinkRate],
        wired: &[WiredLink],
        positions: &[Point],
        destinations: &[NodeId],
    ) -> RouteTable {
        let wires: Vec<[u32; 2]> = wired.iter().map(|link| link.nodes).collect();
        if rates.is_empty() {
            return shortest_hops_over(positions, self.link_range_m(), &wires, destinations, |_, _| true);
        }
        let farthest_m = Propagation::new(&self.radio).farthest_range_m();
        shortest_hops_over(positions, farthest_m, &wires, destinations, |src, dst| {
            let range_m = self.link_range_with_m(rates, src, dst);
            positions[src as usize].distance2(positions[dst as usize]) <= range_m * range_m
        })
    }
}

impl Scenario {
    /// Rates of their own are 802.11b's, of nodes that there are, and given once. What only the rates of
    /// 802.11b have is asked for with these rates.
    pub(super) fn check_rates(&self) -> Result<(), ScenarioError> {
        check_modulation(&self.params.mac)?;
        check_basic_rates(&self.params.mac)?;
        if let Some(reason) = self.needs_80211b() {
            check_80211b(&self.params.mac, reason)?;
        }
        (0..self.rates.len()).try_for_each(|index| self.check_link_rate(index))
    }

    /// What asks for the rates of 802.11b, if anything does.
    fn needs_80211b(&self) -> Option<&'static str> {
        let (mac, radio) = (&self.params.mac, &self.params.radio);
        [
            (mac.preamble == Preamble::Short, "mac.preamble = \"short\""),
            (mac.response_rate == ResponseRate::Basic, "mac.response_rate = \"basic\""),
            (mac.rate_control != RateControl::Fixed, "mac.rate_control"),
            (radio.errors == Errors::ByRate, "radio.errors = \"by-rate\""),
            (radio.ranges == ByRate::Ladder, "radio.ranges = \"ladder\""),
            (radio.capture_ratios == ByRate::Ladder, "radio.capture_ratios = \"ladder\""),
            (!self.rates.is_empty(), "a rate for single nodes"),
        ]
        .into_iter()
        .find_map(|(asked, reason)| asked.then_some(reason))
    }

    fn check_link_rate(&self, index: usize) -> Result<(), ScenarioError> {
        let rate = &self.rates[index];
        let nodes = self.movement.len();
        let wrong = |about, field: &str, found: String, wanted: String| {
            let field = format!("rates[{index}].{field}");
            Err(ScenarioError::Unusable { about, field, found, wanted })
        };
        for (field, node) in [("src", Some(rate.src)), ("dst", rate.dst)] {
            if let Some(node) = node.filter(|&node| node as usize >= nodes) {
                let wanted = format!("a node from 0 to {}", nodes - 1);
                return wrong(About::Node, field, node.to_string(), wanted);
            }
        }
        if rate.dst == Some(rate.src) {
            return wrong(About::Value, "dst", rate.src.to_string(), "another node than src".to_owned());
        }
        let standard = self.params.mac.standard;
        if !has_rate(standard, rate.rate_bps) {
            return wrong(About::Value, "rate_bps", rate.rate_bps.to_string(), wanted(standard).to_owned());
        }
        let same = |other: &LinkRate| (other.src, other.dst) == (rate.src, rate.dst);
        if let Some(first) = self.rates[..index].iter().position(same) {
            let wanted = format!("one rate for each link; rates[{first}] is for the same");
            return wrong(About::Value, "src", rate.src.to_string(), wanted);
        }
        Ok(())
    }
}

/// No rate above 1 Mb/s is one that the standard lacks: other rates belong to other modulations, with slots
/// and preambles of their own. Slower ones stand for the radios before 802.11.
fn check_modulation(mac: &MacParams) -> Result<(), ScenarioError> {
    let rates = [
        ("mac.data_rate_bps", mac.data_rate_bps),
        ("mac.control_rate_bps", mac.control_rate_bps),
        ("mac.broadcast_rate_bps", mac.broadcast_rate_bps),
    ];
    let is_slow = |bps: f64| bps <= 1e6 && mac.standard == Standard::B;
    match rates.into_iter().find(|&(_, bps)| !is_slow(bps) && !has_rate(mac.standard, bps)) {
        None => Ok(()),
        Some((field, bps)) => {
            let others = match mac.standard {
                Standard::B if ofdm_place(bps).is_some() => {
                    "; this is one of OFDM, for which mac.standard must be \"802.11g\" or \"802.11a\""
                }
                Standard::B => ", or a slower rate; 802.11n and later are not modelled",
                Standard::A | Standard::G => "",
            };
            Err(ScenarioError::Unusable {
                about: About::Value,
                field: field.to_owned(),
                found: bps.to_string(),
                wanted: format!("{}{others}", wanted(mac.standard)),
            })
        }
    }
}

/// Basic rates decide about nothing unless ACKs have them.
fn check_basic_rates(mac: &MacParams) -> Result<(), ScenarioError> {
    if mac.response_rate == ResponseRate::Basic || mac.basic_rates == MacParams::default().basic_rates {
        return Ok(());
    }
    let found = format!("{} bit/s as the highest", mac.basic_rates.highest_bps());
    let wanted = "mac.response_rate = \"basic\" with it: otherwise basic rates change nothing".to_owned();
    Err(ScenarioError::Unusable { about: About::Value, field: "mac.basic_rates".to_owned(), found, wanted })
}

/// The rates are 802.11b's and fit each other; `reason` asks for it.
fn check_80211b(mac: &MacParams, reason: &str) -> Result<(), ScenarioError> {
    let wrong = |field: &str, found: String, wanted: String| {
        Err(ScenarioError::Unusable { about: About::Value, field: field.to_owned(), found, wanted })
    };
    let rates = [
        ("mac.data_rate_bps", mac.data_rate_bps, false),
        ("mac.control_rate_bps", mac.control_rate_bps, true),
        ("mac.broadcast_rate_bps", mac.broadcast_rate_bps, true),
    ];
    for (field, bps, for_all) in rates {
        if !has_rate(mac.standard, bps) {
            return wrong(field, bps.to_string(), format!("{}, because of {reason}", wanted(mac.standard)));
        }
        let highest_bps = mac.basic_rates.highest_bps();
        let is_dsss = ofdm_place(bps).is_none();
        if for_all && is_dsss && mac.response_rate == ResponseRate::Basic && bps > highest_bps {
            let wanted = format!(
                "a basic rate, up to {highest_bps} bit/s (mac.basic_rates): all stations must understand such \
                 frames (802.11-1999 §9.6)"
            );
            return wrong(field, bps.to_string(), wanted);
        }
    }
    let is_slow = mac.data_rate_bps < 2e6 && mac.rate_control == RateControl::Fixed;
    if mac.preamble == Preamble::Short && is_slow {
        let wanted =
            "long: mac.data_rate_bps is 1e6, and 802.11b has no short preamble at 1 Mb/s (§18.2.2.2)";
        return wrong("mac.preamble", "short".to_owned(), wanted.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{complaint, scenario};
    use super::*;
    use crate::mac::BasicRates;

    fn complaint_of(change: impl FnOnce(&mut MacParams)) -> String {
        complaint(|s| change(&mut s.params.mac))
    }

    #[test]
    fn basic_rates_without_effect_are_refused() {
        let found = complaint_of(|mac| mac.basic_rates = BasicRates::One);
        assert!(found.starts_with("mac.basic_rates: found 1000000 bit/s as the highest, wanted"), "{found}");
        let mut used = scenario();
        (used.params.mac.basic_rates, used.params.mac.response_rate) =
            (BasicRates::ToEleven, ResponseRate::Basic);
        assert_eq!(used.check(), Ok(()));
    }

    #[test]
    fn rates_that_802_11b_lacks_are_refused_where_it_is_asked_for() {
        let found = complaint_of(|mac| (mac.response_rate, mac.data_rate_bps) = (ResponseRate::Basic, 6e5));
        assert!(
            found.starts_with("mac.data_rate_bps: found 600000, wanted 1e6, 2e6, 5.5e6 or 11e6"),
            "{found}"
        );
        let found = complaint_of(|mac| (mac.preamble, mac.broadcast_rate_bps) = (Preamble::Short, 3e5));
        assert!(found.starts_with("mac.broadcast_rate_bps: found 300000"), "{found}");
        let found = complaint_of(|mac| (mac.rate_control, mac.data_rate_bps) = (RateControl::Arf, 54e3));
        assert!(found.ends_with("because of mac.rate_control"), "{found}");
        let found = complaint(|s| {
            s.params.radio.ranges = ByRate::Ladder;
            s.params.mac.data_rate_bps = 54e3;
        });
        assert!(found.contains("radio.ranges"), "{found}");
    }

    #[test]
    fn rates_of_other_modulations_are_refused_and_slow_radios_are_not() {
        for (change, field) in [
            ((|mac| mac.data_rate_bps = 54e6) as fn(&mut MacParams), "mac.data_rate_bps: found 54000000"),
            (|mac| mac.data_rate_bps = 6e6, "mac.data_rate_bps: found 6000000"),
            (|mac| mac.control_rate_bps = 24e6, "mac.control_rate_bps: found 24000000"),
            (|mac| mac.broadcast_rate_bps = 3e6, "mac.broadcast_rate_bps: found 3000000"),
        ] {
            let found = complaint_of(change);
            assert!(
                found.starts_with(field) && found.contains("mac.standard") != field.contains(" 3000000"),
                "{found}"
            );
        }
        let mut g = scenario();
        (g.params.mac.standard, g.params.mac.data_rate_bps) = (Standard::G, 54e6);
        assert_eq!(g.check(), Ok(()));
        // 802.11a has no rate for the broadcasts and control frames of 802.11b.
        let found = complaint_of(|mac| (mac.standard, mac.data_rate_bps) = (Standard::A, 54e6));
        assert!(found.starts_with("mac.control_rate_bps: found 1000000, wanted 6e6, 9e6"), "{found}");
        let mut slow = scenario();
        slow.params.mac.data_rate_bps = 46e3;
        assert_eq!(slow.check(), Ok(()));
    }

    #[test]
    fn a_short_preamble_at_1_mbps_is_refused_unless_rate_control_may_leave_it() {
        let found = complaint_of(|mac| (mac.preamble, mac.data_rate_bps) = (Preamble::Short, 1e6));
        assert!(found.starts_with("mac.preamble: found short, wanted long"), "{found}");
        let mut adaptive = scenario();
        let mac = &mut adaptive.params.mac;
        (mac.preamble, mac.data_rate_bps, mac.rate_control) = (Preamble::Short, 1e6, RateControl::Arf);
        assert_eq!(adaptive.check(), Ok(()));
    }

    #[test]
    fn frames_for_all_have_a_basic_rate() {
        let found =
            complaint_of(|mac| (mac.response_rate, mac.control_rate_bps) = (ResponseRate::Basic, 11e6));
        assert!(found.starts_with("mac.control_rate_bps: found 11000000, wanted a basic rate"), "{found}");
        let found =
            complaint_of(|mac| (mac.response_rate, mac.broadcast_rate_bps) = (ResponseRate::Basic, 5.5e6));
        assert!(found.starts_with("mac.broadcast_rate_bps: found 5500000, wanted a basic rate"), "{found}");
    }

    #[test]
    fn rates_of_links_are_checked() {
        let with = |rates: &[(u32, Option<u32>, f64)]| {
            complaint(|s| {
                let link = |&(src, dst, rate_bps)| LinkRate { src, dst, rate_bps };
                s.rates = rates.iter().map(link).collect();
            })
        };
        assert!(with(&[(2, None, 1e6)]).starts_with("rates[0].src: found 2, wanted a node from 0 to 1"));
        assert!(with(&[(0, Some(7), 1e6)]).starts_with("rates[0].dst: found 7"));
        assert!(with(&[(0, Some(0), 1e6)]).starts_with("rates[0].dst: found 0, wanted another node"));
        assert!(with(&[(0, None, 6e6)]).starts_with("rates[0].rate_bps: found 6000000, wanted 1e6"));
        let twice = with(&[(0, None, 1e6), (0, Some(1), 2e6), (0, None, 11e6)]);
        assert!(twice.starts_with("rates[2].src: found 0"), "{twice}");
    }

    #[test]
    fn a_link_reaches_as_far_as_its_own_rate_does() {
        let mut scenario = scenario();
        scenario.params.radio.ranges = ByRate::Ladder;
        scenario.rates = vec![
            LinkRate { src: 0, dst: None, rate_bps: 11e6 },
            LinkRate { src: 0, dst: Some(1), rate_bps: 1e6 },
        ];
        let reach = |src, dst| scenario.params.link_range_with_m(&scenario.rates, src, dst).round() as u32;
        assert_eq!([reach(0, 1), reach(0, 2), reach(1, 0)], [297, 149, 250]);
        scenario.params.mac.rate_control = RateControl::Aarf;
        assert_eq!(scenario.params.link_range_m().round() as u32, 297);
    }
}
