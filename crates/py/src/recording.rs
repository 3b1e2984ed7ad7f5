//! Recordings: what a run writes while it goes on, and reading what was written.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;

use manetlab_core::kernel::Time;
use manetlab_core::observe::Recorder;
use manetlab_recording::lines::{JsonLines, export};
use manetlab_recording::{Filter, Reader, RecordingError, Section, Writer, schema};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use serde_json::Value;

use crate::errors::{FROM_PYTHON, input_error};
use crate::out_file::{Asking, Control, OutFile};

/// Bytes of an export that are collected before they are written.
const EXPORTED_BYTES: usize = 1 << 18;

/// A recording to be made: the file, and a [`RecordingSpec`] as JSON, which could not say every file's name.
pub(crate) type RecordTo = (PathBuf, String);

/// What a run is to write, as Python says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordingSpec {
    /// As JSON lines, rather than as blocks of columns?
    json_lines: bool,
    nodes: Option<Vec<u32>>,
    flows: Option<Vec<u32>>,
    kinds: Option<Vec<String>>,
    from_s: Option<f64>,
    until_s: Option<f64>,
    /// Goes into the head of the file.
    provenance: Value,
}

impl RecordingSpec {
    fn filter(&self) -> Filter {
        Filter {
            nodes: self.nodes.as_ref().map(|nodes| nodes.iter().copied().collect()),
            flows: self.flows.as_ref().map(|flows| flows.iter().copied().collect()),
            kinds: self.kinds.as_ref().map(|kinds| kinds.iter().cloned().collect()),
            from: self.from_s.map_or(Time::ZERO, Time::from_secs),
            until: self.until_s.map_or(Time::NEVER, Time::from_secs),
        }
    }
}

enum Form {
    Blocks(Box<Writer<OutFile>>),
    Lines(Box<JsonLines<OutFile>>),
}

/// A recording that a run writes.
pub(crate) struct Output {
    path: PathBuf,
    form: Form,
}

impl Output {
    /// Opens the file.
    pub(crate) fn open(path: PathBuf, spec_json: &str, control: &Arc<Control>) -> PyResult<Output> {
        let spec: RecordingSpec = serde_json::from_str(spec_json).map_err(|error| {
            input_error(
                "no recording can be made of this",
                "run",
                &error.to_string(),
                "its fields",
                FROM_PYTHON,
            )
        })?;
        let file = OutFile::create(&path, control).map_err(|error| ended(&path, &error, control))?;
        let form = if spec.json_lines {
            Form::Lines(Box::new(JsonLines::new(file)))
        } else {
            Form::Blocks(Box::new(Writer::new(file, spec.filter(), spec.provenance.clone())))
        };
        Ok(Output { path, form })
    }

    pub(crate) fn recorder(&mut self) -> &mut dyn Recorder {
        match &mut self.form {
            Form::Blocks(writer) => writer.as_mut(),
            Form::Lines(lines) => lines.as_mut(),
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(self) -> PyResult<()> {
        let done = match self.form {
            Form::Blocks(writer) => writer.finish().map(drop),
            Form::Lines(lines) => lines.finish().map(drop),
        };
        done.map_err(|error| unwritable(&self.path, &error))
    }
}

/// The error of a file: Ctrl-C, if that is why it was not written.
fn ended(path: &std::path::Path, error: &io::Error, control: &Control) -> PyErr {
    if control.is_stopped() { PyKeyboardInterrupt::new_err(()) } else { unwritable(path, error) }
}

fn unwritable(path: &std::path::Path, error: &io::Error) -> PyErr {
    let place = path.display().to_string();
    let hint = "check the disk; what was written until then can be read";
    input_error("the recording cannot be written", &place, &error.to_string(), "a place to write", hint)
}

fn refused(path: &str, error: &RecordingError) -> PyErr {
    let hint = match error {
        RecordingError::NotARecording { .. } => "`manetlab run … --record FILE` writes one",
        RecordingError::Version(_) => "record the run again with this version of manetlab",
        RecordingError::Io(_) => "check the path and its permissions",
        RecordingError::Damaged { .. } => {
            "was the file copied completely? Blocks before the damage can be read"
        }
    };
    input_error("the recording cannot be read", path, &error.to_string(), "a recording of manetlab", hint)
}

/// A table: its name, its number of rows, and for each column its name, its type and its values as 64-bit
/// numbers, little endian.
type PyTable = (String, usize, Vec<(String, String, Py<PyBytes>)>);

/// A recording in a file.
#[pyclass(module = "manetlab._core")]
pub(crate) struct Recording {
    path: String,
    reader: Reader<File>,
}

#[pymethods]
impl Recording {
    /// Opens a recording.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "a path of Python arrives as a value")]
    fn open(path: PathBuf) -> PyResult<Recording> {
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|error| refused(&name, &error.into()))?;
        let reader = Reader::open(file).map_err(|error| refused(&name, &error))?;
        Ok(Recording { path: name, reader })
    }

    /// The head, as JSON.
    fn head(&self) -> String {
        self.reader.head().to_string()
    }

    /// Is the file whole?
    fn is_complete(&self) -> bool {
        self.reader.is_complete()
    }

    /// Of each block: offset, bytes stored, times of its first and last event in ns, events before it, its
    /// events, its first frame's number, its frames.
    fn blocks(&self) -> Vec<Block> {
        let row = |block: &manetlab_recording::BlockInfo| {
            let &manetlab_recording::BlockInfo {
                offset,
                stored,
                first_ns,
                last_ns,
                first_event,
                events,
                first_frame,
                frames,
            } = block;
            (offset, stored, first_ns, last_ns, first_event, events, first_frame, frames)
        };
        self.reader.blocks().iter().map(row).collect()
    }

    /// The movement's strings and tables.
    fn movement(&self, py: Python<'_>) -> (Vec<String>, Vec<PyTable>) {
        tables(py, self.reader.movement())
    }

    /// A block's strings and tables.
    fn block(&mut self, py: Python<'_>, number: usize) -> PyResult<(Vec<String>, Vec<PyTable>)> {
        let section = self.reader.block(number).map_err(|error| refused(&self.path, &error))?;
        Ok(tables(py, &section))
    }

    /// Writes all events to a file, as JSON lines.
    #[expect(clippy::needless_pass_by_value, reason = "a path of Python arrives as a value")]
    fn export_lines(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let control = Arc::new(Control::default());
        let reader = &mut self.reader;
        py.detach(|| {
            let file = OutFile::create(&path, &control).map_err(|error| ended(&path, &error, &control))?;
            let file = BufWriter::with_capacity(EXPORTED_BYTES, Asking(file));
            export(reader, file).map_err(|error| match error {
                RecordingError::Io(error) if control.is_stopped() || control.has_failed() => {
                    ended(&path, &error, &control)
                }
                error => refused(&self.path, &error),
            })
        })
    }
}

/// The names of the kinds of events that a recording may have.
pub(crate) fn kinds() -> Vec<&'static str> {
    schema::kinds().map(|table| table.name).collect()
}

/// What [`Recording::blocks`] says of one.
type Block = (u64, u32, u64, u64, u64, u32, u64, u32);

fn tables(py: Python<'_>, section: &Section) -> (Vec<String>, Vec<PyTable>) {
    let of_table = |table: &manetlab_recording::Table| {
        let info = schema::table(table.id)?;
        let column = |(column, &(name, kind)): (&manetlab_recording::Column, &(&str, schema::Kind))| {
            let bytes: Vec<u8> = column.values.iter().flat_map(|value| value.to_le_bytes()).collect();
            (name.to_owned(), kind.name().to_owned(), PyBytes::new(py, &bytes).unbind())
        };
        let columns = table.columns.iter().zip(info.columns).map(column).collect();
        Some((info.name.to_owned(), table.rows, columns))
    };
    (section.strings.clone(), section.tables.iter().filter_map(of_table).collect())
}
