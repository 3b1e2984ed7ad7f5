//! From a script to commands and words, with substitution on the way.

use super::{Eval, Host, Interp, Place, Value, error, shortened};

/// A script that is being read.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    place: Place,
    /// Where lines were counted to.
    counted: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(value: &'a Value) -> Source<'a> {
        Source { text: value, at: 0, place: value.place, counted: 0 }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + offset).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character.
    fn take(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Where the reading has come to.
    pub(super) fn here(&mut self) -> Place {
        if self.place.line > 0 {
            let passed = &self.text.as_bytes()[self.counted.min(self.at)..self.at];
            self.place.line += passed.iter().filter(|&&b| b == b'\n').count() as u32;
        }
        self.counted = self.at;
        self.place
    }

    /// Goes over blanks and escaped ends of lines; over ends of commands too, if `ends`.
    fn skip_blanks(&mut self, ends: bool) {
        loop {
            match (self.peek(), self.peek_at(1), self.peek_at(2)) {
                (Some(b' ' | b'\t' | b'\r'), ..) => self.at += 1,
                (Some(b'\n' | b';'), ..) if ends => self.at += 1,
                (Some(b'\\'), Some(b'\n'), _) => self.at += 2,
                (Some(b'\\'), Some(b'\r'), Some(b'\n')) => self.at += 3,
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        while let Some(c) = self.take() {
            match c {
                '\n' => return,
                '\\' => drop(self.take()),
                _ => {}
            }
        }
    }

    /// Whether a command ends here.
    fn at_end(&self, nested: bool) -> bool {
        match self.peek() {
            None | Some(b'\n' | b';') => true,
            Some(b']') => nested,
            _ => false,
        }
    }

    /// The text within braces, of which the first stands here.
    pub(super) fn braced(&mut self) -> Eval<&'a str> {
        let from = self.at + 1;
        let mut open = 0;
        while let Some(c) = self.take() {
            match c {
                '\\' => drop(self.take()),
                '{' => open += 1,
                '}' => {
                    open -= 1;
                    if open == 0 {
                        return Ok(&self.text[from..self.at - 1]);
                    }
                }
                _ => {}
            }
        }
        error("a brace { is not closed")
    }

    /// Goes over the command in brackets that begins here, without obeying it.
    pub(super) fn skip_brackets(&mut self) -> Eval<()> {
        let mut open = 0;
        while let Some(c) = self.take() {
            match c {
                '\\' => drop(self.take()),
                '[' => open += 1,
                ']' => {
                    open -= 1;
                    if open == 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        error("a bracket [ is not closed")
    }

    /// The name of a variable behind `$`, without an index; empty if there is none.
    pub(super) fn name(&mut self) -> &'a str {
        let named = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b':';
        let length = self.rest().bytes().take_while(named).count();
        let name = &self.rest()[..length];
        self.at += length;
        name
    }
}

impl<H: Host> Interp<H> {
    /// Obeys the commands of a script; the value of the last one.
    pub(super) fn script(&mut self, script: &Value) -> Eval<Value> {
        let mut source = Source::new(script);
        self.commands(&mut source, false)
    }

    fn commands(&mut self, source: &mut Source<'_>, nested: bool) -> Eval<Value> {
        let mut result = Value::default();
        loop {
            source.skip_blanks(true);
            match source.peek() {
                None if nested => return error("a bracket [ is not closed"),
                None => return Ok(result),
                Some(b']') if nested => {
                    source.at += 1;
                    return Ok(result);
                }
                Some(b'#') => source.skip_comment(),
                Some(_) => {
                    let place = source.here();
                    if place.line > 0 {
                        self.place = place;
                    }
                    let place = self.place;
                    let words = self.words(source, nested).map_err(|stop| super::located(stop, place))?;
                    self.place = place;
                    if !words.is_empty() {
                        result = self.obey(&words)?;
                    }
                }
            }
        }
    }

    /// The words of a command.
    fn words(&mut self, source: &mut Source<'_>, nested: bool) -> Eval<Vec<Value>> {
        let mut words = Vec::new();
        loop {
            source.skip_blanks(false);
            if source.at_end(nested) {
                return Ok(words);
            }
            let place = source.here();
            if source.rest().starts_with("{*}") && !source.rest()[3..].starts_with([' ', '\n', '\t']) {
                source.at += 3;
                let list = self.word(source, nested)?;
                words.extend(super::split_list(&list)?);
            } else {
                let word = self.word(source, nested)?;
                words.push(Value { place: if word.place.line > 0 { word.place } else { place }, ..word });
            }
            self.charge(words.last().map_or(0, |word| word.len()))?;
        }
    }

    fn word(&mut self, source: &mut Source<'_>, nested: bool) -> Eval<Value> {
        match source.peek() {
            Some(b'{') => {
                let place = source.here();
                let text = source.braced()?;
                if !source.at_end(nested)
                    && !source.peek().is_some_and(|b| b.is_ascii_whitespace() || b == b'\\')
                {
                    return error(format!("text behind a closing brace: {}", shortened(source.rest())));
                }
                // An escaped end of line stays, so that lines are counted right; it is a blank where it is
                // read.
                Ok(Value::at(text, place))
            }
            Some(b'"') => {
                source.at += 1;
                let place = source.here();
                let value = self.substituted(source, |source| source.peek() == Some(b'"'))?;
                if source.peek() != Some(b'"') {
                    return error("a quote \" is not closed");
                }
                source.at += 1;
                Ok(Value::at(value.text, place))
            }
            _ => self.substituted(source, |source| {
                let joined = || source.rest().starts_with("\\\n") || source.rest().starts_with("\\\r\n");
                source.at_end(nested) || source.peek().is_some_and(|b| b.is_ascii_whitespace()) || joined()
            }),
        }
    }

    /// A text up to where `ends` says, with variables, commands and backslashes replaced.
    fn substituted(&mut self, source: &mut Source<'_>, ends: impl Fn(&Source<'_>) -> bool) -> Eval<Value> {
        let mut text = String::new();
        let mut parts = 0;
        let mut last = Value::default();
        while !ends(source) {
            let piece = match source.peek() {
                None => break,
                Some(b'$') => self.dollar(source)?,
                Some(b'[') => Some(self.bracket(source)?),
                Some(b'\\') => {
                    source.at += 1;
                    Some(Value::new(backslash(source)))
                }
                _ => None,
            };
            match piece {
                Some(value) => {
                    text.push_str(&value);
                    last = value;
                }
                None => text.extend(source.take()),
            }
            parts += 1;
            if text.len() > super::LONGEST_VALUE {
                self.room(text.len())?;
            }
        }
        // A word that is one variable keeps the place of its value: a body, a list of commands.
        Ok(if parts == 1 && *last == *text { last } else { Value::new(text) })
    }

    /// A command in brackets.
    pub(super) fn bracket(&mut self, source: &mut Source<'_>) -> Eval<Value> {
        source.at += 1;
        self.nested(|tcl| {
            tcl.brackets += 1;
            let place = tcl.place;
            let result = tcl.commands(source, true);
            tcl.place = place;
            tcl.brackets = tcl.brackets.saturating_sub(1);
            result
        })
    }

    /// The value of the variable that begins here; `None` where the `$` stands for itself.
    pub(super) fn dollar(&mut self, source: &mut Source<'_>) -> Eval<Option<Value>> {
        match source.peek_at(1) {
            Some(b'{') => {
                source.at += 1;
                let name = source.braced()?;
                return self.get(name).map(Some);
            }
            Some(b) if b.is_ascii_alphanumeric() || b == b'_' || b == b':' => {}
            _ => return Ok(None),
        }
        source.at += 1;
        let name = source.name();
        if source.peek() != Some(b'(') {
            return self.get(name).map(Some);
        }
        source.at += 1;
        let index = self.nested(|tcl| tcl.substituted(source, |source| source.peek() == Some(b')')))?;
        if source.peek() != Some(b')') {
            return error(format!("the index of {} is not closed", shortened(name)));
        }
        source.at += 1;
        self.get(&format!("{name}({})", &*index)).map(Some)
    }
}

/// What stands behind a backslash.
fn backslash(source: &mut Source<'_>) -> String {
    match source.take() {
        Some('n') => "\n".to_owned(),
        Some('t') => "\t".to_owned(),
        Some('\n') => {
            while matches!(source.peek(), Some(b' ' | b'\t')) {
                source.at += 1;
            }
            " ".to_owned()
        }
        Some(c) => c.to_string(),
        None => "\\".to_owned(),
    }
}
