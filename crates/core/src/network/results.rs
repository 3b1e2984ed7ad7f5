//! The end of a run: what is still held is looked for, the books are closed, the measures taken.

use crate::flow::Books;
use crate::observe::{Measures, Outcome, RunError, RunResult};
use crate::scenario::Scenario;
use crate::station::Delayed;
use crate::topology::PathMeasures;
use crate::wire::Packet;
use crate::wire::mac::Body;

use super::Network;

impl Network<'_> {
    /// `paths`: the measures of each flow's shortest path, or nothing if they are not wanted.
    pub(crate) fn into_outcome(
        mut self,
        scenario: &Scenario,
        paths: &[PathMeasures],
    ) -> Result<Outcome, RunError> {
        let mut held: Vec<Packet> = Vec::new();
        self.visit_held(&mut |packet| held.push(packet.clone()));
        let (meter, routes, receptions) =
            (&self.accounts.meter, &self.accounts.routes, self.channel.receptions());
        let guesses = (&self.accounts.guesses, &self.accounts.audit);
        let books = Books { scenario, meter, routes, receptions, guesses, paths, end: self.clock.end };
        let (flows, mut totals, delays) = books.results(self.flows.iter());
        let drops = self.accounts.meter.drop_counts();
        let losses = self.accounts.audit.losses();
        let audit = self.accounts.audit.close(held.iter(), self.flows.len())?;
        let result_hash = Measures { flows: &flows, totals: &totals, drops: &drops, audit: &audit }.hash();
        // Those with which nothing happened but a look at the network do not count.
        let (events, arrivals) = (self.events - self.clock.halts(), self.channel.arrivals);
        // Beside the hash: who counts energy gets the same hash as who does not.
        let delivered_bytes = totals.delivered_bytes(scenario.duration_s - scenario.warmup_s);
        totals.energy = self.channel.energy_totals(self.clock.end, delivered_bytes);
        let result = RunResult { flows, totals, drops, losses, delays, audit, events, arrivals, result_hash };
        let series = self.accounts.sampler.into_series(self.accounts.meter.outages.all_repairs());
        Ok(Outcome { result, recording: None, series })
    }

    /// Looks into every place where a packet can be.
    fn visit_held(&self, visit: &mut dyn FnMut(&Packet)) {
        for (station, mac) in self.stations.iter().zip(&self.channel.macs) {
            station.visit_held(visit);
            mac.in_hand().and_then(Body::packet).into_iter().for_each(&mut *visit);
        }
        if let Some(stages) = &self.stages {
            stages.kept(visit);
        }
        self.delays.iter().filter_map(Delayed::packet).for_each(visit);
    }
}
