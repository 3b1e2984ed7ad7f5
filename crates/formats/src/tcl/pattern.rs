//! Patterns of Tcl: `*`, `?`, sets of characters.

/// Whether a text has the form of a pattern with `*`, `?` and `\`; sets in brackets stand for any
/// character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last `*` stands, and what it has swallowed: no other needs to be tried again.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        let (matched, length) = match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some('?') => (true, 1),
            Some('\\') => (pattern.get(p + 1) == Some(&text[t]), 2),
            Some('[') => one_of(&pattern[p..], text[t]),
            Some(c) => (*c == text[t], 1),
            None => (false, 0),
        };
        if matched {
            (p, t) = (p + length, t + 1);
        } else if let Some((at, swallowed)) = star {
            (p, t) = (at + 1, swallowed + 1);
            star = Some((at, swallowed + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// Whether a character is in the set `[a-z_]` with which the pattern begins, and the set's length.
fn one_of(pattern: &[char], c: char) -> (bool, usize) {
    let Some(end) = pattern.iter().position(|&c| c == ']') else { return (pattern[0] == c, 1) };
    let set = &pattern[1..end];
    let mut at = 0;
    let mut found = false;
    while at < set.len() {
        if set.get(at + 1) == Some(&'-') && at + 2 < set.len() {
            found |= (set[at]..=set[at + 2]).contains(&c);
            at += 3;
        } else {
            found |= set[at] == c;
            at += 1;
        }
    }
    (found, end + 1)
}
