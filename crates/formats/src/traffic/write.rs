//! Writes flows in the form of `cbrgen.tcl`.

use std::fmt::{self, Write};

use super::{DEFAULT_UDP_BYTES, FlowKind, FlowSpec};
use crate::number::write_time;

/// The flows as a traffic file. Reading it gives them back exactly: floats in their shortest form that is
/// read back to the same bits, times as exact decimals.
#[expect(clippy::expect_used, reason = "writing to a `String` does not fail")]
pub fn write_traffic(flows: &[FlowSpec]) -> String {
    let mut out = String::new();
    write_all(flows, &mut out).expect("writing to a String does not fail");
    out
}

fn write_all(flows: &[FlowSpec], out: &mut String) -> fmt::Result {
    // Like cbrgen.tcl, TCP and CBR flows are numbered apart.
    let (mut tcps, mut cbrs) = (0, 0);
    for flow in flows {
        let at = write_time(flow.start);
        writeln!(out, "#\n# {} connecting to {} at time {at}\n#", flow.src, flow.dst)?;
        let (name, count) = match flow.kind {
            FlowKind::Tcp { window, segment_bytes } => {
                write_tcp(out, tcps, flow, window, segment_bytes)?;
                ("ftp", &mut tcps)
            }
            FlowKind::Cbr { .. } => {
                write_cbr(out, cbrs, flow)?;
                ("cbr", &mut cbrs)
            }
        };
        writeln!(out, r#"$ns_ at {at} "${name}_({count}) start""#)?;
        if let Some(stop) = flow.stop {
            writeln!(out, r#"$ns_ at {} "${name}_({count}) stop""#, write_time(stop))?;
        }
        *count += 1;
    }
    writeln!(out, "#\n# Total connections: {}\n#", flows.len())
}

fn write_tcp(
    out: &mut String,
    k: u32,
    flow: &FlowSpec,
    window: Option<u32>,
    bytes: Option<u32>,
) -> fmt::Result {
    let (src, dst) = (flow.src, flow.dst);
    writeln!(out, "set tcp_({k}) [$ns_ create-connection TCP $node_({src}) TCPSink $node_({dst}) 0]")?;
    if let Some(window) = window {
        writeln!(out, "$tcp_({k}) set window_ {window}")?;
    }
    if let Some(bytes) = bytes {
        writeln!(out, "$tcp_({k}) set packetSize_ {bytes}")?;
    }
    writeln!(out, "set ftp_({k}) [$tcp_({k}) attach-source FTP]")
}

fn write_cbr(out: &mut String, k: u32, flow: &FlowSpec) -> fmt::Result {
    let FlowKind::Cbr { bytes, interval_s, random, max_packets } = flow.kind else { return Ok(()) };
    writeln!(out, "set udp_({k}) [new Agent/UDP]")?;
    if bytes > DEFAULT_UDP_BYTES {
        writeln!(out, "$udp_({k}) set packetSize_ {bytes}")?;
    }
    writeln!(out, "$ns_ attach-agent $node_({}) $udp_({k})", flow.src)?;
    writeln!(out, "set null_({k}) [new Agent/Null]")?;
    writeln!(out, "$ns_ attach-agent $node_({}) $null_({k})", flow.dst)?;
    writeln!(out, "set cbr_({k}) [new Application/Traffic/CBR]")?;
    // The size goes first: ns-2 turns an interval into a rate at the size that holds then.
    writeln!(out, "$cbr_({k}) set packetSize_ {bytes}")?;
    writeln!(out, "$cbr_({k}) set interval_ {interval_s:?}")?;
    writeln!(out, "$cbr_({k}) set random_ {}", u8::from(random))?;
    if let Some(packets) = max_packets {
        writeln!(out, "$cbr_({k}) set maxpkts_ {packets}")?;
    }
    writeln!(out, "$cbr_({k}) attach-agent $udp_({k})")?;
    writeln!(out, "$ns_ connect $udp_({k}) $null_({k})")
}
