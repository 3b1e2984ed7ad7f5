//! The route request table (RFC 4728 §4.3): requests of others that were seen, and this node's own
//! discoveries.

use std::collections::{BTreeMap, VecDeque};

use crate::kernel::Time;
use crate::wire::NodeId;

use super::DsrParams;

/// How far this node's discovery of one target is.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// Attempts since the last success.
    attempts: u32,
    /// When the last attempt began.
    began: Time,
    /// Were only the neighbours asked in this attempt?
    neighbours_only: bool,
}

/// What to do about a packet that waits for a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Ask the neighbours.
    AskNeighbours,
    /// Ask everybody.
    AskAll,
    /// Nothing yet.
    Wait,
    /// This node has done what it may for packets of others.
    GiveUp,
}

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct RequestTable {
    /// By initiator, the one heard of last first: the numbers of its requests, the newest last.
    seen: VecDeque<(NodeId, VecDeque<u32>)>,
    searches: BTreeMap<NodeId, Search>,
    /// Grows whenever a search may have changed.
    version: u64,
}

impl RequestTable {
    /// Remembers a request; true if it is new.
    pub(super) fn remember(&mut self, initiator: NodeId, id: u32, params: &DsrParams) -> bool {
        let known = self.seen.iter().position(|(node, _)| *node == initiator);
        let mut entry =
            known.and_then(|at| self.seen.remove(at)).unwrap_or_else(|| (initiator, VecDeque::new()));
        let new = !entry.1.contains(&id);
        if new {
            entry.1.push_back(id);
            if entry.1.len() > params.request_table_ids as usize {
                entry.1.pop_front();
            }
        }
        self.seen.push_front(entry);
        self.seen.truncate(params.request_table_nodes as usize);
        new
    }

    /// Has the request been seen, or is it taken for one that has because it is not newer?
    pub(super) fn has_seen(&self, initiator: NodeId, id: u32, params: &DsrParams) -> bool {
        let known = |seen: &u32| *seen == id || (params.only_newer_requests && *seen > id);
        self.seen.iter().any(|(node, ids)| *node == initiator && ids.iter().any(known))
    }

    /// As long as this is the same, [`RequestTable::due`] gives the same answers.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// A packet waits for a route to `target`: what to do now; `own` if it is this node's.
    pub(super) fn step(&mut self, now: Time, target: NodeId, own: bool, params: &DsrParams) -> Step {
        self.version += 1;
        let start = Search { attempts: 0, began: Time::ZERO, neighbours_only: false };
        let search = self.searches.entry(target).or_insert(start);
        if search.attempts == 0 || now >= search.began + params.wait_after(search.attempts) {
            search.attempts += 1;
            search.began = now;
            search.neighbours_only = params.ring_zero || !own;
            if !own && search.attempts > params.salvage_requests {
                return Step::GiveUp;
            }
            return if search.neighbours_only { Step::AskNeighbours } else { Step::AskAll };
        }
        if own && search.neighbours_only && now >= search.began + params.nonprop_request_timeout() {
            search.neighbours_only = false;
            return Step::AskAll;
        }
        Step::Wait
    }

    /// When [`RequestTable::step`] next has something to do for a packet to `target`.
    pub(super) fn due(&self, target: NodeId, own: bool, params: &DsrParams) -> Time {
        match self.searches.get(&target) {
            Some(search) if search.attempts > 0 => {
                let again = search.began + params.wait_after(search.attempts);
                if own && search.neighbours_only {
                    again.min(search.began + params.nonprop_request_timeout())
                } else {
                    again
                }
            }
            _ => Time::ZERO,
        }
    }

    /// A route to `target` was found: the next discovery may begin at once.
    pub(super) fn succeed(&mut self, target: NodeId) {
        self.version += 1;
        self.searches.remove(&target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::at;

    const TARGET: NodeId = NodeId(9);

    fn exact() -> DsrParams {
        DsrParams::default()
    }

    /// §9: 30 ms for the neighbours, then 0.5 s, doubled up to 10 s.
    #[test]
    fn attempts_back_off_and_each_begins_with_the_neighbours() {
        let (mut table, params) = (RequestTable::default(), exact());
        let mut asked = Vec::new();
        let mut now = at(1.0);
        while now <= at(30.0) {
            match table.step(now, TARGET, true, &params) {
                Step::AskNeighbours => asked.push((now, "near")),
                Step::AskAll => asked.push((now, "all")),
                Step::Wait | Step::GiveUp => panic!("woken for nothing at {now:?}"),
            }
            now = table.due(TARGET, true, &params);
        }
        let begins = [1.0, 1.5, 2.5, 4.5, 8.5, 16.5, 26.5];
        let wanted: Vec<_> =
            begins.iter().flat_map(|&begin| [(at(begin), "near"), (at(begin + 0.03), "all")]).collect();
        assert_eq!(asked, wanted);
    }

    #[test]
    fn success_forgets_the_backoff() {
        let (mut table, params) = (RequestTable::default(), exact());
        assert_eq!(table.step(at(1.0), TARGET, true, &params), Step::AskNeighbours);
        assert_eq!(table.step(at(1.01), TARGET, true, &params), Step::Wait);
        table.succeed(TARGET);
        assert_eq!(table.step(at(1.02), TARGET, true, &params), Step::AskNeighbours);
    }

    /// ns-2.35: one request to neighbours for a salvaged packet, never one to all.
    #[test]
    fn for_packets_of_others_only_neighbours_are_asked_and_only_so_often() {
        let (mut table, params) = (RequestTable::default(), DsrParams::ns_2_35());
        assert_eq!(table.step(at(1.0), TARGET, false, &params), Step::AskNeighbours);
        assert_eq!(table.step(at(1.5), TARGET, false, &params), Step::Wait);
        assert_eq!(table.step(at(3.0), TARGET, false, &params), Step::GiveUp);
    }

    #[test]
    fn an_own_packet_asks_all_after_a_foreign_one_asked_neighbours() {
        let (mut table, params) = (RequestTable::default(), DsrParams::ns_2_35());
        table.step(at(1.0), TARGET, false, &params);
        assert_eq!(table.step(at(1.03), TARGET, true, &params), Step::AskAll);
    }

    #[test]
    fn requests_are_known_by_initiator_and_number() {
        let (mut table, params) = (RequestTable::default(), exact());
        assert!(table.remember(NodeId(1), 7, &params));
        assert!(!table.remember(NodeId(1), 7, &params));
        assert!(table.remember(NodeId(2), 7, &params));
        assert!(table.remember(NodeId(1), 6, &params), "an older one that comes later is new all the same");
        assert!(table.has_seen(NodeId(1), 7, &params));
    }

    /// ns-2.35 keeps one number an initiator, whichever it heard last.
    #[test]
    fn in_the_ns_2_set_a_request_must_be_newer_than_the_last_one() {
        let (mut table, params) = (RequestTable::default(), DsrParams::ns_2_35());
        table.remember(NodeId(1), 7, &params);
        let seen = |table: &RequestTable, id| table.has_seen(NodeId(1), id, &params);
        assert_eq!([6, 7, 8].map(|id| seen(&table, id)), [true, true, false]);
        assert!(!table.has_seen(NodeId(2), 6, &params));
        // A target answers older ones too, and remembers them.
        table.remember(NodeId(1), 5, &params);
        assert_eq!([5, 6, 7].map(|id| seen(&table, id)), [true, false, false]);
    }

    #[test]
    fn the_table_forgets_the_oldest_first() {
        let params = DsrParams { request_table_nodes: 2, request_table_ids: 2, ..exact() };
        let mut table = RequestTable::default();
        for id in 1..=3 {
            table.remember(NodeId(1), id, &params);
        }
        assert!(!table.has_seen(NodeId(1), 1, &params) && table.has_seen(NodeId(1), 2, &params));
        table.remember(NodeId(2), 1, &params);
        table.remember(NodeId(1), 4, &params);
        table.remember(NodeId(3), 1, &params);
        assert!(!table.has_seen(NodeId(2), 1, &params), "heard of least recently");
        assert!(table.has_seen(NodeId(1), 4, &params));
    }
}
