//! What becomes of messages: a frame, a packet of an on/off source, a write.
//!
//! A message is delivered when all its bytes are, dropped when the sender's buffer drops it, and otherwise
//! waiting at the sender or lost. Definitions stand in docs/metrics.md.

use serde::Serialize;

use crate::kernel::{Span, Time};
use crate::traffic::{FrameKind, Message};

use super::statistics::{mean, percentile, ratio};
use super::{CbrMeasures, Delays, FlowMeasures};

/// One message's account.
#[derive(Clone, Copy, Debug)]
struct Entry {
    message: Message,
    made: Time,
    /// Bytes of it that arrived.
    arrived: u32,
    delivered: Option<Time>,
    dropped: bool,
}

/// The accounts of a flow's messages, by number.
#[derive(Clone, Default)]
pub struct MessageLog {
    entries: Vec<Entry>,
    /// Messages that a byte stream has delivered, and the bytes up to their end.
    in_order: (usize, u64),
    delivered: u64,
}

/// Measures of a flow that sends messages. They count messages and packets made in the window.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct MessageMeasures {
    /// `udp`, `adp`, `psp`, `tcp`, `rtp-udp` or `rtp-adp`.
    pub transport: &'static str,
    /// Messages made.
    pub messages_made: u64,
    /// Those delivered whole.
    pub messages_delivered: u64,
    /// Those dropped in the sender's buffer.
    pub messages_dropped: u64,
    /// Those of which not all is delivered and no more will be sent: lost in the network, or under way at the
    /// end.
    pub messages_lost: u64,
    /// Those that wait at the sender when the run ends.
    pub messages_waiting: u64,
    /// `messages_delivered` over `messages_made`; none if none was made.
    pub message_delivery_fraction: Option<f64>,
    /// `messages_lost` over delivered and lost: what the network took of what left the sender.
    pub message_network_drop_rate: Option<f64>,
    /// Time from the making of a message to its last byte's arrival: mean, s.
    pub message_latency_mean_s: Option<f64>,
    /// Its median, s.
    pub message_latency_p50_s: Option<f64>,
    /// Its 95th percentile, s.
    pub message_latency_p95_s: Option<f64>,
    /// Its 99th percentile, s.
    pub message_latency_p99_s: Option<f64>,
    /// Payload delivered in the window, per second of the window, bit/s.
    pub throughput_bps: f64,
    /// Data packets handed to IP; none for TCP.
    pub packets_sent: Option<u64>,
    /// Different ones delivered; none for TCP.
    pub packets_received: Option<u64>,
    /// The second over the first.
    pub packet_delivery_fraction: Option<f64>,
    /// Time from IP at the source to the destination of delivered packets: mean, s; none for TCP.
    pub network_latency_mean_s: Option<f64>,
    /// Mean number of links that delivered packets crossed.
    pub hops_mean: Option<f64>,
    /// Acknowledgements sent, whole run; none for UDP and TCP.
    pub acks_sent: Option<u64>,
    /// Expiries of ADP's transmit timer or TCP's retransmission timer, or how often PSP's spacing grew as
    /// nothing came back, whole run; none for UDP.
    pub timeouts: Option<u64>,
}

/// Measures of a video flow, whose messages are frames.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct VideoMeasures {
    /// What every flow of messages has.
    #[serde(flatten)]
    pub messages: MessageMeasures,
    /// Frames delivered after the playout deadline.
    pub frames_late: u64,
    /// I frames made.
    pub i_frames: u64,
    /// P frames made.
    pub p_frames: u64,
    /// B frames made.
    pub b_frames: u64,
    /// Decodable I frames: delivered in time.
    pub i_decodable: u64,
    /// Decodable P frames: delivered in time, and so was what they refer to.
    pub p_decodable: u64,
    /// Decodable B frames, likewise.
    pub b_decodable: u64,
    /// Decodable frames of all kinds over frames made; none if none was made.
    pub decodable_fraction: Option<f64>,
}

/// Measures over all flows that send messages.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct MessageTotals {
    /// Messages made.
    pub messages_made: u64,
    /// Messages delivered whole.
    pub messages_delivered: u64,
    /// Messages dropped in senders' buffers.
    pub messages_dropped: u64,
    /// Messages lost in the network.
    pub messages_lost: u64,
    /// `messages_delivered` over `messages_made`.
    pub message_delivery_fraction: Option<f64>,
    /// `messages_lost` over delivered and lost.
    pub message_network_drop_rate: Option<f64>,
    /// Mean latency of the delivered messages, s.
    pub message_latency_mean_s: Option<f64>,
    /// Payload delivered in the window, bit/s.
    pub message_throughput_bps: f64,
    /// Decodable frames over frames made; none without video.
    pub video_decodable_fraction: Option<f64>,
}

impl MessageLog {
    /// A message is made; gives it its number.
    pub fn make(&mut self, now: Time, message: Message) -> u32 {
        self.entries.push(Entry { message, made: now, arrived: 0, delivered: None, dropped: false });
        self.entries.len() as u32 - 1
    }

    /// The sender's buffer dropped what it had of a message.
    pub fn drop(&mut self, number: u32) {
        self.entries[number as usize].dropped = true;
    }

    /// `bytes` of a message arrived for the first time.
    pub fn arrive(&mut self, now: Time, number: u32, bytes: u32) {
        let entry = &mut self.entries[number as usize];
        entry.arrived += bytes;
        if entry.arrived >= entry.message.bytes {
            self.delivered += u64::from(entry.delivered.is_none());
            entry.delivered = Some(now);
        }
    }

    /// A byte stream that carries the messages one after the other has delivered `bytes` so far.
    pub fn progress(&mut self, now: Time, bytes: u64) {
        while let Some(entry) = self.entries.get_mut(self.in_order.0)
            && self.in_order.1 + u64::from(entry.message.bytes) <= bytes
        {
            entry.delivered = Some(now);
            self.delivered += 1;
            self.in_order = (self.in_order.0 + 1, self.in_order.1 + u64::from(entry.message.bytes));
        }
    }

    /// A message, and when it was made.
    pub fn message(&self, number: u32) -> (Message, Time) {
        let entry = &self.entries[number as usize];
        (entry.message, entry.made)
    }

    /// Of the messages made from `warmup` on, those delivered before the `deadline`, which counts if it is
    /// not zero.
    pub fn in_time_fraction(&self, warmup: Time, deadline: Span) -> Option<f64> {
        let made = || self.entries.iter().filter(|entry| entry.made >= warmup);
        ratio(made().filter(|entry| entry.in_time(deadline)).count() as u64, made().count() as u64)
    }

    /// How many messages were made from `warmup` on, and how long those took that are delivered, in the order
    /// in which they were.
    pub fn delays(&self, warmup: Time) -> Delays {
        let made = || self.entries.iter().filter(|entry| entry.made >= warmup);
        let mut arrived: Vec<(Time, Time)> =
            made().filter_map(|entry| Some((entry.delivered?, entry.made))).collect();
        // Of those that arrive at once, the first made.
        arrived.sort_unstable();
        let arrived_s = arrived.into_iter().map(|(at, made)| at.since(made).as_secs()).collect();
        Delays { made: made().count() as u64, arrived_s }
    }

    /// How many are delivered, whole run.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The messages that are not delivered.
    pub fn undelivered(&self) -> Vec<u32> {
        let open = |(_, entry): &(u32, &Entry)| entry.delivered.is_none();
        (0..).zip(&self.entries).filter(open).map(|(number, _)| number).collect()
    }

    /// The measures from `warmup` on. `waiting` are the messages at the sender; `packets` what is known of
    /// packets.
    pub fn measures(
        &self,
        warmup: Time,
        transport: &'static str,
        waiting: &[u32],
        packets: &CbrMeasures,
    ) -> MessageMeasures {
        let first = self.entries.partition_point(|entry| entry.made < warmup);
        let made = &self.entries[first..];
        let mut latencies_s: Vec<f64> = made.iter().filter_map(Entry::latency).map(Span::as_secs).collect();
        latencies_s.sort_unstable_by(f64::total_cmp);
        let delivered = latencies_s.len() as u64;
        let dropped = made.iter().filter(|entry| entry.dropped).count() as u64;
        let still_there = waiting.iter().filter(|&&number| number as usize >= first).count() as u64;
        let lost = made.len() as u64 - delivered - dropped - still_there;
        let has_packets = transport != "tcp";
        MessageMeasures {
            transport,
            messages_made: made.len() as u64,
            messages_delivered: delivered,
            messages_dropped: dropped,
            messages_lost: lost,
            messages_waiting: still_there,
            message_delivery_fraction: ratio(delivered, made.len() as u64),
            message_network_drop_rate: ratio(lost, delivered + lost),
            message_latency_mean_s: mean(&latencies_s),
            message_latency_p50_s: percentile(&latencies_s, 0.50),
            message_latency_p95_s: percentile(&latencies_s, 0.95),
            message_latency_p99_s: percentile(&latencies_s, 0.99),
            throughput_bps: packets.throughput_bps,
            packets_sent: has_packets.then_some(packets.sent),
            packets_received: has_packets.then_some(packets.received),
            packet_delivery_fraction: packets.delivery_fraction,
            network_latency_mean_s: packets.latency_mean_s,
            hops_mean: packets.hops_mean,
            acks_sent: None,
            timeouts: None,
        }
    }

    /// The measures of the messages as frames; a frame later than `deadline`, if it is not zero, cannot be
    /// played.
    pub fn video(&self, warmup: Time, deadline: Span, messages: MessageMeasures) -> VideoMeasures {
        let decodable = self.decodable(deadline);
        let first = self.entries.partition_point(|entry| entry.made < warmup);
        let frames = || self.entries.iter().zip(&decodable).skip(first);
        let made = |kind| frames().filter(|(entry, _)| entry.message.frame == Some(kind)).count() as u64;
        let good = |kind| {
            frames().filter(|(entry, good)| **good && entry.message.frame == Some(kind)).count() as u64
        };
        let is_late = |entry: &Entry| entry.delivered.is_some() && !entry.in_time(deadline);
        VideoMeasures {
            messages,
            frames_late: frames().filter(|(entry, _)| is_late(entry)).count() as u64,
            i_frames: made(FrameKind::I),
            p_frames: made(FrameKind::P),
            b_frames: made(FrameKind::B),
            i_decodable: good(FrameKind::I),
            p_decodable: good(FrameKind::P),
            b_decodable: good(FrameKind::B),
            decodable_fraction: ratio(
                frames().filter(|(_, good)| **good).count() as u64,
                frames().count() as u64,
            ),
        }
    }

    /// When each message was made, and when it was delivered.
    pub(super) fn times(&self) -> impl Iterator<Item = (Time, Option<Time>)> {
        self.entries.iter().map(|entry| (entry.made, entry.delivered))
    }

    /// Which frames can be decoded. A P frame refers to the I or P frame before it, a B frame to those before
    /// and after it (ISO/IEC 13818-2 §6.1.1.11); before the first I frame of a flow nothing can be, and after
    /// the last frame made a B frame has only the one before.
    fn decodable(&self, deadline: Span) -> Vec<bool> {
        let mut decodable = vec![false; self.entries.len()];
        let mut reference = false;
        let mut since: Vec<usize> = Vec::new();
        for (number, entry) in self.entries.iter().enumerate() {
            let in_time = entry.in_time(deadline);
            let good = match entry.message.frame {
                Some(FrameKind::I) => in_time,
                Some(FrameKind::P) => in_time && reference,
                _ => {
                    // Judged when the next reference is known.
                    decodable[number] = in_time && reference;
                    since.push(number);
                    continue;
                }
            };
            decodable[number] = good;
            since.drain(..).for_each(|between| decodable[between] &= good);
            reference = good;
        }
        decodable
    }
}

impl Entry {
    fn latency(&self) -> Option<Span> {
        self.delivered.map(|delivered| delivered.since(self.made))
    }

    fn in_time(&self, deadline: Span) -> bool {
        self.latency().is_some_and(|latency| deadline == Span::ZERO || latency <= deadline)
    }
}

impl MessageTotals {
    /// The totals of the flows that send messages; none if there are none.
    pub fn of(flows: &[FlowMeasures]) -> Option<MessageTotals> {
        let all: Vec<&MessageMeasures> = flows.iter().filter_map(messages_of).collect();
        if all.is_empty() {
            return None;
        }
        let sum = |count: fn(&MessageMeasures) -> u64| all.iter().map(|flow| count(flow)).sum::<u64>();
        let (made, delivered) = (sum(|flow| flow.messages_made), sum(|flow| flow.messages_delivered));
        let lost = sum(|flow| flow.messages_lost);
        let latencies_s = all
            .iter()
            .filter_map(|flow| Some(flow.message_latency_mean_s? * flow.messages_delivered as f64))
            .sum::<f64>();
        let videos = || {
            flows.iter().filter_map(|flow| if let FlowMeasures::Video(it) = flow { Some(it) } else { None })
        };
        Some(MessageTotals {
            messages_made: made,
            messages_delivered: delivered,
            messages_dropped: sum(|flow| flow.messages_dropped),
            messages_lost: lost,
            message_delivery_fraction: ratio(delivered, made),
            message_network_drop_rate: ratio(lost, delivered + lost),
            message_latency_mean_s: (delivered > 0).then(|| latencies_s / delivered as f64),
            message_throughput_bps: all.iter().map(|flow| flow.throughput_bps).sum(),
            video_decodable_fraction: ratio(
                videos().map(|flow| flow.i_decodable + flow.p_decodable + flow.b_decodable).sum(),
                videos().map(|flow| flow.messages.messages_made).sum(),
            ),
        })
    }
}

fn messages_of(flow: &FlowMeasures) -> Option<&MessageMeasures> {
    match flow {
        FlowMeasures::OnOff(messages)
        | FlowMeasures::Poisson(messages)
        | FlowMeasures::Trace(messages)
        | FlowMeasures::Adp(messages) => Some(messages),
        FlowMeasures::Video(video) => Some(&video.messages),
        FlowMeasures::Voice(voice) => Some(&voice.messages),
        FlowMeasures::Tcp(_) | FlowMeasures::Cbr(_) | FlowMeasures::Web(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of this pattern, one a second; those in `lost` do not arrive, all others after half a second.
    fn log(pattern: &str, lost: &[u32]) -> MessageLog {
        let mut log = MessageLog::default();
        for (second, letter) in pattern.chars().enumerate() {
            let kind = match letter {
                'I' => FrameKind::I,
                'P' => FrameKind::P,
                _ => FrameKind::B,
            };
            let made = Time::from_secs(second as f64);
            let number = log.make(made, Message { bytes: 10, frame: Some(kind) });
            if !lost.contains(&number) {
                log.arrive(made + Span::from_millis(500), number, 10);
            }
        }
        log
    }

    fn decodable(pattern: &str, lost: &[u32]) -> String {
        let decodable = log(pattern, lost).decodable(Span::ZERO);
        pattern.chars().zip(decodable).map(|(letter, good)| if good { letter } else { '-' }).collect()
    }

    #[test]
    fn a_lost_frame_takes_those_with_it_that_refer_to_it() {
        assert_eq!(decodable("IBBPBBPBBIBBP", &[]), "IBBPBBPBBIBBP");
        assert_eq!(decodable("IBBPBBPBBIBBP", &[1]), "I-BPBBPBBIBBP");
        assert_eq!(decodable("IBBPBBPBBIBBP", &[3]), "I--------IBBP");
        assert_eq!(decodable("IBBPBBPBBIBBP", &[0]), "---------IBBP");
        assert_eq!(decodable("BBPBBIBB", &[]), "-----IBB");
    }

    #[test]
    fn a_frame_after_its_deadline_is_late_and_not_decodable() {
        let log = log("IPP", &[]);
        let video = log.video(Time::ZERO, Span::from_millis(499), MessageMeasures::default());
        assert_eq!((video.frames_late, video.i_decodable, video.decodable_fraction), (3, 0, Some(0.0)));
        let video = log.video(Time::ZERO, Span::from_millis(500), MessageMeasures::default());
        assert_eq!((video.frames_late, video.i_decodable, video.p_decodable), (0, 1, 2));
    }

    #[test]
    fn a_message_is_delivered_with_its_last_byte() {
        let mut log = MessageLog::default();
        (0..4).for_each(|_| _ = log.make(Time::ZERO, Message { bytes: 100, frame: None }));
        log.arrive(Time::from_secs(1.0), 0, 60);
        log.arrive(Time::from_secs(2.0), 0, 40);
        log.arrive(Time::from_secs(2.0), 1, 60);
        log.drop(2);
        let measures = log.measures(Time::ZERO, "adp", &[3], &CbrMeasures::default());
        let fates = (
            measures.messages_delivered,
            measures.messages_lost,
            measures.messages_dropped,
            measures.messages_waiting,
        );
        assert_eq!(fates, (1, 1, 1, 1));
        assert_eq!(measures.message_latency_mean_s, Some(2.0));
        assert_eq!(measures.message_network_drop_rate, Some(0.5));
    }

    #[test]
    fn a_byte_stream_delivers_messages_at_their_ends() {
        let mut log = MessageLog::default();
        for bytes in [100, 50, 100] {
            log.make(Time::ZERO, Message { bytes, frame: None });
        }
        log.progress(Time::from_secs(1.0), 149);
        assert_eq!(log.entries.iter().filter(|entry| entry.delivered.is_some()).count(), 1);
        log.progress(Time::from_secs(2.0), 250);
        assert!(log.entries.iter().all(|entry| entry.delivered.is_some()));
    }
}
