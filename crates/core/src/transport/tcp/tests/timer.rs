//! What the retransmission timer measures and when it starts (RFC 6298), with each recovery.

use super::*;

/// Segments 0 to 11, of which 0 is acknowledged after 100 ms; recovery of 1 has begun, 12 is timed.
fn twelve_is_timed() -> Alone {
    let params = TcpParams {
        connection_setup: false,
        initial_window: 10,
        limited_transmit: false,
        rto_min_s: 0.0,
        sack: true,
        ..TcpParams::rfc()
    };
    let mut alone = Alone::with(&params);
    assert_eq!(alone.hear(100, &ack(1)), [10, 11]);
    let sent: Vec<u32> = (3..=12).flat_map(|end| alone.hear(1, &sack(1, &[(2, end)]))).collect();
    assert_eq!(sent, [1, 12, 13, 14, 15]);
    alone
}

/// Karn's algorithm (RFC 6298 §3): under SACK the timed segment may be a hole that recovery fills.
#[test]
fn a_timed_segment_that_sack_sends_again_is_no_sample() {
    let mut alone = twelve_is_timed();
    let srtt = alone.sender.srtt();
    assert_eq!(srtt, Some(Span::from_millis(100)));
    let sent: Vec<u32> =
        [14, 15, 16].iter().flat_map(|&end| alone.hear(30, &sack(1, &[(13, end), (2, 12)]))).collect();
    assert_eq!(sent, [16, 17, 12, 18]);
    alone.hear(105, &ack(18));
    assert_eq!(alone.sender.srtt(), srtt);
    // 18 was sent once.
    alone.hear(5, &ack(19));
    assert_ne!(alone.sender.srtt(), srtt);
}

#[test]
fn a_timed_segment_that_is_not_sent_again_is_a_sample() {
    let mut alone = twelve_is_timed();
    alone.hear(100, &ack(16));
    assert_eq!(alone.sender.srtt(), Some(Span(100_375_000)), "12 was sent 3 ms before the last news");
}

/// RFC 6675 §5.1: once HighACK reaches RecoveryPoint. RFC 6582 §3.2 wants one segment more of NewReno.
#[test]
fn the_first_segment_after_those_of_a_timeout_may_be_fast_retransmitted_with_sack() {
    for (params, sack_on, repairs) in [
        (TcpParams::rfc(), true, true),
        (TcpParams::rfc(), false, false),
        (TcpParams::ns_2_35(), true, false),
    ] {
        let params = TcpParams {
            connection_setup: false,
            initial_window: 4,
            sack: sack_on,
            partial_ack_recovery: !sack_on,
            ..params
        };
        let mut alone = Alone::with(&params);
        assert_eq!(alone.time_out().1, [0]);
        assert_eq!(alone.hear(100, &ack(1)), [1, 2]);
        alone.hear(100, &ack(4));
        // 4 is lost; what was sent after it arrives.
        let mut sent = Vec::new();
        for end in 6..=9 {
            sent.extend(alone.hear(10, &if sack_on { sack(4, &[(5, end)]) } else { ack(4) }));
        }
        assert_eq!(sent.contains(&4), repairs, "{sent:?}");
        assert_eq!(alone.sender.counters().fast_retransmits, u64::from(repairs));
    }
}

/// RFC 6298 §5: only an ACK of new data restarts the timer, and the first partial one in NewReno. ns-2
/// restarts it at a fast retransmit.
#[test]
fn a_fast_retransmit_leaves_the_timer_running() {
    for name in ["reno", "newreno", "sack", "tahoe", "cubic"] {
        for (restarts, left_ms) in [(false, 970), (true, 1000)] {
            let mut params = TcpParams {
                connection_setup: false,
                initial_window: 10,
                fast_retransmit_restarts_timer: restarts,
                ..TcpParams::rfc()
            };
            params.apply_sender(name);
            let mut alone = Alone::with(&params);
            alone.hear(100, &ack(1));
            for end in 3..=5 {
                alone.hear(10, &sack(1, &[(2, end)]));
            }
            assert_eq!(alone.sender.counters().fast_retransmits, 1, "{name}");
            assert_eq!(alone.sender.next_timeout().since(alone.now), Span::from_millis(left_ms), "{name}");
        }
    }
    assert!(!TcpParams::rfc().fast_retransmit_restarts_timer);
    assert!(TcpParams::ns_2_35().fast_retransmit_restarts_timer);
}

/// RFC 5681 §3.1: a SYN tells nothing about the path's load, but the first window is one segment. RFC 6298
/// §5.7: data begins with an RTO of 3 s. In ns-2 the threshold is two and the RTO stays doubled.
#[test]
fn a_lost_syn_leaves_the_threshold_high_and_the_timeout_at_three_seconds() {
    for (params, ssthresh, rto) in [
        (TcpParams::rfc(), 20.0, 3000),
        (TcpParams { rto_initial_s: 4.0, ..TcpParams::rfc() }, 20.0, 8000),
        (TcpParams::ns_2_35(), 2.0, 6000),
    ] {
        let mut alone = Alone::with(&params);
        assert_eq!(alone.time_out().1, [0]);
        assert_eq!(alone.hear(100, &ack(1)), [1]);
        assert!(same(alone.sender.cwnd(), 1.0) && same(alone.sender.ssthresh(), ssthresh));
        assert_eq!(alone.sender.rto(), Span::from_millis(rto));
        assert_eq!(alone.sender.next_timeout().since(alone.now), Span::from_millis(rto));
    }
    // Nothing was lost: nothing to be careful about.
    let mut alone = Alone::with(&TcpParams::rfc());
    alone.hear(100, &ack(1));
    assert_eq!(alone.sender.rto(), Span::from_millis(1000));
}

/// Dyer and Boppana 2003 §II: all but the doubling is as in Reno. So what ends the back-off is a parameter
/// that no sender sets.
#[test]
fn the_ack_of_a_retransmission_ends_the_back_off_of_all_senders_or_of_none() {
    for (backoff_end, rto) in [(BackoffEnd::Sample, 2000), (BackoffEnd::NewAck, 1000)] {
        for name in ["reno", "tahoe", "newreno", "sack", "reno-f", "fixed-rto", "fixed-first", "growth"] {
            let mut params = TcpParams { backoff_end, ..TcpParams::rfc() };
            params.apply_sender(name);
            let mut alone = Alone::with(&params);
            alone.hear(100, &ack(1));
            assert_eq!(alone.time_out(), (1000, vec![1]));
            alone.hear(100, &ack(2));
            assert_eq!(alone.sender.rto(), Span::from_millis(rto), "{name}");
            // 4 was not sent before the timeout.
            alone.hear(100, &ack(4));
            alone.hear(100, &ack(5));
            assert_eq!(alone.sender.rto(), Span::from_millis(1000), "{name}");
        }
    }
}
