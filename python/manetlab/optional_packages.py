"""What only some commands need, and the base installation does not bring along."""

from __future__ import annotations

from importlib import import_module

from manetlab.errors import InputError

EXTRAS = {
    "report": ("jinja2", "matplotlib", "plotly"),
    "cluster": ("cryptography", "dask", "dask_jobqueue", "distributed"),
    "notebook": ("pyarrow", "xarray"),
}
"""The modules of each extra of the distribution, by its name."""


def require(extra: str, what: str) -> None:
    """Checks, before the work is done, that the packages of an extra are installed.

    Args:
        extra: The extra's name.
        what: What needs it, for the error.

    Raises:
        InputError: One of them is missing.
    """
    for module in EXTRAS[extra]:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            hint = f'pip install "manetlab[{extra}]"'
            found, wanted = f"no package {module}", f"the packages of the extra {extra}"
            raise InputError("a package is not installed", what, found, wanted, hint) from None
