//! Two ends and a pipe: one flow on a virtual clock, without a network.
//!
//! A [`Pair`] carries out a flow's actions: a packet goes into the pipe and reaches the other end after a
//! delay, unless the test's script says otherwise ([`Fault`]); everything else is written down. What happens
//! at one instant happens in this order: the warm-up ends, packets arrive in the order of sending, timers
//! fire in the order of the contract.

use std::collections::{BTreeMap, BTreeSet};

use super::{End, Flow, FlowAction, FlowReport, Snapshot, build};
use crate::kernel::{Span, Time};
use crate::mobility::Trajectory;
use crate::observe::{FlowMeasures, Meter, RunningCounts};
use crate::profile::profile;
use crate::routing::Notice;
use crate::scenario::{Flow as FlowSpec, FlowKind, RoutingKind, Scenario};
use crate::transport::tcp::Judgement;
use crate::wire::{Ecn, FlowId, NodeId, Packet, Payload};

pub(super) const MS: u64 = 1_000_000;

pub(super) fn ms(millis: u64) -> Time {
    Time(millis * MS)
}

/// What the pipe does to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    Lose,
    /// It takes this much longer, in ms, so that others overtake it.
    Delay(u64),
    /// A second copy arrives this much later, in ms.
    Copy(u64),
    /// A queue marks it for congestion.
    Mark,
}

/// See the module's head.
pub(super) struct Pair {
    pub(super) flow: Box<dyn Flow>,
    pub(super) meter: Meter,
    pub(super) now: Time,
    /// What happened: time in ms, end, and what it did.
    pub(super) story: Vec<String>,
    /// Invariants that did not hold.
    pub(super) broken: Vec<&'static str>,
    delay: Span,
    warmup: Option<Time>,
    under_way: BTreeMap<(Time, u64), Packet>,
    /// Packets made so far; the number of each is its order.
    made: u64,
    delivered: BTreeSet<u64>,
    /// For the nth packet of a name, counted from zero.
    script: Vec<(&'static str, usize, Fault)>,
    of_name: BTreeMap<&'static str, usize>,
}

impl Pair {
    /// A flow of this kind from 1 s on, in a pipe with a delay of 50 ms, with the standards' parameters.
    pub(super) fn new(kind: FlowKind) -> Pair {
        Pair::with(kind, None, |_| {})
    }

    /// The same, which stops at `stop_s`, with a changed scenario.
    pub(super) fn with(kind: FlowKind, stop_s: Option<f64>, change: impl FnOnce(&mut Scenario)) -> Pair {
        let mut scenario = scenario_of(kind);
        scenario.flows[0].stop_s = stop_s;
        change(&mut scenario);
        let id = FlowId(0);
        let flow = build::make(&scenario, id);
        let mut meter = Meter::new(&scenario, false);
        if flow.has_outages() {
            meter.outages.add(id, NodeId(0), NodeId(1), ms(1000));
        }
        Pair {
            flow,
            meter,
            now: Time::ZERO,
            story: Vec::new(),
            broken: Vec::new(),
            delay: Span::from_millis(50),
            warmup: Some(Time::from_secs(scenario.warmup_s)),
            under_way: BTreeMap::new(),
            made: 0,
            delivered: BTreeSet::new(),
            script: Vec::new(),
            of_name: BTreeMap::new(),
        }
    }

    /// The pipe does this to the nth packet of a name, counted from zero.
    pub(super) fn fault(mut self, name: &'static str, nth: usize, fault: Fault) -> Pair {
        self.script.push((name, nth, fault));
        self
    }

    /// The pipe does this to the packets of a name from the nth to before the mth.
    pub(super) fn faults(mut self, name: &'static str, which: std::ops::Range<usize>, fault: Fault) -> Pair {
        self.script.extend(which.map(|nth| (name, nth, fault)));
        self
    }

    /// Lets all happen that happens up to `end_ms`.
    pub(super) fn run(&mut self, end_ms: u64) -> &mut Pair {
        while self.next_event() <= ms(end_ms) {
            self.step();
        }
        self.now = ms(end_ms);
        self
    }

    /// Lets one thing happen; there must be one.
    pub(super) fn step(&mut self) {
        let now = self.next_event();
        assert!(now >= self.now && now < Time::NEVER, "time stands still or runs backwards");
        self.now = now;
        if self.warmup.is_some_and(|warmup| warmup <= now) {
            self.warmup = None;
            self.flow.handle_warmup_end();
        } else if self.under_way.first_key_value().is_some_and(|(&(due, _), _)| due == now) {
            self.deliver();
        } else {
            let due = |timer: &&_| self.flow.next_timeout(**timer) <= now;
            let timer = *self.flow.timers().iter().find(due).expect("a timer is due");
            self.call(|flow, now, actions| flow.handle_timeout(now, timer, actions));
        }
    }

    /// When something happens next; never, if nothing does.
    pub(super) fn next_event(&self) -> Time {
        let arrival = self.under_way.keys().next().map_or(Time::NEVER, |key| key.0);
        let timers = self.flow.timers().iter().map(|&timer| self.flow.next_timeout(timer));
        timers.fold(arrival.min(self.warmup.unwrap_or(Time::NEVER)), Time::min)
    }

    /// Routing at one end tells the flow something.
    pub(super) fn notify(&mut self, at: End, notice: Notice) -> &mut Pair {
        self.call(|flow, now, actions| flow.handle_notice(now, at, notice, actions));
        self
    }

    /// The route breaks: what is under way is lost.
    pub(super) fn cut(&mut self) -> &mut Pair {
        self.under_way.clear();
        self
    }

    /// What the flow asks for when this arrives out of nowhere.
    pub(super) fn hear(&mut self, payload: Payload) -> Vec<FlowAction> {
        let mut actions = Vec::new();
        let packet = Packet::control(self.now, NodeId(0), NodeId(1), 64, 100, payload);
        self.flow.handle_packet(self.now, &packet, true, &mut actions);
        actions
    }

    /// Time in ms and length of the packets of this name that were sent.
    pub(super) fn sent(&self, name: &str) -> Vec<(u64, u32)> {
        let of_name = |line: &String| {
            let words: Vec<&str> = line.split(' ').collect();
            let [time, _, "sends", what, bytes] = words[..] else { return None };
            (what == name).then(|| (time.parse().expect("a time"), bytes.parse().expect("a length")))
        };
        self.story.iter().filter_map(of_name).collect()
    }

    /// The lines of the story with one of these words.
    pub(super) fn lines(&self, words: &[&str]) -> Vec<&str> {
        let has = |line: &&str| line.split(' ').any(|word| words.contains(&word));
        self.story.iter().map(String::as_str).filter(has).collect()
    }

    /// What the flow would report if the run ended now.
    pub(super) fn report(&self) -> FlowReport {
        self.flow.report(&self.meter, self.now)
    }

    pub(super) fn measures(&self) -> FlowMeasures {
        self.report().measures
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.flow.snapshot(&mut RunningCounts::default())
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn Flow, Time, &mut Vec<FlowAction>)) {
        let mut actions = Vec::new();
        call(self.flow.as_mut(), self.now, &mut actions);
        for action in actions {
            self.carry_out(action);
        }
    }

    fn carry_out(&mut self, action: FlowAction) {
        match action {
            FlowAction::Send { from, bytes, payload, ecn } => self.send(from, bytes, payload, ecn),
            FlowAction::Opened { at, two_way } => self.write_down(at, &format!("opens {}", ways(two_way))),
            FlowAction::Closed { at, two_way } => self.write_down(at, &format!("closes {}", ways(two_way))),
            FlowAction::RetransmissionTimeout { at, rto } => {
                self.write_down(at, &format!("tells a timeout of {} ms", rto.0 / MS));
            }
            FlowAction::Window { .. } => {}
            FlowAction::Judged { judgement: Judgement { number, is_congestion }, .. } => {
                let cause = if is_congestion { "congestion" } else { "the radio" };
                self.story.push(format!("{} {cause} is blamed for {number}", self.now.0 / MS));
            }
            FlowAction::Count(event) => self.meter.count(self.now, FlowId(0), event),
            FlowAction::Broken(what) => self.broken.push(what),
        }
    }

    fn send(&mut self, from: End, bytes: u32, payload: Payload, ecn: Ecn) {
        let (src, dst) = match from {
            End::Source => (NodeId(0), NodeId(1)),
            End::Destination => (NodeId(1), NodeId(0)),
        };
        let mut packet = Packet::control(self.now, src, dst, 64, bytes, payload);
        (packet.uid, packet.ecn) = (self.made, ecn);
        let name = packet.name();
        self.write_down(from, &format!("sends {name} {bytes}"));
        self.made += 1;
        let nth = self.of_name.entry(name).or_default();
        let is_this = |(of, which, _): &&(&str, usize, Fault)| (*of, *which) == (name, *nth);
        let fault = self.script.iter().find(is_this).map(|(_, _, fault)| *fault);
        *nth += 1;
        let due = self.now + self.delay;
        match fault {
            None => self.put(due, packet),
            Some(Fault::Lose) => {}
            Some(Fault::Delay(by)) => self.put(due + Span::from_millis(by), packet),
            Some(Fault::Copy(after)) => {
                self.put(due + Span::from_millis(after), packet.clone());
                self.put(due, packet);
            }
            Some(Fault::Mark) => {
                assert_eq!(ecn, Ecn::Ect, "{name} {nth} may not be marked");
                packet.ecn = Ecn::Ce;
                self.put(due, packet);
            }
        }
    }

    fn put(&mut self, due: Time, packet: Packet) {
        self.under_way.insert((due, packet.uid), packet);
    }

    fn deliver(&mut self) {
        let (_, mut packet) = self.under_way.pop_first().expect("a packet arrives");
        packet.hops = 1;
        let at = if packet.dst == NodeId(0) { End::Source } else { End::Destination };
        if !self.flow.expects(&packet.payload) {
            self.write_down(at, &format!("refuses {}", packet.name()));
            return;
        }
        let is_first = self.delivered.insert(packet.uid);
        self.call(|flow, now, actions| flow.handle_packet(now, &packet, is_first, actions));
    }

    fn write_down(&mut self, at: End, what: &str) {
        let name = if at == End::Source { "source" } else { "destination" };
        self.story.push(format!("{} {name} {what}", self.now.0 / MS));
    }
}

fn ways(two_way: bool) -> &'static str {
    if two_way { "two-way" } else { "one-way" }
}

/// A flow of this kind from exactly 1 s on, with the standards' parameters.
pub(super) fn scenario_of(kind: FlowKind) -> Scenario {
    let mut params = profile("rfc").expect("the profile exists");
    params.network.start_jitter_ms = 0.0;
    let flow = FlowSpec {
        src: 0,
        dst: 1,
        start_s: 1.0,
        stop_s: None,
        late_after_s: None,
        deadline_ms: None,
        throttle_bps: None,
        alone_bps: None,
        oracle_bps: None,
        reserve_bps: None,
        reserve_min_bps: None,
        kind,
    };
    Scenario {
        duration_s: 100.0,
        warmup_s: 0.0,
        seed: 1,
        replication: 0,
        routing: RoutingKind::Static,
        params,
        flows: vec![flow],
        rates: Vec::new(),
        radios: Vec::new(),
        walls: Vec::new(),
        energy: None,
        wired: Vec::new(),
        movement: vec![Trajectory::fixed(0.0, 0.0), Trajectory::fixed(100.0, 0.0)],
    }
}
