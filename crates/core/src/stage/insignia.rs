//! INSIGNIA: reservations that packets ask for and refresh on their way (Lee, Ahn, Zhang and Campbell,
//! *INSIGNIA: An IP-Based Quality of Service Framework for Mobile Ad Hoc Networks*, 2000;
//! draft-ietf-manet-insignia-01; Lee, Ahn and Campbell, *Improving UDP and TCP Performance in Mobile Ad Hoc
//! Networks with INSIGNIA*, 2001). Only the abstracts of the first two could be read: the page of the model
//! says what is from memory and what is assumed.
//!
//! **Implemented.** The IP option with service mode, payload type, bandwidth indicator and the two rates; hop
//! by hop admission by the sum of what is reserved and by the interface queue; MAX, else MIN, else best
//! effort; soft state; restoration by the next packet on a new path; reports of the destination, and sources
//! that scale down and up by them. Interface queues send reserved packets first (`ifq`).
//!
//! **Not implemented**: capacity measured by the MAC, weighted round robin, policing, dropping of enhanced
//! packets at the source, reports of loss and delay.
//!
//! **Deviations**: docs/models/insignia.md.

use std::collections::BTreeMap;

use super::params::{Adaptation, InsigniaParams};
use super::{Interceptor, InterceptorAction};
use crate::kernel::{Span, Time};
use crate::wire::insignia::{Indicator, Level, Mode, Part, Report, Service};
use crate::wire::{FlowId, NodeId, Packet, Payload};

/// A flow that begins at a node and asks for a reservation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Asking {
    /// The flow.
    pub flow: FlowId,
    /// Its destination.
    pub dst: NodeId,
    /// All that it wants, in kb/s at the IP layer.
    pub max_kbps: u16,
    /// What it needs at least, in kb/s at the IP layer.
    pub min_kbps: u16,
}

/// A flow that begins here.
struct Own {
    asking: Asking,
    /// What the last report said; at first that it has everything.
    level: Level,
    /// When the next packet would be due if base packets came evenly at the least rate.
    base_due: Time,
}

impl Own {
    fn new(asking: Asking) -> Own {
        Own { asking, level: Level::Max, base_due: Time::ZERO }
    }

    /// What a packet of this length says as it leaves now.
    fn service(&mut self, now: Time, bytes: u32, part: Option<Part>) -> Service {
        let Asking { max_kbps, min_kbps, .. } = self.asking;
        let part = part.unwrap_or_else(|| self.next_part(now, bytes));
        // Whoever has nothing asks for little first; whoever has little goes on to ask for more.
        let indicator = if self.level == Level::BestEffort { Indicator::Min } else { Indicator::Max };
        let is_reserved = part == Part::Base || self.level == Level::Max;
        let mode = if is_reserved { Mode::Reserved } else { Mode::BestEffort };
        Service { mode, part, indicator, max_kbps, min_kbps }
    }

    /// Is the next packet within the flow's least rate? An early packet is, up to a quarter of its own time:
    /// sources have jitter.
    fn next_part(&mut self, now: Time, bytes: u32) -> Part {
        let Asking { max_kbps, min_kbps, .. } = self.asking;
        if min_kbps == max_kbps {
            return Part::Base;
        }
        let time_s = f64::from(bytes * 8) / (1e3 * f64::from(min_kbps));
        if self.base_due > now + Span::from_secs(time_s / 4.0) {
            return Part::Enhanced;
        }
        self.base_due = self.base_due.max(now) + Span::from_secs(time_s);
        Part::Base
    }
}

/// What a node has reserved for a flow.
struct Reservation {
    indicator: Indicator,
    kbps: u16,
    ends: Time,
}

/// A flow that ends here.
struct Watched {
    source: NodeId,
    level: Level,
    /// When it last reported.
    reported: Time,
    /// When it reports next; never while no packet arrives.
    due: Time,
}

/// INSIGNIA at one node. See the module's head, and for the contract that of [`stage`](super).
pub struct Insignia {
    node: NodeId,
    limit_kbps: f64,
    queue_threshold: usize,
    soft_state: Span,
    adapts: bool,
    report: Span,
    report_gap: Span,
    report_bytes: u32,
    own: Vec<Own>,
    /// How many packets wait in the node's interface queue.
    waiting: usize,
    reserved: BTreeMap<FlowId, Reservation>,
    watched: BTreeMap<FlowId, Watched>,
}

impl Insignia {
    /// INSIGNIA at a node whose MAC sends at `data_rate_bps`, with the flows that begin there; reports are
    /// packets of `report_bytes`.
    pub fn new(
        node: NodeId,
        params: &InsigniaParams,
        data_rate_bps: f64,
        report_bytes: u32,
        own: Vec<Asking>,
    ) -> Insignia {
        Insignia {
            node,
            limit_kbps: 1e-3 * params.share * data_rate_bps,
            queue_threshold: params.queue_threshold as usize,
            soft_state: Span::from_secs(params.soft_state_s),
            adapts: params.adaptation == Adaptation::Scale,
            report: Span::from_secs(params.report_s),
            report_gap: Span::from_secs(params.report_gap_s),
            report_bytes,
            own: own.into_iter().map(Own::new).collect(),
            waiting: 0,
            reserved: BTreeMap::new(),
            watched: BTreeMap::new(),
        }
    }

    /// What is reserved for all flows together, in kb/s.
    fn sum_kbps(&self) -> u64 {
        self.reserved.values().map(|of| u64::from(of.kbps)).sum()
    }

    /// A packet leaves its source, perhaps not for the first time.
    fn mark(&mut self, now: Time, flow: FlowId, packet: &mut Packet) {
        let own = self.own.iter_mut().find(|own| own.asking.flow == flow && own.asking.dst == packet.dst);
        let Some(own) = own else { return };
        let part = packet.take_service().map(|service| service.part);
        packet.put_service(own.service(now, packet.bytes, part));
    }

    /// Admission: reserves what the packet asks for, or as much of it as there is, or refreshes it. Returns
    /// what the packet says as it goes on.
    fn admit(&mut self, now: Time, flow: FlowId, service: Service) -> Service {
        let has = self.reserved.get(&flow).map(|of| of.indicator);
        let Some(indicator) = self.granted(flow, has, service) else {
            return Service { mode: Mode::BestEffort, ..service };
        };
        let kbps = if indicator == Indicator::Max { service.max_kbps } else { service.min_kbps };
        self.reserved.insert(flow, Reservation { indicator, kbps, ends: now + self.soft_state });
        // With the least alone there is nothing for enhanced packets.
        let is_degraded = service.part == Part::Enhanced && indicator == Indicator::Min;
        let mode = if is_degraded { Mode::BestEffort } else { Mode::Reserved };
        Service { mode, indicator, ..service }
    }

    /// How much of what a packet asks for its flow gets, that now `has` so much.
    fn granted(&self, flow: FlowId, has: Option<Indicator>, service: Service) -> Option<Indicator> {
        if service.indicator == Indicator::Min && has.is_some() {
            // A node before this one could reserve the least alone: what is reserved beyond is free again.
            return Some(Indicator::Min);
        }
        if has == Some(Indicator::Max) {
            return has;
        }
        let own_kbps = self.reserved.get(&flow).map_or(0, |of| u64::from(of.kbps));
        let others_kbps = self.sum_kbps() - own_kbps;
        let is_calm = self.waiting < self.queue_threshold;
        let fits = |kbps: u16| is_calm && (others_kbps + u64::from(kbps)) as f64 <= self.limit_kbps;
        if service.indicator == Indicator::Max && fits(service.max_kbps) {
            Some(Indicator::Max)
        } else if has.is_some() || fits(service.min_kbps) {
            Some(Indicator::Min)
        } else {
            None
        }
    }

    /// A packet with the option has reached its destination. What the flow has is what base packets say.
    fn watch(&mut self, now: Time, flow: FlowId, source: NodeId, level: Option<Level>) {
        let Some(level) = level else { return };
        let next = now + self.report;
        let soonest = |reported: Time| now.max(reported + self.report_gap);
        match self.watched.get_mut(&flow) {
            None => {
                self.watched.insert(flow, Watched { source, level, reported: Time::ZERO, due: now });
            }
            Some(of) if of.level != level => {
                of.level = level;
                of.due = of.due.min(soonest(of.reported));
            }
            Some(of) => of.due = of.due.min(next),
        }
    }

    /// A report on a flow that begins here.
    fn adapt(&mut self, flow: FlowId, report: Report) {
        if self.adapts
            && let Some(own) = self.own.iter_mut().find(|own| own.asking.flow == flow)
        {
            own.level = report.level;
        }
    }
}

/// What a base packet that arrives says of its flow; nothing of others.
fn level_of(service: Service) -> Option<Level> {
    match (service.part, service.mode, service.indicator) {
        (Part::Enhanced, ..) => None,
        (_, Mode::BestEffort, _) => Some(Level::BestEffort),
        (_, Mode::Reserved, Indicator::Min) => Some(Level::Min),
        (_, Mode::Reserved, Indicator::Max) => Some(Level::Max),
    }
}

impl Interceptor for Insignia {
    fn see_queue(&mut self, waiting: usize) {
        self.waiting = waiting;
    }

    fn handle_outgoing(
        &mut self,
        now: Time,
        mut packet: Packet,
        _out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        let Some(flow) = packet.flow() else { return Some(packet) };
        if packet.src == self.node {
            self.mark(now, flow, &mut packet);
        }
        if let Some(service) = packet.service.filter(|service| service.is_reserved()) {
            packet.service = Some(self.admit(now, flow, service));
        }
        Some(packet)
    }

    fn handle_incoming(&mut self, now: Time, packet: &mut Packet, out: &mut Vec<InterceptorAction>) {
        if packet.dst != self.node {
            return;
        }
        if let Payload::Insignia(flow, report) = packet.payload {
            self.adapt(flow, report);
        } else if let Some(flow) = packet.flow()
            && let Some(service) = packet.take_service()
        {
            let level = level_of(service);
            out.push(InterceptorAction::Served { flow, is_reserved: service.is_reserved(), level });
            self.watch(now, flow, packet.src, level);
        }
    }

    fn handle_crash(&mut self, _out: &mut Vec<InterceptorAction>) {
        self.reserved.clear();
        self.watched.clear();
        self.own.iter_mut().for_each(|own| *own = Own::new(own.asking));
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        self.reserved.retain(|_, of| of.ends > now);
        for (&flow, of) in self.watched.iter_mut().filter(|(_, of)| of.due <= now) {
            (of.reported, of.due) = (now, Time::NEVER);
            let report = Payload::Insignia(flow, Report { level: of.level });
            out.push(InterceptorAction::Send { to: of.source, bytes: self.report_bytes, payload: report });
        }
    }

    fn next_timeout(&self) -> Time {
        let ends = self.reserved.values().map(|of| of.ends).min().unwrap_or(Time::NEVER);
        self.watched.values().map(|of| of.due).min().unwrap_or(Time::NEVER).min(ends)
    }

    fn kept(&self, _visit: &mut dyn FnMut(&Packet)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::insignia::OPTION_BYTES;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Time {
        Time(1_000_000 * millis)
    }

    /// Node `node` of the path 0, 1, 2, 3, which may reserve so many kb/s.
    fn node(node: u32, limit_kbps: u32, own: &[Asking]) -> Insignia {
        let params = InsigniaParams { share: 0.5, ..InsigniaParams::default() };
        Insignia::new(NodeId(node), &params, 2e3 * f64::from(limit_kbps), 36, own.to_vec())
    }

    /// A flow from node 0 to node 3.
    fn asking(flow: u32, max_kbps: u16, min_kbps: u16) -> Asking {
        Asking { flow: FlowId(flow), dst: NodeId(3), max_kbps, min_kbps }
    }

    /// A packet of 1000 bytes with its option.
    fn packet(flow: u32) -> Packet {
        let payload = Payload::Udp(FlowId(flow), 0);
        Packet::control(Time::ZERO, NodeId(0), NodeId(3), 64, 1000 - OPTION_BYTES, payload)
    }

    fn pass(node: &mut Insignia, now: Time, packet: Packet) -> Packet {
        node.handle_outgoing(now, packet, &mut Vec::new()).expect("nothing is kept")
    }

    /// What a packet of a flow that asks for these rates says when a node on its way has sent it on.
    fn forwarded(node: &mut Insignia, now: Time, flow: u32, rates: (u16, u16)) -> (Mode, Indicator) {
        let service = Service {
            mode: Mode::Reserved,
            part: Part::Base,
            indicator: Indicator::Max,
            max_kbps: rates.0,
            min_kbps: rates.1,
        };
        let mut packet = packet(flow);
        packet.put_service(service);
        let service = pass(node, now, packet).service.expect("it keeps its option");
        (service.mode, service.indicator)
    }

    const ALL: (Mode, Indicator) = (Mode::Reserved, Indicator::Max);
    const LEAST: (Mode, Indicator) = (Mode::Reserved, Indicator::Min);
    const NOTHING: (Mode, Indicator) = (Mode::BestEffort, Indicator::Max);

    #[test]
    fn admission_goes_up_to_the_limit_and_takes_the_least_where_all_does_not_fit() {
        let mut node = node(1, 100, &[]);
        assert_eq!(forwarded(&mut node, ms(0), 0, (60, 60)), ALL);
        assert_eq!(forwarded(&mut node, ms(1), 1, (41, 41)), NOTHING, "101 kb/s");
        assert_eq!(forwarded(&mut node, ms(2), 1, (50, 30)), LEAST);
        assert_eq!(forwarded(&mut node, ms(3), 2, (10, 10)), ALL, "exactly the limit");
        assert_eq!(forwarded(&mut node, ms(4), 3, (1, 1)), NOTHING);
        assert_eq!(node.sum_kbps(), 100);
    }

    #[test]
    fn a_long_queue_admits_nothing_new_and_keeps_what_there_is() {
        let mut node = node(1, 100, &[]);
        assert_eq!(forwarded(&mut node, ms(0), 0, (60, 60)), ALL);
        node.see_queue(25);
        assert_eq!(forwarded(&mut node, ms(1), 1, (10, 10)), NOTHING);
        assert_eq!(forwarded(&mut node, ms(1), 0, (60, 60)), ALL);
        node.see_queue(24);
        assert_eq!(forwarded(&mut node, ms(2), 1, (10, 10)), ALL);
    }

    #[test]
    fn a_reservation_ends_without_packets_and_each_packet_makes_it_last() {
        let mut node = node(1, 100, &[]);
        assert_eq!(forwarded(&mut node, ms(0), 0, (60, 60)), ALL);
        assert_eq!(forwarded(&mut node, ms(1500), 0, (60, 60)), ALL);
        assert_eq!(node.next_timeout(), ms(3500));
        node.handle_timeout(Time(ms(3500).0 - 1), &mut Vec::new());
        assert_eq!(node.sum_kbps(), 60, "an early call does nothing");
        node.handle_timeout(ms(3500), &mut Vec::new());
        assert_eq!((node.sum_kbps(), node.next_timeout()), (0, Time::NEVER));
        assert_eq!(forwarded(&mut node, ms(3501), 1, (100, 100)), ALL);
    }

    /// Node 1 has room for all, node 2 for the least, and later for nothing.
    #[test]
    fn along_a_path_all_becomes_the_least_and_then_best_effort() {
        let mut path = [node(0, 100, &[asking(0, 60, 20)]), node(1, 100, &[]), node(2, 30, &[])];
        let mut send = |now| {
            let packet = path.iter_mut().fold(packet(0), |packet, node| pass(node, now, packet));
            let service = packet.service.expect("it keeps its option");
            let reserved = [path[0].sum_kbps(), path[1].sum_kbps(), path[2].sum_kbps()];
            (packet.bytes, service.part, service.mode, service.indicator, reserved)
        };
        use Indicator::Min;
        use Mode::{BestEffort, Reserved};
        // At 60 kb/s 1000 bytes take 133 ms, at 20 kb/s 400 ms: one packet in three is a base packet.
        assert_eq!(send(ms(0)), (1000, Part::Base, Reserved, Min, [60, 60, 20]));
        assert_eq!(send(ms(133)), (1000, Part::Enhanced, BestEffort, Min, [60, 60, 20]));
        assert_eq!(send(ms(266)), (1000, Part::Enhanced, BestEffort, Min, [60, 60, 20]));
        assert_eq!(send(ms(400)), (1000, Part::Base, Reserved, Min, [60, 60, 20]));
        let mut full = node(2, 10, &[]);
        assert_eq!(forwarded(&mut full, ms(0), 0, (60, 20)), NOTHING);
        let mut after = packet(0);
        after.put_service(Service { mode: BestEffort, ..path[0].own[0].service(ms(800), 1000, None) });
        assert_eq!(pass(&mut path[1], ms(800), after.clone()), after, "best effort asks for nothing");
    }

    #[test]
    fn what_a_node_before_cannot_reserve_is_released_and_taken_again_when_it_can() {
        let mut node = node(1, 100, &[]);
        let mut send = |indicator, now| {
            let mut packet = packet(0);
            let (mode, part) = (Mode::Reserved, Part::Base);
            packet.put_service(Service { mode, part, indicator, max_kbps: 60, min_kbps: 20 });
            pass(&mut node, now, packet);
            node.sum_kbps()
        };
        assert_eq!(send(Indicator::Max, ms(0)), 60);
        assert_eq!(send(Indicator::Min, ms(1)), 20);
        assert_eq!(send(Indicator::Max, ms(2)), 60);
    }

    /// What a destination does with packets of a flow from node 0: what it sends, and when.
    struct Destination {
        stage: Insignia,
        reports: Vec<(Time, Level)>,
    }

    impl Destination {
        fn new() -> Destination {
            Destination { stage: node(3, 100, &[]), reports: Vec::new() }
        }

        fn advance(&mut self, now: Time) {
            while self.stage.next_timeout() <= now {
                let due = self.stage.next_timeout();
                let mut out = Vec::new();
                self.stage.handle_timeout(due, &mut out);
                for action in out {
                    let InterceptorAction::Send { to: NodeId(0), bytes: 36, payload } = action else {
                        panic!("{action:?}")
                    };
                    let Payload::Insignia(FlowId(0), report) = payload else { panic!("{payload:?}") };
                    self.reports.push((due, report.level));
                }
            }
        }

        fn receive(&mut self, now: Time, mode: Mode, part: Part, indicator: Indicator) -> Packet {
            self.advance(now);
            let mut packet = packet(0);
            packet.put_service(Service { mode, part, indicator, max_kbps: 60, min_kbps: 20 });
            let mut out = Vec::new();
            self.stage.handle_incoming(now, &mut packet, &mut out);
            assert_eq!(out.len(), 1);
            self.advance(now);
            packet
        }
    }

    #[test]
    fn a_destination_reports_at_once_when_something_changes_and_else_at_times() {
        use Indicator::{Max, Min};
        use Mode::{BestEffort, Reserved};
        let mut there = Destination::new();
        let packet = there.receive(ms(5000), Reserved, Part::Base, Max);
        assert_eq!((packet.service, packet.bytes), (None, 1000 - OPTION_BYTES), "the option is taken off");
        there.receive(ms(5050), BestEffort, Part::Enhanced, Max);
        there.receive(ms(5060), Reserved, Part::Base, Min);
        there.receive(ms(5300), Reserved, Part::Base, Min);
        there.receive(ms(5500), BestEffort, Part::Base, Max);
        there.receive(ms(5700), BestEffort, Part::Base, Max);
        // Nothing comes, and nothing is said, but what is due from before.
        there.advance(ms(60_000));
        let wanted = [
            (ms(5000), Level::Max),
            // Not sooner than 100 ms after the last.
            (ms(5100), Level::Min),
            (ms(5500), Level::BestEffort),
            (ms(6700), Level::BestEffort),
        ];
        assert_eq!(there.reports, wanted);
    }

    fn report(to: &mut Insignia, level: Level) {
        let payload = Payload::Insignia(FlowId(0), Report { level });
        let mut packet = Packet::control(Time::ZERO, NodeId(3), NodeId(0), 64, 36, payload);
        to.handle_incoming(Time::ZERO, &mut packet, &mut Vec::new());
    }

    #[test]
    fn a_source_scales_down_and_up_step_by_step_unless_it_shall_not() {
        // After each report: what base and what enhanced packets say.
        let steps = |adaptation: Adaptation| {
            let params = InsigniaParams { adaptation, ..InsigniaParams::default() };
            let own = vec![asking(0, 60, 20)];
            let mut source = Insignia::new(NodeId(0), &params, 2e6, 36, own);
            [Level::Max, Level::Min, Level::BestEffort, Level::Min, Level::Max].map(|level| {
                report(&mut source, level);
                let mut of = |part| source.own[0].service(ms(0), 1000, Some(part));
                let (base, enhanced) = (of(Part::Base), of(Part::Enhanced));
                assert!(base.is_reserved());
                (base.indicator, enhanced.is_reserved())
            })
        };
        use Indicator::{Max, Min};
        let scaled = [(Max, true), (Max, false), (Min, false), (Max, false), (Max, true)];
        assert_eq!(steps(Adaptation::Scale), scaled);
        assert_eq!(steps(Adaptation::None), [(Max, true); 5]);
    }

    #[test]
    fn a_crash_forgets_reservations_and_reports() {
        let mut source = node(0, 100, &[asking(0, 60, 20)]);
        report(&mut source, Level::BestEffort);
        pass(&mut source, ms(0), packet(0));
        assert_eq!(source.sum_kbps(), 20);
        source.handle_crash(&mut Vec::new());
        assert_eq!((source.sum_kbps(), source.next_timeout()), (0, Time::NEVER));
        pass(&mut source, ms(1), packet(0));
        assert_eq!(source.sum_kbps(), 60);
    }

    #[test]
    fn other_flows_and_the_other_direction_have_no_option() {
        let mut source = node(0, 100, &[asking(0, 60, 60)]);
        assert_eq!(pass(&mut source, ms(0), packet(1)), packet(1));
        let mut back = node(3, 100, &[asking(0, 60, 60)]);
        let ack = Packet { src: NodeId(3), dst: NodeId(0), ..packet(0) };
        assert_eq!(pass(&mut back, ms(0), ack.clone()), ack);
    }

    proptest! {
        #[test]
        fn reservations_never_exceed_the_limit(
            limit_kbps in 0u32..300,
            rates in prop::collection::vec((1u16..200, 1u16..200), 5),
            steps in prop::collection::vec((0u32..5, any::<bool>(), any::<bool>(), 0usize..50, 0u64..900), 1..80),
        ) {
            let mut node = node(1, limit_kbps, &[]);
            let mut now = Time::ZERO;
            for (flow, is_max, is_base, waiting, gap_ms) in steps {
                now += Span::from_millis(gap_ms);
                node.handle_timeout(now, &mut Vec::new());
                node.see_queue(waiting);
                let (one, other) = rates[flow as usize];
                let mut packet = packet(flow);
                packet.put_service(Service {
                    mode: Mode::Reserved,
                    part: if is_base { Part::Base } else { Part::Enhanced },
                    indicator: if is_max { Indicator::Max } else { Indicator::Min },
                    max_kbps: one.max(other),
                    min_kbps: one.min(other),
                });
                pass(&mut node, now, packet);
                prop_assert!(node.sum_kbps() <= u64::from(limit_kbps));
                prop_assert!(node.next_timeout() > now);
            }
        }
    }
}
