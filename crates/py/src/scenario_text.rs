//! Scenarios from JSON. Replications of a point have the same parameters, which are read once.

use std::sync::{LazyLock, Mutex, PoisonError};

use manetlab_core::scenario::{Params, Scenario};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Sets of parameters that are kept.
const MOST_KNOWN: usize = 64;

/// Parameters, each with its text.
type Known = Vec<(Box<str>, Params)>;

/// Those that were read.
static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// The part of a scenario that is long, and often the same.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    params: &'a RawValue,
}

/// A scenario from its JSON, as `serde_json` reads it.
pub(crate) fn read(text: &str) -> serde_json::Result<Scenario> {
    // What is wrong is told of the text as a whole.
    read_in_parts(text).map_or_else(|| serde_json::from_str(text), Ok)
}

/// Nothing if a part is wrong.
fn read_in_parts(text: &str) -> Option<Scenario> {
    let part: Part<'_> = serde_json::from_str(text).ok()?;
    let params = part.params.get();
    let begin = params.as_ptr().addr() - text.as_ptr().addr();
    let others = [&text[..begin], "{}", &text[begin + params.len()..]].concat();
    let mut scenario: Scenario = serde_json::from_str(&others).ok()?;
    scenario.params = known(params)?;
    Some(scenario)
}

fn known(text: &str) -> Option<Params> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, params)) = known.iter().find(|(each, _)| **each == *text) {
        return Some(params.clone());
    }
    let params: Params = serde_json::from_str(text).ok()?;
    if known.len() == MOST_KNOWN {
        known.clear();
    }
    known.push((text.into(), params.clone()));
    Some(params)
}
