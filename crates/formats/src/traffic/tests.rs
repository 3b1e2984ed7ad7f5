//! Traffic files: what is understood, what is refused and on which line, and that nothing is lost.

use manetlab_core::kernel::Time;
use proptest::prelude::*;

use super::{FlowError, FlowKind, FlowSpec, check_flows, read_traffic, write_traffic};
use crate::{Limits, ReadError};

const TCP: &str = "set tcp_(0) [$ns_ create-connection TCP $node_(3) TCPSink $node_(7) 0]\n\
    $tcp_(0) set window_ 32\n$tcp_(0) set packetSize_ 512\nset ftp_(0) [$tcp_(0) attach-source FTP]\n\
    $ns_ at 50.5 \"$ftp_(0) start\"\n";

const CBR: &str = "set udp_(0) [new Agent/UDP]\n$ns_ attach-agent $node_(1) $udp_(0)\n\
    set null_(0) [new Agent/Null]\n$ns_ attach-agent $node_(2) $null_(0)\n\
    set cbr_(0) [new Application/Traffic/CBR]\n$cbr_(0) set packetSize_ 512\n\
    $cbr_(0) set interval_ 0.25\n$cbr_(0) set random_ 1\n$cbr_(0) set maxpkts_ 10000\n\
    $cbr_(0) attach-agent $udp_(0)\n$ns_ connect $udp_(0) $null_(0)\n\
    $ns_ at 127.93667922166023 \"$cbr_(0) start\"\n";

fn read(text: &str) -> Result<Vec<FlowSpec>, ReadError> {
    read_traffic(text.as_bytes(), "t.tcl", &Limits::default())
}

fn one(text: &str) -> FlowSpec {
    let flows = read(text).expect(text);
    assert_eq!(flows.len(), 1, "{text}");
    flows[0]
}

fn tcp(src: u32, dst: u32, start: f64) -> FlowSpec {
    let kind = FlowKind::Tcp { window: None, segment_bytes: None };
    FlowSpec { kind, src, dst, start: Time::from_secs(start), stop: None }
}

/// The line and the kind of error after `from` has become `to`.
fn damaged(text: &str, from: &str, to: &str) -> (String, Option<u64>) {
    assert!(text.contains(from), "{from}");
    let error = read(&text.replacen(from, to, 1)).expect_err(to);
    assert!(!error.hint.is_empty() && !error.wanted.is_empty());
    (error.what.into(), error.line)
}

#[test]
fn a_tcp_flow_of_cbrgen_is_read() {
    let kind = FlowKind::Tcp { window: Some(32), segment_bytes: Some(512) };
    assert_eq!(one(TCP), FlowSpec { kind, ..tcp(3, 7, 50.5) });
}

#[test]
fn a_cbr_flow_of_cbrgen_is_read() {
    let kind = FlowKind::Cbr { bytes: 512, interval_s: 0.25, random: true, max_packets: Some(10_000) };
    let start = Time(127_936_679_222);
    assert_eq!(one(CBR), FlowSpec { kind, src: 1, dst: 2, start, stop: None });
}

#[test]
fn flows_come_in_order_of_creation() {
    let second = TCP.replace("(0)", "(1)").replace("at 50.5", "at 0.5");
    let flows = read(&format!("{CBR}{TCP}{second}")).expect("three flows");
    let starts: Vec<u64> = flows.iter().map(|flow| flow.start.0).collect();
    assert_eq!(starts, [127_936_679_222, 50_500_000_000, 500_000_000]);
}

#[test]
fn agents_may_be_made_one_by_one_and_variables_need_no_index() {
    let text = "set tcp [new Agent/TCP]\n$tcp set class_ 2\nset sink [new Agent/TCPSink]\n\
        $ns attach-agent $node(1) $tcp\n$ns attach-agent $node(2) $sink\n$ns connect $sink $tcp\n\
        set ftp [new Application/FTP]\n$ftp attach-agent $tcp\n$ns at 150.00000000000000 \"$ftp start\"";
    assert_eq!(one(text), tcp(1, 2, 150.0));
    let short = "set u [$ns_ create-connection UDP $node_(1) LossMonitor $node_(2) 0]\n\
        set c [$u attach-app Traffic/CBR]\n$ns_ at 1 \"$c start\"\n$ns_ at 2 \"$c stop\"\n";
    assert_eq!(one(short).stop, Some(Time::from_secs(2.0)));
}

#[test]
fn what_a_cbr_source_leaves_out_is_ns2s_default() {
    let text = CBR.replace("$cbr_(0) set packetSize_ 512\n", "").replace("$cbr_(0) set interval_ 0.25\n", "");
    let text = text.replace("$cbr_(0) set maxpkts_ 10000\n", "").replace("$cbr_(0) set random_ 1\n", "");
    let kind = FlowKind::Cbr { bytes: 210, interval_s: 0.00375, random: false, max_packets: None };
    assert_eq!(one(&text).kind, kind);
}

#[test]
fn a_rate_and_an_early_interval_follow_the_packet_size() {
    let interval = |text: &str| match one(text).kind {
        FlowKind::Cbr { interval_s, .. } => Some(interval_s),
        FlowKind::Tcp { .. } => None,
    };
    assert_eq!(interval(&CBR.replace("interval_ 0.25", "rate_ 40960")), Some(0.1));
    assert_eq!(interval(&CBR.replace("interval_ 0.25", "rate_ 4.096Kb")), Some(1.0));
    assert_eq!(interval(&CBR.replace("interval_ 0.25", "interval_ 250ms")), Some(0.25));
    let early = CBR.replace("$cbr_(0) set interval_ 0.25\n", "").replace(
        "$cbr_(0) set packetSize_ 512",
        "$cbr_(0) set interval_ 0.210\n$cbr_(0) set packetSize_ 420",
    );
    assert_eq!(interval(&early), Some(0.42));
}

#[test]
fn a_datagram_that_would_be_split_on_purpose_is_refused() {
    let agent = |bytes: u32| {
        CBR.replace("[new Agent/UDP]\n", &format!("[new Agent/UDP]\n$udp_(0) set packetSize_ {bytes}\n"))
    };
    assert!(read(&agent(512)).is_ok());
    assert_eq!(&*read(&agent(511)).expect_err("split").what, "packet size");
}

#[test]
fn incomplete_flows_are_refused_where_they_begin() {
    for (from, to, what, line) in [
        ("$ns_ at 127.93667922166023 \"$cbr_(0) start\"\n", "", "incomplete flow", 5),
        ("$ns_ connect $udp_(0) $null_(0)\n", "", "incomplete flow", 5),
        ("$cbr_(0) attach-agent $udp_(0)\n", "", "incomplete flow", 5),
        ("$ns_ attach-agent $node_(1) $udp_(0)\n", "", "incomplete flow", 4),
        ("$ns_ attach-agent $node_(2) $null_(0)\n", "", "incomplete flow", 4),
        ("$node_(2)", "$node_(1)", "flow to itself", 5),
        ("start\"", "start\"\n$ns_ at 127 \"$cbr_(0) stop\"", "stop", 13),
    ] {
        assert_eq!(damaged(CBR, from, to), (what.to_owned(), Some(line)), "{from}");
    }
    assert_eq!(damaged(TCP, "$node_(7)", "$node_(3)"), ("flow to itself".to_owned(), Some(1)));
    let unused = TCP.split_inclusive('\n').next().expect("a line");
    assert_eq!(damaged(unused, "", ""), ("incomplete flow".to_owned(), Some(1)));
    let sink = format!("{TCP}set null_(0) [new Agent/Null]\n$ns_ attach-agent $node_(2) $null_(0)\n");
    assert_eq!(damaged(&sink, "", ""), ("incomplete flow".to_owned(), Some(6)));
}

#[test]
fn what_is_said_twice_is_refused_the_second_time() {
    for (line, what) in [
        ("set cbr_(0) [new Application/Traffic/CBR]", "defined twice"),
        ("$ns_ at 3 \"$cbr_(0) start\"", "started twice"),
        ("$ns_ connect $udp_(0) $null_(0)", "connected twice"),
        ("$ns_ attach-agent $node_(5) $udp_(0)", "attached to a node twice"),
        ("$cbr_(0) attach-agent $udp_(0)", "attached to an agent twice"),
    ] {
        let error = read(&format!("{CBR}{line}\n")).expect_err(line);
        assert_eq!((&*error.what, error.line), (what, Some(13)), "{line}");
    }
}

#[test]
fn what_is_not_understood_is_an_error_with_its_line() {
    for (line, what) in [
        ("$ns_ at 3 \"$node_(0) shutdown\"", "line not understood"),
        ("$ns_ at 3 \"$ftp_(0) produce 100\"", "line not understood"),
        ("$ns_ at 3 $ftp_(0) start", "line not understood"),
        ("set x 5", "line not understood"),
        ("set x [exec reboot]", "line not understood"),
        ("set x [new Agent/TCP/Newreno]", "line not understood"),
        ("set x [$ns_ create-connection TCP $node_(1) TCPSink $node_(2)]", "line not understood"),
        ("set x [$ns_ create-connection TCP $node_(1) Null $node_(2) 0]", "line not understood"),
        ("$cbr_(0) set burst_ 3", "line not understood"),
        ("$tcp_(0) set interval_ 3", "line not understood"),
        ("for {set i 0} {$i < 5} {incr i} {", "line not understood"),
        ("$cbr_(0) set packetSize_ 0", "packetSize_"),
        ("$cbr_(0) set packetSize_ 65536", "packetSize_"),
        ("$cbr_(0) set packetSize_ -5", "packetSize_"),
        ("$cbr_(0) set interval_ 0", "interval_"),
        ("$cbr_(0) set interval_ inf", "interval_"),
        ("$cbr_(0) set rate_ -64kb", "rate_"),
        ("$cbr_(0) set random_ 2", "random_"),
        ("$cbr_(0) set maxpkts_ 1e5", "maxpkts_"),
        ("$tcp_(0) set window_ 0", "window_"),
        ("$tcp_(9) set window_ 8", "unknown variable"),
        ("$ns_ at 3 \"$cbr_(9) start\"", "unknown variable"),
        ("$ns_ at -3 \"$cbr_(0) stop\"", "time"),
        ("$ns_ at 3 \"$tcp_(0) start\"", "wrong kind of variable"),
        ("$ns_ connect $udp_(0) $ftp_(0)", "wrong kind of variable"),
        ("$ftp_(0) attach-agent $udp_(0)", "wrong kind of variable"),
        ("$ns_ attach-agent $node_(1) $ftp_(0)", "wrong kind of variable"),
        ("$ns_ attach-agent $node_(4000000000) $udp_(0)", "node"),
    ] {
        let error = read(&format!("{CBR}{TCP}#\n{line}\n")).expect_err(line);
        assert_eq!((&*error.what, error.line, &*error.file), (what, Some(19), "t.tcl"), "{line}");
        assert!(!error.hint.is_empty() && !error.wanted.is_empty(), "{line}");
    }
}

#[test]
fn a_rate_that_no_clock_can_keep_is_refused_at_the_flow() {
    let text = CBR.replace("interval_ 0.25", "rate_ 1e-7");
    assert_eq!(damaged(&text, "", ""), ("rate".to_owned(), Some(5)));
}

#[test]
fn a_hint_shows_the_nearest_form() {
    let hint = |line: &str| String::from(read(line).expect_err(line).hint);
    assert!(hint("set u [new Agent/Udp]").contains("[new Agent/UDP]"));
    assert!(hint("set c [new Application/CBR]").contains("Application/Traffic/CBR"));
    assert!(hint("set t [new Agent/TCP/Reno]").contains("variant"));
    assert!(hint("$ns_ at 5.0 \"$cbr_(0) strat\"").contains("start"));
}

#[test]
fn an_empty_file_is_refused_and_a_file_of_comments_has_no_flows() {
    assert_eq!(&*read("\n").expect_err("empty").what, "empty file");
    assert_eq!(read(&write_traffic(&[])), Ok(vec![]));
}

#[test]
fn flows_are_checked_against_the_number_of_nodes() {
    assert_eq!(check_flows(&[tcp(0, 1, 0.0), tcp(9, 3, 0.0)], 10), Ok(()));
    let error = check_flows(&[tcp(0, 1, 0.0), tcp(9, 10, 0.0)], 10).expect_err("node 10 of 10");
    assert_eq!(error, FlowError::NoSuchNode { flow: 1, node: 10, nodes: 10 });
    assert!(error.to_string().contains("a node from 0 to 9"));
    assert_eq!(check_flows(&[tcp(4, 4, 0.0)], 10), Err(FlowError::ToItself { flow: 0, node: 4 }));
}

fn flows() -> impl Strategy<Value = Vec<FlowSpec>> {
    let small = || prop::option::of(1u32..=65_535);
    let tcp = (small(), small()).prop_map(|(window, segment_bytes)| FlowKind::Tcp { window, segment_bytes });
    let interval = prop_oneof![1e-9..1e-6, 1e-3..10.0, 1.0..1e9];
    let cbr = (1u32..=65_535, interval, any::<bool>(), prop::option::of(1u64..)).prop_map(
        |(bytes, interval_s, random, max_packets)| FlowKind::Cbr { bytes, interval_s, random, max_packets },
    );
    let end = 0u64..500_000_000_000_000_000;
    let flow = (prop_oneof![tcp, cbr], 0u32..100_000, 1u32..100_000, end.clone(), prop::option::of(end))
        .prop_map(|(kind, src, ahead, start, lasting)| FlowSpec {
            kind,
            src,
            dst: (src + ahead) % 100_000,
            start: Time(start),
            stop: lasting.map(|span| Time(start + span + 1)),
        })
        .prop_filter("two nodes", |flow| flow.src != flow.dst);
    prop::collection::vec(flow, 0..6)
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_exactly(flows in flows()) {
        prop_assert_eq!(read(&write_traffic(&flows)), Ok(flows));
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_traffic(&bytes, "t", &Limits::default());
    }

    #[test]
    fn a_damaged_file_is_read_or_refused_on_a_line(
        flows in flows(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut bytes = write_traffic(&flows).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if cut {
            bytes.truncate(at + 1);
        }
        let lines = bytes.split(|&b| b == b'\n').count() as u64;
        if let Err(error) = read_traffic(&bytes, "t", &Limits::default()) {
            let whole = &*error.what == "empty file";
            prop_assert!(whole || error.line.is_some_and(|line| (1..=lines).contains(&line)), "{error}");
        }
    }

    #[test]
    fn a_missing_line_is_never_passed_over(flows in flows(), at in any::<prop::sample::Index>()) {
        // Without one of its commands a file is an error or says something else.
        let text = write_traffic(&flows);
        let commands: Vec<usize> =
            text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')).map(|(i, _)| i).collect();
        prop_assume!(!commands.is_empty());
        let gone = commands[at.index(commands.len())];
        let less: String =
            text.lines().enumerate().filter(|&(i, _)| i != gone).map(|(_, line)| format!("{line}\n")).collect();
        let harmless = text.lines().nth(gone).is_some_and(|line| {
            line.ends_with("random_ 0") || line.starts_with("$udp_") || line.ends_with("packetSize_ 210")
        });
        prop_assert!(harmless || read(&less) != Ok(flows));
    }
}
