//! Tracks and scripts of ns-2.

use std::collections::BTreeMap;

use manetlab_core::kernel::Time;
use manetlab_formats::script::{Call, Outcome};
use manetlab_formats::tracks::{BonnMotionPoint, Options, Tracks};
use manetlab_formats::{Limits, Movement, script};
use serde_json::json;

use crate::told::Told;

/// How tracks are read: nodes are there while they have samples only; how far samples may be thinned, in m;
/// and what a row of BonnMotion is, `flat`, `high` or `status`.
///
/// # Errors
/// There is no such form of BonnMotion.
pub fn options(sampled: bool, thin_m: Option<f64>, bonnmotion: Option<&str>) -> Result<Options, String> {
    let bonnmotion = match bonnmotion {
        None => None,
        Some("flat") => Some(BonnMotionPoint::Flat),
        Some("high") => Some(BonnMotionPoint::High),
        Some("status") => Some(BonnMotionPoint::Status),
        Some(other) => return Err(format!("{other} is no form of BonnMotion")),
    };
    Ok(Options { sampled_presence: sampled, thin_m, bonnmotion })
}

/// How many samples were left out or put in order, by the reason; and whether each node has one sample only.
pub fn odd(tracks: &Tracks) -> (BTreeMap<&'static str, usize>, bool) {
    let odd = tracks.odd;
    let counts = [
        ("repeated", odd.repeated),
        ("reordered", odd.reordered),
        ("timeless", odd.timeless),
        ("placeless", odd.placeless),
        ("without_fix", odd.without_fix),
    ];
    (counts.into_iter().filter(|&(_, count)| count > 0).collect(), odd.single)
}

/// The time of the last sample; 0 if there is none.
pub fn last(tracks: &Tracks) -> Time {
    tracks.nodes.iter().filter_map(|track| track.at.last().copied()).max().unwrap_or(Time::ZERO)
}

/// What became of a script.
pub enum ReadScript {
    /// It sources a file that was not given.
    Missing {
        /// The file's name.
        name: String,
        /// What to say if there is no such file.
        error: Told,
    },
    /// It was evaluated.
    Read {
        /// All that it says, as JSON.
        text: String,
        /// Where its nodes start and go, if it has any.
        movement: Option<Movement>,
    },
}

/// Evaluates a script of ns-2, which sources `files`.
///
/// # Errors
/// It cannot be evaluated.
pub fn read_script(
    data: &[u8],
    name: &str,
    files: &BTreeMap<String, Vec<u8>>,
    arguments: &[String],
) -> Result<ReadScript, Told> {
    let read = script::read_script(data, name, files, arguments, &Limits::default());
    let script = match read.map_err(|error| Told::of_reading(&error))? {
        Outcome::Missing { name, error } => {
            return Ok(ReadScript::Missing { name, error: Told::of_reading(&error) });
        }
        Outcome::Script(script) => script,
    };
    let call = |call: &Call| {
        json!([call.file, call.line, call.at_s, call.object, call.class, call.words, call.made])
    };
    let text = json!({
        "calls": script.calls.iter().filter(|call| !is_movement(call)).map(call).collect::<Vec<_>>(),
        "nodes": script.nodes,
        "ended_s": script.ended_s,
        "ran": script.ran,
        "notes": script.notes,
        "files": script.files,
    });
    Ok(ReadScript::Read { text: text.to_string(), movement: script.movement })
}

/// Whether the movement has what a call says.
fn is_movement(call: &Call) -> bool {
    let words: Vec<&str> = call.words.iter().map(|word| &**word).collect();
    &*call.class == "Node"
        && matches!(words.as_slice(), ["setdest", ..] | ["set", "X_" | "Y_" | "Z_", _] | ["switch", _])
}
