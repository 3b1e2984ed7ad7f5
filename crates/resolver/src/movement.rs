//! Movement: generated, put together from samples, and with nodes that fail.

use manetlab_core::kernel::{MAX_TIME_S, Span, Streams, Time};
use manetlab_core::mobility::{
    Areas, Failure, MAX_COMMANDS, Model, Path, Point, Presence, Sample, Track, TrackError, Trajectory,
    areas as in_areas, with_failures,
};
use manetlab_core::topology::Graph;

use crate::told::{FROM_PYTHON, Told};

/// Nodes in areas one hop apart.
///
/// # Errors
/// The movement would fill the memory.
pub fn areas(given: &Areas, duration: Span, streams: &Streams) -> Result<Vec<Trajectory>, Told> {
    let commands = given.commands(duration);
    if commands > MAX_COMMANDS {
        let hint = "ask for fewer nodes, a shorter run or a lower speed";
        return Err(Told::too_long(commands, "movement.areas", hint));
    }
    Ok(in_areas(given, duration, streams))
}

/// Movement of a model.
///
/// # Errors
/// The parameters are out of range, do not fit each other, or would fill the memory.
pub fn drawn(model: &Model, duration: Span, streams: &Streams) -> Result<Vec<Trajectory>, Told> {
    model.generate(duration, streams).map_err(|error| Told::of_model(&error, model.name()))
}

/// The movement model of that name with its parameters as JSON; those that are missing are defaults.
///
/// # Errors
/// There is none, or they are none.
pub fn model(name: &str, json: &str) -> Result<Model, Told> {
    let told = |found: &str| {
        let what = "not a movement model with its parameters";
        Told::new(what, &format!("movement.{name}"), found, &Model::NAMES.join(", "), FROM_PYTHON)
    };
    match Model::read(name, json) {
        Some(read) => read.map_err(|error| told(&error.to_string())),
        None => Err(told(name)),
    }
}

/// The same movement with nodes that fail in a run that ends then; the failures came from `place`.
///
/// # Errors
/// A failure is of a node that does not exist, or there are too many.
pub fn failing(
    movement: &[Trajectory],
    failures: &[Failure],
    streams: &Streams,
    end: Time,
    place: &str,
) -> Result<Vec<Trajectory>, Told> {
    with_failures(movement, failures, streams, end).map_err(|error| {
        let wanted = "nodes that there are, up to a million failures";
        Told::new("nodes cannot fail like this", place, &error.to_string(), wanted, "see `failures`")
    })
}

/// The names of the nodes; none if they are called by their numbers.
pub fn labels(movement: &[Trajectory]) -> Option<Vec<String>> {
    let of = |(number, node): (usize, &Trajectory)| node.label.clone().unwrap_or_else(|| number.to_string());
    movement.iter().any(|node| node.label.is_some()).then(|| movement.iter().enumerate().map(of).collect())
}

/// When the last command is given; 0 if there is none.
pub fn last_command(movement: &[Trajectory]) -> Time {
    let last = movement.iter().filter_map(|node| node.commands.last()).map(|command| command.at());
    last.max().unwrap_or(Time::ZERO)
}

/// When the last node has arrived, changed its height, joined or left; 0 if nothing ever changes.
pub fn ends(movement: &[Trajectory]) -> Time {
    let last_of = |trajectory: &Trajectory| {
        let arrives = Path::new(trajectory).legs().last().map(|leg| leg.start);
        let commanded = trajectory.commands.last().map(|command| command.at());
        let height = trajectory.heights.last().map(|height| height.at);
        let stays = trajectory.present.iter().flat_map(|stay| [stay.from, stay.until]);
        let known = stays.filter(|&edge| edge != Time::NEVER);
        known.chain([arrives, commanded, height].into_iter().flatten()).max()
    };
    movement.iter().filter_map(last_of).max().unwrap_or(Time::ZERO)
}

/// As many pairs of different nodes as there are `draws` (two each, uniform on [0, 1)): the first any node
/// that has others within `hops` links of `range_m` when the movement begins, the second any of these. Nobody
/// has others within so many links: no pairs.
pub fn pairs_within_hops(
    movement: &[Trajectory],
    range_m: f64,
    hops: u32,
    draws: &[(f64, f64)],
) -> Vec<(u32, u32)> {
    let paths: Vec<Path> = movement.iter().map(Path::new).collect();
    let graph = Graph::of(&paths, Time::ZERO, range_m);
    let sources: Vec<u32> =
        (0..paths.len() as u32).filter(|&node| !graph.neighbours(node).is_empty()).collect();
    let drawn = |from: &[u32], unit: f64| from[(unit * from.len() as f64) as usize];
    let pair = |&(first, second): &(f64, f64)| {
        let src = drawn(&sources, first);
        (src, drawn(&graph.within_hops(src, hops), second))
    };
    if sources.is_empty() { Vec::new() } else { draws.iter().map(pair).collect() }
}

/// Columns of samples, in any order: node, time in s, x, y and, if they are known, heights, in m.
#[derive(Clone, PartialEq, Debug)]
pub struct Samples {
    /// The nodes' numbers.
    pub node: Vec<u32>,
    /// Times in s.
    pub t_s: Vec<f64>,
    /// To the east, in m.
    pub x_m: Vec<f64>,
    /// To the north, in m.
    pub y_m: Vec<f64>,
    /// Heights in m.
    pub z_m: Option<Vec<f64>>,
}

impl Samples {
    /// Checks that columns are of one length, and rows of nodes and at times that there are; says what would
    /// be right.
    ///
    /// # Errors
    /// They are not.
    pub fn check(&self, nodes: usize) -> Result<(), String> {
        let rows = self.node.len();
        let others = [Some(&self.t_s), Some(&self.x_m), Some(&self.y_m), self.z_m.as_ref()];
        if others.into_iter().flatten().any(|column| column.len() != rows) {
            return Err("columns of the same length".to_owned());
        }
        if self.node.iter().any(|&node| node as usize >= nodes) {
            return Err("nodes that have a label".to_owned());
        }
        if self.t_s.iter().any(|t_s| !(0.0..=MAX_TIME_S).contains(t_s)) {
            return Err(format!("times from 0 to {MAX_TIME_S} s"));
        }
        Ok(())
    }

    /// The ways of nodes with these names and presences (pairs of s; an empty list is always), which came
    /// from `place`.
    ///
    /// # Errors
    /// Samples or presences are out of order or no numbers.
    pub fn trajectories(
        &self,
        labels: Vec<String>,
        present: Vec<Vec<(f64, f64)>>,
        place: &str,
    ) -> Result<Vec<Trajectory>, Told> {
        let presence = |&(from_s, until_s): &(f64, f64)| Presence {
            from: Time::from_secs(from_s),
            until: Time::from_secs(until_s),
        };
        let mut tracks: Vec<Track> = labels
            .into_iter()
            .zip(present)
            .map(|(label, present)| Track {
                label,
                samples: Vec::new(),
                has_heights: self.z_m.is_some(),
                present: present.iter().map(presence).collect(),
            })
            .collect();
        for (row, &node) in self.node.iter().enumerate() {
            let sample = Sample {
                at: Time::from_secs(self.t_s[row]),
                place: Point { x: self.x_m[row], y: self.y_m[row] },
                z_m: self.z_m.as_ref().map_or(0.0, |column| column[row]),
            };
            tracks[node as usize].samples.push(sample);
        }
        tracks.iter_mut().for_each(|track| track.samples.sort_by_key(|sample| sample.at));
        tracks
            .into_iter()
            .map(Track::trajectory)
            .collect::<Result<_, _>>()
            .map_err(|error| of_track(&error, place))
    }
}

fn of_track(error: &TrackError, place: &str) -> Told {
    let wanted = "samples of finite coordinates, one a time, and presences in order that do not overlap";
    Told::new("the tracks cannot be used", place, &error.to_string(), wanted, FROM_PYTHON)
}
