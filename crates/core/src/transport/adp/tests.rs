//! The sequences of Dyer 2002, chapter 5, on a virtual clock.

use super::*;
use crate::kernel::{Span, Time};

/// A sender whose packets are written down as (time in ms, sequence number).
struct Bench {
    sender: Sender,
    sent: Vec<(u64, u32)>,
    dropped: Vec<u32>,
    made: u32,
}

fn ms(millis: u64) -> Time {
    Time(millis * 1_000_000)
}

impl Bench {
    fn new(params: &AdpParams, packet_bytes: u32, endless: bool) -> Bench {
        let sender = Sender::new(params, packet_bytes, endless);
        Bench { sender, sent: Vec::new(), dropped: Vec::new(), made: 0 }
    }

    fn endless(params: &AdpParams) -> Bench {
        let mut bench = Bench::new(params, 1000, true);
        bench.call(0, |sender, now, out| sender.handle_start(now, out));
        bench
    }

    fn call(&mut self, at_ms: u64, call: impl FnOnce(&mut Sender, Time, &mut Vec<Output>)) {
        let mut out = Vec::new();
        call(&mut self.sender, ms(at_ms), &mut out);
        for output in out {
            match output {
                Output::Send(Segment::Data { number, sent, payload, .. }, bytes) => {
                    assert_eq!((sent, bytes), (ms(at_ms), payload + 36), "time stamp and headers");
                    self.sent.push((at_ms, number));
                }
                Output::Send(ack, _) => panic!("a sender sends no {ack:?}"),
                Output::Dropped(message) => self.dropped.push(message),
            }
        }
    }

    /// Waits for the timer, which must fire at this time.
    fn expire(&mut self, at_ms: u64) {
        assert_eq!(self.sender.next_timeout(), ms(at_ms));
        self.call(at_ms, |sender, now, out| sender.handle_timeout(now, out));
    }

    fn ack(&mut self, at_ms: u64, number: u32) {
        self.ack_of(at_ms, number, 1, 0);
    }

    fn ack_of(&mut self, at_ms: u64, number: u32, count: u32, vector: u32) {
        let sent = self.sent.iter().find(|(_, sent)| *sent == number).expect("acknowledges what was sent").0;
        let ack = Segment::Ack { number, count, echo: ms(sent), vector };
        self.call(at_ms, |sender, now, out| sender.handle_ack(now, &ack, out));
    }

    fn frame(&mut self, at_ms: u64, bytes: u32) {
        let number = self.made;
        self.made += 1;
        self.call(at_ms, |sender, now, out| sender.handle_message(now, number, bytes, out));
    }

    /// What was sent since the last call.
    fn sent(&mut self, from: usize) -> &[(u64, u32)] {
        &self.sent[from..]
    }
}

fn clocked(policy: TtoPolicy) -> AdpParams {
    AdpParams { tto_policy: policy, ..AdpParams::default() }
}

fn windowed() -> AdpParams {
    AdpParams { variant: AdpVariant::Windowed, tto_policy: TtoPolicy::Doubling, ..AdpParams::default() }
}

/// Fig. 5.3: packet, ACK, packet, ACK; a lost packet is followed by a new one when the timer fires.
#[test]
fn each_ack_sends_the_next_packet_and_a_loss_waits_for_the_timer() {
    let mut bench = Bench::endless(&clocked(TtoPolicy::Fixed));
    bench.ack(40, 0);
    bench.ack(80, 1);
    // Packet 2, sent at 80 ms, is lost: RTT 40 and deviation 15 ms give 100 ms, below the minimum of 200 ms.
    bench.expire(280);
    bench.ack(320, 3);
    assert_eq!(bench.sent, [(0, 0), (40, 1), (80, 2), (280, 3), (320, 4)]);
    assert_eq!(bench.sender.counters().timeouts, 1);
}

/// Fig. 5.3: a timer that fires before a merely late ACK puts a second packet into the network, and it stays.
#[test]
fn a_late_ack_leaves_two_packets_under_way() {
    let mut bench = Bench::endless(&clocked(TtoPolicy::Fixed));
    bench.ack(40, 0);
    bench.expire(240);
    // The late ACK of packet 1 sends a packet although that of packet 2 is still to come.
    bench.ack(250, 1);
    bench.ack(280, 2);
    bench.ack(290, 3);
    assert_eq!(bench.sent, [(0, 0), (40, 1), (240, 2), (250, 3), (280, 4), (290, 5)]);
}

/// §5.1: RTT + 4 × variation, smoothed as TCP does; every ACK is a sample by its time stamp.
#[test]
fn the_timer_is_the_round_trip_and_four_variations() {
    let mut bench = Bench::endless(&AdpParams { tto_min_s: 0.001, ..clocked(TtoPolicy::Fixed) });
    assert_eq!(bench.sender.tto(), Span::from_millis(1000));
    bench.ack(400, 0);
    // 400 + 4 × 200.
    assert_eq!(bench.sender.tto(), Span::from_millis(1200));
    bench.ack(640, 1);
    // (7 × 400 + 240) / 8 = 380; (3 × 200 + 160) / 4 = 190.
    assert_eq!(bench.sender.tto(), Span::from_millis(380 + 4 * 190));
}

/// §5.1.1 and §5.1.2: the intervals between packets when nothing comes back.
#[test]
fn consecutive_timeouts_follow_the_policy() {
    let times = |policy| {
        let mut bench = Bench::endless(&clocked(policy));
        bench.ack(40, 0);
        for _ in 0..4 {
            let due = bench.sender.next_timeout().0 / 1_000_000;
            bench.expire(due);
        }
        bench.sent.iter().map(|(time, _)| *time).skip(1).collect::<Vec<_>>()
    };
    assert_eq!(times(TtoPolicy::Doubling), [40, 240, 640, 1440, 3040]);
    assert_eq!(times(TtoPolicy::Fixed), [40, 240, 640, 1040, 1440]);
    assert_eq!(times(TtoPolicy::Constant), [40, 240, 440, 640, 840]);
}

#[test]
fn any_ack_ends_the_doubling() {
    let mut bench = Bench::endless(&clocked(TtoPolicy::Doubling));
    bench.ack(40, 0);
    bench.expire(240);
    bench.expire(640);
    bench.ack(660, 3);
    let after = bench.sender.tto();
    assert_eq!(bench.sender.next_timeout(), ms(660) + after);
    assert_eq!(after, Span::from_millis(200));
}

#[test]
fn a_doubled_timeout_has_its_ceiling() {
    let mut bench = Bench::endless(&clocked(TtoPolicy::Doubling));
    for _ in 0..80 {
        let due = bench.sender.next_timeout().0 / 1_000_000;
        bench.expire(due);
    }
    assert_eq!(bench.sender.tto(), Span::from_millis(60_000));
}

/// §5.2: a full buffer drops the oldest frame that waits; nothing is dropped into the network.
#[test]
fn a_full_buffer_drops_the_oldest() {
    let mut bench = Bench::new(&AdpParams { buffer_frames: 2, ..clocked(TtoPolicy::Fixed) }, 65_000, false);
    for at in 0..5 {
        bench.frame(at, 100);
    }
    assert_eq!((bench.dropped.as_slice(), bench.sent.len()), ([1, 2].as_slice(), 1));
    assert_eq!(bench.sender.waiting().collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn an_unlimited_buffer_drops_nothing() {
    let mut bench = Bench::new(&AdpParams { buffer_frames: 0, ..clocked(TtoPolicy::Fixed) }, 65_000, false);
    (0..1000).for_each(|at| bench.frame(at / 10, 100));
    assert_eq!((bench.dropped.len(), bench.sender.waiting().count()), (0, 999));
}

/// An ACK that finds nothing to send permits one frame; a second one permits no second.
#[test]
fn one_permission_is_remembered() {
    let mut bench = Bench::new(&clocked(TtoPolicy::Fixed), 65_000, false);
    bench.frame(0, 100);
    bench.frame(0, 100);
    bench.expire(1000);
    bench.ack(1010, 0);
    bench.ack(1020, 1);
    assert_eq!(bench.sender.next_timeout(), Time::NEVER);
    bench.frame(1030, 100);
    bench.frame(1030, 100);
    assert_eq!(bench.sent, [(0, 0), (1000, 1), (1030, 2)]);
}

#[test]
fn a_timer_that_finds_nothing_to_send_permits_the_next_frame() {
    let mut bench = Bench::new(&clocked(TtoPolicy::Fixed), 65_000, false);
    bench.frame(0, 100);
    bench.expire(1000);
    assert_eq!(bench.sender.next_timeout(), Time::NEVER);
    bench.frame(1500, 100);
    assert_eq!(bench.sent, [(0, 0), (1500, 1)]);
}

#[test]
fn a_frame_is_cut_into_packets_that_each_wait_for_their_ack() {
    let mut bench = Bench::new(&clocked(TtoPolicy::Fixed), 1000, false);
    bench.frame(0, 2500);
    bench.ack(10, 0);
    bench.ack(20, 1);
    bench.ack(30, 2);
    assert_eq!(bench.sent, [(0, 0), (10, 1), (20, 2)]);
    assert_eq!(bench.sender.counters().bytes_sent, 2500);
}

/// Fig. 5.4: the window grows by one packet a round trip from one on, without slow start.
#[test]
fn the_window_grows_by_one_packet_a_round_trip() {
    let mut bench = Bench::endless(&windowed());
    bench.ack(40, 0);
    assert_eq!(bench.sent(1), [(40, 1), (40, 2)]);
    assert_eq!(Some(bench.sender.window()), Some(2.0));
    bench.ack(80, 1);
    bench.ack(80, 2);
    // 2 + 1/2 + 1/2.5: not yet three.
    assert_eq!(bench.sent(3), [(80, 3), (80, 4)]);
    bench.ack(120, 3);
    assert_eq!(bench.sent(5), [(120, 5), (120, 6)]);
    assert_eq!(bench.sender.outstanding(), 3);
}

/// Fig. 5.4: at a timeout both edges go to the one packet that is sent, and the window to one.
#[test]
fn a_timeout_collapses_the_window_and_late_acks_still_count() {
    let mut bench = Bench::endless(&windowed());
    bench.ack(40, 0);
    bench.expire(240);
    assert_eq!(bench.sent(3), [(240, 3)]);
    assert_eq!((bench.sender.window(), bench.sender.outstanding()), (1.0, 1));
    // Packet 1 was sent before the timeout, and its ACK comes late: the window opens, and one packet more
    // goes out.
    bench.ack(250, 1);
    assert_eq!(bench.sent(4), [(250, 4)]);
    assert_eq!((bench.sender.window(), bench.sender.outstanding()), (2.0, 2));
    // The same ACK again changes nothing.
    bench.ack(251, 1);
    assert_eq!((bench.sent(5).len(), bench.sender.window()), (0, 2.0));
}

/// Only one previous left edge is remembered; the ACK of an older packet still may not stop the flow.
#[test]
fn an_ack_from_before_the_previous_edge_does_not_count_and_stalls_nothing() {
    let mut bench = Bench::endless(&windowed());
    bench.expire(1000);
    bench.expire(3000);
    bench.ack(3100, 0);
    assert_eq!((bench.sender.window(), bench.sent.len()), (1.0, 3));
    assert_ne!(bench.sender.next_timeout(), Time::NEVER);
}

#[test]
fn an_ack_of_nothing_sent_is_ignored() {
    let mut bench = Bench::endless(&clocked(TtoPolicy::Fixed));
    let ack = Segment::Ack { number: 1, count: 1, echo: Time::ZERO, vector: 0 };
    bench.call(5, |sender, now, out| sender.handle_ack(now, &ack, out));
    assert_eq!(bench.sent, [(0, 0)]);
}

#[test]
fn a_closed_sender_falls_silent() {
    let mut bench = Bench::endless(&clocked(TtoPolicy::Fixed));
    bench.sender.handle_close();
    bench.ack(40, 0);
    assert_eq!((bench.sent.len(), bench.sender.next_timeout()), (1, Time::NEVER));
}

// The receiver.

fn data(number: u32, sent_ms: u64) -> Segment {
    Segment::Data { number, sent: ms(sent_ms), message: number, payload: 100 }
}

fn answers(receiver: &mut Receiver, now_ms: u64, number: u32) -> Vec<Output> {
    let mut out = Vec::new();
    receiver.handle_data(ms(now_ms), &data(number, now_ms - 5), &mut out);
    out
}

#[test]
fn every_packet_is_acknowledged_with_its_time_stamp() {
    let mut receiver = Receiver::new(&AdpParams::default());
    for number in [0, 2, 1, 2] {
        let ack = Segment::Ack { number, count: 1, echo: ms(5), vector: 0 };
        assert_eq!(answers(&mut receiver, 10, number), [Output::Send(ack, 36)]);
    }
}

#[test]
fn delayed_acks_answer_several_packets_or_the_delay() {
    let mut receiver = Receiver::new(&AdpParams { ack_every: 2, ack_delay_s: 0.05, ..AdpParams::default() });
    assert_eq!(answers(&mut receiver, 10, 0), []);
    let both = Segment::Ack { number: 1, count: 2, echo: ms(5), vector: 0 };
    assert_eq!(answers(&mut receiver, 12, 1), [Output::Send(both, 36)]);
    assert_eq!(answers(&mut receiver, 20, 2), []);
    assert_eq!(receiver.next_timeout(), ms(70));
    let mut out = Vec::new();
    receiver.handle_timeout(ms(69), &mut out);
    assert_eq!(out, []);
    receiver.handle_timeout(ms(70), &mut out);
    assert_eq!(out, [Output::Send(Segment::Ack { number: 2, count: 1, echo: ms(15), vector: 0 }, 36)]);
}

#[test]
fn an_ack_of_two_packets_sends_two() {
    let mut bench = Bench::endless(&clocked(TtoPolicy::Fixed));
    bench.expire(1000);
    bench.ack_of(1010, 1, 2, 0);
    assert_eq!(bench.sent(2), [(1010, 2), (1010, 3)]);
}

#[test]
fn the_vector_tells_of_preceding_packets() {
    let mut receiver = Receiver::new(&AdpParams { ack_vector_bits: 8, ..AdpParams::default() });
    let mut vectors = Vec::new();
    for number in [0, 1, 4, 3, 5, 40] {
        let out = answers(&mut receiver, 10, number);
        let [Output::Send(Segment::Ack { vector, .. }, 37)] = out[..] else {
            panic!("one ACK, a byte longer")
        };
        vectors.push(vector);
    }
    // Nearest first: 4 is preceded by 3 (no), 2 (no), 1, 0; 3, which came late, by 2 (no), 1, 0.
    assert_eq!(vectors, [0b0, 0b1, 0b1100, 0b110, 0b11011, 0]);
}

/// The ACK of packet 2 was lost; that of packet 3 makes up for it.
#[test]
fn the_vector_makes_up_for_a_lost_ack() {
    let mut bench = Bench::endless(&AdpParams { ack_vector_bits: 8, ..clocked(TtoPolicy::Fixed) });
    bench.ack(40, 0);
    bench.expire(240);
    bench.ack(250, 1);
    assert_eq!(bench.sent(3), [(250, 3)]);
    bench.ack_of(290, 3, 1, 0b111);
    assert_eq!(bench.sent(4), [(290, 4), (290, 5)]);
}
