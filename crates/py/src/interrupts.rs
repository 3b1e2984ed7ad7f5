//! Whether what is under way shall stop: Ctrl-C, or all runs of the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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

/// How long a run goes on without asking: asking waits for Python's lock, and costs more than a clock.
const LEAST_REST: Duration = Duration::from_millis(20);

/// The rest between two questions, since the last one.
pub(crate) struct Rest(Instant);

#[expect(clippy::disallowed_methods, reason = "when the user is asked changes nothing of the run")]
impl Rest {
    /// It begins now.
    pub(crate) fn new() -> Rest {
        Rest(Instant::now())
    }

    /// Is the rest over? If so, the next begins.
    pub(crate) fn is_over(&mut self) -> bool {
        let over = self.0.elapsed() >= LEAST_REST;
        if over {
            self.0 = Instant::now();
        }
        over
    }
}
