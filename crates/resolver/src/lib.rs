//! What Python asks of the core while it resolves a scenario.
//!
//! Python turns what its user wrote into what is run, and calls the core for what needs movement, draws or
//! the radio. It does so in two places: as the extension of an interpreter (`crates/py`), and in pages, where
//! Python itself is a WebAssembly module (`crates/wasm`). Both hand these functions plain values and pass on
//! their errors, which have manetlab's five parts: see [`Told`].

pub mod files;
pub mod movement;
pub mod paths;
mod told;
pub mod traffic;

use manetlab_core::mobility::Trajectory;
use manetlab_core::scenario::Scenario;
pub use told::{FROM_PYTHON, Told};

/// A scenario, read from JSON without its movement, and its movement, checked; it came from `place`.
///
/// # Errors
/// It was not read, or cannot be run.
pub fn checked(
    read: serde_json::Result<Scenario>,
    movement: &[Trajectory],
    place: &str,
) -> Result<Scenario, Told> {
    let mut scenario = read.map_err(|error| {
        Told::new("this is not a scenario", place, &error.to_string(), "a scenario", FROM_PYTHON)
    })?;
    scenario.movement = movement.to_vec();
    scenario.check().map_err(|error| Told::of_scenario(&error, place))?;
    Ok(scenario)
}
