//! First bits: what begins to arrive where, when, and what the MACs there make of it.

use std::cmp::Reverse;

use crate::kernel::{Clock, Span, Time};
use crate::mac::{ShortWay, Signal};
use crate::observe::Watching;
use crate::radio::{Arrival, Fate, Sent};
use crate::wire::mac::FrameKind;

use super::transmission::{Phase, Template};
use super::{Awaiting, Channel, Heard, Then, What};

/// What noise makes of a signal for those who only overhear the frame, which the signal then says: intact,
/// destroyed, or too weak to be noticed. False if the node may have to act on it: it is to be judged the long
/// way.
#[inline(always)]
fn is_settled(
    (sent, way): (Option<&Sent<'_>>, ShortWay),
    arrival: &mut Arrival,
    template: &Template,
    signal: &mut Signal,
) -> bool {
    if !signal.receivable {
        return true;
    }
    let Some(sent) = sent else { return false };
    let fate = sent.fate_at(arrival.distance_m2, arrival.node);
    arrival.fate = Some(fate);
    match fate {
        _ if signal.wanted && fate != Fate::Unnoticed => false,
        Fate::Intact => true,
        Fate::Damaged => {
            way.destroy(signal);
            true
        }
        Fate::Unnoticed => {
            template.weaken(signal);
            true
        }
    }
}

/// A first bit under way.
pub(super) struct FrameStart {
    due: Time,
    arrival: Arrival,
    transmission: u32,
}

impl Channel {
    pub(super) fn begin_frame_starts(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        id: u32,
    ) -> Option<Heard> {
        let transmission = &mut self.transmissions[id as usize];
        let Some(template) = transmission.template(id, self.short_way) else {
            return Some(Heard { node: id, id, what: What::Missing });
        };
        self.index.compute(template.from.0, clock.now);
        if self.batteries.is_some() {
            self.spend_on_hearing(clock, id);
        }
        if self.utilisation.is_some() {
            self.use_to_hear(id);
        }
        if !template.to.is_broadcast() {
            let mut reached = self.index.arrivals(template.from.0, template.receive_m2);
            watch.addressee(id, || reached.find(|arrival| arrival.node == template.to.0));
        }
        let transmission = &mut self.transmissions[id as usize];
        if template.tapped {
            let reached = self.index.arrivals(template.from.0, template.receive_m2);
            let receivable = reached.filter(|arrival| arrival.receivable);
            transmission.receivers.extend(receivable.map(|arrival| (arrival.delay_ns, arrival.node)));
        }
        if clock.is_free_until(clock.now + self.longest) {
            self.serve_all(clock, watch, &template)
        } else {
            transmission.phase = Phase::FrameStarts;
            self.queue_frame_starts(clock, watch, &template);
            self.deliver_frame_starts(clock, watch)
        }
    }

    /// Brings the first bit to all; nothing else happens before the last of them has it.
    fn serve_all(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        template: &Template,
    ) -> Option<Heard> {
        let mut remaining = std::mem::take(&mut self.remaining);
        // A loop of its own for each case: most arrivals go through it.
        match (template.to.is_broadcast(), self.short_way.uses_eifs, self.has_errors) {
            (false, false, false) => self.take_short_way::<false, false, false>(template, &mut remaining),
            (false, true, false) => self.take_short_way::<false, true, false>(template, &mut remaining),
            (true, false, false) => self.take_short_way::<true, false, false>(template, &mut remaining),
            (true, true, false) => self.take_short_way::<true, true, false>(template, &mut remaining),
            (false, false, true) => self.take_short_way::<false, false, true>(template, &mut remaining),
            (false, true, true) => self.take_short_way::<false, true, true>(template, &mut remaining),
            (true, false, true) => self.take_short_way::<true, false, true>(template, &mut remaining),
            (true, true, true) => self.take_short_way::<true, true, true>(template, &mut remaining),
        }
        self.arrivals += self.index.sensed(template.from.0);
        self.serve_remaining(clock, watch, template, remaining, 0)
    }

    /// Brings the first bit of a frame to one or to all to those nodes that can go the short way, and
    /// collects the others.
    #[inline(never)]
    fn take_short_way<const TO_ALL: bool, const EIFS: bool, const ERRORS: bool>(
        &mut self,
        template: &Template,
        remaining: &mut Vec<Arrival>,
    ) {
        if !self.short_way.open || template.followed_within != Span::ZERO {
            remaining.clear();
            remaining.extend(self.index.arrivals(template.from.0, template.receive_m2));
            self.left = remaining.len();
            return;
        }
        // Copies, which the loop has in registers.
        let (template, way) = (*template, self.short_way);
        let noise = self.noise.as_deref().filter(|_| ERRORS && self.bit_errors.is_none());
        let sent = noise.map(|noise| template.judged_by(noise));
        let macs = self.macs.as_mut_slice();
        // Longer than what is left in it: nothing is written that is not read.
        let most = self.index.candidates(template.from.0);
        if remaining.len() < most {
            remaining.resize(most, Arrival::default());
        }
        let (mut left, mut unnoticed) = (0, 0);
        for mut arrival in self.index.arrivals(template.from.0, template.receive_m2) {
            let is_addressee = !TO_ALL && template.to.0 == arrival.node && arrival.receivable;
            let mac = &mut macs[arrival.node as usize];
            // What noise makes of a frame must be known on the long way, too.
            if is_addressee || (!ERRORS && !mac.may_overhear(template.reaches(&arrival))) {
                remaining[left] = arrival;
                left += 1;
                continue;
            }
            let (now, mut signal) = template.signal(&arrival, TO_ALL);
            if (ERRORS && !is_settled((sent.as_ref(), way), &mut arrival, &template, &mut signal))
                || !mac.overhear::<EIFS>(now, &signal, way.weak_frames)
            {
                remaining[left] = arrival;
                left += 1;
            } else if ERRORS && TO_ALL {
                // Too weak to be noticed, if it can be received at all.
                unnoticed += u64::from(arrival.receivable);
            }
        }
        self.left = left;
        self.meant += unnoticed;
        self.damaged += unnoticed;
    }

    /// Brings the first bit to those who remain, from the place `first` among them.
    #[inline(always)]
    fn serve_remaining(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        template: &Template,
        remaining: Vec<Arrival>,
        first: usize,
    ) -> Option<Heard> {
        let id = template.transmission;
        let mut heard = None;
        for (place, arrival) in remaining[..self.left].iter().enumerate().skip(first) {
            if let Some(ended) = self.arrive(clock, watch, arrival, template) {
                heard = Some(self.wait(arrival, template, ended, Then::Serve { id, place: place + 1 }));
                break;
            }
        }
        self.remaining = remaining;
        if heard.is_none() {
            self.begin_frame_ends(clock, watch, id);
        }
        heard
    }

    /// Puts the first bits of a transmission among those that are under way.
    fn queue_frame_starts(&mut self, clock: &mut Clock, watch: &mut Watching<'_>, template: &Template) {
        let (before, id) = (self.frame_starts.len(), template.transmission);
        let reached = self.index.arrivals(template.from.0, template.receive_m2);
        self.frame_starts.extend(reached.map(|arrival| FrameStart {
            due: template.start + Span(arrival.delay_ns.into()),
            arrival,
            transmission: id,
        }));
        self.transmissions[id as usize].unreached = self.frame_starts.len() - before;
        if self.frame_starts.len() == before {
            self.begin_frame_ends(clock, watch, id);
        }
        // No two are the same: a transmission reaches a node once.
        self.frame_starts.sort_unstable_by_key(|bit| Reverse((bit.due, bit.arrival.node, bit.transmission)));
    }

    /// Brings those first bits to their receivers that are due now or before anything else.
    pub(crate) fn deliver_frame_starts(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
    ) -> Option<Heard> {
        clock.agenda.set(self.frame_starts_slot, Time::NEVER);
        while let Some(mut bit) = self.frame_starts.pop() {
            assert!(bit.due >= clock.now, "a first bit arrives in the past");
            if bit.due > clock.now && !clock.move_on_to(bit.due, self.frame_starts_slot) {
                self.frame_starts.push(bit);
                return None;
            }
            let transmission = &mut self.transmissions[bit.transmission as usize];
            let Some(template) = transmission.template(bit.transmission, self.short_way) else {
                return Some(Heard { node: bit.arrival.node, id: bit.transmission, what: What::Missing });
            };
            transmission.unreached -= 1;
            let reached = (transmission.unreached == 0).then_some(bit.transmission);
            self.arrivals += 1;
            if !self.overhear(&mut bit.arrival, &template)
                && let Some(ended) = self.arrive(clock, watch, &bit.arrival, &template)
            {
                return Some(self.wait(&bit.arrival, &template, ended, Then::FrameStarts { reached }));
            }
            if let Some(id) = reached {
                self.begin_frame_ends(clock, watch, id);
            }
        }
        None
    }

    /// Brings a first bit to a node if it can go the short way; false, and nothing done, otherwise.
    fn overhear(&mut self, arrival: &mut Arrival, template: &Template) -> bool {
        let ShortWay { open, uses_eifs, weak_frames, .. } = self.short_way;
        let (now, mut signal) = template.signal(arrival, template.is_meant_for(arrival.node));
        if !open || template.followed_within != Span::ZERO {
            return false;
        }
        if self.has_errors {
            let noise = self.noise.as_deref().filter(|_| self.bit_errors.is_none());
            let sent = noise.map(|noise| template.judged_by(noise));
            if !is_settled((sent.as_ref(), self.short_way), arrival, template, &mut signal) {
                return false;
            }
        }
        let mac = &mut self.macs[arrival.node as usize];
        let is_overheard = if uses_eifs {
            mac.overhear::<true>(now, &signal, weak_frames)
        } else {
            mac.overhear::<false>(now, &signal, weak_frames)
        };
        let is_unnoticed = is_overheard & signal.wanted;
        self.meant += u64::from(is_unnoticed);
        self.damaged += u64::from(is_unnoticed);
        is_overheard
    }

    /// The first bit reaches a node. Not yet if the node must first act on a frame that ends at this very
    /// instant, which does not overlap the one that begins: then that transmission is returned.
    fn arrive(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        arrival: &Arrival,
        template: &Template,
    ) -> Option<u32> {
        let (now, mut signal) = template.signal(arrival, template.is_meant_for(arrival.node));
        clock.now = now;
        if let Some(ended) = self.macs[arrival.node as usize].received(now) {
            return Some(ended);
        }
        self.expect_last_bit(arrival, template, &mut signal);
        self.tell_mac(clock, watch, arrival.node, &signal);
        None
    }

    /// Draws errors of bits, and counts the node among those whom the last bit must reach.
    #[inline(always)]
    fn expect_last_bit(&mut self, arrival: &Arrival, template: &Template, signal: &mut Signal) {
        self.meant += u64::from(signal.wanted);
        if self.has_errors && signal.receivable {
            self.judge(arrival, template, signal);
        }
        if signal.wanted && signal.receivable && !template.tapped {
            let receivers = &mut self.transmissions[template.transmission as usize].receivers;
            receivers.push((arrival.delay_ns, arrival.node));
        }
    }

    /// The first bit waits until its node has acted on another frame.
    #[cold]
    fn wait(&mut self, arrival: &Arrival, template: &Template, ended: u32, then: Then) -> Heard {
        let node = arrival.node;
        let (_, mut signal) = template.signal(arrival, template.is_meant_for(node));
        self.expect_last_bit(arrival, template, &mut signal);
        self.awaiting = Some(Box::new(Awaiting { node, signal, then }));
        Heard { node, id: ended, what: What::Received }
    }

    /// The first bit that waited reaches its MAC, and what follows it goes on.
    #[cold]
    pub(super) fn end_waiting(&mut self, clock: &mut Clock, watch: &mut Watching<'_>) -> Option<Heard> {
        let Awaiting { node, signal, then } = *self.awaiting.take()?;
        self.tell_mac(clock, watch, node, &signal);
        match then {
            Then::Serve { id, place } => {
                let template = self.transmissions[id as usize].template(id, self.short_way)?;
                let remaining = std::mem::take(&mut self.remaining);
                self.serve_remaining(clock, watch, &template, remaining, place)
            }
            Then::FrameStarts { reached } => {
                if let Some(id) = reached {
                    self.begin_frame_ends(clock, watch, id);
                }
                self.deliver_frame_starts(clock, watch)
            }
        }
    }

    /// What noise and errors of bits make of a signal at a node that is strong enough to be decoded.
    #[inline(never)]
    fn judge(&mut self, arrival: &Arrival, template: &Template, signal: &mut Signal) {
        if self.noise.is_some() {
            self.judge_by_noise(arrival, template, signal);
        }
        let may_be_damaged = signal.receivable && !signal.damaged;
        let Some(errors) = self.bit_errors.as_deref_mut().filter(|_| may_be_damaged) else { return };
        signal.damaged = errors.damage(arrival.node, template.bytes, template.is_data);
        self.damaged += u64::from(signal.wanted && signal.damaged);
        if signal.damaged && signal.wanted && !self.timing.params().repeats_damaged {
            self.spoil(arrival.node, signal);
        }
    }

    /// What noise makes of a signal at a node.
    fn judge_by_noise(&mut self, arrival: &Arrival, template: &Template, signal: &mut Signal) {
        let Some(noise) = &self.noise else { return };
        let others_count = self.rules.counts_others_as_noise();
        // Nearly always the short way has asked, and found out.
        let asked = || template.judged_by(noise).fate_at(arrival.distance_m2, arrival.node);
        let fate = arrival.fate.unwrap_or_else(asked);
        let announced = others_count.then(|| template.judged_by(noise).draw(arrival.node));
        match fate {
            Fate::Intact => {}
            Fate::Damaged => signal.damaged = true,
            Fate::Unnoticed => {
                signal.damaged = true;
                template.weaken(signal);
            }
        }
        if let Some(draw) = announced {
            self.macs[arrival.node as usize].announce(template.bytes, draw);
        }
        self.damaged += u64::from(signal.wanted && signal.damaged);
        let is_noticed = signal.damaged && signal.receivable;
        if is_noticed && signal.wanted && !self.timing.params().repeats_damaged {
            self.spoil(arrival.node, signal);
        }
    }

    /// A damaged frame shall not be repeated: a data frame to one node is received, and what it carries lost.
    fn spoil(&mut self, node: u32, signal: &mut Signal) {
        let id = signal.transmission;
        if self.frame(id).is_some_and(|frame| frame.kind == FrameKind::Data && !frame.to.is_broadcast()) {
            signal.damaged = false;
            self.spoiled.push((id, node));
        }
    }

    /// The MAC gets a signal that begins now.
    #[inline(always)]
    fn tell_mac(&mut self, clock: &mut Clock, watch: &mut Watching<'_>, node: u32, signal: &Signal) {
        if watch.is_on() {
            return self.tell_watched(clock, watch, node, signal);
        }
        if self.macs[node as usize].handle_arrival(clock.now, signal, &self.timing, &self.rules) {
            self.set_mac_deadline(clock, node);
        }
    }

    /// The MAC gets a signal, and the recorder learns what it made of it.
    #[cold]
    fn tell_watched(&mut self, clock: &mut Clock, watch: &mut Watching<'_>, node: u32, signal: &Signal) {
        let before = self.macs[node as usize].awaited();
        if self.macs[node as usize].handle_arrival(clock.now, signal, &self.timing, &self.rules) {
            self.set_mac_deadline(clock, node);
        }
        watch.first_bit(clock.now, node, signal, before, &self.macs[node as usize]);
    }
}
