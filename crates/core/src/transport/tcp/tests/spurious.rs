//! What was sent again in vain: D-SACK, Eifel's and F-RTO's detection, the Eifel response.

use super::*;

/// SACK blocks.
type Blocks = &'static [(u32, u32)];

/// Twenty segments at once, and a first timeout after 2 s.
fn burst(sender: &str) -> TcpParams {
    let mut params = TcpParams {
        initial_window: 20,
        connection_setup: false,
        rto_initial_s: 2.0,
        delayed_ack: false,
        ..TcpParams::rfc()
    };
    assert!(params.apply_sender(sender));
    params
}

/// Round trips of 200 ms, and the path is held for 3 s while the first twenty segments are under way.
fn held(params: &TcpParams) -> Pipe {
    let mut pipe = Pipe::with(params, &[]);
    pipe.delay = Span::from_millis(100);
    pipe.write(None).run(50).hold(3000);
    pipe
}

/// An ACK with this time stamp.
fn stamped(next: u32, echo: u64, blocks: &[(u32, u32)]) -> Segment {
    let signs = AckSigns { echo: ms(echo), ..AckSigns::default() };
    Segment::Ack { next, sack: SackBlocks::from_slice(blocks), signs }
}

fn spurious(sender: &Sender) -> (u64, u64) {
    (sender.counters().spurious_timeouts, sender.counters().spurious_fast_retransmits)
}

/// The window and the threshold.
fn windows(alone: &Alone) -> (f64, f64) {
    (alone.sender.cwnd(), alone.sender.ssthresh())
}

/// RFC 2883 §4.1: its three examples, in segments.
#[test]
fn a_receiver_reports_duplicates_as_in_the_examples_of_its_rfc() {
    let params = TcpParams { sack: true, dsack: true, ..TcpParams::rfc() };
    let examples: [(&[u32], u32, Blocks); 4] = [
        (&[0, 1, 0], 2, &[(0, 1)]),
        (&[0, 1, 3, 0], 2, &[(0, 1), (3, 4)]),
        (&[0, 1, 3, 4, 4], 2, &[(4, 5), (3, 5)]),
        // Rule 4 also brings a block to the front that grew earlier.
        (&[0, 2, 3, 5, 7, 3], 1, &[(3, 4), (2, 4), (7, 8)]),
    ];
    for (arrivals, next, blocks) in examples {
        let mut receiver = Receiver::new(&params);
        let mut out = Vec::new();
        for &number in arrivals {
            receiver.handle_data(ms(0), &data(number), Ecn::NotEct, &mut out);
        }
        let last = acks(&mut out).pop().expect("a duplicate is answered at once");
        assert_eq!(last, (next, 44 + 8 * blocks.len() as u32, blocks.to_vec()), "{arrivals:?}");
        // One report for each duplicate (rule 2).
        receiver.handle_data(ms(0), &data(9), Ecn::NotEct, &mut out);
        let last = acks(&mut out).pop().expect("it is out of order");
        assert_eq!(last.2[0], (9, 10), "{arrivals:?}");
    }
}

/// ns-2 delays the ACK of the last segment when it comes again: a report of it does not wait.
#[test]
fn a_report_of_a_duplicate_is_not_delayed() {
    for (dsack, answers) in [(true, vec![(1, 48, vec![(0, 1)])]), (false, vec![])] {
        let params = TcpParams {
            sack: true,
            dsack,
            delayed_ack: true,
            connection_setup: false,
            ..TcpParams::ns_2_35()
        };
        let mut receiver = Receiver::new(&params);
        let mut out = Vec::new();
        receiver.handle_data(ms(0), &data(0), Ecn::NotEct, &mut out);
        receiver.handle_timeout(ms(100), &mut out);
        out.clear();
        receiver.handle_data(ms(200), &data(0), Ecn::NotEct, &mut out);
        assert_eq!(acks(&mut out), answers);
    }
}

/// Ludwig and Katz's case. The timer expires at 2 s; the twenty ACKs arrive at 3.2 s. Reno sends all again.
#[test]
fn after_a_held_path_reno_sends_all_again_and_the_others_a_single_segment() {
    for (name, again) in [("reno", 20), ("newreno", 20), ("sack", 20), ("eifel", 1), ("f-rto", 1)] {
        let mut pipe = held(&burst(name));
        pipe.run(3201);
        let counters = pipe.sender.counters();
        assert_eq!((counters.timeouts, counters.retransmissions), (1, again), "{name}");
        assert_eq!(spurious(&pipe.sender), (u64::from(again == 1), 0), "{name}");
    }
}

/// The sequence in detail: the retransmission, then new data, one segment for each ACK. The threshold was 20;
/// the window is the flight of 19 and one segment that was acknowledged, and opens by 1/cwnd from there.
#[test]
fn eifel_goes_on_with_new_data_and_with_the_window_before() {
    let mut pipe = held(&burst("eifel"));
    pipe.run(3000);
    assert!(same(pipe.sender.cwnd(), 1.0) && same(pipe.sender.ssthresh(), 10.0));
    pipe.run(3201);
    let first = (0..20).map(|number| (0, number));
    let wanted: Vec<(u64, u32)> =
        first.chain([(2000, 0)]).chain((20..40).map(|number| (3200, number))).collect();
    assert_eq!(pipe.log, wanted);
    let opened = (0..19).fold(20.0, |cwnd, _| cwnd + 1.0 / cwnd);
    assert!(same(pipe.sender.cwnd(), opened) && same(pipe.sender.ssthresh(), 20.0), "{opened}");
    // RFC 4015 step 11: the delayed ACKs' samples of 3.2 s give way to the first of new data, sent at 3.2 s.
    assert_eq!(pipe.sender.srtt(), Some(Span::from_millis(3200)));
    pipe.run(3401);
    assert_eq!(pipe.sender.srtt(), Some(Span::from_millis(200)));
    assert_eq!(pipe.sender.counters().retransmissions, 1);
}

/// F-RTO needs a second ACK: the first lets out two new segments, here one, as the receiver's window is full.
#[test]
fn f_rto_tells_at_the_second_ack() {
    for (name, sack) in [("f-rto", true), ("newreno", false)] {
        let params = TcpParams { spurious: SpuriousDetection::FRto, ..burst(name) };
        assert_eq!(params.sack, sack);
        let mut alone = Alone::with(&params);
        assert_eq!(alone.time_out(), (2000, vec![0]));
        assert_eq!(alone.hear(1200, &ack(1)), [20]);
        assert_eq!((windows(&alone), spurious(&alone.sender)), ((2.0, 10.0), (0, 0)));
        // 21 - 2 are under way, and one segment was acknowledged.
        assert_eq!(alone.hear(0, &ack(2)), [21]);
        assert_eq!((windows(&alone), spurious(&alone.sender)), ((20.0, 20.0), (1, 0)));
        assert_eq!(alone.hear(0, &ack(3)), [22]);
        // Duplicates below the timeout's end mean a loss again (RFC 4015 §4): 4 to 6 have arrived.
        for end in 5..8 {
            let dup = if sack { super::sack(3, &[(4, end)]) } else { ack(3) };
            alone.hear(0, &dup);
        }
        assert_eq!(alone.sender.counters().fast_retransmits, 1, "{name}");
    }
}

/// RFC 4015 §3.1: pipe_prev counts what was outstanding at the timeout, and nothing that was acknowledged.
#[test]
fn what_was_outstanding_is_the_threshold_after_a_spurious_timeout() {
    let mut alone = Alone::with(&burst("f-rto"));
    assert_eq!(alone.hear(100, &ack(4)), [20, 21, 22, 23]);
    assert_eq!(alone.time_out().1, [4]);
    alone.hear(10, &ack(5));
    alone.hear(0, &ack(6));
    assert_eq!(spurious(&alone.sender), (1, 0));
    assert!(same(alone.sender.ssthresh(), 20.0), "{}", alone.sender.ssthresh());
}

/// RFC 5682 §2.1, step 2: two segments if the receiver's window has room.
#[test]
fn f_rto_sends_two_new_segments_where_it_can() {
    let params = TcpParams { window: 40, ..burst("f-rto") };
    let mut alone = Alone::with(&params);
    alone.time_out();
    assert_eq!(alone.hear(1200, &ack(1)), [20, 21]);
}

/// The whole window was lost: the ACK of the retransmission is followed by duplicates, for the new segment.
#[test]
fn a_window_that_was_lost_is_sent_again() {
    for name in ["eifel", "f-rto"] {
        let losses: Vec<(u32, u32)> = (0..20).map(|number| (number, 1)).collect();
        let mut pipe = Pipe::with(&burst(name), &losses);
        pipe.write(None).run(60_000);
        assert_eq!(spurious(&pipe.sender), (0, 0), "{name}");
        let again: Vec<u32> = pipe.log.iter().skip(20).map(|sent| sent.1).take(6).collect();
        // Slow start; and in F-RTO the one new segment that the receiver's window lets out, whose ACK lets
        // out three (RFC 5682 §2.1, step 3 (a)).
        let wanted = if name == "eifel" { [0, 1, 2, 3, 4, 5] } else { [0, 20, 1, 2, 3, 4] };
        assert_eq!(again, wanted, "{name}");
        assert_eq!(pipe.sender.counters().timeouts, 1, "{name}");
    }
}

/// The fast retransmission of 4 is lost, too, and after the timeout the second one arrives.
#[test]
fn a_lost_retransmission_is_no_spurious_timeout() {
    for name in ["eifel", "f-rto"] {
        let mut pipe = Pipe::with(&burst(name), &[(4, 1), (4, 2)]);
        pipe.write(Some(40_000)).run(60_000);
        assert_eq!(spurious(&pipe.sender), (0, 0), "{name}");
        assert_eq!((pipe.transmissions[&4], pipe.finished.len()), (3, 1), "{name}");
        assert_eq!(pipe.sender.counters().timeouts, 1, "{name}");
    }
}

/// RFC 5682 §2.1, step 2 (a) and §3.1, step 2: a duplicate ACK after the timeout ends the basic algorithm;
/// with SACK it waits for new data to be acknowledged.
#[test]
fn a_duplicate_before_the_first_ack_ends_only_the_basic_f_rto() {
    for (name, sends) in [("newreno", [1, 2]), ("f-rto", [20, 21])] {
        let params = TcpParams { spurious: SpuriousDetection::FRto, window: 40, ..burst(name) };
        let mut alone = Alone::with(&TcpParams { limited_transmit: false, ..params });
        alone.time_out();
        assert_eq!(alone.hear(1200, &sack(0, &[(1, 2)])), NOTHING);
        assert_eq!(alone.hear(0, &ack(1)), sends, "{name}");
    }
}

/// RFC 5682 §3.1, step 3, with segments 20 and 21 sent in step 2: what duplicates tell by their blocks.
#[test]
fn with_sack_f_rto_looks_at_what_a_duplicate_tells() {
    let cases: [(Blocks, Vec<u32>, u64); 3] = [
        // New data has arrived and what comes before has not.
        (&[(20, 21)], vec![1, 2, 3], 0),
        // Nothing.
        (&[], vec![1, 2, 3], 0),
        // Old data that was sent once: spurious. 21 under way, the window too, and recovery waits for more.
        (&[(5, 6)], vec![], 1),
    ];
    for (blocks, sends, found) in cases {
        let mut alone = Alone::with(&TcpParams { window: 40, ..burst("f-rto") });
        alone.time_out();
        assert_eq!(alone.hear(1200, &ack(1)), [20, 21]);
        assert_eq!(alone.hear(0, &sack(1, blocks)), sends, "{blocks:?}");
        assert_eq!(spurious(&alone.sender), (found, 0), "{blocks:?}");
        let cwnd = if found == 1 { 21.0 } else { 3.0 };
        assert!(same(alone.sender.cwnd(), cwnd), "{blocks:?}: {}", alone.sender.cwnd());
    }
}

/// RFC 5682 §2.1, step 2 (a): an ACK of all that was sent says nothing of segments that were sent once. If
/// there is no new data, slow start goes on.
#[test]
fn f_rto_needs_an_ack_of_a_part_and_new_data() {
    let mut alone = Alone::with(&burst("f-rto"));
    alone.time_out();
    assert_eq!(alone.hear(1200, &ack(20)), [20, 21]);
    assert_eq!(alone.hear(100, &ack(22)).len(), 3);
    assert_eq!(spurious(&alone.sender), (0, 0));

    let mut pipe = held(&burst("f-rto"));
    pipe.sender.handle_close();
    pipe.run(3201);
    assert_eq!((pipe.sender.counters().retransmissions, spurious(&pipe.sender)), (20, (0, 0)));
}

/// RFC 5682 §2.1, step 1: a second timeout of the same segment starts again, one in the recovery of another
/// does not.
#[test]
fn f_rto_begins_again_only_for_the_same_segment() {
    let mut alone = Alone::with(&burst("f-rto"));
    alone.time_out();
    assert_eq!(alone.time_out(), (4000, vec![0]));
    assert_eq!(alone.hear(10, &ack(1)), [20]);
    alone.hear(0, &ack(2));
    // pipe_prev is that of the first timeout (RFC 4015 §3.1): 20, not 10.
    assert_eq!((windows(&alone), spurious(&alone.sender)), ((20.0, 20.0), (1, 0)));

    let mut alone = Alone::with(&burst("f-rto"));
    alone.time_out();
    assert_eq!(alone.hear(10, &ack(1)), [20]);
    // The first segments were lost in earnest: 1, 2 and 3 are sent again, and 1 times out.
    assert_eq!(alone.hear(10, &sack(1, &[(20, 21)])), [1, 2, 3]);
    alone.time_out();
    assert_eq!(alone.hear(10, &ack(2)), [2, 3]);
    alone.hear(0, &ack(3));
    assert_eq!(spurious(&alone.sender), (0, 0));
}

/// RFC 3522 §3.2: the stamp of the first retransmission counts, not that of a later one.
#[test]
fn eifel_remembers_the_first_retransmission() {
    for (echo, found) in [(1999, 1), (2000, 0), (5000, 0)] {
        let mut alone = Alone::with(&burst("eifel"));
        alone.time_out();
        assert_eq!(alone.time_out(), (4000, vec![0]));
        alone.hear(10, &stamped(1, echo, &[]));
        assert_eq!(spurious(&alone.sender), (found, 0), "{echo}");
    }
}

/// RFC 3522 §3.3: all ACKs were lost, and the retransmission is answered with the stamp of the last segment
/// in order. Without D-SACK the sender knows it by the ACK of everything, with it by the report.
#[test]
fn lost_acks_make_no_timeout_spurious() {
    for dsack in [true, false] {
        let params = TcpParams { dsack, ..burst("eifel") };
        let mut pipe = Pipe::with(&params, &[]);
        pipe.write(None).run(51);
        pipe.under_way.clear();
        pipe.run(2151);
        assert_eq!((pipe.sender.counters().timeouts, spurious(&pipe.sender)), (1, (0, 0)));
        assert!(same(pipe.sender.cwnd(), 2.0), "slow start");
    }
}

/// RFC 3522 §3.2, step 5: an ACK of everything tells only if the receiver is known to report duplicates.
#[test]
fn eifel_trusts_an_ack_of_everything_after_a_report() {
    for (has_heard, found) in [(true, 1), (false, 0)] {
        let mut alone = Alone::with(&burst("eifel"));
        let blocks: Blocks = if has_heard { &[(0, 1)] } else { &[] };
        alone.hear(200, &stamped(1, 0, blocks));
        alone.time_out();
        alone.hear(100, &stamped(21, 200, &[]));
        assert_eq!(spurious(&alone.sender), (found, 0));
    }
}

/// RFC 4015 §3.1, step 9: new data goes on, and the window stays what the timeout made it.
#[test]
fn an_ecn_echo_keeps_the_window_small() {
    let mut alone = Alone::with(&TcpParams { ecn: true, ..burst("eifel") });
    alone.time_out();
    let signs = AckSigns { echo: ms(0), ece: true, ..AckSigns::default() };
    assert_eq!(alone.hear(1200, &Segment::Ack { next: 1, sack: SackBlocks::new(), signs }), NOTHING);
    assert_eq!((windows(&alone), spurious(&alone.sender)), ((2.0, 10.0), (1, 0)));
    // Slow start opens it from there, and what it lets out is new.
    let sends: Vec<_> = (2..20).flat_map(|next| alone.hear(0, &stamped(next, 0, &[]))).collect();
    assert_eq!(sends.first(), Some(&20));
}

/// A mark after the window has been restored reduces it again, although the timeout had answered it.
#[test]
fn the_reduction_is_forgotten_with_the_window() {
    let mut alone = Alone::with(&TcpParams { ecn: true, ..burst("eifel") });
    alone.time_out();
    alone.hear(1200, &stamped(1, 0, &[]));
    alone.hear(0, &echo(2));
    assert_eq!(alone.sender.counters().mark_reductions, 1);
}

/// Segment 0 is overtaken by five others: three duplicates send it again, and its ACK bears the older stamp.
/// By RFC 4015 nothing is taken back; as memory has it, Ludwig and Katz restore the window.
#[test]
fn a_spurious_fast_retransmit_is_counted_and_taken_back_if_asked() {
    for (eifel_fast_retransmit, after) in [(false, (10.0, 10.0)), (true, (20.0, 20.0))] {
        let mut alone = Alone::with(&TcpParams { eifel_fast_retransmit, ..burst("eifel") });
        for end in 2..5 {
            alone.hear(1, &stamped(0, 0, &[(1, end)]));
        }
        assert_eq!((windows(&alone), alone.sender.counters().fast_retransmits), ((10.0, 10.0), 1));
        alone.hear(10, &stamped(6, 0, &[]));
        assert_eq!((windows(&alone), spurious(&alone.sender)), (after, (0, 1)));
    }
}
