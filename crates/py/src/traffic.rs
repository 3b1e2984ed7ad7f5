//! Traffic between ns-2's files, the scenario's flows and Python.

use manetlab_core::kernel::{Streams, Time};
use manetlab_core::scenario::{Flow, FlowKind};
use manetlab_core::traffic::{VideoParams, WebParams};
use manetlab_formats as formats;
use manetlab_formats::FlowSpec;
use manetlab_resolver::traffic;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{FROM_PYTHON, input_error, of_told};
use crate::json;

/// The flows that a traffic file of ns-2 says: a JSON list of the scenario's flows.
#[pyfunction]
pub(crate) fn read_traffic(py: Python<'_>, data: &[u8], name: &str) -> PyResult<String> {
    json(&py.detach(|| traffic::read(data, name)).map_err(of_told)?)
}

/// A traffic file of ns-2 with these flows, a JSON list.
#[pyfunction]
pub(crate) fn write_traffic(flows_json: &str) -> PyResult<String> {
    let flows: Vec<Flow> =
        serde_json::from_str(flows_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(formats::write_traffic(&flows.iter().map(spec_of).collect::<PyResult<Vec<_>>>()?))
}

/// Draws from the stream that random traffic patterns are made from, each uniform on [0, 1).
#[pyfunction]
pub(crate) fn traffic_draws(seed: u64, replication: u64, count: usize) -> Vec<f64> {
    traffic::draws(&Streams::new(seed, replication), count)
}

/// The codecs of speech, the default first: name, payload of a packet in bytes, look-ahead in ms, `I_e` and
/// `B_pl`.
#[pyfunction]
pub(crate) fn codecs() -> Vec<(&'static str, u32, f64, f64, f64)> {
    traffic::codecs()
}

/// The first `count` frames that a video flow makes which begins with the run: times in s, types as a letter
/// each, bytes.
///
/// `params_json` are the parameters of the section `video`, all of them.
#[pyfunction]
pub(crate) fn video_frames(
    params_json: &str,
    streams: (u64, u64),
    flow: u32,
    count: usize,
) -> PyResult<(Vec<f64>, String, Vec<u32>)> {
    let params: VideoParams =
        serde_json::from_str(params_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(traffic::video_frames(&params, &Streams::new(streams.0, streams.1), flow, count))
}

/// The parameters of Web sessions: a JSON list of objects.
#[pyfunction]
pub(crate) fn web_schema() -> PyResult<String> {
    json(&WebParams::SCHEMA)
}

/// The defaults of Web sessions: a JSON object.
#[pyfunction]
pub(crate) fn web_defaults() -> PyResult<String> {
    json(&WebParams::default())
}

/// Web sessions for a network of `nodes`, which begin after a warm-up of `warmup_s`: a JSON list of the
/// scenario's flows. `params_json` holds parameters of the section `web`, the rest are defaults.
#[pyfunction]
pub(crate) fn draw_web_sessions(
    params_json: &str,
    nodes: u32,
    warmup_s: f64,
    seed: u64,
    replication: u64,
) -> PyResult<String> {
    let params: WebParams = serde_json::from_str(params_json).map_err(|error| {
        input_error(
            "these are no Web sessions",
            "traffic.web",
            &error.to_string(),
            "their parameters",
            FROM_PYTHON,
        )
    })?;
    json(&traffic::web_flows(&params, nodes, warmup_s, &Streams::new(seed, replication)).map_err(of_told)?)
}

fn spec_of(flow: &Flow) -> PyResult<FlowSpec> {
    let kind = match &flow.kind {
        &FlowKind::Tcp { bytes: None, window, segment_bytes } => {
            formats::FlowKind::Tcp { window, segment_bytes }
        }
        FlowKind::Tcp { bytes: Some(bytes), .. } => {
            return Err(input_error(
                "ns-2's traffic files cannot say how long a TCP transfer is",
                "traffic",
                &format!("{bytes} bytes"),
                "an endless transfer",
                "leave out `bytes`, or keep the traffic in a TOML file",
            ));
        }
        &FlowKind::Cbr { bytes, interval_s, random, max_packets } => {
            formats::FlowKind::Cbr { bytes, interval_s, random, max_packets }
        }
        _ => {
            return Err(input_error(
                "ns-2's traffic files hold TCP and CBR flows only",
                "traffic",
                "a flow of another kind",
                "TCP and CBR flows",
                "keep the traffic in a TOML file",
            ));
        }
    };
    Ok(FlowSpec {
        kind,
        src: flow.src,
        dst: flow.dst,
        start: Time::from_secs(flow.start_s),
        stop: flow.stop_s.map(Time::from_secs),
    })
}
