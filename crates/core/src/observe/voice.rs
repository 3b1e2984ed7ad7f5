//! What a listener thinks of a call: which packets can be played, and what the E-model makes of loss and
//! delay (ITU-T G.107). *Deviations*: 1 to 6 in docs/models/voice.md.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::kernel::{Span, Time};
use crate::traffic::{Codec, Impairment};

use super::statistics::{mean, ratio, total};
use super::{FlowMeasures, MessageLog, MessageMeasures};

/// A rating of which most users are satisfied: MOS 3.60 (ITU-T G.109).
pub const SATISFIED_R: f64 = 70.0;
/// The mean opinion of a whole call hides outages, so windows of this length are rated too.
const WINDOW: Span = Span::from_millis(10_000);
/// A gap longer than this many packets ends a talk spurt.
const SPURT_ENDS: f64 = 1.5;

/// What a call's receiver is like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VoiceSpec {
    /// What codes the speech.
    pub codec: Codec,
    /// How long after its arrival the first packet of a talk spurt is played.
    pub playout: Span,
    /// The call whose one direction the flow is; none: a call of its own.
    pub call: Option<u32>,
}

/// A packet of speech.
#[derive(Clone, Copy, Debug)]
struct Spoken {
    made: Time,
    /// From mouth to ear; none if it is not played.
    delay: Option<Span>,
    /// Did it arrive, too late to be played?
    is_late: bool,
}

/// Measures of one direction of a call. They count packets made in the window.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct VoiceMeasures {
    /// What every flow of messages has.
    #[serde(flatten)]
    pub messages: MessageMeasures,
    /// The call that it is a direction of.
    #[serde(skip)]
    pub call: Option<u32>,
    /// Packets that arrived after their playout time.
    pub voice_packets_late: u64,
    /// Packets that could not be played, lost or late, over packets made; none if none was made.
    pub voice_lost_fraction: Option<f64>,
    /// How much losses come in bursts: the mean number of packets lost in a row over that of losses by
    /// chance; none without losses, or without anything else.
    pub voice_burst_ratio: Option<f64>,
    /// Mean time from mouth to ear of what was played, s: packet, look-ahead, network and playout buffer.
    pub voice_mouth_to_ear_s: Option<f64>,
    /// The E-model's rating R; none if no packet was made.
    pub voice_r: Option<f64>,
    /// The mean opinion score that it stands for.
    pub voice_mos: Option<f64>,
    /// The lowest of the 10 s windows' mean opinion scores.
    pub voice_worst_mos: Option<f64>,
    /// The share of the 10 s windows with speech whose R is at least 70.
    pub voice_satisfied_time_fraction: Option<f64>,
}

/// Measures over all calls.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct VoiceTotals {
    /// Calls with speech.
    pub voice_calls: u64,
    /// Those of which every direction has an R of at least 70, over all.
    pub voice_satisfied_fraction: Option<f64>,
    /// Mean R of the directions.
    pub voice_r_mean: Option<f64>,
    /// Mean of the directions' mean opinion scores.
    pub voice_mos_mean: Option<f64>,
    /// Packets that could not be played over packets made.
    pub voice_lost_fraction: Option<f64>,
    /// Mean of the directions' mean times from mouth to ear, s.
    pub voice_mouth_to_ear_mean_s: Option<f64>,
}

impl MessageLog {
    /// The measures of the messages as packets of speech.
    pub fn voice(&self, warmup: Time, spec: VoiceSpec, messages: MessageMeasures) -> VoiceMeasures {
        VoiceMeasures::of(self.times(), warmup, spec, messages)
    }
}

impl VoiceMeasures {
    /// Of the packets of a flow, in their order: when each was made, and when it arrived. Those made before
    /// `warmup` decide only when others are played.
    pub(super) fn of(
        packets: impl Iterator<Item = (Time, Option<Time>)>,
        warmup: Time,
        spec: VoiceSpec,
        messages: MessageMeasures,
    ) -> VoiceMeasures {
        let all = spoken(packets, spec);
        let heard = &all[all.partition_point(|packet| packet.made < warmup)..];
        let impairment = spec.codec.impairment();
        let windows: Vec<f64> = heard
            .chunk_by(|a, b| window_of(a.made, warmup) == window_of(b.made, warmup))
            .filter_map(|window| rating(window, impairment))
            .collect();
        let r = rating(heard, impairment);
        let good = windows.iter().filter(|&&r| r >= SATISFIED_R).count() as u64;
        VoiceMeasures {
            messages,
            call: spec.call,
            voice_packets_late: heard.iter().filter(|packet| packet.is_late).count() as u64,
            voice_lost_fraction: loss(heard),
            voice_burst_ratio: burst_ratio(heard),
            voice_mouth_to_ear_s: mouth_to_ear_s(heard),
            voice_r: r,
            voice_mos: r.map(opinion),
            voice_worst_mos: windows.iter().copied().map(opinion).reduce(f64::min),
            voice_satisfied_time_fraction: ratio(good, windows.len() as u64),
        }
    }
}

impl VoiceTotals {
    /// The totals of the flows that are calls; none if there are none.
    pub fn of(flows: &[FlowMeasures]) -> Option<VoiceTotals> {
        let all: Vec<&VoiceMeasures> = flows
            .iter()
            .filter_map(|flow| if let FlowMeasures::Voice(voice) = flow { Some(voice) } else { None })
            .collect();
        if all.is_empty() {
            return None;
        }
        // The worse direction of each call; one without a number is a call of its own.
        let mut calls: BTreeMap<(Option<u32>, usize), f64> = BTreeMap::new();
        for (place, flow) in all.iter().enumerate() {
            let Some(r) = flow.voice_r else { continue };
            let key = (flow.call, if flow.call.is_some() { 0 } else { place });
            calls.entry(key).and_modify(|worse| *worse = worse.min(r)).or_insert(r);
        }
        let satisfied = calls.values().filter(|&&r| r >= SATISFIED_R).count() as u64;
        let values = |of: fn(&VoiceMeasures) -> Option<f64>| -> Vec<f64> {
            all.iter().filter_map(|flow| of(flow)).collect()
        };
        let made: u64 = all.iter().map(|flow| flow.messages.messages_made).sum();
        let lost = total(
            all.iter()
                .filter_map(|flow| Some(flow.voice_lost_fraction? * flow.messages.messages_made as f64)),
        );
        Some(VoiceTotals {
            voice_calls: calls.len() as u64,
            voice_satisfied_fraction: ratio(satisfied, calls.len() as u64),
            voice_r_mean: mean(&values(|flow| flow.voice_r)),
            voice_mos_mean: mean(&values(|flow| flow.voice_mos)),
            voice_lost_fraction: (made > 0).then(|| lost / made as f64),
            voice_mouth_to_ear_mean_s: mean(&values(|flow| flow.voice_mouth_to_ear_s)),
        })
    }
}

/// What becomes of each packet: the first to arrive of a talk spurt waits for the playout delay, and the
/// others of the spurt are played at the pace at which they were made, or not at all.
fn spoken(packets: impl Iterator<Item = (Time, Option<Time>)>, spec: VoiceSpec) -> Vec<Spoken> {
    let all: Vec<(Time, Option<Time>)> = packets.collect();
    let pause = Codec::PACKET.scaled(SPURT_ENDS);
    let coded = Codec::PACKET + spec.codec.look_ahead();
    let mut spoken = Vec::with_capacity(all.len());
    for spurt in all.chunk_by(|a, b| b.0.since(a.0) <= pause) {
        // Of packets that arrive at once, the first made.
        let first = spurt.iter().filter_map(|&(made, arrived)| Some((arrived?, made))).min();
        let buffered = first.map(|(arrived, made)| arrived.since(made) + spec.playout);
        for &(made, arrived) in spurt {
            let in_time = arrived.zip(buffered).is_some_and(|(at, delay)| at.since(made) <= delay);
            spoken.push(Spoken {
                made,
                delay: buffered.filter(|_| in_time).map(|delay| coded + delay),
                is_late: arrived.is_some() && !in_time,
            });
        }
    }
    spoken
}

/// The number of the window in which a packet is made.
fn window_of(made: Time, warmup: Time) -> u64 {
    made.since(warmup).0 / WINDOW.0
}

/// The share of the packets that are not played; none of no packets.
fn loss(packets: &[Spoken]) -> Option<f64> {
    let lost = packets.iter().filter(|packet| packet.delay.is_none()).count() as u64;
    ratio(lost, packets.len() as u64)
}

/// The mean length of a run of losses over that of losses by chance, `1 / (1 − loss)`.
fn burst_ratio(packets: &[Spoken]) -> Option<f64> {
    let loss = loss(packets)?;
    let runs = packets.chunk_by(|a, b| a.delay.is_none() == b.delay.is_none());
    let lost: Vec<f64> = runs.filter(|run| run[0].delay.is_none()).map(|run| run.len() as f64).collect();
    (loss < 1.0).then(|| mean(&lost)).flatten().map(|length| length * (1.0 - loss))
}

/// The mean time from mouth to ear, in s.
fn mouth_to_ear_s(packets: &[Spoken]) -> Option<f64> {
    let delays: Vec<f64> = packets.iter().filter_map(|packet| packet.delay).map(Span::as_secs).collect();
    mean(&delays)
}

/// The E-model's rating of packets, at least 0; none of no packets. Of what is never heard it is 0.
fn rating(packets: &[Spoken], impairment: Impairment) -> Option<f64> {
    let loss = loss(packets)?;
    let Some(delay_s) = mouth_to_ear_s(packets) else { return Some(0.0) };
    let bursts = burst_ratio(packets).unwrap_or(1.0);
    Some(rating_of(1e3 * delay_s, loss, bursts, impairment))
}

/// The rating `R = 93.2 − I_d − I_e,eff` (G.107 7.1 with the defaults for all else), at least 0.
fn rating_of(delay_ms: f64, loss: f64, burst_ratio: f64, impairment: Impairment) -> f64 {
    (93.2 - delay_impairment(delay_ms) - equipment_impairment(loss, burst_ratio, impairment)).max(0.0)
}

/// `I_d` without echo, which is `I_dd` (G.107 7.4).
fn delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(delay_ms / 100.0);
    let sixth = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (sixth(x) - 3.0 * sixth(x / 3.0) + 2.0)
}

/// `I_e,eff` (G.107 7.5).
fn equipment_impairment(loss: f64, burst_ratio: f64, impairment: Impairment) -> f64 {
    let percent = 100.0 * loss;
    if percent <= 0.0 {
        return impairment.without_loss;
    }
    let Impairment { without_loss, robustness } = impairment;
    without_loss + (95.0 - without_loss) * percent / (percent / burst_ratio + robustness)
}

/// The mean opinion score of a rating (G.107 annex B). The polynomial is just below 1 for the lowest ratings.
fn opinion(r: f64) -> f64 {
    if r >= 100.0 { 4.5 } else { (1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r)).max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, wanted: f64, within: f64) {
        assert!((found - wanted).abs() <= within, "{found}, wanted {wanted}");
    }

    /// Published by ITU-T G.107 (and computed from its formula): I_d and MOS.
    #[test]
    fn the_model_has_the_published_values() {
        let delays =
            [(100.0, 0.0), (150.0, 0.16), (200.0, 3.04), (250.0, 8.92), (300.0, 14.76), (400.0, 24.07)];
        for (ms, wanted) in delays {
            close(delay_impairment(ms), wanted, 0.005);
        }
        for (r, wanted) in [(90.0, 4.34), (80.0, 4.02), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            close(opinion(r), wanted, 0.005);
        }
        assert_eq!((opinion(0.0), opinion(3.0), opinion(120.0)), (1.0, 1.0, 4.5));
        let losses = [0.0, 0.01, 0.02, 0.03, 0.05, 0.10, 0.20];
        for (codec, scores) in [
            (Codec::G711, [4.41, 3.83, 3.26, 2.79, 2.17, 1.48, 1.12]),
            (Codec::G711Plc, [4.41, 4.33, 4.23, 4.13, 3.92, 3.41, 2.63]),
            (Codec::G729, [4.10, 3.95, 3.79, 3.63, 3.34, 2.75, 2.02]),
        ] {
            for (loss, wanted) in losses.into_iter().zip(scores) {
                close(opinion(rating_of(0.0, loss, 1.0, codec.impairment())), wanted, 0.006);
            }
        }
    }

    const SPEC: VoiceSpec = VoiceSpec { codec: Codec::G711, playout: Span::from_millis(60), call: None };

    /// Packets 20 ms apart from 1 s on: how many ms each takes, or none.
    fn packets(delays_ms: &[Option<u64>]) -> Vec<(Time, Option<Time>)> {
        (0..)
            .zip(delays_ms)
            .map(|(number, delay)| {
                let made = Time::from_secs(1.0) + Span::from_millis(20 * number);
                (made, delay.map(|ms| made + Span::from_millis(ms)))
            })
            .collect()
    }

    fn measures(packets: &[(Time, Option<Time>)], warmup_s: f64) -> VoiceMeasures {
        let messages = MessageMeasures::default();
        VoiceMeasures::of(packets.iter().copied(), Time::from_secs(warmup_s), SPEC, messages)
    }

    #[test]
    fn a_packet_later_than_the_playout_buffer_is_not_played() {
        // The first takes 30 ms, so all are played 90 ms after they were made.
        let found = measures(&packets(&[Some(30), Some(90), Some(91), None, Some(10)]), 0.0);
        assert_eq!(found.voice_packets_late, 1);
        assert_eq!(found.voice_lost_fraction, Some(0.4));
        close(found.voice_mouth_to_ear_s.expect("something is played"), 0.110, 1e-9);
        // Both losses are in a row: 2 in place of 1 / 0.6.
        close(found.voice_burst_ratio.expect("something is lost"), 1.2, 1e-9);
    }

    #[test]
    fn each_talk_spurt_has_a_playout_time_of_its_own() {
        let mut all = packets(&[Some(10), Some(10)]);
        let later = Span::from_secs(5.0);
        let second = packets(&[Some(200), Some(200)]);
        all.extend(second.iter().map(|&(made, arrived)| (made + later, arrived.map(|at| at + later))));
        let found = measures(&all, 0.0);
        assert_eq!((found.voice_lost_fraction, found.voice_packets_late), (Some(0.0), 0));
        close(found.voice_mouth_to_ear_s.expect("all are played"), (0.090 + 0.280) / 2.0, 1e-9);
        // What was made during the warm-up does not count.
        assert_eq!(measures(&all, 4.0).voice_mouth_to_ear_s.map(|s| (1e3 * s).round()), Some(280.0));
    }

    #[test]
    fn a_packet_that_overtakes_decides_when_all_are_played() {
        // The second arrives first, after 10 ms: all are played 70 ms after they were made.
        let found = measures(&packets(&[Some(71), Some(10), Some(70)]), 0.0);
        assert_eq!(found.voice_packets_late, 1);
        close(found.voice_lost_fraction.expect("packets are made"), 1.0 / 3.0, 1e-12);
    }

    #[test]
    fn the_mean_of_a_call_hides_an_outage_that_windows_show() {
        // 60 s without a break, of which 3 s in one window are lost.
        let delays: Vec<Option<u64>> =
            (0..3000).map(|number| (!(500..650).contains(&number)).then_some(20)).collect();
        let spec = VoiceSpec { codec: Codec::G711Plc, ..SPEC };
        let messages = MessageMeasures::default();
        let found = VoiceMeasures::of(packets(&delays).into_iter(), Time::ZERO, spec, messages);
        assert!(found.voice_mos.expect("packets are made") > 3.5);
        assert_eq!(found.voice_worst_mos, Some(1.0));
        // From 1 s to 61 s: seven windows, one of them with the outage.
        close(found.voice_satisfied_time_fraction.expect("windows"), 6.0 / 7.0, 1e-12);
    }

    #[test]
    fn what_is_never_heard_is_rated_0_and_what_is_not_said_is_not_rated() {
        let silent = measures(&packets(&[None, None]), 0.0);
        assert_eq!(
            (silent.voice_r, silent.voice_mos, silent.voice_mouth_to_ear_s),
            (Some(0.0), Some(1.0), None)
        );
        assert_eq!(measures(&[], 0.0).voice_r, None);
    }

    #[test]
    fn a_call_is_as_good_as_its_worse_direction() {
        let direction = |r: f64, call| {
            FlowMeasures::Voice(VoiceMeasures { voice_r: Some(r), call, ..VoiceMeasures::default() })
        };
        let flows = [
            direction(90.0, Some(1)),
            direction(60.0, Some(1)),
            direction(80.0, Some(2)),
            direction(80.0, Some(2)),
            direction(75.0, None),
            direction(20.0, None),
        ];
        let totals = VoiceTotals::of(&flows).expect("there are calls");
        assert_eq!((totals.voice_calls, totals.voice_satisfied_fraction), (4, Some(0.5)));
        assert_eq!(VoiceTotals::of(&[]), None);
    }
}
