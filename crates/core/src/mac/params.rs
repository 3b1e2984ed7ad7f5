//! Parameters of the 802.11 MAC.

use crate::params::{choices, params};

choices! {
    /// How a station begins to contend for an idle medium.
    pub enum Access {
        /// IEEE 802.11-1999 §9.2.5.1: at once if the medium has been idle for DIFS, otherwise after DIFS and
        /// a backoff.
        Standard = "standard",
        /// As ns-2 since 2006-01-30 (`bugFix_timer_`): DIFS and a backoff that freezes, even on an idle
        /// medium.
        AlwaysBackoff = "always-backoff",
        /// As ns-2 before: DIFS and a random number of slots without freezing; if the medium is then busy,
        /// the contention window grows and a backoff that freezes follows.
        DeferRandom = "defer-random",
    }
}

params! {
    /// Parameters of the 802.11 MAC. The defaults are those of the standard for DSSS at 2 Mb/s.
    pub struct MacParams in "mac" {
        /// Rate of unicast data frames.
        data_rate_bps: f64 = 2e6, "bit/s", "IEEE 802.11-1999 §15.4", [1e3, 1e9];
        /// Rate of RTS, CTS and ACK frames.
        control_rate_bps: f64 = 1e6, "bit/s", "IEEE 802.11-1999 §9.6", [1e3, 1e9];
        /// Rate of broadcast frames.
        broadcast_rate_bps: f64 = 1e6, "bit/s", "IEEE 802.11-1999 §9.6", [1e3, 1e9];
        /// PLCP preamble and header.
        plcp_bits: u32 = 192, "bit", "IEEE 802.11-1999 §15.2", [0.0, 10_000.0];
        /// Rate of the PLCP preamble and header.
        plcp_rate_bps: f64 = 1e6, "bit/s", "IEEE 802.11-1999 §15.2", [1e3, 1e9];
        /// MAC header and FCS of a data frame.
        data_header_bytes: u32 = 28, "byte", "IEEE 802.11-1999 §7.2.2", [0.0, 1000.0];
        /// Slot time.
        slot_us: f64 = 20.0, "µs", "IEEE 802.11-1999 §15.3.3", [0.1, 10_000.0];
        /// Short interframe space.
        sifs_us: f64 = 10.0, "µs", "IEEE 802.11-1999 §15.3.3", [0.1, 10_000.0];
        /// Time that carrier sense takes to report a frame: a station whose backoff ends sooner after the
        /// frame's first bit transmits anyway. It determines the length of a slot (§9.2.10). ns-2 senses at
        /// once.
        cca_time_us: f64 = 15.0, "µs", "IEEE 802.11-1999 §15.3.3", [0.0, 10_000.0];
        /// Minimum contention window.
        cw_min: u32 = 31, "slot", "IEEE 802.11-1999 §15.3.3", [1.0, 65_535.0];
        /// Maximum contention window.
        cw_max: u32 = 1023, "slot", "IEEE 802.11-1999 §15.3.3", [1.0, 65_535.0];
        /// Draw the backoff from 0 to cw (the standard) or from 0 to cw - 1 (ns-2).
        backoff_includes_cw: bool = true, "", "IEEE 802.11-1999 §9.2.4";
        /// Unicast frames longer than this (MAC header and FCS included) are announced by RTS and CTS.
        rts_threshold_bytes: u32 = 2347, "byte", "IEEE 802.11-1999 §9.2.5.4", [0.0, 65_535.0];
        /// Attempts for a frame of at most the RTS threshold, and for an RTS.
        short_retry_limit: u32 = 7, "", "IEEE 802.11-1999 §9.2.5.3", [1.0, 255.0];
        /// Attempts for a frame above the RTS threshold.
        long_retry_limit: u32 = 4, "", "IEEE 802.11-1999 §9.2.5.3", [1.0, 255.0];
        /// How a station begins to contend for an idle medium.
        access: Access = Access::Standard, "", "IEEE 802.11-1999 §9.2.5.1";
        /// Treat EIFS as a NAV: DIFS follows it, and no CTS is sent during it (ns-2). In the standard EIFS
        /// replaces DIFS.
        eifs_as_nav: bool = false, "", "ns-2 Mac/802_11 recv_timer";
        /// Wait EIFS also after frames that are sensed but too weak to be decoded (ns-2).
        eifs_after_weak_frames: bool = false, "", "ns-2 Mac/802_11 recv_timer";
        /// Treat a weaker frame during capture as a NAV of its length and EIFS (ns-2). In the standard the
        /// medium is only busy for its duration.
        captured_frames_set_nav: bool = false, "", "ns-2 Mac/802_11 capture";
        /// Sense the medium before the data frame that follows a CTS, and start over if it is busy (ns-2).
        sense_before_data: bool = false, "", "ns-2 Mac/802_11 check_pktTx";
        /// Acknowledge a frame above the RTS threshold only while the CTS for it is outstanding (ns-2).
        ack_needs_cts: bool = false, "", "ns-2 Mac/802_11 recvDATA";
        /// Also start a backoff after a packet that is given up (ns-2 does not).
        backoff_after_failure: bool = true, "", "IEEE 802.11-1999 §9.2.5.2";
        /// Allowance for propagation in each direction in time-outs.
        propagation_allowance_us: f64 = 2.0, "µs", "ns-2 DSSS_MaxPropagationDelay", [0.0, 1000.0];
    }
}
