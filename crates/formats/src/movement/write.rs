//! Writes movement in the form of `setdest`.

use std::fmt;

use manetlab_core::kernel::Time;
use manetlab_core::mobility::Command;

use super::Movement;
use crate::number::write_time;

/// Writes `movement` so that reading gives it back exactly: floats in their shortest form that is read back
/// to the same bits, times as exact decimals. Starts come first, then the commands in order of time, equal
/// times in order of node.
///
/// # Errors
/// Those of `out`.
pub fn write_movement(movement: &Movement, out: &mut impl fmt::Write) -> fmt::Result {
    writeln!(out, "#\n# nodes: {}\n#", movement.trajectories.len())?;
    for (node, trajectory) in movement.trajectories.iter().enumerate() {
        let start = trajectory.start;
        writeln!(out, "$node_({node}) set X_ {:?}", start.x)?;
        writeln!(out, "$node_({node}) set Y_ {:?}", start.y)?;
        writeln!(out, "$node_({node}) set Z_ 0.0")?;
    }
    let mut timed: Vec<(Time, usize, &Command)> = Vec::new();
    for (node, trajectory) in movement.trajectories.iter().enumerate() {
        timed.extend(trajectory.commands.iter().map(|command| (command.at(), node, command)));
    }
    // The sort is stable: a node's commands at the same time keep their order.
    timed.sort_by_key(|&(at, _, _)| at);
    timed.into_iter().try_for_each(|(at, node, command)| write_command(out, &write_time(at), node, command))
}

fn write_command(out: &mut impl fmt::Write, at: &str, node: usize, command: &Command) -> fmt::Result {
    match *command {
        Command::GoTo { to, speed, .. } => {
            writeln!(out, r#"$ns_ at {at} "$node_({node}) setdest {:?} {:?} {speed:?}""#, to.x, to.y)
        }
        Command::Jump { to, .. } => {
            writeln!(out, r#"$ns_ at {at} "$node_({node}) set X_ {:?}""#, to.x)?;
            writeln!(out, r#"$ns_ at {at} "$node_({node}) set Y_ {:?}""#, to.y)
        }
    }
}
