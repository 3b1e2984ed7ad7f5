//! The one home of every parameter: name, default, unit, range, source and meaning.
//!
//! `params!` declares a section's struct; its defaults are those of the standard. The same declaration
//! gives serialisation (unknown keys are errors), the range check, and the schema from which the command
//! line's help, the documentation and the scenario's validation are made. Profiles ([`crate::profile`]) are
//! named changes to these defaults.

use serde::Serialize;

/// What documentation and validation need to know of one parameter, or of one field of a flow.
#[derive(Clone, Debug, Serialize)]
pub struct ParamInfo {
    /// The section, for example `mac`; empty for a field.
    pub section: &'static str,
    /// Its name, within the section if there is one.
    pub name: &'static str,
    /// `number`, `integer`, `boolean`, `choice`, or a list: `integers`, `numbers`, `tables` or `rows` (see
    /// `items`).
    pub kind: &'static str,
    /// The values of a `choice`; empty otherwise.
    pub choices: &'static [&'static str],
    /// Least and greatest allowed value of numbers and integers; none: the scenario bounds it.
    pub range: Option<(f64, f64)>,
    /// The unit; empty for counts, switches and choices.
    pub unit: &'static str,
    /// Must it be given? A parameter has a default.
    pub required: bool,
    /// The fields of each of the `tables`, or the values of each of the `rows` in order; empty otherwise.
    pub items: &'static [ParamInfo],
    /// The standard's clause or the publication that defines it; empty for a field.
    pub source: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// A parameter or a field of a flow that has a value which is not allowed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{field}: found {found}, wanted {wanted}")]
pub struct OutOfRange {
    /// Its name, with section and index where there are.
    pub field: String,
    /// The value found.
    pub found: String,
    /// What would be right.
    pub wanted: String,
}

/// A type that a parameter may have.
pub trait ParamValue {
    /// See [`ParamInfo::kind`].
    const KIND: &'static str;
    /// See [`ParamInfo::choices`].
    const CHOICES: &'static [&'static str] = &[];
    /// Must a field of this type be given? See [`ParamInfo::required`].
    const REQUIRED: bool = true;
    /// See [`ParamInfo::items`].
    const ITEMS: &'static [ParamInfo] = &[];
    /// The value as a number, for the range check.
    fn number(&self) -> Option<f64> {
        None
    }
    /// The first number outside the range: its place within the value, and itself (NaN is outside every
    /// range).
    fn outside(&self, low: f64, high: f64) -> Option<(String, f64)> {
        let found = self.number()?;
        (!(low..=high).contains(&found)).then(|| (String::new(), found))
    }
}

/// Checks a parameter or a field against its range, if it has one (NaN is outside every range).
pub(crate) fn outside(
    name: &str,
    value: &impl ParamValue,
    range: Option<(f64, f64)>,
    unit: &str,
) -> Option<OutOfRange> {
    let (low, high) = range?;
    let (place, found) = value.outside(low, high)?;
    let wanted = format!("a value from {low} to {high} {unit}").trim_end().to_owned();
    Some(OutOfRange { field: format!("{name}{place}"), found: found.to_string(), wanted })
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

impl ParamValue for u64 {
    const KIND: &'static str = "integer";
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl ParamValue for bool {
    const KIND: &'static str = "boolean";
}

impl<T: ParamValue> ParamValue for Option<T> {
    const KIND: &'static str = T::KIND;
    const CHOICES: &'static [&'static str] = T::CHOICES;
    const REQUIRED: bool = false;
    const ITEMS: &'static [ParamInfo] = T::ITEMS;
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}

impl ParamValue for Vec<u64> {
    const KIND: &'static str = "integers";
    fn outside(&self, low: f64, high: f64) -> Option<(String, f64)> {
        let numbers = self.iter().map(|&number| number as f64).enumerate();
        let (place, found) = numbers.into_iter().find(|(_, number)| !(low..=high).contains(number))?;
        Some((format!("[{place}]"), found))
    }
}

impl ParamValue for Vec<f64> {
    const KIND: &'static str = "numbers";
    fn outside(&self, low: f64, high: f64) -> Option<(String, f64)> {
        let place = self.iter().position(|number| !(low..=high).contains(number))?;
        Some((format!("[{place}]"), self[place]))
    }
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
                required: false,
                items: &[],
                source: $source,
                meaning: concat!($($meaning),+).trim_ascii(),
            },)+];

            /// Checks every number against its range.
            ///
            /// # Errors
            /// The first parameter that is outside (NaN is outside every range).
            pub fn check(&self) -> Result<(), $crate::params::OutOfRange> {
                $(if let Some(wrong) = $crate::params::outside(
                    concat!($section, ".", stringify!($field)),
                    &self.$field,
                    $crate::params::range_of!($($low, $high)?),
                    $unit,
                ) {
                    return Err(wrong);
                })+
                Ok(())
            }
        }
    };
}

/// The [`ParamInfo`] of a field: `name: Type [= "default's function"], "unit", "meaning" [, [low, high]]`.
macro_rules! field_info {
    ($field:ident : $type:ty $(= $default:literal)?, $unit:literal, $meaning:expr $(, [$low:expr, $high:expr])?) => {
        $crate::params::ParamInfo {
            section: "",
            name: stringify!($field),
            kind: <$type as $crate::params::ParamValue>::KIND,
            choices: <$type as $crate::params::ParamValue>::CHOICES,
            range: $crate::params::range_of!($($low, $high)?),
            unit: $unit,
            required: <$type as $crate::params::ParamValue>::REQUIRED $(&& $default.is_empty())?,
            items: <$type as $crate::params::ParamValue>::ITEMS,
            source: "",
            meaning: $meaning.trim_ascii(),
        }
    };
}

/// Declares a table within a flow: a struct with its schema and its range check. Each field:
/// `name: Type [= "default's function"], "unit" [, [low, high]];` with its meaning as the doc comment.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[doc = $meaning:literal])+
              $field:ident : $type:ty $(= $default:literal)?, $unit:literal $(, [$low:expr, $high:expr])?;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[doc = $meaning])+ $(#[serde(default = $default)])? pub $field: $type,)+ }

        impl $name {
            /// What there is to know of each field.
            pub const SCHEMA: &'static [$crate::params::ParamInfo] = &[$($crate::params::field_info!(
                $field: $type $(= $default)?, $unit, concat!($($meaning),+) $(, [$low, $high])?
            ),)+];

            /// The first field with a value outside its range.
            pub fn outside(&self) -> Option<$crate::params::OutOfRange> {
                None$(.or_else(|| $crate::params::outside(
                    stringify!($field), &self.$field, $crate::params::range_of!($($low, $high)?), $unit,
                )))+
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

pub(crate) use {choices, field_info, params, range_of, table};

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
