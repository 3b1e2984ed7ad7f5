//! What a node knows from beacons: its neighbours, links near it, and the core nodes up to three hops away.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::kernel::Time;
use crate::wire::NodeId;
use crate::wire::cedar::{Beacon, Near, Nodes};

/// The last beacon of a neighbour.
struct Heard {
    beacon: Beacon,
    lost_at: Time,
    /// Does the beacon name this node?
    two_way: bool,
}

/// See the module's head.
pub(super) struct Neighbourhood {
    node: NodeId,
    heard: BTreeMap<NodeId, Heard>,
    /// Links that have broken, the lower number first, and until when they are not used.
    broken: BTreeMap<[NodeId; 2], Time>,
}

impl Neighbourhood {
    pub(super) fn new(node: NodeId) -> Neighbourhood {
        Neighbourhood { node, heard: BTreeMap::new(), broken: BTreeMap::new() }
    }

    /// Takes note of a beacon. True if its sender was a neighbour that heard this node, and does no longer.
    pub(super) fn hear(&mut self, from: NodeId, beacon: Beacon, lost_at: Time) -> bool {
        let two_way = beacon.neighbours.contains(&self.node) || beacon.heard.contains(&self.node);
        let before = self.heard.insert(from, Heard { beacon, lost_at, two_way });
        before.is_some_and(|before| before.two_way) && !two_way
    }

    /// A neighbour says itself that it has chosen this node.
    pub(super) fn joins(&mut self, from: NodeId) {
        if let Some(heard) = self.heard.get_mut(&from) {
            heard.beacon.dominator = Some(self.node);
        }
    }

    /// A link that has broken is not used until then.
    pub(super) fn note_broken(&mut self, [a, b]: [NodeId; 2], until: Time) {
        self.broken.insert([a.min(b), a.max(b)], until);
    }

    /// Forgets what has ended, and names the neighbours that are lost.
    pub(super) fn expire(&mut self, now: Time) -> Vec<NodeId> {
        self.broken.retain(|_, until| *until > now);
        let lost = self.heard.iter().filter(|(_, heard)| heard.lost_at <= now).map(|(node, _)| *node);
        let lost: Vec<NodeId> = lost.collect();
        self.heard.retain(|_, heard| heard.lost_at > now);
        lost
    }

    /// When the next neighbour is lost.
    pub(super) fn next_timeout(&self) -> Time {
        let ends = self.heard.values().map(|heard| heard.lost_at).chain(self.broken.values().copied());
        ends.fold(Time::NEVER, Time::min)
    }

    pub(super) fn len(&self) -> usize {
        self.heard.len() + self.broken.len()
    }

    /// The neighbours that hear this node, with their last beacons.
    pub(super) fn neighbours(&self) -> impl Iterator<Item = (NodeId, &Beacon)> {
        self.heard.iter().filter(|(_, heard)| heard.two_way).map(|(node, heard)| (*node, &heard.beacon))
    }

    /// The nodes that are heard and do not hear this node.
    pub(super) fn one_way(&self) -> impl Iterator<Item = NodeId> {
        self.heard.iter().filter(|(_, heard)| !heard.two_way).map(|(node, _)| *node)
    }

    /// The last beacon of a neighbour that hears this node.
    pub(super) fn beacon_of(&self, node: NodeId) -> Option<&Beacon> {
        self.heard.get(&node).filter(|heard| heard.two_way).map(|heard| &heard.beacon)
    }

    /// May packets be sent to this neighbour?
    pub(super) fn may_send_to(&self, now: Time, node: NodeId) -> bool {
        self.beacon_of(node).is_some() && self.is_whole(now, [self.node, node])
    }

    fn is_whole(&self, now: Time, [a, b]: [NodeId; 2]) -> bool {
        self.broken.get(&[a.min(b), a.max(b)]).is_none_or(|until| *until <= now)
    }

    /// Core nodes up to three hops away, each with the nodes that lead to it, itself last. Of several ways
    /// the shortest is taken, then that over the lowest numbers.
    pub(super) fn tunnels(&self) -> BTreeMap<NodeId, Vec<NodeId>> {
        let mut found: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut offer = |path: Vec<NodeId>| {
            let Some(&core) = path.last() else { return };
            let known = found.get(&core).map(|known| (known.len(), known.clone()));
            if known.is_none_or(|known| (path.len(), path.clone()) < known) {
                found.insert(core, path);
            }
        };
        for (node, beacon) in self.neighbours() {
            if beacon.effective_degree > 0 {
                offer(vec![node]);
            }
            let others = beacon.near.iter().filter(|near| ![near.core, near.over].contains(&self.node));
            for &Near { core, over } in others.filter(|near| near.core != node && near.over != node) {
                offer(if over == core { vec![node, core] } else { vec![node, over, core] });
            }
        }
        found
    }

    /// The core nodes that this node tells its neighbours of.
    pub(super) fn near(&self) -> Vec<Near> {
        let tunnels = self.tunnels();
        let short = tunnels.into_iter().filter(|(_, path)| path.len() <= 2);
        short.map(|(core, path)| Near { core, over: path[0] }).collect()
    }

    /// All links that this node knows, from both of their ends: its own, those that its neighbours tell, and
    /// those of the tunnels. Of its own links it believes itself alone.
    fn links(&self, now: Time) -> BTreeSet<[NodeId; 2]> {
        let own = self.neighbours().map(|(node, _)| [self.node, node]);
        let told = self.neighbours().flat_map(|(node, beacon)| {
            let lists = beacon.neighbours.iter().map(move |other| [node, *other]);
            lists.chain(beacon.near.iter().map(|near| [near.over, near.core]))
        });
        let told = told.filter(|link| !link.contains(&self.node) && link[0] != link[1]);
        let whole = own.chain(told).filter(|link| self.is_whole(now, *link));
        whole.flat_map(|[a, b]| [[a, b], [b, a]]).collect()
    }

    /// The shortest way over links that are known, both ends included, that goes over none of `avoided`. Of
    /// several the lowest numbers decide.
    pub(super) fn path(
        &self,
        now: Time,
        from: NodeId,
        to: NodeId,
        avoided: &[NodeId],
    ) -> Option<Vec<NodeId>> {
        let reached = reach(&self.links(now), from, avoided);
        let mut path = vec![to];
        let mut node = to;
        while node != from {
            node = reached.get(&node)?.0;
            path.push(node);
        }
        path.reverse();
        Some(path)
    }

    /// The tunnels that a core broadcast takes from here: those to core nodes that are not `served`, if no
    /// other core node lies between, nearer to both ends than they are to each other.
    pub(super) fn tunnels_to_take(&self, now: Time, served: &[NodeId]) -> Vec<Nodes> {
        let (links, tunnels) = (self.links(now), self.tunnels());
        let others = tunnels.keys().map(|core| (*core, reach(&links, *core, &[self.node])));
        let others: BTreeMap<NodeId, Reached> = others.collect();
        let is_between = |between: &NodeId, core: &NodeId, hops: usize| {
            let beyond = others[between].get(core).map_or(usize::MAX, |(_, beyond)| *beyond);
            between != core && tunnels[between].len() < hops && beyond < hops
        };
        let is_taken = |core: &NodeId, path: &Vec<NodeId>| {
            !served.contains(core) && !tunnels.keys().any(|between| is_between(between, core, path.len()))
        };
        tunnels.iter().filter(|(core, path)| is_taken(core, path)).map(|(_, path)| path[..].into()).collect()
    }

    /// The links of neighbours, for comparisons.
    pub(super) fn two_hop(&self) -> Vec<[NodeId; 2]> {
        let told = self.neighbours();
        told.flat_map(|(node, beacon)| beacon.neighbours.iter().map(move |other| [node, *other])).collect()
    }

    /// The links of tunnels beyond the neighbours' own.
    pub(super) fn told(&self) -> Vec<[NodeId; 2]> {
        let tunnels = self.tunnels().into_values().filter(|path| path.len() == 3);
        tunnels.map(|path| [path[1], path[2]]).collect()
    }
}

/// The node before each node on the shortest way to it, and over how many links it is.
type Reached = BTreeMap<NodeId, (NodeId, usize)>;

/// All that can be reached over these links, except over some nodes.
fn reach(links: &BTreeSet<[NodeId; 2]>, from: NodeId, avoided: &[NodeId]) -> Reached {
    let mut reached = BTreeMap::from([(from, (from, 0))]);
    let mut next = VecDeque::from([(from, 0)]);
    while let Some((node, hops)) = next.pop_front() {
        for &[_, other] in links.range([node, NodeId(0)]..).take_while(|link| link[0] == node) {
            if !avoided.contains(&other) && !reached.contains_key(&other) {
                reached.insert(other, (node, hops + 1));
                next.push_back((other, hops + 1));
            }
        }
    }
    reached
}
