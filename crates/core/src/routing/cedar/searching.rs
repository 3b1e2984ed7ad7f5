//! How a route is found: the source asks its dominator; the core broadcast finds the target's dominator,
//! which answers with the core path; core nodes on that path build the route, each as far as it sees.
//!
//! ```text
//!  source ──ask──► dominator ══find══► core ══find══► core, the target's dominator
//!                  dominator ◄══════════found═════════ core
//!                  dominator ─────────build──────────► core ──► … until the target is in sight
//!  source ◄────────────────────────rrep──────────────── core
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Cedar, Search};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::wire::NodeId;
use crate::wire::cedar::{Content, Message, Nodes, Question};

/// The source.
impl Cedar {
    /// Sends the request of a search that follows `sent` others, unless the way is known by now.
    pub(super) fn ask(&mut self, now: Time, dst: NodeId, sent: u32, actions: &mut Vec<Action>) {
        let question = Question { source: self.node, target: dst, id: self.next_id };
        self.next_id = self.next_id.wrapping_add(1);
        self.searches.insert(dst, Search { sent: sent + 1, at: now + self.params.wait(sent) });
        match self.dominator {
            Some(dominator) if dominator == self.node => self.lead(now, question, actions),
            Some(dominator) => self.send_to(now, &[dominator], Content::Ask(question), actions),
            None => {}
        }
    }

    /// No answer has come in time.
    pub(super) fn continue_search(&mut self, now: Time, dst: NodeId, sent: u32, actions: &mut Vec<Action>) {
        if self.has_route(now, dst, actions) {
            self.release(now, dst, actions);
        } else if sent < self.params.search_tries && self.buffer.contains(dst) {
            self.ask(now, dst, sent, actions);
        } else {
            self.searches.remove(&dst);
            self.buffer.drop_all(now, dst, DropReason::NoRoute, actions);
        }
    }

    fn receive_reply(&mut self, now: Time, question: Question, route: Nodes, actions: &mut Vec<Action>) {
        let is_whole = question.source == self.node && route.last() == Some(&question.target);
        if is_whole && self.learn_route(now, route, actions) {
            self.release(now, question.target, actions);
        }
    }

    fn release(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        self.searches.remove(&dst);
        for packet in self.buffer.pop_all(now, dst, actions) {
            self.send_data(now, packet, actions);
        }
    }
}

/// The core.
impl Cedar {
    /// The source's dominator answers itself if it sees the target, else it seeks the target's dominator.
    fn lead(&mut self, now: Time, question: Question, actions: &mut Vec<Action>) {
        if let Some(route) = self.neighbourhood.path(now, question.source, question.target, &[]) {
            let back = [question.source];
            let back = if question.source == self.node { &[][..] } else { &back };
            self.send_to(now, back, Content::Reply { question, route: route.into() }, actions);
        } else {
            self.note_seen(now, question);
            self.spread(now, question, [self.node].into(), &[], actions);
        }
    }

    fn note_seen(&mut self, now: Time, question: Question) {
        let until = now + Span::from_secs(self.params.find_memory_s);
        self.seen.add(now, (question.source, question.id), until);
        self.keep_clean(now);
    }

    /// The core broadcast goes on to the core nodes near this one, but not to those that have it already.
    fn spread(
        &mut self,
        now: Time,
        question: Question,
        core_path: Nodes,
        served: &[NodeId],
        actions: &mut Vec<Action>,
    ) {
        let had: Vec<NodeId> = served.iter().chain(&*core_path).copied().collect();
        let to = self.neighbourhood.tunnels_to_take(now, &had);
        let near = self.neighbourhood.tunnels();
        let had = served.iter().filter(|core| near.contains_key(core));
        let served = to.iter().filter_map(|path| path.last()).chain(had).copied().collect();
        self.send_over(now, &to, &Content::Find { question, core_path, served }, actions);
    }

    /// A core node passes the first copy of a core broadcast on. The target's dominator answers.
    fn receive_find(
        &mut self,
        now: Time,
        question: Question,
        (core_path, served): (Nodes, &[NodeId]),
        actions: &mut Vec<Action>,
    ) {
        if self.seen.holds(now, (question.source, question.id)) {
            return;
        }
        self.note_seen(now, question);
        let core_path: Nodes = core_path.iter().copied().chain([self.node]).collect();
        let target = self.neighbourhood.beacon_of(question.target);
        if question.target == self.node || target.is_some_and(|beacon| beacon.dominator == Some(self.node)) {
            self.return_core_path(now, question, core_path, actions);
        } else {
            self.spread(now, question, core_path, served, actions);
        }
    }

    /// The core path goes back along itself, to the source's dominator, which begins to build.
    fn return_core_path(
        &mut self,
        now: Time,
        question: Question,
        core_path: Nodes,
        actions: &mut Vec<Action>,
    ) {
        let Some(place) = core_path.iter().position(|core| *core == self.node) else { return };
        let Some(before) = place.checked_sub(1) else {
            let start = if question.source == self.node { vec![] } else { vec![question.source] };
            let route: Nodes = start.into_iter().chain([self.node]).collect();
            self.build(now, question, core_path, &route, actions);
            return;
        };
        let tunnel = self.neighbourhood.tunnels().remove(&core_path[before]);
        let way = tunnel.or_else(|| self.way_to(now, core_path[before]));
        if let Some(way) = way {
            self.send_to(now, &way, Content::Found { question, core_path }, actions);
        }
    }

    /// The nodes on the shortest way to another that this node knows, itself not among them.
    fn way_to(&self, now: Time, node: NodeId) -> Option<Vec<NodeId>> {
        let path = self.neighbourhood.path(now, self.node, node, &[])?;
        Some(path[1..].to_vec())
    }

    /// Continues a route that ends here: to the target if this node knows a way, else to the core node on the
    /// core path that is nearest to the target's dominator and to which it knows one. There is no route if it
    /// knows none.
    fn build(
        &mut self,
        now: Time,
        question: Question,
        core_path: Nodes,
        route: &[NodeId],
        actions: &mut Vec<Action>,
    ) {
        if let Some(way) = self.way_to(now, question.target) {
            let back: Vec<NodeId> = route.iter().rev().skip(1).copied().collect();
            let route = without_circles(route.iter().chain(&way));
            self.send_to(now, &back, Content::Reply { question, route }, actions);
            return;
        }
        // Those behind this node: a path that is wrong and names it twice must not lead back.
        let here = core_path.iter().rposition(|core| *core == self.node);
        let later = &core_path[here.map_or(core_path.len(), |place| place + 1)..];
        let way = later.iter().rev().find_map(|core| self.way_to(now, *core));
        if let Some(way) = way {
            let route = without_circles(route.iter().chain(&way));
            self.send_to(now, &way, Content::Build { question, core_path, route }, actions);
        }
    }
}

/// Messages on their way.
impl Cedar {
    /// A message for this node, or for others behind it, or both.
    pub(super) fn pass_on(
        &mut self,
        now: Time,
        to: &[Nodes],
        content: Content,
        from: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if let Content::Error { link } = content {
            self.lose_link(now, link, true, actions);
        }
        self.send_over(now, to, &content, actions);
        if to.iter().any(|path| path.is_empty()) {
            self.take(now, content, from, actions);
        }
    }

    fn take(&mut self, now: Time, content: Content, from: NodeId, actions: &mut Vec<Action>) {
        match content {
            Content::Join => self.neighbourhood.joins(from),
            Content::Ask(question) => self.lead(now, question, actions),
            Content::Find { question, core_path, served } => {
                self.receive_find(now, question, (core_path, &served), actions);
            }
            Content::Found { question, core_path } => {
                self.return_core_path(now, question, core_path, actions);
            }
            Content::Build { question, core_path, route } => {
                self.build(now, question, core_path, &route, actions);
            }
            Content::Reply { question, route } => self.receive_reply(now, question, route, actions),
            Content::Error { .. } | Content::Beacon(_) => {}
        }
    }

    /// Sends a message along a way, or takes it here if the way is empty.
    pub(super) fn send_to(&mut self, now: Time, way: &[NodeId], content: Content, actions: &mut Vec<Action>) {
        if way.is_empty() {
            self.take(now, content, self.node, actions);
        } else {
            self.send_over(now, &[way.into()], &content, actions);
        }
    }

    /// Sends a message along several ways, once to each neighbour with which some of them begin.
    fn send_over(&mut self, now: Time, ways: &[Nodes], content: &Content, actions: &mut Vec<Action>) {
        let mut behind: BTreeMap<NodeId, Vec<Nodes>> = BTreeMap::new();
        for way in ways {
            if let [next_hop, rest @ ..] = &**way
                && *next_hop != self.node
            {
                behind.entry(*next_hop).or_default().push(rest.into());
            }
        }
        for (next_hop, to) in behind {
            let message = Message { to: to.into(), content: content.clone() };
            let packet = self.packet(now, next_hop, message);
            actions.push(Action::Send { packet, next_hop, delay: Span::ZERO });
        }
    }
}

/// The nodes in order, without those between two that are the same.
fn without_circles<'n>(nodes: impl Iterator<Item = &'n NodeId>) -> Nodes {
    let mut path: Vec<NodeId> = Vec::new();
    for node in nodes {
        match path.iter().position(|other| other == node) {
            Some(place) => path.truncate(place + 1),
            None => path.push(*node),
        }
    }
    Arc::from(path)
}
