//! What the variants of congestion control, recovery, timer and acknowledgement do on their own.

use super::*;

fn sender(name: &str) -> TcpParams {
    let mut params = TcpParams::ns_2_35();
    assert!(params.apply_sender(name));
    params
}

/// RFC 6582 §3.2: segments 4, 6 and 8 of 4 to 10 are lost.
#[test]
fn newreno_repairs_a_hole_with_each_partial_ack() {
    for (deflation, cwnd) in [(false, 2.9), (true, 2.0)] {
        let params = TcpParams { full_ack_deflation: deflation, ..sender("newreno") };
        let mut alone = Alone::five_outstanding(&params);
        let duplicates: Vec<_> = (0..6).map(|_| alone.hear(10, &ack(4))).collect();
        assert_eq!(duplicates, [vec![9], vec![10], vec![4], vec![], vec![], vec![11]]);
        // The window is 2.5 + 6; two acknowledged, one given back: 2.5 + 5 lets 6..=12 out.
        let timer = alone.sender.next_timeout();
        assert_eq!(alone.hear(40, &ack(6)), [6, 12]);
        assert!(alone.sender.next_timeout() > timer, "the first partial ACK restarts the timer");
        // 2.5 + 4 lets 8..=13 out. Impatient: the timer stays.
        let timer = alone.sender.next_timeout();
        assert_eq!(alone.hear(40, &ack(8)), [8, 13]);
        assert_eq!(alone.sender.next_timeout(), timer);
        // A full acknowledgement: 11, 12 and 13 are outstanding.
        assert_eq!(alone.hear(40, &ack(11)), NOTHING);
        assert!(same(alone.sender.cwnd(), cwnd), "{}", alone.sender.cwnd());
        let counters = alone.sender.counters();
        assert_eq!((counters.fast_retransmits, counters.timeouts, counters.retransmissions), (1, 0, 3));
    }
}

/// Of a window inflated by three, four are acknowledged: one too many, which the window itself loses.
#[test]
fn a_partial_ack_of_more_than_the_inflation_closes_the_window() {
    let mut alone = Alone::five_outstanding(&sender("newreno"));
    for _ in 0..3 {
        alone.hear(10, &ack(4));
    }
    assert_eq!(alone.hear(40, &ack(8)), [8]);
    assert!(same(alone.sender.cwnd(), 1.5));
}

#[test]
fn newreno_repairs_two_losses_without_a_timeout() {
    let params = TcpParams { window: 8, ..sender("newreno") };
    let mut pipe = Pipe::with(&params, &[(8, 1), (10, 1)]);
    pipe.write(Some(40_000)).run(60_000);
    let counters = pipe.sender.counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts, counters.retransmissions), (1, 0, 2));
}

/// RFC 6582 §3.2, step 2: after a timeout the old duplicates start no fast retransmit.
#[test]
fn after_a_timeout_newreno_does_not_recover_fast_below_recover() {
    let mut alone = Alone::five_outstanding(&sender("newreno"));
    alone.time_out();
    for _ in 0..5 {
        alone.hear(1, &ack(4));
    }
    assert_eq!(alone.sender.counters().fast_retransmits, 0);
}

/// Four segments are outstanding, the timer fires, their ACKs arrive late (Dyer 2002, Fig. 4.1).
#[test]
fn the_hold_down_timer_saves_the_retransmissions_of_figure_4_1() {
    let start = |name: &str| {
        let mut params = TcpParams { initial_window: 4, ..TcpParams::cmu_1998() };
        params.apply_sender(name);
        let mut alone = Alone { sender: Sender::new(&params, Span::ZERO), now: Time::ZERO };
        let mut out = Vec::new();
        alone.sender.handle_write(Time::ZERO, Some(4000), &mut out);
        assert_eq!(sent(&mut out), [0, 1, 2, 3]);
        assert_eq!(alone.time_out(), (6000, vec![0]), "R1");
        alone
    };
    // Slow start: the first late ACK opens the window to two, the second to three.
    let mut plain = start("reno");
    let resent: Vec<_> = (1..=4).map(|next| plain.hear(1000, &ack(next))).collect();
    assert_eq!(resent, [vec![1, 2], vec![3], vec![], vec![]]);
    assert_eq!(plain.sender.counters().retransmissions, 4);

    let mut held = start("hold-down");
    // The first half of the doubled timeout.
    assert_eq!(held.sender.next_timeout().since(held.now), Span::from_millis(6000));
    let resent: Vec<_> = (1..=4).map(|next| held.hear(1000, &ack(next))).collect();
    assert_eq!(resent, [NOTHING; 4]);
    assert_eq!(held.sender.counters().retransmissions, 1);
    assert_eq!(held.sender.next_timeout(), Time::NEVER, "all is acknowledged, and the hold-down timer ended");
}

/// Dyer 2002 §4.1.3: what was acknowledged while it ran need not be sent again, the rest is sent in slow
/// start.
#[test]
fn when_the_hold_down_timer_ends_sending_goes_on_from_the_new_left_edge() {
    let params = TcpParams { initial_window: 8, hold_down: true, ..TcpParams::cmu_1998() };
    let mut alone = Alone::with(&params);
    assert_eq!(alone.time_out(), (6000, vec![0]));
    for next in [1, 2, 2, 2, 2] {
        assert_eq!(alone.hear(10, &ack(next)), NOTHING, "duplicates repair nothing either");
    }
    assert_eq!(alone.sender.counters().fast_retransmits, 0);
    // Two ACKs opened the window to three.
    assert_eq!(alone.time_out(), (5950, vec![2, 3, 4]));
}

#[test]
fn a_hold_down_timer_without_acks_changes_nothing_and_runs_for_half_of_the_timeout() {
    for (policy, waits) in [
        (RtoPolicy::Exponential, [6000, 6000, 6000, 12_000, 12_000, 24_000]),
        (RtoPolicy::Fixed, [6000, 6000, 6000, 6000, 6000, 6000]),
    ] {
        let params =
            TcpParams { hold_down: true, rto_policy: policy, rto_max_s: 1e4, ..TcpParams::cmu_1998() };
        let mut alone = Alone::with(&params);
        let mut found = Vec::new();
        for nth in 0..6 {
            let (waited, sends) = alone.time_out();
            // The retransmission timer, then by turns the hold-down timer and the second half.
            assert_eq!(sends, if nth % 2 == 0 { vec![0] } else { vec![] });
            found.push(waited);
        }
        assert_eq!(found, waits, "{policy:?}");
    }
}

fn stamped(next: u32, echo: Time) -> Segment {
    Segment::Ack { next, sack: SackBlocks::new(), signs: AckSigns { echo, ..AckSigns::default() } }
}

/// RFC 7323 §4: the ACK of a retransmission says which transmission it answers, so Karn's rule is not needed.
#[test]
fn a_time_stamp_ends_the_back_off_at_the_ack_of_a_retransmission() {
    let params = TcpParams { timestamps: true, rto_min_s: 0.0, ..TcpParams::rfc() };
    let mut alone = Alone::with(&params);
    assert_eq!(alone.time_out(), (1000, vec![0]));
    let resent = alone.now;
    assert_eq!(alone.sender.rto(), Span::from_millis(2000));
    alone.hear(100, &stamped(1, resent));
    // SRTT = 100, RTTVAR = 50.
    assert_eq!(alone.sender.rto(), Span::from_millis(300));
}

/// RFC 7323 §4.3, rule 2; appendix A: 12 bytes.
#[test]
fn a_delayed_ack_brings_back_the_stamp_of_the_first_segment_it_answers() {
    let params = TcpParams { timestamps: true, connection_setup: false, ..TcpParams::rfc() };
    let mut receiver = Receiver::new(&params);
    let mut out = Vec::new();
    let at = |number, sent| Segment::Data { number, payload: 1000, sent, retransmission: false, cwr: false };
    for (number, sent) in [(0, 1), (1, 2), (3, 4), (2, 5)] {
        receiver.handle_data(ms(10), &at(number, ms(sent)), Ecn::NotEct, &mut out);
    }
    let answers: Vec<(u32, Time, u32)> = out
        .iter()
        .filter_map(|output| match output {
            ReceiverOutput::Send { segment: Segment::Ack { next, signs, .. }, bytes, .. } => {
                Some((*next, signs.echo, *bytes))
            }
            _ => None,
        })
        .collect();
    // 0 and 1 together; the gap, with the last stamp in order; the hole filled, with its own.
    assert_eq!(answers, [(2, ms(1), 52), (2, ms(1), 52), (4, ms(5), 52)]);
}

#[test]
fn time_stamps_lengthen_segments() {
    let mut sender = Sender::new(&TcpParams { timestamps: true, ..TcpParams::ns_2_35() }, Span::ZERO);
    let mut out = Vec::new();
    sender.handle_write(Time::ZERO, None, &mut out);
    assert!(matches!(out[..], [Output::Send { bytes: 52, .. }]));
}

/// Brakmo and Peterson 1995 §3.1: one duplicate is enough if the segment is older than the exact timeout.
#[test]
fn vegas_repairs_an_overdue_segment_at_the_first_duplicate() {
    let params = TcpParams { initial_window: 4, vegas_rules: VegasRules::Brakmo1995, ..sender("vegas") };
    for (wait_ms, sends) in [(10, vec![]), (400, vec![2])] {
        let mut alone = Alone::with(&params);
        assert_eq!(alone.hear(100, &ack(1)), [1, 2, 3, 4]);
        assert_eq!(alone.hear(100, &ack(2)), [5, 6]);
        let outstanding = alone.hear(wait_ms, &ack(2));
        assert_eq!(outstanding.first() == Some(&2), sends == [2], "{outstanding:?}");
        assert_eq!(alone.sender.counters().fast_retransmits, u64::from(sends == [2]));
    }
}

/// The whole of Vegas over a pipe of 100 ms that holds any number of segments: nothing waits, so the window
/// opens; each round trip by one segment in congestion avoidance, in every other round trip by double in slow
/// start.
#[test]
fn vegas_doubles_in_every_other_round_trip() {
    let params =
        TcpParams { window: 100, initial_window: 2, vegas_rules: VegasRules::Brakmo1995, ..sender("vegas") };
    let mut pipe = Pipe::with(&params, &[]);
    pipe.write(None).run(750);
    let bursts: Vec<usize> = pipe.bursts().iter().map(|burst| burst.1).collect();
    assert_eq!(bursts, [1, 2, 4, 4, 8, 8, 16, 16]);
}

#[test]
fn cubic_recovers_with_sack_and_keeps_seven_tenths() {
    let params =
        TcpParams { limited_transmit: false, window_reduction: WindowReduction::Window, ..sender("cubic") };
    let mut alone = Alone::five_outstanding(&params);
    for block in [(5, 6), (5, 7), (5, 8)] {
        alone.hear(10, &sack(4, &[block]));
    }
    assert!(same(alone.sender.cwnd(), 3.5) && same(alone.sender.ssthresh(), 3.5));
}

/// Ten thousand patterns of losses, delays and duplicates for each sender: every byte arrives once, nothing
/// stalls, the windows keep their bounds.
#[test]
fn every_sender_survives_ten_thousand_random_patterns() {
    for name in SENDER_NAMES {
        for seed in 0..10_000u64 {
            let profile = if seed % 2 == 0 { TcpParams::rfc() } else { TcpParams::ns_2_35() };
            let mut params = TcpParams { window: 2 + (seed % 19) as u32, segment_bytes: 1000, ..profile };
            params.apply_sender(name);
            params.timestamps = seed % 3 == 0;
            params.delayed_ack |= seed % 5 == 0;
            params.ecn = seed % 3 == 1;
            params.read_bps = if seed % 7 == 1 { 40_000.0 } else { 0.0 };
            let loss = (seed % 40) as f64 / 100.0;
            if let Err(error) = chaos_ends(&params, 12_345 + seed % 7_000, loss, seed) {
                panic!("{name}, pattern {seed}: {error}");
            }
        }
    }
}
