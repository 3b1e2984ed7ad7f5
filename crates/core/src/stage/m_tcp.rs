//! A base station that supervises connections: M-TCP.
//!
//! *Source:* Brown and Singh, *M-TCP: TCP for mobile cellular networks*, Computer Communication Review 27(5),
//! 1997. Its abstract and its author's page (web.cecs.pdx.edu/~singh/mtcp.html) were read, not the rest: the
//! base station acknowledges what the mobile node has acknowledged, but for the last byte; when the node
//! fades, it acknowledges that byte with a window of zero, and when the node is back, it sends a duplicate
//! ACK that opens the window. Read `relay/mod.rs` first.
//!
//! | state | the source is told | left by |
//! |---|---|---|
//! | in reach | what the mobile has, but for the last segment | silence for `m_tcp_silence_s` → cut off |
//! | cut off | all that the mobile has, with a window of zero | an ACK from the mobile → in reach |
//!
//! **Implemented.** An ACK at a disconnection is a new one, as it has the segment that was kept back: 4.4BSD
//! takes no smaller window from an old one. The last segment is acknowledged after `m_tcp_release_s` if
//! nothing else is on its way to the mobile, and at once if a segment from the wire is missing or comes
//! again. Duplicate ACKs for a missing segment go out when the mobile has all before it, each for one
//! arrival. While the mobile is cut off, the sender towards it is frozen and polls it; afterwards it sends
//! all that is outstanding again, with window and timers as they were.
//!
//! **Not implemented.** Hand-off to another base station; a manager of the cell's bandwidth; a mobile that
//! says itself when it is back; flows from a mobile, which pass; Web sessions.
//!
//! *Deviations*: in docs/models/wired-links.md.

use std::collections::BTreeMap;

use super::relay::{Halves, Outputs, Relay, SplitFlow, Station};
use crate::kernel::{Span, Time};
use crate::transport::tcp::ReceiverOutput;
use crate::wire::Ecn;
use crate::wire::tcp::{Segment, WHOLE_WINDOW};

/// A base station of M-TCP, a supervisory host.
pub(super) type Supervisory = Station<Supervised>;

/// One connection. `acked <= receiver.first_unread() <= receiver.next_number()`: what the source is told has
/// arrived at the mobile, and what has arrived there has come from the source.
pub(super) struct Supervised {
    halves: Halves,
    /// The number of the first segment with payload.
    first_data: u32,
    /// The number that the source was told last.
    acked: u32,
    /// Segments that came after a missing one, and whose duplicate ACKs are due, in order of arrival.
    owed: Vec<u32>,
    is_cut_off: bool,
    /// When the mobile is taken to be cut off, if it is not heard before.
    silent_at: Time,
    silence: Span,
    /// When the last segment is acknowledged, if no other follows.
    release_at: Time,
    release: Span,
    /// When those segments were sent that are not acknowledged, and what was echoed last. Without time stamps
    /// empty, and [`Time::NEVER`].
    stamps: BTreeMap<u32, Time>,
    echo: Time,
    has_stamps: bool,
    sack_option_bytes: u32,
}

impl Supervised {
    /// What has arrived at the mobile: the first number that has not, as far as its ACKs tell.
    fn arrived(&self) -> u32 {
        self.halves.receiver.first_unread()
    }

    /// What the source may be told now.
    fn due(&self) -> u32 {
        let arrived = self.arrived();
        let keeps_last = !self.is_cut_off && !self.halves.receiver.has_gap() && arrived > self.first_data;
        self.acked.max(arrived - u32::from(keeps_last))
    }

    /// Has the mobile all that has come in order?
    fn has_all(&self) -> bool {
        self.arrived() == self.halves.receiver.next_number()
    }

    /// Tells the source what it may be told, and sets the deadlines. Was it told anything?
    fn settle(&mut self, out: &mut Outputs) -> bool {
        let due = self.due();
        let mut has_told = due > self.acked;
        if has_told {
            self.tell(due, None, out);
        }
        if self.has_all() {
            has_told |= !self.owed.is_empty();
            for cause in std::mem::take(&mut self.owed) {
                self.tell(due, Some(cause), out);
            }
        }
        if !self.has_all() || self.acked == self.arrived() {
            self.release_at = Time::NEVER;
        }
        has_told
    }

    /// The silence of a mobile that something is on its way to is counted from now, unless it is already.
    fn watch(&mut self, now: Time) {
        let waits = !self.is_cut_off && !self.has_all() && self.halves.sender.has_outstanding();
        if waits && self.silent_at == Time::NEVER {
            self.silent_at = now + self.silence;
        }
    }

    /// An ACK of `next`, with the window up to the end of the buffer; a duplicate if a segment beyond `next`
    /// is its cause. Only duplicates have SACK blocks: an ACK of new data would use up the news that makes
    /// them duplicates (RFC 6675 §5).
    fn tell(&mut self, next: u32, cause: Option<u32>, out: &mut Outputs) {
        self.acked = next;
        let room = self.halves.receiver.room() + self.halves.receiver.next_number() - next;
        let open = u16::try_from(room).unwrap_or(WHOLE_WINDOW).min(WHOLE_WINDOW - 1);
        let later = self.stamps.split_off(&next);
        self.echo = self.stamps.pop_last().map_or(self.echo, |(_, sent)| sent);
        self.stamps = later;
        let mut fresh = Vec::new();
        self.halves.receiver.answer(cause, &mut fresh);
        for mut output in fresh {
            if let ReceiverOutput::Send {
                segment: Segment::Ack { next: number, sack, signs }, bytes, ..
            } = &mut output
            {
                *number = next;
                signs.window = if self.is_cut_off { 0 } else { open };
                signs.echo = self.echo;
                if cause.is_none() && !sack.is_empty() {
                    *bytes -= self.sack_option_bytes + 8 * sack.len() as u32;
                    sack.clear();
                }
            }
            out.receiver.push(output);
        }
    }

    /// The mobile is cut off: the source's window is closed, and the second connection stands still.
    fn cut_off(&mut self, now: Time, out: &mut Outputs) {
        self.is_cut_off = true;
        self.silent_at = Time::NEVER;
        self.tell(self.arrived(), None, out);
        self.halves.sender.handle_route_failed(now, &mut out.sender);
    }
}

impl Relay for Supervised {
    fn new(flow: &SplitFlow) -> Supervised {
        let params = &flow.receiver;
        Supervised {
            halves: Halves::of(flow).that_polls(Span::from_secs(params.m_tcp_poll_s)),
            first_data: u32::from(params.connection_setup),
            acked: 0,
            owed: Vec::new(),
            is_cut_off: false,
            silent_at: Time::NEVER,
            silence: Span::from_secs(params.m_tcp_silence_s),
            release_at: Time::NEVER,
            release: Span::from_secs(params.m_tcp_release_s),
            stamps: BTreeMap::new(),
            echo: if params.timestamps { Time::ZERO } else { Time::NEVER },
            has_stamps: params.timestamps,
            sack_option_bytes: params.sack_option_bytes,
        }
    }

    fn handle_data(&mut self, now: Time, segment: &Segment, ecn: Ecn, out: &mut Outputs) {
        let &Segment::Data { number, sent, .. } = segment else { return };
        let next = self.halves.receiver.next_number();
        if self.has_stamps && number >= self.acked {
            self.stamps.entry(number).or_insert(sent);
        }
        let mut taken = Outputs::default();
        self.halves.take_data(now, segment, ecn, &mut taken);
        out.sender.append(&mut taken.sender);
        if self.halves.receiver.next_number() > next {
            // What was missing is here, and duplicates have become pointless.
            self.owed.clear();
        } else if number < next {
            // The source repeats what has come, or probes: it shall wait no longer.
            self.tell(self.arrived(), None, out);
        } else if number > next {
            self.owed.push(number);
        }
        self.settle(out);
        self.watch(now);
    }

    fn handle_ack(&mut self, now: Time, segment: &Segment, out: &mut Outputs) {
        let before = self.arrived();
        let mut taken = Outputs::default();
        self.halves.take_ack(now, segment, &mut taken);
        out.sender.append(&mut taken.sender);
        let was_cut_off = std::mem::take(&mut self.is_cut_off);
        if was_cut_off {
            self.halves.sender.handle_route_found(now, &mut out.sender);
        }
        if self.arrived() > before {
            self.release_at = now + self.release;
        }
        if !self.settle(out) && was_cut_off {
            self.tell(self.acked, None, out);
        }
        self.silent_at = Time::NEVER;
        self.watch(now);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Outputs) {
        if now >= self.silent_at {
            self.cut_off(now, out);
        }
        if now >= self.release_at {
            self.release_at = Time::NEVER;
            self.tell(self.arrived(), None, out);
        }
        self.halves.sender.handle_timeout(now, &mut out.sender);
        self.watch(now);
    }

    fn next_timeout(&self) -> Time {
        self.halves.sender.next_timeout().min(self.silent_at).min(self.release_at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stage::relay::testbench::{self, Bench, HOST, ID, Line, MOBILE, Seg, small};
    use crate::stage::{Interceptor, InterceptorAction};
    use crate::transport::tcp::{Sender, TcpParams};
    use crate::wire::{NodeId, Payload};

    fn flow(params: &TcpParams) -> SplitFlow {
        testbench::flow(params, params.of_supervisor())
    }

    /// A connection that is set up.
    fn set_up(params: &TcpParams) -> Bench<Supervised> {
        let mut bench = Bench::new(flow(params));
        assert_eq!(bench.host(0), [Seg::Data(0)]);
        let window = (params.split_buffer_bytes / 1000) as u16;
        assert_eq!(bench.mobile(1), [Seg::Ack(1, window)], "of the SYN nothing is kept back");
        bench
    }

    fn second(bench: &Bench<Supervised>) -> &Sender {
        &bench.station.connections[&ID].halves.sender
    }

    /// ```text
    /// host     1   2   3                    4 ...
    /// station                |ACK 2  |ACK 3   |ACK 4  100 ms later
    /// mobile             ACK 2   ACK 3   ACK 4
    /// ```
    /// The right edge of the window is always three segments beyond what the mobile has.
    #[test]
    fn what_the_mobile_has_is_acknowledged_but_for_the_last_segment() {
        let mut bench = set_up(&small());
        for number in 1..=3 {
            assert_eq!(bench.host(number), [Seg::Data(number)], "the mobile does not have it yet");
        }
        assert_eq!(bench.mobile(2), []);
        assert_eq!(bench.mobile(3), [Seg::Ack(2, 4)]);
        assert_eq!(bench.mobile(4), [Seg::Ack(3, 4)]);
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Ack(4, 3)], 0.1), "the last one");
        assert_eq!(bench.station.next_timeout(), Time::NEVER);
        // A segment that comes meanwhile ends the wait: it is another's turn to be the last.
        bench.host(4);
        assert_eq!(bench.mobile(5), []);
        assert_eq!(bench.host(5), [Seg::Data(5)]);
        assert_eq!(bench.mobile(6), [Seg::Ack(5, 4)]);
    }

    /// Nothing is heard for half a second, then every half second is a poll. The host's window is closed by a
    /// new ACK, opens with the first ACK from the mobile, and the second connection goes on as it was.
    #[test]
    fn a_mobile_that_is_not_heard_closes_the_window_until_it_is() {
        let mut bench = set_up(&small());
        (1..=3).for_each(|number| drop(bench.host(number)));
        assert_eq!(bench.mobile(2), []);
        let before = (second(&bench).cwnd().to_bits(), second(&bench).rto());
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Ack(2, 0)], 0.5));
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Data(2)], 1.0));
        assert_eq!(bench.host(2), [Seg::Ack(2, 0)], "the host probes");
        assert_eq!(bench.host_sends(1, 0), [Seg::Ack(2, 0)], "or so, if nothing of it is outstanding");
        assert_eq!(bench.host(4), [], "it was under way");
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Data(2)], 1.5));
        assert_eq!((second(&bench).cwnd().to_bits(), second(&bench).rto()), before);
        assert_eq!(bench.mobile(3), [Seg::Ack(2, 4), Seg::Data(3), Seg::Data(4)]);
        assert!(second(&bench).cwnd() >= f64::from_bits(before.0));
        assert_eq!((second(&bench).counters().timeouts, second(&bench).counters().freezes), (0, 1));
        assert_eq!(bench.mobile(5), [Seg::Ack(4, 4)]);
        assert_eq!(bench.wait(), [Seg::Ack(5, 3)]);
    }

    /// Between the mobile's ACKs half a second may pass; where nothing is on its way, any time.
    #[test]
    fn silence_counts_from_the_last_ack_and_only_while_something_is_outstanding() {
        let mut bench = set_up(&TcpParams { m_tcp_release_s: 0.5, ..small() });
        bench.host(1);
        bench.host(2);
        bench.now = Time::from_secs(0.4);
        assert_eq!(bench.mobile(2), []);
        assert_eq!(bench.station.next_timeout(), Time::from_secs(0.9));
        bench.now = Time::from_secs(0.8);
        assert_eq!(bench.mobile(2), [], "a duplicate is heard as well");
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Ack(2, 0)], 1.3));
        assert_eq!(bench.mobile(3), [Seg::Ack(2, 4)]);
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Ack(3, 3)], 1.8), "idle, not cut off");
    }

    /// What is missing is asked for at once, when the mobile has all before it: nothing is kept back, and
    /// each segment after the gap is a duplicate ACK.
    #[test]
    fn a_gap_from_the_wire_is_acknowledged_as_by_any_receiver() {
        let mut bench = set_up(&TcpParams { split_buffer_bytes: 65_536, ..small() });
        bench.host(1);
        assert_eq!(bench.mobile(2), [], "kept back");
        assert_eq!(bench.host(3), [Seg::Ack(2, 65), Seg::Ack(2, 65)]);
        assert_eq!([bench.host(4), bench.host(5)], [[Seg::Ack(2, 65)], [Seg::Ack(2, 65)]]);
        assert_eq!(bench.host(2), [2, 3, 4, 5].map(Seg::Data));
        assert_eq!(bench.mobile(6), [Seg::Ack(5, 66)]);
    }

    #[test]
    fn duplicate_acks_wait_for_what_is_under_way_to_the_mobile() {
        let mut bench = set_up(&TcpParams { split_buffer_bytes: 65_536, ..small() });
        bench.host(1);
        bench.host(2);
        assert_eq!([bench.host(4), bench.host(5)], [[], []], "the host would send 1 again");
        assert_eq!(bench.mobile(2), [Seg::Ack(2, 65)]);
        assert_eq!(bench.mobile(3), [Seg::Ack(3, 65), Seg::Ack(3, 65), Seg::Ack(3, 65)]);
        // What fills the gap before they were sent makes them pointless.
        bench.host(3);
        assert_eq!(bench.mobile(6), [Seg::Ack(5, 66)]);
        bench.host(6);
        assert_eq!(bench.host(8), [Seg::Ack(6, 65)], "of what the mobile has nothing is kept back");
        bench.host(7);
        assert_eq!(bench.mobile(9), [Seg::Ack(8, 66)]);
    }

    /// The host's timer was shorter than the wait, or an ACK was lost.
    #[test]
    fn a_segment_that_comes_again_is_answered_with_all_that_the_mobile_has() {
        let mut bench = set_up(&small());
        bench.host(1);
        assert_eq!(bench.mobile(2), []);
        assert_eq!(bench.host(1), [Seg::Ack(2, 3)]);
        assert_eq!(bench.host(0), [Seg::Ack(2, 3)]);
        assert_eq!(bench.station.next_timeout(), Time::NEVER);
    }

    /// Without a SYN the first segment is one like any other.
    #[test]
    fn a_first_segment_with_data_is_kept_back_too() {
        let mut bench = Bench::<Supervised>::new(flow(&TcpParams { connection_setup: false, ..small() }));
        assert_eq!(bench.host_sends(0, 1000), [Seg::Data(0)]);
        assert_eq!(bench.mobile(1), []);
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Ack(1, 3)], 0.1));
    }

    /// Of an ACK to the host: number, blocks, echo in ms, bytes.
    type Told = (u32, Vec<(u32, u32)>, u64, u32);

    fn acks(out: Vec<InterceptorAction>) -> Vec<Told> {
        let ack = |action| match action {
            InterceptorAction::Route(packet) => match packet.payload {
                Payload::Tcp(_, Segment::Ack { next, sack, signs }) => {
                    Some((next, sack.to_vec(), signs.echo.0 / 1_000_000, packet.bytes))
                }
                _ => None,
            },
            _ => None,
        };
        out.into_iter().filter_map(ack).collect()
    }

    /// Segments sent at 10, 20, 40 and 50 ms. A block would use up the news that makes a duplicate of SACK's,
    /// so ACKs of new data have none. What is echoed is the time of the last segment acknowledged.
    #[test]
    fn blocks_are_for_duplicates_and_echoes_are_of_what_is_acknowledged() {
        let mut bench =
            set_up(&TcpParams { sack: true, timestamps: true, split_buffer_bytes: 65_536, ..small() });
        let mut at = |ms: u64, (src, dst): (NodeId, NodeId), number: u32| {
            bench.now = Time::ZERO + Span::from_millis(ms);
            let (sent, retransmission) = (bench.now, false);
            acks(bench.carry(
                src,
                dst,
                match src == HOST {
                    true => Segment::Data { number, payload: 1000, sent, retransmission, cwr: false },
                    false => {
                        Segment::Ack { next: number, sack: Default::default(), signs: Default::default() }
                    }
                },
            ))
        };
        let (host, mobile) = ((HOST, MOBILE), (MOBILE, HOST));
        for (ms, number) in [(10, 1), (20, 2), (40, 4)] {
            assert_eq!(at(ms, host, number), []);
        }
        assert_eq!(at(60, mobile, 2), [(2, vec![], 10, 52)]);
        assert_eq!(at(70, mobile, 3), [(3, vec![], 20, 52), (3, vec![(4, 5)], 20, 64)]);
        assert_eq!(at(80, host, 5), [(3, vec![(4, 6)], 20, 64)]);
        assert_eq!(at(90, host, 3), []);
        assert_eq!(at(95, mobile, 6), [(5, vec![], 40, 52)]);
    }

    /// With SMART each duplicate ACK names the segment that caused it, however late it goes.
    #[test]
    fn duplicates_name_their_causes_with_smart() {
        let mut bench = set_up(&TcpParams { sack: true, smart: true, split_buffer_bytes: 65_536, ..small() });
        for number in [1, 3, 5] {
            bench.host(number);
        }
        let (sack, signs) = Default::default();
        let told = acks(bench.carry(MOBILE, HOST, Segment::Ack { next: 2, sack, signs }));
        let blocks: Vec<_> = told.into_iter().map(|(next, blocks, ..)| (next, blocks)).collect();
        assert_eq!(blocks, [(2, vec![]), (2, vec![(3, 4)]), (2, vec![(5, 6)])]);
    }

    /// A host with a line to the mobile that loses these packets and is interrupted so.
    fn line(params: &TcpParams, losses: Vec<bool>, outages: &[(u64, u64)]) -> Line<Supervised> {
        let outage = |&(from_ms, ms): &(u64, u64)| {
            let from = Time::ZERO + Span::from_millis(from_ms);
            (from, from + Span::from_millis(ms))
        };
        let host = Sender::new(&params.of_supervised(), Span::ZERO);
        Line::new(host, flow(params), losses, outages.iter().map(outage).collect())
    }

    proptest! {
        /// Whatever is lost on either side, whenever the mobile is out of reach, and however small the buffer
        /// is: what is acknowledged has been delivered, and all is, in the end.
        #[test]
        fn nothing_is_acknowledged_that_was_not_delivered(
            losses in prop::collection::vec(prop::bool::weighted(0.2), 0..400),
            outages in prop::collection::vec((0u64..20_000, 1u64..8_000), 0..4),
            bytes in 1u64..60_000,
            sack in any::<bool>(),
        ) {
            let params = TcpParams { sack, ..small() };
            let mut line = line(&params, losses, &outages);
            line.write(Some(bytes));
            while line.step() {
                prop_assert!(line.host.counters().bytes_acked <= line.mobile.counters().bytes_in_order);
                if let Some(connection) = line.station.connections.get(&ID) {
                    prop_assert!(connection.halves.receiver.unread_bytes() <= 3999);
                    prop_assert!(connection.acked <= connection.arrived());
                }
                prop_assert!(line.now < Time::from_secs(100_000.0), "it does not come to its end");
            }
            prop_assert_eq!(line.host.counters().bytes_acked, bytes);
            prop_assert_eq!(line.mobile.counters().bytes_in_order, bytes);
        }

        /// Of disconnections the host learns nothing but that its window is closed: it never takes anything
        /// for lost, and its window is afterwards what it was.
        #[test]
        fn a_disconnection_leaves_the_hosts_window_as_it_is(
            outages in prop::collection::vec((500u64..20_000, 1u64..8_000), 1..4),
            delayed_ack in any::<bool>(),
        ) {
            let params = TcpParams { delayed_ack, split_buffer_bytes: 65_536, ..small() };
            let mut line = line(&params, Vec::new(), &outages);
            line.write(None);
            let mut cwnd = line.host.cwnd();
            while line.step() && line.now < Time::from_secs(40.0) {
                prop_assert!(line.host.cwnd() >= cwnd, "at {:?}", line.now);
                cwnd = line.host.cwnd();
            }
            let counters = line.host.counters();
            prop_assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 0));
            prop_assert!(!line.is_out() && !line.host.is_frozen());
        }
    }

    /// Out of reach from 2 s to 7 s. With nothing lost but what is on its way then, the second connection
    /// goes on at the next poll with the window that it had, and so does the host, 20 ms later.
    #[test]
    fn both_connections_go_on_at_full_speed() {
        let params = TcpParams { split_buffer_bytes: 65_536, ..small() };
        let mut line = line(&params, Vec::new(), &[(2000, 5000)]);
        line.write(None);
        let cwnds =
            |line: &Line<Supervised>| (line.host.cwnd(), line.station.connections[&ID].halves.sender.cwnd());
        while line.now < Time::from_secs(1.99) {
            line.step();
        }
        let (before, delivered) = (cwnds(&line), line.mobile.counters().bytes_in_order);
        while line.now < Time::from_secs(7.0) {
            line.step();
        }
        assert!(line.host.is_frozen());
        while line.now < Time::from_secs(7.6) {
            line.step();
        }
        assert!(cwnds(&line).0 >= before.0 && cwnds(&line).1 >= before.1, "{before:?} {:?}", cwnds(&line));
        assert!(!line.host.is_frozen());
        let counters = line.host.counters();
        assert_eq!((counters.timeouts, counters.freezes), (0, 1));
        assert!(line.mobile.counters().bytes_in_order > delivered + 20_000, "a window at once");
    }
}
