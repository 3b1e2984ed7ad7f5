//! What a base station does about losses on the radio behind it: snoop, its parts, and explicit loss
//! notification.
//!
//! *Source:* Balakrishnan, Padmanabhan, Seshan and Katz, *A comparison of mechanisms for improving TCP
//! performance over wireless links*, IEEE/ACM Transactions on Networking 5(6), 1997, §III.
//!
//! A base station is a node with a wired link. It reads the segments and ACKs of connections from hosts at
//! the other ends of its wires to nodes that are not. A duplicate ACK for a segment that it has sent over the
//! radio tells that the radio lost it. An ACK that brings another window and no new SACK block is no
//! duplicate (RFC 5681 §2), here as at the sender.
//!
//! | `tcp.base_station` | a lost segment | its duplicate ACKs |
//! |---|---|---|
//! | `eln` | is left to the sender | go on, with the sign that the loss was no congestion |
//! | `arq` | is sent again from here | go on |
//! | `snoop` | is sent again from here | end here |
//!
//! **Implemented.** A copy of every segment until it is acknowledged; local retransmission at the first
//! duplicate ACK, again when more come than segments were under way, and at a timeout of twice the smoothed
//! round trip over the radio, at least 200 ms. A segment that the sender has sent again itself, or that was
//! lost before the base station, or dropped by its own interface queue or ARP, is the sender's business, and
//! so are its duplicate ACKs: such a loss is congestion, and no sign is given for it. The round trip is
//! measured by ACKs for segments that were all sent once.
//!
//! **Not implemented.** Data towards the wire; connections between hosts on wires; priority of local
//! retransmissions in the interface queue; a limit of the copies, which the sender's window bounds.
//!
//! *Deviations*: in docs/models/wired-links.md.

use std::collections::BTreeMap;

use super::{Interceptor, InterceptorAction};
use crate::drops::{DropReason, Layer};
use crate::kernel::{Span, Time};
use crate::transport::tcp::BaseStationMode;
use crate::wire::tcp::{AckSigns, SackBlocks, Segment};
use crate::wire::{ConnectionId, NodeId, Packet, Payload};

/// The shortest timeout of a local retransmission: the paper's granularity.
const LEAST_TIMEOUT: Span = Span::from_millis(200);

/// A segment that has gone over the radio and is not acknowledged.
struct Sent {
    packet: Packet,
    at: Time,
    /// Is it the sender's business: sent again by it, or late because it was lost before?
    is_senders: bool,
    /// Has it been sent again from here?
    again: bool,
}

/// What is known of a connection.
#[derive(Default)]
struct Connection {
    /// The greatest number that an ACK asked for.
    asked: u32,
    /// The receiver's window and the SACK blocks of the last ACK; none before the first.
    told: Option<(u16, SackBlocks)>,
    /// By number.
    sent: BTreeMap<u32, Sent>,
    /// Duplicate ACKs still expected because of segments that were under way at the last retransmission.
    expected: u32,
    /// Smoothed round trip over the radio.
    srtt: Option<Span>,
    /// When the first segment is sent again, if it is not acknowledged.
    deadline: Option<Time>,
}

/// One base station. See the module's head. Calls come in order of time.
pub(super) struct BaseStation {
    mode: BaseStationMode,
    /// At the other ends of its wires; none at nodes that are no base stations.
    hosts: Vec<NodeId>,
    connections: BTreeMap<ConnectionId, Connection>,
}

impl BaseStation {
    /// A base station with wires to these hosts.
    pub(super) fn new(mode: BaseStationMode, hosts: Vec<NodeId>) -> BaseStation {
        BaseStation { mode, hosts, connections: BTreeMap::new() }
    }

    /// Does it send again what the radio loses?
    fn retransmits(&self) -> bool {
        matches!(self.mode, BaseStationMode::Arq | BaseStationMode::Snoop)
    }

    /// A segment goes out over the radio.
    fn take_data(&mut self, now: Time, id: ConnectionId, number: u32, packet: &Packet) {
        let retransmits = self.retransmits();
        let connection = self.connections.entry(id).or_default();
        if number < connection.asked {
            return;
        }
        let is_late = connection.sent.last_key_value().is_some_and(|(&last, _)| number <= last);
        let packet = Packet { uid: Packet::UNNUMBERED, ..packet.clone() };
        connection.sent.insert(number, Sent { packet, at: now, is_senders: is_late, again: false });
        if retransmits && connection.deadline.is_none() {
            connection.deadline = Some(now + connection.timeout());
        }
    }

    /// An ACK goes on towards the sender. False if it ends here.
    fn take_ack(
        &mut self,
        now: Time,
        id: ConnectionId,
        (next, sack, signs): (u32, &SackBlocks, &mut AckSigns),
        out: &mut Vec<InterceptorAction>,
    ) -> bool {
        let (mode, retransmits) = (self.mode, self.retransmits());
        let Some(connection) = self.connections.get_mut(&id) else { return true };
        let news = connection.hear(signs.window, sack);
        if next > connection.asked {
            connection.acknowledge(now, next, retransmits);
            return true;
        }
        let under_way = connection.sent.range(next.saturating_add(1)..).count() as u32;
        let Some(lost) = connection.sent.get_mut(&next).filter(|_| next == connection.asked) else {
            return true;
        };
        if lost.is_senders || news == News::Window {
            return true;
        }
        if mode == BaseStationMode::Eln {
            signs.eln = true;
            return true;
        }
        if connection.expected == 0 {
            // This duplicate is the first of those that the segments under way cause.
            connection.expected = under_way.saturating_sub(1);
            lost.again = true;
            out.push(InterceptorAction::Route(lost.packet.clone()));
            connection.deadline = Some(now + connection.timeout());
        } else {
            connection.expected -= 1;
        }
        // The sender must learn of another window, whatever brings it.
        mode != BaseStationMode::Snoop || news == News::WindowAndBlocks
    }
}

/// What an ACK says beside the number that it asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum News {
    /// The window of the ACK before it.
    Nothing,
    /// Another window alone.
    Window,
    /// Another window, and other SACK blocks.
    WindowAndBlocks,
}

impl Connection {
    /// What does an ACK tell that the one before it did not?
    fn hear(&mut self, window: u16, sack: &SackBlocks) -> News {
        match self.told.replace((window, sack.clone())) {
            Some((before, blocks)) if before != window && blocks == *sack => News::Window,
            Some((before, _)) if before != window => News::WindowAndBlocks,
            _ => News::Nothing,
        }
    }

    fn timeout(&self) -> Span {
        self.srtt.map_or(LEAST_TIMEOUT, |srtt| (srtt * 2).max(LEAST_TIMEOUT))
    }

    /// All segments below `next` have arrived.
    fn acknowledge(&mut self, now: Time, next: u32, retransmits: bool) {
        // As Karn: an ACK says nothing of the round trip if one of its segments was sent twice. That is true
        // of the last of them as well, whose ACK has waited for the repair of a loss before it.
        let is_clean = self.sent.range(..next).all(|(_, each)| !each.again && !each.is_senders);
        if let Some(last) = self.sent.get(&(next - 1)).filter(|_| is_clean) {
            let rtt = now.since(last.at);
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| Span((7 * srtt.0 + rtt.0) / 8)));
        }
        self.sent = self.sent.split_off(&next);
        (self.asked, self.expected) = (next, 0);
        self.deadline = (retransmits && !self.sent.is_empty()).then(|| now + self.timeout());
    }
}

impl Interceptor for BaseStation {
    fn handle_outgoing(
        &mut self,
        now: Time,
        mut packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        let is_host = |node: NodeId| self.hosts.contains(&node);
        let (from_host, to_host) = (is_host(packet.src), is_host(packet.dst));
        // A copy that was made here has no number yet.
        if from_host == to_host || packet.uid == Packet::UNNUMBERED {
            return Some(packet);
        }
        let passes = match &mut packet.payload {
            &mut Payload::Tcp(id, Segment::Data { number, .. }) if from_host => {
                self.take_data(now, id, number, &packet);
                true
            }
            Payload::Tcp(id, Segment::Ack { next, sack, signs }) if to_host => {
                self.take_ack(now, *id, (*next, sack, signs), out)
            }
            _ => true,
        };
        if passes {
            return Some(packet);
        }
        out.push(InterceptorAction::Drop(packet, DropReason::Suppressed));
        None
    }

    // What the radio has not lost, the network has: the sender must learn of it.
    fn handle_dropped(
        &mut self,
        _now: Time,
        packet: &Packet,
        reason: DropReason,
        _out: &mut Vec<InterceptorAction>,
    ) {
        let &Payload::Tcp(id, Segment::Data { number, .. }) = &packet.payload else { return };
        if !self.hosts.contains(&packet.src) || !matches!(reason.layer(), Layer::InterfaceQueue | Layer::Arp)
        {
            return;
        }
        if let Some(connection) = self.connections.get_mut(&id)
            && connection.sent.get(&number).is_some_and(|sent| !sent.again)
        {
            connection.sent.remove(&number);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        for connection in self.connections.values_mut() {
            if connection.deadline.is_none_or(|deadline| deadline > now) {
                continue;
            }
            let under_way = connection.sent.len().saturating_sub(1) as u32;
            connection.deadline = None;
            if let Some(first) = connection.sent.values_mut().next() {
                first.again = true;
                out.push(InterceptorAction::Route(first.packet.clone()));
                connection.expected = under_way;
                connection.deadline = Some(now + connection.timeout());
            }
        }
    }

    fn next_timeout(&self) -> Time {
        self.connections.values().filter_map(|each| each.deadline).min().unwrap_or(Time::NEVER)
    }

    fn handle_crash(&mut self, _out: &mut Vec<InterceptorAction>) {
        self.connections.clear();
    }

    // Its copies are no packets of the network before they are sent.
    fn kept(&self, _visit: &mut dyn FnMut(&Packet)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::FlowId;
    use crate::wire::tcp::WHOLE_WINDOW;

    const CONNECTION: ConnectionId = ConnectionId { flow: FlowId(0), number: 0 };
    const HOST: NodeId = NodeId(0);
    const MOBILE: NodeId = NodeId(2);
    const PASSES: (bool, bool, Vec<u32>) = (true, false, Vec::new());

    /// A base station and its clock. Two words: `radio`, a segment that goes out; `ack`, one that goes back.
    struct Bench {
        station: BaseStation,
        now: Time,
    }

    fn number(packet: &Packet) -> u32 {
        match packet.payload {
            Payload::Tcp(CONNECTION, Segment::Data { number, .. }) => number,
            _ => panic!("not a segment with data: {packet:?}"),
        }
    }

    fn numbered(src: NodeId, dst: NodeId, segment: Segment) -> Packet {
        let packet = Packet::control(Time::ZERO, src, dst, 30, 40, Payload::Tcp(CONNECTION, segment));
        Packet { uid: 1, ..packet }
    }

    impl Bench {
        fn new(mode: BaseStationMode) -> Bench {
            Bench { station: BaseStation::new(mode, vec![HOST]), now: Time::ZERO }
        }

        /// Segments 1 to `last` have gone out, and segment 1 is acknowledged.
        fn after(mode: BaseStationMode, last: u32) -> Bench {
            let mut bench = Bench::new(mode);
            (1..=last).for_each(|number| bench.radio(number));
            assert_eq!(bench.ack(2), PASSES);
            bench
        }

        fn radio(&mut self, number: u32) {
            let segment =
                Segment::Data { number, payload: 1000, sent: self.now, retransmission: false, cwr: false };
            let (packet, mut out) = (numbered(HOST, MOBILE, segment), Vec::new());
            assert_eq!(self.station.handle_outgoing(self.now, packet.clone(), &mut out), Some(packet));
            assert_eq!(out, []);
        }

        /// A segment is dropped at the base station.
        fn dropped(&mut self, number: u32, reason: DropReason) {
            let segment =
                Segment::Data { number, payload: 1000, sent: self.now, retransmission: false, cwr: false };
            let (packet, mut out) = (numbered(HOST, MOBILE, segment), Vec::new());
            self.station.handle_dropped(self.now, &packet, reason, &mut out);
            assert_eq!(out, []);
        }

        /// Does the ACK go on, has it the sign of ELN, and which segments are sent again?
        fn ack(&mut self, next: u32) -> (bool, bool, Vec<u32>) {
            self.ack_with(next, WHOLE_WINDOW, &[])
        }

        /// The same of an ACK with this window and these SACK blocks.
        fn ack_with(&mut self, next: u32, window: u16, sack: &[(u32, u32)]) -> (bool, bool, Vec<u32>) {
            let signs = AckSigns { window, ..AckSigns::default() };
            let segment = Segment::Ack { next, sack: SackBlocks::from_slice(sack), signs };
            let mut out = Vec::new();
            let passed = self.station.handle_outgoing(self.now, numbered(MOBILE, HOST, segment), &mut out);
            let is_told = passed.as_ref().is_some_and(|packet| match &packet.payload {
                Payload::Tcp(_, Segment::Ack { signs, .. }) => signs.eln,
                _ => false,
            });
            let again = self.again(out);
            (passed.is_some(), is_told, again)
        }

        /// Copies go out past the base station; suppressed ACKs end.
        fn again(&mut self, out: Vec<InterceptorAction>) -> Vec<u32> {
            let mut numbers = Vec::new();
            for action in out {
                match action {
                    InterceptorAction::Route(copy) => {
                        assert_eq!(copy.uid, Packet::UNNUMBERED);
                        let passed = self.station.handle_outgoing(self.now, copy.clone(), &mut Vec::new());
                        assert_eq!(passed.as_ref(), Some(&copy));
                        numbers.push(number(&copy));
                    }
                    InterceptorAction::Drop(_, DropReason::Suppressed) => {}
                    other => panic!("not of a base station: {other:?}"),
                }
            }
            numbers
        }

        /// The next deadline comes: after how many milliseconds, and what is sent again?
        fn wait(&mut self) -> (u64, Vec<u32>) {
            let (before, mut out) = (self.now, Vec::new());
            self.now = self.station.next_timeout();
            self.station.handle_timeout(self.now, &mut out);
            (self.now.since(before).0 / 1_000_000, self.again(out))
        }
    }

    /// ```text
    /// radio  1 2 3 4 5           2 6           2
    ///          x                 x             |
    /// ACKs   2   2 2 2             2 (of 6)    7
    /// ```
    #[test]
    fn snoop_sends_again_once_for_all_that_was_under_way() {
        let mut bench = Bench::after(BaseStationMode::Snoop, 5);
        assert_eq!(bench.ack(2), (false, false, vec![2]));
        assert_eq!([bench.ack(2), bench.ack(2)], [(false, false, vec![]), (false, false, vec![])]);
        bench.radio(6);
        assert_eq!(bench.ack(2), (false, false, vec![2]), "the copy was lost, too");
        assert_eq!(bench.ack(7), PASSES);
        assert_eq!(bench.station.next_timeout(), Time::NEVER);
    }

    #[test]
    fn a_link_layer_that_does_not_know_tcp_lets_duplicates_pass() {
        let mut bench = Bench::after(BaseStationMode::Arq, 5);
        assert_eq!(bench.ack(2), (true, false, vec![2]));
        assert_eq!([bench.ack(2), bench.ack(2)], [PASSES, PASSES]);
    }

    #[test]
    fn eln_gives_the_sign_and_sends_nothing() {
        let mut bench = Bench::after(BaseStationMode::Eln, 3);
        assert_eq!([bench.ack(2), bench.ack(2)], [(true, true, vec![]), (true, true, vec![])]);
        assert_eq!(bench.station.next_timeout(), Time::NEVER);
        assert_eq!(bench.ack(4), PASSES);
        assert_eq!(bench.ack(4), PASSES, "nothing is under way that could be lost");
        assert_eq!(bench.ack(3), PASSES, "an old one");
    }

    /// Segment 2 was lost on the wire, or is late; or its sender has sent it again itself.
    #[test]
    fn what_is_the_senders_business_is_left_to_it() {
        for mode in [BaseStationMode::Arq, BaseStationMode::Snoop] {
            let mut bench = Bench::new(mode);
            [1, 3, 4].into_iter().for_each(|number| bench.radio(number));
            assert_eq!([bench.ack(2), bench.ack(2)], [PASSES, PASSES]);
            bench.radio(2);
            assert_eq!(bench.ack(2), PASSES);
            let mut bench = Bench::after(mode, 3);
            bench.radio(2);
            assert_eq!(bench.ack(2), PASSES);
        }
    }

    /// The timeout is 200 ms, or twice the round trip.
    #[test]
    fn without_acks_the_first_segment_is_sent_again() {
        let mut bench = Bench::new(BaseStationMode::Snoop);
        [1, 2, 3].into_iter().for_each(|number| bench.radio(number));
        assert_eq!((bench.wait(), bench.wait()), ((200, vec![1]), (200, vec![1])));
        bench.now = Time(550_000_000);
        assert_eq!(bench.ack(3), PASSES, "segment 1 was sent twice: it says nothing of the round trip");
        assert_eq!(bench.wait(), (200, vec![3]));
        bench.radio(4);
        bench.now = Time(bench.now.0 + 300_000_000);
        assert_eq!(bench.ack(4), PASSES, "segment 3 was sent twice");
        assert_eq!(bench.ack(5), PASSES, "segment 4 took 300 ms");
        bench.radio(5);
        assert_eq!(bench.wait(), (600, vec![5]));
    }

    /// ```text
    /// radio  1 2 3 4 5     2
    ///          x           |
    /// ACKs     2 2 2 2     6 (of 2 to 5)
    /// ```
    #[test]
    fn an_ack_that_waited_for_a_repair_says_nothing_of_the_round_trip() {
        let mut bench = Bench::new(BaseStationMode::Snoop);
        bench.radio(1);
        bench.now = Time(150_000_000);
        assert_eq!(bench.ack(2), PASSES);
        (2..=5).for_each(|number| bench.radio(number));
        assert_eq!(bench.ack(2), (false, false, vec![2]));
        bench.now = Time(2_000_000_000);
        assert_eq!(bench.ack(6), PASSES, "segment 5 was sent once, but its ACK waited for segment 2");
        bench.radio(6);
        assert_eq!(bench.wait(), (300, vec![6]), "twice the 150 ms of segment 1");
    }

    #[test]
    fn what_the_queue_drops_is_congestion() {
        for mode in [BaseStationMode::Eln, BaseStationMode::Arq, BaseStationMode::Snoop] {
            let mut bench = Bench::after(mode, 5);
            bench.dropped(2, DropReason::QueueFull);
            assert_eq!([bench.ack(2), bench.ack(2), bench.ack(2)], [PASSES, PASSES, PASSES], "{mode:?}");
            bench.radio(2);
            assert_eq!(bench.ack(2), PASSES, "{mode:?}: the sender has sent it again");
            assert_eq!(bench.ack(6), PASSES);
        }
    }

    #[test]
    fn what_the_link_layer_gives_up_was_lost_by_the_radio() {
        let mut bench = Bench::after(BaseStationMode::Eln, 3);
        bench.dropped(2, DropReason::LinkFailure);
        assert_eq!(bench.ack(2), (true, true, vec![]));
        let mut bench = Bench::after(BaseStationMode::Snoop, 4);
        bench.dropped(2, DropReason::LinkFailure);
        assert_eq!(bench.ack(2), (false, false, vec![2]));
        bench.dropped(2, DropReason::QueueFull);
        assert_eq!(bench.wait(), (200, vec![2]), "a copy that the queue drops is sent again from here");
    }

    /// RFC 5681 §2. The reader frees room: 4, 5 and 6 segments. Then the window stays: segment 2 is lost.
    #[test]
    fn an_ack_with_another_window_is_no_duplicate() {
        for (mode, dup) in [
            (BaseStationMode::Eln, (true, true, vec![])),
            (BaseStationMode::Arq, (true, false, vec![2])),
            (BaseStationMode::Snoop, (false, false, vec![2])),
        ] {
            let mut bench = Bench::new(mode);
            (1..=5).for_each(|number| bench.radio(number));
            assert_eq!(bench.ack_with(2, 4, &[]), PASSES);
            assert_eq!([bench.ack_with(2, 5, &[]), bench.ack_with(2, 6, &[])], [PASSES, PASSES], "{mode:?}");
            assert_eq!(bench.ack_with(2, 6, &[]), dup, "{mode:?}");
        }
    }

    /// With SACK a new block tells of a duplicate, as at the sender. If it brings another window, it goes on.
    #[test]
    fn a_new_block_beside_another_window_tells_of_a_duplicate() {
        let mut bench = Bench::new(BaseStationMode::Snoop);
        (1..=5).for_each(|number| bench.radio(number));
        assert_eq!(bench.ack_with(2, 4, &[]), PASSES);
        assert_eq!(bench.ack_with(2, 5, &[(3, 4)]), (true, false, vec![2]));
        assert_eq!(bench.ack_with(2, 5, &[(3, 5)]), (false, false, vec![]));
    }

    /// A round trip of 800 ms, and one of none: 7/8 of the first, and the timeout is twice that.
    #[test]
    fn a_new_round_trip_counts_an_eighth() {
        let mut bench = Bench::new(BaseStationMode::Snoop);
        bench.radio(1);
        bench.now = Time(800_000_000);
        assert_eq!(bench.ack(2), PASSES);
        [2, 3].into_iter().for_each(|number| bench.radio(number));
        assert_eq!(bench.ack(3), PASSES);
        assert_eq!(bench.wait(), (1400, vec![3]));
    }

    #[test]
    fn what_goes_the_other_way_is_not_touched() {
        let mut bench = Bench::new(BaseStationMode::Snoop);
        let segment =
            Segment::Data { number: 1, payload: 1, sent: Time::ZERO, retransmission: false, cwr: false };
        for (src, dst) in [(MOBILE, HOST), (HOST, HOST), (MOBILE, NodeId(3))] {
            bench.station.handle_outgoing(Time::ZERO, numbered(src, dst, segment.clone()), &mut Vec::new());
        }
        assert!(bench.station.connections.is_empty());
    }
}
