//! GeoJSON (RFC 7946): features that are a `Point` with `id` and `time`, or a `LineString` with a list of
//! `times` (`coordTimes`), one for each of its places. Coordinates are longitude, latitude and, if given, a
//! height. Points without a time are nodes that stand still.

use std::io::{BufRead, Read};

use serde_json::Value;

use super::collect::{Collected, Place, Rules};
use super::timestamp::Nanos;
use crate::error::{Fault, Parsed, quoted};

/// Longest file, in bytes: it is read as a whole, and takes twenty times as much memory.
const LONGEST: u64 = 16 << 20;
/// Names of properties that say who and when.
const IDS: &[&str] = &["id", "name", "node", "label", "vehicle", "device"];
const TIMES: &[&str] = &["time", "timestamp", "t", "datetime", "date"];
const LISTS: &[&str] = &["times", "coordTimes", "timestamps"];

pub(super) fn read(source: impl BufRead, into: &mut Collected) -> Parsed<Rules> {
    let mut text = Vec::new();
    source.take(LONGEST + 1).read_to_end(&mut text).map_err(|error| super::unreadable(&error))?;
    if text.len() as u64 > LONGEST {
        let hint = "write CSV with the columns time,id,lon,lat, which is read as it streams by";
        return Err(Fault::new("file too large", "more than 16 MiB", "at most 16 MiB of GeoJSON", hint));
    }
    let text = super::lines::text(&text)?.trim_start_matches('\u{feff}');
    let value: Value = serde_json::from_str(text).map_err(|error| not_geojson(&error.to_string()))?;
    let features = match &value {
        Value::Array(features) => features.as_slice(),
        Value::Object(fields) => match fields.get("features").and_then(Value::as_array) {
            Some(features) => features,
            None if fields.contains_key("geometry") => std::slice::from_ref(&value),
            None => return Err(not_geojson("no features")),
        },
        _ => return Err(not_geojson("a value")),
    };
    for (index, feature) in features.iter().enumerate() {
        take(feature, index, into).map_err(|mut fault| {
            fault.what = format!("features[{index}]: {}", fault.what);
            fault
        })?;
    }
    Ok(Rules { degrees: Some(true), ..Rules::PLAIN })
}

fn not_geojson(found: &str) -> Box<Fault> {
    let wanted = "a FeatureCollection of Points or LineStrings";
    Fault::new("not GeoJSON", found, wanted, "of other JSON, write CSV with the columns time,id,x,y")
}

fn take(feature: &Value, index: usize, into: &mut Collected) -> Parsed<()> {
    let Some(geometry) = feature.get("geometry").filter(|geometry| !geometry.is_null()) else {
        return Ok(());
    };
    let property = |names: &[&str]| first(feature.get("properties")?, names);
    let id = feature.get("id").filter(|id| !id.is_null()).or_else(|| property(IDS));
    let node = into.node(&id.map_or_else(|| index.to_string(), plain))?;
    let coordinates = geometry.get("coordinates").unwrap_or(&Value::Null);
    match geometry.get("type").and_then(Value::as_str).unwrap_or("") {
        "Point" => {
            let at = property(TIMES).map_or(Ok(0), |time| into.time(&plain(time)))?;
            let place = place(coordinates, at, into)?;
            into.push(node, place)
        }
        "LineString" => {
            let wanted = || {
                let hint = "the property times holds one time for each place";
                Fault::new("a LineString without times", "no list of times", "times = [ … ]", hint)
            };
            // As converters of GPX write it: coordinateProperties.times.
            let of_places = || first(feature.get("properties")?.get("coordinateProperties")?, LISTS);
            let times = property(LISTS).or_else(of_places).and_then(Value::as_array).ok_or_else(wanted)?;
            let places = coordinates.as_array().map_or(&[][..], Vec::as_slice);
            if times.len() != places.len() {
                let found = format!("{} times for {} places", times.len(), places.len());
                return Err(Fault::new("times", found, "one for each place", "were places left out?"));
            }
            for (time, coordinates) in times.iter().zip(places) {
                let at = into.time(&plain(time))?;
                let place = place(coordinates, at, into)?;
                into.push(node, place)?;
            }
            Ok(())
        }
        kind => Err(Fault::new("geometry", quoted(kind), "Point or LineString", "leave other features out")),
    }
}

fn place(coordinates: &Value, at: Nanos, into: &Collected) -> Parsed<Place> {
    let values = coordinates.as_array().map_or(&[][..], Vec::as_slice);
    let number = |index: usize, what: &str| {
        let text = values.get(index).filter(|value| value.is_number()).map(Value::to_string);
        into.coordinate(&text.unwrap_or_default(), what)
    };
    let z = if values.len() > 2 { Some(number(2, "height")?) } else { None };
    Ok(Place { at, x: number(0, "longitude")?, y: number(1, "latitude")?, z })
}

/// The first property with one of these names that is a value.
fn first<'a>(properties: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().filter_map(|name| properties.get(*name)).find(|value| !value.is_null())
}

/// A text without its quotes, or a number as it is written.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
