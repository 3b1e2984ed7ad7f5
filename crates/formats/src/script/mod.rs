//! Scripts of ns-2: Tcl ([`crate::tcl`]) with the commands of ns as stubs that write down what is asked
//! for.
//!
//! A script runs as it does in ns-2, up to and with the events that it schedules, in order of time;
//! nothing is simulated. What comes out are [`Call`]s: which object was told what, when and on which line.
//! What they mean for a scenario is the caller's business, but for the movement of the nodes.
//!
//! A file of movement may be a script too, with loops and arithmetic: it has `$ns_`, `$god_` and as many
//! `$node_(i)` as it names.

mod movement;
mod ns;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use self::ns::Ns;
use crate::Movement;
use crate::error::{Fault, ReadError};
use crate::limits::Limits;
use crate::tcl::{Interp, Place, Stop, Trouble, Value};

/// Steps that a script may take for each line that it has, besides [`Limits::max_steps`].
const STEPS_A_LINE: u64 = 30;
/// Stack of the thread that evaluates: bodies within bodies take some.
const STACK_BYTES: usize = 64 << 20;

/// Something that the script says to an object or a class.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The number of the file: 0 is the script, others are those it sources, in this order.
    pub file: u16,
    /// The line, counted from 1.
    pub line: u32,
    /// When, in s; `None` before the run begins.
    pub at_s: Option<f64>,
    /// The object, counted from 0; `None` for a class.
    pub object: Option<u32>,
    /// The object's class, or the class.
    pub class: Box<str>,
    /// What is said; `new` and its arguments where an object is made.
    pub words: Vec<Box<str>>,
    /// The object that this makes.
    pub made: Option<u32>,
}

/// What a script asks for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// All that it says, in order.
    pub calls: Vec<Call>,
    /// The objects that are nodes, in order of their numbers.
    pub nodes: Vec<u32>,
    /// Where they start and go, if there are any.
    pub movement: Option<Movement>,
    /// When the script ends the run, in s.
    pub ended_s: Option<f64>,
    /// Whether it has begun a run.
    pub ran: bool,
    /// What is not obeyed, with file and line.
    pub notes: Vec<(u16, u32, String)>,
    /// The names of the files that it sources.
    pub files: Vec<String>,
}

/// What becomes of a script.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It was evaluated.
    Script(Box<Script>),
    /// It sources this file, which was not among those given; once that is there it can be tried again.
    Missing {
        /// The name of the file.
        name: String,
        /// What to say if there is no such file.
        error: ReadError,
    },
}

/// Evaluates a script of ns-2; `name` is for errors.
///
/// # Arguments
/// `files` are the contents of files that it may source, by the names that it gives them; `arguments` are
/// those of the command line, `$argv`.
///
/// # Errors
/// An error in Tcl's sense, a bound on work or memory that is reached, or something that has no place in a
/// simulation: the output of a program, the content of a file, a class of the script's own.
pub fn read_script(
    bytes: &[u8],
    name: &str,
    files: &BTreeMap<String, Vec<u8>>,
    arguments: &[String],
    limits: &Limits,
) -> Result<Outcome, ReadError> {
    evaluated(bytes, name, files, arguments, limits, false)
}

/// The movement that a script says which is a file of movement.
///
/// # Errors
/// As of [`read_script`], and those of [`crate::read_movement`].
pub fn read_movement_script(bytes: &[u8], name: &str, limits: &Limits) -> Result<Movement, ReadError> {
    match evaluated(bytes, name, &BTreeMap::new(), &[], limits, true)? {
        Outcome::Missing { error, .. } => Err(error),
        Outcome::Script(script) => script.movement.ok_or_else(|| {
            let hint = "every node needs its X_ and Y_";
            Fault::new("no nodes", "a script without nodes", "at least one node", hint).in_file(name, None)
        }),
    }
}

/// Reads a movement file of ns-2, by its lines or, where these are not enough, as a script.
///
/// # Errors
/// Those of [`crate::read_movement`], or of [`read_movement_script`] where that comes further.
pub fn read_movement_of_any_form(bytes: &[u8], name: &str, limits: &Limits) -> Result<Movement, ReadError> {
    crate::read_movement(bytes, name, limits).or_else(|by_lines| {
        if !matches!(&*by_lines.what, "line not understood" | "two commands on a line") {
            return Err(by_lines);
        }
        read_movement_script(bytes, name, limits)
            .map_err(|by_script| if by_script.line > by_lines.line { by_script } else { by_lines })
    })
}

fn evaluated(
    bytes: &[u8],
    name: &str,
    files: &BTreeMap<String, Vec<u8>>,
    arguments: &[String],
    limits: &Limits,
    is_fragment: bool,
) -> Result<Outcome, ReadError> {
    limits.check_size(bytes.len() as u64, name)?;
    let work = || evaluate(bytes, name, files, arguments, limits, is_fragment);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let no_thread = |error: String| {
            let hint = "close other programs, or allow more threads";
            Fault::new("the script cannot be evaluated", error, "a thread", hint).in_file(name, None)
        };
        let thread = thread.map_err(|error| no_thread(error.to_string()))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn evaluate(
    bytes: &[u8],
    name: &str,
    files: &BTreeMap<String, Vec<u8>>,
    arguments: &[String],
    limits: &Limits,
    is_fragment: bool,
) -> Result<Outcome, ReadError> {
    let text = crate::scan::text_of(bytes).map_err(|fault| fault.in_file(name, None))?;
    let lines = bytes.iter().chain(files.values().flatten()).filter(|&&b| b == b'\n').count() as u64;
    let ns = Ns::new(files, is_fragment, *limits);
    let mut tcl = Interp::new(ns, limits.max_steps + STEPS_A_LINE * lines);
    let script = Value::at(text, Place { file: 0, line: 1 });
    let result = ns::begin(&mut tcl, arguments)
        .and_then(|()| tcl.eval(&script))
        .and_then(|_| if is_fragment { ns::run(&mut tcl) } else { Ok(()) });
    match result {
        Ok(()) | Err(Stop::Exit | Stop::Return(_) | Stop::Break | Stop::Continue) => {
            let script = tcl.host.finish().map_err(|fault| fault.in_file(name, None))?;
            Ok(Outcome::Script(Box::new(script)))
        }
        Err(Stop::Error(trouble) | Stop::Bound(trouble)) => {
            let missing = trouble.missing.clone();
            let error = tcl.host.error_of(*trouble, name);
            match missing {
                Some(name) => Ok(Outcome::Missing { name, error }),
                None => Err(error),
            }
        }
    }
}

/// The words of a trouble as those of an error of a reader.
fn fault_of(trouble: Trouble) -> Box<Fault> {
    let or = |text: String, other: &str| if text.is_empty() { other.to_owned() } else { text };
    Fault::new(
        "the script cannot be evaluated",
        trouble.what.clone(),
        or(trouble.wanted, "Tcl and commands of ns-2 that are known"),
        or(trouble.hint, "what is understood of scripts:  manetlab docs bring-your-own"),
    )
}

/// A text that is shared.
type Text = Rc<str>;
