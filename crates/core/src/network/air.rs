//! Frames on the air.
//!
//! A transmission is one entry of the event queue that walks its receivers in order of arrival. While the
//! next first bit comes before everything else that is due, the walk goes on without the queue.

use crate::kernel::{Slot, Span, Time};
use crate::mac::{Frame, Signal};
use crate::observe::RecordKind;
use crate::radio::Arrival;

use super::{Network, Target};

/// A frame on its way.
struct Transmission {
    slot: Slot,
    frame: Option<Frame>,
    start: Time,
    arrivals: Vec<Arrival>,
    next: usize,
}

/// All frames on their way; places are used again.
#[derive(Default)]
pub(super) struct Air {
    transmissions: Vec<Transmission>,
    free: Vec<u32>,
    /// First bits that reached receivers.
    pub(super) arrivals: u64,
}

impl Network {
    /// Puts a frame on the air.
    pub(super) fn transmit(&mut self, node: u32, frame: Frame) {
        self.meter.frame_sent(self.now, &frame);
        self.record(node, || RecordKind::Frame {
            kind: frame.kind,
            to: frame.to,
            bytes: frame.bytes,
            class: frame.class,
        });
        let at = self.air.free.pop().unwrap_or_else(|| {
            let at = self.air.transmissions.len() as u32;
            let slot = self.add_slot(Target::Air(at));
            self.air.transmissions.push(Transmission {
                slot,
                frame: None,
                start: Time::ZERO,
                arrivals: Vec::new(),
                next: 0,
            });
            at
        });
        let transmission = &mut self.air.transmissions[at as usize];
        self.index.arrivals(node, self.now, &mut transmission.arrivals);
        transmission.start = self.now;
        transmission.next = 0;
        transmission.frame = Some(frame);
        let due = transmission.due();
        self.agenda.set(transmission.slot, due);
    }

    /// The next first bits of a transmission arrive; or it is over and its place is free again.
    pub(super) fn continue_transmission(&mut self, at: u32) {
        loop {
            let transmission = &mut self.air.transmissions[at as usize];
            let Some(arrival) = transmission.arrivals.get(transmission.next).copied() else {
                transmission.frame = None;
                self.air.free.push(at);
                return;
            };
            transmission.next += 1;
            let signal = transmission.signal(at, &arrival);
            self.air.arrivals += 1;
            self.arrive(arrival.node, signal);
            let transmission = &self.air.transmissions[at as usize];
            let due = transmission.due();
            if transmission.next == transmission.arrivals.len()
                || due >= self.agenda.peek_time()
                || due >= self.end
            {
                self.agenda.set(transmission.slot, due);
                return;
            }
            self.now = due;
        }
    }

    fn arrive(&mut self, node: u32, signal: Signal) {
        if self.stations[node as usize].mac.next_received() <= self.now {
            // A frame that ends at this very instant does not overlap the one that begins.
            self.wake_mac(node);
        }
        self.stations[node as usize].mac.handle_arrival(self.now, signal, &self.timing, &self.rules);
        self.set_mac_deadline(node);
    }

    /// A node has received a transmission that it must act on.
    pub(super) fn receive(&mut self, node: u32, at: u32) {
        // The frame stays where it is; it is taken out only to lend it to the MAC.
        let Some(frame) = self.air.transmissions[at as usize].frame.take() else { return };
        self.with_mac(node, |mac, now, timing, actions| mac.handle_received(now, &frame, timing, actions));
        self.air.transmissions[at as usize].frame = Some(frame);
    }
}

impl Transmission {
    /// When the next first bit arrives; after the last, when the last receiver has had the last bit.
    fn due(&self) -> Time {
        match self.arrivals.get(self.next) {
            Some(arrival) => self.start + Span(arrival.delay_ns.into()),
            None => {
                let airtime = self.frame.as_ref().map_or(Span::ZERO, |frame| frame.airtime);
                let delay_ns = self.arrivals.last().map_or(0, |arrival| arrival.delay_ns);
                // One nanosecond more, so that no receiver still needs the frame.
                self.start + airtime + Span(u64::from(delay_ns) + 1)
            }
        }
    }

    fn signal(&self, at: u32, arrival: &Arrival) -> Signal {
        let (airtime, to, reserves) =
            self.frame.as_ref().map_or((Span::ZERO, crate::packet::NodeId::BROADCAST, Span::ZERO), |frame| {
                (frame.airtime, frame.to, frame.reserves)
            });
        Signal {
            end: self.start + Span(arrival.delay_ns.into()) + airtime,
            power_w: arrival.power_w,
            receivable: arrival.receivable,
            wanted: to.is_broadcast() || to.0 == arrival.node,
            reserves,
            transmission: at,
        }
    }
}
