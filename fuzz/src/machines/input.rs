//! Bytes as decisions: numbers, spans of time, choices.

use manetlab_core::kernel::{Purpose, Span, Stream, Streams};
use manetlab_core::wire::NodeId;

/// Nodes that most addresses name.
pub(super) const NODES: u32 = 8;
/// The node whose machine is called.
pub(super) const ME: NodeId = NodeId(0);

/// The bytes that are left; zeros follow them.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes }
    }

    pub(super) fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// A number below `n`, which is at most 256.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        u32::from(self.byte()) % n
    }

    /// True once in `n`.
    pub(super) fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == n - 1
    }

    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }

    pub(super) fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// Any number; mostly a small one, often one at the ends.
    pub(super) fn number(&mut self) -> u32 {
        match self.below(8) {
            0..=3 => self.below(16),
            4 | 5 => u32::from(self.byte()),
            6 => u32::MAX - self.below(16),
            _ => self.word(),
        }
    }

    /// From 8 ns to 31 s, in steps of an eighth.
    pub(super) fn span(&mut self) -> Span {
        let byte = u64::from(self.byte());
        Span((8 + (byte & 7)) << (byte >> 3))
    }

    /// A node that is not this one.
    pub(super) fn other(&mut self) -> NodeId {
        NodeId(1 + self.below(NODES - 1))
    }

    /// Any node: this one and one without a number below [`NODES`] among them.
    pub(super) fn node(&mut self) -> NodeId {
        match self.below(2 * NODES) {
            15 => NodeId(99_999),
            number => NodeId(number % NODES),
        }
    }

    pub(super) fn stream(&mut self, purpose: Purpose) -> Stream {
        Streams::new(u64::from(self.byte()), 0).stream(ME.0, purpose)
    }
}
