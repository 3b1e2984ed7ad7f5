//! All parameters by section, and the routing protocols: one table for both.
//!
//! A protocol's line in the table makes its name known, its section of parameters a part of every scenario,
//! and itself what nodes run when a scenario names it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::arp::ArpParams;
use crate::ifq::QueueParams;
use crate::ip::NetworkParams;
use crate::kernel::Stream;
use crate::mac::MacParams;
use crate::params::{OutOfRange, ParamInfo, choices};
use crate::radio::RadioParams;
use crate::routing::{self, Place, Routing};
use crate::stage::{InsigniaParams, ThrottleParams};
use crate::traffic::VideoParams;
use crate::transport::adp::AdpParams;
use crate::transport::psp::PspParams;
use crate::transport::rtp::RtpParams;
use crate::transport::tcp::TcpParams;

/// Makes the routing protocol of a node at its place, with its own stream of random numbers.
pub type RoutingMaker<'a> = dyn FnMut(Place, Stream) -> Box<dyn Routing> + 'a;

/// The named sets of a protocol's parameters, if its line in the table says that it has any.
macro_rules! sets_of {
    ($module:ident, $params:ident) => {
        &[]
    };
    ($module:ident, $params:ident, sets) => {
        routing::$module::$params::SETS
    };
}

/// One of the named sets, if there is one of that name.
macro_rules! set_of {
    ($module:ident, $params:ident, $name:expr) => {
        None::<routing::$module::$params>
    };
    ($module:ident, $params:ident, $name:expr, sets) => {
        routing::$module::$params::set($name)
    };
}

/// What a protocol is made with: its node, or its place if its line says that it knows positions.
macro_rules! whereabouts {
    ($place:ident) => {
        $place.node()
    };
    ($place:ident, positions) => {
        $place
    };
}

/// The table. A layer: `section: its parameters`. A protocol: `Kind = "name" in module: its parameters`,
/// where the section has the module's name, `over` another section that it looks at,
/// `with sets` if the parameters have named sets (`SETS` and `set`), and `knowing positions` if its `new`
/// takes the node's [`Place`] and not its number alone.
macro_rules! sections {
    (
        layers { $($(#[doc = $layer_doc:literal])+ $layer:ident: $layer_params:ty,)+ }
        protocols {
            $($(#[doc = $doc:literal])+ $kind:ident = $name:literal in $module:ident: $params:ident $(over $base:ident)?
                $(with $sets:ident)? $(knowing $positions:ident)?,)+
        }
    ) => {
        choices! {
            /// The routing protocol that every node runs.
            pub enum RoutingKind {
                $($(#[doc = $doc])+ $kind = $name,)+
                /// Fixed shortest-hop routes over the initial positions.
                Static = "static",
                /// A protocol that the caller of the run brings along.
                Custom = "custom",
            }
        }

        impl RoutingKind {
            /// Every protocol that the simulator has itself.
            pub const ALL: &'static [RoutingKind] = &[$(RoutingKind::$kind,)+ RoutingKind::Static];
            /// Their names, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($name,)+ "static"];

            /// What the protocol is, in a line.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(RoutingKind::$kind => concat!($($doc),+).trim(),)+
                    RoutingKind::Static => "Fixed shortest-hop routes over the initial positions.",
                    RoutingKind::Custom => "A protocol that the caller of the run brings along.",
                }
            }

            /// The protocol's name in scenarios.
            pub fn name(self) -> &'static str {
                match self {
                    $(RoutingKind::$kind => $name,)+
                    RoutingKind::Static => "static",
                    RoutingKind::Custom => "custom",
                }
            }

            /// What makes a node's protocol; none for those that need more than parameters and a place.
            pub fn maker(self, params: &Params) -> Option<Box<RoutingMaker<'static>>> {
                match self {
                    $(RoutingKind::$kind => {
                        $(let $base = Arc::new(params.$base.clone());)?
                        let params = Arc::new(params.$module.clone());
                        Some(Box::new(move |place: Place, stream: Stream| {
                            let whereabouts = whereabouts!(place $(, $positions)?);
                            routing::$module::new(whereabouts, &params, $(&$base,)? stream)
                        }))
                    })+
                    RoutingKind::Static | RoutingKind::Custom => None,
                }
            }
        }

        /// All parameters of all sections.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Params {
            $($(#[doc = $layer_doc])+ pub $layer: $layer_params,)+
            $($(#[doc = $doc])+ pub $module: routing::$module::$params,)+
        }

        impl Params {
            /// What there is to know of every parameter, section by section.
            pub fn schema() -> Vec<ParamInfo> {
                [$(<$layer_params>::SCHEMA,)+ $(routing::$module::$params::SCHEMA,)+].concat()
            }

            /// The names of all sections, in order.
            pub fn sections() -> Vec<&'static str> {
                let mut names: Vec<&str> = Params::schema().iter().map(|info| info.section).collect();
                names.dedup();
                names
            }

            /// Checks every number against its range.
            ///
            /// # Errors
            /// The first parameter that is outside.
            pub fn check(&self) -> Result<(), OutOfRange> {
                $(self.$layer.check()?;)+
                $(self.$module.check()?;)+
                Ok(())
            }

            /// The names of the parameter sets of a routing protocol, whose section has the protocol's name.
            pub fn routing_sets(protocol: RoutingKind) -> &'static [&'static str] {
                match protocol {
                    $(RoutingKind::$kind => sets_of!($module, $params $(, $sets)?),)+
                    RoutingKind::Static | RoutingKind::Custom => &[],
                }
            }

            /// These parameters with the protocol's section replaced by one of its named sets; none if there
            /// is no such set.
            pub fn with_routing_set(self, protocol: RoutingKind, name: &str) -> Option<Params> {
                match protocol {
                    $(RoutingKind::$kind => {
                        let $module = set_of!($module, $params, name $(, $sets)?)?;
                        Some(Params { $module, ..self })
                    })+
                    RoutingKind::Static | RoutingKind::Custom => None,
                }
            }
        }
    };
}

sections! {
    layers {
        /// The radio channel.
        radio: RadioParams,
        /// The 802.11 MAC.
        mac: MacParams,
        /// The interface queue.
        queue: QueueParams,
        /// Address resolution.
        arp: ArpParams,
        /// IP, link layer and UDP.
        network: NetworkParams,
        /// TCP.
        tcp: TcpParams,
        /// ADP.
        adp: AdpParams,
        /// PSP.
        psp: PspParams,
        /// Video traffic.
        video: VideoParams,
        /// RTP.
        rtp: RtpParams,
        /// Ingress throttling.
        throttle: ThrottleParams,
        /// INSIGNIA.
        insignia: InsigniaParams,
    }
    protocols {
        /// Ad hoc On-Demand Distance Vector.
        Aodv = "aodv" in aodv: AodvParams with sets,
        /// Destination-Sequenced Distance Vector.
        Dsdv = "dsdv" in dsdv: DsdvParams with sets,
        /// Dynamic Source Routing.
        Dsr = "dsr" in dsr: DsrParams with sets,
        /// TCP-aware Source Routing.
        Tsr = "tsr" in tsr: TsrParams over dsr with sets,
        /// Adaptive Distance Vector.
        Adv = "adv" in adv: AdvParams with sets,
        /// Lightweight Underlay Network Ad hoc Routing.
        Lunar = "lunar" in lunar: LunarParams with sets,
        /// Optimized Link State Routing.
        Olsr = "olsr" in olsr: OlsrParams with sets,
        /// Babel: distance vectors without loops.
        Babel = "babel" in babel: BabelParams with sets,
        /// B.A.T.M.A.N. IV: the best neighbour for each node, by the messages that come over it.
        Batman = "batman" in batman: BatmanParams with sets,
        /// Dynamic MANET On-demand routing, later AODVv2.
        Dymo = "dymo" in dymo: DymoParams with sets,
        /// Temporally Ordered Routing Algorithm, over IMEP.
        Tora = "tora" in tora: ToraParams,
        /// Signal Stability-based Adaptive routing: over links that have been strong for a while.
        Ssa = "ssa" in ssa: SsaParams over radio,
        /// Associativity-Based Routing: over neighbours that have been heard for long.
        Abr = "abr" in abr: AbrParams,
        /// Zone Routing Protocol: all routes nearby, and queries from border to border.
        Zrp = "zrp" in zrp: ZrpParams,
        /// Core-Extraction Distributed Ad hoc Routing, without bandwidth.
        Cedar = "cedar" in cedar: CedarParams,
        /// Routing Information Protocol: distributed Bellman-Ford, which counts to infinity.
        Rip = "rip" in rip: RipParams with sets,
        /// Every packet by every node, once.
        Flooding = "flooding" in flooding: FloodingParams,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::ParamValue;

    #[test]
    fn kinds_and_names_are_in_the_same_order() {
        for (kind, name) in RoutingKind::ALL.iter().zip(RoutingKind::NAMES) {
            assert_eq!(serde_json::to_value(kind).expect("a name"), *name);
            assert_eq!(kind.name(), *name);
        }
        assert_eq!([RoutingKind::NAMES, &["custom"]].concat(), RoutingKind::CHOICES);
    }

    #[test]
    fn a_set_replaces_the_protocols_section_and_no_other() {
        for &kind in RoutingKind::ALL {
            for name in Params::routing_sets(kind) {
                let changed = Params::default().with_routing_set(kind, name);
                assert!(changed.is_some_and(|params| params.mac == MacParams::default()), "{kind:?}:{name}");
            }
            assert_eq!(Params::default().with_routing_set(kind, "no such set"), None);
        }
    }
}
