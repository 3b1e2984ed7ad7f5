//! Constant bit rate over UDP: the source counts its packets, the destination has no state.
//! *Deviation*: 5 in docs/models/traffic.md.

use super::lateness::Lateness;
use super::{End, Flow, FlowAction, FlowReport, Timer};
use crate::kernel::Time;
use crate::observe::{Delivery, FlowEvent, FlowMeasures, Meter};
use crate::traffic::CbrSource;
use crate::wire::{Ecn, FlowId, Packet, Payload};

/// See the module's head.
pub(super) struct CbrFlow {
    id: FlowId,
    source: CbrSource,
    payload_bytes: u32,
    /// Bytes of UDP and IP headers.
    overhead_bytes: u32,
    lateness: Lateness,
    /// Packets made so far.
    made: u64,
}

impl CbrFlow {
    /// A flow that has sent nothing.
    pub(super) fn new(
        id: FlowId,
        source: CbrSource,
        payload_bytes: u32,
        overhead_bytes: u32,
        lateness: Lateness,
    ) -> CbrFlow {
        CbrFlow { id, source, payload_bytes, overhead_bytes, lateness, made: 0 }
    }
}

impl Flow for CbrFlow {
    fn timers(&self) -> &'static [Timer] {
        &[Timer::Source]
    }

    fn next_timeout(&self, _timer: Timer) -> Time {
        self.source.next_timeout()
    }

    fn handle_timeout(&mut self, now: Time, _timer: Timer, actions: &mut Vec<FlowAction>) {
        if now < self.source.next_timeout() {
            return;
        }
        self.source.handle_timeout();
        let (at, two_way) = (End::Source, false);
        actions.push(FlowAction::Count(FlowEvent::CbrSent));
        if self.made == 0 {
            actions.push(FlowAction::Opened { at, two_way });
        }
        actions.push(FlowAction::Send {
            from: at,
            bytes: self.payload_bytes + self.overhead_bytes,
            payload: Payload::Udp(self.id, self.made),
            ecn: Ecn::NotEct,
        });
        self.made += 1;
        if self.source.next_timeout() == Time::NEVER {
            actions.push(FlowAction::Closed { at, two_way });
        }
    }

    fn handle_packet(&mut self, now: Time, packet: &Packet, is_first: bool, actions: &mut Vec<FlowAction>) {
        actions.push(match packet.payload {
            Payload::Udp(..) if self.lateness.applies(now, packet) => return,
            Payload::Udp(..) => {
                let delivery = Delivery::of(packet, self.payload_bytes, is_first);
                FlowAction::Count(FlowEvent::CbrDelivered(delivery))
            }
            _ => FlowAction::Broken("a CBR flow gets a packet that is not its own"),
        });
    }

    fn report(&self, meter: &Meter, _end: Time) -> FlowReport {
        let delays = Some(meter.delays(self.id));
        FlowReport { delays, ..FlowReport::of(FlowMeasures::Cbr(meter.cbr_measures(self.id))) }
    }
}
