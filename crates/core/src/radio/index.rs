//! The spatial index: which nodes a transmission reaches.
//!
//! Time is cut into epochs so short that no node moves farther than [`SLACK_M`] in one. At an epoch's start
//! all nodes are sorted into square cells of the field; a node's candidates (all within carrier-sense range
//! plus the way that both may go) are collected when it first transmits in the epoch. A transmission then
//! costs its candidates only: a position, a squared distance, a delay and a power each. A jump (the
//! wrap-around at the edge of the field) ends the epoch, and so does a node that joins or leaves: who is
//! absent is nobody's candidate. Heights are looked up where they differ, and cost nothing elsewhere.
//!
//! A node's candidates stand together with the legs that they are on, one component of all legs after the
//! other: what is read is contiguous, and the compiler computes several nodes at a time. This changes no bit:
//! each node gets the same additions and multiplications in the same order as in [`Leg::position`]. In
//! networks of more than [`LEGS_BESIDE_CANDIDATES`] nodes so many copies of each leg would fill the caches;
//! there each node's leg stands once, in one line of the cache, and is looked up. Where nobody moves, what a
//! node's candidates get of its transmissions is computed once.
//!
//! Where more than the distance decides about a power, candidates are all whom a signal can reach with the
//! greatest gain that there is, and each gets the distance from which the signal seems to come
//! ([`Environment`]).
//!
//! *Deviations*: 1, 3 and 4 in docs/models/radio.md.

use std::sync::Arc;

use super::environment::{Limits, Work};
use super::{Environment, Fate, Propagation};
use crate::kernel::{Span, Time};
use crate::mobility::{Leg, Path, Point, heights_differ};

/// How far a node may move in one epoch. Larger epochs mean more candidates, smaller ones more sorting.
const SLACK_M: f64 = 20.0;

/// At most so long nobody is looked at again who hears nothing, in s.
const MOST_SILENT_S: f64 = 1000.0;

/// The greatest network whose candidates' legs stand beside them: about 2 kB for each node, so 0.5 MB in all,
/// which a core's cache holds.
const LEGS_BESIDE_CANDIDATES: usize = 256;

/// What one node gets of a transmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// The receiving node.
    pub node: u32,
    /// Propagation delay.
    pub delay_ns: u32,
    /// Squared distance in m², from which the received power follows: the true one, or that from which the
    /// signal seems to come.
    pub distance_m2: f64,
    /// Is it strong enough to be decoded?
    pub receivable: bool,
    /// What noise makes of it, if that is known.
    pub fate: Option<Fate>,
}

/// The leg that a node is on. It fills one line of the cache.
#[repr(align(64))]
struct CurrentLeg {
    leg: Leg,
    end: Time,
    /// The index of the leg that follows.
    next: usize,
}

impl CurrentLeg {
    fn first(path: &Path) -> CurrentLeg {
        CurrentLeg { leg: path.legs()[0], end: leg_start(path, 1), next: 1 }
    }

    #[inline]
    fn advance(&mut self, path: &Path, now: Time) -> &CurrentLeg {
        while now >= self.end {
            self.leg = path.legs()[self.next];
            self.next += 1;
            self.end = leg_start(path, self.next);
        }
        self
    }

    #[inline]
    fn position(&mut self, path: &Path, now: Time) -> Point {
        self.advance(path, now).leg.position(now)
    }
}

fn leg_start(path: &Path, index: usize) -> Time {
    path.legs().get(index).map_or(Time::NEVER, |leg| leg.start)
}

/// The nodes that a node can reach in the present epoch, and the legs that they are on.
#[derive(Clone, Default)]
struct Candidates {
    epoch: u32,
    /// Until when each of them is on the leg that stands here.
    legs_until: Time,
    nodes: Vec<u32>,
    /// Until when each hears nothing of the node for certain, because of walls; empty without an environment.
    silent_until: Vec<Time>,
    legs: Legs,
    /// What they get of every transmission, if nobody moves.
    always: Option<Reached>,
}

/// Legs, one component after the other.
#[derive(Clone, Default)]
struct Legs {
    /// When they begin, in nanoseconds: whole numbers, which differ exactly.
    start_ns: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    vx: Vec<f64>,
    vy: Vec<f64>,
}

impl Legs {
    /// Holds these legs and no others. Lengths are set before anything is written, not with each leg.
    fn hold<'l>(&mut self, legs: impl ExactSizeIterator<Item = &'l Leg>) {
        let Legs { start_ns, x, y, vx, vy } = self;
        for component in [&mut *start_ns, &mut *x, &mut *y, &mut *vx, &mut *vy] {
            component.resize(legs.len(), 0.0);
        }
        let from = x.iter_mut().zip(y);
        let speed = vx.iter_mut().zip(vy);
        for (leg, (start_ns, ((x, y), (vx, vy)))) in legs.zip(start_ns.iter_mut().zip(from.zip(speed))) {
            *start_ns = leg.start.0 as f64;
            (*x, *y) = (leg.from.x, leg.from.y);
            (*vx, *vy) = (leg.vx, leg.vy);
        }
    }

    /// Where the nodes on them are at `now`.
    fn places(&self, now: Time) -> impl Iterator<Item = Point> {
        let now_ns = now.0 as f64;
        let from = self.x.iter().zip(&self.y).map(|(&x, &y)| Point { x, y });
        let legs = self.start_ns.iter().zip(from).zip(&self.vx).zip(&self.vy);
        legs.map(move |(((start_ns, from), vx), vy)| {
            let seconds = (now_ns - start_ns) * 1e-9;
            Point { x: from.x + vx * seconds, y: from.y + vy * seconds }
        })
    }
}

/// What the candidates get of a transmission: one entry each in every vector.
#[derive(Clone, Default)]
struct Reached {
    distances_m2: Vec<f64>,
    delays_ns: Vec<u32>,
}

impl Reached {
    fn set_delays(&mut self) {
        self.delays_ns.clear();
        self.delays_ns
            .extend(self.distances_m2.iter().map(|&distance_m2| Propagation::delay_ns(distance_m2)));
    }
}

/// See the module's head. Times given to its methods never go back.
pub struct Index {
    propagation: Propagation,
    /// None where the distance alone decides about a power.
    environment: Option<Box<Environment>>,
    limits: Limits,
    /// How far signals may come from.
    search_m: f64,
    paths: Arc<[Path]>,
    current: Vec<CurrentLeg>,
    /// The greatest speed of a node, in m/s.
    top_speed: f64,
    epoch_length: Span,
    epoch_end: Time,
    epoch: u32,
    /// Jumps, joins and leaves of all nodes, in order of time, those already passed counted by `next_jump`.
    jumps: Vec<Time>,
    next_jump: usize,
    cells: Cells,
    /// Per node.
    candidates: Vec<Candidates>,
    /// Does each node's list of candidates hold their legs too? Changes no result.
    legs_beside_candidates: bool,
    /// Does no node ever move, join or leave?
    still: bool,
    /// Who is absent in this epoch, by node; empty if nobody ever is.
    absent: Vec<bool>,
    /// Who has been removed for good, by node; empty if nobody has.
    removed: Vec<bool>,
    /// Do heights differ?
    has_heights: bool,
    /// Of the last transmission; here so that its memory is used again.
    reached: Reached,
    /// Where its candidates are, in an environment; its memory, too, is used again.
    places: Vec<Point>,
    /// The same.
    work: Work,
}

impl Index {
    /// An index over nodes on these paths, for a run that ends at `end`.
    pub fn new(propagation: Propagation, paths: Arc<[Path]>, end: Time) -> Index {
        let top_speed = paths.iter().map(|path| path.top_speed(end)).fold(0.0, f64::max);
        let mut jumps: Vec<Time> = paths.iter().flat_map(|path| path.jumps().iter().copied()).collect();
        jumps.extend(paths.iter().flat_map(Path::presence_changes));
        jumps.sort_unstable();
        let has_heights = heights_differ(paths.iter().map(Path::heights));
        let still = top_speed == 0.0 && !has_heights && jumps.first().is_none_or(|&jump| jump >= end);
        let comes_and_goes = paths.iter().any(|path| !path.present().is_empty());
        let absent = if comes_and_goes { vec![false; paths.len()] } else { Vec::new() };
        let epoch_length =
            if top_speed > 0.0 { Span::from_secs(SLACK_M / top_speed).max(Span(1)) } else { Span(u64::MAX) };
        let candidates = vec![Candidates::default(); paths.len()];
        let legs_beside_candidates = paths.len() <= LEGS_BESIDE_CANDIDATES;
        Index {
            propagation,
            environment: None,
            limits: Limits::NONE,
            search_m: propagation.sense_range_m(),
            current: paths.iter().map(CurrentLeg::first).collect(),
            paths,
            top_speed,
            epoch_length,
            epoch_end: Time::ZERO,
            epoch: 0,
            jumps,
            next_jump: 0,
            cells: Cells::default(),
            candidates,
            legs_beside_candidates,
            still,
            absent,
            removed: Vec::new(),
            has_heights,
            reached: Reached::default(),
            places: Vec::new(),
            work: Work::default(),
        }
    }

    /// The same in an environment.
    pub fn within(mut self, environment: Option<Environment>) -> Index {
        if let Some(environment) = &environment {
            self.search_m = environment.search_m2(self.propagation.sense_m2).sqrt();
            self.work = environment.work(self.paths.len());
            self.limits = environment.limits(self.propagation.sense_m2);
        }
        Index { environment: environment.map(Box::new), ..self }
    }

    /// The time after which a transmission has reached all who may sense it.
    pub fn longest_delay(&self) -> Span {
        /// Delays are below a light-second; gains may ask for more.
        const MOST_NS: f64 = 1e9;
        Span(Propagation::travel_ns(self.search_m * self.search_m).min(MOST_NS) as u64)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.paths.len()
    }

    /// The received power (W) over the squared distance from which a frame seems to come, in m².
    pub fn power_w(&self, distance_m2: f64) -> f64 {
        self.propagation.power_w(distance_m2)
    }

    /// The node is absent from now on.
    pub fn remove(&mut self, node: u32) {
        if self.removed.get(node as usize) == Some(&true) {
            return;
        }
        self.absent.resize(self.paths.len(), false);
        self.removed.resize(self.paths.len(), false);
        self.removed[node as usize] = true;
        // All candidates are looked for again.
        self.epoch_end = Time::ZERO;
        self.candidates.iter_mut().for_each(|candidates| candidates.always = None);
    }

    /// The node's position.
    pub fn position(&mut self, node: u32, now: Time) -> Point {
        self.current[node as usize].position(&self.paths[node as usize], now)
    }

    /// Computes what every other node gets of a transmission of `from` that begins now.
    #[inline(always)]
    pub fn compute(&mut self, from: u32, now: Time) {
        if now >= self.epoch_end {
            self.begin_epoch(now);
        }
        if self.candidates[from as usize].epoch != self.epoch {
            self.collect(from);
        }
        if self.candidates[from as usize].always.is_some() {
            return;
        }
        if self.environment.is_some() {
            return self.measure_within(from, now);
        }
        if self.legs_beside_candidates {
            self.measure_beside(from, now);
        } else {
            self.measure_apart(from, now);
        }
        if self.has_heights {
            self.add_heights(from, now);
        }
        self.reached.set_delays();
        if self.still {
            self.candidates[from as usize].always = Some(self.reached.clone());
        }
    }

    /// What the node's candidates get of its transmission that was computed last.
    #[inline(always)]
    fn reached(&self, from: u32) -> &Reached {
        self.candidates[from as usize].always.as_ref().unwrap_or(&self.reached)
    }

    /// Finds the distances of the candidates, whose legs stand beside them.
    fn measure_beside(&mut self, from: u32, now: Time) {
        if now >= self.candidates[from as usize].legs_until {
            self.follow(from, now);
        }
        let here = self.position(from, now);
        let places = self.candidates[from as usize].legs.places(now);
        self.reached.distances_m2.clear();
        self.reached.distances_m2.extend(places.map(|place| here.distance2(place)));
    }

    /// Finds the distances of the candidates, each of whose legs is looked up.
    fn measure_apart(&mut self, from: u32, now: Time) {
        let here = self.position(from, now);
        let (current, paths) = (&mut self.current, &self.paths);
        let nodes = self.candidates[from as usize].nodes.iter().map(|&node| node as usize);
        self.reached.distances_m2.clear();
        self.reached
            .distances_m2
            .extend(nodes.map(|node| here.distance2(current[node].position(&paths[node], now))));
    }

    /// Finds delays and the distances from which the candidates seem to be reached.
    #[inline(never)]
    fn measure_within(&mut self, from: u32, now: Time) {
        self.find_places(from, now);
        let here = self.position(from, now);
        self.reached.distances_m2.clear();
        self.reached.distances_m2.extend(self.places.iter().map(|&place| here.distance2(place)));
        if self.has_heights {
            self.add_heights(from, now);
        }
        self.reached.set_delays();
        let Some(environment) = &self.environment else { return };
        let (work, limit_m2) = (std::mem::take(&mut self.work), self.search_m * self.search_m);
        let mut origin = environment.origin_with(work, from, here, now);
        origin.limits = self.limits;
        let Candidates { nodes, silent_until, .. } = &mut self.candidates[from as usize];
        let distances_m2 = &mut self.reached.distances_m2;
        for (distance_m2, &silent_until) in distances_m2.iter_mut().zip(silent_until.iter()) {
            if (*distance_m2 > limit_m2) | (now < silent_until) {
                *distance_m2 = f64::INFINITY;
            }
        }
        environment.seem_m2(&mut origin, nodes, &self.places, distances_m2);
        if environment.has_walls() {
            let ends = nodes.iter().zip(&self.places).zip(silent_until);
            for (((&node, &place), silent_until), distance_m2) in ends.zip(distances_m2) {
                if *distance_m2 == f64::INFINITY {
                    continue;
                }
                *distance_m2 = environment.behind_walls_m2(&mut origin, (node, place), *distance_m2);
                if *distance_m2 == f64::INFINITY && !self.has_heights {
                    let silent_m = environment.silent_m(&mut origin, here.distance2(place));
                    if silent_m > 0.0 {
                        let silent_s = (silent_m / self.top_speed).min(MOST_SILENT_S);
                        *silent_until = now + Span::from_secs(silent_s);
                    }
                }
            }
        }
        self.work = origin.work;
        if self.still && environment.stands_still() {
            self.candidates[from as usize].always = Some(self.reached.clone());
        }
    }

    /// Finds where the candidates are.
    fn find_places(&mut self, from: u32, now: Time) {
        self.places.clear();
        if self.legs_beside_candidates {
            if now >= self.candidates[from as usize].legs_until {
                self.follow(from, now);
            }
            self.places.extend(self.candidates[from as usize].legs.places(now));
        } else {
            let (current, paths) = (&mut self.current, &self.paths);
            let nodes = self.candidates[from as usize].nodes.iter().map(|&node| node as usize);
            self.places.extend(nodes.map(|node| current[node].position(&paths[node], now)));
        }
    }

    /// Adds the differences of heights to the distances of the candidates.
    fn add_heights(&mut self, from: u32, now: Time) {
        let z_m = self.paths[from as usize].height(now);
        let nodes = &self.candidates[from as usize].nodes;
        for (&node, distance_m2) in nodes.iter().zip(&mut self.reached.distances_m2) {
            let above_m = self.paths[node as usize].height(now) - z_m;
            *distance_m2 += above_m * above_m;
        }
    }

    /// What each node within carrier-sense range gets of the transmission of `from` that was computed last,
    /// if such a frame can be received up to the squared distance `receive_m2`. Their order is fixed but
    /// means nothing.
    #[inline(always)]
    pub fn arrivals(&self, from: u32, receive_m2: f64) -> impl Iterator<Item = Arrival> {
        let Reached { distances_m2, delays_ns } = self.reached(from);
        let sense_m2 = self.propagation.sense_m2;
        let candidates = self.candidates[from as usize].nodes.iter().zip(distances_m2).zip(delays_ns);
        candidates.filter(move |&((_, &distance_m2), _)| distance_m2 <= sense_m2).map(
            move |((&node, &distance_m2), &delay_ns)| Arrival {
                node,
                delay_ns,
                distance_m2,
                receivable: distance_m2 <= receive_m2,
                fate: None,
            },
        )
    }

    /// At most so many nodes does a transmission of `from` reach at present.
    pub fn candidates(&self, from: u32) -> usize {
        self.candidates[from as usize].nodes.len()
    }

    /// How many of these arrivals there are.
    pub fn sensed(&self, from: u32) -> u64 {
        let limit_m2 = self.propagation.sense_m2;
        self.reached(from).distances_m2.iter().map(|&distance_m2| u64::from(distance_m2 <= limit_m2)).sum()
    }

    fn begin_epoch(&mut self, now: Time) {
        self.epoch += 1;
        while self.next_jump < self.jumps.len() && self.jumps[self.next_jump] <= now {
            self.next_jump += 1;
        }
        self.epoch_end = now + self.epoch_length;
        if let Some(&jump) = self.jumps.get(self.next_jump) {
            self.epoch_end = self.epoch_end.min(jump);
        }
        let cell_m = self.search_m + 2.0 * SLACK_M;
        let positions =
            self.current.iter_mut().zip(self.paths.iter()).map(|(current, path)| current.position(path, now));
        self.cells.fill(positions, cell_m);
        for (absent, path) in self.absent.iter_mut().zip(self.paths.iter()) {
            *absent = !path.is_present(now);
        }
        for (absent, &removed) in self.absent.iter_mut().zip(&self.removed) {
            *absent |= removed;
        }
    }

    fn collect(&mut self, from: u32) {
        // Since the epoch began both ends may each have moved by the slack, and may move on by it.
        let reach_m = self.search_m + 2.0 * SLACK_M;
        let here = self.cells.positions[from as usize];
        let candidates = &mut self.candidates[from as usize];
        candidates.epoch = self.epoch;
        candidates.legs_until = Time::ZERO;
        candidates.nodes.clear();
        let absent = &self.absent;
        let is_absent = |node: u32| absent.get(node as usize).is_some_and(|&absent| absent);
        if is_absent(from) {
            return;
        }
        self.cells.near(here, |node, place| {
            if node != from && !is_absent(node) && here.distance2(place) <= reach_m * reach_m {
                candidates.nodes.push(node);
            }
        });
        if self.environment.is_some() {
            candidates.silent_until.clear();
            candidates.silent_until.resize(candidates.nodes.len(), Time::ZERO);
        }
    }

    /// Looks up the legs that a node's candidates are on.
    fn follow(&mut self, from: u32, now: Time) {
        let candidates = &mut self.candidates[from as usize];
        let (current, paths) = (&mut self.current, &self.paths);
        candidates.legs_until = Time::NEVER;
        for &node in &candidates.nodes {
            let end = current[node as usize].advance(&paths[node as usize], now).end;
            candidates.legs_until = candidates.legs_until.min(end);
        }
        candidates.legs.hold(candidates.nodes.iter().map(|&node| &current[node as usize].leg));
    }
}

/// Nodes sorted into square cells: per cell a range of `order`.
#[derive(Default)]
struct Cells {
    cell_m: f64,
    origin: Point,
    columns: usize,
    rows: usize,
    starts: Vec<u32>,
    order: Vec<u32>,
    positions: Vec<Point>,
}

impl Cells {
    fn fill(&mut self, positions: impl Iterator<Item = Point>, cell_m: f64) {
        self.positions.clear();
        self.positions.extend(positions);
        let corner = |pick: fn(f64, f64) -> f64, start: f64| {
            self.positions.iter().fold(Point { x: start, y: start }, |corner, place| Point {
                x: pick(corner.x, place.x),
                y: pick(corner.y, place.y),
            })
        };
        let (low, high) = (corner(f64::min, f64::INFINITY), corner(f64::max, f64::NEG_INFINITY));
        self.origin = low;
        // A few nodes far apart must not make more cells than there are nodes to sort.
        let most_per_side = (self.positions.len() as f64).sqrt().ceil().max(1.0);
        let side = |length: f64| ((length / cell_m).floor() + 1.0).min(most_per_side);
        self.cell_m = cell_m
            .max((high.x - low.x) / most_per_side * (1.0 + 1e-9))
            .max((high.y - low.y) / most_per_side * (1.0 + 1e-9));
        self.columns = side(high.x - low.x) as usize;
        self.rows = side(high.y - low.y) as usize;
        self.starts.clear();
        self.starts.resize(self.columns * self.rows + 1, 0);
        for place in &self.positions {
            let cell = self.cell_of(*place);
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        self.order.clear();
        self.order.resize(self.positions.len(), 0);
        let mut next = self.starts.clone();
        for (node, place) in self.positions.iter().enumerate() {
            let cell = self.cell_of(*place);
            self.order[next[cell] as usize] = node as u32;
            next[cell] += 1;
        }
    }

    fn column_row(&self, place: Point) -> (usize, usize) {
        let column = ((place.x - self.origin.x) / self.cell_m) as usize;
        let row = ((place.y - self.origin.y) / self.cell_m) as usize;
        (column.min(self.columns - 1), row.min(self.rows - 1))
    }

    fn cell_of(&self, place: Point) -> usize {
        let (column, row) = self.column_row(place);
        row * self.columns + column
    }

    /// Visits all nodes in the cell of `place` and the eight around it.
    fn near(&self, place: Point, mut visit: impl FnMut(u32, Point)) {
        let (column, row) = self.column_row(place);
        for r in row.saturating_sub(1)..=(row + 1).min(self.rows - 1) {
            for c in column.saturating_sub(1)..=(column + 1).min(self.columns - 1) {
                let cell = r * self.columns + c;
                for &node in &self.order[self.starts[cell] as usize..self.starts[cell + 1] as usize] {
                    visit(node, self.positions[node as usize]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FadingKind, PathLossKind, RadioParams, Surroundings, WallSpec};
    use super::*;
    use crate::kernel::Streams;
    use crate::mobility::{Command, Trajectory};
    use proptest::prelude::*;

    fn everybody(paths: &[Path], propagation: &Propagation, from: u32, now: Time) -> Vec<u32> {
        let here = paths[from as usize].position(now);
        (0..paths.len() as u32)
            .filter(|&node| node != from)
            .filter(|&node| propagation.senses(here.distance2(paths[node as usize].position(now))))
            .collect()
    }

    /// Those whom a transmission seems to reach from within carrier-sense range, found without an index.
    fn everybody_within(
        paths: &[Path],
        (propagation, environment): (&Propagation, &Environment),
        from: u32,
        now: Time,
    ) -> Vec<u32> {
        let here = paths[from as usize].position(now);
        let mut origin = environment.origin(from, here, now);
        let mut seems_m2 = |node: u32| {
            let there = paths[node as usize].position(now);
            environment.as_if_from_m2(&mut origin, node, there, here.distance2(there))
        };
        let others = (0..paths.len() as u32).filter(|&node| node != from);
        others.filter(|&node| propagation.senses(seems_m2(node))).collect()
    }

    fn trajectory() -> impl Strategy<Value = Trajectory> {
        let point = || (0.0..3000.0f64, 0.0..2000.0f64).prop_map(|(x, y)| Point { x, y });
        let command = (0u64..60_000, point(), 0.0..40.0f64, any::<bool>());
        (point(), prop::collection::vec(command, 0..6)).prop_map(|(start, list)| {
            let mut commands: Vec<Command> = list
                .into_iter()
                .map(|(ms, to, speed, jump)| {
                    let at = Time(ms * 1_000_000);
                    if jump { Command::Jump { at, to } } else { Command::GoTo { at, to, speed } }
                })
                .collect();
            commands.sort_by_key(Command::at);
            Trajectory::new(start, commands)
        })
    }

    proptest! {
        #[test]
        fn finds_whom_a_full_search_finds(
            mut trajectories in prop::collection::vec(trajectory(), 2..40),
            mut asks in prop::collection::vec((0u64..60_000, 0u32..40), 1..60),
            large in any::<bool>(),
            still in any::<bool>(),
        ) {
            if still {
                trajectories.iter_mut().for_each(|trajectory| trajectory.commands.clear());
            }
            let mut paths: Vec<Path> = trajectories.iter().map(Path::new).collect();
            if large {
                // Out of everybody's range: they make the network large, and that is all.
                let far = Trajectory::fixed(-50_000.0, -50_000.0);
                paths.resize(LEGS_BESIDE_CANDIDATES + 1, Path::new(&far));
            }
            let propagation = Propagation::new(&RadioParams::default());
            let mut index = Index::new(propagation, paths.clone().into(), Time::from_secs(60.0));
            asks.sort_unstable();
            for (ms, from) in asks {
                let (now, from) = (Time(ms * 1_000_000), from % trajectories.len() as u32);
                index.compute(from, now);
                let mut found: Vec<u32> = index.arrivals(from, 0.0).map(|arrival| arrival.node).collect();
                found.sort_unstable();
                prop_assert_eq!(index.sensed(from), found.len() as u64);
                prop_assert_eq!(found, everybody(&paths, &propagation, from, now));
            }
        }

        #[test]
        fn finds_whom_a_full_search_finds_behind_shadows_and_in_fading(
            trajectories in prop::collection::vec(trajectory(), 2..30),
            mut asks in prop::collection::vec((0u64..60_000, 0u32..40), 1..40),
            shadowing_db in 0.0..8.0f64,
            limit in 0.5..3.0f64,
            fading in 0usize..4,
            exponent in 2.5..4.0f64,
        ) {
            let kinds = [FadingKind::None, FadingKind::Rayleigh, FadingKind::Rice, FadingKind::Nakagami];
            let params = RadioParams {
                path_loss: PathLossKind::LogDistance,
                path_loss_exponent: exponent,
                shadowing_db,
                shadowing_limit: limit,
                fading: kinds[fading],
                fading_limit_db: 3.0,
                ..RadioParams::default()
            };
            let paths: Vec<Path> = trajectories.iter().map(Path::new).collect();
            let propagation = Propagation::new(&params);
            let environment = Environment::new(&params, &Surroundings::default(), &Streams::new(1, 0));
            let mut index = Index::new(propagation, paths.clone().into(), Time::from_secs(60.0))
                .within(environment.clone());
            let environment = environment.expect("log-distance has one");
            asks.sort_unstable();
            for (ms, from) in asks {
                let (now, from) = (Time(ms * 1_000_000), from % trajectories.len() as u32);
                index.compute(from, now);
                let mut found: Vec<u32> = index.arrivals(from, 0.0).map(|arrival| arrival.node).collect();
                found.sort_unstable();
                prop_assert_eq!(found, everybody_within(&paths, (&propagation, &environment), from, now));
            }
        }

        /// Nodes that walk slowly, and transmit often: what was found holds for a while.
        #[test]
        fn finds_whom_a_full_search_finds_behind_walls(
            starts in prop::collection::vec((0.0..600.0f64, 0.0..400.0f64), 2..12),
            speeds in prop::collection::vec(0.0..3.0f64, 12),
            mut asks in prop::collection::vec((0u64..20_000, 0u32..12), 1..300),
            corners in prop::collection::vec((0.0..600.0f64, 0.0..400.0f64, -20.0..20.0f64, -20.0..20.0f64), 1..200),
            has_insides in any::<bool>(),
            jumps in any::<bool>(),
        ) {
            let trajectories = starts.iter().zip(&speeds).enumerate().map(|(at, (&(x, y), &speed))| {
                let go = Command::GoTo { at: Time::ZERO, to: Point { x: 300.0, y: 200.0 }, speed };
                let jump = Command::Jump { at: Time::from_secs(10.0), to: Point { x: y, y: x / 2.0 } };
                let commands = if jumps && at % 2 == 0 { vec![go, jump] } else { vec![go] };
                Trajectory::new(Point { x, y }, commands)
            });
            let paths: Vec<Path> = trajectories.map(|trajectory| Path::new(&trajectory)).collect();
            let walls: Vec<WallSpec> = corners.iter().map(|&(x, y, right, up)| WallSpec {
                points: vec![[x, y], [x + right, y], [x + right, y + up]],
                db: 3.4,
                db_per_m: if has_insides { 0.4 } else { 0.0 },
                is_building: has_insides,
                opaque: false,
            }).collect();
            let params = RadioParams::default();
            let surroundings = Surroundings { nodes: paths.len(), radios: &[], walls: &walls };
            let propagation = Propagation::new(&params);
            let environment = Environment::new(&params, &surroundings, &Streams::new(1, 0));
            let mut index = Index::new(propagation, paths.clone().into(), Time::from_secs(20.0))
                .within(environment.clone());
            let environment = environment.expect("walls");
            asks.sort_unstable();
            for (ms, from) in asks {
                let (now, from) = (Time(ms * 1_000_000), from % paths.len() as u32);
                index.compute(from, now);
                let mut found: Vec<u32> = index.arrivals(from, 0.0).map(|arrival| arrival.node).collect();
                found.sort_unstable();
                prop_assert_eq!(found, everybody_within(&paths, (&propagation, &environment), from, now));
            }
        }
    }
}
