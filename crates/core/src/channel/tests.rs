//! When who hears what, over a channel without anything above it.

use std::rc::Rc;
use std::sync::Arc;

use super::Channel;
use crate::kernel::{Clock, Purpose, Slot, Span, Streams, Time};
use crate::mac::Dcf;
use crate::mobility::{Path, Trajectory};
use crate::observe::Watching;
use crate::profile::profile;
use crate::radio::Propagation;
use crate::scenario::{RoutingKind, Scenario};
use crate::wire::mac::{Body, Class, Frame, FrameKind};
use crate::wire::{NodeId, Packet, Payload};

/// Nodes in a row, 100 m apart, and the frames that they send, each to all. Their MACs do not know of what
/// they send, so they hear others meanwhile.
struct Row {
    clock: Clock,
    channel: Channel,
    nodes: u32,
    /// By slot beyond those of the channel.
    frames: Vec<(Slot, Frame)>,
    /// Who received whose frame, and when, in ns.
    log: Vec<(u64, u32, u32)>,
}

impl Row {
    fn new(nodes: u32) -> Row {
        let movement: Vec<_> =
            (0..nodes).map(|node| Trajectory::fixed(100.0 * f64::from(node), 0.0)).collect();
        let scenario = Scenario {
            duration_s: 1.0,
            warmup_s: 0.0,
            seed: 1,
            replication: 0,
            routing: RoutingKind::Static,
            params: profile("rfc").expect("the profile exists"),
            flows: Vec::new(),
            rates: Vec::new(),
            radios: Vec::new(),
            walls: Vec::new(),
            energy: None,
            wired: Vec::new(),
            movement,
        };
        let paths: Arc<[Path]> = scenario.movement.iter().map(Path::new).collect();
        let mut clock = Clock::new(Time::from_secs(scenario.duration_s));
        let mut channel = Channel::new(&scenario, &paths, &clock);
        for node in 0..nodes {
            let stream = Streams::new(1, 0).stream(node, Purpose::Mac);
            let mac = Dcf::new(NodeId(node), &channel.timing, stream);
            channel.add_mac(mac, clock.agenda.add_slot());
        }
        let transmissions = (0..nodes).map(|_| clock.agenda.add_slot()).collect();
        channel.open(transmissions, clock.agenda.add_slot());
        Row { clock, channel, nodes, frames: Vec::new(), log: Vec::new() }
    }

    /// The node sends a frame at a time, for so long, both in ns.
    fn send(&mut self, node: u32, start: u64, airtime: u64) {
        let packet = Packet::control(Time(start), NodeId(node), NodeId::BROADCAST, 1, 100, Payload::Nothing);
        let frame = Frame {
            kind: FrameKind::Data,
            from: NodeId(node),
            to: NodeId::BROADCAST,
            reserves: Span::ZERO,
            rate: self.channel.timing.rate(1e6),
            airtime: Span(airtime),
            bytes: 134,
            sequence: 0,
            class: Class::Routing,
            body: Some(Rc::new(Body::Ip(packet))),
        };
        let slot = self.clock.agenda.add_slot();
        self.clock.agenda.set(slot, Time(start));
        self.frames.push((slot, frame));
    }

    fn run(&mut self) {
        let mut watch = Watching::default();
        for _ in 0..1000 {
            let Some((time, slot)) = self.clock.agenda.pop() else { return };
            self.clock.now = time;
            let mut heard = match slot.0 {
                mac if mac < self.nodes => None,
                air if air < 2 * self.nodes => {
                    self.channel.handle_due(&mut self.clock, &mut watch, air - self.nodes)
                }
                starts if starts == 2 * self.nodes => {
                    self.channel.deliver_frame_starts(&mut self.clock, &mut watch)
                }
                _ => {
                    let sent = self.frames.iter().find(|(of, _)| *of == slot).expect("a frame's slot");
                    let (node, frame) = (sent.1.from.0, sent.1.clone());
                    let id = self.channel.free_place(node).expect("the node's own place");
                    self.channel.transmit(&mut self.clock, &mut watch, node, id, frame);
                    None
                }
            };
            while let Some(of) = heard {
                self.log.push((self.clock.now.0, of.node, of.id));
                self.channel.receive(&self.clock, of.node, of.id, &mut Vec::new());
                heard = self.channel.poll(&mut self.clock, &mut watch, of);
            }
        }
        panic!("the channel does not come to rest");
    }
}

fn way_ns(metres: f64) -> u64 {
    Propagation::delay_ns(metres * metres).into()
}

#[test]
fn a_frame_reaches_the_nearest_first() {
    let mut row = Row::new(3);
    row.send(0, 0, 1_000_000);
    row.run();
    assert_eq!(row.log, [(1_000_000 + way_ns(100.0), 1, 0), (1_000_000 + way_ns(200.0), 2, 0)]);
    assert_eq!(row.channel.arrivals, 2);
}

/// The middle node acts on the frame of one end at the instant at which that of the other end begins there.
#[test]
fn a_frame_that_ends_as_another_begins_does_not_overlap_it() {
    let mut row = Row::new(3);
    row.send(0, 0, 1_000_000);
    row.send(2, 1_000_000, 1_000_000);
    row.run();
    let (near, far) = (way_ns(100.0), way_ns(200.0));
    let ends = 1_000_000;
    let first = [(ends + near, 1, 0), (ends + far, 2, 0)];
    assert_eq!(row.log, [first, [(2 * ends + near, 1, 2), (2 * ends + far, 0, 2)]].concat());
}

/// The same for a frame that is shorter than its way, whose end nothing has announced yet when the other
/// begins: the other's first bit waits until the node has acted.
#[test]
fn a_first_bit_waits_until_its_node_has_acted_on_what_ends_there() {
    let mut row = Row::new(3);
    row.send(0, 0, 1);
    row.send(2, 1, 1_000_000);
    row.run();
    let (near, far) = (way_ns(100.0), way_ns(200.0));
    let first = [(1 + near, 1, 0), (1 + far, 2, 0)];
    assert_eq!(row.log, [first, [(1_000_001 + near, 1, 2), (1_000_001 + far, 0, 2)]].concat());
}
