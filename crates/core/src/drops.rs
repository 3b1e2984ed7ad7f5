//! Why packets die. Every packet that ends without being delivered has one of these reasons.

use serde::Serialize;

/// The layer at which a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The 802.11 MAC.
    Mac,
    /// The interface queue between link layer and MAC.
    InterfaceQueue,
    /// Address resolution.
    Arp,
    /// The routing protocol.
    Routing,
    /// The transport endpoint.
    Transport,
    /// Ingress throttling.
    Throttle,
}

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident at $layer:ident,)+) => {
        /// A reason for dropping a packet.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        #[serde(rename_all = "kebab-case")]
        #[repr(usize)]
        pub enum DropReason { $($(#[doc = $doc])+ $name,)+ }

        impl DropReason {
            /// All reasons, in order of their discriminants.
            pub const ALL: &'static [DropReason] = &[$(DropReason::$name),+];

            /// The layer at which packets are dropped for this reason.
            pub fn layer(self) -> Layer {
                match self { $(DropReason::$name => Layer::$layer,)+ }
            }

            /// Its name as in results and recordings, for example `no-route`.
            pub fn name(self) -> String {
                let mut name = String::new();
                for letter in format!("{self:?}").chars() {
                    if letter.is_uppercase() && !name.is_empty() {
                        name.push('-');
                    }
                    name.extend(letter.to_lowercase());
                }
                name
            }
        }
    };
}

reasons! {
    /// The MAC gave up after its retry limit and nobody above took the packet back.
    RetryLimit at Mac,
    /// The MAC received the same frame again (its ACK was lost) and threw the copy away; or a mobile node of
    /// AIRMAIL the same packet.
    Duplicate at Mac,
    /// The interface queue was full.
    QueueFull at InterfaceQueue,
    /// The interface queue's active management saw congestion coming.
    EarlyDrop at InterfaceQueue,
    /// Another packet for the same unresolved address took the one place that ARP has.
    ArpHoldReplaced at Arp,
    /// ARP asked as often as it may and got no answer.
    ArpUnresolved at Arp,
    /// There is no route, and none was found in time.
    NoRoute at Routing,
    /// The link to the next hop failed and the protocol neither salvages nor repairs.
    LinkFailure at Routing,
    /// The packet's time to live ran out.
    TtlExpired at Routing,
    /// The packet came back to its source.
    RoutingLoop at Routing,
    /// The routing protocol's packet buffer was full.
    BufferFull at Routing,
    /// The packet waited longer in the routing protocol's buffer, or in the node's for TCP-BuS, than it may.
    BufferTimeout at Routing,
    /// The packet was salvaged as often as it may be, and its next hop failed again.
    SalvageLimit at Routing,
    /// A copy of a packet that the node has had before, as every neighbour's broadcast brings one in a flood.
    AlreadySeen at Routing,
    /// No neighbour is nearer to the destination than the node itself, in forwarding by position.
    LocalMaximum at Routing,
    /// The node chose not to pass the packet on, as protocols do that forward by chance.
    NotForwarded at Routing,
    /// TSR's hold ended without an answer, and its packets are not to be sent without one.
    HoldTimeout at Routing,
    /// The selector in the packet's header names nothing at the node: the path has expired there (LUNAR).
    DeadSelector at Routing,
    /// The flow had ended when the packet arrived.
    FlowEnded at Transport,
    /// As many packets of the flow waited at its source, which throttles it, as may wait.
    ThrottleFull at Throttle,
    /// A duplicate ACK that a base station keeps from the sender, as it has sent the segment again (snoop).
    Suppressed at Transport,
    /// Errors of bits damaged a data frame that is not repeated (`mac.repeats_damaged`).
    Damaged at Mac,
    /// The node was not there: it had left, or had not joined yet.
    Absent at Mac,
}

impl DropReason {
    /// Is what is dropped a further copy of a packet that the node has had already? It says nothing of how
    /// the packet itself was lost, if it was.
    pub fn is_of_a_copy(self) -> bool {
        matches!(self, DropReason::Duplicate | DropReason::AlreadySeen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_stand_at_their_own_index() {
        for (index, &reason) in DropReason::ALL.iter().enumerate() {
            assert_eq!(reason as usize, index);
        }
    }
}
