//! What a scenario says of single nodes' radios, and of walls.

use super::{About, Scenario, ScenarioError};
use crate::radio::{EnergySpec, NodeRadio, Surroundings, WallSpec};

/// Most walls and buildings of a scenario.
const MAX_WALLS: usize = 200_000;
/// Most corners of a building, each of whose edges is compared with all others.
const MAX_CORNERS: usize = 2_000;
/// How far from the origin corners may lie, in m.
const FARTHEST_M: f64 = 1e7;
/// The greatest loss that is not opaque, in dB.
const MOST_DB: f64 = 300.0;

impl Scenario {
    /// What the environment of radios needs.
    pub fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { nodes: self.movement.len(), radios: &self.radios, walls: &self.walls }
    }

    /// Radios are those of nodes that there are, each given once; walls have corners and losses.
    pub(super) fn check_surroundings(&self) -> Result<(), ScenarioError> {
        (0..self.radios.len()).try_for_each(|index| self.check_radio_of(index))?;
        if let Some(outside) = self.energy.as_ref().and_then(EnergySpec::outside) {
            return Err(unusable(&format!("energy.{}", outside.field), outside.found, outside.wanted));
        }
        if self.walls.len() > MAX_WALLS {
            return Err(unusable(
                "walls",
                self.walls.len().to_string(),
                format!("at most {MAX_WALLS} walls"),
            ));
        }
        self.walls.iter().enumerate().try_for_each(|(index, wall)| check_wall(index, wall))
    }

    fn check_radio_of(&self, index: usize) -> Result<(), ScenarioError> {
        let radio: &NodeRadio = &self.radios[index];
        let field = format!("radios[{index}].node");
        let nodes = self.movement.len();
        if radio.node as usize >= nodes {
            let wanted = format!("a node from 0 to {}", nodes.saturating_sub(1));
            return Err(ScenarioError::Unusable {
                about: About::Node,
                field,
                found: radio.node.to_string(),
                wanted,
            });
        }
        if let Some(first) = self.radios[..index].iter().position(|other| other.node == radio.node) {
            let wanted = format!("one radio for each node; radios[{first}] is for the same");
            return Err(unusable(&field, radio.node.to_string(), wanted));
        }
        match radio.outside() {
            None => Ok(()),
            Some(outside) => {
                Err(unusable(&format!("radios[{index}].{}", outside.field), outside.found, outside.wanted))
            }
        }
    }
}

fn unusable(field: &str, found: String, wanted: String) -> ScenarioError {
    ScenarioError::Unusable { about: About::Value, field: field.to_owned(), found, wanted }
}

fn check_wall(index: usize, wall: &WallSpec) -> Result<(), ScenarioError> {
    let place = |field: &str| format!("walls[{index}].{field}");
    let least = if wall.is_building { 3 } else { 2 };
    if wall.points.len() < least {
        let wanted = format!("at least {least} corners");
        return Err(unusable(&place("points"), wall.points.len().to_string(), wanted));
    }
    if wall.is_building && wall.points.len() > MAX_CORNERS {
        let wanted = format!("at most {MAX_CORNERS} corners of a building");
        return Err(unusable(&place("points"), wall.points.len().to_string(), wanted));
    }
    // NaN is outside every range.
    let is_near = |coordinate: &f64| (-FARTHEST_M..=FARTHEST_M).contains(coordinate);
    if let Some(corner) = wall.points.iter().position(|point| !point.iter().all(is_near)) {
        let [x, y] = wall.points[corner];
        let wanted = format!("numbers from -{FARTHEST_M} to {FARTHEST_M} m");
        return Err(unusable(&place(&format!("points[{corner}]")), format!("{x}, {y}"), wanted));
    }
    for (field, db) in [("db", wall.db), ("db_per_m", wall.db_per_m)] {
        if !(0.0..=MOST_DB).contains(&db) {
            let wanted = format!("a loss from 0 to {MOST_DB} dB; opaque = true lets nothing through");
            return Err(unusable(&place(field), db.to_string(), wanted));
        }
    }
    if wall.db_per_m > 0.0 && !wall.is_building {
        let wanted = "0, or building = true with it: only buildings have an inside".to_owned();
        return Err(unusable(&place("db_per_m"), wall.db_per_m.to_string(), wanted));
    }
    match wall.is_building.then(|| cuts_itself(wall)).flatten() {
        None => Ok(()),
        Some((one, other)) => {
            let wanted = "a polygon that does not cut itself; give two buildings".to_owned();
            Err(unusable(&place("points"), format!("edges {one} and {other} cross"), wanted))
        }
    }
}

/// The first two edges of a building that cross, by their first corners.
fn cuts_itself(building: &WallSpec) -> Option<(usize, usize)> {
    let corners = &building.points;
    let edge = |at: usize| (corners[at], corners[(at + 1) % corners.len()]);
    let turn =
        |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    for one in 0..corners.len() {
        let (a, b) = edge(one);
        for other in one + 1..corners.len() {
            let (c, d) = edge(other);
            let are_apart = turn(a, b, c) * turn(a, b, d) < 0.0;
            if are_apart && turn(c, d, a) * turn(c, d, b) < 0.0 {
                return Some((one, other));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tests::{complaint, scenario};
    use super::*;

    fn wall(points: &[[f64; 2]]) -> WallSpec {
        WallSpec { points: points.to_vec(), db: 3.0, db_per_m: 0.0, is_building: false, opaque: false }
    }

    fn told(wall: WallSpec) -> String {
        complaint(|s| s.walls = vec![wall])
    }

    #[test]
    fn walls_that_cannot_be_built_are_told() {
        assert!(told(wall(&[[0.0, 0.0]])).starts_with("walls[0].points: found 1, wanted at least 2"));
        assert!(told(wall(&[[0.0, 0.0], [f64::NAN, 1.0]])).starts_with("walls[0].points[1]: found NaN, 1"));
        let glass = WallSpec { db: -1.0, ..wall(&[[0.0, 0.0], [1.0, 0.0]]) };
        assert!(told(glass).starts_with("walls[0].db: found -1, wanted a loss from 0"));
        let filled = WallSpec { db_per_m: 1.0, ..wall(&[[0.0, 0.0], [1.0, 0.0]]) };
        assert!(told(filled).contains("only buildings have an inside"));
        let bow = WallSpec { is_building: true, ..wall(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]) };
        assert!(told(bow).contains("edges 0 and 2 cross"));
        let mut right = scenario();
        right.walls = vec![WallSpec { is_building: true, ..wall(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]) }];
        assert_eq!(right.check(), Ok(()));
    }

    #[test]
    fn radios_are_those_of_nodes_that_there_are_and_given_once() {
        let radio =
            |node| NodeRadio { node, transmit_power_w: None, antenna_gain: None, antenna_height_m: None };
        assert!(
            complaint(|s| s.radios = vec![radio(9)]).starts_with("radios[0].node: found 9, wanted a node")
        );
        let twice = complaint(|s| s.radios = vec![radio(0), radio(0)]);
        assert!(twice.contains("radios[0] is for the same"), "{twice}");
        let silent = NodeRadio { transmit_power_w: Some(0.0), ..radio(1) };
        let told = complaint(|s| s.radios = vec![silent]);
        assert!(told.starts_with("radios[0].transmit_power_w: found 0"), "{told}");
    }
}
