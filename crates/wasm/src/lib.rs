//! The simulator as a WebAssembly module, for pages and for Node.
//!
//! A [`run`] takes a request as JSON text and gives the result as JSON text and the recording as bytes, which
//! are those of a file. [`exports`] is how the module's host reaches it. The host's half is in
//! `viewer/src/worker.ts`. Python in a page resolves scenarios by [`exports::manetlab_call`].

mod beside;
mod calls;
mod changes;
pub mod exports;
mod failed;
mod held;
mod refused;
mod running;

pub use changes::Moved;
pub use refused::Refused;
pub use running::{Answer, run};
