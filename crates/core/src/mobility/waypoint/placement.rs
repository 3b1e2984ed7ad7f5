//! Where nodes are placed that do not move.

use crate::kernel::{Purpose, Streams};
use crate::mobility::Trajectory;

/// Nodes at places uniform in a field of `width_m` × `height_m`.
pub fn uniform_static(nodes: u32, width_m: f64, height_m: f64, streams: &Streams) -> Vec<Trajectory> {
    let place = |node| {
        let mut stream = streams.stream(node, Purpose::Mobility);
        let x = stream.uniform(0.0, width_m);
        Trajectory::fixed(x, stream.uniform(0.0, height_m))
    };
    (0..nodes).map(place).collect()
}

/// Nodes in a row from the origin to the east, `spacing_m` apart.
pub fn chain(nodes: u32, spacing_m: f64) -> Vec<Trajectory> {
    grid(nodes, 1, spacing_m)
}

/// `columns` × `rows` nodes, `spacing_m` apart, row by row from the origin: node r · `columns` + c stands at
/// (c, r) · `spacing_m`.
pub fn grid(columns: u32, rows: u32, spacing_m: f64) -> Vec<Trajectory> {
    let place =
        |row: u32, column: u32| Trajectory::fixed(f64::from(column) * spacing_m, f64::from(row) * spacing_m);
    (0..rows).flat_map(|row| (0..columns).map(move |column| place(row, column))).collect()
}
