//! The end of a run: the books are closed, the measures taken.

use crate::flow::FlowReport;
use crate::kernel::Time;
use crate::observe::{
    ConnectionTotals, CostTotals, FlowCost, FlowMeasures, FlowResult, LoadTotals, MacCount, Measures,
    MessageTotals, ProgressTotals, Receptions, RunResult, RunTotals, WebTotals,
};
use crate::scenario::Scenario;
use crate::topology::PathMeasures;
use crate::wire::mac::Body;
use crate::wire::{FlowId, Packet};

use super::delays::Delayed;
use super::{Network, Outcome, RunError};

impl Network<'_> {
    /// `paths`: the measures of each flow's shortest path, or nothing if they are not wanted.
    pub(super) fn into_outcome(
        self,
        scenario: &Scenario,
        paths: &[PathMeasures],
    ) -> Result<Outcome, RunError> {
        let mut held: Vec<Packet> = Vec::new();
        self.visit_held(&mut |packet| held.push(packet.clone()));
        let end = Time::from_secs(scenario.duration_s);
        let reports: Vec<FlowReport> = self.flows.iter().map(|of| of.flow.report(&self.meter, end)).collect();
        let transmitted = reports.iter().map(|report| report.transfer_sent_bytes).sum();
        let measures: Vec<FlowMeasures> = reports.iter().map(|report| report.measures.clone()).collect();
        let costs: Vec<(MacCount, u64, u64)> =
            (0..).zip(&reports).map(|(id, report)| self.cost(FlowId(id), report)).collect();
        let mut flows: Vec<FlowResult> =
            (0..).zip(reports).map(|(id, report)| self.flow_result(id, scenario, report)).collect();
        for (flow, (count, packets, bytes)) in flows.iter_mut().zip(&costs) {
            flow.cost = count.cost(*packets, *bytes);
        }
        for (flow, path) in flows.iter_mut().zip(paths) {
            flow.path = Some(path.clone());
        }
        let common = self.meter.totals(&measures, transmitted, self.receptions());
        let costs = CostTotals::of(costs.into_iter(), self.meter.air());
        let totals = RunTotals {
            loads: LoadTotals::of(&common, &costs),
            common,
            messages: MessageTotals::of(&measures),
            web: WebTotals::of(&measures),
            connections: ConnectionTotals::of(&flows),
            routes: self.meter.cached_routes.totals(),
            holds: self.meter.cached_routes.hold_totals(),
            progress: ProgressTotals::of(flows.iter().filter_map(|flow| flow.progress)),
            shares: self.meter.shares.totals(),
            costs,
        };
        let drops = self.meter.drop_counts();
        let audit = self.audit.close(held.iter(), self.flows.len())?;
        let result_hash = Measures { flows: &flows, totals: &totals, drops: &drops, audit: &audit }.hash();
        let (events, arrivals) = (self.events, self.air.arrivals);
        let result = RunResult { flows, totals, drops, audit, events, arrivals, result_hash };
        let series = self.sampler.into_series(self.meter.outages.all_repairs());
        Ok(Outcome { result, recording: None, series })
    }

    fn flow_result(&self, id: u32, scenario: &Scenario, report: FlowReport) -> FlowResult {
        let of = &self.flows[id as usize];
        FlowResult {
            id,
            src: of.src.0,
            dst: of.dst.0,
            start_s: scenario.flows[id as usize].start_s,
            measures: report.measures,
            connection: report.connection,
            rtp: report.rtp,
            progress: report.progress,
            cost: FlowCost::default(),
            path: None,
            route: self.routes.measures(self.end, FlowId(id)),
            rates: self.meter.shares.of(FlowId(id)),
        }
    }

    /// What a flow cost at the MACs, and the packets and payload bytes of it that arrived in the window.
    fn cost(&self, id: FlowId, report: &FlowReport) -> (MacCount, u64, u64) {
        let (count, packets, bytes) = self.meter.mac_count(id);
        (count, packets, report.stream_bytes.unwrap_or(bytes))
    }

    fn receptions(&self) -> Receptions {
        Receptions {
            meant: self.air.meant,
            collided: self.stations.iter().map(|station| station.mac.collisions()).sum(),
            damaged: self.bit_errors.as_ref().map(|_| self.air.damaged),
        }
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
        for delayed in self.delays.iter() {
            match delayed {
                Delayed::Down { packet, .. } | Delayed::OverWire { packet, .. } => visit(packet),
                Delayed::Up { body, .. } => visit_body(body, visit),
                Delayed::Enqueue { outgoing, .. } => visit_body(&outgoing.body, visit),
            }
        }
    }
}
