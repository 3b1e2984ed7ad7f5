//! Counts of drops and of where packets ended, added up over runs.

use std::collections::BTreeMap;

use serde::de::Error;

use super::packed::{Dictionary, Row, RowError, Value};
use super::table::Rows;

/// Point, end, layer, reason, packets and the sum of the counts.
pub(super) type Sum = (i64, Option<String>, Option<String>, Option<String>, Option<String>, i64);

/// The names of what is counted, after which rows are told apart.
const KIND: [&str; 4] = ["end", "layer", "reason", "packets"];

/// A point, and the numbers of the texts.
type Key = (i64, [Option<u32>; 4]);

/// Sums that grow.
pub(super) struct Sums<'a> {
    known: &'a Dictionary,
    rows: Rows<'a>,
    /// By shape: which of [`KIND`] each value is, [`KIND`]'s length if it is the count; nothing if it is no
    /// row.
    plans: BTreeMap<u32, Option<Vec<Option<usize>>>>,
    places: BTreeMap<Key, usize>,
    sums: Vec<(Key, i64)>,
}

impl<'a> Sums<'a> {
    pub(super) fn new(known: &'a Dictionary, rows: Rows<'a>) -> Sums<'a> {
        Sums { known, rows, plans: BTreeMap::new(), places: BTreeMap::new(), sums: Vec::new() }
    }

    /// Adds what a row of a run of a point counts.
    pub(super) fn add(&mut self, point: i64, row: Row<'_>) -> Result<(), RowError> {
        let (known, rows) = (self.known, &self.rows);
        let plan = self.plans.entry(row.shape).or_insert_with(|| {
            let names = known.names_of(row.shape);
            let named = |name: &u32| match known.text(*name) {
                "count" => Some(KIND.len()),
                text => KIND.iter().position(|each| *each == text),
            };
            rows.has(&names, known).then(|| names.iter().map(named).collect())
        });
        let Some(plan) = plan else { return Ok(()) };
        let (mut kind, mut count) = ([None; 4], None);
        for (value, column) in row.values.zip(plan) {
            match (value, *column) {
                (_, None) => {}
                (Value::Unsigned(number), Some(4)) => count = i64::try_from(number).ok(),
                (Value::Null, Some(at)) if at < 4 => {}
                (Value::Text(text), Some(at)) if at < 4 => kind[at] = Some(text),
                _ => return Err(RowError::custom("a drop is described by neither text nor null")),
            }
        }
        let count = count.ok_or_else(|| RowError::custom("a drop has no count"))?;
        let end = self.sums.len();
        let place = *self.places.entry((point, kind)).or_insert(end);
        if place == end {
            self.sums.push(((point, kind), 0));
        }
        self.sums[place].1 = self.sums[place].1.saturating_add(count);
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<Sum> {
        let text = |number: Option<u32>| number.map(|number| self.known.text(number).to_owned());
        let made = self.sums.into_iter().map(|((point, [end, layer, reason, packets]), sum)| {
            (point, text(end), text(layer), text(reason), text(packets), sum)
        });
        made.collect()
    }
}
