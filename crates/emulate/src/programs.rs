//! The programs: one a node, in its namespaces.
//!
//! This process is the first of its process namespace, so that all processes there become its children, and
//! it can ask for their end with one call. What a program leaves in the background lives as long as the
//! emulation does.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use manetlab_core::kernel::Time;
use manetlab_core::wire::NodeId;
use manetlab_wire_formats::address;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};
use serde::Serialize;

use crate::namespace::{Home, INTERFACE, NamespaceError, NodeSpace};

/// How long programs have to end after they have been asked to, in steps.
const GRACE: (u32, Duration) = (100, Duration::from_millis(10));
/// Processes that end between two questions, at most; the others are asked about the next time.
const MOST_ENDS: usize = 1000;

/// The first process of a namespace.
const FIRST: Pid = Pid::from_raw(1);

/// How a program ended by itself.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Ended {
    /// When, in s.
    pub at_s: f64,
    /// Its exit status, unless a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
}

/// A node's program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Program {
    /// The node.
    pub node: u32,
    /// The command, word by word.
    pub command: Vec<String>,
    /// How it ended, if it did before the emulation was over.
    pub ended: Option<Ended>,
    #[serde(skip)]
    pid: Option<Pid>,
}

/// A program cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its namespaces cannot be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The system's reason.
    #[error("{1}")]
    Program(String, io::Error),
    /// The file of its output cannot be made.
    #[error("{1}")]
    Log(PathBuf, io::Error),
}

/// All programs of an emulation.
pub struct Programs {
    all: Vec<Program>,
    /// Are there other processes than this?
    any_left: bool,
}

impl Programs {
    /// Starts a command in each node's namespaces, in the directory of `home`, where this thread is
    /// afterwards; its output goes to a file in `logs`, if that is given.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(
        nodes: &[NodeSpace],
        commands: Vec<Vec<String>>,
        home: &Home,
        logs: Option<&Path>,
    ) -> Result<Programs, StartError> {
        let mut all = Vec::with_capacity(commands.len());
        // First of all, while this thread sees what its user sees.
        let logs = (0..nodes.len())
            .map(|node| logs.map(|logs| create(&logs.join(format!("node-{node}.log")))).transpose());
        let logs = logs.collect::<Result<Vec<_>, _>>()?;
        for (((node, space), command), log) in (0..).zip(nodes).zip(commands).zip(logs) {
            space.enter()?;
            let pid = spawn(NodeId(node), &command, &home.directory, log)?;
            all.push(Program { node, command, ended: None, pid: Some(pid) });
        }
        home.enter()?;
        Ok(Programs { all, any_left: true })
    }

    /// Looks for what has ended; true if any process is left.
    pub fn look(&mut self, now: Time) -> bool {
        for _ in 0..MOST_ENDS {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, status)) => self.note(pid, now, Some(status), None),
                Ok(WaitStatus::Signaled(pid, signal, _)) => self.note(pid, now, None, Some(signal)),
                Ok(WaitStatus::StillAlive) => return true,
                Err(Errno::ECHILD) => {
                    self.any_left = false;
                    return false;
                }
                Ok(_) | Err(_) => {}
            }
        }
        true
    }

    fn note(&mut self, pid: Pid, now: Time, status: Option<i32>, signal: Option<Signal>) {
        if let Some(program) = self.all.iter_mut().find(|program| program.pid == Some(pid)) {
            let signal = signal.map(|signal| signal.as_str().to_owned());
            program.ended = Some(Ended { at_s: now.as_secs(), status, signal });
            program.pid = None;
        }
    }

    /// Asks all processes to end, and waits for that a moment. What is left then ends with this process.
    pub fn end(mut self) -> Vec<Program> {
        let ended: Vec<Program> = self.all.clone();
        // As process 1, to all others of its namespace; any other process would ask its whole machine.
        if getpid() == FIRST && self.any_left && kill(Pid::from_raw(-1), Signal::SIGTERM).is_ok() {
            let (steps, pause) = GRACE;
            for _ in 0..steps {
                if !self.look(Time::ZERO) {
                    break;
                }
                sleep(pause);
            }
        }
        ended
    }
}

fn create(path: &Path) -> Result<File, StartError> {
    File::create(path).map_err(|error| StartError::Log(path.to_owned(), error))
}

fn spawn(node: NodeId, words: &[String], directory: &Path, log: Option<File>) -> Result<Pid, StartError> {
    let name = words.first().map_or("", String::as_str);
    let failed = |error| StartError::Program(name.to_owned(), error);
    let [a, b, c, d] = address::ipv4(node);
    let mut command = Command::new(name);
    command
        .args(words.get(1..).unwrap_or_default())
        .current_dir(directory)
        .stdin(Stdio::null())
        .env("MANETLAB_NODE", node.0.to_string())
        .env("MANETLAB_ADDRESS", format!("{a}.{b}.{c}.{d}"))
        .env("MANETLAB_INTERFACE", INTERFACE);
    if let Some(log) = log {
        command.stdout(log.try_clone().map_err(failed)?).stderr(log);
    }
    // Waited for with all others of the namespace, by process number.
    let child = command.spawn().map_err(failed)?;
    Ok(Pid::from_raw(child.id() as i32))
}
