//! Any bytes are a traffic file or an error; what was read is written and read again unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use manetlab_formats::{Limits, read_traffic, write_traffic};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::default();
    match read_traffic(bytes, "fuzz", &limits) {
        Ok(flows) => {
            assert_eq!(read_traffic(write_traffic(&flows).as_bytes(), "written", &limits), Ok(flows));
        }
        Err(error) => assert!(!error.to_string().contains('\u{1b}')),
    }
});
