//! Leaves out samples that say nothing new (Douglas and Peucker 1973, in time and space).

use super::Track;

/// Leaves out samples from which the straight line in time between those kept is at most `most_m` away.
pub(super) fn thin(track: &mut Track, most_m: f64) {
    let count = track.at.len();
    if count < 3 {
        return;
    }
    let mut kept = vec![false; count];
    kept[0] = true;
    kept[count - 1] = true;
    // Stays begin and end at samples, so these are kept.
    for &(from, until) in &track.present {
        for at in [from, until] {
            let place = track.at.partition_point(|&time| time < at);
            for near in [place.saturating_sub(1), place.min(count - 1)] {
                kept[near] = true;
            }
        }
    }
    let fixed: Vec<usize> = (0..count).filter(|&at| kept[at]).collect();
    let mut open: Vec<(usize, usize)> = fixed.windows(2).map(|pair| (pair[0], pair[1])).collect();
    while let Some((first, last)) = open.pop() {
        if let Some(far) = farthest(track, first, last, most_m) {
            kept[far] = true;
            open.extend([(first, far), (far, last)]);
        }
    }
    let mut keep = kept.iter().copied();
    track.at.retain(|_| keep.next() == Some(true));
    for column in [&mut track.x_m, &mut track.y_m, &mut track.z_m] {
        let mut keep = kept.iter().copied();
        column.retain(|_| keep.next() == Some(true));
    }
}

/// The sample between two others that is farthest from the line between them, if it is too far.
///
/// Long stretches are cut in the middle instead, which bounds the work: half a million samples of a node
/// that zigzags would otherwise be looked at once for each.
fn farthest(track: &Track, first: usize, last: usize, most_m: f64) -> Option<usize> {
    const LONGEST: usize = 4096;
    if last - first > LONGEST {
        return Some(first + (last - first) / 2);
    }
    let span = track.at[last].since(track.at[first]).as_secs();
    let mut worst = (most_m * most_m, None);
    for at in first + 1..last {
        let share = track.at[at].since(track.at[first]).as_secs() / span;
        let off = |column: &[f64]| match column {
            [] => 0.0,
            _ => column[first] + share * (column[last] - column[first]) - column[at],
        };
        let (x, y, z) = (off(&track.x_m), off(&track.y_m), off(&track.z_m));
        let squared = x * x + y * y + z * z;
        if squared > worst.0 {
            worst = (squared, Some(at));
        }
    }
    worst.1
}
