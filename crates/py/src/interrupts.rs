//! Whether what is under way shall stop: Ctrl-C, or all runs of the process.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

/// Shall all runs of this process stop?
static STOP: AtomicBool = AtomicBool::new(false);

/// Stops all runs of this process, in whatever threads, or lets runs begin again.
#[pyfunction]
pub(crate) fn stop(wanted: bool) {
    STOP.store(wanted, Ordering::Relaxed);
}

/// Has the user pressed Ctrl-C? Python's own signal handler runs only when it is asked to, and only in the
/// main thread; the other threads' runs wait for [`stop`].
pub(crate) fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed) || Python::attach(|py| py.check_signals()).is_err()
}
