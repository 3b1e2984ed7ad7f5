//! From events to the sections of blocks.

use std::borrow::Cow;
use std::hash::Hash;

use manetlab_core::drops::DropReason;
use manetlab_core::kernel::Time;
use manetlab_core::observe::{FlowStep, PacketNote, Reach, RecordKind};
use manetlab_core::routing::{HoldStep, Notice};
use manetlab_core::wire::NodeId;
use rustc_hash::FxHashMap;

use crate::columns::{self, Raw, Table};
use crate::container::{BlockInfo, MOST_EVENTS};
use crate::schema::{self, TABLES};
use crate::state::{State, Window};

/// Most rows that what belongs to events may have before a block is closed early.
const MOST_RECEPTIONS: usize = 1 << 20;

/// A list in which each value stands once, by its place.
struct Places<K>(FxHashMap<K, u64>);

impl<K: Hash + Eq> Places<K> {
    /// The place of a value; true if it is new.
    fn of(&mut self, key: K) -> (u64, bool) {
        let next = self.0.len() as u64;
        match self.0.entry(key) {
            std::collections::hash_map::Entry::Occupied(known) => (*known.get(), false),
            std::collections::hash_map::Entry::Vacant(place) => (*place.insert(next), true),
        }
    }
}

/// The strings of a section.
struct Strings {
    list: Vec<Cow<'static, str>>,
    places: Places<Cow<'static, str>>,
    /// The places of those that are part of the program, by address and length: faster than by content.
    fixed: Vec<(usize, usize, u64)>,
}

impl Strings {
    fn new() -> Strings {
        let mut strings =
            Strings { list: Vec::new(), places: Places(FxHashMap::default()), fixed: Vec::new() };
        strings.place("");
        strings
    }

    fn place(&mut self, text: &str) -> u64 {
        if let Some(&place) = self.places.0.get(text) {
            return place;
        }
        let kept: Cow<'static, str> = Cow::Owned(text.to_owned());
        self.list.push(kept.clone());
        self.places.of(kept).0
    }

    fn of(&mut self, text: &'static str) -> u64 {
        let (at, length) = (text.as_ptr() as usize, text.len());
        if let Some(known) = self.fixed.iter().find(|known| (known.0, known.1) == (at, length)) {
            return known.2;
        }
        let place = self.place(text);
        self.fixed.push((at, length, place));
        place
    }

    #[expect(clippy::ptr_arg, reason = "only a borrowed one has an address of its own")]
    fn of_either(&mut self, text: &Cow<'static, str>) -> u64 {
        match text {
            Cow::Borrowed(text) => self.of(text),
            Cow::Owned(text) => self.place(text),
        }
    }
}

/// Kind and purpose as numbers, the rate's bits, bytes, airtime.
type ShapeKey = (u8, u8, u64, u32, u64);
type PacketKey = (u64, u64, u64, u32, u64, u64);

/// The block that is being filled, and the state at its end.
pub(crate) struct Encoder {
    strings: Strings,
    /// By their order in the schema.
    tables: Vec<Table>,
    /// By a table's number: its place among the tables.
    places: [u8; 128],
    shapes: Places<ShapeKey>,
    packets: Places<PacketKey>,
    /// The places of the names of outcomes; zero if the block has none yet.
    outcomes: [u64; Reach::ALL.len()],
    /// By reason; made once, because a reason's name is computed.
    reasons: Vec<Cow<'static, str>>,
    state: State,
    /// Frames of which nothing is known yet: the run's number and the recording's.
    open: Vec<(u64, u64)>,
    info: BlockInfo,
    /// How many events fill the block.
    pub(crate) most_events: usize,
}

impl Encoder {
    pub(crate) fn new() -> Encoder {
        let mut places = [0; 128];
        for (place, table) in TABLES.iter().enumerate() {
            places[usize::from(table.id)] = place as u8;
        }
        Encoder {
            strings: Strings::new(),
            tables: TABLES.iter().map(Table::new).collect(),
            places,
            shapes: Places(FxHashMap::default()),
            packets: Places(FxHashMap::default()),
            outcomes: [0; Reach::ALL.len()],
            reasons: DropReason::ALL.iter().map(|reason| Cow::Owned(reason.name())).collect(),
            state: State::default(),
            open: Vec::new(),
            info: BlockInfo::default(),
            most_events: MOST_EVENTS,
        }
    }

    fn table(&mut self, id: u16) -> &mut Table {
        &mut self.tables[usize::from(self.places[usize::from(id)])]
    }

    /// Follows an event that is not kept, for the state at later blocks' heads.
    pub(crate) fn follow(&mut self, node: NodeId, kind: &RecordKind) {
        self.state.apply(node, kind);
    }

    /// Is the block full?
    pub(crate) fn is_full(&self) -> bool {
        self.info.events as usize >= self.most_events
            || self.tables[usize::from(self.places[usize::from(schema::RECEPTION)])].rows >= MOST_RECEPTIONS
    }

    /// Does the block have events?
    pub(crate) fn is_empty(&self) -> bool {
        self.info.events == 0
    }

    /// Appends an event. The block is not full.
    pub(crate) fn push(&mut self, time: Time, node: NodeId, kind: &RecordKind) {
        if self.is_empty() {
            self.info.first_ns = time.0;
            self.write_state(time);
        }
        self.info.events += 1;
        self.info.last_ns = self.info.last_ns.max(time.0);
        let table = match kind {
            RecordKind::Frame { .. } => self.push_frame(time, node, kind),
            RecordKind::Made(note) => self.push_numbered(schema::MADE, note),
            RecordKind::Delivered(note) => self.push_numbered(schema::DELIVERED, note),
            RecordKind::SentDown(note, next_hop) => {
                let row = self.packet(note);
                self.push_packet(schema::SENT, row, note, address(*next_hop))
            }
            RecordKind::Dropped(note, reason) => {
                let row = self.packet(note);
                let reason = self.strings.place(&self.reasons[*reason as usize]);
                self.push_packet(schema::DROPPED, row, note, reason)
            }
            RecordKind::Marked(note) => self.push_bare(schema::MARKED, note),
            RecordKind::Kept(note) => self.push_bare(schema::KEPT, note),
            _ => self.push_state(node, kind),
        };
        self.table(schema::EVENT).push([time.0, table.into(), node.0.into()]);
    }

    fn push_frame(&mut self, time: Time, node: NodeId, kind: &RecordKind) -> u16 {
        let (shape, to, uid) = self.frame(kind);
        self.table(schema::FRAME).push([shape, to, uid]);
        let number = self.info.first_frame + u64::from(self.info.frames);
        self.info.frames += 1;
        if let RecordKind::Frame { number: in_run, .. } = kind {
            self.open.push((*in_run, number));
        }
        self.state.send(time, node, number, kind);
        schema::FRAME
    }

    /// The columns that all tables of frames have.
    fn frame(&mut self, frame: &RecordKind) -> (u64, u64, u64) {
        let &RecordKind::Frame { kind, to, bytes, class, rate_bps, airtime, uid, .. } = frame else {
            return (0, 0, 0);
        };
        let key = (kind as u8, class as u8, rate_bps.to_bits(), bytes, airtime.0);
        let (shape, is_new) = self.shapes.of(key);
        if is_new {
            let (kind, class) = (self.strings.of(kind.name()), self.strings.of(class.name()));
            self.table(schema::SHAPE).push([kind, class, rate_bps.to_bits(), bytes.into(), airtime.0]);
        }
        (shape, address(to), optional(uid))
    }

    /// The row of what a packet has in common with others.
    fn packet(&mut self, note: &PacketNote) -> u64 {
        let what = self.strings.of_either(&note.what);
        let cause = note.cause.as_ref().map_or(0, |cause| self.strings.of_either(cause));
        let (src, dst, flow) = (address(note.src), address(note.dst), optional(note.flow));
        let (row, is_new) = self.packets.of((what, src, dst, note.bytes, cause, flow));
        if is_new {
            self.table(schema::PACKET).push([what, src, dst, note.bytes.into(), cause, flow]);
        }
        row
    }

    fn push_packet(&mut self, table: u16, row: u64, note: &PacketNote, last: u64) -> u16 {
        self.table(table).push([row, note.uid, note.ttl.into(), last]);
        table
    }

    fn push_numbered(&mut self, table: u16, note: &PacketNote) -> u16 {
        let row = self.packet(note);
        self.push_packet(table, row, note, optional(note.number))
    }

    fn push_bare(&mut self, table: u16, note: &PacketNote) -> u16 {
        let row = self.packet(note);
        self.table(table).push([row, note.uid, note.ttl.into()]);
        table
    }

    /// An event that is no frame's and no packet's.
    fn push_state(&mut self, node: NodeId, kind: &RecordKind) -> u16 {
        self.state.apply(node, kind);
        match *kind {
            RecordKind::Route { dst, next_hop, hops } => {
                let row = [address(dst), next_hop.map_or(0, address), optional(hops)];
                self.table(schema::ROUTE).push(row);
                schema::ROUTE
            }
            RecordKind::Queue(length) => {
                self.table(schema::QUEUE).push([length.into()]);
                schema::QUEUE
            }
            RecordKind::Window { flow, cwnd, ssthresh, rto } => {
                self.table(schema::WINDOW).push([flow.into(), cwnd.to_bits(), ssthresh.to_bits(), rto.0]);
                schema::WINDOW
            }
            RecordKind::Flow { flow, step } => {
                let step = self.strings.of(step.name());
                self.table(schema::FLOW).push([flow.into(), step]);
                schema::FLOW
            }
            RecordKind::Share { flow, hops, share, rate_bps } => {
                let row = [flow.into(), hops.into(), share.to_bits(), rate_bps.to_bits()];
                self.table(schema::SHARE).push(row);
                schema::SHARE
            }
            RecordKind::Notice(notice) => {
                let (name, detail) = notice_names(notice);
                let row = [self.strings.of(name), address(notice.dst()), self.strings.of(detail)];
                self.table(schema::NOTICE).push(row);
                schema::NOTICE
            }
            // All others have been dealt with.
            _ => schema::EVENT,
        }
    }

    /// Says what became of a frame, if it is kept.
    pub(crate) fn receive(&mut self, in_run: u64, outcomes: impl Iterator<Item = (NodeId, Reach)>) {
        let Some(at) = self.open.iter().position(|open| open.0 == in_run) else { return };
        let (_, number) = self.open.swap_remove(at);
        for (node, outcome) in outcomes {
            let place = &mut self.outcomes[outcome as usize];
            if *place == 0 {
                *place = self.strings.of(outcome.name());
            }
            let row = [number, node.0.into(), *place];
            self.table(schema::RECEPTION).push(row);
        }
    }

    /// The state before the first event.
    fn write_state(&mut self, now: Time) {
        self.state.forget(now);
        let state = std::mem::take(&mut self.state);
        for (&(node, dst), &(next_hop, hops)) in &state.routes {
            let row = [node.0.into(), address(dst), address(next_hop), optional(hops)];
            self.table(schema::AT_ROUTE).push(row);
        }
        for (node, &length) in &state.queues {
            self.table(schema::AT_QUEUE).push([node.0.into(), length.into()]);
        }
        for (&flow, &Window { node, cwnd, ssthresh, rto }) in &state.windows {
            let row = [flow.into(), node.0.into(), cwnd.to_bits(), ssthresh.to_bits(), rto.0];
            self.table(schema::AT_WINDOW).push(row);
        }
        for on_air in &state.on_air {
            let (shape, to, uid) = self.frame(&on_air.frame);
            let row = [on_air.number, on_air.start.0, on_air.node.0.into(), shape, to, uid];
            self.table(schema::AT_FRAME).push(row);
        }
        for (&flow, &(node, step)) in &state.flows {
            let step = self.strings.of(FlowStep::name(step));
            self.table(schema::AT_FLOW).push([flow.into(), node.0.into(), step]);
        }
        self.state = state;
    }

    /// Ends the block: what it is, and its section is appended to `raw`.
    pub(crate) fn finish(&mut self, raw: &mut Raw) -> BlockInfo {
        self.table(schema::RECEPTION).sort_by_first_column();
        columns::encode(&self.strings.list, self.tables.iter(), raw);
        self.tables.iter_mut().for_each(Table::clear);
        self.strings = Strings::new();
        self.outcomes = [0; Reach::ALL.len()];
        self.shapes.0.clear();
        self.packets.0.clear();
        let done = self.info;
        self.info = BlockInfo {
            first_event: done.first_event + u64::from(done.events),
            first_frame: done.first_frame + u64::from(done.frames),
            ..BlockInfo::default()
        };
        done
    }
}

/// How a column of addresses has a node, or all of them.
pub(crate) fn address(node: NodeId) -> u64 {
    if node.is_broadcast() { 1 } else { u64::from(node.0) + 2 }
}

fn optional(value: Option<impl Into<u64>>) -> u64 {
    value.map_or(0, |value| value.into() + 1)
}

/// The names of a notice and of its detail.
fn notice_names(notice: Notice) -> (&'static str, &'static str) {
    match notice {
        Notice::RouteFailed { told: true, .. } => ("route-failed", "told"),
        Notice::RouteFailed { told: false, .. } => ("route-failed", "seen"),
        Notice::RouteFound { .. } => ("route-found", ""),
        Notice::Hold { step, .. } => ("hold", HoldStep::name(step)),
    }
}
