//! How soon after the start pings arrive, as meshnet-lab measures daemons (its test `convergence1` of 2024).
//!
//! Every two seconds 200 pairs of nodes send a ping each, one after the other. An answer counts if it comes
//! within a second. meshnet-lab starts all daemons anew for every two seconds; here the network goes on, as
//! pings change nothing for protocols that find their routes unasked. It takes 1.6 s to start its daemons,
//! and counts from the end of that; here all nodes start at once.

use manetlab_core::kernel::{Purpose, Span, Stream, Streams, Time};
use manetlab_core::scenario::{Params, RoutingKind};

use crate::graph::Graph;
use crate::network::Network;
use crate::subject::Subject;

/// Pings in a round.
const PINGS: u32 = 200;
/// From ping to ping: a round lasts two seconds.
const BETWEEN: Span = Span::from_millis(10);
/// How long an answer is waited for.
const ANSWER: Span = Span::from_millis(1000);
/// What a packet takes over a link.
const LINK_DELAY: Span = Span::from_millis(1);

/// batman-adv between wires, as it runs in meshnet-lab: there quality falls once at each hop, not twice.
const WIRED: &str = "batman:batman-adv-wired";

/// The parameter set of this name; one is there that scenarios have no name for.
pub fn subject(name: &str) -> Option<Subject> {
    if name != WIRED {
        return Subject::named(name);
    }
    let mut params = Params::default().with_routing_set(RoutingKind::Batman, "batman-adv")?;
    params.batman.half_duplex = false;
    Some(Subject::of(RoutingKind::Batman, "batman-adv-wired", params))
}

/// The shapes of meshnet-lab's networks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// 50 nodes in a row.
    Line,
    /// Seven rows of seven.
    Grid,
    /// 50 nodes, each linked to a random one of those before it.
    Tree,
}

impl Shape {
    /// The shape of this name.
    pub fn named(name: &str) -> Option<Shape> {
        match name {
            "line" => Some(Shape::Line),
            "grid" => Some(Shape::Grid),
            "tree" => Some(Shape::Tree),
            _ => None,
        }
    }

    /// A network of this shape.
    pub fn draw(self, stream: &mut Stream) -> Graph {
        let mut graph = Graph::without_links(if self == Shape::Grid { 49 } else { 50 });
        for node in 1..graph.nodes() {
            match self {
                Shape::Line => graph.link(node, node - 1),
                Shape::Tree => graph.link(node, stream.below(node)),
                Shape::Grid => {
                    if node % 7 != 0 {
                        graph.link(node, node - 1);
                    }
                    if node >= 7 {
                        graph.link(node, node - 7);
                    }
                }
            }
        }
        graph
    }
}

/// Of 200 pings how many are answered, in each round of two seconds from the start on.
pub fn answered(subject: &Subject, shape: Shape, seed: u64, rounds: u32) -> Vec<u32> {
    let streams = Streams::new(seed, 0);
    let mut stream = streams.stream(0, Purpose::Mobility);
    let graph = shape.draw(&mut stream);
    let mut network = Network::new(graph.clone(), subject.make(&graph, streams), 0);
    network.set_link_delay(LINK_DELAY);
    let mut lab = Lab { network, open: Vec::new(), answered: vec![0; rounds as usize] };
    let mut time = Time::ZERO;
    for number in 0..rounds * PINGS {
        lab.look(time);
        lab.ask(pair(&graph, &mut stream), number / PINGS);
        time += BETWEEN;
    }
    while !lab.open.is_empty() {
        lab.look(time);
        time += BETWEEN;
    }
    lab.answered
}

/// Two nodes at least two hops from each other, drawn as meshnet-lab does: the first of them any but the
/// last, the second any after it, and then in random order. So near pairs are more frequent.
fn pair(graph: &Graph, stream: &mut Stream) -> (u32, u32) {
    loop {
        let low = stream.below(graph.nodes() - 1);
        let high = low + 1 + stream.below(graph.nodes() - 1 - low);
        if !graph.has(low, high) {
            return if stream.below(2) == 0 { (low, high) } else { (high, low) };
        }
    }
}

/// A ping that has no answer yet.
struct Ping {
    pair: (u32, u32),
    round: u32,
    until: Time,
    /// Numbers of its packets: the question, and the answer once the question has arrived.
    asked: usize,
    answer: Option<usize>,
}

struct Lab {
    network: Network,
    open: Vec<Ping>,
    /// Of each round.
    answered: Vec<u32>,
}

impl Lab {
    fn ask(&mut self, pair: (u32, u32), round: u32) {
        let until = self.network.now() + ANSWER;
        let asked = self.network.send(pair.0, pair.1);
        self.open.push(Ping { pair, round, until, asked, answer: None });
    }

    /// Looks at this time which questions and which answers have arrived.
    fn look(&mut self, time: Time) {
        self.network.run_until(time);
        let network = &mut self.network;
        let answered = &mut self.answered;
        self.open.retain_mut(|ping| {
            let has_answer = ping.answer.is_some_and(|uid| network.hops_of(uid).is_some());
            answered[ping.round as usize] += u32::from(has_answer);
            if ping.answer.is_none() && network.hops_of(ping.asked).is_some() {
                ping.answer = Some(network.send(ping.pair.1, ping.pair.0));
            }
            !has_answer && time < ping.until
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Streams::new(1, 0).stream(0, Purpose::Mobility)
    }

    fn answered(name: &str, shape: Shape, rounds: u32) -> Vec<u32> {
        let subject = subject(name).unwrap_or_else(|| panic!("{name}"));
        super::answered(&subject, shape, 1, rounds)
    }

    #[test]
    fn shapes_are_those_of_meshnet_lab() {
        let links = |shape: Shape| shape.draw(&mut stream()).links().len();
        assert_eq!([Shape::Line, Shape::Grid, Shape::Tree].map(links), [49, 84, 49]);
        let far = |shape: Shape| shape.draw(&mut stream()).hops(0).into_iter().flatten().max();
        assert_eq!([Shape::Line, Shape::Grid].map(far), [Some(49), Some(12)]);
    }

    #[test]
    fn near_pairs_are_more_frequent_and_neighbours_are_none() {
        let (graph, mut stream) = (Shape::Line.draw(&mut stream()), stream());
        let far: Vec<u32> =
            (0..4000).map(|_| pair(&graph, &mut stream)).map(|(a, b)| a.abs_diff(b)).collect();
        assert_eq!(far.iter().min(), Some(&2));
        // By the law of the draw, 92.1 % are within 32 hops; of all pairs 87.0 % would be.
        let near = far.iter().filter(|far| **far <= 32).count();
        assert!((3610..3760).contains(&near), "{near}");
    }

    #[test]
    fn pings_are_answered_when_routes_go_both_ways() {
        assert_eq!(answered("static", Shape::Grid, 2), [200, 200]);
        let counts = answered("babel:babeld", Shape::Grid, 10);
        assert!(counts[0] < 20 && counts[9] == 200, "{counts:?}");
    }

    /// Before nodes remembered what neighbours say before their first Hello, this took 20 s: the next full
    /// updates.
    #[test]
    fn a_grid_of_babel_has_its_routes_before_the_second_full_updates() {
        for name in ["babel:rfc8966", "babel:babeld"] {
            let counts = answered(name, Shape::Grid, 5);
            assert!(counts[4] >= 180, "{name}: {counts:?}");
        }
    }

    /// By the law of the draw, 65 % of the pairs are within 16 hops, and 92 % within 32.
    #[test]
    fn the_quality_of_batman_adv_ends_after_16_hops_over_one_radio_and_after_32_between_wires() {
        for (name, range) in [("batman:batman-adv", 620..690), (WIRED, 890..950)] {
            let counts = answered(name, Shape::Line, 40);
            let last: u32 = counts[35..].iter().sum();
            assert!(range.contains(&last), "{name}: {counts:?}");
        }
    }
}
