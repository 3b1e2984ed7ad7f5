//! Fixed routes (to be written).

/// Placeholder.
pub struct StaticRoutes;

/// Placeholder.
pub fn shortest_hops() {}
