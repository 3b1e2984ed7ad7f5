//! A sender that knows nothing of routes: every loss is congestion.

use super::RouteFailure;

pub(super) struct Unaware;

impl RouteFailure for Unaware {}
