//! Totals of runs as rows of numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error;

use super::packed::{Dictionary, RowError, Value, object, values, write_json};

/// Runs whose totals have the same names.
pub(super) struct Group {
    /// The names that are measures.
    pub(super) names: Vec<String>,
    /// The runs' places.
    pub(super) rows: Vec<i64>,
    /// The measures of one run after the other.
    pub(super) values: Vec<f64>,
    /// All names, and whether each is a measure.
    all: Vec<(u32, bool)>,
}

/// Place, name, and a value as JSON.
type Other = (usize, String, String);

/// Totals of some runs.
pub(super) struct Totals<'a> {
    known: &'a mut Dictionary,
    measures: &'a BTreeSet<String>,
    groups: BTreeMap<u32, Group>,
    others: Vec<Other>,
}

impl<'a> Totals<'a> {
    pub(super) fn new(known: &'a mut Dictionary, measures: &'a BTreeSet<String>) -> Totals<'a> {
        Totals { known, measures, groups: BTreeMap::new(), others: Vec::new() }
    }

    /// Takes the totals of a run.
    pub(super) fn read(&mut self, row: usize, text: &str) -> Result<(), RowError> {
        let (shape, packed) = object(text, self.known)?;
        let (known, measures) = (&*self.known, self.measures);
        let group = self.groups.entry(shape).or_insert_with(|| Group::new(shape, known, measures));
        group.rows.push(row as i64);
        for ((name, is_measure), value) in group.all.iter().zip(values(&packed)) {
            if *is_measure {
                group.values.push(number(value).ok_or_else(|| {
                    RowError::custom(format!("{:?} is neither a number nor null", known.text(*name)))
                })?);
            } else {
                let mut json = Vec::new();
                write_json(value, known, &mut json);
                let json = String::from_utf8_lossy(&json).into_owned();
                self.others.push((row, known.text(*name).to_owned(), json));
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> (Vec<Group>, Vec<Other>) {
        (self.groups.into_values().collect(), self.others)
    }
}

impl Group {
    fn new(shape: u32, known: &Dictionary, measures: &BTreeSet<String>) -> Group {
        let all: Vec<(u32, bool)> = known
            .names_of(shape)
            .into_iter()
            .map(|name| (name, measures.contains(known.text(name))))
            .collect();
        let names = all.iter().filter(|(_, is)| *is).map(|(name, _)| known.text(*name).to_owned()).collect();
        Group { names, rows: Vec::new(), values: Vec::new(), all }
    }
}

/// A value as a number, NaN for null.
fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Null => Some(f64::NAN),
        Value::Float(number) => Some(number),
        Value::Unsigned(number) => Some(number as f64),
        Value::Negative(number) => Some(number as f64),
        _ => None,
    }
}
