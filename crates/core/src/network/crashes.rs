//! A node crashes, and what it held is lost; it is there again, and its routing starts anew.

use std::rc::Rc;

use super::Network;
use crate::drops::DropReason;
use crate::kernel::Time;
use crate::station::Step;
use crate::wire::mac::Body;

impl Network<'_> {
    /// The node's next step is due.
    pub(super) fn crash_or_start(&mut self, node: u32) {
        let Some(crashes) = &mut self.crashes else { return };
        let step = crashes.take_step(node);
        crashes.set_deadline(&mut self.clock, node);
        match step {
            Some(Step::Crashes) => self.crash(node),
            Some(Step::Starts) => self.start_anew(node),
            None => {}
        }
    }

    /// The node forgets everything: what it holds is lost.
    fn crash(&mut self, node: u32) {
        let Some(crashes) = &mut self.crashes else { return };
        let station = &mut self.stations[node as usize];
        let mut lost = crashes.crash(node, station);
        self.clock.agenda.set(station.routing_slot, Time::NEVER);
        if let Some(&slot) = self.arp_slots.get(node as usize) {
            self.clock.agenda.set(slot, Time::NEVER);
        }
        lost.extend(self.channel.restart(&mut self.clock, node).map(Rc::unwrap_or_clone));
        for body in lost {
            self.lose(node, body);
        }
        for delayed in self.delays.extract(&mut self.clock.agenda, |delayed| delayed.is_at(node)) {
            self.lose(node, delayed.into_body());
        }
        self.with_interceptor(node, |interceptor, _, out| interceptor.handle_crash(out));
        self.watch_queue(node);
        self.look_at_routes(node);
    }

    fn lose(&mut self, node: u32, mut body: Body) {
        if let Body::Ip(packet) = &mut body {
            self.accounts.number(packet);
        }
        self.drop_body(node, &body, DropReason::Absent);
    }

    /// The node is there again: routing starts, and learns of the connections that are open.
    fn start_anew(&mut self, node: u32) {
        let Some(crashes) = &mut self.crashes else { return };
        let open = crashes.start(node, &mut self.stations[node as usize]);
        self.let_routes_wait(node);
        self.accounts.watch.routing_is_new(node);
        self.with_routing(node, |routing, now, actions| routing.handle_start(now, actions));
        for event in open {
            self.with_routing(node, |routing, now, actions| routing.handle_connection(now, event, actions));
        }
    }
}
