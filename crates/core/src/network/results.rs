//! The end of a run: what is still held is looked for, the books are closed, the measures taken.

use crate::flow::Books;
use crate::observe::{Measures, RunResult};
use crate::scenario::Scenario;
use crate::topology::PathMeasures;
use crate::wire::Packet;
use crate::wire::mac::Body;

use super::delays::Delayed;
use super::{Network, Outcome, RunError};

impl Network<'_> {
    /// `paths`: the measures of each flow's shortest path, or nothing if they are not wanted.
    pub(super) fn into_outcome(
        mut self,
        scenario: &Scenario,
        paths: &[PathMeasures],
    ) -> Result<Outcome, RunError> {
        let mut held: Vec<Packet> = Vec::new();
        self.visit_held(&mut |packet| held.push(packet.clone()));
        let (meter, routes, receptions) = (&self.meter, &self.routes, self.channel.receptions());
        let guesses = (&self.guesses, &self.audit);
        let books = Books { scenario, meter, routes, receptions, guesses, paths, end: self.clock.end };
        let (flows, mut totals, delays) = books.results(self.flows.iter().map(|of| of.flow.as_ref()));
        let drops = self.meter.drop_counts();
        let losses = self.audit.losses();
        let audit = self.audit.close(held.iter(), self.flows.len())?;
        let result_hash = Measures { flows: &flows, totals: &totals, drops: &drops, audit: &audit }.hash();
        // Those with which nothing happened but a look at the network do not count.
        let (events, arrivals) = (self.events - self.clock.halts(), self.channel.arrivals);
        // Beside the hash: who counts energy gets the same hash as who does not.
        let delivered_bytes = totals.delivered_bytes(scenario.duration_s - scenario.warmup_s);
        totals.energy = self.channel.energy_totals(self.clock.end, delivered_bytes);
        let result = RunResult { flows, totals, drops, losses, delays, audit, events, arrivals, result_hash };
        let series = self.sampler.into_series(self.meter.outages.all_repairs());
        Ok(Outcome { result, recording: None, series })
    }

    /// Looks into every place where a packet can be.
    fn visit_held(&self, visit: &mut dyn FnMut(&Packet)) {
        let visit_body = |body: &Body, visit: &mut dyn FnMut(&Packet)| {
            if let Body::Ip(packet) = body {
                visit(packet);
            }
        };
        for (station, mac) in self.stations.iter().zip(&self.channel.macs) {
            station.routing.buffered(visit);
            station.arp.held().for_each(&mut *visit);
            station.queue.iter().for_each(|outgoing| visit_body(&outgoing.body, visit));
            if let Some(body) = mac.in_hand() {
                visit_body(body, visit);
            }
        }
        if let Some(stages) = &self.stages {
            stages.kept(visit);
        }
        for delayed in self.delays.iter() {
            match delayed {
                Delayed::Down { packet, .. } | Delayed::OverWire { packet, .. } => visit(packet),
                Delayed::Up { body, .. } => visit_body(body, visit),
                Delayed::Enqueue { outgoing, .. } => visit_body(&outgoing.body, visit),
            }
        }
    }
}
