//! What became of the routes that nodes took from their caches for TCP's data, and of TSR's holds.
//! Definitions stand in docs/metrics.md.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::kernel::{Span, Time};
use crate::routing::{HoldStep, Notice};
use crate::scenario::{RoutingKind, Scenario};
use crate::wire::dsr::{Header, Route};
use crate::wire::tcp::Segment;
use crate::wire::{NodeId, Packet, Payload, tsr};

/// The routes of a run whose protocol puts them into packets.
#[derive(Default)]
pub struct CachedRoutes {
    /// None if the protocol knows no source routes.
    of: Option<Box<Known>>,
}

#[derive(Default)]
struct Known {
    warmup: Time,
    /// The route that a node last chose for a destination; none once its routing knew that it had failed.
    chosen: BTreeMap<(NodeId, NodeId), Option<Route>>,
    /// Every route that was chosen, since it was last chosen.
    uses: BTreeMap<Route, Use>,
    taken: u64,
    broken: u64,
    stale: u64,
    probes_broken: u64,
    /// What TSR did; none without TSR.
    holds: Option<Holds>,
}

#[derive(Default)]
struct Use {
    /// Has a segment arrived over it?
    arrived: bool,
    broken: bool,
}

/// The holds of all nodes.
#[derive(Default)]
struct Holds {
    /// Those that last, by node and destination: since when, and when its first probe was sent and answered.
    open: BTreeMap<(NodeId, NodeId), Open>,
    answered: u64,
    timed_out: u64,
    sum: Span,
    longest: Span,
    probes_sent: u64,
    probes_answered: u64,
    first_answers: u64,
    first_answers_sum: Span,
}

struct Open {
    since: Time,
    probed: Option<Time>,
    is_answered: bool,
}

/// The routes that a source-routing protocol took from its caches for TCP's data segments, in the window.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CachedRouteTotals {
    /// All of them, each time that one was taken.
    pub routes_taken: u64,
    /// Those that broke at a link before the destination.
    pub invalid_routes: u64,
    /// Those of them over which no segment had arrived since they were chosen.
    pub stale_routes: u64,
    /// `invalid_routes` and the routes of probes that broke.
    pub invalid_routes_with_probes: u64,
}

/// TSR's holds, of all nodes, in the window.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct HoldTotals {
    /// Holds that began.
    pub holds: u64,
    /// Holds that an answer of the destination ended.
    pub holds_answered: u64,
    /// Holds that their timer ended.
    pub holds_timed_out: u64,
    /// Their times, s: of those that ended.
    pub hold_time_s: f64,
    /// The mean of these; none if none ended.
    pub hold_time_mean_s: Option<f64>,
    /// The longest of them.
    pub hold_time_max_s: Option<f64>,
    /// Probes sent by nodes that held packets.
    pub probes_sent: u64,
    /// Answers that reached them, those after the first included.
    pub probes_answered: u64,
    /// Mean time from the first probe of a hold to its first answer, s; none if none was answered.
    pub probe_first_answer_mean_s: Option<f64>,
}

impl CachedRoutes {
    /// The routes of a run, of which nothing is measured if its protocol puts none into packets.
    pub fn of_scenario(scenario: &Scenario) -> CachedRoutes {
        let holds = match scenario.routing {
            RoutingKind::Dsr => None,
            RoutingKind::Tsr => Some(Holds::default()),
            _ => return CachedRoutes::default(),
        };
        let warmup = Time::from_secs(scenario.warmup_s);
        CachedRoutes { of: Some(Box::new(Known { warmup, holds, ..Known::default() })) }
    }

    /// IP at `node` hands a packet down.
    pub fn sent(&mut self, now: Time, node: NodeId, packet: &Packet) {
        let Some(known) = &mut self.of else { return };
        let in_window = u64::from(now >= known.warmup);
        if let Some(header) = segment_header(packet)
            && header.route.first() == Some(&node)
        {
            known.choose(in_window, (node, packet.dst), &header.route);
        }
    }

    /// A packet could not be brought to its next hop.
    pub fn broke(&mut self, now: Time, packet: &Packet) {
        let Some(known) = &mut self.of else { return };
        let in_window = u64::from(now >= known.warmup);
        if let Some(header) = segment_header(packet) {
            known.break_route(in_window, packet, header);
        } else if packet.dsr().is_some_and(|header| matches!(header.tsr, Some(tsr::Mark::Probe { .. }))) {
            known.probes_broken += in_window;
        }
    }

    /// A packet reached its endpoint.
    pub fn arrived(&mut self, packet: &Packet) {
        let Some(known) = &mut self.of else { return };
        // Routing has taken the header off. The route that its source chose last stands for it.
        if is_segment(packet)
            && let Some(Some(route)) = known.chosen.get(&(packet.src, packet.dst))
            && let Some(of_route) = known.uses.get_mut(route)
        {
            of_route.arrived = true;
        }
    }

    /// Routing at `node` told the other layers.
    pub fn noticed(&mut self, now: Time, node: NodeId, notice: Notice) {
        let Some(known) = &mut self.of else { return };
        match notice {
            Notice::RouteFailed { dst, .. } => {
                if let Some(chosen) = known.chosen.get_mut(&(node, dst)) {
                    *chosen = None;
                }
            }
            Notice::RouteFound { .. } => {}
            Notice::Hold { dst, step } => {
                if let Some(holds) = &mut known.holds {
                    holds.step(now, known.warmup, (node, dst), step);
                }
            }
        }
    }

    /// The measures of the routes; none without source routes.
    pub fn totals(&self) -> Option<CachedRouteTotals> {
        let known = self.of.as_ref()?;
        Some(CachedRouteTotals {
            routes_taken: known.taken,
            invalid_routes: known.broken,
            stale_routes: known.stale,
            invalid_routes_with_probes: known.broken + known.probes_broken,
        })
    }

    /// The measures of the holds; none without TSR.
    pub fn hold_totals(&self) -> Option<HoldTotals> {
        let known = self.of.as_ref()?;
        let holds = known.holds.as_ref()?;
        let ended = holds.answered + holds.timed_out;
        let open = holds.open.values().filter(|open| open.since >= known.warmup).count() as u64;
        let mean = |sum: Span, count: u64| (count > 0).then(|| sum.as_secs() / count as f64);
        Some(HoldTotals {
            holds: ended + open,
            holds_answered: holds.answered,
            holds_timed_out: holds.timed_out,
            hold_time_s: holds.sum.as_secs(),
            hold_time_mean_s: mean(holds.sum, ended),
            hold_time_max_s: (ended > 0).then(|| holds.longest.as_secs()),
            probes_sent: holds.probes_sent,
            probes_answered: holds.probes_answered,
            probe_first_answer_mean_s: mean(holds.first_answers_sum, holds.first_answers),
        })
    }
}

impl Known {
    fn choose(&mut self, in_window: u64, ends: (NodeId, NodeId), route: &Route) {
        let chosen = self.chosen.entry(ends).or_default();
        if chosen.as_ref() != Some(route) {
            *chosen = Some(route.clone());
            self.uses.insert(route.clone(), Use::default());
            self.taken += in_window;
        }
    }

    fn break_route(&mut self, in_window: u64, packet: &Packet, header: &Header) {
        // A packet of a flow says nothing of its route: it is the one that its source chose last.
        let route = if header.route.is_empty() {
            let Some(Some(route)) = self.chosen.get(&(packet.src, packet.dst)) else { return };
            route
        } else {
            &header.route
        };
        let Some(of_route) = self.uses.get_mut(route).filter(|of_route| !of_route.broken) else { return };
        of_route.broken = true;
        self.broken += in_window;
        self.stale += in_window * u64::from(!of_route.arrived);
    }
}

impl Holds {
    /// A hold counts if it began in the window, and a probe if it was sent in it, or answered.
    fn step(&mut self, now: Time, warmup: Time, at: (NodeId, NodeId), step: HoldStep) {
        let in_window = u64::from(now >= warmup);
        match step {
            HoldStep::Begins => {
                self.open.insert(at, Open { since: now, probed: None, is_answered: false });
            }
            HoldStep::Probes => {
                self.probes_sent += in_window;
                if let Some(open) = self.open.get_mut(&at) {
                    open.probed.get_or_insert(now);
                }
            }
            HoldStep::Answered => {
                self.probes_answered += in_window;
                if let Some(open) = self.open.get_mut(&at)
                    && let Some(probed) = open.probed
                    && !std::mem::replace(&mut open.is_answered, true)
                {
                    self.first_answers += in_window;
                    self.first_answers_sum = self.first_answers_sum + Span(now.since(probed).0 * in_window);
                }
            }
            HoldStep::Ends { answered } => {
                let Some(open) = self.open.remove(&at).filter(|open| open.since >= warmup) else { return };
                let lasted = now.since(open.since);
                self.sum = self.sum + lasted;
                self.longest = self.longest.max(lasted);
                *if answered { &mut self.answered } else { &mut self.timed_out } += 1;
            }
        }
    }
}

fn is_segment(packet: &Packet) -> bool {
    matches!(packet.payload, Payload::Tcp(_, Segment::Data { .. }))
}

/// The header of a TCP data segment.
fn segment_header(packet: &Packet) -> Option<&Header> {
    packet.dsr().filter(|_| is_segment(packet))
}
