//! What is remembered of the way between two nodes, and holds while both have hardly moved.
//!
//! Whether a way crosses a piece of a wall changes only when an end of one touches the other. A piece whose
//! ends are farther from the way than a margin, and the way's ends from it, is therefore crossed for certain,
//! or not at all, as long as neither end of the way has moved by more than the margin. What crosses for
//! certain is summed up once. If it takes more than the signal has to spare, nothing else is asked. Otherwise
//! those pieces that stay in doubt are tried, and those of buildings with a loss inside, through which the
//! way changes with each step.
//!
//! Losses of pieces are whole multiples of a power of two ([`rounded_db`]), so that their sums are exact in
//! whatever order: a remembered way loses, bit by bit, what it would lose if it had just been looked for.
//!
//! There is one place for several pairs of nodes; the pair that was looked at last has it.

use super::{Packed, Walls, Work, crosses, turn};
use crate::mobility::Point;

/// At most so many ways are remembered.
const MOST_WAYS: usize = 1 << 15;
/// At most so many pieces that are to be tried belong to a remembered way.
const MOST_PIECES: usize = 28;
/// The margin as a part of a cell's side: about a piece is in doubt for each cell that the way passes.
const MARGIN_CELLS: f64 = 1.0 / 16.0;
/// However large cells are, in m.
const MOST_MARGIN_M: f64 = 4.0;
/// By so much pieces must be farther away than the margin: more than rounding moves them.
const OUTSIDE: f64 = 1.0 + 1e-3;
/// What crosses for certain is summed up to so much beyond what the signal has to spare, in dB: nodes come
/// closer, and signals become stronger.
const BEYOND_DB: f64 = 3.0;
/// A little more than a signal has to spare, against rounding.
const MORE: f64 = 1.0 + 1e-6;

/// The loss of a piece, in steps of 2⁻⁴⁰ dB: sums below 8192 dB are exact, and above 3300 dB nothing is left.
pub(super) fn rounded_db(db: f64) -> f64 {
    const STEPS_PER_DB: f64 = (1u64 << 40) as f64;
    (db * STEPS_PER_DB).round() / STEPS_PER_DB
}

/// What is remembered of a way.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Way {
    /// Where its ends were.
    places: [Point; 2],
    nodes: [u32; 2],
    /// By how much what crosses for certain weakens a signal, linear.
    certain: f64,
    /// Are the pieces all that may cross beside what counts in `rest_db`?
    is_whole: bool,
    pieces: u8,
    /// What crosses for certain and is none of the pieces.
    rest_db: f64,
    /// The loss that was told last, and the gain that it is.
    told: (f64, f64),
    numbers: [u32; MOST_PIECES],
}

/// All that are remembered. None: nothing is.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways(Vec<Way>);

impl Ways {
    /// Room for the ways among so many nodes.
    pub(super) fn among(nodes: usize) -> Ways {
        let pairs = nodes * nodes.saturating_sub(1) / 2;
        let none = Way {
            places: [Point::default(); 2],
            nodes: [u32::MAX; 2],
            certain: 0.0,
            is_whole: false,
            pieces: 0,
            rest_db: 0.0,
            told: (0.0, 1.0),
            numbers: [0; MOST_PIECES],
        };
        Ways(vec![none; pairs.next_power_of_two().min(MOST_WAYS)])
    }

    /// Where the way between these nodes is remembered, the lesser first: by the number of the pair.
    fn place(&self, [lesser, greater]: [u32; 2]) -> usize {
        let greater = u64::from(greater);
        let pair = greater * greater.saturating_sub(1) / 2 + u64::from(lesser);
        pair as usize & (self.0.len() - 1)
    }
}

impl Way {
    /// The square of how far its ends have moved at most, in m².
    fn moved_m2(&self, places: [Point; 2]) -> f64 {
        self.places[0].distance2(places[0]).max(self.places[1].distance2(places[1]))
    }

    fn holds(&self, nodes: [u32; 2], places: [Point; 2], margin_m: f64) -> bool {
        self.nodes == nodes && self.moved_m2(places) <= margin_m * margin_m
    }
}

/// Nothing comes through that is not this many times as strong as it must be, as long as no end moves by more
/// than this many metres.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Barrier {
    pub(in super::super) spare: f64,
    pub(in super::super) moves_m: f64,
}

/// What a piece is to a way, as long as no end of it moves by more than the margin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Crossing {
    Never,
    Always,
    InDoubt,
}

/// The way that is being looked at.
struct Looking {
    ends: [Point; 2],
    length_m: f64,
    /// How far away a piece must be, in m.
    margin_m: f64,
}

impl Looking {
    fn at(&self, piece: &Packed) -> Crossing {
        let [a, b] = self.ends;
        let (of_from, of_to) = (turn(a, b, piece.from), turn(a, b, piece.to));
        // Twice the area of the triangle of the way and a place that is as far away as the margin.
        let apart = self.margin_m * self.length_m;
        if of_from.min(of_to) > apart || of_from.max(of_to) < -apart {
            return Crossing::Never;
        }
        let is_apart =
            |place: Point, line: [Point; 2]| distance2(place, line) > self.margin_m * self.margin_m;
        let other = [piece.from, piece.to];
        if !other.iter().all(|&end| is_apart(end, self.ends))
            || !self.ends.iter().all(|&end| is_apart(end, other))
        {
            Crossing::InDoubt
        } else if crosses(piece.from, piece.to, a, b) {
            Crossing::Always
        } else {
            Crossing::Never
        }
    }
}

/// The squared distance of a place from a straight line between two others, in m².
fn distance2(place: Point, [from, to]: [Point; 2]) -> f64 {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let along = (place.x - from.x) * dx + (place.y - from.y) * dy;
    let length2 = dx * dx + dy * dy;
    // A line without length is a place.
    let share = if along > 0.0 { (along / length2).min(1.0) } else { 0.0 };
    place.distance2(Point { x: from.x + share * dx, y: from.y + share * dy })
}

impl Walls {
    /// How far the ends of a remembered way may move, in m.
    pub(super) fn margin_m(&self) -> f64 {
        (MARGIN_CELLS * self.cells.cell_m).min(MOST_MARGIN_M)
    }

    /// What is left of a signal between two nodes, linear; 0 if a signal that is `spare` times as strong as
    /// it must be is too weak afterwards.
    pub(in super::super) fn gain(
        &self,
        one: (u32, Point),
        other: (u32, Point),
        spare: f64,
        work: &mut Work,
    ) -> f64 {
        work.barrier = None;
        if work.ways.0.is_empty() {
            return gain_of(self.loss_db(one.1, other.1, 10.0 * libm::log10(spare * MORE), work), spare);
        }
        let (one, other) = if one.0 <= other.0 { (one, other) } else { (other, one) };
        let (nodes, places) = ([one.0, other.0], [one.1, other.1]);
        let at = work.ways.place(nodes);
        let way = &work.ways.0[at];
        if !way.holds(nodes, places, self.margin_m()) || (!way.is_whole && way.certain <= spare * MORE) {
            self.look(nodes, places, spare, work);
        }
        let way = &work.ways.0[at];
        if way.certain > spare * MORE {
            let moves_m = self.margin_m() - way.moved_m2(places).sqrt();
            work.barrier = Some(Barrier { spare: way.certain / MORE, moves_m });
            return 0.0;
        }
        if !way.is_whole {
            let most_db = 10.0 * libm::log10(spare * MORE);
            return gain_of(self.loss_db(places[0], places[1], most_db, work), spare);
        }
        let loss_db = self.remembered_db(at, places, work);
        let told = &mut work.ways.0[at].told;
        if told.0.to_bits() != loss_db.to_bits() {
            *told = (loss_db, libm::pow(10.0, -loss_db / 10.0));
        }
        told.1
    }

    /// What a remembered way loses that is whole.
    fn remembered_db(&self, at: usize, [a, b]: [Point; 2], work: &mut Work) -> f64 {
        let way = &work.ways.0[at];
        let (a, b) = in_order(a, b);
        let mut crossed_db = way.rest_db;
        work.crossed.clear();
        for &number in &way.numbers[..way.pieces.into()] {
            let piece = &self.pieces[number as usize];
            if crosses(piece.from, piece.to, a, b) {
                crossed_db += piece.db;
                work.crossed.push(number);
            }
        }
        self.with_insides_db(crossed_db, (a, b), work)
    }

    /// Looks at a way, and remembers it.
    fn look(&self, nodes: [u32; 2], places: [Point; 2], spare: f64, work: &mut Work) {
        let (a, b) = in_order(places[0], places[1]);
        let looking = Looking { ends: [a, b], length_m: a.distance(b), margin_m: OUTSIDE * self.margin_m() };
        let most_db = 10.0 * libm::log10(spare) + BEYOND_DB;
        let Work { crossed, tried, ways, .. } = work;
        crossed.clear();
        tried.clear();
        let (mut certain_db, mut rest_db) = (0.0, 0.0);
        self.cells.visit([a, b], looking.margin_m, |first, last| {
            for piece in &self.packed[self.cells.range(first, last)] {
                let crossing = looking.at(piece);
                // A piece may lie in several of these cells.
                if crossing == Crossing::Never
                    || crossed.contains(&piece.number)
                    || tried.contains(&piece.number)
                {
                    continue;
                }
                let is_certain = crossing == Crossing::Always;
                certain_db += if is_certain { piece.db } else { 0.0 };
                if is_certain && !piece.is_filled {
                    rest_db += piece.db;
                    crossed.push(piece.number);
                } else {
                    tried.push(piece.number);
                }
            }
            certain_db <= most_db
        });
        let is_whole = certain_db <= most_db && tried.len() <= MOST_PIECES;
        let at = ways.place(nodes);
        let way = &mut ways.0[at];
        (way.places, way.nodes, way.is_whole, way.rest_db) = (places, nodes, is_whole, rest_db);
        way.certain = libm::pow(10.0, certain_db / 10.0);
        way.pieces = 0;
        if is_whole {
            tried.sort_unstable();
            way.pieces = tried.len() as u8;
            way.numbers[..tried.len()].copy_from_slice(tried);
        }
    }
}

/// What a loss leaves, linear; 0 if that is too little of a signal `spare` times as strong as it must be.
fn gain_of(loss_db: f64, spare: f64) -> f64 {
    let gain = libm::pow(10.0, -loss_db / 10.0);
    if gain * spare * MORE < 1.0 { 0.0 } else { gain }
}

/// Two places in an order of their own, so that both directions are the same.
pub(super) fn in_order(a: Point, b: Point) -> (Point, Point) {
    if (a.x, a.y) <= (b.x, b.y) { (a, b) } else { (b, a) }
}

#[cfg(test)]
mod tests {
    use super::super::super::WallSpec;
    use super::super::super::keyed::Sequence;
    use super::*;
    use proptest::prelude::*;

    /// Walls, buildings with and without a loss inside, and an opaque one, in 100 m × 100 m; half of the
    /// corners at whole tens of metres.
    fn town(draws: &mut Sequence, walls: usize) -> Vec<WallSpec> {
        let mut place = |at: usize| {
            let [x, y] = [100.0 * draws.unit(), 100.0 * draws.unit()];
            if at.is_multiple_of(2) { [(x / 10.0).round() * 10.0, (y / 10.0).round() * 10.0] } else { [x, y] }
        };
        let mut of = |at: usize| {
            let [x, y] = place(at);
            let db_per_m = if at.is_multiple_of(3) { 0.4 } else { 0.0 };
            if at.is_multiple_of(5) {
                let points = vec![[x, y], [x + 9.0, y], [x + 9.0, y + 7.3], [x, y + 7.3]];
                return WallSpec { points, db: 3.4, db_per_m, is_building: true, opaque: false };
            }
            let points = vec![[x, y], place(at / 2)];
            WallSpec { points, db: 3.4, db_per_m: 0.0, is_building: false, opaque: at % 17 == 16 }
        };
        (0..walls).map(&mut of).collect()
    }

    /// Steps of nothing, of a hair, of what the margin allows, and of more.
    fn step(place: &mut Point, draws: &mut Sequence) {
        let lengths_m = [0.0, 1e-6, 0.05, 0.3, 1.0, 20.0];
        let length_m = lengths_m[(draws.unit() * lengths_m.len() as f64) as usize];
        let angle = (draws.unit() * 8.0).floor() * std::f64::consts::FRAC_PI_4;
        place.x = (place.x + length_m * libm::cos(angle)).clamp(-20.0, 120.0);
        place.y = (place.y + length_m * libm::sin(angle)).clamp(-20.0, 120.0);
        if draws.unit() < 0.05 {
            *place = Point { x: (place.x / 10.0).round() * 10.0, y: (place.y / 10.0).round() * 10.0 };
        }
    }

    proptest! {
        /// Whatever was asked before, and in whichever order.
        #[test]
        fn what_is_remembered_is_what_would_be_found(
            seed in 0u64..1_000_000,
            walls in 1usize..300,
            nodes in 2u32..12,
        ) {
            let mut draws = Sequence::from(seed);
            let Some(walls) = Walls::new(&town(&mut draws, walls)) else { return Ok(()) };
            let mut places: Vec<Point> = (0..nodes)
                .map(|_| Point { x: 100.0 * draws.unit(), y: 100.0 * draws.unit() })
                .collect();
            let mut works = [Work::among(nodes as usize), Work::among(2)];
            for _ in 0..400 {
                let [one, other] = [(); 2].map(|()| (draws.unit() * f64::from(nodes)) as u32);
                step(&mut places[one as usize], &mut draws);
                if one == other {
                    continue;
                }
                let ends = [(one, places[one as usize]), (other, places[other as usize])];
                let spare = libm::pow(10.0, 6.0 * draws.unit());
                let spare = if draws.unit() < 0.1 { f64::INFINITY } else { spare };
                let fresh = walls.gain(ends[0], ends[1], spare, &mut Work::default());
                for work in &mut works {
                    // Not every one of them sees every step.
                    if draws.unit() < 0.7 {
                        let found = walls.gain(ends[1], ends[0], spare, work);
                        let is_too_weak = found * spare < 1.0 && fresh == 0.0;
                        let is_same = found.to_bits() == fresh.to_bits();
                        prop_assert!(is_same || is_too_weak, "{} {}", found, fresh);
                    }
                }
            }
        }
    }

    #[test]
    fn sums_of_losses_are_exact_in_any_order() {
        let losses = [3.4, 6.9, 0.1, 9.0, 299.99, 1e-9, 12.3].map(rounded_db);
        let there: f64 = losses.iter().sum();
        let back: f64 = losses.iter().rev().sum();
        assert!(there.to_bits() == back.to_bits());
        assert!(losses.iter().zip([3.4, 6.9, 0.1]).all(|(found, wanted)| (found - wanted).abs() < 5e-13));
    }

    #[test]
    fn a_way_is_looked_for_again_once_an_end_has_moved_by_more_than_the_margin() {
        let wall = WallSpec {
            points: vec![[0.0, -50.0], [0.0, 50.0]],
            db: 10.0,
            db_per_m: 0.0,
            is_building: false,
            opaque: false,
        };
        let walls = Walls::new(&[wall]).expect("a wall");
        let margin_m = walls.margin_m();
        let mut work = Work::among(2);
        let asked_at = |x: f64, work: &mut Work| {
            let gain = walls.gain((0, Point { x: -30.0, y: 0.0 }), (1, Point { x, y: 0.0 }), 1e6, work);
            (gain, work.ways.0[0].places[1].x)
        };
        assert_eq!(asked_at(30.0, &mut work), (0.1, 30.0));
        assert_eq!(asked_at(30.0 + 0.9 * margin_m, &mut work), (0.1, 30.0));
        assert_eq!(asked_at(30.0 + 1.1 * margin_m, &mut work), (0.1, 30.0 + 1.1 * margin_m));
        // What takes more than there is to spare is told without trying anything.
        let gain =
            walls.gain((0, Point { x: -30.0, y: 0.0 }), (1, Point { x: 30.0, y: 0.0 }), 9.0, &mut work);
        assert!(gain == 0.0);
    }
}
