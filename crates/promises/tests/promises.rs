//! Every promise holds on some topologies; `make harness` tries very many. And what breaks one is seen.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted")]

use manetlab_core::kernel::{Purpose, Span, Streams, Time};
use manetlab_core::routing::{Action, Routing};
use manetlab_core::scenario::RoutingKind;
use manetlab_core::wire::{NodeId, Packet};
use manetlab_promises::graph::{Graph, shuffled};
use manetlab_promises::network::fixed_routes;
use manetlab_promises::page::{Outcome, table};
use manetlab_promises::promise::Promise;
use manetlab_promises::story::tell;
use manetlab_promises::subject::Subject;

/// Topologies for each parameter set.
const TOPOLOGIES: u64 = 5;

#[test]
fn every_parameter_set_keeps_its_promises() {
    let mut faults = Vec::new();
    for (place, subject) in Subject::all().iter().enumerate() {
        let mut outcome = Outcome::default();
        let first = place as u64 * TOPOLOGIES;
        (first..first + TOPOLOGIES).for_each(|run| outcome.add(run, tell(subject, run)));
        faults.extend(outcome.faults(subject));
    }
    assert_eq!(faults, Vec::<String>::new(), "what is not promised is stated in `terms`, with the reason");
}

/// Neighbours that answered every height of a block, and not only the last, never came to an end on these.
#[test]
fn reversals_of_tora_come_to_an_end_where_every_node_hears_of_a_partition_at_once() {
    let tora = Subject::all().into_iter().find(|subject| subject.name() == "tora").expect("it is there");
    let mut outcome = Outcome::default();
    [120, 201].into_iter().for_each(|run| outcome.add(run, tell(&tora, run)));
    assert_eq!(outcome.faults(&tora), Vec::<String>::new());
}

/// Fixed routes with something wrong.
struct Faulty {
    routes: Box<dyn Routing>,
    node: NodeId,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    /// Nothing is wrong.
    None,
    /// Node 0 sends on nothing.
    Deaf,
    /// Every packet is sent back once.
    Back,
    /// Next hops go around.
    Around,
    /// Something is remembered for ever.
    Hoards,
}

impl Routing for Faulty {
    fn handle_start(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.routes.handle_start(now, actions);
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        self.routes.handle_outgoing(now, packet, actions);
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if self.fault == Fault::Deaf && self.node.0 == 0 && packet.dst.0 != 0 {
            return;
        }
        if self.fault == Fault::Back && packet.hops == 1 {
            let packet = Packet { ttl: packet.ttl - 1, ..packet };
            actions.push(Action::Send { packet, next_hop: from, delay: Span::ZERO });
            return;
        }
        self.routes.handle_incoming(now, packet, from, actions);
    }

    fn handle_link_failure(&mut self, now: Time, packet: Packet, to: NodeId, actions: &mut Vec<Action>) {
        self.routes.handle_link_failure(now, packet, to, actions);
    }

    fn handle_timeout(&mut self, _now: Time, _actions: &mut Vec<Action>) {}

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn remembered(&self, _now: Time) -> Option<usize> {
        Some(usize::from(self.fault == Fault::Hoards))
    }

    fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        match self.fault {
            Fault::None => None,
            Fault::Around => Some(NodeId(1 - self.node.0.min(1))),
            _ => self.routes.next_hop(now, dst),
        }
    }
}

/// What breaks on the first topologies with a fault.
fn broken_by(fault: Fault) -> Vec<Promise> {
    // A protocol that promises all that fixed routes can be held to.
    let flooding = Subject::all().into_iter().find(|subject| subject.kind == RoutingKind::Flooding);
    let subject = flooding.expect("there is flooding").made_by(move |links, _| {
        let mut make = fixed_routes(links);
        Box::new(move |node| Box::new(Faulty { routes: make(node), node, fault }))
    });
    let mut broken: Vec<Promise> =
        (0..6).flat_map(|run| tell(&subject, run)).map(|(promise, _)| promise).collect();
    broken.sort_unstable();
    broken.dedup();
    broken
}

#[test]
fn what_breaks_a_promise_is_seen() {
    let healthy = broken_by(Fault::None);
    assert!(!healthy.contains(&Promise::Complete) && !healthy.contains(&Promise::Forgets), "{healthy:?}");
    for (fault, promises) in [
        (Fault::Deaf, [Promise::Complete, Promise::Renumbered]),
        (Fault::Back, [Promise::NoReturn, Promise::SafeRestart]),
        (Fault::Around, [Promise::NoCircle, Promise::Forgets]),
        (Fault::Hoards, [Promise::Forgets; 2]),
    ] {
        let broken = broken_by(fault);
        assert!(promises.iter().all(|promise| broken.contains(promise)), "{fault:?}: {broken:?}");
        assert!(promises.iter().any(|promise| !healthy.contains(promise)), "{fault:?}");
    }
}

#[test]
fn topologies_are_connected_and_fall_apart_as_asked() {
    for run in 0..200 {
        let mut stream = Streams::new(1, run).stream(0, Purpose::Mobility);
        let graph = Graph::draw(&mut stream);
        let reached = |graph: &Graph| graph.hops(0).iter().flatten().count() as u32;
        assert_eq!(reached(&graph), graph.nodes());
        assert!(reached(&graph.parted(0)) < graph.nodes());
        let numbers = shuffled(graph.nodes(), &mut stream);
        let other = graph.renumbered(&numbers);
        assert_eq!(other.links().len(), graph.links().len());
        let far = |graph: &Graph, node: u32| graph.hops(node).into_iter().flatten().max();
        assert_eq!(far(&other, numbers[1]), far(&graph, 1));
    }
}

#[test]
fn the_table_says_what_held_and_why_the_rest_need_not() {
    let all = Subject::all();
    let mut outcome = Outcome::default();
    outcome.add(7, vec![(Promise::Shortest, "long".to_owned()), (Promise::Merge, "lost".to_owned())]);
    outcome.add(8, Vec::new());
    let flooding = all.into_iter().find(|subject| subject.kind == RoutingKind::Flooding).expect("there");
    let faults = outcome.faults(&flooding);
    assert_eq!(faults, ["flooding: merge broken 1 times, first on topology 7: lost"]);
    let page = table(&[(flooding, outcome)]);
    assert!(page.contains("| `flooding` | 2 | all | 1 (1) |"), "{page}");
    assert!(page.contains("| **1** |") && page.contains("\n1. Requests wait"), "{page}");
}
