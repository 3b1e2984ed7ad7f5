//! Tables as text: a header that names time, id and place, then one row a sample, in any order.
//!
//! Columns are parted by `,`, `;`, tabs or blanks; texts may be in double quotes. Columns with other names
//! are left out. A table of four or five numbers without a header is `time,id,x,y[,z]`.

use std::io::BufRead;

use super::collect::{Collected, Place, Rules};
use super::lines;
use crate::error::{Fault, Parsed, quoted};

/// The names of columns that are understood, without regard to case.
const NAMES: &[(Column, &[&str])] = &[
    (
        Column::Time,
        &["time", "t", "time_s", "t_s", "timestamp", "datetime", "date", "seconds", "timestep_time"],
    ),
    (
        Column::Id,
        &["id", "node", "node_id", "nodeid", "name", "label", "vehicle_id", "person_id", "device", "agent"],
    ),
    (Column::X, &["x", "x_m", "pos_x", "x_pos", "vehicle_x", "person_x"]),
    (Column::Y, &["y", "y_m", "pos_y", "y_pos", "vehicle_y", "person_y"]),
    (Column::Longitude, &["lon", "lng", "long", "longitude", "lon_deg", "longitude_deg"]),
    (Column::Latitude, &["lat", "latitude", "lat_deg", "latitude_deg"]),
    (
        Column::Height,
        &["z", "z_m", "alt", "altitude", "altitude_m", "height", "height_m", "ele", "elevation"],
    ),
    (Column::State, &["state", "status", "present", "on"]),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Time,
    Id,
    X,
    Y,
    Longitude,
    Latitude,
    Height,
    State,
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
    if names.iter().any(|name| name.chars().any(char::is_alphabetic)) && find(&names, Column::Time).is_some()
    {
        return named(line, &names, separator).map(|layout| (layout, true));
    }
    let number =
        |index: usize| names.get(index).is_some_and(|text| crate::number::decimal(text.trim()).is_some());
    if matches!(names.len(), 4 | 5) && number(0) && number(2) && number(3) {
        let z = (names.len() == 5).then_some(4);
        let columns = names.len();
        let (degrees, sumo, state) = (None, false, None);
        return Ok((
            Layout { separator, time: 0, id: 1, x: 2, y: 3, z, state, degrees, sumo, columns },
            false,
        ));
    }
    Err(no_columns(line))
}

fn no_columns(line: &str) -> Box<Fault> {
    Fault::new(
        "no columns of tracks",
        quoted(line),
        "a header with time, id, x and y (or lon and lat)",
        "name the columns so in the first line:  time,id,x,y",
    )
}

/// The first column with one of a column's names.
fn find(names: &[String], column: Column) -> Option<usize> {
    let known = NAMES.iter().find(|(which, _)| *which == column).map_or(&[][..], |(_, known)| known);
    known.iter().find_map(|known| names.iter().position(|name| name.trim().eq_ignore_ascii_case(known)))
}

fn named(line: &str, names: &[String], separator: char) -> Parsed<Layout> {
    let wanted = |column| find(names, column).ok_or_else(|| no_columns(line));
    let metres = (find(names, Column::X), find(names, Column::Y));
    let degrees = (find(names, Column::Longitude), find(names, Column::Latitude));
    let (x, y, degrees) = match (metres, degrees) {
        ((Some(x), Some(y)), _) => (x, y, None),
        (_, (Some(x), Some(y))) => (x, y, Some(true)),
        _ => return Err(no_columns(line)),
    };
    let id = wanted(Column::Id)?;
    let sumo = names[id].trim().to_ascii_lowercase().ends_with("e_id") || names[id].trim() == "person_id";
    Ok(Layout {
        separator,
        time: wanted(Column::Time)?,
        id,
        x,
        y,
        z: find(names, Column::Height),
        state: find(names, Column::State),
        degrees,
        sumo: sumo && find(names, Column::Time).is_some_and(|at| names[at].trim().starts_with("timestep")),
        columns: names.len(),
    })
}

fn row(layout: &Layout, line: &str, into: &mut Collected) -> Parsed<()> {
    let values = fields(line, layout.separator)?;
    if values.len() != layout.columns {
        let (found, wanted) = (format!("{} columns", values.len()), format!("{}, as above", layout.columns));
        return Err(Fault::new("row", found, wanted, "was the file written completely?"));
    }
    let at = into.time(&values[layout.time])?;
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
    let z = layout.z.map(|column| values[column].trim()).filter(|text| !text.is_empty());
    let z = z.map(|text| into.coordinate(text, "height")).transpose()?;
    into.push(node, Place { at, x, y, z })?;
    if let Some(column) = layout.state {
        into.state(node, at, state(&values[column])?);
    }
    Ok(())
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
