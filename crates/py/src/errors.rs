//! The core's errors as those of `manetlab.errors`.

use manetlab_core::scenario::ScenarioError;
use manetlab_formats::ReadError;
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(manetlab.errors, InputError);
import_exception!(manetlab.errors, RunFailed);

/// The Python error with these parts: what, where, found, wanted, hint.
pub(crate) fn input_error(what: &str, place: &str, found: &str, wanted: &str, hint: &str) -> PyErr {
    InputError::new_err((what.to_owned(), place.to_owned(), found.to_owned(), wanted.to_owned(), hint.to_owned()))
}

/// What a reader says about a file.
pub(crate) fn of_reading(error: &ReadError) -> PyErr {
    let place = error.line.map_or_else(|| error.file.to_string(), |line| format!("{}:{line}", error.file));
    input_error(&error.what, &place, &error.found, &error.wanted, &error.hint)
}

/// What the core says about a scenario that came from `place`.
pub(crate) fn of_scenario(error: &ScenarioError, place: &str) -> PyErr {
    match error {
        ScenarioError::OutOfRange(out) => input_error(
            &format!("{}.{} is outside its range", out.section, out.name),
            place,
            &out.found.to_string(),
            &format!("a value from {} to {} {}", out.low, out.high, out.unit),
            "",
        ),
        ScenarioError::Unusable { field, found, wanted } => {
            input_error(&format!("{field} cannot be used"), place, found, wanted, "")
        }
    }
}
