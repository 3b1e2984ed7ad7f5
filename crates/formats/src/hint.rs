//! Which understood form is nearest to a line that was not understood.

/// Words longer than this are no misspelt keywords.
const LONGEST: usize = 32;
/// So many words at the head of a line are looked at.
const WORDS: usize = 12;

/// `write: FORM`, for the form that shares most words with `line`, forgiving misspelt ones.
pub(crate) fn nearest(line: &str, forms: &[&str]) -> String {
    if line.ends_with('\\') {
        return "write the command on one line, without a `\\` at its end".to_owned();
    }
    let found: Vec<&str> = words(line).take(WORDS).collect();
    let best = forms.iter().max_by_key(|form| likeness(&found, form)).unwrap_or(&"");
    format!("the nearest form that is understood is  {best}")
}

/// The words in which forms differ: letters, `_` and `-`.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphabetic() || matches!(c, '_' | '-')))
        .filter(|word| !word.is_empty() && word.len() <= LONGEST)
}

/// Three for each word of `form` that is found, two for one that is nearly found, less one for each word
/// too many or too few.
fn likeness(found: &[&str], form: &str) -> i32 {
    let mut score = 0;
    let mut count = 0i32;
    for word in words(form) {
        count += 1;
        let distance = found.iter().map(|other| edits(word, other)).min().unwrap_or(usize::MAX);
        score += match distance {
            0 => 3,
            d if d <= word.len() / 3 => 2,
            _ => 0,
        };
    }
    score - (count - found.len() as i32).abs()
}

/// The number of insertions, deletions and substitutions that turn `a` into `b` (Levenshtein 1966), without
/// regard to case.
fn edits(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_count_letters() {
        assert_eq!(edits("setdest", "setdset"), 2);
        assert_eq!(edits("start", "stop"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("X_", "x_"), 0);
    }
}
