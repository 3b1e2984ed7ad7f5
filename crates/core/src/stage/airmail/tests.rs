//! A base station, a mobile node, and what is on the air between them.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::drops::DropReason;
use crate::kernel::{Purpose, Streams};
use crate::wire::FlowId;

const HOST: NodeId = NodeId(0);
const STATION: NodeId = NodeId(1);
const MOBILE: NodeId = NodeId(2);

fn rules(window: u32, retries: u32) -> TcpParams {
    TcpParams { airmail_window: window, airmail_retries: retries, airmail_parity_max: 0, ..TcpParams::rfc() }
}

fn data(number: u64) -> Packet {
    let payload = Payload::Udp(FlowId(0), number);
    Packet { uid: number, ..Packet::control(Time::ZERO, HOST, MOBILE, 30, 1000, payload) }
}

/// The two ends and their clock. Three words: `give`, packets come from the wire; `fly`, all that is on the
/// air arrives; `wait`, the next deadline comes.
struct Cell {
    station: Airmail,
    mobile: Airmail,
    now: Time,
    flying: VecDeque<Packet>,
    /// What the base station has sent: the number of a packet, `+` for parity; `?` if it asks.
    sent: Vec<String>,
    /// Of these, in order from zero, those that get lost.
    lost: BTreeSet<usize>,
    /// Status messages, and those that get lost.
    answers: usize,
    lost_answers: BTreeSet<usize>,
    /// What went up at the mobile node, in order.
    up: Vec<u64>,
    dropped: Vec<(u64, DropReason)>,
}

impl Cell {
    fn new(params: &TcpParams, lost: &[usize]) -> Cell {
        Cell {
            station: Airmail::new(STATION, params, vec![MOBILE]),
            mobile: Airmail::new(MOBILE, params, Vec::new()),
            now: Time::ZERO,
            flying: VecDeque::new(),
            sent: Vec::new(),
            lost: lost.iter().copied().collect(),
            answers: 0,
            lost_answers: BTreeSet::new(),
            up: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn give(&mut self, numbers: std::ops::Range<u64>) {
        for number in numbers {
            let mut out = Vec::new();
            let passed = self.station.handle_outgoing(self.now, data(number), &mut out);
            self.send(passed.into_iter().collect(), out);
        }
    }

    /// The base station sends a packet that passes, then what it asks for.
    fn send(&mut self, mut packets: Vec<Packet>, out: Vec<InterceptorAction>) {
        for action in out {
            match action {
                InterceptorAction::Route(packet) => {
                    let passed = self.station.handle_outgoing(self.now, packet.clone(), &mut Vec::new());
                    assert_eq!(passed.as_ref(), Some(&packet), "what has its header passes");
                    packets.push(packet);
                }
                InterceptorAction::Send { to: MOBILE, bytes, payload } => {
                    packets.push(Packet::control(self.now, STATION, MOBILE, 30, bytes, payload));
                }
                InterceptorAction::Drop(packet, reason) => self.dropped.push((packet.uid, reason)),
                other => panic!("not of a base station: {other:?}"),
            }
        }
        for packet in packets {
            if !self.lost.contains(&self.sent.len()) {
                self.flying.push_back(packet.clone());
            }
            self.sent.push(shown(&packet));
        }
    }

    fn fly(&mut self) {
        while let Some(packet) = self.flying.pop_front() {
            let mut out = Vec::new();
            let passed = self.mobile.handle_arrival(self.now, packet, &mut out);
            let mut answers = Vec::new();
            for action in out {
                match action {
                    InterceptorAction::Up(packet, STATION) => self.up.push(number(&packet)),
                    InterceptorAction::Drop(packet, reason) => self.dropped.push((number(&packet), reason)),
                    InterceptorAction::Send { to: STATION, bytes, payload } => {
                        answers.push(Packet::control(self.now, MOBILE, STATION, 30, bytes, payload));
                    }
                    other => panic!("not of a mobile node: {other:?}"),
                }
            }
            self.up.extend(passed.iter().filter(|packet| packet.is_data()).map(number));
            for answer in answers {
                self.answers += 1;
                if !self.lost_answers.contains(&(self.answers - 1)) {
                    let mut out = Vec::new();
                    assert!(self.station.handle_arrival(self.now, answer, &mut out).is_some());
                    self.send(Vec::new(), out);
                }
            }
        }
    }

    /// Says after how many milliseconds.
    fn wait(&mut self) -> u64 {
        let before = self.now;
        self.now = self.station.next_timeout();
        let mut out = Vec::new();
        self.station.handle_timeout(self.now, &mut out);
        self.send(Vec::new(), out);
        self.now.since(before).0 / 1_000_000
    }

    fn is_idle(&self) -> bool {
        let mut kept = 0;
        self.station.kept(&mut |_| kept += 1);
        self.mobile.kept(&mut |_| kept += 1);
        self.station.next_timeout() == Time::NEVER && kept == 0
    }
}

fn number(packet: &Packet) -> u64 {
    match packet.payload {
        Payload::Udp(_, number) => number,
        _ => panic!("no data: {packet:?}"),
    }
}

fn shown(packet: &Packet) -> String {
    let (what, poll) = match (header_of(packet), &packet.payload) {
        (Some(header), _) => (number(packet).to_string(), header.stamp.poll),
        (None, Payload::Custom(message)) => match message.content::<Parity>() {
            Some(parity) if parity.packets.is_empty() => (String::new(), parity.stamp.poll),
            Some(parity) => ("+".to_owned(), parity.stamp.poll),
            None => panic!("{message:?}"),
        },
        _ => panic!("{packet:?}"),
    };
    what + if poll.is_some() { "?" } else { "" }
}

/// The first packet asks, and the one that fills the window; 4 and 5 wait for a place, and nobody has asked
/// for 5 when the last answer comes.
#[test]
fn a_window_is_under_way_and_one_status_answers_for_several_packets() {
    let mut cell = Cell::new(&rules(4, 2), &[]);
    cell.give(0..6);
    assert_eq!(cell.sent, ["0?", "1", "2", "3?"]);
    cell.fly();
    assert_eq!(cell.sent[4..], ["4?", "5", "?"]);
    assert_eq!((cell.up.clone(), cell.answers), ((0..6).collect(), 4));
    assert!(cell.is_idle());
}

/// ```text
/// sent      0? 1  2  3? 4? 1? 5?
/// lost         x
/// goes up   0              1  5
///                          2 3 4
/// ```
#[test]
fn a_lost_packet_is_repeated_and_holds_up_those_after_it() {
    let mut cell = Cell::new(&rules(4, 2), &[1]);
    cell.give(0..6);
    cell.fly();
    assert_eq!(cell.sent, ["0?", "1", "2", "3?", "4?", "1?", "5?"]);
    assert_eq!(cell.up, [0, 1, 2, 3, 4, 5]);
    assert!(cell.is_idle() && cell.dropped.is_empty());

    let mut cell = Cell::new(&TcpParams { airmail_in_order: false, ..rules(4, 2) }, &[1]);
    cell.give(0..6);
    cell.fly();
    assert_eq!(cell.up, [0, 2, 3, 4, 1, 5]);
}

/// The base station cannot know that 0 arrived, and asks with it.
#[test]
fn after_a_lost_status_the_first_packet_asks_again() {
    let mut cell = Cell::new(&rules(4, 2), &[]);
    cell.lost_answers.insert(0);
    cell.give(0..2);
    cell.fly();
    assert_eq!((cell.wait(), &cell.sent[..]), (200, &["0?", "1", "0?"].map(String::from)[..]));
    cell.fly();
    assert_eq!((cell.up.clone(), cell.dropped.clone()), (vec![0, 1], vec![(0, DropReason::Duplicate)]));
    assert!(cell.is_idle());
}

#[test]
fn a_lost_repeat_is_repeated_after_the_timeout() {
    let mut cell = Cell::new(&rules(4, 2), &[1, 4]);
    cell.give(0..4);
    cell.fly();
    assert_eq!(cell.sent[4..], ["1?"]);
    assert_eq!(cell.up, [0]);
    assert_eq!(cell.wait(), 200);
    cell.fly();
    assert_eq!((cell.sent[5..].to_vec(), cell.up.clone()), (vec!["1?".to_owned()], vec![0, 1, 2, 3]));
    assert!(cell.is_idle());
}

/// With one repeat allowed, segment 1 is given up; a mere poll tells the mobile node to wait no longer.
#[test]
fn what_is_given_up_holds_nothing_up() {
    let mut cell = Cell::new(&rules(4, 1), &[1, 4]);
    cell.give(0..4);
    cell.fly();
    cell.wait();
    cell.fly();
    assert_eq!((cell.sent[4..].to_vec(), cell.up.clone()), (vec!["1?".into(), "?".into()], vec![0, 2, 3]));
    assert!(cell.is_idle());
}

/// Two repeats, and nobody there: packet 0 is given up. Packet 1 finds the node again, which waits for no 0.
#[test]
fn a_node_that_is_away_is_asked_a_few_times() {
    let mut cell = Cell::new(&rules(4, 2), &[0, 1, 2]);
    cell.give(0..1);
    assert_eq!([cell.wait(), cell.wait(), cell.wait()], [200; 3]);
    assert_eq!((cell.sent.clone(), cell.is_idle()), (vec!["0?".to_owned(); 3], true));
    cell.give(1..2);
    cell.fly();
    assert_eq!((cell.up.clone(), cell.is_idle()), (vec![1], true));
}

#[test]
fn a_full_buffer_drops_what_comes() {
    let mut cell = Cell::new(&TcpParams { airmail_buffer_packets: 2, ..rules(1, 2) }, &[]);
    cell.give(0..4);
    assert_eq!(
        (cell.sent.clone(), cell.dropped.clone()),
        (vec!["0?".to_owned()], vec![(3, DropReason::QueueFull)])
    );
    cell.fly();
    assert_eq!(cell.up, [0, 1, 2]);
}

/// Bursts of four. One packet of each of the first five is lost: the share of losses is 1/16, 0.110, 0.146
/// and 0.174 after the first four. Half a packet of the three after the first is to be expected then, and the
/// fifth burst has parity, which saves the repeat. Without losses the share falls to 0.149 in the sixth.
#[test]
fn parity_follows_the_losses_up_and_down() {
    let params = TcpParams { airmail_parity_max: 2, ..rules(4, 2) };
    let mut cell = Cell::new(&params, &[1, 6, 11, 16, 21]);
    let bursts: Vec<String> = (0..7)
        .map(|burst| {
            let before = cell.sent.len();
            cell.give(4 * burst..4 * burst + 4);
            cell.fly();
            assert!(cell.is_idle());
            cell.sent[before..].join(" ")
        })
        .collect();
    let wanted = [
        "0? 1 2 3? 1?",
        "4? 5 6 7? 5?",
        "8? 9 10 11? 9?",
        "12? 13 14 15? 13?",
        "16? 17 18 19 +?",
        "20? 21 22 23 +?",
        "24? 25 26 27?",
    ];
    assert_eq!(bursts, wanted);
    assert_eq!(cell.up, (0..28).collect::<Vec<_>>());
}

/// Parity is as long as the longest packet of its block, a header more, and its IP header.
#[test]
fn messages_have_the_lengths_that_are_assumed() {
    let mut cell = Cell::new(&rules(4, 2), &[]);
    cell.give(0..1);
    let packet = cell.flying.front().expect("it flies").clone();
    assert_eq!(packet.bytes, 1008);
    let mut out = Vec::new();
    let passed = cell.mobile.handle_arrival(cell.now, packet, &mut out);
    assert_eq!(passed, Some(data(0)), "without the header");
    assert!(matches!(out[..], [InterceptorAction::Send { to: STATION, bytes: 36, .. }]), "{out:?}");
}

/// A base station that has crashed counts from zero again, and a mobile node that has crashed goes on where
/// the base station is.
#[test]
fn crashes_lose_what_is_held_and_nothing_else() {
    let mut cell = Cell::new(&rules(2, 2), &[0]);
    cell.give(0..3);
    cell.fly();
    let (mut at_station, mut at_mobile) = (Vec::new(), Vec::new());
    cell.station.handle_crash(&mut at_station);
    cell.mobile.handle_crash(&mut at_mobile);
    assert_eq!(at_station, []);
    assert_eq!(at_mobile, []);
    assert_eq!(cell.up, [0, 1, 2]);
    cell.now = Time(1_000_000_000);
    cell.give(3..5);
    cell.mobile.handle_crash(&mut at_mobile);
    cell.fly();
    assert_eq!(cell.up, [0, 1, 2, 3, 4]);

    let mut cell = Cell::new(&rules(1, 2), &[0]);
    cell.give(0..2);
    let mut lost = Vec::new();
    cell.station.handle_crash(&mut lost);
    assert_eq!(lost, [InterceptorAction::Drop(data(1), DropReason::Absent)]);
    assert!(cell.is_idle());
}

#[test]
fn what_is_no_business_of_a_base_station_passes() {
    let mut cell = Cell::new(&rules(4, 2), &[]);
    let to_host = Packet { src: MOBILE, dst: HOST, ..data(0) };
    let mut out = Vec::new();
    assert_eq!(cell.station.handle_outgoing(cell.now, to_host.clone(), &mut out), Some(to_host));
    assert_eq!(cell.mobile.handle_outgoing(cell.now, data(0), &mut out), Some(data(0)));
    assert_eq!(cell.station.handle_arrival(cell.now, data(0), &mut out), Some(data(0)));
    assert!(out.is_empty() && cell.is_idle());
}

proptest! {
    /// Whatever is lost in both directions, as long as packets are repeated often enough: each goes up once,
    /// in order unless that is not asked for, and everything comes to rest.
    #[test]
    fn every_packet_goes_up_once(
        window in 1u32..65, parity in 0u32..5, in_order in any::<bool>(), loss in 0.0f64..0.5,
        bursts in prop::collection::vec(1u64..20, 1..20), seed in any::<u64>(),
    ) {
        let params = TcpParams {
            airmail_parity_max: parity,
            airmail_in_order: in_order,
            airmail_buffer_packets: 1000,
            ..rules(window, 100)
        };
        let mut stream = Streams::new(seed, 0).stream(0, Purpose::Channel);
        let mut draw = |count: usize| -> BTreeSet<usize> { (0..count).filter(|_| stream.unit() < loss).collect() };
        let mut cell = Cell::new(&params, &[]);
        (cell.lost, cell.lost_answers) = (draw(5000), draw(5000));
        let mut given = 0;
        for burst in bursts {
            cell.give(given..given + burst);
            given += burst;
            cell.fly();
        }
        let mut steps = 0;
        while cell.station.next_timeout() != Time::NEVER {
            cell.wait();
            cell.fly();
            steps += 1;
            prop_assert!(steps < 10_000, "no end");
        }
        prop_assert!(cell.is_idle());
        if !in_order {
            cell.up.sort_unstable();
        }
        prop_assert_eq!(cell.up, (0..given).collect::<Vec<_>>());
    }
}
