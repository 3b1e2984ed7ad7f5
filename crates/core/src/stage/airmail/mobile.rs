//! AIRMAIL at a mobile node: order, duplicates, what is made from parity, and the status when it is asked
//! for.

use std::collections::BTreeMap;

use super::super::InterceptorAction;
use crate::drops::DropReason;
use crate::kernel::Time;
use crate::wire::airmail::{Header, Parity, Stamp, Status};
use crate::wire::{CustomMessage, IP_HEADER_BYTES, NodeId, Packet, Payload};

/// What came from one base station.
struct Inbox {
    session: Time,
    /// Everything below has arrived, or comes no more.
    next: u32,
    /// What has arrived beyond it; none is left of those that have gone up.
    held: BTreeMap<u32, Option<Packet>>,
    /// The latest block with parity, and how many packets of parity have arrived.
    parity: (u32, u32),
    recovered: u32,
}

impl Inbox {
    fn of(stamp: Stamp) -> Inbox {
        Inbox {
            session: stamp.session,
            next: stamp.floor,
            held: BTreeMap::new(),
            parity: (0, 0),
            recovered: 0,
        }
    }

    fn has(&self, number: u32) -> bool {
        number < self.next || self.held.contains_key(&number)
    }

    fn status(&self, poll: u32) -> Status {
        let bits = (0..Status::WINDOW_MAX).filter(|bit| self.held.contains_key(&(self.next + bit)));
        let held = bits.fold(0, |held, bit| held | 1 << bit);
        Status { session: self.session, poll, next: self.next, held, recovered: self.recovered }
    }
}

/// A mobile node, with what came from each base station.
pub(super) struct Mobile {
    in_order: bool,
    inboxes: BTreeMap<NodeId, Inbox>,
}

impl Mobile {
    pub(super) fn new(in_order: bool) -> Mobile {
        Mobile { in_order, inboxes: BTreeMap::new() }
    }

    /// A packet arrives, without its header. It comes back if it is the only one that goes up.
    pub(super) fn take(
        &mut self,
        header: Header,
        packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        let Header { stamp, number } = header;
        let inbox = self.inbox(stamp, out);
        let before = out.len();
        if stamp.session < inbox.session || inbox.has(number) {
            out.push(InterceptorAction::Drop(packet, DropReason::Duplicate));
        } else {
            self.keep(stamp.station, number, packet, out);
        }
        let alone = match &out[before..] {
            [InterceptorAction::Up(..)] if before == 0 => out.pop(),
            _ => None,
        };
        self.answer(stamp, out);
        match alone {
            Some(InterceptorAction::Up(packet, _)) => Some(packet),
            _ => None,
        }
    }

    /// A packet of parity arrives, or a mere poll.
    pub(super) fn take_parity(&mut self, parity: &Parity, out: &mut Vec<InterceptorAction>) {
        let Parity { stamp, block, ref packets } = *parity;
        let inbox = self.inbox(stamp, out);
        if stamp.session == inbox.session {
            let count = if inbox.parity.0 == block { inbox.parity.1 + 1 } else { 1 };
            inbox.parity = (block, count);
            let missing: Vec<_> = packets.iter().filter(|(number, _)| !inbox.has(*number)).cloned().collect();
            if missing.len() <= count as usize {
                inbox.recovered += missing.len() as u32;
                for (number, packet) in missing {
                    self.keep(stamp.station, number, packet, out);
                }
            }
        }
        self.answer(stamp, out);
    }

    /// What came from this base station, which waits for nothing below the floor any longer. A new session
    /// begins anew.
    fn inbox(&mut self, stamp: Stamp, out: &mut Vec<InterceptorAction>) -> &mut Inbox {
        let inbox = self.inboxes.entry(stamp.station).or_insert_with(|| Inbox::of(stamp));
        let is_new = stamp.session > inbox.session;
        let kept = if is_new { std::mem::take(&mut inbox.held) } else { BTreeMap::new() };
        out.extend(kept.into_values().flatten().map(|packet| InterceptorAction::Up(packet, stamp.station)));
        if is_new {
            *inbox = Inbox::of(stamp);
        }
        if stamp.session == inbox.session && stamp.floor > inbox.next {
            let beyond = inbox.held.split_off(&stamp.floor);
            let below = std::mem::replace(&mut inbox.held, beyond);
            out.extend(
                below.into_values().flatten().map(|packet| InterceptorAction::Up(packet, stamp.station)),
            );
            inbox.next = stamp.floor;
            inbox.release(stamp.station, out);
        }
        inbox
    }

    fn keep(&mut self, station: NodeId, number: u32, packet: Packet, out: &mut Vec<InterceptorAction>) {
        let in_order = self.in_order;
        let Some(inbox) = self.inboxes.get_mut(&station) else { return };
        if in_order {
            inbox.held.insert(number, Some(packet));
        } else {
            inbox.held.insert(number, None);
            out.push(InterceptorAction::Up(packet, station));
        }
        inbox.release(station, out);
    }

    /// Says what is there, if the base station asks.
    fn answer(&self, stamp: Stamp, out: &mut Vec<InterceptorAction>) {
        let Some(poll) = stamp.poll else { return };
        let Some(inbox) = self.inboxes.get(&stamp.station).filter(|of| of.session == stamp.session) else {
            return;
        };
        out.push(InterceptorAction::Send {
            to: stamp.station,
            bytes: IP_HEADER_BYTES + Status::BYTES,
            payload: Payload::Custom(CustomMessage::new(Status::NAME, inbox.status(poll))),
        });
    }

    /// Forgets everything; what is held is lost.
    pub(super) fn crash(&mut self, out: &mut Vec<InterceptorAction>) {
        let held = std::mem::take(&mut self.inboxes).into_values().flat_map(|inbox| inbox.held.into_values());
        out.extend(held.flatten().map(|packet| InterceptorAction::Drop(packet, DropReason::Absent)));
    }

    pub(super) fn kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.inboxes.values().flat_map(|inbox| inbox.held.values().flatten()).for_each(visit);
    }
}

impl Inbox {
    /// What is in order now goes up.
    fn release(&mut self, station: NodeId, out: &mut Vec<InterceptorAction>) {
        while let Some(packet) = self.held.remove(&self.next) {
            self.next += 1;
            out.extend(packet.map(|packet| InterceptorAction::Up(packet, station)));
        }
    }
}
