//! The DSR options header (RFC 4728 §6): what it says, and how long it is.

use smallvec::SmallVec;

use super::ids::NodeId;
use super::tsr;

/// The nodes of a path in order, both ends included, none twice.
pub type Route = SmallVec<[NodeId; 8]>;

/// The options that a packet carries between IP and its payload.
///
/// Where a packet stands on its source route is not a field: a route holds no node twice, so every node finds
/// itself on it. Nothing in the header changes from hop to hop.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// Route Request option.
    pub request: Option<Request>,
    /// Route Reply option: a path from the initiator of a discovery to its target.
    pub reply: Option<Route>,
    /// Route Error options, the newest last.
    pub errors: SmallVec<[LinkError; 1]>,
    /// DSR Source Route option; in a request the nodes that it has passed, its initiator first.
    pub route: Route,
    /// How often the packet was salvaged.
    pub salvaged: u8,
    /// Bytes of a Route Reply before its addresses, which differ between the standard and ns-2.
    pub reply_fixed_bytes: u8,
    /// Was the Route Reply sent to shorten a route (§3.4.3), rather than asked for? It is not on the air.
    pub shortens: bool,
    /// The number of the packet that this one was made of when it was overheard, if that is what those who
    /// overhear it know it by. It is not on the air.
    pub copy_of: Option<u64>,
    /// Bytes of headers that the packet had before, and that ns-2 goes on charging.
    pub stale_bytes: u16,
    /// The flow that the packet belongs to, if it is sent by flow state.
    pub flow: Option<FlowMark>,
    /// Errors about flows that are not known, the newest last.
    pub unknown_flows: SmallVec<[UnknownFlow; 1]>,
    /// What the packet is to TSR, which nodes that run DSR do not understand.
    pub tsr: Option<tsr::Mark>,
}

/// What a packet that is sent by flow state says of its flow (RFC 4728 §3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowMark {
    /// A DSR Flow State header and a Timeout option beside the source route: nodes on it remember the flow.
    Establishes(u16),
    /// A DSR Flow State header, and nothing else.
    Member(u16),
    /// Nothing: it belongs to the default flow of its source and destination.
    Default,
}

/// A flow that a node was to forward and does not know (RFC 4728 §3.5.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownFlow {
    /// The source of the flow, which shall be told.
    pub src: NodeId,
    /// Its destination.
    pub dst: NodeId,
    /// Its number; none if the default flow is not known.
    pub id: Option<u16>,
}

/// A request for a route (RFC 4728 §6.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// With the initiator it names the request.
    pub id: u32,
    /// Who is sought.
    pub target: NodeId,
    /// Nodes that may still send it on, counted from the initiator: 0 asks neighbours only.
    pub forwarders: u32,
}

/// A link that failed (RFC 4728 §6.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkError {
    /// The node that shall be told; broadcast if the error rides on a request.
    pub tell: NodeId,
    /// The node that found out.
    pub from: NodeId,
    /// The neighbour that it could not reach.
    pub to: NodeId,
}

impl LinkError {
    /// Does the path use the link in the direction in which it failed?
    pub fn breaks(&self, path: &[NodeId]) -> bool {
        path.windows(2).any(|link| link == [self.from, self.to])
    }
}

const FIXED_BYTES: u32 = 4;
const REQUEST_BYTES: u32 = 8;
const ERROR_BYTES: u32 = 16;
const ADDRESS_BYTES: u32 = 4;
/// A DSR Flow State header (§7.1), and the Timeout option (§7.2).
const FLOW_BYTES: u32 = 4;
const TIMEOUT_BYTES: u32 = 4;
const UNKNOWN_FLOW_BYTES: u32 = 14;
const UNKNOWN_DEFAULT_BYTES: u32 = 12;

impl Header {
    /// Its length in bytes: the fixed part and each option (RFC 4728 §6.1–6.7), padded to a multiple of four.
    /// The ends of a source route stand in the IP header; its option has four bytes of its own. A packet of
    /// an established flow has no options.
    pub fn bytes(&self) -> u32 {
        let flow_bytes = match self.flow {
            None => 0,
            Some(FlowMark::Establishes(_)) => FLOW_BYTES + TIMEOUT_BYTES,
            Some(FlowMark::Member(_)) => FLOW_BYTES,
            Some(FlowMark::Default) => 0,
        };
        if self.flow.is_some() && self.route.is_empty() && self.unknown_flows.is_empty() {
            return flow_bytes;
        }
        let addresses = |nodes: usize| ADDRESS_BYTES * (nodes as u32).saturating_sub(1);
        let mut bytes = FIXED_BYTES + flow_bytes + addresses(self.route.len()) + u32::from(self.stale_bytes);
        if self.request.is_some() {
            bytes += REQUEST_BYTES;
        }
        if let Some(reply) = &self.reply {
            bytes += u32::from(self.reply_fixed_bytes) + addresses(reply.len());
        }
        bytes += ERROR_BYTES * self.errors.len() as u32;
        for unknown in &self.unknown_flows {
            bytes += if unknown.id.is_some() { UNKNOWN_FLOW_BYTES } else { UNKNOWN_DEFAULT_BYTES };
        }
        bytes += self.tsr.map_or(0, tsr::Mark::bytes);
        bytes.next_multiple_of(4)
    }

    /// What a packet with this header alone is called in recordings.
    pub fn name(&self) -> &'static str {
        self.tsr.and_then(tsr::Mark::name).unwrap_or(match (&self.request, &self.reply) {
            (Some(_), _) => "rreq",
            (None, Some(_)) => "rrep",
            (None, None) => "rerr",
        })
    }

    /// Why a packet from `src` with this header alone was made, for recordings (docs/recording.md).
    pub fn cause(&self, src: NodeId) -> &'static str {
        match (&self.request, &self.reply, self.errors.last()) {
            (Some(request), ..) => ["neighbours", "all"][usize::from(request.forwarders > 0)],
            (None, Some(_), _) if self.shortens => "shorter",
            (None, Some(reply), _) => ["cache", "target"][usize::from(reply.last() == Some(&src))],
            (None, None, Some(error)) if error.from != src => "unwrapped",
            (None, None, Some(_)) => ["broken", "nested"][usize::from(self.errors.len() > 1)],
            (None, None, None) if self.tsr.is_some() => "held",
            (None, None, None) => "unknown-flow",
        }
    }

    /// Where `node` stands on the source route.
    pub fn place_of(&self, node: NodeId) -> Option<usize> {
        self.route.iter().position(|other| *other == node)
    }

    /// The node after `node` on the source route.
    pub fn next_hop_of(&self, node: NodeId) -> Option<NodeId> {
        self.place_of(node).and_then(|place| self.route.get(place + 1).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(nodes: &[u32]) -> Route {
        nodes.iter().map(|node| NodeId(*node)).collect()
    }

    /// RFC 4728: §6.1 four bytes, §6.7 four and four an address between the ends.
    #[test]
    fn a_source_route_of_three_hops_is_sixteen_bytes() {
        assert_eq!(Header { route: path(&[1, 2, 3, 4]), ..Header::default() }.bytes(), 4 + 4 + 2 * 4);
        assert_eq!(Header { route: path(&[1, 2]), ..Header::default() }.bytes(), 8, "no address between");
    }

    /// §6.2: eight bytes and four for each node that the request has passed after its initiator.
    #[test]
    fn a_request_grows_by_an_address_a_hop() {
        let request = Some(Request { id: 1, target: NodeId(9), forwarders: 16 });
        let after =
            |hops: u32| Header { request, route: (0..=hops).map(NodeId).collect(), ..Header::default() };
        assert_eq!([after(0).bytes(), after(1).bytes(), after(5).bytes()], [12, 16, 32]);
    }

    /// §6.3: three bytes and the addresses after the initiator's, padded (§6.8).
    #[test]
    fn a_reply_is_padded_to_words() {
        let header = Header {
            reply: Some(path(&[1, 2, 3])),
            route: path(&[3, 2, 1]),
            reply_fixed_bytes: 3,
            ..Header::default()
        };
        assert_eq!(header.bytes(), 4 + (4 + 4) + (3 + 8) + 1);
    }

    /// A probe along a path is as long as a request that has passed all its nodes but the last and is about
    /// to reach that; its answer is as long as the reply to that request.
    #[test]
    fn probes_have_the_lengths_of_requests_and_replies() {
        let route = path(&[1, 2, 3]);
        let probe =
            Header { route: route.clone(), tsr: Some(tsr::Mark::Probe { id: 7 }), ..Header::default() };
        let request = Some(Request { id: 7, target: NodeId(3), forwarders: 16 });
        let asked = Header { request, route: path(&[1, 2]), ..Header::default() };
        assert_eq!((probe.bytes(), probe.name()), (asked.bytes() + 4, "probe"), "a source route has 4 bytes");
        let reply =
            Header { reply: Some(route), route: path(&[3, 2, 1]), reply_fixed_bytes: 3, ..Header::default() };
        let answer = Header { tsr: Some(tsr::Mark::Reply { id: 7 }), ..reply.clone() };
        assert_eq!((answer.bytes(), answer.name()), (reply.bytes(), "probe-reply"));
        let asks_target = Header { tsr: Some(tsr::Mark::TargetOnly), ..asked.clone() };
        assert_eq!((asks_target.bytes(), asks_target.name()), (asked.bytes(), "rreq"));
    }

    /// §6.4: sixteen bytes an error, type-specific information included.
    #[test]
    fn nested_errors_add_up() {
        let error = LinkError { tell: NodeId(1), from: NodeId(3), to: NodeId(4) };
        let errors = SmallVec::from_elem(error, 2);
        let header = Header { errors, route: path(&[3, 2, 1]), ..Header::default() };
        assert_eq!(header.bytes(), 4 + 8 + 32);
    }

    #[test]
    fn an_error_breaks_a_path_in_its_own_direction_only() {
        let error = LinkError { tell: NodeId(1), from: NodeId(3), to: NodeId(4) };
        assert!(error.breaks(&path(&[2, 3, 4, 5])));
        assert!(!error.breaks(&path(&[5, 4, 3, 2])));
        assert!(!error.breaks(&path(&[3, 5, 4])));
    }

    /// RFC 4728 §7.1, §7.2: four bytes for the flow, four for its time-out. ns-2.35's errors about flows have
    /// 14 bytes, those about default flows 12.
    #[test]
    fn a_packet_of_a_flow_has_a_short_header_or_none() {
        let of = |flow: FlowMark, nodes: &[u32]| {
            Header { flow: Some(flow), route: path(nodes), ..Header::default() }.bytes()
        };
        assert_eq!(of(FlowMark::Establishes(1), &[1, 2, 3, 4]), 16 + 4 + 4);
        assert_eq!((of(FlowMark::Member(1), &[]), of(FlowMark::Default, &[])), (4, 0));
        let error = |id: Option<u16>| {
            let unknown = UnknownFlow { src: NodeId(1), dst: NodeId(9), id };
            Header {
                unknown_flows: SmallVec::from_elem(unknown, 1),
                route: path(&[3, 2, 1]),
                ..Header::default()
            }
        };
        assert_eq!((error(Some(1)).bytes(), error(None).bytes()), (4 + 8 + 14 + 2, 4 + 8 + 12));
        let sent_by_flow = Header { flow: Some(FlowMark::Default), route: Route::new(), ..error(None) };
        assert_eq!(sent_by_flow.bytes(), 4 + 12);
    }

    #[test]
    fn a_message_says_why_it_was_made() {
        let error = LinkError { tell: NodeId(1), from: NodeId(3), to: NodeId(4) };
        let ask = |forwarders: u32| Header {
            request: Some(Request { id: 1, target: NodeId(9), forwarders }),
            ..Header::default()
        };
        let reply = |shortens: bool| Header { reply: Some(path(&[1, 2, 3])), shortens, ..Header::default() };
        let errors = |count: usize| Header { errors: SmallVec::from_elem(error, count), ..Header::default() };
        let causes = [ask(0).cause(NodeId(1)), ask(16).cause(NodeId(1))];
        assert_eq!(causes, ["neighbours", "all"]);
        let causes =
            [reply(false).cause(NodeId(3)), reply(false).cause(NodeId(2)), reply(true).cause(NodeId(3))];
        assert_eq!(causes, ["target", "cache", "shorter"]);
        let causes = [errors(1).cause(NodeId(3)), errors(2).cause(NodeId(3)), errors(1).cause(NodeId(2))];
        assert_eq!(causes, ["broken", "nested", "unwrapped"]);
        assert_eq!(Header::default().cause(NodeId(3)), "unknown-flow");
    }
}
