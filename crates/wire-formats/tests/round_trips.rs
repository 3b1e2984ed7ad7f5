//! What is encoded comes back when it is decoded, and no bytes whatsoever make a decoder panic.

use manetlab_core::kernel::{Span, Time};
use manetlab_core::wire::aodv::{Hello, Rerr, Rrep, Rreq, Unreachable};
use manetlab_core::wire::arp::ArpMessage;
use manetlab_core::wire::dsr::{FlowMark, Header, LinkError, Request, Route, UnknownFlow};
use manetlab_core::wire::insignia::{Indicator, Mode, Part, Service};
use manetlab_core::wire::tcp::SegmentRanges;
use manetlab_core::wire::{
    ConnectionId, Ecn, FlowId, NodeId, abr, adp, adv, aodv, babel, batman, cedar, dsdv, dymo, lunar, olsr,
    psp, rip, rtp, ssa, tora, tsr, zrp,
};
use manetlab_wire_formats::address::{self, LAST_NODE};
use manetlab_wire_formats::tcp::{Door, Flags, Options};
use manetlab_wire_formats::udp::Ports;
use manetlab_wire_formats::{Malformed, arp, dot11, ipv4, llc, own, radiotap, stack, tcp, udp};
use proptest::collection::vec;
use proptest::prelude::*;

fn node() -> impl Strategy<Value = NodeId> {
    prop_oneof![(0..100_u32).prop_map(NodeId), (0..=LAST_NODE).prop_map(NodeId)]
}

fn node_or_all() -> impl Strategy<Value = NodeId> {
    prop_oneof![4 => node(), 1 => Just(NodeId::BROADCAST)]
}

/// Times of whole milliseconds that fit 32 bits of µs.
fn time() -> impl Strategy<Value = Time> {
    (0..4_000_000_u64).prop_map(|ms| Time(ms * 1_000_000))
}

fn lifetime() -> impl Strategy<Value = Span> {
    (0..=u64::from(u32::MAX)).prop_map(|ms| Span(ms * 1_000_000))
}

fn encoded(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = b"before".to_vec();
    encode(&mut out);
    assert_eq!(&out[..6], b"before", "encoders append");
    out.split_off(6)
}

fn aodv_message() -> impl Strategy<Value = aodv::Message> {
    let rreq = (any::<(u32, u32, Option<u32>, u8, bool, bool)>(), node(), node()).prop_map(
        |((id, origin_seqno, dst_seqno, hop_count, gratuitous, destination_only), origin, dst)| {
            let made = Time::ZERO;
            aodv::Message::Rreq(Rreq {
                id,
                origin,
                origin_seqno,
                dst,
                dst_seqno,
                hop_count,
                gratuitous,
                destination_only,
                made,
            })
        },
    );
    let rrep = (node(), any::<(u32, u8, bool)>(), node(), lifetime())
        .prop_filter("a hello", |(dst, (_, hops, _), origin, _)| dst != origin || *hops > 0)
        .prop_map(|(dst, (dst_seqno, hop_count, acknowledge), origin, lifetime)| {
            let made = Time::ZERO;
            aodv::Message::Rrep(Rrep { dst, dst_seqno, origin, hop_count, lifetime, acknowledge, made })
        });
    let unreachable = (node(), any::<u32>()).prop_map(|(dst, seqno)| Unreachable { dst, seqno });
    let rerr = (any::<bool>(), vec(unreachable, 0..255)).prop_map(|(no_delete, unreachable)| {
        aodv::Message::Rerr(Rerr { no_delete, unreachable: unreachable.into() })
    });
    let heard = proptest::option::of(vec(node(), 0..200).prop_map(Into::into));
    let hello = (node(), any::<u32>(), lifetime(), heard).prop_map(|(node, seqno, lifetime, heard)| {
        aodv::Message::Hello(Hello { node, seqno, lifetime, heard })
    });
    prop_oneof![rreq, rrep, rerr, hello, Just(aodv::Message::RrepAck)]
}

/// Between these, with nodes that are neither.
const SRC: NodeId = NodeId(500);
const DST: NodeId = NodeId(501);

fn route(from: NodeId, to: NodeId) -> impl Strategy<Value = Route> {
    vec((0..400_u32).prop_map(NodeId), 0..20)
        .prop_map(move |between| [from].into_iter().chain(between).chain([to]).collect())
}

fn link_error() -> impl Strategy<Value = LinkError> {
    (node_or_all(), node(), node()).prop_map(|(tell, from, to)| LinkError { tell, from, to })
}

fn unknown_flow() -> impl Strategy<Value = UnknownFlow> {
    (node(), node(), any::<Option<u16>>()).prop_map(|(src, dst, id)| UnknownFlow { src, dst, id })
}

/// Headers as nodes make them: a request, or a source route with whatever rides on it, or a flow's.
fn dsr_header() -> impl Strategy<Value = Header> {
    let errors = || (vec(link_error(), 0..3), vec(unknown_flow(), 0..2));
    let request = (any::<u16>(), node(), vec(node(), 0..16), errors(), any::<bool>()).prop_map(
        |(id, target, passed, (errors, unknown_flows), target_only)| Header {
            request: Some(Request { id: id.into(), target, forwarders: 0 }),
            route: [SRC].into_iter().chain(passed).collect(),
            errors: errors.into(),
            unknown_flows: unknown_flows.into(),
            tsr: target_only.then_some(tsr::Mark::TargetOnly),
            ..Header::default()
        },
    );
    let along = (route(SRC, DST), proptest::option::of(route(DST, NodeId(9))), errors(), 0..4_u32).prop_map(
        |(route, reply, (errors, unknown_flows), mark)| Header {
            reply_fixed_bytes: if reply.is_some() { 3 } else { 0 },
            tsr: match (mark, &reply) {
                (0, None) => Some(tsr::Mark::Probe { id: 7_777 }),
                (0, Some(_)) => Some(tsr::Mark::Reply { id: 77 }),
                _ => None,
            },
            route,
            reply,
            errors: errors.into(),
            unknown_flows: unknown_flows.into(),
            ..Header::default()
        },
    );
    let salvaged = (vec(node(), 1..9), 1..16_u8).prop_map(|(route, salvaged)| Header {
        route: route.into_iter().chain([DST]).collect(),
        salvaged,
        ..Header::default()
    });
    let flow = (any::<u16>(), proptest::option::of(route(SRC, DST))).prop_map(|(id, route)| match route {
        Some(route) => Header { flow: Some(FlowMark::Establishes(id)), route, ..Header::default() },
        None => Header { flow: Some(FlowMark::Member(id)), ..Header::default() },
    });
    prop_oneof![request, along, salvaged, flow]
}

fn tcp_header() -> impl Strategy<Value = tcp::Header> {
    let door =
        any::<(u32, bool)>().prop_map(|(count, out_of_order)| Door { count: count >> 1, out_of_order });
    // As much as has room: 40 bytes.
    let options = prop_oneof![
        any::<(u16, u8, bool, (u32, u32))>().prop_map(|(mss, shift, sack_permitted, stamps)| Options {
            mss: Some(mss),
            window_shift: Some(shift),
            sack_permitted,
            timestamps: Some(stamps),
            ..Options::default()
        }),
        (vec(any::<(u32, u32)>(), 0..3), any::<Option<(u32, u32)>>(), proptest::option::of(door)).prop_map(
            |(mut sack, timestamps, door)| {
                sack.truncate(if timestamps.is_some() && door.is_some() { 2 } else { 3 });
                Options { sack: sack.into(), timestamps, door, ..Options::default() }
            }
        ),
        vec(any::<(u32, u32)>(), 0..5).prop_map(|sack| Options { sack: sack.into(), ..Options::default() }),
    ];
    let flags = any::<[bool; 4]>().prop_map(|[syn, ack, ece, cwr]| Flags { syn, ack, ece, cwr });
    (any::<(u16, u16, u32, u32, u16)>(), flags, options).prop_map(
        |((src_port, dst_port, seq, ack, window), flags, options)| tcp::Header {
            src_port,
            dst_port,
            seq,
            ack,
            flags,
            window,
            options,
        },
    )
}

fn rtcp() -> impl Strategy<Value = rtp::Rtcp> {
    let last = any::<Option<(u32, u32)>>().prop_filter("none", |last| *last != Some((0, 0)));
    let report = (any::<(u8, u32, u32)>(), -8_388_608..8_388_608_i32, last).prop_map(
        |((fraction_lost, highest, jitter), cumulative_lost, last_sender_report)| rtp::Report {
            fraction_lost,
            cumulative_lost,
            highest,
            jitter,
            last_sender_report,
        },
    );
    let sent = (0..u64::from(u32::MAX) * 1_000_000_000).prop_map(Time);
    let sender =
        (sent, any::<(u32, u32, u32, bool)>()).prop_map(|(sent, (timestamp, packets, octets, bye))| {
            let report = rtp::SenderReport { sent, timestamp, packets, octets };
            if bye { rtp::Rtcp::Bye(report) } else { rtp::Rtcp::Sender(report) }
        });
    prop_oneof![report.prop_map(rtp::Rtcp::Receiver), sender]
}

fn rtp_header() -> impl Strategy<Value = rtp::Header> {
    any::<(u16, u32, bool)>().prop_map(|(sequence, timestamp, marker)| rtp::Header {
        sequence,
        timestamp,
        marker,
    })
}

fn adv_message() -> impl Strategy<Value = adv::Message> {
    use adv::{FloodKind, Response};
    let response =
        prop::sample::select(vec![Response::Zero, Response::Low, Response::Medium, Response::High]);
    let entry = (node(), 0..own::adv::SEQNO_MODULUS, any::<(u8, bool)>(), response).prop_map(
        |(dst, seqno, (metric, is_receiver), expected_response)| adv::Entry {
            dst,
            seqno,
            metric,
            is_receiver,
            expected_response,
        },
    );
    let update = (any::<bool>(), vec(entry, 0..50))
        .prop_map(|(full, entries)| adv::Message::Update(adv::Update { full, entries: entries.into() }));
    let kind = prop::sample::select(vec![
        FloodKind::InitConnection,
        FloodKind::ReceiverAlert,
        FloodKind::EndConnection,
        FloodKind::NonReceiverAlert,
    ]);
    let flood = (kind, node(), any::<(u32, u32, bool, u8)>(), node()).prop_map(
        |(kind, origin, (seqno, id, two_way, hops), receiver)| {
            adv::Message::Flood(adv::Flood { kind, origin, seqno, id, receiver, two_way, hops })
        },
    );
    prop_oneof![update, flood]
}

fn ssa_message() -> impl Strategy<Value = ssa::Message> {
    use ssa::{Kind, Message, Preference};
    let kinds = vec![Kind::Beacon, Kind::Search, Kind::Reply, Kind::Error, Kind::Erase];
    let preferences = vec![Preference::StrongOnly, Preference::StrongPreferred, Preference::Any];
    let chosen = (prop::sample::select(kinds), prop::sample::select(preferences));
    (chosen, any::<(u8, u32)>(), node(), node_or_all(), vec(node(), 0..12)).prop_map(
        |((kind, preference), (ttl, number), source, destination, nodes)| {
            let nodes = nodes.into();
            Message { kind, preference, ttl, source, destination, number, nodes }
        },
    )
}

fn abr_message() -> impl Strategy<Value = abr::Message> {
    use abr::{Hop, Kind, Message};
    let queries = prop::sample::select(vec![Kind::Bq, Kind::Lq]);
    let others = vec![Kind::Beacon, Kind::Reply, Kind::RnBack, Kind::RnToSource, Kind::RnErase, Kind::Rd];
    let hop = (node(), any::<(u32, u16)>()).prop_map(|(node, (ticks, load))| Hop { node, ticks, load });
    let content = prop_oneof![
        (queries, vec(hop, 0..12)).prop_map(|(kind, hops)| (kind, hops, vec![])),
        (prop::sample::select(others), vec(node(), 0..12)).prop_map(|(kind, nodes)| (kind, vec![], nodes)),
    ];
    (content, any::<(u8, u8, u32)>(), node(), node_or_all()).prop_map(
        |((kind, hops, nodes), (ttl, before, number), source, destination)| {
            let (hops, nodes) = (hops.into(), nodes.into());
            Message { kind, ttl, before, source, destination, number, hops, nodes }
        },
    )
}

fn own_message() -> impl Strategy<Value = own::Message> {
    let entry =
        (node(), any::<(u8, u32)>()).prop_map(|(dst, (metric, seqno))| dsdv::Entry { dst, metric, seqno });
    let dsdv = (any::<bool>(), vec(entry, 1..50))
        .prop_map(|(full, entries)| own::Message::Dsdv(dsdv::Update { full, entries: entries.into() }));
    let flow = (0..=0xffff_u32).prop_map(FlowId);
    let adp_data =
        (flow.clone(), any::<(u32, u32)>(), time(), 0..2000_u32, proptest::option::of(rtp_header()))
            .prop_map(|(flow, (number, message), sent, payload, rtp)| {
                let segment = adp::Segment::Data { number, sent, message, payload };
                own::Message::Adp(own::adp::Packet { flow, segment, rtp, vector_bytes: 0 })
            });
    let adp_ack = (flow, any::<(u32, u32, u32)>(), time(), 0..5_u8).prop_map(
        |(flow, (number, count, vector), echo, vector_bytes)| {
            let vector = (u64::from(vector) & ((1 << (8 * vector_bytes)) - 1)) as u32;
            let segment = adp::Segment::Ack { number, count, echo, vector };
            own::Message::Adp(own::adp::Packet { flow, segment, rtp: None, vector_bytes })
        },
    );
    let psp = (any::<bool>(), 0..=0xffff_u32, any::<(u32, u32, u32)>(), any::<(u16, u16)>()).prop_map(
        |(is_data, flow, (number, micros, message), (sent, received))| {
            let span = Span(u64::from(micros) * 1000);
            let segment = if is_data {
                psp::Segment::Data { number, rtt: span, message, payload: u32::from(sent) % 2000 }
            } else {
                psp::Segment::Ack { newest: number, held: span, sent: sent.into(), received: received.into() }
            };
            own::Message::Psp(own::psp::Packet { flow: FlowId(flow), segment })
        },
    );
    let kept = proptest::option::of(vec(any::<(u32, u32)>(), 0..20).prop_map(SegmentRanges::from));
    let bus = (any::<(u32, u32)>(), node(), kept).prop_map(|((flow, number), dst, kept)| {
        let connection = ConnectionId { flow: FlowId(flow), number };
        own::Message::Bus(own::bus::Message { connection, dst, kept })
    });
    let custom = (1..1000_usize).prop_map(own::Message::Custom);
    let header = (any::<u8>(), 4..200_u16)
        .prop_map(|(next, bytes)| own::Message::Header(own::custom::Header { next, bytes }));
    let ssa = ssa_message().prop_map(own::Message::Ssa);
    let abr = abr_message().prop_map(own::Message::Abr);
    let cedar = cedar_message().prop_map(own::Message::Cedar);
    let route = (vec(node(), 1..20), any::<u8>(), any::<u8>()).prop_map(|(route, at, next)| {
        let at = at % route.len() as u8;
        own::Message::CedarRoute(cedar::SourceRoute { route: route.into(), at }, next)
    });
    let adv = adv_message().prop_map(own::Message::Adv);
    let zrp = zrp_message().prop_map(own::Message::Zrp);
    let path = (vec(node(), 0..20), any::<u8>())
        .prop_map(|(path, next)| own::Message::ZrpRoute(zrp::SourceRoute { path: path.into() }, next));
    let with_routes = prop_oneof![cedar, route, zrp, path];
    prop_oneof![adv, dsdv, ssa, abr, adp_data, adp_ack, psp, bus, with_routes, custom, header]
}

fn encode_own(message: &own::Message, out: &mut Vec<u8>) {
    match message {
        own::Message::Adv(message) => own::adv::encode(message, out),
        own::Message::Dsdv(update) => own::dsdv::encode(update, out),
        own::Message::Tora(packet) => own::tora::encode(packet, out),
        own::Message::Abr(message) => own::abr::encode(message, out),
        own::Message::Ssa(message) => own::ssa::encode(message, out),
        own::Message::Adp(packet) => own::adp::encode(packet, out),
        own::Message::Psp(packet) => own::psp::encode(packet, out),
        own::Message::Bus(message) => own::bus::encode(message, out),
        own::Message::Cedar(message) => own::cedar::encode(message, out),
        own::Message::CedarRoute(route, next) => own::cedar::encode_route(route, *next, out),
        own::Message::Zrp(message) => own::zrp::encode(message, out),
        own::Message::ZrpRoute(route, next) => own::zrp::encode_route(route, *next, out),
        own::Message::Custom(bytes) => own::custom::encode(*bytes, out),
        own::Message::Header(header) => own::custom::encode_header(*header, out),
    }
}

fn insignia_option() -> impl Strategy<Value = Service> {
    let flags = any::<(bool, bool, bool)>();
    (flags, 1..=u16::MAX, 1..=u16::MAX).prop_map(|((reserved, enhanced, max), one, other)| Service {
        mode: if reserved { Mode::Reserved } else { Mode::BestEffort },
        part: if enhanced { Part::Enhanced } else { Part::Base },
        indicator: if max { Indicator::Max } else { Indicator::Min },
        max_kbps: one.max(other),
        min_kbps: one.min(other),
    })
}

fn olsr_message() -> impl Strategy<Value = olsr::Message> {
    use olsr::{Content, Hello, LinkType, Listed, Message, NeighbourType, Qualities, Tc, TimeCode};
    let links = [LinkType::Unspecified, LinkType::Asymmetric, LinkType::Symmetric, LinkType::Lost];
    let neighbours = [NeighbourType::Not, NeighbourType::Symmetric, NeighbourType::Mpr];
    let listed = (node(), 0..4_usize, 0..3_usize, any::<(u8, u8)>());
    let header = (any::<(u8, u8, u8, u16)>(), node());
    let fields = (any::<bool>(), any::<bool>(), any::<(u16, u8, u8)>(), vec(listed, 0..30));
    (header, fields).prop_map(move |((header, origin), (is_hello, has_qualities, fixed, listed))| {
        let (validity, ttl, hops, number) = header;
        let (ansn, interval, willingness) = fixed;
        let qualities =
            |(here, there)| if has_qualities { Qualities { here, there } } else { Qualities::default() };
        let content = if is_hello {
            let listed = listed.into_iter().map(|(node, link, neighbour, said)| Listed {
                node,
                link: links[link],
                neighbour: neighbours[neighbour],
                qualities: qualities(said),
            });
            let listed = listed.collect();
            Content::Hello(Hello { interval: TimeCode(interval), willingness, has_qualities, listed })
        } else {
            let advertised = listed.into_iter().map(|(node, _, _, said)| (node, qualities(said))).collect();
            Content::Tc(Tc { ansn, has_qualities, advertised })
        };
        Message { validity: TimeCode(validity), origin, ttl, hops, number, content }
    })
}

fn batman_packet() -> impl Strategy<Value = batman::Packet> {
    use batman::{Form, Ogm, Packet};
    let form = prop_oneof![(0..60_u16).prop_map(|tvlv_bytes| Form::Adv { tvlv_bytes }), Just(Form::Daemon)];
    let ogm = (node(), node(), any::<(u32, u8, u8, bool, bool)>());
    (form, vec(ogm, 1..20)).prop_map(|(form, ogms)| {
        let ogm = |(origin, previous, (seqno, ttl, tq, is_direct, is_not_best))| {
            let seqno = if form == Form::Daemon { seqno & 0xffff } else { seqno };
            Ogm { origin, previous, seqno, ttl, tq, is_direct, is_not_best }
        };
        Packet { form, ogms: ogms.into_iter().map(ogm).collect() }
    })
}

fn rip_message() -> impl Strategy<Value = rip::Message> {
    use rip::{Entry, INFINITY, MAX_ENTRIES, Message};
    let entry = (node(), proptest::option::of(node()), 1..=INFINITY)
        .prop_map(|(dst, next_hop, metric)| Entry { dst, next_hop, metric });
    let response = vec(entry, 0..=MAX_ENTRIES).prop_map(|entries| Message::Response(entries.into()));
    prop_oneof![Just(Message::Request), response]
}

fn babel_packet() -> impl Strategy<Value = babel::Packet> {
    use babel::{INFINITY, Tlv};
    let hello = any::<(u16, u16)>().prop_map(|(seqno, interval)| Tlv::Hello { seqno, interval });
    let ihu = (node(), any::<(bool, u16, u16)>()).prop_map(|(to, (link_local, rxcost, interval))| Tlv::Ihu {
        to,
        link_local,
        rxcost,
        interval,
    });
    let update = (node(), any::<(u16, u16, u16)>())
        .prop_map(|(prefix, (interval, seqno, metric))| Tlv::Update { prefix, interval, seqno, metric });
    let request = (node(), any::<(u16, u8)>(), node()).prop_map(|(prefix, (seqno, hop_count), router)| {
        Tlv::SeqnoRequest { prefix, seqno, hop_count, router }
    });
    let others = (0..4, node(), any::<u16>()).prop_map(|(which, node, interval)| match which {
        0 => Tlv::RouterId(node),
        1 => Tlv::NextHop(node),
        2 => Tlv::RouteRequest((interval < INFINITY / 2).then_some(node)),
        _ => Tlv::RetractAll { interval },
    });
    vec(prop_oneof![hello, ihu, update, request, others], 1..40)
        .prop_map(|tlvs| babel::Packet { tlvs: tlvs.into() })
}

fn olsr_packet() -> impl Strategy<Value = olsr::Packet> {
    (any::<u16>(), vec(olsr_message(), 1..6))
        .prop_map(|(number, messages)| olsr::Packet { number, messages: messages.into() })
}

fn lunar_header() -> impl Strategy<Value = own::lunar::Header> {
    use lunar::{Message, Rrep, Rreq, Selector, Series};
    let series = (node(), any::<u32>()).prop_map(|(origin, number)| Series { origin, number });
    let selectors = (any::<u64>(), any::<u64>()).prop_map(|(one, other)| (Selector(one), Selector(other)));
    (series, selectors, node(), node(), any::<u8>(), 0..3_u8).prop_map(
        |(series, (one, other), target, sender, hops_left, which)| match which {
            0 => own::lunar::Header::Label(one),
            1 => {
                let message = Message::Rreq(Rreq { series, target, reply_to: one, hops_left });
                own::lunar::Header::Message { message, sender }
            }
            _ => {
                let message = Message::Rrep(Rrep { series, reply_to: one, forward: other });
                own::lunar::Header::Message { message, sender }
            }
        },
    )
}

fn dot11_header() -> impl Strategy<Value = dot11::Header> {
    (0..=dot11::MAX_DURATION_US, node_or_all(), node(), 0..4096_u16, any::<bool>(), 0..4_u8).prop_map(
        |(duration_us, to, from, sequence, retry, kind)| match kind {
            0 => dot11::Header::Data { duration_us, to, from, sequence, retry },
            1 => dot11::Header::Rts { duration_us, to, from },
            2 => dot11::Header::Cts { duration_us, to },
            _ => dot11::Header::Ack { duration_us, to },
        },
    )
}

proptest! {
    #[test]
    fn addresses_come_back(node in node_or_all()) {
        prop_assert_eq!(address::node_of_ipv4(address::ipv4(node)), Ok(node));
        prop_assert_eq!(address::node_of_mac(address::mac(node)), Ok(node));
    }

    #[test]
    fn radiotap_headers_come_back(
        (tsft_us, short_preamble, rate, signal_dbm) in any::<(u64, bool, u8, Option<i8>)>(),
    ) {
        let header = radiotap::Header { tsft_us, short_preamble, rate, signal_dbm };
        let bytes = encoded(|out| radiotap::encode(&header, out));
        prop_assert_eq!(radiotap::decode(&bytes), Ok((header, &[][..])));
    }

    #[test]
    fn mac_headers_come_back(header in dot11_header()) {
        let bytes = encoded(|out| dot11::encode(header, out));
        prop_assert_eq!(dot11::decode(&bytes), Ok((header, &[][..])));
    }

    #[test]
    fn llc_headers_come_back(ether_type in any::<u16>()) {
        let bytes = encoded(|out| llc::encode(ether_type, out));
        prop_assert_eq!(llc::decode(&bytes), Ok((ether_type, &[][..])));
    }

    #[test]
    fn arp_packets_come_back(from in node(), other in node(), is_reply in any::<bool>()) {
        let message = if is_reply {
            ArpMessage::Reply { from, to: other }
        } else {
            ArpMessage::Request { from, wanted: other }
        };
        prop_assert_eq!(arp::decode(&encoded(|out| arp::encode(message, out))), Ok(message));
    }

    #[test]
    fn ip_headers_come_back(
        (identification, ttl, protocol) in any::<(u16, u8, u8)>(), ecn in 0..3_u8,
        src in node(), dst in node_or_all(), payload in vec(any::<u8>(), 0..40),
        service in proptest::option::of(insignia_option()),
    ) {
        let ecn = [Ecn::NotEct, Ecn::Ect, Ecn::Ce][usize::from(ecn)];
        let header =
            ipv4::Header { total_length: 0, identification, ttl, protocol, ecn, src, dst, service };
        let total_length = (header.bytes() + payload.len()) as u16;
        let header = ipv4::Header { total_length, ..header };
        let mut bytes = encoded(|out| ipv4::encode(&header, out));
        bytes.extend_from_slice(&payload);
        prop_assert_eq!(ipv4::decode(&bytes), Ok((header, &payload[..])));
    }

    #[test]
    fn udp_datagrams_come_back(
        src in node(), dst in node_or_all(), (src_port, dst_port) in any::<(u16, u16)>(),
        payload in vec(any::<u8>(), 0..60),
    ) {
        let ports = Ports { src: src_port, dst: dst_port };
        let bytes = encoded(|out| udp::encode(src, dst, ports, out, |out| out.extend_from_slice(&payload)));
        prop_assert_eq!(udp::decode(src, dst, &bytes), Ok((ports, &payload[..])));
    }

    #[test]
    fn tcp_segments_come_back(src in node(), dst in node(), header in tcp_header(), payload in 0..60_usize) {
        let bytes = encoded(|out| tcp::encode(src, dst, &header, payload, out));
        let (decoded, zeros) = tcp::decode(src, dst, &bytes).unwrap();
        prop_assert_eq!((decoded, zeros.len()), (header, payload));
    }

    /// A checksum finds every error of a single bit.
    #[test]
    fn a_wrong_bit_is_found(header in tcp_header(), payload in 0..60_usize, place in any::<prop::sample::Index>()) {
        let mut bytes = encoded(|out| tcp::encode(SRC, DST, &header, payload, out));
        let bit = place.index(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(tcp::decode(SRC, DST, &bytes).is_err());
    }

    #[test]
    fn aodv_messages_come_back(message in aodv_message()) {
        let bytes = encoded(|out| manetlab_wire_formats::aodv::encode(&message, out));
        prop_assert_eq!(manetlab_wire_formats::aodv::decode(&bytes), Ok(message));
    }

    #[test]
    fn dsr_headers_come_back(header in dsr_header(), next in 49..60_u8, payload in vec(any::<u8>(), 0..20)) {
        use manetlab_wire_formats::dsr::{Place, decode, encode};
        let place = Place { src: SRC, dst: DST, at: SRC, hops: 3, flow_timeout_s: 60 };
        let mut bytes = encoded(|out| assert_eq!(encode(&header, place, next, out), ipv4::protocol::DSR));
        bytes.extend_from_slice(&payload);
        let decoded = decode(SRC, DST, &bytes).unwrap();
        prop_assert_eq!((&decoded.header, decoded.next, decoded.payload), (&header, next, &payload[..]));
        if header.flow.is_some() {
            prop_assert_eq!(decoded.hops, 3);
        }
    }

    #[test]
    fn rtp_headers_come_back(flow in 0..1_000_000_u32, header in rtp_header()) {
        let bytes = encoded(|out| manetlab_wire_formats::rtp::encode(FlowId(flow), &header, out));
        prop_assert_eq!(manetlab_wire_formats::rtp::decode(&bytes), Ok((FlowId(flow), header, &[][..])));
    }

    #[test]
    fn rtcp_reports_come_back(flow in 0..1_000_000_u32, report in rtcp()) {
        let bytes = encoded(|out| manetlab_wire_formats::rtp::encode_rtcp(FlowId(flow), &report, out));
        prop_assert_eq!(manetlab_wire_formats::rtp::decode_rtcp(&bytes), Ok((FlowId(flow), report)));
    }

    #[test]
    fn own_formats_come_back(message in own_message()) {
        let bytes = encoded(|out| encode_own(&message, out));
        prop_assert_eq!(own::decode(&bytes), Ok((message, &[][..])));
    }

    /// What follows a label does, too; the lengths are the defaults of what a run charges.
    #[test]
    fn lunar_packets_come_back(header in lunar_header(), behind in vec(any::<u8>(), 0..20)) {
        use own::lunar::Header;
        let defaults = manetlab_core::routing::lunar::LunarParams::default();
        let mut bytes = encoded(|out| own::lunar::encode(header, out));
        let (charged, rest) = match header {
            Header::Message { message: lunar::Message::Rreq(_), .. } => (defaults.rreq_bytes, &[][..]),
            Header::Message { message: lunar::Message::Rrep(_), .. } => (defaults.rrep_bytes, &[][..]),
            Header::Label(_) => (defaults.header_bytes, &behind[..]),
        };
        prop_assert_eq!(bytes.len() as u32, charged);
        bytes.extend_from_slice(rest);
        prop_assert_eq!(own::lunar::decode(&bytes), Ok((header, rest)));
    }

    /// The lengths that a run charges by default are those of the bytes. ns-2.35's errors about flows, which
    /// a run charges, are shorter than the standard's.
    #[test]
    fn lengths_are_those_that_a_run_charges(
        message in aodv_message(), header in dsr_header(), own_message in own_message(),
    ) {
        use manetlab_wire_formats::dsr;
        let charged = match &message {
            aodv::Message::Rreq(_) => aodv::RREQ_BYTES,
            aodv::Message::Rrep(_) => aodv::RREP_BYTES,
            aodv::Message::RrepAck => aodv::RREP_ACK_BYTES,
            aodv::Message::Rerr(error) => error.bytes(),
            // Each extension has room for 63 nodes, of which a run knows nothing.
            aodv::Message::Hello(hello) => {
                let nodes = hello.heard.as_ref().map_or(0, |nodes| nodes.len() as u32);
                hello.bytes() + 2 * nodes.saturating_sub(1).div_euclid(63)
            }
        };
        let bytes = encoded(|out| manetlab_wire_formats::aodv::encode(&message, out));
        prop_assert_eq!(bytes.len() as u32, charged);
        let place = dsr::Place { src: SRC, dst: DST, at: SRC, hops: 3, flow_timeout_s: 60 };
        let bytes = encoded(|out| { dsr::encode(&header, place, 59, out); });
        // The node that salvaged a packet is no end of the IP header's.
        let salvager = if header.salvaged > 0 { 4 } else { 0 };
        if header.unknown_flows.is_empty() {
            prop_assert_eq!(bytes.len() as u32, header.bytes() + salvager);
        }
        let bytes = encoded(|out| encode_own(&own_message, out));
        match &own_message {
            own::Message::Adv(adv::Message::Update(update)) => prop_assert_eq!(bytes.len() as u32, update.bytes()),
            own::Message::Adv(adv::Message::Flood(_)) => prop_assert_eq!(bytes.len() as u32, adv::FLOOD_BYTES),
            own::Message::Dsdv(update) => prop_assert_eq!(bytes.len() as u32, update.bytes()),
            own::Message::Abr(message) => {
                let (hops, nodes) = (message.hops.len() as u32, message.nodes.len() as u32);
                let listed = abr::HOP_BYTES * hops + abr::NODE_BYTES * nodes;
                prop_assert_eq!(bytes.len() as u32, abr::HEADER_BYTES + listed);
            }
            own::Message::Ssa(message) => {
                let nodes = message.nodes.len() as u32;
                prop_assert_eq!(bytes.len() as u32, ssa::HEADER_BYTES + ssa::NODE_BYTES * nodes);
            }
            _ => {}
        }
    }

    #[test]
    fn olsr_packets_come_back(packet in olsr_packet(), place in any::<prop::sample::Index>(), with in any::<u8>()) {
        let mut bytes = encoded(|out| manetlab_wire_formats::olsr::encode(&packet, out));
        prop_assert_eq!(bytes.len() as u32, packet.bytes());
        prop_assert_eq!(manetlab_wire_formats::olsr::decode(&bytes), Ok(packet));
        let place = place.index(bytes.len());
        bytes[place] = with;
        let _ = manetlab_wire_formats::olsr::decode(&bytes);
        let _ = manetlab_wire_formats::olsr::decode(&bytes[..place]);
    }

    #[test]
    fn babel_packets_come_back(packet in babel_packet(), place in any::<prop::sample::Index>(), with in any::<u8>()) {
        let mut bytes = encoded(|out| manetlab_wire_formats::babel::encode(&packet, out));
        prop_assert_eq!(bytes.len() as u32, packet.bytes());
        prop_assert_eq!(manetlab_wire_formats::babel::decode(&bytes), Ok(packet));
        let place = place.index(bytes.len());
        bytes[place] = with;
        let _ = manetlab_wire_formats::babel::decode(&bytes);
        let _ = manetlab_wire_formats::babel::decode(&bytes[..place]);
    }

    #[test]
    fn rip_messages_come_back(message in rip_message(), place in any::<prop::sample::Index>(), with in any::<u8>()) {
        let mut bytes = encoded(|out| manetlab_wire_formats::rip::encode(&message, out));
        prop_assert_eq!(bytes.len() as u32, message.bytes());
        prop_assert_eq!(manetlab_wire_formats::rip::decode(&bytes), Ok(message));
        let place = place.index(bytes.len());
        bytes[place] = with;
        let _ = manetlab_wire_formats::rip::decode(&bytes);
        let _ = manetlab_wire_formats::rip::decode(&bytes[..place]);
    }

    #[test]
    fn batman_packets_come_back(packet in batman_packet(), ttl in any::<u8>(), dst in node(), rest in vec(any::<u8>(), 0..9)) {
        use manetlab_wire_formats::batman::{Decoded, decode, decode_daemon, encode, encode_unicast};
        let bytes = encoded(|out| encode(&packet, out));
        prop_assert_eq!(bytes.len() as u32, packet.bytes());
        match packet.form {
            batman::Form::Daemon => prop_assert_eq!(decode_daemon(&bytes), Ok(packet)),
            batman::Form::Adv { .. } => prop_assert_eq!(decode(&bytes), Ok(Decoded::Ogms(packet))),
        }
        let header = batman::Unicast { ttl, dst };
        let mut bytes = encoded(|out| encode_unicast(header, SRC, out));
        prop_assert_eq!(bytes.len() as u32, batman::Unicast::BYTES);
        bytes.extend_from_slice(&rest);
        prop_assert_eq!(decode(&bytes), Ok(Decoded::Unicast(header, &rest[..])));
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _: Result<_, Malformed> = stack::decode_frame(&bytes);
        let _ = stack::decode_packet(&bytes);
        let _ = radiotap::decode(&bytes);
        let _ = manetlab_wire_formats::aodv::decode(&bytes);
        let _ = manetlab_wire_formats::dsr::decode(SRC, DST, &bytes);
        let _ = manetlab_wire_formats::rtp::decode(&bytes);
        let _ = manetlab_wire_formats::rtp::decode_rtcp(&bytes);
        let _ = manetlab_wire_formats::olsr::decode(&bytes);
        let _ = manetlab_wire_formats::babel::decode(&bytes);
        let _ = manetlab_wire_formats::batman::decode(&bytes);
        let _ = manetlab_wire_formats::rip::decode(&bytes);
        let _ = manetlab_wire_formats::batman::decode_daemon(&bytes);
        let _ = own::decode(&bytes);
        let _ = own::lunar::decode(&bytes);
        let _ = tcp::decode(SRC, DST, &bytes);
        let _ = udp::decode(SRC, DST, &bytes);
    }

    /// Whatever is cut off or changed in a message, the decoder only says no.
    #[test]
    fn broken_messages_make_no_decoder_panic(
        message in aodv_message(), header in dsr_header(), own_message in own_message(),
        lunar in lunar_header(), place in any::<prop::sample::Index>(), with in any::<u8>(),
    ) {
        use manetlab_wire_formats::dsr;
        let at = dsr::Place { src: SRC, dst: DST, at: SRC, hops: 3, flow_timeout_s: 60 };
        let of_aodv = encoded(|out| manetlab_wire_formats::aodv::encode(&message, out));
        let of_dsr = encoded(|out| { dsr::encode(&header, at, 59, out); });
        let of_own = encoded(|out| encode_own(&own_message, out));
        let of_lunar = encoded(|out| own::lunar::encode(lunar, out));
        for mut bytes in [of_aodv, of_dsr, of_own, of_lunar] {
            let place = place.index(bytes.len());
            bytes[place] = with;
            for part in [&bytes[..], &bytes[..place]] {
                let _ = manetlab_wire_formats::aodv::decode(part);
                let _ = dsr::decode(SRC, DST, part);
                let _ = own::decode(part);
                let _ = own::lunar::decode(part);
            }
        }
    }
}

fn dymo_message() -> impl Strategy<Value = dymo::Message> {
    let known = || (node(), any::<u16>()).prop_map(|(node, seqno)| dymo::Known { node, seqno });
    let route = (any::<(u8, u8, u16)>(), node(), vec(known(), 0..12)).prop_map(
        |((hop_limit, hop_count, target_seqno), target, path)| dymo::RouteMessage {
            hop_limit,
            hop_count,
            target,
            target_seqno,
            path: path.into(),
        },
    );
    let content = prop_oneof![
        (any::<bool>(), route).prop_map(|(asks, route)| if asks {
            dymo::Content::Rreq(route)
        } else {
            dymo::Content::Rrep(route)
        }),
        (any::<u8>(), vec(known(), 0..12))
            .prop_map(|(hop_limit, nodes)| dymo::Content::Rerr { hop_limit, unreachable: nodes.into() }),
        known().prop_map(dymo::Content::Hello),
    ];
    let lengths = (13..=255_u8, 6..=255_u8).prop_map(|(header, node)| dymo::Lengths { header, node });
    (lengths, content).prop_map(|(lengths, content)| dymo::Message { lengths, content })
}

proptest! {
    #[test]
    fn messages_of_dymo_come_back_and_are_as_long_as_they_say(message in dymo_message()) {
        let bytes = encoded(|out| own::dymo::encode(&message, out));
        prop_assert_eq!(bytes.len() as u32, message.bytes());
        prop_assert_eq!(own::dymo::decode(&bytes), Ok(message));
    }

    #[test]
    fn no_bytes_make_the_decoder_of_dymo_panic(mut bytes in vec(any::<u8>(), 0..80), kind in 79..85_u8) {
        let _ = own::dymo::decode(&bytes);
        bytes.insert(0, kind);
        let _ = own::dymo::decode(&bytes);
    }
}

fn tora_packet() -> impl Strategy<Value = tora::Packet> {
    let time = || any::<u64>().prop_map(Time);
    let height = ((time(), node(), any::<bool>()), any::<i32>(), node()).prop_map(
        |((tau, oid, reflected), delta, id)| tora::Height {
            level: tora::Level { tau, oid, reflected },
            delta,
            id,
        },
    );
    let object = prop_oneof![
        node().prop_map(|dst| tora::Message::Qry { dst }),
        (node(), proptest::option::of(height)).prop_map(|(dst, height)| tora::Message::Upd { dst, height }),
        (node(), time(), node()).prop_map(|(dst, tau, oid)| tora::Message::Clr { dst, tau, oid }),
    ];
    let block =
        (any::<u8>(), vec(node(), 0..20), vec(object, 0..24)).prop_map(|(seqno, responders, objects)| {
            tora::Block { seqno, responders: responders.into(), objects: objects.into() }
        });
    let ack = (node(), any::<u8>()).prop_map(|(to, seqno)| tora::Ack { to, seqno });
    (any::<bool>(), vec(node(), 0..20), vec(ack, 0..20), proptest::option::of(block)).prop_map(
        |(is_new, hellos, acks, block)| tora::Packet {
            is_new,
            hellos: hellos.into(),
            acks: acks.into(),
            block,
        },
    )
}

proptest! {
    #[test]
    fn packets_of_imep_come_back_and_are_as_long_as_they_say(packet in tora_packet()) {
        let bytes = encoded(|out| own::tora::encode(&packet, out));
        prop_assert_eq!(bytes.len() as u32, packet.bytes());
        prop_assert_eq!(own::tora::decode(&bytes), Ok(packet));
    }

    #[test]
    fn no_bytes_make_the_decoder_of_imep_panic(mut bytes in vec(any::<u8>(), 0..80), parts in 0..17_u8) {
        let _ = own::tora::decode(&bytes);
        let length = bytes.len() as u8 + 4;
        bytes.splice(0..0, [96, parts, 0, length]);
        let _ = own::tora::decode(&bytes);
    }
}

fn cedar_message() -> impl Strategy<Value = cedar::Message> {
    use cedar::{Beacon, Content, Message, Near, Nodes, Question};
    let nodes = || vec(node(), 0..8).prop_map(Nodes::from);
    let near = vec((node(), node()), 0..8)
        .prop_map(|near| near.into_iter().map(|(core, over)| Near { core, over }).collect());
    let beacon = (any::<u16>(), proptest::option::of(node()), nodes(), nodes(), near).prop_map(
        |(effective_degree, dominator, neighbours, heard, near)| {
            Content::Beacon(Beacon { effective_degree, dominator, neighbours, heard, near })
        },
    );
    let question =
        (node(), node(), any::<u32>()).prop_map(|(source, target, id)| Question { source, target, id });
    let others =
        (0..7, question, nodes(), nodes(), node(), node()).prop_map(|(which, question, a, b, from, to)| {
            match which {
                0 => Content::Join,
                1 => Content::Ask(question),
                2 => Content::Find { question, core_path: a, served: b },
                3 => Content::Found { question, core_path: a },
                4 => Content::Build { question, core_path: a, route: b },
                5 => Content::Reply { question, route: a },
                _ => Content::Error { link: [from, to] },
            }
        });
    (vec(nodes(), 0..4), prop_oneof![beacon, others])
        .prop_map(|(to, content)| Message { to: to.into(), content })
}

proptest! {
    #[test]
    fn messages_of_cedar_are_as_long_as_they_say(message in cedar_message(), route in vec(node(), 1..20)) {
        prop_assert_eq!(encoded(|out| own::cedar::encode(&message, out)).len() as u32, message.bytes());
        let route = cedar::SourceRoute { route: route.into(), at: 0 };
        prop_assert_eq!(encoded(|out| own::cedar::encode_route(&route, 17, out)).len() as u32, route.bytes());
    }
}

fn zrp_message() -> impl Strategy<Value = zrp::Message> {
    use zrp::{Back, LinkState, Message, Nodes, Query};
    let nodes = |least: usize| vec(node(), least..9).prop_map(Nodes::from);
    (0..5, any::<u32>(), any::<u16>(), node(), node(), nodes(0), nodes(1)).prop_map(
        |(which, number, ttl, a, b, list, path)| match which {
            0 => Message::Beacon,
            1 => {
                Message::LinkState(LinkState { origin: a, seqno: number, ttl: ttl.into(), neighbours: list })
            }
            2 => Message::Query { query: Query { id: number, dst: a, path }, targets: list },
            3 => Message::Reply(Back { content: number, path, to: a }),
            _ => Message::Error(Back { content: [a, b], path, to: a }),
        },
    )
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_of_zrp_panic(mut bytes in vec(any::<u8>(), 0..80), which in 0..7_u8) {
        bytes.splice(0..0, [175 + which, 0]);
        let _ = own::zrp::decode(&bytes);
        let _ = own::zrp::decode_route(&bytes);
    }

    #[test]
    fn routes_of_zrp_are_as_long_as_they_say(path in vec(node(), 1..20)) {
        let route = zrp::SourceRoute { path: path.into() };
        prop_assert_eq!(encoded(|out| own::zrp::encode_route(&route, 17, out)).len() as u32, route.bytes());
    }
}
