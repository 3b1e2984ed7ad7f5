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
    per_metre: [f64; 2],
}

/// A cell of a part, with the numbers of its corners.
#[derive(Clone, Copy, Debug)]
struct Cell {
    column: i64,
    row: i64,
    corners: [u64; 4],
}

impl Cell {
    /// No place is in it.
    const NONE: Cell = Cell { column: i64::MAX, row: i64::MAX, corners: [0; 4] };
}

/// The cell around a place, with the weights of its corners.
#[derive(Clone, Copy, Debug)]
struct Corners {
    cell: Cell,
    weights: [f64; 4],
}

/// The values of all pairs of corners of two cells.
#[derive(Clone, Copy, Debug)]
struct Values {
    /// The numbers of the first corner of each cell.
    cells: [u64; 2],
    values: [[f64; 4]; 4],
}

impl Values {
    /// Those of no cells.
    const NONE: Values = Values { cells: [0; 2], values: [[0.0; 4]; 4] };

    /// Those of these cells, which are computed unless they are there.
    #[inline]
    fn of(&mut self, a: &Cell, b: &Cell) -> &[[f64; 4]; 4] {
        let cells = [a.corners[0], b.corners[0]];
        if self.cells != cells {
            let values = a.corners.map(|corner| b.corners.map(|other| normal(corner.wrapping_add(other))));
            *self = Values { cells, values };
        }
        &self.values
    }
}

/// A place as the field sees it: worth keeping while one end is asked with many others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen([Corners; 2]);

/// What is remembered among nodes that have numbers: around each its cells, and between each two the values
/// of their cells' corners, which hold until one of them leaves its cell. The field is the same without it.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    cells: Vec<[Cell; 2]>,
    /// By pair; none at all where there are too many.
    values: Vec<[Values; 2]>,
}

/// The most pairs whose values are remembered, in 288 bytes each.
const MOST_PAIRS: usize = 1 << 15;

impl Remembered {
    /// Room for so many nodes.
    pub(super) fn among(nodes: usize) -> Remembered {
        let pairs = nodes * nodes.saturating_sub(1) / 2;
        let remembered = if pairs <= MOST_PAIRS { pairs } else { 0 };
        Remembered { cells: vec![[Cell::NONE; 2]; nodes], values: vec![[Values::NONE; 2]; remembered] }
    }

    /// The gain between a node that is seen and one at a place, in dB.
    #[inline]
    pub(super) fn gain_db(&mut self, field: &Shadowing, a: (u32, &Seen), b: (u32, Point)) -> f64 {
        let mut cells = [Cell::NONE; 2];
        let place = field.see_from(b.1, self.cells.get_mut(b.0 as usize).unwrap_or(&mut cells));
        let (lower, higher) = (a.0.min(b.0) as usize, a.0.max(b.0) as usize);
        let mut values = [Values::NONE; 2];
        let pair = (higher * higher.saturating_sub(1) / 2).saturating_add(lower);
        let known = self.values.get_mut(pair).filter(|_| lower < higher);
        field.gain_with(a.1, &place, known.unwrap_or(&mut values))
    }
}

impl Shadowing {
    /// The field of a run; none without shadowing.
    pub(super) fn new(params: &RadioParams, streams: &Streams) -> Option<Shadowing> {
        (params.shadowing_db > 0.0).then(|| Shadowing {
            key: Key::new(streams, Purpose::Shadowing, 0),
            part_db: params.shadowing_db * 0.5f64.sqrt(),
            limit_db: params.shadowing_db * params.shadowing_limit,
            per_metre: CELLS.map(|cell| 1.0 / (cell * params.shadowing_distance_m)),
        })
    }

    /// The greatest gain that there is, in dB.
    pub(super) fn highest_db(&self) -> f64 {
        self.limit_db
    }

    /// A place as the field sees it.
    pub(super) fn see(&self, place: Point) -> Seen {
        self.see_from(place, &mut [Cell::NONE; 2])
    }

    /// The same of a node that was in these cells when it was seen last.
    fn see_from(&self, place: Point, cells: &mut [Cell; 2]) -> Seen {
        let turned =
            Point { x: ACROSS.0 * place.x - ACROSS.1 * place.y, y: ACROSS.1 * place.x + ACROSS.0 * place.y };
        let [wide, narrow] = cells;
        Seen([self.corners(0, place, wide), self.corners(1, turned, narrow)])
    }

    fn corners(&self, part: usize, place: Point, cell: &mut Cell) -> Corners {
        let (x, y) = (place.x * self.per_metre[part], place.y * self.per_metre[part]);
        let (column, row) = (x.floor(), y.floor());
        let (right, up) = (x - column, y - row);
        let (left, right, down, up) = ((1.0 - right).sqrt(), right.sqrt(), (1.0 - up).sqrt(), up.sqrt());
        let (column, row) = (column as i64, row as i64);
        if (cell.column, cell.row) != (column, row) {
            let corner = |c: i64, r: i64| self.key.of((column + c) as u64, (row + r) as u64, part as u64);
            let corners = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)];
            *cell = Cell { column, row, corners };
        }
        Corners { cell: *cell, weights: [left * down, right * down, left * up, right * up] }
    }

    /// The gain between two places, in dB.
    #[cfg(test)]
    fn gain_db(&self, a: &Seen, b: &Seen) -> f64 {
        self.gain_with(a, b, &mut [Values::NONE; 2])
    }

    /// The gain between two places, in dB, of which these values may be known.
    fn gain_with(&self, a: &Seen, b: &Seen, known: &mut [Values; 2]) -> f64 {
        let [wide, narrow] = known;
        let sum = between(&a.0[0], &b.0[0], wide) + between(&a.0[1], &b.0[1], narrow);
        (sum * self.part_db).clamp(-self.limit_db, self.limit_db)
    }
}

/// The value between two places: mean 0, variance 1.
fn between(a: &Corners, b: &Corners, known: &mut Values) -> f64 {
    // In an order of their own, so that both directions add in the same one.
    let place = |at: &Corners| (at.cell.column, at.cell.row, at.weights[0]);
    let (a, b) = if place(a) <= place(b) { (a, b) } else { (b, a) };
    let mut sum = 0.0;
    for (values, weight) in known.of(&a.cell, &b.cell).iter().zip(a.weights) {
        let mut part = 0.0;
        for (value, beside) in values.iter().zip(b.weights) {
            part += beside * value;
        }
        sum += weight * part;
    }
    let are_near = (a.cell.column - b.cell.column).abs() <= 1 && (a.cell.row - b.cell.row).abs() <= 1;
    if are_near { sum / deviation_of_near(a, b) } else { sum }
}

/// Around places close together some pairs of corners occur twice, once in each direction, and add up.
fn deviation_of_near(a: &Corners, b: &Corners) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for (corner, weight) in a.cell.corners.iter().zip(a.weights) {
        for (other, beside) in b.cell.corners.iter().zip(b.weights) {
            if corner == other {
                sum += weight * beside;
                squares += weight * weight * beside * beside;
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

    fn gain_db(field: &Shadowing, a: Point, b: Point) -> f64 {
        field.gain_db(&field.see(a), &field.see(b))
    }

    /// Nodes that walk, meet in one cell, and part: in both directions, and with the nodes' numbers alone.
    #[test]
    fn what_is_remembered_changes_nothing() {
        let (field, mut draws) = (field(1), Sequence::from(7));
        let mut remembered = [Remembered::among(5), Remembered::among(1000), Remembered::default()];
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
            let wanted = gain_db(&field, here, there).to_bits();
            for memory in &mut remembered {
                let found = memory.gain_db(&field, (a, &field.see(here)), (b, there));
                assert_eq!(found.to_bits(), wanted, "step {step}, {a} to {b}");
            }
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
                assert!(gain_db(field, a, b).to_bits() == gain_db(field, b, a).to_bits());
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
        let other = field.see(Point { x: 300.0, y: 70.0 });
        let along = |step: u32| {
            let here = Point { x: -50.0 + 0.001 * f64::from(step), y: 20.0 };
            field.gain_db(&field.see(here), &other)
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
