//! Reads traffic files: from lines to statements. What the statements add up to is in [`objects`].

mod objects;

use self::objects::{AppKind, End, Objects, Transport};
use super::FlowSpec;
use crate::error::{Fault, Parsed, ReadError, quoted};
use crate::hint::nearest;
use crate::limits::Limits;
use crate::number;
use crate::scan::{Words, each_line, is_simulator, node};

/// The forms to which a hint points.
const FORMS: &[&str] = &[
    "set tcp_(0) [$ns_ create-connection TCP $node_(1) TCPSink $node_(2) 0]",
    "set ftp_(0) [$tcp_(0) attach-source FTP]",
    "set udp_(0) [new Agent/UDP]",
    "set null_(0) [new Agent/Null]",
    "set tcp_(0) [new Agent/TCP]",
    "set sink_(0) [new Agent/TCPSink]",
    "set cbr_(0) [new Application/Traffic/CBR]",
    "set ftp_(0) [new Application/FTP]",
    "$ns_ attach-agent $node_(1) $udp_(0)",
    "$ns_ connect $udp_(0) $null_(0)",
    "$cbr_(0) attach-agent $udp_(0)",
    "$tcp_(0) set window_ 8",
    "$tcp_(0) set packetSize_ 1460",
    "$cbr_(0) set packetSize_ 512",
    "$cbr_(0) set interval_ 0.25",
    "$cbr_(0) set rate_ 64kb",
    "$cbr_(0) set random_ 0",
    "$cbr_(0) set maxpkts_ 10000",
    r#"$ns_ at 10.0 "$cbr_(0) start""#,
    r#"$ns_ at 10.0 "$ftp_(0) start""#,
    r#"$ns_ at 10.0 "$ftp_(0) stop""#,
];

/// Reads a traffic file; `name` is for errors. The forms are those of [the module](super); the flows come in
/// the order in which the file creates their applications. A file of comments only has no flows.
///
/// # Errors
/// A line that is not understood, a value outside its range or outside `limits`, a flow that is created
/// twice, that goes from a node to itself, that is never connected or never started, an empty file, or bytes
/// that are not text. Whether the nodes exist is asked of [`check_flows`](super::check_flows).
pub fn read_traffic(bytes: &[u8], name: &str, limits: &Limits) -> Result<Vec<FlowSpec>, ReadError> {
    let mut objects = Objects::default();
    each_line(bytes, name, limits, |number, line| {
        objects.at_line(number);
        match statement(&mut objects, line, limits)? {
            Some(()) => Ok(()),
            None => Err(not_understood(line)),
        }
    })?;
    objects.flows().map_err(|fault| fault.in_file(name, None))
}

fn not_understood(line: &str) -> Box<Fault> {
    let variant = ["TCP/", "TCPSink/"].iter().any(|family| line.contains(family));
    let hint = if variant {
        "the scenario chooses the variant of TCP: write TCP and TCPSink here".to_owned()
    } else {
        nearest(line, FORMS)
    };
    Fault::new("line not understood", quoted(line), "a line of a cbrgen traffic file", hint)
}

/// Obeys one line; `None` if it has no understood form.
fn statement<'a>(objects: &mut Objects<'a>, line: &'a str, limits: &Limits) -> Parsed<Option<()>> {
    let mut words = Words::new(line);
    match words.next() {
        "set" => definition(objects, words, limits),
        word if is_simulator(word) => command(objects, words, limits),
        word => match word.strip_prefix('$').filter(|name| is_variable(name)) {
            Some(name) => change(objects, name, words, limits),
            None => Ok(None),
        },
    }
}

/// A Tcl variable as the generators write it: `cbr_(0)`, `cbr0`, `cbr`.
fn is_variable(name: &str) -> bool {
    let (stem, index) = name.split_once('(').unwrap_or((name, "0)"));
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    plain(stem) && index.strip_suffix(')').is_some_and(plain)
}

/// `$variable`, as the variable's name.
fn variable(word: &str) -> Option<&str> {
    word.strip_prefix('$').filter(|name| is_variable(name))
}

/// `set v […]`.
fn definition<'a>(objects: &mut Objects<'a>, mut words: Words<'a>, limits: &Limits) -> Parsed<Option<()>> {
    let name = words.next();
    let Some(mut inner) = words.within('[', ']').filter(|_| is_variable(name)) else { return Ok(None) };
    match inner.next() {
        "new" => match inner.last() {
            Some(["Agent/UDP"]) => objects.new_agent(name, Transport::Udp).map(Some),
            Some(["Agent/TCP"]) => objects.new_agent(name, Transport::Tcp).map(Some),
            Some(["Agent/Null" | "Agent/LossMonitor"]) => objects.new_sink(name, Transport::Udp).map(Some),
            Some(["Agent/TCPSink"]) => objects.new_sink(name, Transport::Tcp).map(Some),
            Some(["Application/Traffic/CBR"]) => objects.new_app(name, AppKind::cbr()).map(Some),
            Some(["Application/FTP"]) => objects.new_app(name, AppKind::Ftp).map(Some),
            _ => Ok(None),
        },
        word if is_simulator(word) => connection(objects, name, inner, limits),
        word => match (variable(word), inner.last()) {
            (Some(agent), Some(["attach-source" | "attach-app", "FTP"])) => {
                objects.new_app(name, AppKind::Ftp)?;
                objects.attach_app(name, agent).map(Some)
            }
            (Some(agent), Some(["attach-app", "Traffic/CBR"])) => {
                objects.new_app(name, AppKind::cbr())?;
                objects.attach_app(name, agent).map(Some)
            }
            _ => Ok(None),
        },
    }
}

/// `create-connection TCP $node_(s) TCPSink $node_(d) class`, behind the simulator's variable.
fn connection<'a>(
    objects: &mut Objects<'a>,
    name: &'a str,
    words: Words<'a>,
    limits: &Limits,
) -> Parsed<Option<()>> {
    let Some(["create-connection", agent, src, sink, dst, class]) = words.last() else { return Ok(None) };
    let transport = match (agent, sink) {
        ("TCP", "TCPSink") => Transport::Tcp,
        ("UDP", "Null" | "LossMonitor") => Transport::Udp,
        _ => return Ok(None),
    };
    let (Some(src), Some(dst)) = (node(src, limits)?, node(dst, limits)?) else { return Ok(None) };
    number::integer(class, "class", 0, u64::from(u32::MAX))?;
    objects.new_connection(name, transport, src, dst).map(Some)
}

/// `attach-agent`, `connect` or `at`, behind the simulator's variable.
fn command<'a>(objects: &mut Objects<'a>, mut words: Words<'a>, limits: &Limits) -> Parsed<Option<()>> {
    if words.clone().next() == "at" {
        words.next();
        return timed(objects, words, limits);
    }
    match words.last() {
        Some(["attach-agent", place, agent]) => match (node(place, limits)?, variable(agent)) {
            (Some(node), Some(agent)) => objects.attach_node(agent, node).map(Some),
            _ => Ok(None),
        },
        Some(["connect", a, b]) => match (variable(a), variable(b)) {
            (Some(a), Some(b)) => objects.connect(a, b).map(Some),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// `T "$flow start"`, behind `at`.
fn timed<'a>(objects: &mut Objects<'a>, mut words: Words<'a>, limits: &Limits) -> Parsed<Option<()>> {
    let time = words.next();
    let Some([subject, verb]) = words.within('"', '"').and_then(Words::last) else { return Ok(None) };
    let end = match verb {
        "start" => End::Start,
        "stop" => End::Stop,
        _ => return Ok(None),
    };
    let Some(flow) = variable(subject) else { return Ok(None) };
    objects.schedule(flow, end, number::time(time, limits)?).map(Some)
}

/// `set parameter value` or `attach-agent $agent`, behind a variable.
fn change<'a>(
    objects: &mut Objects<'a>,
    name: &'a str,
    words: Words<'a>,
    limits: &Limits,
) -> Parsed<Option<()>> {
    if let Some(["attach-agent", agent]) = words.clone().last() {
        return variable(agent).map(|agent| objects.attach_app(name, agent)).transpose();
    }
    match words.last() {
        Some(["set", parameter, value]) => objects.set(name, parameter, value, limits),
        _ => Ok(None),
    }
}
