//! Which rate a station's unicast data frames have, neighbour by neighbour: fixed, or found out by ARF, AARF
//! or Minstrel.

mod aarf;
mod arf;
mod minstrel;

use aarf::Aarf;
use arf::Arf;
use minstrel::Minstrel;

use super::{RateControl, Timing};
use crate::kernel::Time;
use crate::wire::NodeId;
use crate::wire::mac::Rate;

/// The rates of a station's links. Broadcasts, RTS, CTS and ACKs do not ask it.
#[derive(Debug)]
pub(super) struct LinkRates {
    /// Links with a rate of their own, which stays.
    fixed: Vec<(NodeId, Rate)>,
    /// The rate of all other links; none if rate control finds it.
    of_others: Option<Rate>,
    /// What rate control knows of each neighbour, in the order in which they were first sent to.
    adaptive: Vec<(NodeId, Adaptive)>,
}

#[derive(Debug)]
enum Adaptive {
    Arf(Arf),
    Aarf(Aarf),
    Minstrel(Minstrel),
}

impl LinkRates {
    /// All links as the parameters say.
    pub(super) fn new(timing: &Timing) -> LinkRates {
        let is_fixed = timing.params().rate_control == RateControl::Fixed;
        LinkRates { fixed: Vec::new(), of_others: is_fixed.then_some(timing.data_rate), adaptive: Vec::new() }
    }

    /// Gives one link, or all that have none, a rate that stays.
    pub(super) fn fix(&mut self, to: Option<NodeId>, rate: Rate) {
        match to {
            Some(to) => self.fixed.push((to, rate)),
            None => self.of_others = Some(rate),
        }
    }

    /// Forgets what rate control has found.
    pub(super) fn restart(&mut self) {
        self.adaptive.clear();
    }

    /// The rate of the frame that is about to be sent.
    pub(super) fn rate(&mut self, now: Time, to: NodeId, timing: &Timing) -> Rate {
        match self.fixed_rate(to) {
            Some(rate) => rate,
            None => timing.ladder()[self.adaptive(to, timing).step(now)],
        }
    }

    /// A data frame to this neighbour was acknowledged.
    pub(super) fn handle_ack(&mut self, to: NodeId, timing: &Timing) {
        if self.fixed_rate(to).is_none() {
            self.adaptive(to, timing).handle_ack();
        }
    }

    /// A data frame to this neighbour was not.
    pub(super) fn handle_missing_ack(&mut self, now: Time, to: NodeId, timing: &Timing) {
        if self.fixed_rate(to).is_none() {
            self.adaptive(to, timing).handle_missing_ack(now);
        }
    }

    fn fixed_rate(&self, to: NodeId) -> Option<Rate> {
        let own = self.fixed.iter().find(|link| link.0 == to).map(|link| link.1);
        own.or(self.of_others)
    }

    fn adaptive(&mut self, to: NodeId, timing: &Timing) -> &mut Adaptive {
        let known = self.adaptive.iter().position(|link| link.0 == to);
        let at = known.unwrap_or_else(|| {
            self.adaptive.push((to, Adaptive::new(timing)));
            self.adaptive.len() - 1
        });
        &mut self.adaptive[at].1
    }
}

impl Adaptive {
    /// Begins at the data rate of the parameters.
    fn new(timing: &Timing) -> Adaptive {
        let (params, ladder) = (timing.params(), timing.ladder());
        let step = ladder.iter().position(|&rate| rate == timing.data_rate).unwrap_or_default();
        match params.rate_control {
            RateControl::Aarf => Adaptive::Aarf(Aarf::new(step, ladder.len(), params)),
            RateControl::Arf | RateControl::Fixed => Adaptive::Arf(Arf::new(step, ladder.len(), params)),
            RateControl::Minstrel => Adaptive::Minstrel(Minstrel::new(step, timing)),
        }
    }

    fn step(&mut self, now: Time) -> usize {
        match self {
            Adaptive::Arf(arf) => arf.step(now),
            Adaptive::Aarf(aarf) => aarf.step(now),
            Adaptive::Minstrel(minstrel) => minstrel.step(now),
        }
    }

    fn handle_ack(&mut self) {
        match self {
            Adaptive::Arf(arf) => arf.handle_ack(),
            Adaptive::Aarf(aarf) => aarf.handle_ack(),
            Adaptive::Minstrel(minstrel) => minstrel.handle_ack(),
        }
    }

    fn handle_missing_ack(&mut self, now: Time) {
        match self {
            Adaptive::Arf(arf) => {
                arf.handle_missing_ack(now);
            }
            Adaptive::Aarf(aarf) => aarf.handle_missing_ack(now),
            Adaptive::Minstrel(minstrel) => minstrel.handle_missing_ack(),
        }
    }
}
