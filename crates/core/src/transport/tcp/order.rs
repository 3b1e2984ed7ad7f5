//! The order in which segments were sent, and what SMART (Keshav and Morgan 1997) concludes from it: what was
//! sent before something that has arrived, and has not arrived itself, is lost.
//!
//! Nobody knows which transmission of a segment has arrived that was sent more than once, so that only those
//! of new data tell of others.
//! *Deviations*: 52 in docs/models/tcp.md.

use std::collections::VecDeque;
use std::ops::Range;

/// The last transmissions of the outstanding segments, in the order of new data.
#[derive(Default)]
pub(super) struct Order {
    /// The first segment that is outstanding.
    una: u32,
    /// Of each segment from `una` on: the first one that is sent for the first time after its last
    /// transmission.
    followers: VecDeque<u32>,
}

impl Order {
    /// A segment is sent, for the first time or again. Then `sent_end` is one past the greatest number sent.
    pub(super) fn note_sent(&mut self, number: u32, sent_end: u32) {
        match self.followers.get_mut((number - self.una) as usize) {
            Some(follower) => *follower = sent_end,
            None => self.followers.push_back(sent_end),
        }
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn forget_below(&mut self, una: u32) {
        let acked = (una - self.una) as usize;
        self.followers.drain(..acked.min(self.followers.len()));
        self.una = una;
    }

    /// Has something arrived that was sent after `number`? What has arrived lies below `arrived_end`, the
    /// greatest number right below it.
    pub(super) fn is_overtaken(&self, number: u32, arrived_end: u32) -> bool {
        let place = number.checked_sub(self.una).map(|place| place as usize);
        place.and_then(|place| self.followers.get(place)).is_some_and(|&follower| follower < arrived_end)
    }

    /// The segments that are outstanding, whether they have arrived or not.
    pub(super) fn outstanding(&self) -> Range<u32> {
        self.una..self.una + self.followers.len() as u32
    }
}
