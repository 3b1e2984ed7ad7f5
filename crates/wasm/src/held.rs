//! Movement and tracks that Python holds by a number, until it lets go of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use manetlab_core::mobility::{Trajectory, heights_differ};
use manetlab_formats::tracks::Tracks;
use manetlab_formats::{Movement, write_movement};
use manetlab_resolver::{files, movement};
use serde_json::{Value, json};

use crate::beside::Beside;
use crate::failed::Failed;

/// One thing that is held.
#[derive(Clone)]
enum Held {
    /// A movement, with remarks on how its source was understood.
    Movement(Rc<Movement>, Rc<Vec<String>>),
    /// Tracks, before they become a movement.
    Tracks(Rc<Tracks>),
}

thread_local! {
    static HELD: RefCell<(u32, BTreeMap<u32, Held>)> = const { RefCell::new((0, BTreeMap::new())) };
}

fn hold(held: Held) -> Value {
    HELD.with_borrow_mut(|(next, all)| {
        *next += 1;
        all.insert(*next, held);
        json!(*next)
    })
}

/// Lets go of one.
pub(crate) fn forget(number: u32) {
    HELD.with_borrow_mut(|(_, all)| all.remove(&number));
}

fn get(number: u32) -> Result<Held, Failed> {
    let held = HELD.with_borrow(|(_, all)| all.get(&number).cloned());
    held.ok_or_else(|| Failed::Wrong(format!("nothing is held by the number {number}")))
}

/// Holds a movement: its number.
pub(crate) fn hold_movement(movement: Movement, remarks: Vec<String>) -> Value {
    hold(Held::Movement(Rc::new(movement), Rc::new(remarks)))
}

/// Holds the movement of these nodes.
pub(crate) fn hold_trajectories(trajectories: Vec<Trajectory>) -> Value {
    hold_movement(Movement { trajectories, ..Movement::default() }, Vec::new())
}

/// The movement of a number, and the remarks on it.
pub(crate) fn movement_of(number: u32) -> Result<(Rc<Movement>, Rc<Vec<String>>), Failed> {
    match get(number)? {
        Held::Movement(movement, remarks) => Ok((movement, remarks)),
        Held::Tracks(_) => Err(Failed::Wrong(format!("{number} is no movement"))),
    }
}

/// Holds tracks: their number.
pub(crate) fn hold_tracks(tracks: Tracks) -> Value {
    hold(Held::Tracks(Rc::new(tracks)))
}

/// The tracks of a number.
pub(crate) fn tracks_of(number: u32) -> Result<Rc<Tracks>, Failed> {
    match get(number)? {
        Held::Tracks(tracks) => Ok(tracks),
        Held::Movement(..) => Err(Failed::Wrong(format!("{number} is no tracks"))),
    }
}

/// What is asked of a movement without arguments, by the names of Python's properties.
pub(crate) fn facts(number: u32) -> Result<Value, Failed> {
    let (of_file, remarks) = movement_of(number)?;
    let all = &of_file.trajectories;
    let corner = of_file.bounds();
    let stays: Vec<Vec<(f64, f64)>> = all
        .iter()
        .map(|node| node.present.iter().map(|stay| (stay.from.as_secs(), stay.until.as_secs())).collect())
        .collect();
    Ok(json!({
        "nodes": all.len(),
        "labels": movement::labels(all),
        "has_heights": heights_differ(all.iter().map(|node| &node.heights[..])),
        "has_presence": all.iter().any(|node| !node.present.is_empty()),
        "plane": of_file.plane.as_ref().map(|plane| (plane.corner_deg, plane.scale_m)),
        "stays": stays,
        "rests_elsewhere": of_file.rests_elsewhere,
        "unplaced": of_file.unplaced,
        "remarks": remarks.as_slice(),
        "bounds": (corner.x, corner.y),
        "last_command_s": movement::last_command(all).as_secs(),
        "ends_s": movement::ends(all).as_secs(),
    }))
}

/// The same of tracks.
pub(crate) fn facts_of_tracks(number: u32) -> Result<Value, Failed> {
    let tracks = tracks_of(number)?;
    Ok(json!({
        "samples": (tracks.samples, tracks.nodes.iter().map(|track| track.at.len()).sum::<usize>()),
        "odd": files::odd(&tracks),
        "began_s": tracks.began_s,
        "last_s": files::last(&tracks).as_secs(),
        "centre_deg": tracks.plane.map(|plane| plane.centre_deg),
        "longest_gap_s": tracks.longest_gap_s,
    }))
}

/// A movement as a request has it: as a file of ns-2, and what that cannot say, `null` if there is nothing.
pub(crate) fn in_request(number: u32) -> Result<Value, Failed> {
    let (of_file, _) = movement_of(number)?;
    let mut text = String::new();
    write_movement(&of_file, &mut text).map_err(|error| Failed::Wrong(error.to_string()))?;
    let says_more = |node: &Trajectory| {
        node.label.is_some()
            || !(node.heights.is_empty() && node.present.is_empty() && node.crashes.is_empty())
    };
    let is_more = of_file.trajectories.iter().any(says_more);
    let beside: Vec<Beside> = of_file.trajectories.iter().map(Beside::of).collect();
    Ok(json!({"movement": text, "beside": is_more.then_some(beside)}))
}
