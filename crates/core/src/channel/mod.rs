//! The channel that all nodes share: frames on the air, and the MACs that send and hear them.
//!
//! Every node has one transmission, with one entry in the event queue. First its first bit reaches the nodes
//! in carrier-sense range (`first_bits.rs`), then its last bit those that must act on it (`last_bits.rs`),
//! each at its own time. Nearly always nothing else is due before a first bit can reach the farthest node;
//! then all are served at once, in order of nodes: what one does then cannot reach another in between.
//! Otherwise the first bits of all transmissions concerned wait in one list, in order of time, which is left
//! whenever something else comes first. So are last bits.
//!
//! **Contract.** [`Channel::transmit`] puts a frame on the air. [`Channel::handle_due`] is called when the
//! deadline of a transmission has come, [`Channel::deliver_frame_starts`] when that of first bits has. Each
//! moves the clock on as far as nothing else is due, and returns at the first node that must act on a frame
//! ([`Heard`]). When that node has acted, [`Channel::poll`] goes on, until it returns nothing. In between the
//! MACs may be called, and may transmit.

mod batteries;
mod first_bits;
mod last_bits;
#[cfg(test)]
mod tests;
mod transmission;
mod utilisation;

use std::rc::Rc;
use std::sync::Arc;

use crate::kernel::{Clock, Slot, Span, Streams, Time};
use crate::mac::{Dcf, MacAction, ReceiverRules, ShortWay, Signal, Timing};
use crate::mobility::Path;
use crate::observe::{Receptions, Watching};
use crate::radio::{Arrival, BitErrors, Environment, Index, Noise, Propagation};
use crate::scenario::Scenario;
use crate::wire::mac::{Body, Frame};

use batteries::Batteries;
use first_bits::FrameStart;
use transmission::{Phase, Transmission};
use utilisation::Utilisation;

/// Who must act on the frame of a transmission, now. Small, so that it is returned in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    pub(crate) node: u32,
    /// The transmission.
    pub(crate) id: u32,
    pub(crate) what: What,
}

/// What has happened to the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// The node has received it.
    Received,
    /// It has reached, intact, a node that it may not be for, and routing listens.
    Overheard,
    /// There is none: an invariant does not hold.
    Missing,
}

/// First bits of which one waits until its node has acted, at the same instant, on a frame that has ended.
struct Awaiting {
    node: u32,
    signal: Signal,
    then: Then,
}

/// What follows the first bit that waits.
#[derive(Clone, Copy)]
enum Then {
    /// Other first bits of this transmission, which are served at once, from this place among those that
    /// remain.
    Serve { id: u32, place: usize },
    /// First bits in order of time; this transmission has reached its last node.
    FrameStarts { reached: Option<u32> },
}

/// See the module's head.
pub(crate) struct Channel {
    /// By node.
    pub(crate) macs: Vec<Dcf>,
    mac_slots: Vec<Slot>,
    pub(crate) timing: Timing,
    rules: ReceiverRules,
    short_way: ShortWay,
    /// The squared distance up to which a frame can be received, by its rate, in m².
    reaches_m2: Vec<f64>,
    index: Index,
    /// None where no bit is ever wrong.
    bit_errors: Option<Box<BitErrors>>,
    /// None where thresholds decide about what is decoded.
    noise: Option<Box<Noise>>,
    /// Is there one of these?
    has_errors: bool,
    /// None where energy is not counted.
    batteries: Option<Box<Batteries>>,
    /// None where no queue asks for it.
    utilisation: Option<Box<Utilisation>>,
    /// Does routing listen to packets that are addressed to others?
    pub(crate) taps: bool,
    /// One for each node, by node. More, should a node transmit while another frame of its is still on the
    /// way.
    transmissions: Vec<Transmission>,
    /// Those beyond one for each node that are free.
    free: Vec<u32>,
    /// Used again for arrivals that do not go the short way.
    remaining: Vec<Arrival>,
    /// How many of them there are; what follows is left over.
    left: usize,
    /// First bits under way that something else may come before, the last one first.
    frame_starts: Vec<FrameStart>,
    /// When the next of them is due.
    frame_starts_slot: Slot,
    /// The longest delay of a first bit.
    longest: Span,
    awaiting: Option<Box<Awaiting>>,
    /// Transmissions that arrive damaged and are acknowledged and discarded, with their receivers.
    spoiled: Vec<(u32, u32)>,
    /// First bits that reached receivers.
    pub(crate) arrivals: u64,
    /// Those of them whose frames were meant for the receiver and strong enough to be decoded.
    meant: u64,
    /// Those of them that errors of bits damaged.
    damaged: u64,
}

impl Channel {
    /// A channel without nodes, over the movement of those that come.
    pub(crate) fn new(scenario: &Scenario, paths: &Arc<[Path]>, clock: &Clock) -> Channel {
        let params = &scenario.params;
        let propagation = Propagation::new(&params.radio);
        let timing = Timing::new(&params.mac);
        let streams = Streams::new(scenario.seed, scenario.replication);
        let noise = Noise::new(&params.radio, &timing.headers(), &streams);
        let rules = ReceiverRules::new(&params.radio, &timing).with_noise(noise.as_ref());
        let nodes = scenario.movement.len();
        // Noise decides about all that is sensed.
        let reach_m2 = |bps| if noise.is_some() { f64::INFINITY } else { propagation.receive_m2(bps) };
        let bit_error_rate = params.radio.bit_error_rate;
        let bit_errors = BitErrors::new(bit_error_rate, timing.code().cloned(), nodes as u32, &streams);
        let index = Index::new(propagation, Arc::clone(paths), clock.end).within(Environment::new(
            &params.radio,
            &scenario.surroundings(),
            &streams,
        ));
        Channel {
            macs: Vec::with_capacity(nodes),
            mac_slots: Vec::with_capacity(nodes),
            short_way: ShortWay::new(&rules, &timing),
            reaches_m2: timing.rates_bps().map(reach_m2).collect(),
            timing,
            rules,
            longest: index.longest_delay(),
            index,
            has_errors: bit_errors.is_some() || noise.is_some(),
            bit_errors: bit_errors.map(Box::new),
            noise: noise.map(Box::new),
            batteries: Batteries::new(scenario, paths),
            utilisation: Utilisation::new(scenario),
            taps: false,
            transmissions: Vec::with_capacity(nodes),
            free: Vec::new(),
            remaining: Vec::new(),
            left: 0,
            frame_starts: Vec::new(),
            frame_starts_slot: Slot(0),
            awaiting: None,
            spoiled: Vec::new(),
            arrivals: 0,
            meant: 0,
            damaged: 0,
        }
    }

    /// Adds the next node's MAC and its slot.
    pub(crate) fn add_mac(&mut self, mac: Dcf, slot: Slot) {
        self.macs.push(mac);
        self.mac_slots.push(slot);
    }

    /// All nodes are there: their transmissions get their slots, and first bits under way theirs.
    pub(crate) fn open(&mut self, transmissions: Vec<Slot>, frame_starts: Slot) {
        self.transmissions.extend(transmissions.into_iter().map(Transmission::new));
        self.frame_starts_slot = frame_starts;
    }

    /// Sets the deadline of a node's MAC, which has been called.
    #[inline]
    pub(crate) fn set_mac_deadline(&self, clock: &mut Clock, node: u32) {
        let mac = &self.macs[node as usize];
        clock.agenda.set(self.mac_slots[node as usize], mac.next_timeout(&self.timing));
    }

    /// Where the node's next transmission goes: its own place, or another one if that is still on the way,
    /// when a frame follows sooner than signals travel. None if there must be one more
    /// ([`Channel::add_place`]).
    #[inline]
    pub(crate) fn free_place(&mut self, node: u32) -> Option<u32> {
        if self.transmissions[node as usize].frame.is_none() { Some(node) } else { self.free.pop() }
    }

    /// How many places there are for transmissions.
    pub(crate) fn places(&self) -> u32 {
        self.transmissions.len() as u32
    }

    /// Adds a place for a transmission.
    pub(crate) fn add_place(&mut self, slot: Slot) -> u32 {
        self.transmissions.push(Transmission::new(slot));
        self.places() - 1
    }

    /// Puts a node's frame on the air, in a place that is free.
    pub(crate) fn transmit(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        node: u32,
        id: u32,
        frame: Frame,
    ) {
        watch.frame_begins(clock.now, node, id, &frame, &self.macs[node as usize]);
        let transmission = &mut self.transmissions[id as usize];
        // Routing may listen to IP packets for others.
        transmission.tapped = self.taps && matches!(frame.body.as_deref(), Some(Body::Ip(_)));
        transmission.receive_m2 = self.reaches_m2[frame.rate.index()];
        transmission.frame = Some(frame);
        transmission.start = clock.now;
        transmission.phase = Phase::Start;
        // Looked at before anything else, to find out whether all can be served at once.
        clock.agenda.set(transmission.slot, clock.now);
    }

    /// The frame of a transmission that is on its way.
    #[inline]
    pub(crate) fn frame(&self, id: u32) -> Option<&Frame> {
        self.transmissions[id as usize].frame.as_ref()
    }

    /// Who sends a transmission that is on its way, and since when.
    pub(crate) fn sender(&self, id: u32) -> Option<(u32, Time)> {
        Some((self.frame(id)?.from.0, self.transmissions[id as usize].start))
    }

    /// The power at which the node has just received a frame, in W.
    pub(crate) fn rx_power_w(&self, node: u32) -> f64 {
        self.index.power_w(self.macs[node as usize].heard_from_m2())
    }

    /// The node's MAC forgets everything. What it was trying to send comes back.
    pub(crate) fn restart(&mut self, clock: &mut Clock, node: u32) -> Option<Rc<Body>> {
        let lost = self.macs[node as usize].restart(&self.timing);
        self.set_mac_deadline(clock, node);
        lost
    }

    /// The deadline of a transmission has come: it begins, or its next last bits arrive.
    #[inline]
    pub(crate) fn handle_due(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        id: u32,
    ) -> Option<Heard> {
        match self.transmissions[id as usize].phase {
            Phase::Start => self.begin_frame_starts(clock, watch, id),
            Phase::FrameStarts => None,
            Phase::FrameEnds => self.deliver_frame_ends(clock, watch, id),
        }
    }

    /// Goes on after a node has acted on what it heard.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        clock: &mut Clock,
        watch: &mut Watching<'_>,
        heard: Heard,
    ) -> Option<Heard> {
        if self.awaiting.is_some() {
            self.end_waiting(clock, watch)
        } else {
            self.reach_next_ends(clock, watch, heard.id)
        }
    }

    /// The node's MAC acts on the frame that it has received. True if that was damaged, and what it carried
    /// is lost; none if nobody sends the frame.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        clock: &Clock,
        node: u32,
        id: u32,
        out: &mut Vec<MacAction>,
    ) -> Option<bool> {
        let frame = self.transmissions[id as usize].frame.as_ref()?;
        self.macs[node as usize].handle_received(clock.now, frame, &self.timing, out);
        Some(self.spoiled.contains(&(id, node)))
    }

    /// The node is not there, or the sender has gone: its MAC forgets the frame that has ended.
    pub(crate) fn miss(&mut self, clock: &mut Clock, node: u32) {
        self.macs[node as usize].handle_missed(clock.now);
        self.set_mac_deadline(clock, node);
    }

    /// What became of the frames that were meant for their receivers.
    pub(crate) fn receptions(&self) -> Receptions {
        Receptions {
            meant: self.meant,
            collided: self.macs.iter().map(Dcf::collisions).sum(),
            damaged: (self.bit_errors.is_some() || self.noise.is_some()).then_some(self.damaged),
        }
    }
}
