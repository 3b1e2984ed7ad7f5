//! From a scenario to a network ready to run.

use std::sync::Arc;

use crate::arp::Arp;
use crate::channel::Channel;
use crate::ifq::InterfaceQueue;
use crate::kernel::{Clock, Delays, Purpose, Slot, Span, Streams, Time};
use crate::mac::Dcf;
use crate::mobility::Path;
use crate::observe::{Audit, LossGuesses, Meter, Recorder, Routes, Sampler, Watching};
use crate::routing::Place;
use crate::scenario::{Line, RoutingKind, RoutingMaker, Scenario};
use crate::wire::NodeId;

use super::crashes::Maker;
use super::flows::NetworkFlow;
use super::{Network, Options, Station, Target};

impl<'r> Network<'r> {
    /// A network at time zero. The scenario has been checked.
    pub(super) fn new(
        scenario: &'r Scenario,
        options: Options,
        custom: Option<&'r mut RoutingMaker<'r>>,
        recorder: Option<&'r mut dyn Recorder>,
    ) -> Network<'r> {
        let params = &scenario.params;
        let end = Time::from_secs(scenario.duration_s);
        let warmup = Time::from_secs(scenario.warmup_s);
        let paths: Arc<[Path]> = scenario.movement.iter().map(Path::new).collect();
        let clock = Clock::new(end);
        let mut network = Network {
            channel: Channel::new(scenario, &paths, &clock),
            clock,
            events: 0,
            targets: Vec::new(),
            link_layer_delay: Span::from_micros(params.network.link_layer_delay_us),
            arp_delay: Span::from_micros(params.arp.delay_us),
            data_ttl: params.network.data_ttl as u8,
            routes: Routes::default(),
            arp_slots: Vec::new(),
            hears_power: false,
            needs_arp: true,
            stations: Vec::with_capacity(scenario.movement.len()),
            lines: scenario.wired.iter().flat_map(Line::both).collect(),
            flows: Vec::with_capacity(scenario.flows.len()),
            delays: Delays::new(Slot(0)),
            audit: Audit::new(),
            guesses: LossGuesses::new(warmup, params.tcp.loss_predictor),
            meter: Meter::new(warmup, end, scenario.flows.len(), options.series_step.is_some()),
            watch: Watching::default(),
            sampler: Sampler::new(options.series_step),
            stages: None,
            comings: paths.iter().any(|path| path.is_ever_absent(end)).then(|| Arc::clone(&paths)),
            crashes: None,
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
        network.clock.agenda.set(slot, warmup);
        network.delays = Delays::new(network.add_slot(Target::Held));
        let mut maker = custom.map_or_else(|| Maker::Own(scenario.routing_maker()), Maker::Custom);
        network.add_stations(scenario, &mut maker, &paths);
        network.channel.taps = network.stations.iter().any(|station| station.routing.wants_overheard());
        network.hears_power = network.stations.iter().any(|station| station.routing.wants_rx_power());
        network.needs_arp = !network.stations.iter().all(|station| station.routing.knows_mac_addresses());
        network.measure_routes(scenario, warmup);
        let nodes = 0..scenario.movement.len() as u32;
        let transmissions = nodes.clone().map(|node| network.add_slot(Target::Air(node))).collect();
        let frame_starts = network.add_slot(Target::FrameStarts);
        network.channel.open(transmissions, frame_starts);
        for id in 0..scenario.flows.len() as u32 {
            network.add_flow(scenario, id);
        }
        network.hears_power |= network.flows.iter().any(|of| of.flow.wants_rx_power());
        network.add_stages(scenario);
        if network.needs_arp && params.arp.has_timer() {
            network.arp_slots = nodes.clone().map(|node| network.add_slot(Target::Arp(node))).collect();
        }
        network.add_delay_lines(vec![network.link_layer_delay, network.arp_delay]);
        if network.channel.has_batteries() {
            let slots = nodes.clone().map(|node| network.add_slot(Target::Battery(node))).collect();
            network.channel.watch_batteries(&mut network.clock, slots);
        }
        network.add_crashes(scenario, maker, &paths);
        network.watch = Watching::new(recorder, scenario, network.channel.timing.rates_bps().collect());
        nodes.for_each(|node| network.let_routes_wait(node));
        network
    }

    /// Routing that has just been made learns if nobody hears what it notices.
    pub(super) fn let_routes_wait(&mut self, node: u32) {
        let is_end = |flow: &NetworkFlow| flow.src.0 == node || flow.dst.0 == node;
        if !self.watch.is_on() && self.stages.is_none() && !self.flows.iter().any(is_end) {
            self.stations[node as usize].routing.compute_when_asked();
        }
    }

    /// Prepares the measurement of the routes that sources hold, if it is wanted and routing knows them.
    fn measure_routes(&mut self, scenario: &Scenario, warmup: Time) {
        let knows_hops = self.stations.iter().all(|station| station.routing.knows_route_hops());
        if scenario.params.network.measure_route_hops && knows_hops {
            let ends = scenario.flows.iter().map(|flow| (NodeId(flow.src), NodeId(flow.dst)));
            self.routes = Routes::new(scenario.movement.len(), ends, warmup);
        }
    }

    fn add_stations(&mut self, scenario: &Scenario, maker: &mut Maker<'_>, paths: &Arc<[Path]>) {
        let streams = Streams::new(scenario.seed, scenario.replication);
        for node in 0..scenario.movement.len() as u32 {
            let mac_slot = self.add_slot(Target::Mac(node));
            let routing_slot = self.add_slot(Target::Routing(node));
            let timing = &self.channel.timing;
            let mut mac = Dcf::new(NodeId(node), timing, streams.stream(node, Purpose::Mac));
            for own in scenario.rates.iter().filter(|rate| rate.src == node) {
                mac.fix_rate(own.dst.map(NodeId), timing.rate(own.rate_bps));
            }
            self.channel.add_mac(mac, mac_slot);
            let place = Place::new(NodeId(node), Arc::clone(paths));
            self.stations.push(Station {
                queue: InterfaceQueue::new(&scenario.params.queue, streams.stream(node, Purpose::Queue)),
                arp: Arp::new(NodeId(node), &scenario.params.arp, streams.stream(node, Purpose::Arp)),
                routing: maker.make(place, streams.stream(node, Purpose::Routing)),
                routing_slot,
            });
        }
    }
}
