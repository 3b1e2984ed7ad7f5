//! Changes to a scenario that was resolved elsewhere: values of its JSON form, and nodes that are put
//! somewhere else.

use manetlab_core::mobility::{Command, Point, Trajectory};
use manetlab_formats::Limits;
use serde_json::Value;

use crate::refused::Refused;

/// A node whose whole path is displaced: its number, metres to the east, metres to the north.
pub type Moved = (u32, f64, f64);

/// Every item of a list that has values for the fields that are changed.
const EVERY: &str = "*";

/// Replaces what the change names. Objects are merged field by field; of a list an object names items by
/// their numbers, or with `*` all that have values for its fields; anything else is replaced as a whole.
///
/// # Errors
/// The list has no such item.
pub(crate) fn merge(value: &mut Value, change: Value) -> Result<(), Refused> {
    match (value, change) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (name, change) in changes {
                match fields.get_mut(&name) {
                    Some(field) => merge(field, change)?,
                    None => {
                        fields.insert(name, change);
                    }
                }
            }
        }
        (Value::Array(items), Value::Object(changes)) => {
            for (place, change) in changes {
                merge_items(items, &place, change)?;
            }
        }
        (value, change) => *value = change,
    }
    Ok(())
}

fn merge_items(items: &mut [Value], place: &str, change: Value) -> Result<(), Refused> {
    if place == EVERY {
        let has_fields = |item: &&mut Value| match (item, &change) {
            (Value::Object(fields), Value::Object(changes)) => {
                changes.keys().all(|name| fields.get(name).is_some_and(|value| !value.is_null()))
            }
            _ => false,
        };
        return items.iter_mut().filter(has_fields).try_for_each(|item| merge(item, change.clone()));
    }
    let count = items.len();
    match place.parse::<usize>().ok().and_then(|number| items.get_mut(number)) {
        Some(item) => merge(item, change),
        None => {
            Err(Refused(format!("changes: found item {place}, wanted a number below {count}, or {EVERY}")))
        }
    }
}

/// Displaces a node's start and all its destinations, so that speeds and times stay as they were.
pub(crate) fn displace(movement: &mut [Trajectory], (node, east_m, north_m): Moved) -> Result<(), Refused> {
    let nodes = movement.len();
    let Some(trajectory) = movement.get_mut(node as usize) else {
        return Err(Refused(format!("moved: found node {node}, wanted a node below {nodes}")));
    };
    let limit_m = Limits::default().max_coordinate_m;
    let displaced = |at: &mut Point| {
        *at = Point { x: at.x + east_m, y: at.y + north_m };
        // Not a number is not within the limits either.
        if at.x.abs() <= limit_m && at.y.abs() <= limit_m {
            return Ok(());
        }
        let found = format!("({}, {})", at.x, at.y);
        Err(Refused(format!("moved: found node {node} at {found} m, wanted up to {limit_m:e} m from 0")))
    };
    displaced(&mut trajectory.start)?;
    trajectory.commands.iter_mut().try_for_each(|command| match command {
        Command::GoTo { to, .. } | Command::Jump { to, .. } => displaced(to),
    })
}

#[cfg(test)]
mod tests {
    use manetlab_core::kernel::Time;
    use manetlab_core::mobility::Path;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_replaces_what_it_names_and_nothing_else() {
        let mut value = json!({"routing": "aodv", "params": {"tcp": {"a": 1, "b": 2}}, "flows": [1, 2]});
        let changes = [json!({"params": {"tcp": {"b": 3}}, "flows": [7]}), json!({"routing": "dsr"})];
        for change in changes {
            assert_eq!(merge(&mut value, change), Ok(()));
        }
        assert_eq!(value, json!({"routing": "dsr", "params": {"tcp": {"a": 1, "b": 3}}, "flows": [7]}));
    }

    #[test]
    fn items_of_a_list_are_changed_by_number_or_all_that_have_a_value() {
        let mut flows =
            json!([{"kind": "cbr", "bytes": 1}, {"kind": "tcp", "bytes": null}, {"kind": "cbr", "bytes": 2}]);
        assert_eq!(merge(&mut flows, json!({"*": {"bytes": 7}})), Ok(()));
        assert_eq!(merge(&mut flows, json!({"1": {"kind": "web"}, "2": {"bytes": 9}})), Ok(()));
        let wanted =
            json!([{"kind": "cbr", "bytes": 7}, {"kind": "web", "bytes": null}, {"kind": "cbr", "bytes": 9}]);
        assert_eq!(flows, wanted);
        for place in ["3", "-1", "x", ""] {
            let why = merge(&mut flows, json!({place: {"bytes": 1}}));
            let found = format!("changes: found item {place}, wanted a number below 3, or *");
            assert_eq!(why, Err(Refused(found)));
        }
        assert_eq!(flows, wanted);
    }

    #[test]
    fn a_displaced_node_goes_the_same_way_somewhere_else() {
        let to = Point { x: 50.0, y: 30.0 };
        let walks = Trajectory::new(
            Point { x: 10.0, y: 0.0 },
            vec![Command::GoTo { at: Time::from_secs(1.0), to, speed: 5.0 }],
        );
        let mut movement = [Trajectory::fixed(1.0, 2.0), walks.clone()];
        assert_eq!(displace(&mut movement, (1, 100.0, -20.0)), Ok(()));
        assert_eq!(movement[0], Trajectory::fixed(1.0, 2.0));
        let (before, after) = (Path::new(&walks), Path::new(&movement[1]));
        for t in [0.0, 1.0, 5.0, 11.0, 20.0] {
            let (was, is) = (before.position(Time::from_secs(t)), after.position(Time::from_secs(t)));
            assert!((is.x - was.x - 100.0).abs() < 1e-9 && (is.y - was.y + 20.0).abs() < 1e-9, "{t} s");
        }
    }

    #[test]
    fn a_node_that_does_not_exist_or_goes_nowhere_is_refused() {
        let mut movement = [Trajectory::fixed(1.0, 2.0)];
        let refused =
            |moved, movement: &mut [Trajectory]| displace(movement, moved).map_err(|Refused(why)| why);
        assert_eq!(
            refused((1, 0.0, 0.0), &mut movement),
            Err("moved: found node 1, wanted a node below 1".to_owned())
        );
        for east_m in [f64::NAN, f64::INFINITY, 1e9] {
            let why = refused((0, east_m, 0.0), &mut movement.clone()).expect_err("it is nowhere");
            assert!(why.contains("wanted up to 1e7 m from 0"), "{why}");
        }
    }
}
