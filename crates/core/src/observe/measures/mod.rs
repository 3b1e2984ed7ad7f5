//! What is said of each measure, once: its name, its words, its unit, between what values it lies, which way
//! it is better, and what must be there for it to apply.
//!
//! Tables, reports, statistics, live pages and the checks of documentation read this table; no meaning is
//! read from a name. Definitions with formulas stand in docs/metrics.md.

mod flows;
mod totals;

pub use flows::FLOWS;
pub use totals::TOTALS;

use serde::Serialize;

/// Which way a measure is better. More hops or packets are neither, and what routing sends in a second is not
/// rated either: it says nothing of what arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// The higher, the better.
    Higher,
    /// The lower, the better.
    Lower,
    /// It is not rated.
    Neither,
}

use Better::{Higher, Lower, Neither};

/// What values a measure may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// Whole numbers from 0.
    Count,
    /// Whole numbers, those below 0 among them.
    Whole,
    /// Numbers from 0.
    Amount,
    /// Numbers from 0 to 1.
    Share,
    /// Times from 0 to the length of the run.
    Time,
    /// Links of a path.
    Hops,
}

impl Values {
    /// Between what values a measure lies in any run; none where it has no bound.
    const fn bounds(self) -> (Option<f64>, Option<f64>) {
        match self {
            Values::Whole => (None, None),
            Values::Share => (Some(0.0), Some(1.0)),
            Values::Count | Values::Amount | Values::Time | Values::Hops => (Some(0.0), None),
        }
    }
}

/// In what a measure is measured, and how people are shown it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Quantity {
    values: Values,
    /// The unit of results and files; `1` for counts and ratios.
    unit: &'static str,
    /// The unit of tables and plots; empty for counts and ratios.
    shown: &'static str,
    /// What the result's value is multiplied by for that unit.
    factor: f64,
    /// Digits after the point.
    digits: u8,
}

const fn quantity(
    values: Values,
    unit: &'static str,
    shown: &'static str,
    factor: f64,
    digits: u8,
) -> Quantity {
    Quantity { values, unit, shown, factor, digits }
}

const COUNT: Quantity = quantity(Values::Count, "1", "", 1.0, 0);
const WHOLE: Quantity = quantity(Values::Whole, "1", "", 1.0, 0);
const BYTES: Quantity = quantity(Values::Count, "B", "B", 1.0, 0);
const KILOBYTES: Quantity = quantity(Values::Count, "B", "kB", 1e-3, 1);
const HOPS: Quantity = quantity(Values::Hops, "1", "", 1.0, 2);
/// A rating of the E-model.
const RATING: Quantity = quantity(Values::Amount, "1", "", 1.0, 1);
const RATIO: Quantity = quantity(Values::Amount, "1", "", 1.0, 2);
const RATIO_OF_ONE: Quantity = quantity(Values::Amount, "1", "", 1.0, 3);
const PERCENT: Quantity = quantity(Values::Share, "1", "%", 100.0, 2);
const ROUGH_PERCENT: Quantity = quantity(Values::Share, "1", "%", 100.0, 1);
/// An error relative to what is right, which may be above 1.
const RELATIVE_ERROR: Quantity = quantity(Values::Amount, "1", "%", 100.0, 1);
const BIT_RATE: Quantity = quantity(Values::Amount, "bit/s", "kb/s", 1e-3, 1);
const RATE: Quantity = quantity(Values::Amount, "1/s", "1/s", 1.0, 1);
const BYTE_RATE: Quantity = quantity(Values::Amount, "B/s", "B/s", 1.0, 0);
const DELAY: Quantity = quantity(Values::Time, "s", "ms", 1e3, 1);
const FINE_DELAY: Quantity = quantity(Values::Time, "s", "ms", 1e3, 2);
const TIME: Quantity = quantity(Values::Time, "s", "s", 1.0, 3);
const LONG_TIME: Quantity = quantity(Values::Time, "s", "s", 1.0, 1);
const JOULES: Quantity = quantity(Values::Amount, "J", "J", 1.0, 2);
const JOULES_PER_KB: Quantity = quantity(Values::Amount, "J/kB", "J/kB", 1.0, 3);
/// A time of which a buffer is part that may be longer than the run.
const HEARD_DELAY: Quantity = quantity(Values::Amount, "s", "ms", 1e3, 1);
/// Times of several things at once, which add up to more than the run.
const SUM_OF_TIMES: Quantity = quantity(Values::Amount, "s", "s", 1.0, 1);

/// All that is said of one measure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measure {
    /// Its name in results.
    pub name: &'static str,
    /// What the field calls it, in a word or a few.
    pub label: &'static str,
    /// The same without abbreviations; empty if the label has none.
    pub words: &'static str,
    /// Other names by which papers call it, and by which it can be asked for.
    pub also: &'static [&'static str],
    quantity: Quantity,
    /// Which way it is better.
    pub better: Better,
    /// May it have no value although it applies, as a mean of nothing has none?
    pub is_optional: bool,
    /// Is it shown only to those who ask for it by name?
    pub is_detail: bool,
}

const fn measure(name: &'static str, label: &'static str, quantity: Quantity, better: Better) -> Measure {
    Measure { name, label, words: "", also: &[], quantity, better, is_optional: false, is_detail: false }
}

impl Measure {
    const fn words(self, words: &'static str) -> Measure {
        Measure { words, ..self }
    }

    const fn also(self, also: &'static [&'static str]) -> Measure {
        Measure { also, ..self }
    }

    const fn optional(self) -> Measure {
        Measure { is_optional: true, ..self }
    }

    const fn detail(self) -> Measure {
        Measure { is_detail: true, ..self }
    }

    /// Its unit in results and files: `bit/s`, `s`, `B`, `B/s`, `1/s`, or `1` for counts and ratios.
    pub fn unit(&self) -> &'static str {
        self.quantity.unit
    }

    /// What values it may have.
    pub fn values(&self) -> Values {
        self.quantity.values
    }
}

/// Measures that need the same for them to apply.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Group {
    /// Its title.
    pub title: &'static str,
    /// The kinds of flows of which one must be there; empty: any run has these measures.
    pub flows: &'static [&'static str],
    /// What else must be there, in words; empty: nothing.
    pub needs: &'static str,
    /// The measures.
    pub measures: &'static [Measure],
}

/// The kinds of flows that send messages.
const MESSAGES: &[&str] = &["on-off", "poisson", "trace", "video", "voice", "adp"];
/// The kinds of flows that may send datagrams, each of which arrives for itself.
const DATAGRAMS: &[&str] = &["cbr", "on-off", "poisson", "trace", "video", "voice", "adp"];
/// The kinds of flows that may be one TCP connection each.
const CONNECTIONS: &[&str] = &["tcp", "on-off", "poisson", "trace", "video"];
/// The kinds of flows whose messages have a transport to choose.
const OVER_ANY: &[&str] = &["on-off", "poisson", "trace", "video"];

/// The kinds of flows that may have RTP.
const OVER_RTP: &[&str] = &["on-off", "poisson", "trace", "video", "voice"];

/// A measure as it is told to others, with what its group says.
#[derive(Serialize)]
struct Told {
    name: &'static str,
    label: &'static str,
    words: &'static str,
    also: &'static [&'static str],
    unit: &'static str,
    shown: &'static str,
    factor: f64,
    digits: u8,
    values: Values,
    bounds: (Option<f64>, Option<f64>),
    better: Better,
    is_optional: bool,
    is_detail: bool,
    group: &'static str,
    flows: &'static [&'static str],
    needs: &'static str,
}

/// The whole table: that of totals, and that of flows. It is written as `{"totals": […], "flows": […]}`.
#[derive(Serialize)]
pub struct MeasureTable {
    totals: Vec<Told>,
    flows: Vec<Told>,
}

impl MeasureTable {
    /// The table.
    pub fn new() -> MeasureTable {
        MeasureTable { totals: told(TOTALS), flows: told(FLOWS) }
    }
}

impl Default for MeasureTable {
    fn default() -> MeasureTable {
        MeasureTable::new()
    }
}

fn told(groups: &[Group]) -> Vec<Told> {
    groups.iter().flat_map(|group| group.measures.iter().map(|measure| told_of(group, measure))).collect()
}

fn told_of(group: &Group, measure: &Measure) -> Told {
    let Quantity { values, unit, shown, factor, digits } = measure.quantity;
    let Measure { name, label, words, also, better, is_optional, is_detail, .. } = *measure;
    let Group { title: group, flows, needs, .. } = *group;
    let bounds = values.bounds();
    Told {
        name,
        label,
        words,
        also,
        unit,
        shown,
        factor,
        digits,
        values,
        bounds,
        better,
        is_optional,
        is_detail,
        group,
        flows,
        needs,
    }
}

#[cfg(test)]
mod tests;
