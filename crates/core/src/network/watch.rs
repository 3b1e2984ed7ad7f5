//! Where a network tells its recorder, if it has one. Each question for one is inline, and what follows it is
//! apart, so that nothing else is left of it in a run without a recorder.

use super::Network;
use crate::kernel::Time;
use crate::mac::Signal;
use crate::observe::Event;
use crate::wire::NodeId;
use crate::wire::mac::Frame;

impl Network<'_> {
    /// Tells the recorder, if there is one.
    #[inline]
    pub(super) fn record<'e>(&mut self, node: u32, event: impl FnOnce() -> Event<'e>) {
        if self.watch.is_some() {
            self.make_record(node, event);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_record<'e>(&mut self, node: u32, event: impl FnOnce() -> Event<'e>) {
        if let Some(watch) = &mut self.watch {
            watch.record(self.now, node, &event());
        }
    }

    /// The transmission of a frame starts, in this place among the transmissions.
    #[inline]
    pub(super) fn watch_transmission(&mut self, node: u32, at: u32, frame: &Frame) {
        if let Some(watch) = &mut self.watch {
            watch.frame_begins(self.now, node, at, frame, &self.stations[node as usize].mac);
        }
    }

    /// The first bits of a transmission are about to arrive, as the index has computed.
    #[inline]
    pub(super) fn watch_addressee(&mut self, at: u32, from: NodeId, to: NodeId, receive_m2: f64) {
        if let Some(watch) = &mut self.watch
            && !to.is_broadcast()
        {
            let mut reached = self.index.arrivals(from.0, receive_m2);
            watch.addressee(
                at,
                reached.find(|arrival| arrival.node == to.0).map(|arrival| arrival.receivable),
            );
        }
    }

    /// Is there a recorder?
    #[inline]
    pub(super) fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// A first bit arrives at the node's MAC.
    #[cold]
    pub(super) fn watch_arrival(&mut self, node: u32, signal: &Signal) {
        let before = self.stations[node as usize].mac.awaited();
        self.tell_mac(node, signal);
        if let Some(watch) = &mut self.watch {
            watch.first_bit(self.now, node, signal, before, &self.stations[node as usize].mac);
        }
    }

    /// The node has received a frame that it must act on.
    #[inline]
    pub(super) fn watch_reception(&mut self, node: u32, at: u32) {
        if let Some(watch) = &mut self.watch {
            watch.received(self.now, node, at, self.air.frame(at));
        }
    }

    /// All receivers of a transmission have its last bit.
    #[inline]
    pub(super) fn watch_end(&mut self, at: u32) {
        if let (Some(watch), Some(frame)) = (&mut self.watch, self.air.frame(at)) {
            watch.frame_ends(self.now, at, frame);
        }
    }

    /// The interface queue may have another length.
    #[inline]
    pub(super) fn watch_queue(&mut self, node: u32) {
        if let Some(watch) = &mut self.watch {
            watch.queue(self.now, node, self.stations[node as usize].queue.len() as u32);
        }
    }

    /// Routing at the node has been called: its routes may have changed.
    #[inline]
    pub(super) fn watch_routes(&mut self, node: u32) {
        if let Some(watch) = &mut self.watch {
            watch.compare_routes(self.now, node, self.stations[node as usize].routing.as_mut());
            self.pause = self.pause.min(watch.due());
        }
    }

    /// When routes are to be compared although nothing happens; never without a recorder.
    pub(super) fn routes_due(&self) -> Time {
        self.watch.as_ref().map_or(Time::NEVER, |watch| watch.due())
    }

    /// Compares, one time after the other, the routes that are due by `time`: each ends when its time has
    /// come, and not when the next event happens.
    pub(super) fn compare_due_routes(&mut self, time: Time) {
        while self.routes_due() <= time {
            self.now = self.routes_due();
            match self.watch.as_mut().and_then(|watch| watch.next_due()) {
                Some(node) => self.watch_routes(node),
                None => (0..self.stations.len() as u32).for_each(|node| self.watch_routes(node)),
            }
        }
    }

    /// The run has reached its end.
    pub(super) fn watch_run_end(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.run_ends(self.now);
        }
    }
}
