//! The objects that a traffic file creates, and the flows that they add up to.

mod values;

use std::collections::HashMap;

use manetlab_core::kernel::Time;

use self::values::Pace;
use crate::error::{Fault, Parsed, quoted};
use crate::limits::Limits;
use crate::traffic::{DEFAULT_CBR_BYTES, DEFAULT_CBR_RATE_BPS, FlowKind, FlowSpec};

/// Over what a flow goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Transport {
    Tcp,
    Udp,
}

/// Which timed command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum End {
    Start,
    Stop,
}

/// What an application sends.
pub(super) enum AppKind {
    Ftp,
    Cbr { bytes: u32, pace: Pace, random: bool, max_packets: Option<u64> },
}

impl AppKind {
    /// A CBR source with ns-2's defaults.
    pub(super) fn cbr() -> AppKind {
        let pace = Pace::Rate { bps: DEFAULT_CBR_RATE_BPS };
        AppKind::Cbr { bytes: DEFAULT_CBR_BYTES, pace, random: false, max_packets: None }
    }

    fn transport(&self) -> Transport {
        match self {
            AppKind::Ftp => Transport::Tcp,
            AppKind::Cbr { .. } => Transport::Udp,
        }
    }
}

/// A sending endpoint.
struct Agent<'a> {
    name: &'a str,
    line: u64,
    transport: Transport,
    node: Option<u32>,
    sink: Option<usize>,
    window: Option<u32>,
    /// Bytes of a segment, or the largest datagram that is not split.
    bytes: Option<u32>,
    /// Has an application been put on it?
    used: bool,
}

/// A receiving endpoint.
struct Sink<'a> {
    name: &'a str,
    line: u64,
    transport: Transport,
    node: Option<u32>,
    connected: bool,
}

/// An application: one flow.
struct App<'a> {
    name: &'a str,
    line: u64,
    kind: AppKind,
    agent: Option<usize>,
    start: Option<Time>,
    /// When it stops, and the line that says so.
    stop: Option<(Time, u64)>,
}

#[derive(Clone, Copy)]
enum Handle {
    Agent(usize),
    Sink(usize),
    App(usize),
}

/// All that the file has created so far.
#[derive(Default)]
pub(super) struct Objects<'a> {
    line: u64,
    /// Looked up by name, never iterated.
    names: HashMap<&'a str, (Handle, u64)>,
    agents: Vec<Agent<'a>>,
    sinks: Vec<Sink<'a>>,
    apps: Vec<App<'a>>,
}

impl<'a> Objects<'a> {
    /// What follows is on line `line`.
    pub(super) fn at_line(&mut self, line: u64) {
        self.line = line;
    }

    pub(super) fn new_agent(&mut self, name: &'a str, transport: Transport) -> Parsed<()> {
        self.define(name, Handle::Agent(self.agents.len()))?;
        let line = self.line;
        let (node, sink, window, bytes) = (None, None, None, None);
        self.agents.push(Agent { name, line, transport, node, sink, window, bytes, used: false });
        Ok(())
    }

    pub(super) fn new_sink(&mut self, name: &'a str, transport: Transport) -> Parsed<()> {
        self.define(name, Handle::Sink(self.sinks.len()))?;
        self.sinks.push(Sink { name, line: self.line, transport, node: None, connected: false });
        Ok(())
    }

    pub(super) fn new_app(&mut self, name: &'a str, kind: AppKind) -> Parsed<()> {
        self.define(name, Handle::App(self.apps.len()))?;
        self.apps.push(App { name, line: self.line, kind, agent: None, start: None, stop: None });
        Ok(())
    }

    /// An agent on `src`, connected with a sink on `dst` that has no name of its own.
    pub(super) fn new_connection(
        &mut self,
        name: &'a str,
        transport: Transport,
        src: u32,
        dst: u32,
    ) -> Parsed<()> {
        self.new_agent(name, transport)?;
        let sink = self.sinks.len();
        self.sinks.push(Sink { name, line: self.line, transport, node: Some(dst), connected: true });
        if let Some(agent) = self.agents.last_mut() {
            (agent.node, agent.sink) = (Some(src), Some(sink));
        }
        if src == dst { Err(to_itself(src)) } else { Ok(()) }
    }

    pub(super) fn attach_node(&mut self, name: &'a str, node: u32) -> Parsed<()> {
        let slot = match self.find(name)? {
            Handle::Agent(agent) => &mut self.agents[agent].node,
            Handle::Sink(sink) => &mut self.sinks[sink].node,
            Handle::App(_) => {
                return Err(misplaced(
                    name,
                    "an agent",
                    "a flow is put on an agent: $cbr_(0) attach-agent $udp_(0)",
                ));
            }
        };
        if slot.replace(node).is_some() { Err(again(name, "attached to a node")) } else { Ok(()) }
    }

    pub(super) fn connect(&mut self, a: &'a str, b: &'a str) -> Parsed<()> {
        let ((Handle::Agent(agent), Handle::Sink(index)) | (Handle::Sink(index), Handle::Agent(agent))) =
            (self.find(a)?, self.find(b)?)
        else {
            return Err(misplaced(b, "an agent and a sink", "write  $ns_ connect $udp_(0) $null_(0)"));
        };
        let (agent, sink) = (&mut self.agents[agent], &mut self.sinks[index]);
        if agent.transport != sink.transport {
            let hint = "UDP goes with Null or LossMonitor, TCP with TCPSink";
            return Err(misplaced(b, "a sink of the agent's kind", hint));
        }
        // Any number of UDP agents may send to one Null; a TCPSink belongs to one connection.
        if agent.sink.is_some() || (sink.connected && sink.transport == Transport::Tcp) {
            return Err(again(a, "connected"));
        }
        sink.connected = true;
        agent.sink = Some(index);
        Ok(())
    }

    pub(super) fn attach_app(&mut self, name: &'a str, agent: &'a str) -> Parsed<()> {
        let (Handle::App(app), Handle::Agent(index)) = (self.find(name)?, self.find(agent)?) else {
            return Err(misplaced(agent, "a flow and an agent", "write  $cbr_(0) attach-agent $udp_(0)"));
        };
        let (app, agent) = (&mut self.apps[app], &mut self.agents[index]);
        if app.kind.transport() != agent.transport {
            return Err(misplaced(
                agent.name,
                "an agent that suits the flow",
                "FTP goes over TCP, CBR over UDP",
            ));
        }
        if app.agent.is_some() || (agent.used && agent.transport == Transport::Tcp) {
            return Err(again(name, "attached to an agent"));
        }
        agent.used = true;
        app.agent = Some(index);
        Ok(())
    }

    pub(super) fn schedule(&mut self, name: &'a str, end: End, at: Time) -> Parsed<()> {
        let Handle::App(app) = self.find(name)? else {
            return Err(misplaced(name, "a flow", "start the FTP or CBR, not its agent"));
        };
        let app = &mut self.apps[app];
        let before = match end {
            End::Start => app.start.replace(at).is_some(),
            End::Stop => app.stop.replace((at, self.line)).is_some(),
        };
        if !before {
            return Ok(());
        }
        Err(again(name, if end == End::Start { "started" } else { "stopped" }))
    }

    /// `$name set parameter value`; `None` if the object has no such parameter.
    pub(super) fn set(
        &mut self,
        name: &'a str,
        parameter: &str,
        value: &str,
        limits: &Limits,
    ) -> Parsed<Option<()>> {
        let label = matches!(parameter, "fid_" | "class_" | "prio_");
        match self.find(name)? {
            Handle::Agent(_) | Handle::Sink(_) if label => values::label(value).map(Some),
            Handle::Agent(agent) => {
                let agent = &mut self.agents[agent];
                match (parameter, agent.transport) {
                    ("packetSize_", _) => agent.bytes = Some(values::bytes(value)?),
                    ("window_", Transport::Tcp) => agent.window = Some(values::window(value)?),
                    _ => return Ok(None),
                }
                Ok(Some(()))
            }
            Handle::App(app) => values::set_app(&mut self.apps[app].kind, parameter, value, limits),
            Handle::Sink(_) => Ok(None),
        }
    }

    /// The flows, in order of creation of their applications.
    pub(super) fn flows(&self) -> Parsed<Vec<FlowSpec>> {
        let mut flows = Vec::with_capacity(self.apps.len());
        for app in &self.apps {
            flows.push(self.flow(app).map_err(|fault| {
                let line = fault.line.unwrap_or(app.line);
                fault.at(line)
            })?);
        }
        let idle = self.agents.iter().find(|agent| !agent.used).map(|agent| (agent.name, agent.line));
        let alone = self.sinks.iter().find(|sink| !sink.connected).map(|sink| (sink.name, sink.line));
        match (idle, alone) {
            (Some((name, line)), _) => {
                Err(missing(name, "a flow", "$cbr_(0) attach-agent $udp_(0)").at(line))
            }
            (None, Some((name, line))) => {
                Err(missing(name, "an agent that sends to it", "$ns_ connect $udp_(0) $null_(0)").at(line))
            }
            (None, None) => Ok(flows),
        }
    }

    fn flow(&self, app: &App<'_>) -> Parsed<FlowSpec> {
        let agent = match app.agent {
            Some(agent) => &self.agents[agent],
            None => return Err(missing(app.name, "an agent", "$cbr_(0) attach-agent $udp_(0)")),
        };
        let place = "$ns_ attach-agent $node_(1) $udp_(0)";
        let src = agent.node.ok_or_else(|| missing(agent.name, "a node", place))?;
        let Some(sink) = agent.sink.map(|sink| &self.sinks[sink]) else {
            return Err(missing(agent.name, "a destination", "$ns_ connect $udp_(0) $null_(0)"));
        };
        let dst = sink.node.ok_or_else(|| missing(sink.name, "a node", place))?;
        if src == dst {
            return Err(to_itself(src));
        }
        let start =
            app.start.ok_or_else(|| missing(app.name, "a start", r#"$ns_ at 10.0 "$cbr_(0) start""#))?;
        if let Some((stop, line)) = app.stop
            && stop <= start
        {
            let found = format!("{} s, not after the start at {} s", stop.as_secs(), start.as_secs());
            let hint = "is the stop another flow's?";
            return Err(Fault::new("stop", found, "a time after the flow's start", hint).at(line));
        }
        Ok(FlowSpec { kind: kind(app, agent)?, src, dst, start, stop: app.stop.map(|(stop, _)| stop) })
    }

    fn define(&mut self, name: &'a str, handle: Handle) -> Parsed<()> {
        match self.names.insert(name, (handle, self.line)) {
            None => Ok(()),
            Some((_, line)) => Err(Fault::new(
                "defined twice",
                format!("a second definition of {}, after that on line {line}", quoted(name)),
                "each variable once",
                "are these two traffic files in one? number the flows of the second anew",
            )),
        }
    }

    fn find(&self, name: &str) -> Parsed<Handle> {
        match self.names.get(name) {
            Some(&(handle, _)) => Ok(handle),
            None => Err(Fault::new(
                "unknown variable",
                quoted(&format!("${name}")),
                "a variable that was defined on a line above",
                "correct the name, or move its  set …  above this line",
            )),
        }
    }
}

/// What the flow sends, with the values that hold when it starts.
fn kind(app: &App<'_>, agent: &Agent<'_>) -> Parsed<FlowKind> {
    let AppKind::Cbr { bytes, pace, random, max_packets } = app.kind else {
        return Ok(FlowKind::Tcp { window: agent.window, segment_bytes: agent.bytes });
    };
    if agent.bytes.is_some_and(|largest| largest < bytes) {
        return Err(Fault::new(
            "packet size",
            format!("packets of {bytes} bytes on an agent that would split them"),
            "a packetSize_ of the UDP agent that is not below that of its CBR",
            format!("set packetSize_ of {} to {bytes}", quoted(&format!("${}", agent.name))),
        ));
    }
    Ok(FlowKind::Cbr { bytes, interval_s: pace.interval_s(bytes)?, random, max_packets })
}

fn missing(name: &str, what: &str, form: &str) -> Box<Fault> {
    let found = format!("{} without {what}", quoted(&format!("${name}")));
    Fault::new("incomplete flow", found, what, format!("add a line like  {form}"))
}

fn misplaced(name: &str, wanted: &str, hint: &str) -> Box<Fault> {
    Fault::new("wrong kind of variable", quoted(&format!("${name}")), wanted, hint)
}

fn again(name: &str, verb: &str) -> Box<Fault> {
    let found = format!("{}, {verb} for the second time", quoted(&format!("${name}")));
    Fault::new(format!("{verb} twice"), found, "once for each flow", "give each flow variables of its own")
}

fn to_itself(node: u32) -> Box<Fault> {
    let found = format!("$node_({node}) as source and destination");
    Fault::new("flow to itself", found, "two different nodes", "remove the flow or change one end")
}
