//! Why a call of Python has no answer.

use manetlab_resolver::Told;
use serde_json::{Value, json};

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failed {
    /// An error for users.
    Told(Told),
    /// There is nothing by this name.
    Unknown(String),
    /// The two halves do not fit each other.
    Wrong(String),
}

impl From<Told> for Failed {
    fn from(told: Told) -> Failed {
        Failed::Told(told)
    }
}

impl From<serde_json::Error> for Failed {
    fn from(error: serde_json::Error) -> Failed {
        Failed::Wrong(error.to_string())
    }
}

impl Failed {
    /// As Python reads it.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Failed::Told(told) => json!({"told": told_parts(told)}),
            Failed::Unknown(name) => json!({"unknown": name}),
            Failed::Wrong(why) => json!({"wrong": why}),
        }
    }
}

/// The five parts, in their order.
pub(crate) fn told_parts(told: &Told) -> [&str; 5] {
    [&told.what, &told.place, &told.found, &told.wanted, &told.hint]
}
