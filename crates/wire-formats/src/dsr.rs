//! The DSR options header (RFC 4728 §6) and the DSR Flow State header (§7.1), with what TSR adds.
//!
//! Of a packet's header, what RFC 4728 puts elsewhere is not among these bytes: the ends of a source route
//! and the initiator of a request are the addresses of the IP header, and the hops that a request may go are
//! its time to live. [`Place`] says what else the bytes depend on.
//!
//! TSR's paper gives no formats. A ROUTE PROBE has a Route Request option beside its source route, with the
//! lower half of the probe's number and the probe's destination as target. Three of the seven reserved bits
//! of the fixed part (§6.1) say that a packet is a probe, that its Route Reply answers one, and that only the
//! target may answer its request; the lowest seven bits of the probe's number stand in the reserved bits of
//! the Route Reply option (§6.3).

use manetlab_core::wire::NodeId;
use manetlab_core::wire::dsr::{FlowMark, Header, LinkError, Request, Route, UnknownFlow};
use manetlab_core::wire::tsr;

use crate::address;
use crate::ipv4::protocol;
use crate::reader::{Malformed, Reader, put_short};

/// The bit that tells a Flow State header from an options header (§7.1).
const FLOW_STATE: u8 = 0x80;
/// Reserved bits of the fixed part that TSR uses.
const PROBE_REPLY: u8 = 0x01;
const TARGET_ONLY: u8 = 0x02;
const PROBE: u8 = 0x04;

/// Option types (§6 and §7.2).
mod option {
    pub(super) const PAD_N: u8 = 0;
    pub(super) const REQUEST: u8 = 1;
    pub(super) const REPLY: u8 = 2;
    pub(super) const ERROR: u8 = 3;
    pub(super) const SOURCE_ROUTE: u8 = 96;
    pub(super) const TIMEOUT: u8 = 128;
    pub(super) const PAD_1: u8 = 224;
}

/// Types of errors (§6.4 and §7.3).
const NODE_UNREACHABLE: u8 = 1;
const UNKNOWN_FLOW: u8 = 129;
const DEFAULT_FLOW_UNKNOWN: u8 = 130;

/// What the bytes of a header depend on beside itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The source in the IP header.
    pub src: NodeId,
    /// The destination in the IP header.
    pub dst: NodeId,
    /// The node that transmits the packet, which says how many of a source route's nodes are left.
    pub at: NodeId,
    /// Hops that the packet has gone, for the Flow State header.
    pub hops: u8,
    /// Lifetime of a flow in s, for its Timeout option.
    pub flow_timeout_s: u16,
}

/// Appends the header of a packet whose payload is of IP protocol `next`. A packet of a default flow, which
/// has no errors to carry, has no header: then nothing is appended. Returns the protocol that the IP header
/// names.
pub fn encode(header: &Header, place: Place, next: u8, out: &mut Vec<u8>) -> u8 {
    let is_established = header.flow.is_some() && header.route.is_empty() && header.unknown_flows.is_empty();
    match header.flow {
        Some(FlowMark::Default) if is_established => return next,
        Some(FlowMark::Establishes(id) | FlowMark::Member(id)) => {
            let after = if is_established { next } else { protocol::DSR };
            out.extend_from_slice(&[after, FLOW_STATE | place.hops.min(127)]);
            put_short(out, id);
        }
        Some(FlowMark::Default) | None => {}
    }
    if !is_established {
        encode_options(header, place, next, out);
    }
    protocol::DSR
}

fn encode_options(header: &Header, place: Place, next: u8, out: &mut Vec<u8>) {
    let start = out.len();
    let bits = match header.tsr {
        Some(tsr::Mark::Reply { .. }) => PROBE_REPLY,
        Some(tsr::Mark::TargetOnly) => TARGET_ONLY,
        Some(tsr::Mark::Probe { .. }) => PROBE,
        None => 0,
    };
    out.extend_from_slice(&[next, bits, 0, 0]);
    if let Some(FlowMark::Establishes(_)) = header.flow {
        out.extend_from_slice(&[option::TIMEOUT, 2]);
        put_short(out, place.flow_timeout_s);
    }
    if let Some(request) = &header.request {
        let passed = fitting(header.route.get(1..).unwrap_or_default());
        out.extend_from_slice(&[option::REQUEST, length_of(6, passed)]);
        put_short(out, request.id as u16);
        put_addresses([request.target].iter().chain(passed), out);
    }
    if let Some(reply) = &header.reply {
        let path = fitting(reply.get(1..).unwrap_or_default());
        let id = match header.tsr {
            Some(tsr::Mark::Reply { id }) => id as u8 & 0x7f,
            _ => 0,
        };
        out.extend_from_slice(&[option::REPLY, length_of(1, path), id]);
        put_addresses(path, out);
    }
    for error in &header.errors {
        put_error(NODE_UNREACHABLE, 14, header.salvaged, error.from, error.tell, out);
        out.extend_from_slice(&address::ipv4(error.to));
    }
    for unknown in &header.unknown_flows {
        let (kind, length) =
            if unknown.id.is_some() { (UNKNOWN_FLOW, 16) } else { (DEFAULT_FLOW_UNKNOWN, 14) };
        // The node that found out is the source of the packet; the source of the flow shall be told.
        put_error(kind, length, header.salvaged, place.src, unknown.src, out);
        out.extend_from_slice(&address::ipv4(unknown.dst));
        unknown.id.into_iter().for_each(|id| put_short(out, id));
    }
    if let Some(tsr::Mark::Probe { id }) = header.tsr {
        out.extend_from_slice(&[option::REQUEST, length_of(6, &[])]);
        put_short(out, id as u16);
        out.extend_from_slice(&address::ipv4(place.dst));
    }
    if header.request.is_none() && !header.route.is_empty() {
        encode_source_route(header, place, out);
    }
    match (out.len() - start).next_multiple_of(4) - (out.len() - start) {
        0 => {}
        1 => out.push(option::PAD_1),
        pad => {
            out.extend_from_slice(&[option::PAD_N, pad as u8 - 2]);
            out.resize(out.len() + pad - 2, 0);
        }
    }
    let length = (out.len() - start - 4) as u16;
    out[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// The nodes between the ends (§6.7). A packet that was salvaged has a route that begins at the node that
/// salvaged it, which is none of the IP header's.
fn encode_source_route(header: &Header, place: Place, out: &mut Vec<u8>) {
    let route = header.route.as_slice();
    let begin = usize::from(route.first() == Some(&place.src));
    let end = route.len() - usize::from(route.len() > begin && route.last() == Some(&place.dst));
    let between = fitting(&route[begin..end]);
    let passed = header.place_of(place.at).map_or(0, |place| (place + 1).saturating_sub(begin));
    let left = between.len().saturating_sub(passed).min(63) as u16;
    out.extend_from_slice(&[option::SOURCE_ROUTE, length_of(2, between)]);
    let salvaged = if begin == 0 { header.salvaged.min(15) } else { 0 };
    // F, L, four reserved bits, four for Salvage, six for Segs Left.
    put_short(out, u16::from(salvaged) << 6 | left);
    put_addresses(between, out);
}

fn put_error(kind: u8, length: u8, salvaged: u8, from: NodeId, to: NodeId, out: &mut Vec<u8>) {
    out.extend_from_slice(&[option::ERROR, length, kind, salvaged.min(15)]);
    out.extend_from_slice(&address::ipv4(from));
    out.extend_from_slice(&address::ipv4(to));
}

/// The length field of an option with `fixed` bytes and these addresses.
fn length_of(fixed: usize, addresses: &[NodeId]) -> u8 {
    (fixed + 4 * addresses.len()) as u8
}

/// As many addresses as every option has room for; a run's paths are far shorter.
fn fitting(addresses: &[NodeId]) -> &[NodeId] {
    &addresses[..addresses.len().min(62)]
}

fn put_addresses<'a>(nodes: impl IntoIterator<Item = &'a NodeId>, out: &mut Vec<u8>) {
    nodes.into_iter().for_each(|&node| out.extend_from_slice(&address::ipv4(node)));
}

/// What a header says, and what follows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded<'a> {
    /// The header. A request's `forwarders` are none of its bytes and stay 0.
    pub header: Header,
    /// The IP protocol of the payload.
    pub next: u8,
    /// The payload.
    pub payload: &'a [u8],
    /// Segs Left of the source route.
    pub segments_left: u8,
    /// Hop Count of the Flow State header.
    pub hops: u8,
    /// The Timeout option, in s.
    pub flow_timeout_s: u16,
}

/// The header of a packet between these nodes, whose IP header names protocol 48.
///
/// # Errors
/// When it is none, or has options that are not used.
pub fn decode(src: NodeId, dst: NodeId, bytes: &[u8]) -> Result<Decoded<'_>, Malformed> {
    let mut reader = Reader::new(bytes, "DSR header");
    let mut header = Header::default();
    let (mut next, mut bits) = (reader.byte()?, reader.byte()?);
    let mut decoded_hops = 0;
    let mut flow = None;
    if bits & FLOW_STATE != 0 {
        decoded_hops = bits & !FLOW_STATE;
        flow = Some(reader.short()?);
        header.flow = flow.map(FlowMark::Member);
        if next != protocol::DSR {
            let payload = reader.rest();
            return Ok(Decoded {
                header,
                next,
                payload,
                segments_left: 0,
                hops: decoded_hops,
                flow_timeout_s: 0,
            });
        }
        (next, bits) = (reader.byte()?, reader.byte()?);
    }
    if bits & !(PROBE_REPLY | TARGET_ONLY | PROBE) != 0 {
        return Err(Malformed::Wrong("a DSR header with reserved bits that are not used"));
    }
    let length = usize::from(reader.short()?);
    let is_probe = bits == PROBE;
    let mut options = Options { src, dst, is_probe, header, segments_left: 0, timeout_s: None };
    let mut content = Reader::new(reader.take(length)?, "DSR option");
    while !content.rest().is_empty() {
        options.read(&mut content)?;
    }
    let Options { mut header, segments_left, timeout_s, .. } = options;
    match (flow, timeout_s) {
        (Some(id), Some(_)) => header.flow = Some(FlowMark::Establishes(id)),
        (None, Some(_)) => return Err(Malformed::Wrong("a DSR Timeout option without a flow")),
        _ => {}
    }
    if bits == TARGET_ONLY {
        header.tsr = Some(tsr::Mark::TargetOnly);
    } else if bits & PROBE_REPLY == 0 && matches!(header.tsr, Some(tsr::Mark::Reply { .. })) {
        header.tsr = None;
    }
    let (hops, flow_timeout_s) = (decoded_hops, timeout_s.unwrap_or(0));
    Ok(Decoded { header, next, payload: reader.rest(), segments_left, hops, flow_timeout_s })
}

/// The options read so far.
struct Options {
    src: NodeId,
    dst: NodeId,
    is_probe: bool,
    header: Header,
    segments_left: u8,
    timeout_s: Option<u16>,
}

impl Options {
    fn read(&mut self, content: &mut Reader<'_>) -> Result<(), Malformed> {
        let kind = content.byte()?;
        if kind == option::PAD_1 {
            return Ok(());
        }
        let length = usize::from(content.byte()?);
        let mut of = Reader::new(content.take(length)?, "DSR option");
        match kind {
            option::PAD_N => return Ok(()),
            option::REQUEST => {
                let (id, target) = (of.short()?.into(), of.ipv4_node()?);
                if self.is_probe {
                    self.header.tsr = Some(tsr::Mark::Probe { id });
                    return Ok(());
                }
                self.header.request = Some(Request { id, target, forwarders: 0 });
                self.header.route = addresses(&[self.src], &mut of, &[])?;
            }
            option::REPLY => {
                let id = of.byte()?;
                // Its initiator is the packet's destination.
                self.header.reply = Some(addresses(&[self.dst], &mut of, &[])?);
                self.header.reply_fixed_bytes = 3;
                self.header.tsr.get_or_insert(tsr::Mark::Reply { id: id.into() });
            }
            option::ERROR => self.read_error(&mut of)?,
            option::SOURCE_ROUTE => {
                let word = of.short()?;
                let salvaged = (word >> 6 & 0xf) as u8;
                self.header.salvaged = self.header.salvaged.max(salvaged);
                self.segments_left = (word & 0x3f) as u8;
                let first = &[self.src][..usize::from(salvaged == 0)];
                self.header.route = addresses(first, &mut of, &[self.dst])?;
            }
            option::TIMEOUT => self.timeout_s = Some(of.short()?),
            _ => return Err(Malformed::Wrong("a DSR option that is not used")),
        }
        if of.rest().is_empty() { Ok(()) } else { Err(Malformed::Wrong("a DSR option of a wrong length")) }
    }

    fn read_error(&mut self, of: &mut Reader<'_>) -> Result<(), Malformed> {
        let (kind, salvaged, from, tell) = (of.byte()?, of.byte()?, of.ipv4_node()?, of.ipv4_node()?);
        self.header.salvaged = self.header.salvaged.max(salvaged & 0xf);
        let node = of.ipv4_node()?;
        match kind {
            NODE_UNREACHABLE => self.header.errors.push(LinkError { tell, from, to: node }),
            UNKNOWN_FLOW => {
                self.header.unknown_flows.push(UnknownFlow { src: tell, dst: node, id: Some(of.short()?) });
            }
            DEFAULT_FLOW_UNKNOWN => {
                self.header.unknown_flows.push(UnknownFlow { src: tell, dst: node, id: None });
            }
            _ => return Err(Malformed::Wrong("a DSR error of a type that is not used")),
        }
        Ok(())
    }
}

/// The addresses that are left in an option, between others.
fn addresses(before: &[NodeId], of: &mut Reader<'_>, after: &[NodeId]) -> Result<Route, Malformed> {
    let mut route = Route::from_slice(before);
    while !of.rest().is_empty() {
        route.push(of.ipv4_node()?);
    }
    route.extend_from_slice(after);
    Ok(route)
}
