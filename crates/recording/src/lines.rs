//! Recordings as JSON lines.

use std::io::{self, Read, Seek, SeekFrom, Write};

use manetlab_core::kernel::Time;
use manetlab_core::observe::{Event, Reach, RecordKind, RecordQueue, Recorder, json_head, json_line};
use manetlab_core::wire::NodeId;

use rustc_hash::FxHashMap;

use crate::decode;
use crate::error::RecordingError;
use crate::reader::Reader;

/// A recorder that writes JSON lines while the run goes on.
///
/// It keeps the first error of `W` and writes nothing after it; [`JsonLines::finish`] returns it.
pub struct JsonLines<W: Write> {
    out: W,
    queue: RecordQueue,
    lines: usize,
    text: String,
    failed: Option<io::Error>,
}

/// Text is written when so much of it has come together, in bytes.
const ENOUGH: usize = 1 << 16;

impl<W: Write> JsonLines<W> {
    /// Writes to `out`, beginning with the first line, which does not know yet how many follow.
    pub fn new(out: W) -> JsonLines<W> {
        let text = json_head(0);
        JsonLines { out, queue: RecordQueue::default(), lines: 0, text, failed: None }
    }

    /// Has writing failed?
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes what is known; without outcomes of frames nothing more becomes known.
    fn drain(&mut self, has_outcomes: bool) {
        let next = if has_outcomes { RecordQueue::pop } else { RecordQueue::pop_anyway };
        while let Some(record) = next(&mut self.queue) {
            json_line(&record, &mut self.text);
            self.lines += 1;
            if self.text.len() >= ENOUGH {
                self.write_text();
            }
        }
    }

    fn write_text(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(self.text.as_bytes()).err();
        }
        self.text.clear();
    }

    fn write_rest(&mut self) -> io::Result<()> {
        self.drain(false);
        self.write_text();
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl<W: Write + Seek> JsonLines<W> {
    /// Writes the rest, and into the first line how many follow.
    ///
    /// # Errors
    /// The first error of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_rest()?;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(json_head(self.lines).as_bytes())?;
        self.out.seek(SeekFrom::End(0))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl<W: Write> Recorder for JsonLines<W> {
    fn record(&mut self, time: Time, node: NodeId, event: &Event<'_>) {
        self.queue.take(time, node, event);
        self.drain(true);
    }
}

/// Writes a recording as JSON lines.
///
/// # Errors
/// When the recording is damaged, or `out` cannot be written.
pub fn export<R: Read + Seek>(reader: &mut Reader<R>, out: impl Write) -> Result<(), RecordingError> {
    let mut lines = JsonLines::new(out);
    let events: usize = reader.blocks().iter().map(|block| block.events as usize).sum();
    lines.text = json_head(events);
    let kinds = &reader.head()["filter"]["kinds"];
    let has_outcomes = kinds.as_array().is_none_or(|kinds| kinds.iter().any(|kind| kind == "reception"));
    for number in 0..reader.blocks().len() {
        let section = reader.block(number)?;
        let info = reader.blocks()[number];
        let mut outcomes: FxHashMap<u64, Vec<(NodeId, Reach)>> = FxHashMap::default();
        for (frame, node, reach) in decode::outcomes(&info, &section)? {
            if frame < info.first_frame {
                // It is among the few that are still waiting.
                lines.queue.close(frame, std::iter::once((node, reach)));
            } else {
                outcomes.entry(frame).or_default().push((node, reach));
            }
        }
        for mut record in decode::records(&info, &section)? {
            if let RecordKind::Frame { number, receivers, .. } = &mut record.kind {
                *receivers = outcomes.remove(number);
            }
            lines.queue.push(record);
        }
        lines.drain(has_outcomes);
    }
    lines.write_rest()?;
    lines.out.flush()?;
    Ok(())
}
