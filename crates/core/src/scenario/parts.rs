//! What the nodes of a scenario are made of: their routing protocols, and what stands around routing.

use std::sync::Arc;

use super::{Line, RoutingMaker, Scenario};
use crate::kernel::{Purpose, Streams};
use crate::routing::{Place, StaticRoutes};
use crate::stage::{Asking, Insignia, InsigniaMode, Interceptor, Throttle, ThrottleMode, Wires, interceptor};
use crate::wire::insignia::REPORT_BYTES;
use crate::wire::{FlowId, IP_HEADER_BYTES, NodeId};

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
        if self.params.insignia.mode == InsigniaMode::On {
            return Some(Box::new(self.insignia(NodeId(node))));
        }
        let wires = (!self.wired.is_empty()).then(|| {
            let lines = self.wired.iter().flat_map(Line::both);
            let hosts = lines.filter(|line| line.from.0 == node).map(|line| line.to);
            let (hosts, node) = (hosts.collect(), NodeId(node));
            Wires { hosts, cell: self.cell_of(node), splits: self.splits_at(node) }
        });
        interceptor(NodeId(node), &self.params.tcp, wires)
    }

    /// INSIGNIA at a node.
    fn insignia(&self, node: NodeId) -> Insignia {
        let params = &self.params;
        let flows = (0..).map(FlowId).zip(&self.flows).filter(|(_, flow)| flow.src == node.0);
        let asking = flows.filter_map(|(id, flow)| {
            let (max_kbps, min_kbps) = flow.reserve_kbps()?;
            Some(Asking { flow: id, dst: NodeId(flow.dst), max_kbps, min_kbps })
        });
        let report_bytes = IP_HEADER_BYTES + params.network.udp_header_bytes + REPORT_BYTES;
        Insignia::new(node, &params.insignia, params.mac.data_rate_bps, report_bytes, asking.collect())
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
