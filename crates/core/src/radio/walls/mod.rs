//! Walls and buildings: what a signal loses on a straight way through them.
//!
//! *Read*: Sommer, Eckhoff, German and Dressler, *A computationally inexpensive empirical model of IEEE
//! 802.11p radio shadowing in urban environments* (WONS 2011): a loss for each wall that is crossed, and one
//! for each metre inside; COST 231, final report (1999), §4.7, for walls indoors.
//!
//! **Implemented.** A wall is a line of straight pieces, a building a polygon. The way between two nodes is
//! straight. A piece is crossed if its ends lie on different sides of the way, and the way's ends on
//! different sides of the piece, where what lies on a line counts to one side of it: so a corner at which two
//! pieces meet is crossed once, and a way along a wall crosses nothing. Both directions lose the same, bit by
//! bit. An opaque wall lets nothing through.
//!
//! **Not implemented.** Diffraction and reflection: behind a corner it is darker than in truth. Heights:
//! walls reach to the sky.
//!
//! An index of square cells finds the pieces that a way may cross (`cells.rs`). What was found is remembered
//! as long as both ends have hardly moved (`ways.rs`).

mod cells;
mod ways;

use super::WallSpec;
use crate::mobility::{Point, is_inside};
use cells::Cells;
pub(super) use ways::Barrier;
use ways::{Ways, in_order, rounded_db};

/// A straight piece of a wall.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Point,
    to: Point,
    wall: u32,
    /// What a crossing costs, infinite if nothing comes through.
    db: f64,
}

/// Memory that is used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    crossed: Vec<u32>,
    filled: Vec<u32>,
    shares: Vec<f64>,
    tried: Vec<u32>,
    ways: Ways,
    /// Of the way that was asked for last, if it is remembered and too weak for certain.
    pub(super) barrier: Option<Barrier>,
}

impl Work {
    /// Memory that remembers ways among so many nodes, each of which has a number and is in one place at a
    /// time.
    pub(super) fn among(nodes: usize) -> Work {
        Work { ways: Ways::among(nodes), ..Work::default() }
    }
}

/// See the module's head.
#[derive(Clone, Debug)]
pub(super) struct Walls {
    walls: Vec<WallSpec>,
    pieces: Vec<Piece>,
    cells: Cells,
    /// As `cells` has them in order.
    packed: Vec<Packed>,
    /// Buildings with a loss inside, in the cells that their boxes touch.
    filled: Cells,
}

/// Pieces as they are looked at one after the other: those of each cell together.
#[derive(Clone, Copy, Debug)]
struct Packed {
    from: Point,
    to: Point,
    db: f64,
    number: u32,
    /// Is it a building's with a loss inside?
    is_filled: bool,
}

impl Walls {
    /// These walls; none if nothing is lost in any.
    pub(super) fn new(walls: &[WallSpec]) -> Option<Walls> {
        let mut pieces = Vec::new();
        for (number, wall) in (0..).zip(walls) {
            let closing = wall.is_building.then(|| [wall.points[wall.points.len() - 1], wall.points[0]]);
            let along = wall.points.windows(2).map(|pair| [pair[0], pair[1]]).chain(closing);
            let db = if wall.opaque { f64::INFINITY } else { rounded_db(wall.db) };
            if db <= 0.0 && wall.db_per_m <= 0.0 {
                continue;
            }
            pieces.extend(along.map(|ends| {
                let [from, to] = ends.map(|[x, y]| Point { x, y });
                Piece { from, to, wall: number, db }
            }));
        }
        if pieces.is_empty() {
            return None;
        }
        let cells = Cells::of_pieces(&pieces, walls);
        let filled = cells.of_buildings(walls);
        let packed = cells.order.iter().map(|&number| {
            let Piece { from, to, db, wall } = pieces[number as usize];
            Packed { from, to, db, number, is_filled: walls[wall as usize].db_per_m > 0.0 }
        });
        let packed = packed.collect();
        Some(Walls { walls: walls.to_vec(), pieces, packed, cells, filled })
    }

    /// The loss between two places in dB, infinite behind an opaque wall. A loss above `most_db` may be told
    /// as any loss above it.
    pub(super) fn loss_db(&self, a: Point, b: Point, most_db: f64, work: &mut Work) -> f64 {
        let (a, b) = in_order(a, b);
        work.crossed.clear();
        let mut so_far_db = 0.0;
        self.cells.visit([a, b], 0.0, |first, last| {
            for piece in &self.packed[self.cells.range(first, last)] {
                // A piece may lie in several of these cells.
                if crosses(piece.from, piece.to, a, b) && !work.crossed.contains(&piece.number) {
                    work.crossed.push(piece.number);
                    so_far_db += piece.db;
                }
            }
            so_far_db <= most_db
        });
        if so_far_db > most_db {
            return so_far_db;
        }
        self.with_insides_db(so_far_db, (a, b), work)
    }

    /// With what the way, which crosses the pieces `work.crossed`, loses inside buildings.
    fn with_insides_db(&self, crossed_db: f64, way: (Point, Point), work: &mut Work) -> f64 {
        if self.filled.order.is_empty() { crossed_db } else { crossed_db + self.filled_db(way, work) }
    }

    /// What the way loses inside buildings, beside their walls.
    fn filled_db(&self, way: (Point, Point), work: &mut Work) -> f64 {
        let Work { crossed, filled, shares, .. } = work;
        filled.clear();
        filled.extend(crossed.iter().map(|&piece| self.pieces[piece as usize].wall));
        filled.extend_from_slice(self.filled.at(way.0));
        filled.sort_unstable();
        filled.dedup();
        filled.retain(|&wall| self.walls[wall as usize].db_per_m > 0.0);
        filled.iter().map(|&wall| self.inside_db(wall, way, crossed, shares)).sum()
    }

    /// What the way loses inside a building.
    fn inside_db(&self, wall: u32, (a, b): (Point, Point), crossed: &[u32], shares: &mut Vec<f64>) -> f64 {
        let spec = &self.walls[wall as usize];
        let pieces = crossed.iter().map(|&piece| &self.pieces[piece as usize]);
        shares.clear();
        shares.extend(pieces.filter(|piece| piece.wall == wall).map(|piece| share_of_way(piece, a, b)));
        shares.sort_unstable_by(f64::total_cmp);
        let (mut inside, mut last, mut sum) = (is_inside(&spec.points, a), 0.0, 0.0);
        for &share in shares.iter().chain([&1.0]) {
            if inside {
                sum += share - last;
            }
            (inside, last) = (!inside, share);
        }
        sum * a.distance(b) * spec.db_per_m
    }
}

/// Twice the area of a triangle, positive if its corners go round against the clock.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

fn crosses(from: Point, to: Point, a: Point, b: Point) -> bool {
    let are_apart = (turn(a, b, from) > 0.0) != (turn(a, b, to) > 0.0);
    are_apart & ((turn(from, to, a) > 0.0) != (turn(from, to, b) > 0.0))
}

/// Where on the way the piece is crossed: 0 is `a`, 1 is `b`.
fn share_of_way(piece: &Piece, a: Point, b: Point) -> f64 {
    let (of_a, of_b) = (turn(piece.from, piece.to, a), turn(piece.from, piece.to, b));
    (of_a / (of_a - of_b)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::keyed::Sequence;
    use super::*;
    use proptest::prelude::*;

    fn wall(points: &[[f64; 2]], db: f64) -> WallSpec {
        WallSpec { points: points.to_vec(), db, db_per_m: 0.0, is_building: false, opaque: false }
    }

    fn building(points: &[[f64; 2]], db: f64, db_per_m: f64) -> WallSpec {
        WallSpec { points: points.to_vec(), db, db_per_m, is_building: true, opaque: false }
    }

    fn loss_db(walls: &[WallSpec], a: [f64; 2], b: [f64; 2]) -> f64 {
        let walls = Walls::new(walls).expect("there are walls");
        let [a, b] = [a, b].map(|[x, y]| Point { x, y });
        let work = &mut Work::default();
        let there = walls.loss_db(a, b, f64::INFINITY, work);
        let back = walls.loss_db(b, a, f64::INFINITY, work);
        assert!(there.to_bits() == back.to_bits(), "{there}, {back}");
        there
    }

    /// A whole number of dB.
    fn whole(db: f64) -> u32 {
        assert!(db.fract() == 0.0, "{db}");
        db as u32
    }

    const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];

    #[test]
    fn each_wall_that_is_crossed_counts_and_losses_add() {
        let walls = [wall(&[[0.0, -5.0], [0.0, 5.0]], 3.4), wall(&[[2.0, -5.0], [2.0, 5.0]], 6.9)];
        let losses = [(-1.0, 1.0, 3.4), (-1.0, 3.0, 10.3), (3.0, 9.0, 0.0)];
        for (from, to, wanted) in losses {
            assert!((loss_db(&walls, [from, 0.0], [to, 1.0]) - wanted).abs() < 1e-12);
        }
        // Beside their ends.
        assert!(loss_db(&walls, [-1.0, 6.0], [3.0, 6.0]) == 0.0);
    }

    #[test]
    fn a_corner_counts_once_and_a_way_along_a_wall_crosses_none() {
        let bent = [wall(&[[0.0, -5.0], [0.0, 0.0], [5.0, 5.0]], 3.0)];
        assert_eq!(whole(loss_db(&bent, [-4.0, 0.0], [4.0, 0.0])), 3);
        let straight = [wall(&[[0.0, 0.0], [5.0, 0.0], [10.0, 0.0]], 3.0)];
        assert!(loss_db(&straight, [-4.0, 0.0], [14.0, 0.0]) == 0.0);
        assert_eq!(whole(loss_db(&straight, [5.0, -4.0], [5.0, 4.0])), 3);
    }

    #[test]
    fn a_building_costs_its_two_walls_and_the_way_inside() {
        let house = [building(&SQUARE, 9.0, 0.4)];
        assert!((loss_db(&house, [-5.0, 5.0], [15.0, 5.0]) - (18.0 + 4.0)).abs() < 1e-9);
        // One inside, both inside, both outside on one side.
        assert!((loss_db(&house, [5.0, 5.0], [15.0, 5.0]) - (9.0 + 2.0)).abs() < 1e-9);
        assert!((loss_db(&house, [2.0, 5.0], [8.0, 5.0]) - 2.4).abs() < 1e-9);
        assert!(loss_db(&house, [-5.0, 5.0], [-1.0, 50.0]) == 0.0);
    }

    #[test]
    fn nothing_comes_through_an_opaque_ring() {
        let ring = [WallSpec { opaque: true, ..building(&SQUARE, 0.0, 0.0) }];
        assert!(loss_db(&ring, [5.0, 5.0], [50.0, 7.0]) == f64::INFINITY);
        assert!(loss_db(&ring, [5.0, 5.0], [6.0, 7.0]) == 0.0);
        assert!(loss_db(&ring, [20.0, 5.0], [60.0, 7.0]) == 0.0);
    }

    /// What a search over all pieces finds: the crossings of walls of 1 dB each.
    fn of_all_pieces(walls: &Walls, a: Point, b: Point) -> u32 {
        let (a, b) = in_order(a, b);
        walls.pieces.iter().filter(|piece| crosses(piece.from, piece.to, a, b)).count() as u32
    }

    /// 10⁵ ways among random walls, found with the index and by looking at every piece.
    #[test]
    fn the_index_finds_what_a_full_search_finds() {
        let mut draws = Sequence::from(11);
        for field_m in [50.0, 1000.0] {
            let mut place = |grid: bool| {
                let (x, y) = (field_m * draws.unit(), field_m * draws.unit());
                // Some at whole metres, so that corners, borders of cells and ways coincide.
                if grid { [x.round(), y.round()] } else { [x, y] }
            };
            let mut specs: Vec<WallSpec> =
                (0..200).map(|at| wall(&[place(at % 2 == 0), place(at % 3 == 0)], 1.0)).collect();
            specs.push(wall(&[[0.0, 7.0], [field_m, 7.0]], 1.0));
            specs.push(wall(&[[7.0, 0.0], [7.0, field_m]], 1.0));
            let (walls, mut work) = (Walls::new(&specs).expect("there are walls"), Work::default());
            for at in 0..50_000u32 {
                let [a, b] = [place(at % 2 == 0), place(at % 5 == 0)].map(|[x, y]| Point { x, y });
                let found = whole(walls.loss_db(a, b, f64::INFINITY, &mut work));
                let all = of_all_pieces(&walls, a, b);
                assert_eq!(found, all, "{a:?} {b:?}");
                let told = whole(walls.loss_db(a, b, 3.5, &mut work));
                assert!(if all > 3 { told > 3 } else { told == all }, "{told}, {all}");
            }
        }
    }

    proptest! {
        /// Walls of any length and place; ways that begin and end in corners, on walls and far outside.
        #[test]
        fn the_index_finds_what_a_full_search_finds_wherever_walls_are(
            corners in prop::collection::vec((-40i32..40, -40i32..40), 2..60),
            scale in prop::sample::select(vec![0.01, 1.0, 1000.0]),
            ways in prop::collection::vec((-60i32..60, -60i32..60, -60i32..60, -60i32..60), 1..40),
            nudge in 0.0..1.0f64,
        ) {
            let place = |(x, y): (i32, i32)| [f64::from(x) * scale, f64::from(y) * scale];
            let specs: Vec<WallSpec> =
                corners.windows(2).map(|pair| wall(&[place(pair[0]), place(pair[1])], 1.0)).collect();
            let (walls, mut work) = (Walls::new(&specs).expect("there are walls"), Work::default());
            for (at, &(from_x, from_y, to_x, to_y)) in ways.iter().enumerate() {
                let moved = if at % 2 == 0 { 0.0 } else { nudge * scale };
                let [a, b] = [(from_x, from_y), (to_x, to_y)].map(|whole| {
                    let [x, y] = place(whole);
                    Point { x: x + moved, y }
                });
                let there = walls.loss_db(a, b, f64::INFINITY, &mut work);
                prop_assert_eq!(whole(there), of_all_pieces(&walls, a, b));
                prop_assert_eq!(there.to_bits(), walls.loss_db(b, a, f64::INFINITY, &mut work).to_bits());
            }
        }
    }

    #[test]
    fn long_walls_and_wide_buildings_lie_in_few_cells() {
        let mut draws = Sequence::from(3);
        let mut across = || {
            let (from, to) = (1e4 * draws.unit(), 1e4 * draws.unit());
            [[0.0, from], [1e4, to]]
        };
        let long: Vec<WallSpec> = (0..20_000).map(|_| wall(&across(), 1.0)).collect();
        let walls = Walls::new(&long).expect("there are walls");
        assert!(walls.cells.order.len() <= 20 * long.len(), "{}", walls.cells.order.len());
        let wide: Vec<WallSpec> = (0..2000)
            .map(|at| {
                let to = if at < 40 { 1e4 } else { 1.0 };
                building(&[[0.0, 0.0], [to, 0.0], [to, to], [0.0, to]], 1.0, 1.0)
            })
            .collect();
        let walls = Walls::new(&wide).expect("there are walls");
        assert!(walls.filled.order.len() <= 40 * wide.len(), "{}", walls.filled.order.len());
    }
}
