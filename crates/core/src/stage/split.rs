//! A base station that makes two connections of one: indirect TCP (I-TCP).
//!
//! *Source:* Bakre and Badrinath, *I-TCP: indirect TCP for mobile hosts*, ICDCS 1995. Summaries of it were
//! read, not the paper: a connection is split at the base station, each half has a transport of its own, and
//! what the base station has acknowledged may never arrive. Read `relay/mod.rs` first.
//!
//! **Implemented.** The base station answers the source in the name of the destination, and sends to the
//! destination in the name of the source. The SYN passes through: the source's is answered when the
//! destination has answered that of the base station. What arrives in order is written to the second
//! connection, and takes room in the buffer until the destination acknowledges it. The window towards the
//! source is the room that is left (RFC 9293 §3.8.6). Either end may be the mobile one. A base station that
//! crashes forgets its connections; what the source sends on them afterwards is dropped, where a host would
//! answer with a reset.
//!
//! **Not implemented.** Hand-off to another base station, as static routes never change; Web sessions, whose
//! connections close before everything has arrived.
//!
//! *Deviations*: in docs/models/wired-links.md.

use super::relay::{Halves, Outputs, Relay, SplitFlow, Station};
use crate::kernel::Time;
use crate::wire::Ecn;
use crate::wire::tcp::Segment;

/// A base station of I-TCP.
pub(super) type Split = Station<Halves>;

/// The receiver acknowledges what arrives, and the sender sends it on.
impl Relay for Halves {
    fn new(flow: &SplitFlow) -> Halves {
        Halves::of(flow)
    }

    fn handle_data(&mut self, now: Time, segment: &Segment, ecn: Ecn, out: &mut Outputs) {
        self.take_data(now, segment, ecn, out);
    }

    fn handle_ack(&mut self, now: Time, segment: &Segment, out: &mut Outputs) {
        self.take_ack(now, segment, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Outputs) {
        self.sender.handle_timeout(now, &mut out.sender);
        self.receiver.handle_timeout(now, &mut out.receiver);
    }

    fn next_timeout(&self) -> Time {
        self.sender.next_timeout().min(self.receiver.next_timeout())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::drops::DropReason;
    use crate::kernel::Span;
    use crate::stage::relay::Splits;
    use crate::stage::relay::testbench::{self, Bench, HOST, ID, Line, MOBILE, Seg, small};
    use crate::stage::{Interceptor, InterceptorAction};
    use crate::transport::tcp::{RouteFailureScheme, Sender, SplitSender, TcpParams, TcpVariant};
    use crate::wire::{FlowId, Packet, Payload};

    fn flow(params: &TcpParams) -> SplitFlow {
        testbench::flow(params, params.of_relay())
    }

    /// ```text
    /// host     SYN       1          2     3           ...
    ///           |   1   2|   2         3      4           opens
    /// mobile   SYN  |ACK 1         (no ACK)        ACK 2
    /// ```
    #[test]
    fn the_syn_passes_through_and_the_buffer_is_the_window() {
        let mut bench = Bench::<Halves>::new(flow(&small()));
        assert_eq!(bench.host(0), [Seg::Data(0)]);
        assert_eq!(bench.host(0), [], "sent again before the mobile has answered");
        assert_eq!(bench.mobile(1), [Seg::Ack(1, 3)]);
        assert_eq!(bench.host(0), [Seg::Ack(1, 3)], "its answer was lost");
        assert_eq!(bench.host(1), [Seg::Ack(2, 2), Seg::Data(1)]);
        assert_eq!(bench.host(2), [Seg::Ack(3, 1), Seg::Data(2)]);
        assert_eq!(bench.host(3), [Seg::Ack(4, 0), Seg::Data(3)]);
        assert_eq!(bench.host(4), [Seg::Ack(4, 0)], "there is no room");
        assert_eq!(bench.mobile(3), [Seg::Ack(4, 2)], "two have left, and the window opens");
        assert_eq!(bench.host(4), [Seg::Ack(5, 1), Seg::Data(4)]);
    }

    /// The base station repairs the loss alone: its ACKs to the host ask for nothing again.
    #[test]
    fn what_the_radio_loses_is_sent_again_from_the_buffer() {
        let mut bench = Bench::<Halves>::new(flow(&TcpParams { split_buffer_bytes: 65_536, ..small() }));
        bench.host(0);
        bench.mobile(1);
        (1..=5).for_each(|number| drop(bench.host(number)));
        assert_eq!(bench.mobile(2), [Seg::Data(4), Seg::Data(5)]);
        assert_eq!([bench.mobile(2), bench.mobile(2)], [[], []]);
        assert_eq!(bench.mobile(2), [Seg::Data(2)], "the third duplicate");
        assert_eq!(bench.mobile(6), []);
        assert_eq!(bench.station.next_timeout(), Time::NEVER, "the buffer is empty");
        bench.host(6);
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Data(6)], 1.0), "its own timer");
    }

    #[test]
    fn the_second_connection_has_parameters_of_its_own() {
        let own = TcpParams { split_sender: SplitSender::Sack, split_rto_min_s: 0.2, ..small() };
        assert!(own.of_second_connection().sack && !own.of_relay().sack);
        assert_eq!(own.of_second_connection().rto_min_s.to_bits(), 0.2_f64.to_bits());
        assert_eq!(own.of_relay().rto_min_s.to_bits(), own.rto_min_s.to_bits());
        let same = TcpParams { variant: TcpVariant::Cubic, route_failure: RouteFailureScheme::Elfn, ..own };
        let same = TcpParams { split_sender: SplitSender::Same, ..same }.of_second_connection();
        assert_eq!((same.variant, same.route_failure), (TcpVariant::Cubic, RouteFailureScheme::None));
    }

    #[test]
    fn a_crash_forgets_the_buffer_and_the_connection() {
        let mut bench = Bench::<Halves>::new(flow(&small()));
        bench.host(0);
        bench.mobile(1);
        bench.host(1);
        bench.station.handle_crash(&mut Vec::new());
        assert_eq!(bench.station.next_timeout(), Time::NEVER);
        let segment =
            Segment::Data { number: 2, payload: 1000, sent: bench.now, retransmission: false, cwr: false };
        let out = bench.carry(HOST, MOBILE, segment);
        assert!(matches!(out[..], [InterceptorAction::Drop(_, DropReason::FlowEnded)]), "{out:?}");
    }

    #[test]
    fn other_packets_pass() {
        let mut station = Split::new(Splits::from([(ID, flow(&small()))]));
        let signs = Segment::Ack { next: 1, sack: Default::default(), signs: Default::default() };
        let other = |payload| Packet { uid: 1, ..Packet::control(Time::ZERO, HOST, MOBILE, 9, 40, payload) };
        for packet in [
            other(Payload::Tcp(FlowId(4).into(), signs.clone())),
            other(Payload::Nothing),
            Packet { uid: Packet::UNNUMBERED, ..other(Payload::Tcp(ID.into(), signs)) },
        ] {
            let mut out = Vec::new();
            assert_eq!(station.handle_outgoing(Time::ZERO, packet.clone(), &mut out), Some(packet));
            assert_eq!(out, []);
        }
    }

    /// Bytes in = bytes out + buffer, what is out has arrived, and what is acknowledged is in.
    fn check(line: &Line<Halves>) -> Result<(), TestCaseError> {
        let Some(halves) = line.station.connections.get(&ID) else { return Ok(()) };
        let (came, left) = (halves.receiver.counters().bytes_in_order, halves.sender.counters().bytes_acked);
        prop_assert_eq!(came, halves.written);
        prop_assert_eq!(came, left + halves.receiver.unread_bytes());
        prop_assert!(halves.receiver.unread_bytes() <= 3999);
        let arrived = line.mobile.counters().bytes_in_order;
        prop_assert!(left <= arrived && arrived <= came);
        prop_assert!(line.host.counters().bytes_acked <= came);
        Ok(())
    }

    proptest! {
        /// Whatever is lost on either side, and however small the buffer is.
        #[test]
        fn bytes_in_are_bytes_out_and_the_buffer(
            losses in prop::collection::vec(prop::bool::weighted(0.2), 0..400),
            bytes in 1u64..30_000,
        ) {
            let params = small();
            let host = Sender::new(&params, Span::ZERO);
            let mut line = Line::<Halves>::new(host, flow(&params), losses, Vec::new());
            line.write(Some(bytes));
            while line.step() {
                check(&line)?;
                prop_assert!(line.now < Time::from_secs(100_000.0), "it does not come to its end");
            }
            prop_assert_eq!(line.host.counters().bytes_acked, bytes);
            prop_assert_eq!(line.mobile.counters().bytes_in_order, bytes);
        }
    }
}
