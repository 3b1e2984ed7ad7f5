//! A packet as a protocol in Python sees it, and what has become of it.

use manetlab_core::wire::{
    CustomHeader, CustomMessage, IP_HEADER_BYTES, NodeId, Packet as CorePacket, Payload, RoutingHeader,
};
use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

use super::misuse;

/// Who has the packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The protocol, which must do something with it before its call ends.
    Open,
    /// The protocol, which said that it keeps it; the number tells it from others that are kept.
    Kept(u64),
    /// Nobody at this node any more: what the protocol did with it.
    Ended(&'static str),
    /// Another node; this one only heard it.
    Overheard,
}

/// A packet at one node. Of a packet that has left the node all can be read, and nothing changed.
#[pyclass(module = "manetlab._core")]
pub(crate) struct Packet {
    pub(super) inner: CorePacket,
    pub(super) state: State,
    /// The node whose protocol has it.
    pub(super) holder: NodeId,
    /// The content of a control message, once somebody asked for it: this node's own copy.
    content: Option<Py<PyAny>>,
    /// The value of the routing header, likewise.
    header: Option<Py<PyAny>>,
}

/// What a control message or a header of a protocol in Python carries. Shared by all copies, and never handed
/// out itself.
struct Content(Py<PyAny>);

/// A copy that has nothing in common with the original, as if it had gone over the air.
fn deep_copy(value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    Ok(value.py().import("copy")?.call_method1("deepcopy", (value,))?.unbind())
}

/// The message that carries a copy of `value`.
pub(super) fn message(value: &Bound<'_, PyAny>) -> PyResult<Payload> {
    Ok(Payload::Custom(CustomMessage::new("message", Content(deep_copy(value)?))))
}

impl Packet {
    pub(super) fn new(inner: CorePacket, state: State, holder: NodeId) -> Packet {
        Packet { inner, state, holder, content: None, header: None }
    }

    fn name(&self) -> String {
        if self.inner.uid == CorePacket::UNNUMBERED {
            "a new packet".to_owned()
        } else {
            format!("packet {}", self.inner.uid)
        }
    }

    /// Is the packet the protocol's own to change and to send?
    ///
    /// # Errors
    /// It is not.
    pub(super) fn check_owned(&self, by: NodeId) -> PyResult<()> {
        let (found, hint) = match self.state {
            _ if self.holder != by => {
                (format!("{} is node {}'s", self.name(), self.holder.0), "each node has copies of its own")
            }
            State::Open | State::Kept(_) => return Ok(()),
            State::Ended(how) => {
                (format!("{} was {how} before", self.name()), "make_packet makes another packet")
            }
            State::Overheard => {
                (format!("{} is for another node", self.name()), "what is overheard can only be read")
            }
        };
        Err(misuse("the packet is not the node's any more", by, &found, "a packet that the node has", hint))
    }
}

#[pymethods]
impl Packet {
    /// The packet's number, the same for all its copies; None until a new one is sent.
    #[getter]
    fn number(&self) -> Option<u64> {
        (self.inner.uid != CorePacket::UNNUMBERED).then_some(self.inner.uid)
    }

    /// The node that made it.
    #[getter]
    fn source(&self) -> u32 {
        self.inner.src.0
    }

    /// The node that it is for; None if it is for all that receive it.
    #[getter]
    fn destination(&self) -> Option<u32> {
        (!self.inner.dst.is_broadcast()).then_some(self.inner.dst.0)
    }

    /// Hops that it may still go.
    #[getter]
    fn ttl(&self) -> u8 {
        self.inner.ttl
    }

    #[setter]
    fn set_ttl(&mut self, ttl: i64) -> PyResult<()> {
        self.check_owned(self.holder)?;
        self.inner.ttl = u8::try_from(ttl).map_err(|_| {
            let hint = "drop a packet whose time to live has run out: ttl-expired";
            misuse("the time to live is not allowed", self.holder, &ttl.to_string(), "0 to 255 hops", hint)
        })?;
        Ok(())
    }

    /// Links that it has crossed so far.
    #[getter]
    fn hops(&self) -> u8 {
        self.inner.hops
    }

    /// Its length at the IP layer, the IP header included.
    #[getter]
    fn bytes(&self) -> u32 {
        self.inner.bytes
    }

    #[setter]
    fn set_bytes(&mut self, bytes: i64) -> PyResult<()> {
        self.check_owned(self.holder)?;
        let wanted = super::length(bytes, self.holder)?;
        let headers = IP_HEADER_BYTES + self.header_bytes();
        if wanted < headers {
            let hint = "remove_header takes the header off, and its bytes";
            let least = format!("{headers} bytes or more");
            let what = "a packet cannot be shorter than its headers";
            return Err(misuse(what, self.holder, &wanted.to_string(), &least, hint));
        }
        self.inner.bytes = wanted;
        Ok(())
    }

    /// When it was made, in s.
    #[getter]
    fn created(&self) -> f64 {
        self.inner.created.as_secs()
    }

    /// Is it traffic of a flow, rather than a message of the protocol?
    #[getter]
    fn is_data(&self) -> bool {
        self.inner.is_data()
    }

    /// The number of the flow that it belongs to; None for a message of the protocol.
    #[getter]
    fn flow(&self) -> Option<u32> {
        self.inner.flow().map(|flow| flow.0)
    }

    /// What a message of the protocol carries, as this node's own copy; None for data.
    #[getter]
    fn payload(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(content) = &self.content {
            return Ok(content.clone_ref(py));
        }
        let carried = match &self.inner.payload {
            Payload::Custom(message) => message.content::<Content>(),
            _ => None,
        };
        let Some(Content(value)) = carried else { return Ok(py.None()) };
        let copy = deep_copy(value.bind(py))?;
        self.content = Some(copy.clone_ref(py));
        Ok(copy)
    }

    #[setter]
    fn set_payload(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check_owned(self.holder)?;
        if self.inner.is_data() {
            let hint = "a message of the protocol's own can carry it";
            let wanted = "a message of the protocol";
            return Err(misuse("data carries what it carries", self.holder, &self.name(), wanted, hint));
        }
        self.inner.payload = message(value)?;
        self.content = None;
        Ok(())
    }

    /// The value of its routing header, as this node's own copy; None if it has no header.
    #[getter]
    fn header(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(value) = &self.header {
            return Ok(value.clone_ref(py));
        }
        let carried = self.inner.routing_header.as_deref().and_then(RoutingHeader::as_custom);
        let Some(Content(value)) = carried.and_then(|header| header.content()) else { return Ok(py.None()) };
        let copy = deep_copy(value.bind(py))?;
        self.header = Some(copy.clone_ref(py));
        Ok(copy)
    }

    /// The length of its routing header, which `bytes` counts; 0 if it has none.
    #[getter]
    fn header_bytes(&self) -> u32 {
        self.inner.routing_header.as_ref().map_or(0, |header| header.bytes())
    }

    /// Puts a copy of `value` on it as its routing header, in place of the one that it may have.
    fn put_header(&mut self, value: &Bound<'_, PyAny>, header_bytes: i64) -> PyResult<()> {
        self.check_owned(self.holder)?;
        let Ok(header_bytes) = u16::try_from(header_bytes) else {
            let hint = "nothing is serialised: say how long the header would be on the air";
            let what = "a header cannot have this length";
            return Err(misuse(what, self.holder, &header_bytes.to_string(), "0 to 65515 bytes", hint));
        };
        let without = self.inner.bytes - self.header_bytes();
        super::length(i64::from(without) + i64::from(header_bytes), self.holder)?;
        let header = CustomHeader::new("header", header_bytes.into(), Content(deep_copy(value)?));
        self.inner.put_header(RoutingHeader::Custom(header));
        self.header = None;
        Ok(())
    }

    /// Takes its routing header off, and the header's bytes; does nothing if it has none.
    fn remove_header(&mut self) -> PyResult<()> {
        self.check_owned(self.holder)?;
        self.inner.take_header();
        self.header = None;
        Ok(())
    }

    pub(super) fn __repr__(&self) -> String {
        let to = self.destination().map_or_else(|| "all".to_owned(), |node| node.to_string());
        let CorePacket { src, ttl, hops, bytes, .. } = &self.inner;
        format!("<{} from {} to {to}, {bytes} B, ttl {ttl}, {hops} hops>", self.name(), src.0)
    }
}
