//! What a station asks of the network.

use std::rc::Rc;

use crate::wire::NodeId;
use crate::wire::mac::{Body, Frame};

/// What a station asks of the network.
#[derive(Clone, PartialEq, Debug)]
pub enum MacAction {
    /// Put the frame on the air now.
    Transmit(Frame),
    /// A data frame arrived intact: hand its body up.
    Deliver {
        /// The body.
        body: Rc<Body>,
        /// Who sent it.
        from: NodeId,
    },
    /// A data frame arrived again after its ACK was lost; the copy ends here.
    Duplicate(Rc<Body>),
    /// The frame was acknowledged, or it was sent and nothing acknowledges it.
    Sent(Rc<Body>),
    /// The retry limit is reached.
    Failed {
        /// The body.
        body: Rc<Body>,
        /// Who did not answer.
        to: NodeId,
    },
    /// The station can take the next frame.
    Ready,
}
