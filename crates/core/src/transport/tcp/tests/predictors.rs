//! Senders and receivers that guess why a segment was lost.

use super::*;

/// Segments 4 to 8 are outstanding, with a window of five. The first two round trips took 100 ms, the third
/// `last_ms`, with windows of 1, 2 and 3. Then three duplicate ACKs come; what the third makes it send, and
/// what is guessed.
fn third_duplicate(name: &str, last_ms: u64) -> (Alone, Vec<u32>, Vec<Judgement>) {
    let mut params = TcpParams::ns_2_35();
    assert!(params.apply_sender(name));
    let mut alone = Alone::with(&params);
    alone.hear(100, &ack(1));
    alone.hear(100, &ack(2));
    alone.hear(0, &ack(3));
    alone.hear(last_ms, &ack(4));
    assert_eq!([alone.hear(10, &ack(4)), alone.hear(10, &ack(4))], [[9], [10]], "limited transmit");
    let mut out = Vec::new();
    alone.sender.handle_ack(alone.now, &ack(4), &mut out);
    let guesses = out
        .iter()
        .filter_map(|output| match output {
            Output::Judged(judgement) => Some(*judgement),
            _ => None,
        })
        .collect();
    (alone, sent(&mut out), guesses)
}

/// The third round trip is as long as the others: nothing waits, delay does not grow with the window,
/// throughput does.
#[test]
fn a_loss_while_nothing_waits_is_the_radios_and_reduces_nothing() {
    for name in ["predict-vegas", "predict-ndg", "predict-ntg"] {
        let (alone, again, guesses) = third_duplicate(name, 100);
        assert_eq!(guesses, [Judgement { number: 4, is_congestion: false }], "{name}");
        assert_eq!(again, [4, 11], "{name}: a window of five, and three that have left");
        assert!(same(alone.sender.cwnd(), 5.0), "{name}");
    }
}

/// The third takes 300 ms. Of three segments two wait; the delay gradient is 1/2 · 5/1, the throughput
/// gradient (10 − 20)/1/10.
#[test]
fn a_loss_with_a_queue_is_congestion_and_halves_the_window() {
    let (reno, reno_sends, none) = third_duplicate("reno", 300);
    assert_eq!((reno_sends, none), (vec![4], vec![]));
    for name in ["predict-vegas", "predict-ndg", "predict-ntg"] {
        let (alone, again, guesses) = third_duplicate(name, 300);
        assert_eq!(guesses, [Judgement { number: 4, is_congestion: true }], "{name}");
        assert_eq!(again, [4], "{name}");
        assert!(same(alone.sender.cwnd(), reno.sender.cwnd()), "{name}");
    }
}

#[test]
fn a_timeout_is_congestion_whatever_is_guessed() {
    let (mut alone, ..) = third_duplicate("predict-vegas", 100);
    alone.time_out();
    assert!(same(alone.sender.cwnd(), 1.0));
}

/// The thresholds are the parameters: two segments wait.
#[test]
fn thresholds_move_the_verdict() {
    for (threshold, cwnd) in [(2.0, 5.0), (1.9, 2.5)] {
        let mut params = TcpParams { predictor_vegas_threshold: threshold, ..TcpParams::ns_2_35() };
        params.apply_sender("predict-vegas");
        let mut alone = Alone::with(&params);
        for (after_ms, next) in [(100, 1), (100, 2), (0, 3), (300, 4), (0, 4), (0, 4), (0, 4)] {
            alone.hear(after_ms, &ack(next));
        }
        assert!(same(alone.sender.cwnd(), cwnd), "{threshold}: {}", alone.sender.cwnd());
    }
}

/// A receiver that guesses; its ACKs' numbers and signs, and its guesses.
type Answers = (Vec<(u32, bool)>, Vec<Judgement>);

fn answers(receiver: &mut Receiver, at_ms: u64, number: u32) -> Answers {
    let (mut out, mut answers) = (Vec::new(), (Vec::new(), Vec::new()));
    receiver.handle_data(ms(at_ms), &data(number), Ecn::NotEct, &mut out);
    for output in out {
        match output {
            ReceiverOutput::Send { segment: Segment::Ack { next, signs, .. }, .. } => {
                answers.0.push((next, signs.eln));
            }
            ReceiverOutput::Judged(judgement) => answers.1.push(judgement),
            _ => {}
        }
    }
    answers
}

fn receiver(name: &str) -> Receiver {
    let mut params = TcpParams { connection_setup: false, ..TcpParams::ns_2_35() };
    assert!(params.apply_sender(name));
    Receiver::new(&params)
}

/// ```text
/// ms       0   10   20   30   40   50   60   70
/// arrives  0   1         3    4         6    2
/// ACKs     1   2         2!   2!        2!   5!    ! with the sign
/// ```
/// Segments 2 and 5 leave gaps of two intervals each.
#[test]
fn a_receiver_signs_duplicate_acks_of_what_the_radio_lost() {
    let mut receiver = receiver("predict-arrivals");
    let seen =
        [(0, 0), (10, 1), (30, 3), (40, 4), (60, 6), (70, 2)].map(|(at, n)| answers(&mut receiver, at, n));
    let acks: Vec<(u32, bool)> = seen.iter().flat_map(|(acks, _)| acks.clone()).collect();
    assert_eq!(acks, [(1, false), (2, false), (2, true), (2, true), (2, true), (5, true)]);
    let guesses: Vec<Judgement> = seen.into_iter().flat_map(|(_, guesses)| guesses).collect();
    assert_eq!(guesses, [2, 5].map(|number| Judgement { number, is_congestion: false }));
}

/// Segments 2 and 3 were lost before the radio: 4 follows 1 as if they had never been sent.
#[test]
fn a_receiver_gives_no_sign_for_congestion() {
    let mut receiver = receiver("predict-arrivals");
    answers(&mut receiver, 0, 0);
    answers(&mut receiver, 10, 1);
    let guesses = [2, 3].map(|number| Judgement { number, is_congestion: true }).to_vec();
    assert_eq!(answers(&mut receiver, 20, 4), (vec![(2, false)], guesses));
}

#[test]
fn a_sender_heeds_the_guesses_of_its_receiver() {
    for (is_told, cwnd) in [(true, 5.0), (false, 2.5)] {
        let mut params = TcpParams::ns_2_35();
        params.apply_sender("predict-arrivals");
        let mut alone = Alone::five_outstanding(&params);
        let signs = AckSigns { eln: is_told, ..AckSigns::default() };
        let duplicate = Segment::Ack { next: 4, sack: SackBlocks::new(), signs };
        (0..3).for_each(|_| drop(alone.hear(10, &duplicate)));
        assert!(same(alone.sender.cwnd(), cwnd), "{is_told}");
    }
}

/// When the receiver, which gets these segments at these milliseconds, sends ACKs, and their numbers. A
/// segment may have a mark.
fn acks_over_time(name: &str, arrivals: &[(u64, u32, bool)]) -> (Vec<(u64, u32)>, Vec<Judgement>) {
    let mut receiver = receiver(name);
    let (mut acks, mut guesses) = (Vec::new(), Vec::new());
    let mut note = |now: Time, out: Vec<ReceiverOutput>| {
        for output in out {
            match output {
                ReceiverOutput::Send { segment: Segment::Ack { next, .. }, .. } => {
                    acks.push((now.0 / MS, next));
                }
                ReceiverOutput::Judged(judgement) => guesses.push(judgement),
                _ => {}
            }
        }
    };
    let last = [(1000, 0, false)];
    for &(at, number, is_marked) in arrivals.iter().chain(&last) {
        while receiver.next_timeout() < ms(at) {
            let (now, mut out) = (receiver.next_timeout(), Vec::new());
            receiver.handle_timeout(now, &mut out);
            note(now, out);
        }
        let ecn = if is_marked { Ecn::Ce } else { Ecn::Ect };
        let mut out = Vec::new();
        if at < 1000 {
            receiver.handle_data(ms(at), &data(number), ecn, &mut out);
        }
        note(ms(at), out);
    }
    (acks, guesses)
}

/// Segments 1 to 5 come every 10 ms, without 1, which comes at `repair_ms`.
fn without_the_first(repair_ms: u64, marked: Option<u32>) -> Vec<(u64, u32, bool)> {
    let times = (0..7).filter(|&number| number != 1).map(|number| (u64::from(number) * 10, number));
    let mut arrivals: Vec<(u64, u32, bool)> =
        times.chain([(repair_ms, 1)]).map(|(at, number)| (at, number, marked == Some(number))).collect();
    arrivals.sort_unstable();
    arrivals
}

/// ```text
/// ms       0  10  20  30  40  50  60   95
/// arrives  0       2   3   4   5   6    1
/// ACKs     1       1   1                7     the third to fifth would go at 140, 150 and 160
/// ```
#[test]
fn the_third_duplicate_waits_and_a_repair_makes_it_pointless() {
    let (acks, _) = acks_over_time("delayed-dupacks", &without_the_first(95, None));
    assert_eq!(acks, [(0, 1), (20, 1), (30, 1), (95, 7)]);
}

#[test]
fn duplicates_that_have_waited_go_out_one_by_one() {
    let (acks, _) = acks_over_time("delayed-dupacks", &without_the_first(155, None));
    assert_eq!(acks, [(0, 1), (20, 1), (30, 1), (140, 1), (150, 1), (155, 7)]);
    let (plain, _) = acks_over_time("reno", &without_the_first(155, None));
    assert_eq!(plain, [(0, 1), (20, 1), (30, 1), (40, 1), (50, 1), (60, 1), (155, 7)]);
}

/// Segments 2 and 3 are missing; the third duplicate would go at 140. At 50 comes 2, whose ACK waits 100 ms
/// for another segment, and the duplicate for 2 does not go meanwhile.
#[test]
fn a_repair_whose_ack_is_delayed_makes_duplicates_pointless_as_well() {
    let params = TcpParams {
        connection_setup: false,
        delayed_ack: true,
        immediate_ack_for_gap: false,
        dupack_delay_s: 0.1,
        ..TcpParams::ns_2_35()
    };
    let mut receiver = Receiver::new(&params);
    for (at, number, next) in [(0, 0, 100), (10, 1, 0), (20, 4, 0), (30, 5, 0), (40, 6, 140), (50, 2, 150)] {
        answers(&mut receiver, at, number);
        let found = receiver.next_timeout();
        assert_eq!(if found == Time::NEVER { 0 } else { found.0 / MS }, next, "after {number}");
    }
}

/// The two after the repair of segment 1 are the first and second for segment 3.
#[test]
fn duplicates_are_counted_anew_for_each_hole() {
    let arrivals = [(0, 0), (10, 2), (20, 4), (30, 1), (40, 5), (50, 6), (60, 7), (70, 3)];
    let (acks, _) = acks_over_time("delayed-dupacks", &arrivals.map(|(at, number)| (at, number, false)));
    assert_eq!(acks, [(0, 1), (10, 1), (20, 1), (30, 3), (40, 3), (50, 3), (70, 8)]);
}

/// The mark is on segment 0, before the hole; on 4, the third after it; on 5, the fourth.
#[test]
fn marks_around_the_hole_let_duplicates_go() {
    let withheld = vec![(0, 1), (20, 1), (30, 1), (95, 7)];
    let at_once = vec![(0, 1), (20, 1), (30, 1), (40, 1), (50, 1), (60, 1), (95, 7)];
    for (marked, is_congestion) in [(None, false), (Some(0), true), (Some(4), true), (Some(5), false)] {
        let (acks, guesses) = acks_over_time("coherence-receiver", &without_the_first(95, marked));
        assert_eq!(&acks, if is_congestion { &at_once } else { &withheld }, "{marked:?}");
        assert_eq!(guesses, [Judgement { number: 1, is_congestion }], "{marked:?}");
    }
}

/// The echo came when segments below 4 had been sent; segment 4 is lost. It came when 4 to 8 were under way.
#[test]
fn a_sender_that_saw_no_echo_in_the_last_window_reduces_nothing() {
    for (echo_at, is_congestion) in [(None, false), (Some(2), false), (Some(4), true)] {
        let mut params = TcpParams::ns_2_35();
        params.apply_sender("coherence-sender");
        let mut alone = Alone::with(&params);
        for (after_ms, next) in [(100, 1), (100, 2), (0, 3), (100, 4)] {
            alone.hear(after_ms, &if echo_at == Some(next) { echo(next) } else { ack(next) });
        }
        let before = alone.sender.cwnd();
        let guesses: Vec<Judgement> = (0..3)
            .flat_map(|_| {
                let mut out = Vec::new();
                alone.sender.handle_ack(alone.now, &ack(4), &mut out);
                out
            })
            .filter_map(|output| if let Output::Judged(judgement) = output { Some(judgement) } else { None })
            .collect();
        assert_eq!(guesses, [Judgement { number: 4, is_congestion }], "{echo_at:?}");
        assert!(same(alone.sender.cwnd(), before), "{echo_at:?}: the mark has reduced it, and nothing else");
    }
}
