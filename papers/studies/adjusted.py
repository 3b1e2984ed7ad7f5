"""How much means adjusted for the movement gain, and whether they cover: ``python -m studies.adjusted``.

It prints the tables of adjusted.md from the kept results beside it. The mean over all scenarios of a campaign
counts as the truth; small samples of the campaign, drawn with replacement, must cover it. With ``--store`` it
first keeps what that store has of a campaign. There are two: the method was made while looking at the first,
and tried on the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from manetlab.campaign import Campaign
from manetlab.campaign.adjusting import draws_for
from manetlab.campaign.results import Results
from manetlab.cli import options
from manetlab.metrics import by_key, interval_of, most_of
from manetlab.movement_covariates import Paths, cost_in_events, covariates, paths_of
from manetlab.stats import adjusted_interval
from manetlab.stats.regression import explained
from manetlab.tables import Table
from studies.runs import write_kept

HERE = Path(__file__).parent
STUDIES = ("adjusted", "adjusted-elsewhere")
METRICS = ("tcp_throughput_bps", "cbr_delivery_fraction", "cbr_latency_mean_s")
SUBSAMPLES, SEED = 2_000, 5
LARGEST_SHARE = 0.05
"""The largest part of the campaign that a subsample may be."""
SIZES = (10, 20, 50)
PATHS = ("count", "capacity_bps", "without", "hops")

Ints = NDArray[np.int64]


def campaign_of(study: str) -> Campaign:
    """The campaign of a study."""
    return Campaign.load(HERE / f"{study}.toml")


def kept_of(study: str) -> Path:
    """The file with what is kept of a study."""
    return HERE / "kept" / f"{study}.parquet"


@click.command()
@click.option("--store", type=options.PATH, help="Keep what this store has of its campaign.")
@click.option("--subsamples", default=SUBSAMPLES, help="How many samples of each size are drawn.")
def main(store: Path | None, subsamples: int) -> None:
    """Print the gain and the coverage of adjusted means."""
    if store is not None:
        results = Results.load(store)
        write_kept(collected(results), kept_of(results.campaign.name))
    for study in STUDIES:
        print(table(study, pd.read_parquet(kept_of(study)), subsamples).to_markdown())


def collected(results: Results) -> pd.DataFrame:
    """The runs of the replications that all protocols have, with the paths of their scenarios."""
    runs = results.runs.merge(results.machines[["point", "replication", "code"]], on=["point", "replication"])
    made = runs.groupby("replication")["routing"].nunique()
    whole = made[made == len(results.campaign.points)].index
    runs = runs[runs["replication"].isin(whole)]
    paths = pd.DataFrame(
        [
            {"replication": number}
            | {
                f"{group}_{part}": getattr(of, part)
                for group, of in paths_of(results.campaign.scenario(0, number).resolve()).items()
                for part in PATHS
            }
            for number in whole
        ]
    )
    columns = ["routing", "replication", "seed", *METRICS, "events", "result_hash", "code"]
    kept = runs[columns].assign(result_hash=runs["result_hash"].str[:16])
    return kept.merge(paths, on="replication").reset_index(drop=True)


@dataclass
class Tally:
    """What came of the subsamples of one size.

    Attributes:
        truth: The mean of the campaign.
        estimates: The adjusted means.
        plain: The plain means.
        covered: How many adjusted intervals hold the truth.
        plain_covered: How many plain intervals do.
        adjusted: How many means were adjusted.
        skewed: How many of these were said to have a skewed rest.
    """

    truth: float
    estimates: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    covered: int = 0
    plain_covered: int = 0
    adjusted: int = 0
    skewed: int = 0

    @property
    def gain(self) -> float:
        """The variance of the plain means over that of the adjusted ones."""
        return float(np.var(self.plain) / np.var(self.estimates))

    @property
    def bias(self) -> tuple[float, float]:
        """The mean error of the adjusted means as a share of the truth, and its 95 % margin."""
        errors = np.array(self.estimates) / self.truth - 1.0
        return float(errors.mean()), 1.96 * float(errors.std()) / math.sqrt(len(errors))


def tally(
    study: str, kept: pd.DataFrame, routing: str, metric: str, n: int, subsamples: int, seed: int = SEED
) -> Tally:
    """Subsamples of ``n`` runs of a protocol, each with as many draws of the movement as a campaign makes."""
    of = kept[kept["routing"] == routing].sort_values("replication")
    values, throughput = of[metric].to_numpy(), of[METRICS[0]].to_numpy()
    if n > LARGEST_SHARE * len(values):
        raise click.UsageError(f"{n} runs are more than {LARGEST_SHARE:.0%} of {len(values)}")
    groups = [column.removesuffix("_count") for column in of.columns if column.endswith("_count")]
    paths = [
        {group: Paths(*(row[f"{group}_{part}"] for part in PATHS)) for group in groups}
        for row in of.to_dict("records")
    ]
    known = {name: np.array(each) for name, each in covariates(metric, paths).items()}
    carried = {name: np.array(each) for name, each in covariates(METRICS[0], paths).items()}
    costs = float(of["events"].mean()) / cost_in_events(campaign_of(study).scenario(0, 0).resolve())
    random = np.random.default_rng(seed)
    made = Tally(float(values.mean()))
    for _ in range(subsamples):
        runs = random.integers(0, len(values), n)
        # A campaign chooses by the metric of which most is explained.
        shares = (
            explained(values[runs].tolist(), _at(known, runs)),
            explained(throughput[runs].tolist(), _at(carried, runs)),
        )
        more = random.integers(0, len(values), draws_for(n, max(shares), costs) - n)
        _count(made, metric, values[runs], _at(known, runs), _at(known, np.concatenate([runs, more])))
    return made


def _at(known: dict[str, NDArray[np.float64]], places: Ints) -> dict[str, list[float]]:
    return {name: each[places].tolist() for name, each in known.items()}


def _count(
    made: Tally,
    metric: str,
    values: NDArray[np.float64],
    here: dict[str, list[float]],
    everywhere: dict[str, list[float]],
) -> None:
    listed = values.tolist()
    plain = interval_of(metric, listed)
    found = adjusted_interval(listed, here, everywhere, 0.0, most_of(metric, listed))
    made.plain.append(plain.mean)
    made.estimates.append(found.interval.mean)
    made.plain_covered += plain.holds(made.truth)
    made.covered += found.interval.holds(made.truth)
    made.adjusted += found.is_adjusted
    made.skewed += found.skewness is not None


def table(study: str, kept: pd.DataFrame, subsamples: int = SUBSAMPLES) -> Table:
    """Gain, coverage and bias by protocol, metric and number of runs."""
    scenarios = int(kept["replication"].nunique())
    shown = Table(
        f"{study}: {subsamples} subsamples of {scenarios} scenarios",
        ("routing", "metric", "n", "adjusted", "gain", "covers", "plain covers", "bias", "told to be skewed"),
        text_columns=2,
    )
    for routing in dict.fromkeys(kept["routing"]):
        for metric in METRICS:
            for n in (n for n in SIZES if n <= LARGEST_SHARE * scenarios):
                found = tally(study, kept, routing, metric, n, subsamples)
                bias, margin = found.bias
                shares = (found.covered, found.plain_covered)
                shown.add(
                    routing.upper(),
                    by_key(metric).label,
                    str(n),
                    f"{found.adjusted / subsamples:.0%}".replace("%", " %"),
                    f"{found.gain:.1f}",
                    *(f"{100 * each / subsamples:.1f} %" for each in shares),
                    f"{100 * bias:+.2f} ± {100 * margin:.2f} %".replace("-", "−"),
                    f"{found.skewed / subsamples:.0%}".replace("%", " %"),
                )
    return shown


if __name__ == "__main__":
    main()
