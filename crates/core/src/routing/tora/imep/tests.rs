//! IMEP by hand, packet after packet.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::at;
use crate::wire::tora::Height;

const ME: NodeId = NodeId(1);

fn imep() -> Imep {
    let stream = Streams::new(1, 0).stream(ME.0, Purpose::Routing);
    let mut imep = Imep::new(ME, Arc::new(ToraParams::default()), stream);
    imep.start(at(0.0));
    imep
}

/// With links up to these neighbours, which said so at 0 s.
fn linked(neighbours: &[u32]) -> Imep {
    let mut imep = imep();
    for neighbour in neighbours {
        assert_eq!(hear(&mut imep, 0.0, *neighbour, &hello(1)), [Event::Up(NodeId(*neighbour))]);
    }
    imep
}

fn hello(heard: u32) -> Packet {
    Packet { hellos: [NodeId(heard)].into(), ..Packet::default() }
}

fn ack(seqno: u8) -> Packet {
    Packet { acks: [Ack { to: ME, seqno }].into(), ..Packet::default() }
}

fn query(dst: u32) -> Message {
    Message::Qry { dst: NodeId(dst) }
}

/// A block with one object, a query for `dst`, which this node is to acknowledge.
fn block(seqno: u8, dst: u32) -> Packet {
    let block = Block { seqno, responders: [ME].into(), objects: [query(dst)].into() };
    Packet { block: Some(block), ..Packet::default() }
}

fn hear(imep: &mut Imep, seconds: f64, from: u32, packet: &Packet) -> Vec<Event> {
    let mut events = Vec::new();
    imep.hear(at(seconds), NodeId(from));
    imep.receive(at(seconds), NodeId(from), packet, &mut events);
    events
}

/// Packets that were sent, each with its time in s.
type Sent = Vec<(f64, Packet)>;

/// What a node sends, and what it tells TORA, up to a time, each with its time.
fn run(imep: &mut Imep, until: f64) -> (Sent, Vec<(Time, Event)>) {
    let (mut sent, mut told) = (Vec::new(), Vec::new());
    while imep.next_timeout() <= at(until) {
        let now = imep.next_timeout();
        let (mut packets, mut events) = (Vec::new(), Vec::new());
        imep.handle_timeout(now, &mut packets, &mut events);
        assert!(imep.next_timeout() > now);
        sent.extend(packets.into_iter().map(|packet| (now.as_secs(), packet)));
        told.extend(events.into_iter().map(|event| (now, event)));
    }
    (sent, told)
}

fn objects(event: &Event) -> Option<u32> {
    if let Event::Object(_, message) = event { Some(message.dst().0) } else { None }
}

/// The destinations of the queries that are told.
fn told(events: &[Event]) -> Vec<u32> {
    events.iter().filter_map(objects).collect()
}

#[test]
fn a_node_that_hears_nobody_sends_a_beacon_a_second() {
    let mut imep = imep();
    let (sent, _) = run(&mut imep, 9.999);
    assert_eq!(sent.len(), 10);
    assert!(sent.iter().all(|(_, packet)| packet.bytes() == 4));
    assert!(sent.windows(2).all(|pair| (pair[1].0 - pair[0].0 - 1.0).abs() < 1e-6));
}

#[test]
fn a_node_says_hello_to_whom_it_hears_and_waits_for_company() {
    let mut imep = imep();
    hear(&mut imep, 0.0, 2, &Packet::default());
    hear(&mut imep, 0.0, 3, &hello(4));
    let beacon_at = imep.next_timeout().as_secs();
    let (sent, _) = run(&mut imep, beacon_at + 0.9);
    let [(time, packet)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(*packet.hellos, [NodeId(2), NodeId(3)]);
    assert!((0.150..0.250).contains(&(time - beacon_at)), "{time}");
    assert_eq!(packet.bytes(), 4 + 4 + 2 * 4);
}

#[test]
fn a_link_is_up_when_the_neighbour_says_that_it_hears_this_node() {
    let mut imep = imep();
    assert_eq!(hear(&mut imep, 1.0, 2, &hello(3)), []);
    assert_eq!(hear(&mut imep, 1.1, 2, &hello(1)), [Event::Up(NodeId(2))]);
    assert_eq!(hear(&mut imep, 1.2, 2, &hello(1)), []);
    assert_eq!(hear(&mut imep, 1.3, 3, &ack(7)), [Event::Up(NodeId(3))]);
    let asked = hear(&mut imep, 1.4, 4, &block(9, 5));
    assert_eq!(asked, [Event::Up(NodeId(4)), Event::Object(NodeId(4), query(5))]);
}

#[test]
fn a_link_is_down_three_seconds_after_either_direction_was_shown_last() {
    let mut imep = linked(&[2, 3]);
    // 3 is still heard, but does not say whom it hears.
    hear(&mut imep, 2.5, 3, &Packet::default());
    let (_, events) = run(&mut imep, 10.0);
    assert_eq!(events, [(at(3.0), Event::Down(NodeId(2))), (at(3.0), Event::Down(NodeId(3)))]);
    assert_eq!(hear(&mut imep, 10.0, 3, &hello(1)), [Event::Up(NodeId(3))]);
}

#[test]
fn a_failure_of_the_mac_takes_a_link_down_at_once() {
    let mut imep = linked(&[2]);
    let mut events = Vec::new();
    imep.lose(NodeId(2), &mut events);
    imep.lose(NodeId(2), &mut events);
    assert_eq!(events, [Event::Down(NodeId(2))]);
    assert_eq!(hear(&mut imep, 0.5, 2, &Packet::default()), []);
    assert_eq!(hear(&mut imep, 0.6, 2, &hello(1)), [Event::Up(NodeId(2))]);
}

#[test]
fn objects_go_together_to_all_neighbours_with_hellos_and_acks() {
    let mut imep = linked(&[2, 3]);
    hear(&mut imep, 0.0, 2, &block(40, 8));
    imep.send(at(0.0), query(5));
    imep.send(at(0.004), query(6));
    let (sent, _) = run(&mut imep, 0.010);
    let [(_, packet)] = &sent[..] else { panic!("{sent:?}") };
    let block = packet.block.as_ref().expect("objects");
    assert_eq!((block.seqno, &*block.objects), (0, &[query(5), query(6)][..]));
    assert_eq!(*block.responders, [NodeId(2), NodeId(3)]);
    assert_eq!(*packet.acks, [Ack { to: NodeId(2), seqno: 40 }]);
    assert_eq!(packet.bytes(), 4 + (4 + 8) + (4 + 2 * (2 + 8) + 2 * 4));
}

/// Sent at t, and to those that were silent half a second and a second later; lost after one and a half.
#[test]
fn blocks_are_repeated_twice_to_those_that_are_silent_and_then_these_are_lost() {
    let mut imep = linked(&[2, 3]);
    imep.send(at(0.0), query(5));
    let (first, _) = run(&mut imep, 0.1);
    let sent_at = first[0].0;
    hear(&mut imep, 0.2, 2, &ack(0));
    let (sent, events) = run(&mut imep, 1.9);
    let repeated: Vec<(f64, Vec<NodeId>)> = sent
        .iter()
        .filter_map(|(time, packet)| Some((time - sent_at, packet.block.as_ref()?.responders.to_vec())))
        .collect();
    assert!(repeated.iter().all(|(_, responders)| *responders == [NodeId(3)]), "{repeated:?}");
    let times: Vec<f64> = repeated.iter().map(|(after, _)| (after * 1e6).round() / 1e6).collect();
    assert_eq!(times, [0.5, 1.0]);
    let [(lost_at, Event::Down(NodeId(3)))] = events[..] else { panic!("{events:?}") };
    assert!((lost_at.as_secs() - sent_at - 1.5).abs() < 1e-6);
}

#[test]
fn a_block_that_all_have_acknowledged_is_not_sent_again() {
    let mut imep = linked(&[2, 3]);
    imep.send(at(0.0), query(5));
    run(&mut imep, 0.1);
    hear(&mut imep, 0.2, 3, &ack(0));
    hear(&mut imep, 0.3, 2, &ack(0));
    hear(&mut imep, 0.3, 3, &ack(1));
    let (sent, events) = run(&mut imep, 2.5);
    assert!(sent.iter().all(|(_, packet)| packet.block.is_none()) && events.is_empty());
}

#[test]
fn of_heights_that_wait_only_the_last_for_a_destination_is_told_and_the_rest_keeps_its_order() {
    let height = |dst, delta| {
        let height = Height { delta, ..Height::zero(NodeId(dst)) };
        Message::Upd { dst: NodeId(dst), height: Some(height) }
    };
    let clear = Message::Clr { dst: NodeId(7), tau: at(0.05), oid: ME };
    let waiting = [
        height(7, 1),
        query(7),
        height(8, 1),
        clear,
        height(7, 2),
        Message::Upd { dst: NodeId(7), height: None },
    ];
    let sent = |latest_heights| {
        let mut imep = linked(&[2]);
        imep.params = Arc::new(ToraParams { latest_heights, ..ToraParams::default() });
        waiting.iter().for_each(|object| imep.send(at(0.1), *object));
        let (sent, _) = run(&mut imep, 0.11);
        let blocks = sent.into_iter().filter_map(|(_, packet)| packet.block);
        blocks.flat_map(|block| block.objects.to_vec()).collect::<Vec<Message>>()
    };
    assert_eq!(sent(false), waiting);
    assert_eq!(sent(true), [waiting[1], waiting[2], waiting[3], waiting[5]]);
}

#[test]
fn blocks_are_told_in_order_and_once_and_every_copy_is_acknowledged() {
    let mut imep = linked(&[2]);
    assert_eq!(told(&hear(&mut imep, 0.1, 2, &block(254, 4))), [4]);
    assert_eq!(told(&hear(&mut imep, 0.2, 2, &block(0, 6))), [0; 0]);
    assert_eq!(told(&hear(&mut imep, 0.2, 2, &block(0, 6))), [0; 0]);
    assert_eq!(told(&hear(&mut imep, 0.3, 2, &block(1, 7))), [0; 0]);
    assert_eq!(told(&hear(&mut imep, 0.4, 2, &block(255, 5))), [5, 6, 7]);
    assert_eq!(told(&hear(&mut imep, 0.5, 2, &block(254, 4))), [0; 0]);
    let acks: Vec<u8> = imep.acks.iter().map(|ack| ack.seqno).collect();
    assert_eq!(acks, [254, 0, 1, 255]);
    assert_eq!(run(&mut imep, 2.4).1, []);
}

#[test]
fn a_gap_is_skipped_after_its_time_as_if_the_link_had_been_down() {
    let mut imep = linked(&[2]);
    hear(&mut imep, 0.1, 2, &block(10, 4));
    hear(&mut imep, 0.2, 2, &block(12, 6));
    hear(&mut imep, 0.3, 2, &block(15, 8));
    let (_, events) = run(&mut imep, 3.25);
    let two = NodeId(2);
    let reset = |time, dst| {
        [(at(time), Event::Down(two)), (at(time), Event::Up(two)), (at(time), Event::Object(two, query(dst)))]
    };
    // The neighbour's link has been believed in until 3.3 s.
    assert_eq!(events, [reset(1.7, 6), reset(3.2, 8)].concat());
}

#[test]
fn a_neighbour_that_starts_anew_is_a_new_neighbour() {
    let mut imep = linked(&[2]);
    assert_eq!(told(&hear(&mut imep, 0.1, 2, &block(200, 4))), [4]);
    let anew = Packet { is_new: true, ..Packet::default() };
    assert_eq!(hear(&mut imep, 1.0, 2, &anew), [Event::Down(NodeId(2))]);
    assert_eq!(hear(&mut imep, 1.1, 2, &anew), []);
    let first = Packet { is_new: true, ..block(0, 5) };
    assert_eq!(hear(&mut imep, 1.2, 2, &first), [Event::Up(NodeId(2)), Event::Object(NodeId(2), query(5))]);
    assert_eq!(told(&hear(&mut imep, 4.1, 2, &block(1, 6))), [6]);
}

#[test]
fn a_node_says_for_three_seconds_that_it_has_just_started() {
    let (sent, _) = run(&mut imep(), 9.0);
    assert!(sent.iter().all(|(time, packet)| packet.is_new == (*time < 3.0)), "{sent:?}");
}
