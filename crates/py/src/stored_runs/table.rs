//! Tables of what runs hold: a row for each object, a column for each name.

use std::collections::BTreeMap;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::bytes_of;
use super::packed::{Dictionary, Row, Value, write_json};

/// Which objects are rows, and which of their names are columns.
pub(super) struct Rows<'a> {
    /// A name that rows have, or that they do not have.
    with: Option<(&'a str, bool)>,
    without_column: Option<&'a str>,
    only: Option<&'a [String]>,
}

impl<'a> Rows<'a> {
    /// The rows of a table, see [`StoredRuns::table`](super::StoredRuns).
    pub(super) fn named(which: &str, only: Option<&'a [String]>) -> Rows<'a> {
        match which {
            "flows" => Rows { with: None, without_column: Some("delays"), only },
            "ends" => Rows { with: Some(("end", true)), without_column: None, only },
            _ => Rows { with: Some(("end", false)), without_column: None, only },
        }
    }

    /// Are objects with these names rows?
    pub(super) fn has(&self, names: &[u32], known: &Dictionary) -> bool {
        self.with.is_none_or(|(wanted, is_wanted)| {
            names.iter().any(|name| known.text(*name) == wanted) == is_wanted
        })
    }
}

/// What is done with objects of a shape: the column of each value, if it has one.
type Plan = Vec<Option<usize>>;

/// A table that grows.
pub(super) struct Table<'a> {
    known: &'a Dictionary,
    rows: Rows<'a>,
    /// By shape; nothing for objects that are no rows.
    plans: BTreeMap<u32, Option<Plan>>,
    columns: Vec<(u32, Vec<Option<Value<'a>>>)>,
    length: usize,
}

impl<'a> Table<'a> {
    pub(super) fn new(known: &'a Dictionary, rows: Rows<'a>) -> Table<'a> {
        Table { known, rows, plans: BTreeMap::new(), columns: Vec::new(), length: 0 }
    }

    /// Takes the objects of a run; returns how many of them are rows.
    pub(super) fn take(&mut self, objects: impl Iterator<Item = Row<'a>>) -> usize {
        let before = self.length;
        for object in objects {
            if !self.plans.contains_key(&object.shape) {
                let plan = self.plan(object.shape);
                self.plans.insert(object.shape, plan);
            }
            let Some(Some(plan)) = self.plans.get(&object.shape) else { continue };
            for (value, column) in object.values.zip(plan) {
                if let Some(column) = column {
                    let cells = &mut self.columns[*column].1;
                    cells.resize(self.length, None);
                    cells.push(Some(value));
                }
            }
            self.length += 1;
        }
        self.length - before
    }

    fn plan(&mut self, shape: u32) -> Option<Plan> {
        let names = self.known.names_of(shape);
        if !self.rows.has(&names, self.known) {
            return None;
        }
        let plan = names.iter().map(|name| {
            let text = self.known.text(*name);
            let is_left_out = self.rows.without_column == Some(text)
                || self.rows.only.is_some_and(|only| !only.iter().any(|each| each == text));
            if is_left_out {
                return None;
            }
            let column = self.columns.iter().position(|(known, _)| known == name);
            Some(column.unwrap_or_else(|| {
                self.columns.push((*name, Vec::new()));
                self.columns.len() - 1
            }))
        });
        Some(plan.collect())
    }

    /// The columns as Python gets them.
    pub(super) fn into_python(
        self,
        py: Python<'_>,
    ) -> PyResult<Vec<(String, &'static str, Bound<'_, PyAny>)>> {
        let mut texts = Texts { known: self.known, made: BTreeMap::new() };
        let length = self.length;
        let made = self.columns.into_iter().map(|(name, mut cells)| {
            cells.resize(length, None);
            let (kind, values) = column(py, &cells, &mut texts)?;
            Ok((self.known.text(name).to_owned(), kind, values))
        });
        made.collect()
    }
}

/// Texts that were made objects of Python.
struct Texts<'a, 'py> {
    known: &'a Dictionary,
    made: BTreeMap<u32, Bound<'py, PyString>>,
}

fn column<'py>(
    py: Python<'py>,
    cells: &[Option<Value<'_>>],
    texts: &mut Texts<'_, 'py>,
) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
    if let Some(integers) = cells.iter().map(|cell| cell.and_then(integer)).collect::<Option<Vec<i64>>>() {
        return Ok(("q", PyBytes::new(py, &bytes_of(&integers)).into_any()));
    }
    let is_null = |cell: &Option<Value<'_>>| matches!(cell, None | Some(Value::Null));
    if let Some(floats) = cells.iter().map(float).collect::<Option<Vec<f64>>>()
        && !cells.iter().all(is_null)
    {
        return Ok(("d", PyBytes::new(py, &bytes_of(&floats)).into_any()));
    }
    let objects: Vec<Bound<'py, PyAny>> =
        cells.iter().map(|cell| object(py, *cell, texts)).collect::<PyResult<_>>()?;
    Ok(("", PyList::new(py, objects)?.into_any()))
}

fn integer(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Unsigned(number) => number.try_into().ok(),
        Value::Negative(number) => Some(number),
        _ => None,
    }
}

/// A number, NaN where there is none; nothing for what is no number.
fn float(cell: &Option<Value<'_>>) -> Option<f64> {
    match cell {
        None | Some(Value::Null) => Some(f64::NAN),
        Some(Value::Float(number)) => Some(*number),
        Some(Value::Unsigned(number)) => Some(*number as f64),
        Some(Value::Negative(number)) => Some(*number as f64),
        _ => None,
    }
}

fn object<'py>(
    py: Python<'py>,
    cell: Option<Value<'_>>,
    texts: &mut Texts<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    match cell {
        None | Some(Value::Null) => Ok(py.None().into_bound(py)),
        Some(Value::Bool(is)) => is.into_bound_py_any(py),
        Some(Value::Float(number)) => number.into_bound_py_any(py),
        Some(Value::Unsigned(number)) => number.into_bound_py_any(py),
        Some(Value::Negative(number)) => number.into_bound_py_any(py),
        Some(Value::Text(number)) => {
            let known = texts.known;
            let made = texts.made.entry(number).or_insert_with(|| PyString::new(py, known.text(number)));
            Ok(made.clone().into_any())
        }
        Some(nested @ (Value::List(_) | Value::Object(..))) => {
            py.import("json")?.call_method1("loads", (json(nested, texts.known),))
        }
    }
}

fn json(value: Value<'_>, known: &Dictionary) -> String {
    let mut text = Vec::new();
    write_json(value, known, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The objects that have a name: their `id`, and the value of that name as JSON.
pub(super) fn field<'a, 'py>(
    py: Python<'py>,
    objects: impl Iterator<Item = Row<'a>>,
    name: &str,
    known: &'a Dictionary,
) -> PyResult<Vec<(Bound<'py, PyAny>, String)>> {
    let mut texts = Texts { known, made: BTreeMap::new() };
    let mut found = Vec::new();
    for row in objects {
        let (mut id, mut held) = (None, None);
        for (each, value) in known.names_of(row.shape).into_iter().zip(row.values) {
            match known.text(each) {
                "id" => id = Some(value),
                text if text == name => held = Some(json(value, known)),
                _ => {}
            }
        }
        if let Some(held) = held {
            found.push((object(py, id, &mut texts)?, held));
        }
    }
    Ok(found)
}
