//! Geometric mobility: how fast nodes move relative to each other, whatever the range of their radios.
//!
//! Johansson, Larsson, Hedman, Mielczarek & Degermark, "Scenario-Based Performance Analysis of Routing
//! Protocols for Mobile Ad-hoc Networks", MobiCom 1999. Of two nodes it is the mean over time of the length
//! of the difference of their velocities; of a network, the mean over all pairs. Legs are straight, so that
//! the length is constant between two changes of leg, and the sum exact. A jump is no velocity.

use super::{Leg, Path};
use crate::kernel::Time;

/// Changes of leg of pairs that are looked at, about a second's work.
const CHANGES: f64 = 1e8;

/// The geometric mobility of these nodes in a time, in m/s; none with fewer than two nodes or no time.
///
/// Where nodes and legs are too many, only that of every second, third … node is looked at.
pub fn geometric_mobility(paths: &[Path], from: Time, until: Time) -> Option<f64> {
    if until <= from {
        return None;
    }
    let within: Vec<&[Leg]> = paths.iter().map(|path| legs_in(path, from, until)).collect();
    let legs: usize = within.iter().map(|legs| legs.len()).sum();
    // All pairs have as many changes together as each node has legs, times the number of nodes.
    let changes = legs as f64 * paths.len() as f64;
    let stride = (changes / CHANGES).sqrt().ceil().max(1.0) as usize;
    let looked_at: Vec<&[Leg]> = within.into_iter().step_by(stride).collect();
    let (mut sum, mut pairs) = (0.0, 0u64);
    for (number, a) in looked_at.iter().enumerate() {
        for b in &looked_at[..number] {
            sum += way_apart_m(a, b, from, until);
            pairs += 1;
        }
    }
    (pairs > 0).then(|| sum / pairs as f64 / until.since(from).as_secs())
}

/// The legs that a node is on in a time.
fn legs_in(path: &Path, from: Time, until: Time) -> &[Leg] {
    let legs = path.legs();
    let first = legs.partition_point(|leg| leg.start <= from) - 1;
    &legs[first..legs.partition_point(|leg| leg.start < until)]
}

/// The integral of the relative speed of two nodes, in m.
fn way_apart_m(a: &[Leg], b: &[Leg], from: Time, until: Time) -> f64 {
    let (mut at_a, mut at_b, mut now, mut way_m) = (0, 0, from, 0.0);
    while now < until {
        let start_of = |legs: &[Leg], next: usize| legs.get(next).map_or(until, |leg| leg.start);
        let (next_a, next_b) = (start_of(a, at_a + 1), start_of(b, at_b + 1));
        let next = next_a.min(next_b);
        let (vx, vy) = (a[at_a].vx - b[at_b].vx, a[at_a].vy - b[at_b].vy);
        way_m += (vx * vx + vy * vy).sqrt() * next.since(now).as_secs();
        at_a += usize::from(next_a == next && next < until);
        at_b += usize::from(next_b == next && next < until);
        now = next;
    }
    way_m
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::{Command, Point, Trajectory};

    fn secs(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    /// A node that goes so fast to the east from `at_s` on, for 100 s.
    fn going_east(at_s: f64, speed: f64) -> Path {
        let to = Point { x: 100.0 * speed, y: 0.0 };
        Path::new(&Trajectory::new(Point::default(), vec![Command::GoTo { at: secs(at_s), to, speed }]))
    }

    fn standing() -> Path {
        Path::new(&Trajectory::fixed(3.0, 4.0))
    }

    fn close(found: Option<f64>, wanted: f64) -> bool {
        found.is_some_and(|found| (found - wanted).abs() < 1e-9)
    }

    #[test]
    fn of_two_of_which_one_moves_it_is_its_speed() {
        assert!(close(geometric_mobility(&[standing(), going_east(0.0, 3.0)], secs(0.0), secs(50.0)), 3.0));
        // Half of the time, and the other half.
        let late = [going_east(30.0, 4.0), standing()];
        assert!(close(geometric_mobility(&late, secs(20.0), secs(40.0)), 2.0));
        assert!(close(geometric_mobility(&late, secs(125.0), secs(135.0)), 2.0));
    }

    #[test]
    fn of_nodes_that_go_together_it_is_zero_and_of_fewer_than_two_there_is_none() {
        let together = vec![going_east(7.0, 5.0); 4];
        assert!(close(geometric_mobility(&together, secs(0.0), secs(200.0)), 0.0));
        assert_eq!(geometric_mobility(&[standing()], secs(0.0), secs(1.0)), None);
        assert_eq!(geometric_mobility(&[standing(), standing()], secs(1.0), secs(1.0)), None);
    }

    #[test]
    fn a_network_has_the_mean_of_its_pairs_and_a_jump_is_no_velocity() {
        let three = [standing(), going_east(0.0, 3.0), going_east(0.0, 9.0)];
        assert!(close(geometric_mobility(&three, secs(0.0), secs(10.0)), (3.0 + 9.0 + 6.0) / 3.0));
        let jump = Command::Jump { at: secs(5.0), to: Point { x: 1e6, y: 0.0 } };
        let jumping = Path::new(&Trajectory::new(Point::default(), vec![jump]));
        assert!(close(geometric_mobility(&[standing(), jumping], secs(0.0), secs(10.0)), 0.0));
    }
}
