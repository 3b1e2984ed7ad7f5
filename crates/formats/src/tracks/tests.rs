//! Readers of tracks: each form by what it means, and what is refused with the sentence that helps.

#![allow(clippy::float_cmp, reason = "numbers that were put in come out as they are")]

use std::io::Write;

use proptest::prelude::*;

use super::*;

fn read_with(text: &[u8], options: &Options) -> Result<Tracks, ReadError> {
    read_tracks(text, "f", &Limits::default(), options)
}

fn read(text: &str) -> Tracks {
    read_with(text.as_bytes(), &Options { thin_m: Some(0.0), ..Options::default() }).expect(text)
}

fn refuse(text: &str) -> ReadError {
    read_with(text.as_bytes(), &Options::default()).expect_err(text)
}

/// Label, samples as (t, x, y), and stays in s; one that does not end has an end of -1.
type Seen = (String, Vec<(f64, f64, f64)>, Vec<(f64, f64)>);

fn seen(tracks: &Tracks) -> Vec<Seen> {
    let end = |time: Time| if time == Time::NEVER { -1.0 } else { time.as_secs() };
    let samples = |track: &Track| {
        let places = track.x_m.iter().zip(&track.y_m);
        track.at.iter().zip(places).map(|(at, (&x, &y))| (at.as_secs(), x, y)).collect()
    };
    let stays = |track: &Track| track.present.iter().map(|&(from, to)| (from.as_secs(), end(to))).collect();
    tracks.nodes.iter().map(|track| (track.label.to_string(), samples(track), stays(track))).collect()
}

const FCD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- made by SUMO > 1.20 -->
<fcd-export xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
    <timestep time="100.00"/>
    <timestep time="101.00">
        <vehicle id="a&amp;b" x="1.0" y="2.0" angle="90.00" type="D>T" speed="3"/>
    </timestep>
    <timestep time="102.00">
        <vehicle id="a&amp;b" x="5.0" y="2.0"></vehicle>
        <person id="p" x="7.0" y="8.0"/>
    </timestep>
    <timestep time="103.00"><vehicle id="a&amp;b" x="9.5" y="2.0"/></timestep>
    <timestep time="104.00"><person id="p" x="7.0" y="9.0"/></timestep>
    <timestep time="105.00"><person id="p" x="7.0" y="11.0"/></timestep>
</fcd-export>
"#;

#[test]
fn vehicles_of_sumo_appear_and_leave() {
    let tracks = read(FCD);
    assert_eq!(tracks.began_s, 100.0);
    assert_eq!(
        seen(&tracks),
        [
            ("a&b".to_owned(), vec![(1.0, 1.0, 2.0), (2.0, 5.0, 2.0), (3.0, 9.5, 2.0)], vec![(1.0, 4.0)]),
            // In the gap it is not there; at the end of the file it stays.
            (
                "p".to_owned(),
                vec![(2.0, 7.0, 8.0), (4.0, 7.0, 9.0), (5.0, 7.0, 11.0)],
                vec![(2.0, 3.0), (4.0, -1.0)]
            ),
        ]
    );
}

#[test]
fn a_file_that_was_cut_off_is_refused_with_its_line() {
    let cut = &FCD[..FCD.find("<timestep time=\"105").expect("there")];
    let error = refuse(cut);
    assert_eq!((error.line, &*error.what), (Some(14), "the file is not complete"));
    assert!(refuse(&cut[..cut.len() - 60]).line.is_some());
}

#[test]
fn a_vehicle_without_a_place_is_refused_with_what_sumo_must_write() {
    let error =
        refuse("<fcd-export>\n<timestep time=\"1\">\n<vehicle id=\"a\" x=\"1\"/></timestep></fcd-export>");
    assert_eq!((error.line, &*error.found), (Some(3), "<vehicle> without y"));
    assert!(error.hint.contains("--fcd-output.attributes"));
}

#[test]
fn gzip_is_unfolded_and_damage_is_an_error() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(FCD.as_bytes()).expect("a vector");
    let mut packed = packed.finish().expect("a vector");
    let options = Options { thin_m: Some(0.0), ..Options::default() };
    assert_eq!(read_with(&packed, &options).expect("good"), read(FCD));
    packed.truncate(packed.len() / 2);
    assert_eq!(&*read_with(&packed, &options).expect_err("cut off").what, "the file cannot be read");
}

#[test]
fn degrees_become_metres_on_the_ellipsoid() {
    // One minute of latitude at 47° is 1852.87 m, and of longitude 1267.13 m (WGS 84).
    let csv = "time,id,lon,lat\n0,a,8.0,47.0\n0,b,8.0166666667,46.9916666667\n0,c,8.0,47.0083333333\n";
    let tracks = read(csv);
    assert_eq!(tracks.plane.map(|plane| plane.centre_deg.1), Some(47.0));
    let place = |node: usize| (tracks.nodes[node].x_m[0], tracks.nodes[node].y_m[0]);
    let ((ax, ay), (bx, by), (cx, cy)) = (place(0), place(1), place(2));
    assert!((ax, by, cx) == (0.0, 0.0, 0.0) && (bx - 1267.13).abs() < 0.5, "{bx}");
    assert!((cy - 1852.87).abs() < 0.5 && (ay - cy / 2.0).abs() < 1e-3, "{ay} {cy}");
}

#[test]
fn degrees_are_told_from_metres_by_the_values() {
    let rows = |scale: f64| {
        let place = |n: f64| format!("0,{n},{:.6},{:.6}\n", (8.5401 + n * 0.0022) * scale, 47.37011 * scale);
        format!("time,id,x,y\n{}{}{}", place(0.0), place(1.0), place(2.0))
    };
    assert!(read(&rows(1.0)).plane.is_some());
    assert!(read(&rows(1000.0)).plane.is_none());
    assert!(read("time,id,x,y\n0,0,0,0\n0,1,0.5,0\n0,2,1,0.25\n").plane.is_none());
}

#[test]
fn a_field_across_the_date_line_is_small() {
    let tracks = read("time,id,lon,lat\n0,a,179.9999,10\n0,b,-179.9999,10\n");
    let width = tracks.nodes[0].x_m[0] - tracks.nodes[1].x_m[0];
    assert!((width.abs() - 21.9).abs() < 0.1, "{width}");
}

#[test]
fn exchanged_degrees_and_far_points_are_refused() {
    assert!(refuse("time,id,lat,lon\n0,a,120.5,24.1\n0,b,120.6,24.2\n").hint.contains("exchanged"));
    let error = refuse("time,id,lon,lat\n0,a,8.5,47.3\n0,b,1,1\n");
    assert_eq!(&*error.what, "the field is too large for a plane");
}

const GPX: &str = r#"<?xml version="1.0"?><gpx version="1.1" creator="x"><metadata><name>all</name><time>2020-01-01T00:00:00Z</time></metadata>
<wpt lat="1" lon="2"><name>w</name></wpt>
<trk><name>Ann &lt;3</name><trkseg>
<trkpt lat="47.0" lon="8.0"><ele>400.5</ele><time>2026-05-04T10:00:05Z</time><extensions><t><time>bad</time></t></extensions></trkpt>
<trkpt lat="47.001" lon="8.0"><ele>401</ele><time>2026-05-04T10:00:10.5Z</time></trkpt></trkseg></trk>
<trk><name>Ann &lt;3</name><trkseg><trkpt lat="47.0" lon="8.001"><time>2026-05-04T12:00:03+02:00</time></trkpt></trkseg></trk></gpx>"#;

#[test]
fn tracks_of_gpx_are_nodes_with_names_and_heights() {
    let tracks = read(GPX);
    let labels: Vec<&str> = tracks.nodes.iter().map(|track| &*track.label).collect();
    assert_eq!(labels, ["Ann <3", "Ann <3 (2)"]);
    assert_eq!(tracks.nodes[0].at, [2.0, 7.5].map(Time::from_secs));
    assert_eq!(tracks.nodes[1].at, [Time::ZERO]);
    assert_eq!(tracks.nodes[0].z_m, [400.5, 401.0]);
    assert!(tracks.nodes[0].present.is_empty());
}

#[test]
fn what_receivers_write_into_gpx_is_read_and_said() {
    let some = read(&GPX.replace("<time>2026-05-04T10:00:10.5Z</time>", ""));
    assert_eq!((some.nodes[0].at.len(), some.odd.timeless), (1, 1));
    let back = read(&GPX.replace("10:00:10.5Z", "09:00:10.5Z"));
    assert_eq!((back.nodes[0].at.len(), &back.nodes[0].z_m[..]), (2, &[401.0, 400.5][..]));
    assert_eq!(back.odd.reordered, 1);
    // The clock stands still: the first of both counts, however far they are apart.
    let still = read(&GPX.replace("10:00:10.5Z", "10:00:05Z"));
    assert_eq!((still.nodes[0].z_m[..].to_vec(), still.odd.repeated, still.samples), (vec![400.5], 1, 2));
}

#[test]
fn a_gpx_without_a_recorded_track_is_refused_by_what_it_has() {
    let timeless = "<gpx>\n<trk><trkseg><trkpt lat=\"47\" lon=\"8\"/>\n</trkseg></trk></gpx>";
    let error = refuse(timeless);
    assert_eq!((error.line, &*error.what), (Some(2), "a track without times"));
    let route = "<gpx><wpt lat=\"47\" lon=\"8\"/><rte><rtept lat=\"47\" lon=\"8\"></rtept></rte></gpx>";
    let error = refuse(route);
    assert_eq!((&*error.what, &*error.found), ("no track", "routes and way points only (2 places)"));
}

#[test]
fn rows_without_a_place_and_samples_without_a_fix_are_left_out() {
    let text = "time,id,x,y,z\n0,a,1,2,nan\n1,a,NaN,NaN,5\n2,a,,,\n3,a,4,5,6\n,a,1,1,1\n";
    let tracks = read(text);
    assert_eq!(seen(&tracks)[0].1, [(0.0, 1.0, 2.0), (3.0, 4.0, 5.0)]);
    assert_eq!((tracks.odd.placeless, tracks.samples), (3, 2));
    let text = "time,id,lat,lon\n0,a,0.0,0.0\n1,a,14.58,121.06\n2,a,14.581,121.06\n0,b,0,0\n";
    let tracks = read(text);
    assert_eq!((tracks.nodes.len(), tracks.odd.without_fix, tracks.samples), (1, 2, 2));
    assert!(
        refuse("time,id,lat,lon\n1,a,14.58,121.06\n2,a,14.58,121.06\n2,b,44.5,121\n")
            .found
            .contains("farthest is `b` at 44.5, 121")
    );
}

#[test]
fn columns_are_known_by_many_names_and_a_missing_one_is_named() {
    for header in [
        "user_id;tracked_at;latitude;longitude;elevation;accuracy",
        "Vehicle ID;Time (s);Latitude [deg];Longitude [deg];Altitude (m);more",
    ] {
        let tracks = read(&format!("{header}\n7;5,5;47,0;8,25;400;1\n7;6;47.0;8.25;401;1\n"));
        assert_eq!(
            (&*tracks.nodes[0].label, &tracks.nodes[0].at[..]),
            ("7", &[5.5, 6.0].map(Time::from_secs)[..])
        );
        assert_eq!(tracks.nodes[0].z_m, [400.0, 401.0]);
    }
    // What ends in _id says whose a sample is, if nothing else does.
    assert_eq!(&*read("t,point,Drone-ID,x,y\n0,1,b 2,3,4\n").nodes[0].label, "b 2");
    // The number of a row is not the name of a node.
    let tracks = read("id,user_id,t,x,y\n0,ann,0,1,2\n1,ann,1,3,4\n");
    assert_eq!((tracks.nodes.len(), &*tracks.nodes[0].label), (1, "ann"));
    let error = refuse("time,lat,lon,speed\n0,47,8,1\n");
    assert_eq!(&*error.what, "no column that says whose the samples are");
    assert_eq!(&*refuse("id,lat,lon\n0,47,8\n").what, "no column of times");
    assert_eq!(&*refuse("id,time,speed\n0,47,8\n").what, "no columns of places");
    assert!(read("time,id,x,y\n0,0,1,2\n1,1,1,2\n").odd.single);
    assert!(!read("time,id,x,y\n0,0,1,2\n0,1,1,2\n").odd.single);
}

#[test]
fn milliseconds_are_told_by_the_name_or_the_digits() {
    let seconds = |text: &str| read(text).nodes[0].at.clone();
    assert_eq!(seconds("time_ms,id,x,y\n0,a,1,2\n1500,a,3,4\n"), [0.0, 1.5].map(Time::from_secs));
    assert_eq!(seconds("Time [ms],id,x,y\n0,a,1,2\n1500,a,3,4\n"), [0.0, 1.5].map(Time::from_secs));
    let since_1970 = "timestamp,id,x,y\n1700000000000,a,1,2\n1700000001500,a,3,4\n";
    assert_eq!(seconds(since_1970), [0.0, 1.5].map(Time::from_secs));
    assert!(refuse(&since_1970.replace("1700000001500", "1700000001")).wanted.contains("all seconds"));
}

#[test]
fn a_file_that_is_cut_off_behind_a_bracket_ends() {
    for cut in ["<gpx a=\">", "<gpx><!-- a > b>", "<gpx><?x >", "<gpx><![CDATA[ a ]>", "<fcd-export a='>"] {
        let error = refuse(cut);
        assert!(
            ["the file is not complete", "not well-formed XML"].contains(&&*error.what),
            "{cut}: {error}"
        );
    }
}

#[test]
fn names_may_be_text_as_it_is() {
    let named = GPX.replace("<name>Ann &lt;3</name>", "<name>A<![CDATA[nn <3 & ]] > \"Bob\"]]>!</name>");
    assert_eq!(&*read(&named).nodes[0].label, "Ann <3 & ]] > \"Bob\"!");
}

#[test]
fn bonnmotion_is_flat_high_or_with_a_status() {
    let flat = read("0.0 1 2 10.0 3 4\n0.0 5 6 2.5 7 8\n");
    assert_eq!(seen(&flat)[0].1, [(0.0, 1.0, 2.0), (10.0, 3.0, 4.0)]);
    let high = read("#3D\n0.0 1 2 30 10.0 3 4 30\n");
    assert_eq!((high.nodes.len(), &high.nodes[0].z_m[..]), (1, &[30.0, 30.0][..]));
    let text = "0.0 1 2 1 10.0 3 4 2 20.0 3 5 1\n";
    assert!(refuse(text).hint.contains(".params"));
    let status = Options { bonnmotion: Some(BonnMotionPoint::Status), ..Options::default() };
    let status = read_with(text.as_bytes(), &status).expect("good");
    assert_eq!(seen(&status)[0].2, [(0.0, 10.0), (20.0, -1.0)]);
    assert_eq!(refuse("0.0 1 2 10.0 3\n").line, Some(1));
}

#[test]
fn nodes_of_the_one_keep_their_ids() {
    let tracks = read("5 100 0 500 0 500\n5 7 1 2\n5 3 10 20\n6 7 2 2\n8 7 3 2\n");
    assert_eq!(
        seen(&tracks),
        [
            ("3".to_owned(), vec![(0.0, 10.0, 20.0)], vec![]),
            ("7".to_owned(), vec![(0.0, 1.0, 2.0), (1.0, 2.0, 2.0), (3.0, 3.0, 2.0)], vec![]),
        ]
    );
    assert_eq!(refuse("0 9 0 9 0 9\n0 a 1 1\n1 a 1\n").line, Some(3));
}

#[test]
fn tables_have_any_order_separator_and_further_columns() {
    let made = [
        "t;node;speed;y;x\n1;b;9;2,;1\n".replace("2,", "2"),
        "time\tid\tx\ty\n1\tb\t1\t2\n".to_owned(),
        "time id x y\n1 b 1 2\n".to_owned(),
        "\"Time\",\"ID\",\"X\",\"Y\"\r\n1,\"b\",1,2\r\n".to_owned(),
        "1,b,1,2\n".to_owned(),
    ];
    for text in made {
        assert_eq!(seen(&read(&text)), [("b".to_owned(), vec![(1.0, 1.0, 2.0)], vec![])], "{text}");
    }
    let dated =
        read("timestamp,device,lat,lon\n2026-05-04 10:00:01,b,47,8.001\n2026-05-04 10:00:00,a,47,8\n");
    assert_eq!(dated.nodes[0].at, [Time::from_secs(1.0)]);
}

#[test]
fn a_state_column_says_when_a_node_is_there() {
    let tracks = read("time,id,x,y,state\n0,a,0,0,on\n5,a,5,0,off\n9,a,9,0,on\n0,b,1,1,1\n0,c,0,0,0\n");
    assert_eq!(seen(&tracks)[0].2, [(0.0, 5.0), (9.0, -1.0)]);
    assert_eq!(seen(&tracks)[1].2, []);
    assert_eq!(tracks.nodes[2].present, [(Time(u64::MAX - 1), Time::NEVER)], "never there");
}

#[test]
fn sumos_table_has_nodes_that_appear() {
    let head = "timestep_time;vehicle_angle;vehicle_id;vehicle_x;vehicle_y\n";
    let tracks =
        read(&format!("{head}0.00;;;;\n1.00;90;v;1;2\n2.00;90;v;2;2\n3.00;90;w;2;2\n4.00;90;w;3;2\n"));
    assert_eq!(seen(&tracks)[0].2, [(1.0, 3.0)]);
    assert_eq!(seen(&tracks)[1].2, [(3.0, -1.0)]);
}

#[test]
fn geojson_has_points_or_lines_with_times() {
    let point = |id: &str, time: u32, lon: f64| {
        format!(
            r#"{{"type":"Feature","properties":{{"id":{id},"time":{time}}},"geometry":{{"type":"Point","coordinates":[{lon},47.0,3]}}}}"#
        )
    };
    let points = format!(
        r#"{{"type":"FeatureCollection","features":[{},{},{}]}}"#,
        point("4", 0, 8.0),
        point("4", 1, 8.001),
        point("\"z\"", 0, 8.0)
    );
    let tracks = read(&points);
    let labels: Vec<&str> = tracks.nodes.iter().map(|track| &*track.label).collect();
    assert_eq!(
        (labels, tracks.nodes[0].at.len(), &tracks.nodes[0].z_m[..]),
        (vec!["4", "z"], 2, &[3.0, 3.0][..])
    );
    let line = r#"{"type":"Feature","properties":{"times":[5,7]},"geometry":{"type":"LineString","coordinates":[[8,47],[8.001,47]]}}"#;
    assert_eq!(read(line).nodes[0].at, [5.0, 7.0].map(Time::from_secs));
    assert!(refuse(&line.replace("[5,7]", "[5]")).found.contains("1 times for 2 places"));
    assert!(refuse("{\n\"a\": }").what.contains("not GeoJSON"));
}

#[test]
fn other_files_are_refused_with_the_sentence_that_helps() {
    for (text, found) in [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS"),
        ("<!DOCTYPE html>\n<html><body>404</body></html>", "HTML"),
        ("<?xml version=\"1.0\"?>\n<anim ver=\"netanim-3.108\">", "NetAnim"),
        ("<?xml version='1.0'?><!-- c --><scenario name=\"x\">", "CORE"),
        ("<net version=\"1.9\">", "road network"),
        ("<routes>", "routes of SUMO"),
        ("now=+0.0ns node=0 pos=1:2:0 vel=0:0:0\n", "ns-3"),
        ("0 10S (100.0, 200.0, 0.0)\n0 20S (1.0, 2.0, 0.0)\n", "GloMoSim"),
        ("hello world\n", "`hello world`"),
        ("<kml xmlns=\"http://www.opengis.net/kml/2.2\">", "KML"),
    ] {
        let error = refuse(text);
        assert!(error.found.contains(found), "{text}: {error}");
    }
}

#[test]
fn a_node_at_two_places_is_an_error_and_a_repeated_row_is_not() {
    assert_eq!(read("time,id,x,y\n1,a,2,3\n1,a,2,3\n").nodes[0].at.len(), 1);
    // Clocks that show whole seconds: the first counts.
    let near = read("time,id,x,y\n1,a,2,3\n1,a,2,4\n2,a,2,5\n");
    assert_eq!((seen(&near)[0].1.clone(), near.odd.repeated), (vec![(1.0, 2.0, 3.0), (2.0, 2.0, 5.0)], 1));
    let error = refuse("time,id,x,y\n1,a,2,3\n1,a,2,400\n");
    assert_eq!((&*error.what, error.found.contains("397 m apart")), ("a node at two places", true));
}

#[test]
fn entities_cannot_grow_and_nesting_has_an_end() {
    assert!(refuse("<!DOCTYPE x [<!ENTITY a \"b\">]><fcd-export/>").found.contains("DOCTYPE"));
    let deep = "<a>".repeat(100);
    assert_eq!(&*refuse(&format!("<fcd-export>{deep}")).what, "not well-formed XML");
    // Many `>` within quotes or a comment are looked at once each.
    let long = ">".repeat(900_000);
    assert_eq!(&*refuse(&format!("<fcd-export a=\"{long}\"><!--{long}-->")).what, "the file is not complete");
}

#[test]
fn seconds_since_1970_count_from_the_first() {
    let tracks = read("time,id,x,y\n1777897805.25,a,2,3\n1777897807,b,2,3\n");
    assert_eq!((tracks.began_s, tracks.nodes[1].at[0]), (1_777_897_805.25, Time::from_secs(1.75)));
}

/// Where a track is at a time, by straight lines.
fn at(track: &Track, time: Time) -> (f64, f64) {
    let next = track.at.partition_point(|&at| at <= time).clamp(1, track.at.len() - 1);
    let share = time.since(track.at[next - 1]).as_secs() / track.at[next].since(track.at[next - 1]).as_secs();
    let on = |column: &[f64]| column[next - 1] + share * (column[next] - column[next - 1]);
    (on(&track.x_m), on(&track.y_m))
}

#[test]
fn tracks_become_trajectories_with_their_labels() {
    let ways = read(FCD).into_trajectories();
    let labels: Vec<_> = ways.iter().map(|way| way.label.as_deref()).collect();
    assert_eq!(labels, [Some("a&b"), Some("p")]);
    assert_eq!((ways[0].commands.len(), ways[0].present.len(), ways[1].present.len()), (2, 1, 2));
    assert_eq!(read("1 2 3\n0 1 2 1 3 2\n").into_trajectories()[1].label, None);
}

proptest! {
    /// Whatever is left out, the node is where its samples say within the tolerance.
    #[test]
    fn thinning_keeps_the_place(steps in prop::collection::vec((1u32..50, -3i32..4, -3i32..4), 3..60), most in 0.0f64..5.0) {
        let (mut t, mut x, mut y) = (0u32, 0i32, 0i32);
        let mut text = "time,id,x,y\n".to_owned();
        for (dt, dx, dy) in steps {
            (t, x, y) = (t + dt, x + dx, y + dy);
            text.push_str(&format!("{t},a,{x},{y}\n"));
        }
        let whole = read(&text);
        let options = Options { thin_m: Some(most), ..Options::default() };
        let thin = read_with(text.as_bytes(), &options).expect("good");
        for (index, &time) in whole.nodes[0].at.iter().enumerate() {
            let (x, y) = at(&thin.nodes[0], time);
            let off = libm::hypot(x - whole.nodes[0].x_m[index], y - whole.nodes[0].y_m[index]);
            prop_assert!(off <= most + 1e-6, "{off} > {most}");
        }
    }

    /// A table that is written is read back, bit by bit.
    #[test]
    fn tables_come_back(rows in prop::collection::btree_map((0u64..1_000_000_000_000, "[a-z]{1,3}"), (-1e6f64..1e6, -1e6f64..1e6), 1..40)) {
        let mut text = "time,id,x,y\n".to_owned();
        for ((t, id), (x, y)) in &rows {
            text.push_str(&format!("{}.{:09},{id},{x:?},{y:?}\n", t / 1_000_000_000, t % 1_000_000_000));
        }
        let tracks = read(&text);
        let mut kept = 0;
        for track in &tracks.nodes {
            for (index, at) in track.at.iter().enumerate() {
                let place = rows.get(&(at.0, track.label.to_string()));
                prop_assert_eq!(place, Some(&(track.x_m[index], track.y_m[index])));
                kept += 1;
            }
        }
        prop_assert!(kept >= tracks.nodes.len() && kept <= rows.len());
    }

    /// No bytes make a reader fail in another way than by an error.
    #[test]
    fn no_input_panics(start in 0usize..7, bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[ -~\n]{0,300}") {
        let heads = [&b""[..], b"<fcd-export><timestep time=\"1\">", b"<gpx>", b"time,id,x,y\n", b"0 9 0 9 0 9\n", b"0 1 2 ", b"{\"features\":["];
        for tail in [&bytes[..], text.as_bytes()] {
            let input = [heads[start], tail].concat();
            let _ = read_with(&input, &Options::default());
        }
    }
}
