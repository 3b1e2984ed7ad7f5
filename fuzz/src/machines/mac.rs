//! One 802.11 station in a medium in which any frame may begin at any time.

use std::rc::Rc;

use manetlab_core::kernel::{Purpose, Span, Time};
use manetlab_core::mac::{Dcf, MacAction, MacParams, ReceiverRules, ShortWay, Signal, Timing};
use manetlab_core::radio::RadioParams;
use manetlab_core::wire::arp::ArpMessage;
use manetlab_core::wire::mac::{Body, Class, Frame, FrameKind, Rate};
use manetlab_core::wire::{FlowId, NodeId, Packet, Payload};

use super::input::{Input, ME};
use super::params;

/// Any order of calls to the DCF.
pub fn mac(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut params = params::of_a_profile(&mut input);
    params::vary(&mut input, MacParams::SCHEMA, &mut params.mac);
    params::vary(&mut input, RadioParams::SCHEMA, &mut params.radio);
    let stream = input.stream(Purpose::Mac);
    let Some(scenario) = params::scenario(params, None, None) else { return };
    let timing = Timing::new(&scenario.params.mac);
    let rules = ReceiverRules::new(&scenario.params.radio, &timing);
    let mut bench = Bench {
        way: ShortWay::new(&rules, &timing),
        mac: Dcf::new(ME, &timing, stream),
        timing,
        rules,
        now: Time::ZERO,
        heard: Vec::new(),
        last_bits: Vec::new(),
        on_air_until: Time::ZERO,
        given: 0,
        in_hand: None,
        may_send: true,
    };
    while !input.is_over() {
        bench.step(&mut input);
    }
}

struct Bench {
    timing: Timing,
    rules: ReceiverRules,
    way: ShortWay,
    mac: Dcf,
    now: Time,
    /// Frames that have begun to arrive, by number.
    heard: Vec<Frame>,
    /// When the last bits of frames on the air arrive, in order.
    last_bits: Vec<Time>,
    /// When the station's own last transmission ends.
    on_air_until: Time,
    given: u64,
    /// The number of the packet that the station has.
    in_hand: Option<u64>,
    may_send: bool,
}

impl Bench {
    fn step(&mut self, input: &mut Input<'_>) {
        match input.below(8) {
            // Most of what matters happens within a few slots.
            0 | 1 => self.pass(Span(u64::from(input.byte()) * 1000)),
            2 => self.pass(input.span()),
            3 => self.pass(self.mac.next_timeout(&self.timing).since(self.now).min(Span::from_millis(1000))),
            4 => self.send(input),
            5 => self.time_out_early(),
            _ => self.hear(input),
        }
        assert_eq!(self.mac.in_hand().map(number_of), self.in_hand);
        assert_eq!(self.mac.is_ready(), self.may_send);
    }

    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        let mut at_once = 0;
        loop {
            let last_bit = self.last_bits.first().copied().unwrap_or(Time::NEVER);
            let timeout = self.mac.next_timeout(&self.timing);
            let due = timeout.min(last_bit);
            assert!(due >= self.now, "woken at {due:?}, which is before {:?}", self.now);
            if due > until {
                break;
            }
            at_once = if due == self.now { at_once + 1 } else { 0 };
            assert!(at_once < 100 + self.last_bits.len(), "the station stands still at {due:?}");
            self.now = due;
            let mut out = Vec::new();
            if last_bit == due {
                self.last_bits.remove(0);
                let _ = self.mac.overheard(due);
                if let Some(number) = self.mac.received(due) {
                    let frame = self.heard[number as usize].clone();
                    self.mac.handle_received(due, &frame, &self.timing, &mut out);
                }
            } else {
                self.mac.handle_timeout(due, &self.timing, &mut out);
            }
            self.carry_out(out);
        }
        self.now = until;
    }

    /// What the contract asks to be done before anything else happens at this instant.
    fn settle(&mut self) {
        self.pass(Span::ZERO);
    }

    fn time_out_early(&mut self) {
        self.settle();
        let mut out = Vec::new();
        self.mac.handle_timeout(self.now, &self.timing, &mut out);
        assert!(out.is_empty(), "an early timeout does nothing, not {out:?}");
    }

    fn send(&mut self, input: &mut Input<'_>) {
        self.settle();
        let to = if input.once_in(3) { NodeId::BROADCAST } else { input.other() };
        let bytes = 20 + 10 * u32::from(input.byte());
        if !self.mac.is_ready() {
            return;
        }
        self.given += 1;
        let mut packet = Packet::control(self.now, ME, to, 1, bytes, Payload::Udp(FlowId(0), self.given));
        packet.uid = self.given;
        (self.in_hand, self.may_send) = (Some(self.given), false);
        let mut out = Vec::new();
        self.mac.handle_send(self.now, to, Body::Ip(packet), &self.timing, &mut out);
        self.carry_out(out);
    }

    fn hear(&mut self, input: &mut Input<'_>) {
        self.settle();
        let kind = input.pick(&[FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack]);
        let to = match input.below(4) {
            0 => input.other(),
            1 if kind == FrameKind::Data => NodeId::BROADCAST,
            _ => ME,
        };
        let from = input.other();
        let body = Body::Arp(ArpMessage::Reply { from, to: ME });
        let frame = Frame {
            kind,
            from,
            to,
            reserves: Span(u64::from(input.byte()) * 128_000),
            rate: Rate(input.below(self.timing.rates_bps().count() as u32) as u8),
            airtime: Span(1 + u64::from(input.byte()) * 50_000),
            bytes: 14 + 10 * u32::from(input.byte()),
            sequence: (input.number() & 0xfff) as u16,
            class: Class::Arp,
            body: (kind == FrameKind::Data).then(|| Rc::new(body)),
        };
        let receivable = !input.once_in(4);
        let distance_m = f64::from(input.byte()) * if receivable { 0.9 } else { 2.0 };
        let distance_m2 = distance_m * distance_m;
        let signal = Signal {
            end: self.now + frame.airtime,
            distance_m2,
            receivable,
            damaged: !self.way.open && receivable && input.once_in(8),
            reported: receivable || self.way.weak_frames.include(distance_m2),
            rate: frame.rate,
            wanted: receivable && (to == ME || to.is_broadcast()),
            reserves: self.way.reserves(frame.reserves)[usize::from(receivable)],
            followed_within: self.way.followed_within(kind),
            transmission: self.heard.len() as u32,
        };
        self.heard.push(frame);
        self.last_bits.push(signal.end);
        self.last_bits.sort_unstable();
        let overhear = if self.way.uses_eifs { Dcf::overhear::<true> } else { Dcf::overhear::<false> };
        let open = self.way.open && signal.followed_within == Span::ZERO;
        if !(open && overhear(&mut self.mac, self.now, &signal, self.way.weak_frames)) {
            self.mac.handle_arrival(self.now, &signal, &self.timing, &self.rules);
        }
    }

    fn carry_out(&mut self, out: Vec<MacAction>) {
        assert!(out.len() <= 4, "{out:?}");
        for action in out {
            match action {
                MacAction::Transmit(frame) => {
                    assert!(self.now >= self.on_air_until, "two frames on the air at once");
                    assert!(frame.from == ME && frame.to != ME && frame.airtime > Span::ZERO, "{frame:?}");
                    assert!(!frame.to.is_broadcast() || frame.kind == FrameKind::Data, "{frame:?}");
                    assert!(frame.reserves == Timing::duration_field(frame.reserves), "{frame:?}");
                    assert!((frame.kind == FrameKind::Data) == frame.body.is_some(), "{frame:?}");
                    assert!(frame.body.is_none() || (1..=4095).contains(&frame.sequence), "{frame:?}");
                    self.on_air_until = self.now + frame.airtime;
                }
                MacAction::Sent(body) | MacAction::Failed { body, .. } => {
                    assert_eq!(self.in_hand.take(), Some(number_of(&body)));
                }
                MacAction::Ready => {
                    assert!(!self.may_send && self.in_hand.is_none());
                    self.may_send = true;
                }
                MacAction::Deliver { from, .. } => assert!(from != ME),
                MacAction::Duplicate(_) => {}
            }
        }
    }
}

fn number_of(body: &Body) -> u64 {
    match body {
        Body::Ip(packet) => packet.uid,
        Body::Arp(_) => 0,
    }
}
