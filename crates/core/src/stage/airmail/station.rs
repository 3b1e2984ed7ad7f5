//! AIRMAIL at a base station: windows, repeats, timers, and how much parity there is.

use std::collections::{BTreeMap, VecDeque};

use super::super::InterceptorAction;
use super::header_of;
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::transport::tcp::TcpParams;
use crate::wire::airmail::{Header, Parity, Stamp, Status};
use crate::wire::{CustomHeader, CustomMessage, IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader};

/// The share of losses is an average over about so many windows.
const WINDOWS_AVERAGED: f64 = 4.0;

/// What the parameters say.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    window: u32,
    waiting_max: usize,
    retries: u32,
    timeout: Span,
    parity_max: u32,
}

impl Rules {
    /// The parameters must be within their ranges.
    pub(super) fn new(params: &TcpParams) -> Rules {
        Rules {
            window: params.airmail_window.min(Status::WINDOW_MAX),
            waiting_max: params.airmail_buffer_packets as usize,
            retries: params.airmail_retries,
            timeout: Span::from_secs(params.airmail_timeout_s),
            parity_max: params.airmail_parity_max,
        }
    }
}

/// A packet that is under way.
struct Sent {
    copy: Packet,
    times: u32,
    /// The first poll after its last transmission.
    asked: u32,
}

/// The way to one mobile node.
struct Link {
    rules: Rules,
    station: NodeId,
    mobile: NodeId,
    session: Time,
    waiting: VecDeque<Packet>,
    /// By number; they are within a window.
    sent: BTreeMap<u32, Sent>,
    /// The number of the next packet.
    next: u32,
    /// What the mobile node has said that it has, or waits for no longer: everything below.
    confirmed: u32,
    /// Polls so far.
    polls: u32,
    /// Is the last one not answered?
    is_asking: bool,
    /// Sent since the last poll.
    block: Vec<u32>,
    /// When it asks again, [`Time::NEVER`] if nothing is asked.
    deadline: Time,
    /// Timeouts without a status in between.
    timeouts: u32,
    /// The share of packets that the first transmission did not bring.
    lost_share: f64,
    /// Packets that the mobile node has made from parity.
    recovered: u32,
}

impl Link {
    fn new(rules: Rules, (station, mobile): (NodeId, NodeId), now: Time) -> Link {
        Link {
            rules,
            station,
            mobile,
            session: now,
            waiting: VecDeque::new(),
            sent: BTreeMap::new(),
            next: 0,
            confirmed: 0,
            polls: 0,
            is_asking: false,
            block: Vec::new(),
            deadline: Time::NEVER,
            timeouts: 0,
            lost_share: 0.0,
            recovered: 0,
        }
    }

    fn floor(&self) -> u32 {
        self.sent.first_key_value().map_or(self.next, |(&first, _)| first)
    }

    fn is_full(&self) -> bool {
        self.next - self.floor() >= self.rules.window
    }

    /// Sends these packets again, then what waits, as far as the window has room.
    fn send(&mut self, now: Time, again: &[u32], out: &mut Vec<InterceptorAction>) {
        let mut going: Vec<(u32, Packet)> = Vec::new();
        for number in again {
            if let Some(sent) = self.sent.get_mut(number) {
                (sent.times, sent.asked) = (sent.times + 1, self.polls);
                going.push((*number, sent.copy.clone()));
            }
        }
        while !self.is_full()
            && let Some(packet) = self.waiting.pop_front()
        {
            let copy = Packet { uid: Packet::UNNUMBERED, ..packet.clone() };
            self.sent.insert(self.next, Sent { copy, times: 1, asked: self.polls });
            going.push((self.next, packet));
            self.next += 1;
        }
        self.block.extend(going.iter().map(|(number, _)| *number));
        let asks = !going.is_empty() && (!again.is_empty() || self.is_full() || !self.is_asking);
        // The last packet asks, of parity if there is any.
        let last = (asks && self.parity() == 0).then(|| going.len() - 1);
        for (place, (number, mut packet)) in going.into_iter().enumerate() {
            let stamp = self.stamp(last == Some(place));
            let header = CustomHeader::new(Header::NAME, Header::BYTES, Header { stamp, number });
            packet.put_header(RoutingHeader::Custom(header));
            out.push(InterceptorAction::Route(packet));
        }
        if last.is_some() {
            self.has_asked(now);
        } else if asks {
            self.ask(now, out);
        }
    }

    fn stamp(&self, asks: bool) -> Stamp {
        let poll = asks.then_some(self.polls);
        Stamp { station: self.station, session: self.session, floor: self.floor(), poll }
    }

    /// Packets of parity that the block gets: as many as losses are to be expected in it.
    fn parity(&self) -> u32 {
        let expected = self.lost_share * self.block.len() as f64;
        // Rounded, and small.
        ((expected + 0.5) as u32).min(self.rules.parity_max)
    }

    /// Ends the block with its parity, of which the last packet asks for a status; without any, a mere poll
    /// does.
    fn ask(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        let parity = self.parity();
        let copy = |number: &u32| Some((*number, self.sent.get(number)?.copy.clone()));
        let packets: Vec<(u32, Packet)> =
            if parity == 0 { Vec::new() } else { self.block.iter().filter_map(copy).collect() };
        let longest = packets.iter().map(|(_, packet)| packet.bytes).max().unwrap_or(0);
        let name = if packets.is_empty() { Parity::POLL } else { Parity::NAME };
        let count = parity.max(1);
        for nth in 1..=count {
            let stamp = self.stamp(nth == count);
            let message = Parity { stamp, block: self.polls, packets: packets.clone() };
            out.push(InterceptorAction::Send {
                to: self.mobile,
                bytes: IP_HEADER_BYTES + Header::BYTES + longest,
                payload: Payload::Custom(CustomMessage::new(name, message)),
            });
        }
        self.has_asked(now);
    }

    fn has_asked(&mut self, now: Time) {
        self.block.clear();
        self.polls += 1;
        self.is_asking = true;
        self.deadline = now + self.rules.timeout;
    }

    /// Asks if something is open and nobody has asked for it.
    fn ask_for_rest(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        if !self.is_asking && (!self.sent.is_empty() || self.confirmed < self.next) {
            self.ask(now, out);
        }
    }

    fn take_status(&mut self, now: Time, status: Status, out: &mut Vec<InterceptorAction>) {
        if status.session != self.session || status.poll >= self.polls {
            return;
        }
        self.timeouts = 0;
        let first = |sent: &Sent| sent.times == 1 && sent.asked <= status.poll;
        let count = |sent: &BTreeMap<u32, Sent>| sent.values().filter(|sent| first(sent)).count() as u32;
        let covered = count(&self.sent);
        self.sent.retain(|&number, _| !status.has(number));
        let missing = count(&self.sent) + status.recovered.saturating_sub(self.recovered);
        self.observe(covered, missing);
        self.recovered = self.recovered.max(status.recovered);
        self.confirmed = self.confirmed.max(status.next);
        if status.poll + 1 == self.polls {
            (self.is_asking, self.deadline) = (false, Time::NEVER);
        }
        let retries = self.rules.retries;
        self.sent.retain(|_, sent| sent.asked > status.poll || sent.times <= retries);
        let lost = self.sent.iter().filter(|(_, sent)| sent.asked <= status.poll);
        let again: Vec<u32> = lost.map(|(&number, _)| number).collect();
        self.send(now, &again, out);
        self.ask_for_rest(now, out);
    }

    /// Of `covered` packets `missing` were not brought by their first transmission.
    fn observe(&mut self, covered: u32, missing: u32) {
        if covered > 0 {
            let share = f64::from(missing.min(covered)) / f64::from(covered);
            let gain = f64::from(covered) / (WINDOWS_AVERAGED * f64::from(self.rules.window));
            self.lost_share += gain.min(1.0) * (share - self.lost_share);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        if self.deadline > now {
            return;
        }
        (self.is_asking, self.deadline) = (false, Time::NEVER);
        self.timeouts += 1;
        let retries = self.rules.retries;
        if self.timeouts > retries {
            // Nobody is there: what was under way is given up.
            self.sent.clear();
            self.block.clear();
            (self.timeouts, self.confirmed) = (0, self.next);
        }
        while let Some(entry) = self.sent.first_entry()
            && entry.get().times > retries
        {
            entry.remove();
        }
        let first = self.sent.first_key_value().map(|(&number, _)| number);
        self.send(now, first.as_slice(), out);
        self.ask_for_rest(now, out);
    }
}

/// A base station, with the way to each of its mobile nodes.
pub(super) struct Station {
    node: NodeId,
    rules: Rules,
    cell: Vec<NodeId>,
    links: BTreeMap<NodeId, Link>,
}

impl Station {
    /// A base station for these neighbours; none without any.
    pub(super) fn new(node: NodeId, rules: Rules, cell: Vec<NodeId>) -> Station {
        Station { node, rules, cell, links: BTreeMap::new() }
    }

    /// Takes a packet that leaves. It comes back if it can go at once, or is no business of a base station.
    pub(super) fn take(
        &mut self,
        now: Time,
        packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        if !packet.is_data() || header_of(&packet).is_some() || !self.cell.contains(&packet.dst) {
            return Some(packet);
        }
        let ends = (self.node, packet.dst);
        let link = self.links.entry(packet.dst).or_insert_with(|| Link::new(self.rules, ends, now));
        if link.waiting.len() >= self.rules.waiting_max {
            out.push(InterceptorAction::Drop(packet, DropReason::QueueFull));
            return None;
        }
        link.waiting.push_back(packet);
        link.send(now, &[], out);
        // Alone, it needs no action to go.
        match out.pop() {
            Some(InterceptorAction::Route(packet)) if out.is_empty() => Some(packet),
            other => {
                out.extend(other);
                None
            }
        }
    }

    /// A mobile node says what it has.
    pub(super) fn take_status(
        &mut self,
        now: Time,
        from: NodeId,
        status: Status,
        out: &mut Vec<InterceptorAction>,
    ) {
        if let Some(link) = self.links.get_mut(&from) {
            link.take_status(now, status, out);
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        self.links.values_mut().for_each(|link| link.handle_timeout(now, out));
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.links.values().map(|link| link.deadline).min().unwrap_or(Time::NEVER)
    }

    /// Forgets everything; what waits is lost.
    pub(super) fn crash(&mut self, out: &mut Vec<InterceptorAction>) {
        let waiting = std::mem::take(&mut self.links).into_values().flat_map(|link| link.waiting);
        out.extend(waiting.map(|packet| InterceptorAction::Drop(packet, DropReason::Absent)));
    }

    pub(super) fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.links.values().flat_map(|link| &link.waiting).for_each(visit);
    }
}
