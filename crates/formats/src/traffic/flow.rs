//! What a traffic file says of one flow, and whether the network can carry it.

use manetlab_core::kernel::Time;
use thiserror::Error;

/// What a flow sends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FlowKind {
    /// FTP over TCP: always something to send.
    Tcp {
        /// The receiver's window, in segments; `None` where the file leaves it to the default.
        window: Option<u32>,
        /// Payload of a segment, in bytes; `None` where the file leaves it to the default.
        segment_bytes: Option<u32>,
    },
    /// Constant bit rate over UDP.
    Cbr {
        /// Payload of a packet, in bytes.
        bytes: u32,
        /// Time between packets, in seconds.
        interval_s: f64,
        /// Vary each interval uniformly by up to half of it, to either side.
        random: bool,
        /// Stop after so many packets.
        max_packets: Option<u64>,
    },
}

/// One flow of a traffic file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowSpec {
    /// What it sends.
    pub kind: FlowKind,
    /// The node that sends.
    pub src: u32,
    /// The node that receives.
    pub dst: u32,
    /// When it starts.
    pub start: Time,
    /// When it stops; `None` runs to the end.
    pub stop: Option<Time>,
}

/// A flow that a network of so many nodes cannot carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum FlowError {
    /// From a node to itself.
    #[error(
        "flow {flow}: found node {node} as source and destination, wanted two nodes\nhint: remove the flow"
    )]
    ToItself {
        /// The flow, counted from 0.
        flow: usize,
        /// The node.
        node: u32,
    },
    /// From or to a node that does not exist.
    #[error(
        "flow {flow}: found node {node}, wanted a node from 0 to {last}\n\
         hint: the movement has {nodes} nodes; cbrgen.tcl can name one node more than its -nn, \
         so run it with one less",
        last = i64::from(*nodes) - 1
    )]
    NoSuchNode {
        /// The flow, counted from 0.
        flow: usize,
        /// The node that does not exist.
        node: u32,
        /// How many there are.
        nodes: u32,
    },
}

/// Checks that every flow joins two different nodes out of 0 … `nodes` - 1.
///
/// # Errors
/// The first flow that does not.
pub fn check_flows(flows: &[FlowSpec], nodes: u32) -> Result<(), FlowError> {
    for (flow, spec) in flows.iter().enumerate() {
        if spec.src == spec.dst {
            return Err(FlowError::ToItself { flow, node: spec.src });
        }
        if let Some(node) = [spec.src, spec.dst].into_iter().find(|&node| node >= nodes) {
            return Err(FlowError::NoSuchNode { flow, node, nodes });
        }
    }
    Ok(())
}
