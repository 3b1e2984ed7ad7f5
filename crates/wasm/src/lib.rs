//! The simulator as a WebAssembly module, for pages and for Node.
//!
//! A [`run`] takes a request as JSON text and gives the result as JSON text and the recording as bytes, which
//! are those of a file. [`exports`] is how the module's host reaches it. The host's half is in
//! `viewer/src/worker.ts`.

mod changes;
pub mod exports;
mod refused;
mod running;

pub use changes::Moved;
pub use refused::Refused;
pub use running::{Answer, run};
