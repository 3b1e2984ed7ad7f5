//! IP, the link layer and UDP: they have parameters and no state.

use crate::params::params;

params! {
    /// Parameters of IP, the link layer and UDP.
    pub struct NetworkParams in "network" {
        /// Delay between IP and the interface queue, and between MAC and IP.
        link_layer_delay_us: f64 = 0.0, "µs", "ns-2 LL delay_", [0.0, 1e6];
        /// Bytes of a UDP header; ns-2 counts none.
        udp_header_bytes: u32 = 8, "byte", "RFC 768", [0.0, 100.0];
        /// Time to live of data packets at their source; `dsdv.data_ttl`, `flooding.ttl` and, in behaviour
        /// ns-2, `aodv.net_diameter` limit it further.
        data_ttl: u32 = 64, "hop", "RFC 1700", [1.0, 255.0];
        /// A flow begins a time uniform below this after its `start_s`, though at most a tenth of its
        /// duration later, so that flows that are to begin together do not send in step; 0: it begins at
        /// `start_s`.
        start_jitter_ms: f64 = 10.0, "ms", "Floyd & Jacobson 1992; ns-2: 0", [0.0, 1e6];
        /// A CBR packet that is older than this when it arrives does not count as received, unless its flow
        /// has a `late_after_s` of its own; 0: all do.
        cbr_late_after_s: f64 = 0.0, "s", "Dyer 2002, 3.4.1: 5 s", [0.0, 1e6];
        /// Datagrams that take up to this come in time, unless their flow has a `deadline_ms` of its own: the
        /// share of these is measured, with jitter and spread of the delay; 0: it is not.
        deadline_ms: f64 = 0.0, "ms", "own", [0.0, 1e9];
        /// Measure over how many hops each flow's shortest path went, and for how long. It changes nothing
        /// else in a run, and costs time.
        measure_path_hops: bool = false, "", "Choi & Yoo 2004, IV.A";
        /// Measure over how many links the route went that each flow's source held, and for how long. It
        /// changes nothing else in a run.
        measure_route_hops: bool = false, "", "Bansal & Barua 2003, \"Average Hop Length\"";
    }
}
