//! What happens on each topology, and what is asked of a protocol then.
//!
//! Some pairs of nodes send a packet every two seconds all the time, so that protocols on demand have
//! something to do. When a protocol has had its time after a change, each pair sends two more, and these are
//! judged: everything that can arrive must arrive. Where all nodes have routes to all, their next hops are
//! followed from every node to every other as well.

use manetlab_core::kernel::{Purpose, Span, Stream, Streams, Time};
use manetlab_core::routing::ConnectionEvent;
use manetlab_core::wire::NodeId;

use crate::bytes;
use crate::graph::{Graph, shuffled};
use crate::network::Network;
use crate::promise::Promise;
use crate::subject::Subject;
use crate::terms::{Terms, terms};

/// Pairs of nodes that send.
const PAIRS: u32 = 10;
/// Seconds between a pair's packets.
const INTERVAL_S: f64 = 2.0;
/// After its time a protocol sends packets that are judged for so long, and they may arrive for as long.
const JUDGED_S: f64 = 4.0;
/// Messages that are turned into bytes and back, of one network.
const MESSAGES: usize = 200;

/// What was broken on one topology, and how.
pub type Broken = Vec<(Promise, String)>;

/// Goes through the story with a protocol on the topology of this number.
pub fn tell(subject: &Subject, run: u64) -> Broken {
    let streams = Streams::new(37, run);
    let mut stream = streams.stream(0, Purpose::Mobility);
    let graph = Graph::draw(&mut stream);
    let mut story = Story::new(subject, streams, &graph, &mut stream);
    story.judge(Promise::Complete, story.terms.settled_s);
    let first = story.judged.clone();
    story.changes(&graph, &mut stream);
    story.end();
    let mut broken = story.broken;
    broken.extend(renumbered(subject, streams, &graph, &mut stream, &first));
    broken
}

/// A pair's packets after a change: its nodes, and the hops of the last packet.
type Judged = Vec<((u32, u32), Option<u32>)>;

struct Story {
    terms: Terms,
    graph: Graph,
    network: Network,
    pairs: Vec<(u32, u32)>,
    judged: Judged,
    broken: Broken,
    /// Which node has started anew, for messages.
    anew: String,
}

impl Story {
    fn new(subject: &Subject, streams: Streams, graph: &Graph, stream: &mut Stream) -> Story {
        let nodes = graph.nodes();
        let pair = |stream: &mut Stream| {
            let src = stream.below(nodes);
            (src, (src + 1 + stream.below(nodes - 1)) % nodes)
        };
        let mut pairs: Vec<(u32, u32)> = (0..PAIRS).map(|_| pair(stream)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Story::of(subject, streams, graph, pairs)
    }

    fn of(subject: &Subject, streams: Streams, graph: &Graph, pairs: Vec<(u32, u32)>) -> Story {
        let mut network = Network::new(graph.clone(), subject.make(graph, streams), MESSAGES);
        for &(src, dst) in &pairs {
            let dst = NodeId(dst);
            network.tell(src, ConnectionEvent::Opened { dst, two_way: false });
        }
        let terms = terms(subject);
        Story {
            terms,
            graph: graph.clone(),
            network,
            pairs,
            judged: Vec::new(),
            broken: Vec::new(),
            anew: String::new(),
        }
    }

    /// The break of a link, a partition, a restart, and what comes after.
    fn changes(&mut self, graph: &Graph, stream: &mut Stream) {
        let links = graph.links();
        let broken = links[stream.below(links.len() as u32) as usize];
        let recovered_s = self.terms.recovered_s;
        let parted = graph.parted(stream.below(graph.nodes()));
        for (promise, links) in [
            (Promise::Change, graph.without(broken)),
            (Promise::Heal, graph.clone()),
            (Promise::Partition, parted),
            (Promise::Merge, graph.clone()),
        ] {
            self.graph = links;
            self.network.set_links(self.graph.clone());
            self.judge(promise, recovered_s);
        }
        self.look_for_loops([Promise::NoReturn, Promise::NoCircle]);
        let node = stream.below(graph.nodes());
        self.network.restart(node);
        self.anew = format!(" after {node} has started anew");
        self.judge(Promise::Restart, recovered_s);
        self.look_for_loops([Promise::SafeRestart; 2]);
    }

    /// Lets the protocol have its time, and looks at what arrives then.
    fn judge(&mut self, promise: Promise, after_s: f64) {
        let begin = self.network.now();
        let rounds = (after_s / INTERVAL_S).ceil() as u32;
        (0..rounds).for_each(|round| _ = self.round(begin, f64::from(round) * INTERVAL_S));
        let ready_s = f64::from(rounds) * INTERVAL_S;
        let (first, second) = (self.round(begin, ready_s), self.round(begin, ready_s + INTERVAL_S));
        let judged_at = begin + Span::from_secs(ready_s + JUDGED_S);
        self.network.run_until(judged_at);
        self.follow_next_hops(promise);
        self.network.run_until(judged_at + Span::from_secs(JUDGED_S));
        self.judged = Vec::new();
        for (place, &(src, dst)) in self.pairs.clone().iter().enumerate() {
            let hops = [first[place], second[place]].map(|uid| self.network.hops_of(uid));
            let fewest = self.graph.hops(src)[dst as usize].filter(|hops| *hops <= self.terms.horizon);
            if fewest.is_some() && hops.contains(&None) {
                self.broke(promise, format!("a packet of {src} to {dst} does not arrive{}", self.anew));
            }
            self.judged.push(((src, dst), hops[1]));
            if promise == Promise::Complete && hops[1].is_some() && hops[1] != fewest && fewest.is_some() {
                self.broke(
                    Promise::Shortest,
                    format!("{src} reaches {dst} over {:?} hops, not {fewest:?}", hops[1]),
                );
            }
        }
    }

    /// Each pair sends a packet, one pair after the other.
    fn round(&mut self, begin: Time, after_s: f64) -> Vec<usize> {
        let mut sent = Vec::new();
        for (place, (src, dst)) in self.pairs.clone().into_iter().enumerate() {
            let share = place as f64 / self.pairs.len() as f64;
            self.network.run_until(begin + Span::from_secs(after_s + share * INTERVAL_S));
            sent.push(self.network.send(src, dst));
        }
        sent
    }

    fn follow_next_hops(&mut self, promise: Promise) {
        if !self.terms.all_routes {
            return;
        }
        for src in 0..self.graph.nodes() {
            let hops = self.graph.hops(src);
            for (dst, fewest) in hops.iter().enumerate() {
                let walked = self.network.walk(src, dst as u32);
                if walked.is_some() != fewest.is_some() {
                    self.broke(promise, format!("next hops of {src} to {dst}: {walked:?} for {fewest:?}"));
                } else if promise == Promise::Complete && walked != *fewest {
                    self.broke(
                        Promise::Shortest,
                        format!("next hops of {src} to {dst}: {walked:?} for {fewest:?}"),
                    );
                }
            }
        }
    }

    /// All links go, nobody sends any more; and what is known only at the end.
    fn end(&mut self) {
        for &(src, dst) in &self.pairs {
            let dst = NodeId(dst);
            self.network.tell(src, ConnectionEvent::Closed { dst, two_way: false });
        }
        self.network.set_links(Graph::without_links(self.graph.nodes()));
        self.network.run_until(self.network.now() + Span::from_secs(self.terms.forgotten_s));
        if let Some(left) = (0..self.graph.nodes()).find_map(|node| self.network.leftover(node)) {
            self.broke(Promise::Forgets, left);
        }
        let mut messages = self.network.messages().iter();
        if let Some(fault) = messages.find_map(|(sender, packet)| bytes::fault(*sender, packet)) {
            self.broke(Promise::Bytes, fault);
        }
    }

    /// Packets that came back, and next hops that led in a circle, since this was asked last.
    fn look_for_loops(&mut self, [no_return, no_circle]: [Promise; 2]) {
        let (returns, circle) = self.network.take_loops();
        if let Some(back) = returns.first() {
            self.broke(no_return, format!("{back:?}"));
        }
        if let Some((at, node, dst)) = circle {
            self.broke(no_circle, format!("at {:.3} s from {} to {}", at.as_secs(), node.0, dst.0));
        }
    }

    /// Only the first time counts.
    fn broke(&mut self, promise: Promise, how: String) {
        if !self.broken.iter().any(|(other, _)| *other == promise) {
            self.broken.push((promise, how));
        }
    }
}

/// Settles once more in the same network with other numbers, and compares.
fn renumbered(
    subject: &Subject,
    streams: Streams,
    graph: &Graph,
    stream: &mut Stream,
    first: &Judged,
) -> Option<(Promise, String)> {
    let numbers = shuffled(graph.nodes(), stream);
    let of = |node: u32| numbers[node as usize];
    let pairs = first.iter().map(|((src, dst), _)| (of(*src), of(*dst))).collect();
    let mut story = Story::of(subject, streams, &graph.renumbered(&numbers), pairs);
    story.judge(Promise::Complete, story.terms.settled_s);
    let is_shortest = story.terms.promises(Promise::Shortest);
    let differs = |(before, after): (Option<u32>, Option<u32>)| {
        if is_shortest { before != after } else { before.is_some() != after.is_some() }
    };
    let found = first.iter().zip(&story.judged).find(|(before, after)| differs((before.1, after.1)));
    found.map(|(before, after)| (Promise::Renumbered, format!("{before:?} is {after:?}")))
}
