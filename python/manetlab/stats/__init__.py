"""Statistics over replications: intervals, comparisons, fairness, when to stop, what to discard.

docs/statistics.md says which method is used where, and why. scipy and numpy are imported by the
functions that need them, when they are called: most commands do without.
"""

from manetlab.stats.bounded import bounded_interval
from manetlab.stats.comparisons import Paired, holm, paired_difference, paired_interval, paired_ratio
from manetlab.stats.elimination import Eliminated, eliminate
from manetlab.stats.fairness import jain, max_min, unfairness
from manetlab.stats.families import (
    Adjusted,
    WithBest,
    adjusted_pair,
    bonferroni,
    compare_with_best,
    equivalence_p,
    ratio_equivalence_p,
)
from manetlab.stats.intervals import (
    Interval,
    bootstrap_interval,
    heavy_tail_warning,
    mean_interval,
    median_interval,
    percentile_interval,
    percentiles,
    t_quantile,
)
from manetlab.stats.looks import Looks
from manetlab.stats.progress import LEAST_USEFUL_BPS, effective_horizon, equivalent_routing_load, unsmoothness
from manetlab.stats.regression import AdjustedMean, adjusted_interval
from manetlab.stats.stopping import Sequential, replications_needed
from manetlab.stats.warmup import Truncation, mser5, warmup_check, warmup_warning

__all__ = [
    "LEAST_USEFUL_BPS",
    "Adjusted",
    "AdjustedMean",
    "Eliminated",
    "Interval",
    "Looks",
    "Paired",
    "Sequential",
    "Truncation",
    "WithBest",
    "adjusted_interval",
    "adjusted_pair",
    "bonferroni",
    "bootstrap_interval",
    "bounded_interval",
    "compare_with_best",
    "effective_horizon",
    "eliminate",
    "equivalence_p",
    "equivalent_routing_load",
    "heavy_tail_warning",
    "holm",
    "jain",
    "max_min",
    "mean_interval",
    "median_interval",
    "mser5",
    "paired_difference",
    "paired_interval",
    "paired_ratio",
    "percentile_interval",
    "percentiles",
    "ratio_equivalence_p",
    "replications_needed",
    "t_quantile",
    "unfairness",
    "unsmoothness",
    "warmup_check",
    "warmup_warning",
]
