//! Parameters of ingress throttling, and of the protocol by which sources learn their shares.

use crate::params::{choices, params};

choices! {
    /// Who says how fast sources may send.
    pub enum ThrottleMode {
        /// Nobody: nothing is throttled.
        Off = "off",
        /// The scenario: each flow's own rates, or `rate_bps`.
        Preset = "preset",
        /// An oracle that knows the topology: max-min fair rates along shortest paths, which follow the
        /// nodes.
        Oracle = "oracle",
        /// The path density protocol: nodes announce the flows that they carry, and what their neighbourhood
        /// can grant them.
        Density = "density",
    }
}

choices! {
    /// How nodes divide their neighbourhood among flows in the path density protocol.
    pub enum Sharing {
        /// Equally among those that are there.
        Equal = "equal",
        /// So that what one cannot use elsewhere is left to the others.
        MaxMin = "max-min",
    }
}

params! {
    /// Parameters of ingress throttling.
    pub struct ThrottleParams in "throttle" {
        /// Who says how fast sources may send.
        mode: ThrottleMode = ThrottleMode::Off, "", "Osipov and Tschudin 2006 §III";
        /// With preset rates: the rate of flows that have none of their own, in payload; zero: they are not
        /// throttled.
        rate_bps: f64 = 0.0, "bit/s", "Osipov and Tschudin 2006, equation 1", [0.0, 1e12];
        /// How many packets of a flow may wait at its source. The paper does not say.
        queue_packets: u32 = 50, "packet", "ns-2 queue limit", [1.0, 1e6];
        /// A new rate applies at once, also to the wait after a packet that has gone; off: from the next
        /// packet on, so that after a low rate a source may wait for long.
        rate_applies_at_once: bool = true, "", "Osipov and Tschudin 2006, eq. 1";
        /// How often the oracle looks at the topology.
        step_s: f64 = 1.0, "s", "the step of `manetlab scenario report`", [0.01, 1e6];
        /// With density: how nodes divide their neighbourhood among the flows there.
        shares: Sharing = Sharing::MaxMin, "", "Osipov and Tschudin 2006 §II.B.1 (max-min)";
        /// With density: time between announcements of a node that carries flows. Each is up to a tenth
        /// shorter, by chance.
        announce_s: f64 = 3.0, "s", "assumed: three times AODV's HELLO_INTERVAL", [0.01, 1e6];
        /// With density: for how long an announcement, or a packet of a flow, is evidence.
        lifetime_s: f64 = 6.0, "s", "assumed: twice `announce_s`", [0.01, 1e6];
        /// With density: minimum time between two announcements of a node, of which news and broadcasts of
        /// the routing protocol can make more than `announce_s` asks for.
        announce_gap_s: f64 = 0.5, "s", "assumed", [0.01, 1e6];
        /// With density: by which part of itself a share must change for a node to announce it at once.
        announce_change: f64 = 0.05, "", "assumed", [0.0, 1e6];
        /// With density: compare the rates with those that an oracle would give?
        measure_error: bool = false, "", "the page Metrics";
    }
}

choices! {
    /// Do nodes reserve capacity for flows?
    pub enum InsigniaMode {
        /// They reserve nothing.
        Off = "off",
        /// They do so for the flows that ask for it by `reserve_bps`.
        On = "on",
    }
}

choices! {
    /// What a source does about reports.
    pub enum Adaptation {
        /// Nothing: all its packets ask for all that the flow wants.
        None = "none",
        /// It asks for no more than it can have, step by step.
        Scale = "scale",
    }
}

params! {
    /// Parameters of INSIGNIA.
    pub struct InsigniaParams in "insignia" {
        /// Do nodes reserve capacity for flows?
        mode: InsigniaMode = InsigniaMode::Off, "", "Lee et al. 2000";
        /// The part of `mac.data_rate_bps` that a node may reserve for all flows together.
        share: f64 = 0.2, "", "assumed: about what each node of a long chain can send", [0.0, 1.0];
        /// The length of the interface queue at and above which a node makes no new reservation.
        queue_threshold: u32 = 25, "packet", "assumed: half of `queue.packets`", [1.0, 1e6];
        /// A reservation ends after this time without a packet that has one.
        soft_state_s: f64 = 2.0, "s", "Lee et al. 2000, from memory", [0.001, 1e6];
        /// What a source does about reports.
        adaptation: Adaptation = Adaptation::Scale, "", "Lee et al. 2000, from memory";
        /// Time between reports of a destination while packets arrive; it also reports at each change.
        report_s: f64 = 1.0, "s", "assumed", [0.001, 1e6];
        /// Minimum time between two reports on a flow.
        report_gap_s: f64 = 0.1, "s", "assumed", [0.001, 1e6];
    }
}
