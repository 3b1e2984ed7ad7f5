//! Nodes that crash: they forget everything, and start anew when they are there again.
//!
//! **Contract.** When the slot of a node is due, [`Crashes::take_step`] says what happens, and
//! [`Crashes::set_deadline`] sets its next deadline. [`Crashes::crash`] returns what the node held above its
//! MAC, all of which is lost. [`Crashes::start`] gives it routing, which must be started and told of the
//! connections that are returned. [`Crashes::note`] is shown all that routing is told of connections, and
//! says whether it can be told.

use std::collections::{BTreeSet, VecDeque};

use super::down::Down;
use super::{Maker, Station};
use crate::kernel::{Clock, Slot, Time};
use crate::mobility::{Path, Trajectory};
use crate::routing::ConnectionEvent;
use crate::wire::NodeId;
use crate::wire::mac::Body;

/// What happens to a node that crashes, in this order where it does so at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Step {
    Crashes,
    Starts,
}

/// See the module's head. All vectors are by node.
pub(crate) struct Crashes<'r> {
    maker: Maker<'r>,
    /// What is to come.
    steps: Vec<VecDeque<(Time, Step)>>,
    slots: Vec<Slot>,
    /// How often each node has started anew.
    starts: Vec<u32>,
    /// Who has crashed and not started since.
    is_down: Vec<bool>,
    /// The connections from each node that are open, which its applications tell routing again.
    open: Vec<Vec<(NodeId, bool)>>,
}

/// When a node crashes, and when it starts anew: when it is there next.
fn steps(trajectory: &Trajectory, path: &Path) -> VecDeque<(Time, Step)> {
    let back = |crash| if path.is_present(crash) { crash } else { path.next_presence_change(crash) };
    let all =
        trajectory.crashes.iter().flat_map(|&crash| [(crash, Step::Crashes), (back(crash), Step::Starts)]);
    let in_order: BTreeSet<(Time, Step)> = all.filter(|&(at, _)| at < Time::NEVER).collect();
    in_order.into_iter().collect()
}

impl<'r> Crashes<'r> {
    /// The crashes of the maker's scenario, and for each node a slot; none if it has none.
    pub(crate) fn new(maker: Maker<'r>, add_slot: impl FnMut(u32) -> Slot) -> Option<Crashes<'r>> {
        let movement = &maker.scenario.movement;
        if movement.iter().all(|node| node.crashes.is_empty()) {
            return None;
        }
        let nodes = movement.len();
        let slots = (0..nodes as u32).map(add_slot).collect();
        let steps = movement.iter().zip(maker.paths.iter()).map(|(node, path)| steps(node, path)).collect();
        let (starts, is_down, open) = (vec![0; nodes], vec![false; nodes], vec![Vec::new(); nodes]);
        Some(Crashes { maker, steps, slots, starts, is_down, open })
    }

    /// Sets the deadline of the node's next step.
    pub(crate) fn set_deadline(&self, clock: &mut Clock, node: u32) {
        let next = self.steps[node as usize].front().map_or(Time::NEVER, |step| step.0);
        clock.agenda.set(self.slots[node as usize], next);
    }

    /// The node's next step, which is due.
    pub(crate) fn take_step(&mut self, node: u32) -> Option<Step> {
        self.steps[node as usize].pop_front().map(|step| step.1)
    }

    /// The node forgets everything; what it held is returned.
    pub(crate) fn crash(&mut self, node: u32, station: &mut Station) -> Vec<Body> {
        self.is_down[node as usize] = true;
        self.starts[node as usize] += 1;
        let held = station.held();
        (station.queue, station.arp) = self.maker.link_layer(node, self.starts[node as usize]);
        station.routing = Box::new(Down);
        held
    }

    /// The node is there again, with new routing; what that must be told is returned.
    pub(crate) fn start(&mut self, node: u32, station: &mut Station) -> Vec<ConnectionEvent> {
        self.is_down[node as usize] = false;
        station.routing = self.maker.routing(node, self.starts[node as usize]);
        let open = self.open[node as usize].iter();
        open.map(|&(dst, two_way)| ConnectionEvent::Opened { dst, two_way }).collect()
    }

    /// Remembers which connections are open, of which a node that starts anew must be told. False if the node
    /// cannot be told now.
    pub(crate) fn note(&mut self, node: u32, event: ConnectionEvent) -> bool {
        let open = &mut self.open[node as usize];
        match event {
            ConnectionEvent::Opened { dst, two_way } => open.push((dst, two_way)),
            ConnectionEvent::Closed { dst, two_way } => {
                if let Some(place) = open.iter().position(|&each| each == (dst, two_way)) {
                    open.remove(place);
                }
            }
            ConnectionEvent::RetransmissionTimeout { .. } => {}
        }
        !self.is_down[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::Presence;

    fn secs(s: f64) -> Time {
        Time::from_secs(s)
    }

    /// The steps of a node that is there from 0 to 10 s and from 20 to 30 s, and crashes at these times.
    fn steps_of(crashes: &[f64]) -> VecDeque<(Time, Step)> {
        let present = [(0.0, 10.0), (20.0, 30.0)];
        let present = present.map(|(from, until)| Presence { from: secs(from), until: secs(until) }).to_vec();
        let crashes = crashes.iter().copied().map(secs).collect();
        let trajectory = Trajectory { present, crashes, ..Trajectory::fixed(0.0, 0.0) };
        steps(&trajectory, &Path::new(&trajectory))
    }

    #[test]
    fn a_node_that_crashes_while_it_is_there_starts_at_once() {
        assert_eq!(steps_of(&[5.0]), [(secs(5.0), Step::Crashes), (secs(5.0), Step::Starts)]);
    }

    #[test]
    fn a_node_that_crashes_as_it_leaves_or_while_it_is_away_starts_when_it_is_back_once() {
        let wanted = [(10.0, Step::Crashes), (15.0, Step::Crashes), (20.0, Step::Starts)];
        let wanted = wanted.map(|(at_s, step)| (secs(at_s), step));
        assert_eq!(steps_of(&[10.0, 15.0]), wanted);
    }

    #[test]
    fn a_node_that_crashes_when_it_is_gone_for_good_never_starts() {
        assert_eq!(steps_of(&[30.0]), [(secs(30.0), Step::Crashes)]);
    }
}
