"""The runs of a campaign as studies keep them."""

from __future__ import annotations

import pandas as pd

from manetlab.campaign import Results


def with_code(results: Results) -> pd.DataFrame:
    """A row for each run, with the code that made it and the first 16 digits of its result hash."""
    code = results.machines[["point", "replication", "code"]]
    # A copy, whose columns are one block.
    runs = results.runs.merge(code, on=["point", "replication"]).copy()
    runs["result_hash"] = runs["result_hash"].str[:16]
    return runs
