//! CSMA and FAMA. Carrier sense takes 15 µs. At 1 Mb/s an RTS lasts 352 µs; FAMA's CTS must exceed 352 + 15 +
//! 2 · 2 µs, and does so with 23 bytes, which last 376 µs. The station's data frames are unicast ARP requests
//! of 28 + 36 bytes: 448 µs at 2 Mb/s.

use super::*;

fn of(access_protocol: AccessProtocol) -> MacParams {
    MacParams { access_protocol, ..MacParams::default() }
}

#[test]
fn csma_sends_once_it_has_sensed_and_reports_the_frame_as_sent() {
    let mut bench = Bench::new(&of(AccessProtocol::Csma));
    bench.send(100.0, PEER).until(1e6);
    assert_eq!(bench.sent(), [(115.0, FrameKind::Data)]);
    assert_eq!(bench.when(|action| matches!(action, MacAction::Sent(_))), Some(563.0));
    assert_eq!(bench.when(|action| matches!(action, MacAction::Ready)), Some(563.0));
}

#[test]
fn a_frame_that_begins_while_csma_senses_stops_nothing() {
    let mut bench = Bench::new(&of(AccessProtocol::Csma));
    bench.send(100.0, PEER).hear(114.0, data(PEER, ME)).until(1e6);
    assert_eq!(bench.sent(), [(115.0, FrameKind::Data)]);
    assert_eq!(bench.when(|action| matches!(action, MacAction::Deliver { .. })), None);
}

#[test]
fn csma_senses_a_busy_medium_again_after_a_random_time_and_not_when_it_gets_idle() {
    let params = MacParams { csma_delay_ms: 0.3, ..of(AccessProtocol::Csma) };
    let mut bench = Bench::new(&params);
    bench.hear(0.0, frame(FrameKind::Data, PEER, OTHER, 1000, 0)).send(10.0, PEER);
    let mut sensed = Vec::new();
    while bench.sent().is_empty() {
        sensed.push(bench.deadline());
        let next = bench.deadline();
        bench.until(next);
    }
    let [.., before, last, sends] = sensed[..] else { panic!("it sensed more than once: {sensed:?}") };
    assert!(before < 1000.0 && last > 1000.0 && sends == last + 15.0, "{sensed:?}");
}

#[test]
fn csma_answers_nothing_and_a_collision_causes_no_wait() {
    let mut bench = Bench::new(&of(AccessProtocol::Csma));
    bench.hear(0.0, data(PEER, ME)).until(20_000.0);
    assert_eq!(bench.sent(), []);
    assert!(bench.when(|action| matches!(action, MacAction::Deliver { .. })).is_some());
    let end = 30_000.0 + data(PEER, OTHER).airtime.0 as f64 / 1e3;
    bench.hear(30_000.0, data(PEER, OTHER)).hear(30_000.0, data(OTHER, PEER)).send(end, PEER).until(1e6);
    assert_eq!(bench.sent(), [(end + 15.0, FrameKind::Data)]);
}

#[test]
fn the_next_frame_waits_for_a_random_time_and_a_third_may_take_its_place() {
    for protocol in [AccessProtocol::Csma, AccessProtocol::Fama] {
        let mut bench = Bench::new(&of(protocol));
        bench.send(0.0, NodeId::BROADCAST).until(719.0);
        bench.send(719.0, NodeId::BROADCAST);
        let rest = bench.deadline();
        assert!(rest > 719.0, "{protocol:?}");
        bench.until(1e6);
        assert_eq!(bench.sent(), [(15.0, FrameKind::Data), (rest + 15.0, FrameKind::Data)], "{protocol:?}");
    }
}

#[test]
fn fama_sends_data_after_the_cts_and_waits_for_no_ack() {
    let mut bench = Bench::new(&of(AccessProtocol::Fama));
    // The RTS ends at 367, the CTS begins after SIFS and lasts 376.
    bench.send(0.0, PEER).hear(377.0, frame(FrameKind::Cts, PEER, ME, 376, 500)).until(1e6);
    assert_eq!(bench.sent(), [(15.0, FrameKind::Rts), (763.0, FrameKind::Data)]);
    assert_eq!(bench.when(|action| matches!(action, MacAction::Sent(_))), Some(1211.0));
}

#[test]
fn fama_answers_an_rts_with_a_cts_that_is_longer_than_an_rts_and_its_sensing() {
    let mut bench = Bench::new(&of(AccessProtocol::Fama));
    // The sender reserves SIFS, the CTS, 2 · 2 µs and 448 µs of data: 838 µs.
    bench.hear(0.0, frame(FrameKind::Rts, PEER, ME, 352, 838)).until(1e6);
    let (time, cts) = bench.frames().next().expect("a CTS");
    assert_eq!((time, cts.kind, cts.bytes, cts.airtime), (362.0, FrameKind::Cts, 23, Span(376_000)));
    assert_eq!(cts.reserves, Span(458_000));
    assert_eq!(bench.sent().len(), 1);
}

#[test]
fn fama_answers_nobody_while_others_have_the_floor() {
    let mut bench = Bench::new(&of(AccessProtocol::Fama));
    bench.hear(0.0, frame(FrameKind::Cts, OTHER, NodeId(3), 376, 5000));
    bench.hear(1000.0, frame(FrameKind::Rts, PEER, ME, 352, 838)).until(1e6);
    assert_eq!(bench.sent(), []);
    bench.hear(1e6 + 1.0, frame(FrameKind::Rts, PEER, ME, 352, 838)).until(2e6);
    assert_eq!(bench.sent().len(), 1);
}

#[test]
fn fama_gives_a_frame_up_after_seven_rts_without_cts() {
    let mut bench = Bench::new(&of(AccessProtocol::Fama));
    bench.send(0.0, PEER).until(1e6);
    assert_eq!(bench.sent().iter().map(|sent| sent.1).collect::<Vec<_>>(), [FrameKind::Rts; 7]);
    let failed = bench.when(|action| matches!(action, MacAction::Failed { .. }));
    // RTS, SIFS, CTS, 2 · 2 µs.
    assert_eq!(failed, Some(bench.sent()[6].0 + 742.0));
    for pair in bench.sent().windows(2) {
        // A random time of up to 10 RTSs, and carrier sense.
        assert!((757.0..757.0 + 3520.0).contains(&(pair[1].0 - pair[0].0)), "{pair:?}");
    }
}

/// When a station of FAMA that hears two frames at once, of which the longer ends at 1000 µs, sends its RTS.
fn first_after_noise(access_protocol: AccessProtocol) -> f64 {
    let mut bench = Bench::new(&of(access_protocol));
    bench.hear(0.0, frame(FrameKind::Rts, PEER, OTHER, 1000, 0));
    bench.hear(0.0, frame(FrameKind::Rts, OTHER, PEER, 1000, 0)).send(1000.0, PEER).until(1e6);
    bench.sent()[0].0
}

#[test]
fn fama_waits_for_the_longest_data_frame_after_noise() {
    // SIFS, 192 µs + 1536 bytes at 2 Mb/s, 2 · 2 µs.
    assert!(first_after_noise(AccessProtocol::Fama) >= 1000.0 + 10.0 + 6336.0 + 4.0);
    assert_eq!(first_after_noise(AccessProtocol::Csma), 1015.0);
}

#[test]
fn fama_hears_the_rest_of_a_cts_that_began_while_it_sensed_as_noise() {
    let mut bench = Bench::new(&of(AccessProtocol::Fama));
    // Its RTS is on the air from 15 to 367; the CTS ends at 376 and 2 µs later at most.
    bench.send(0.0, PEER).hear(0.001, frame(FrameKind::Cts, OTHER, PEER, 376, 5000)).until(1e6);
    assert_eq!(bench.sent()[0], (15.0, FrameKind::Rts));
    assert!(bench.sent()[1].0 >= 376.0 + 10.0 + 6336.0 + 4.0, "{:?}", bench.sent());
}

#[test]
fn fama_is_silent_for_a_cts_after_an_rts_to_another_and_for_the_data_after_a_cts() {
    let mut bench = Bench::new(&of(AccessProtocol::Fama));
    bench.hear(0.0, frame(FrameKind::Cts, PEER, OTHER, 376, 5000)).send(400.0, PEER).until(1e6);
    assert!(bench.sent()[0].0 >= 5376.0);
    let mut bench = Bench::new(&of(AccessProtocol::Fama));
    bench.hear(0.0, frame(FrameKind::Rts, PEER, OTHER, 352, 5000)).send(400.0, PEER).until(1e6);
    // 2 SIFS, a CTS and 2 slots, and no longer if nothing follows.
    assert!((352.0 + 436.0..352.0 + 5000.0).contains(&bench.sent()[0].0));
}
