//! Reads movement files.

use std::collections::BTreeMap;

use manetlab_core::kernel::Time;
use manetlab_core::mobility::{Command, Path, Point, Trajectory};

use super::Movement;
use crate::error::{Fault, Parsed, ReadError, quoted};
use crate::hint::nearest;
use crate::limits::Limits;
use crate::number;
use crate::scan::{Words, each_line, is_simulator, node};

/// The forms to which a hint points.
const FORMS: &[&str] = &[
    "$node_(0) set X_ 12.5",
    "$node_(0) set Y_ 12.5",
    "$node_(0) set Z_ 0.0",
    r#"$ns_ at 10.0 "$node_(0) setdest 12.5 40.0 5.0""#,
    r#"$ns_ at 10.0 "$node_(0) set X_ 12.5""#,
    r#"$ns_ at 10.0 "$node_(0) set Y_ 12.5""#,
    "$god_ set-dist 0 1 1",
    r#"$ns_ at 10.0 "$god_ set-dist 0 1 1""#,
    "set god_ [God instance]",
];

/// Reads a movement file; `name` is for errors. The forms are those of [the module](super).
///
/// # Errors
/// A line that is not understood, a value outside `limits`, a node without a start, a gap in the nodes'
/// indices, an empty file, or bytes that are not text.
pub fn read_movement(bytes: &[u8], name: &str, limits: &Limits) -> Result<Movement, ReadError> {
    let mut nodes = Nodes::default();
    each_line(bytes, name, limits, |number, line| nodes.take(number, statement(line, limits)?))?;
    nodes.finish().map_err(|fault| fault.in_file(name, None))
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Axis {
    X,
    Y,
}

/// What a line says.
#[derive(Clone, Copy)]
enum Statement {
    /// Something that is of no consequence here.
    Nothing,
    /// A coordinate of a node's start.
    Start { node: u32, axis: Axis, value: f64 },
    /// A timed order to a node.
    Timed { node: u32, at: Time, order: Order },
}

#[derive(Clone, Copy)]
enum Order {
    GoTo { to: Point, speed: f64 },
    Put { axis: Axis, value: f64 },
}

fn statement(line: &str, limits: &Limits) -> Parsed<Statement> {
    let mut words = Words::new(line);
    let understood = match words.next() {
        word if is_simulator(word) => timed(words, limits)?,
        "$god_" | "$god" => god(words)?,
        "set" => (words.rest() == "god_ [God instance]").then_some(Statement::Nothing),
        word => match node(word, limits)? {
            Some(node) => placed(words, limits)?.map(|place| match place {
                Some((axis, value)) => Statement::Start { node, axis, value },
                None => Statement::Nothing,
            }),
            None => None,
        },
    };
    understood.ok_or_else(|| not_understood(line))
}

fn not_understood(line: &str) -> Box<Fault> {
    Fault::new("line not understood", quoted(line), "a line of a setdest movement file", nearest(line, FORMS))
}

/// `at T "…"`, behind the simulator's variable.
fn timed(mut words: Words<'_>, limits: &Limits) -> Parsed<Option<Statement>> {
    if words.next() != "at" {
        return Ok(None);
    }
    let time = words.next();
    let Some(mut words) = words.within('"', '"') else { return Ok(None) };
    let at = number::time(time, limits)?;
    let subject = words.next();
    if matches!(subject, "$god_" | "$god") {
        return god(words);
    }
    let Some(node) = node(subject, limits)? else { return Ok(None) };
    if let Some(["setdest", x, y, speed]) = words.clone().last() {
        let to = Point { x: coordinate(x, limits)?, y: coordinate(y, limits)? };
        let speed = number::bounded(speed, "speed", 0.0, limits.max_speed, "m/s")?;
        return Ok(Some(Statement::Timed { node, at, order: Order::GoTo { to, speed } }));
    }
    Ok(placed(words, limits)?.map(|place| match place {
        Some((axis, value)) => Statement::Timed { node, at, order: Order::Put { axis, value } },
        None => Statement::Nothing,
    }))
}

/// `set X_ v` or `set Y_ v`, behind the node; `set Z_ 0` is understood and gives no place.
fn placed(words: Words<'_>, limits: &Limits) -> Parsed<Option<Option<(Axis, f64)>>> {
    let Some(["set", axis, value]) = words.last() else { return Ok(None) };
    match axis {
        "X_" => Ok(Some(Some((Axis::X, coordinate(value, limits)?)))),
        "Y_" => Ok(Some(Some((Axis::Y, coordinate(value, limits)?)))),
        "Z_" if coordinate(value, limits)? == 0.0 => Ok(Some(None)),
        "Z_" => Err(Fault::new(
            "height",
            quoted(value),
            "0",
            "the field is a plane: project the movement onto it",
        )),
        _ => Ok(None),
    }
}

/// `set-dist a b hops`: the shortest path that setdest foresaw. It is checked, so that a cut-off or garbled
/// file does not pass, and not used.
fn god(words: Words<'_>) -> Parsed<Option<Statement>> {
    let Some(["set-dist", a, b, hops]) = words.last() else { return Ok(None) };
    for number in [a, b, hops] {
        number::integer(number, "set-dist", 0, u64::from(u32::MAX))?;
    }
    Ok(Some(Statement::Nothing))
}

fn coordinate(text: &str, limits: &Limits) -> Parsed<f64> {
    number::bounded(text, "coordinate", -limits.max_coordinate_m, limits.max_coordinate_m, "m")
}

/// What the lines so far say of one node.
struct Node {
    /// Where it is named first.
    line: u64,
    x: Option<f64>,
    y: Option<f64>,
    orders: Vec<(Time, Order)>,
    /// Orders to walk at speed 0: time and destination.
    rests: Vec<(Time, Point)>,
}

/// How far a node that is told to rest may be from where it is told to be, in m, before that is counted:
/// generators print rounded positions.
const REST_TOLERANCE_M: f64 = 0.5;

/// The nodes named so far. A map, so that one line with a great index does not make a table of that size.
#[derive(Default)]
struct Nodes(BTreeMap<u32, Node>);

impl Nodes {
    fn take(&mut self, line: u64, statement: Statement) -> Parsed<()> {
        let (Statement::Start { node, .. } | Statement::Timed { node, .. }) = statement else {
            return Ok(());
        };
        let entry = self.0.entry(node).or_insert_with(|| Node {
            line,
            x: None,
            y: None,
            orders: Vec::new(),
            rests: Vec::new(),
        });
        match statement {
            Statement::Start { axis, value, .. } => entry.place(node, axis, value),
            Statement::Timed { at, order, .. } => {
                if let Order::GoTo { to, speed: 0.0 } = order {
                    entry.rests.push((at, to));
                }
                entry.orders.push((at, order));
                Ok(())
            }
            Statement::Nothing => Ok(()),
        }
    }

    fn finish(self) -> Parsed<Movement> {
        if self.0.is_empty() {
            let hint = "give a file of setdest; every node needs its X_ and Y_";
            return Err(Fault::new("no nodes", "comments only", "the start of at least one node", hint));
        }
        let mut trajectories = Vec::with_capacity(self.0.len());
        let mut rests_elsewhere = 0;
        for (expected, (index, node)) in (0u32..).zip(self.0) {
            if index != expected {
                let hint = match expected {
                    0 => "old versions of setdest count from 1: subtract 1 from every index",
                    _ => "place the node that is missing, or number the nodes anew",
                };
                return Err(Fault::new(
                    "gap in the nodes",
                    format!("$node_({index}), but nothing of $node_({expected})"),
                    "nodes 0, 1, 2 … without a gap",
                    hint,
                )
                .at(node.line));
            }
            let (trajectory, elsewhere) = node.trajectory(index)?;
            trajectories.push(trajectory);
            rests_elsewhere += elsewhere;
        }
        Ok(Movement { trajectories, rests_elsewhere })
    }
}

impl Node {
    fn place(&mut self, index: u32, axis: Axis, value: f64) -> Parsed<()> {
        let slot = if axis == Axis::X { &mut self.x } else { &mut self.y };
        if slot.replace(value).is_none() {
            return Ok(());
        }
        Err(Fault::new(
            "node placed twice",
            format!("a second `set {axis:?}_` of $node_({index})"),
            "one start for each node",
            "are these two movement files in one? a later jump is written with `$ns_ at`",
        ))
    }

    /// Where the node starts and goes, and how many orders at speed 0 it has to a place where it is not.
    fn trajectory(mut self, index: u32) -> Parsed<(Trajectory, usize)> {
        let (Some(x), Some(y)) = (self.x, self.y) else {
            let axis = if self.x.is_none() { "X_" } else { "Y_" };
            return Err(Fault::new(
                "node without a start",
                format!("$node_({index}) without its {axis}"),
                "the X_ and the Y_ of every node",
                format!("add  $node_({index}) set {axis} 12.5"),
            )
            .at(self.line));
        };
        self.orders.sort_by_key(|&(at, _)| at);
        let start = Point { x, y };
        let trajectory = Trajectory::new(start, commands(start, &self.orders));
        let elsewhere = match &self.rests[..] {
            [] => 0,
            rests => rests_elsewhere(rests, &Path::new(&trajectory)),
        };
        Ok((trajectory, elsewhere))
    }
}

/// How many of these orders at speed 0 are to a place where the node is not.
fn rests_elsewhere(rests: &[(Time, Point)], path: &Path) -> usize {
    rests.iter().filter(|&&(at, to)| path.position(at).distance(to) > REST_TOLERANCE_M).count()
}

/// The commands that follow from a node's orders in order of time.
fn commands(start: Point, orders: &[(Time, Order)]) -> Vec<Command> {
    let mut commands = Vec::with_capacity(orders.len());
    // The last place known without looking at the path, and the number of commands obeyed before it.
    let (mut anchor, mut known) = (start, 0);
    let mut orders = orders.iter().copied().peekable();
    while let Some((at, order)) = orders.next() {
        match order {
            Order::GoTo { to, speed } => commands.push(Command::GoTo { at, to, speed }),
            Order::Put { axis, value } => {
                let other = orders.next_if(|&(time, next)| {
                    time == at && matches!(next, Order::Put { axis: other, .. } if other != axis)
                });
                let to = match (axis, other) {
                    (Axis::X, Some((_, Order::Put { value: y, .. }))) => Point { x: value, y },
                    (Axis::Y, Some((_, Order::Put { value: x, .. }))) => Point { x, y: value },
                    _ => {
                        // Every command is looked at once only: the jump is the next anchor.
                        let walk = Trajectory::new(anchor, commands[known..].to_vec());
                        let here = Path::new(&walk).position(at);
                        if axis == Axis::X { Point { x: value, ..here } } else { Point { y: value, ..here } }
                    }
                };
                commands.push(Command::Jump { at, to });
                (anchor, known) = (to, commands.len());
            }
        }
    }
    commands
}
