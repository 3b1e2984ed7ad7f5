//! From samples, in the order in which a file has them, to tracks.

use std::collections::BTreeMap;

use manetlab_core::kernel::{MAX_TIME_S, Time};

use super::projection::{Plane, looks_like_degrees};
use super::thin::thin;
use super::timestamp::{Clock, Nanos};
use super::{Odd, Options, Track, Tracks};
use crate::error::{Fault, Parsed, quoted};
use crate::limits::Limits;
use crate::number;

/// Most samples of a file: half a gigabyte of them.
const MOST_SAMPLES: usize = 20_000_000;
/// Longest name of a node, in bytes.
const LONGEST_LABEL: usize = 200;
/// How far samples may be apart from which a track is made without thinning being asked for, in m.
const THIN_METRES_M: f64 = 0.01;
const THIN_DEGREES_M: f64 = 0.5;
/// How far apart two samples of a node at one time may be, in m: clocks of receivers show whole seconds, or
/// repeat one. Where they are farther, two nodes share an id.
const REPEATED_WITHIN_M: f64 = 100.0;
/// The stay of a node that is never there.
const NEVER_THERE: (Time, Time) = (Time(u64::MAX - 1), Time::NEVER);

/// What the form says of its samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rules {
    /// Coordinates are longitude and latitude; `None`: it is told from the values.
    pub(super) degrees: Option<bool>,
    /// Times count from the first one.
    pub(super) from_first: bool,
    /// A node is there only while it has samples, and not in gaps of more than 1.5 of these steps, in ns:
    /// SUMO.
    pub(super) step: Option<Nanos>,
    /// Samples come in order of time.
    pub(super) sorted: bool,
    /// No two nodes can share an id: samples at one time are one receiver's, however far they are apart.
    pub(super) own_track: bool,
}

impl Rules {
    /// Of a form in metres and seconds that has its nodes there all the time.
    pub(super) const PLAIN: Rules =
        Rules { degrees: None, from_first: false, step: None, sorted: false, own_track: false };
}

/// A sample.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Place {
    pub(super) at: Nanos,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) z: Option<f64>,
}

/// Columns of equal length: a table of samples that is no text.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// What the nodes are called.
    pub labels: &'a [String],
    /// The node of each sample, an index of `labels`.
    pub node: &'a [u32],
    /// Times, in s.
    pub t_s: &'a [f64],
    /// Metres to the east, or longitudes in degrees.
    pub x: &'a [f64],
    /// Metres to the north, or latitudes in degrees.
    pub y: &'a [f64],
    /// Heights in m; empty: none.
    pub z_m: &'a [f64],
    /// Whether the node is there from the sample on; empty: always.
    pub state: &'a [bool],
    /// The coordinates are degrees; `None`: it is told from the values.
    pub degrees: Option<bool>,
    /// A node is there while it has samples only.
    pub sampled: bool,
}

/// The samples so far.
pub(super) struct Collected {
    limits: Limits,
    numbers: BTreeMap<Box<str>, u32>,
    nodes: Vec<Node>,
    samples: usize,
    /// The last time of the whole file: nodes that are there then stay.
    last: Nanos,
    first: Option<Nanos>,
    clock: Option<Clock>,
    /// What is worth a remark.
    pub(super) odd: Odd,
}

#[derive(Default)]
struct Node {
    label: Box<str>,
    at: Vec<Nanos>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    /// From when on it is there (true) or not.
    states: Vec<(Nanos, bool)>,
}

impl Collected {
    pub(super) fn new(limits: &Limits) -> Collected {
        let limits = *limits;
        Collected {
            limits,
            numbers: BTreeMap::new(),
            nodes: Vec::new(),
            samples: 0,
            last: Nanos::MIN,
            first: None,
            clock: None,
            odd: Odd::default(),
        }
    }

    /// The number of the node that the file calls so; a new one if it was not met before.
    pub(super) fn node(&mut self, label: &str) -> Parsed<usize> {
        if let Some(&number) = self.numbers.get(label) {
            return Ok(number as usize);
        }
        if label.is_empty() || label.len() > LONGEST_LABEL {
            let wanted = format!("a name of 1 to {LONGEST_LABEL} bytes");
            return Err(Fault::new("the id of a node", quoted(label), wanted, "every sample names its node"));
        }
        let number = self.nodes.len();
        if number >= self.limits.max_nodes as usize {
            let wanted = format!("at most {} nodes", self.limits.max_nodes);
            let hint = "take a part of the field, or of the time";
            return Err(Fault::new("too many nodes", format!("node {}", number + 1), wanted, hint));
        }
        self.numbers.insert(label.into(), number as u32);
        self.nodes.push(Node { label: label.into(), ..Node::default() });
        Ok(number)
    }

    /// Whether there is no sample yet.
    pub(super) fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// Whether a node is called so.
    pub(super) fn knows(&self, label: &str) -> bool {
        self.numbers.contains_key(label)
    }

    /// A time, of the same kind as all others of the file.
    pub(super) fn time(&mut self, text: &str) -> Parsed<Nanos> {
        let (at, clock) = super::timestamp::time(text)?;
        match self.clock.replace(clock) {
            Some(before) if before != clock => Err(Fault::new(
                "time",
                quoted(text),
                "times that are all seconds, or all dates and times",
                "one kind of time in the whole file",
            )),
            _ => Ok(at),
        }
    }

    /// The time is one of the file's, whether or not a node has a sample then.
    pub(super) fn instant(&mut self, at: Nanos) {
        self.last = self.last.max(at);
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
    }

    /// A coordinate, height, longitude or latitude.
    pub(super) fn coordinate(&self, text: &str, what: &str) -> Parsed<f64> {
        let most = self.limits.max_coordinate_m;
        number::bounded(text.trim(), what, -most, most, "m")
    }

    /// A sample of a node.
    pub(super) fn push(&mut self, node: usize, place: Place) -> Parsed<()> {
        if self.samples == MOST_SAMPLES {
            let hint = "write the tracks with a longer step, or take a part of the time";
            let wanted = format!("at most {MOST_SAMPLES} samples");
            return Err(Fault::new("too many samples", "more", wanted, hint));
        }
        self.samples += 1;
        self.instant(place.at);
        let node = &mut self.nodes[node];
        if let Some(z) = place.z
            && (z != 0.0 || !node.z.is_empty())
        {
            node.z.resize(node.at.len(), 0.0);
            node.z.push(z);
        } else if !node.z.is_empty() {
            // A sample without its height has the one before.
            node.z.extend(node.z.last().copied());
        }
        node.at.push(place.at);
        node.x.push(place.x);
        node.y.push(place.y);
        Ok(())
    }

    /// From `at` on the node is there, or is not.
    pub(super) fn state(&mut self, node: usize, at: Nanos, there: bool) {
        self.nodes[node].states.push((at, there));
    }

    /// A sample of a node whose samples come in order of time.
    pub(super) fn push_later(&mut self, node: usize, place: Place) -> Parsed<()> {
        let known = &self.nodes[node];
        if let Some(&last) = known.at.last()
            && place.at <= last
        {
            let same = known.x.last() == Some(&place.x) && known.y.last() == Some(&place.y);
            if place.at == last && same {
                return Ok(());
            }
            let found = format!("{} s behind the sample before", (last - place.at) as f64 / 1e9);
            let hint = "sort the samples by time, and keep one of those at the same time";
            return Err(Fault::new("time does not go on", found, "a later time", hint));
        }
        self.push(node, place)
    }

    /// A sample of a track whose recorder may have gone back in time.
    pub(super) fn push_recorded(&mut self, node: usize, place: Place) -> Parsed<()> {
        self.odd.reordered += usize::from(self.nodes[node].at.last().is_some_and(|&last| place.at < last));
        self.push(node, place)
    }

    pub(super) fn take_columns(&mut self, columns: &Columns<'_>) -> Parsed<Rules> {
        let rows = columns.node.len();
        let lengths = [columns.t_s.len(), columns.x.len(), columns.y.len()];
        let optional = [columns.z_m.len(), columns.state.len()];
        if lengths.iter().any(|&l| l != rows) || optional.iter().any(|&l| l != 0 && l != rows) {
            let hint = "one row a sample";
            return Err(Fault::new("columns", "different lengths", format!("{rows} rows in all"), hint));
        }
        for row in 0..rows {
            let about = |fault: Box<Fault>| in_row(fault, row);
            let label = columns.labels.get(columns.node[row] as usize).map_or("", String::as_str);
            let node = self.node(label).map_err(about)?;
            let seconds = columns.t_s[row];
            if [seconds, columns.x[row], columns.y[row]].iter().any(|value| value.is_nan()) {
                self.odd.placeless += 1;
                continue;
            }
            if !(0.0..9e9).contains(&seconds) {
                let found = seconds.to_string();
                let fault = Fault::new("time", found, "seconds, not negative", "times are numbers or dates");
                return Err(in_row(fault, row));
            }
            let at = (seconds * 1e9).round() as Nanos;
            let value = |value: f64, what: &str| self.coordinate(&value.to_string(), what).map_err(about);
            let (x, y) = (value(columns.x[row], "x")?, value(columns.y[row], "y")?);
            let z = columns.z_m.get(row).filter(|z| !z.is_nan()).map(|&z| value(z, "z")).transpose()?;
            self.push(node, Place { at, x, y, z }).map_err(about)?;
            if let Some(&there) = columns.state.get(row) {
                self.state(node, at, there);
            }
        }
        let step = columns.sampled.then(|| self.common_step());
        Ok(Rules { degrees: columns.degrees, step, ..Rules::PLAIN })
    }

    /// The most frequent time between two samples of a node, in ns.
    pub(super) fn common_step(&mut self) -> Nanos {
        let mut counts: BTreeMap<Nanos, usize> = BTreeMap::new();
        for node in &mut self.nodes {
            node.sort();
            for pair in node.at.windows(2).take(1000) {
                *counts.entry(pair[1] - pair[0]).or_default() += 1;
            }
        }
        counts
            .into_iter()
            .filter(|&(step, _)| step > 0)
            .max_by_key(|&(step, count)| (count, -step))
            .map_or(0, |(step, _)| step)
    }

    /// The tracks.
    pub(super) fn finish(mut self, rules: &Rules, options: &Options) -> Parsed<Tracks> {
        self.nodes.retain(|node| !node.at.is_empty());
        let is_in_degrees = rules.degrees.unwrap_or_else(|| self.looks_like_degrees());
        if is_in_degrees {
            self.drop_without_fix();
        }
        let Some(first) = self.first.filter(|_| !self.nodes.is_empty()) else {
            let hint = "give a file of tracks that holds at least one position";
            return Err(Fault::new("no nodes", "no samples", "the samples of at least one node", hint));
        };
        self.number_nodes();
        self.odd.single = self.nodes.len() > 1
            && self.nodes.iter().all(|node| node.at.len() == 1)
            && self.nodes.iter().any(|node| node.at != self.nodes[0].at);
        // Dates count from the first; seconds since 1970 or so as well.
        let calendar =
            self.clock.is_some_and(|clock| clock != Clock::Seconds) || first as f64 >= MAX_TIME_S * 1e9;
        let begin = if rules.from_first || calendar { first } else { 0 };
        let mut longest_gap = 0;
        let step = match (rules.step, options.sampled_presence) {
            (None, true) => Some(self.common_step()),
            (step, _) => step,
        };
        for node in &mut self.nodes {
            if !rules.sorted {
                node.sort();
            }
            let gaps = node.at.windows(2).map(|pair| pair[1] - pair[0]);
            longest_gap = gaps
                .filter(|&gap| step.is_none_or(|step| gap <= step + step / 2))
                .fold(longest_gap, Nanos::max);
        }
        let plane = if is_in_degrees { Some(self.project()?) } else { None };
        for node in &mut self.nodes {
            self.odd.repeated += node.drop_repeated(rules.own_track)?;
        }
        let default = if plane.is_some() { THIN_DEGREES_M } else { THIN_METRES_M };
        let (thin_m, last) = (options.thin_m.unwrap_or(default), self.last);
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for node in self.nodes {
            let mut track = node.track(begin, last, step)?;
            thin(&mut track, thin_m);
            nodes.push(track);
        }
        Ok(Tracks {
            nodes,
            began_s: (begin / 1_000_000_000) as f64 + (begin % 1_000_000_000) as f64 / 1e9,
            plane,
            longest_gap_s: longest_gap as f64 / 1e9,
            samples: self.samples - self.odd.repeated - self.odd.without_fix,
            odd: self.odd,
        })
    }

    fn looks_like_degrees(&self) -> bool {
        let columns = |of: fn(&Node) -> &[f64]| self.nodes.iter().map(of).collect::<Vec<_>>();
        looks_like_degrees(&columns(|node| &node.x), &columns(|node| &node.y))
    }

    /// Leaves out samples at 0°, 0°, which receivers write while they do not know where they are, unless
    /// there are no others.
    fn drop_without_fix(&mut self) {
        let is_fix = |x: f64, y: f64| x != 0.0 || y != 0.0;
        let fixes = |node: &Node| node.x.iter().zip(&node.y).filter(|&(&x, &y)| is_fix(x, y)).count();
        if !self.nodes.iter().any(|node| fixes(node) > 0) {
            return;
        }
        for node in &mut self.nodes {
            let before = node.at.len();
            if fixes(node) < before {
                let kept: Vec<usize> = (0..before).filter(|&i| is_fix(node.x[i], node.y[i])).collect();
                node.keep(&kept);
                self.odd.without_fix += before - kept.len();
            }
        }
        self.nodes.retain(|node| !node.at.is_empty());
    }

    /// Nodes whose names are all whole numbers come in order of these, others as they were met.
    fn number_nodes(&mut self) {
        let number = |node: &Node| node.label.parse::<u64>().ok().filter(|n| n.to_string() == *node.label);
        if self.nodes.iter().all(|node| number(node).is_some()) {
            self.nodes.sort_by_key(number);
        }
    }

    /// Projects degrees to this plane.
    fn project(&mut self) -> Parsed<Plane> {
        let columns = |of: fn(&Node) -> &[f64]| self.nodes.iter().map(of).collect::<Vec<_>>();
        let (xs, ys) = (columns(|node| &node.x), columns(|node| &node.y));
        let low = |columns: &[&[f64]]| columns.iter().copied().flatten().copied().fold(f64::MAX, f64::min);
        let high = |columns: &[&[f64]]| columns.iter().copied().flatten().copied().fold(f64::MIN, f64::max);
        let (mut low, mut high) = ((low(&xs), low(&ys)), (high(&xs), high(&ys)));
        if low.0 < -180.0 || high.0 > 360.0 {
            let found = format!("longitudes from {} to {}", low.0, high.0);
            let hint = "are these metres? then call the columns x and y";
            return Err(Fault::new("longitude", found, "degrees from -180 to 180", hint));
        }
        if high.0 - low.0 > 180.0 {
            // The field lies across the date line.
            for x in self.nodes.iter_mut().flat_map(|node| &mut node.x).filter(|x| **x < 0.0) {
                *x += 360.0;
            }
            let all = || self.nodes.iter().flat_map(|node| node.x.iter().copied());
            (low.0, high.0) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
        }
        let plane = Plane::of_box(low, high).map_err(|mut fault| {
            fault.found = format!("{}; {}", fault.found, self.farthest());
            fault
        })?;
        for node in &mut self.nodes {
            for (x, y) in node.x.iter_mut().zip(&mut node.y) {
                (*x, *y) = plane.metres((*x, *y));
            }
        }
        Ok(plane)
    }

    /// The sample that is farthest from the middle one, in words.
    fn farthest(&self) -> String {
        let middle = |of: fn(&Node) -> &[f64]| {
            let mut values: Vec<f64> = self.nodes.iter().flat_map(of).copied().collect();
            let half = values.len() / 2;
            *values.select_nth_unstable_by(half, f64::total_cmp).1
        };
        let (x, y) = (middle(|node| &node.x), middle(|node| &node.y));
        let samples = self.nodes.iter().flat_map(|node| node.x.iter().zip(&node.y).map(move |at| (node, at)));
        let far = |&(_, (lon, lat)): &(&Node, (&f64, &f64))| libm::hypot(lon - x, lat - y);
        samples.max_by(|one, other| far(one).total_cmp(&far(other))).map_or_else(String::new, |(node, at)| {
            let (lon, lat) = at;
            format!("farthest is {} at {lat}, {lon} (latitude, longitude)", quoted(&node.label))
        })
    }
}

/// The same fault, with the row of a table.
fn in_row(mut fault: Box<Fault>, row: usize) -> Box<Fault> {
    fault.what = format!("row {row}: {}", fault.what);
    fault
}

impl Node {
    /// Samples in order of time; those at the same time in the order of the file.
    fn sort(&mut self) {
        if self.at.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.at.len()).collect();
        order.sort_by_key(|&index| self.at[index]);
        self.keep(&order);
        self.states.sort_by_key(|&(at, _)| at);
    }

    /// The samples with these indices, in this order.
    fn keep(&mut self, order: &[usize]) {
        self.at = order.iter().map(|&index| self.at[index]).collect();
        for column in [&mut self.x, &mut self.y, &mut self.z] {
            if !column.is_empty() {
                *column = order.iter().map(|&index| column[index]).collect();
            }
        }
    }

    /// Leaves the first of several samples at one time, and says how many others there were at other places;
    /// places are in m. A node cannot be at two places at once.
    fn drop_repeated(&mut self, own_track: bool) -> Parsed<usize> {
        if self.at.windows(2).all(|pair| pair[0] < pair[1]) {
            return Ok(0);
        }
        let (mut kept, mut repeated) = (vec![0], 0);
        for index in 1..self.at.len() {
            let first = kept[kept.len() - 1];
            if self.at[first] != self.at[index] {
                kept.push(index);
                continue;
            }
            let apart_m = libm::hypot(self.x[first] - self.x[index], self.y[first] - self.y[index]);
            if apart_m > REPEATED_WITHIN_M && !own_track {
                let at_s = self.at[index] as f64 / 1e9;
                let found = format!("node {} twice at {at_s} s, {apart_m:.0} m apart", quoted(&self.label));
                let hint = "do two nodes have the same id?";
                return Err(Fault::new("a node at two places", found, "one place at a time", hint));
            }
            repeated += usize::from(apart_m > 0.0);
        }
        self.keep(&kept);
        Ok(repeated)
    }

    /// The track, its times counted from `begin`.
    fn track(mut self, begin: Nanos, last: Nanos, step: Option<Nanos>) -> Parsed<Track> {
        let time = |at: Nanos| Time(u64::try_from(at.saturating_sub(begin)).unwrap_or(0));
        let end = time(self.at[self.at.len() - 1]);
        if end.as_secs() > MAX_TIME_S {
            let found = format!("{} s", end.as_secs());
            let wanted =
                format!("at most {MAX_TIME_S} s, some eleven days, from the first sample to the last");
            let hint = "take the hours that you need; or are these milliseconds? divide them by 1000";
            return Err(Fault::new("the tracks are too long", found, wanted, hint));
        }
        let mut present = match step {
            Some(step) => sampled(&self.at, step, last),
            None => Vec::new(),
        };
        let went = self.states.iter().any(|&(_, there)| !there);
        if !self.states.is_empty() {
            present = stays(&self.states);
        }
        let mut present = present
            .into_iter()
            .map(|(from, until)| (time(from), if until == Nanos::MAX { Time::NEVER } else { time(until) }))
            .filter(|(from, until)| from < until)
            .collect::<Vec<_>>();
        if present.is_empty() && (step.is_some() || went) {
            // It is never there, which an empty list would not say.
            present.push(NEVER_THERE);
        }
        self.z.resize(if self.z.is_empty() { 0 } else { self.at.len() }, 0.0);
        Ok(Track {
            label: self.label,
            at: self.at.into_iter().map(time).collect(),
            x_m: self.x,
            y_m: self.y,
            z_m: self.z,
            present,
        })
    }
}

/// From when until when a node is there that is there while it has samples: each lasts a step, and those of
/// the file's last instant stay.
fn sampled(at: &[Nanos], step: Nanos, last: Nanos) -> Vec<(Nanos, Nanos)> {
    let mut stays = Vec::new();
    let mut from = at[0];
    for pair in at.windows(2) {
        if pair[1] - pair[0] > step + step / 2 {
            stays.push((from, pair[0] + step));
            from = pair[1];
        }
    }
    let end = at[at.len() - 1];
    stays.push((from, if end == last { Nanos::MAX } else { end + step }));
    stays
}

/// From when until when a node is there whose states change; before the first it is there if that says that
/// it goes. Empty if it is always there.
fn stays(states: &[(Nanos, bool)]) -> Vec<(Nanos, Nanos)> {
    if states.iter().all(|&(_, there)| there) {
        return Vec::new();
    }
    let mut stays = Vec::new();
    let mut since = states.first().filter(|&&(at, there)| !there && at > Nanos::MIN).map(|_| Nanos::MIN);
    for &(at, there) in states {
        match (since, there) {
            (None, true) => since = Some(at),
            (Some(from), false) => {
                stays.push((from, at));
                since = None;
            }
            _ => {}
        }
    }
    if let Some(from) = since {
        stays.push((from, Nanos::MAX));
    }
    stays
}
