//! From what lines say of nodes to their trajectories.

use std::collections::BTreeMap;

use manetlab_core::kernel::{Span, Time};
use manetlab_core::mobility::{Command, Height, Path, Point, Presence, Trajectory};

use super::Movement;
use crate::error::{Fault, Parsed};
use crate::limits::Limits;
use crate::tracks::looks_like_degrees;

/// A coordinate's axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Axis {
    X,
    Y,
    Z,
}

/// What a line says.
#[derive(Clone, Copy)]
pub(crate) enum Statement {
    /// Something that is of no consequence here.
    Nothing,
    /// A coordinate of a node's start.
    Start { node: u32, axis: Axis, value: f64 },
    /// A timed order to a node.
    Timed { node: u32, at: Time, order: Order },
}

/// An order to a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Order {
    /// Go to a place, and to a height if it is given, at a speed in m/s.
    GoTo { to: Point, height_m: Option<f64>, speed: f64 },
    /// Be at a place at once.
    Jump { to: Point },
    /// Have a coordinate at once.
    Put { axis: Axis, value: f64 },
    /// Be there, or be away.
    There(bool),
}

/// A speed from which on an order to go somewhere places a node, in m/s: generators write 10^9.
pub(crate) const AT_ONCE_MPS: f64 = 1e6;

/// How far a node that is told to rest may be from where it is told to be, in m, before that is counted:
/// generators print rounded positions.
const REST_TOLERANCE_M: f64 = 0.5;

/// What the lines so far say of one node.
#[derive(Default)]
struct Node {
    /// Where it is named first.
    line: u64,
    x: Option<f64>,
    y: Option<f64>,
    z: Option<f64>,
    orders: Vec<(Time, Order)>,
    /// Orders to walk at speed 0: time and destination.
    rests: Vec<(Time, Point)>,
}

/// The nodes named so far. A map, so that one line with a great index does not make a table of that size.
#[derive(Default)]
pub(crate) struct Nodes(BTreeMap<u32, Node>);

impl Nodes {
    /// A node that is there even if nothing more is said of it.
    pub(crate) fn name(&mut self, node: u32, line: u64) {
        self.0.entry(node).or_insert_with(|| Node { line, ..Node::default() });
    }

    pub(crate) fn take(&mut self, line: u64, statement: Statement) -> Parsed<()> {
        let (Statement::Start { node, .. } | Statement::Timed { node, .. }) = statement else {
            return Ok(());
        };
        let entry = self.0.entry(node).or_insert_with(|| Node { line, ..Node::default() });
        match statement {
            Statement::Start { axis, value, .. } => entry.place(node, axis, value),
            Statement::Timed { at, order, .. } => {
                if let Order::GoTo { to, speed: 0.0, .. } = order {
                    entry.rests.push((at, to));
                }
                entry.orders.push((at, order));
                Ok(())
            }
            Statement::Nothing => Ok(()),
        }
    }

    /// The movement; nodes that are not numbered 0, 1, 2 … are so, and keep their numbers as names.
    pub(crate) fn finish(self, limits: &Limits) -> Parsed<Movement> {
        if self.0.is_empty() {
            let hint = "give a file of setdest; every node needs its X_ and Y_";
            return Err(Fault::new("no nodes", "comments only", "the start of at least one node", hint));
        }
        if !limits.metres {
            self.check_metres()?;
        }
        let named = self.0.keys().zip(0u32..).any(|(&index, number)| index != number);
        let mut movement = Movement::default();
        for (index, node) in self.0 {
            movement.unplaced += usize::from(node.x.is_none());
            let (mut trajectory, elsewhere) = node.trajectory(index)?;
            trajectory.label = named.then(|| index.to_string());
            movement.trajectories.push(trajectory);
            movement.rests_elsewhere += elsewhere;
        }
        Ok(movement)
    }

    /// Refuses longitudes and latitudes: taken as metres, all nodes would be at one place.
    fn check_metres(&self) -> Parsed<()> {
        let points = |node: &Node| {
            let goals = node.orders.iter().filter_map(|&(_, order)| match order {
                Order::GoTo { to, .. } | Order::Jump { to } => Some(to),
                _ => None,
            });
            node.x.zip(node.y).map(|(x, y)| Point { x, y }).into_iter().chain(goals).collect::<Vec<_>>()
        };
        let points: Vec<Vec<Point>> =
            self.0.values().map(points).filter(|points| !points.is_empty()).collect();
        let column = |of: fn(&Point) -> f64| {
            points.iter().map(|p| p.iter().map(of).collect()).collect::<Vec<Vec<f64>>>()
        };
        let (xs, ys) = (column(|p| p.x), column(|p| p.y));
        let (x, y): (Vec<_>, Vec<_>) =
            (xs.iter().map(Vec::as_slice).collect(), ys.iter().map(Vec::as_slice).collect());
        if !looks_like_degrees(&x, &y) {
            return Ok(());
        }
        let found = format!("all nodes within 2 m of ({}, {})", xs[0][0], ys[0][0]);
        let hint = "write CSV with the columns time,id,lon,lat: manetlab projects it";
        Err(Fault::new("coordinates that look like degrees", found, "coordinates in m", hint))
    }
}

impl Node {
    fn place(&mut self, index: u32, axis: Axis, value: f64) -> Parsed<()> {
        let slot = match axis {
            Axis::X => &mut self.x,
            Axis::Y => &mut self.y,
            Axis::Z => &mut self.z,
        };
        if slot.replace(value).is_none() || axis == Axis::Z {
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
        let start = match (self.x, self.y) {
            (Some(x), Some(y)) => Point { x, y },
            // As in ns-2 and ns-3.
            (None, None) => Point::default(),
            (x, _) => {
                let axis = if x.is_none() { "X_" } else { "Y_" };
                return Err(Fault::new(
                    "node without a start",
                    format!("$node_({index}) without its {axis}"),
                    "the X_ and the Y_ of every node",
                    format!("add  $node_({index}) set {axis} 12.5"),
                )
                .at(self.line));
            }
        };
        self.orders.sort_by_key(|&(at, _)| at);
        let mut walk = Walk::new(start, self.z.unwrap_or(0.0));
        let mut orders = self.orders.iter().copied().peekable();
        while let Some((at, order)) = orders.next() {
            match order {
                Order::GoTo { to, height_m: None, speed } => {
                    walk.commands.push(Command::GoTo { at, to, speed });
                }
                Order::GoTo { to, height_m: Some(z_m), speed } => walk.climb(at, to, z_m, speed),
                Order::Jump { to } => walk.jump(at, to),
                Order::There(there) => walk.states.push((at, there)),
                Order::Put { axis: Axis::Z, value } => walk.put_height(at, value),
                Order::Put { axis, value } => {
                    let other = orders.next_if(|&(time, next)| {
                        let other = |other| other != axis && other != Axis::Z;
                        time == at && matches!(next, Order::Put { axis, .. } if other(axis))
                    });
                    let other =
                        other.and_then(
                            |(_, order)| {
                                if let Order::Put { value, .. } = order { Some(value) } else { None }
                            },
                        );
                    let to = match (axis, other) {
                        (Axis::X, Some(y)) => Point { x: value, y },
                        (_, Some(x)) => Point { x, y: value },
                        (Axis::X, None) => Point { x: value, ..walk.here(at) },
                        (_, None) => Point { y: value, ..walk.here(at) },
                    };
                    walk.jump(at, to);
                }
            }
        }
        let trajectory = walk.finish();
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

/// A node's way as its orders come, in order of time.
struct Walk {
    start: Point,
    commands: Vec<Command>,
    /// The last place known without looking at the path, and the number of commands obeyed before it: every
    /// command is looked at once only.
    anchor: Point,
    known: usize,
    heights: Vec<Height>,
    states: Vec<(Time, bool)>,
}

impl Walk {
    fn new(start: Point, z_m: f64) -> Walk {
        let heights = if z_m == 0.0 { Vec::new() } else { vec![Height { at: Time::ZERO, z_m }] };
        Walk { start, commands: Vec::new(), anchor: start, known: 0, heights, states: Vec::new() }
    }

    /// Where the node is.
    fn here(&self, at: Time) -> Point {
        let walk = Trajectory::new(self.anchor, self.commands[self.known..].to_vec());
        Path::new(&walk).position(at)
    }

    fn jump(&mut self, at: Time, to: Point) {
        self.commands.push(Command::Jump { at, to });
        (self.anchor, self.known) = (to, self.commands.len());
    }

    /// The height at a time that no earlier one is asked for after.
    fn height(&self, at: Time) -> f64 {
        let next = self.heights.partition_point(|height| height.at <= at);
        match (next.checked_sub(1).map(|last| self.heights[last]), self.heights.get(next)) {
            (Some(last), Some(next)) => {
                let share = at.since(last.at).as_secs() / next.at.since(last.at).as_secs();
                last.z_m + share * (next.z_m - last.z_m)
            }
            (Some(known), None) | (None, Some(&known)) => known.z_m,
            (None, None) => 0.0,
        }
    }

    /// The node is at this height from now on.
    fn put_height(&mut self, at: Time, z_m: f64) {
        let before = self.height(at);
        if before - z_m == 0.0 {
            return;
        }
        self.heights.retain(|height| height.at < at);
        // Heights change evenly between two times: a nanosecond is as good as at once.
        if let Some(just_before) =
            at.0.checked_sub(1).map(Time).filter(|&t| self.heights.last().is_none_or(|h| h.at < t))
        {
            self.heights.push(Height { at: just_before, z_m: before });
        }
        self.heights.push(Height { at, z_m });
    }

    /// An order with a height: the speed is that along the slope.
    fn climb(&mut self, at: Time, to: Point, z_m: f64, speed: f64) {
        let (from, low) = (self.here(at), self.height(at));
        let flat = from.distance(to);
        let length = libm::hypot(flat, z_m - low);
        self.heights.retain(|height| height.at < at);
        if low != 0.0 || z_m != 0.0 || !self.heights.is_empty() {
            self.heights.push(Height { at, z_m: low });
        }
        (self.anchor, self.known) = (from, self.commands.len());
        let share = if length > 0.0 { flat / length } else { 1.0 };
        self.commands.push(Command::GoTo { at, to, speed: speed * share });
        if speed > 0.0 && z_m - low != 0.0 {
            let takes = Span::from_secs((length / speed).min(1e9));
            let arrival = Time(at.0.saturating_add(takes.0.max(1)));
            self.heights.push(Height { at: arrival, z_m });
        }
    }

    fn finish(self) -> Trajectory {
        let mut trajectory = Trajectory::new(self.start, self.commands);
        trajectory.heights = self.heights;
        trajectory.present = stays(&self.states);
        trajectory
    }
}

/// From when until when a node is there that is switched on and off; before its first switch it is as it is
/// not afterwards.
fn stays(states: &[(Time, bool)]) -> Vec<Presence> {
    let mut stays = Vec::new();
    let mut since = match states.first() {
        Some((_, false)) => Some(Time::ZERO),
        _ => None,
    };
    for &(at, there) in states {
        match (since, there) {
            (None, true) => since = Some(at),
            (Some(from), false) => {
                stays.push(Presence { from, until: at });
                since = None;
            }
            _ => {}
        }
    }
    if let Some(from) = since {
        stays.push(Presence { from, until: Time::NEVER });
    }
    stays.retain(|stay| stay.from < stay.until);
    if stays.is_empty() && states.iter().any(|&(_, there)| !there) {
        // It is never there, which an empty list would not say.
        stays.push(Presence { from: Time(u64::MAX - 1), until: Time::NEVER });
    }
    stays
}
