//! BonnMotion's own form: a line a node, with a point where its velocity changes: `t x y` each, or `t x y
//! z` behind a first line `#3D`, or `t x y status` (2: not there). The file of parameters beside it says
//! which; without it, and where the line is missing, the times do: they grow.

use std::io::BufRead;

use super::collect::{Collected, Place, Rules};
use super::{BonnMotionPoint, lines, unreadable};
use crate::error::{Fault, Parsed};

/// A line's number and its numbers.
type Line = (u64, Vec<f64>);

pub(super) fn read(
    mut source: impl BufRead,
    into: &mut Collected,
    given: Option<BonnMotionPoint>,
) -> Parsed<Rules> {
    let head = source.fill_buf().map_err(|error| unreadable(&error))?;
    let declared = head.trim_ascii_start().get(..3).is_some_and(|start| start.eq_ignore_ascii_case(b"#3d"));
    let mut nodes: Vec<Line> = Vec::new();
    let mut count = 0;
    lines::each(source, |number, line| {
        let mut values = Vec::new();
        for word in line.split_ascii_whitespace() {
            count += 1;
            if count > MOST_NUMBERS {
                let hint = "take a part of the nodes, or of the time";
                return Err(Fault::new(
                    "too many points",
                    "more",
                    format!("at most {MOST_NUMBERS} numbers"),
                    hint,
                ));
            }
            values.push(into.coordinate(word, "number")?);
        }
        into.node(&nodes.len().to_string())?;
        nodes.push((number, values));
        Ok(())
    })?;
    let point = match (given, declared) {
        (Some(point), _) => point,
        (None, true) => BonnMotionPoint::High,
        (None, false) => told(&nodes)?,
    };
    for (node, (number, values)) in nodes.iter().enumerate() {
        take(node, values, point, into).map_err(|fault| fault.at(*number))?;
    }
    Ok(Rules { sorted: true, ..Rules::PLAIN })
}

/// The status of a node that is there, and of one that is not.
const THERE: f64 = 1.0;
const AWAY: f64 = 2.0;
/// Most numbers of a file.
const MOST_NUMBERS: usize = 60_000_000;

fn width(point: BonnMotionPoint) -> usize {
    if point == BonnMotionPoint::Flat { 3 } else { 4 }
}

/// What the points hold, if the numbers say so without doubt.
fn told(nodes: &[Line]) -> Parsed<BonnMotionPoint> {
    let fits = |width: usize| {
        let times = |values: &Vec<f64>| values.iter().step_by(width).copied().collect::<Vec<_>>();
        nodes.iter().all(|(_, values)| {
            let times = times(values);
            values.len().is_multiple_of(width)
                && times.iter().all(|&t| t >= 0.0)
                && times.windows(2).all(|t| t[0] < t[1])
        })
    };
    let hint = "keep BonnMotion's file .params beside this one: it says how many numbers a point has";
    let fourth = || nodes.iter().flat_map(|(_, values)| values.iter().skip(3).step_by(4));
    match (fits(3), fits(4)) {
        (true, false) => Ok(BonnMotionPoint::Flat),
        (false, true) if fourth().any(|&z| z - THERE != 0.0 && z - AWAY != 0.0) => Ok(BonnMotionPoint::High),
        (false, true) => {
            let wanted = "t x y z, or t x y status";
            Err(Fault::new("points of four numbers", "only 1 and 2 as the fourth", wanted, hint))
        }
        (true, true) => {
            Err(Fault::new("points", "lines that fit `t x y` and `t x y z`", "one of the two", hint))
        }
        (false, false) => {
            let odd = nodes
                .iter()
                .find(|(_, values)| !values.len().is_multiple_of(3) && !values.len().is_multiple_of(4));
            let found = odd.map_or("times that do not grow".to_owned(), |(_, values)| {
                format!("{} numbers", values.len())
            });
            let wanted = "`t x y` for each point, with growing times";
            let fault =
                Fault::new("not a line of BonnMotion", found, wanted, "was the file written completely?");
            Err(fault.at(odd.map_or(1, |&(number, _)| number)))
        }
    }
}

fn take(node: usize, values: &[f64], point: BonnMotionPoint, into: &mut Collected) -> Parsed<()> {
    let width = width(point);
    if !values.len().is_multiple_of(width) {
        let found = format!("{} numbers", values.len());
        let hint = "was the file written completely?";
        return Err(Fault::new("not a line of BonnMotion", found, format!("{width} for each point"), hint));
    }
    for chunk in values.chunks_exact(width) {
        if chunk[0] < 0.0 {
            return Err(Fault::new("time", chunk[0].to_string(), "0 or more", "a run starts at 0 s"));
        }
        let at = (chunk[0] * 1e9).round() as i64;
        let z = (point == BonnMotionPoint::High).then(|| chunk[3]);
        into.push_later(node, Place { at, x: chunk[1], y: chunk[2], z })?;
        if point == BonnMotionPoint::Status {
            into.state(node, at, chunk[3] - AWAY != 0.0);
        }
    }
    Ok(())
}
