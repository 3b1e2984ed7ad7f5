//! What a node is made of: its MAC, and above that the interface queue, ARP and routing. What makes them,
//! also again when the node has crashed; and what is held back between them.

mod crashes;
mod delayed;
mod down;

use std::sync::Arc;

use crate::arp::Arp;
use crate::ifq::InterfaceQueue;
use crate::kernel::{Purpose, Slot, Streams};
use crate::mac::{Dcf, Timing};
use crate::mobility::Path;
use crate::routing::{Place, Routing};
use crate::scenario::{RoutingMaker, Scenario};
use crate::wire::mac::Body;
use crate::wire::{NodeId, Packet};

pub(crate) use crashes::{Crashes, Step};
pub(crate) use delayed::Delayed;

/// One node, without its MAC, which is with the channel.
pub(crate) struct Station {
    pub(crate) queue: InterfaceQueue,
    pub(crate) arp: Arp,
    pub(crate) routing: Box<dyn Routing>,
    pub(crate) routing_slot: Slot,
}

impl Station {
    /// Calls `visit` for every packet that the node holds above its MAC.
    pub(crate) fn visit_held(&self, visit: &mut dyn FnMut(&Packet)) {
        self.routing.buffered(visit);
        self.arp.held().for_each(&mut *visit);
        self.queue.iter().filter_map(|outgoing| outgoing.body.packet()).for_each(visit);
    }

    /// All that the node holds above its MAC, ARP's messages in the queue included.
    fn held(&self) -> Vec<Body> {
        let mut held = Vec::new();
        self.routing.buffered(&mut |packet| held.push(Body::Ip(packet.clone())));
        held.extend(self.arp.held().cloned().map(Body::Ip));
        held.extend(self.queue.iter().map(|outgoing| outgoing.body.clone()));
        held
    }
}

/// What makes the nodes of a scenario.
pub(crate) struct Maker<'r> {
    scenario: &'r Scenario,
    paths: Arc<[Path]>,
    streams: Streams,
    routing: RoutingSource<'r>,
}

/// What makes routing protocols.
enum RoutingSource<'r> {
    Own(Box<RoutingMaker<'static>>),
    Custom(&'r mut RoutingMaker<'r>),
}

impl<'r> Maker<'r> {
    /// For nodes that move on these paths. `custom`: what makes routing protocols that the caller of the run
    /// brings along.
    pub(crate) fn new(
        scenario: &'r Scenario,
        paths: Arc<[Path]>,
        custom: Option<&'r mut RoutingMaker<'r>>,
    ) -> Maker<'r> {
        let own = || RoutingSource::Own(scenario.routing_maker());
        let routing = custom.map_or_else(own, RoutingSource::Custom);
        Maker { scenario, paths, streams: Streams::new(scenario.seed, scenario.replication), routing }
    }

    /// A node's MAC.
    pub(crate) fn mac(&self, node: u32, timing: &Timing) -> Dcf {
        let mut mac = Dcf::new(NodeId(node), timing, self.streams.stream(node, Purpose::Mac));
        for own in self.scenario.rates.iter().filter(|rate| rate.src == node) {
            mac.fix_rate(own.dst.map(NodeId), timing.rate(own.rate_bps));
        }
        mac
    }

    /// A node without its MAC, as it is at the beginning.
    pub(crate) fn station(&mut self, node: u32, routing_slot: Slot) -> Station {
        let (queue, arp) = self.link_layer(node, 0);
        Station { queue, arp, routing: self.routing(node, 0), routing_slot }
    }

    /// The interface queue and ARP of a node that has started anew so often.
    fn link_layer(&self, node: u32, starts: u32) -> (InterfaceQueue, Arp) {
        let streams = self.streams.of_draw(starts.into());
        let params = &self.scenario.params;
        let queue = InterfaceQueue::new(&params.queue, streams.stream(node, Purpose::Queue));
        (queue, Arp::new(NodeId(node), &params.arp, streams.stream(node, Purpose::Arp)))
    }

    /// The routing of a node that has started anew so often.
    fn routing(&mut self, node: u32, starts: u32) -> Box<dyn Routing> {
        let stream = self.streams.of_draw(starts.into()).stream(node, Purpose::Routing);
        let place = Place::new(NodeId(node), Arc::clone(&self.paths));
        match &mut self.routing {
            RoutingSource::Own(make) => make(place, stream),
            RoutingSource::Custom(make) => make(place, stream),
        }
    }
}
