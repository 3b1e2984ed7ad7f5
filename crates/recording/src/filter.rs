//! Which events a recording keeps.

use std::collections::BTreeSet;

use manetlab_core::kernel::Time;
use manetlab_core::observe::{Event, Sending};
use manetlab_core::wire::{NodeId, Packet};
use serde_json::{Value, json};

use crate::schema;

/// Which events a recording keeps: those that every part allows. A part that is not set allows all.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// Events at these nodes, and frames that are addressed to one of them.
    pub nodes: Option<BTreeSet<u32>>,
    /// What belongs to one of these flows, and what belongs to none.
    pub flows: Option<BTreeSet<u32>>,
    /// Events of these kinds, see [`schema::kinds`].
    pub kinds: Option<BTreeSet<String>>,
    /// Events from this time on.
    pub from: Time,
    /// Events before this time.
    pub until: Time,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter { nodes: None, flows: None, kinds: None, from: Time::ZERO, until: Time::NEVER }
    }
}

impl Filter {
    /// As the head of a file says it.
    pub(crate) fn as_json(&self) -> Value {
        let until = (self.until != Time::NEVER).then(|| self.until.as_secs());
        let from = (self.from != Time::ZERO).then(|| self.from.as_secs());
        json!({"nodes": self.nodes, "flows": self.flows, "kinds": self.kinds, "from_s": from, "until_s": until})
    }

    /// May events of the kind be kept?
    pub(crate) fn allows_kind(&self, kind: &str) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(kind))
    }

    /// Which kinds may be kept, by their tables' numbers.
    pub(crate) fn kinds_mask(&self) -> u64 {
        let allowed = schema::kinds().filter(|table| self.allows_kind(table.name));
        allowed.fold(0, |mask, table| mask | 1 << table.id)
    }

    /// Is the event at a node and of a flow that are wanted?
    pub(crate) fn concerns(&self, node: NodeId, event: &Event<'_>) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| {
            nodes.contains(&node.0)
                || matches!(event, Event::Frame(sending) if nodes.contains(&sending.frame.to.0))
        }) && self.flows.as_ref().is_none_or(|flows| flow_of(event).is_none_or(|flow| flows.contains(&flow)))
    }

    /// Is the time wanted?
    pub(crate) fn covers(&self, time: Time) -> bool {
        self.from <= time && time < self.until
    }
}

/// The flow that an event belongs to, if it belongs to one.
fn flow_of(event: &Event<'_>) -> Option<u32> {
    let flow = match event {
        Event::Frame(Sending { packet, .. }) => packet.and_then(|packet| packet.flow),
        Event::Window { flow, .. } | Event::Share { flow, .. } | Event::Flow(flow, _) => Some(*flow),
        Event::Made(packet)
        | Event::Sent(packet, _)
        | Event::Arrived(packet, _)
        | Event::Delivered(packet)
        | Event::Marked(packet)
        | Event::Kept(packet)
        | Event::Dropped(packet, _) => Packet::flow(packet),
        _ => None,
    };
    flow.map(|flow| flow.0)
}
