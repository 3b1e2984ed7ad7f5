//! One node's walk: the movement commands of its legs and pauses until the end of the run.

use super::draw::{self, Underway};
use super::{Boundary, Start, WaypointParams};
use crate::kernel::{Span, Stream};
use crate::mobility::course::Course;
use crate::mobility::{Command, Point, Trajectory};

/// The trajectory of the node that draws from `stream`, with every command before `duration`.
pub(super) fn trajectory(params: &WaypointParams, duration: Span, stream: &mut Stream) -> Trajectory {
    let pause = Span::from_secs(params.pause_s);
    let mut walk = Walk::new(params, duration, Point::default());
    let start = match params.start {
        Start::Uniform => {
            walk.course.here = draw::place(params, stream);
            walk.course.rest(pause);
            walk.course.here
        }
        Start::Stationary if draw::is_paused(params, stream) => {
            walk.course.here = draw::place(params, stream);
            walk.course.rest(stream.span_below(pause));
            walk.course.here
        }
        Start::Stationary => {
            let Underway { here, left, speed } = draw::underway(params, stream);
            walk.course.here = here;
            walk.go(left, speed);
            walk.course.rest(pause);
            here
        }
    };
    Trajectory::new(start, walk.until_end(stream))
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
    course: Course,
}

impl<'a> Walk<'a> {
    fn new(params: &'a WaypointParams, duration: Span, here: Point) -> Walk<'a> {
        Walk { params, course: Course::new(here, duration) }
    }

    /// Walks leg after leg; all commands of the walk.
    fn until_end(mut self, stream: &mut Stream) -> Vec<Command> {
        while self.course.is_underway() {
            let leg = match self.params.boundary {
                Boundary::Classic => {
                    let (to, here) = (draw::place(self.params, stream), self.course.here);
                    Point { x: to.x - here.x, y: to.y - here.y }
                }
                Boundary::Wrap | Boundary::Bounce => draw::displacement(self.params, stream),
            };
            self.go(leg, draw::speed(self.params, stream));
            self.course.rest(Span::from_secs(self.params.pause_s));
        }
        self.course.commands
    }

    fn go(&mut self, leg: Point, speed: f64) {
        self.course.go(leg, speed, self.params.corner(), self.params.boundary);
    }
}
