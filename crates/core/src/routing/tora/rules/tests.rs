//! Park and Corson's rules by hand, and what holds in any network of nodes that follow them.

use std::collections::VecDeque;

use super::*;
use crate::kernel::{Purpose, Stream, Streams};
use crate::routing::testbench::at;

const ME: NodeId = NodeId(1);
const D: NodeId = NodeId(9);

fn height(tau: f64, oid: u32, reflected: bool, delta: i32, id: u32) -> Height {
    Height { level: Level { tau: at(tau), oid: NodeId(oid), reflected }, delta, id: NodeId(id) }
}

fn upd(height: Height) -> Message {
    Message::Upd { dst: D, height: Some(height) }
}

const QRY: Message = Message::Qry { dst: D };
const NULL: Message = Message::Upd { dst: D, height: None };

/// A node with links to these neighbours, up since the start.
fn node(neighbours: &[u32]) -> Rules {
    let mut rules = Rules::new(ME, Arc::new(ToraParams::default()));
    neighbours.iter().for_each(|neighbour| rules.link_up(at(0.0), NodeId(*neighbour), &mut Vec::new()));
    rules
}

/// A node two hops from D over its neighbour 2, to whom these others have told their heights.
fn routed(others: &[Height]) -> Rules {
    let neighbours: Vec<u32> = [2].into_iter().chain(others.iter().map(|height| height.id.0)).collect();
    let mut rules = node(&neighbours);
    require(&mut rules, 1.0);
    hear(&mut rules, 1.1, 2, upd(height(0.0, 9, false, 1, 2)));
    for other in others {
        assert_eq!(hear(&mut rules, 1.2, other.id.0, upd(*other)), []);
    }
    assert_eq!(own(&rules), Some(height(0.0, 9, false, 2, 1)));
    rules
}

fn require(rules: &mut Rules, seconds: f64) -> Vec<Message> {
    let mut out = Vec::new();
    rules.require_route(at(seconds), D, &mut out);
    out
}

fn hear(rules: &mut Rules, seconds: f64, from: u32, message: Message) -> Vec<Message> {
    let mut out = Vec::new();
    rules.receive(at(seconds), NodeId(from), message, &mut out);
    out
}

fn lose(rules: &mut Rules, seconds: f64, neighbour: u32) -> Vec<Message> {
    let mut out = Vec::new();
    rules.link_down(at(seconds), NodeId(neighbour), &mut out);
    out
}

fn own(rules: &Rules) -> Option<Height> {
    rules.destinations.get(&D)?.heights.own()
}

/// What is sent at its time when queries are sent again, up to a time.
fn queries(rules: &mut Rules, until: f64) -> Vec<(Time, Message)> {
    let mut sent = Vec::new();
    while rules.next_query() <= at(until) {
        let (now, mut out) = (rules.next_query(), Vec::new());
        rules.repeat_queries(now, &mut out);
        sent.extend(out.into_iter().map(|message| (now, message)));
    }
    sent
}

#[test]
fn heights_are_ordered_by_level_then_delta_then_node() {
    let ordered = [
        Height::zero(D),
        height(0.0, 9, false, 1, 2),
        height(0.0, 9, false, 1, 3),
        height(0.0, 9, false, 2, 1),
        height(5.0, 4, false, -1, 8),
        height(5.0, 4, false, 0, 4),
        height(5.0, 4, true, 0, 2),
        height(5.0, 5, false, 0, 1),
        height(6.0, 1, false, -9, 1),
    ];
    assert!(ordered.is_sorted() && ordered.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn a_route_is_asked_for_once_and_made_above_the_neighbour_that_answers() {
    let mut rules = node(&[2, 3]);
    assert_eq!(require(&mut rules, 1.0), [QRY]);
    assert_eq!(require(&mut rules, 1.1), []);
    assert_eq!(rules.next_hop(D), None);
    assert_eq!(
        hear(&mut rules, 1.2, 2, upd(height(0.0, 9, false, 1, 2))),
        [upd(height(0.0, 9, false, 2, 1))]
    );
    assert_eq!(rules.next_hop(D), Some(NodeId(2)));
    // A lower neighbour is the better one, a higher one is none.
    assert_eq!(hear(&mut rules, 1.3, 3, upd(height(0.0, 9, false, 0, 3))), []);
    assert_eq!(rules.next_hop(D), Some(NodeId(3)));
    assert_eq!(hear(&mut rules, 1.4, 3, upd(height(0.0, 9, false, 3, 3))), []);
    assert_eq!(rules.next_hop(D), Some(NodeId(2)));
}

#[test]
fn a_query_is_passed_on_once_and_only_if_there_is_somebody_else() {
    let mut rules = node(&[2, 3]);
    assert_eq!(hear(&mut rules, 1.0, 2, QRY), [QRY]);
    assert_eq!(hear(&mut rules, 1.1, 3, QRY), []);
    assert_eq!(hear(&mut node(&[2]), 1.0, 2, QRY), []);
    assert_eq!(hear(&mut node(&[2]), 1.0, 3, QRY), [], "of a stranger");
}

#[test]
fn a_neighbour_of_the_destination_answers_and_so_does_the_destination() {
    assert_eq!(hear(&mut node(&[2, 9]), 1.0, 2, QRY), [upd(height(0.0, 9, false, 1, 1))]);
    let mut destination = Rules::new(D, Arc::new(ToraParams::default()));
    destination.link_up(at(0.0), NodeId(2), &mut Vec::new());
    assert_eq!(hear(&mut destination, 1.0, 2, QRY), [upd(Height::zero(D))]);
    assert_eq!(hear(&mut destination, 1.1, 2, upd(height(0.0, 9, false, 1, 2))), []);
    assert_eq!(lose(&mut destination, 2.0, 2), []);
}

#[test]
fn a_query_of_a_neighbour_that_was_told_is_answered_only_later() {
    let mut rules = routed(&[height(0.0, 9, false, 3, 3)]);
    let mine = upd(height(0.0, 9, false, 2, 1));
    assert_eq!(hear(&mut rules, 1.5, 3, QRY), [], "told at 1.1 s");
    rules.link_up(at(1.5), NodeId(4), &mut Vec::new());
    assert_eq!(hear(&mut rules, 1.6, 4, QRY), [mine], "a new neighbour");
    assert_eq!(hear(&mut rules, 3.1, 3, QRY), []);
    assert_eq!(hear(&mut rules, 3.2, 3, QRY), [mine], "more than 1.5 s after that");
}

#[test]
fn a_query_is_sent_again_once_and_for_each_new_neighbour() {
    let mut rules = node(&[2]);
    require(&mut rules, 1.0);
    rules.link_up(at(1.1), NodeId(3), &mut Vec::new());
    assert_eq!(queries(&mut rules, 30.0), [(at(1.2), QRY), (at(4.2), QRY)], "0.2 s after the first");
    rules.link_up(at(40.0), NodeId(4), &mut Vec::new());
    assert_eq!(queries(&mut rules, 80.0), [(at(40.0), QRY), (at(43.0), QRY)]);
    assert_eq!(rules.next_query(), Time::NEVER);
}

#[test]
fn the_destination_as_a_new_neighbour_ends_a_search() {
    let mut rules = node(&[2]);
    require(&mut rules, 1.0);
    let mut out = Vec::new();
    rules.link_up(at(2.0), D, &mut out);
    assert_eq!(out, [upd(height(0.0, 9, false, 1, 1))]);
    assert_eq!((rules.next_hop(D), rules.next_query()), (Some(D), Time::NEVER));
}

#[test]
fn case_1_the_loss_of_the_last_link_down_makes_a_level_of_the_nodes_own() {
    let mut rules = routed(&[height(0.0, 9, false, 3, 3), height(0.0, 9, false, 1, 4)]);
    assert_eq!(lose(&mut rules, 5.0, 2), [], "4 is below, too");
    assert_eq!(lose(&mut rules, 6.0, 4), [upd(height(6.0, 1, false, 0, 1))]);
    assert_eq!(rules.next_hop(D), Some(NodeId(3)), "links are reversed");
}

#[test]
fn case_2_a_higher_level_of_a_neighbour_is_propagated_below_its_lowest_node() {
    let mut rules = routed(&[height(0.0, 9, false, 3, 3), height(5.0, 6, false, -4, 6)]);
    let raised = height(5.0, 6, false, -1, 2);
    assert_eq!(hear(&mut rules, 6.0, 2, upd(raised)), [upd(height(5.0, 6, false, -5, 1))]);
    assert_eq!(rules.next_hop(D), Some(NodeId(3)));
}

#[test]
fn case_3_a_level_that_all_neighbours_have_is_reflected() {
    let mut rules = routed(&[height(5.0, 6, false, -4, 6)]);
    let raised = height(5.0, 6, false, -1, 2);
    assert_eq!(hear(&mut rules, 6.0, 2, upd(raised)), [upd(height(5.0, 6, true, 0, 1))]);
    assert_eq!(rules.next_hop(D), Some(NodeId(6)));
}

#[test]
fn case_4_a_level_that_comes_back_to_its_maker_tells_of_a_partition() {
    let mut rules = routed(&[height(0.0, 9, false, 3, 3)]);
    lose(&mut rules, 6.0, 2);
    let clear = Message::Clr { dst: D, tau: at(6.0), oid: ME };
    assert_eq!(hear(&mut rules, 6.1, 3, upd(height(6.0, 1, true, 0, 3))), [clear]);
    assert_eq!((own(&rules), rules.next_hop(D)), (None, None));
}

#[test]
fn case_5_a_reflected_level_of_another_node_makes_a_new_one() {
    let mut rules = routed(&[height(5.0, 6, true, 0, 6)]);
    let reflected = height(5.0, 6, true, -1, 2);
    assert_eq!(hear(&mut rules, 6.0, 2, upd(reflected)), [upd(height(6.0, 1, false, 0, 1))]);
}

#[test]
fn a_node_without_any_link_up_has_no_height() {
    let mut rules = routed(&[]);
    assert_eq!(lose(&mut rules, 5.0, 2), [], "nobody is there to be told");
    assert_eq!(own(&rules), None);
    let mut rules = routed(&[]);
    rules.link_up(at(2.0), NodeId(3), &mut Vec::new());
    assert_eq!(lose(&mut rules, 5.0, 2), [NULL]);
}

#[test]
fn a_clear_erases_the_heights_of_its_level_and_is_passed_on() {
    let clear = Message::Clr { dst: D, tau: at(5.0), oid: NodeId(6) };
    let mut rules = routed(&[height(5.0, 6, false, -4, 6)]);
    hear(&mut rules, 6.0, 2, upd(height(5.0, 6, false, -1, 2)));
    assert_eq!(hear(&mut rules, 6.1, 6, clear), [clear]);
    assert_eq!((own(&rules), rules.next_hop(D)), (None, None));
    assert_eq!(hear(&mut rules, 6.2, 2, clear), [], "it is erased already");
}

#[test]
fn a_clear_of_another_level_erases_what_its_sender_and_this_level_had() {
    let clear = Message::Clr { dst: D, tau: at(5.0), oid: NodeId(6) };
    let mut rules = routed(&[height(5.0, 6, true, 0, 6), height(0.0, 9, false, 3, 3)]);
    assert_eq!(hear(&mut rules, 6.0, 6, clear), [], "2 is still below");
    assert_eq!(hear(&mut rules, 6.1, 2, clear), [upd(height(6.1, 1, false, 0, 1))], "only 3 is known");
    assert_eq!(rules.next_hop(D), Some(NodeId(3)));
    let mut rules = routed(&[height(5.0, 6, true, 0, 6)]);
    assert_eq!(hear(&mut rules, 6.0, 2, clear), [NULL], "nobody is known");
}

#[test]
fn a_neighbour_that_has_cleared_is_told_again_when_it_asks() {
    let clear = Message::Clr { dst: D, tau: at(5.0), oid: NodeId(6) };
    let mut rules = routed(&[height(5.0, 6, true, 0, 6)]);
    hear(&mut rules, 1.3, 6, clear);
    assert_eq!(hear(&mut rules, 1.4, 6, QRY), [upd(height(0.0, 9, false, 2, 1))]);
}

/// Nodes that follow the rules, on links that keep the order of messages and lose none.
struct Network {
    nodes: Vec<Rules>,
    links: BTreeSet<(u32, u32)>,
    /// Messages on their way over each link in one direction.
    flying: BTreeMap<(u32, u32), VecDeque<Message>>,
    sources: Vec<u32>,
    now: Time,
    delivered: usize,
    stream: Stream,
}

/// The destination's number.
const SINK: u32 = 0;

impl Network {
    /// A random connected network of 3 to 10 nodes.
    fn draw(run: u64) -> Network {
        let mut stream = Streams::new(5, run).stream(0, Purpose::Mobility);
        let count = 3 + stream.below(8);
        let params = Arc::new(ToraParams::default());
        let mut network = Network {
            nodes: (0..count).map(|node| Rules::new(NodeId(node), Arc::clone(&params))).collect(),
            links: BTreeSet::new(),
            flying: BTreeMap::new(),
            sources: (1..count).filter(|_| stream.below(3) == 0).collect(),
            now: at(1.0),
            delivered: 0,
            stream,
        };
        for node in 1..count {
            let other = network.stream.below(node);
            network.link(node, other);
        }
        for _ in 0..network.stream.below(count + 1) {
            let (a, b) = (network.stream.below(count), network.stream.below(count));
            if a != b && !network.links.contains(&(a.min(b), a.max(b))) {
                network.link(a, b);
            }
        }
        network
    }

    fn neighbours(&self, node: u32) -> Vec<u32> {
        let of = |&(a, b): &(u32, u32)| if a == node { Some(b) } else { (b == node).then_some(a) };
        self.links.iter().filter_map(of).collect()
    }

    fn act(&mut self, node: u32, act: impl FnOnce(&mut Rules, Time, &mut Vec<Message>)) {
        let mut out = Vec::new();
        act(&mut self.nodes[node as usize], self.now, &mut out);
        for other in self.neighbours(node) {
            self.flying.entry((node, other)).or_default().extend(&out);
        }
    }

    fn link(&mut self, a: u32, b: u32) {
        self.links.insert((a.min(b), a.max(b)));
        for (node, other) in [(a, b), (b, a)] {
            self.act(node, |rules, now, out| rules.link_up(now, NodeId(other), out));
        }
    }

    fn unlink(&mut self, (a, b): (u32, u32)) {
        self.links.remove(&(a, b));
        for (node, other) in [(a, b), (b, a)] {
            self.flying.remove(&(node, other));
            self.act(node, |rules, now, out| rules.link_down(now, NodeId(other), out));
        }
    }

    /// Sources ask if they have no route; then all messages arrive, in an order by chance.
    fn settle(&mut self) {
        let limit = self.delivered + 100_000;
        loop {
            for source in self.sources.clone() {
                if self.nodes[source as usize].next_hop(NodeId(SINK)).is_none() {
                    self.act(source, |rules, now, out| rules.require_route(now, NodeId(SINK), out));
                }
            }
            self.now += Span::from_millis(1);
            let busy: Vec<(u32, u32)> =
                self.flying.iter().filter(|(_, queue)| !queue.is_empty()).map(|(link, _)| *link).collect();
            if busy.is_empty() {
                let again_at = self.nodes.iter().map(Rules::next_query).min().unwrap_or(Time::NEVER);
                if again_at == Time::NEVER {
                    return;
                }
                self.now = self.now.max(again_at);
                for node in 0..self.nodes.len() as u32 {
                    self.act(node, |rules, now, out| rules.repeat_queries(now, out));
                }
                continue;
            }
            let (from, to) = busy[self.stream.below(busy.len() as u32) as usize];
            let message = self.flying.get_mut(&(from, to)).and_then(VecDeque::pop_front);
            let message = message.expect("the link is busy");
            self.delivered += 1;
            assert!(self.delivered < limit, "messages have no end");
            self.act(to, |rules, now, out| rules.receive(now, NodeId(from), message, out));
        }
    }

    fn height(&self, node: u32) -> Option<Height> {
        if node == SINK {
            return Some(Height::zero(NodeId(SINK)));
        }
        self.nodes[node as usize].destinations.get(&NodeId(SINK))?.heights.own()
    }

    fn reaches_sink(&self, node: u32) -> bool {
        let mut found = BTreeSet::from([SINK]);
        let mut next = vec![SINK];
        while let Some(node) = next.pop() {
            next.extend(self.neighbours(node).into_iter().filter(|other| found.insert(*other)));
        }
        found.contains(&node)
    }

    /// What holds when nothing more is sent: links that lead down really do, so that they form no circle;
    /// only the destination has none; sources that can be served are; elsewhere no height is left.
    fn check(&self, when: &str) {
        for node in (0..self.nodes.len() as u32).filter(|node| *node != SINK) {
            let next = self.nodes[node as usize].next_hop(NodeId(SINK)).map(|next| next.0);
            let own = self.height(node);
            if let (Some(next), Some(own)) = (next, own) {
                assert!(self.height(next).is_some_and(|below| below < own), "{when}: {node} above {next}");
            }
            if !self.reaches_sink(node) {
                assert_eq!((own, next), (None, None), "{when}: {node} is cut off");
            } else if own.is_some() || self.sources.contains(&node) {
                assert!(next.is_some(), "{when}: {node} has no link down");
            }
        }
    }
}

/// Static networks, then without a link, and with it again.
#[test]
fn heights_order_the_links_of_any_network_and_partitions_are_erased() {
    for run in 0..2_000 {
        let mut network = Network::draw(run);
        network.settle();
        network.check(&format!("network {run}, at first"));
        let links: Vec<(u32, u32)> = network.links.iter().copied().collect();
        let broken = links[network.stream.below(links.len() as u32) as usize];
        network.unlink(broken);
        network.settle();
        network.check(&format!("network {run}, without {broken:?}"));
        network.link(broken.0, broken.1);
        network.settle();
        network.check(&format!("network {run}, with {broken:?} again"));
    }
}
