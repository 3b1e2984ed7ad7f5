//! The receiving end: reassembly, acknowledgements at once or delayed, SACK and D-SACK blocks.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::foresight::{Foresight, Step};
use super::loss_predictor::{Arrivals, Coherence};
use super::{Judgement, LossPredictor, ReceiverOutput, TcpParams};
use crate::kernel::{Span, Time};
use crate::wire::tcp::{AckOrder, AckSigns, SackBlocks, Segment, WHOLE_WINDOW};
use crate::wire::{Ecn, NodeId};

/// The most blocks that an ACK carries (RFC 2018 §3, with room for time stamps, which ns-2 leaves too).
const SACK_BLOCKS_MAX: usize = 3;

/// Copies of the ACK that opens the window after a break (Goff and others 2000).
const OPENING_ACKS: u32 = 3;

/// A segment is read within this time, which no run lasts.
const LONGEST_READ_S: f64 = 1e9;

/// What a receiver has seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReceiverCounters {
    /// Bytes of payload that the application can read in order, each once.
    pub bytes_in_order: u64,
    /// Segments that arrived, SYN and duplicates included.
    pub segments_received: u64,
    /// Segments that had arrived before.
    pub duplicates: u64,
    /// Of the first segment with payload that arrived: when that copy was sent, and when it arrived.
    pub first_data: Option<(Time, Time)>,
    /// The greatest number of a segment with payload that arrived, in order or not, counted from 1.
    pub last_segment: u32,
}

/// The receiving end of a flow. Calls come in order of time.
pub struct Receiver {
    params: TcpParams,
    delay: Span,
    /// The number of the next segment in order.
    next: u32,
    /// Payload of the segments from `next` on, as far as they have arrived; the first has not.
    held: VecDeque<Option<u32>>,
    /// The ranges of `held`, that which grew last first. Empty without SACK.
    ranges: SmallVec<[(u32, u32); 4]>,
    /// Payload of the segments in order that the application has not read, and when it has read the first of
    /// them. Empty if it reads at once.
    unread: VecDeque<u32>,
    read_at: Time,
    /// Does it read by [`Receiver::handle_read`] alone? Then: the bytes that are read so far.
    relayed: Option<u64>,
    /// The breaks to come: when the warning of each is due, and when it ends. The first may have begun.
    breaks: VecDeque<(Time, Time)>,
    /// Breaks as it foresees them by what it hears; none if it does not.
    foresight: Option<Foresight>,
    /// Is the window closed for a break that is foreseen?
    warns: bool,
    /// Did the last ACK close the window?
    is_closed: bool,
    /// From what it guesses why segments are missing; none if it does not.
    arrivals: Option<Arrivals>,
    /// From what it guesses why the next segment is missing; none if it does not.
    coherence: Option<Coherence>,
    /// Duplicate ACKs due since `next` has last moved, those that are withheld among them.
    duplicates: u32,
    /// When the withheld ones go out, in order, and the segments that caused them.
    withheld: VecDeque<(Time, u32)>,
    /// The segment that the next ACK reports as a duplicate (RFC 2883).
    repeated: Option<u32>,
    /// Segments in order whose ACK is delayed.
    unacknowledged: u32,
    /// When the delayed ACK goes out at the latest.
    deadline: Time,
    /// The time stamp to send back, and the number of the last ACK's segment (RFC 7323 §4.3,
    /// `Last.ACK.sent`).
    echo: Time,
    last_ack: u32,
    /// ACKs sent.
    acks: u32,
    /// When the latest segment to arrive was sent, and did one sent before it arrive after it?
    latest_sent: Time,
    out_of_order: bool,
    /// Must ACKs echo a mark?
    echoes_mark: bool,
    counters: ReceiverCounters,
}

impl Receiver {
    /// A receiver that waits for the first segment. `params` must be within their ranges.
    pub fn new(params: &TcpParams) -> Receiver {
        Receiver {
            delay: Span::from_secs(params.delayed_ack_timeout_s),
            params: params.clone(),
            next: 0,
            held: VecDeque::new(),
            ranges: SmallVec::new(),
            unread: VecDeque::new(),
            read_at: Time::NEVER,
            relayed: None,
            breaks: VecDeque::new(),
            foresight: None,
            warns: false,
            is_closed: false,
            arrivals: (params.loss_predictor == LossPredictor::Arrivals).then(|| Arrivals::new(params)),
            coherence: (params.loss_predictor == LossPredictor::CoherenceReceiver).then(Coherence::default),
            duplicates: 0,
            withheld: VecDeque::new(),
            repeated: None,
            unacknowledged: 0,
            deadline: Time::NEVER,
            echo: Time::ZERO,
            last_ack: 0,
            acks: 0,
            latest_sent: Time::ZERO,
            out_of_order: false,
            echoes_mark: false,
            counters: ReceiverCounters::default(),
        }
    }

    /// The same receiver, which foresees these breaks (Freeze-TCP): its window is closed during each, and for
    /// the time of the warning before. In order, and none begins before the one before it has ended.
    pub fn with_breaks(mut self, breaks: &[(Time, Time)]) -> Receiver {
        let warning = Span::from_secs(self.params.freeze_warning_s);
        let mut over = Time::ZERO;
        for &(from, to) in breaks {
            let at = Time(from.0.saturating_sub(warning.0)).max(over);
            self.breaks.push_back((at, to));
            over = to;
        }
        self
    }

    /// The same receiver, which foresees breaks by the power of what it hears, in dBW, of which it needs
    /// `threshold_dbw` (Freeze-TCP).
    pub fn with_foresight(mut self, threshold_dbw: f64) -> Receiver {
        self.foresight = Some(Foresight::new(&self.params, threshold_dbw));
        self
    }

    /// Does it want to know what its node hears?
    pub fn wants_rx_power(&self) -> bool {
        self.foresight.is_some()
    }

    /// Its node has received a frame from a neighbour, at a power in W. If the frame has a segment of this
    /// connection, [`Receiver::handle_data`] follows.
    pub fn handle_rx_power(
        &mut self,
        now: Time,
        heard: (NodeId, f64),
        has_segment: bool,
        out: &mut Vec<ReceiverOutput>,
    ) {
        let step = self.foresight.as_mut().map(|foresight| foresight.hear(now, heard, has_segment));
        self.carry_out(step, out);
    }

    /// The same receiver, whose data are only read by [`Receiver::handle_read`].
    pub fn of_relay(mut self) -> Receiver {
        self.relayed = Some(0);
        self
    }

    /// What the receiver of a relay has in order has been passed on so far, in bytes: there is room for other
    /// data. Segments leave as a whole.
    pub fn handle_read(&mut self, bytes: u64, out: &mut Vec<ReceiverOutput>) {
        let Some(relayed) = &mut self.relayed else { return };
        while let Some(&payload) = self.unread.front()
            && *relayed + u64::from(payload) <= bytes
        {
            *relayed += u64::from(payload);
            self.unread.pop_front();
        }
        if self.is_closed && self.room() > 0 {
            self.acknowledge(out);
        }
    }

    /// The number of the next segment in order.
    pub fn next_number(&self) -> u32 {
        self.next
    }

    /// The number of the first segment that the relay has not passed on; that of the next one if it has all.
    pub fn first_unread(&self) -> u32 {
        self.next - self.unread.len() as u32
    }

    /// Is a segment missing before one that has arrived?
    pub fn has_gap(&self) -> bool {
        !self.held.is_empty()
    }

    /// Payload bytes in order that are not read.
    #[cfg(test)]
    pub(crate) fn unread_bytes(&self) -> u64 {
        self.unread.iter().map(|&payload| u64::from(payload)).sum()
    }

    /// A segment arrives, with the ECN field of its IP header. Segments beyond the window are answered and
    /// forgotten (RFC 9293 §3.10.7.4).
    pub fn handle_data(&mut self, now: Time, segment: &Segment, ecn: Ecn, out: &mut Vec<ReceiverOutput>) {
        let &Segment::Data { number, payload, sent, cwr, .. } = segment else {
            return;
        };
        // RFC 3168 §6.1.3: a mark is echoed until the sender says that it knows; a mark on that very segment
        // is a new one.
        self.echoes_mark = (self.echoes_mark && !cwr) || (self.params.ecn && ecn == Ecn::Ce);
        self.counters.segments_received += 1;
        self.note_times(number, sent);
        if payload > 0 && self.counters.first_data.is_none() {
            self.counters.first_data = Some((sent, now));
        }
        if payload > 0 {
            let count = number.saturating_add(u32::from(!self.params.connection_setup));
            self.counters.last_segment = self.counters.last_segment.max(count);
        }
        self.read(now);
        if payload == 0 && !(self.params.connection_setup && number == 0) {
            // A probe of the closed window (RFC 9293 §3.8.6.1).
            return self.acknowledge(out);
        }
        self.judge_gap(now, number, payload, out);
        if let Some(coherence) = &mut self.coherence {
            coherence.handle_data(number, ecn == Ecn::Ce);
        }
        let (next, before) = (self.next, self.counters.bytes_in_order);
        let fresh = self.store(now, number, payload);
        if self.counters.bytes_in_order > before {
            out.push(ReceiverOutput::InOrder(self.counters.bytes_in_order));
        }
        let has_moved = self.next > next;
        if has_moved {
            // The hole is filled, and duplicates that were held back have become pointless.
            self.duplicates = 0;
            self.withheld.clear();
        }
        let may_delay = match self.repeated {
            // RFC 2883 §4 (1): what is reported arrived last.
            Some(_) => false,
            None => fresh || !self.params.immediate_ack_for_duplicate,
        };
        if may_delay && self.may_delay(number) {
            self.unacknowledged += 1;
            if self.unacknowledged < self.params.delayed_ack_segments {
                self.deadline = self.deadline.min(now + self.delay);
                return;
            }
        }
        if has_moved || !self.withholds(now, number, out) {
            self.answer(Some(number), out);
        }
    }

    /// Sends the delayed ACK if its time has come, and one that opens the closed window if there is room for
    /// a segment again (RFC 9293 §3.8.6.2.2).
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<ReceiverOutput>) {
        self.read(now);
        self.foresee(now, out);
        let step = self.foresight.as_mut().map(|foresight| foresight.handle_timeout(now));
        self.carry_out(step, out);
        while let Some((_, cause)) = self.withheld.pop_front_if(|&mut (due, _)| due <= now) {
            self.answer(Some(cause), out);
        }
        if now >= self.deadline || (self.is_closed && self.room() > 0) {
            self.acknowledge(out);
        }
    }

    /// When a delayed or withheld ACK goes out, or one that opens the closed window; [`Time::NEVER`] if none
    /// waits.
    pub fn next_timeout(&self) -> Time {
        let foreseen =
            self.breaks.front().map_or(Time::NEVER, |next| if self.warns { next.1 } else { next.0 });
        let reading = if self.is_closed { self.read_at } else { Time::NEVER };
        let withheld = self.withheld.front().map_or(Time::NEVER, |&(due, _)| due);
        let greeting = self.foresight.as_ref().map_or(Time::NEVER, Foresight::next_timeout);
        self.deadline.min(reading).min(foreseen).min(withheld).min(greeting)
    }

    /// Closes the window before a break, and opens it when the break is over, with three copies of the last
    /// ACK. Before anything has arrived there is nobody to warn.
    fn foresee(&mut self, now: Time, out: &mut Vec<ReceiverOutput>) {
        while let Some(&(from, to)) = self.breaks.front() {
            let was_warned = self.warns;
            self.warns = now >= from && now < to;
            if self.warns && !was_warned {
                self.carry_out(Some(Step::Close), out);
            }
            if now < to {
                return;
            }
            self.breaks.pop_front();
            if was_warned {
                self.carry_out(Some(Step::Open), out);
            }
        }
    }

    /// Closes the window with its last ACK, or opens it with three copies of it.
    fn carry_out(&mut self, step: Option<Step>, out: &mut Vec<ReceiverOutput>) {
        let copies = match step {
            None | Some(Step::Nothing) => return,
            Some(Step::Close) => 1,
            Some(Step::Open) => OPENING_ACKS,
        };
        self.warns = step == Some(Step::Close);
        if self.next > 0 {
            (0..copies).for_each(|_| self.acknowledge(out));
        }
    }

    /// Payload bytes of a full segment.
    pub fn segment_bytes(&self) -> u32 {
        self.params.segment_bytes
    }

    /// What it has seen so far.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// RFC 7323 §4.3, rule 2: of segments whose ACK is delayed the first one's stamp comes back, so that the
    /// delay is part of the round trip.
    fn note_times(&mut self, number: u32, sent: Time) {
        if number <= self.last_ack && sent >= self.echo {
            self.echo = sent;
        }
        self.out_of_order |= sent < self.latest_sent;
        self.latest_sent = self.latest_sent.max(sent);
    }

    /// Guesses why segments before this one are missing.
    fn judge_gap(&mut self, now: Time, number: u32, payload: u32, out: &mut Vec<ReceiverOutput>) {
        // What is beyond the window is forgotten, and tells nothing of a gap.
        let counts = payload > 0 && number >= self.next && number - self.next < self.room();
        let Some(arrivals) = self.arrivals.as_mut().filter(|_| counts) else { return };
        if let Some((start, end, is_radio)) = arrivals.handle_data(now, number) {
            let judged = |number| ReceiverOutput::Judged(Judgement { number, is_congestion: !is_radio });
            out.extend((start..end).map(judged));
        }
    }

    /// Keeps the segment and delivers what is in order now. False if it is a duplicate or beyond the window.
    fn store(&mut self, now: Time, number: u32, payload: u32) -> bool {
        let known = number < self.next
            || self.held.get((number - self.next) as usize).is_some_and(|held| held.is_some());
        self.counters.duplicates += u64::from(known);
        if known && self.params.sack && self.params.dsack {
            self.repeated = Some(number);
            // RFC 2883 §4 (4): the block around it comes next.
            self.note_range(number);
        }
        if known || number - self.next >= self.room() {
            return false;
        }
        let at = (number - self.next) as usize;
        if at >= self.held.len() {
            self.held.resize(at + 1, None);
        }
        self.held[at] = Some(payload);
        while let Some(&Some(payload)) = self.held.front() {
            self.held.pop_front();
            self.next += 1;
            self.counters.bytes_in_order += u64::from(payload);
            self.keep_unread(now, payload);
        }
        if self.params.sack {
            self.note_range(number);
        }
        true
    }

    /// Segments from the next in order on for which there is room.
    pub fn room(&self) -> u32 {
        self.params.window.saturating_sub(self.unread.len() as u32)
    }

    /// The room as ACKs carry it.
    fn offer(&self) -> u16 {
        if self.warns {
            return 0;
        }
        if self.params.read_bps == 0.0 && self.relayed.is_none() {
            return WHOLE_WINDOW;
        }
        u16::try_from(self.room()).unwrap_or(WHOLE_WINDOW).min(WHOLE_WINDOW - 1)
    }

    fn keep_unread(&mut self, now: Time, payload: u32) {
        if self.relayed.is_some() && payload > 0 {
            self.unread.push_back(payload);
        } else if self.params.read_bps > 0.0 && payload > 0 {
            self.unread.push_back(payload);
            if self.unread.len() == 1 {
                self.read_at = now + self.reading_time(payload);
            }
        }
    }

    /// The application has read so far.
    fn read(&mut self, now: Time) {
        while now >= self.read_at {
            self.unread.pop_front();
            self.read_at = match self.unread.front() {
                Some(&payload) => self.read_at + self.reading_time(payload),
                None => Time::NEVER,
            };
        }
    }

    fn reading_time(&self, payload: u32) -> Span {
        Span::from_secs((f64::from(payload) * 8.0 / self.params.read_bps).min(LONGEST_READ_S))
    }

    /// Keeps the ranges beyond `next`; that which holds `number` comes first (RFC 2018 §4).
    fn note_range(&mut self, number: u32) {
        let (mut start, mut end) = (number, number + 1);
        let next = self.next;
        self.ranges.retain(|range| {
            let touches = range.0 <= end && start <= range.1;
            if touches {
                (start, end) = (start.min(range.0), end.max(range.1));
            }
            !touches && range.1 > next
        });
        if start > next {
            self.ranges.insert(0, (start, end));
        }
    }

    /// May the ACK of this segment wait (RFC 5681 §4.2)? Only if it is the last one in order.
    fn may_delay(&self, number: u32) -> bool {
        let fills_gap = !self.held.is_empty();
        let syn = self.params.connection_setup && number == 0;
        self.params.delayed_ack
            && self.next.checked_sub(1) == Some(number)
            && !(fills_gap && self.params.immediate_ack_for_gap)
            && !(syn && self.params.immediate_ack_for_syn)
    }

    /// Is the ACK that is due now a duplicate that is held back while the link layer may repair the loss
    /// (Vaidya and others 2002; Liu and Jain 2001)?
    fn withholds(&mut self, now: Time, number: u32, out: &mut Vec<ReceiverOutput>) -> bool {
        if self.held.is_empty() || self.params.dupack_delay_s == 0.0 {
            return false;
        }
        self.duplicates += 1;
        let is_third = self.duplicates == self.params.dupack_threshold;
        if let Some(coherence) = self.coherence.as_mut().filter(|_| is_third) {
            let is_congestion = coherence.judge(self.next);
            out.push(ReceiverOutput::Judged(Judgement { number: self.next, is_congestion }));
        }
        let is_congestion = self.coherence.as_ref().is_some_and(|coherence| coherence.is_congestion);
        if self.duplicates < self.params.dupack_threshold || is_congestion {
            return false;
        }
        self.withheld.push_back((now + Span::from_secs(self.params.dupack_delay_s), number));
        true
    }

    /// SMART's name of the segment that causes an ACK; none if the ACK acknowledges it anyway, or if it was
    /// beyond the window.
    fn named(&self, number: u32) -> Option<(u32, u32)> {
        let place = number.checked_sub(self.next)? as usize;
        self.held.get(place)?.map(|_| (number, number + 1))
    }

    fn acknowledge(&mut self, out: &mut Vec<ReceiverOutput>) {
        self.answer(None, out);
    }

    /// Acknowledges what has arrived; `cause` is the segment that causes the ACK, if one does.
    pub fn answer(&mut self, cause: Option<u32>, out: &mut Vec<ReceiverOutput>) {
        self.unacknowledged = 0;
        self.deadline = Time::NEVER;
        let repeated = self.repeated.take().map(|number| (number, number + 1));
        let sack: SackBlocks = match self.params.sack && self.params.smart {
            true => repeated.into_iter().chain(cause.and_then(|number| self.named(number))).collect(),
            false => repeated.into_iter().chain(self.ranges.iter().copied()).take(SACK_BLOCKS_MAX).collect(),
        };
        let option = if sack.is_empty() { 0 } else { self.params.sack_option_bytes + 8 * sack.len() as u32 };
        let stamps = if self.params.timestamps { self.params.timestamp_bytes } else { 0 };
        let next = self.next;
        let signs = AckSigns {
            echo: if self.params.timestamps { self.echo } else { Time::NEVER },
            order: AckOrder::new(self.acks, std::mem::take(&mut self.out_of_order)),
            ece: self.echoes_mark,
            window: self.offer(),
            eln: self.arrivals.as_mut().is_some_and(|arrivals| arrivals.blames_radio_for(next)),
        };
        self.is_closed = self.room() == 0;
        (self.acks, self.last_ack) = (self.acks.wrapping_add(1), self.next);
        out.push(ReceiverOutput::Send {
            segment: Segment::Ack { next: self.next, sack, signs },
            bytes: self.params.ack_bytes + option + stamps,
            // RFC 3168 §6.1.4: the sender would not learn of a lost ACK's mark.
            ecn: Ecn::NotEct,
        });
    }
}
