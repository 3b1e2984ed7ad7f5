//! Shows routing protocols in a network without a radio, for `validation/olsr_ns3.py` and
//! `validation/convergence.py`.
//!
//! * `without_radio sets SECONDS SEED NODES [A B]…`: what OLSR knows after so long, where nodes A and B hear
//!   each other; see [`manetlab_promises::sets`].
//! * `without_radio pings SET SHAPE SEED ROUNDS`: of 200 pings how many are answered in each round of two
//!   seconds, a line each; see [`manetlab_promises::pings`]. SHAPE is `line`, `grid` or `tree`.

use std::process::ExitCode;
use std::str::FromStr;

use manetlab_promises::graph::Graph;
use manetlab_promises::pings::{Shape, answered, subject};
use manetlab_promises::sets::sets;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let said = match words.split_first() {
        Some((first, rest)) if first == "sets" => said_of_sets(rest),
        Some((first, rest)) if first == "pings" => said_of_pings(rest),
        _ => None,
    };
    let Some(said) = said else {
        eprintln!(
            "Usage: without_radio sets SECONDS SEED NODES [A B]…\n   or: without_radio pings SET SHAPE SEED ROUNDS"
        );
        return ExitCode::from(2);
    };
    print!("{said}");
    ExitCode::SUCCESS
}

fn word<T: FromStr>(words: &[String], place: usize) -> Option<T> {
    words.get(place)?.parse().ok()
}

fn said_of_sets(words: &[String]) -> Option<String> {
    let (seconds, seed, nodes) = (word(words, 0)?, word(words, 1)?, word(words, 2)?);
    let mut graph = Graph::without_links(nodes);
    for ends in words.get(3..)?.chunks(2) {
        let (a, b): (u32, u32) = (word(ends, 0)?, word(ends, 1)?);
        if a.max(b) >= nodes {
            return None;
        }
        graph.link(a, b);
    }
    Some(sets(&graph, seconds, seed))
}

fn said_of_pings(words: &[String]) -> Option<String> {
    let subject = subject(words.first()?)?;
    let shape = Shape::named(words.get(1)?)?;
    let counts = answered(&subject, shape, word(words, 2)?, word(words, 3)?);
    Some(counts.iter().map(|count| format!("{count}\n")).collect())
}
