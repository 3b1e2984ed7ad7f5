//! Any bytes are a movement file or an error; what was read is written and read again unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use manetlab_formats::{Limits, read_movement, write_movement};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::default();
    match read_movement(bytes, "fuzz", &limits) {
        Ok(movement) => {
            let mut text = String::new();
            write_movement(&movement, &mut text).expect("a String takes all");
            assert_eq!(read_movement(text.as_bytes(), "written", &limits), Ok(movement));
        }
        Err(error) => assert!(!error.to_string().contains('\u{1b}')),
    }
});
