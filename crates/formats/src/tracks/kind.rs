//! What a file is, from how it begins.

use crate::error::{Fault, Parsed, quoted};

/// The forms of tracks that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// SUMO's floating car data.
    Fcd,
    /// Tracks of receivers of GPS.
    Gpx,
    /// Points in JSON.
    GeoJson,
    /// External movement of The ONE.
    TheOne,
    /// BonnMotion's own form.
    BonnMotion,
    /// A table with a header.
    Csv,
}

/// Other files that users have beside their tracks: how they are told, what they are, what helps.
const OTHERS: &[(&str, &str, &str)] = &[
    ("version https://git-lfs", "a pointer of Git LFS, not the file itself", "fetch the file:  git lfs pull"),
    (
        "<!doctype html",
        "a page of HTML, perhaps an error's",
        "download the file itself, not the page about it",
    ),
    ("<html", "a page of HTML, perhaps an error's", "download the file itself, not the page about it"),
    (
        "<anim",
        "an animation of NetAnim",
        "write the movement of the ns-3 run as ns-2's, or as CSV with the columns time,id,x,y",
    ),
    (
        "<scenario",
        "a scenario of CORE",
        "save its movement script (.ns_movements, .scen), which is read as it is",
    ),
    ("<kml", "a file of KML", "save it as GPX, which has times"),
    ("<net", "a road network of SUMO", "run SUMO on it:  sumo -c FILE.sumocfg --fcd-output tracks.xml"),
    (
        "<routes",
        "routes of SUMO, which say no positions",
        "run SUMO on them:  sumo -c FILE.sumocfg --fcd-output tracks.xml",
    ),
    ("<configuration", "a configuration of SUMO", "run it:  sumo -c FILE.sumocfg --fcd-output tracks.xml"),
    ("<sumocfg", "a configuration of SUMO", "run it:  sumo -c FILE.sumocfg --fcd-output tracks.xml"),
    ("now=", "a mobility trace of ns-3", "write CSV with the columns time,id,x,y from its  pos=  and  now="),
    ("par1", "a file of Parquet", "manetlab reads it by name or as a frame:  manetlab docs bring-your-own"),
];

/// The form of a file that begins with `head`.
pub(super) fn form_of(head: &[u8]) -> Parsed<Form> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let first = first_element(text);
    let starts = |sign: &str| {
        let found = if sign.starts_with('<') { first } else { text };
        found.get(..sign.len()).is_some_and(|start| start.eq_ignore_ascii_case(sign))
    };
    if starts("<fcd-export") {
        return Ok(Form::Fcd);
    }
    if starts("<gpx") || first.get(..20).is_some_and(|start| start.contains(":gpx")) {
        return Ok(Form::Gpx);
    }
    for &(sign, found, hint) in OTHERS {
        if starts(sign) {
            return Err(not_tracks(found, hint));
        }
    }
    if text.starts_with('{') || text.starts_with('[') {
        return Ok(Form::GeoJson);
    }
    if text.starts_with('<') {
        return Err(not_tracks(&quoted(first), "of XML, SUMO's floating car data and GPX are read"));
    }
    lines_form(text)
}

/// A file that holds no tracks, or none that are read.
fn not_tracks(found: &str, hint: &str) -> Box<Fault> {
    Fault::new(
        "not a file of movement",
        found,
        "ns-2's movement, SUMO's FCD, GPX, BonnMotion, The ONE, CSV or GeoJSON",
        hint,
    )
}

/// The text from the first element of XML on: behind declarations, document types of SUMO and comments.
fn first_element(text: &str) -> &str {
    let mut rest = text;
    loop {
        let end = if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!--") {
            "-->"
        } else {
            return rest;
        };
        let Some(at) = rest.find(end) else { return rest };
        rest = rest[at + end.len()..].trim_start();
    }
}

/// The form of a file of lines.
fn lines_form(text: &str) -> Parsed<Form> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("");
    if first.eq_ignore_ascii_case("#3d") {
        return Ok(Form::BonnMotion);
    }
    let mut lines = std::iter::once(first).chain(lines).filter(|line| !line.starts_with('#'));
    let (first, second) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    if is_glomosim(first) {
        return Err(not_tracks(
            "a mobility trace of GloMoSim",
            "write CSV with the columns time,id,x,y from its  node time (x, y, z)",
        ));
    }
    // A separator within the first line comes before all that looks like numbers alone.
    if first.contains([',', ';', '\t']) && !numbers(first) {
        return Ok(Form::Csv);
    }
    let counts = (first.split_ascii_whitespace().count(), second.split_ascii_whitespace().count());
    if numbers(first) && matches!(counts, (6 | 8, 4 | 5)) {
        return Ok(Form::TheOne);
    }
    if numbers(first) && counts.0 >= 3 {
        return Ok(Form::BonnMotion);
    }
    if first.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("time")) {
        return Ok(Form::Csv);
    }
    Err(not_tracks(&quoted(first), "see what can be read:  manetlab docs bring-your-own"))
}

/// Numbers and blanks only; the line may be cut off where the head ends.
fn numbers(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        if crate::number::decimal(word).is_none() && words.peek().is_some() {
            return false;
        }
    }
    line.bytes().all(|b| b.is_ascii_whitespace() || b"0123456789.+-eE".contains(&b))
}

/// `node time (x, y, z)`, as GloMoSim and QualNet have it.
fn is_glomosim(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let number = |word: Option<&str>| word.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    number(words.next()) && number(words.next()) && words.next().is_some_and(|word| word.starts_with('('))
}
