//! Transfers and messages over TCP, with every sender.

use super::{fates, messages, of_messages, of_tcp, sender, transfer};
use crate::flow::testbench::{Fault, Pair, ms};
use crate::flow::{End, FlowAction, Snapshot};
use crate::profile::profile;
use crate::routing::{HoldStep, Notice};
use crate::scenario::{Carrier, RoutingKind};
use crate::transport::tcp::SENDER_NAMES;
use crate::wire::NodeId;
use crate::wire::tcp::Segment;

const FAILED: Notice = Notice::RouteFailed { dst: NodeId(1), told: true };
const FOUND: Notice = Notice::RouteFound { dst: NodeId(1) };

fn with_sender(name: &str, bytes: Option<u64>) -> Pair {
    Pair::with(transfer(bytes), None, sender(name))
}

/// SYN, then an initial window of three, of which the delayed ACK answers two; the rest, and its delayed ACK.
#[test]
fn a_transfer_opens_sends_all_and_closes_with_the_last_ack() {
    let mut pair = Pair::new(transfer(Some(7000)));
    pair.run(5000);
    assert_eq!(
        pair.story,
        [
            "1000 source opens two-way",
            "1000 source sends tcp 40",
            "1050 destination sends ack 40",
            "1100 source sends tcp 1500",
            "1100 source sends tcp 1500",
            "1100 source sends tcp 1500",
            "1150 destination sends ack 40",
            "1200 source sends tcp 1500",
            "1200 source sends tcp 1200",
            "1250 destination sends ack 40",
            "1350 destination sends ack 40",
            "1400 source closes two-way",
        ]
    );
    let tcp = of_tcp(pair.measures());
    assert_eq!(
        (tcp.delivered_bytes, tcp.completed_s, tcp.retransmissions),
        (7000, Some(ms(1400).as_secs()), 0)
    );
    assert_eq!(tcp.connect_time_s, Some(ms(150).as_secs()));
}

/// Limited transmit sends two more, whose duplicate ACKs make the third: fast retransmit without a timeout.
#[test]
fn a_lost_segment_is_sent_again_and_all_bytes_arrive_once() {
    let mut pair =
        Pair::new(transfer(Some(7000))).fault("tcp", 1, Fault::Lose).fault("tcp", 2, Fault::Copy(1));
    pair.run(5000);
    let tcp = of_tcp(pair.measures());
    assert_eq!((tcp.delivered_bytes, tcp.retransmissions, tcp.fast_retransmits), (7000, 1, 1));
    assert_eq!((tcp.timeouts, tcp.timeouts_in_row), (0, 0));
    assert_eq!(pair.lines(&["closes"]).len(), 1);
}

/// The first three segments take two seconds longer, and so does the first one's second copy, which the timer
/// sends at 2100. The first ACK bears the stamp of 1100.
#[test]
fn a_transfer_reports_spurious_timeouts_if_its_sender_looks_for_them() {
    for (name, found) in [("eifel", Some((1, 0))), ("sack", None)] {
        let mut pair = with_sender(name, Some(7000)).faults("tcp", 1..5, Fault::Delay(2000));
        pair.run(10_000);
        let found_here = pair.report().spurious;
        let counts = found_here.map(|each| (each.spurious_timeouts, each.spurious_fast_retransmits));
        assert_eq!((counts, of_tcp(pair.measures()).timeouts), (found, 1), "{name}");
    }
}

/// Segment 1 is lost at 1100, and limited transmit makes the third duplicate ACK. No round trip was longer
/// than 100 ms: nothing waits in queues.
#[test]
fn a_transfer_tells_what_its_sender_guesses() {
    for (name, guesses) in [("predict-vegas", vec!["1300 the radio is blamed for 1"]), ("reno", vec![])] {
        let mut pair = with_sender(name, Some(7000)).fault("tcp", 1, Fault::Lose);
        pair.run(5000);
        assert_eq!(pair.lines(&["blamed"]), guesses, "{name}");
        assert_eq!(of_tcp(pair.measures()).fast_retransmits, 1, "{name}");
    }
}

/// The RTO is a second at first and doubles: 1 s, 2 s and 4 s after the first SYN.
#[test]
fn timeouts_in_a_row_are_counted_until_an_ack() {
    let mut pair = Pair::new(transfer(Some(1000))).faults("tcp", 0..3, Fault::Lose);
    pair.run(20_000);
    let times: Vec<u64> = pair.sent("tcp").iter().map(|sent| sent.0).take(4).collect();
    assert_eq!(times, [1000, 2000, 4000, 8000]);
    let tcp = of_tcp(pair.measures());
    assert_eq!((tcp.timeouts, tcp.timeouts_in_row, tcp.delivered_bytes), (3, 3, 1000));
    let of_connection = pair.report().connection.expect("one connection");
    assert_eq!(of_connection.backoffs, 2, "the first timeout follows none");
    // Eq. 2 of Choi and Yoo: segment 1, 1460 bytes, 100 s.
    assert!((of_connection.eq2_goodput_bps - 116.8).abs() < 1e-9, "{}", of_connection.eq2_goodput_bps);
    assert!((tcp.longest_gap_s - 7.15).abs() < 1e-9, "{}", tcp.longest_gap_s);
}

/// Losses of data and of ACKs, copies and overtaking.
#[test]
fn every_sender_brings_a_transfer_to_its_end() {
    for name in SENDER_NAMES {
        let mut pair = with_sender(name, Some(120_000))
            .faults("tcp", 5..7, Fault::Lose)
            .faults("tcp", 20..24, Fault::Delay(120))
            .fault("tcp", 30, Fault::Copy(7))
            .faults("tcp", 40..44, Fault::Lose)
            .faults("ack", 12..15, Fault::Lose);
        pair.run(99_000);
        let tcp = of_tcp(pair.measures());
        assert_eq!(tcp.delivered_bytes, 120_000, "{name}");
        assert!(tcp.completed_s.is_some() && tcp.retransmissions >= 6, "{name}: {tcp:?}");
        let ends = pair.lines(&["opens", "closes"]);
        assert_eq!(ends.len(), 2, "{name}: {ends:?}");
        assert!(ends[1].ends_with("source closes two-way"), "{name}: {ends:?}");
        assert_eq!(pair.broken, [""; 0], "{name}");
    }
}

#[test]
fn a_transfer_that_stops_brings_what_it_sent_to_its_end() {
    let mut pair = Pair::with(transfer(None), Some(1.45), |_| {});
    pair.run(5000);
    assert!(pair.sent("tcp").iter().all(|&(time, _)| time < 1450));
    assert_eq!(pair.lines(&["opens", "closes"]).len(), 2);
    let tcp = of_tcp(pair.measures());
    assert_eq!(tcp.delivered_bytes, 1460 * (pair.sent("tcp").len() as u64 - 1));
}

/// Of 7000 bytes all is out at 1200. What stops later completes all the same, what stops earlier does not.
#[test]
fn a_transfer_that_is_cut_off_is_not_complete() {
    let completed = |bytes: Option<u64>, stop_s: f64| {
        let mut pair = Pair::with(transfer(bytes), Some(stop_s), |_| {});
        pair.run(5000);
        assert_eq!(pair.lines(&["closes"]).len(), 1);
        of_tcp(pair.measures()).completed_s
    };
    assert_eq!(completed(Some(7000), 1.19), None);
    assert_eq!(completed(Some(7000), 1.21), Some(ms(1400).as_secs()));
    assert_eq!(completed(None, 1.21), None);
}

/// Whether its last segment is acknowledged, outstanding or held back when it stops: at the smallest window a
/// mark holds the next segment for a timeout.
#[test]
fn a_transfer_that_stops_closes_once_whatever_it_waits_for() {
    let mut at_once = 0;
    for stop in (1100..4000).step_by(10) {
        let smallest = |scenario: &mut crate::scenario::Scenario| {
            (scenario.params.tcp.ecn, scenario.params.tcp.initial_window) = (true, 1);
        };
        let mut pair = Pair::with(transfer(None), Some(f64::from(stop) / 1000.0), smallest);
        pair = pair.faults("tcp", 1..99, Fault::Mark);
        pair.run(9000);
        let closes = pair.lines(&["closes"]);
        assert_eq!(closes.len(), 1, "{stop}: {:?}", pair.story);
        at_once += u32::from(closes[0].starts_with(&stop.to_string()));
        let gap_s = of_tcp(pair.measures()).longest_gap_s;
        assert!(gap_s < 3.0, "{stop}: {gap_s} s");
    }
    assert!(at_once > 100, "{at_once}");
}

/// A sender tells routing that holds its packets its timeout, back-off included: after three lost SYNs 8 s.
/// Other senders than TCP's, and the other end, have none.
#[test]
fn a_sender_tells_its_timeout_to_routing_that_holds_its_packets() {
    let held = Notice::Hold { dst: NodeId(1), step: HoldStep::Begins };
    for name in ["reno", "sack", "elfn", "tcp-f"] {
        let mut pair = with_sender(name, None).faults("tcp", 0..9, Fault::Lose);
        pair.notify(End::Source, held).run(8500).notify(End::Source, held).notify(End::Destination, held);
        assert_eq!(pair.lines(&["tells"]), ["8500 source tells a timeout of 8000 ms"], "{name}");
    }
    for (carrier, senders) in [(Carrier::Tcp, 1), (Carrier::Udp, 0)] {
        let mut pair = Pair::new(messages(carrier, &[(0.0, 5000), (5.0, 100)]));
        pair.run(2500).notify(End::Source, held);
        assert_eq!(pair.lines(&["tells"]).len(), senders);
    }
    let mut over = Pair::new(transfer(Some(1000)));
    over.run(5000).notify(End::Source, held);
    assert_eq!(over.lines(&["tells"]), [""; 0], "all is acknowledged");
}

/// TCP-F freezes when routing at its own node says that the route failed, and goes on when there is one
/// again; others time out.
#[test]
fn notices_reach_the_sender_at_their_end_once_it_has_begun() {
    let sent_after = |notices: &[(End, Notice)], name: &str| {
        let mut pair = with_sender(name, None);
        pair.run(1420).cut();
        let before = pair.sent("tcp").len();
        for &(at, notice) in notices {
            pair.notify(at, notice);
        }
        pair.run(4000);
        pair.sent("tcp").len() - before
    };
    let undisturbed = sent_after(&[], "tcp-f");
    assert!(undisturbed > 0, "it times out");
    assert_eq!(sent_after(&[(End::Source, FAILED)], "tcp-f"), 0);
    assert_eq!(sent_after(&[(End::Destination, FAILED)], "tcp-f"), undisturbed);
    assert!(sent_after(&[(End::Source, FAILED), (End::Source, FOUND)], "tcp-f") > 0);
    assert_eq!(sent_after(&[(End::Source, FAILED)], "reno"), sent_after(&[], "reno"));
    let mut early = with_sender("tcp-f", Some(1000));
    early.notify(End::Source, FAILED).run(5000);
    assert_eq!(early.story.first().map(String::as_str), Some("1000 source opens two-way"));
    assert_eq!(of_tcp(early.measures()).delivered_bytes, 1000);
}

/// What the sender's own node found out freezes it as what comes from another node does.
#[test]
fn a_notification_freezes_tcp_bus() {
    let mut pair = with_sender("tcp-bus", None);
    pair.run(1420).cut();
    let before = pair.sent("tcp").len();
    let mut actions = Vec::new();
    pair.flow.handle_notification(ms(1420), 0, &Segment::Erdn { dst: NodeId(1) }, &mut actions);
    assert!(matches!(actions[..], [FlowAction::Window { at: End::Source, .. }]), "{actions:?}");
    pair.run(4000);
    assert_eq!(pair.sent("tcp").len(), before);
}

#[test]
fn a_mark_shrinks_the_window_without_a_loss() {
    let window_at = |marks: std::ops::Range<usize>, millis: u64| {
        let with_ecn = |scenario: &mut crate::scenario::Scenario| scenario.params.tcp.ecn = true;
        let mut pair = Pair::with(transfer(None), None, with_ecn).faults("tcp", marks, Fault::Mark);
        pair.run(millis);
        assert_eq!(of_tcp(pair.measures()).retransmissions, 0);
        pair.snapshot().tcp.expect("a TCP flow").cwnd_segments
    };
    assert!(window_at(6..7, 1700) < window_at(0..0, 1700));
}

/// 7000 bytes, of which all but the first window arrive after the warm-up.
#[test]
fn the_window_counts_what_arrives_in_it() {
    let mut pair = Pair::with(transfer(Some(7000)), None, |scenario| scenario.warmup_s = 1.2);
    pair.run(5000);
    let tcp = of_tcp(pair.measures());
    assert_eq!((tcp.delivered_bytes, pair.report().stream_bytes), (7000 - 3 * 1460, Some(7000 - 3 * 1460)));
    assert_eq!((tcp.segments_sent, pair.report().transfer_sent_bytes), (2, 7000 - 3 * 1460));
    assert_eq!(tcp.completed_s, Some(ms(1400).as_secs()));
}

#[test]
fn a_message_over_tcp_is_delivered_with_its_last_byte() {
    let mut pair = Pair::new(messages(Carrier::Tcp, &[(0.0, 100), (0.5, 2000)]));
    pair.run(5000);
    assert_eq!(
        pair.story,
        [
            "1000 source opens two-way",
            "1000 source sends tcp 40",
            "1050 destination sends ack 40",
            "1100 source sends tcp 140",
            "1250 destination sends ack 40",
            "1500 source sends tcp 1500",
            "1500 source sends tcp 580",
            "1550 destination sends ack 40",
            "1600 source closes two-way",
        ]
    );
    let measures = of_messages(pair.measures());
    assert_eq!((measures.message_latency_mean_s, measures.packets_sent), (Some(0.1), None));
}

/// Each message is one write; what is lost delays all that comes after it, and none is lost.
#[test]
fn messages_over_tcp_wait_for_a_loss_and_are_all_delivered() {
    for name in SENDER_NAMES {
        let list: Vec<(f64, u32)> = (0..40).map(|number| (f64::from(number) * 0.2, 700)).collect();
        let kind = messages(Carrier::Tcp, &list);
        let mut pair = Pair::with(kind, None, sender(name)).fault("tcp", 3, Fault::Lose).faults(
            "tcp",
            10..12,
            Fault::Lose,
        );
        pair.run(3000);
        let [made, delivered, dropped, lost, waiting] = fates(pair.measures());
        assert_eq!((made, dropped, lost), (11, 0, 0), "{name}");
        assert_eq!(delivered + waiting, 11, "{name}");
        assert!(waiting > 0, "{name}");
        assert_eq!(pair.lines(&["closes"]), [""; 0], "{name}");
        pair.run(99_000);
        assert_eq!(fates(pair.measures()), [40, 40, 0, 0, 0], "{name}");
        assert_eq!(pair.lines(&["closes"]).len(), 1, "{name}");
        assert_eq!(pair.report().stream_bytes, Some(40 * 700), "{name}");
    }
}

/// Both samples of the time series come from the same flow.
#[test]
fn a_flow_of_messages_over_tcp_is_sampled_as_both() {
    let mut pair = Pair::new(messages(Carrier::Tcp, &[(0.0, 100), (0.5, 2000)]));
    pair.run(1160);
    let Snapshot { tcp, messages: of } = pair.snapshot();
    assert_eq!(tcp.map(|tcp| tcp.delivered_bytes), Some(100));
    assert_eq!(of.map(|of| (of.delivered_messages, of.waiting_messages)), Some((1, None)));
}

/// ns-2.35's DSR and DSDV give every packet an IP header, TCP's too, which count one already; its AODV spares
/// TCP. In 1998 TCP's packets were counted without.
#[test]
fn tcp_over_ns_2s_dsr_and_dsdv_has_a_second_ip_header() {
    let lengths = |set: &str, routing: RoutingKind| {
        let mut pair = Pair::with(transfer(Some(1460)), None, |scenario| {
            let tcp = scenario.params.tcp.clone();
            scenario.params = profile(set).expect("a profile");
            scenario.params.tcp = tcp;
            scenario.routing = routing;
        });
        pair.run(5000);
        let longest =
            |name: &str| pair.sent(name).iter().map(|sent| sent.1).max().expect("something was sent");
        (longest("tcp"), longest("ack"))
    };
    for routing in [RoutingKind::Dsr, RoutingKind::Dsdv] {
        assert_eq!(lengths("ns-2.35", routing), (1520, 60));
        assert_eq!(lengths("ns-2.1b9", routing), (1520, 60));
        assert_eq!(lengths("cmu-1998", routing), (1500, 40), "its TCP parameters have the header");
        assert_eq!(lengths("rfc", routing), (1500, 40));
    }
    assert_eq!(lengths("ns-2.35", RoutingKind::Aodv), (1500, 40));
}
