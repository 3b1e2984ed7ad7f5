//! The loop: a run of the core in real time, between ports that programs are behind.
//!
//! A turn reads the ports that have frames, lets all happen that is due by now, hands one frame that has come
//! up to its program, and waits for the next deadline or frame. The kernel wakes a waiting process tens of
//! microseconds late, so that the last of the wait is spent asking; and it takes about 20 µs to accept a
//! frame, so that what is due on the air meanwhile, such as an ACK after a SIFS, goes first.

use std::hint::spin_loop;
use std::io;
use std::os::fd::AsFd;

use manetlab_core::kernel::{Span, Stream, Time};
use manetlab_core::observe::{AuditReport, DropCount, Recorder, Recorders, RunError};
use manetlab_core::routing::{Place, Routing};
use manetlab_core::scenario::Scenario;
use manetlab_core::simulation::Live;
use manetlab_core::wire::{EthernetFrame, NodeId};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use serde::Serialize;

use crate::lateness::{Lateness, LatenessReport, Wall};
use crate::station::{Exchange, Outside};

/// How long before a deadline the process stops sleeping.
const AWAKE: Span = Span(150_000);
/// How long before a deadline nothing else is done any more: asking fifty ports takes as long.
const READY: Span = Span(30_000);
/// How long handing over a frame takes, and answering a question: neither is begun when something is due so
/// soon.
const HAND_OVER: Span = Span(20_000);
const ANSWER: Span = Span(200_000);
/// How late a frame may become, of the run's or of a program's, or a question, while others go first.
const PATIENCE: Span = Span::from_millis(1);
const LATEST_QUESTION: Span = Span::from_millis(100);
/// How often the caller is asked whether to go on.
const QUESTIONS: Span = Span::from_millis(20);
/// Most frames that are read from a port before the others' turn.
const FRAMES_A_TURN: usize = 64;
/// The longest frame of a TAP: its MTU, the header, a VLAN tag.
const LONGEST_FRAME: usize = 1500 + 14 + 4;

/// Where a node's programs send and receive Ethernet frames. Neither call blocks.
pub trait Port: AsFd {
    /// Reads a frame, and says how long it is; [`io::ErrorKind::WouldBlock`] if there is none.
    ///
    /// # Errors
    /// The system's.
    fn receive(&self, frame: &mut [u8]) -> io::Result<usize>;

    /// Hands a frame to the programs.
    ///
    /// # Errors
    /// The system's.
    fn send(&self, frame: &[u8]) -> io::Result<usize>;
}

/// What passed through a node's port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Passed {
    /// Frames that its programs sent.
    pub sent: u64,
    /// Their payload, in bytes.
    pub sent_bytes: u64,
    /// Frames that its programs received.
    pub received: u64,
    /// Frames that the node's kernel did not take.
    pub refused: u64,
    /// Frames that its programs sent to MAC addresses that are no other node's.
    pub unknown: u64,
}

/// What an emulation was like.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How long it lasted, in s.
    pub lasted_s: f64,
    /// Did it end before its time because the caller wanted no more?
    pub stopped: bool,
    /// By node.
    pub nodes: Vec<Passed>,
    /// Frames that were lost on the way, by reason.
    pub drops: Vec<DropCount>,
    /// The books of the run.
    pub audit: AuditReport,
    /// How late frames were.
    pub lateness: LatenessReport,
}

/// Why an emulation failed.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// The run cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A port cannot be read, or waited for.
    #[error("the port of a node cannot be read: {0}")]
    Port(#[from] io::Error),
}

impl From<Errno> for EmulateError {
    fn from(errno: Errno) -> EmulateError {
        EmulateError::Port(errno.into())
    }
}

/// Emulates a scenario whose protocol is `custom`, from now until its end or until `go_on` says no, with one
/// port a node. `recorder` gets the run's events.
///
/// # Errors
/// See [`EmulateError`].
pub fn emulate<P: Port>(
    scenario: &Scenario,
    ports: &[P],
    recorder: Option<&mut dyn Recorder>,
    go_on: &mut dyn FnMut(Time) -> bool,
) -> Result<Report, EmulateError> {
    let wall = Wall::start();
    let lateness = Lateness::new(wall);
    let exchange = Exchange::new(ports.len());
    let mut make = |place: Place, _: Stream| {
        Box::new(Outside::new(place.node(), place.nodes(), exchange.clone())) as Box<dyn Routing>
    };
    let mut recorded = lateness.clone();
    let mut recorders = Recorders(vec![&mut recorded]);
    recorders.0.extend(recorder.map(|recorder| recorder as &mut dyn Recorder));
    let live = Live::new(scenario, &mut make, Some(&mut recorders))?;
    let mut driver = Driver {
        live,
        wall,
        lateness: lateness.clone(),
        end: Time::from_secs(scenario.duration_s),
        ports,
        exchange: exchange.clone(),
        passed: vec![Passed::default(); ports.len()],
        buffer: vec![0; LONGEST_FRAME],
        asked_at: Time::ZERO,
    };
    let stopped = !driver.run(go_on)?;
    let Driver { live, mut passed, end, .. } = driver;
    let ended = wall.now().min(end);
    for (node, passed) in (0..).map(NodeId).zip(&mut passed) {
        passed.unknown = exchange.unknown(node);
    }
    let result = live.finish(ended)?.result;
    Ok(Report {
        lasted_s: ended.as_secs(),
        stopped,
        nodes: passed,
        drops: result.drops,
        audit: result.audit,
        lateness: lateness.report(Span::from_micros(scenario.params.mac.slot_us)),
    })
}

/// See the module's head.
struct Driver<'r, P> {
    live: Live<'r>,
    wall: Wall,
    lateness: Lateness,
    end: Time,
    ports: &'r [P],
    exchange: Exchange,
    passed: Vec<Passed>,
    buffer: Vec<u8>,
    /// When the ports were last asked for frames.
    asked_at: Time,
}

impl<P: Port> Driver<'_, P> {
    /// Goes on to the end; false if the caller wanted no more.
    fn run(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<bool, EmulateError> {
        let mut polled: Vec<PollFd<'_>> =
            self.ports.iter().map(|port| PollFd::new(port.as_fd(), PollFlags::POLLIN)).collect();
        let (mut question, mut has_asked) = (Time::ZERO, false);
        loop {
            let now = self.wall.now();
            if now >= question && (self.is_free(now, ANSWER) || now >= question + LATEST_QUESTION) {
                if !go_on(now) {
                    return Ok(false);
                }
                question = now + QUESTIONS;
            }
            if has_asked {
                for node in (0..polled.len()).filter(|&node| polled[node].any() == Some(true)) {
                    self.read(node)?;
                }
            }
            self.live.advance(self.wall.now().min(self.end))?;
            let is_done = !self.hand_over();
            if is_done && now >= self.end {
                return Ok(true);
            }
            has_asked = self.wait(&mut polled, is_done.then_some(question))?;
        }
    }

    /// Is nothing due for so long?
    fn is_free(&mut self, now: Time, time: Span) -> bool {
        self.live.next_due() >= now + time
    }

    /// Takes what the programs of a node have sent.
    fn read(&mut self, node: usize) -> Result<(), EmulateError> {
        for _ in 0..FRAMES_A_TURN {
            match self.ports[node].receive(&mut self.buffer) {
                Ok(bytes) => {
                    if let Some(frame) = EthernetFrame::new(self.buffer[..bytes].to_vec()) {
                        self.passed[node].sent += 1;
                        self.passed[node].sent_bytes += frame.payload().len() as u64;
                        self.exchange.post(NodeId(node as u32), frame);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        let now = self.wall.now().min(self.end);
        Ok(self.live.wake(NodeId(node as u32), now)?)
    }

    /// Hands the first frame that has come up to its program, unless something else goes first. True if there
    /// was one.
    fn hand_over(&mut self) -> bool {
        let Some(due) = self.exchange.waits_since() else { return false };
        let now = self.wall.now();
        if self.is_free(now, HAND_OVER) || now >= due + PATIENCE {
            self.exchange.take(|due, node, frame| {
                self.lateness.hand_over(due);
                let passed = &mut self.passed[node.index()];
                match self.ports[node.index()].send(frame.bytes()) {
                    Ok(_) => passed.received += 1,
                    Err(_) => passed.refused += 1,
                }
            });
        }
        true
    }

    /// Waits for the run's next deadline, a frame, or the next question; not at all if none is given, because
    /// there is more to do. False if the deadline was so near that no port was asked for frames.
    fn wait(&mut self, polled: &mut [PollFd<'_>], question: Option<Time>) -> Result<bool, EmulateError> {
        let (next, now) = (self.live.next_due(), self.wall.now());
        if next.since(now) <= READY && now < self.asked_at + PATIENCE {
            while question.is_some() && self.wall.now() < next {
                spin_loop();
            }
            return Ok(false);
        }
        self.asked_at = now;
        let due = Time(next.0.saturating_sub(AWAKE.0)).min(self.end);
        let left = question.map_or(Span::ZERO, |question| due.min(question).since(self.wall.now()));
        let timeout = TimeSpec::new((left.0 / 1_000_000_000) as i64, (left.0 % 1_000_000_000) as i64);
        match ppoll(polled, Some(timeout), None) {
            // A signal: the caller is asked soon.
            Ok(_) => Ok(true),
            Err(Errno::EINTR) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use manetlab_core::mobility::Trajectory;
    use manetlab_core::profile::profile;
    use manetlab_core::scenario::RoutingKind;
    use manetlab_wire_formats::address;

    use super::*;

    impl Port for UnixDatagram {
        fn receive(&self, frame: &mut [u8]) -> io::Result<usize> {
            self.recv(frame)
        }

        fn send(&self, frame: &[u8]) -> io::Result<usize> {
            UnixDatagram::send(self, frame)
        }
    }

    /// Nodes in a row, 200 m apart: each hears its neighbours only.
    fn row(nodes: u32) -> Scenario {
        Scenario {
            duration_s: 0.2,
            warmup_s: 0.0,
            seed: 1,
            replication: 0,
            routing: RoutingKind::Custom,
            params: profile("rfc").expect("the profile exists"),
            flows: Vec::new(),
            rates: Vec::new(),
            radios: Vec::new(),
            walls: Vec::new(),
            energy: None,
            wired: Vec::new(),
            movement: (0..nodes).map(|node| Trajectory::fixed(200.0 * f64::from(node), 0.0)).collect(),
        }
    }

    /// The ports of nodes, and the programs' ends.
    fn wired(nodes: u32) -> (Vec<UnixDatagram>, Vec<UnixDatagram>) {
        let pair = |_| UnixDatagram::pair().expect("a pair of sockets");
        let (ports, programs): (Vec<_>, Vec<_>) = (0..nodes).map(pair).unzip();
        for each in ports.iter().chain(&programs) {
            each.set_nonblocking(true).expect("not blocking");
        }
        (ports, programs)
    }

    fn frame(from: u32, to: NodeId) -> Vec<u8> {
        [address::mac(to).as_slice(), &address::mac(NodeId(from)), &[8, 0], &[7; 84]].concat()
    }

    fn got(program: &UnixDatagram) -> Option<Vec<u8>> {
        let mut bytes = vec![0; 2000];
        program.recv(&mut bytes).ok().map(|length| bytes[..length].to_vec())
    }

    #[test]
    fn frames_reach_those_in_range_with_their_bytes_and_nobody_else() {
        let (ports, programs) = wired(4);
        let [to_one, to_all] = [frame(1, NodeId(2)), frame(1, NodeId::BROADCAST)];
        programs[1].send(&to_one).expect("sent");
        programs[1].send(&to_all).expect("sent");
        programs[0].send(&frame(0, NodeId(3))).expect("sent");
        let report = emulate(&row(4), &ports, None, &mut |_| true).expect("an emulation");
        assert_eq!(got(&programs[2]), Some(to_one));
        assert_eq!((got(&programs[2]), got(&programs[0])), (Some(to_all.clone()), Some(to_all)));
        assert_eq!((got(&programs[0]), got(&programs[1]), got(&programs[3])), (None, None, None));
        let passed = |node: usize| (report.nodes[node].sent, report.nodes[node].received);
        assert_eq!((0..4).map(passed).collect::<Vec<_>>(), [(1, 1), (2, 0), (0, 2), (0, 0)]);
        assert!(report.audit.balanced && !report.stopped);
        // The node out of reach acknowledged nothing: its frame failed, and all its tries went on the air.
        assert_eq!(report.drops.iter().map(|drop| drop.count).sum::<u64>(), 1, "{:?}", report.drops);
        assert!(report.lateness.on_air.frames > 5);
        assert_eq!(report.lateness.handed_over.frames, 3);
    }

    #[test]
    fn the_caller_ends_it_before_its_time_and_the_books_balance() {
        let (ports, programs) = wired(2);
        programs[0].send(&frame(0, NodeId(1))).expect("sent");
        let scenario = Scenario { duration_s: 1000.0, ..row(2) };
        let report = emulate(&scenario, &ports, None, &mut |now| now < Time::from_secs(0.05));
        let report = report.expect("an emulation");
        assert!(report.stopped && report.lasted_s < 1000.0 && report.audit.balanced);
        assert!(got(&programs[1]).is_some());
    }
}
