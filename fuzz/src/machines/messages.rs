//! What neighbours say: a message of each protocol, and what data packets carry, with any fields.

use manetlab_core::kernel::Time;
use manetlab_core::wire::tcp::{AckSigns, SackBlocks, Segment};
use manetlab_core::wire::{
    ConnectionId, FlowId, Payload, abr as abr_wire, adv as adv_wire, aodv as aodv_wire, babel as babel_wire,
    batman as batman_wire, cedar as cedar_wire, dsdv as dsdv_wire, dsr as dsr_wire, dymo as dymo_wire,
    olsr as olsr_wire, rip as rip_wire, ssa as ssa_wire, tora as tora_wire, tsr as tsr_wire, zrp as zrp_wire,
};

use super::input::{Input, ME};

/// What a data packet carries: TCP's, which protocols may treat otherwise, or another's.
pub(super) fn transport(now: Time, input: &mut Input<'_>) -> Payload {
    let connection = ConnectionId { flow: FlowId(0), number: 0 };
    match input.below(3) {
        0 => {
            let (number, payload, sent) = (u32::from(input.byte()), 1460, now);
            let segment = Segment::Data { number, payload, sent, retransmission: false, cwr: false };
            Payload::Tcp(connection, segment)
        }
        1 => {
            let segment = Segment::Ack {
                next: u32::from(input.byte()),
                sack: SackBlocks::new(),
                signs: AckSigns::default(),
            };
            Payload::Tcp(connection, segment)
        }
        _ => Payload::Udp(FlowId(0), u64::from(input.byte())),
    }
}

pub(super) fn aodv(now: Time, wraps: bool, input: &mut Input<'_>) -> aodv_wire::Message {
    use aodv_wire::{Hello, Message, Rerr, Rrep, Rreq, Unreachable};
    let number = |input: &mut Input<'_>| if wraps { input.number() } else { seqno(input) };
    let made = Time(now.0.saturating_sub(input.span().0));
    match input.below(5) {
        0 => Message::Rreq(Rreq {
            id: input.number(),
            origin: input.node(),
            origin_seqno: number(input),
            dst: input.node(),
            dst_seqno: (!input.once_in(2)).then(|| number(input)),
            hop_count: input.number().min(255) as u8,
            gratuitous: input.once_in(2),
            destination_only: input.once_in(2),
            made,
        }),
        1 => Message::Rrep(Rrep {
            dst: input.node(),
            dst_seqno: number(input),
            origin: input.node(),
            hop_count: input.number().min(255) as u8,
            lifetime: input.span(),
            acknowledge: input.once_in(2),
            made,
        }),
        2 => Message::RrepAck,
        3 => {
            let no_delete = input.once_in(4);
            let unreachable =
                (0..input.below(4)).map(|_| Unreachable { dst: input.node(), seqno: number(input) });
            Message::Rerr(Rerr { no_delete, unreachable: unreachable.collect() })
        }
        _ => Message::Hello(Hello {
            node: input.node(),
            seqno: number(input),
            lifetime: input.span(),
            heard: input.once_in(2).then(|| (0..input.below(4)).map(|_| input.node()).collect()),
        }),
    }
}

pub(super) fn dsdv(input: &mut Input<'_>) -> dsdv_wire::Update {
    let entry = |input: &mut Input<'_>| dsdv_wire::Entry {
        dst: input.node(),
        metric: metric(input),
        seqno: seqno(input),
    };
    dsdv_wire::Update { full: input.once_in(2), entries: (0..input.below(6)).map(|_| entry(input)).collect() }
}

pub(super) fn batman(input: &mut Input<'_>) -> batman_wire::Packet {
    let ogm = |input: &mut Input<'_>| batman_wire::Ogm {
        origin: input.node(),
        previous: input.node(),
        seqno: input.number(),
        ttl: input.byte(),
        tq: input.byte(),
        is_direct: input.once_in(2),
        is_not_best: input.once_in(4),
    };
    let ogms = (0..=input.below(4)).map(|_| ogm(input)).collect();
    batman_wire::Packet { form: batman_wire::Form::Adv { tvlv_bytes: 28 }, ogms }
}

pub(super) fn dymo(input: &mut Input<'_>) -> dymo_wire::Message {
    use dymo_wire::{Content, Known, Lengths, Message, RouteMessage};
    let known = |input: &mut Input<'_>| Known { node: input.node(), seqno: input.number() as u16 };
    let route = |input: &mut Input<'_>| RouteMessage {
        hop_limit: input.byte(),
        hop_count: input.byte(),
        target: if input.once_in(2) { ME } else { input.node() },
        target_seqno: input.number() as u16,
        path: (0..input.below(5)).map(|_| known(input)).collect(),
    };
    let content = match input.below(5) {
        0 | 1 => Content::Rreq(route(input)),
        2 => Content::Rrep(route(input)),
        3 => {
            let unreachable = (0..input.below(4)).map(|_| known(input)).collect();
            Content::Rerr { hop_limit: input.byte(), unreachable }
        }
        _ => Content::Hello(known(input)),
    };
    Message { lengths: Lengths { header: 13, node: 10 }, content }
}

pub(super) fn tora(now: Time, input: &mut Input<'_>) -> tora_wire::Packet {
    use tora_wire::{Ack, Block, Height, Level, Message, Packet};
    let me_or_other = |input: &mut Input<'_>| if input.once_in(2) { ME } else { input.node() };
    let level = |input: &mut Input<'_>| Level {
        tau: Time(now.0.min(input.number().into())),
        oid: me_or_other(input),
        reflected: input.once_in(2),
    };
    let object = |input: &mut Input<'_>| {
        let dst = me_or_other(input);
        match input.below(4) {
            0 => Message::Qry { dst },
            1 => {
                let Level { tau, oid, .. } = level(input);
                Message::Clr { dst, tau, oid }
            }
            _ if input.once_in(4) => Message::Upd { dst, height: None },
            _ => {
                let (level, delta, id) = (level(input), input.number() as i32, input.node());
                Message::Upd { dst, height: Some(Height { level, delta, id }) }
            }
        }
    };
    let hellos = (0..input.below(3)).map(|_| me_or_other(input)).collect();
    let acks = (0..input.below(3)).map(|_| Ack { to: me_or_other(input), seqno: input.byte() }).collect();
    let block = input.once_in(2).then(|| Block {
        seqno: input.byte(),
        responders: (0..input.below(3)).map(|_| me_or_other(input)).collect(),
        objects: (0..input.below(4)).map(|_| object(input)).collect(),
    });
    Packet { is_new: input.once_in(4), hellos, acks, block }
}

pub(super) fn ssa(input: &mut Input<'_>) -> ssa_wire::Message {
    use ssa_wire::{Kind, Message, Preference};
    let kinds = [Kind::Beacon, Kind::Search, Kind::Reply, Kind::Error, Kind::Erase];
    let preferences = [Preference::StrongOnly, Preference::StrongPreferred, Preference::Any];
    Message {
        kind: kinds[input.below(5) as usize],
        preference: preferences[input.below(3) as usize],
        ttl: input.byte(),
        source: if input.once_in(2) { ME } else { input.node() },
        destination: input.node(),
        number: input.number(),
        nodes: (0..input.below(5)).map(|_| if input.once_in(3) { ME } else { input.node() }).collect(),
    }
}

pub(super) fn abr(input: &mut Input<'_>) -> abr_wire::Message {
    use abr_wire::{Hop, Kind, Message};
    let kinds = [Kind::Bq, Kind::Lq, Kind::Reply, Kind::RnBack, Kind::RnToSource, Kind::RnErase, Kind::Rd];
    let node = |input: &mut Input<'_>| if input.once_in(3) { ME } else { input.node() };
    let hop = |input: &mut Input<'_>| {
        let (node, ticks) = (input.node(), input.number());
        Hop { node, ticks, load: input.number() as u16 }
    };
    Message {
        kind: if input.once_in(8) { Kind::Beacon } else { kinds[input.below(7) as usize] },
        ttl: input.byte(),
        before: input.byte(),
        source: node(input),
        destination: node(input),
        number: input.number(),
        hops: (0..input.below(5)).map(|_| hop(input)).collect(),
        nodes: (0..input.below(5)).map(|_| node(input)).collect(),
    }
}

pub(super) fn cedar(input: &mut Input<'_>) -> cedar_wire::Message {
    use cedar_wire::{Beacon, Content, Message, Near, Nodes, Question};
    let nodes = |input: &mut Input<'_>| -> Nodes { (0..input.below(5)).map(|_| input.node()).collect() };
    let question = Question { source: input.node(), target: input.node(), id: input.number() };
    let content = match input.below(10) {
        0..3 => Content::Beacon(Beacon {
            effective_degree: input.number() as u16,
            dominator: input.once_in(2).then(|| input.node()),
            // Mostly of one that hears the machine.
            neighbours: if input.once_in(4) { nodes(input) } else { [ME, input.node()].into() },
            heard: nodes(input),
            near: (0..input.below(4)).map(|_| Near { core: input.node(), over: input.node() }).collect(),
        }),
        3 => Content::Join,
        4 => Content::Ask(question),
        5 => Content::Find { question, core_path: nodes(input), served: nodes(input) },
        6 => Content::Found { question, core_path: nodes(input) },
        7 => Content::Build { question, core_path: nodes(input), route: nodes(input) },
        8 => Content::Reply { question, route: nodes(input) },
        _ => Content::Error { link: [input.node(), input.node()] },
    };
    let to = match content {
        Content::Beacon(_) => [].into(),
        _ if input.once_in(2) => [[].into()].into(),
        _ => (0..input.below(4)).map(|_| nodes(input)).collect(),
    };
    Message { to, content }
}

pub(super) fn rip(input: &mut Input<'_>) -> rip_wire::Message {
    if input.once_in(8) {
        return rip_wire::Message::Request;
    }
    let entry = |input: &mut Input<'_>| rip_wire::Entry {
        dst: input.node(),
        next_hop: input.once_in(2).then(|| input.node()),
        metric: input.byte() % 20,
    };
    rip_wire::Message::Response((0..input.below(6)).map(|_| entry(input)).collect())
}

pub(super) fn zrp_nodes(input: &mut Input<'_>) -> zrp_wire::Nodes {
    (0..input.below(6)).map(|_| input.node()).collect()
}

pub(super) fn zrp(input: &mut Input<'_>) -> zrp_wire::Message {
    use zrp_wire::{Back, LinkState, Message, Query};
    // What is read from bytes has a source.
    let path = |input: &mut Input<'_>| [input.node()].iter().chain(&*zrp_nodes(input)).copied().collect();
    match input.below(6) {
        0 => Message::Beacon,
        1 | 2 => Message::LinkState(LinkState {
            origin: input.node(),
            seqno: input.number(),
            ttl: input.byte().into(),
            neighbours: zrp_nodes(input),
        }),
        3 => Message::Query {
            query: Query { id: input.number(), dst: input.node(), path: path(input) },
            targets: if input.once_in(4) { zrp_nodes(input) } else { [ME].into() },
        },
        4 => Message::Reply(Back { content: input.number(), path: path(input), to: input.node() }),
        _ => {
            let content = [input.node(), input.node()];
            Message::Error(Back { content, path: path(input), to: input.node() })
        }
    }
}

pub(super) fn babel(input: &mut Input<'_>) -> babel_wire::Packet {
    babel_wire::Packet { tlvs: (0..=input.below(6)).map(|_| babel_tlv(input)).collect() }
}

fn babel_tlv(input: &mut Input<'_>) -> babel_wire::Tlv {
    use babel_wire::Tlv;
    let number = |input: &mut Input<'_>| input.number() as u16;
    match input.below(10) {
        0 | 1 => Tlv::Hello { seqno: number(input), interval: number(input) },
        2 => Tlv::Ihu { to: ME, link_local: true, rxcost: number(input), interval: number(input) },
        3 => Tlv::RouterId(input.node()),
        4 | 5 => Tlv::Update {
            prefix: input.node(),
            interval: number(input),
            seqno: number(input),
            metric: number(input),
        },
        6 => Tlv::RetractAll { interval: number(input) },
        7 => Tlv::RouteRequest(input.once_in(2).then(|| input.node())),
        8 => Tlv::NextHop(input.node()),
        _ => Tlv::SeqnoRequest {
            prefix: input.node(),
            seqno: number(input),
            hop_count: input.byte(),
            router: input.node(),
        },
    }
}

pub(super) fn olsr(input: &mut Input<'_>) -> olsr_wire::Packet {
    let number = input.number() as u16;
    olsr_wire::Packet { number, messages: (0..=input.below(3)).map(|_| olsr_message(input)).collect() }
}

fn olsr_message(input: &mut Input<'_>) -> olsr_wire::Message {
    use olsr_wire::{Content, Hello, LinkType, Listed, Message, NeighbourType, Qualities, Tc, TimeCode};
    let links = [LinkType::Unspecified, LinkType::Asymmetric, LinkType::Symmetric, LinkType::Lost];
    let neighbours = [NeighbourType::Not, NeighbourType::Symmetric, NeighbourType::Mpr];
    let qualities = |input: &mut Input<'_>| Qualities { here: input.byte(), there: input.byte() };
    let has_qualities = input.once_in(2);
    let content = if input.once_in(2) {
        let listed = |input: &mut Input<'_>| Listed {
            node: input.node(),
            link: input.pick(&links),
            neighbour: input.pick(&neighbours),
            qualities: qualities(input),
        };
        Content::Hello(Hello {
            interval: TimeCode(input.byte()),
            willingness: input.byte(),
            has_qualities,
            listed: (0..input.below(5)).map(|_| listed(input)).collect(),
        })
    } else {
        let ansn = input.number() as u16;
        let advertised = (0..input.below(5)).map(|_| (input.node(), qualities(input))).collect();
        Content::Tc(Tc { ansn, has_qualities, advertised })
    };
    Message {
        validity: TimeCode(input.byte()),
        origin: input.other(),
        ttl: input.byte(),
        hops: input.byte(),
        number: input.number() as u16,
        content,
    }
}

/// A sequence number of a protocol that counts up from zero and never goes around.
fn seqno(input: &mut Input<'_>) -> u32 {
    input.number() / 2
}

fn metric(input: &mut Input<'_>) -> u8 {
    if input.once_in(4) { dsdv_wire::INFINITE } else { input.byte() }
}

pub(super) fn adv(input: &mut Input<'_>) -> adv_wire::Message {
    use adv_wire::{Entry, Flood, FloodKind, Message, Response, Update};
    if input.once_in(2) {
        let kinds = [
            FloodKind::InitConnection,
            FloodKind::ReceiverAlert,
            FloodKind::EndConnection,
            FloodKind::NonReceiverAlert,
        ];
        return Message::Flood(Flood {
            kind: input.pick(&kinds),
            origin: input.node(),
            seqno: seqno(input),
            id: input.number(),
            receiver: input.node(),
            two_way: input.once_in(2),
            hops: input.byte(),
        });
    }
    let responses = [Response::Zero, Response::Low, Response::Medium, Response::High];
    let entry = |input: &mut Input<'_>| Entry {
        dst: input.node(),
        seqno: seqno(input),
        metric: metric(input),
        is_receiver: input.once_in(2),
        expected_response: input.pick(&responses),
    };
    Message::Update(Update {
        full: input.once_in(2),
        entries: (0..input.below(6)).map(|_| entry(input)).collect(),
    })
}

pub(super) fn dsr_header(input: &mut Input<'_>) -> dsr_wire::Header {
    // No node is named twice: requests go on only where their route has not been.
    let route = |input: &mut Input<'_>| {
        let mut route = dsr_wire::Route::new();
        for _ in 0..input.below(7) {
            let node = input.node();
            if !route.contains(&node) {
                route.push(node);
            }
        }
        route
    };
    dsr_wire::Header {
        request: input.once_in(3).then(|| dsr_wire::Request {
            id: input.number(),
            target: input.node(),
            forwarders: input.number(),
        }),
        reply: input.once_in(3).then(|| route(input)),
        errors: (0..input.below(3))
            .map(|_| dsr_wire::LinkError { tell: input.node(), from: input.node(), to: input.node() })
            .collect(),
        route: route(input),
        salvaged: input.byte(),
        reply_fixed_bytes: input.pick(&[3, 4]),
        shortens: input.once_in(4),
        copy_of: input.once_in(4).then(|| u64::from(input.number())),
        stale_bytes: 4 * u16::from(input.byte()),
        flow: match input.below(6) {
            0 => Some(dsr_wire::FlowMark::Establishes(input.number() as u16)),
            1 => Some(dsr_wire::FlowMark::Member(input.number() as u16)),
            2 => Some(dsr_wire::FlowMark::Default),
            _ => None,
        },
        unknown_flows: (0..input.below(2)).map(|_| unknown_flow(input)).collect(),
        tsr: match input.below(6) {
            0 => Some(tsr_wire::Mark::Probe { id: input.number() }),
            1 => Some(tsr_wire::Mark::Reply { id: input.number() }),
            2 => Some(tsr_wire::Mark::TargetOnly),
            _ => None,
        },
    }
}

fn unknown_flow(input: &mut Input<'_>) -> dsr_wire::UnknownFlow {
    let id = input.once_in(2).then(|| input.number() as u16);
    dsr_wire::UnknownFlow { src: input.node(), dst: input.node(), id }
}
