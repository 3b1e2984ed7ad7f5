//! A table by the numbers of nodes, which are indices: what protocols look up for every message that they
//! hear.

use crate::wire::NodeId;

/// As long as the greatest number that was inserted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ByNode<T>(Vec<Option<T>>);

impl<T> Default for ByNode<T> {
    fn default() -> ByNode<T> {
        ByNode(Vec::new())
    }
}

impl<T> ByNode<T> {
    #[inline]
    pub(super) fn get(&self, node: NodeId) -> Option<&T> {
        self.0.get(node.index())?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, node: NodeId) -> Option<&mut T> {
        self.0.get_mut(node.index())?.as_mut()
    }

    /// The place of a node, which may be empty.
    #[inline]
    pub(super) fn place(&mut self, node: NodeId) -> &mut Option<T> {
        let index = node.index();
        if index >= self.0.len() {
            self.0.resize_with(index + 1, || None);
        }
        &mut self.0[index]
    }

    /// In the order of the nodes' numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &T)> {
        self.0.iter().enumerate().filter_map(|(node, value)| Some((NodeId(node as u32), value.as_ref()?)))
    }

    /// The same to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (NodeId, &mut T)> {
        self.0.iter_mut().enumerate().filter_map(|(node, value)| Some((NodeId(node as u32), value.as_mut()?)))
    }

    /// Keeps those of which `keep` says so.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(NodeId, &mut T) -> bool) {
        for (node, place) in self.0.iter_mut().enumerate() {
            if place.as_mut().is_some_and(|value| !keep(NodeId(node as u32), value)) {
                *place = None;
            }
        }
    }
}
