//! The digests of rows: SHA-256 over the values as a list in JSON, in the form of Python's `json.dumps`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString, PyTuple};
use sha2::{Digest, Sha256};

use super::{decimal, json_text};

/// The place of the first row whose last value is not the digest of the others; nothing if there is none.
///
/// Rows hold what SQLite returns. Bytes make a row unsound: nothing that was stored is bytes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
pub(crate) fn first_unsound(rows: Vec<Bound<'_, PyTuple>>) -> PyResult<Option<usize>> {
    let mut form = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        form.clear();
        if !is_sound(row, &mut form)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// The digest of the values of a row, in hexadecimal digits.
///
/// # Errors
///
/// `TypeError`: a value is of no kind that is stored.
#[pyfunction]
pub(crate) fn digest_of(values: &Bound<'_, PyTuple>) -> PyResult<String> {
    let mut form = Vec::new();
    if !write_list(values.iter(), &mut form)? {
        return Err(PyTypeError::new_err("a value that is neither text nor number nor None"));
    }
    Ok(hex_of(&form).map(char::from).collect())
}

fn is_sound(row: &Bound<'_, PyTuple>, form: &mut Vec<u8>) -> PyResult<bool> {
    let Some(last) = row.len().checked_sub(1) else { return Ok(false) };
    if !write_list(row.iter().take(last), form)? {
        return Ok(false);
    }
    let told = row.get_item(last)?;
    Ok(told
        .cast::<PyString>()
        .is_ok_and(|told| told.to_str().is_ok_and(|told| told.bytes().eq(hex_of(form)))))
}

/// Appends values as a list; false if one is of no kind that is stored.
fn write_list<'py>(values: impl Iterator<Item = Bound<'py, PyAny>>, form: &mut Vec<u8>) -> PyResult<bool> {
    form.push(b'[');
    for (place, value) in values.enumerate() {
        if place > 0 {
            form.extend_from_slice(b", ");
        }
        if !write(&value, form)? {
            return Ok(false);
        }
    }
    form.push(b']');
    Ok(true)
}

/// Appends a value as JSON; false if it is of no kind that is stored.
fn write(value: &Bound<'_, PyAny>, form: &mut Vec<u8>) -> PyResult<bool> {
    if let Ok(text) = value.cast::<PyString>() {
        json_text::write(text.to_str()?, form);
    } else if let Ok(number) = value.cast_exact::<PyInt>() {
        decimal::write_int(i128::from(number.extract::<i64>()?), form);
    } else if let Ok(number) = value.cast::<PyFloat>() {
        decimal::write_float(number.value(), form);
    } else if value.is_none() {
        form.extend_from_slice(b"null");
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// The digest of a form, in hexadecimal digits.
fn hex_of(form: &[u8]) -> impl Iterator<Item = u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest: [u8; 32] = Sha256::digest(form).into();
    digest.into_iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[usize::from(digit)])
}
