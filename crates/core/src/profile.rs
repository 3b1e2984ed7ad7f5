//! Profiles: named sets of defaults for everything below the application.
//!
//! What ns-2 changed silently between its versions decides many published results, so each era is a profile.
//! `rfc` is the defaults of the parameters themselves. See docs/models/profiles.md for the sources.

use crate::arp::ArpParams;
use crate::ifq::{QueueParams, RoutingPriority};
use crate::ip::NetworkParams;
use crate::mac::{Access, DataWait, MacParams, ResponseRate, TimeoutMargin};
use crate::routing::adv::AdvParams;
use crate::routing::aodv::AodvParams;
use crate::routing::dsdv::DsdvParams;
use crate::routing::dsr::DsrParams;
use crate::routing::tsr::TsrParams;
use crate::scenario::Params;
use crate::stage::ThrottleParams;
use crate::transport::tcp::TcpParams;

/// The names of all profiles.
pub const PROFILES: &[&str] = &["rfc", "ns-2.35", "ns-2.27", "ns-2.1b9", "ns-2.1b8a", "cmu-1998"];

/// The parameters of a profile; none if there is no such profile.
pub fn profile(name: &str) -> Option<Params> {
    match name {
        "rfc" => Some(Params::default()),
        "ns-2.35" => Some(ns_2_35()),
        "ns-2.27" => Some(ns_2_27()),
        "ns-2.1b9" => Some(ns_2_1b9()),
        "ns-2.1b8a" => Some(ns_2_1b8a()),
        "cmu-1998" => Some(cmu_1998()),
        _ => None,
    }
}

/// What a profile is, in a line; none if there is no such profile.
pub fn meaning(name: &str) -> Option<&'static str> {
    match name {
        "rfc" => Some("Today's standards: the default."),
        "ns-2.35" => Some("ns-2.35 of 2011 as it ships, RTS for every unicast frame."),
        "ns-2.27" => Some("ns-2.27 of 2004 as it ships."),
        "ns-2.1b9" => Some("ns-2.1b9 of 2002 as it ships."),
        "ns-2.1b8a" => Some("ns-2.1b8a of June 2001 as it ships."),
        "cmu-1998" => Some("The CMU extensions of 1998 to ns-2."),
        _ => None,
    }
}

/// ns-2.35 (2011) as it ships, at 2 Mb/s data and 1 Mb/s basic rate, RTS for every unicast frame.
fn ns_2_35() -> Params {
    Params {
        mac: MacParams {
            // ns-2.35 counts four addresses in the header of every data frame.
            data_header_bytes: 34,
            llc_bytes: 0,
            response_rate: ResponseRate::Control,
            cca_time_us: 0.0,
            backoff_includes_cw: false,
            rts_threshold_bytes: 0,
            access: Access::AlwaysBackoff,
            eifs_as_nav: true,
            eifs_after_weak_frames: true,
            eifs_after_missed_frames: true,
            data_wait: DataWait::Data,
            captured_frames_set_nav: true,
            nav_reset: false,
            sense_before_data: true,
            ack_needs_cts: true,
            backoff_after_failure: false,
            ..MacParams::default()
        },
        arp: ArpParams::ns_2(),
        // A limit of 50 admits a packet only while fewer than 49 wait.
        queue: QueueParams {
            packets: 49,
            routing_priority: RoutingPriority::NewestFirst,
            ..QueueParams::default()
        },
        network: NetworkParams {
            link_layer_delay_us: 25.0,
            udp_header_bytes: 0,
            start_jitter_ms: 0.0,
            ..NetworkParams::default()
        },
        tcp: TcpParams::ns_2_35(),
        aodv: AodvParams::ns_2_35(),
        dsdv: DsdvParams::ns_2_35(),
        dsr: DsrParams::ns_2_35(),
        adv: AdvParams::dyer_2002(),
        tsr: TsrParams::choi_2004(),
        throttle: ThrottleParams { rate_applies_at_once: false, ..ThrottleParams::default() },
        ..Params::default()
    }
}

/// ns-2.1b9a (July 2002): 28-byte header, no backoff fix, failures forgotten too early, TCP of its day.
fn ns_2_1b9() -> Params {
    let base = ns_2_35();
    Params {
        mac: MacParams {
            data_header_bytes: 28,
            access: Access::DeferRandom,
            resets_retries_early: true,
            exceeds_retry_limit: true,
            stalls_after_refusal: true,
            ..base.mac
        },
        tcp: TcpParams::ns_2_1b9(),
        ..base
    }
}

/// ns-2.27 (January 2004): that of 2002 with what its change notes corrected until then.
fn ns_2_27() -> Params {
    let base = ns_2_1b9();
    Params {
        mac: MacParams { resets_retries_early: false, cts_resets_short_retries: false, ..base.mac },
        tcp: TcpParams { inflate_outside_recovery: false, ..base.tcp },
        ..base
    }
}

/// The CMU Monarch extensions of 1998 to 2001: preamble and header charged as 24 bytes at the data rate,
/// control and broadcast frames at 2 Mb/s, waits as before the corrections of 2002
/// (docs/models/profiles.md has the sources).
fn cmu_1998() -> Params {
    let base = ns_2_1b9();
    Params {
        mac: MacParams {
            control_rate_bps: 2e6,
            broadcast_rate_bps: 2e6,
            plcp_rate_bps: 2e6,
            access: Access::Defer,
            difs_before_data: true,
            data_wait: DataWait::Exchange,
            timeout_margin: TimeoutMargin::InterframeSpaces,
            ..base.mac
        },
        tcp: TcpParams::cmu_1998(),
        aodv: AodvParams::dyer_2002(),
        dsdv: DsdvParams::broch_1998(),
        dsr: DsrParams::dyer_2002(),
        ..base
    }
}

/// ns-2.1b8a (June 2001) as it ships: the CMU extensions with what that release is known to do, from its
/// code (docs/models/profiles.md).
fn ns_2_1b8a() -> Params {
    let base = cmu_1998();
    Params {
        mac: MacParams {
            eifs_counts_plcp_twice: true,
            // The state is not idle yet when the next packet is fetched, also after one that was given up.
            backoff_after_failure: true,
            ..base.mac
        },
        tcp: TcpParams::ns_2_1b8a(),
        aodv: AodvParams::ns_2_1b8a(),
        dsr: DsrParams::ns_2_1b8a(),
        ..base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_there_and_within_range() {
        for name in PROFILES {
            let params = profile(name).unwrap_or_else(|| panic!("{name} is listed"));
            assert_eq!(params.check(), Ok(()), "{name}");
            assert!(meaning(name).is_some(), "{name}");
        }
        assert_eq!(profile("ns-3"), None);
    }
}
