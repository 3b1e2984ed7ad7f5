//! Whole runs with RTP, and with a deadline for CBR packets.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::observe::{FlowMeasures, RtpMeasures, VideoMeasures};
use manetlab_core::profile::profile;
use manetlab_core::scenario::{Carrier, Flow, FlowKind, Scenario};
use manetlab_core::simulation::{Outcome, run};

use common::{chain, flow};

const OVERHEAD: u32 = 28;
const RTP: u32 = 12;

fn over_two_hops(kind: FlowKind) -> Scenario {
    let flow = Flow { stop_s: Some(40.0), ..flow(0, 2, 1.0, kind) };
    chain(2, vec![flow], 45.0)
}

fn outcome(scenario: &Scenario) -> Outcome {
    run(scenario, true).expect("the scenario runs and its books balance")
}

fn video(outcome: &Outcome) -> (&VideoMeasures, Option<&RtpMeasures>) {
    let flow = &outcome.result.flows[0];
    match &flow.measures {
        FlowMeasures::Video(video) => (video, flow.rtp.as_ref()),
        other => panic!("no video: {other:?}"),
    }
}

/// Bytes at the IP layer of the packets of this name that were made, in order.
fn made(outcome: &Outcome, what: &str) -> Vec<u32> {
    let lines = outcome.recording.as_ref().expect("a recording was asked for").to_json_lines();
    lines
        .lines()
        .filter(|line| line.contains("\"event\":\"made\"") && line.contains(&format!("\"what\":\"{what}\"")))
        .map(|line| {
            let from = line.find("\"bytes\":").expect("a packet has a length") + 8;
            let digits: String = line[from..].chars().take_while(char::is_ascii_digit).collect();
            digits.parse().expect("a number")
        })
        .collect()
}

/// The same frames with and without RTP: every packet is 12 bytes longer, and reports come back.
#[test]
fn rtp_adds_a_header_and_reports() {
    for (plain, with_rtp, name, most_cut) in [
        (Carrier::Udp, Carrier::RtpUdp, "udp", 0),
        (Carrier::Udp, Carrier::RtpUdp, "udp", 1000),
        (Carrier::Adp, Carrier::RtpAdp, "adp", 0),
    ] {
        let run_with = |transport| {
            let mut scenario = over_two_hops(FlowKind::Video { transport });
            scenario.params.video.packet_bytes = most_cut;
            outcome(&scenario)
        };
        let (without, with) = (run_with(plain), run_with(with_rtp));
        let longer: Vec<u32> = made(&without, name).iter().map(|bytes| bytes + RTP).collect();
        assert_eq!(made(&with, name), longer, "{name} {most_cut}");
        assert_eq!(video(&without).1, None);
        let (frames, rtp) = video(&with);
        let rtp = rtp.expect("the flow has RTP");
        assert_eq!(frames.messages.transport, format!("rtp-{name}"));
        // Of a cut first frame ARP holds one packet only; what never arrives before the first is not
        // expected.
        let received = frames.messages.packets_received.map(|packets| packets as i64);
        assert_eq!((Some(rtp.rtp_packets_expected), rtp.rtp_packets_lost), (received, 0));
        assert_eq!(rtp.rtp_in_time_fraction, frames.messages.message_delivery_fraction);
        if most_cut == 0 {
            assert_eq!(rtp.rtp_packets_expected, longer.len() as i64);
            let plain_bps = video(&without).0.messages.throughput_bps;
            assert_eq!(frames.messages.throughput_bps.to_bits(), plain_bps.to_bits());
        }
        // 39 s of video at a report every 5 s on average, the first twice as soon.
        assert!((5..=13).contains(&rtp.rtp_reports_sent), "{rtp:?}");
        assert_eq!((rtp.rtp_reports_received, rtp.rtp_reported_loss_mean), (rtp.rtp_reports_sent, Some(0.0)));
        // The sender's go the other way and end with a BYE; what they tell is what was sent until then.
        let params = profile("rfc").expect("the profile exists").rtp;
        let (back, forth) = (params.report_bytes + OVERHEAD, params.sender_report_bytes + OVERHEAD);
        let (of_receiver, of_sender): (Vec<u32>, Vec<u32>) =
            made(&with, "rtcp").iter().partition(|&&bytes| bytes == back);
        assert_eq!(of_receiver.len() as u64, rtp.rtp_reports_sent);
        assert_eq!(of_sender.len() as u64, rtp.rtp_sender_reports_sent);
        assert!((5..=13).contains(&of_sender.len()), "{of_sender:?}");
        let bye = of_sender.iter().position(|&bytes| bytes == forth + 8);
        assert_eq!(bye, Some(of_sender.len() - 1), "{of_sender:?}");
        assert!(of_sender[..of_sender.len() - 1].iter().all(|&bytes| bytes == forth));
        assert_eq!(rtp.rtp_sender_reports_received, rtp.rtp_sender_reports_sent);
        let headers = OVERHEAD + RTP + if name == "adp" { 16 - 8 } else { 0 };
        let payload: u64 = longer.iter().map(|bytes| u64::from(bytes - headers)).sum();
        assert_eq!(rtp.rtp_reported_packets, Some(longer.len() as u64));
        assert_eq!(rtp.rtp_reported_bytes, Some(payload));
        assert!(rtp.rtp_round_trip_mean_s.is_some_and(|mean_s| mean_s > 0.001 && mean_s < 0.2), "{rtp:?}");
        assert!(rtp.rtp_jitter_s > 0.0 && rtp.rtp_jitter_s < 0.1, "{rtp:?}");
    }
}

/// What the receiver reports is what the network lost, here to a queue of two packets.
#[test]
fn losses_are_reported_to_the_sender() {
    let mut scenario = over_two_hops(FlowKind::Video { transport: Carrier::RtpUdp });
    scenario.params.queue.packets = 2;
    scenario.params.video.packet_bytes = 200;
    let outcome = outcome(&scenario);
    let (frames, rtp) = video(&outcome);
    let rtp = rtp.expect("the flow has RTP");
    assert!(rtp.rtp_packets_lost > 10, "{rtp:?}");
    let (loss, told) = (rtp.rtp_loss_fraction.expect("packets came"), rtp.rtp_reported_loss_mean);
    assert!((told.expect("reports came") - loss).abs() < 0.1 * loss + 0.01, "{rtp:?}");
    let sent = frames.messages.packets_sent.expect("datagrams are counted") as i64;
    let received = frames.messages.packets_received.expect("datagrams are counted") as i64;
    // What is lost after the last packet to arrive is not expected.
    assert!(rtp.rtp_packets_expected <= sent && rtp.rtp_packets_expected - rtp.rtp_packets_lost == received);
    assert!(rtp.rtp_in_time_fraction < Some(1.0));
}

#[test]
fn late_frames_are_lost_to_the_player() {
    let mut scenario = over_two_hops(FlowKind::Video { transport: Carrier::RtpAdp });
    let in_time = |scenario: &Scenario| {
        let outcome = outcome(scenario);
        let (frames, rtp) = video(&outcome);
        let all = frames.messages.messages_made as f64;
        let fraction = rtp.and_then(|rtp| rtp.rtp_in_time_fraction).expect("frames were made");
        let by_count = (frames.messages.messages_delivered - frames.frames_late) as f64 / all;
        assert!((fraction - by_count).abs() < 1e-12);
        fraction
    };
    assert_eq!(in_time(&scenario).to_bits(), 1f64.to_bits());
    scenario.params.video.playout_deadline_s = 0.02;
    let some = in_time(&scenario);
    assert!(some > 0.0 && some < 1.0, "{some}");
    scenario.params.video.playout_deadline_s = 0.001;
    assert_eq!(in_time(&scenario).to_bits(), 0f64.to_bits());
}

/// Dyer 2002 §3.4.1: what comes late has not come.
#[test]
fn cbr_packets_beyond_the_deadline_are_lost() {
    let kind = FlowKind::Cbr { bytes: 512, interval_s: 0.01, random: false, max_packets: None };
    let with = |deadline_s| {
        let mut scenario = over_two_hops(kind.clone());
        scenario.params.network.cbr_late_after_s = deadline_s;
        match outcome(&scenario).result.flows[0].measures.clone() {
            FlowMeasures::Cbr(cbr) => cbr,
            other => panic!("no CBR: {other:?}"),
        }
    };
    let all = with(0.0);
    let median_s = all.latency_p50_s.expect("packets came");
    assert_eq!(with(1e6), all);
    let half = with(median_s);
    assert!(half.received < all.received && half.received > 0, "{half:?}");
    assert!(half.latency_p99_s.is_some_and(|latency_s| latency_s <= median_s));
    assert!(half.throughput_bps < all.throughput_bps && half.sent == all.sent);
    assert_eq!((with(1e-6).received, with(1e-6).delivery_fraction), (0, Some(0.0)));
}
