//! What a routing protocol may promise.

/// One promise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Promise {
    /// In a connected network everything arrives, once the protocol has settled.
    Complete,
    /// What arrives then has gone over as few hops as possible.
    Shortest,
    /// With other numbers of the nodes the same pairs reach each other, over as many hops if these are the
    /// fewest.
    Renumbered,
    /// A link breaks: everything arrives that can.
    Change,
    /// The link is there again.
    Heal,
    /// The network is in two parts: in each everything arrives.
    Partition,
    /// The parts are one again.
    Merge,
    /// A node has started anew.
    Restart,
    /// No packet ever comes back to a node where it has been, as long as no node starts anew.
    NoReturn,
    /// Next hops never lead in a circle, at no instant.
    NoCircle,
    /// Neither happens after a node has started anew.
    SafeRestart,
    /// When all links are gone and nobody sends any more, routes and packets are forgotten, and what tables
    /// hold.
    Forgets,
    /// Messages survive being turned into bytes and back.
    Bytes,
}

impl Promise {
    /// All, in the order of the table.
    pub const ALL: [Promise; 13] = [
        Promise::Complete,
        Promise::Shortest,
        Promise::Renumbered,
        Promise::Change,
        Promise::Heal,
        Promise::Partition,
        Promise::Merge,
        Promise::Restart,
        Promise::NoReturn,
        Promise::NoCircle,
        Promise::SafeRestart,
        Promise::Forgets,
        Promise::Bytes,
    ];

    /// What the table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Promise::Complete => "complete",
            Promise::Shortest => "shortest",
            Promise::Renumbered => "renumbered",
            Promise::Change => "break",
            Promise::Heal => "heal",
            Promise::Partition => "partition",
            Promise::Merge => "merge",
            Promise::Restart => "restart",
            Promise::NoReturn => "no return",
            Promise::NoCircle => "no circle",
            Promise::SafeRestart => "neither at restart",
            Promise::Forgets => "forgets",
            Promise::Bytes => "bytes",
        }
    }
}
