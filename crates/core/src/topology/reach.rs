//! What could be delivered at all: whether the ends of a pair had a path when a packet was sent, and when a
//! packet could have arrived if every node kept what it cannot pass on.
//!
//! Time is cut into steps. A path *now* is one over the links of the instant that begins the step. The
//! arrival is a bound that no protocol can pass: all links that are up at any time of a step count for all
//! of it, in any order, and nothing costs time. So what cannot arrive here cannot arrive in a run, as long as
//! frames go no farther than the range.

use crate::kernel::Span;

use super::Query;
use super::graph::Link;
use super::links::Links;

/// What the movement allows a pair of nodes, by step.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reach {
    /// Is there a path when the step begins?
    pub now: Vec<bool>,
    /// In which step what is sent in this one can arrive; none if it cannot before the window ends.
    pub arrival: Vec<Option<u32>>,
}

/// The reach of each pair, for as long as `keep_going`, which is asked at every step, says so; none if it
/// says no. `wires` are links that are always up.
///
/// # Panics
/// If the step is zero, or a pair's node does not exist.
pub fn reach(query: &Query, wires: &[[u32; 2]], keep_going: &mut dyn FnMut() -> bool) -> Option<Vec<Reach>> {
    let nodes = query.movement.len();
    let (start, end) = query.window;
    let mut links = Links::new(query.movement, query.near(), start).with_changes();
    let wires: Vec<Link> = wires.iter().map(|&[a, b]| (a, b)).collect();
    // Which part of the network each node is in, by step: by the links of all of it.
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut found = vec![Reach::default(); query.pairs.len()];
    let mut now = start;
    while now < end {
        if !keep_going() {
            return None;
        }
        let at_once = parts_of(nodes, links.links_now().iter().chain(&wires));
        for (reach, &(src, dst)) in found.iter_mut().zip(query.pairs) {
            reach.now.push(at_once[src as usize] == at_once[dst as usize]);
        }
        let before = links.up().to_vec();
        now = (now + query.step.max(Span(1))).min(end);
        links.advance(now);
        let came = links.changes().iter().filter(|change| change.is_up).map(|change| &change.link);
        parts.push(parts_of(nodes, before.iter().chain(came).chain(&wires)));
    }
    for (reach, &(src, dst)) in found.iter_mut().zip(query.pairs) {
        reach.arrival = arrivals(&parts, src, dst);
    }
    Some(found)
}

/// In which step what is at `src` in each step can arrive at `dst`, looked at from the end.
fn arrivals(parts: &[Vec<u32>], src: u32, dst: u32) -> Vec<Option<u32>> {
    let nodes = parts.first().map_or(0, Vec::len);
    // When what is at a node can arrive, and the earliest of all within a part of the network.
    let mut earliest = vec![u32::MAX; nodes];
    let mut of_part = vec![u32::MAX; nodes];
    let mut found = vec![None; parts.len()];
    for (step, part) in parts.iter().enumerate().rev() {
        earliest[dst as usize] = step as u32;
        of_part.fill(u32::MAX);
        for (&part, &arrival) in part.iter().zip(&earliest) {
            let least = &mut of_part[part as usize];
            *least = arrival.min(*least);
        }
        for (&part, arrival) in part.iter().zip(&mut earliest) {
            *arrival = of_part[part as usize];
        }
        let arrival = earliest[src as usize];
        found[step] = (arrival != u32::MAX).then_some(arrival);
    }
    found
}

/// For each node the number of the part of the network that it is in: that of one of its nodes.
fn parts_of<'a>(nodes: usize, links: impl Iterator<Item = &'a Link>) -> Vec<u32> {
    let mut leader: Vec<u32> = (0..nodes as u32).collect();
    for &(a, b) in links {
        let (a, b) = (leader_of(&mut leader, a), leader_of(&mut leader, b));
        leader[a.max(b) as usize] = a.min(b);
    }
    (0..nodes as u32).map(|node| leader_of(&mut leader, node)).collect()
}

fn leader_of(leader: &mut [u32], mut node: u32) -> u32 {
    while leader[node as usize] != node {
        let above = leader[leader[node as usize] as usize];
        leader[node as usize] = above;
        node = above;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::mobility::{Command, Point, Presence, Trajectory};

    fn secs(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    fn reach_of(movement: &[Trajectory], until_s: f64, pair: (u32, u32)) -> Reach {
        let query = Query {
            movement,
            range_m: 250.0,
            rule: None,
            window: (Time::ZERO, secs(until_s)),
            step: Span::from_secs(1.0),
            pairs: &[pair],
        };
        reach(&query, &[], &mut || true).expect("not stopped").remove(0)
    }

    #[test]
    fn a_ferry_carries_what_has_no_path() {
        // 1 goes from 0 to 2, which never meet: at 10 m/s it leaves 0 at 25 s and reaches 2 at 75 s.
        let goes = Command::GoTo { at: Time::ZERO, to: Point { x: 1000.0, y: 0.0 }, speed: 10.0 };
        let movement = [
            Trajectory::fixed(0.0, 0.0),
            Trajectory::new(Point::default(), vec![goes]),
            Trajectory::fixed(1000.0, 0.0),
        ];
        let found = reach_of(&movement, 100.0, (0, 2));
        assert!(found.now.iter().all(|&now| !now));
        assert_eq!(found.arrival[0], Some(75));
        assert_eq!(found.arrival[24], Some(75));
        assert_eq!(found.arrival[26], None);
        let back = reach_of(&movement, 100.0, (2, 0));
        assert!(back.arrival.iter().all(Option::is_none), "nothing comes back");
    }

    #[test]
    fn who_is_absent_is_reached_when_it_joins_and_not_after_it_has_left() {
        let mut movement = [Trajectory::fixed(0.0, 0.0), Trajectory::fixed(100.0, 0.0)];
        movement[1].present = vec![Presence { from: secs(3.0), until: secs(6.5) }];
        let found = reach_of(&movement, 10.0, (0, 1));
        let now: Vec<usize> = (0..10).filter(|&step| found.now[step]).collect();
        assert_eq!(now, [3, 4, 5, 6]);
        assert_eq!(found.arrival[0], Some(3));
        assert_eq!(found.arrival[6], Some(6));
        assert_eq!(found.arrival[7], None);
    }
}
