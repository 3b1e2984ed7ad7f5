"""Is the simulator right? Against two versions of ns-2 on the same files, theory, published figures.

Each part is a `Check`: scenarios to run, and what their results say. docs/validation.md has the outcome and
the reason of each tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from validation import anomaly, chains, mobile, one_hop, rates, saturation, table_1_1
from validation.check import Check

PARTS: dict[str, Callable[[Path, int], Check]] = {
    "chains": chains.check,
    "mobile": mobile.check,
    "variants": mobile.check_variants,
    "dsdv": mobile.check_dsdv,
    "dsr": mobile.check_dsr,
    "ns-2.1b8a": mobile.check_2001,
    "saturation": saturation.check,
    "one-hop": one_hop.check,
    "rates": rates.check,
    "anomaly": anomaly.check,
    "table-1.1": table_1_1.check,
}
"""What makes each part's check, from the folder of ns-2's measurements and the number of replications."""

REFERENCE = Path(__file__).parent / "ns2"
"""Where ns-2's files and measurements are."""

__all__ = ["PARTS", "REFERENCE", "Check"]
