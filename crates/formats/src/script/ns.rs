//! The commands of ns as stubs: objects, their variables, and the events of a run.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Call, Script, Text, fault_of, movement};
use crate::error::{Parsed, ReadError};
use crate::limits::Limits;
use crate::tcl::{Eval, Host, Interp, Place, Stop, Trouble, Value, error, shortened, trouble};

/// Most calls that are written down, and most objects.
const MOST_CALLS: usize = 3_000_000;
const MOST_OBJECTS: usize = 400_000;
/// Most different notes.
const MOST_NOTES: usize = 200;

/// The number of the simulator among the objects, and of god.
const SIMULATOR: u32 = 0;
const GOD: u32 = 1;
/// The number of the generator that `$defaultRNG` names.
const DEFAULT_RNG: u32 = 2;

/// An object.
struct Object {
    class: Text,
}

/// The host of a script.
pub(super) struct Ns<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
    sourced: Vec<String>,
    pub(super) is_fragment: bool,
    pub(super) limits: Limits,
    objects: Vec<Object>,
    /// Variables of objects and, as those of no object, of classes.
    attributes: BTreeMap<(Option<u32>, Text, Text), Text>,
    calls: Vec<Call>,
    nodes: Vec<u32>,
    /// Nodes of a file of movement, by the numbers that it gives them.
    named_nodes: BTreeMap<u32, u32>,
    now_s: Option<f64>,
    /// What is due, in order of time; those of the same time in order of their numbers.
    events: BTreeMap<(u64, u32), Value>,
    scheduled: u32,
    ended_s: Option<f64>,
    ran: bool,
    notes: BTreeMap<(String, u16, u32), ()>,
}

impl<'a> Ns<'a> {
    pub(super) fn new(files: &'a BTreeMap<String, Vec<u8>>, is_fragment: bool, limits: Limits) -> Ns<'a> {
        let object = |class: &str| Object { class: class.into() };
        Ns {
            files,
            sourced: Vec::new(),
            is_fragment,
            limits,
            // A script that makes its own has these and the ones it makes as one.
            objects: vec![object("Simulator"), object("God"), object("RNG")],
            attributes: BTreeMap::new(),
            calls: Vec::new(),
            nodes: Vec::new(),
            named_nodes: BTreeMap::new(),
            now_s: None,
            events: BTreeMap::new(),
            scheduled: 0,
            ended_s: None,
            ran: false,
            notes: BTreeMap::new(),
        }
    }

    /// What the script asks for.
    pub(super) fn finish(self) -> Parsed<Script> {
        let numbers = match self.is_fragment {
            true => self.named_nodes.iter().map(|(&number, &object)| (object, number)).collect(),
            false => self.nodes.iter().copied().zip(0..).collect(),
        };
        if self.is_fragment {
            movement::check(&self.calls, &self.limits)?;
        }
        let movement = movement::of_calls(&self.calls, &numbers, &self.limits)?;
        let notes = self.notes.into_keys().map(|(about, file, line)| (file, line, about)).collect();
        Ok(Script {
            calls: self.calls,
            nodes: self.nodes,
            movement,
            ended_s: self.ended_s,
            ran: self.ran,
            notes,
            files: self.sourced,
        })
    }

    /// What is said of a trouble in a file.
    pub(super) fn error_of(&self, trouble: Trouble, name: &str) -> ReadError {
        let place = trouble.place;
        let file = match place.file {
            0 => name,
            file => self.sourced.get(usize::from(file) - 1).map_or(name, String::as_str),
        };
        let line = (place.line > 0).then_some(u64::from(place.line));
        let mut fault = fault_of(trouble.clone());
        if !trouble.found.is_empty() {
            (fault.what, fault.found) = (trouble.what, crate::error::quoted(&trouble.found));
        }
        fault.in_file(file, line)
    }

    fn class(&self, object: u32) -> Text {
        self.objects.get(object as usize).map_or_else(|| "".into(), |object| Rc::clone(&object.class))
    }

    /// A new object.
    fn make(&mut self, class: &str) -> Eval<u32> {
        if self.objects.len() == MOST_OBJECTS {
            return error("the script makes too many objects");
        }
        self.objects.push(Object { class: class.into() });
        Ok(self.objects.len() as u32 - 1)
    }

    /// Writes down what is said.
    fn call(
        &mut self,
        place: Place,
        object: Option<u32>,
        class: &str,
        words: &[Value],
        made: Option<u32>,
    ) -> Eval<()> {
        if self.calls.len() == MOST_CALLS {
            return error("the script asks for too much");
        }
        let words = words.iter().map(|word| Box::from(&**word)).collect();
        let (file, line, at_s) = (place.file, place.line, self.now_s);
        self.calls.push(Call { file, line, at_s, object, class: class.into(), words, made });
        Ok(())
    }

    /// The value of a variable of an object: its own, its class's, or 0, as only a run would know it.
    fn attribute(&mut self, object: Option<u32>, class: &Text, name: &Value, place: Place) -> Value {
        let key = |object| (object, Rc::clone(class), Rc::clone(&name.text));
        if let Some(value) = self.attributes.get(&key(object)).or_else(|| self.attributes.get(&key(None))) {
            return Value::new(Rc::clone(value));
        }
        if &**class == "Node" && matches!(&**name, "X_" | "Y_" | "Z_") {
            return Value::new("0.0");
        }
        self.note(
            place,
            &format!("{} of {} is 0 here: only a run knows it", shortened(name), shortened(class)),
        );
        Value::new("0")
    }
}

/// The name of an object as a value.
fn handle(object: u32) -> Value {
    Value::new(format!("_o{object}"))
}

/// The object that a word names.
pub(super) fn object_of(word: &str) -> Option<u32> {
    word.strip_prefix("_o").filter(|digits| digits.len() < 8)?.parse().ok()
}

/// Sets what a script finds when it begins.
pub(super) fn begin(tcl: &mut Interp<Ns<'_>>, arguments: &[String]) -> Eval<()> {
    let given: Vec<Value> = arguments.iter().map(|argument| Value::new(argument.as_str())).collect();
    tcl.put("argv", Value::new(crate::tcl::list_of(&given)))?;
    tcl.put("argc", Value::new(given.len().to_string()))?;
    tcl.put("defaultRNG", handle(DEFAULT_RNG))?;
    tcl.put("argv0", Value::new("ns"))
}

/// Obeys what is due, in order of time.
pub(super) fn run(tcl: &mut Interp<Ns<'_>>) -> Eval<()> {
    tcl.host.ran = true;
    while let Some(((at, _), script)) = tcl.host.events.pop_first() {
        let now_s = f64::from_bits(at);
        tcl.host.now_s = Some(now_s);
        match tcl.eval(&script) {
            Err(Stop::Exit) => {
                tcl.host.ended_s = Some(now_s);
                return Err(Stop::Exit);
            }
            Err(stop @ (Stop::Error(_) | Stop::Bound(_))) => return Err(stop),
            _ => {}
        }
    }
    Ok(())
}

impl Host for Ns<'_> {
    fn command(tcl: &mut Interp<Self>, words: &[Value]) -> Eval<Option<Value>> {
        let name = words[0].clone();
        if let Some(object) = object_of(&name).filter(|&object| (object as usize) < tcl.host.objects.len()) {
            return method(tcl, object, words).map(Some);
        }
        let done = || Ok(Some(Value::default()));
        match (&*name, words) {
            ("new", [_, class, ..]) => made(tcl, class, words).map(Some),
            ("create-god", _) | ("God", [_, ..]) => Ok(Some(handle(GOD))),
            ("Simulator", [_, word, ..]) if &**word == "instance" => Ok(Some(handle(SIMULATOR))),
            ("ns-random", [_]) => Ok(Some(Value::new(drawn(tcl, 0.0, 2_147_483_647.0).floor().to_string()))),
            ("ns-random" | "ns_random" | "defaultRNG", _) => done(),
            ("ns-version", _) => Ok(Some(Value::new("2.35"))),
            (
                "remove-all-packet-headers"
                | "add-all-packet-headers"
                | "add-packet-header"
                | "remove-packet-header"
                | "add-packet-headers",
                _,
            ) => done(),
            ("Class", _) => trouble(
                "the script has a class of its own",
                shortened(&name),
                "agents, applications and protocols of ns-2",
                "write a protocol in Python:  manetlab docs add-a-routing-protocol",
            ),
            _ if is_class(&name) => class_method(tcl, &name, words).map(Some),
            _ => Ok(None),
        }
    }

    fn variable(tcl: &mut Interp<Self>, name: &str, index: Option<&str>) -> Option<Value> {
        if !tcl.host.is_fragment {
            return None;
        }
        match (name, index) {
            ("ns_" | "ns", None) => Some(handle(SIMULATOR)),
            ("god_" | "god", None) => Some(handle(GOD)),
            ("node_" | "node" | "n" | "n_", Some(index)) => {
                let number: u32 = index.parse().ok().filter(|&n| n < tcl.host.limits.max_nodes)?;
                if let Some(&object) = tcl.host.named_nodes.get(&number) {
                    return Some(handle(object));
                }
                let object = tcl.host.make("Node").ok()?;
                tcl.host.named_nodes.insert(number, object);
                tcl.host.nodes.push(object);
                Some(handle(object))
            }
            _ => None,
        }
    }

    fn source(&mut self, name: &str) -> Option<(Rc<str>, u16)> {
        let bytes = self.files.get(name)?;
        if self.sourced.len() >= usize::from(u16::MAX) {
            return None;
        }
        self.sourced.push(name.to_owned());
        Some((String::from_utf8_lossy(bytes).into(), self.sourced.len() as u16))
    }

    fn note(&mut self, place: Place, about: &str) {
        if self.notes.len() < MOST_NOTES {
            self.notes.insert((about.to_owned(), place.file, place.line), ());
        }
    }
}

/// Whether a word can be the name of a class: `Agent/TCP`, `Mac/802_11`.
fn is_class(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'/' | b'-');
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(plain)
}

/// `new CLASS`.
fn made(tcl: &mut Interp<Ns<'_>>, class: &Value, words: &[Value]) -> Eval<Value> {
    let object = match &**class {
        "Simulator" => SIMULATOR,
        class => tcl.host.make(class)?,
    };
    let place = tcl.place();
    tcl.host.call(place, None, class, words, Some(object))?;
    Ok(handle(object))
}

/// What is said to a class: values that its objects begin with.
fn class_method(tcl: &mut Interp<Ns<'_>>, class: &Value, words: &[Value]) -> Eval<Value> {
    let place = tcl.place();
    match words {
        [_, word, name] if &**word == "set" => Ok(tcl.host.attribute(None, &class.text, name, place)),
        [_, word, name, value] if &**word == "set" => {
            tcl.host
                .attributes
                .insert((None, Rc::clone(&class.text), Rc::clone(&name.text)), Rc::clone(&value.text));
            tcl.host.call(place, None, class, &words[1..], None)?;
            Ok(value.clone())
        }
        [_, word, ..] if matches!(&**word, "instproc" | "proc") => trouble(
            "the script changes a class of ns-2",
            shortened(&format!("{} {} {}", &**class, &**word, words.get(2).map_or("", |name| name))),
            "agents, applications and protocols as ns-2 has them",
            "write a protocol in Python:  manetlab docs add-a-routing-protocol",
        ),
        _ => {
            tcl.host.call(place, None, class, &words[1..], None)?;
            Ok(Value::default())
        }
    }
}

/// A number drawn between two others.
fn drawn(tcl: &mut Interp<Ns<'_>>, low: f64, high: f64) -> f64 {
    let place = tcl.place();
    tcl.host.note(place, "random numbers are drawn once: all replications have the same");
    low + (high - low) * tcl.next_random()
}

/// What is said to an object.
fn method(tcl: &mut Interp<Ns<'_>>, object: u32, words: &[Value]) -> Eval<Value> {
    let class = tcl.host.class(object);
    let place = tcl.place();
    let Some(verb) = words.get(1) else { return error("an object alone is no command") };
    match (&*class, &**verb, &words[2..]) {
        (_, "set", [name]) if &**name == "ragent_" => part(tcl, object, "RoutingAgent", words),
        (_, "set", [name]) => Ok(tcl.host.attribute(Some(object), &class, name, place)),
        (_, "set", [name, value]) => {
            let key = (Some(object), Rc::clone(&class), Rc::clone(&name.text));
            tcl.host.attributes.insert(key, Rc::clone(&value.text));
            tcl.host.call(place, Some(object), &class, &words[1..], None)?;
            Ok(value.clone())
        }
        ("Simulator", "at", [at, script]) => schedule(tcl, at, script),
        ("Simulator", "at", [at, script @ ..]) if !script.is_empty() => {
            let texts: Vec<&str> = script.iter().map(|word| &**word).collect();
            schedule(tcl, at, &Value::at(texts.join(" "), script[0].place))
        }
        ("Simulator", "now", []) => Ok(Value::new(format!("{:?}", tcl.host.now_s.unwrap_or(0.0)))),
        ("Simulator", "run", []) => {
            tcl.host.call(place, Some(object), &class, &words[1..], None)?;
            run(tcl)?;
            Ok(Value::default())
        }
        ("Simulator", "halt", []) => {
            tcl.host.ended_s = tcl.host.now_s;
            Err(Stop::Exit)
        }
        ("Simulator", "node", _) => {
            let made = tcl.host.make("Node")?;
            tcl.host.nodes.push(made);
            tcl.host.call(place, Some(object), &class, &words[1..], Some(made))?;
            Ok(handle(made))
        }
        ("Simulator", "create-connection", [agent, ..]) => {
            part(tcl, object, &format!("Agent/{}", &**agent), words)
        }
        (_, "attach-app" | "attach-source", [kind, ..]) => {
            part(tcl, object, &format!("Application/{}", &**kind), words)
        }
        ("Node", "id" | "node-addr", []) => {
            let number = tcl.host.nodes.iter().position(|&node| node == object);
            Ok(Value::new(number.unwrap_or(0).to_string()))
        }
        ("RNG", "uniform", [low, high]) => {
            let (low, high) = (real(low)?, real(high)?);
            Ok(Value::new(format!("{:?}", drawn(tcl, low, high))))
        }
        ("RNG", "integer", [below]) => {
            let below = real(below)?;
            Ok(Value::new(format!("{}", drawn(tcl, 0.0, below).floor())))
        }
        ("RNG", "exponential" | "normal" | "lognormal" | "poisson", _) => trouble(
            "a distribution of random numbers",
            shortened(verb),
            "uniform or integer",
            "write the values into the script",
        ),
        (_, "value", []) if class.starts_with("RandomVariable/") => random_value(tcl, object, &class),
        // Objects that a script only passes on: queues, links, monitors.
        _ if tcl.is_bracketed() => part(tcl, object, "Part", words),
        _ => {
            tcl.host.call(place, Some(object), &class, &words[1..], None)?;
            Ok(Value::default())
        }
    }
}

/// An object that another one makes or has.
fn part(tcl: &mut Interp<Ns<'_>>, object: u32, class: &str, words: &[Value]) -> Eval<Value> {
    let (place, own) = (tcl.place(), tcl.host.class(object));
    let made = tcl.host.make(class)?;
    tcl.host.call(place, Some(object), &own, &words[1..], Some(made))?;
    Ok(handle(made))
}

fn real(text: &Value) -> Eval<f64> {
    match crate::number::decimal(text.trim()) {
        Some(value) => Ok(value),
        None => error(format!("`{}` is not a number", shortened(text))),
    }
}

/// The number with which a text begins: `$val(stop).0001` is 20.0.0001 where the variable is 20.0, and 20.0
/// to ns-2.
fn leading_number(text: &str) -> Option<f64> {
    let second_point = text.match_indices('.').nth(1).map(|(at, _)| at);
    crate::number::decimal(&text[..second_point.unwrap_or(text.len())])
}

/// `$ns at TIME SCRIPT`.
fn schedule(tcl: &mut Interp<Ns<'_>>, at: &Value, script: &Value) -> Eval<Value> {
    let Some(at_s) = leading_number(at.trim()).filter(|at_s| (0.0..=1e9).contains(at_s)) else {
        return trouble(
            "time",
            shortened(at),
            "a number of seconds from 0 to 1000000000",
            "times are seconds, written as 12.5",
        );
    };
    tcl.charge(script.len())?;
    // What is due in the past is due now.
    let at_s = at_s.max(tcl.host.now_s.unwrap_or(0.0));
    tcl.host.scheduled += 1;
    let number = tcl.host.scheduled;
    // Not negative, so that bits are in order; -0 is 0.
    let script =
        if script.place.line > 0 { script.clone() } else { Value { place: tcl.place(), ..script.clone() } };
    tcl.host.events.insert(((at_s + 0.0).to_bits(), number), script);
    Ok(Value::new(number.to_string()))
}

/// `$variable value`.
fn random_value(tcl: &mut Interp<Ns<'_>>, object: u32, class: &Text) -> Eval<Value> {
    let place = tcl.place();
    let of = |name: &str, default: f64| {
        let key = |object| (object, Rc::clone(class), Text::from(name));
        let attributes = &tcl.host.attributes;
        let text = attributes.get(&key(Some(object))).or_else(|| attributes.get(&key(None)));
        text.and_then(|text| crate::number::decimal(text)).unwrap_or(default)
    };
    let (min, max, avg, value) = (of("min_", 0.0), of("max_", 1.0), of("avg_", 1.0), of("val_", 0.0));
    let unit = drawn(tcl, 0.0, 1.0);
    tcl.host.call(place, Some(object), class, &[Value::new("value")], None)?;
    let value = match &**class {
        "RandomVariable/Uniform" => min + (max - min) * unit,
        "RandomVariable/Exponential" => -avg * libm::log(1.0 - unit),
        "RandomVariable/Constant" => value,
        _ => {
            return trouble(
                "a distribution of random numbers",
                shortened(class),
                "Uniform, Exponential or Constant",
                "write the values into the script",
            );
        }
    };
    Ok(Value::new(format!("{value:?}")))
}
