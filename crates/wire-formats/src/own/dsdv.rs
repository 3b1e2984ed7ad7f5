//! Updates of DSDV: entries of 12 bytes, as ns-2.35 counts them, and nothing before them.
//!
//! An entry: kind 16, flags (1: the update is a full dump), metric, zero; destination; sequence number.

use manetlab_core::wire::dsdv::{Entry, Update};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_word};

/// Appends the update.
pub fn encode(update: &Update, out: &mut Vec<u8>) {
    for entry in &*update.entries {
        out.extend_from_slice(&[kind::DSDV_ENTRY, update.full.into(), entry.metric, 0]);
        out.extend_from_slice(&address::ipv4(entry.dst));
        put_word(out, entry.seqno);
    }
}

/// The update.
///
/// # Errors
/// When it is none; an update without entries has no bytes, and cannot be told.
pub fn decode(bytes: &[u8]) -> Result<Update, Malformed> {
    let mut reader = Reader::new(bytes, "DSDV update");
    let mut entries = Vec::new();
    let mut full = None;
    while !reader.rest().is_empty() {
        let (kind, flags, metric, zero) = (reader.byte()?, reader.byte()?, reader.byte()?, reader.byte()?);
        if kind != kind::DSDV_ENTRY
            || flags > 1
            || zero != 0
            || *full.get_or_insert(flags == 1) != (flags == 1)
        {
            return Err(Malformed::Wrong("a DSDV entry with fields that it cannot have"));
        }
        entries.push(Entry { dst: reader.ipv4_node()?, metric, seqno: reader.word()? });
    }
    let full = full.ok_or(Malformed::Short("DSDV update"))?;
    Ok(Update { full, entries: entries.into() })
}
