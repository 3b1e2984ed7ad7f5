//! From what a script says to nodes to their movement.

use std::collections::BTreeMap;

use manetlab_core::kernel::Time;

use super::Call;
use crate::Movement;
use crate::error::{Fault, Parsed, quoted};
use crate::limits::Limits;
use crate::movement::{Nodes, Order, Statement, order};
use crate::scan::Words;

/// What a file of movement may say to a node besides where it goes: how it is drawn, and that it begins.
const OF_NO_CONSEQUENCE: &[&str] =
    &["color", "label", "shape", "label-color", "start", "reset", "topography"];

/// Checks that a file of movement says nothing that is not understood.
pub(super) fn check(calls: &[Call], limits: &Limits) -> Parsed<()> {
    for call in calls {
        let words: Vec<&str> = call.words.iter().map(|word| &**word).collect();
        let understood = match (&*call.class, words.as_slice()) {
            ("Node", [verb, ..]) if OF_NO_CONSEQUENCE.contains(verb) => true,
            ("Node", ["random-motion", "0"]) => true,
            ("Node", words) => order(Words::new(&words.join(" ")), limits)?.is_some(),
            ("Simulator", ["initial_node_pos" | "run", ..]) | ("God", ["set-dist", _, _, _]) => true,
            _ => false,
        };
        if !understood {
            let text = format!("{} {}", call.class, words.join(" "));
            let hint =
                "traffic belongs to --traffic; a whole script is run as it is:  manetlab run SCRIPT.tcl";
            let fault = Fault::new("line not understood", quoted(&text), "movement of nodes", hint);
            return Err(fault.at(u64::from(call.line)));
        }
    }
    Ok(())
}

/// The movement of the nodes, which have these numbers; `None` without nodes.
pub(super) fn of_calls(
    calls: &[Call],
    numbers: &BTreeMap<u32, u32>,
    limits: &Limits,
) -> Parsed<Option<Movement>> {
    if numbers.is_empty() {
        return Ok(None);
    }
    let mut nodes = Nodes::default();
    for &number in numbers.values() {
        nodes.name(number, 0);
    }
    // The last value of a coordinate before the run is where the node starts, as in ns-2.
    let mut starts = BTreeMap::new();
    for call in calls.iter().filter(|call| &*call.class == "Node") {
        let Some(&node) = call.object.as_ref().and_then(|object| numbers.get(object)) else { continue };
        let line = u64::from(call.line);
        let text = call.words.iter().map(|word| &**word).collect::<Vec<_>>().join(" ");
        let Some(order) = order(Words::new(&text), limits).map_err(|fault| fault.at(line))? else { continue };
        match (call.at_s, order) {
            (None, Order::Put { axis, value }) => {
                starts.insert((node, axis as u8), (line, Statement::Start { node, axis, value }));
            }
            (at_s, order) => {
                let at = Time::from_secs(at_s.unwrap_or(0.0));
                nodes.take(line, Statement::Timed { node, at, order })?;
            }
        }
    }
    for (line, statement) in starts.into_values() {
        nodes.take(line, statement)?;
    }
    nodes.finish(limits).map(Some)
}
