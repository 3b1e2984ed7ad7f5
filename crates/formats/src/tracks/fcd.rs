//! Floating car data of SUMO: `fcd-export` / `timestep` / `vehicle`, `person`, `container`.
//!
//! Every attribute but `id` can be switched off in SUMO; `x` and `y` are needed. With its option
//! `fcd-output.geo` they are longitude and latitude, which is told from the values. Nodes are there while
//! they are listed: each sample lasts a step, and those of the last time step stay.

use std::io::BufRead;

use super::collect::{Collected, Place, Rules};
use super::timestamp::Nanos;
use super::xml::{Tag, TagKind, Xml, unescaped};
use crate::error::{Fault, Parsed};

pub(super) fn read(source: impl BufRead, into: &mut Collected) -> Parsed<Rules> {
    let mut xml = Xml::new(source);
    let (mut now, mut before) = (None, None);
    let mut step: Option<Nanos> = None;
    while let Some(tag) = xml.next()? {
        let line = tag.line;
        let located = |fault: Box<Fault>| fault.at(line);
        match (tag.name, tag.kind) {
            ("timestep", TagKind::Open | TagKind::Empty) => {
                let at = time_step(&tag, into).map_err(located)?;
                if let Some(last) = before.replace(at) {
                    if at < last {
                        let found = format!("{} s behind {} s", at as f64 / 1e9, last as f64 / 1e9);
                        let hint = "are these two files in one?";
                        return Err(
                            Fault::new("time does not go on", found, "a later time step", hint).at(line)
                        );
                    }
                    let passed = Some(at - last).filter(|&passed| passed > 0);
                    step = [step, passed].into_iter().flatten().min();
                }
                into.instant(at);
                now = Some(at);
            }
            ("vehicle" | "person" | "container", TagKind::Open | TagKind::Empty) => {
                let Some(at) = now else {
                    let found = format!("<{}> outside a time step", tag.name);
                    return Err(
                        Fault::new("no time", found, "<timestep time=\"…\">", "is it FCD of SUMO?").at(line)
                    );
                };
                sample(&tag, at, into).map_err(located)?;
            }
            _ => {}
        }
    }
    // A vehicle may be asked for its place more rarely than there are time steps.
    let step = match into.common_step() {
        0 => step.unwrap_or(0),
        common => common,
    };
    Ok(Rules { from_first: true, step: Some(step), sorted: true, ..Rules::PLAIN })
}

fn time_step(tag: &Tag<'_>, into: &mut Collected) -> Parsed<Nanos> {
    let mut time = None;
    tag.attributes(|name, value| {
        if name == "time" {
            time = Some(value);
        }
        Ok(())
    })?;
    into.time(time.ok_or_else(|| missing("time", tag))?)
}

fn sample(tag: &Tag<'_>, at: Nanos, into: &mut Collected) -> Parsed<()> {
    let (mut id, mut x, mut y, mut z) = (None, None, None, None);
    tag.attributes(|name, value| {
        match name {
            "id" => id = Some(value),
            "x" => x = Some(value),
            "y" => y = Some(value),
            "z" => z = Some(value),
            _ => {}
        }
        Ok(())
    })?;
    let node = into.node(&unescaped(id.ok_or_else(|| missing("id", tag))?)?)?;
    let x = into.coordinate(x.ok_or_else(|| missing("x", tag))?, "x")?;
    let y = into.coordinate(y.ok_or_else(|| missing("y", tag))?, "y")?;
    let z = z.map(|z| into.coordinate(z, "z")).transpose()?;
    into.push(node, Place { at, x, y, z })
}

fn missing(name: &str, tag: &Tag<'_>) -> Box<Fault> {
    let found = format!("<{}> without {name}", tag.name);
    Fault::new(
        "no place or time",
        found,
        format!("{name}=\"…\""),
        "let SUMO write it: --fcd-output.attributes x,y",
    )
}
