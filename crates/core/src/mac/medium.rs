//! What a station knows of the medium: the frame that it is receiving, others that overlap it, its NAV.
//!
//! Nothing here needs an event at a frame's end. At a frame's first bit everything that follows from it is
//! known unless something else happens, so [`Medium::idle_at`] is a forecast that later arrivals correct, and
//! [`Medium::settle`] applies what has ended by now. Only a frame that this station must act on wakes it.

use super::Timing;
use crate::kernel::{Span, Time};
use crate::radio::{ByRate, Capture, Judged, Noise, Propagation, RadioParams};
use crate::wire::mac::{DSSS_BPS, FrameKind, Rate};

/// The first bit of a frame reaches the station.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// When its last bit will have arrived.
    pub end: Time,
    /// Squared distance in m²; the received power is computed only if it matters.
    pub distance_m2: f64,
    /// Is it strong enough to be decoded?
    pub receivable: bool,
    /// Do errors of bits destroy it nevertheless? EIFS follows its end.
    pub damaged: bool,
    /// Does the physical layer report its beginning: can it be decoded, or at least its PLCP header
    /// ([`WeakFrames::include`])?
    pub reported: bool,
    /// Its rate.
    pub rate: Rate,
    /// Must the station act on it, if it arrives intact: is it addressed to this station or to all, and
    /// strong enough?
    pub wanted: bool,
    /// How long the medium stays reserved after its end, if nothing disturbs it: its Duration field, or what
    /// follows a frame that cannot be decoded ([`ShortWay::reserves`]).
    pub reserves: Span,
    /// How long after its end another frame must begin, or what it reserves is given up; zero: it stays.
    pub followed_within: Span,
    /// Which transmission it is; given back when it has been received.
    pub transmission: u32,
}

impl Signal {
    /// Until when the frame reserves the medium, as far as that is certain: the NAV is for frames to others;
    /// a wanted frame's Duration is answered, not obeyed (§9.2.5.4).
    #[inline(always)]
    fn reserved_until(&self) -> Time {
        if self.wanted {
            Time::ZERO
        } else if self.followed_within == Span::ZERO {
            self.end + self.reserves
        } else {
            self.claimed_until()
        }
    }

    /// The same of a frame to another station that another frame must follow in time.
    #[inline(always)]
    fn claimed_until(&self) -> Time {
        self.end + self.reserves.min(self.followed_within)
    }

    /// What it reserves if another frame follows in time.
    #[inline(always)]
    fn claim(&self) -> Claim {
        if self.followed_within == Span::ZERO || self.wanted {
            return Claim::NONE;
        }
        let over_at = Time(self.claimed_until().0.saturating_add(1));
        Claim { over_at, full: self.end + self.reserves }
    }
}

/// What an RTS to another station reserves: for certain until the frames that it announces must have begun,
/// and in full once one has (§9.2.5.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Claim {
    /// From when on an arrival need not be asked whether it confirms the claim: right after those announced
    /// must have begun.
    over_at: Time,
    full: Time,
}

impl Claim {
    const NONE: Claim = Claim { over_at: Time::ZERO, full: Time::ZERO };
}

/// A frame at the receiver. In this order, so that what is the same in nearly all cases is written at once.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Reception {
    end: Time,
    distance_m2: f64,
    transmission: u32,
    /// Does the frame occupy the receiver? Otherwise it has been dealt with.
    present: bool,
    /// Must the station act on it if it arrives intact?
    wanted: bool,
    /// Did another frame destroy it?
    collided: bool,
    /// Was the station transmitting while it arrived?
    deaf: bool,
    receivable: bool,
    /// Does the physical layer report its beginning: can it be decoded, or at least its PLCP header?
    reported: bool,
    rate: Rate,
}

impl Reception {
    fn intact(&self) -> bool {
        self.receivable & !self.collided & !self.deaf
    }
}

/// A time that the frame that is being received may change.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
struct Changing {
    /// Without the frame.
    before: Time,
    /// When the frame has ended, if nothing else happens; without a frame the same as `before`.
    after: Time,
}

/// How the receiver judges overlapping frames; the same for all stations.
#[derive(Clone, Debug)]
pub struct ReceiverRules {
    capture: Capture,
    /// Does the receiver lock on frames that it decodes, and only on those?
    locks: bool,
    /// By rate.
    ratios: Vec<f64>,
    /// [`Propagation::certain_capture`] of them.
    certain: Vec<[f64; 2]>,
    weak_frames: WeakFrames,
    noise_w: f64,
    /// Errors by rate, where others count as noise in them.
    noise: Option<Box<Noise>>,
    propagation: Propagation,
}

impl ReceiverRules {
    /// The rules that these parameters set.
    pub fn new(params: &RadioParams, timing: &Timing) -> ReceiverRules {
        let propagation = Propagation::new(params);
        let ratios: Vec<f64> = timing.rates_bps().map(|bps| params.capture_ratio_at(bps)).collect();
        ReceiverRules {
            capture: params.capture,
            locks: matches!(params.capture, Capture::Locking | Capture::AsNoise),
            certain: ratios.iter().map(|&ratio| propagation.certain_capture(ratio)).collect(),
            ratios,
            weak_frames: WeakFrames::new(params, timing, &propagation),
            noise_w: params.noise_w,
            noise: None,
            propagation,
        }
    }

    /// The same, and with [`Capture::AsNoise`] others count as noise in these errors.
    pub fn with_noise(self, noise: Option<&Noise>) -> ReceiverRules {
        let noise = noise.filter(|_| self.capture == Capture::AsNoise).map(|noise| Box::new(noise.clone()));
        ReceiverRules { noise, ..self }
    }
}

impl ReceiverRules {
    /// Do others count as noise, so that each frame's draw must be known?
    pub fn counts_others_as_noise(&self) -> bool {
        self.noise.is_some()
    }

    fn power_w(&self, reception: &Reception) -> f64 {
        self.propagation.power_w(reception.distance_m2)
    }

    /// Is the frame strong enough over noise and the sum of all others?
    fn survives(&self, reception: &Reception, others: &[(f64, Time)]) -> bool {
        let disturbance: f64 = self.noise_w + others.iter().map(|other| other.0).sum::<f64>();
        self.power_w(reception) >= self.ratio(reception) * disturbance
    }

    /// Is the frame strong enough over another one?
    fn captures(&self, reception: &Reception, other: &Reception) -> bool {
        let certain = self.certain[reception.rate.index()];
        let (from_m2, other_m2) = (reception.distance_m2, other.distance_m2);
        self.propagation.captures(from_m2, other_m2, self.ratio(reception), certain)
    }

    fn ratio(&self, reception: &Reception) -> f64 {
        self.ratios[reception.rate.index()]
    }
}

/// Which frames too weak to be decoded are followed by EIFS, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct WeakFrames {
    /// EIFS, less the DIFS that the backoff adds.
    eifs: Span,
    /// Those from within this squared distance are, in m².
    until_m2: f64,
}

impl WeakFrames {
    /// All of them in ns-2. In the standard those of which the receiver decodes the PLCP header, which is
    /// sent at 1 Mb/s, and not the rest (§9.2.3.4): none unless the ranges differ by rate.
    fn new(radio: &RadioParams, timing: &Timing, propagation: &Propagation) -> WeakFrames {
        let mac = timing.params();
        let until_m2 = if mac.eifs_after_weak_frames {
            f64::INFINITY
        } else if radio.ranges == ByRate::Ladder && !mac.eifs_as_nav {
            propagation.receive_m2(DSSS_BPS[0])
        } else {
            0.0
        };
        WeakFrames { eifs: timing.eifs.saturating_sub(timing.difs), until_m2 }
    }

    /// Is such a frame, from this squared distance in m², followed by EIFS?
    #[inline(always)]
    pub fn include(self, distance_m2: f64) -> bool {
        distance_m2 <= self.until_m2
    }
}

/// What the short way of [`Dcf::overhear`](super::Dcf::overhear) needs of rules and timing, apart, to be kept
/// in registers.
#[derive(Clone, Copy, Debug)]
pub struct ShortWay {
    /// Is there a short way? Only where frames are judged pair by pair: a sum of powers is kept by the long
    /// way.
    pub open: bool,
    /// Is EIFS another thing than the NAV?
    pub uses_eifs: bool,
    /// Which frames too weak to be decoded are followed by EIFS.
    pub weak_frames: WeakFrames,
    /// The NAV that a frame too weak to be decoded leaves after its end; zero is none.
    weak_frame_reserves: Span,
    /// The NAV that a damaged frame leaves after its end; zero is none.
    damaged_frame_reserves: Span,
    /// [`Timing::nav_reset`].
    nav_reset: Span,
}

impl ShortWay {
    /// What follows from rules and timing.
    pub fn new(rules: &ReceiverRules, timing: &Timing) -> ShortWay {
        let params = timing.params();
        let as_nav = params.eifs_after_weak_frames && params.eifs_as_nav;
        ShortWay {
            open: rules.capture == Capture::Pairwise,
            weak_frame_reserves: if as_nav { timing.eifs } else { Span::ZERO },
            damaged_frame_reserves: if params.eifs_as_nav { timing.eifs } else { Span::ZERO },
            uses_eifs: !params.eifs_as_nav,
            weak_frames: rules.weak_frames,
            nav_reset: timing.nav_reset,
        }
    }

    /// What [`Signal::followed_within`] is of a frame of this kind. Where it is not zero, the short way is
    /// closed to the frame.
    pub fn followed_within(self, kind: FrameKind) -> Span {
        if kind == FrameKind::Rts { self.nav_reset } else { Span::ZERO }
    }

    /// The squared distances (m²) up to which the beginning of a frame is reported, if it cannot be decoded
    /// and if it can, which is so up to `receive_m2`.
    pub fn reported_m2(self, receive_m2: f64) -> [f64; 2] {
        let weak_m2 = self.weak_frames.until_m2;
        [weak_m2, if receive_m2 > weak_m2 { receive_m2 } else { weak_m2 }]
    }

    /// Errors of bits destroy a frame to another station. It has not been decoded, but its beginning was
    /// reported, which is all that the short way asks.
    #[inline(always)]
    pub fn destroy(self, signal: &mut Signal) {
        (signal.receivable, signal.reserves) = (false, self.damaged_frame_reserves);
    }

    /// How long a frame with this Duration field reserves the medium after its end, if it cannot be decoded
    /// and if it can.
    pub fn reserves(self, duration: Span) -> [Span; 2] {
        [self.weak_frame_reserves, duration]
    }
}

/// See the module's head. What the short way reads and writes stands first and fills one line of the cache;
/// what other arrivals need fills a second one.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Medium {
    /// From here on the receiver is free: it neither receives nor transmits. [`Time::NEVER`] while the
    /// station may have to act on what it receives.
    free_from: Time,
    /// Arrivals before this time at a free receiver do not concern the station's contention.
    pub(super) patient_until: Time,
    reception: Reception,
    /// Virtual carrier sense (§9.2.1).
    nav: Changing,
    /// The standard's EIFS: no contention before this, but responses are sent.
    eifs_until: Changing,
    /// The last bit of every frame that has left the receiver has passed by here.
    energy_until: Time,
    /// The station's own transmission ends here.
    on_air_until: Time,
    /// That of an RTS that is being received, or was received last. While it is open no arrival goes the
    /// short way.
    claim: Claim,
    /// Apart, because few arrivals need it.
    seldom: Box<Seldom>,
    /// Frames that the station would have had to act on and that others destroyed. No run is long enough for
    /// more of them.
    collided: u32,
    /// Is the claim that of the frame at the receiver?
    receives_claim: bool,
}

/// What the receiver keeps of other frames beside that which it receives.
#[derive(Default, Debug)]
struct Seldom {
    /// Frames that overlap the one being received, or that the receiver has not locked on (not kept for the
    /// `pairwise` rule).
    others: Vec<(f64, Time)>,
    /// Signals that the receiver has not locked on keep the medium busy until then.
    unlocked_until: Time,
    /// The frame at the receiver, where others count as noise.
    judged: Option<Box<Trial>>,
    /// Length and the draw's logarithm of the frame that arrives next, where others count as noise.
    announced: (u32, f64),
}

/// A frame whose errors depend on what else comes.
#[derive(Debug)]
struct Trial {
    frame: Judged,
    ln_draw: f64,
    /// The logarithm of the probability that all up to `until` is right.
    ln_right: f64,
    until: Time,
}

impl Trial {
    /// Something else may begin now: what has passed is settled, with what was on the air. Call before it is
    /// added.
    fn settle(&mut self, now: Time, noise: &Noise, others: &[(f64, Time)]) {
        self.ln_right += noise.ln_right(&self.frame, (self.until, now), others);
        self.until = now;
    }

    /// Will it be right, if nothing else comes?
    fn survives(&self, noise: &Noise, others: &[(f64, Time)]) -> bool {
        let rest = (self.until, self.frame.end);
        self.ln_draw < self.ln_right + noise.ln_right(&self.frame, rest, others)
    }
}

impl Default for Medium {
    fn default() -> Medium {
        Medium {
            free_from: Time::ZERO,
            patient_until: Time::NEVER,
            reception: Reception {
                end: Time::ZERO,
                distance_m2: 0.0,
                transmission: 0,
                present: false,
                wanted: false,
                collided: false,
                deaf: false,
                receivable: false,
                reported: false,
                rate: Rate(0),
            },
            nav: Changing::default(),
            eifs_until: Changing::default(),
            energy_until: Time::ZERO,
            on_air_until: Time::ZERO,
            claim: Claim::NONE,
            seldom: Box::default(),
            collided: 0,
            receives_claim: false,
        }
    }
}

impl Medium {
    /// Applies the end of a reception that nobody has to act on.
    #[inline]
    pub(super) fn settle(&mut self, now: Time) {
        if self.reception.end <= now && !self.awaits() {
            self.release();
        }
    }

    /// [`Medium::settle`], where what the station must act on has been acted on.
    #[inline(always)]
    pub(super) fn settle_handled(&mut self, now: Time) {
        debug_assert!(self.received(now).is_none(), "a frame has ended and was not acted on");
        if self.reception.end <= now {
            self.release();
        }
    }

    /// Does a frame occupy the receiver? Call after `settle`.
    #[inline]
    pub(super) fn is_receiving(&self) -> bool {
        self.reception.present
    }

    /// Is a frame being received that the station must act on?
    fn awaits(&self) -> bool {
        self.reception.present & self.reception.wanted & self.reception.intact()
    }

    /// The transmission of a frame that the station must act on and that has ended by now. The medium is busy
    /// with it until [`Medium::release`].
    #[inline]
    pub(super) fn received(&self, now: Time) -> Option<u32> {
        (self.awaits() && self.reception.end <= now).then_some(self.reception.transmission)
    }

    /// From which squared distance the frame at the receiver, or the last one, seems to come, in m².
    pub(super) fn heard_from_m2(&self) -> f64 {
        self.reception.distance_m2
    }

    /// Forgets all but what it has counted.
    pub(super) fn restart(&mut self) {
        *self = Medium { collided: self.collided, ..Medium::default() };
    }

    /// The transmission that is being received and that the station must act on, if nothing has destroyed
    /// it.
    pub(super) fn awaited(&self) -> Option<u32> {
        self.awaits().then_some(self.reception.transmission)
    }

    /// The transmission that the station would have to act on if it did not transmit itself.
    pub(super) fn deafened(&self) -> Option<u32> {
        let Reception { present, wanted, receivable, collided, deaf, transmission, .. } = self.reception;
        (present & wanted & receivable & deaf & !collided).then_some(transmission)
    }

    /// Is the station transmitting?
    pub(super) fn is_on_air(&self, now: Time) -> bool {
        now < self.on_air_until
    }

    /// When the frame that the station must act on ends, if one is being received.
    pub(super) fn awaited_end(&self) -> Option<Time> {
        self.awaits().then_some(self.reception.end)
    }

    /// The transmission of an intact frame for somebody else that has ended by now.
    #[inline]
    pub(super) fn overheard(&self, now: Time) -> Option<u32> {
        let reception = &self.reception;
        let for_others = reception.present & !reception.wanted & reception.intact();
        (for_others && reception.end <= now).then_some(reception.transmission)
    }

    /// The frame that occupied the receiver has ended and been dealt with.
    pub(super) fn release(&mut self) {
        if self.reception.present {
            self.reception.present = false;
            self.nav.before = self.nav.after;
            self.eifs_until.before = self.eifs_until.after;
            self.energy_until = self.energy_until.max(self.reception.end);
            self.free_from = self.on_air_until.max(self.claim.over_at);
        }
    }

    /// Forecasts what will be reserved at the end of the reception, and when the receiver is free, after
    /// something has changed. `reserved` is until when the frame itself reserves the medium if it is intact.
    fn forecast(&mut self, reserved: Time, timing: &Timing) {
        let Reception { end, reported, deaf, .. } = self.reception;
        let params = timing.params();
        let (nav, eifs_until) = (self.nav.before, self.eifs_until.before);
        (self.nav.after, self.eifs_until.after) = if self.on_air_until > end {
            // Still transmitting: the station does not notice the frame at all.
            (nav, eifs_until)
        } else if self.reception.intact() {
            (nav.max(reserved), Time::ZERO)
        } else if !reported || (deaf && !params.eifs_after_missed_frames) {
            (nav, eifs_until)
        } else if params.eifs_as_nav {
            (nav.max(end + timing.eifs), eifs_until)
        } else {
            // DIFS is added by the backoff.
            (nav, end + timing.eifs.saturating_sub(timing.difs))
        };
        if self.receives_claim && (!self.reception.intact() || self.on_air_until > end) {
            self.claim = Claim::NONE;
        }
        let occupied = end.max(self.on_air_until).max(self.claim.over_at);
        self.free_from = if self.awaits() { Time::NEVER } else { occupied };
    }

    /// A frame begins at a free receiver, after an RTS to another station: the RTS keeps what it reserves if
    /// the frame is in time, and if the station notices it.
    #[cold]
    fn settle_claim(&mut self, now: Time, is_noticed: bool) {
        if now >= self.claim.over_at {
            self.claim = Claim::NONE;
        } else if is_noticed {
            self.nav.before = self.nav.before.max(self.claim.full);
            self.nav.after = self.nav.after.max(self.claim.full);
            self.claim = Claim::NONE;
        }
    }

    /// The frame that arrives next has so many bytes and this draw ([`Noise::draw`]).
    pub(super) fn announce(&mut self, bytes: u32, draw: f64) {
        self.seldom.announced = (bytes, libm::log(draw));
    }

    /// The first bit of a frame arrives. Call after [`Medium::settle_handled`].
    pub(super) fn arrive(&mut self, now: Time, signal: &Signal, timing: &Timing, rules: &ReceiverRules) {
        debug_assert!(!self.reception.present || self.reception.end > now);
        let mut arriving = Reception {
            end: signal.end,
            distance_m2: signal.distance_m2,
            transmission: signal.transmission,
            receivable: signal.receivable && !signal.damaged,
            reported: signal.reported,
            rate: signal.rate,
            present: true,
            wanted: signal.wanted,
            collided: false,
            deaf: now < self.on_air_until,
        };
        if self.reception.present {
            self.overlap(now, arriving, timing, rules);
            return;
        }
        if rules.capture != Capture::Pairwise {
            if rules.locks && !signal.receivable {
                return self.add_unlocked(now, &arriving, rules);
            }
            self.seldom.others.retain(|other| other.1 > now);
            arriving.collided = !self.lock(now, signal, &arriving, rules);
            self.collided += u32::from(signal.wanted && arriving.collided && !arriving.deaf);
        }
        if self.claim.over_at != Time::ZERO {
            self.settle_claim(now, arriving.reported && !arriving.deaf);
        }
        self.receives_claim = signal.followed_within != Span::ZERO;
        if self.receives_claim {
            self.claim = signal.claim();
        }
        self.reception = arriving;
        self.forecast(signal.reserved_until(), timing);
    }

    /// Is the receiver free at the instant, and the station patient?
    #[inline(always)]
    pub(super) fn may_overhear(&self, now: Time) -> bool {
        self.free_from <= now && now < self.patient_until
    }

    /// The first bit of a frame that the station need not act on reaches a free receiver of a patient
    /// station, as most do. Does what [`Medium::arrive`] does, after which [`Medium::idle_at`] is not earlier
    /// than before; false, and nothing done, in every other case. Whether the frame can be decoded, which
    /// nobody can guess, is no branch.
    #[inline(always)]
    pub(super) fn overhear<const EIFS: bool>(
        &mut self,
        now: Time,
        signal: &Signal,
        weak_frames: WeakFrames,
    ) -> bool {
        let &Signal { end, distance_m2, transmission, receivable, reported, rate, .. } = signal;
        debug_assert!(!signal.damaged, "damaged frames are destroyed before, or go the long way");
        // An intact frame ends EIFS, so that the medium may be idle earlier.
        let ends_eifs = EIFS && receivable && self.eifs_until.after > end;
        let acts = signal.wanted & receivable;
        if acts || !self.may_overhear(now) || ends_eifs {
            return false;
        }
        self.nav.before = self.nav.after;
        // Plain additions: a run's times are far from the end of time.
        self.nav.after = self.nav.after.max(Time(end.0 + signal.reserves.0));
        if EIFS {
            self.eifs_until.before = self.eifs_until.after;
            if receivable {
                self.eifs_until.after = Time::ZERO;
            } else if reported {
                self.eifs_until.after = end + weak_frames.eifs;
            }
        }
        let (present, wanted, collided, deaf) = (true, signal.wanted, false, false);
        self.reception = Reception {
            end,
            distance_m2,
            transmission,
            present,
            wanted,
            collided,
            deaf,
            receivable,
            reported,
            rate,
        };
        self.free_from = end;
        true
    }

    /// A frame begins at a free receiver, among others that have begun before: does it survive them?
    #[inline(never)]
    fn lock(&mut self, now: Time, signal: &Signal, arriving: &Reception, rules: &ReceiverRules) -> bool {
        let Some(noise) = &rules.noise else { return rules.survives(arriving, &self.seldom.others) };
        let (bytes, ln_draw) = self.seldom.announced;
        let (rate, power_w) = (signal.rate.index(), rules.power_w(arriving));
        let frame = Judged { rate, bytes, power_w, start: now, end: signal.end };
        let trial = Trial { frame, ln_draw, ln_right: 0.0, until: now };
        let survives = trial.survives(noise, &self.seldom.others);
        self.seldom.judged = Some(Box::new(trial));
        survives
    }

    /// A signal arrives that the receiver cannot lock on: it is energy, and nothing more.
    #[inline(never)]
    fn add_unlocked(&mut self, now: Time, arriving: &Reception, rules: &ReceiverRules) {
        self.seldom.others.retain(|other| other.1 > now);
        self.seldom.others.push((rules.power_w(arriving), arriving.end));
        self.energy_until = self.energy_until.max(arriving.end);
        self.seldom.unlocked_until = self.seldom.unlocked_until.max(arriving.end);
        self.free_from = self.free_from.max(self.seldom.unlocked_until);
    }

    /// Does the frame at the receiver survive one more?
    #[inline(never)]
    fn survives_another(&mut self, now: Time, arriving: &Reception, rules: &ReceiverRules) -> bool {
        let Some((noise, trial)) = rules.noise.as_ref().zip(self.seldom.judged.as_mut()) else {
            self.seldom.others.retain(|other| other.1 > now);
            self.seldom.others.push((rules.power_w(arriving), arriving.end));
            return rules.survives(&self.reception, &self.seldom.others);
        };
        trial.settle(now, noise, &self.seldom.others);
        self.seldom.others.retain(|other| other.1 > now);
        self.seldom.others.push((rules.power_w(arriving), arriving.end));
        trial.survives(noise, &self.seldom.others)
    }

    /// A frame arrives while another occupies the receiver.
    fn overlap(&mut self, now: Time, arriving: Reception, timing: &Timing, rules: &ReceiverRules) {
        let survives = match rules.capture {
            Capture::Pairwise => rules.captures(&self.reception, &arriving),
            Capture::Sinr | Capture::Locking | Capture::AsNoise => {
                self.survives_another(now, &arriving, rules)
            }
        };
        let current = &mut self.reception;
        if !survives && rules.locks {
            // The receiver stays with the frame that it has locked on.
            self.collided += u32::from(arriving.wanted && !arriving.deaf);
            self.collided += u32::from(current.wanted && !current.collided && !current.deaf);
            current.collided = true;
            self.energy_until = self.energy_until.max(arriving.end);
            self.seldom.unlocked_until = self.seldom.unlocked_until.max(arriving.end);
        } else if !survives {
            // A frame that comes while the station transmits is lost to that, not to others.
            self.collided += u32::from(arriving.wanted && !arriving.deaf);
            self.collided += u32::from(current.wanted && !current.collided && !current.deaf);
            // Of frames that destroy each other the one that lasts longest keeps the receiver busy.
            let longest = if arriving.end > current.end { arriving } else { *current };
            *current = Reception { collided: true, deaf: current.deaf && arriving.deaf, ..longest };
        } else if timing.params().captured_frames_set_nav {
            self.nav.before = self.nav.before.max(arriving.end + timing.eifs);
        } else {
            self.energy_until = self.energy_until.max(arriving.end);
        }
        self.forecast(self.nav.after, timing);
    }

    /// The station begins to transmit and hears nothing until `until`.
    pub(super) fn transmit(&mut self, until: Time, timing: &Timing) {
        self.on_air_until = until;
        if self.reception.present {
            self.reception.deaf = true;
            self.forecast(self.nav.after, timing);
        } else {
            self.free_from = until.max(self.claim.over_at);
        }
    }

    /// From when the medium is idle for contention, as far as can be known now: physically, by NAV, and after
    /// EIFS. [`Time::NEVER`] while a frame arrives that the station must act on.
    pub(super) fn idle_at(&self) -> Time {
        if self.awaits() {
            return Time::NEVER;
        }
        // A frame that has been dealt with has left its end in `energy_until`.
        let quiet = self.energy_until.max(self.on_air_until).max(self.reception.end);
        self.nav.after.max(self.eifs_until.after).max(quiet)
    }

    /// Is the medium idle now, by physical and virtual carrier sense (§9.2.1)? Call after `settle`.
    pub(super) fn is_idle(&self, now: Time) -> bool {
        !self.reception.present && self.nav.after <= now && self.seldom.unlocked_until <= now
    }

    /// Do frames that the station has overheard reserve the medium?
    pub(super) fn is_reserved(&self, now: Time) -> bool {
        self.nav.after > now
    }

    /// Frames that the station would have had to act on ([`Signal::wanted`]) and that others destroyed so
    /// far.
    pub(super) fn collisions(&self) -> u64 {
        self.collided.into()
    }
}
