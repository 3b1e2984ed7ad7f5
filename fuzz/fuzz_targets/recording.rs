//! Any block is events or an error. Its bytes are given before they are compressed and get a checksum.

#![no_main]

use std::io::{Cursor, sink};

use libfuzzer_sys::fuzz_target;
use manetlab_recording::{Reader, lines, sealed};

fuzz_target!(|bytes: &[u8]| {
    if let Some((head, raw)) = bytes.split_first_chunk() {
        let mut reader = Reader::open(Cursor::new(sealed(head, raw))).expect("head and movement are whole");
        if reader.blocks().len() == 1 && reader.block(0).is_err() {
            assert!(lines::export(&mut reader, sink()).is_err());
        } else {
            let _ = lines::export(&mut reader, sink());
        }
    }
});
