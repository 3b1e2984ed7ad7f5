//! As much of Tcl as the scripts of ns-2's users have, with bounds on work and memory.
//!
//! Variables and arrays, procedures, `if`, `for`, `foreach`, `while`, `switch`, `expr`, lists, strings,
//! `format`, `catch`, `eval`, `upvar`. What is read or run outside the script does not exist: `exec` runs
//! nothing, `open` opens nothing, `source` finds only the files that the host was given. Commands that are
//! not Tcl's own are the [`Host`]'s.
//!
//! Every value is a text with the line that it comes from, so that errors within bodies have theirs. The
//! work is counted in steps, one a command and one for each 32 bytes that are handled; variables and
//! values have a greatest size, and evaluations a greatest depth. A script therefore ends, with a value or
//! an error.
//!
//! *Not implemented*: namespaces, regular expressions, `dict`, coroutines, integers beyond 64 bits.

mod commands;
mod expr;
mod format;
mod lists;
mod parse;
mod pattern;
mod strings;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) use self::lists::{list_of, split_list};
use self::variables::Frame;

/// Longest value, in bytes.
const LONGEST_VALUE: usize = 4 << 20;
/// Most bytes of all variables.
const MOST_STORED: usize = 128 << 20;
/// How deep evaluations may be nested: procedures, bodies, brackets and parentheses.
const DEEPEST: u32 = 120;
/// Bytes handled that count as one step.
const BYTES_A_STEP: usize = 32;

/// Where a text begins in the files of a script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Place {
    /// The number of the file: 0 is the script, others are sourced.
    pub(crate) file: u16,
    /// The line, counted from 1; 0 where it is not known.
    pub(crate) line: u32,
}

/// A value: a text, and where it comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    pub(crate) text: Rc<str>,
    pub(crate) place: Place,
}

impl Value {
    pub(crate) fn new(text: impl Into<Rc<str>>) -> Value {
        Value { text: text.into(), place: Place::default() }
    }

    pub(crate) fn at(text: impl Into<Rc<str>>, place: Place) -> Value {
        Value { text: text.into(), place }
    }
}

impl std::ops::Deref for Value {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Why an evaluation does not go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An error, which `catch` can catch.
    Error(Box<Trouble>),
    /// A bound was reached: nothing catches it.
    Bound(Box<Trouble>),
    Return(Value),
    Break,
    Continue,
    /// The script ends itself.
    Exit,
}

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Trouble {
    pub(crate) place: Place,
    pub(crate) what: String,
    pub(crate) found: String,
    pub(crate) wanted: String,
    pub(crate) hint: String,
    /// A file that the script asks for and that was not given.
    pub(crate) missing: Option<String>,
}

/// The result of an evaluation.
pub(crate) type Eval<T> = Result<T, Stop>;

/// An error in Tcl's own words.
pub(crate) fn error<T>(what: impl Into<String>) -> Eval<T> {
    Err(Stop::Error(Box::new(Trouble {
        place: Place::default(),
        what: what.into(),
        found: String::new(),
        wanted: String::new(),
        hint: String::new(),
        missing: None,
    })))
}

/// An error with all its parts.
pub(crate) fn trouble<T>(what: &str, found: String, wanted: &str, hint: &str) -> Eval<T> {
    let (what, wanted, hint) = (what.to_owned(), wanted.to_owned(), hint.to_owned());
    Err(Stop::Error(Box::new(Trouble { place: Place::default(), what, found, wanted, hint, missing: None })))
}

/// The commands that are not Tcl's own.
pub(crate) trait Host: Sized {
    /// Obeys a command; `None` if it is not known.
    fn command(tcl: &mut Interp<Self>, words: &[Value]) -> Eval<Option<Value>>;

    /// The value of a variable that is not set, or of an element of an array; `None` if there is none.
    fn variable(tcl: &mut Interp<Self>, name: &str, index: Option<&str>) -> Option<Value>;

    /// The content of a file that is sourced, and its number.
    fn source(&mut self, name: &str) -> Option<(Rc<str>, u16)>;

    /// Something of the script is not obeyed, and that changes nothing that is asked for.
    fn note(&mut self, place: Place, about: &str);
}

/// A procedure.
struct Proc {
    /// Names and defaults.
    parameters: Vec<(Rc<str>, Option<Value>)>,
    body: Value,
}

/// An interpreter.
pub(crate) struct Interp<H> {
    pub(crate) host: H,
    frames: Vec<Frame>,
    procs: BTreeMap<Rc<str>, Rc<Proc>>,
    /// Where the command is that is being obeyed.
    place: Place,
    steps_left: u64,
    stored: usize,
    depth: u32,
    /// How many brackets are around the command: its result is used.
    brackets: u32,
    files_opened: u32,
    random: i64,
}

impl<H: Host> Interp<H> {
    /// An interpreter that takes so many steps at most.
    pub(crate) fn new(host: H, steps: u64) -> Interp<H> {
        Interp {
            host,
            frames: vec![Frame::default()],
            procs: BTreeMap::new(),
            place: Place::default(),
            steps_left: steps,
            stored: 0,
            depth: 0,
            brackets: 0,
            files_opened: 0,
            random: 1,
        }
    }

    /// Where the command is that is being obeyed.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Whether the result of the command that is being obeyed is used by another one.
    pub(crate) fn is_bracketed(&self) -> bool {
        self.brackets > 0
    }

    /// Takes a step, and one more for each 32 of so many bytes.
    pub(crate) fn charge(&mut self, bytes: usize) -> Eval<()> {
        let steps = 1 + (bytes / BYTES_A_STEP) as u64;
        if steps <= self.steps_left {
            self.steps_left -= steps;
            return Ok(());
        }
        self.steps_left = 0;
        self.bound(
            "the script takes too long",
            "more steps than a scenario needs",
            "a script that ends",
            "is there an endless loop?",
        )
    }

    /// The end of a script that reached a bound.
    fn bound<T>(&self, what: &str, found: &str, wanted: &str, hint: &str) -> Eval<T> {
        let [what, found, wanted, hint] = [what, found, wanted, hint].map(str::to_owned);
        Err(Stop::Bound(Box::new(Trouble { place: self.place, what, found, wanted, hint, missing: None })))
    }

    /// Checks the length that a value is to have.
    pub(crate) fn room(&mut self, bytes: usize) -> Eval<()> {
        if bytes > LONGEST_VALUE {
            return self.bound(
                "a value grows too long",
                "more than 4 MiB",
                "shorter texts and lists",
                "is there an endless loop?",
            );
        }
        self.charge(bytes)
    }

    /// Evaluates a script, one level deeper.
    pub(crate) fn eval(&mut self, script: &Value) -> Eval<Value> {
        self.nested(|tcl| {
            let outer = std::mem::take(&mut tcl.brackets);
            let result = tcl.script(script);
            tcl.brackets = outer;
            result
        })
    }

    /// Does something one level deeper.
    fn nested<T>(&mut self, what: impl FnOnce(&mut Interp<H>) -> Eval<T>) -> Eval<T> {
        if self.depth == DEEPEST {
            return self.bound(
                "too deeply nested",
                "more than 120 levels",
                "fewer procedures within procedures",
                "does a procedure call itself without end?",
            );
        }
        self.depth += 1;
        let result = what(self);
        self.depth -= 1;
        result
    }

    /// Obeys a command.
    fn obey(&mut self, words: &[Value]) -> Eval<Value> {
        self.charge(words.iter().map(|word| word.len()).sum())?;
        let name = words[0].strip_prefix("::").unwrap_or(&words[0]);
        let result = match self.procs.get(name) {
            Some(known) => {
                let known = Rc::clone(known);
                self.call(&known, words)
            }
            None => match self.own_command(name, words) {
                Ok(Some(value)) => Ok(value),
                Ok(None) => match H::command(self, words) {
                    Ok(Some(value)) => Ok(value),
                    Ok(None) => error(format!("the command `{}` is not known", shortened(&list_of(words)))),
                    Err(stop) => Err(stop),
                },
                Err(stop) => Err(stop),
            },
        };
        result.map_err(|stop| located(stop, self.place))
    }

    fn call(&mut self, known: &Proc, words: &[Value]) -> Eval<Value> {
        let mut frame = Frame::default();
        let mut given = words[1..].iter();
        for (number, (name, default)) in known.parameters.iter().enumerate() {
            if &**name == "args" && number + 1 == known.parameters.len() {
                let rest: Vec<Value> = given.by_ref().cloned().collect();
                frame.put(name, Value::new(list_of(&rest)));
                continue;
            }
            match given.next().or(default.as_ref()) {
                Some(value) => frame.put(name, value.clone()),
                None => return error(format!("`{}` needs the argument {name}", shortened(&words[0]))),
            }
        }
        if given.next().is_some() {
            return error(format!("too many arguments for `{}`", shortened(&words[0])));
        }
        let kept = frame.bytes();
        self.stored += kept;
        self.frames.push(frame);
        let place = self.place;
        let result = self.eval(&known.body);
        self.place = place;
        if let Some(frame) = self.frames.pop() {
            self.stored = self.stored.saturating_sub(frame.bytes());
        }
        match result {
            Err(Stop::Return(value)) => Ok(value),
            Err(Stop::Break | Stop::Continue) => error("`break` or `continue` outside a loop"),
            other => other,
        }
    }
}

/// The same, with its place if it has none yet.
fn located(stop: Stop, place: Place) -> Stop {
    match stop {
        Stop::Error(mut trouble) if trouble.place.line == 0 => {
            trouble.place = place;
            Stop::Error(trouble)
        }
        other => other,
    }
}

/// A text, not longer than a message may be.
pub(crate) fn shortened(text: &str) -> String {
    let mut made: String = text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if made.len() < text.len() {
        made.push('…');
    }
    made
}
