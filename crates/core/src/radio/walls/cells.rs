//! An index of square cells: which pieces of walls, and which buildings, lie near a straight line.
//!
//! Cells are so large that a piece lies in a few of them on average, however long the walls are. Those of a
//! column lie one after the other, and so does what is in them.

use std::ops::Range;

use super::{Piece, WallSpec};
use crate::mobility::Point;

/// At most so many cells, whatever the walls are.
const MOST_CELLS: f64 = 250_000.0;
/// Cells have about so many pieces each where walls are.
const PIECES_PER_CELL: f64 = 4.0;
/// A piece, or the box of a filled building, lies in at most about so many cells on average.
const CELLS_PER_PIECE: f64 = 4.0;

/// Pieces or buildings sorted into square cells: for each cell a range of `order`.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    pub(super) cell_m: f64,
    origin: Point,
    columns: usize,
    rows: usize,
    starts: Vec<u32>,
    pub(super) order: Vec<u32>,
}

impl Cells {
    pub(super) fn of_pieces(pieces: &[Piece], walls: &[WallSpec]) -> Cells {
        let [low, high] = corners(pieces.iter().flat_map(|piece| [piece.from, piece.to]));
        let (width, height) = (high.x - low.x, high.y - low.y);
        let count = pieces.len() as f64;
        let wanted = (count / PIECES_PER_CELL).clamp(1.0, MOST_CELLS);
        let length = |piece: &Piece| (piece.to.x - piece.from.x).abs() + (piece.to.y - piece.from.y).abs();
        let lengths: f64 = pieces.iter().map(length).sum();
        let boxes: f64 = walls.iter().filter(|wall| wall.db_per_m > 0.0).map(box_m2).sum();
        let cell_m = [
            (width * height / wanted).sqrt(),
            (width + height) / wanted,
            lengths / (CELLS_PER_PIECE * count),
            (boxes / (CELLS_PER_PIECE * count)).sqrt(),
        ]
        .into_iter()
        .fold(1e-3, f64::max);
        let side = |length: f64| (length / cell_m) as usize + 1;
        let (columns, rows) = (side(width), side(height));
        let cells = Cells { cell_m, origin: low, columns, rows, ..Cells::default() };
        let mut of_cells: Vec<(usize, u32)> = Vec::new();
        for (number, piece) in (0..).zip(pieces) {
            cells.visit([piece.from, piece.to], 0.0, |first, last| {
                of_cells.extend((first..=last).map(|cell| (cell, number)));
                true
            });
        }
        cells.filled_with(of_cells)
    }

    /// Buildings with a loss inside, in cells like these.
    pub(super) fn of_buildings(&self, walls: &[WallSpec]) -> Cells {
        let mut of_cells: Vec<(usize, u32)> = Vec::new();
        for (number, wall) in (0..).zip(walls).filter(|(_, wall)| wall.db_per_m > 0.0) {
            let places = wall.points.iter().map(|&[x, y]| self.column_row(Point { x, y }));
            let (mut low, mut high) = ((usize::MAX, usize::MAX), (0, 0));
            for (column, row) in places {
                low = (low.0.min(column), low.1.min(row));
                high = (high.0.max(column), high.1.max(row));
            }
            for column in low.0..=high.0 {
                of_cells.extend((low.1..=high.1).map(|row| (column * self.rows + row, number)));
            }
        }
        let Cells { cell_m, origin, columns, rows, .. } = *self;
        Cells { cell_m, origin, columns, rows, ..Cells::default() }.filled_with(of_cells)
    }

    /// The same with what lies in its cells.
    fn filled_with(mut self, mut of_cells: Vec<(usize, u32)>) -> Cells {
        of_cells.sort_unstable();
        self.starts = vec![0; self.columns * self.rows + 1];
        for &(cell, _) in &of_cells {
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        self.order = of_cells.into_iter().map(|(_, number)| number).collect();
        self
    }

    /// Column and row of a place; the nearest of one outside.
    fn column_row(&self, place: Point) -> (usize, usize) {
        let at = |metres: f64, count: usize| ((metres / self.cell_m).max(0.0) as usize).min(count - 1);
        (at(place.x - self.origin.x, self.columns), at(place.y - self.origin.y, self.rows))
    }

    /// What lies in the cell of a place.
    pub(super) fn at(&self, place: Point) -> &[u32] {
        let (column, row) = self.column_row(place);
        &self.order[self.range(column * self.rows + row, column * self.rows + row)]
    }

    /// Where in `order` the cells from one to another are.
    #[inline]
    pub(super) fn range(&self, first: usize, last: usize) -> Range<usize> {
        self.starts[first] as usize..self.starts[last + 1] as usize
    }

    /// Visits the cells that a straight line passes, and those within `beside_m` of it; perhaps some more:
    /// column by column the first and the last cell between which the line is there. Goes on for as long as
    /// `visit` says so.
    #[inline]
    pub(super) fn visit(
        &self,
        [a, b]: [Point; 2],
        beside_m: f64,
        mut visit: impl FnMut(usize, usize) -> bool,
    ) {
        /// In cells: more than rounding moves a line.
        const ROUNDING: f64 = 1e-6;
        let beside = beside_m / self.cell_m + ROUNDING;
        let (a, b) = if a.x <= b.x { (a, b) } else { (b, a) };
        let scaled =
            |point: Point| ((point.x - self.origin.x) / self.cell_m, (point.y - self.origin.y) / self.cell_m);
        let ((from_x, from_y), (to_x, to_y)) = (scaled(a), scaled(b));
        let (columns, rows) = (self.columns as f64, self.rows as f64);
        let (lowest, highest) = (from_y.min(to_y) - beside, from_y.max(to_y) + beside);
        if to_x + beside < 0.0 || from_x - beside >= columns || highest < 0.0 || lowest >= rows {
            return;
        }
        // Conversions to integers go towards 0, which is down, as nothing is below it.
        let first_column = (from_x - beside).max(0.0) as usize;
        let last_column = (to_x + beside).min(columns - 1.0) as usize;
        let is_upright = to_x - from_x <= beside;
        let slope = if to_x > from_x { (to_y - from_y) / (to_x - from_x) } else { 0.0 };
        let above = beside * (1.0 + slope.abs());
        let at = |x: f64| from_y + slope * (x - from_x);
        for column in first_column..=last_column {
            let left = (column as f64).max(from_x);
            let right = (column as f64 + 1.0).min(to_x);
            // A line that stands upright passes all its rows in one column.
            let (one, other) = if is_upright { (from_y, to_y) } else { (at(left), at(right)) };
            let low = (one.min(other) - above).max(lowest).max(0.0);
            let high = (one.max(other) + above).min(highest).min(rows - 1.0);
            if low < rows && high >= 0.0 {
                let first = column * self.rows;
                if !visit(first + low as usize, first + high as usize) {
                    return;
                }
            }
        }
    }
}

/// The area of the box around a wall, in m².
fn box_m2(wall: &WallSpec) -> f64 {
    let [low, high] = corners(wall.points.iter().map(|&[x, y]| Point { x, y }));
    (high.x - low.x) * (high.y - low.y)
}

/// Least and greatest coordinates.
fn corners(places: impl Iterator<Item = Point>) -> [Point; 2] {
    let [none, all] = [f64::INFINITY, f64::NEG_INFINITY].map(|at| Point { x: at, y: at });
    places.fold([none, all], |[low, high], place| {
        [
            Point { x: low.x.min(place.x), y: low.y.min(place.y) },
            Point { x: high.x.max(place.x), y: high.y.max(place.y) },
        ]
    })
}
