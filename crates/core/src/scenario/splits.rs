//! Which connections base stations make two of, and which nodes they serve.

use super::{Flow, FlowKind, Line, Scenario};
use crate::stage::{SplitFlow, Splits};
use crate::transport::tcp::BaseStationMode;
use crate::wire::{FlowId, NodeId};

impl Scenario {
    /// Does a base station split this flow's connection?
    pub(crate) fn is_split(&self, flow: FlowId) -> bool {
        !self.splitting_stations(&self.flows[flow.index()]).is_empty()
    }

    /// Does a base station split this flow's connection, and acknowledge only what has arrived?
    pub(crate) fn is_supervised(&self, flow: FlowId) -> bool {
        self.supervises() && self.is_split(flow)
    }

    fn supervises(&self) -> bool {
        self.params.tcp.base_station == BaseStationMode::MTcp
    }

    /// The flows whose connections this node splits.
    pub(crate) fn splits_at(&self, node: NodeId) -> Splits {
        let mut splits = Splits::new();
        for (id, flow) in (0..).zip(&self.flows) {
            let stations = self.splitting_stations(flow);
            let Some(place) = stations.iter().position(|&station| station == node) else { continue };
            let params = flow.tcp(self.params.tcp.clone());
            let towards_source = if place == 0 { params.clone() } else { params.of_second_connection() };
            let receiver = match self.supervises() {
                true => towards_source.of_supervisor(),
                false => towards_source.of_relay(),
            };
            splits.insert(
                FlowId(id),
                SplitFlow {
                    src: NodeId(flow.src),
                    dst: NodeId(flow.dst),
                    ttl: self.params.network.data_ttl as u8,
                    receiver,
                    sender: params.of_second_connection(),
                },
            );
        }
        splits
    }

    /// The nodes that AIRMAIL serves from this one: with wires it is a base station, and they are a hop of
    /// the radio away.
    pub(crate) fn cell_of(&self, node: NodeId) -> Vec<NodeId> {
        let lines = || self.wired.iter().flat_map(Line::both).filter(|line| line.from == node);
        if self.params.tcp.base_station != BaseStationMode::Airmail || lines().next().is_none() {
            return Vec::new();
        }
        let routes = self.static_routes();
        let is_served = |other: &NodeId| {
            routes.next_hop(node, *other) == Some(*other) && lines().all(|line| line.to != *other)
        };
        (0..self.movement.len() as u32).map(NodeId).filter(is_served).collect()
    }

    /// The base stations on the way of a flow that split its connection, from its source on: those with a
    /// wire to one of its ends, for M-TCP to its source, and not to both. ACKs must come back by them.
    fn splitting_stations(&self, flow: &Flow) -> Vec<NodeId> {
        let is_tcp = !flow.has_datagrams() && !matches!(flow.kind, FlowKind::Web { .. });
        let splits = matches!(self.params.tcp.base_station, BaseStationMode::Split | BaseStationMode::MTcp);
        if !splits || self.wired.is_empty() || !is_tcp {
            return Vec::new();
        }
        let joins = |a: NodeId, b: u32| {
            self.wired.iter().flat_map(Line::both).any(|line| (line.from, line.to) == (a, NodeId(b)))
        };
        let routes = self.static_routes();
        let between = |from: u32, to: u32| -> Vec<NodeId> {
            let next = |&node: &NodeId| routes.next_hop(node, NodeId(to));
            std::iter::successors(next(&NodeId(from)), next).take_while(|node| node.0 != to).collect()
        };
        let back = between(flow.dst, flow.src);
        let is_between = |node: &NodeId| {
            let (joins_src, joins_dst) = (joins(*node, flow.src), joins(*node, flow.dst));
            joins_src != joins_dst && (joins_src || !self.supervises()) && back.contains(node)
        };
        between(flow.src, flow.dst).into_iter().filter(is_between).collect()
    }
}
