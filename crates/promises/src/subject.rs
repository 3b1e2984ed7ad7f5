//! What is tried: every parameter set of every protocol.

use std::rc::Rc;
use std::sync::Arc;

use manetlab_core::kernel::{Purpose, Streams};
use manetlab_core::mobility::{Path, Trajectory};
use manetlab_core::routing::Place;
use manetlab_core::scenario::{Params, RoutingKind};

use crate::graph::Graph;
use crate::network::{Make, fixed_routes};

type Maker = dyn Fn(&Graph, Streams) -> Make;

/// A protocol with one of its parameter sets.
#[derive(Clone)]
pub struct Subject {
    /// The protocol.
    pub kind: RoutingKind,
    /// The name of the set; empty for a protocol that has none.
    pub set: &'static str,
    make: Rc<Maker>,
}

impl Subject {
    /// Every set of every protocol, in the order of the table of protocols.
    pub fn all() -> Vec<Subject> {
        let mut all = Vec::new();
        for &kind in RoutingKind::ALL {
            let sets = Params::routing_sets(kind);
            if sets.is_empty() {
                all.push(Subject::of(kind, "", Params::default()));
            }
            for set in sets {
                let params = Params::default().with_routing_set(kind, set);
                all.extend(params.map(|params| Subject::of(kind, set, params)));
            }
        }
        all
    }

    /// The set of this name, as a scenario names it.
    pub fn named(name: &str) -> Option<Subject> {
        Subject::all().into_iter().find(|subject| subject.name() == name)
    }

    /// A protocol with parameters that are not those of a set, under the name of one.
    pub fn of(kind: RoutingKind, set: &'static str, params: Params) -> Subject {
        let make = move |links: &Graph, streams: Streams| {
            let Some(mut maker) = kind.maker(&params) else { return fixed_routes(links) };
            let paths: Arc<[Path]> =
                (0..links.nodes()).map(|_| Path::new(&Trajectory::fixed(0.0, 0.0))).collect();
            let make: Make = Box::new(move |node| {
                let stream = streams.stream(node.0, Purpose::Routing);
                maker(Place::new(node, Arc::clone(&paths)), stream)
            });
            make
        };
        Subject { kind, set, make: Rc::new(make) }
    }

    /// The same terms for nodes that are made otherwise.
    #[must_use]
    pub fn made_by(self, make: impl Fn(&Graph, Streams) -> Make + 'static) -> Subject {
        Subject { make: Rc::new(make), ..self }
    }

    /// As a scenario names it.
    pub fn name(&self) -> String {
        if self.set.is_empty() {
            self.kind.name().to_owned()
        } else {
            format!("{}:{}", self.kind.name(), self.set)
        }
    }

    /// What makes its nodes in a network with these links.
    pub fn make(&self, links: &Graph, streams: Streams) -> Make {
        (self.make)(links, streams)
    }
}
