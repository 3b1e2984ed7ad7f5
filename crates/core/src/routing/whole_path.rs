//! The path that packets would take through a whole network, read from the protocols of its nodes.

use super::Routing;
use crate::kernel::Time;
use crate::wire::NodeId;

/// The whole path that a packet from `src` to `dst` would take now: by the source's route where the source
/// knows all of it, else from next hop to next hop. None where there is none, or it comes back to a node.
pub(crate) fn whole_path<'n>(
    routing: impl Fn(NodeId) -> &'n dyn Routing,
    now: Time,
    src: NodeId,
    dst: NodeId,
) -> Option<Vec<NodeId>> {
    if let Some(path) = routing(src).source_route(now, dst) {
        return Some(path);
    }
    let mut path = vec![src];
    let mut node = src;
    while node != dst {
        node = routing(node).next_hop(now, dst)?;
        if path.contains(&node) {
            return None;
        }
        path.push(node);
    }
    Some(path)
}
