//! GPX 1.0 and 1.1: `gpx` / `trk` / `trkseg` / `trkpt`. A track is a node, called by its `name`; between
//! two segments it goes straight on. Way points and routes say no times and are left out.

use std::io::BufRead;

use super::collect::{Collected, Place, Rules};
use super::xml::{Tag, TagKind, Xml, unescaped};
use crate::error::{Fault, Parsed};

/// What is known of the track that is being read.
#[derive(Default)]
struct Reading {
    /// Its node, once it has a point.
    node: Option<usize>,
    name: Option<String>,
    tracks: usize,
    /// How deep `trk` and `trkpt` are, if within them.
    track: Option<usize>,
    point: Option<Point>,
    /// Places that are no track: of planned routes, and single ones.
    planned: usize,
    /// The line of the first point without a time.
    timeless: Option<u64>,
}

struct Point {
    depth: usize,
    longitude: f64,
    latitude: f64,
    height: Option<f64>,
    at: Option<i64>,
}

pub(super) fn read(source: impl BufRead, into: &mut Collected) -> Parsed<Rules> {
    let mut xml = Xml::new(source);
    let mut reading = Reading::default();
    while let Some(tag) = xml.next()? {
        reading.take(&tag, into).map_err(|fault| fault.at(tag.line))?;
    }
    if into.is_empty() {
        return Err(reading.no_track());
    }
    Ok(Rules { degrees: Some(true), from_first: true, own_track: true, ..Rules::PLAIN })
}

impl Reading {
    fn take(&mut self, tag: &Tag<'_>, into: &mut Collected) -> Parsed<()> {
        match (tag.name, tag.kind) {
            ("trk", TagKind::Open) => {
                self.tracks += 1;
                (self.node, self.name, self.track) = (None, None, Some(tag.depth));
            }
            ("trk", TagKind::Close) => self.track = None,
            ("trkpt", TagKind::Open | TagKind::Empty) if self.track.is_some() => {
                self.point = Some(point(tag, into)?);
                if tag.kind == TagKind::Empty {
                    self.end_point(tag.line, into)?;
                }
            }
            ("trkpt", TagKind::Close) if self.point.is_some() => self.end_point(tag.line, into)?,
            ("rtept" | "wpt", TagKind::Open | TagKind::Empty) => self.planned += 1,
            (_, TagKind::Close) => self.text(tag, into)?,
            _ => {}
        }
        Ok(())
    }

    /// The text of an element within a point or a track.
    fn text(&mut self, tag: &Tag<'_>, into: &mut Collected) -> Parsed<()> {
        if let Some(point) = self.point.as_mut().filter(|point| point.depth == tag.depth) {
            match tag.name {
                "time" => point.at = Some(into.time(&unescaped(tag.text)?)?),
                "ele" => point.height = Some(into.coordinate(tag.text, "height")?),
                _ => {}
            }
        } else if tag.name == "name" && self.track == Some(tag.depth) {
            self.name = Some(unescaped(tag.text)?.trim().to_owned()).filter(|name| !name.is_empty());
        }
        Ok(())
    }

    /// What to say of a file without a sample.
    fn no_track(&self) -> Box<Fault> {
        let hint = "a planned route has no times: export the recorded track";
        match self.timeless {
            Some(line) => {
                let found = "<trkpt> without <time>, and no point with one";
                Fault::new("a track without times", found, "<time> in each <trkpt>", hint).at(line)
            }
            None => {
                let found = format!("routes and way points only ({} places)", self.planned);
                Fault::new("no track", found, "a recorded track, <trk>", hint)
            }
        }
    }

    fn end_point(&mut self, line: u64, into: &mut Collected) -> Parsed<()> {
        let Some(point) = self.point.take() else { return Ok(()) };
        let Some(at) = point.at else {
            self.timeless.get_or_insert(line);
            into.odd.timeless += 1;
            return Ok(());
        };
        let node = match self.node {
            Some(node) => node,
            None => into.node(&self.label(into))?,
        };
        self.node = Some(node);
        into.push_recorded(node, Place { at, x: point.longitude, y: point.latitude, z: point.height })
    }

    /// The track's name, with a number where another has it already.
    fn label(&self, into: &Collected) -> String {
        let name = self.name.clone().unwrap_or_else(|| format!("track {}", self.tracks));
        if !into.knows(&name) {
            return name;
        }
        format!("{name} ({})", self.tracks)
    }
}

fn point(tag: &Tag<'_>, into: &Collected) -> Parsed<Point> {
    let (mut longitude, mut latitude) = (None, None);
    tag.attributes(|name, value| {
        match name {
            "lon" => longitude = Some(into.coordinate(value, "longitude")?),
            "lat" => latitude = Some(into.coordinate(value, "latitude")?),
            _ => {}
        }
        Ok(())
    })?;
    let (Some(longitude), Some(latitude)) = (longitude, latitude) else {
        let hint = "was the file written by another program? export it again";
        return Err(Fault::new("a point without a place", "<trkpt>", "lat=\"…\" lon=\"…\"", hint));
    };
    Ok(Point { depth: tag.depth, longitude, latitude, height: None, at: None })
}
