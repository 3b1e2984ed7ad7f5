//! Tracks and scripts of ns-2 as Python gets them.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

use manetlab_core::kernel::Time;
use manetlab_formats::Limits;
use manetlab_formats::tracks::{Columns, Options, read_tracks, tracks_of_columns};
use manetlab_formats::{ReadError, tracks};
use manetlab_resolver::files::{self as resolver, ReadScript};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{input_error, of_reading, of_told};
use crate::movement::Movement;

/// One track as columns: label, times in s, x and y in m, heights in m (empty: none), and from when until
/// when the node is there, in s (empty: always).
type TrackColumns = (String, Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>, Vec<(f64, f64)>);

/// Columns of a table of samples: times, x, y, and if there are any heights and states.
type Values = (PyBuffer<f64>, PyBuffer<f64>, PyBuffer<f64>, Option<PyBuffer<f64>>, Option<PyBuffer<f64>>);

/// A script as JSON, its movement, and what it lacks.
type ScriptParts = (Option<String>, Option<Movement>, Option<(String, Py<PyAny>)>);

/// Where nodes were, as a file or a table says.
#[pyclass(frozen, module = "manetlab._core")]
pub(crate) struct Tracks {
    /// Behind a lock, as they may be hundreds of megabytes, and are taken rather than copied.
    read: Mutex<tracks::Tracks>,
}

impl Tracks {
    fn held(&self) -> MutexGuard<'_, tracks::Tracks> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Tracks {
    fn __repr__(&self) -> String {
        format!("<Tracks of {} nodes>", self.held().nodes.len())
    }

    /// The tracks of a file, read as it streams by.
    #[staticmethod]
    #[pyo3(signature = (path, name, sampled=false, thin_m=None, bonnmotion=None))]
    #[expect(clippy::needless_pass_by_value, reason = "a path of Python arrives as a value")]
    fn load(
        py: Python<'_>,
        path: std::path::PathBuf,
        name: &str,
        sampled: bool,
        thin_m: Option<f64>,
        bonnmotion: Option<&str>,
    ) -> PyResult<Tracks> {
        let options = resolver::options(sampled, thin_m, bonnmotion).map_err(PyValueError::new_err)?;
        let file = File::open(&path).map_err(|error| {
            let hint = "check the path and its permissions";
            input_error("the file cannot be read", name, &error.to_string(), "a readable file", hint)
        })?;
        finished(py.detach(|| read_tracks(file, name, &Limits::default(), &options)))
    }

    /// The tracks that bytes hold.
    #[staticmethod]
    #[pyo3(signature = (data, name, sampled=false, thin_m=None, bonnmotion=None))]
    fn read(
        py: Python<'_>,
        data: &[u8],
        name: &str,
        sampled: bool,
        thin_m: Option<f64>,
        bonnmotion: Option<&str>,
    ) -> PyResult<Tracks> {
        let options = resolver::options(sampled, thin_m, bonnmotion).map_err(PyValueError::new_err)?;
        finished(py.detach(|| read_tracks(data, name, &Limits::default(), &options)))
    }

    /// The tracks of a table: for each row the node as an index of `labels`, then `(t_s, x, y, z, state)`,
    /// of which the last two may be missing. Then whether x and y are longitude and latitude (none: it is
    /// told from the values), whether nodes are there while they have samples only, and how far samples
    /// may be thinned.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "a table of Python arrives as a value")]
    fn columns(
        py: Python<'_>,
        labels: Vec<String>,
        node: PyBuffer<u32>,
        values: Values,
        name: &str,
        told: (Option<bool>, bool, Option<f64>),
    ) -> PyResult<Tracks> {
        let (degrees, sampled, thin_m) = told;
        let node = node.to_vec(py)?;
        let (t_s, x, y) = (values.0.to_vec(py)?, values.1.to_vec(py)?, values.2.to_vec(py)?);
        let optional = |column: &Option<PyBuffer<f64>>| match column {
            Some(column) => column.to_vec(py),
            None => Ok(Vec::new()),
        };
        let (z_m, state) = (optional(&values.3)?, optional(&values.4)?);
        let state: Vec<bool> = state.iter().map(|&state| state > 0.5).collect();
        let options = Options { thin_m, ..Options::default() };
        let (labels, node, t_s, x, y, z_m, state) = (&labels, &node, &t_s, &x, &y, &z_m, &state);
        let columns = Columns { labels, node, t_s, x, y, z_m, state, degrees, sampled };
        finished(py.detach(|| tracks_of_columns(&columns, name, &Limits::default(), &options)))
    }

    /// Where the nodes start and go, with these remarks on it; the tracks are used up.
    fn movement(&self, py: Python<'_>, remarks: Vec<String>) -> Movement {
        let read = std::mem::take(&mut *self.held());
        let plane = read.plane;
        let trajectories = py.detach(|| read.into_trajectories());
        Movement::of_file(manetlab_formats::Movement { trajectories, plane, ..Default::default() }, remarks)
    }

    /// The tracks one by one.
    fn nodes(&self) -> Vec<TrackColumns> {
        // What never ends, ends later than any run.
        let end = |time: Time| if time == Time::NEVER { 1e6 } else { time.as_secs().min(1e6) };
        let columns = |track: &tracks::Track| {
            let present = track.present.iter().map(|&(from, until)| (end(from), end(until)));
            let present = present.filter(|(from, until)| from < until).collect();
            let t_s = track.at.iter().map(|at| at.as_secs()).collect();
            (track.label.to_string(), t_s, track.x_m.clone(), track.y_m.clone(), track.z_m.clone(), present)
        };
        self.held().nodes.iter().map(columns).collect()
    }

    /// How many samples there were, and how many are left after thinning.
    #[getter]
    fn samples(&self) -> (usize, usize) {
        let read = self.held();
        (read.samples, read.nodes.iter().map(|track| track.at.len()).sum())
    }

    /// How many samples were left out or put in order, by the reason; and whether each node has one sample
    /// only.
    #[getter]
    fn odd(&self) -> (BTreeMap<&'static str, usize>, bool) {
        resolver::odd(&self.held())
    }

    /// The file's time that is 0 here, in s.
    #[getter]
    fn began_s(&self) -> f64 {
        self.held().began_s
    }

    /// The time of the last sample, in s.
    #[getter]
    fn last_s(&self) -> f64 {
        resolver::last(&self.held()).as_secs()
    }

    /// The middle of the field as longitude and latitude, in degrees; none where the source is in metres.
    #[getter]
    fn centre_deg(&self) -> Option<(f64, f64)> {
        self.held().plane.map(|plane| plane.centre_deg)
    }

    /// Longest time between two samples of a node that is there, in s.
    #[getter]
    fn longest_gap_s(&self) -> f64 {
        self.held().longest_gap_s
    }
}

/// Which columns of a table of samples hold what (time, id, x, y, lon, lat, z, state), as places in the list
/// of their names; and whether the times are in milliseconds.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
pub(crate) fn track_columns(names: Vec<String>) -> (BTreeMap<&'static str, usize>, bool) {
    let found = tracks::columns_of(&names);
    let of_time = found.iter().find(|(column, _)| *column == tracks::Column::Time);
    let in_ms = of_time.is_some_and(|&(_, at)| tracks::is_in_ms(&names[at]));
    (found.into_iter().map(|(column, at)| (column.name(), at)).collect(), in_ms)
}

fn finished(read: Result<tracks::Tracks, ReadError>) -> PyResult<Tracks> {
    read.map(|read| Tracks { read: Mutex::new(read) }).map_err(|error| of_reading(&error))
}

/// A script of ns-2 as JSON, and the movement of its nodes if it has any; or the name of a file that it
/// sources and that is not among `files`, with the error if there is no such file.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
pub(crate) fn read_script(
    py: Python<'_>,
    data: &[u8],
    name: &str,
    files: BTreeMap<String, Vec<u8>>,
    arguments: Vec<String>,
) -> PyResult<ScriptParts> {
    let read = py.detach(|| resolver::read_script(data, name, &files, &arguments)).map_err(of_told)?;
    Ok(match read {
        ReadScript::Missing { name, error } => {
            (None, None, Some((name, of_told(error).into_value(py).into_any())))
        }
        ReadScript::Read { text, movement } => {
            (Some(text), movement.map(|movement| Movement::of_file(movement, Vec::new())), None)
        }
    })
}
