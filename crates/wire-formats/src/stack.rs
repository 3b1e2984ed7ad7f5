//! Decoding a whole frame or packet, header after header.

use manetlab_core::wire::NodeId;
use manetlab_core::wire::aodv;
use manetlab_core::wire::arp::ArpMessage;
use manetlab_core::wire::babel;
use manetlab_core::wire::batman::{Packet as BatmanPacket, Unicast};
use manetlab_core::wire::dymo;
use manetlab_core::wire::olsr;
use manetlab_core::wire::rip;
use manetlab_core::wire::rtp;
use manetlab_core::wire::{cedar, zrp};

use crate::ipv4::protocol;
use crate::reader::Malformed;
use crate::udp::{
    AODV_PORT, BABEL_PORT, BATMAN_PORT, DYMO_PORT, OLSR_PORT, Ports, RIP_PORT, RTCP_PORT, RTP_PORT,
};
use crate::{arp, batman, dot11, dsr, ipv4, llc, own, tcp, udp};

/// What a frame carries.
#[derive(Clone, PartialEq, Debug)]
pub enum Body<'a> {
    /// An IP packet.
    Ip(Box<Packet<'a>>),
    /// An ARP packet.
    Arp(ArpMessage),
    /// A message of LUNAR, or its label and the IP packet behind it.
    Lunar(own::lunar::Header, Option<Box<Packet<'a>>>),
    /// Messages of batman-adv.
    Batman(BatmanPacket),
    /// The headers of batman-adv, and the IP packet behind them.
    BatmanUnicast(Unicast, Box<Packet<'a>>),
}

/// An IP packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Packet<'a> {
    /// Its header.
    pub ip: ipv4::Header,
    /// The DSR header, if it has one.
    pub dsr: Option<dsr::Decoded<'a>>,
    /// CEDAR's source route, if it has one.
    pub cedar: Option<cedar::SourceRoute>,
    /// ZRP's route, if it has one.
    pub zrp: Option<zrp::SourceRoute>,
    /// The header of a protocol in Python, if it has one.
    pub custom: Option<own::custom::Header>,
    /// What it carries.
    pub payload: Payload<'a>,
}

/// What an IP packet carries.
#[derive(Clone, PartialEq, Debug)]
pub enum Payload<'a> {
    /// A TCP segment, and its payload.
    Tcp(tcp::Header, &'a [u8]),
    /// An RTP packet, and its payload.
    Rtp(Ports, rtp::Header, &'a [u8]),
    /// An RTCP report.
    Rtcp(Ports, rtp::Rtcp),
    /// An AODV message.
    Aodv(aodv::Message),
    /// Messages of OLSR.
    Olsr(olsr::Packet),
    /// Messages of Babel.
    Babel(babel::Packet),
    /// Messages of batmand.
    Batman(BatmanPacket),
    /// A message of DYMO.
    Dymo(dymo::Message),
    /// A message of RIP.
    Rip(rip::Message),
    /// Any other UDP datagram.
    Udp(Ports, &'a [u8]),
    /// A message in a format of this project's own.
    Own(own::Message),
    /// Nothing.
    Nothing,
}

/// A frame without its FCS.
///
/// # Errors
/// When any of its headers is malformed.
pub fn decode_frame(bytes: &[u8]) -> Result<(dot11::Header, Option<Body<'_>>), Malformed> {
    let (header, rest) = dot11::decode(bytes)?;
    if !matches!(header, dot11::Header::Data { .. }) {
        let end = Malformed::Wrong("bytes after a control frame");
        return if rest.is_empty() { Ok((header, None)) } else { Err(end) };
    }
    let body = match llc::decode(rest)? {
        (llc::IPV4, packet) => Body::Ip(Box::new(decode_packet(packet)?)),
        (llc::ARP, message) => Body::Arp(arp::decode(message)?),
        (llc::EXPERIMENTAL, packet) => {
            let (header, rest) = own::lunar::decode(packet)?;
            let is_label = matches!(header, own::lunar::Header::Label(_));
            Body::Lunar(header, is_label.then(|| decode_packet(rest).map(Box::new)).transpose()?)
        }
        (llc::BATMAN, packet) => match batman::decode(packet)? {
            batman::Decoded::Ogms(ogms) => Body::Batman(ogms),
            batman::Decoded::Unicast(header, rest) => {
                Body::BatmanUnicast(header, Box::new(decode_packet(rest)?))
            }
        },
        _ => return Err(Malformed::Wrong("an EtherType that is not used")),
    };
    Ok((header, Some(body)))
}

/// An IP packet.
///
/// # Errors
/// When any of its headers is malformed.
pub fn decode_packet(bytes: &[u8]) -> Result<Packet<'_>, Malformed> {
    let (ip, mut rest) = ipv4::decode(bytes)?;
    let mut next = ip.protocol;
    let mut dsr = None;
    if next == protocol::DSR {
        let decoded = dsr::decode(ip.src, ip.dst, rest)?;
        (next, rest) = (decoded.next, decoded.payload);
        dsr = Some(decoded);
    }
    let (mut cedar, mut zrp, mut custom) = (None, None, None);
    if next == protocol::EXPERIMENTAL {
        match own::decode(rest)? {
            (own::Message::Header(header), after) => {
                (next, rest) = (header.next, after);
                custom = Some(header);
            }
            (own::Message::CedarRoute(route, follows), after) => {
                (next, rest) = (follows, after);
                cedar = Some(route);
            }
            (own::Message::ZrpRoute(route, follows), after) => {
                (next, rest) = (follows, after);
                zrp = Some(route);
            }
            _ => {}
        }
    }
    Ok(Packet { ip, dsr, cedar, zrp, custom, payload: decode_payload(ip.src, ip.dst, next, rest)? })
}

fn decode_payload(src: NodeId, dst: NodeId, next: u8, bytes: &[u8]) -> Result<Payload<'_>, Malformed> {
    match next {
        protocol::TCP => tcp::decode(src, dst, bytes).map(|(header, payload)| Payload::Tcp(header, payload)),
        protocol::UDP => {
            let (ports, content) = udp::decode(src, dst, bytes)?;
            if ports.dst == AODV_PORT {
                aodv_message(content)
            } else if ports.dst == BABEL_PORT {
                crate::babel::decode(content).map(Payload::Babel)
            } else if ports.dst == BATMAN_PORT {
                batman::decode_daemon(content).map(Payload::Batman)
            } else if ports.dst == DYMO_PORT {
                own::dymo::decode(content).map(Payload::Dymo)
            } else if ports.dst == OLSR_PORT {
                crate::olsr::decode(content).map(Payload::Olsr)
            } else if ports.dst == RIP_PORT {
                crate::rip::decode(content).map(Payload::Rip)
            } else if ports.dst == RTCP_PORT || ports.src == RTCP_PORT {
                crate::rtp::decode_rtcp(content).map(|(_, report)| Payload::Rtcp(ports, report))
            } else if ports.dst == RTP_PORT {
                crate::rtp::decode(content).map(|(_, header, payload)| Payload::Rtp(ports, header, payload))
            } else {
                Ok(Payload::Udp(ports, content))
            }
        }
        protocol::EXPERIMENTAL => own::decode(bytes).map(|(message, _)| Payload::Own(message)),
        protocol::NONE if bytes.is_empty() => Ok(Payload::Nothing),
        _ => Err(Malformed::Wrong("an IP protocol that is not used")),
    }
}

fn aodv_message(content: &[u8]) -> Result<Payload<'_>, Malformed> {
    crate::aodv::decode(content).map(Payload::Aodv)
}
