//! Errors of bits over one hop, beside their closed form.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::drops::DropReason;
use manetlab_core::observe::{Outcome, Reach, RecordKind};
use manetlab_core::scenario::{FlowKind, Scenario};
use manetlab_core::simulation::run;
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

/// What `one_hop` delivers a second with a packet always waiting and one attempt each, by the times of 802.11
/// at 2 Mb/s: DIFS, 15.5 slots on average, the frame, SIFS and the ACK.
fn theoretical_rate(parity_bytes: u32, bit_error_rate: f64) -> f64 {
    let (blocks, rest) = if parity_bytes == 0 { (0, 0) } else { (1064 / 223, 1064 % 223 + 32) };
    let ln_byte = 8.0 * libm::log1p(-bit_error_rate);
    // Up to 16 wrong bytes are corrected, term by term of the binomial distribution.
    let corrected = |bytes: i32| {
        let (mut term, mut sum) = (libm::exp(f64::from(bytes) * ln_byte), 0.0);
        for wrong in 0..=16 {
            sum += term;
            term *= f64::from(bytes - wrong) / f64::from(wrong + 1) * libm::expm1(-ln_byte);
        }
        sum
    };
    let arrives = match parity_bytes {
        0 => 1.0 - closed_form(1064, bit_error_rate),
        _ => libm::pow(corrected(255), f64::from(blocks)) * corrected(rest),
    };
    let bytes = 1064 + parity_bytes * if parity_bytes == 0 { 0 } else { 5 };
    let cycle_us = 50.0 + 15.5 * 20.0 + (192.0 + 4.0 * f64::from(bytes)) + 10.0 + 248.0;
    arrives / cycle_us * 1e6
}

/// Where few bits are wrong parity only takes time, and where many are it saves frames: what arrives is what
/// theory says, on both sides of the point where the two cross.
#[test]
fn a_code_pays_from_where_theory_says() {
    let delivered = |parity_bytes, rate| {
        let mut scenario = one_hop(1000, rate);
        let kind = FlowKind::Cbr { bytes: 1000, interval_s: 0.002, random: false, max_packets: None };
        (scenario.flows, scenario.duration_s) = (vec![flow(0, 1, 0.0, kind)], 60.0);
        (scenario.params.mac.short_retry_limit, scenario.params.mac.fec_parity_bytes) = (1, parity_bytes);
        let totals = run(&scenario, false).expect("the scenario runs").result.totals;
        count(totals.cbr_received) / scenario.duration_s
    };
    // 160 bytes of parity are a ninth of the time, as much as is lost at p = 1.4 · 10⁻⁵ without them.
    let crossing = {
        let (mut low, mut high) = (1e-7, 1e-4);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let pays = theoretical_rate(32, middle) > theoretical_rate(0, middle);
            *(if pays { &mut high } else { &mut low }) = middle;
        }
        low
    };
    for (rate, pays) in [(crossing / 2.0, false), (crossing * 2.0, true), (1e-3, true), (1e-2, true)] {
        let (plain, coded) = (delivered(0, rate), delivered(32, rate));
        assert_eq!(coded > plain, pays, "at {rate}: {coded} with the code, {plain} without");
        for (measured, parity_bytes) in [(plain, 0), (coded, 32)] {
            let expected = theoretical_rate(parity_bytes, rate);
            // No more than that of a Poisson process, as attempts come at more regular times.
            let deviation = (expected / 60.0).sqrt();
            assert!(
                (measured - expected).abs() < 4.0 * deviation.max(0.05),
                "{measured}, not {expected} at {rate}"
            );
        }
    }
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
