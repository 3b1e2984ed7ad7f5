//! From a flow of the scenario to its state machine.

use crate::kernel::{Purpose, Span, Stream, Streams, Time};
use crate::observe::VoiceSpec;
use crate::scenario::{Carrier, FlowKind, MAX_DATAGRAM_BYTES, RoutingKind, Scenario};
use crate::traffic::{
    CbrSource, Codec, Durations, OnOffParams, OnOffSource, PoissonSource, Source, TraceSource, VideoSource,
    WebSession,
};
use crate::transport::tcp::{FreezeForesight, Receiver, RouteFailureScheme, Sender, TcpParams};
use crate::transport::{adp, psp, rtp};
use crate::wire;
use crate::wire::{FlowId, IP_HEADER_BYTES};

use super::cbr::CbrFlow;
use super::connection::Connection;
use super::lateness::Lateness;
use super::messages::{MessageKind, Messages};
use super::over_adp::{Data, OverAdp};
use super::over_psp::OverPsp;
use super::over_tcp::OverTcp;
use super::over_udp::OverUdp;
use super::rtp::RtpEnds;
use super::transfer::Transfer;
use super::web::WebFlow;
use super::{End, Flow};

/// Most bytes of an IP packet (RFC 791 §3.1).
const MAX_IP_BYTES: u32 = 65_535;

/// The state machine of a flow of a scenario that has been checked.
pub fn make(scenario: &Scenario, id: FlowId) -> Box<dyn Flow> {
    let spec = &scenario.flows[id.index()];
    let flow = Builder {
        scenario,
        id,
        start: start(scenario, id),
        stop: spec.stop_s.map_or(Time::NEVER, Time::from_secs),
        streams: Streams::new(scenario.seed, scenario.replication),
    };
    match &spec.kind {
        &FlowKind::Tcp { bytes, .. } => {
            let params = spec.tcp(flow.tcp());
            let allowed = Span::from_secs(params.allowed_pause_s);
            let transfer = Transfer::new(flow.start, flow.stop, bytes, flow.connection(&params));
            Box::new(transfer.with_progress(allowed))
        }
        &FlowKind::Cbr { bytes, interval_s, random, max_packets } => {
            let interval = Span::from_secs(interval_s);
            let source = CbrSource::new(flow.start, flow.stop, interval, random, max_packets, flow.traffic());
            Box::new(CbrFlow::new(id, source, bytes, flow.overhead_bytes(), flow.lateness()))
        }
        FlowKind::Web { cycles } => flow.web(WebSession::new(flow.start, flow.stop, cycles.clone())),
        FlowKind::Adp {} => {
            let data = Data::Endless { start: flow.start, stop: flow.stop };
            flow.over_adp(data, MessageKind::Adp, false)
        }
        &FlowKind::OnOff { transport, bytes, interval_s, on_s, off_s, durations, shape } => {
            let interval = Span::from_secs(interval_s);
            let params = OnOffParams { bytes, interval, on_s, off_s, durations, shape };
            let source = OnOffSource::new(flow.start, flow.stop, params, flow.traffic());
            flow.of_messages(Box::new(source), MessageKind::OnOff, transport)
        }
        &FlowKind::Poisson { transport, bytes, interval_s, max_packets } => {
            let source =
                PoissonSource::new(flow.start, flow.stop, bytes, interval_s, max_packets, flow.traffic());
            flow.of_messages(Box::new(source), MessageKind::Poisson, transport)
        }
        FlowKind::Trace { transport, packets } => {
            let source = TraceSource::new(flow.start, flow.stop, packets);
            flow.of_messages(Box::new(source), MessageKind::Trace, *transport)
        }
        &FlowKind::Video { transport } => {
            let source = VideoSource::new(flow.start, flow.stop, &scenario.params.video, flow.traffic());
            flow.of_messages(Box::new(source), MessageKind::Video, transport)
        }
        &FlowKind::Voice { codec, on_s, off_s, playout_ms, call } => {
            let params = OnOffParams {
                bytes: codec.payload_bytes(),
                interval: Codec::PACKET,
                on_s,
                off_s,
                durations: Durations::Exponential,
                shape: 1.5,
            };
            let source = OnOffSource::new(flow.start, flow.stop, params, flow.traffic());
            let spec = VoiceSpec { codec, playout: Span::from_micros(playout_ms * 1e3), call };
            flow.of_messages(Box::new(source), MessageKind::Voice(spec), Carrier::RtpUdp)
        }
    }
}

/// When a flow begins: at the time that the scenario says, or a random time after it
/// (`network.start_jitter_ms`).
pub fn start(scenario: &Scenario, id: FlowId) -> Time {
    let spec = &scenario.flows[id.index()];
    let start = Time::from_secs(spec.start_s);
    let jitter = Span::from_micros(scenario.params.network.start_jitter_ms * 1e3);
    if jitter == Span::ZERO {
        return start;
    }
    let end_s = spec.stop_s.unwrap_or(scenario.duration_s).min(scenario.duration_s);
    let most = Time::from_secs(end_s).since(start).scaled(0.1);
    let streams = Streams::new(scenario.seed, scenario.replication);
    start + streams.stream(id.0, Purpose::Starts).span_below(jitter).min(most)
}

/// What all parts of a flow are made from.
struct Builder<'a> {
    scenario: &'a Scenario,
    id: FlowId,
    start: Time,
    stop: Time,
    streams: Streams,
}

impl Builder<'_> {
    /// The stream of the flow's source.
    fn traffic(&self) -> Stream {
        self.streams.stream(self.id.0, Purpose::Traffic)
    }

    /// Bytes that UDP and IP add to a payload.
    fn overhead_bytes(&self) -> u32 {
        IP_HEADER_BYTES + self.scenario.params.network.udp_header_bytes
    }

    /// TCP's parameters, with the IP header that ns-2's DSR and DSDV add to segments that already count one.
    fn tcp(&self) -> TcpParams {
        let params = &self.scenario.params;
        let second_header = match self.scenario.routing {
            RoutingKind::Dsr => params.dsr.second_ip_header,
            RoutingKind::Dsdv => params.dsdv.second_ip_header,
            _ => false,
        };
        let added = if second_header { IP_HEADER_BYTES } else { 0 };
        TcpParams {
            header_bytes: params.tcp.header_bytes + added,
            ack_bytes: params.tcp.ack_bytes + added,
            ..params.tcp.clone()
        }
    }

    fn of_messages(&self, source: Box<dyn Source>, kind: MessageKind, carrier: Carrier) -> Box<dyn Flow> {
        match carrier {
            Carrier::Udp | Carrier::RtpUdp => {
                let is_rtp = carrier == Carrier::RtpUdp;
                let rtp = is_rtp.then(|| self.rtp());
                let most = self.packet_bytes(kind, MAX_DATAGRAM_BYTES, is_rtp);
                let messages = self.messages(kind);
                Box::new(OverUdp::new(source, messages, rtp, most, self.overhead_bytes()))
            }
            Carrier::Tcp => {
                let connection = self.connection(&self.tcp());
                Box::new(OverTcp::new(source, self.messages(kind), connection, self.start))
            }
            Carrier::Psp => self.over_psp(source, kind),
            Carrier::Adp | Carrier::RtpAdp => {
                self.over_adp(Data::Messages(source), kind, carrier == Carrier::RtpAdp)
            }
        }
    }

    fn over_adp(&self, data: Data, kind: MessageKind, is_rtp: bool) -> Box<dyn Flow> {
        let params = &self.scenario.params.adp;
        let fits = MAX_IP_BYTES - IP_HEADER_BYTES - wire::adp::HEADER_BYTES;
        let is_endless = matches!(data, Data::Endless { .. });
        let sender = adp::Sender::new(params, self.packet_bytes(kind, fits, is_rtp), is_endless);
        let rtp = is_rtp.then(|| self.rtp());
        Box::new(OverAdp::new(data, self.messages(kind), rtp, (sender, adp::Receiver::new(params))))
    }

    fn over_psp(&self, source: Box<dyn Source>, kind: MessageKind) -> Box<dyn Flow> {
        let params = &self.scenario.params.psp;
        let fits = MAX_IP_BYTES - IP_HEADER_BYTES - wire::psp::HEADER_BYTES;
        let sender = psp::Sender::new(params, self.packet_bytes(kind, fits, false));
        Box::new(OverPsp::new(source, self.messages(kind), (sender, psp::Receiver::new(params))))
    }

    /// Most payload of a packet, in bytes: what fits an IP packet, if nothing smaller is asked for.
    fn packet_bytes(&self, kind: MessageKind, fits: u32, is_rtp: bool) -> u32 {
        let wanted = match kind {
            MessageKind::Video => self.scenario.params.video.packet_bytes,
            MessageKind::Adp => self.scenario.params.adp.packet_bytes,
            MessageKind::OnOff | MessageKind::Poisson | MessageKind::Trace | MessageKind::Voice(_) => 0,
        };
        let fits = fits - if is_rtp { wire::rtp::HEADER_BYTES } else { 0 };
        if wanted == 0 { fits } else { wanted.min(fits) }
    }

    fn messages(&self, kind: MessageKind) -> Messages {
        let warmup = Time::from_secs(self.scenario.warmup_s);
        let deadline = Span::from_secs(self.scenario.params.video.playout_deadline_s);
        Messages::new(self.id, kind, warmup, deadline, self.lateness())
    }

    /// From which age on the flow's datagrams count as lost.
    fn lateness(&self) -> Lateness {
        let spec = &self.scenario.flows[self.id.index()];
        let of_cbr = matches!(spec.kind, FlowKind::Cbr { .. });
        let usual_s = if of_cbr { self.scenario.params.network.cbr_late_after_s } else { 0.0 };
        Lateness::after(spec.late_after_s.unwrap_or(usual_s))
    }

    /// Both ends of the flow's only TCP connection.
    fn connection(&self, params: &TcpParams) -> Connection {
        let tick = Span::from_micros(params.tick_ms * 1e3);
        let tick_phase = self.streams.stream(self.id.0, Purpose::Transport).span_below(tick);
        let sender = match self.scenario.is_supervised(self.id) {
            true => Sender::new(&params.of_supervised(), tick_phase),
            false => Sender::new(params, tick_phase),
        };
        let is_split = self.scenario.is_split(self.id);
        let mut receiver = match is_split {
            true => Receiver::new(&params.of_second_connection()),
            false => Receiver::new(params),
        };
        if params.route_failure == RouteFailureScheme::Freeze && !is_split {
            let flow = &self.scenario.flows[self.id.index()];
            receiver = match params.freeze_foresight {
                FreezeForesight::Oracle => receiver.with_breaks(&self.scenario.breaks((flow.src, flow.dst))),
                FreezeForesight::Power => {
                    let threshold_w = self.scenario.params.radio.receive_threshold_w;
                    receiver.with_foresight(10.0 * libm::log10(threshold_w))
                }
            };
        }
        let connection = Connection::new(self.id.into(), End::Source, sender, receiver);
        if is_split { connection.split() } else { connection }
    }

    /// A Web session, whose connections come and go.
    fn web(&self, session: WebSession) -> Box<dyn Flow> {
        let params = self.tcp();
        let tick = Span::from_micros(params.tick_ms * 1e3);
        let mut stream = self.streams.stream(self.id.0, Purpose::Transport);
        let tick_phases = [stream.span_below(tick), stream.span_below(tick)];
        let window = (Time::from_secs(self.scenario.warmup_s), Time::from_secs(self.scenario.duration_s));
        Box::new(WebFlow::new(self.id, session, self.start, (params, tick_phases), window))
    }

    /// Both ends of RTP.
    fn rtp(&self) -> RtpEnds {
        let params = &self.scenario.params.rtp;
        let mut stream = self.streams.stream(self.id.0, Purpose::Transport);
        let reports = self.streams.stream(self.id.0, Purpose::Reports);
        let overhead = self.overhead_bytes();
        let sender = rtp::Sender::new(params, overhead, &mut stream, reports);
        let receiver = rtp::Receiver::new(params, overhead, stream);
        RtpEnds::new(self.id, (sender, receiver), params, overhead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testbench::scenario_of;

    fn begins(start_s: f64, stop_s: Option<f64>, jitter_ms: f64, seed: u64) -> f64 {
        let mut scenario =
            scenario_of(FlowKind::Cbr { bytes: 100, interval_s: 0.25, random: false, max_packets: None });
        scenario.seed = seed;
        scenario.params.network.start_jitter_ms = jitter_ms;
        (scenario.flows[0].start_s, scenario.flows[0].stop_s) = (start_s, stop_s);
        start(&scenario, FlowId(0)).as_secs()
    }

    #[test]
    fn flows_begin_a_random_time_later_or_exactly_when_they_are_to() {
        assert!((1..50).all(|seed| begins(1.0, None, 0.0, seed).to_bits() == 1.0_f64.to_bits()));
        let late: Vec<f64> = (1..50).map(|seed| begins(1.0, None, 10.0, seed) - 1.0).collect();
        assert!(late.iter().all(|late_s| (0.0..0.01).contains(late_s)));
        assert!(late.iter().any(|&late_s| late_s > 0.008) && late.iter().any(|&late_s| late_s < 0.002));
        // A short flow begins within its first tenth.
        assert!((1..50).all(|seed| begins(1.0, Some(1.02), 10.0, seed) <= 1.002_000_001));
    }
}
