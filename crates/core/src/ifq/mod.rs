//! The interface queue between link layer and MAC: its limits, which packets go first, and which are dropped
//! when it is full. Active management is in `red.rs` and `neighbourhood.rs`.
//! *Deviations*: 1 and 2 in docs/models/interface-queue-and-arp.md.

mod neighbourhood;
mod red;

use std::collections::VecDeque;

use crate::kernel::{Stream, Time};
use crate::params::{choices, params};
use crate::wire::airmail;
use crate::wire::congestion::Notification;
use crate::wire::mac::Body;
use crate::wire::tcp::Segment;
use crate::wire::{Ecn, NodeId, Packet, Payload};

use neighbourhood::Neighbourhood;
use red::{Decision, Red};

pub use neighbourhood::ChannelUse;

choices! {
    /// Where routing packets stand in the queue.
    pub enum RoutingPriority {
        /// Before everything else, the newest first (ns-2's `PriQueue`).
        NewestFirst = "newest-first",
        /// Before everything else, in order of arrival.
        InOrder = "in-order",
        /// First in order of arrival, then TCP's ACKs, then all else, and each of the three has the queue's
        /// whole length to itself (ns-2's `CMUPriQueue`, which its DSR needs).
        Classes = "classes",
        /// Among all others.
        None = "none",
    }
}

choices! {
    /// Which packets the queue refuses.
    pub enum QueueDiscipline {
        /// Those that find it full.
        DropTail = "drop-tail",
        /// Beside them some at random while its average length is above a threshold (Floyd and Jacobson
        /// 1993); packets whose transport understands marks are marked instead (RFC 3168 §5).
        Red = "red",
        /// The same, by the utilisation of the channel and the node's part in it in place of the length of
        /// the queue (Xu and others 2003).
        NeighbourhoodRed = "neighbourhood-red",
    }
}

params! {
    /// Parameters of the interface queue.
    pub struct QueueParams in "queue" {
        /// Maximum number of packets in the queue.
        packets: u32 = 50, "packet", "ns-2 Queue limit_", [1.0, 1_000_000.0];
        /// The priority of routing packets.
        routing_priority: RoutingPriority = RoutingPriority::InOrder, "", "ns-2 Queue/DropTail/PriQueue";
        /// Which packets the queue refuses.
        discipline: QueueDiscipline = QueueDiscipline::DropTail, "", "ns-2 Queue/DropTail; Floyd and Jacobson 1993";
        /// RED: the average length at and above which packets are marked or dropped.
        red_min_threshold: f64 = 5.0, "packet", "Floyd and Jacobson 1993 §4, min_th; 5: ns-2 thresh_", [0.0, 1e6];
        /// RED: the average length at and above which all packets are dropped; with `red_gentle` twice that.
        red_max_threshold: f64 = 15.0, "packet", "Floyd and Jacobson 1993 §4, max_th; 15: ns-2 maxthresh_", [0.0, 1e6];
        /// RED: the probability at the upper threshold.
        red_max_p: f64 = 0.1, "", "Floyd and Jacobson 1993 §4, max_p (0.02); 0.1: ns-2 linterm_ 10", [0.0, 1.0];
        /// RED: the weight of the current length in the average.
        red_weight: f64 = 0.002, "", "Floyd and Jacobson 1993 §4, w_q; ns-2 q_weight_", [1e-6, 1.0];
        /// RED: does the probability increase further from `red_max_p` to one between the upper threshold and
        /// twice that?
        red_gentle: bool = true, "", "Floyd 2000; ns-2 gentle_";
        /// RED: in idle time the average decreases as if a packet had met an empty queue at this interval.
        red_idle_packet_ms: f64 = 4.0, "ms", "Floyd and Jacobson 1993 §4, s (500 bytes with RTS at 2 Mb/s)", [0.001, 1e4];
        /// Neighbourhood RED: every how many ms a node looks at its channel.
        nred_interval_ms: f64 = 100.0, "ms", "Xu et al. 2003, from memory", [1.0, 60_000.0];
        /// Neighbourhood RED: the weight of the last interval in the average utilisation.
        nred_weight: f64 = 0.2, "", "Xu et al. 2003, from memory", [1e-6, 1.0];
        /// Neighbourhood RED: the average utilisation of the channel above which neighbours are told.
        nred_min_threshold: f64 = 0.4, "", "assumed", [0.0, 0.99];
        /// Neighbourhood RED: that at and above which the probability is `nred_max_p`.
        nred_max_threshold: f64 = 0.96, "", "assumed", [0.01, 1.0];
        /// Neighbourhood RED: the probability at the upper threshold, for who uses all of the channel alone.
        nred_max_p: f64 = 0.14, "", "Xu et al. 2003, from memory", [0.0, 1.0];
        /// Neighbourhood RED: the part of the channel that a node must send and receive itself to tell its
        /// neighbours.
        nred_own_use: f64 = 0.05, "", "assumed", [0.0, 1.0];
        /// Neighbourhood RED: for how long what neighbours tell is believed.
        nred_lifetime_ms: f64 = 200.0, "ms", "assumed: twice `nred_interval_ms`", [1.0, 60_000.0];
    }
}

/// What waits for the MAC: a frame's body and the neighbour it is for.
#[derive(Clone, PartialEq, Debug)]
pub struct Outgoing {
    /// The neighbour, or broadcast.
    pub to: NodeId,
    /// The body.
    pub body: Body,
}

/// See the module's head.
pub struct InterfaceQueue {
    limit: usize,
    priority: RoutingPriority,
    /// In order of their classes.
    waiting: VecDeque<Outgoing>,
    /// How many wait in each class.
    counts: [usize; 4],
    /// Apart, because it is large and mostly not there.
    active: Option<Box<Active>>,
}

/// What manages a queue before it is full.
enum Active {
    Red(Red),
    Neighbourhood(Neighbourhood),
}

impl Active {
    fn new(params: &QueueParams, stream: Stream) -> Option<Box<Active>> {
        Some(Box::new(match params.discipline {
            QueueDiscipline::DropTail => return None,
            QueueDiscipline::Red => Active::Red(Red::new(params, stream)),
            QueueDiscipline::NeighbourhoodRed => Active::Neighbourhood(Neighbourhood::new(params, stream)),
        }))
    }

    /// A packet arrives while `waiting` others wait; is it a routing packet with priority?
    fn judge(&mut self, now: Time, waiting: usize, has_priority: bool) -> Decision {
        match self {
            Active::Red(red) if has_priority => {
                red.end_idle(now);
                Decision::Admit
            }
            Active::Neighbourhood(_) if has_priority => Decision::Admit,
            Active::Red(red) => red.judge(now, waiting),
            Active::Neighbourhood(detector) => detector.judge(now),
        }
    }
}

/// What becomes of a packet before it is known whether the queue has room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It may wait, or go to the MAC.
    Admitted,
    /// The same, with a mark of congestion.
    Marked,
    /// It must be dropped.
    Refused,
}

/// The class of routing packets that have priority.
const ROUTING: usize = 0;
/// The class of TCP's ACKs, if there are classes.
const ACKS: usize = 1;
/// The class of packets that go with a reservation (INSIGNIA).
const RESERVED: usize = 2;
/// The class of all else.
const OTHERS: usize = 3;

impl InterfaceQueue {
    /// An empty queue; `stream` is for the draws of its active management.
    pub fn new(params: &QueueParams, stream: Stream) -> InterfaceQueue {
        InterfaceQueue {
            limit: params.packets as usize,
            priority: params.routing_priority,
            waiting: VecDeque::new(),
            counts: [0; 4],
            active: Active::new(params, stream),
        }
    }

    /// Decides about a packet that arrives, and marks it; to be asked before [`InterfaceQueue::push`], and
    /// also if the packet can go straight to the MAC. Routing packets with priority are admitted always.
    pub fn admit(&mut self, now: Time, outgoing: &mut Outgoing) -> Admission {
        let class = self.class_of(&outgoing.body);
        let Some(active) = &mut self.active else { return Admission::Admitted };
        match (active.judge(now, self.waiting.len(), class == ROUTING), &mut outgoing.body) {
            (Decision::Admit, _) => Admission::Admitted,
            (Decision::Notify, Body::Ip(packet)) if packet.ecn != Ecn::NotEct => {
                packet.ecn = Ecn::Ce;
                Admission::Marked
            }
            (Decision::Notify | Decision::Drop, _) => Admission::Refused,
        }
    }

    /// The MAC is ready, and nothing waits.
    pub fn begin_idle(&mut self, now: Time) {
        if let Some(Active::Red(red)) = self.active.as_deref_mut() {
            red.begin_idle(now);
        }
    }

    /// When the queue wants to know how its node's channel was used; [`Time::NEVER`] if it does not.
    pub fn next_timeout(&self) -> Time {
        match self.active.as_deref() {
            Some(Active::Neighbourhood(detector)) => detector.next_timeout(),
            _ => Time::NEVER,
        }
    }

    /// Its time has come: the channel was used so since this was called last. Returns what the node tells its
    /// neighbours.
    pub fn handle_timeout(&mut self, now: Time, used: ChannelUse) -> Option<Notification> {
        match self.active.as_deref_mut() {
            Some(Active::Neighbourhood(detector)) => detector.handle_timeout(now, used),
            _ => None,
        }
    }

    /// A neighbour tells of congestion.
    pub fn handle_notification(&mut self, now: Time, notification: Notification) {
        if let Some(Active::Neighbourhood(detector)) = self.active.as_deref_mut() {
            detector.handle_notification(now, notification);
        }
    }

    /// Puts `outgoing` into the queue; returns what must be dropped because the queue is full: a new packet,
    /// or, for a routing packet with priority, the last of the queue. A packet with a reservation pushes out
    /// one that has none.
    pub fn push(&mut self, outgoing: Outgoing) -> Option<Outgoing> {
        let class = self.class_of(&outgoing.body);
        let full = match self.priority {
            RoutingPriority::Classes => self.counts[class] >= self.limit,
            _ if class == ROUTING => false,
            _ => self.counts[..=class].iter().sum::<usize>() >= self.limit,
        };
        if full {
            return Some(outgoing);
        }
        let behind = self.counts[..=class].iter().sum();
        let at = if class == ROUTING && self.priority == RoutingPriority::NewestFirst { 0 } else { behind };
        self.waiting.insert(at, outgoing);
        self.counts[class] += 1;
        if self.priority != RoutingPriority::Classes && self.waiting.len() > self.limit {
            let last = self.counts.iter_mut().rfind(|count| **count > 0);
            last.into_iter().for_each(|count| *count -= 1);
            return self.waiting.pop_back();
        }
        None
    }

    fn class_of(&self, body: &Body) -> usize {
        match (self.priority, body) {
            (_, Body::Ip(packet)) if packet.is_reserved() => RESERVED,
            (RoutingPriority::None, _) => OTHERS,
            (
                RoutingPriority::Classes,
                Body::Ip(Packet { payload: Payload::Tcp(_, Segment::Ack { .. }), .. }),
            ) => ACKS,
            (_, Body::Ip(packet)) if airmail::follows_data(packet) => OTHERS,
            _ if body.is_routing() => ROUTING,
            _ => OTHERS,
        }
    }

    /// The next for the MAC.
    pub fn pop(&mut self) -> Option<Outgoing> {
        let first = self.counts.iter_mut().find(|count| **count > 0)?;
        *first -= 1;
        self.waiting.pop_front()
    }

    /// Moves all IP packets for `neighbour` into `taken`, in order.
    pub fn flush(&mut self, neighbour: NodeId, taken: &mut Vec<Outgoing>) {
        let mut at = 0;
        while at < self.waiting.len() {
            if self.waiting[at].to == neighbour && matches!(self.waiting[at].body, Body::Ip(_)) {
                let class = self.class_of(&self.waiting[at].body);
                self.counts[class] -= 1;
                taken.extend(self.waiting.remove(at));
            } else {
                at += 1;
            }
        }
    }

    /// All that waits, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Outgoing> {
        self.waiting.iter()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Does nothing wait?
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};
    use crate::wire::FlowId;
    use crate::wire::insignia::{Indicator, Mode, Part, Service};
    use proptest::prelude::*;

    /// A packet of a kind (0 routing, 1 ACK, 2 CBR, 3 CBR with a reservation) for neighbour 1 or 2.
    fn outgoing(uid: u64, kind: u32, to: u32) -> Outgoing {
        let payload = match kind {
            0 => Payload::Nothing,
            1 => Payload::Tcp(
                FlowId(0).into(),
                Segment::Ack { next: 0, sack: Default::default(), signs: Default::default() },
            ),
            _ => Payload::Udp(FlowId(0), uid),
        };
        let (src, dst) = (NodeId(0), NodeId(to));
        let service = (kind == 3).then_some(Service {
            mode: Mode::Reserved,
            part: Part::Base,
            indicator: Indicator::Max,
            max_kbps: 10,
            min_kbps: 10,
        });
        let body = Body::Ip(Packet {
            uid,
            src,
            dst,
            ttl: 1,
            hops: 0,
            bytes: 40,
            created: Time::ZERO,
            payload,
            ecn: Ecn::NotEct,
            routing_header: None,
            announcement: None,
            service,
        });
        Outgoing { to: dst, body }
    }

    fn stream() -> Stream {
        Streams::new(1, 0).stream(0, Purpose::Queue)
    }

    fn uid(outgoing: &Outgoing) -> u64 {
        match &outgoing.body {
            Body::Ip(packet) => packet.uid,
            Body::Arp(_) => panic!("only IP packets here"),
        }
    }

    fn queue(routing_priority: RoutingPriority, packets: u32) -> InterfaceQueue {
        let params = QueueParams { packets, routing_priority, ..QueueParams::default() };
        InterfaceQueue::new(&params, stream())
    }

    /// What comes out after pushing these kinds, numbered from 1, and what was refused or pushed out.
    fn order(priority: RoutingPriority, packets: u32, kinds: &[u32]) -> (Vec<u64>, Vec<u64>) {
        let mut queue = queue(priority, packets);
        let pushed =
            kinds.iter().zip(1..).filter_map(|(kind, number)| queue.push(outgoing(number, *kind, 1)));
        let lost = pushed.map(|lost| uid(&lost)).collect();
        (std::iter::from_fn(|| queue.pop()).map(|next| uid(&next)).collect(), lost)
    }

    #[test]
    fn routing_packets_stand_where_the_priority_says() {
        let kinds = [2, 0, 1, 0, 2];
        assert_eq!(order(RoutingPriority::NewestFirst, 9, &kinds).0, [4, 2, 1, 3, 5]);
        assert_eq!(order(RoutingPriority::InOrder, 9, &kinds).0, [2, 4, 1, 3, 5]);
        assert_eq!(order(RoutingPriority::Classes, 9, &kinds).0, [2, 4, 3, 1, 5]);
        assert_eq!(order(RoutingPriority::None, 9, &kinds).0, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_full_queue_refuses_data_and_pushes_its_last_packet_out_for_routing() {
        assert_eq!(order(RoutingPriority::InOrder, 2, &[2, 2, 2, 0]), (vec![4, 1], vec![3, 2]));
        assert_eq!(order(RoutingPriority::NewestFirst, 2, &[0, 0, 0]), (vec![3, 2], vec![1]));
    }

    #[test]
    fn classes_fill_up_each_for_itself() {
        assert_eq!(order(RoutingPriority::Classes, 1, &[2, 2, 1, 1, 0, 0]), (vec![5, 3, 1], vec![2, 4, 6]));
    }

    #[test]
    fn reserved_packets_go_before_best_effort_in_order_and_behind_routing() {
        let kinds = [2, 3, 0, 2, 3, 1];
        assert_eq!(order(RoutingPriority::InOrder, 9, &kinds).0, [3, 2, 5, 1, 4, 6]);
        assert_eq!(order(RoutingPriority::Classes, 9, &kinds).0, [3, 6, 2, 5, 1, 4]);
        assert_eq!(order(RoutingPriority::None, 9, &kinds).0, [2, 5, 1, 3, 4, 6]);
    }

    #[test]
    fn a_full_queue_gives_a_reserved_packet_the_place_of_the_last_without() {
        assert_eq!(order(RoutingPriority::InOrder, 2, &[2, 2, 3, 3, 3]), (vec![3, 4], vec![2, 1, 5]));
        // Routing pushes out the last of all.
        assert_eq!(order(RoutingPriority::InOrder, 2, &[3, 3, 0, 2]), (vec![3, 1], vec![2, 4]));
        assert_eq!(order(RoutingPriority::Classes, 1, &[2, 3, 2, 3]), (vec![2, 1], vec![3, 4]));
    }

    /// The average is the present length, and between the thresholds notice is certain at the second packet.
    #[test]
    fn red_marks_what_understands_marks_drops_the_rest_and_lets_routing_pass() {
        let params = QueueParams {
            discipline: QueueDiscipline::Red,
            red_min_threshold: 1.0,
            red_max_threshold: 3.0,
            red_max_p: 1.0,
            red_weight: 1.0,
            red_gentle: false,
            ..QueueParams::default()
        };
        let mut queue = InterfaceQueue::new(&params, stream());
        let mut admit = |kind: u32, ecn: Ecn| {
            let mut next = outgoing(1, kind, 1);
            if let Body::Ip(packet) = &mut next.body {
                packet.ecn = ecn;
            }
            let admission = queue.admit(Time::ZERO, &mut next);
            let ecn = match &next.body {
                Body::Ip(packet) => packet.ecn,
                Body::Arp(_) => panic!("only IP packets here"),
            };
            if admission != Admission::Refused {
                queue.push(next);
            }
            (admission, ecn)
        };
        use Admission::{Admitted, Marked, Refused};
        assert_eq!(admit(2, Ecn::Ect), (Admitted, Ecn::Ect), "idle until now");
        assert_eq!(admit(2, Ecn::Ect), (Admitted, Ecn::Ect), "one waits: p = 0");
        // Two wait: p_b is a half, and with one packet since it was at the threshold p_a is one.
        assert_eq!(admit(2, Ecn::NotEct), (Refused, Ecn::NotEct));
        assert_eq!(admit(2, Ecn::Ect), (Marked, Ecn::Ce));
        assert_eq!(admit(0, Ecn::NotEct), (Admitted, Ecn::NotEct));
        assert_eq!(admit(2, Ecn::Ect), (Refused, Ecn::Ect), "beyond what marks can mend");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_a_flush_takes_one_neighbour_in_order(
            priority in 0usize..4,
            steps in prop::collection::vec((0u32..5, 0u32..4, 1u32..3), 1..60),
        ) {
            let priorities = [
                RoutingPriority::NewestFirst,
                RoutingPriority::InOrder,
                RoutingPriority::Classes,
                RoutingPriority::None,
            ];
            let mut queue = queue(priorities[priority], 5);
            let (mut into, mut out) = (0, 0);
            for (step, kind, neighbour) in steps {
                match step {
                    0 => out += usize::from(queue.pop().is_some()),
                    1 => {
                        let wanted: Vec<u64> =
                            queue.iter().filter(|one| one.to == NodeId(neighbour)).map(uid).collect();
                        let mut taken = Vec::new();
                        queue.flush(NodeId(neighbour), &mut taken);
                        out += taken.len();
                        prop_assert_eq!(taken.iter().map(uid).collect::<Vec<_>>(), wanted);
                    }
                    _ => {
                        into += 1;
                        out += usize::from(queue.push(outgoing(into as u64, kind, neighbour)).is_some());
                    }
                }
                prop_assert_eq!(queue.iter().count(), into - out);
                prop_assert_eq!(queue.counts.iter().sum::<usize>(), into - out);
            }
        }
    }
}
