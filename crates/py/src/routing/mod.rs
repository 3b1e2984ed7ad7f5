//! Routing protocols written in Python: one object a node, behind the core's contract.
//!
//! The object is called with the interpreter's lock; between the calls other threads may have it. What it
//! asks for is checked as it asks, so an error points at its own line; after each call every packet that was
//! handed to it must be sent, broadcast, delivered, dropped, consumed or kept. Whatever goes wrong ends the
//! run at once: it unwinds to `running.rs` with a [`Fault`].

mod node;
mod packet;

use std::panic::resume_unwind;

use manetlab_core::kernel::{Stream, Time};
use manetlab_core::routing::{Action, Changes, ConnectionEvent, Place, Routing};
use manetlab_core::wire::{IP_HEADER_BYTES, NodeId, Packet as CorePacket};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::errors::input_error;
pub(crate) use node::{Node, Random};
pub(crate) use packet::Packet;
use packet::State;

/// What a protocol did wrong, as an error that is raised in the protocol's own line.
fn misuse(what: &str, node: NodeId, found: &str, wanted: &str, hint: &str) -> PyErr {
    input_error(what, &format!("node {}", node.0), found, wanted, hint)
}

/// The length of an IP packet.
fn length(bytes: i64, node: NodeId) -> PyResult<u32> {
    let known = u32::try_from(bytes).ok().filter(|bytes| (IP_HEADER_BYTES..=65_535).contains(bytes));
    known.ok_or_else(|| {
        let wanted = "20 to 65535 bytes, the IP header of 20 included";
        let what = "a packet cannot have this length";
        misuse(what, node, &bytes.to_string(), wanted, "several packets can carry more")
    })
}

/// Why a protocol in Python ended the run.
pub(crate) struct Fault {
    error: PyErr,
    input: String,
    node: NodeId,
    now: Time,
}

impl Fault {
    /// The error for the user, made from it.
    pub(crate) fn into_error(self, py: Python<'_>) -> PyErr {
        let told = py.import("manetlab.routing").and_then(|module| {
            let parts = (self.error.clone_ref(py), self.input, self.node.0, self.now.as_secs());
            module.getattr("failure")?.call1(parts)
        });
        told.map_or_else(|broken| broken, PyErr::from_value)
    }
}

/// Makes the protocols of a run's nodes by calling `make` with a node and its stream of random numbers. It
/// returns the object and what the object takes part in: waking, overhearing, taking back control messages.
pub(crate) struct Maker {
    make: Py<PyAny>,
}

impl Maker {
    pub(crate) fn new(make: Py<PyAny>) -> Maker {
        Maker { make }
    }

    pub(crate) fn make(&self, place: Place, stream: Stream) -> Box<dyn Routing> {
        let id = place.node();
        let made = Python::attach(|py| {
            let node = Py::new(py, Node::new(place))?;
            let made = self.make.bind(py).call1((node.clone_ref(py), Random(stream)))?;
            let (object, wakes, overhears, takes_back) = made.extract::<(Py<PyAny>, bool, bool, bool)>()?;
            Ok(PythonRouting {
                id,
                object,
                node,
                wakes,
                overhears,
                takes_back,
                next: Time::NEVER,
                rx_power_w: None,
            })
        });
        let fault = |error| Fault { error, input: "__init__".to_owned(), node: id, now: Time::ZERO };
        Box::new(made.unwrap_or_else(|error| end_run(fault(error))))
    }
}

/// Unwinds to the caller of the run: a protocol that failed must not be called again.
fn end_run(fault: Fault) -> ! {
    resume_unwind(Box::new(fault))
}

/// One node's protocol.
struct PythonRouting {
    id: NodeId,
    object: Py<PyAny>,
    node: Py<Node>,
    wakes: bool,
    overhears: bool,
    takes_back: bool,
    next: Time,
    /// How strong the frame was that brings the next packet, in W.
    rx_power_w: Option<f64>,
}

/// A packet that goes into a call, if any does.
type Given<'a, 'py> = Option<&'a Bound<'py, Packet>>;

impl PythonRouting {
    /// Calls the object's method `input`, with the arguments that `arguments` makes, and takes over its
    /// actions.
    fn call(
        &mut self,
        now: Time,
        input: fn(Python<'_>) -> &Bound<'_, PyString>,
        packet: Option<(CorePacket, State)>,
        actions: &mut Vec<Action>,
        arguments: impl for<'py> FnOnce(Python<'py>, Given<'_, 'py>) -> PyResult<Bound<'py, PyTuple>>,
    ) {
        let rx_power_w = self.rx_power_w.take();
        let called = Python::attach(|py| {
            self.node.borrow_mut(py).rx_power_w = rx_power_w;
            let fault = |error| Fault { error, input: input(py).to_string(), node: self.id, now };
            let next = self.try_call(py, now, input(py), packet, arguments).map_err(fault)?;
            actions.append(&mut self.node.borrow_mut(py).actions);
            Ok(next)
        });
        self.next = called.unwrap_or_else(|fault| end_run(fault));
    }

    /// When the protocol next wants to be woken.
    fn try_call<'py>(
        &self,
        py: Python<'py>,
        now: Time,
        input: &Bound<'py, PyString>,
        packet: Option<(CorePacket, State)>,
        arguments: impl FnOnce(Python<'py>, Given<'_, 'py>) -> PyResult<Bound<'py, PyTuple>>,
    ) -> PyResult<Time> {
        self.node.borrow_mut(py).now = now;
        let given =
            packet.map(|(packet, state)| Bound::new(py, Packet::new(packet, state, self.id))).transpose()?;
        let object = self.object.bind(py);
        object.call_method1(input, arguments(py, given.as_ref())?)?;
        if let Some(packet) = given.filter(|packet| packet.borrow().state == State::Open) {
            let wanted =
                "every packet sent, broadcast, delivered, dropped, consumed or kept before the call ends";
            let hint = "self.drop(packet, \"no-route\") drops it, self.keep(packet) keeps it for later";
            let found = format!("{} after {input}", packet.repr()?);
            return Err(misuse("a packet is lost", self.id, &found, wanted, hint));
        }
        if !self.wakes {
            return Ok(Time::NEVER);
        }
        let next: Option<f64> = object.call_method0(intern!(py, "next_timeout"))?.extract()?;
        let Some(seconds) = next else { return Ok(Time::NEVER) };
        let next = Time::from_secs(seconds);
        // In the instant of a wake-up it would be woken for ever.
        let is_wake_up = input == "handle_timeout";
        if seconds.is_nan() || next < now || is_wake_up && next == now {
            let wanted = format!("a time after {} s, or None", now.as_secs());
            let hint = "handle_timeout must do what is due, or put it off";
            let what = "the protocol wants to be woken in the past";
            return Err(misuse(what, self.id, &format!("{seconds} s after {input}"), &wanted, hint));
        }
        Ok(next)
    }
}

/// The name of an input, made once for all calls.
macro_rules! input {
    ($name:literal) => {
        |py| intern!(py, $name)
    };
}

impl Routing for PythonRouting {
    fn handle_start(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.call(now, input!("handle_start"), None, actions, |py, _| Ok(PyTuple::empty(py)));
    }

    fn handle_connection(&mut self, now: Time, event: ConnectionEvent, actions: &mut Vec<Action>) {
        let (ConnectionEvent::Opened { dst, two_way } | ConnectionEvent::Closed { dst, two_way }) = event
        else {
            // Only who holds packets is told, and asks for it.
            return;
        };
        let opened = matches!(event, ConnectionEvent::Opened { .. });
        self.call(now, input!("handle_connection"), None, actions, |py, _| {
            (dst.0, opened, two_way).into_pyobject(py)
        });
    }

    fn handle_outgoing(&mut self, now: Time, packet: CorePacket, actions: &mut Vec<Action>) {
        let given = Some((packet, State::Open));
        self.call(now, input!("handle_outgoing"), given, actions, |py, packet| (packet,).into_pyobject(py));
    }

    fn handle_incoming(&mut self, now: Time, packet: CorePacket, from: NodeId, actions: &mut Vec<Action>) {
        let given = Some((packet, State::Open));
        self.call(now, input!("handle_incoming"), given, actions, |py, packet| {
            (packet, from.0).into_pyobject(py)
        });
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: CorePacket,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let given = Some((packet, State::Open));
        self.call(now, input!("handle_link_failure"), given, actions, |py, packet| {
            (packet, next_hop.0).into_pyobject(py)
        });
    }

    fn handle_flushed(&mut self, now: Time, packet: CorePacket, next_hop: NodeId, actions: &mut Vec<Action>) {
        let given = Some((packet, State::Open));
        let next_hop = (!next_hop.is_broadcast()).then_some(next_hop.0);
        self.call(now, input!("handle_flushed"), given, actions, |py, packet| {
            (packet, next_hop).into_pyobject(py)
        });
    }

    fn wants_overheard(&self) -> bool {
        self.overhears
    }

    fn handle_overheard(
        &mut self,
        now: Time,
        packet: &CorePacket,
        from: NodeId,
        to: NodeId,
        actions: &mut Vec<Action>,
    ) {
        let given = Some((packet.clone(), State::Overheard));
        self.call(now, input!("handle_overheard"), given, actions, |py, packet| {
            (packet, from.0, to.0).into_pyobject(py)
        });
    }

    fn wants_rx_power(&self) -> bool {
        true
    }

    fn handle_rx_power(&mut self, _now: Time, _from: NodeId, power_w: f64) {
        self.rx_power_w = Some(power_w);
    }

    fn takes_back_control(&self) -> bool {
        self.takes_back
    }

    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.call(now, input!("handle_timeout"), None, actions, |py, _| Ok(PyTuple::empty(py)));
    }

    fn next_timeout(&self) -> Time {
        self.next
    }

    fn buffered(&self, visit: &mut dyn FnMut(&CorePacket)) {
        Python::attach(|py| {
            for packet in self.node.borrow(py).kept.values() {
                visit(&packet.borrow(py).inner);
            }
        });
    }

    /// Not known: nothing in a run asks for it.
    fn next_hop(&self, _now: Time, _dst: NodeId) -> Option<NodeId> {
        None
    }

    fn take_route_changes(&mut self) -> Changes {
        Changes::NONE
    }
}
