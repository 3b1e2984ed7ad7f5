//! What base stations and mobile nodes say to each other in AIRMAIL ([`stage`](crate::stage)).
//!
//! *Deviations*: no format could be read; lengths are assumed (docs/models/wired-links.md).

use super::ids::NodeId;
use super::packet::{Packet, Payload};
use crate::kernel::Time;

/// What everything says that a base station sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The base station.
    pub station: NodeId,
    /// When it began to count; after a crash it begins anew.
    pub session: Time,
    /// Nothing below this number comes any more.
    pub floor: u32,
    /// It asks for a status, by the poll of this number.
    pub poll: Option<u32>,
}

/// The header of a packet between a base station and a mobile node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// What every packet says.
    pub stamp: Stamp,
    /// The packet's number, counted from zero in the order of first transmissions.
    pub number: u32,
}

impl Header {
    /// What recordings would call a packet with nothing else.
    pub const NAME: &'static str = "airmail";
    /// Its length: number, floor and poll in two bytes each, type and session in one.
    pub const BYTES: u32 = 8;
}

/// A packet of parity over a block of packets; over none it is a mere poll.
#[derive(Clone, PartialEq, Debug)]
pub struct Parity {
    /// What every packet says.
    pub stamp: Stamp,
    /// The number of the block: that of its poll.
    pub block: u32,
    /// The packets of the block, by number. On the air each packet of parity is as long as the longest of
    /// them; any that are missing can be made from as many such packets.
    pub packets: Vec<(u32, Packet)>,
}

impl Parity {
    /// What recordings call it.
    pub const NAME: &'static str = "airmail-parity";
    /// What recordings call it without a block.
    pub const POLL: &'static str = "airmail-poll";
}

/// Is this packet none of a flow's, and must yet stay behind those of which it is the parity, or asks?
pub fn follows_data(packet: &Packet) -> bool {
    matches!(&packet.payload, Payload::Custom(message) if message.content::<Parity>().is_some())
}

/// What a mobile node has, in answer to a poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// The session that the base station gave.
    pub session: Time,
    /// The poll.
    pub poll: u32,
    /// Everything below this number is there, or comes no more.
    pub next: u32,
    /// Of the numbers from `next` on those that are there, one a bit.
    pub held: u64,
    /// Packets that were made from parity in this session.
    pub recovered: u32,
}

impl Status {
    /// What recordings call it.
    pub const NAME: &'static str = "airmail-status";
    /// Its length: session and type, poll, number, packets made from parity, bitmap.
    pub const BYTES: u32 = 16;
    /// Numbers that the bitmap has room for.
    pub const WINDOW_MAX: u32 = u64::BITS;

    /// Is this packet there?
    pub fn has(&self, number: u32) -> bool {
        let place = number.wrapping_sub(self.next);
        number < self.next || (place < u64::BITS && self.held >> place & 1 == 1)
    }
}
