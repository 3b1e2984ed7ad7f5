"""Draws how nodes move."""

from __future__ import annotations

import math

from manetlab import parameters
from torture.drawing.state import LARGE_NODES, Fields, State, within


class Movement(State):
    """A scenario whose nodes get their movement, in fields in which networks are mostly connected."""

    def movement(self) -> Fields:
        """Where nodes are and how they move; says how many they are."""
        rng = self.rng
        nodes = rng.randint(LARGE_NODES, 2 * LARGE_NODES) if self.large else rng.randint(2, 18)
        # Networks are mostly connected whatever the radio reaches, and sometimes in pieces.
        spacing_m = within(rng.uniform(0.5, 1.05) * self.range_m, 1e-3, 1e5)
        kinds = {"waypoint": 4, "chain": 1, "grid": 1, "positions": 1, "areas": 1, "tracks": 2, "model": 4}
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        match kind:
            case "areas":
                return {"areas": self._areas(max(nodes, 3), spacing_m)}
            case "chain":
                self.nodes = nodes
                return {"chain": {"nodes": nodes, "spacing_m": spacing_m}}
            case "grid":
                columns = rng.randint(2, 8)
                rows = max(1, math.ceil(nodes / columns))
                self.nodes = columns * rows
                return {"grid": {"columns": columns, "rows": rows, "spacing_m": spacing_m}}
        degree = rng.uniform(4, 14)
        side_m = within(self.range_m * math.sqrt(math.pi * nodes / degree), 1.0, 5e5)
        ratio = rng.choice([1.0, 1.0, 0.3])
        width_m, height_m = within(side_m / ratio, 1, 1e6), max(side_m * ratio, 1.0)
        self.nodes = nodes
        if kind == "tracks":
            return self._tracks(width_m, height_m)
        if kind == "model":
            return self._model(nodes, width_m, height_m)
        if kind == "positions":
            places = [
                [round(rng.uniform(-0.5, 0.5) * width_m, 1), round(rng.uniform(0, 1) * height_m, 1)]
                for _ in range(nodes)
            ]
            return {"positions": places}
        waypoint: Fields = {
            "nodes": nodes,
            "width_m": width_m,
            "height_m": height_m,
            "speed_max": round(rng.uniform(2, 40), 1),
            "pause_s": rng.choice([0.0, 0.0, 2.0, 30.0]),
        }
        waypoint |= self.changed(
            parameters.movement_schema()["waypoint"], parameters.movement_defaults()["waypoint"], waypoint
        )
        waypoint["speed_min"] = min(waypoint.get("speed_min", 1.0), waypoint["speed_max"])
        if waypoint["speed_min"] == 0.0:
            waypoint["start"] = "uniform"
        if waypoint.get("boundary") == "wrap":
            waypoint["height_m"] = waypoint["width_m"]
        return {"waypoint": waypoint}

    def _model(self, nodes: int, width_m: float, height_m: float) -> Fields:
        """One of the other movement models, in a field that has room for what it needs."""
        model = self.rng.choice([name for name in parameters.movement_schema() if name != "waypoint"])
        side_m = max(width_m, height_m, 50.0)
        given: Fields = {"nodes": nodes, "width_m": side_m, "height_m": side_m}
        defaults = parameters.movement_defaults()[model]
        given |= self.changed(parameters.movement_schema()[model], defaults, given)
        full = {**defaults, **given}
        # What has to fit the rest; steps are not so short that there is nothing but steps.
        if {"speed_min", "speed_max"} <= full.keys():
            given["speed_min"] = min(full["speed_min"], full["speed_max"])
        given |= {name: max(full[name], 0.5) for name in ("step_s", "leg_s", "step_m") if name in full}
        given |= {name: min(full[name], 40.0) for name in ("speed_mean", "speed_sd") if name in full}
        given |= {name: min(full[name], nodes - 1) for name in ("at_entrance", "vehicles") if name in full}
        given |= {
            name: min(full[name], 0.4 * side_m)
            for name in ("max_distance_m", "radius_m", "stage_m", "spread_m")
            if name in full
        }
        if model == "disaster_area":
            given["clearance_m"] = min(full["clearance_m"], 4 / 350 * side_m, 3 / 200 * side_m)
            names = ("vehicle_speed_min", "vehicle_speed_max")
            given |= dict(zip(names, sorted(full[name] for name in names), strict=True))
        if model == "disaster":
            # Most legs have to end within the circle.
            given["leg_s"] = min(given["leg_s"], 40.0 * given["radius_m"] / full["speed_max"])
        return {model: given}

    def _tracks(self, width_m: float, height_m: float) -> Fields:
        """Where nodes are seen: with names, often with heights, and often they join and leave."""
        rng = self.rng
        is_flat = self.values["radio"]["path_loss"] == "two-ray"
        has_heights, comes_and_goes = rng.random() < 0.5, rng.random() < 0.6
        made: Fields = {"tracks": []}
        for node in range(self.nodes):
            samples = rng.choice([1, 2, 3, 12])
            times = sorted({round(rng.uniform(0, 1.2) * self.duration_s, 3) for _ in range(samples)})
            # Slow enough for a walk, or from one end of the field to the other.
            step = rng.choice([0.01, 0.1, 1.0])
            x_m, y_m = ([rng.uniform(0, length_m)] for length_m in (width_m, height_m))
            for _ in times[1:]:
                x_m.append(round(x_m[-1] + step * rng.uniform(-1, 1) * width_m, 2))
                y_m.append(round(y_m[-1] + step * rng.uniform(-1, 1) * height_m, 2))
            track: Fields = {"label": rng.choice(["", "n ", "Jörg "]) + str(node), "t_s": times}
            track |= {"x_m": x_m, "y_m": y_m}
            if has_heights:
                track["z_m"] = [round(rng.uniform(-0.2, 1.0) * min(self.range_m, 1e4), 1) for _ in times]
            if comes_and_goes and rng.random() < 0.5:
                track["present_s"] = self._presence()
            made["tracks"].append(track)
        if has_heights and (is_flat or rng.random() < 0.1):
            made["flat"] = True
        return made

    def _presence(self) -> list[list[float]]:
        """When a node is there: some times one after the other, perhaps after the end of the run."""
        rng = self.rng
        times = {round(rng.choice([0.0, 1.0, rng.uniform(0, 1.3)]) * self.duration_s, 3) for _ in range(6)}
        edges = sorted(times)[: 2 * rng.randint(1, 3)]
        edges = edges[: len(edges) // 2 * 2] or [0.0, self.duration_s]
        return [list(pair) for pair in zip(edges[::2], edges[1::2], strict=True)]

    def _areas(self, nodes: int, spacing_m: float) -> Fields:
        """Sources, sinks and forwarders in areas that lie so far apart."""
        rng = self.rng
        self.nodes = nodes
        hops = rng.choice([2, 3, 3, 4, 7])
        hops = min(hops, nodes - 1)
        forwarders = rng.randint(hops - 1, nodes - 2)
        sources = rng.randint(1, nodes - forwarders - 1)
        given: Fields = {"sources": sources, "sinks": nodes - forwarders - sources, "forwarders": forwarders}
        drawn = {
            "hops": hops,
            "spacing_m": spacing_m,
            "height_m": rng.choice([0.0, 0.5 * spacing_m, 3.0 * spacing_m]),
            "end_width_m": rng.choice([0.0, 0.05 * spacing_m, spacing_m]),
            "band_width_m": rng.choice([0.0, 0.1 * spacing_m, spacing_m]),
        }
        extents = ("height_m", "end_width_m", "band_width_m")
        if min(drawn[name] for name in extents) >= 1.0:
            drawn["speed_mps"] = rng.choice([0.0, 1.0, 5.0, 30.0])
        return given | drawn
