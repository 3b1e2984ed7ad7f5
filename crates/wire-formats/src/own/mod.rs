//! Formats of this project's own, for protocols whose sources give none: ADV, DSDV, SSA, ABR, ADP, PSP, the
//! messages of TCP-BuS, LUNAR, DYMO, TORA, CEDAR, ZRP, and what only a protocol in Python understands.
//!
//! They follow the IP header under protocol 253 (RFC 3692), except for LUNAR's, which precede it ([`lunar`]).
//! The first byte says which format it is. Lengths are those that a run charges, so that fields are as wide
//! as these leave room for; numbers are in network order. docs/captures.md has the layouts, and
//! python/manetlab/manetlab.lua shows them in Wireshark.

pub mod abr;
pub mod adp;
pub mod adv;
pub mod bus;
pub mod cedar;
pub mod custom;
pub mod dsdv;
pub mod dymo;
pub mod lunar;
pub mod psp;
pub mod ssa;
pub mod tora;
pub mod zrp;

use crate::reader::Malformed;

/// First bytes.
pub(crate) mod kind {
    pub(crate) const ADV_UPDATE: u8 = 1;
    /// Of the four floods, in the order of `FloodKind`.
    pub(crate) const ADV_FLOODS: [u8; 4] = [2, 3, 4, 5];
    pub(crate) const DSDV_ENTRY: u8 = 16;
    pub(crate) const ADP_DATA: u8 = 32;
    pub(crate) const ADP_ACK: u8 = 33;
    pub(crate) const PSP_DATA: u8 = 40;
    pub(crate) const PSP_ACK: u8 = 41;
    pub(crate) const ERDN: u8 = 48;
    pub(crate) const ERSN: u8 = 49;
    /// Of the four messages, in the order of `Content`.
    pub(crate) const DYMO: [u8; 4] = [80, 81, 82, 83];
    pub(crate) const TORA: u8 = 96;
    /// In the order of SSA's `Kind`.
    pub(crate) const SSA: [u8; 5] = [128, 129, 130, 131, 132];
    /// In the order of ABR's `Kind`.
    pub(crate) const ABR: [u8; 8] = [144, 145, 146, 147, 148, 149, 150, 151];
    pub(crate) const CUSTOM_MESSAGE: u8 = 112;
    pub(crate) const CUSTOM_HEADER: u8 = 113;
    pub(crate) const CEDAR_MESSAGE: u8 = 160;
    pub(crate) const CEDAR_ROUTE: u8 = 161;
    /// In the order of ZRP's `Message`.
    pub(crate) const ZRP: [u8; 5] = [176, 177, 178, 179, 180];
    pub(crate) const ZRP_ROUTE: u8 = 181;
}

/// A message in one of these formats.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// Of ADV.
    Adv(manetlab_core::wire::adv::Message),
    /// Of DSDV.
    Dsdv(manetlab_core::wire::dsdv::Update),
    /// Of SSA.
    Ssa(manetlab_core::wire::ssa::Message),
    /// Of ABR.
    Abr(manetlab_core::wire::abr::Message),
    /// Of ADP.
    Adp(adp::Packet),
    /// Of PSP.
    Psp(psp::Packet),
    /// Of TCP-BuS.
    Bus(bus::Message),
    /// Of TORA.
    Tora(manetlab_core::wire::tora::Packet),
    /// Of CEDAR.
    Cedar(manetlab_core::wire::cedar::Message),
    /// A source route of CEDAR before the payload, whose IP protocol is the number.
    CedarRoute(manetlab_core::wire::cedar::SourceRoute, u8),
    /// Of ZRP.
    Zrp(manetlab_core::wire::zrp::Message),
    /// A route of ZRP before the payload, whose IP protocol is the number.
    ZrpRoute(manetlab_core::wire::zrp::SourceRoute, u8),
    /// Of a protocol in Python: so many bytes that are not known here.
    Custom(usize),
    /// A header of a protocol in Python before the payload.
    Header(custom::Header),
}

/// The message, and what follows it.
///
/// # Errors
/// When it is none of these formats.
pub fn decode(bytes: &[u8]) -> Result<(Message, &[u8]), Malformed> {
    let none = [].as_slice();
    match bytes.first() {
        None => Err(Malformed::Short("message")),
        Some(&kind::DSDV_ENTRY) => Ok((Message::Dsdv(dsdv::decode(bytes)?), none)),
        Some(kind) if kind::SSA.contains(kind) => Ok((Message::Ssa(ssa::decode(bytes)?), none)),
        Some(kind) if kind::ABR.contains(kind) => Ok((Message::Abr(abr::decode(bytes)?), none)),
        Some(&(kind::ADP_DATA | kind::ADP_ACK)) => Ok((Message::Adp(adp::decode(bytes)?), none)),
        Some(&(kind::PSP_DATA | kind::PSP_ACK)) => Ok((Message::Psp(psp::decode(bytes)?), none)),
        Some(&(kind::ERDN | kind::ERSN)) => Ok((Message::Bus(bus::decode(bytes)?), none)),
        Some(&kind::TORA) => Ok((Message::Tora(tora::decode(bytes)?), none)),
        Some(&kind::CEDAR_MESSAGE) => Ok((Message::Cedar(cedar::decode(bytes)?), none)),
        Some(&kind::CEDAR_ROUTE) => {
            let (route, next, rest) = cedar::decode_route(bytes)?;
            Ok((Message::CedarRoute(route, next), rest))
        }
        Some(kind) if kind::ZRP.contains(kind) => Ok((Message::Zrp(zrp::decode(bytes)?), none)),
        Some(&kind::ZRP_ROUTE) => {
            let (route, next, rest) = zrp::decode_route(bytes)?;
            Ok((Message::ZrpRoute(route, next), rest))
        }
        Some(&kind::CUSTOM_MESSAGE) => Ok((Message::Custom(bytes.len()), none)),
        Some(&kind::CUSTOM_HEADER) => {
            let (header, rest) = custom::decode_header(bytes)?;
            Ok((Message::Header(header), rest))
        }
        Some(_) => Ok((Message::Adv(adv::decode(bytes)?), none)),
    }
}
