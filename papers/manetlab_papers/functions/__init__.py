"""What data cannot say: layouts, quantities, rules and tables that are computed, known by names."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules


def load_all() -> None:
    """Makes all of them known."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
