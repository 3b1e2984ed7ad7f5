//! What is wrong with a file that is to be read.

use thiserror::Error;

/// Why a recording was refused, or could not be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The file could not be read.
    #[error("the file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It is another file than a recording.
    #[error("found {found}, wanted a recording of manetlab")]
    NotARecording {
        /// What it begins with.
        found: String,
    },
    /// A version of the format that this code does not know.
    #[error("found version {0} of the format, wanted version 2 or 3")]
    Version(u32),
    /// It does not say what a recording says.
    #[error("at byte {at}: {what}")]
    Damaged {
        /// Where in the file.
        at: u64,
        /// What is wrong.
        what: String,
    },
}

impl RecordingError {
    /// What is wrong at a place of the file.
    pub(crate) fn damaged(at: u64, what: impl Into<String>) -> RecordingError {
        RecordingError::Damaged { at, what: what.into() }
    }
}
