//! The interpreter by what scripts of ns-2 do, and by what it must not do.

use std::rc::Rc;

use super::*;

/// A host that knows nothing but one file.
#[derive(Default)]
struct Alone {
    notes: Vec<(u32, String)>,
}

impl Host for Alone {
    fn command(_: &mut Interp<Self>, _: &[Value]) -> Eval<Option<Value>> {
        Ok(None)
    }

    fn variable(_: &mut Interp<Self>, _: &str, _: Option<&str>) -> Option<Value> {
        None
    }

    fn source(&mut self, name: &str) -> Option<(Rc<str>, u16)> {
        (name == "known.tcl").then(|| ("\nset sourced 7\nnothing".into(), 1))
    }

    fn note(&mut self, place: Place, about: &str) {
        self.notes.push((place.line, about.to_owned()));
    }
}

fn run(script: &str) -> (Interp<Alone>, Eval<Value>) {
    let mut tcl = Interp::new(Alone::default(), 2_000_000);
    let result = tcl.eval(&Value::at(script, Place { file: 0, line: 1 }));
    (tcl, result)
}

fn value(script: &str) -> String {
    match run(script).1 {
        Ok(value) => value.to_string(),
        other => panic!("{script}: {other:?}"),
    }
}

fn refused(script: &str) -> Trouble {
    match run(script).1 {
        Err(Stop::Error(trouble) | Stop::Bound(trouble)) => *trouble,
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn words_are_replaced_as_tcl_replaces_them() {
    for (script, wanted) in [
        (r#"set a 5; set b "x$a y""#, "x5 y"),
        ("set val(nn) 3 ;# nodes\nset val(nn)", "3"),
        ("set i 2; set n($i) a; set n([expr $i])", "a"),
        ("set a {x $y [z]}", "x $y [z]"),
        (r"set a \$x\[\ \]", "$x[ ]"),
        ("set a 1\\\n 2", "2_is_no_value"),
        ("set {a b} 3; set c ${a b}", "3"),
        ("set c [list a {b c} {}]", "a {b c} {}"),
        ("# one \\\n two\nset a 4", "4"),
        ("set a \"one\\ttwo\"", "one\ttwo"),
        ("set a $", "$"),
        ("lindex {*}{{a b} 1}", "b"),
        ("set a b;set $a 6;set b", "6"),
    ] {
        if wanted == "2_is_no_value" {
            assert!(run(script).1.is_err(), "three words for set");
        } else {
            assert_eq!(value(script), wanted, "{script}");
        }
    }
}

#[test]
fn expressions_are_tcls() {
    for (text, wanted) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3.0", "9.0"),
        ("7 / 2", "3"),
        ("-7 / 2", "-4"),
        ("-7 % 3", "2"),
        ("7 / 2.0", "3.5"),
        ("2 ** 3 ** 2", "512"),
        ("1 < 2 && 2 < 1 || 1", "1"),
        ("5 > 3 ? \"a\" : \"b\"", "a"),
        ("\"abc\" == \"abc\"", "1"),
        ("\"abc\" eq {abd}", "0"),
        ("0 && [nothing]", "0"),
        ("1 || $nothing(x)", "1"),
        ("int(3.9) + round(2.5) + abs(-2)", "8"),
        ("sqrt(16)", "4.0"),
        ("pow(2, 3)", "8.0"),
        ("!0 + !5", "1"),
        ("~5", "-6"),
        ("0x10 + 010", "24"),
        ("1e3", "1000.0"),
        ("fmod(7, 4)", "3.0"),
        ("1.5e-1+1", "1.15"),
        ("max(1, 5, 3)", "5"),
        ("3 in {1 2 3}", "1"),
        ("1 << 4 | 1", "17"),
        ("10 - 2 - 3", "5"),
        ("2 - -2", "4"),
    ] {
        assert_eq!(value(&format!("expr {{{text}}}")), wanted, "{text}");
    }
    assert_eq!(value("set i 3; expr 20 + 180 * $i"), "560");
    for text in ["1 / 0", "a + 1", "2 ** 100", "(1", "1 +", "foo(1)", "1 ? 2"] {
        assert!(!refused(&format!("expr {{{text}}}")).what.is_empty());
    }
}

#[test]
fn control_flows() {
    for (script, wanted) in [
        ("set s 0; for {set i 0} {$i < 5} {incr i} {incr s $i}; set s", "10"),
        ("set s {}; foreach {a b} {1 2 3 4} {lappend s $b$a}; set s", "21 43"),
        ("set s {}; foreach a {1 2} b {3 4} {lappend s $a$b}; set s", "13 24"),
        ("set i 0; while 1 {if {[incr i] > 4} break}; set i", "5"),
        ("if 0 {set a 1} elseif {1} then {set a 2} else {set a 3}", "2"),
        ("if {0} {set a 1} {set a 3}", "3"),
        ("proc f {a {b 2} args} {return [expr $a + $b + [llength $args]]}; f 1; f 1 5 x y", "8"),
        ("proc f {} {global g; set g 4}; f; set g", "4"),
        ("proc f {} {set ::g 4}; f; set g", "4"),
        ("proc f name {upvar $name v; incr v}; set x 1; f x; set x", "2"),
        ("proc f {} {uplevel 1 {set y 3}}; f; set y", "3"),
        ("switch -exact -- b {a {set r 1} b - c {set r 2} default {set r 3}}", "2"),
        ("switch x a {set r 1} default {set r 3}", "3"),
        ("catch {error oops} m; set m", "oops"),
        ("catch {expr 1/0}", "1"),
        ("eval {set a 1; set b 2}", "2"),
        ("eval set a 3", "3"),
        (
            "array set a {x 1 y 2}; list [array names a] [array size a] [info exists a(x)] [info exists b]",
            "{x y} 2 1 0",
        ),
        ("source known.tcl", "unreached"),
    ] {
        if wanted == "unreached" {
            assert_eq!(refused(script).place, Place { file: 1, line: 3 }, "{script}");
        } else {
            assert_eq!(value(script), wanted, "{script}");
        }
    }
}

#[test]
fn lists_and_texts() {
    for (script, wanted) in [
        ("lindex {a {b c} d} end-1", "b c"),
        ("lindex {a {b c} d} 1 0", "b"),
        ("lrange {a b c d} 1 end", "b c d"),
        ("lsort -integer -decreasing {2 10 1}", "10 2 1"),
        ("lsearch {a b c} c", "2"),
        ("linsert {a c} 1 b", "a b c"),
        ("lreplace {a b c} 1 1", "a c"),
        ("join {a b c} -", "a-b-c"),
        ("split a,b,,c ,", "a b {} c"),
        ("concat {a b} {c}", "a b c"),
        ("string length abc", "3"),
        ("string range abcdef 1 3", "bcd"),
        ("string toupper abc", "ABC"),
        ("string match {node_(*)} node_(3)", "1"),
        ("string repeat ab 3", "ababab"),
        ("string map {a 1 b 2} abc", "12c"),
        ("string first c abc", "2"),
        ("format %05.2f|%-4d|%4s|%x 3.14159 7 ab 255", "03.14|7   |  ab|ff"),
        ("format {%g %g %g} 0.0001 1000000 1e-5", "0.0001 1e+06 1e-05"),
        ("format %e 12345.678", "1.234568e+04"),
        ("list {a\\b} \"c d\" {[x]}", "a\\\\b {c d} {[x]}"),
        ("set f [open out.tr w]; puts $f hello; close $f", ""),
    ] {
        assert_eq!(value(script), wanted, "{script}");
    }
}

#[test]
fn troubles_have_their_line_within_bodies_too() {
    for (script, line) in [
        ("set a 1\nset b [\n nothing]", 3),
        ("proc f {} {\n  set a 1\n  nothing\n}\n\nf", 3),
        ("for {set i 0} {$i < 1} {incr i} {\n\n  if {1} {\n    nothing\n  }\n}", 4),
        ("set a \\\n 1\nset b 2\nset c $nothing", 4),
        ("switch a {\n  a {\n nothing }\n}", 3),
    ] {
        assert_eq!(refused(script).place.line, line, "{script}");
    }
}

#[test]
fn nothing_runs_reads_or_writes() {
    // Names of files are made so; what results depend on cannot be.
    let (_, named) = run("set f [open out_[regexp -all -inline -- {[0-9]+} 50].tr w]");
    assert!(named.is_ok());
    assert!(refused("if {[regexp {a} b]} { set x 1 }").what.contains("<unknown>"));
    assert!(refused("set x [exec date]").hint.contains("no program is run"));
    assert!(refused("open /etc/passwd").what.contains("reads a file"));
    assert_eq!(refused("source other.tcl").missing.as_deref(), Some("other.tcl"));
    assert_eq!(refused("catch {source other.tcl}").missing.as_deref(), Some("other.tcl"));
    let (tcl, result) = run("proc finish {} {\n exec nam out.nam &\n}\nfinish");
    assert!(result.is_ok());
    assert_eq!(tcl.host.notes, [(2, "programs are not run".to_owned())]);
}

#[test]
fn hostile_scripts_end_in_an_error() {
    let deep = 5000;
    for script in [
        "while 1 {}".to_owned(),
        "while 1 {catch {nothing}}".to_owned(),
        "for {} 1 {} {set a 1}".to_owned(),
        "proc f {} {f}; f".to_owned(),
        "proc f {} {catch {f}; f}; f".to_owned(),
        "proc f {n} {eval [list f $n]}; f 1".to_owned(),
        "string length [string repeat x 900000000]".to_owned(),
        "string length [string repeat [string repeat x 1000000] 10000]".to_owned(),
        "set x a; while 1 {append x $x}".to_owned(),
        "set x a; while 1 {set x $x$x}".to_owned(),
        "set x a; while 1 {set x [list $x $x]}".to_owned(),
        "set x a; while 1 {lappend x $x}".to_owned(),
        "set i 0; while 1 {set a([incr i]) [string repeat x 100000]}".to_owned(),
        "set i 0; while 1 {proc p[incr i] {} [string repeat x 100000]}".to_owned(),
        "lrepeat 1000000000 abc".to_owned(),
        "format %900000000d 1".to_owned(),
        "string map {a aaaaaaaaaa} [string repeat a 3000000]".to_owned(),
        "expr {2 ** 300000000}".to_owned(),
        "while 1 {open a w}".to_owned(),
        "exec_is_not {[".repeat(3),
        format!("expr {{{}1{}}}", "(".repeat(deep), ")".repeat(deep)),
        format!("expr {{{}1}}", "- ".repeat(deep)),
        format!("expr {{1{}}}", "**1".repeat(deep)),
        format!("expr {{{}1}}", "1?".repeat(deep)),
        format!("set a {}{}", "[set b ".repeat(deep), "]".repeat(deep)),
        format!("set a $a{}", "($a".repeat(deep)),
        format!("{}1{}", "if 1 {".repeat(deep), "}".repeat(deep)),
        format!("set a [join [split [string repeat {} 200000] {{}}] [string repeat y 4000]]", "x"),
    ] {
        let trouble = refused(&script);
        assert!(!trouble.what.is_empty(), "{}", shortened(&script));
    }
}
