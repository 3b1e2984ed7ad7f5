//! Movement as Python holds it.

use std::fmt;
use std::sync::OnceLock;

use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::mobility::{Areas, Failure, Path, Presence, Trajectory, heights_differ, waypoint};
use manetlab_core::scenario::Params;
use manetlab_formats::tracks::Plane;
use manetlab_formats::{Limits, read_movement_of_any_form, write_movement};
use manetlab_resolver::movement::{self, Samples};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sha2::{Digest, Sha256};

use crate::errors::{of_reading, of_told};

/// Most nodes of a scenario.
pub(crate) const MAX_NODES: u32 = manetlab_core::scenario::MAX_NODES as u32;

/// Where the nodes start and go. Cannot be changed.
#[pyclass(frozen, module = "manetlab._core")]
pub(crate) struct Movement {
    of_file: manetlab_formats::Movement,
    /// What is worth a note: how the source was understood.
    remarks: Vec<String>,
    digest: OnceLock<String>,
}

/// A plane: longitude and latitude of its origin, and metres in a degree of each.
type PlaneParts = ((f64, f64), (f64, f64));

fn parts(plane: &Plane) -> PlaneParts {
    (plane.corner_deg, plane.scale_m)
}

/// The plane for a box of longitudes and latitudes, of something that is called `name`.
#[pyfunction]
pub(crate) fn plane_of(low: (f64, f64), high: (f64, f64), name: &str) -> PyResult<PlaneParts> {
    Plane::of(low, high, name).map(|plane| parts(&plane)).map_err(|error| of_reading(&error))
}

impl Movement {
    pub(crate) fn new(trajectories: Vec<Trajectory>) -> Movement {
        Movement::of_file(manetlab_formats::Movement { trajectories, ..Default::default() }, Vec::new())
    }

    /// The movement that a file says, with what is worth a note.
    pub(crate) fn of_file(of_file: manetlab_formats::Movement, remarks: Vec<String>) -> Movement {
        Movement { of_file, remarks, digest: OnceLock::new() }
    }

    pub(crate) fn trajectories(&self) -> &[Trajectory] {
        &self.of_file.trajectories
    }
}

#[pymethods]
impl Movement {
    fn __repr__(&self) -> String {
        format!("<Movement of {} nodes>", self.trajectories().len())
    }

    /// The movement that a file of ns-2 says.
    #[staticmethod]
    fn read(py: Python<'_>, data: &[u8], name: &str) -> PyResult<Movement> {
        let limits = Limits::default();
        py.detach(|| read_movement_of_any_form(data, name, &limits))
            .map(|of_file| Movement::of_file(of_file, Vec::new()))
            .map_err(|error| of_reading(&error))
    }

    /// How many orders at speed 0 are to a place where the node is not; it stays where it is.
    #[getter]
    fn rests_elsewhere(&self) -> usize {
        self.of_file.rests_elsewhere
    }

    /// How many nodes have no start, and are at (0, 0).
    #[getter]
    fn unplaced(&self) -> usize {
        self.of_file.unplaced
    }

    /// What is worth a note: how the source was understood, a sentence each.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// Tracks: for each node its name, `labels`, and when it is there, `present`, as pairs of s; an empty
    /// list is always. `rows` are the columns of the samples, in any order: node, time in s, x, y and, if
    /// they are known, heights, in m.
    #[staticmethod]
    #[pyo3(signature = (labels, rows, present=None, name="tracks"))]
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
    fn tracks(
        py: Python<'_>,
        labels: Vec<String>,
        rows: Rows<'_>,
        present: Option<Vec<Vec<(f64, f64)>>>,
        name: &str,
    ) -> PyResult<Movement> {
        let samples = samples(py, &rows)?;
        let present = present.unwrap_or_else(|| vec![Vec::new(); labels.len()]);
        if present.len() != labels.len() {
            return Err(PyValueError::new_err("as many lists of presences as labels"));
        }
        samples.check(labels.len()).map_err(PyValueError::new_err)?;
        py.detach(|| samples.trajectories(labels, present, name)).map(Movement::new).map_err(of_told)
    }

    /// The names of the nodes; none if they are called by their numbers.
    #[getter]
    fn labels(&self) -> Option<Vec<String>> {
        movement::labels(self.trajectories())
    }

    /// Whether a node is ever higher than another, or than at another time.
    #[getter]
    fn has_heights(&self) -> bool {
        heights_differ(self.trajectories().iter().map(|node| &node.heights[..]))
    }

    /// The same with nodes that fail, as the list `failures_json` says, in a run of so many seconds; what is
    /// drawn comes from these streams.
    fn with_failures(
        &self,
        failures_json: &str,
        seed: u64,
        replication: u64,
        duration_s: f64,
        place: &str,
    ) -> PyResult<Movement> {
        let failures: Vec<Failure> =
            serde_json::from_str(failures_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (streams, end) = (Streams::new(seed, replication), Time::from_secs(duration_s));
        let trajectories =
            movement::failing(self.trajectories(), &failures, &streams, end, place).map_err(of_told)?;
        let of_file = manetlab_formats::Movement { trajectories, ..self.of_file.clone() };
        Ok(Movement::of_file(of_file, self.remarks.clone()))
    }

    /// The plane on which the nodes are, if their source is in degrees.
    #[getter]
    fn plane(&self) -> Option<PlaneParts> {
        self.of_file.plane.as_ref().map(parts)
    }

    /// Whether a node ever joins or leaves.
    #[getter]
    fn has_presence(&self) -> bool {
        self.trajectories().iter().any(|node| !node.present.is_empty())
    }

    /// The heights of the nodes at a time, in m.
    fn heights(&self, time_s: f64) -> Vec<f64> {
        let now = Time::from_secs(time_s);
        self.trajectories().iter().map(|node| Path::new(node).height(now)).collect()
    }

    /// Whether the nodes are there at a time.
    fn present(&self, time_s: f64) -> Vec<bool> {
        let now = Time::from_secs(time_s);
        self.trajectories().iter().map(|node| Path::new(node).is_present(now)).collect()
    }

    /// From when until when each node is there, in s; an empty list is always.
    #[getter]
    fn stays(&self) -> Vec<Vec<(f64, f64)>> {
        let pair = |presence: &Presence| (presence.from.as_secs(), presence.until.as_secs());
        self.trajectories().iter().map(|node| node.present.iter().map(pair).collect()).collect()
    }

    /// Nodes that stand still at these places, in m.
    #[staticmethod]
    fn fixed(positions: Vec<(f64, f64)>) -> Movement {
        Movement::new(positions.into_iter().map(|(x, y)| Trajectory::fixed(x, y)).collect())
    }

    /// Nodes in a grid, numbered row by row, so many m apart; a chain is a grid of one row.
    #[staticmethod]
    fn grid(columns: u32, rows: u32, spacing_m: f64) -> Movement {
        Movement::new(waypoint::grid(columns, rows, spacing_m))
    }

    /// Nodes in areas one hop apart: sources, sinks, and forwarders between them, which have places drawn
    /// from the seed, and stand still or walk within their areas. `lengths_m` are the distance between
    /// neighbouring areas, their extent from south to north, and the extent of end areas and of bands of
    /// forwarders from west to east, in m.
    #[staticmethod]
    fn areas(
        py: Python<'_>,
        counts: (u32, u32, u32),
        hops: u32,
        lengths_m: (f64, f64, f64, f64),
        speed_mps: f64,
        duration_s: f64,
        streams: (u64, u64),
    ) -> PyResult<Movement> {
        let (sources, sinks, forwarders) = counts;
        let (spacing_m, height_m, end_width_m, band_width_m) = lengths_m;
        let given = Areas {
            sources,
            sinks,
            forwarders,
            hops,
            spacing_m,
            height_m,
            end_width_m,
            band_width_m,
            speed_mps,
        };
        let (duration, streams) = (Span::from_secs(duration_s), Streams::new(streams.0, streams.1));
        py.detach(|| movement::areas(&given, duration, &streams)).map(Movement::new).map_err(of_told)
    }

    /// Movement of the model of that name; `params_json` holds parameters of its section, the rest are
    /// defaults.
    #[staticmethod]
    fn drawn(
        py: Python<'_>,
        model: &str,
        params_json: &str,
        duration_s: f64,
        seed: u64,
        replication: u64,
    ) -> PyResult<Movement> {
        let model = movement::model(model, params_json).map_err(of_told)?;
        let (duration, streams) = (Span::from_secs(duration_s), Streams::new(seed, replication));
        py.detach(|| movement::drawn(&model, duration, &streams)).map(Movement::new).map_err(of_told)
    }

    /// The movement as a file of ns-2, which reads back to the same movement.
    fn to_ns2(&self) -> PyResult<String> {
        let mut text = String::new();
        write_movement(&self.of_file, &mut text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(text)
    }

    /// The same movement without its heights.
    fn flattened(&self) -> Movement {
        let mut flat = self.of_file.clone();
        flat.trajectories.iter_mut().for_each(|node| node.heights.clear());
        Movement::of_file(flat, self.remarks.clone())
    }

    /// The number of nodes.
    #[getter]
    fn nodes(&self) -> usize {
        self.trajectories().len()
    }

    /// The greatest x and y of all starts and destinations, in m.
    #[getter]
    fn bounds(&self) -> (f64, f64) {
        let corner = self.of_file.bounds();
        (corner.x, corner.y)
    }

    /// When the last command is given, in s; 0 if there is none.
    #[getter]
    fn last_command_s(&self) -> f64 {
        movement::last_command(self.trajectories()).as_secs()
    }

    /// When the last node has arrived, changed its height, joined or left, in s; 0 if nothing ever changes.
    #[getter]
    fn ends_s(&self) -> f64 {
        movement::ends(self.trajectories()).as_secs()
    }

    /// Where the nodes are at a time, in m.
    fn positions(&self, time_s: f64) -> Vec<(f64, f64)> {
        let now = Time::from_secs(time_s);
        let at = |trajectory| {
            let place = Path::new(trajectory).position(now);
            (place.x, place.y)
        };
        self.trajectories().iter().map(at).collect()
    }

    /// As many pairs of different nodes as there are `draws` (two each, uniform on [0, 1)): the first any
    /// node that has others within `hops` links when the movement begins, the second any of these. A link is
    /// a distance over which unicast data frames are received under the parameters `params_json`. Nobody has
    /// others within so many links: no pairs.
    #[expect(clippy::needless_pass_by_value, reason = "Python's lists become vectors")]
    fn pairs_within_hops(
        &self,
        py: Python<'_>,
        params_json: &str,
        hops: u32,
        draws: Vec<(f64, f64)>,
    ) -> PyResult<Vec<(u32, u32)>> {
        let params: Params =
            serde_json::from_str(params_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let range_m = params.link_range_m();
        Ok(py.detach(|| movement::pairs_within_hops(self.trajectories(), range_m, hops, &draws)))
    }

    /// SHA-256 of the movement's ns-2 form, and of what that form lacks if there is any: names, heights, and
    /// when nodes are there. 64 hexadecimal digits.
    #[getter]
    fn digest(&self) -> PyResult<String> {
        if let Some(known) = self.digest.get() {
            return Ok(known.clone());
        }
        let mut hasher = Hasher(Sha256::new());
        write_movement(&self.of_file, &mut hasher)
            .and_then(|()| write_beside(self.trajectories(), &mut hasher))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let digest: String = hasher.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(self.digest.get_or_init(|| digest).clone())
    }
}

/// Hashes the text that is written to it, which may be longer than memory.
struct Hasher(Sha256);

impl fmt::Write for Hasher {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

/// What tracks say beside positions; nothing for movement that has no such thing.
fn write_beside(movement: &[Trajectory], out: &mut impl fmt::Write) -> fmt::Result {
    for (number, node) in movement.iter().enumerate() {
        if let Some(label) = &node.label {
            writeln!(out, "# label {number} {label:?}")?;
        }
        for height in &node.heights {
            writeln!(out, "# height {number} {} {:?}", height.at.0, height.z_m)?;
        }
        for crash in &node.crashes {
            writeln!(out, "# crash {number} {}", crash.0)?;
        }
        for presence in &node.present {
            writeln!(out, "# present {number} {} {}", presence.from.0, presence.until.0)?;
        }
    }
    Ok(())
}

/// Columns of samples as Python gives them: node, time, x, y, height.
type Rows<'py> =
    (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// The same as numbers.
fn samples(py: Python<'_>, rows: &Rows<'_>) -> PyResult<Samples> {
    let numbers = |column: &Bound<'_, PyAny>| PyBuffer::<f64>::get(column)?.to_vec(py);
    Ok(Samples {
        node: PyBuffer::<u32>::get(&rows.0)?.to_vec(py)?,
        t_s: numbers(&rows.1)?,
        x_m: numbers(&rows.2)?,
        y_m: numbers(&rows.3)?,
        z_m: rows.4.as_ref().map(numbers).transpose()?,
    })
}
