//! What the nodes of a scenario are made of: their routing protocols, and what stands around routing.

use std::sync::Arc;

use super::{Line, RoutingMaker, Scenario};
use crate::ifq::QueueDiscipline;
use crate::kernel::{Purpose, Slot, Streams};
use crate::routing::{Place, StaticRoutes};
use crate::stage::{
    Asking, Insignia, InsigniaMode, Interceptor, Stage, Stages, Throttle, ThrottleMode, Wires, interceptor,
};
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

    /// What stands around routing at the nodes, with slots in the order of [`Stage`]; none if nothing does.
    pub(crate) fn stages(&self, mut add_slot: impl FnMut(Stage, u32) -> Slot) -> Option<Stages> {
        let params = &self.params;
        let nodes = 0..self.movement.len() as u32;
        let mut stages = Stages {
            interceptors: Vec::new(),
            throttles: Vec::new(),
            queues: Vec::new(),
            announced: None,
            header_bytes: IP_HEADER_BYTES + params.network.udp_header_bytes,
        };
        for node in nodes.clone() {
            let made = self.interceptor(node);
            stages.interceptors.extend(made.map(|made| (made, add_slot(Stage::Interceptor, node))));
        }
        for node in nodes.clone() {
            let made = self.throttle(node);
            stages.throttles.extend(made.map(|made| (made, add_slot(Stage::Throttle, node))));
        }
        if params.queue.discipline == QueueDiscipline::NeighbourhoodRed {
            stages.queues = nodes.map(|node| add_slot(Stage::Queue, node)).collect();
        }
        if params.throttle.mode == ThrottleMode::Density {
            let flows = self.flows.iter();
            stages.announced = Some(flows.map(|flow| (NodeId(flow.src), NodeId(flow.dst))).collect());
        }
        (!stages.is_empty()).then_some(stages)
    }

    /// A node's interceptor; none if the scenario needs none.
    fn interceptor(&self, node: u32) -> Option<Box<dyn Interceptor>> {
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
    fn throttle(&self, node: u32) -> Option<Throttle> {
        let params = &self.params.throttle;
        if params.mode == ThrottleMode::Off {
            return None;
        }
        let stream = Streams::new(self.seed, self.replication).stream(node, Purpose::Shares);
        let udp_header_bytes = self.params.network.udp_header_bytes;
        Some(Throttle::new(NodeId(node), params, udp_header_bytes, self.own_flows(node), stream))
    }
}
