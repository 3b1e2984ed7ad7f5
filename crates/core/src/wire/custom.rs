//! What protocols put on the air that have no variant of their own here.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A message of a protocol whose messages have no variant of [`Payload`](super::Payload): one that the caller of a run brings along, or
/// one that does not mind an allocation a message. Copies of a packet share it.
#[derive(Clone)]
pub struct CustomMessage {
    /// What recordings call it.
    pub name: &'static str,
    content: Arc<dyn Any + Send + Sync>,
}

impl CustomMessage {
    /// A message with this content.
    pub fn new(name: &'static str, content: impl Any + Send + Sync) -> CustomMessage {
        CustomMessage { name, content: Arc::new(content) }
    }

    /// The content, if it is of this type.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.content.downcast_ref()
    }
}

impl PartialEq for CustomMessage {
    /// Equal are the copies of one message.
    fn eq(&self, other: &CustomMessage) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
    }
}

impl fmt::Debug for CustomMessage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CustomMessage({})", self.name)
    }
}
