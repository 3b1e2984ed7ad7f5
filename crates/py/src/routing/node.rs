//! What a protocol in Python knows of its node, and what it asks of it.

use std::collections::BTreeMap;

use manetlab_core::drops::{DropReason, Layer};
use manetlab_core::kernel::{Span, Stream, Time};
use manetlab_core::routing::{Action, Notice, Place};
use manetlab_core::wire::{IP_HEADER_BYTES, NodeId, Packet as CorePacket};
use pyo3::prelude::*;

use super::packet::{Packet, State, message};
use super::{length, misuse};

/// Longest delay of an action, in s.
const MAX_DELAY_S: f64 = 1e6;

/// A node's own stream of random numbers.
#[pyclass(module = "manetlab._core")]
pub(crate) struct Random(pub(super) Stream);

#[pymethods]
impl Random {
    /// Uniform on [0, 1).
    fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Uniform on [low, high).
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0.uniform(low, high)
    }

    /// Uniform on 0, 1, …, n − 1.
    fn below(&mut self, n: u32) -> PyResult<u32> {
        if n == 0 {
            let text = "below(n) draws from 0 to n − 1: n must be at least 1";
            return Err(pyo3::exceptions::PyValueError::new_err(text));
        }
        Ok(self.0.below(n))
    }
}

/// One node, as `manetlab.Routing` uses it.
#[pyclass(module = "manetlab._core")]
pub(crate) struct Node {
    pub(super) id: NodeId,
    pub(super) now: Time,
    pub(super) actions: Vec<Action>,
    /// Packets that the protocol keeps, in the order in which it said so.
    pub(super) kept: BTreeMap<u64, Py<Packet>>,
    next_key: u64,
    place: Place,
    /// How strong the frame was that brought the packet of this call, in W.
    pub(super) rx_power_w: Option<f64>,
}

impl Node {
    pub(super) fn new(place: Place) -> Node {
        let (id, now) = (place.node(), Time::ZERO);
        Node { id, now, actions: Vec::new(), kept: BTreeMap::new(), next_key: 0, place, rx_power_w: None }
    }

    /// Takes a packet from the protocol, which did this with it.
    fn take(&mut self, packet: &mut Packet, how: &'static str) -> PyResult<CorePacket> {
        packet.check_owned(self.id)?;
        if let State::Kept(key) = packet.state {
            self.kept.remove(&key);
        }
        packet.state = State::Ended(how);
        Ok(packet.inner.clone())
    }

    fn node(&self, what: &str, node: i64) -> PyResult<NodeId> {
        let known = u32::try_from(node).ok().filter(|node| (*node as usize) < self.place.nodes());
        known.map(NodeId).ok_or_else(|| {
            let wanted = format!("a node from 0 to {}", self.place.nodes() - 1);
            misuse(what, self.id, &node.to_string(), &wanted, "nodes are numbered from 0")
        })
    }

    fn neighbour(&self, node: i64) -> PyResult<NodeId> {
        let found = self.node("the next hop is not known", node)?;
        if found == self.id {
            let hint = "deliver hands a packet to this node's own transport";
            let what = "the next hop is the node itself";
            return Err(misuse(what, self.id, &node.to_string(), "another node", hint));
        }
        Ok(found)
    }

    fn delay(&self, delay_s: f64) -> PyResult<Span> {
        if (0.0..=MAX_DELAY_S).contains(&delay_s) {
            return Ok(Span::from_secs(delay_s));
        }
        let wanted = format!("0 to {MAX_DELAY_S} s");
        let hint = "a delay begins now: delay = time − self.now";
        Err(misuse("the delay is not allowed", self.id, &format!("{delay_s} s"), &wanted, hint))
    }
}

#[pymethods]
impl Node {
    #[getter]
    fn id(&self) -> u32 {
        self.id.0
    }

    #[getter]
    fn rx_power_w(&self) -> Option<f64> {
        self.rx_power_w
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.place.nodes()
    }

    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs()
    }

    fn position(&self, node: Option<i64>) -> PyResult<(f64, f64)> {
        let node = node.map_or(Ok(self.id), |node| self.node("no such node", node))?;
        let point = self.place.position_of(node, self.now).unwrap_or_default();
        Ok((point.x, point.y))
    }

    fn send(&mut self, packet: &mut Packet, next_hop: i64, delay_s: f64) -> PyResult<()> {
        let (next_hop, delay) = (self.neighbour(next_hop)?, self.delay(delay_s)?);
        let packet = self.take(packet, "sent")?;
        self.actions.push(Action::Send { packet, next_hop, delay });
        Ok(())
    }

    fn broadcast(&mut self, packet: &mut Packet, delay_s: f64) -> PyResult<()> {
        let delay = self.delay(delay_s)?;
        let packet = self.take(packet, "broadcast")?;
        self.actions.push(Action::Broadcast { packet, delay });
        Ok(())
    }

    fn deliver(&mut self, packet: &mut Packet) -> PyResult<()> {
        if !packet.inner.is_data() || packet.inner.dst != self.id {
            let hint = "send on what is for others; consume messages of the protocol";
            let what = "the packet cannot be delivered here";
            return Err(misuse(what, self.id, &packet.__repr__(), "data for this node", hint));
        }
        let packet = self.take(packet, "delivered")?;
        self.actions.push(Action::Deliver(packet));
        Ok(())
    }

    fn drop(&mut self, packet: &mut Packet, reason: &str) -> PyResult<()> {
        let known = || DropReason::ALL.iter().filter(|known| known.layer() == Layer::Routing);
        let Some(&reason) = known().find(|known| known.name() == reason) else {
            let wanted = known().map(|known| known.name()).collect::<Vec<_>>().join(", ");
            let hint = "`manetlab docs metrics` says what each of them means";
            let what = "no such reason to drop a packet";
            return Err(misuse(what, self.id, &format!("{reason:?}"), &wanted, hint));
        };
        let packet = self.take(packet, "dropped")?;
        self.actions.push(Action::Drop(packet, reason));
        Ok(())
    }

    fn consume(&mut self, packet: &mut Packet) -> PyResult<()> {
        if packet.inner.is_data() || packet.inner.uid == CorePacket::UNNUMBERED {
            let hint = "deliver or drop data; a new packet that is not sent needs nothing";
            let wanted = "a message of the protocol that has arrived";
            let what = "the packet cannot be consumed";
            return Err(misuse(what, self.id, &packet.__repr__(), wanted, hint));
        }
        let packet = self.take(packet, "consumed")?;
        self.actions.push(Action::Consume(packet));
        Ok(())
    }

    fn keep(&mut self, packet: &Bound<'_, Packet>) -> PyResult<()> {
        let mut taken = packet.borrow_mut();
        taken.check_owned(self.id)?;
        if taken.inner.uid == CorePacket::UNNUMBERED {
            let hint = "a new packet that is not sent yet needs nothing";
            let what = "the packet cannot be kept";
            return Err(misuse(what, self.id, &taken.__repr__(), "a packet that has come in", hint));
        }
        if taken.state == State::Open {
            taken.state = State::Kept(self.next_key);
            self.kept.insert(self.next_key, packet.clone().unbind());
            self.next_key += 1;
        }
        Ok(())
    }

    fn kept(&self, py: Python<'_>) -> Vec<Py<Packet>> {
        self.kept.values().map(|packet| packet.clone_ref(py)).collect()
    }

    fn make_packet(
        &self,
        payload: &Bound<'_, PyAny>,
        payload_bytes: i64,
        destination: Option<i64>,
        ttl: i64,
    ) -> PyResult<Packet> {
        let dst = match destination {
            Some(node) => self.node("the destination is not known", node)?,
            None => NodeId::BROADCAST,
        };
        let Ok(ttl @ 1..) = u8::try_from(ttl) else {
            let hint = "1 is for the neighbours alone";
            let what = "the time to live is not allowed";
            return Err(misuse(what, self.id, &ttl.to_string(), "1 to 255 hops", hint));
        };
        let bytes = length(payload_bytes.saturating_add(IP_HEADER_BYTES.into()), self.id)?;
        let packet = CorePacket::control(self.now, self.id, dst, ttl, bytes, message(payload)?);
        Ok(Packet::new(packet, State::Open, self.id))
    }

    fn flush_queue(&mut self, next_hop: Option<i64>) -> PyResult<()> {
        let next_hop = next_hop.map_or(Ok(NodeId::BROADCAST), |node| self.neighbour(node))?;
        self.actions.push(Action::FlushQueue(next_hop));
        Ok(())
    }

    fn notify_route_failed(&mut self, destination: i64, told: bool) -> PyResult<()> {
        let dst = self.node("the destination is not known", destination)?;
        self.actions.push(Action::Notify(Notice::RouteFailed { dst, told }));
        Ok(())
    }

    fn notify_route_found(&mut self, destination: i64) -> PyResult<()> {
        let dst = self.node("the destination is not known", destination)?;
        self.actions.push(Action::Notify(Notice::RouteFound { dst }));
        Ok(())
    }
}
