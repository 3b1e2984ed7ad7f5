//! What a run keeps account of. The network says once what happens, and whoever counts it learns of it here:
//! the packet audit, the meter, the guesses why segments were lost, the routes that sources hold, the time
//! series and the recorder.

use super::{Audit, Event, FlowStep, LossGuesses, Meter, Options, Routes, Sampler, Watching};
use crate::drops::DropReason;
use crate::kernel::Time;
use crate::routing::{Notice, Routing};
use crate::scenario::Scenario;
use crate::wire::arp::ArpMessage;
use crate::wire::{FlowId, NodeId, Packet};

/// See the module's head.
pub(crate) struct Accounts<'r> {
    pub(crate) audit: Audit,
    pub(crate) meter: Meter,
    pub(crate) guesses: LossGuesses,
    /// The routes that sources hold, if they are wanted.
    pub(crate) routes: Routes,
    pub(crate) sampler: Sampler,
    pub(crate) watch: Watching<'r>,
}

impl<'r> Accounts<'r> {
    /// Those of a run of this scenario, so far without routes and without a recorder.
    pub(crate) fn new(scenario: &Scenario, options: Options) -> Accounts<'r> {
        let warmup = Time::from_secs(scenario.warmup_s);
        Accounts {
            audit: Audit::new(),
            meter: Meter::new(scenario, options.series_step.is_some()),
            guesses: LossGuesses::new(warmup, scenario.params.tcp.loss_predictor),
            routes: Routes::default(),
            sampler: Sampler::new(options.series_step),
            watch: Watching::default(),
        }
    }

    // Packets.

    /// Gives a packet that a protocol has just made its number.
    #[inline]
    pub(crate) fn number(&mut self, packet: &mut Packet) {
        if packet.uid == Packet::UNNUMBERED {
            packet.uid = self.audit.make(packet.flow());
        }
    }

    /// An endpoint has made a packet, which gets its number.
    pub(crate) fn make(&mut self, now: Time, packet: &mut Packet) {
        self.number(packet);
        self.guesses.note(packet);
        self.watch.record(now, packet.src.0, || Event::Made(packet));
    }

    /// IP at the node hands a packet down.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, node: u32, packet: &Packet, next_hop: NodeId) {
        self.meter.sent(now, NodeId(node), packet);
        self.watch.record(now, node, || Event::Sent(packet, next_hop));
    }

    /// A packet has reached its endpoint at the node: is it the first copy?
    pub(crate) fn delivered(&mut self, now: Time, node: u32, packet: &Packet) -> bool {
        let is_first = self.audit.deliver(packet);
        self.meter.arrived(packet);
        self.watch.record(now, node, || Event::Delivered(packet));
        is_first
    }

    /// A packet was dropped at the node.
    pub(crate) fn dropped(&mut self, now: Time, node: u32, packet: &Packet, reason: DropReason) {
        self.audit.drop(packet, reason);
        self.meter.dropped(now, packet, reason);
        self.watch.record(now, node, || Event::Dropped(packet, reason));
    }

    /// A message of ARP was dropped at the node.
    pub(crate) fn arp_dropped(&mut self, now: Time, node: u32, message: ArpMessage, reason: DropReason) {
        self.meter.arp_dropped(now, reason);
        self.watch.record(now, node, || Event::ArpDropped(message, reason));
    }

    // Routing and flows.

    /// Routing at the node tells the other layers something.
    pub(crate) fn noticed(&mut self, now: Time, node: u32, notice: Notice) {
        self.meter.noticed(now, NodeId(node), notice);
        self.watch.record(now, node, || Event::Notice(notice));
    }

    /// A flow that begins at the node has opened a connection, or closed it.
    pub(crate) fn set_open(&mut self, now: Time, node: NodeId, flow: FlowId, is_open: bool) {
        self.routes.set_open(now, flow, is_open);
        let step = if is_open { FlowStep::Opened } else { FlowStep::Closed };
        self.watch.record(now, node.0, || Event::Flow(flow, step));
    }

    /// Does anybody want to know which routes the node has?
    #[inline]
    pub(crate) fn want_routes(&self, node: u32) -> bool {
        self.routes.concern(node) || self.watch.is_on()
    }

    /// Routing at the node has been called: its routes may have changed.
    pub(crate) fn look_at_routes(&mut self, now: Time, node: u32, routing: &mut dyn Routing) {
        if self.routes.concern(node) {
            self.routes.look(now, node, |dst| routing.route_hops(now, dst));
        }
        self.watch.routes(now, node, routing);
    }

    /// When somebody wants to look at the network although nothing happens; never if nobody does.
    pub(crate) fn next_look(&self) -> Time {
        self.sampler.due().min(self.watch.routes_due())
    }
}
