//! Tracks: where nodes were at points in time, as programs and instruments write them.
//!
//! | form | told by | a node is | times |
//! |---|---|---|---|
//! | SUMO's floating car data ([`fcd`]) | `<fcd-export` | a vehicle or person, there while listed | s |
//! | GPX ([`gpx`]) | `<gpx` | a track (`trk`) | ISO 8601 |
//! | BonnMotion ([`bonnmotion`]) | lines of numbers, each beginning at an early time | a line | s |
//! | The ONE ([`the_one`]) | a line of bounds, then `time id x y` | an id | s |
//! | CSV ([`csv`]) | a header with a time, an id and a place | an id | s or ISO 8601 |
//! | GeoJSON ([`geojson`]) | `{` | an `id`, or a `LineString` | s or ISO 8601 |
//!
//! The form is told by the content, not by the file's name; any of them may be compressed with gzip. Files
//! of XML, of The ONE and of CSV are read as they stream by: what is kept are the samples. Between two
//! samples a node moves in a straight line at constant speed.
//!
//! Degrees become metres on the plane that touches the earth in the middle of the box ([`projection`]).
//! Samples that say nothing new are left out ([`thin`]).

mod bonnmotion;
mod collect;
mod csv;
mod fcd;
mod geojson;
mod gpx;
mod kind;
mod lines;
mod projection;
#[cfg(test)]
mod tests;
mod the_one;
mod thin;
mod timestamp;
mod xml;

use std::io::{BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use manetlab_core::kernel::Time;
use manetlab_core::mobility::{Point, Presence, Sample, Trajectory};

use self::collect::Collected;
pub use self::collect::Columns;
pub use self::csv::{Column, columns_of, is_in_ms};
pub use self::kind::Form;
pub use self::projection::Plane;
pub(crate) use self::projection::looks_like_degrees;
use crate::error::{Fault, Parsed, ReadError};
use crate::limits::Limits;

/// How many bytes of a file are looked at to tell its form.
const HEAD_BYTES: usize = 64 << 10;
/// Most bytes that a compressed file may unfold to.
const MOST_BYTES: u64 = 8 << 30;

/// How tracks are to be read.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Options {
    /// A node is there from its first sample to its last only, whatever the form; SUMO's always are.
    pub sampled_presence: bool,
    /// How far, in m, a node may be from where its samples say, so that samples can be left out. `None`:
    /// 0.01 m where the file is in metres, 0.5 m where it is in degrees, as receivers of GPS are no better.
    pub thin_m: Option<f64>,
    /// How many numbers a point of BonnMotion has, 3 or 4, and whether the fourth is a status: as its file
    /// of parameters says.
    pub bonnmotion: Option<BonnMotionPoint>,
}

/// What a point of a BonnMotion file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BonnMotionPoint {
    /// `t x y`
    Flat,
    /// `t x y z`
    High,
    /// `t x y status`
    Status,
}

/// Where nodes were.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tracks {
    /// The nodes, in order of their numbers.
    pub nodes: Vec<Track>,
    /// The file's time that is 0 here, in s (of an ISO time: since 1970).
    pub began_s: f64,
    /// The plane on which the nodes are, if the file is in degrees.
    pub plane: Option<Plane>,
    /// Longest time between two samples of a node that is there, in s, before any were left out.
    pub longest_gap_s: f64,
    /// How many samples the file has, those not counted that [`Odd`] says to be left out.
    pub samples: usize,
    /// What is worth a remark.
    pub odd: Odd,
}

/// What is odd about tracks, as instruments write them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Odd {
    /// Samples at the time of another sample of their node, at another place: left out.
    pub repeated: usize,
    /// Samples that come after later ones in a recorded track: put in order.
    pub reordered: usize,
    /// Points without a time: left out.
    pub timeless: usize,
    /// Rows without a place (empty or NaN): left out.
    pub placeless: usize,
    /// Samples at 0°, 0°, which receivers write without a fix: left out.
    pub without_fix: usize,
    /// Each node has one sample only, at another time than others.
    pub single: bool,
}

/// Where a node was.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Track {
    /// What the file calls it.
    pub label: Box<str>,
    /// When; strictly increasing, at least one.
    pub at: Vec<Time>,
    /// Metres to the east, as many as `at`.
    pub x_m: Vec<f64>,
    /// Metres to the north, as many as `at`.
    pub y_m: Vec<f64>,
    /// Heights in m, as many as `at`; empty where the file has none.
    pub z_m: Vec<f64>,
    /// From when until when it is there, in order and apart; empty: always.
    pub present: Vec<(Time, Time)>,
}

impl Tracks {
    /// The ways of the nodes. Those that are called 0, 1, 2 … are called by their numbers.
    pub fn into_trajectories(self) -> Vec<Trajectory> {
        let numbered =
            self.nodes.iter().zip(0u32..).all(|(track, number)| *track.label == *number.to_string());
        let way = |track: Track| {
            let mut trajectory = track.into_track().trajectory().unwrap_or_default();
            if numbered {
                trajectory.label = None;
            }
            trajectory
        };
        self.nodes.into_iter().map(way).collect()
    }
}

impl Track {
    fn into_track(self) -> manetlab_core::mobility::Track {
        let has_heights = !self.z_m.is_empty();
        let sample = |(index, &at): (usize, &Time)| Sample {
            at,
            place: Point { x: self.x_m[index], y: self.y_m[index] },
            z_m: self.z_m.get(index).copied().unwrap_or(0.0),
        };
        let samples = self.at.iter().enumerate().map(sample).collect();
        let present = self.present.iter().map(|&(from, until)| Presence { from, until }).collect();
        manetlab_core::mobility::Track { label: self.label.into(), samples, has_heights, present }
    }
}

/// Reads tracks of any form; `name` is for errors.
///
/// # Errors
/// The content is of no form that is known, says what its form does not allow, exceeds `limits`, or cannot
/// be read.
pub fn read_tracks(
    source: impl Read,
    name: &str,
    limits: &Limits,
    options: &Options,
) -> Result<Tracks, ReadError> {
    let mut source = BufReader::with_capacity(HEAD_BYTES, source);
    let head = head_of(&mut source).map_err(|fault| fault.in_file(name, None))?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let unfolded = MultiGzDecoder::new(source).take(MOST_BYTES);
        let mut unfolded = BufReader::with_capacity(HEAD_BYTES, unfolded);
        let head = head_of(&mut unfolded).map_err(|fault| fault.in_file(name, None))?;
        return read(unfolded, &head, name, limits, options);
    }
    read(source, &head, name, limits, options)
}

fn read(
    source: impl BufRead,
    head: &[u8],
    name: &str,
    limits: &Limits,
    options: &Options,
) -> Result<Tracks, ReadError> {
    let form = kind::form_of(head).map_err(|fault| fault.in_file(name, None))?;
    let mut into = Collected::new(limits);
    let read = match form {
        Form::Fcd => fcd::read(source, &mut into),
        Form::Gpx => gpx::read(source, &mut into),
        Form::GeoJson => geojson::read(source, &mut into),
        Form::TheOne => the_one::read(source, &mut into),
        Form::BonnMotion => bonnmotion::read(source, &mut into, options.bonnmotion),
        Form::Csv => csv::read(source, &mut into),
    };
    let rules = read.map_err(|fault| fault.in_file(name, None))?;
    into.finish(&rules, options).map_err(|fault| fault.in_file(name, None))
}

/// The tracks that columns hold, from a table that is no text; `name` is for errors.
///
/// # Errors
/// The columns differ in length, or say what samples must not.
pub fn tracks_of_columns(
    columns: &Columns<'_>,
    name: &str,
    limits: &Limits,
    options: &Options,
) -> Result<Tracks, ReadError> {
    let mut into = Collected::new(limits);
    let read = into.take_columns(columns);
    let rules = read.map_err(|fault| fault.in_file(name, None))?;
    into.finish(&rules, options).map_err(|fault| fault.in_file(name, None))
}

/// The first bytes of a source, which are not taken from it.
fn head_of(source: &mut impl BufRead) -> Parsed<Vec<u8>> {
    match source.fill_buf() {
        Ok(head) if head.trim_ascii().is_empty() && head.len() < HEAD_BYTES => {
            Err(Fault::new("empty file", "nothing", "tracks of nodes", "was it written completely?"))
        }
        Ok(head) => Ok(head.to_vec()),
        Err(error) => Err(unreadable(&error)),
    }
}

/// The source cannot be read, mostly because what is compressed is damaged.
fn unreadable(error: &std::io::Error) -> Box<Fault> {
    Fault::new("the file cannot be read", error.to_string(), "a whole file", "was it written completely?")
}
