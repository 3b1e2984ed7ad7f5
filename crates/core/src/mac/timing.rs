//! How long frames, interframe spaces and time-outs last at the rates of a run, computed once per run.

use super::rates::Rates;
use super::{AccessProtocol, DataWait, MacParams, Protection, RateControl, Standard, TimeoutMargin};
use crate::kernel::Span;
use crate::radio::BlockCode;
use crate::wire::mac::{ACK_BYTES, CTS_BYTES, OFDM_BPS, RTS_BYTES, Rate};

/// Times on the air and interframe spaces.
#[derive(Clone, Debug)]
pub struct Timing {
    params: MacParams,
    rates: Rates,
    /// The rate of unicast data frames, unless the link has its own.
    pub data_rate: Rate,
    /// The rate of RTS and CTS.
    pub control_rate: Rate,
    /// The rate of broadcasts.
    pub broadcast_rate: Rate,
    /// Slot time.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// DIFS = SIFS + 2 slots (§9.2.10).
    pub difs: Span,
    /// EIFS = SIFS + DIFS + an ACK at the lowest rate with the long preamble (§9.2.10). CSMA and FAMA have no
    /// DIFS, and what exceeds it here is what they wait after noise: nothing, and the longest data frame.
    pub eifs: Span,
    /// Time that carrier sense takes (§15.3.3, aCCATime); with CSMA and FAMA, from sensing to transmitting.
    pub cca: Span,
    /// An RTS on the air.
    pub rts: Span,
    /// A CTS on the air.
    pub cts: Span,
    /// Length of a CTS in bytes.
    pub cts_bytes: u32,
    /// How long after the end of an RTS to another station a frame must begin, or the NAV that it has set is
    /// given up; zero: the NAV stays.
    pub nav_reset: Span,
    /// How long a station waits for the CTS from the start of its RTS.
    pub cts_timeout: Span,
    ack_margin: Span,
    /// Between a CTS and the data frame that it allows.
    pub before_data: Span,
    /// Allowance for propagation, one way.
    pub propagation: Span,
    ladder: Vec<Rate>,
    code: Option<BlockCode>,
}

impl Timing {
    /// The times that follow from these parameters.
    pub fn new(params: &MacParams) -> Timing {
        let params = &params.of_access_protocol();
        let plcp = Span::of_bits(u64::from(params.plcp_bits), params.plcp_rate_bps);
        let rates = Rates::new(params);
        let control_rate = rates.find(params.control_rate_bps);
        let (slot, sifs) = (Span::from_micros(params.slot_us), Span::from_micros(params.sifs_us));
        let difs = sifs + slot * 2;
        let propagation = Span::from_micros(params.propagation_allowance_us);
        let cca = Span::from_micros(params.cca_time_us);
        let rts = rates.airtime(RTS_BYTES, control_rate);
        let cts_bytes = match params.access_protocol {
            AccessProtocol::Fama => dominating_bytes(rts + cca + propagation * 2, &rates, control_rate),
            AccessProtocol::Dcf | AccessProtocol::Csma => CTS_BYTES,
        };
        let cts = rates.airtime(cts_bytes, control_rate);
        let (cts_margin, ack_margin) = match params.timeout_margin {
            TimeoutMargin::Propagation => (propagation * 2, propagation * 2),
            TimeoutMargin::InterframeSpaces => (sifs, difs),
        };
        // The ACK of EIFS is sent at the PLCP's rate, the lowest there is; without 802.11b at 6 Mb/s.
        let slow_ack = match params.standard {
            Standard::A => rates.airtime(ACK_BYTES, rates.find(OFDM_BPS[0])),
            Standard::B | Standard::G => plcp + Span::of_bits(8 * u64::from(ACK_BYTES), params.plcp_rate_bps),
        };
        let data_rate = rates.find(params.data_rate_bps);
        let code = BlockCode::new(params.fec_block_bytes, params.fec_parity_bytes);
        let longest_bytes = coded_bytes(params.fama_longest_bytes, params, code.as_ref());
        let counted_again = if params.eifs_counts_plcp_twice { plcp } else { Span::ZERO };
        Timing {
            data_rate,
            control_rate,
            broadcast_rate: rates.find(params.broadcast_rate_bps),
            ladder: params.standard.rates_bps().into_iter().map(|bps| rates.find(bps)).collect(),
            eifs: match params.access_protocol {
                AccessProtocol::Dcf => sifs + difs + slow_ack + counted_again,
                AccessProtocol::Csma => difs,
                AccessProtocol::Fama => {
                    difs + sifs + rates.airtime(longest_bytes, data_rate) + propagation * 2
                }
            },
            rates,
            slot,
            sifs,
            difs,
            cca,
            rts,
            cts,
            cts_bytes,
            // §9.2.5.4. A frame counts from its first bit on, which later editions allow for by adding
            // aPHY-RX-START-Delay.
            nav_reset: if params.nav_reset { sifs * 2 + cts + slot * 2 } else { Span::ZERO },
            cts_timeout: rts + sifs + cts + cts_margin,
            ack_margin,
            before_data: if params.difs_before_data { difs } else { sifs },
            propagation,
            code,
            params: params.clone(),
        }
    }

    /// The parameters behind these times.
    pub fn params(&self) -> &MacParams {
        &self.params
    }

    /// Length in bytes of a data frame with a body of `body_bytes`, LLC, MAC header, FCS and parity
    /// included.
    pub fn frame_bytes(&self, body_bytes: u32) -> u32 {
        coded_bytes(body_bytes, &self.params, self.code.as_ref())
    }

    /// The code of data frames, if they have one.
    pub fn code(&self) -> Option<&BlockCode> {
        self.code.as_ref()
    }

    /// A frame of `frame_bytes` on the air.
    pub fn airtime(&self, frame_bytes: u32, rate: Rate) -> Span {
        self.rates.airtime(frame_bytes, rate)
    }

    /// The ACK that answers a frame at this rate: its own rate, and its time on the air.
    pub fn ack(&self, answered: Rate) -> (Rate, Span) {
        self.rates.ack(answered)
    }

    /// How long a station waits for the ACK after its data frame at this rate has ended.
    pub fn ack_wait(&self, rate: Rate) -> Span {
        self.sifs + self.ack(rate).1 + self.ack_margin
    }

    /// All rates in bit/s, in the order of [`Rate`], the slowest first.
    pub fn rates_bps(&self) -> impl Iterator<Item = f64> {
        self.rates.bps()
    }

    /// Each rate in bit/s, in the same order, with its preamble and header on the air, and whether those are
    /// the short ones.
    pub fn headers(&self) -> Vec<(f64, Span, bool)> {
        self.rates.headers()
    }

    /// The rate of so many bit/s, which is one of 802.11b's or one that the parameters name.
    pub fn rate(&self, bps: f64) -> Rate {
        self.rates.find(bps)
    }

    /// How long a station waits for the data frame after its CTS, which reserves the medium for `reserves`.
    pub fn data_wait(&self, reserves: Span) -> Span {
        match self.params.data_wait {
            // The data frame begins after SIFS, and carrier sense reports it within a slot (§9.2.10).
            DataWait::Carrier => self.before_data + self.slot + self.propagation * 2,
            DataWait::Data => {
                let later = self.before_data.saturating_sub(self.sifs);
                // ns-2 knows one rate for all ACKs.
                let ack = self.ack(self.data_rate).1;
                (self.propagation * 2 + reserves + later).saturating_sub(self.sifs + ack)
            }
            DataWait::Exchange => reserves,
        }
    }

    /// The rates among which rate control chooses, the slowest first.
    pub fn ladder(&self) -> &[Rate] {
        &self.ladder
    }

    /// How unicast frames are announced to stations that have no OFDM: not at all if they are none
    /// themselves.
    pub fn protection(&self) -> Protection {
        let MacParams { standard, rate_control, protection, .. } = self.params;
        let has_ofdm = rate_control != RateControl::Fixed || self.rates.is_ofdm(self.data_rate);
        if standard == Standard::G && has_ofdm { protection } else { Protection::None }
    }

    /// Is a unicast frame of `frame_bytes` announced by RTS and CTS (§9.2.5.4)?
    pub fn uses_rts(&self, frame_bytes: u32) -> bool {
        frame_bytes > self.params.rts_threshold_bytes
    }

    /// A Duration field's value: whole microseconds, rounded up (§7.1.3.2).
    pub fn duration_field(span: Span) -> Span {
        Span(span.0.div_ceil(1000) * 1000)
    }
}

/// Length in bytes of a data frame with a body of `body_bytes`.
fn coded_bytes(body_bytes: u32, params: &MacParams, code: Option<&BlockCode>) -> u32 {
    let bytes = body_bytes + params.llc_bytes + params.data_header_bytes;
    code.map_or(bytes, |code| code.coded_bytes(bytes))
}

/// Length in bytes of the shortest CTS that is longer on the air than this: the end of an RTS that another
/// station begins before it has sensed the CTS.
fn dominating_bytes(rts_end: Span, rates: &Rates, control_rate: Rate) -> u32 {
    (RTS_BYTES..).find(|&bytes| rates.airtime(bytes, control_rate) > rts_end).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::{BasicRates, Preamble, ResponseRate};
    use super::*;
    use crate::wire::mac::DSSS_BPS;

    /// 10 + 50 µs and 62 bytes at 2 Mb/s: ns-2.1b8a printed 308 µs.
    #[test]
    fn eifs_of_the_cmu_extensions_counts_the_preamble_once_or_twice() {
        let eifs = |name| Timing::new(&crate::profile::profile(name).expect("a profile").mac).eifs;
        assert_eq!([eifs("cmu-1998"), eifs("ns-2.1b8a")], [Span(212_000), Span(308_000)]);
    }

    #[test]
    fn times_of_dsss_at_2_mbps() {
        let timing = Timing::new(&MacParams::default());
        assert_eq!(timing.rts, Span(352_000));
        assert_eq!(timing.cts, Span(304_000));
        // §9.6: the ACK to a frame at 2 Mb/s is sent at 2 Mb/s.
        assert_eq!(timing.ack(timing.data_rate), (timing.data_rate, Span(248_000)));
        assert_eq!(timing.difs, Span(50_000));
        assert_eq!(timing.eifs, Span(364_000));
        // 192 µs + (28 + 8 + 1500) bytes at 4 µs each.
        assert_eq!(timing.airtime(timing.frame_bytes(1500), timing.data_rate), Span(6_336_000));
        assert_eq!(timing.airtime(timing.frame_bytes(44), timing.broadcast_rate), Span(832_000));
    }

    #[test]
    fn acks_at_the_control_rate_and_frames_without_llc_are_parameters() {
        let params = MacParams { response_rate: ResponseRate::Control, llc_bytes: 0, ..MacParams::default() };
        let timing = Timing::new(&params);
        assert_eq!(timing.ack(timing.data_rate), (timing.control_rate, Span(304_000)));
        assert_eq!(timing.airtime(timing.frame_bytes(1500), timing.data_rate), Span(6_304_000));
    }

    /// 1536 bytes are six blocks of 223 and one of 198 bytes, each with 32 of parity.
    #[test]
    fn parity_is_on_the_air() {
        let timing = Timing::new(&MacParams { fec_parity_bytes: 32, ..MacParams::default() });
        assert_eq!(timing.frame_bytes(1500), 1536 + 7 * 32);
        assert_eq!(timing.airtime(timing.frame_bytes(1500), timing.data_rate), Span(192_000 + 4_000 * 1760));
    }

    /// ns-2 until March 2002: RTS + CTS + 2 SIFS, and data + SIFS + ACK + DIFS.
    #[test]
    fn timeouts_may_allow_for_interframe_spaces_in_place_of_propagation() {
        let params = MacParams { timeout_margin: TimeoutMargin::InterframeSpaces, ..MacParams::default() };
        let timing = Timing::new(&params);
        assert_eq!(timing.cts_timeout, timing.rts + timing.cts + timing.sifs * 2);
        let ack = timing.ack(timing.data_rate).1;
        assert_eq!(timing.ack_wait(timing.data_rate), timing.sifs + ack + timing.difs);
    }

    fn b_with(preamble: Preamble, basic_rates: BasicRates) -> Timing {
        Timing::new(&MacParams {
            preamble,
            basic_rates,
            response_rate: ResponseRate::Basic,
            ..MacParams::default()
        })
    }

    /// 802.11b §18.2.2 and §18.3.4: a frame of 1536 bytes, by rate; 1 Mb/s has no short preamble.
    #[test]
    fn frames_of_802_11b_with_both_preambles() {
        let micros = |preamble, bps| {
            let timing = b_with(preamble, BasicRates::ToTwo);
            timing.airtime(1536, timing.rate(bps)).0 as f64 / 1e3
        };
        for (bps, bits_us) in [(1e6, 12_288.0), (2e6, 6144.0), (5.5e6, 2234.181), (11e6, 1117.090)] {
            let short_plcp_us = if bps < 2e6 { 192.0 } else { 96.0 };
            assert!((micros(Preamble::Long, bps) - 192.0 - bits_us).abs() < 1e-3, "{bps}");
            assert!((micros(Preamble::Short, bps) - short_plcp_us - bits_us).abs() < 1e-3, "{bps}");
        }
    }

    /// 802.11-2007 §17.4.3 and §19.8.3.2: 1536 bytes are 12,310 bits with SERVICE and tail.
    #[test]
    fn frames_of_ofdm_last_whole_symbols() {
        let timing = |standard| {
            Timing::new(&MacParams {
                standard,
                data_rate_bps: 54e6,
                control_rate_bps: 24e6,
                ..MacParams::default()
            })
        };
        let (a, g) = (timing(Standard::A), timing(Standard::G));
        for (bps, symbols) in [
            (6e6, 513),
            (9e6, 342),
            (12e6, 257),
            (18e6, 171),
            (24e6, 129),
            (36e6, 86),
            (48e6, 65),
            (54e6, 57),
        ] {
            assert_eq!(a.airtime(1536, a.rate(bps)), Span(20_000 + 4_000 * symbols), "{bps}");
            // Six microseconds in which decoders finish.
            assert_eq!(g.airtime(1536, g.rate(bps)), Span(26_000 + 4_000 * symbols), "{bps}");
        }
        assert_eq!(g.airtime(1536, g.rate(11e6)), Timing::new(&MacParams::default()).airtime(1536, Rate(3)));
        // Answers at 6, 12 and 24 Mb/s: 134 bits.
        let acks = OFDM_BPS
            .map(|bps| a.ack(a.rate(bps)))
            .map(|(rate, span)| (a.rates.bps().nth(rate.index()), span.0));
        let (six, twelve, high) = ((Some(6e6), 44_000), (Some(12e6), 32_000), (Some(24e6), 28_000));
        assert_eq!(acks, [six, six, twelve, twelve, high, high, high, high]);
        // EIFS counts an ACK at 6 Mb/s, or at 1 Mb/s where 802.11b is near.
        assert_eq!(a.eifs, a.sifs + a.difs + Span(44_000));
        assert_eq!(g.eifs, g.sifs + g.difs + Span(304_000));
    }

    /// §9.6: the highest basic rate that is not above that of the data frame.
    #[test]
    fn an_ack_has_the_highest_basic_rate_up_to_the_frames() {
        let acks = |basic_rates| {
            let timing = b_with(Preamble::Long, basic_rates);
            DSSS_BPS.map(|bps| timing.ack(timing.rate(bps))).map(|(rate, span)| (rate.0, span.0 / 1000))
        };
        // 192 µs + 112 bits.
        let (one, two, five, eleven) = ((0, 304), (1, 248), (2, 212), (3, 202));
        assert_eq!(acks(BasicRates::One), [one; 4]);
        assert_eq!(acks(BasicRates::ToTwo), [one, two, two, two]);
        assert_eq!(acks(BasicRates::ToFive), [one, two, five, five]);
        assert_eq!(acks(BasicRates::ToEleven), [one, two, five, eleven]);
    }

    /// §9.2.10: EIFS counts an ACK at 1 Mb/s with the long preamble whatever the rates are.
    #[test]
    fn eifs_does_not_depend_on_rate_and_preamble() {
        let timing = Timing::new(&MacParams {
            data_rate_bps: 11e6,
            control_rate_bps: 11e6,
            preamble: Preamble::Short,
            ..MacParams::default()
        });
        assert_eq!(timing.eifs, Span(364_000));
        assert_eq!(timing.ack(timing.data_rate).1, Span(96_000 + 10_182));
    }
}
