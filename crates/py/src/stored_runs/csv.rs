//! Rows of CSV from columns, with numbers as Python writes them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyList, PyString};

use super::decimal;

/// The cells of a column.
enum Cells<'a, 'py> {
    Integers(&'a [u8]),
    Floats(&'a [u8]),
    Texts(&'a [Option<Bound<'py, PyString>>]),
}

/// What a column is given as: `q`, `d` or nothing, and 64-bit integers or floats as bytes, or a list.
type Column<'py> = (String, Bound<'py, PyAny>);

/// So many rows of CSV, each ended by a line feed: NaN and None are empty, and texts have quotes where they
/// need them.
///
/// Returns nothing if a cell is written in another way: a value that is no text in a list, a text with a
/// carriage return, or one that begins with something else than a letter or a digit, as a formula does.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
pub(crate) fn csv_rows<'py>(
    py: Python<'py>,
    columns: Vec<Column<'py>>,
    rows: usize,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let mut lists = Vec::new();
    for (_, values) in columns.iter().filter(|(kind, _)| kind.is_empty()) {
        let Some(texts) = plain_texts(values.cast::<PyList>()?) else { return Ok(None) };
        lists.push(texts);
    }
    let mut lists = lists.iter();
    let mut cells = Vec::new();
    for (kind, values) in &columns {
        let (cells_of, length) = match kind.as_str() {
            "q" => (Cells::Integers(values.cast::<PyBytes>()?.as_bytes()), values.len()? / 8),
            "d" => (Cells::Floats(values.cast::<PyBytes>()?.as_bytes()), values.len()? / 8),
            _ => (Cells::Texts(lists.next().map_or(&[], Vec::as_slice)), values.len()?),
        };
        if length != rows {
            return Err(PyValueError::new_err(format!("a column of {length} cells, not {rows}")));
        }
        cells.push(cells_of);
    }
    let mut out = Vec::new();
    for row in 0..rows {
        for (place, column) in cells.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            write_cell(column, row, &mut out)?;
        }
        out.push(b'\n');
    }
    Ok(Some(PyBytes::new(py, &out)))
}

/// The texts of a list, if all of them are plain.
fn plain_texts<'py>(values: &Bound<'py, PyList>) -> Option<Vec<Option<Bound<'py, PyString>>>> {
    values
        .iter()
        .map(|value| match value.cast_into::<PyString>() {
            Ok(text) => {
                let letters = text.to_str().ok()?;
                let is_plain = letters.starts_with(|first: char| first.is_ascii_alphanumeric());
                (is_plain && !letters.contains('\r')).then(|| Some(text.clone()))
            }
            Err(other) => {
                let other = other.into_inner();
                let is_nan = other.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan());
                (other.is_none() || is_nan).then_some(None)
            }
        })
        .collect()
}

fn write_cell(column: &Cells<'_, '_>, row: usize, out: &mut Vec<u8>) -> PyResult<()> {
    let bits = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits.copy_from_slice(&bytes[8 * row..8 * row + 8]);
        bits
    };
    match column {
        Cells::Integers(bytes) => decimal::write_int(i64::from_ne_bytes(bits(bytes)).into(), out),
        Cells::Floats(bytes) => match f64::from_ne_bytes(bits(bytes)) {
            number if number.is_nan() => {}
            f64::INFINITY => out.extend_from_slice(b"inf"),
            f64::NEG_INFINITY => out.extend_from_slice(b"-inf"),
            number => decimal::write_float(number, out),
        },
        Cells::Texts(texts) => {
            if let Some(text) = &texts[row] {
                write_text(text.to_str()?, out);
            }
        }
    }
    Ok(())
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    if !text.contains([',', '"', '\n']) {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
