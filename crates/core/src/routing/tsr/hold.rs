//! The hold: when it begins, what it keeps, and how it ends.

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::{Action, HoldStep, Notice};
use crate::wire::dsr::{Header, Route};
use crate::wire::{NodeId, Packet, RoutingHeader};

use super::node::Tsr;
use super::state::{Hold, Link, has_link};
use super::{AfterTimeout, WithoutAlternatives};

impl Tsr {
    /// These links are broken: what needed them is forgotten, and holds begin for the traffic over them.
    /// Returns the destinations whose holds begin.
    pub(super) fn note_broken(&mut self, now: Time, broken: &[Link]) -> Vec<NodeId> {
        let mut began = Vec::new();
        for &link in broken {
            self.kept.retain(|_, route| !has_link(route, link));
            for hold in self.holds.values_mut() {
                hold.probes.retain(|route| !has_link(route, link));
            }
            let failed: Vec<NodeId> = self
                .sessions
                .iter()
                .filter(|(_, route)| has_link(route, link))
                .map(|(dst, _)| *dst)
                .collect();
            for dst in failed {
                self.sessions.remove(&dst);
                began.extend(self.begin(now, dst, None));
            }
            if self.params.on_the_way {
                began.extend(self.note_broken_on_the_way(now, link));
            }
            for hold in self.holds.values_mut().filter(|hold| !hold.broken.contains(&link)) {
                hold.broken.push(link);
            }
        }
        began
    }

    /// TCP's traffic of other nodes that passes here needs the link, which is this node's or lies ahead.
    fn note_broken_on_the_way(&mut self, now: Time, link: Link) -> Vec<NodeId> {
        let node = self.node;
        let ahead = |route: &Route| {
            let here = route.iter().position(|other| *other == node).unwrap_or(route.len());
            has_link(&route[here..], link)
        };
        let failed: Vec<(NodeId, NodeId)> =
            self.passing.iter().filter(|(_, route)| ahead(route)).map(|(ends, _)| *ends).collect();
        let mut began = Vec::new();
        for ends in failed {
            self.passing.remove(&ends);
            began.extend(self.begin(now, ends.1, Some(link)));
        }
        began
    }

    /// A hold begins for this node's own packets to `dst`, or for those of others over a link. Returns the
    /// destination if there was none before.
    fn begin(&mut self, now: Time, dst: NodeId, link: Option<Link>) -> Option<NodeId> {
        if let Some(hold) = self.holds.get_mut(&dst) {
            hold.own |= link.is_none();
            hold.passing.extend(link);
            return None;
        }
        let searches = link.is_none() && self.params.without_alternatives == WithoutAlternatives::Search;
        if !searches && self.dsr.alternatives(now, dst, 1).is_empty() {
            return None;
        }
        let hold = Hold {
            own: link.is_none(),
            passing: link.into_iter().collect(),
            since: now,
            rto: None,
            deadline: now + self.params.unknown_rto() + self.params.alpha(),
            probe_at: Time::NEVER,
            probes: self.dsr.alternatives(now, dst, self.params.probes),
            probed: u32::MAX,
            broken: Vec::new(),
            searches: false,
        };
        self.holds.insert(dst, hold);
        Some(dst)
    }

    /// A hold has begun: the other layers are told, and the alternatives probed.
    pub(super) fn announce(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        actions.push(Action::Notify(Notice::Hold { dst, step: HoldStep::Begins }));
        self.probe_alternatives(now, dst, actions);
    }

    /// A TCP sender of this node tells its retransmission time-out (eq. 1).
    pub(super) fn learn_rto(&mut self, dst: NodeId, rto: Span) {
        let alpha = self.params.alpha();
        if let Some(hold) = self.holds.get_mut(&dst) {
            let rto = hold.rto.map_or(rto, |known| known.max(rto));
            hold.rto = Some(rto);
            hold.deadline = hold.since + rto + alpha;
        }
    }

    /// Shall a packet of another node wait here? It does if it would take a link that is broken, or if it was
    /// salvaged here, by a route that nobody has probed.
    pub(super) fn is_to_wait(&self, packet: &Packet) -> bool {
        let Some(hold) = self.holds.get(&packet.dst).filter(|hold| !hold.passing.is_empty()) else {
            return false;
        };
        let Some(header) = packet.dsr() else { return false };
        let is_salvaged = header.route.first() == Some(&self.node);
        is_salvaged || hold.passing.iter().any(|link| has_link(&header.route, *link))
    }

    /// Puts a packet into the buffer of the holds.
    pub(super) fn keep(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let timeout = Span::from_secs(self.dsr.params.buffer_timeout_s);
        self.buffer.push(now, packet, timeout, actions);
    }

    /// DSR was about to send a packet of this node's own by a route from its cache. If the route is new to
    /// the hold and there is room, it is probed.
    pub(super) fn keep_own(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        let route = self.dsr.in_use.remove(&dst);
        packet.take_header();
        self.keep(now, packet, actions);
        let limit = self.params.probes;
        if let Some(hold) = self.holds.get_mut(&dst)
            && let Some(route) = route
            && hold.probed < limit
            && !hold.probes.contains(&route)
        {
            hold.probes.push(route.clone());
            self.send_probe(now, dst, &route, actions);
        }
    }

    /// What a packet of another node's TCP tells of its route.
    pub(super) fn note_passing(&mut self, packet: &Packet) {
        if !self.params.on_the_way {
            return;
        }
        let Some(header) = packet.dsr().filter(|header| !header.route.is_empty()) else { return };
        let ends = (packet.src, packet.dst);
        if self.passing.get(&ends) != Some(&header.route) {
            self.passing.insert(ends, header.route.clone());
        }
    }

    /// Deadlines of holds that have come.
    pub(super) fn wake_holds(&mut self, now: Time, actions: &mut Vec<Action>) {
        let due: Vec<NodeId> =
            self.holds.iter().filter(|(_, hold)| now >= hold.next_timeout()).map(|(dst, _)| *dst).collect();
        for dst in due {
            if self.holds.get(&dst).is_some_and(|hold| now >= hold.deadline) {
                self.give_up(now, dst, actions);
            } else {
                self.probe_alternatives(now, dst, actions);
            }
        }
    }

    /// The TSR timer of a hold has expired.
    fn give_up(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        self.holds.remove(&dst);
        self.dsr.in_use.remove(&dst);
        actions.push(Action::Notify(Notice::Hold { dst, step: HoldStep::Ends { answered: false } }));
        let packets = self.buffer.pop_all(now, dst, actions);
        if self.params.after_timeout == AfterTimeout::Drop {
            let dropped = packets.into_iter().map(|packet| Action::Drop(packet, DropReason::HoldTimeout));
            actions.extend(dropped);
            return;
        }
        let spacing = self.dsr.params.release_spacing();
        let (own, others): (Vec<Packet>, Vec<Packet>) =
            packets.into_iter().partition(|packet| packet.src == self.node);
        self.with_dsr(now, &[], actions, |dsr, wanted| {
            for packet in own {
                dsr.hold(now, packet, wanted);
            }
            dsr.release(now, spacing, wanted);
            if dsr.awaits_own(dst) {
                dsr.seek(now, dst, true, wanted);
            }
        });
        let mut delay = Span::ZERO;
        for packet in others {
            self.send_further(packet, delay, actions);
            delay = delay + spacing;
        }
    }

    /// A packet of another node goes on along the source route that it has.
    fn send_further(&mut self, packet: Packet, delay: Span, actions: &mut Vec<Action>) {
        let next_hop =
            packet.dsr().and_then(|header| header.route.get(header.place_of(self.node)? + 1).copied());
        match next_hop {
            Some(next_hop) => actions.push(Action::Send { packet, next_hop, delay }),
            None => actions.push(Action::Drop(packet, DropReason::NoRoute)),
        }
    }

    /// The destination has answered over this route: the hold is over, and what it kept goes out over it.
    pub(super) fn escape(&mut self, now: Time, dst: NodeId, route: &Route, actions: &mut Vec<Action>) {
        let Some(hold) = self.holds.remove(&dst) else { return };
        if hold.own {
            self.dsr.in_use.remove(&dst);
            self.dsr.note_use(dst, route, actions);
        }
        actions.push(Action::Notify(Notice::Hold { dst, step: HoldStep::Ends { answered: true } }));
        let spacing = self.dsr.params.release_spacing();
        let mut delay = Span::ZERO;
        for packet in self.buffer.pop_all(now, dst, actions) {
            if packet.src == self.node {
                self.send_on(packet, route, delay, actions);
            } else {
                self.salvage(packet, route, delay, actions);
            }
            delay = delay + spacing;
        }
    }

    /// A packet of another node takes the route that was answered, which counts as a salvage unless DSR has
    /// counted it (RFC 4728 §8.3.6).
    fn salvage(&mut self, mut packet: Packet, route: &Route, delay: Span, actions: &mut Vec<Action>) {
        let (Some(header), Some(&next_hop)) = (packet.dsr().cloned(), route.get(1)) else {
            actions.push(Action::Drop(packet, DropReason::NoRoute));
            return;
        };
        let is_counted = header.route.first() == Some(&self.node);
        if !is_counted && u32::from(header.salvaged) >= self.dsr.params.max_salvages {
            actions.push(Action::Drop(packet, DropReason::SalvageLimit));
            return;
        }
        let salvaged = header.salvaged.saturating_add(u8::from(!is_counted));
        packet.put_header(RoutingHeader::Dsr(Header {
            route: route.clone(),
            salvaged,
            flow: None,
            ..header
        }));
        actions.push(Action::Send { packet, next_hop, delay });
    }
}
