//! From the section of a block back to its events.

use std::borrow::Cow;

use manetlab_core::drops::DropReason;
use manetlab_core::kernel::{Span, Time};
use manetlab_core::observe::{FlowStep, PacketNote, Reach, Record, RecordKind};
use manetlab_core::routing::{HoldStep, Notice};
use manetlab_core::wire::NodeId;
use manetlab_core::wire::mac::{Class, FrameKind};

use crate::columns::{Section, Table};
use crate::container::BlockInfo;
use crate::error::RecordingError;
use crate::schema;

/// What became of a frame at a receiver: the frame's number, the node, the outcome.
pub(crate) type NodeReach = (u64, NodeId, Reach);

/// The events of a block in order, frames without their outcomes.
///
/// # Errors
/// When the block says what no run can say.
pub fn records(info: &BlockInfo, section: &Section) -> Result<Vec<Record>, RecordingError> {
    let block = Block { info, section };
    let Some(events) = section.table(schema::EVENT) else { return Ok(Vec::new()) };
    let mut next = [0; schema::LAST_EVENT_KIND as usize + 1];
    let mut records = Vec::with_capacity(events.rows);
    for row in 0..events.rows {
        let (time, kind) = (Time(events.at(0, row)), events.at(1, row));
        let at = next.get_mut(kind as usize).ok_or_else(|| block.fault("an event is of no known kind"))?;
        let table = section.table(kind as u16).filter(|table| *at < table.rows);
        let table = table.ok_or_else(|| block.fault("an event is missing from its table"))?;
        let node = NodeId(events.at(2, row) as u32);
        records.push(Record { time, node, kind: block.kind(table, *at)? });
        *at += 1;
    }
    Ok(records)
}

/// What became of frames, in the order in which it became known.
pub(crate) fn outcomes(info: &BlockInfo, section: &Section) -> Result<Vec<NodeReach>, RecordingError> {
    let block = Block { info, section };
    let Some(table) = section.table(schema::RECEPTION) else { return Ok(Vec::new()) };
    let outcome = |row| {
        let reach = block.named(table, 2, row, &Reach::ALL, |reach| reach.name().into())?;
        Ok((table.at(0, row), NodeId(table.at(1, row) as u32), reach))
    };
    (0..table.rows).map(outcome).collect()
}

struct Block<'b> {
    info: &'b BlockInfo,
    section: &'b Section,
}

impl Block<'_> {
    fn fault(&self, what: &str) -> RecordingError {
        RecordingError::damaged(self.info.offset, what)
    }

    fn text(&self, table: &Table, column: usize, row: usize) -> &str {
        let place = table.at(column, row) as usize;
        self.section.strings.get(place).map_or("", String::as_str)
    }

    /// The one of `all` that has the name in the column.
    fn named<T: Copy>(
        &self,
        table: &Table,
        column: usize,
        row: usize,
        all: &[T],
        name: impl Fn(T) -> Cow<'static, str>,
    ) -> Result<T, RecordingError> {
        let text = self.text(table, column, row);
        let found = all.iter().find(|each| name(**each) == text);
        found
            .copied()
            .ok_or_else(|| self.fault(&format!("`{text}` is not known; a newer version may know it")))
    }

    fn address(&self, stored: u64) -> Result<NodeId, RecordingError> {
        optional_address(stored).ok_or_else(|| self.fault("an address is missing"))
    }

    fn kind(&self, table: &Table, row: usize) -> Result<RecordKind, RecordingError> {
        let at = |column| table.at(column, row);
        Ok(match table.id {
            schema::FRAME => self.frame(table, row)?,
            schema::MADE => RecordKind::Made(self.packet(table, row, optional(at(3)))?),
            schema::SENT => RecordKind::SentDown(self.packet(table, row, None)?, self.address(at(3))?),
            schema::DELIVERED => RecordKind::Delivered(self.packet(table, row, optional(at(3)))?),
            schema::MARKED => RecordKind::Marked(self.packet(table, row, None)?),
            schema::KEPT => RecordKind::Kept(self.packet(table, row, None)?),
            schema::DROPPED => {
                let reason = self.named(table, 3, row, DropReason::ALL, |reason| reason.name().into())?;
                RecordKind::Dropped(self.packet(table, row, None)?, reason)
            }
            schema::ROUTE => RecordKind::Route {
                dst: self.address(at(0))?,
                next_hop: optional_address(at(1)),
                hops: optional(at(2)).map(|hops| hops as u32),
            },
            schema::QUEUE => RecordKind::Queue(at(0) as u32),
            schema::WINDOW => RecordKind::Window {
                flow: at(0) as u32,
                cwnd: f64::from_bits(at(1)),
                ssthresh: f64::from_bits(at(2)),
                rto: Span(at(3)),
            },
            schema::NOTICE => RecordKind::Notice(self.notice(table, row)?),
            schema::FLOW => RecordKind::Flow {
                flow: at(0) as u32,
                step: self.named(table, 1, row, &FlowStep::ALL, |step| step.name().into())?,
            },
            schema::SHARE => RecordKind::Share {
                flow: at(0) as u32,
                hops: at(1) as u8,
                share: f64::from_bits(at(2)),
                rate_bps: f64::from_bits(at(3)),
            },
            _ => return Err(self.fault("an event is of no known kind")),
        })
    }

    fn frame(&self, table: &Table, row: usize) -> Result<RecordKind, RecordingError> {
        const KINDS: [FrameKind; 4] = [FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack];
        const CLASSES: [Class; 3] = [Class::Data, Class::Routing, Class::Arp];
        let shapes =
            self.section.table(schema::SHAPE).ok_or_else(|| self.fault("a frame lacks its shape"))?;
        let shape = table.at(0, row) as usize;
        Ok(RecordKind::Frame {
            number: self.info.first_frame + row as u64,
            kind: self.named(shapes, 0, shape, &KINDS, |kind| kind.name().into())?,
            to: self.address(table.at(1, row))?,
            bytes: shapes.at(3, shape) as u32,
            class: self.named(shapes, 1, shape, &CLASSES, |class| class.name().into())?,
            rate_bps: f64::from_bits(shapes.at(2, shape)),
            airtime: Span(shapes.at(4, shape)),
            uid: optional(table.at(2, row)),
            receivers: None,
        })
    }

    fn packet(&self, table: &Table, row: usize, number: Option<u64>) -> Result<PacketNote, RecordingError> {
        let packets = self.section.table(schema::PACKET);
        let packets = packets.ok_or_else(|| self.fault("an event lacks its packet"))?;
        let packet = table.at(0, row) as usize;
        let cause = self.text(packets, 4, packet);
        Ok(PacketNote {
            uid: table.at(1, row),
            what: self.text(packets, 0, packet).to_owned().into(),
            flow: optional(packets.at(5, packet)).map(|flow| flow as u32),
            src: self.address(packets.at(1, packet))?,
            dst: self.address(packets.at(2, packet))?,
            bytes: packets.at(3, packet) as u32,
            ttl: table.at(2, row) as u8,
            cause: (!cause.is_empty()).then(|| cause.to_owned().into()),
            number,
        })
    }

    fn notice(&self, table: &Table, row: usize) -> Result<Notice, RecordingError> {
        const STEPS: [HoldStep; 5] = [
            HoldStep::Begins,
            HoldStep::Probes,
            HoldStep::Answered,
            HoldStep::Ends { answered: true },
            HoldStep::Ends { answered: false },
        ];
        let dst = self.address(table.at(1, row))?;
        Ok(match (self.text(table, 0, row), self.text(table, 2, row)) {
            ("route-failed", detail) => Notice::RouteFailed { dst, told: detail == "told" },
            ("route-found", _) => Notice::RouteFound { dst },
            ("hold", _) => {
                Notice::Hold { dst, step: self.named(table, 2, row, &STEPS, |step| step.name().into())? }
            }
            _ => return Err(self.fault("a notice is of no known kind")),
        })
    }
}

fn optional(stored: u64) -> Option<u64> {
    stored.checked_sub(1)
}

fn optional_address(stored: u64) -> Option<NodeId> {
    match stored {
        0 => None,
        1 => Some(NodeId::BROADCAST),
        _ => Some(NodeId((stored - 2) as u32)),
    }
}
