//! Scripts of ns-2 by what they ask for.

#![allow(clippy::float_cmp, reason = "numbers that were put in come out as they are")]

use std::collections::BTreeMap;

use manetlab_core::kernel::Time;
use manetlab_core::mobility::{Command, Point};

use super::*;

fn outcome(text: &str, files: &[(&str, &str)]) -> Result<Outcome, ReadError> {
    let files = files.iter().map(|&(name, text)| (name.to_owned(), text.as_bytes().to_vec())).collect();
    read_script(text.as_bytes(), "s.tcl", &files, &[], &Limits::default())
}

fn read(text: &str) -> Script {
    match outcome(text, &[]) {
        Ok(Outcome::Script(script)) => *script,
        other => panic!("{text}: {other:?}"),
    }
}

/// Calls as texts: time, class, words.
fn calls(script: &Script) -> Vec<String> {
    let text = |call: &Call| {
        let at = call.at_s.map_or(String::new(), |at| format!("{at} "));
        format!("{at}{} {}", call.class, call.words.join(" "))
    };
    script.calls.iter().map(text).collect()
}

const STUDENT: &str = r#"set ns [new Simulator]
set val(stop) 30.0
for {set i 0} {$i < 3} {incr i} {
    set node_($i) [$ns node]
    $node_($i) set X_ [expr 20 + 180 * $i]
    $node_($i) set Y_ 50
}
$ns at 2.0 "$node_(0) setdest 60 50 4"
set udp [new Agent/UDP]
$ns attach-agent $node_(0) $udp
proc finish {} {
    global ns
    $ns flush-trace
    exec nam out.nam &
    exit 0
}
$ns at $val(stop) "finish"
puts "starting"
$ns run
"#;

#[test]
fn a_script_says_nodes_movement_and_agents() {
    let script = read(STUDENT);
    let movement = script.movement.as_ref().expect("nodes");
    let starts: Vec<f64> = movement.trajectories.iter().map(|node| node.start.x).collect();
    assert_eq!(starts, [20.0, 200.0, 380.0]);
    let to = Point { x: 60.0, y: 50.0 };
    assert_eq!(
        movement.trajectories[0].commands,
        [Command::GoTo { at: Time::from_secs(2.0), to, speed: 4.0 }]
    );
    assert_eq!((script.ended_s, script.ran), (Some(30.0), true));
    let said = calls(&script);
    assert!(said.contains(&"Simulator attach-agent _o3 _o6".to_owned()), "{said:?}");
    assert!(script.notes.iter().any(|(_, line, about)| *line == 14 && about == "programs are not run"));
}

#[test]
fn files_that_are_sourced_are_asked_for_and_have_their_lines() {
    let main = "set ns_ [new Simulator]\nset node_(0) [$ns_ node]\nsource \"move.tcl\"\n$ns_ run\n";
    match outcome(main, &[]) {
        Ok(Outcome::Missing { name, error }) => {
            assert_eq!((name.as_str(), error.line), ("move.tcl", Some(3)));
        }
        other => panic!("{other:?}"),
    }
    let good = "$node_(0) set X_ 5\n$node_(0) set Y_ 6\n$ns_ at 1 \"$node_(0) setdest 7 8 9\"\n";
    match outcome(main, &[("move.tcl", good)]) {
        Ok(Outcome::Script(script)) => {
            assert_eq!((script.files, script.calls[2].file), (vec!["move.tcl".to_owned()], 1));
        }
        other => panic!("{other:?}"),
    }
    let error = outcome(main, &[("move.tcl", "\n$node_(7) set X_ 5\n")]).expect_err("no node 7");
    assert_eq!((&*error.file, error.line), ("move.tcl", Some(2)));
}

#[test]
fn a_file_of_movement_may_have_loops() {
    let text = b"for {set i 0} {$i < 3} {incr i} {\n $node_($i) set X_ [expr 20 + 180 * $i]\n $node_($i) set Y_ 50\n\
                 $ns_ at [expr $i + 1.0] \"$node_($i) setdest 0 0 1\"\n}\n$god_ set-dist 0 1 1\n";
    let movement = read_movement_script(text, "m", &Limits::default()).expect("good");
    let starts: Vec<f64> = movement.trajectories.iter().map(|node| node.start.x).collect();
    assert_eq!((starts, movement.trajectories[2].commands.len()), (vec![20.0, 200.0, 380.0], 1));
    let error =
        read_movement_script(b"\n$other_(0) set X_ 1\n", "m", &Limits::default()).expect_err("no node");
    assert_eq!(error.line, Some(2));
    for line in [
        "$node_(0) setdset 1 2 3",
        "$ns_ attach-agent $node_(0) x",
        "set a [new Agent/UDP]",
        "$node_(0) random-motion 1",
    ] {
        let text = format!("$node_(0) set X_ 1\n$node_(0) set Y_ 1\n{line}\n");
        let error = read_movement_script(text.as_bytes(), "m", &Limits::default()).expect_err(line);
        assert_eq!((&*error.what, error.line), ("line not understood", Some(3)), "{line}");
    }
}

#[test]
fn events_come_in_order_of_time_and_may_make_others() {
    let script = read(
        "set ns [new Simulator]\nproc tick {} {global ns n; set t [$ns now]; if {$t < 2.5} {$ns at [expr $t+1] tick}; $n color red}\n\
         set n [$ns node]\n$ns at 0.5 tick\n$ns at 0.1 {$n color blue}\n$ns run\n",
    );
    let said: Vec<String> = calls(&script).into_iter().filter(|call| call.contains("color")).collect();
    assert_eq!(
        said,
        ["0.1 Node color blue", "0.5 Node color red", "1.5 Node color red", "2.5 Node color red"]
    );
}

#[test]
fn what_only_a_run_knows_is_0_and_noted() {
    let script =
        read("set ns [new Simulator]\nset s [new Agent/LossMonitor]\nset b [$s set bytes_]\n$s set x_ $b\n");
    assert!(script.notes.iter().any(|(_, line, about)| *line == 3 && about.contains("bytes_")));
    assert!(calls(&script).contains(&"Agent/LossMonitor set x_ 0".to_owned()));
}

#[test]
fn times_with_two_points_are_those_of_the_first() {
    let script = read(
        "set ns [new Simulator]\nset val(stop) 20.0\n$ns at $val(stop).0002 {puts end; $ns halt}\n$ns run",
    );
    assert_eq!(script.ended_s, Some(20.0));
}

#[test]
fn classes_of_its_own_are_refused() {
    for text in ["Class Foo -superclass Agent", "Agent/UDP instproc recv {} {}"] {
        let error = outcome(&format!("\n{text}\n"), &[]).expect_err(text);
        assert_eq!(error.line, Some(2), "{text}");
        assert!(error.hint.contains("Python"), "{text}");
    }
}

#[test]
fn hostile_scripts_end() {
    for text in [
        "set ns [new Simulator]\nproc t {} {global ns; $ns at [expr [$ns now]+0.1] t}\n$ns at 0 t\n$ns run",
        "set ns [new Simulator]\nwhile 1 {$ns node}",
        "set ns [new Simulator]\nwhile 1 {$ns at 1 {set a 1}}",
        "set x [exec rm -rf /]",
        "source s.tcl",
        "while 1 {set o [new Agent/UDP]; $o set x_ 1}",
    ] {
        match outcome(text, &[("s.tcl", "source s.tcl")]) {
            Err(error) => assert!(!error.hint.is_empty()),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn arguments_of_the_command_line_are_given() {
    let given = ["7".to_owned()];
    let text = b"set ns [new Simulator]\nfor {set i 0} {$i < [lindex $argv 0]} {incr i} {$ns node}";
    let outcome = read_script(text, "s.tcl", &BTreeMap::new(), &given, &Limits::default());
    match outcome {
        Ok(Outcome::Script(script)) => assert_eq!((script.nodes.len(), script.ran), (7, false)),
        other => panic!("{other:?}"),
    }
}
