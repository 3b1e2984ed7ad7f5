//! What the nodes of a scenario are made of: their routing protocols, and what stands around routing.

use std::sync::Arc;

use super::{Line, RoutingMaker, Scenario};
use crate::kernel::{Purpose, Streams};
use crate::routing::{Place, StaticRoutes};
use crate::stage::{Interceptor, Throttle, ThrottleMode, Wires, interceptor};
use crate::wire::{IP_HEADER_BYTES, NodeId};

impl Scenario {
    /// What makes a node's routing protocol, one of the simulator's own.
    pub(crate) fn routing_maker(&self) -> Box<RoutingMaker<'static>> {
        self.routing.maker(&self.params).unwrap_or_else(|| {
            let routes = Arc::new(self.static_routes());
            Box::new(move |place: Place, _| Box::new(StaticRoutes::new(place.node(), Arc::clone(&routes))))
        })
    }

    /// A node's interceptor; none if the scenario needs none.
    pub(crate) fn interceptor(&self, node: u32) -> Option<Box<dyn Interceptor>> {
        let wires = (!self.wired.is_empty()).then(|| {
            let lines = self.wired.iter().flat_map(Line::both);
            let hosts = lines.filter(|line| line.from.0 == node).map(|line| line.to);
            Wires { hosts: hosts.collect(), splits: self.splits_at(NodeId(node)) }
        });
        interceptor(NodeId(node), &self.params.tcp, wires)
    }

    /// A node's throttle; none if the scenario throttles nothing.
    pub(crate) fn throttle(&self, node: u32) -> Option<Throttle> {
        let params = &self.params.throttle;
        if params.mode == ThrottleMode::Off {
            return None;
        }
        let stream = Streams::new(self.seed, self.replication).stream(node, Purpose::Shares);
        let udp_header_bytes = self.params.network.udp_header_bytes;
        Some(Throttle::new(NodeId(node), params, udp_header_bytes, self.own_flows(node), stream))
    }

    /// Bytes of headers of packets in which nodes announce the flows that they carry; none if they do not.
    pub(crate) fn announcement_headers(&self) -> Option<u32> {
        let params = &self.params;
        let announces = params.throttle.mode == ThrottleMode::Density;
        announces.then_some(IP_HEADER_BYTES + params.network.udp_header_bytes)
    }
}
