//! Every state machine keeps its contract under any order of calls: what the fuzz targets do, with bytes at
//! random and with the inputs that once made a machine fail.

#![allow(clippy::expect_used, reason = "a test says what it relies on")]

#[allow(unreachable_pub, reason = "the fuzz targets reach them")]
#[path = "../../../fuzz/src/machines/mod.rs"]
mod machines;

use std::path::Path;

use proptest::prelude::*;

use machines::TARGETS;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_order_of_calls_keeps_the_contract(
        target in 0..TARGETS.len(),
        bytes in prop::collection::vec(any::<u8>(), 8..200),
    ) {
        (TARGETS[target].1)(&bytes);
    }
}

#[test]
fn inputs_that_once_failed_pass() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (name, target) in TARGETS {
        let folder = seeds.join(name);
        let Ok(files) = folder.read_dir() else { continue };
        for file in files {
            let path = file.expect("an entry of the folder").path();
            target(&std::fs::read(path).expect("a seed is readable"));
        }
    }
}
