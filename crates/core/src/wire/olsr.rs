//! Packets of OLSR (RFC 3626), and of olsrd's extension for link qualities.

use std::sync::Arc;

use super::ids::NodeId;
use crate::kernel::Span;

/// Bytes of the header of a packet (RFC 3626 §3.3).
pub const PACKET_HEADER_BYTES: u32 = 4;
/// Bytes of the header of a message (RFC 3626 §3.3.2).
pub const MESSAGE_HEADER_BYTES: u32 = 12;
/// Bytes of the fixed fields of a HELLO, of the header of each of its groups, and of those of a TC
/// (RFC 3626 §6.1, §9.1).
const FIXED_BYTES: u32 = 4;
/// Bytes of an address.
const ADDRESS_BYTES: u32 = 4;
/// Bytes of the two qualities after an address, and of what fills them up to a word (olsrd 0.9.8).
const QUALITY_BYTES: u32 = 4;

/// A time as eight bits say it (RFC 3626 §18.3): the high four bits are *a*, the low four *b*, and the time
/// is (1 + *a*/16) · 2^*b* / 16 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeCode(pub u8);

impl TimeCode {
    /// A 256th of a second: the time of *a* = 0, *b* = 0 divided by 16.
    const STEP_NS: u64 = 3_906_250;

    /// The shortest time that is no shorter than `span`; the longest there is, if none is.
    pub fn of(span: Span) -> TimeCode {
        let longer =
            (0..=u8::MAX).map(|code| code.rotate_left(4)).find(|code| TimeCode(*code).span() >= span);
        TimeCode(longer.unwrap_or(u8::MAX))
    }

    /// The time.
    pub fn span(self) -> Span {
        let (a, b) = (u64::from(self.0 >> 4), u32::from(self.0 & 0xf));
        Span(((16 + a) * Self::STEP_NS) << b)
    }
}

/// What a HELLO says of a link (RFC 3626 §6.1.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkType {
    /// Nothing.
    Unspecified,
    /// The neighbour is heard.
    Asymmetric,
    /// Both hear each other.
    Symmetric,
    /// The neighbour is not heard any more.
    Lost,
}

/// What a HELLO says of a neighbour (RFC 3626 §6.1.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NeighbourType {
    /// No symmetric neighbour.
    Not,
    /// A symmetric neighbour.
    Symmetric,
    /// A symmetric neighbour that the sender has chosen as a multipoint relay.
    Mpr,
}

/// Which share of a link's packets arrive, in 255ths, in both directions (olsrd 0.9.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Qualities {
    /// At the node that says so.
    pub here: u8,
    /// At its neighbour, as that has said.
    pub there: u8,
}

/// A neighbour in a HELLO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The neighbour.
    pub node: NodeId,
    /// The link to it.
    pub link: LinkType,
    /// What it is to the sender.
    pub neighbour: NeighbourType,
    /// Zeros in a HELLO without qualities.
    pub qualities: Qualities,
}

/// Who hears whom, for the neighbours alone.
#[derive(Clone, PartialEq, Debug)]
pub struct Hello {
    /// Until the next one, at most.
    pub interval: TimeCode,
    /// Willingness to be a relay, 0 (never) to 7 (always).
    pub willingness: u8,
    /// Does it say how good links are (olsrd's `LQ_HELLO`)?
    pub has_qualities: bool,
    /// Neighbours; those of the same types that follow each other are a group.
    pub listed: Arc<[Listed]>,
}

/// Links of its originator, for all nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct Tc {
    /// The number of the set of links: it grows when the set changes.
    pub ansn: u16,
    /// Does it say how good links are (olsrd's `LQ_TC`)?
    pub has_qualities: bool,
    /// The other ends; zeros for the qualities where none are said.
    pub advertised: Arc<[(NodeId, Qualities)]>,
}

/// What a message says.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// See there.
    Hello(Hello),
    /// See there.
    Tc(Tc),
}

/// A message; nodes pass on those of others as they are, but for `ttl` and `hops`.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// For how long what it says holds.
    pub validity: TimeCode,
    /// Who made it.
    pub origin: NodeId,
    /// Hops that it may still go.
    pub ttl: u8,
    /// Hops that it has gone.
    pub hops: u8,
    /// Its number among the messages of its originator.
    pub number: u16,
    /// What it says.
    pub content: Content,
}

/// Messages that are sent together.
#[derive(Clone, PartialEq, Debug)]
pub struct Packet {
    /// Its number among the packets of its sender.
    pub number: u16,
    /// At least one.
    pub messages: Arc<[Message]>,
}

fn entry_bytes(has_qualities: bool) -> u32 {
    ADDRESS_BYTES + if has_qualities { QUALITY_BYTES } else { 0 }
}

impl Hello {
    /// The neighbours of each group.
    pub fn groups(&self) -> impl Iterator<Item = &[Listed]> {
        self.listed.chunk_by(|one, next| (one.link, one.neighbour) == (next.link, next.neighbour))
    }
}

impl Message {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        let content = match &self.content {
            Content::Hello(hello) => {
                let entries = entry_bytes(hello.has_qualities) * hello.listed.len() as u32;
                FIXED_BYTES * (1 + hello.groups().count() as u32) + entries
            }
            Content::Tc(tc) => FIXED_BYTES + entry_bytes(tc.has_qualities) * tc.advertised.len() as u32,
        };
        MESSAGE_HEADER_BYTES + content
    }
}

impl Packet {
    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        PACKET_HEADER_BYTES + self.messages.iter().map(Message::bytes).sum::<u32>()
    }

    /// What recordings call it.
    pub fn name(&self) -> &'static str {
        let hellos = self.messages.iter().filter(|message| matches!(message.content, Content::Hello(_)));
        match hellos.count() {
            0 => "tc",
            hellos if hellos == self.messages.len() => "hello",
            _ => "hello+tc",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_standard() {
        let codes = [(2.0, 0x05), (6.0, 0x86), (15.0, 0xe7), (30.0, 0xe8), (20.0, 0x48), (300.0, 0x3c)];
        for (seconds, code) in codes {
            assert_eq!(TimeCode::of(Span::from_secs(seconds)), TimeCode(code), "{seconds} s");
        }
        assert_eq!(TimeCode(0x3c).span(), Span::from_secs(304.0));
        assert_eq!(TimeCode::of(Span::from_secs(1e6)), TimeCode(0xff));
        assert_eq!(TimeCode::of(Span::ZERO), TimeCode(0));
    }

    #[test]
    fn a_hello_has_the_lengths_of_its_groups() {
        let listed = |node, neighbour| Listed {
            node: NodeId(node),
            link: LinkType::Symmetric,
            neighbour,
            qualities: Qualities::default(),
        };
        let neighbours =
            [(1, NeighbourType::Symmetric), (2, NeighbourType::Symmetric), (3, NeighbourType::Mpr)];
        for (has_qualities, bytes) in [(false, 12 + 4 + 2 * 4 + 3 * 4), (true, 12 + 4 + 2 * 4 + 3 * 8)] {
            let hello = Hello {
                interval: TimeCode(5),
                willingness: 3,
                has_qualities,
                listed: neighbours.map(|(node, neighbour)| listed(node, neighbour)).into(),
            };
            let message = Message {
                validity: TimeCode(0x86),
                origin: NodeId(0),
                ttl: 1,
                hops: 0,
                number: 0,
                content: Content::Hello(hello),
            };
            assert_eq!(message.bytes(), bytes);
        }
    }
}
