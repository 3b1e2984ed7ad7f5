//! Time, the event queue, the clock, delays and random streams: all that a run needs from a machine.

mod clock;
mod delays;
mod queue;
mod random;
mod time;

pub use clock::Clock;
pub use delays::Delays;
pub use queue::{EventQueue, Slot};
pub use random::{Purpose, Stream, Streams};
pub use time::{MAX_TIME_S, Span, Time};
