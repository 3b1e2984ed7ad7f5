//! Lists of objects, read from JSON and held in few bytes.
//!
//! Objects of runs have the same names in the same order again and again. Such a *shape* is noted once; an
//! object is its number and its values, of which small integers and texts that were met before take one or
//! two bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{decimal, json_text};

/// What is wrong with a text.
pub(super) type RowError = serde_json::Error;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const ZERO: u8 = 3;
const FLOAT: u8 = 4;
const POSITIVE: u8 = 5;
const NEGATIVE: u8 = 6;
const TEXT: u8 = 7;
const LIST: u8 = 8;
const OBJECT: u8 = 9;
/// From here on a byte is a small integer.
const SMALL: u8 = 16;
/// Bytes that are allocated together.
const CHUNK: usize = 1 << 20;
/// Where there is no run.
const NOWHERE: (u32, u32) = (u32::MAX, u32::MAX);

/// Shapes, and texts by number.
pub(super) struct Dictionary {
    shapes: Vec<Shape>,
    texts: Vec<Box<str>>,
    numbers: BTreeMap<Box<str>, u32>,
}

/// The names of an object: those of another shape, and one more.
struct Shape {
    name: u32,
    before: u32,
    length: u32,
    longer: BTreeMap<Box<str>, u32>,
}

impl Default for Dictionary {
    /// The shape 0 has no name.
    fn default() -> Dictionary {
        let empty = Shape { name: 0, before: 0, length: 0, longer: BTreeMap::new() };
        Dictionary { shapes: vec![empty], texts: Vec::new(), numbers: BTreeMap::new() }
    }
}

impl Dictionary {
    /// The number of a text, if it was met.
    pub(super) fn number_of(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    pub(super) fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// The numbers of the names of a shape, in order.
    pub(super) fn names_of(&self, shape: u32) -> Vec<u32> {
        let mut at = &self.shapes[shape as usize];
        let mut names = Vec::with_capacity(at.length as usize);
        while at.length > 0 {
            names.push(at.name);
            at = &self.shapes[at.before as usize];
        }
        names.reverse();
        names
    }

    fn note(&mut self, text: &str) -> u32 {
        if let Some(number) = self.number_of(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// The shape with one more name; nothing if it has it already.
    fn longer(&mut self, shape: u32, name: &str) -> Option<u32> {
        let at = &self.shapes[shape as usize];
        if let Some(known) = at.longer.get(name) {
            return Some(*known);
        }
        let length = at.length + 1;
        let number = self.note(name);
        if self.names_of(shape).contains(&number) {
            return None;
        }
        let made = self.shapes.len() as u32;
        self.shapes[shape as usize].longer.insert(name.into(), made);
        self.shapes.push(Shape { name: number, before: shape, length, longer: BTreeMap::new() });
        Some(made)
    }
}

/// Reads an object: its shape, and its values.
pub(super) fn object(text: &str, known: &mut Dictionary) -> Result<(u32, Vec<u8>), RowError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Object { known, only: None }.deserialize(&mut json)?;
    json.end()?;
    Ok(read)
}

/// The values that [`object`] returned.
pub(super) fn values(packed: &[u8]) -> Reader<'_> {
    Reader { bytes: packed }
}

/// The lists of many runs.
pub(super) struct Packed {
    /// The names that are kept, if not all are.
    only: Option<BTreeSet<String>>,
    chunks: Vec<Vec<u8>>,
    /// The chunk of each run, and where in it its list begins.
    places: Vec<(u32, u32)>,
}

impl Packed {
    pub(super) fn new(count: usize, only: Option<BTreeSet<String>>) -> Packed {
        Packed { only, chunks: Vec::new(), places: vec![NOWHERE; count] }
    }

    /// Takes the list of the run at a place.
    pub(super) fn put(&mut self, place: usize, text: &str, known: &mut Dictionary) -> Result<(), RowError> {
        let Some(place) = self.places.get_mut(place) else {
            return Err(RowError::custom("a place beyond the last run"));
        };
        let mut json = serde_json::Deserializer::from_str(text);
        let list = ListOfObjects { known, only: self.only.as_ref() }.deserialize(&mut json)?;
        json.end()?;
        if self.chunks.last().is_none_or(|chunk| chunk.len() + list.len() > chunk.capacity()) {
            self.chunks.push(Vec::with_capacity(CHUNK.max(list.len())));
        }
        let number = self.chunks.len() - 1;
        *place = (number as u32, self.chunks[number].len() as u32);
        self.chunks[number].extend_from_slice(&list);
        Ok(())
    }

    /// The objects of the run at a place; none if there is no run.
    pub(super) fn rows(&self, place: usize) -> impl Iterator<Item = Row<'_>> {
        let (chunk, begin) = self.places.get(place).copied().unwrap_or(NOWHERE);
        let bytes = self.chunks.get(chunk as usize).map_or(&[][..], |chunk| &chunk[begin as usize..]);
        let mut reader = Reader { bytes };
        let count = if bytes.is_empty() { 0 } else { reader.number() };
        (0..count).map(move |_| {
            let (shape, length) = (reader.number() as u32, reader.number() as usize);
            Row { shape, values: Reader { bytes: reader.split(length) } }
        })
    }
}

/// An object.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) shape: u32,
    /// Its values, one after the other.
    pub(super) values: Reader<'a>,
}

/// A value.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Float(f64),
    /// An integer that is not negative.
    Unsigned(u64),
    Negative(i64),
    /// A text, by its number.
    Text(u32),
    List(Reader<'a>),
    /// An object: its shape, and its values.
    Object(u32, Reader<'a>),
}

/// Values that were packed one after the other.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn split(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        taken
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.split(1)[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    fn inner(&mut self) -> Reader<'a> {
        let length = self.number() as usize;
        Reader { bytes: self.split(length) }
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let (tag, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(match *tag {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            ZERO => Value::Float(0.0),
            FLOAT => {
                let bits = self.split(8).iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
                Value::Float(f64::from_bits(bits))
            }
            POSITIVE => Value::Unsigned(self.number()),
            NEGATIVE => Value::Negative(!(self.number() as i64)),
            TEXT => Value::Text(self.number() as u32),
            LIST => Value::List(self.inner()),
            OBJECT => {
                let shape = self.number() as u32;
                Value::Object(shape, self.inner())
            }
            small => Value::Unsigned(u64::from(small - SMALL)),
        })
    }
}

/// Writes a value as JSON.
pub(super) fn write_json(value: Value<'_>, known: &Dictionary, out: &mut Vec<u8>) {
    let text = |number, out: &mut Vec<u8>| json_text::write(known.text(number), out);
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(is) => out.extend_from_slice(if is { b"true" } else { b"false" }),
        Value::Float(number) => decimal::write_float(number, out),
        Value::Unsigned(number) => decimal::write_int(i128::from(number), out),
        Value::Negative(number) => decimal::write_int(i128::from(number), out),
        Value::Text(number) => text(number, out),
        Value::List(values) => {
            out.push(b'[');
            for (place, value) in values.enumerate() {
                out.extend_from_slice(if place > 0 { b", " } else { b"" });
                write_json(value, known, out);
            }
            out.push(b']');
        }
        Value::Object(shape, values) => {
            out.push(b'{');
            for (place, (name, value)) in known.names_of(shape).into_iter().zip(values).enumerate() {
                out.extend_from_slice(if place > 0 { b", " } else { b"" });
                text(name, out);
                out.extend_from_slice(b": ");
                write_json(value, known, out);
            }
            out.push(b'}');
        }
    }
}

fn push_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a list of objects; makes what [`Packed`] holds of a run.
struct ListOfObjects<'a> {
    known: &'a mut Dictionary,
    only: Option<&'a BTreeSet<String>>,
}

impl<'de> DeserializeSeed<'de> for ListOfObjects<'_> {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Vec<u8>, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ListOfObjects<'_> {
    type Value = Vec<u8>;

    fn expecting(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
        let (mut count, mut rows) = (0, Vec::new());
        let only = self.only;
        while let Some((shape, values)) = list.next_element_seed(Object { known: &mut *self.known, only })? {
            push_number(u64::from(shape), &mut rows);
            push_number(values.len() as u64, &mut rows);
            rows.extend_from_slice(&values);
            count += 1;
        }
        let mut packed = Vec::with_capacity(rows.len() + 2);
        push_number(count, &mut packed);
        packed.extend_from_slice(&rows);
        Ok(packed)
    }
}

/// Reads an object: its shape, and its values.
struct Object<'a> {
    known: &'a mut Dictionary,
    /// The names that are kept, if not all are.
    only: Option<&'a BTreeSet<String>>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = (u32, Vec<u8>);

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = (u32, Vec<u8>);

    fn expecting(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut shape, mut values) = (0, Vec::new());
        let only = self.only;
        while let Some(longer) = map.next_key_seed(Longer { known: &mut *self.known, shape, only })? {
            if let Some(longer) = longer {
                shape = longer;
                map.next_value_seed(AnyValue { known: &mut *self.known, out: &mut values })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok((shape, values))
    }
}

/// Reads a name: the shape that is longer by it; nothing if the name is not kept.
struct Longer<'a> {
    known: &'a mut Dictionary,
    shape: u32,
    only: Option<&'a BTreeSet<String>>,
}

impl<'de> DeserializeSeed<'de> for Longer<'_> {
    type Value = Option<u32>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Longer<'_> {
    type Value = Option<u32>;

    fn expecting(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        if self.only.is_some_and(|only| !only.contains(name)) {
            return Ok(None);
        }
        let longer = self.known.longer(self.shape, name);
        longer.map(Some).ok_or_else(|| E::custom(format!("{name:?} twice")))
    }
}

/// Reads a value, and appends it.
struct AnyValue<'a> {
    known: &'a mut Dictionary,
    out: &'a mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for AnyValue<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue<'_> {
    type Value = ();

    fn expecting(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.out.push(NULL);
        Ok(())
    }

    fn visit_bool<E: Error>(self, is: bool) -> Result<(), E> {
        self.out.push(if is { TRUE } else { FALSE });
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        // Minus zero is not zero.
        if number.to_bits() == 0 {
            self.out.push(ZERO);
        } else {
            self.out.push(FLOAT);
            self.out.extend_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        if number <= u64::from(u8::MAX - SMALL) {
            self.out.push(SMALL + number as u8);
        } else {
            self.out.push(POSITIVE);
            push_number(number, self.out);
        }
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.out.push(NEGATIVE);
        push_number(!number as u64, self.out);
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.out.push(TEXT);
        push_number(u64::from(self.known.note(text)), self.out);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut values = Vec::new();
        while list.next_element_seed(AnyValue { known: &mut *self.known, out: &mut values })?.is_some() {}
        self.out.push(LIST);
        push_number(values.len() as u64, self.out);
        self.out.extend_from_slice(&values);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let (shape, values) = Object { known: &mut *self.known, only: None }.visit_map(map)?;
        self.out.push(OBJECT);
        push_number(u64::from(shape), self.out);
        push_number(values.len() as u64, self.out);
        self.out.extend_from_slice(&values);
        Ok(())
    }
}
