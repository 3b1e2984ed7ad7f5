//! What the module's host is told of a request that cannot be carried out.

/// Why a request has no answer: in words, for who made it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);
