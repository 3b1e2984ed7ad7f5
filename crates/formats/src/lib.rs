//! Readers and writers of the files that users have on disk: movement as `setdest` writes it, traffic as
//! `cbrgen.tcl` writes it, whole scripts of ns-2 ([`script`]), and tracks of other programs ([`tracks`]).
//!
//! Movement and traffic files are Tcl scripts; here they are *data*. A fixed set of line forms is understood,
//! nothing is evaluated, and a line of any other form is an error that names the file, the line, what was
//! found and what was wanted. No line is skipped in silence: a scenario that was read is the scenario that
//! ns-2 runs.
//!
//! Bytes come in by argument; opening files is the caller's business. [`Limits`] bound what a hostile or
//! broken file can make a reader do: reading takes time and memory linear in the file's length.

mod error;
mod hint;
mod limits;
pub mod movement;
mod number;
mod scan;
pub mod script;
mod tcl;
pub mod tracks;
pub mod traffic;

pub use error::ReadError;
pub use limits::Limits;
pub use movement::{Movement, read_movement, write_movement};
pub use script::read_movement_of_any_form;
pub use traffic::{FlowError, FlowKind, FlowSpec, check_flows, read_traffic, write_traffic};
