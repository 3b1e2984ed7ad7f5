//! Between the channel and the layers above it: frames go out, and who hears them acts.

use std::rc::Rc;

use crate::channel::{Heard, What};
use crate::drops::DropReason;
use crate::kernel::Time;
use crate::mac::MacAction;
use crate::mobility::Path;
use crate::wire::NodeId;
use crate::wire::mac::{Body, Frame};

use super::{Network, Target};

impl Network<'_> {
    /// Is the node not there now? It neither sends nor hears then.
    pub(super) fn is_absent(&self, node: u32) -> bool {
        !self.is_up(node, self.clock.now)
    }

    /// Is, or was, the node there at this time, and its battery not empty?
    pub(super) fn is_up(&self, node: u32, at: Time) -> bool {
        let paths = self.comings.as_deref();
        paths.is_none_or(|paths| paths[node as usize].is_present(at)) && !self.channel.is_dead(node, at)
    }

    /// Can any node be absent, or its battery empty?
    #[inline]
    fn may_go(&self) -> bool {
        self.comings.is_some() || self.channel.has_batteries()
    }

    /// Was the node, or the sender, not up all the time that a transmission took? Then it has not heard,
    /// or not sent, all of the frame.
    #[inline]
    fn is_cut_short(&self, node: u32, id: u32) -> bool {
        let stay_up = |(from, start)| self.stays_up(node, start) && self.stays_up(from, start);
        self.may_go() && !self.channel.sender(id).is_none_or(stay_up)
    }

    /// Is the node up now, and has it been since then?
    fn stays_up(&self, node: u32, since: Time) -> bool {
        let paths = self.comings.as_deref();
        let is_there = |paths: &[Path]| paths[node as usize].is_present_throughout(since, self.clock.now);
        paths.is_none_or(is_there) && !self.channel.is_dead(node, self.clock.now)
    }

    /// Puts a frame on the air.
    pub(super) fn transmit(&mut self, node: u32, frame: Frame) {
        // What a MAC still tries when its node has left reaches nobody.
        if !self.is_absent(node) {
            self.accounts.meter.frame_sent(self.clock.now, &frame);
            self.channel.spend_on_sending(&mut self.clock, node, &frame);
            self.channel.use_to_send(self.clock.now, node, &frame);
        }
        let id = self.channel.free_place(node).unwrap_or_else(|| {
            let slot = self.add_slot(Target::Air(self.channel.places()));
            self.channel.add_place(slot)
        });
        self.channel.transmit(&mut self.clock, &mut self.accounts.watch, node, id, frame);
    }

    /// A transmission begins, or its next last bits arrive.
    pub(super) fn continue_transmission(&mut self, id: u32) {
        let heard = self.channel.handle_due(&mut self.clock, &mut self.accounts.watch, id);
        self.act_on(heard);
    }

    /// The next first bits under way are due.
    pub(super) fn continue_frame_starts(&mut self) {
        let heard = self.channel.deliver_frame_starts(&mut self.clock, &mut self.accounts.watch);
        self.act_on(heard);
    }

    /// Lets those act who hear a frame, one after the other.
    fn act_on(&mut self, mut heard: Option<Heard>) {
        while let Some(of) = heard {
            match of.what {
                What::Received => self.receive(of.node, of.id),
                What::Overheard => self.tap(of.node, of.id),
                What::Missing => return self.break_off(NodeId(of.node), "a frame arrives that nobody sends"),
            }
            heard = self.channel.poll(&mut self.clock, &mut self.accounts.watch, of);
        }
    }

    /// A node has received a transmission that it must act on.
    fn receive(&mut self, node: u32, id: u32) {
        if self.is_cut_short(node, id) {
            return self.channel.miss(&mut self.clock, node);
        }
        self.accounts.watch.received(self.clock.now, node, id, self.channel.frame(id));
        let mut actions = self.mac_actions.pop().unwrap_or_default();
        match self.channel.receive(&self.clock, node, id, &mut actions) {
            Some(false) => {}
            Some(true) => self.discard(node, &mut actions),
            None => self.break_off(NodeId(node), "a frame is received that nobody sends"),
        }
        self.finish_mac(node, actions);
    }

    /// What a damaged frame carried is lost at its receiver, which has acknowledged it.
    fn discard(&mut self, node: u32, actions: &mut Vec<MacAction>) {
        let delivered = actions.extract_if(.., |action| matches!(action, MacAction::Deliver { .. }));
        for action in delivered.collect::<Vec<_>>() {
            let MacAction::Deliver { body, .. } = action else { continue };
            if let Body::Ip(packet) = &*body {
                self.accounts.audit.receive(packet);
            }
            self.drop_body(node, &body, DropReason::Damaged);
        }
    }

    /// The last bit of a frame has reached, intact, a node that the frame may not be for: routing sees it.
    fn tap(&mut self, node: u32, id: u32) {
        if self.is_cut_short(node, id) {
            return;
        }
        let Some(&Frame { from, to, body: Some(ref body), .. }) = self.channel.frame(id) else { return };
        let body = Rc::clone(body);
        if let Body::Ip(packet) = &*body {
            let power_w = self.hears_power.then(|| self.channel.rx_power_w(node));
            self.with_routing(node, |routing, now, actions| {
                if let Some(power_w) = power_w {
                    routing.handle_rx_power(now, from, power_w);
                }
                routing.handle_overheard(now, packet, from, to, actions);
            });
        }
    }
}
