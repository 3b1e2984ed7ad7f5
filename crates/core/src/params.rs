//! The one home of every parameter: name, default, unit, range, source and meaning.
//!
//! `params!` declares a section's struct; its defaults are those of the standard. The same declaration
//! gives serialisation (unknown keys are errors), the range check, and the schema from which the command
//! line's help, the documentation and the scenario's validation are made. Profiles ([`crate::profile`]) are
//! named changes to these defaults.

use serde::Serialize;

/// What the documentation and the validation need to know of one parameter.
#[derive(Clone, Debug, Serialize)]
pub struct ParamInfo {
    /// The section, for example `mac`.
    pub section: &'static str,
    /// The parameter's name within the section.
    pub name: &'static str,
    /// `number`, `integer`, `boolean` or `choice`.
    pub kind: &'static str,
    /// The values of a `choice`; empty otherwise.
    pub choices: &'static [&'static str],
    /// Least and greatest allowed value of a number or an integer.
    pub range: Option<(f64, f64)>,
    /// The unit; empty for counts, switches and choices.
    pub unit: &'static str,
    /// The standard's clause or the publication that defines it.
    pub source: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// A parameter that is outside its range.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{section}.{name}: found {found}, wanted a value from {low} to {high} {unit}")]
pub struct OutOfRange {
    /// The section.
    pub section: &'static str,
    /// The parameter.
    pub name: &'static str,
    /// The value found.
    pub found: f64,
    /// Least allowed value.
    pub low: f64,
    /// Greatest allowed value.
    pub high: f64,
    /// The unit of the three.
    pub unit: &'static str,
}

/// A type that a parameter may have.
pub trait ParamValue {
    /// See [`ParamInfo::kind`].
    const KIND: &'static str;
    /// See [`ParamInfo::choices`].
    const CHOICES: &'static [&'static str] = &[];
    /// The value as a number, for the range check.
    fn number(&self) -> Option<f64> {
        None
    }
}

impl ParamValue for f64 {
    const KIND: &'static str = "number";
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl ParamValue for u32 {
    const KIND: &'static str = "integer";
    fn number(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

impl ParamValue for bool {
    const KIND: &'static str = "boolean";
}

/// Declares an enum that is a parameter's type: `choices! { /// doc pub enum Name { /// doc A = "a", … } }`.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $text)] $variant,)+ }

        impl $crate::params::ParamValue for $name {
            const KIND: &'static str = "choice";
            const CHOICES: &'static [&'static str] = &[$($text),+];
        }
    };
}

/// Declares a section of parameters. Each field: `name: Type = default, "unit", "source", [low, high];` with
/// its meaning as the doc comment; `[low, high]` only for numbers and integers.
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $section:literal {
            $($(#[doc = $meaning:literal])+
              $field:ident : $type:ty = $default:expr, $unit:literal, $source:literal $(, [$low:expr, $high:expr])?;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name { $($(#[doc = $meaning])+ pub $field: $type,)+ }

        impl Default for $name {
            fn default() -> Self { Self { $($field: $default,)+ } }
        }

        impl $name {
            /// What there is to know of each parameter of this section.
            pub const SCHEMA: &'static [$crate::params::ParamInfo] = &[$($crate::params::ParamInfo {
                section: $section,
                name: stringify!($field),
                kind: <$type as $crate::params::ParamValue>::KIND,
                choices: <$type as $crate::params::ParamValue>::CHOICES,
                range: $crate::params::range_of!($($low, $high)?),
                unit: $unit,
                source: $source,
                meaning: concat!($($meaning),+).trim_ascii(),
            },)+];

            /// Checks every number against its range.
            ///
            /// # Errors
            /// The first parameter that is outside (NaN is outside every range).
            pub fn check(&self) -> Result<(), $crate::params::OutOfRange> {
                $($(
                    let found = $crate::params::ParamValue::number(&self.$field).unwrap_or(f64::NAN);
                    let (low, high): (f64, f64) = ($low, $high);
                    if !(low..=high).contains(&found) {
                        return Err($crate::params::OutOfRange {
                            section: $section, name: stringify!($field), found, low, high, unit: $unit,
                        });
                    }
                )?)+
                Ok(())
            }
        }
    };
}

macro_rules! range_of {
    () => {
        None
    };
    ($low:expr, $high:expr) => {
        Some(($low, $high))
    };
}

pub(crate) use {choices, params, range_of};

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, reason = "the macro declares public sections")]

    params! {
        /// A section for this test.
        pub struct Sample in "sample" {
            /// A length.
            length_m: f64 = 2.0, "m", "nowhere", [0.0, 10.0];
            /// A switch.
            enabled: bool = true, "", "nowhere";
        }
    }

    #[test]
    fn a_value_outside_its_range_is_named() {
        let sample = Sample { length_m: 11.0, ..Sample::default() };
        let error = sample.check().expect_err("11 m is too long");
        assert_eq!(error.to_string(), "sample.length_m: found 11, wanted a value from 0 to 10 m");
        assert!(Sample { length_m: f64::NAN, enabled: false }.check().is_err());
    }

    #[test]
    fn the_schema_carries_the_doc_comment() {
        assert_eq!(Sample::SCHEMA[0].meaning.trim(), "A length.");
        assert_eq!(Sample::SCHEMA[1].kind, "boolean");
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let error = serde_json::from_str::<Sample>(r#"{"lenght_m": 1.0}"#).expect_err("misspelt");
        assert!(error.to_string().contains("unknown field `lenght_m`"));
    }
}
