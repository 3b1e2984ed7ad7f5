"""Walls and buildings from GeoJSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from manetlab import Scenario, run
from manetlab.errors import InputError
from manetlab.links import links

LON, LAT = 11.5, 48.1
EAST_M, NORTH_M = 74_460.0, 111_200.0
"""Metres in a degree there, within a part in a thousand."""


def place(x_m: float, y_m: float) -> list[float]:
    return [LON + x_m / EAST_M, LAT + y_m / NORTH_M]


def feature(kind: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": kind, "coordinates": coordinates},
    }


SQUARE = [place(10, 10), place(30, 10), place(30, 30), place(10, 30), place(10, 10)]
WALL = [place(0, 0), place(50, 0)]
MADE = {"traffic": {"flows": []}, "duration_s": 2.0, "movement": {"positions": [[20.0, 0.0], [20.0, 40.0]]}}


def walls(folder: Path, features: list[Any], **given: Any) -> list[dict[str, Any]]:
    (folder / "city.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    made = Scenario.build({**MADE, "walls": {"file": "city.geojson", **given}}, folder=folder)
    found: list[dict[str, Any]] = made.resolve().core["walls"]
    return found


def test_lines_are_walls_and_polygons_buildings(tmp_path: Path) -> None:
    features = [
        feature("LineString", WALL),
        feature("Polygon", [SQUARE], db=5.0),
        feature("Point", place(1, 1)),
        {"type": "Feature", "properties": None, "geometry": None},
        feature("MultiLineString", [WALL, [place(0, 50), place(50, 50)]], opaque=True),
    ]
    wall, house, first, second = walls(tmp_path, features, db=9.0, db_per_m=0.4)
    assert (wall["db"], wall["db_per_m"], wall["building"]) == (9.0, 0.0, False)
    assert wall["points"] == [pytest.approx([0, 0], abs=0.1), pytest.approx([50, 0], abs=0.1)]
    assert (house["db"], house["building"], len(house["points"])) == (5.0, True, 4)
    assert house["points"][2] == pytest.approx([30, 30], abs=0.1)
    assert first["opaque"]
    assert second["opaque"]


def test_inner_rings_and_several_polygons_are_buildings(tmp_path: Path) -> None:
    hole = [place(15, 15), place(25, 15), place(25, 25), place(15, 15)]
    far = [[place(60, 60), place(80, 60), place(80, 80), place(60, 60)]]
    found = walls(tmp_path, [feature("MultiPolygon", [[SQUARE, hole], far])], db=6.0)
    assert [len(each["points"]) for each in found] == [4, 3, 3]
    assert all(each["building"] for each in found)


def test_what_a_wall_takes_is_missing_from_a_link(tmp_path: Path) -> None:
    (tmp_path / "city.geojson").write_text(
        json.dumps({"type": "FeatureCollection", "features": [feature("Polygon", [SQUARE])]})
    )
    # The south-west corner of the walls is at (0, 0) unless a corner is given.
    given = {"file": "city.geojson", "db": 9.0, "corner": place(0, 0)}
    behind = Scenario.build({**MADE, "walls": given}, folder=tmp_path).resolve()
    free = Scenario.build(MADE).resolve()
    lost_db = links(free, 0.0)[0].power_dbm - links(behind, 0.0)[0].power_dbm
    assert lost_db == pytest.approx(18.0, abs=1e-9)


def test_walls_are_where_tracks_in_degrees_are(tmp_path: Path) -> None:
    """A file of tracks and one of walls share the tracks' plane, whatever corner the walls have."""
    rows = [
        f"{t},{node},{','.join(map(str, place(x, y)))}"
        for t in (0, 9)
        for node, x, y in (("a", 0, 0), ("b", 100, 90))
    ]
    (tmp_path / "tracks.csv").write_text("time,id,lon,lat\n" + "\n".join(rows) + "\n")
    (tmp_path / "city.geojson").write_text(json.dumps(feature("LineString", [place(40, 0), place(40, 90)])))
    made = Scenario.build(
        {**MADE, "movement": {"file": "tracks.csv"}, "walls": {"file": "city.geojson", "db": 3.0}},
        folder=tmp_path,
    ).resolve()
    [wall] = made.core["walls"]
    assert wall["points"] == [pytest.approx([40, 0], abs=0.1), pytest.approx([40, 90], abs=0.2)]
    assert made.scenario.walls_file in made.scenario.files
    with pytest.raises(InputError, match="leave corner out"):
        made.scenario.changed(walls={"file": "city.geojson", "corner": [0.0, 0.0]}).resolve()


def test_the_date_line_is_no_edge(tmp_path: Path) -> None:
    line = [[179.9999, 0.0], [-179.9999, 0.0]]
    found = walls(tmp_path, [feature("LineString", line)], corner=[179.9999, 0.0])
    assert found[0]["points"][1] == pytest.approx([22.26, 0.0], abs=0.1)


def test_a_run_with_walls_of_a_file_is_that_with_the_same_walls(tmp_path: Path) -> None:
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.5, "bytes": 256, "interval_s": 0.1}
    (tmp_path / "city.geojson").write_text(json.dumps(feature("Polygon", [SQUARE])))
    data = {**MADE, "traffic": {"flows": [flow]}, "walls": {"file": "city.geojson", "db": 9.0}}
    of_file = Scenario.build(data, folder=tmp_path)
    listed = [
        {name: each[name] for name in ("points", "db", "db_per_m")} | {"building": each["building"]}
        for each in of_file.resolve().core["walls"]
    ]
    assert run(of_file).hash == run(of_file.changed(walls=listed)).hash


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not GeoJSON"),
        ("[1, 2]", "not GeoJSON"),
        ({"type": "FeatureCollection", "features": []}, "no walls"),
        ({"type": "FeatureCollection", "features": [feature("Point", place(0, 0))]}, "no walls"),
        ({"type": "FeatureCollection", "features": [7]}, "features[0]"),
        (feature("Circle", place(0, 0)), "no wall"),
        (feature("LineString", [place(0, 0)]), "without extent"),
        (feature("LineString", [place(0, 0), place(0, 0)]), "without extent"),
        (feature("Polygon", [[place(0, 0), place(9, 9), place(0, 0)]]), "without extent"),
        (feature("LineString", [[0.0], [1.0, 2.0]]), "not a place"),
        (feature("LineString", [["a", "b"], [1.0, 2.0]]), "not a place"),
        (feature("LineString", [[500.0, 900.0], [600.0, 900.0]]), "not in degrees"),
        (feature("LineString", [[0.0, 0.0], [5.0, 5.0]]), "too large"),
        (feature("LineString", WALL, db=-3.0), "properties.db"),
        (feature("LineString", WALL, db=math.nan), "properties.db"),
        (
            feature("Polygon", [[place(0, 0), place(9, 9), place(9, 0), place(0, 9), place(0, 0)]]),
            "cut itself",
        ),
    ],
)
def test_files_that_hold_no_walls_are_told(tmp_path: Path, content: Any, told: str) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "city.geojson").write_text(text)
    with pytest.raises(InputError) as caught:
        Scenario.build({**MADE, "walls": {"file": "city.geojson"}}, folder=tmp_path).resolve()
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "walls.file"),
        ({"file": "city.geojson", "db": -1.0}, "walls.db"),
        ({"file": "city.geojson", "points": []}, "walls.points"),
        ({"file": "city.geojson", "corner": [400.0, 0.0]}, "walls.corner"),
        ({"file": "nowhere.geojson"}, "nowhere.geojson"),
    ],
)
def test_what_cannot_be_said_of_a_file_is_told(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        walls(tmp_path, [feature("LineString", WALL)]) if given is None else Scenario.build(
            {**MADE, "walls": given}, folder=tmp_path
        ).resolve()
    assert told in str(caught.value)
