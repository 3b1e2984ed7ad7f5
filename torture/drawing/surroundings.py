"""Draws what is around nodes: radios and their rates, walls, failures, batteries, wired links."""

from __future__ import annotations

from torture.drawing.fitting import RATES_OF
from torture.drawing.state import Fields, State, within


class Surroundings(State):
    """A scenario that gets surroundings."""

    def rates(self) -> list[Fields]:
        """Some nodes and links with a rate of their own."""
        rng = self.rng
        nodes = range(self.nodes)
        of_nodes = [{"src": node} for node in rng.sample(nodes, min(self.nodes, rng.randint(1, 4)))]
        pairs = {tuple(rng.sample(nodes, 2)) for _ in range(rng.randint(0, 4))}
        of_links = [{"src": src, "dst": dst} for src, dst in sorted(pairs)]
        rates_bps = RATES_OF[self.values["mac"]["standard"]]
        return [{**each, "rate_bps": rng.choice(rates_bps)} for each in (*of_nodes, *of_links)]

    def places(self) -> Fields:
        """Parameters of a radio of real places that go together."""
        rng = self.rng
        errors = rng.choice(["thresholds", "by-rate"])
        captures = ["pairwise", "sinr", "locking", *(["as-noise"] if errors == "by-rate" else [])]
        return {
            "path_loss": rng.choice(["friis", "two-ray", "log-distance", "three-slopes"]),
            "path_loss_exponent": rng.choice([2.0, 3.0, 4.0]),
            "shadowing_db": rng.choice([0.0, 4.0, 8.0]),
            "shadowing_distance_m": rng.choice([1.0, 20.0, 500.0]),
            "shadowing_limit": rng.choice([0.5, 1.0, 2.0]),
            "fading": rng.choice(["none", "rayleigh", "rice", "nakagami"]),
            "fading_limit_db": rng.choice([0.0, 3.0, 6.0]),
            "field_drift_m_s": rng.choice([0.0, 0.5]),
            "errors": errors,
            "capture": rng.choice(captures),
            "carrier_sense_threshold_w": 10 ** rng.uniform(-13, -10),
        }

    def walls(self) -> list[Fields]:
        """Walls and buildings among the nodes, or around none of them."""
        rng = self.rng
        reach_m = within(3 * self.range_m, 1.0, 1e5)

        def corner() -> list[float]:
            return [round(rng.uniform(-0.5, 1.5) * reach_m), round(rng.uniform(-0.5, 1.5) * reach_m)]

        made: list[Fields] = []
        for _ in range(rng.choice([1, 5, 60])):
            if rng.random() < 0.5:
                made.append({"points": [corner(), corner()], "db": rng.choice([0.0, 6.9])})
                continue
            (x, y), side_m = corner(), max(1.0, 0.2 * reach_m)
            corners = [[x, y], [x + side_m, y], [x + side_m, y + side_m], [x, y + side_m]]
            made.append({"points": corners, "db": 9.0, "db_per_m": 0.4, "building": True})
        if rng.random() < 0.3:
            made[0]["opaque"] = True
        return made

    def radios(self) -> list[Fields]:
        """Some nodes with a radio of their own, which reaches no farther than the MAC waits."""
        rng = self.rng
        power_w = self.values["radio"]["transmit_power_w"]
        nodes = rng.sample(range(self.nodes), min(self.nodes, rng.randint(1, 4)))
        return [
            {"node": node, "transmit_power_w": within(power_w * 10 ** rng.uniform(-3, 0), 1e-9, 1e3)}
            for node in sorted(nodes)
        ]

    def failures(self) -> list[Fields]:
        """Nodes fail for a while or for good, by area, and by chance."""
        rng, side_m = self.rng, 2 * self.range_m
        area = [[0.0, 0.0], [side_m, 0.0], [side_m, side_m], [0.0, side_m]]
        kinds: list[Fields] = [
            {"node": rng.randrange(self.nodes), "at_s": rng.choice([0.0, 1.0, rng.uniform(0.0, 5.0)])},
            {"area": [[within(each, -1e5, 1e5) for each in corner] for corner in area], "at_s": 1.0},
            {"up_mean_s": rng.uniform(0.5, 10.0), "down_mean_s": rng.uniform(0.1, 5.0)},
        ]
        if rng.random() < 0.7:
            for kind in kinds[:2]:
                kind["for_s"] = rng.choice([1e-3, 1.0, 20.0])
        for kind in kinds:
            kind["kind"] = rng.choice(["radio-off", "crash"])
        return rng.sample(kinds, rng.randint(1, 3))

    def energy(self) -> Fields:
        """Batteries that hold out, that are empty on the way, and that are empty at once."""
        rng = self.rng
        made: Fields = {"radio": rng.choice(["wavelan", "ns-3"])}
        if rng.random() < 0.3:
            made |= {"idle_a": rng.choice([0.0, 1e-6, 1.0]), "rx_a": rng.choice([0.0, 0.2])}
        if rng.random() < 0.7:
            made["battery_j"] = rng.choice([1e-6, rng.uniform(0.01, 10.0), 1e6])
        return made

    def wired(self) -> list[Fields]:
        """Some wired links, or none."""
        rng = self.rng
        pairs = {tuple(sorted(rng.sample(range(self.nodes), 2))) for _ in range(rng.randint(0, 3))}
        return [
            {
                "nodes": list(pair),
                # A faster one, without delay, makes a sender without limit outlast every sitting.
                "rate_bps": rng.choice([1e3, 1e6, 10e6, 1e10]),
                "delay_s": rng.choice([0.0, 0.001, 10.0]),
                "queue_packets": rng.choice([0, 1, 50]),
            }
            for pair in sorted(pairs)
        ]
