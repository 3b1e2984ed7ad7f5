//! Writes a recording while the run goes on.

use std::io::{self, Write};

use manetlab_core::kernel::{MAX_TIME_S, Time};
use manetlab_core::mac::Timing;
use manetlab_core::mobility::{Path, Point};
use manetlab_core::observe::{Event, RecordKind, Recorder, flow_ends};
use manetlab_core::radio::Propagation;
use manetlab_core::scenario::Scenario;
use manetlab_core::wire::NodeId;
use serde_json::{Value, json};

use crate::columns::{self, Raw, Table};
use crate::container::{self, BlockInfo, END_MAGIC, FILE_HEAD, MAGIC};
use crate::encode::Encoder;
use crate::filter::Filter;
use crate::schema;

/// A recorder that writes blocks to `W`, each as soon as it is full.
///
/// It keeps the first error of `W` and writes nothing after it; [`Writer::finish`] returns it.
pub struct Writer<W: Write> {
    out: W,
    filter: Filter,
    kinds: u64,
    provenance: Value,
    encoder: Encoder,
    /// Used again for each block.
    raw: Raw,
    offset: u64,
    index: Table,
    failed: Option<io::Error>,
    is_over: bool,
}

impl<W: Write> Writer<W> {
    /// Writes to `out` what `filter` allows. `provenance` goes into the head as it is.
    pub fn new(out: W, filter: Filter, provenance: Value) -> Writer<W> {
        let kinds = filter.kinds_mask();
        Writer {
            out,
            filter,
            kinds,
            provenance,
            encoder: Encoder::new(),
            raw: Raw::default(),
            offset: 0,
            index: new_table(schema::INDEX),
            failed: None,
            is_over: false,
        }
    }

    /// The same with blocks of at most so many events, from 1 to 65,536: smaller ones make the file larger,
    /// and lose less of a run that is killed.
    pub fn with_block_events(mut self, most: usize) -> Writer<W> {
        self.encoder.most_events = most.clamp(1, container::MOST_EVENTS);
        self
    }

    /// Has writing failed?
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Ends the recording: after a run that broke off, too, what it did until then is kept, without the end
    /// that says that the recording is complete.
    ///
    /// # Errors
    /// The first error of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.close_block();
        if self.is_over {
            self.write_end();
        }
        match self.failed {
            Some(error) => Err(error),
            None => {
                self.out.flush()?;
                Ok(self.out)
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            let written = self.out.write_all(bytes).and_then(|()| self.out.flush());
            self.failed = written.err();
            self.offset += bytes.len() as u64;
        }
    }

    fn close_block(&mut self) {
        if self.encoder.is_empty() {
            return;
        }
        self.raw.clear();
        let info = self.encoder.finish(&mut self.raw);
        let chunk = container::chunk(container::BLOCK, &info.to_bytes(), &self.raw);
        let stored = (chunk.len() - container::CHUNK_HEAD) as u32;
        let BlockInfo { first_ns, last_ns, first_event, events, first_frame, frames, .. } = info;
        let (events, frames) = (events.into(), frames.into());
        self.index.push([
            self.offset,
            stored.into(),
            first_ns,
            last_ns,
            first_event,
            events,
            first_frame,
            frames,
        ]);
        self.write(&chunk);
    }

    fn write_section(&mut self, kind: container::ChunkType, tables: &[&Table]) {
        let mut raw = Raw::default();
        columns::encode(&["".into()], tables.iter().copied(), &mut raw);
        self.write(&container::chunk(kind, &[], &raw));
    }

    fn write_end(&mut self) {
        let index_at = self.offset;
        let index = std::mem::replace(&mut self.index, new_table(schema::INDEX));
        self.write_section(container::INDEX, &[&index]);
        let mut trailer = index_at.to_le_bytes().to_vec();
        trailer.extend(END_MAGIC);
        self.write(&trailer);
    }

    fn head(&self, scenario: &Scenario, points: &Table) -> Value {
        let propagation = Propagation::new(&scenario.params.radio);
        let rates: Vec<f64> = Timing::new(&scenario.params.mac).rates_bps().collect();
        let ranges =
            rates.iter().map(|&bps| json!({"rate_bps": bps, "range_m": propagation.receive_range_m(bps)}));
        let flows = scenario.flows.iter().enumerate().map(|(id, flow)| {
            let mut flow = serde_json::to_value(flow).unwrap_or_default();
            flow["id"] = id.into();
            flow
        });
        let destinations: Vec<u32> = flow_ends(scenario).iter().map(|node| node.0).collect();
        let mut head = json!({
            "format": "manetlab-recording",
            "version": container::VERSION,
            "made_by": concat!("manetlab ", env!("CARGO_PKG_VERSION")),
            "nodes": scenario.movement.len(),
            "duration_s": scenario.duration_s,
            "warmup_s": scenario.warmup_s,
            "seed": scenario.seed,
            "replication": scenario.replication,
            "routing": serde_json::to_value(scenario.routing).unwrap_or_default(),
            "receive_range_m": ranges.collect::<Vec<Value>>(),
            "sense_range_m": propagation.sense_range_m(),
            "bounds_m": bounds(points),
            "flows": flows.collect::<Vec<Value>>(),
            "destinations": destinations,
            "filter": self.filter.as_json(),
            "tables": schema::as_json(),
            "provenance": self.provenance,
        });
        if !scenario.walls.is_empty() {
            let walls = scenario.walls.iter().map(
                |wall| json!({"points": wall.points, "building": wall.is_building, "opaque": wall.opaque}),
            );
            head["walls"] = walls.collect::<Vec<Value>>().into();
        }
        if scenario.links().is_some() {
            head["links_by_distance"] = false.into();
        }
        if scenario.movement.iter().any(|node| node.label.is_some()) {
            head["labels"] = (0_u32..).zip(&scenario.movement).map(|(at, node)| node.name(at)).collect();
        }
        head
    }
}

impl<W: Write> Recorder for Writer<W> {
    fn begin(&mut self, scenario: &Scenario) {
        let points = points(scenario);
        let head = self.head(scenario, &points).to_string();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(u64::from(container::VERSION).to_le_bytes());
        debug_assert_eq!(bytes.len() as u64, FILE_HEAD);
        let head = Raw { bytes: head.into_bytes(), cuts: Vec::new() };
        bytes.extend(container::chunk(container::HEAD, &[], &head));
        self.write(&bytes);
        self.write_section(container::MOVE, &[&points, &heights(scenario), &presence(scenario)]);
    }

    fn record(&mut self, time: Time, node: NodeId, event: &Event<'_>) {
        if let Event::Received { number, receptions, .. } = event {
            if self.kinds >> schema::RECEPTION & 1 == 1 {
                let all = receptions.iter().map(|reception| (reception.node, reception.outcome));
                self.encoder.receive(*number, all);
            }
            return;
        }
        if self.kinds >> kind_of(event) & 1 == 0 || !self.filter.concerns(node, event) {
            return;
        }
        let Some(kind) = RecordKind::of(event) else { return };
        if !self.filter.covers(time) {
            return self.encoder.follow(node, &kind);
        }
        if self.encoder.is_full() {
            self.close_block();
        }
        self.encoder.push(time, node, &kind);
    }

    fn end(&mut self, _time: Time) {
        self.is_over = true;
    }
}

/// The number of the table that has an event; beyond all tables if none has.
fn kind_of(event: &Event<'_>) -> u16 {
    match event {
        Event::Frame(_) => schema::FRAME,
        Event::Received { .. } => schema::RECEPTION,
        Event::Made(_) => schema::MADE,
        Event::Sent(..) => schema::SENT,
        Event::Delivered(_) => schema::DELIVERED,
        Event::Marked(_) => schema::MARKED,
        Event::Kept(_) => schema::KEPT,
        Event::Dropped(..) => schema::DROPPED,
        Event::Queue(_) => schema::QUEUE,
        Event::Route { .. } => schema::ROUTE,
        Event::Window { .. } => schema::WINDOW,
        Event::Notice(_) => schema::NOTICE,
        Event::Flow(..) => schema::FLOW,
        Event::Share { .. } => schema::SHARE,
        Event::Arrived(..) | Event::ArpDropped(..) => 63,
    }
}

fn new_table(id: u16) -> Table {
    let columns = schema::table(id).map_or(0, |table| table.columns.len());
    Table { id, rows: 0, columns: vec![columns::Column::default(); columns] }
}

/// The movement as points between which nodes go straight on at constant speed.
fn points(scenario: &Scenario) -> Table {
    let mut table = new_table(schema::POINT);
    for (node, trajectory) in (0..).zip(&scenario.movement) {
        let path = Path::new(trajectory);
        let mut push = |time: Time, at: Point| table.push([node, time.0, at.x.to_bits(), at.y.to_bits()]);
        for (at, leg) in path.legs().iter().enumerate() {
            if at > 0 && path.jumps().contains(&leg.start) {
                push(leg.start, path.legs()[at - 1].position(leg.start));
            }
            push(leg.start, leg.from);
        }
    }
    table
}

/// The heights between which nodes rise and sink at constant speed; the first holds before, the last after.
fn heights(scenario: &Scenario) -> Table {
    let mut table = new_table(schema::HEIGHT);
    for (node, trajectory) in (0..).zip(&scenario.movement) {
        for height in &trajectory.heights {
            table.push([node, height.at.0, height.z_m.to_bits()]);
        }
    }
    table
}

/// When nodes are there; one without a row always is.
fn presence(scenario: &Scenario) -> Table {
    let mut table = new_table(schema::PRESENCE);
    // What never ends is later than any time of a file.
    let within = |time: Time| time.min(Time::from_secs(MAX_TIME_S)).0;
    for (node, trajectory) in (0..).zip(&scenario.movement) {
        for present in &trajectory.present {
            table.push([node, within(present.from), within(present.until)]);
        }
    }
    table
}

/// The least rectangle that holds all points: least x and y, greatest x and y.
fn bounds(points: &Table) -> [f64; 4] {
    let all = |column: usize| points.columns[column].values.iter().map(|&bits| f64::from_bits(bits));
    let least = |column| all(column).fold(f64::INFINITY, f64::min);
    let greatest = |column| all(column).fold(f64::NEG_INFINITY, f64::max);
    if points.rows == 0 {
        return [0.0; 4];
    }
    [least(2), least(3), greatest(2), greatest(3)]
}
