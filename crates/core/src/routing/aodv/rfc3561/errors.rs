//! Broken links: route errors and local repair (RFC 3561 §6.11, §6.12).
//!
//! **Deviations** (docs/models/aodv.md): 2 (numbers are never lowered).

use smallvec::SmallVec;

use super::Rfc3561;
use super::discovery::Discovery;
use super::table::{Nodes, newer};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::aodv::control;
use crate::routing::{Action, Notice};
use crate::wire::aodv::{Message, Rerr, Unreachable};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet};

impl Rfc3561 {
    /// §6.11 case (i). With `repair`, destinations near enough to which others send through this node are not
    /// given up yet: they are repaired when data for them comes (§6.12).
    pub(super) fn break_link(
        &mut self,
        now: Time,
        neighbour: NodeId,
        repair: bool,
        actions: &mut Vec<Action>,
    ) {
        self.neighbours.remove(&neighbour);
        let lost = self.table.lose(now, neighbour);
        let forget_at = now + self.params.delete_period();
        let mut failed: SmallVec<[NodeId; 8]> = SmallVec::new();
        for dst in lost {
            let Some(route) = self.table.valid(now, dst) else { continue };
            let alive_until = route.expires;
            route.invalidate(forget_at);
            let for_others = !route.precursors().is_empty();
            if repair && for_others && u32::from(route.hops) <= self.params.max_repair_ttl() {
                route.allow_repair(alive_until);
            } else {
                route.reported = true;
                actions.push(Action::Notify(Notice::RouteFailed { dst, told: false }));
                failed.push(dst);
            }
        }
        self.report(now, &failed, false, actions);
    }

    /// Is the route to `dst` being repaired, or may it be?
    pub(super) fn can_repair(&mut self, now: Time, dst: NodeId) -> bool {
        let repairing = self.discoveries.get(&dst).is_some_and(|discovery| discovery.repair.is_some());
        repairing || self.table.get(now, dst).is_some_and(|route| route.is_repairable(now))
    }

    /// A packet whose link broke: with local repair it waits, or takes the route found meanwhile.
    pub(super) fn rescue(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let dst = packet.dst;
        if !self.params.local_repair {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        } else if self.table.valid(now, dst).is_some() {
            self.send_data(now, packet, None, Span::ZERO, actions);
        } else if self.can_repair(now, dst) {
            let source = packet.src;
            self.buffer.push(now, packet, self.params.buffer_timeout(), actions);
            self.repair(now, dst, source, actions);
        } else {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
        }
    }

    /// §6.12: a request for the destination with TTL max(MIN_REPAIR_TTL, 0.5 * #hops) + LOCAL_ADD_TTL.
    fn repair(&mut self, now: Time, dst: NodeId, source: NodeId, actions: &mut Vec<Action>) {
        if self.discoveries.contains_key(&dst) {
            return;
        }
        let to_source = self.table.get(now, source).map_or(0, |route| u32::from(route.hops));
        let Some(route) = self.table.get(now, dst) else { return };
        let old_hops = route.hops;
        let ttl = u32::from(old_hops).max(to_source.div_ceil(2)) + self.params.local_add_ttl;
        let ttl = ttl.min(self.params.net_diameter);
        self.begin_discovery(now, dst, Discovery::new(now, ttl, false, Some(old_hops)), actions);
    }

    /// §6.12: no answer came within the discovery period.
    pub(super) fn fail_repair(&mut self, now: Time, dst: NodeId, actions: &mut Vec<Action>) {
        self.discoveries.remove(&dst);
        if let Some(route) = self.table.get(now, dst) {
            route.end_repair();
            route.reported = true;
        }
        self.buffer.drop_all(now, dst, DropReason::LinkFailure, actions);
        actions.push(Action::Notify(Notice::RouteFailed { dst, told: false }));
        self.report(now, &[dst], false, actions);
    }

    /// §6.11 case (iii).
    pub(super) fn receive_rerr(&mut self, now: Time, rerr: &Rerr, from: NodeId, actions: &mut Vec<Action>) {
        let forget_at = now + self.params.delete_period();
        let mut affected: SmallVec<[NodeId; 8]> = SmallVec::new();
        for told in &rerr.unreachable {
            let route = self.table.valid(now, told.dst).filter(|route| route.next_hop == from);
            let Some(route) = route else { continue };
            affected.push(told.dst);
            if rerr.no_delete {
                continue;
            }
            route.invalidate(forget_at);
            if route.seqno.is_some_and(|known| newer(told.seqno, known)) {
                route.seqno = Some(told.seqno);
            }
            route.reported = true;
            actions.push(Action::Notify(Notice::RouteFailed { dst: told.dst, told: true }));
        }
        self.report(now, &affected, rerr.no_delete, actions);
    }

    /// §6.11: lists those destinations that have precursors, and tells the precursors.
    pub(super) fn report(&mut self, now: Time, dsts: &[NodeId], no_delete: bool, actions: &mut Vec<Action>) {
        let mut unreachable = SmallVec::new();
        let mut to = Nodes::new();
        for &dst in dsts {
            let Some(route) = self.table.get(now, dst) else { continue };
            if self.params.precursors && route.precursors().is_empty() {
                continue;
            }
            unreachable.push(Unreachable { dst, seqno: route.seqno.unwrap_or(0) });
            for precursor in route.precursors() {
                if !to.contains(precursor) {
                    to.push(*precursor);
                }
            }
            if !no_delete {
                route.forget_precursors();
            }
        }
        if !self.params.precursors {
            to.clear();
        }
        if !unreachable.is_empty() {
            self.send_rerr(now, unreachable, &to, no_delete, actions);
        }
    }

    /// §6.11: unicast to a single neighbour, broadcast otherwise; no more than RERR_RATELIMIT per second.
    pub(super) fn send_rerr(
        &mut self,
        now: Time,
        unreachable: SmallVec<[Unreachable; 2]>,
        to: &[NodeId],
        no_delete: bool,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.rerr || self.rerr_rate.free_at(now, self.params.rerr_ratelimit) > now {
            return;
        }
        self.rerr_rate.count(now);
        let rerr = Rerr { no_delete, unreachable };
        let bytes = IP_HEADER_BYTES + rerr.bytes();
        let message = Message::Rerr(rerr);
        if let &[next_hop] = to {
            let packet = control(now, self.node, next_hop, 1, bytes, message);
            let delay = self.unicast_jitter();
            actions.push(Action::Send { packet, next_hop, delay });
        } else {
            let packet = control(now, self.node, NodeId::BROADCAST, 1, bytes, message);
            self.broadcast(now, packet, actions);
        }
    }
}
