//! What a line says of a packet's protocol, after the IP part.

use std::fmt::Write;

use manetlab_core::wire::aodv::Message;
use manetlab_core::wire::{Packet, Payload, adp, dsr, tcp};

/// The packet's type.
pub(super) fn kind(packet: &Packet) -> &'static str {
    match &packet.payload {
        Payload::Aodv(_) => "AODV",
        Payload::Dsdv(_) => "message",
        Payload::Adv(_) => "ADV",
        Payload::Lunar(_) => "LUNAR",
        Payload::Olsr(_) => "OLSR",
        Payload::Babel(_) => "Babel",
        Payload::Batman(_) => "BATMAN",
        Payload::Dymo(_) => "DYMO",
        Payload::Tora(_) => "TORA",
        Payload::Ssa(_) => "SSA",
        Payload::Abr(_) => "ABR",
        Payload::Cedar(_) => "CEDAR",
        Payload::Rip(_) => "RIP",
        Payload::Zrp(_) => "ZRP",
        Payload::Nothing if packet.dsr().is_some() => "DSR",
        Payload::Datagram(_, datagram) if datagram.rtp.is_some() => "rtp",
        _ => packet.name(),
    }
}

/// The numbers of a segment or packet of a flow: its own, and that of ACKs, which ns-2's one-way TCP leaves
/// at zero. An ACK's own number is that of the last segment that it acknowledges.
fn numbers(packet: &Packet) -> Option<(i64, bool)> {
    match &packet.payload {
        Payload::Tcp(_, tcp::Segment::Data { number, .. }) => Some((i64::from(*number), true)),
        Payload::Tcp(_, tcp::Segment::Ack { next, .. }) => Some((i64::from(*next) - 1, true)),
        Payload::Udp(_, number) => Some((*number as i64, false)),
        Payload::Datagram(_, datagram) => {
            Some((datagram.rtp.map_or(datagram.message.into(), |rtp| rtp.sequence.into()), false))
        }
        Payload::Adp(_, adp::Segment::Data { number, .. } | adp::Segment::Ack { number, .. }, _) => {
            Some(((*number).into(), false))
        }
        _ => None,
    }
}

/// What the old format says. Writing to a `String` does not fail.
pub(super) fn put_old(packet: &Packet, text: &mut String) {
    let hops = packet.hops;
    let _ = match (numbers(packet), &packet.payload) {
        (Some((number, true)), _) => write!(text, "[{number} 0] {hops} 0"),
        (Some((number, false)), _) => write!(text, "[{number}] {hops} 0"),
        (None, Payload::Aodv(message)) => old_aodv(message, text),
        (None, Payload::Nothing) => packet.dsr().map_or(Ok(()), |header| {
            let Dsr { addresses, request, reply, error } = Dsr::of(header);
            let ((asks, id), (answers, length, from, to)) = (request, reply);
            let (fails, errors, tell, broken_from, broken_to) = error;
            write!(
                text,
                "{addresses} [{asks} {id}] [{answers} 0 {length} {from}->{to}] \
                 [{fails} {errors} {tell} {broken_from}->{broken_to}]"
            )
        }),
        _ => Ok(()),
    };
}

fn old_aodv(message: &Message, text: &mut String) -> std::fmt::Result {
    match message {
        Message::Rreq(request) => write!(
            text,
            "[0x2 {} {} [{} {}] [{} {}]] (REQUEST)",
            request.hop_count,
            request.id,
            request.dst.0,
            request.dst_seqno.unwrap_or(0),
            request.origin.0,
            request.origin_seqno
        ),
        Message::Rrep(reply) => write!(
            text,
            "[0x4 {} [{} {}] {:.6}] (REPLY)",
            reply.hop_count,
            reply.dst.0,
            reply.dst_seqno,
            reply.lifetime.as_secs()
        ),
        Message::Rerr(error) => {
            let (dst, seqno) = error.unreachable.first().map_or((0, 0), |first| (first.dst.0, first.seqno));
            write!(text, "[0x8 {} [{dst} {seqno}] 0.000000] (ERROR)", error.unreachable.len())
        }
        Message::Hello(hello) => {
            write!(text, "[0x1 1 [{} {}] {:.6}] (HELLO)", hello.node.0, hello.seqno, hello.lifetime.as_secs())
        }
        Message::RrepAck => write!(text, "[0x10 0 [0 0] 0.000000] (RREP-ACK)"),
    }
}

/// What the new format says.
pub(super) fn put_new(packet: &Packet, text: &mut String) {
    let hops = packet.hops;
    let kind = kind(packet);
    let _ = match (numbers(packet), &packet.payload) {
        (Some((number, true)), _) => write!(text, "-Pn tcp -Ps {number} -Pa 0 -Pf {hops} -Po 0 "),
        (Some((number, false)), _) => write!(text, "-Pn {kind} -Pi {number} -Pf {hops} -Po 0 "),
        (None, Payload::Aodv(message)) => new_aodv(message, text),
        (None, Payload::Nothing) => packet.dsr().map_or(Ok(()), |header| {
            let Dsr { addresses, request, reply, error } = Dsr::of(header);
            let ((asks, id), (answers, length, from, to)) = (request, reply);
            let (fails, errors, tell, broken_from, broken_to) = error;
            write!(
                text,
                "-P dsr -Ph {addresses} -Pq {asks} -Ps {id} -Pp {answers} -Pn 0 -Pl {length} -Pe {from}->{to} \
                 -Pw {fails} -Pm {errors} -Pc {tell} -Pb {broken_from}->{broken_to} "
            )
        }),
        _ => Ok(()),
    };
}

fn new_aodv(message: &Message, text: &mut String) -> std::fmt::Result {
    match message {
        Message::Rreq(request) => write!(
            text,
            "-P aodv -Pt 0x2 -Ph {} -Pb {} -Pd {} -Pds {} -Ps {} -Pss {} -Pc REQUEST ",
            request.hop_count,
            request.id,
            request.dst.0,
            request.dst_seqno.unwrap_or(0),
            request.origin.0,
            request.origin_seqno
        ),
        Message::Rrep(reply) => write!(
            text,
            "-P aodv -Pt 0x4 -Ph {} -Pd {} -Pds {} -Pl {:.6} -Pc REPLY ",
            reply.hop_count,
            reply.dst.0,
            reply.dst_seqno,
            reply.lifetime.as_secs()
        ),
        Message::Rerr(error) => {
            let (dst, seqno) = error.unreachable.first().map_or((0, 0), |first| (first.dst.0, first.seqno));
            let count = error.unreachable.len();
            write!(text, "-P aodv -Pt 0x8 -Ph {count} -Pd {dst} -Pds {seqno} -Pl 0.000000 -Pc ERROR ")
        }
        Message::Hello(hello) => write!(
            text,
            "-P aodv -Pt 0x1 -Ph 1 -Pd {} -Pds {} -Pl {:.6} -Pc HELLO ",
            hello.node.0,
            hello.seqno,
            hello.lifetime.as_secs()
        ),
        Message::RrepAck => write!(text, "-P aodv -Pt 0x10 -Ph 0 -Pd 0 -Pds 0 -Pl 0.000000 -Pc RREP-ACK "),
    }
}

/// What a line says of a DSR header.
struct Dsr {
    /// Nodes on the route so far.
    addresses: usize,
    /// Is it a request, and its number.
    request: (u8, u32),
    /// Is it a reply, its nodes, the first of them and the last.
    reply: (u8, usize, u32, u32),
    /// Is it an error, how many, whom it tells, and the link.
    error: (u8, usize, i64, u32, u32),
}

impl Dsr {
    fn of(header: &dsr::Header) -> Dsr {
        let ends = |route: &dsr::Route| {
            (1, route.len(), route.first().map_or(0, |node| node.0), route.last().map_or(0, |node| node.0))
        };
        let tell = |error: &dsr::LinkError| super::address(error.tell);
        Dsr {
            addresses: header.route.len(),
            request: header.request.map_or((0, 0), |request| (1, request.id)),
            reply: header.reply.as_ref().map_or((0, 0, 0, 0), ends),
            error: header
                .errors
                .last()
                .map_or((0, 0, 0, 0, 0), |last| (1, header.errors.len(), tell(last), last.from.0, last.to.0)),
        }
    }
}
