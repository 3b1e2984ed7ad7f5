//! Shadowing: what hills, houses and trees between two places take from a signal, or add to it.
//!
//! *Read*: Gudmundson, *Correlation model for shadow fading in mobile radio systems* (1991), for the
//! correlation along a path; Wang, Tameh and Nix, *Joint shadowing process in urban peer-to-peer radio
//! channels* (2008), for both ends.
//!
//! **Implemented.** A field: a function of both places, drawn once a run, normal in dB, the same in both
//! directions and for all frames. It falls out of correlation as either end moves, by about e⁻¹ over the
//! correlation distance. It has two parts of equal variance, of wide and of narrow cells. The plane is cut
//! into square cells; each pair of corners has a random value of its own, and the value between two places is
//! the sum over the four corners around each, with weights whose squares have the sum 1. So the variance is
//! the same everywhere, and nothing jumps where cells meet.
//!
//! **Deviations.** The correlation is 0.96, 0.57, 0.37 and 0.16 over 0.1, 0.5, 1 and 2 correlation distances,
//! where Gudmundson's exponential has 0.90, 0.61, 0.37 and 0.14: the field has no details far smaller than
//! its cells. When both ends move by half a distance each it is 0.44, not 0.37. Values beyond
//! `shadowing_limit` standard deviations are cut off, so that the spatial index knows how far to look.

use super::RadioParams;
use super::keyed::{Key, mix};
use crate::kernel::{Purpose, Streams};
use crate::mobility::Point;

/// Sides of the cells of both parts, in correlation distances.
const CELLS: [f64; 2] = [1.8, 0.4];
/// The cosine and the sine of the angle by which the narrow cells lie across the wide ones.
const ACROSS: (f64, f64) = (0.8, 0.6);
/// Four numbers of 16 bits: the mean of their sum, and one over its standard deviation.
const LANES_MEAN: f64 = 131_070.0;
const PER_LANES_DEVIATION: f64 = 1.732_050_807_568_877_2 / 65_536.0;

/// See the module's head.
#[derive(Clone, Debug)]
pub(super) struct Shadowing {
    key: Key,
    /// Of each of both parts, in dB.
    part_db: f64,
    limit_db: f64,
    per_metre: Both,
    /// Places whose squared distance (m²) is greater are in cells that do not touch.
    near_m2: f64,
}

/// One number of each part. All of them stand so, because a processor computes two at a time.
type Both = [f64; 2];

/// A place as the field sees it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// How often it has come into another cell, by part: with the node a name of the cell.
    entered: [u32; 2],
    /// Of the cell of each part around it; whole numbers.
    column: Both,
    row: Both,
    /// The numbers of the cell's corners, and their weights.
    corners: [[u64; 2]; 4],
    weights: [Both; 4],
}

impl Seen {
    /// No place.
    const NONE: Seen = Seen {
        entered: [0; 2],
        column: [f64::NAN; 2],
        row: [f64::NAN; 2],
        corners: [[0; 2]; 4],
        weights: [[0.0; 2]; 4],
    };

    /// Is the cell of a part the other one, or does it touch it?
    fn is_near(&self, other: &Seen, part: usize) -> bool {
        let columns = (self.column[part] - other.column[part]).abs();
        columns <= 1.0 && (self.row[part] - other.row[part]).abs() <= 1.0
    }
}

/// The end that sends, as the field sees it: worth keeping while it is asked with many others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    node: u32,
    place: Point,
    seen: Seen,
}

/// The values of all pairs of corners of two cells, of each part: those with a corner of the second stand
/// together.
#[derive(Clone, Copy, Debug)]
struct Values {
    /// [`Seen::entered`] of both.
    cells: [[u32; 2]; 2],
    values: [[Both; 4]; 4],
}

impl Values {
    /// Those of no cells.
    const NONE: Values = Values { cells: [[0; 2]; 2], values: [[[0.0; 2]; 4]; 4] };

    /// Those of these cells, which are computed unless they are there.
    #[inline(always)]
    fn of(&mut self, a: &Seen, b: &Seen) -> &[[Both; 4]; 4] {
        // Two comparisons of 64 bits.
        if self.cells[0] != a.entered || self.cells[1] != b.entered {
            self.compute(a, b);
        }
        &self.values
    }

    #[inline(never)]
    fn compute(&mut self, a: &Seen, b: &Seen) {
        let known = std::mem::replace(&mut self.cells, [a.entered, b.entered]);
        for part in 0..2 {
            if known.map(|cell| cell[part]) != [a.entered[part], b.entered[part]] {
                for (values, other) in self.values.iter_mut().zip(&b.corners) {
                    for (value, corner) in values.iter_mut().zip(&a.corners) {
                        value[part] = normal(corner[part].wrapping_add(other[part]));
                    }
                }
            }
        }
    }
}

/// What is remembered among nodes that have numbers: around each its cells, and between each two the values
/// of their cells' corners, which hold until one of them leaves its cell. The field is the same without it.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    seen: Vec<Seen>,
    /// By pair; none at all where there are too many.
    values: Vec<Values>,
}

/// The greatest network in which values are remembered, in 272 bytes for each two nodes.
const MOST_NODES: usize = 256;

impl Remembered {
    /// Room for so many nodes.
    pub(super) fn among(nodes: usize) -> Remembered {
        // One place more for each node, beside itself: no pair need be looked at for that.
        let pairs = if nodes <= MOST_NODES { nodes * (nodes + 1) / 2 } else { 0 };
        Remembered { seen: vec![Seen::NONE; nodes], values: vec![Values::NONE; pairs] }
    }

    /// A node that sends from a place.
    pub(super) fn sender(&mut self, field: &Shadowing, node: u32, place: Point) -> Sender {
        let mut elsewhere = Seen::NONE;
        let seen = self.seen.get_mut(node as usize).unwrap_or(&mut elsewhere);
        field.look(seen, place);
        Sender { node, place, seen: *seen }
    }

    /// [`Remembered::value`] of each of these ends; 0 where there is none.
    #[inline(never)]
    pub(super) fn values(
        &mut self,
        field: &Shadowing,
        from: &Sender,
        ends: impl Iterator<Item = Option<(u32, Point)>>,
        values: &mut Vec<f64>,
    ) {
        values.clear();
        values.extend(ends.map(|end| end.map_or(0.0, |end| self.value(field, from, end))));
    }

    /// The field between a node that was just asked for as a sender here and one at a place, for
    /// [`Shadowing::in_db`].
    #[inline(always)]
    pub(super) fn value(&mut self, field: &Shadowing, from: &Sender, (to, place): (u32, Point)) -> f64 {
        let Some(there) = self.seen.get_mut(to as usize) else {
            return field.value_of_unknown(from, to, place);
        };
        field.look(there, place);
        let (lower, higher) = (from.node.min(to) as usize, from.node.max(to) as usize);
        match self.values.get_mut(higher * (higher + 1) / 2 + lower) {
            Some(known) => field.value(from, (to, place, there), known),
            None => field.value_anew(from, to, place, there),
        }
    }
}

impl Shadowing {
    /// The field of a run; none without shadowing.
    pub(super) fn new(params: &RadioParams, streams: &Streams) -> Option<Shadowing> {
        let wide_m = CELLS[0] * params.shadowing_distance_m;
        (params.shadowing_db > 0.0).then(|| Shadowing {
            key: Key::new(streams, Purpose::Shadowing, 0),
            part_db: params.shadowing_db * 0.5f64.sqrt(),
            limit_db: params.shadowing_db * params.shadowing_limit,
            per_metre: CELLS.map(|cell| 1.0 / (cell * params.shadowing_distance_m)),
            // Twice a cell's diagonal, and a little more, against rounding.
            near_m2: 8.1 * wide_m * wide_m,
        })
    }

    /// The greatest gain that there is, in dB.
    pub(super) fn highest_db(&self) -> f64 {
        self.limit_db
    }

    /// The gain in dB that a value of the field is. Comparisons that a processor makes for two at a time.
    #[inline(always)]
    pub(super) fn in_db(&self, value: f64) -> f64 {
        let gain_db = value * self.part_db;
        let above_db = if gain_db > -self.limit_db { gain_db } else { -self.limit_db };
        if above_db < self.limit_db { above_db } else { self.limit_db }
    }

    /// Sees a place after another one, which may have been in the same cells.
    #[inline(always)]
    fn look(&self, seen: &mut Seen, place: Point) {
        let (x, y) = self.in_cells(place);
        seen.weights = weights(minus(x, seen.column), minus(y, seen.row));
        // Roots of what is negative are not numbers: the place is outside of the cell. On its very edge it is
        // in both cells, which give it the same value.
        let [first, .., last] = seen.weights;
        if (first[0] + last[0] + (first[1] + last[1])).is_nan() {
            self.enter(seen, place);
        }
    }

    /// A place in sides of the cells of each part, across and up.
    #[inline(always)]
    fn in_cells(&self, place: Point) -> (Both, Both) {
        let turned =
            Point { x: ACROSS.0 * place.x - ACROSS.1 * place.y, y: ACROSS.1 * place.x + ACROSS.0 * place.y };
        let [wide, narrow] = self.per_metre;
        ([place.x * wide, turned.x * narrow], [place.y * wide, turned.y * narrow])
    }

    /// Sees a place in another cell, of one part or of both.
    #[inline(never)]
    fn enter(&self, seen: &mut Seen, place: Point) {
        let (x, y) = self.in_cells(place);
        let (column, row) = (x.map(floor), y.map(floor));
        for part in 0..2 {
            if (seen.column[part], seen.row[part]) != (column[part], row[part]) {
                seen.entered[part] = seen.entered[part].wrapping_add(1);
                let (column, row) = (column[part] as i64, row[part] as i64);
                for (corner, (right, up)) in seen.corners.iter_mut().zip([(0, 0), (1, 0), (0, 1), (1, 1)]) {
                    corner[part] = self.key.of((column + right) as u64, (row + up) as u64, part as u64);
                }
            }
        }
        (seen.column, seen.row) = (column, row);
        seen.weights = weights(minus(x, column), minus(y, row));
    }

    /// The field between two places, each with its node. The values are those that were there last.
    #[inline(always)]
    fn value(&self, from: &Sender, (to, place, there): (u32, Point, &Seen), known: &mut Values) -> f64 {
        // In an order of their own, so that both directions add in the same one.
        let (a, b) = if from.node <= to { (&from.seen, there) } else { (there, &from.seen) };
        let parts = between(known.of(a, b), &a.weights, &b.weights);
        let are_far = from.place.distance2(place) > self.near_m2;
        if are_far { parts[0] + parts[1] } else { sum_of_near(parts, a, b) }
    }

    /// The same where no values are remembered.
    #[inline(never)]
    fn value_anew(&self, from: &Sender, to: u32, place: Point, there: &Seen) -> f64 {
        self.value(from, (to, place, there), &mut { Values::NONE })
    }

    /// The same where nothing is.
    #[inline(never)]
    fn value_of_unknown(&self, from: &Sender, to: u32, place: Point) -> f64 {
        let mut there = Seen::NONE;
        self.look(&mut there, place);
        self.value_anew(from, to, place, &there)
    }
}

#[inline(always)]
fn minus(a: Both, b: Both) -> Both {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline(always)]
fn product(a: Both, b: Both) -> Both {
    [a[0] * b[0], a[1] * b[1]]
}

/// The weights of a cell's corners at a place so far to the right of and above the first of them; not numbers
/// where the place is outside.
#[inline(always)]
fn weights(right: Both, up: Both) -> [Both; 4] {
    // Four roots at once, where a processor can.
    let roots = |[wide, narrow]: Both| {
        let [from_wide, from_narrow, to_wide, to_narrow] =
            [1.0 - wide, 1.0 - narrow, wide, narrow].map(f64::sqrt);
        ([from_wide, from_narrow], [to_wide, to_narrow])
    };
    let ((left, right), (down, up)) = (roots(right), roots(up));
    [product(left, down), product(right, down), product(left, up), product(right, up)]
}

/// The whole number below, of one that is below 2⁵¹ either way.
#[inline(always)]
fn floor(x: f64) -> f64 {
    /// Numbers from here to its double are whole.
    const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    let rounded = (x + WHOLE) - WHOLE;
    rounded - if rounded > x { 1.0 } else { 0.0 }
}

/// The values of both parts between two places: mean 0, and variance 1 unless they are near.
#[inline(always)]
fn between(values: &[[Both; 4]; 4], a: &[Both; 4], b: &[Both; 4]) -> Both {
    let [first, second, third, fourth] = values;
    weighed(&[weighed(first, a), weighed(second, a), weighed(third, a), weighed(fourth, a)], b)
}

/// The sum of values, by their weights.
#[inline(always)]
fn weighed(values: &[Both; 4], weights: &[Both; 4]) -> Both {
    let plus = |a: Both, b: Both| [a[0] + b[0], a[1] + b[1]];
    let of = |corner: usize| product(values[corner], weights[corner]);
    plus(plus(plus(of(0), of(1)), of(2)), of(3))
}

/// The sum of both parts, each with variance 1.
#[cold]
#[inline(never)]
fn sum_of_near(parts: Both, a: &Seen, b: &Seen) -> f64 {
    let of = |part: usize| {
        let are_near = a.is_near(b, part);
        if are_near { parts[part] / deviation_of_near(a, b, part) } else { parts[part] }
    };
    of(0) + of(1)
}

/// Around places close together some pairs of corners occur twice, once in each direction, and add up.
fn deviation_of_near(a: &Seen, b: &Seen, part: usize) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for (corner, weight) in a.corners.iter().zip(a.weights) {
        for (other, beside) in b.corners.iter().zip(b.weights) {
            if corner[part] == other[part] {
                let product = weight[part] * beside[part];
                sum += product;
                squares += product * product;
            }
        }
    }
    (1.0 + sum * sum - squares).sqrt()
}

/// The value of a pair of corners: the sum of four uniform numbers, which is near enough to a normal one
/// where sixteen of them are added.
#[inline]
fn normal(pair: u64) -> f64 {
    let bits = mix(pair);
    let lanes = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    (lanes as f64 - LANES_MEAN) * PER_LANES_DEVIATION
}

#[cfg(test)]
mod tests {
    use super::super::keyed::Sequence;
    use super::*;

    const SIGMA_DB: f64 = 6.0;
    const FAR_M: f64 = 20.0;

    fn field(replication: u64) -> Shadowing {
        let params =
            RadioParams { shadowing_db: SIGMA_DB, shadowing_distance_m: FAR_M, ..RadioParams::default() };
        Shadowing::new(&params, &Streams::new(1, replication)).expect("there is shadowing")
    }

    fn place(draws: &mut Sequence) -> Point {
        Point { x: 1000.0 * draws.unit(), y: 1000.0 * draws.unit() }
    }

    /// As a memory has it that may know something of both already.
    fn between_db(memory: &mut Remembered, field: &Shadowing, from: (u32, Point), to: (u32, Point)) -> f64 {
        let sender = memory.sender(field, from.0, from.1);
        field.in_db(memory.value(field, &sender, to))
    }

    fn gain_db(field: &Shadowing, a: Point, b: Point) -> f64 {
        between_db(&mut Remembered::default(), field, (0, a), (1, b))
    }

    /// The other way.
    fn back_db(field: &Shadowing, a: Point, b: Point) -> f64 {
        between_db(&mut Remembered::default(), field, (1, b), (0, a))
    }

    /// Nodes that walk, meet in one cell, and part: in both directions, and with the nodes' numbers alone.
    #[test]
    fn what_is_remembered_changes_nothing() {
        let (field, mut draws) = (field(1), Sequence::from(7));
        let mut remembered = [Remembered::among(5), Remembered::among(1000)];
        let mut places = [Point::default(); 5];
        for step in 0..3000 {
            // Far apart, and within a few cells.
            let side_m = if step % 500 < 250 { 1000.0 } else { 30.0 };
            for place in &mut places {
                place.x = (place.x + 6.0 * (draws.unit() - 0.5)).clamp(0.0, side_m);
                place.y = (place.y + 6.0 * (draws.unit() - 0.5)).clamp(0.0, side_m);
            }
            let (a, b) = ((draws.unit() * 5.0) as u32, (draws.unit() * 5.0) as u32);
            let (here, there) = (places[a as usize], places[b as usize]);
            let (here, there) = ((a, here), (b, there));
            let wanted = between_db(&mut Remembered::default(), &field, here, there);
            for memory in &mut remembered {
                let found = between_db(memory, &field, here, there);
                assert_eq!(found.to_bits(), wanted.to_bits(), "step {step}, {a} to {b}");
            }
        }
    }

    /// A node that has come to an edge, or to a corner, is still in the cell that it comes from.
    #[test]
    fn cells_give_their_edges_the_same_values() {
        let (field, mut draws) = (field(1), Sequence::from(8));
        let side_m = CELLS[0] * FAR_M;
        for step in 0..2000 {
            let mut memory = Remembered::among(2);
            let mut edge_m = || side_m * (draws.unit() * 8.0 - 4.0).round();
            let edge = Point { x: edge_m(), y: if step % 2 == 0 { edge_m() } else { 7.0 } };
            // Far away, in a cell that touches, or in one of those of the edge.
            let reach_m = [400.0, 60.0, 10.0][step % 3];
            let other = Point { x: edge.x + reach_m * (draws.unit() - 0.5), y: edge.y + 3.0 * draws.unit() };
            let before = Point { x: edge.x - 1.0, y: edge.y - 1.0 };
            between_db(&mut memory, &field, (0, before), (1, other));
            let found = between_db(&mut memory, &field, (0, edge), (1, other));
            assert_eq!(found.to_bits(), gain_db(&field, edge, other).to_bits(), "{edge:?}, {other:?}");
        }
    }

    /// Calls for 20 fields of 2000 random links each.
    fn for_links(mut visit: impl FnMut(&Shadowing, Point, Point, &mut Sequence)) {
        for replication in 0..20 {
            let (field, mut draws) = (field(replication), Sequence::from(replication));
            for _ in 0..2000 {
                let (a, b) = (place(&mut draws), place(&mut draws));
                visit(&field, a, b, &mut draws);
            }
        }
    }

    #[test]
    fn it_is_normal_with_the_deviation_that_was_asked_for() {
        let (mut n, mut sums, mut above) = (0.0, [0.0; 4], 0.0);
        for_links(|field, a, b, _| {
            let value = gain_db(field, a, b) / SIGMA_DB;
            n += 1.0;
            for (power, sum) in (1..).zip(&mut sums) {
                *sum += libm::pow(value, f64::from(power));
            }
            above += f64::from(u8::from(value > 1.0));
        });
        let [mean, second, _, fourth] = sums.map(|sum| sum / n);
        let variance = second - mean * mean;
        assert!((mean * SIGMA_DB).abs() < 0.1, "{mean}");
        assert!((variance.sqrt() * SIGMA_DB - SIGMA_DB).abs() < 0.1, "{variance}");
        assert!((fourth / (variance * variance) - 3.0).abs() < 0.2, "{fourth}");
        assert!((above / n - 0.157).abs() < 0.005, "{above}");
    }

    #[test]
    fn it_is_the_same_in_both_directions_bit_by_bit() {
        for_links(|field, a, b, draws| {
            // Far apart, close together, and at the same place.
            let near = Point { x: a.x + 5.0 * draws.unit(), y: a.y };
            for (a, b) in [(a, b), (a, near), (a, a)] {
                assert!(gain_db(field, a, b).to_bits() == back_db(field, a, b).to_bits());
            }
        });
    }

    /// Correlation when one end moves so far in a random direction, and when both do.
    fn correlation(metres: f64, both: bool) -> f64 {
        let (mut n, mut product) = (0.0, 0.0);
        for_links(|field, a, b, draws| {
            let mut step = |from: Point| {
                let angle = 2.0 * std::f64::consts::PI * draws.unit();
                Point { x: from.x + metres * libm::cos(angle), y: from.y + metres * libm::sin(angle) }
            };
            let (moved, other) = (step(a), if both { step(b) } else { b });
            n += 1.0;
            product += gain_db(field, a, b) * gain_db(field, moved, other) / (SIGMA_DB * SIGMA_DB);
        });
        product / n
    }

    #[test]
    fn it_falls_out_of_correlation_over_distance() {
        for (distances, wanted) in [(0.1, 0.964), (0.5, 0.572), (1.0, 0.371), (2.0, 0.157)] {
            let found = correlation(distances * FAR_M, false);
            assert!((found - wanted).abs() < 0.03, "{distances}: {found}");
        }
        // Both ends: in each part the product of what each end does alone.
        let both = correlation(0.5 * FAR_M, true);
        assert!((both - 0.44).abs() < 0.03, "{both}");
    }

    #[test]
    fn links_with_a_common_end_are_correlated_as_their_other_ends_are() {
        let (mut n, mut product) = (0.0, 0.0);
        for_links(|field, a, b, _| {
            let beside = Point { x: b.x + FAR_M, y: b.y };
            n += 1.0;
            product += gain_db(field, a, b) * gain_db(field, a, beside) / (SIGMA_DB * SIGMA_DB);
        });
        let found: f64 = product / n;
        assert!((found - 0.37).abs() < 0.08, "{found}");
    }

    #[test]
    fn nothing_jumps_along_a_path() {
        let field = field(3);
        let other = Point { x: 300.0, y: 70.0 };
        let along = |step: u32| {
            let here = Point { x: -50.0 + 0.001 * f64::from(step), y: 20.0 };
            gain_db(&field, here, other)
        };
        let widest = (0..100_000).map(|step| (along(step + 1) - along(step)).abs()).fold(0.0, f64::max);
        // A millimetre on; the square roots are steepest at the cells' borders.
        assert!(widest < 0.3, "{widest}");
    }

    #[test]
    fn it_stays_within_its_limit() {
        let params = RadioParams { shadowing_db: 6.0, shadowing_limit: 0.5, ..RadioParams::default() };
        let field = Shadowing::new(&params, &Streams::new(1, 0)).expect("there is shadowing");
        let mut draws = Sequence::from(1);
        let gains = (0..2000).map(|_| gain_db(&field, place(&mut draws), place(&mut draws)));
        let widest = gains.map(f64::abs).fold(0.0, f64::max);
        assert!((widest - 3.0).abs() < 1e-12);
    }
}
