//! A conference: people in the rows of a room, of whom one in ten walks about, and a speaker.
//!
//! After the first of the three scenarios of Johansson et al., "Scenario-Based Performance Analysis of
//! Routing Protocols for Mobile Ad-hoc Networks", MobiCom 1999, whose text could not be read:
//! *Decisions* in docs/models/mobility.md.
//!
//! The stage is at the western wall, the entrance at the eastern one, and seats are in rows between
//! them, over four fifths of the room. All but the speaker walk to places uniform in the room and pause
//! there; pauses are exponential, and at time 0 all of them pause. The speaker, node 0, goes about the
//! stage without a pause.

use super::course::Course;
use super::drawn::{Drawn, Unfit, place_in};
use super::waypoint;
use super::{Point, Trajectory};
use crate::kernel::{Purpose, Span, Stream, Streams};
use crate::params::params;

params! {
    /// A conference.
    pub struct ConferenceParams in "conference" {
        /// Number of people: the speaker, those at the entrance, and those in the rows.
        nodes: u32 = 50, "", "Johansson et al. 1999", [2.0, 1e5];
        /// Width of the room, from the stage to the entrance.
        width_m: f64 = 150.0, "m", "decision (from memory)", [20.0, 1e6];
        /// Height of the room.
        height_m: f64 = 90.0, "m", "decision (from memory)", [20.0, 1e6];
        /// How many people are at the entrance when the run begins.
        at_entrance: u32 = 4, "", "decision", [0.0, 1e5];
        /// Speed of those who walk.
        speed: f64 = 1.0, "m/s", "decision", [0.001, 1000.0];
        /// Share of the time for which each of them walks.
        walking_share: f64 = 0.1, "", "Johansson et al. 1999", [0.001, 0.999];
        /// Length of the stage.
        stage_m: f64 = 10.0, "m", "decision", [0.1, 1e6];
    }
}

/// The part of the room before the rows, where the stage is.
const FRONT: f64 = 0.2;
/// How far from the entrance those at it are, at most, in m.
const ENTRANCE_M: f64 = 3.0;

impl Drawn for ConferenceParams {
    fn fit(&self) -> Result<(), Unfit> {
        if self.at_entrance + 1 > self.nodes {
            return Err(Unfit {
                field: "conference.at_entrance",
                found: self.at_entrance.to_string(),
                wanted: format!("at most {}", self.nodes - 1),
                hint: "nodes counts all people, the speaker among them",
            });
        }
        if self.stage_m > self.height_m {
            return Err(Unfit {
                field: "conference.stage_m",
                found: format!("{} m", self.stage_m),
                wanted: format!("at most height_m, {} m", self.height_m),
                hint: "the stage is along the western wall",
            });
        }
        Ok(())
    }

    fn commands(&self, duration: Span) -> f64 {
        let of_audience = self.speed * self.walking_share / self.mean_walk_m();
        let of_speaker = 3.0 * self.speed / self.stage_m;
        duration.as_secs() * (f64::from(self.nodes - 1) * of_audience + of_speaker) + f64::from(self.nodes)
    }

    fn trajectories(&self, duration: Span, streams: &Streams) -> Vec<Trajectory> {
        let node = |node| {
            let mut stream = streams.stream(node, Purpose::Mobility);
            if node == 0 {
                self.speaker(duration, &mut stream)
            } else {
                self.walker(node, duration, &mut stream)
            }
        };
        (0..self.nodes).map(node).collect()
    }
}

impl ConferenceParams {
    fn room(&self) -> Point {
        Point { x: self.width_m, y: self.height_m }
    }

    fn mean_walk_m(&self) -> f64 {
        waypoint::mean_distance_m(self.room())
    }

    fn speaker(&self, duration: Span, stream: &mut Stream) -> Trajectory {
        let place = |stream: &mut Stream| Point {
            x: FRONT / 2.0 * self.width_m,
            y: self.height_m / 2.0 + self.stage_m * (stream.unit() - 0.5),
        };
        let start = place(stream);
        let mut course = Course::new(start, duration);
        while course.is_underway() {
            course.walk_to(place(stream), self.speed);
        }
        Trajectory::new(start, course.commands)
    }

    fn walker(&self, node: u32, duration: Span, stream: &mut Stream) -> Trajectory {
        let start = if node <= self.at_entrance { self.place_at_entrance(stream) } else { self.seat(node) };
        let mean_pause_s = self.mean_walk_m() / self.speed * (1.0 - self.walking_share) / self.walking_share;
        let mut course = Course::new(start, duration);
        loop {
            // An exponential pause has no memory: the rest of one is as long.
            course.rest(Span::from_secs(stream.exponential(mean_pause_s)));
            if !course.is_underway() {
                return Trajectory::new(start, course.commands);
            }
            course.walk_to(place_in(self.room(), stream), self.speed);
        }
    }

    fn place_at_entrance(&self, stream: &mut Stream) -> Point {
        Point {
            x: self.width_m - stream.uniform(0.0, ENTRANCE_M),
            y: self.height_m / 2.0 + stream.uniform(-ENTRANCE_M, ENTRANCE_M),
        }
    }

    /// The seat of a node that has one: rows are as far apart as seats in a row, as nearly as it can be.
    fn seat(&self, node: u32) -> Point {
        let seats = self.nodes - 1 - self.at_entrance;
        let depth_m = (1.0 - FRONT) * self.width_m;
        let rows = (f64::from(seats) * depth_m / self.height_m).sqrt().round().max(1.0);
        let in_row = (f64::from(seats) / rows).ceil();
        let seat = f64::from(node - 1 - self.at_entrance);
        let (row, place) = ((seat / in_row).floor(), seat % in_row);
        Point {
            x: FRONT * self.width_m + depth_m * (row + 0.5) / rows,
            y: self.height_m * (place + 0.5) / in_row,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::drawn::tests::{paths, velocity_at};

    #[test]
    fn one_in_ten_walks_once_the_first_have_got_up_and_the_speaker_stays_on_stage() {
        let params = ConferenceParams { nodes: 4000, ..Default::default() };
        let paths = paths(&params, 2000.0);
        let walking = paths[1..].iter().filter(|path| velocity_at(path, 1990.0) != Point::default()).count();
        let share = walking as f64 / 3999.0;
        assert!((share - 0.1).abs() < 4.0 * (0.09f64 / 3999.0).sqrt(), "{share}");
        for leg in paths[0].legs() {
            assert!((leg.from.x - 15.0).abs() < 1e-9 && (leg.from.y - 45.0).abs() <= 5.0 + 1e-6, "{leg:?}");
        }
    }

    #[test]
    fn everyone_has_a_seat_of_their_own_in_the_rows_or_is_at_the_entrance() {
        let people = ConferenceParams::default().trajectories(Span::ZERO, &Streams::new(1, 0));
        assert!(people[1..5].iter().all(|person| person.start.distance(Point { x: 150.0, y: 45.0 }) < 4.3));
        let seats: Vec<Point> = people[5..].iter().map(|person| person.start).collect();
        for (number, seat) in seats.iter().enumerate() {
            assert!((30.0..150.0).contains(&seat.x) && (0.0..90.0).contains(&seat.y), "{seat:?}");
            assert!(seats[..number].iter().all(|other| other.distance(*seat) > 5.0), "{number}");
        }
    }
}
