//! How long each protocol takes, and what it does not promise, with the reason.

use manetlab_core::scenario::RoutingKind;

use crate::promise::Promise;
use crate::subject::Subject;

/// What one parameter set does.
#[derive(Clone, Debug)]
pub struct Terms {
    /// From the start until it has found what it finds unasked, or first packets have found a route, in s.
    pub settled_s: f64,
    /// From a change until everything arrives that can, in s.
    pub recovered_s: f64,
    /// From the end of all links until everything is forgotten, in s.
    pub forgotten_s: f64,
    /// Up to how many hops away others are found.
    pub horizon: u32,
    /// Has every node a route to every other all the time?
    pub all_routes: bool,
    /// What it does not promise, and why.
    pub exceptions: Vec<(Promise, &'static str)>,
}

impl Terms {
    /// Must it hold on every topology?
    pub fn promises(&self, promise: Promise) -> bool {
        self.exceptions.iter().all(|(other, _)| *other != promise)
    }

    fn but(mut self, promises: &[Promise], reason: &'static str) -> Terms {
        self.exceptions.extend(promises.iter().map(|promise| (*promise, reason)));
        self
    }
}

const FIRST_COPY: &str = "Requests wait a random time at every node, and the first copy decides.";
const NEWEST: &str = "The newest number wins, and it may come first over a longer way.";
const FULL_UPDATES: &str = "An update with much news becomes a full one (ns-2), whose new number is news to others: in \
    some networks numbers follow each other faster than routes settle, and some nodes are never told.";
const WAITS: &str = "What has no route waits at any node, and the route that ends the wait may lead back.";
const CACHES: &str = "Nodes on the way answer from what they have heard.";
const NO_TIME: &str = "What a node has learned has no time.";
const SALVAGED: &str =
    "A node on the way whose link broke sends packets over a route of its own, which may lead back.";
const SOURCE_ROUTES: &str =
    "Packets carry their routes or labels: next hops of other nodes do not concern them.";
const OLD_NUMBERS: &str = "What a node says that has started anew has numbers that others take for old; nodes keep the \
    numbers of routes for good.";
const OLD_WINDOW: &str = "olsrd passes on only the 17th message of a node that has started anew, and with fish-eye far \
    nodes hear one TC in eight.";
const AMNESIA: &str = "A node that has forgotten everything believes routes that lead back to it.";
const UNEQUAL: &str = "While messages spread, nodes know different networks.";
const QUALITY: &str = "Ways are ranked by quality, which is a whole number and no count of hops.";
const REPAIR: &str =
    "A repair on the way outlives the route: packets may go back, and not all arrive (ns-2).";
const WRAPPED: &str = "A route in repair is offered with a lifetime below zero, as in ns-2, which no field holds: who \
    takes it keeps it for good.";
const SPACED: &str = "Packets that waited leave one after the other, all over the route of the first moment, and it may \
    be another by then (ns-2).";
const PATIENT: &str = "What waits for a route waits for good (ns-2).";
const LONE_FLOW: &str = "Nobody makes updates for a flow that is cut off and alone.";
const REVERSED: &str = "Heights are made by whoever answers first, and no height is a count of hops.";
const UNTOLD: &str = "A node whose links were reversed sends packets back before its neighbours know.";
const CORE_PATHS: &str = "Routes follow the core path, which is as long as the core makes it.";
const UNNUMBERED: &str =
    "Routes have no numbers: when one is lost, a node takes what a third still tells, which may lead back.";
const FIXED: &str = "Routes never change.";

/// The terms of a parameter set.
pub fn terms(subject: &Subject) -> Terms {
    use Promise::{
        Change, Complete, Forgets, Heal, Merge, NoCircle, NoReturn, Partition, Renumbered, Restart,
        SafeRestart, Shortest,
    };
    match (subject.kind, subject.set) {
        (RoutingKind::Aodv, set) => aodv(set),
        (RoutingKind::Dsr | RoutingKind::Tsr, set) => {
            let terms = on_demand(400.0)
                .but(&[Shortest], CACHES)
                .but(&[NoReturn, SafeRestart], SALVAGED)
                .but(&[NoCircle], SOURCE_ROUTES);
            match set {
                "rfc4728" | "choi-2004" => terms,
                "ns-2.35" | "ns-2.1b8a" => terms.but(&[Restart], OLD_NUMBERS).but(&[Forgets], NO_TIME),
                _ => terms.but(&[Forgets], NO_TIME),
            }
        }
        (RoutingKind::Dsdv, _) => unasked(200.0, 150.0, 100.0)
            .but(&[Shortest], NEWEST)
            .but(&[Complete, Renumbered, Change, Heal, Partition, Merge, Restart], FULL_UPDATES)
            .but(&[NoReturn], WAITS)
            .but(&[SafeRestart], AMNESIA)
            .but(&[Forgets], PATIENT),
        (RoutingKind::Adv, _) => on_demand(120.0)
            .but(&[Shortest], NEWEST)
            .but(&[Change, Heal, Partition, Merge, Restart], LONE_FLOW)
            .but(&[NoReturn], WAITS)
            .but(&[SafeRestart], AMNESIA)
            .but(&[Forgets], NO_TIME),
        (RoutingKind::Lunar, _) => Terms { horizon: 3, ..on_demand(120.0) }
            .but(&[Shortest], FIRST_COPY)
            .but(&[NoCircle, SafeRestart], SOURCE_ROUTES),
        (RoutingKind::Olsr, set) => {
            let terms = match set {
                "rfc3626" | "link-state" => unasked(30.0, 40.0, 60.0),
                "olsrd-mobile" => unasked(60.0, 100.0, 400.0).but(&[Restart], OLD_WINDOW),
                _ => unasked(60.0, 100.0, 400.0),
            };
            terms.but(&[NoReturn, NoCircle, SafeRestart], UNEQUAL)
        }
        // Better ways are told with regular updates: up to 16 s for each hop.
        (RoutingKind::Babel, _) => unasked(120.0, 120.0, 300.0).but(&[SafeRestart], AMNESIA),
        (RoutingKind::Batman, set) => {
            let terms = unasked(60.0, 60.0, 300.0).but(&[NoReturn, NoCircle, SafeRestart], UNEQUAL);
            if set == "batmand" { terms.but(&[Shortest], QUALITY) } else { terms }
        }
        (RoutingKind::Dymo, set) => dymo(set),
        (RoutingKind::Tora, _) => {
            on_demand(120.0).but(&[Shortest], REVERSED).but(&[NoReturn, NoCircle, SafeRestart], UNTOLD)
        }
        (RoutingKind::Ssa, _) => on_demand(60.0).but(&[Shortest], FIRST_COPY),
        (RoutingKind::Abr, _) => {
            on_demand(60.0).but(&[Shortest], FIRST_COPY).but(&[NoCircle, SafeRestart], SOURCE_ROUTES)
        }
        (RoutingKind::Zrp, _) => {
            on_demand(120.0).but(&[Shortest], FIRST_COPY).but(&[NoReturn, NoCircle, SafeRestart], UNEQUAL)
        }
        (RoutingKind::Cedar, _) => cedar(),
        (RoutingKind::Rip, set) => rip(set),
        (RoutingKind::Flooding, _) => on_demand(120.0).but(&[Shortest], FIRST_COPY),
        (RoutingKind::Static, _) => unasked(2.0, 2.0, 10.0).but(&[Change, Partition, Forgets], FIXED),
        (RoutingKind::Custom, _) => on_demand(120.0),
    }
}

fn dymo(set: &str) -> Terms {
    use Promise::{Restart, SafeRestart, Shortest};
    let (horizon, forgotten_s) = if set == "aodvv2" { (8, 600.0) } else { (10, 120.0) };
    let terms = Terms { horizon, ..on_demand(forgotten_s) }.but(&[Shortest], FIRST_COPY);
    let terms = if set == "aodvv2" { terms.but(&[Restart], OLD_NUMBERS) } else { terms };
    terms.but(&[SafeRestart], AMNESIA)
}

fn aodv(set: &str) -> Terms {
    use Promise::{
        Bytes, Change, Forgets, Merge, NoCircle, NoReturn, Partition, Restart, SafeRestart, Shortest,
    };
    let terms = on_demand(120.0).but(&[Shortest], FIRST_COPY);
    match set {
        "ns-2.35" | "dyer-2002" => terms
            .but(&[Restart], OLD_NUMBERS)
            .but(&[Change, Partition, Merge, NoReturn, NoCircle], REPAIR)
            .but(&[SafeRestart], AMNESIA)
            .but(&[Forgets, Bytes], WRAPPED),
        "ns-2.1b8a" => {
            terms.but(&[Restart], OLD_NUMBERS).but(&[NoReturn], SPACED).but(&[SafeRestart], AMNESIA)
        }
        "aodv-uu-ll" | "aodv-uu-ll-2.27" => terms.but(&[SafeRestart], AMNESIA),
        _ => terms.but(&[Restart], OLD_NUMBERS),
    }
}

fn cedar() -> Terms {
    use Promise::{NoCircle, SafeRestart, Shortest};
    on_demand(120.0).but(&[Shortest], CORE_PATHS).but(&[NoCircle, SafeRestart], SOURCE_ROUTES)
}

fn rip(set: &str) -> Terms {
    use Promise::{NoCircle, NoReturn, SafeRestart};
    // Metric 15 is the longest route, and a neighbour has 2.
    let horizon = 14;
    // A route times out, and circles of more than two count to infinity, each step by a triggered update.
    let terms = match set {
        "quick" => Terms { horizon, ..unasked(30.0, 60.0, 60.0) },
        _ => Terms { horizon, ..unasked(120.0, 500.0, 600.0) },
    };
    terms.but(&[NoReturn, NoCircle, SafeRestart], UNNUMBERED)
}

fn on_demand(forgotten_s: f64) -> Terms {
    Terms {
        settled_s: 10.0,
        recovered_s: 40.0,
        forgotten_s,
        horizon: u32::MAX,
        all_routes: false,
        exceptions: Vec::new(),
    }
}

fn unasked(settled_s: f64, recovered_s: f64, forgotten_s: f64) -> Terms {
    Terms { settled_s, recovered_s, all_routes: true, ..on_demand(forgotten_s) }
}
