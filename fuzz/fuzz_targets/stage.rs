//! Any order of calls to the state machine of this name; see `machines`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| manetlab_fuzz::machines::stage(bytes));
