//! Traffic: read from ns-2's files, and drawn.

use manetlab_core::kernel::{Purpose, Streams, Time};
use manetlab_core::params::ParamValue;
use manetlab_core::scenario::{Flow, FlowKind};
use manetlab_core::traffic::{
    Codec, FrameKind, Source, VideoParams, VideoSource, WebParams, WebPlan, draw_sessions,
};
use manetlab_formats as formats;
use manetlab_formats::FlowSpec;

use crate::told::Told;

/// The number of the stream of random traffic patterns: no flow has it.
const PATTERN: u32 = u32::MAX;

/// The flows that a traffic file of ns-2 says.
///
/// # Errors
/// The file has a line that means nothing.
pub fn read(data: &[u8], name: &str) -> Result<Vec<Flow>, Told> {
    let specs = formats::read_traffic(data, name, &formats::Limits::default());
    Ok(specs.map_err(|error| Told::of_reading(&error))?.iter().map(flow_of).collect())
}

/// Draws from the stream that random traffic patterns are made from, each uniform on [0, 1).
pub fn draws(streams: &Streams, count: usize) -> Vec<f64> {
    let mut stream = streams.stream(PATTERN, Purpose::Traffic);
    (0..count).map(|_| stream.unit()).collect()
}

/// The codecs of speech, the default first: name, payload of a packet in bytes, look-ahead in ms, `I_e` and
/// `B_pl`.
pub fn codecs() -> Vec<(&'static str, u32, f64, f64, f64)> {
    Codec::CHOICES
        .iter()
        .zip([Codec::G711Plc, Codec::G711, Codec::G729, Codec::Opus])
        .map(|(&name, codec)| {
            let (of, ms) = (codec.impairment(), 1e3 * codec.look_ahead().as_secs());
            (name, codec.payload_bytes(), ms, of.without_loss, of.robustness)
        })
        .collect()
}

/// The first `count` frames that a video flow makes which begins with the run: times in s, types as a letter
/// each, bytes.
pub fn video_frames(
    params: &VideoParams,
    streams: &Streams,
    flow: u32,
    count: usize,
) -> (Vec<f64>, String, Vec<u32>) {
    let stream = streams.stream(flow, Purpose::Traffic);
    let mut source = VideoSource::new(Time::ZERO, Time::NEVER, params, stream);
    let (mut times_s, mut kinds, mut bytes) = (Vec::new(), String::new(), Vec::new());
    for _ in 0..count {
        times_s.push(seconds(source.next_timeout()));
        let message = source.handle_timeout();
        kinds.push(match message.frame {
            Some(FrameKind::I) => 'I',
            Some(FrameKind::P) => 'P',
            Some(FrameKind::B) | None => 'B',
        });
        bytes.push(message.bytes);
    }
    (times_s, kinds, bytes)
}

/// Web sessions for a network of `nodes`, which begin after a warm-up of `warmup_s`.
///
/// # Errors
/// The parameters are out of range, or there are too few nodes.
pub fn web_flows(
    params: &WebParams,
    nodes: u32,
    warmup_s: f64,
    streams: &Streams,
) -> Result<Vec<Flow>, Told> {
    let plans = draw_sessions(params, nodes, streams).map_err(|error| Told::of_web(&error))?;
    let start_s = warmup_s + params.after_warmup_s;
    let flow = |plan: WebPlan| {
        let kind = FlowKind::Web { cycles: plan.cycles };
        flow_between(plan.client, plan.server, start_s, None, kind)
    };
    Ok(plans.into_iter().map(flow).collect())
}

fn flow_between(src: u32, dst: u32, start_s: f64, stop_s: Option<f64>, kind: FlowKind) -> Flow {
    Flow {
        src,
        dst,
        start_s,
        stop_s,
        late_after_s: None,
        deadline_ms: None,
        throttle_bps: None,
        alone_bps: None,
        oracle_bps: None,
        reserve_bps: None,
        reserve_min_bps: None,
        kind,
    }
}

/// Seconds as the nearest float, which is what reading the decimal number gives.
fn seconds(time: Time) -> f64 {
    time.0 as f64 / 1e9
}

fn flow_of(spec: &FlowSpec) -> Flow {
    let kind = match spec.kind {
        formats::FlowKind::Tcp { window, segment_bytes } => {
            FlowKind::Tcp { bytes: None, window, segment_bytes }
        }
        formats::FlowKind::Cbr { bytes, interval_s, random, max_packets } => {
            FlowKind::Cbr { bytes, interval_s, random, max_packets }
        }
    };
    flow_between(spec.src, spec.dst, seconds(spec.start), spec.stop.map(seconds), kind)
}
