"""Walls and buildings from GeoJSON (RFC 7946), as maps of towns are exported.

Lines are walls, polygons are buildings, and so are the inner rings of polygons: courtyards, whose metres
count as inside. Places without extent are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manetlab import _core
from manetlab.errors import InputError, shown
from manetlab.input_tables import Field, Place, checked_table

if TYPE_CHECKING:
    from manetlab.origin import Origin

Corner = tuple[float, float]
LINES = ("LineString", "MultiLineString")
AREAS = ("Polygon", "MultiPolygon")
PASSED_OVER = ("Point", "MultiPoint")


@dataclass(frozen=True)
class Shape:
    """A wall or a building of a file: its corners in degrees, and what the file says of its losses."""

    corners: tuple[Corner, ...]
    is_building: bool
    said: Mapping[str, Any]


def load(
    origin: Origin,
    given: Mapping[str, Any],
    losses: Mapping[str, Field],
    plane: _core.Plane | None,
    where: str,
) -> list[dict[str, Any]]:
    """The walls of a file, in m.

    Args:
        origin: Where the scenario comes from.
        given: The table that names the file, with the losses of walls of which the file says nothing.
        losses: The fields by which it may say them, as properties of a feature.
        plane: That of the movement, if its file is in degrees too; otherwise the south-west corner of the
            walls is at (0, 0), or the place `corner` of the table.
        where: The place of the table, for errors.

    Raises:
        InputError: The file cannot be read, or holds something else.
    """
    name = given["file"]
    place = f"{where}.file: {name}"
    shapes = list(_shapes(_features(origin.read(name, "file of walls"), place), losses, place))
    if not shapes:
        hint = "draw walls as LineStrings and buildings as Polygons"
        raise InputError("the file has no walls", place, "no line and no polygon", "at least one", hint)
    all_corners = _unwrapped([corner for shape in shapes for corner in shape.corners])
    corner = given.get("corner")
    if plane is not None and corner is not None:
        hint = "leave corner out: the movement's file is in degrees too"
        raise InputError(
            "walls and movement have one corner", f"{where}.corner", shown(corner), "no corner", hint
        )
    low = (min(x for x, _ in all_corners), min(y for _, y in all_corners))
    high = (max(x for x, _ in all_corners), max(y for _, y in all_corners))
    _check_degrees(low, high, place)
    # Refuses fields that no plane holds, too.
    own = _core.plane_of(low, high, place)
    if plane is None:
        plane = own if corner is None else (tuple(corner), own[1])
    (west, south), (per_lon_m, per_lat_m) = plane
    shared = {name: given[name] for name in losses if name in given}

    def in_m(corner: Corner) -> list[float]:
        east = (corner[0] - west + 180.0) % 360.0 - 180.0
        return [east * per_lon_m, (corner[1] - south) * per_lat_m]

    def losses_of(shape: Shape) -> dict[str, Any]:
        said = {**shared, **shape.said}
        # Only buildings have an inside.
        return (
            said if shape.is_building else {name: each for name, each in said.items() if name != "db_per_m"}
        )

    return [
        {
            **losses_of(shape),
            "points": [in_m(corner) for corner in shape.corners],
            "building": shape.is_building,
        }
        for shape in shapes
    ]


def _unwrapped(corners: list[Corner]) -> list[Corner]:
    """The corners with longitudes that go on beyond the date line, if they lie on both sides of it."""
    if max(x for x, _ in corners) - min(x for x, _ in corners) <= 180:
        return corners
    return [(x + 360.0 if x < 0 else x, y) for x, y in corners]


def _check_degrees(low: Corner, high: Corner, place: str) -> None:
    if low[0] < -180 or high[0] > 360 or low[1] < -90 or high[1] > 90:
        found = f"longitudes from {low[0]:g} to {high[0]:g}, latitudes from {low[1]:g} to {high[1]:g}"
        hint = "GeoJSON is in degrees, longitude first; of metres, write [[walls]] with points"
        raise InputError("the walls are not in degrees", place, found, "places on the earth", hint)


def _features(content: bytes, place: str) -> list[Any]:
    wanted, hint = "a FeatureCollection of LineStrings and Polygons", "walls are read from GeoJSON (RFC 7946)"
    try:
        read = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError("not GeoJSON", place, str(error), wanted, hint) from None
    if isinstance(read, dict):
        if isinstance(features := read.get("features"), list):
            return features
        if "geometry" in read or read.get("type") in (*LINES, *AREAS, "GeometryCollection"):
            return [read if "geometry" in read else {"geometry": read}]
    raise InputError("not GeoJSON", place, shown(read), wanted, hint)


def _shapes(features: list[Any], losses: Mapping[str, Field], place: str) -> Iterator[Shape]:
    for number, feature in enumerate(features):
        at = f"{place}: features[{number}]"
        if not isinstance(feature, dict):
            raise InputError("not a feature", at, shown(feature), "a feature with a geometry", "see RFC 7946")
        properties = feature.get("properties") or {}
        written = {name: properties[name] for name in losses if name in properties}
        said = checked_table(written, losses, Place(at, "properties"), "what a wall takes")
        yield from _of_geometry(feature.get("geometry"), said, at)


def _of_geometry(geometry: Any, said: Mapping[str, Any], at: str) -> Iterator[Shape]:
    """The walls of a geometry; none of one that is null or has no extent."""
    if geometry is None:
        return
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind == "GeometryCollection":
        for each in geometry.get("geometries") or []:
            yield from _of_geometry(each, said, at)
        return
    if kind in PASSED_OVER:
        return
    if kind not in (*LINES, *AREAS):
        wanted = ", ".join((*LINES, *AREAS))
        raise InputError("a geometry that is no wall", at, shown(geometry), wanted, "leave the feature out")
    depth = {"LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}[kind]
    for line in _lines(geometry.get("coordinates"), depth, at):
        corners = _corners(line, at, is_ring=kind in AREAS)
        if len(corners) < (3 if kind in AREAS else 2):
            hint = "a line needs two different places, a polygon three"
            raise InputError("a wall without extent", at, shown(line), "more places", hint)
        yield Shape(corners, kind in AREAS, said)


def _lines(coordinates: Any, depth: int, at: str) -> Iterator[Sequence[Any]]:
    if not isinstance(coordinates, list):
        raise InputError(
            "not coordinates", at, shown(coordinates), "lists of [longitude, latitude]", "RFC 7946"
        )
    if depth == 1:
        yield coordinates
    else:
        for each in coordinates:
            yield from _lines(each, depth - 1, at)


def _corners(line: Sequence[Any], at: str, *, is_ring: bool) -> tuple[Corner, ...]:
    """The corners of a line, each once in a row; of a ring, the first is not repeated at the end."""
    corners: list[Corner] = []
    for written in line:
        is_place = isinstance(written, list) and len(written) >= 2
        if not is_place or not all(_is_number(each) for each in written[:2]):
            raise InputError(
                "not a place", at, shown(written), "[longitude, latitude]", "numbers, in degrees"
            )
        corner = (float(written[0]), float(written[1]))
        if not corners or corners[-1] != corner:
            corners.append(corner)
    if is_ring and len(corners) > 1 and corners[0] == corners[-1]:
        corners.pop()
    return tuple(corners)


def _is_number(value: object) -> bool:
    """Is it a number that is finite?"""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
