//! What TCs say: the topology set of RFC 3626 §4.4, and the messages that a node has had.

use std::collections::BTreeMap;

use super::quality::Cost;
use crate::kernel::{Span, Time};
use crate::routing::by_node::ByNode;
use crate::routing::seen::SeenRequests;
use crate::wire::NodeId;
use crate::wire::olsr::{Qualities, Tc};

/// Is `a` the newer of two numbers that go around (RFC 3626 §19)?
fn is_newer(a: u16, b: u16) -> bool {
    a != b && a.wrapping_sub(b) <= u16::MAX / 2
}

/// A link that a node has told.
#[derive(Clone, Copy, Debug)]
struct Link {
    to: NodeId,
    until: Time,
    qualities: Qualities,
    cost: Cost,
}

/// The links of one node.
#[derive(Debug, Default)]
struct Links {
    ansn: u16,
    /// In the order of the nodes to which they lead.
    all: Vec<Link>,
}

impl Links {
    /// Are these the links that are told, in the same order?
    fn are(&self, told: &[(NodeId, Qualities)]) -> bool {
        let known = self.all.iter().map(|link| (link.to, link.qualities));
        self.all.len() == told.len() && known.eq(told.iter().copied())
    }

    /// A link is told. Is it new, or of other qualities than before?
    fn tell(&mut self, link: Link) -> bool {
        match self.all.binary_search_by_key(&link.to, |each| each.to) {
            Ok(place) => std::mem::replace(&mut self.all[place], link).qualities != link.qualities,
            Err(place) => {
                self.all.insert(place, link);
                true
            }
        }
    }
}

/// The topology set.
#[derive(Default)]
pub(super) struct Topology {
    of: ByNode<Links>,
    /// Nothing ends before; none if there is nothing.
    look_at: Option<Time>,
}

impl Topology {
    /// A TC of `origin` (RFC 3626 §9.5). Are the links others than before?
    pub(super) fn learn(&mut self, origin: NodeId, until: Time, tc: &Tc) -> bool {
        let place = self.of.place(origin);
        let links = place.get_or_insert_default();
        let mut changed = false;
        if !links.all.is_empty() && is_newer(links.ansn, tc.ansn) {
            return false;
        }
        if links.are(&tc.advertised) {
            links.all.iter_mut().for_each(|link| link.until = until);
        } else {
            if tc.ansn != links.ansn {
                let is_told = |node: NodeId| tc.advertised.iter().any(|(told, _)| *told == node);
                let before = links.all.len();
                links.all.retain(|link| is_told(link.to));
                changed |= links.all.len() != before;
            }
            for &(to, qualities) in &*tc.advertised {
                changed |= links.tell(Link { to, until, qualities, cost: Cost::of(qualities) });
            }
        }
        links.ansn = tc.ansn;
        if links.all.is_empty() {
            *place = None;
        } else {
            self.look_at = Some(self.look_at.unwrap_or(Time::NEVER).min(until));
        }
        changed
    }

    /// When something ends.
    pub(super) fn next_timeout(&self) -> Time {
        self.look_at.unwrap_or(Time::NEVER)
    }

    /// What has ended by now: is there anything?
    pub(super) fn expire(&mut self, now: Time) -> bool {
        if self.next_timeout() > now {
            return false;
        }
        let mut changed = false;
        self.of.retain(|_, links| {
            let before = links.all.len();
            links.all.retain(|link| link.until > now);
            changed |= links.all.len() != before;
            !links.all.is_empty()
        });
        self.look_at = self.of.iter().flat_map(|(_, links)| links.all.iter().map(|link| link.until)).min();
        changed
    }

    /// All links, with the nodes that have told them first.
    pub(super) fn links(&self) -> impl Iterator<Item = [NodeId; 2]> + '_ {
        self.of.iter().flat_map(|(origin, links)| links.all.iter().map(move |link| [origin, link.to]))
    }

    fn all_of(&self, node: NodeId) -> &[Link] {
        self.of.get(node).map_or(&[], |links| &links.all)
    }

    /// The nodes to which `last_hop` has told links.
    pub(super) fn links_of(&self, last_hop: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.all_of(last_hop).iter().map(|link| link.to)
    }

    /// The same with the links' costs, without those that the other end does not tell of (olsrd 0.9.8).
    pub(super) fn costs_of(&self, last_hop: NodeId) -> impl Iterator<Item = (NodeId, Cost)> + '_ {
        let usable = self.all_of(last_hop).iter().filter(|link| !link.cost.is_broken());
        usable.filter(move |link| self.tells(link.to, last_hop)).map(|link| (link.to, link.cost))
    }

    fn tells(&self, from: NodeId, to: NodeId) -> bool {
        self.all_of(from).binary_search_by_key(&to, |link| link.to).is_ok()
    }

    /// Links that were told.
    pub(super) fn len(&self) -> usize {
        self.of.iter().map(|(_, links)| links.all.len()).sum()
    }
}

/// Messages that were passed on, or need not be.
pub(super) enum Duplicates {
    /// Each message (RFC 3626 §3.4).
    Exact(SeenRequests),
    /// The newest message of each node, and which of those before it came (olsrd 0.9.8).
    Window(BTreeMap<NodeId, Window>),
}

/// Numbers of one node's messages.
#[derive(Debug)]
pub(super) struct Window {
    newest: u16,
    /// Bit *i*: the message with number `newest` − *i* came.
    came: u32,
    /// Messages in a row that were older than the window.
    too_old: u32,
    until: Time,
}

/// From one more on the node is taken for restarted.
const MOST_TOO_OLD: u32 = 16;

impl Window {
    /// Counts a message; did it come before?
    fn came_before(&mut self, number: u16) -> bool {
        let ahead = number.wrapping_sub(self.newest) as i16;
        if ahead < -31 {
            self.too_old += 1;
            if self.too_old <= MOST_TOO_OLD {
                return true;
            }
            (self.newest, self.came, self.too_old) = (number, 1, 0);
            return false;
        }
        self.too_old = 0;
        if ahead <= 0 {
            let bit = 1 << -ahead;
            let before = self.came & bit != 0;
            self.came |= bit;
            return before;
        }
        self.came = self.came.checked_shl(ahead as u32).unwrap_or(0) | 1;
        self.newest = number;
        false
    }
}

impl Duplicates {
    pub(super) fn new(window: bool) -> Duplicates {
        if window { Duplicates::Window(BTreeMap::new()) } else { Duplicates::Exact(SeenRequests::default()) }
    }

    /// Messages, or their senders, that are remembered.
    pub(super) fn len(&self, now: Time) -> usize {
        match self {
            Duplicates::Exact(seen) => seen.len(now),
            Duplicates::Window(windows) => windows.values().filter(|window| window.until > now).count(),
        }
    }

    /// Has the message been processed before? olsrd looks at what a message says, not at its number.
    pub(super) fn is_processed(&self, now: Time, name: (NodeId, u16)) -> bool {
        match self {
            Duplicates::Exact(seen) => seen.holds(now, (name.0, name.1.into())),
            Duplicates::Window(_) => false,
        }
    }

    /// Records a message for `hold`; was it recorded before?
    pub(super) fn record(&mut self, now: Time, (origin, number): (NodeId, u16), hold: Span) -> bool {
        match self {
            Duplicates::Exact(seen) => {
                let before = seen.holds(now, (origin, number.into()));
                if !before {
                    seen.add(now, (origin, number.into()), now + hold);
                }
                before
            }
            Duplicates::Window(windows) => {
                let new = Window { newest: number, came: 0, too_old: 0, until: now + hold };
                let window = windows.entry(origin).or_insert(new);
                if window.until <= now {
                    *window = Window { newest: number, came: 0, too_old: 0, until: now + hold };
                }
                window.until = now + hold;
                window.came_before(number)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::at;

    #[test]
    fn numbers_go_around() {
        assert!(is_newer(1, 0) && is_newer(0, u16::MAX) && is_newer(32_767, 0));
        assert!(!is_newer(0, 0) && !is_newer(32_768, 0) && !is_newer(0, 1));
    }

    fn tc(ansn: u16, nodes: &[u32]) -> Tc {
        let advertised = nodes.iter().map(|node| (NodeId(*node), Qualities::default())).collect();
        Tc { ansn, has_qualities: false, advertised }
    }

    #[test]
    fn newer_links_replace_older_ones_and_older_ones_are_ignored() {
        let mut topology = Topology::default();
        let links = |topology: &Topology| topology.links_of(NodeId(1)).map(|node| node.0).collect::<Vec<_>>();
        assert!(topology.learn(NodeId(1), at(15.0), &tc(7, &[2, 3])));
        assert!(!topology.learn(NodeId(1), at(16.0), &tc(7, &[2])), "the same set, told in part");
        assert_eq!(links(&topology), [2, 3]);
        assert!(topology.learn(NodeId(1), at(17.0), &tc(8, &[2, 4])));
        assert_eq!(links(&topology), [2, 4]);
        assert!(!topology.learn(NodeId(1), at(18.0), &tc(7, &[5])));
        assert!(!topology.expire(at(16.9)) && topology.expire(at(17.0)), "nothing outlives its time");
        assert_eq!((topology.len(), topology.next_timeout()), (0, Time::NEVER));
        // Nothing is left that says which numbers are old.
        assert!(topology.learn(NodeId(1), at(30.0), &tc(3, &[5])));
        assert!(topology.learn(NodeId(1), at(31.0), &tc(4, &[])), "no links: an empty TC");
        assert_eq!(topology.len(), 0);
    }

    #[test]
    fn a_window_takes_a_node_for_restarted_after_seventeen_old_messages() {
        let mut duplicates = Duplicates::new(true);
        let mut came = |number| duplicates.record(at(1.0), (NodeId(1), number), Span::from_secs(120.0));
        assert!(!came(1000) && came(1000) && !came(1002) && !came(1001) && came(1001));
        assert!(!came(971) && came(971));
        assert!((0..16).all(|_| came(5)) && !came(5), "the seventeenth message");
        assert!(came(5) && !came(6));
    }

    #[test]
    fn a_message_is_remembered_for_its_time() {
        for window in [false, true] {
            let mut duplicates = Duplicates::new(window);
            let hold = Span::from_secs(30.0);
            assert!(!duplicates.record(at(1.0), (NodeId(1), 3), hold));
            assert!(duplicates.record(at(1.0), (NodeId(1), 3), hold));
            assert!(!duplicates.record(at(31.0), (NodeId(1), 3), hold), "window: {window}");
        }
    }
}
