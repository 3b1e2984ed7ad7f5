//! The recording: what happened, in order, when it is asked for.
//!
//! Text, one JSON object a line. The first line is `{"format":"manetlab-recording","version":1,…}`; each
//! other line has `t` (s), `node`, `event` and the fields of that event (docs/recording.md). Recording
//! changes no result.

use std::fmt::Write;

use crate::drops::DropReason;
use crate::kernel::Time;
use crate::routing::Notice;
use crate::wire::mac::{Class, FrameKind};
use crate::wire::{NodeId, Packet};

/// Version of the format; raised when a line's meaning changes.
pub const RECORDING_VERSION: u32 = 1;

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
    /// A node keeps a packet for TCP-BuS.
    Kept(PacketNote),
    /// A packet was dropped.
    Dropped(PacketNote, DropReason),
    /// A frame went on the air.
    Frame {
        /// Its kind.
        kind: FrameKind,
        /// The receiver.
        to: NodeId,
        /// Length in bytes.
        bytes: u32,
        /// On whose behalf.
        class: Class,
    },
    /// Routing told the other layers something.
    Notice(Notice),
    /// A TCP sender's state after a change.
    Window {
        /// The flow.
        flow: u32,
        /// Congestion window in segments.
        cwnd: f64,
        /// Slow-start threshold in segments.
        ssthresh: f64,
        /// Retransmission time-out, s.
        rto_s: f64,
    },
}

/// What a recording says of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketNote {
    uid: u64,
    what: &'static str,
    is_data: bool,
    src: u32,
    dst: u32,
    bytes: u32,
    ttl: u8,
    /// Why DSR made it.
    cause: Option<&'static str>,
}

impl PacketNote {
    /// The packet's number.
    pub fn uid(&self) -> u64 {
        self.uid
    }

    /// The time to live that it had.
    pub fn ttl(&self) -> u8 {
        self.ttl
    }

    /// Is it traffic of a flow?
    pub fn is_data(&self) -> bool {
        self.is_data
    }
}

impl From<&Packet> for PacketNote {
    fn from(packet: &Packet) -> PacketNote {
        PacketNote {
            uid: packet.uid,
            what: packet.name(),
            is_data: packet.is_data(),
            src: packet.src.0,
            dst: packet.dst.0,
            bytes: packet.bytes,
            ttl: packet.ttl,
            cause: packet.dsr().filter(|_| !packet.is_data()).map(|header| header.cause(packet.src)),
        }
    }
}

/// All events of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recording {
    records: Vec<Record>,
}

impl Recording {
    /// Appends an event.
    pub fn push(&mut self, record: Record) {
        self.records.push(record);
    }

    /// The events in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The recording as text, see the module's head.
    #[expect(clippy::expect_used, reason = "writing to a `String` does not fail")]
    pub fn to_json_lines(&self) -> String {
        let mut text = format!(
            "{{\"format\":\"manetlab-recording\",\"version\":{RECORDING_VERSION},\"events\":{}}}\n",
            self.records.len()
        );
        for record in &self.records {
            line(record, &mut text).expect("writing to a string cannot fail");
        }
        text
    }
}

fn line(record: &Record, text: &mut String) -> std::fmt::Result {
    let nanos = record.time.0;
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    write!(text, "{{\"t\":{seconds}.{rest:09},\"node\":{},", record.node.0)?;
    match &record.kind {
        RecordKind::Made(note) => write!(text, "\"event\":\"made\",{}", fields(note))?,
        RecordKind::SentDown(note, to) => {
            write!(text, "\"event\":\"sent\",{},\"next_hop\":{}", fields(note), address(*to))?;
        }
        RecordKind::Delivered(note) => write!(text, "\"event\":\"delivered\",{}", fields(note))?,
        RecordKind::Marked(note) => write!(text, "\"event\":\"marked\",{}", fields(note))?,
        RecordKind::Kept(note) => write!(text, "\"event\":\"kept\",{}", fields(note))?,
        RecordKind::Dropped(note, reason) => {
            write!(text, "\"event\":\"dropped\",{},\"reason\":\"{}\"", fields(note), reason.name())?;
        }
        RecordKind::Frame { kind, to, bytes, class } => write!(
            text,
            "\"event\":\"frame\",\"kind\":\"{}\",\"to\":{},\"bytes\":{bytes},\"for\":\"{}\"",
            kind.name(),
            address(*to),
            class.name()
        )?,
        RecordKind::Notice(Notice::RouteFailed { dst, told }) => {
            write!(text, "\"event\":\"route-failed\",\"dst\":{},\"told\":{told}", dst.0)?;
        }
        RecordKind::Notice(Notice::RouteFound { dst }) => {
            write!(text, "\"event\":\"route-found\",\"dst\":{}", dst.0)?;
        }
        RecordKind::Notice(Notice::Hold { dst, step }) => {
            write!(text, "\"event\":\"hold\",\"dst\":{},\"step\":\"{}\"", dst.0, step.name())?;
        }
        RecordKind::Window { flow, cwnd, ssthresh, rto_s } => write!(
            text,
            "\"event\":\"window\",\"flow\":{flow},\"cwnd\":{cwnd},\"ssthresh\":{ssthresh},\"rto_s\":{rto_s}"
        )?,
    }
    text.push_str("}\n");
    Ok(())
}

fn fields(note: &PacketNote) -> String {
    let cause = note.cause.map(|cause| format!(",\"cause\":\"{cause}\"")).unwrap_or_default();
    format!(
        "\"uid\":{},\"what\":\"{}\",\"src\":{},\"dst\":{},\"bytes\":{},\"ttl\":{}{cause}",
        note.uid,
        note.what,
        note.src,
        address(NodeId(note.dst)),
        note.bytes,
        note.ttl
    )
}

fn address(node: NodeId) -> String {
    if node.is_broadcast() { "\"broadcast\"".to_owned() } else { node.0.to_string() }
}
