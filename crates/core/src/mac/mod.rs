//! IEEE 802.11 DCF: frames, their times on the air, and the station's state machine. CSMA and FAMA beside it.
//!
//! Read IEEE 802.11-1999 clause 9.2 first. What ns-2 does differently is a parameter each ([`MacParams`]), so
//! that the profiles differ in values and not in code.

mod action;
mod dcf;
mod medium;
mod nonpersistent;
mod params;
mod rate_control;
mod rates;
mod timing;

#[cfg(test)]
mod tests;

pub use action::MacAction;
pub use dcf::Dcf;
pub use medium::{ReceiverRules, ShortWay, Signal, WeakFrames};
pub use params::{
    Access, AccessProtocol, BasicRates, DataWait, MacParams, Preamble, Protection, RateControl, ResponseRate,
    Standard, TimeoutMargin,
};
pub use timing::Timing;
