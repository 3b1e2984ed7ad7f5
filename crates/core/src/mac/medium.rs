//! What a station knows of the medium: the frame that it is receiving, others that overlap it, its NAV.
//!
//! Nothing here needs an event at a frame's end. At a frame's first bit everything that follows from it is
//! known unless something else happens, so [`Medium::idle_at`] is a forecast that later arrivals correct, and
//! [`Medium::settle`] applies what has ended by now. Only a frame that this station must act on wakes it.

use smallvec::SmallVec;

use super::Timing;
use crate::kernel::{Span, Time};
use crate::radio::{Capture, RadioParams};

/// The first bit of a frame reaches the station.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// When its last bit will have arrived.
    pub end: Time,
    /// Received power.
    pub power_w: f64,
    /// Is it strong enough to be decoded?
    pub receivable: bool,
    /// Is it addressed to this station or to all?
    pub wanted: bool,
    /// Its Duration field.
    pub reserves: Span,
    /// Which transmission it is; given back when it has been received.
    pub transmission: u32,
}

/// The frame that occupies the receiver.
#[derive(Clone, Copy, Debug)]
struct Reception {
    signal: Signal,
    /// Did another frame destroy it?
    collided: bool,
    /// Was the station transmitting while it arrived?
    deaf: bool,
}

impl Reception {
    fn intact(&self) -> bool {
        self.signal.receivable && !self.collided && !self.deaf
    }
}

/// How the receiver judges overlapping frames; the same for all stations.
#[derive(Clone, Debug)]
pub struct ReceiverRules {
    capture: Capture,
    ratio: f64,
    noise_w: f64,
}

impl ReceiverRules {
    /// The rules that these parameters set.
    pub fn new(params: &RadioParams) -> ReceiverRules {
        ReceiverRules { capture: params.capture, ratio: params.capture_ratio, noise_w: params.noise_w }
    }
}

/// What became of decodable frames.
#[derive(Clone, Copy, Default, Debug)]
pub struct ReceptionCounts {
    /// Frames strong enough to be decoded.
    pub receivable: u64,
    /// Those of them that overlapping frames destroyed.
    pub collided: u64,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct Medium {
    reception: Option<Reception>,
    /// Frames that overlap the one being received (only kept for the `sinr` rule).
    others: SmallVec<[(f64, Time); 4]>,
    /// Virtual carrier sense (§9.2.1).
    nav: Time,
    /// The standard's EIFS: no contention before this, but responses are sent.
    eifs_until: Time,
    /// A frame that the receiver captured over keeps the medium busy until here.
    energy_until: Time,
    /// The station's own transmission ends here.
    on_air_until: Time,
    counts: ReceptionCounts,
}

impl Default for Medium {
    fn default() -> Medium {
        Medium {
            reception: None,
            others: SmallVec::new(),
            nav: Time::ZERO,
            eifs_until: Time::ZERO,
            energy_until: Time::ZERO,
            on_air_until: Time::ZERO,
            counts: ReceptionCounts::default(),
        }
    }
}

impl Medium {
    /// Applies the end of a reception that nobody has to act on.
    pub(super) fn settle(&mut self, now: Time, timing: &Timing) {
        if let Some(reception) = self.reception
            && reception.signal.end <= now
            && !(reception.intact() && reception.signal.wanted)
        {
            self.end_reception(timing);
        }
    }

    /// A frame that the station must act on ends now: its transmission. The medium is busy with it until
    /// [`Medium::release`].
    pub(super) fn received(&self, now: Time) -> Option<u32> {
        let reception = self.reception.as_ref()?;
        (reception.signal.end <= now && reception.intact() && reception.signal.wanted)
            .then_some(reception.signal.transmission)
    }

    /// The frame that was received has been dealt with.
    pub(super) fn release(&mut self, timing: &Timing) {
        self.end_reception(timing);
    }

    /// When a frame that the station must act on will have arrived.
    pub(super) fn next_received(&self) -> Time {
        match &self.reception {
            Some(reception) if reception.intact() && reception.signal.wanted => reception.signal.end,
            _ => Time::NEVER,
        }
    }

    fn end_reception(&mut self, timing: &Timing) {
        let Some(reception) = self.reception.take() else { return };
        self.others.clear();
        let (nav, eifs_until) = self.after(&reception, timing);
        (self.nav, self.eifs_until) = (nav, eifs_until);
    }

    /// NAV and EIFS as they will be when the reception has ended, if nothing else arrives.
    fn after(&self, reception: &Reception, timing: &Timing) -> (Time, Time) {
        let end = reception.signal.end;
        if self.on_air_until > end {
            // Still transmitting: the station has not noticed the frame at all.
            return (self.nav, self.eifs_until);
        }
        if reception.intact() {
            // The NAV is for frames to others; a wanted frame's Duration is answered, not obeyed (§9.2.5.4).
            let reserved = if reception.signal.wanted { end } else { end + reception.signal.reserves };
            return (self.nav.max(reserved), Time::ZERO);
        }
        let params = timing.params();
        let counts_as_error = reception.signal.receivable || params.eifs_after_weak_frames;
        match (counts_as_error, params.eifs_as_nav) {
            (false, _) => (self.nav, self.eifs_until),
            (true, true) => (self.nav.max(end + timing.eifs), self.eifs_until),
            // DIFS is added by the backoff.
            (true, false) => (self.nav, end + timing.eifs.saturating_sub(timing.difs)),
        }
    }

    /// The first bit of a frame arrives.
    pub(super) fn arrive(&mut self, now: Time, signal: Signal, timing: &Timing, rules: &ReceiverRules) {
        self.settle(now, timing);
        let deaf = now < self.on_air_until;
        self.counts.receivable += u64::from(signal.receivable);
        let Some(current) = &mut self.reception else {
            let mut reception = Reception { signal, collided: false, deaf };
            if rules.capture == Capture::Sinr {
                self.others.retain(|other| other.1 > now);
                reception.collided = !survives(&signal, &self.others, rules);
                self.counts.collided += u64::from(signal.receivable && reception.collided);
            }
            self.reception = Some(reception);
            return;
        };
        let survives = match rules.capture {
            Capture::Pairwise => current.signal.power_w >= rules.ratio * signal.power_w,
            Capture::Sinr => {
                self.others.retain(|other| other.1 > now);
                self.others.push((signal.power_w, signal.end));
                survives(&current.signal, &self.others, rules)
            }
        };
        if !survives {
            self.counts.collided += u64::from(signal.receivable);
            self.counts.collided += u64::from(current.signal.receivable && !current.collided);
            current.collided = true;
            // Of frames that destroy each other the one that lasts longest keeps the receiver busy.
            if signal.end > current.signal.end {
                *current = Reception { signal, collided: true, deaf };
            }
        } else if timing.params().captured_frames_set_nav {
            self.nav = self.nav.max(signal.end + timing.eifs);
        } else {
            self.energy_until = self.energy_until.max(signal.end);
        }
    }

    /// The station begins to transmit and hears nothing until `until`.
    pub(super) fn transmit(&mut self, until: Time) {
        if let Some(reception) = &mut self.reception {
            reception.deaf = true;
        }
        self.on_air_until = until;
    }

    /// From when the medium is idle for contention, as far as can be known now: physically, by NAV, and after
    /// EIFS. [`Time::NEVER`] while a frame arrives that the station must act on.
    pub(super) fn idle_at(&self, timing: &Timing) -> Time {
        let Some(reception) = &self.reception else {
            return self.nav.max(self.eifs_until).max(self.energy_until);
        };
        if reception.intact() && reception.signal.wanted {
            return Time::NEVER;
        }
        let (nav, eifs_until) = self.after(reception, timing);
        reception.signal.end.max(nav).max(eifs_until).max(self.energy_until)
    }

    /// Is the medium idle now, by physical and virtual carrier sense (§9.2.1)? Call after `settle`.
    pub(super) fn is_idle(&self, now: Time) -> bool {
        self.reception.is_none() && self.nav <= now
    }

    /// What became of decodable frames so far.
    pub(super) fn counts(&self) -> ReceptionCounts {
        self.counts
    }
}

fn survives(signal: &Signal, others: &[(f64, Time)], rules: &ReceiverRules) -> bool {
    let disturbance: f64 = rules.noise_w + others.iter().map(|other| other.0).sum::<f64>();
    signal.power_w >= rules.ratio * disturbance
}
