//! Reads a recording block by block. The file may be cut off, damaged or made to do harm.

use std::io::{Read, Seek, SeekFrom};

use serde_json::Value;

use crate::columns::{self, Section, Table};
use crate::container::{
    self, BLOCK_HEAD, BlockInfo, CHUNK_HEAD, ChunkHead, END_MAGIC, FILE_HEAD, MAGIC, MOST_EVENTS, TRAILER,
    u32_at, u64_at,
};
use crate::error::RecordingError;
use crate::schema;

/// A recording that is open.
pub struct Reader<R> {
    file: R,
    length: u64,
    head: Value,
    movement: Section,
    blocks: Vec<BlockInfo>,
    is_complete: bool,
}

impl<R: Read + Seek> Reader<R> {
    /// Reads head and movement, and finds the blocks.
    ///
    /// # Errors
    /// When the file is no recording, or head or movement are not whole. Of a file that is cut off later, the
    /// blocks before the cut are found.
    pub fn open(mut file: R) -> Result<Reader<R>, RecordingError> {
        let length = file.seek(SeekFrom::End(0))?;
        check_first_bytes(&mut file, length)?;
        let empty = Section::default();
        let mut reader = Reader {
            file,
            length,
            head: Value::Null,
            movement: empty,
            blocks: Vec::new(),
            is_complete: false,
        };
        let (after, head) = reader.chunk(FILE_HEAD, container::HEAD)?;
        reader.head = serde_json::from_slice(&head)
            .map_err(|error| RecordingError::damaged(FILE_HEAD, format!("the head is no JSON: {error}")))?;
        if reader.head["format"] != "manetlab-recording" || !reader.head["tables"].is_array() {
            return Err(RecordingError::damaged(FILE_HEAD, "the head is not a recording's"));
        }
        let (first_block, movement) = reader.chunk(after, container::MOVE)?;
        reader.movement = columns::decode(&movement, after)?;
        let indexed = reader.read_index(first_block);
        reader.is_complete = indexed.is_some();
        reader.blocks = match indexed {
            Some(blocks) => blocks,
            None => reader.walk(first_block)?,
        };
        Ok(reader)
    }

    /// The head.
    pub fn head(&self) -> &Value {
        &self.head
    }

    /// The movement: the table `point`, and `height` and `presence` where nodes have them.
    pub fn movement(&self) -> &Section {
        &self.movement
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> &[BlockInfo] {
        &self.blocks
    }

    /// Did the run reach its end, and is the file whole?
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The tables of a block.
    ///
    /// # Errors
    /// When the block is damaged, or there is no such block.
    pub fn block(&mut self, number: usize) -> Result<Section, RecordingError> {
        let Some(&info) = self.blocks.get(number) else {
            return Err(RecordingError::damaged(self.length, format!("there is no block {number}")));
        };
        let (head, stored) = self.stored(info.offset)?;
        let is_it = head.kind == container::BLOCK && head.stored == info.stored && stored.len() >= BLOCK_HEAD;
        let found = stored.first_chunk().map(|first| BlockInfo::from_bytes(first, info.offset, head.stored));
        if !is_it || found != Some(info) {
            return Err(RecordingError::damaged(
                info.offset,
                "this is not the block that the index promises",
            ));
        }
        let raw = container::unpack(&head, &stored, BLOCK_HEAD, info.offset)?;
        let section = columns::decode(&raw, info.offset)?;
        check_block(&info, &section)?;
        Ok(section)
    }

    fn read_at(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), RecordingError> {
        self.file.seek(SeekFrom::Start(at))?;
        Ok(self.file.read_exact(bytes)?)
    }

    /// The head of the chunk at `at`, which is whole; none if it is not, or if there is none.
    fn chunk_head(&mut self, at: u64) -> Result<Option<ChunkHead>, RecordingError> {
        let mut bytes = [0; CHUNK_HEAD];
        if at.saturating_add(CHUNK_HEAD as u64) > self.length {
            return Ok(None);
        }
        self.read_at(at, &mut bytes)?;
        let head = ChunkHead::from_bytes(&bytes);
        let is_whole = at + CHUNK_HEAD as u64 + u64::from(head.stored) <= self.length;
        Ok(is_whole.then_some(head))
    }

    /// A chunk's head, and what it stores.
    fn stored(&mut self, at: u64) -> Result<(ChunkHead, Vec<u8>), RecordingError> {
        let Some(head) = self.chunk_head(at)? else {
            return Err(RecordingError::damaged(at, "the file ends in the middle of this chunk"));
        };
        // Not longer than the file.
        let mut stored = vec![0; head.stored as usize];
        self.read_at(at + CHUNK_HEAD as u64, &mut stored)?;
        Ok((head, stored))
    }

    /// Where the chunk of this kind at `at` ends, and its content.
    fn chunk(&mut self, at: u64, kind: container::ChunkType) -> Result<(u64, Vec<u8>), RecordingError> {
        let (head, stored) = self.stored(at)?;
        if head.kind != kind {
            let wanted = String::from_utf8_lossy(&kind).into_owned();
            return Err(RecordingError::damaged(at, format!("wanted a chunk `{wanted}` here")));
        }
        Ok((at + CHUNK_HEAD as u64 + u64::from(head.stored), container::unpack(&head, &stored, 0, at)?))
    }

    /// The blocks that the index at the end of the file lists; none without an index, or with one that
    /// cannot be right.
    fn read_index(&mut self, first_block: u64) -> Option<Vec<BlockInfo>> {
        let trailer_at = self.length.checked_sub(TRAILER).filter(|at| *at >= first_block)?;
        let mut trailer = [0; TRAILER as usize];
        self.read_at(trailer_at, &mut trailer).ok()?;
        let at = u64_at(&trailer, 0);
        if trailer[8..] != END_MAGIC || at < first_block || at >= trailer_at {
            return None;
        }
        let (after, raw) = self.chunk(at, container::INDEX).ok()?;
        let section = columns::decode(&raw, at).ok().filter(|_| after == trailer_at)?;
        let table = section.table(schema::INDEX);
        let blocks: Vec<BlockInfo> =
            table.map_or_else(Vec::new, |table| (0..table.rows).map(|row| row_of(table, row)).collect());
        let mut expected = first_block;
        for block in &blocks {
            if block.offset != expected {
                return None;
            }
            expected += CHUNK_HEAD as u64 + u64::from(block.stored);
        }
        (expected == at).then_some(blocks)
    }

    /// Finds the blocks of a file without an index: all that are whole.
    fn walk(&mut self, first_block: u64) -> Result<Vec<BlockInfo>, RecordingError> {
        let mut blocks = Vec::new();
        let mut at = first_block;
        while let Some(head) = self.chunk_head(at)? {
            if head.kind != container::BLOCK || (head.stored as usize) < BLOCK_HEAD {
                break;
            }
            let mut bytes = [0; BLOCK_HEAD];
            self.read_at(at + CHUNK_HEAD as u64, &mut bytes)?;
            blocks.push(BlockInfo::from_bytes(&bytes, at, head.stored));
            at += CHUNK_HEAD as u64 + u64::from(head.stored);
        }
        Ok(blocks)
    }
}

fn row_of(table: &Table, row: usize) -> BlockInfo {
    let at = |column| table.at(column, row);
    BlockInfo {
        offset: at(0),
        stored: at(1) as u32,
        first_ns: at(2),
        last_ns: at(3),
        first_event: at(4),
        events: at(5) as u32,
        first_frame: at(6),
        frames: at(7) as u32,
    }
}

fn check_first_bytes<R: Read + Seek>(file: &mut R, length: u64) -> Result<(), RecordingError> {
    let mut first = [0; FILE_HEAD as usize];
    let count = length.min(FILE_HEAD) as usize;
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut first[..count])?;
    if first[..8] != MAGIC {
        let found = match first[..count].first() {
            None => "an empty file".to_owned(),
            Some(b'{') => "text, perhaps JSON lines, which are read line by line".to_owned(),
            Some(_) => "other first bytes".to_owned(),
        };
        return Err(RecordingError::NotARecording { found });
    }
    match u32_at(&first, 8) {
        container::OLDEST_VERSION..=container::VERSION => Ok(()),
        other => Err(RecordingError::Version(other)),
    }
}

/// Does a block hold what its head says?
fn check_block(info: &BlockInfo, section: &Section) -> Result<(), RecordingError> {
    let fault = |what: &str| Err(RecordingError::damaged(info.offset, what));
    let rows = |id| section.table(id).map_or(0, |table| table.rows);
    if rows(schema::EVENT) != info.events as usize || info.events as usize > MOST_EVENTS {
        return fault("the block has another number of events than its head says");
    }
    if rows(schema::FRAME) != info.frames as usize {
        return fault("the block has another number of frames than its head says");
    }
    let mut counts = [0; schema::LAST_EVENT_KIND as usize + 1];
    for &kind in section.table(schema::EVENT).map_or(&[][..], |events| &events.columns[1].values) {
        match counts.get_mut(kind as usize) {
            Some(count) if kind > 0 => *count += 1,
            _ => return fault("an event is of no known kind"),
        }
    }
    if (1..=schema::LAST_EVENT_KIND).any(|kind| rows(kind) != counts[usize::from(kind)]) {
        return fault("the tables have other numbers of rows than there are events of their kinds");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, sink};
    use std::sync::OnceLock;

    use manetlab_core::kernel::Time;
    use manetlab_core::observe::{Event, Recorder};
    use manetlab_core::wire::{FlowId, NodeId, Packet, Payload};
    use proptest::prelude::*;

    use super::*;
    use crate::container::sealed;
    use crate::filter::Filter;
    use crate::lines;
    use crate::writer::Writer;

    /// The head of a small block, and its section before it is compressed.
    fn block() -> &'static ([u8; BLOCK_HEAD], Vec<u8>) {
        static BLOCK: OnceLock<([u8; BLOCK_HEAD], Vec<u8>)> = OnceLock::new();
        BLOCK.get_or_init(|| {
            let mut writer = Writer::new(Vec::new(), Filter::default(), Value::Null);
            for at in 0..20_u64 {
                let payload = Payload::Udp(FlowId(0), at);
                let mut packet = Packet::control(Time(at), NodeId(1), NodeId(2), 64, 540, payload);
                packet.uid = at;
                writer.record(Time(1000 * at), NodeId(1), &Event::Made(&packet));
                writer.record(Time(1000 * at), NodeId(1), &Event::Sent(&packet, NodeId(2)));
                writer.record(Time(1000 * at), NodeId(1), &Event::Queue(at as u32));
                let next_hop = (at % 3 > 0).then_some(NodeId(2));
                writer.record(
                    Time(1000 * at),
                    NodeId(1),
                    &Event::Route { dst: NodeId(2), next_hop, hops: None },
                );
            }
            let chunk = writer.finish().expect("a vector takes all");
            let head = ChunkHead::from_bytes(chunk.first_chunk().expect("a chunk"));
            let stored = &chunk[CHUNK_HEAD..];
            let raw = container::unpack(&head, stored, BLOCK_HEAD, 0).expect("it is whole");
            (*stored.first_chunk().expect("a block"), raw)
        })
    }

    fn exported(head: &[u8; BLOCK_HEAD], raw: &[u8]) -> Result<(), RecordingError> {
        let mut reader = Reader::open(Cursor::new(sealed(head, raw)))?;
        lines::export(&mut reader, sink())
    }

    #[test]
    fn a_block_that_is_sealed_again_is_read() {
        let (head, raw) = block();
        exported(head, raw).expect("nothing has changed");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// What stands behind the checksum may be anything: it is read, or an error, and no panic.
        #[test]
        fn a_hostile_section_is_an_error_or_events(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let (head, raw) = block();
            let mut raw = raw.clone();
            for (at, byte) in changes {
                let at = at.index(raw.len());
                raw[at] = byte;
            }
            if let Some(cut) = cut {
                raw.truncate(cut.index(raw.len()));
            }
            let _: Result<(), RecordingError> = exported(head, &raw);
        }
    }
}
