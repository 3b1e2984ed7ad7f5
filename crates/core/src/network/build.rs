//! From a scenario to a network ready to run.

use std::sync::Arc;

use crate::arp::Arp;
use crate::ifq::InterfaceQueue;
use crate::kernel::{Delays, EventQueue, Purpose, Slot, Span, Streams, Time};
use crate::mac::{Dcf, ReceiverRules, ShortWay, Timing};
use crate::mobility::Path;
use crate::observe::{Audit, Meter, Recorder, Routes, Sampler, Watch};
use crate::radio::{BitErrors, Index, Propagation};
use crate::routing::{Place, StaticRoutes};
use crate::scenario::{Line, RoutingKind, RoutingMaker, Scenario};
use crate::wire::NodeId;

use super::air::Air;
use super::{Network, Options, Station, Target};

impl<'r> Network<'r> {
    /// A network at time zero. The scenario has been checked.
    pub(super) fn new(
        scenario: &Scenario,
        options: Options,
        custom: Option<&mut RoutingMaker<'_>>,
        recorder: Option<&'r mut dyn Recorder>,
    ) -> Network<'r> {
        let params = &scenario.params;
        let end = Time::from_secs(scenario.duration_s);
        let warmup = Time::from_secs(scenario.warmup_s);
        let propagation = Propagation::new(&params.radio);
        let paths: Arc<[Path]> = scenario.movement.iter().map(Path::new).collect();
        let timing = Timing::new(&params.mac);
        let rules = ReceiverRules::new(&params.radio, &timing);
        let mut network = Network {
            now: Time::ZERO,
            end,
            events: 0,
            agenda: EventQueue::new(),
            targets: Vec::new(),
            short_way: ShortWay::new(&rules, &timing),
            reaches_m2: timing.rates_bps().map(|bps| propagation.receive_m2(bps)).collect(),
            timing,
            rules,
            link_layer_delay: Span::from_micros(params.network.link_layer_delay_us),
            arp_delay: Span::from_micros(params.arp.delay_us),
            data_ttl: params.network.data_ttl as u8,
            index: Index::new(propagation, Arc::clone(&paths), end),
            air: Air::new(Vec::new(), Slot(0), Span::ZERO),
            bit_errors: bit_errors(scenario),
            routes: Routes::default(),
            taps: false,
            arp_slots: Vec::new(),
            needs_arp: true,
            stations: Vec::with_capacity(scenario.movement.len()),
            lines: scenario.wired.iter().flat_map(Line::both).collect(),
            flows: Vec::with_capacity(scenario.flows.len()),
            delays: Delays::new(Slot(0)),
            audit: Audit::new(),
            meter: Meter::new(warmup, end, scenario.flows.len(), options.series_step.is_some())
                .late_after(Span::from_secs(params.network.cbr_late_after_s)),
            watch: None,
            pause: Time::NEVER,
            sampler: Sampler::new(options.series_step),
            stages: None,
            broken: None,
            flow_actions: Vec::new(),
            routing_actions: Vec::new(),
            mac_actions: Vec::new(),
            arp_actions: Vec::new(),
        };
        if matches!(scenario.routing, RoutingKind::Dsr | RoutingKind::Tsr) {
            network.meter = network.meter.with_cached_routes(scenario.routing == RoutingKind::Tsr);
        }
        // Made first of all: what happens in the instant in which the warm-up ends belongs to the window.
        let slot = network.add_slot(Target::Warmup);
        network.agenda.set(slot, warmup);
        network.delays = Delays::new(network.add_slot(Target::Held));
        network.add_stations(scenario, custom, &paths);
        network.taps = network.stations.iter().any(|station| station.routing.wants_overheard());
        network.needs_arp = !network.stations.iter().all(|station| station.routing.knows_mac_addresses());
        network.measure_routes(scenario, warmup);
        let transmissions =
            (0..scenario.movement.len() as u32).map(|node| network.add_slot(Target::Air(node))).collect();
        let frame_starts = network.add_slot(Target::FrameStarts);
        network.air = Air::new(transmissions, frame_starts, propagation.longest_delay());
        for id in 0..scenario.flows.len() as u32 {
            network.add_flow(scenario, id);
        }
        network.add_stages(scenario);
        if network.needs_arp && params.arp.has_timer() {
            let nodes = 0..scenario.movement.len() as u32;
            network.arp_slots = nodes.map(|node| network.add_slot(Target::Arp(node))).collect();
        }
        network.add_delay_lines(vec![network.link_layer_delay, network.arp_delay]);
        let rates_bps = network.timing.rates_bps().collect();
        network.watch = recorder.map(|recorder| Box::new(Watch::new(recorder, scenario, rates_bps)));
        network
    }

    /// Prepares the measurement of the routes that sources hold, if it is wanted and routing knows them.
    fn measure_routes(&mut self, scenario: &Scenario, warmup: Time) {
        let knows_hops = self.stations.iter().all(|station| station.routing.knows_route_hops());
        if scenario.params.network.measure_route_hops && knows_hops {
            let ends = scenario.flows.iter().map(|flow| (NodeId(flow.src), NodeId(flow.dst)));
            self.routes = Routes::new(scenario.movement.len(), ends, warmup);
        }
    }

    fn add_stations(
        &mut self,
        scenario: &Scenario,
        custom: Option<&mut RoutingMaker<'_>>,
        paths: &Arc<[Path]>,
    ) {
        let streams = Streams::new(scenario.seed, scenario.replication);
        let mut own;
        let make_routing = match custom {
            Some(custom) => custom,
            None => {
                own = routing_maker(scenario);
                &mut *own
            }
        };
        for node in 0..scenario.movement.len() as u32 {
            let mac_slot = self.add_slot(Target::Mac(node));
            let routing_slot = self.add_slot(Target::Routing(node));
            let mut mac = Dcf::new(NodeId(node), &self.timing, streams.stream(node, Purpose::Mac));
            for own in scenario.rates.iter().filter(|rate| rate.src == node) {
                mac.fix_rate(own.dst.map(NodeId), self.timing.rate(own.rate_bps));
            }
            let place = Place::new(NodeId(node), Arc::clone(paths));
            self.stations.push(Station {
                mac,
                queue: InterfaceQueue::new(&scenario.params.queue, streams.stream(node, Purpose::Queue)),
                arp: Arp::new(NodeId(node), &scenario.params.arp, streams.stream(node, Purpose::Arp)),
                routing: make_routing(place, streams.stream(node, Purpose::Routing)),
                mac_slot,
                routing_slot,
            });
        }
    }
}

fn bit_errors(scenario: &Scenario) -> Option<Box<BitErrors>> {
    let streams = Streams::new(scenario.seed, scenario.replication);
    let nodes = scenario.movement.len() as u32;
    BitErrors::new(scenario.params.radio.bit_error_rate, nodes, &streams).map(Box::new)
}

/// What makes a node's routing protocol, one of the simulator's own.
fn routing_maker(scenario: &Scenario) -> Box<RoutingMaker<'static>> {
    scenario.routing.maker(&scenario.params).unwrap_or_else(|| {
        let positions: Vec<_> = scenario.movement.iter().map(|trajectory| trajectory.start).collect();
        let ends: Vec<NodeId> =
            scenario.flows.iter().flat_map(|flow| [NodeId(flow.src), NodeId(flow.dst)]).collect();
        let routes =
            Arc::new(scenario.params.shortest_hops(&scenario.rates, &scenario.wired, &positions, &ends));
        Box::new(move |place: Place, _| Box::new(StaticRoutes::new(place.node(), Arc::clone(&routes))))
    })
}
