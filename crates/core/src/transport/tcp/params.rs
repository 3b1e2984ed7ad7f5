//! The parameters of TCP, the senders that users can name, and the profiles' values.

use crate::params::{ParamValue, choices, params};

choices! {
    /// The congestion control: how the window opens and closes.
    pub enum TcpVariant {
        /// Fast retransmit, then fast recovery (RFC 5681 §3.2).
        Reno = "reno",
        /// Fast retransmit, then slow start from the lost segment (Jacobson 1988).
        Tahoe = "tahoe",
        /// By the round trip: a few segments wait in queues, no more (Brakmo and Peterson 1995).
        Vegas = "vegas",
        /// A cubic function of the time since the last loss (RFC 9438).
        Cubic = "cubic",
    }
}

choices! {
    /// How the retransmission timeout grows from one timeout to the next.
    pub enum RtoPolicy {
        /// It doubles at each (RFC 6298 §5.5).
        Exponential = "exponential",
        /// It doubles at the first and then stays (Dyer and Boppana 2001).
        Fixed = "fixed",
        /// As fixed for a number of consecutive timeouts, then it doubles at each (Dyer 2002 §7.5).
        FixedFirst = "fixed-first",
        /// It doubles at the first, then grows by a fraction at each (Dyer and Boppana 2003 §VI).
        Growth = "growth",
    }
}

choices! {
    /// Whose rules Vegas follows.
    pub enum VegasRules {
        /// The paper's (Brakmo and Peterson 1995 §3).
        Brakmo1995 = "brakmo-1995",
        /// Those of ns-2's `Agent/TCP/Vegas`.
        Ns235 = "ns-2.35",
    }
}

choices! {
    /// What ends the back-off of the retransmission timeout, under every policy.
    pub enum BackoffEnd {
        /// A fresh round-trip sample, which the ACK of a retransmission is not (Karn; RFC 6298 §5, note after
        /// 5.7).
        Sample = "sample",
        /// Any ACK for new data, that of the retransmitted segment included (Dyer 2002 §2.2.1 and §4.1.3).
        NewAck = "new-ack",
    }
}

choices! {
    /// What a sender knows of route failures and does about them.
    pub enum RouteFailureScheme {
        /// Nothing.
        None = "none",
        /// Explicit link failure notification (Holland and Vaidya 1999).
        Elfn = "elfn",
        /// TCP-Feedback (Chandran and others 1998).
        TcpF = "tcp-f",
        /// Buffering and sequence information (Kim, Toh and Choi 2000).
        TcpBus = "tcp-bus",
        /// Ad hoc TCP (Liu and Singh 2001).
        Atcp = "atcp",
        /// Detection of out-of-order delivery and response (Wang and Zhang 2002).
        TcpDoor = "tcp-door",
        /// Two timeouts without any ACK (Bansal and Barua 2003).
        BansalBarua = "bansal-barua",
        /// Explicit loss notification, not of routes but of losses on a radio (Balakrishnan and others 1997).
        Eln = "eln",
        /// The receiver foresees breaks and closes its window (Goff and others 2000).
        Freeze = "freeze-tcp",
    }
}

choices! {
    /// How the receiver of Freeze-TCP foresees that it will be cut off.
    pub enum FreezeForesight {
        /// It knows: by the movement of all nodes.
        Oracle = "oracle",
        /// By the power at which it hears the neighbour that brings its segments.
        Power = "power",
    }
}

choices! {
    /// How a sender finds out that what it sent again was delayed and not lost.
    pub enum SpuriousDetection {
        /// Not at all.
        None = "none",
        /// By time stamps (RFC 3522).
        Eifel = "eifel",
        /// By the first two ACKs after a timeout (RFC 5682).
        FRto = "f-rto",
    }
}

choices! {
    /// How an end guesses why a segment was lost.
    pub enum LossPredictor {
        /// Not at all: every loss means congestion.
        None = "none",
        /// The sender, by the segments that wait in queues (Biaz and Vaidya 1998, after Vegas).
        Vegas = "vegas",
        /// The sender, by the normalised delay gradient (Biaz and Vaidya 1998, after CARD).
        Ndg = "ndg",
        /// The sender, by the normalised throughput gradient (Biaz and Vaidya 1998, after Tri-S).
        Ntg = "ntg",
        /// The receiver, by the times between arrivals (Biaz and Vaidya 1999).
        Arrivals = "arrivals",
        /// The receiver, by marks of congestion on the segments around the lost one (Liu and Jain).
        CoherenceReceiver = "coherence-receiver",
        /// The sender, by echoes of such marks (Liu and Jain).
        CoherenceSender = "coherence-sender",
    }
}

choices! {
    /// What a base station does about segments that the radio behind it loses.
    pub enum BaseStationMode {
        /// Nothing.
        None = "none",
        /// It tells their senders (explicit loss notification).
        Eln = "eln",
        /// It sends them again, and lets duplicate ACKs for them pass: a link layer that does not know TCP.
        Arq = "arq",
        /// It sends them again, and keeps duplicate ACKs for them from the sender.
        Snoop = "snoop",
        /// It ends the connection, and has one of its own to the other end (I-TCP).
        Split = "split",
        /// The same, but it acknowledges only what has arrived at the other end (M-TCP).
        MTcp = "m-tcp",
        /// It numbers all packets to mobile nodes, and sends again what they lack (AIRMAIL).
        Airmail = "airmail",
    }
}

choices! {
    /// The sender of the second of the two connections that a base station makes of one.
    pub enum SplitSender {
        /// As the first.
        Same = "same",
        /// Reno.
        Reno = "reno",
        /// Tahoe.
        Tahoe = "tahoe",
        /// NewReno.
        NewReno = "newreno",
        /// SACK.
        Sack = "sack",
        /// SMART.
        Smart = "smart",
        /// Vegas.
        Vegas = "vegas",
        /// CUBIC.
        Cubic = "cubic",
        /// Reno with a fixed RTO.
        FixedRto = "fixed-rto",
    }
}

choices! {
    /// Half of what a loss leaves of the window.
    pub enum WindowReduction {
        /// Of the flight, at least two segments; a repeated timeout of one segment leaves `ssthresh` alone
        /// (RFC 5681 §3.1, equation 4).
        FlightSize = "flight-size",
        /// Of min(cwnd, window): `cwnd` exactly, `ssthresh` in whole segments, at least two (ns-2 with
        /// `precisionReduce_`).
        Window = "window",
        /// The same, both in whole segments (ns-2 without `precisionReduce_`).
        WindowWhole = "window-whole",
    }
}

params! {
    /// The parameters of a TCP flow, at both ends.
    pub struct TcpParams in "tcp" {
        /// The congestion control.
        variant: TcpVariant = TcpVariant::Reno, "", "RFC 5681 §3.2";
        /// The receiver's advertised window.
        window: u32 = 20, "segment", "RFC 9293 §3.8.6; 20: ns-2 window_", [1.0, 65_536.0];
        /// How fast the application at the receiver reads; what it has not read takes room in the window.
        /// Zero: it reads at once, and the window is constant.
        read_bps: f64 = 0.0, "bit/s", "RFC 9293 §3.8.6 (no value)", [0.0, 1e12];
        /// The maximum interval between probes of a closed window; intervals begin at the RTO and double.
        persist_max_s: f64 = 60.0, "s", "RFC 1122 §4.2.2.17 (no value); 4.4BSD: 60", [0.001, 1e5];
        /// Payload of a full segment. The default fits an Ethernet-sized MTU of 1500 bytes.
        segment_bytes: u32 = 1460, "byte", "RFC 6691 §2", [1.0, 65_495.0];
        /// The congestion window at the start, after the SYN's ACK if connection setup is simulated.
        initial_window: u32 = 3, "segment", "RFC 5681 §3.1 (3 for segments of 1096 to 2190 bytes)", [1.0, 64.0];
        /// Is a SYN sent first, as segment 0 without payload? Until its ACK arrives the congestion window is
        /// one.
        connection_setup: bool = true, "", "RFC 9293 §3.5; ns-2 syn_ and delay_growth_";
        /// IP and TCP header of a data segment and of the SYN.
        header_bytes: u32 = 40, "byte", "RFC 791 §3.1, RFC 9293 §3.1", [0.0, 120.0];
        /// The minimum length of the SYN at the IP layer; zero: that of the header.
        syn_bytes: u32 = 0, "byte", "ns-2 before 2002, whose segments have no header of TCP: 60", [0.0, 1500.0];
        /// An acknowledgement's length at the IP layer, without SACK blocks.
        ack_bytes: u32 = 40, "byte", "RFC 791 §3.1, RFC 9293 §3.1", [1.0, 120.0];
        /// Bytes that a SACK option adds to an ACK in addition to 8 bytes for each block: kind, length and
        /// padding.
        sack_option_bytes: u32 = 4, "byte", "RFC 2018 §3 (ns-2: 0)", [0.0, 12.0];

        /// The round-trip clock's granularity: BSD's arithmetic in whole ticks; zero for an exact clock.
        tick_ms: f64 = 0.0, "ms", "RFC 6298 §4; ns-2 tcpTick_", [0.0, 1000.0];
        /// The RTO before the first round-trip sample.
        rto_initial_s: f64 = 1.0, "s", "RFC 6298 §2.1", [0.001, 1e5];
        /// The minimum RTO.
        rto_min_s: f64 = 1.0, "s", "RFC 6298 §2.4", [0.0, 1e5];
        /// The maximum RTO, after back-off.
        rto_max_s: f64 = 60.0, "s", "RFC 6298 §2.5", [0.001, 1e5];
        /// The maximum of the back-off's multiplier; with `rto_min_before_backoff` it keeps doubling until
        /// the RTO is at its maximum.
        rto_backoff_cap: u32 = 64, "", "4.4BSD tcp_backoff; ns-2", [1.0, 65_536.0];
        /// Is the minimum applied before the multiplication by the back-off, rather than after?
        rto_min_before_backoff: bool = true, "", "RFC 6298 §2.4 and §5.5; ns-2 rfc2988_";
        /// How the RTO grows from one timeout to the next.
        rto_policy: RtoPolicy = RtoPolicy::Exponential, "", "RFC 6298 §5.5";
        /// Under `fixed-first`: the number of timeouts after the first that do not change the RTO.
        rto_fixed_timeouts: u32 = 3, "", "Dyer 2002 §7.5 (no value)", [0.0, 1000.0];
        /// Under `growth`: the fraction by which the RTO grows at each timeout after the first.
        rto_growth: f64 = 0.05, "", "Dyer and Boppana 2003 §VI", [0.0, 10.0];
        /// What ends the back-off: a fresh round-trip sample, or any ACK for new data.
        backoff_end: BackoffEnd = BackoffEnd::Sample, "", "RFC 6298 §5, note after 5.7; Dyer 2002 §4.1.3: new-ack";
        /// The RTO when data transmission begins after the SYN's timer expired; zero: the RTO that the
        /// back-off left.
        rto_after_lost_syn_s: f64 = 3.0, "s", "RFC 6298 §5.7 (ns-2: 0)", [0.0, 1e5];
        /// Does a fast retransmit restart the timer?
        fast_retransmit_restarts_timer: bool = false, "", "RFC 6298 §5 (no); RFC 6675 §6 (MAY); ns-2 (yes)";
        /// Does a timeout start the hold-down timer? While it runs, ACKs send nothing.
        hold_down: bool = false, "", "Dyer 2002 §4.1.3, Fig. 4.1";
        /// How the sender learns of route failures and reacts to them.
        route_failure: RouteFailureScheme = RouteFailureScheme::None, "", "Dyer 2002 §2.2.3";
        /// ELFN: the interval between probes.
        elfn_probe_interval_s: f64 = 2.0, "s", "Holland and Vaidya 1999", [0.001, 1e5];
        /// ELFN: is the window restored, rather than set to one segment?
        elfn_restore_window: bool = true, "", "Holland and Vaidya 1999";
        /// ELFN: is the RTO restored, rather than set to its initial value?
        elfn_restore_rto: bool = true, "", "Holland and Vaidya 1999";
        /// The time without a route notice after which TCP-F resumes, TCP-BuS probes with its first segment,
        /// and a node that an ERDN passed searches for a route itself.
        route_guard_s: f64 = 5.0, "s", "Chandran and others 1998 (no value)", [0.001, 1e5];
        /// TCP-BuS: number of segments that a node keeps while it has no onward route; 0: none, and only
        /// routing's notices stop the sender.
        bus_buffer_packets: u32 = 50, "packet", "Kim, Toh and Choi 2000 (no value known)", [0.0, 100_000.0];
        /// TCP-BuS: how long a node keeps a segment.
        bus_buffer_timeout_s: f64 = 30.0, "s", "Kim, Toh and Choi 2000 (no value known)", [0.001, 1e5];
        /// TCP-BuS: the pause after a failed search for a route, and the minimum time before a source that
        /// continues to send is notified again.
        bus_query_interval_s: f64 = 1.0, "s", "Kim, Toh and Choi 2000 (no value known)", [0.001, 1e5];
        /// TCP-BuS: the length of an ERDN or ERSN at the IP layer; each range of kept segments adds 8 bytes
        /// to an ERSN.
        bus_message_bytes: u32 = 40, "byte", "Kim, Toh and Choi 2000 (no value known)", [1.0, 1000.0];
        /// ATCP: the maximum interval between probes; intervals begin at the RTO and double.
        atcp_probe_interval_max_s: f64 = 60.0, "s", "Liu and Singh 2001", [0.001, 1e5];
        /// TCP-DOOR's T1: the time after an out-of-order segment in which no loss reduces the window.
        door_steady_s: f64 = 1.0, "s", "Wang and Zhang 2002 (no value known)", [0.0, 1e5];
        /// TCP-DOOR's T2: a reduction made within this time is undone.
        door_recovery_s: f64 = 2.0, "s", "Wang and Zhang 2002 (no value known)", [0.0, 1e5];
        /// Freeze-TCP: how long before the break the receiver closes its window.
        freeze_warning_s: f64 = 0.5, "s", "Goff and others 2000 (from memory: a round trip)", [0.0, 1e5];
        /// Freeze-TCP: how the receiver foresees the break.
        freeze_foresight: FreezeForesight = FreezeForesight::Oracle, "", "Goff and others 2000 (from memory: power); oracle: decision";
        /// With `power`: the weight of what was heard falls by a factor of e in this time, and nothing is
        /// foreseen before it is over.
        freeze_smoothing_s: f64 = 1.0, "s", "decision: several times the warning", [0.001, 1e5];
        /// With `power`: how much more than the receive threshold is needed.
        freeze_margin_db: f64 = 0.0, "dB", "decision: none", [-30.0, 60.0];
        /// With `power`: the interval at which a receiver that was cut off says that it may be back.
        freeze_greeting_s: f64 = 0.5, "s", "decision: as the warning", [0.001, 1e5];
        /// Freeze-TCP: do the timers stand still while data is outstanding, too?
        freeze_timers: bool = true, "", "Goff and others 2000 (from memory)";
        /// Who guesses why a segment was lost, and how. A loss that the radio is blamed for does not reduce
        /// the window.
        loss_predictor: LossPredictor = LossPredictor::None, "", "Biaz and Vaidya 1998 and 1999; Liu and Jain 2001";
        /// With `vegas`: more segments than this in queues mean congestion.
        predictor_vegas_threshold: f64 = 1.0, "segment", "Biaz and Vaidya 1998 (from memory)", [0.0, 1000.0];
        /// With `ndg`: a gradient above this means congestion.
        predictor_ndg_threshold: f64 = 0.0, "", "Biaz and Vaidya 1998 (from memory)", [-1000.0, 1000.0];
        /// With `ntg`: a gradient below this means congestion.
        predictor_ntg_threshold: f64 = 0.5, "", "Biaz and Vaidya 1998 (from memory)", [-1000.0, 1000.0];
        /// With `arrivals`: how much longer than without a loss a gap may be that means a loss on the radio,
        /// in shortest intervals between segments.
        predictor_gap_slack: f64 = 1.0, "", "Biaz and Vaidya 1999 (from memory)", [0.0, 1000.0];
        /// How long the receiver holds a duplicate ACK from the `dupack_threshold`th on, so that a repair
        /// below TCP can arrive; zero: not at all. With `coherence-receiver` only if no mark says congestion.
        dupack_delay_s: f64 = 0.0, "s", "Vaidya and others 2002 (no value known)", [0.0, 100.0];
        /// What a node with a wired link does about segments of TCP that the radio behind it loses.
        base_station: BaseStationMode = BaseStationMode::None, "", "Balakrishnan and others 1997 §III";
        /// I-TCP, M-TCP: the sender of the base station's own connection to the other end.
        split_sender: SplitSender = SplitSender::Same, "", "Bakre and Badrinath 1995 (one made for the radio; no value known)";
        /// I-TCP, M-TCP: the minimum RTO of that sender; zero: `rto_min_s`.
        split_rto_min_s: f64 = 0.0, "s", "decision: the same at both sides", [0.0, 1e5];
        /// I-TCP, M-TCP: the bytes of each connection for which a base station has room, in whole segments.
        /// The window that it offers is what of them is free.
        split_buffer_bytes: u32 = 65_536, "byte", "Bakre and Badrinath 1995 (no value known)", [1.0, 1e9];
        /// M-TCP: how long the base station hears no ACK from the other end, to which something is on its
        /// way, before it takes it to be cut off.
        m_tcp_silence_s: f64 = 0.5, "s", "Brown and Singh 1997 (no value known); decision: half the minimum RTO", [0.001, 1e5];
        /// M-TCP: the interval at which it then polls the other end.
        m_tcp_poll_s: f64 = 0.5, "s", "decision: as the silence", [0.001, 1e5];
        /// M-TCP: how long the base station keeps the ACK of the last segment if no other follows.
        m_tcp_release_s: f64 = 0.1, "s", "decision: as a delayed ACK (RFC 1122 §4.2.3.2: at most 0.5)", [0.0, 0.5];
        /// AIRMAIL: the maximum number of packets under way to a mobile node.
        airmail_window: u32 = 8, "packet", "Ayanoglu and others 1995 (no value known)", [1.0, 64.0];
        /// AIRMAIL: the maximum number of packets that wait at the base station for a place in the window to
        /// a mobile node.
        airmail_buffer_packets: u32 = 50, "packet", "Ayanoglu and others 1995 (no value known)", [1.0, 100_000.0];
        /// AIRMAIL: how often a packet is repeated at most, and how often a mobile node that gives no status
        /// is asked again.
        airmail_retries: u32 = 8, "", "Ayanoglu and others 1995 (no value known)", [0.0, 1000.0];
        /// AIRMAIL: how long a base station waits for a status.
        airmail_timeout_s: f64 = 0.2, "s", "decision: as the shortest of the other base stations", [0.001, 100.0];
        /// AIRMAIL: the maximum number of packets of parity for a block, which has at most a window of
        /// packets; zero: no parity.
        airmail_parity_max: u32 = 4, "packet", "Ayanoglu and others 1995 (no value known)", [0.0, 64.0];
        /// AIRMAIL: do mobile nodes hold packets back until those before them have arrived?
        airmail_in_order: bool = true, "", "decision: as link layers with windows do";
        /// Bansal and Barua's α: the minimum moderated timeout.
        moderated_rto_min_s: f64 = 0.5, "s", "Bansal and Barua 2003 (no value)", [0.001, 1e5];
        /// Bansal and Barua's β: the maximum moderated timeout.
        moderated_rto_max_s: f64 = 6.0, "s", "Bansal and Barua 2003 (no value)", [0.001, 1e5];
        /// A back-off multiplier above this value discards the round-trip estimate; zero: never.
        forget_rtt_above_backoff: u32 = 0, "", "RFC 6298 §5, last note (MAY); ns-2: 8", [0.0, 65_536.0];
        /// Does an ACK restart the timer after its round-trip sample is taken, rather than before?
        timer_after_sample: bool = true, "", "RFC 6298 §5.3; ns-2 timerfix_";

        /// The number of duplicate ACKs that indicates a loss.
        dupack_threshold: u32 = 3, "", "RFC 5681 §3.2", [1.0, 64.0];
        /// Does each duplicate ACK below the threshold release one more segment?
        limited_transmit: bool = true, "", "RFC 3042 §2; ns-2 singledup_";
        /// The value that is halved at a loss.
        window_reduction: WindowReduction = WindowReduction::FlightSize, "", "RFC 5681 §3.1; ns-2";
        /// Is there at most one fast retransmit for the segments outstanding at a loss?
        one_fast_retransmit_per_window: bool = true, "", "RFC 6582 §3.2; ns-2 bugFix_";
        /// Do duplicate ACKs at and above the threshold also inflate the window outside fast recovery?
        inflate_outside_recovery: bool = false, "", "RFC 5681 §3.2 (no); ns-2 before July 2003 (yes)";
        /// Does an ACK for a part of the data outstanding at a loss repair the next hole (NewReno)? SACK
        /// takes precedence.
        partial_ack_recovery: bool = false, "", "RFC 6582 §3.2";
        /// Does the ACK that ends NewReno's recovery set the window to min(ssthresh, flight + 1)?
        full_ack_deflation: bool = true, "", "RFC 6582 §3.2, step 3; ns-2 exit_recovery_fix_ (no)";
        /// CUBIC's C.
        cubic_c: f64 = 0.4, "segment/s³", "RFC 9438 §4.1.2 and §5", [0.001, 1000.0];
        /// CUBIC's β: the fraction of the window that remains after a loss.
        cubic_beta: f64 = 0.7, "", "RFC 9438 §4.6", [0.1, 0.99];
        /// Does CUBIC release bandwidth faster when its window has not reached the last maximum again?
        cubic_fast_convergence: bool = true, "", "RFC 9438 §4.7";
        /// Whose rules Vegas follows.
        vegas_rules: VegasRules = VegasRules::Brakmo1995, "", "Brakmo and Peterson 1995 §3; ns-2 Agent/TCP/Vegas";
        /// Vegas's α: with fewer segments than this waiting the window increases.
        vegas_alpha: f64 = 1.0, "segment", "Brakmo and Peterson 1995 §3.2; ns-2 v_alpha_", [0.0, 1000.0];
        /// Vegas's β: with more segments than this waiting the window decreases.
        vegas_beta: f64 = 3.0, "segment", "Brakmo and Peterson 1995 §3.2; ns-2 v_beta_", [0.0, 1000.0];
        /// Vegas's γ: with more segments than this waiting slow start ends.
        vegas_gamma: f64 = 1.0, "segment", "Brakmo and Peterson 1995 §3.3; ns-2 v_gamma_", [0.0, 1000.0];
        /// Does a timeout of the SYN leave the slow-start threshold as it is?
        lost_syn_spares_ssthresh: bool = true, "", "RFC 5681 §3.1 (the initial value is high); ns-2: no";
        /// With SACK: may a recovery after a timeout begin as soon as all that was sent before the timeout is
        /// acknowledged, rather than a segment later?
        sack_recovery_at_point: bool = true, "", "RFC 6675 §5.1 (HighACK >= RecoveryPoint); ns-2: no";
        /// Is the initial window one if segment 0 is lost, and may segments 0 and 1 be fast retransmitted?
        first_loss_rules: bool = true, "", "RFC 5681 §3.1; ns-2 bugfix_ss_";
        /// The congestion window after an RTO with nothing outstanding; zero: unchanged.
        restart_window: u32 = 3, "segment", "RFC 5681 §4.1; ns-2 slow_start_restart_: 1", [0.0, 64.0];

        /// Do segments and ACKs carry time stamps, so that every ACK of new data is a round-trip sample?
        timestamps: bool = false, "", "RFC 7323 §3 and §4";
        /// Bytes that time stamps add to segments and ACKs.
        timestamp_bytes: u32 = 12, "byte", "RFC 7323 appendix A", [0.0, 40.0];
        /// Selective acknowledgements at the receiver, and pipe-based recovery in a sender other than Tahoe.
        sack: bool = false, "", "RFC 2018, RFC 6675";
        /// With SACK: do ACKs name the segment that caused them in place of blocks, and is a gap a loss at
        /// once?
        smart: bool = false, "", "Keshav and Morgan 1997 (from memory)";
        /// With SACK: does the receiver report a segment that arrives again, in an ACK at once?
        dsack: bool = false, "", "RFC 2883 §4; ns-2 generateDSacks_ (no)";

        /// How the sender finds out that a timeout was spurious, which it then takes back (RFC 4015). Eifel
        /// needs time stamps.
        spurious: SpuriousDetection = SpuriousDetection::None, "", "RFC 3522, RFC 5682";
        /// Eifel: is the window also restored if a fast retransmit was spurious?
        eifel_fast_retransmit: bool = false, "", "RFC 4015 §3.1 (timeouts only); Ludwig and Katz 2000 (from memory: yes)";

        /// Do both ends support congestion marks in IP headers, so that queues can mark instead of dropping?
        ecn: bool = false, "", "RFC 3168";
        /// Do retransmissions carry CWR, and can they be marked?
        ecn_on_retransmissions: bool = false, "", "RFC 3168 §6.1.2 and §6.1.5 (no); ns-2 SetCWRonRetransmit_";

        /// Does the receiver delay the ACKs of segments that arrive in order?
        delayed_ack: bool = true, "", "RFC 1122 §4.2.3.2, RFC 5681 §4.2";
        /// The maximum time that the receiver waits for another segment.
        delayed_ack_timeout_s: f64 = 0.1, "s", "RFC 1122 §4.2.3.2 (at most 0.5); 0.1: ns-2 interval_", [0.0, 0.5];
        /// The number of unacknowledged segments that the receiver waits for.
        delayed_ack_segments: u32 = 2, "segment", "RFC 5681 §4.2", [1.0, 64.0];
        /// Is a segment that fills a gap acknowledged at once?
        immediate_ack_for_gap: bool = true, "", "RFC 5681 §4.2; ns-2 RFC2581_immediate_ack_";
        /// Is the last in-order segment acknowledged at once when it arrives again?
        immediate_ack_for_duplicate: bool = true, "", "RFC 9293 §3.10.7.4 (ns-2: no)";
        /// Is the SYN acknowledged at once?
        immediate_ack_for_syn: bool = true, "", "RFC 9293 §3.10.7.2; ns-2 SYN_immediate_ack_";

        /// The pause in a transfer's progress that has an unsmoothness of 1; zero: unsmoothness is not
        /// measured.
        allowed_pause_s: f64 = 0.0, "s", "Osipov and Tschudin 2006 §IV.C.1: 3 s", [0.0, 1e6];
    }
}

/// A sender that users can name: the parameters that it sets. All others stay as they are.
#[derive(Clone, Copy, Debug)]
pub struct NamedSender {
    /// Its name.
    pub name: &'static str,
    /// What it sets beside, or instead of, what every sender sets.
    own: &'static [&'static str],
    apply: fn(TcpParams) -> TcpParams,
}

impl NamedSender {
    /// The names of the parameters that it sets, one of them maybe twice.
    pub fn sets(&self) -> impl Iterator<Item = &'static str> {
        SET_BY_EVERY_SENDER.iter().chain(self.own).copied()
    }
}

/// The table of senders: what every sender sets, then each one's name and what it sets beside or instead.
macro_rules! senders {
    (every { $($field:ident: $value:expr,)+ } $($name:literal { $($own:ident: $own_value:expr),* })+) => {
        const SET_BY_EVERY_SENDER: &[&str] = &[$(stringify!($field)),+];

        fn plain(params: TcpParams) -> TcpParams {
            TcpParams { $($field: $value,)+ ..params }
        }

        /// The names of the senders.
        pub const SENDER_NAMES: &[&str] = &[$($name),+];

        /// The senders, in the order of their names.
        pub const SENDERS: &[NamedSender] = &[$(NamedSender {
            name: $name,
            own: &[$(stringify!($own)),*],
            apply: |params| TcpParams { $($own: $own_value,)* ..plain(params) },
        }),+];
    };
}

senders! {
    every {
        variant: TcpVariant::Reno,
        sack: false,
        smart: false,
        partial_ack_recovery: false,
        rto_policy: RtoPolicy::Exponential,
        hold_down: false,
        route_failure: RouteFailureScheme::None,
        spurious: SpuriousDetection::None,
        loss_predictor: LossPredictor::None,
    }
    "reno" {}
    "tahoe" { variant: TcpVariant::Tahoe }
    "newreno" { partial_ack_recovery: true }
    "sack" { sack: true }
    "smart" { sack: true, smart: true }
    "vegas" { variant: TcpVariant::Vegas }
    "cubic" { variant: TcpVariant::Cubic, sack: true }
    "fixed-rto" { rto_policy: RtoPolicy::Fixed }
    // Dyer 2002 §4.2.3.
    "reno-f" { sack: true, rto_policy: RtoPolicy::Fixed, delayed_ack: true }
    "fixed-first" { rto_policy: RtoPolicy::FixedFirst }
    "growth" { rto_policy: RtoPolicy::Growth }
    "hold-down" { hold_down: true }
    // RFC 4015 §4 asks for SACK or NewReno, RFC 3522 §3.3 for D-SACK.
    "eifel" { sack: true, timestamps: true, dsack: true, spurious: SpuriousDetection::Eifel }
    "f-rto" { sack: true, spurious: SpuriousDetection::FRto }
    "elfn" { route_failure: RouteFailureScheme::Elfn }
    "tcp-f" { route_failure: RouteFailureScheme::TcpF }
    "tcp-bus" { route_failure: RouteFailureScheme::TcpBus }
    "atcp" { route_failure: RouteFailureScheme::Atcp, ecn: true }
    "tcp-door" { route_failure: RouteFailureScheme::TcpDoor }
    "bansal-barua" { route_failure: RouteFailureScheme::BansalBarua }
    "eln" { route_failure: RouteFailureScheme::Eln, base_station: BaseStationMode::Eln }
    "freeze-tcp" { route_failure: RouteFailureScheme::Freeze }
    "predict-vegas" { loss_predictor: LossPredictor::Vegas }
    "predict-ndg" { loss_predictor: LossPredictor::Ndg }
    "predict-ntg" { loss_predictor: LossPredictor::Ntg }
    "predict-arrivals" { loss_predictor: LossPredictor::Arrivals }
    // A radio round trip, generously.
    "delayed-dupacks" { dupack_delay_s: 0.1, base_station: BaseStationMode::Arq }
    // The shortest timeout of a base station.
    "coherence-receiver" {
        loss_predictor: LossPredictor::CoherenceReceiver, dupack_delay_s: 0.2,
        base_station: BaseStationMode::Arq, ecn: true
    }
    "coherence-sender" { loss_predictor: LossPredictor::CoherenceSender, ecn: true }
}

impl TcpParams {
    /// The current standards: the defaults.
    pub fn rfc() -> TcpParams {
        TcpParams::default()
    }

    /// As ns-2.35 ships `Agent/TCP/Reno` and `Agent/TCPSink`.
    pub fn ns_2_35() -> TcpParams {
        TcpParams {
            segment_bytes: 1000,
            initial_window: 2,
            sack_option_bytes: 0,
            tick_ms: 10.0,
            rto_initial_s: 3.0,
            rto_min_s: 0.2,
            rto_after_lost_syn_s: 0.0,
            fast_retransmit_restarts_timer: true,
            lost_syn_spares_ssthresh: false,
            sack_recovery_at_point: false,
            vegas_rules: VegasRules::Ns235,
            ecn_on_retransmissions: true,
            forget_rtt_above_backoff: 8,
            window_reduction: WindowReduction::Window,
            full_ack_deflation: false,
            restart_window: 1,
            delayed_ack: false,
            immediate_ack_for_duplicate: false,
            ..TcpParams::default()
        }
    }

    /// As ns-2.1b9 (mid-2002) ships them; 2.26 and 2.27 are the same here but for `inflate_outside_recovery`,
    /// which 2.27 corrects.
    pub fn ns_2_1b9() -> TcpParams {
        TcpParams {
            rto_initial_s: 6.0,
            rto_min_s: 1.0,
            rto_max_s: 100_000.0,
            window_reduction: WindowReduction::WindowWhole,
            inflate_outside_recovery: true,
            first_loss_rules: false,
            immediate_ack_for_syn: false,
            ..TcpParams::ns_2_35()
        }
    }

    /// As ns-2.1b8a (June 2001) shipped them: `cmu_1998` after the changes of May 2001 (minimum RTO, SYN,
    /// initial window, the timer's order).
    pub fn ns_2_1b8a() -> TcpParams {
        TcpParams {
            initial_window: 2,
            connection_setup: true,
            syn_bytes: 60,
            rto_min_s: 1.0,
            rto_max_s: 100_000.0,
            timer_after_sample: true,
            immediate_ack_for_gap: true,
            ..TcpParams::cmu_1998()
        }
    }

    /// As ns-2 with the CMU Monarch extensions shipped them from 1998 to early 2001. Packets then had the
    /// length of their payload (ACKs of 40 bytes) and 20 bytes of IP header from the routing agent.
    pub fn cmu_1998() -> TcpParams {
        TcpParams {
            initial_window: 1,
            connection_setup: false,
            header_bytes: 20,
            ack_bytes: 60,
            tick_ms: 100.0,
            rto_min_s: 0.0,
            rto_max_s: 64.0,
            rto_min_before_backoff: false,
            timer_after_sample: false,
            limited_transmit: false,
            immediate_ack_for_gap: false,
            ..TcpParams::ns_2_1b9()
        }
    }

    /// Those of the connection that a base station opens to the other end of one that it has ended (I-TCP,
    /// M-TCP).
    /// It has no part in what the source does about route failures.
    pub fn of_second_connection(&self) -> TcpParams {
        let mut second = self.clone();
        if self.split_sender != SplitSender::Same {
            second.apply_sender(SplitSender::CHOICES[self.split_sender as usize]);
        }
        if self.split_rto_min_s > 0.0 {
            second.rto_min_s = self.split_rto_min_s;
        }
        TcpParams { route_failure: RouteFailureScheme::None, ..second }
    }

    /// Those of the end of a connection at a base station (I-TCP, M-TCP): nobody reads there but the base
    /// station's other connection, and the window is its buffer.
    pub fn of_relay(&self) -> TcpParams {
        let window = (self.split_buffer_bytes / self.segment_bytes).clamp(1, u16::MAX.into());
        TcpParams { window, read_bps: 0.0, route_failure: RouteFailureScheme::None, ..self.clone() }
    }

    /// Those of the same end where the base station decides when it acknowledges (M-TCP). It reports no
    /// duplicates: what it has acknowledged does not tell the source what it has.
    pub fn of_supervisor(&self) -> TcpParams {
        TcpParams { delayed_ack: false, dupack_delay_s: 0.0, dsack: false, ..self.of_relay() }
    }

    /// Those of the source of a connection whose base station may close the window while data is outstanding
    /// (M-TCP): then its timers stand still, as those of 4.4BSD do, unless it has a scheme of its own.
    pub fn of_supervised(&self) -> TcpParams {
        let route_failure = match self.route_failure {
            RouteFailureScheme::None => RouteFailureScheme::Freeze,
            own => own,
        };
        TcpParams { route_failure, ..self.clone() }
    }

    /// Makes this the sender that users call `name` ([`SENDERS`]). Returns false, and changes nothing, if
    /// there is no such sender.
    pub fn apply_sender(&mut self, name: &str) -> bool {
        let Some(sender) = SENDERS.iter().find(|sender| sender.name == name) else { return false };
        *self = (sender.apply)(self.clone());
        true
    }
}
