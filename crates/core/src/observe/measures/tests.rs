//! What is said of the measures: each direction, and that every value of a result has its measure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::*;
use crate::observe::{
    CachedRouteTotals, CbrMeasures, ConnectionMeasures, ConnectionTotals, EnergyTotals, FlowCost,
    FlowMeasures, FlowResult, GuessMeasures, GuessTotals, HoldTotals, MessageMeasures, MessageTotals,
    ProgressMeasures, ProgressTotals, RateMeasures, ReservationMeasures, ReservationTotals, RouteMeasures,
    RtpMeasures, RunTotals, ShareTotals, SplitMeasures, SplitTotals, SpuriousMeasures, SpuriousTotals,
    TcpMeasures, TimelinessMeasures, TimelinessTotals, Totals, VideoMeasures, VoiceMeasures, VoiceTotals,
    WebMeasures, WebTotals,
};
use crate::topology::PathMeasures;

/// What a flow has that is not measured.
const GIVEN: [&str; 6] = ["id", "src", "dst", "start_s", "kind", "transport"];

fn names(value: &impl Serialize) -> BTreeSet<String> {
    match serde_json::to_value(value).expect("it has a form in JSON") {
        Value::Object(fields) => fields.keys().cloned().collect(),
        other => panic!("not an object: {other}"),
    }
}

/// The totals of a run that has all of them.
fn all_totals() -> RunTotals {
    RunTotals {
        common: Totals {
            bit_error_fraction: Some(0.0),
            cbr_both_up_delivery_fraction: Some(1.0),
            ..Totals::default()
        },
        messages: Some(MessageTotals::default()),
        voice: Some(VoiceTotals::default()),
        web: Some(WebTotals::default()),
        connections: Some(ConnectionTotals::default()),
        routes: Some(CachedRouteTotals::default()),
        holds: Some(HoldTotals::default()),
        progress: Some(ProgressTotals::default()),
        spurious: Some(SpuriousTotals::default()),
        split: Some(SplitTotals::default()),
        guesses: Some(GuessTotals::default()),
        timeliness: Some(TimelinessTotals::default()),
        shares: Some(ShareTotals::default()),
        reservations: Some(ReservationTotals::default()),
        energy: Some(EnergyTotals::default()),
        ..RunTotals::default()
    }
}

/// A flow of this kind that has all measures that one may have.
fn flow(kind: &str, measures: FlowMeasures) -> (String, BTreeSet<String>) {
    let flow = FlowResult {
        id: 0,
        src: 0,
        dst: 1,
        start_s: 0.0,
        measures,
        connection: CONNECTIONS.contains(&kind).then(ConnectionMeasures::default),
        rtp: OVER_RTP.contains(&kind).then(RtpMeasures::default),
        progress: (kind == "tcp").then(ProgressMeasures::default),
        spurious: (kind == "tcp").then(SpuriousMeasures::default),
        split: (kind == "tcp").then(SplitMeasures::default),
        guesses: (kind == "tcp").then(GuessMeasures::default),
        timeliness: DATAGRAMS.contains(&kind).then(TimelinessMeasures::default),
        cost: FlowCost::default(),
        path: Some(PathMeasures::default()),
        route: Some(RouteMeasures::default()),
        rates: Some(RateMeasures::default()),
        reservation: Some(ReservationMeasures::default()),
    };
    let measured = names(&flow).into_iter().filter(|name| !GIVEN.contains(&name.as_str())).collect();
    (kind.to_owned(), measured)
}

#[test]
fn every_total_is_in_the_table_and_the_reverse() {
    let listed: BTreeSet<String> =
        TOTALS.iter().flat_map(|group| group.measures).map(|each| each.name.to_owned()).collect();
    assert_eq!(listed, names(&all_totals()));
}

#[test]
fn every_measure_of_a_flow_is_in_the_table_and_the_reverse() {
    let message = MessageMeasures::default;
    let kinds = BTreeMap::from([
        flow("tcp", FlowMeasures::Tcp(TcpMeasures::default())),
        flow("cbr", FlowMeasures::Cbr(CbrMeasures::default())),
        flow("on-off", FlowMeasures::OnOff(message())),
        flow("poisson", FlowMeasures::Poisson(message())),
        flow("trace", FlowMeasures::Trace(message())),
        flow("video", FlowMeasures::Video(VideoMeasures::default())),
        flow("voice", FlowMeasures::Voice(VoiceMeasures::default())),
        flow("adp", FlowMeasures::Adp(message())),
        flow("web", FlowMeasures::Web(WebMeasures::default())),
    ]);
    for (kind, measured) in kinds {
        let of_kind =
            FLOWS.iter().filter(|group| group.flows.is_empty() || group.flows.contains(&kind.as_str()));
        let listed: Vec<&str> = of_kind.flat_map(|group| group.measures).map(|each| each.name).collect();
        let once: BTreeSet<String> = listed.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(once, measured, "{kind}");
        assert_eq!(once.len(), listed.len(), "{kind}: a measure stands in two groups");
    }
}

/// Measures that most runs do not have at all.
const UNUSUAL: [&str; 2] = ["bit_error_fraction", "cbr_both_up_delivery_fraction"];

/// A value is whole exactly where the table says so, and only what the table says may be missing is.
#[test]
fn the_table_says_which_totals_are_whole_numbers_and_which_may_be_missing() {
    let value = serde_json::to_value(all_totals()).expect("totals have a form in JSON");
    for measure in TOTALS.iter().flat_map(|group| group.measures) {
        let found = &value[measure.name];
        if !found.is_null() && !UNUSUAL.contains(&measure.name) {
            assert!(!measure.is_optional, "{}", measure.name);
            let is_whole = matches!(measure.values(), Values::Count | Values::Whole);
            assert_eq!(found.is_u64() || found.is_i64(), is_whole, "{}", measure.name);
        }
    }
}

#[test]
fn names_end_in_their_unit() {
    let ending = |unit| match unit {
        "bit/s" => "_bps",
        "s" => "_s",
        "1/s" => "_per_s",
        "B/s" => "_bytes_per_s",
        "J" | "J/kB" => "_j",
        _ => "",
    };
    for measure in [TOTALS, FLOWS].concat().iter().flat_map(|group| group.measures) {
        let Measure { name, .. } = measure;
        assert!(name.ends_with(ending(measure.unit())), "{name}");
        let has_unit = ["_bps", "_s", "_j"].iter().any(|unit| name.ends_with(unit));
        assert_eq!(has_unit, !ending(measure.unit()).is_empty(), "{name}");
        assert_eq!(
            measure.unit() == "B",
            name.ends_with("_bytes") && measure.values() == Values::Count,
            "{name}"
        );
    }
}

#[test]
fn measures_of_the_same_name_have_the_same_unit() {
    let mut units = BTreeMap::new();
    for measure in [TOTALS, FLOWS].concat().iter().flat_map(|group| group.measures) {
        assert_eq!(*units.entry(measure.name).or_insert(measure.unit()), measure.unit(), "{}", measure.name);
    }
}

/// Which way each total is better: a change here changes verdicts.
#[test]
fn the_direction_of_every_total_is_as_listed() {
    let of = |wanted| {
        let all = TOTALS.iter().flat_map(|group| group.measures);
        all.filter(|measure| measure.better == wanted)
            .map(|measure| measure.name)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let listed = |names: &str| names.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        of(Better::Higher),
        listed(
            "tcp_throughput_bps tcp_goodput eq2_goodput_bps tcp_congestion_accuracy tcp_wireless_accuracy
             cbr_received cbr_delivery_fraction cbr_throughput_bps
             messages_delivered message_delivery_fraction message_throughput_bps video_decodable_fraction
             voice_satisfied_fraction voice_r_mean voice_mos_mean datagram_in_time_fraction
             web_sessions_finished web_cycles_completed web_delivered_bytes web_throughput_bps
             web_combined_throughput_bps cbr_both_up_delivery_fraction
             energy_first_death_s energy_half_dead_s
             reserved_fraction reserved_max_share"
        )
    );
    assert_eq!(
        of(Better::Lower),
        listed(
            "tcp_connect_time_mean_s tcp_retransmissions tcp_timeouts tcp_backoffs tcp_unsmoothness_max
             tcp_spurious_timeouts tcp_spurious_fast_retransmits
             tcp_acked_undelivered_bytes tcp_acked_undelivered_max_bytes
             cbr_latency_mean_s cbr_latency_p50_s cbr_latency_p95_s cbr_latency_p99_s
             messages_dropped messages_lost message_network_drop_rate message_latency_mean_s
             voice_lost_fraction voice_mouth_to_ear_mean_s
             datagram_jitter_mean_s datagram_delay_spread_mean_s
             web_service_time_mean_s web_session_time_mean_s web_response_time_mean_s web_timeouts
             collision_fraction
             energy_j energy_without_idle_j energy_routing_j energy_arp_j energy_mac_j
             energy_per_delivered_kb_j energy_dead_nodes bit_error_fraction
             normalised_routing_load normalised_routing_bytes
             frames_per_delivered_packet frame_bytes_per_delivered_byte
             mac_packets_per_delivered mac_bytes_per_delivered_byte rebroadcasts_per_delivered_packet
             throttle_error_mean throttle_error_max restoration_mean_s"
        )
    );
    assert_eq!(
        of(Better::Neither),
        listed(
            "tcp_judged_congestion_losses tcp_judged_wireless_losses tcp_judged_others
             cbr_sent messages_made voice_calls web_sessions web_connection_time_s hops_mean
             energy_data_j energy_busy_j energy_idle_j
             routing_packets_per_s routing_bytes_per_s routing_mac_frames_per_s routing_mac_bytes_per_s
             mac_frames_per_s mac_bytes_per_s
             routes_taken invalid_routes stale_routes invalid_routes_with_probes
             holds holds_answered holds_timed_out hold_time_s hold_time_mean_s hold_time_max_s
             probes_sent probes_answered probe_first_answer_mean_s
             announcements announcements_alone announcement_bytes reserved_min_share restorations"
        )
    );
}

#[test]
fn no_name_is_that_of_two_totals() {
    let mut seen = BTreeSet::new();
    for measure in TOTALS.iter().flat_map(|group| group.measures) {
        for name in [measure.name].iter().chain(measure.also) {
            assert!(seen.insert(*name), "{name}");
        }
    }
}

#[test]
fn the_table_is_told_with_what_the_groups_say() {
    let told = serde_json::to_value(MeasureTable::new()).expect("the table has a form in JSON");
    let totals = told["totals"].as_array().expect("a list");
    let pdr = totals.iter().find(|each| each["name"] == "cbr_delivery_fraction").expect("it is there");
    assert_eq!(pdr["bounds"], serde_json::json!([0.0, 1.0]));
    assert_eq!((&pdr["better"], &pdr["unit"], &pdr["shown"]), (&"higher".into(), &"1".into(), &"%".into()));
    assert_eq!(pdr["flows"], serde_json::json!(["cbr"]));
    let errors = totals.iter().find(|each| each["name"] == "bit_error_fraction").expect("it is there");
    assert_eq!(errors["needs"], "radio.bit_error_rate above 0");
}
