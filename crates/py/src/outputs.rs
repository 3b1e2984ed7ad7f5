//! Files that a run writes while it goes on: captures and traces.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use manetlab_core::observe::Recorder;
use manetlab_core::wire::NodeId;
use manetlab_wire_formats::capture::{self, Capture};
use manetlab_wire_formats::ns2_trace::{Format, Trace};
use pyo3::prelude::*;

use crate::errors::input_error;
use crate::out_file::{Control, OutFile};

/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 1 << 18;

/// A capture: the file, the nodes or all, with receptions, the program's name.
pub(crate) type Pcap = (PathBuf, Option<Vec<u32>>, bool, String);
/// A trace of ns-2: the file, and whether it is in the new format.
pub(crate) type Ns2Trace = (PathBuf, bool);

type Out = BufWriter<OutFile>;

/// The files of one run.
#[derive(Default)]
pub(crate) struct Outputs {
    capture: Option<(PathBuf, Capture<Out>)>,
    trace: Option<(PathBuf, Trace<Out>)>,
    control: Arc<Control>,
}

/// A file could not be written.
#[derive(Debug)]
pub(crate) struct NotWritten {
    path: PathBuf,
    error: io::Error,
}

impl From<NotWritten> for PyErr {
    fn from(NotWritten { path, error }: NotWritten) -> PyErr {
        let place = path.display().to_string();
        let hint = "choose another place, or make room";
        input_error(
            "the output cannot be written",
            &place,
            &error.to_string(),
            "a file that can be written",
            hint,
        )
    }
}

impl Outputs {
    /// Makes the files.
    pub(crate) fn open(
        pcap: Option<Pcap>,
        ns2_trace: Option<Ns2Trace>,
        control: &Arc<Control>,
    ) -> Result<Outputs, NotWritten> {
        let mut outputs = Outputs { control: Arc::clone(control), ..Outputs::default() };
        if let Some((path, nodes, receptions, application)) = pcap {
            let nodes = nodes.map(|nodes| nodes.into_iter().map(NodeId).collect());
            let options = capture::Options { nodes, receptions, application };
            let out = outputs.create(&path)?;
            outputs.capture = Some((path, Capture::new(out, options)));
        }
        if let Some((path, is_new)) = ns2_trace {
            let out = outputs.create(&path)?;
            outputs.trace = Some((path, Trace::new(out, if is_new { Format::New } else { Format::Old })));
        }
        Ok(outputs)
    }

    fn create(&self, path: &Path) -> Result<Out, NotWritten> {
        let file = OutFile::create(path, &self.control)
            .map_err(|error| NotWritten { path: path.to_owned(), error })?;
        Ok(BufWriter::with_capacity(BUFFER_BYTES, file))
    }

    /// What gets the events of the run.
    pub(crate) fn recorders(&mut self) -> Vec<&mut dyn Recorder> {
        let capture = self.capture.as_mut().map(|(_, capture)| capture as &mut dyn Recorder);
        let trace = self.trace.as_mut().map(|(_, trace)| trace as &mut dyn Recorder);
        capture.into_iter().chain(trace).collect()
    }

    /// Writes what is left of all files.
    pub(crate) fn finish(self) -> Result<(), NotWritten> {
        let finished =
            |path: PathBuf, result: io::Result<()>| result.map_err(|error| NotWritten { path, error });
        let captured = self.capture.map_or(Ok(()), |(path, capture)| finished(path, capture.finish()));
        let traced = self.trace.map_or(Ok(()), |(path, trace)| finished(path, trace.finish()));
        captured.and(traced)
    }
}
