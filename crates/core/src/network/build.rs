//! From a scenario to a network ready to run.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::arp::Arp;
use crate::ifq::InterfaceQueue;
use crate::kernel::{EventQueue, Purpose, Slot, Span, Stream, Streams, Time};
use crate::mac::{Dcf, ReceiverRules, ShortWay, Timing};
use crate::mobility::Path;
use crate::observe::{Audit, Meter, Recording};
use crate::radio::{Index, Propagation};
use crate::routing::{StaticRoutes, shortest_hops};
use crate::scenario::{Carrier, Flow as FlowSpec, FlowKind, MAX_DATAGRAM_BYTES, RoutingMaker, Scenario};
use crate::traffic::{
    CbrSource, OnOffParams, OnOffSource, PoissonSource, Source, TraceSource, VideoSource, WebSession,
};
use crate::transport::tcp::{Receiver, Sender, TcpParams};
use crate::transport::{adp, rtp};
use crate::wire::{self, FlowId, IP_HEADER_BYTES, NodeId};

use super::air::Air;
use super::flows::{CbrFlow, Flow, TcpFlow, Transport, udp_overhead_bytes};
use super::messages::{AdpFlow, Bearer, MessageFlow};
use super::rtp::RtpFlow;
use super::sampling::Sampling;
use super::web::WebFlow;
use super::{Conveyor, Network, Options, Station, Target};

impl Network {
    /// A network at time zero. The scenario has been checked.
    pub(super) fn new(
        scenario: &Scenario,
        options: Options,
        custom: Option<&mut RoutingMaker<'_>>,
    ) -> Network {
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
            meter: Meter::new(warmup, end, scenario.flows.len(), options.series_step.is_some())
                .late_after(Span::from_secs(params.network.cbr_late_after_s)),
            recording: options.record.then(Recording::default),
            sampling: Sampling::new(options.series_step),
            stages: Vec::new(),
            routing_actions: Vec::new(),
            mac_actions: Vec::new(),
            arp_actions: Vec::new(),
        };
        // Made first of all: what happens in the instant in which the warm-up ends belongs to the window.
        let slot = network.add_slot(Target::Warmup);
        network.agenda.set(slot, warmup);
        network.delayed_slot = network.add_slot(Target::Delayed);
        network.add_stations(scenario, custom);
        network.taps = network.stations.iter().any(|station| station.routing.wants_overheard());
        let transmissions =
            (0..scenario.movement.len() as u32).map(|node| network.add_slot(Target::Air(node))).collect();
        let first_bits = network.add_slot(Target::FirstBits);
        network.air = Air::new(transmissions, first_bits, propagation.longest_delay());
        for (id, flow) in scenario.flows.iter().enumerate() {
            network.add_flow(scenario, id as u32, flow);
        }
        network.stages = network.stage_nodes(scenario);
        let mut delays = vec![network.link_layer_delay, network.arp_delay];
        delays.sort_unstable();
        delays.dedup();
        for delay in delays.into_iter().filter(|&delay| delay != Span::ZERO) {
            let slot = network.add_slot(Target::Conveyor(network.conveyors.len() as u32));
            network.conveyors.push(Conveyor { delay, slot, waiting: VecDeque::new() });
        }
        network
    }

    fn add_stations(&mut self, scenario: &Scenario, custom: Option<&mut RoutingMaker<'_>>) {
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
            self.stations.push(Station {
                mac: Dcf::new(NodeId(node), &self.timing, streams.stream(node, Purpose::Mac)),
                queue: InterfaceQueue::new(&scenario.params.queue, streams.stream(node, Purpose::Queue)),
                arp: Arp::new(NodeId(node), &scenario.params.arp),
                routing: make_routing(NodeId(node), streams.stream(node, Purpose::Routing)),
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
        let transport = match &spec.kind {
            &FlowKind::Tcp { bytes, window, segment_bytes } => {
                let mut params = scenario.params.tcp.clone();
                params.window = window.unwrap_or(params.window);
                params.segment_bytes = segment_bytes.unwrap_or(params.segment_bytes);
                self.agenda.set(source_slot, start);
                Transport::Tcp(Box::new(self.tcp_flow(id, &params, &streams, bytes)))
            }
            &FlowKind::Cbr { bytes, interval_s, random, max_packets } => {
                let stream = streams.stream(id, Purpose::Traffic);
                let interval = Span::from_secs(interval_s);
                let source = CbrSource::new(start, stop, interval, random, max_packets, stream);
                self.agenda.set(source_slot, source.next_timeout());
                Transport::Cbr(Box::new(CbrFlow { source, payload_bytes: bytes, next_number: 0 }))
            }
            FlowKind::Web { cycles } => {
                let session = WebSession::new(start, stop, cycles.clone());
                let web = self.web_flow(id, session, &scenario.params.tcp, &streams);
                self.agenda.set(source_slot, web.next_timeout());
                Transport::Web(Box::new(web))
            }
            kind => {
                let source = source_of(scenario, kind, start, stop, streams.stream(id, Purpose::Traffic));
                let next = source.as_ref().map_or(start, |source| source.next_timeout());
                self.agenda.set(source_slot, next);
                let bearer = self.bearer(scenario, id, kind, &streams);
                let rtp = is_rtp(kind).then(|| self.rtp_flow(scenario, id, &streams));
                let packet_bytes = packet_bytes(scenario, kind);
                Transport::Messages(Box::new(MessageFlow::new(source, bearer, packet_bytes, rtp)))
            }
        };
        let (src, dst) = (NodeId(spec.src), NodeId(spec.dst));
        if transport.tcp().is_some() {
            self.meter.outages.add(FlowId(id), src, dst, start);
        }
        self.flows.push(Flow { src, dst, start, stop, source_slot, transport });
    }

    /// Both endpoints of a TCP flow, with `bytes` to transfer.
    fn tcp_flow(&mut self, id: u32, params: &TcpParams, streams: &Streams, bytes: Option<u64>) -> TcpFlow {
        let tick = Span::from_micros(params.tick_ms * 1e3);
        let tick_phase = streams.stream(id, Purpose::Transport).span_below(tick);
        let slots = (self.add_slot(Target::Sender(id)), self.add_slot(Target::Receiver(id)));
        TcpFlow::new(Sender::new(params, tick_phase), Receiver::new(params), slots, bytes)
    }

    /// A Web session, whose connections come and go.
    fn web_flow(&mut self, id: u32, session: WebSession, params: &TcpParams, streams: &Streams) -> WebFlow {
        let tick = Span::from_micros(params.tick_ms * 1e3);
        let mut stream = streams.stream(id, Purpose::Transport);
        let tick_phases = [stream.span_below(tick), stream.span_below(tick)];
        let slots = (self.add_slot(Target::Sender(id)), self.add_slot(Target::Receiver(id)));
        WebFlow::new(session, params.clone(), tick_phases, slots)
    }

    /// Both ends of RTP.
    fn rtp_flow(&mut self, scenario: &Scenario, id: u32, streams: &Streams) -> RtpFlow {
        let params = &scenario.params.rtp;
        let mut stream = streams.stream(id, Purpose::Transport);
        let overhead = self.udp_overhead_bytes;
        let sender = rtp::Sender::new(params, overhead, &mut stream, streams.stream(id, Purpose::Reports));
        let receiver = rtp::Receiver::new(params, overhead, stream);
        RtpFlow::new(sender, receiver, self.add_slot(Target::Reports(id)), params)
    }

    /// The endpoints that carry a flow's messages.
    fn bearer(&mut self, scenario: &Scenario, id: u32, kind: &FlowKind, streams: &Streams) -> Bearer {
        match carrier_of(kind) {
            Carrier::Udp | Carrier::RtpUdp => Bearer::Udp,
            Carrier::Tcp => {
                let flow = self.tcp_flow(id, &scenario.params.tcp, streams, None);
                Bearer::Tcp(Box::new(TcpFlow { ends: false, ..flow }))
            }
            Carrier::Adp | Carrier::RtpAdp => {
                let params = &scenario.params.adp;
                let endless = matches!(kind, FlowKind::Adp {});
                Bearer::Adp(Box::new(AdpFlow {
                    sender: adp::Sender::new(params, packet_bytes(scenario, kind), endless),
                    receiver: adp::Receiver::new(params),
                    sender_slot: self.add_slot(Target::Sender(id)),
                    receiver_slot: self.add_slot(Target::Receiver(id)),
                    endless,
                }))
            }
        }
    }
}

fn is_rtp(kind: &FlowKind) -> bool {
    matches!(carrier_of(kind), Carrier::RtpUdp | Carrier::RtpAdp)
}

/// What carries the messages of a flow.
fn carrier_of(kind: &FlowKind) -> Carrier {
    match *kind {
        FlowKind::OnOff { transport, .. }
        | FlowKind::Poisson { transport, .. }
        | FlowKind::Trace { transport, .. }
        | FlowKind::Video { transport } => transport,
        FlowKind::Adp {} => Carrier::Adp,
        FlowKind::Tcp { .. } | FlowKind::Web { .. } => Carrier::Tcp,
        FlowKind::Cbr { .. } => Carrier::Udp,
    }
}

/// Most payload of a flow's packets, in bytes: what fits an IP packet, if nothing smaller is asked for.
fn packet_bytes(scenario: &Scenario, kind: &FlowKind) -> u32 {
    let wanted = match kind {
        FlowKind::Video { .. } => scenario.params.video.packet_bytes,
        FlowKind::Adp {} => scenario.params.adp.packet_bytes,
        _ => 0,
    };
    let fits = match carrier_of(kind) {
        Carrier::Adp | Carrier::RtpAdp => MAX_IP_BYTES - IP_HEADER_BYTES - wire::adp::HEADER_BYTES,
        Carrier::Udp | Carrier::Tcp | Carrier::RtpUdp => MAX_DATAGRAM_BYTES,
    };
    let fits = fits - if is_rtp(kind) { wire::rtp::HEADER_BYTES } else { 0 };
    if wanted == 0 { fits } else { wanted.min(fits) }
}

/// Most bytes of an IP packet (RFC 791 §3.1).
const MAX_IP_BYTES: u32 = 65_535;

/// The source of a flow's messages; none for endless data, which the transport makes itself.
fn source_of(
    scenario: &Scenario,
    kind: &FlowKind,
    start: Time,
    stop: Time,
    stream: Stream,
) -> Option<Box<dyn Source>> {
    match kind {
        &FlowKind::OnOff { bytes, interval_s, on_s, off_s, durations, shape, .. } => {
            let interval = Span::from_secs(interval_s);
            let params = OnOffParams { bytes, interval, on_s, off_s, durations, shape };
            Some(Box::new(OnOffSource::new(start, stop, params, stream)))
        }
        &FlowKind::Poisson { bytes, interval_s, max_packets, .. } => {
            Some(Box::new(PoissonSource::new(start, stop, bytes, interval_s, max_packets, stream)))
        }
        FlowKind::Trace { packets, .. } => Some(Box::new(TraceSource::new(start, stop, packets))),
        FlowKind::Video { .. } => {
            Some(Box::new(VideoSource::new(start, stop, &scenario.params.video, stream)))
        }
        FlowKind::Adp {} | FlowKind::Tcp { .. } | FlowKind::Cbr { .. } | FlowKind::Web { .. } => None,
    }
}

/// What makes a node's routing protocol, one of the simulator's own.
fn routing_maker(scenario: &Scenario) -> Box<RoutingMaker<'static>> {
    scenario.routing.maker(&scenario.params).unwrap_or_else(|| {
        let range_m = Propagation::new(&scenario.params.radio).receive_range_m();
        let positions: Vec<_> = scenario.movement.iter().map(|trajectory| trajectory.start).collect();
        let ends: Vec<NodeId> =
            scenario.flows.iter().flat_map(|flow| [NodeId(flow.src), NodeId(flow.dst)]).collect();
        let routes = Arc::new(shortest_hops(&positions, range_m, &ends));
        Box::new(move |node, _| Box::new(StaticRoutes::new(node, Arc::clone(&routes))))
    })
}
