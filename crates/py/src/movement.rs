//! Movement as Python holds it.

use std::sync::OnceLock;

use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::mobility::waypoint::{self, WaypointParams};
use manetlab_core::mobility::{Areas, Path, Trajectory, areas};
use manetlab_core::scenario::Params;
use manetlab_core::topology::Graph;
use manetlab_formats::{Limits, read_movement, write_movement};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sha2::{Digest, Sha256};

use crate::errors::{FROM_PYTHON, input_error, of_reading, of_waypoint, too_long};

/// Most nodes of a scenario.
pub(crate) const MAX_NODES: u32 = manetlab_core::scenario::MAX_NODES as u32;

/// Where the nodes start and go. Cannot be changed.
#[pyclass(frozen, module = "manetlab._core")]
pub(crate) struct Movement {
    of_file: manetlab_formats::Movement,
    digest: OnceLock<String>,
}

impl Movement {
    pub(crate) fn new(trajectories: Vec<Trajectory>) -> Movement {
        let of_file = manetlab_formats::Movement { trajectories, rests_elsewhere: 0 };
        Movement { of_file, digest: OnceLock::new() }
    }

    pub(crate) fn trajectories(&self) -> &[Trajectory] {
        &self.of_file.trajectories
    }
}

pub(crate) fn waypoint_params(params_json: &str) -> PyResult<WaypointParams> {
    serde_json::from_str(params_json).map_err(|error| {
        input_error(
            "not the parameters of random waypoint",
            "waypoint",
            &error.to_string(),
            "its parameters",
            FROM_PYTHON,
        )
    })
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
        py.detach(|| read_movement(data, name, &limits))
            .map(|of_file| Movement { of_file, digest: OnceLock::new() })
            .map_err(|error| of_reading(&error))
    }

    /// How many orders at speed 0 are to a place where the node is not; it stays where it is.
    #[getter]
    fn rests_elsewhere(&self) -> usize {
        self.of_file.rests_elsewhere
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
        let (duration, (seed, replication)) = (Span::from_secs(duration_s), streams);
        let commands = given.commands(duration);
        if commands > waypoint::MAX_COMMANDS {
            return Err(too_long(
                commands,
                "movement.areas",
                "ask for fewer nodes, a shorter run or a lower speed",
            ));
        }
        Ok(Movement::new(py.detach(|| areas(&given, duration, &Streams::new(seed, replication)))))
    }

    /// Random waypoint movement; `params_json` holds parameters of the section `waypoint`, the rest are
    /// defaults.
    #[staticmethod]
    fn waypoint(
        py: Python<'_>,
        params_json: &str,
        duration_s: f64,
        seed: u64,
        replication: u64,
    ) -> PyResult<Movement> {
        let params = waypoint_params(params_json)?;
        py.detach(|| {
            waypoint::generate(&params, Span::from_secs(duration_s), &Streams::new(seed, replication))
        })
        .map(Movement::new)
        .map_err(|error| of_waypoint(&error))
    }

    /// The movement as a file of ns-2, which reads back to the same movement.
    fn to_ns2(&self) -> PyResult<String> {
        let mut text = String::new();
        write_movement(&self.of_file, &mut text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(text)
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
        let last =
            self.trajectories().iter().filter_map(|trajectory| trajectory.commands.last()).map(|c| c.at());
        last.max().unwrap_or(Time::ZERO).as_secs()
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
    fn pairs_within_hops(
        &self,
        py: Python<'_>,
        params_json: &str,
        hops: u32,
        draws: Vec<(f64, f64)>,
    ) -> PyResult<Vec<(u32, u32)>> {
        let params: Params =
            serde_json::from_str(params_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(py.detach(|| {
            let starts: Vec<_> = self.trajectories().iter().map(|trajectory| trajectory.start).collect();
            let graph = Graph::at(&starts, params.link_range_m());
            let sources: Vec<u32> =
                (0..starts.len() as u32).filter(|&node| !graph.neighbours(node).is_empty()).collect();
            let drawn = |from: &[u32], unit: f64| from[(unit * from.len() as f64) as usize];
            let pair = |(first, second)| {
                let src = drawn(&sources, first);
                (src, drawn(&graph.within_hops(src, hops), second))
            };
            if sources.is_empty() { Vec::new() } else { draws.into_iter().map(pair).collect() }
        }))
    }

    /// SHA-256 of the movement's ns-2 form, 64 hexadecimal digits.
    #[getter]
    fn digest(&self) -> PyResult<String> {
        if let Some(known) = self.digest.get() {
            return Ok(known.clone());
        }
        let bytes = Sha256::digest(self.to_ns2()?.as_bytes());
        let digest: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(self.digest.get_or_init(|| digest).clone())
    }
}
