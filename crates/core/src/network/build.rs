//! From a scenario to a network ready to run.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::channel::Channel;
use crate::flow::{Flow, Flows};
use crate::kernel::{Clock, Delays, Slot, Span, Time};
use crate::mobility::Path;
use crate::observe::{Accounts, Options, Recorder, Routes, Watching};
use crate::routing::Routing;
use crate::scenario::{Line, RoutingMaker, Scenario};
use crate::station::{Crashes, Maker};
use crate::wire::{FlowId, NodeId};

use super::{Network, Target};

impl<'r> Network<'r> {
    /// A network at time zero. The scenario has been checked.
    pub(crate) fn new(
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
            arp_slots: Vec::new(),
            hears_power: false,
            needs_arp: true,
            stations: Vec::with_capacity(scenario.movement.len()),
            lines: scenario.wired.iter().flat_map(Line::both).collect(),
            flows: Flows::default(),
            delays: Delays::new(Slot(0)),
            accounts: Accounts::new(scenario, options),
            stages: None,
            comings: paths.iter().any(|path| path.is_ever_absent(end)).then(|| Arc::clone(&paths)),
            crashes: None,
            broken: None,
            flow_actions: Vec::new(),
            routing_actions: Vec::new(),
            mac_actions: Vec::new(),
            arp_actions: Vec::new(),
        };
        // Made first of all: what happens in the instant in which the warm-up ends belongs to the window.
        let slot = network.add_slot(Target::Warmup);
        network.clock.agenda.set(slot, warmup);
        network.delays = Delays::new(network.add_slot(Target::Held));
        let mut maker = Maker::new(scenario, paths, custom);
        let nodes = 0..scenario.movement.len() as u32;
        for node in nodes.clone() {
            network.add_station(&mut maker, node);
        }
        network.ask_routing(scenario);
        let transmissions = nodes.clone().map(|node| network.add_slot(Target::Air(node))).collect();
        let frame_starts = network.add_slot(Target::FrameStarts);
        network.channel.open(transmissions, frame_starts);
        for id in 0..scenario.flows.len() as u32 {
            network.add_flow(scenario, FlowId(id));
        }
        network.hears_power |= network.flows.iter().any(Flow::wants_rx_power);
        network.add_stages(scenario);
        if network.needs_arp && params.arp.has_timer() {
            network.arp_slots = nodes.clone().map(|node| network.add_slot(Target::Arp(node))).collect();
        }
        for delay in BTreeSet::from([network.link_layer_delay, network.arp_delay]) {
            if delay != Span::ZERO {
                let slot = network.add_slot(Target::DelayLine(network.delays.lines() as u32));
                network.delays.add_line(delay, slot);
            }
        }
        if network.channel.has_batteries() {
            let slots = nodes.clone().map(|node| network.add_slot(Target::Battery(node))).collect();
            network.channel.watch_batteries(&mut network.clock, slots);
        }
        network.crashes = Crashes::new(maker, |node| network.add_slot(Target::Crash(node))).map(Box::new);
        if let Some(crashes) = &network.crashes {
            nodes.clone().for_each(|node| crashes.set_deadline(&mut network.clock, node));
        }
        network.accounts.watch =
            Watching::new(recorder, scenario, network.channel.timing.rates_bps().collect());
        nodes.for_each(|node| network.let_routes_wait(node));
        network
    }

    /// Learns what routing wants to be told, and what it knows.
    fn ask_routing(&mut self, scenario: &Scenario) {
        let routing = || self.stations.iter().map(|station| station.routing.as_ref());
        self.channel.taps = routing().any(Routing::wants_overheard);
        self.hears_power = routing().any(Routing::wants_rx_power);
        self.needs_arp = !routing().all(Routing::knows_mac_addresses);
        if scenario.params.network.measure_route_hops && routing().all(Routing::knows_route_hops) {
            self.accounts.routes = Routes::of_scenario(scenario);
        }
    }

    /// Routing that has just been made learns if nobody hears what it notices.
    pub(super) fn let_routes_wait(&mut self, node: u32) {
        let is_end = |(src, dst): (NodeId, NodeId)| src.0 == node || dst.0 == node;
        if !self.accounts.watch.is_on() && self.stages.is_none() && !self.flows.ends().any(is_end) {
            self.stations[node as usize].routing.compute_when_asked();
        }
    }

    fn add_station(&mut self, maker: &mut Maker<'_>, node: u32) {
        let mac_slot = self.add_slot(Target::Mac(node));
        let routing_slot = self.add_slot(Target::Routing(node));
        self.channel.add_mac(maker.mac(node, &self.channel.timing), mac_slot);
        self.stations.push(maker.station(node, routing_slot));
    }
}
