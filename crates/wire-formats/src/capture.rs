//! A run as a pcapng capture, written while the run goes on.
//!
//! Every chosen node has an interface, `node 3` or `node` and its label, with what it transmits and, if
//! asked for, what it receives intact: 802.11 after a radiotap header, without FCS. What a node drops is on
//! another interface, `node 3 drops`, with a comment that says why. There it follows an Ethernet header, as
//! it was on no link: with the addresses of the nodes that made it and that it was for. The packet's number
//! (`epb_packetid`) is the same for all its copies, and for the RTS, CTS and ACK of their exchanges.

use std::io::{self, Write};

use manetlab_core::drops::DropReason;
use manetlab_core::kernel::Time;
use manetlab_core::mobility::Path;
use manetlab_core::observe::{Event, Reach, Reception, Recorder, Sending};
use manetlab_core::radio::Propagation;
use manetlab_core::scenario::Scenario;
use manetlab_core::wire::NodeId;
use manetlab_core::wire::arp::ArpMessage;
use manetlab_core::wire::mac::{Body, Frame};

use crate::address;
use crate::dot11::FCS_BYTES;
use crate::frame::{Encoder, ether_type};
use crate::pcapng::{self, Direction, PacketBlock, link_type};
use crate::radiotap;

/// What a capture contains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The nodes, in ascending order; all if none are given.
    pub nodes: Option<Vec<NodeId>>,
    /// Also what they receive.
    pub receptions: bool,
    /// The program that captures, for the head of the file.
    pub application: String,
}

/// Writes a capture to `out`. The first error of writing is kept, and nothing is written after it.
pub struct Capture<W> {
    out: W,
    options: Options,
    run: Option<Run>,
    error: Option<io::Error>,
    block: Vec<u8>,
    bytes: Vec<u8>,
}

/// What is known of the run.
struct Run {
    encoder: Encoder,
    /// By node: what its user calls it.
    labels: Vec<Option<String>>,
    /// By node: its two interfaces, if it has them.
    interfaces: Vec<(Option<u32>, Option<u32>)>,
    next_interface: u32,
    /// Is each node's last data frame a retransmission?
    retries: Vec<bool>,
    paths: Vec<Path>,
    propagation: Propagation,
}

impl<W: Write> Capture<W> {
    /// A capture that has not begun.
    pub fn new(out: W, options: Options) -> Capture<W> {
        Capture { out, options, run: None, error: None, block: Vec::new(), bytes: Vec::new() }
    }

    /// Has writing failed? Then there is no point in going on.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The first that occurred.
    pub fn finish(mut self) -> io::Result<()> {
        self.error.map_or_else(|| self.out.flush(), Err)
    }

    fn flush_block(&mut self) {
        if self.error.is_none() {
            self.error = self.out.write_all(&self.block).err();
        }
        self.block.clear();
    }

    fn transmission(&mut self, time: Time, sending: &Sending<'_>) {
        let Some(run) = &mut self.run else { return };
        let frame = sending.frame;
        let retry = run.encoder.note_sent(frame);
        run.retries[frame.from.index()] = retry;
        let Some(interface) = run.interfaces[frame.from.index()].0 else { return };
        let header = run.encoder.radiotap(time, frame, None);
        self.put_frame(
            interface,
            time,
            frame,
            &header,
            Direction::Out,
            sending.packet.map(|packet| packet.uid),
        );
    }

    /// What arrived intact; every node hears a frame's own rate and power.
    fn receptions(&mut self, frame: &Frame, receptions: &[Reception]) {
        for reception in receptions.iter().filter(|reception| reception.outcome == Reach::Received) {
            let Some(run) = &self.run else { return };
            let Some(interface) = run.interfaces[reception.node.index()].0 else { continue };
            let start = Time(reception.at.0.saturating_sub(frame.airtime.0));
            let header =
                run.encoder.radiotap(start, frame, Some(run.signal_dbm(start, frame.from, reception.node)));
            let uid = frame.body.as_deref().and_then(uid_of);
            self.put_frame(interface, reception.at, frame, &header, Direction::In, uid);
        }
    }

    fn put_frame(
        &mut self,
        interface: u32,
        time: Time,
        frame: &Frame,
        header: &radiotap::Header,
        direction: Direction,
        packet_id: Option<u64>,
    ) {
        let Some(run) = &self.run else { return };
        self.bytes.clear();
        radiotap::encode(header, &mut self.bytes);
        let head = self.bytes.len();
        run.encoder.frame(frame, run.retries[frame.from.index()], &mut self.bytes);
        let bytes = self.bytes.len() - head + FCS_BYTES;
        let comment = (bytes != frame.bytes as usize).then(|| {
            format!("the run charges {} bytes for this frame, FCS included, instead of {bytes}", frame.bytes)
        });
        let (bytes, comment) = (self.bytes.as_slice(), comment.as_deref());
        pcapng::put_packet(
            &PacketBlock { interface, time, bytes, direction, packet_id, comment },
            &mut self.block,
        );
        self.flush_block();
    }

    /// A node drops `body`, which `src` made for `dst`.
    fn dropped(
        &mut self,
        time: Time,
        node: NodeId,
        (src, dst): (NodeId, NodeId),
        body: &Body,
        reason: DropReason,
    ) {
        let Some(run) = &mut self.run else { return };
        let (Some(_), drops) = run.interfaces[node.index()] else { return };
        let interface = drops.unwrap_or_else(|| {
            let label = run.labels[node.index()].as_deref();
            let name = format!("{} drops", interface(node, label));
            let description = format!("what {} dropped", in_words(node, label));
            pcapng::put_interface(link_type::ETHERNET, &name, &description, &mut self.block);
            run.next_interface += 1;
            run.next_interface - 1
        });
        run.interfaces[node.index()].1 = Some(interface);
        self.bytes.clear();
        self.bytes.extend_from_slice(&address::mac(dst));
        self.bytes.extend_from_slice(&address::mac(src));
        self.bytes.extend_from_slice(&ether_type(body).to_be_bytes());
        run.encoder.body(body, node, &mut self.bytes);
        let comment = format!("dropped: {}", reason.name());
        let record = PacketBlock {
            interface,
            time,
            bytes: &self.bytes,
            direction: Direction::Unknown,
            packet_id: uid_of(body),
            comment: Some(&comment),
        };
        pcapng::put_packet(&record, &mut self.block);
        self.flush_block();
    }
}

/// A label without what would end or break a line.
fn printable(label: Option<&str>) -> Option<String> {
    label.map(|text| text.chars().map(|each| if each.is_control() { '_' } else { each }).collect())
}

/// What a node's interface is called.
fn interface(node: NodeId, label: Option<&str>) -> String {
    label.map_or_else(|| format!("node {}", node.0), |label| format!("node {label}"))
}

/// A node by its number, and by what its user calls it.
fn in_words(node: NodeId, label: Option<&str>) -> String {
    let number = node.0;
    label.map_or_else(|| format!("node {number}"), |label| format!("node {number} ({label})"))
}

/// The number of the packet in it.
fn uid_of(body: &Body) -> Option<u64> {
    match body {
        Body::Ip(packet) => Some(packet.uid),
        Body::Arp(_) => None,
    }
}

impl Run {
    /// The power at which a frame of `from` arrives at `to`, in whole dBm.
    fn signal_dbm(&self, time: Time, from: NodeId, to: NodeId) -> i8 {
        let [from, to] = [from, to].map(|node| &self.paths[node.index()]);
        let above_m = from.height(time) - to.height(time);
        let distance_m2 = from.position(time).distance2(to.position(time)) + above_m * above_m;
        let power_w = self.propagation.power_w(distance_m2);
        (10.0 * libm::log10(power_w * 1000.0)).round().clamp(-128.0, 127.0) as i8
    }
}

impl<W: Write> Recorder for Capture<W> {
    fn begin(&mut self, scenario: &Scenario) {
        let nodes = scenario.movement.len();
        pcapng::put_section(&self.options.application, &mut self.block);
        let all = (0..nodes as u32).map(NodeId);
        let labels: Vec<Option<String>> =
            scenario.movement.iter().map(|node| printable(node.label.as_deref())).collect();
        let called = |node: NodeId| labels[node.index()].clone().unwrap_or_else(|| format!("node{}", node.0));
        pcapng::put_names(all.clone().map(|node| (address::ipv4(node), called(node))), &mut self.block);
        let mut interfaces = vec![(None, None); nodes];
        let mut next_interface = 0;
        let chosen = self.options.nodes.clone().unwrap_or_else(|| all.collect());
        for node in chosen.into_iter().filter(|node| node.index() < nodes) {
            let [a, b, c, d] = address::ipv4(node);
            let label = labels[node.index()].as_deref();
            let description = format!("the radio of {}, {a}.{b}.{c}.{d}", in_words(node, label));
            pcapng::put_interface(
                link_type::RADIOTAP,
                &interface(node, label),
                &description,
                &mut self.block,
            );
            interfaces[node.index()].0 = Some(next_interface);
            next_interface += 1;
        }
        self.run = Some(Run {
            encoder: Encoder::new(scenario),
            labels,
            interfaces,
            next_interface,
            retries: vec![false; nodes],
            paths: scenario.movement.iter().map(Path::new).collect(),
            propagation: Propagation::new(&scenario.params.radio),
        });
        self.flush_block();
    }

    fn record(&mut self, time: Time, node: NodeId, event: &Event<'_>) {
        match event {
            Event::Frame(sending) => self.transmission(time, sending),
            Event::Received { frame, receptions, .. } if self.options.receptions => {
                self.receptions(frame, receptions);
            }
            Event::Made(packet) => {
                if let Some(run) = &mut self.run {
                    run.encoder.note_made(packet);
                }
            }
            &Event::Dropped(packet, reason) => {
                let ends = (packet.src, packet.dst);
                self.dropped(time, node, ends, &Body::Ip(packet.clone()), reason);
            }
            &Event::ArpDropped(message, reason) => {
                let ends = match message {
                    ArpMessage::Request { from, .. } => (from, NodeId::BROADCAST),
                    ArpMessage::Reply { from, to } => (from, to),
                };
                self.dropped(time, node, ends, &Body::Arp(message), reason);
            }
            _ => {}
        }
    }

    fn destinations(&self, _: &Scenario) -> Vec<NodeId> {
        Vec::new()
    }
}
