//! Messages and routing headers of protocols that have no variant of their own in [`Payload`](super::Payload)
//! and [`RoutingHeader`](super::RoutingHeader): of those that the caller of a run brings along, and of those
//! that do not mind an allocation a message.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A value of whatever type its protocol chooses. Copies of a packet share it.
#[derive(Clone)]
struct Content(Arc<dyn Any + Send + Sync>);

impl PartialEq for Content {
    /// Equal are the copies of one content.
    fn eq(&self, other: &Content) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

/// A message that only its protocol understands. Its length is that of its packet.
#[derive(Clone, PartialEq, Debug)]
pub struct CustomMessage {
    /// What recordings call it.
    pub name: &'static str,
    content: Content,
}

impl CustomMessage {
    /// A message with this content.
    pub fn new(name: &'static str, content: impl Any + Send + Sync) -> CustomMessage {
        CustomMessage { name, content: Content(Arc::new(content)) }
    }

    /// The content, if it is of this type.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.content.0.downcast_ref()
    }
}

/// A routing header that only its protocol understands.
#[derive(Clone, PartialEq, Debug)]
pub struct CustomHeader {
    /// What recordings call a packet with nothing but this header.
    pub name: &'static str,
    bytes: u32,
    content: Content,
}

impl CustomHeader {
    /// A header of `bytes` bytes with this content.
    pub fn new(name: &'static str, bytes: u32, content: impl Any + Send + Sync) -> CustomHeader {
        CustomHeader { name, bytes, content: Content(Arc::new(content)) }
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The content, if it is of this type.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.content.0.downcast_ref()
    }
}
