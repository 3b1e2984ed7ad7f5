//! A run as a trace of ns-2's wireless nodes, in the old or the new format, written while the run goes on.
//!
//! The lines are those of ns-2.35 with agent, router and MAC trace on: `s`, `r`, `f` and `D` at `AGT`, `RTR`,
//! `MAC` and `IFQ`. docs/captures.md says what differs. [`protocol`] writes what comes after the IP part of a
//! line.

mod protocol;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};

use manetlab_core::drops::DropReason;
use manetlab_core::kernel::Time;
use manetlab_core::mobility::Path;
use manetlab_core::observe::{Event, Reach, Reception, Recorder};
use manetlab_core::scenario::{RoutingKind, Scenario};
use manetlab_core::wire::arp::{ARP_BYTES, ArpMessage};
use manetlab_core::wire::mac::{Body, Frame, FrameKind};
use manetlab_core::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload};

/// The form of the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// `s 10.000000000 _0_ AGT  --- 0 tcp 40 [0 0 0 0] ------- [0:0 3:0 32 0] [0 0] 0 0`.
    #[default]
    Old,
    /// `s -t 10.000000000 -Hs 0 -Hd -2 -Ni 0 …`.
    New,
}

/// Lines wait so long for others that belong before them: a frame's receivers are reported together, when the
/// last of them has it.
const LATENESS_NS: u64 = 10_000;
/// Packets that came up at a node and whose MAC header is remembered.
const REMEMBERED: usize = 64;

/// Writes a trace to `out`. The first error of writing is kept, and nothing is written after it.
pub struct Trace<W> {
    out: W,
    format: Format,
    run: Option<Run>,
    error: Option<io::Error>,
    /// Lines with their times, in order of arrival.
    waiting: Vec<(Time, String)>,
}

/// What is known of the run.
struct Run {
    paths: Vec<Path>,
    /// Bytes of preamble and PLCP header, which ns-2 counts with a frame.
    plcp_bytes: u32,
    /// Does routing see what arrives for endpoints at its own node?
    routes_to_itself: bool,
    /// The ports at both ends of each flow: ns-2 counts the agents of a node.
    ports: Vec<(u32, u32)>,
    /// Each node's last data frame.
    sent: Vec<MacPart>,
    /// Of packets that came up at each node, the last ones.
    came_up: Vec<VecDeque<(u64, MacPart)>>,
}

/// The MAC header that a line shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct MacPart {
    duration_us: u64,
    to: u32,
    from: u32,
    ether_type: u16,
}

/// What all lines of one event share.
struct Line {
    event: char,
    time: Time,
    node: NodeId,
    layer: &'static str,
    reason: &'static str,
    mac: MacPart,
    size: u32,
    next_hop: Option<NodeId>,
}

impl<W: Write> Trace<W> {
    /// A trace that has not begun.
    pub fn new(out: W, format: Format) -> Trace<W> {
        Trace { out, format, run: None, error: None, waiting: Vec::new() }
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
        self.write_until(Time::NEVER);
        self.error.map_or_else(|| self.out.flush(), Err)
    }

    /// Writes the lines of times before `until`, in order of time.
    fn write_until(&mut self, until: Time) {
        if self.waiting.first().is_none_or(|(time, _)| *time >= until) {
            return;
        }
        self.waiting.sort_by_key(|(time, _)| *time);
        let ready = self.waiting.partition_point(|(time, _)| *time < until);
        for (_, line) in self.waiting.drain(..ready) {
            if self.error.is_none() {
                self.error = self.out.write_all(line.as_bytes()).err();
            }
        }
    }

    fn packet(&mut self, line: &Line, packet: &Packet) {
        let Some(run) = &self.run else { return };
        let text = match self.format {
            Format::Old => run.old_packet(line, packet),
            Format::New => run.new_packet(line, packet),
        };
        self.waiting.push((line.time, text));
    }

    fn arp(&mut self, line: &Line, message: ArpMessage) {
        let Some(run) = &self.run else { return };
        let (operation, from, target) = match message {
            ArpMessage::Request { from, wanted } => ("REQUEST", from.0, (0, wanted.0)),
            ArpMessage::Reply { from, to } => ("REPLY", from.0, (to.0, to.0)),
        };
        let (target_mac, target) = target;
        let text = match self.format {
            Format::Old => format!(
                "{}------- [{operation} {from}/{from} {target_mac}/{target}]\n",
                run.old_head(line, "0 ARP")
            ),
            Format::New => format!(
                "{}-P arp -Po {operation} -Pms {from} -Ps {from} -Pmd {target_mac} -Pd {target} \n",
                run.new_head(line)
            ),
        };
        self.waiting.push((line.time, text));
    }

    /// A frame that is sent, received or lost at a node.
    fn frame(&mut self, event: char, time: Time, node: NodeId, frame: &Frame) {
        let Some(run) = &self.run else { return };
        let mac = MacPart::of(frame);
        let (layer, reason) = ("MAC", if event == 'D' { "COL" } else { "---" });
        let whole = frame.bytes + run.plcp_bytes;
        let size = match frame.body.as_deref() {
            // A frame that arrived has lost its header.
            Some(body) if event == 'r' => body.bytes(),
            _ => whole,
        };
        let line = Line { event, time, node, layer, reason, mac, size, next_hop: run.hop_of(frame) };
        match frame.body.as_deref() {
            Some(Body::Ip(packet)) if event == 'r' => {
                self.packet(&line, &Packet { hops: packet.hops.saturating_add(1), ..packet.clone() });
            }
            Some(Body::Ip(packet)) => self.packet(&line, packet),
            Some(&Body::Arp(message)) => self.arp(&line, message),
            None => {
                let kind = match frame.kind {
                    FrameKind::Rts => "0 RTS",
                    FrameKind::Cts => "0 CTS",
                    FrameKind::Ack | FrameKind::Data => "0 ACK",
                };
                let text = match self.format {
                    Format::Old => format!("{}\n", run.old_head(&line, kind)),
                    Format::New => format!("{}\n", run.new_head(&line)),
                };
                self.waiting.push((time, text));
            }
        }
    }

    /// What became of a frame that ends at `time`: a collision is told then, whenever the frame was lost.
    fn receptions(&mut self, time: Time, frame: &Frame, receptions: &[Reception]) {
        for reception in receptions {
            match reception.outcome {
                Reach::Received => self.frame('r', reception.at, reception.node, frame),
                Reach::Collided => self.frame('D', time, reception.node, frame),
                Reach::Deaf | Reach::TooWeak | Reach::OutOfReach => {}
            }
        }
    }

    /// An endpoint makes a packet and gives it to routing. ns-2's agents of UDP count no IP header.
    fn made(&mut self, time: Time, node: NodeId, packet: &Packet) {
        let counts_ip = matches!(packet.payload, Payload::Tcp(..));
        let size = packet.bytes.saturating_sub(if counts_ip { 0 } else { IP_HEADER_BYTES });
        let (mac, reason) = (MacPart::default(), "---");
        let line = Line { event: 's', time, node, layer: "AGT", reason, mac, size, next_hop: None };
        self.packet(&line, packet);
        self.packet(&Line { event: 'r', layer: "RTR", ..line }, packet);
    }

    fn sent(&mut self, time: Time, node: NodeId, packet: &Packet, next_hop: NodeId) {
        let Some(run) = &self.run else { return };
        let event = if packet.src == node { 's' } else { 'f' };
        let mac = run.mac_of(node, packet);
        let (layer, reason, size) = ("RTR", "---", packet.bytes);
        self.packet(&Line { event, time, node, layer, reason, mac, size, next_hop: Some(next_hop) }, packet);
    }

    fn arrived(&mut self, time: Time, node: NodeId, packet: &Packet, from: NodeId) {
        let Some(run) = &mut self.run else { return };
        let mac = run.sent[from.index()];
        let remembered = &mut run.came_up[node.index()];
        if remembered.len() == REMEMBERED {
            remembered.pop_front();
        }
        remembered.push_back((packet.uid, mac));
        if packet.is_data() && packet.dst == node && !run.routes_to_itself {
            return;
        }
        let (layer, reason, size) = ("RTR", "---", packet.bytes);
        let packet = &Packet { hops: packet.hops.saturating_add(1), ..packet.clone() };
        self.packet(&Line { event: 'r', time, node, layer, reason, mac, size, next_hop: Some(node) }, packet);
    }

    /// A packet reaches its endpoint, or ends before.
    fn ended(&mut self, time: Time, node: NodeId, packet: &Packet, dropped: Option<DropReason>) {
        let Some(run) = &self.run else { return };
        let mac = run.mac_of(node, packet);
        let (event, (layer, reason)) = match dropped {
            None => ('r', ("AGT", "---")),
            Some(reason) => ('D', drop_of(reason)),
        };
        let line = Line { event, time, node, layer, reason, mac, size: packet.bytes, next_hop: Some(node) };
        self.packet(&line, packet);
    }
}

/// Layer and reason of a drop, in ns-2's words.
pub fn drop_of(reason: DropReason) -> (&'static str, &'static str) {
    match reason {
        DropReason::RetryLimit => ("MAC", "RET"),
        DropReason::Duplicate => ("MAC", "DUP"),
        DropReason::QueueFull | DropReason::EarlyDrop => ("IFQ", "---"),
        DropReason::ArpHoldReplaced | DropReason::ArpUnresolved => ("IFQ", "ARP"),
        DropReason::NoRoute | DropReason::LocalMaximum | DropReason::DeadSelector => ("RTR", "NRTE"),
        DropReason::LinkFailure => ("RTR", "CBK"),
        DropReason::TtlExpired => ("RTR", "TTL"),
        DropReason::RoutingLoop => ("RTR", "LOOP"),
        DropReason::BufferFull => ("RTR", "IFQ"),
        DropReason::BufferTimeout | DropReason::HoldTimeout => ("RTR", "TOUT"),
        DropReason::SalvageLimit => ("RTR", "SAL"),
        DropReason::AlreadySeen => ("RTR", "DUP"),
        DropReason::NotForwarded => ("RTR", "FIL"),
        DropReason::FlowEnded => ("AGT", "END"),
        DropReason::ThrottleFull => ("AGT", "IFQ"),
        DropReason::Suppressed => ("RTR", "SUP"),
        DropReason::Damaged => ("MAC", "ERR"),
        // ns-2 has no nodes that leave; this is what it calls one whose energy is used up.
        DropReason::Absent => ("MAC", "NRG"),
    }
}

impl MacPart {
    fn of(frame: &Frame) -> MacPart {
        let (from, ether_type) = match (frame.kind, frame.body.as_deref()) {
            (FrameKind::Data, Some(Body::Ip(_))) => (frame.from.0, 0x800),
            (FrameKind::Data, _) => (frame.from.0, 0x806),
            (FrameKind::Rts, _) => (frame.from.0, 0),
            // They do not name their transmitter.
            (FrameKind::Cts | FrameKind::Ack, _) => (0, 0),
        };
        MacPart { duration_us: frame.reserves.0.div_ceil(1000), to: frame.to.0, from, ether_type }
    }
}

impl Run {
    fn new(scenario: &Scenario) -> Run {
        let nodes = scenario.movement.len();
        let mut agents = vec![0; nodes];
        let mut attach = |node: u32| {
            let port = agents[node as usize];
            agents[node as usize] += 1;
            port
        };
        Run {
            paths: scenario.movement.iter().map(Path::new).collect(),
            plcp_bytes: scenario.params.mac.plcp_bits / 8,
            routes_to_itself: matches!(scenario.routing, RoutingKind::Dsr | RoutingKind::Tsr),
            ports: scenario.flows.iter().map(|flow| (attach(flow.src), attach(flow.dst))).collect(),
            sent: vec![MacPart::default(); nodes],
            came_up: vec![VecDeque::new(); nodes],
        }
    }

    /// The MAC header with which the packet came to the node; zeros if the node made it.
    fn mac_of(&self, node: NodeId, packet: &Packet) -> MacPart {
        let found = self.came_up[node.index()].iter().rev().find(|(uid, _)| *uid == packet.uid);
        found.map_or_else(MacPart::default, |(_, mac)| *mac)
    }

    /// The next hop that a frame's packet has.
    fn hop_of(&self, frame: &Frame) -> Option<NodeId> {
        matches!(frame.body.as_deref(), Some(Body::Ip(_))).then_some(frame.to)
    }

    /// The ports of a packet's ends: those of its flow, or routing's.
    fn ports_of(&self, packet: &Packet) -> (u32, u32) {
        let Some(flow) = packet.flow() else { return (255, 255) };
        let (from, to) = self.ports[flow.index()];
        match &packet.payload {
            Payload::Tcp(_, segment)
                if !matches!(segment, manetlab_core::wire::tcp::Segment::Data { .. }) =>
            {
                (to, from)
            }
            Payload::Adp(_, manetlab_core::wire::adp::Segment::Ack { .. }, _)
            | Payload::Rtcp(_, manetlab_core::wire::rtp::Rtcp::Receiver(_))
            | Payload::Insignia(..) => (to, from),
            _ => (from, to),
        }
    }

    /// A line up to the MAC header; `packet` is number and type.
    fn old_head(&self, line: &Line, packet: &str) -> String {
        let Line { event, time, node, layer, reason, mac, size, .. } = line;
        let (seconds, nanoseconds) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
        let MacPart { duration_us, to, from, ether_type } = mac;
        format!(
            "{event} {seconds}.{nanoseconds:09} _{}_ {layer} {reason:>4} {packet} {size} \
             [{duration_us:x} {to:x} {from:x} {ether_type:x}] ",
            node.0
        )
    }

    fn old_packet(&self, line: &Line, packet: &Packet) -> String {
        let (src_port, dst_port) = self.ports_of(packet);
        let kind = protocol::kind(packet);
        let mut text = self.old_head(line, &format!("{} {kind}", packet.uid));
        let next_hop = line.next_hop.filter(|hop| !hop.is_broadcast()).map_or(0, |hop| hop.0);
        let (src, dst) = (address(packet.src), address(packet.dst));
        let _ = write!(text, "------- [{src}:{src_port} {dst}:{dst_port} {} {next_hop}] ", packet.ttl);
        protocol::put_old(packet, &mut text);
        text.push('\n');
        text
    }

    /// A line up to the MAC header.
    fn new_head(&self, line: &Line) -> String {
        let Line { event, time, node, layer, reason, mac, next_hop, .. } = line;
        let (seconds, nanoseconds) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
        let at = self.paths[node.index()].position(*time);
        let hop = match next_hop {
            Some(hop) if !hop.is_broadcast() => i64::from(hop.0),
            _ => -2,
        };
        let MacPart { duration_us, to, from, ether_type } = mac;
        format!(
            "{event} -t {seconds}.{nanoseconds:09} -Hs {node} -Hd {hop} -Ni {node} -Nx {x:.2} -Ny {y:.2} -Nz 0.00 \
             -Ne -1.000000 -Nl {layer} -Nw {reason} -Ma {duration_us:x} -Md {to:x} -Ms {from:x} -Mt {ether_type:x} ",
            node = node.0,
            x = at.x,
            y = at.y,
        )
    }

    fn new_packet(&self, line: &Line, packet: &Packet) -> String {
        let mut text = self.new_head(line);
        let (src_port, dst_port) = self.ports_of(packet);
        let (src, dst, kind) = (address(packet.src), address(packet.dst), protocol::kind(packet));
        let flow = packet.flow().map_or(0, |flow| flow.0);
        let (size, uid, ttl) = (line.size, packet.uid, packet.ttl);
        let _ = write!(
            text,
            "-Is {src}.{src_port} -Id {dst}.{dst_port} -It {kind} -Il {size} -If {flow} -Ii {uid} -Iv {ttl} "
        );
        protocol::put_new(packet, &mut text);
        text.push('\n');
        text
    }
}

fn address(node: NodeId) -> i64 {
    if node.is_broadcast() { -1 } else { node.0.into() }
}

impl<W: Write> Recorder for Trace<W> {
    fn begin(&mut self, scenario: &Scenario) {
        self.run = Some(Run::new(scenario));
    }

    fn record(&mut self, time: Time, node: NodeId, event: &Event<'_>) {
        self.write_until(Time(time.0.saturating_sub(LATENESS_NS)));
        match event {
            Event::Frame(sending) => {
                if let Some(run) = &mut self.run
                    && sending.frame.kind == FrameKind::Data
                {
                    run.sent[node.index()] = MacPart::of(sending.frame);
                }
                self.frame('s', time, node, sending.frame);
            }
            Event::Received { frame, receptions, .. } => self.receptions(time, frame, receptions),
            Event::Made(packet) => self.made(time, node, packet),
            Event::Sent(packet, next_hop) => self.sent(time, node, packet, *next_hop),
            Event::Arrived(packet, from) => self.arrived(time, node, packet, *from),
            Event::Delivered(packet) => self.ended(time, node, packet, None),
            Event::Dropped(packet, reason) => self.ended(time, node, packet, Some(*reason)),
            Event::ArpDropped(message, reason) => {
                let (layer, reason) = drop_of(*reason);
                let mac = MacPart::default();
                let line =
                    Line { event: 'D', time, node, layer, reason, mac, size: ARP_BYTES, next_hop: None };
                self.arp(&line, *message);
            }
            _ => {}
        }
    }

    fn destinations(&self, _: &Scenario) -> Vec<NodeId> {
        Vec::new()
    }
}
