//! A recording's events as values of their own, and as text: one JSON object a line.
//!
//! A [`Record`] is what recordings keep of an [`Event`]. The lines of the text have `t` (s), `node`, `event`
//! and the fields of that event (docs/recording.md). Recordings in files are the crate `manetlab-recording`'s
//! business.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write;

use super::recorder::{Event, FlowStep, PacketRef, Reach, Recorder, Sending};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Notice;
use crate::wire::mac::{Class, FrameKind};
use crate::wire::{NodeId, Packet, Payload, adp, psp, tcp};

/// Version of the recording; raised when the meaning of what it says changes.
pub const RECORDING_VERSION: u32 = 2;

/// One event.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// What.
    pub kind: RecordKind,
}

/// What happened.
#[derive(Clone, PartialEq, Debug)]
pub enum RecordKind {
    /// An endpoint made a packet.
    Made(PacketNote),
    /// IP handed a packet down to the link layer.
    SentDown(PacketNote, NodeId),
    /// A packet reached its endpoint.
    Delivered(PacketNote),
    /// The interface queue marked a packet for congestion.
    Marked(PacketNote),
    /// A node keeps a packet for TCP-BuS, or because its flow is throttled.
    Kept(PacketNote),
    /// A packet was dropped.
    Dropped(PacketNote, DropReason),
    /// A frame went on the air.
    Frame {
        /// Its number in the run.
        number: u64,
        /// Its kind.
        kind: FrameKind,
        /// The receiver.
        to: NodeId,
        /// Length in bytes.
        bytes: u32,
        /// On whose behalf.
        class: Class,
        /// Rate in bit/s.
        rate_bps: f64,
        /// Time on the air.
        airtime: Span,
        /// The number of the packet that it is on the air for; none for ARP.
        uid: Option<u64>,
        /// What became of it at its receivers; none while that is not known.
        receivers: Option<Vec<(NodeId, Reach)>>,
    },
    /// The interface queue has another length.
    Queue(u32),
    /// Routing has another route.
    Route {
        /// The destination.
        dst: NodeId,
        /// The next hop; none without a route.
        next_hop: Option<NodeId>,
        /// The links to the destination, if the protocol knows.
        hops: Option<u32>,
    },
    /// Routing told the other layers something.
    Notice(Notice),
    /// A TCP sender's state after an input.
    Window {
        /// The flow.
        flow: u32,
        /// Congestion window in segments.
        cwnd: f64,
        /// Slow-start threshold in segments.
        ssthresh: f64,
        /// Retransmission time-out.
        rto: Span,
    },
    /// A flow begins, ends, or meets a time-out.
    Flow {
        /// The flow.
        flow: u32,
        /// What happens.
        step: FlowStep,
    },
    /// A source has learned another rate for its flow.
    Share {
        /// The flow.
        flow: u32,
        /// Length of its path.
        hops: u8,
        /// Its share.
        share: f64,
        /// The rate, bit/s of payload.
        rate_bps: f64,
    },
}

/// What a recording says of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacketNote {
    /// The packet's number.
    pub uid: u64,
    /// What it is, see `Packet::name`.
    pub what: Cow<'static, str>,
    /// The flow whose traffic it is, if it is that.
    pub flow: Option<u32>,
    /// The source address.
    pub src: NodeId,
    /// The destination address.
    pub dst: NodeId,
    /// Length at the IP layer.
    pub bytes: u32,
    /// The time to live that it had.
    pub ttl: u8,
    /// Why DSR made it.
    pub cause: Option<Cow<'static, str>>,
    /// Of a TCP segment its number, of an ACK the number that it waits for; of others their number in the
    /// flow.
    pub number: Option<u64>,
}

impl PacketNote {
    /// Is it traffic of a flow?
    pub fn is_data(&self) -> bool {
        self.flow.is_some()
    }
}

impl From<&Packet> for PacketNote {
    fn from(packet: &Packet) -> PacketNote {
        let cause = packet.dsr().filter(|_| !packet.is_data()).map(|header| header.cause(packet.src));
        PacketNote {
            uid: packet.uid,
            what: packet.name().into(),
            flow: packet.flow().map(|flow| flow.0),
            src: packet.src,
            dst: packet.dst,
            bytes: packet.bytes,
            ttl: packet.ttl,
            cause: cause.map(Cow::Borrowed),
            number: number(&packet.payload),
        }
    }
}

/// The number that a recording gives for what a packet carries.
fn number(payload: &Payload) -> Option<u64> {
    match payload {
        Payload::Tcp(_, tcp::Segment::Data { number, .. } | tcp::Segment::Ack { next: number, .. })
        | Payload::Adp(_, adp::Segment::Data { number, .. } | adp::Segment::Ack { number, .. }, _)
        | Payload::Psp(_, psp::Segment::Data { number, .. } | psp::Segment::Ack { newest: number, .. }) => {
            Some((*number).into())
        }
        Payload::Udp(_, number) => Some(*number),
        Payload::Datagram(_, datagram) => Some(datagram.message.into()),
        _ => None,
    }
}

impl RecordKind {
    /// What a recording keeps of an event; none if nothing.
    pub fn of(event: &Event<'_>) -> Option<RecordKind> {
        Some(match *event {
            Event::Frame(Sending { number, frame, rate_bps, packet }) => RecordKind::Frame {
                number,
                kind: frame.kind,
                to: frame.to,
                bytes: frame.bytes,
                class: frame.class,
                rate_bps,
                airtime: frame.airtime,
                uid: packet.map(|PacketRef { uid, .. }| uid),
                receivers: None,
            },
            Event::Made(packet) => RecordKind::Made(packet.into()),
            Event::Sent(packet, next_hop) => RecordKind::SentDown(packet.into(), next_hop),
            Event::Delivered(packet) => RecordKind::Delivered(packet.into()),
            Event::Marked(packet) => RecordKind::Marked(packet.into()),
            Event::Kept(packet) => RecordKind::Kept(packet.into()),
            Event::Dropped(packet, reason) => RecordKind::Dropped(packet.into(), reason),
            Event::Queue(length) => RecordKind::Queue(length),
            Event::Route { dst, next_hop, hops } => RecordKind::Route { dst, next_hop, hops },
            Event::Window { flow, cwnd, ssthresh, rto } => {
                RecordKind::Window { flow: flow.0, cwnd, ssthresh, rto }
            }
            Event::Share { flow, hops, share, rate_bps } => {
                RecordKind::Share { flow: flow.0, hops, share, rate_bps }
            }
            Event::Notice(notice) => RecordKind::Notice(notice),
            Event::Flow(flow, step) => RecordKind::Flow { flow: flow.0, step },
            Event::Received { .. } | Event::Arrived(..) | Event::ArpDropped(..) => return None,
        })
    }

    /// Is it a frame of which nobody can say yet who received it, when the run is at `now`?
    fn is_open(&self, start: Time, now: Time) -> bool {
        // The last bit is everywhere some microseconds after the frame's end.
        let travel = Span::from_millis(1);
        matches!(self, RecordKind::Frame { receivers: None, airtime, .. } if start + *airtime + travel >= now)
    }
}

/// The events of a run in order, each given out when all is known of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordQueue {
    waiting: VecDeque<Record>,
    newest: Time,
}

impl RecordQueue {
    /// Takes the next event of the run.
    pub fn take(&mut self, time: Time, node: NodeId, event: &Event<'_>) {
        if let &Event::Received { number, receptions, .. } = event {
            self.close(number, receptions.iter().map(|reception| (reception.node, reception.outcome)));
        } else if let Some(kind) = RecordKind::of(event) {
            self.push(Record { time, node, kind });
        }
    }

    /// Takes the next event.
    pub fn push(&mut self, record: Record) {
        self.newest = self.newest.max(record.time);
        self.waiting.push_back(record);
    }

    /// Says what became of a frame; may be said in several parts.
    pub fn close(&mut self, frame: u64, outcomes: impl Iterator<Item = (NodeId, Reach)>) {
        // Frames are few and their ends near their starts: the last ones are looked at first.
        for record in self.waiting.iter_mut().rev() {
            if let RecordKind::Frame { number, receivers, .. } = &mut record.kind
                && *number == frame
            {
                receivers.get_or_insert_default().extend(outcomes);
                return;
            }
        }
    }

    /// The next event of which all is known. Of a frame whose end has passed it is known that nobody else
    /// received it.
    pub fn pop(&mut self) -> Option<Record> {
        let first = self.waiting.front()?;
        if first.kind.is_open(first.time, self.newest) {
            return None;
        }
        let mut first = self.waiting.pop_front()?;
        if let RecordKind::Frame { receivers, .. } = &mut first.kind {
            receivers.get_or_insert_default();
        }
        Some(first)
    }

    /// The next event, whatever is known of it.
    pub fn pop_anyway(&mut self) -> Option<Record> {
        self.waiting.pop_front()
    }
}

/// All events of a run, in memory.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recording {
    records: Vec<Record>,
    queue: RecordQueue,
}

impl Recording {
    /// The events in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The recording as text, see the module's head.
    pub fn to_json_lines(&self) -> String {
        let mut text = json_head(self.records.len());
        self.records.iter().for_each(|record| json_line(record, &mut text));
        text
    }
}

impl Recorder for Recording {
    fn record(&mut self, time: Time, node: NodeId, event: &Event<'_>) {
        self.queue.take(time, node, event);
        self.records.extend(std::iter::from_fn(|| self.queue.pop()));
    }

    fn end(&mut self, _time: Time) {
        self.records.extend(std::iter::from_fn(|| self.queue.pop_anyway()));
    }
}

/// The first line of a recording as text, of so many events. Its length is always the same, so that it can be
/// written before they are counted.
pub fn json_head(events: usize) -> String {
    let head =
        format!("{{\"format\":\"manetlab-recording\",\"version\":{RECORDING_VERSION},\"events\":{events}}}");
    format!("{head:<80}\n")
}

/// Appends the line of an event.
#[expect(clippy::expect_used, reason = "writing to a `String` does not fail")]
pub fn json_line(record: &Record, text: &mut String) {
    line(record, text).expect("writing to a string cannot fail");
}

fn line(record: &Record, text: &mut String) -> std::fmt::Result {
    let nanos = record.time.0;
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    write!(
        text,
        "{{\"t\":{seconds}.{rest:09},\"node\":{},\"event\":\"{}\"",
        record.node.0,
        name(&record.kind)
    )?;
    match &record.kind {
        RecordKind::Made(note) | RecordKind::Delivered(note) => {
            packet(note, text)?;
            optional("number", note.number, text)?;
        }
        RecordKind::Marked(note) | RecordKind::Kept(note) => packet(note, text)?,
        RecordKind::SentDown(note, to) => {
            packet(note, text)?;
            write!(text, ",\"next_hop\":{}", address(*to))?;
        }
        RecordKind::Dropped(note, reason) => {
            packet(note, text)?;
            write!(text, ",\"reason\":\"{}\"", reason.name())?;
        }
        RecordKind::Frame { .. } => frame(&record.kind, text)?,
        RecordKind::Queue(length) => write!(text, ",\"packets\":{length}")?,
        RecordKind::Route { dst, next_hop, hops } => {
            write!(text, ",\"dst\":{}", dst.0)?;
            optional("next_hop", next_hop.map(|next_hop| next_hop.0.into()), text)?;
            optional("hops", hops.map(u64::from), text)?;
        }
        RecordKind::Notice(notice) => notice_fields(*notice, text)?,
        RecordKind::Window { flow, cwnd, ssthresh, rto } => write!(
            text,
            ",\"flow\":{flow},\"cwnd\":{cwnd},\"ssthresh\":{ssthresh},\"rto_s\":{}",
            rto.as_secs()
        )?,
        RecordKind::Flow { flow, step } => write!(text, ",\"flow\":{flow},\"step\":\"{}\"", step.name())?,
        RecordKind::Share { flow, hops, share, rate_bps } => {
            write!(text, ",\"flow\":{flow},\"hops\":{hops},\"share\":{share},\"rate_bps\":{rate_bps}")?;
        }
    }
    text.push_str("}\n");
    Ok(())
}

fn name(kind: &RecordKind) -> &'static str {
    match kind {
        RecordKind::Made(_) => "made",
        RecordKind::SentDown(..) => "sent",
        RecordKind::Delivered(_) => "delivered",
        RecordKind::Marked(_) => "marked",
        RecordKind::Kept(_) => "kept",
        RecordKind::Dropped(..) => "dropped",
        RecordKind::Frame { .. } => "frame",
        RecordKind::Queue(_) => "queue",
        RecordKind::Route { .. } => "route",
        RecordKind::Notice(Notice::RouteFailed { .. }) => "route-failed",
        RecordKind::Notice(Notice::RouteFound { .. }) => "route-found",
        RecordKind::Notice(Notice::Hold { .. }) => "hold",
        RecordKind::Window { .. } => "window",
        RecordKind::Flow { .. } => "flow",
        RecordKind::Share { .. } => "share",
    }
}

fn packet(note: &PacketNote, text: &mut String) -> std::fmt::Result {
    write!(
        text,
        ",\"uid\":{},\"what\":\"{}\",\"src\":{},\"dst\":{},\"bytes\":{},\"ttl\":{}",
        note.uid,
        note.what,
        note.src.0,
        address(note.dst),
        note.bytes,
        note.ttl
    )?;
    match &note.cause {
        Some(cause) => write!(text, ",\"cause\":\"{cause}\""),
        None => Ok(()),
    }
}

fn frame(kind: &RecordKind, text: &mut String) -> std::fmt::Result {
    let RecordKind::Frame { number, kind, to, bytes, class, rate_bps, airtime, uid, receivers } = kind else {
        return Ok(());
    };
    let (kind, class, to) = (kind.name(), class.name(), address(*to));
    write!(text, ",\"kind\":\"{kind}\",\"to\":{to},\"bytes\":{bytes},\"for\":\"{class}\"")?;
    write!(text, ",\"number\":{number},\"rate_bps\":{rate_bps},\"airtime_s\":{}", airtime.as_secs())?;
    optional("uid", *uid, text)?;
    let Some(receivers) = receivers.as_ref().filter(|receivers| !receivers.is_empty()) else { return Ok(()) };
    text.push_str(",\"receivers\":{");
    for (at, (node, outcome)) in receivers.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}\"{}\":\"{}\"", node.0, outcome.name())?;
    }
    text.push('}');
    Ok(())
}

fn notice_fields(notice: Notice, text: &mut String) -> std::fmt::Result {
    write!(text, ",\"dst\":{}", notice.dst().0)?;
    match notice {
        Notice::RouteFailed { told, .. } => write!(text, ",\"told\":{told}"),
        Notice::RouteFound { .. } => Ok(()),
        Notice::Hold { step, .. } => write!(text, ",\"step\":\"{}\"", step.name()),
    }
}

fn optional(key: &str, value: Option<u64>, text: &mut String) -> std::fmt::Result {
    value.map_or(Ok(()), |value| write!(text, ",\"{key}\":{value}"))
}

fn address(node: NodeId) -> String {
    if node.is_broadcast() { "\"broadcast\"".to_owned() } else { node.0.to_string() }
}
