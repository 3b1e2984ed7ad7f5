//! The table of what held.

use std::collections::BTreeMap;

use crate::promise::Promise;
use crate::story::Broken;
use crate::subject::Subject;
use crate::terms::terms;

/// What came out for one parameter set.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Topologies tried.
    pub tried: u64,
    /// On how many each promise was broken, and how the first time: the topology and what happened.
    pub broken: BTreeMap<Promise, (u64, u64, String)>,
}

impl Outcome {
    /// Adds what was broken on a topology.
    pub fn add(&mut self, run: u64, broken: Broken) {
        self.tried += 1;
        for (promise, how) in broken {
            self.broken.entry(promise).or_insert((0, run, how)).0 += 1;
        }
    }

    /// What was promised and did not hold.
    pub fn faults(&self, subject: &Subject) -> Vec<String> {
        let terms = terms(subject);
        let broken = self.broken.iter().filter(|(promise, _)| terms.promises(**promise));
        broken
            .map(|(promise, (times, run, how))| {
                let name = subject.name();
                format!("{name}: {} broken {times} times, first on topology {run}: {how}", promise.name())
            })
            .collect()
    }
}

/// The table in Markdown, a row a parameter set, and the reasons below.
pub fn table(outcomes: &[(Subject, Outcome)]) -> String {
    let names: Vec<&str> = Promise::ALL.iter().map(|promise| promise.name()).collect();
    let mut page =
        format!("| | topologies | {} |\n|---|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let mut reasons: Vec<&str> = Vec::new();
    for (subject, outcome) in outcomes {
        let terms = terms(subject);
        let cell = |promise: &Promise| {
            let times = outcome.broken.get(promise).map_or(0, |(times, ..)| *times);
            let held = outcome.tried - times;
            let reason = terms.exceptions.iter().find(|(other, _)| other == promise);
            let Some((_, reason)) = reason else {
                return if times == 0 { "all".to_owned() } else { format!("**{held}**") };
            };
            let place = reasons.iter().position(|other| other == reason).unwrap_or_else(|| {
                reasons.push(reason);
                reasons.len() - 1
            });
            format!("{held} ({})", place + 1)
        };
        let cells: Vec<String> = Promise::ALL.iter().map(cell).collect();
        page += &format!("| `{}` | {} | {} |\n", subject.name(), outcome.tried, cells.join(" | "));
    }
    page += "\n";
    for (place, reason) in reasons.iter().enumerate() {
        page += &format!("{}. {reason}\n", place + 1);
    }
    page
}
