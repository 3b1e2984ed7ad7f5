//! Parameters of the 802.11 MAC.

use crate::params::{choices, params};

choices! {
    /// The protocol by which stations share the medium.
    pub enum AccessProtocol {
        /// The distributed coordination function of IEEE 802.11.
        Dcf = "dcf",
        /// Non-persistent CSMA: no RTS, no ACK, no repetition.
        Csma = "csma",
        /// FAMA-NCS: non-persistent carrier sense, RTS and a CTS that dominates; no ACK.
        Fama = "fama",
    }
}

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
        /// As ns-2 before 2002-06-06: the same without the random number of slots.
        Defer = "defer",
    }
}

choices! {
    /// The rate of the ACK.
    pub enum ResponseRate {
        /// The highest basic rate that is not above that of the data frame (IEEE 802.11-1999 §9.6).
        Basic = "basic",
        /// That of the data frame (IEEE 802.11-1999 §9.6; all rates of DSSS are mandatory).
        Frame = "frame",
        /// That of all control frames (ns-2).
        Control = "control",
    }
}

choices! {
    /// Which rates a station has, and how they are put on the air.
    pub enum Standard {
        /// 802.11-1999 and 802.11b: 1 to 11 Mb/s.
        B = "802.11b",
        /// 802.11a: OFDM, 6 to 54 Mb/s.
        A = "802.11a",
        /// 802.11g: both, OFDM followed by 6 µs of silence.
        G = "802.11g",
    }
}

choices! {
    /// How frames of OFDM are announced to stations that cannot decode them.
    pub enum Protection {
        /// Not at all: all stations have OFDM.
        None = "none",
        /// By a CTS of the sender to itself, at the control rate.
        CtsToSelf = "cts-to-self",
        /// By RTS and CTS, at the control rate.
        RtsCts = "rts-cts",
    }
}

choices! {
    /// The PLCP preamble and header of 802.11b.
    pub enum Preamble {
        /// What `plcp_bits` and `plcp_rate_bps` say: 192 µs at the standard's values (802.11b §18.2.2.1).
        Long = "long",
        /// 72 bits at 1 Mb/s and 48 bits at 2 Mb/s, 96 µs; frames at 1 Mb/s keep the long one
        /// (802.11b §18.2.2.2).
        Short = "short",
    }
}

choices! {
    /// The rates that all stations support, in Mb/s (BSSBasicRateSet).
    pub enum BasicRates {
        /// 1 Mb/s.
        One = "1",
        /// 1 and 2 Mb/s.
        ToTwo = "1-2",
        /// 1, 2 and 5.5 Mb/s.
        ToFive = "1-5.5",
        /// All of 802.11b.
        ToEleven = "1-11",
    }
}

choices! {
    /// Who decides about the rate of unicast data frames.
    pub enum RateControl {
        /// `data_rate_bps`, or the scenario for single nodes and links.
        Fixed = "fixed",
        /// Auto Rate Fallback, for each neighbour.
        Arf = "arf",
        /// Adaptive Auto Rate Fallback, for each neighbour.
        Aarf = "aarf",
        /// Minstrel: statistics of all rates, for each neighbour.
        Minstrel = "minstrel",
    }
}

choices! {
    /// How long a station that has sent a CTS waits for the data frame.
    pub enum DataWait {
        /// Until carrier sense must have reported it: the data frame begins a SIFS after the CTS.
        Carrier = "carrier",
        /// As long as the CTS reserves for the data frame, even if none begins (ns-2 since 2002-03-13).
        Data = "data",
        /// As long as the CTS reserves, the ACK included (ns-2 before).
        Exchange = "exchange",
    }
}

choices! {
    /// How long after the expected end of a CTS or an ACK the time-out comes.
    pub enum TimeoutMargin {
        /// The allowance for propagation in both directions.
        Propagation = "propagation",
        /// SIFS for a CTS and DIFS for an ACK, whatever the propagation (ns-2 until 2002-03-13).
        InterframeSpaces = "interframe-spaces",
    }
}

params! {
    /// Parameters of the 802.11 MAC. The defaults are those of the standard for DSSS at 2 Mb/s.
    pub struct MacParams in "mac" {
        /// Which rates there are. Slots, SIFS, window and the rates of control frames and broadcasts are
        /// parameters of their own; a scenario that states the standard gets those that belong to it unless
        /// it states others.
        standard: Standard = Standard::B, "", "IEEE 802.11b-1999; IEEE 802.11-2007 clauses 17 and 19";
        /// How unicast frames of OFDM are announced to stations of 802.11b nearby.
        protection: Protection = Protection::None, "", "IEEE 802.11-2007 §9.13";
        /// By which protocol stations share the medium. CSMA and FAMA have no ACKs: what is lost after it was
        /// sent is not repeated, and not reported to routing.
        access_protocol: AccessProtocol = AccessProtocol::Dcf, "", "IEEE 802.11; Kleinrock and Tobagi 1975 (csma); Garcia-Luna-Aceves and Fullmer 1999 (fama)";
        /// Mean of the exponential time after which a station of CSMA senses a busy medium again, and for
        /// which it rests after a frame of its own.
        csma_delay_ms: f64 = 10.0, "ms", "own rule: about two data frames at 2 Mb/s", [0.01, 1e5];
        /// Longest random time after which a station of FAMA senses again, in times of an RTS on the air;
        /// it is uniform from 0.
        fama_backoff_rts: f64 = 10.0, "", "from memory of Fullmer and Garcia-Luna-Aceves 1995", [0.1, 1e5];
        /// Longest packet that FAMA counts on: as long as a frame with it a station waits after noise.
        fama_longest_bytes: u32 = 1500, "byte", "own rule: an IP packet of Ethernet", [1.0, 65_535.0];
        /// Rate of unicast data frames; with rate control, the rate that each link begins at.
        data_rate_bps: f64 = 2e6, "bit/s", "IEEE 802.11-1999 §15.4", [1e3, 1e9];
        /// Rate control, for each neighbour by itself. Nodes and links for which the scenario gives a rate
        /// keep that.
        rate_control: RateControl = RateControl::Fixed, "", "IEEE 802.11-1999 §9.6";
        /// ACKs in a row that raise the rate (ARF, AARF).
        arf_up_after: u32 = 10, "", "Kamerman and Monteban 1997", [1.0, 10_000.0];
        /// Missing ACKs in a row that lower the rate (ARF, AARF).
        arf_down_after: u32 = 2, "", "Kamerman and Monteban 1997", [1.0, 255.0];
        /// Time after a fallback at which the rate is raised in any case (ARF, AARF). The paper does not
        /// give it; Holland, Vaidya and Bahl (MobiCom 2001) found little difference between 40 and 60 ms.
        arf_timer_ms: f64 = 50.0, "ms", "Holland, Vaidya and Bahl 2001", [0.1, 1e6];
        /// By what a failed probe multiplies the number of ACKs that raise the rate, and the timer (AARF).
        aarf_factor: u32 = 2, "", "Lacage, Manshaei and Turletti 2004", [1.0, 100.0];
        /// Highest number of ACKs that raise the rate (AARF); at least `arf_up_after`.
        aarf_max_up_after: u32 = 50, "", "Lacage, Manshaei and Turletti 2004", [1.0, 10_000.0];
        /// How often statistics of rates are updated (Minstrel).
        minstrel_interval_ms: f64 = 100.0, "ms", "Linux mac80211 minstrel", [1.0, 1e5];
        /// Share of what was known in new statistics (Minstrel).
        minstrel_weight: f64 = 0.75, "", "Linux mac80211 minstrel: EWMA 75 %", [0.0, 0.999];
        /// Share of frames that try another rate (Minstrel).
        minstrel_looking_around: f64 = 0.1, "", "Linux mac80211 minstrel: 10 %", [0.001, 0.5];
        /// Rate of RTS and CTS frames, and of the ACK if `response_rate` says so.
        control_rate_bps: f64 = 1e6, "bit/s", "IEEE 802.11-1999 §9.6", [1e3, 1e9];
        /// Rate of the ACK: the highest basic rate up to that of the frame that it answers (the standard),
        /// that frame's own, which is the same where all rates are basic, or that of all control frames
        /// (ns-2). A CTS always has the rate of the RTS.
        response_rate: ResponseRate = ResponseRate::Frame, "", "IEEE 802.11-1999 §9.6";
        /// Rate of broadcast frames.
        broadcast_rate_bps: f64 = 1e6, "bit/s", "IEEE 802.11-1999 §9.6", [1e3, 1e9];
        /// The basic rates, in Mb/s, for `response_rate = "basic"`.
        basic_rates: BasicRates = BasicRates::ToTwo, "", "IEEE 802.11-1999 §9.6";
        /// The PLCP preamble and header of frames at 2 Mb/s and above. Those at 1 Mb/s always have the long
        /// one.
        preamble: Preamble = Preamble::Long, "", "IEEE 802.11b-1999 §18.2.2";
        /// PLCP preamble and header, the long one.
        plcp_bits: u32 = 192, "bit", "IEEE 802.11-1999 §15.2", [0.0, 10_000.0];
        /// Rate of the PLCP preamble and header, the long one.
        plcp_rate_bps: f64 = 1e6, "bit/s", "IEEE 802.11-1999 §15.2", [1e3, 1e9];
        /// MAC header and FCS of a data frame.
        data_header_bytes: u32 = 28, "byte", "IEEE 802.11-1999 §7.2.2", [0.0, 1000.0];
        /// Slot time.
        slot_us: f64 = 20.0, "µs", "IEEE 802.11-1999 §15.3.3", [0.1, 10_000.0];
        /// Short interframe space.
        sifs_us: f64 = 10.0, "µs", "IEEE 802.11-1999 §15.3.3", [0.1, 10_000.0];
        /// Time that carrier sense takes to report a frame: a station whose backoff ends sooner after the
        /// frame's first bit transmits anyway. It determines the length of a slot (§9.2.10). ns-2 senses at
        /// once. With CSMA and FAMA the time from sensing to transmitting.
        cca_time_us: f64 = 15.0, "µs", "IEEE 802.11-1999 §15.3.3", [0.0, 10_000.0];
        /// Bytes of parity in each block of a data frame, MAC header and FCS included: a block is right if at
        /// most half as many of its bytes are wrong. They count where the frame's length does, so that they
        /// take time on the air. 0: no forward error correction, as in 802.11.
        fec_parity_bytes: u32 = 0, "byte", "Reed and Solomon 1960", [0.0, 254.0];
        /// Bytes of a block with its parity; the last one of a frame may be shorter.
        fec_block_bytes: u32 = 255, "byte", "Reed and Solomon 1960: 2⁸ - 1", [2.0, 255.0];
        /// LLC and SNAP header between the MAC header and an IP or ARP packet. ns-2 has none.
        llc_bytes: u32 = 8, "byte", "RFC 1042", [0.0, 1000.0];
        /// Minimum contention window.
        cw_min: u32 = 31, "slot", "IEEE 802.11-1999 §15.3.3", [1.0, 65_535.0];
        /// Maximum contention window.
        cw_max: u32 = 1023, "slot", "IEEE 802.11-1999 §15.3.3", [1.0, 65_535.0];
        /// Draw the backoff from 0 to cw (the standard) or from 0 to cw - 1 (ns-2).
        backoff_includes_cw: bool = true, "", "IEEE 802.11-1999 §9.2.4";
        /// Unicast frames longer than this (LLC, MAC header and FCS included) are announced by RTS and CTS.
        rts_threshold_bytes: u32 = 2347, "byte", "IEEE 802.11-1999 §9.2.5.4", [0.0, 65_535.0];
        /// Attempts for a frame of at most the RTS threshold, and for an RTS.
        short_retry_limit: u32 = 7, "", "IEEE 802.11-1999 §9.2.5.3", [1.0, 255.0];
        /// Attempts for a frame above the RTS threshold.
        long_retry_limit: u32 = 4, "", "IEEE 802.11-1999 §9.2.5.3", [1.0, 255.0];
        /// Is a data frame to one node repeated if errors of bits damage it? If not, its receiver
        /// acknowledges it and discards it: collisions are repeated, and noise reaches the layers above, as
        /// it did with cards before 802.11.
        repeats_damaged: bool = true, "", "IEEE 802.11-1999 §9.2.8; false: own rule";
        /// How a station begins to contend for an idle medium.
        access: Access = Access::Standard, "", "IEEE 802.11-1999 §9.2.5.1";
        /// Treat EIFS as a NAV: DIFS follows it, and no CTS is sent during it (ns-2). In the standard EIFS
        /// replaces DIFS.
        eifs_as_nav: bool = false, "", "ns-2 Mac/802_11 recv_timer";
        /// Count the PLCP preamble and header of EIFS's ACK twice (ns-2.1b8a, where EIFS is therefore 308 µs
        /// and not 212 µs at 2 Mb/s).
        eifs_counts_plcp_twice: bool = false, "", "ns-2.1b8a mac-802_11.cc";
        /// Wait EIFS also after frames that are sensed but too weak to be decoded (ns-2).
        eifs_after_weak_frames: bool = false, "", "ns-2 Mac/802_11 recv_timer";
        /// Wait EIFS also after frames that began while the station was transmitting (ns-2). In the standard
        /// it does not notice them: its receiver was off when their preamble passed.
        eifs_after_missed_frames: bool = false, "", "ns-2 Mac/802_11 recv_timer";
        /// Treat a weaker frame during capture as a NAV of its length and EIFS (ns-2). In the standard the
        /// medium is only busy for its duration.
        captured_frames_set_nav: bool = false, "", "ns-2 Mac/802_11 capture";
        /// Sense the medium before the data frame that follows a CTS, and start over if it is busy (ns-2).
        sense_before_data: bool = false, "", "ns-2 Mac/802_11 check_pktTx";
        /// Acknowledge a frame above the RTS threshold only while the CTS for it is outstanding (ns-2).
        ack_needs_cts: bool = false, "", "ns-2 Mac/802_11 recvDATA";
        /// Also start a backoff after a packet that is given up (ns-2 does not).
        backoff_after_failure: bool = true, "", "IEEE 802.11-1999 §9.2.5.2";
        /// How long a station that has sent a CTS waits for the data frame.
        data_wait: DataWait = DataWait::Carrier, "", "IEEE 802.11-1999 §9.2.5.7";
        /// How long after the expected end of a CTS or an ACK the time-out comes.
        timeout_margin: TimeoutMargin = TimeoutMargin::Propagation, "", "IEEE 802.11-1999 §9.2.8";
        /// Forget failures too early (ns-2 until 2003-02-21): a CTS also resets the contention window, and a
        /// data frame that follows a CTS of the station's own resets its short retry counter and its window,
        /// although it says nothing about the frame that the station is trying to send.
        resets_retries_early: bool = false, "", "ns-2 Mac/802_11 recvCTS, recvDATA";
        /// A CTS resets the short retry counter; off: only the ACK of a frame sent without RTS does, so that
        /// an RTS is given up, and a link reported as broken, after failures that belong to several frames.
        cts_resets_short_retries: bool = true, "", "IEEE 802.11-1999 §9.2.5.3; ns-2.27: off";
        /// A station whose NAV was set by an RTS gives it up if no frame begins in the time in which the CTS
        /// and the data frame must have begun; off: it waits as long as the RTS said.
        nav_reset: bool = true, "", "IEEE 802.11-1999 §9.2.5.4; ns-2: off";
        /// Give up a data frame when its failures exceed the limit, not when they reach it (ns-2 until 2003
        /// at least). An RTS is given up when they reach it.
        exceeds_retry_limit: bool = false, "", "ns-2 Mac/802_11 RetransmitDATA";
        /// Wait DIFS, not SIFS, between a CTS and the data frame (ns-2 until 2002-03-13).
        difs_before_data: bool = false, "", "ns-2 Mac/802_11 tx_resume";
        /// A station that withholds a CTS because the medium is busy forgets that it was about to send a
        /// frame of its own, until it has answered another one (ns-2 without its backoff fix of 2006-01-30).
        stalls_after_refusal: bool = false, "", "ns-2 Mac/802_11 check_pktCTRL";
        /// Allowance for propagation in each direction in time-outs.
        propagation_allowance_us: f64 = 2.0, "µs", "ns-2 DSSS_MaxPropagationDelay", [0.0, 1000.0];
    }
}

impl MacParams {
    /// The same, with the values that CSMA and FAMA have of what is a choice for the DCF.
    pub(super) fn of_access_protocol(&self) -> MacParams {
        if self.access_protocol == AccessProtocol::Dcf {
            return self.clone();
        }
        MacParams {
            eifs_as_nav: false,
            eifs_after_weak_frames: false,
            // Who has sent an RTS hears the rest of a CTS that dominates as noise.
            eifs_after_missed_frames: self.access_protocol == AccessProtocol::Fama,
            captured_frames_set_nav: false,
            nav_reset: true,
            timeout_margin: TimeoutMargin::Propagation,
            protection: Protection::None,
            ..self.clone()
        }
    }
}
