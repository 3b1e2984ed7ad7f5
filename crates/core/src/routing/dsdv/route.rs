//! An entry of DSDV's routing table: its fields, and the settling time that it measures.

use std::collections::VecDeque;

use crate::kernel::Time;
use crate::routing::table;
use crate::wire::dsdv::INFINITE;
use crate::wire::{NodeId, Packet};

/// What a node knows of one destination.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) dst: NodeId,
    pub(super) next_hop: NodeId,
    pub(super) metric: u8,
    pub(super) seqno: u32,
    /// The metric of the last update that named this destination.
    pub(super) advertised_metric: u8,
    /// Before this the route has not settled and is not advertised.
    pub(super) advertise_at: Time,
    /// Its sequence number has not been advertised yet.
    pub(super) seqno_news: bool,
    /// Its metric is to be in incremental updates.
    pub(super) metric_news: bool,
    /// When it asks for an incremental update.
    pub(super) trigger_at: Time,
    /// The weighted mean of the times that routes to this destination took to settle, in s.
    pub(super) settling_s: f64,
    /// When its present sequence number was first heard.
    heard_at: Time,
    /// When the best route of that sequence number was heard.
    improved_at: Time,
    /// If the destination is a neighbour: when it is lost unless it is heard before.
    pub(super) lost_at: Time,
    /// Packets that wait for a route, oldest first.
    pub(super) waiting: VecDeque<Packet>,
}

impl Route {
    /// A destination of which nothing is known; it is not advertised.
    pub(super) fn unknown(dst: NodeId, now: Time, settling_s: f64) -> Route {
        Route {
            dst,
            next_hop: dst,
            metric: INFINITE,
            seqno: 0,
            advertised_metric: 0,
            advertise_at: Time::NEVER,
            seqno_news: false,
            metric_news: false,
            trigger_at: Time::NEVER,
            settling_s,
            heard_at: now,
            improved_at: now,
            lost_at: Time::NEVER,
            waiting: VecDeque::new(),
        }
    }

    /// A neighbour that was heard and has not named itself: a route that any number replaces, and that is not
    /// advertised.
    pub(super) fn unnamed(neighbour: NodeId, now: Time, settling_s: f64) -> Route {
        Route { metric: 1, ..Route::unknown(neighbour, now, settling_s) }
    }

    /// The node itself.
    pub(super) fn own(node: NodeId) -> Route {
        Route {
            metric: 0,
            advertise_at: Time::ZERO,
            seqno_news: true,
            metric_news: true,
            ..Route::unknown(node, Time::ZERO, 0.0)
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.metric != INFINITE
    }

    /// Has it something to say in an incremental update?
    pub(super) fn is_news(&self, now: Time) -> bool {
        (self.seqno_news || self.metric_news) && self.advertise_at <= now
    }

    /// A fresh sequence number ends the measurement of how long the one before it took to settle.
    pub(super) fn end_measurement(&mut self, now: Time, weight: f64) {
        let took = self.improved_at.since(self.heard_at).as_secs();
        self.settling_s = weight * self.settling_s + (1.0 - weight) * took;
        self.heard_at = now;
    }

    /// Takes the way through `next_hop`.
    pub(super) fn adopt(&mut self, now: Time, next_hop: NodeId, metric: u8, seqno: u32) {
        (self.next_hop, self.metric, self.seqno) = (next_hop, metric, seqno);
        self.improved_at = now;
    }
}

impl table::Entry for Route {
    fn dst(&self) -> NodeId {
        self.dst
    }
}
