//! Tcl's own commands: control, variables, procedures, and what scripts do with files.

use std::rc::Rc;

use super::format::formatted;
use super::pattern::matches;
use super::{Eval, Host, Interp, Proc, Stop, Trouble, Value, error, list_of, shortened, split_list, trouble};

/// What is said of numbers that a script draws.
pub(super) const DRAWN: &str = "random numbers are drawn once: all replications have the same";

/// Most files that a script opens.
const MOST_OPENED: u32 = 1000;

impl<H: Host> Interp<H> {
    /// Obeys one of Tcl's own commands; `None` for others.
    pub(super) fn own_command(&mut self, name: &str, words: &[Value]) -> Eval<Option<Value>> {
        if let Some(value) = self.control_command(name, words)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.variable_command(name, words)? {
            return Ok(Some(value));
        }
        match self.list_command(name, words)? {
            Some(value) => Ok(Some(value)),
            None => self.outside(name, words),
        }
    }

    /// The commands that evaluate others.
    fn control_command(&mut self, name: &str, words: &[Value]) -> Eval<Option<Value>> {
        match (name, words) {
            ("expr", [_, one]) => self.expr(one).map(Some),
            ("expr", [_, parts @ ..]) => self.expr(&joined(parts)).map(Some),
            ("if", _) => self.choose(&words[1..]).map(Some),
            ("while", [_, test, body]) => self.repeat(test, None, body).map(Some),
            ("for", [_, start, test, next, body]) => {
                self.eval(start)?;
                self.repeat(test, Some(next), body).map(Some)
            }
            ("foreach", [_, pairs @ .., body]) if pairs.len() % 2 == 0 && !pairs.is_empty() => {
                self.for_each(pairs, body).map(Some)
            }
            ("switch", _) => self.switch(&words[1..]).map(Some),
            ("break", [_]) => Err(Stop::Break),
            ("continue", [_]) => Err(Stop::Continue),
            ("return", [_, rest @ ..]) => {
                // Options of return say how, which no script of a network needs.
                let value = if rest.len() % 2 == 1 { rest.last().cloned() } else { None };
                Err(Stop::Return(value.unwrap_or_default()))
            }
            ("exit", _) => Err(Stop::Exit),
            ("proc", [_, name, parameters, body]) => self.define(name, parameters, body).map(Some),
            ("eval", [_, one]) => self.eval(one).map(Some),
            ("eval", [_, parts @ ..]) => self.eval(&joined(parts)).map(Some),
            ("uplevel", [_, parts @ ..]) if !parts.is_empty() => {
                let given = if parts.len() > 1 { self.level(&parts[0]) } else { None };
                let (level, parts) = match given {
                    Some(level) => (level, &parts[1..]),
                    None => (self.level("1").unwrap_or(0), parts),
                };
                let script = if parts.len() == 1 { parts[0].clone() } else { joined(parts) };
                self.eval_in(level, &script).map(Some)
            }
            ("catch", [_, script, rest @ ..]) => self.catch(script, rest.first()).map(Some),
            ("error", [_, message, ..]) => error(message.to_string()),
            _ => Ok(None),
        }
    }

    /// The commands on variables and texts.
    fn variable_command(&mut self, name: &str, words: &[Value]) -> Eval<Option<Value>> {
        match (name, words) {
            ("set", [_, name]) => self.get(name).map(Some),
            ("set", [_, name, value]) => {
                self.put(name, value.clone())?;
                Ok(Some(value.clone()))
            }
            ("incr", [_, name, rest @ ..]) => self.increment(name, rest.first()).map(Some),
            ("global", [_, names @ ..]) => {
                let last = |name: &str| name.rsplit("::").next().map(str::to_owned).unwrap_or_default();
                names.iter().try_for_each(|name| self.link(0, name, &last(name)))?;
                Ok(Some(Value::default()))
            }
            ("variable", [_, name, rest @ ..]) => {
                if let Some(value) = rest.first() {
                    self.put(&format!("::{}", &**name), value.clone())?;
                }
                self.link(0, name, name)?;
                Ok(Some(Value::default()))
            }
            ("upvar", [_, rest @ ..]) if rest.len() >= 2 => {
                let given = if rest.len() % 2 == 1 { self.level(&rest[0]) } else { self.level("1") };
                let Some(level) = given else { return error("upvar names no level that there is") };
                let pairs = &rest[rest.len() % 2..];
                pairs.chunks_exact(2).try_for_each(|pair| self.link(level, &pair[0], &pair[1]))?;
                Ok(Some(Value::default()))
            }
            ("unset", [_, names @ ..]) => {
                names.iter().filter(|name| !name.starts_with('-')).for_each(|name| self.unset(name));
                Ok(Some(Value::default()))
            }
            ("append", [_, name, parts @ ..]) => self.append(name, parts).map(Some),
            ("array", [_, rest @ ..]) => self.array(rest),
            ("info", [_, rest @ ..]) => self.info(rest),
            ("string", [_, rest @ ..]) => self.string_command(rest),
            ("format", [_, form, arguments @ ..]) => {
                self.charge(form.len())?;
                let made = formatted(form, arguments)?;
                self.room(made.len())?;
                Ok(Some(Value::new(made)))
            }
            _ => Ok(None),
        }
    }

    fn increment(&mut self, name: &Value, by: Option<&Value>) -> Eval<Value> {
        let number = |text: &str| text.trim().parse::<i64>().ok();
        let old = if self.is_set(name) { number(&self.get(name)?) } else { Some(0) };
        let new = old.zip(by.map_or(Some(1), |by| number(by))).and_then(|(old, by)| old.checked_add(by));
        let Some(new) = new else { return error(format!("{} is not a whole number", shortened(name))) };
        let value = Value::new(new.to_string());
        self.put(name, value.clone())?;
        Ok(value)
    }

    fn choose(&mut self, mut words: &[Value]) -> Eval<Value> {
        loop {
            let [test, rest @ ..] = words else { return error("an `if` without its condition") };
            let rest = match rest {
                [then, rest @ ..] if &**then == "then" => rest,
                _ => rest,
            };
            let [body, rest @ ..] = rest else { return error("an `if` without its body") };
            if self.is_true(test)? {
                return self.eval(body);
            }
            match rest {
                [] => return Ok(Value::default()),
                [word, rest @ ..] if &**word == "elseif" => words = rest,
                [word, body] if &**word == "else" => return self.eval(body),
                [body] => return self.eval(body),
                _ => return error("an `if` with words behind its last body"),
            }
        }
    }

    fn repeat(&mut self, test: &Value, next: Option<&Value>, body: &Value) -> Eval<Value> {
        while self.is_true(test)? {
            self.charge(0)?;
            match self.eval(body) {
                Ok(_) | Err(Stop::Continue) => {}
                Err(Stop::Break) => break,
                Err(stop) => return Err(stop),
            }
            if let Some(next) = next {
                self.eval(next)?;
            }
        }
        Ok(Value::default())
    }

    fn for_each(&mut self, pairs: &[Value], body: &Value) -> Eval<Value> {
        let mut loops = Vec::new();
        for pair in pairs.chunks_exact(2) {
            let (names, items) = (split_list(&pair[0])?, split_list(&pair[1])?);
            if names.is_empty() {
                return error("a `foreach` without a variable");
            }
            loops.push((names, items));
        }
        let rounds = loops.iter().map(|(names, items)| items.len().div_ceil(names.len())).max().unwrap_or(0);
        for round in 0..rounds {
            for (names, items) in &loops {
                for (offset, name) in names.iter().enumerate() {
                    let item = items.get(round * names.len() + offset).cloned().unwrap_or_default();
                    self.put(name, item)?;
                }
            }
            match self.eval(body) {
                Ok(_) | Err(Stop::Continue) => {}
                Err(Stop::Break) => break,
                Err(stop) => return Err(stop),
            }
        }
        Ok(Value::default())
    }

    fn switch(&mut self, words: &[Value]) -> Eval<Value> {
        let (mut rest, mut glob) = (words, false);
        while let [option, tail @ ..] = rest
            && option.starts_with('-')
            && rest.len() > 2
        {
            match &**option {
                "-glob" => glob = true,
                "-exact" | "--" => {}
                _ => return error(format!("switch {} is not known", shortened(option))),
            }
            rest = tail;
            if &**option == "--" {
                break;
            }
        }
        let [text, cases @ ..] = rest else { return error("a `switch` without a value") };
        let cases = match cases {
            [list] => split_list(list)?,
            many => many.to_vec(),
        };
        for (number, pair) in cases.chunks_exact(2).enumerate() {
            let last = number + 1 == cases.len() / 2;
            let fits = if glob { matches(&pair[0], text) } else { pair[0].text == text.text };
            if fits || (last && &*pair[0] == "default") {
                // A body `-` is that of the next pattern.
                let body =
                    cases.chunks_exact(2).skip(number).map(|pair| &pair[1]).find(|body| &***body != "-");
                return body.map_or(Ok(Value::default()), |body| self.eval(body));
            }
        }
        Ok(Value::default())
    }

    fn define(&mut self, name: &Value, parameters: &Value, body: &Value) -> Eval<Value> {
        let mut known = Vec::new();
        for parameter in split_list(parameters)? {
            let parts = split_list(&parameter)?;
            match parts.as_slice() {
                [name] => known.push((Rc::clone(&name.text), None)),
                [name, default] => known.push((Rc::clone(&name.text), Some(default.clone()))),
                _ => return error("a parameter is a name, or a name and its default"),
            }
        }
        self.room(body.len())?;
        let name = name.strip_prefix("::").unwrap_or(name);
        self.stored_more(body.len())?;
        self.procs.insert(name.into(), Rc::new(Proc { parameters: known, body: body.clone() }));
        Ok(Value::default())
    }

    /// What procedures take counts as what variables take.
    fn stored_more(&mut self, bytes: usize) -> Eval<()> {
        self.stored += bytes;
        if self.stored > super::MOST_STORED {
            return self.bound(
                "the procedures grow too large",
                "more than 128 MiB",
                "less",
                "is there an endless loop?",
            );
        }
        Ok(())
    }

    fn catch(&mut self, script: &Value, name: Option<&Value>) -> Eval<Value> {
        let place = self.place;
        let (code, value) = match self.eval(script) {
            Ok(value) => (0, value),
            // What is missing is asked for, and not an error of the script.
            Err(Stop::Error(trouble)) if trouble.missing.is_none() => (1, Value::new(trouble.what)),
            Err(Stop::Return(value)) => (2, value),
            Err(Stop::Break) => (3, Value::default()),
            Err(Stop::Continue) => (4, Value::default()),
            Err(stop) => return Err(stop),
        };
        self.place = place;
        if let Some(name) = name {
            self.put(name, value)?;
        }
        Ok(Value::new(code.to_string()))
    }

    fn append(&mut self, name: &Value, parts: &[Value]) -> Eval<Value> {
        let mut text = if self.is_set(name) { self.get(name)?.to_string() } else { String::new() };
        self.room(text.len() + parts.iter().map(|part| part.len()).sum::<usize>())?;
        parts.iter().for_each(|part| text.push_str(part));
        let value = Value::new(text);
        self.put(name, value.clone())?;
        Ok(value)
    }

    fn array(&mut self, words: &[Value]) -> Eval<Option<Value>> {
        let elements = |tcl: &Interp<H>, name: &Value| tcl.elements(name).unwrap_or_default();
        let made = match words {
            [form, name] if &**form == "exists" => u8::from(self.elements(name).is_some()).to_string(),
            [form, name] if &**form == "size" => elements(self, name).len().to_string(),
            [form, name, rest @ ..] if &**form == "names" || &**form == "get" => {
                let mut items = Vec::new();
                for (index, value) in elements(self, name) {
                    if rest.first().is_none_or(|pattern| matches(pattern, &index)) {
                        items.push(Value::new(index));
                        if &**form == "get" {
                            items.push(value);
                        }
                    }
                }
                list_of(&items)
            }
            [form, name, list] if &**form == "set" => {
                for pair in split_list(list)?.chunks_exact(2) {
                    self.put(&format!("{}({})", &**name, &*pair[0]), pair[1].clone())?;
                }
                String::new()
            }
            [form, name, ..] if &**form == "unset" => {
                self.unset(name);
                String::new()
            }
            _ => return Ok(None),
        };
        self.room(made.len())?;
        Ok(Some(Value::new(made)))
    }

    fn info(&mut self, words: &[Value]) -> Eval<Option<Value>> {
        let made = match words {
            [form, name] if &**form == "exists" => u8::from(self.is_set(name)).to_string(),
            [form, ..] if &**form == "level" => (self.frame_count() - 1).to_string(),
            [form, name] if matches!(&**form, "commands" | "procs") => {
                if self.procs.contains_key(&*name.text) { name.to_string() } else { String::new() }
            }
            [form] if &**form == "script" => "script.tcl".to_owned(),
            _ => return Ok(None),
        };
        Ok(Some(Value::new(made)))
    }

    /// What concerns the world outside the script.
    fn outside(&mut self, name: &str, words: &[Value]) -> Eval<Option<Value>> {
        let done = || Ok(Some(Value::default()));
        let place = self.place;
        match name {
            // What is printed, and where to, is of no concern.
            "puts" | "flush" | "close" | "fconfigure" | "package" | "update" | "after" => done(),
            "open" => self.open(words).map(Some),
            "source" => self.source(words).map(Some),
            "exec" | "system" if !self.is_bracketed() => {
                self.host.note(place, "programs are not run");
                done()
            }
            "exec" | "system" => trouble(
                "the script uses what a program prints",
                shortened(&joined(words)),
                "a script that needs no other program",
                "no program is run: write its result into the script",
            ),
            // Scripts make names of files with them; a number or a truth it is not, so that results cannot
            // depend on it unseen.
            "regexp" | "regsub" => {
                self.host.note(place, "the result of a regular expression is not known here");
                Ok(Some(Value::new("<unknown>")))
            }
            "clock" => {
                self.host.note(place, "the clock is always at 0");
                Ok(Some(Value::new("0")))
            }
            "file" if words.get(1).is_some_and(|form| matches!(&**form, "exists" | "isfile")) => {
                Ok(Some(Value::new("0")))
            }
            "gets" | "read" | "eof" | "file" | "glob" | "cd" | "pwd" | "socket" | "load" => trouble(
                "the script looks at files",
                shortened(&joined(words)),
                "a script that holds all that it needs",
                "only files that it sources are read: write the values into the script",
            ),
            _ => Ok(None),
        }
    }

    /// A file that is opened to be written; nothing is.
    fn open(&mut self, words: &[Value]) -> Eval<Value> {
        let mode = words.get(2).map_or("r", |mode| mode);
        if !(mode.contains(['w', 'a', '+']) || mode.contains("WRONLY")) {
            return trouble(
                "the script reads a file",
                shortened(&joined(words)),
                "a file that it sources, or none",
                "write the values into the script",
            );
        }
        self.files_opened += 1;
        if self.files_opened > MOST_OPENED {
            return self.bound(
                "too many files are opened",
                "more than 1000",
                "fewer",
                "is there an endless loop?",
            );
        }
        Ok(Value::new(format!("file{}", self.files_opened + 2)))
    }

    fn source(&mut self, words: &[Value]) -> Eval<Value> {
        let Some(name) = words.last().filter(|_| words.len() > 1) else {
            return error("source needs a file");
        };
        match self.host.source(name) {
            Some((text, file)) => {
                let script = Value::at(text, super::Place { file, line: 1 });
                let place = self.place;
                let result = self.eval(&script);
                self.place = place;
                result
            }
            None => Err(Stop::Error(Box::new(Trouble {
                place: self.place,
                what: "the script sources a file that was not given".to_owned(),
                found: shortened(name),
                wanted: "a file beside the script".to_owned(),
                hint: "put it into the script's folder".to_owned(),
                missing: Some(name.to_string()),
            }))),
        }
    }
}

/// Words as one text.
fn joined(words: &[Value]) -> Value {
    let texts: Vec<&str> = words.iter().map(|word| &**word).collect();
    Value {
        text: texts.join(" ").into(),
        place: words.first().map_or_else(Default::default, |word| word.place),
    }
}
