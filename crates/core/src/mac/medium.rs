//! What a station knows of the medium: the frame that it is receiving, others that overlap it, its NAV.
//!
//! Nothing here needs an event at a frame's end. At a frame's first bit everything that follows from it is
//! known unless something else happens, so [`Medium::idle_at`] is a forecast that later arrivals correct, and
//! [`Medium::settle`] applies what has ended by now. Only a frame that this station must act on wakes it.

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

/// The frame that occupies the receiver; small, because every frame on the air writes one at every node in range.
#[derive(Clone, Copy, Debug)]
struct Reception {
    end: Time,
    power_w: f64,
    transmission: u32,
    receivable: bool,
    wanted: bool,
    /// Did another frame destroy it?
    collided: bool,
    /// Was the station transmitting while it arrived?
    deaf: bool,
    /// NAV and EIFS as they will be when it has ended, if nothing else happens.
    nav_after: Time,
    eifs_after: Time,
}

impl Reception {
    fn intact(&self) -> bool {
        self.receivable & !self.collided & !self.deaf
    }

    /// NAV and EIFS as they will be when the frame has ended, from what they are before; `reserved` is until when
    /// the frame itself reserves the medium if it is intact.
    #[inline(always)]
    fn after(&self, reserved: Time, medium: &Before, timing: &Timing) -> (Time, Time) {
        if medium.on_air_until > self.end {
            // Still transmitting: the station does not notice the frame at all.
            return (medium.nav, medium.eifs_until);
        }
        if self.intact() {
            return (medium.nav.max(reserved), Time::ZERO);
        }
        let params = timing.params();
        if !self.receivable && !params.eifs_after_weak_frames {
            (medium.nav, medium.eifs_until)
        } else if params.eifs_as_nav {
            (medium.nav.max(self.end + timing.eifs), medium.eifs_until)
        } else {
            // DIFS is added by the backoff.
            (medium.nav, self.end + timing.eifs.saturating_sub(timing.difs))
        }
    }
}

/// What a frame finds.
struct Before {
    nav: Time,
    eifs_until: Time,
    on_air_until: Time,
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
    others: Vec<(f64, Time)>,
    /// Virtual carrier sense (§9.2.1).
    nav: Time,
    /// The standard's EIFS: no contention before this, but responses are sent.
    eifs_until: Time,
    /// The last bit of every frame that has left the receiver has passed by here.
    energy_until: Time,
    /// The station's own transmission ends here.
    on_air_until: Time,
    counts: ReceptionCounts,
}

impl Default for Medium {
    fn default() -> Medium {
        Medium {
            reception: None,
            others: Vec::new(),
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
    #[inline]
    pub(super) fn settle(&mut self, now: Time) {
        if let Some(reception) = &self.reception
            && reception.end <= now
            && !(reception.wanted && reception.intact())
        {
            self.release();
        }
    }

    /// The transmission of a frame that the station must act on and that has ended by now. The medium is busy
    /// with it until [`Medium::release`].
    #[inline]
    pub(super) fn received(&self, now: Time) -> Option<u32> {
        let reception = self.reception.as_ref()?;
        (reception.wanted && reception.end <= now && reception.intact()).then_some(reception.transmission)
    }

    /// The transmission of an intact frame for somebody else that has ended by now.
    #[inline]
    pub(super) fn overheard(&self, now: Time) -> Option<u32> {
        let reception = self.reception.as_ref()?;
        (!reception.wanted && reception.end <= now && reception.intact()).then_some(reception.transmission)
    }

    /// The frame that occupied the receiver has ended and been dealt with.
    pub(super) fn release(&mut self) {
        if let Some(reception) = self.reception.take() {
            self.nav = reception.nav_after;
            self.eifs_until = reception.eifs_after;
            self.energy_until = self.energy_until.max(reception.end);
        }
    }

    fn before(&self) -> Before {
        Before { nav: self.nav, eifs_until: self.eifs_until, on_air_until: self.on_air_until }
    }

    /// Forecasts NAV and EIFS at the end of the reception anew.
    fn forecast(&mut self, timing: &Timing) {
        let before = self.before();
        if let Some(reception) = &mut self.reception {
            (reception.nav_after, reception.eifs_after) =
                reception.after(reception.nav_after, &before, timing);
        }
    }

    /// The first bit of a frame arrives.
    #[inline]
    pub(super) fn arrive(&mut self, now: Time, signal: &Signal, timing: &Timing, rules: &ReceiverRules) {
        self.settle(now);
        self.counts.receivable += u64::from(signal.receivable);
        let mut arriving = Reception {
            end: signal.end,
            nav_after: Time::ZERO,
            eifs_after: Time::ZERO,
            power_w: signal.power_w,
            transmission: signal.transmission,
            receivable: signal.receivable,
            wanted: signal.wanted,
            collided: false,
            deaf: now < self.on_air_until,
        };
        if self.reception.is_some() {
            self.overlap(now, arriving, timing, rules);
            return;
        }
        if rules.capture == Capture::Sinr {
            self.others.retain(|other| other.1 > now);
            arriving.collided = !survives(signal.power_w, &self.others, rules);
            self.counts.collided += u64::from(signal.receivable && arriving.collided);
        }
        // The NAV is for frames to others; a wanted frame's Duration is answered, not obeyed (§9.2.5.4).
        let reserved = if signal.wanted { Time::ZERO } else { signal.end + signal.reserves };
        (arriving.nav_after, arriving.eifs_after) = arriving.after(reserved, &self.before(), timing);
        self.reception = Some(arriving);
    }

    /// The first bit of a frame to somebody else reaches an idle receiver: what most frames are to most stations.
    /// Does what [`Medium::arrive`] does; false, and nothing done, in every other case.
    #[inline(always)]
    pub(super) fn overhear(
        &mut self,
        now: Time,
        signal: &Signal,
        timing: &Timing,
        rules: &ReceiverRules,
    ) -> bool {
        if rules.capture == Capture::Sinr {
            return false;
        }
        if let Some(last) = &self.reception {
            if last.end > now || last.wanted {
                return false;
            }
            self.nav = last.nav_after;
            self.eifs_until = last.eifs_after;
            self.energy_until = self.energy_until.max(last.end);
        }
        self.counts.receivable += u64::from(signal.receivable);
        let mut reception = Reception {
            end: signal.end,
            nav_after: Time::ZERO,
            eifs_after: Time::ZERO,
            power_w: signal.power_w,
            transmission: signal.transmission,
            receivable: signal.receivable,
            wanted: false,
            collided: false,
            deaf: now < self.on_air_until,
        };
        let before = Before { nav: self.nav, eifs_until: self.eifs_until, on_air_until: self.on_air_until };
        (reception.nav_after, reception.eifs_after) =
            reception.after(signal.end + signal.reserves, &before, timing);
        self.reception = Some(reception);
        true
    }

    /// A frame arrives while another occupies the receiver.
    fn overlap(&mut self, now: Time, arriving: Reception, timing: &Timing, rules: &ReceiverRules) {
        let Some(current) = &mut self.reception else { return };
        let survives = match rules.capture {
            Capture::Pairwise => current.power_w >= rules.ratio * arriving.power_w,
            Capture::Sinr => {
                self.others.retain(|other| other.1 > now);
                self.others.push((arriving.power_w, arriving.end));
                survives(current.power_w, &self.others, rules)
            }
        };
        if !survives {
            self.counts.collided += u64::from(arriving.receivable);
            self.counts.collided += u64::from(current.receivable && !current.collided);
            current.collided = true;
            // Of frames that destroy each other the one that lasts longest keeps the receiver busy.
            if arriving.end > current.end {
                *current = Reception { collided: true, ..arriving };
            }
        } else if timing.params().captured_frames_set_nav {
            self.nav = self.nav.max(arriving.end + timing.eifs);
        } else {
            self.energy_until = self.energy_until.max(arriving.end);
        }
        self.forecast(timing);
    }

    /// The station begins to transmit and hears nothing until `until`.
    pub(super) fn transmit(&mut self, until: Time, timing: &Timing) {
        self.on_air_until = until;
        if let Some(reception) = &mut self.reception {
            reception.deaf = true;
            self.forecast(timing);
        }
    }

    /// From when the medium is idle for contention, as far as can be known now: physically, by NAV, and after
    /// EIFS. [`Time::NEVER`] while a frame arrives that the station must act on.
    pub(super) fn idle_at(&self) -> Time {
        let quiet = self.energy_until.max(self.on_air_until);
        match &self.reception {
            None => self.nav.max(self.eifs_until).max(quiet),
            Some(reception) if reception.wanted && reception.intact() => Time::NEVER,
            Some(reception) => {
                let virtually = reception.nav_after.max(reception.eifs_after);
                reception.end.max(virtually).max(quiet)
            }
        }
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

fn survives(power_w: f64, others: &[(f64, Time)], rules: &ReceiverRules) -> bool {
    let disturbance: f64 = rules.noise_w + others.iter().map(|other| other.0).sum::<f64>();
    power_w >= rules.ratio * disturbance
}
