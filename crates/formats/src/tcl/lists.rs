//! Lists: from texts to their elements and back, and the commands on them.

use std::borrow::Cow;
use std::rc::Rc;

use super::pattern::matches;
use super::{Eval, Host, Interp, Place, Value, error, shortened};

/// The elements of a list.
pub(crate) fn split_list(list: &Value) -> Eval<Vec<Value>> {
    let text: &str = list;
    let bytes = text.as_bytes();
    let mut place = list.place;
    let mut items = Vec::new();
    let mut at = 0;
    let mut counted = 0;
    loop {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if place.line > 0 {
            place.line += bytes[counted..at].iter().filter(|&&b| b == b'\n').count() as u32;
            counted = at;
        }
        let Some(&first) = bytes.get(at) else { return Ok(items) };
        let (item, end) = match first {
            b'{' => enclosed(text, at)?,
            b'"' => quoted(text, at)?,
            _ => bare(text, at),
        };
        items.push(Value::at(item, if first == b'{' { place } else { Place { line: place.line, ..place } }));
        at = end;
    }
}

fn enclosed(text: &str, at: usize) -> Eval<(Rc<str>, usize)> {
    let bytes = text.as_bytes();
    let (mut open, mut end) = (0, at);
    while let Some(&b) = bytes.get(end) {
        match b {
            b'\\' => end += 1,
            b'{' => open += 1,
            b'}' => {
                open -= 1;
                if open == 0 {
                    return Ok((text[at + 1..end].into(), end + 1));
                }
            }
            _ => {}
        }
        end += 1;
    }
    error("a brace { of a list is not closed")
}

fn quoted(text: &str, at: usize) -> Eval<(Rc<str>, usize)> {
    let (mut made, mut escaped) = (String::new(), false);
    for (offset, c) in text[at + 1..].char_indices() {
        match c {
            c if escaped => {
                made.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Ok((made.into(), at + offset + 2)),
            c => made.push(c),
        }
    }
    error("a quote \" of a list is not closed")
}

fn bare(text: &str, at: usize) -> (Rc<str>, usize) {
    let (mut made, mut escaped) = (String::new(), false);
    for (offset, c) in text[at..].char_indices() {
        match c {
            c if escaped => {
                made.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            c if c.is_ascii_whitespace() => return (made.into(), at + offset),
            c => made.push(c),
        }
    }
    (made.into(), text.len())
}

/// A list of these elements.
pub(crate) fn list_of(items: &[Value]) -> String {
    items.iter().map(|item| element(item)).collect::<Vec<_>>().join(" ")
}

/// A text as the element of a list.
fn element(text: &str) -> Cow<'_, str> {
    let special = |c: char| c.is_ascii_whitespace() || "{}[]$\\\";".contains(c);
    if text.is_empty() {
        return Cow::Borrowed("{}");
    }
    if !text.contains(special) && !text.starts_with('#') {
        return Cow::Borrowed(text);
    }
    let mut open = 0i32;
    let balanced = text.chars().all(|c| {
        open += i32::from(c == '{') - i32::from(c == '}');
        open >= 0
    }) && open == 0;
    if balanced && !text.contains('\\') {
        return Cow::Owned(format!("{{{text}}}"));
    }
    let mut made = String::new();
    for c in text.chars() {
        match c {
            '\n' => made.push_str("\\n"),
            c if special(c) => made.extend(['\\', c]),
            c => made.push(c),
        }
    }
    Cow::Owned(made)
}

/// The index that a word says of a list or text of so many elements; it may lie outside.
pub(super) fn index(word: &str, count: usize) -> Eval<i64> {
    let (base, offset) = match word.strip_prefix("end") {
        Some(offset) => (count as i64 - 1, offset),
        None => (0, word),
    };
    if offset.is_empty() {
        return Ok(base);
    }
    match offset.strip_prefix('+').unwrap_or(offset).parse::<i32>() {
        Ok(offset) => Ok(base + i64::from(offset)),
        Err(_) => error(format!("`{}` is not an index", shortened(word))),
    }
}

/// The elements from one index to another, as a range that lies within so many.
pub(super) fn range(first: &str, last: &str, count: usize) -> Eval<std::ops::Range<usize>> {
    let bound = |at: i64| at.clamp(0, count as i64) as usize;
    let (first, last) = (bound(index(first, count)?), bound(index(last, count)?.saturating_add(1)));
    Ok(first..last.max(first))
}

impl<H: Host> Interp<H> {
    /// The commands on lists; `None` for others.
    pub(super) fn list_command(&mut self, name: &str, words: &[Value]) -> Eval<Option<Value>> {
        self.charge(words.iter().map(|word| word.len()).sum())?;
        let made = match (name, words) {
            ("list", [_, items @ ..]) => list_of(items),
            ("concat", [_, items @ ..]) => {
                let texts = items.iter().map(|item| item.trim()).filter(|text| !text.is_empty());
                texts.collect::<Vec<&str>>().join(" ")
            }
            ("llength", [_, list]) => split_list(list)?.len().to_string(),
            ("lindex", [_, list, path @ ..]) => return element_at(list, path).map(Some),
            ("lrange", [_, list, first, last]) => {
                let items = split_list(list)?;
                let range = range(first, last, items.len())?;
                list_of(&items[range])
            }
            ("lsearch", [_, options @ .., list, pattern]) => {
                let exact = options.iter().any(|option| &**option == "-exact");
                let found = split_list(list)?
                    .iter()
                    .position(|item| if exact { **item == **pattern } else { matches(pattern, item) });
                found.map_or(-1, |at| at as i64).to_string()
            }
            ("lsort", [_, options @ .., list]) => sorted(options, list)?,
            ("lassign", [_, list, names @ ..]) => {
                let mut items = split_list(list)?.into_iter();
                for name in names {
                    self.put(name, items.next().unwrap_or_default())?;
                }
                list_of(&items.collect::<Vec<_>>())
            }
            ("lappend", [_, name, new @ ..]) => return self.lappend(name, new).map(Some),
            ("join", [_, list, rest @ ..]) => {
                let by = rest.first().map_or(" ", |by| by);
                let items = split_list(list)?;
                self.room(items.len().saturating_mul(by.len()) + list.len())?;
                items.iter().map(|item| &**item).collect::<Vec<&str>>().join(by)
            }
            ("split", [_, text, rest @ ..]) => {
                list_of(&parted(text, rest.first().map_or(" \t\n\r", |by| by)))
            }
            _ => match self.changed_list(name, words)? {
                Some(made) => made,
                None => return Ok(None),
            },
        };
        self.room(made.len())?;
        Ok(Some(Value::new(made)))
    }

    /// The commands that make a list of another one.
    fn changed_list(&mut self, name: &str, words: &[Value]) -> Eval<Option<String>> {
        let made = match (name, words) {
            ("linsert", [_, list, at, new @ ..]) => {
                let mut items = split_list(list)?;
                let end = if at.starts_with("end") { items.len() + 1 } else { items.len() };
                let at = index(at, end)?.clamp(0, items.len() as i64) as usize;
                items.splice(at..at, new.iter().cloned());
                list_of(&items)
            }
            ("lreplace", [_, list, first, last, new @ ..]) => {
                let mut items = split_list(list)?;
                let range = range(first, last, items.len())?;
                items.splice(range, new.iter().cloned());
                list_of(&items)
            }
            ("lreverse", [_, list]) => {
                let mut items = split_list(list)?;
                items.reverse();
                list_of(&items)
            }
            ("lrepeat", [_, count, items @ ..]) => {
                let count = count.parse::<usize>().or_else(|_| error("lrepeat needs a number"))?;
                let length: usize = items.iter().map(|item| item.len() + 3).sum();
                self.room(length.saturating_mul(count))?;
                vec![list_of(items); count].join(" ")
            }
            _ => return Ok(None),
        };
        Ok(Some(made))
    }

    fn lappend(&mut self, name: &Value, new: &[Value]) -> Eval<Value> {
        let mut text = if self.is_set(name) { self.get(name)?.to_string() } else { String::new() };
        for item in new {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&element(item));
        }
        let value = Value::new(text);
        self.put(name, value.clone())?;
        Ok(value)
    }
}

/// The element that a path of indices leads to; empty where there is none.
fn element_at(list: &Value, path: &[Value]) -> Eval<Value> {
    let mut item = list.clone();
    for word in path {
        for word in split_list(word)? {
            let items = split_list(&item)?;
            let at = usize::try_from(index(&word, items.len())?).unwrap_or(usize::MAX);
            item = items.get(at).cloned().unwrap_or_default();
        }
    }
    Ok(item)
}

/// The parts of a text between any of these characters, or its characters.
fn parted(text: &str, by: &str) -> Vec<Value> {
    if by.is_empty() {
        return text.chars().map(|c| Value::new(c.to_string())).collect();
    }
    if text.is_empty() { Vec::new() } else { text.split(|c| by.contains(c)).map(Value::new).collect() }
}

fn sorted(options: &[Value], list: &Value) -> Eval<String> {
    let has = |wanted: &str| options.iter().any(|option| &**option == wanted);
    let mut items = split_list(list)?;
    if has("-integer") || has("-real") {
        if items.iter().any(|item| item.trim().parse::<f64>().is_err()) {
            return error("lsort needs numbers");
        }
        let value = |item: &Value| item.trim().parse::<f64>().unwrap_or(0.0);
        items.sort_by(|a, b| value(a).total_cmp(&value(b)));
    } else {
        items.sort_by(|a, b| a.text.cmp(&b.text));
    }
    if has("-decreasing") {
        items.reverse();
    }
    if has("-unique") {
        items.dedup_by(|a, b| a.text == b.text);
    }
    Ok(list_of(&items))
}
