//! Traffic files of `cbrgen.tcl`, CMU's generator of connections.
//!
//! Understood lines (`v` is any variable, with or without an index; `$ns` for `$ns_` and `$node(i)` for
//! `$node_(i)` too):
//!
//! | line | meaning |
//! |---|---|
//! | `set v [new Agent/T]`, T one of `UDP`, `TCP`, `Null`, `LossMonitor`, `TCPSink` | an endpoint |
//! | `set v [new Application/T]`, T one of `FTP`, `Traffic/CBR` | a flow |
//! | `set v [$ns_ create-connection TCP $node_(s) TCPSink $node_(d) 0]`, also `UDP … Null` | two connected endpoints, `v` the source |
//! | `set v [$agent attach-source FTP]`, also `attach-app FTP`, `attach-app Traffic/CBR` | a flow on that endpoint |
//! | `$ns_ attach-agent $node_(i) $agent` | puts an endpoint on a node |
//! | `$ns_ connect $agent $sink` | connects them, in either order |
//! | `$flow attach-agent $agent` | puts a flow on an endpoint |
//! | `$flow set packetSize_ N` (also `interval_`, `rate_`, `random_`, `maxpkts_`) | CBR's parameters |
//! | `$agent set window_ N`, `$agent set packetSize_ N` | TCP's window in segments, bytes of a segment or datagram |
//! | `$agent set fid_ N`, `class_ N`, `prio_ N` | nothing: labels for traces |
//! | `$ns_ at T "$flow start"`, `"$flow stop"` | when, once each |
//! | `# …` and blank lines | nothing |
//!
//! Which TCP is simulated (Tahoe, Reno, …) and how a sink acknowledges is the scenario's choice and not this
//! file's; a file that names a variant is an error, not a surprise.
//!
//! CBR's values that a file leaves out are those of ns-2.35's `ns-default.tcl`: 210 bytes at 448 kb/s. As in
//! ns-2, `interval_` means a rate at the packet size that holds at that line.
//!
//! *Deviations*: number 5 in docs/models/traffic.md. A file that asks for a split is an error; the writer
//! sets the agent's size where ns-2 would split.

mod flow;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use flow::{FlowError, FlowKind, FlowSpec, check_flows};
pub use read::read_traffic;
pub use write::write_traffic;

/// Bytes of a CBR packet where the file sets none (`Application/Traffic/CBR set packetSize_`).
const DEFAULT_CBR_BYTES: u32 = 210;
/// Rate of a CBR source where the file sets neither `rate_` nor `interval_`, in bit/s.
const DEFAULT_CBR_RATE_BPS: f64 = 448e3;
/// Largest datagram that ns-2's UDP agent does not split, unless set, in bytes.
const DEFAULT_UDP_BYTES: u32 = 1000;
