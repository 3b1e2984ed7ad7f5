"""What a precision costs, with means adjusted for the movement and without."""

import json
import tempfile
from pathlib import Path

from benches.measuring import MANETLAB, Cost, measured, must, progress
from manetlab.campaign import Campaign
from manetlab.campaign.results import Results
from manetlab.tables import Table

STUDY = Path(__file__).resolve().parents[1] / "papers" / "studies" / "adjusted.toml"
"""The networks of docs/statistics.md, of which one protocol and one metric are taken."""
METRIC = "tcp_throughput_bps"
UNTIL, LEAST, MOST = 0.05, 10, 2_000
"""The half width wanted, as a share of the mean, and the fewest and most replications."""


def table(routing: str = "aodv") -> Table:
    """CPU time of a campaign that replicates until TCP throughput is known to ±5 %, with and without."""
    progress(f"TCP throughput over {routing} to ±{UNTIL:.0%}")
    shown = Table(
        f"TCP throughput over {routing.upper()} to ±{UNTIL:.0%}, one core",
        ("means", "CPU time", "replications", "draws", "kb/s", "95 % from", "to"),
    )
    for name, adjusted in (("adjusted", True), ("plain", False)):
        cost, results = _made(routing, adjusted)
        [row] = results.summary([METRIC]).to_dict("records")
        of = ("adjusted_mean", "adjusted_low", "adjusted_high") if adjusted else ("mean", "low", "high")
        values = (f"{row[each] / 1e3:.1f}" for each in of)
        shown.add(name, f"{cost.cpu_s:.1f} s", str(row["n"]), str(row.get("draws", "–")), *values)
    return shown


def _made(routing: str, adjusted: bool) -> tuple[Cost, Results]:
    """The campaign made by the command line, drawing and looking at the movement included."""
    study = Campaign.load(STUDY)
    asked = {
        "base": {**study.base, "routing": routing},
        "metrics": [METRIC],
        "replications": LEAST,
        "until": UNTIL,
        "max_replications": MOST,
        "adjusted": adjusted,
    }
    with tempfile.TemporaryDirectory() as folder:
        file, store = Path(folder) / "precision.toml", Path(folder) / "precision.db"
        file.write_text(_toml(asked), encoding="utf-8")
        cost = must(measured([*MANETLAB, "campaign", "run", file, "--jobs", 1]))
        results = Results.load(store)
        # Read before the store is gone.
        results.summary([METRIC])
    return cost, results


def _toml(data: dict[str, object]) -> str:
    """A campaign as TOML: what JSON and inline tables have in common, line by line."""
    return "".join(f"{key} = {_inline(value)}\n" for key, value in data.items())


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_inline(of)}" for key, of in value.items()) + " }"
    return json.dumps(value)
