//! External movement of The ONE: a line `minTime maxTime minX maxX minY maxY [minZ maxZ]`, then
//! `time id x y [z]` in order of time. Times count from `minTime`. A node that is not listed at a time goes
//! straight on from where it was last to where it is next.

use std::io::BufRead;

use super::collect::{Collected, Place, Rules};
use super::lines;
use super::timestamp::Nanos;
use crate::error::{Fault, Parsed, quoted};

pub(super) fn read(source: impl BufRead, into: &mut Collected) -> Parsed<Rules> {
    let mut begin: Option<Nanos> = None;
    lines::each(source, |_, line| {
        let words: Vec<&str> = line.split_ascii_whitespace().take(9).collect();
        let Some(begin) = begin else {
            begin = Some(into.time(words[0])?);
            return Ok(());
        };
        let (4 | 5) = words.len() else {
            let hint = "is it external movement of The ONE?";
            return Err(Fault::new("line not understood", quoted(line), "time id x y", hint));
        };
        let Some(at) = into.time(words[0])?.checked_sub(begin).filter(|&at| at >= 0) else {
            let hint = "the first line says the earliest time";
            return Err(Fault::new("time", quoted(words[0]), "a time from the first line's on", hint));
        };
        let node = into.node(words[1])?;
        let (x, y) = (into.coordinate(words[2], "x")?, into.coordinate(words[3], "y")?);
        let z = words.get(4).map(|z| into.coordinate(z, "z")).transpose()?;
        into.push_later(node, Place { at, x, y, z })
    })?;
    Ok(Rules { sorted: true, ..Rules::PLAIN })
}
