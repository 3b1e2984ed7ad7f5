//! As much of XML 1.0 as files of tracks have, read as it streams by: elements, attributes, text, CDATA,
//! comments.
//!
//! A document type is skipped where it declares nothing; one that declares entities is refused, so that no
//! entity can grow. Memory holds one tag at a time.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use super::lines::text;
use super::unreadable;
use crate::error::{Fault, Parsed, quoted};

/// Longest text with the tag behind it, in bytes.
const LONGEST: u64 = 1 << 20;
/// How deep elements may be nested.
const DEEPEST: usize = 64;

/// How text as it is begins and ends.
const CDATA: &[u8] = b"<![CDATA[";
const CDATA_END: &[u8] = b"]]>";

/// A reader of tags.
pub(super) struct Xml<R> {
    source: R,
    raw: Vec<u8>,
    /// The names of the elements that are open.
    open: Vec<Box<str>>,
    /// The line on which the piece in `raw` ends, counted from 1.
    line: u64,
    any: bool,
}

/// A tag, with the text before it.
pub(super) struct Tag<'a> {
    /// The element's name, without the prefix of a name space.
    pub(super) name: &'a str,
    pub(super) kind: TagKind,
    /// The text before the tag, as it stands there.
    pub(super) text: &'a str,
    /// The line on which the tag ends.
    pub(super) line: u64,
    /// How many elements are open, the tag's own counted unless it has ended: for the end of a child the
    /// same as for the start of its parent.
    pub(super) depth: usize,
    attributes: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TagKind {
    /// `<a>`
    Open,
    /// `<a/>`
    Empty,
    /// `</a>`
    Close,
}

impl<R: BufRead> Xml<R> {
    pub(super) fn new(source: R) -> Xml<R> {
        Xml { source, raw: Vec::new(), open: Vec::new(), line: 1, any: false }
    }

    /// The next tag; `None` at the end.
    pub(super) fn next(&mut self) -> Parsed<Option<Tag<'_>>> {
        let line = self.line;
        self.piece().map_err(|fault| {
            let at = fault.line.unwrap_or(self.line.max(line));
            fault.at(at)
        })?;
        if self.raw.is_empty() {
            return Ok(None);
        }
        let line = self.line;
        let located = |fault: Box<Fault>| fault.at(line);
        let piece = text(&self.raw).map_err(located)?;
        // The piece ends with the tag's `>`: `piece` makes sure of it.
        let at = piece.find('<').unwrap_or(0);
        let (text, tag) = (&piece[..at], &piece[at + 1..piece.len() - 1]);
        let (kind, body) = match (tag.strip_prefix('/'), tag.strip_suffix('/')) {
            (Some(body), _) => (TagKind::Close, body),
            (_, Some(body)) => (TagKind::Empty, body),
            _ => (TagKind::Open, tag),
        };
        let end = body.find(|c: char| c.is_ascii_whitespace()).unwrap_or(body.len());
        let (full, attributes) = body.split_at(end);
        nest(&mut self.open, kind, full).map_err(located)?;
        let name = full.rsplit(':').next().unwrap_or(full);
        Ok(Some(Tag { name, kind, text, line, depth: self.open.len(), attributes }))
    }

    /// Reads up to and with the next tag of an element; an empty piece at the end.
    fn piece(&mut self) -> Parsed<()> {
        self.raw.clear();
        // Each byte is looked at once only, however many `>` there are: where `<` was not found yet, and
        // the quote that is open.
        let (mut start, mut searched, mut quote) = (None, 0, None);
        loop {
            let before = self.raw.len();
            let room = LONGEST.saturating_sub(before as u64);
            let read = (&mut self.source).take(room).read_until(b'>', &mut self.raw);
            let read = read.map_err(|error| unreadable(&error))?;
            self.line += self.raw[before..].iter().filter(|&&b| b == b'\n').count() as u64;
            // What was read before ends with `>` as well.
            if read == 0 || self.raw.last() != Some(&b'>') {
                return self.end();
            }
            let found = start
                .or_else(|| self.raw[searched..].iter().position(|&b| b == b'<').map(|at| searched + at));
            let Some(at) = found else { return Err(malformed(">", "`<` before `>`")) };
            if start.is_none() {
                (start, searched) = (Some(at), at);
            }
            match special(&self.raw[at..])? {
                Special::Whole => {
                    self.raw.truncate(at);
                    (start, searched) = (None, at);
                }
                Special::Text => {
                    let text = escaped(&self.raw[at + CDATA.len()..self.raw.len() - CDATA_END.len()]);
                    self.raw.truncate(at);
                    self.raw.extend(text);
                    (start, searched) = (None, self.raw.len());
                }
                Special::Begun => {}
                Special::No => {
                    quote = quote_after(&self.raw[searched..], quote);
                    searched = self.raw.len();
                    if quote.is_none() {
                        self.any = true;
                        return Ok(());
                    }
                }
            }
        }
    }

    /// What there is at the end of the source, or where a piece is too long.
    fn end(&mut self) -> Parsed<()> {
        if self.raw.len() as u64 >= LONGEST {
            return Err(malformed("a tag or a text of more than 1 MiB", "shorter ones"));
        }
        if let Some(name) = self.open.last() {
            let found = format!("the end of the file within <{name}>");
            let hint =
                "the file has been cut off, or is still being written: let the program that writes it end";
            return Err(Fault::new("the file is not complete", found, format!("</{name}>"), hint));
        }
        if !self.any || !self.raw.trim_ascii().is_empty() {
            return Err(malformed("text outside elements", "elements"));
        }
        self.raw.clear();
        Ok(())
    }
}

/// Keeps the names of open elements.
fn nest(open: &mut Vec<Box<str>>, kind: TagKind, name: &str) -> Parsed<()> {
    if name.is_empty() {
        return Err(malformed("<>", "the name of an element"));
    }
    match kind {
        TagKind::Empty => {}
        TagKind::Open if open.len() == DEEPEST => {
            return Err(malformed(name, "elements that are nested less deeply"));
        }
        TagKind::Open => open.push(name.into()),
        TagKind::Close => match open.pop() {
            Some(opened) if *opened == *name => {}
            Some(opened) => return Err(malformed(&format!("</{name}>"), &format!("</{opened}>"))),
            None => return Err(malformed(&format!("</{name}>"), "the start of an element")),
        },
    }
    Ok(())
}

/// What begins with `<` and is no element.
enum Special {
    /// An element.
    No,
    /// A comment, a declaration, an instruction or text that has not ended yet.
    Begun,
    /// Text as it is (CDATA).
    Text,
    /// A whole one.
    Whole,
}

/// Text with references for what would be taken for tags and references.
fn escaped(text: &[u8]) -> Vec<u8> {
    let mut made = Vec::with_capacity(text.len());
    for &byte in text {
        match byte {
            b'&' => made.extend(b"&amp;"),
            b'<' => made.extend(b"&lt;"),
            b'>' => made.extend(b"&gt;"),
            _ => made.push(byte),
        }
    }
    made
}

/// What a text is that begins with `<` and ends with `>`.
fn special(tag: &[u8]) -> Parsed<Special> {
    let whole = |whole| if whole { Special::Whole } else { Special::Begun };
    Ok(match tag {
        [b'<', b'!', b'-', b'-', ..] => whole(tag.len() >= 7 && tag.ends_with(b"-->")),
        [b'<', b'?', ..] => whole(tag.ends_with(b"?>")),
        tag if tag.starts_with(CDATA) => {
            let is_whole = tag.len() >= CDATA.len() + CDATA_END.len() && tag.ends_with(CDATA_END);
            if is_whole { Special::Text } else { Special::Begun }
        }
        [b'<', b'!', ..] if tag.contains(&b'[') => {
            return Err(malformed("<!DOCTYPE … [", "no declarations in the file"));
        }
        [b'<', b'!', ..] => Special::Whole,
        _ => Special::No,
    })
}

/// The quote that is open behind a piece of a tag: `>` may stand within the quotes of an attribute.
fn quote_after(piece: &[u8], mut quote: Option<u8>) -> Option<u8> {
    for &byte in piece {
        match quote {
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            Some(open) if open == byte => quote = None,
            _ => {}
        }
    }
    quote
}

fn malformed(found: &str, wanted: &str) -> Box<Fault> {
    Fault::new("not well-formed XML", quoted(found), wanted, "was the file written completely?")
}

impl<'a> Tag<'a> {
    /// Gives each attribute to `take`: its name without prefix and its value as it stands there.
    pub(super) fn attributes(&self, mut take: impl FnMut(&'a str, &'a str) -> Parsed<()>) -> Parsed<()> {
        let mut rest = self.attributes.trim_ascii_start();
        while !rest.is_empty() {
            let wanted = || malformed(rest, "attributes as  name=\"value\"");
            let (name, behind) = rest.split_once('=').ok_or_else(wanted)?;
            let behind = behind.trim_ascii_start();
            let quote = behind.chars().next().filter(|&c| c == '"' || c == '\'').ok_or_else(wanted)?;
            let (value, after) = behind[1..].split_once(quote).ok_or_else(wanted)?;
            let name = name.trim_ascii_end();
            take(name.rsplit(':').next().unwrap_or(name), value)?;
            rest = after.trim_ascii_start();
        }
        Ok(())
    }
}

/// A text or a value with its references replaced.
pub(super) fn unescaped(raw: &str) -> Parsed<Cow<'_, str>> {
    if !raw.contains('&') {
        return Ok(Cow::Borrowed(raw));
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let unknown = || malformed(raw, "&amp; for `&`");
        let (reference, after) = behind.split_once(';').ok_or_else(unknown)?;
        out.push(match reference {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => numbered(reference).ok_or_else(unknown)?,
        });
        rest = after;
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

/// `#65` and `#x41`.
fn numbered(reference: &str) -> Option<char> {
    let number = reference.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code)
}
