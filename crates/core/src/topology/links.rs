//! Links as nodes move: exactly when two nodes come into range of each other and leave it; where a rule says
//! who has links, in which of many places.

use smallvec::SmallVec;

use crate::kernel::{Span, Time};
use crate::mobility::{Leg, Path, Point, Trajectory};

use super::graph::{Graph, Link, links_at, near_pairs};
use super::rule::{End, LinkRule, Near, looks};

/// What became of links.
#[derive(Clone, Copy, Default)]
pub(super) struct LinkTotals {
    pub(super) made: u64,
    pub(super) broken: u64,
    /// Seconds that links were up, summed over links.
    pub(super) up_s: f64,
}

/// A link that came up or broke.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Change {
    /// Seconds from the beginning of the step.
    pub(super) at_s: f64,
    pub(super) link: Link,
    pub(super) is_up: bool,
}

/// The links of an instant, and how they got there.
pub(super) struct Links<'a> {
    paths: Vec<Path>,
    near: Near<'a>,
    now: Time,
    /// The leg that each node is on.
    on_leg: Vec<usize>,
    /// The links that are up, in order.
    up: Vec<Link>,
    /// The links that broke in the last step and the seconds from its beginning to their first break, in
    /// order.
    broken: Vec<(Link, f64)>,
    /// Every change of the last step, if they are wanted.
    changes: Option<Vec<Change>>,
    totals: LinkTotals,
}

impl<'a> Links<'a> {
    pub(super) fn new(movement: &[Trajectory], near: Near<'a>, start: Time) -> Links<'a> {
        let paths: Vec<Path> = movement.iter().map(Path::new).collect();
        let mut up = links_at(&paths, start, near);
        up.sort_unstable();
        let on_leg = vec![0; paths.len()];
        let totals = LinkTotals::default();
        Links { paths, near, now: start, on_leg, up, broken: Vec::new(), changes: None, totals }
    }

    /// The same, and every change of a step is kept for [`Links::changes`].
    pub(super) fn with_changes(self) -> Links<'a> {
        Links { changes: Some(Vec::new()), ..self }
    }

    /// The links that are up in this instant, in order.
    pub(super) fn up(&self) -> &[Link] {
        &self.up
    }

    /// The links of this instant; what jumps in it has jumped.
    pub(super) fn links_now(&self) -> Vec<Link> {
        links_at(&self.paths, self.now, self.near)
    }

    /// What changed in the last step, in order of time; nothing if it was not asked for.
    pub(super) fn changes(&self) -> &[Change] {
        self.changes.as_deref().unwrap_or_default()
    }

    /// The graph of this instant; what jumps in it has jumped.
    pub(super) fn graph(&self) -> Graph {
        Graph::near(&self.paths, self.now, self.near)
    }

    pub(super) fn totals(&self) -> LinkTotals {
        self.totals
    }

    /// Goes on to `next` and returns the links that broke meanwhile, with the seconds to their first break.
    pub(super) fn advance(&mut self, next: Time) -> &[(Link, f64)] {
        let now = self.now;
        for (path, leg) in self.paths.iter().zip(&mut self.on_leg) {
            *leg += path.legs()[*leg..].partition_point(|leg| leg.start <= now) - 1;
        }
        self.broken.clear();
        self.changes.iter_mut().for_each(Vec::clear);
        let before = std::mem::take(&mut self.up);
        let movement = self.movement_until(next);
        let candidates = self.candidates(&movement, &before);
        let mut was_up = before.into_iter().peekable();
        for link in candidates {
            let started_up = was_up.next_if_eq(&link).is_some();
            match self.lasts(link, &movement) {
                Some(true) if started_up => {
                    self.totals.up_s += next.since(now).as_secs();
                    self.up.push(link);
                }
                Some(false) if !started_up => {}
                _ => self.follow(link, started_up, next),
            }
        }
        debug_assert!(was_up.peek().is_none(), "every link that is up is a candidate");
        if let Some(changes) = &mut self.changes {
            // Stable, so that a link's changes in one instant stay in order.
            changes.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        }
        self.now = next;
        &self.broken
    }

    /// Where all nodes are now, and how far they go until `next`.
    fn movement_until(&self, next: Time) -> Movement {
        let mut found = Movement::default();
        for (node, path) in self.paths.iter().enumerate() {
            let legs = &path.legs()[self.on_leg[node]..];
            found.places.push(legs[0].position(self.now));
            found.ways_m.push(way(legs, self.now, next));
            // A jump in the instant that ends the last step is seen in this one.
            let jumps = path.jumps();
            if jumps.get(jumps.partition_point(|&at| at < self.now)).is_some_and(|&at| at < next) {
                found.jumpers.push(node as u32);
            }
        }
        found
    }

    /// All pairs, in order, that can be within range at some time of a step, and those that are up.
    fn candidates(&self, movement: &Movement, up: &[Link]) -> Vec<Link> {
        let farthest = movement.ways_m.iter().copied().fold(0.0, f64::max);
        let mut pairs = near_pairs(&movement.places, self.near.reach_m() + 2.0 * farthest + SLACK_M);
        for &jumper in &movement.jumpers {
            pairs.extend(
                (0..self.paths.len() as u32)
                    .filter(|&other| other != jumper)
                    .map(|other| (other.min(jumper), other.max(jumper))),
            );
        }
        pairs.extend_from_slice(up);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Whether a pair is within range all of a step, or in none of it; none if that takes a closer look.
    fn lasts(&self, (a, b): Link, movement: &Movement) -> Option<bool> {
        let ends = [a, b].map(|node| &self.paths[node as usize]);
        let is_plain = |path: &Path| path.heights().is_empty() && path.present().is_empty();
        if self.near.rule.is_some()
            || !ends.into_iter().all(is_plain)
            || [a, b].iter().any(|node| movement.jumpers.binary_search(node).is_ok())
        {
            return None;
        }
        let (a, b) = (a as usize, b as usize);
        let distance_m = movement.places[a].distance2(movement.places[b]).sqrt();
        let way_m = movement.ways_m[a] + movement.ways_m[b] + SLACK_M;
        if distance_m + way_m < self.near.range_m {
            Some(true)
        } else {
            (distance_m - way_m > self.near.range_m).then_some(false)
        }
    }

    /// Follows one pair from now to `next`.
    fn follow(&mut self, link: Link, started_up: bool, next: Time) {
        let mut course = Course {
            link,
            is_up: started_up,
            up_since_s: 0.0,
            made: 0,
            broken: 0,
            up_s: 0.0,
            first_break: None,
            log: self.changes.as_mut(),
        };
        let (rule, range2) = (self.near.rule, self.near.range_m * self.near.range_m);
        let ends = [link.0, link.1].map(|node| &self.paths[node as usize]);
        let legs = [0, 1].map(|side: usize| {
            let node = if side == 0 { link.0 } else { link.1 };
            &ends[side].legs()[self.on_leg[node as usize]..]
        });
        for_straight_pieces(legs, self.now, next, |from, until, on| {
            for (from, until) in even_pieces(ends, from, until) {
                let start_s = from.since(self.now).as_secs();
                if !ends.iter().all(|path| path.is_present(from)) {
                    course.set(false, start_s);
                } else if let Some(rule) = rule {
                    course.look(rule, ends, on, (from, until), start_s);
                } else {
                    let (apart, speed) = apart(ends, on, from, until);
                    course.go_straight(start_s, until.since(from), apart, speed, range2);
                }
            }
        });
        course.end(next.since(self.now).as_secs());
        self.totals.made += course.made;
        self.totals.broken += course.broken;
        self.totals.up_s += course.up_s;
        if let Some(after_s) = course.first_break {
            self.broken.push((link, after_s));
        }
        if course.is_up {
            self.up.push(link);
        }
    }
}

/// Metres by which pairs are looked at too much, so that rounding loses none.
const SLACK_M: f64 = 1e-3;

/// What all nodes do in a step.
#[derive(Default)]
struct Movement {
    /// Where they are at its beginning.
    places: Vec<Point>,
    /// How far they go, in m, without jumps.
    ways_m: Vec<f64>,
    /// Those that jump, in order.
    jumpers: Vec<u32>,
}

/// A pair's link within a step; times are seconds from the step's beginning.
struct Course<'a> {
    link: Link,
    is_up: bool,
    up_since_s: f64,
    made: u64,
    broken: u64,
    up_s: f64,
    first_break: Option<f64>,
    /// Where changes are kept, if they are wanted.
    log: Option<&'a mut Vec<Change>>,
}

impl Course<'_> {
    /// Both nodes go straight on for `span`: at first `apart` metres from each other, at the relative
    /// `speed`.
    fn go_straight(&mut self, start_s: f64, span: Span, apart: [f64; 3], speed: [f64; 3], range2: f64) {
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let distance2 = dot(apart, apart);
        // Another state than that in which the last piece ended is a jump, or a crossing at the very end of
        // it.
        self.set(distance2 <= range2, start_s);
        let span_s = span.as_secs();
        let speed2 = dot(speed, speed);
        if speed2 == 0.0 {
            return;
        }
        // |apart + speed·t|² = range² is speed² t² + 2 closing t + (distance² − range²) = 0.
        let closing = dot(apart, speed);
        let discriminant = closing * closing - speed2 * (distance2 - range2);
        if discriminant <= 0.0 {
            return;
        }
        let root = discriminant.sqrt();
        let (enters, leaves) = ((-closing - root) / speed2, (-closing + root) / speed2);
        if !self.is_up && enters > 0.0 && enters < span_s {
            self.set(true, start_s + enters);
        }
        if self.is_up && leaves < span_s {
            // A pair at the very edge of its range may be beyond it by rounding.
            self.set(false, start_s + leaves.max(0.0));
        }
    }

    /// The same under a rule, from place to place.
    fn look(
        &mut self,
        rule: &dyn LinkRule,
        paths: [&Path; 2],
        on: [&Leg; 2],
        (from, until): (Time, Time),
        start_s: f64,
    ) {
        for now in looks(rule, on, from, until) {
            let end = |side: usize| {
                let node = if side == 0 { self.link.0 } else { self.link.1 };
                End { node, place: on[side].position(now), height_m: paths[side].height(now) }
            };
            let holds = rule.holds(now, [end(0), end(1)]);
            self.set(holds, start_s + now.since(from).as_secs());
        }
    }

    fn set(&mut self, up: bool, at_s: f64) {
        if up != self.is_up
            && let Some(log) = &mut self.log
        {
            log.push(Change { at_s, link: self.link, is_up: up });
        }
        match (self.is_up, up) {
            (false, true) => {
                self.made += 1;
                self.up_since_s = at_s;
            }
            (true, false) => {
                self.broken += 1;
                self.up_s += at_s - self.up_since_s;
                self.first_break = self.first_break.or(Some(at_s));
            }
            _ => {}
        }
        self.is_up = up;
    }

    fn end(&mut self, at_s: f64) {
        if self.is_up {
            self.up_s += at_s - self.up_since_s;
        }
    }
}

/// How far the second node is from the first at `from`, in m, and how fast that changes until `until`, in
/// m/s: to the east, to the north, upwards. Both go straight on, these legs on.
fn apart(ends: [&Path; 2], on: [&Leg; 2], from: Time, until: Time) -> ([f64; 3], [f64; 3]) {
    let [a, b] = on;
    let (p, q) = (a.position(from), b.position(from));
    let (mut apart, mut speed) = ([q.x - p.x, q.y - p.y, 0.0], [b.vx - a.vx, b.vy - a.vy, 0.0]);
    if ends.iter().any(|path| !path.heights().is_empty()) {
        let above_m = |now| ends[1].height(now) - ends[0].height(now);
        apart[2] = above_m(from);
        speed[2] = (above_m(until) - apart[2]) / until.since(from).as_secs();
    }
    (apart, speed)
}

/// The pieces of a time in which both nodes rise or fall evenly, if they do, and neither joins or leaves.
fn even_pieces(ends: [&Path; 2], from: Time, until: Time) -> impl Iterator<Item = (Time, Time)> {
    let within = |&time: &Time| from < time && time < until;
    let mut cuts: SmallVec<[Time; 4]> = SmallVec::new();
    cuts.push(from);
    for path in ends.into_iter().filter(|path| !path.heights().is_empty() || !path.present().is_empty()) {
        let heights = path.heights();
        let first = heights.partition_point(|height| height.at <= from);
        cuts.extend(heights[first..].iter().map(|height| height.at).take_while(within));
        cuts.extend(path.presence_changes().filter(within));
    }
    cuts.push(until);
    if cuts.len() > 2 {
        cuts.sort_unstable();
    }
    cuts.dedup();
    (1..cuts.len()).map(move |end| (cuts[end - 1], cuts[end]))
}

/// Calls `visit` for every piece of time from `start` to `end` in which both nodes go straight. The first leg
/// of each is the one at `start`.
fn for_straight_pieces(
    legs: [&[Leg]; 2],
    start: Time,
    end: Time,
    mut visit: impl FnMut(Time, Time, [&Leg; 2]),
) {
    let mut at = [0, 0];
    let mut from = start;
    while from < end {
        let ends =
            [0, 1].map(|side: usize| legs[side].get(at[side] + 1).map_or(Time::NEVER, |leg| leg.start));
        let until = ends[0].min(ends[1]).min(end);
        visit(from, until, [&legs[0][at[0]], &legs[1][at[1]]]);
        for side in [0, 1] {
            at[side] += usize::from(ends[side] == until);
        }
        from = until;
    }
}

/// The length of the way of a node from `start` to `end`, in m; jumps have none.
pub(super) fn way_in(movement: &Trajectory, start: Time, end: Time) -> f64 {
    let path = Path::new(movement);
    let first = path.legs().partition_point(|leg| leg.start <= start) - 1;
    way(&path.legs()[first..], start, end)
}

/// The length of the way from `now` to `next` along legs of which the first is the one at `now`, in m; jumps
/// have none.
fn way(legs: &[Leg], now: Time, next: Time) -> f64 {
    let mut sum = 0.0;
    for (place, leg) in legs.iter().enumerate() {
        if leg.start >= next {
            break;
        }
        let ends = legs.get(place + 1).map_or(next, |after| after.start.min(next));
        sum += (leg.vx * leg.vx + leg.vy * leg.vy).sqrt() * ends.since(leg.start.max(now)).as_secs();
    }
    sum
}
