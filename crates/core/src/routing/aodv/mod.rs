//! AODV (to be written).

/// An AODV message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {}
