//! The receiver's window: what a slow reader makes of it, and the probes of a closed one.

use super::*;

/// A window of four segments of 1000 bytes, of which the application reads one a second.
fn slow_reader() -> TcpParams {
    TcpParams {
        window: 4,
        segment_bytes: 1000,
        initial_window: 4,
        connection_setup: false,
        read_bps: 8000.0,
        delayed_ack: false,
        ..TcpParams::rfc()
    }
}

/// An ACK that leaves room for so many segments.
fn offering(next: u32, window: u16) -> Segment {
    let signs = AckSigns { window, ..AckSigns::default() };
    Segment::Ack { next, sack: SackBlocks::new(), signs }
}

/// What a receiver's ACKs say: `next` and the window.
fn offers(out: &mut Vec<ReceiverOutput>) -> Vec<(u32, u16)> {
    let offer = |output| match output {
        ReceiverOutput::Send { segment: Segment::Ack { next, signs, .. }, .. } => Some((next, signs.window)),
        _ => None,
    };
    out.drain(..).filter_map(offer).collect()
}

#[test]
fn what_is_not_read_takes_room_in_the_window() {
    let mut receiver = Receiver::new(&slow_reader());
    let mut out = Vec::new();
    for number in [0, 1, 3, 2] {
        receiver.handle_data(ms(0), &data(number), Ecn::NotEct, &mut out);
    }
    // What is out of order is in the window still.
    assert_eq!(offers(&mut out), [(1, 3), (2, 2), (2, 2), (4, 0)]);
    // Beyond the closed window nothing is kept.
    receiver.handle_data(ms(10), &data(4), Ecn::NotEct, &mut out);
    assert_eq!(offers(&mut out), [(4, 0)]);
    assert_eq!(receiver.next_timeout(), ms(1000));
    receiver.handle_timeout(ms(1000), &mut out);
    assert_eq!(offers(&mut out), [(4, 1)], "it opens with the first segment that is read");
    assert_eq!(receiver.next_timeout(), Time::NEVER);
    receiver.handle_data(ms(3500), &data(4), Ecn::NotEct, &mut out);
    assert_eq!(offers(&mut out), [(5, 2)], "three were read, one came");
}

/// A probe is answered at once, and neither a duplicate nor data.
#[test]
fn a_probe_is_answered_with_the_window() {
    let params = TcpParams { sack: true, dsack: true, ..slow_reader() };
    let mut receiver = Receiver::new(&TcpParams { immediate_ack_for_duplicate: false, ..params });
    let mut out = Vec::new();
    receiver.handle_data(ms(0), &data(0), Ecn::NotEct, &mut out);
    out.clear();
    let probe = Segment::Data { number: 0, payload: 0, sent: ms(5), retransmission: true, cwr: false };
    receiver.handle_data(ms(5), &probe, Ecn::NotEct, &mut out);
    assert_eq!(acks(&mut out), [(1, 40, vec![])]);
    assert_eq!(receiver.counters().duplicates, 0);
}

/// The sender at the right edge: RFC 1122 §4.2.2.17. The first probe after an RTO, here 300 ms (SRTT = 100,
/// RTTVAR = 50), then at intervals that double up to the maximum; the RTO itself does not back off.
#[test]
fn a_closed_window_is_probed_ever_more_rarely() {
    let params = TcpParams { rto_min_s: 0.0, persist_max_s: 1.0, ..slow_reader() };
    let mut alone = Alone::with(&params);
    assert_eq!(alone.hear(100, &offering(4, 0)), NOTHING);
    let probes: Vec<_> = (0..4).map(|_| alone.time_out()).collect();
    let probe = |after| (after, vec![3]);
    assert_eq!(probes, [probe(300), probe(600), probe(1000), probe(1000)]);
    assert_eq!(alone.sender.rto(), Span::from_millis(300));
    let counters = alone.sender.counters();
    assert_eq!((counters.window_probes, counters.timeouts, counters.retransmissions), (4, 0, 0));
    // An answer with a closed window changes nothing, one with room ends it.
    assert_eq!(alone.hear(50, &offering(4, 0)), NOTHING);
    assert_eq!(alone.sender.next_timeout().since(alone.now), Span::from_millis(950));
    assert_eq!(alone.hear(50, &offering(4, 2)), [4, 5]);
    assert_eq!(alone.time_out(), (300, vec![4]), "the retransmission timer again");
}

/// RFC 9293 §3.8.6: the right edge is what counts. An ACK that only moves it is no duplicate (RFC 5681 §2).
#[test]
fn an_update_of_the_window_lets_segments_out_and_means_no_loss() {
    let mut alone = Alone::with(&TcpParams { window: 8, ..slow_reader() });
    assert_eq!(alone.hear(100, &offering(1, 4)), [4]);
    let sends: Vec<_> = (5..8).map(|window| alone.hear(10, &offering(1, window))).collect();
    assert_eq!(sends, [vec![5], vec![], vec![]], "the window of five is full");
    assert_eq!(alone.sender.counters().fast_retransmits, 0);
    // Those with the same window are duplicates.
    for _ in 0..3 {
        alone.hear(10, &offering(1, 7));
    }
    assert_eq!(alone.sender.counters().fast_retransmits, 1);
}

/// An older ACK may be overtaken: what was sent is sent again even if the window seems closed since.
#[test]
fn what_was_within_the_window_is_sent_again_whatever_it_is_now() {
    let mut alone = Alone::with(&slow_reader());
    alone.hear(100, &offering(1, 0));
    assert_eq!(alone.time_out().1, [1]);
}

/// The opening ACK is lost, and so is the first probe: RTO 1 s, so probes 1 s and 3 s after the closing ACK.
#[test]
fn a_lost_window_update_does_not_end_the_transfer() {
    let mut pipe = Pipe::with(&slow_reader(), &[]);
    pipe.write(Some(20_000)).run(1000);
    // Data at 0 and 50 ms, the ACKs at 100 ms, which close the window. The first segment is read at 1050 ms.
    assert_eq!(pipe.receiver.next_timeout(), ms(1050));
    pipe.run(1060);
    assert_eq!(pipe.under_way.len(), 1);
    pipe.under_way.clear();
    pipe.lost.push(pipe.log.len());
    pipe.run(60_000);
    assert_eq!(&pipe.log[4..7], [(1100, 3), (3100, 3), (3200, 4)]);
    assert_eq!((pipe.finished.len(), pipe.receiver.counters().bytes_in_order), (1, 20_000));
    assert_eq!((pipe.sender.counters().window_probes, pipe.sender.counters().timeouts), (2, 0));
}

/// The application sets the pace: over a minute, 8 kbit/s.
#[test]
fn throughput_is_what_the_application_reads() {
    let mut pipe = Pipe::with(&slow_reader(), &[]);
    pipe.write(None).run(60_000);
    // 59.95 s of reading, the segment that is being read, and three in the buffer.
    assert_eq!(pipe.receiver.counters().bytes_in_order, 63_000);
    assert_eq!(pipe.sender.counters().retransmissions, 0);
}
