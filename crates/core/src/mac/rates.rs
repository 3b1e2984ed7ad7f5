//! The rates of a run: those of 802.11b, and any others that the parameters name, as ns-2 allows.
//!
//! Read IEEE 802.11b-1999 §18.2 (PLCP) and IEEE 802.11-1999 §9.6 (which frame is sent at which rate).

use super::{BasicRates, MacParams, Preamble, ResponseRate};
use crate::kernel::Span;
use crate::wire::mac::{ACK_BYTES, DSSS_BPS, Rate};

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

/// What the timing of frames needs of one rate.
#[derive(Clone, Debug)]
struct OfRate {
    bps: f64,
    plcp: Span,
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
        let mut all = [DSSS_BPS.as_slice(), &named].concat();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        let long = Span::of_bits(u64::from(params.plcp_bits), params.plcp_rate_bps);
        let plcp =
            |bps: f64| if params.preamble == Preamble::Short && bps >= 2e6 { SHORT_PLCP } else { long };
        let answer_bps = |bps: f64| match params.response_rate {
            ResponseRate::Frame => bps,
            ResponseRate::Control => params.control_rate_bps,
            // All rates up to the highest basic one are basic; 1 Mb/s always is.
            ResponseRate::Basic => bps.min(params.basic_rates.highest_bps()),
        };
        let of_rate = |&bps: &f64| {
            let answer_bps = answer_bps(bps);
            OfRate {
                bps,
                plcp: plcp(bps),
                answered_at: place(&all, answer_bps),
                ack: plcp(answer_bps) + Span::of_bits(8 * u64::from(ACK_BYTES), answer_bps),
            }
        };
        Rates(all.iter().map(of_rate).collect())
    }

    /// The rates in bit/s, in the order of the table.
    pub(super) fn bps(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|rate| rate.bps)
    }

    /// The place of a rate that the table holds.
    pub(super) fn find(&self, bps: f64) -> Rate {
        Rate(self.0.partition_point(|rate| rate.bps < bps) as u8)
    }

    /// A frame of that many bytes on the air.
    pub(super) fn airtime(&self, bytes: u32, rate: Rate) -> Span {
        let OfRate { bps, plcp, .. } = self.0[rate.index()];
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
