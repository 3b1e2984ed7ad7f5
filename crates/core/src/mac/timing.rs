//! How long frames, interframe spaces and time-outs last at the rates of a run, computed once per run.

use super::{DataWait, MacParams, ResponseRate, TimeoutMargin};
use crate::kernel::Span;
use crate::wire::mac::{ACK_BYTES, CTS_BYTES, RTS_BYTES};

/// Times on the air and interframe spaces.
#[derive(Clone, Debug)]
pub struct Timing {
    params: MacParams,
    plcp: Span,
    /// Slot time.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// DIFS = SIFS + 2 slots (§9.2.10).
    pub difs: Span,
    /// EIFS = SIFS + DIFS + an ACK at the lowest rate (§9.2.10).
    pub eifs: Span,
    /// Time that carrier sense takes (§15.3.3, aCCATime).
    pub cca: Span,
    /// An RTS on the air.
    pub rts: Span,
    /// A CTS on the air.
    pub cts: Span,
    /// An ACK on the air.
    pub ack: Span,
    /// How long a station waits for the CTS from the start of its RTS.
    pub cts_timeout: Span,
    /// How long it waits for the ACK after its data frame has ended.
    pub ack_wait: Span,
    /// Between a CTS and the data frame that it allows.
    pub before_data: Span,
    /// Allowance for propagation, one way.
    pub propagation: Span,
}

impl Timing {
    /// The times that follow from these parameters.
    pub fn new(params: &MacParams) -> Timing {
        let plcp = Span::of_bits(u64::from(params.plcp_bits), params.plcp_rate_bps);
        let control = |bytes: u32| plcp + Span::of_bits(8 * u64::from(bytes), params.control_rate_bps);
        let (slot, sifs) = (Span::from_micros(params.slot_us), Span::from_micros(params.sifs_us));
        let difs = sifs + slot * 2;
        let (rts, cts) = (control(RTS_BYTES), control(CTS_BYTES));
        let ack = match params.response_rate {
            ResponseRate::Frame => plcp + Span::of_bits(8 * u64::from(ACK_BYTES), params.data_rate_bps),
            ResponseRate::Control => control(ACK_BYTES),
        };
        let propagation = Span::from_micros(params.propagation_allowance_us);
        let (cts_margin, ack_margin) = match params.timeout_margin {
            TimeoutMargin::Propagation => (propagation * 2, propagation * 2),
            TimeoutMargin::InterframeSpaces => (sifs, difs),
        };
        // The ACK of EIFS is sent at the PLCP's rate, the lowest there is.
        let slow_ack = plcp + Span::of_bits(8 * u64::from(ACK_BYTES), params.plcp_rate_bps);
        Timing {
            plcp,
            slot,
            sifs,
            difs,
            eifs: sifs + difs + slow_ack,
            cca: Span::from_micros(params.cca_time_us),
            rts,
            cts,
            ack,
            cts_timeout: rts + sifs + cts + cts_margin,
            ack_wait: sifs + ack + ack_margin,
            before_data: if params.difs_before_data { difs } else { sifs },
            propagation,
            params: params.clone(),
        }
    }

    /// The parameters behind these times.
    pub fn params(&self) -> &MacParams {
        &self.params
    }

    /// Length in bytes of a data frame with a body of `body_bytes`, LLC, MAC header and FCS
    /// included.
    pub fn frame_bytes(&self, body_bytes: u32) -> u32 {
        body_bytes + self.params.llc_bytes + self.params.data_header_bytes
    }

    /// A data frame of `frame_bytes` on the air.
    pub fn data(&self, frame_bytes: u32, broadcast: bool) -> Span {
        let rate = if broadcast { self.params.broadcast_rate_bps } else { self.params.data_rate_bps };
        self.plcp + Span::of_bits(8 * u64::from(frame_bytes), rate)
    }

    /// How long a station waits for the data frame after its CTS, which reserves the medium for `reserves`.
    pub fn data_wait(&self, reserves: Span) -> Span {
        match self.params.data_wait {
            // The data frame begins after SIFS, and carrier sense reports it within a slot (§9.2.10).
            DataWait::Carrier => self.before_data + self.slot + self.propagation * 2,
            DataWait::Data => {
                let later = self.before_data.saturating_sub(self.sifs);
                (self.propagation * 2 + reserves + later).saturating_sub(self.sifs + self.ack)
            }
            DataWait::Exchange => reserves,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_dsss_at_2_mbps() {
        let timing = Timing::new(&MacParams::default());
        assert_eq!(timing.rts, Span(352_000));
        assert_eq!(timing.cts, Span(304_000));
        // §9.6: the ACK to a frame at 2 Mb/s is sent at 2 Mb/s.
        assert_eq!(timing.ack, Span(248_000));
        assert_eq!(timing.difs, Span(50_000));
        assert_eq!(timing.eifs, Span(364_000));
        // 192 µs + (28 + 8 + 1500) bytes at 4 µs each.
        assert_eq!(timing.data(timing.frame_bytes(1500), false), Span(6_336_000));
        assert_eq!(timing.data(timing.frame_bytes(44), true), Span(832_000));
    }

    #[test]
    fn acks_at_the_control_rate_and_frames_without_llc_are_parameters() {
        let params = MacParams { response_rate: ResponseRate::Control, llc_bytes: 0, ..MacParams::default() };
        let timing = Timing::new(&params);
        assert_eq!(timing.ack, Span(304_000));
        assert_eq!(timing.data(timing.frame_bytes(1500), false), Span(6_304_000));
    }

    /// ns-2 until March 2002: RTS + CTS + 2 SIFS, and data + SIFS + ACK + DIFS.
    #[test]
    fn timeouts_may_allow_for_interframe_spaces_in_place_of_propagation() {
        let params = MacParams { timeout_margin: TimeoutMargin::InterframeSpaces, ..MacParams::default() };
        let timing = Timing::new(&params);
        assert_eq!(timing.cts_timeout, timing.rts + timing.cts + timing.sifs * 2);
        assert_eq!(timing.ack_wait, timing.sifs + timing.ack + timing.difs);
    }
}
