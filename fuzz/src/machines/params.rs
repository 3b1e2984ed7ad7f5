//! Parameters within their ranges: a profile's, some of them changed.

use manetlab_core::mobility::Trajectory;
use manetlab_core::params::ParamInfo;
use manetlab_core::profile::{PROFILES, profile};
use manetlab_core::scenario::{Flow, FlowKind, Params, RoutingKind, Scenario};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::input::Input;

/// The parameters of one of the profiles.
pub(super) fn of_a_profile(input: &mut Input<'_>) -> Params {
    let name = input.pick(PROFILES);
    profile(name).expect("the profile exists")
}

/// Changes up to three parameters of a section to values within their ranges, the ends of the range often.
pub(super) fn vary<P: Serialize + DeserializeOwned>(
    input: &mut Input<'_>,
    schema: &[ParamInfo],
    section: &mut P,
) {
    let changes = input.below(4);
    if changes == 0 {
        return;
    }
    let mut value = serde_json::to_value(&*section).expect("parameters have a form in JSON");
    for _ in 0..changes {
        let info = &schema[input.byte() as usize % schema.len()];
        value[info.name] = changed(input, info);
    }
    *section = serde_json::from_value(value).expect("values of the right kinds");
}

/// The same for the section of this name.
pub(super) fn vary_section(input: &mut Input<'_>, name: &str, params: &mut Params) {
    let schema: Vec<ParamInfo> = Params::schema().into_iter().filter(|info| info.section == name).collect();
    let mut sections = serde_json::to_value(&*params).expect("parameters have a form in JSON");
    vary(input, &schema, &mut sections[name]);
    *params = serde_json::from_value(sections).expect("sections of the right kinds");
}

fn changed(input: &mut Input<'_>, info: &ParamInfo) -> Value {
    match (info.kind, info.range) {
        ("boolean", _) => input.once_in(2).into(),
        ("choice", _) => input.pick(info.choices).into(),
        (kind, Some((low, high))) => {
            let drawn = match input.below(4) {
                0 => low,
                1 => high,
                // Most ranges span several powers of ten.
                2 if low > 0.0 => (0..input.below(40)).fold(low, |value, _| (2.0 * value).min(high)),
                _ => low + f64::from(input.byte()) / 255.0 * (high - low),
            };
            if kind == "integer" { (drawn as u64).max(low as u64).into() } else { drawn.min(high).into() }
        }
        (kind, None) => panic!("{}.{} is a {kind} without a range", info.section, info.name),
    }
}

/// A scenario of two nodes with these parameters and at most one flow; none if they contradict each other.
pub(super) fn scenario(params: Params, kind: Option<FlowKind>, stop_s: Option<f64>) -> Option<Scenario> {
    let flow = kind.map(|kind| Flow {
        src: 0,
        dst: 1,
        start_s: 0.5,
        stop_s,
        late_after_s: None,
        deadline_ms: None,
        throttle_bps: None,
        alone_bps: None,
        oracle_bps: None,
        reserve_bps: None,
        reserve_min_bps: None,
        kind,
    });
    let scenario = Scenario {
        duration_s: 1e5,
        warmup_s: 1.0,
        seed: 1,
        replication: 0,
        routing: RoutingKind::Static,
        params,
        flows: flow.into_iter().collect(),
        rates: Vec::new(),
        radios: Vec::new(),
        walls: Vec::new(),
        energy: None,
        wired: Vec::new(),
        movement: vec![Trajectory::fixed(0.0, 0.0), Trajectory::fixed(100.0, 0.0)],
    };
    scenario.check().is_ok().then_some(scenario)
}
