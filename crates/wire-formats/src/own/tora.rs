//! Packets of IMEP with messages of TORA. The lengths are those of ns-2.35, the order of the fields is this
//! project's own.
//!
//! Kind 96, parts (1: HELLOs, 2: ACKs, 4: objects; 8: the sender has just started), length (2). HELLOs:
//! number (2), zeros (2), addresses (4 each). ACKs: number (2), zeros (2); address (4), block (1), zeros (3)
//! of each. Objects: block (1), number of objects (1), number of those that are to acknowledge (2), their
//! addresses (4 each), then type, length and message of each. Query (1): destination (4), zeros (4). Update
//! (2): destination (4), 1 unless the height is NULL, reflected, zeros (2), τ in ns (8), oid (4), δ (4), id
//! (4), zeros (4). Clear (3): destination (4), τ (8), oid (4), zeros (4).

use manetlab_core::kernel::Time;
use manetlab_core::wire::NodeId;
use manetlab_core::wire::tora::{Ack, Block, Height, Level, Message, Packet};

use super::kind;
use crate::address;
use crate::reader::{Malformed, Reader, put_short, put_word};

const HELLOS: u8 = 1;
const ACKS: u8 = 2;
const OBJECTS: u8 = 4;
const NEW: u8 = 8;
const ZEROS: [u8; 4] = [0; 4];

/// Appends the packet.
pub fn encode(packet: &Packet, out: &mut Vec<u8>) {
    let is_there = |part: u8, is_there: bool| if is_there { part } else { 0 };
    let parts = is_there(HELLOS, !packet.hellos.is_empty())
        | is_there(ACKS, !packet.acks.is_empty())
        | is_there(OBJECTS, packet.block.is_some())
        | is_there(NEW, packet.is_new);
    out.extend_from_slice(&[kind::TORA, parts]);
    put_short(out, packet.bytes() as u16);
    if !packet.hellos.is_empty() {
        put_short(out, packet.hellos.len() as u16);
        put_short(out, 0);
        packet.hellos.iter().for_each(|node| out.extend_from_slice(&address::ipv4(*node)));
    }
    if !packet.acks.is_empty() {
        put_short(out, packet.acks.len() as u16);
        put_short(out, 0);
        for ack in packet.acks.iter() {
            out.extend_from_slice(&address::ipv4(ack.to));
            out.extend_from_slice(&[ack.seqno, 0, 0, 0]);
        }
    }
    if let Some(block) = &packet.block {
        out.extend_from_slice(&[block.seqno, block.objects.len() as u8]);
        put_short(out, block.responders.len() as u16);
        block.responders.iter().for_each(|node| out.extend_from_slice(&address::ipv4(*node)));
        block.objects.iter().for_each(|object| encode_object(object, out));
    }
}

fn encode_object(object: &Message, out: &mut Vec<u8>) {
    let number = match object {
        Message::Qry { .. } => 1,
        Message::Upd { .. } => 2,
        Message::Clr { .. } => 3,
    };
    out.extend_from_slice(&[number, object.bytes() as u8]);
    out.extend_from_slice(&address::ipv4(object.dst()));
    match *object {
        Message::Qry { .. } => out.extend_from_slice(&ZEROS),
        Message::Upd { dst, height } => {
            let Height { level, delta, id } = height.unwrap_or(Height::zero(dst));
            out.extend_from_slice(&[height.is_some().into(), level.reflected.into(), 0, 0]);
            out.extend_from_slice(&level.tau.0.to_be_bytes());
            out.extend_from_slice(&address::ipv4(level.oid));
            put_word(out, delta as u32);
            out.extend_from_slice(&address::ipv4(id));
            out.extend_from_slice(&ZEROS);
        }
        Message::Clr { tau, oid, .. } => {
            out.extend_from_slice(&tau.0.to_be_bytes());
            out.extend_from_slice(&address::ipv4(oid));
            out.extend_from_slice(&ZEROS);
        }
    }
}

/// The packet.
///
/// # Errors
/// When it is none.
pub fn decode(bytes: &[u8]) -> Result<Packet, Malformed> {
    let mut reader = Reader::new(bytes, "IMEP packet");
    if reader.byte()? != kind::TORA {
        return Err(Malformed::Wrong("a kind that IMEP has not"));
    }
    let parts = reader.byte()?;
    if parts > HELLOS | ACKS | OBJECTS | NEW || usize::from(reader.short()?) != bytes.len() {
        return Err(Malformed::Wrong("an IMEP packet with parts or a length that it cannot have"));
    }
    let mut packet = Packet { is_new: parts & NEW != 0, ..Packet::default() };
    if parts & HELLOS != 0 {
        packet.hellos = decode_list(&mut reader, Reader::ipv4_node)?.into();
    }
    if parts & ACKS != 0 {
        packet.acks = decode_list(&mut reader, decode_ack)?.into();
    }
    if parts & OBJECTS != 0 {
        packet.block = Some(decode_block(&mut reader)?);
    }
    if reader.rest().is_empty() { Ok(packet) } else { Err(Malformed::Wrong("bytes after an IMEP packet")) }
}

fn decode_list<'a, T>(
    reader: &mut Reader<'a>,
    one: impl Fn(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let count = reader.short()?;
    skip_zeros(reader, 2)?;
    if count == 0 {
        return Err(Malformed::Wrong("a part of an IMEP packet with nothing in it"));
    }
    (0..count).map(|_| one(reader)).collect()
}

fn decode_ack(reader: &mut Reader<'_>) -> Result<Ack, Malformed> {
    let ack = Ack { to: reader.ipv4_node()?, seqno: reader.byte()? };
    skip_zeros(reader, 3)?;
    Ok(ack)
}

fn decode_block(reader: &mut Reader<'_>) -> Result<Block, Malformed> {
    let (seqno, objects, responders) = (reader.byte()?, reader.byte()?, reader.short()?);
    let responders = (0..responders).map(|_| reader.ipv4_node()).collect::<Result<Vec<_>, _>>()?;
    let objects = (0..objects).map(|_| decode_object(reader)).collect::<Result<Vec<_>, _>>()?;
    Ok(Block { seqno, responders: responders.into(), objects: objects.into() })
}

fn decode_object(reader: &mut Reader<'_>) -> Result<Message, Malformed> {
    let (number, length) = (reader.byte()?, reader.byte()?);
    let dst = reader.ipv4_node()?;
    let message = match number {
        1 => Message::Qry { dst },
        2 => Message::Upd { dst, height: decode_height(reader, dst)? },
        3 => Message::Clr { dst, tau: decode_time(reader)?, oid: reader.ipv4_node()? },
        _ => return Err(Malformed::Wrong("a message that TORA has not")),
    };
    skip_zeros(reader, 4)?;
    if u32::from(length) == message.bytes() {
        Ok(message)
    } else {
        Err(Malformed::Wrong("a message of TORA with a length that it cannot have"))
    }
}

fn decode_height(reader: &mut Reader<'_>, dst: NodeId) -> Result<Option<Height>, Malformed> {
    let (is_known, reflected) = (reader.byte()?, reader.byte()?);
    skip_zeros(reader, 2)?;
    let (tau, oid) = (decode_time(reader)?, reader.ipv4_node()?);
    let level = Level { tau, oid, reflected: reflected == 1 };
    let height = Height { level, delta: reader.word()? as i32, id: reader.ipv4_node()? };
    match (is_known, reflected) {
        (1, 0 | 1) => Ok(Some(height)),
        (0, 0) if height == Height::zero(dst) => Ok(None),
        _ => Err(Malformed::Wrong("a height that TORA has not")),
    }
}

fn decode_time(reader: &mut Reader<'_>) -> Result<Time, Malformed> {
    Ok(Time((u64::from(reader.word()?) << 32) | u64::from(reader.word()?)))
}

fn skip_zeros(reader: &mut Reader<'_>, count: usize) -> Result<(), Malformed> {
    let are_zeros = reader.take(count)?.iter().all(|byte| *byte == 0);
    if are_zeros { Ok(()) } else { Err(Malformed::Wrong("an IMEP packet with something where zeros belong")) }
}
