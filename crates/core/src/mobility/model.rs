//! All movement models in one table: a line makes a model known by its name, which is also the section of its
//! parameters.

use serde_json::{Map, Value};
use thiserror::Error;

use super::Trajectory;
use super::angular_gauss_markov::AngularGaussMarkovParams;
use super::conference::ConferenceParams;
use super::disaster::DisasterParams;
use super::disaster_area::DisasterAreaParams;
use super::drawn::{Drawn, MAX_COMMANDS, Unfit};
use super::event::EventParams;
use super::gauss_markov::GaussMarkovParams;
use super::manhattan::ManhattanParams;
use super::random_direction::RandomDirectionParams;
use super::random_walk::RandomWalkParams;
use super::rpgm::RpgmParams;
use super::waypoint::{self, WaypointError, WaypointParams};
use crate::kernel::{Span, Streams};
use crate::params::{OutOfRange, ParamInfo};

/// Why movement of a model cannot be generated.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ModelError {
    /// A parameter outside its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Parameters that do not fit each other.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// What random waypoint says of its own.
    #[error(transparent)]
    Waypoint(#[from] WaypointError),
    /// The movement would fill the memory.
    #[error("about {0:.0} commands, wanted at most {MAX_COMMANDS:.0}")]
    TooLong(f64),
}

/// The table, but for random waypoint, which comes first: `Kind: its parameters = "name"`.
macro_rules! models {
    ($($(#[doc = $doc:literal])+ $kind:ident: $params:ident = $name:literal,)+) => {
        /// A movement model with its parameters.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Model {
            /// Random waypoint.
            Waypoint(WaypointParams),
            $($(#[doc = $doc])+ $kind($params),)+
        }

        impl Model {
            /// The names of all models.
            pub const NAMES: &'static [&'static str] = &["waypoint", $($name,)+];

            /// The model of that name with parameters as JSON; those that are missing are defaults. None:
            /// there is no such model.
            ///
            /// # Errors
            /// They are no parameters of that model.
            pub fn read(name: &str, json: &str) -> Option<Result<Model, serde_json::Error>> {
                Some(match name {
                    "waypoint" => serde_json::from_str(json).map(Model::Waypoint),
                    $($name => serde_json::from_str(json).map(Model::$kind),)+
                    _ => return None,
                })
            }

            /// What there is to know of each parameter of all models.
            pub fn schema() -> impl Iterator<Item = &'static ParamInfo> {
                [WaypointParams::SCHEMA, $($params::SCHEMA,)+].into_iter().flatten()
            }

            /// The defaults of all models, by name.
            ///
            /// # Errors
            /// A default cannot be written.
            pub fn defaults() -> Result<Map<String, Value>, serde_json::Error> {
                let mut all = Map::new();
                all.insert("waypoint".to_owned(), serde_json::to_value(WaypointParams::default())?);
                $(all.insert($name.to_owned(), serde_json::to_value($params::default())?);)+
                Ok(all)
            }

            /// The name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    Model::Waypoint(_) => "waypoint",
                    $(Model::$kind(_) => $name,)+
                }
            }

            /// Trajectories of all nodes, with every command that is given before `duration`.
            ///
            /// # Errors
            /// Parameters that are out of range, that do not fit each other, or that would fill the memory.
            pub fn generate(&self, duration: Span, streams: &Streams) -> Result<Vec<Trajectory>, ModelError> {
                match self {
                    Model::Waypoint(params) => Ok(waypoint::generate(params, duration, streams)?),
                    $(Model::$kind(params) => {
                        params.check()?;
                        drawn(params, duration, streams)
                    })+
                }
            }
        }
    };
}

models! {
    /// Gauss-Markov: velocities that remember what they were, about a mean.
    GaussMarkov: GaussMarkovParams = "gauss_markov",
    /// Gauss-Markov of BonnMotion: speed and direction wander.
    AngularGaussMarkov: AngularGaussMarkovParams = "angular_gauss_markov",
    /// Reference point group mobility.
    Rpgm: RpgmParams = "rpgm",
    /// Streets of a grid.
    Manhattan: ManhattanParams = "manhattan",
    /// From edge to edge in random directions.
    RandomDirection: RandomDirectionParams = "random_direction",
    /// Legs of a fixed time in random directions.
    RandomWalk: RandomWalkParams = "random_walk",
    /// People in a room, of whom one in ten walks about.
    Conference: ConferenceParams = "conference",
    /// People who go from one attraction to the next.
    Event: EventParams = "event",
    /// Groups out of each other's reach, and vehicles between them.
    Disaster: DisasterParams = "disaster",
    /// Patients who are carried from area to area, and ambulances that leave the net.
    DisasterArea: DisasterAreaParams = "disaster_area",
}

fn drawn(model: &impl Drawn, duration: Span, streams: &Streams) -> Result<Vec<Trajectory>, ModelError> {
    model.fit()?;
    let commands = model.commands(duration);
    if commands > MAX_COMMANDS {
        return Err(ModelError::TooLong(commands));
    }
    Ok(model.trajectories(duration, streams))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Time;
    use crate::mobility::Path;

    /// All models with their defaults.
    fn all() -> impl Iterator<Item = Model> {
        Model::NAMES.iter().map(|name| Model::read(name, "{}").expect("a model").expect("its defaults"))
    }

    #[test]
    fn movement_is_the_same_for_the_same_streams_stays_in_the_field_and_is_in_order() {
        let (duration, defaults) = (Span::from_secs(300.0), Model::defaults().expect("defaults"));
        for model in all() {
            let made = |seed| model.generate(duration, &Streams::new(seed, 2)).expect("movement");
            let trajectories = made(7);
            assert_eq!(trajectories.len() as u64, defaults[model.name()]["nodes"], "{}", model.name());
            assert_eq!(trajectories, made(7), "{}", model.name());
            assert_ne!(trajectories, made(8), "{}", model.name());
            for trajectory in &trajectories {
                let times: Vec<Time> = trajectory.commands.iter().map(super::super::Command::at).collect();
                assert!(times.is_sorted() && times.iter().all(|&at| at < Time::ZERO + duration));
                let path = Path::new(trajectory);
                for second in 0..300 {
                    let here = path.position(Time::from_secs(f64::from(second)));
                    let is_in =
                        |at: f64, side: &Value| (-1e-6..=side.as_f64().expect("metres") + 1e-6).contains(&at);
                    let field = &defaults[model.name()];
                    let is_inside = is_in(here.x, &field["width_m"]) && is_in(here.y, &field["height_m"]);
                    assert!(is_inside, "{}: {here:?}", model.name());
                }
            }
        }
    }

    #[test]
    fn the_number_of_commands_is_estimated_and_limited() {
        let long = Span::from_secs(2000.0);
        for model in all() {
            let made = model.generate(long, &Streams::new(1, 0)).expect("movement");
            let commands = made.iter().map(|node| node.commands.len()).sum::<usize>() as f64;
            let estimate = match &model {
                Model::Waypoint(params) => params.commands(long),
                Model::GaussMarkov(params) => params.commands(long),
                Model::AngularGaussMarkov(params) => params.commands(long),
                Model::Rpgm(params) => params.commands(long),
                Model::Manhattan(params) => params.commands(long),
                Model::RandomDirection(params) => params.commands(long),
                Model::RandomWalk(params) => params.commands(long),
                Model::Conference(params) => params.commands(long),
                Model::Event(params) => params.commands(long),
                Model::Disaster(params) => params.commands(long),
                Model::DisasterArea(params) => params.commands(long),
            };
            assert!((0.4..3.0).contains(&(estimate / commands)), "{}: {estimate}, {commands}", model.name());
        }
        let many = Model::GaussMarkov(GaussMarkovParams { nodes: 100_000, ..Default::default() });
        let refused = many.generate(Span::from_secs(1e5), &Streams::new(1, 0));
        assert!(matches!(refused, Err(ModelError::TooLong(_))), "{refused:?}");
    }

    #[test]
    fn parameters_that_do_not_fit_are_named() {
        let refused = |name: &str, json: &str| {
            let model = Model::read(name, json).expect("a model").expect("parameters");
            model.generate(Span::from_secs(1.0), &Streams::new(1, 0)).expect_err("unfit").to_string()
        };
        let speeds = r#"{"speed_min": 9.0, "speed_max": 2.0}"#;
        for name in ["angular_gauss_markov", "random_direction", "random_walk", "rpgm", "disaster_area"] {
            assert!(refused(name, speeds).starts_with(&format!("{name}.speed_min: found 9 m/s")), "{name}");
        }
        assert!(refused("rpgm", r#"{"max_distance_m": 500.0}"#).contains("at most 499.5 m"));
        assert!(refused("disaster", r#"{"speed_max": 1000.0}"#).contains("legs of at most 10000 m"));
        assert!(refused("disaster_area", r#"{"clearance_m": 4.0}"#).contains("at most 3 m"));
        assert!(
            refused("disaster_area", r#"{"vehicle_speed_min": 13.0}"#).contains("at most vehicle_speed_max")
        );
        assert!(refused("manhattan", r#"{"turn_probability": 2.0}"#).contains("manhattan.turn_probability"));
        assert!(Model::read("drunkard", "{}").is_none());
        assert!(Model::read("rpgm", r#"{"x": 1}"#).is_some_and(|read| read.is_err()));
    }
}
