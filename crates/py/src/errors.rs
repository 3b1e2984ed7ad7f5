//! Errors as those of `manetlab.errors`.

use manetlab_formats::ReadError;
pub(crate) use manetlab_resolver::FROM_PYTHON;
use manetlab_resolver::Told;
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(manetlab.errors, InputError);
import_exception!(manetlab.errors, RunFailed);

/// The Python error with these parts: what, where, found, wanted, hint.
pub(crate) fn input_error(what: &str, place: &str, found: &str, wanted: &str, hint: &str) -> PyErr {
    of_told(Told::new(what, place, found, wanted, hint))
}

/// The Python error of one that both hosts of the core have.
pub(crate) fn of_told(told: Told) -> PyErr {
    InputError::new_err((told.what, told.place, told.found, told.wanted, told.hint))
}

/// What a reader says about a file.
pub(crate) fn of_reading(error: &ReadError) -> PyErr {
    of_told(Told::of_reading(error))
}
