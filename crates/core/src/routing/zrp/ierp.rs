//! IERP, the interzone routing protocol: searches for nodes beyond the zone, and the routes that they find.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::messages::Path;
use super::params::ZrpParams;
use crate::kernel::{Span, Time};
use crate::wire::NodeId;
use crate::wire::zrp::Name;

/// A route of a reply, whose packets carry it.
struct Route {
    path: Path,
    until: Time,
}

/// A search that has not found anything yet.
struct Search {
    sent: u32,
    /// When the next query follows, or the end.
    at: Time,
}

/// The searches and routes of a node.
#[derive(Default)]
pub(super) struct Ierp {
    routes: BTreeMap<NodeId, Route>,
    searches: BTreeMap<NodeId, Search>,
    /// How many replies to a query this node has passed on, and until when it counts.
    replies: BTreeMap<Name, (u32, Time)>,
    last_id: u32,
}

/// What a search does when its time has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// It sends a query with this number.
    Asks(u32),
    /// It has sent all of them.
    GivesUp,
}

impl Ierp {
    pub(super) fn route(&self, now: Time, dst: NodeId) -> Option<&Path> {
        self.routes.get(&dst).filter(|route| route.until > now).map(|route| &route.path)
    }

    /// Takes a route if there is none, or a longer one.
    pub(super) fn learn(&mut self, now: Time, life: Span, path: &Path) {
        let Some(&dst) = path.last() else { return };
        let known = self.route(now, dst).map(|known| known.len());
        if known.is_none_or(|known| path.len() <= known) {
            self.routes.insert(dst, Route { path: Arc::clone(path), until: now + life });
        }
        self.searches.remove(&dst);
    }

    /// A route that is used lives on.
    pub(super) fn prolong(&mut self, now: Time, life: Span, dst: NodeId) {
        if let Some(route) = self.routes.get_mut(&dst).filter(|route| route.until > now) {
            route.until = now + life;
        }
    }

    /// Removes the routes over a link, in this direction, and returns their destinations.
    pub(super) fn break_link(&mut self, [from, to]: [NodeId; 2]) -> Vec<NodeId> {
        let has_link = |route: &Route| route.path.windows(2).any(|link| link == [from, to]);
        let broken = self.routes.iter().filter(|(_, route)| has_link(route));
        let broken: Vec<NodeId> = broken.map(|(dst, _)| *dst).collect();
        broken.iter().for_each(|dst| _ = self.routes.remove(dst));
        broken
    }

    /// Begins a search, unless there is one.
    pub(super) fn search(&mut self, now: Time, dst: NodeId, params: &ZrpParams) -> Option<u32> {
        if self.searches.contains_key(&dst) {
            return None;
        }
        Some(self.ask(now, dst, 0, params))
    }

    /// Nothing is searched for any more that was found otherwise.
    pub(super) fn found(&mut self, dst: NodeId) {
        self.searches.remove(&dst);
    }

    /// The searches whose time has come, and what they do.
    pub(super) fn continue_searches(&mut self, now: Time, params: &ZrpParams) -> Vec<(NodeId, Step)> {
        let due = self.searches.iter().filter(|(_, search)| search.at <= now);
        let due: Vec<(NodeId, u32)> = due.map(|(dst, search)| (*dst, search.sent)).collect();
        let step = |(dst, sent)| {
            if sent < params.query_tries {
                return (dst, Step::Asks(self.ask(now, dst, sent, params)));
            }
            self.searches.remove(&dst);
            (dst, Step::GivesUp)
        };
        due.into_iter().map(step).collect()
    }

    fn ask(&mut self, now: Time, dst: NodeId, sent: u32, params: &ZrpParams) -> u32 {
        let wait = Span::from_secs(params.query_wait_s) * (1 << sent.min(16));
        self.searches.insert(dst, Search { sent: sent + 1, at: now + wait });
        self.last_id += 1;
        self.last_id
    }

    /// May one more reply to the query be passed on?
    pub(super) fn may_reply(&mut self, name: Name, most: u32, until: Time) -> bool {
        let (count, _) = self.replies.entry(name).or_insert((0, until));
        *count += 1;
        *count <= most
    }

    pub(super) fn forget(&mut self, now: Time) {
        self.replies.retain(|_, (_, until)| *until > now);
        self.routes.retain(|_, route| route.until > now);
    }

    pub(super) fn next_expiry(&self) -> Time {
        let replies = self.replies.values().map(|(_, until)| *until);
        let searches = self.searches.values().map(|search| search.at);
        let routes = self.routes.values().map(|route| route.until);
        replies.chain(searches).chain(routes).min().unwrap_or(Time::NEVER)
    }

    pub(super) fn len(&self) -> usize {
        self.routes.len() + self.searches.len() + self.replies.len()
    }
}
