//! IMEP, the Internet MANET Encapsulation Protocol, as TORA needs it: it finds neighbours, and brings
//! objects to all of them, each once and in the order in which they were sent.
//!
//! **Deviations** from what CMU built for ns-2: docs/models/tora.md.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::kernel::{Span, Stream, Time};
use crate::routing::tora::params::ToraParams;
use crate::wire::NodeId;
use crate::wire::tora::{Ack, Block, Message, Packet};

/// Objects that go in one block at most, so that a packet is not longer than 1500 bytes.
const BLOCK_OBJECTS: usize = 24;

/// What IMEP tells TORA.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Event {
    /// The link works in both directions.
    Up(NodeId),
    /// It does not any more.
    Down(NodeId),
    /// An object of a neighbour.
    Object(NodeId, Message),
}

/// A link, as far as IMEP is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Link {
    /// The neighbour is heard.
    In,
    /// It hears this node, too, up to this time if nothing new says so. TORA was told.
    Bidirectional { until: Time },
}

/// A node that is heard.
struct Neighbour {
    heard_until: Time,
    link: Link,
    /// Did it say last that it has just started?
    is_new: bool,
    /// The block that comes next; none if none has come since the link is up.
    expected: Option<u8>,
    /// Blocks that came before their time.
    early: Vec<(u8, Arc<[Message]>)>,
    /// When blocks that are missing are given up.
    gap_until: Time,
}

/// A block that not all have acknowledged.
struct Unacknowledged {
    seqno: u8,
    objects: Arc<[Message]>,
    silent: BTreeSet<NodeId>,
    sent: u32,
    again_at: Time,
}

/// IMEP of one node. `events` and `packets` are what it has for TORA and for the link layer.
pub(super) struct Imep {
    node: NodeId,
    params: Arc<ToraParams>,
    stream: Stream,
    neighbours: BTreeMap<NodeId, Neighbour>,
    /// Objects that wait, and when they are sent.
    objects: Vec<Message>,
    objects_at: Time,
    /// HELLOs and ACKs that wait, and when they are sent without objects.
    hellos: BTreeSet<NodeId>,
    acks: Vec<Ack>,
    rest_at: Time,
    next_seqno: u8,
    /// Up to this time it says that it has just started.
    new_until: Time,
    unacknowledged: Vec<Unacknowledged>,
    beacon_at: Time,
    /// Was anything sent since the last beacon was due?
    has_sent: bool,
}

impl Imep {
    pub(super) fn new(node: NodeId, params: Arc<ToraParams>, stream: Stream) -> Imep {
        Imep {
            node,
            params,
            stream,
            neighbours: BTreeMap::new(),
            objects: Vec::new(),
            objects_at: Time::NEVER,
            hellos: BTreeSet::new(),
            acks: Vec::new(),
            rest_at: Time::NEVER,
            next_seqno: 0,
            new_until: Time::ZERO,
            unacknowledged: Vec::new(),
            beacon_at: Time::NEVER,
            has_sent: false,
        }
    }

    pub(super) fn start(&mut self, now: Time) {
        self.new_until = now + self.params.link_life();
        self.beacon_at = now + self.stream.span_below(Span::from_secs(self.params.beacon_interval_s));
    }

    /// Queues an object for all neighbours. A height takes the place of an older one that still waits.
    pub(super) fn send(&mut self, now: Time, object: Message) {
        if self.params.latest_heights
            && let Message::Upd { dst, .. } = object
        {
            self.objects.retain(|waiting| !matches!(waiting, Message::Upd { dst: of, .. } if *of == dst));
        }
        self.objects.push(object);
        if self.objects_at == Time::NEVER {
            self.objects_at =
                now + self.stream.span_below(Span::from_secs(self.params.object_wait_ms * 1e-3));
        }
    }

    /// Any packet shows that its sender is heard.
    pub(super) fn hear(&mut self, now: Time, from: NodeId) {
        let heard_until = now + self.params.link_life();
        let neighbour = self.neighbours.entry(from).or_insert_with(|| Neighbour {
            heard_until,
            link: Link::In,
            is_new: true,
            expected: None,
            early: Vec::new(),
            gap_until: Time::NEVER,
        });
        neighbour.heard_until = heard_until;
    }

    /// A packet of IMEP, after [`Imep::hear`].
    pub(super) fn receive(&mut self, now: Time, from: NodeId, packet: &Packet, events: &mut Vec<Event>) {
        let is_asked = packet.block.as_ref().is_some_and(|block| block.responders.contains(&self.node));
        self.note_start(from, packet.is_new, events);
        let mut is_heard = is_asked || packet.hellos.contains(&self.node);
        let me = self.node;
        for ack in packet.acks.iter().filter(|ack| ack.to == me) {
            self.acknowledged(ack.seqno, from);
            is_heard = true;
        }
        if is_heard {
            self.hears_me(now, from, events);
        }
        let Some(block) = &packet.block else { return };
        if is_asked {
            self.acknowledge(now, Ack { to: from, seqno: block.seqno });
        }
        if self.is_up(from) {
            self.take_in_order(now, from, block, events);
        }
    }

    /// The MAC could not bring a packet to the neighbour: its link is down at once.
    pub(super) fn lose(&mut self, node: NodeId, events: &mut Vec<Event>) {
        if self.is_up(node) {
            self.put_down(node, events);
        }
        self.neighbours.remove(&node);
    }

    /// Timers that are due together fire in the order of this function.
    pub(super) fn handle_timeout(&mut self, now: Time, packets: &mut Vec<Packet>, events: &mut Vec<Event>) {
        self.expire_links(now, events);
        self.skip_gaps(now, events);
        self.repeat(now, packets, events);
        if self.objects_at <= now {
            self.send_objects(now, packets);
        }
        if self.beacon_at <= now {
            self.beacon(now, packets);
        }
        if self.rest_at <= now {
            let packet = self.packet(now, None);
            packets.push(packet);
        }
    }

    pub(super) fn next_timeout(&self) -> Time {
        let of_neighbour = |neighbour: &Neighbour| {
            let until = match neighbour.link {
                Link::In => Time::NEVER,
                Link::Bidirectional { until } => until,
            };
            neighbour.heard_until.min(neighbour.gap_until).min(until)
        };
        let neighbours = self.neighbours.values().map(of_neighbour);
        let repeats = self.unacknowledged.iter().map(|block| block.again_at);
        let mine = self.objects_at.min(self.rest_at).min(self.beacon_at);
        neighbours.chain(repeats).fold(mine, Time::min)
    }
}

/// Links.
impl Imep {
    fn is_up(&self, node: NodeId) -> bool {
        let link = self.neighbours.get(&node).map(|neighbour| neighbour.link);
        matches!(link, Some(Link::Bidirectional { .. }))
    }

    /// The neighbour has said that it hears this node.
    fn hears_me(&mut self, now: Time, from: NodeId, events: &mut Vec<Event>) {
        let until = now + self.params.link_life();
        let Some(neighbour) = self.neighbours.get_mut(&from) else { return };
        if neighbour.link == Link::In {
            events.push(Event::Up(from));
        }
        neighbour.link = Link::Bidirectional { until };
    }

    /// A neighbour that starts anew has forgotten everything, and numbers its blocks from 0.
    fn note_start(&mut self, from: NodeId, is_new: bool, events: &mut Vec<Event>) {
        let Some(neighbour) = self.neighbours.get_mut(&from) else { return };
        let has_started = is_new && !neighbour.is_new;
        neighbour.is_new = is_new;
        if has_started && self.is_up(from) {
            self.put_down(from, events);
        }
    }

    /// Nothing is asked any more of a neighbour whose link is down, nor is its numbering remembered.
    fn put_down(&mut self, node: NodeId, events: &mut Vec<Event>) {
        if let Some(neighbour) = self.neighbours.get_mut(&node) {
            neighbour.link = Link::In;
            neighbour.expected = None;
            neighbour.early.clear();
            neighbour.gap_until = Time::NEVER;
        }
        self.unacknowledged.retain_mut(|block| {
            block.silent.remove(&node);
            !block.silent.is_empty()
        });
        events.push(Event::Down(node));
    }

    fn expire_links(&mut self, now: Time, events: &mut Vec<Event>) {
        let is_over = |neighbour: &Neighbour| match neighbour.link {
            Link::In => false,
            Link::Bidirectional { until } => until <= now || neighbour.heard_until <= now,
        };
        let over = self.neighbours.iter().filter(|(_, neighbour)| is_over(neighbour));
        for node in over.map(|(node, _)| *node).collect::<Vec<_>>() {
            self.put_down(node, events);
        }
        self.neighbours.retain(|_, neighbour| neighbour.heard_until > now);
    }

    /// HELLOs for all that are heard; a beacon only from a node that hears nobody and has said nothing.
    fn beacon(&mut self, now: Time, packets: &mut Vec<Packet>) {
        self.beacon_at = now + Span::from_secs(self.params.beacon_interval_s);
        self.hellos.extend(self.neighbours.keys());
        if !self.hellos.is_empty() {
            self.schedule_rest(now);
        } else if !self.has_sent {
            packets.push(self.packet(now, None));
        }
        self.has_sent = false;
    }
}

/// Objects that go out.
impl Imep {
    fn send_objects(&mut self, now: Time, packets: &mut Vec<Packet>) {
        self.objects_at = Time::NEVER;
        let objects = std::mem::take(&mut self.objects);
        let up: Vec<NodeId> = self.neighbours.keys().copied().filter(|node| self.is_up(*node)).collect();
        // Nobody is there to take them.
        if up.is_empty() {
            return;
        }
        for objects in objects.chunks(BLOCK_OBJECTS) {
            let block = Unacknowledged {
                seqno: self.next_seqno,
                objects: objects.into(),
                silent: up.iter().copied().collect(),
                sent: 1,
                again_at: now + self.params.repeat_after(),
            };
            self.next_seqno = self.next_seqno.wrapping_add(1);
            packets.push(self.packet(now, Some(&block)));
            self.unacknowledged.push(block);
        }
    }

    fn acknowledged(&mut self, seqno: u8, by: NodeId) {
        self.unacknowledged.retain_mut(|block| {
            if block.seqno == seqno {
                block.silent.remove(&by);
            }
            !block.silent.is_empty()
        });
    }

    /// Sends blocks again that not all have acknowledged, to those that have not. Who stays silent is lost.
    fn repeat(&mut self, now: Time, packets: &mut Vec<Packet>, events: &mut Vec<Event>) {
        let mut lost = BTreeSet::new();
        let mut blocks = std::mem::take(&mut self.unacknowledged);
        for block in blocks.iter_mut().filter(|block| block.again_at <= now) {
            if block.sent > self.params.repeats {
                lost.extend(&block.silent);
                continue;
            }
            block.sent += 1;
            block.again_at = now + self.params.repeat_after();
            packets.push(self.packet(now, Some(block)));
        }
        self.unacknowledged = blocks;
        lost.into_iter().for_each(|node| self.lose(node, events));
    }

    /// A packet with all that waits.
    fn packet(&mut self, now: Time, block: Option<&Unacknowledged>) -> Packet {
        self.has_sent = true;
        self.rest_at = Time::NEVER;
        Packet {
            is_new: now < self.new_until,
            hellos: std::mem::take(&mut self.hellos).into_iter().collect(),
            acks: std::mem::take(&mut self.acks).into(),
            block: block.map(|block| Block {
                seqno: block.seqno,
                responders: block.silent.iter().copied().collect(),
                objects: Arc::clone(&block.objects),
            }),
        }
    }

    /// HELLOs and ACKs wait for objects, but not for long.
    fn schedule_rest(&mut self, now: Time) {
        if self.rest_at == Time::NEVER {
            let (least, extra) = (self.params.least_wait_ms * 1e-3, self.params.extra_wait_ms * 1e-3);
            self.rest_at = now + Span::from_secs(least) + self.stream.span_below(Span::from_secs(extra));
        }
    }
}

/// Objects that come in.
impl Imep {
    fn acknowledge(&mut self, now: Time, ack: Ack) {
        if !self.acks.contains(&ack) {
            self.acks.push(ack);
        }
        self.schedule_rest(now);
    }

    fn take_in_order(&mut self, now: Time, from: NodeId, block: &Block, events: &mut Vec<Event>) {
        let gap_until = now + self.params.gap_patience();
        let Some(neighbour) = self.neighbours.get_mut(&from) else { return };
        let expected = *neighbour.expected.get_or_insert(block.seqno);
        // Of 256 numbers the half before the expected one are those of old blocks.
        if block.seqno.wrapping_sub(expected) >= 128 {
            return;
        }
        if !neighbour.early.iter().any(|(seqno, _)| *seqno == block.seqno) {
            neighbour.early.push((block.seqno, Arc::clone(&block.objects)));
        }
        neighbour.deliver(from, gap_until, events);
    }

    /// Blocks that were waited for in vain are skipped; TORA begins anew with this neighbour.
    fn skip_gaps(&mut self, now: Time, events: &mut Vec<Event>) {
        let gap_until = now + self.params.gap_patience();
        for (&node, neighbour) in &mut self.neighbours {
            if neighbour.gap_until > now {
                continue;
            }
            events.extend([Event::Down(node), Event::Up(node)]);
            let expected = neighbour.expected.unwrap_or_default();
            let first = neighbour.early.iter().min_by_key(|(seqno, _)| seqno.wrapping_sub(expected));
            neighbour.expected = first.map(|(seqno, _)| *seqno);
            neighbour.deliver(node, gap_until, events);
        }
    }
}

impl Neighbour {
    /// Delivers what is there up to the next gap.
    fn deliver(&mut self, from: NodeId, gap_until: Time, events: &mut Vec<Event>) {
        let is_known = self.gap_until < Time::NEVER;
        let mut has_come = false;
        while let Some(expected) = self.expected
            && let Some(place) = self.early.iter().position(|(seqno, _)| *seqno == expected)
        {
            let (_, objects) = self.early.swap_remove(place);
            events.extend(objects.iter().map(|object| Event::Object(from, *object)));
            self.expected = Some(expected.wrapping_add(1));
            has_come = true;
        }
        if self.early.is_empty() {
            self.gap_until = Time::NEVER;
        } else if has_come || !is_known {
            self.gap_until = gap_until;
        }
    }
}
