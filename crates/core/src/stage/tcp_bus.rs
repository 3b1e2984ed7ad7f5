//! TCP-BuS at the nodes of a path (Kim, Toh and Choi 2000): segments that routing gives up are kept where
//! they are.
//!
//! A node at which routing gives up a segment because the way on is gone is the pivoting node. It keeps the
//! segment and those that follow, tells their sources (ERDN), and has routing seek another way for the first
//! of them. When a next hop has taken that one, the others follow and the sources are told (ERSN). A node
//! that an ERDN passes keeps what comes for that destination, and sends it on when the ERSN passes.
//!
//! One [`TcpBus`] is one node's part in this. The source's is `transport/tcp/route_failure/tcp_bus.rs`; what
//! the paper leaves open is in docs/models/tcp.md.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::{Interceptor, InterceptorAction};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Notice;
use crate::transport::tcp::TcpParams;
use crate::wire::tcp::{Segment, SegmentRanges};
use crate::wire::{ConnectionId, NodeId, Packet, Payload};

/// Bytes of one range of segment numbers in an ERSN, those of a SACK block (RFC 2018 §3).
const RANGE_BYTES: u32 = 8;

/// What a node does about a destination that it cannot reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Search {
    /// The first segment is with routing, until a next hop takes it or it comes back.
    Asked {
        /// Its number as a packet.
        uid: u64,
        /// When it becomes too old to be kept.
        expires: Time,
    },
    /// Nothing, until the time comes to ask, or to forget that another node does.
    Rests {
        /// That time.
        until: Time,
    },
}

/// A source that knows of the failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Told {
    connection: ConnectionId,
    source: NodeId,
    /// When it was told last, as far as this node knows.
    at: Time,
    /// Did this node tell it (true), or one nearer to the destination, whose ERDN passed?
    here: bool,
}

/// A destination that cannot be reached at present.
struct Outage {
    dst: NodeId,
    /// Segments that wait, in their order, each with the time at which it becomes too old.
    kept: VecDeque<(Time, Packet)>,
    search: Search,
    told: SmallVec<[Told; 2]>,
}

/// One node's part in TCP-BuS. See the module's head. Calls come in order of time.
pub(super) struct TcpBus {
    node: NodeId,
    limit: usize,
    patience: Span,
    interval: Span,
    guard: Span,
    message_bytes: u32,
    /// In order of their beginnings; rarely more than one.
    outages: Vec<Outage>,
}

impl TcpBus {
    /// The part of `node`, which keeps nothing yet.
    pub(super) fn new(node: NodeId, params: &TcpParams) -> TcpBus {
        TcpBus {
            node,
            limit: params.bus_buffer_packets as usize,
            patience: Span::from_secs(params.bus_buffer_timeout_s),
            interval: Span::from_secs(params.bus_query_interval_s),
            guard: Span::from_secs(params.route_guard_s),
            message_bytes: params.bus_message_bytes,
            outages: Vec::new(),
        }
    }
}

impl Interceptor for TcpBus {
    /// Routing gives up a packet. Returns it if it is not kept.
    fn handle_given_up(
        &mut self,
        now: Time,
        packet: Packet,
        reason: DropReason,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        let Some((connection, _)) = connection_of(&packet) else { return Some(packet) };
        let outage = self.outages.iter_mut().find(|outage| outage.dst == packet.dst);
        if let Some(outage) = outage
            && let Search::Asked { uid, expires } = outage.search
            && uid == packet.uid
        {
            outage.search = Search::Rests { until: now + self.interval };
            if expires <= now || !tells_of_a_lost_way(reason) {
                return Some(packet);
            }
            outage.kept.push_front((expires, packet));
            return None;
        }
        // At the source itself, where the sender has the data anyway, only its own broken link counts.
        let seeks_in_vain = packet.src == self.node && reason == DropReason::NoRoute;
        if !tells_of_a_lost_way(reason) || seeks_in_vain || self.is_full() {
            return Some(packet);
        }
        let place = self.outage(now, packet.dst);
        let is_new = self.outages[place].told.is_empty();
        self.keep(now, place, connection, packet, out);
        if is_new {
            self.ask_if_resting(place, out);
        }
        None
    }

    /// Routing sends a packet on. Returns it if it shall go: at a node that keeps segments for a destination,
    /// others stay behind them.
    fn handle_outgoing(
        &mut self,
        now: Time,
        packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        let Some(place) = self.outages.iter().position(|outage| outage.dst == packet.dst) else {
            return Some(packet);
        };
        let is_asked = matches!(self.outages[place].search, Search::Asked { uid, .. } if uid == packet.uid);
        let stays = !is_asked && !self.is_full();
        let Some((connection, _)) = connection_of(&packet).filter(|_| stays) else {
            return Some(packet);
        };
        self.keep(now, place, connection, packet, out);
        None
    }

    /// A next hop has taken a packet: if it is the one that was asked for, the way is there again.
    fn handle_taken(&mut self, _: Time, packet: &Packet, out: &mut Vec<InterceptorAction>) {
        let Some(place) = self.asked_for(packet) else { return };
        let outage = self.outages.remove(place);
        for told in outage.told.iter().filter(|told| told.here) {
            let mut kept = outage.numbers(told.connection);
            if let Some((connection, number)) = connection_of(packet)
                && connection == told.connection
            {
                add_number(&mut kept, number);
            }
            let bytes = self.message_bytes + RANGE_BYTES * kept.len() as u32;
            let segment = Segment::Ersn { dst: outage.dst, kept };
            out.push(InterceptorAction::Tell {
                connection: told.connection,
                source: told.source,
                segment,
                bytes,
            });
        }
        out.extend(outage.kept.into_iter().map(|(_, packet)| InterceptorAction::Route(packet)));
    }

    /// A packet was dropped below or beside routing: the next one is asked for.
    fn handle_dropped(&mut self, now: Time, packet: &Packet, _: DropReason, _: &mut Vec<InterceptorAction>) {
        if let Some(place) = self.asked_for(packet) {
            self.outages[place].search = Search::Rests { until: now + self.interval };
        }
    }

    /// Routing has a route again: it is asked for the first segment.
    fn handle_notice(&mut self, _: Time, notice: Notice, out: &mut Vec<InterceptorAction>) {
        let Notice::RouteFound { dst } = notice else { return };
        if let Some(place) = self.outages.iter().position(|outage| outage.dst == dst) {
            self.ask_if_resting(place, out);
        }
    }

    /// An ERDN or ERSN of another node passes on its way to the source. An ERSN learns what is kept here.
    fn handle_incoming(&mut self, now: Time, packet: &mut Packet, out: &mut Vec<InterceptorAction>) {
        let source = packet.dst;
        if source == self.node {
            return;
        }
        match &mut packet.payload {
            &mut Payload::Tcp(connection, Segment::Erdn { dst }) => {
                let place = self.outage(now, dst);
                let told = &mut self.outages[place].told;
                match told.iter_mut().find(|told| told.connection == connection) {
                    Some(told) => told.at = now,
                    None => told.push(Told { connection, source, at: now, here: false }),
                }
            }
            Payload::Tcp(connection, Segment::Ersn { dst, kept }) => {
                let Some(place) = self.outages.iter().position(|outage| outage.dst == *dst) else { return };
                let outage = &mut self.outages[place];
                let before = kept.len();
                for (from, to) in outage.numbers(*connection) {
                    (from..to).for_each(|number| add_number(kept, number));
                }
                packet.bytes = packet.bytes + RANGE_BYTES * kept.len() as u32 - RANGE_BYTES * before as u32;
                // Until what waits here is on its way again, its source need not stop once more.
                outage
                    .told
                    .iter_mut()
                    .filter(|told| told.connection == *connection)
                    .for_each(|told| told.at = now);
                self.ask_if_resting(place, out);
            }
            _ => {}
        }
    }

    /// What waits is lost, and nobody is told: the source's own timer finds out.
    fn handle_crash(&mut self, out: &mut Vec<InterceptorAction>) {
        let waiting = std::mem::take(&mut self.outages).into_iter().flat_map(|outage| outage.kept);
        out.extend(waiting.map(|(_, packet)| InterceptorAction::Drop(packet, DropReason::Absent)));
    }

    /// Segments that have become too old go, and it may be time to ask. An early call does nothing.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        let mut place = 0;
        while place < self.outages.len() {
            let kept = &mut self.outages[place].kept;
            while kept.front().is_some_and(|(expires, _)| *expires <= now) {
                let oldest = kept.pop_front().map(|(_, packet)| packet);
                out.extend(oldest.map(|packet| InterceptorAction::Drop(packet, DropReason::BufferTimeout)));
            }
            let is_due = matches!(self.outages[place].search, Search::Rests { until } if until <= now);
            if !is_due || self.ask(place, out) {
                place += 1;
            }
        }
    }

    fn next_timeout(&self) -> Time {
        let deadlines = self.outages.iter().flat_map(|outage| {
            let rest = match outage.search {
                Search::Rests { until } => until,
                Search::Asked { .. } => Time::NEVER,
            };
            [rest, outage.kept.front().map_or(Time::NEVER, |(expires, _)| *expires)]
        });
        deadlines.min().unwrap_or(Time::NEVER)
    }

    /// In order of the outages and of their own.
    fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.kept_packets().for_each(visit);
    }
}

impl TcpBus {
    /// Does it neither keep nor await anything?
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.outages.is_empty()
    }

    fn kept_packets(&self) -> impl Iterator<Item = &Packet> {
        self.outages.iter().flat_map(|outage| &outage.kept).map(|(_, packet)| packet)
    }

    /// The place of the outage of `dst`, which may begin now. A new one rests: others may be seeking.
    fn outage(&mut self, now: Time, dst: NodeId) -> usize {
        self.outages.iter().position(|outage| outage.dst == dst).unwrap_or_else(|| {
            let search = Search::Rests { until: now + self.guard };
            self.outages.push(Outage { dst, kept: VecDeque::new(), search, told: SmallVec::new() });
            self.outages.len() - 1
        })
    }

    fn is_full(&self) -> bool {
        self.kept_packets().count() >= self.limit
    }

    /// Keeps a packet and tells its source. One whose segments come although it was told has not heard: it is
    /// told again, but not too often.
    fn keep(
        &mut self,
        now: Time,
        place: usize,
        connection: ConnectionId,
        packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) {
        let outage = &mut self.outages[place];
        let source = packet.src;
        outage.kept.push_back((now + self.patience, packet));
        match outage.told.iter_mut().find(|told| told.connection == connection) {
            Some(told) if now < told.at + self.interval => return,
            Some(told) => (told.at, told.here) = (now, true),
            None => outage.told.push(Told { connection, source, at: now, here: true }),
        }
        let segment = Segment::Erdn { dst: outage.dst };
        out.push(InterceptorAction::Tell { connection, source, segment, bytes: self.message_bytes });
    }

    fn ask_if_resting(&mut self, place: usize, out: &mut Vec<InterceptorAction>) {
        if matches!(self.outages[place].search, Search::Rests { .. }) {
            self.ask(place, out);
        }
    }

    /// Gives routing the first segment that waits. If none does the outage is forgotten, and false is
    /// returned.
    fn ask(&mut self, place: usize, out: &mut Vec<InterceptorAction>) -> bool {
        let outage = &mut self.outages[place];
        let Some((expires, packet)) = outage.kept.pop_front() else {
            self.outages.remove(place);
            return false;
        };
        outage.search = Search::Asked { uid: packet.uid, expires };
        out.push(InterceptorAction::Route(packet));
        true
    }

    /// The place of the outage in which routing was asked for this packet.
    fn asked_for(&self, packet: &Packet) -> Option<usize> {
        let asked = |outage: &Outage| matches!(outage.search, Search::Asked { uid, .. } if uid == packet.uid);
        self.outages.iter().position(asked)
    }
}

impl Outage {
    /// The numbers of the segments of a connection that wait.
    fn numbers(&self, connection: ConnectionId) -> SegmentRanges {
        let mut numbers = SegmentRanges::new();
        for (_, packet) in &self.kept {
            if let Some((of, number)) = connection_of(packet)
                && of == connection
            {
                add_number(&mut numbers, number);
            }
        }
        numbers
    }
}

/// The connection and number of a data segment; only those are kept.
fn connection_of(packet: &Packet) -> Option<(ConnectionId, u32)> {
    match packet.payload {
        Payload::Tcp(connection, Segment::Data { number, .. }) => Some((connection, number)),
        _ => None,
    }
}

/// Does routing give a packet up for this reason because the way on is gone?
fn tells_of_a_lost_way(reason: DropReason) -> bool {
    matches!(reason, DropReason::LinkFailure | DropReason::NoRoute | DropReason::SalvageLimit)
}

/// Adds a number to half-open ranges, which stay in order and apart.
fn add_number(ranges: &mut SegmentRanges, number: u32) {
    let place = ranges.iter().position(|(_, to)| number <= *to).unwrap_or(ranges.len());
    match ranges.get_mut(place) {
        Some((from, to)) if (*from..*to).contains(&number) => return,
        Some((_, to)) if *to == number => *to += 1,
        Some((from, _)) if number + 1 == *from => *from = number,
        _ => ranges.insert(place, (number, number + 1)),
    }
    if let Some(&(from, to)) = ranges.get(place + 1)
        && from == ranges[place].1
    {
        ranges[place].1 = to;
        ranges.remove(place + 1);
    }
}
