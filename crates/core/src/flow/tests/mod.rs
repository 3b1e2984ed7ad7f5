//! Each kind of flow between the two ends of a pipe, on a virtual clock.

mod contract;
mod datagrams;
mod sessions;
mod streams;

use crate::observe::{FlowMeasures, MessageMeasures, TcpMeasures};
use crate::scenario::{Carrier, FlowKind, Scenario};
use crate::traffic::WebCycle;

fn cbr(max_packets: u64) -> FlowKind {
    FlowKind::Cbr { bytes: 512, interval_s: 0.25, random: false, max_packets: Some(max_packets) }
}

fn transfer(bytes: Option<u64>) -> FlowKind {
    FlowKind::Tcp { bytes, window: None, segment_bytes: None }
}

/// Messages at these times after 1 s, of these lengths.
fn messages(transport: Carrier, packets: &[(f64, u32)]) -> FlowKind {
    FlowKind::Trace { transport, packets: packets.to_vec() }
}

fn session(cycles: usize) -> FlowKind {
    let cycle =
        WebCycle { think_s: 1.0, request_bytes: 300, server_delay_s: 0.5, replies_bytes: vec![2000, 90] };
    FlowKind::Web { cycles: vec![cycle; cycles] }
}

/// A scenario whose TCP sender is the one of this name.
fn sender(name: &str) -> impl FnOnce(&mut Scenario) {
    move |scenario| assert!(scenario.params.tcp.apply_sender(name), "no sender {name}")
}

fn of_messages(measures: FlowMeasures) -> MessageMeasures {
    match measures {
        FlowMeasures::OnOff(of)
        | FlowMeasures::Poisson(of)
        | FlowMeasures::Trace(of)
        | FlowMeasures::Adp(of) => of,
        FlowMeasures::Video(video) => video.messages,
        FlowMeasures::Voice(voice) => voice.messages,
        other => panic!("no messages: {other:?}"),
    }
}

/// Messages made, delivered, dropped, lost and waiting.
fn fates(measures: FlowMeasures) -> [u64; 5] {
    let of = of_messages(measures);
    [of.messages_made, of.messages_delivered, of.messages_dropped, of.messages_lost, of.messages_waiting]
}

fn of_tcp(measures: FlowMeasures) -> TcpMeasures {
    match measures {
        FlowMeasures::Tcp(tcp) => tcp,
        other => panic!("no TCP: {other:?}"),
    }
}
