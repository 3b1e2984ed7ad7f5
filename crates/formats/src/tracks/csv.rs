//! Tables as text: a header that names time, id and place, then one row a sample, in any order.
//!
//! Columns are parted by `,`, `;`, tabs or blanks; texts may be in double quotes. Names are read without
//! regard to case, and their units, as in `time (s)` and `Latitude [deg]`, are left out, but for times in
//! milliseconds. Where columns are not parted by commas, numbers may have decimal commas. Columns with other
//! names are left out, and so are rows without a place. A table of four or five numbers without a header is
//! `time,id,x,y[,z]`.

use std::io::BufRead;

use super::collect::{Collected, Place, Rules};
use super::lines;
use crate::error::{Fault, Parsed, quoted};

/// The names of columns that are understood, without regard to case; of several that a table has, the first.
/// An `id` beside a name that says whose it is, is often the number of the row.
const COLUMNS: &[(Column, &[&str])] = &[
    (
        Column::Time,
        &[
            "time",
            "t",
            "time_s",
            "t_s",
            "timestamp",
            "datetime",
            "date_time",
            "tracked_at",
            "recorded_at",
            "time_stamp",
            "gps_time",
            "utc",
            "datetime_utc",
            "ts",
            "date",
            "seconds",
            "timestep_time",
            "time_ms",
            "t_ms",
            "timestamp_ms",
        ],
    ),
    (
        Column::Id,
        &[
            "node",
            "node_id",
            "nodeid",
            "vehicle_id",
            "veh_id",
            "vehicle",
            "person_id",
            "user_id",
            "userid",
            "user",
            "device_id",
            "device",
            "agent_id",
            "agent",
            "object_id",
            "trajectory_id",
            "traj_id",
            "track_id",
            "trackid",
            "tracker",
            "taxi_id",
            "driver_id",
            "drone",
            "uav",
            "robot",
            "mmsi",
            "callsign",
            "id",
            "name",
            "label",
            "uid",
        ],
    ),
    (Column::X, &["x", "x_m", "pos_x", "x_pos", "posx", "vehicle_x", "person_x", "easting"]),
    (Column::Y, &["y", "y_m", "pos_y", "y_pos", "posy", "vehicle_y", "person_y", "northing"]),
    (Column::Longitude, &["lon", "lng", "long", "longitude", "lon_deg", "longitude_deg"]),
    (Column::Latitude, &["lat", "latitude", "lat_deg", "latitude_deg"]),
    (
        Column::Height,
        &["z", "z_m", "alt", "altitude", "altitude_m", "height", "height_m", "ele", "elevation"],
    ),
    (Column::State, &["state", "status", "present", "on"]),
];

/// What a column of a table of samples holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Column {
    /// When: seconds, or dates and times.
    Time,
    /// Who.
    Id,
    /// Metres to the east.
    X,
    /// Metres to the north.
    Y,
    /// Degrees to the east.
    Longitude,
    /// Degrees to the north.
    Latitude,
    /// Metres above the ground.
    Height,
    /// Whether the node is there from then on.
    State,
}

impl Column {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Column::Time => "time",
            Column::Id => "id",
            Column::X => "x",
            Column::Y => "y",
            Column::Longitude => "lon",
            Column::Latitude => "lat",
            Column::Height => "z",
            Column::State => "state",
        }
    }
}

/// A column's name in lower case, its words parted by `_`, and its unit if that stands in brackets.
fn plain_name(name: &str) -> (String, String) {
    let lower = name.trim().to_lowercase();
    let (name, unit) = lower.split_once(['(', '[']).unwrap_or((&lower, ""));
    let name = name.trim().replace([' ', '-', '.'], "_");
    (name, unit.trim_end_matches([')', ']']).trim().to_owned())
}

/// Whether a column of times that is called so is in milliseconds.
pub fn is_in_ms(name: &str) -> bool {
    let (name, unit) = plain_name(name);
    name.ends_with("_ms") || matches!(&*unit, "ms" | "msec" | "millis" | "millisecond" | "milliseconds")
}

/// Where the columns are, counted from 0.
struct Layout {
    separator: char,
    time: usize,
    id: usize,
    x: usize,
    y: usize,
    z: Option<usize>,
    state: Option<usize>,
    degrees: Option<bool>,
    /// Times are thousandths of a second.
    in_ms: bool,
    /// As SUMO writes them: vehicles are there while they are listed.
    sumo: bool,
    columns: usize,
}

pub(super) fn read(source: impl BufRead, into: &mut Collected) -> Parsed<Rules> {
    let mut layout: Option<Layout> = None;
    lines::each(source, |_, line| {
        if let Some(layout) = &layout {
            return row(layout, line, into);
        }
        let (made, is_header) = header(line)?;
        let made = layout.insert(made);
        if is_header { Ok(()) } else { row(made, line, into) }
    })?;
    let Some(layout) = layout else { return Ok(Rules::PLAIN) };
    let step = layout.sumo.then(|| into.common_step());
    Ok(Rules { degrees: layout.degrees, from_first: layout.sumo, step, ..Rules::PLAIN })
}

/// The layout that the first line says, and whether that line is a header.
fn header(line: &str) -> Parsed<(Layout, bool)> {
    let counts = [';', ',', '\t'].map(|separator| (line.matches(separator).count(), separator));
    let (count, best) = counts.into_iter().max_by_key(|&(count, _)| count).unwrap_or((0, ','));
    let separator = if count == 0 { ' ' } else { best };
    let names = fields(line, separator)?;
    let is_known = |column| find(&names, column).is_some();
    if COLUMNS.iter().filter(|(column, _)| is_known(*column)).count() > 1 {
        return named(line, &names, separator).map(|layout| (layout, true));
    }
    let number =
        |index: usize| names.get(index).is_some_and(|text| crate::number::decimal(text.trim()).is_some());
    if matches!(names.len(), 4 | 5) && number(0) && number(2) && number(3) {
        let z = (names.len() == 5).then_some(4);
        let columns = names.len();
        let (degrees, sumo, state, in_ms) = (None, false, None, false);
        return Ok((
            Layout { separator, time: 0, id: 1, x: 2, y: 3, z, state, degrees, in_ms, sumo, columns },
            false,
        ));
    }
    Err(Fault::new(
        "no columns of tracks",
        quoted(line),
        "a header with time, id, x and y (or lon and lat)",
        "name the columns so in the first line:  time,id,x,y",
    ))
}

/// What to say of a table without a column.
fn without(column: Column, line: &str) -> Box<Fault> {
    let what = match column {
        Column::Time => "no column of times",
        Column::Id => "no column that says whose the samples are",
        _ => "no columns of places",
    };
    let known = COLUMNS.iter().find(|(which, _)| *which == column).map_or(&[][..], |(_, known)| known);
    let wanted = match column {
        Column::Id => "one that is called id, node, name, or ends in _id".to_owned(),
        Column::Time => format!("one that is called {}", known[..6].join(", ")),
        _ => "x and y in m, or lon and lat in degrees".to_owned(),
    };
    let hint = match column {
        Column::Id => "add a column id: the same name in all samples of a node",
        _ => "rename columns in the first line:  time,id,x,y",
    };
    Fault::new(what, quoted(line), wanted, hint)
}

/// The columns that are understood, as places in a list of names, each at most once.
pub fn columns_of(names: &[String]) -> Vec<(Column, usize)> {
    COLUMNS.iter().filter_map(|&(column, _)| Some((column, find(names, column)?))).collect()
}

/// The first column with one of a column's names; whose samples they are says, if nothing else does, what
/// ends in `_id`.
fn find(names: &[String], column: Column) -> Option<usize> {
    let plain: Vec<String> = names.iter().map(|name| plain_name(name).0).collect();
    let known = COLUMNS.iter().find(|(which, _)| *which == column).map_or(&[][..], |(_, known)| known);
    let named = known.iter().find_map(|known| plain.iter().position(|name| name == known));
    let by_ending = || plain.iter().position(|name| name.ends_with("_id"));
    named.or_else(|| if column == Column::Id { by_ending() } else { None })
}

fn named(line: &str, names: &[String], separator: char) -> Parsed<Layout> {
    let wanted = |column| find(names, column).ok_or_else(|| without(column, line));
    let metres = (find(names, Column::X), find(names, Column::Y));
    let degrees = (find(names, Column::Longitude), find(names, Column::Latitude));
    let (x, y, degrees) = match (metres, degrees) {
        ((Some(x), Some(y)), _) => (x, y, None),
        (_, (Some(x), Some(y))) => (x, y, Some(true)),
        _ => return Err(without(Column::X, line)),
    };
    let id = wanted(Column::Id)?;
    let sumo = names[id].trim().to_ascii_lowercase().ends_with("e_id") || names[id].trim() == "person_id";
    let time = wanted(Column::Time)?;
    Ok(Layout {
        separator,
        time,
        in_ms: is_in_ms(&names[time]),
        id,
        x,
        y,
        z: find(names, Column::Height),
        state: find(names, Column::State),
        degrees,
        sumo: sumo && names[time].trim().starts_with("timestep"),
        columns: names.len(),
    })
}

fn row(layout: &Layout, line: &str, into: &mut Collected) -> Parsed<()> {
    let mut values = fields(line, layout.separator)?;
    if values.len() != layout.columns {
        let (found, wanted) = (format!("{} columns", values.len()), format!("{}, as above", layout.columns));
        return Err(Fault::new("row", found, wanted, "was the file written completely?"));
    }
    if layout.separator != ',' {
        for index in [Some(layout.time), Some(layout.x), Some(layout.y), layout.z].into_iter().flatten() {
            with_point(&mut values[index]);
        }
    }
    let is_sample = !layout.sumo || !values[layout.id].trim().is_empty();
    if is_sample && [layout.time, layout.x, layout.y].iter().any(|&column| is_missing(&values[column])) {
        into.odd.placeless += 1;
        return Ok(());
    }
    let at =
        if layout.in_ms { milliseconds(&values[layout.time])? } else { into.time(&values[layout.time])? };
    if layout.sumo && values[layout.id].trim().is_empty() {
        into.instant(at);
        return Ok(());
    }
    let node = into.node(values[layout.id].trim())?;
    let (x, y) = match layout.degrees {
        Some(true) => ("longitude", "latitude"),
        _ => ("x", "y"),
    };
    let (x, y) = (into.coordinate(&values[layout.x], x)?, into.coordinate(&values[layout.y], y)?);
    let z = layout.z.map(|column| values[column].trim()).filter(|text| !is_missing(text));
    let z = z.map(|text| into.coordinate(text, "height")).transpose()?;
    into.push(node, Place { at, x, y, z })?;
    if let Some(column) = layout.state {
        into.state(node, at, state(&values[column])?);
    }
    Ok(())
}

/// A number with a point where it has a decimal comma.
fn with_point(value: &mut String) {
    if value.matches(',').count() == 1 && !value.contains(['.', ':']) {
        *value = value.replace(',', ".");
    }
}

/// How tables write that there is no value.
fn is_missing(value: &str) -> bool {
    let value = value.trim();
    ["", "nan", "na", "n/a", "null", "none", "-", "\\N"].iter().any(|none| value.eq_ignore_ascii_case(none))
}

/// A time in ms: of a run, or since 1970.
fn milliseconds(text: &str) -> Parsed<i64> {
    let most_ms = 9e12;
    let ms = crate::number::bounded(text.trim(), "time", 0.0, most_ms, "ms")?;
    Ok((ms * 1e6).round() as i64)
}

fn state(text: &str) -> Parsed<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "up" | "yes" => Ok(true),
        "0" | "false" | "off" | "down" | "no" => Ok(false),
        _ => Err(Fault::new(
            "state",
            quoted(text),
            "1 or 0, on or off",
            "whether the node is there from then on",
        )),
    }
}

/// The fields of a line.
fn fields(line: &str, separator: char) -> Parsed<Vec<String>> {
    if separator == ' ' {
        return Ok(line.split_ascii_whitespace().map(str::to_owned).collect());
    }
    if !line.contains('"') {
        return Ok(line.split(separator).map(str::to_owned).collect());
    }
    let mut made = vec![String::new()];
    let mut within = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(field) = made.last_mut() else { break };
        match c {
            '"' if within && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => within = !within,
            c if c == separator && !within => made.push(String::new()),
            c => field.push(c),
        }
    }
    if within {
        let hint = "a field does not go over several lines";
        return Err(Fault::new("quotes", quoted(line), "quotes that are closed", hint));
    }
    Ok(made)
}
