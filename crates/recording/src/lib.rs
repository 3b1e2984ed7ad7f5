//! Recordings of runs as files: written while the run goes on, read block by block.
//!
//! Events are kept as columns in blocks, each compressed by itself, with the state of the network at its
//! head, so that a place in the run costs one block. docs/recording.md describes the format; [`schema`]
//! lists its tables. A [`Writer`] is a `Recorder` of the core and writes to whatever takes bytes; a
//! [`Reader`] takes a file that may be cut off or hostile, and its memory is bounded by one block. [`lines`]
//! writes the same events as JSON lines.

mod columns;
mod container;
mod crc;
mod decode;
mod encode;
mod error;
mod filter;
pub mod lines;
mod reader;
pub mod schema;
mod state;
mod writer;

pub use columns::{Column, Section, Table};
pub use container::{BlockInfo, sealed};
pub use decode::records;
pub use error::RecordingError;
pub use filter::Filter;
pub use reader::Reader;
pub use writer::Writer;
