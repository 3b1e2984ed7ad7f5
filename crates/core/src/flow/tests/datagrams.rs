//! CBR, and messages over UDP, ADP and PSP, with and without RTP.

use super::{cbr, fates, messages, of_messages};
use crate::flow::testbench::{Fault, Pair};
use crate::observe::{CbrMeasures, FlowMeasures};
use crate::scenario::{Carrier, FlowKind, Scenario};
use crate::transport::rtp::RtpParams;

fn of_cbr(pair: &Pair) -> CbrMeasures {
    match pair.measures() {
        FlowMeasures::Cbr(cbr) => cbr,
        other => panic!("no CBR: {other:?}"),
    }
}

#[test]
fn cbr_keeps_its_pace_and_routing_hears_of_the_first_and_the_last_packet() {
    let mut pair = Pair::new(cbr(3));
    pair.run(5000);
    assert_eq!(
        pair.story,
        [
            "1000 source opens one-way",
            "1000 source sends cbr 540",
            "1250 source sends cbr 540",
            "1500 source sends cbr 540",
            "1500 source closes one-way",
        ]
    );
}

#[test]
fn a_cbr_packet_that_is_lost_doubled_or_late_is_counted_as_that() {
    let late = |scenario: &mut Scenario| scenario.params.network.cbr_late_after_s = 0.5;
    let mut pair = Pair::with(cbr(5), None, late)
        .fault("cbr", 1, Fault::Lose)
        .fault("cbr", 2, Fault::Copy(10))
        .fault("cbr", 3, Fault::Delay(600));
    pair.run(5000);
    let cbr = of_cbr(&pair);
    assert_eq!((cbr.sent, cbr.received, cbr.duplicates), (5, 3, 1));
    assert_eq!((cbr.latency_p99_s, cbr.hops_mean), (Some(0.05), Some(1.0)));
}

/// The warm-up ends when the second packet is under way: it is not counted as sent, its bytes are as
/// delivered.
#[test]
fn the_window_counts_packets_made_in_it_and_bytes_that_arrive_in_it() {
    let mut pair = Pair::with(cbr(3), None, |scenario| scenario.warmup_s = 1.3);
    pair.run(5000);
    let cbr = of_cbr(&pair);
    assert_eq!((cbr.sent, cbr.received), (1, 1));
    assert!((cbr.throughput_bps - 2.0 * 512.0 * 8.0 / 98.7).abs() < 1e-9, "{}", cbr.throughput_bps);
}

/// Frames of exactly 2500 bytes at 1 s and 2 s, in packets of at most 1000.
fn frames(transport: Carrier) -> Pair {
    Pair::with(FlowKind::Video { transport }, Some(2.5), |scenario| {
        let video = &mut scenario.params.video;
        (video.frames_per_s, video.gop_frames, video.packet_bytes) = (1.0, 1, 1000);
        (video.i_mean_bytes, video.i_sd_bytes) = (2500.0, 0.0);
    })
}

#[test]
fn a_message_over_udp_is_cut_and_sent_at_once() {
    let mut pair = frames(Carrier::Udp);
    pair.run(5000);
    assert_eq!(
        pair.story,
        [
            "1000 source opens one-way",
            "1000 source sends udp 1028",
            "1000 source sends udp 1028",
            "1000 source sends udp 528",
            "2000 source sends udp 1028",
            "2000 source sends udp 1028",
            "2000 source sends udp 528",
            "2000 source closes one-way",
        ]
    );
    assert_eq!(fates(pair.measures()), [2, 2, 0, 0, 0]);
}

/// Copies of one part do not make up for another that is lost, and parts may come in any order.
#[test]
fn a_message_over_udp_needs_each_of_its_parts() {
    let mut pair = frames(Carrier::Udp).fault("udp", 0, Fault::Copy(5)).fault("udp", 1, Fault::Lose).fault(
        "udp",
        3,
        Fault::Delay(700),
    );
    pair.run(5000);
    assert_eq!(fates(pair.measures()), [2, 1, 0, 1, 0]);
    let measures = of_messages(pair.measures());
    assert_eq!((measures.packets_sent, measures.packets_received), (Some(6), Some(5)));
    assert_eq!(measures.message_latency_mean_s, Some(0.75));
}

/// The second part of the first frame comes after 0.75 s, all others within 0.05 s.
fn frames_with_a_late_part(carrier: Carrier, name: &'static str, late_after_s: Option<f64>) -> Pair {
    let mut pair = Pair::with(FlowKind::Video { transport: carrier }, Some(2.5), |scenario| {
        let video = &mut scenario.params.video;
        (video.frames_per_s, video.gop_frames, video.packet_bytes) = (1.0, 1, 1000);
        (video.i_mean_bytes, video.i_sd_bytes) = (2500.0, 0.0);
        scenario.flows[0].late_after_s = late_after_s;
    })
    .fault(name, 1, Fault::Delay(700));
    pair.run(20_000);
    pair
}

#[test]
fn a_frame_with_a_late_part_is_not_delivered_and_late_bytes_are_no_throughput() {
    for (carrier, name) in [
        (Carrier::Udp, "udp"),
        (Carrier::RtpUdp, "udp"),
        (Carrier::Adp, "adp"),
        (Carrier::RtpAdp, "adp"),
        (Carrier::Psp, "psp"),
    ] {
        let counted = |late_after_s| {
            let pair = frames_with_a_late_part(carrier, name, late_after_s);
            let measures = of_messages(pair.measures());
            (fates(pair.measures())[1], measures.packets_received, measures.throughput_bps)
        };
        let (frames, packets, bps) = counted(None);
        assert_eq!((frames, packets), (2, Some(6)), "{name}");
        assert_eq!(counted(Some(0.8)), (frames, packets, bps), "{name}");
        let (frames, packets, without_bps) = counted(Some(0.5));
        assert_eq!((frames, packets), (1, Some(5)), "{name}");
        assert!((without_bps / bps - 4.0 / 5.0).abs() < 1e-9, "{name}: {without_bps} of {bps}");
    }
}

/// What a flow says goes before what the network says of CBR.
#[test]
fn a_cbr_flow_has_an_age_of_its_own() {
    let received = |own_s: Option<f64>, of_all_s: f64| {
        let mut pair = Pair::with(cbr(5), None, |scenario| {
            scenario.flows[0].late_after_s = own_s;
            scenario.params.network.cbr_late_after_s = of_all_s;
        })
        .fault("cbr", 3, Fault::Delay(600));
        pair.run(5000);
        of_cbr(&pair).received
    };
    assert_eq!([received(None, 0.0), received(None, 0.5), received(Some(0.5), 0.0)], [5, 4, 4]);
    assert_eq!(received(Some(1.0), 0.5), 5);
}

/// RTP adds 12 bytes to each packet, and marks the last of a frame.
#[test]
fn rtp_lengthens_packets_and_says_goodbye() {
    for (carrier, name, header) in [(Carrier::RtpUdp, "udp", 40), (Carrier::RtpAdp, "adp", 48)] {
        let mut pair = frames(carrier);
        pair.run(20_000);
        let lengths: Vec<u32> = pair.sent(name).iter().map(|sent| sent.1).collect();
        assert_eq!(lengths, [1000, 1000, 500, 1000, 1000, 500].map(|payload| payload + header), "{name}");
        let rtp = RtpParams::default();
        let reports: Vec<u32> = pair.sent("rtcp").iter().map(|sent| sent.1).collect();
        // The source leaves with its last packet, and the destination reports once more.
        assert_eq!(reports, [rtp.sender_report_bytes + 8 + 28, rtp.report_bytes + 28], "{name}");
        let ends = pair.lines(&["opens", "closes", "rtcp"]);
        let order: Vec<&str> = ends.iter().filter_map(|line| line.split(' ').nth(2)).collect();
        assert_eq!(order, ["opens", "sends", "closes", "sends"], "{name}");
    }
}

/// A packet each 100 ms for 60 s; some are lost, and so is a report of the source and one of the destination.
#[test]
fn rtp_ends_tell_each_other_of_losses_and_of_the_round_trip() {
    let packets: Vec<(f64, u32)> = (0..600).map(|number| (f64::from(number) * 0.1, 200)).collect();
    let mut pair = Pair::new(messages(Carrier::RtpUdp, &packets))
        .faults("udp", 100..110, Fault::Lose)
        .fault("rtcp", 2, Fault::Lose)
        .fault("rtcp", 5, Fault::Lose);
    pair.run(90_000);
    let rtp = pair.report().rtp.expect("the flow has RTP");
    assert_eq!((rtp.rtp_packets_expected, rtp.rtp_packets_lost), (600, 10));
    let from = |end: &str| {
        let lines = pair.lines(&["rtcp"]);
        lines.iter().filter(|line| line.contains(end)).count() as u64
    };
    assert_eq!((rtp.rtp_sender_reports_sent, rtp.rtp_reports_sent), (from("source"), from("destination")));
    let lost = rtp.rtp_sender_reports_sent - rtp.rtp_sender_reports_received
        + (rtp.rtp_reports_sent - rtp.rtp_reports_received);
    assert_eq!(lost, 2);
    assert_eq!((rtp.rtp_reported_packets, rtp.rtp_reported_bytes), (Some(600), Some(120_000)));
    let round_trip_s = rtp.rtp_round_trip_mean_s.expect("reports name reports");
    assert!((round_trip_s - 0.1).abs() < 3.0 / 65_536.0, "{round_trip_s}");
}

/// Dyer 2002, Fig. 5.3: each ACK sends the next packet; the flow is over when nothing waits.
#[test]
fn acks_pace_messages_over_adp() {
    let mut pair = Pair::new(messages(Carrier::Adp, &[(0.0, 100), (0.0, 200), (0.0, 300)]));
    pair.run(5000);
    assert_eq!(
        pair.story,
        [
            "1000 source opens two-way",
            "1000 source sends adp 136",
            "1050 destination sends adp-ack 36",
            "1100 source sends adp 236",
            "1150 destination sends adp-ack 36",
            "1200 source sends adp 336",
            "1200 source closes two-way",
            "1250 destination sends adp-ack 36",
        ]
    );
    assert_eq!(fates(pair.measures()), [3, 3, 0, 0, 0]);
    assert_eq!(of_messages(pair.measures()).acks_sent, Some(3));
}

/// What ADP loses it does not send again: the transmit timer, a second at first, sends the next packet.
#[test]
fn a_loss_over_adp_waits_for_the_timer_and_is_not_repaired() {
    let mut pair = Pair::new(messages(Carrier::Adp, &[(0.0, 100), (0.0, 200), (0.0, 300)]))
        .fault("adp", 0, Fault::Lose)
        .fault("adp-ack", 0, Fault::Copy(5));
    pair.run(5000);
    assert_eq!(pair.sent("adp"), [(1000, 136), (2000, 236), (2100, 336)]);
    assert_eq!(fates(pair.measures()), [3, 2, 0, 1, 0]);
    assert_eq!(of_messages(pair.measures()).timeouts, Some(1));
}

/// The buffer holds one message: each new one drops the one that waits.
#[test]
fn a_full_buffer_of_adp_drops_and_a_silent_destination_keeps_waiting() {
    let four = [(0.0, 100), (0.0, 200), (0.0, 300), (0.0, 400)];
    let small = |scenario: &mut Scenario| scenario.params.adp.buffer_frames = 1;
    let mut pair = Pair::with(messages(Carrier::Adp, &four), None, small);
    pair.run(1050);
    assert_eq!(fates(pair.measures()), [4, 1, 2, 0, 1]);
    assert_eq!(pair.lines(&["closes"]), [""; 0]);
    pair.run(5000);
    assert_eq!(fates(pair.measures()), [4, 2, 2, 0, 0]);
    assert_eq!(pair.lines(&["closes"]), ["1100 source closes two-way"]);
}

#[test]
fn endless_data_over_adp_ends_at_its_stop() {
    let mut pair = Pair::with(FlowKind::Adp {}, Some(1.25), |_| {});
    pair.run(5000);
    let bytes = 1460 + 36;
    assert_eq!(pair.sent("adp"), [(1000, bytes), (1100, bytes), (1200, bytes)]);
    assert_eq!(pair.lines(&["opens", "closes"]), ["1000 source opens two-way", "1250 source closes two-way"]);
    assert_eq!(fates(pair.measures()), [3, 3, 0, 0, 0]);
}

/// Packets leave every 2 ms at first. The first is answered at once, the others when the 0.5 s of the first
/// estimate have passed; the flow is over when nothing waits.
#[test]
fn messages_over_psp_are_spaced_out_and_answered_together() {
    let mut pair = Pair::new(messages(Carrier::Psp, &[(0.0, 100), (0.0, 200), (0.0, 300)]));
    pair.run(5000);
    assert_eq!(
        pair.story,
        [
            "1000 source opens two-way",
            "1000 source sends psp 136",
            "1002 source sends psp 236",
            "1004 source sends psp 336",
            "1004 source closes two-way",
            "1050 destination sends psp-ack 36",
            "1550 destination sends psp-ack 36",
        ]
    );
    assert_eq!(fates(pair.measures()), [3, 3, 0, 0, 0]);
    assert_eq!(of_messages(pair.measures()).acks_sent, Some(2));
}

/// Three of ten packets that the second acknowledgement counts are lost: those after it are further apart.
#[test]
fn what_psp_loses_is_not_sent_again_and_slows_it_down() {
    let packets: Vec<(f64, u32)> = (0..60).map(|_| (0.0, 100)).collect();
    let slow = |scenario: &mut Scenario| {
        (scenario.params.psp.spacing_min_ms, scenario.params.psp.rtt_initial_s) = (10.0, 0.1);
    };
    let mut pair = Pair::with(messages(Carrier::Psp, &packets), None, slow).faults("psp", 2..5, Fault::Lose);
    pair.run(5000);
    assert_eq!(fates(pair.measures()), [60, 57, 0, 3, 0]);
    let sent: Vec<u64> = pair.sent("psp").iter().map(|(at, _)| *at).collect();
    // The first ACK comes after 100 ms, the second after 200: 10 sent, 7 received.
    assert!(sent[..21].windows(2).all(|pair| pair[1] - pair[0] == 10), "{sent:?}");
    assert!((14..=15).contains(&(sent[22] - sent[21])), "{sent:?}");
}
