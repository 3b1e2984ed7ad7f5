//! The rates of a run: those of its standard, and any others that the parameters name, as ns-2 allows.
//!
//! Read IEEE 802.11b-1999 §18.2 (PLCP), IEEE 802.11-2007 §17.3 and §17.4.3 (OFDM), §19.3.2 and §19.8.3 (OFDM
//! beside 802.11b) and IEEE 802.11-1999 §9.6 (which frame is sent at which rate).

use super::{BasicRates, MacParams, Preamble, ResponseRate, Standard};
use crate::kernel::Span;
use crate::wire::mac::{ACK_BYTES, DSSS_BPS, OFDM_BPS, Rate, ofdm_place};

/// The short preamble and header: 72 bits at 1 Mb/s and 48 bits at 2 Mb/s (802.11b §18.2.2.2).
const SHORT_PLCP: Span = Span(96_000);

impl BasicRates {
    /// The highest of them in bit/s.
    pub fn highest_bps(self) -> f64 {
        match self {
            BasicRates::One => 1e6,
            BasicRates::ToTwo => 2e6,
            BasicRates::ToFive => 5.5e6,
            BasicRates::ToEleven => 11e6,
        }
    }
}

/// Preamble and SIGNAL field of OFDM (802.11-2007 §17.3.3).
const OFDM_HEADER: Span = Span(20_000);
/// A symbol of OFDM.
const OFDM_SYMBOL: Span = Span(4_000);
/// The silence behind a frame of OFDM in the band of 802.11b, in which decoders finish (§19.3.2.3).
const SIGNAL_EXTENSION: Span = Span(6_000);
/// The rates of OFDM that every station has (§17.3.8.2); they answer.
const OFDM_MANDATORY_BPS: [f64; 3] = [6e6, 12e6, 24e6];

impl Standard {
    /// Its rates in bit/s, the slowest first.
    pub fn rates_bps(self) -> Vec<f64> {
        match self {
            Standard::B => DSSS_BPS.to_vec(),
            Standard::A => OFDM_BPS.to_vec(),
            Standard::G => {
                let mut all = [DSSS_BPS.as_slice(), &OFDM_BPS].concat();
                all.sort_unstable_by(f64::total_cmp);
                all
            }
        }
    }

    /// Is a frame at this rate put on the air as OFDM?
    pub(super) fn is_ofdm(self, bps: f64) -> bool {
        self != Standard::B && ofdm_place(bps).is_some()
    }
}

/// What the timing of frames needs of one rate.
#[derive(Clone, Debug)]
struct OfRate {
    bps: f64,
    /// Preamble and header, and the silence behind the frame.
    plcp: Span,
    is_ofdm: bool,
    /// The rate of the ACK that answers a frame at this rate.
    answered_at: Rate,
    /// That ACK on the air.
    ack: Span,
}

/// All rates of a run, the slowest first. A [`Rate`] is a place in this table.
#[derive(Clone, Debug)]
pub(super) struct Rates(Vec<OfRate>);

impl Rates {
    pub(super) fn new(params: &MacParams) -> Rates {
        let named = [params.data_rate_bps, params.control_rate_bps, params.broadcast_rate_bps];
        let standard = params.standard;
        let mut all = [standard.rates_bps().as_slice(), &named].concat();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        let long = Span::of_bits(u64::from(params.plcp_bits), params.plcp_rate_bps);
        let plcp = |bps: f64| match standard {
            Standard::A if standard.is_ofdm(bps) => OFDM_HEADER,
            Standard::G if standard.is_ofdm(bps) => OFDM_HEADER + SIGNAL_EXTENSION,
            _ if params.preamble == Preamble::Short && bps >= 2e6 => SHORT_PLCP,
            _ => long,
        };
        let mandatory_bps = |bps: f64| {
            let up_to = OFDM_MANDATORY_BPS.into_iter().filter(|&mandatory| mandatory <= bps);
            up_to.fold(OFDM_MANDATORY_BPS[0], f64::max)
        };
        let answer_bps = |bps: f64| match params.response_rate {
            ResponseRate::Frame | ResponseRate::Basic if standard.is_ofdm(bps) => mandatory_bps(bps),
            ResponseRate::Frame => bps,
            ResponseRate::Control => params.control_rate_bps,
            // All rates up to the highest basic one are basic; 1 Mb/s always is.
            ResponseRate::Basic => bps.min(params.basic_rates.highest_bps()),
        };
        let of_rate = |&bps: &f64| {
            let answer_bps = answer_bps(bps);
            let answered_at = place(&all, answer_bps);
            let (is_ofdm, ack) = (standard.is_ofdm(bps), Span::ZERO);
            OfRate { bps, plcp: plcp(bps), is_ofdm, answered_at, ack }
        };
        let mut rates = Rates(all.iter().map(of_rate).collect());
        for at in 0..rates.0.len() {
            rates.0[at].ack = rates.airtime(ACK_BYTES, rates.0[at].answered_at);
        }
        rates
    }

    /// The rates in bit/s, in the order of the table.
    pub(super) fn bps(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|rate| rate.bps)
    }

    /// The rates with their headers: see [`Timing::headers`](super::Timing::headers).
    pub(super) fn headers(&self) -> Vec<(f64, Span, bool)> {
        self.0
            .iter()
            .map(|rate| {
                (rate.bps, if rate.is_ofdm { OFDM_HEADER } else { rate.plcp }, rate.plcp == SHORT_PLCP)
            })
            .collect()
    }

    /// Is a frame at this rate OFDM?
    pub(super) fn is_ofdm(&self, rate: Rate) -> bool {
        self.0[rate.index()].is_ofdm
    }

    /// The place of a rate that the table holds.
    pub(super) fn find(&self, bps: f64) -> Rate {
        Rate(self.0.partition_point(|rate| rate.bps < bps) as u8)
    }

    /// A frame of that many bytes on the air.
    pub(super) fn airtime(&self, bytes: u32, rate: Rate) -> Span {
        let OfRate { bps, plcp, is_ofdm, .. } = self.0[rate.index()];
        if is_ofdm {
            // SERVICE and tail are 22 bits; bits of a symbol are whole at all eight rates.
            let of_symbol = (bps * 4e-6) as u64;
            return plcp + OFDM_SYMBOL * (8 * u64::from(bytes) + 22).div_ceil(of_symbol);
        }
        plcp + Span::of_bits(8 * u64::from(bytes), bps)
    }

    /// The rate of the ACK that answers a frame at this rate, and its time on the air.
    pub(super) fn ack(&self, rate: Rate) -> (Rate, Span) {
        let OfRate { answered_at, ack, .. } = self.0[rate.index()];
        (answered_at, ack)
    }
}

fn place(all: &[f64], bps: f64) -> Rate {
    Rate(all.partition_point(|&other| other < bps) as u8)
}
