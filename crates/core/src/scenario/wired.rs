//! The wired links of a scenario, and what a scenario with wired links must be like.

use serde::{Deserialize, Serialize};

use super::{About, Flow, FlowKind, RoutingKind, Scenario, ScenarioError};
use crate::stage::ThrottleMode;
use crate::transport::tcp::BaseStationMode;

/// A link between two nodes that is not the radio's: full duplex, without loss.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WiredLink {
    /// Its two ends.
    pub nodes: [u32; 2],
    /// Its rate in each direction, in bit/s.
    pub rate_bps: f64,
    /// The time that a bit takes to the other end, in s.
    pub delay_s: f64,
    /// How many packets may wait at each end.
    #[serde(default = "queue_packets")]
    pub queue_packets: u32,
}

fn queue_packets() -> u32 {
    50
}

/// Smallest and largest rate, in bit/s.
const RATE_BPS: (f64, f64) = (1e3, 1e12);
/// Longest delay, in s.
const LONGEST_DELAY_S: f64 = 10.0;
/// Most packets that may wait.
const MOST_QUEUED: u32 = 1_000_000;

impl Scenario {
    /// Wired links join two different nodes each and no two nodes twice, and nothing else in the scenario
    /// knows links of the radio alone.
    pub(super) fn check_wired(&self) -> Result<(), ScenarioError> {
        if self.wired.is_empty() {
            return Ok(());
        }
        self.check_beside_wired()?;
        (0..self.wired.len()).try_for_each(|index| self.check_wired_link(index))
    }

    fn check_beside_wired(&self) -> Result<(), ScenarioError> {
        let wrong = |field: &str, found: String, wanted: &str| {
            let (field, wanted) = (field.to_owned(), wanted.to_owned());
            Err(ScenarioError::Unusable { about: About::Value, field, found, wanted })
        };
        if self.routing != RoutingKind::Static {
            let wanted = "static, as there are wired links: the other protocols learn of neighbours by what \
                          they hear over the radio, and would never use a wire";
            return wrong("routing", format!("{:?}", self.routing).to_lowercase(), wanted);
        }
        let is_web = |flow: &Flow| matches!(flow.kind, FlowKind::Web { .. });
        let has_web = self.flows.iter().any(is_web);
        if self.params.tcp.base_station == BaseStationMode::Split && has_web {
            let wanted = "another for Web sessions: their connections close at the end that has all \
                          acknowledgements, while a base station still has data for the other";
            return wrong("tcp.base_station", "split".to_owned(), wanted);
        }
        if self.params.tcp.base_station == BaseStationMode::MTcp && has_web {
            let wanted = "another for Web sessions, which have many connections: a base station of M-TCP \
                          supervises one a flow";
            return wrong("tcp.base_station", "m-tcp".to_owned(), wanted);
        }
        if self.params.throttle.mode != ThrottleMode::Off {
            let wanted = "off, as there are wired links: fair shares are those of the radio";
            return wrong("throttle.mode", format!("{:?}", self.params.throttle.mode).to_lowercase(), wanted);
        }
        if self.params.network.measure_path_hops {
            let wanted = "false, as there are wired links: shortest paths are measured over the radio alone";
            return wrong("network.measure_path_hops", "true".to_owned(), wanted);
        }
        Ok(())
    }

    fn check_wired_link(&self, index: usize) -> Result<(), ScenarioError> {
        let link = &self.wired[index];
        let wrong = |about, field: &str, found: String, wanted: String| {
            let field = format!("wired[{index}].{field}");
            Err(ScenarioError::Unusable { about, field, found, wanted })
        };
        let nodes = self.movement.len();
        if let Some(place) = link.nodes.iter().position(|&node| node as usize >= nodes) {
            let wanted = format!("a node from 0 to {}", nodes - 1);
            return wrong(About::Node, &format!("nodes[{place}]"), link.nodes[place].to_string(), wanted);
        }
        let ends = |link: &WiredLink| (link.nodes[0].min(link.nodes[1]), link.nodes[0].max(link.nodes[1]));
        let found = format!("{} and {}", link.nodes[0], link.nodes[1]);
        if link.nodes[0] == link.nodes[1] {
            return wrong(About::Value, "nodes", found, "two different nodes".to_owned());
        }
        if let Some(first) = self.wired[..index].iter().position(|other| ends(other) == ends(link)) {
            let wanted = format!("one link between two nodes; wired[{first}] joins the same");
            return wrong(About::Value, "nodes", found, wanted);
        }
        let (low, high) = RATE_BPS;
        if !(low..=high).contains(&link.rate_bps) {
            let wanted = format!("from {low} to {high} bit/s");
            return wrong(About::Value, "rate_bps", link.rate_bps.to_string(), wanted);
        }
        if !(0.0..=LONGEST_DELAY_S).contains(&link.delay_s) {
            let wanted = format!("from 0 to {LONGEST_DELAY_S} s");
            return wrong(About::Value, "delay_s", link.delay_s.to_string(), wanted);
        }
        if link.queue_packets > MOST_QUEUED {
            let wanted = format!("up to {MOST_QUEUED} packets");
            return wrong(About::Value, "queue_packets", link.queue_packets.to_string(), wanted);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tests::{complaint, scenario};
    use crate::transport::tcp::FreezeForesight;

    fn link(a: u32, b: u32) -> WiredLink {
        WiredLink { nodes: [a, b], rate_bps: 1e7, delay_s: 0.001, queue_packets: 50 }
    }

    fn with(change: impl FnOnce(&mut Scenario)) -> String {
        complaint(|s| {
            (s.routing, s.wired) = (RoutingKind::Static, vec![link(0, 1)]);
            change(s);
        })
    }

    #[test]
    fn two_nodes_may_have_a_wired_link() {
        let mut wired = scenario();
        (wired.routing, wired.wired) = (RoutingKind::Static, vec![link(1, 0)]);
        assert_eq!(wired.check(), Ok(()));
    }

    #[test]
    fn links_that_cannot_be_are_named() {
        assert!(with(|s| s.wired[0].nodes = [0, 2]).starts_with("wired[0].nodes[1]: found 2"));
        assert!(with(|s| s.wired[0].nodes = [1, 1]).starts_with("wired[0].nodes: found 1 and 1"));
        assert!(with(|s| s.wired.push(link(1, 0))).starts_with("wired[1].nodes: found 1 and 0"));
        assert!(with(|s| s.wired[0].rate_bps = f64::NAN).starts_with("wired[0].rate_bps: found NaN"));
        assert!(with(|s| s.wired[0].delay_s = -1.0).starts_with("wired[0].delay_s: found -1"));
        assert!(with(|s| s.wired[0].queue_packets = 2_000_000).starts_with("wired[0].queue_packets"));
    }

    #[test]
    fn what_knows_only_links_of_the_radio_is_refused_beside_wired_ones() {
        let aodv = with(|s| s.routing = RoutingKind::Aodv);
        assert!(aodv.starts_with("routing: found aodv, wanted static"), "{aodv}");
        let throttled = with(|s| s.params.throttle.mode = ThrottleMode::Oracle);
        assert!(throttled.starts_with("throttle.mode: found oracle, wanted off"), "{throttled}");
        let freezes = |s: &mut Scenario| assert!(s.params.tcp.apply_sender("freeze-tcp"));
        let oracle = with(freezes);
        assert!(oracle.starts_with("tcp.route_failure: found freeze-tcp"), "{oracle}");
        let mut hears = scenario();
        (hears.routing, hears.wired) = (RoutingKind::Static, vec![link(0, 1)]);
        freezes(&mut hears);
        hears.params.tcp.freeze_foresight = FreezeForesight::Power;
        assert_eq!(hears.check(), Ok(()));
        let measured = with(|s| s.params.network.measure_path_hops = true);
        assert!(measured.starts_with("network.measure_path_hops: found true"), "{measured}");
        for (mode, name) in [(BaseStationMode::Split, "split"), (BaseStationMode::MTcp, "m-tcp")] {
            let web = with(|s| {
                s.params.tcp.base_station = mode;
                s.flows[0].kind = FlowKind::Web { cycles: Vec::new() };
            });
            let wanted = format!("tcp.base_station: found {name}, wanted another for Web");
            assert!(web.starts_with(&wanted), "{web}");
        }
    }
}
