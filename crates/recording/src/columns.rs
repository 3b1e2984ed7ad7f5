//! Sections of tables: columns of numbers as planes of bytes.
//!
//! The lowest bytes of all rows stand together, then the second bytes, and so on; planes of zeros are left
//! out. Bytes of one kind beside each other are what makes a general compressor good at numbers.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::RecordingError;
use crate::schema::{self, Kind, TableInfo};

/// Most tables of a section, and most columns of a table.
const MOST_PARTS: usize = 256;
/// Most values of all tables of a section: columns of zeros have no bytes that would bound them.
const MOST_VALUES: usize = 1 << 25;
/// The longest list of strings, in bytes.
const MOST_STRINGS_BYTES: usize = 1 << 20;

/// How the values of a column are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transform {
    /// As they are.
    Plain = 0,
    /// What each is above the one before, modulo 2^64.
    Ascending = 1,
    /// The same difference with its sign in the lowest bit.
    Zigzag = 2,
    /// The same, after the value that stands before the first row: the first one may be large.
    ZigzagFrom = 3,
}

/// A column: its values in order of rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Column {
    /// The values, which mean what the schema says.
    pub values: Vec<u64>,
}

/// A table of a section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// Its number.
    pub id: u16,
    /// How many rows it has.
    pub rows: usize,
    /// Its columns in order of their numbers; those that the schema does not have are left out.
    pub columns: Vec<Column>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(info: &TableInfo) -> Table {
        Table { id: info.id, rows: 0, columns: vec![Column::default(); info.columns.len()] }
    }

    /// Appends a row.
    #[inline]
    pub(crate) fn push<const N: usize>(&mut self, row: [u64; N]) {
        debug_assert_eq!(N, self.columns.len());
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.values.push(value);
        }
        self.rows += 1;
    }

    /// Puts the rows in order of their first column; those in which it is the same stay together and in their
    /// order. They nearly are in order already.
    pub(crate) fn sort_by_first_column(&mut self) {
        let Some(first) = self.columns.first() else { return };
        let mut runs: Vec<(u64, Range<usize>)> = Vec::new();
        let mut at = 0;
        for same in first.values.chunk_by(|one, next| one == next) {
            runs.push((same[0], at..at + same.len()));
            at += same.len();
            // Few places from the end.
            let mut place = runs.len() - 1;
            while place > 0 && runs[place - 1].0 > runs[place].0 {
                runs.swap(place - 1, place);
                place -= 1;
            }
        }
        for column in &mut self.columns {
            let mut values = Vec::with_capacity(column.values.capacity());
            for (_, rows) in &runs {
                values.extend_from_slice(&column.values[rows.clone()]);
            }
            column.values = values;
        }
    }

    /// Takes all rows out.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        self.columns.iter_mut().for_each(|column| column.values.clear());
    }

    /// A row's value in a column.
    pub(crate) fn at(&self, column: usize, row: usize) -> u64 {
        self.columns[column].values[row]
    }
}

/// A list of strings and tables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Section {
    /// The strings that columns of text refer to; the first is empty.
    pub strings: Vec<String>,
    /// The tables that have rows.
    pub tables: Vec<Table>,
}

impl Section {
    /// The table with this number, if it has rows.
    pub fn table(&self, id: u16) -> Option<&Table> {
        self.tables.iter().find(|table| table.id == id)
    }
}

/// A section before it is compressed.
#[derive(Default)]
pub(crate) struct Raw {
    pub(crate) bytes: Vec<u8>,
    /// Where bytes of another kind begin.
    pub(crate) cuts: Vec<usize>,
}

impl Raw {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.cuts.clear();
    }
}

/// Appends a section to `raw`; tables without rows are left out.
pub(crate) fn encode<'t>(
    strings: &[Cow<'static, str>],
    tables: impl Iterator<Item = &'t Table>,
    raw: &mut Raw,
) {
    let out = &mut raw.bytes;
    let strings = serde_json::Value::from(strings.iter().map(|text| &**text).collect::<Vec<&str>>());
    let strings = strings.to_string();
    out.extend((strings.len() as u32).to_le_bytes());
    out.extend(strings.as_bytes());
    let count_at = out.len();
    out.extend([0; 4]);
    let mut count: u32 = 0;
    for table in tables.filter(|table| table.rows > 0) {
        count += 1;
        encode_table(table, raw);
    }
    raw.bytes[count_at..count_at + 4].copy_from_slice(&count.to_le_bytes());
}

fn encode_table(table: &Table, raw: &mut Raw) {
    let out = &mut raw.bytes;
    out.extend(table.id.to_le_bytes());
    out.extend((table.columns.len() as u16).to_le_bytes());
    out.extend((table.rows as u32).to_le_bytes());
    for (number, column) in table.columns.iter().enumerate() {
        raw.bytes.extend((number as u16).to_le_bytes());
        encode_column(&column.values, transform(table.id, number), raw);
    }
}

/// How a column of ours is stored. Times and numbers of packets and frames grow, nearly.
fn transform(table: u16, column: usize) -> Transform {
    let Some((name, _)) = schema::table(table).and_then(|info| info.columns.get(column)) else {
        return Transform::Plain;
    };
    match *name {
        "time" | "uid" | "frame" => Transform::ZigzagFrom,
        "offset" | "first" | "last" | "first_event" | "first_frame" => Transform::Zigzag,
        _ => Transform::Plain,
    }
}

fn encode_column(values: &[u64], transform: Transform, raw: &mut Raw) {
    let out = &mut raw.bytes;
    out.push(transform as u8);
    let first = values.first().copied().filter(|_| transform == Transform::ZigzagFrom);
    let mut before = first.unwrap_or(0);
    let stored: Vec<u64> = match transform {
        Transform::Plain => Vec::new(),
        Transform::Ascending | Transform::Zigzag | Transform::ZigzagFrom => values
            .iter()
            .map(|&value| {
                let step = value.wrapping_sub(before);
                before = value;
                if transform == Transform::Ascending { step } else { zigzag(step) }
            })
            .collect(),
    };
    let stored = if transform == Transform::Plain { values } else { &stored };
    let all = stored.iter().fold(0, |bits, value| bits | value);
    let mask =
        (0..8).filter(|plane| all >> (8 * plane) & 0xFF != 0).fold(0_u8, |mask, plane| mask | 1 << plane);
    out.push(mask);
    if transform == Transform::ZigzagFrom {
        out.extend(first.unwrap_or(0).to_le_bytes());
    }
    for plane in (0..8).filter(|plane| mask >> plane & 1 == 1) {
        raw.cuts.push(out.len());
        out.extend(stored.iter().map(|value| (value >> (8 * plane)) as u8));
    }
}

fn zigzag(step: u64) -> u64 {
    step << 1 ^ ((step as i64 >> 63) as u64)
}

fn unzigzag(stored: u64) -> u64 {
    stored >> 1 ^ (stored & 1).wrapping_neg()
}

/// Bytes that are read from front to back; `at` is where they stand in the file.
struct Bytes<'b> {
    rest: &'b [u8],
    at: u64,
    /// How many values may still come.
    values_left: usize,
}

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], RecordingError> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(RecordingError::damaged(self.at, "a table ends before all of it is there"));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8, RecordingError> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16, RecordingError> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Result<u32, RecordingError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn u64(&mut self) -> Result<u64, RecordingError> {
        Ok(u64::from(self.u32()?) | u64::from(self.u32()?) << 32)
    }

    fn fault(&self, what: impl Into<String>) -> RecordingError {
        RecordingError::damaged(self.at, what)
    }
}

/// Reads a section that stands, compressed, at byte `at` of the file. Tables and columns
/// that the schema does not have are skipped; all that it has are whole.
pub(crate) fn decode(bytes: &[u8], at: u64) -> Result<Section, RecordingError> {
    let mut bytes = Bytes { rest: bytes, at, values_left: MOST_VALUES };
    let length = bytes.u32()? as usize;
    if length > MOST_STRINGS_BYTES {
        return Err(bytes.fault("its list of strings is too long"));
    }
    let strings: Vec<String> = serde_json::from_slice(bytes.take(length)?)
        .map_err(|error| bytes.fault(format!("its list of strings is none: {error}")))?;
    let count = bytes.u32()? as usize;
    if count > MOST_PARTS {
        return Err(bytes.fault(format!("{count} tables in one section")));
    }
    let mut section = Section { strings, tables: Vec::new() };
    for _ in 0..count {
        if let Some(table) = decode_table(&mut bytes)? {
            if section.table(table.id).is_some() {
                return Err(bytes.fault(format!("table {} twice in one section", table.id)));
            }
            section.tables.push(table);
        }
    }
    check(&section, at)?;
    Ok(section)
}

fn decode_table(bytes: &mut Bytes<'_>) -> Result<Option<Table>, RecordingError> {
    let (id, columns, rows) = (bytes.u16()?, usize::from(bytes.u16()?), bytes.u32()? as usize);
    let fits = bytes.values_left.checked_sub(columns * rows).filter(|_| columns <= MOST_PARTS);
    let Some(values_left) = fits else {
        return Err(bytes.fault(format!("table {id} has {columns} columns and {rows} rows")));
    };
    bytes.values_left = values_left;
    let info = schema::table(id);
    let wanted = info.map_or(0, |info| info.columns.len());
    let mut found: Vec<Option<Column>> = vec![None; wanted];
    for _ in 0..columns {
        let number = usize::from(bytes.u16()?);
        match found.get_mut(number) {
            Some(place) => *place = Some(decode_column(bytes, rows)?),
            None => skip_column(bytes, rows)?,
        }
    }
    let Some(info) = info else { return Ok(None) };
    match found.into_iter().collect::<Option<Vec<Column>>>() {
        Some(columns) => Ok(Some(Table { id, rows, columns })),
        None => Err(bytes.fault(format!("the table `{}` lacks a column", info.name))),
    }
}

fn decode_column(bytes: &mut Bytes<'_>, rows: usize) -> Result<Column, RecordingError> {
    let (transform, mask) = (bytes.u8()?, bytes.u8()?);
    let mut before = if transform == Transform::ZigzagFrom as u8 { bytes.u64()? } else { 0 };
    let mut values = vec![0_u64; rows];
    for plane in (0..8).filter(|plane| mask >> plane & 1 == 1) {
        for (value, byte) in values.iter_mut().zip(bytes.take(rows)?) {
            *value |= u64::from(*byte) << (8 * plane);
        }
    }
    let mut sum = |values: &mut Vec<u64>, step: fn(u64) -> u64| {
        for value in values {
            before = before.wrapping_add(step(*value));
            *value = before;
        }
    };
    match transform {
        0 => {}
        1 => sum(&mut values, |stored| stored),
        2 | 3 => sum(&mut values, unzigzag),
        other => return Err(bytes.fault(format!("a column is stored in way {other}, which is not known"))),
    }
    Ok(Column { values })
}

fn skip_column(bytes: &mut Bytes<'_>, rows: usize) -> Result<(), RecordingError> {
    let transform = bytes.u8()?;
    let planes = bytes.u8()?.count_ones() as usize;
    if transform == Transform::ZigzagFrom as u8 {
        bytes.u64()?;
    }
    // Neither factor is large: `rows` has been checked.
    bytes.take(planes * rows)?;
    Ok(())
}

/// Do all references lead somewhere, and are all numbers such as can be?
fn check(section: &Section, at: u64) -> Result<(), RecordingError> {
    for table in &section.tables {
        let Some(info) = schema::table(table.id) else { continue };
        for (column, &(name, kind)) in table.columns.iter().zip(info.columns) {
            let limit = match kind {
                Kind::Uint | Kind::Optional | Kind::Time => 1 << 53,
                // A node has a number of 32 bits.
                Kind::Address => (1 << 32) + 2,
                Kind::Text => section.strings.len() as u64,
                Kind::Row(of) => {
                    let of = schema::TABLES.iter().find(|table| table.name == of);
                    of.and_then(|of| section.table(of.id)).map_or(0, |table| table.rows as u64)
                }
                Kind::Float => continue,
            };
            if let Some(&value) = column.values.iter().find(|&&value| value >= limit) {
                let what = format!("`{name}` of the table `{}` is {value}, which cannot be", info.name);
                return Err(RecordingError::damaged(at, what));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn columns_come_back_whatever_they_hold(values: Vec<u64>) {
            use Transform::{Ascending, Plain, Zigzag, ZigzagFrom};
            for transform in [Plain, Ascending, Zigzag, ZigzagFrom] {
                let mut out = Raw::default();
                encode_column(&values, transform, &mut out);
                let mut bytes = Bytes { rest: &out.bytes, at: 0, values_left: MOST_VALUES };
                let back = decode_column(&mut bytes, values.len()).expect("it was just written");
                prop_assert_eq!(&back.values, &values);
                prop_assert!(bytes.rest.is_empty());
                bytes.rest = &out.bytes;
                skip_column(&mut bytes, values.len()).expect("it was just written");
                prop_assert!(bytes.rest.is_empty());
            }
        }
    }

    #[test]
    fn numbers_that_begin_high_and_grow_by_little_take_a_byte_each() {
        let mut out = Raw::default();
        encode_column(&[1 << 40, (1 << 40) + 1, (1 << 40) + 100], Transform::ZigzagFrom, &mut out);
        assert_eq!(out.bytes.len(), 2 + 8 + 3);
    }

    #[test]
    fn a_plane_of_zeros_takes_no_room() {
        let mut out = Raw::default();
        let doubles: Vec<u64> = (0..100_u32).map(|value| f64::from(value % 16).to_bits()).collect();
        encode_column(&doubles, Transform::Plain, &mut out);
        assert_eq!(out.bytes.len(), 2 + 2 * 100, "the lower six bytes of small whole numbers are zero");
    }
}
