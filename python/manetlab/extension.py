"""Whether the compiled extension fits the Python sources; one of another build could fail anywhere."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import manetlab
from manetlab import _core
from manetlab.errors import ManetlabError

HINT = "build it again (make build in a checkout), or install the package again"


def check() -> None:
    """Checks that the extension was built with this interface and version.

    Raises:
        ManetlabError: It was not.
    """
    stub = Path(__file__).with_name("_core.pyi")
    # An extension from before this check says none of it.
    interface, version = getattr(_core, "INTERFACE", ""), getattr(_core, "VERSION", "an earlier version")
    if version != manetlab.__version__:
        raise _unfit(f"the extension of {version}", f"that of {manetlab.__version__}")
    can_tell = interface and hasattr(_core, "sha256")
    if stub.exists() and not (can_tell and interface == _core.sha256(stub.read_bytes())[:16]):
        raise _unfit("an extension with another interface", "one built with these Python sources")


def check_sections(wanted: Collection[str], known: Collection[str]) -> None:
    """Checks that the extension knows the sections of parameters that the Python sources have.

    Raises:
        ManetlabError: It does not.
    """
    if missing := [name for name in wanted if name not in known]:
        raise _unfit(f"an extension without {', '.join(missing)}", "one built with these Python sources")


def is_older_than_its_sources() -> bool:
    """Whether, in a checkout, a source in Rust was changed after the extension was built."""
    crates = Path(__file__).resolve().parents[2] / "crates"
    built = Path(_core.__file__).stat().st_mtime
    return any(path.stat().st_mtime > built for path in crates.rglob("*.rs"))


def _unfit(found: str, wanted: str) -> ManetlabError:
    what = "the compiled extension does not fit the Python sources"
    return ManetlabError(what, _core.__file__, found, wanted, HINT)
