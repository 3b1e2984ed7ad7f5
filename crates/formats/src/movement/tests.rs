//! Movement files: what is understood, what is refused and on which line, and that nothing is lost.

use manetlab_core::kernel::{Span, Streams, Time};
use manetlab_core::mobility::waypoint::{Boundary, Start, WaypointParams, generate};
use manetlab_core::mobility::{Command, Path, Point, Trajectory};
use proptest::prelude::*;

use super::{Movement, read_movement, write_movement};
use crate::{Limits, ReadError};

const TWO_NODES: &str =
    "$node_(0) set X_ 1.0\n$node_(0) set Y_ 2.0\n$node_(1) set X_ 3.0\n$node_(1) set Y_ 4.0\n";

fn read(text: &str) -> Result<Movement, ReadError> {
    read_movement(text.as_bytes(), "m.tcl", &Limits::default())
}

/// The commands of node 0 in a file of two nodes.
fn commands(lines: &str) -> Vec<Command> {
    read(&format!("{TWO_NODES}{lines}")).expect("a good file").trajectories[0].commands.clone()
}

/// The error of a file of two nodes, whose own lines are 1 to 4.
fn refused(lines: &str) -> ReadError {
    read(&format!("{TWO_NODES}{lines}")).expect_err(lines)
}

fn written(movement: &Movement) -> String {
    let mut text = String::new();
    write_movement(movement, &mut text).expect("a String takes all");
    text
}

fn secs(seconds: f64) -> Time {
    Time::from_secs(seconds)
}

#[test]
fn a_file_of_setdest_is_read_line_by_line() {
    let text = "#\n# nodes: 2, pause: 0.00, max speed: 20.00, max x: 500.00, max y: 500.00\n#\n\
        $node_(0) set X_ 83.364547538000\n$node_(0) set Y_ 239.438000000000\n$node_(0) set Z_ 0.000000000000\n\
        $node_(1) set X_ 2.5e2\n$node_(1) set Y_ 120\n$node_(1) set Z_ 0\n\
        $god_ set-dist 0 1 1\n\
        $ns_ at 2.000000000000 \"$node_(0) setdest 150.000000000000 100.000000000000 0.000000000001\"\n\
        $ns_ at 5.5 \"$god_ set-dist 0 1 16777215\"\n\
        # Destination Unreachables: 0\n";
    let movement = read(text).expect("as setdest writes it");
    assert_eq!(
        movement.trajectories,
        [
            Trajectory::new(
                Point { x: 83.364547538, y: 239.438 },
                vec![Command::GoTo { at: secs(2.0), to: Point { x: 150.0, y: 100.0 }, speed: 1e-12 }],
            ),
            Trajectory::fixed(250.0, 120.0),
        ]
    );
    assert_eq!(movement.bounds(), Point { x: 250.0, y: 239.438 });
}

#[test]
fn blanks_line_ends_and_spellings_vary() {
    let plain = commands("$ns_ at 1.5 \"$node_(0) setdest 7 8 9\"\n");
    for line in [
        "\t$ns   at\t1.5   \"  $node(0)  setdest\t7 8  9 \"  \r\n\r\n",
        "$ns_ at 15e-1 \"$node_(0) setdest 7.0 .8e1 +9\";# on the way",
        "$ns_ at 1.500000000000000000001 \"$node_(0) setdest 7 8 9\" ;",
        "set god_ [God instance]\n$god set-dist 0 1 2\n$ns at 1.5 \"$node_(0) setdest 7 8 9\"",
    ] {
        assert_eq!(commands(line), plain, "{line}");
    }
}

#[test]
fn commands_are_put_in_order_of_time_and_equal_times_keep_the_files_order() {
    let goals: Vec<f64> = commands(
        "$ns_ at 9 \"$node_(0) setdest 1 0 1\"\n$ns_ at 3 \"$node_(0) setdest 2 0 1\"\n\
         $ns_ at 9 \"$node_(0) setdest 3 0 1\"\n$ns_ at 3.0 \"$node_(0) setdest 4 0 1\"\n",
    )
    .iter()
    .map(|command| match command {
        Command::GoTo { to, .. } | Command::Jump { to, .. } => to.x,
    })
    .collect();
    assert_eq!(goals, [2.0, 4.0, 1.0, 3.0]);
}

#[test]
fn both_coordinates_at_one_time_are_one_jump() {
    let jump = |x, y| Command::Jump { at: secs(4.0), to: Point { x, y } };
    let put = |axis, value| format!("$ns_ at 4.0 \"$node_(0) set {axis} {value}\"\n");
    assert_eq!(commands(&(put("X_", 5) + &put("Y_", 6))), [jump(5.0, 6.0)]);
    assert_eq!(commands(&(put("Y_", 6) + &put("X_", 5))), [jump(5.0, 6.0)]);
    let twice = put("X_", 5) + &put("Y_", 6) + &put("X_", 7) + &put("Y_", 8);
    assert_eq!(commands(&twice), [jump(5.0, 6.0), jump(7.0, 8.0)]);
}

#[test]
fn one_coordinate_alone_keeps_the_other_as_it_is_then() {
    // Node 0 walks from (1, 2) north at 10 m/s; at 4 s it is at y = 32, at 6 s it has been at 40 for a
    // while.
    let walk = "$ns_ at 1 \"$node_(0) setdest 1 40 10\"\n";
    let jumps = "$ns_ at 4 \"$node_(0) set X_ 100\"\n$ns_ at 6 \"$node_(0) set Y_ 7\"\n";
    let found = commands(&format!("{walk}{jumps}"));
    assert_eq!(
        found[1..],
        [
            Command::Jump { at: secs(4.0), to: Point { x: 100.0, y: 32.0 } },
            Command::Jump { at: secs(6.0), to: Point { x: 100.0, y: 7.0 } },
        ]
    );
    assert_eq!(
        commands(&format!("{walk}$ns_ at 6 \"$node_(0) set X_ 7\"\n"))[1..],
        [Command::Jump { at: secs(6.0), to: Point { x: 7.0, y: 40.0 } }]
    );
}

#[test]
fn heights_are_kept_and_climbs_are_along_the_slope() {
    assert_eq!(commands("$node_(0) set Z_ 0\n$ns_ at 3 \"$node_(0) set Z_ -0.0\"\n"), []);
    // From (1, 2, 5) to (4, 2, 9) at 1 m/s: 5 s, of which 3 m are along the ground.
    let text = format!("{TWO_NODES}$node_(0) set Z_ 5\n$ns_ at 10 \"$node_(0) setdest 4 2 9 1\"\n");
    let found = read(&text).expect("good").trajectories.remove(0);
    assert_eq!(found.commands, [Command::GoTo { at: secs(10.0), to: Point { x: 4.0, y: 2.0 }, speed: 0.6 }]);
    let heights: Vec<(u64, f64)> = found.heights.iter().map(|height| (height.at.0, height.z_m)).collect();
    assert_eq!(heights, [(0, 5.0), (10_000_000_000, 5.0), (15_000_000_000, 9.0)]);
}

#[test]
fn orders_without_a_time_are_for_the_beginning() {
    let to = Point { x: 7.0, y: 8.0 };
    assert_eq!(commands("$node_(0) setdest 7 8 9\n"), [Command::GoTo { at: secs(0.0), to, speed: 9.0 }]);
}

#[test]
fn nodes_that_are_switched_are_there_between() {
    let text = "$ns_ at 0.0 \"$node_(0) switch OFF\" ;# not there yet\n$ns_ at 5.0 \"$node_(0) setdest 100 50 1000000000.0\"\n\
                $ns_ at 5.01 \"$node_(0) switch ON\"\n$ns_ at 9 \"$node_(0) switch OFF\"\n";
    let found = read(&format!("{TWO_NODES}{text}")).expect("good").trajectories.remove(0);
    let stays: Vec<(Time, Time)> = found.present.iter().map(|stay| (stay.from, stay.until)).collect();
    assert_eq!(stays, [(secs(5.01), secs(9.0))]);
    assert_eq!(found.commands, [Command::Jump { at: secs(5.0), to: Point { x: 100.0, y: 50.0 } }]);
}

#[test]
fn nodes_of_any_number_keep_it_as_their_label_and_start_at_the_origin() {
    let movement = read("$node_(6) set X_ 1\n$node_(6) set Y_ 2\n$ns_ at 1 \"$node_(9) setdest 3 4 5\"\n")
        .expect("good");
    let labels: Vec<_> = movement.trajectories.iter().map(|node| node.label.as_deref()).collect();
    assert_eq!((labels, movement.unplaced), (vec![Some("6"), Some("9")], 1));
    assert_eq!(movement.trajectories[1].start, Point::default());
}

#[test]
fn degrees_are_refused() {
    let node = |n: u32, x: f64| format!("$node_({n}) set X_ {x}\n$node_({n}) set Y_ 47.3701\n");
    let error = read(&(node(0, 8.5401) + &node(1, 8.5423) + &node(2, 8.5445))).expect_err("degrees");
    assert_eq!(&*error.what, "coordinates that look like degrees");
}

#[test]
fn what_is_not_understood_is_an_error_with_its_line() {
    for (line, what) in [
        ("$ns_ at 1.0 \"$node_(0) setdest 1 2\"", "line not understood"),
        ("$ns_ at 1.0 \"$node_(0) setdest 1 2 3 4 5\"", "line not understood"),
        ("$ns_ at 1.0 $node_(0) setdest 1 2 3", "line not understood"),
        ("$ns_ at 1.0 \"$node_(0) setdest 1 2 3", "line not understood"),
        ("$ns_ at 1.0 \"$node_(0) switch AWAY\"", "switch"),
        ("$node_(0) setdest 1 2", "line not understood"),
        ("$node_(0) color red", "line not understood"),
        ("source other.tcl", "line not understood"),
        ("set god_ [exec reboot]", "line not understood"),
        ("$node_(0) set X_ [expr 1+1]", "line not understood"),
        ("$god_ set-dist 0 1", "line not understood"),
        ("$god_ set-dist 0 1 x", "set-dist"),
        (
            "$ns_ at 1 \"$node_(0) setdest 1 2 3\"; $ns_ at 2 \"$node_(0) setdest 1 2 3\"",
            "two commands on a line",
        ),
        ("$ns_ at -1 \"$node_(0) setdest 1 2 3\"", "time"),
        ("$ns_ at nan \"$node_(0) setdest 1 2 3\"", "time"),
        ("$ns_ at 1e10 \"$node_(0) setdest 1 2 3\"", "time"),
        ("$ns_ at 1 \"$node_(0) setdest nan 2 3\"", "coordinate"),
        ("$ns_ at 1 \"$node_(0) setdest 1 1e400 3\"", "coordinate"),
        ("$ns_ at 1 \"$node_(0) setdest 1 1.1e7 3\"", "coordinate"),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 -3\"", "speed"),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 100001\"", "speed"),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 inf\"", "speed"),
        ("$ns_ at 1 \"$node_(x) setdest 1 2 3\"", "node"),
        ("$node_(4000000000) set X_ 1", "node"),
        ("$node_(99999999999999999999) set X_ 1", "node"),
        ("$node_(1) set X_ 3.0", "node placed twice"),
    ] {
        let error = refused(&format!("\n# five\n{line}\n# more\n"));
        assert_eq!((&*error.what, error.line, &*error.file), (what, Some(7), "m.tcl"), "{line}");
        assert!(!error.hint.is_empty() && !error.wanted.is_empty(), "{line}");
    }
}

#[test]
fn a_pause_is_a_walk_at_speed_0_to_where_the_node_is() {
    let text = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n\
                $ns_ at 1 \"$node_(0) setdest 10 0 1\"\n$ns_ at 11 \"$node_(0) setdest 10.0000001 0 0\"\n";
    let movement = read_movement(text.as_bytes(), "m.tcl", &Limits::default()).expect("a pause");
    let path = Path::new(&movement.trajectories[0]);
    assert!(path.position(Time::from_secs(500.0)).distance(Point { x: 10.0, y: 0.0 }) < 1e-6);
}

/// As in ns-2; SUMO's cars that brake at a traffic light are a few metres off their last order.
#[test]
fn a_node_that_is_sent_elsewhere_at_speed_0_stays_until_its_next_order() {
    let movement = read(&format!(
        "{TWO_NODES}$ns_ at 1 \"$node_(0) setdest 11 2 1\"\n$ns_ at 3 \"$node_(0) setdest 6.3 2 0\"\n\
         $ns_ at 7 \"$node_(0) setdest 13 2 2\"\n$ns_ at 20 \"$node_(1) setdest 500 500 0.00\"\n"
    ))
    .expect("ns-2 reads it");
    let path = Path::new(&movement.trajectories[0]);
    let x_m = |time_s| path.position(secs(time_s)).x;
    assert!(
        [(3.0, 3.0), (6.9, 3.0), (8.0, 5.0), (60.0, 13.0)].iter().all(|&(t, x)| (x_m(t) - x).abs() < 1e-6)
    );
    let still = Path::new(&movement.trajectories[1]);
    assert_eq!(still.position(secs(500.0)), Point { x: 3.0, y: 4.0 });
    assert_eq!(movement.rests_elsewhere, 2);
    let again =
        read_movement(written(&movement).as_bytes(), "m.tcl", &Limits::default()).expect("as written");
    assert_eq!(again, movement);
}

#[test]
fn a_node_needs_both_coordinates_or_none() {
    let error = refused("$ns_ at 1 \"$node_(2) setdest 1 2 3\"\n$node_(2) set X_ 1\n");
    assert_eq!((&*error.what, error.line), ("node without a start", Some(5)));
    assert!(error.found.contains("Y_"));
}

#[test]
fn a_hint_shows_the_nearest_form() {
    assert!(refused("$ns_ at 1 \"$node_(0) setdset 1 2 3\"").hint.contains("setdest 12.5"));
    assert!(refused("$node_(0) set x_ 3").hint.contains("set X_ 12.5"));
    assert!(refused("$god_ setdist 0 1 2").hint.contains("$god_ set-dist"));
    assert!(refused("$ns_ at 1,5 \"$node_(0) setdest 1 2 3\"").hint.contains("decimal point"));
}

#[test]
fn a_file_cut_off_in_its_last_line_is_told_so() {
    let cut = refused("$ns_ at 1.0 \"$node_(0) setde");
    assert_eq!(cut.line, Some(5));
    assert!(cut.hint.contains("cut off"));
    assert!(!refused("$ns_ at 1.0 \"$node_(0) setde\n").hint.contains("cut off"));
}

#[test]
fn files_without_nodes_are_refused() {
    assert_eq!(&*read("").expect_err("empty").what, "empty file");
    assert_eq!(&*read("# only\n# comments\n").expect_err("no nodes").what, "no nodes");
    assert_eq!(&*read("$god_ set-dist 0 1 1\n").expect_err("no nodes").what, "no nodes");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let error = refused("\u{1b}]0;evil\u{7}");
    assert!(!error.to_string().contains('\u{1b}') && error.found.contains("\\u{1b}"));
}

#[test]
fn a_generated_movement_is_the_same_path_after_a_file() {
    for boundary in [Boundary::Classic, Boundary::Wrap, Boundary::Bounce] {
        for (start, pause_s) in [(Start::Stationary, 0.0), (Start::Stationary, 20.0), (Start::Uniform, 7.3)] {
            let params = WaypointParams { nodes: 40, boundary, start, pause_s, ..WaypointParams::default() };
            let trajectories =
                generate(&params, Span::from_secs(900.0), &Streams::new(5, 2)).expect("valid parameters");
            let generated = Movement { trajectories, ..Movement::default() };
            let back = read(&written(&generated)).expect("a written file");
            let paths =
                |movement: &Movement| movement.trajectories.iter().map(Path::new).collect::<Vec<Path>>();
            assert_eq!(paths(&back), paths(&generated), "{params:?}");
            assert_eq!(paths(&back).iter().any(|path| !path.jumps().is_empty()), boundary == Boundary::Wrap);
            assert!(back.bounds().x <= params.width_m && back.bounds().y <= params.height_m);
        }
    }
}

/// Movements with everything that may be written: any floats within bounds, equal times, jumps.
fn movements() -> impl Strategy<Value = Movement> {
    let coordinate = prop_oneof![-1e7..1e7, Just(0.0), 0.0..1e-300];
    let point = (coordinate.clone(), coordinate).prop_map(|(x, y)| Point { x, y });
    let time = prop_oneof![0u64..5, 0u64..=1_000_000_000_000_000_000].prop_map(Time);
    let command = (time, point.clone(), prop::option::of(0.0..1e5)).prop_map(|(at, to, speed)| match speed {
        Some(speed) => Command::GoTo { at, to, speed },
        None => Command::Jump { at, to },
    });
    let trajectory = (point, prop::collection::vec(command, 0..8)).prop_map(|(start, mut commands)| {
        commands.sort_by_key(Command::at);
        Trajectory::new(start, commands)
    });
    prop::collection::vec(trajectory, 1..5)
        .prop_map(|trajectories| Movement { trajectories, ..Movement::default() })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_exactly(movement in movements()) {
        prop_assert_eq!(read(&written(&movement)), Ok(movement));
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_movement(&bytes, "m", &Limits::default());
    }

    #[test]
    fn a_damaged_file_is_read_or_refused_on_a_line(
        movement in movements(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut bytes = written(&movement).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if cut {
            bytes.truncate(at + 1);
        }
        let lines = bytes.split(|&b| b == b'\n').count() as u64;
        if let Err(error) = read_movement(&bytes, "m", &Limits::default()) {
            let whole = matches!(&*error.what, "empty file" | "no nodes");
            prop_assert!(whole || error.line.is_some_and(|line| (1..=lines).contains(&line)), "{error}");
        }
    }

    #[test]
    fn a_foreign_line_is_refused_where_it_stands(movement in movements(), at in any::<prop::sample::Index>()) {
        let text = written(&movement);
        let mut lines: Vec<&str> = text.lines().collect();
        let at = at.index(lines.len());
        lines.insert(at, "puts hello");
        let error = read(&lines.join("\n")).expect_err("a foreign line");
        prop_assert_eq!(error.line, Some(at as u64 + 1));
    }
}
