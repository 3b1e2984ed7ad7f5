//! Any bytes are a movement file or an error; what was read is written and read again unchanged, but for
//! names, heights and presence, which files of ns-2 do not all have.

#![no_main]

use libfuzzer_sys::fuzz_target;
use manetlab_core::mobility::Trajectory;
use manetlab_formats::{Limits, Movement, read_movement, write_movement};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::default();
    match read_movement(bytes, "fuzz", &limits) {
        Ok(movement) => {
            let mut text = String::new();
            write_movement(&movement, &mut text).expect("a String takes all");
            // Degrees are told by the share of coordinates with many digits, which a start that was left
            // out changes.
            let Ok(again) = read_movement(text.as_bytes(), "written", &limits) else {
                assert!(movement.unplaced > 0);
                return;
            };
            let plain = |movement: Movement| {
                let way = |node: Trajectory| (node.start, node.commands);
                (movement.rests_elsewhere, movement.trajectories.into_iter().map(way).collect::<Vec<_>>())
            };
            assert_eq!(plain(again), plain(movement));
        }
        Err(error) => assert!(!error.to_string().contains('\u{1b}')),
    }
});
