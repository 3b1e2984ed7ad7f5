//! Errors of bits over one hop, beside their closed form.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::drops::DropReason;
use manetlab_core::network::run;
use manetlab_core::observe::{Outcome, Reach, RecordKind};
use manetlab_core::scenario::{FlowKind, Scenario};
use manetlab_core::wire::mac::FrameKind;

use common::{chain, flow};

/// A sender with a packet every 10 ms for its neighbour, and links on which so many bits are wrong.
fn one_hop(bytes: u32, bit_error_rate: f64) -> Scenario {
    let kind = FlowKind::Cbr { bytes, interval_s: 0.01, random: false, max_packets: None };
    let mut scenario = chain(1, vec![flow(0, 1, 0.0, kind)], 100.0);
    scenario.params.radio.bit_error_rate = bit_error_rate;
    scenario.params.arp.enabled = false;
    scenario
}

fn count(packets: Option<u64>) -> f64 {
    packets.expect("the scenario has CBR") as f64
}

fn recorded(scenario: &Scenario) -> Outcome {
    run(scenario, true).expect("the scenario runs")
}

/// The frames of a kind: those whose receiver could not decode them, and all.
fn undecoded(outcome: &Outcome, wanted: FrameKind) -> (f64, f64) {
    let mut counts = (0.0, 0.0);
    for record in outcome.recording.as_ref().expect("it was asked for").records() {
        if let RecordKind::Frame { kind, receivers: Some(receivers), .. } = &record.kind
            && *kind == wanted
        {
            counts.0 += f64::from(u8::from(receivers[0].1 == Reach::TooWeak));
            counts.1 += 1.0;
        }
    }
    counts
}

/// The share of frames of so many bytes in which bits are wrong.
fn closed_form(bytes: i32, bit_error_rate: f64) -> f64 {
    1.0 - libm::pow(1.0 - bit_error_rate, f64::from(8 * bytes))
}

/// Within four standard deviations of a binomial share.
fn assert_share((hits, all): (f64, f64), expected: f64, what: &str) {
    let deviation = (expected * (1.0 - expected) / all).sqrt();
    assert!((hits / all - expected).abs() < 4.0 * deviation, "{what}: {hits} of {all}, not {expected}");
}

/// A data frame has 28 bytes of MAC header and FCS, 8 of LLC and SNAP, 28 of IP and UDP; an ACK has 14.
#[test]
fn the_share_of_damaged_frames_is_the_closed_form() {
    for (bytes, rate) in [(64, 1e-4), (512, 1e-4), (512, 1e-5), (1400, 2e-5)] {
        let outcome = recorded(&one_hop(bytes, rate));
        let expected = closed_form(bytes as i32 + 64, rate);
        assert_share(undecoded(&outcome, FrameKind::Data), expected, &format!("data of {bytes} B at {rate}"));
        assert_share(undecoded(&outcome, FrameKind::Ack), closed_form(14, rate), &format!("ACKs at {rate}"));
    }
}

/// As before 802.11: what noise damages is lost although seven attempts are allowed, and counted as such.
#[test]
fn damaged_frames_that_are_not_repeated_are_lost_with_a_reason() {
    let mut scenario = one_hop(1000, 5e-5);
    scenario.params.mac.repeats_damaged = false;
    let outcome = recorded(&scenario);
    let totals = &outcome.result.totals;
    let (sent, received) = (count(totals.cbr_sent), count(totals.cbr_received));
    assert_share((received, sent), 1.0 - closed_form(1064, 5e-5), "delivered");
    let lost = outcome.result.drops.iter().find(|drop| drop.reason == DropReason::Damaged);
    let missing = totals.cbr_sent.zip(totals.cbr_received).map(|(sent, received)| sent - received);
    assert_eq!(lost.map(|drop| drop.count), missing);
    assert!(missing > Some(0), "some frames are damaged");
    assert!(outcome.result.drops.iter().all(|drop| drop.reason != DropReason::LinkFailure));
}

/// Two senders that do not hear each other collide, and what collides is repeated.
#[test]
fn collisions_are_repeated_where_damaged_frames_are_not() {
    let hidden = |repeats_damaged: bool| {
        let kind = FlowKind::Cbr { bytes: 1000, interval_s: 0.05, random: true, max_packets: None };
        let mut scenario = chain(2, vec![flow(0, 1, 0.0, kind.clone()), flow(2, 1, 0.0, kind)], 100.0);
        scenario.params.radio.carrier_sense_threshold_w = scenario.params.radio.receive_threshold_w;
        scenario.params.radio.bit_error_rate = 1e-9;
        scenario.params.mac.repeats_damaged = repeats_damaged;
        let totals = run(&scenario, false).expect("the scenario runs").result.totals;
        assert!(totals.collision_fraction.expect("frames are received") > 0.02, "{totals:?}");
        count(totals.cbr_received) / count(totals.cbr_sent)
    };
    assert!(hidden(true) > 0.95 && hidden(false) > 0.95);
}

/// Without retries a packet arrives if its one frame does; whether the ACK arrives does not matter.
#[test]
fn without_retries_a_hop_delivers_what_the_closed_form_leaves() {
    let mut scenario = one_hop(1000, 5e-5);
    scenario.params.mac.short_retry_limit = 1;
    let outcome = recorded(&scenario);
    let totals = &outcome.result.totals;
    let (sent, received) = (count(totals.cbr_sent), count(totals.cbr_received));
    assert_share((received, sent), 1.0 - closed_form(1064, 5e-5), "delivered");
    let (data, acks) = (undecoded(&outcome, FrameKind::Data), undecoded(&outcome, FrameKind::Ack));
    let measured = outcome.result.totals.bit_error_fraction.expect("bits can be wrong");
    assert_eq!(measured.to_bits(), ((data.0 + acks.0) / (data.1 + acks.1)).to_bits());
    assert_eq!(outcome.result.totals.collision_fraction, Some(0.0));
}

/// With the standard's retry limit nearly all of these packets arrive, each after 1 / (1 − loss) attempts.
#[test]
fn retries_hide_errors_and_cost_attempts() {
    let outcome = recorded(&one_hop(512, 1e-5));
    assert_eq!(outcome.result.totals.cbr_delivery_fraction, Some(1.0));
    let attempts = undecoded(&outcome, FrameKind::Data).1;
    let exchange_arrives = (1.0 - closed_form(576, 1e-5)) * (1.0 - closed_form(14, 1e-5));
    assert_share((count(outcome.result.totals.cbr_sent), attempts), exchange_arrives, "packets an attempt");
}

/// Errors are a stream of their own: until the first one, everything goes as without them.
#[test]
fn errors_move_no_other_draw() {
    let frames = |rate| {
        let outcome = recorded(&one_hop(512, rate));
        let records = outcome.recording.expect("it was asked for");
        records.records().iter().map(|record| (record.time, record.node)).collect::<Vec<_>>()
    };
    assert_eq!(frames(0.0), frames(1e-15));
    assert_ne!(frames(0.0), frames(1e-5));
}
