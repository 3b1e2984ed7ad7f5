//! Runs that a campaign has stored: whether they are as they were stored, and columns of what they hold.
//!
//! A store has rows of SQLite, with JSON in some columns. What is done for each of a million of them is done
//! here; what a campaign is, and what its tables are, Python knows.

mod csv;
mod decimal;
mod digest;
mod json_text;
mod packed;
mod sums;
mod table;
mod totals;

use std::collections::BTreeSet;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use packed::{Dictionary, Packed, RowError};
use sums::{Sum, Sums};
use table::{Rows, Table};
use totals::Totals;

pub(crate) use csv::csv_rows;
pub(crate) use digest::{digest_of, first_unsound};

fn wrong(error: &RowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What runs hold of their flows, and of drops and where packets ended, in a few hundred bytes each.
#[pyclass(module = "manetlab._core")]
pub(crate) struct StoredRuns {
    dictionary: Dictionary,
    measures: BTreeSet<String>,
    flows: Packed,
    drops: Packed,
}

#[pymethods]
impl StoredRuns {
    /// Room for so many runs. `measures` are the totals that are numbers, or null; `of_flows` the fields of
    /// flows that are kept, if not all are.
    #[new]
    #[pyo3(signature = (count, measures, of_flows=None))]
    fn new(count: usize, measures: BTreeSet<String>, of_flows: Option<BTreeSet<String>>) -> StoredRuns {
        let (flows, drops) = (Packed::new(count, of_flows), Packed::new(count, None));
        StoredRuns { dictionary: Dictionary::default(), measures, flows, drops }
    }

    /// Totals of runs, which are JSON objects, by groups that have the same names: the measures' names, the
    /// runs' places in the list as 64-bit integers, and the values row by row as 64-bit floats, NaN for null.
    /// Beside them, what is no measure: place, name, and the value as JSON.
    ///
    /// # Errors
    ///
    /// `ValueError`: a text is something else.
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
    fn totals<'py>(&mut self, py: Python<'py>, texts: Vec<Bound<'py, PyString>>) -> PyResult<PyTotals<'py>> {
        let mut found = Totals::new(&mut self.dictionary, &self.measures);
        for (row, text) in texts.iter().enumerate() {
            found.read(row, text.to_str()?).map_err(|error| wrong(&error))?;
        }
        let (groups, others) = found.finish();
        let groups = groups.into_iter().map(|group| {
            let [rows, values] = [bytes_of(&group.rows), bytes_of(&group.values)];
            (group.names, PyBytes::new(py, &rows), PyBytes::new(py, &values))
        });
        Ok((groups.collect(), others))
    }

    /// Takes the flows and the drops of runs at these places, which are JSON lists of objects.
    ///
    /// # Errors
    ///
    /// `ValueError`: a text is something else.
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
    fn put(
        &mut self,
        places: Vec<usize>,
        flows: Vec<Bound<'_, PyString>>,
        drops: Vec<Bound<'_, PyString>>,
    ) -> PyResult<()> {
        for (texts, packed) in [(flows, &mut self.flows), (drops, &mut self.drops)] {
            for (text, place) in texts.iter().zip(&places) {
                packed.put(*place, text.to_str()?, &mut self.dictionary).map_err(|error| wrong(&error))?;
            }
        }
        Ok(())
    }

    /// Do flows have a field?
    fn has_field(&self, name: &str, places: Vec<usize>) -> bool {
        self.dictionary.number_of(name).is_some_and(|name| {
            places.into_iter().any(|place| {
                self.flows.rows(place).any(|row| self.dictionary.names_of(row.shape).contains(&name))
            })
        })
    }

    /// A table of what runs at these places hold, run by run: how many rows each has, as 64-bit integers; and
    /// the columns in the order in which they are met, each a name, `q`, `d` or nothing, and its values:
    /// 64-bit integers or floats, NaN where there is none, or a list.
    ///
    /// `which` is `flows`, `drops` or `ends`; the latter are the drops that have an `end`. Of flows the field
    /// `delays` is left out, and all fields but `only` if they are given.
    #[pyo3(signature = (which, places, only=None))]
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python arrives as a value")]
    fn table<'py>(
        &self,
        py: Python<'py>,
        which: &str,
        places: Vec<usize>,
        only: Option<Vec<String>>,
    ) -> PyResult<PyTable<'py>> {
        let packed = if which == "flows" { &self.flows } else { &self.drops };
        let rows = Rows::named(which, only.as_deref());
        let mut table = Table::new(&self.dictionary, rows);
        let counts: Vec<i64> =
            places.into_iter().map(|place| table.take(packed.rows(place)) as i64).collect();
        Ok((PyBytes::new(py, &bytes_of(&counts)), table.into_python(py)?))
    }

    /// The counts of drops or ends at these places, added up by the points of the runs there: point, end,
    /// layer, reason, packets and sum, in the order in which they are met.
    ///
    /// # Errors
    ///
    /// `ValueError`: a row has no count, or something that is neither text nor null.
    fn sums(&self, which: &str, places: Vec<usize>, points: Vec<i64>) -> PyResult<Vec<Sum>> {
        let mut sums = Sums::new(&self.dictionary, Rows::named(which, None));
        for (place, point) in places.into_iter().zip(points) {
            for row in self.drops.rows(place) {
                sums.add(point, row).map_err(|error| PyValueError::new_err(error.to_string()))?;
            }
        }
        Ok(sums.finish())
    }

    /// The flows of a run that have a field: number, and what the field holds as JSON.
    fn field_of_flows<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        place: usize,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, String)>> {
        table::field(py, self.flows.rows(place), name, &self.dictionary)
    }
}

/// Groups of totals, and what is no measure.
type PyTotals<'py> =
    (Vec<(Vec<String>, Bound<'py, PyBytes>, Bound<'py, PyBytes>)>, Vec<(usize, String, String)>);
/// The numbers of rows, and the columns.
type PyTable<'py> = (Bound<'py, PyBytes>, Vec<(String, &'static str, Bound<'py, PyAny>)>);

/// Numbers of 64 bits as bytes.
fn bytes_of<T: Copy + ToBytes>(numbers: &[T]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.bytes()).collect()
}

/// A number of 64 bits, as this machine has it.
trait ToBytes {
    fn bytes(self) -> [u8; 8];
}

impl ToBytes for i64 {
    fn bytes(self) -> [u8; 8] {
        self.to_ne_bytes()
    }
}

impl ToBytes for f64 {
    fn bytes(self) -> [u8; 8] {
        self.to_ne_bytes()
    }
}
