//! How often an end of a TCP connection guesses rightly why a segment was lost.
//!
//! A guess is about the packet that carried the segment last, and the audit knows what became of it:
//!
//! | true reason | what ended the packet |
//! |---|---|
//! | congestion | a queue dropped it, full or early: that of an interface, a wire, or the throttle at its source |
//! | wireless | noise or collisions: the link layer gave it up, or it was damaged and is not repeated |
//! | other | routing had no way for it, its node was gone; or it was not lost, as what comes late |
//!
//! A window that is too large for its path fills queues, and nothing else does; whether the link layer gives
//! up for noise, for a collision or because the neighbour has left, fewer segments would not have helped.

use std::collections::BTreeMap;

use serde::Serialize;

use super::audit::{Audit, Fate};
use super::statistics::ratio;
use crate::drops::DropReason;
use crate::kernel::Time;
use crate::transport::tcp::{Judgement, LossPredictor};
use crate::wire::tcp::Segment;
use crate::wire::{ConnectionId, FlowId, Packet, Payload};

/// A segment this many behind another of its connection cannot be under way: the greatest window.
const MAX_WINDOW: u32 = 65_536;

/// The guesses of a run. See the module's head.
pub struct LossGuesses {
    warmup: Time,
    /// Does anybody guess?
    is_on: bool,
    /// The number of the packet that carried each segment last.
    carriers: BTreeMap<(ConnectionId, u32), u64>,
    /// In the window: the flow, the packet, and is it congestion, as it was guessed?
    guesses: Vec<(FlowId, u64, bool)>,
}

/// Guesses by the true reason: those that were right, and all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GuessCounts {
    congestion: (u64, u64),
    wireless: (u64, u64),
    other: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    Congestion,
    Wireless,
    Other,
}

impl Cause {
    fn of(fate: Fate) -> Cause {
        match fate {
            Fate::Lost(Some(DropReason::QueueFull | DropReason::EarlyDrop | DropReason::ThrottleFull)) => {
                Cause::Congestion
            }
            Fate::Lost(
                None
                | Some(
                    DropReason::RetryLimit
                    | DropReason::Damaged
                    | DropReason::LinkFailure
                    | DropReason::SalvageLimit,
                ),
            ) => Cause::Wireless,
            Fate::Lost(Some(_)) | Fate::Delivered | Fate::UnderWay => Cause::Other,
        }
    }
}

impl LossGuesses {
    /// No guesses yet; those before the end of the warm-up do not count.
    pub fn new(warmup: Time, predictor: LossPredictor) -> LossGuesses {
        let is_on = predictor != LossPredictor::None;
        LossGuesses { warmup, is_on, carriers: BTreeMap::new(), guesses: Vec::new() }
    }

    /// A flow has made this packet, which has its number.
    pub fn note(&mut self, packet: &Packet) {
        if !self.is_on {
            return;
        }
        let Payload::Tcp(id, Segment::Data { number, .. }) = packet.payload else { return };
        self.carriers.insert((id, number), packet.uid);
        if let Some(old) = number.checked_sub(MAX_WINDOW) {
            self.carriers.remove(&(id, old));
        }
    }

    /// An end of this connection has guessed.
    pub fn judge(&mut self, now: Time, id: ConnectionId, judgement: Judgement) {
        if let Some(&uid) = self.carriers.get(&(id, judgement.number)).filter(|_| now >= self.warmup) {
            self.guesses.push((id.flow, uid, judgement.is_congestion));
        }
    }

    /// Compares the guesses of a flow with what became of its packets; none if nobody guesses.
    pub fn counts(&self, flow: FlowId, audit: &Audit) -> Option<GuessCounts> {
        let mut counts = GuessCounts::default();
        for &(_, uid, is_congestion) in self.guesses.iter().filter(|(of, ..)| *of == flow) {
            let (of_cause, is_right) = match Cause::of(audit.fate(uid)) {
                Cause::Congestion => (&mut counts.congestion, is_congestion),
                Cause::Wireless => (&mut counts.wireless, !is_congestion),
                Cause::Other => {
                    counts.other += 1;
                    continue;
                }
            };
            of_cause.0 += u64::from(is_right);
            of_cause.1 += 1;
        }
        self.is_on.then_some(counts)
    }
}

/// How well a TCP flow guesses.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct GuessMeasures {
    /// Of its guesses about segments that congestion lost, the fraction that blames congestion
    /// (Biaz and Vaidya 1998, A_c).
    pub congestion_accuracy: Option<f64>,
    /// The same of the radio (A_w).
    pub wireless_accuracy: Option<f64>,
    /// Guesses in the window about segments that congestion lost.
    pub judged_congestion_losses: u64,
    /// About segments that the radio lost.
    pub judged_wireless_losses: u64,
    /// About other segments.
    pub judged_others: u64,
}

impl GuessMeasures {
    /// The measures of these guesses.
    pub fn of(counts: GuessCounts) -> GuessMeasures {
        GuessMeasures {
            congestion_accuracy: ratio(counts.congestion.0, counts.congestion.1),
            wireless_accuracy: ratio(counts.wireless.0, counts.wireless.1),
            judged_congestion_losses: counts.congestion.1,
            judged_wireless_losses: counts.wireless.1,
            judged_others: counts.other,
        }
    }
}

/// How well all TCP flows guess.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct GuessTotals {
    /// `congestion_accuracy` of all their guesses together.
    pub tcp_congestion_accuracy: Option<f64>,
    /// `wireless_accuracy` of all their guesses together.
    pub tcp_wireless_accuracy: Option<f64>,
    /// Sum of their `judged_congestion_losses`.
    pub tcp_judged_congestion_losses: u64,
    /// Sum of their `judged_wireless_losses`.
    pub tcp_judged_wireless_losses: u64,
    /// Sum of their `judged_others`.
    pub tcp_judged_others: u64,
}

impl GuessTotals {
    /// The totals of these flows; none without a flow.
    pub fn of(flows: impl Iterator<Item = GuessCounts>) -> Option<GuessTotals> {
        let add = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        let counts = flows.reduce(|sum, flow| GuessCounts {
            congestion: add(sum.congestion, flow.congestion),
            wireless: add(sum.wireless, flow.wireless),
            other: sum.other + flow.other,
        })?;
        let all = GuessMeasures::of(counts);
        Some(GuessTotals {
            tcp_congestion_accuracy: all.congestion_accuracy,
            tcp_wireless_accuracy: all.wireless_accuracy,
            tcp_judged_congestion_losses: all.judged_congestion_losses,
            tcp_judged_wireless_losses: all.judged_wireless_losses,
            tcp_judged_others: all.judged_others,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::NodeId;

    const ID: ConnectionId = ConnectionId { flow: FlowId(0), number: 0 };

    /// Sends a segment again and again, each time with this end, and guesses each time.
    struct Bench {
        audit: Audit,
        guesses: LossGuesses,
    }

    impl Bench {
        fn send(&mut self, number: u32) -> Packet {
            let segment =
                Segment::Data { number, payload: 1000, sent: Time::ZERO, retransmission: false, cwr: false };
            let payload = Payload::Tcp(ID, segment);
            let mut packet = Packet::control(Time::ZERO, NodeId(0), NodeId(1), 30, 1040, payload);
            packet.uid = self.audit.make(Some(ID.flow));
            self.guesses.note(&packet);
            packet
        }

        fn guess(&mut self, at_s: f64, number: u32, is_congestion: bool) {
            self.guesses.judge(Time::from_secs(at_s), ID, Judgement { number, is_congestion });
        }

        fn measures(&self) -> GuessMeasures {
            GuessMeasures::of(self.guesses.counts(ID.flow, &self.audit).expect("somebody guesses"))
        }
    }

    fn bench() -> Bench {
        Bench { audit: Audit::new(), guesses: LossGuesses::new(Time::from_secs(1.0), LossPredictor::Vegas) }
    }

    #[test]
    fn queues_are_congestion_and_links_are_wireless() {
        let congestion = [DropReason::QueueFull, DropReason::EarlyDrop, DropReason::ThrottleFull];
        let wireless =
            [DropReason::RetryLimit, DropReason::Damaged, DropReason::LinkFailure, DropReason::SalvageLimit];
        for &reason in DropReason::ALL {
            let mut bench = bench();
            let packet = bench.send(4);
            bench.audit.drop(&packet, reason);
            bench.guess(2.0, 4, true);
            let measures = bench.measures();
            let of = |reasons: &[DropReason]| u64::from(reasons.contains(&reason));
            assert_eq!(measures.judged_congestion_losses, of(&congestion), "{reason:?}");
            assert_eq!(measures.judged_wireless_losses, of(&wireless), "{reason:?}");
            assert_eq!(measures.judged_others, 1 - of(&congestion) - of(&wireless), "{reason:?}");
        }
    }

    /// Segment 4 is lost on the radio, then in a queue; 5 arrives; 6 is still under way.
    #[test]
    fn a_guess_is_about_the_last_packet_with_the_segment() {
        let mut bench = bench();
        for (reason, guess) in [(DropReason::LinkFailure, false), (DropReason::QueueFull, false)] {
            let packet = bench.send(4);
            bench.guess(2.0, 4, guess);
            bench.audit.drop(&packet, reason);
        }
        let arrives = bench.send(5);
        bench.audit.deliver(&arrives);
        bench.send(6);
        (5..=6).for_each(|number| bench.guess(2.0, number, true));
        let wanted = GuessMeasures {
            congestion_accuracy: Some(0.0),
            wireless_accuracy: Some(1.0),
            judged_congestion_losses: 1,
            judged_wireless_losses: 1,
            judged_others: 2,
        };
        assert_eq!(bench.measures(), wanted);
    }

    #[test]
    fn guesses_of_the_warm_up_do_not_count() {
        let mut bench = bench();
        let packet = bench.send(4);
        bench.audit.drop(&packet, DropReason::QueueFull);
        bench.guess(0.5, 4, true);
        assert_eq!(bench.measures(), GuessMeasures::default());
        bench.guess(1.0, 4, true);
        assert_eq!(bench.measures().congestion_accuracy, Some(1.0));
    }

    /// One of two, and none of six: one of eight, not the mean of a half and zero.
    #[test]
    fn totals_pool_the_guesses() {
        let of = |right, all| GuessCounts { congestion: (right, all), ..GuessCounts::default() };
        let totals = GuessTotals::of([of(1, 2), of(0, 6)].into_iter()).expect("flows that guess");
        assert_eq!(totals.tcp_congestion_accuracy, Some(0.125));
        assert_eq!((totals.tcp_wireless_accuracy, totals.tcp_judged_congestion_losses), (None, 8));
        assert_eq!(GuessTotals::of([].into_iter()), None);
    }
}
