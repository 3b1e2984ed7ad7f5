//! The end of a run: the books are closed, the measures taken.

use crate::observe::{
    CostTotals, FlowCost, FlowMeasures, FlowResult, MacCount, Measures, MessageTotals, RunResult, RunTotals,
    WebTotals,
};
use crate::scenario::Scenario;
use crate::wire::mac::Body;
use crate::wire::{FlowId, Packet};

use super::flows::{TcpFlow, Transport};
use super::{Delayed, Network, Outcome, RunError};

impl Network {
    pub(super) fn into_outcome(self, scenario: &Scenario) -> Result<Outcome, RunError> {
        let mut held: Vec<Packet> = Vec::new();
        self.visit_held(&mut |packet| held.push(packet.clone()));
        let mut flows: Vec<FlowResult> =
            (0..self.flows.len() as u32).map(|id| self.flow_result(id, scenario)).collect();
        let measures: Vec<FlowMeasures> = flows.iter().map(|flow| flow.measures.clone()).collect();
        let costs: Vec<(MacCount, u64, u64)> =
            (0..).zip(&measures).map(|(id, of)| self.cost(id, of)).collect();
        for (flow, (count, packets, bytes)) in flows.iter_mut().zip(&costs) {
            flow.cost = count.cost(*packets, *bytes);
        }
        let totals = RunTotals {
            common: self.meter.totals(&measures, self.transmitted_tcp_bytes(), self.receptions()),
            messages: MessageTotals::of(&measures),
            web: WebTotals::of(&measures),
            costs: CostTotals::of(costs.into_iter()),
        };
        let drops = self.meter.drop_counts();
        let audit = self.audit.close(held.iter(), self.flows.len())?;
        let result_hash = Measures { flows: &flows, totals: &totals, drops: &drops, audit: &audit }.hash();
        let (events, arrivals) = (self.events, self.air.arrivals);
        let result = RunResult { flows, totals, drops, audit, events, arrivals, result_hash };
        let series = self.sampling.into_series(&self.meter.outages);
        Ok(Outcome { result, recording: self.recording, series })
    }

    fn flow_result(&self, id: u32, scenario: &Scenario) -> FlowResult {
        let flow = &self.flows[id as usize];
        let measures = match &flow.transport {
            Transport::Tcp(tcp) => FlowMeasures::Tcp(self.meter.tcp_measures(
                FlowId(id),
                flow.start,
                (tcp.sender.counters(), &tcp.at_warmup.0),
                (tcp.receiver.counters(), &tcp.at_warmup.1),
                tcp.completed,
            )),
            Transport::Cbr(_) => FlowMeasures::Cbr(self.meter.cbr_measures(FlowId(id))),
            Transport::Messages(messages) => self.message_measures(id, messages, scenario),
            Transport::Web(web) => self.web_measures(id, web, scenario),
        };
        let start_s = scenario.flows[id as usize].start_s;
        let rtp = self.rtp_measures(id, scenario);
        FlowResult { id, src: flow.src.0, dst: flow.dst.0, start_s, measures, rtp, cost: FlowCost::default() }
    }

    /// What a flow cost at the MACs, and the packets and payload bytes of it that arrived in the window.
    fn cost(&self, id: u32, measures: &FlowMeasures) -> (MacCount, u64, u64) {
        let (count, packets, bytes) = self.meter.mac_count(FlowId(id));
        let in_order =
            |tcp: &TcpFlow| tcp.receiver.counters().bytes_in_order - tcp.at_warmup.1.bytes_in_order;
        let bytes = match measures {
            FlowMeasures::Web(web) => web.delivered_bytes,
            _ => self.flows[id as usize].transport.tcp().map_or(bytes, in_order),
        };
        (count, packets, bytes)
    }

    fn transmitted_tcp_bytes(&self) -> u64 {
        self.flows
            .iter()
            .map(|flow| match &flow.transport {
                Transport::Tcp(tcp) => tcp.sender.counters().bytes_sent - tcp.at_warmup.0.bytes_sent,
                Transport::Cbr(_) | Transport::Messages(_) | Transport::Web(_) => 0,
            })
            .sum()
    }

    /// Frames that reached nodes that they were meant for, and those of them that collisions destroyed.
    fn receptions(&self) -> (u64, u64) {
        let collided = self.stations.iter().map(|station| station.mac.collisions()).sum();
        (self.air.meant, collided)
    }

    /// Looks into every place where a packet can be.
    fn visit_held(&self, visit: &mut dyn FnMut(&Packet)) {
        let visit_body = |body: &Body, visit: &mut dyn FnMut(&Packet)| {
            if let Body::Ip(packet) = body {
                visit(packet);
            }
        };
        for station in &self.stations {
            station.routing.buffered(visit);
            station.arp.held().for_each(&mut *visit);
            station.queue.iter().for_each(|outgoing| visit_body(&outgoing.body, visit));
            if let Some(body) = station.mac.in_hand() {
                visit_body(body, visit);
            }
        }
        self.visit_kept(visit);
        let conveyed = self.conveyors.iter().flat_map(|conveyor| &conveyor.waiting).map(|(_, what)| what);
        let delayed = self.delayed.values();
        for delayed in conveyed.chain(delayed) {
            match delayed {
                Delayed::Down { packet, .. } => visit(packet),
                Delayed::Up { body, .. } => visit_body(body, visit),
                Delayed::Enqueue { outgoing, .. } => visit_body(&outgoing.body, visit),
            }
        }
    }
}
