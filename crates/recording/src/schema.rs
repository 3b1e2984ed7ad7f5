//! The tables of a recording: what a reader must know to understand columns. The head of every file repeats
//! it.

use serde_json::{Value, json};

/// What the values of a column mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number.
    Uint,
    /// Zero for none, otherwise a number and one.
    Optional,
    /// A time in ns.
    Time,
    /// Zero for none, one for all nodes, otherwise a node and two.
    Address,
    /// A place in the section's list of strings.
    Text,
    /// The bits of an IEEE 754 double.
    Float,
    /// A row of another table in the same section.
    Row(&'static str),
}

impl Kind {
    /// What the head of a file calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Uint => "uint",
            Kind::Optional => "optional",
            Kind::Time => "time",
            Kind::Address => "address",
            Kind::Text => "string",
            Kind::Float => "float",
            Kind::Row(_) => "row",
        }
    }
}

/// A table: its number, its name and its columns, whose numbers count from 0.
pub struct TableInfo {
    /// Its number in files.
    pub id: u16,
    /// Its name; of events the name of their kind.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [(&'static str, Kind)],
}

macro_rules! tables {
    ($($name:ident = $id:literal $text:literal { $($column:literal: $kind:expr),+ $(,)? })+) => {
        $(pub(crate) const $name: u16 = $id;)+

        /// All tables.
        pub const TABLES: &[TableInfo] = &[$(TableInfo {
            id: $id,
            name: $text,
            columns: &[$(($column, $kind)),+],
        },)+];
    };
}

use Kind::{Address, Float, Optional, Row, Text, Time, Uint};

const PACKET_ROW: Kind = Row("packet");
const SHAPE_ROW: Kind = Row("shape");

tables! {
    EVENT = 0 "event" { "time": Time, "kind": Uint, "node": Uint }
    FRAME = 1 "frame" { "shape": SHAPE_ROW, "to": Address, "uid": Optional }
    MADE = 2 "made" { "packet": PACKET_ROW, "uid": Uint, "ttl": Uint, "number": Optional }
    SENT = 3 "sent" { "packet": PACKET_ROW, "uid": Uint, "ttl": Uint, "next_hop": Address }
    DELIVERED = 4 "delivered" { "packet": PACKET_ROW, "uid": Uint, "ttl": Uint, "number": Optional }
    MARKED = 5 "marked" { "packet": PACKET_ROW, "uid": Uint, "ttl": Uint }
    KEPT = 6 "kept" { "packet": PACKET_ROW, "uid": Uint, "ttl": Uint }
    DROPPED = 7 "dropped" { "packet": PACKET_ROW, "uid": Uint, "ttl": Uint, "reason": Text }
    ROUTE = 8 "route" { "dst": Address, "next_hop": Address, "hops": Optional }
    QUEUE = 9 "queue" { "length": Uint }
    WINDOW = 10 "window" { "flow": Uint, "cwnd": Float, "ssthresh": Float, "rto": Uint }
    NOTICE = 11 "notice" { "notice": Text, "dst": Address, "detail": Text }
    FLOW = 12 "flow" { "flow": Uint, "step": Text }
    SHARE = 13 "share" { "flow": Uint, "hops": Uint, "share": Float, "rate": Float }
    RECEPTION = 32 "reception" { "frame": Uint, "node": Uint, "outcome": Text }
    SHAPE = 33 "shape" { "kind": Text, "for": Text, "rate": Float, "bytes": Uint, "airtime": Uint }
    PACKET = 34 "packet" {
        "what": Text, "src": Address, "dst": Address, "bytes": Uint, "cause": Text, "flow": Optional,
    }
    AT_ROUTE = 48 "at-route" { "node": Uint, "dst": Address, "next_hop": Address, "hops": Optional }
    AT_QUEUE = 49 "at-queue" { "node": Uint, "length": Uint }
    AT_WINDOW = 50 "at-window" {
        "flow": Uint, "node": Uint, "cwnd": Float, "ssthresh": Float, "rto": Uint,
    }
    AT_FRAME = 51 "at-frame" {
        "number": Uint, "time": Time, "node": Uint, "shape": SHAPE_ROW, "to": Address, "uid": Optional,
    }
    AT_FLOW = 52 "at-flow" { "flow": Uint, "node": Uint, "step": Text }
    POINT = 64 "point" { "node": Uint, "time": Time, "x": Float, "y": Float }
    INDEX = 65 "index" {
        "offset": Uint, "stored": Uint, "first": Time, "last": Time, "first_event": Uint, "events": Uint,
        "first_frame": Uint, "frames": Uint,
    }
    HEIGHT = 66 "height" { "node": Uint, "time": Time, "z": Float }
    PRESENCE = 67 "presence" { "node": Uint, "from": Time, "until": Time }
}

/// The highest number of a kind of events.
pub(crate) const LAST_EVENT_KIND: u16 = SHARE;

/// The tables of what a filter can name: the kinds of events, and what became of frames at their receivers.
pub fn kinds() -> impl Iterator<Item = &'static TableInfo> {
    TABLES.iter().filter(|table| (FRAME..=LAST_EVENT_KIND).contains(&table.id) || table.id == RECEPTION)
}

/// The table with this number.
pub fn table(id: u16) -> Option<&'static TableInfo> {
    TABLES.iter().find(|table| table.id == id)
}

/// The tables as the head of a file lists them.
pub(crate) fn as_json() -> Value {
    let column = |(id, &(name, kind)): (usize, &(&str, Kind))| match kind {
        Row(of) => json!({"id": id, "name": name, "type": kind.name(), "of": of}),
        _ => json!({"id": id, "name": name, "type": kind.name()}),
    };
    let table = |table: &TableInfo| {
        let columns: Vec<Value> = table.columns.iter().enumerate().map(column).collect();
        json!({"id": table.id, "name": table.name, "columns": columns})
    };
    TABLES.iter().map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tables_have_a_number_or_a_name_in_common() {
        for (at, table) in TABLES.iter().enumerate() {
            assert!(TABLES[..at].iter().all(|other| other.id < table.id && other.name != table.name));
            assert!(table.columns.iter().all(|(_, kind)| match kind {
                Row(of) => TABLES.iter().any(|other| other.name == *of),
                _ => true,
            }));
        }
    }
}
