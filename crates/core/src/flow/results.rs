//! The end of a run: from what flows report, and what was counted beside them, to the run's results.

use super::{Flow, FlowReport};
use crate::kernel::Time;
use crate::observe::{
    Audit, ConnectionTotals, CostTotals, DelayHistogram, FlowCost, FlowMeasures, FlowResult, GuessCounts,
    GuessMeasures, GuessTotals, LoadTotals, LossGuesses, MacCount, MessageTotals, Meter, ProgressTotals,
    Receptions, Routes, RunTotals, SplitTotals, SpuriousTotals, TimelinessTotals, Timely, VoiceTotals,
    WebTotals,
};
use crate::scenario::Scenario;
use crate::topology::PathMeasures;
use crate::wire::FlowId;

/// What was counted in a run.
pub(crate) struct Books<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) meter: &'a Meter,
    pub(crate) routes: &'a Routes,
    pub(crate) receptions: Receptions,
    /// The guesses why segments were lost, and what became of those.
    pub(crate) guesses: (&'a LossGuesses, &'a Audit),
    /// The measures of each flow's shortest path, or nothing if they are not wanted.
    pub(crate) paths: &'a [PathMeasures],
    /// The end of the run.
    pub(crate) end: Time,
}

impl Books<'_> {
    /// The results of the flows, which come in the scenario's order, of all together, and the histograms of
    /// those with a deadline.
    pub(crate) fn results<'f>(
        &self,
        flows: impl Iterator<Item = &'f dyn Flow>,
    ) -> (Vec<FlowResult>, RunTotals, Vec<DelayHistogram>) {
        let meter = self.meter;
        let reports: Vec<FlowReport> = flows.map(|flow| flow.report(meter, self.end)).collect();
        let transmitted = reports.iter().map(|report| report.transfer_sent_bytes).sum();
        let measures: Vec<FlowMeasures> = reports.iter().map(|report| report.measures.clone()).collect();
        let timely: Vec<Option<Timely>> =
            (0..).zip(&reports).map(|(id, report)| self.timely(id, report)).collect();
        let costs: Vec<(MacCount, u64, u64)> =
            (0..).zip(&reports).map(|(id, report)| self.cost(FlowId(id), report)).collect();
        let mut flows: Vec<FlowResult> =
            (0..).zip(reports).map(|(id, report)| self.flow_result(id, report)).collect();
        for (flow, (count, packets, bytes)) in flows.iter_mut().zip(&costs) {
            flow.cost = count.cost(*packets, *bytes);
        }
        for (flow, path) in flows.iter_mut().zip(self.paths) {
            flow.path = Some(path.clone());
        }
        for (flow, timely) in flows.iter_mut().zip(&timely) {
            flow.timeliness = timely.as_ref().map(|(.., measures)| measures.clone());
        }
        let common = meter.totals(&measures, transmitted, self.receptions);
        let costs = CostTotals::of(costs.into_iter(), meter.air());
        let totals = RunTotals {
            loads: LoadTotals::of(&common, &costs),
            common,
            messages: MessageTotals::of(&measures),
            voice: VoiceTotals::of(&measures),
            web: WebTotals::of(&measures),
            connections: ConnectionTotals::of(&flows),
            routes: meter.cached_routes.totals(),
            holds: meter.cached_routes.hold_totals(),
            progress: ProgressTotals::of(flows.iter().filter_map(|flow| flow.progress)),
            spurious: SpuriousTotals::of(flows.iter().filter_map(|flow| flow.spurious)),
            split: SplitTotals::of(flows.iter().filter_map(|flow| flow.split)),
            guesses: GuessTotals::of(flows.iter().filter_map(|of| self.guesses_of(of.id, &of.measures))),
            timeliness: TimelinessTotals::of(&timely.iter().flatten().collect::<Vec<_>>()),
            shares: meter.shares.totals(),
            reservations: meter.reservations.totals(),
            energy: None,
            costs,
        };
        let histograms = (0..).zip(&timely).filter_map(|(id, of)| Some(of.as_ref()?.0.histogram(id)));
        (flows, totals, histograms.collect())
    }

    /// How timely a flow is that has a deadline; none of others.
    fn timely(&self, id: u32, report: &FlowReport) -> Option<Timely> {
        let deadline_s = self.scenario.flows[id as usize].deadline_s(&self.scenario.params.network)?;
        let delays = report.delays.clone()?;
        let measures = delays.measures(deadline_s);
        Some((delays, deadline_s, measures))
    }

    fn flow_result(&self, id: u32, report: FlowReport) -> FlowResult {
        let of = &self.scenario.flows[id as usize];
        let guesses = self.guesses_of(id, &report.measures).map(GuessMeasures::of);
        FlowResult {
            id,
            src: of.src,
            dst: of.dst,
            start_s: of.start_s,
            measures: report.measures,
            connection: report.connection,
            rtp: report.rtp,
            progress: report.progress,
            spurious: report.spurious,
            split: report.split,
            guesses,
            timeliness: None,
            cost: FlowCost::default(),
            path: None,
            route: self.routes.measures(self.end, FlowId(id)),
            rates: self.meter.shares.of(FlowId(id)),
            reservation: self.meter.reservations.of(FlowId(id)),
        }
    }

    /// How well a flow of kind `tcp` guesses; none if nobody guesses, and of other flows.
    fn guesses_of(&self, id: u32, measures: &FlowMeasures) -> Option<GuessCounts> {
        let (guesses, audit) = self.guesses;
        if matches!(measures, FlowMeasures::Tcp(_)) { guesses.counts(FlowId(id), audit) } else { None }
    }

    /// What a flow cost at the MACs, and the packets and payload bytes of it that arrived in the window.
    fn cost(&self, id: FlowId, report: &FlowReport) -> (MacCount, u64, u64) {
        let (count, packets, bytes) = self.meter.mac_count(id);
        (count, packets, report.stream_bytes.unwrap_or(bytes))
    }
}
