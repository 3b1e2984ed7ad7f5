//! Last bits: frames end at those who must act on them, nearest first.

use crate::kernel::{Clock, Time};
use crate::observe::Watching;

use super::transmission::Phase;
use super::{Channel, Heard, What};

impl Channel {
    /// All first bits have arrived: those for whom the frame is meant wait for its last bit.
    pub(super) fn begin_frame_ends(&mut self, clock: &mut Clock, watch: &mut Watching<'_>, id: u32) {
        let transmission = &mut self.transmissions[id as usize];
        transmission.phase = Phase::FrameEnds;
        transmission.next = 0;
        transmission.receivers.sort_unstable();
        match transmission.next_end() {
            // A frame can be shorter than signals travel.
            Some(due) => clock.agenda.set(transmission.slot, due.max(clock.now)),
            None => self.end_transmission(clock.now, watch, id),
        }
    }

    /// The next last bit is due: it reaches its receiver, and others as long as nobody must act and nothing
    /// else comes first.
    pub(super) fn deliver_frame_ends(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        id: u32,
    ) -> Option<Heard> {
        self.reach_one(clock.now, id).or_else(|| self.reach_next_ends(clock, watch, id))
    }

    /// Goes on with the last bits that are due before anything else, until somebody must act.
    #[inline]
    pub(super) fn reach_next_ends(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        id: u32,
    ) -> Option<Heard> {
        while self.move_on(clock, watch, id) {
            let heard = self.reach_one(clock.now, id);
            if heard.is_some() {
                return heard;
            }
        }
        None
    }

    /// The last bit reaches the next receiver.
    #[inline(always)]
    fn reach_one(&mut self, now: Time, id: u32) -> Option<Heard> {
        let transmission = &mut self.transmissions[id as usize];
        let (_, node) = transmission.receivers[transmission.next];
        transmission.next += 1;
        let mac = &self.macs[node as usize];
        if mac.received(now) == Some(id) {
            Some(Heard { node, id, what: What::Received })
        } else if self.taps && mac.overheard(now) == Some(id) {
            Some(Heard { node, id, what: What::Overheard })
        } else {
            None
        }
    }

    /// Moves on to the next receiver's last bit if nothing else comes before it; else leaves it to the event
    /// queue. After the last receiver's the transmission has ended.
    #[inline(always)]
    fn move_on(&mut self, clock: &mut Clock, watch: &mut Watching<'_>, id: u32) -> bool {
        let transmission = &self.transmissions[id as usize];
        let Some(due) = transmission.next_end() else {
            self.end_transmission(clock.now, watch, id);
            return false;
        };
        // A frame can be shorter than signals travel: its last bits are then late, but in order of time.
        let due = due.max(clock.now);
        due == clock.now || clock.move_on_to(due, transmission.slot)
    }

    fn end_transmission(&mut self, now: Time, watch: &mut Watching<'_>, id: u32) {
        if let Some(frame) = self.frame(id) {
            watch.frame_ends(now, id, frame);
        }
        self.spoiled.retain(|&(other, _)| other != id);
        let transmission = &mut self.transmissions[id as usize];
        transmission.frame = None;
        transmission.receivers.clear();
        if id as usize >= self.macs.len() {
            self.free.push(id);
        }
    }
}
