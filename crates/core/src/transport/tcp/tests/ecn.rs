//! Marks of congestion (RFC 3168 §6.1), at both ends.

use super::*;

/// Five segments, 4 to 8, are outstanding, with a window of five.
fn five(name: &str) -> Alone {
    let mut params = TcpParams { ecn: true, ecn_on_retransmissions: false, ..TcpParams::ns_2_35() };
    assert!(params.apply_sender(name));
    Alone::five_outstanding(&params)
}

/// Number, CWR and ECN field of what is sent when the sender hears `segment`.
fn fields(alone: &mut Alone, segment: &Segment) -> Vec<(u32, bool, Ecn)> {
    let mut out = Vec::new();
    alone.sender.handle_ack(alone.now, segment, &mut out);
    let field = |output: &Output| match output {
        Output::Send { segment: Segment::Data { number, cwr, .. }, ecn, .. } => Some((*number, *cwr, *ecn)),
        _ => None,
    };
    out.iter().filter_map(field).collect()
}

/// RFC 3168 §6.1.3: from a mark on every ACK has ECN-Echo, until a segment with CWR that is not marked
/// itself.
#[test]
fn the_receiver_echoes_a_mark_until_the_sender_has_heard() {
    let script = [
        (Ecn::Ect, false, false),
        (Ecn::Ce, false, true),
        (Ecn::Ect, false, true),
        (Ecn::NotEct, false, true),
        (Ecn::Ect, true, false),
        (Ecn::Ect, false, false),
        (Ecn::Ce, true, true),
        (Ecn::Ect, false, true),
        (Ecn::Ect, true, false),
    ];
    for understands in [true, false] {
        let params = TcpParams { delayed_ack: false, ecn: understands, ..TcpParams::rfc() };
        let mut receiver = Receiver::new(&params);
        for (number, (ecn, cwr, echoes)) in script.into_iter().enumerate() {
            let mut out = Vec::new();
            let number = number as u32;
            let segment = Segment::Data { number, payload: 1, sent: ms(1), retransmission: false, cwr };
            receiver.handle_data(ms(1), &segment, ecn, &mut out);
            let [
                ReceiverOutput::InOrder(_),
                ReceiverOutput::Send { segment: Segment::Ack { signs, .. }, ecn, .. },
            ] = &out[..]
            else {
                panic!("one ACK, not {out:?}");
            };
            assert_eq!((signs.ece, *ecn), (echoes && understands, Ecn::NotEct), "{number}");
        }
    }
}

/// With delayed ACKs one mark among the segments that an ACK answers is enough.
#[test]
fn a_delayed_ack_echoes_the_mark_of_any_segment_it_answers() {
    let params = TcpParams { ecn: true, connection_setup: false, ..TcpParams::rfc() };
    let mut receiver = Receiver::new(&params);
    let mut out = Vec::new();
    receiver.handle_data(ms(0), &data(0), Ecn::Ce, &mut out);
    assert_eq!(out, [ReceiverOutput::InOrder(1000)]);
    receiver.handle_data(ms(1), &data(1), Ecn::Ect, &mut out);
    assert!(
        matches!(out.last(), Some(ReceiverOutput::Send { segment: Segment::Ack { signs, .. }, .. }) if signs.ece)
    );
}

/// RFC 3168 §6.1.2: half of the window, once per window of data; CWR with the first new segment after it.
#[test]
fn a_mark_halves_the_window_once_for_each_window_of_data() {
    let mut alone = five("reno");
    let none: [(u32, bool, Ecn); 0] = [];
    // All of 4 to 8 were sent before the reduction; their echoes reduce nothing again, and open nothing.
    for next in 5..=7 {
        assert_eq!(fields(&mut alone, &echo(next)), none);
        assert!(same(alone.sender.cwnd(), 2.5));
    }
    assert_eq!(fields(&mut alone, &echo(8)), [(9, true, Ecn::Ect)]);
    assert_eq!(fields(&mut alone, &echo(9)), [(10, false, Ecn::Ect)]);
    assert_eq!(alone.sender.counters().mark_reductions, 1);
    assert!(same(alone.sender.cwnd(), 2.5) && same(alone.sender.ssthresh(), 2.0));
    // 9 was sent after it: congestion goes on.
    assert_eq!(fields(&mut alone, &echo(10)), none);
    assert!(same(alone.sender.cwnd(), 1.25));
    // The receiver has heard: the window opens again.
    assert_eq!(fields(&mut alone, &ack(11)), [(11, true, Ecn::Ect), (12, false, Ecn::Ect)]);
    assert!(same(alone.sender.cwnd(), 2.25), "slow start: below the threshold of two");
    let counters = alone.sender.counters();
    assert_eq!((counters.mark_reductions, counters.retransmissions, counters.timeouts), (2, 0, 0));
}

/// As a loss does in each, but Tahoe has nothing to send again. A window of five; the flight for `rfc` is
/// five.
#[test]
fn each_congestion_control_answers_a_mark_in_its_way() {
    let windows =
        [("reno", 2.5), ("newreno", 2.5), ("sack", 2.5), ("tahoe", 2.5), ("cubic", 3.5), ("vegas", 2.5)];
    for (name, cwnd) in windows {
        let params = TcpParams { ecn: true, initial_window: 5, connection_setup: false, ..TcpParams::rfc() };
        let mut params = TcpParams { limited_transmit: false, ..params };
        params.apply_sender(name);
        let mut alone = Alone::with(&params);
        alone.hear(10, &echo(1));
        assert!(same(alone.sender.cwnd(), cwnd), "{name}: {}", alone.sender.cwnd());
        let counters = alone.sender.counters();
        assert_eq!((counters.mark_reductions, counters.retransmissions), (1, 0), "{name}");
    }
}

#[test]
fn without_ecn_an_echo_means_nothing() {
    let mut alone = Alone::five_outstanding(&TcpParams::ns_2_35());
    assert_eq!(fields(&mut alone, &echo(5)), [(9, false, Ecn::NotEct), (10, false, Ecn::NotEct)]);
    assert_eq!(alone.sender.counters().mark_reductions, 0);
}

/// RFC 3168 §6.1.2: marks and losses of one window of data are one sign of congestion. What is sent again
/// cannot be marked (§6.1.5).
#[test]
fn a_loss_in_a_marked_window_is_repaired_without_a_second_reduction() {
    // The inflated window lets 9 out.
    let (again, new) = ((5, false, Ecn::NotEct), (9, true, Ecn::Ect));
    for (name, cwnd, sends) in
        [("reno", 2.5, vec![again, new]), ("newreno", 2.5, vec![again, new]), ("tahoe", 1.0, vec![again])]
    {
        let mut alone = five(name);
        let found: Vec<_> = (0..4).flat_map(|_| fields(&mut alone, &echo(5))).collect();
        assert_eq!(found, sends, "{name}");
        assert!(same(alone.sender.cwnd(), cwnd) && same(alone.sender.ssthresh(), 2.0), "{name}");
        assert_eq!(alone.sender.counters().mark_reductions, 1);
    }
}

/// ns-2: the retransmission tells the receiver, and can be marked.
#[test]
fn in_ns_2_the_retransmission_carries_cwr() {
    let mut params = TcpParams { ecn: true, ..TcpParams::ns_2_35() };
    assert!(params.apply_sender("reno"));
    let mut alone = Alone::five_outstanding(&params);
    let found: Vec<_> = (0..4).flat_map(|_| fields(&mut alone, &echo(5))).collect();
    assert_eq!(found, [(5, true, Ecn::Ect), (9, false, Ecn::Ect)]);
}

#[test]
fn a_mark_after_a_loss_in_the_same_window_reduces_nothing() {
    let mut alone = five("newreno");
    for _ in 0..3 {
        alone.hear(10, &ack(4));
    }
    assert!(same(alone.sender.cwnd(), 2.5));
    // A partial ACK: of what was sent before the loss was known.
    alone.hear(10, &echo(6));
    assert_eq!(alone.sender.counters().mark_reductions, 0);
}

/// RFC 3168 §6.1.2: with a window of one the next segment waits for the retransmission timer.
#[test]
fn a_marked_window_of_one_is_paced_by_the_timer() {
    let params = TcpParams { ecn: true, initial_window: 1, connection_setup: false, ..TcpParams::rfc() };
    let mut alone = Alone::with(&params);
    assert_eq!(alone.hear(100, &echo(1)), NOTHING);
    assert!(same(alone.sender.cwnd(), 1.0));
    assert_eq!(alone.time_out(), (1000, vec![1]));
    assert_eq!(alone.sender.counters().timeouts, 0);
}

/// RFC 3168 §6.1.2: the timer is reset at the ACK with the echo, whose round trip is a sample first.
#[test]
fn a_marked_window_of_one_waits_for_the_timeout_that_the_ack_brings() {
    let params = TcpParams {
        ecn: true,
        initial_window: 1,
        connection_setup: false,
        rto_min_s: 0.0,
        delayed_ack: false,
        ..TcpParams::rfc()
    };
    let mut alone = Alone::with(&params);
    assert_eq!(alone.hear(100, &echo(1)), NOTHING);
    // SRTT = 100, RTTVAR = 50.
    assert_eq!(alone.time_out(), (300, vec![1]));
}

/// The receiver goes on echoing until new data says CWR, and after a timeout old data goes first: these
/// echoes, of a congestion that the timeout has answered, must not stop slow start.
#[test]
fn echoes_from_before_a_timeout_do_not_stop_slow_start() {
    let mut alone = five("reno");
    alone.hear(0, &echo(4));
    alone.time_out();
    assert!(same(alone.sender.cwnd(), 1.0) && same(alone.sender.ssthresh(), 2.0), "one reduction for both");
    assert_eq!(fields(&mut alone, &echo(5)), [(5, false, Ecn::NotEct), (6, false, Ecn::NotEct)]);
    assert_eq!(fields(&mut alone, &echo(9)), [(9, true, Ecn::Ect), (10, false, Ecn::Ect)]);
    assert_eq!(alone.sender.counters().mark_reductions, 1);
}

/// Over a whole transfer: the SYN is never marked, a mark costs no segment, and the receiver stops echoing.
#[test]
fn a_marked_transfer_sends_nothing_twice() {
    let params = TcpParams { ecn: true, window: 16, ..TcpParams::ns_2_35() };
    let mut pipe = Pipe::with(&params, &[]);
    pipe.marked = vec![20, 22, 60];
    pipe.write(Some(120_000)).run(60_000);
    let counters = pipe.sender.counters();
    assert_eq!((counters.mark_reductions, counters.retransmissions, counters.timeouts), (2, 0, 0));
    assert_eq!(pipe.receiver.counters().bytes_in_order, 120_000);
}
