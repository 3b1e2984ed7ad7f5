//! The model's statistics and its geometry.
//!
//! Bounds of the statistical tests are 4 standard errors of independent nodes unless a test says otherwise:
//! a right model fails one comparison in 16 000, and the seeds are fixed.

use proptest::prelude::*;

use super::draw::mean_leg_m;
use super::*;
use crate::kernel::Time;
use crate::mobility::{Command, Path};

const NODES: u32 = 6000;

fn seconds(value: f64) -> Span {
    Span::from_secs(value)
}

fn paths(params: &WaypointParams, duration: Span) -> Vec<Path> {
    let streams = Streams::new(20_040_401, 0);
    generate(params, duration, &streams).expect("valid").iter().map(Path::new).collect()
}

fn square(boundary: Boundary, start: Start, pause_s: f64) -> WaypointParams {
    let nodes = NODES;
    WaypointParams { nodes, boundary, start, pause_s, ..WaypointParams::default() }
}

fn speed_at(path: &Path, now: Time) -> f64 {
    let next = path.legs().partition_point(|leg| leg.start <= now);
    let leg = path.legs()[next - 1];
    Point::default().distance(Point { x: leg.vx, y: leg.vy })
}

fn mean_speed(paths: &[Path], at_s: f64) -> f64 {
    let now = Time::from_secs(at_s);
    paths.iter().map(|path| speed_at(path, now)).sum::<f64>() / paths.len() as f64
}

fn share(paths: &[Path], is_so: impl Fn(&Path) -> bool) -> f64 {
    paths.iter().filter(|path| is_so(path)).count() as f64 / paths.len() as f64
}

/// The share of nodes in the middle quarter of a field of 1000 m × 1000 m.
fn central(paths: &[Path], at_s: f64) -> f64 {
    let now = Time::from_secs(at_s);
    let middle = 250.0..750.0;
    share(paths, |path| {
        let here = path.position(now);
        middle.contains(&here.x) && middle.contains(&here.y)
    })
}

/// Four standard errors of a share `p`.
fn four_errors(p: f64) -> f64 {
    4.0 * (p * (1.0 - p) / f64::from(NODES)).sqrt()
}

/// Chi-square of the nodes over 10 × 10 cells; 99 degrees of freedom, 0.9999 quantile 161.3.
fn chi2(paths: &[Path], params: &WaypointParams, at_s: f64) -> f64 {
    let now = Time::from_secs(at_s);
    let mut cells = [0u32; 100];
    for path in paths {
        let here = path.position(now);
        let column = (here.x / params.width_m * 10.0).clamp(0.0, 9.0) as usize;
        let row = (here.y / params.height_m * 10.0).clamp(0.0, 9.0) as usize;
        cells[row * 10 + column] += 1;
    }
    let expected = paths.len() as f64 / 100.0;
    cells.iter().map(|&n| (f64::from(n) - expected) * (f64::from(n) - expected) / expected).sum()
}

#[test]
fn the_stationary_mean_speed_is_the_harmonic_one_at_all_times() {
    for boundary in [Boundary::Classic, Boundary::Wrap, Boundary::Bounce] {
        let paths = paths(&square(boundary, Start::Stationary, 0.0), seconds(1000.0));
        // With density 1/(v ln(max/min)): E[v] = (max - min)/ln(max/min), E[v²] = (max² - min²)/(2
        // ln(max/min)).
        let log = libm::log(20.0);
        let (mean, square) = (19.0 / log, 399.0 / (2.0 * log));
        let bound = 4.0 * ((square - mean * mean) / f64::from(NODES)).sqrt();
        for at_s in [0.0, 7.0, 60.0, 250.0, 990.0] {
            let found = mean_speed(&paths, at_s);
            assert!((found - mean).abs() < bound, "{boundary:?} at {at_s} s: {found} not {mean} ± {bound}");
        }
    }
}

#[test]
fn the_stationary_share_of_paused_nodes_holds_at_all_times() {
    for boundary in [Boundary::Classic, Boundary::Wrap, Boundary::Bounce] {
        let params = square(boundary, Start::Stationary, 60.0);
        let paths = paths(&params, seconds(1000.0));
        let walking_s = mean_leg_m(&params) * libm::log(20.0) / 19.0;
        let paused = 60.0 / (60.0 + walking_s);
        for at_s in [0.0, 20.0, 90.0, 400.0, 990.0] {
            let found = share(&paths, |path| speed_at(path, Time::from_secs(at_s)) <= 0.0);
            let bound = four_errors(paused);
            assert!(
                (found - paused).abs() < bound,
                "{boundary:?} at {at_s} s: {found} not {paused} ± {bound}"
            );
        }
    }
}

#[test]
fn mean_legs_are_those_of_the_literature() {
    let leg = |boundary, width_m, height_m| {
        mean_leg_m(&WaypointParams { boundary, width_m, height_m, ..WaypointParams::default() })
    };
    // Two points in the unit square; a line (a very narrow field); a corner and a point of the unit square.
    assert!((leg(Boundary::Classic, 1.0, 1.0) - 0.521_405_433).abs() < 1e-9);
    assert!((leg(Boundary::Classic, 1e6, 1.0) / 1e6 - 1.0 / 3.0).abs() < 1e-6);
    assert!((leg(Boundary::Classic, 1.0, 1e6) / 1e6 - 1.0 / 3.0).abs() < 1e-6);
    assert!((leg(Boundary::Wrap, 1.0, 1.0) - 0.765_195_716).abs() < 1e-9);
    assert!((leg(Boundary::Bounce, 2.0, 1.0) - leg(Boundary::Bounce, 1.0, 2.0)).abs() < 1e-12);
}

#[test]
fn the_stationary_density_is_dense_in_the_middle_and_does_not_drift() {
    for pause_s in [0.0, 60.0] {
        let params = square(Boundary::Classic, Start::Stationary, pause_s);
        let paths = paths(&params, seconds(1000.0));
        let first = central(&paths, 0.0);
        // Walking nodes: about (11/16)² = 0.473 by the approximation 36 x (1 - x) y (1 - y) (Bettstetter,
        // Resta & Santi 2003). Paused nodes: a quarter.
        assert!(pause_s > 0.0 || (0.43..0.48).contains(&first), "{first}");
        for at_s in [30.0, 100.0, 400.0, 990.0] {
            let found = central(&paths, at_s);
            // The difference of two samples.
            let bound = four_errors(first) * std::f64::consts::SQRT_2;
            assert!(
                (found - first).abs() < bound,
                "pause {pause_s} s, at {at_s} s: {found} not {first} ± {bound}"
            );
        }
    }
}

#[test]
fn wrapping_and_bouncing_keep_the_density_uniform() {
    let rectangle = WaypointParams { height_m: 300.0, ..square(Boundary::Bounce, Start::Stationary, 0.0) };
    for params in [
        square(Boundary::Wrap, Start::Stationary, 0.0),
        square(Boundary::Wrap, Start::Uniform, 30.0),
        square(Boundary::Bounce, Start::Uniform, 0.0),
        rectangle,
    ] {
        let paths = paths(&params, seconds(600.0));
        for at_s in [0.0, 40.0, 100.0, 590.0] {
            let chi2 = chi2(&paths, &params, at_s);
            assert!(chi2 < 161.3, "{:?} {:?} at {at_s} s: {chi2}", params.boundary, params.start);
        }
    }
    // The same measure sees the middle of the classic model.
    let classic = square(Boundary::Classic, Start::Stationary, 0.0);
    assert!(chi2(&paths(&classic, seconds(1.0)), &classic, 0.0) > 500.0);
}

#[test]
fn a_uniform_start_slows_down_as_yoon_found() {
    let paths = paths(&square(Boundary::Classic, Start::Uniform, 0.0), seconds(2000.0));
    let (early, late) = (mean_speed(&paths, 0.0), mean_speed(&paths, 1990.0));
    // Uniform on (1, 20]: mean 10.5, standard deviation 19/√12. Stationary: 19/ln 20 = 6.34, less spread.
    let bound = 4.0 * 19.0 / 12.0f64.sqrt() / f64::from(NODES).sqrt();
    assert!((early - 10.5).abs() < bound, "{early} not 10.5 ± {bound}");
    assert!((late - 19.0 / libm::log(20.0)).abs() < bound, "{late} not 6.34 ± {bound}");
}

#[test]
fn without_a_least_speed_a_uniform_start_slows_down_for_ever() {
    let params = WaypointParams { speed_min: 0.0, ..square(Boundary::Classic, Start::Uniform, 0.0) };
    let paths = paths(&params, seconds(10_000.0));
    let speeds = [0.0, 300.0, 1000.0, 3000.0, 9990.0].map(|at_s| mean_speed(&paths, at_s));
    assert!(speeds.windows(2).all(|pair| pair[1] < pair[0]), "{speeds:?}");
}

#[test]
fn a_uniform_start_pauses_first() {
    let params = square(Boundary::Classic, Start::Uniform, 30.0);
    for trajectory in generate(&params, seconds(100.0), &Streams::new(1, 0)).expect("valid") {
        assert_eq!(trajectory.commands.first().map(Command::at), Some(Time::from_secs(30.0)));
    }
    let still = generate(&params, seconds(30.0), &Streams::new(1, 0)).expect("valid");
    assert!(still.iter().all(|trajectory| trajectory.commands.is_empty()));
}

#[test]
fn a_wrap_is_a_walk_to_the_edge_a_jump_and_a_walk_on_at_the_same_velocity() {
    let params = square(Boundary::Wrap, Start::Stationary, 0.0);
    let mut jumps = 0;
    for path in paths(&params, seconds(300.0)) {
        for pair in path.legs().windows(2) {
            let [before, after] = pair else { continue };
            if !path.jumps().contains(&after.start) {
                continue;
            }
            jumps += 1;
            let left = before.position(after.start);
            // One coordinate changes sides, by the length of the field, or both in a corner; the other stays.
            for (from, to) in [(left.x, after.from.x), (left.y, after.from.y)] {
                let change = (from - to).abs();
                assert!(change < 1e-6 || (change - 1000.0).abs() < 1e-6, "{left:?} {after:?}");
            }
            // A leg of a few nanometres has no direction to speak of.
            let length = Point::default().distance(Point { x: before.vx, y: before.vy })
                * after.start.since(before.start).as_secs();
            if length > 1e-3 {
                let turn = (before.vx - after.vx).abs() + (before.vy - after.vy).abs();
                assert!(turn < 1e-5, "{before:?} {after:?}");
            }
        }
    }
    assert!(jumps > NODES, "{jumps} jumps are too few for a test");
}

#[test]
fn a_node_walks_the_same_in_any_company() {
    let few = WaypointParams { nodes: 3, ..WaypointParams::default() };
    let many = WaypointParams { nodes: 30, ..WaypointParams::default() };
    let make = |params, seed| generate(params, seconds(100.0), &Streams::new(seed, 0)).expect("valid");
    assert_eq!(make(&few, 1)[..], make(&many, 1)[..3]);
    assert_ne!(make(&few, 1), make(&few, 2));
}

#[test]
fn a_longer_run_begins_as_a_shorter_one() {
    for boundary in [Boundary::Classic, Boundary::Wrap, Boundary::Bounce] {
        let params = WaypointParams { boundary, pause_s: 5.0, ..WaypointParams::default() };
        let make = |duration_s| generate(&params, seconds(duration_s), &Streams::new(1, 0)).expect("valid");
        for (long, short) in make(900.0).iter().zip(make(100.0)) {
            assert_eq!(long.start, short.start);
            assert_eq!(long.commands[..short.commands.len()], short.commands[..]);
            let next = long.commands.get(short.commands.len()).map(Command::at);
            assert!(next >= Some(Time::from_secs(100.0)));
        }
    }
}

#[test]
fn impossible_parameters_are_named() {
    let refused = |params: WaypointParams| {
        generate(&params, seconds(1.0), &Streams::new(1, 0)).expect_err("impossible").to_string()
    };
    let base = WaypointParams::default;
    assert!(refused(WaypointParams { speed_min: 0.0, ..base() }).contains("stationary"));
    assert!(refused(WaypointParams { speed_min: 30.0, ..base() }).contains("speed_max"));
    assert!(refused(WaypointParams { width_m: 0.0, ..base() }).contains("waypoint.width_m"));
    assert!(refused(WaypointParams { height_m: f64::NAN, ..base() }).contains("waypoint.height_m"));
    assert!(refused(WaypointParams { nodes: 0, ..base() }).contains("waypoint.nodes"));
    let oblong = WaypointParams { boundary: Boundary::Wrap, height_m: 300.0, ..base() };
    assert!(refused(oblong).contains("square"));
}

#[test]
fn the_number_of_commands_is_estimated_and_limited() {
    for boundary in [Boundary::Classic, Boundary::Wrap, Boundary::Bounce] {
        for pause_s in [0.0, 60.0] {
            let params = WaypointParams { nodes: 40, ..square(boundary, Start::Stationary, pause_s) };
            let duration = seconds(5000.0);
            let made: usize = generate(&params, duration, &Streams::new(1, 0))
                .expect("these parameters are valid")
                .iter()
                .map(|trajectory| trajectory.commands.len())
                .sum();
            let ratio = params.commands(duration) / made as f64;
            assert!((0.6..2.0).contains(&ratio), "{boundary:?} {pause_s}: {ratio}");
        }
    }
    let crowd = WaypointParams { nodes: 100_000, ..WaypointParams::default() };
    let refused = generate(&crowd, seconds(1e6), &Streams::new(1, 0));
    assert!(matches!(refused, Err(WaypointError::TooLong { commands }) if commands > MAX_COMMANDS));
}

#[test]
fn equal_speeds_are_one_speed() {
    let params =
        WaypointParams { speed_min: 5.0, speed_max: 5.0, pause_s: 10.0, ..WaypointParams::default() };
    for path in paths(&params, seconds(300.0)) {
        for at_s in [0.0, 100.0, 299.0] {
            let speed = speed_at(&path, Time::from_secs(at_s));
            assert!(speed <= 0.0 || (speed - 5.0).abs() < 1e-9, "{speed}");
        }
    }
}

#[test]
fn placements_stand_where_they_should() {
    assert_eq!(chain(3, 200.0), [0.0, 200.0, 400.0].map(|x| Trajectory::fixed(x, 0.0)));
    assert_eq!(
        grid(2, 2, 5.0),
        [(0.0, 0.0), (5.0, 0.0), (0.0, 5.0), (5.0, 5.0)].map(|(x, y)| { Trajectory::fixed(x, y) })
    );
    let placed = uniform_static(1000, 10.0, 20.0, &Streams::new(1, 0));
    assert!(placed.iter().all(|t| (0.0..10.0).contains(&t.start.x) && (0.0..20.0).contains(&t.start.y)));
    // Means of 1000 uniform values: four standard errors are 4 · side / √12 / √1000.
    let mean = placed.iter().map(|t| t.start.x / 10.0 + t.start.y / 20.0).sum::<f64>() / 1000.0;
    assert!((mean - 1.0).abs() < 4.0 * 2.0f64.sqrt() / 12_000.0f64.sqrt(), "{mean}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn nodes_never_leave_the_field_and_commands_are_in_order(
        seed in any::<u64>(), width_m in 1.0f64..3000.0, oblong in 0.05f64..2.0, speed_max in 2.0f64..60.0,
        pause_s in prop_oneof![Just(0.0), 0.0f64..50.0], rule in 0usize..3, uniform in any::<bool>(),
    ) {
        let boundary = [Boundary::Classic, Boundary::Wrap, Boundary::Bounce][rule];
        let height_m = if boundary == Boundary::Wrap { width_m } else { (width_m * oblong).max(1.0) };
        let start = if uniform { Start::Uniform } else { Start::Stationary };
        let params =
            WaypointParams { nodes: 3, width_m, height_m, speed_min: 1.0, speed_max, pause_s, boundary, start };
        let trajectories = generate(&params, seconds(200.0), &Streams::new(seed, 0)).expect("valid");
        // What is walked in a nanosecond, and rounding.
        let (low, slack) = (-1e-6, 1e-6);
        for trajectory in &trajectories {
            let times: Vec<Time> = trajectory.commands.iter().map(Command::at).collect();
            prop_assert!(times.is_sorted() && times.iter().all(|&at| at < Time::from_secs(200.0)));
            let path = Path::new(trajectory);
            // Legs are straight: the node is inside if both ends of each are.
            let ends = path.legs().iter().skip(1).map(|leg| Time(leg.start.0 - 1));
            for now in path.legs().iter().map(|leg| leg.start).chain(ends) {
                let here = path.position(now);
                prop_assert!((low..=width_m + slack).contains(&here.x), "{here:?}");
                prop_assert!((low..=height_m + slack).contains(&here.y), "{here:?}");
            }
        }
    }
}
