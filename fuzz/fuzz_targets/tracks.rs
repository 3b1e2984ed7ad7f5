//! Any bytes are tracks or an error; what was read is in order of time, has finite places, and makes
//! trajectories. Tracks that are not thinned have the samples of those that are.

#![no_main]

use libfuzzer_sys::fuzz_target;
use manetlab_formats::Limits;
use manetlab_formats::tracks::{BonnMotionPoint, Options, read_tracks};

fuzz_target!(|input: &[u8]| {
    let Some((&kind, bytes)) = input.split_first() else { return };
    let points =
        [None, Some(BonnMotionPoint::Flat), Some(BonnMotionPoint::High), Some(BonnMotionPoint::Status)];
    let options = Options {
        sampled_presence: kind & 1 == 1,
        thin_m: (kind & 2 == 2).then_some(0.0),
        bonnmotion: points[usize::from(kind >> 2) % points.len()],
    };
    match read_tracks(bytes, "fuzz", &Limits::default(), &options) {
        Ok(tracks) => {
            for track in &tracks.nodes {
                assert!(!track.at.is_empty() && track.at.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(track.x_m.iter().chain(&track.y_m).chain(&track.z_m).all(|value| value.is_finite()));
                assert_eq!((track.x_m.len(), track.y_m.len()), (track.at.len(), track.at.len()));
                assert!(track.z_m.is_empty() || track.z_m.len() == track.at.len());
                assert!(track.present.iter().all(|(from, until)| from < until));
                assert!(track.present.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            }
            let count = tracks.nodes.len();
            assert_eq!(tracks.into_trajectories().len(), count);
        }
        Err(error) => assert!(!error.to_string().contains('\u{1b}')),
    }
});
