//! SMART: ACKs name the segment that caused them, and a gap is a loss at once.

use super::*;

fn smart(params: TcpParams) -> TcpParams {
    let mut params = params;
    assert!(params.apply_sender("smart"));
    params
}

/// An ACK of everything below `next` that segment `cause` brought about.
fn named(next: u32, cause: u32) -> Segment {
    sack(next, &[(cause, cause + 1)])
}

fn counts(alone: &Alone) -> (u64, u64, u64) {
    let counters = alone.sender.counters();
    (counters.fast_retransmits, counters.retransmissions, counters.timeouts)
}

/// The option has one block: 4 and 8 bytes.
#[test]
fn an_ack_out_of_order_names_the_segment_that_caused_it() {
    let params = TcpParams { window: 8, delayed_ack: false, ..smart(TcpParams::rfc()) };
    let mut receiver = Receiver::new(&params);
    let mut out = Vec::new();
    let answers = [
        // In order the number says it all.
        (0, (1, 40, vec![])),
        (2, (1, 52, vec![(2, 3)])),
        (4, (1, 52, vec![(4, 5)])),
        // It arrives again.
        (2, (1, 52, vec![(2, 3)])),
        // Beyond the window of 1..9 it is forgotten, and not named.
        (9, (1, 40, vec![])),
        (1, (3, 40, vec![])),
        (3, (5, 40, vec![])),
    ];
    for (number, answer) in answers {
        receiver.handle_data(ms(0), &data(number), Ecn::NotEct, &mut out);
        assert_eq!(acks(&mut out), [answer], "segment {number}");
    }
}

/// The third duplicate and the following ones wait for 100 ms, and name what caused them and not what came
/// last.
#[test]
fn an_ack_that_was_withheld_names_the_segment_that_caused_it() {
    let params = TcpParams { dupack_delay_s: 0.1, ..smart(TcpParams::rfc()) };
    let mut receiver = Receiver::new(&params);
    let mut out = Vec::new();
    for number in [0, 2, 3, 4, 5] {
        receiver.handle_data(ms(number.into()), &data(number), Ecn::NotEct, &mut out);
    }
    assert_eq!(
        acks(&mut out).into_iter().map(|ack| ack.2).collect::<Vec<_>>(),
        [vec![], vec![(2, 3)], vec![(3, 4)]]
    );
    receiver.handle_timeout(ms(105), &mut out);
    assert_eq!(acks(&mut out), [(1, 52, vec![(4, 5)]), (1, 52, vec![(5, 6)])]);
}

/// ```text
/// sent      4  5  6  7  8          4             9        10
/// lost      x
/// named                  5  6  7  8       -> 4: next 9
/// ```
#[test]
fn a_gap_is_repaired_at_the_first_ack_that_tells_of_it() {
    let mut alone = Alone::five_outstanding(&smart(TcpParams::ns_2_35()));
    // cwnd = 5 / 2; the pipe holds 4 again, 6, 7 and 8.
    assert_eq!(alone.hear(10, &named(4, 5)), [4]);
    assert!(same(alone.sender.cwnd(), 2.5) && same(alone.sender.ssthresh(), 2.0));
    assert_eq!(alone.hear(10, &named(4, 6)), NOTHING);
    assert_eq!(alone.hear(10, &named(4, 7)), NOTHING);
    // The pipe holds 4.
    assert_eq!(alone.hear(10, &named(4, 8)), [9]);
    // All that was outstanding is acknowledged.
    assert_eq!(alone.hear(70, &ack(9)), [10]);
    assert!(same(alone.sender.cwnd(), 2.5));
    assert_eq!(counts(&alone), (1, 1, 0));
}

/// 4 and 6 are lost: a second gap in the window is repaired as soon as the pipe allows, and halves nothing.
#[test]
fn two_losses_in_a_window_halve_it_once() {
    let mut alone = Alone::five_outstanding(&smart(TcpParams::ns_2_35()));
    // The pipe holds 4, 6, 7, 8.
    assert_eq!(alone.hear(10, &named(4, 5)), [4]);
    // 6 is lost: 4 and 8.
    assert_eq!(alone.hear(10, &named(4, 7)), NOTHING);
    // 4; the second gap.
    assert_eq!(alone.hear(10, &named(4, 8)), [6]);
    // 4 has arrived: the pipe holds 6.
    assert_eq!(alone.hear(80, &ack(6)), [9]);
    assert_eq!(alone.hear(20, &ack(9)), [10]);
    assert!(same(alone.sender.cwnd(), 2.5));
    assert_eq!(counts(&alone), (1, 2, 0));
}

/// Segment 4 is lost twice; 9 was sent after it had been sent again, and tells. SACK waits for the timer.
#[test]
fn a_lost_retransmission_is_repaired_when_a_later_segment_arrives() {
    let mut alone = Alone::five_outstanding(&smart(TcpParams::ns_2_35()));
    assert_eq!(alone.hear(10, &named(4, 5)), [4]);
    assert_eq!(alone.hear(10, &named(4, 6)), NOTHING);
    assert_eq!(alone.hear(10, &named(4, 7)), NOTHING);
    assert_eq!(alone.hear(10, &named(4, 8)), [9]);
    // Nothing is left in the pipe: 4, and 10.
    assert_eq!(alone.hear(100, &named(4, 9)), [4, 10]);
    assert!(same(alone.sender.cwnd(), 2.5));
    assert_eq!(alone.hear(100, &ack(10)), [11]);
    assert_eq!(counts(&alone), (1, 2, 0));

    for (name, timeouts) in [("smart", 0), ("sack", 1)] {
        let mut params = TcpParams::ns_2_35();
        assert!(params.apply_sender(name));
        let mut pipe = Pipe::with(&params, &[(8, 1), (8, 2)]);
        pipe.write(Some(40_000)).run(60_000);
        assert_eq!(pipe.sender.counters().timeouts, timeouts, "{name}");
        assert_eq!(pipe.receiver.counters().bytes_in_order, 40_000);
    }
}

/// Segments 4 and 6 were sent again, and 4 is lost again. The arrival of 6 does not tell: it may be the first
/// transmission's. That of 9 does.
#[test]
fn what_was_sent_again_tells_of_no_lost_retransmission() {
    let mut alone = Alone::five_outstanding(&smart(TcpParams::ns_2_35()));
    assert_eq!(alone.hear(10, &named(4, 5)), [4]);
    assert_eq!(alone.hear(10, &named(4, 7)), NOTHING);
    assert_eq!(alone.hear(10, &named(4, 8)), [6]);
    assert_eq!(alone.hear(100, &named(4, 6)), [9]);
    assert_eq!(alone.hear(100, &named(4, 9)), [4, 10]);
    assert_eq!(counts(&alone), (1, 3, 0));
}

/// 5 overtakes 4: a segment and half of the window for nothing, but no more than that. SACK waits for two
/// others, and loses nothing.
#[test]
fn a_segment_that_was_overtaken_is_taken_for_lost() {
    let mut alone = Alone::five_outstanding(&smart(TcpParams::ns_2_35()));
    assert_eq!(alone.hear(10, &named(4, 5)), [4]);
    let late: Vec<_> = (6..10).map(|next| alone.hear(1, &ack(next))).collect();
    // 6, 7 and 8 are not lost: the pipe holds 3, 2, 1.
    assert_eq!(late, [vec![], vec![], vec![9], vec![10]]);
    // 4 arrives for the second time.
    assert_eq!(alone.hear(90, &ack(9)), NOTHING);
    assert!(same(alone.sender.cwnd(), 2.5));
    assert_eq!(counts(&alone), (1, 1, 0));

    let mut alone = Alone::five_outstanding(&TcpParams { sack: true, ..TcpParams::ns_2_35() });
    assert_eq!(alone.hear(10, &named(4, 5)), [9], "limited transmit");
    alone.hear(1, &ack(6));
    assert!(alone.sender.cwnd() > 5.0);
    assert_eq!(counts(&alone), (0, 0, 0));
}

/// 4 is lost, and the ACK that 5 caused. A SACK block would have said of both 5 and 6 that they are there.
#[test]
fn what_a_lost_ack_has_named_is_taken_for_lost() {
    let mut alone = Alone::five_outstanding(&smart(TcpParams::ns_2_35()));
    // The pipe holds 4, 7 and 8, then 4 and 8, then 4.
    assert_eq!(alone.hear(20, &named(4, 6)), [4]);
    assert_eq!(alone.hear(10, &named(4, 7)), NOTHING);
    assert_eq!(alone.hear(10, &named(4, 8)), [5]);
    assert_eq!(alone.hear(70, &ack(9)), [9, 10]);
    assert_eq!(counts(&alone), (1, 2, 0));
}

/// Segment 4's delayed ACK goes out when 6 tells of the gap, and tells of it, too.
#[test]
fn an_ack_of_new_data_may_tell_of_a_gap() {
    for (name, repairs) in [("smart", vec![5]), ("sack", vec![9, 10])] {
        let mut params = TcpParams::ns_2_35();
        assert!(params.apply_sender(name));
        let mut alone = Alone::five_outstanding(&params);
        assert_eq!(alone.hear(10, &named(5, 6)), repairs, "{name}");
        assert_eq!(alone.sender.counters().fast_retransmits, u64::from(name == "smart"));
    }
}

/// Reno's timeout: a window of one, and everything again. What arrived before tells of no gap.
#[test]
fn a_timeout_goes_back_to_the_first_segment() {
    let params = TcpParams { sack_recovery_at_point: true, ..TcpParams::ns_2_35() };
    let mut alone = Alone::five_outstanding(&smart(params));
    assert_eq!(alone.hear(10, &named(4, 5)), [4]);
    assert_eq!(alone.time_out().1, [4]);
    assert!(same(alone.sender.cwnd(), 1.0));
    assert_eq!(alone.hear(100, &ack(6)), [6, 7]);
    // No gap, as 6 was sent after 8 was; limited transmit sends what comes next.
    assert_eq!(alone.hear(10, &named(6, 8)), [8]);
    assert_eq!(alone.hear(100, &ack(9)), [9, 10]);
    assert_eq!(counts(&alone), (1, 5, 1));
    // A gap in what was sent since.
    assert_eq!(alone.hear(100, &named(9, 10)), [9]);
}

proptest! {
    /// Without reordering and with new data to follow, each loss costs one retransmission, that of a
    /// retransmission like any other, and none costs a timeout.
    #[test]
    fn losses_cost_one_retransmission_each(lost in prop::collection::btree_set(30usize..60, 0..12)) {
        let mut pipe = Pipe::with(&TcpParams { window: 64, ..smart(TcpParams::rfc()) }, &[]);
        pipe.lost = lost.iter().copied().collect();
        pipe.write(Some(400_000)).run(60_000);
        let counters = pipe.sender.counters();
        prop_assert_eq!(pipe.receiver.counters().bytes_in_order, 400_000);
        prop_assert_eq!(pipe.receiver.counters().duplicates, 0);
        prop_assert_eq!((counters.timeouts, counters.retransmissions), (0, lost.len() as u64));
    }
}
