//! A run that is driven from outside, step by step, by somebody who has a clock.
//!
//! **Contract.** The driver asks [`Live::next_due`] when something is due next, waits as it likes, and calls
//! [`Live::advance`], which carries out all that is due up to an instant. What comes from outside reaches a
//! node's routing protocol, which the driver brings along: [`Live::wake`] calls its
//! [`Routing::handle_timeout`](crate::routing::Routing::handle_timeout) in an instant that no deadline names.
//! Instants never go back. The same calls with the same instants give the same run, whatever the time of day.

use crate::kernel::Time;
use crate::observe::{Options, Outcome, Recorder, RunError};
use crate::scenario::{RoutingMaker, Scenario};
use crate::wire::NodeId;

use crate::network::Network;

/// See the module's head.
pub struct Live<'r> {
    network: Network<'r>,
    scenario: &'r Scenario,
}

impl<'r> Live<'r> {
    /// A run at time zero, with all nodes started. The scenario's protocol is `custom`, and `make` is asked
    /// for every node's, in order of their numbers.
    ///
    /// # Errors
    /// When the scenario cannot be run.
    pub fn new(
        scenario: &'r Scenario,
        make: &'r mut RoutingMaker<'r>,
        recorder: Option<&'r mut dyn Recorder>,
    ) -> Result<Live<'r>, RunError> {
        scenario.check()?;
        scenario.check_own_protocol(true)?;
        let mut network = Network::new(scenario, Options::default(), Some(make), recorder);
        network.start();
        Ok(Live { network, scenario })
    }

    /// How far the run has come. It may be ahead of the last call by the time that a signal travels.
    pub fn now(&self) -> Time {
        self.network.clock.now
    }

    /// When something is due next; [`Time::NEVER`] if nothing is before the end.
    pub fn next_due(&mut self) -> Time {
        let due = self.network.clock.agenda.peek_time();
        if due < self.network.clock.end { due } else { Time::NEVER }
    }

    /// Carries out all that is due up to `until` and before the end.
    ///
    /// # Errors
    /// An invariant does not hold, or time would run backwards.
    pub fn advance(&mut self, until: Time) -> Result<(), RunError> {
        loop {
            let due = self.next_due();
            if due > until || due == Time::NEVER {
                break;
            }
            let Some((time, slot)) = self.network.clock.agenda.pop() else { break };
            self.network.step(time, slot)?;
        }
        self.network.check()
    }

    /// Wakes the routing protocol of `node` at `at`, or as soon after as the run has come already.
    ///
    /// # Errors
    /// Those of [`Live::advance`], which is carried out first.
    pub fn wake(&mut self, node: NodeId, at: Time) -> Result<(), RunError> {
        self.advance(at)?;
        let clock = &mut self.network.clock;
        clock.now = clock.now.max(at.min(clock.end));
        self.network.with_routing(node.0, |routing, now, actions| routing.handle_timeout(now, actions));
        self.network.check()
    }

    /// Ends the run at `at`, or at its end if that is earlier: closes the books and takes the measures.
    ///
    /// # Errors
    /// Those of [`Live::advance`], which is carried out first, or the packet audit fails.
    pub fn finish(mut self, at: Time) -> Result<Outcome, RunError> {
        self.advance(at)?;
        let clock = &mut self.network.clock;
        clock.end_by(at.max(clock.now));
        self.network.end()?;
        self.network.into_outcome(self.scenario, &[])
    }
}
