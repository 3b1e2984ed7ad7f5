//! Ingress throttling (Osipov and Tschudin, *Ingress Throttling and its Applications in IEEE 802.11 Based
//! MANETs*, 2006, §II): a source sends the data of a flow no faster than the flow's rate.
//!
//! **Implemented.** The scheduler of §II.B.2: between the data packets of a flow pass Δ = MSS / r seconds,
//! with the payload of the packet that goes first as MSS. What must wait does so in a queue of the flow's
//! own. Rates may change with time.
//!
//! How the source learns of its rate: it is preset, as in the paper's own experiments (§III), or an oracle
//! says it, or nodes tell each other of the flows that they carry (`density.rs`).
//!
//! **Deviations**: docs/models/throttling.md.

use std::collections::VecDeque;
use std::sync::Arc;

use super::density::Density;
use super::params::{ThrottleMode, ThrottleParams};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::wire::density::{Announcement, FlowKey};
use crate::wire::tcp::Segment;
use crate::wire::{FlowId, IP_HEADER_BYTES, NodeId, Packet, Payload, adp, psp};

/// The rates of one flow, bit/s of payload, each from a time on; in order of time, and all above zero.
pub type Rates = Vec<(Time, f64)>;

/// What is known of a flow that begins at a node.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnFlow {
    /// The flow.
    pub flow: FlowId,
    /// Its destination.
    pub dst: NodeId,
    /// Its rates, if they are known before the run.
    pub rates: Option<Rates>,
    /// What it carries alone over one hop, two, …, bit/s of payload; nothing if that is not known.
    pub alone_bps: Vec<f64>,
}

/// A flow that begins at this node.
struct Throttled {
    flow: FlowId,
    dst: NodeId,
    rates: Rates,
    /// What it carries alone, if its rate follows from that.
    alone_bps: Vec<f64>,
    /// Bits that must be waited for before the next packet goes, and from when on.
    owed: (Time, f64),
    /// From when on the next packet may go.
    free_at: Time,
    waiting: VecDeque<Packet>,
}

/// What a throttle asks of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum ThrottleAction {
    /// Routing shall find a way for this packet from here.
    Route(Packet),
    /// The packet finds its flow's queue full.
    Drop(Packet, DropReason),
    /// Send this to all neighbours in a packet of its own.
    Announce(Arc<Announcement>),
    /// A flow of this node has another rate from now on.
    Rate {
        /// The flow.
        flow: FlowId,
        /// Length of its path.
        hops: u8,
        /// Its share.
        share: f64,
        /// The rate, bit/s of payload.
        rate_bps: f64,
    },
}

/// What throttles the flows of one node. See the module's head, and for the contract that of
/// [`stage`](super). Calls come in order of time.
pub struct Throttle {
    limit: usize,
    /// `throttle.rate_applies_at_once`.
    at_once: bool,
    udp_header_bytes: u32,
    flows: Vec<Throttled>,
    node: NodeId,
    density: Option<Density>,
}

impl Throttle {
    /// The throttle of a node with these own flows; other flows are left alone.
    pub fn new(
        node: NodeId,
        params: &ThrottleParams,
        udp_header_bytes: u32,
        flows: Vec<OwnFlow>,
        stream: Stream,
    ) -> Throttle {
        let throttled = |own: OwnFlow| Throttled {
            flow: own.flow,
            dst: own.dst,
            alone_bps: if own.rates.is_none() { own.alone_bps } else { Vec::new() },
            rates: own.rates.unwrap_or_default(),
            owed: (Time::ZERO, 0.0),
            free_at: Time::ZERO,
            waiting: VecDeque::new(),
        };
        let spreads = params.mode == ThrottleMode::Density;
        Throttle {
            limit: params.queue_packets as usize,
            at_once: params.rate_applies_at_once,
            udp_header_bytes,
            flows: flows.into_iter().map(throttled).collect(),
            node,
            density: spreads.then(|| Density::new(node, params, stream)),
        }
    }

    /// An endpoint at this node has made a packet. Returns it if it shall go to routing now.
    pub fn handle_made(
        &mut self,
        now: Time,
        packet: Packet,
        out: &mut Vec<ThrottleAction>,
    ) -> Option<Packet> {
        let Some(bits) = self.data_bits(&packet) else { return Some(packet) };
        let limit = self.limit;
        let id = packet.flow();
        let Some(flow) = self.flows.iter_mut().find(|flow| Some(flow.flow) == id) else {
            return Some(packet);
        };
        if flow.waiting.is_empty() && flow.free_at <= now {
            flow.pass(now, bits, self.at_once);
            return Some(packet);
        }
        if flow.waiting.len() < limit {
            flow.waiting.push_back(packet);
        } else {
            out.push(ThrottleAction::Drop(packet, DropReason::ThrottleFull));
        }
        None
    }

    /// A packet of a flow, on its way from the flow's source to its destination, goes to a neighbour, or to
    /// all.
    pub fn handle_sent(&mut self, now: Time, flow: FlowKey, to: NodeId, out: &mut Vec<ThrottleAction>) {
        self.with_density(now, out, |density| -> Option<()> {
            density.handle_sent(now, flow, to);
            None
        });
    }

    /// A packet of a flow, on its way from the flow's source to its destination, came from a neighbour.
    pub fn handle_received(&mut self, now: Time, flow: FlowKey, from: NodeId, out: &mut Vec<ThrottleAction>) {
        self.with_density(now, out, |density| -> Option<()> {
            density.handle_received(now, flow, from);
            None
        });
    }

    /// A neighbour has announced its flows.
    pub fn handle_announcement(
        &mut self,
        now: Time,
        from: NodeId,
        announcement: &Arc<Announcement>,
        out: &mut Vec<ThrottleAction>,
    ) {
        self.with_density(now, out, |density| -> Option<()> {
            density.handle_announcement(now, from, Arc::clone(announcement));
            None
        });
    }

    /// A message of the routing protocol goes to all neighbours. Returns what shall go with it.
    pub fn handle_broadcast(
        &mut self,
        now: Time,
        out: &mut Vec<ThrottleAction>,
    ) -> Option<Arc<Announcement>> {
        self.with_density(now, out, |density| density.ride(now))
    }

    /// The deadline of [`Throttle::next_timeout`] has come: announcements first, then what has waited.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<ThrottleAction>) {
        if self.density.as_ref().is_some_and(|density| density.next_timeout() <= now)
            && let Some(announcement) = self.with_density(now, out, |density| density.handle_timeout(now))
        {
            out.push(ThrottleAction::Announce(announcement));
        }
        for at in 0..self.flows.len() {
            while self.flows[at].free_at <= now
                && let Some(packet) = self.flows[at].waiting.pop_front()
            {
                let bits = self.data_bits(&packet).unwrap_or_default();
                self.flows[at].pass(now, bits, self.at_once);
                out.push(ThrottleAction::Route(packet));
            }
        }
    }

    /// When it next wants to be woken; [`Time::NEVER`] if it does not.
    pub fn next_timeout(&self) -> Time {
        let busy = self.flows.iter().filter(|flow| !flow.waiting.is_empty());
        let spread = self.density.as_ref().map_or(Time::NEVER, Density::next_timeout);
        busy.map(|flow| flow.free_at).min().unwrap_or(Time::NEVER).min(spread)
    }

    /// Calls `visit` for every packet that waits, flow by flow in order of time.
    pub fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.flows.iter().flat_map(|flow| &flow.waiting).for_each(visit);
    }

    /// Calls the protocol that spreads shares, and throttles to what it has learned.
    fn with_density<T>(
        &mut self,
        now: Time,
        out: &mut Vec<ThrottleAction>,
        call: impl FnOnce(&mut Density) -> Option<T>,
    ) -> Option<T> {
        let density = self.density.as_mut()?;
        let answer = call(density);
        for flow in self.flows.iter_mut().filter(|flow| !flow.alone_bps.is_empty()) {
            let key = FlowKey { src: self.node, dst: flow.dst, flow: flow.flow };
            // A source whose path is not known any more keeps to the rate that it had.
            let Some(entry) = density.entry(key) else { continue };
            let Some(way) = entry.downstream else { continue };
            let hops = usize::from(way.hops.max(1));
            let share = f64::from(entry.bound().share);
            let rate_bps = share * flow.alone_bps[hops.min(flow.alone_bps.len()) - 1];
            if flow.rates.last().is_none_or(|&(_, held_bps)| held_bps.to_bits() != rate_bps.to_bits()) {
                flow.set_rate(now, rate_bps, self.at_once);
                out.push(ThrottleAction::Rate { flow: flow.flow, hops: way.hops, share, rate_bps });
            }
        }
        answer
    }

    /// The bits of data in a packet; none if it is not data from the source.
    fn data_bits(&self, packet: &Packet) -> Option<u64> {
        let bytes = match &packet.payload {
            Payload::Tcp(_, Segment::Data { payload, .. }) => *payload,
            Payload::Datagram(_, datagram) => datagram.payload,
            Payload::Adp(_, adp::Segment::Data { payload, .. }, _)
            | Payload::Psp(_, psp::Segment::Data { payload, .. }) => *payload,
            Payload::Udp(..) => packet.bytes.saturating_sub(IP_HEADER_BYTES + self.udp_header_bytes),
            _ => return None,
        };
        // A SYN carries no data.
        (bytes > 0).then_some(u64::from(bytes) * 8)
    }
}

impl Throttled {
    /// A packet with so many bits goes now: when the next one may.
    fn pass(&mut self, now: Time, bits: u64, at_once: bool) {
        self.owed = (now, bits as f64);
        self.free_at = self.paid_at(at_once);
    }

    /// A rate is learned, in place of all others.
    fn set_rate(&mut self, now: Time, rate_bps: f64, at_once: bool) {
        if at_once && self.free_at > now {
            let (since, bits) = self.owed;
            let paid = self.rate_at(since).map_or(0.0, |at| self.rates[at].1 * now.since(since).as_secs());
            self.owed = (now, (bits - paid).max(0.0));
        }
        self.rates = vec![(now, rate_bps)];
        if at_once && self.free_at > now {
            self.free_at = self.paid_at(at_once);
        }
    }

    /// When what is owed has been waited for (eq. 1, with each rate while it holds).
    fn paid_at(&self, at_once: bool) -> Time {
        let (mut since, mut bits) = self.owed;
        // Before its first rate a flow is not throttled.
        let Some(first) = self.rate_at(since) else { return since };
        let mut paid = since + Span::from_secs(bits / self.rates[first].1);
        for at in first + 1..if at_once { self.rates.len() } else { 0 } {
            let (from, rate_bps) = self.rates[at];
            if paid <= from {
                break;
            }
            bits = (bits - self.rates[at - 1].1 * from.since(since).as_secs()).max(0.0);
            since = from;
            paid = since + Span::from_secs(bits / rate_bps);
        }
        paid
    }

    /// The place of the rate that holds at a time.
    fn rate_at(&self, time: Time) -> Option<usize> {
        self.rates.partition_point(|&(from, _)| from <= time).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};
    use crate::wire::density::{Bound, Downstream, Entry};
    use crate::wire::tcp::{AckSigns, SackBlocks};
    use crate::wire::{ConnectionId, NodeId};
    use proptest::prelude::*;

    const FLOW: FlowId = FlowId(4);

    fn ms(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    fn packet(flow: FlowId, uid: u64, segment: Segment) -> Packet {
        let payload = Payload::Tcp(ConnectionId { flow, number: 0 }, segment);
        Packet { uid, ..Packet::control(Time::ZERO, NodeId(0), NodeId(3), 30, 640, payload) }
    }

    fn data(uid: u64, payload: u32) -> Packet {
        let segment = Segment::Data {
            number: uid as u32,
            payload,
            sent: Time::ZERO,
            retransmission: false,
            cwr: false,
        };
        packet(FLOW, uid, segment)
    }

    fn own(rates: Option<Rates>, alone_bps: &[f64]) -> OwnFlow {
        OwnFlow { flow: FLOW, dst: NodeId(3), rates, alone_bps: alone_bps.to_vec() }
    }

    fn throttle(params: &ThrottleParams, flows: Vec<OwnFlow>) -> Throttle {
        let stream = Streams::new(1, 0).stream(0, Purpose::Shares);
        Throttle::new(NodeId(0), params, 8, flows, stream)
    }

    /// A source and its clock.
    struct Source {
        throttle: Throttle,
        /// What went to routing: when, and which.
        went: Vec<(Time, u64)>,
        dropped: Vec<u64>,
    }

    impl Source {
        fn new(limit: u32, rates: &[(u64, f64)]) -> Source {
            Source::with(&ThrottleParams { queue_packets: limit, ..ThrottleParams::default() }, rates)
        }

        fn with(params: &ThrottleParams, rates: &[(u64, f64)]) -> Source {
            let rates = rates.iter().map(|&(from_ms, bps)| (ms(from_ms), bps)).collect();
            let throttle = throttle(params, vec![own(Some(rates), &[])]);
            Source { throttle, went: Vec::new(), dropped: Vec::new() }
        }

        /// Lets everything happen that is due before `now`, or at it.
        fn advance(&mut self, now: Time) {
            while self.throttle.next_timeout() <= now {
                let due = self.throttle.next_timeout();
                let mut out = Vec::new();
                self.throttle.handle_timeout(due, &mut out);
                assert!(!out.is_empty(), "a timeout for nothing");
                for action in out {
                    match action {
                        ThrottleAction::Route(packet) => self.went.push((due, packet.uid)),
                        other => panic!("{other:?}"),
                    }
                }
            }
        }

        fn make(&mut self, now: Time, packet: Packet) {
            self.advance(now);
            let uid = packet.uid;
            let mut out = Vec::new();
            match (self.throttle.handle_made(now, packet, &mut out), out.pop()) {
                (Some(passed), None) => self.went.push((now, passed.uid)),
                (None, None) => {}
                (None, Some(ThrottleAction::Drop(packet, DropReason::ThrottleFull))) => {
                    assert_eq!(packet.uid, uid, "the newest is dropped");
                    self.dropped.push(uid);
                }
                other => panic!("{other:?}"),
            }
        }

        fn waiting(&self) -> Vec<u64> {
            let mut uids = Vec::new();
            self.throttle.kept(&mut |packet| uids.push(packet.uid));
            uids
        }
    }

    #[test]
    fn packets_that_come_together_go_one_mss_over_the_rate_apart() {
        // 600 bytes at 36 kb/s: 133.333… ms, as in the paper's equation.
        let mut source = Source::new(50, &[(0, 36_000.0)]);
        for uid in 0..4 {
            source.make(ms(10), data(uid, 600));
        }
        assert_eq!(source.went, [(ms(10), 0)]);
        assert_eq!(source.waiting(), [1, 2, 3]);
        source.advance(ms(1000));
        let gap = Span::from_secs(4800.0 / 36_000.0);
        let first = ms(10);
        assert_eq!(
            source.went,
            [(first, 0), (first + gap, 1), (first + gap + gap, 2), (first + gap + gap + gap, 3)]
        );
        assert_eq!(source.throttle.next_timeout(), Time::NEVER);
    }

    #[test]
    fn a_source_that_is_slower_than_its_rate_is_not_delayed() {
        let mut source = Source::new(50, &[(0, 48_000.0)]);
        for uid in 0..5 {
            source.make(ms(100 * uid), data(uid, 600));
        }
        assert_eq!(source.went, [0, 1, 2, 3, 4].map(|uid| (ms(100 * uid), uid)));
        // A silence earns no burst: the next but one waits.
        source.make(ms(5000), data(5, 600));
        source.make(ms(5000), data(6, 600));
        source.advance(ms(9000));
        assert_eq!(source.went[5..], [(ms(5000), 5), (ms(5100), 6)]);
    }

    #[test]
    fn a_packets_own_length_keeps_the_next_one_away() {
        let mut source = Source::new(50, &[(0, 8_000.0)]);
        for (uid, bytes) in [(0, 100), (1, 300), (2, 50)] {
            source.make(ms(0), data(uid, bytes));
        }
        source.advance(ms(1000));
        assert_eq!(source.went, [(ms(0), 0), (ms(100), 1), (ms(400), 2)]);
    }

    #[test]
    fn a_new_rate_applies_at_once_or_from_the_next_packet_on() {
        let at_once =
            [(ms(900), 0), (ms(900), 1), (ms(1000), 2), (ms(1100), 3), (ms(1250), 4), (ms(1450), 5)];
        let later = [(ms(900), 0), (ms(900), 1), (ms(1000), 2), (ms(1100), 3), (ms(1200), 4), (ms(1400), 5)];
        assert_eq!(with_two_rates(true), at_once);
        assert_eq!(with_two_rates(false), later);
    }

    fn with_two_rates(rate_applies_at_once: bool) -> Vec<(Time, u64)> {
        let params = ThrottleParams { rate_applies_at_once, ..ThrottleParams::default() };
        let mut source = Source::with(&params, &[(1000, 48_000.0), (1150, 24_000.0)]);
        // Not throttled before the first rate.
        source.make(ms(900), data(0, 600));
        source.make(ms(900), data(1, 600));
        for uid in 2..6 {
            source.make(ms(1000), data(uid, 600));
        }
        source.advance(ms(9000));
        source.went
    }

    /// At 100 bit/s a packet of 600 bytes keeps the next one away for 48 s, unless a better rate comes.
    #[test]
    fn nobody_waits_for_a_rate_that_is_over() {
        let mut source = Source::new(50, &[(0, 100.0), (10_000, 1e6)]);
        for uid in 0..3 {
            source.make(ms(0), data(uid, 600));
        }
        source.advance(ms(60_000));
        let second = ms(10_000) + Span::from_secs((4800.0 - 1000.0) / 1e6);
        assert_eq!(source.went, [(ms(0), 0), (second, 1), (second + Span::from_secs(4800.0 / 1e6), 2)]);
    }

    #[test]
    fn a_learned_rate_shortens_the_wait_for_the_old_one() {
        for (at_once, went_ms) in [(true, 150), (false, 1000)] {
            let mut flow = Throttled {
                flow: FLOW,
                dst: NodeId(3),
                rates: vec![(ms(0), 4800.0)],
                alone_bps: Vec::new(),
                owed: (Time::ZERO, 0.0),
                free_at: Time::ZERO,
                waiting: VecDeque::new(),
            };
            flow.pass(ms(0), 4800, at_once);
            assert_eq!(flow.free_at, ms(1000));
            // A tenth has been waited for; nine tenths are left.
            flow.set_rate(ms(100), 86_400.0, at_once);
            assert_eq!(flow.free_at, ms(went_ms), "{at_once}");
        }
    }

    #[test]
    fn the_queue_drops_what_comes_when_it_is_full() {
        let mut source = Source::new(2, &[(0, 48_000.0)]);
        for uid in 0..5 {
            source.make(ms(0), data(uid, 600));
        }
        assert_eq!((source.waiting(), source.dropped.clone()), (vec![1, 2], vec![3, 4]));
        source.make(ms(100), data(5, 600));
        assert_eq!(source.waiting(), [2, 5]);
    }

    #[test]
    fn acks_the_syn_and_other_flows_pass() {
        let mut source = Source::new(1, &[(0, 8.0)]);
        source.make(ms(0), data(0, 600));
        source.make(ms(0), data(1, 600));
        let ack = Segment::Ack { next: 7, sack: SackBlocks::new(), signs: AckSigns::default() };
        source.make(ms(1), packet(FLOW, 2, ack));
        source.make(ms(2), data(3, 0));
        let other = data(4, 600);
        let Payload::Tcp(_, segment) = other.payload.clone() else { panic!("a segment") };
        source.make(ms(3), packet(FlowId(5), 4, segment));
        assert_eq!(source.went, [(ms(0), 0), (ms(1), 2), (ms(2), 3), (ms(3), 4)]);
        assert_eq!(source.waiting(), [1]);
    }

    /// Node 0 sends to node 3 through node 1, over a path of three hops.
    #[test]
    fn a_source_keeps_to_its_share_of_what_its_path_carries_alone() {
        let density = ThrottleParams { mode: ThrottleMode::Density, ..ThrottleParams::default() };
        let mut source = throttle(&density, vec![own(None, &[90e3, 60e3])]);
        let mut out = Vec::new();
        assert!(source.handle_made(ms(0), data(0, 600), &mut out).is_some());
        let key = FlowKey { src: NodeId(0), dst: NodeId(3), flow: FLOW };
        source.handle_sent(ms(0), key, NodeId(1), &mut out);
        assert!(source.handle_made(ms(1), data(1, 600), &mut out).is_some(), "no rate is known yet");
        let announced = |hops| {
            let downstream = Some(Downstream { hops, bound: Bound { share: 0.5, centre: NodeId(2) } });
            let entry = Entry { key, upstream: Bound { share: 1.0, centre: NodeId(0) }, downstream };
            Arc::new(Announcement { share: 0.5, flows: vec![entry], has_bounds: true })
        };
        source.handle_announcement(ms(2), NodeId(1), &announced(2), &mut out);
        // Longer paths have the last of what is known.
        let learned = ThrottleAction::Rate { flow: FLOW, hops: 3, share: 0.5, rate_bps: 30e3 };
        assert_eq!(out, [learned]);
        out.clear();
        source.handle_announcement(ms(3), NodeId(1), &announced(2), &mut out);
        assert_eq!(out, [], "nothing is new");
        assert!(source.handle_made(ms(4), data(2, 600), &mut out).is_some());
        assert!(source.handle_made(ms(5), data(3, 600), &mut out).is_none());
        // Its path is known no more; it keeps its rate.
        source.handle_sent(ms(6), key, NodeId(2), &mut out);
        let mut went = Vec::new();
        while went.is_empty() {
            let due = source.next_timeout();
            source.handle_timeout(due, &mut out);
            went.extend(
                out.drain(..).filter(|action| matches!(action, ThrottleAction::Route(_))).map(|_| due),
            );
        }
        assert_eq!(went, [ms(4 + 160)]);
    }

    #[test]
    fn payload_is_counted_without_headers() {
        let throttle = throttle(&ThrottleParams::default(), Vec::new());
        let cbr = Packet::control(Time::ZERO, NodeId(0), NodeId(1), 30, 528, Payload::Udp(FLOW, 0));
        assert_eq!(throttle.data_bits(&cbr), Some(4000));
        assert_eq!(throttle.data_bits(&data(0, 600)), Some(4800));
        let report = Packet { payload: Payload::Nothing, ..cbr };
        assert_eq!(throttle.data_bits(&report), None);
    }

    #[test]
    fn an_early_call_does_nothing() {
        let mut source = Source::new(9, &[(0, 48_000.0)]);
        source.make(ms(0), data(0, 600));
        source.make(ms(0), data(1, 600));
        let mut out = Vec::new();
        source.throttle.handle_timeout(Time(99_999_999), &mut out);
        assert_eq!((out.len(), source.throttle.next_timeout()), (0, ms(100)));
    }

    /// What the rates allow between two times, bits.
    fn bits_between(rates: &[(u64, f64)], from: Time, to: Time) -> f64 {
        let ends = rates.iter().skip(1).map(|&(from_ms, _)| ms(from_ms)).chain([Time::NEVER]);
        rates
            .iter()
            .zip(ends)
            .map(|(&(from_ms, bps), end)| {
                let (begins, ends) = (ms(from_ms).max(from), end.min(to));
                if begins < ends { bps * ends.since(begins).as_secs() } else { 0.0 }
            })
            .sum()
    }

    proptest! {
        #[test]
        fn no_packet_is_lost_overtaken_or_too_early(
            made in prop::collection::vec((0u64..300, 1u32..1500), 1..60),
            rates in prop::collection::vec((0u64..3000, 1e3..1e6f64), 1..5),
        ) {
            let mut rates = rates;
            rates.sort_by_key(|&(from_ms, _)| from_ms);
            let mut source = Source::new(5, &rates);
            let mut now = 0;
            for (uid, &(gap_ms, bytes)) in made.iter().enumerate() {
                now += gap_ms;
                source.make(ms(now), data(uid as u64, bytes));
            }
            prop_assert!(source.waiting().len() <= 5);
            source.advance(Time(u64::MAX / 2));
            prop_assert_eq!(source.went.len() + source.dropped.len(), made.len());
            for pair in source.went.windows(2) {
                let ((before, first), (after, second)) = (pair[0], pair[1]);
                prop_assert!(first < second);
                if ms(rates[0].0) <= before {
                    let bits = f64::from(made[first as usize].1) * 8.0;
                    prop_assert!(bits_between(&rates, before, after) >= bits * (1.0 - 1e-6) - 0.01);
                }
            }
        }
    }
}
