//! Any bytes are a script of ns-2 or an error, within bounds of work and memory; the same bytes are the
//! same script again. What is movement by its lines is the same movement as a script.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use manetlab_formats::script::{read_movement_script, read_script};
use manetlab_formats::{Limits, read_movement};

/// Inputs that loop for ever meet the bound a hundred times sooner than a user's scripts.
const MOST_STEPS: u64 = 10_000;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { max_steps: MOST_STEPS, ..Limits::default() };
    let files = BTreeMap::from([("a".to_owned(), b"set sourced 1\nsource b".to_vec())]);
    let read = || read_script(bytes, "fuzz", &files, &["7".to_owned()], &limits);
    let first = read();
    if let Err(error) = &first {
        assert!(!error.to_string().contains('\u{1b}') && !error.hint.is_empty());
    }
    assert!(read() == first);
    let as_script = read_movement_script(bytes, "fuzz", &limits);
    if let (Ok(by_lines), Ok(by_script)) = (read_movement(bytes, "fuzz", &limits), as_script) {
        assert_eq!(by_lines.trajectories.len(), by_script.trajectories.len());
    }
});
