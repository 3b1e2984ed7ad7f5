//! Packets that come back to a node where they have been: the loops that packets really go through.
//!
//! Every step of a packet is one node handing it to the next. The time to live tells the steps of one copy
//! from those of another, because every hop takes one from it: the node that sends with time to live *k* got
//! the copy that was sent to it with *k* + 1. So copies that part (a MAC that missed an acknowledgement, a
//! packet that is sent another way) are not taken for a loop.

use std::collections::BTreeMap;

use super::recording::{RecordKind, Recording};
use crate::kernel::{Span, Time};
use crate::wire::NodeId;

/// One node hands a data packet to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// When.
    pub time: Time,
    /// The packet's number.
    pub uid: u64,
    /// Who sends it.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
    /// The time to live with which it is sent.
    pub ttl: u8,
}

/// A packet is sent to a node that had sent it on before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Return {
    /// The packet's number.
    pub uid: u64,
    /// The node to which it comes back.
    pub node: NodeId,
    /// When the node first sent it on.
    pub left: Time,
    /// When it was sent back to the node.
    pub back: Time,
}

impl Return {
    /// How long the packet was away.
    pub fn away(&self) -> Span {
        self.back.since(self.left)
    }
}

/// The steps of data packets in a recording, in order.
pub fn steps(recording: &Recording) -> Vec<Step> {
    let step = |record: &super::Record| match &record.kind {
        RecordKind::SentDown(note, to) if note.is_data() && !to.is_broadcast() => {
            Some(Step { time: record.time, uid: note.uid, from: record.node, to: *to, ttl: note.ttl })
        }
        _ => None,
    };
    recording.records().iter().filter_map(step).collect()
}

/// A copy's way so far: who sent it on, and when first.
type Way = Vec<(NodeId, Time)>;

/// All returns, in the order of `steps`, which is that of time.
pub fn returns(steps: &[Step]) -> Vec<Return> {
    let mut ways: BTreeMap<(u64, NodeId, u8), Way> = BTreeMap::new();
    let mut returns = Vec::new();
    for step in steps {
        let mut way = ways.get(&(step.uid, step.from, step.ttl)).cloned().unwrap_or_default();
        way.push((step.from, step.time));
        if let Some(&(node, left)) = way.iter().find(|(node, _)| *node == step.to) {
            returns.push(Return { uid: step.uid, node, left, back: step.time });
        }
        ways.insert((step.uid, step.to, step.ttl.saturating_sub(1)), way);
    }
    returns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(seconds: f64, from: u32, to: u32, ttl: u8) -> Step {
        Step { time: Time::from_secs(seconds), uid: 7, from: NodeId(from), to: NodeId(to), ttl }
    }

    #[test]
    fn a_loop_is_found_with_the_time_that_it_took() {
        let steps = [step(1.0, 0, 1, 9), step(2.0, 1, 2, 8), step(4.5, 2, 1, 7), step(5.0, 1, 2, 6)];
        let (left, back) = (Time::from_secs(2.0), Time::from_secs(4.5));
        let found = returns(&steps);
        assert_eq!(found[0], Return { uid: 7, node: NodeId(1), left, back });
        assert_eq!(found[1].node, NodeId(2), "and the next time round");
        assert_eq!((found.len(), found[0].away()), (2, Span::from_millis(2500)));
    }

    #[test]
    fn two_copies_that_cross_are_no_loop() {
        // 0 reaches 1, but does not learn it, and sends again over 2; one copy goes 0, 1, 2, the other 0, 2,
        // 1.
        let steps = [step(1.0, 0, 1, 9), step(1.1, 1, 2, 8), step(1.2, 0, 2, 9), step(1.3, 2, 1, 8)];
        assert_eq!(returns(&steps), []);
    }

    #[test]
    fn a_packet_that_is_sent_another_way_by_the_same_node_has_not_come_back() {
        let steps = [step(1.0, 0, 1, 9), step(2.0, 1, 2, 8), step(2.5, 1, 3, 8), step(3.0, 3, 4, 7)];
        assert_eq!(returns(&steps), []);
    }
}
