//! What is written is read again: whole runs, cut files, damaged files, filters.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

use std::collections::BTreeSet;
use std::io::{self, Cursor, Write};

use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::mobility::waypoint::{self, WaypointParams};
use manetlab_core::mobility::{Height, Presence};
use manetlab_core::observe::{Record, RecordKind, Recorder, Recorders};
use manetlab_core::profile::profile;
use manetlab_core::radio::PathLossKind;
use manetlab_core::scenario::{Flow, FlowKind, RoutingKind, Scenario};
use manetlab_core::simulation::{Options, run, run_recorded};
use manetlab_core::stage::ThrottleMode;
use manetlab_recording::{Filter, Reader, RecordingError, Writer, lines, records};
use proptest::prelude::*;

/// Twenty nodes that move, with TCP, CBR and more.
fn scenario(routing: RoutingKind, duration_s: f64) -> Scenario {
    let field = WaypointParams { nodes: 20, width_m: 800.0, height_m: 400.0, ..WaypointParams::default() };
    let movement = waypoint::generate(&field, Span::from_secs(duration_s), &Streams::new(7, 0));
    let flow = |src, dst, kind| Flow {
        src,
        dst,
        start_s: 0.5,
        stop_s: None,
        late_after_s: None,
        deadline_ms: None,
        throttle_bps: None,
        alone_bps: None,
        oracle_bps: None,
        reserve_bps: None,
        reserve_min_bps: None,
        kind,
    };
    let tcp = FlowKind::Tcp { bytes: None, window: Some(8), segment_bytes: Some(1460) };
    let cbr = FlowKind::Cbr { bytes: 512, interval_s: 0.05, random: false, max_packets: None };
    Scenario {
        duration_s,
        warmup_s: 0.0,
        seed: 7,
        replication: 0,
        routing,
        params: profile("rfc").expect("the profile exists"),
        flows: vec![flow(0, 1, tcp.clone()), flow(2, 3, tcp), flow(4, 5, cbr.clone()), flow(6, 7, cbr)],
        rates: Vec::new(),
        radios: Vec::new(),
        walls: Vec::new(),
        energy: None,
        wired: Vec::new(),
        movement: movement.expect("a usable field"),
    }
}

fn record(scenario: &Scenario, recorder: &mut dyn Recorder) {
    run_recorded(scenario, Options::default(), None, Some(recorder), &mut || true).expect("it runs");
}

fn written(scenario: &Scenario, filter: Filter) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), filter, serde_json::Value::Null).with_block_events(4000);
    record(scenario, &mut writer);
    writer.finish().expect("a vector takes all")
}

fn reader(bytes: &[u8]) -> Reader<Cursor<&[u8]>> {
    Reader::open(Cursor::new(bytes)).expect("it was just written")
}

/// All events of a recording, frames without their outcomes.
fn all_records(bytes: &[u8]) -> Vec<Record> {
    let mut reader = reader(bytes);
    let blocks = reader.blocks().to_vec();
    let of_block = |(number, info)| {
        let section = reader.block(number).expect("the block is whole");
        records(info, &section).expect("it is a run's")
    };
    blocks.iter().enumerate().flat_map(of_block).collect()
}

#[test]
fn the_lines_of_a_file_are_those_of_the_recording_in_memory() {
    for routing in [RoutingKind::Aodv, RoutingKind::Dsr, RoutingKind::Dsdv, RoutingKind::Tsr] {
        let mut scenario = scenario(routing, 40.0);
        if routing == RoutingKind::Dsr {
            // Sources learn their shares.
            scenario.params.throttle.mode = ThrottleMode::Density;
            scenario.flows.iter_mut().for_each(|flow| flow.alone_bps = Some(vec![5e5, 2e5]));
        }
        let in_memory = run(&scenario, true).expect("it runs").recording.expect("it was asked for");
        let mut writer =
            Writer::new(Vec::new(), Filter::default(), serde_json::Value::Null).with_block_events(4000);
        let mut streamed = lines::JsonLines::new(Cursor::new(Vec::new()));
        record(&scenario, &mut Recorders(vec![&mut writer, &mut streamed]));
        let streamed = streamed.finish().expect("a vector takes all").into_inner();
        let file = writer.finish().expect("a vector takes all");
        let mut reader = reader(&file);
        assert!(reader.is_complete() && reader.blocks().len() > 1, "{routing:?}");
        let mut exported = Vec::new();
        lines::export(&mut reader, &mut exported).expect("the file is whole");
        let text = in_memory.to_json_lines();
        assert_eq!(text.contains("\"event\":\"share\""), routing == RoutingKind::Dsr);
        // What was still on the air at the end is told by none of the three.
        for ((a, b), c) in
            text.lines().zip(exported.split(|b| *b == b'\n')).zip(streamed.split(|b| *b == b'\n'))
        {
            assert_eq!(a.as_bytes(), b, "{}", String::from_utf8_lossy(b));
            assert_eq!(a.as_bytes(), c, "{}", String::from_utf8_lossy(c));
        }
        assert_eq!((text.len(), text.len()), (exported.len(), streamed.len()), "{routing:?}");
    }
}

#[test]
fn names_heights_and_presence_are_beside_the_movement() {
    let mut scenario = scenario(RoutingKind::Aodv, 5.0);
    let plain = reader(&written(&scenario, Filter::default())).head().get("labels").cloned();
    assert_eq!(plain, None);
    let node = &mut scenario.movement[3];
    node.label = Some("Ann \u{fc}".to_owned());
    node.heights = vec![Height { at: Time::from_secs(1.0), z_m: 12.5 }];
    node.present = vec![Presence { from: Time::from_secs(1.0), until: Time::NEVER }];
    scenario.params.radio.path_loss = PathLossKind::Friis;
    scenario.params.mac.propagation_allowance_us = 100.0;
    let file = written(&scenario, Filter::default());
    let reader = reader(&file);
    let labels = reader.head()["labels"].as_array().expect("there are names");
    assert_eq!((labels.len(), &labels[2], &labels[3]), (20, &"2".into(), &"Ann \u{fc}".into()));
    let rows = |name: &str| {
        let table = reader
            .movement()
            .tables
            .iter()
            .find(|table| manetlab_recording::schema::table(table.id).is_some_and(|of| of.name == name));
        let columns = &table.expect(name).columns;
        columns.iter().map(|column| column.values.clone()).collect::<Vec<_>>()
    };
    assert_eq!(rows("height"), [vec![3], vec![1_000_000_000], vec![12.5_f64.to_bits()]]);
    assert_eq!(rows("presence"), [vec![3], vec![1_000_000_000], vec![1_000_000_000_000_000]]);
}

#[test]
fn a_file_that_is_cut_anywhere_has_its_blocks_before_the_cut() {
    let file = written(&scenario(RoutingKind::Aodv, 30.0), Filter::default());
    let whole = reader(&file).blocks().to_vec();
    assert!(whole.len() > 1, "{}", whole.len());
    for cut in (whole[0].offset as usize..file.len()).step_by(7919) {
        let mut cut_off = reader(&file[..cut]);
        assert!(!cut_off.is_complete());
        let ends = whole.iter().filter(|block| block.offset + 16 + u64::from(block.stored) <= cut as u64);
        assert_eq!(cut_off.blocks(), ends.copied().collect::<Vec<_>>());
        for number in 0..cut_off.blocks().len() {
            cut_off.block(number).expect("it is whole");
        }
    }
}

#[test]
fn a_run_that_breaks_off_leaves_what_it_did() {
    let scenario = scenario(RoutingKind::Aodv, 100.0);
    let mut writer =
        Writer::new(Vec::new(), Filter::default(), serde_json::Value::Null).with_block_events(4000);
    let mut asked = 0;
    let mut go_on = || {
        asked += 1;
        asked < 128
    };
    run_recorded(&scenario, Options::default(), None, Some(&mut writer), &mut go_on)
        .expect_err("it was stopped");
    let file = writer.finish().expect("a vector takes all");
    assert!(!reader(&file).is_complete());
    assert!(all_records(&file).len() > 1000);
}

#[test]
fn the_head_of_a_block_is_the_state_that_events_lead_to() {
    let file = written(&scenario(RoutingKind::Aodv, 40.0), Filter::default());
    let mut reader = reader(&file);
    let (mut queues, mut routes) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    for number in 0..reader.blocks().len() {
        let section = reader.block(number).expect("it is whole");
        let rows = |id: u16| {
            let table = section.table(id);
            let row =
                |row: usize| table.map(|t| t.columns.iter().map(|c| c.values[row]).collect::<Vec<u64>>());
            (0..table.map_or(0, |table| table.rows)).filter_map(row).collect::<Vec<_>>()
        };
        let found: Vec<(u64, u64)> = rows(49).iter().map(|row| (row[0], row[1])).collect();
        assert_eq!(found, queues.clone().into_iter().collect::<Vec<_>>(), "block {number}");
        let found: Vec<_> = rows(48).iter().map(|row| ((row[0], row[1]), (row[2], row[3]))).collect();
        assert_eq!(found, routes.clone().into_iter().collect::<Vec<_>>(), "block {number}");
        let info = reader.blocks()[number];
        for record in records(&info, &section).expect("it is a run's") {
            let node = u64::from(record.node.0);
            match record.kind {
                RecordKind::Queue(0) => {
                    queues.remove(&node);
                }
                RecordKind::Queue(length) => {
                    queues.insert(node, u64::from(length));
                }
                RecordKind::Route { dst, next_hop: Some(next_hop), hops } => {
                    let hops = hops.map_or(0, |hops| u64::from(hops) + 1);
                    routes.insert((node, u64::from(dst.0) + 2), (u64::from(next_hop.0) + 2, hops));
                }
                RecordKind::Route { dst, next_hop: None, .. } => {
                    routes.remove(&(node, u64::from(dst.0) + 2));
                }
                _ => {}
            }
        }
    }
    assert!(!routes.is_empty());
}

#[test]
fn filters_keep_what_they_say() {
    let scenario = scenario(RoutingKind::Aodv, 20.0);
    let all = all_records(&written(&scenario, Filter::default()));
    let set = |items: &[u32]| Some(items.iter().copied().collect::<BTreeSet<u32>>());
    // Frames are numbered anew among those that are kept.
    let kept = |filter: Filter| {
        let mut records = all_records(&written(&scenario, filter));
        without_numbers(&mut records);
        records
    };
    let expected = |keep: &dyn Fn(&Record) -> bool| {
        let mut records: Vec<Record> = all.iter().filter(|record| keep(record)).cloned().collect();
        without_numbers(&mut records);
        records
    };
    let (from, until) = (Time::from_secs(5.0), Time::from_secs(7.0));
    assert_eq!(
        kept(Filter { from, until, ..Filter::default() }),
        expected(&|record| from <= record.time && record.time < until)
    );
    assert_eq!(
        kept(Filter { nodes: set(&[2, 3]), ..Filter::default() }),
        expected(&|record| {
            let to = match record.kind {
                RecordKind::Frame { to, .. } => Some(to.0),
                _ => None,
            };
            [2, 3].contains(&record.node.0) || to.is_some_and(|to| [2, 3].contains(&to))
        })
    );
    let kinds = Some(["dropped", "window"].map(String::from).into_iter().collect());
    assert_eq!(
        kept(Filter { kinds, ..Filter::default() }),
        expected(&|record| matches!(record.kind, RecordKind::Dropped(..) | RecordKind::Window { .. }))
    );
    let of_flow = kept(Filter { flows: set(&[2]), ..Filter::default() });
    let is_of = |record: &Record| match &record.kind {
        RecordKind::Made(note) => note.flow == Some(2),
        RecordKind::Window { flow, .. } => *flow == 2,
        _ => true,
    };
    assert!(of_flow.iter().all(is_of) && of_flow.len() < all.len());
}

fn without_numbers(records: &mut [Record]) {
    for record in records {
        if let RecordKind::Frame { number, .. } = &mut record.kind {
            *number = 0;
        }
    }
}

#[test]
fn other_files_are_refused_in_words() {
    let refusal = |bytes: &[u8]| match Reader::open(Cursor::new(bytes)) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    };
    assert!(refusal(b"").contains("an empty file"));
    assert!(
        refusal(b"{\"format\":\"manetlab-recording\",\"version\":1,\"events\":0}\n").contains("JSON lines")
    );
    let mut file = written(&scenario(RoutingKind::Static, 1.0), Filter::default());
    assert!(refusal(&file[..20]).contains("ends in the middle"));
    for version in [1, 4] {
        file[8] = version;
        assert!(refusal(&file).contains(&format!("found version {version}")));
    }
}

#[test]
fn a_full_disk_is_an_error_at_the_end_and_changes_nothing_before() {
    struct Disk(usize);
    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let scenario = scenario(RoutingKind::Aodv, 20.0);
    let plain = run(&scenario, false).expect("it runs").result;
    let mut writer =
        Writer::new(Disk(20_000), Filter::default(), serde_json::Value::Null).with_block_events(4000);
    let outcome = run_recorded(&scenario, Options::default(), None, Some(&mut writer), &mut || true);
    assert_eq!(outcome.expect("it runs").result, plain);
    assert!(writer.has_failed());
    assert!(writer.finish().is_err_and(|error| error.kind() == io::ErrorKind::StorageFull));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Bytes that change are found, or change nothing that is read.
    #[test]
    fn damage_is_an_error_and_no_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let file = FILE.get_or_init(|| written(&scenario(RoutingKind::Aodv, 2.0), Filter::default()));
        let mut damaged = file.clone();
        for (at, byte) in changes {
            damaged[at.index(file.len())] = byte;
        }
        if let Ok(mut reader) = Reader::open(Cursor::new(&damaged[..])) {
            let _: Result<(), RecordingError> = lines::export(&mut reader, io::sink());
        }
    }
}

#[test]
fn files_of_version_2_are_read() {
    // A transfer over a chain of four nodes, 1.2 s.
    let file = include_bytes!("data/version-2.mlrec");
    let records = all_records(file);
    assert_eq!(records.len(), 444);
    assert!(records.is_sorted_by_key(|record| record.time));
    let is_frame = |record: &&Record| matches!(record.kind, RecordKind::Frame { .. });
    assert_eq!(records.iter().filter(is_frame).count(), 200);
    let mut lines = Vec::new();
    lines::export(&mut reader(file), &mut lines).expect("a vector takes all");
    let told = String::from_utf8(lines).expect("text");
    assert_eq!(told.matches("\"received\"").count(), records_received(file));
}

/// How many rows say that a frame was received.
fn records_received(file: &[u8]) -> usize {
    let section = reader(file).block(0).expect("the block is whole");
    let table = section.table(32).expect("frames were received");
    let received = section.strings.iter().position(|text| text == "received").map(|place| place as u64);
    table.columns[2].values.iter().filter(|value| Some(**value) == received).count()
}
