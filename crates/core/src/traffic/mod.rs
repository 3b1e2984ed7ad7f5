//! Traffic sources: when an application hands how much to its transport.
//!
//! A source is a state machine: [`Source::next_timeout`] says when its next message is due, and
//! [`Source::handle_timeout`] makes it. A source knows nothing of its transport. Constant bit rate has a
//! state machine of its own, because its packets are all alike; so has a Web session, which waits for
//! answers. *Deviations*: 1 to 5 in docs/models/traffic.md.

mod cbr;
mod draws;
mod on_off;
mod poisson;
mod trace;
mod video;
mod voice;
mod web;

pub use cbr::CbrSource;
pub use on_off::{Durations, OnOffParams, OnOffSource};
pub use poisson::PoissonSource;
pub use trace::TraceSource;
pub use video::{VideoParams, VideoSource};
pub use voice::{Codec, Impairment};
pub use web::{
    Distributions, MAX_REPLIES, Truncation, WebCycle, WebError, WebParams, WebPlan, WebSession, WebStep,
    draw_sessions,
};

use serde::Serialize;

use crate::kernel::Time;

/// What a video frame was coded from (ISO/IEC 13818-2 §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum FrameKind {
    /// Intra: from itself.
    I,
    /// Predicted: from the I or P frame before it.
    P,
    /// Bidirectional: from the I or P frames before and after it.
    B,
}

/// What an application hands to its transport at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its length, at least one byte.
    pub bytes: u32,
    /// What kind of frame it is, if it is one.
    pub frame: Option<FrameKind>,
}

/// An application that makes messages.
pub trait Source {
    /// When the next message is due; [`Time::NEVER`] after the last.
    fn next_timeout(&self) -> Time;

    /// The message that is due. Called at its time only.
    fn handle_timeout(&mut self) -> Message;
}
