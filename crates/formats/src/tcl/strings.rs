//! `string` and what it is made of.

use super::lists::{index, range};
use super::pattern::matches;
use super::{Eval, Host, Interp, Value, error, shortened, split_list};

impl<H: Host> Interp<H> {
    /// `string`, behind its name; `None` for a form that is not known.
    pub(super) fn string_command(&mut self, words: &[Value]) -> Eval<Option<Value>> {
        let Some((form, arguments)) = words.split_first() else { return Ok(None) };
        self.charge(arguments.iter().map(|argument| argument.len()).sum())?;
        let trimmed = |chars: &Value| chars.chars().collect::<Vec<char>>();
        let blank = || Value::new(" \t\n\r");
        let made = match (&**form, arguments) {
            ("length", [text]) => text.chars().count().to_string(),
            ("index", [text, at]) => {
                let at = index(at, text.chars().count())?;
                let found = usize::try_from(at).ok().and_then(|at| text.chars().nth(at));
                found.map(String::from).unwrap_or_default()
            }
            ("range", [text, first, last]) => {
                let range = range(first, last, text.chars().count())?;
                text.chars().skip(range.start).take(range.len()).collect()
            }
            ("equal", [.., a, b]) => flag(a.text == b.text),
            ("compare", [.., a, b]) => (a.text.cmp(&b.text) as i32).to_string(),
            ("match", [.., pattern, text]) => flag(matches(pattern, text)),
            ("tolower", [text]) => text.to_lowercase(),
            ("toupper", [text]) => text.to_uppercase(),
            ("trim", [text, rest @ ..]) => {
                text.trim_matches(&trimmed(&rest.first().cloned().unwrap_or_else(blank))[..]).to_owned()
            }
            ("trimleft", [text, rest @ ..]) => {
                text.trim_start_matches(&trimmed(&rest.first().cloned().unwrap_or_else(blank))[..]).to_owned()
            }
            ("trimright", [text, rest @ ..]) => {
                text.trim_end_matches(&trimmed(&rest.first().cloned().unwrap_or_else(blank))[..]).to_owned()
            }
            ("repeat", [text, count]) => {
                let Ok(count) = count.parse::<usize>() else { return error("string repeat needs a number") };
                self.room(text.len().saturating_mul(count))?;
                text.repeat(count)
            }
            ("first", [part, text]) => place_of(text.find(&**part), text),
            ("last", [part, text]) => place_of(text.rfind(&**part), text),
            ("map", [.., map, text]) => {
                let pairs = split_list(map)?;
                let mut made = text.to_string();
                for pair in pairs.chunks_exact(2).filter(|pair| !pair[0].is_empty()) {
                    let longest = made.len().saturating_mul(pair[1].len().max(1));
                    self.room(if pair[1].len() > pair[0].len() { longest } else { made.len() })?;
                    made = made.replace(&*pair[0], &pair[1]);
                }
                made
            }
            ("is", [class, .., text]) => flag(match &**class {
                "integer" | "int" | "digit" => text.trim().parse::<i64>().is_ok(),
                "double" => text.trim().parse::<f64>().is_ok(),
                "alpha" => text.chars().all(char::is_alphabetic),
                "space" => text.chars().all(char::is_whitespace),
                _ => return error(format!("string is {} is not known", shortened(class))),
            }),
            _ => return Ok(None),
        };
        self.room(made.len())?;
        Ok(Some(Value::new(made)))
    }
}

fn flag(holds: bool) -> String {
    u8::from(holds).to_string()
}

/// A place in bytes as one in characters.
fn place_of(found: Option<usize>, text: &str) -> String {
    found.map_or_else(|| "-1".to_owned(), |at| text[..at].chars().count().to_string())
}
