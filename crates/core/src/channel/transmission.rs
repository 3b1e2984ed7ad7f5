//! A frame on its way, and what all its receivers get alike.

use crate::kernel::{Slot, Span, Time};
use crate::mac::{ShortWay, Signal};
use crate::radio::{Arrival, Noise, Sent};
use crate::wire::NodeId;
use crate::wire::mac::{Frame, FrameKind, Rate};

/// A frame on its way.
pub(super) struct Transmission {
    pub(super) slot: Slot,
    pub(super) frame: Option<Frame>,
    /// The squared distance up to which the frame can be received, in m².
    pub(super) receive_m2: f64,
    pub(super) start: Time,
    pub(super) phase: Phase,
    /// How many the first bit has not reached yet, in the phase of first bits.
    pub(super) unreached: usize,
    /// Does routing listen to the frame, whomever it is for?
    pub(super) tapped: bool,
    /// Those that the frame is meant for and strong enough for, or all for whom it is strong enough if
    /// routing listens: delay in nanoseconds and node, nearest first in the second phase.
    pub(super) receivers: Vec<(u32, u32)>,
    /// How many of them the last bit has reached.
    pub(super) next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nobody has been reached.
    Start,
    /// Nodes are being reached one after the other.
    FrameStarts,
    /// All have been reached; those that the frame is for wait for its last bit.
    FrameEnds,
}

impl Transmission {
    pub(super) fn new(slot: Slot) -> Transmission {
        Transmission {
            slot,
            frame: None,
            receive_m2: 0.0,
            start: Time::ZERO,
            phase: Phase::Start,
            unreached: 0,
            tapped: false,
            receivers: Vec::new(),
            next: 0,
        }
    }

    /// What all receivers get alike.
    pub(super) fn template(&self, id: u32, way: ShortWay) -> Option<Template> {
        let &Frame { kind, from, to, airtime, reserves, rate, bytes, .. } = self.frame.as_ref()?;
        Some(Template {
            start: self.start,
            from,
            to,
            airtime,
            rate,
            bytes,
            is_data: kind == FrameKind::Data,
            receive_m2: self.receive_m2,
            reported_m2: way.reported_m2(self.receive_m2),
            reserves: way.reserves(reserves),
            followed_within: way.followed_within(kind),
            transmission: id,
            tapped: self.tapped,
        })
    }

    /// When the last bit reaches the next receiver; none after the last.
    pub(super) fn next_end(&self) -> Option<Time> {
        let &(delay_ns, _) = self.receivers.get(self.next)?;
        Some(self.start + Span(delay_ns.into()) + self.frame.as_ref()?.airtime)
    }
}

/// What all receivers of a transmission get alike.
#[derive(Clone, Copy)]
pub(super) struct Template {
    pub(super) start: Time,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    airtime: Span,
    rate: Rate,
    pub(super) bytes: u32,
    pub(super) is_data: bool,
    pub(super) receive_m2: f64,
    /// [`ShortWay::reported_m2`]: one comparison for each receiver.
    reported_m2: [f64; 2],
    /// By whether the frame can be decoded.
    reserves: [Span; 2],
    /// [`Signal::followed_within`].
    pub(super) followed_within: Span,
    pub(super) transmission: u32,
    pub(super) tapped: bool,
}

impl Template {
    /// Is the frame for this node?
    #[inline(always)]
    pub(super) fn is_meant_for(&self, node: u32) -> bool {
        self.to.is_broadcast() || self.to.0 == node
    }

    /// The frame, of which noise decides.
    #[inline(always)]
    pub(super) fn judged_by<'n>(&self, noise: &'n Noise) -> Sent<'n> {
        noise.sent(self.rate.index(), self.bytes, self.from.0, self.start)
    }

    /// The header of a signal is lost: the frame cannot be decoded.
    pub(super) fn weaken(&self, signal: &mut Signal) {
        (signal.receivable, signal.reserves) = (false, self.reserves[0]);
        signal.reported = signal.distance_m2 <= self.reported_m2[0];
    }

    /// When the first bit reaches a receiver.
    #[inline(always)]
    pub(super) fn reaches(&self, arrival: &Arrival) -> Time {
        // Plain additions: a run's times are far from the end of time.
        Time(self.start.0 + u64::from(arrival.delay_ns))
    }

    /// What a receiver gets, and when; is the frame meant for it?
    #[inline(always)]
    pub(super) fn signal(&self, arrival: &Arrival, meant: bool) -> (Time, Signal) {
        let now = self.reaches(arrival);
        let signal = Signal {
            end: Time(now.0 + self.airtime.0),
            distance_m2: arrival.distance_m2,
            receivable: arrival.receivable,
            damaged: false,
            reported: arrival.distance_m2 <= self.reported_m2[1],
            rate: self.rate,
            wanted: meant & arrival.receivable,
            reserves: self.reserves[usize::from(arrival.receivable)],
            followed_within: self.followed_within,
            transmission: self.transmission,
        };
        (now, signal)
    }
}
