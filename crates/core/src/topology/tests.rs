//! Links, hops and partitions of movements that can be worked out by hand, and against plain searches.

use super::*;
use crate::kernel::Streams;
use crate::mobility::waypoint::{self, Boundary, Start, WaypointParams};
use crate::mobility::{Command, Point};

fn secs(seconds: f64) -> Time {
    Time::from_secs(seconds)
}

fn analyse_pairs_of(movement: &[Trajectory], until_s: f64, pairs: &[(u32, u32)]) -> Topology {
    let query = Query {
        movement,
        range_m: 250.0,
        rule: None,
        window: (Time::ZERO, secs(until_s)),
        step: Span::from_secs(1.0),
        pairs,
    };
    analyse(&query, &mut || true).expect("nobody stops it")
}

fn goes(x: f64, y: f64, at_s: f64, to: (f64, f64), speed: f64) -> Trajectory {
    let to = Point { x: to.0, y: to.1 };
    Trajectory::new(Point { x, y }, vec![Command::GoTo { at: secs(at_s), to, speed }])
}

fn close(found: Option<f64>, wanted: f64) -> bool {
    found.is_some_and(|value| (value - wanted).abs() < 1e-6)
}

#[test]
fn a_chain_has_the_hops_of_its_distances() {
    // Of n nodes in a line the mean distance between two is (n + 1) / 3.
    let chain: Vec<_> = (0..8).map(|i| Trajectory::fixed(200.0 * f64::from(i), 0.0)).collect();
    let found = analyse_pairs_of(&chain, 10.0, &[(0, 7), (7, 5)]);
    assert!(close(found.hops_mean, 3.0));
    assert!(close(found.pair_hops_mean, 4.5));
    assert!(close(found.partitioned_pairs, 0.0));
    assert!(close(Some(found.degree_mean), 14.0 / 8.0));
    assert_eq!((found.link_lifetime_s, found.path_lifetime_s), (None, None));
    assert_eq!((found.corner_low_m, found.corner_high_m), ((0.0, 0.0), (1400.0, 0.0)));
}

#[test]
fn a_link_is_up_exactly_while_the_nodes_are_in_range() {
    // Passes a node that stands 150 m beside its way: 200 m before and behind it are in range.
    let movement = [Trajectory::fixed(500.0, 150.0), goes(-5.0, 0.0, 0.0, (1000.0, 0.0), 10.0)];
    let found = analyse_pairs_of(&movement, 100.0, &[(0, 1)]);
    assert!(close(found.link_lifetime_s, 40.0));
    assert!(close(Some(found.link_changes_per_s), 0.02));
    // In range from 30.5 s to 70.5 s; the path is taken at the first instant within, 31 s.
    assert!(close(found.path_lifetime_s, 39.5));
    assert!(close(found.pair_partitioned, 1.0 - 40.0 / 100.0));
    assert!(close(Some(found.partitioned_time), 0.6));
}

#[test]
fn a_link_shorter_than_a_step_is_seen() {
    let movement = [Trajectory::fixed(500.0, 249.0), goes(0.3, 0.0, 0.0, (1000.0, 0.0), 100.0)];
    let found = analyse_pairs_of(&movement, 10.0, &[]);
    let half_chord_m = (250.0f64 * 250.0 - 249.0 * 249.0).sqrt();
    assert!(close(found.link_lifetime_s, 2.0 * half_chord_m / 100.0));
}

#[test]
fn a_jump_breaks_links_and_makes_them() {
    let jump = Command::Jump { at: secs(3.5), to: Point { x: 1000.0, y: 0.0 } };
    let jumper = Trajectory::new(Point { x: 0.0, y: 0.0 }, vec![jump]);
    let movement = [Trajectory::fixed(10.0, 0.0), Trajectory::fixed(990.0, 0.0), jumper.clone()];
    let found = analyse_pairs_of(&movement, 10.0, &[(0, 2)]);
    assert!(close(Some(found.link_changes_per_s), 0.2));
    assert!(close(found.link_lifetime_s, 10.0));
    assert!(close(found.path_lifetime_s, 3.5));
    // The same jump in the instant that begins a step.
    let jump = Command::Jump { at: secs(4.0), to: Point { x: 1000.0, y: 0.0 } };
    let movement = [movement[0].clone(), movement[1].clone(), Trajectory { commands: vec![jump], ..jumper }];
    let found = analyse_pairs_of(&movement, 10.0, &[(0, 2)]);
    assert!(close(Some(found.link_changes_per_s), 0.2));
    assert!(close(found.path_lifetime_s, 4.0));
    assert!(close(found.pair_partitioned, 0.6));
}

#[test]
fn a_path_breaks_with_the_first_of_its_links() {
    // Node 1 carries the path from 0 to 2 until it is 250 m from both, 3 s after it leaves.
    let movement = [
        Trajectory::fixed(0.0, 0.0),
        goes(150.0, 0.0, 2.0, (150.0, 1000.0), 100.0),
        Trajectory::fixed(300.0, 0.0),
    ];
    let found = analyse_pairs_of(&movement, 10.0, &[(0, 2)]);
    assert!(close(found.path_lifetime_s, 4.0));
    assert!(close(found.link_lifetime_s, 4.0));
    assert!(close(found.pair_hops_mean, 2.0));
    let hops = hops_over_time(
        &Query {
            movement: &movement,
            range_m: 250.0,
            rule: None,
            window: (Time::ZERO, secs(10.0)),
            step: Span::from_secs(2.0),
            pairs: &[(0, 2), (1, 2)],
        },
        &mut || true,
    );
    let (two, one) =
        (vec![Some(2), Some(2), Some(2), None, None], vec![Some(1), Some(1), Some(1), None, None]);
    // In the instant of 4 s both links are exactly 250 m long, which is in range.
    assert_eq!(hops, Some(vec![two, one]));
}

#[test]
fn followed_links_are_those_that_positions_show() {
    for boundary in [Boundary::Classic, Boundary::Wrap] {
        let params = WaypointParams {
            nodes: 15,
            width_m: 1000.0,
            height_m: 1000.0,
            speed_min: 10.0,
            speed_max: 40.0,
            boundary,
            start: Start::Uniform,
            ..WaypointParams::default()
        };
        let until = Span::from_secs(60.0);
        let movement = waypoint::generate(&params, until, &Streams::new(3, 0)).expect("a movement");
        let mut links = Links::new(&movement, Near::within(250.0), Time::ZERO);
        let (mut up_s, mut changes, mut before) = (0.0, 0, links.graph().links());
        let fine = Span::from_millis(5);
        let paths: Vec<Path> = movement.iter().map(Path::new).collect();
        // Plainly: every pair looked at every 5 ms.
        let mut state = vec![None; 15 * 15];
        let mut now = Time::ZERO;
        while now < Time::ZERO + until {
            for a in 0..15 {
                for b in a + 1..15 {
                    let near = paths[a].position(now).distance(paths[b].position(now)) <= 250.0;
                    up_s += if near { fine.as_secs() } else { 0.0 };
                    changes += u64::from(state[a * 15 + b].replace(near).is_some_and(|was| was != near));
                }
            }
            now += fine;
        }
        for second in 1..=60 {
            let broken = links.advance(secs(f64::from(second))).len();
            let graph = links.graph();
            assert!(before <= graph.links() + broken);
            before = graph.links();
        }
        let totals = links.totals();
        // Two changes within 5 ms escape the plain way.
        assert!((totals.made + totals.broken).abs_diff(changes) <= 2, "{boundary:?}");
        assert!((totals.up_s / up_s - 1.0).abs() < 1e-3, "{boundary:?}");
    }
}

#[test]
fn it_stops_when_it_is_told_to() {
    let movement = [Trajectory::fixed(0.0, 0.0)];
    let window = (Time::ZERO, secs(10.0));
    let query = Query {
        movement: &movement,
        range_m: 1.0,
        rule: None,
        window,
        step: Span::from_secs(1.0),
        pairs: &[],
    };
    assert_eq!(analyse(&query, &mut || false), None);
    assert_eq!(hops_over_time(&query, &mut || false), None);
    assert_eq!(hop_times(&query, &mut || false), None);
}

/// The hops of each pair's shortest path from 0 to `until_s`, links over 250 m.
fn hop_times_of(movement: &[Trajectory], until_s: f64, pairs: &[(u32, u32)]) -> Vec<HopTimes> {
    let query = Query {
        movement,
        range_m: 250.0,
        rule: None,
        window: (Time::ZERO, secs(until_s)),
        step: Span::from_secs(1.0),
        pairs,
    };
    hop_times(&query, &mut || true).expect("nobody stops it")
}

#[test]
fn a_path_has_its_hops_from_the_instant_of_one_link_to_that_of_another() {
    // Node 2 walks at 100 m/s along a chain of four and away from it. It is 250 m from node 0 after 1 s, from
    // node 1 after 3 s, from node 3 after 5 s, and from node 4 after 6.5 s, in the middle of a step.
    let movement = [
        Trajectory::fixed(0.0, 0.0),
        Trajectory::fixed(200.0, 0.0),
        goes(150.0, 0.0, 0.0, (5000.0, 0.0), 100.0),
        Trajectory::fixed(400.0, 0.0),
        Trajectory::fixed(550.0, 0.0),
    ];
    let found = hop_times_of(&movement, 10.0, &[(0, 2), (2, 0), (0, 4)]);
    let (hops, shares): (Vec<u32>, Vec<f64>) = found[0].shares().unzip();
    assert_eq!(hops, [1, 2, 3, 4]);
    assert!(shares.iter().zip([0.1, 0.2, 0.2, 0.15]).all(|(share, wanted)| close(Some(*share), wanted)));
    let measures = found[0].measures();
    assert_eq!((measures.path_hops_min, measures.path_hops_max), (Some(1), Some(4)));
    assert!(close(Some(measures.path_partitioned), 0.35));
    assert!(close(measures.path_hops_mean, (0.1 + 0.4 + 0.6 + 0.6) / 0.65));
    assert!(close(measures.path_hops_mode_share, 0.2));
    assert_eq!(found[0], found[1]);
    // Whatever node 2 does, nothing is added up for a path that stays: its share is 1 to the last bit.
    assert_eq!(found[2].shares().collect::<Vec<_>>(), [(3, 1.0)]);
}

#[test]
fn of_two_numbers_of_hops_that_lasted_equally_long_the_smaller_is_the_mode() {
    let jump = Command::Jump { at: secs(5.0), to: Point { x: 400.0, y: 0.0 } };
    let jumper = Trajectory::new(Point { x: 200.0, y: 10.0 }, vec![jump]);
    let movement = [Trajectory::fixed(0.0, 0.0), Trajectory::fixed(200.0, 0.0), jumper];
    let measures = hop_times_of(&movement, 10.0, &[(0, 2)])[0].measures();
    assert_eq!(measures.path_hops_mode, Some(1));
    assert_eq!(measures.path_hops_mode_share, Some(0.5));
    assert_eq!(measures.path_hops_mean, Some(1.5));
}

#[test]
fn a_pair_that_never_has_a_path_has_no_hops() {
    let movement = [Trajectory::fixed(0.0, 0.0), Trajectory::fixed(900.0, 0.0)];
    let measures = hop_times_of(&movement, 10.0, &[(0, 1)])[0].measures();
    assert_eq!(measures, PathMeasures { path_partitioned: 1.0, ..PathMeasures::default() });
}

#[test]
fn hop_times_are_those_of_a_search_every_five_milliseconds() {
    for (seed, boundary) in [(1, Boundary::Classic), (2, Boundary::Wrap), (3, Boundary::Bounce)] {
        let params = WaypointParams {
            nodes: 20,
            speed_min: 10.0,
            speed_max: 40.0,
            boundary,
            start: Start::Uniform,
            ..WaypointParams::default()
        };
        let movement =
            waypoint::generate(&params, Span::from_secs(40.0), &Streams::new(seed, 0)).expect("a movement");
        let pairs = [(0, 1), (5, 9), (17, 2)];
        let exact = hop_times_of(&movement, 40.0, &pairs);
        let step = Span::from_millis(5);
        let window = (Time::ZERO, secs(40.0));
        let query = Query { movement: &movement, range_m: 250.0, rule: None, window, step, pairs: &pairs };
        let plain = hops_over_time(&query, &mut || true).expect("nobody stops it");
        for (exact, plain) in exact.iter().zip(&plain) {
            for hops in 1..20 {
                let count = plain.iter().filter(|&&each| each == Some(hops)).count();
                let share = exact.shares().find(|&(each, _)| each == hops).map_or(0.0, |(_, share)| share);
                assert!((share - count as f64 / plain.len() as f64).abs() < 2e-3, "{boundary:?}, {hops}");
            }
        }
    }
}
