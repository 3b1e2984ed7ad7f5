//! One node's walk: the movement commands of its legs and pauses until the end of the run.

use super::draw::{self, Underway};
use super::{Boundary, Start, WaypointParams};
use crate::kernel::{Span, Stream, Time};
use crate::mobility::{Command, Point, Trajectory};

/// The trajectory of the node that draws from `stream`, with every command before `duration`.
pub(super) fn trajectory(params: &WaypointParams, duration: Span, mut stream: Stream) -> Trajectory {
    let pause = Span::from_secs(params.pause_s);
    let mut walk = Walk::new(params, duration, Point::default());
    let start = match params.start {
        Start::Uniform => {
            walk.here = draw::place(params, &mut stream);
            walk.now += pause;
            walk.here
        }
        Start::Stationary if draw::is_paused(params, &mut stream) => {
            walk.here = draw::place(params, &mut stream);
            walk.now += stream.span_below(pause);
            walk.here
        }
        Start::Stationary => {
            let Underway { here, left, speed } = draw::underway(params, &mut stream);
            walk.here = here;
            walk.go(left, speed);
            walk.now += pause;
            here
        }
    };
    Trajectory::new(start, walk.until_end(&mut stream))
}

/// The commands of a node that is on a leg at time 0, at a place that was drawn uniformly.
///
/// Under *wrap* and *bounce*, and without a pause, this is the stationary state: there a place does not
/// depend on the leg.
pub(super) fn commands_from(
    here: Point,
    params: &WaypointParams,
    duration: Span,
    stream: &mut Stream,
) -> Vec<Command> {
    let mut walk = Walk::new(params, duration, here);
    let Underway { left, speed, .. } = draw::underway(params, stream);
    walk.go(left, speed);
    walk.until_end(stream)
}

/// A node underway.
struct Walk<'a> {
    params: &'a WaypointParams,
    now: Time,
    end: Time,
    here: Point,
    commands: Vec<Command>,
}

impl<'a> Walk<'a> {
    fn new(params: &'a WaypointParams, duration: Span, here: Point) -> Walk<'a> {
        Walk { params, now: Time::ZERO, end: Time::ZERO + duration, here, commands: Vec::new() }
    }

    /// Walks leg after leg; all commands of the walk.
    fn until_end(mut self, stream: &mut Stream) -> Vec<Command> {
        while self.now < self.end {
            let leg = match self.params.boundary {
                Boundary::Classic => {
                    let to = draw::place(self.params, stream);
                    Point { x: to.x - self.here.x, y: to.y - self.here.y }
                }
                Boundary::Wrap | Boundary::Bounce => draw::displacement(self.params, stream),
            };
            self.go(leg, draw::speed(self.params, stream));
            self.now += Span::from_secs(self.params.pause_s);
        }
        self.commands
    }

    /// Walks along `left`, in m, and obeys the rule at each edge on the way.
    fn go(&mut self, mut left: Point, speed: f64) {
        let corner = self.params.corner();
        while self.now < self.end {
            let (share_x, share_y) =
                (until_edge(self.here.x, left.x, corner.x), until_edge(self.here.y, left.y, corner.y));
            let share = share_x.min(share_y);
            let goal =
                Point { x: self.here.x + left.x * share.min(1.0), y: self.here.y + left.y * share.min(1.0) };
            let mut goal = draw::inside(goal, self.params);
            // No edge on the way. Under the classic rule a destination on the edge is no crossing either.
            if share >= 1.0 || self.params.boundary == Boundary::Classic {
                return self.walk_to(goal, speed);
            }
            let (at_x, at_y) = (share_x <= share, share_y <= share);
            // On the edge exactly, so that the next piece does not find it again.
            if at_x {
                goal.x = if left.x > 0.0 { corner.x } else { 0.0 };
            }
            if at_y {
                goal.y = if left.y > 0.0 { corner.y } else { 0.0 };
            }
            self.walk_to(goal, speed);
            left = Point { x: left.x * (1.0 - share), y: left.y * (1.0 - share) };
            match self.params.boundary {
                Boundary::Wrap => self.jump(Point {
                    x: if at_x { corner.x - goal.x } else { goal.x },
                    y: if at_y { corner.y - goal.y } else { goal.y },
                }),
                Boundary::Bounce | Boundary::Classic => {
                    left.x = if at_x { -left.x } else { left.x };
                    left.y = if at_y { -left.y } else { left.y };
                }
            }
        }
    }

    /// A straight piece within the field.
    fn walk_to(&mut self, to: Point, speed: f64) {
        let distance = self.here.distance(to);
        if distance > 0.0 && self.now < self.end {
            self.commands.push(Command::GoTo { at: self.now, to, speed });
            // As `Path` computes the arrival, to the nanosecond.
            self.now += Span::from_secs(distance / speed);
            self.here = to;
        }
    }

    fn jump(&mut self, to: Point) {
        if self.now < self.end {
            self.commands.push(Command::Jump { at: self.now, to });
        }
        self.here = to;
    }
}

/// The share of a displacement `by` after which `at` reaches 0 or `side`; infinite if it does not move.
fn until_edge(at: f64, by: f64, side: f64) -> f64 {
    if by > 0.0 {
        (side - at) / by
    } else if by < 0.0 {
        at / -by
    } else {
        f64::INFINITY
    }
}
