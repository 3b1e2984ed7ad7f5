//! Files that a run or an export writes: Ctrl-C is obeyed while they wait for a reader, and whoever feeds
//! them learns that they cannot be written.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use crate::interrupts::interrupted;

/// How often a named pipe is tried again that nobody reads.
const PAUSE: Duration = Duration::from_millis(1);

/// What the files of one run, and the run itself, tell each other.
#[derive(Default)]
pub(crate) struct Control {
    failed: AtomicBool,
    stopped: AtomicBool,
}

impl Control {
    /// Could a file not be written?
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Was Ctrl-C found when that was asked last?
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Has Ctrl-C been pressed, now or before? Python forgets it once it has been asked.
    pub(crate) fn is_stopped(&self) -> bool {
        if !self.was_stopped() && interrupted() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.was_stopped()
    }
}

/// A file to write.
pub(crate) struct OutFile {
    file: File,
    control: Arc<Control>,
}

impl OutFile {
    /// Makes the file; a named pipe is waited for until somebody reads it.
    ///
    /// # Errors
    /// Those of the file system, and one if Ctrl-C ends the wait.
    pub(crate) fn create(path: &Path, control: &Arc<Control>) -> io::Result<OutFile> {
        let control = Arc::clone(control);
        let file = if is_pipe(path) { open_pipe(path, &control)? } else { File::create(path)? };
        Ok(OutFile { file, control })
    }

    fn tell<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if done.is_err() {
            self.control.failed.store(true, Ordering::Relaxed);
        }
        done
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = loop {
            match self.file.write(bytes) {
                // Only a named pipe whose reader is busy: it was opened not to block.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.control.is_stopped() {
                        break Err(stopped());
                    }
                    sleep(PAUSE);
                }
                done => break done,
            }
        };
        self.tell(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.file.flush();
        self.tell(done)
    }
}

impl Seek for OutFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// A file to which so much is written that each write asks for Ctrl-C.
pub(crate) struct Asking(pub(crate) OutFile);

impl Write for Asking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.control.is_stopped() {
            return Err(stopped());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn stopped() -> io::Error {
    io::Error::other("stopped by Ctrl-C")
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|of| of.file_type().is_fifo())
}

/// Opens a named pipe so that neither opening nor writing blocks: a system call that waits is not ended by
/// Ctrl-C, for Python acts on it only when it is asked to.
#[cfg(unix)]
fn open_pipe(path: &Path, control: &Control) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(libc::O_NONBLOCK);
    loop {
        match options.open(path) {
            // Nobody reads it yet.
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                if control.is_stopped() {
                    return Err(stopped());
                }
                sleep(PAUSE);
            }
            opened => return opened,
        }
    }
}

#[cfg(not(unix))]
fn is_pipe(_path: &Path) -> bool {
    false
}

#[cfg(not(unix))]
fn open_pipe(path: &Path, _control: &Control) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}
