//! Stories on a virtual clock: a sender and a receiver at the ends of a pipe with delay and scripted losses,
//! or a sender alone that is told what comes back.

mod ecn;
mod formulas;
mod freeze;
mod ns2;
mod persist;
mod predictors;
mod route_failure;
mod smart;
mod spurious;
mod timer;
mod variants;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::kernel::{Purpose, Span, Stream, Streams, Time};
use crate::wire::NodeId;
use crate::wire::tcp::{AckOrder, AckSigns, SackBlocks, SegmentRanges};

const MS: u64 = 1_000_000;

/// No segment is sent.
const NOTHING: [u32; 0] = [];

fn ms(millis: u64) -> Time {
    Time(millis * MS)
}

fn ack(next: u32) -> Segment {
    Segment::Ack { next, sack: SackBlocks::new(), signs: AckSigns::default() }
}

/// An ACK with ECN-Echo.
fn echo(next: u32) -> Segment {
    let signs = AckSigns { ece: true, ..AckSigns::default() };
    Segment::Ack { next, sack: SackBlocks::new(), signs }
}

fn sack(next: u32, blocks: &[(u32, u32)]) -> Segment {
    Segment::Ack { next, sack: SackBlocks::from_slice(blocks), signs: AckSigns::default() }
}

fn data(number: u32) -> Segment {
    Segment::Data { number, payload: 1000, sent: Time::ZERO, retransmission: false, cwr: false }
}

/// The numbers of the data segments in `out`, which is emptied.
fn sent(out: &mut Vec<Output>) -> Vec<u32> {
    let number = |output| match output {
        Output::Send { segment: Segment::Data { number, .. }, .. } => Some(number),
        _ => None,
    };
    out.drain(..).filter_map(number).collect()
}

/// An ACK's `next`, its IP length, its SACK blocks.
type AckParts = (u32, u32, Vec<(u32, u32)>);

/// The ACKs in `out`, which is emptied.
fn acks(out: &mut Vec<ReceiverOutput>) -> Vec<AckParts> {
    let parts = |output| match output {
        ReceiverOutput::Send { segment: Segment::Ack { next, sack, .. }, bytes, .. } => {
            Some((next, bytes, sack.to_vec()))
        }
        _ => None,
    };
    out.drain(..).filter_map(parts).collect()
}

/// What a receiver sends, as what a sender sends.
fn sent_by_receiver(out: Vec<ReceiverOutput>) -> impl Iterator<Item = Output> {
    out.into_iter().filter_map(|output| match output {
        ReceiverOutput::Send { segment, bytes, ecn } => Some(Output::Send { segment, bytes, ecn }),
        ReceiverOutput::InOrder(_) | ReceiverOutput::Judged(_) => None,
    })
}

/// A sender alone.
struct Alone {
    sender: Sender,
    now: Time,
}

impl Alone {
    /// Endless data, handed over at time zero; what that sends is forgotten.
    fn with(params: &TcpParams) -> Alone {
        let mut alone = Alone { sender: Sender::new(params, Span::ZERO), now: Time::ZERO };
        alone.sender.handle_write(Time::ZERO, None, &mut Vec::new());
        alone
    }

    /// Tells it `segment` after `after_ms`, and says what it sends.
    fn hear(&mut self, after_ms: u64, segment: &Segment) -> Vec<u32> {
        let mut out = Vec::new();
        self.now += Span::from_millis(after_ms);
        self.sender.handle_ack(self.now, segment, &mut out);
        sent(&mut out)
    }

    /// Waits for the timer; says how long, in milliseconds, and what is sent.
    fn time_out(&mut self) -> (u64, Vec<u32>) {
        let mut out = Vec::new();
        let waited = self.sender.next_timeout().since(self.now);
        self.now = self.sender.next_timeout();
        self.sender.handle_timeout(self.now, &mut out);
        (waited.0 / MS, sent(&mut out))
    }

    /// The SYN and segments 1 to 3 are acknowledged, 4 to 8 outstanding, the window is five. For ns-2.35.
    fn five_outstanding(params: &TcpParams) -> Alone {
        let mut alone = Alone::with(params);
        assert_eq!(alone.hear(100, &ack(1)), [1, 2]);
        assert_eq!(alone.hear(100, &ack(2)), [3, 4]);
        assert_eq!(alone.hear(0, &ack(3)), [5, 6]);
        assert_eq!(alone.hear(100, &ack(4)), [7, 8]);
        assert!(same(alone.sender.cwnd(), 5.0));
        alone
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Sender and receiver with a delay between them, each way; 50 ms if nothing else is said.
struct Pipe {
    sender: Sender,
    receiver: Receiver,
    now: Time,
    under_way: BTreeMap<(Time, u64), (Segment, Ecn)>,
    order: u64,
    /// Loses the nth transmission of segment m, counted from one, for each (m, n).
    losses: Vec<(u32, u32)>,
    transmissions: BTreeMap<u32, u32>,
    /// What the sender sent: when in milliseconds, and the number.
    log: Vec<(u64, u32)>,
    /// From one end to the other.
    delay: Span,
    /// Nothing gets on before.
    held_until: Time,
    /// What is sent from the one to the other is lost.
    broken: (Time, Time),
    /// Loses these transmissions, counted from zero.
    lost: Vec<usize>,
    /// Marks these transmissions, counted from zero.
    marked: Vec<usize>,
    /// The window at each transmission.
    windows: Vec<f64>,
    finished: Vec<Time>,
}

impl Pipe {
    fn with(params: &TcpParams, losses: &[(u32, u32)]) -> Pipe {
        Pipe {
            sender: Sender::new(params, Span::ZERO),
            receiver: Receiver::new(params),
            now: Time::ZERO,
            under_way: BTreeMap::new(),
            order: 0,
            losses: losses.to_vec(),
            transmissions: BTreeMap::new(),
            log: Vec::new(),
            delay: Span::from_millis(50),
            held_until: Time::ZERO,
            broken: (Time::NEVER, Time::NEVER),
            lost: Vec::new(),
            marked: Vec::new(),
            windows: Vec::new(),
            finished: Vec::new(),
        }
    }

    fn write(&mut self, bytes: Option<u64>) -> &mut Pipe {
        let mut out = Vec::new();
        self.sender.handle_write(self.now, bytes, &mut out);
        self.carry(out);
        self
    }

    fn carry(&mut self, out: Vec<Output>) {
        for output in out {
            let (segment, mut ecn) = match output {
                Output::Send { segment, ecn, .. } => (segment, ecn),
                Output::Finished => {
                    self.finished.push(self.now);
                    continue;
                }
                Output::Acknowledged | Output::TimedOut | Output::Judged(_) => continue,
            };
            if let Segment::Data { number, .. } = segment {
                self.log.push((self.now.0 / MS, number));
                self.windows.push(self.sender.cwnd());
                let times = self.transmissions.entry(number).or_default();
                *times += 1;
                let nth = self.log.len() - 1;
                if self.losses.contains(&(number, *times)) || self.lost.contains(&nth) {
                    continue;
                }
                if self.marked.contains(&nth) {
                    assert_eq!(ecn, Ecn::Ect, "{number} may not be marked");
                    ecn = Ecn::Ce;
                }
            }
            if self.broken.0 <= self.now && self.now < self.broken.1 {
                continue;
            }
            self.order += 1;
            let arrival = self.now.max(self.held_until) + self.delay;
            self.under_way.insert((arrival, self.order), (segment, ecn));
        }
    }

    /// Holds the path for a while: what is under way arrives so much later, in order, and what is sent
    /// meanwhile after it.
    fn hold(&mut self, millis: u64) -> &mut Pipe {
        let span = Span::from_millis(millis);
        self.held_until = self.now + span;
        let under_way = std::mem::take(&mut self.under_way);
        self.under_way = under_way.into_iter().map(|((at, n), packet)| ((at + span, n), packet)).collect();
        self
    }

    /// Lets all happen that happens before `end_ms`.
    fn run(&mut self, end_ms: u64) -> &mut Pipe {
        let mut steps = 0;
        while let Some(now) = self.next_event().filter(|&now| now < ms(end_ms)) {
            steps += 1;
            assert!(steps < 1_000_000, "no end, at {} ns", now.0);
            self.now = now;
            let (mut out, mut answers) = (Vec::new(), Vec::new());
            match self.under_way.first_entry().filter(|first| first.key().0 == now) {
                Some(first) => match first.remove() {
                    (segment @ Segment::Data { .. }, ecn) => {
                        self.receiver.handle_data(now, &segment, ecn, &mut answers);
                    }
                    (segment, _) => self.sender.handle_ack(now, &segment, &mut out),
                },
                None => {
                    self.sender.handle_timeout(now, &mut out);
                    self.receiver.handle_timeout(now, &mut answers);
                }
            }
            out.extend(sent_by_receiver(answers));
            self.carry(out);
        }
        self.now = ms(end_ms);
        self
    }

    fn next_event(&self) -> Option<Time> {
        let arrival = self.under_way.keys().next().map_or(Time::NEVER, |key| key.0);
        let timer = self.sender.next_timeout().min(self.receiver.next_timeout());
        Some(arrival.min(timer)).filter(|&time| time != Time::NEVER)
    }

    /// How many segments were sent at each instant, in order.
    fn bursts(&self) -> Vec<(u64, usize)> {
        let mut bursts: BTreeMap<u64, usize> = BTreeMap::new();
        for (time, _) in &self.log {
            *bursts.entry(*time).or_default() += 1;
        }
        bursts.into_iter().collect()
    }
}

#[test]
fn slow_start_doubles_each_round_trip_up_to_the_window() {
    let mut pipe = Pipe::with(&TcpParams::cmu_1998(), &[]);
    pipe.write(None).run(550);
    assert_eq!(pipe.bursts(), [(0, 1), (100, 2), (200, 4), (300, 8), (400, 16), (500, 20)]);
}

#[test]
fn the_syn_goes_first_and_its_ack_opens_the_initial_window() {
    let mut sender = Sender::new(&TcpParams::ns_2_35(), Span::ZERO);
    let mut out = Vec::new();
    sender.handle_write(Time::ZERO, None, &mut out);
    let syn = Segment::Data { number: 0, payload: 0, sent: Time::ZERO, retransmission: false, cwr: false };
    assert_eq!(out, [Output::Send { segment: syn, bytes: 40, ecn: Ecn::NotEct }]);
    out.clear();
    sender.handle_ack(ms(100), &ack(1), &mut out);
    assert_eq!(out[0], Output::Acknowledged);
    assert!(matches!(
        out[1],
        Output::Send { segment: Segment::Data { number: 1, payload: 1000, .. }, bytes: 1040, .. }
    ));
    assert_eq!(sent(&mut out), [1, 2]);
    assert!(same(sender.cwnd(), 2.0));
}

#[test]
fn a_syn_may_be_longer_than_a_segments_header() {
    let mut sender = Sender::new(&TcpParams::ns_2_1b8a(), Span::ZERO);
    let mut out = Vec::new();
    sender.handle_write(Time::ZERO, None, &mut out);
    sender.handle_ack(ms(100), &ack(1), &mut out);
    let lengths: Vec<u32> = out
        .iter()
        .filter_map(|output| match output {
            Output::Send { bytes, .. } => Some(*bytes),
            _ => None,
        })
        .collect();
    assert_eq!(lengths, [60, 1020, 1020]);
}

#[test]
fn a_lost_syn_makes_the_initial_window_one() {
    for (params, window) in [(TcpParams::ns_2_35(), 1.0), (TcpParams::ns_2_1b9(), 2.0)] {
        let mut alone = Alone::with(&params);
        assert_eq!(alone.time_out().1, [0]);
        alone.hear(100, &ack(1));
        assert!(same(alone.sender.cwnd(), window));
    }
}

#[test]
fn congestion_avoidance_adds_a_segment_per_window() {
    let params = TcpParams { window: 2, ..TcpParams::cmu_1998() };
    let mut alone = Alone::with(&params);
    let mut cwnd = Vec::new();
    for next in 1..=4 {
        alone.hear(10, &ack(next));
        cwnd.push(alone.sender.cwnd());
    }
    let wanted = [2.0, 2.5, 2.9, 2.9 + 1.0 / 2.9];
    assert!(cwnd.iter().zip(wanted).all(|(&found, wanted)| same(found, wanted)), "{cwnd:?}");
}

#[test]
fn the_third_duplicate_starts_fast_recovery() {
    let mut alone = Alone::five_outstanding(&TcpParams::ns_2_35());
    // Limited transmit, twice.
    assert_eq!(alone.hear(10, &ack(4)), [9]);
    assert_eq!(alone.hear(10, &ack(4)), [10]);
    // cwnd = 5 / 2, inflated to 2 + 3: nothing beyond the retransmission until it reaches 4..=11.
    assert_eq!(alone.hear(10, &ack(4)), [4]);
    assert!(same(alone.sender.cwnd(), 2.5) && same(alone.sender.ssthresh(), 2.0));
    assert_eq!(alone.hear(10, &ack(4)), NOTHING);
    assert_eq!(alone.hear(10, &ack(4)), NOTHING);
    assert_eq!(alone.hear(10, &ack(4)), [11]);
    // Deflated, and opened by one step of congestion avoidance: 2.5 + 1 / 2.5 allows 11 and 12.
    assert_eq!(alone.hear(70, &ack(11)), [12]);
    assert!(same(alone.sender.cwnd(), 2.9));
    assert_eq!(alone.sender.counters().fast_retransmits, 1);
}

#[test]
fn the_standard_halves_the_flight_without_limited_transmit() {
    let mut alone = Alone::five_outstanding(&TcpParams { initial_window: 2, ..TcpParams::rfc() });
    for _ in 0..3 {
        alone.hear(10, &ack(4));
    }
    assert!(same(alone.sender.cwnd(), 2.5) && same(alone.sender.ssthresh(), 2.5));
}

#[test]
fn ns_2_1b9_halves_in_whole_segments() {
    let mut alone = Alone::five_outstanding(&TcpParams::ns_2_1b9());
    for _ in 0..3 {
        alone.hear(10, &ack(4));
    }
    assert!(same(alone.sender.cwnd(), 2.0) && same(alone.sender.ssthresh(), 2.0));
}

#[test]
fn without_limited_transmit_the_first_two_duplicates_send_nothing() {
    let params = TcpParams { limited_transmit: false, ..TcpParams::ns_2_35() };
    let mut alone = Alone::five_outstanding(&params);
    assert_eq!(alone.hear(10, &ack(4)), NOTHING);
    assert_eq!(alone.hear(10, &ack(4)), NOTHING);
    assert_eq!(alone.hear(10, &ack(4)), [4]);
    // The window was 2 + 3 and is 2 + 4 now: 4..=9.
    assert_eq!(alone.hear(10, &ack(4)), [9]);
}

#[test]
fn tahoe_starts_again_from_the_lost_segment_with_a_window_of_one() {
    let params = TcpParams { variant: TcpVariant::Tahoe, limited_transmit: false, ..TcpParams::ns_2_35() };
    let mut alone = Alone::five_outstanding(&params);
    let duplicates: Vec<_> = (0..4).map(|_| alone.hear(10, &ack(4))).collect();
    assert_eq!(duplicates, [vec![], vec![], vec![4], vec![]]);
    assert!(same(alone.sender.cwnd(), 1.0) && same(alone.sender.ssthresh(), 2.0));
    assert_eq!(alone.hear(60, &ack(9)), [9, 10]);
}

/// Tahoe counts duplicates on across a timeout, Reno starts again and may send by limited transmit.
#[test]
fn duplicates_from_before_a_timeout_send_nothing_in_tahoe() {
    for (variant, sends) in [(TcpVariant::Reno, vec![5]), (TcpVariant::Tahoe, vec![])] {
        let mut alone = Alone::five_outstanding(&TcpParams { variant, ..TcpParams::ns_2_35() });
        for _ in 0..4 {
            alone.hear(1, &ack(4));
        }
        assert_eq!(alone.time_out().1, [4]);
        assert_eq!(alone.hear(1, &ack(4)), sends);
    }
}

#[test]
fn one_window_has_one_fast_retransmit() {
    for (one, wanted) in [(true, 1), (false, 2)] {
        let params = TcpParams { one_fast_retransmit_per_window: one, ..TcpParams::ns_2_35() };
        let mut alone = Alone::five_outstanding(&params);
        for next in [4, 4, 4, 5, 5, 5, 5] {
            alone.hear(10, &ack(next));
        }
        assert_eq!(alone.sender.counters().fast_retransmits, wanted);
    }
}

#[test]
fn before_2003_duplicates_inflated_the_window_without_recovery() {
    for (params, sends) in [(TcpParams::ns_2_35(), false), (TcpParams::ns_2_1b9(), true)] {
        let mut alone = Alone::five_outstanding(&params);
        alone.time_out();
        // Three duplicates of segment 4, which must not be fast retransmitted again.
        let duplicates: Vec<_> = (0..3).map(|_| alone.hear(1, &ack(4))).collect();
        assert_eq!(duplicates, [vec![5], vec![6], if sends { vec![7] } else { vec![] }]);
        assert_eq!(alone.sender.counters().fast_retransmits, 0);
    }
}

/// Segments 8 and 10 are lost in a window of eight: Reno repairs the first and waits for the timer.
#[test]
fn two_losses_in_a_window_stall_reno_until_the_timeout() {
    let params = TcpParams { window: 8, ..TcpParams::ns_2_35() };
    let mut pipe = Pipe::with(&params, &[(8, 1), (10, 1)]);
    pipe.write(Some(40_000)).run(60_000);
    let counters = pipe.sender.counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 1));
    assert_eq!(pipe.receiver.counters().bytes_in_order, 40_000);
}

#[test]
fn sack_repairs_two_losses_without_a_timeout() {
    let params = TcpParams { window: 8, sack: true, ..TcpParams::ns_2_35() };
    let mut pipe = Pipe::with(&params, &[(8, 1), (10, 1)]);
    pipe.write(Some(40_000)).run(60_000);
    let counters = pipe.sender.counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts, counters.retransmissions), (1, 0, 2));
    assert_eq!(pipe.receiver.counters().bytes_in_order, 40_000);
}

#[test]
fn sack_recovery_keeps_the_pipe_at_half_the_window() {
    let mut alone = Alone::five_outstanding(&TcpParams { sack: true, ..TcpParams::ns_2_35() });
    assert_eq!(alone.hear(10, &sack(4, &[(5, 6)])), [9]);
    assert_eq!(alone.hear(0, &sack(4, &[(5, 6)])), NOTHING, "no news is no duplicate");
    assert_eq!(alone.hear(10, &sack(4, &[(5, 6), (7, 8)])), [10]);
    // 5, 7, 8 held: 4 is lost and sent again, 6 is not lost; with 9 and 10 the pipe is 4, cwnd 2.5.
    assert_eq!(alone.hear(10, &sack(4, &[(7, 9), (5, 6)])), [4]);
    // 9 held: 6 is lost now, pipe 4, 10.
    assert_eq!(alone.hear(10, &sack(4, &[(7, 10), (5, 6)])), NOTHING);
    // 10 held: pipe 4; then 6.
    assert_eq!(alone.hear(10, &sack(4, &[(7, 11), (5, 6)])), [6]);
    // 4 arrived: pipe 6; nothing is left to repair, so 11.
    assert_eq!(alone.hear(10, &sack(6, &[(7, 11)])), [11]);
    // All that was outstanding is acknowledged: the window stays at 2.5.
    assert_eq!(alone.hear(10, &ack(11)), [12]);
    assert!(same(alone.sender.cwnd(), 2.5));
}

#[test]
fn a_timeout_forgets_the_scoreboard_and_goes_back_to_the_first_segment() {
    let mut alone = Alone::five_outstanding(&TcpParams { sack: true, ..TcpParams::ns_2_35() });
    alone.hear(10, &sack(4, &[(5, 7)]));
    assert_eq!(alone.time_out().1, [4]);
    assert_eq!(alone.hear(10, &ack(5)), [5, 6]);
}

#[test]
fn the_timer_backs_off_and_the_window_falls_to_one() {
    let mut alone = Alone::five_outstanding(&TcpParams::ns_2_35());
    // Three samples of 10 ticks (the SYN, 1, 3): srtt = 80, rttvar = 20, 15 and 15 - 3 = 12.
    // RTO = (12 · 8 + 80) / 8 = 22 ticks.
    assert_eq!(alone.sender.rto(), Span::from_millis(220));
    assert_eq!(alone.time_out(), (220, vec![4]));
    assert!(same(alone.sender.cwnd(), 1.0) && same(alone.sender.ssthresh(), 2.0));
    assert_eq!(alone.time_out(), (440, vec![4]));
    assert_eq!(alone.time_out(), (880, vec![4]));
    assert_eq!(alone.sender.counters().timeouts, 3);
}

#[test]
fn a_repeated_timeout_leaves_the_threshold_of_the_standard_alone() {
    let mut alone = Alone::five_outstanding(&TcpParams { initial_window: 2, ..TcpParams::rfc() });
    alone.time_out();
    assert!(same(alone.sender.ssthresh(), 2.5));
    alone.time_out();
    assert!(same(alone.sender.ssthresh(), 2.5));
}

/// Karn: an ACK of a retransmission gives no sample and does not end the back-off; the ACK of the first new
/// segment does.
#[test]
fn the_back_off_lasts_until_a_fresh_sample() {
    let mut alone = Alone::five_outstanding(&TcpParams::ns_2_35());
    let (rto, srtt) = (alone.sender.rto(), alone.sender.srtt());
    alone.time_out();
    assert_eq!(alone.hear(100, &ack(9)), [9, 10]);
    assert_eq!((alone.sender.rto(), alone.sender.srtt()), (rto * 2, srtt));
    alone.hear(100, &ack(10));
    assert!(alone.sender.rto() < rto);
}

#[test]
fn the_fixed_timeout_returns_with_a_sample_or_with_the_first_ack() {
    for (backoff_end, rto) in [(BackoffEnd::Sample, 440), (BackoffEnd::NewAck, 220)] {
        let params = TcpParams { rto_policy: RtoPolicy::Fixed, backoff_end, ..TcpParams::ns_2_35() };
        let mut alone = Alone::five_outstanding(&params);
        let waits: Vec<u64> = (0..4).map(|_| alone.time_out().0).collect();
        assert_eq!(waits, [220, 440, 440, 440]);
        alone.hear(10, &ack(4));
        assert_eq!(alone.sender.rto(), Span::from_millis(440), "a duplicate changes nothing");
        alone.hear(100, &ack(5));
        assert_eq!(alone.sender.rto(), Span::from_millis(rto));
        // Still in back-off, it does not double again.
        assert_eq!((alone.time_out().0, alone.sender.rto()), (rto, Span::from_millis(440)));
    }
}

/// Before `timerfix_` the ACK with the fresh sample still set the timer from the old timeout.
#[test]
fn the_timer_may_be_set_before_the_sample() {
    // A sample of 1 tick makes an RTO of 3; another of 5: srtt = 8 + 4, rttvar = 2 + 4, RTO = 60 / 8 = 7.
    for (after_sample, wait) in [(true, 700), (false, 300)] {
        let params = TcpParams { timer_after_sample: after_sample, ..TcpParams::cmu_1998() };
        let mut alone = Alone::with(&params);
        alone.hear(100, &ack(1));
        alone.hear(500, &ack(2));
        assert_eq!(alone.time_out().0, wait);
    }
}

/// docs/models/profiles.md.
#[test]
fn timeouts_of_1998_grow_to_64_s() {
    let mut alone = Alone::with(&TcpParams::cmu_1998());
    let waits = [0; 6].map(|_| alone.time_out().0);
    assert_eq!(waits, [6000, 12_000, 24_000, 48_000, 64_000, 64_000]);
}

#[test]
fn no_data_acknowledged_means_no_timer() {
    let params = TcpParams { segment_bytes: 1000, ..TcpParams::cmu_1998() };
    let mut sender = Sender::new(&params, Span::ZERO);
    let mut out = Vec::new();
    sender.handle_write(Time::ZERO, Some(1), &mut out);
    assert_eq!(sender.next_timeout(), ms(6000));
    sender.handle_timeout(ms(5999), &mut out);
    assert_eq!(sender.counters().timeouts, 0, "an early call does nothing");
    sender.handle_ack(ms(10), &ack(1), &mut out);
    assert_eq!(sender.next_timeout(), Time::NEVER);
    assert_eq!(out.last(), Some(&Output::Finished));
}

#[test]
fn the_last_segment_of_a_write_is_shorter() {
    let params = TcpParams { initial_window: 8, segment_bytes: 1000, ..TcpParams::cmu_1998() };
    let mut sender = Sender::new(&params, Span::ZERO);
    let mut out = Vec::new();
    for bytes in [2001, 1000, 0, 1] {
        sender.handle_write(Time::ZERO, Some(bytes), &mut out);
    }
    let lengths: Vec<u32> = out
        .iter()
        .map(|output| match output {
            Output::Send { segment: Segment::Data { payload, .. }, bytes, .. } => {
                assert_eq!(*bytes, payload + 20);
                *payload
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lengths, [1000, 1000, 1, 1000, 1]);
    sender.handle_ack(ms(1), &ack(3), &mut out);
    assert_eq!((sender.counters().bytes_sent, sender.counters().bytes_acked), (3002, 2001));
}

#[test]
fn after_a_close_only_what_was_sent_is_brought_to_its_end() {
    let mut alone = Alone::five_outstanding(&TcpParams::ns_2_35());
    alone.sender.handle_close();
    assert_eq!(alone.hear(10, &ack(6)), NOTHING);
    assert_eq!(alone.time_out().1, [6]);
    let mut out = Vec::new();
    alone.sender.handle_ack(alone.now, &ack(9), &mut out);
    alone.sender.handle_write(alone.now, Some(1), &mut out);
    assert_eq!(out, [Output::Acknowledged, Output::Finished]);
}

#[test]
fn old_and_impossible_acks_change_nothing() {
    let mut alone = Alone::five_outstanding(&TcpParams::ns_2_35());
    let before = (alone.sender.counters().clone(), alone.sender.next_timeout());
    assert_eq!(alone.hear(1, &ack(3)), NOTHING);
    assert_eq!(alone.hear(1, &ack(10)), NOTHING);
    assert_eq!((alone.sender.counters().clone(), alone.sender.next_timeout()), before);
}

#[test]
fn idle_time_closes_the_window_to_the_restart_window() {
    for (restart, gap_ms, burst) in [(1, 1000, 1), (0, 1000, 8), (1, 150, 8)] {
        let params = TcpParams { restart_window: restart, ..TcpParams::ns_2_35() };
        let mut pipe = Pipe::with(&params, &[]);
        pipe.write(Some(20_000)).run(2000);
        let start = pipe.finished[0] + Span::from_millis(gap_ms);
        pipe.now = start;
        pipe.log.clear();
        pipe.write(Some(8000));
        assert_eq!(pipe.log.len(), burst, "restart window {restart}, idle for {gap_ms} ms");
    }
}

/// RFC 5681 §4.1 is about a connection that has sent.
#[test]
fn time_before_the_first_segment_is_not_idle_time() {
    let params = TcpParams { initial_window: 8, restart_window: 1, ..TcpParams::cmu_1998() };
    let mut out = Vec::new();
    Sender::new(&params, Span::ZERO).handle_write(ms(10_000), None, &mut out);
    assert_eq!(sent(&mut out), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn every_second_segment_in_order_is_acknowledged_and_the_odd_one_in_time() {
    let mut receiver = Receiver::new(&TcpParams::rfc());
    let mut out = Vec::new();
    receiver.handle_data(ms(0), &data(0), Ecn::NotEct, &mut out);
    assert_eq!(acks(&mut out), [(1, 40, vec![])], "the SYN");
    receiver.handle_data(ms(10), &data(1), Ecn::NotEct, &mut out);
    assert_eq!((acks(&mut out), receiver.next_timeout()), (vec![], ms(110)));
    receiver.handle_data(ms(20), &data(2), Ecn::NotEct, &mut out);
    assert_eq!((acks(&mut out), receiver.next_timeout()), (vec![(3, 40, vec![])], Time::NEVER));
    receiver.handle_data(ms(30), &data(3), Ecn::NotEct, &mut out);
    receiver.handle_timeout(ms(129), &mut out);
    assert_eq!(acks(&mut out), []);
    receiver.handle_timeout(ms(130), &mut out);
    assert_eq!(acks(&mut out), [(4, 40, vec![])]);
}

#[test]
fn what_is_out_of_order_is_acknowledged_at_once() {
    let mut receiver = Receiver::new(&TcpParams::rfc());
    let mut out = Vec::new();
    receiver.handle_data(ms(0), &data(0), Ecn::NotEct, &mut out);
    receiver.handle_data(ms(1), &data(1), Ecn::NotEct, &mut out);
    out.clear();
    // A gap ends the delay of segment 1's ACK, segment 2 fills the gap but for 3, 1 comes again.
    for (number, next) in [(4, 2), (2, 3), (3, 5), (1, 5)] {
        receiver.handle_data(ms(2), &data(number), Ecn::NotEct, &mut out);
        assert_eq!(acks(&mut out), [(next, 40, vec![])], "segment {number}");
    }
    assert_eq!((receiver.counters().duplicates, receiver.counters().segments_received), (1, 6));
}

#[test]
fn a_segment_beyond_the_window_is_answered_and_forgotten() {
    let mut receiver = Receiver::new(&TcpParams { window: 4, ..TcpParams::ns_2_35() });
    let mut out = Vec::new();
    for number in [4, 1, 2, 3, 0] {
        receiver.handle_data(ms(0), &data(number), Ecn::NotEct, &mut out);
    }
    let next: Vec<u32> = acks(&mut out).iter().map(|ack| ack.0).collect();
    assert_eq!(next, [0, 0, 0, 0, 4]);
}

#[test]
fn sack_blocks_come_most_recent_first() {
    let mut receiver = Receiver::new(&TcpParams { sack: true, delayed_ack: false, ..TcpParams::rfc() });
    let mut out = Vec::new();
    for number in [2, 4, 6, 8, 3] {
        receiver.handle_data(ms(0), &data(number), Ecn::NotEct, &mut out);
    }
    let last = acks(&mut out).pop().expect("an ACK for each");
    // 4 for the option, 8 for each block.
    assert_eq!(last, (0, 40 + 4 + 24, vec![(2, 5), (8, 9), (6, 7)]));
    for (number, next, blocks) in [(0, 1, 3), (1, 5, 2), (5, 7, 1), (7, 9, 0)] {
        receiver.handle_data(ms(0), &data(number), Ecn::NotEct, &mut out);
        let found = acks(&mut out).pop().expect("an ACK for each");
        assert_eq!((found.0, found.2.len()), (next, blocks));
    }
}

#[test]
fn the_first_data_segment_is_noted_not_the_syn() {
    let mut pipe = Pipe::with(&TcpParams::ns_2_35(), &[(1, 1)]);
    pipe.write(Some(1000)).run(20_000);
    // SYN at 0, ACK at 100 ms, 1 lost; RTO 30 ticks.
    assert_eq!(pipe.receiver.counters().first_data, Some((ms(400), ms(450))));
}

#[test]
fn a_flow_to_nowhere_sends_its_syn_at_doubling_intervals() {
    let losses: Vec<(u32, u32)> = (1..=10).map(|times| (0, times)).collect();
    for (name, times) in [("reno", [0, 3, 9, 21, 45, 93, 153]), ("fixed-rto", [0, 3, 9, 15, 21, 27, 33])] {
        let mut params = TcpParams::ns_2_35();
        assert!(params.apply_sender(name));
        let mut pipe = Pipe::with(&params, &losses);
        pipe.write(None).run(154_000);
        let seconds: Vec<u64> = pipe.log.iter().map(|sent| sent.0 / 1000).take(7).collect();
        assert_eq!(seconds, times, "{name}");
    }
}

#[test]
fn every_profile_and_sender_is_within_the_ranges() {
    for profile in [TcpParams::rfc(), TcpParams::ns_2_35(), TcpParams::ns_2_1b9(), TcpParams::cmu_1998()] {
        for name in SENDER_NAMES {
            let mut params = profile.clone();
            assert!(params.apply_sender(name));
            assert_eq!(params.check(), Ok(()), "{name}");
        }
    }
    let mut params = TcpParams::rfc();
    assert!(!params.apply_sender("renoo"));
    assert_eq!(params, TcpParams::rfc());
}

#[test]
fn sender_names_mean_what_they_say() {
    let parts = |name| {
        let mut params = TcpParams::ns_2_35();
        assert!(params.apply_sender(name));
        assert_eq!(params.route_failure, RouteFailureScheme::None);
        let recovery = (params.sack, params.partial_ack_recovery);
        (params.variant, recovery, params.rto_policy, params.hold_down, params.delayed_ack)
    };
    use {RtoPolicy::*, TcpVariant::*};
    let (none, partial, sack) = ((false, false), (false, true), (true, false));
    assert_eq!(parts("reno"), (Reno, none, Exponential, false, false));
    assert_eq!(parts("tahoe"), (Tahoe, none, Exponential, false, false));
    assert_eq!(parts("newreno"), (Reno, partial, Exponential, false, false));
    assert_eq!(parts("sack"), (Reno, sack, Exponential, false, false));
    assert_eq!(parts("smart"), (Reno, sack, Exponential, false, false));
    assert_eq!(parts("vegas"), (Vegas, none, Exponential, false, false));
    assert_eq!(parts("cubic"), (Cubic, sack, Exponential, false, false));
    assert_eq!(parts("fixed-rto"), (Reno, none, Fixed, false, false));
    assert_eq!(parts("reno-f"), (Reno, sack, Fixed, false, true));
    assert_eq!(parts("fixed-first"), (Reno, none, FixedFirst, false, false));
    assert_eq!(parts("growth"), (Reno, none, Growth, false, false));
    assert_eq!(parts("hold-down"), (Reno, none, Exponential, true, false));
}

/// A network that loses, delays (and so reorders) and doubles at random.
struct Chaos {
    sender: Sender,
    receiver: Receiver,
    stream: Stream,
    loss: f64,
    window: u32,
    /// The least window: a segment, but ns-2 halves a window of one (its whole segments leave none).
    least: f64,
    under_way: BTreeMap<(Time, u64), (Segment, Ecn)>,
    order: u64,
    unsent: u32,
    promised: u32,
    acked: u32,
    finished: u32,
}

impl Chaos {
    fn carry(&mut self, now: Time, out: &mut Vec<Output>) -> Result<(), TestCaseError> {
        for output in out.drain(..) {
            let Output::Send { segment, ecn, .. } = output else {
                self.finished += u32::from(output == Output::Finished);
                continue;
            };
            match segment {
                Segment::Data { number, payload: 0, .. } if number + 1 == self.acked => {
                    prop_assert_eq!(self.acked, self.unsent, "a probe while data is outstanding");
                }
                Segment::Data { number, retransmission, .. } => {
                    prop_assert!(number < self.acked + self.window, "{number} is beyond the window");
                    prop_assert!(number >= self.acked, "{number} is acknowledged");
                    prop_assert_eq!(retransmission, number < self.unsent);
                    prop_assert!(number <= self.unsent, "{} was left out", self.unsent);
                    self.unsent = self.unsent.max(number + 1);
                }
                Segment::Ack { next, .. } => {
                    prop_assert!(next >= self.promised, "the receiver takes {next} back");
                    self.promised = next;
                }
                ref other => prop_assert!(false, "no end sends {other:?}"),
            }
            let copies = if self.stream.unit() < 0.1 { 2 } else { 1 };
            for _ in 0..copies {
                if self.stream.unit() >= self.loss {
                    self.order += 1;
                    let delay = Span::from_secs(self.stream.uniform(0.001, 0.3));
                    let is_marked = ecn == Ecn::Ect && self.stream.unit() < 0.2;
                    let ecn = if is_marked { Ecn::Ce } else { ecn };
                    self.under_way.insert((now + delay, self.order), (segment.clone(), ecn));
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, out: &mut Vec<Output>) -> Result<bool, TestCaseError> {
        let arrival = self.under_way.keys().next().map_or(Time::NEVER, |key| key.0);
        let now = arrival.min(self.sender.next_timeout()).min(self.receiver.next_timeout());
        if now == Time::NEVER {
            return Ok(false);
        }
        let mut answers = Vec::new();
        if now < arrival {
            self.sender.handle_timeout(now, out);
            self.receiver.handle_timeout(now, &mut answers);
        } else if let Some((_, (segment, ecn))) = self.under_way.pop_first() {
            if let Segment::Ack { next, .. } = segment {
                self.acked = self.acked.max(next);
            }
            self.sender.handle_ack(now, &segment, out);
            self.receiver.handle_data(now, &segment, ecn, &mut answers);
        }
        out.extend(sent_by_receiver(answers));
        // Routing tells of failures and routes at random, too.
        match self.stream.unit() {
            unit if unit < 0.01 => self.sender.handle_route_failed(now, out),
            unit if unit > 0.99 => self.sender.handle_route_found(now, out),
            unit if unit > 0.98 => {
                let from = (self.stream.unit() * 2.0 * f64::from(self.unsent)) as u32;
                let kept = SegmentRanges::from_slice(&[(from, from + 3)]);
                let ersn = Segment::Ersn { dst: NodeId(1), kept };
                self.sender.handle_notification(now, &ersn, out);
            }
            _ => {}
        }
        prop_assert!(self.sender.cwnd() >= self.least, "a window of {}", self.sender.cwnd());
        self.carry(now, out)?;
        Ok(true)
    }
}

/// Lets a transfer of `bytes` go through chaos, and checks that every byte arrives once.
fn chaos_ends(params: &TcpParams, bytes: u64, loss: f64, seed: u64) -> Result<(), TestCaseError> {
    let mut chaos = Chaos {
        sender: Sender::new(params, Span(seed % 10_000_000)),
        receiver: Receiver::new(params),
        stream: Streams::new(seed, 0).stream(0, Purpose::Channel),
        loss,
        window: params.window,
        least: match params.window_reduction {
            WindowReduction::FlightSize => 1.0,
            WindowReduction::Window => 0.5,
            WindowReduction::WindowWhole => 0.0,
        },
        under_way: BTreeMap::new(),
        order: 0,
        unsent: 0,
        promised: 0,
        acked: 0,
        finished: 0,
    };
    let mut out = Vec::new();
    chaos.sender.handle_write(Time::ZERO, Some(bytes), &mut out);
    chaos.carry(Time::ZERO, &mut out)?;
    let mut steps = 0;
    while chaos.step(&mut out)? {
        steps += 1;
        prop_assert!(steps < 100_000, "no end");
    }
    prop_assert_eq!(chaos.finished, 1);
    prop_assert_eq!(chaos.receiver.counters().bytes_in_order, bytes);
    let counters = chaos.sender.counters();
    prop_assert_eq!(counters.bytes_acked, bytes);
    let resent = counters.retransmissions + counters.window_probes;
    prop_assert_eq!(counters.segments_sent, counters.segments_acked + resent);
    Ok(())
}

fn any_params() -> impl Strategy<Value = TcpParams> {
    let profiles = [TcpParams::rfc(), TcpParams::ns_2_35(), TcpParams::ns_2_1b9(), TcpParams::cmu_1998()];
    let switches = any::<[bool; 8]>();
    (prop::sample::select(profiles.to_vec()), prop::sample::select(SENDER_NAMES), 1u32..30, switches)
        .prop_map(|(mut params, name, window, [delayed, limited, one, setup, stamps, held, ecn, slow])| {
            params.apply_sender(name);
            params.window = window;
            params.delayed_ack |= delayed;
            params.limited_transmit ^= limited;
            params.one_fast_retransmit_per_window = one;
            params.connection_setup ^= setup;
            params.timestamps = stamps;
            params.hold_down ^= held;
            params.ecn = ecn;
            params.read_bps = if slow { 20_000.0 } else { 0.0 };
            params
        })
}

proptest! {
    /// Whatever is lost, reordered and doubled, as long as something gets through: all bytes arrive, each
    /// once and in order, no window is exceeded, and no number goes back.
    #[test]
    fn a_transfer_ends_with_all_its_bytes(
        params in any_params(), bytes in 1u64..120_000, loss in 0.0f64..0.4, seed in any::<u64>(),
    ) {
        chaos_ends(&params, bytes, loss, seed)?;
    }
}
