//! One station on a virtual clock. Two words: `hear` lets a frame's first bit arrive, `until` lets time pass.
//! Times are in microseconds; frames come from 0 m, so that there is no propagation delay.

#![allow(clippy::float_cmp, reason = "times are whole nanoseconds; exactness is what is tested")]

mod nonpersistent;

use proptest::prelude::*;

use std::rc::Rc;

use super::*;
use crate::kernel::{Purpose, Span, Streams, Time};
use crate::radio::{ByRate, Capture, Propagation, RadioParams};
use crate::wire::NodeId;
use crate::wire::arp::ArpMessage;
use crate::wire::mac::{Body, Class, Frame, FrameKind, Rate};

const ME: NodeId = NodeId(0);
const PEER: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);
const STRONG: f64 = 1e-8;

struct Bench {
    timing: Timing,
    rules: ReceiverRules,
    mac: Dcf,
    /// Frames that were heard, by number.
    heard: Vec<Frame>,
    /// When the last bits of frames still on the air arrive, in order.
    last_bits: Vec<Time>,
    /// Is [`Dcf::overhear`] tried first, as the network does?
    takes_short_way: bool,
    /// Last bits and timeouts so far.
    steps: usize,
    /// What the station did, with times in µs.
    log: Vec<(f64, MacAction)>,
}

fn micros(time: Time) -> f64 {
    time.0 as f64 / 1e3
}

fn at(us: f64) -> Time {
    Time((us * 1e3).round() as u64)
}

impl Bench {
    fn new(params: &MacParams) -> Bench {
        Bench::with_radio(params, &RadioParams::default())
    }

    fn with_radio(params: &MacParams, radio: &RadioParams) -> Bench {
        let timing = Timing::new(params);
        let stream = Streams::new(1, 0).stream(0, Purpose::Mac);
        let mac = Dcf::new(ME, &timing, stream);
        Bench {
            rules: ReceiverRules::new(radio, &timing),
            mac,
            timing,
            heard: Vec::new(),
            last_bits: Vec::new(),
            takes_short_way: true,
            steps: 0,
            log: Vec::new(),
        }
    }

    fn until(&mut self, us: f64) -> &mut Bench {
        loop {
            let last_bit = self.last_bits.first().copied();
            let timeout = self.mac.next_timeout(&self.timing);
            let now = timeout.min(last_bit.unwrap_or(Time::NEVER));
            if now > at(us) {
                return self;
            }
            self.steps += 1;
            assert!(self.steps < 100_000, "the station does not come to rest, at {} µs", micros(now));
            let mut out = Vec::new();
            if last_bit == Some(now) {
                self.last_bits.remove(0);
                if let Some(number) = self.mac.received(now) {
                    let frame = self.heard[number as usize].clone();
                    self.mac.handle_received(now, &frame, &self.timing, &mut out);
                }
            } else {
                self.mac.handle_timeout(now, &self.timing, &mut out);
            }
            self.log.extend(out.into_iter().map(|action| (micros(now), action)));
        }
    }

    fn send(&mut self, us: f64, to: NodeId) -> &mut Bench {
        self.until(us);
        let body = Body::Arp(ArpMessage::Request { from: ME, wanted: to });
        let mut out = Vec::new();
        self.mac.handle_send(at(us), to, body, &self.timing, &mut out);
        self.log.extend(out.into_iter().map(|action| (us, action)));
        self
    }

    fn hear(&mut self, us: f64, frame: Frame) -> &mut Bench {
        self.hear_at(us, frame, STRONG)
    }

    fn hear_at(&mut self, us: f64, frame: Frame, power_w: f64) -> &mut Bench {
        self.hear_signal(us, frame, power_w, false)
    }

    /// Some of the frame's bits are wrong.
    fn hear_damaged(&mut self, us: f64, frame: Frame) -> &mut Bench {
        self.hear_signal(us, frame, STRONG, true)
    }

    fn hear_signal(&mut self, us: f64, frame: Frame, power_w: f64, damaged: bool) -> &mut Bench {
        self.until(us);
        let way = ShortWay::new(&self.rules, &self.timing);
        let receivable = power_w >= RadioParams::default().receive_threshold_w;
        let distance_m2 = Propagation::new(&RadioParams::default()).reach_m2(power_w);
        let mut signal = Signal {
            end: at(us) + frame.airtime,
            distance_m2,
            receivable,
            damaged,
            reported: receivable || way.weak_frames.include(distance_m2),
            rate: frame.rate,
            wanted: receivable && (frame.to == ME || frame.to.is_broadcast()),
            reserves: way.reserves(frame.reserves)[usize::from(receivable)],
            followed_within: way.followed_within(frame.kind),
            transmission: self.heard.len() as u32,
        };
        self.heard.push(frame);
        self.last_bits.push(signal.end);
        self.last_bits.sort_unstable();
        let overhear = if way.uses_eifs { Dcf::overhear::<true> } else { Dcf::overhear::<false> };
        let open = way.open && signal.followed_within == Span::ZERO && !(signal.damaged && signal.wanted);
        let whole = signal;
        if damaged {
            signal.damaged = false;
            way.destroy(&mut signal);
        }
        let short_way =
            self.takes_short_way && open && overhear(&mut self.mac, at(us), &signal, way.weak_frames);
        if !short_way {
            self.mac.handle_arrival(at(us), &whole, &self.timing, &self.rules);
        }
        self
    }

    /// The station's next deadline.
    fn deadline(&self) -> f64 {
        micros(self.mac.next_timeout(&self.timing))
    }

    /// Frames that the station sent: time and kind.
    fn sent(&self) -> Vec<(f64, FrameKind)> {
        self.frames().map(|(us, frame)| (us, frame.kind)).collect()
    }

    fn frames(&self) -> impl Iterator<Item = (f64, &Frame)> {
        self.log.iter().filter_map(|(us, action)| match action {
            MacAction::Transmit(frame) => Some((*us, frame)),
            _ => None,
        })
    }

    fn when(&self, wanted: impl Fn(&MacAction) -> bool) -> Option<f64> {
        self.log.iter().find(|(_, action)| wanted(action)).map(|(us, _)| *us)
    }
}

fn rts_always() -> MacParams {
    MacParams { rts_threshold_bytes: 0, ..MacParams::default() }
}

/// The rules of ns-2.35 as its profile sets them.
fn ns2() -> MacParams {
    crate::profile::profile("ns-2.35").expect("the profile exists").mac
}

fn frame(kind: FrameKind, from: NodeId, to: NodeId, airtime_us: u64, reserves_us: u64) -> Frame {
    let body =
        (kind == FrameKind::Data).then(|| Rc::new(Body::Arp(ArpMessage::Request { from, wanted: to })));
    Frame {
        kind,
        from,
        to,
        reserves: Span(reserves_us * 1000),
        // 2 Mb/s in the table of 802.11b's rates.
        rate: Rate(1),
        airtime: Span(airtime_us * 1000),
        bytes: 100,
        sequence: 7,
        class: Class::Arp,
        body,
    }
}

fn data(from: NodeId, to: NodeId) -> Frame {
    frame(FrameKind::Data, from, to, 1000, if to.is_broadcast() { 0 } else { 314 })
}

// An ARP body makes a frame of 28 + 8 + 28 bytes: 192 + 64·4 = 448 µs unicast, 192 + 64·8 = 704 µs
// broadcast.
const DATA_US: f64 = 448.0;
const BROADCAST_US: f64 = 704.0;
const ACK_US: f64 = 248.0;

/// ```text
/// me     |--broadcast--|
///        1000          1640
/// ```
#[test]
fn an_idle_medium_is_used_at_once() {
    let mut bench = Bench::new(&MacParams::default());
    bench.send(1000.0, NodeId::BROADCAST).until(5000.0);
    assert_eq!(bench.sent(), [(1000.0, FrameKind::Data)]);
    assert_eq!(bench.when(|a| matches!(a, MacAction::Sent(_))), Some(1000.0 + BROADCAST_US));
    assert_eq!(bench.when(|a| *a == MacAction::Ready), Some(1000.0 + BROADCAST_US));
}

#[test]
fn a_station_is_on_air_until_its_frame_ends() {
    let mut bench = Bench::new(&MacParams::default());
    bench.send(1000.0, NodeId::BROADCAST).until(1000.0);
    let end = 1000.0 + BROADCAST_US;
    assert_eq!([1000.0, end - 1.0, end].map(|us| bench.mac.is_on_air(at(us))), [true, true, false]);
}

/// ```text
/// other  |---data---|
/// me         ^send  |DIFS|slots|--broadcast--|
/// ```
#[test]
fn a_busy_medium_makes_the_station_wait_difs_and_whole_slots() {
    let mut bench = Bench::new(&MacParams::default());
    bench.hear(0.0, data(OTHER, NodeId::BROADCAST)).send(500.0, NodeId::BROADCAST).until(5000.0);
    let slots = (bench.sent()[0].0 - 1050.0) / 20.0;
    assert_eq!(slots.fract(), 0.0);
    assert!((0.0..=31.0).contains(&slots), "{slots}");
}

/// A frame that comes within DIFS of the medium's getting idle waits only for the rest of DIFS (§9.2.5.1).
#[test]
fn the_rest_of_difs_is_enough_if_the_medium_stays_idle() {
    let mut bench = Bench::new(&MacParams::default());
    bench.hear(0.0, data(OTHER, NodeId::BROADCAST)).send(1020.0, NodeId::BROADCAST).until(5000.0);
    assert_eq!(bench.sent(), [(1050.0, FrameKind::Data)]);
}

/// ```text
/// other  |--a--|            |--b--|
/// me        ^   |DIFS|k slots|     |DIFS|the other slots|--frame--|
/// ```
#[test]
fn the_backoff_freezes_while_the_medium_is_busy() {
    let undisturbed = {
        let mut bench = Bench::new(&MacParams::default());
        bench.hear(0.0, data(OTHER, NodeId::BROADCAST)).send(500.0, NodeId::BROADCAST).until(9000.0);
        bench.sent()[0].0
    };
    let slots = (undisturbed - 1050.0) / 20.0;
    assert!(slots >= 3.0, "the seed must draw at least three slots, it drew {slots}");
    let mut bench = Bench::new(&MacParams::default());
    bench.hear(0.0, data(OTHER, NodeId::BROADCAST)).send(500.0, NodeId::BROADCAST);
    // Two slots and a half have passed: two count.
    bench.hear(1100.0, data(OTHER, NodeId::BROADCAST)).until(9000.0);
    assert_eq!(bench.sent()[0].0, 2100.0 + 50.0 + (slots - 2.0) * 20.0);
}

/// ```text
/// me    |-RTS-|      |--DATA--|
/// peer        SIFS|CTS|SIFS    SIFS|ACK|
/// ```
#[test]
fn the_four_frames_of_an_exchange_follow_each_other_by_sifs() {
    let mut bench = Bench::new(&rts_always());
    bench.send(1000.0, PEER);
    bench.hear(1362.0, frame(FrameKind::Cts, PEER, ME, 304, 740)).until(2000.0);
    let data_at = 1362.0 + 304.0 + 10.0;
    assert_eq!(bench.sent(), [(1000.0, FrameKind::Rts), (data_at, FrameKind::Data)]);
    bench.hear(data_at + DATA_US + 10.0, frame(FrameKind::Ack, PEER, ME, 248, 0)).until(9000.0);
    assert_eq!(bench.when(|a| matches!(a, MacAction::Sent(_))), Some(data_at + DATA_US + 10.0 + ACK_US));
    // §9.2.5.4: what each frame reserves after itself.
    let reserved: Vec<u64> = bench.frames().map(|(_, frame)| frame.reserves.0 / 1000).collect();
    assert_eq!(reserved, [3 * 10 + 304 + (DATA_US + ACK_US) as u64, 10 + 248]);
}

#[test]
fn the_receiver_answers_rts_with_cts_and_data_with_ack() {
    let mut bench = Bench::new(&rts_always());
    bench.hear(0.0, frame(FrameKind::Rts, PEER, ME, 352, 1658)).until(1000.0);
    assert_eq!(bench.sent(), [(362.0, FrameKind::Cts)]);
    assert_eq!(bench.frames().next().map(|(_, cts)| cts.reserves), Some(Span((1658 - 10 - 304) * 1000)));
    bench.hear(676.0, data(PEER, ME)).until(3000.0);
    assert_eq!(bench.sent()[1], (1686.0, FrameKind::Ack));
    assert_eq!(bench.when(|a| matches!(a, MacAction::Deliver { from: PEER, .. })), Some(1676.0));
}

#[test]
fn a_frame_received_again_is_acknowledged_and_not_delivered() {
    let mut bench = Bench::new(&MacParams::default());
    bench.hear(0.0, data(PEER, ME)).until(2000.0).hear(2000.0, data(PEER, ME)).until(4000.0);
    assert_eq!(bench.sent(), [(1010.0, FrameKind::Ack), (3010.0, FrameKind::Ack)]);
    let delivered = bench.log.iter().filter(|(_, a)| matches!(a, MacAction::Deliver { .. })).count();
    let duplicates = bench.log.iter().filter(|(_, a)| matches!(a, MacAction::Duplicate(_))).count();
    assert_eq!((delivered, duplicates), (1, 1));
}

/// When a station sends that has heard an RTS to another from 0 to 352 µs, which reserves 3 ms, and then what
/// `follows`.
fn sends_after_rts(params: &MacParams, follows: impl FnOnce(&mut Bench)) -> f64 {
    let mut bench = Bench::new(params);
    bench.hear(0.0, frame(FrameKind::Rts, OTHER, PEER, 352, 3000)).send(360.0, NodeId::BROADCAST);
    follows(&mut bench);
    bench.until(9000.0);
    bench.sent()[0].0
}

/// §9.2.5.4: an RTS to somebody else reserves the medium to the end of its exchange, if that goes on: the
/// data frame begins 2 SIFS and a CTS after the RTS.
///
/// ```text
/// RTS |--|      DATA |-------------|
/// NAV     |<--------------------------->|
/// ```
#[test]
fn the_nav_of_an_overheard_rts_is_obeyed() {
    let with_data = |bench: &mut Bench| {
        bench.hear(352.0 + 324.0, data(OTHER, PEER));
    };
    assert!(sends_after_rts(&MacParams::default(), with_data) >= 352.0 + 3000.0 + 50.0);
    let with_cts = |bench: &mut Bench| {
        bench.hear(362.0, frame(FrameKind::Cts, PEER, OTHER, 304, 2686));
    };
    assert!(sends_after_rts(&MacParams::default(), with_cts) >= 352.0 + 3000.0 + 50.0);
    // What is sensed and not understood is no sign of the exchange.
    let with_noise = |bench: &mut Bench| {
        bench.hear_at(600.0, data(OTHER, PEER), 2e-11);
    };
    assert!(sends_after_rts(&MacParams::default(), with_noise) < 352.0 + 3000.0);
    // Nor does it hide a sign that follows in time.
    let with_noise_and_data = |bench: &mut Bench| {
        bench.hear_at(400.0, frame(FrameKind::Ack, OTHER, PEER, 50, 0), 2e-11);
        bench.hear(352.0 + 324.0, data(OTHER, PEER));
    };
    assert!(sends_after_rts(&MacParams::default(), with_noise_and_data) >= 352.0 + 3000.0 + 50.0);
}

/// §9.2.5.4: a station may give up the NAV that an RTS has set if nothing follows for 2 SIFS, a CTS and 2
/// slots.
///
/// ```text
/// RTS |--|<- 364 µs ->|<- DIFS ->|slots|
/// ```
#[test]
fn the_nav_of_an_rts_without_cts_is_given_up() {
    let idle_from = 352.0 + 20.0 + 304.0 + 40.0;
    let slots = (sends_after_rts(&MacParams::default(), |_| ()) - idle_from - 50.0) / 20.0;
    assert!(slots.fract() == 0.0 && (0.0..=31.0).contains(&slots), "{slots}");
    let stays = MacParams { nav_reset: false, ..MacParams::default() };
    assert!(sends_after_rts(&stays, |_| ()) >= 352.0 + 3000.0 + 50.0);
}

/// A frame that comes when the NAV has been given up does not bring it back.
#[test]
fn a_nav_that_was_given_up_stays_given_up() {
    let late = |bench: &mut Bench| {
        bench.hear(717.0, frame(FrameKind::Ack, OTHER, PEER, 100, 0));
    };
    assert!(sends_after_rts(&MacParams::default(), late) < 352.0 + 3000.0);
}

/// What another frame has reserved before stays reserved.
#[test]
fn the_reservation_of_an_earlier_frame_outlives_an_rts_without_cts() {
    let mut bench = Bench::new(&MacParams::default());
    bench.hear(0.0, frame(FrameKind::Cts, OTHER, PEER, 304, 2000));
    bench.hear(400.0, frame(FrameKind::Rts, OTHER, PEER, 352, 5000)).send(800.0, NodeId::BROADCAST);
    bench.until(9000.0);
    let sent = bench.sent()[0].0;
    assert!((2304.0 + 50.0..5000.0).contains(&sent), "{sent}");
}

/// Two frames whose RTS is answered each after some failures: by the standard a CTS forgets them, in ns-2.27
/// they add up.
#[test]
fn failures_of_several_frames_may_add_up_to_a_broken_link() {
    let attempts = |cts_resets_short_retries| {
        let mut bench = Bench::new(&MacParams { cts_resets_short_retries, ..rts_always() });
        bench.send(0.0, PEER);
        while bench.sent().len() < 4 {
            let us = bench.deadline();
            bench.until(us);
        }
        let (fourth, _) = bench.sent()[3];
        bench.hear(fourth + 362.0, frame(FrameKind::Cts, PEER, ME, 304, 1000));
        let before = bench.sent().len();
        bench.until(200_000.0);
        let failed = bench.when(|action| matches!(action, MacAction::Failed { .. })).expect("given up");
        bench.frames().skip(before).filter(|&(us, frame)| us < failed && frame.kind == FrameKind::Rts).count()
    };
    // After the CTS the data frame is not acknowledged, and RTS begin again: seven, or what is left of seven.
    assert_eq!(attempts(true), 7);
    assert_eq!(attempts(false), 4);
}

/// §9.2.5.7: no CTS while the NAV is set.
#[test]
fn no_cts_is_sent_while_the_nav_is_set() {
    let mut bench = Bench::new(&rts_always());
    bench.hear(0.0, frame(FrameKind::Cts, OTHER, PEER, 304, 3000));
    bench.hear(1000.0, frame(FrameKind::Rts, PEER, ME, 352, 1658)).until(3000.0);
    assert_eq!(bench.sent(), []);
    bench.hear(4000.0, frame(FrameKind::Rts, PEER, ME, 352, 1658)).until(5000.0);
    assert_eq!(bench.sent(), [(4362.0, FrameKind::Cts)]);
}

fn first_after_collision(params: &MacParams) -> f64 {
    let mut bench = Bench::new(params);
    bench.send(0.0, NodeId::BROADCAST).until(8000.0);
    let after = bench.log.len();
    bench.hear(10_000.0, data(OTHER, PEER)).hear(10_500.0, data(PEER, OTHER));
    bench.send(11_000.0, NodeId::BROADCAST).until(20_000.0);
    bench.log[after..]
        .iter()
        .find_map(|(us, action)| matches!(action, MacAction::Transmit(_)).then_some(*us))
        .expect("the frame is sent")
}

/// ```text
/// a    |--------|
/// b        |--------|<------ EIFS ------>|slots|
/// ```
#[test]
fn eifs_follows_a_collision_in_place_of_difs() {
    let slots = (first_after_collision(&MacParams::default()) - 11_500.0 - 364.0) / 20.0;
    assert!(slots.fract() == 0.0 && (0.0..=31.0).contains(&slots), "{slots}");
}

#[test]
fn in_ns2_difs_is_added_to_eifs() {
    let slots = (first_after_collision(&ns2()) - 11_500.0 - 364.0 - 50.0) / 20.0;
    assert!(slots.fract() == 0.0 && (0.0..=30.0).contains(&slots), "{slots}");
}

/// A correct reception ends EIFS (§9.2.3.4): DIFS is enough after it.
#[test]
fn a_correct_frame_ends_eifs() {
    let mut bench = Bench::new(&MacParams::default());
    bench.hear(0.0, data(OTHER, PEER)).hear(500.0, data(PEER, OTHER));
    bench
        .hear(1510.0, frame(FrameKind::Ack, OTHER, PEER, 304, 0))
        .send(1820.0, NodeId::BROADCAST)
        .until(9000.0);
    assert_eq!(bench.sent(), [(1814.0 + 50.0, FrameKind::Data)]);
}

#[test]
fn seven_unanswered_rts_end_the_attempt() {
    let mut bench = Bench::new(&rts_always());
    bench.send(0.0, PEER).until(200_000.0);
    assert_eq!(bench.sent().len(), 7);
    let Some(MacAction::Failed { to, .. }) =
        bench.log.iter().map(|(_, a)| a).find(|a| matches!(a, MacAction::Failed { .. }))
    else {
        panic!("the station never gave up");
    };
    assert_eq!(*to, PEER);
    // §9.2.4: 31, 63, 127, 255, 511, 1023 slots at most before each retry; 670 µs is the CTS time-out, DIFS
    // added.
    let gaps: Vec<f64> =
        bench.sent().windows(2).map(|pair| (pair[1].0 - pair[0].0 - 670.0 - 50.0) / 20.0).collect();
    for (gap, most) in gaps.iter().zip([63.0, 127.0, 255.0, 511.0, 1023.0, 1023.0]) {
        assert!(gap.fract() == 0.0 && (0.0..=most).contains(gap), "{gaps:?}");
    }
}

#[test]
fn four_unacknowledged_long_frames_end_the_attempt() {
    let mut bench = Bench::new(&rts_always());
    bench.send(0.0, PEER);
    let mut answered = 0;
    while bench.when(|a| matches!(a, MacAction::Failed { .. })).is_none() {
        let sent = bench.sent();
        let rts = sent.iter().filter(|(_, kind)| *kind == FrameKind::Rts).count();
        if rts > answered {
            answered = rts;
            let us = sent.last().expect("an RTS was sent").0;
            bench.hear(us + 362.0, frame(FrameKind::Cts, PEER, ME, 304, 740));
        }
        let next = bench
            .mac
            .next_timeout(&bench.timing)
            .min(bench.last_bits.first().copied().unwrap_or(Time::NEVER));
        bench.until(micros(next));
    }
    assert_eq!(bench.sent().iter().filter(|(_, kind)| *kind == FrameKind::Data).count(), 4);
}

/// ```text
/// other           |---data---|
/// me     |..slots..|--broadcast--|     begins 5 µs later: too soon to have sensed the other
/// ```
#[test]
fn carrier_sense_takes_time() {
    let begin = |params: &MacParams, heard_before_us: f64| {
        let mut bench = Bench::new(params);
        bench.hear(0.0, data(OTHER, NodeId::BROADCAST)).send(500.0, NodeId::BROADCAST);
        // A broadcast must be taken up first: until then the station cannot know when its backoff will end.
        let expiry = bench.until(1000.0).deadline();
        bench.hear(expiry - heard_before_us, data(OTHER, NodeId::BROADCAST)).until(20_000.0);
        bench.sent()[0].0 - expiry
    };
    assert_eq!(begin(&MacParams::default(), 5.0), 0.0);
    assert!(begin(&MacParams::default(), 16.0) > 1000.0);
    assert!(begin(&MacParams { cca_time_us: 0.0, ..MacParams::default() }, 5.0) > 1000.0);
}

#[test]
fn a_backoff_follows_every_transmission() {
    let mut bench = Bench::new(&MacParams::default());
    bench.send(1000.0, NodeId::BROADCAST).send(1000.0 + BROADCAST_US, NodeId::BROADCAST).until(9000.0);
    let slots = (bench.sent()[1].0 - 1000.0 - BROADCAST_US - 50.0) / 20.0;
    assert!(slots.fract() == 0.0 && slots > 0.0, "the seed draws more than no slot: {slots}");
}

#[test]
fn ns2_backs_off_even_on_an_idle_medium() {
    let mut bench = Bench::new(&ns2());
    bench.send(1000.0, NodeId::BROADCAST).until(5000.0);
    let slots = (bench.sent()[0].0 - 1050.0) / 20.0;
    assert!(slots.fract() == 0.0 && slots > 0.0, "the seed draws more than no slot: {slots}");
}

/// Power of the second frame relative to the first; is the first, to us, delivered?
fn survives(params: &RadioParams, powers: &[f64]) -> bool {
    let mut bench = Bench::with_radio(&MacParams::default(), params);
    bench.hear_at(0.0, data(PEER, ME), STRONG);
    for (number, power) in powers.iter().enumerate() {
        bench.hear_at(100.0 + number as f64, data(OTHER, PEER), STRONG * power);
    }
    bench.until(9000.0);
    bench.when(|a| matches!(a, MacAction::Deliver { .. })).is_some()
}

#[test]
fn the_first_frame_survives_each_that_is_ten_times_weaker() {
    let pairwise = RadioParams::default();
    assert!(survives(&pairwise, &[0.099, 0.099, 0.099]));
    assert!(!survives(&pairwise, &[0.101]));
    assert!(!survives(&pairwise, &[100.0]), "a stronger later frame captures nothing");
}

#[test]
fn under_sinr_weak_frames_add_up() {
    let sinr = RadioParams { capture: Capture::Sinr, ..RadioParams::default() };
    assert!(survives(&sinr, &[0.06]));
    assert!(!survives(&sinr, &[0.06, 0.06]));
    let noisy = RadioParams { noise_w: STRONG * 0.05, ..sinr };
    assert!(!survives(&noisy, &[0.06]));
}

/// ```text
/// a  |---------|
/// b     |--------------|      a sixteenth of a's power
/// c             |------|      a third of it, while b is on the air or after
/// ```
#[test]
fn under_sinr_what_is_left_of_an_earlier_frame_counts_until_it_ends() {
    let sinr = RadioParams { capture: Capture::Sinr, ..RadioParams::default() };
    let delivered = |begins_us: f64| {
        let mut bench = Bench::with_radio(&MacParams::default(), &sinr);
        bench.hear(0.0, data(PEER, NodeId::BROADCAST));
        bench.hear_at(100.0, frame(FrameKind::Data, OTHER, PEER, 2000, 0), STRONG / 16.0);
        bench.hear_at(begins_us, data(PEER, NodeId::BROADCAST), STRONG / 3.0).until(9000.0);
        bench.log.iter().filter(|(_, action)| matches!(action, MacAction::Deliver { .. })).count()
    };
    assert_eq!([delivered(1500.0), delivered(2200.0)], [1, 2]);
}

/// ```text
/// a  |--------|
/// b           |--------|      b begins in the very instant in which a ends
/// ```
#[test]
fn frames_that_touch_do_not_collide() {
    let mut bench = Bench::new(&MacParams::default());
    bench.hear(0.0, data(PEER, NodeId::BROADCAST)).until(1000.0);
    bench.hear(1000.0, data(OTHER, NodeId::BROADCAST)).until(9000.0);
    assert_eq!(bench.log.iter().filter(|(_, a)| matches!(a, MacAction::Deliver { .. })).count(), 2);
}

#[test]
fn a_transmitting_station_hears_nothing() {
    let mut bench = Bench::new(&MacParams::default());
    bench.send(1000.0, NodeId::BROADCAST).hear(1100.0, data(PEER, ME)).until(9000.0);
    assert_eq!(bench.when(|a| matches!(a, MacAction::Deliver { .. })), None);
}

/// ```text
/// peer   |RTS to me|   |CTS refused: the medium is busy again
/// other             |---data---|
/// me     ^was about to send              and sends afterwards
/// ```
#[test]
fn a_refused_cts_does_not_make_the_station_forget_its_own_frame() {
    let mut bench = Bench::new(&MacParams { access: Access::DeferRandom, ..ns2() });
    // The RTS is over before the wait of DIFS and some slots that began at 1000.
    bench.send(1000.0, PEER).hear(1001.0, frame(FrameKind::Rts, OTHER, ME, 20, 1658));
    bench.hear(1025.0, data(OTHER, PEER)).until(10_000.0);
    assert_eq!(bench.sent().first().map(|(_, kind)| *kind), Some(FrameKind::Rts));
}

/// As above, in the ns-2 of 2002: the frame waits until the station has answered another one.
#[test]
fn in_old_ns2_a_refused_cts_makes_the_station_forget_its_own_frame() {
    let stalls = MacParams { access: Access::DeferRandom, stalls_after_refusal: true, ..ns2() };
    let mut bench = Bench::new(&stalls);
    bench.send(1000.0, PEER).hear(1001.0, frame(FrameKind::Rts, OTHER, ME, 20, 1658));
    bench.hear(1025.0, data(OTHER, PEER)).until(50_000.0);
    assert_eq!(bench.sent(), []);
    bench.hear(50_000.0, frame(FrameKind::Rts, OTHER, ME, 352, 1658)).until(90_000.0);
    let kinds: Vec<FrameKind> = bench.sent().iter().map(|(_, kind)| *kind).collect();
    assert_eq!(kinds[..2], [FrameKind::Cts, FrameKind::Rts]);
}

/// The station's RTS fail; between them it receives a frame itself, `answers` times.
fn attempts_between_receptions(params: &MacParams, answers: usize) -> usize {
    let mut bench = Bench::new(params);
    bench.send(0.0, PEER);
    for answer in 0..answers {
        // After three more RTS another station sends a frame.
        let (mut us, sent_before) = (0.0, bench.sent().len());
        while bench.sent().len() < sent_before + 3
            && bench.when(|a| matches!(a, MacAction::Failed { .. })).is_none()
        {
            us = bench.deadline();
            bench.until(us);
        }
        let rts_at = us + 700.0;
        bench.hear(rts_at, frame(FrameKind::Rts, OTHER, ME, 352, 1658)).until(rts_at + 362.0 + 304.0);
        let mut received = data(OTHER, ME);
        received.sequence = answer as u16 + 1;
        bench.hear(rts_at + 676.0, received).until(rts_at + 2100.0);
    }
    bench.until(1e6);
    bench.sent().iter().filter(|(_, kind)| *kind == FrameKind::Rts).count()
}

/// §9.2.5.3: only a CTS resets the short retry counter; until February 2003 ns-2 also reset it when the
/// station received a data frame.
#[test]
fn a_frame_received_does_not_reset_the_retries_of_a_frame_to_send() {
    assert_eq!(attempts_between_receptions(&ns2(), 2), 7);
    let early = MacParams { resets_retries_early: true, ..ns2() };
    assert_eq!(attempts_between_receptions(&early, 2), 3 + 3 + 7);
}

/// Slots before the second RTS if the first was answered, but its data frame was not acknowledged; the third
/// retry if `failures` RTS failed before.
fn most_slots_after_lost_data(params: &MacParams) -> f64 {
    let slots = |seed: u64| {
        let mut bench = Bench::new(params);
        bench.mac = Dcf::new(ME, &bench.timing, Streams::new(seed, 0).stream(0, Purpose::Mac));
        bench.send(0.0, PEER);
        // Four RTS fail; the fifth is answered, its data frame is not acknowledged.
        while bench.sent().len() < 5 {
            let us = bench.deadline();
            bench.until(us);
        }
        let rts = bench.sent()[4].0;
        bench.hear(rts + 362.0, frame(FrameKind::Cts, PEER, ME, 304, 740));
        while bench.sent().len() < 7 {
            let us = bench.deadline();
            bench.until(us);
        }
        (bench.sent()[6].0 - bench.sent()[5].0) / 20.0
    };
    (0..20).map(slots).fold(0.0, f64::max)
}

/// §9.2.4: the window grows until a data frame is acknowledged. A CTS does not reset it.
#[test]
fn a_cts_does_not_reset_the_contention_window() {
    assert!(most_slots_after_lost_data(&ns2()) > 300.0);
    let early = MacParams { resets_retries_early: true, ..ns2() };
    assert!(most_slots_after_lost_data(&early) < 63.0 + 60.0);
}

/// A frame that would be acknowledged after `failures` failures: how often is it sent?
#[test]
fn before_2004_ns2_sent_a_data_frame_once_more_than_its_limit() {
    let exceeds = MacParams { exceeds_retry_limit: true, ..MacParams::default() };
    for (params, attempts) in [(MacParams::default(), 7), (exceeds, 8)] {
        let mut bench = Bench::new(&params);
        bench.send(0.0, PEER).until(500_000.0);
        assert_eq!(bench.sent().len(), attempts);
    }
}

/// ```text
/// me     |CTS|SIFS|slot|DIFS …|-RTS-|     no data frame begins: the medium is idle for all but others
/// ```
#[test]
fn after_a_cts_without_data_the_station_contends_again() {
    let begins = |params: &MacParams| {
        let mut bench = Bench::new(params);
        bench.hear(0.0, frame(FrameKind::Rts, OTHER, ME, 352, 6658)).send(100.0, PEER).until(50_000.0);
        let cts_end = bench.sent()[0].0 + 304.0;
        bench.sent()[1].0 - cts_end
    };
    let soonest = 10.0 + 20.0 + 4.0;
    let wait = begins(&rts_always());
    assert!((soonest..soonest + 50.0 + 31.0 * 20.0).contains(&wait), "{wait}");
    assert!(begins(&ns2()) > 6658.0 - 700.0);
}

/// The data frame that the CTS allows is received to its end, however long it is.
#[test]
fn after_a_cts_the_station_receives_a_long_data_frame() {
    let mut bench = Bench::new(&rts_always());
    bench.hear(0.0, frame(FrameKind::Rts, OTHER, ME, 352, 6658)).send(100.0, PEER).until(676.0);
    bench.hear(676.0, frame(FrameKind::Data, OTHER, ME, 6000, 258)).until(6800.0);
    assert_eq!(bench.sent()[1], (6676.0 + 10.0, FrameKind::Ack));
}

/// ```text
/// me      |--broadcast--|
/// other           |--data--|DIFS|slots|     the receiver was off at its first bit: no EIFS
/// ```
#[test]
fn a_frame_that_began_during_a_transmission_causes_no_eifs() {
    let begins = |params: &MacParams| {
        let mut bench = Bench::new(params);
        bench.send(1000.0, NodeId::BROADCAST);
        let us = bench.deadline().max(1000.0);
        bench.until(us);
        let first = bench.sent()[0].0;
        bench.hear(first + 100.0, data(OTHER, PEER)).send(first + 900.0, NodeId::BROADCAST).until(20_000.0);
        bench.sent()[1].0 - (first + 1100.0)
    };
    let missed = MacParams { eifs_after_missed_frames: true, ..MacParams::default() };
    assert_eq!(begins(&missed) - begins(&MacParams::default()), 364.0 - 50.0);
}

/// Frames that overlap while the station transmits are lost to its own transmission.
#[test]
fn frames_lost_to_deafness_are_no_collisions() {
    for capture in [Capture::Pairwise, Capture::Sinr, Capture::Locking] {
        let radio = RadioParams { capture, ..RadioParams::default() };
        let mut bench = Bench::with_radio(&MacParams::default(), &radio);
        bench.send(1000.0, NodeId::BROADCAST);
        bench.hear(1100.0, data(PEER, ME)).hear(1200.0, data(OTHER, ME)).until(9000.0);
        assert_eq!(bench.mac.collisions(), 0, "{capture:?}");
        bench.hear(9100.0, data(PEER, ME)).hear(9200.0, data(OTHER, ME)).until(19_000.0);
        assert_eq!(bench.mac.collisions(), 2, "{capture:?}");
    }
}

/// A node that taps hears what is for others, once the last bit has come.
#[test]
fn frames_for_others_are_overheard() {
    for (to, overheard) in [(PEER, Some(0)), (ME, None), (NodeId::BROADCAST, None)] {
        let mut bench = Bench::new(&MacParams::default());
        bench.hear(0.0, data(OTHER, to));
        assert_eq!((bench.mac.overheard(at(999.0)), bench.mac.overheard(at(1000.0))), (None, overheard));
    }
}

/// Before March 2002 ns-2 waited DIFS between a CTS and the data frame.
#[test]
fn data_may_follow_the_cts_after_difs() {
    let mut bench = Bench::new(&MacParams { difs_before_data: true, ..rts_always() });
    bench.send(1000.0, PEER);
    bench.hear(1362.0, frame(FrameKind::Cts, PEER, ME, 304, 740)).until(2000.0);
    assert_eq!(bench.sent()[1], (1362.0 + 304.0 + 50.0, FrameKind::Data));
}

/// Before June 2002 ns-2 sent on an idle medium exactly after DIFS.
#[test]
fn a_deferral_without_random_slots_lasts_difs() {
    let mut bench = Bench::new(&MacParams { access: Access::Defer, ..ns2() });
    bench.send(1000.0, NodeId::BROADCAST).until(5000.0);
    assert_eq!(bench.sent(), [(1050.0, FrameKind::Data)]);
}

/// Frames of a microsecond, as at very high rates: the answer to one comes before the slot to which the
/// station was committed.
#[test]
fn an_answer_takes_back_the_commitment_to_a_slot() {
    let fast = MacParams { plcp_bits: 0, control_rate_bps: 1e9, ..rts_always() };
    let mut bench = Bench::new(&fast);
    bench.hear(0.0, data(OTHER, NodeId::BROADCAST)).send(500.0, PEER);
    let expiry = bench.until(1000.0).deadline();
    bench.hear(expiry - 14.0, frame(FrameKind::Rts, OTHER, ME, 1, 100)).until(expiry + 5000.0);
    let kinds: Vec<FrameKind> = bench.sent().iter().map(|(_, kind)| *kind).collect();
    assert_eq!(kinds[..2], [FrameKind::Cts, FrameKind::Rts]);
}

/// Rules under which carrier sense precedes every exchange (`defer-random` is not among them: its wait does
/// not freeze).
fn any_params() -> impl Strategy<Value = MacParams> {
    prop::sample::select(vec![MacParams::default(), rts_always(), ns2()])
}

/// With ladders, every rate has its own threshold and capture ratio.
fn ladders() -> RadioParams {
    RadioParams { ranges: ByRate::Ladder, capture_ratios: ByRate::Ladder, ..RadioParams::default() }
}

/// A power that is enough at 1 Mb/s, and with it for the PLCP header, and not at 2 Mb/s.
const FOR_HEADERS: f64 = 3e-10;

/// ```text
/// other  |--data--|        DIFS, or EIFS of 364 µs, and slots
/// me          ^send
/// ```
/// §9.2.3.4: EIFS follows a frame whose beginning the physical layer has reported and that did not arrive.
#[test]
fn a_frame_of_which_only_the_header_is_decoded_is_followed_by_eifs() {
    let waits = |radio: &RadioParams, takes_short_way: bool, power_w: f64| {
        let mut bench = Bench { takes_short_way, ..Bench::with_radio(&MacParams::default(), radio) };
        bench.hear_at(0.0, data(OTHER, PEER), power_w).send(500.0, NodeId::BROADCAST).until(9000.0);
        bench.sent()[0].0 - 1000.0
    };
    for takes_short_way in [true, false] {
        let too_weak = waits(&ladders(), takes_short_way, 1e-10);
        assert_eq!(waits(&RadioParams::default(), takes_short_way, FOR_HEADERS), too_weak);
        assert_eq!(waits(&ladders(), takes_short_way, FOR_HEADERS) - too_weak, 364.0 - 50.0);
    }
}

/// ```text
/// peer   |--data to me or another--|<------ EIFS ------>|slots|
/// me            ^send                                         |--data--|
/// ```
/// §9.2.3.4: EIFS follows a frame whose FCS is wrong, in place of DIFS, and what its Duration field reserves
/// is not known; §9.2.8: it is not acknowledged.
#[test]
fn a_frame_with_wrong_bits_is_not_answered_and_is_followed_by_eifs() {
    for to in [ME, OTHER] {
        let mut bench = Bench::new(&MacParams::default());
        bench.hear_damaged(0.0, data(PEER, to)).send(500.0, NodeId::BROADCAST).until(9000.0);
        let slots = (bench.sent()[0].0 - 1000.0 - 364.0) / 20.0;
        assert!(slots.fract() == 0.0 && (0.0..=31.0).contains(&slots), "{slots}");
        assert_eq!(bench.sent().len(), 1);
        assert_eq!(bench.when(|action| matches!(action, MacAction::Deliver { .. })), None);
        assert_eq!(bench.mac.collisions(), 0);
    }
}

/// The ladder asks 7 dB of a frame at 1 Mb/s and 19 dB at 11 Mb/s, where all else asks 10 dB.
#[test]
fn with_a_ladder_slow_frames_survive_what_destroys_fast_ones() {
    let survives = |radio: &RadioParams, rate: u8, weaker_by_db: f64| {
        let mut bench = Bench::with_radio(&MacParams::default(), radio);
        let first = Frame { rate: Rate(rate), ..data(PEER, ME) };
        let other_w = STRONG / libm::pow(10.0, weaker_by_db / 10.0);
        bench.hear(0.0, first).hear_at(100.0, data(OTHER, PEER), other_w).until(5000.0);
        bench.when(|action| matches!(action, MacAction::Deliver { .. })).is_some()
    };
    for (rate, needs_db) in [(0, 7.0), (1, 10.0), (2, 14.0), (3, 19.0)] {
        assert!(survives(&ladders(), rate, needs_db + 0.1) && !survives(&ladders(), rate, needs_db - 0.1));
        assert!(
            survives(&RadioParams::default(), rate, 10.1) && !survives(&RadioParams::default(), rate, 9.9)
        );
    }
}

/// An ACK has the rate of its data frame here (§9.6), so both rates show in what the station sends and waits.
#[test]
fn each_link_may_have_its_own_rate() {
    let mut bench = Bench::new(&MacParams::default());
    bench.mac.fix_rate(None, Rate(3));
    bench.mac.fix_rate(Some(OTHER), Rate(0));
    bench.send(1000.0, PEER).until(9000.0);
    bench.send(200_000.0, OTHER).until(400_000.0);
    let data_of = |to: NodeId| {
        let sent = bench.frames().find(|(_, frame)| frame.to == to).expect("a frame to the neighbour");
        (sent.1.rate, sent.1.airtime.0, sent.1.reserves.0 / 1000)
    };
    // 64 bytes, and an ACK of 14 bytes after SIFS; the Duration field is rounded up.
    assert_eq!(data_of(PEER), (Rate(3), 192_000 + 46_545, 10 + 192 + 11));
    assert_eq!(data_of(OTHER), (Rate(0), 192_000 + 512_000, 10 + 192 + 112));
}

/// Two attempts at 11 Mb/s, then two at 5.5, two at 2, and the rest at 1 Mb/s.
#[test]
fn arf_lowers_the_rate_of_a_frame_that_is_not_acknowledged() {
    let params = MacParams { data_rate_bps: 11e6, rate_control: RateControl::Arf, ..MacParams::default() };
    let mut bench = Bench::new(&MacParams { arf_timer_ms: 1e6, ..params });
    bench.send(1000.0, PEER).until(1e6);
    let rates: Vec<u8> = bench.frames().map(|(_, frame)| frame.rate.0).collect();
    assert_eq!(rates, [3, 3, 2, 2, 1, 1, 0]);
}

proptest! {
    /// The short way for frames of others changes nothing.
    #[test]
    fn overhearing_is_arriving(
        params in any_params(),
        sinr in any::<bool>(),
        ladder in any::<bool>(),
        steps in prop::collection::vec((0u64..1500, 0u32..4, 100u64..1500, 0u8..4), 1..40),
    ) {
        let radio = if ladder { ladders() } else { RadioParams::default() };
        let radio = RadioParams { capture: if sinr { Capture::Sinr } else { Capture::Pairwise }, ..radio };
        let act = |takes_short_way: bool| {
            let mut bench = Bench { takes_short_way, ..Bench::with_radio(&params, &radio) };
            let mut us = 0.0;
            for &(wait, kind, airtime, weak) in &steps {
                us += wait as f64;
                bench.until(us);
                let to = if kind == 1 { ME } else { PEER };
                match kind {
                    0 if bench.mac.is_ready() => { bench.send(us, PEER); }
                    _ => {
                        let power = [STRONG, FOR_HEADERS, STRONG / 1e3, STRONG][usize::from(weak)];
                        let rate = Rate((airtime % 4) as u8);
                        let heard = frame(FrameKind::Data, OTHER, to, airtime, 2 * airtime);
                        bench.hear_signal(us, Frame { rate, ..heard }, power, weak == 3);
                    }
                }
            }
            bench.until(us + 1e6);
            (bench.mac.collisions(), bench.log)
        };
        prop_assert_eq!(act(true), act(false));
    }

    /// Physical carrier sense: whatever is heard, no exchange begins within DIFS of a frame that could be
    /// sensed.
    #[test]
    fn no_exchange_begins_within_difs_of_a_frame(
        params in any_params(),
        steps in prop::collection::vec((0u64..3000, 0u32..3, 100u64..2000, any::<bool>()), 1..40),
    ) {
        let mut bench = Bench::new(&params);
        let mut us = 0.0;
        let mut heard: Vec<(f64, f64)> = Vec::new();
        for (wait, kind, airtime, weak) in steps {
            us += wait as f64;
            bench.until(us);
            if kind == 0 && bench.mac.is_ready() {
                bench.send(us, if weak { NodeId::BROADCAST } else { PEER });
            } else if kind > 0 {
                let power = if weak { STRONG / 1e3 } else { STRONG };
                bench.hear_at(us, frame(FrameKind::Data, OTHER, PEER, airtime, 0), power);
                heard.push((us, us + airtime as f64));
            }
        }
        bench.until(us + 1e6);
        for (sent, frame) in bench.frames() {
            let begins = frame.kind == FrameKind::Rts || frame.to.is_broadcast();
            let sensed = |start: f64| if params.cca_time_us == 0.0 { start < sent } else { start + params.cca_time_us <= sent };
            let disturbed = heard.iter().any(|&(start, end)| sensed(start) && sent < end + 50.0);
            prop_assert!(!(begins && disturbed), "{:?} at {sent}, heard {heard:?}", frame.kind);
        }
    }
}
