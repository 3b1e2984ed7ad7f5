//! How much a file may ask for.

use manetlab_core::mobility::FASTEST_MPS;

use crate::error::{Fault, Parsed, ReadError};

/// Bounds on what a file may say. They keep a typing error or a hostile file from costing memory or time
/// out of proportion to its length, and values from leaving the range in which the simulator is exact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Greatest number of nodes; the greatest index is one less.
    pub max_nodes: u32,
    /// Greatest length of a file, in bytes; see [`Limits::check_size`].
    pub max_bytes: u64,
    /// Greatest speed, in m/s.
    pub max_speed: f64,
    /// Are coordinates in metres for certain? Otherwise those that look like degrees are refused.
    pub metres: bool,
    /// Greatest distance of a coordinate from zero, in m.
    pub max_coordinate_m: f64,
    /// Latest time, in whole seconds. At most 10^10, so that nanoseconds fit `u64`.
    pub max_time_s: u64,
    /// Most steps of work that a script may do, besides 30 for each of its lines.
    pub max_steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_nodes: manetlab_core::scenario::MAX_NODES as u32,
            max_bytes: 512 << 20,
            max_speed: FASTEST_MPS,
            metres: false,
            max_coordinate_m: 1e7,
            max_time_s: 1_000_000_000,
            max_steps: 1_000_000,
        }
    }
}

impl Limits {
    /// Those for text that manetlab wrote itself, of a movement that has been checked.
    pub fn of_own_text() -> Limits {
        Limits { metres: true, ..Limits::default() }
    }

    /// Checks a file's length; to be called before the file is read into memory. The readers check again.
    ///
    /// # Errors
    /// The file `name` is longer than [`Limits::max_bytes`].
    pub fn check_size(&self, bytes: u64, name: &str) -> Result<(), ReadError> {
        self.size(bytes).map_err(|fault| fault.in_file(name, None))
    }

    fn size(&self, bytes: u64) -> Parsed<()> {
        if bytes <= self.max_bytes {
            return Ok(());
        }
        Err(Fault::new(
            "file too large",
            format!("{bytes} bytes"),
            format!("at most {} bytes", self.max_bytes),
            "lines with set-dist are the bulk of most movement files and are not needed: remove them",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_above_the_limit_is_refused_by_its_length_alone() {
        let limits = Limits { max_bytes: 10, ..Limits::default() };
        assert!(limits.check_size(10, "m").is_ok());
        let error = limits.check_size(11, "m").expect_err("11 > 10");
        assert_eq!((error.line, &*error.found), (None, "11 bytes"));
    }
}
