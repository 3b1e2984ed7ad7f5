//! Where a run tells its recorder, if it has one. Each question for one is inline, and what follows it is
//! apart, so that nothing else is left of it in a run without a recorder.

use super::{Event, Recorder, Watch};
use crate::kernel::Time;
use crate::mac::{Dcf, Signal};
use crate::radio::Arrival;
use crate::routing::Routing;
use crate::scenario::Scenario;
use crate::wire::mac::Frame;

/// A recorder with what it needs, or nobody. Apart, because most runs have none.
#[derive(Default)]
pub(crate) struct Watching<'r>(Option<Box<Watch<'r>>>);

impl<'r> Watching<'r> {
    /// For this recorder, if there is one. `rates_bps`: the MAC's rates.
    pub(crate) fn new(
        recorder: Option<&'r mut dyn Recorder>,
        scenario: &Scenario,
        rates_bps: Vec<f64>,
    ) -> Watching<'r> {
        Watching(recorder.map(|recorder| Box::new(Watch::new(recorder, scenario, rates_bps))))
    }

    /// Is there a recorder?
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Tells the recorder, if there is one.
    #[inline]
    pub(crate) fn record<'e>(&mut self, now: Time, node: u32, event: impl FnOnce() -> Event<'e>) {
        if self.is_on() {
            self.make_record(now, node, event);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_record<'e>(&mut self, now: Time, node: u32, event: impl FnOnce() -> Event<'e>) {
        if let Some(watch) = &mut self.0 {
            watch.record(now, node, &event());
        }
    }

    /// The transmission of a frame starts, in this place among the transmissions.
    #[inline]
    pub(crate) fn frame_begins(&mut self, now: Time, node: u32, id: u32, frame: &Frame, mac: &Dcf) {
        if let Some(watch) = &mut self.0 {
            watch.frame_begins(now, node, id, frame, mac);
        }
    }

    /// The first bits of a frame for one node are about to arrive; `find` looks for what reaches that node.
    #[inline]
    pub(crate) fn addressee(&mut self, id: u32, find: impl FnOnce() -> Option<Arrival>) {
        if let Some(watch) = &mut self.0 {
            watch.addressee(id, find().map(|arrival| arrival.receivable));
        }
    }

    /// A node's MAC has got a signal; `before`: the transmission whose last bit it awaited until then.
    #[inline]
    pub(crate) fn first_bit(
        &mut self,
        now: Time,
        node: u32,
        signal: &Signal,
        before: Option<u32>,
        mac: &Dcf,
    ) {
        if let Some(watch) = &mut self.0 {
            watch.first_bit(now, node, signal, before, mac);
        }
    }

    /// The node has received a frame that it must act on.
    #[inline]
    pub(crate) fn received(&mut self, now: Time, node: u32, id: u32, frame: Option<&Frame>) {
        if let Some(watch) = &mut self.0 {
            watch.received(now, node, id, frame);
        }
    }

    /// All receivers of a transmission have its last bit.
    #[inline]
    pub(crate) fn frame_ends(&mut self, now: Time, id: u32, frame: &Frame) {
        if let Some(watch) = &mut self.0 {
            watch.frame_ends(now, id, frame);
        }
    }

    /// The interface queue may have another length.
    #[inline]
    pub(crate) fn queue(&mut self, now: Time, node: u32, length: usize) {
        if let Some(watch) = &mut self.0 {
            watch.queue(now, node, length as u32);
        }
    }

    /// Routing at the node has been called: its routes may have changed.
    #[inline]
    pub(crate) fn routes(&mut self, now: Time, node: u32, routing: &mut dyn Routing) {
        if let Some(watch) = &mut self.0 {
            watch.compare_routes(now, node, routing);
        }
    }

    /// The node has another routing, which knows nothing of the one before.
    pub(crate) fn routing_is_new(&mut self, node: u32) {
        if let Some(watch) = &mut self.0 {
            watch.routing_is_new(node);
        }
    }

    /// When routes are to be compared although nothing happens; never without a recorder.
    #[inline]
    pub(crate) fn routes_due(&self) -> Time {
        self.0.as_ref().map_or(Time::NEVER, |watch| watch.due())
    }

    /// Whose routes are due next, if they are one node's, and takes that off what is due.
    pub(crate) fn next_routes_due(&mut self) -> Option<u32> {
        self.0.as_mut().and_then(|watch| watch.next_due())
    }

    /// The run has reached its end.
    pub(crate) fn run_ends(&mut self, now: Time) {
        if let Some(watch) = &mut self.0 {
            watch.run_ends(now);
        }
    }
}
