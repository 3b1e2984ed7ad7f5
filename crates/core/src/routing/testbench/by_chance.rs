//! The suite holds a protocol that forwards by chance to the odds that it declares.
//!
//! What stands for such a protocol is flooding whose relays pass a packet on with a probability.

use std::sync::Arc;

use super::suite::{Pace, suite_at_pace};
use crate::drops::DropReason;
use crate::kernel::{Purpose, Stream, Streams, Time};
use crate::routing::flooding::{self, FloodingParams};
use crate::routing::{Action, Routing};
use crate::wire::{NodeId, Packet};

struct Gossip {
    flooding: Box<dyn Routing>,
    stream: Stream,
    /// The probability with which it passes a packet on, and that which it declares.
    forwards: f64,
    declares: f64,
}

impl Routing for Gossip {
    fn handle_start(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.flooding.handle_start(now, actions);
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        self.flooding.handle_outgoing(now, packet, actions);
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        let mut asked = Vec::new();
        self.flooding.handle_incoming(now, packet, from, &mut asked);
        for action in asked {
            actions.push(match action {
                Action::Broadcast { packet, .. } if self.stream.unit() >= self.forwards => {
                    Action::Drop(packet, DropReason::NotForwarded)
                }
                other => other,
            });
        }
    }

    fn handle_link_failure(&mut self, now: Time, packet: Packet, to: NodeId, actions: &mut Vec<Action>) {
        self.flooding.handle_link_failure(now, packet, to, actions);
    }

    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.flooding.handle_timeout(now, actions);
    }

    fn next_timeout(&self) -> Time {
        self.flooding.next_timeout()
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.flooding.buffered(visit);
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.flooding.next_hop(now, dst)
    }

    fn delivery_odds(&self, hops: u32) -> f64 {
        libm::pow(self.declares, f64::from(hops - 1))
    }
}

fn pass_the_suite(forwards: f64, declares: f64) {
    let make = move |node: NodeId| -> Box<dyn Routing> {
        let stream = |run| Streams::new(1, run).stream(node.0, Purpose::Routing);
        let flooding = flooding::new(node, &Arc::new(FloodingParams::default()), stream(0));
        Box::new(Gossip { flooding, stream: stream(1), forwards, declares })
    };
    suite_at_pace(&make, Pace { settled_s: 0.0, recovered_s: 1.0 });
}

#[test]
fn a_protocol_that_forwards_as_it_declares_passes() {
    pass_the_suite(0.7, 0.7);
}

#[test]
#[should_panic(expected = "arrived from 0 to 4")]
fn a_protocol_that_forwards_less_fails() {
    pass_the_suite(0.6, 0.7);
}

#[test]
#[should_panic(expected = "arrived from 0 to 4")]
fn a_protocol_that_forwards_more_fails() {
    pass_the_suite(0.8, 0.7);
}

#[test]
#[should_panic(expected = "not 40.0..=40.0")]
fn a_protocol_that_forwards_for_certain_may_lose_nothing() {
    pass_the_suite(0.7, 1.0);
}
