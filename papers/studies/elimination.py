"""What elimination would have spared of the campaign of remedies: ``python -m studies.elimination``.

It replays the kept runs; nothing is run. The table is on docs/statistics.md.
"""

from __future__ import annotations

import click
import pandas as pd

from manetlab.stats import Looks, compare_with_best, eliminate
from manetlab.stats.looks import doubling
from manetlab.tables import Table
from studies.ranking import MEASURE
from studies.remedies import KEPT


@click.command()
def main() -> None:
    """Print a line for each setting: runs made, and the alternatives that can be the best."""
    settings = list(pd.read_parquet(KEPT).groupby(["sessions", "speed"]))
    heads = ("sessions, speed", "runs", "of", "can be the best", "without elimination", "only with it")
    table = Table("", heads, text_columns=1)
    sums = [0, 0]
    for place, at in settings:
        runs = at.sort_values("replication")
        values = {str(name): of[MEASURE].tolist() for name, of in runs.groupby("system", sort=False)}
        most = int(runs["replication"].nunique())
        found, standing = eliminate({MEASURE: values}, Looks.among(doubling(most)), families=len(settings))
        plain = compare_with_best(values, families=len(settings))
        left, before = (
            {each.name for each in listed if each.verdict != "worse"} for listed in (standing[MEASURE], plain)
        )
        assert before <= left, "an alternative that may be the best was given up"
        made, whole = sum(found.ended.get(name, most) for name in values), most * len(values)
        sums = [sums[0] + made, sums[1] + whole]
        sessions, speed = place
        counts = (len(left), len(before), len(left - before))
        table.add(f"{sessions}, {speed} m/s", str(made), str(whole), *map(str, counts))
    table.add("all", *map(str, sums), "", "", "")
    print(table.to_markdown(), end="")


if __name__ == "__main__":
    main()
