//! Random waypoint (to be written).
