//! What OLSR knows when it has settled, a line each, to be compared with another implementation's.

use std::fmt::Write;

use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::scenario::{Params, RoutingKind};

use crate::graph::Graph;
use crate::network::Network;
use crate::subject::Subject;

/// Runs OLSR as RFC 3626 has it, and tells what each node knows at the end:
/// `neighbour NODE OTHER`, `two-hop NODE NEIGHBOUR OTHER`, `relay NODE OTHER`, `topology NODE LAST_HOP OTHER`
/// and `route NODE OTHER HOPS`.
pub fn sets(graph: &Graph, seconds: f64, seed: u64) -> String {
    let subject = Subject::of(RoutingKind::Olsr, "rfc3626", Params::default());
    let mut network = Network::new(graph.clone(), subject.make(graph, Streams::new(seed, 0)), 0);
    network.run_until(Time::ZERO + Span::from_secs(seconds));
    let mut told = String::new();
    for node in 0..graph.nodes() {
        tell(&network, node, graph.nodes(), &mut told);
    }
    told
}

fn tell(network: &Network, node: u32, nodes: u32, told: &mut String) {
    let known = network.known_links(node).unwrap_or_default();
    // Writing to a string cannot fail.
    let mut line = |text: std::fmt::Arguments| _ = told.write_fmt(text);
    known.neighbours.iter().for_each(|other| line(format_args!("neighbour {node} {}\n", other.0)));
    known
        .two_hop
        .iter()
        .for_each(|[via, other]| line(format_args!("two-hop {node} {} {}\n", via.0, other.0)));
    known.relays.iter().for_each(|other| line(format_args!("relay {node} {}\n", other.0)));
    known
        .topology
        .iter()
        .for_each(|[last_hop, other]| line(format_args!("topology {node} {} {}\n", last_hop.0, other.0)));
    for other in 0..nodes {
        if let Some(hops) = network.route_hops(node, other) {
            line(format_args!("route {node} {other} {hops}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use manetlab_core::kernel::Purpose;

    use super::*;

    /// The lines that the graph alone decides: all but which neighbours are relays, and what follows from it.
    fn decided(graph: &Graph) -> BTreeSet<String> {
        let mut lines = BTreeSet::new();
        for node in 0..graph.nodes() {
            for via in graph.of(node) {
                lines.insert(format!("neighbour {node} {via}"));
                let others = graph.of(via).filter(|other| *other != node);
                lines.extend(others.map(|other| format!("two-hop {node} {via} {other}")));
            }
            let hops = graph.hops(node).into_iter().flatten().enumerate().filter(|(_, hops)| *hops > 0);
            lines.extend(hops.map(|(other, hops)| format!("route {node} {other} {hops}")));
        }
        lines
    }

    #[test]
    fn settled_nodes_know_the_graph_and_who_has_chosen_whom() {
        for run in 0..10 {
            let graph = Graph::draw(&mut Streams::new(5, run).stream(0, Purpose::Mobility));
            let text = sets(&graph, 60.0, run);
            let is_chosen = |line: &&str| line.starts_with("relay") || line.starts_with("topology");
            let (chosen, rest): (BTreeSet<&str>, BTreeSet<&str>) = text.lines().partition(is_chosen);
            let rest: BTreeSet<String> = rest.into_iter().map(str::to_owned).collect();
            assert_eq!(rest, decided(&graph), "topology {run}");
            let relays: Vec<[&str; 2]> = chosen
                .iter()
                .filter_map(|line| line.strip_prefix("relay ")?.split_once(' '))
                .map(|(node, relay)| [node, relay])
                .collect();
            let mut wanted = BTreeSet::new();
            for node in 0..graph.nodes() {
                wanted.extend(relays.iter().map(|[selector, relay]| format!("relay {selector} {relay}")));
                let others = relays.iter().filter(|[_, relay]| *relay != node.to_string());
                wanted.extend(others.map(|[selector, relay]| format!("topology {node} {relay} {selector}")));
            }
            let chosen: BTreeSet<String> = chosen.into_iter().map(str::to_owned).collect();
            assert_eq!(chosen, wanted, "topology {run}");
        }
    }
}
