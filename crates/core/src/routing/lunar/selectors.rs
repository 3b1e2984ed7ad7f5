//! The selectors of a node, and what each leads to.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::kernel::{Span, Stream, Time};
use crate::wire::NodeId;
use crate::wire::lunar::Selector;

/// What becomes of a packet with one of this node's selectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leads {
    /// Data goes to this neighbour, with the selector that the neighbour gave.
    On { to: NodeId, selector: Selector },
    /// Data is delivered here.
    Here,
    /// Answers go back to this neighbour, with the selector that the neighbour gave.
    Back { to: NodeId, selector: Selector },
    /// Answers are for this node, which has asked for `dst`.
    Asked { dst: NodeId },
}

/// Selectors that are alive, each until its time.
pub(super) struct Selectors {
    leads: BTreeMap<Selector, (Leads, Time)>,
    /// When the dead are next removed, so that this is not done for each new selector.
    sweep_at: Time,
}

impl Selectors {
    pub(super) fn new() -> Selectors {
        Selectors { leads: BTreeMap::new(), sweep_at: Time::ZERO }
    }

    /// A new selector, drawn at random from those that are not in use.
    pub(super) fn add(&mut self, now: Time, lifetime: Span, leads: Leads, stream: &mut Stream) -> Selector {
        if now >= self.sweep_at {
            self.leads.retain(|_, (_, until)| *until > now);
            self.sweep_at = now + lifetime;
        }
        loop {
            let selector = Selector(stream.bits());
            if let Entry::Vacant(vacant) = self.leads.entry(selector) {
                vacant.insert((leads, now + lifetime));
                return selector;
            }
        }
    }

    /// What a selector leads to, if it is alive.
    pub(super) fn get(&self, now: Time, selector: Selector) -> Option<Leads> {
        self.leads.get(&selector).filter(|(_, until)| *until > now).map(|(leads, _)| *leads)
    }

    /// A living selector lives `lifetime` from now.
    pub(super) fn prolong(&mut self, now: Time, lifetime: Span, selector: Selector) {
        if let Some((_, until)) = self.leads.get_mut(&selector).filter(|(_, until)| *until > now) {
            *until = now + lifetime;
        }
    }
}
