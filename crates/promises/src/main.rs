//! Tries every parameter set of every routing protocol on random topologies, and writes the table to stdout.
//!
//! `manetlab-promises TOPOLOGIES [FIRST [NAME…]]`: so many topologies for each set, from this number on, of
//! the sets whose names begin like one of these. The exit status is 1 if a promise did not hold.

use std::process::ExitCode;

use manetlab_promises::page::{Outcome, table};
use manetlab_promises::story::tell;
use manetlab_promises::subject::Subject;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default| match arguments.get(place) {
        Some(text) => text.parse::<u64>().ok(),
        None => Some(default),
    };
    let (Some(count), Some(first)) = (number(0, 30), number(1, 0)) else {
        eprintln!(
            "Usage: manetlab-promises TOPOLOGIES [FIRST [NAME…]], where TOPOLOGIES and FIRST are numbers."
        );
        return ExitCode::from(2);
    };
    let wanted = arguments.get(2..).unwrap_or_default();
    let is_wanted = |subject: &Subject| {
        wanted.is_empty() || wanted.iter().any(|name| subject.name().starts_with(name.as_str()))
    };
    let mut outcomes = Vec::new();
    let mut faults = Vec::new();
    for subject in Subject::all().into_iter().filter(is_wanted) {
        let mut outcome = Outcome::default();
        (first..first + count).for_each(|run| outcome.add(run, tell(&subject, run)));
        eprintln!("{}: {count} topologies", subject.name());
        faults.extend(outcome.faults(&subject));
        outcomes.push((subject, outcome));
    }
    print!("{}", table(&outcomes));
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
