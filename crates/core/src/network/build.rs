//! From a scenario to a network ready to run.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::arp::Arp;
use crate::ifq::InterfaceQueue;
use crate::kernel::{EventQueue, Purpose, Slot, Span, Streams, Time};
use crate::mac::{Dcf, ReceiverRules, ShortWay, Timing};
use crate::mobility::Path;
use crate::observe::{Audit, Meter, Recording};
use crate::packet::{FlowId, NodeId};
use crate::radio::{Index, Propagation};
use crate::routing::{Routing, StaticRoutes, adv, aodv, dsdv, dsr, shortest_hops};
use crate::scenario::{Flow as FlowSpec, FlowKind, RoutingKind, Scenario};
use crate::traffic::CbrSource;
use crate::transport::tcp::{Receiver, ReceiverCounters, Sender, SenderCounters};

use super::air::Air;
use super::flows::{CbrFlow, Flow, TcpFlow, Transport, udp_overhead_bytes};
use super::sampling::Sampling;
use super::{Conveyor, Network, Options, Station, Target};

impl Network {
    /// A network at time zero. The scenario has been checked.
    pub(super) fn new(scenario: &Scenario, options: Options) -> Network {
        let params = &scenario.params;
        let end = Time::from_secs(scenario.duration_s);
        let warmup = Time::from_secs(scenario.warmup_s);
        let propagation = Propagation::new(&params.radio);
        let paths: Vec<Path> = scenario.movement.iter().map(Path::new).collect();
        let (timing, rules) = (Timing::new(&params.mac), ReceiverRules::new(&params.radio));
        let mut network = Network {
            now: Time::ZERO,
            end,
            events: 0,
            agenda: EventQueue::new(),
            targets: Vec::new(),
            short_way: ShortWay::new(&rules, &timing),
            timing,
            rules,
            link_layer_delay: Span::from_micros(params.network.link_layer_delay_us),
            arp_delay: Span::from_micros(params.arp.delay_us),
            udp_overhead_bytes: udp_overhead_bytes(params.network.udp_header_bytes),
            data_ttl: params.network.data_ttl as u8,
            index: Index::new(propagation, paths, end),
            air: Air::new(Vec::new(), Slot(0), Span::ZERO),
            taps: false,
            stations: Vec::with_capacity(scenario.movement.len()),
            flows: Vec::with_capacity(scenario.flows.len()),
            conveyors: Vec::new(),
            delayed: BTreeMap::new(),
            delayed_slot: Slot(0),
            delays: 0,
            audit: Audit::new(),
            meter: Meter::new(warmup, end, scenario.flows.len(), options.series_step.is_some()),
            recording: options.record.then(Recording::default),
            sampling: Sampling::new(options.series_step),
            routing_actions: Vec::new(),
            mac_actions: Vec::new(),
            arp_actions: Vec::new(),
        };
        // Made first of all: what happens in the instant in which the warm-up ends belongs to the window.
        let slot = network.add_slot(Target::Warmup);
        network.agenda.set(slot, warmup);
        network.delayed_slot = network.add_slot(Target::Delayed);
        network.add_stations(scenario);
        network.taps = network.stations.iter().any(|station| station.routing.wants_overheard());
        let transmissions =
            (0..scenario.movement.len() as u32).map(|node| network.add_slot(Target::Air(node))).collect();
        let first_bits = network.add_slot(Target::FirstBits);
        network.air = Air::new(transmissions, first_bits, propagation.longest_delay());
        for (id, flow) in scenario.flows.iter().enumerate() {
            network.add_flow(scenario, id as u32, flow);
        }
        let mut delays = vec![network.link_layer_delay, network.arp_delay];
        delays.sort_unstable();
        delays.dedup();
        for delay in delays.into_iter().filter(|&delay| delay != Span::ZERO) {
            let slot = network.add_slot(Target::Conveyor(network.conveyors.len() as u32));
            network.conveyors.push(Conveyor { delay, slot, waiting: VecDeque::new() });
        }
        network
    }

    fn add_stations(&mut self, scenario: &Scenario) {
        let streams = Streams::new(scenario.seed, scenario.replication);
        let mut make_routing = routing_maker(scenario, &streams);
        for node in 0..scenario.movement.len() as u32 {
            let mac_slot = self.add_slot(Target::Mac(node));
            let routing_slot = self.add_slot(Target::Routing(node));
            self.stations.push(Station {
                mac: Dcf::new(NodeId(node), &self.timing, streams.stream(node, Purpose::Mac)),
                queue: InterfaceQueue::new(&scenario.params.queue),
                arp: Arp::new(NodeId(node), &scenario.params.arp),
                routing: make_routing(NodeId(node)),
                mac_slot,
                routing_slot,
            });
        }
    }

    fn add_flow(&mut self, scenario: &Scenario, id: u32, spec: &FlowSpec) {
        let start = Time::from_secs(spec.start_s);
        let stop = spec.stop_s.map_or(Time::NEVER, Time::from_secs);
        let source_slot = self.add_slot(Target::Source(id));
        let streams = Streams::new(scenario.seed, scenario.replication);
        let transport = match spec.kind {
            FlowKind::Tcp { bytes, window, segment_bytes } => {
                let mut params = scenario.params.tcp.clone();
                params.window = window.unwrap_or(params.window);
                params.segment_bytes = segment_bytes.unwrap_or(params.segment_bytes);
                let tick = Span::from_micros(params.tick_ms * 1e3);
                let tick_phase = streams.stream(id, Purpose::Transport).span_below(tick);
                self.agenda.set(source_slot, start);
                Transport::Tcp(Box::new(TcpFlow {
                    sender: Sender::new(&params, tick_phase),
                    receiver: Receiver::new(&params),
                    sender_slot: self.add_slot(Target::Sender(id)),
                    receiver_slot: self.add_slot(Target::Receiver(id)),
                    bytes,
                    started: false,
                    completed: None,
                    at_warmup: (SenderCounters::default(), ReceiverCounters::default()),
                }))
            }
            FlowKind::Cbr { bytes, interval_s, random, max_packets } => {
                let stream = streams.stream(id, Purpose::Traffic);
                let interval = Span::from_secs(interval_s);
                let source = CbrSource::new(start, stop, interval, random, max_packets, stream);
                self.agenda.set(source_slot, source.next_timeout());
                Transport::Cbr(Box::new(CbrFlow { source, payload_bytes: bytes, next_number: 0 }))
            }
        };
        let (src, dst) = (NodeId(spec.src), NodeId(spec.dst));
        if matches!(transport, Transport::Tcp(_)) {
            self.meter.outages.add(FlowId(id), src, dst, start);
        }
        self.flows.push(Flow { src, dst, start, stop, source_slot, transport });
    }
}

/// What makes a node's routing protocol.
pub(crate) fn routing_maker<'a>(
    scenario: &'a Scenario,
    streams: &'a Streams,
) -> Box<dyn FnMut(NodeId) -> Box<dyn Routing> + 'a> {
    match scenario.routing {
        RoutingKind::Aodv => {
            let params = Arc::new(scenario.params.aodv.clone());
            Box::new(move |node| aodv::new(node, &params, streams.stream(node.0, Purpose::Routing)))
        }
        RoutingKind::Dsdv => {
            Box::new(|node| dsdv::new(node, &scenario.params.dsdv, streams.stream(node.0, Purpose::Routing)))
        }
        RoutingKind::Dsr => {
            Box::new(|node| dsr::new(node, &scenario.params.dsr, streams.stream(node.0, Purpose::Routing)))
        }
        RoutingKind::Adv => {
            Box::new(|node| adv::new(node, &scenario.params.adv, streams.stream(node.0, Purpose::Routing)))
        }
        RoutingKind::Static => {
            let range_m = Propagation::new(&scenario.params.radio).receive_range_m();
            let positions: Vec<_> = scenario.movement.iter().map(|trajectory| trajectory.start).collect();
            let ends: Vec<NodeId> =
                scenario.flows.iter().flat_map(|flow| [NodeId(flow.src), NodeId(flow.dst)]).collect();
            let routes = Arc::new(shortest_hops(&positions, range_m, &ends));
            Box::new(move |node| Box::new(StaticRoutes::new(node, Arc::clone(&routes))))
        }
    }
}
