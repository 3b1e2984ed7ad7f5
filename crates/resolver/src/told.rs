//! The core's errors in manetlab's five parts.

use manetlab_core::mobility::waypoint::WaypointError;
use manetlab_core::mobility::{MAX_COMMANDS, ModelError};
use manetlab_core::params::OutOfRange;
use manetlab_core::scenario::{About, ScenarioError};
use manetlab_core::traffic::{MAX_REPLIES, WebError};
use manetlab_formats::ReadError;

/// The hint where only manetlab's own Python could have gone wrong.
pub const FROM_PYTHON: &str = "please report this: the package and its compiled part disagree";

/// What `manetlab.errors.InputError` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// What is wrong, in a few words.
    pub what: String,
    /// The file with its line, or the field.
    pub place: String,
    /// What was found.
    pub found: String,
    /// What would be right.
    pub wanted: String,
    /// What to do about it.
    pub hint: String,
}

impl Told {
    /// The error with these parts.
    pub fn new(what: &str, place: &str, found: &str, wanted: &str, hint: &str) -> Told {
        Told {
            what: what.to_owned(),
            place: place.to_owned(),
            found: found.to_owned(),
            wanted: wanted.to_owned(),
            hint: hint.to_owned(),
        }
    }

    /// What a reader says about a file.
    pub fn of_reading(error: &ReadError) -> Told {
        let place =
            error.line.map_or_else(|| error.file.to_string(), |line| format!("{}:{line}", error.file));
        Told::new(&error.what, &place, &error.found, &error.wanted, &error.hint)
    }

    /// What the core says about a scenario that came from `place`.
    pub(crate) fn of_scenario(error: &ScenarioError, place: &str) -> Told {
        match error {
            ScenarioError::OutOfRange(out) => Told::of_range(out, place),
            ScenarioError::Unusable { about, field, found, wanted } => {
                Told::new(&format!("{field} cannot be used"), place, found, wanted, hint_on(*about))
            }
        }
    }

    fn of_range(out: &OutOfRange, place: &str) -> Told {
        Told::new(
            &format!("{} is outside its range", out.field),
            place,
            &out.found,
            &out.wanted,
            "`manetlab profile show rfc` lists every parameter with its unit",
        )
    }

    /// What the generator of Web sessions says about its parameters.
    pub(crate) fn of_web(error: &WebError) -> Told {
        let place = "traffic.web";
        match error {
            WebError::OutOfRange(out) => Told::of_range(out, place),
            WebError::TooFewNodes { needed, nodes } => Told::new(
                "too few nodes for the Web sessions",
                place,
                &format!("{nodes} nodes"),
                &format!("at least {needed} nodes"),
                "clients and servers are all on nodes of their own",
            ),
            WebError::BoundsCrossed { least, most } => Told::new(
                "the least reply is longer than the greatest",
                place,
                &format!("reply_min_bytes = {least}"),
                &format!("at most reply_max_bytes, {most}"),
                "swap the two values",
            ),
            WebError::TooLong { replies } => Told::new(
                "the Web sessions would fill the memory",
                place,
                &format!("about {:.0} million replies", replies / 1e6),
                &format!("at most {:.0} million", MAX_REPLIES / 1e6),
                "ask for fewer clients, cycles or replies",
            ),
        }
    }

    /// What the movement model of that name says about its parameters.
    pub fn of_model(error: &ModelError, name: &str) -> Told {
        let place = format!("movement.{name}");
        match error {
            ModelError::OutOfRange(out) => Told::of_range(out, &place),
            ModelError::Unfit(unfit) => Told::new(
                &format!("{} cannot be used", unfit.field),
                &place,
                &unfit.found,
                &unfit.wanted,
                unfit.hint,
            ),
            ModelError::Waypoint(error) => Told::of_waypoint(error),
            ModelError::TooLong(commands) => {
                Told::too_long(*commands, &place, "ask for fewer nodes, a shorter run or longer steps")
            }
        }
    }

    /// What the generator of random waypoint movement says about its parameters.
    fn of_waypoint(error: &WaypointError) -> Told {
        let place = "movement.waypoint";
        match error {
            WaypointError::OutOfRange(out) => Told::of_range(out, place),
            WaypointError::Speeds { min, max } => Told::new(
                "the minimum speed is above the maximum",
                place,
                &format!("speed_min = {min} m/s"),
                &format!("at most speed_max, {max} m/s"),
                "swap the two values",
            ),
            WaypointError::StationaryAtRest => Told::new(
                "a stationary start needs a speed above 0",
                place,
                "speed_min = 0 m/s",
                "a speed_min above 0",
                "set speed_min to 0.1, or start to \"uniform\"",
            ),
            WaypointError::WrapNeedsSquare { width_m, height_m } => Told::new(
                "only a square wraps around",
                place,
                &format!("{width_m} m × {height_m} m"),
                "height_m = width_m",
                "or set boundary to \"classic\" or \"bounce\"",
            ),
            WaypointError::TooLong { commands } => {
                Told::too_long(*commands, place, "ask for fewer nodes, a shorter run or a longer pause")
            }
        }
    }

    /// What is said about movement of more commands than may be generated.
    pub(crate) fn too_long(commands: f64, place: &str, hint: &str) -> Told {
        Told::new(
            "the movement would fill the memory",
            place,
            &format!("about {:.0} million changes of direction", commands / 1e6),
            &format!("at most {:.0} million", MAX_COMMANDS / 1e6),
            hint,
        )
    }
}

fn hint_on(about: About) -> &'static str {
    match about {
        About::Ends => "a flow needs two ends",
        About::Node => "the number of nodes comes from the movement",
        About::Times => "a longer duration, or an earlier start",
        About::Nodes => "a scenario needs nodes, and not more than a computer holds",
        About::Heights => "for example --set radio.path_loss=friis or --set movement.flat=true",
        About::Value => "see `manetlab scenario show` for what the scenario says",
    }
}
