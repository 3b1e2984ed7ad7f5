//! Reads movement files.

use manetlab_core::kernel::Time;
use manetlab_core::mobility::Point;

use super::Movement;
use super::nodes::{AT_ONCE_MPS, Axis, Nodes, Order, Statement};
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
    r#"$ns_ at 10.0 "$node_(0) switch OFF""#,
    r#"$ns_ at 10.0 "$node_(0) set X_ 12.5""#,
    r#"$ns_ at 10.0 "$node_(0) set Y_ 12.5""#,
    "$god_ set-dist 0 1 1",
    r#"$ns_ at 10.0 "$god_ set-dist 0 1 1""#,
    "set god_ [God instance]",
];

/// Reads a movement file; `name` is for errors. The forms are those of [the module](super).
///
/// # Errors
/// A line that is not understood, a value outside `limits`, half a start of a node, degrees in place of
/// metres, an empty file, or bytes that are not text.
pub fn read_movement(bytes: &[u8], name: &str, limits: &Limits) -> Result<Movement, ReadError> {
    let mut nodes = Nodes::default();
    each_line(bytes, name, limits, |number, line| nodes.take(number, statement(line, limits)?))?;
    nodes.finish(limits).map_err(|fault| fault.in_file(name, None))
}

fn statement(line: &str, limits: &Limits) -> Parsed<Statement> {
    let mut words = Words::new(line);
    let understood = match words.next() {
        word if is_simulator(word) => timed(words, limits)?,
        "$god_" | "$god" => god(words)?,
        "set" => (words.rest() == "god_ [God instance]").then_some(Statement::Nothing),
        word => match node(word, limits)? {
            Some(node) => untimed(node, words, limits)?,
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
    Ok(order(words, limits)?.map(|order| Statement::Timed { node, at, order }))
}

/// What is said of a node without a time: its start, or an order for the beginning.
fn untimed(node: u32, words: Words<'_>, limits: &Limits) -> Parsed<Option<Statement>> {
    Ok(order(words, limits)?.map(|order| match order {
        Order::Put { axis, value } => Statement::Start { node, axis, value },
        order => Statement::Timed { node, at: Time::ZERO, order },
    }))
}

/// `setdest x y speed`, `setdest x y z speed`, `set X_ v` or `switch ON`, behind the node.
pub(crate) fn order(words: Words<'_>, limits: &Limits) -> Parsed<Option<Order>> {
    let place = |x, y| Parsed::Ok(Point { x: coordinate(x, limits)?, y: coordinate(y, limits)? });
    if let Some(["setdest", x, y, speed]) = words.clone().last() {
        let to = place(x, y)?;
        let speed = self::speed(speed, limits)?;
        return Ok(Some(if speed >= AT_ONCE_MPS {
            Order::Jump { to }
        } else {
            Order::GoTo { to, height_m: None, speed }
        }));
    }
    if let Some(["setdest", x, y, z, speed]) = words.clone().last() {
        let (to, height_m) = (place(x, y)?, Some(coordinate(z, limits)?));
        return Ok(Some(Order::GoTo {
            to,
            height_m,
            speed: number::bounded(speed, "speed", 0.0, limits.max_speed, "m/s")?,
        }));
    }
    if let Some(["switch", state]) = words.clone().last() {
        return match state {
            "ON" | "on" => Ok(Some(Order::There(true))),
            "OFF" | "off" => Ok(Some(Order::There(false))),
            _ => Err(Fault::new(
                "switch",
                quoted(state),
                "ON or OFF",
                "whether the node is there from then on",
            )),
        };
    }
    let Some(["set", axis, value]) = words.last() else { return Ok(None) };
    let axis = match axis {
        "X_" => Axis::X,
        "Y_" => Axis::Y,
        "Z_" => Axis::Z,
        _ => return Ok(None),
    };
    Ok(Some(Order::Put { axis, value: coordinate(value, limits)? }))
}

/// A speed; from a million m/s on any will do, as it stands for `at once`.
fn speed(text: &str, limits: &Limits) -> Parsed<f64> {
    match number::decimal(text) {
        Some(speed) if speed >= AT_ONCE_MPS => Ok(speed),
        _ => number::bounded(text, "speed", 0.0, limits.max_speed, "m/s"),
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
