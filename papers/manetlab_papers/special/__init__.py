"""What data cannot say: layouts, quantities, rules and tables that are computed, by the name that data gives them."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "batches",
    "capacity",
    "fixed",
    "frames",
    "ftp",
    "loads",
    "outages",
    "sessions",
    "timeouts",
)


def load_all() -> None:
    """Makes all of them known."""
    for name in MODULES:
        import_module(f"manetlab_papers.special.{name}")
